#include "core/partition/axon/axon_repair.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "core/partition/axon/axon_probe.h"
#include "core/partition/partition.h"

#define NONE UINT32_MAX

/* ---- splitting ---- */

typedef struct halving {
  cm_axon_state *state;
  uint32_t *member; /* [vertices] of the part under way */
  uint32_t *shared; /* [vertices] inbound nets that the growing half has; UINT32_MAX: not a member, or taken */
  uint8_t *has;     /* [nets] the growing half has the net */
} halving;

static void take(halving *h, uint32_t v, uint32_t fresh)
{
  const cm_hypergraph *g = h->state->graph;
  h->shared[v] = NONE;
  for (cm_nets nets = cm_nets_into(g, v); nets.left > 0;) {
    uint32_t e = cm_nets_next(&nets);
    if (h->has[e])
      continue;
    h->has[e] = 1;
    for (cm_targets t = cm_targets_of(g, e); t.left > 0;) {
      uint32_t *shared = &h->shared[cm_targets_next(&t)];
      *shared += *shared != NONE;
    }
  }
  cm_axon_move(h->state, v, fresh);
}

/* Grows the new part from one member by shared inbound nets until it holds half of the old one's axons, or vertices. */
static void halve(halving *h, uint32_t part, uint32_t count, uint32_t fresh)
{
  cm_axon_state *s = h->state;
  const cm_hypergraph *g = s->graph;
  memset(h->has, 0, g->net_count);
  for (uint32_t i = 0; i < count; i++)
    h->shared[h->member[i]] = 0;
  uint32_t next = h->member[0], taken = 0;
  while (next != NONE && s->vertices[part] > 1 && 2 * taken < count) {
    take(h, next, fresh);
    taken++;
    float best = -1;
    next = NONE;
    for (uint32_t i = 0; i < count; i++) {
      uint32_t v = h->member[i];
      float share = (float)h->shared[v] / (float)((uint64_t)g->in_count[v] + 1);
      if (h->shared[v] != NONE && share > best) {
        best = share;
        next = v;
      }
    }
  }
  for (uint32_t i = 0; i < count; i++)
    h->shared[h->member[i]] = NONE;
}

/* A part without vertices: one that lost its last, or a new one; NONE when there is no room. */
static uint32_t empty_part(cm_axon_state *s)
{
  for (uint32_t p = 0; p < s->part_count; p++)
    if (s->vertices[p] == 0)
      return p;
  return s->part_count < s->part_capacity ? s->part_count++ : NONE;
}

static double filling(uint64_t use, uint64_t limit)
{
  return limit != 0 ? (double)use / (double)limit : 0;
}

static double memory_filling(const cm_axon_state *s, uint32_t p)
{
  return filling(cm_memory_bits(&s->limits, s->size[p], s->synapses[p], s->axons[p]), s->limits.memory_bits);
}

/* The fullest part of two vertices or more that exceeds a limit by more than `tolerance` of it. */
static uint32_t fullest_part(const cm_axon_state *s, double tolerance)
{
  uint32_t fullest = NONE;
  double most = 1 + tolerance;
  for (uint32_t p = 0; p < s->part_count; p++) {
    double full = fmax(filling(s->axons[p], s->limits.inbound_axons),
                       fmax(filling(s->size[p], s->limits.neurons), filling(s->synapses[p], s->limits.synapses)));
    full = fmax(full, memory_filling(s, p));
    if (full > most && s->vertices[p] > 1) {
      most = full;
      fullest = p;
    }
  }
  return fullest;
}

cm_status cm_split_overfull(cm_axon_state *s, double tolerance, uint32_t most, uint32_t *split, cm_error *error)
{
  halving h = {.state = s};
  uint32_t n = s->graph->vertex_count, done = 0;
  cm_status status = CM_NEW(s->run->memory, h.member, n, error);
  CM_THEN(status, CM_NEW(s->run->memory, h.shared, n, error));
  CM_THEN(status, CM_NEW(s->run->memory, h.has, s->graph->net_count, error));
  if (status == CM_OK)
    memset(h.shared, 0xff, (size_t)n * sizeof *h.shared);
  while (status == CM_OK && done < most) {
    uint32_t count = 0, p = fullest_part(s, tolerance), fresh = p != NONE ? empty_part(s) : NONE;
    if (fresh == NONE)
      break;
    for (uint32_t v = 0; v < n; v++)
      if (s->part[v] == p)
        h.member[count++] = v;
    halve(&h, p, count, fresh);
    done++;
    status = cm_run_check(s->run, error);
  }
  CM_FREE(h.member, h.shared, h.has);
  if (status == CM_OK)
    *split = done;
  return status;
}

double cm_total_excess(const cm_axon_state *s)
{
  double sum = 0;
  for (uint32_t p = 0; p < s->part_count; p++)
    sum += fmax(filling(s->axons[p], s->limits.inbound_axons) - 1, 0) + fmax(filling(s->size[p], s->limits.neurons) - 1, 0) +
           fmax(filling(s->synapses[p], s->limits.synapses) - 1, 0) + fmax(memory_filling(s, p) - 1, 0);
  return sum;
}

