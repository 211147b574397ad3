/* coremap fit: which chips would take a network, and what a step on them would be. */
#include "cli/remote.h"
#include "cli/upload.h"

enum { CHIPS_MAX = 64 };

typedef struct arguments {
  cli_line line; /* with a list "chip" */
  const char *format, *occupancy;
} arguments;

static const cli_flag flags[] = {
  {"format", "NAME", CLI_TEXT, CLI_FORMAT_ABOUT, CLI_AT(format)},
  {"chip", "NAME|FILE", CLI_BODY_LIST, "a chip, once for each; unless given, all that networks are mapped on"},
  {"occupancy", "FILE", CLI_IN, "which cores of the chip are taken or broken (JSON); all are free unless given", CLI_AT(occupancy)},
  CLI_SERVER_FLAGS, CLI_JSON_FLAG, CLI_QUIET_FLAG,
  {0}};

static const json_t *chips_of(const arguments *a)
{
  return json_object_get(a->line.body, "chip");
}

static int check(void *given)
{
  const arguments *a = given;
  if (json_array_size(chips_of(a)) > CHIPS_MAX)
    return cli_usage("fit", "%d chips at most are looked at", CHIPS_MAX);
  if (a->occupancy != NULL && (cli_names_server(&a->line) || json_array_size(chips_of(a)) != 1))
    return cli_usage("fit", cli_names_server(&a->line) ? "a server knows the occupancies of its chips: --occupancy is for one named here" : "--occupancy is of one chip: name it with --chip");
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
    cli_printf(stdout, "; a step of %s and %s on %s, knee at %.0f", cli_quantity(cli_number(first, "step_ns"), "ns").text,
               cli_quantity(cli_number(first, "energy_step_pj"), "pJ").text, cli_count(cli_number(first, "cores"), "core").text, cli_number(choices, "knee"));
  if (json_is_string(json_object_get(row, "earliest")))
    cli_printf(stdout, "; free enough at %s", cli_text(row, "earliest"));
  if (json_is_string(json_object_get(row, "reason")))
    cli_printf(stdout, ": %s", cli_text(row, "reason"));
  putchar('\n');
}

static cm_status look(void *given, cli_run *cli, json_t **rows, cm_error *error)
{
  const arguments *a = given;
  const size_t chips = json_array_size(chips_of(a));
  cm_run *run = &cli->run;
  coremap_network *network = NULL;
  coremap_chip *chip[CHIPS_MAX + 1] = {NULL};
  char *text = NULL;
  cm_status status = cli_network(a->line.file, a->format, false, run, &network, error);
  for (size_t i = 0; status == CM_OK && i < chips; i++)
    status = cli_chip(cli_input(json_string_value(json_array_get(chips_of(a), i))), NULL, a->occupancy, &chip[i], error);
  CM_THEN(status, library_status(coremap_fit(network, chips > 0 ? (const coremap_chip *const *)chip : NULL, library_on_run, run, &text, &cli_why), &cli_why, error));
  CM_THEN(status, cli_report(text, rows, error));
  for (size_t i = 0; i < chips; i++)
    coremap_chip_free(chip[i]);
  coremap_network_free(network);
  return status;
}

static void print_rows(CM_UNUSED const void *given, const json_t *rows)
{
  const json_t *row;
  size_t i;
  json_array_foreach(rows, i, row)
    print_row(row);
}

static cm_status ask(void *given, coremap_client *server, cli_run *cli, json_t **rows, cm_error *error)
{
  const arguments *a = given;
  const cli_upload file = {a->line.file, a->line.words[0], a->format, NULL};
  json_t *network;
  cli_reply reply = {0};
  CM_TRY(cli_upload_network(server, cli, &file, &network, error));
  json_t *body = json_pack("{s:O, s:o}", "network", json_object_get(network, "id"), "chips",
                           chips_of(a) != NULL ? json_deep_copy(chips_of(a)) : json_string("all"));
  cm_status status = library_client_ask(server, &(cli_request){.method = "POST", .path = "/v1/fits", .body = body}, &reply, error);
  json_decref(body);
  json_decref(network);
  *rows = json_incref(json_object_get(reply.json, "fits"));
  json_decref(reply.json);
  return status;
}

const cli_command cli_command_fit = {
  .name = "fit", .what = "which chips would take a network", .check = check, .make = look, .ask = ask, .print = print_rows,
  .word = "network", .size = sizeof(arguments), .reads = true,
  .usage = "NETWORK [--chip NAME|FILE]... [OPTION...]\nNETWORK|ID --server URL [--chip NAME]... [OPTION...]",
  .about = "Says of each chip whether the network fits (proved by parts that keep its limits), does not (proved), or is not known to; how many\n"
           "cores it takes at least, and, where the chip states costs, what a step would take. Nothing is mapped. With --server or --context\n"
           "of that server's chips, by their occupancies and leases. FILE - is standard input.",
  .flags = flags};
