/* Happy path: parts as nodes, free cores as tiles, constraints of neurons as constraints of their parts -> places (core/constraints/solution.h). What can fail:
 * there are none, or none are found; too many cores; memory, cancel. */
#include "core/placement/related/related.h"

#include <stdio.h>
#include <string.h>

#include "core/chip/reach.h"
#include "core/constraints/solution.h"

enum { WEIGHT_BITS = 30, PART_NAME_MAX = 24, CLASSES = UINT32_MAX - 1 /* an origin: what kinds of cores take */ };

typedef struct making {
  const cm_related_task *t;
  cm_memory *memory;
  cm_problem *p;
  cm_rectangle box;    /* of cores that are the problem's tiles */
  uint32_t *origin;    /* [constraints of p] the job's constraint that each follows from */
  uint64_t room, origin_room;
  uint32_t *part, *first; /* parts of the members of a constraint: part[first[k]] .. */
  uint64_t part_room;
  uint32_t *seen;      /* [parts] the last member that named it, plus 1 */
  uint32_t *core;      /* [parts] the caller's */
} making;

/* ---- nodes, tiles, nets ---- */

static uint32_t core_of(const making *m, uint32_t tile)
{
  return (m->box.y0 + tile / m->p->width) * m->t->areas->chip.width + m->box.x0 + tile % m->p->width;
}

/* What of parts the limits of routers and dies count. */
static const cm_resource shared[CM_TILE_LIMITS] = {[CM_TILE_MEMORY] = CM_SYNAPSES, [CM_TILE_CHANNELS_IN] = CM_INBOUND_AXONS, [CM_TILE_CHANNELS_OUT] = CM_OUTBOUND_AXONS};

static uint64_t limit_or_none(uint64_t limit)
{
  return limit == 0 ? UINT64_MAX : limit;
}

static cm_status make_tiles(making *m, cm_error *error)
{
  const cm_related_task *in = m->t;
  const cm_chip *chip = &in->areas->chip;
  cm_problem *p = m->p;
  uint8_t *usable;
  uint32_t ignored;
  p->width = m->box.x1 - m->box.x0 + 1;
  p->height = m->box.y1 - m->box.y0 + 1;
  p->router_x = chip->router_x;
  p->router_y = chip->router_y;
  p->chip_x = chip->dies_x > 1 ? chip->die_width : p->width;
  p->chip_y = chip->dies_y > 1 ? chip->die_height : p->height;
  memset(p->router_limit, 0xff, sizeof p->router_limit);
  memset(p->chip_limit, 0xff, sizeof p->chip_limit);
  for (int l = CM_TILE_MEMORY; l < (in->takes != NULL ? CM_TILE_CHANNELS_IN : CM_TILE_LIMITS); l++) { /* of axons neurons share */
    p->router_limit[l] = limit_or_none(cm_limit(&chip->router_limits, shared[l]));
    p->chip_limit[l] = limit_or_none(cm_limit(&chip->die_limits, shared[l]));
  }
  CM_TRY(CM_NEW_ALL(m->memory, error, CM_ARRAY(p->tile, cm_problem_tiles(p)), CM_ARRAY(usable, cm_chip_cores(chip))));
  cm_status status = cm_usable_cores(chip, in->occupancy, m->memory, usable, &ignored, error);
  for (uint32_t t = 0; t < cm_problem_tiles(p); t++) {
    const uint32_t core = core_of(m, t);
    memset(p->tile[t].limit, 0xff, sizeof p->tile[t].limit);
    const cm_limits *limits = in->sharing != NULL ? &in->sharing[cm_chip_kind_of(chip, core)] : NULL;
    p->tile[t].limit[CM_TILE_NODES] = limits == NULL ? 1 : limit_or_none(limits->neurons);
    p->tile[t].limit[CM_TILE_MEMORY] = limits == NULL ? UINT64_MAX : limit_or_none(limits->synapses);
    p->tile[t].kind = usable[core] ? in->areas->base[cm_chip_kind_of(chip, core)] : CM_NO_KIND;
  }
  cm_free(usable);
  return status;
}

