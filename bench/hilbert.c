/* bench/hilbert: presets beside the mapper of ASPLOS 2023 on the same partition: clusters in topological order along
 * Hilbert's curve, then force-directed exchanges of neighbours (Jin et al., Mapping Very Large Scale Spiking Neuron
 * Network to Neuromorphic Hardware). */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/solver/map.h"
#include "core/measure/measure.h"
#include "core/mapping/options.h"
#include "core/solver/stage/stage.h"
#include "core/network/import.h"
#include "core/partition/flows.h"
#include "core/network/nets_by_part.h"
#include "core/placement/curve.h"

static const char usage[] =
  "usage: bench/hilbert [--chips \"loihi64 loihi84\"] [--preset balanced] [--seeds N] [--clusters] [--seconds S]\n"
  "                     [--threads T] [--json] NETWORK...\n"
  "\n"
  "Places the parts that the preset makes of each network on each chip, by the preset and by the method of ASPLOS 2023:\n"
  "parts in topological order (where there are rings: the one that most packets of placed ones go to) along Hilbert's\n"
  "curve over the chip, then neighbouring cores exchange their occupants, the pairs with the highest tension first,\n"
  "until none gains. Prints processor seconds of both (from the parts on, metrics included), energy,\n"
  "latencies and congestion, the ratios of the first to the second, and their means.\n"
  "  --clusters   every neuron is a part\n"
  "  --seconds S  the force-directed method may take so many processor seconds; as long as it gains unless given\n";

typedef struct setting {
  const char *chips, *preset;
  uint64_t seeds;
  double seconds;
  unsigned threads;
  bool clusters, json;
} setting;

static cm_error error;

static void check(cm_status status)
{
  if (status == CM_OK)
    return;
  fprintf(stderr, "bench/hilbert: %s\n", error.detail);
  exit(1);
}

static double cpu_seconds(void)
{
  struct timespec t;
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the method of ASPLOS 2023 ---- */

enum { EAST, WEST, SOUTH, NORTH, WAYS };
#define NOBODY UINT32_MAX

typedef struct force_field {
  const cm_graph *parts;
  uint32_t width, height;
  uint32_t *core;            /* [parts] */
  uint32_t *occupant;        /* [cores] */
  int64_t (*force)[WAYS];    /* [parts] what one step that way would save */
} force_field;

typedef struct tension {
  int64_t value;
  uint32_t core; /* with its eastern (south 0) or southern neighbour */
  bool south;
} tension;

/* What a step of one core saves on the way to something `ahead` cores away along the step's axis. */
static int64_t saved(int64_t ahead) { return ahead > 0 ? 1 : -1; }

static void add_force(force_field *f, uint32_t u, uint32_t at, uint32_t to, int64_t weight)
{
  int64_t dx = (int64_t)(to % f->width) - at % f->width, dy = (int64_t)(to / f->width) - at / f->width;
  f->force[u][EAST] += weight * saved(dx);
  f->force[u][WEST] += weight * saved(-dx);
  f->force[u][SOUTH] += weight * saved(dy);
  f->force[u][NORTH] += weight * saved(-dy);
}

static void find_force(force_field *f, uint32_t u)
{
  memset(f->force[u], 0, sizeof f->force[u]);
  for (uint64_t i = f->parts->first[u]; i < f->parts->first[u + 1]; i++)
    add_force(f, u, f->core[u], f->core[f->parts->neighbour[i]], (int64_t)f->parts->weight[i]);
}

static uint64_t weight_between(const cm_graph *g, uint32_t u, uint32_t v)
{
  uint64_t low = g->first[u], high = g->first[u + 1];
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (g->neighbour[middle] < v)
      low = middle + 1;
    else
      high = middle;
  }
  return low < g->first[u + 1] && g->neighbour[low] == v ? g->weight[low] : 0;
}

