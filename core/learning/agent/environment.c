#include "core/learning/agent/environment.h"

#include <math.h>

#include "base/members.h"
#include "core/learning/communities/processors.h"
#include "core/placement/qap/qap.h"

/* Things 0 .. count - 1 by processor, ascending inside each. */
static void group(const uint32_t *processor, uint32_t count, uint32_t processors, uint32_t *first, uint32_t *list)
{
  if (processors > 1) {
    cm_sort_members(processor, count, processors, first, list);
    return;
  }
  first[1] = count;
  for (uint32_t i = 0; i < count; i++)
    list[i] = i;
}

/* Nodes and sites by processor. */
static cm_status group_both(cm_environment *s, const cm_environment_parts *parts, cm_error *error)
{
  const size_t room = (size_t)s->processors + 2;
  CM_TRY(CM_NEW_ALL(s->memory, error, CM_ARRAY(s->node_first, room), CM_ARRAY(s->node, s->nodes), CM_ARRAY(s->site_first, room),
                    CM_ARRAY(s->site_of, s->sites)));
  group(parts->node_processor, s->nodes, s->processors, s->node_first, s->node);
  group(parts->site_processor, s->sites, s->processors, s->site_first, s->site_of);
  return CM_OK;
}

static cm_status describe(cm_environment *s, const cm_environment_parts *parts, cm_run *run, cm_error *error)
{
  double *feature;
  CM_TRY(CM_NEW_ALL(run->memory, error, CM_ARRAY(s->feature, (size_t)s->nodes * CM_FEATURES), CM_ARRAY(s->priority, s->nodes),
                    CM_ARRAY(feature, (size_t)s->nodes * CM_FEATURES)));
  cm_features_count(parts->flows, parts->multicast, feature);
  cm_features_normalise(feature, s->nodes, s->feature);
  for (uint32_t v = 0; v < s->nodes; v++)
    s->priority[v] = (uint64_t)fmin(feature[(size_t)v * CM_FEATURES + CM_FEATURE_WEIGHT], 0x1p63);
  cm_free(feature);
  return CM_OK;
}

static cm_status number_sites(cm_environment *s, const cm_environment_parts *parts, cm_run *run, cm_error *error)
{
  uint32_t cores = cm_chip_cores(s->chip);
  CM_TRY(CM_NEW_ALL(run->memory, error, CM_ARRAY(s->site, s->sites), CM_ARRAY(s->site_on, cores)));
  memset(s->site_on, 0xff, cores * sizeof *s->site_on);
  for (uint32_t i = 0; i < s->sites; i++) {
    s->site[i] = parts->site[i];
    s->site_on[parts->site[i]] = i;
  }
  return CM_OK;
}

static cm_status check_room(const cm_environment *s, cm_error *error)
{
  for (uint32_t p = 0; p < s->processors; p++) {
    uint32_t nodes = s->node_first[p + 1] - s->node_first[p], sites = s->site_first[p + 1] - s->site_first[p];
    if (nodes > sites) {
      cm_fail(error, CM_NO_ROOM, "processor %u is to run %u nodes on %u cores", p, nodes, sites);
      cm_error_figure(error, "needed", nodes);
      cm_error_figure(error, "free", sites);
      return CM_NO_ROOM;
    }
  }
  return CM_OK;
}

cm_status cm_environment_new(const cm_environment_parts *parts, cm_run *run, cm_environment **environment, cm_error *error)
{
  cm_environment *s;
  CM_TRY(CM_NEW(run->memory, s, 1, error));
  s->graph = parts->graph;
  s->chip = parts->chip;
  s->memory = run->memory;
  s->nodes = parts->graph->vertex_count;
  s->sites = parts->sites;
  s->processors = parts->processors > 1 ? parts->processors : 1;
  cm_status status = number_sites(s, parts, run, error);
  CM_THEN(status, group_both(s, parts, error));
  CM_THEN(status, check_room(s, error));
  CM_THEN(status, cm_axes_new(s->chip, s->site, s->sites, run, &s->axes, error));
  CM_THEN(status, cm_laplacian_new(s->graph, run, &s->laplacian, error));
  CM_THEN(status, describe(s, parts, run, error));
  CM_END(status, *environment = s, cm_environment_free(s));
}

