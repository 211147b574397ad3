/* bench/learned: places the parts of one network with every placer that there is, and prints what each result is worth
 * by the metrics of core/mapping. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/learned_annealing.h"
#include "core/base/random.h"
#include "core/chip/occupancy.h"
#include "core/chip/region.h"
#include "core/learning/agent/agent.h"
#include "core/learning/agent/refine.h"
#include "core/learning/reward.h"
#include "core/mapping/metrics.h"
#include "core/mapping/options.h"
#include "core/mapping/stage/stage.h"
#include "core/network/import.h"
#include "core/partition/flows.h"
#include "core/placement/arrange.h"
#include "core/placement/placement.h"

static const char usage[] =
  "usage: bench/learned_place NETWORK [--mesh WxH] [--processors XxY] [--occupied PERCENT] [--fill PERCENT]\n"
  "                           [--seconds S] [--seed N] [--methods LIST] [--policy FILE]\n"
  "\n"
  "Cuts the network into as many parts as FILL percent (100) of the free cores of a mesh of XxY processors, WxH cores in\n"
  "all (16x16), of which blocks of OCCUPIED percent (0) are taken, and places them. One line a placer on standard\n"
  "output: network,mesh,processors,occupied,parts,method,seconds,hops,reward,energy,latency_mean,latency_max,congestion\n"
  "(CPU seconds; the metrics of core/mapping/metrics.h, the reward of docs/rewards.md). LIST of (all but the last two):\n"
  "  random, sequential            at random; part k on the k-th free core\n"
  "  reference                     the seed's bisection and force-directed swaps\n"
  "  policy                        the shipped policy, or that of --policy FILE, alone\n"
  "  annealing-policy              annealing from a random placement for as long as that\n"
  "  learned                       policy and refinement\n"
  "  annealing                     annealing for S seconds, or for as long as that\n"
  "  random+, sequential+, bisection+  the same refinement from there, for as many looks as learned takes\n"
  "  learned-fast                  policy and swaps, as preset fast\n"
  "  random-fast, bisection-fast   swaps from there, from start after start for as long as that\n"
  "  sequential-fast               swaps from there\n"
  "  learned-reward                learned, refined on the reward\n"
  "  annealing-reward              annealing for as long as that\n"
  "  engine, refined               the placement engine, balanced: minutes from 1000 parts on; refined on the reward\n";

typedef struct arguments {
  const char *network, *methods, *policy;
  unsigned width, height, processors_x, processors_y, occupied, fill;
  double seconds;
  uint64_t seed;
} arguments;

typedef struct bench {
  arguments a;
  cm_run run;
  cm_topology *topology;
  cm_chip *chip;
  cm_occupancy *occupancy;
  uint32_t *free_core, free_count;
  cm_stage stage;
  uint32_t parts;
  const uint32_t *part;
  cm_graph *graph;
  cm_multicast multicast;
  cm_region *region; /* of as many free cores as there are parts */
  cm_reward_task task;
} bench;

static void die(const char *what, const char *detail)
{
  fprintf(stderr, "bench/learned_place: %s%s%s\n", what, detail[0] != '\0' ? ": " : "", detail);
  exit(2);
}

static void must(cm_status status, const char *what, const cm_error *error)
{
  if (status != CM_OK)
    die(what, error->detail);
}

static void *array(size_t count, size_t size)
{
  void *block = calloc(count + 1, size);
  if (block == NULL)
    die("out of memory", "");
  return block;
}

/* ---- the instance ---- */

static void make_chip(bench *b)
{
  char text[400];
  cm_error error;
  const arguments *a = &b->a;
  if (a->width % a->processors_x != 0 || a->height % a->processors_y != 0)
    die("the mesh is no whole number of processors wide and high", "");
  (void)snprintf(text, sizeof text,
                 "{\"name\": \"bench\", \"dies\": [%u, %u], \"cores\": [%u, %u], \"energy_pj\": {\"router\": 1, "
                 "\"link\": 0.1}, \"latency_ns\": {\"router\": 1, \"link\": 0.01}}",
                 a->processors_x, a->processors_y, a->width / a->processors_x, a->height / a->processors_y);
  must(cm_chip_parse(text, strlen(text), &b->chip, &error), "no such chip", &error);
}