/* What the exchange of two neighbouring cores saves. */
static int64_t tension_of(const force_field *f, uint32_t core, bool south)
{
  uint32_t other = core + (south ? f->width : 1), u = f->occupant[core], v = f->occupant[other];
  int64_t sum = 0;
  if (u != NOBODY)
    sum += f->force[u][south ? SOUTH : EAST];
  if (v != NOBODY)
    sum += f->force[v][south ? NORTH : WEST];
  if (u != NOBODY && v != NOBODY)
    sum -= 2 * (int64_t)weight_between(f->parts, u, v); /* both would step to where the other is no more */
  return sum;
}

/* A part has moved: what its neighbours feel changes. */
static void moved(force_field *f, uint32_t u, uint32_t from)
{
  const cm_graph *g = f->parts;
  for (uint64_t i = g->first[u]; i < g->first[u + 1]; i++) {
    uint32_t v = g->neighbour[i];
    add_force(f, v, f->core[v], from, -(int64_t)g->weight[i]);
    add_force(f, v, f->core[v], f->core[u], (int64_t)g->weight[i]);
  }
}

static void exchange(force_field *f, uint32_t core, uint32_t other)
{
  uint32_t u = f->occupant[core], v = f->occupant[other];
  f->occupant[core] = v;
  f->occupant[other] = u;
  if (u != NOBODY)
    f->core[u] = other;
  if (v != NOBODY)
    f->core[v] = core;
  if (u != NOBODY)
    moved(f, u, core);
  if (v != NOBODY)
    moved(f, v, other);
  if (u != NOBODY) /* their own anew: each may have been updated as the other's neighbour */
    find_force(f, u);
  if (v != NOBODY)
    find_force(f, v);
}

static int by_tension(const void *a, const void *b)
{
  const tension *p = a, *q = b;
  if (p->value != q->value)
    return p->value > q->value ? -1 : 1;
  return p->core != q->core ? (p->core < q->core ? -1 : 1) : (int)p->south - (int)q->south;
}

static size_t find_tensions(const force_field *f, tension *list)
{
  size_t found = 0;
  for (uint32_t y = 0; y < f->height; y++)
    for (uint32_t x = 0; x < f->width; x++)
      for (int south = 0; south < 2; south++) {
        uint32_t core = y * f->width + x;
        if (south ? y + 1 == f->height : x + 1 == f->width)
          continue;
        int64_t value = tension_of(f, core, south);
        if (value > 0)
          list[found++] = (tension){value, core, south};
      }
  return found;
}

/* The tightest three tenths of all pairs in every round, as published. */
static void relax(force_field *f, double seconds)
{
  static const double share = 0.3;
  double begin = cpu_seconds();
  tension *list = calloc(2 * (size_t)f->width * f->height, sizeof *list);
  if (list == NULL)
    exit(1);
  for (size_t found; (found = find_tensions(f, list)) > 0 && cpu_seconds() - begin < seconds;) {
    size_t tight = (size_t)ceil((double)found * share);
    qsort(list, found, sizeof *list, by_tension);
    for (size_t i = 0; i < tight && (i % 1024 != 0 || cpu_seconds() - begin < seconds); i++) /* a round may take long */
      if (tension_of(f, list[i].core, list[i].south) > 0)
        exchange(f, list[i].core, list[i].core + (list[i].south ? f->width : 1));
  }
  free(list);
}

