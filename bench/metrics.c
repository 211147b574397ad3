/* How long all metrics of a network with one part a core take: layers of clusters, each cluster sending to random
 * ones near its like in the next layer, on a square chip of single-router cores. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/order.h"
#include "base/random.h"
#include "core/verify/certificate.h"
#include "core/measure/measure.h"
#include "core/routing/routes.h"

static const char usage[] =
  "usage: bench/metrics [--side N] [--layers L] [--targets T] [--spread S] [--order rows|random] [--threads N] [--json]\n"
  "                     [--routes RULE] [--bounds]\n"
  "\n"
  "Computes every metric of N x N clusters (N is 1024) in L layers (32), each sending to T (64) of the S (4096) clusters\n"
  "around its like in the next layer, placed row by row or at random. Prints seconds, processor seconds and peak\n"
  "memory. With --routes also makes multicast\n"
  "routes under a turn rule (xy, west-first, ...) and writes their tables to nowhere; with --bounds also lower bounds.\n";

typedef struct setting {
  uint32_t side, layers, targets, spread;
  bool random, json, bounds;
  const char *routes;
  unsigned threads;
} setting;

/* Distinct targets of a cluster, ascending. */
static uint32_t draw(const setting *s, cm_random *random, uint32_t cluster, uint32_t width, uint32_t *target)
{
  uint32_t like = cluster % width, next = (cluster / width + 1) * width, kept = 0;
  for (uint32_t i = 0; i < s->targets; i++)
    target[i] = next + (uint32_t)((like + width + cm_random_below(random, s->spread) - s->spread / 2) % width);
  qsort(target, s->targets, sizeof *target, cm_ascending);
  for (uint32_t i = 0; i < s->targets; i++)
    if (kept == 0 || target[kept - 1] != target[i])
      target[kept++] = target[i];
  return kept;
}

static cm_status make(const setting *s, cm_memory *memory, cm_topology *t, cm_error *error)
{
  uint32_t clusters = s->side * s->side, width = clusters / s->layers, nets = clusters - width;
  *t = (cm_topology){
      .directed = true, .vertex_count = clusters, .net_count = nets, .size_total = clusters, .weight_scale = 1024};
  if (CM_NEW(memory, t->net_first, (size_t)nets + 1, error) != CM_OK ||
      CM_NEW(memory, t->net_weight, nets, error) != CM_OK ||
      CM_NEW(memory, t->pin, (size_t)nets * s->targets, error) != CM_OK)
    return error->status;
  cm_random random;
  cm_random_init(&random, 1, 0, 0);
  for (uint32_t e = 0; e < nets; e++) {
    t->net_weight[e] = 1 + cm_random_below(&random, 4096);
    t->pin_count += draw(s, &random, e, width, t->pin + t->pin_count);
    t->net_first[e + 1] = t->pin_count;
  }
  return CM_OK;
}

static cm_status add(json_t *all, const char *name, json_t *value, cm_error *error)
{
  return json_object_set_new(all, name, value) == 0 ? CM_OK
                                                    : cm_fail(error, CM_NO_MEMORY, "out of memory for the result");
}

static cm_status measure_routes(const setting *s, const cm_topology *t, const cm_chip *chip, cm_mapping *mapping,
                                cm_run *run, json_t *all, cm_error *error)
{
  cm_route_options options = {.multicast = true};
  cm_routes *routes;
  while (options.rule < CM_TURN_RULES && strcmp(cm_turn_rule_name(options.rule), s->routes) != 0)
    options.rule++;
  if (options.rule == CM_TURN_RULES)
    return cm_fail(error, CM_BAD_OPTION, "there is no turn rule %s", s->routes);
  double begin = cm_now();
  clock_t used = clock();
  const cm_mapped mapped = cm_mapped_by(mapping, CM_DEMAND_OF(t), chip);
  if (cm_routes_make(&mapped, &options, run, &routes, error) != CM_OK ||
      add(all, "routes_processor_seconds", json_real((double)(clock() - used) / CLOCKS_PER_SEC), error) != CM_OK)
    return error->status;
  used = clock();
  FILE *nowhere = fopen("/dev/null", "w");
  cm_status status = cm_routes_write(routes, CM_ROUTES_CSV, run, nowhere, error);
  fclose(nowhere);
  if (status == CM_OK &&
      add(all, "tables_processor_seconds", json_real((double)(clock() - used) / CLOCKS_PER_SEC), error) == CM_OK &&
      add(all, "routes_seconds", json_real(cm_now() - begin), error) == CM_OK)
    status = add(all, "routes", cm_routes_json(routes), error);
  cm_routes_free(routes);
  return status;
}

static cm_status measure_bounds(const cm_topology *t, const cm_chip *chip, const cm_mapping *mapping, cm_run *run,
                                json_t *all, cm_error *error)
{
  uint8_t *usable;
  cm_bounds bounds;
  clock_t used = clock();
  if (CM_NEW(run->memory, usable, cm_chip_cores(chip), error) != CM_OK)
    return error->status;
  memset(usable, 1, cm_chip_cores(chip));
  cm_status status = cm_bounds_compute(
    &(cm_mapped){.demand = CM_DEMAND_OF(t), .chip = chip, .part = mapping->part, .parts = mapping->part_count}, usable, run, &bounds, error);
  cm_free(usable);
  if (status == CM_OK && add(all, "energy_bound_pj", json_real(bounds.energy_pj), error) == CM_OK)
    status = add(all, "bounds_processor_seconds", json_real((double)(clock() - used) / CLOCKS_PER_SEC), error);
  return status;
}

