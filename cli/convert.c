/* coremap convert: a network from one format to another. */
#include <stdio.h>

#include "cli/cli.h"
#include "core/network/export.h"

static const char usage[] =
  "usage: coremap convert [--quiet] IN OUT\n"
  "\n"
  "Reads a network of any format and writes it in the one that OUT's ending names: .zip (topology file), .snn,\n"
  ".graph (METIS), .hgr (hMETIS), .mtx (MatrixMarket), .csv or .tsv (edge list); all but .zip may end in .gz too.\n";

int cli_convert(int argc, char **argv)
{
  static const struct option flags[] = {
      {"quiet", no_argument, NULL, 'q'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
  bool quiet = false;
  for (int flag; (flag = getopt_long(argc, argv, "", flags, NULL)) != -1;) {
    if (flag == 'h') {
      fputs(usage, stdout);
      return EXIT_DONE;
    }
    if (flag != 'q')
      return EXIT_USAGE;
    quiet = true;
  }
  if (optind + 2 != argc)
    return cli_usage("convert", "one input and one output are needed");
  cli_run cli;
  cm_error error;
  cm_topology *topology = NULL;
  cm_import_report report;
  cm_import_limits limits = cm_import_limits_default();
  cli_run_begin(&cli, quiet);
  cm_status status = cm_import(argv[optind], &limits, &cli.run, &topology, &report, &error);
  if (status == CM_OK)
    status = cm_export(topology, argv[optind + 1], &cli.run, &error);
  cli_run_end(&cli);
  cm_topology_free(topology);
  return status == CM_OK ? EXIT_DONE : cli_fail(&error);
}