static cm_status make_nodes(making *m, cm_error *error)
{
  const uint32_t parts = m->t->parts->vertex_count;
  CM_TRY(CM_NEW(m->memory, m->p->node, parts, error));
  for (m->p->node_count = 0; m->p->node_count < parts; m->p->node_count++) {
    cm_problem_node *n = &m->p->node[m->p->node_count];
    const bool fixed = m->p->node_count < m->t->fixed_count;
    const uint64_t *use = m->t->use == NULL || fixed ? NULL : m->t->use + (size_t)m->p->node_count * CM_RESOURCES;
    n->kind = fixed || m->t->takes != NULL ? CM_NO_KIND : m->t->areas->base[m->t->kind != NULL ? m->t->kind[m->p->node_count] : 0];
    n->need[CM_TILE_NODES] = fixed ? 0 : m->t->sharing != NULL && use != NULL ? use[CM_NEURONS] : 1;
    for (int l = CM_TILE_MEMORY; l < CM_TILE_LIMITS && use != NULL; l++)
      n->need[l] = use[shared[l]];
    CM_TRY(CM_NEW(m->memory, n->name, PART_NAME_MAX, error));
    (void)snprintf(n->name, PART_NAME_MAX, "part %u", m->p->node_count);
  }
  return CM_OK;
}

/* What parts say to each other, as many bits of it as a net may weigh. */
static cm_status make_nets(making *m, cm_error *error)
{
  const cm_graph *g = m->t->parts;
  cm_problem *p = m->p;
  uint64_t most = 0;
  unsigned shift = 0;
  if (g->entry_count > UINT32_MAX)
    return cm_fail(error, CM_TOO_LARGE, "the parts say too much to each other for constraints that relate them");
  for (uint64_t e = 0; e < g->entry_count; e++)
    most = g->weight[e] > most ? g->weight[e] : most;
  while (most >> shift >> WEIGHT_BITS != 0)
    shift++;
  CM_TRY(CM_NEW_ALL(m->memory, error, CM_ARRAY(p->first, g->entry_count / 2 + 1), CM_ARRAY(p->pin, g->entry_count),
                    CM_ARRAY(p->weight, g->entry_count / 2)));
  for (uint32_t a = 0; a < g->vertex_count; a++)
    for (uint64_t e = g->first[a]; e < g->first[a + 1]; e++) {
      if (g->neighbour[e] <= a)
        continue;
      p->weight[p->net_count] = g->weight[e] >> shift;
      p->pin[2 * p->net_count] = a;
      p->pin[2 * p->net_count + 1] = g->neighbour[e];
      p->net_count++;
      p->first[p->net_count] = 2 * p->net_count;
    }
  return CM_OK;
}

/* ---- constraints ---- */

/* The parts of `count` members of a list, from m->first[from] on. */
static cm_status find_parts(making *m, const uint32_t *member, uint32_t from, uint32_t count, cm_error *error)
{
  const cm_subjects *s = &m->t->areas->subjects;
  for (uint32_t k = 0; k < count; k++) {
    m->first[from + k + 1] = m->first[from + k];
    for (uint32_t i = 0; i < cm_subject_size(s, member[k]); i++) {
      const uint32_t v = cm_subject_neuron(s, member[k], i), part = m->t->part[v];
      if (cm_demand_is_outside(m->t->demand, v) || part < m->t->fixed_count || m->seen[part] == from + k + 1)
        continue;
      m->seen[part] = from + k + 1;
      CM_TRY(CM_ROOM(m->memory, m->part, &m->part_room, (uint64_t)m->first[from + k + 1] + 1, error));
      m->part[m->first[from + k + 1]++] = part;
    }
  }
  return CM_OK;
}

/* Copies of parts that stand at from .. to - 1, each once. */
static cm_status take_parts(making *m, uint32_t from, uint32_t to, uint32_t **list, uint32_t *count, cm_error *error)
{
  CM_TRY(CM_NEW(m->memory, *list, to - from, error));
  memset(m->seen, 0, m->t->parts->vertex_count * sizeof *m->seen);
  for (uint32_t i = from; i < to; i++)
    if (m->seen[m->part[i]]++ == 0)
      (*list)[(*count)++] = m->part[i];
  return CM_OK;
}

/* What of a rectangle of cores lies in the box, in tiles. */
static bool in_box(const making *m, cm_rectangle at, cm_rectangle *made)
{
  const cm_rectangle *b = &m->box;
  if (at.x0 > b->x1 || at.x1 < b->x0 || at.y0 > b->y1 || at.y1 < b->y0)
    return false;
  *made = (cm_rectangle){at.x0 > b->x0 ? at.x0 - b->x0 : 0, at.y0 > b->y0 ? at.y0 - b->y0 : 0, (at.x1 < b->x1 ? at.x1 : b->x1) - b->x0,
                         (at.y1 < b->y1 ? at.y1 : b->y1) - b->y0};
  return true;
}

