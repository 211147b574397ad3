#include "core/machine/plan/recurrent_steps.h"

#include <math.h>

#include "core/machine/cost.h"
#include "core/operators/evaluate.h"
#include "core/operators/recurrent.h"
#include "core/operators/recurrent_unfold.h"

enum { STEPS_MAX = 1024, INPUTS_MAX = 8 }; /* each is a handful of nodes */

/* Work over units: as many as it keeps busy for longer than an instruction costs. */
static double shared_ns(double work, const cm_power *lanes)
{
  const double alone = work / lanes->rate;
  return lanes->issue_ns + alone / fmax(1, fmin(lanes->units, alone / fmax(lanes->issue_ns, 1e-9)));
}

/* The time of all steps in a row, the products of the inputs first. */
static double unfolded_ns(const cm_recurrent *r, const cm_target *target)
{
  const cm_power matrix = cm_power_for(target, CM_UNIT_MATRIX, CM_FLOAT), vector = cm_power_for(target, CM_UNIT_VECTOR, CM_FLOAT);
  const bool twice = r->gates == 3 && !r->linear_before_reset;
  const double units = (double)(r->batch * r->gates * r->hidden), products = twice ? 2 : 1, cells = r->gates == 3 ? 2 : 1;
  if (matrix.rate <= 0 || vector.rate <= 0)
    return HUGE_VAL;
  return shared_ns(units * (double)(r->steps * r->directions * r->inputs), &matrix) +
         (double)r->steps * (products * shared_ns(units * (double)r->hidden / products, &matrix) +
                             cells * shared_ns(2 * units / cells, &vector));
}

/* Bytes of all inputs and outputs, which one instruction has on the chip. */
static double whole_bytes(const cm_model *m, const cm_node *node)
{
  double bytes = 0;
  for (uint32_t k = 0; k < node->input_count + node->output_count; k++) {
    const uint32_t value = k < node->input_count ? node->inputs[k] : node->outputs[k - node->input_count];
    uint64_t count = 0;
    if (value != CM_NONE && cm_dims_count(m->values[value].shape.rank, m->values[value].shape.dims, &count))
      bytes += (double)count * sizeof(float);
  }
  return bytes;
}

static bool pays(const cm_model *m, const cm_node *node, const cm_target *target, uint64_t memory_bytes, cm_recurrent *r)
{
  cm_shape shapes[INPUTS_MAX];
  const cm_call call = {.node = node, .opset = m->opset, .input_count = node->input_count, .input = shapes};
  if (!cm_recurrent_unfolds(m, node))
    return false;
  for (uint32_t i = 0; i < node->input_count; i++)
    if (node->inputs[i] != CM_NONE)
      shapes[i] = m->values[node->inputs[i]].shape;
  (void)cm_recurrent_measure(&call, r);
  const cm_power vector = cm_power_for(target, CM_UNIT_VECTOR, CM_FLOAT);
  return r->steps * r->directions <= STEPS_MAX &&
         (whole_bytes(m, node) > (double)memory_bytes ||
          unfolded_ns(r, target) < vector.issue_ns + (double)cm_recurrent_work(&call) / vector.rate);
}

cm_status cm_steps_unfold(cm_model *model, const cm_target *target, uint64_t memory_bytes, cm_run *run, cm_steps *done, cm_error *error)
{
  const size_t count = model->node_count;
  *done = (cm_steps){0};
  for (uint32_t n = 0; n < count; n++) {
    cm_recurrent r;
    if (!pays(model, &model->nodes[n], target, memory_bytes, &r))
      continue;
    CM_TRY(cm_recurrent_unfold(model, n, run, error));
    done->operators++;
    done->steps += (uint32_t)(r.steps * r.directions);
  }
  if (done->operators == 0)
    return CM_OK;
  return cm_model_sweep(model, error) != CM_OK ? error->status : cm_infer(model, run, error);
}
