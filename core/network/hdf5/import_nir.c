/* NIR (.nir): neurons from the nodes that are neurons and the outermost inputs, synapses from the linear nodes between them.
 *
 * Happy path: the graph is read and its shapes inferred, neurons are numbered breadth first from the inputs, and for every
 * neuron what it sends is followed through the linear nodes, element by element, until it meets neurons: one row. What can
 * fail: see nir_read.c and nir_shapes.c; linear nodes that feed themselves, more synapses than the limit. */
#include <math.h>
#include <string.h>

#include "core/network/formats/readers.h"
#include "core/network/formats/source.h"
#include "core/network/formats/weighted.h"
#include "core/network/hdf5/nir.h"
#include "core/network/import_limits.h"

/* What one delay brings, for running: rounded to float32 behind every linear node, sums in the order in which paths arrive. */
typedef struct term {
  double delay_ms;
  float weight;
  uint32_t next; /* of the same element, of a longer delay; NO_TERM: none */
} term;
enum { NO_TERM = UINT32_MAX };

/* What has arrived at a node's input for the neuron under way. */
typedef struct arrivals {
  double *value, *delay_ms; /* delays only where the graph has some */
  uint32_t *term;           /* of each the first; where the graph runs */
  uint32_t *turn;           /* when each was last written */
  uint32_t *touched, count;
} arrivals;

typedef struct composer {
  nir_graph *graph;
  const cm_import_limits *limits;
  cm_run *run;
  cm_memory *memory;
  cm_topology *made;
  cm_reading *reading;
  cm_weights weights;
  uint64_t pin_room;
  arrivals *at;      /* [nodes] */
  uint32_t *order;   /* linear nodes behind the neurons under way, each after what feeds it */
  uint32_t order_count;
  uint8_t *visit;    /* [nodes] */
  bool delays, runs;
  term *term;        /* of the neuron under way */
  uint64_t terms, term_room;
  uint32_t turn;
  const nir_node *from;       /* whose taps are under way */
  uint64_t steps;             /* since the run was last looked at */
  double value, delay_ms;
  uint32_t first_term;
} composer;

/* ---- composition ---- */

static cm_status make_arrivals(composer *c, cm_error *error)
{
  nir_graph *g = c->graph;
  for (uint32_t i = 0; i < g->count; i++) {
    arrivals *a = &c->at[i];
    uint64_t count = g->node[i].in.count;
    if (!g->node[i].leads || count == 0)
      continue;
    if (CM_NEW_ALL(c->memory, error, CM_ARRAY(a->value, count), CM_ARRAY(a->turn, count), CM_ARRAY(a->touched, count)) != CM_OK ||
        (c->runs && CM_NEW(c->memory, a->term, count, error) != CM_OK) ||
        (c->delays && CM_NEW(c->memory, a->delay_ms, count, error) != CM_OK))
      return error->status;
  }
  return CM_OK;
}

/* A term for an element whose first one is *first: those of an element stand in the order of their delays. */
static cm_status arrive_term(composer *c, uint32_t *first, float weight, double delay_ms, cm_error *error)
{
  uint32_t before = NO_TERM, here = *first;
  for (; here != NO_TERM && c->term[here].delay_ms < delay_ms; here = c->term[here].next)
    before = here;
  if (here != NO_TERM && c->term[here].delay_ms == delay_ms) {
    c->term[here].weight += weight;
    return CM_OK;
  }
  CM_TRY(CM_ROOM(c->memory, c->term, &c->term_room, c->terms + 1, error));
  c->term[c->terms] = (term){delay_ms, weight, here};
  *(before == NO_TERM ? first : &c->term[before].next) = (uint32_t)c->terms++;
  return CM_OK;
}

/* One value for an element of a node's input. */
static void arrive(composer *c, arrivals *a, uint64_t element, double value, double delay_ms)
{
  if (a->turn[element] != c->turn) {
    a->turn[element] = c->turn;
    a->value[element] = value;
    if (a->term != NULL)
      a->term[element] = NO_TERM;
    if (a->delay_ms != NULL)
      a->delay_ms[element] = delay_ms;
    a->touched[a->count++] = (uint32_t)element;
    return;
  }
  a->value[element] += value;
  if (a->delay_ms != NULL)
    a->delay_ms[element] = fmin(a->delay_ms[element], delay_ms);
}

static cm_status pass_on(void *user, uint64_t output, double weight, double delay_ms, cm_error *error)
{
  composer *c = user;
  CM_TRY_IF(cm_run_due(&c->steps, c->from->next_count + UINT64_C(1)), cm_run_check(c->run, error));
  for (uint32_t k = 0; k < c->from->next_count; k++) {
    arrivals *a = &c->at[c->from->next[k]];
    if (a->value == NULL)
      continue;
    arrive(c, a, output, c->value * weight, c->delay_ms + delay_ms);
    for (uint32_t t = c->first_term; t != NO_TERM; t = c->term[t].next)
      CM_TRY(arrive_term(c, &a->term[output], c->term[t].weight * (float)weight, c->term[t].delay_ms + delay_ms, error));
  }
  return CM_OK;
}

