#include "core/learning/training/examples.h"

#include <math.h>

#include "core/partition/edge/edge.h"
#include "core/partition/options.h"

/* A drawing under way: a matrix of weights, rows send to columns. */
typedef struct drawing {
  uint32_t nodes;
  uint32_t *weight; /* [nodes * nodes] */
  uint32_t *name;   /* [nodes] shuffled: the order of the numbers tells nothing */
  cm_random random;
} drawing;

static double unit(drawing *d)
{
  return cm_random_unit(&d->random);
}

static uint32_t below(drawing *d, uint32_t bound)
{
  return (uint32_t)cm_random_below(&d->random, bound);
}

/* Log-normal around 100. */
static double strength(drawing *d, double deviation)
{
  return exp(deviation * (unit(d) + unit(d) + unit(d) + unit(d) - 2) * 1.7) * 100;
}

static void send(drawing *d, uint32_t from, uint32_t to, double weight)
{
  if (from != to)
    d->weight[(size_t)d->name[from] * d->nodes + d->name[to]] += (uint32_t)fmin(fmax(weight, 1), 1e6);
}

static void talk(drawing *d, uint32_t a, uint32_t b, double weight)
{
  double share = unit(d);
  send(d, a, b, weight * share);
  send(d, b, a, weight * (1 - share));
}

static void draw_grid(drawing *d)
{
  uint32_t width = (uint32_t)ceil(sqrt(d->nodes * (0.5 + 1.5 * unit(d))));
  double kept = 0.8 + 0.2 * unit(d), diagonal = unit(d) < 0.5 ? 0 : 0.3;
  for (uint32_t v = 0; v < d->nodes; v++) {
    if (v % width + 1 < width && v + 1 < d->nodes && unit(d) < kept)
      talk(d, v, v + 1, strength(d, 0.3));
    if (v + width < d->nodes && unit(d) < kept)
      talk(d, v, v + width, strength(d, 0.3));
    if (v % width + 1 < width && v + width + 1 < d->nodes && unit(d) < diagonal)
      talk(d, v, v + width + 1, strength(d, 0.3));
  }
}

static void draw_geometric(drawing *d)
{
  uint64_t key = cm_random_next(&d->random);
  double reach = sqrt((4 + 12 * unit(d)) / (M_PI * d->nodes)), far = 0.02 * unit(d);
  for (uint32_t u = 0; u < d->nodes; u++)
    for (uint32_t v = u + 1; v < d->nodes; v++) {
      double x = cm_random_unit_of(key, 2 * (uint64_t)u) - cm_random_unit_of(key, 2 * (uint64_t)v);
      double y = cm_random_unit_of(key, 2 * (uint64_t)u + 1) - cm_random_unit_of(key, 2 * (uint64_t)v + 1);
      double distance = sqrt(x * x + y * y) / reach;
      if (distance < 1)
        talk(d, u, v, strength(d, 0.3) * exp(-2 * distance * distance));
      else if (unit(d) < far)
        talk(d, u, v, 5);
    }
}

static void draw_layers(drawing *d)
{
  uint32_t width = 2 + below(d, (uint32_t)sqrt(d->nodes) + 1), window = 1 + below(d, width);
  for (uint32_t v = 0; v + width < d->nodes; v++) {
    double weight = strength(d, 0.5);
    uint32_t layer = v / width, own = v % width;
    for (uint32_t k = 0; k < width; k++) {
      uint32_t to = (layer + 1) * width + k, apart = own > k ? own - k : k - own;
      if (to < d->nodes && (apart < window || apart > width - window))
        send(d, v, to, weight);
    }
    if (unit(d) < 0.1 && v + 2 * width < d->nodes)
      send(d, v, v + 2 * width, weight);
  }
}

static void draw_blocks(drawing *d)
{
  uint32_t blocks = 2 + below(d, 2 + d->nodes / 8);
  double inside = 0.3 + 0.5 * unit(d), outside = 0.02 + 0.08 * unit(d);
  for (uint32_t u = 0; u < d->nodes; u++)
    for (uint32_t v = u + 1; v < d->nodes; v++)
      if (unit(d) < (u % blocks == v % blocks ? inside : outside))
        talk(d, u, v, strength(d, 0.5));
}

static void draw_dense(drawing *d)
{
  uint64_t key = cm_random_next(&d->random);
  double spread = 0.2 + 1.2 * unit(d), locality = unit(d) < 0.5 ? 0 : 3 * unit(d);
  for (uint32_t u = 0; u < d->nodes; u++)
    for (uint32_t v = u + 1; v < d->nodes; v++) {
      double strong = exp(spread * (cm_random_unit_of(key, u) + cm_random_unit_of(key, v)) * 2);
      double apart = (double)(v - u) / d->nodes;
      apart = apart > 0.5 ? 1 - apart : apart;
      talk(d, u, v, 20 * strong * exp(-locality * 2 * apart) * (0.5 + unit(d)));
    }
}

