/* Happy path: what leaves each neuron -> who has too much gets a copy on the core where that mends most -> until nobody has. What can fail: memory, a stop. */
#include <string.h>

#include "core/placement/copying.h"

enum { CHECK_EVERY = 256 };
static const int64_t broken = INT64_C(1) << 40; /* a synapse too many, in synapses that leave a core and may */

/* ---- what leaves ---- */

int cm_copying_way(const cm_copying *s, uint32_t from, uint32_t to)
{
  return from == to ? CM_COPY_OWN : s->cluster[from] == s->cluster[to] ? CM_COPY_NEAR : CM_COPY_FAR;
}

uint64_t cm_copying_limit(const cm_copying *s, int way)
{
  const uint64_t limit = way == CM_COPY_NEAR ? s->t->chip->limits.near_synapses : way == CM_COPY_FAR ? s->t->chip->limits.far_synapses : 0;
  return limit == 0 ? UINT32_MAX : limit;
}

uint32_t cm_copying_leaves(const cm_copying *s, uint32_t v, int way)
{
  return way == CM_COPY_NEAR ? s->leaving[v].near : way == CM_COPY_FAR ? s->leaving[v].far : 0;
}

uint32_t cm_copying_excess(const cm_copying *s, uint32_t v)
{
  return cm_demand_is_outside(s->t->demand, s->of[v]) ? 0 : cm_leaving_excess(&s->t->chip->limits, s->leaving[v]);
}

/* A synapse of an instance to a part comes (by 1) or goes (by -1). */
static void count(cm_copying *s, uint32_t v, uint32_t to, int by)
{
  const int w = cm_copying_way(s, s->part[v], to);
  s->excess -= cm_copying_excess(s, v);
  if (w == CM_COPY_NEAR)
    s->leaving[v].near += (uint32_t)by;
  else if (w == CM_COPY_FAR)
    s->leaving[v].far += (uint32_t)by;
  s->excess += cm_copying_excess(s, v);
}

/* What one more synapse of an instance to a part costs. */
static int64_t price(const cm_copying *s, uint32_t v, uint32_t to)
{
  const int w = cm_copying_way(s, s->part[v], to);
  if (w == CM_COPY_OWN || cm_demand_is_outside(s->t->demand, s->of[v]))
    return 0;
  return cm_copying_leaves(s, v, w) < cm_copying_limit(s, w) ? 1 : broken;
}

uint32_t cm_copying_cheapest(const cm_copying *s, uint32_t neuron, uint32_t to, int64_t *cost)
{
  uint32_t best = neuron;
  *cost = price(s, neuron, to);
  for (uint32_t u = s->next[neuron]; u != CM_NO_COPY; u = s->next[u]) {
    const int64_t other = price(s, u, to);
    if (other >= *cost)
      continue;
    *cost = other;
    best = u;
  }
  return best;
}

/* ---- a copy ---- */

cm_copy_takes cm_copying_takes(const cm_copying *s, uint32_t v)
{
  cm_copy_takes t = {.room = {UINT32_MAX, cm_copying_limit(s, CM_COPY_NEAR), cm_copying_limit(s, CM_COPY_FAR)}};
  for (int w = CM_COPY_NEAR; w <= CM_COPY_FAR; w++)
    t.over[w] = cm_copying_leaves(s, v, w) > cm_copying_limit(s, w) ? cm_copying_leaves(s, v, w) - cm_copying_limit(s, w) : 0;
  return t;
}

void cm_copying_take_over(cm_copying *s, uint32_t v, uint32_t part, uint32_t copy, cm_copy_takes *t)
{
  const cm_topology *net = s->t->demand->network;
  const uint32_t e = s->net[s->of[v]], end = s->net[s->of[v] + 1];
  for (int pass = CM_COPY_OWN; pass <= CM_COPY_FAR && e < end; pass++)
    for (uint64_t i = net->net_first[e]; i < net->net_first[e + 1]; i++)
      for (uint32_t w = net->pin[i]; w != CM_NO_COPY; w = s->next[w]) {
        uint32_t *server = &s->server[s->row[w] + s->input[i]];
        const int was = cm_copying_way(s, s->part[v], s->part[w]), is = cm_copying_way(s, part, s->part[w]);
        if (*server != v || is != pass || was == CM_COPY_OWN || (is != CM_COPY_OWN && (t->over[was] == 0 || t->room[is] == 0)))
          continue;
        t->moved += t->over[was] > 0;
        t->over[was] -= t->over[was] > 0;
        t->room[is] -= is != CM_COPY_OWN;
        if (copy == CM_NO_COPY)
          continue;
        count(s, v, s->part[w], -1);
        *server = copy;
        count(s, copy, s->part[w], 1);
      }
}

