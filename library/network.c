/* Networks: read from files, or made of compressed sparse rows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/option.h"
#include "core/network/apart.h"
#include "core/network/csr.h"
#include "core/network/export.h"
#include "core/network/formats.h"
#include "core/network/import.h"
#include "core/network/rates.h"
#include "core/operators/onnx/onnx.h"
#include "library/internal.h"

int library_network_own(cm_status status, cm_topology *topology, const char *id, coremap_network **network, cm_error *e,
                        coremap_error **error)
{
  coremap_network *made = status == CM_OK ? calloc(1, sizeof *made) : NULL;
  if (status == CM_OK && made == NULL) {
    cm_topology_free(topology);
    status = cm_fail(e, CM_NO_MEMORY, "out of memory for a network");
  }
  if (status != CM_OK)
    return library_tell(status, e, error);
  atomic_init(&made->owners, 1);
  made->topology = topology;
  (void)snprintf(made->id, sizeof made->id, "%s", id);
  *network = made;
  return 0;
}

static cm_status read_hint(json_t *options, library_hint *hint, cm_error *error)
{
  char (*text)[CM_PATH_MAX] = hint->text;
  if (library_take_text(options, "format", text[CM_READ_OPTIONS], error) != CM_OK)
    return error->status;
  hint->hint.format = text[CM_READ_OPTIONS][0] != '\0' ? text[CM_READ_OPTIONS] : NULL;
  for (int i = 0; i < CM_READ_OPTIONS; i++) {
    const bool given = json_object_get(options, cm_read_options[i].name) != NULL;
    if (library_take_text(options, cm_read_options[i].name, text[i], error) != CM_OK)
      return error->status;
    hint->hint.option[i] = text[i];
    if (given && !cm_read_options[i].file && cm_read_option_check((cm_read_option_id)i, text[i], error) != CM_OK)
      return error->status;
  }
  if (json_object_size(options) == 0)
    return CM_OK;
  const char *unknown = json_object_iter_key(json_object_iter(options));
  cm_fail(error, CM_BAD_OPTION, "there is no option %s of reading a network", unknown);
  return cm_fail_at(error, "/options/%s", unknown);
}

cm_status library_hint_read(json_t *options, const char *name, library_hint *hint, cm_error *error)
{
  library_hint made = {.hint.name = name, .text = calloc(CM_READ_OPTIONS + 1, sizeof *made.text)};
  if (made.text == NULL)
    return cm_fail(error, CM_NO_MEMORY, "out of memory for options");
  cm_status status = read_hint(options, &made, error);
  if (status == CM_OK)
    *hint = made;
  else
    library_hint_clear(&made);
  return status;
}

void library_hint_clear(library_hint *hint)
{
  free(hint->text);
}

static cm_status read_network(const char *path, json_t *options, cm_run *run, cm_topology **topology, char id[65], cm_error *error)
{
  library_hint hint;
  cm_import_report ignored;
  uint64_t bytes;
  if (library_hint_read(options, path, &hint, error) != CM_OK)
    return error->status;
  cm_status status = cm_import_guarded(path, &hint.hint, run, topology, &ignored, error);
  if (status == CM_OK) {
    if (hint.text[CM_READ_RATES][0] != '\0')
      status = cm_rates_read(hint.text[CM_READ_RATES], *topology, run, error);
    if (status == CM_OK)
      status = cm_file_hash(path, id, &bytes, error);
    if (status != CM_OK)
      cm_topology_free(*topology);
  }
  library_hint_clear(&hint);
  return status;
}

int coremap_look(const char *path, const char *format, unsigned *looks, coremap_error **error)
{
  cm_error e;
  bool model = false;
  cm_status status = format == NULL || format[0] == '\0' ? cm_onnx_looks_like(path, &model, &e) : CM_OK;
  if (status == CM_OK)
    *looks = (model ? COREMAP_LOOKS_LIKE_MODEL : 0) | (cm_network_needs_confinement(path, format) ? COREMAP_LOOKS_CONFINED : 0);
  return library_tell(status, &e, error);
}

int coremap_network_read(const char *path, const char *options_text, coremap_progress progress, void *user,
                         coremap_network **network, coremap_error **error)
{
  cm_error e;
  library_run r;
  json_t *options = NULL;
  cm_topology *topology = NULL;
  char id[65] = "";
  cm_status status = library_options(options_text, &options, &e);
  if (status == CM_OK) {
    library_begin(&r, progress, user);
    library_outlive(&r, NULL); /* the network outlives the call */
    status = read_network(path, options, r.run, &topology, id, &e);
    cm_run_finish(r.run);
    json_decref(options);
  }
  return library_network_own(status, topology, id, network, &e, error);
}

int coremap_network_from_csr(uint32_t neurons, const uint64_t *first, const uint32_t *target, const double *weight,
                             coremap_network **network, coremap_error **error)
{
  cm_error e;
  library_run r;
  cm_topology *topology = NULL;
  library_begin(&r, NULL, NULL);
  library_outlive(&r, NULL);
  cm_status status = cm_topology_from_csr(neurons, first, target, weight, r.run, &topology, &e);
  cm_run_finish(r.run);
  return library_network_own(status, topology, "", network, &e, error);
}

int coremap_network_write(const coremap_network *network, const char *path, coremap_error **error)
{
  cm_error e;
  library_run r;
  library_begin(&r, NULL, NULL);
  cm_status status = cm_export(network->topology, path, r.run, &e);
  cm_run_finish(r.run);
  return library_tell(status, &e, error);
}

uint32_t coremap_network_neurons(const coremap_network *network)
{
  return network->topology->vertex_count;
}

uint64_t coremap_network_synapses(const coremap_network *network)
{
  return cm_topology_synapses(network->topology);
}

const char *coremap_network_name(const coremap_network *network, uint32_t neuron)
{
  return neuron < network->topology->vertex_count ? cm_topology_label(network->topology, neuron) : NULL;
}

void coremap_network_free(coremap_network *network)
{
  if (network == NULL || atomic_fetch_sub(&network->owners, 1) > 1)
    return;
  cm_topology_free(network->topology);
  free(network);
}
