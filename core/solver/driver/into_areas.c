/* Happy path: pulls of pinned neurons -> parts where they cost least -> pieces of related neurons on cores -> neurons of parts that stand elsewhere reassigned -> cores for new parts. What can fail: memory, a stop. */
#include "core/solver/driver/into_areas.h"

#include <math.h>
#include <string.h>

#include "core/chip/reach.h"
#include "core/constraints/areas.h"
#include "core/mapping/options.h"
#include "core/placement/kinds/kinds.h"
#include "core/solver/driver/apart_cores.h"
#include "core/solver/driver/related_pieces.h"
#include "core/solver/incremental/assignment.h"
#include "core/solver/mappers/engine.h"
#include "core/solver/presets.h"

/* Of the effort of placing on kinds, which begins with nothing. */
static const double share_of_placing = 0.1;

typedef struct moving {
  const cm_map_input *in;
  const cm_mapping *from;
  cm_run *run;
  const cm_chip *plain; /* the job's own kinds of cores, in which parts stay */
  uint8_t *usable;  /* [cores] */
  cm_pulls pulls;
  cm_graph *parts;
  cm_assignment s;
} moving;

/* ---- parts ---- */

static cm_status flows(moving *r, cm_error *error)
{
  const struct cm_map_options *o = r->in->options;
  const cm_objective objective = cm_objective_resolve(o, r->in->demand->network->directed, true);
  return cm_engine_find((cm_preset)o->preset, objective)->flows(r->in->demand, r->from->part, r->from->part_count, r->run, &r->parts, error);
}

/* Trades among all usable cores. */
static cm_status trade(moving *r, uint32_t *core, cm_error *error)
{
  const cm_chip *chip = r->plain;
  const cm_place_effort *effort = &cm_effort_of(r->in->options)->place;
  const uint32_t parts = r->from->part_count;
  const double sweep = 2 * (double)r->parts->entry_count + 4.0 * parts;
  cm_region region = {.core_count = 0};
  uint8_t *kind = NULL;
  cm_kinds_result made;
  cm_status status = CM_NEW_ALL(r->run->memory, error, CM_ARRAY(region.cores, cm_chip_cores(chip)), CM_ARRAY(kind, parts));
  for (uint32_t c = 0; status == CM_OK && c < cm_chip_cores(chip); c++)
    if (r->usable[c])
      region.cores[region.core_count++] = c;
  for (uint32_t p = 0; status == CM_OK && p < parts; p++)
    kind[p] = (uint8_t)cm_chip_kind_of(chip, core[p]);
  const cm_place_task task = {.chip = chip, .region = &region, .seed = r->in->options->placement_seed, .run = r->run};
  const cm_kinds_options options = {.entries = share_of_placing * fmin(effort->kind_entries, effort->kind_sweeps * sweep), .kind = kind, .pulls = &r->pulls};
  CM_THEN(status, cm_place_by_kinds(r->parts, &task, &options, core, &made, error));
  CM_FREE(region.cores, kind);
  return status;
}

/* Parts to where they cost least; where cores are too many for that, they stay. */
static cm_status move_parts(moving *r, cm_error *error)
{
  const cm_pulls_input in = {.demand = r->in->demand, .chip = r->in->chip, .usable = r->usable, .allowed = r->s.allowed, .part = r->from->part, .parts = r->from->part_count};
  bool fits;
  if (r->s.allowed == NULL) /* no constraint says where */
    return CM_OK;
  cm_status status = cm_pulls_make(&in, r->run, &r->pulls, &fits, error);
  if (status != CM_OK || !fits || r->pulls.choices == 0)
    return status;
  status = flows(r, error);
  CM_THEN(status, cm_turn_places(r->parts, r->plain, &r->pulls, r->run, r->s.core, error));
  return status == CM_OK ? trade(r, r->s.core, error) : status;
}

/* ---- neurons ---- */

/* Of parts, in neurons. */
static cm_status find_largest(const moving *r, uint64_t *largest, cm_error *error)
{
  uint64_t *size;
  *largest = 0;
  CM_TRY(CM_NEW(r->run->memory, size, r->from->part_count, error));
  for (uint32_t v = 0; v < r->from->vertex_count; v++)
    size[r->from->part[v]] += cm_demand_size(r->in->demand, v);
  for (uint32_t p = 0; p < r->from->part_count; p++)
    *largest = size[p] > *largest ? size[p] : *largest;
  cm_free(size);
  return CM_OK;
}

static void take_parts(moving *r)
{
  memcpy(r->s.part, r->from->part, r->from->vertex_count * sizeof *r->s.part);
  r->s.parts = r->from->part_count;
}

