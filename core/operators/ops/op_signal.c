/* Operators on signals: DFT, STFT, MelWeightMatrix and the three windows. Sums are plain ones, in double: lines are short. */
#include <math.h>
#include <string.h>

#include "core/operators/operator.h"

static const double PI = 3.14159265358979323846;

enum { LENGTH_MAX = 1 << 24 };

/* A length that an input holds; CM_UNKNOWN_DIM while it is not known. */
static cm_status read_length(const cm_call *call, uint32_t input, int64_t *length, cm_error *error)
{
  *length = CM_UNKNOWN_DIM;
  if (call->value[input] == NULL)
    return CM_OK;
  if (call->value[input]->count != 1 || (*length = cm_tensor_integer(call->value[input], 0)) < 0 || *length > LENGTH_MAX)
    return cm_call_fail(call, error, "input %u should be one number from 0 to %d", input, LENGTH_MAX);
  return CM_OK;
}

static bool onesided(const cm_call *call, int64_t otherwise)
{
  return cm_node_integer(call->node, "onesided", otherwise) != 0;
}

/* ---- DFT ---- */

/* The axis is an attribute before opset 20 and an input from then on. */
static cm_status dft_axis(const cm_call *call, uint32_t rank, uint32_t *axis, bool *known, cm_error *error)
{
  int64_t at = call->opset < 20 ? cm_node_integer(call->node, "axis", 1) : -2;
  *known = call->opset < 20 || !cm_has(call, 2) || call->value[2] != NULL;
  if (!*known)
    return CM_OK;
  if (call->opset >= 20 && cm_has(call, 2)) {
    if (call->value[2]->count != 1)
      return cm_call_fail(call, error, "its axis should be one number");
    at = cm_tensor_integer(call->value[2], 0);
  }
  CM_TRY(cm_call_axis(call, at, rank, axis, error));
  return *axis + 1 < rank ? CM_OK : cm_call_fail(call, error, "its axis is that of real and imaginary parts");
}

cm_status cm_check_dft(const cm_call *call, cm_error *error)
{
  return onesided(call, 0) && cm_node_integer(call->node, "inverse", 0) != 0
             ? cm_call_fail(call, error, "is onesided and inverse, which is not computed")
             : CM_OK;
}

cm_status cm_shape_dft(cm_call *call, cm_error *error)
{
  const cm_shape *x = &call->input[0];
  cm_shape *y = &call->output[0];
  uint32_t axis;
  bool known;
  int64_t length = CM_UNKNOWN_DIM;
  *y = *x;
  if (x->rank == CM_UNKNOWN_RANK)
    return CM_OK;
  if (x->rank < 2 || x->dims[x->rank - 1] == 0 || x->dims[x->rank - 1] > 2)
    return cm_call_fail(call, error, "needs one or two numbers in its last dimension");
  y->dims[x->rank - 1] = 2;
  CM_TRY(dft_axis(call, x->rank, &axis, &known, error));
  CM_TRY_IF(cm_has(call, 1), read_length(call, 1, &length, error));
  if (!known) {
    for (uint32_t i = 0; i + 1 < x->rank; i++)
      y->dims[i] = CM_UNKNOWN_DIM;
    return CM_OK;
  }
  length = cm_has(call, 1) ? length : x->dims[axis];
  y->dims[axis] = length > 0 && onesided(call, 0) ? length / 2 + 1 : length;
  return CM_OK;
}

/* Where the numbers of one line lie. */
typedef struct signal {
  const cm_tensor *x;
  uint64_t at;    /* of its first number */
  int64_t stride, count;
  bool complex;
} signal;

static double part(const signal *s, int64_t i, int imaginary)
{
  return i < s->count && (imaginary == 0 || s->complex)
             ? cm_tensor_number(s->x, s->at + (uint64_t)(i * s->stride) + (uint64_t)imaginary)
             : 0;
}

/* Frequency k of `length` numbers, weighed by a window (NULL: none). */
static void frequency(const signal *s, const cm_tensor *window, int64_t length, int64_t k, bool inverse, double sum[2])
{
  sum[0] = sum[1] = 0;
  for (int64_t i = 0; i < length; i++) {
    double angle = 2 * PI * (double)(i * k % length) / (double)length * (inverse ? 1 : -1), c = cos(angle), d = sin(angle),
           weight = window != NULL ? cm_tensor_number(window, (uint64_t)i) : 1, re = weight * part(s, i, 0),
           im = weight * part(s, i, 1);
    sum[0] += re * c - im * d;
    sum[1] += re * d + im * c;
  }
}