/* The number of each site's processor among those of `processors`. */
static void number_processors(const cm_environment_parts *parts, const cm_processors *processors, uint32_t *site_processor)
{
  for (uint32_t p = 0; p < processors->count; p++)
    for (uint32_t k = processors->first[p]; k < processors->first[p + 1]; k++) {
      uint32_t low = 0, high = parts->sites; /* sites ascend */
      while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;
        if (parts->site[middle] <= processors->core[k])
          low = middle;
        else
          high = middle;
      }
      site_processor[low] = p;
    }
}

cm_status cm_environment_new_shared(const cm_environment_parts *parts, uint64_t seed, cm_run *run, cm_environment **environment,
                              cm_error *error)
{
  cm_processors processors = {0};
  uint32_t *node_processor, *site_processor = NULL;
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(node_processor, parts->graph->vertex_count),
                                CM_ARRAY(site_processor, parts->sites));
  CM_THEN(status, cm_processors_new(parts->chip, parts->site, parts->sites, run->memory, &processors, error));
  CM_THEN(status, cm_processors_share(&(cm_sharing){parts->graph, parts->chip, &processors, seed, run}, node_processor, error));
  if (status == CM_OK) {
    cm_environment_parts shared = *parts;
    number_processors(parts, &processors, site_processor);
    shared.processors = processors.count;
    shared.node_processor = node_processor;
    shared.site_processor = site_processor;
    status = cm_environment_new(&shared, run, environment, error);
  }
  CM_FREE(node_processor, site_processor);
  cm_processors_free(&processors);
  return status;
}

cm_status cm_environment_join(const cm_environment *environment, cm_environment *joined, cm_error *error)
{
  cm_environment made = *environment;
  made.processors = 1;
  made.node_first = made.node = made.site_first = made.site_of = NULL;
  CM_END(group_both(&made, &(cm_environment_parts){.processors = 1}, error), *joined = made, cm_environment_joined_free(&made));
}

void cm_environment_joined_free(cm_environment *joined)
{
  CM_FREE(joined->node_first, joined->node, joined->site_first, joined->site_of);
  *joined = (cm_environment){0};
}

cm_region cm_environment_region(const cm_environment *environment)
{
  const cm_axes *a = environment->axes;
  return (cm_region){.x0 = environment->site[0] % environment->chip->width - a->column[0],
                     .y0 = environment->site[0] / environment->chip->width - a->row[0],
                     .width = a->columns,
                     .height = a->rows,
                     .core_count = environment->sites,
                     .cores = environment->site};
}

void cm_environment_free(cm_environment *environment)
{
  if (environment == NULL)
    return;
  cm_free(environment->site);
  cm_axes_free(environment->axes);
  CM_FREE(environment->node_first, environment->node, environment->site_first, environment->site_of);
  cm_laplacian_free(environment->laplacian);
  CM_FREE(environment->feature, environment->priority, environment->site_on, environment);
}

/* One axis as a policy sees it. */
typedef struct axis {
  const uint32_t *place; /* [sites] column or row */
  uint32_t length;
} axis;

/* What nodes see of each other where they stand. */
typedef struct looker {
  const cm_environment *of;
  const uint32_t *at;
  axis axes[2];
  float mean_weight;
  float *tally; /* [longest axis] zeros between looks */
} looker;

/* The weighted median place of a node's neighbours, and their mean distance from the node. */
typedef struct around {
  float median, spread;
} around;