/* Topological order; where a ring is in the way, the part to which the placed ones say most goes next. */
static void order_topologically(const cm_topology *t, const uint32_t *part, uint32_t parts, uint32_t *order)
{
  uint32_t *waits = calloc(parts, sizeof *waits), *ready = calloc(parts, sizeof *ready);
  uint8_t *done = calloc(parts, 1);
  double *heard = calloc(parts, sizeof *heard);
  cm_run run;
  uint32_t *first, *net, head = 0, tail = 0, count = 0;
  cm_run_init(&run);
  check(cm_nets_by_part(t, part, parts, &run, &first, &net, &error));
  if (waits == NULL || ready == NULL || done == NULL || heard == NULL)
    exit(1);
  for (uint32_t e = 0; e < t->net_count; e++)
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
      waits[part[t->pin[i]]] += part[t->pin[i]] != part[cm_topology_source(t, e)];
  for (uint32_t p = 0; p < parts; p++)
    if (waits[p] == 0)
      ready[tail++] = p;
  while (count < parts) {
    uint32_t next = NOBODY;
    while (head < tail && next == NOBODY)
      next = done[ready[head]] ? (head++, NOBODY) : ready[head++];
    for (uint32_t p = 0; next == NOBODY && p < parts; p++) { /* the first not done, to compare with */
      if (done[p])
        continue;
      next = p;
      for (uint32_t q = p + 1; q < parts; q++)
        if (!done[q] && heard[q] > heard[next])
          next = q;
    }
    done[next] = 1;
    order[count++] = next;
    for (uint32_t k = first[next]; k < first[next + 1]; k++)
      for (uint64_t i = t->net_first[net[k]]; i < t->net_first[net[k] + 1]; i++) {
        uint32_t to = part[t->pin[i]];
        heard[to] += (double)cm_topology_net_weight(t, net[k]);
        if (to != next && --waits[to] == 0 && !done[to])
          ready[tail++] = to;
      }
  }
  cm_free(first);
  cm_free(net);
  free(waits);
  free(ready);
  free(done);
  free(heard);
}

/* The whole method; core [parts] is the caller's. */
static void place_by_force(const cm_topology *t, const cm_chip *chip, const uint32_t *part, uint32_t parts,
                           double seconds, cm_run *run, uint32_t *core)
{
  uint32_t cores = cm_chip_cores(chip), *order = calloc(parts, sizeof *order);
  cm_graph *graph;
  cm_region whole = {.width = chip->width, .height = chip->height, .rectangle = true, .core_count = cores};
  whole.cores = calloc(cores, sizeof *whole.cores);
  uint32_t *curve = calloc(cores, sizeof *curve);
  force_field f = {.width = chip->width, .height = chip->height, .core = core};
  f.occupant = calloc(cores, sizeof *f.occupant);
  f.force = calloc(parts, sizeof *f.force);
  if (order == NULL || whole.cores == NULL || curve == NULL || f.occupant == NULL || f.force == NULL)
    exit(1);
  for (uint32_t c = 0; c < cores; c++)
    whole.cores[c] = c;
  check(cm_graph_of_axons(CM_DEMAND_OF(t), part, parts, run, &graph, &error));
  check(cm_order_cores(chip, &whole, run, curve, &error));
  order_topologically(t, part, parts, order);
  memset(f.occupant, 0xff, cores * sizeof *f.occupant);
  f.parts = graph;
  for (uint32_t k = 0; k < parts; k++) {
    core[order[k]] = curve[k];
    f.occupant[curve[k]] = order[k];
  }
  for (uint32_t u = 0; u < parts; u++)
    find_force(&f, u);
  relax(&f, seconds);
  cm_graph_free(graph);
  free(order);
  free(whole.cores);
  free(curve);
  free(f.occupant);
  free(f.force);
}

/* ---- measuring ---- */

enum { SECONDS, ENERGY, LATENCY_MEAN, LATENCY_MAX, CONGESTION_MEAN, CONGESTION_MAX, FIGURES };
static const char *const names[FIGURES] = {"cpu s", "energy", "latency", "lat. max", "congest.", "cong. max"};
static const char *const keys[FIGURES] = {"cpu_seconds", "energy_pj", "latency_mean_ns", "latency_max_ns",
                                          "congestion_mean", "congestion_max"};