/* What a copy on a part mends, less what it breaks; its inputs' ways decide between equals. */
static int64_t gain(cm_copying *s, uint32_t v, uint32_t part)
{
  const uint32_t neuron = s->of[v];
  int64_t cost = 0;
  cm_copy_takes t = cm_copying_takes(s, v);
  cm_copying_take_over(s, v, part, CM_NO_COPY, &t);
  for (uint64_t i = s->in_first[neuron]; i < s->in_first[neuron + 1]; i++) {
    int64_t least = 0;
    if (s->source[i] != neuron)
      (void)cm_copying_cheapest(s, s->source[i], part, &least);
    cost += least;
  }
  return (int64_t)t.moved * broken - cost;
}

cm_status cm_copying_make(cm_copying *s, uint32_t v, uint32_t part, cm_error *error)
{
  const uint32_t neuron = s->of[v], copy = s->count;
  const uint64_t inputs = s->in_first[neuron + 1] - s->in_first[neuron];
  cm_copy_takes t = cm_copying_takes(s, v);
  CM_TRY(CM_ROOM(s->t->run->memory, s->server, &s->room, s->served + inputs + 1, error));
  s->of[copy] = neuron;
  s->part[copy] = part;
  s->row[copy] = s->served;
  s->served += inputs;
  for (uint64_t i = 0; i < inputs; i++) {
    const uint32_t source = s->source[s->in_first[neuron] + i];
    int64_t ignored;
    const uint32_t from = source == neuron ? copy : cm_copying_cheapest(s, source, part, &ignored);
    s->server[s->row[copy] + i] = from;
    if (from != copy)
      count(s, from, part, 1);
  }
  s->next[copy] = s->next[neuron];
  s->next[neuron] = copy;
  s->count++;
  s->neurons[part] += cm_demand_size(s->t->demand, neuron);
  s->synapses[part] += inputs;
  cm_copying_take_over(s, v, part, copy, &t);
  return CM_OK;
}

/* ---- where ---- */

static void propose(cm_copying *s, uint32_t part, uint32_t neuron)
{
  const cm_limits *l = s->t->limits;
  const uint64_t inputs = s->in_first[neuron + 1] - s->in_first[neuron];
  if (s->seen[part] == s->stamp || (l->neurons != 0 && s->neurons[part] + cm_demand_size(s->t->demand, neuron) > l->neurons) ||
      (l->synapses != 0 && s->synapses[part] + inputs > l->synapses))
    return;
  s->seen[part] = s->stamp;
  s->candidate[s->candidates++] = part;
}

/* Parts that its targets, its sources and copies stand on. */
static void propose_parts(cm_copying *s, uint32_t v)
{
  const cm_topology *net = s->t->demand->network;
  const uint32_t neuron = s->of[v];
  s->stamp++;
  s->candidates = 0;
  propose(s, s->part[v], neuron);
  for (uint32_t e = s->net[neuron]; e < s->net[neuron + 1]; e++)
    for (uint64_t i = net->net_first[e]; i < net->net_first[e + 1]; i++)
      for (uint32_t w = net->pin[i]; w != CM_NO_COPY; w = s->next[w])
        propose(s, s->part[w], neuron);
  for (uint64_t i = s->in_first[neuron]; i < s->in_first[neuron + 1]; i++)
    for (uint32_t u = s->source[i]; u != CM_NO_COPY; u = s->next[u])
      propose(s, s->part[u], neuron);
  for (uint32_t p = s->t->parts; p < s->parts; p++)
    propose(s, p, neuron);
}

static int64_t square(int64_t x)
{
  return x * x;
}