/* Adds what constraint `number` asks of parts of -from.. and to-from.., places in m->part; nothing where a side has none. */
static cm_status add(making *m, uint32_t number, const uint32_t of[2], const uint32_t to[2], cm_error *error)
{
  cm_constraints *all = &m->p->constraints;
  const cm_constraint *c = &m->t->areas->constraints.constraint[number];
  if (of[0] == of[1] || (to != NULL && to[0] == to[1]))
    return CM_OK;
  CM_TRY(CM_ROOM(m->memory, all->constraint, &m->room, (uint64_t)all->count + 1, error));
  CM_TRY(CM_ROOM(m->memory, m->origin, &m->origin_room, (uint64_t)all->count + 1, error));
  cm_constraint *made = &all->constraint[all->count];
  m->origin[all->count++] = number;
  *made = *c;
  made->of = made->to = NULL;
  made->at = NULL;
  made->of_count = made->to_count = made->at_count = 0;
  cm_status status = take_parts(m, of[0], of[1], &made->of, &made->of_count, error);
  CM_THEN_IF(status, to != NULL, take_parts(m, to[0], to[1], &made->to, &made->to_count, error));
  if (status == CM_OK && c->at_count > 0 && (status = CM_NEW(m->memory, made->at, c->at_count, error)) == CM_OK)
    for (uint32_t i = 0; i < c->at_count; i++)
      made->at_count += in_box(m, c->at[i], &made->at[made->at_count]);
  return status;
}

/* Between the parts of each of `of` and of each of `to`, or of its like. */
static cm_status add_pairs(making *m, uint32_t number, cm_error *error)
{
  const cm_constraint *c = &m->t->areas->constraints.constraint[number];
  const bool next = c->kind == CM_ADJACENT || (c->kind == CM_ORDER && c->side != CM_WITHIN_HOPS);
  const uint32_t *first = m->first, n = c->of_count;
  cm_status status = CM_OK;
  for (uint32_t i = 0; i < n && status == CM_OK; i++) {
    const uint32_t begin = c->to_count > 0 ? n : i + 1, end = c->to_count > 0 ? n + c->to_count : next && i + 2 < n ? i + 2 : n;
    for (uint32_t k = begin; k < end && status == CM_OK; k++)
      status = add(m, number, (uint32_t[]){first[i], first[i + 1]}, (uint32_t[]){first[k], first[k + 1]}, error);
  }
  return status;
}

/* Whether each member of a constraint has one part. */
static bool one_part_each(const making *m, const cm_constraint *c)
{
  uint32_t k = 0;
  while (k < c->of_count && m->first[k + 1] == m->first[k] + 1)
    k++;
  return k == c->of_count;
}

static cm_status add_constraint(making *m, uint32_t number, cm_error *error)
{
  const cm_constraint *c = &m->t->areas->constraints.constraint[number];
  m->first[0] = 0;
  memset(m->seen, 0, m->t->parts->vertex_count * sizeof *m->seen);
  CM_TRY(find_parts(m, c->of, 0, c->of_count, error));
  CM_TRY(find_parts(m, c->to, c->of_count, c->to_count, error));
  switch (c->kind) {
    case CM_PIN:
    case CM_NOT_HERE:
    case CM_TOGETHER:
    case CM_CONNECTED: return add(m, number, (uint32_t[]){0, m->first[c->of_count]}, NULL, error);
    case CM_APART:
      if (c->to_count == 0 && one_part_each(m, c)) { /* one flow says more than many pairs */
        uint32_t before = m->p->constraints.count;
        cm_status status = add(m, number, (uint32_t[]){0, m->first[c->of_count]}, NULL, error);
        if (status != CM_OK || m->p->constraints.constraint[before].of_count == c->of_count)
          return status;
      }
      return add_pairs(m, number, error);
    default: return add_pairs(m, number, error);
  }
}

static cm_status add_own(making *m, uint32_t origin, uint32_t places, cm_constraint **made, cm_error *error)
{
  cm_constraints *all = &m->p->constraints;
  CM_TRY(CM_ROOM(m->memory, all->constraint, &m->room, (uint64_t)all->count + 1, error));
  CM_TRY(CM_ROOM(m->memory, m->origin, &m->origin_room, (uint64_t)all->count + 1, error));
  m->origin[all->count] = origin;
  *made = &all->constraint[all->count++];
  **made = (cm_constraint){.kind = CM_PIN};
  return CM_NEW_ALL(m->memory, error, CM_ARRAY((*made)->of, m->p->node_count), CM_ARRAY((*made)->at, places));
}