static void figures(const cm_metrics *m, double seconds, double *figure)
{
  figure[SECONDS] = seconds;
  figure[ENERGY] = m->energy_pj;
  figure[LATENCY_MEAN] = m->latency_mean_ns;
  figure[LATENCY_MAX] = m->latency_max_ns;
  figure[CONGESTION_MEAN] = m->congestion_mean;
  figure[CONGESTION_MAX] = m->congestion_max;
}

/* Wall seconds of the phases that do what the other method does too. */
static double phase_seconds(const cm_run *run)
{
  static const char *const phases[] = {"region", "order", "place", "anneal", "metrics"};
  double sum = 0;
  for (size_t i = 0; i < run->phase_count; i++)
    for (size_t k = 0; k < sizeof phases / sizeof *phases; k++)
      sum += strcmp(run->phases[i].name, phases[k]) == 0 ? run->phases[i].seconds : 0;
  return sum;
}

static void ours(const cm_map_input *input, cm_run *run, double *figure)
{
  cm_mapping *mapping;
  double begin = cpu_seconds(), wall = cm_now(), before = phase_seconds(run);
  check(cm_map(input, run, &mapping, &error));
  double busy = (cpu_seconds() - begin) / (cm_now() - wall);
  figures(&mapping->metrics, (phase_seconds(run) - before) * busy, figure);
  cm_mapping_free(mapping);
}

static void theirs(const cm_map_input *input, double seconds, cm_run *run, double *figure)
{
  cm_metrics metrics;
  cm_metrics_detail detail;
  uint32_t *core = calloc((size_t)input->part_count + 1, sizeof *core);
  if (core == NULL)
    exit(1);
  double begin = cpu_seconds();
  place_by_force(input->demand->network, input->chip, input->part, input->part_count, seconds, run, core);
  check(cm_metrics_compute(&(cm_mapped){input->demand, input->chip, input->part, input->part_count, core, NULL}, run, &metrics,
                           &detail, &error));
  figures(&metrics, cpu_seconds() - begin, figure);
  cm_metrics_detail_free(&detail);
  free(core);
}

static void print_row(const setting *s, const char *network, const char *chip, uint32_t parts, const char *method,
                      const double *figure, bool first)
{
  if (s->json)
    printf("%s{\"network\": \"%s\", \"chip\": \"%s\", \"parts\": %u, \"method\": \"%s\"", first ? "" : ",\n ", network,
           chip, parts, method);
  else
    printf("%-20.20s %-10s %8u %-10s", network, chip, parts, method);
  for (int k = 0; k < FIGURES; k++)
    if (s->json)
      printf(", \"%s\": %.6g", keys[k], figure[k]);
    else
      printf(" %11.5g", figure[k]);
  fputs(s->json ? "}" : "\n", stdout);
  (void)fflush(stdout);
}

