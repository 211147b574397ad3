/* coremap convert: a network from one format to another. */

#include "cli/cli.h"

enum { FORMAT = 1, TO };

static const cli_flag flags[] = {
  {"format", "NAME", FORMAT, "what IN is, whatever it looks like: @N"},
  {"to", "NAME", TO, "what OUT shall be, whatever it is called: one of these or an ending, like tsv or csv.gz"},
  {"output", "OUT", CLI_OUTPUT, "the same as OUT behind IN"},
  CLI_JSON_FLAG,
  CLI_QUIET_FLAG,
  {0}};

static int convert(int argc, char **argv)
{
  bool quiet = false, json = false;
  const char *format = NULL, *to = NULL, *out = NULL;
  for (int flag; (flag = cli_next(&cli_command_convert, argc, argv)) != -1;) {
    switch (flag) {
      case FORMAT: format = optarg; break;
      case TO: to = optarg; break;
      case CLI_OUTPUT: out = optarg; break;
      case CLI_JSON: json = true; break;
      case CLI_QUIET: quiet = true; break;
      default: return cli_ended(flag);
    }
  }
  if (argc - optind != (out != NULL ? 1 : 2))
    return cli_usage("convert", "one input and one output are needed");
  out = out != NULL ? out : argv[optind + 1];
  cli_run cli;
  cm_error error;
  coremap_network *network = NULL;
  const char *in = cli_input(argv[optind]);
  cli_run_begin(&cli, quiet);
  cm_status status = cli_network(in, format, false, &cli.run, &network, &error);
  CM_THEN(status, cli_write_network(network, out, to, &cli.run, &error));
  cli_run_end(&cli);
  if (status == CM_OK && json)
    status = cli_print_counts(network, &error);
  coremap_network_free(network);
  return status == CM_OK ? EXIT_DONE : cli_fail(&error);
}

const cli_command cli_command_convert = {
  .name = "convert", .what = "turn a network into another format", .run = convert, .reads = true,
  .usage = "IN OUT [--format NAME] [--to NAME] [--json] [--quiet]",
  .about = "Reads a network of any format and writes it in the one that OUT's ending names: .zip (topology file), .snn,\n"
           ".graph (METIS), .hgr (hMETIS), .mtx (MatrixMarket), .csv or .tsv (edge list); all but .zip may end in .gz too.\n"
           "IN - is standard input, OUT - standard output.",
  .flags = flags};
