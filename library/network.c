/* Networks: read from files, or made of compressed sparse rows. */
#include <math.h>

#include "core/network/apart.h"
#include "core/network/csr.h"
#include "core/network/export.h"
#include "core/network/formats.h"
#include "core/network/neuron_values.h"
#include "core/network/rates.h"
#include "core/operators/onnx/onnx.h"
#include "library/internal.h"

int library_network_own(cm_status status, cm_topology *topology, const char *id, coremap_network **network, cm_error *e,
                        coremap_error **error)
{
  coremap_network *made = status == CM_OK ? calloc(1, sizeof *made) : NULL;
  if (status == CM_OK && made == NULL) {
    cm_topology_free(topology);
    status = cm_whole(false, "a network", e);
  }
  if (status != CM_OK)
    return library_tell(status, e, error);
  atomic_init(&made->owners, 1);
  made->topology = topology;
  (void)snprintf(made->id, sizeof made->id, "%s", id);
  *network = made;
  return 0;
}

typedef struct read {
  cm_topology *topology;
  cm_import_report report;
  char id[65];
} read;

static cm_status read_network(const char *path, json_t *options, cm_run *run, read *made, cm_error *error)
{
  library_hint hint;
  uint64_t bytes;
  CM_TRY(library_hint_read(options, path, &hint, error));
  const cm_import_limits limits = cm_import_limits_default();
  cm_status status = hint.confined ? cm_import_as(path, &hint.hint, &limits, run, &made->topology, &made->report, error)
                                   : cm_import_guarded(path, &hint.hint, run, &made->topology, &made->report, error);
  if (status == CM_OK) {
    if (hint.text[CM_READ_RATES][0] != '\0')
      status = cm_rates_read(hint.text[CM_READ_RATES], made->topology, run, error);
    CM_THEN_IF(status, hint.text[CM_READ_PARAMETERS][0] != '\0', cm_parameters_read(hint.text[CM_READ_PARAMETERS], made->topology, run, error));
    CM_THEN_IF(status, hint.id, cm_file_hash(path, made->id, &bytes, error));
    if (status != CM_OK)
      cm_topology_free(made->topology);
  }
  library_hint_clear(&hint);
  return status;
}

int coremap_look(const char *path, const char *format, unsigned *looks, coremap_error **error)
{
  cm_error e;
  const bool told = format != NULL && format[0] != '\0';
  bool model = told && strcmp(format, "onnx") == 0;
  cm_status status = told ? CM_OK : cm_onnx_looks_like(path, &model, &e);
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
  read made = {0};
  cm_status status = library_options(options_text, &options, &e);
  if (status == CM_OK) {
    library_begin(&r, progress, user);
    library_outlive(&r, NULL); /* the network outlives the call */
    status = read_network(path, options, r.run, &made, &e);
    cm_run_finish(r.run);
    json_decref(options);
  }
  const int result = library_network_own(status, made.topology, made.id, network, &e, error);
  if (result == 0)
    (*network)->report = made.report;
  return result;
}

static int from_rows(const cm_row_arrays *rows, coremap_network **network, coremap_error **error)
{
  cm_error e;
  library_run r;
  cm_topology *topology = NULL;
  library_begin(&r, NULL, NULL);
  library_outlive(&r, NULL);
  cm_status status = cm_topology_from_csr(rows, r.run, &topology, &e);
  cm_run_finish(r.run);
  return library_network_own(status, topology, "", network, &e, error);
}

int coremap_network_from_csr(uint32_t neurons, const uint64_t *first, const uint32_t *target, const double *weight,
                             coremap_network **network, coremap_error **error)
{
  return from_rows(&(cm_row_arrays){true, neurons, first, target, weight}, network, error);
}

int coremap_network_from_graph(uint32_t vertices, const uint64_t *first, const uint32_t *neighbour, const double *weight,
                               coremap_network **network, coremap_error **error)
{
  return from_rows(&(cm_row_arrays){false, vertices, first, neighbour, weight}, network, error);
}

