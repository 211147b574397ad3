/* Happy path: neurons that relations name -> pieces of parts -> their cores -> parts there; or pieces of all neurons -> parts of those alike. What can fail: no cores, too few of them; memory,
 * a stop. */
#include "core/solver/driver/related_pieces.h"

#include <stdlib.h>
#include <string.h>

#include "core/constraints/areas.h"
#include "core/limits/limits.h"
#include "core/mapping/options.h"
#include "core/partition/merge_parts.h"
#include "core/placement/related/related.h"
#include "core/solver/mappers/engine.h"
#include "core/solver/presets.h"

/* A neuron, and what its piece has in common. */
typedef struct member {
  uint64_t takes; /* kinds of cores, where these count */
  uint32_t cell, part, vertex; /* part: of a cell that shares a core 0 */
} member;

typedef struct cutting {
  const cm_map_input *in;
  cm_assignment *s;
  cm_run *run;
  uint32_t count, parts;     /* pieces; parts before them */
  uint32_t *from, *group;    /* [pieces] the part of its first neuron; pieces of one cell on the same kinds */
  uint32_t *number;          /* [vertices] of the part that stays, or parts + piece */
  uint32_t *members;         /* [parts] neurons that stay */
  uint32_t *core, *to;       /* [parts + pieces]; [pieces] the part that each joins */
  uint8_t *kind;             /* [parts + pieces] */
} cutting;

/* Marks the neurons that relations name. */
static void mark(const cm_areas *a, const uint32_t *subject, uint32_t count, uint8_t *named)
{
  for (uint32_t k = 0; k < count; k++)
    for (uint32_t i = 0; i < cm_subject_size(&a->subjects, subject[k]); i++)
      named[cm_subject_neuron(&a->subjects, subject[k], i)] = 1;
}

/* ---- pieces ---- */

static int by_group(const member *p, const member *q)
{
  if (p->cell != q->cell)
    return p->cell < q->cell ? -1 : 1;
  return p->takes < q->takes ? -1 : p->takes > q->takes;
}

static int by_piece(const void *a, const void *b)
{
  const member *p = a, *q = b;
  const int groups = by_group(p, q);
  if (groups != 0 || p->part == q->part)
    return groups != 0 ? groups : p->vertex < q->vertex ? -1 : p->vertex > q->vertex;
  return p->part < q->part ? -1 : 1;
}

static member member_of(const cutting *c, uint32_t v, bool kinds)
{
  const cm_areas *a = c->in->areas;
  const bool whole = a->whole[a->cell_of[v]];
  return (member){kinds && !whole && cm_is_pinned(c->s, v) ? c->s->allowed[v] : 0, a->cell_of[v], whole ? 0 : c->s->part[v], v};
}

/* Numbers the pieces of members, after the parts, in the order of their first neurons. */
static cm_status number_pieces(cutting *c, member *list, uint32_t count, cm_error *error)
{
  const uint32_t n = c->in->demand->network->vertex_count;
  uint32_t sorted = 0, groups = 0, *place, *group_of = NULL;
  cm_status status = CM_NEW_ALL(c->run->memory, error, CM_ARRAY(place, count), CM_ARRAY(group_of, count), CM_ARRAY(c->from, count), CM_ARRAY(c->group, count));
  if (status == CM_OK && count > 0)
    qsort(list, count, sizeof *list, by_piece);
  for (uint32_t i = 0; status == CM_OK && i < count; i++) {
    const int other = i > 0 ? by_group(&list[i - 1], &list[i]) : 0;
    groups += other != 0;
    sorted += other != 0 || (i > 0 && list[i].part != list[i - 1].part);
    c->number[list[i].vertex] = sorted;
    group_of[sorted] = groups;
    place[sorted] = CM_NOWHERE;
  }
  for (uint32_t v = 0; status == CM_OK && v < n; v++) {
    if (c->number[v] == CM_NOWHERE)
      continue;
    const uint32_t mine = c->number[v];
    if (place[mine] == CM_NOWHERE) {
      c->from[c->count] = c->s->part[v];
      c->group[c->count] = group_of[mine];
      place[mine] = c->count++;
    }
    c->number[v] = c->parts + place[mine];
  }
  CM_FREE(place, group_of);
  return status;
}

