/* coremap deploy: a network as images of a chip's cores. */
#include "cli/remote.h"
#include "cli/upload.h"

typedef struct arguments {
  cli_line line;
  const char *format, *chip, *mapping, *occupancy, *input, *poisson, *folder;
} arguments;

static const cli_flag flags[] = {
  {"chip", "NAME|FILE", CLI_TEXT, "the chip, whose file has \"images\": catalyst-n1", CLI_AT(chip), "the one that the images are for"},
  {"mapping", "FILE", CLI_IN, "the mapping, as coremap map -o writes it, of a server its id; unless given, one is made, on one core where that is enough", CLI_AT(mapping)},
  {"occupancy", "FILE", CLI_IN, "cores that are taken or broken; all are free unless given", CLI_AT(occupancy)},
  CLI_STIMULUS_FLAGS(CLI_AT(input), CLI_AT(poisson)),
  {"spikes", "SPIKES", CLI_IN, NULL, CLI_AT(input)},
  {"output", "DIR", CLI_TEXT, "write images.json, images.bin, commands.txt, bench.mem, expected.txt, inputs.csv, spikes.csv and report.json there", CLI_AT(folder), "the folder that the images go to"},
  {"format", "NAME", CLI_TEXT, CLI_FORMAT_ABOUT, CLI_AT(format)},
  CLI_SERVER_FLAGS,
  CLI_QUIET_FLAG,
  CLI_JSON_SAYS("print the whole report as JSON"),
  {0}};

/* What a server has not. */
static int check(void *given)
{
  const arguments *a = given;
  if (!cli_names_server(&a->line))
    return -1;
  if (a->occupancy != NULL)
    return cli_usage("deploy", "a server knows the occupancies of its chips: --occupancy is for one named here");
  if (a->poisson != NULL)
    return cli_usage("deploy", "--poisson FILE is read here: with a server name one rate in hertz");
  if (a->mapping != NULL && !cli_is_id(a->mapping))
    return cli_usage("deploy", "--mapping %s is no id: a server has its mappings by ids", a->mapping);
  if (a->mapping != NULL)
    (void)json_object_set_new(a->line.options, "mapping", json_string(a->mapping));
  return -1;
}

static cm_status deploy_network(void *given, cli_run *cli, json_t **report, cm_error *error)
{
  const arguments *a = given;
  coremap_network *network = NULL;
  coremap_chip *chip = NULL;
  coremap_deployment *made = NULL;
  char *options = NULL, *text = NULL;
  const cli_file_option files[] = {{"spikes_file", a->input}, {"poisson_file", a->poisson}, {"mapping_file", a->mapping}, {NULL, NULL}};
  cm_status status = cli_file_options("deploy", a->line.options, files, &options, error);
  CM_THEN(status, cli_chip(a->chip, NULL, a->occupancy, &chip, error));
  CM_THEN(status, cli_network(a->line.file, a->format, false, &cli->run, &network, error));
  CM_THEN(status, library_status(coremap_deploy(network, chip, options, library_on_run, &cli->run, &made, &cli_why), &cli_why, error));
  CM_THEN(status, library_status(coremap_deployment_write(made, a->folder, &cli_why), &cli_why, error));
  CM_THEN(status, library_status(coremap_deployment_report(made, &text, &cli_why), &cli_why, error));
  CM_THEN(status, cli_report(text, report, error));
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

static void print_report(const void *given, const json_t *report)
{
  const arguments *a = given;
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
  cli_printf(stdout, "a step: %.0f clocks\nwritten: %s\n", cli_number(report, "clocks_per_step"), a->folder);
}

/* ---- on a server ---- */

static cm_status deploy_there(void *given, coremap_client *server, cli_run *cli, json_t **report, cm_error *error)
{
  const arguments *a = given;
  json_t *job = NULL;
  CM_TRY(cli_check_options("deploy", a->line.options, error));
  CM_TRY(cli_read_spikes(a->input, a->line.options, error));
  const cli_upload network = {a->line.file, a->line.words[0], a->format, NULL};
  CM_TRY(cli_run_errand(server, cli, &network, &(cli_errand){"deploy", a->chip, a->line.options}, &job, error));
  const cm_status status = cli_fetch_program(server, cli, cli_id(job, "program"), a->folder, error);
  *report = json_incref(json_object_get(job, "report"));
  json_decref(job);
  return status;
}

const cli_command cli_command_deploy = {
  .name = "deploy", .what = "make images of a chip's cores that spike as a network does", .check = check, .make = deploy_network, .ask = deploy_there,
  .print = print_report, .word = "network", .size = sizeof(arguments), .reads = true,
  .options = CLI_OPTIONS_DEPLOY, .usage = "NETWORK --chip NAME|FILE --steps N [--input SPIKES | --poisson HZ|FILE] [--mapping FILE] -o DIR [OPTION...]\n"
           "NETWORK|ID --server URL --chip NAME --steps N [--input SPIKES | --poisson HZ] [--mapping ID] -o DIR [OPTION...]",
  .about = "Runs a network, finds integers of the chip that spike as it does, and writes what each core is programmed with, the commands that do so,\n"
           "and the spikes that are to come out, which a run of the images with the chip's queues has shown (docs/reference/core-images.md).",
  .flags = flags};
