/* bench/qap: places a QAPLIB instance whose distances are those of a grid with the placement engine. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/run.h"
#include "core/placement/qap/qap.h"

static const char usage[] =
  "usage: bench/qap FILE.dat [--seconds S] [--seed N] [--threads T] [--json]\n"
  "\n"
  "Places a QAPLIB instance on its grid with the placement engine for about S seconds (1) and prints cost, best_known\n"
  "(from the .sln beside it, where there is one) and gap_percent. The machine's speed is measured first and turned into\n"
  "an amount of work; the same amount of work and seed give the same result for any number of threads.\n"
  "  --work W   so much work instead of seconds: looks at all pairs of cores, in all\n"
  "  --population P  annealed from scratch at a time (8)\n";

typedef struct arguments {
  const char *file;
  double seconds;
  uint64_t seed, work;
  uint32_t threads, population;
  bool json;
} arguments;

static void die(const char *what, const char *detail)
{
  fprintf(stderr, "bench/qap: %s%s%s\n", what, detail[0] != '\0' ? ": " : "", detail);
  exit(2);
}

typedef struct instance {
  uint32_t n;
  uint64_t *distance, *flow; /* [n * n] */
  uint32_t width;
} instance;

static uint64_t *read_matrix(FILE *stream, uint32_t n)
{
  uint64_t *matrix = calloc((size_t)n * n, sizeof *matrix);
  if (matrix == NULL)
    die("out of memory", "");
  for (size_t i = 0; i < (size_t)n * n; i++) {
    unsigned long long value;
    if (fscanf(stream, "%llu", &value) != 1 || value > UINT32_MAX)
      die("the file ends inside a matrix, or a value is no whole number below 2^32", "");
    matrix[i] = value;
  }
  return matrix;
}

/* The width of the grid whose Manhattan distances these are; 0: none. */
static uint32_t grid_width(const uint64_t *distance, uint32_t n)
{
  for (uint32_t width = 1; width <= n; width++) {
    bool same = n % width == 0;
    for (uint32_t i = 0; i < n && same; i++)
      for (uint32_t j = 0; j < n && same; j++) {
        int x = (int)(i % width) - (int)(j % width), y = (int)(i / width) - (int)(j / width);
        same = distance[(size_t)i * n + j] == (uint64_t)(abs(x) + abs(y));
      }
    if (same)
      return width;
  }
  return 0;
}

static instance read_instance(const char *path)
{
  instance in = {0};
  FILE *stream = fopen(path, "r");
  if (stream == NULL)
    die("cannot open", path);
  if (fscanf(stream, "%u", &in.n) != 1 || in.n < 1 || in.n > CM_QAP_CORES_MAX)
    die("no size between 1 and 2048", path);
  uint64_t *a = read_matrix(stream, in.n), *b = read_matrix(stream, in.n);
  (void)fclose(stream);
  in.width = grid_width(a, in.n);
  in.distance = in.width != 0 ? a : b;
  in.flow = in.width != 0 ? b : a;
  if (in.width == 0)
    in.width = grid_width(b, in.n);
  if (in.width == 0)
    die("neither matrix holds the Manhattan distances of a grid", path);
  return in;
}

/* The flows of both directions as edges. */
static cm_graph *graph_of(const instance *in, cm_run *run)
{
  cm_error error;
  cm_graph *graph;
  size_t cells = (size_t)in->n * in->n;
  uint64_t *first = calloc((size_t)in->n + 1, sizeof *first), *weight = calloc(cells, sizeof *weight), entries = 0;
  uint32_t *neighbour = calloc(cells, sizeof *neighbour);
  if (first == NULL || weight == NULL || neighbour == NULL)
    die("out of memory", "");
  for (uint32_t u = 0; u < in->n; u++) {
    for (uint32_t v = 0; v < in->n; v++) {
      uint64_t flow = in->flow[(size_t)u * in->n + v] + in->flow[(size_t)v * in->n + u];
      if (u == v || flow == 0)
        continue;
      neighbour[entries] = v;
      weight[entries++] = flow;
    }
    first[u + 1] = entries;
  }
  if (cm_graph_from_rows(in->n, first, neighbour, weight, run, &graph, &error) != CM_OK)
    die("cannot make the graph", error.detail);
  free(first);
  free(weight);
  free(neighbour);
  return graph;
}

/* How much work of the kind that follows takes a second, found by doing a little of it: what four times as much takes
 * more, so that what every run takes once does not count. */
