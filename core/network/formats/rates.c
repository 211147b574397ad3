/* Happy path: names of the network become numbers again, each line gives one its rate, then all is put on one scale. What can
 * fail: names that are not there, rates that are none, neurons without one. */
#include "core/network/rates.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/network/formats/source.h"
#include "core/network/formats/table_rows.h"
#include "core/network/formats/weighted.h"
#include "core/network/import_limits.h"
#include "core/network/recognise.h"

/* ---- scale ---- */

/* Whether no synapse has a weight of its own because each weighs 1, not its axon's rate. */
static bool all_weigh_one(const cm_topology *t)
{
  for (uint32_t e = 0; e < t->net_count; e++)
    if (t->net_weight[e] != t->weight_scale)
      return false;
  return t->pin_weight == NULL;
}

static double rate_of(const cm_topology *t, const double *rate, uint32_t net)
{
  double measured = rate[cm_topology_source(t, net)];
  return isnan(measured) ? (double)t->net_weight[net] / (double)t->weight_scale : measured;
}

/* What is given to a network. */
typedef struct given {
  const double *rate;     /* [vertices] NAN: as it was */
  const double *scenario; /* [count * vertices] */
  uint32_t count;
} given;

static double scenario_rate(const cm_topology *t, const given *g, uint32_t scenario, uint32_t net)
{
  return g->scenario[(size_t)scenario * t->vertex_count + cm_topology_source(t, net)];
}

/* The scale on which the rates of every scenario and all weights can be counted exactly. */
static cm_status find_scale(const cm_topology *t, const given *g, bool ones, uint64_t *scale, cm_error *error)
{
  double traffic = 0, weights = ones ? (double)t->pin_count : 0, heaviest = 1;
  bool whole = t->weight_scale == 1;
  for (uint32_t k = 0; k <= g->count; k++) {
    double sum = 0;
    for (uint32_t e = 0; e < t->net_count; e++) {
      double here = k == g->count ? rate_of(t, g->rate, e) : scenario_rate(t, g, k, e);
      sum += here * (double)(t->net_first[e + 1] - t->net_first[e]);
      whole = whole && here == trunc(here);
    }
    traffic = sum > traffic ? sum : traffic;
  }
  for (uint64_t i = 0; t->pin_weight != NULL && i < t->pin_count && !ones; i++) {
    double weight = (double)t->pin_weight[i] / (double)t->weight_scale;
    weights += weight;
    heaviest = weight > heaviest ? weight : heaviest;
  }
  return cm_weight_scale(traffic > weights ? traffic : weights, heaviest, UINT32_MAX, whole, scale, error);
}

/* Dynamics that are another network's become its own but for their arrays. */
static cm_status own_dynamics(cm_topology *t, cm_memory *memory, cm_error *error)
{
  cm_dynamics *own;
  if (t->lender == NULL)
    return CM_OK;
  CM_TRY(CM_NEW(memory, own, 1, error));
  *own = *t->dynamics;
  t->dynamics = own;
  return CM_OK;
}

/* On a smaller scale weights may lose bits: those of a network that runs are kept as they were. */
static cm_status keep_weights(cm_topology *t, uint64_t scale, cm_memory *memory, cm_error *error)
{
  if (t->dynamics == NULL || t->dynamics->weight != NULL || t->pin_weight == NULL || scale >= t->weight_scale)
    return CM_OK;
  CM_TRY(own_dynamics(t, memory, error));
  CM_TRY(CM_NEW(memory, t->dynamics->weight, t->pin_count, error));
  for (uint32_t e = 0; e < t->net_count; e++)
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
      t->dynamics->weight[i] = (float)cm_topology_pin_value(t, e, i);
  return CM_OK;
}

