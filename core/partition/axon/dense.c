/* Happy path: the lists of sources -> neurons come to a waiting room, alike ones together -> a part begins -> those
 * that wait are rated by how much of what they need the part has, the best few go in, others come to wait -> none fits,
 * the next part. What can fail: memory, the disk, a stop. */
#include "core/partition/axon/dense.h"

#include <string.h>

#include "base/random.h"
#include "base/threads.h"
#include "base/wide.h"
#include "core/partition/axon/closure.h"
#include "core/partition/axon/signature.h"

/* Neurons that are rated, and those of them that go in, as they were rated, before all are rated again. */
enum { WAITING = 2048, TAKEN = 16 };
#define NONE UINT32_MAX

/* Networks with fewer synapses have levels (axon_levels.h). */
static const uint64_t pins_min = UINT64_C(1) << 27;

/* A neuron that waits. */
typedef struct waiting {
  uint32_t vertex;
  uint32_t count;    /* of its sources */
  uint64_t synapses; /* that end in it */
  uint64_t *source;  /* bits of them */
  double share;      /* of its sources, by how much the part under way has */
} waiting;

typedef struct dense {
  const cm_demand *demand;
  const cm_axon_options *options;
  cm_run *run;
  cm_hypergraph *graph;
  size_t words;          /* of the bits of all sources */
  uint32_t *order;       /* [vertices] */
  uint32_t next;         /* in `order` */
  waiting *waiting;      /* [WAITING] at most */
  uint64_t *bits;        /* [WAITING * words] */
  uint32_t waits;
  cm_thread_pool *pool;
  uint32_t *part;
  uint32_t number;       /* of the part under way */
  uint64_t *has;         /* bits of the sources that it has */
  uint64_t size, axons, inputs;
} dense;

bool cm_dense_suits(const cm_demand *demand)
{
  return demand->network->directed && demand->network->pin_count >= pins_min && cm_may_lack_clusters(demand);
}

static uint32_t room_for(const cm_topology *t)
{
  return t->vertex_count < WAITING ? t->vertex_count : WAITING;
}

static size_t words_of(const cm_topology *t)
{
  return (size_t)t->vertex_count / 64 + 1;
}

uint64_t cm_dense_hot_bytes(const cm_topology *t)
{
  return room_for(t) * words_of(t) * sizeof(uint64_t);
}

/* ---- the waiting room ---- */

static void note_source(waiting *w, uint32_t source)
{
  uint64_t *word = &w->source[source / 64], bit = UINT64_C(1) << source % 64;
  w->count += (*word & bit) == 0;
  *word |= bit;
}

static void read_sources(const dense *d, waiting *w)
{
  const cm_hypergraph *g = d->graph;
  w->synapses = g->in_count[w->vertex];
  w->count = 0;
  memset(w->source, 0, d->words * sizeof *w->source);
  for (cm_nets nets = cm_nets_into(g, w->vertex); nets.left > 0;)
    note_source(w, g->net_source[cm_nets_next(&nets)]);
}

/* What takes no room and needs no source suits the part under way. */
static bool suits_anywhere(const dense *d, const waiting *w)
{
  return w->synapses == 0 && cm_demand_size(d->demand, w->vertex) == 0;
}

static void let_in(dense *d)
{
  while (d->waits < WAITING && d->next < d->demand->network->vertex_count) {
    waiting *w = &d->waiting[d->waits];
    w->vertex = d->order[d->next++];
    read_sources(d, w);
    if (suits_anywhere(d, w))
      d->part[w->vertex] = d->number;
    else
      d->waits++;
  }
}

static void let_out(dense *d, uint32_t i)
{
  waiting last = d->waiting[--d->waits];
  d->waiting[d->waits] = d->waiting[i]; /* keeps its row */
  d->waiting[i] = last;
}

/* ---- parts ---- */

CM_WIDE
static uint32_t count_missing(const uint64_t *wanted, const uint64_t *has, size_t words)
{
  uint32_t count = 0;
  for (size_t i = 0; i < words; i++)
    count += (uint32_t)__builtin_popcountll(wanted[i] & ~has[i]);
  return count;
}

static uint32_t missing(const dense *d, const waiting *w)
{
  return count_missing(w->source, d->has, d->words);
}

static bool fits(const dense *d, const waiting *w, uint32_t lacks)
{
  return cm_core_holds(&d->options->limits, d->size + cm_demand_size(d->demand, w->vertex), d->inputs + w->synapses, d->axons + lacks);
}

static void take(dense *d, uint32_t i)
{
  const waiting *w = &d->waiting[i];
  d->axons += missing(d, w);
  for (size_t j = 0; j < d->words; j++)
    d->has[j] |= w->source[j];
  d->size += cm_demand_size(d->demand, w->vertex);
  d->inputs += w->synapses;
  d->part[w->vertex] = d->number;
  let_out(d, i);
}

