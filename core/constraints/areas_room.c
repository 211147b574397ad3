/* Whether pinned neurons have room, by a flow from choices to kinds of cores, of neurons and of synapses; else a set of constraints of which none can be left
 * out. What can fail: they have none; memory. */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "core/chip/reach.h"
#include "core/constraints/areas.h"
#include "core/limits/limits.h"

enum { NAMED_MAX = 4 };

/* Neurons that the same kinds take. */
typedef struct group {
  uint64_t takes, need;
  uint64_t flow[CM_KINDS_MAX];
  bool reached;
} group;

typedef struct room {
  const cm_areas *a;
  const cm_area_input *in;
  cm_run *run;
  uint32_t cores[CM_KINDS_MAX];         /* that are free, of each kind */
  uint64_t capacity[CM_KINDS_MAX], used[CM_KINDS_MAX];
  uint64_t *need;                    /* [choices] */
  group *group;                      /* [choices] */
  uint32_t groups;
  bool *out;                         /* [constraints] left out */
  uint64_t *takes;                   /* [choices] with those */
  bool *pinned;                      /* [choices] too */
  uint64_t short_kinds, short_need;  /* kinds and needs of a flow that does not fit */
  cm_resource resource;
} room;

/* What kinds take of each choice without what is left out, alike ones together. */
static void make_groups(room *r)
{
  const cm_areas *a = r->a;
  const uint64_t kept = cm_chip_pinned_kinds(&a->chip);
  r->groups = 0;
  for (uint32_t c = 0; c < a->choices; c++) {
    r->takes[c] = c == 0 ? ~UINT64_C(0) : r->takes[a->before[c]] & (r->out[a->by[c]] ? ~UINT64_C(0) : cm_area_of(a, a->by[c]));
    r->pinned[c] = c > 0 && (r->pinned[a->before[c]] || (!r->out[a->by[c]] && a->constraints.constraint[a->by[c]].kind == CM_PIN));
    if (r->need[c] == 0)
      continue;
    const uint64_t takes = r->takes[c] & ~(r->pinned[c] ? 0 : kept);
    uint32_t g = 0;
    while (g < r->groups && r->group[g].takes != takes)
      g++;
    if (g == r->groups)
      r->group[r->groups++] = (group){.takes = takes};
    r->group[g].need += r->need[c];
  }
  memset(r->used, 0, sizeof r->used);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
  return a < b ? a : b;
}

/* One way for more of a group, breadth first over kinds: from[k] is the kind that kind k is reached from, by[k] the group that leaves it for k. */
static bool augment(room *r, group *start, uint64_t *rest)
{
  const uint32_t kinds = cm_chip_kinds(&r->a->chip);
  uint32_t queue[CM_KINDS_MAX], from[CM_KINDS_MAX] = {0}, count = 0;
  group *by[CM_KINDS_MAX] = {NULL};
  uint64_t seen = 0;
  for (uint32_t g = 0; g < r->groups; g++)
    r->group[g].reached = &r->group[g] == start;
  for (uint32_t k = 0; k < kinds; k++)
    if ((start->takes >> k & 1) != 0 && r->cores[k] > 0) {
      seen |= UINT64_C(1) << k;
      from[k] = CM_KINDS_MAX;
      by[k] = start;
      queue[count++] = k;
    }
  for (uint32_t i = 0; i < count; i++) {
    uint32_t k = queue[i];
    if (r->used[k] < r->capacity[k]) {
      uint64_t amount = smaller(*rest, r->capacity[k] - r->used[k]);
      for (uint32_t at = k; from[at] != CM_KINDS_MAX; at = from[at])
        amount = smaller(amount, by[at]->flow[from[at]]);
      r->used[k] += amount;
      for (; from[k] != CM_KINDS_MAX; k = from[k]) {
        by[k]->flow[k] += amount;
        by[k]->flow[from[k]] -= amount;
      }
      start->flow[k] += amount;
      *rest -= amount;
      return true;
    }
    for (uint32_t g = 0; g < r->groups; g++) {
      r->group[g].reached = r->group[g].reached || r->group[g].flow[k] > 0;
      for (uint32_t to = 0; to < kinds && r->group[g].flow[k] > 0; to++)
        if ((r->group[g].takes >> to & 1) != 0 && (seen >> to & 1) == 0 && r->cores[to] > 0) {
          seen |= UINT64_C(1) << to;
          from[to] = k;
          by[to] = &r->group[g];
          queue[count++] = to;
        }
    }
  }
  r->short_kinds = seen;
  r->short_need = 0;
  for (uint32_t g = 0; g < r->groups; g++)
    r->short_need += r->group[g].reached ? r->group[g].need : 0;
  return false;
}

