/* What becomes of a chip's occupancy when its description changes or goes.
 * Happy path: every taken core and every broken one is in the new grid, and stays as it is.
 * What can fail: a taken core would fall outside or be dead in the new description (CM_CONFLICT, which ones). */

#include "storage/internal.h"

enum { NAMED_MAX = 8 };

/* Cores that are in the way, for the message: the first ones by name, the others as a number. */
typedef struct naming {
  char text[640];
  size_t used;
  uint64_t count;
} naming;

static void name_core(naming *n, library_core core)
{
  if (n->count++ < NAMED_MAX && n->used < sizeof n->text)
    n->used += (size_t)snprintf(n->text + n->used, sizeof n->text - n->used, "%s(%u, %u) of \"%.40s\"",
                                n->used > 0 ? ", " : "", core.x, core.y, core.owner);
}

static void name_rest(naming *n)
{
  if (n->count > NAMED_MAX && n->used < sizeof n->text)
    (void)snprintf(n->text + n->used, sizeof n->text - n->used, " and %llu more",
                   (unsigned long long)(n->count - NAMED_MAX));
}

static cm_status check_loss(const coremap_chip *before, const coremap_chip *after, cm_error *error)
{
  naming lost = {0};
  const library_chip_facts was = library_chip_facts_of(before), is = library_chip_facts_of(after);
  for (uint32_t c = 0; (c = library_core_next(before, c, LIBRARY_CORE_TAKEN)) < was.width * was.height; c++) {
    const library_core core = library_core_at(before, c);
    if (core.x >= is.width || core.y >= is.height ||
        library_core_at(after, core.y * is.width + core.x).state == LIBRARY_CORE_BROKEN)
      name_core(&lost, core);
  }
  if (lost.count == 0)
    return CM_OK;
  name_rest(&lost);
  cm_fail(error, CM_CONFLICT,
          "%llu taken core%s of the chip would be gone: %s; have them released first (PATCH /v1/chips/%.64s/occupancy)",
          (unsigned long long)lost.count, lost.count == 1 ? "" : "s", lost.text, is.name);
  cm_error_figure(error, "cores", lost.count);
  return error->status;
}

cm_status cm_occupancy_carry_in(sqlite3 *handle, const char *name, const char *description, cm_error *error)
{
  coremap_chip *before = NULL, *after = NULL;
  cm_status status = cm_occupancy_load_in(handle, name, &before, error);
  CM_THEN(status, library_chip_read(description, NULL, 0, &after, error));
  CM_THEN(status, check_loss(before, after, error));
  CM_THEN(status, library_cores_carry(before, after, error));
  CM_THEN(status, cm_occupancy_save_in(handle, after, name, error));
  coremap_chip_free(after);
  coremap_chip_free(before);
  return status;
}

cm_status cm_occupancy_check_free_in(sqlite3 *handle, const char *name, cm_error *error)
{
  coremap_chip *chip;
  naming taken = {0};
  CM_TRY(cm_occupancy_load_in(handle, name, &chip, error));
  const uint32_t cores = coremap_chip_width(chip) * coremap_chip_height(chip);
  for (uint32_t core = 0; (core = library_core_next(chip, core, LIBRARY_CORE_TAKEN)) < cores; core++)
    name_core(&taken, library_core_at(chip, core));
  coremap_chip_free(chip);
  if (taken.count == 0)
    return CM_OK;
  name_rest(&taken);
  cm_fail(error, CM_CONFLICT,
          "%llu core%s of the chip %s taken: %s; have them released first (PATCH /v1/chips/%.64s/occupancy)",
          (unsigned long long)taken.count, taken.count == 1 ? "" : "s", taken.count == 1 ? "is" : "are", taken.text, name);
  cm_error_figure(error, "cores", taken.count);
  return error->status;
}
