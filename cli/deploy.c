/* coremap deploy: a network as images of a chip's cores. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/remote.h"
#include "cli/upload.h"

typedef struct arguments {
  cli_where where;
  const char *name, *network, *format, *chip, *mapping, *occupancy, *input, *poisson, *folder;
  json_t *flags; /* options that are given */
} arguments;

enum { INPUT = 1, POISSON, CHIP, MAPPING, OCCUPANCY, FORMAT };

static const cli_flag flags[] = {
  {"chip", "NAME|FILE", CHIP, "the chip, whose file has \"images\": catalyst-n1"},
  {"mapping", "FILE", MAPPING, "the mapping, as coremap map -o writes it, of a server its id; unless given, one is made, on one core where that is enough"},
  {"occupancy", "FILE", OCCUPANCY, "cores that are taken or broken; all are free unless given"},
  CLI_STIMULUS_FLAGS(INPUT, POISSON),
  {"spikes", "SPIKES", INPUT, NULL},
  {"output", "DIR", CLI_OUTPUT, "write images.json, images.bin, commands.txt, bench.mem, expected.txt, inputs.csv, spikes.csv and report.json there"},
  {"format", "NAME", FORMAT, CLI_FORMAT_ABOUT},
  CLI_SERVER_FLAGS,
  CLI_QUIET_FLAG,
  {"json", NULL, CLI_JSON, "print the whole report as JSON"},
  {0}};

/* Whether a server is named, which does it. */
static bool is_there(const arguments *a)
{
  return a->where.server != NULL || a->where.context != NULL;
}

/* What a server has not; negative: go on. */
static int check_there(const arguments *a)
{
  if (a->occupancy != NULL)
    return cli_usage("deploy", "a server knows the occupancies of its chips: --occupancy is for one named here");
  if (a->poisson != NULL)
    return cli_usage("deploy", "--poisson FILE is read here: with a server name one rate in hertz");
  if (a->mapping != NULL && !cli_is_id(a->mapping))
    return cli_usage("deploy", "--mapping %s is no id: a server has its mappings by ids", a->mapping);
  if (a->mapping != NULL)
    (void)json_object_set_new(a->flags, "mapping", json_string(a->mapping));
  return -1;
}

static int parse(int argc, char **argv, arguments *a)
{
  for (int flag; (flag = cli_next(&cli_command_deploy, argc, argv)) != -1;) {
    switch (flag) {
      case INPUT: a->input = cli_input(optarg); break;
      case POISSON:
        if (!cli_take_poisson(a->flags, optarg, &a->poisson))
          return cli_usage("deploy", "--poisson %s is no finite number", optarg);
        break;
      case CHIP: a->chip = optarg; break;
      case MAPPING: a->mapping = cli_input(optarg); break;
      case OCCUPANCY: a->occupancy = cli_input(optarg); break;
      case CLI_OUTPUT: a->folder = optarg; break;
      case FORMAT: a->format = optarg; break;
      case CLI_TAKES_OPTION:
        if (!cli_option_set(a->flags, cli_taken(), optarg))
          return cli_usage("deploy", "--%s \"%s\" is not text", cli_taken(), optarg);
        break;
      default:
        if (!cli_where_take(&a->where, flag))
          return cli_ended(flag);
    }
  }
  if (optind + 1 != argc)
    return cli_usage("deploy", optind == argc ? "NETWORK is missing" : "one NETWORK is expected");
  if (a->chip == NULL || a->folder == NULL)
    return cli_usage("deploy", a->chip == NULL ? "--chip is missing: the chip that the images are for" : "--output is missing: the folder that the images go to");
  a->name = argv[optind];
  a->network = cli_input(a->name);
  return is_there(a) ? check_there(a) : -1;
}

static cm_status deploy_network(const arguments *a, cli_run *cli, json_t **report, cm_error *error)
{
  coremap_network *network = NULL;
  coremap_chip *chip = NULL;
  coremap_deployment *made = NULL;
  coremap_error *why = NULL;
  char *options = NULL, *text = NULL;
  const cli_file_option files[] = {{"spikes_file", a->input}, {"poisson_file", a->poisson}, {"mapping_file", a->mapping}, {NULL, NULL}};
  cm_status status = cli_file_options("deploy", a->flags, files, &options, error);
  CM_THEN(status, cli_chip(a->chip, NULL, a->occupancy, &chip, error));
  CM_THEN(status, cli_network(a->network, a->format, false, &cli->run, &network, error));
  CM_THEN(status, library_status(coremap_deploy(network, chip, options, library_on_run, &cli->run, &made, &why), &why, error));
  CM_THEN(status, library_status(coremap_deployment_write(made, a->folder, &why), &why, error));
  CM_THEN(status, library_status(coremap_deployment_report(made, &text, &why), &why, error));
  if (status == CM_OK)
    *report = library_json(text);
  free(options);
  coremap_deployment_free(made);
  coremap_network_free(network);
  coremap_chip_free(chip);
  return status;
}

/* ---- for people ---- */

static void print_difference(const json_t *report, const char *name, const char *what)
{
  const json_t *first = json_object_get(json_object_get(report, name), "first_step");
  cli_printf(stdout, "%s: %.0f spikes differ", what, cli_number(json_object_get(report, name), "spikes"));
  if (json_is_integer(first))
    cli_printf(stdout, ", the first in step %.0f", json_number_value(first));
  (void)fputs("\n", stdout);
}

