#include "core/placement/trees/casts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/random.h"
#include "core/partition/options.h"
#include "core/network/nets_by_part.h"

void cm_casts_free(cm_casts *casts)
{
  if (casts == NULL)
    return;
  CM_FREE(casts->of_part, casts->first, casts->target, casts->weight, casts);
}

static cm_status casts_new(uint32_t parts, uint64_t room, uint64_t pin_room, cm_run *run, cm_casts **casts,
                           cm_error *error)
{
  cm_casts *made;
  CM_TRY(CM_NEW(run->memory, made, 1, error));
  made->parts = parts;
  made->packet = 1;
  CM_TRY_OR(CM_NEW_ALL(run->memory, error, CM_ARRAY(made->of_part, (size_t)parts + 1), CM_ARRAY(made->first, room + 1),
                       CM_ARRAY(made->weight, room), CM_ARRAY(made->target, pin_room)), cm_casts_free(made));
  *casts = made;
  return CM_OK;
}

/* ---- from axons ---- */

/* A cast of the part under way and a sum over its targets that does not depend on their order. */
typedef struct digest {
  uint64_t sum;
  uint32_t cast;
} digest;

CM_ORDER(by_sum, digest, CM_RISING(sum) CM_RISING(cast))

typedef struct gathering {
  const cm_demand *demand;
  const uint32_t *part;
  cm_run *run;
  uint32_t *net_first, *net; /* nets by the part of their source */
  uint32_t *seen;            /* [parts] mark of the set that the part was last met in */
  uint32_t mark;
  digest *digest;            /* [most nets of a part] */
  cm_casts *casts;
  uint64_t room, pin_room;
} gathering;

static cm_status grow(gathering *g, uint64_t more, cm_error *error)
{
  cm_casts *c = g->casts;
  uint64_t pins = c->first[c->count] + more;
  if (pins > g->pin_room) {
    uint32_t *target = cm_reallocate(g->run->memory, c->target, pins + pins / 2 + 1024, sizeof *target, error);
    if (target == NULL)
      return error->status;
    c->target = target;
    g->pin_room = pins + pins / 2 + 1024;
  }
  return CM_OK;
}

/* A mark that no part carries yet. */
static uint32_t next_mark(gathering *g)
{
  return g->mark = cm_next_mark(g->mark, g->seen, g->casts->parts);
}

/* Appends what one axon of part p reaches; false when it stays at home. */
static bool append(gathering *g, uint32_t p, uint32_t net, digest *d)
{
  const cm_topology *t = g->demand->network;
  cm_casts *c = g->casts;
  uint64_t end = c->first[c->count];
  uint32_t mark = next_mark(g);
  *d = (digest){.cast = c->count};
  for (uint64_t i = t->net_first[net]; i < t->net_first[net + 1]; i++) {
    uint32_t q = g->part[t->pin[i]];
    if (q == p || g->seen[q] == mark)
      continue;
    g->seen[q] = mark;
    c->target[end++] = q;
    d->sum += cm_mix((uint64_t)q + 1);
  }
  if (end == c->first[c->count])
    return false;
  c->weight[c->count] = cm_demand_net_weight(g->demand, net);
  c->first[++c->count] = end;
  return true;
}

static bool same_targets(gathering *g, uint32_t a, uint32_t b)
{
  const cm_casts *c = g->casts;
  if (c->first[a + 1] - c->first[a] != c->first[b + 1] - c->first[b])
    return false;
  uint32_t mark = next_mark(g);
  for (uint64_t i = c->first[a]; i < c->first[a + 1]; i++)
    g->seen[c->target[i]] = mark;
  for (uint64_t i = c->first[b]; i < c->first[b + 1]; i++)
    if (g->seen[c->target[i]] != mark)
      return false;
  return true;
}

