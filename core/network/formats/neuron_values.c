/* Happy path: the header says which column is what, each line gives a neuron or a population a model and parameters, then all of it is
 * checked and put into the network. What can fail: names that are not there, numbers that are none, neurons that lack something. */
#include "core/network/neuron_values.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/network/formats/table_rows.h"
#include "core/network/recognise.h"

/* ---- values ---- */

cm_status cm_neuron_values_open(cm_neuron_values *values, uint32_t vertices, cm_memory *memory, cm_error *error)
{
  *values = (cm_neuron_values){0};
  CM_TRY(CM_NEW(memory, values->model, vertices, error));
  memset(values->model, CM_NEURON_MODELS, vertices);
  return CM_OK;
}

void cm_neuron_values_free(cm_neuron_values *values)
{
  cm_free(values->model);
  for (int p = 0; p < CM_NEURON_PARAMETERS; p++)
    cm_free(values->parameter[p]);
  *values = (cm_neuron_values){0};
}

/* Room for a parameter that no neuron had. */
static cm_status need_parameter(float **value, uint32_t vertices, float first, cm_memory *memory, cm_error *error)
{
  if (*value != NULL)
    return CM_OK;
  CM_TRY(CM_NEW(memory, *value, vertices, error));
  for (uint32_t v = 0; v < vertices; v++)
    (*value)[v] = first;
  return CM_OK;
}

static cm_status refuse(const cm_topology *t, uint32_t v, const char *what, cm_error *error)
{
  char number[16];
  (void)snprintf(number, sizeof number, "%u", v);
  const char *name = t->label_text != NULL ? cm_topology_label(t, v) : number;
  cm_fail(error, CM_BAD_NETWORK, "parameters: neuron '%.60s' %s", name, what);
  return cm_fail_at(error, "neuron %.60s", name);
}

static cm_status find_model(const cm_topology *t, const cm_neuron_values *values, uint32_t v, uint8_t *model, cm_error *error)
{
  char what[160] = "has no model: a column model is to say ";
  const uint8_t before = t->dynamics != NULL && t->dynamics->model != NULL ? t->dynamics->model[v] : CM_NEURON_MODELS;
  *model = values->model[v] != CM_NEURON_MODELS ? values->model[v] : before;
  if (*model == CM_NEURON_MODELS && cm_topology_is_input(t, v))
    *model = CM_NEURON_INPUT;
  if (*model != CM_NEURON_MODELS)
    return CM_OK;
  for (int m = 0; m < CM_NEURON_MODELS; m++)
    (void)snprintf(what + strlen(what), sizeof what - strlen(what), "%s%s", m == 0 ? "" : ", ", cm_neuron_models[m].name);
  return refuse(t, v, what, error);
}

/* The value of one parameter that the model of neuron v has; NAN: nothing says it. */
static float value_of(const cm_topology *t, const cm_neuron_values *values, uint32_t v, cm_neuron_parameter p)
{
  const cm_dynamics *d = t->dynamics;
  if (values->parameter[p] != NULL && !isnan(values->parameter[p][v]))
    return values->parameter[p][v];
  return d != NULL && d->model != NULL && cm_neuron_has(d->model[v], p) && d->parameter[p] != NULL ? d->parameter[p][v] : cm_neuron_parameters[p].otherwise;
}

static cm_status check_value(const cm_topology *t, uint32_t v, cm_neuron_model model, cm_neuron_parameter p, float value, cm_error *error)
{
  char what[160];
  const char *name = cm_neuron_models[model].name, *parameter = cm_neuron_parameters[p].name;
  if (!cm_neuron_has(model, p))
    (void)snprintf(what, sizeof what, "(%s) has no %s, but is given %g", name, parameter, (double)value);
  else if (isnan(value))
    (void)snprintf(what, sizeof what, "(%s) needs a %s", name, parameter);
  else if (!cm_neuron_allows(model, p, value))
    (void)snprintf(what, sizeof what, "(%s) has %s %g; %s is expected", name, parameter, (double)value,
                   !isfinite(value) ? "a finite number" : cm_neuron_parameters[p].rare ? "a number of 0 or more" : "a number above 0");
  else
    return CM_OK;
  return refuse(t, v, what, error);
}

