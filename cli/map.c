/* coremap map and coremap place: network and chip in, mapping out; `place` takes the parts from a file. */
#include <unistd.h>

#include "cli/job.h"

static const cli_flag map_flags[] = {
  CLI_JOB_INPUT_FLAGS("a preset (see coremap show chips) or a chip file", "a bare grid of cores without limits"),
  CLI_JOB_LEVELS_FLAGS, CLI_JOB_PART_FLAG, CLI_JOB_CONSTRAINTS_FLAG,
  {"from", "FILE", CLI_IN, "start from an old mapping (-o of an earlier run): keep what can stay, move what must", CLI_JOB_AT(from)},
  CLI_STIMULUS_FLAGS(CLI_JOB_AT(input), CLI_JOB_AT(poisson)),
  {"spikes", "SPIKES", CLI_IN, NULL, CLI_JOB_AT(input)}, /* as the option is called */
  {"pareto", "DIR", CLI_TEXT, "with --objective pareto: write its mappings, their table and plot into this folder", CLI_JOB_AT(pareto)},
  CLI_JOB_PLACED_FLAGS,
  {0}};

static const cli_flag place_flags[] = {
  CLI_JOB_CONSTRAINTS_FLAG,
  {"part", "FILE", CLI_IN, "the parts; no number up to the largest may be missing", CLI_JOB_AT(in), "the parts to be placed"},
  CLI_JOB_INPUT_FLAGS("a preset (see coremap show chips) or a chip file", "a bare grid of cores without limits"),
  CLI_JOB_PLACED_FLAGS,
  {0}};

static cm_status write_view(cli_job *job, const coremap_mapping *mapping, const char *what, const char *path, cm_error *error)
{
  if (path == NULL)
    return CM_OK;
  return library_status(coremap_mapping_write_watched(mapping, what, path, library_on_run, &job->cli.run, &cli_why), &cli_why, error);
}

static cm_status write_views(cli_job *job, const coremap_mapping *mapping, cm_error *error)
{
  cm_status status = write_view(job, mapping, "mapping.part", job->part, error);
  CM_THEN(status, write_view(job, mapping, "placement.csv", job->placement, error));
  CM_THEN(status, write_view(job, mapping, "mapping", job->output, error));
  CM_THEN_IF(status, job->pareto != NULL, library_status(coremap_mapping_write_pareto(mapping, job->pareto, &cli_why), &cli_why, error));
  return status;
}

/* Routes and certificate; *routes (what the library says of them) stays NULL where nobody asks for routes. */
static cm_status write_beside(cli_job *job, coremap_mapping *mapping, json_t **routes, cm_error *error)
{
  coremap_routes *made = NULL;
  cm_run *run = &job->cli.run;
  char *text;
  if (job->routes != NULL) {
    const char *name = job->routes, *as = cm_path_ends_in(name, ".csv") ? "csv" : cm_path_ends_in(name, ".bin") ? "bin" : "json";
    int result = coremap_routes_make(mapping, library_on_run, run, &made, &cli_why);
    if (result == 0)
      result = coremap_routes_write(made, as, cli_output(name), library_on_run, run, &cli_why);
    if (result == 0 && (result = coremap_routes_about(made, &text, &cli_why)) == 0)
      *routes = library_json(text);
    coremap_routes_free(made);
    CM_TRY(library_status(result, &cli_why, error));
  }
  return write_view(job, mapping, "certificate", job->certificate, error);
}

static void print_routes(const json_t *r)
{
  const json_t *tables = json_object_get(r, "tables");
  const double channels = cli_number(r, "virtual_channels");
  cli_printf(stdout, "routes      %s, %s, %s over %s, free of deadlock", cli_text(r, "routing"), cli_text(r, "model"),
         cli_count(cli_number(r, "flows"), "flow").text, cli_count(cli_number(r, "links"), "link").text);
  if (channels > 0)
    cli_printf(stdout, " with %s", cli_count(channels, "virtual channel").text);
  putchar('\n');
  cli_printf(stdout, "link load   at most %.10g, before balancing %.10g\n", cli_number(r, "link_load_max"), cli_number(r, "link_load_max_before"));
  if (tables != NULL && !json_is_integer(json_object_get(tables, "limit")))
    cli_printf(stdout, "tables      %s, at most %.0f, at %s\n", cli_count(cli_number(tables, "entries"), "entry").text, cli_number(tables, "most"),
           cli_text(r, "fullest"));
}

