/* Parts without places. */
#include <coremap/partition.h>

#include "base/json.h"
#include "core/partition/fixed.h"
#include "core/partition/part_file.h"
#include "core/solver/stage/stage.h"
#include "library/internal.h"

struct coremap_partition {
  cm_memory memory; /* that all stands in */
  cm_candidate stage;
};

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
                   "cut_net", stage->quality.cut_net, "edge_cut", stage->quality.edge_cut, "imbalance",
                   neurons.total > 0 ? ((double)neurons.most * parts - (double)neurons.total) / (double)neurons.total : 0.0, "largest_part",
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

/* Keeps what a file fixes, and counts what parts use then. */
static cm_status fix(const library_job *job, const cm_map_input *input, cm_run *run, cm_candidate *made, cm_error *error)
{
  const cm_topology *t = input->demand->network;
  const cm_attempt *last = &made->attempts[made->attempt_count - 1];
  cm_partition *p = made->partition;
  cm_fixed_task task = {.parts = p->part_count, .limits = made->limits, .edges = made->objective == CM_OBJECTIVE_EDGE, .seed = input->options->seed};
  uint32_t *fixed;
  cm_cuts cuts;
  bool legal;
  if (job->fixed[0] == '\0')
    return CM_OK;
  if (input->options->parts == 0)
    return cm_option_refuse(error, "fixed", "given with parts, the number of parts that it is about");
  CM_TRY(cm_fix_read(job->fixed, t->vertex_count, task.parts, run, &fixed, error));
  task.fixed = fixed;
  task.limits.neurons = task.limits.neurons == 0 || last->capacity < task.limits.neurons ? last->capacity : task.limits.neurons;
  cm_run_phase(run, "fixed");
  cm_status status = cm_fix_parts(input->demand, &task, run, p->part, &legal, error);
  cm_free(fixed);
  if (status == CM_OK && !legal)
    status = cm_fail(error, CM_LIMIT_BROKEN, "no partition with what %s fixes was found within %llu neurons a part: allow more imbalance, or more parts", job->fixed,
                     (unsigned long long)task.limits.neurons);
  CM_THEN(status, cm_count_use_and_cuts(input->demand, p->part, p->part_count, run, made->use, &cuts, error));
  CM_END(status, made->quality = cm_quality_of(t, &cuts), );
}

static cm_status make(coremap_partition *p, const coremap_network *network, const coremap_chip *chip, const char *options, cm_run *run,
                      cm_error *error)
{
  library_job job;
  cm_map_input input;
  cm_demand demand = {0};
  cm_status status = library_job_begin(&job, options, network, &demand, chip, run, &input, error);
  CM_THEN(status, cm_make_parts(&input, run, &p->stage, error));
  CM_THEN(status, fix(&job, &input, run, &p->stage, error));
  library_job_end(&job, run);
  cm_demand_clear(&demand);
  p->stage.input = NULL;
  p->stage.run = NULL;
  return status;
}

int coremap_partition_make(const coremap_network *network, const coremap_chip *chip, const char *options, coremap_progress progress,
                           void *user, coremap_partition **partition, coremap_error **error)
{
  cm_error e;
  library_run r;
  coremap_partition *p;
  cm_status status = CM_HEAP(p, 1, "a partition", &e);
  if (status == CM_OK) {
    cm_memory_init(&p->memory, 0);
    library_begin(&r, progress, user);
    library_outlive(&r, &p->memory);
    status = make(p, network, chip, options, r.run, &e);
    cm_run_finish(r.run);
  }
  LIBRARY_END(status, *partition = p, coremap_partition_free(p));
}

const uint32_t *coremap_partition_parts(const coremap_partition *partition, uint64_t *neurons)
{
  *neurons = partition->stage.partition->vertex_count;
  return partition->stage.partition->part;
}

int coremap_partition_metric(const coremap_partition *partition, const char *name, double *value, coremap_error **error)
{
  cm_error e;
  return library_tell(library_metric(metrics_json(&partition->stage), name, value, &e), &e, error);
}

int coremap_partition_about(const coremap_partition *partition, char **json, coremap_error **error)
{
  cm_error e;
  const cm_candidate *stage = &partition->stage;
  const uint64_t refusals = cm_json_refusals();
  json_t *metrics = metrics_json(stage);
  json_t *made = json_pack("{s:I, s:o, s:o, s:o, s:o, s:o}", "parts", (json_int_t)stage->partition->part_count, "bound",
                           cm_bound_json(&stage->bound), "metrics", metrics, "limits", limits_json(stage), "attempts",
                           cm_attempts_json(stage->attempts, stage->attempt_count, true), "shown", library_shown(metrics));
  return library_tell(library_whole_text(made, refusals, json, &e), &e, error);
}

static cm_status write_part(const cm_partition *partition, FILE *stream, cm_error *error)
{
  for (uint32_t v = 0; v < partition->vertex_count; v++)
    if (fprintf(stream, "%u\n", partition->part[v]) < 0)
      return cm_fail(error, CM_IO, "cannot write the part numbers");
  return CM_OK;
}

int coremap_partition_write(const coremap_partition *partition, const char *path, coremap_error **error)
{
  cm_error e;
  cm_file file;
  if (cm_file_create(&file, path, &e) != CM_OK)
    return library_tell(e.status, &e, error);
  cm_status status = write_part(partition->stage.partition, file.stream, &e);
  return library_tell(cm_file_end(&file, status, &e), &e, error);
}

void coremap_partition_free(coremap_partition *partition)
{
  if (partition == NULL)
    return;
  cm_candidate_free(&partition->stage);
  free(partition);
}
