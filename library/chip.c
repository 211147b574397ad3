/* Chips with the state of their cores. */
#include <stdlib.h>
#include <string.h>

#include "library/internal.h"

cm_status library_chip_own(cm_chip *chip, const char *occupancy, coremap_chip **made, cm_error *error)
{
  coremap_chip *c = calloc(1, sizeof *c);
  cm_status status = c == NULL            ? cm_fail(error, CM_NO_MEMORY, "out of memory for a chip")
                     : occupancy == NULL ? cm_occupancy_new(chip, &c->occupancy, error)
                                         : cm_occupancy_parse(chip, occupancy, strlen(occupancy), &c->occupancy, error);
  if (status != CM_OK) {
    cm_chip_free(chip);
    free(c);
    return status;
  }
  atomic_init(&c->owners, 1);
  c->chip = chip;
  *made = c;
  return CM_OK;
}

int coremap_chip_open(const char *name, const char *occupancy, coremap_chip **chip, coremap_error **error)
{
  cm_error e;
  cm_chip *opened;
  cm_status status = cm_chip_open(name, &opened, &e);
  if (status == CM_OK)
    status = library_chip_own(opened, occupancy, chip, &e);
  return library_tell(status, &e, error);
}

int coremap_chip_parse(const char *json, const char *occupancy, coremap_chip **chip, coremap_error **error)
{
  cm_error e;
  cm_chip *parsed;
  cm_status status = cm_chip_parse(json, strlen(json), &parsed, &e);
  if (status == CM_OK)
    status = library_chip_own(parsed, occupancy, chip, &e);
  return library_tell(status, &e, error);
}

const char *coremap_chip_preset(uint32_t index)
{
  const char *const *name = cm_chip_presets();
  for (uint32_t i = 0; i < index && *name != NULL; i++)
    name++;
  return *name;
}

uint32_t coremap_chip_width(const coremap_chip *chip)
{
  return chip->chip->width;
}

uint32_t coremap_chip_height(const coremap_chip *chip)
{
  return chip->chip->height;
}

uint32_t coremap_chip_free_cores(const coremap_chip *chip)
{
  return cm_occupancy_free_count(chip->occupancy);
}

char *coremap_chip_json(const coremap_chip *chip)
{
  cm_error ignored;
  char *text;
  return cm_chip_print(chip->chip, &text, &ignored) == CM_OK ? text : NULL;
}

void coremap_chip_free(coremap_chip *chip)
{
  if (chip == NULL || atomic_fetch_sub(&chip->owners, 1) > 1)
    return;
  cm_occupancy_free(chip->occupancy);
  cm_chip_free(chip->chip);
  free(chip);
}