/* Blocks of cores, at random places, as other jobs would leave them. */
static void occupy(bench *b)
{
  cm_error error;
  cm_random random;
  uint32_t cores = cm_chip_cores(b->chip), wanted = cores * b->a.occupied / 100, taken = 0;
  must(cm_occupancy_new(b->chip, &b->occupancy, &error), "no occupancy", &error);
  cm_random_init(&random, b->a.seed, 1001, 0);
  while (taken < wanted) {
    uint32_t side = 1 + (uint32_t)cm_random_below(&random, b->a.width / 4 + 1);
    uint32_t x0 = (uint32_t)cm_random_below(&random, b->a.width), y0 = (uint32_t)cm_random_below(&random, b->a.height);
    for (uint32_t y = y0; y < y0 + side && y < b->a.height; y++)
      for (uint32_t x = x0; x < x0 + side && x < b->a.width && taken < wanted; x++) {
        uint8_t *state = &b->occupancy->state[y * b->a.width + x];
        taken += *state == CM_CORE_FREE;
        *state = CM_CORE_TAKEN;
      }
  }
  b->free_core = array(cores, sizeof *b->free_core);
  for (uint32_t c = 0; c < cores; c++)
    if (b->occupancy->state[c] == CM_CORE_FREE)
      b->free_core[b->free_count++] = c;
}

static void cut(bench *b)
{
  cm_error error;
  cm_map_options *options;
  char text[200];
  uint32_t parts = b->free_count * b->a.fill / 100;
  parts = parts > b->topology->vertex_count ? b->topology->vertex_count : parts < 1 ? 1 : parts;
  (void)snprintf(text, sizeof text, "{\"preset\": \"fast\", \"objective\": \"edge\", \"parts\": %u, \"seed\": %llu}",
                 parts, (unsigned long long)b->a.seed);
  json_t *json = json_loads(text, 0, NULL);
  must(cm_map_options_parse(json, &options, &error), "no such options", &error);
  json_decref(json);
  cm_map_input input = {.topology = b->topology, .network_id = "bench", .options = options, .scratch_folder = "/tmp"};
  must(cm_stage_run(&input, &b->run, &b->stage, &error), "cannot cut the network", &error);
  cm_map_options_free(options);
  b->parts = b->stage.partition->part_count;
  b->part = b->stage.partition->part;
}

static void make_graph(bench *b)
{
  cm_error error;
  if (b->topology->directed) {
    must(cm_graph_of_axons(b->topology, b->part, b->parts, &b->run, &b->graph, &error), "no flows", &error);
  } else {
    cm_graph *all;
    must(cm_graph_from_topology(b->topology, &b->run, &all, &error), "no graph", &error);
    must(cm_graph_contract(all, b->part, b->parts, &b->run, &b->graph, &error), "no parts", &error);
    cm_graph_free(all);
  }
  must(cm_multicast_from_topology(b->topology, b->part, b->parts, &b->run, &b->multicast, &error), "no trees", &error);
  must(cm_region_choose(b->chip, b->occupancy, b->parts, &b->run, &b->region, &error), "no region", &error);
  b->task = (cm_reward_task){.parts = b->graph, .multicast = &b->multicast, .chip = b->chip, .rule = CM_TURNS_XY};
}

/* ---- placers ---- */

static bool wanted(const bench *b, const char *method)
{
  size_t length = strlen(method);
  for (const char *at = b->a.methods; (at = strstr(at, method)) != NULL; at += length)
    if ((at == b->a.methods || at[-1] == ',') && (at[length] == ',' || at[length] == '\0'))
      return true;
  return false;
}

static void report(bench *b, const char *method, double seconds, const uint32_t *core)
{
  cm_error error;
  cm_metrics metrics;
  cm_metrics_detail detail = {0};
  cm_reward reward;
  must(cm_metrics_compute(b->topology, b->chip, b->part, b->parts, core, &b->run, &metrics, &detail, &error),
       "cannot measure", &error);
  must(cm_reward_compute(&b->task, core, &b->run, &reward, &error), "cannot reward", &error);
  const char *name = strrchr(b->a.network, '/');
  name = name == NULL ? b->a.network : name + 1;
  printf("%.*s,%ux%u,%u,%u,%u,%s,%.4f,%.10g,%.10g,%.10g,%.8g,%.8g,%.8g\n", (int)strcspn(name, "."), name, b->a.width,
         b->a.height, b->a.processors_x * b->a.processors_y, b->a.occupied, b->parts, method, seconds,
         metrics.hop_traffic, reward.reward / (double)b->topology->weight_scale, metrics.energy_pj,
         metrics.latency_mean_ns, metrics.latency_max_ns, metrics.congestion_max);
  (void)fflush(stdout);
  cm_metrics_detail_free(&detail);
}

