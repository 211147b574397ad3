/* coremap map: network and chip in, mapping out. */
#include <stdio.h>

#include "cli/job.h"
#include "core/mapping/export.h"
#include "core/mapping/metrics.h"

static const char usage[] =
  "usage: coremap map NETWORK (--chip NAME|FILE | --mesh WxH) [OPTION...]\n"
  "\n"
  "Maps a network (topology zip, .snn, METIS .graph, hMETIS .hgr, MatrixMarket .mtx, csv/tsv edge list; any gzipped) on\n"
  "a chip.\n"
  "\n"
  "  --chip NAME|FILE     a preset (see coremap show chips) or a chip file\n"
  "  --mesh WxH           a bare grid of cores without limits\n"
  "  --occupancy FILE     cores that are taken or broken\n"
  "  --preset NAME        fast, balanced (default), best: effort; reference: the seed's method\n"
  "  --objective NAME     edge or axon; unless given: axon for directed networks under core limits, else edge\n"
  "  --mapper NAME        bisection\n"
  "  --parts K            exactly K parts (with --imbalance, 0.03 unless given)\n"
  "  --max-part-size N    at most N neurons in a part\n"
  "  --seed S             same input, options and seed: same bytes out\n"
  "  --threads T          never changes the result\n"
  "  --memory-limit B     bytes, or 512M, 2G\n"
  "  --time-limit S       seconds\n"
  "  --set NAME=VALUE     any other job option (docs/options.md)\n"
  "  --cache DIR          keep coarsened levels here between runs (at most 1 GiB; one run at a time)\n"
  "  --part FILE          write one part number a line\n"
  "  --placement FILE     write part,x,y\n"
  "  -o, --output FILE    write the whole mapping as JSON\n"
  "  --json               print metrics as one JSON object\n"
  "  --quiet              no progress\n";

/* One view of a mapping on its way to a file. */
typedef struct view {
  const cli_job *job;
  const cm_mapping *mapping;
  cm_mapping_view what;
} view;

static cm_status write_view(void *user, FILE *stream, cm_error *error)
{
  const view *v = user;
  return cm_mapping_write(v->mapping, v->job->topology, v->job->chip, NULL, v->what, stream, error);
}

static cm_status write_views(const cli_job *job, const cm_mapping *mapping, cm_error *error)
{
  view part = {job, mapping, CM_VIEW_PART}, placement = {job, mapping, CM_VIEW_PLACEMENT_CSV},
       full = {job, mapping, CM_VIEW_FULL_JSON};
  cm_status status = cli_job_write(job->part, write_view, &part, error);
  if (status == CM_OK)
    status = cli_job_write(job->placement, write_view, &placement, error);
  return status == CM_OK ? cli_job_write(job->output, write_view, &full, error) : status;
}

static void print_json(const cli_job *job, const cm_mapping *m)
{
  cli_job_print_json(job, json_pack("{s:i, s:o, s:o, s:o, s:O}", "parts", (int)m->part_count, "bound",
                                    cm_bound_json(&m->bound), "metrics", cm_metrics_json(&m->metrics),
                                    "attempts", cm_attempts_json(m->attempts, m->attempt_count, true), "report", m->report));
}

static void print_table(const cli_job *job, const cm_mapping *m)
{
  cli_job_print_inputs(job);
  if (m->attempts[m->attempt_count - 1].coarsening_cached)
    puts("coarsening  none: the levels were in the cache");
  cli_job_print_parts(m->part_count, &m->bound);
  printf("region      %u x %u at (%u, %u)\n", m->region->width, m->region->height, m->region->x0, m->region->y0);
  cli_job_print_attempts(m->attempts, m->attempt_count);
  json_t *metrics = cm_metrics_json(&m->metrics);
  cli_job_print_numbers(metrics);
  json_decref(metrics);
  cli_job_print_cost(job);
}

static int run_command(cli_job *job)
{
  cm_map_input input;
  cm_mapping *mapping = NULL;
  cm_error error;
  cm_status status = cli_job_open(job, &input, &error);
  if (status == CM_OK)
    status = cm_map(&input, &job->cli.run, &mapping, &error);
  cli_run_end(&job->cli);
  if (status == CM_OK)
    status = write_views(job, mapping, &error);
  if (status == CM_OK && job->json)
    print_json(job, mapping);
  else if (status == CM_OK)
    print_table(job, mapping);
  cm_mapping_free(mapping);
  if (status != CM_OK)
    return cli_fail(&error);
  return fflush(stdout) == 0 ? EXIT_DONE : EXIT_REFUSED;
}

int cli_map(int argc, char **argv)
{
  cli_job job = {.flags = json_object()};
  int status = cli_job_parse(argc, argv, usage, true, &job);
  if (status < 0)
    status = run_command(&job);
  cli_job_close(&job);
  return status;
}
