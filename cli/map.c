/* coremap map: network and chip in, mapping out. */
#include <errno.h>
#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "core/base/file.h"
#include "core/mapping/cache.h"
#include "core/mapping/export.h"
#include "core/mapping/map.h"
#include "core/mapping/metrics.h"

typedef struct arguments {
  const char *network, *chip, *mesh, *occupancy, *cache, *part, *placement, *output;
  json_t *options;
  bool json, quiet;
} arguments;

enum { CACHE_BYTES_MAX = 1 << 30 };

typedef struct work {
  cli_run cli;
  cm_cache *cache;
  cm_chip *chip;
  cm_occupancy *occupancy;
  cm_map_options *options;
  cm_topology *topology;
  cm_import_report report;
  cm_mapping *mapping;
  char scratch[CM_PATH_MAX];
} work;

static const char usage[] =
  "usage: coremap map NETWORK (--chip NAME|FILE | --mesh WxH) [OPTION...]\n"
  "\n"
  "Maps a network (topology zip, .snn, METIS .graph, hMETIS .hgr, MatrixMarket .mtx, csv/tsv edge list; any gzipped) on\n"
  "a chip.\n"
  "\n"
  "  --chip NAME|FILE     a preset (see coremap show chips) or a chip file\n"
  "  --mesh WxH           a bare grid of cores without limits\n"
  "  --occupancy FILE     cores that are taken or broken\n"
  "  --preset NAME        reference (seed's method), fast, balanced, best (axons under core limits)\n"
  "  --objective NAME     edge (reference) or axon (the others)\n"
  "  --mapper NAME        bisection\n"
  "  --parts K            exactly K parts (with --imbalance, 0.03 unless given)\n"
  "  --max-part-size N    at most N neurons in a part\n"
  "  --seed S             same input, options and seed: same bytes out\n"
  "  --threads T          never changes the result\n"
  "  --memory-limit B     bytes, or 512M, 2G\n"
  "  --time-limit S       seconds\n"
  "  --set NAME=VALUE     any other job option (docs/options.md)\n"
  "  --cache DIR          keep coarsened levels here between runs (at most 1 GiB; one run at a time)\n"
  "  --part FILE          write one part number a line\n"
  "  --placement FILE     write part,x,y\n"
  "  -o, --output FILE    write the whole mapping as JSON\n"
  "  --json               print metrics as one JSON object\n"
  "  --quiet              no progress\n";

/* A flag's value as the JSON that a job would carry: numbers as numbers, the rest as text. */
static bool set_option(arguments *a, const char *name, const char *value)
{
  json_t *parsed = json_loads(value, JSON_DECODE_ANY, NULL);
  if (!json_is_number(parsed)) {
    json_decref(parsed);
    parsed = json_string(value);
  }
  return json_object_set_new(a->options, name, parsed) == 0;
}

static bool set_pair(arguments *a, const char *pair)
{
  const char *equals = strchr(pair, '=');
  char name[64];
  if (equals == NULL || (size_t)(equals - pair) >= sizeof name)
    return false;
  (void)snprintf(name, sizeof name, "%.*s", (int)(equals - pair), pair);
  return set_option(a, name, equals + 1);
}

