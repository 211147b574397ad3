/* What threads would give: rounds and tasks are counted and timed one by one on one thread, so that neither the load of the
 * machine nor the number of its processors shows. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/threads.h"
#include "core/mapping/stage/stage.h"
#include "core/network/import.h"

static const char usage[] =
  "usage: bench/threads [--threads \"1 2 4 8 16 64\"] [--preset fast] [--chip loihi64] [--seed S] [--meeting US] [--json] NETWORK\n"
  "\n"
  "Partitions NETWORK as `coremap partition` does, once for each number of threads, all of it on one thread: the work is cut in\n"
  "rounds and tasks as for so many threads, and each task's processor time is taken. A model lets the thread that is free first\n"
  "take the next task; a meeting of threads, at the end of every round of more than one task, costs US microseconds (3). Prints by\n"
  "phase: rounds, tasks, processor seconds outside of rounds and in tasks, and the seconds that the phase would last; and of all\n"
  "how much faster than one thread that is, and the processor seconds beyond those of one thread. Memory that threads share is\n"
  "not in the model. The parts are the same for every number: a checksum of them is printed.\n";

typedef struct setting {
  const char *threads, *preset, *chip, *network;
  uint64_t seed;
  double meeting;
  bool json;
} setting;

typedef struct total {
  unsigned threads;
  uint64_t checksum;
  double processor, lasts;
} total;

static void fail(const cm_error *error)
{
  (void)fprintf(stderr, "threads: %s\n", error->detail);
  exit(2);
}

static uint64_t checksum_of(const cm_partition *p, uint32_t vertices)
{
  uint64_t sum = 0xcbf29ce484222325;
  for (uint32_t v = 0; v < vertices; v++)
    sum = (sum ^ p->part[v]) * 0x100000001b3;
  return sum;
}

static void print_phases(const setting *s, const cm_run *run, const cm_rounds_log *log, total *t)
{
  if (!s->json)
    printf("%u threads\n%-12s %9s %10s %9s %9s %9s %8s\n", t->threads, "phase", "rounds", "tasks", "alone s", "tasks s", "lasts s",
           "alone %");
  for (size_t i = 0; i < run->phase_count; i++) {
    const cm_rounds *r = &log->phase[i];
    double lasts = r->alone + r->span + (t->threads > 1 ? (double)r->rounds * s->meeting * 1e-6 : 0);
    t->processor += r->alone + r->together;
    t->lasts += lasts;
    if (s->json)
      printf("%s{\"threads\": %u, \"phase\": \"%s\", \"rounds\": %llu, \"tasks\": %llu, \"alone_s\": %.4f, \"tasks_s\": %.4f, \"lasts_s\": %.4f}",
             t->threads == 1 && i == 0 ? "" : ",\n", t->threads, run->phases[i].name, (unsigned long long)r->rounds,
             (unsigned long long)r->tasks, r->alone, r->together, lasts);
    else
      printf("%-12s %9llu %10llu %9.3f %9.3f %9.3f %8.1f\n", run->phases[i].name, (unsigned long long)r->rounds,
             (unsigned long long)r->tasks, r->alone, r->together, lasts,
             r->alone + r->together > 0 ? 100 * r->alone / (r->alone + r->together) : 0);
  }
}

static void play(const setting *s, unsigned threads, const cm_topology *topology, const cm_chip *chip, total *t)
{
  cm_error error;
  cm_map_options *options;
  cm_occupancy *occupancy = NULL;
  cm_run run;
  cm_candidate stage = {0};
  json_t *json = json_pack("{s:s, s:I}", "preset", s->preset, "seed", (json_int_t)s->seed);
  if (cm_map_options_parse(json, &options, &error) != CM_OK || cm_occupancy_new(chip, &occupancy, &error) != CM_OK)
    fail(&error);
  cm_run_init(&run);
  cm_map_options_apply(options, &run);
  run.threads = threads;
  cm_map_input input = {.topology = topology, .chip = chip, .occupancy = occupancy, .options = options, .scratch_folder = "/tmp"};
  cm_rounds_log log = {.run = &run};
  *t = (total){.threads = threads};
  cm_threads_record(&log);
  if (cm_make_parts(&input, &run, &stage, &error) != CM_OK)
    fail(&error);
  cm_run_finish(&run);
  cm_threads_record(NULL);
  t->checksum = checksum_of(stage.partition, topology->vertex_count);
  print_phases(s, &run, &log, t);
  cm_candidate_free(&stage);
  cm_occupancy_free(occupancy);
  cm_map_options_free(options);
  json_decref(json);
}

static setting read_arguments(int count, char **arguments)
{
  static const struct option flags[] = {{"threads", 1, NULL, 't'}, {"preset", 1, NULL, 'p'}, {"chip", 1, NULL, 'c'},
                                        {"seed", 1, NULL, 's'},    {"meeting", 1, NULL, 'm'}, {"json", 0, NULL, 'j'},
                                        {"help", 0, NULL, 'h'},    {NULL, 0, NULL, 0}};
  setting s = {.threads = "1 2 4 8 16 64", .preset = "fast", .chip = "loihi64", .seed = 1, .meeting = 3};
  for (int flag; (flag = getopt_long(count, arguments, "", flags, NULL)) != -1;) {
    switch (flag) {
    case 't': s.threads = optarg; break;
    case 'p': s.preset = optarg; break;
    case 'c': s.chip = optarg; break;
    case 's': s.seed = strtoull(optarg, NULL, 10); break;
    case 'm': s.meeting = strtod(optarg, NULL); break;
    case 'j': s.json = true; break;
    case 'h': (void)fputs(usage, stdout); exit(0);
    default: (void)fputs(usage, stderr); exit(2);
    }
  }
  if (optind + 1 != count) {
    (void)fputs(usage, stderr);
    exit(2);
  }
  s.network = arguments[optind];
  return s;
}

int main(int count, char **arguments)
{
  setting s = read_arguments(count, arguments);
  cm_error error;
  cm_run run;
  cm_topology *topology;
  cm_chip *chip;
  total all[16];
  size_t used = 0;
  cm_run_init(&run);
  if (cm_import(s.network, NULL, &run, &topology, NULL, &error) != CM_OK || cm_chip_open(s.chip, &chip, &error) != CM_OK)
    fail(&error);
  if (s.json)
    printf("{\"phases\": [\n");
  for (char *at = (char *)(uintptr_t)s.threads, *end; used < sizeof all / sizeof *all; at = end) {
    unsigned long threads = strtoul(at, &end, 10);
    if (end == at || threads == 0 || threads > 256)
      break;
    play(&s, (unsigned)threads, topology, chip, &all[used++]);
  }
  printf(s.json ? "],\n\"totals\": [\n" : "%-8s %12s %10s %8s %10s  %s\n", "threads", "processor s", "lasts s", "faster", "beyond one", "parts");
  for (size_t i = 0; i < used; i++)
    if (s.json)
      printf("%s{\"threads\": %u, \"processor_s\": %.4f, \"lasts_s\": %.4f, \"faster\": %.3f, \"checksum\": \"%016llx\"}", i > 0 ? ",\n" : "",
             all[i].threads, all[i].processor, all[i].lasts, all[0].lasts / all[i].lasts, (unsigned long long)all[i].checksum);
    else
      printf("%-8u %12.3f %10.3f %8.2f %9.1f%%  %016llx\n", all[i].threads, all[i].processor, all[i].lasts, all[0].lasts / all[i].lasts,
             100 * (all[i].processor / all[0].processor - 1), (unsigned long long)all[i].checksum);
  if (s.json)
    printf("\n]}\n");
  cm_chip_free(chip);
  cm_topology_free(topology);
  for (size_t i = 1; i < used; i++)
    if (all[i].checksum != all[0].checksum) {
      (void)fprintf(stderr, "threads: the parts differ\n");
      return 1;
    }
  return 0;
}
