/* The tiles of a program beside it, or as what a compilation ends in. */
#include "base/file.h"
#include "core/machine/tiles/compile_tiles.h"
#include "core/machine/tiles/tiles.h"
#include "core/output/views.h"
#include "core/network/export.h"

/* What is made on the way. */
typedef struct tiles {
  cm_topology *topology;
  cm_demand demand; /* of it */
  cm_mapping *mapping; /* NULL: not asked for */
} tiles;

static cm_status make(const cm_tiles_input *in, bool places, tiles *t, cm_run *run, cm_error *error)
{
  cm_run_phase(run, "tile");
  CM_TRY(cm_tiles_topology(in->plan, in->program, in->pieces, run, &t->topology, error));
  t->demand = cm_demand_of(t->topology);
  CM_TRY_IF(places, cm_tiles_map(&t->demand, in->program, in->chip, run, &t->mapping, error));
  if (!places || !in->verify)
    return CM_OK;
  cm_status status = cm_tiles_agree(in->program, t->topology, t->mapping->part, t->mapping->core, run, error);
  /* What was made here can only be wrong by a defect. */
  return status == CM_BAD_MAPPING ? (error->status = CM_INTERNAL) : status;
}

static cm_status write_mapping(const tiles *t, const cm_chip *chip, const char *path, cm_error *error)
{
  cm_file file = {0};
  CM_TRY(cm_file_create(&file, path, error));
  return cm_file_end(&file, cm_mapping_write(t->mapping, &t->demand, chip, NULL, CM_VIEW_FULL_JSON, file.stream, error), error);
}

static cm_status report(const tiles *t, const cm_program *program, json_t *report, cm_error *error)
{
  json_t *said = cm_tiles_report(t->topology, program);
  bool whole = said != NULL;
  if (whole && t->mapping != NULL)
    whole = json_object_set_new(said, "mapping",
                                json_pack("{s:I, s:o}", "parts", (json_int_t)t->mapping->part_count, "metrics",
                                          cm_metrics_json(&t->mapping->metrics))) == 0;
  whole = whole && json_object_set(report, "tiles", said) == 0;
  json_decref(said);
  return cm_whole(whole, "the report", error);
}

cm_status cm_compile_tiles(const cm_tiles_input *in, const char *network, const char *mapping, cm_run *run, json_t *said,
                           cm_error *error)
{
  tiles t = {0};
  cm_status status = make(in, mapping != NULL || in->verify, &t, run, error);
  if (status == CM_OK && (status = report(&t, in->program, said, error)) == CM_OK) {
    cm_run_phase(run, "write");
    if (network != NULL)
      status = cm_export(t.topology, network, run, error);
    CM_THEN_IF(status, mapping != NULL, write_mapping(&t, in->chip, mapping, error));
  }
  cm_mapping_free(t.mapping);
  cm_topology_free(t.topology);
  return status;
}
