#include "core/partition/axon/anneal.h"

#include <math.h>
#include <stdatomic.h>

#include "base/threads.h"
#include "core/partition/axon/axon_table.h"
#include "core/partition/axon/locality.h"

/* Vertices of a round are looked at as things stand at its start, on all threads; then they move. */
enum { BLOCK = 8, ROUNDS = 16, ROUND_MIN = 32, ROUND_MAX = 1024 };

/* Less than so many looks at the table cost one thread less than several need to meet; a look at a net, or its move, takes as long as
 * so many of them, about. */
enum { SHARED_MIN = 6000, NET_LOOKS = 30 };

/* A table is worth its making for so many sweeps. */
enum { TABLE_SWEEPS = 4 };
#define NONE UINT32_MAX

typedef struct sweeping {
  cm_axon_state *state;
  const cm_anneal_options *options;
  cm_thread_pool *pool;
  uint32_t threads;
  uint32_t slices;          /* of nets, or of parts: as many as threads that share the work */
  double net_targets;       /* mean number of a net's targets */
  cm_probe *probe;          /* [threads] */
  cm_axon_table *table;     /* looked up instead of probing; NULL: none */
  cm_net_log *log;          /* [threads] what happens to the nets: events for the table alone */
  cm_net_visits *visits;    /* [threads][threads] nets that a share of the moves is about, by slice */
  atomic_flag *taken;       /* [threads] the probe is in use */
  uint32_t *order;          /* [vertices] */
  uint32_t begin, end;      /* the round, in order */
  uint32_t run;             /* vertices of it that are one task */
  double temperature;
  uint64_t key;             /* of the random numbers of the sweep */
  cm_offer offer[ROUND_MAX]; /* of each vertex of the round */
  int64_t *planned;          /* [part_capacity] axons that a part will get or lose by the moves of the round, about */
  cm_move move[ROUND_MAX];
  uint32_t moves;
} sweeping;

/* A typical cost of a move: the weight of a vertex's inbound nets, shrunk as independent nets add up. */
static double typical_cost(const cm_hypergraph *g)
{
  double sum = 0;
  for (uint32_t e = 0; e < g->net_count; e++)
    sum += (double)g->net_weight[e] * (double)g->net_weight[e] * (double)g->net_targets[e];
  return g->vertex_count > 0 ? sqrt(sum / g->vertex_count) : 0;
}

/* A vertex moves when that costs less. */
static double bound(const sweeping *w, uint32_t v)
{
  return w->temperature > 0 ? -w->temperature * log(cm_random_unit_of(w->key, v)) : 0;
}

/* Task t of a round: a run of its vertices, with a probe that no other task has. */
static cm_status look(void *context, size_t t, CM_UNUSED cm_error *error)
{
  sweeping *w = context;
  uint32_t begin = w->begin + (uint32_t)t * w->run, end = begin + w->run < w->end ? begin + w->run : w->end;
  uint32_t own = 0;
  while (atomic_flag_test_and_set(&w->taken[own]))
    own = (own + 1) % w->threads;
  for (uint32_t i = begin; i < end; i++) {
    uint32_t v = w->order[i];
    w->offer[i - w->begin] = w->table != NULL ? cm_axon_table_best(w->table, v, bound(w, v))
                                              : cm_probe_best(&w->probe[own], v, w->options->hard, bound(w, v));
  }
  atomic_flag_clear(&w->taken[own]);
  return CM_OK;
}

/* Tasks 0 .. count - 1, on all threads where they take long enough together. */
static cm_status play(sweeping *w, size_t count, cm_task task, double looks, cm_error *error)
{
  if (w->threads > 1 && looks >= SHARED_MIN)
    return cm_thread_pool_run(w->pool, count, task, w, error);
  for (size_t i = 0; i < count; i++)
    (void)task(w, i, error); /* none of them fails */
  return CM_OK;
}

/* Task t of slices: the nets of its share of the moves go to the slices that they are in. */
static cm_status deal_share(void *context, size_t t, cm_error *error)
{
  sweeping *w = context;
  return cm_axon_deal_nets(w->state, w->move, (uint32_t)cm_slice_begin(w->moves, t, w->slices),
                           (uint32_t)cm_slice_begin(w->moves, t + 1, w->slices), w->slices, w->visits + t * w->threads, error);
}

static cm_status move_slice(void *context, size_t slice, CM_UNUSED cm_error *error)
{
  sweeping *w = context;
  for (uint32_t t = 0; t < w->slices; t++)
    cm_axon_visit_nets(w->state, w->move, &w->visits[(size_t)t * w->threads + slice], &w->log[slice]);
  return CM_OK;
}