/* Those that do not fit have a share below 0. */
static cm_status rate_slice(void *context, size_t slice, CM_UNUSED cm_error *error)
{
  dense *d = context;
  for (uint64_t i = cm_slice_begin(d->waits, slice, CM_SLICES); i < cm_slice_begin(d->waits, slice + 1, CM_SLICES); i++) {
    waiting *w = &d->waiting[i];
    uint32_t lacks = missing(d, w);
    w->share = !fits(d, w, lacks) ? -1 : w->count == 0 ? 1 : 1 - (double)lacks / w->count;
  }
  return CM_OK;
}

static uint32_t best_rated(const dense *d)
{
  uint32_t best = NONE;
  for (uint32_t i = 0; i < d->waits; i++) {
    const waiting *w = &d->waiting[i];
    if (w->share >= 0 && (best == NONE || w->share > d->waiting[best].share ||
                          (w->share == d->waiting[best].share && w->vertex < d->waiting[best].vertex)))
      best = i;
  }
  return best;
}

/* The one that has most sources: the others find most of theirs there. */
static uint32_t first_of_part(const dense *d)
{
  uint32_t first = 0;
  for (uint32_t i = 1; i < d->waits; i++) {
    const waiting *w = &d->waiting[i], *f = &d->waiting[first];
    if (w->count > f->count || (w->count == f->count && w->vertex < f->vertex))
      first = i;
  }
  return first;
}

static cm_status fill_part(dense *d, cm_error *error)
{
  memset(d->has, 0, d->words * sizeof *d->has);
  d->size = d->axons = d->inputs = 0;
  take(d, first_of_part(d));
  for (bool any = true; any;) {
    any = false;
    let_in(d);
    CM_TRY(cm_run_check(d->run, error));
    CM_TRY(cm_thread_pool_run(d->pool, CM_SLICES, rate_slice, d, error));
    for (uint32_t taken = 0; taken < TAKEN; taken++) {
      uint32_t best = best_rated(d);
      if (best == NONE || !fits(d, &d->waiting[best], missing(d, &d->waiting[best])))
        break;
      take(d, best);
      any = true;
    }
  }
  return CM_OK;
}

static cm_status fill_parts(dense *d, cm_error *error)
{
  uint32_t n = d->demand->network->vertex_count;
  let_in(d);
  for (; d->waits > 0; d->number++) {
    CM_TRY(fill_part(d, error));
    CM_TRY(cm_run_progress(d->run, (double)d->next / n, -1, n, (double)d->number, error));
  }
  return CM_OK;
}

static cm_status prepare(dense *d, cm_error *error)
{
  const cm_topology *t = d->demand->network;
  cm_memory *memory = d->run->memory;
  uint32_t n = t->vertex_count, room = room_for(t);
  d->words = words_of(t);
  const cm_hypergraph_kind kind = {.packed = d->options->sole_reader, .unordered = true};
  CM_TRY(cm_hypergraph_from_topology(d->demand, kind, d->run, &d->graph, error));
  CM_TRY(cm_hypergraph_list_inbound(d->graph, d->run, error));
  CM_TRY(CM_NEW(memory, d->order, n, error));
  CM_TRY(CM_NEW(memory, d->has, d->words, error));
  CM_TRY(CM_NEW(memory, d->waiting, room, error));
  CM_TRY(CM_NEW(memory, d->bits, room * d->words, error));
  CM_TRY(cm_thread_pool_new(memory, d->run->threads, &d->pool, error));
  for (uint32_t i = 0; i < room; i++)
    d->waiting[i].source = d->bits + i * d->words;
  return cm_order_by_sources(d->graph, cm_mix(d->options->seed), d->run, d->order, error);
}

static void dense_free(dense *d)
{
  cm_thread_pool_free(d->pool);
  cm_hypergraph_free(d->graph);
  CM_FREE(d->waiting, d->bits, d->order, d->has);
}

cm_status cm_partition_dense(const cm_demand *demand, const cm_axon_options *options, cm_run *run, uint32_t *part,
                             uint32_t *parts, cm_error *error)
{
  const uint32_t n = demand->network->vertex_count;
  dense d = {.demand = demand, .options = options, .run = run};
  cm_run_phase(run, "index");
  cm_status status = CM_NEW(run->memory, d.part, n, error) == CM_OK ? prepare(&d, error) : error->status;
  cm_run_phase(run, "initial");
  CM_THEN(status, fill_parts(&d, error));
  if (status == CM_OK) {
    memcpy(part, d.part, n * sizeof *part);
    *parts = d.number;
  }
  cm_free(d.part);
  dense_free(&d);
  return status;
}