cm_status cm_kernel_dft(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  cm_tensor *y = call->result[0];
  bool known, inverse = cm_node_integer(call->node, "inverse", 0) != 0;
  uint32_t axis;
  int64_t strides[CM_RANK_MAX], out_strides[CM_RANK_MAX], length, index[CM_RANK_MAX] = {0}, dims[CM_RANK_MAX];
  CM_TRY(dft_axis(call, x->rank, &axis, &known, error));
  length = x->dims[axis];
  CM_TRY_IF(cm_has(call, 1), read_length(call, 1, &length, error));
  if (y->count == 0)
    return CM_OK;
  cm_strides(x->rank, x->dims, strides);
  cm_strides(y->rank, y->dims, out_strides);
  memcpy(dims, x->dims, sizeof dims);
  dims[axis] = dims[x->rank - 1] = 1;
  do {
    signal s = {.x = x, .stride = strides[axis], .count = x->dims[axis], .complex = x->dims[x->rank - 1] == 2};
    int64_t to = 0;
    for (uint32_t i = 0; i < x->rank; i++) {
      s.at += (uint64_t)(index[i] * strides[i]);
      to += index[i] * out_strides[i];
    }
    for (int64_t k = 0; k < y->dims[axis]; k++) {
      double sum[2], scale = inverse ? 1 / (double)length : 1;
      frequency(&s, NULL, length, k, inverse, sum);
      for (int p = 0; p < 2; p++)
        cm_tensor_put_number(y, (uint64_t)(to + k * out_strides[axis] + p), sum[p] * scale, false);
    }
  } while (cm_next_index(x->rank, dims, index));
  return CM_OK;
}

/* ---- STFT ---- */

/* Numbers of a frame, from the window or the fourth input. */
static cm_status frame_length(const cm_call *call, int64_t *length, cm_error *error)
{
  *length = CM_UNKNOWN_DIM;
  if (cm_has(call, 3))
    return read_length(call, 3, length, error);
  if (!cm_has(call, 2))
    return cm_call_fail(call, error, "needs a window or the length of frames");
  if (call->input[2].rank == 1)
    *length = call->input[2].dims[0];
  return CM_OK;
}

cm_status cm_shape_stft(cm_call *call, cm_error *error)
{
  const cm_shape *x = &call->input[0];
  int64_t step, length;
  if (x->rank != CM_UNKNOWN_RANK && (x->rank < 2 || x->rank > 3))
    return cm_call_fail(call, error, "needs signals of 3 dimensions");
  CM_TRY(read_length(call, 1, &step, error));
  CM_TRY(frame_length(call, &length, error));
  call->output[0] = (cm_shape){.type = x->type, .rank = 4, .dims = {CM_UNKNOWN_DIM, CM_UNKNOWN_DIM, CM_UNKNOWN_DIM, 2}};
  if (x->rank == CM_UNKNOWN_RANK)
    return CM_OK;
  call->output[0].dims[0] = x->dims[0];
  const cm_shape *window = &call->input[2];
  bool short_window =
    cm_has(call, 2) && (window->rank == 0 || (window->rank == 1 && window->dims[0] >= 0 && window->dims[0] < length));
  if (short_window || (x->rank == 3 && x->dims[2] >= 0 && (x->dims[2] < 1 || x->dims[2] > 2)))
    return cm_call_fail(call, error, "its window or signal has another length");
  if (length < 0 || step < 0 || x->dims[1] < 0)
    return CM_OK;
  if (step == 0 || length == 0 || length > x->dims[1])
    return cm_call_fail(call, error, "frames of %lld numbers every %lld do not go with %lld", (long long)length,
                        (long long)step, (long long)x->dims[1]);
  call->output[0].dims[1] = (x->dims[1] - length) / step + 1;
  call->output[0].dims[2] = onesided(call, 1) ? length / 2 + 1 : length;
  return CM_OK;
}

cm_status cm_kernel_stft(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0], *window = cm_has(call, 2) ? call->value[2] : NULL;
  cm_tensor *y = call->result[0];
  int64_t step, length, width = x->rank == 3 ? x->dims[2] : 1;
  uint64_t to = 0;
  CM_TRY(read_length(call, 1, &step, error));
  CM_TRY(frame_length(call, &length, error));
  for (int64_t b = 0; b < y->dims[0]; b++)
    for (int64_t f = 0; f < y->dims[1]; f++)
      for (int64_t k = 0; k < y->dims[2]; k++) {
        signal s = {.x = x, .at = (uint64_t)((b * x->dims[1] + f * step) * width), .stride = width, .count = length,
                    .complex = width == 2};
        double sum[2];
        frequency(&s, window, length, k, false, sum);
        cm_tensor_put_number(y, to++, sum[0], false);
        cm_tensor_put_number(y, to++, sum[1], false);
      }
  return CM_OK;
}