cm_resource cm_scarcest(const cm_axon_state *s)
{
  double filled[CM_MEMORY + 1] = {0};
  cm_resource scarcest = CM_NEURONS;
  for (uint32_t p = 0; p < s->part_count; p++) {
    filled[CM_NEURONS] += filling(s->size[p], s->limits.neurons);
    filled[CM_SYNAPSES] += filling(s->synapses[p], s->limits.synapses);
    filled[CM_INBOUND_AXONS] += filling(s->axons[p], s->limits.inbound_axons);
    filled[CM_MEMORY] += memory_filling(s, p);
  }
  for (cm_resource r = 0; r <= CM_MEMORY; r++)
    scarcest = filled[r] > filled[scarcest] ? r : scarcest;
  return scarcest;
}

uint32_t cm_count_overfull(const cm_axon_state *s)
{
  uint32_t count = 0;
  for (uint32_t p = 0; p < s->part_count; p++)
    count += cm_axon_over(s, p);
  return count;
}

/* ---- repair ---- */

/* A member of an overfull part and what its best legal move costs. */
typedef struct exit_offer {
  double cost;
  uint32_t vertex;
} exit_offer;

CM_ORDER(by_cost, exit_offer, CM_RISING(cost) CM_RISING(vertex))

/* The best legal move of v; its cost is per unit of excess that it takes away, INFINITY where there is none. */
static cm_offer best_exit(cm_probe *probe, uint32_t v)
{
  cm_offer offer = cm_probe_best(probe, v, true, INFINITY);
  offer.cost = offer.to == NONE ? INFINITY : offer.cost / (1.0 + probe->state->gain[v].released);
  return offer;
}

static cm_status collect(cm_axon_state *s, cm_probe *probe, uint32_t part, exit_offer *offer, uint32_t *count,
                         cm_error *error)
{
  uint32_t found = 0;
  for (uint32_t v = 0; v < s->graph->vertex_count; v++) {
    if (s->part[v] != part)
      continue;
    offer[found++] = (exit_offer){best_exit(probe, v).cost, v};
    CM_TRY(cm_run_check(s->run, error));
  }
  qsort(offer, found, sizeof *offer, by_cost);
  *count = found;
  return CM_OK;
}

/* Lets members of an overfull part go, cheapest first, while other parts have room for them. */
static cm_status relieve(cm_axon_state *s, cm_probe *probe, uint32_t part, exit_offer *offer, cm_error *error)
{
  uint32_t count = 0;
  CM_TRY(collect(s, probe, part, offer, &count, error));
  for (uint32_t i = 0; i < count && cm_axon_over(s, part) && offer[i].cost < INFINITY; i++) {
    uint32_t to = best_exit(probe, offer[i].vertex).to;
    if (to != NONE)
      cm_axon_move(s, offer[i].vertex, to);
  }
  return CM_OK;
}

static uint32_t used_parts(const cm_axon_state *s)
{
  uint32_t used = 0;
  for (uint32_t p = 0; p < s->part_count; p++)
    used += s->vertices[p] > 0;
  return used;
}

cm_status cm_repair(cm_axon_state *s, cm_error *error)
{
  exit_offer *offer = NULL;
  cm_probe probe;
  CM_TRY(cm_probe_init(&probe, s, error));
  cm_status status = CM_NEW(s->run->memory, offer, s->graph->vertex_count, error);
  while (status == CM_OK) {
    bool over = false;
    for (uint32_t p = 0; p < s->part_count && status == CM_OK; p++) {
      if (!cm_axon_over(s, p))
        continue;
      status = relieve(s, &probe, p, offer, error);
      over |= cm_axon_over(s, p);
    }
    uint32_t split = 0;
    if (status != CM_OK || !over)
      break;
    status = cm_split_overfull(s, 0, 1 + (uint32_t)cm_total_excess(s), &split, error);
    CM_THEN_IF(status, split == 0, cm_refuse_parts((uint64_t)s->part_count + 1, s->parts_max, error));
  }
  cm_probe_free(&probe);
  cm_free(offer);
  uint32_t used = used_parts(s);
  return status == CM_OK && used > s->parts_max ? cm_refuse_parts(used, s->parts_max, error) : status;
}

cm_status cm_dissolve_emptiest(cm_axon_state *s, cm_error *error)
{
  uint32_t emptiest = NONE, kept = 0;
  for (uint32_t p = 0; p < s->part_count; p++) {
    if (s->vertices[p] == 0)
      continue;
    kept++;
    if (emptiest == NONE || s->axons[p] < s->axons[emptiest])
      emptiest = p;
  }
  cm_probe probe;
  if (kept < 2)
    return CM_OK;
  CM_TRY(cm_probe_init(&probe, s, error));
  cm_status status = CM_OK;
  for (uint32_t v = 0; v < s->graph->vertex_count && status == CM_OK; v++) {
    if (s->part[v] != emptiest)
      continue;
    cm_offer offer = cm_probe_best(&probe, v, false, INFINITY);
    if (offer.to != NONE)
      cm_axon_move(s, v, offer.to);
    status = cm_run_check(s->run, error);
  }
  cm_probe_free(&probe);
  return status;
}