static void draw_ring(drawing *d)
{
  uint32_t reach = 1 + below(d, 4);
  double far = 0.1 * unit(d);
  for (uint32_t v = 0; v < d->nodes; v++)
    for (uint32_t k = 1; k <= reach; k++)
      talk(d, v, unit(d) < far ? below(d, d->nodes) : (v + k) % d->nodes, strength(d, 0.3) / k);
}

static void draw_tree(drawing *d)
{
  uint32_t arity = 2 + below(d, 3);
  for (uint32_t v = 1; v < d->nodes; v++)
    talk(d, v, (v - 1) / arity, strength(d, 0.5) * (unit(d) < 0.3 ? 3 : 1));
}

static void draw_hubs(drawing *d)
{
  uint32_t links = 1 + below(d, 4);
  for (uint32_t v = 1; v < d->nodes; v++)
    for (uint32_t k = 0; k < links; k++) {
      uint32_t a = below(d, v), b = below(d, v);
      talk(d, v, a < b ? a : b, strength(d, 0.5)); /* the older the likelier */
    }
}

static cm_status gather(const drawing *d, cm_run *run, cm_flows **flows, cm_error *error)
{
  cm_flows *made;
  uint64_t count = 0;
  for (size_t i = 0; i < (size_t)d->nodes * d->nodes; i++)
    count += d->weight[i] > 0;
  CM_TRY(cm_flows_new(d->nodes, count, run, &made, error));
  count = 0;
  for (uint32_t u = 0; u < d->nodes; u++) {
    for (uint32_t v = 0; v < d->nodes; v++)
      if (d->weight[(size_t)u * d->nodes + v] > 0) {
        made->target[count] = v;
        made->weight[count++] = d->weight[(size_t)u * d->nodes + v];
      }
    made->first[u + 1] = count;
  }
  *flows = made;
  return CM_OK;
}

cm_status cm_example_draw(cm_family family, uint32_t nodes, uint64_t seed, cm_run *run, cm_flows **flows,
                          cm_error *error)
{
  static void (*const draw[])(drawing *) = {draw_grid,  draw_geometric, draw_layers, draw_blocks,
                                            draw_dense, draw_ring,      draw_tree,   draw_hubs};
  drawing d = {.nodes = nodes};
  cm_random_init(&d.random, seed, CM_STREAM_EXAMPLES, family);
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(d.weight, (size_t)nodes * nodes), CM_ARRAY(d.name, nodes));
  if (status == CM_OK) {
    cm_random_permutation(&d.random, d.name, nodes);
    draw[family](&d);
    status = gather(&d, run, flows, error);
  }
  CM_FREE(d.weight, d.name);
  return status;
}

cm_status cm_example_cast(const cm_flows *flows, uint64_t seed, cm_run *run, cm_multicast *multicast, cm_error *error)
{
  cm_multicast made = {.nodes = flows->parts};
  cm_random random;
  cm_random_init(&random, seed, CM_STREAM_EXAMPLES, UINT64_MAX - 1);
  CM_TRY_OR(CM_NEW_ALL(run->memory, error, CM_ARRAY(made.first, (size_t)flows->parts + 1),
                       CM_ARRAY(made.target, flows->first[flows->parts])), cm_multicast_free(&made));
  for (uint32_t v = 0; v < flows->parts; v++) {
    uint64_t count = flows->first[v + 1] - flows->first[v];
    made.first[v + 1] = made.first[v];
    if (cm_random_unit(&random) < 0.5 || count < 2)
      continue;
    memcpy(made.target + made.first[v], flows->target + flows->first[v], count * sizeof *made.target);
    made.first[v + 1] += count;
    made.trees++;
  }
  *multicast = made;
  return CM_OK;
}

/* ---- real networks ---- */

static cm_status partition(const cm_demand *demand, uint32_t parts, uint64_t seed, cm_run *run,
                           cm_partition **made, cm_error *error)
{
  uint64_t even = (demand->size_total + parts - 1) / parts, most = even + even / 10 + 1;
  cm_edge_options options = {.starts = 1, .tries = 3, .coarse_vertices = 30, .label_rounds = 3, .rounds = 2,
                             .patience = 20, .least_tie = 0.5, .split_sweeps = 2, .sweeps = 4,
                             .most = most, .parts = parts, .parts_max = parts, .seed = seed};
  return cm_partition_by_edges(demand, &options, run, made, error);
}