/* Adds casts from `begin` on that reach the same parts to the first of them, and closes the gaps. */
static void merge(gathering *g, uint32_t begin, uint32_t count)
{
  cm_casts *c = g->casts;
  qsort(g->digest, count, sizeof *g->digest, by_sum);
  for (uint32_t i = 1, head = 0; i < count; i++) {
    uint32_t cast = g->digest[i].cast, first = g->digest[head].cast;
    if (g->digest[i].sum == g->digest[head].sum && same_targets(g, first, cast)) {
      c->weight[first] += c->weight[cast];
      c->weight[cast] = 0;
    } else
      head = i;
  }
  uint32_t kept = begin;
  uint64_t end = c->first[begin], next = end;
  for (uint32_t i = begin; i < c->count; i++) {
    uint64_t from = next;
    next = c->first[i + 1];
    if (c->weight[i] == 0)
      continue;
    memmove(c->target + end, c->target + from, (next - from) * sizeof *c->target);
    end += next - from;
    c->weight[kept] = c->weight[i];
    c->first[++kept] = end;
  }
  c->count = kept;
}

static cm_status gather_part(gathering *g, uint32_t p, cm_error *error)
{
  const cm_topology *t = g->demand->network;
  uint32_t begin = g->casts->count, found = 0;
  for (uint32_t j = g->net_first[p]; j < g->net_first[p + 1]; j++) {
    uint32_t net = g->net[j];
    uint64_t pins = t->net_first[net + 1] - t->net_first[net];
    if (cm_demand_net_weight(g->demand, net) == 0)
      continue;
    CM_TRY(grow(g, pins < g->casts->parts ? pins : g->casts->parts, error));
    found += append(g, p, net, &g->digest[found]);
  }
  if (found > 1)
    merge(g, begin, found);
  g->casts->of_part[p + 1] = g->casts->count;
  return cm_run_check(g->run, error);
}

cm_status cm_casts_of_axons(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_run *run,
                            cm_casts **casts, cm_error *error)
{
  const cm_topology *topology = demand->network;
  gathering g = {.demand = demand, .part = part, .run = run};
  uint32_t most = 0;
  cm_status status = cm_nets_by_part(topology, part, parts, run, &g.net_first, &g.net, error);
  CM_THEN(status, casts_new(parts, topology->net_count, 0, run, &g.casts, error));
  for (uint32_t p = 0; status == CM_OK && p < parts; p++)
    most = g.net_first[p + 1] - g.net_first[p] > most ? g.net_first[p + 1] - g.net_first[p] : most;
  CM_THEN(status, CM_NEW_ALL(run->memory, error, CM_ARRAY(g.seen, parts), CM_ARRAY(g.digest, most)));
  for (uint32_t p = 0; status == CM_OK && p < parts; p++)
    status = gather_part(&g, p, error);
  CM_FREE(g.net_first, g.net, g.seen, g.digest);
  CM_TRY_OR(status, cm_casts_free(g.casts));
  g.casts->packet = topology->weight_scale;
  *casts = g.casts;
  return CM_OK;
}

/* ---- samples ---- */

/* Marks at `offset` and every `step` from there on, below x. */
static double marks_below(double x, double step, double offset)
{
  return x <= offset ? 0 : ceil((x - offset) / step);
}

/* How many marks along the sum of weights fall into the stretch of a cast that begins at *sum; moves *sum on. */
static uint64_t draw(double *sum, uint64_t weight, double step, double offset)
{
  double before = marks_below(*sum, step, offset);
  *sum += (double)weight;
  return (uint64_t)(marks_below(*sum, step, offset) - before);
}

static void copy_drawn(const cm_casts *c, double step, double offset, cm_casts *made)
{
  double sum = 0;
  for (uint32_t p = 0; p < c->parts; p++) {
    for (uint32_t e = c->of_part[p]; e < c->of_part[p + 1]; e++) {
      uint64_t times = draw(&sum, c->weight[e], step, offset), end = made->first[made->count];
      if (times == 0)
        continue;
      memcpy(made->target + end, c->target + c->first[e], (c->first[e + 1] - c->first[e]) * sizeof *c->target);
      made->weight[made->count] = times;
      made->first[++made->count] = end + c->first[e + 1] - c->first[e];
    }
    made->of_part[p + 1] = made->count;
  }
}

