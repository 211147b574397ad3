/* Happy path: free cores around -> parts go there, or change places, by Metropolis' rule. What can fail: memory, a stop. */
#include "core/placement/circuit_sites.h"

#include "base/annealing.h"
#include "core/chip/reach.h"
#include "core/partition/options.h"

enum { NOBODY = UINT32_MAX, NEAR = 2, CHECK = 256 };
static const double hops_max = 4e8, moves_each = 4000; /* booked in all; tried for each part */
static const double hop = 0.02;                        /* of one circuit too many */
static const double hot = 0.3, coldest = 0.1, to_partner = 0.5;

typedef struct search {
  cm_circuits *c;
  uint32_t *core;    /* [parts] */
  uint32_t *site;    /* [sites] cores */
  uint32_t *part_on; /* [cores] NOBODY: free; the number of parts: not for parts */
  uint32_t sites;
  double hops;       /* booked so far */
  cm_random random;
} search;

static cm_status find_sites(search *s, const cm_circuit_task *t, cm_error *error)
{
  const cm_chip *chip = s->c->chip;
  const cm_region *r = t->region;
  const uint32_t cores = cm_chip_cores(chip);
  uint8_t *usable = NULL;
  uint32_t ignored;
  cm_status status = CM_NEW(t->run->memory, usable, cores, error);
  CM_THEN(status, cm_usable_cores(chip, t->occupancy, t->run->memory, usable, &ignored, error));
  CM_THEN(status, CM_NEW_ALL(t->run->memory, error, CM_ARRAY(s->site, cores), CM_ARRAY(s->part_on, cores)));
  for (uint32_t k = 0; status == CM_OK && k < cores; k++) {
    const uint32_t x = k % chip->width, y = k / chip->width;
    const bool there = usable[k] && x + NEAR >= r->x0 && x < r->x0 + r->width + NEAR && y + NEAR >= r->y0 && y < r->y0 + r->height + NEAR;
    s->part_on[k] = there ? NOBODY : s->c->parts;
    if (there)
      s->site[s->sites++] = k;
  }
  for (uint32_t p = 0; status == CM_OK && p < s->c->parts; p++)
    s->part_on[s->core[p]] = p;
  cm_free(usable);
  return status;
}

/* Takes the circuits of a part off, or books them, but for those with one other; returns their hops. */
static int64_t rebook(search *s, uint32_t p, uint32_t but, bool on)
{
  cm_circuits *c = s->c;
  int64_t hops = 0;
  for (uint64_t i = c->first[p]; i < c->first[p + 1]; i++)
    hops += c->other[i] == but ? 0 : cm_circuits_book(c, s->core[p], s->core[c->other[i]], on);
  for (uint64_t i = c->first[c->parts + p]; i < c->first[c->parts + p + 1]; i++)
    hops += c->other[i] == but ? 0 : cm_circuits_book(c, s->core[c->other[i]], s->core[p], on);
  s->hops += (double)hops;
  return on ? hops : -hops;
}

/* Part a goes to a core, and who is there to where it was; returns by how many hops circuits get longer. */
static int64_t move(search *s, uint32_t a, uint32_t to)
{
  const uint32_t from = s->core[a], b = s->part_on[to];
  int64_t longer = rebook(s, a, NOBODY, false) + (b != NOBODY ? rebook(s, b, a, false) : 0);
  s->core[a] = to;
  s->part_on[to] = a;
  s->part_on[from] = b;
  if (b != NOBODY)
    s->core[b] = from;
  longer += rebook(s, a, NOBODY, true);
  return longer + (b != NOBODY ? rebook(s, b, a, true) : 0);
}

/* A core to go to: near a part that it has a circuit with, or any. */
static uint32_t propose(search *s, uint32_t a)
{
  const cm_circuits *c = s->c;
  const uint64_t out = c->first[a + 1] - c->first[a], all = out + c->first[c->parts + a + 1] - c->first[c->parts + a];
  const cm_chip *chip = c->chip;
  if (all == 0 || cm_random_unit(&s->random) >= to_partner)
    return s->site[cm_random_below(&s->random, s->sites)];
  const uint64_t k = cm_random_below(&s->random, all);
  const uint32_t beside = s->core[c->other[k < out ? c->first[a] + k : c->first[c->parts + a] + k - out]];
  const uint32_t x = beside % chip->width + (uint32_t)cm_random_below(&s->random, 2 * NEAR + 1), y = beside / chip->width + (uint32_t)cm_random_below(&s->random, 2 * NEAR + 1);
  return x < NEAR || y < NEAR || x - NEAR >= chip->width || y - NEAR >= chip->height ? s->core[a] : (y - NEAR) * chip->width + x - NEAR;
}

cm_status cm_place_for_circuits(const cm_circuit_task *task, cm_circuits *circuits, uint32_t *core, cm_error *error)
{
  search s = {.c = circuits, .core = core};
  const double moves = moves_each * circuits->parts;
  if (circuits->excess == 0)
    return CM_OK;
  cm_random_init(&s.random, task->seed, CM_STREAM_CIRCUITS, 0);
  cm_status status = find_sites(&s, task, error);
  for (double i = 0; status == CM_OK && circuits->excess > 0 && i < moves && s.hops < hops_max; i++) {
    const uint32_t a = (uint32_t)cm_random_below(&s.random, circuits->parts), to = propose(&s, a), from = core[a];
    const uint64_t before = circuits->excess;
    if (to == from || s.part_on[to] == circuits->parts)
      continue;
    const double longer = (double)move(&s, a, to), worse = (double)circuits->excess - (double)before + hop * longer;
    if (!cm_metropolis(&s.random, worse, cm_cooled(hot, coldest, fmax(i / moves, s.hops / hops_max)), CM_HOPELESS))
      (void)move(&s, a, from);
    if ((uint64_t)i % CHECK == 0)
      status = cm_run_check(task->run, error);
  }
  CM_FREE(s.site, s.part_on);
  return status;
}
