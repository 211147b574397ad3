/* Dropout. In inference it passes its input on. In training mode with a seed it drops what the reference implementation
 * of ONNX drops: NumPy's generator, the Mersenne Twister (Matsumoto, Nishimura 1998), 53 bits a number, row by row. */
#include <string.h>

#include "core/operators/operator.h"

enum { STATE = 624, SHIFT = 397 };

typedef struct twister {
  uint32_t state[STATE];
  unsigned next;
} twister;

static void seed_twister(twister *t, uint32_t seed)
{
  t->state[0] = seed;
  for (uint32_t i = 1; i < STATE; i++)
    t->state[i] = 1812433253U * (t->state[i - 1] ^ t->state[i - 1] >> 30) + i;
  t->next = STATE;
}

static uint32_t next_bits(twister *t)
{
  if (t->next == STATE) {
    for (unsigned i = 0; i < STATE; i++) {
      uint32_t y = (t->state[i] & 0x80000000U) | (t->state[(i + 1) % STATE] & 0x7fffffffU);
      t->state[i] = t->state[(i + SHIFT) % STATE] ^ y >> 1 ^ ((y & 1) != 0 ? 0x9908b0dfU : 0);
    }
    t->next = 0;
  }
  uint32_t y = t->state[t->next++];
  y ^= y >> 11;
  y ^= y << 7 & 0x9d2c5680U;
  y ^= y << 15 & 0xefc60000U;
  return y ^ y >> 18;
}

static double next_unit(twister *t)
{
  uint32_t high = next_bits(t) >> 5, low = next_bits(t) >> 6;
  return (high * 67108864.0 + low) / 9007199254740992.0;
}

cm_status cm_shape_dropout(cm_call *call, CM_UNUSED cm_error *error)
{
  call->output[0] = call->input[0];
  if (call->output_count > 1) {
    call->output[1] = call->input[0];
    if (call->opset >= 10)
      call->output[1].type = CM_BOOL;
  }
  return CM_OK;
}

/* Training as far as is known: of a mode or a ratio that is given when the model runs, the one that is worse. */
cm_status cm_check_dropout(const cm_call *call, cm_error *error)
{
  const cm_tensor *mode = cm_has(call, 2) ? call->value[2] : NULL, *ratio = cm_has(call, 1) ? call->value[1] : NULL;
  if ((mode != NULL && mode->count != 1) || (ratio != NULL && ratio->count != 1))
    return cm_call_fail(call, error, "should have one ratio and one training mode");
  if (!cm_has(call, 2) || (mode != NULL && cm_tensor_integer(mode, 0) == 0) || (ratio != NULL && cm_tensor_number(ratio, 0) == 0))
    return CM_OK;
  if (cm_node_attribute(call->node, "seed") == NULL)
    return cm_call_fail(call, error, "is in training mode%s without a seed: its result is random",
                        mode == NULL ? ", or may be," : "");
  return call->input[0].type != CM_FLOAT ? cm_call_bad_type(call, call->input[0].type, error) : CM_OK;
}

static void set_mask(cm_tensor *mask, uint64_t i, bool kept)
{
  if (mask->type == CM_FLOAT)
    ((float *)mask->data)[i] = kept ? 1 : 0;
  else
    ((uint8_t *)mask->data)[i] = kept;
}

cm_status cm_kernel_dropout(cm_call *call, CM_UNUSED cm_error *error)
{
  const cm_tensor *x = call->value[0];
  cm_tensor *y = call->result[0], *mask = call->output_count > 1 ? call->result[1] : NULL;
  const cm_attribute *seed = cm_node_attribute(call->node, "seed");
  bool training = cm_has(call, 2) && cm_tensor_integer(call->value[2], 0) != 0;
  double ratio = cm_has(call, 1) ? cm_tensor_number(call->value[1], 0) : 0.5;
  if (!training || ratio == 0) {
    for (uint64_t i = 0; mask != NULL && i < mask->count; i++)
      set_mask(mask, i, true);
    memcpy(y->data, x->data, x->count * cm_type_bytes(x->type));
    return CM_OK;
  }
  twister random;
  seed_twister(&random, (uint32_t)seed->integer);
  float scale = (float)(1 / (1 - ratio));
  for (uint64_t i = 0; i < x->count; i++) {
    bool kept = next_unit(&random) >= ratio;
    ((float *)y->data)[i] = kept ? ((const float *)x->data)[i] * scale : 0;
    if (mask != NULL)
      set_mask(mask, i, kept);
  }
  return CM_OK;
}
