/* Happy path: pairs of named neurons -> their ties to parts -> colours, which are parts, greedily (Welsh and Powell, 1967). What can fail: memory, a stop. */
#include "core/solver/driver/apart_cores.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "core/constraints/areas.h"

enum { PAIRS_MAX = 1 << 22, TIES_MAX = 1 << 24 };

typedef struct edge {
  uint32_t a, b; /* members */
} edge;

typedef struct apart {
  const cm_map_input *in;
  cm_assignment *s;
  cm_run *run;
  uint32_t *member;  /* [vertices] number of a named neuron plus 1, 0: none */
  uint32_t *vertex;  /* [members] */
  uint32_t *part;    /* [members] CM_NOWHERE: not decided */
  uint32_t *order;   /* [members] by how many they are apart from, then by what is lost where they leave, most first */
  uint64_t *first;   /* [members + 2] edges of each, from `edges` */
  edge *edges;       /* both ways */
  double *tie;       /* [members * parts] packets */
  double *loss;      /* [members] of them, where it has to leave its part */
  uint32_t members;
  uint64_t count, room;
} apart;

static uint32_t member_of(apart *w, uint32_t v)
{
  if (w->member[v] == 0) {
    w->vertex[w->members] = v;
    w->member[v] = ++w->members;
  }
  return w->member[v] - 1;
}

/* Each neuron of one subject with each of another. */
static cm_status add_pairs(apart *w, uint32_t one, uint32_t other, cm_error *error)
{
  const cm_subjects *subjects = &w->in->areas->subjects;
  for (uint32_t i = 0; i < cm_subject_size(subjects, one); i++)
    for (uint32_t k = 0; k < cm_subject_size(subjects, other) && w->count < PAIRS_MAX; k++) {
      const uint32_t u = cm_subject_neuron(subjects, one, i), v = cm_subject_neuron(subjects, other, k);
      if (cm_demand_is_outside(w->in->demand, u) || cm_demand_is_outside(w->in->demand, v))
        continue;
      CM_TRY(CM_ROOM(w->run->memory, w->edges, &w->room, w->count + 2, error));
      const uint32_t a = member_of(w, u), b = member_of(w, v);
      w->edges[w->count++] = (edge){a, b};
      w->edges[w->count++] = (edge){b, a};
    }
  return CM_OK;
}

/* *all: they are all of the relations. */
static cm_status find_pairs(apart *w, bool *all, cm_error *error)
{
  const cm_constraints *list = &w->in->areas->constraints;
  *all = true;
  for (uint32_t i = 0; i < list->count && *all; i++) {
    const cm_constraint *c = &list->constraint[i];
    *all = cm_is_area(c) || (c->kind == CM_APART && c->scope == CM_SCOPE_CORE);
    for (uint32_t k = 0; *all && !cm_is_area(c) && k < c->of_count; k++) {
      for (uint32_t other = k + 1; c->to_count == 0 && other < c->of_count; other++)
        CM_TRY(add_pairs(w, c->of[k], c->of[other], error));
      for (uint32_t other = 0; other < c->to_count; other++)
        CM_TRY(add_pairs(w, c->of[k], c->to[other], error));
    }
  }
  *all = *all && w->count < PAIRS_MAX && (uint64_t)w->members * w->s->parts <= TIES_MAX;
  return CM_OK;
}

CM_ORDER(by_member, edge, CM_RISING(a))

static int by_degree(const void *a, const void *b, void *context)
{
  const apart *w = context;
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  const uint64_t p = w->first[x + 1] - w->first[x], q = w->first[y + 1] - w->first[y];
  if (p != q)
    return p > q ? -1 : 1;
  return w->loss[x] > w->loss[y] ? -1 : w->loss[x] < w->loss[y] ? 1 : (x > y) - (x < y);
}

static cm_status sort(apart *w, cm_error *error)
{
  CM_TRY(CM_NEW_ALL(w->run->memory, error, CM_ARRAY(w->first, (size_t)w->members + 1), CM_ARRAY(w->order, (size_t)w->members + 1),
                    CM_ARRAY(w->part, (size_t)w->members + 1), CM_ARRAY(w->loss, (size_t)w->members + 1), CM_ARRAY(w->tie, (size_t)w->members * w->s->parts + 1)));
  if (w->count > 0)
    qsort(w->edges, w->count, sizeof *w->edges, by_member);
  for (uint64_t i = 0; i < w->count; i++)
    w->first[w->edges[i].a + 1]++;
  for (uint32_t m = 0; m < w->members; m++) {
    w->first[m + 1] += w->first[m];
    w->order[m] = m;
    w->part[m] = CM_NOWHERE;
  }
  return CM_OK;
}

