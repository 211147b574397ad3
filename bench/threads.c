/* What threads would give: rounds and tasks are counted and timed one by one on one thread, so that neither the load of the
 * machine nor the number of its processors shows. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/threads.h"
#include "core/network/import.h"
#include "core/solver/stage/stage.h"

static const char usage[] =
  "usage: bench/threads [--threads \"1 2 4 8 16 64\"] [--real \"2 4 8\"] [--preset fast] [--chip loihi64] [--seed S] [--meeting US]\n"
  "                     [--json] NETWORK\n"
  "\n"
  "Partitions NETWORK as `coremap partition` does, once for each number of threads, all of it on one thread: the work is cut in\n"
  "rounds and tasks as for so many threads, and each task's processor time is taken. A model lets the thread that is free first\n"
  "take the next task; a meeting of threads, at the end of every round, costs US microseconds (3). Prints by\n"
  "phase: rounds, tasks and how many of them others than the first thread take, processor seconds outside of rounds and in tasks,\n"
  "and the seconds that the phase would last; and of all how much faster than one thread that is, and the processor seconds beyond\n"
  "those of one thread. Memory that threads share is not in the model. The parts are the same for every number: a checksum of them\n"
  "is printed. Then the same on real threads, as many as --real says of those numbers (none: \"\"), counted and not timed: rounds and tasks must be\n"
  "those of the model in every phase, and the parts the same; how many tasks other threads take depends on the machine. Exit status:\n"
  "1 when something differs.\n";

typedef struct setting {
  const char *threads, *real, *preset, *chip, *network;
  uint64_t seed;
  double meeting;
  bool json;
} setting;

typedef struct total {
  unsigned threads;
  uint64_t checksum;
  cm_rounds phase[CM_RUN_PHASES_MAX];
  cm_rounds all; /* of all phases */
  double processor, lasts;
} total;

enum { SETTINGS_MAX = 16 };

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

/* Seconds that a phase would last. */
static double lasts(const setting *s, unsigned threads, const cm_rounds *r)
{
  return r->alone + r->span + (threads > 1 ? (double)r->rounds * s->meeting * 1e-6 : 0);
}

static double percent(double part, double whole)
{
  return whole > 0 ? 100 * part / whole : 0;
}

static void add_up(const setting *s, size_t phases, total *t)
{
  for (size_t i = 0; i < phases; i++) {
    const cm_rounds *r = &t->phase[i];
    t->all.rounds += r->rounds;
    t->all.tasks += r->tasks;
    t->all.helped += r->helped;
    t->processor += r->alone + r->together;
    t->lasts += lasts(s, t->threads, r);
  }
}

static void print_phases(const setting *s, const cm_run *run, const total *t)
{
  if (!s->json)
    printf("%u threads\n%-12s %9s %10s %9s %9s %9s %9s %8s\n", t->threads, "phase", "rounds", "tasks", "others %", "alone s", "tasks s",
           "lasts s", "alone %");
  for (size_t i = 0; i < run->phase_count; i++) {
    const cm_rounds *r = &t->phase[i];
    if (s->json)
      printf("%s{\"threads\": %u, \"phase\": \"%s\", \"rounds\": %llu, \"tasks\": %llu, \"tasks_of_others\": %llu, \"alone_s\": %.4f, "
             "\"tasks_s\": %.4f, \"lasts_s\": %.4f}",
             t->threads == 1 && i == 0 ? "" : ",\n", t->threads, run->phases[i].name, (unsigned long long)r->rounds,
             (unsigned long long)r->tasks, (unsigned long long)r->helped, r->alone, r->together, lasts(s, t->threads, r));
    else
      printf("%-12s %9llu %10llu %9.1f %9.3f %9.3f %9.3f %8.1f\n", run->phases[i].name, (unsigned long long)r->rounds,
             (unsigned long long)r->tasks, percent((double)r->helped, (double)r->tasks), r->alone, r->together,
             lasts(s, t->threads, r), percent(r->alone, r->alone + r->together));
  }
}

/* Partitions with so many threads, played by one or real. */
static void play(const setting *s, unsigned threads, bool real, const cm_topology *topology, const cm_chip *chip, total *t)
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
  cm_map_input input = {.demand = CM_DEMAND_OF(topology), .chip = chip, .occupancy = occupancy, .options = options, .scratch_folder = "/tmp"};
  cm_rounds_log log = {.run = &run, .real = real};
  *t = (total){.threads = threads};
  cm_threads_record(&log);
  if (cm_make_parts(&input, &run, &stage, &error) != CM_OK)
    fail(&error);
  cm_run_finish(&run);
  cm_threads_record(NULL);
  t->checksum = checksum_of(stage.partition, topology->vertex_count);
  memcpy(t->phase, log.phase, sizeof t->phase);
  add_up(s, run.phase_count, t);
  if (!real)
    print_phases(s, &run, t);
  cm_candidate_free(&stage);
  cm_occupancy_free(occupancy);
  cm_map_options_free(options);
  json_decref(json);
}

