/* coremap partition: the partition stage alone, without a place on a chip. */
#include <stdio.h>

#include "cli/job.h"
#include "core/mapping/stage/stage.h"

static const cli_flag flags[] = {
  CLI_JOB_INPUT_FLAGS("a preset (see coremap show chips) or a chip file: its limits, a part a core at most",
                      "a bare grid of cores without limits: one part a core"),
  {"cache", "DIR", CLI_JOB_CACHE, "keep coarsened levels here between runs (at most 1 GiB; one run at a time)"},
  {"part", "FILE", CLI_JOB_PART, "write one part number a line"},
  CLI_JSON_FLAG, CLI_QUIET_FLAG, {0}};

/* The use of one resource over all parts. */
typedef struct tally {
  uint64_t limit, most, total; /* limit 0: none */
  double mean_use;             /* of the limit */
} tally;

static tally count(const cm_candidate *stage, cm_resource resource)
{
  tally t = {.limit = cm_limit(&stage->limits, resource)};
  for (uint32_t p = 0; p < stage->partition->part_count; p++) {
    uint64_t use = stage->use[(size_t)p * CM_RESOURCES + resource];
    t.most = use > t.most ? use : t.most;
    t.total += use;
  }
  if (t.limit != 0 && t.total > 0)
    t.mean_use = (double)t.total / (double)t.limit / stage->partition->part_count;
  return t;
}

static json_t *metrics_json(const cm_candidate *stage)
{
  tally neurons = count(stage, CM_NEURONS);
  uint32_t parts = stage->partition->part_count;
  return json_pack("{s:f, s:f, s:f, s:f, s:I, s:I, s:I, s:I, s:I}", "connectivity", stage->quality.connectivity,
                   "cut_net", stage->quality.cut_net, "edge_cut", stage->quality.edge_cut, "balance",
                   neurons.total > 0 ? (double)neurons.most * parts / (double)neurons.total : 1.0, "largest_part",
                   (json_int_t)neurons.most, "most_synapses", (json_int_t)count(stage, CM_SYNAPSES).most,
                   "most_inbound_axons", (json_int_t)count(stage, CM_INBOUND_AXONS).most, "most_outbound_axons",
                   (json_int_t)count(stage, CM_OUTBOUND_AXONS).most, "most_target_cores",
                   (json_int_t)count(stage, CM_TARGET_CORES).most);
}

/* How full parts are of what is limited. */
static json_t *limits_json(const cm_candidate *stage)
{
  json_t *limits = json_object();
  for (cm_resource r = 0; r < CM_RESOURCES; r++) {
    tally t = count(stage, r);
    if (t.limit != 0)
      json_object_set_new(limits, cm_resource_field(r),
                          json_pack("{s:I, s:I, s:f}", "limit", (json_int_t)t.limit, "most", (json_int_t)t.most,
                                    "mean_use", t.mean_use));
  }
  return limits;
}

static void print_json(const cli_job *job, const cm_candidate *stage)
{
  cli_job_print_json(job, json_pack("{s:i, s:o, s:o, s:o, s:o}", "parts", (int)stage->partition->part_count, "bound",
                                    cm_bound_json(&stage->bound), "metrics", metrics_json(stage), "limits",
                                    limits_json(stage), "attempts",
                                    cm_attempts_json(stage->attempts, stage->attempt_count, true)));
}

static void print_table(const cli_job *job, const cm_candidate *stage)
{
  cli_job_print_inputs(job);
  cli_job_print_parts(stage->partition->part_count, &stage->bound);
  cli_job_print_attempts(stage->attempts, stage->attempt_count);
  json_t *metrics = metrics_json(stage);
  cli_job_print_numbers(metrics);
  json_decref(metrics);
  for (cm_resource r = 0; r < CM_RESOURCES; r++) {
    tally t = count(stage, r);
    if (t.limit != 0)
      printf("limit       %s: at most %llu of %llu in a part, mean %.1f %%\n", cm_resource_name(r),
             (unsigned long long)t.most, (unsigned long long)t.limit, 100 * t.mean_use);
  }
  cli_job_print_cost(job);
}

static cm_status write_part(void *user, FILE *stream, cm_error *error)
{
  const cm_partition *partition = user;
  for (uint32_t v = 0; v < partition->vertex_count; v++)
    if (fprintf(stream, "%u\n", partition->part[v]) < 0)
      return cm_fail(error, CM_IO, "cannot write the part numbers");
  return CM_OK;
}

static int run_command(cli_job *job)
{
  cm_map_input input;
  cm_candidate stage = {0};
  cm_error error;
  cm_status status = cli_job_open(job, &input, &error);
  if (status == CM_OK)
    status = cm_make_parts(&input, &job->cli.run, &stage, &error);
  cli_run_end(&job->cli);
  if (status == CM_OK)
    status = cli_job_write(job->part, write_part, stage.partition, &error);
  if (status == CM_OK && job->json)
    print_json(job, &stage);
  else if (status == CM_OK)
    print_table(job, &stage);
  cm_candidate_free(&stage);
  if (status != CM_OK)
    return cli_fail(&error);
  return fflush(stdout) == 0 ? EXIT_DONE : EXIT_REFUSED;
}

static int partition(int argc, char **argv)
{
  cli_job job = {.flags = json_object()};
  int status = cli_job_parse(&cli_command_partition, argc, argv, &job);
  if (status < 0)
    status = run_command(&job);
  cli_job_close(&job);
  return status;
}

const cli_command cli_command_partition = {
  .name = "partition", .what = "cut a network into parts, without placing them", .run = partition, .reads = true,
  .options = CLI_OPTIONS_PARTITION,
  .usage = "NETWORK [--chip NAME|FILE | --mesh WxH] [OPTION...]",
  .about = "Cuts a network into parts that keep the limits of a core, and stops there: no region, no placement. Without a\n"
           "chip the limit is --max-part-size, or the number of parts is --parts. FILE - is standard input, or output.",
  .flags = flags};