static bool fits(room *r)
{
  make_groups(r);
  for (uint32_t g = 0; g < r->groups; g++)
    for (uint64_t rest = r->group[g].need; rest > 0;)
      if (!augment(r, &r->group[g], &rest))
        return false;
  return true;
}

static cm_status count_cores(room *r, cm_error *error)
{
  const cm_chip *chip = &r->a->chip;
  uint8_t *usable;
  uint32_t ignored;
  CM_TRY(CM_NEW(r->run->memory, usable, cm_chip_cores(chip), error));
  cm_status status = cm_usable_cores(chip, r->in->occupancy, r->run->memory, usable, &ignored, error);
  for (uint32_t c = 0; c < cm_chip_cores(chip) && status == CM_OK; c++)
    r->cores[cm_chip_kind_of(chip, c)] += usable[c];
  cm_free(usable);
  return status;
}

/* What a neuron needs of the resource that is looked at; `synapses` NULL: of neurons. */
static uint64_t need_of(const room *r, const uint32_t *synapses, uint32_t neuron)
{
  if (cm_demand_is_outside(r->in->demand, neuron))
    return 0;
  return synapses != NULL ? synapses[neuron] : cm_demand_size(r->in->demand, neuron);
}

/* Whether neurons that share a core can: of each such cell what it needs, and the most that a core has. */
static cm_status check_whole(room *r, const uint64_t *need, cm_error *error)
{
  const cm_areas *a = r->a;
  uint64_t most = 0;
  for (uint32_t k = 0; k < cm_chip_kinds(&a->chip); k++)
    if (r->cores[k] > 0 && r->capacity[k] / r->cores[k] > most)
      most = r->capacity[k] / r->cores[k];
  for (uint32_t i = 0; i < a->constraints.count; i++) {
    const uint32_t cell = cm_cell_together(a, i);
    const uint64_t mine = cell != UINT32_MAX ? need[cell] : 0;
    char where[CM_JSON_PLACE_MAX], words[400];
    if (mine <= most)
      continue;
    cm_subjects_text(&a->subjects, &a->constraints, i, words, sizeof words);
    return cm_json_fail(error, CM_BAD_OPTION, cm_json_place(where, "/options/constraints/%u", i), "%s cannot be kept: a core holds %" PRIu64 " %s, and these have %" PRIu64, words,
                        most, cm_resource_name(r->resource), mine);
  }
  return CM_OK;
}

/* What each cell needs of the resource, where one has to share a core. */
static cm_status check_cells(room *r, const uint32_t *synapses, cm_error *error)
{
  uint64_t *need;
  if (!r->a->relations)
    return CM_OK;
  CM_TRY(CM_NEW(r->run->memory, need, r->a->cells, error));
  for (uint32_t v = 0; v < r->in->demand->network->vertex_count; v++)
    need[r->a->cell_of[v]] += need_of(r, synapses, v);
  cm_status status = check_whole(r, need, error);
  cm_free(need);
  return status;
}

/* What choices need and kinds have of a resource. */
static cm_status count_resource(room *r, cm_resource resource, cm_error *error)
{
  const uint32_t n = r->in->demand->network->vertex_count;
  const uint64_t most = r->in->part_size_max, unlimited = UINT64_MAX / CM_KINDS_MAX;
  uint32_t *synapses = NULL;
  r->resource = resource;
  if (resource == CM_SYNAPSES && (CM_NEW(r->run->memory, synapses, n, error) != CM_OK || cm_count_synapses(r->in->demand, r->run, synapses, error) != CM_OK)) {
    cm_free(synapses);
    return error->status;
  }
  memset(r->need, 0, r->a->choices * sizeof *r->need);
  for (uint32_t v = 0; v < n; v++)
    r->need[r->a->choice_of[v]] += need_of(r, synapses, v);
  for (uint32_t k = 0; k < cm_chip_kinds(&r->a->chip); k++) {
    uint64_t limit = cm_limit(cm_chip_kind_limits(&r->a->chip, k), resource);
    if (resource == CM_NEURONS && most > 0)
      limit = limit > 0 ? smaller(limit, most) : most;
    r->capacity[k] = r->cores[k] == 0 ? 0 : limit == 0 ? unlimited : smaller(unlimited, limit * r->cores[k]);
  }
  cm_status status = check_cells(r, synapses, error);
  cm_free(synapses);
  return status;
}

