/* coremap export, coremap draw: mappings as the files of other tools, and as pictures. */
#include <unistd.h>

#include "cli/remote.h"
#include "cli/upload.h"

typedef struct arguments {
  cli_line line;
  const char *to, *network, *format, *chip, *output, *layer;
} arguments;

/* Of every command that makes something of a mapping. */
#define MAPPING_FLAGS                                                                        \
  {"network", "FILE", CLI_IN, "of a mapping in a file: the network that it is of", CLI_AT(network)},         \
  {"format", "NAME", CLI_TEXT, CLI_FORMAT_ABOUT, CLI_AT(format)},                                              \
  {"chip", "NAME|FILE", CLI_IN, "unless given, the chip that the mapping describes", CLI_AT(chip)},          \
  {"output", "FILE", CLI_TEXT, "where it goes; standard output unless given", CLI_AT(output)},             \
  CLI_SERVER_FLAGS,                                                                          \
  CLI_JSON_SAYS("print what was written where, as JSON; with --output"),          \
  CLI_QUIET_FLAG

static const cli_flag flags[] = {
  {"to", cli_export_formats, CLI_TEXT, "the format (docs/reference/exports.md)", CLI_AT(to)},
  MAPPING_FLAGS,
  {0}};

static const cli_flag draw_flags[] = {
  {"layer", cli_picture_layers, CLI_TEXT, "what colours the cores, or links; neurons unless given", CLI_AT(layer)},
  {"to", "svg|png", CLI_TEXT, "the format; unless given, the one that the output's ending says, else svg", CLI_AT(to)},
  MAPPING_FLAGS,
  {0}};

static int check(const arguments *a)
{
  return a->line.json && (a->output == NULL || strcmp(a->output, "-") == 0)
           ? cli_usage(a->line.command->name, "--json says what was written where: name the file with --output") : -1;
}

static bool is_picture(const arguments *a)
{
  return a->layer != NULL;
}

static cm_status make(const arguments *a, const coremap_mapping *mapping, const char *path, cm_run *run, cm_error *error)
{
  char what[80];
  if (is_picture(a))
    (void)snprintf(what, sizeof what, "picture:%s:%.60s", a->to, a->layer);
  else
    (void)snprintf(what, sizeof what, "%.60s", a->to);
  return library_status(coremap_mapping_write_watched(mapping, what, path, library_on_run, run, &cli_why), &cli_why, error);
}

static cm_status on_files(const arguments *a, cli_run *cli, const char *path, cm_error *error)
{
  coremap_chip *chip = NULL;
  coremap_network *network = NULL;
  coremap_mapping *mapping = NULL;
  if (a->network == NULL)
    return cm_fail(error, CM_BAD_REQUEST, "name the network of %s with --network", a->line.file);
  cm_status status = cli_network(a->network, a->format, false, &cli->run, &network, error);
  CM_THEN_IF(status, a->chip != NULL, cli_chip(a->chip, NULL, NULL, &chip, error));
  CM_THEN(status, library_status(coremap_mapping_open(a->line.file, network, chip, library_on_run, &cli->run, &mapping, &cli_why), &cli_why, error));
  CM_THEN(status, make(a, mapping, path, &cli->run, error));
  coremap_mapping_free(mapping);
  coremap_network_free(network);
  coremap_chip_free(chip);
  return status;
}

static cm_status get(const arguments *a, cli_run *cli, FILE *stream, cm_error *error)
{
  char view[160];
  if (!is_picture(a))
    (void)snprintf(view, sizeof view, "/export?to=%.40s", a->to);
  else
    (void)snprintf(view, sizeof view, "/picture?format=%s&layer=%.40s", a->to, a->layer);
  return cli_get_mapping(&a->line, cli, a->line.file, view, stream, error);
}

/* From a server's mapping, whole or not at all. */
static cm_status on_server(const arguments *a, cli_run *cli, const char *path, cm_error *error)
{
  cm_file file;
  CM_TRY(cm_file_create(&file, path, error));
  return cm_file_end(&file, get(a, cli, file.stream, error), error);
}

static cm_status write_it(void *given, cli_run *cli, json_t **report, cm_error *error)
{
  const arguments *a = given;
  const char *path = cli_output(a->output != NULL ? a->output : "-");
  if (a->line.json)
    *report = json_pack("{s:s, s:s}", "format", a->to, "file", a->output);
  return access(a->line.file, F_OK) == 0 || !cli_is_id(a->line.file) ? on_files(a, cli, path, error) : on_server(a, cli, path, error);
}

static int check_export(void *given)
{
  const arguments *a = given;
  cm_error error;
  char names[200];
  json_t *format = a->to != NULL ? library_row("exports", a->to) : NULL;
  const bool known = format != NULL;
  json_decref(format);
  if (a->to == NULL)
    return cli_usage("export", "say what --to");
  if (known)
    return check(a);
  (void)cm_fail(&error, CM_BAD_OPTION, "there is no format \"%.40s\" to export to; there are %s", a->to, library_names("exports", ", ", names, sizeof names));
  return cli_fail(&error);
}

static int check_draw(void *given)
{
  arguments *a = given;
  const char *dot = a->output != NULL ? strrchr(cli_base_name(a->output), '.') : NULL;
  if (a->to == NULL && dot != NULL && strcmp(dot, ".svg") != 0 && strcmp(dot, ".png") != 0)
    return cli_usage("draw", "a picture is .svg or .png, and \"%s\" ends in %s: name it so, or say --to", a->output, dot);
  if (a->to == NULL)
    a->to = dot != NULL && strcmp(dot, ".png") == 0 ? "png" : "svg";
  if (strcmp(a->to, "svg") != 0 && strcmp(a->to, "png") != 0)
    return cli_usage("draw", "--to is svg or png, not \"%s\"", a->to);
  return a->layer[strspn(a->layer, "abcdefghijklmnopqrstuvwxyz_")] != '\0' ? cli_usage("draw", "\"%s\" is no layer", a->layer) : check(a);
}

const cli_command cli_command_export = {
  .name = "export", .what = "write a mapping as the file of another tool", .check = check_export, .make = write_it,
  .word = "mapping", .size = sizeof(arguments), .reads = true,
  .usage = "MAPPING --network NETWORK --to FORMAT [-o FILE]\n"
           "ID --to FORMAT [-o FILE] [--server URL]",
  .about = "Writes a mapping (coremap map -o FILE), or one of a server by the id of it or of its job, as SANA-FE, BookSim, Noxim, PACMAN\n"
           "and others read it. FILE - is standard input, or output.",
  .flags = flags};

const cli_command cli_command_draw = {
  .name = "draw", .what = "draw a mapping: the chip's cores or links, coloured by a figure", .check = check_draw, .make = write_it,
  .word = "mapping", .size = sizeof(arguments), .defaults = &(const arguments){.layer = "neurons"}, .reads = true,
  .usage = "MAPPING --network NETWORK [--layer NAME] -o FILE.svg|FILE.png\n"
           "ID [--layer NAME] -o FILE.svg|FILE.png [--server URL]",
  .about = "Draws a mapping (coremap map -o FILE), or one of a server by the id of it or of its job, for papers and slides: as SVG with\n"
           "title, numbers and values under the mouse, or as PNG.",
  .flags = draw_flags};
