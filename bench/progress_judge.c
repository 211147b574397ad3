/* Whether the progress that jobs tell is honest: what they tell is kept with the processor time at which they told it, and judged when their
 * end is known. Threads do not show in it, nor does the load of the machine. */
#include <coremap/compile.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/run.h"
#include "library/private/base.h"
#include "storage/estimates.h"

static const char usage[] =
  "usage: bench/progress_judge [--keep FILE] [--all] < JOBS\n"
  "       bench/progress_judge --replay FILE\n"
  "\n"
  "Each line of JOBS is KIND FILE CHIP OPTIONS [NAME]: `map` or `compile`, a network or model, a chip (- for none), options as JSON without\n"
  "blanks. Runs each on one thread and prints: processor seconds; the longest time at one value, in percent of all (10 asked); how often\n"
  "the fraction falls (0); in what part of the looks from 30 % of its time on the seconds that remain were right within a factor of two, or\n"
  "by a twentieth of all; and the fraction at 10 %, 20 %, ... of its time. A job is well told when that part is 80 % or more. Its class\n"
  "counts as new. --keep writes down what was told, --replay judges it again without running anything, --all prints it. Exit status: 1 when a\n"
  "fraction falls, one stands for too long, or fewer than four of five jobs are well told.\n";

enum { POINTS_MAX = 1 << 16, KEPT_MAX = 150, LINE = 4096 };

typedef struct point {
  double seconds, whole;
} point;

typedef struct trace {
  char name[192];
  point point[POINTS_MAX];
  size_t count;
  double seconds; /* of all of it */
  bool prints;
} trace;

static double processor_seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double began;

static void on_progress(void *user, const cm_progress *progress)
{
  trace *t = user;
  if (t->count < POINTS_MAX)
    t->point[t->count++] = (point){processor_seconds() - began, progress->whole};
  if (t->prints)
    printf("  %8.3f %-10s %.3f %.4f\n", processor_seconds() - began, progress->phase, progress->fraction, progress->whole);
}

static void fail(coremap_error *error)
{
  (void)fprintf(stderr, "progress: %s\n", error != NULL ? coremap_error_detail(error) : "no place in /tmp");
  exit(2);
}

static void run_job(const char *kind, const char *file, const char *chip_name, const char *options, trace *t)
{
  coremap_error *error = NULL;
  coremap_chip *chip = NULL;
  coremap_network *network = NULL;
  coremap_mapping *mapping = NULL;
  char *report = NULL;
  cm_memory memory;
  cm_run run;
  cm_memory_init(&memory, 0);
  cm_run_init(&run);
  run.memory = &memory;
  run.on_progress = on_progress;
  run.user = t;
  began = processor_seconds();
  if (strcmp(chip_name, "-") != 0 && coremap_chip_open(chip_name, NULL, &chip, &error) != 0)
    fail(error);
  if (strcmp(kind, "compile") == 0) {
    char program[] = "/tmp/coremap-progress-XXXXXX";
    const int held = mkstemp(program);
    if (held < 0 || coremap_compile(file, chip, options, program, library_on_run, &run, &report, &error) != 0)
      fail(error);
    coremap_text_free(report);
    (void)close(held);
    (void)unlink(program);
  } else {
    if (coremap_network_read(file, NULL, library_on_run, &run, &network, &error) != 0 ||
        coremap_map(network, chip, options, library_on_run, &run, &mapping, &error) != 0)
      fail(error);
    coremap_mapping_free(mapping);
    coremap_network_free(network);
  }
  coremap_chip_free(chip);
  t->seconds = processor_seconds() - began;
}

typedef struct figures {
  double stands, right;
  size_t falls;
} figures;

static figures judge(const trace *t)
{
  enum { LOOKS = 200 };
  double last = 0, since = 0, right = 0, looked = 0;
  figures f = {0};
  cm_outlook outlook = {0};
  size_t k = 0;
  for (int look = 0; look < LOOKS; look++) {
    double now = (look + 0.5) / LOOKS * t->seconds;
    while (k + 1 < t->count && t->point[k + 1].seconds <= now)
      k++;
    double whole = t->count > 0 && t->point[k].seconds <= now ? t->point[k].whole : 0;
    cm_estimate_outlook(&outlook, now, 10, 0, whole);
    double left = t->seconds - now;
    if (look >= 0.3 * LOOKS) {
      looked++;
      right += fabs(outlook.remaining - left) <= 0.05 * t->seconds || (outlook.remaining <= 2 * left && outlook.remaining >= left / 2);
    }
    f.falls += outlook.fraction < last;
    if (outlook.fraction != last)
      since = now;
    last = outlook.fraction;
    f.stands = fmax(f.stands, (now - since) / t->seconds);
  }
  f.right = right / looked;
  return f;
}