static cm_status fill(const cm_topology *t, const cm_neuron_values *values, cm_dynamics *made, cm_memory *memory, cm_error *error)
{
  CM_TRY(CM_NEW(memory, made->model, t->vertex_count, error));
  for (uint32_t v = 0; v < t->vertex_count; v++) {
    CM_TRY(find_model(t, values, v, &made->model[v], error));
    for (cm_neuron_parameter p = 0; p < CM_NEURON_PARAMETERS; p++) {
      const bool given = values->parameter[p] != NULL && !isnan(values->parameter[p][v]), has = cm_neuron_has(made->model[v], p);
      const float value = has || given ? value_of(t, values, v, p) : 0;
      CM_TRY_IF((has || given), check_value(t, v, made->model[v], p, value, error));
      if (!has || (cm_neuron_parameters[p].rare && value == 0)) /* what there is of it is 0 */
        continue;
      CM_TRY(need_parameter(&made->parameter[p], t->vertex_count, 0, memory, error));
      made->parameter[p][v] = value;
    }
  }
  return CM_OK;
}

/* Models and parameters of `made`, which goes; synapses stay as they are. */
static void take_neurons(cm_dynamics *d, cm_dynamics *made)
{
  cm_free(d->model);
  d->model = made->model;
  made->model = NULL;
  for (int p = 0; p < CM_NEURON_PARAMETERS; p++) {
    cm_free(d->parameter[p]);
    d->parameter[p] = made->parameter[p];
    made->parameter[p] = NULL;
  }
  cm_dynamics_free(made);
}

cm_status cm_topology_set_parameters(cm_topology *t, const cm_neuron_values *values, cm_memory *memory, cm_error *error)
{
  cm_dynamics *made = NULL;
  if (!t->directed)
    return cm_fail(error, CM_BAD_NETWORK, "parameters are those of neurons with synapses; the network is undirected");
  cm_status status = CM_NEW(memory, made, 1, error);
  CM_THEN(status, fill(t, values, made, memory, error));
  if (status != CM_OK) {
    cm_dynamics_free(made);
    return status;
  }
  if (t->dynamics == NULL) {
    t->dynamics = made;
    return CM_OK;
  }
  take_neurons(t->dynamics, made);
  if (values->parameter[CM_PARAMETER_BIAS] != NULL) { /* a NIR graph says biases elsewhere: it is no longer that of the file */
    cm_free(t->dynamics->nodes);
    t->dynamics->nodes = NULL;
  }
  return CM_OK;
}

/* ---- tables ---- */

enum { COLUMN_NEURON = CM_NEURON_PARAMETERS, COLUMN_POPULATION, COLUMN_MODEL, COLUMNS, NO_COLUMN = -1 };

typedef struct reading {
  cm_table table;
  const cm_topology *topology;
  cm_neuron_values values;
  int at[COLUMNS]; /* which field is a parameter, or one of the others */
  size_t count;    /* fields; 0: the header has not been read */
} reading;

static bool is_word(const cm_field *f, const char *word)
{
  return f->length == strlen(word) && strncmp(f->text, word, f->length) == 0;
}

static int column_of(const cm_field *f)
{
  if (is_word(f, "neuron") || is_word(f, "name"))
    return COLUMN_NEURON;
  if (is_word(f, "population"))
    return COLUMN_POPULATION;
  if (is_word(f, "model"))
    return COLUMN_MODEL;
  const cm_neuron_parameter p = cm_neuron_parameter_find(f->text, f->length);
  return p < CM_NEURON_PARAMETERS ? (int)p : COLUMNS;
}

static cm_status read_header(reading *r, cm_error *error)
{
  cm_table *t = &r->table;
  for (int c = 0; c < COLUMNS; c++)
    r->at[c] = NO_COLUMN;
  r->count = t->field_count;
  for (size_t i = 0; i < t->field_count; i++) {
    const int c = column_of(&t->fields[i]);
    if (c == COLUMNS)
      return cm_table_bad_name(t, "no neuron has a", &t->fields[i],
                               "; a header of neuron or population, model, and names of parameters is expected", error);
    if (r->at[c] != NO_COLUMN)
      return cm_table_bad_name(t, "the column", &t->fields[i], " stands twice", error);
    r->at[c] = (int)i;
  }
  return (r->at[COLUMN_NEURON] == NO_COLUMN) == (r->at[COLUMN_POPULATION] == NO_COLUMN)
           ? cm_table_bad(t, "a column neuron or a column population is expected, and not both", error)
           : CM_OK;
}

