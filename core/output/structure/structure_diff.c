/* Two mappings of one network on one chip: which neurons have moved from where to where, and which cores have become fuller. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/members.h"
#include "core/measure/core_shares.h"
#include "core/output/structure/asking.h"

enum { LIMIT_MAX = 100000, LIMIT = 100 };

typedef struct move {
  uint32_t from, to; /* cores */
  uint64_t neurons;
} move;

static int by_neurons(const void *a, const void *b)
{
  const move *p = a, *q = b;
  if (p->neurons != q->neurons)
    return p->neurons < q->neurons ? 1 : -1;
  if (p->from != q->from)
    return p->from < q->from ? -1 : 1;
  return p->to < q->to ? -1 : p->to > q->to;
}

/* Neurons by part, those of part p from first[p] on; the caller frees. O(neurons + parts). */
static cm_status sort_neurons(const cm_structure *s, uint32_t **first, uint32_t **order, cm_error *error)
{
  CM_TRY(CM_NEW_ALL(NULL, error, CM_ARRAY(*first, (uint64_t)cm_structure_parts(s) + 2),
                    CM_ARRAY(*order, cm_structure_neurons(s))));
  cm_sort_members(s->part, cm_structure_neurons(s), cm_structure_parts(s), *first, *order);
  return CM_OK;
}

typedef struct moves {
  move *list;
  uint64_t count, room, neurons;
  uint64_t *to;   /* [parts] neurons of the part under way that are in each now; zero between parts */
  uint32_t *used; /* [parts] */
} moves;

/* The ways of the neurons of an old part. */
static cm_status take_moves(const cm_asking *q, const uint32_t *neuron, uint32_t neurons, moves *m, cm_error *error)
{
  const cm_structure *now = q->s, *old = q->other;
  uint32_t ways = 0;
  for (uint32_t i = 0; i < neurons; i++)
    if (m->to[now->part[neuron[i]]]++ == 0)
      m->used[ways++] = now->part[neuron[i]];
  CM_TRY(CM_ROOM(NULL, m->list, &m->room, m->count + ways, error));
  for (uint32_t i = 0; i < ways; i++) {
    const move one = {old->core[old->part[neuron[0]]], now->core[m->used[i]], m->to[m->used[i]]};
    m->to[m->used[i]] = 0;
    if (one.from == one.to)
      continue;
    m->list[m->count++] = one;
    m->neurons += one.neurons;
  }
  return CM_OK;
}

/* Ways from core to core that neurons have moved, those of most first; the caller frees the list. O(neurons + ways log). */
static cm_status list_moves(const cm_asking *q, moves *m, cm_error *error)
{
  uint32_t *first = NULL, *order = NULL;
  cm_status status = sort_neurons(q->other, &first, &order, error);
  if (status == CM_OK && CM_NEW(NULL, m->to, q->s->core_count, error) == CM_OK)
    (void)CM_NEW(NULL, m->used, q->s->core_count, error);
  status = status == CM_OK && m->used == NULL ? error->status : status;
  for (uint32_t p = 0; p < cm_structure_parts(q->other) && status == CM_OK; p++)
    if (first[p] < first[p + 1])
      status = take_moves(q, order + first[p], first[p + 1] - first[p], m, error);
  if (status == CM_OK && m->count > 0)
    qsort(m->list, m->count, sizeof *m->list, by_neurons);
  CM_FREE(first, order, m->to, m->used);
  return status;
}

/* A core in both mappings. */
typedef struct changed {
  uint32_t core;
  cm_core_load was, is;
  double more; /* of its fullest limit; of neurons where it has none */
} changed;

/* How full a core is by its fullest limit, of limits that hold whatever populations are there. */
static double fullest(const cm_chip *chip, uint32_t core, const cm_core_load *load)
{
  cm_share share[CM_SHARES_MAX];
  double most = 0;
  const uint32_t count = cm_core_shares(chip, core, load, 0, share);
  for (uint32_t k = 0; k < count; k++)
    most = fmax(most, cm_share_of(&share[k]));
  return most;
}

static int by_core(const void *a, const void *b)
{
  const changed *p = a, *q = b;
  return p->core < q->core ? -1 : p->core > q->core;
}

static int by_more(const void *a, const void *b)
{
  const changed *p = a, *q = b;
  return p->more != q->more ? (p->more < q->more ? 1 : -1) : by_core(a, b);
}

static bool same_load(const cm_core_load *a, const cm_core_load *b)
{
  return a->neurons == b->neurons && a->synapses == b->synapses && a->inbound_axons == b->inbound_axons && a->outbound_axons == b->outbound_axons &&
         a->target_cores == b->target_cores && a->traffic_in == b->traffic_in && a->traffic_out == b->traffic_out;
}