/* Linear nodes behind `node`, depth first; `order` is filled from its end. */
static cm_status order_behind(composer *c, uint32_t node, uint32_t *depth, uint32_t *stack, uint32_t *next, cm_error *error)
{
  enum { NEW, OPEN, CLOSED };
  nir_graph *g = c->graph;
  *depth = 0;
  stack[(*depth)++] = node;
  next[node] = 0;
  c->visit[node] = OPEN;
  while (*depth > 0) {
    uint32_t here = stack[*depth - 1];
    const nir_node *n = &g->node[here];
    if (next[here] == n->next_count) {
      c->visit[here] = CLOSED;
      c->order[--c->order_count] = here;
      --*depth;
      continue;
    }
    uint32_t to = n->next[next[here]++];
    if (g->node[to].kind == NIR_UNIT || !g->node[to].leads || c->visit[to] == CLOSED)
      continue;
    if (c->visit[to] == OPEN) {
      cm_fail(error, CM_BAD_NETWORK, "%s: node '%s' (%s) feeds itself through no neuron", g->node[to].format, g->node[to].name,
              g->node[to].type);
      return cm_fail_at(error, "%s%s", g->node[to].place, g->node[to].name);
    }
    c->visit[to] = OPEN;
    next[to] = 0;
    stack[(*depth)++] = to;
  }
  return CM_OK;
}

/* Element `element` of what has arrived at neurons is a synapse of `target`, with others of longer delays beside it. */
static cm_status append(composer *c, uint32_t target, const arrivals *a, uint32_t element, cm_error *error)
{
  cm_topology *made = c->made;
  const double weight = a->value[element], delay_ms = a->delay_ms != NULL ? a->delay_ms[element] : 0;
  const term *own = c->runs ? &c->term[a->term[element]] : NULL;
  if (made->pin_count >= c->limits->pins_max)
    return cm_over_limit("synapses", made->pin_count + 1, c->limits->pins_max, error);
  CM_TRY(CM_ROOM(c->memory, made->pin, &c->pin_room, made->pin_count + 1, error));
  CM_TRY(cm_weights_keep(&c->weights, c->memory, made->pin_count, c->pin_room, weight, error));
  CM_TRY_IF(c->delays, cm_weights_keep_delay(&c->weights, c->memory, made->pin_count, c->pin_room, delay_ms, error));
  CM_TRY_IF(own != NULL, cm_weights_keep_exact(&c->weights, c->memory, made->pin_count, c->pin_room, own->weight, error));
  for (uint32_t t = own != NULL ? own->next : NO_TERM; t != NO_TERM; t = c->term[t].next)
    CM_TRY(cm_weights_keep_beside(&c->weights, c->memory,
                                  (cm_beside){made->pin_count, (double)c->term[t].weight, c->term[t].delay_ms}, error));
  made->pin[made->pin_count++] = target;
  return CM_OK;
}

/* The synapses of element `element` of neurons `n`. */
static cm_status compose_row(composer *c, const nir_node *n, uint64_t element, const uint32_t *order, uint32_t orders,
                             cm_error *error)
{
  nir_graph *g = c->graph;
  c->turn++;
  c->terms = 0;
  c->from = n;
  c->value = 1;
  c->delay_ms = 0;
  c->first_term = NO_TERM;
  if ((c->runs && arrive_term(c, &c->first_term, 1, 0, error) != CM_OK) || pass_on(c, element, 1, 0, error) != CM_OK)
    return error->status;
  for (uint32_t i = 0; i < orders; i++) {
    arrivals *a = &c->at[order[i]];
    c->from = &g->node[order[i]];
    for (uint32_t k = 0; k < a->count; k++) {
      c->value = a->value[a->touched[k]];
      c->delay_ms = a->delay_ms != NULL ? a->delay_ms[a->touched[k]] : 0;
      c->first_term = a->term != NULL ? a->term[a->touched[k]] : NO_TERM;
      CM_TRY(nir_taps(c->from, a->touched[k], pass_on, c, error));
    }
    a->count = 0;
  }
  for (uint32_t u = 0; u < g->unit_count; u++) {
    arrivals *a = &c->at[g->unit[u]];
    uint32_t first = g->node[g->unit[u]].unit_first;
    for (uint32_t k = 0; k < a->count; k++)
      CM_TRY(append(c, first + a->touched[k], a, a->touched[k], error));
    a->count = 0;
  }
  return CM_OK;
}