bool cm_stft_frames(const cm_call *call, int64_t *step, int64_t *length)
{
  cm_error ignored;
  return read_length(call, 1, step, &ignored) == CM_OK && frame_length(call, length, &ignored) == CM_OK && *step > 0 &&
         *length > 0;
}

/* ---- windows ---- */

static cm_type made_type(const cm_call *call)
{
  return (cm_type)cm_node_integer(call->node, "output_datatype", CM_FLOAT);
}

cm_status cm_check_made_number(const cm_call *call, cm_error *error)
{
  cm_type type = made_type(call);
  return cm_type_bytes(type) > 0 && type != CM_COMPLEX64 && type != CM_COMPLEX128 ? CM_OK : cm_call_bad_type(call, type, error);
}

cm_status cm_shape_window(cm_call *call, cm_error *error)
{
  int64_t size;
  CM_TRY(read_length(call, 0, &size, error));
  call->output[0] = (cm_shape){.type = made_type(call), .rank = 1, .dims = {size}};
  return CM_OK;
}

cm_status cm_kernel_window(cm_call *call, cm_error *error)
{
  cm_tensor *y = call->result[0];
  const cm_operator_variant kind = call->node->known->variant;
  double turns = (double)y->dims[0] - (cm_node_integer(call->node, "periodic", 1) != 0 ? 0 : 1);
  (void)error;
  for (uint64_t i = 0; i < y->count; i++) {
    double angle = turns > 0 ? 2 * PI * (double)i / turns : 0, w;
    if (kind == CM_VARIANT_BLACKMAN)
      w = 0.42 - 0.5 * cos(angle) + 0.08 * cos(2 * angle);
    else
      w = kind == CM_VARIANT_HANN ? 0.5 - 0.5 * cos(angle) : 25.0 / 46 - 21.0 / 46 * cos(angle);
    cm_tensor_put_number(y, i, w, false);
  }
  return CM_OK;
}

/* ---- MelWeightMatrix ---- */

/* Numbers that are known are those of a sample rate and frequencies. */
static cm_status need_frequencies(const cm_call *call, cm_error *error)
{
  for (uint32_t i = 2; i < 5; i++) {
    const cm_tensor *t = cm_has(call, i) ? call->value[i] : NULL;
    if (!cm_has(call, i) || (t != NULL && (t->count != 1 || !(cm_tensor_number(t, 0) >= 0))))
      return cm_call_fail(call, error, "input %u should be one number from 0 on", i);
    if (i == 2 && t != NULL && !(cm_tensor_number(t, 0) > 0))
      return cm_call_fail(call, error, "needs a sample rate");
  }
  return CM_OK;
}

cm_status cm_shape_mel_weights(cm_call *call, cm_error *error)
{
  int64_t bins, length;
  CM_TRY(need_frequencies(call, error));
  CM_TRY(read_length(call, 0, &bins, error));
  CM_TRY(read_length(call, 1, &length, error));
  call->output[0] = (cm_shape){.type = made_type(call), .rank = 2, .dims = {length < 0 ? length : length / 2 + 1, bins}};
  return CM_OK;
}

/* The triangles of ONNX's reference: edges are spaced evenly in mels and rounded down to bins of the spectrum. */
static int64_t mel_edge(const cm_call *call, int64_t i, int64_t bins, int64_t length)
{
  double low = 2595 * log10(1 + cm_tensor_number(call->value[3], 0) / 700),
         high = 2595 * log10(1 + cm_tensor_number(call->value[4], 0) / 700),
         mel = (double)i * ((high - low) / (double)(bins + 2)) + low, hertz = 700 * (pow(10, mel / 2595) - 1);
  return (int64_t)floor((double)(length + 1) * hertz / cm_tensor_number(call->value[2], 0));
}

cm_status cm_kernel_mel_weights(cm_call *call, cm_error *error)
{
  cm_tensor *y = call->result[0];
  int64_t rows = y->dims[0], bins = y->dims[1], length = cm_tensor_integer(call->value[1], 0);
  (void)error;
  for (int64_t b = 0; b < bins; b++) {
    int64_t low = mel_edge(call, b, bins, length), peak = mel_edge(call, b + 1, bins, length),
            high = mel_edge(call, b + 2, bins, length);
    for (int64_t r = 0; r < rows; r++) {
      double w = r == peak ? 1 : r > low && r < peak ? (double)(r - low) / (double)(peak - low)
               : r > peak && r < high ? (double)(high - r) / (double)(high - peak) : 0;
      cm_tensor_put_number(y, (uint64_t)(r * bins + b), w, false);
    }
  }
  return CM_OK;
}