/* Names what is left, which cannot be kept together. */
static cm_status refuse(const room *r, cm_error *error)
{
  const cm_constraints *all = &r->a->constraints;
  uint32_t first = UINT32_MAX, count = 0, cores = 0, named = 0;
  uint64_t capacity = 0;
  char where[CM_JSON_PLACE_MAX], words[400];
  for (uint32_t i = 0; i < all->count; i++) {
    first = !r->out[i] && first == UINT32_MAX ? i : first;
    count += !r->out[i];
  }
  for (uint32_t k = 0; k < cm_chip_kinds(&r->a->chip); k++)
    if ((r->short_kinds >> k & 1) != 0) {
      cores += r->cores[k];
      capacity += r->capacity[k];
    }
  (void)cm_json_fail(error, CM_BAD_OPTION, cm_json_place(where, "/options/constraints/%u", first), "%s", "");
  for (uint32_t i = 0; i < all->count; i++) {
    if (r->out[i] || named++ >= NAMED_MAX)
      continue;
    cm_subjects_text(&r->a->subjects, all, i, words, sizeof words);
    cm_fail_more(error, "%s%s", named == 1 ? "" : named == count ? " and " : ", ", words);
  }
  if (named > NAMED_MAX)
    cm_fail_more(error, " and %u more", named - NAMED_MAX);
  cm_fail_more(error, " cannot be kept%s: ", count > 1 ? " together" : "");
  if (cores == 0)
    cm_fail_more(error, "%" PRIu64 " %s have no free core; name others", r->short_need, cm_resource_name(r->resource));
  else
    cm_fail_more(error, "%" PRIu64 " %s have %u free core%s, which hold%s %" PRIu64 ": %" PRIu64 " too many", r->short_need, cm_resource_name(r->resource), cores,
                 cores == 1 ? "" : "s", cores == 1 ? "s" : "", capacity, r->short_need - capacity);
  return error->status;
}

/* Leaves out what can be, the last one first, and names the rest. */
static cm_status explain(room *r, cm_error *error)
{
  const uint32_t count = r->a->constraints.count;
  memset(r->out, 1, count * sizeof *r->out);
  if (!fits(r)) /* nor does the network without any */
    return CM_OK;
  memset(r->out, 0, count * sizeof *r->out);
  for (uint32_t i = count; i-- > 0;) {
    r->out[i] = true;
    r->out[i] = !fits(r);
  }
  (void)fits(r);
  return refuse(r, error);
}

cm_status cm_areas_check_room(const cm_areas *areas, const cm_area_input *input, cm_run *run, cm_error *error)
{
  room r = {.a = areas, .in = input, .run = run};
  const cm_resource resources[] = {CM_NEURONS, CM_SYNAPSES};
  cm_status status = count_cores(&r, error);
  if (status == CM_OK && (CM_NEW(run->memory, r.need, areas->choices, error) != CM_OK || CM_NEW(run->memory, r.group, areas->choices, error) != CM_OK ||
                          CM_NEW(run->memory, r.takes, areas->choices, error) != CM_OK || CM_NEW(run->memory, r.pinned, areas->choices, error) != CM_OK || CM_NEW(run->memory, r.out, areas->constraints.count, error) != CM_OK))
    status = error->status;
  for (size_t i = 0; i < sizeof resources / sizeof *resources && status == CM_OK; i++) {
    status = count_resource(&r, resources[i], error);
    memset(r.out, 0, areas->constraints.count * sizeof *r.out);
    CM_THEN_IF(status, !fits(&r), explain(&r, error));
  }
  CM_FREE(r.need, r.group, r.takes, r.pinned, r.out);
  return status;
}
