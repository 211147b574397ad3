#include "core/learning/policy/policy.h"

#include <math.h>

#include "core/learning/policy/letter_numbers.h"
#include "core/learning/policy/parameters.h"
#include "core/learning/policy/pilot_network.h"
#include "core/partition/options.h"

static void initialise(cm_policy *policy, uint64_t seed)
{
  const cm_policy_shape *s = &policy->shape;
  cm_policy_parameters n = cm_policy_parameters_of(s);
  cm_random random;
  float *p = policy->parameter;
  cm_random_init(&random, seed, CM_STREAM_POLICY, 0);
  cm_convolutions_draw(policy, &random);
  p[n.direct + (size_t)CM_INPUT_LOGIT * CM_POLICY_OUTPUTS] = 1;
  p[n.full_bias + 1] = 0.2f;
}

/* The layers that a kind may have, the widths, and the inputs that it has. */
static bool fits(const cm_policy_shape *s)
{
  static const uint32_t inputs[CM_KINDS] = {CM_POLICY_INPUTS, CM_FEATURES, CM_FEATURES, CM_PILOT_INPUTS};
  return s->kind < CM_KINDS && s->inputs == inputs[s->kind] && s->layers <= CM_POLICY_LAYERS_MAX && s->width >= 1 &&
         s->width <= CM_POLICY_WIDTH_MAX && s->readout >= 1 && s->readout <= CM_POLICY_WIDTH_MAX;
}

cm_status cm_policy_new(const cm_policy_shape *shape, float bound, uint64_t seed, cm_policy **policy, cm_error *error)
{
  if (!fits(shape))
    return cm_fail(error, CM_BAD_OPTION,
                   "a policy of kind %u is of a kind below %d, with as many inputs as that has, up to %d layers and widths "
                   "from 1 to %d; this one has %u inputs, %u layers, widths %u and %u", shape->kind, CM_KINDS,
                   CM_POLICY_LAYERS_MAX, CM_POLICY_WIDTH_MAX, shape->inputs, shape->layers, shape->width,
                   shape->readout);
  if (!(bound > 0 && bound <= 1000))
    return cm_fail(error, CM_BAD_OPTION, "the bound is %g; it must be above 0 and at most 1000", (double)bound);
  cm_policy *made = calloc(1, sizeof *made);
  if (made != NULL) {
    made->shape = *shape;
    made->bound = bound;
    made->count = cm_policy_count(shape);
    made->parameter = calloc(made->count, sizeof *made->parameter);
    made->card = strdup("{}");
  }
  CM_TRY_OR(cm_whole(made != NULL && made->parameter != NULL && made->card != NULL, "a policy", error), cm_policy_free(made));
  if (shape->kind == CM_KIND_LAYOUT)
    initialise(made, seed);
  else if (shape->kind == CM_KIND_PILOT)
    cm_pilot_initialise(made, seed);
  else
    cm_letter_initialise(made, seed);
  *policy = made;
  return CM_OK;
}

void cm_policy_free(cm_policy *policy)
{
  if (policy == NULL)
    return;
  free(policy->parameter);
  free(policy->card);
  free(policy);
}

uint32_t cm_axis_likeliest(double mean, uint32_t n, double bound)
{
  double at = round((mean / bound + 1) / 2 * (n - 1.0));
  return at <= 0 ? 0 : at >= n - 1.0 ? n - 1 : (uint32_t)at;
}