static void place_random(bench *b, uint32_t *core)
{
  cm_random random;
  uint32_t *order = array(b->free_count, sizeof *order);
  cm_random_init(&random, b->a.seed, 1002, 0);
  cm_random_permutation(&random, order, b->free_count);
  for (uint32_t p = 0; p < b->parts; p++)
    core[p] = b->free_core[order[p]];
  free(order);
}

static void place_reference(bench *b, uint32_t *core)
{
  cm_error error;
  cm_force_result result;
  const cm_force_options force = {.share = 0.05, .rounds_max = 1000};
  must(cm_place_by_bisection(b->graph, b->chip, b->region, 8, b->a.seed, &b->run, core, &error), "bisection", &error);
  must(cm_place_by_force(b->graph, b->chip, b->region, &force, &b->run, core, &result, &error), "force", &error);
}

static void place_engine(bench *b, uint32_t *core)
{
  cm_error error;
  cm_arrange_result result;
  must(cm_arrange(b->graph, b->chip, b->region, CM_ARRANGE_BALANCED, b->a.seed, &b->run, core, &result, &error),
       "engine", &error);
}

/* ---- the policy ---- */

static cm_scene *scene_of(bench *b)
{
  cm_error error;
  cm_flows *flows;
  cm_scene *scene;
  must(b->topology->directed ? cm_flows_of_axons(b->topology, b->part, b->parts, &b->run, &flows, &error)
                             : cm_flows_of_graph(b->graph, &b->run, &flows, &error),
       "no flows", &error);
  cm_scene_parts parts = {.graph = b->graph, .flows = flows, .multicast = &b->multicast, .chip = b->chip,
                          .site = b->region->cores, .sites = b->region->core_count};
  must(cm_scene_new_shared(&parts, b->a.seed, &b->run, &scene, &error), "no scene", &error);
  cm_flows_free(flows);
  return scene;
}

static const double looks_balanced = 5e8; /* as the mapper */

/* The policy's placements from all starts, refined unless `looks` is negative, and the best of them. */
static void place_by_policy(bench *b, double looks, uint32_t *core)
{
  cm_error error;
  cm_policy *policy;
  cm_acted acted[CM_LAYOUTS];
  uint64_t least = UINT64_MAX;
  const cm_refine_options options = {looks, b->a.seed};
  cm_scene *scene = scene_of(b);
  must(b->a.policy != NULL ? cm_policy_load(b->a.policy, &policy, &error) : cm_policy_shipped(&policy, &error),
       "no policy", &error);
  must(cm_policy_act(policy, scene, 0, &b->run, acted, &error), "the policy", &error);
  for (int l = 0; l < CM_LAYOUTS; l++) {
    if (looks >= 0)
      must(cm_scene_refine(scene, &options, &b->run, acted[l].at, &error), "refinement", &error);
    uint64_t hops = cm_scene_hops(scene, acted[l].at);
    for (uint32_t p = 0; p < b->parts && hops < least; p++)
      core[p] = scene->site[acted[l].at[p]];
    least = hops < least ? hops : least;
  }
  cm_acted_free(acted);
  cm_policy_free(policy);
  cm_scene_free(scene);
}

static void place_policy(bench *b, uint32_t *core)
{
  place_by_policy(b, -1, core);
}

static void place_learned(bench *b, uint32_t *core)
{
  place_by_policy(b, looks_balanced, core);
}

static void refine_reward(bench *b, uint32_t *core)
{
  cm_error error;
  cm_reward_refined result;
  const cm_reward_refine_options options = {.sweeps = 160, .seed = b->a.seed};
  must(cm_reward_refine(&b->task, b->free_core, b->free_count, &options, &b->run, core, &result, &error), "refinement",
       &error);
}