static cm_status traffic_of(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_run *run,
                            cm_example_traffic *made, cm_error *error)
{
  if (demand->network->directed) {
    CM_TRY(cm_multicast_from_topology(demand, part, parts, run, &made->multicast, error));
    return cm_flows_of_axons(demand, part, parts, run, &made->flows, error);
  }
  cm_graph *graph;
  CM_TRY(cm_graph_of_synapses(demand, part, parts, run, &graph, error));
  cm_status status = cm_flows_of_graph(graph, run, &made->flows, error);
  cm_graph_free(graph);
  return status;
}

cm_status cm_example_partition(const cm_demand *demand, uint32_t parts, uint64_t seed, cm_run *run,
                               cm_example_traffic *traffic, cm_error *error)
{
  cm_partition *cut = NULL;
  uint32_t *own = NULL, count = demand->network->vertex_count;
  if (count > parts) {
    CM_TRY(partition(demand, parts, seed, run, &cut, error));
    count = cut->part_count;
  } else {
    CM_TRY(CM_NEW(run->memory, own, count, error));
    for (uint32_t v = 0; v < count; v++)
      own[v] = v;
  }
  cm_example_traffic made = {0};
  cm_status status = traffic_of(demand, cut != NULL ? cut->part : own, count, run, &made, error);
  if (status == CM_OK)
    *traffic = made;
  else
    cm_multicast_free(&made.multicast);
  cm_partition_free(cut);
  cm_free(own);
  return status;
}

/* ---- environments ---- */

/* Takes a share of the cores, drawn at random, but leaves as many as are needed. */
static void take_cores(cm_occupancy *occupancy, double share, uint32_t needed, uint64_t seed)
{
  uint32_t cores = occupancy->width * occupancy->height, left = cm_occupancy_free_count(occupancy);
  cm_random random;
  cm_random_init(&random, seed, CM_STREAM_EXAMPLES, UINT64_MAX);
  for (uint32_t c = 0; c < cores && left > needed; c++)
    if (occupancy->state[c] == CM_CORE_FREE && cm_random_unit(&random) < share) {
      occupancy->state[c] = CM_CORE_TAKEN;
      left--;
    }
}

static cm_status copy_chip(const cm_chip *chip, cm_chip **copy, cm_error *error)
{
  char *text;
  CM_TRY(cm_chip_print(chip, &text, error));
  cm_status status = cm_chip_parse(text, strlen(text), copy, error);
  free(text);
  return status;
}

static cm_status build(cm_example *e, double taken, uint64_t seed, cm_run *run, cm_error *error)
{
  cm_occupancy *occupancy;
  cm_region *region = NULL;
  CM_TRY(cm_graph_of_flows(e->flows, run, &e->graph, error));
  CM_TRY(cm_occupancy_new(e->chip, &occupancy, error));
  take_cores(occupancy, taken, e->graph->vertex_count, seed);
  cm_status status = cm_region_choose(e->chip, occupancy, e->graph->vertex_count, run, &region, error);
  if (status == CM_OK) {
    cm_environment_parts parts = {.graph = e->graph, .flows = e->flows,
                            .multicast = e->multicast.first != NULL ? &e->multicast : NULL, .chip = e->chip,
                            .site = region->cores, .sites = region->core_count};
    status = cm_environment_new(&parts, run, &e->environment, error);
  }
  cm_region_free(region);
  cm_occupancy_free(occupancy);
  return status;
}

cm_status cm_example_new(const char *name, const cm_example_traffic *traffic, const cm_example_site *site, cm_run *run,
                         cm_example **example, cm_error *error)
{
  cm_example *e;
  CM_TRY(CM_NEW(run->memory, e, 1, error));
  (void)snprintf(e->name, sizeof e->name, "%s", name);
  e->flows = traffic->flows;
  e->multicast = traffic->multicast;
  cm_status status = copy_chip(site->chip, &e->chip, error);
  CM_THEN(status, build(e, site->taken, site->seed, run, error));
  if (status != CM_OK) {
    e->flows = NULL;
    e->multicast = (cm_multicast){0};
    cm_example_free(e);
    return status;
  }
  *example = e;
  return CM_OK;
}

void cm_example_free(cm_example *example)
{
  if (example == NULL)
    return;
  cm_environment_free(example->environment);
  cm_graph_free(example->graph);
  cm_flows_free(example->flows);
  cm_multicast_free(&example->multicast);
  cm_chip_free(example->chip);
  cm_free(example);
}
