/* coremap map and coremap place: network and chip in, mapping out; `place` takes the parts from a file. */
#include <stdio.h>
#include <string.h>

#include "cli/job.h"
#include "core/mapping/result/beside.h"
#include "core/mapping/result/export.h"
#include "core/mapping/measure/measure.h"
#include "core/mapping/options.h"
#include "core/mapping/pareto/pareto.h"
#include "core/mapping/scenarios/scenarios.h"
#include "core/mapping/stage/part_file.h"
#include "core/mapping/routes/routes.h"

static const cli_flag map_flags[] = {
  CLI_JOB_INPUT_FLAGS("a preset (see coremap show chips) or a chip file", "a bare grid of cores without limits"),
  {"cache", "DIR", CLI_JOB_CACHE, "keep coarsened levels here between runs (at most 1 GiB; one run at a time)"},
  {"part", "FILE", CLI_JOB_PART, "write one part number a line"},
  {"from", "FILE", CLI_JOB_FROM, "start from an old mapping (-o of an earlier run): keep what can stay, move what must"},
  {"pareto", "DIR", CLI_JOB_PARETO, "with --objective pareto: write its mappings, their table and plot into this folder"},
  CLI_JOB_PLACED_FLAGS,
  {0}};

static const cli_flag place_flags[] = {
  {"part", "FILE", CLI_JOB_PART, "the parts; no number up to the largest may be missing"},
  CLI_JOB_INPUT_FLAGS("a preset (see coremap show chips) or a chip file", "a bare grid of cores without limits"),
  CLI_JOB_PLACED_FLAGS,
  {0}};

/* One view of a mapping on its way to a file. */
typedef struct view {
  const cli_job *job;
  const cm_mapping *mapping;
  cm_mapping_view what;
} view;

static cm_status write_view(void *user, FILE *stream, cm_error *error)
{
  const view *v = user;
  return cm_mapping_write(v->mapping, v->job->topology, v->job->chip, v->job->network_id[0] != '\0' ? v->job->network_id : NULL, v->what,
                          stream, error);
}

static cm_status write_views(const cli_job *job, const cm_mapping *mapping, cm_error *error)
{
  view part = {job, mapping, CM_VIEW_PART}, placement = {job, mapping, CM_VIEW_PLACEMENT_CSV},
       full = {job, mapping, CM_VIEW_FULL_JSON};
  cm_status status = cli_job_write(job->part, write_view, &part, error);
  if (status == CM_OK)
    status = cli_job_write(job->placement, write_view, &placement, error);
  if (status == CM_OK)
    status = cli_job_write(job->output, write_view, &full, error);
  if (status == CM_OK && job->pareto != NULL)
    status = cm_pareto_write_folder(mapping, job->topology, job->chip, NULL, job->pareto, error);
  return status;
}

/* What a mapping is to leave behind beside its views. */
typedef struct beside {
  cli_job *job;
  const cm_mapping *mapping;
  cm_routes *routes; /* NULL: not asked for */
} beside;

static bool ends_in(const char *path, const char *ending)
{
  size_t length = strlen(path), tail = strlen(ending);
  return length >= tail && strcmp(path + length - tail, ending) == 0;
}

static cm_status write_routes(void *user, FILE *stream, cm_error *error)
{
  const beside *b = user;
  const char *path = b->job->routes_name;
  cm_routes_view kind = ends_in(path, ".csv")   ? CM_ROUTES_CSV
                        : ends_in(path, ".bin") ? CM_ROUTES_BINARY
                                                : CM_ROUTES_JSON;
  return cm_routes_write(b->routes, kind, &b->job->cli.run, stream, error);
}

static cm_status write_certificate(void *user, FILE *stream, cm_error *error)
{
  const beside *b = user;
  const cli_job *job = b->job;
  return cm_mapping_certify(b->mapping, job->topology, job->chip, job->occupancy, job->network_id, &b->job->cli.run,
                              stream, error);
}

static cm_status write_beside(beside *b, cm_error *error)
{
  cli_job *job = b->job;
  bool own;
  cm_route_options options = cm_routes_wanted(job->options, job->chip, &own);
  cm_status status = CM_OK;
  if (job->routes != NULL)
    status = cm_routes_make(b->mapping, job->topology, job->chip, &options, &job->cli.run, &b->routes, error);
  if (status == CM_OK)
    status = cli_job_write(job->routes, write_routes, b, error);
  return status == CM_OK ? cli_job_write(job->certificate, write_certificate, b, error) : status;
}