/* Pieces of the neurons that are held, or of all, then by the kinds that take them; *few: each can have a core. */
static cm_status cut(cutting *c, bool all, bool *few, cm_error *error)
{
  const uint32_t n = c->in->demand->network->vertex_count;
  uint32_t count = 0;
  member *list;
  CM_TRY(CM_NEW_ALL(c->run->memory, error, CM_ARRAY(c->number, n), CM_ARRAY(c->members, c->parts), CM_ARRAY(list, n)));
  memset(c->number, 0xff, n * sizeof *c->number);
  for (uint32_t v = 0; v < n; v++)
    if (all || c->s->held[v])
      list[count++] = member_of(c, v, all);
    else
      c->members[c->s->part[v]]++;
  cm_status status = number_pieces(c, list, count, error);
  cm_free(list);
  for (uint32_t v = 0; status == CM_OK && v < n; v++)
    c->number[v] = c->number[v] == CM_NOWHERE ? c->s->part[v] : c->number[v];
  *few = c->count <= c->s->parts_max;
  return status;
}

static cm_status cut_related(cutting *c, bool *few, cm_error *error)
{
  const cm_areas *a = c->in->areas;
  CM_TRY(CM_NEW(c->run->memory, c->s->held, c->in->demand->network->vertex_count, error));
  for (uint32_t i = 0; i < a->constraints.count; i++)
    if (!cm_is_area(&a->constraints.constraint[i])) {
      mark(a, a->constraints.constraint[i].of, a->constraints.constraint[i].of_count, c->s->held);
      mark(a, a->constraints.constraint[i].to, a->constraints.constraint[i].to_count, c->s->held);
    }
  for (uint32_t v = 0; v < c->in->demand->network->vertex_count; v++)
    c->s->held[v] = c->s->held[v] && !cm_demand_is_outside(c->in->demand, v);
  return cut(c, false, few, error);
}

/* ---- among parts that stay ---- */

/* Cores for the pieces. */
static cm_status place(cutting *c, bool *found, cm_error *error)
{
  const struct cm_map_options *o = c->in->options;
  const uint32_t all = c->parts + c->count;
  const cm_objective objective = cm_objective_resolve(o, c->in->demand->network->directed, true);
  cm_graph *flows = NULL;
  uint64_t *use = NULL;
  bool optimal, share = true; /* a count of populations is no sum of pieces */
  for (uint32_t k = 0; k < c->s->kinds; k++)
    share = share && c->s->of_kind[k].populations == 0;
  CM_TRY(CM_NEW_ALL(c->run->memory, error, CM_ARRAY(c->core, all), CM_ARRAY(c->kind, all), CM_ARRAY(use, (size_t)all * CM_RESOURCES)));
  for (uint32_t p = 0; p < c->parts; p++)
    c->kind[p] = (uint8_t)cm_chip_kind_of(c->s->chip, c->s->core[p]);
  for (uint32_t i = 0; i < c->count; i++)
    c->kind[c->parts + i] = c->kind[c->from[i]];
  cm_status status = cm_count_use(c->in->demand, c->number, all, c->run, use, error);
  CM_THEN(status, cm_engine_find((cm_preset)o->preset, objective)->flows(c->in->demand, c->number, all, c->run, &flows, error));
  const cm_related_task task = {.areas = c->in->areas, .demand = c->in->demand, .occupancy = c->in->occupancy, .parts = flows, .part = c->number, .kind = c->kind,
                                .fixed = c->s->core, .fixed_count = c->parts, .use = use, .sharing = share ? c->s->of_kind : NULL, .seed = o->placement_seed, .effort = 1, .run = c->run};
  CM_THEN(status, cm_place_related(&task, c->core, &optimal, error));
  cm_graph_free(flows);
  cm_free(use);
  *found = status == CM_OK;
  return status == CM_LIMIT_BROKEN || status == CM_TOO_LARGE ? CM_OK : status;
}

/* A part for a piece on a core where nobody stays: its own where that is empty too, which changes cores with the one that stands there; else the one there, or a new one; CM_NOWHERE: there can
 * be no more. */
static uint32_t found_part(cutting *c, uint32_t i, uint32_t core, uint32_t *part_at)
{
  cm_assignment *s = c->s;
  const uint32_t own = c->from[i], there = part_at[core];
  if (c->members[own] > 0)
    return there != CM_NOWHERE ? there : s->parts < s->room ? s->parts++ : CM_NOWHERE;
  part_at[s->core[own]] = there;
  if (there != CM_NOWHERE)
    s->core[there] = s->core[own];
  return own;
}

