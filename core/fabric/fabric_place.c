#include "core/fabric/fabric_place.h"

#include "base/order.h"
#include "core/fabric/fabric_placing.h"

typedef struct placing {
  cm_fabric_placing base;
  uint32_t *home;   /* [groups]: where it is to be, or near */
  uint32_t *order;  /* groups, the largest first */
  uint32_t *seen, *queue, search;
} placing;

static cm_status put_pinned(placing *p, cm_error *error)
{
  for (uint32_t g = 0; g < p->base.groups->count; g++) {
    const uint32_t pin = p->base.groups->pin[g];
    if (pin == CM_NO_CHIP)
      continue;
    if (pin >= cm_fabric_chips(p->base.f))
      return cm_fail(error, CM_BAD_NETWORK, "group %u is to be on chip number %u, and there are %u", g, pin, cm_fabric_chips(p->base.f));
    if (!cm_fabric_fits(&p->base, g, pin))
      return cm_fail(error, CM_NO_ROOM, "chip %u, %u has %u cores and %llu bytes free, and group %u, which is fixed to it, takes %u and %llu", pin % p->base.f->width, pin / p->base.f->width,
                     p->base.cores[pin], (unsigned long long)p->base.memory[pin], g, p->base.groups->cores[g], (unsigned long long)p->base.groups->memory[g]);
    cm_fabric_put(&p->base, g, pin);
  }
  return CM_OK;
}

/* The nearest chip with room, over working links; CM_NO_CHIP: none. */
static uint32_t nearest_room(placing *p, uint32_t group, uint32_t from)
{
  uint32_t end = 1;
  p->queue[0] = from;
  p->seen[from] = ++p->search;
  for (uint32_t at = 0; at < end; at++) {
    const uint32_t chip = p->queue[at];
    if (cm_fabric_fits(&p->base, group, chip))
      return chip;
    for (unsigned link = 0; link < CM_FABRIC_LINKS; link++) {
      const uint32_t to = cm_fabric_neighbour(p->base.f, chip, link);
      if (p->base.f->links[chip] >> link & 1 && p->seen[to] != p->search) {
        p->seen[to] = p->search;
        p->queue[end++] = to;
      }
    }
  }
  return CM_NO_CHIP;
}

typedef struct ranked {
  uint64_t memory;
  uint32_t cores, group;
} ranked;

CM_ORDER(larger_first, ranked, CM_FALLING(cores) CM_FALLING(memory) CM_RISING(group))

static cm_status order_groups(placing *p, cm_memory *memory, cm_error *error)
{
  ranked *list;
  const uint32_t count = p->base.groups->count;
  CM_TRY(CM_NEW(memory, list, count, error));
  for (uint32_t g = 0; g < count; g++)
    list[g] = (ranked){.memory = p->base.groups->memory[g], .cores = p->base.groups->cores[g], .group = g};
  if (count > 1)
    qsort(list, count, sizeof *list, larger_first);
  for (uint32_t i = 0; i < count; i++)
    p->order[i] = list[i].group;
  cm_free(list);
  return CM_OK;
}

/* Those that may stay where they are to be do, so that none is driven out by one that must go anyway. */
static void put_at_home(placing *p)
{
  for (uint32_t i = 0; i < p->base.groups->count; i++) {
    const uint32_t g = p->order[i];
    if (p->base.chip[g] == CM_NO_CHIP && cm_fabric_fits(&p->base, g, p->home[g]))
      cm_fabric_put(&p->base, g, p->home[g]);
  }
}

static cm_status put_near(placing *p, cm_error *error)
{
  const cm_fabric_groups *groups = p->base.groups;
  for (uint32_t i = 0; i < groups->count; i++) {
    const uint32_t g = p->order[i];
    if (p->base.chip[g] != CM_NO_CHIP)
      continue;
    const uint32_t chip = nearest_room(p, g, p->home[g]);
    if (chip == CM_NO_CHIP)
      return cm_fail(error, CM_NO_ROOM, "group %u takes %u cores and %llu bytes of one chip, and no chip has as much left", g, groups->cores[g],
                     (unsigned long long)groups->memory[g]);
    cm_fabric_put(&p->base, g, chip);
  }
  return CM_OK;
}

static cm_status begin(placing *p, cm_error *error)
{
  const uint32_t chips = cm_fabric_chips(p->base.f);
  memcpy(p->base.cores, p->base.f->cores, chips * sizeof *p->base.cores);
  memcpy(p->base.memory, p->base.f->memory, chips * sizeof *p->base.memory);
  for (uint32_t g = 0; g < p->base.groups->count; g++)
    p->base.chip[g] = CM_NO_CHIP;
  return put_pinned(p, error);
}

/* The first chip with cores from the middle on, by number. */
static uint32_t middle(const cm_chip_grid *f)
{
  const uint32_t chips = cm_fabric_chips(f), half = f->height / 2 * f->width + f->width / 2;
  for (uint32_t i = 0; i < chips; i++)
    if (f->cores[(half + i) % chips] > 0)
      return (half + i) % chips;
  return half;
}

