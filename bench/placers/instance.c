#include "bench/placers/instance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "core/mapping/options.h"
#include "core/network/import.h"
#include "core/partition/flows.h"

void bench_die(const char *what, const char *detail)
{
  fprintf(stderr, "bench/learned_place: %s%s%s\n", what, detail[0] != '\0' ? ": " : "", detail);
  exit(2);
}

void bench_must(cm_status status, const char *what, const cm_error *error)
{
  if (status != CM_OK)
    bench_die(what, error->detail);
}

void *bench_array(size_t count, size_t size)
{
  void *block = calloc(count + 1, size);
  if (block == NULL)
    bench_die("out of memory", "");
  return block;
}

static void make_chip(bench_instance *b)
{
  char text[400];
  cm_error error;
  const bench_wish *a = &b->wish;
  if (a->width % a->processors_x != 0 || a->height % a->processors_y != 0)
    bench_die("the mesh is no whole number of processors wide and high", "");
  (void)snprintf(text, sizeof text,
                 "{\"name\": \"bench\", \"dies\": [%u, %u], \"cores\": [%u, %u], \"energy_pj\": {\"router\": 1, "
                 "\"link\": 0.1}, \"latency_ns\": {\"router\": 1, \"link\": 0.01}}",
                 a->processors_x, a->processors_y, a->width / a->processors_x, a->height / a->processors_y);
  bench_must(cm_chip_parse(text, strlen(text), &b->chip, &error), "no such chip", &error);
}

/* Blocks of cores, at random places, as other jobs would leave them. */
static void occupy(bench_instance *b)
{
  cm_error error;
  cm_random random;
  uint32_t width = b->wish.width, height = b->wish.height;
  uint32_t cores = width * height, wanted = cores * b->wish.occupied / 100, taken = 0;
  bench_must(cm_occupancy_new(b->chip, &b->occupancy, &error), "no occupancy", &error);
  cm_random_init(&random, b->wish.seed, 1001, 0);
  while (taken < wanted) {
    uint32_t side = 1 + (uint32_t)cm_random_below(&random, width / 4 + 1);
    uint32_t x0 = (uint32_t)cm_random_below(&random, width), y0 = (uint32_t)cm_random_below(&random, height);
    for (uint32_t y = y0; y < y0 + side && y < height; y++)
      for (uint32_t x = x0; x < x0 + side && x < width && taken < wanted; x++) {
        uint8_t *state = &b->occupancy->state[y * width + x];
        taken += *state == CM_CORE_FREE;
        *state = CM_CORE_TAKEN;
      }
  }
}

/* By how much parts must be allowed to exceed their mean size: what the pipeline allows when nobody says, and where
 * vertices are of many sizes (tiles) as much as the largest asks for. */
static double imbalance(const cm_topology *t, uint32_t parts)
{
  double mean = (double)t->size_total / parts, largest = 0;
  for (uint32_t v = 0; t->size != NULL && v < t->vertex_count; v++)
    largest = fmax(largest, t->size[v]);
  return largest > 0 ? ceil(100 * largest / mean) / 100 : 0.03;
}

static void cut(bench_instance *b)
{
  cm_error error;
  cm_map_options *options;
  char text[240];
  uint32_t parts = cm_occupancy_free_count(b->occupancy) * b->wish.fill / 100;
  parts = parts > b->topology->vertex_count ? b->topology->vertex_count : parts < 1 ? 1 : parts;
  (void)snprintf(text, sizeof text,
                 "{\"preset\": \"fast\", \"objective\": \"edge\", \"parts\": %u, \"imbalance\": %.2f, "
                 "\"seed\": %llu}",
                 parts, imbalance(b->topology, parts), (unsigned long long)b->wish.seed);
  json_t *json = json_loads(text, 0, NULL);
  bench_must(cm_map_options_parse(json, &options, &error), "no such options", &error);
  json_decref(json);
  cm_map_input input = {.demand = CM_DEMAND_OF(b->topology), .network_id = "bench", .options = options, .scratch_folder = "/tmp"};
  bench_must(cm_make_parts(&input, &b->run, &b->stage, &error), "cannot cut the network", &error);
  cm_map_options_free(options);
  b->parts = b->stage.partition->part_count;
  b->part = b->stage.partition->part;
}

static void make_graph(bench_instance *b)
{
  cm_error error;
  if (b->topology->directed) {
    bench_must(cm_graph_of_axons(CM_DEMAND_OF(b->topology), b->part, b->parts, &b->run, &b->graph, &error), "no flows", &error);
  } else {
    cm_graph *all;
    bench_must(cm_graph_from_topology(CM_DEMAND_OF(b->topology), &b->run, &all, &error), "no graph", &error);
    bench_must(cm_graph_contract(all, b->part, b->parts, &b->run, &b->graph, &error), "no parts", &error);
    cm_graph_free(all);
  }
  bench_must(cm_multicast_from_topology(CM_DEMAND_OF(b->topology), b->part, b->parts, &b->run, &b->multicast, &error), "no trees",
             &error);
  bench_must(cm_region_choose(b->chip, b->occupancy, b->parts, &b->run, &b->region, &error), "no region", &error);
  b->task = (cm_reward_task){.parts = b->graph, .multicast = &b->multicast, .chip = b->chip, .rule = CM_TURNS_XY};
}

void bench_instance_make(const bench_wish *wish, bench_instance *made)
{
  bench_instance b = {.wish = *wish};
  cm_error error;
  cm_import_limits limits = cm_import_limits_default();
  cm_import_report imported;
  cm_run_init(&b.run);
  b.run.seed = wish->seed;
  bench_must(cm_import(wish->network, &limits, &b.run, &b.topology, &imported, &error), "cannot read the network",
             &error);
  make_chip(&b);
  occupy(&b);
  cut(&b);
  make_graph(&b);
  *made = b;
  made->task.multicast = &made->multicast;
}

void bench_instance_free(bench_instance *instance)
{
  cm_region_free(instance->region);
  cm_multicast_free(&instance->multicast);
  cm_graph_free(instance->graph);
  cm_candidate_free(&instance->stage);
  cm_occupancy_free(instance->occupancy);
  cm_chip_free(instance->chip);
  cm_topology_free(instance->topology);
}