static void print_peak(const json_t *report, const char *name, const char *what)
{
  const json_t *peak = json_object_get(json_object_get(report, "peaks"), name);
  cli_printf(stdout, "%s: at most %.0f, in step %.0f", what, json_number_value(json_object_get(peak, "most")), json_number_value(json_object_get(peak, "step")));
  if (json_is_integer(json_object_get(peak, "limit")))
    cli_printf(stdout, "; the chip takes %.0f", json_number_value(json_object_get(peak, "limit")));
  (void)fputs("\n", stdout);
}

static void print_report(const json_t *report)
{
  const json_t *images = json_object_get(report, "images"), *spikes = json_object_get(report, "spikes");
  cli_printf(stdout, "%s: %.0f cores, %.0f neurons, %.0f copies, %.0f relays, %.0f for biases; %.0f synapses, %.0f routes\n", cli_text(report, "chip"),
             cli_number(images, "cores"), cli_number(images, "neurons"), cli_number(images, "copies"), cli_number(images, "relays"),
             cli_number(images, "biases"), cli_number(images, "synapses"), cli_number(images, "routes"));
  cli_printf(stdout, "steps: %.0f, as %.0f of the chip; a synapse takes %.0f, one in a loop at least %.0f\n", cli_number(report, "steps"),
             cli_number(report, "chip_steps"), cli_number(report, "synapse_steps"), cli_number(report, "loop_steps"));
  cli_printf(stdout, "spikes: %.0f in floating point, %.0f with the chip's loops, %.0f in its integers, %.0f by the images\n", cli_number(spikes, "reference"),
             cli_number(spikes, "on_chip"), cli_number(spikes, "quantised"), cli_number(spikes, "images"));
  print_difference(report, "longer_loops", "longer loops");
  print_difference(report, "quantising", "integers");
  print_difference(report, "mapping", "images");
  print_peak(report, "spikes", "spikes of a core in a step");
  print_peak(report, "sent", "packets of a core in a step");
  print_peak(report, "packets", "packets in a step");
  print_peak(report, "delayed", "delayed synapses of a core in a step");
  cli_printf(stdout, "a step: %.0f clocks\n", cli_number(report, "clocks_per_step"));
}

/* ---- on a server ---- */

/* The job that is done; it has failed where this fails. */
static cm_status run_job(cli_server *server, cli_run *cli, const arguments *a, json_t **job, cm_error *error)
{
  CM_TRY(cli_check_options("deploy", a->flags, error));
  CM_TRY(cli_read_spikes(a->input, a->flags, error));
  return cli_run_errand(server, cli, &(cli_upload){a->network, a->name, a->format, NULL}, &(cli_errand){"deploy", a->chip, a->flags}, job, error);
}

static int deploy_there(cli_server *server, cli_run *cli, const void *given, cm_error *error)
{
  const arguments *a = given;
  json_t *job = NULL;
  cm_status status = run_job(server, cli, a, &job, error);
  CM_THEN(status, cli_fetch_program(server, cli, cli_id(job, "program"), a->folder, error));
  json_t *report = status == CM_OK ? json_incref(json_object_get(job, "report")) : NULL;
  json_decref(job);
  if (status != CM_OK)
    return -1;
  const int ended = cli_tell(CM_OK, report, a->where.json, print_report, error);
  if (ended == EXIT_DONE && !a->where.json)
    cli_printf(stdout, "written: %s\n", a->folder);
  return ended;
}

static int deploy_command(int argc, char **argv)
{
  arguments a = {.flags = json_object()};
  int parsed = parse(argc, argv, &a);
  if (parsed >= 0) {
    json_decref(a.flags);
    return parsed;
  }
  cli_run cli;
  cm_error error;
  json_t *report = NULL;
  if (is_there(&a)) {
    const int done = cli_on_server(&a.where, deploy_there, &a);
    json_decref(a.flags);
    return done;
  }
  cli_run_begin(&cli, a.where.quiet);
  cm_status status = deploy_network(&a, &cli, &report, &error);
  cli_run_end(&cli);
  const int ended = cli_tell(status, report, a.where.json, print_report, &error);
  if (ended == EXIT_DONE && !a.where.json)
    cli_printf(stdout, "written: %s\n", a.folder);
  json_decref(a.flags);
  return ended;
}

const cli_command cli_command_deploy = {
  .name = "deploy", .what = "make images of a chip's cores that spike as a network does", .run = deploy_command, .reads = true,
  .options = CLI_OPTIONS_DEPLOY, .usage = "NETWORK --chip NAME|FILE --steps N [--input SPIKES | --poisson HZ|FILE] [--mapping FILE] -o DIR [OPTION...]\n"
           "NETWORK|ID --server URL --chip NAME --steps N [--input SPIKES | --poisson HZ] [--mapping ID] -o DIR [OPTION...]",
  .about = "Runs a network, finds integers of the chip that spike as it does, and writes what each core is programmed with, the commands that do so,\n"
           "and the spikes that are to come out, which a run of the images with the chip's queues has shown (docs/reference/core-images.md).",
  .flags = flags};