static cm_status give(cm_topology *t, const given *g, cm_run *run, cm_error *error)
{
  uint64_t scale, *net_weight = NULL, *scenarios = NULL;
  uint32_t *pin_weight = NULL;
  size_t in_scenarios = (size_t)g->count * t->net_count;
  if (!t->directed)
    return cm_fail(error, CM_BAD_NETWORK, "rates are those of axons; the network is undirected: give it as directed edges");
  bool ones = all_weigh_one(t);
  cm_status status = find_scale(t, g, ones, &scale, error);
  CM_THEN(status, keep_weights(t, scale, run->memory, error));
  if (status == CM_OK && (CM_NEW(run->memory, net_weight, t->net_count, error) != CM_OK ||
                          (in_scenarios > 0 && CM_NEW(run->memory, scenarios, in_scenarios, error) != CM_OK) ||
                          ((ones || t->pin_weight != NULL) && CM_NEW(run->memory, pin_weight, t->pin_count, error) != CM_OK)))
    status = error->status;
  if (status != CM_OK) {
    CM_FREE(net_weight, scenarios);
    return status;
  }
  for (uint32_t e = 0; e < t->net_count; e++) {
    net_weight[e] = cm_weight_scaled(rate_of(t, g->rate, e), scale);
    for (uint32_t k = 0; k < g->count; k++)
      scenarios[(size_t)k * t->net_count + e] = cm_weight_scaled(scenario_rate(t, g, k, e), scale);
  }
  for (uint64_t i = 0; pin_weight != NULL && i < t->pin_count; i++)
    pin_weight[i] = (uint32_t)(ones ? scale : cm_weight_scaled((double)t->pin_weight[i] / (double)t->weight_scale, scale));
  if (t->lender == NULL) {
    CM_FREE(t->net_weight, t->pin_weight, t->scenario_rate, t->scenario_name);
  }
  t->net_weight = net_weight;
  t->pin_weight = pin_weight;
  t->weight_scale = scale;
  t->scenario_rate = scenarios;
  t->scenario_name = NULL;
  t->scenario_count = 0;
  return CM_OK;
}

cm_status cm_topology_set_rates(cm_topology *topology, const double *rate, cm_run *run, cm_error *error)
{
  const given g = {.rate = rate};
  return give(topology, &g, run, error);
}

cm_status cm_topology_set_scenarios(cm_topology *topology, const cm_scenario_name *name, uint32_t count, const double *rate,
                                    cm_run *run, cm_error *error)
{
  cm_scenario_name *names = NULL;
  double *mean = NULL;
  size_t n = topology->vertex_count;
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(mean, n), CM_ARRAY(names, count));
  for (size_t i = 0; status == CM_OK && i < n * count; i++)
    mean[i % n] += rate[i] / count;
  const given g = {.rate = mean, .scenario = rate, .count = count};
  CM_THEN(status, give(topology, &g, run, error));
  cm_free(mean);
  if (status != CM_OK) {
    cm_free(names);
    return status;
  }
  memcpy(names, name, count * sizeof *names);
  topology->scenario_name = names;
  topology->scenario_count = count;
  return CM_OK;
}

/* ---- tables ---- */

typedef struct rates {
  cm_table table;
  const cm_topology *topology;
  double *rate;       /* [vertices] NAN: none yet; with scenarios 0 where there are some */
  size_t at[CM_RATE_COLUMNS], count; /* fields; 0 of them: not known yet */
  uint32_t scenarios; /* columns rate:NAME */
  size_t scenario_at[CM_SCENARIOS_MAX];
  cm_scenario_name name[CM_SCENARIOS_MAX];
  double *scenario;   /* [scenarios * vertices] */
} rates;

bool cm_scenario_name_valid(const char *name, size_t length)
{
  bool valid = length > 0 && length < CM_SCENARIO_NAME_MAX;
  for (size_t i = 0; i < length && valid; i++)
    valid = isalnum((unsigned char)name[i]) || name[i] == '-' || name[i] == '_';
  return valid;
}