/* A pin for a part, and those after it that the same kinds of cores take, where some kinds do not. */
static cm_status keep_kinds(making *m, uint32_t first, cm_error *error)
{
  const cm_problem *p = m->p;
  const uint64_t takes = m->t->takes[first];
  cm_constraint *pin;
  bool all = true;
  for (uint32_t t = 0; t < cm_problem_tiles(p); t++)
    all = all && (p->tile[t].kind == CM_NO_KIND || (takes >> p->tile[t].kind & 1) != 0);
  for (uint32_t i = 0; i < first && !all; i++)
    all = m->t->takes[i] == takes;
  if (all)
    return CM_OK;
  CM_TRY(add_own(m, CLASSES, cm_problem_tiles(p), &pin, error));
  for (uint32_t i = first; i < p->node_count; i++)
    if (m->t->takes[i] == takes)
      pin->of[pin->of_count++] = i;
  for (uint32_t t = 0; t < cm_problem_tiles(p); t++)
    if (p->tile[t].kind != CM_NO_KIND && (takes >> p->tile[t].kind & 1) != 0)
      pin->at[pin->at_count++] = (cm_rectangle){t % p->width, t / p->width, t % p->width, t / p->width};
  return CM_OK;
}

/* A pin for each part that is fixed. */
static cm_status fix(making *m, cm_error *error)
{
  cm_constraint *pin;
  for (uint32_t p = 0; p < m->t->fixed_count; p++) {
    const uint32_t x = m->t->fixed[p] % m->t->areas->chip.width - m->box.x0, y = m->t->fixed[p] / m->t->areas->chip.width - m->box.y0;
    CM_TRY(add_own(m, CLASSES, 1, &pin, error));
    pin->of[pin->of_count++] = p;
    pin->at[pin->at_count++] = (cm_rectangle){x, y, x, y};
  }
  return CM_OK;
}

static cm_status make_constraints(making *m, cm_error *error)
{
  const cm_constraints *all = &m->t->areas->constraints;
  cm_status status = CM_NEW(m->memory, m->seen, m->t->parts->vertex_count, error);
  for (uint32_t i = 0; i < all->count && status == CM_OK; i++) {
    const cm_constraint *c = &all->constraint[i];
    cm_free(m->first);
    status = CM_NEW(m->memory, m->first, (size_t)c->of_count + c->to_count + 1, error);
    CM_THEN(status, add_constraint(m, i, error));
  }
  for (uint32_t p = 0; m->t->takes != NULL && p < m->p->node_count && status == CM_OK; p++)
    status = keep_kinds(m, p, error);
  return status == CM_OK ? fix(m, error) : status;
}

/* ---- answers ---- */

static cm_status not_found(const cm_related_task *t, cm_error *error)
{
  return cm_fail(error, CM_LIMIT_BROKEN, "no places were found for %u %s under the constraints and limits that they share, and whether there are any is unknown: a preset of more effort searches longer",
                 t->parts->vertex_count, t->takes != NULL ? "neurons" : "parts");
}