/* Returns -1 to go on, else an exit status. */
static int parse(int argc, char **argv, arguments *a)
{
  enum { CHIP = 256, MESH, OCCUPANCY, CACHE, PART, PLACEMENT, JSON, QUIET, SET, HELP, JOB_OPTION };
  static const struct option flags[] = {
    {"chip", required_argument, NULL, CHIP}, {"mesh", required_argument, NULL, MESH},
    {"occupancy", required_argument, NULL, OCCUPANCY}, {"cache", required_argument, NULL, CACHE},
    {"part", required_argument, NULL, PART}, {"placement", required_argument, NULL, PLACEMENT},
    {"output", required_argument, NULL, 'o'}, {"json", no_argument, NULL, JSON},
    {"quiet", no_argument, NULL, QUIET}, {"set", required_argument, NULL, SET}, {"help", no_argument, NULL, HELP},
    {"preset", required_argument, NULL, JOB_OPTION}, {"objective", required_argument, NULL, JOB_OPTION},
    {"mapper", required_argument, NULL, JOB_OPTION}, {"parts", required_argument, NULL, JOB_OPTION},
    {"imbalance", required_argument, NULL, JOB_OPTION}, {"max-part-size", required_argument, NULL, JOB_OPTION},
    {"seed", required_argument, NULL, JOB_OPTION}, {"threads", required_argument, NULL, JOB_OPTION},
    {"memory-limit", required_argument, NULL, JOB_OPTION}, {"time-limit", required_argument, NULL, JOB_OPTION},
    {NULL, 0, NULL, 0}};
  int flag, index;
  char name[64];
  while ((flag = getopt_long(argc, argv, "o:", flags, &index)) != -1) {
    switch (flag) {
      case CHIP: a->chip = optarg; break;
      case MESH: a->mesh = optarg; break;
      case OCCUPANCY: a->occupancy = optarg; break;
      case CACHE: a->cache = optarg; break;
      case PART: a->part = optarg; break;
      case PLACEMENT: a->placement = optarg; break;
      case 'o': a->output = optarg; break;
      case JSON: a->json = true; break;
      case QUIET: a->quiet = true; break;
      case HELP: fputs(usage, stdout); return EXIT_DONE;
      case SET:
        if (!set_pair(a, optarg))
          return cli_usage("map", "--set \"%s\" is not of the form NAME=VALUE", optarg);
        break;
      case JOB_OPTION:
        (void)snprintf(name, sizeof name, "%s", flags[index].name);
        for (char *p = name; *p != '\0'; p++)
          *p = *p == '-' ? '_' : *p;
        if (!set_option(a, name, optarg))
          return cli_usage("map", "--%s \"%s\" is not text", flags[index].name, optarg);
        break;
      default: return EXIT_USAGE;
    }
  }
  if (optind + 1 != argc)
    return cli_usage("map", optind == argc ? "no network is named" : "more than one network is named");
  a->network = argv[optind];
  if ((a->chip == NULL) == (a->mesh == NULL))
    return cli_usage("map", "name either --chip or --mesh");
  return -1;
}

static cm_status hash_file(const char *path, char hex[65], cm_error *error)
{
  unsigned char digest[crypto_hash_sha256_BYTES], block[1 << 16];
  crypto_hash_sha256_state state;
  FILE *stream = fopen(path, "rbe");
  if (stream == NULL)
    return cm_fail_errno(error, errno, "cannot open", path);
  crypto_hash_sha256_init(&state);
  for (size_t got; (got = fread(block, 1, sizeof block, stream)) > 0;)
    crypto_hash_sha256_update(&state, block, got);
  fclose(stream);
  crypto_hash_sha256_final(&state, digest);
  sodium_bin2hex(hex, 65, digest, sizeof digest);
  return CM_OK;
}

static cm_status make_scratch(work *w, cm_error *error)
{
  const char *base = getenv("TMPDIR");
  if (cm_path(w->scratch, error, "%s/coremap-XXXXXX", base != NULL ? base : "/tmp") != CM_OK)
    return error->status;
  if (mkdtemp(w->scratch) == NULL) {
    w->scratch[0] = '\0';
    return cm_fail_errno(error, errno, "cannot make a folder in", base != NULL ? base : "/tmp");
  }
  return CM_OK;
}

static cm_status run_map(const arguments *a, work *w, cm_error *error)
{
  cm_import_limits limits = cm_import_limits_default();
  char network_id[65];
  if (cm_map_options_parse(a->options, &w->options, error) != CM_OK ||
      cli_chip(a->chip, a->mesh, &w->chip, error) != CM_OK ||
      cli_occupancy(a->occupancy, w->chip, &w->occupancy, error) != CM_OK)
    return error->status;
  cm_map_options_apply(w->options, &w->cli.run);
  if (cm_import(a->network, &limits, &w->cli.run, &w->topology, &w->report, error) != CM_OK ||
      make_scratch(w, error) != CM_OK)
    return error->status;
  cm_map_input input = {.topology = w->topology,
                        .chip = w->chip,
                        .occupancy = w->occupancy,
                        .options = w->options,
                        .scratch_folder = w->scratch};
  cm_level_cache levels;
  if (a->cache != NULL) { /* its entries are named by content */
    if (hash_file(a->network, network_id, error) != CM_OK ||
        cm_cache_open(a->cache, CACHE_BYTES_MAX, &w->cache, error) != CM_OK)
      return error->status;
    levels = cm_cache_levels(w->cache);
    input.cache = &levels;
    input.network_id = network_id;
  }
  return cm_map(&input, &w->cli.run, &w->mapping, error);
}

static cm_status write_view(const work *w, cm_mapping_view view, const char *path, cm_error *error)
{
  cm_file file;
  if (path == NULL)
    return CM_OK;
  if (cm_file_create(&file, path, error) != CM_OK)
    return error->status;
  cm_status status = cm_mapping_write(w->mapping, w->topology, w->chip, NULL, view, file.stream, error);
  if (status != CM_OK) {
    cm_file_discard(&file);
    return status;
  }
  return cm_file_commit(&file, error);
}