/* One network on one chip, means over the seeds; adds the logarithms of the ratios. */
static void compare(const setting *s, const char *path, const cm_topology *t, const char *chip_name, double *logs,
                    bool first)
{
  const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
  double mine[FIGURES] = {0}, peer[FIGURES] = {0}, ratio[FIGURES];
  cm_chip *chip;
  cm_occupancy *occupancy;
  uint32_t parts = 0;
  check(cm_chip_open(chip_name, &chip, &error));
  check(cm_occupancy_new(chip, &occupancy, &error));
  for (uint64_t seed = 1; seed <= s->seeds; seed++) {
    cm_run run;
    cm_map_options *options;
    cm_candidate stage = {0};
    uint32_t *part = NULL;
    double figure[FIGURES];
    cm_run_init(&run);
    run.threads = s->threads;
    json_t *flags = json_pack("{s:s, s:I, s:s}", "preset", s->preset, "seed", (json_int_t)seed, "objective", "axon");
    check(cm_map_options_parse(flags, &options, &error));
    json_decref(flags);
    cm_map_input input = {.demand = CM_DEMAND_OF(t), .chip = chip, .occupancy = occupancy, .options = options};
    if (s->clusters) {
      input.part_count = t->vertex_count;
      part = calloc(t->vertex_count, sizeof *part);
      for (uint32_t v = 0; part != NULL && v < t->vertex_count; v++)
        part[v] = v;
      input.part = part;
    } else {
      check(cm_make_parts(&input, &run, &stage, &error));
      input.part_count = stage.partition->part_count;
      input.part = stage.partition->part;
    }
    parts = input.part_count;
    ours(&input, &run, figure);
    for (int k = 0; k < FIGURES; k++)
      mine[k] += figure[k] / (double)s->seeds;
    theirs(&input, s->seconds, &run, figure);
    for (int k = 0; k < FIGURES; k++)
      peer[k] += figure[k] / (double)s->seeds;
    cm_candidate_free(&stage);
    cm_map_options_free(options);
    free(part);
  }
  for (int k = 0; k < FIGURES; k++) {
    ratio[k] = peer[k] > 0 ? mine[k] / peer[k] : 1;
    logs[k] += log(ratio[k]);
  }
  print_row(s, name, chip_name, parts, s->preset, mine, first);
  print_row(s, name, chip_name, parts, "hilbert+fd", peer, false);
  if (!s->json)
    print_row(s, name, chip_name, parts, "ratio", ratio, false);
  cm_occupancy_free(occupancy);
  cm_chip_free(chip);
}

static void parse(int argc, char **argv, setting *s)
{
  static const struct option flags[] = {{"chips", required_argument, NULL, 'c'},   {"preset", required_argument, NULL, 'p'},
                                        {"seeds", required_argument, NULL, 's'},   {"clusters", no_argument, NULL, 'k'},
                                        {"seconds", required_argument, NULL, 't'}, {"threads", required_argument, NULL, 'n'},
                                        {"json", no_argument, NULL, 'j'},          {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};
  for (int flag; (flag = getopt_long(argc, argv, "", flags, NULL)) != -1;)
    switch (flag) {
      case 'c': s->chips = optarg; break;
      case 'p': s->preset = optarg; break;
      case 's': s->seeds = strtoull(optarg, NULL, 10); break;
      case 'k': s->clusters = true; break;
      case 't': s->seconds = strtod(optarg, NULL); break;
      case 'n': s->threads = (unsigned)strtoul(optarg, NULL, 10); break;
      case 'j': s->json = true; break;
      case 'h': fputs(usage, stdout); exit(0);
      default: exit(2);
    }
  if (optind == argc || s->seeds == 0 || s->threads == 0) {
    fputs(usage, stderr);
    exit(2);
  }
}

int main(int argc, char **argv)
{
  setting s = {.chips = "loihi64 loihi84", .preset = "balanced", .seeds = 3, .seconds = INFINITY, .threads = 1};
  double logs[FIGURES] = {0};
  int cases = 0;
  parse(argc, argv, &s);
  if (s.json)
    putchar('[');
  else {
    printf("%-20s %-10s %8s %-10s", "network", "chip", "parts", "method");
    for (int k = 0; k < FIGURES; k++)
      printf(" %11s", names[k]);
    putchar('\n');
  }
  for (int i = optind; i < argc; i++) {
    cm_run run;
    cm_topology *t;
    cm_import_report report;
    cm_run_init(&run);
    check(cm_import(argv[i], NULL, &run, &t, &report, &error));
    char *chips = strdup(s.chips), *rest = chips;
    for (char *chip; (chip = strtok_r(rest, " ,", &rest)) != NULL; cases++)
      compare(&s, argv[i], t, chip, logs, cases == 0);
    free(chips);
    cm_topology_free(t);
  }
  if (s.json)
    puts("]");
  else {
    printf("%-50s ", "geometric mean of the ratios");
    for (int k = 0; k < FIGURES; k++)
      printf(" %11.4f", exp(logs[k] / cases));
    putchar('\n');
  }
  return 0;
}
