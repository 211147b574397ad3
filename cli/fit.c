/* coremap fit: which chips would take a network, and what a step on them would be. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"

enum { FORMAT = 1, CHIP, CHIPS_MAX = 64 };

typedef struct arguments {
  const char *network, *format, *chip[CHIPS_MAX];
  size_t chips;
  bool json, quiet;
} arguments;

static const cli_flag flags[] = {
  {"format", "NAME", FORMAT, CLI_FORMAT_ABOUT},
  {"chip", "NAME|FILE", CHIP, "a chip, once for each; unless given, every preset that networks are mapped on"},
  CLI_JSON_FLAG,
  CLI_QUIET_FLAG,
  {0}};

/* Negative: go on. */
static int parse(int argc, char **argv, arguments *a)
{
  for (int flag; (flag = cli_next(&cli_command_fit, argc, argv)) != -1;)
    switch (flag) {
    case FORMAT: a->format = optarg; break;
    case CHIP:
      if (a->chips == CHIPS_MAX)
        return cli_usage("fit", "%d chips at most are looked at", CHIPS_MAX);
      a->chip[a->chips++] = cli_input(optarg);
      break;
    case CLI_JSON: a->json = true; break;
    case CLI_QUIET: a->quiet = true; break;
    default: return cli_ended(flag);
    }
  if (optind + 1 != argc)
    return cli_usage("fit", optind == argc ? "no network is named" : "more than one network is named");
  a->network = cli_input(argv[optind]);
  return -1;
}

static void print_row(const json_t *row)
{
  const json_t *choices = json_object_get(row, "choices"), *first = json_array_get(json_object_get(choices, "points"), 0);
  const double found = cli_number(row, "cores_found");
  cli_printf(stdout, "%-18s %-8s %5.0f free", cli_text(row, "chip"), cli_text(row, "fits"), cli_number(row, "free"));
  if (found > 0)
    cli_printf(stdout, ", %s of at least %.0f, about %.2g s to map", cli_count(found, "core").text, cli_number(json_object_get(row, "bound"), "parts"),
               cli_number(row, "seconds"));
  if (first != NULL)
    cli_printf(stdout, "; a step of %.3g us and %.3g uJ on %.0f cores, knee at %.0f", cli_number(first, "step_ns") / 1e3, cli_number(first, "energy_step_pj") / 1e6,
               cli_number(first, "cores"), cli_number(choices, "knee"));
  if (json_is_string(json_object_get(row, "reason")))
    cli_printf(stdout, ": %s", cli_text(row, "reason"));
  putchar('\n');
}

static cm_status look(const arguments *a, cm_run *run, json_t **rows, cm_error *error)
{
  coremap_network *network = NULL;
  coremap_chip *chip[CHIPS_MAX + 1] = {NULL};
  coremap_error *why = NULL;
  char *text = NULL;
  cm_status status = cli_network(a->network, a->format, false, run, &network, error);
  for (size_t i = 0; status == CM_OK && i < a->chips; i++)
    status = cli_chip(a->chip[i], NULL, NULL, &chip[i], error);
  if (status == CM_OK)
    status = library_status(coremap_fit(network, a->chips > 0 ? (const coremap_chip *const *)chip : NULL, library_on_run, run, &text, &why), &why, error);
  if (status == CM_OK)
    *rows = library_json(text);
  for (size_t i = 0; i < a->chips; i++)
    coremap_chip_free(chip[i]);
  coremap_network_free(network);
  return status;
}

static int fit(int argc, char **argv)
{
  arguments a = {0};
  cli_run cli;
  cm_error error;
  json_t *rows = NULL;
  const json_t *row;
  size_t i;
  int ended = parse(argc, argv, &a);
  if (ended >= 0)
    return ended;
  cli_run_begin(&cli, a.quiet);
  cm_status status = look(&a, &cli.run, &rows, &error);
  cli_run_end(&cli);
  if (status != CM_OK)
    return cli_fail(&error);
  if (a.json)
    cli_print_json(rows);
  else
    json_array_foreach(rows, i, row)
      print_row(row);
  json_decref(rows);
  return fflush(stdout) == 0 ? EXIT_DONE : EXIT_REFUSED;
}

const cli_command cli_command_fit = {
  .name = "fit", .what = "which chips would take a network", .run = fit, .reads = true,
  .usage = "NETWORK [--chip NAME|FILE]... [OPTION...]",
  .about = "Says of each chip whether the network fits (proved by parts that keep its limits), does not (proved), or is not known to; how many\n"
           "cores it takes at least, and, where the chip states costs, what a step would take. Nothing is mapped. FILE - is standard input.",
  .flags = flags};
