/* Neurons of lava-dl, as its chip has them: i = i (1 - iDecay / 4096) + input, v = v (1 - vDecay / 4096) + i in every step, a spike where v is
 * above vThMant, in the weights' unit. As NIR says it that is a CubaLIF of tau_syn = step 4096 / iDecay and w_in = tau_syn / step, tau and r
 * the same by vDecay; without leaks an IF. After a spike v stays 0 in refDelay - 1 steps (slayerPytorch, src/cuda/spikeLoihiKernels.h).
 *
 * What can fail: decays that are none, numbers of another shape. Models and numbers that NIR's cannot say are left: a v that does not
 * leak behind an i that decays, biases, which act on v. */
#include <math.h>
#include <string.h>

#include "core/network/hdf5/nir.h"

enum { WHOLE_DECAY = 4096 };

bool nir_spreads(const nir_shape *read, const nir_shape *whole, nir_shape *spread)
{
  if (read->count == whole->count)
    *spread = *whole;
  else if (read->count == whole->dim[0])
    *spread = (nir_shape){.rank = whole->rank, .dim = {whole->dim[0], 1, 1, 1, 1, 1}, .count = read->count};
  else
    *spread = (nir_shape){.rank = 0, .count = 1};
  return read->count == 1 || read->count == spread->count;
}

typedef struct numbers {
  nir_node read; /* its weight */
  nir_shape shape;
} numbers;

static cm_status read_numbers(const cm_h5 *h5, hid_t group, const char *name, const nir_shape *whole, numbers *n, cm_error *error)
{
  CM_TRY(nir_read_weight(h5, group, name, &n->read, error));
  return nir_spreads(&n->read.weight_shape, whole, &n->shape)
           ? CM_OK
           : cm_h5_bad(h5, group, name, "one number, one for each channel or one for each neuron is expected", error);
}

static cm_status check_decays(const cm_h5 *h5, hid_t group, const char *name, const numbers *n, cm_error *error)
{
  for (uint64_t i = 0; i < n->shape.count; i++)
    if (n->read.weight[i] < 0 || n->read.weight[i] > WHOLE_DECAY)
      return cm_h5_bad(h5, group, name, cm_say("number %llu is %g; 0 to %d is expected", (unsigned long long)i, n->read.weight[i],
                                               WHOLE_DECAY).text, error);
  return CM_OK;
}

/* Turns refractory delays, if there are, into seconds in which v stays; false: some are no whole steps from 1 on. */
static bool hold(numbers *n, double step_s)
{
  for (uint64_t i = 0; n->read.weight != NULL && i < n->shape.count; i++) {
    double *value = &n->read.weight[i];
    if (!(*value >= 1) || *value != floor(*value))
      return false;
    *value = (*value - 1) * step_s;
  }
  return true;
}

/* Whether all numbers are `value`, or none is. */
static bool all_are(const numbers *n, double value, bool are)
{
  for (uint64_t i = 0; i < n->shape.count; i++)
    if ((n->read.weight[i] == value) != are)
      return false;
  return true;
}

/* Parameter p of a node: factor / decay, or the numbers themselves where the factor is 0. */
static cm_status set(nir_node *node, int p, const numbers *n, double factor, cm_memory *memory, cm_error *error)
{
  nir_numbers *made = &node->parameter[p];
  CM_TRY(CM_NEW(memory, made->value, n->shape.count, error));
  made->shape = n->shape;
  for (uint64_t i = 0; i < n->shape.count; i++)
    made->value[i] = (float)(factor == 0 ? n->read.weight[i] : factor * WHOLE_DECAY / n->read.weight[i]);
  return CM_OK;
}

static cm_status set_model(nir_node *node, const numbers *current, const numbers *voltage, double step_s, cm_memory *memory, cm_error *error)
{
  if (all_are(voltage, 0, true) && all_are(current, WHOLE_DECAY, true)) {
    node->model = CM_NEURON_IF;
    return CM_OK;
  }
  if (!all_are(voltage, 0, false) || !all_are(current, 0, false))
    return CM_OK;
  node->model = CM_NEURON_CUBALIF;
  CM_TRY(set(node, CM_PARAMETER_TAU_SYN, current, step_s, memory, error));
  CM_TRY(set(node, CM_PARAMETER_W_IN, current, 1, memory, error));
  CM_TRY(set(node, CM_PARAMETER_TAU, voltage, step_s, memory, error));
  return set(node, CM_PARAMETER_R, voltage, 1, memory, error);
}

cm_status lava_read_neurons(const cm_h5 *h5, hid_t group, double step_s, const nir_shape *shape, nir_node *node, cm_error *error)
{
  enum { CURRENT, VOLTAGE, THRESHOLD, REFRACTORY, NUMBERS };
  static const char *const names[] = {"iDecay", "vDecay", "vThMant", "refDelay"};
  numbers n[NUMBERS] = {0};
  if (strcmp(node->type, "CUBA") != 0 && strcmp(node->type, "LOIHI") != 0)
    return CM_OK;
  for (int i = 0; i < REFRACTORY; i++)
    if (!cm_h5_has(group, names[i]))
      return CM_OK;
  cm_status status = CM_OK;
  for (int i = 0; i < NUMBERS && status == CM_OK; i++)
    if (cm_h5_has(group, names[i]))
      status = read_numbers(h5, group, names[i], shape, &n[i], error);
  for (int i = 0; i < THRESHOLD && status == CM_OK; i++)
    status = check_decays(h5, group, names[i], &n[i], error);
  if (status == CM_OK && hold(&n[REFRACTORY], step_s) && all_are(&n[THRESHOLD], 0, false))
    status = set_model(node, &n[CURRENT], &n[VOLTAGE], step_s, h5->memory, error);
  CM_THEN_IF(status, node->model != CM_NEURON_MODELS, set(node, CM_PARAMETER_V_THRESHOLD, &n[THRESHOLD], 0, h5->memory, error));
  if (status == CM_OK && node->model != CM_NEURON_MODELS && n[REFRACTORY].read.weight != NULL && !all_are(&n[REFRACTORY], 0, true))
    status = set(node, CM_PARAMETER_REFRACTORY, &n[REFRACTORY], 0, h5->memory, error);
  for (int i = 0; i < NUMBERS; i++)
    cm_free(n[i].read.weight);
  return status;
}