/* "rate:NAME" is a scenario's column. */
static cm_status find_scenario(rates *r, size_t field, cm_error *error)
{
  static const char begin[] = "rate:";
  const cm_field *f = &r->table.fields[field];
  size_t length = sizeof begin - 1;
  if (f->length < length || strncasecmp(f->text, begin, length) != 0)
    return CM_OK;
  if (r->scenarios == CM_SCENARIOS_MAX)
    return cm_table_bad(&r->table, "it names more than 64 scenarios", error);
  if (!cm_scenario_name_valid(f->text + length, f->length - length))
    return cm_table_bad(&r->table, "rate:NAME takes names of 1 to 63 letters, digits, - and _", error);
  char *name = r->name[r->scenarios];
  memcpy(name, f->text + length, f->length - length);
  name[f->length - length] = '\0';
  for (uint32_t k = 0; k < r->scenarios; k++)
    if (strcmp(r->name[k], name) == 0)
      return cm_table_bad(&r->table, "it names a scenario twice", error);
  r->scenario_at[r->scenarios++] = field;
  return CM_OK;
}

static cm_status find_scenarios(rates *r, bool named, bool plain, cm_error *error)
{
  for (size_t i = 0; i < r->table.field_count; i++)
    CM_TRY(find_scenario(r, i, error));
  if (r->scenarios == 0)
    return CM_OK;
  if (!named)
    return cm_table_bad(&r->table, "a column of the neurons' names is expected beside rate:NAME", error);
  if (plain || r->scenarios == 1)
    return cm_table_bad(&r->table, plain ? "give either a column rate, or one rate:NAME for each scenario, not both"
                                         : "a single scenario is no choice: name its column rate, or add another rate:NAME",
                        error);
  return CM_NEW(r->table.memory, r->scenario, (size_t)r->scenarios * r->topology->vertex_count, error);
}

/* Finds the columns by the first line; *header: it names them. */
static cm_status find_columns(rates *r, bool *header, cm_error *error)
{
  const cm_table *t = &r->table;
  bool found[CM_RATE_COLUMNS + 1] = {false};
  double ignored;
  r->count = t->field_count;
  for (size_t i = t->field_count; i-- > 0;) {
    cm_rate_column_id c = cm_rate_column(&t->fields[i]);
    found[c] = true;
    if (c < CM_RATE_COLUMNS)
      r->at[c] = i;
  }
  CM_TRY(find_scenarios(r, found[CM_RATE_NAME], found[CM_RATE_VALUE], error));
  *header = r->scenarios > 0 || (found[CM_RATE_NAME] && found[CM_RATE_VALUE]);
  if (*header)
    return CM_OK;
  if (t->field_count != 2)
    return cm_table_bad(t, "name,rate is expected, or a header that names both among others", error);
  r->at[CM_RATE_NAME] = 0;
  r->at[CM_RATE_VALUE] = 1;
  *header = !cm_field_number(&t->fields[1], &ignored);
  return CM_OK;
}

static cm_status read_rate(rates *r, size_t field, double *rate, cm_error *error)
{
  CM_TRY(cm_table_number(&r->table, &r->table.fields[field], "rate", rate, error));
  return *rate < 0 ? cm_table_bad(&r->table, "the rate is negative", error) : CM_OK;
}

static cm_status read_line(rates *r, cm_error *error)
{
  cm_table *t = &r->table;
  uint32_t vertex = 0;
  double rate = 0;
  if (t->field_count != r->count)
    return cm_table_bad(t, "it has another number of fields than the first line", error);
  CM_TRY(cm_table_vertex(t, r->topology, &t->fields[r->at[CM_RATE_NAME]], &vertex, error));
  if (!isnan(r->rate[vertex]))
    return cm_table_bad_name(t, "the neuron", &t->fields[r->at[CM_RATE_NAME]], " stands twice", error);
  CM_TRY_IF(r->scenarios == 0, read_rate(r, r->at[CM_RATE_VALUE], &rate, error));
  for (uint32_t k = 0; k < r->scenarios; k++)
    CM_TRY(read_rate(r, r->scenario_at[k], &r->scenario[(size_t)k * r->topology->vertex_count + vertex], error));
  r->rate[vertex] = rate;
  return CM_OK;
}

