#include "base/order.h"
#include "core/fabric/fabric_placing.h"

/* Sharing a target set spares an entry and a link for each sender, a flow a link alone; what stands on the chip counts more than what stands elsewhere. */
enum { TARGETS_WEIGHT = 8, FLOW_WEIGHT = 1, HERE_WEIGHT = 16, MISSES_MAX = 16 };

typedef struct candidate {
  uint64_t key;
  uint32_t group;
} candidate;

typedef struct filling {
  cm_fabric_placing *p;
  cm_memory *account;
  uint64_t *here, *pull;           /* [groups] */
  uint32_t *flow_seen, *targets_seen; /* [nets]: the turn in which a chip touched it last */
  uint32_t *touched, turn;         /* groups whose `here` is not 0 */
  uint64_t touched_count;
  uint32_t next;                   /* groups before this one have been taken up */
  candidate *heap;
  uint64_t heap_count, heap_capacity;
  uint64_t *order;                 /* chips along the curve, in the lower half */
  uint32_t *pinned_first, *pinned, pinned_count; /* groups that have a chip already, by chip */
} filling;

static bool before(const candidate *a, const candidate *b)
{
  return a->key != b->key ? a->key > b->key : a->group < b->group;
}

static uint64_t key_of(const filling *f, uint32_t group)
{
  return HERE_WEIGHT * f->here[group] + f->pull[group];
}

static cm_status push(filling *f, uint32_t group, cm_error *error)
{
  CM_TRY(CM_ROOM(f->account, f->heap, &f->heap_capacity, f->heap_count + 1, error));
  const candidate made = {.key = key_of(f, group), .group = group};
  uint64_t at = f->heap_count++;
  for (; at > 0 && before(&made, &f->heap[(at - 1) / 2]); at = (at - 1) / 2)
    f->heap[at] = f->heap[(at - 1) / 2];
  f->heap[at] = made;
  return CM_OK;
}

static candidate pop(filling *f)
{
  const candidate top = f->heap[0], last = f->heap[--f->heap_count];
  uint64_t at = 0;
  for (uint64_t child = 1; child < f->heap_count; child = 2 * at + 1) {
    if (child + 1 < f->heap_count && before(&f->heap[child + 1], &f->heap[child]))
      child++;
    if (!before(&f->heap[child], &last))
      break;
    f->heap[at] = f->heap[child];
    at = child;
  }
  f->heap[at] = last;
  return top;
}

static cm_status raise_pins(filling *f, uint64_t begin, uint64_t end, uint64_t weight, cm_error *error)
{
  for (uint64_t i = begin; i < end; i++) {
    const uint32_t group = f->p->nets->pin[i];
    if (f->p->chip[group] != CM_NO_CHIP)
      continue;
    if (f->here[group] == 0)
      f->touched[f->touched_count++] = group;
    f->here[group] += weight;
    f->pull[group] += weight;
    CM_TRY(push(f, group, error));
  }
  return CM_OK;
}

/* What a group on the chip of this turn pulls there. */
static cm_status pull_others(filling *f, uint32_t group, cm_error *error)
{
  const cm_fabric_nets *nets = f->p->nets;
  for (uint64_t i = nets->of_first[group]; i < nets->of_first[group + 1]; i++) {
    const uint32_t net = nets->of[i] / 2;
    const bool source = nets->of[i] & 1;
    if (!cm_fabric_net_pulls(nets, net))
      continue;
    if (f->flow_seen[net] != f->turn) {
      f->flow_seen[net] = f->turn;
      CM_TRY(raise_pins(f, nets->first[net], nets->first[net + 1], (uint64_t)FLOW_WEIGHT * nets->weight[net], error));
    }
    if (!source && f->targets_seen[net] != f->turn) {
      f->targets_seen[net] = f->turn;
      CM_TRY(raise_pins(f, nets->first[net], nets->source[net], (uint64_t)TARGETS_WEIGHT * nets->weight[net], error));
    }
  }
  return CM_OK;
}

/* The group that is pulled most, or the first that nobody pulls; the count: none is left. Where nothing on the chip pulls it, the first of the run of pulled groups that it lies in: a
 * population begins at its beginning. */
