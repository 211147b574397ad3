/* Judges what an attempt made: against the job's limits, and by what it costs. */
#include "core/solver/stage/attempts_judge.h"

#include <math.h>
#include <string.h>

/* Keeps the nearest attempt, with what it asks for. */
static void remember(cm_attempts *a, cm_partition **partition, const cm_violation *violation, const uint64_t *use)
{
  double ratio = (double)violation->use / (double)violation->limit;
  if (a->nearest != NULL && ratio >= (double)a->violation.use / (double)a->violation.limit)
    return;
  cm_partition_free(a->nearest);
  a->nearest = *partition;
  *partition = NULL;
  a->violation = *violation;
  memset(a->most, 0, sizeof a->most);
  for (uint32_t p = 0; p < a->nearest->part_count; p++)
    for (cm_resource r = 0; r < CM_RESOURCES; r++)
      if (use[(size_t)p * CM_RESOURCES + r] > a->most[r])
        a->most[r] = use[(size_t)p * CM_RESOURCES + r];
}

static double mean_fill(const cm_limits *limits, const uint64_t *use, uint32_t parts)
{
  static const cm_resource kept_by_size[] = {CM_SYNAPSES, CM_INBOUND_AXONS};
  double fill = 0;
  for (int i = 0; i < 2; i++) {
    cm_resource r = kept_by_size[i];
    double sum = 0;
    for (uint32_t p = 0; p < parts && cm_limit(limits, r) != 0; p++)
      sum += (double)use[(size_t)p * CM_RESOURCES + r] / (double)cm_limit(limits, r);
    fill = fmax(fill, sum / parts);
  }
  return fill;
}

cm_status cm_attempt_judge(cm_attempts *a, cm_partition **partition, cm_violation *violation, cm_error *error)
{
  const cm_topology *topology = a->input->demand->network;
  uint64_t *use;
  uint32_t parts = (*partition)->part_count;
  cm_run_phase(a->run, "limits");
  CM_TRY(CM_NEW(a->run->memory, use, (size_t)parts * CM_RESOURCES, error));
  cm_cuts cuts;
  CM_TRY_OR(cm_count_use_and_cuts(a->input->demand, (*partition)->part, parts, a->run, use, &cuts, error), cm_free(use));
  a->made.quality = cm_quality_of(topology, &cuts);
  *violation = cm_find_violation(&a->made.limits, use, parts);
  a->fill = mean_fill(&a->made.limits, use, parts);
  if (violation->broken_parts == 0 && parts <= cm_attempts_parts_most(a)) {
    a->made.partition = *partition;
    a->made.use = use;
    *partition = NULL;
    return CM_OK;
  }
  if (violation->broken_parts == 0)
    a->roomy_parts = a->roomy_parts == 0 || parts < a->roomy_parts ? parts : a->roomy_parts;
  else if (parts <= cm_attempts_parts_most(a))
    remember(a, partition, violation, use);
  cm_free(use);
  return CM_OK;
}
