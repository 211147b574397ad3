/* coremap check: verifies a mapping file against network and chip, independently of what made it. */
#include <stdio.h>

#include "cli/cli.h"
#include "base/file.h"
#include "core/machine/tiles/tiles.h"
#include "core/mapping/driver/again.h"
#include "core/verify/check.h"
#include "core/mapping/map.h"

typedef struct arguments {
  cli_mapped in;
  const char *occupancy, *certificate, *routes, *units, *program;
  bool again, json;
} arguments;

enum { OCCUPANCY = 1, CERTIFICATE, ROUTES, UNITS, PROGRAM, AGAIN };

static const cli_flag flags[] = {
  CLI_MAPPED_FLAGS,
  {"occupancy", "FILE", OCCUPANCY, "cores that are taken or broken"},
  {"certificate", "FILE", CERTIFICATE, "also all that a certificate says (coremap map --certificate)"},
  {"routes", "FILE.json", ROUTES, "also the routes (coremap map --routes): every axon over them, and rings that could deadlock"},
  {"units", "FILE", UNITS, "also copies and relays (coremap export --to units): every synapse made once, within the limits of single neurons"},
  {"program", "FILE", PROGRAM,
   "the network is the tiles of this program and the mapping where its units lie (coremap compile --tiles): whether both are "
   "what the program does, byte for byte"},
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
      case CERTIFICATE: a->certificate = cli_input(optarg); break;
      case ROUTES: a->routes = cli_input(optarg); break;
      case UNITS: a->units = cli_input(optarg); break;
      case PROGRAM: a->program = cli_input(optarg); break;
      case AGAIN: a->again = true; break;
      case CLI_JSON: a->json = true; break;
      default:
        if (!cli_mapped_take(&a->in, flag))
          return cli_ended(flag);
    }
  }
  return cli_mapped_end(&a->in, "check", argc, argv);
}

static cm_status check_again(const arguments *a, const cm_topology *topology, const cm_chip *chip,
                             const cm_occupancy *occupancy, const char *network_id, cm_run *run, cm_check_result *result,
                             cm_error *error)
{
  char scratch[CM_PATH_MAX];
  cm_error ignored;
  if (cm_folder_scratch(scratch, error) != CM_OK)
    return error->status;
  cm_status status =
      cm_check_again(a->in.mapping, topology, chip, occupancy, network_id, scratch, run, result, error);
  (void)cm_folder_remove(scratch, &ignored);
  return status;
}

/* Whether the mapping is what a program does; a difference is a violation like others. */
static cm_status check_program(const arguments *a, const cm_topology *topology, const cm_chip *chip, cm_run *run,
                               char difference[CM_ERROR_DETAIL_MAX], cm_error *error)
{
  cm_program *program;
  uint32_t *part, *core, parts;
  if (cm_program_read(a->program, run, &program, error) != CM_OK)
    return error->status;
  cm_status status = cm_mapping_read_places(a->in.mapping, topology->vertex_count, chip, run, &part, &parts, &core, error);
  if (status == CM_OK) {
    status = cm_tiles_agree(program, topology, part, core, run, error);
    cm_free(part);
    cm_free(core);
  }
  cm_program_free(program);
  if (status != CM_BAD_MAPPING)
    return status;
  (void)snprintf(difference, CM_ERROR_DETAIL_MAX, "%s", error->detail);
  return CM_OK;
}

static void print_verdict(const cm_check_result *result, const char *difference)
{
  json_t *list = json_array();
  for (uint32_t i = 0; i < result->listed; i++)
    (void)json_array_append_new(list, json_string(result->violations[i]));
  if (difference[0] != '\0')
    (void)json_array_append_new(list, json_string(difference));
  bool legal = result->violation_count == 0 && difference[0] == '\0';
  json_t *verdict = json_pack("{s:b, s:I, s:o}", "legal", legal, "violations",
                              (json_int_t)(result->violation_count + (difference[0] != '\0')), "listed", list);
  cli_print_json(verdict);
  json_decref(verdict);
}