/* ---- what was told, in a file ---- */

/* Few points: where the fraction changes, and no more than KEPT_MAX. */
static void keep(const trace *t, FILE *file)
{
  double gap = t->seconds / KEPT_MAX, last = -gap;
  (void)fprintf(file, "job %.4f %s\n", t->seconds, t->name);
  for (size_t i = 0; i < t->count; i++)
    if (t->point[i].seconds >= last + gap || i + 1 == t->count) {
      last = t->point[i].seconds;
      (void)fprintf(file, "%.4f %.5f\n", last, t->point[i].whole);
    }
}

static bool read_kept(FILE *file, trace *t)
{
  double seconds, whole;
  t->count = 0;
  if (fscanf(file, " job %lf %191[^\n]", &t->seconds, t->name) != 2)
    return false;
  while (t->count < POINTS_MAX && fscanf(file, "%lf %lf", &seconds, &whole) == 2)
    t->point[t->count++] = (point){seconds, whole};
  return true;
}

/* ---- the figures of all ---- */

typedef struct totals {
  unsigned jobs, told_well, stand, fall;
} totals;

static void add(const trace *t, totals *all)
{
  const figures f = judge(t);
  printf("%7.2f s  stands %4.1f %%  falls %zu  right %3.0f %%", t->seconds, 100 * f.stands, f.falls, 100 * f.right);
  for (size_t i = 1, k = 0; i < 10; i++) {
    while (k + 1 < t->count && t->point[k + 1].seconds <= (double)i / 10 * t->seconds)
      k++;
    printf(" %3.0f", t->count > 0 ? 100 * t->point[k].whole : 0);
  }
  printf("  %s\n", t->name);
  (void)fflush(stdout);
  all->jobs++;
  all->told_well += f.right >= 0.8;
  all->stand += f.stands > 0.1 + 1e-9;
  all->fall += f.falls > 0;
}

static int verdict(const totals *all)
{
  const unsigned failures = (unsigned)(all->fall > 0) + (all->stand > 0) + (5 * all->told_well < 4 * all->jobs);
  printf("%u jobs: %u well told, %u stand for more than a tenth, %u fall\n%u%%: Checks: 3, Failures: %u, Errors: 0\n", all->jobs, all->told_well,
         all->stand, all->fall, 100 * (3U - failures) / 3U, failures);
  return failures > 0;
}

static void run_all(FILE *kept, trace *t, totals *all)
{
  char line[LINE], kind[32], file[1024], chip[128], options[1024], name[64] = "";
  while (fgets(line, sizeof line, stdin) != NULL) {
    t->count = 0;
    const int words = sscanf(line, "%31s %1023s %127s %1023s %63s", kind, file, chip, options, name);
    if (words < 4)
      continue;
    const char *base = strrchr(file, '/');
    (void)snprintf(t->name, sizeof t->name, "%s %.40s %.60s", kind, words > 4 ? name : base != NULL ? base + 1 : file, options);
    run_job(kind, file, chip, options, t);
    add(t, all);
    if (kept != NULL)
      keep(t, kept);
  }
}

int main(int count, char **argument)
{
  static trace t;
  FILE *kept = NULL;
  totals all = {0};
  bool replays = false;
  for (int i = 1; i < count; i++)
    if (strcmp(argument[i], "--all") == 0)
      t.prints = true;
    else if (i + 1 < count && (strcmp(argument[i], "--keep") == 0 || strcmp(argument[i], "--replay") == 0)) {
      replays = strcmp(argument[i], "--replay") == 0;
      kept = fopen(argument[++i], replays ? "re" : "we");
      if (kept == NULL) {
        perror(argument[i]);
        return 2;
      }
    } else {
      fputs(usage, stdout);
      return strcmp(argument[i], "--help") == 0 ? 0 : 2;
    }
  if (!replays)
    run_all(kept, &t, &all);
  while (replays && read_kept(kept, &t))
    add(&t, &all);
  if (kept != NULL)
    (void)fclose(kept);
  return verdict(&all);
}