/* Which of the job's constraints a reason is about, and the first that is enough to leave out, in words. */
static cm_status refuse(const making *m, const cm_solution *s, cm_error *error)
{
  const cm_areas *areas = m->t->areas;
  uint32_t told = 0, last = UINT32_MAX, parts = 0;
  char words[400];
  if (s->answer == CM_UNKNOWN)
    return not_found(m->t, error);
  if (m->t->judge != NULL)
    return cm_fail(error, CM_LIMIT_BROKEN, "no mapping of these %u neurons keeps the constraints together with the limits of cores, routers and links: all were tried", m->p->node_count);
  for (uint32_t i = 0; i < m->p->node_count; i++)
    parts += s->reason.node[i];
  const bool neurons = m->t->takes != NULL;
  const char *s_of_many = parts == 1 ? "" : "s";
  (void)cm_fail(error, CM_LIMIT_BROKEN, "%u %s%s%s ha%s no place%s%s under ", parts, neurons ? "neuron" : "part", s_of_many, neurons ? "" : " of this partition", parts == 1 ? "s" : "ve", s_of_many,
                neurons ? " in any mapping" : "");
  for (uint32_t i = 0; i < m->p->constraints.count; i++) {
    if (!s->reason.constraint[i] || m->origin[i] == last)
      continue;
    last = m->origin[i];
    if (last == CLASSES)
      (void)snprintf(words, sizeof words, "what the classes of cores take");
    else
      cm_subjects_text(&areas->subjects, &areas->constraints, last, words, sizeof words);
    cm_fail_more(error, "%s%s", told++ > 0 ? " and " : "", words);
  }
  for (int l = neurons ? CM_TILE_NODES : CM_TILE_MEMORY; l < CM_TILE_LIMITS; l++)
    if (s->reason.limit[l])
      cm_fail_more(error, "%sthe %s that %s", told++ > 0 ? " and " : "", cm_resource_name(shared[l]),
                   !neurons ? "the cores of a router or die may take together" : l == CM_TILE_NODES ? "a core holds" : "a core, or those of a router or die, hold");
  cm_fail_more(error, "%s", told == 0 ? "the free cores of their classes" : "");
  uint32_t enough = 0;
  while (enough < m->p->constraints.count && (!s->reason.constraint[enough] || !s->reason.enough[enough] || m->origin[enough] == CLASSES))
    enough++;
  if (enough < m->p->constraints.count)
    cm_fail_more(error, "; without constraint %u all others can be kept", m->origin[enough] + 1);
  return error->status;
}

static cm_status make_problem(making *m, cm_error *error)
{
  if (CM_NEW(m->memory, m->p, 1, error) != CM_OK || make_tiles(m, error) != CM_OK || make_nodes(m, error) != CM_OK || make_nets(m, error) != CM_OK)
    return error->status;
  return make_constraints(m, error);
}

static cm_status judge_cores(void *context, const uint32_t *place, bool *good, cm_error *error)
{
  const making *m = context;
  for (uint32_t p = 0; p < m->p->node_count; p++)
    m->core[p] = core_of(m, place[p]);
  return m->t->judge(m->t->context, m->core, good, error);
}

/* Solves on a box; answer impossible: there are no places there, which on the whole chip is an error, as is that it is unknown. */
static cm_status place_in(making *m, bool whole, uint32_t *core, cm_solution *solution, cm_error *error)
{
  m->core = core;
  const cm_solve_request request = {.seed = m->t->seed, .effort = m->t->effort, .unexplained = !whole || m->t->judge != NULL, .judge = m->t->judge != NULL ? judge_cores : NULL, .context = m};
  CM_TRY(make_problem(m, error));
  CM_TRY(cm_solve(m->p, &request, m->t->run, solution, error));
  for (uint32_t p = 0; solution->answer == CM_POSSIBLE && p < m->p->node_count; p++)
    core[p] = core_of(m, solution->place[p]);
  return solution->answer != CM_POSSIBLE && whole ? refuse(m, solution, error) : CM_OK;
}

static void end(making *m, cm_solution *solution)
{
  cm_solution_clear(solution);
  cm_problem_free(m->p);
  CM_FREE(m->origin, m->part, m->first, m->seen);
}

cm_status cm_place_related(const cm_related_task *t, uint32_t *core, bool *optimal, cm_error *error)
{
  const cm_chip *chip = &t->areas->chip;
  making near = {.t = t, .memory = t->run->memory}, whole = near;
  cm_solution solution = {.answer = CM_UNKNOWN};
  whole.box = (cm_rectangle){0, 0, chip->width - 1, chip->height - 1};
  CM_TRY(cm_related_near(t, &near.box, error));
  const uint32_t across = near.box.x1 - near.box.x0 + 1, down = near.box.y1 - near.box.y0 + 1;
  const bool same = across == chip->width && down == chip->height && t->fixed == NULL;
  if ((uint64_t)across * down > CM_PROBLEM_TILES_MAX)
    return cm_fail(error, CM_TOO_LARGE, "constraints that relate neurons to each other are kept among at most %d cores: pins and %u parts need a box of %u by %u",
                   CM_PROBLEM_TILES_MAX, t->parts->vertex_count, across, down);
  cm_status status = place_in(&near, same, core, &solution, error);
  if (status == CM_OK && solution.answer != CM_POSSIBLE) {
    end(&near, &solution);
    near = (making){.t = t};
    status = cm_chip_cores(chip) <= CM_PROBLEM_TILES_MAX && t->fixed == NULL ? place_in(&whole, true, core, &solution, error) : not_found(t, error);
  }
  *optimal = solution.optimal && same;
  end(&near, &solution);
  end(&whole, &solution);
  return status;
}