static cm_status compose(composer *c, cm_error *error)
{
  nir_graph *g = c->graph;
  cm_topology *made = c->made;
  uint32_t *stack = NULL, *next = NULL, depth;
  cm_status status = CM_NEW_ALL(c->memory, error, CM_ARRAY(made->net_first, (size_t)made->vertex_count + 1),
                                CM_ARRAY(made->pin, 0), CM_ARRAY(stack, g->count), CM_ARRAY(next, g->count));
  for (uint32_t u = 0; u < g->unit_count && status == CM_OK; u++) {
    const nir_node *n = &g->node[g->unit[u]];
    memset(c->visit, 0, g->count);
    c->order_count = g->count;
    status = order_behind(c, g->unit[u], &depth, stack, next, error);
    if (status != CM_OK)
      break;
    const uint32_t *order = c->order + c->order_count + 1; /* the first is the neurons themselves */
    for (uint64_t i = 0; i < n->out.count && status == CM_OK; i++) {
      uint32_t vertex = n->unit_first + (uint32_t)i;
      status = compose_row(c, n, i, order, g->count - c->order_count - 1, error);
      made->net_first[vertex + 1] = made->pin_count;
      if (status == CM_OK && (cm_run_due(&c->steps, g->unit_count) || cm_run_progress_due(c->run)))
        status = cm_run_progress(c->run, (double)vertex / made->vertex_count, -1, made->vertex_count, NAN, error);
    }
  }
  CM_FREE(stack, next);
  return status;
}

static cm_status import_graph(composer *c, cm_error *error)
{
  nir_graph *g = c->graph;
  CM_TRY(nir_add_inputs(g, error));
  if (g->input_shape.count > 0 && !g->input_used)
    return cm_fail(error, CM_BAD_OPTION,
                   "input_shape is for networks whose first layer does not say what comes in: this one does; leave it out");
  if (nir_infer(g, error) != CM_OK || nir_number_units(g, c->limits, c->made, error) != CM_OK || nir_name_neurons(g, c->made, error) != CM_OK ||
      CM_NEW_ALL(c->memory, error, CM_ARRAY(c->at, g->count), CM_ARRAY(c->order, g->count), CM_ARRAY(c->visit, g->count)) != CM_OK)
    return error->status;
  for (uint32_t i = 0; i < g->count; i++)
    c->delays = c->delays || g->node[i].kind == NIR_DELAY;
  const nir_node *unlike = nir_without_model(g);
  c->runs = unlike == NULL;
  if (unlike != NULL) {
    const cm_phrase why = cm_say("parameters of neurons (%.60s, of type \"%.40s\", says too little for a model of ours)", unlike->name, unlike->type);
    cm_reading_add(c->reading->ignored, why.text, strlen(why.text));
  }
  if ((c->runs && nir_dynamics(g, c->made, error) != CM_OK) || make_arrivals(c, error) != CM_OK ||
      compose(c, error) != CM_OK || cm_weighted_rows_close(c->made, &c->weights, c->run, error) != CM_OK)
    return error->status;
  return cm_weighted_rows_scale(c->made, &c->weights, c->run, error);
}

/* As the option says; refused already where it makes no sense. */
static void read_input_shape(const cm_source *source, nir_shape *shape)
{
  const char *said = cm_source_option(source, CM_READ_INPUT_SHAPE);
  nir_shape made = {.count = 1};
  made.rank = said != NULL ? cm_read_option_shape(said, made.dim, NIR_RANK_MAX) : 0;
  for (int i = 0; i < made.rank; i++)
    if (__builtin_mul_overflow(made.count, made.dim[i], &made.count) || made.count > CM_VERTICES_MAX)
      made.count = CM_VERTICES_MAX; /* too many neurons, which is told when they are numbered */
  if (made.rank > 0)
    *shape = made;
}

static cm_status import_layers(const cm_reading_of *in, const char *format,
                               cm_status (*read)(const cm_h5 *h5, nir_graph *graph, cm_error *error), cm_error *error)
{
  cm_h5 h5;
  nir_graph graph = {.memory = in->run->memory, .run = in->run};
  composer c = {.graph = &graph, .limits = in->limits, .run = in->run, .memory = in->run->memory, .made = in->made, .reading = &in->source->reading};
  CM_TRY(cm_h5_open(&h5, in->source, in->limits, in->run, format, error));
  read_input_shape(in->source, &graph.input_shape);
  cm_status status = read(&h5, &graph, error);
  cm_h5_close(&h5);
  c.made->directed = true;
  cm_weights_as_asked(&c.weights, in->source);
  CM_THEN(status, import_graph(&c, error));
  for (uint32_t i = 0; c.at != NULL && i < graph.count; i++) {
    CM_FREE(c.at[i].value, c.at[i].delay_ms, c.at[i].term, c.at[i].turn, c.at[i].touched);
  }
  CM_FREE(c.at, c.term, c.order, c.visit);
  cm_weights_free(&c.weights);
  nir_free(&graph);
  if (status == CM_OK)
    CM_TRIM(in->run->memory, c.made->pin, c.made->pin_count);
  return status;
}

cm_status cm_import_nir(const cm_reading_of *in, cm_error *error)
{
  return import_layers(in, "NIR network", nir_read, error);
}

cm_status cm_import_lava(const cm_reading_of *in, cm_error *error)
{
  return import_layers(in, "lava-dl network", lava_read, error);
}