static int check(int argc, char **argv)
{
  arguments a = {0};
  int parsed = parse(argc, argv, &a);
  if (parsed >= 0)
    return parsed;
  cli_run cli;
  cm_error error;
  cm_chip *chip = NULL;
  cm_occupancy *occupancy = NULL;
  cm_topology *topology = NULL;
  cm_import_report report;
  cm_check_result result = {0};
  cli_run_begin(&cli, a.in.quiet);
  cm_status status = cli_chip(a.in.chip, a.in.mesh, &chip, &error);
  if (status == CM_OK)
    status = cli_occupancy(a.occupancy, chip, &occupancy, &error);
  if (status == CM_OK)
    status = cli_import(a.in.network, a.in.format, &cli.run, &topology, &report, &error);
  char network_id[65];
  uint64_t bytes;
  if (status == CM_OK)
    status = cm_mapping_file_set_inputs(a.in.mapping, chip, topology, &cli.run, &error);
  if (status == CM_OK)
    status = cm_file_hash(a.in.network, network_id, &bytes, &error);
  if (status == CM_OK)
    status = a.certificate == NULL ? cm_check_mapping(a.in.mapping, topology, chip, occupancy, network_id, &cli.run,
                                                      &result, &error)
                                   : cm_certificate_check(a.certificate, a.in.mapping, topology, chip, occupancy,
                                                          network_id, &cli.run, &result, &error);
  if (status == CM_OK && a.routes != NULL && result.violation_count == 0)
    status = cm_routes_check(a.routes, a.in.mapping, topology, chip, &cli.run, &result, &error);
  if (status == CM_OK && a.units != NULL && result.violation_count == 0)
    status = cm_units_check(a.units, a.in.mapping, topology, chip, &cli.run, &result, &error);
  if (status == CM_OK && a.again && result.violation_count == 0)
    status = check_again(&a, topology, chip, occupancy, network_id, &cli.run, &result, &error);
  char difference[CM_ERROR_DETAIL_MAX] = "";
  if (status == CM_OK && a.program != NULL && result.violation_count == 0)
    status = check_program(&a, topology, chip, &cli.run, difference, &error);
  cli_run_end(&cli);
  int exit_status = status == CM_OK ? EXIT_DONE : cli_fail(&error);
  if (status == CM_OK && a.json)
    print_verdict(&result, difference);
  if (status == CM_OK && result.violation_count > 0) {
    for (uint32_t i = 0; i < result.listed && !a.json; i++)
      puts(result.violations[i]);
    fprintf(stderr, "coremap: the mapping breaks %llu rule%s\n", (unsigned long long)result.violation_count,
            result.violation_count == 1 ? "" : "s");
    exit_status = EXIT_REFUSED;
  } else if (status == CM_OK && difference[0] != '\0') {
    if (!a.json)
      puts(difference);
    exit_status = EXIT_REFUSED;
  } else if (status == CM_OK && !a.in.quiet && !a.json)
    puts("legal");
  cm_check_result_free(&result);
  cm_topology_free(topology);
  cm_occupancy_free(occupancy);
  cm_chip_free(chip);
  return exit_status;
}

const cli_command cli_command_check = {
  .name = "check", .what = "verify a mapping independently of what made it", .run = check, .reads = true,
  .usage = "NETWORK (--chip NAME|FILE | --mesh WxH) --mapping FILE [--certificate FILE] [--routes FILE] [--units FILE]\n"
           "NETWORK ... [--program FILE] [--occupancy FILE] [--again]",
  .about = "Recomputes every limit and metric of a mapping (coremap map -o FILE) with code of its own, and all that a\n"
           "certificate (coremap map --certificate FILE) says of it; follows every axon over its routes (coremap map --routes\n"
           "FILE.json) and looks for rings that could deadlock. Exit status: 0 legal, 1 not (every violation is listed),\n"
           "2 bad input. FILE - is standard input.",
  .flags = flags};