/* The nets of the planned moves. */
static cm_status move_nets(sweeping *w, cm_error *error)
{
  cm_axon_state *s = w->state;
  cm_status status = CM_OK;
  if (w->slices == 1) {
    cm_axon_move_nets(s, w->move, w->moves, &w->log[0]);
  } else if (cm_thread_pool_run(w->pool, w->slices, deal_share, w, error) == CM_OK) {
    s->shared = true;
    status = cm_thread_pool_run(w->pool, w->slices, move_slice, w, error);
    s->shared = false;
  } else {
    return error->status;
  }
  for (uint32_t i = 0; i < w->slices; i++)
    cm_axon_book(s, &w->log[i]);
  return status;
}

static cm_status follow_slice(void *context, size_t slice, CM_UNUSED cm_error *error)
{
  const sweeping *w = context;
  for (uint32_t i = 0; i < w->slices; i++)
    cm_axon_table_follow(w->table, w->log[i].event, w->log[i].count, (uint32_t)slice, w->slices);
  return CM_OK;
}

static uint64_t nets_of(const cm_hypergraph *g, uint32_t v)
{
  return g->in_count[v] + (uint64_t)(g->out_first[v + 1] - g->out_first[v]);
}

/* Room for all that the planned moves may do to `nets` nets. */
static cm_status empty_logs(sweeping *w, uint64_t nets, cm_error *error)
{
  for (uint32_t i = 0; i < w->slices; i++) {
    cm_net_log *log = &w->log[i];
    log->count = 0;
    CM_TRY(CM_ROOM(w->state->run->memory, log->event, &log->room, 2 * nets, error));
  }
  return CM_OK;
}

/* Moves made under hard limits are looked at once more: others of the round may have taken the room. */
static uint32_t move_one_by_one(sweeping *w)
{
  uint32_t moves = 0;
  for (uint32_t i = w->begin; i < w->end; i++) {
    uint32_t v = w->order[i], to = w->offer[i - w->begin].to;
    if (to != NONE)
      to = cm_probe_best(&w->probe[0], v, true, bound(w, v)).to;
    if (to == NONE)
      continue;
    cm_axon_move(w->state, v, to);
    moves++;
  }
  return moves;
}

/* What it costs beyond the limits that a part gets these more; sizes are up to date, axons planned. INFINITY where it
 * cannot be. */
static double penalty_change(const sweeping *w, uint32_t part, int64_t size, int64_t axons, int64_t synapses)
{
  const cm_axon_state *s = w->state;
  int64_t now = (int64_t)s->axons[part] + w->planned[part], then = now + axons;
  uint64_t from = now > 0 ? (uint64_t)now : 0, to = then > 0 ? (uint64_t)then : 0;
  if (size > 0 && cm_part_capped(s, s->size[part] + (uint64_t)size, to, s->synapses[part] + (uint64_t)synapses))
    return INFINITY;
  return cm_part_penalty(s, s->size[part] + (uint64_t)size, to, s->synapses[part] + (uint64_t)synapses) -
         cm_part_penalty(s, s->size[part], from, s->synapses[part]);
}

/* Plans the moves that still pay when those planned before have filled and emptied parts. */
static void plan(sweeping *w)
{
  cm_axon_state *s = w->state;
  w->moves = 0;
  for (uint32_t i = w->begin; i < w->end; i++) {
    const cm_offer *offer = &w->offer[i - w->begin];
    if (offer->to == NONE)
      continue;
    uint32_t v = w->order[i], from = s->part[v], to = offer->to;
    int64_t size = (int64_t)cm_axon_size(s, v), synapses = (int64_t)s->graph->synapses[v], released = s->gain[v].released;
    double cost = offer->spread + penalty_change(w, to, size, offer->added, synapses) +
                  penalty_change(w, from, -size, -released, -synapses);
    if (s->copies != NULL && cost < bound(w, v))
      cost += cm_copies_price(s, &w->probe[0].owed, v, to);
    if (cost >= bound(w, v))
      continue;
    w->planned[to] += offer->added;
    w->planned[from] -= released;
    w->move[w->moves++] = (cm_move){v, from, to};
    cm_axon_move_vertices(s, &w->move[w->moves - 1], 1);
  }
  for (uint32_t i = 0; i < w->moves; i++)
    w->planned[w->move[i].from] = w->planned[w->move[i].to] = 0;
}

static cm_status move_together(sweeping *w, cm_error *error)
{
  const cm_hypergraph *g = w->state->graph;
  uint64_t nets = 0, events = 0;
  plan(w);
  for (uint32_t i = 0; i < w->moves; i++)
    nets += nets_of(g, w->move[i].vertex);
  w->slices = (double)nets * NET_LOOKS >= SHARED_MIN ? w->threads : 1;
  if ((w->table != NULL && empty_logs(w, nets, error) != CM_OK) ||
      move_nets(w, error) != CM_OK)
    return error->status;
  if (w->table == NULL)
    return CM_OK;
  for (uint32_t i = 0; i < w->slices; i++)
    events += w->log[i].count;
  return play(w, w->slices, follow_slice, (double)events * w->net_targets, error);
}

