/* bench/learned: places the parts of one network with every placer that there is, and prints what each result is worth
 * by the metrics of core/measure. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/placers/annealing.h"
#include "bench/placers/instance.h"
#include "base/random.h"
#include "core/learning/agent/agent.h"
#include "core/learning/agent/placement_refinement.h"
#include "core/learning/letter/letter.h"
#include "core/learning/pilot/pilot.h"
#include "core/learning/training/letter_tuning.h"
#include "core/measure/measure.h"
#include "core/partition/flows.h"
#include "core/placement/placement.h"
#include "core/solver/presets.h"

static const char usage[] =
  "usage: bench/learned_place NETWORK [--mesh WxH] [--processors XxY] [--occupied PERCENT] [--fill PERCENT]\n"
  "                           [--seconds S] [--seed N] [--methods LIST] [--policy FILE]\n"
  "\n"
  "Cuts the network into as many parts as FILL percent (100) of the free cores of a mesh of XxY processors, WxH cores\n"
  "in all (16x16), of which blocks of OCCUPIED percent (0) are taken, and places them. One line a placer on standard\n"
  "output: network,mesh,processors,occupied,seed,parts,method,seconds,hops,reward,energy,latency_mean,latency_max,\n"
  "congestion (CPU seconds; the metrics of core/measure/measure.h, the reward of docs/explanation/rewards.md). LIST of:\n"
  "  random, sequential            at random; part k on the k-th core of the region\n"
  "  reference                     the source's bisection and force-directed swaps\n"
  "  letter, letter-order          the source's method, trained on the graph at hand as preset balanced does; over cores in order\n"
  "  letter-shared, letter-plane   the same trained before, with weights that nodes share; in two dimensions\n"
  "  layout, layout-untrained      the policy that corrects a layout, and the same with a network that was never trained\n"
  "  policy                        the pilot that ships, or the policy of --policy FILE, alone\n"
  "  untrained                     a pilot that was never trained\n"
  "  annealing-policy              annealing from a random placement for as long as that\n"
  "  learned                       policy and refinement\n"
  "  annealing                     annealing for S seconds, or for as long as that\n"
  "  random+, sequential+, bisection+  the same refinement from there, for as many looks as learned takes\n"
  "  learned-fast                  policy and swaps, as preset fast\n"
  "  random-fast, bisection-fast   swaps from there, from start after start for as long as that\n"
  "  sequential-fast               swaps from there\n"
  "  learned-reward                the policy, refined on the reward\n"
  "  annealing-reward              annealing for as long as that\n"
  "  fast, balanced, best          the placement engine with that effort, on the same region\n"
  "  balanced-reward               balanced, refined on the reward\n"
  "and without LIST all but best and balanced-reward.\n";

typedef struct bench {
  bench_instance i;
  const char *methods, *policy;
  double seconds;
} bench;

/* ---- placers ---- */

static bool wanted(const bench *b, const char *method)
{
  size_t length = strlen(method);
  for (const char *at = b->methods; (at = strstr(at, method)) != NULL; at += length)
    if ((at == b->methods || at[-1] == ',') && (at[length] == ',' || at[length] == '\0'))
      return true;
  return false;
}

static void report(bench *b, const char *method, double seconds, const uint32_t *core)
{
  cm_error error;
  cm_metrics metrics;
  cm_metrics_detail detail = {0};
  cm_reward reward;
  bench_must(
    cm_metrics_compute(&(cm_mapped){CM_DEMAND_OF(b->i.topology), b->i.chip, b->i.part, b->i.parts, core, NULL}, &b->i.run, &metrics, &detail, &error),
    "cannot measure", &error);
  bench_must(cm_reward_compute(&b->i.task, core, &b->i.run, &reward, &error), "cannot reward", &error);
  const bench_wish *wish = &b->i.wish;
  const char *name = strrchr(wish->network, '/');
  name = name == NULL ? wish->network : name + 1;
  printf("%.*s,%ux%u,%u,%u,%llu,%u,%s,%.4f,%.10g,%.10g,%.10g,%.8g,%.8g,%.8g\n", (int)strcspn(name, "."), name,
         wish->width, wish->height, wish->processors_x * wish->processors_y, wish->occupied,
         (unsigned long long)wish->seed, b->i.parts, method, seconds, metrics.hop_traffic,
         reward.reward / (double)b->i.topology->weight_scale, metrics.energy_pj, metrics.latency_mean_ns,
         metrics.latency_max_ns, metrics.congestion_max);
  (void)fflush(stdout);
  cm_metrics_detail_free(&detail);
}

