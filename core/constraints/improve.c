/* Annealing and neighbourhoods under constraints. What can fail: memory, being cancelled. */
#include "core/constraints/improve.h"

#include <string.h>

#include "base/annealing.h"

enum { STREAM = 0x706c6163, ANNEAL = 1, AROUND = 2, TRIALS = 4, PROBES = 200, FREED = 6, DECISIONS_AROUND = 400 };
static const uint64_t WORK_A_ROUND = 1000000; /* in the mean, at most */
static const double COLDEST = 1e-3; /* of the hottest */

typedef struct annealing {
  const cm_place_model *m;
  cm_random random;
  uint32_t *place;
  uint64_t **used;          /* [packings][buckets] */
  uint32_t *first_in, *packing_in, *slot_in; /* as of cm_state */
  uint32_t *first_on, *next_on; /* variables on a tile: a list [tiles], [variables] */
  uint32_t *stamp, now;     /* [nets] */
  uint64_t *seen, *members; /* [words] */
  uint32_t *flood;
  uint32_t *load;           /* of circuits; NULL: they are not limited */
  int64_t excess;           /* of these that are too many, */
  double dear;              /* and what one costs */
} annealing;

/* ---- legality ---- */

static void lift(annealing *a, uint32_t v)
{
  uint32_t *at = &a->first_on[a->place[v]];
  while (*at != v)
    at = &a->next_on[*at];
  *at = a->next_on[v];
}

static void put(annealing *a, uint32_t v, uint32_t tile)
{
  a->place[v] = tile;
  a->next_on[v] = a->first_on[tile];
  a->first_on[tile] = v;
}

static void move(annealing *a, uint32_t v, uint32_t tile)
{
  for (uint32_t i = a->first_in[v]; i < a->first_in[v + 1]; i++) {
    const cm_packing *p = &a->m->packing[a->packing_in[i]];
    const uint32_t *label = a->m->label[p->scope];
    const uint64_t need = p->need[a->slot_in[i]];
    a->used[a->packing_in[i]][label[a->place[v]]] -= need;
    a->used[a->packing_in[i]][label[tile]] += need;
  }
  lift(a, v);
  put(a, v, tile);
}

static bool chain_holds(annealing *a, const cm_chain *c)
{
  const cm_place_model *m = a->m;
  uint32_t count = 0;
  memset(a->members, 0, m->words * sizeof *a->members);
  memset(a->seen, 0, m->words * sizeof *a->seen);
  for (uint32_t k = 0; k < c->count; k++)
    cm_tile_add(a->members, a->place[c->variable[k]]);
  if (c->count == 0)
    return true;
  a->flood[count++] = a->place[c->variable[0]];
  cm_tile_add(a->seen, a->flood[0]);
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t w = 0; w < m->words; w++)
      for (uint64_t more = m->links[(size_t)a->flood[i] * m->words + w] & a->members[w] & ~a->seen[w]; more != 0; more &= more - 1) {
        a->seen[w] |= more & -more;
        a->flood[count++] = w * 64 + (uint32_t)__builtin_ctzll(more);
      }
  return memcmp(a->seen, a->members, m->words * sizeof *a->seen) == 0;
}

static bool fits(const annealing *a, uint32_t v)
{
  const cm_place_model *m = a->m;
  if (!cm_tile_in(&m->domain[(size_t)v * m->words], a->place[v]))
    return false;
  for (uint32_t i = a->first_in[v]; i < a->first_in[v + 1]; i++) {
    const cm_packing *p = &m->packing[a->packing_in[i]];
    const uint32_t bucket = m->label[p->scope][a->place[v]];
    if (a->used[a->packing_in[i]][bucket] > p->capacity[bucket])
      return false;
  }
  for (uint32_t i = m->first_relation[v]; i < m->first_relation[v + 1]; i++)
    if (!cm_relation_holds(m, &m->relation[i], a->place[v], a->place[m->relation[i].other]))
      return false;
  return true;
}

