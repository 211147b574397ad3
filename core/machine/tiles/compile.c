/* Tiles beside a program. */
#include "core/machine/internal.h"
#include "core/machine/tiles/tiles.h"

cm_status cm_compile_tiles(cm_model *model, const cm_chip *chip, const cm_compile_options *options, cm_run *run,
                           json_t *report, cm_error *error)
{
  json_t *tiles;
  if (options->tiles == NULL || options->no_tiles || chip->target->device_count == 0)
    return CM_OK;
  cm_tiles_options how = {.mapping = options->mapping, .scratch_folder = options->scratch_folder};
  if (cm_tiles_make(model, chip, &how, run, options->tiles, &tiles, error) != CM_OK)
    return error->status;
  return json_object_set_new(report, "tiles", tiles) == 0
             ? CM_OK
             : cm_fail(error, CM_NO_MEMORY, "out of memory while reporting on the tiles");
}