static void place_random(bench *b, uint32_t *core)
{
  cm_random random;
  uint32_t *order = bench_array(b->i.parts, sizeof *order);
  cm_random_init(&random, b->i.wish.seed, 1002, 0);
  cm_random_permutation(&random, order, b->i.parts);
  for (uint32_t p = 0; p < b->i.parts; p++)
    core[p] = b->i.region->cores[order[p]];
  free(order);
}

static void bisect(bench *b, uint64_t seed, uint32_t *core)
{
  cm_error error;
  bench_must(cm_place_by_bisection(b->i.graph,
                                   &(cm_place_task){.chip = b->i.chip, .region = b->i.region, .seed = seed, .run = &b->i.run}, 8,
                                   core, &error),
             "bisection", &error);
}

static void place_reference(bench *b, uint32_t *core)
{
  cm_error error;
  cm_force_result result;
  const cm_force_options force = {.share = 0.05, .rounds_max = 1000};
  bisect(b, b->i.wish.seed, core);
  bench_must(cm_place_by_force(
               b->i.graph, &(cm_place_task){.chip = b->i.chip, .region = b->i.region, .seed = b->i.wish.seed, .run = &b->i.run},
               &force, core, &result, &error),
             "force", &error);
}

static void arrange(bench *b, cm_preset preset, uint32_t *core)
{
  cm_error error;
  cm_arrange_result result;
  cm_arrange_options options = {.budget = &cm_efforts[preset].place.arrange};
  bench_must(cm_arrange(b->i.graph,
                        &(cm_place_task){.chip = b->i.chip, .region = b->i.region, .seed = b->i.wish.seed, .run = &b->i.run},
                        &options, core, &result, &error),
             "engine", &error);
}

static void place_balanced(bench *b, uint32_t *core)
{
  arrange(b, CM_PRESET_BALANCED, core);
}

static void place_best(bench *b, uint32_t *core)
{
  arrange(b, CM_PRESET_BEST, core);
}

/* ---- the policy ---- */

static cm_environment *environment_of(bench *b)
{
  cm_error error;
  cm_flows *flows;
  cm_environment *environment;
  bench_must(b->i.topology->directed
               ? cm_flows_of_axons(CM_DEMAND_OF(b->i.topology), b->i.part, b->i.parts, &b->i.run, &flows, &error)
               : cm_flows_of_graph(b->i.graph, &b->i.run, &flows, &error),
             "no flows", &error);
  cm_environment_parts parts = {.graph = b->i.graph, .flows = flows, .multicast = &b->i.multicast, .chip = b->i.chip,
                          .site = b->i.region->cores, .sites = b->i.region->core_count};
  bench_must(cm_environment_new_shared(&parts, b->i.wish.seed, &b->i.run, &environment, &error), "no environment", &error);
  cm_flows_free(flows);
  return environment;
}

static const double looks_balanced = 5e8; /* as the mapper */

static double refine_reward(bench *b, uint64_t seed, uint32_t *core)
{
  cm_error error;
  cm_reward_refined result;
  const cm_reward_refine_options options = {.sweeps = 160, .seed = seed};
  cm_reward_task task = b->i.task;
  task.site = b->i.region->cores;
  task.sites = b->i.region->core_count;
  bench_must(cm_reward_refine(&task, &options, &b->i.run, core, &result, &error), "refinement", &error);
  return result.after.reward;
}

typedef enum refinement { NONE, FOR_HOPS, FOR_REWARD } refinement;

static void name_cores(const bench *b, const cm_environment *environment, const uint32_t *at, uint32_t *core)
{
  for (uint32_t p = 0; p < b->i.parts; p++)
    core[p] = environment->site[at[p]];
}

/* Each of the policy's placements refined on the reward, and the best of them. */
static void refine_rewards(bench *b, const cm_environment *environment, const cm_acted *acted, uint32_t *core)
{
  double most = -INFINITY;
  uint32_t *tried = bench_array(b->i.parts, sizeof *tried);
  for (uint32_t l = 0; l < CM_LAYOUTS; l++) {
    name_cores(b, environment, acted[l].at, tried);
    double reward = refine_reward(b, b->i.wish.seed + l, tried);
    if (reward > most)
      memcpy(core, tried, b->i.parts * sizeof *core);
    most = reward > most ? reward : most;
  }
  free(tried);
}

static cm_policy *shipped(cm_shipped_policy which)
{
  cm_error error;
  cm_policy *policy;
  bench_must(cm_policy_shipped(which, &policy, &error), "no policy", &error);
  return policy;
}

