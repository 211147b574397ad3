/* What a network is, in numbers. */
#include "base/json.h"
#include "library/internal.h"

_Static_assert(COREMAP_NEURONS_MAX == CM_VERTICES_MAX, "the public header states the most neurons");

static json_t *degrees_json(uint32_t *degree, uint32_t count)
{
  qsort(degree, count, sizeof *degree, cm_ascending);
  return json_pack("{s:I, s:I}", "median", (json_int_t)degree[count / 2], "largest", (json_int_t)degree[count - 1]);
}

static cm_status add_degrees(const cm_topology *t, json_t *about, cm_error *error)
{
  uint32_t *in = NULL, *out = NULL;
  CM_TRY_OR(CM_NEW_ALL(NULL, error, CM_ARRAY(in, t->vertex_count), CM_ARRAY(out, t->vertex_count)), cm_free(in));
  for (uint32_t e = 0; e < t->net_count; e++) {
    out[cm_topology_source(t, e)] += (uint32_t)(t->net_first[e + 1] - t->net_first[e]);
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
      in[t->pin[i]]++;
  }
  (void)json_object_set_new(about, "size", json_integer((json_int_t)t->size_total));
  if (t->vertex_count > 0) {
    (void)json_object_set_new(about, "fan_out", degrees_json(out, t->vertex_count));
    (void)json_object_set_new(about, "fan_in", degrees_json(in, t->vertex_count));
  }
  CM_FREE(in, out);
  return CM_OK;
}

static cm_status populations_json(const cm_topology *t, json_t **made, cm_error *error)
{
  uint64_t *neurons = NULL;
  CM_TRY(CM_NEW(NULL, neurons, (size_t)t->population_count + 1, error));
  for (uint32_t v = 0; t->population_of != NULL && v < t->vertex_count; v++)
    neurons[t->population_of[v]]++;
  json_t *all = json_array();
  for (uint32_t p = 0; p < t->population_count; p++)
    (void)json_array_append_new(all, json_pack("{s:s, s:s, s:I}", "name", t->population[p].name, "kind", t->population[p].kind, "neurons",
                                               (json_int_t)neurons[p]));
  cm_free(neurons);
  *made = all;
  return CM_OK;
}

/* Neurons of one population and one model. */
typedef struct group {
  uint32_t neurons;
  double least[CM_NEURON_PARAMETERS], most[CM_NEURON_PARAMETERS], sum[CM_NEURON_PARAMETERS];
} group;

static void add_neuron(const cm_dynamics *d, uint32_t v, group *g)
{
  for (int p = 0; p < CM_NEURON_PARAMETERS; p++) {
    const double value = d->parameter[p] != NULL ? (double)d->parameter[p][v] : 0;
    g->least[p] = g->neurons == 0 || value < g->least[p] ? value : g->least[p];
    g->most[p] = g->neurons == 0 || value > g->most[p] ? value : g->most[p];
    g->sum[p] += value;
  }
  g->neurons++;
}

static json_t *group_json(const cm_topology *t, uint32_t population, cm_neuron_model model, const group *g)
{
  json_t *made = json_pack("{s:s, s:I}", "model", cm_neuron_models[model].name, "neurons", (json_int_t)g->neurons), *all = json_object();
  if (t->population_of != NULL)
    (void)json_object_set_new(made, "population", json_string(t->population[population].name));
  for (cm_neuron_parameter p = 0; p < CM_NEURON_PARAMETERS; p++)
    if (cm_neuron_has(model, p) && !(cm_neuron_parameters[p].rare && g->most[p] == 0))
      (void)json_object_set_new(all, cm_neuron_parameters[p].name, json_pack("{s:f, s:f, s:f}", "least", g->least[p], "most", g->most[p],
                                                                             "mean", g->sum[p] / g->neurons));
  (void)json_object_set_new(made, "parameters", all);
  return made;
}

