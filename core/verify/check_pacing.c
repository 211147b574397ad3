/* When cores send, as a mapping file says it: "pacing", and "turns", the places of neurons in the orders of their cores. */
#include "core/verify/checker.h"

static cm_status bad(cm_error *error, uint32_t neuron, uint64_t turn, uint64_t neurons)
{
  return cm_fail(error, CM_BAD_MAPPING, "/turns/%u is %llu: each of the %llu neurons of a core has a turn of its own, from 0 on", neuron,
                 (unsigned long long)turn, (unsigned long long)neurons);
}

/* Whether every neuron of a part has a turn of its own. `first` [parts + 1], `taken` [neurons]. */
static cm_status check_turns(const cm_check_file *file, const uint32_t *part, uint64_t *first, uint8_t *taken, uint32_t *turn, cm_error *error)
{
  const uint32_t neurons = (uint32_t)file->kept_neurons;
  for (uint32_t v = 0; v < neurons; v++)
    first[part[v] + 1]++;
  for (uint64_t p = 0; p < file->kept_cores; p++)
    first[p + 1] += first[p];
  for (uint32_t v = 0; v < neurons; v++) {
    const uint64_t count = first[part[v] + 1] - first[part[v]], at = file->turns.number[v];
    if (at >= count || taken[first[part[v]] + at])
      return bad(error, v, at, count);
    taken[first[part[v]] + at] = 1;
    turn[v] = (uint32_t)at;
  }
  return CM_OK;
}

cm_status cm_check_file_pacing(const cm_check_file *file, const uint32_t *part, cm_run *run, cm_pacing *pacing, cm_error *error)
{
  const json_t *told = json_object_get(file->rest, "pacing");
  uint64_t *first = NULL;
  uint8_t *taken = NULL;
  cm_pacing p = {.ns = json_number_value(json_object_get(told, "ns")), .step_ns = json_number_value(json_object_get(told, "step_ns"))};
  *pacing = (cm_pacing){0};
  if (told == NULL && !file->has_turns)
    return CM_OK;
  if (told == NULL || !file->has_turns || file->turns.count != file->neuron_count)
    return cm_fail(error, CM_BAD_MAPPING, "\"pacing\" and \"turns\" belong together, with a turn for each of the %llu neurons: give the full JSON view",
                   (unsigned long long)file->neuron_count);
  if (!(p.ns >= 0 && p.ns < 1e18 && p.step_ns >= 0))
    return cm_fail(error, CM_BAD_MAPPING, "/pacing: \"ns\" from 0 to 1e18 and \"step_ns\" are expected");
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(p.turn, file->kept_neurons), CM_ARRAY(first, file->kept_cores + 1),
                                CM_ARRAY(taken, file->kept_neurons));
  CM_THEN(status, check_turns(file, part, first, taken, p.turn, error));
  CM_FREE(first, taken);
  CM_END(status, *pacing = p, cm_free(p.turn));
}

cm_status cm_check_paced_step(const cm_check_file *file, const uint32_t *part, cm_run *run, cm_metrics *metrics, cm_error *error)
{
  cm_pacing pacing;
  cm_status status = cm_check_file_pacing(file, part, run, &pacing, error);
  if (status == CM_OK) {
    metrics->pacing_ns = pacing.ns;
    metrics->step_ns = pacing.step_ns > metrics->step_ideal_ns ? pacing.step_ns : metrics->step_ideal_ns;
  }
  cm_free(pacing.turn);
  return status;
}

cm_status cm_checker_pacing(cm_checker *c, cm_error *error)
{
  cm_status status = cm_check_paced_step(&c->file, c->file.neuron, c->given->run, &c->truth.metrics, error);
  if (status == CM_BAD_MAPPING)
    violation(c, "%s", error->detail);
  return status == CM_BAD_MAPPING ? CM_OK : status;
}