/* Where the first vertex of each group is to be. */
static cm_status find_homes(placing *p, const uint32_t *start, uint32_t vertices, cm_error *error)
{
  const uint32_t anywhere = middle(p->base.f);
  for (uint32_t g = 0; g < p->base.groups->count; g++)
    p->home[g] = anywhere;
  for (uint32_t v = vertices; start != NULL && v-- > 0;) {
    if (start[v] >= cm_fabric_chips(p->base.f))
      return cm_fail(error, CM_BAD_NETWORK, "vertex %u starts on chip number %u, and there are %u", v, start[v], cm_fabric_chips(p->base.f));
    p->home[p->base.groups->of[v]] = start[v];
  }
  return CM_OK;
}

/* By homes: who may stays, who cannot comes near. */
static cm_status put_by_homes(placing *p, cm_error *error)
{
  put_at_home(p);
  const cm_status status = put_near(p, error);
  if (status != CM_NO_ROOM)
    return status;
  return begin(p, error) == CM_OK ? put_near(p, error) : error->status; /* the largest first, wherever they are to be, packs closest */
}

/* How groups get chips before whole chips are swapped, in the order in which each is held against the best before. */
typedef enum filling_way { ALONG_CURVE, IN_BANDS, BY_FLOWS, WAYS } filling_way;

static cm_status put_one_way(placing *p, const cm_flows *flows, filling_way way, cm_run *run, cm_error *error)
{
  CM_TRY(begin(p, error));
  const cm_status status = way == BY_FLOWS ? cm_fabric_fill(&p->base, run, error) : cm_fabric_lay(&p->base, flows, way == IN_BANDS, run, error);
  return status == CM_OK ? put_near(p, error) : status;
}

/* Of two orders of chips the shorter is better; else what has less of chips reached times ways out squared: entries are what tables are full of. */
static bool is_better(filling_way way, const cm_fabric_cost *cost, const cm_fabric_cost *best)
{
  if (way == IN_BANDS)
    return cost->length < best->length;
  const double a = (double)cost->ways, b = (double)best->ways;
  return (double)cost->reached * a * a < (double)best->reached * b * b;
}

/* Keeps the best in best [groups]; a way that finds no room is left out, as long as another does. */
static cm_status put_best_way(placing *p, const cm_flows *flows, uint32_t *best, cm_run *run, cm_error *error)
{
  const size_t bytes = p->base.groups->count * sizeof *best;
  cm_fabric_cost cost, least = {0};
  bool any = false;
  for (filling_way way = 0; way < WAYS; way++) {
    cm_status status = put_one_way(p, flows, way, run, error);
    if (status == CM_NO_ROOM)
      continue;
    CM_THEN(status, cm_fabric_cost_of(&p->base, run, &cost, error));
    CM_TRY(status);
    if (any && !is_better(way, &cost, &least))
      continue;
    memcpy(best, p->base.chip, bytes);
    least = cost;
    any = true;
  }
  if (!any) /* the largest first, wherever they are to be, packs closest */
    return begin(p, error) == CM_OK ? put_near(p, error) : error->status;
  memcpy(p->base.chip, best, bytes);
  return CM_OK;
}

/* By flows: the best way to fill chips, then whole chips against each other. */
static cm_status put_by_flows(placing *p, const cm_flows *flows, cm_run *run, cm_error *error)
{
  cm_fabric_nets nets;
  uint32_t *best;
  CM_TRY(cm_fabric_nets_make(flows, p->base.groups, run->memory, &nets, error));
  p->base.nets = &nets;
  cm_status status = CM_NEW(run->memory, best, p->base.groups->count, error);
  if (status == CM_OK) {
    status = put_best_way(p, flows, best, run, error);
    cm_free(best);
  }
  CM_THEN(status, cm_fabric_swap(&p->base, run, error));
  cm_fabric_nets_free(&nets);
  return status;
}

static cm_status place(placing *p, const cm_flows *flows, const uint32_t *start, cm_run *run, cm_error *error)
{
  const uint32_t chips = cm_fabric_chips(p->base.f), groups = p->base.groups->count;
  cm_memory *memory = run->memory;
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(p->base.cores, chips), CM_ARRAY(p->base.memory, chips), CM_ARRAY(p->seen, chips),
                    CM_ARRAY(p->queue, chips), CM_ARRAY(p->order, groups), CM_ARRAY(p->home, groups)));
  CM_TRY(order_groups(p, memory, error));
  CM_TRY(find_homes(p, start, flows->vertices, error));
  CM_TRY(begin(p, error));
  return start != NULL ? put_by_homes(p, error) : put_by_flows(p, flows, run, error);
}

cm_status cm_fabric_place(const cm_flows *flows, const cm_fabric_groups *groups, const uint32_t *start, cm_run *run, uint32_t *chip, cm_error *error)
{
  placing p = {.base = {.f = flows->fabric, .groups = groups}};
  cm_status status = cm_flows_check(flows, error);
  for (uint32_t v = 0; status == CM_OK && v < flows->vertices; v++)
    if (groups->of[v] >= groups->count)
      status = cm_fail(error, CM_BAD_NETWORK, "vertex %u is of group %u, and there are %u", v, groups->of[v], groups->count);
  CM_THEN(status, CM_NEW(run->memory, p.base.chip, groups->count, error));
  CM_THEN(status, place(&p, flows, start, run, error));
  if (status == CM_OK && groups->count > 0)
    memcpy(chip, p.base.chip, groups->count * sizeof *chip);
  CM_FREE(p.base.chip, p.base.cores, p.base.memory, p.home, p.order, p.seen, p.queue);
  return status;
}