static void place_refined(bench *b, uint32_t *core)
{
  place_engine(b, core);
  refine_reward(b, core);
}

static void place_learned_reward(bench *b, uint32_t *core)
{
  place_by_policy(b, looks_balanced, core);
  refine_reward(b, core);
}

static void place_learned_fast(bench *b, uint32_t *core)
{
  place_by_policy(b, 0, core);
}

/* The policy's refinement from another start. */
static void refine_from(bench *b, double looks, uint32_t *core)
{
  cm_error error;
  const cm_refine_options options = {looks, b->a.seed};
  cm_scene *scene = scene_of(b);
  uint32_t *at = array(b->parts, sizeof *at);
  for (uint32_t p = 0; p < b->parts; p++)
    at[p] = scene->site_on[core[p]];
  must(cm_scene_refine(scene, &options, &b->run, at, &error), "refinement", &error);
  for (uint32_t p = 0; p < b->parts; p++)
    core[p] = scene->site[at[p]];
  free(at);
  cm_scene_free(scene);
}

typedef enum start { SEQUENTIAL, RANDOM, BISECTION } start;

static void begin(bench *b, start from, uint64_t seed, uint32_t *core)
{
  cm_error error;
  memcpy(core, b->region->cores, b->parts * sizeof *core);
  if (from == RANDOM) {
    cm_random random;
    uint32_t *order = array(b->parts, sizeof *order);
    cm_random_init(&random, seed, 1003, 0);
    cm_random_permutation(&random, order, b->parts);
    for (uint32_t p = 0; p < b->parts; p++)
      core[p] = b->region->cores[order[p]];
    free(order);
  } else if (from == BISECTION)
    must(cm_place_by_bisection(b->graph, b->chip, b->region, 8, seed, &b->run, core, &error), "bisection", &error);
}

/* Once, for as many looks as the policy's placements from all starts got together. */
static void compete_refined(bench *b, const char *method, start from, uint32_t *core)
{
  if (!wanted(b, method))
    return;
  double before = bench_cpu_seconds();
  begin(b, from, b->a.seed, core);
  refine_from(b, CM_LAYOUTS * looks_balanced, core);
  report(b, method, bench_cpu_seconds() - before, core);
}

/* Swaps alone, from start after start until the time is over; at least once. The best counts. */
static void compete_fast(bench *b, const char *method, start from, double seconds, uint32_t *core)
{
  if (!wanted(b, method))
    return;
  uint32_t *tried = array(b->parts, sizeof *tried);
  double before = bench_cpu_seconds();
  uint64_t least = UINT64_MAX, seed = b->a.seed;
  do {
    begin(b, from, seed++, tried);
    refine_from(b, 0, tried);
    uint64_t hops = cm_placement_traffic(b->graph, b->chip, tried);
    if (hops < least)
      memcpy(core, tried, b->parts * sizeof *core);
    least = hops < least ? hops : least;
  } while (from != SEQUENTIAL && bench_cpu_seconds() - before < seconds);
  report(b, method, bench_cpu_seconds() - before, core);
  free(tried);
}

/* Reports a placer, and says how long it took. */
static double compete(bench *b, const char *method, void (*place)(bench *, uint32_t *), uint32_t *core)
{
  if (!wanted(b, method))
    return 0;
  double begin = bench_cpu_seconds();
  place(b, core);
  double seconds = bench_cpu_seconds() - begin;
  report(b, method, seconds, core);
  return seconds;
}

/* Annealing on the cores that all placers may use. */
static void anneal(bench *b, const char *method, double seconds, uint32_t *core)
{
  if (!wanted(b, method))
    return;
  double before = bench_cpu_seconds();
  place_random(b, core);
  if (!bench_anneal(b->graph, b->chip, b->free_core, b->free_count, seconds, b->a.seed, core))
    die("out of memory", "");
  report(b, method, bench_cpu_seconds() - before, core);
}

static void place_sequential(bench *b, uint32_t *core)
{
  begin(b, SEQUENTIAL, 0, core);
}