static void print_incremental(const json_t *told)
{
  const char *name;
  json_t *value;
  fputs("from old   ", stdout);
  json_object_foreach((json_t *)told, name, value)
    cli_printf(stdout, " %s %.10g%s", name, json_is_boolean(value) ? json_is_true(value) : json_number_value(value),
           json_object_iter_next((json_t *)told, json_object_key_to_iter(name)) != NULL ? "," : "\n");
}

static void print_json(const cli_job *job, json_t *made, json_t *routes)
{
  static const char *const told[] = {"parts", "bound", "metrics", "attempts", "report"};
  json_t *all = json_object();
  for (size_t i = 0; i < sizeof told / sizeof *told; i++)
    (void)json_object_set(all, told[i], json_object_get(made, told[i]));
  (void)json_object_del(routes, "fullest");
  if (routes != NULL)
    (void)json_object_set(all, "routes", routes);
  cli_job_print_json(job, all);
}

/* The mappings that stood side by side. */
static void print_candidates(const json_t *candidates)
{
  size_t i;
  const json_t *candidate;
  json_array_foreach(candidates, i, candidate)
    cli_printf(stdout, "candidate   mapper %s, preset %s, objective %s: cost %.10g\n",
           json_string_value(json_object_get(candidate, "mapper")), json_string_value(json_object_get(candidate, "preset")),
           json_string_value(json_object_get(candidate, "objective")), json_number_value(json_object_get(candidate, "cost")));
}

/* Tables that had to fit. */
static void print_fitted(const json_t *tables)
{
  const json_t *widened = json_object_get(tables, "widened");
  if (tables != NULL)
    cli_printf(stdout, "tables      at most %lld of %lld entries in a router, %lld in all; %lld with one a key, routed %s\n",
           (long long)json_integer_value(json_object_get(tables, "most")), (long long)json_integer_value(json_object_get(tables, "limit")),
           (long long)json_integer_value(json_object_get(tables, "entries")),
           (long long)json_integer_value(json_object_get(tables, "one_per_key")),
           json_string_value(json_object_get(tables, "routing")));
  if (widened != NULL)
    cli_printf(stdout, "widened     keys of %s, so that tables fit: %.10g packets a step come to cores that drop them\n",
               cli_count(cli_number(widened, "axons"), "axon").text, cli_number(widened, "packets"));
}

/* Neurons that the chip made more of. */
static void print_neurons(const json_t *neurons)
{
  if (neurons != NULL)
    cli_printf(stdout, "neurons     %s; %s copied, %s besides\n", cli_count(cli_number(neurons, "relays"), "relay").text,
           cli_count(cli_number(neurons, "copied"), "neuron").text, cli_count(cli_number(neurons, "copies"), "copy").text);
}

/* What the last attempt found in the cache. */
static void print_cached(const json_t *attempts)
{
  const json_t *last = json_array_get(attempts, json_array_size(attempts) - 1);
  double saved = cli_number(last, "saved_seconds");
  if (saved > 0)
    cli_printf(stdout, "partition   none made: it was in the cache, where making it had taken %.2f s\n", saved);
  else if (json_is_true(json_object_get(last, "coarsening_cached")))
    fputs("coarsening  none: the levels were in the cache\n", stdout);
}

/* Of all tries. */
static void print_carried(const json_t *attempts)
{
  const json_t *one;
  size_t i;
  double carried = 0, matched = 0;
  json_array_foreach(attempts, i, one) {
    carried += cli_number(one, "pairs_carried");
    matched += cli_number(one, "pairs_matched");
  }
  if (carried + matched > 0)
    cli_printf(stdout, "coarsening  %.0f of %.0f pairs carried over, %.0f matched anew\n", carried, carried + matched, matched);
}

static void print_all(const cli_job *job, const json_t *made, const json_t *routes)
{
  const json_t *attempts = json_object_get(made, "attempts"), *report = json_object_get(made, "report"), *region = json_object_get(made, "region");
  cli_job_print_inputs(job);
  print_cached(attempts);
  print_carried(attempts);
  cli_job_print_parts(made);
  cli_printf(stdout, "region      %.0f x %.0f at (%.0f, %.0f)\n", cli_number(region, "width"), cli_number(region, "height"), cli_number(region, "x"),
         cli_number(region, "y"));
  cli_job_print_attempts(attempts);
  print_candidates(json_object_get(report, "candidates"));
  print_neurons(json_object_get(report, "neurons"));
  cli_job_print_limits(json_object_get(made, "limits"));
  cli_job_print_numbers(made);
  cli_print_scenarios(json_object_get(made, "scenarios"));
  cli_print_steps(report);
  print_fitted(json_object_get(report, "tables"));
  if (json_is_string(json_object_get(report, "note")))
    cli_printf(stdout, "note        %s\n", cli_text(report, "note"));
  if (json_object_get(report, "incremental") != NULL)
    print_incremental(json_object_get(report, "incremental"));
  if (routes != NULL)
    print_routes(routes);
  cli_job_print_cost(job);
}

