#include "core/partition/axon/axon_fill.h"

#include "core/partition/axon/axon_copies.h"

#include "base/threads.h"

/* A target and its part: level 0 keeps other numbers of them. */
typedef struct target {
  uint32_t vertex, part;
} target;

/* Where the net under way keeps its presence in a part. */
typedef struct seat {
  uint32_t net; /* plus one: the last that was present there */
  uint32_t place;
} seat;

typedef struct filling {
  cm_axon_state *state;
  uint32_t ranges;
  target *target;  /* [vertices] by what the graph keeps */
  uint64_t *begin; /* [ranges] where presences of a range begin */
} filling;

static uint32_t first_net(const filling *w, size_t range)
{
  return (uint32_t)cm_slice_begin(w->state->graph->net_count, range, w->ranges);
}

/* Counts the net's targets by part, each part in the order in which they first appear. */
static void count_presences(const filling *w, cm_net_state *net, seat *seats)
{
  const cm_axon_state *s = w->state;
  uint32_t e = (uint32_t)(net - s->net), source = s->graph->net_source[e];
  uint32_t *where = s->where + net->first;
  cm_hold *hold = s->hold + net->first;
  for (cm_targets targets = cm_targets_of(s->graph, e); targets.left > 0;) {
    target t = w->target[cm_targets_next_kept(&targets)];
    seat *at = &seats[t.part];
    if (at->net != e + 1) {
      *at = (seat){e + 1, net->lambda++};
      where[at->place] = t.part;
      hold[at->place] = (cm_hold){0, 0};
    }
    hold[at->place].count++;
    hold[at->place].sole ^= t.vertex;
    net->own_target |= t.vertex == source;
  }
}

/* What the net means for the gains of its source and its targets, and for the axons of the parts [part_capacity]. */
static void account(cm_axon_state *s, const cm_net_state *net, uint64_t *axons)
{
  cm_gain *source = &s->gain[s->graph->net_source[net - s->net]];
  cm_sum_add(s, &source->own, net->weight);
  cm_copies_follow(s, net, 0);
  for (uint64_t i = net->first; i < net->first + net->lambda; i++) {
    axons[s->where[i]]++;
    cm_gain_credit(s, net, s->where[i], &s->hold[i]);
    if (s->where[i] == net->home && cm_hold_stays(s, net, &s->hold[i]))
      cm_sum_add(s, &source->stay, net->weight);
  }
}

/* The presences of a range stand close together, each net with room for a quarter more than the parts that it reaches. */
static cm_status fill_range(void *context, size_t range, cm_error *error)
{
  const filling *w = context;
  cm_axon_state *s = w->state;
  const cm_hypergraph *g = s->graph;
  uint64_t next = w->begin[range], *axons;
  seat *seats;
  CM_TRY(CM_NEW(s->run->memory, seats, s->part_capacity, error));
  cm_status status = CM_NEW(s->run->memory, axons, s->part_capacity, error);
  for (uint32_t e = first_net(w, range); e < first_net(w, range + 1) && status == CM_OK; e++) {
    cm_net_state *net = &s->net[e];
    uint64_t most = cm_presences_max(s, e);
    *net = (cm_net_state){.first = next, .weight = g->net_weight[e], .home = s->part[g->net_source[e]], .copy_size = g->net_size != NULL ? g->net_size[e] : 0};
    count_presences(w, net, seats);
    net->room = (uint32_t)(net->lambda + net->lambda / 4 + 2 < most ? net->lambda + net->lambda / 4 + 2 : most);
    next += net->room;
    account(s, net, axons);
  }
  for (uint32_t p = 0; status == CM_OK && p < s->part_capacity; p++)
    __atomic_fetch_add(&s->axons[p], axons[p], __ATOMIC_RELAXED);
  CM_FREE(seats, axons);
  if (status != CM_OK || cm_book_reserved(s->where, (next - w->begin[range]) * sizeof *s->where, error) != CM_OK)
    return error->status;
  return cm_book_reserved(s->hold, (next - w->begin[range]) * sizeof *s->hold, error);
}

/* Places for the presences of all ranges, and the wide ones behind: reserved, but booked only where they are used. */
static cm_status lay_out(filling *w, cm_error *error)
{
  cm_axon_state *s = w->state;
  cm_memory *memory = s->run->memory;
  uint64_t all = 0;
  for (uint32_t range = 0; range < w->ranges; range++) {
    w->begin[range] = all;
    for (uint32_t e = first_net(w, range); e < first_net(w, range + 1); e++) {
      s->wide[e] = all;
      all += cm_presences_max(s, e);
    }
  }
  for (uint32_t e = 0; e < s->graph->net_count; e++)
    s->wide[e] += all;
  s->where = cm_reserve(memory, 2 * all, sizeof *s->where, error);
  s->hold = s->where != NULL ? cm_reserve(memory, 2 * all, sizeof *s->hold, error) : NULL;
  return s->hold != NULL ? CM_OK : error->status;
}

static cm_status find_targets(filling *w, cm_error *error)
{
  const cm_axon_state *s = w->state;
  const uint32_t *number = s->graph->number;
  CM_TRY(CM_NEW(s->run->memory, w->target, s->graph->vertex_count, error));
  for (uint32_t i = 0; i < s->graph->vertex_count; i++) {
    uint32_t v = number != NULL ? number[i] : i;
    w->target[i] = (target){v, s->part[v]};
  }
  return CM_OK;
}

static cm_status fill_nets(cm_axon_state *s, unsigned threads, cm_error *error)
{
  uint64_t begin[CM_RANGES_MAX];
  filling w = {.state = s, .ranges = threads < CM_RANGES_MAX ? threads : CM_RANGES_MAX, .begin = begin};
  cm_thread_pool *pool = NULL;
  cm_status status = find_targets(&w, error);
  CM_THEN(status, lay_out(&w, error));
  CM_THEN(status, cm_thread_pool_new(s->run->memory, w.ranges, &pool, error));
  s->shared = w.ranges > 1;
  CM_THEN(status, cm_thread_pool_run(pool, w.ranges, fill_range, &w, error));
  s->shared = false;
  cm_thread_pool_free(pool);
  cm_free(w.target);
  return status;
}

cm_status cm_axon_state_fill(cm_axon_state *s, unsigned threads, cm_error *error)
{
  cm_memory *memory = s->run->memory;
  const cm_hypergraph *g = s->graph;
  if (CM_NEW(memory, s->net, g->net_count, error) != CM_OK || CM_NEW(memory, s->wide, g->net_count, error) != CM_OK ||
      CM_NEW(memory, s->gain, g->vertex_count, error) != CM_OK ||
      (g->reach_max != 0 && CM_NEW(memory, s->copies, g->vertex_count, error) != CM_OK) ||
      CM_NEW(memory, s->size, s->part_capacity, error) != CM_OK || CM_NEW(memory, s->axons, s->part_capacity, error) != CM_OK ||
      CM_NEW(memory, s->synapses, s->part_capacity, error) != CM_OK ||
      CM_NEW(memory, s->vertices, s->part_capacity, error) != CM_OK)
    return error->status;
  for (uint32_t v = 0; v < g->vertex_count; v++) {
    s->size[s->part[v]] += g->size[v];
    s->synapses[s->part[v]] += g->synapses[v];
    s->vertices[s->part[v]]++;
  }
  return fill_nets(s, threads, error);
}
