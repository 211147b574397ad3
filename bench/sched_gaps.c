/* How far schedules are above proved optima, in the mean over a list of instances. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/schedule/read.h"
#include "core/schedule/schedule.h"

static const char usage[] =
  "usage: bench/sched_gaps --folder FOLDER --method rank|sample|list|search [--schedules N] [--seconds S] [--seed N]\n"
  "                        [--verbose] < LIST\n"
  "\n"
  "LIST has lines FILE,PROCESSORS,OPTIMUM (PROCESSORS 0 where the file says them). Every schedule is verified. Prints\n"
  "instances, mean and worst gap in percent, how many are optimal, mean of schedules made, CPU seconds of\n"
  "scheduling.\n";

typedef struct setting {
  const char *folder;
  cm_schedule_options options;
  double seconds;
  uint64_t seed;
  bool verbose;
} setting;

typedef struct tally {
  unsigned count, optimal;
  double gap, worst, schedules;
  clock_t used;
} tally;

static cm_status one(const setting *s, const char *file, unsigned processors, unsigned long optimum, tally *t,
                     cm_error *error)
{
  char path[1024];
  cm_run run;
  cm_workload *w;
  cm_schedule *made;
  const char *format;
  (void)snprintf(path, sizeof path, "%s/%s", s->folder, file);
  cm_run_init(&run);
  run.seed = s->seed;
  if (cm_workload_read(path, processors, NULL, &w, &format, error) != CM_OK)
    return error->status;
  clock_t begin = clock();
  run.deadline = s->seconds > 0 ? cm_now() + s->seconds : 0;
  cm_status status = cm_schedule_make(w, &s->options, &run, &made, error);
  t->used += clock() - begin;
  if (status == CM_OK && (status = cm_schedule_check(w, made, NULL, error)) == CM_OK) {
    if (made->makespan < optimum || made->lower_bound > optimum)
      status = cm_fail(error, CM_INTERNAL, "%s: makespan %llu and bound %llu contradict the optimum %lu", file,
                       (unsigned long long)made->makespan, (unsigned long long)made->lower_bound, optimum);
    double gap = 100.0 * ((double)made->makespan - (double)optimum) / (double)optimum;
    if (s->verbose && gap > 0)
      printf("  %s on %u: %llu instead of %lu\n", file, processors, (unsigned long long)made->makespan, optimum);
    t->count++;
    t->optimal += made->makespan == optimum;
    t->gap += gap;
    t->worst = gap > t->worst ? gap : t->worst;
    t->schedules += (double)made->generated;
  }
  if (status == CM_OK)
    cm_schedule_free(made);
  cm_workload_free(w);
  return status;
}

static cm_schedule_method method_of(const char *name)
{
  return strcmp(name, "rank") == 0     ? CM_SCHEDULE_RANK
         : strcmp(name, "sample") == 0 ? CM_SCHEDULE_SAMPLE
         : strcmp(name, "list") == 0   ? CM_SCHEDULE_LIST
                                       : CM_SCHEDULE_SEARCH;
}

int main(int argc, char **argv)
{
  enum { FOLDER = 256, METHOD, SCHEDULES, SECONDS, SEED, VERBOSE, HELP };
  static const struct option flags[] = {
    {"folder", required_argument, NULL, FOLDER}, {"method", required_argument, NULL, METHOD},
    {"schedules", required_argument, NULL, SCHEDULES}, {"seconds", required_argument, NULL, SECONDS},
    {"seed", required_argument, NULL, SEED}, {"verbose", no_argument, NULL, VERBOSE},
    {"help", no_argument, NULL, HELP}, {NULL, 0, NULL, 0}};
  setting s = {.folder = ".", .options = {.method = CM_SCHEDULE_SEARCH}, .seed = 1};
  for (int flag; (flag = getopt_long(argc, argv, "", flags, NULL)) != -1;)
    switch (flag) {
    case FOLDER: s.folder = optarg; break;
    case METHOD: s.options.method = method_of(optarg); break;
    case SCHEDULES: s.options.schedules = strtoull(optarg, NULL, 10); break;
    case SECONDS: s.seconds = strtod(optarg, NULL); break;
    case SEED: s.seed = strtoull(optarg, NULL, 10); break;
    case VERBOSE: s.verbose = true; break;
    case HELP: fputs(usage, stdout); return 0;
    default: fputs(usage, stderr); return 2;
    }
  char line[512], file[400];
  unsigned processors;
  unsigned long optimum;
  tally t = {0};
  cm_error error;
  while (fgets(line, sizeof line, stdin) != NULL)
    if (sscanf(line, "%399[^,],%u,%lu", file, &processors, &optimum) == 3 &&
        one(&s, file, processors, optimum, &t, &error) != CM_OK) {
      fprintf(stderr, "bench/sched_gaps: %s\n", error.detail);
      return 1;
    }
  if (t.count == 0)
    return 2;
  printf("%u %.4f %.2f %u %.0f %.2f\n", t.count, t.gap / t.count, t.worst, t.optimal, t.schedules / t.count,
         (double)t.used / CLOCKS_PER_SEC);
  return 0;
}
