/* coremap convert: a network from one format to another. */

#include "cli/cli.h"

typedef struct arguments {
  cli_line line;
  const char *format, *to, *out;
} arguments;

static const cli_flag flags[] = {
  {"format", "NAME", CLI_TEXT, "what IN is, whatever it looks like: @N", CLI_AT(format)},
  {"to", "NAME", CLI_TEXT, "what OUT shall be, whatever it is called: one of these or an ending, like tsv or csv.gz", CLI_AT(to)},
  {"output", "OUT", CLI_TEXT, "the same as OUT behind IN", CLI_AT(out)},
  CLI_JSON_FLAG,
  CLI_QUIET_FLAG,
  {0}};

static int check(void *given)
{
  arguments *a = given;
  if (a->line.count != (a->out != NULL ? 1 : 2))
    return cli_usage("convert", "one input and one output are needed");
  a->out = a->out != NULL ? a->out : a->line.words[1];
  a->line.file = cli_input(a->line.words[0]);
  return -1;
}

static cm_status convert(void *given, cli_run *cli, json_t **report, cm_error *error)
{
  const arguments *a = given;
  coremap_network *network = NULL;
  cm_status status = cli_network(a->line.file, a->format, false, &cli->run, &network, error);
  CM_THEN(status, cli_write_network(network, a->out, a->to, &cli->run, error));
  CM_THEN_IF(status, a->line.json, cli_counts(network, report, error));
  coremap_network_free(network);
  return status;
}

const cli_command cli_command_convert = {
  .name = "convert", .what = "turn a network into another format", .check = check, .make = convert, .reads = true,
  .size = sizeof(arguments), .most = 2,
  .usage = "IN OUT [--format NAME] [--to NAME] [--json] [--quiet]",
  .about = "Reads a network of any format and writes it in the one that OUT's ending names: .zip (topology file), .snn,\n"
           ".graph (METIS), .hgr (hMETIS), .mtx (MatrixMarket), .csv or .tsv (edge list); all but .zip may end in .gz too.\n"
           "IN - is standard input, OUT - standard output.",
  .flags = flags};