cm_status cm_casts_sample(const cm_casts *casts, uint64_t pins, uint64_t seed, cm_run *run, cm_casts **sample,
                          cm_error *error)
{
  cm_casts *made;
  cm_random random;
  double weighted = 0, sum = 0;
  uint64_t count = 0, drawn = 0;
  for (uint32_t e = 0; e < casts->count; e++)
    weighted += (double)casts->weight[e] * (double)(casts->first[e + 1] - casts->first[e]);
  double step = fmax(weighted / fmax((double)pins, 1), 1);
  cm_random_init(&random, seed, CM_STREAM_TREES, UINT64_MAX);
  double offset = cm_random_unit(&random) * step;
  for (uint32_t e = 0; e < casts->count; e++)
    if (draw(&sum, casts->weight[e], step, offset) > 0) {
      count++;
      drawn += casts->first[e + 1] - casts->first[e];
    }
  CM_TRY(casts_new(casts->parts, count, drawn, run, &made, error));
  copy_drawn(casts, step, offset, made);
  *sample = made;
  return CM_OK;
}

/* ---- inbound ---- */

static void gather(const cm_casts *c, cm_inbound_casts *in)
{
  for (uint64_t i = 0; i < c->first[c->count]; i++)
    in->first[c->target[i] + 1]++;
  for (uint32_t p = 0; p < c->parts; p++)
    in->first[p + 1] += in->first[p];
  for (uint32_t e = c->count; e-- > 0;)
    for (uint64_t i = c->first[e]; i < c->first[e + 1]; i++)
      in->cast[--in->first[c->target[i] + 1]] = e;
  /* Filled from the back, each entry p + 1 has come down to where part p begins. */
  memmove(in->first, in->first + 1, c->parts * sizeof *in->first);
  in->first[c->parts] = c->first[c->count];
}

cm_status cm_inbound_casts_new(const cm_casts *casts, cm_memory *memory, cm_inbound_casts *inbound, cm_error *error)
{
  cm_inbound_casts made = {0};
  CM_TRY_OR(CM_NEW_ALL(memory, error, CM_ARRAY(made.first, (size_t)casts->parts + 1),
                       CM_ARRAY(made.cast, casts->first[casts->count]), CM_ARRAY(made.sender, casts->count)),
            cm_inbound_casts_free(&made));
  gather(casts, &made);
  for (uint32_t p = 0; p < casts->parts; p++)
    for (uint32_t e = casts->of_part[p]; e < casts->of_part[p + 1]; e++)
      made.sender[e] = p;
  *inbound = made;
  return CM_OK;
}

void cm_inbound_casts_free(cm_inbound_casts *inbound)
{
  CM_FREE(inbound->first, inbound->cast, inbound->sender);
  *inbound = (cm_inbound_casts){0};
}

uint32_t cm_relative_part(const cm_casts *casts, const cm_inbound_casts *inbound, cm_random *random, uint32_t u)
{
  uint64_t heard = inbound->first[u + 1] - inbound->first[u], begin = casts->first[casts->of_part[u]];
  uint64_t sent = casts->first[casts->of_part[u + 1]] - begin;
  if (heard + sent == 0)
    return u;
  uint64_t k = cm_random_below(random, heard + sent);
  return k < heard ? inbound->sender[inbound->cast[inbound->first[u] + k]] : casts->target[begin + k - heard];
}

cm_cast_walk cm_cast_walk_of(const cm_inbound_casts *inbound, uint32_t u, uint32_t v)
{
  cm_cast_walk walk = {.inbound = inbound, .parts = {u, v}, .u = inbound->first[u], .u_end = inbound->first[u + 1]};
  if (v != CM_NO_PART) {
    walk.v = inbound->first[v];
    walk.v_end = inbound->first[v + 1];
  }
  return walk;
}

bool cm_cast_walk_next(cm_cast_walk *w)
{
  const uint32_t *in = w->inbound->cast, *sender = w->inbound->sender;
  do {
    for (; w->u < w->u_end && w->v < w->v_end && in[w->u] == in[w->v]; w->met++) {
      w->u++;
      w->v++;
    }
    if (w->u == w->u_end && w->v == w->v_end)
      return false;
    w->met++;
    w->is_u = w->v == w->v_end || (w->u < w->u_end && in[w->u] < in[w->v]);
    w->cast = in[w->is_u ? w->u++ : w->v++];
  } while (sender[w->cast] == w->parts[w->is_u]);
  return true;
}