static cm_status measure(const setting *s, cm_error *error)
{
  cm_memory memory;
  cm_run run;
  cm_topology t;
  cm_chip *chip = NULL;
  cm_metrics m;
  cm_metrics_detail d = {0};
  uint32_t clusters = s->side * s->side, *part, *core;
  cm_memory_init(&memory, 0);
  cm_run_init(&run);
  run.memory = &memory;
  run.threads = s->threads;
  if (cm_chip_mesh(s->side, s->side, &chip, error) != CM_OK || make(s, &memory, &t, error) != CM_OK ||
      CM_NEW(&memory, part, clusters, error) != CM_OK || CM_NEW(&memory, core, clusters, error) != CM_OK)
    return error->status;
  cm_random random;
  cm_random_init(&random, 2, 0, 0);
  if (s->random)
    cm_random_permutation(&random, core, clusters);
  for (uint32_t c = 0; c < clusters; c++) {
    part[c] = c;
    core[c] = s->random ? core[c] : c;
  }
  double begin = cm_now();
  clock_t used = clock();
  if (cm_metrics_compute(&(cm_mapped){CM_DEMAND_OF(&t), chip, part, clusters, core, NULL}, &run, &m, &d, error) != CM_OK)
    return error->status;
  double seconds = cm_now() - begin, processor = (double)(clock() - used) / CLOCKS_PER_SEC;
  json_t *all = cm_metrics_json(&m);
  if (all == NULL || json_object_set_new(all, "seconds", json_real(seconds)) != 0 ||
      json_object_set_new(all, "processor_seconds", json_real(processor)) != 0)
    return cm_fail(error, CM_NO_MEMORY, "out of memory for the result");
  cm_mapping mapping = {.vertex_count = clusters, .part_count = clusters, .part = part, .core = core};
  if (s->bounds && measure_bounds(&t, chip, &mapping, &run, all, error) != CM_OK)
    return error->status;
  if (s->routes != NULL && measure_routes(s, &t, chip, &mapping, &run, all, error) != CM_OK)
    return error->status;
  if (add(all, "peak_bytes", json_integer((json_int_t)atomic_load(&memory.peak_bytes)), error) != CM_OK)
    return error->status;
  if (s->json)
    (void)json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
  const char *name;
  json_t *value;
  if (!s->json)
    json_object_foreach(all, name, value) {
      if (json_is_number(value))
        printf("%-26s %.10g\n", name, json_number_value(value));
      else {
        char *text = json_dumps(value, JSON_REAL_PRECISION(10));
        printf("%-26s %s\n", name, text);
        free(text);
      }
    }
  json_decref(all);
  cm_metrics_detail_free(&d);
  cm_chip_free(chip);
  cm_free(part);
  cm_free(core);
  cm_free(t.net_first);
  cm_free(t.net_weight);
  cm_free(t.pin);
  return CM_OK;
}

int main(int argc, char **argv)
{
  enum { SIDE = 256, LAYERS, TARGETS, SPREAD, ORDER, THREADS, ROUTES, BOUNDS, JSON, HELP };
  static const struct option flags[] = {{"side", required_argument, NULL, SIDE}, {"layers", required_argument, NULL, LAYERS},
    {"targets", required_argument, NULL, TARGETS}, {"spread", required_argument, NULL, SPREAD},
    {"order", required_argument, NULL, ORDER}, {"threads", required_argument, NULL, THREADS}, {"json", no_argument, NULL, JSON},
    {"routes", required_argument, NULL, ROUTES}, {"bounds", no_argument, NULL, BOUNDS},
    {"help", no_argument, NULL, HELP}, {NULL, 0, NULL, 0}};
  setting s = {.side = 1024, .layers = 32, .targets = 64, .spread = 4096, .threads = 2};
  for (int flag; (flag = getopt_long(argc, argv, "", flags, NULL)) != -1;) {
    uint32_t number = optarg == NULL ? 0 : (uint32_t)strtoul(optarg, NULL, 10);
    switch (flag) {
      case SIDE: s.side = number; break;
      case LAYERS: s.layers = number; break;
      case TARGETS: s.targets = number; break;
      case SPREAD: s.spread = number; break;
      case ORDER: s.random = strcmp(optarg, "random") == 0; break;
      case THREADS: s.threads = number; break;
      case ROUTES: s.routes = optarg; break;
      case BOUNDS: s.bounds = true; break;
      case JSON: s.json = true; break;
      case HELP: fputs(usage, stdout); return 0;
      default: fputs(usage, stderr); return 2;
    }
  }
  if (s.side == 0 || s.side > 4096 || s.layers < 2 || s.layers > s.side * s.side || s.targets == 0 || s.spread == 0 ||
      s.spread > s.side * s.side / s.layers || s.threads == 0) {
    fputs(usage, stderr);
    return 2;
  }
  cm_error error;
  if (measure(&s, &error) == CM_OK)
    return 0;
  fprintf(stderr, "bench/metrics: %s\n", error.detail);
  return 1;
}
