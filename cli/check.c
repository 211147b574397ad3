/* coremap check: verifies a mapping file against network and chip, independently of what made it. */

#include "cli/cli.h"

typedef struct arguments {
  cli_mapped in;
  const char *occupancy, *constraints, *certificate, *routes, *units, *program, *images;
  bool again, differs; /* differs: what is wrong is the program, which is told beside no rule */
} arguments;

static const cli_flag flags[] = {
  CLI_MAPPED_FLAGS,
  {"occupancy", "FILE", CLI_IN, "cores that are taken or broken", CLI_AT(occupancy)},
  {"constraints", "FILE", CLI_IN, "also these, beside those that the mapping was made with (docs/reference/constraints.md)", CLI_AT(constraints)},
  {"certificate", "FILE", CLI_IN, "also all that a certificate says (coremap map --certificate)", CLI_AT(certificate)},
  {"routes", "FILE.json", CLI_IN, "also the routes (coremap map --routes): every axon over them, and rings that could deadlock", CLI_AT(routes)},
  {"units", "FILE", CLI_IN, "also copies and relays (coremap export --to units): every synapse made once, within the limits of single neurons", CLI_AT(units)},
  {"program", "FILE", CLI_IN,
   "the network is the tiles of this program and the mapping where its units lie (coremap compile --tiles): whether both are "
   "what the program does, byte for byte", CLI_AT(program)},
  {"images", "DIR", CLI_TEXT,
   "instead of a mapping: images of cores (coremap deploy -o): limits of the chip, every synapse once, and whether they spike as expected", CLI_AT(images)},
  {"again", NULL, CLI_ON,
   "map again with the options that the mapping states, and compare all of it: what stands in options, attempts and report is "
   "proved by nothing else (with --occupancy where it was made with one)", CLI_AT(again)},
  CLI_JSON_FLAG,
  {0}};

static int check_words(void *given)
{
  const arguments *a = given;
  if (a->images == NULL)
    return cli_mapped_check(given);
  if (a->in.line.count > 0 || a->in.mapping != NULL || a->in.chip == NULL)
    return cli_usage("check", a->in.chip == NULL ? "name the --chip that the --images are for" : "--images stand for themselves: name no network and no --mapping");
  return -1;
}

static cm_status verify_images(const arguments *a, cli_run *cli, json_t **verdict, cm_error *error)
{
  coremap_chip *chip = NULL;
  char *text = NULL;
  cm_status status = cli_chip(a->in.chip, NULL, a->occupancy, &chip, error);
  CM_THEN(status, library_status(coremap_images_check(a->images, chip, library_on_run, &cli->run, &text, &cli_why), &cli_why, error));
  CM_THEN(status, cli_report(text, verdict, error));
  coremap_chip_free(chip);
  return status;
}

/* Of a file, beside those that the mapping states. */
static cm_status check_constraints(const arguments *a, const coremap_network *network, const coremap_chip *chip, cm_error *error)
{
  coremap_mapping *mapping;
  char *constraints = NULL;
  json_t *file = json_object();
  cm_status status = cli_read_constraints(a->constraints, file, error);
  CM_THEN_IF(status, a->constraints != NULL, cli_json_text(file, &constraints, error));
  json_decref(file);
  if (constraints == NULL)
    return status;
  CM_TRY_OR(library_status(coremap_mapping_open(a->in.mapping, network, chip, NULL, NULL, &mapping, &cli_why), &cli_why, error),
            free(constraints));
  status = library_status(coremap_constraints_check(mapping, constraints, &cli_why), &cli_why, error);
  if (status != CM_OK)
    cli_place_in_file(a->constraints, "/constraints", error);
  coremap_mapping_free(mapping);
  free(constraints);
  return status;
}

static cm_status verify(const arguments *a, cli_run *cli, json_t **verdict, cm_error *error)
{
  coremap_chip *chip = NULL;
  coremap_network *network = NULL;
  char *beside = NULL, *text = NULL;
  json_t *asked = json_pack("{s:s*, s:s*, s:s*, s:s*, s:b}", "certificate", a->certificate, "routes", a->routes, "units", a->units, "program",
                            a->program, "again", a->again);
  cm_status status = asked == NULL ? cm_fail(error, CM_BAD_REQUEST, "the name of a file is not text") : cli_json_text(asked, &beside, error);
  json_decref(asked);
  CM_THEN(status, cli_chip(a->in.chip, a->in.mesh, a->occupancy, &chip, error));
  CM_THEN(status, cli_network(a->in.line.file, a->in.format, true, &cli->run, &network, error));
  CM_THEN(status, library_status(coremap_check_beside(a->in.mapping, beside, network, chip, library_on_run, &cli->run, &text, &cli_why), &cli_why, error));
  CM_THEN(status, cli_report(text, verdict, error));
  CM_THEN(status, check_constraints(a, network, chip, error));
  free(beside);
  coremap_network_free(network);
  coremap_chip_free(chip);
  return status;
}

static cm_status check(void *given, cli_run *cli, json_t **verdict, cm_error *error)
{
  arguments *a = given;
  CM_TRY(a->images != NULL ? verify_images(a, cli, verdict, error) : verify(a, cli, verdict, error));
  a->differs = json_object_del(*verdict, "program_agrees") == 0;
  return CM_OK;
}

static bool is_legal(const json_t *verdict)
{
  return json_is_true(json_object_get(verdict, "legal"));
}

/* What a verdict says, one violation a line. */
static void print_verdict(CM_UNUSED const void *given, const json_t *verdict)
{
  const json_t *one;
  size_t i;
  if (is_legal(verdict))
    fputs("legal\n", stdout);
  else
    json_array_foreach(json_object_get(verdict, "listed"), i, one)
      cli_puts(json_string_value(one));
}

static int judge(const void *given, const json_t *verdict)
{
  const arguments *a = given;
  if (!is_legal(verdict) && !a->differs)
    cli_printf(stderr, "coremap: the %s %s\n", a->images != NULL ? "images break" : "mapping breaks", cli_count(cli_number(verdict, "violations"), "rule").text);
  return is_legal(verdict) ? EXIT_DONE : EXIT_REFUSED;
}

const cli_command cli_command_check = {
  .name = "check", .what = "verify a mapping independently of what made it", .make = check, .print = print_verdict, .judge = judge, .check = check_words,
  .reads = true, .most = 1, .size = sizeof(arguments),
  .usage = "NETWORK (--chip NAME|FILE | --mesh WxH) --mapping FILE [--certificate FILE] [--routes FILE] [--units FILE]\n"
           "NETWORK ... [--program FILE] [--occupancy FILE] [--again]\n"
           "--images DIR --chip NAME|FILE",
  .about = "Recomputes every limit and metric of a mapping (coremap map -o FILE) with code of its own, and all that a\n"
           "certificate (coremap map --certificate FILE) says of it; follows every axon over its routes (coremap map --routes\n"
           "FILE.json) and looks for rings that could deadlock. Exit status: 0 legal, 1 not (every violation is listed),\n"
           "2 bad input. FILE - is standard input.",
  .flags = flags};