static cm_status play_round(sweeping *w, uint64_t *moves, cm_error *error)
{
  const cm_hypergraph *g = w->state->graph;
  uint32_t length = w->end - w->begin, shares = length / (2 * w->threads);
  double looks = length * (w->table != NULL ? w->table->parts : (double)g->pin_count / g->vertex_count * NET_LOOKS);
  w->run = shares < 1 ? 1 : shares < BLOCK ? shares : BLOCK;
  CM_TRY(play(w, (length + w->run - 1) / w->run, look, looks, error));
  if (w->options->hard) {
    *moves += move_one_by_one(w);
    return CM_OK;
  }
  cm_status status = move_together(w, error);
  *moves += w->moves;
  return status;
}

static uint32_t round_length(uint32_t vertices)
{
  uint32_t length = vertices / ROUNDS;
  return length < ROUND_MIN ? ROUND_MIN : length < ROUND_MAX ? length : ROUND_MAX;
}

static cm_status sweep_all(sweeping *w, cm_random *random, cm_error *error)
{
  cm_axon_state *s = w->state;
  const cm_anneal_options *o = w->options;
  uint32_t n = s->graph->vertex_count, length = round_length(n);
  double fall = 1, objective = NAN;
  cm_status status = CM_OK;
  w->temperature = (o->sweeps > 1 ? o->hot : o->cold) * typical_cost(s->graph) * cm_axon_mean_price(s);
  if (o->sweeps > 1 && o->cold > 0)
    fall = pow(o->cold / o->hot, 1.0 / (o->sweeps - 1));
  for (uint32_t sweep = 0; sweep < o->sweeps; sweep++, w->temperature *= fall) {
    uint64_t moves = 0;
    if (!o->silent && cm_run_progress_due(s->run))
      objective = cm_axon_cost(s);
    cm_shuffle_by_locality(random, BLOCK, w->order, n);
    w->key = cm_random_next(random);
    for (w->begin = 0; w->begin < n && status == CM_OK; w->begin = w->end) {
      w->end = n - w->begin > length ? w->begin + length : n;
      status = play_round(w, &moves, error);
      double done = (sweep + (double)w->end / n) / o->sweeps;
      if (status == CM_OK)
        status = o->silent ? cm_run_check(s->run, error)
                           : cm_run_progress(s->run, done, (int)o->level, n, objective, error);
    }
    if (o->silent)
      cm_run_add(s->run, o->share / o->sweeps);
    if (status != CM_OK || (moves == 0 && w->temperature <= 0))
      break;
  }
  return status;
}

cm_status cm_anneal(cm_axon_state *s, const cm_anneal_options *options, cm_random *random, cm_error *error)
{
  cm_memory *memory = s->run->memory;
  sweeping *w;
  CM_TRY(CM_NEW(memory, w, 1, error));
  const cm_hypergraph *g = s->graph;
  *w = (sweeping){.state = s, .options = options, .threads = options->silent ? 1 : s->run->threads,
                  .net_targets = g->net_count > 0 ? (double)g->pin_count / g->net_count : 0};
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(w->order, g->vertex_count), CM_ARRAY(w->planned, s->part_capacity),
                                CM_ARRAY(w->taken, w->threads) /* flags of zero bytes are clear */, CM_ARRAY(w->log, w->threads),
                                CM_ARRAY(w->visits, (size_t)w->threads * w->threads), CM_ARRAY(w->probe, w->threads));
  for (uint32_t t = 0; t < w->threads && status == CM_OK; t++) {
    status = CM_NEW(memory, w->log[t].axons, s->part_capacity, error);
    CM_THEN(status, cm_probe_init(&w->probe[t], s, error));
  }
  CM_THEN(status, cm_thread_pool_new(memory, w->threads, &w->pool, error));
  CM_THEN_IF(status, !options->hard && options->sweeps >= TABLE_SWEEPS && cm_axon_table_suits(s),
             cm_axon_table_new(s, w->pool, &w->table, error));
  CM_THEN(status, sweep_all(w, random, error));
  cm_thread_pool_free(w->pool);
  for (uint32_t t = 0; w->probe != NULL && t < w->threads; t++)
    cm_probe_free(&w->probe[t]);
  for (uint32_t t = 0; w->log != NULL && t < w->threads; t++)
    CM_FREE(w->log[t].event, w->log[t].axons);
  for (size_t i = 0; w->visits != NULL && i < (size_t)w->threads * w->threads; i++)
    cm_free(w->visits[i].visit);
  CM_FREE(w->visits, w->log);
  cm_axon_table_free(w->table);
  CM_FREE(w->probe, w->order, w->planned, w->taken, w);
  return status;
}
