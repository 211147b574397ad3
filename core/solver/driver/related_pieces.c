/* Happy path: neurons that relations name -> pieces of parts -> their cores -> parts there. What can fail: too many pieces, no cores; memory, a stop. */
#include "core/solver/driver/related_pieces.h"

#include <stdlib.h>
#include <string.h>

#include "core/constraints/areas.h"
#include "core/mapping/options.h"
#include "core/placement/related/related.h"
#include "core/solver/mappers/engine.h"
#include "core/solver/presets.h"

enum { PIECES_MAX = 256 };

/* A piece by its cell and part. */
typedef struct piece {
  uint32_t cell, part; /* part: of a cell that shares a core 0 */
} piece;

typedef struct cutting {
  const cm_map_input *in;
  cm_assignment *s;
  cm_run *run;
  piece piece[PIECES_MAX];
  uint32_t from[PIECES_MAX]; /* the part of its first neuron */
  uint32_t count, parts;     /* pieces; parts before them */
  uint32_t *number;          /* [vertices] of the part that stays, or parts + piece */
  uint32_t *members;         /* [parts] neurons that stay */
  uint32_t *core;            /* [parts + pieces] */
  uint8_t *kind;             /* the same */
} cutting;

/* Marks the neurons that relations name. */
static void mark(const cm_areas *a, const uint32_t *subject, uint32_t count, uint8_t *named)
{
  for (uint32_t k = 0; k < count; k++)
    for (uint32_t i = 0; i < cm_subject_size(&a->subjects, subject[k]); i++)
      named[cm_subject_neuron(&a->subjects, subject[k], i)] = 1;
}

/* The piece of a neuron; PIECES_MAX: there are too many. */
static uint32_t piece_of(cutting *c, uint32_t v)
{
  const cm_areas *a = c->in->areas;
  const piece mine = {a->cell_of[v], a->whole[a->cell_of[v]] ? 0 : c->s->part[v]};
  uint32_t i = 0;
  while (i < c->count && (c->piece[i].cell != mine.cell || c->piece[i].part != mine.part))
    i++;
  if (i == c->count && i < PIECES_MAX) {
    c->piece[i] = mine;
    c->from[i] = c->s->part[v];
    c->count++;
  }
  return i;
}

static cm_status cut(cutting *c, bool *few, cm_error *error)
{
  const cm_areas *a = c->in->areas;
  const uint32_t n = c->in->demand->network->vertex_count;
  if (CM_NEW(c->run->memory, c->s->held, n, error) != CM_OK || CM_NEW(c->run->memory, c->number, n, error) != CM_OK || CM_NEW(c->run->memory, c->members, c->parts, error) != CM_OK)
    return error->status;
  for (uint32_t i = 0; i < a->constraints.count; i++)
    if (!cm_is_area(&a->constraints.constraint[i])) {
      mark(a, a->constraints.constraint[i].of, a->constraints.constraint[i].of_count, c->s->held);
      mark(a, a->constraints.constraint[i].to, a->constraints.constraint[i].to_count, c->s->held);
    }
  *few = true;
  for (uint32_t v = 0; v < n && *few; v++) {
    c->s->held[v] = c->s->held[v] && !cm_demand_is_outside(c->in->demand, v);
    const uint32_t i = c->s->held[v] ? piece_of(c, v) : 0;
    *few = i < PIECES_MAX;
    c->number[v] = c->s->held[v] ? c->parts + i : c->s->part[v];
    c->members[c->s->part[v]] += !c->s->held[v];
  }
  return CM_OK;
}

