/* What becomes of a chip's occupancy when its description changes or goes.
 * Happy path: every taken core and every broken one is in the new grid, and stays as it is.
 * What can fail: a taken core would fall outside or be dead in the new description (CM_CONFLICT, which ones). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/internal.h"

enum { NAMED_MAX = 8 };

/* Cores that are in the way, for the message: the first ones by name, the others as a number. */
typedef struct naming {
  char text[640];
  size_t used;
  uint64_t count;
} naming;

static void name_core(naming *n, const cm_occupancy *occupancy, uint32_t core)
{
  if (n->count++ < NAMED_MAX && n->used < sizeof n->text)
    n->used += (size_t)snprintf(n->text + n->used, sizeof n->text - n->used, "%s(%u, %u) of \"%.40s\"",
                                n->used > 0 ? ", " : "", core % occupancy->width, core / occupancy->width,
                                occupancy->owners[occupancy->owner[core]]);
}

static void name_rest(naming *n)
{
  if (n->count > NAMED_MAX && n->used < sizeof n->text)
    (void)snprintf(n->text + n->used, sizeof n->text - n->used, " and %llu more",
                   (unsigned long long)(n->count - NAMED_MAX));
}

static bool is_dead(const cm_chip *chip, uint32_t core)
{
  for (uint32_t i = 0; i < chip->dead_core_count; i++)
    if (chip->dead_cores[i] == core)
      return true;
  return false;
}

/* One change of the new occupancy: {verb: cores, "owner": owner}. Takes `cores`. */
static cm_status apply(cm_occupancy *after, const cm_chip *chip, const char *verb, json_t *cores, const char *owner,
                       cm_error *error)
{
  json_t *change = cores != NULL ? json_pack("{s:o}", verb, cores) : NULL;
  if (change == NULL || (owner != NULL && json_object_set_new(change, "owner", json_string(owner)) != 0)) {
    json_decref(change);
    return cm_fail(error, CM_NO_MEMORY, "out of memory while changing a chip");
  }
  cm_status status = json_array_size(cores) > 0 ? cm_occupancy_apply(after, chip, change, error) : CM_OK;
  json_decref(change);
  return status;
}

static void add_core(json_t *list, uint32_t x, uint32_t y)
{
  (void)json_array_append_new(list, json_pack("[i,i]", (int)x, (int)y));
}

/* The cores of one owner, and those in the way. */
static cm_status carry_owner(const cm_occupancy *before, uint32_t owner, cm_occupancy *after, const cm_chip *chip,
                             naming *lost, cm_error *error)
{
  json_t *cores = json_array();
  uint32_t total = before->width * before->height, core = cm_occupancy_next(before, 0, CM_CORE_TAKEN);
  for (; core < total; core = cm_occupancy_next(before, core + 1, CM_CORE_TAKEN)) {
    uint32_t x = core % before->width, y = core / before->width;
    if (before->owner[core] != owner)
      continue;
    if (x >= after->width || y >= after->height || after->state[y * after->width + x] == CM_CORE_BROKEN)
      name_core(lost, before, core);
    else
      add_core(cores, x, y);
  }
  return apply(after, chip, "occupy", cores, before->owners[owner], error);
}

/* Cores that broke in use; the dead ones of a description are the description's matter. */
static cm_status carry_broken(const cm_occupancy *before, const cm_chip *old, cm_occupancy *after, const cm_chip *chip,
                              cm_error *error)
{
  json_t *cores = json_array();
  uint32_t total = before->width * before->height, core = cm_occupancy_next(before, 0, CM_CORE_BROKEN);
  for (; core < total; core = cm_occupancy_next(before, core + 1, CM_CORE_BROKEN)) {
    uint32_t x = core % before->width, y = core / before->width;
    if (x < after->width && y < after->height && !is_dead(old, core))
      add_core(cores, x, y);
  }
  return apply(after, chip, "broken", cores, NULL, error);
}

static cm_status carry(const cm_occupancy *before, const cm_chip *old, cm_occupancy *after, const cm_chip *chip,
                       cm_error *error)
{
  naming lost = {0};
  for (uint32_t owner = 0; owner < before->owner_count; owner++)
    if (carry_owner(before, owner, after, chip, &lost, error) != CM_OK)
      return error->status;
  if (lost.count > 0) {
    name_rest(&lost);
    cm_fail(error, CM_CONFLICT,
            "%llu taken core%s of the chip would be gone: %s; have them released first (PATCH /v1/chips/%.64s/occupancy)",
            (unsigned long long)lost.count, lost.count == 1 ? "" : "s", lost.text, chip->name);
    cm_error_figure(error, "cores", lost.count);
    return error->status;
  }
  return carry_broken(before, old, after, chip, error);
}

cm_status cm_occupancy_carry_in(sqlite3 *handle, const char *name, const cm_chip *chip, cm_error *error)
{
  cm_chip *old = NULL;
  cm_occupancy *before = NULL, *after = NULL;
  cm_status status = cm_occupancy_load_in(handle, name, &old, &before, error);
  if (status == CM_OK)
    status = cm_occupancy_new(chip, &after, error);
  if (status == CM_OK)
    status = carry(before, old, after, chip, error);
  if (status == CM_OK)
    status = cm_occupancy_save_in(handle, after, chip, name, error);
  cm_occupancy_free(after);
  cm_occupancy_free(before);
  cm_chip_free(old);
  return status;
}

cm_status cm_occupancy_check_free_in(sqlite3 *handle, const char *name, cm_error *error)
{
  cm_chip *chip;
  cm_occupancy *occupancy;
  naming taken = {0};
  if (cm_occupancy_load_in(handle, name, &chip, &occupancy, error) != CM_OK)
    return error->status;
  uint32_t cores = occupancy->width * occupancy->height, core = cm_occupancy_next(occupancy, 0, CM_CORE_TAKEN);
  for (; core < cores; core = cm_occupancy_next(occupancy, core + 1, CM_CORE_TAKEN))
    name_core(&taken, occupancy, core);
  cm_occupancy_free(occupancy);
  cm_chip_free(chip);
  if (taken.count == 0)
    return CM_OK;
  name_rest(&taken);
  cm_fail(error, CM_CONFLICT,
          "%llu core%s of the chip %s taken: %s; have them released first (PATCH /v1/chips/%.64s/occupancy)",
          (unsigned long long)taken.count, taken.count == 1 ? "" : "s", taken.count == 1 ? "is" : "are", taken.text, name);
  cm_error_figure(error, "cores", taken.count);
  return error->status;
}
