/* coremap export: mappings as the files of other tools. */
#include <string.h>
#include <unistd.h>

#include "cli/mapped.h"
#include "cli/remote.h"
#include "core/base/file.h"
#include "core/mapping/exports/exports.h"

enum { TO = 1, NETWORK, FORMAT, CHIP };

static const cli_flag flags[] = {
  {"to", "sanafe|booksim|noxim|pacman|hgrade|traffic|lava", TO, "the format (docs/exports.md)"},
  {"network", "FILE", NETWORK, "of a mapping in a file: the network that it is of"},
  {"format", "NAME", FORMAT, CLI_FORMAT_ABOUT},
  {"chip", "NAME|FILE", CHIP, "unless given, the chip that the mapping describes"},
  {"output", "FILE", CLI_OUTPUT, "where it goes; standard output unless given"},
  CLI_SERVER_FLAGS,
  CLI_QUIET_FLAG,
  {0}};

typedef struct arguments {
  cli_where where;
  const char *mapping, *to, *network, *format, *chip, *output;
} arguments;

static int parse(int argc, char **argv, arguments *a)
{
  for (int flag; (flag = cli_next(&cli_command_export, argc, argv)) != -1;)
    switch (flag) {
    case TO: a->to = optarg; break;
    case NETWORK: a->network = cli_input(optarg); break;
    case FORMAT: a->format = optarg; break;
    case CHIP: a->chip = cli_input(optarg); break;
    case CLI_OUTPUT: a->output = optarg; break;
    default:
      if (!cli_where_take(&a->where, flag))
        return cli_ended(flag);
    }
  if (optind + 1 != argc)
    return cli_usage("export", optind == argc ? "no mapping is named" : "more than one mapping is named");
  if (a->to == NULL)
    return cli_usage("export", "say what --to");
  a->mapping = cli_input(argv[optind]);
  return -1;
}

static cm_status on_files(const arguments *a, cli_run *cli, const cm_export_format *format, FILE *stream, cm_error *error)
{
  cm_topology *topology;
  cm_import_report report;
  cm_mapped_file file;
  if (a->network == NULL)
    return cm_fail(error, CM_BAD_REQUEST, "name the network of %s with --network", a->mapping);
  if (cli_import(a->network, a->format, &cli->run, &topology, &report, error) != CM_OK ||
      cm_mapped_open(a->mapping, topology, a->chip, &cli->run, &file, error) != CM_OK)
    return error->status;
  cm_status status = cm_export_mapping(format, &file.mapped, &cli->run, stream, error);
  cm_mapped_close(&file);
  return status;
}

static cm_status on_server(const arguments *a, cli_run *cli, FILE *stream, cm_error *error)
{
  char view[80];
  (void)snprintf(view, sizeof view, "/export?to=%.40s", a->to);
  return cli_get_mapping(&a->where, cli, a->mapping, view, stream, error);
}

static int export_command(int argc, char **argv)
{
  arguments a = {0};
  int parsed = parse(argc, argv, &a);
  if (parsed >= 0)
    return parsed;
  cm_error error;
  cli_run cli;
  cm_file file = {0};
  const cm_export_format *format;
  bool to_file = a.output != NULL && strcmp(a.output, "-") != 0;
  if (cm_export_find(a.to, &format, &error) != CM_OK)
    return cli_fail(&error);
  cli_run_begin(&cli, a.where.quiet);
  cm_status status = to_file ? cm_file_create(&file, a.output, &error) : CM_OK;
  FILE *stream = to_file ? file.stream : stdout;
  if (status == CM_OK)
    status = access(a.mapping, F_OK) == 0 || !cli_is_id(a.mapping) ? on_files(&a, &cli, format, stream, &error)
                                                                    : on_server(&a, &cli, stream, &error);
  if (status == CM_OK)
    status = to_file ? cm_file_commit(&file, &error) : CM_OK;
  cm_file_discard(&file);
  cli_run_end(&cli);
  if (status != CM_OK)
    return cli_fail(&error);
  return fflush(stdout) == 0 ? EXIT_DONE : EXIT_REFUSED;
}

const cli_command cli_command_export = {
  .name = "export", .what = "write a mapping as the file of another tool", .run = export_command, .reads = true,
  .usage = "MAPPING --network NETWORK --to FORMAT [-o FILE]\n"
           "ID --to FORMAT [-o FILE] [--server URL]",
  .about = "Writes a mapping (coremap map -o FILE), or one of a server by the id of it or of its job, as SANA-FE, BookSim, Noxim, PACMAN\n"
           "and others read it. FILE - is standard input, or output.",
  .flags = flags};
