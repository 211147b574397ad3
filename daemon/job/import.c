/* Kind import: a file of any format that is read in, our own file or a model that has been read to its end out. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/network/import.h"
#include "core/network/rates.h"
#include "core/network/topology_file.h"
#include "core/operators/onnx/onnx.h"
#include "daemon/job/internal.h"

static cm_status tell_model(cm_work *w, size_t operators, cm_error *error)
{
  return cm_work_tell(w, "import", json_pack("{s:s, s:b, s:I}", "format", "onnx", "directed", 1, "operators",
                                             (json_int_t)operators), error);
}

/* An operator-level model is kept as it came, once it has been read to its end. */
static cm_status keep_model(cm_work *w, const char *path, cm_error *error)
{
  cm_model *model;
  if (cm_onnx_read(path, &w->run, &model, error) != CM_OK)
    return error->status;
  size_t operators = model->order_count;
  cm_model_free(model);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  bool lasts = file >= 0 && fdatasync(file) == 0;
  int why = errno;
  if (file >= 0)
    (void)close(file);
  if (!lasts)
    return cm_fail_errno(error, why, "cannot keep", path);
  return tell_model(w, operators, error);
}

static cm_status tell_topology(cm_work *w, const cm_topology *t, const cm_import_report *r, cm_error *error)
{
  return cm_work_tell(
      w, "import",
      json_pack("{s:s, s:b, s:b, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b}", "format", r->format, "gzipped", r->gzipped,
                "directed", t->directed, "labels", t->label_text != NULL, "plain_bytes", (json_int_t)r->plain_bytes,
                "neurons", (json_int_t)t->vertex_count, "hyperedges", (json_int_t)cm_topology_hyperedges(t), "synapses",
                (json_int_t)cm_topology_synapses(t), "duplicates", (json_int_t)t->duplicate_count, "self_loops",
                (json_int_t)t->self_loop_count, "empty_nets", (json_int_t)t->empty_net_count, "zeros", (json_int_t)t->zero_count,
                "inputs", (json_int_t)cm_topology_inputs(t), "inhibitory", (json_int_t)cm_topology_negatives(t),
                "populations", (json_int_t)t->population_count, "delays", t->pin_delay != NULL),
      error);
}

cm_status cm_work_import(cm_work *work, cm_error *error)
{
  cm_import_limits limits = cm_import_limits_default();
  cm_import_report report;
  cm_topology *topology;
  char path[CM_PATH_MAX];
  work->memory.limit_bytes = work->job.memory_limit;
  if (cm_work_path(work, CM_WORK_NETWORK, path, error) != CM_OK)
    return error->status;
  cm_error why;
  cm_import_hint hint = {.format = json_string_value(json_object_get(work->job.options, "format")),
                         .name = json_string_value(json_object_get(work->job.options, "name"))};
  const json_t *read = json_object_get(work->job.options, "read");
  for (int id = 0; id < CM_READ_OPTIONS; id++)
    hint.option[id] = json_string_value(json_object_get(read, cm_read_options[id].name));
  bool told = hint.format != NULL && hint.format[0] != '\0', model = told && strcmp(hint.format, "onnx") == 0;
  if (!told && cm_onnx_looks_like(path, &model, error) != CM_OK)
    return error->status;
  if (model && keep_model(work, path, &why) == CM_OK)
    return CM_OK;
  if (model && (told || why.status != CM_BAD_NETWORK)) {
    *error = why;
    return why.status;
  }
  if (cm_import_as(path, &hint, &limits, &work->run, &topology, &report, error) != CM_OK) {
    /* A few bytes at the beginning may deceive: what no topology is either was meant as a model. */
    if (model)
      *error = why;
    return error->status;
  }
  cm_status status = cm_work_path(work, CM_WORK_RATES, path, error);
  if (status == CM_OK && access(path, F_OK) == 0)
    status = cm_rates_read(path, topology, &work->run, error);
  if (status == CM_OK)
    status = cm_topology_store(topology, work->made, &work->run, error);
  if (status == CM_OK)
    status = tell_topology(work, topology, &report, error);
  cm_topology_free(topology);
  return status;
}