/* How a network runs, by population and model. */
static cm_status dynamics_json(const cm_topology *t, json_t **made, cm_error *error)
{
  const cm_dynamics *d = t->dynamics;
  const uint32_t populations = t->population_of != NULL ? t->population_count : 1;
  group *groups = NULL;
  CM_TRY(CM_NEW(NULL, groups, (size_t)populations * CM_NEURON_MODELS, error));
  for (uint32_t v = 0; d->model != NULL && v < t->vertex_count; v++)
    add_neuron(d, v, &groups[(t->population_of != NULL ? t->population_of[v] : 0) * CM_NEURON_MODELS + d->model[v]]);
  json_t *models = json_array();
  for (uint32_t i = 0; i < populations * CM_NEURON_MODELS; i++)
    if (groups[i].neurons > 0)
      (void)json_array_append_new(models, group_json(t, i / CM_NEURON_MODELS, (cm_neuron_model)(i % CM_NEURON_MODELS), &groups[i]));
  cm_free(groups);
  *made = json_pack("{s:o, s:I}", "models", models, "parallel", (json_int_t)d->parallel_count);
  return CM_OK;
}

/* Lines as an array of texts. */
static json_t *lines_json(const char *lines)
{
  json_t *all = json_array();
  for (const char *at = lines; *at != '\0';) {
    const size_t length = strcspn(at, "\n");
    (void)json_array_append_new(all, json_stringn(at, length));
    at += length + (at[length] == '\n');
  }
  return all;
}

/* What reading the file understood of it. */
static json_t *reading_json(const cm_reading *r, const cm_topology *t)
{
  json_t *rows = json_array();
  for (unsigned i = 0; i < r->rows; i++) {
    json_t *row = json_pack("{s:s, s:s, s:f}", "source", r->row[i].source, "target", r->row[i].target, "weight", r->row[i].weight);
    if (r->row[i].delay_ms >= 0)
      (void)json_object_set_new(row, "delay", json_real(r->row[i].delay_ms));
    (void)json_array_append_new(rows, row);
  }
  const uint64_t dropped = (t->directed ? 0 : t->self_loop_count) + t->empty_net_count;
  return json_pack("{s:s, s:o, s:b, s:s, s:b, s:I, s:I, s:o, s:o}", "why", r->why, "columns", lines_json(r->columns), "header", r->header, "ids",
                   t->label_text != NULL ? "names" : "numbers", "directed", t->directed, "merged", (json_int_t)t->duplicate_count, "dropped",
                   (json_int_t)dropped, "ignored", lines_json(r->ignored), "rows", rows);
}

int coremap_network_about(const coremap_network *network, int degrees, char **json, coremap_error **error)
{
  cm_error e;
  json_t *populations;
  const uint64_t refusals = cm_json_refusals();
  const cm_topology *t = network->topology;
  const cm_import_report *r = &network->report;
  if (populations_json(t, &populations, &e) != CM_OK)
    return library_tell(e.status, &e, error);
  json_t *made = json_pack(
    "{s:s, s:b, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:b, s:b, s:o, s:{s:I, s:I, s:I, s:I}, s:I}", "format", r->format, "gzipped", r->gzipped,
    "directed", t->directed, "bytes", (json_int_t)r->bytes, "plain_bytes", (json_int_t)r->plain_bytes, "neurons",
    (json_int_t)t->vertex_count, "inputs", (json_int_t)cm_topology_inputs(t), "synapses", (json_int_t)cm_topology_synapses(t), "hyperedges",
    (json_int_t)cm_topology_hyperedges(t), "labels", t->label_text != NULL, "delays", t->pin_delay != NULL, "signs", t->pin_negative != NULL, "populations", populations,
    "report", "duplicates", (json_int_t)t->duplicate_count, "self_loops", (json_int_t)t->self_loop_count, "empty_nets",
    (json_int_t)t->empty_net_count, "zeros", (json_int_t)t->zero_count, "inhibitory", (json_int_t)cm_topology_negatives(t));
  (void)json_object_set_new(made, "reading", reading_json(&r->reading, t));
  json_t *dynamics = NULL;
  cm_status status = t->dynamics != NULL ? dynamics_json(t, &dynamics, &e) : CM_OK;
  if (dynamics != NULL)
    (void)json_object_set_new(made, "dynamics", dynamics);
  CM_THEN_IF(status, made != NULL && degrees != 0, add_degrees(t, made, &e));
  if (status == CM_OK)
    status = library_whole_text(made, refusals, json, &e);
  else
    json_decref(made);
  return library_tell(status, &e, error);
}
