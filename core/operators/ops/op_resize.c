/* Resize (and Upsample, its forerunner): separable, one axis after another, each output element a weighted sum of
 * neighbours (ONNX operator specification, Resize). */
#include <math.h>
#include <string.h>

#include "core/operators/ops/window.h"

typedef enum mode { NEAREST, LINEAR, CUBIC } mode;

enum { TAPS_MAX = 4096, SIZE_MOST = 100000000 };

typedef struct resizing {
  mode mode;
  bool antialias, exclude_outside, crop;
  const char *coordinates, *nearest;
  double cubic_a, extrapolation;
  double scale[CM_RANK_MAX], from[CM_RANK_MAX], to[CM_RANK_MAX]; /* per axis; from and to: the region of interest */
  int64_t size[CM_RANK_MAX];
  cm_piece_place place; /* of a piece; extents are what is made of every axis, of a whole one as well */
} resizing;

static mode mode_of(const char *text)
{
  return strcmp(text, "linear") == 0 || strcmp(text, "bilinear") == 0 ? LINEAR : strcmp(text, "cubic") == 0 ? CUBIC : NEAREST;
}

/* The inputs' places moved over the opsets: Upsample and Resize 10 have (X, scales), later (X, roi, scales, sizes). */
static uint32_t scales_place(const cm_call *call)
{
  return call->opset < 11 ? 1 : 2;
}

static cm_status read_axes(const cm_call *call, uint32_t rank, uint32_t *axes, uint32_t *count, cm_error *error)
{
  const cm_attribute *a = cm_node_attribute(call->node, "axes");
  *count = a != NULL ? (uint32_t)a->count : rank;
  if (*count > rank)
    return cm_call_fail(call, error, "names %u axes of %u", *count, rank);
  for (uint32_t i = 0; i < *count; i++)
    if (a == NULL)
      axes[i] = i;
    else if (cm_call_axis(call, a->integers[i], rank, &axes[i], error) != CM_OK)
      return error->status;
  return CM_OK;
}

/* Sizes under a policy that keeps the aspect ratio: one scale for all named axes. */
static void keep_aspect(const cm_call *call, const cm_shape *x, const uint32_t *axes, uint32_t count, resizing *r)
{
  const char *policy = cm_node_text(call->node, "keep_aspect_ratio_policy", "stretch");
  if (strcmp(policy, "stretch") == 0 || count == 0)
    return;
  double scale = r->scale[axes[0]];
  for (uint32_t i = 1; i < count; i++)
    scale = strcmp(policy, "not_larger") == 0 ? fmin(scale, r->scale[axes[i]]) : fmax(scale, r->scale[axes[i]]);
  for (uint32_t i = 0; i < count; i++) {
    r->scale[axes[i]] = scale;
    r->size[axes[i]] = (int64_t)fmax(-1, fmin(floor(scale * (double)x->dims[axes[i]] + 0.5), SIZE_MOST + 1.0));
  }
}