int coremap_network_from_edges(uint32_t neurons, uint64_t edges, const uint32_t *from, const uint32_t *to, const double *weight,
                               int directed, coremap_network **network, coremap_error **error)
{
  cm_error e;
  library_run r;
  cm_topology *topology = NULL;
  const cm_edge_arrays arrays = {directed != 0, neurons, edges, from, to, weight};
  library_begin(&r, NULL, NULL);
  library_outlive(&r, NULL);
  cm_status status = cm_topology_from_edges(&arrays, r.run, &topology, &e);
  cm_run_finish(r.run);
  return library_network_own(status, topology, "", network, &e, error);
}

int coremap_network_from_nets(uint32_t vertices, uint32_t nets, const uint64_t *first, const uint32_t *pin, const double *rate,
                              coremap_network **network, coremap_error **error)
{
  cm_error e;
  library_run r;
  cm_topology *topology = NULL;
  const cm_net_arrays arrays = {vertices, nets, first, pin, rate};
  library_begin(&r, NULL, NULL);
  library_outlive(&r, NULL);
  cm_status status = cm_topology_from_nets(&arrays, r.run, &topology, &e);
  cm_run_finish(r.run);
  return library_network_own(status, topology, "", network, &e, error);
}

/* ---- what neurons have ---- */

static cm_status alone(coremap_network *network, cm_error *error)
{
  if (atomic_load(&network->owners) > 1)
    return cm_fail(error, CM_CONFLICT, "the network has mappings, which keep it as it is: set sizes and rates before it is mapped");
  return CM_OK;
}

int coremap_network_set_sizes(coremap_network *network, const uint32_t *size, coremap_error **error)
{
  cm_error e;
  cm_status status = alone(network, &e);
  CM_THEN(status, cm_topology_set_sizes(network->topology, size, NULL, &e));
  if (status == CM_OK)
    network->id[0] = '\0';
  return library_tell(status, &e, error);
}

static cm_status check_rates(const double *rate, uint32_t neurons, cm_error *error)
{
  for (uint32_t v = 0; v < neurons; v++)
    if (!isnan(rate[v]) && !(rate[v] >= 0 && isfinite(rate[v]))) {
      (void)cm_fail(error, CM_BAD_NETWORK, "the rate of neuron %u is %g; a rate is 0 or more", v, rate[v]);
      return cm_fail_at(error, "neuron %u", v);
    }
  return CM_OK;
}

int coremap_network_set_rates(coremap_network *network, const double *rate, coremap_error **error)
{
  cm_error e;
  library_run r;
  cm_status status = alone(network, &e);
  CM_THEN(status, check_rates(rate, network->topology->vertex_count, &e));
  if (status == CM_OK) {
    library_begin(&r, NULL, NULL);
    library_outlive(&r, NULL);
    status = cm_topology_set_rates(network->topology, rate, r.run, &e);
    cm_run_finish(r.run);
  }
  if (status == CM_OK)
    network->id[0] = '\0';
  return library_tell(status, &e, error);
}

static cm_status take_models(cm_neuron_values *values, uint32_t neurons, const char *const *model, cm_error *error)
{
  for (uint32_t v = 0; model != NULL && v < neurons; v++)
    if ((values->model[v] = (uint8_t)cm_neuron_model_find(model[v], strlen(model[v]))) == CM_NEURON_MODELS)
      return cm_fail(error, CM_BAD_OPTION, "neuron %u: there is no model '%.40s'", v, model[v]);
  return CM_OK;
}

static cm_status take_parameter(cm_neuron_values *values, uint32_t neurons, const char *name, const float *value, cm_error *error)
{
  const cm_neuron_parameter p = cm_neuron_parameter_find(name, strlen(name));
  if (p == CM_NEURON_PARAMETERS || values->parameter[p] != NULL)
    return cm_fail(error, CM_BAD_OPTION, p == CM_NEURON_PARAMETERS ? "no neuron has a '%.40s'" : "'%.40s' is given twice", name);
  CM_TRY(CM_NEW(NULL, values->parameter[p], neurons, error));
  memcpy(values->parameter[p], value, neurons * sizeof *value);
  return CM_OK;
}