static cm_status open(moving *r, cm_error *error)
{
  const struct cm_map_options *o = r->in->options;
  const uint32_t cores = cm_chip_cores(r->in->chip), most = o->parts != 0 ? o->parts : o->cores;
  uint32_t ignored;
  uint64_t largest;
  CM_TRY(find_largest(r, &largest, error));
  CM_TRY(cm_assignment_open(&r->s, r->in, r->from->part_count, largest, r->run, error));
  CM_TRY(CM_NEW(r->run->memory, r->usable, cores, error));
  CM_TRY(cm_usable_cores(r->in->chip, r->in->occupancy, r->run->memory, r->usable, &ignored, error));
  if (most != 0 && most < r->s.parts_max)
    r->s.parts_max = most;
  for (uint32_t c = 0; c < cores; c++)
    r->s.anywhere |= r->usable[c] ? UINT64_C(1) << cm_chip_kind_of(r->in->chip, c) : 0;
  r->s.anywhere &= ~cm_chip_pinned_kinds(r->in->chip);
  take_parts(r);
  memcpy(r->s.core, r->from->core, r->from->part_count * sizeof *r->s.core);
  return CM_OK;
}

/* Related neurons to cores of their own; where these are not found, pairs alone to other parts. */
static cm_status relate(moving *r, bool *legal, cm_error *error)
{
  cm_assignment *s = &r->s;
  uint32_t *core;
  if (!r->in->areas->relations)
    return CM_OK;
  CM_TRY(CM_NEW(r->run->memory, core, r->from->part_count, error));
  memcpy(core, s->core, r->from->part_count * sizeof *core);
  cm_status status = cm_place_pieces(r->in, s, r->run, legal, error);
  if (status == CM_OK && !*legal) {
    take_parts(r);
    memcpy(s->core, core, r->from->part_count * sizeof *core);
    status = cm_keep_apart(r->in, s, r->run, legal, error);
  }
  cm_free(core);
  return status;
}

static cm_status move_neurons(moving *r, bool *legal, cm_error *error)
{
  cm_assignment *s = &r->s;
  uint32_t *part_at, placed;
  *legal = true;
  CM_TRY(relate(r, legal, error));
  if (!*legal)
    return CM_OK;
  for (uint32_t p = 0; p < s->parts; p++)
    s->kind[p] = (uint8_t)cm_chip_kind_of(s->chip, s->core[p]);
  cm_status status = cm_reassign(s, r->run, legal, error);
  if (status != CM_OK || !*legal)
    return status;
  CM_TRY(CM_NEW(r->run->memory, part_at, cm_chip_cores(s->chip), error));
  status = cm_place_new_parts(s, r->in->occupancy, part_at, r->run, &placed, error);
  cm_free(part_at);
  *legal = status == CM_OK && (r->in->options->parts == 0 || s->parts == r->in->options->parts);
  return status == CM_NO_ROOM ? CM_OK : status;
}

static void deliver(moving *r, bool legal, bool placed, cm_moved *made)
{
  *made = (cm_moved){.part = NULL};
  if (legal) {
    *made = (cm_moved){.part = r->s.part, .core = placed ? r->s.core : NULL, .parts = r->s.parts};
    r->s.part = NULL;
    r->s.core = placed ? NULL : r->s.core;
  }
  cm_assignment_clear(&r->s);
  cm_pulls_clear(&r->pulls);
  cm_graph_free(r->parts);
  cm_free(r->usable);
}

cm_status cm_move_into_areas(const cm_map_input *input, const cm_chip *plain, const cm_mapping *from, cm_run *run, cm_moved *made, cm_error *error)
{
  moving r = {.in = input, .from = from, .run = run, .plain = plain};
  bool legal = false;
  cm_run_phase(run, "constraints");
  cm_status status = open(&r, error);
  CM_THEN(status, move_parts(&r, error));
  CM_THEN(status, move_neurons(&r, &legal, error));
  deliver(&r, status == CM_OK && legal, true, made);
  return status;
}

cm_status cm_part_by_areas(const cm_map_input *input, const cm_mapping *from, cm_run *run, cm_moved *made, cm_error *error)
{
  moving r = {.in = input, .from = from, .run = run};
  bool legal = false;
  cm_run_phase(run, "constraints");
  cm_status status = open(&r, error);
  CM_THEN(status, cm_part_pieces(input, &r.s, run, &legal, error));
  deliver(&r, status == CM_OK && legal, false, made);
  return status;
}

void cm_moved_clear(cm_moved *made)
{
  CM_FREE(made->part, made->core);
}