uint32_t cm_copying_free_core(const cm_copying *s, uint32_t v, uint32_t cluster)
{
  const cm_chip *chip = s->t->chip;
  const uint32_t at = s->core[s->part[v]] != CM_NO_COPY ? s->core[s->part[v]] : s->core[0];
  uint32_t best = CM_NO_COPY;
  int64_t least = INT64_MAX;
  for (uint32_t c = 0; c < cm_chip_cores(chip); c++) {
    const int64_t away = square((int64_t)(c % chip->width) - at % chip->width) + square((int64_t)(c / chip->width) - at / chip->width);
    if (!s->usable[c] || away >= least || (cluster != CM_NO_COPY && cm_chip_cluster_of(chip, c) != cluster))
      continue;
    least = away;
    best = c;
  }
  return best;
}

/* The core becomes that of the part behind the last, which nobody has opened yet. */
static int64_t gain_on(cm_copying *s, uint32_t v, uint32_t core, uint32_t cluster)
{
  s->core[s->parts] = core;
  s->cluster[s->parts] = cluster;
  return gain(s, v, s->parts);
}

/* A core that opens for a copy, where it gains more than *most: its part is then the one behind the last. */
static bool open_core(cm_copying *s, uint32_t v, int64_t *most)
{
  const cm_chip *chip = s->t->chip;
  const uint32_t beside = cm_copying_free_core(s, v, s->cluster[s->part[v]]), any = cm_copying_free_core(s, v, CM_NO_COPY);
  uint32_t best = CM_NO_COPY;
  if (s->t->parts_max != 0 && s->parts >= s->t->parts_max)
    return false;
  for (int i = 0; i < 2; i++) {
    const uint32_t core = i == 0 ? beside : any;
    if (core == CM_NO_COPY || (i == 1 && core == beside))
      continue;
    const int64_t g = gain_on(s, v, core, cm_chip_cluster_of(chip, core));
    best = g > *most ? core : best;
    *most = g > *most ? g : *most;
  }
  if (best == CM_NO_COPY)
    return false;
  s->core[s->parts] = best;
  s->cluster[s->parts] = cm_chip_cluster_of(chip, best);
  return true;
}

/* The same on one that the chip has not, in clusters of their own. */
static bool miss_core(cm_copying *s, uint32_t v, int64_t *most)
{
  const cm_chip *chip = s->t->chip;
  const uint32_t each = chip->cluster_x == 0 ? CM_NO_COPY : chip->cluster_x * chip->cluster_y,
                 first = chip->cluster_x == 0 ? 0 : cm_chip_cluster_of(chip, cm_chip_cores(chip) - 1) + 1;
  const int64_t g = gain_on(s, v, CM_NO_COPY, first + s->missing / each);
  if (g <= *most)
    return false;
  *most = g;
  return true;
}

/* One more copy of an instance that has too much; *made false: none mends more than it breaks. */
static cm_status mend(cm_copying *s, uint32_t v, bool *made, cm_error *error)
{
  int64_t most = 0;
  uint32_t best = CM_NO_COPY;
  propose_parts(s, v);
  for (uint32_t i = 0; i < s->candidates; i++) {
    const int64_t g = gain(s, v, s->candidate[i]);
    best = g > most ? s->candidate[i] : best;
    most = g > most ? g : most;
  }
  if (open_core(s, v, &most)) {
    best = s->parts++;
    s->usable[s->core[best]] = 0;
  } else if (best == CM_NO_COPY && miss_core(s, v, &most)) {
    best = s->parts++;
    s->missing++;
  }
  *made = best != CM_NO_COPY;
  return *made ? cm_copying_make(s, v, best, error) : CM_OK;
}

cm_status cm_copying_mend(cm_copying *s, cm_error *error)
{
  for (bool gained = true; gained && s->excess > 0;) {
    gained = false;
    for (uint32_t v = 0; v < s->count && s->excess > 0; v++) {
      bool made = true;
      CM_TRY_IF(v % CHECK_EVERY == 0, cm_run_check(s->t->run, error));
      while (made && cm_copying_excess(s, v) > 0 && s->count < s->most) {
        CM_TRY(mend(s, v, &made, error));
        gained = gained || made;
      }
    }
  }
  return CM_OK;
}
