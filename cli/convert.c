/* coremap convert: a network from one format to another. */
#include <stdio.h>

#include "cli/cli.h"
#include "core/network/export.h"

static const char usage[] =
  "usage: coremap convert [--format NAME] [--to NAME] [--quiet] IN OUT\n"
  "\n"
  "Reads a network of any format and writes it in the one that OUT's ending names: .zip (topology file), .snn,\n"
  ".graph (METIS), .hgr (hMETIS), .mtx (MatrixMarket), .csv or .tsv (edge list); all but .zip may end in .gz too.\n"
  "IN - is standard input, OUT - standard output.\n"
  "\n"
  "  --format NAME   what IN is, whatever it looks like: @N\n"
  "  --to NAME       what OUT shall be, whatever it is called: one of these or an ending, like tsv or csv.gz\n";

int cli_convert(int argc, char **argv)
{
  static const struct option flags[] = {
      {"format", required_argument, NULL, 'f'}, {"to", required_argument, NULL, 't'},
      {"quiet", no_argument, NULL, 'q'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
  bool quiet = false;
  const char *format = NULL, *to = NULL;
  for (int flag; (flag = getopt_long(argc, argv, "", flags, NULL)) != -1;) {
    switch (flag) {
      case 'f': format = optarg; break;
      case 't': to = optarg; break;
      case 'q': quiet = true; break;
      case 'h': return cli_help(usage);
      default: return EXIT_USAGE;
    }
  }
  if (optind + 2 != argc)
    return cli_usage("convert", "one input and one output are needed");
  cli_run cli;
  cm_error error;
  cm_topology *topology = NULL;
  cm_import_report report;
  const char *in = cli_input(argv[optind]);
  cli_run_begin(&cli, quiet);
  cm_status status = cli_import(in, format, &cli.run, &topology, &report, &error);
  if (status == CM_OK)
    status = cli_export(topology, argv[optind + 1], to, &cli.run, &error);
  cli_run_end(&cli);
  cm_topology_free(topology);
  return status == CM_OK ? EXIT_DONE : cli_fail(&error);
}
