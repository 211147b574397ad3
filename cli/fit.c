/* coremap fit: which chips would take a network, and what a step on them would be. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/remote.h"
#include "cli/upload.h"

enum { FORMAT = 1, CHIP, OCCUPANCY, CHIPS_MAX = 64 };

typedef struct arguments {
  cli_where where;
  const char *name, *network, *format, *occupancy, *chip[CHIPS_MAX];
  size_t chips;
} arguments;

static const cli_flag flags[] = {
  {"format", "NAME", FORMAT, CLI_FORMAT_ABOUT},
  {"chip", "NAME|FILE", CHIP, "a chip, once for each; unless given, all that networks are mapped on"},
  {"occupancy", "FILE", OCCUPANCY, "which cores of the chip are taken or broken (JSON); all are free unless given"},
  CLI_SERVER_FLAGS,
  CLI_JSON_FLAG,
  CLI_QUIET_FLAG,
  {0}};

/* Whether a server is named, whose chips are looked at. */
static bool is_there(const arguments *a)
{
  return a->where.server != NULL || a->where.context != NULL;
}

/* Negative: go on. */
static int parse(int argc, char **argv, arguments *a)
{
  for (int flag; (flag = cli_next(&cli_command_fit, argc, argv)) != -1;)
    switch (flag) {
    case FORMAT: a->format = optarg; break;
    case CHIP:
      if (a->chips == CHIPS_MAX)
        return cli_usage("fit", "%d chips at most are looked at", CHIPS_MAX);
      a->chip[a->chips++] = optarg;
      break;
    case OCCUPANCY: a->occupancy = cli_input(optarg); break;
    default:
      if (!cli_where_take(&a->where, flag))
        return cli_ended(flag);
    }
  if (optind + 1 != argc)
    return cli_usage("fit", optind == argc ? "no network is named" : "more than one network is named");
  if (a->occupancy != NULL && (is_there(a) || a->chips != 1))
    return cli_usage("fit", is_there(a) ? "a server knows the occupancies of its chips: --occupancy is for one named here" : "--occupancy is of one chip: name it with --chip");
  a->name = argv[optind];
  a->network = cli_input(a->name);
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
    cli_printf(stdout, "; a step of %.3g us and %.3g uJ on %s, knee at %.0f", cli_number(first, "step_ns") / 1e3, cli_number(first, "energy_step_pj") / 1e6,
               cli_count(cli_number(first, "cores"), "core").text, cli_number(choices, "knee"));
  if (json_is_string(json_object_get(row, "earliest")))
    cli_printf(stdout, "; free enough at %s", cli_text(row, "earliest"));
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
    status = cli_chip(cli_input(a->chip[i]), NULL, a->occupancy, &chip[i], error);
  CM_THEN(status, library_status(coremap_fit(network, a->chips > 0 ? (const coremap_chip *const *)chip : NULL, library_on_run, run, &text, &why), &why, error));
  if (status == CM_OK)
    *rows = library_json(text);
  for (size_t i = 0; i < a->chips; i++)
    coremap_chip_free(chip[i]);
  coremap_network_free(network);
  return status;
}

/* Prints them and drops them. */
static int tell(const arguments *a, json_t *rows)
{
  const json_t *row;
  size_t i;
  if (a->where.json)
    cli_print_json(rows);
  else
    json_array_foreach(rows, i, row)
      print_row(row);
  json_decref(rows);
  return fflush(stdout) == 0 ? EXIT_DONE : EXIT_REFUSED;
}

static int ask(cli_server *server, cli_run *cli, const void *given, cm_error *error)
{
  const arguments *a = given;
  const cli_upload file = {a->network, a->name, a->format, NULL};
  json_t *network, *names = a->chips > 0 ? json_array() : json_string("all");
  cli_reply reply = {0};
  for (size_t i = 0; i < a->chips; i++)
    (void)json_array_append_new(names, json_string(a->chip[i]));
  if (cli_upload_network(server, cli, &file, &network, error) != CM_OK) {
    json_decref(names);
    return -1;
  }
  json_t *body = json_pack("{s:O, s:o}", "network", json_object_get(network, "id"), "chips", names);
  const cli_request post = {.method = "POST", .path = "/v1/fits", .body = body};
  cm_status status = library_client_ask(server, &post, &reply, error);
  json_decref(body);
  json_decref(network);
  if (status != CM_OK)
    return -1;
  json_t *rows = json_incref(json_object_get(reply.json, "fits"));
  json_decref(reply.json);
  return tell(a, rows);
}

static int fit(int argc, char **argv)
{
  arguments a = {0};
  cli_run cli;
  cm_error error;
  json_t *rows = NULL;
  int ended = parse(argc, argv, &a);
  if (ended >= 0)
    return ended;
  if (is_there(&a))
    return cli_on_server(&a.where, ask, &a);
  cli_run_begin(&cli, a.where.quiet);
  cm_status status = look(&a, &cli.run, &rows, &error);
  cli_run_end(&cli);
  return status == CM_OK ? tell(&a, rows) : cli_fail(&error);
}

const cli_command cli_command_fit = {
  .name = "fit", .what = "which chips would take a network", .run = fit, .reads = true,
  .usage = "NETWORK [--chip NAME|FILE]... [OPTION...]\nNETWORK|ID --server URL [--chip NAME]... [OPTION...]",
  .about = "Says of each chip whether the network fits (proved by parts that keep its limits), does not (proved), or is not known to; how many\n"
           "cores it takes at least, and, where the chip states costs, what a step would take. Nothing is mapped. With --server or --context\n"
           "of that server's chips, by their occupancies and leases. FILE - is standard input.",
  .flags = flags};
