#include "library/private/cores.h"

#include "library/internal.h"

_Static_assert((int)LIBRARY_CHIP_NAME_MAX == (int)CM_CHIP_NAME_MAX, "names of chips are as long for both");
_Static_assert((int)LIBRARY_CHIP_CORES_MAX == (int)CM_CHIP_CORES_MAX, "chips have as many cores for both");
_Static_assert((int)LIBRARY_CORE_TAKEN == (int)CM_CORE_TAKEN && (int)LIBRARY_CORE_BROKEN == (int)CM_CORE_BROKEN, "states are the same");

const char *library_chip_preset_text(const char *name)
{
  return cm_chip_preset_text(name);
}

cm_status library_chip_read(const char *text, const char *occupancy, size_t size, coremap_chip **chip, cm_error *error)
{
  cm_chip *parsed;
  cm_status status = cm_chip_parse(text, strlen(text), &parsed, error);
  return status == CM_OK ? library_chip_own(parsed, occupancy, size, chip, error) : status;
}

library_chip_facts library_chip_facts_of(const coremap_chip *chip)
{
  const cm_chip *c = chip->chip;
  return (library_chip_facts){c->name, c->description, c->width, c->height, c->target != NULL, c->images.format[0] != '\0'};
}

cm_status library_chip_print(const coremap_chip *chip, char **text, cm_error *error)
{
  return cm_chip_print(chip->chip, text, error);
}

cm_status library_cores_print(const coremap_chip *chip, char **text, cm_error *error)
{
  return cm_occupancy_print(chip->occupancy, chip->chip, text, error);
}

cm_status library_cores_change(coremap_chip *chip, const json_t *change, cm_error *error)
{
  return cm_occupancy_apply(chip->occupancy, chip->chip, change, error);
}

cm_status library_cores_check_owners(const coremap_chip *chip, cm_error *error)
{
  return cm_occupancy_check_owners(chip->occupancy, error);
}

library_core library_core_at(const coremap_chip *chip, uint32_t core)
{
  const cm_occupancy *o = chip->occupancy;
  return (library_core){core % o->width, core / o->width, (library_core_state)o->state[core],
                        o->state[core] == CM_CORE_TAKEN ? o->owners[o->owner[core]] : NULL};
}

uint32_t library_core_next(const coremap_chip *chip, uint32_t from, library_core_state state)
{
  return cm_occupancy_next(chip->occupancy, from, (cm_core_state)state);
}

void library_cores_release(coremap_chip *chip, bool (*leaves)(const char *owner, const void *user), const void *user)
{
  cm_occupancy *o = chip->occupancy;
  const uint32_t cores = o->width * o->height;
  for (uint32_t owner = 0; owner < o->owner_count; owner++)
    if (leaves(o->owners[owner], user))
      for (uint32_t c = cm_occupancy_next(o, 0, CM_CORE_TAKEN); c < cores; c = cm_occupancy_next(o, c + 1, CM_CORE_TAKEN))
        if (o->owner[c] == owner) {
          o->state[c] = CM_CORE_FREE;
          o->owner[c] = 0;
        }
}

cm_status library_cores_carry(const coremap_chip *before, coremap_chip *after, cm_error *error)
{
  return cm_occupancy_carry(before->occupancy, before->chip, after->occupancy, error);
}

cm_status library_cores_choose(const coremap_chip *chip, uint32_t count, uint32_t **cores, cm_error *error)
{
  cm_run run;
  cm_region *region;
  cm_run_init(&run);
  CM_TRY(cm_region_choose(chip->chip, chip->occupancy, count, &run, &region, error));
  uint32_t *chosen = malloc((count + 1) * sizeof *chosen);
  if (chosen != NULL)
    memcpy(chosen, region->cores, count * sizeof *chosen);
  cm_region_free(region);
  if (chosen == NULL)
    return cm_whole(false, "cores", error);
  *cores = chosen;
  return CM_OK;
}
