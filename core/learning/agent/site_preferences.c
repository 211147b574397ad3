/* From where nodes want to be to sites of their own. */
#include "core/learning/assign.h"
#include "core/learning/agent/environment.h"

/* ---- the likeliest core, conflicts to the nearest free one ---- */

/* The core whose column and row are the likeliest. */
static uint32_t wish(const cm_environment *s, const float *position, double bound)
{
  cm_region box = cm_environment_region(s);
  uint32_t x = box.x0 + cm_axis_likeliest((double)position[0], box.width, bound);
  uint32_t y = box.y0 + cm_axis_likeliest((double)position[1], box.height, bound);
  return y * s->chip->width + x;
}

/* What one processor's nodes want, and the cores that they may have. */
typedef struct claim {
  const cm_environment *of;
  const float *position;
  double bound;
  uint32_t *at; /* [nodes] what comes of it */
  uint32_t *wanted, *free, *core;
  uint64_t *priority;
} claim;

static cm_status assign_processor(claim *c, uint32_t p, cm_error *error)
{
  const cm_environment *s = c->of;
  uint32_t nodes = s->node_first[p + 1] - s->node_first[p], sites = s->site_first[p + 1] - s->site_first[p];
  const uint32_t *node = s->node + s->node_first[p], *site = s->site_of + s->site_first[p];
  for (uint32_t i = 0; i < nodes; i++) {
    c->wanted[i] = wish(s, c->position + 2 * (size_t)node[i], c->bound);
    c->priority[i] = s->priority[node[i]];
  }
  for (uint32_t i = 0; i < sites; i++)
    c->free[i] = s->site[site[i]];
  const cm_assign_task task = {s->chip, c->free, sites, c->wanted, c->priority, nodes, CM_DISTANCE_MANHATTAN};
  CM_TRY(cm_assign(&task, s->memory, c->core, error));
  for (uint32_t i = 0; i < nodes; i++)
    c->at[node[i]] = s->site_on[c->core[i]];
  return CM_OK;
}

static cm_status nearest(const cm_environment *environment, const float *position, double bound, uint32_t *at, cm_error *error)
{
  claim c = {.of = environment, .position = position, .bound = bound, .at = at};
  cm_status status = CM_NEW_ALL(environment->memory, error, CM_ARRAY(c.wanted, environment->nodes), CM_ARRAY(c.free, environment->sites),
                                CM_ARRAY(c.core, environment->nodes), CM_ARRAY(c.priority, environment->nodes));
  for (uint32_t p = 0; p < environment->processors && status == CM_OK; p++)
    if (environment->node_first[p + 1] > environment->node_first[p])
      status = assign_processor(&c, p, error);
  CM_FREE(c.wanted, c.free, c.core, c.priority);
  return status;
}

/* ---- slices ---- */

typedef struct placed {
  float key;
  uint32_t which;
} placed;

CM_ORDER(by_key, placed, CM_RISING(key) CM_RISING(which))

/* One processor: its nodes by their first coordinate to the columns of its sites, those of a column by the second to
 * its sites from north to south. */
static void slice(const cm_environment *s, uint32_t p, const float *coordinate, placed *node, placed *site, uint32_t *at)
{
  uint32_t nodes = s->node_first[p + 1] - s->node_first[p], sites = s->site_first[p + 1] - s->site_first[p];
  for (uint32_t i = 0; i < nodes; i++) {
    uint32_t v = s->node[s->node_first[p] + i];
    node[i] = (placed){coordinate[2 * (size_t)v], v};
  }
  for (uint32_t i = 0; i < sites; i++) {
    uint32_t c = s->site_of[s->site_first[p] + i];
    site[i] = (placed){(float)s->axes->column[c], c};
  }
  qsort(node, nodes, sizeof *node, by_key);
  qsort(site, sites, sizeof *site, by_key); /* sites are numbered by row inside a column */
  for (uint32_t begin = 0, taken = 0; begin < sites && taken < nodes;) {
    uint32_t end = begin;
    while (end < sites && site[end].key == site[begin].key)
      end++;
    uint32_t until = (uint32_t)(((uint64_t)nodes * end + sites - 1) / sites), count = until - taken;
    for (uint32_t i = taken; i < until; i++)
      node[i].key = coordinate[2 * (size_t)node[i].which + 1];
    qsort(node + taken, count, sizeof *node, by_key);
    for (uint32_t i = 0; i < count; i++)
      at[node[taken + i].which] = site[begin + (uint32_t)((uint64_t)i * (end - begin) / count)].which;
    taken = until;
    begin = end;
  }
}

static cm_status slices(const cm_environment *environment, const float *position, uint32_t *at, cm_error *error)
{
  placed *node, *site = NULL;
  cm_status status = CM_NEW_ALL(environment->memory, error, CM_ARRAY(node, environment->nodes), CM_ARRAY(site, environment->sites));
  for (uint32_t p = 0; p < environment->processors && status == CM_OK; p++)
    slice(environment, p, position, node, site, at);
  CM_FREE(node, site);
  return status;
}

cm_status cm_environment_assign(const cm_environment *environment, cm_rule rule, const float *position, double bound, uint32_t *at,
                                cm_error *error)
{
  return rule == CM_RULE_SLICES ? slices(environment, position, at, error) : nearest(environment, position, bound, at, error);
}