static cm_status read_whole(const cm_call *call, const cm_shape *x, resizing *r, bool *known, cm_error *error)
{
  uint32_t axes[CM_RANK_MAX], count, place = scales_place(call);
  const cm_attribute *attribute = cm_node_attribute(call->node, "scales");
  const cm_tensor *scales = cm_has(call, place) ? call->value[place] : NULL,
                  *sizes = place == 2 && cm_has(call, 3) ? call->value[3] : NULL,
                  *roi = place == 2 && cm_has(call, 1) ? call->value[1] : NULL;
  bool old = place == 1;
  *r = (resizing){.mode = mode_of(cm_node_text(call->node, "mode", "nearest")),
                  .antialias = cm_node_integer(call->node, "antialias", 0) != 0,
                  .exclude_outside = cm_node_integer(call->node, "exclude_outside", 0) != 0,
                  .coordinates = cm_node_text(call->node, "coordinate_transformation_mode", old ? "asymmetric" : "half_pixel"),
                  .nearest = cm_node_text(call->node, "nearest_mode", old ? "floor" : "round_prefer_floor"),
                  .cubic_a = (double)cm_node_number(call->node, "cubic_coeff_a", -0.75F),
                  .extrapolation = (double)cm_node_number(call->node, "extrapolation_value", 0)};
  r->crop = strcmp(r->coordinates, "tf_crop_and_resize") == 0;
  *known = scales != NULL || sizes != NULL || attribute != NULL;
  if (!*known || !cm_shape_known(x)) {
    *known = false;
    return CM_OK;
  }
  CM_TRY(read_axes(call, x->rank, axes, &count, error));
  for (uint32_t i = 0; i < x->rank; i++) {
    r->scale[i] = r->to[i] = 1;
    r->size[i] = x->dims[i];
  }
  /* Scales without elements stand for none: the sizes count, once they are known. */
  if (scales != NULL && scales->count == 0 && sizes == NULL && place == 2 && cm_has(call, 3)) {
    *known = false;
    return CM_OK;
  }
  bool by_size = sizes != NULL && sizes->count > 0;
  uint64_t given = by_size ? sizes->count : scales != NULL ? scales->count : attribute != NULL ? attribute->count : 0;
  if (given != count)
    return cm_call_fail(call, error, "%llu scales or sizes do not go with %u axes", (unsigned long long)given, count);
  for (uint32_t i = 0; i < count; i++) {
    double extent = (double)x->dims[axes[i]];
    if (by_size) {
      r->size[axes[i]] = cm_tensor_integer(sizes, i);
      r->scale[axes[i]] = extent > 0 ? (double)r->size[axes[i]] / extent : 1;
    } else {
      r->scale[axes[i]] = scales != NULL ? cm_tensor_number(scales, i) : (double)attribute->numbers[i];
      double size = floor(r->scale[axes[i]] * extent);
      if (!(r->scale[axes[i]] > 0) || size > SIZE_MOST)
        return cm_call_fail(call, error, "has a scale of %g", r->scale[axes[i]]);
      r->size[axes[i]] = (int64_t)size;
    }
    if (r->crop && roi != NULL && roi->count == (uint64_t)2 * count) {
      r->from[axes[i]] = cm_tensor_number(roi, i);
      r->to[axes[i]] = cm_tensor_number(roi, i + count);
      if (!(fabs(r->from[axes[i]]) <= SIZE_MOST && fabs(r->to[axes[i]]) <= SIZE_MOST))
        return cm_call_fail(call, error, "has a region from %g to %g", r->from[axes[i]], r->to[axes[i]]);
    }
  }
  if (by_size)
    keep_aspect(call, x, axes, count, r);
  for (uint32_t i = 0; i < x->rank; i++)
    if (r->size[i] != x->dims[i] && (r->size[i] < 0 || r->size[i] > SIZE_MOST || x->dims[i] == 0))
      return cm_call_fail(call, error, "has a size of %lld, from %lld", (long long)r->size[i], (long long)x->dims[i]);
  return CM_OK;
}

static cm_status read_resizing(const cm_call *call, const cm_shape *x, resizing *r, bool *known, cm_error *error)
{
  cm_piece_place place;
  cm_shape whole = *x;
  bool piece = cm_call_place(call, &place);
  memcpy(whole.dims, place.whole, place.rank * sizeof *place.whole);
  CM_TRY(read_whole(call, &whole, r, known, error));
  r->place = place;
  if (!piece)
    memcpy(r->place.extent, r->size, sizeof r->size);
  return CM_OK;
}

cm_status cm_shape_resize(cm_call *call, cm_error *error)
{
  const cm_shape *x = &call->input[0];
  resizing r;
  bool known;
  call->output[0] = *x;
  if (x->rank == CM_UNKNOWN_RANK)
    return CM_OK;
  CM_TRY(read_resizing(call, x, &r, &known, error));
  for (uint32_t i = 0; i < x->rank; i++)
    call->output[0].dims[i] = known ? r.place.extent[i] : CM_UNKNOWN_DIM;
  return CM_OK;
}

