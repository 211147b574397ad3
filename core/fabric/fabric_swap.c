#include "base/annealing.h"
#include "base/order.h"
#include "core/fabric/fabric_placing.h"

/* Chips that a family's pairs are counted between: of more, all are near all anyway. Swaps that are tried for each chip while it anneals, from and to which shares of what a chip sends. */
enum { PAIRS_MAX = 4096, ROUNDS_MAX = 32, PARTNERS_MAX = 8, FEW_PARTNERS = 64, TRIES = 800 };
static const double hot = 0.2, coldest = 0.02;

typedef struct pair {
  uint64_t key; /* from << 32 | to */
  uint64_t weight;
} pair;

typedef struct swapping {
  cm_fabric_placing *p;
  cm_memory *account;
  pair *pair;           /* both ways, by `from`, then the heaviest first */
  uint64_t count, capacity;
  uint64_t *first;      /* [chips + 1] */
  uint32_t *place;      /* [chips]: where what stood on a chip stands now */
  uint32_t *stands;     /* [chips]: what stands there, by the chip that it stood on */
  bool *pinned;         /* [chips] */
  uint32_t *used_cores; /* [chips]: of what stood there */
  uint64_t *used_memory;
  uint32_t *seen, *pins, stamp; /* [chips] */
  uint64_t taken, skipped; /* targets times sources of nets that pairs were counted of, and of others */
  cm_random random;
} swapping;

static cm_status add_pair(swapping *s, uint32_t from, uint32_t to, uint64_t weight, cm_error *error)
{
  if (from == to)
    return CM_OK;
  CM_TRY(CM_ROOM(s->account, s->pair, &s->capacity, s->count + 2, error));
  s->pair[s->count++] = (pair){.key = (uint64_t)from << 32 | to, .weight = weight};
  s->pair[s->count++] = (pair){.key = (uint64_t)to << 32 | from, .weight = weight};
  return CM_OK;
}

/* Of the targets of a net the chip that has most of them; the source's, where it has any. */
static uint32_t main_chip(swapping *s, uint32_t net, uint32_t from)
{
  const cm_fabric_nets *nets = s->p->nets;
  uint32_t most = 0, best = from;
  s->stamp++;
  for (uint64_t k = nets->first[net]; k < nets->source[net]; k++) {
    const uint32_t to = s->p->chip[nets->pin[k]];
    if (to == from)
      return from;
    s->pins[to] = s->seen[to] == s->stamp ? s->pins[to] + 1 : 1;
    s->seen[to] = s->stamp;
    if (s->pins[to] > most) {
      most = s->pins[to];
      best = to;
    }
  }
  return best;
}

/* Sources of a net by turns, since one entry of a chip serves all that come by; from each chip with a source to the chip with most targets, and on from there to the others, once for a net
 * of one source: as a tree goes. */
static cm_status add_net(swapping *s, uint32_t net, cm_error *error)
{
  const cm_fabric_nets *nets = s->p->nets;
  const uint64_t targets = nets->source[net] - nets->first[net], sources = nets->first[net + 1] - nets->source[net];
  if (targets * sources > PAIRS_MAX) {
    s->skipped += targets * sources;
    return CM_OK;
  }
  s->taken += targets * sources;
  for (uint64_t i = nets->source[net] + 1; i < nets->first[net + 1]; i++)
    CM_TRY(add_pair(s, s->p->chip[nets->pin[i - 1]], s->p->chip[nets->pin[i]], sources + sources / 2, error));
  for (uint64_t i = nets->source[net]; i < nets->first[net + 1]; i++) {
    const uint32_t from = s->p->chip[nets->pin[i]], over = main_chip(s, net, from);
    CM_TRY(add_pair(s, from, over, 1, error));
    s->stamp++;
    for (uint64_t k = nets->first[net]; k < nets->source[net]; k++) {
      const uint32_t to = s->p->chip[nets->pin[k]];
      if (s->seen[to] == s->stamp)
        continue;
      s->seen[to] = s->stamp;
      CM_TRY(add_pair(s, over, to, 1, error));
    }
  }
  return CM_OK;
}

CM_ORDER(by_key, pair, CM_RISING(key))

static int by_weight(const void *a, const void *b)
{
  const pair *x = a, *y = b;
  return x->weight != y->weight ? (x->weight < y->weight) - (x->weight > y->weight) : by_key(a, b);
}

static void merge_pairs(swapping *s, uint32_t chips)
{
  uint64_t kept = 0;
  if (s->count > 0)
    qsort(s->pair, s->count, sizeof *s->pair, by_key);
  for (uint64_t i = 0; i < s->count; i++)
    if (kept > 0 && s->pair[kept - 1].key == s->pair[i].key)
      s->pair[kept - 1].weight += s->pair[i].weight;
    else
      s->pair[kept++] = s->pair[i];
  s->count = kept;
  for (uint64_t i = 0; i < kept; i++)
    s->first[(s->pair[i].key >> 32) + 1]++;
  for (uint32_t c = 0; c < chips; c++) {
    s->first[c + 1] += s->first[c];
    if (s->first[c + 1] > s->first[c])
      qsort(s->pair + s->first[c], s->first[c + 1] - s->first[c], sizeof *s->pair, by_weight);
  }
}

/* What changes where `what` moves to a place; flows to `other` stay as long as they are. */
static int64_t moved(const swapping *s, uint32_t what, uint32_t to, uint32_t other)
{
  int64_t change = 0;
  for (uint64_t i = s->first[what]; i < s->first[what + 1]; i++) {
    const uint32_t partner = (uint32_t)s->pair[i].key, at = s->place[partner];
    if (partner != other)
      change += (int64_t)s->pair[i].weight * ((int64_t)cm_fabric_distance(s->p->f, to, at) - (int64_t)cm_fabric_distance(s->p->f, s->place[what], at));
  }
  return change;
}

