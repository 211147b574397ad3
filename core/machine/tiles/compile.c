/* Tiles beside a program, or as what a compilation ends in. */
#include "core/machine/internal.h"
#include "core/machine/tiles/tiles.h"

cm_status cm_compile_tiles(cm_model *model, const cm_chip *chip, const cm_compile_options *options, cm_run *run,
                           const char *out, json_t *report, cm_error *error)
{
  json_t *tiles;
  cm_compile_stage last = cm_compile_last_stage(options, chip);
  cm_tiles_options how = {.mapping = last == CM_STAGE_MAPPING ? out : last == CM_STAGE_TILE ? NULL : options->mapping,
                          .scratch_folder = options->scratch_folder};
  bool asked = last == CM_STAGE_MAPPING || last == CM_STAGE_TILE;
  if (!asked && (options->tiles == NULL || options->no_tiles || chip->target->device_count == 0))
    return CM_OK;
  if (cm_tiles_make(model, chip, &how, run, last == CM_STAGE_TILE ? out : options->tiles, &tiles, error) != CM_OK)
    return error->status;
  return json_object_set_new(report, "tiles", tiles) == 0
             ? CM_OK
             : cm_fail(error, CM_NO_MEMORY, "out of memory while reporting on the tiles");
}