int coremap_network_set_parameters(coremap_network *network, const char *const *model, size_t count, const char *const *name,
                                   const float *const *value, coremap_error **error)
{
  cm_error e;
  cm_neuron_values values = {0};
  const uint32_t neurons = network->topology->vertex_count;
  cm_status status = alone(network, &e);
  CM_THEN(status, cm_neuron_values_open(&values, neurons, NULL, &e));
  CM_THEN(status, take_models(&values, neurons, model, &e));
  for (size_t i = 0; i < count && status == CM_OK; i++)
    status = take_parameter(&values, neurons, name[i], value[i], &e);
  CM_THEN(status, cm_topology_set_parameters(network->topology, &values, NULL, &e));
  cm_neuron_values_free(&values);
  if (status == CM_OK)
    network->id[0] = '\0';
  return library_tell(status, &e, error);
}

const float *coremap_network_parameter(const coremap_network *network, const char *name)
{
  const cm_dynamics *d = network->topology->dynamics;
  const cm_neuron_parameter p = cm_neuron_parameter_find(name, strlen(name));
  return d != NULL && p < CM_NEURON_PARAMETERS ? d->parameter[p] : NULL;
}

const char *coremap_network_model(const coremap_network *network, uint32_t neuron)
{
  const cm_topology *t = network->topology;
  return neuron < t->vertex_count && t->dynamics != NULL && t->dynamics->model != NULL ? cm_neuron_models[t->dynamics->model[neuron]].name
                                                                                        : NULL;
}

int coremap_network_write(const coremap_network *network, const char *path, coremap_error **error)
{
  return coremap_network_write_as(network, path, NULL, NULL, NULL, error);
}

cm_status library_network_write(const cm_topology *topology, const char *path, const char *as, cm_run *run, cm_error *error)
{
  char name[CM_FORMAT_FILE_NAME_MAX];
  if (as != NULL && cm_network_format_file_name(as, name, error) != CM_OK)
    return error->status;
  return cm_export_as(topology, path, as != NULL ? name : path, run, error);
}

int coremap_network_write_as(const coremap_network *network, const char *path, const char *as, coremap_progress progress, void *user,
                             coremap_error **error)
{
  cm_error e;
  library_run r;
  library_begin(&r, progress, user);
  cm_status status = library_network_write(network->topology, path, as, r.run, &e);
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

/* ---- at measured rates ---- */

/* A network of its own that keeps the one that it was made of; takes the topology, also on failure. */
static cm_status derive(const coremap_network *network, cm_topology *topology, coremap_network **made, cm_error *error)
{
  coremap_network *own;
  CM_TRY_OR(CM_HEAP(own, 1, "a network", error), cm_topology_free(topology));
  atomic_init(&own->owners, 1);
  own->topology = topology;
  memcpy(own->id, network->id, sizeof own->id);
  own->report = network->report;
  own->lender = (coremap_network *)(uintptr_t)network;
  atomic_fetch_add(&own->lender->owners, 1);
  *made = own;
  return CM_OK;
}

cm_status library_network_at(const coremap_network *network, cm_measured *measured, cm_run *run, coremap_network **made, cm_error *error)
{
  cm_topology *topology;
  CM_TRY(cm_topology_measured(network->topology, measured, run, &topology, error));
  return derive(network, topology, made, error);
}

cm_status library_network_copied(const coremap_network *network, const json_t *summary, cm_run *run, coremap_network **made, cm_error *error)
{
  cm_topology *topology;
  *made = NULL;
  CM_TRY(cm_mapping_copied(summary, network->topology, run, &topology, error));
  return topology != NULL ? derive(network, topology, made, error) : CM_OK;
}

cm_status library_network_of_mapping(const coremap_network *network, const char *path, cm_run *run, coremap_network **made, cm_error *error)
{
  cm_measured measured = {0};
  json_t *summary;
  *made = NULL;
  if (network->lender != NULL)
    return CM_OK;
  if (network->topology->dynamics != NULL && cm_mapping_read_measured(path, network->topology->vertex_count, run, &measured, error) != CM_OK)
    return error->status;
  if (measured.spikes != NULL)
    return library_network_at(network, &measured, run, made, error);
  CM_TRY(cm_mapping_read_summary(path, run, &summary, error));
  const cm_status status = library_network_copied(network, summary, run, made, error);
  json_decref(summary);
  return status;
}

void coremap_network_free(coremap_network *network)
{
  if (network == NULL || atomic_fetch_sub(&network->owners, 1) > 1)
    return;
  cm_topology_free(network->topology);
  coremap_network_free(network->lender);
  free(network);
}
