/* coremap export, coremap draw: mappings as the files of other tools, and as pictures. */
#include <string.h>
#include <unistd.h>

#include "cli/mapped.h"
#include "cli/remote.h"
#include "cli/upload.h"
#include "base/file.h"

enum { TO = 1, NETWORK, FORMAT, CHIP, LAYER };

/* Of every command that makes something of a mapping. */
#define MAPPING_FLAGS                                                                        \
  {"network", "FILE", NETWORK, "of a mapping in a file: the network that it is of"},         \
  {"format", "NAME", FORMAT, CLI_FORMAT_ABOUT},                                              \
  {"chip", "NAME|FILE", CHIP, "unless given, the chip that the mapping describes"},          \
  {"output", "FILE", CLI_OUTPUT, "where it goes; standard output unless given"},             \
  CLI_SERVER_FLAGS,                                                                          \
  {"json", NULL, CLI_JSON, "print what was written where, as JSON; with --output"},          \
  CLI_QUIET_FLAG

static const cli_flag flags[] = {
  {"to", cli_export_formats, TO, "the format (docs/reference/exports.md)"},
  MAPPING_FLAGS,
  {0}};

static const cli_flag draw_flags[] = {
  {"layer", cli_picture_layers, LAYER, "what colours the cores, or links; neurons unless given"},
  {"to", "svg|png", TO, "the format; unless given, the one that the output's ending says, else svg"},
  MAPPING_FLAGS,
  {0}};

typedef struct arguments {
  cli_where where;
  const char *mapping, *to, *network, *format, *chip, *output, *layer;
  bool picture;
} arguments;

static int parse(const cli_command *command, int argc, char **argv, arguments *a)
{
  for (int flag; (flag = cli_next(command, argc, argv)) != -1;)
    switch (flag) {
    case TO: a->to = optarg; break;
    case LAYER: a->layer = optarg; break;
    case NETWORK: a->network = cli_input(optarg); break;
    case FORMAT: a->format = optarg; break;
    case CHIP: a->chip = cli_input(optarg); break;
    case CLI_OUTPUT: a->output = optarg; break;
    default:
      if (!cli_where_take(&a->where, flag))
        return cli_ended(flag);
    }
  if (optind + 1 != argc)
    return cli_usage(command->name, optind == argc ? "no mapping is named" : "more than one mapping is named");
  if (a->to == NULL && command == &cli_command_export)
    return cli_usage(command->name, "say what --to");
  if (a->where.json && (a->output == NULL || strcmp(a->output, "-") == 0))
    return cli_usage(command->name, "--json says what was written where: name the file with --output");
  a->mapping = cli_input(argv[optind]);
  return -1;
}

static cm_status make(const arguments *a, const coremap_mapping *mapping, const char *path, cm_run *run, cm_error *error)
{
  char what[80];
  coremap_error *why = NULL;
  if (a->picture)
    (void)snprintf(what, sizeof what, "picture:%s:%.60s", a->to, a->layer);
  else
    (void)snprintf(what, sizeof what, "%.60s", a->to);
  return library_status(coremap_mapping_write_watched(mapping, what, path, library_on_run, run, &why), &why, error);
}

static cm_status on_files(const arguments *a, cli_run *cli, const char *path, cm_error *error)
{
  coremap_chip *chip = NULL;
  coremap_network *network = NULL;
  coremap_mapping *mapping = NULL;
  coremap_error *why = NULL;
  if (a->network == NULL)
    return cm_fail(error, CM_BAD_REQUEST, "name the network of %s with --network", a->mapping);
  cm_status status = cli_network(a->network, a->format, false, &cli->run, &network, error);
  if (status == CM_OK && a->chip != NULL)
    status = cli_chip(a->chip, NULL, NULL, &chip, error);
  CM_THEN(status, library_status(coremap_mapping_open(a->mapping, network, chip, library_on_run, &cli->run, &mapping, &why), &why, error));
  CM_THEN(status, make(a, mapping, path, &cli->run, error));
  coremap_mapping_free(mapping);
  coremap_network_free(network);
  coremap_chip_free(chip);
  return status;
}

