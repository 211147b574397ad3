/* Happy path: free cores of the clusters around -> parts go to other clusters while that helps. What can fail: memory, a stop. */
#include "core/placement/cluster_sites.h"

#include "core/chip/reach.h"

enum { NOBODY = UINT32_MAX };
static const double exchange_pins = 2e8; /* looked at, by exchanges of places */

typedef struct leave {
  const cm_cluster_task *t;
  uint32_t *core, *cluster; /* [parts] */
  cm_leaving *leaving;      /* [vertices] */
} leave;

static uint64_t excess(const leave *l)
{
  const cm_demand *demand = l->t->demand;
  uint64_t sum = 0;
  cm_count_leaving(demand, l->t->part, l->cluster, l->leaving);
  for (uint32_t v = 0; v < demand->network->vertex_count; v++)
    sum += cm_leaving_excess(&l->t->chip->limits, l->leaving[v]);
  return sum;
}

/* Cores that parts may stand on: those that are free of the clusters that the region touches. */
typedef struct sites {
  uint32_t *core, *part; /* [count]; who is there, NOBODY */
  uint32_t count;
} sites;

static uint32_t down_to(uint32_t at, uint32_t block)
{
  return block == 0 ? 0 : at / block * block;
}

static uint32_t up_to(uint32_t at, uint32_t block, uint32_t end)
{
  return block == 0 ? end : (at + block - 1) / block * block;
}

static cm_status find_sites(const leave *l, sites *s, cm_error *error)
{
  const cm_cluster_task *t = l->t;
  const cm_chip *chip = t->chip;
  const cm_region *r = t->region;
  const uint32_t x0 = down_to(r->x0, chip->cluster_x), y0 = down_to(r->y0, chip->cluster_y), x1 = up_to(r->x0 + r->width, chip->cluster_x, chip->width),
                 y1 = up_to(r->y0 + r->height, chip->cluster_y, chip->height);
  uint32_t *part_of = NULL, ignored;
  uint8_t *usable = NULL;
  cm_status status = CM_NEW(t->run->memory, usable, cm_chip_cores(chip), error);
  CM_THEN(status, cm_usable_cores(chip, t->occupancy, t->run->memory, usable, &ignored, error));
  CM_THEN(status, CM_NEW_ALL(t->run->memory, error, CM_ARRAY(part_of, cm_chip_cores(chip)),
                             CM_ARRAY(s->core, (size_t)(x1 - x0) * (y1 - y0)), CM_ARRAY(s->part, (size_t)(x1 - x0) * (y1 - y0))));
  for (uint32_t p = 0; status == CM_OK && p < t->parts; p++)
    part_of[l->core[p]] = p + 1;
  for (uint32_t y = y0; status == CM_OK && y < y1; y++)
    for (uint32_t x = x0; x < x1; x++) {
      const uint32_t core = y * chip->width + x;
      if (!usable[core])
        continue;
      s->core[s->count] = core;
      s->part[s->count++] = part_of[core] == 0 ? NOBODY : part_of[core] - 1;
    }
  CM_FREE(part_of, usable);
  return status;
}

/* A part and a site exchange what they have. */
static void exchange(const leave *l, sites *s, uint32_t a, uint32_t site)
{
  const uint32_t core = l->core[a], other = s->part[site], was = l->cluster[a];
  uint32_t home = 0;
  while (s->core[home] != core)
    home++;
  l->core[a] = s->core[site];
  l->cluster[a] = cm_chip_cluster_of(l->t->chip, s->core[site]);
  s->part[site] = a;
  s->part[home] = other;
  if (other != NOBODY) {
    l->core[other] = core;
    l->cluster[other] = was;
  }
}

/* Parts go to places in other clusters while that helps. */
static cm_status exchange_places(leave *l, sites *s, uint64_t *left, cm_error *error)
{
  double looks = exchange_pins / (double)(l->t->demand->network->pin_count + 1);
  for (bool gained = true; gained;) {
    gained = false;
    for (uint32_t a = 0; a < l->t->parts; a++)
      for (uint32_t b = 0; b < s->count && *left > 0; b++) {
        const uint32_t core = l->core[a];
        if (l->cluster[a] == cm_chip_cluster_of(l->t->chip, s->core[b]) || looks-- <= 0)
          continue;
        exchange(l, s, a, b);
        const uint64_t now = excess(l);
        gained = gained || now < *left;
        for (uint32_t home = 0; now >= *left && l->core[a] != core; home++)
          if (s->core[home] == core)
            exchange(l, s, a, home);
        *left = now < *left ? now : *left;
        CM_TRY(cm_run_check(l->t->run, error));
      }
  }
  return CM_OK;
}

cm_status cm_place_in_clusters(const cm_cluster_task *task, uint32_t *core, uint64_t *left, cm_error *error)
{
  leave l = {.t = task, .core = core};
  sites s = {.count = 0};
  cm_status status = CM_NEW_ALL(task->run->memory, error, CM_ARRAY(l.cluster, task->parts),
                                CM_ARRAY(l.leaving, task->demand->network->vertex_count));
  for (uint32_t p = 0; status == CM_OK && p < task->parts; p++)
    l.cluster[p] = cm_chip_cluster_of(task->chip, core[p]);
  uint64_t found = status == CM_OK ? excess(&l) : 0;
  if (status == CM_OK && found > 0 && (status = find_sites(&l, &s, error)) == CM_OK)
    status = exchange_places(&l, &s, &found, error);
  if (status == CM_OK)
    *left = found;
  CM_FREE(s.core, s.part, l.cluster, l.leaving);
  return status;
}
