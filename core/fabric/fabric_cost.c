#include "base/random.h"
#include "core/fabric/fabric_placing.h"

/* Chips that a family's pairs are counted between: of more, all are near all anyway. */
enum { PAIRS_MAX = 4096 };

typedef struct costing {
  const cm_fabric_placing *p;
  cm_fabric_cost cost;
  uint32_t *seen, stamp; /* [chips] */
  uint64_t *subset;      /* [chips]: what the net reaches there, hashed */
  uint32_t *touched;     /* [chips]: those that the net reaches */
  uint64_t *known;       /* ways out that were met, by their hash; 0: none */
  uint64_t mask;
} costing;

static void meet(costing *c, uint32_t chip, uint64_t way)
{
  const uint64_t hash = cm_mix(way ^ cm_mix(chip + 1)) | 1;
  uint64_t at = hash >> 1 & c->mask;
  while (c->known[at] != 0 && c->known[at] != hash)
    at = (at + 1) & c->mask;
  c->cost.ways += c->known[at] == 0;
  c->known[at] = hash;
}

/* The chips that a net reaches; returns how many. */
static uint32_t touch(costing *c, uint32_t net)
{
  const cm_fabric_nets *nets = c->p->nets;
  uint32_t count = 0;
  c->stamp++;
  for (uint64_t i = nets->first[net]; i < nets->source[net]; i++) {
    const uint32_t chip = c->p->chip[nets->pin[i]];
    if (c->seen[chip] != c->stamp) {
      c->seen[chip] = c->stamp;
      c->subset[chip] = 0;
      c->touched[count++] = chip;
    }
    c->subset[chip] += cm_mix(nets->pin[i] + 1);
  }
  return count;
}

static void add_net(costing *c, uint32_t net)
{
  const cm_fabric_nets *nets = c->p->nets;
  const uint32_t count = touch(c, net);
  uint64_t all = 0;
  for (uint32_t i = 0; i < count; i++)
    all += cm_mix(c->touched[i] + 1);
  for (uint64_t s = nets->source[net]; count > 0 && s < nets->first[net + 1]; s++) {
    const uint32_t from = c->p->chip[nets->pin[s]];
    const bool here = c->seen[from] == c->stamp;
    c->cost.reached += count - here;
    meet(c, from, here ? c->subset[from] ^ cm_mix(all) : cm_mix(all));
    for (uint32_t i = 0; i < count && count <= PAIRS_MAX; i++)
      c->cost.length += cm_fabric_distance(c->p->f, from, c->touched[i]);
  }
  for (uint32_t i = 0; i < count; i++)
    meet(c, c->touched[i], c->subset[c->touched[i]]);
}

cm_status cm_fabric_cost_of(const cm_fabric_placing *p, cm_run *run, cm_fabric_cost *cost, cm_error *error)
{
  const uint32_t chips = cm_fabric_chips(p->f);
  const uint64_t pins = p->nets->first[p->nets->count];
  costing c = {.p = p, .mask = 1};
  while (c.mask < 2 * pins)
    c.mask = 2 * c.mask + 1;
  cm_status status = CM_NEW(run->memory, c.known, c.mask + 1, error);
  CM_THEN(status, CM_NEW_ALL(run->memory, error, CM_ARRAY(c.seen, chips), CM_ARRAY(c.subset, chips), CM_ARRAY(c.touched, chips)));
  for (uint32_t net = 0; status == CM_OK && net < p->nets->count; net++)
    add_net(&c, net);
  CM_FREE(c.known, c.seen, c.subset, c.touched);
  CM_END(status, *cost = c.cost, );
}