/* What a line says, given to vertex v. */
static cm_status give(reading *r, uint32_t v, cm_error *error)
{
  cm_table *t = &r->table;
  for (int p = 0; p < CM_NEURON_PARAMETERS; p++) {
    const cm_field *f = r->at[p] != NO_COLUMN ? &t->fields[r->at[p]] : NULL;
    double value;
    if (f == NULL || f->length == 0)
      continue;
    CM_TRY(cm_table_number(t, f, cm_neuron_parameters[p].name, &value, error));
    CM_TRY(need_parameter(&r->values.parameter[p], r->topology->vertex_count, NAN, t->memory, error));
    r->values.parameter[p][v] = (float)value;
  }
  const cm_field *f = r->at[COLUMN_MODEL] != NO_COLUMN ? &t->fields[r->at[COLUMN_MODEL]] : NULL;
  if (f == NULL || f->length == 0)
    return CM_OK;
  r->values.model[v] = (uint8_t)cm_neuron_model_find(f->text, f->length);
  return r->values.model[v] < CM_NEURON_MODELS
           ? CM_OK
           : cm_table_bad_name(t, "there is no model", f, " (input, Threshold, I, LI, CubaLI, IF, LIF, CubaLIF)", error);
}

static cm_status read_line(reading *r, cm_error *error)
{
  cm_table *t = &r->table;
  const cm_topology *n = r->topology;
  uint32_t vertex = 0, population = 0;
  if (t->field_count != r->count)
    return cm_table_bad(t, "it has another number of fields than the first line", error);
  if (r->at[COLUMN_NEURON] != NO_COLUMN)
    return cm_table_vertex(t, n, &t->fields[r->at[COLUMN_NEURON]], &vertex, error) == CM_OK ? give(r, vertex, error) : error->status;
  const cm_field *name = &t->fields[r->at[COLUMN_POPULATION]];
  while (population < n->population_count && !is_word(name, n->population[population].name))
    population++;
  if (population == n->population_count)
    return cm_table_bad_name(t, "the network has no population", name, "", error);
  for (; vertex < n->vertex_count; vertex++)
    CM_TRY_IF(n->population_of[vertex] == population, give(r, vertex, error));
  return CM_OK;
}

static cm_status read_lines(reading *r, cm_error *error)
{
  for (bool end = false;;) {
    CM_TRY(cm_table_next_plain_row(&r->table, &end, error));
    if (end)
      return r->count > 0 ? CM_OK : cm_table_bad(&r->table, "the table is empty", error);
    if ((r->count == 0 ? read_header(r, error) : read_line(r, error)) != CM_OK)
      return error->status;
  }
}

cm_status cm_parameters_read(const char *path, cm_topology *topology, cm_run *run, cm_error *error)
{
  const cm_import_limits limits = cm_import_limits_default();
  cm_source source;
  reading r = {.topology = topology,
               .table = {.source = &source, .limits = &limits, .run = run, .memory = run->memory, .what = "parameters"}};
  cm_run_phase(run, "read");
  CM_TRY(cm_source_open(&source, path, &limits, run, error));
  cm_status status = cm_names_open(&r.table.names, run->memory, error);
  CM_THEN(status, cm_neuron_values_open(&r.values, topology->vertex_count, run->memory, error));
  CM_THEN(status, cm_table_name_all(&r.table, topology, error));
  if (status == CM_OK) {
    cm_skip_byte_order_mark(&source);
    status = read_lines(&r, error);
  }
  CM_THEN(status, cm_topology_set_parameters(topology, &r.values, run->memory, error));
  cm_source_close(&source);
  cm_table_free(&r.table);
  cm_neuron_values_free(&r.values);
  return status;
}