/* Cores for the pieces. */
static cm_status place(cutting *c, bool *found, cm_error *error)
{
  const struct cm_map_options *o = c->in->options;
  const uint32_t all = c->parts + c->count;
  const cm_objective objective = cm_objective_resolve(o, c->in->demand->network->directed, true);
  cm_graph *flows = NULL;
  bool optimal;
  if (CM_NEW(c->run->memory, c->core, all, error) != CM_OK || CM_NEW(c->run->memory, c->kind, all, error) != CM_OK)
    return error->status;
  for (uint32_t p = 0; p < c->parts; p++)
    c->kind[p] = (uint8_t)cm_chip_kind_of(c->s->chip, c->s->core[p]);
  for (uint32_t i = 0; i < c->count; i++)
    c->kind[c->parts + i] = c->kind[c->from[i]];
  cm_status status = cm_engine_find((cm_preset)o->preset, objective)->flows(c->in->demand, c->number, all, c->run, &flows, error);
  const cm_related_task task = {.areas = c->in->areas, .demand = c->in->demand, .occupancy = c->in->occupancy, .parts = flows, .part = c->number, .kind = c->kind,
                                .fixed = c->s->core, .fixed_count = c->parts, .seed = o->placement_seed, .effort = 1, .run = c->run};
  if (status == CM_OK)
    status = cm_place_related(&task, c->core, &optimal, error);
  cm_graph_free(flows);
  *found = status == CM_OK;
  return status == CM_LIMIT_BROKEN || status == CM_TOO_LARGE ? CM_OK : status;
}

/* A part for a piece on a core where there is none: its own where nobody stays in that, else a new one; CM_NOWHERE: there can be no more. */
static uint32_t found_part(cutting *c, uint32_t i)
{
  cm_assignment *s = c->s;
  if (c->members[c->from[i]] == 0) {
    c->members[c->from[i]] = 1;
    return c->from[i];
  }
  return s->parts < s->room ? s->parts++ : CM_NOWHERE;
}

/* Pieces join the parts on their cores; one that is a whole part changes cores with the part there. */
static cm_status join(cutting *c, uint32_t *part_at, bool *found, cm_error *error)
{
  cm_assignment *s = c->s;
  uint32_t to[PIECES_MAX];
  memset(part_at, 0xff, cm_chip_cores(s->chip) * sizeof *part_at);
  for (uint32_t p = 0; p < c->parts; p++)
    if (c->members[p] > 0)
      part_at[s->core[p]] = p;
  for (uint32_t i = 0; i < c->count && *found; i++) {
    const uint32_t core = c->core[c->parts + i], own = c->from[i], there = part_at[core];
    if (there != CM_NOWHERE && c->members[own] == 0 && part_at[s->core[own]] == CM_NOWHERE &&
        c->in->areas->base[cm_chip_kind_of(s->chip, core)] == c->in->areas->base[cm_chip_kind_of(s->chip, s->core[own])]) {
      s->core[there] = s->core[own];
      part_at[s->core[own]] = there;
      part_at[core] = CM_NOWHERE;
    }
    to[i] = part_at[core] != CM_NOWHERE ? part_at[core] : found_part(c, i);
    *found = to[i] != CM_NOWHERE;
    if (*found) {
      s->core[to[i]] = core;
      part_at[core] = to[i];
    }
  }
  for (uint32_t v = 0; v < s->demand->network->vertex_count && *found; v++)
    if (s->held[v])
      s->part[v] = to[c->number[v] - c->parts];
  return cm_run_check(c->run, error);
}

cm_status cm_place_pieces(const cm_map_input *input, cm_assignment *assignment, cm_run *run, bool *found, cm_error *error)
{
  cutting *c;
  uint32_t *part_at = NULL;
  *found = false;
  if (CM_NEW(run->memory, c, 1, error) != CM_OK)
    return error->status;
  c->in = input;
  c->s = assignment;
  c->run = run;
  c->parts = assignment->parts;
  cm_status status = cut(c, found, error);
  if (status == CM_OK && *found)
    status = place(c, found, error);
  if (status == CM_OK && *found)
    status = CM_NEW(run->memory, part_at, cm_chip_cores(input->chip), error);
  if (status == CM_OK && *found)
    status = join(c, part_at, found, error);
  CM_FREE(c->number, c->members, c->core, c->kind, c, part_at);
  return status;
}