static bool chains_hold(annealing *a, uint32_t v, uint32_t u)
{
  for (uint32_t i = 0; i < a->m->chain_count; i++) {
    const cm_chain *c = &a->m->chain[i];
    bool in = false;
    for (uint32_t k = 0; k < c->count && !in; k++)
      in = c->variable[k] == v || c->variable[k] == u;
    if (in && !chain_holds(a, c))
      return false;
  }
  return true;
}

/* ---- cost ---- */

static uint64_t net_cost(const annealing *a, uint32_t n)
{
  cm_router_box b = cm_router_box_none();
  for (uint32_t i = a->m->first[n]; i < a->m->first[n + 1]; i++)
    cm_router_box_take(a->m->problem, a->place[a->m->pin[i]], &b);
  return a->m->weight[n] * cm_router_box_hops(&b);
}

/* Of the nets of one variable, or two (the same twice: one). */
static uint64_t cost_around(annealing *a, uint32_t v, uint32_t u)
{
  const cm_place_model *m = a->m;
  const uint32_t both[2] = {v, u};
  uint64_t cost = 0;
  a->now++;
  for (int side = 0; side < (u == v ? 1 : 2); side++)
    for (uint32_t i = m->first_net[both[side]]; i < m->first_net[both[side] + 1]; i++) {
      if (a->stamp[m->net_of[i]] == a->now)
        continue;
      a->stamp[m->net_of[i]] = a->now;
      cost += net_cost(a, m->net_of[i]);
    }
  return cost;
}

/* Books the circuits of one variable, or two, or takes them off. */
static int64_t book(annealing *a, uint32_t v, uint32_t u, bool on)
{
  const cm_place_model *m = a->m;
  const uint32_t both[2] = {v, u};
  int64_t more = 0;
  for (int side = 0; side < (u == v ? 1 : 2) && a->load != NULL; side++)
    for (uint32_t i = m->first_circuit[both[side]]; i < m->first_circuit[both[side] + 1]; i++) {
      const cm_circuit *c = &m->circuit[m->circuit_of[i]];
      if (side == 0 || (c->from != v && c->to != v))
        more += cm_circuit_book(m, m->circuit_of[i], a->place, a->load, on);
    }
  return more;
}

static void book_all(annealing *a)
{
  if (a->load != NULL)
    memset(a->load, 0, cm_circuit_loads(a->m->problem) * sizeof *a->load);
  a->excess = 0;
  for (uint32_t i = 0; i < a->m->circuit_count; i++)
    a->excess += cm_circuit_book(a->m, i, a->place, a->load, true);
}

/* ---- moves ---- */

/* A variable goes to a tile, and another there (or itself: none) to where it was; gone back where that is not legal or not taken. */
static bool try_change(annealing *a, uint32_t v, uint32_t tile, uint32_t u, double temperature, double *delta)
{
  const uint32_t from = a->place[v];
  const uint64_t before = cost_around(a, v, u);
  int64_t more = book(a, v, u, false);
  move(a, v, tile);
  if (u != v)
    move(a, u, from);
  const bool fit = fits(a, v) && (u == v || fits(a, u));
  if (fit) {
    *delta = (double)cost_around(a, v, u) - (double)before;
    more += book(a, v, u, true);
    if (cm_metropolis(&a->random, *delta + a->dear * (double)more, temperature, CM_HOPELESS) && chains_hold(a, v, u)) {
      a->excess += more;
      return true;
    }
    (void)book(a, v, u, false);
  }
  move(a, v, from);
  if (u != v)
    move(a, u, tile);
  (void)book(a, v, u, true);
  return false;
}

static bool step(annealing *a, double temperature, double *delta)
{
  const cm_place_model *m = a->m;
  const uint32_t v = (uint32_t)cm_random_below(&a->random, m->variables);
  const uint64_t *domain = &m->domain[(size_t)v * m->words];
  uint32_t tile = cm_tile_next(domain, m->words, (uint32_t)cm_random_below(&a->random, m->tiles));
  tile = tile < m->tiles ? tile : cm_tile_next(domain, m->words, 0);
  if (tile == a->place[v])
    return false;
  if (try_change(a, v, tile, v, temperature, delta))
    return true;
  uint32_t u = a->first_on[tile], count = 0;
  for (uint32_t i = u; i != UINT32_MAX; i = a->next_on[i])
    if (cm_random_below(&a->random, ++count) == 0)
      u = i;
  return u != UINT32_MAX && try_change(a, v, tile, u, temperature, delta);
}

