/* bench/regions: how long the choice of regions takes on large chips with random cores taken. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/random.h"
#include "core/chip/occupancy.h"
#include "core/chip/region.h"

static const char usage[] =
  "usage: bench/regions [--side N] [--taken \"0 0.1 0.5\"] [--blocks B] [--json]\n"
  "\n"
  "Takes a random share of the cores of a chip of N x N (1024), in squares of B x B (1), and chooses two candidate\n"
  "regions of 1 %, 30 % and 95 % of the free cores, as the presets do. Prints processor seconds, the time of the source's\n"
  "box alone and of the fragmentation, and the mean price of a way in the region chosen, relative to that of a free\n"
  "square of as many cores.\n";

typedef struct setting {
  uint32_t side, block;
  const char *taken;
  bool json;
} setting;

static cm_error error;

static void check(cm_status status)
{
  if (status == CM_OK)
    return;
  fprintf(stderr, "bench/regions: %s\n", error.detail);
  exit(1);
}

static double cpu_seconds(void)
{
  struct timespec t;
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void take(const setting *s, double share, cm_occupancy *occupancy)
{
  cm_random random;
  cm_random_init(&random, 1, 0, (uint64_t)(1e6 * share));
  for (uint32_t y = 0; y < s->side; y += s->block)
    for (uint32_t x = 0; x < s->side; x += s->block)
      if (cm_random_unit(&random) < share)
        for (uint32_t j = y; j < y + s->block && j < s->side; j++)
          for (uint32_t i = x; i < x + s->block && i < s->side; i++)
            occupancy->state[(size_t)j * s->side + i] = CM_CORE_TAKEN;
}

static void choose(const setting *s, const cm_chip *chip, const cm_occupancy *occupancy, double taken, double share,
                   bool first)
{
  cm_run run;
  cm_region *box, *found[2];
  cm_fragmentation fragmentation;
  cm_run_init(&run);
  uint32_t free_cores = cm_occupancy_free_count(occupancy), wanted = (uint32_t)(share * free_cores), count = 0;
  double begin = cpu_seconds();
  check(cm_fragmentation_of(occupancy, &fragmentation, &error));
  double measured = cpu_seconds();
  check(cm_region_choose(chip, occupancy, wanted, &run, &box, &error));
  double boxed = cpu_seconds();
  check(cm_region_candidates(chip, occupancy, wanted, 2, &run, found, &count, &error));
  double done = cpu_seconds();
  double square = 2.0 / 3 * 1.1 * sqrt((double)wanted);
  printf(s->json ? "%s{\"taken\": %g, \"cores\": %u, \"candidates_seconds\": %.3f, \"box_seconds\": %.3f, "
                   "\"fragmentation_seconds\": %.3f, \"price\": %.4f}"
                 : "%s%7g %10u %12.3f %12.3f %12.3f %10.4f\n",
         s->json && !first ? ",\n " : "", taken, wanted, done - boxed, boxed - measured, measured - begin,
         found[0]->cost / square);
  for (uint32_t i = 0; i < count; i++)
    cm_region_free(found[i]);
  cm_region_free(box);
}

int main(int argc, char **argv)
{
  static const struct option flags[] = {{"side", required_argument, NULL, 's'},   {"taken", required_argument, NULL, 't'},
                                        {"blocks", required_argument, NULL, 'b'}, {"json", no_argument, NULL, 'j'},
                                        {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0}};
  setting s = {.side = 1024, .block = 1, .taken = "0 0.1 0.5"};
  for (int flag; (flag = getopt_long(argc, argv, "", flags, NULL)) != -1;)
    switch (flag) {
      case 's': s.side = (uint32_t)strtoul(optarg, NULL, 10); break;
      case 't': s.taken = optarg; break;
      case 'b': s.block = (uint32_t)strtoul(optarg, NULL, 10); break;
      case 'j': s.json = true; break;
      case 'h': fputs(usage, stdout); return 0;
      default: return 2;
    }
  if (s.side == 0 || s.block == 0 || optind != argc) {
    fputs(usage, stderr);
    return 2;
  }
  cm_chip *chip;
  check(cm_chip_mesh(s.side, s.side, &chip, &error));
  if (s.json)
    putchar('[');
  else
    printf("%7s %10s %12s %12s %12s %10s\n", "taken", "cores", "candidates s", "box s", "fragments s", "price");
  bool first = true;
  char *list = strdup(s.taken), *rest = list;
  for (char *word; list != NULL && (word = strtok_r(rest, " ,", &rest)) != NULL;) {
    static const double shares[] = {0.01, 0.3, 0.95};
    cm_occupancy *occupancy;
    check(cm_occupancy_new(chip, &occupancy, &error));
    take(&s, strtod(word, NULL), occupancy);
    for (size_t k = 0; k < sizeof shares / sizeof *shares; k++, first = false)
      choose(&s, chip, occupancy, strtod(word, NULL), shares[k], first);
    cm_occupancy_free(occupancy);
  }
  free(list);
  if (s.json)
    puts("]");
  cm_chip_free(chip);
  return 0;
}
