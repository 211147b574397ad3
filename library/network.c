/* Networks: read from files, or made of compressed sparse rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/option.h"
#include "core/network/apart.h"
#include "core/network/csr.h"
#include "core/network/export.h"
#include "core/network/formats.h"
#include "core/network/import.h"
#include "core/network/rates.h"
#include "library/internal.h"

static int own(cm_status status, cm_topology *topology, const char *id, coremap_network **network, cm_error *e, coremap_error **error)
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
  memcpy(made->id, id, sizeof made->id);
  *network = made;
  return 0;
}

/* What the options say of reading, which stays in `text`. */
static cm_status read_hint(json_t *options, char text[CM_READ_OPTIONS + 1][CM_PATH_MAX], cm_import_hint *hint, cm_error *error)
{
  if (library_take_text(options, "format", text[CM_READ_OPTIONS], error) != CM_OK)
    return error->status;
  hint->format = text[CM_READ_OPTIONS][0] != '\0' ? text[CM_READ_OPTIONS] : NULL;
  for (int i = 0; i < CM_READ_OPTIONS; i++) {
    if (library_take_text(options, cm_read_options[i].name, text[i], error) != CM_OK)
      return error->status;
    hint->option[i] = text[i];
    if (text[i][0] != '\0' && !cm_read_options[i].file && cm_read_option_check((cm_read_option_id)i, text[i], error) != CM_OK)
      return error->status;
  }
  if (json_object_size(options) == 0)
    return CM_OK;
  const char *unknown = json_object_iter_key(json_object_iter(options));
  cm_fail(error, CM_BAD_OPTION, "there is no option %s of reading a network", unknown);
  return cm_fail_at(error, "/options/%s", unknown);
}

static cm_status read_network(const char *path, json_t *options, cm_run *run, cm_topology **topology, char id[65], cm_error *error)
{
  char (*text)[CM_PATH_MAX] = calloc(CM_READ_OPTIONS + 1, sizeof *text);
  cm_import_hint hint = {.name = path};
  cm_import_report ignored;
  uint64_t bytes;
  if (text == NULL)
    return cm_fail(error, CM_NO_MEMORY, "out of memory for options");
  cm_status status = read_hint(options, text, &hint, error);
  if (status == CM_OK)
    status = cm_import_guarded(path, &hint, run, topology, &ignored, error);
  if (status == CM_OK) {
    if (text[CM_READ_RATES][0] != '\0')
      status = cm_rates_read(text[CM_READ_RATES], *topology, run, error);
    if (status == CM_OK)
      status = cm_file_hash(path, id, &bytes, error);
    if (status != CM_OK)
      cm_topology_free(*topology);
  }
  free(text);
  return status;
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
    r.run.memory = NULL; /* the network outlives the call */
    status = read_network(path, options, &r.run, &topology, id, &e);
    cm_run_finish(&r.run);
    json_decref(options);
  }
  return own(status, topology, id, network, &e, error);
}

int coremap_network_from_csr(uint32_t neurons, const uint64_t *first, const uint32_t *target, const double *weight,
                             coremap_network **network, coremap_error **error)
{
  cm_error e;
  library_run r;
  cm_topology *topology = NULL;
  const char none[65] = "";
  library_begin(&r, NULL, NULL);
  r.run.memory = NULL;
  cm_status status = cm_topology_from_csr(neurons, first, target, weight, &r.run, &topology, &e);
  cm_run_finish(&r.run);
  return own(status, topology, none, network, &e, error);
}

int coremap_network_write(const coremap_network *network, const char *path, coremap_error **error)
{
  cm_error e;
  library_run r;
  library_begin(&r, NULL, NULL);
  cm_status status = cm_export(network->topology, path, &r.run, &e);
  cm_run_finish(&r.run);
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