static void print_routes(const cm_routes *r)
{
  printf("routes      %s, %s, %u flows over %llu links, free of deadlock", cm_routes_rule_name(r),
         r->multicast ? "multicast" : "unicast", r->flow_count, (unsigned long long)r->links);
  if (r->virtual_channels > 0)
    printf(" with %u virtual channel%s", r->virtual_channels, r->virtual_channels == 1 ? "" : "s");
  putchar('\n');
  printf("link load   at most %.10g, before balancing %.10g\n", (double)r->load_max / r->unit,
         (double)r->load_max_before / r->unit);
  if (!r->multicast || r->chip->table_entries != 0)
    return;
  char name[CM_ROUTER_NAME_MAX];
  cm_routes_router_name(r, r->fullest, name);
  printf("tables      %llu entries, at most %u, at %s\n", (unsigned long long)r->entries_total, cm_routes_entries(r, r->fullest), name);
}

static void print_incremental(const json_t *told)
{
  const char *name;
  json_t *value;
  fputs("from old   ", stdout);
  json_object_foreach((json_t *)told, name, value)
    printf(" %s %.10g%s", name, json_is_boolean(value) ? json_is_true(value) : json_number_value(value),
           json_object_iter_next((json_t *)told, json_object_key_to_iter(name)) != NULL ? "," : "\n");
}

static void print_json(const cli_job *job, const cm_mapping *m, const cm_routes *routes)
{
  cli_job_print_json(job, json_pack("{s:i, s:o, s:o, s:o, s:O, s:o*}", "parts", (int)m->part_count, "bound",
                                    cm_bound_json(&m->bound), "metrics", cm_metrics_json(&m->metrics), "attempts",
                                    cm_attempts_json(m->attempts, m->attempt_count, true), "report", m->report,
                                    "routes", routes == NULL ? NULL : cm_routes_json(routes)));
}

/* The ways to map that stood side by side. */
static void print_tried(const json_t *tried)
{
  size_t i;
  const json_t *way;
  json_array_foreach(tried, i, way)
    printf("tried       mapper %s, preset %s, objective %s: cost %.10g\n",
           json_string_value(json_object_get(way, "mapper")), json_string_value(json_object_get(way, "preset")),
           json_string_value(json_object_get(way, "objective")), json_number_value(json_object_get(way, "cost")));
}

/* Tables that had to fit. */
static void print_fitted(const json_t *tables)
{
  if (tables != NULL)
    printf("tables      at most %lld of %lld entries in a router, %lld in all; %lld with one a key, routed %s\n",
           (long long)json_integer_value(json_object_get(tables, "most")), (long long)json_integer_value(json_object_get(tables, "limit")),
           (long long)json_integer_value(json_object_get(tables, "entries")),
           (long long)json_integer_value(json_object_get(tables, "one_per_key")),
           json_string_value(json_object_get(tables, "routing")));
}

/* Neurons that the chip made more of. */
static void print_neurons(const json_t *neurons)
{
  if (neurons != NULL)
    printf("neurons     %lld relays; %lld neurons copied, %lld copies besides\n", (long long)json_integer_value(json_object_get(neurons, "relays")),
           (long long)json_integer_value(json_object_get(neurons, "copied")), (long long)json_integer_value(json_object_get(neurons, "copies")));
}

static void print_table(const cli_job *job, const cm_mapping *m, const cm_routes *routes)
{
  cli_job_print_inputs(job);
  if (m->attempts[m->attempt_count - 1].coarsening_cached)
    puts("coarsening  none: the levels were in the cache");
  cli_job_print_parts(m->part_count, &m->bound);
  printf("region      %u x %u at (%u, %u)\n", m->region->width, m->region->height, m->region->x0, m->region->y0);
  cli_job_print_attempts(m->attempts, m->attempt_count);
  print_tried(json_object_get(m->report, "tried"));
  print_neurons(json_object_get(m->report, "neurons"));
  cli_job_print_limits(&m->metrics, job->chip);
  json_t *metrics = cm_metrics_json(&m->metrics);
  cli_job_print_numbers(metrics);
  json_decref(metrics);
  json_t *scenarios = m->scenario_count > 0 ? cm_scenarios_json(m, job->topology) : NULL;
  cli_print_scenarios(scenarios);
  json_decref(scenarios);
  cli_print_steps(m->report);
  print_fitted(json_object_get(m->report, "tables"));
  if (json_object_get(m->report, "incremental") != NULL)
    print_incremental(json_object_get(m->report, "incremental"));
  if (routes != NULL)
    print_routes(routes);
  cli_job_print_cost(job);
}