static cm_status choose(filling *f, uint32_t *group, cm_error *error)
{
  const uint32_t *chip = f->p->chip, count = f->p->groups->count;
  while (f->heap_count > 0) {
    const candidate top = pop(f);
    uint32_t begin = top.group;
    if (chip[begin] != CM_NO_CHIP || top.key != key_of(f, begin))
      continue;
    while (f->here[begin] == 0 && begin > 0 && chip[begin - 1] == CM_NO_CHIP && f->pull[begin - 1] > 0 && f->here[begin - 1] == 0)
      begin--;
    *group = begin;
    return begin == top.group ? CM_OK : push(f, top.group, error);
  }
  while (f->next < count && (chip[f->next] != CM_NO_CHIP || f->pull[f->next] > 0))
    f->next++;
  *group = f->next < count ? f->next++ : count;
  return CM_OK;
}

/* What was pulled to the chip of this turn is no longer; what missed it may come to the next. */
static cm_status end_turn(filling *f, const uint32_t *missed, uint32_t misses, cm_error *error)
{
  for (uint64_t i = 0; i < f->touched_count; i++) {
    f->here[f->touched[i]] = 0;
    if (f->p->chip[f->touched[i]] == CM_NO_CHIP && push(f, f->touched[i], error) != CM_OK)
      return error->status;
  }
  f->touched_count = 0;
  for (uint32_t i = 0; i < misses; i++)
    CM_TRY(push(f, missed[i], error));
  return CM_OK;
}

static cm_status fill_chip(filling *f, uint32_t chip, cm_error *error)
{
  uint32_t missed[MISSES_MAX], misses = 0;
  f->turn++;
  for (uint32_t i = f->pinned_first[chip]; i < f->pinned_first[chip + 1]; i++)
    CM_TRY(pull_others(f, f->pinned[i], error));
  while (f->p->cores[chip] > 0 && misses < MISSES_MAX) {
    uint32_t group;
    CM_TRY(choose(f, &group, error));
    if (group == f->p->groups->count)
      break;
    if (!cm_fabric_fits(f->p, group, chip)) {
      missed[misses++] = group;
      continue;
    }
    cm_fabric_put(f->p, group, chip);
    CM_TRY(pull_others(f, group, error));
  }
  return end_turn(f, missed, misses, error);
}

static void list_pinned(filling *f)
{
  const cm_fabric_placing *p = f->p;
  const uint32_t chips = cm_fabric_chips(p->f);
  uint32_t *first = f->pinned_first;
  for (uint32_t g = 0; g < p->groups->count; g++)
    if (p->chip[g] != CM_NO_CHIP)
      first[p->chip[g] + 1]++;
  for (uint32_t c = 0; c < chips; c++)
    first[c + 1] += first[c];
  for (uint32_t g = p->groups->count; g-- > 0;)
    if (p->chip[g] != CM_NO_CHIP)
      f->pinned[--first[p->chip[g] + 1]] = g;
  for (uint32_t c = 0; c < chips; c++)
    first[c] = first[c + 1];
  first[chips] = f->pinned_count;
}

static cm_status fill_all(filling *f, cm_run *run, cm_error *error)
{
  cm_fabric_order_chips(f->p->f, 0, f->order);
  list_pinned(f);
  for (uint32_t i = 0; i < cm_fabric_chips(f->p->f); i++)
    if (fill_chip(f, (uint32_t)f->order[i], error) != CM_OK || ((i & 255) == 0 && cm_run_check(run, error) != CM_OK))
      return error->status;
  return CM_OK;
}

cm_status cm_fabric_fill(cm_fabric_placing *p, cm_run *run, cm_error *error)
{
  filling f = {.p = p, .account = run->memory};
  const uint32_t chips = cm_fabric_chips(p->f), groups = p->groups->count;
  for (uint32_t g = 0; g < groups; g++)
    f.pinned_count += p->chip[g] != CM_NO_CHIP;
  cm_status status = CM_NEW(run->memory, f.here, groups, error);
  CM_THEN(status, CM_NEW_ALL(run->memory, error, CM_ARRAY(f.pull, groups), CM_ARRAY(f.touched, groups),
                             CM_ARRAY(f.flow_seen, p->nets->count), CM_ARRAY(f.targets_seen, p->nets->count),
                             CM_ARRAY(f.order, chips), CM_ARRAY(f.pinned_first, (size_t)chips + 1),
                             CM_ARRAY(f.pinned, f.pinned_count)));
  CM_THEN(status, fill_all(&f, run, error));
  CM_FREE(f.here, f.pull, f.touched, f.flow_seen, f.targets_seen, f.heap, f.order, f.pinned_first, f.pinned);
  return status;
}