/* Cores whose load has changed, those that have become fuller first; the caller frees. O(parts log). */
static cm_status list_cores(const cm_asking *q, changed **list, uint64_t *count, cm_error *error)
{
  uint64_t used = 0;
  CM_TRY(CM_NEW(NULL, *list, q->s->core_count + q->other->core_count, error));
  for (uint32_t p = 0; p < cm_structure_parts(q->other); p++)
    (*list)[used++] = (changed){.core = q->other->core[p], .was = q->other->load[p]};
  for (uint32_t p = 0; p < cm_structure_parts(q->s); p++)
    (*list)[used++] = (changed){.core = q->s->core[p], .is = q->s->load[p]};
  qsort(*list, used, sizeof **list, by_core);
  *count = 0;
  for (uint64_t i = 0; i < used; i++) {
    changed one = (*list)[i];
    if (i + 1 < used && (*list)[i + 1].core == one.core) { /* in both: one of the two has each */
      const changed *next = &(*list)[++i];
      one.was = one.was.neurons > 0 ? one.was : next->was;
      one.is = one.is.neurons > 0 ? one.is : next->is;
    }
    one.more = fullest(q->chip, one.core, &one.is) - fullest(q->chip, one.core, &one.was);
    if (!same_load(&one.was, &one.is))
      (*list)[(*count)++] = one;
  }
  qsort(*list, *count, sizeof **list, by_more);
  return CM_OK;
}

static void put_pair(cm_asking *q, const char *name, double was, double is)
{
  (void)fprintf(q->w.stream, ", \"%s\": [", name);
  cm_view_put_real(&q->w, was);
  cm_view_put_text(&q->w, ", ");
  cm_view_put_real(&q->w, is);
  cm_view_put_text(&q->w, "]");
}

static void put_changed(cm_asking *q, const changed *c)
{
  const cm_costs *costs = &q->chip->costs;
  (void)fprintf(q->w.stream, "\n {\"x\": %" PRIu32 ", \"y\": %" PRIu32, c->core % q->chip->width, c->core / q->chip->width);
  put_pair(q, "fullest", fullest(q->chip, c->core, &c->was), fullest(q->chip, c->core, &c->is));
  put_pair(q, "neurons", (double)c->was.neurons, (double)c->is.neurons);
  put_pair(q, "synapses", (double)c->was.synapses, (double)c->is.synapses);
  put_pair(q, "inbound_axons", (double)c->was.inbound_axons, (double)c->is.inbound_axons);
  put_pair(q, "outbound_axons", (double)c->was.outbound_axons, (double)c->is.outbound_axons);
  put_pair(q, "traffic_in", c->was.traffic_in, c->is.traffic_in);
  put_pair(q, "traffic_out", c->was.traffic_out, c->is.traffic_out);
  put_pair(q, "core_ns", cm_core_ns(costs, c->was.receive_ns, c->was.send_ns), cm_core_ns(costs, c->is.receive_ns, c->is.send_ns));
  cm_view_put_text(&q->w, "}");
}

static void put_move(cm_asking *q, const move *m)
{
  cm_view_put_text(&q->w, "\n {\"from\": ");
  cm_put_core(q, m->from);
  cm_view_put_text(&q->w, ", \"to\": ");
  cm_put_core(q, m->to);
  (void)fprintf(q->w.stream, ", \"neurons\": %" PRIu64 "}", m->neurons);
}

static cm_status check_alike(const cm_asking *q, cm_error *error)
{
  cm_chip *chip = NULL;
  if (q->other == NULL)
    return cm_fail(error, CM_BAD_OPTION, "name the mapping to compare with");
  if (q->other->part_count != q->s->part_count)
    return cm_fail(error, CM_CONFLICT, "the other mapping is of another network: %" PRIu64 " neurons, here %" PRIu64, q->other->part_count, q->s->part_count);
  CM_TRY(cm_chip_parse(q->other->chip, q->other->chip_count - 1, &chip, error));
  cm_status status = CM_OK;
  if (chip->width != q->chip->width || chip->height != q->chip->height)
    status = cm_fail(error, CM_CONFLICT, "the other mapping is on a chip of %" PRIu32 " x %" PRIu32 " cores, this one on %" PRIu32 " x %" PRIu32 ": places compare on one chip alone",
                     chip->width, chip->height, q->chip->width, q->chip->height);
  for (uint32_t p = 0; p < cm_structure_parts(q->other) && status == CM_OK; p++)
    status = q->other->core[p] < cm_chip_cores(chip) ? CM_OK : cm_fail(error, CM_DAMAGED, "the structure of a mapping has a core that its chip has not");
  cm_chip_free(chip);
  return status;
}

cm_status cm_answer_diff(cm_asking *q, cm_error *error)
{
  moves m = {0};
  changed *cores = NULL;
  uint64_t limit, count = 0;
  cm_status status = cm_asked_count(q, "limit", (cm_count_range){1, LIMIT_MAX, LIMIT}, &limit, error);
  CM_THEN(status, check_alike(q, error));
  CM_THEN(status, list_moves(q, &m, error));
  CM_THEN(status, list_cores(q, &cores, &count, error));
  if (status == CM_OK) {
    (void)fprintf(q->w.stream, "{\"neurons\": %" PRIu32 ", \"moved\": %" PRIu64 ", \"move_count\": %" PRIu64 ", \"core_count\": %" PRIu64 ",\n\"moves\": [",
                  cm_structure_neurons(q->s), m.neurons, m.count, count);
    for (uint64_t i = 0; i < m.count && i < limit; i++) {
      cm_view_put_text(&q->w, i > 0 ? "," : "");
      put_move(q, &m.list[i]);
    }
    cm_view_put_text(&q->w, "],\n\"cores\": [");
    for (uint64_t i = 0; i < count && i < limit; i++) {
      cm_view_put_text(&q->w, i > 0 ? "," : "");
      put_changed(q, &cores[i]);
    }
    cm_view_put_text(&q->w, "]}\n");
  }
  CM_FREE(m.list, cores);
  return status;
}