/* Pieces join the parts on their cores; the first there, where it is a whole part, changes cores with the part there. */
static cm_status join(cutting *c, uint32_t *part_at, bool *found, cm_error *error)
{
  cm_assignment *s = c->s;
  uint8_t *settled;
  CM_TRY(CM_NEW(c->run->memory, settled, cm_chip_cores(s->chip), error));
  memset(part_at, 0xff, cm_chip_cores(s->chip) * sizeof *part_at);
  for (uint32_t p = 0; p < c->parts; p++)
    part_at[s->core[p]] = p;
  for (uint32_t i = 0; i < c->count && *found; i++) {
    const uint32_t core = c->core[c->parts + i], own = c->from[i], there = part_at[core];
    const bool empty = there == CM_NOWHERE || (there < c->parts && c->members[there] == 0);
    const bool trades = !settled[core] && c->members[own] == 0 && c->in->areas->base[cm_chip_kind_of(s->chip, core)] == c->in->areas->base[cm_chip_kind_of(s->chip, s->core[own])];
    c->to[i] = empty || trades ? found_part(c, i, core, part_at) : there;
    *found = c->to[i] != CM_NOWHERE;
    settled[core] = 1;
    if (*found) {
      s->core[c->to[i]] = core;
      part_at[core] = c->to[i];
      if (c->to[i] < c->parts)
        c->members[c->to[i]]++;
    }
  }
  for (uint32_t v = 0; v < s->demand->network->vertex_count && *found; v++)
    if (s->held[v])
      s->part[v] = c->to[c->number[v] - c->parts];
  cm_free(settled);
  return cm_run_check(c->run, error);
}

static void clear(cutting *c)
{
  CM_FREE(c->from, c->group, c->number, c->members, c->core, c->to, c->kind);
}

cm_status cm_place_pieces(const cm_map_input *input, cm_assignment *assignment, cm_run *run, bool *found, cm_error *error)
{
  cutting c = {.in = input, .s = assignment, .run = run, .parts = assignment->parts};
  uint32_t *part_at = NULL;
  *found = false;
  cm_status status = cut_related(&c, found, error);
  CM_THEN_IF(status, *found, place(&c, found, error));
  CM_THEN_IF(status, *found, CM_NEW(run->memory, c.to, c.count, error));
  CM_THEN_IF(status, *found, CM_NEW(run->memory, part_at, cm_chip_cores(input->chip), error));
  CM_THEN_IF(status, *found, join(&c, part_at, found, error));
  clear(&c);
  cm_free(part_at);
  return status;
}

/* ---- all of them ---- */

static uint64_t tighter(uint64_t a, uint64_t b)
{
  return a == 0 || (b != 0 && b < a) ? b : a;
}

/* What cores of all kinds hold. */
static cm_limits limits_of_all(const cm_assignment *s)
{
  cm_limits all = s->of_kind[0];
  for (uint32_t k = 1; k < s->kinds; k++) {
    const cm_limits *l = &s->of_kind[k];
    all.neurons = tighter(all.neurons, l->neurons);
    all.synapses = tighter(all.synapses, l->synapses);
    all.inbound_axons = tighter(all.inbound_axons, l->inbound_axons);
    all.memory_bits = tighter(all.memory_bits, l->memory_bits);
    all.populations = tighter(all.populations, l->populations);
  }
  return all;
}

cm_status cm_part_pieces(const cm_map_input *input, cm_assignment *assignment, cm_run *run, bool *found, cm_error *error)
{
  const struct cm_map_options *o = input->options;
  const cm_limits limits = limits_of_all(assignment);
  cutting c = {.in = input, .s = assignment, .run = run};
  bool few;
  cm_status status = cut(&c, true, &few, error);
  const cm_merge_options options = {.limits = &limits, .least = (uint32_t)o->parts, .group = c.group};
  CM_THEN(status, cm_merge_parts(input->demand, &options, run, c.number, &c.count, error));
  *found = status == CM_OK && c.count <= assignment->parts_max && (o->parts == 0 || c.count == o->parts);
  if (*found) {
    memcpy(assignment->part, c.number, input->demand->network->vertex_count * sizeof *c.number);
    assignment->parts = c.count;
  }
  clear(&c);
  return status;
}
