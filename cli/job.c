#include "cli/job.h"
#include "base/json.h"
#include "core/mapping/measure/measure.h"
#include "core/network/apart.h"
#include "core/network/rates.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CACHE_BYTES_MAX = 1 << 30 };

static bool set_pair(cli_job *a, const char *pair)
{
  const char *equals = strchr(pair, '=');
  char name[64];
  if (equals == NULL || (size_t)(equals - pair) >= sizeof name)
    return false;
  (void)snprintf(name, sizeof name, "%.*s", (int)(equals - pair), pair);
  return cli_option_set(a->flags, name, equals + 1);
}

static cm_status cli_import(const char *path, const char *format, cm_run *run, cm_topology **topology,
                     cm_import_report *report, cm_error *error)
{
  cm_import_hint hint = {.format = format, .name = path};
  for (int id = 0; id < CM_READ_OPTIONS; id++)
    hint.option[id] = cli_read_option(cm_read_options[id].name);
  cm_topology *made;
  cm_status status = cm_import_guarded(path, &hint, run, &made, report, error);
  if (status == CM_OK && cli_read_option("rates") != NULL &&
      (status = cm_rates_read(cli_input(cli_read_option("rates")), made, run, error)) != CM_OK)
    cm_topology_free(made);
  if (status == CM_OK)
    *topology = made;
  return status;
}

cm_status cli_job_chip(const char *chip, const char *mesh, cm_chip **made, cm_error *error)
{
  if (mesh == NULL)
    return cm_chip_open(chip, made, error);
  unsigned width, height;
  int used = 0;
  if (sscanf(mesh, "%5ux%5u%n", &width, &height, &used) != 2 || mesh[used] != '\0')
    return cm_fail(error, CM_BAD_CHIP, "--mesh \"%s\" is not of the form WIDTHxHEIGHT, like 16x16", mesh);
  return cm_chip_mesh(width, height, made, error);
}

static cm_status cli_occupancy(const char *path, const cm_chip *chip, cm_occupancy **made, cm_error *error)
{
  if (path == NULL)
    return cm_occupancy_new(chip, made, error);
  char *text;
  size_t size;
  if (cm_file_read(path, (1 << 28), &text, &size, error) != CM_OK)
    return error->status;
  cm_status status = cm_occupancy_parse(chip, text, size, made, error);
  free(text);
  return status;
}

/* Returns -1 to go on, else an exit status. */
int cli_job_parse(const cli_command *command, int argc, char **argv, cli_job *a)
{
  bool part_is_read = command->options == CLI_OPTIONS_PLACE, places = command->options != CLI_OPTIONS_PARTITION;
  for (int flag; (flag = cli_next(command, argc, argv)) != -1;) {
    switch (flag) {
      case CLI_JOB_FORMAT: a->format = optarg; break;
      case CLI_JOB_CHIP: a->chip_name = cli_input(optarg); break;
      case CLI_JOB_MESH: a->mesh = optarg; break;
      case CLI_JOB_OCCUPANCY: a->occupancy_path = cli_input(optarg); break;
      case CLI_JOB_CACHE: a->cache_folder = optarg; break;
      case CLI_JOB_PART: a->part = part_is_read ? cli_input(optarg) : cli_output(optarg); break;
      case CLI_JOB_PLACEMENT: a->placement = cli_output(optarg); break;
      case CLI_JOB_ROUTES: a->routes = cli_output(a->routes_name = optarg); break;
      case CLI_JOB_CERTIFICATE: a->certificate = cli_output(optarg); break;
      case CLI_JOB_PARETO: a->pareto = optarg; break;
      case CLI_JOB_FROM: a->from = cli_input(optarg); break;
      case CLI_JOB_POLICY: a->policy = cli_input(optarg); break;
      case CLI_OUTPUT: a->output = cli_output(optarg); break;
      case CLI_JSON: a->json = true; break;
      case CLI_QUIET: a->quiet = true; break;
      case CLI_JOB_SET:
        if (!set_pair(a, optarg))
          return cli_usage(command->name, "--set \"%s\" is not of the form NAME=VALUE", optarg);
        break;
      case CLI_TAKES_OPTION:
        if (!cli_option_set(a->flags, cli_taken(), optarg))
          return cli_usage(command->name, "--%s \"%s\" is not text", cli_taken(), optarg);
        break;
      default: return cli_ended(flag);
    }
  }
  if (optind + 1 != argc)
    return cli_usage(command->name, optind == argc ? "no network is named" : "more than one network is named");
  a->network = cli_input(argv[optind]);
  if (places ? (a->chip_name == NULL) == (a->mesh == NULL) : a->chip_name != NULL && a->mesh != NULL)
    return cli_usage(command->name, "name either --chip or --mesh");
  if (a->occupancy_path != NULL && a->chip_name == NULL && a->mesh == NULL)
    return cli_usage(command->name, "--occupancy needs a --chip");
  return -1;
}