static void compete_all(bench *b)
{
  uint32_t *core = array(b->parts, sizeof *core);
  (void)compete(b, "random", place_random, core);
  (void)compete(b, "sequential", place_sequential, core);
  (void)compete(b, "reference", place_reference, core);
  anneal(b, "annealing-policy", compete(b, "policy", place_policy, core), core);
  double learned = compete(b, "learned", place_learned, core);
  anneal(b, "annealing", b->a.seconds > 0 ? b->a.seconds : learned, core);
  compete_refined(b, "random+", RANDOM, core);
  compete_refined(b, "sequential+", SEQUENTIAL, core);
  compete_refined(b, "bisection+", BISECTION, core);
  double fast = compete(b, "learned-fast", place_learned_fast, core);
  compete_fast(b, "random-fast", RANDOM, fast, core);
  compete_fast(b, "sequential-fast", SEQUENTIAL, fast, core);
  compete_fast(b, "bisection-fast", BISECTION, fast, core);
  anneal(b, "annealing-reward", compete(b, "learned-reward", place_learned_reward, core), core);
  (void)compete(b, "engine", place_engine, core);
  (void)compete(b, "refined", place_refined, core);
  free(core);
}

/* ---- arguments ---- */

static unsigned number(const char *text, unsigned most)
{
  char *end;
  errno = 0;
  unsigned long value = strtoul(text, &end, 10);
  if (errno != 0 || *end != '\0' || value > most)
    die("no fit number", text);
  return (unsigned)value;
}

static void pair(const char *text, unsigned *x, unsigned *y)
{
  int used = 0;
  if (sscanf(text, "%ux%u%n", x, y, &used) != 2 || text[used] != '\0' || *x < 1 || *y < 1 || *x > 1024 || *y > 1024)
    die("WxH is wanted", text);
}

static arguments parse(int argc, char **argv)
{
  arguments a = {.methods = "random,sequential,reference,policy,annealing-policy,learned,annealing,random+,sequential+,"
                            "bisection+,learned-fast,random-fast,sequential-fast,bisection-fast,learned-reward,"
                            "annealing-reward",
                 .width = 16, .height = 16, .processors_x = 1, .processors_y = 1, .fill = 100, .seed = 1};
  static const struct option flags[] = {
    {"mesh", required_argument, NULL, 'm'}, {"processors", required_argument, NULL, 'p'},
    {"occupied", required_argument, NULL, 'o'}, {"fill", required_argument, NULL, 'f'},
    {"seconds", required_argument, NULL, 't'}, {"seed", required_argument, NULL, 's'},
    {"methods", required_argument, NULL, 'w'}, {"policy", required_argument, NULL, 'l'},
    {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
  for (int flag; (flag = getopt_long(argc, argv, "", flags, NULL)) != -1;) {
    switch (flag) {
      case 'm': pair(optarg, &a.width, &a.height); break;
      case 'p': pair(optarg, &a.processors_x, &a.processors_y); break;
      case 'o': a.occupied = number(optarg, 90); break;
      case 'f': a.fill = number(optarg, 100); break;
      case 't': a.seconds = strtod(optarg, NULL); break;
      case 's': a.seed = number(optarg, UINT32_MAX); break;
      case 'w': a.methods = optarg; break;
      case 'l': a.policy = optarg; break;
      case 'h': fputs(usage, stdout); exit(0);
      default: fputs(usage, stderr); exit(2);
    }
  }
  if (optind + 1 != argc || a.seconds < 0) {
    fputs(usage, stderr);
    exit(2);
  }
  a.network = argv[optind];
  return a;
}

int main(int argc, char **argv)
{
  bench b = {.a = parse(argc, argv)};
  cm_error error;
  cm_import_limits limits = cm_import_limits_default();
  cm_import_report imported;
  cm_run_init(&b.run);
  b.run.seed = b.a.seed;
  must(cm_import(b.a.network, &limits, &b.run, &b.topology, &imported, &error), "cannot read the network", &error);
  make_chip(&b);
  occupy(&b);
  cut(&b);
  make_graph(&b);
  compete_all(&b);
  cm_region_free(b.region);
  cm_multicast_free(&b.multicast);
  cm_graph_free(b.graph);
  cm_stage_free(&b.stage);
  cm_occupancy_free(b.occupancy);
  cm_chip_free(b.chip);
  cm_topology_free(b.topology);
  free(b.free_core);
  return 0;
}