static around look_along(const looker *l, const axis *a, uint32_t v)
{
  const cm_graph *g = l->of->graph;
  const uint32_t *at = l->at;
  uint32_t own = a->place[at[v]];
  float total = 0, sum = 0, half = 0, *tally = l->tally;
  around seen = {.median = (float)own};
  for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
    uint32_t place = a->place[at[g->neighbour[i]]];
    float weight = l->of->laplacian->weight[i];
    tally[place] += weight;
    total += weight;
    sum += weight * (float)(place > own ? place - own : own - place);
  }
  seen.spread = total > 0 ? sum / total : 0;
  for (uint32_t p = 0; p < a->length; p++) {
    bool before = half * 2 < total;
    half += tally[p];
    if (before && half * 2 >= total && total > 0)
      seen.median = (float)p;
    tally[p] = 0;
  }
  return seen;
}

/* Arc tangent hyperbolic of a place's position, half a step short of the ends, which no finite number reaches. */
static float logit(double position, uint32_t length)
{
  double most = 1 - 0.5 / (length > 1 ? length - 1 : 1);
  return (float)atanh(position > most ? most : position < -most ? -most : position);
}

static void look_from(const looker *l, uint32_t v, float *input)
{
  const cm_environment *s = l->of;
  float share = (float)s->priority[v] / l->mean_weight;
  for (int k = 0; k < 2; k++) {
    const axis *a = &l->axes[k], *other = &l->axes[1 - k];
    float *row = input + (2 * (size_t)v + (size_t)k) * CM_POLICY_INPUTS;
    float step = 2 / (float)(a->length > 1 ? a->length - 1 : 1);
    uint32_t place = a->place[l->at[v]];
    double position = cm_position(place, a->length, 1);
    const around seen = look_along(l, a, v);
    memcpy(row, s->feature + (size_t)v * CM_FEATURES, CM_FEATURES * sizeof *row);
    row[CM_INPUT_POSITION] = (float)position;
    row[CM_INPUT_LOGIT] = logit(position, a->length);
    row[CM_INPUT_MEDIAN] = (seen.median - (float)place) * step;
    row[CM_INPUT_SPREAD] = seen.spread * step;
    row[CM_INPUT_ACROSS] = (float)cm_position(other->place[l->at[v]], other->length, 1);
    row[CM_INPUT_STEP] = step;
    row[CM_INPUT_FILL] = (float)s->nodes / (float)s->sites;
    row[CM_INPUT_SHARE] = share / (1 + share);
    row[CM_POLICY_INPUTS - 1] = 0;
  }
}

cm_status cm_environment_observe(const cm_environment *environment, const uint32_t *at, float *input, cm_error *error)
{
  const cm_axes *a = environment->axes;
  looker l = {.of = environment, .at = at, .axes = {{a->column, a->columns}, {a->row, a->rows}}};
  double weight = 0;
  CM_TRY(CM_NEW(environment->memory, l.tally, a->columns > a->rows ? a->columns : a->rows, error));
  for (uint32_t v = 0; v < environment->nodes; v++)
    weight += (double)environment->priority[v];
  l.mean_weight = weight > 0 ? (float)(weight / environment->nodes) : 1;
  for (uint32_t v = 0; v < environment->nodes; v++)
    look_from(&l, v, input);
  cm_free(l.tally);
  return CM_OK;
}

uint64_t cm_environment_hops(const cm_environment *environment, const uint32_t *at)
{
  return cm_axes_cost(environment->graph, environment->axes, at);
}

void cm_environment_losses(const cm_environment *environment, const uint32_t *at, double *loss)
{
  const cm_graph *g = environment->graph;
  const cm_axes *a = environment->axes;
  for (uint32_t v = 0; v < environment->nodes; v++) {
    double side[4] = {0}, straight = 0; /* left, right, above, below; in the same column or row none */
    uint32_t column = a->column[at[v]], row = a->row[at[v]];
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
      uint32_t u = at[g->neighbour[i]];
      double pays = (double)g->weight[i] * cm_axes_distance(a, at[v], u);
      straight += pays;
      side[0] += a->column[u] < column ? pays : 0;
      side[1] += a->column[u] > column ? pays : 0;
      side[2] += a->row[u] < row ? pays : 0;
      side[3] += a->row[u] > row ? pays : 0;
    }
    loss[v] = straight + fmax(side[0], side[1]) + fmax(side[2], side[3]);
  }
}