/* On a terminal only what matters, where there is something to say of steps. */
static void print_table(const cli_job *job, const json_t *made, const json_t *routes)
{
  const json_t *report = json_object_get(made, "report");
  if (job->verbose || !isatty(STDOUT_FILENO) || json_object_get(report, "choices") == NULL)
    print_all(job, made, routes);
  else if (json_is_string(json_object_get(report, "note")))
    cli_printf(stdout, "note        %s\n", cli_text(report, "note"));
  cli_print_rates(report);
  cli_print_choices(json_object_get(report, "choices"));
  cli_print_summary(job, made);
}

static cm_status make(cli_job *job, coremap_mapping **mapping, cm_error *error)
{
  const char *objective = json_string_value(json_object_get(job->line.options, "objective"));
  char *options = NULL;
  cm_status status = cli_job_open(job, &options, error);
  if (status == CM_OK && job->pareto != NULL && (objective == NULL || strcmp(objective, "pareto") != 0))
    status = cm_fail(error, CM_BAD_OPTION, "--pareto is for the mappings of objective pareto: add --objective pareto");
  CM_THEN(status, library_status(coremap_map(job->network, job->chip, options, library_on_run, &job->cli.run, mapping, &cli_why), &cli_why, error));
  if (status != CM_OK && job->network != NULL && job->chip != NULL)
    library_name_chips(job->network, NULL, job->chip, job->line.options, &job->cli.run, error);
  free(options);
  return status;
}

static int map(void *given)
{
  cli_job *job = given;
  coremap_mapping *mapping = NULL;
  json_t *routes = NULL, *made = NULL;
  cm_error error;
  char *text;
  size_t size;
  cm_status status = make(job, &mapping, &error);
  CM_THEN(status, write_beside(job, mapping, &routes, &error));
  cli_run_end(&job->cli);
  CM_THEN(status, write_views(job, mapping, &error));
  CM_THEN(status, library_status(coremap_mapping_text(mapping, "report", &text, &size, &cli_why), &cli_why, &error));
  if (status == CM_OK)
    made = library_json(text);
  if (status == CM_OK && job->line.json)
    print_json(job, made, routes);
  else if (status == CM_OK)
    print_table(job, made, routes);
  coremap_mapping_free(mapping);
  json_decref(routes);
  json_decref(made);
  cli_job_close(job);
  if (status != CM_OK) {
    cli_place_in_file(job->constraints, "/options/constraints", &error);
    return cli_fail(&error);
  }
  return fflush(stdout) == 0 ? EXIT_DONE : EXIT_REFUSED;
}

const cli_command cli_command_map = {
  .name = "map", .what = "map a network on a chip", .run = map, .check = cli_job_check, .word = "network", .size = sizeof(cli_job), .reads = true, .options = CLI_OPTIONS_MAP,
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
  const char *mapper = json_string_value(json_object_get(job->line.options, "mapper"));
  for (size_t i = 0; i < sizeof options / sizeof *options; i++)
    if (json_object_get(job->line.options, options[i][0]) != NULL)
      return options[i][1];
  return mapper != NULL && strcmp(mapper, "integrated") == 0 ? "mapper integrated" : NULL;
}

static int check_place(void *given)
{
  const cli_job *job = given;
  const char *other = asks_for_parts(job);
  const int ended = cli_job_check(given);
  if (ended >= 0 || other == NULL)
    return ended;
  return cli_usage("place", "%s is for making parts, and here they are given: use coremap map", other);
}

const cli_command cli_command_place = {
  .name = "place", .what = "place parts that are made already", .run = map, .check = check_place, .word = "network", .size = sizeof(cli_job), .reads = true, .options = CLI_OPTIONS_PLACE,
  .usage = "NETWORK --part IN.part (--chip NAME|FILE | --mesh WxH) [OPTION...]",
  .about = "Places parts that are made already, one part number a line in the order of the neurons: the placement stage alone.\n"
           "FILE - is standard input, or output.",
  .flags = place_flags};