static cm_policy *chosen(const bench *b)
{
  cm_error error;
  cm_policy *policy;
  if (b->policy == NULL)
    return shipped(CM_SHIPPED_PILOT);
  bench_must(cm_policy_load(b->policy, &policy, &error), "no policy", &error);
  return policy;
}

/* Takes the policy over. */
static void place_by_letter(bench *b, cm_policy *policy, uint32_t *core)
{
  cm_error error;
  cm_environment *environment = environment_of(b);
  uint32_t *at = bench_array(b->i.parts, sizeof *at);
  bench_must(cm_letter_place(policy, environment, &b->i.run, at, &error), "the letter", &error);
  name_cores(b, environment, at, core);
  free(at);
  cm_policy_free(policy);
  cm_environment_free(environment);
}

static void place_letter_shared(bench *b, uint32_t *core)
{
  place_by_letter(b, shipped(CM_SHIPPED_LETTER_SHARED), core);
}

/* With numbers of its own for every row, trained on this very graph. */
static void train_letter(bench *b, uint32_t axes, uint32_t *core)
{
  cm_error error;
  cm_letter_tuned tuned;
  cm_environment *environment = environment_of(b);
  uint32_t *at = bench_array(b->i.parts, sizeof *at);
  const cm_letter_tuning tuning = {.environment = environment, .task = &b->i.task, .axes = axes,
                                   .draws = cm_efforts[CM_PRESET_BALANCED].policy_draws, .seed = b->i.wish.seed};
  bench_must(cm_letter_tune(&tuning, &b->i.run, at, &tuned, &error), "the letter", &error);
  name_cores(b, environment, at, core);
  free(at);
  cm_environment_free(environment);
}

static void place_letter(bench *b, uint32_t *core)
{
  train_letter(b, 2, core);
}

static void place_letter_order(bench *b, uint32_t *core)
{
  train_letter(b, 1, core);
}

static void place_letter_plane(bench *b, uint32_t *core)
{
  place_by_letter(b, shipped(CM_SHIPPED_LETTER_PLANE), core);
}

/* As core/solver/mappers/learned.c; takes the policy over. */
static void place_by_policy(bench *b, cm_policy *policy, refinement how, double looks, uint32_t *core)
{
  cm_error error;
  cm_acted acted[CM_LAYOUTS];
  const cm_refine_options options = {looks, b->i.wish.seed};
  cm_environment *environment = environment_of(b);
  bench_must(policy->shape.kind == CM_KIND_PILOT
               ? cm_pilot_act(&(cm_pilot_task){policy, environment, 0, b->i.wish.seed}, &b->i.run, acted, &error)
               : cm_policy_act(policy, environment, 0, &b->i.run, acted, &error),
             "the policy", &error);
  if (how == FOR_HOPS)
    bench_must(cm_acted_refine(environment, &options, &b->i.run, acted, &error), "refinement", &error);
  if (how == FOR_REWARD)
    refine_rewards(b, environment, acted, core);
  else
    name_cores(b, environment, acted[cm_acted_best(acted)].at, core);
  cm_acted_free(acted);
  cm_policy_free(policy);
  cm_environment_free(environment);
}

static void place_policy(bench *b, uint32_t *core)
{
  cm_policy *policy = chosen(b);
  if (policy->shape.kind == CM_KIND_LETTER || policy->shape.kind == CM_KIND_LETTER_PLANE)
    place_by_letter(b, policy, core);
  else
    place_by_policy(b, policy, NONE, 0, core);
}

/* What training began with: the network of a shipped policy's shape before the first update. */
static cm_policy *untrained(cm_shipped_policy which)
{
  cm_error error;
  cm_policy *trained = shipped(which), *policy;
  bench_must(cm_policy_new(&trained->shape, trained->bound, 1, &policy, &error), "no policy", &error);
  cm_policy_free(trained);
  return policy;
}

static void place_untrained(bench *b, uint32_t *core)
{
  place_by_policy(b, untrained(CM_SHIPPED_PILOT), NONE, 0, core);
}

static void place_layout(bench *b, uint32_t *core)
{
  place_by_policy(b, shipped(CM_SHIPPED_LAYOUT), NONE, 0, core);
}

static void place_layout_untrained(bench *b, uint32_t *core)
{
  place_by_policy(b, untrained(CM_SHIPPED_LAYOUT), NONE, 0, core);
}