static double work_per_second(const arguments *a, const cm_graph *graph, const cm_axes *axes, cm_run *run)
{
  cm_error error;
  uint32_t at[CM_QAP_CORES_MAX];
  for (double work = 500, last = 0;; work *= 4) {
    cm_qap_options options = cm_qap_divide(work, a->population, axes->count, a->seed);
    double begin = cm_now();
    if (cm_place_by_annealing(graph, axes, &options, run, at, &error) != CM_OK)
      die("cannot place", error.detail);
    double seconds = cm_now() - begin;
    if (seconds > 0.05 * a->seconds)
      return seconds > last ? work * 0.75 / (seconds - last) : work / seconds;
    last = seconds;
  }
}

static uint64_t best_known(const char *path)
{
  char beside[4096];
  size_t length = strlen(path);
  unsigned long long n, cost;
  if (length < 4 || length >= sizeof beside)
    return 0;
  (void)snprintf(beside, sizeof beside, "%.*s.sln", (int)(length - 4), path);
  FILE *stream = fopen(beside, "r");
  bool found = stream != NULL && fscanf(stream, "%llu %llu", &n, &cost) == 2;
  if (stream != NULL)
    (void)fclose(stream);
  return found ? cost : 0;
}

static arguments parse(int argc, char **argv)
{
  arguments a = {.seconds = 1, .seed = 1, .threads = 2, .population = 8};
  static const struct option flags[] = {{"seconds", required_argument, NULL, 's'}, {"seed", required_argument, NULL, 'n'},
                                        {"threads", required_argument, NULL, 't'}, {"work", required_argument, NULL, 'w'},
                                        {"population", required_argument, NULL, 'p'},
                                        {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
  for (int flag; (flag = getopt_long(argc, argv, "", flags, NULL)) != -1;) {
    switch (flag) {
      case 's': a.seconds = strtod(optarg, NULL); break;
      case 'n': a.seed = strtoull(optarg, NULL, 10); break;
      case 't': a.threads = (uint32_t)strtoul(optarg, NULL, 10); break;
      case 'w': a.work = strtoull(optarg, NULL, 10); break;
      case 'p': a.population = (uint32_t)strtoul(optarg, NULL, 10); break;
      case 'j': a.json = true; break;
      case 'h': fputs(usage, stdout); exit(0);
      default: fputs(usage, stderr); exit(2);
    }
  }
  if (optind + 1 != argc || !(a.seconds > 0) || a.threads < 1 || a.population < 1) {
    fputs(usage, stderr);
    exit(2);
  }
  a.file = argv[optind];
  return a;
}

int main(int argc, char **argv)
{
  arguments a = parse(argc, argv);
  cm_run run;
  cm_error error;
  double begin = cm_now();
  cm_run_init(&run);
  run.threads = a.threads;
  instance in = read_instance(a.file);
  cm_graph *graph = graph_of(&in, &run);
  cm_chip *chip;
  cm_axes *axes;
  uint32_t cores[CM_QAP_CORES_MAX], at[CM_QAP_CORES_MAX];
  for (uint32_t c = 0; c < in.n; c++)
    cores[c] = c;
  if (cm_chip_mesh(in.width, in.n / in.width, &chip, &error) != CM_OK ||
      cm_axes_new(chip, cores, in.n, &run, &axes, &error) != CM_OK)
    die("no such grid", error.detail);
  double work = (double)a.work;
  if (a.work == 0) {
    double speed = work_per_second(&a, graph, axes, &run);
    work = speed * (a.seconds - (cm_now() - begin));
  }
  cm_qap_options options = cm_qap_divide(work, a.population, in.n, a.seed);
  uint64_t known = best_known(a.file);
  if (cm_place_by_annealing(graph, axes, &options, &run, at, &error) != CM_OK)
    die("cannot place", error.detail);
  uint64_t cost = cm_axes_cost(graph, axes, at);
  uint64_t check = 0; /* from the matrices as read */
  for (uint32_t i = 0; i < in.n; i++)
    for (uint32_t j = 0; j < in.n; j++)
      check += in.flow[(size_t)i * in.n + j] * in.distance[(size_t)at[i] * in.n + at[j]];
  if (check != cost)
    die("the cost does not match the file's matrices", "");
  double seconds = cm_now() - begin, gap = known != 0 ? 100.0 * ((double)cost - (double)known) / (double)known : 0;
  if (a.json)
    printf("{\"cost\": %llu, \"best_known\": %llu, \"gap_percent\": %.4f, \"seconds\": %.3f, \"work\": %.0f}\n",
           (unsigned long long)cost, (unsigned long long)known, gap, seconds, work);
  else
    printf("cost %llu\nbest_known %llu\ngap_percent %.4f\nseconds %.3f\nwork %.0f\n", (unsigned long long)cost,
           (unsigned long long)known, gap, seconds, work);
  cm_axes_free(axes);
  cm_chip_free(chip);
  cm_graph_free(graph);
  free(in.distance);
  free(in.flow);
  return 0;
}