static setting read_arguments(int count, char **arguments)
{
  static const struct option flags[] = {{"threads", 1, NULL, 't'}, {"real", 1, NULL, 'r'},    {"preset", 1, NULL, 'p'},
                                        {"chip", 1, NULL, 'c'},    {"seed", 1, NULL, 's'},    {"meeting", 1, NULL, 'm'},
                                        {"json", 0, NULL, 'j'},    {"help", 0, NULL, 'h'},    {NULL, 0, NULL, 0}};
  setting s = {.threads = "1 2 4 8 16 64", .real = "2 4 8", .preset = "fast", .chip = "loihi64", .seed = 1, .meeting = 3};
  for (int flag; (flag = getopt_long(count, arguments, "", flags, NULL)) != -1;) {
    switch (flag) {
    case 't': s.threads = optarg; break;
    case 'r': s.real = optarg; break;
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

/* The numbers of a text; how many. */
static size_t read_numbers(const char *text, unsigned numbers[SETTINGS_MAX])
{
  size_t count = 0;
  char *end;
  for (const char *at = text; count < SETTINGS_MAX; at = end) {
    unsigned long number = strtoul(at, &end, 10);
    if (end == at || number == 0 || number > 256)
      break;
    numbers[count++] = (unsigned)number;
  }
  return count;
}

static void print_totals(const setting *s, const total *all, size_t used)
{
  printf(s->json ? "],\n\"totals\": [\n" : "%-8s %12s %10s %8s %10s  %s\n", "threads", "processor s", "lasts s", "faster", "beyond one", "parts");
  for (size_t i = 0; i < used; i++)
    if (s->json)
      printf("%s{\"threads\": %u, \"processor_s\": %.4f, \"lasts_s\": %.4f, \"faster\": %.3f, \"checksum\": \"%016llx\"}", i > 0 ? ",\n" : "",
             all[i].threads, all[i].processor, all[i].lasts, all[0].lasts / all[i].lasts, (unsigned long long)all[i].checksum);
    else
      printf("%-8u %12.3f %10.3f %8.2f %9.1f%%  %016llx\n", all[i].threads, all[i].processor, all[i].lasts, all[0].lasts / all[i].lasts,
             100 * (all[i].processor / all[0].processor - 1), (unsigned long long)all[i].checksum);
}

/* Whether real threads did what was played; the model's numbers stand after the slashes. */
static bool print_real(const setting *s, const total *played, const total *real, bool first)
{
  bool same = real->checksum == played->checksum;
  for (size_t i = 0; i < CM_RUN_PHASES_MAX; i++)
    same = same && real->phase[i].rounds == played->phase[i].rounds && real->phase[i].tasks == played->phase[i].tasks;
  if (s->json)
    printf("%s{\"threads\": %u, \"rounds\": %llu, \"tasks\": %llu, \"tasks_of_others\": %llu, \"checksum\": \"%016llx\", \"same\": %s}",
           first ? "],\n\"real\": [\n" : ",\n", real->threads, (unsigned long long)real->all.rounds, (unsigned long long)real->all.tasks,
           (unsigned long long)real->all.helped, (unsigned long long)real->checksum, same ? "true" : "false");
  else {
    if (first)
      printf("%-8s %21s %21s %15s  %s\n", "real", "rounds/model", "tasks/model", "others %/model", "parts");
    printf("%-8u %10llu/%-10llu %10llu/%-10llu %7.1f/%-7.1f  %016llx%s\n", real->threads, (unsigned long long)real->all.rounds,
           (unsigned long long)played->all.rounds, (unsigned long long)real->all.tasks, (unsigned long long)played->all.tasks,
           percent((double)real->all.helped, (double)real->all.tasks), percent((double)played->all.helped, (double)played->all.tasks),
           (unsigned long long)real->checksum, same ? "" : "  DIFFERENT");
  }
  return same;
}

int main(int count, char **arguments)
{
  static total all[SETTINGS_MAX], real;
  setting s = read_arguments(count, arguments);
  cm_error error;
  cm_run run;
  cm_topology *topology;
  cm_chip *chip;
  unsigned threads[SETTINGS_MAX], reals[SETTINGS_MAX];
  size_t used = read_numbers(s.threads, threads), real_count = read_numbers(s.real, reals);
  bool same = true, first = true;
  cm_run_init(&run);
  if (cm_import(s.network, NULL, &run, &topology, NULL, &error) != CM_OK || cm_chip_open(s.chip, &chip, &error) != CM_OK)
    fail(&error);
  if (s.json)
    printf("{\"phases\": [\n");
  for (size_t i = 0; i < used; i++)
    play(&s, threads[i], false, topology, chip, &all[i]);
  print_totals(&s, all, used);
  for (size_t r = 0; r < real_count; r++)
    for (size_t i = 0; i < used; i++)
      if (threads[i] == reals[r]) {
        play(&s, reals[r], true, topology, chip, &real);
        same = print_real(&s, &all[i], &real, first) && same;
        first = false;
        break;
      }
  if (s.json)
    printf("\n]}\n");
  cm_chip_free(chip);
  cm_topology_free(topology);
  for (size_t i = 1; i < used; i++)
    same = same && all[i].checksum == all[0].checksum;
  if (!same)
    (void)fprintf(stderr, "threads: rounds, tasks or parts differ\n");
  return same ? 0 : 1;
}
