#include "cli/job.h"

#include <unistd.h>

int cli_job_check(void *given)
{
  cli_job *a = given;
  const char *command = a->line.command->name;
  if (a->line.command->options != CLI_OPTIONS_PARTITION ? (a->chip_name == NULL) == (a->mesh == NULL) : a->chip_name != NULL && a->mesh != NULL)
    return cli_usage(command, "name either --chip or --mesh");
  if (a->occupancy_path != NULL && a->chip_name == NULL && a->mesh == NULL)
    return cli_usage(command, "--occupancy needs a --chip");
  if (a->policy != NULL && strpbrk(a->policy, "./") == NULL && access(a->policy, F_OK) != 0) { /* no file: one that ships, by its name */
    (void)json_object_set_new(a->line.options, "policy", json_string(a->policy));
    a->policy = NULL;
  }
  cm_error error;
  return cli_rename_options("map", a->line.options, &error) == CM_OK ? -1 : cli_fail(&error);
}

/* The run goes by the job's options from the network on. */
static cm_status settle(cli_job *job, cm_error *error)
{
  char *given, *text;
  CM_TRY(cli_json_text(job->line.options, &given, error));
  cm_status status = library_status(coremap_options_read("map", given, &text, NULL, &cli_why), &cli_why, error);
  free(given);
  if (status != CM_OK)
    return status;
  json_t *all = library_json(text);
  const double seconds = cli_number(all, "time_limit");
  const json_int_t bytes = json_integer_value(json_object_get(all, "memory_limit"));
  job->cli.run.threads = (unsigned)cli_number(all, "threads");
  if (seconds > 0)
    job->cli.run.deadline = cm_now() + seconds;
  if (bytes > 0)
    job->cli.memory.limit_bytes = (uint64_t)bytes;
  json_decref(all);
  return CM_OK;
}

/* A path among the options; false: it is no text. */
static bool set_path(json_t *options, const char *name, const char *path)
{
  return path == NULL || json_object_set_new(options, name, json_string(path)) == 0;
}

static cm_status make_options(const cli_job *job, char **text, cm_error *error)
{
  json_t *options = json_copy(job->line.options);
  const bool good = set_path(options, "from", job->from) && set_path(options, "policy_file", job->policy) &&
                    set_path(options, "cache", job->cache_folder) && set_path(options, "levels_from", job->edited_from) &&
                    set_path(options, "spikes_file", job->input) && set_path(options, "poisson_file", job->poisson) && set_path(options, "part", job->in) && set_path(options, "fixed", job->fixed);
  (void)json_object_set_new(options, "alone", json_true());
  cm_status status = good ? cli_json_text(options, text, error) : cm_fail(error, CM_BAD_REQUEST, "the name of a file is not text");
  json_decref(options);
  return status;
}

cm_status cli_job_open(cli_job *job, char **options, cm_error *error)
{
  const bool has_chip = job->chip_name != NULL || job->mesh != NULL,
             has_id = job->cache_folder != NULL || job->certificate != NULL || job->output != NULL;
  cli_run_begin(&job->cli, job->line.quiet);
  job->cli.whole = true;
  if (cli_read_constraints(job->constraints, job->line.options, error) != CM_OK || settle(job, error) != CM_OK ||
      (has_chip && cli_chip(job->chip_name, job->mesh, job->occupancy_path, &job->chip, error) != CM_OK) ||
      cm_folder_scratch(job->scratch, error) != CM_OK)
    return error->status;
  job->cli.memory.scratch_folder = job->scratch;
  CM_TRY(cli_network(job->line.file, job->format, has_id, &job->cli.run, &job->network, error));
  return make_options(job, options, error);
}

void cli_job_close(cli_job *job)
{
  coremap_network_free(job->network);
  coremap_chip_free(job->chip);
  if (job->scratch[0] != '\0') {
    cm_error ignored;
    (void)cm_folder_remove(job->scratch, &ignored);
  }
}

/* What the library says of something; NULL: memory ran out, and the lines are left out. */
static json_t *told(int result, char *text)
{
  return result == 0 ? library_json(text) : NULL;
}

void cli_job_print_inputs(const cli_job *job)
{
  char *text = NULL;
  int result = coremap_network_about(job->network, 0, &text, NULL);
  json_t *n = told(result, text);
  cli_printf(stdout, "network     %s%s, %s, %s\n", cli_text(n, "format"), json_is_true(json_object_get(n, "gzipped")) ? " (gzip)" : "",
         cli_count(cli_number(n, "neurons"), "neuron").text,
         cli_count(cli_number(n, "synapses"), json_is_true(json_object_get(n, "directed")) ? "synapse" : "edge").text);
  json_decref(n);
  if (job->chip == NULL)
    return;
  result = coremap_chip_about(job->chip, &text, NULL);
  json_t *chip = told(result, text);
  cli_printf(stdout, "chip        %s, %u x %u cores\n", cli_text(chip, "name"), coremap_chip_width(job->chip), coremap_chip_height(job->chip));
  json_decref(chip);
}