cm_status cli_job_open(cli_job *job, cm_map_input *input, cm_error *error)
{
  bool has_chip = job->chip_name != NULL || job->mesh != NULL;
  cli_run_begin(&job->cli, job->quiet);
  if (cm_map_options_parse(job->flags, &job->options, error) != CM_OK)
    return error->status;
  if (has_chip && (cli_job_chip(job->chip_name, job->mesh, &job->chip, error) != CM_OK ||
                   cli_occupancy(job->occupancy_path, job->chip, &job->occupancy, error) != CM_OK))
    return error->status;
  cm_map_options_apply(job->options, &job->cli.run);
  if (cm_folder_scratch(job->scratch, error) != CM_OK)
    return error->status;
  job->cli.memory.scratch_folder = job->scratch;
  if (cli_import(job->network, job->format, &job->cli.run, &job->topology, &job->report, error) != CM_OK)
    return error->status;
  if (cm_map_options_set_inputs(job->options, job->topology, job->cli.run.memory, error) != CM_OK ||
      (has_chip && cm_chip_limit_neurons(job->chip, job->topology, job->cli.run.memory, error) != CM_OK))
    return error->status;
  *input = (cm_map_input){.topology = job->topology, .sole_reader = true,
                          .chip = job->chip,
                          .occupancy = job->occupancy,
                          .options = job->options,
                          .scratch_folder = job->scratch,
                          .from = job->from,
                          .policy = job->policy};
  uint64_t bytes;
  if ((job->cache_folder != NULL || job->certificate != NULL || job->output != NULL) &&
      cm_file_hash(job->network, job->network_id, &bytes, error) != CM_OK)
    return error->status;
  if (job->cache_folder != NULL) { /* its entries are named by content */
    if (cm_cache_open(job->cache_folder, CACHE_BYTES_MAX, &job->cache, error) != CM_OK)
      return error->status;
    job->levels = cm_cache_levels(job->cache);
    input->cache = &job->levels;
    input->network_id = job->network_id;
  }
  return CM_OK;
}

void cli_job_close(cli_job *job)
{
  if (job->scratch[0] != '\0') {
    cm_error ignored;
    (void)cm_folder_remove(job->scratch, &ignored);
  }
  cm_cache_close(job->cache);
  cm_topology_free(job->topology);
  cm_map_options_free(job->options);
  cm_occupancy_free(job->occupancy);
  cm_chip_free(job->chip);
  json_decref(job->flags);
}

cm_status cli_job_write(const char *path, cm_status (*write)(void *user, FILE *stream, cm_error *error), void *user,
                        cm_error *error)
{
  cm_file file;
  if (path == NULL)
    return CM_OK;
  if (cm_file_create(&file, path, error) != CM_OK)
    return error->status;
  if (write(user, file.stream, error) != CM_OK) {
    cm_file_discard(&file);
    return error->status;
  }
  return cm_file_commit(&file, error);
}

void cli_job_print_inputs(const cli_job *job)
{
  const cm_topology *t = job->topology;
  printf("network     %s%s, %u neurons, %llu %s\n", job->report.format, job->report.gzipped ? " (gzip)" : "",
         t->vertex_count, (unsigned long long)cm_topology_synapses(t), t->directed ? "synapses" : "edges");
  if (job->chip != NULL)
    printf("chip        %s, %u x %u cores\n", job->chip->name, job->chip->width, job->chip->height);
}

void cli_job_print_parts(uint32_t parts, const cm_bound *bound)
{
  char reason[160];
  printf("parts       %u, at least %u: %s", parts, bound->parts, cm_bound_reason(bound, reason, sizeof reason));
  if (parts > bound->parts && bound->parts > 0)
    printf("; %.1f %% above that", 100.0 * (parts - bound->parts) / bound->parts);
  putchar('\n');
}

void cli_job_print_attempts(const cm_attempt *attempts, uint32_t count)
{
  for (uint32_t i = 0; count > 1 && i < count; i++)
    printf("attempt %-3u capacity %llu: %s%s%s\n", i + 1, (unsigned long long)attempts[i].capacity,
           attempts[i].broken[0] != '\0' ? attempts[i].broken : "legal",
           attempts[i].by_axons ? ", by the method for axons" : "", attempts[i].moved ? ", after single moves" : "");
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

void cli_job_print_limits(const cm_metrics *m, const cm_chip *chip)
{
  cm_limits limits = cm_chip_widest_limits(chip);
  const struct {
    const char *name;
    uint64_t most, limit;
  } rows[] = {{"neurons", m->largest_part, limits.neurons},
              {"synapses", m->most_synapses, limits.synapses},
              {"inbound axons", m->most_inbound_axons, limits.inbound_axons},
              {"outbound axons", m->most_outbound_axons, limits.outbound_axons},
              {"target cores", m->most_target_cores, limits.target_cores},
              {"cores", m->cores_used, cm_chip_cores(chip)}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].limit > 0)
      printf("%-11s %s %llu of %llu (%.1f %%)\n", i == 0 ? "fullest" : "", rows[i].name, (unsigned long long)rows[i].most,
             (unsigned long long)rows[i].limit, 100.0 * (double)rows[i].most / (double)rows[i].limit);
}

void cli_job_print_numbers(const json_t *object)
{
  const char *name;
  json_t *value;
  json_object_foreach((json_t *)object, name, value)
  {
    if (!cm_metric_is_of_interest(name, object))
      continue;
    if (json_is_string(value))
      printf("  %-24s %s\n", name, json_string_value(value));
    else
      printf("  %-24s %.10g%s\n", name, json_number_value(value), unit_of(name));
  }
}

void cli_job_print_cost(const cli_job *job)
{
  const cm_run *run = &job->cli.run;
  double total = 0;
  printf("seconds    ");
  for (size_t i = 0; i < run->phase_count; i++) {
    printf(" %s %.3f", run->phases[i].name, run->phases[i].seconds);
    total += run->phases[i].seconds;
  }
  uint64_t scratch = atomic_load(&job->cli.memory.scratch_peak);
  printf(", total %.3f\npeak memory %.1f MiB", total, (double)cli_run_peak(&job->cli) / (1 << 20));
  if (scratch > 0)
    printf(", and %.1f MiB in scratch files", (double)scratch / (1 << 20));
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
  cm_json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
  putchar('\n');
  json_decref(object);
}