/* Packets that a member does not ask for in a part: of axons to it that begin there or reach others there; and of its own axon, if it reaches others there. */
static cm_status count_ties(apart *w, cm_error *error)
{
  const cm_topology *t = w->in->demand->network;
  const uint32_t *part = w->s->part;
  uint32_t *seen, *list;
  CM_TRY(CM_NEW_ALL(w->run->memory, error, CM_ARRAY(seen, w->s->parts), CM_ARRAY(list, w->s->parts)));
  for (uint32_t e = 0; e < t->net_count; e++) {
    const uint32_t source = cm_topology_source(t, e), own = w->member[source];
    const double packets = (double)cm_demand_net_weight(w->in->demand, e);
    uint32_t count = 0, home = part[source];
    seen[home] = e + 1;
    list[count++] = home;
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
      if (seen[part[t->pin[i]]] != e + 1) {
        seen[part[t->pin[i]]] = e + 1;
        list[count++] = part[t->pin[i]];
      }
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
      for (uint32_t k = 0; k < count && w->member[t->pin[i]] > 0; k++)
        w->tie[(size_t)(w->member[t->pin[i]] - 1) * w->s->parts + list[k]] += packets;
    for (uint32_t k = 1; k < count && own > 0; k++)
      w->tie[(size_t)(own - 1) * w->s->parts + list[k]] += packets;
  }
  CM_FREE(seen, list);
  for (uint32_t m = 0; m < w->members; m++) {
    const double *tie = &w->tie[(size_t)m * w->s->parts];
    const uint32_t own = part[w->vertex[m]];
    double most = 0;
    for (uint32_t p = 0; p < w->s->parts; p++)
      most = p != own && tie[p] > most ? tie[p] : most;
    w->loss[m] = tie[own] - most;
  }
  qsort_r(w->order, w->members, sizeof *w->order, by_degree, w);
  return cm_run_check(w->run, error);
}

/* The part for a member; CM_NOWHERE: there is none. */
static uint32_t choose(const apart *w, uint32_t m, uint32_t *taken)
{
  const cm_assignment *s = w->s;
  const uint32_t v = w->vertex[m], own = s->part[v];
  uint32_t best = CM_NOWHERE;
  for (uint64_t i = w->first[m]; i < w->first[m + 1]; i++)
    if (w->part[w->edges[i].b] != CM_NOWHERE)
      taken[w->part[w->edges[i].b]] = m + 1;
  if (taken[own] != m + 1)
    return own;
  for (uint32_t p = 0; p < s->parts; p++)
    if (taken[p] != m + 1 && cm_kind_takes(s, v, cm_chip_kind_of(s->chip, s->core[p])) &&
        (best == CM_NOWHERE || w->tie[(size_t)m * s->parts + p] > w->tie[(size_t)m * s->parts + best]))
      best = p;
  return best;
}

static cm_status colour(apart *w, bool *done, cm_error *error)
{
  uint32_t *taken;
  CM_TRY(CM_NEW(w->run->memory, taken, w->s->parts, error));
  for (uint32_t i = 0; i < w->members && *done; i++) {
    w->part[w->order[i]] = choose(w, w->order[i], taken);
    *done = w->part[w->order[i]] != CM_NOWHERE;
  }
  cm_free(taken);
  return cm_run_check(w->run, error);
}

cm_status cm_keep_apart(const cm_map_input *input, cm_assignment *assignment, cm_run *run, bool *done, cm_error *error)
{
  const uint32_t n = input->demand->network->vertex_count;
  apart w = {.in = input, .s = assignment, .run = run};
  *done = false;
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(w.member, n), CM_ARRAY(w.vertex, n));
  CM_THEN(status, find_pairs(&w, done, error));
  if (status == CM_OK && *done && (status = sort(&w, error)) == CM_OK) {
    status = count_ties(&w, error);
    CM_THEN(status, colour(&w, done, error));
  }
  if (status == CM_OK && *done) {
    cm_free(assignment->held);
    status = CM_NEW(run->memory, assignment->held, n, error);
  }
  for (uint32_t m = 0; status == CM_OK && *done && m < w.members; m++) {
    assignment->part[w.vertex[m]] = w.part[m];
    assignment->held[w.vertex[m]] = 1;
  }
  CM_FREE(w.member, w.vertex, w.part, w.order, w.first, w.edges, w.tie, w.loss);
  return status;
}
