/* coremap check: verifies a mapping file against network and chip, independently of what made it. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"

typedef struct arguments {
  cli_mapped in;
  const char *occupancy, *constraints, *certificate, *routes, *units, *program, *images;
  bool again, json;
} arguments;

enum { OCCUPANCY = 1, CONSTRAINTS, CERTIFICATE, ROUTES, UNITS, PROGRAM, IMAGES, AGAIN };

static const cli_flag flags[] = {
  CLI_MAPPED_FLAGS,
  {"occupancy", "FILE", OCCUPANCY, "cores that are taken or broken"},
  {"constraints", "FILE", CONSTRAINTS, "also these, beside those that the mapping was made with (docs/reference/constraints.md)"},
  {"certificate", "FILE", CERTIFICATE, "also all that a certificate says (coremap map --certificate)"},
  {"routes", "FILE.json", ROUTES, "also the routes (coremap map --routes): every axon over them, and rings that could deadlock"},
  {"units", "FILE", UNITS, "also copies and relays (coremap export --to units): every synapse made once, within the limits of single neurons"},
  {"program", "FILE", PROGRAM,
   "the network is the tiles of this program and the mapping where its units lie (coremap compile --tiles): whether both are "
   "what the program does, byte for byte"},
  {"images", "DIR", IMAGES,
   "instead of a mapping: images of cores (coremap deploy -o): limits of the chip, every synapse once, and whether they spike as expected"},
  {"again", NULL, AGAIN,
   "map again with the options that the mapping states, and compare all of it: what stands in options, attempts and report is "
   "proved by nothing else (with --occupancy where it was made with one)"},
  CLI_JSON_FLAG,
  {0}};

static int parse(int argc, char **argv, arguments *a)
{
  for (int flag; (flag = cli_next(&cli_command_check, argc, argv)) != -1;) {
    switch (flag) {
      case OCCUPANCY: a->occupancy = cli_input(optarg); break;
      case CONSTRAINTS: a->constraints = cli_input(optarg); break;
      case CERTIFICATE: a->certificate = cli_input(optarg); break;
      case ROUTES: a->routes = cli_input(optarg); break;
      case UNITS: a->units = cli_input(optarg); break;
      case PROGRAM: a->program = cli_input(optarg); break;
      case IMAGES: a->images = optarg; break;
      case AGAIN: a->again = true; break;
      case CLI_JSON: a->json = true; break;
      default:
        if (!cli_mapped_take(&a->in, flag))
          return cli_ended(flag);
    }
  }
  if (a->images == NULL)
    return cli_mapped_end(&a->in, "check", argc, argv);
  if (optind != argc || a->in.mapping != NULL || a->in.chip == NULL)
    return cli_usage("check", a->in.chip == NULL ? "name the --chip that the --images are for" : "--images stand for themselves: name no network and no --mapping");
  return -1;
}

static cm_status verify_images(const arguments *a, cli_run *cli, json_t **verdict, cm_error *error)
{
  coremap_chip *chip = NULL;
  coremap_error *why = NULL;
  char *text = NULL;
  cm_status status = cli_chip(a->in.chip, NULL, a->occupancy, &chip, error);
  CM_THEN(status, library_status(coremap_images_check(a->images, chip, library_on_run, &cli->run, &text, &why), &why, error));
  if (status == CM_OK)
    *verdict = library_json(text);
  coremap_chip_free(chip);
  return status;
}

/* Of a file, beside those that the mapping states. */
static cm_status check_constraints(const arguments *a, const coremap_network *network, const coremap_chip *chip, cm_error *error)
{
  coremap_mapping *mapping;
  coremap_error *why = NULL;
  char *constraints = NULL;
  json_t *file = json_object();
  cm_status status = cli_read_constraints(a->constraints, file, error);
  if (status == CM_OK && a->constraints != NULL)
    status = cli_json_text(file, &constraints, error);
  json_decref(file);
  if (constraints == NULL)
    return status;
  if (library_status(coremap_mapping_open(a->in.mapping, network, chip, NULL, NULL, &mapping, &why), &why, error) != CM_OK) {
    free(constraints);
    return error->status;
  }
  status = library_status(coremap_constraints_check(mapping, constraints, &why), &why, error);
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
  coremap_error *why = NULL;
  char *beside = NULL, *text = NULL;
  json_t *asked = json_pack("{s:s*, s:s*, s:s*, s:s*, s:b}", "certificate", a->certificate, "routes", a->routes, "units", a->units, "program",
                            a->program, "again", a->again);
  cm_status status = asked == NULL ? cm_fail(error, CM_BAD_REQUEST, "the name of a file is not text") : cli_json_text(asked, &beside, error);
  json_decref(asked);
  CM_THEN(status, cli_chip(a->in.chip, a->in.mesh, a->occupancy, &chip, error));
  CM_THEN(status, cli_network(a->in.network, a->in.format, true, &cli->run, &network, error));
  CM_THEN(status, library_status(coremap_check_beside(a->in.mapping, beside, network, chip, library_on_run, &cli->run, &text, &why), &why, error));
  if (status == CM_OK)
    *verdict = library_json(text);
  CM_THEN(status, check_constraints(a, network, chip, error));
  free(beside);
  coremap_network_free(network);
  coremap_chip_free(chip);
  return status;
}

/* What a verdict says, one violation a line, and the exit status. */
static int tell(const arguments *a, json_t *verdict)
{
  const json_t *list = json_object_get(verdict, "listed");
  const bool legal = json_is_true(json_object_get(verdict, "legal")), agrees = json_object_get(verdict, "program_agrees") == NULL;
  (void)json_object_del(verdict, "program_agrees");
  if (a->json)
    cli_print_json(verdict);
  else if (!legal)
    for (size_t i = 0; i < json_array_size(list); i++)
      cli_puts(json_string_value(json_array_get(list, i)));
  else
    fputs("legal\n", stdout);
  if (!legal && agrees)
    cli_printf(stderr, "coremap: the %s %s\n", a->images != NULL ? "images break" : "mapping breaks", cli_count(cli_number(verdict, "violations"), "rule").text);
  return legal ? EXIT_DONE : EXIT_REFUSED;
}

static int check(int argc, char **argv)
{
  arguments a = {0};
  int parsed = parse(argc, argv, &a);
  if (parsed >= 0)
    return parsed;
  cli_run cli;
  cm_error error;
  json_t *verdict = NULL;
  cli_run_begin(&cli, a.in.quiet);
  cm_status status = a.images != NULL ? verify_images(&a, &cli, &verdict, &error) : verify(&a, &cli, &verdict, &error);
  cli_run_end(&cli);
  int exit_status = status == CM_OK ? tell(&a, verdict) : cli_fail(&error);
  json_decref(verdict);
  return exit_status;
}

const cli_command cli_command_check = {
  .name = "check", .what = "verify a mapping independently of what made it", .run = check, .reads = true,
  .usage = "NETWORK (--chip NAME|FILE | --mesh WxH) --mapping FILE [--certificate FILE] [--routes FILE] [--units FILE]\n"
           "NETWORK ... [--program FILE] [--occupancy FILE] [--again]\n"
           "--images DIR --chip NAME|FILE",
  .about = "Recomputes every limit and metric of a mapping (coremap map -o FILE) with code of its own, and all that a\n"
           "certificate (coremap map --certificate FILE) says of it; follows every axon over its routes (coremap map --routes\n"
           "FILE.json) and looks for rings that could deadlock. Exit status: 0 legal, 1 not (every violation is listed),\n"
           "2 bad input. FILE - is standard input.",
  .flags = flags};
