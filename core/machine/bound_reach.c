#include "core/machine/bound_reach.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>

typedef struct reaching {
  const cm_reach_of *of;
  double ways;           /* that a result goes for a hop of its flag */
  double *share;         /* by station: weights of its lanes */
  bool *reads;           /* by station: a lane there may need a result */
  cm_reach_step *near, *most, *both; /* of one station; of any */
  uint32_t most_count;
} reaching;

CM_ORDER(nearer_first, cm_reach_step, CM_RISING(ns))

/* The way over a third core is never shorter where links add up; on rings with links of several kinds the way with fewest links
 * may be the longer one. */
static bool adds_up(const cm_core_grid *g)
{
  const double least = fmin(g->east_west_ns, fmin(g->north_south_ns, g->die_to_die_ns)), most = fmax(g->east_west_ns, fmax(g->north_south_ns, g->die_to_die_ns));
  return (!g->torus_x && !g->torus_y) || least >= most;
}

static double way_ns(const reaching *r, uint32_t from, uint32_t to)
{
  return r->ways * r->of->hops->ns[(size_t)from * r->of->hops->stations + to];
}

/* The shares of lanes as near as that to one station or nearer. */
static void sum_up(cm_reach_step *step, uint32_t count)
{
  double sum = 0;
  qsort(step, count, sizeof *step, nearer_first);
  for (uint32_t k = 0; k < count; k++)
    step[k].share = sum += step[k].share;
}

/* Wherever `near` has more than `most`, that. */
static void join(reaching *r, uint32_t near_count)
{
  uint32_t a = 0, b = 0, count = 0;
  double share = 0;
  while (a < near_count || b < r->most_count) {
    const cm_reach_step step = b >= r->most_count || (a < near_count && r->near[a].ns <= r->most[b].ns) ? r->near[a++] : r->most[b++];
    if (step.share <= share)
      continue;
    share = step.share;
    if (count > 0 && r->both[count - 1].ns >= step.ns)
      count--;
    r->both[count++] = (cm_reach_step){step.ns, share};
  }
  cm_reach_step *kept = r->most;
  r->most = r->both;
  r->both = kept;
  r->most_count = count;
}

static cm_status make_stations(reaching *r, cm_memory *memory, cm_error *error)
{
  const cm_target *target = r->of->target;
  const cm_hop_times *hops = r->of->hops;
  const uint32_t n = hops->stations;
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(r->share, n), CM_ARRAY(r->reads, n), CM_ARRAY(r->near, n)));
  for (uint32_t l = 0; l < target->lane_count; l++) {
    const uint32_t d = cm_lane_device(target, l), at = hops->station[l];
    r->share[at] += r->of->weight[d];
    r->reads[at] = r->reads[at] || target->device[d].moves == r->of->out;
  }
  return CM_OK;
}

/* What is near to each station, or, on the way out, to any. */
static cm_status find_most(reaching *r, cm_memory *memory, cm_error *error)
{
  const uint32_t n = r->of->hops->stations;
  const bool out = r->of->out;
  for (uint32_t to = 0; to < n; to++) {
    uint32_t count = 0;
    for (uint32_t from = 0; from < n; from++) {
      double ns = out ? HUGE_VAL : way_ns(r, from, to);
      for (uint32_t p = 0; out && p < n; p++)
        ns = r->reads[p] ? fmin(ns, way_ns(r, from, p)) : ns;
      if (r->share[from] > 0 && (out || r->reads[to]))
        r->near[count++] = (cm_reach_step){ns, r->share[from]};
    }
    sum_up(r->near, count);
    cm_free(r->both);
    r->both = NULL;
    CM_TRY(CM_NEW(memory, r->both, (size_t)count + r->most_count + 1, error));
    join(r, count);
    if (out)
      break;
  }
  return CM_OK;
}

cm_status cm_reach_make(const cm_reach_of *of, cm_memory *memory, cm_reach *made, cm_error *error)
{
  reaching r = {.of = of, .ways = cm_hop_ways(of->target)};
  cm_status status = CM_OK;
  *made = (cm_reach){0};
  if (of->hops->stations > 1 && adds_up(&of->target->grid) && (status = make_stations(&r, memory, error)) == CM_OK)
    status = find_most(&r, memory, error);
  if (status == CM_OK && r.most_count == 0) { /* no hops, or no lanes */
    cm_free(r.most);
    if ((status = CM_NEW(memory, r.most, 1, error)) == CM_OK)
      r.most[r.most_count++].share = 1;
  }
  CM_FREE(r.share, r.reads, r.near, r.both);
  CM_END(status, *made = ((cm_reach){r.most_count, r.most}), cm_free(r.most));
}

double cm_reach_ns(const cm_reach *reach, double work)
{
  const cm_reach_step *s = reach->step;
  for (; s + 1 < reach->step + reach->count && work > s->share * (s[1].ns - s->ns); s++)
    work -= s->share * (s[1].ns - s->ns);
  return work > 0 ? s->ns + work / s->share : 0;
}