static cm_status get(const arguments *a, cli_run *cli, FILE *stream, cm_error *error)
{
  char view[160];
  if (!a->picture)
    (void)snprintf(view, sizeof view, "/export?to=%.40s", a->to);
  else
    (void)snprintf(view, sizeof view, "/picture?format=%s&layer=%.40s", a->to, a->layer);
  return cli_get_mapping(&a->where, cli, a->mapping, view, stream, error);
}

/* From a server's mapping, whole or not at all. */
static cm_status on_server(const arguments *a, cli_run *cli, const char *path, cm_error *error)
{
  cm_file file;
  CM_TRY(cm_file_create(&file, path, error));
  if (get(a, cli, file.stream, error) == CM_OK)
    return cm_file_commit(&file, error);
  cm_file_discard(&file);
  return error->status;
}

static int write_it(const arguments *a)
{
  cm_error error;
  cli_run cli;
  const char *path = cli_output(a->output != NULL ? a->output : "-");
  cli_run_begin(&cli, a->where.quiet);
  cm_status status = access(a->mapping, F_OK) == 0 || !cli_is_id(a->mapping) ? on_files(a, &cli, path, &error)
                                                                              : on_server(a, &cli, path, &error);
  cli_run_end(&cli);
  if (status != CM_OK)
    return cli_fail(&error);
  if (a->where.json) {
    json_t *told = json_pack("{s:s, s:s}", "format", a->to, "file", a->output);
    cli_print_json(told);
    json_decref(told);
  }
  return fflush(stdout) == 0 ? EXIT_DONE : EXIT_REFUSED;
}

static int export_command(int argc, char **argv)
{
  arguments a = {0};
  cm_error error;
  char names[200];
  int parsed = parse(&cli_command_export, argc, argv, &a);
  if (parsed >= 0)
    return parsed;
  json_t *format = library_row("exports", a.to);
  bool known = format != NULL;
  json_decref(format);
  if (known)
    return write_it(&a);
  (void)cm_fail(&error, CM_BAD_OPTION, "there is no format \"%.40s\" to export to; there are %s", a.to,
                library_names("exports", ", ", names, sizeof names));
  return cli_fail(&error);
}

static int draw(int argc, char **argv)
{
  arguments a = {.layer = "neurons", .picture = true};
  int parsed = parse(&cli_command_draw, argc, argv, &a);
  if (parsed >= 0)
    return parsed;
  const char *dot = a.output != NULL ? strrchr(cli_base_name(a.output), '.') : NULL;
  if (a.to == NULL && dot != NULL && strcmp(dot, ".svg") != 0 && strcmp(dot, ".png") != 0)
    return cli_usage("draw", "a picture is .svg or .png, and \"%s\" ends in %s: name it so, or say --to", a.output, dot);
  if (a.to == NULL)
    a.to = dot != NULL && strcmp(dot, ".png") == 0 ? "png" : "svg";
  if (strcmp(a.to, "svg") != 0 && strcmp(a.to, "png") != 0)
    return cli_usage("draw", "--to is svg or png, not \"%s\"", a.to);
  for (const char *c = a.layer; *c != '\0'; c++)
    if ((*c < 'a' || *c > 'z') && *c != '_')
      return cli_usage("draw", "\"%s\" is no layer", a.layer);
  return write_it(&a);
}

const cli_command cli_command_export = {
  .name = "export", .what = "write a mapping as the file of another tool", .run = export_command, .reads = true,
  .usage = "MAPPING --network NETWORK --to FORMAT [-o FILE]\n"
           "ID --to FORMAT [-o FILE] [--server URL]",
  .about = "Writes a mapping (coremap map -o FILE), or one of a server by the id of it or of its job, as SANA-FE, BookSim, Noxim, PACMAN\n"
           "and others read it. FILE - is standard input, or output.",
  .flags = flags};

const cli_command cli_command_draw = {
  .name = "draw", .what = "draw a mapping: the chip's cores or links, coloured by a figure", .run = draw, .reads = true,
  .usage = "MAPPING --network NETWORK [--layer NAME] -o FILE.svg|FILE.png\n"
           "ID [--layer NAME] -o FILE.svg|FILE.png [--server URL]",
  .about = "Draws a mapping (coremap map -o FILE), or one of a server by the id of it or of its job, for papers and slides: as SVG with\n"
           "title, numbers and values under the mouse, or as PNG.",
  .flags = draw_flags};