/* Twice the mean of what changes cost, so that most are taken; the places stay. */
static double hottest(annealing *a, uint32_t *kept)
{
  double sum = 0, delta;
  uint32_t count = 0;
  const size_t bytes = a->m->variables * sizeof *kept;
  memcpy(kept, a->place, bytes);
  for (int i = 0; i < PROBES; i++)
    if (step(a, 1e300, &delta)) {
      sum += delta < 0 ? -delta : delta;
      count++;
    }
  for (uint32_t v = 0; v < a->m->variables; v++)
    if (a->place[v] != kept[v])
      move(a, v, kept[v]);
  book_all(a);
  return count > 0 ? 2 * sum / count : 0;
}

static cm_status begin(annealing *a, cm_memory *memory, const cm_state *state, cm_error *error)
{
  const cm_place_model *m = a->m;
  a->first_in = state->first_in;
  a->packing_in = state->packing_in;
  a->slot_in = state->slot_in;
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(a->used, m->packing_count), CM_ARRAY(a->first_on, m->tiles), CM_ARRAY(a->next_on, m->variables), CM_ARRAY(a->stamp, m->net_count),
                    CM_ARRAY(a->seen, m->words), CM_ARRAY(a->members, m->words), CM_ARRAY(a->flood, m->tiles)));
  CM_TRY_IF(m->circuit_count > 0, CM_NEW(memory, a->load, cm_circuit_loads(m->problem), error));
  for (uint32_t i = 0; i < m->packing_count; i++)
    CM_TRY(CM_NEW(memory, a->used[i], m->packing[i].buckets, error));
  for (uint32_t t = 0; t < m->tiles; t++)
    a->first_on[t] = UINT32_MAX;
  for (uint32_t v = 0; v < m->variables; v++)
    put(a, v, a->place[v]);
  for (uint32_t i = 0; i < m->packing_count; i++)
    for (uint32_t k = 0; k < m->packing[i].count; k++)
      a->used[i][m->label[m->packing[i].scope][a->place[m->packing[i].variable[k]]]] += m->packing[i].need[k];
  book_all(a);
  return CM_OK;
}

static void end(annealing *a)
{
  for (uint32_t i = 0; a->used != NULL && i < a->m->packing_count; i++)
    cm_free(a->used[i]);
  CM_FREE(a->used, a->first_on, a->next_on, a->stamp, a->seen, a->members, a->flood, a->load);
}

static cm_status cool(annealing *a, uint64_t moves, cm_run *run, uint32_t *best, int64_t *excess, cm_error *error)
{
  const size_t bytes = a->m->variables * sizeof *best;
  const double hot = hottest(a, best);
  double cost = (double)cm_place_model_cost(a->m, a->place), least = cost, delta;
  memcpy(best, a->place, bytes);
  *excess = a->excess;
  a->dear = hot / 8;
  for (uint64_t i = 0; i < moves && hot > 0; i++) {
    if (step(a, cm_cooled(hot, COLDEST, (double)i / (double)moves), &delta)) {
      cost += delta;
      if (a->excess < *excess || (a->excess == *excess && cost < least)) {
        least = cost;
        *excess = a->excess;
        memcpy(best, a->place, bytes);
      }
    }
    CM_TRY_IF(i % 4096 == 0, cm_run_check(run, error));
  }
  memcpy(a->place, best, bytes);
  return CM_OK;
}