static cm_status read_lines(rates *r, cm_error *error)
{
  cm_table *t = &r->table;
  for (bool end = false;;) {
    CM_TRY(cm_table_next_plain_row(t, &end, error));
    if (end)
      return CM_OK;
    bool header = false;
    if ((r->count == 0 && find_columns(r, &header, error) != CM_OK) || (!header && read_line(r, error) != CM_OK))
      return error->status;
  }
}

/* Every neuron that sends must have a rate: 1 beside rates in hertz would mean nothing. */
static cm_status refuse_missing(const rates *r, cm_error *error)
{
  const cm_topology *t = r->topology;
  uint64_t missing = 0;
  uint32_t first = 0;
  for (uint32_t e = t->net_count; e-- > 0;)
    if (isnan(r->rate[cm_topology_source(t, e)])) {
      missing++;
      first = cm_topology_source(t, e);
    }
  if (missing == 0)
    return CM_OK;
  char number[16];
  (void)snprintf(number, sizeof number, "%u", first);
  return cm_fail(error, CM_BAD_NETWORK, "rates: %llu neuron%s that send%s have none, the first is '%.60s'; give 0 for silent ones",
                 (unsigned long long)missing, missing == 1 ? "" : "s", missing == 1 ? "s" : "",
                 t->label_text != NULL ? t->label_text + t->label_first[first] : number);
}

/* The table of a file, into `r`: to be cleared, after errors too. */
static cm_status read_file(const char *path, rates *r, cm_run *run, cm_error *error)
{
  const cm_import_limits limits = cm_import_limits_default();
  cm_source source;
  CM_TRY(cm_source_open(&source, path, &limits, run, error));
  r->table = (cm_table){.source = &source, .limits = &limits, .run = run, .memory = run->memory, .what = "rates"};
  cm_status status = cm_names_open(&r->table.names, run->memory, error);
  CM_THEN(status, CM_NEW(run->memory, r->rate, r->topology->vertex_count, error));
  for (uint32_t v = 0; status == CM_OK && v < r->topology->vertex_count; v++)
    r->rate[v] = NAN;
  CM_THEN(status, cm_table_name_all(&r->table, r->topology, error));
  if (status == CM_OK) {
    cm_skip_byte_order_mark(&source);
    status = read_lines(r, error);
  }
  cm_source_close(&source);
  return status;
}

static void clear(rates *r)
{
  cm_table_free(&r->table);
  CM_FREE(r->rate, r->scenario);
}

cm_status cm_rates_read(const char *path, cm_topology *topology, cm_run *run, cm_error *error)
{
  rates r = {.topology = topology};
  cm_run_phase(run, "read");
  cm_status status = read_file(path, &r, run, error);
  CM_THEN(status, refuse_missing(&r, error));
  if (status == CM_OK)
    status = r.scenarios > 0 ? cm_topology_set_scenarios(topology, (const cm_scenario_name *)r.name, r.scenarios, r.scenario,
                                                         run, error)
                             : cm_topology_set_rates(topology, r.rate, run, error);
  clear(&r);
  return status;
}

cm_status cm_rates_values(const char *path, const cm_topology *topology, cm_run *run, double **rate, cm_error *error)
{
  rates r = {.topology = topology};
  cm_status status = read_file(path, &r, run, error);
  if (status == CM_OK && r.scenarios > 0)
    status = cm_fail(error, CM_BAD_NETWORK, "rates: one column, rate, is expected here, not one for each scenario");
  if (status == CM_OK) {
    *rate = r.rate;
    r.rate = NULL;
  }
  clear(&r);
  return status;
}