/* Maps, with the parts of `in` when it is not NULL. */
static int run_command(cli_job *job, const char *in)
{
  cm_map_input input;
  cm_mapping *mapping = NULL;
  uint32_t *part = NULL;
  cm_error error;
  cm_status status = cli_job_open(job, &input, &error);
  if (status == CM_OK && job->pareto != NULL && job->options->objective != CM_OBJECTIVE_PARETO)
    status = cm_fail(&error, CM_BAD_OPTION, "--pareto is for the mappings of objective pareto: add --objective pareto");
  if (status == CM_OK && in != NULL) {
    status = cm_part_read(in, job->topology->vertex_count, &job->cli.run, &part, &input.part_count, &error);
    input.part = part;
  }
  if (status == CM_OK)
    status = cm_map(&input, &job->cli.run, &mapping, &error);
  beside b = {job, mapping, NULL};
  if (status == CM_OK)
    status = write_beside(&b, &error);
  cli_run_end(&job->cli);
  if (status == CM_OK)
    status = write_views(job, mapping, &error);
  if (status == CM_OK && job->json)
    print_json(job, mapping, b.routes);
  else if (status == CM_OK)
    print_table(job, mapping, b.routes);
  cm_routes_free(b.routes);
  cm_mapping_free(mapping);
  cm_free(part);
  if (status != CM_OK)
    return cli_fail(&error);
  return fflush(stdout) == 0 ? EXIT_DONE : EXIT_REFUSED;
}

static int map(int argc, char **argv)
{
  cli_job job = {.flags = json_object()};
  int status = cli_job_parse(&cli_command_map, argc, argv, &job);
  if (status < 0)
    status = run_command(&job, NULL);
  cli_job_close(&job);
  return status;
}

const cli_command cli_command_map = {
  .name = "map", .what = "map a network on a chip", .run = map, .reads = true, .options = CLI_OPTIONS_MAP,
  .usage = "NETWORK (--chip NAME|FILE | --mesh WxH) [OPTION...]",
  .about = "Maps a network on a chip. The network's format is recognised, gzipped or not:\n"
           "@A.\n"
           "FILE - is standard input, or output.",
  .flags = map_flags};

/* What asks for other parts than those that are given; NULL: nothing does. */
static const char *asks_for_parts(const cli_job *job)
{
  static const char *const options[][2] = {
    {"parts", "--parts"}, {"max_part_size", "--max-part-size"}, {"imbalance", "--imbalance"}};
  const char *mapper = json_string_value(json_object_get(job->flags, "mapper"));
  for (size_t i = 0; i < sizeof options / sizeof *options; i++)
    if (json_object_get(job->flags, options[i][0]) != NULL)
      return options[i][1];
  return mapper != NULL && strcmp(mapper, "mesh") == 0 ? "mapper mesh" : NULL;
}

static int place(int argc, char **argv)
{
  cli_job job = {.flags = json_object()};
  int status = cli_job_parse(&cli_command_place, argc, argv, &job);
  const char *in = job.part;
  job.part = NULL; /* it is read here, not written */
  const char *other = asks_for_parts(&job);
  if (status < 0 && in == NULL)
    status = cli_usage("place", "name the parts with --part");
  if (status < 0 && other != NULL)
    status = cli_usage("place", "%s is for making parts, and here they are given: use coremap map", other);
  if (status < 0)
    status = run_command(&job, in);
  cli_job_close(&job);
  return status;
}

const cli_command cli_command_place = {
  .name = "place", .what = "place parts that are made already", .run = place, .reads = true, .options = CLI_OPTIONS_PLACE,
  .usage = "NETWORK --part IN.part (--chip NAME|FILE | --mesh WxH) [OPTION...]",
  .about = "Places parts that are made already, one part number a line in the order of the neurons: the placement stage alone.\n"
           "FILE - is standard input, or output.",
  .flags = place_flags};