/* One trial, from `place` [variables] to it; as much again behind the next is room for the best. */
static cm_status anneal(const cm_state *state, uint64_t moves, uint64_t trial, cm_run *run, uint32_t *place, int64_t *excess, cm_error *error)
{
  annealing a = {.m = state->model, .place = place};
  uint32_t *best = place + 2 * (size_t)a.m->variables;
  cm_random_init(&a.random, run->seed, STREAM, ANNEAL + 2 * trial);
  cm_status status = begin(&a, run->memory, state, error);
  CM_THEN(status, cool(&a, moves, run, best, excess, error));
  end(&a);
  return status;
}

cm_status cm_anneal_places(const cm_state *state, uint64_t moves, cm_run *run, uint32_t *place, bool *legal, cm_error *error)
{
  const cm_place_model *m = state->model;
  const size_t bytes = m->variables * sizeof *place;
  uint32_t *tried;
  if (m->variables == 0 || m->net_count == 0)
    return CM_OK;
  CM_TRY(CM_NEW(run->memory, tried, 3 * (size_t)m->variables, error));
  uint32_t *first = tried + m->variables;
  int64_t excess = 0, least = *legal ? 0 : INT64_MAX;
  cm_status status = CM_OK;
  memcpy(first, place, bytes);
  for (uint64_t trial = 0; trial < TRIALS && status == CM_OK; trial++) {
    memcpy(tried, first, bytes);
    status = anneal(state, moves / TRIALS, trial, run, tried, &excess, error);
    if (status != CM_OK || excess > least || (excess == least && cm_place_model_cost(m, tried) >= cm_place_model_cost(m, place)))
      continue;
    memcpy(place, tried, bytes);
    least = excess;
  }
  *legal = least == 0;
  cm_free(tried);
  return status;
}

/* ---- neighbourhoods ---- */

/* A variable, then again and again one that shares a net with one of them, or any. */
static void choose_freed(const cm_place_model *m, cm_random *random, uint32_t *freed, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t from = i > 0 ? freed[cm_random_below(random, i)] : 0;
    const uint32_t nets = i > 0 ? m->first_net[from + 1] - m->first_net[from] : 0;
    freed[i] = (uint32_t)cm_random_below(random, m->variables);
    if (nets == 0 || cm_random_below(random, 4) == 0)
      continue;
    const uint32_t n = m->net_of[m->first_net[from] + cm_random_below(random, nets)];
    freed[i] = m->pin[m->first[n] + cm_random_below(random, m->first[n + 1] - m->first[n])];
  }
}

cm_status cm_search_around(cm_state *state, const uint64_t *domain, uint32_t rounds, cm_run *run, uint32_t *place, cm_error *error)
{
  const cm_place_model *m = state->model;
  uint64_t *narrow, cost = cm_place_model_cost(m, place);
  cm_random random;
  cm_found found = {.place = place};
  if (m->variables == 0 || m->net_count == 0)
    return CM_OK;
  CM_TRY(CM_NEW(run->memory, narrow, (size_t)m->variables * m->words, error));
  cm_random_init(&random, run->seed, STREAM, AROUND);
  cm_status status = CM_OK;
  const uint64_t begin = state->work;
  for (uint32_t round = 0; round < rounds && cost > 0 && status == CM_OK && state->work - begin <= rounds * WORK_A_ROUND; round++) {
    uint32_t freed[FREED] = {0};
    choose_freed(m, &random, freed, FREED);
    memset(narrow, 0, (size_t)m->variables * m->words * sizeof *narrow);
    for (uint32_t v = 0; v < m->variables; v++)
      cm_tile_add(&narrow[(size_t)v * m->words], place[v]);
    for (uint32_t i = 0; i < FREED; i++)
      memcpy(&narrow[(size_t)freed[i] * m->words], &domain[(size_t)freed[i] * m->words], m->words * sizeof *narrow);
    const cm_search around = {.work_max = UINT64_MAX, .decisions_max = DECISIONS_AROUND, .below = cost, .cheapest = true, .domain = narrow};
    status = cm_search_places(state, &around, run, &found, error);
    cost = cm_place_model_cost(m, place);
  }
  cm_free(narrow);
  return status;
}