static void print_json(const work *w)
{
  json_t *seconds = json_object(), *attempts = json_array();
  const cm_run *run = &w->cli.run;
  for (size_t i = 0; i < run->phase_count; i++)
    json_object_set_new(seconds, run->phases[i].name, json_real(run->phases[i].seconds));
  for (uint32_t i = 0; i < w->mapping->attempt_count; i++) {
    const cm_attempt *t = &w->mapping->attempts[i];
    json_array_append_new(attempts, json_pack("{s:I, s:i, s:f, s:i, s:b, s:s}", "capacity", (json_int_t)t->capacity, "parts",
                                              (int)t->parts, "edge_cut", t->edge_cut, "levels", (int)t->levels,
                                              "coarsening_cached", t->coarsening_cached, "broken", t->broken));
  }
  json_t *all = json_pack("{s:i, s:o, s:o, s:I, s:o, s:O}", "parts", (int)w->mapping->part_count, "metrics",
                          cm_metrics_json(&w->mapping->metrics), "seconds", seconds, "peak_bytes",
                          (json_int_t)cli_run_peak(&w->cli), "attempts", attempts, "report", w->mapping->report);
  json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
  putchar('\n');
  json_decref(all);
}

static void print_table(const work *w)
{
  const cm_mapping *m = w->mapping;
  const cm_run *run = &w->cli.run;
  printf("network     %s%s, %u neurons, %llu %s\n", w->report.format, w->report.gzipped ? " (gzip)" : "", m->vertex_count,
         (unsigned long long)cm_topology_synapses(w->topology), w->topology->directed ? "synapses" : "edges");
  printf("chip        %s, %u x %u cores\n", w->chip->name, w->chip->width, w->chip->height);
  if (m->attempts[m->attempt_count - 1].coarsening_cached)
    puts("coarsening  none: the levels were in the cache");
  printf("parts       %u on a region of %u x %u at (%u, %u)\n", m->part_count, m->region->width, m->region->height,
         m->region->x0, m->region->y0);
  for (uint32_t i = 0; m->attempt_count > 1 && i < m->attempt_count; i++)
    printf("attempt %-3u capacity %llu: %s\n", i + 1, (unsigned long long)m->attempts[i].capacity,
           m->attempts[i].broken[0] != '\0' ? m->attempts[i].broken : "legal");
  json_t *metrics = cm_metrics_json(&m->metrics);
  const char *name;
  json_t *value;
  json_object_foreach(metrics, name, value) printf("  %-24s %.10g\n", name, json_number_value(value));
  json_decref(metrics);
  double total = 0;
  printf("seconds    ");
  for (size_t i = 0; i < run->phase_count; i++) {
    printf(" %s %.3f", run->phases[i].name, run->phases[i].seconds);
    total += run->phases[i].seconds;
  }
  printf(", total %.3f\npeak memory %.1f MiB\n", total, (double)cli_run_peak(&w->cli) / (1 << 20));
}

static int run_command(const arguments *a, work *w)
{
  cm_error error;
  cli_run_begin(&w->cli, a->quiet);
  cm_status status = run_map(a, w, &error);
  cli_run_end(&w->cli);
  if (status == CM_OK)
    status = write_view(w, CM_VIEW_PART, a->part, &error);
  if (status == CM_OK)
    status = write_view(w, CM_VIEW_PLACEMENT_CSV, a->placement, &error);
  if (status == CM_OK)
    status = write_view(w, CM_VIEW_FULL_JSON, a->output, &error);
  if (status != CM_OK)
    return cli_fail(&error);
  if (a->json)
    print_json(w);
  else
    print_table(w);
  return fflush(stdout) == 0 ? EXIT_DONE : EXIT_REFUSED;
}

int cli_map(int argc, char **argv)
{
  arguments a = {.options = json_object()};
  work w = {0};
  int status = parse(argc, argv, &a);
  if (status < 0)
    status = run_command(&a, &w);
  if (w.scratch[0] != '\0') {
    cm_error ignored;
    (void)cm_folder_remove(w.scratch, &ignored);
  }
  cm_cache_close(w.cache);
  cm_mapping_free(w.mapping);
  cm_topology_free(w.topology);
  cm_map_options_free(w.options);
  cm_occupancy_free(w.occupancy);
  cm_chip_free(w.chip);
  json_decref(a.options);
  return status;
}