/* As core/solver/mappers/learned.c: the engine's placement where it is better. */
static void keep_engine(bench *b, cm_preset preset, uint32_t *core)
{
  uint32_t *other = bench_array(b->i.parts, sizeof *other);
  arrange(b, preset, other);
  if (cm_placement_traffic(b->i.graph, b->i.chip, other) < cm_placement_traffic(b->i.graph, b->i.chip, core))
    memcpy(core, other, b->i.parts * sizeof *core);
  free(other);
}

static void place_learned(bench *b, uint32_t *core)
{
  place_by_policy(b, chosen(b), FOR_HOPS, looks_balanced, core);
  keep_engine(b, CM_PRESET_BALANCED, core);
}

static void place_balanced_reward(bench *b, uint32_t *core)
{
  place_balanced(b, core);
  (void)refine_reward(b, b->i.wish.seed, core);
}

static void place_learned_reward(bench *b, uint32_t *core)
{
  place_by_policy(b, chosen(b), FOR_REWARD, 0, core);
}

static void place_fast(bench *b, uint32_t *core)
{
  arrange(b, CM_PRESET_FAST, core);
}

static void place_learned_fast(bench *b, uint32_t *core)
{
  place_by_policy(b, chosen(b), FOR_HOPS, 0, core);
  keep_engine(b, CM_PRESET_FAST, core);
}

/* The policy's refinement from another start. */
static void refine_from(bench *b, double looks, uint64_t seed, uint32_t *core)
{
  cm_error error;
  const cm_refine_options options = {looks, seed};
  cm_environment *environment = environment_of(b);
  uint32_t *at = bench_array(b->i.parts, sizeof *at);
  for (uint32_t p = 0; p < b->i.parts; p++)
    at[p] = environment->site_on[core[p]];
  bench_must(cm_environment_refine(environment, &options, &b->i.run, at, &error), "refinement", &error);
  name_cores(b, environment, at, core);
  free(at);
  cm_environment_free(environment);
}

typedef enum start { SEQUENTIAL, RANDOM, BISECTION } start;

static void begin(bench *b, start from, uint64_t seed, uint32_t *core)
{
  memcpy(core, b->i.region->cores, b->i.parts * sizeof *core);
  if (from == RANDOM) {
    cm_random random;
    uint32_t *order = bench_array(b->i.parts, sizeof *order);
    cm_random_init(&random, seed, 1003, 0);
    cm_random_permutation(&random, order, b->i.parts);
    for (uint32_t p = 0; p < b->i.parts; p++)
      core[p] = b->i.region->cores[order[p]];
    free(order);
  } else if (from == BISECTION)
    bisect(b, seed, core);
}

/* For as many looks as the policy's placements from all starts got together, from start after start while there is time
 * for another. The best counts. */
static void compete_refined(bench *b, const char *method, start from, double seconds, uint32_t *core)
{
  if (!wanted(b, method))
    return;
  uint32_t *tried = bench_array(b->i.parts, sizeof *tried);
  double before = bench_cpu_seconds(), used = 0;
  uint64_t least = UINT64_MAX, runs = 0;
  do {
    begin(b, from, b->i.wish.seed + runs, tried);
    refine_from(b, CM_LAYOUTS * looks_balanced, b->i.wish.seed + runs++, tried);
    uint64_t hops = cm_placement_traffic(b->i.graph, b->i.chip, tried);
    if (hops < least)
      memcpy(core, tried, b->i.parts * sizeof *core);
    least = hops < least ? hops : least;
    used = bench_cpu_seconds() - before;
  } while (used + used / (double)runs <= seconds);
  report(b, method, used, core);
  free(tried);
}