/* Where output element `x` of an axis lies in the input. */
static double origin(const resizing *r, uint32_t axis, int64_t extent, int64_t x)
{
  double scale = r->scale[axis], in = (double)extent, out = scale * in, at = (double)x;
  const char *c = r->coordinates;
  if (strcmp(c, "align_corners") == 0)
    return out == 1 ? 0 : at * (in - 1) / (out - 1);
  if (strcmp(c, "asymmetric") == 0)
    return at / scale;
  if (strcmp(c, "tf_half_pixel_for_nn") == 0)
    return (at + 0.5) / scale;
  if (r->crop) {
    double span = (r->to[axis] - r->from[axis]) * (in - 1);
    return r->from[axis] * (in - 1) + (r->size[axis] == 1 ? span / 2 : at * span / (double)(r->size[axis] - 1));
  }
  if (strcmp(c, "pytorch_half_pixel") == 0 && r->size[axis] == 1)
    return -0.5;
  if (strcmp(c, "half_pixel_symmetric") == 0)
    return in / 2 * (1 - (double)r->size[axis] / out) + (at + 0.5) / scale - 0.5;
  return (at + 0.5) / scale - 0.5;
}

double cm_cubic_weight(double x, double a)
{
  x = fabs(x);
  return x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/* Weights of the input elements around `at`; the first one's index comes in *first, their number is returned. */
static int weigh(const resizing *r, uint32_t axis, int64_t extent, double at, double *weights, int64_t *first)
{
  /* The neighbour on the left is strictly left of `at`, so that its share is below 1. */
  int64_t left = (int64_t)ceil(at) - 1;
  double ratio = at - (double)left, scale = r->antialias ? fmin(r->scale[axis], 1) : 1, sum = 0;
  if (r->mode == NEAREST) {
    const char *n = r->nearest;
    bool right = ratio == 1 || strcmp(n, "ceil") == 0 ||
                 (strcmp(n, "floor") != 0 && (strcmp(n, "round_prefer_ceil") == 0 ? ratio >= 0.5 : ratio > 0.5));
    weights[0] = 1;
    *first = left + right;
    return 1;
  }
  int start = (int)floor(-(r->mode == LINEAR ? 1 : 2) / scale) + 1, count = 2 - 2 * start;
  if (count > TAPS_MAX)
    count = TAPS_MAX;
  for (int i = 0; i < count; i++) {
    double d = (start + i - ratio) * scale;
    weights[i] = r->mode == LINEAR ? fmax(0, 1 - fabs(d)) : cm_cubic_weight(d, r->cubic_a);
    if (r->exclude_outside && (left + start + i < 0 || left + start + i >= extent))
      weights[i] = 0;
    sum += weights[i];
  }
  for (int i = 0; i < count && (r->antialias || r->exclude_outside); i++)
    weights[i] /= sum;
  *first = left + start;
  return count;
}

static int64_t clamp(int64_t x, int64_t low, int64_t high)
{
  return x < low ? low : x > high ? high : x;
}

/* An axis of which every element of the output is the one at its place of the input. */
static bool is_kept(const resizing *r, uint32_t axis)
{
  return r->size[axis] == r->place.whole[axis] && r->scale[axis] == 1 && !r->crop;
}

bool cm_resize_reads(const cm_call *call, uint32_t axis, int64_t from, int64_t to, int64_t reads[2])
{
  double weights[TAPS_MAX];
  resizing r;
  bool known;
  cm_error ignored;
  if (read_resizing(call, &call->input[0], &r, &known, &ignored) != CM_OK || !known || axis >= r.place.rank)
    return false;
  if (is_kept(&r, axis)) {
    reads[0] = from;
    reads[1] = to;
    return true;
  }
  /* Where an element lies in the input rises or falls all along an axis, so that the ends say what is read between. */
  const int64_t extent = r.place.whole[axis], ends[2] = {from, to - 1};
  for (int i = 0; i < 2; i++) {
    int64_t first;
    int count = weigh(&r, axis, extent, origin(&r, axis, extent, ends[i]), weights, &first);
    int64_t low = clamp(first, 0, extent - 1), high = clamp(first + count - 1, 0, extent - 1) + 1;
    reads[0] = i == 0 || low < reads[0] ? low : reads[0];
    reads[1] = i == 0 || high > reads[1] ? high : reads[1];
  }
  return true;
}

uint64_t cm_resize_taps(const cm_call *call, uint32_t axis)
{
  double weights[TAPS_MAX];
  resizing r;
  bool known;
  cm_error ignored;
  int64_t first;
  if (read_resizing(call, &call->input[0], &r, &known, &ignored) != CM_OK || !known || axis >= r.place.rank || is_kept(&r, axis))
    return 0;
  return (uint64_t)weigh(&r, axis, r.place.whole[axis], 0, weights, &first);
}

bool cm_resize_weights(const cm_call *call, uint32_t axis, int64_t x, cm_taps *taps)
{
  double all[TAPS_MAX];
  resizing r;
  bool known;
  cm_error ignored;
  int64_t first;
  if (read_resizing(call, &call->input[0], &r, &known, &ignored) != CM_OK || !known || r.crop)
    return false;
  const int64_t whole = r.place.whole[axis];
  taps->count = (uint32_t)weigh(&r, axis, whole, origin(&r, axis, whole, x + r.place.out_from[axis]), all, &first);
  if (taps->count > CM_TAPS_MOST)
    return false;
  memcpy(taps->weights, all, taps->count * sizeof *all);
  for (uint32_t k = 0; k < taps->count; k++)
    taps->places[k] = clamp(clamp(first + k, 0, whole - 1) - r.place.from[axis], 0, call->input[0].dims[axis] - 1);
  return true;
}

/* Resizes one axis of a [outer, extent, inner] block. */
static void resize_axis(const resizing *r, uint32_t axis, int64_t outer, int64_t extent, int64_t inner,
                        const double *in, double *out)
{
  double weights[TAPS_MAX];
  const int64_t whole = r->place.whole[axis], begin = r->place.from[axis];
  for (int64_t x = 0; x < r->place.extent[axis]; x++) {
    int64_t first;
    int count = weigh(r, axis, whole, origin(r, axis, whole, x + r->place.out_from[axis]), weights, &first);
    for (int64_t o = 0; o < outer; o++)
      for (int64_t i = 0; i < inner; i++) {
        double sum = 0;
        for (int k = 0; k < count; k++) {
          int64_t p = clamp(clamp(first + k, 0, whole - 1) - begin, 0, extent - 1);
          sum += weights[k] * in[(o * extent + p) * inner + i];
        }
        out[(o * r->place.extent[axis] + x) * inner + i] = sum;
      }
  }
}

/* Cropping: what lies outside the input takes the extrapolation value. */
static void mark_outside(const resizing *r, cm_tensor *y)
{
  int64_t index[CM_RANK_MAX] = {0};
  for (uint64_t k = 0; k < y->count; k++) {
    bool outside = false;
    for (uint32_t i = 0; i < y->rank; i++) {
      double at = origin(r, i, r->place.whole[i], index[i] + r->place.out_from[i]);
      outside = outside || at < 0 || at > (double)(r->place.whole[i] - 1);
    }
    if (outside)
      ((float *)y->data)[k] = (float)r->extrapolation;
    (void)cm_next_index(y->rank, y->dims, index);
  }
}

cm_status cm_kernel_resize(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  cm_tensor *y = call->result[0];
  cm_shape shape = cm_shape_of(x);
  resizing r;
  bool known;
  double *now, *next;
  if (x->type != CM_FLOAT)
    return cm_call_bad_type(call, x->type, error);
  CM_TRY(read_resizing(call, &shape, &r, &known, error));
  CM_TRY(CM_NEW(call->memory, now, x->count, error));
  for (uint64_t i = 0; i < x->count; i++)
    now[i] = (double)((const float *)x->data)[i];
  int64_t outer = 1, inner = (int64_t)x->count;
  for (uint32_t axis = 0; axis < x->rank && x->count > 0; axis++) {
    inner /= x->dims[axis];
    if (!is_kept(&r, axis)) {
      CM_TRY_OR(CM_NEW(call->memory, next, outer * r.place.extent[axis] * inner, error), cm_free(now));
      resize_axis(&r, axis, outer, x->dims[axis], inner, now, next);
      cm_free(now);
      now = next;
    }
    outer *= is_kept(&r, axis) ? x->dims[axis] : r.place.extent[axis];
  }
  if (x->count > 0 && (uint64_t)outer != y->count) {
    cm_free(now);
    return cm_call_fail(call, error, "a piece of it does not go with its place");
  }
  for (uint64_t i = 0; i < y->count && x->count > 0; i++)
    ((float *)y->data)[i] = (float)now[i];
  cm_free(now);
  if (r.crop)
    mark_outside(&r, y);
  return CM_OK;
}