void cli_job_print_parts(const json_t *made)
{
  const json_t *bound = json_object_get(made, "bound");
  const double parts = cli_number(made, "parts"), least = cli_number(bound, "parts");
  cli_printf(stdout, "parts       %.0f, at least %.0f: %s", parts, least, cli_text(bound, "reason"));
  if (parts > least && least > 0 &&
      !json_is_null(json_object_get(bound, "limit"))) /* null: nothing asks for any number of parts */
    cli_printf(stdout, "; %.1f %% above that", 100.0 * (parts - least) / least);
  putchar('\n');
}

void cli_job_print_attempts(const json_t *attempts)
{
  const json_t *a;
  size_t i;
  if (json_array_size(attempts) < 2)
    return;
  json_array_foreach(attempts, i, a)
    cli_printf(stdout, "attempt %-3zu capacity %.0f: %s%s%s\n", i + 1, cli_number(a, "capacity"),
           cli_text(a, "broken")[0] != '\0' ? cli_text(a, "broken") : "legal",
           json_is_true(json_object_get(a, "by_axons")) ? ", by the method for axons" : "",
           json_is_true(json_object_get(a, "moved")) ? ", after single moves" : "");
}

/* The unit that a figure's name states. */
static const char *unit_of(const char *name)
{
  static const char *const units[][2] = {{"_pj", " pJ"}, {"_ns", " ns"}};
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    const char *at = strstr(name, units[i][0]);
    if (at != NULL && (at[3] == '\0' || at[3] == '_'))
      return units[i][1];
  }
  return "";
}

const char *cli_job_words(const char *name, char words[40])
{
  (void)snprintf(words, 40, "%s", name);
  for (char *c = words; *c != '\0'; c++)
    *c = *c == '_' ? ' ' : *c;
  return words;
}

void cli_job_print_limits(const json_t *limits)
{
  const char *name;
  json_t *row;
  char words[40];
  json_object_foreach((json_t *)(uintptr_t)limits, name, row)
    cli_printf(stdout, "%-11s %s %.0f of %.0f (%.1f %%)\n", strcmp(name, "neurons") == 0 ? "fullest" : "", cli_job_words(name, words),
           cli_number(row, "most"), cli_number(row, "limit"), 100 * cli_number(row, "most") / cli_number(row, "limit"));
}

void cli_job_print_numbers(const json_t *made)
{
  const json_t *name, *metrics = json_object_get(made, "metrics");
  size_t i;
  json_array_foreach(json_object_get(made, "shown"), i, name) {
    const char *shown = json_string_value(name);
    const json_t *value = json_object_get(metrics, shown);
    if (json_is_string(value))
      cli_printf(stdout, "  %-24s %s\n", shown, json_string_value(value));
    else
      cli_printf(stdout, "  %-24s %.10g%s\n", shown, json_number_value(value), unit_of(shown));
  }
}

void cli_job_print_cost(const cli_job *job)
{
  const cm_run *run = &job->cli.run;
  double total = 0;
  cli_printf(stdout, "seconds    ");
  for (size_t i = 0; i < run->phase_count; i++) {
    cli_printf(stdout, " %s %.3f", run->phases[i].name, run->phases[i].seconds);
    total += run->phases[i].seconds;
  }
  uint64_t scratch = atomic_load(&job->cli.memory.scratch_peak);
  cli_printf(stdout, ", total %.3f\npeak memory %.1f MiB", total, (double)cli_run_peak(&job->cli) / (1 << 20));
  if (scratch > 0)
    cli_printf(stdout, ", and %.1f MiB in scratch files", (double)scratch / (1 << 20));
  putchar('\n');
}

void cli_job_print_json(const cli_job *job, json_t *object)
{
  json_t *seconds = json_object();
  const cm_run *run = &job->cli.run;
  for (size_t i = 0; i < run->phase_count; i++)
    json_object_set_new(seconds, run->phases[i].name, json_real(run->phases[i].seconds));
  json_object_set_new(object, "seconds", seconds);
  json_object_set_new(object, "peak_bytes", json_integer((json_int_t)cli_run_peak(&job->cli)));
  json_object_set_new(object, "scratch_bytes", json_integer((json_int_t)atomic_load(&job->cli.memory.scratch_peak)));
  (void)cli_write_json(object, JSON_INDENT(2) | JSON_REAL_PRECISION(15), stdout);
  json_decref(object);
}