static bool may_stand(const swapping *s, uint32_t what, uint32_t place)
{
  return s->used_cores[what] <= s->p->f->cores[place] && s->used_memory[what] <= s->p->f->memory[place];
}

/* Swaps what stands on a chip with what stands on another where that is better, or is taken at this temperature. */
static bool try_swap(swapping *s, uint32_t what, uint32_t to, double temperature)
{
  const uint32_t from = s->place[what], other = s->stands[to];
  if (to == from || s->pinned[other] || !may_stand(s, what, to) || !may_stand(s, other, from))
    return false;
  const int64_t change = moved(s, what, to, other) + moved(s, other, from, what);
  if (temperature > 0 ? !cm_metropolis(&s->random, (double)change, temperature, CM_HOPELESS) : change >= 0)
    return false;
  s->place[what] = to;
  s->place[other] = from;
  s->stands[to] = what;
  s->stands[from] = other;
  return true;
}

/* Beside each of its heaviest partners. */
static uint64_t improve(swapping *s, uint32_t what)
{
  uint64_t swaps = 0;
  for (uint64_t i = s->first[what]; i < s->first[what + 1] && i < s->first[what] + PARTNERS_MAX; i++) {
    const uint32_t at = s->place[(uint32_t)s->pair[i].key];
    for (unsigned link = 0; link < CM_FABRIC_LINKS; link++)
      if (s->p->f->links[at] >> link & 1)
        swaps += try_swap(s, what, cm_fabric_neighbour(s->p->f, at, link), 0);
  }
  return swaps;
}

/* Chips that talk, in turn, each beside one of its partners. */
static cm_status anneal(swapping *s, cm_run *run, cm_error *error)
{
  const uint32_t chips = cm_fabric_chips(s->p->f);
  uint64_t total = 0, talking = 0;
  for (uint64_t i = 0; i < s->count; i++)
    total += s->pair[i].weight;
  for (uint32_t c = 0; c < chips; c++)
    talking += s->first[c + 1] > s->first[c];
  const double warm = talking > 0 ? hot * (double)total / (double)talking : 0;
  for (unsigned t = 0; t < TRIES && talking > 0; t++) {
    const double temperature = cm_cooled(warm, coldest, (double)t / TRIES);
    for (uint32_t c = 0; c < chips; c++) {
      const uint64_t partners = s->first[c + 1] - s->first[c];
      if (partners == 0 || partners > FEW_PARTNERS || s->pinned[c])
        continue;
      const uint64_t draw = cm_random_next(&s->random);
      const uint32_t at = s->place[(uint32_t)s->pair[s->first[c] + (draw >> 8) % partners].key];
      const unsigned link = (unsigned)(draw & 255) % CM_FABRIC_LINKS;
      if (s->p->f->links[at] >> link & 1)
        try_swap(s, c, cm_fabric_neighbour(s->p->f, at, link), temperature);
    }
    CM_TRY(cm_run_check(run, error));
  }
  return CM_OK;
}

static void stand(swapping *s)
{
  const cm_fabric_groups *groups = s->p->groups;
  for (uint32_t c = 0; c < cm_fabric_chips(s->p->f); c++)
    s->place[c] = s->stands[c] = c;
  for (uint32_t g = 0; g < groups->count; g++) {
    s->pinned[s->p->chip[g]] |= groups->pin[g] != CM_NO_CHIP;
    s->used_cores[s->p->chip[g]] += groups->cores[g];
    s->used_memory[s->p->chip[g]] += groups->memory[g];
  }
}

static cm_status swap_all(swapping *s, cm_run *run, cm_error *error)
{
  const uint32_t chips = cm_fabric_chips(s->p->f);
  stand(s);
  for (uint32_t net = 0; net < s->p->nets->count; net++)
    CM_TRY(add_net(s, net, error));
  if (s->skipped > s->taken) /* most goes between chips that are all near all: the order that chips were filled in is worth more */
    return CM_OK;
  merge_pairs(s, chips);
  cm_random_init(&s->random, 1, 0, 0);
  CM_TRY(anneal(s, run, error));
  uint64_t swaps = 1;
  for (unsigned round = 0; round < ROUNDS_MAX && swaps > 0; round++) {
    swaps = 0;
    for (uint32_t c = 0; c < chips; c++)
      swaps += s->pinned[c] ? 0 : improve(s, c);
    CM_TRY(cm_run_check(run, error));
  }
  for (uint32_t g = 0; g < s->p->groups->count; g++)
    s->p->chip[g] = s->place[s->p->chip[g]];
  return CM_OK;
}

cm_status cm_fabric_swap(cm_fabric_placing *p, cm_run *run, cm_error *error)
{
  const uint32_t chips = cm_fabric_chips(p->f);
  cm_memory *memory = run->memory;
  swapping s = {.p = p, .account = memory};
  cm_status status = CM_NEW(memory, s.first, (size_t)chips + 1, error);
  CM_THEN(status, CM_NEW_ALL(memory, error, CM_ARRAY(s.place, chips), CM_ARRAY(s.stands, chips), CM_ARRAY(s.pinned, chips),
                             CM_ARRAY(s.used_cores, chips), CM_ARRAY(s.used_memory, chips), CM_ARRAY(s.seen, chips),
                             CM_ARRAY(s.pins, chips)));
  CM_THEN(status, swap_all(&s, run, error));
  CM_FREE(s.pair, s.first, s.place, s.stands, s.pinned, s.used_cores, s.used_memory, s.seen, s.pins);
  return status;
}