/* Swaps alone, from start after start until the time is over; at least once. The best counts. */
static void compete_fast(bench *b, const char *method, start from, double seconds, uint32_t *core)
{
  if (!wanted(b, method))
    return;
  uint32_t *tried = bench_array(b->i.parts, sizeof *tried);
  double before = bench_cpu_seconds();
  uint64_t least = UINT64_MAX, seed = b->i.wish.seed;
  do {
    begin(b, from, seed, tried);
    refine_from(b, 0, seed++, tried);
    uint64_t hops = cm_placement_traffic(b->i.graph, b->i.chip, tried);
    if (hops < least)
      memcpy(core, tried, b->i.parts * sizeof *core);
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
  if (!bench_anneal(b->i.graph, b->i.chip, b->i.region->cores, b->i.region->core_count, seconds, b->i.wish.seed, core))
    bench_die("out of memory", "");
  report(b, method, bench_cpu_seconds() - before, core);
}

static void place_sequential(bench *b, uint32_t *core)
{
  begin(b, SEQUENTIAL, 0, core);
}

static void compete_all(bench *b)
{
  uint32_t *core = bench_array(b->i.parts, sizeof *core);
  (void)compete(b, "random", place_random, core);
  (void)compete(b, "sequential", place_sequential, core);
  (void)compete(b, "reference", place_reference, core);
  (void)compete(b, "letter", place_letter, core);
  (void)compete(b, "letter-order", place_letter_order, core);
  (void)compete(b, "letter-shared", place_letter_shared, core);
  (void)compete(b, "letter-plane", place_letter_plane, core);
  (void)compete(b, "layout", place_layout, core);
  (void)compete(b, "layout-untrained", place_layout_untrained, core);
  (void)compete(b, "untrained", place_untrained, core);
  anneal(b, "annealing-policy", compete(b, "policy", place_policy, core), core);
  double learned = compete(b, "learned", place_learned, core);
  anneal(b, "annealing", b->seconds > 0 ? b->seconds : learned, core);
  compete_refined(b, "random+", RANDOM, learned, core);
  compete_refined(b, "sequential+", SEQUENTIAL, learned, core);
  compete_refined(b, "bisection+", BISECTION, learned, core);
  (void)compete(b, "fast", place_fast, core);
  double fast = compete(b, "learned-fast", place_learned_fast, core);
  compete_fast(b, "random-fast", RANDOM, fast, core);
  compete_fast(b, "sequential-fast", SEQUENTIAL, fast, core);
  compete_fast(b, "bisection-fast", BISECTION, fast, core);
  anneal(b, "annealing-reward", compete(b, "learned-reward", place_learned_reward, core), core);
  (void)compete(b, "balanced", place_balanced, core);
  (void)compete(b, "balanced-reward", place_balanced_reward, core);
  (void)compete(b, "best", place_best, core);
  free(core);
}

/* ---- arguments ---- */

static unsigned number(const char *text, unsigned most)
{
  char *end;
  errno = 0;
  unsigned long value = strtoul(text, &end, 10);
  if (errno != 0 || *end != '\0' || value > most)
    bench_die("no fit number", text);
  return (unsigned)value;
}

static void pair(const char *text, unsigned *x, unsigned *y)
{
  int used = 0;
  if (sscanf(text, "%ux%u%n", x, y, &used) != 2 || text[used] != '\0' || *x < 1 || *y < 1 || *x > 1024 || *y > 1024)
    bench_die("WxH is wanted", text);
}

static bench parse(int argc, char **argv, bench_wish *wish)
{
  bench b = {.methods = "random,sequential,reference,letter,letter-order,letter-shared,letter-plane,layout,layout-untrained,untrained,policy,annealing-policy,learned,annealing,random+,sequential+,"
                        "bisection+,fast,learned-fast,random-fast,sequential-fast,bisection-fast,learned-reward,"
                        "annealing-reward,balanced"};
  static const struct option flags[] = {
    {"mesh", required_argument, NULL, 'm'}, {"processors", required_argument, NULL, 'p'},
    {"occupied", required_argument, NULL, 'o'}, {"fill", required_argument, NULL, 'f'},
    {"seconds", required_argument, NULL, 't'}, {"seed", required_argument, NULL, 's'},
    {"methods", required_argument, NULL, 'w'}, {"policy", required_argument, NULL, 'l'},
    {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
  for (int flag; (flag = getopt_long(argc, argv, "", flags, NULL)) != -1;) {
    switch (flag) {
      case 'm': pair(optarg, &wish->width, &wish->height); break;
      case 'p': pair(optarg, &wish->processors_x, &wish->processors_y); break;
      case 'o': wish->occupied = number(optarg, 90); break;
      case 'f': wish->fill = number(optarg, 100); break;
      case 't': b.seconds = strtod(optarg, NULL); break;
      case 's': wish->seed = number(optarg, UINT32_MAX); break;
      case 'w': b.methods = optarg; break;
      case 'l': b.policy = optarg; break;
      case 'h': fputs(usage, stdout); exit(0);
      default: fputs(usage, stderr); exit(2);
    }
  }
  if (optind + 1 != argc || b.seconds < 0) {
    fputs(usage, stderr);
    exit(2);
  }
  wish->network = argv[optind];
  return b;
}

int main(int argc, char **argv)
{
  bench_wish wish = {.width = 16, .height = 16, .processors_x = 1, .processors_y = 1, .fill = 100, .seed = 1};
  bench b = parse(argc, argv, &wish);
  bench_instance_make(&wish, &b.i);
  compete_all(&b);
  bench_instance_free(&b.i);
  return 0;
}
