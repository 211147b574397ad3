/* Operators on images and boxes: NonMaxSuppression, GridSample, RoiAlign. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/operators/ops/window.h"

/* ---- NonMaxSuppression ---- */

typedef struct box {
  double y1, x1, y2, x2;
} box;

static box box_at(const cm_tensor *boxes, int64_t at, bool center)
{
  const float *b = (const float *)boxes->data + 4 * at;
  if (center)
    return (box){(double)b[1] - (double)b[3] / 2, (double)b[0] - (double)b[2] / 2, (double)b[1] + (double)b[3] / 2,
                 (double)b[0] + (double)b[2] / 2};
  return (box){fmin((double)b[0], (double)b[2]), fmin((double)b[1], (double)b[3]), fmax((double)b[0], (double)b[2]),
               fmax((double)b[1], (double)b[3])};
}

/* Intersection over union. */
static double overlap(box a, box b)
{
  double height = fmin(a.y2, b.y2) - fmax(a.y1, b.y1), width = fmin(a.x2, b.x2) - fmax(a.x1, b.x1);
  double both = height > 0 && width > 0 ? height * width : 0;
  double all = (a.y2 - a.y1) * (a.x2 - a.x1) + (b.y2 - b.y1) * (b.x2 - b.x1) - both;
  return all > 0 ? both / all : 0;
}

typedef struct candidate {
  float score;
  int64_t place;
} candidate;

static int by_score(const void *first, const void *second)
{
  const candidate *a = first, *b = second;
  return a->score > b->score ? -1 : a->score < b->score ? 1 : a->place < b->place ? -1 : a->place > b->place;
}

static double number_of(const cm_call *call, uint32_t input, double otherwise)
{
  return cm_has(call, input) && call->value[input]->count > 0 ? cm_tensor_number(call->value[input], 0) : otherwise;
}

/* Boxes that stay, as batch, class and box; `list` NULL: they are counted. */
static cm_status suppress(const cm_call *call, int64_t *list, int64_t *count, cm_error *error)
{
  const cm_tensor *boxes = call->value[0], *scores = call->value[1];
  int64_t n = boxes->dims[1], classes = scores->dims[1], most = (int64_t)number_of(call, 2, 0);
  double threshold = number_of(call, 3, 0), least = number_of(call, 4, -INFINITY);
  bool center = cm_node_integer(call->node, "center_point_box", 0) != 0;
  candidate *order;
  *count = 0;
  CM_TRY(CM_NEW(call->memory, order, 2 * n + 1, error));
  candidate *kept = order + n;
  for (int64_t row = 0; row < scores->dims[0] * classes; row++) {
    int64_t found = 0, stay = 0;
    for (int64_t k = 0; k < n; k++) {
      float score = ((const float *)scores->data)[row * n + k];
      if ((double)score > least)
        order[found++] = (candidate){score, k};
    }
    qsort(order, (size_t)found, sizeof *order, by_score);
    for (int64_t k = 0; k < found && stay < most; k++) {
      box b = box_at(boxes, row / classes * n + order[k].place, center);
      bool free = true;
      for (int64_t j = 0; free && j < stay; j++)
        free = overlap(b, box_at(boxes, row / classes * n + kept[j].place, center)) <= threshold;
      if (!free)
        continue;
      kept[stay++] = order[k];
      if (list != NULL)
        memcpy(list + 3 * *count, (int64_t[]){row / classes, row % classes, order[k].place}, 3 * sizeof *list);
      ++*count;
    }
  }
  cm_free(order);
  return CM_OK;
}

cm_status cm_shape_nms(cm_call *call, cm_error *error)
{
  bool known = true;
  const cm_shape *boxes = &call->input[0], *scores = &call->input[1];
  call->output[0] = (cm_shape){.type = CM_INT64, .rank = 2, .dims = {CM_UNKNOWN_DIM, 3}};
  if (cm_shape_known(boxes) && cm_shape_known(scores) &&
      (boxes->rank != 3 || scores->rank != 3 || boxes->dims[2] != 4 || boxes->dims[0] != scores->dims[0] ||
       boxes->dims[1] != scores->dims[2]))
    return cm_call_fail(call, error, "its boxes and scores do not go together");
  for (uint32_t i = 0; i < call->input_count; i++)
    known = known && (!cm_has(call, i) || call->value[i] != NULL);
  return known ? suppress(call, NULL, &call->output[0].dims[0], error) : CM_OK;
}

cm_status cm_kernel_nms(cm_call *call, cm_error *error)
{
  int64_t count;
  return suppress(call, call->result[0]->data, &count, error);
}

/* ---- GridSample ---- */

typedef enum border { ZEROS, EDGE, REFLECTION } border;

typedef struct sampler {
  border border;
  bool aligned;
  int64_t height, width;
  const float *plane;
} sampler;

cm_status cm_shape_grid_sample(cm_call *call, cm_error *error)
{
  const cm_shape *x = &call->input[0], *grid = &call->input[1];
  call->output[0] = *x;
  if (x->rank == CM_UNKNOWN_RANK || grid->rank == CM_UNKNOWN_RANK)
    return CM_OK;
  if (x->rank != grid->rank || x->rank < 3 || (grid->dims[x->rank - 1] >= 0 && grid->dims[x->rank - 1] != (int64_t)x->rank - 2))
    return cm_call_fail(call, error, "a grid of rank %u does not go with an input of rank %u", grid->rank, x->rank);
  if (x->dims[0] >= 0 && grid->dims[0] >= 0 && x->dims[0] != grid->dims[0])
    return cm_call_fail(call, error, "its grid is for another number of images");
  for (uint32_t i = 2; i < x->rank; i++)
    call->output[0].dims[i] = grid->dims[i - 1];
  return CM_OK;
}

/* 0: linear, 1: nearest, 2: cubic; the names changed in opset 20. */
static int sampling_of(const cm_call *call)
{
  static const char *const names[] = {"bilinear", "nearest", "bicubic", "linear", "nearest", "cubic"};
  const char *mode = cm_node_text(call->node, "mode", "bilinear");
  for (int i = 0; i < 6; i++)
    if (strcmp(names[i], mode) == 0)
      return i % 3;
  return -1;
}

cm_status cm_check_grid_sample(const cm_call *call, cm_error *error)
{
  if (call->input[0].rank != 4)
    return cm_call_fail(call, error, "samples %u dimensions; images of 2 are computed", call->input[0].rank - 2);
  return sampling_of(call) >= 0 ? CM_OK
                                : cm_call_fail(call, error, "has the mode '%.20s', which is not computed",
                                               cm_node_text(call->node, "mode", ""));
}

static double reflect(double x, double low, double high)
{
  double range = high - low;
  if (range <= 0)
    return low;
  x = fmod(fabs(x - low), 2 * range);
  return low + (x > range ? 2 * range - x : x);
}

/* A coordinate brought inside, where the border says so. */
static double inside(const sampler *s, double x, int64_t extent)
{
  double low = s->aligned ? 0 : -0.5, high = s->aligned ? (double)extent - 1 : (double)extent - 0.5;
  if (x >= low && x <= high)
    return x;
  return s->border == EDGE ? fmin(fmax(x, 0), (double)extent - 1) : s->border == REFLECTION ? reflect(x, low, high) : x;
}

static double pixel(const sampler *s, double y, double x)
{
  if (s->border != ZEROS) {
    y = fmin(fmax(trunc(inside(s, y, s->height)), 0), (double)s->height - 1);
    x = fmin(fmax(trunc(inside(s, x, s->width)), 0), (double)s->width - 1);
  }
  bool there = y >= 0 && x >= 0 && y < (double)s->height && x < (double)s->width;
  return there ? (double)s->plane[(int64_t)y * s->width + (int64_t)x] : 0;
}

static void cubic_weights(double t, double *w)
{
  for (int i = 0; i < 4; i++)
    w[i] = cm_cubic_weight(i < 2 ? t + 1 - i : 1 - t + (i - 2), -0.75);
}

static double sample(const sampler *s, int mode, double y, double x)
{
  double wy[4], wx[4], sum = 0;
  if (mode == 1)
    return pixel(s, y, x);
  int count = mode == 2 ? 4 : 2, first = mode == 2 ? -1 : 0;
  double fy = floor(y), fx = floor(x);
  if (mode == 2) {
    cubic_weights(y - fy, wy);
    cubic_weights(x - fx, wx);
  } else {
    wy[0] = 1 - (y - fy), wy[1] = y - fy;
    wx[0] = 1 - (x - fx), wx[1] = x - fx;
  }
  for (int i = 0; i < count; i++)
    for (int j = 0; j < count; j++)
      sum += wy[i] * wx[j] * pixel(s, fy + i + first, fx + j + first);
  return sum;
}

cm_status cm_kernel_grid_sample(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0], *grid = call->value[1];
  const cm_tensor *y = call->result[0];
  (void)error;
  const char *padding = cm_node_text(call->node, "padding_mode", "zeros");
  int mode = sampling_of(call);
  sampler s = {.aligned = cm_node_integer(call->node, "align_corners", 0) != 0, .height = x->dims[2], .width = x->dims[3],
               .border = strcmp(padding, "border") == 0 ? EDGE : strcmp(padding, "reflection") == 0 ? REFLECTION : ZEROS};
  int64_t points = y->dims[2] * y->dims[3], channels = x->dims[1];
  for (int64_t n = 0; n < x->dims[0]; n++)
    for (int64_t p = 0; p < points; p++) {
      const float *at = (const float *)grid->data + (n * points + p) * 2;
      double h = (double)s.height, w = (double)s.width;
      double px = s.aligned ? ((double)at[0] + 1) / 2 * (w - 1) : (((double)at[0] + 1) * w - 1) / 2,
             py = s.aligned ? ((double)at[1] + 1) / 2 * (h - 1) : (((double)at[1] + 1) * h - 1) / 2;
      px = inside(&s, mode == 1 ? nearbyint(px) : px, s.width);
      py = inside(&s, mode == 1 ? nearbyint(py) : py, s.height);
      for (int64_t c = 0; c < channels; c++) {
        s.plane = (const float *)x->data + (n * channels + c) * s.height * s.width;
        ((float *)y->data)[(n * channels + c) * points + p] = (float)sample(&s, mode, py, px);
      }
    }
  return CM_OK;
}

/* ---- RoiAlign ---- */

cm_status cm_shape_roi_align(cm_call *call, cm_error *error)
{
  const cm_shape *x = &call->input[0], *rois = &call->input[1];
  call->output[0] = *x;
  if (x->rank == CM_UNKNOWN_RANK || rois->rank == CM_UNKNOWN_RANK)
    return CM_OK;
  if (x->rank != 4 || rois->rank != 2 || (rois->dims[1] >= 0 && rois->dims[1] != 4))
    return cm_call_fail(call, error, "needs images of 4 dimensions and regions of 4 numbers");
  call->output[0].dims[0] = rois->dims[0];
  call->output[0].dims[2] = cm_node_integer(call->node, "output_height", 1);
  call->output[0].dims[3] = cm_node_integer(call->node, "output_width", 1);
  int64_t sampling = cm_node_integer(call->node, "sampling_ratio", 0);
  if (call->output[0].dims[2] < 1 || call->output[0].dims[3] < 1 || sampling < 0 || sampling > 1024)
    return cm_call_fail(call, error, "its output has no extent, or it samples what makes no sense");
  for (uint64_t i = 0; call->value[2] != NULL && x->dims[0] >= 0 && i < call->value[2]->count; i++) {
    int64_t image = cm_tensor_integer(call->value[2], i);
    if (image < 0 || image >= x->dims[0])
      return cm_call_fail(call, error, "image %lld is not within %lld", (long long)image, (long long)x->dims[0]);
  }
  return cm_call_need_lists(call, 2, 3, rois->dims[0], error); /* an image for each */
}

/* Bilinear at a place of a plane, or with `most` the largest of the four weighted corners. */
static double roi_point(const sampler *s, double y, double x, bool most)
{
  double h = (double)s->height, w = (double)s->width;
  if (y < -1 || y > h || x < -1 || x > w)
    return 0;
  y = fmin(fmax(y, 0), h - 1);
  x = fmin(fmax(x, 0), w - 1);
  int64_t y1 = (int64_t)y, x1 = (int64_t)x, y2 = y1 + 1 < s->height ? y1 + 1 : y1, x2 = x1 + 1 < s->width ? x1 + 1 : x1;
  double ly = y - (double)y1, lx = x - (double)x1;
  double corner[4] = {(1 - ly) * (1 - lx) * (double)s->plane[y1 * s->width + x1],
                      (1 - ly) * lx * (double)s->plane[y1 * s->width + x2], ly * (1 - lx) * (double)s->plane[y2 * s->width + x1],
                      ly * lx * (double)s->plane[y2 * s->width + x2]};
  return most ? fmax(fmax(corner[0], corner[1]), fmax(corner[2], corner[3])) : corner[0] + corner[1] + corner[2] + corner[3];
}

typedef struct region {
  double y, x, bin_height, bin_width;
  int64_t rows, columns; /* samples of a bin */
} region;

static double roi_bin(const sampler *s, const region *r, int64_t row, int64_t column, bool most)
{
  double sum = most ? -INFINITY : 0;
  for (int64_t i = 0; i < r->rows; i++)
    for (int64_t j = 0; j < r->columns; j++) {
      double v = roi_point(s, r->y + ((double)row + ((double)i + 0.5) / (double)r->rows) * r->bin_height,
                           r->x + ((double)column + ((double)j + 0.5) / (double)r->columns) * r->bin_width, most);
      sum = most ? fmax(sum, v) : sum + v;
    }
  return most ? (isinf(sum) ? 0 : sum) : sum / fmax((double)(r->rows * r->columns), 1);
}

cm_status cm_kernel_roi_align(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0], *rois = call->value[1], *images = call->value[2];
  cm_tensor *y = call->result[0];
  (void)error;
  bool most = strcmp(cm_node_text(call->node, "mode", "avg"), "max") == 0;
  bool half = strcmp(cm_node_text(call->node, "coordinate_transformation_mode",
                                  call->opset < 16 ? "output_half_pixel" : "half_pixel"), "half_pixel") == 0;
  double scale = (double)cm_node_number(call->node, "spatial_scale", 1), shift = half ? 0.5 : 0;
  int64_t sampling = cm_node_integer(call->node, "sampling_ratio", 0), rows = y->dims[2], columns = y->dims[3], k = 0;
  sampler s = {.height = x->dims[2], .width = x->dims[3]};
  for (int64_t n = 0; n < rois->dims[0]; n++) {
    const float *at = (const float *)rois->data + 4 * n;
    int64_t image = cm_tensor_integer(images, (uint64_t)n);
    region r = {.x = (double)at[0] * scale - shift, .y = (double)at[1] * scale - shift};
    double width = (double)at[2] * scale - shift - r.x, height = (double)at[3] * scale - shift - r.y;
    r.bin_height = (half ? height : fmax(height, 1)) / (double)rows;
    r.bin_width = (half ? width : fmax(width, 1)) / (double)columns;
    r.rows = sampling > 0 ? sampling : (int64_t)fmin(fmax(ceil(r.bin_height), 0), 1024);
    r.columns = sampling > 0 ? sampling : (int64_t)fmin(fmax(ceil(r.bin_width), 0), 1024);
    for (int64_t c = 0; c < x->dims[1]; c++) {
      s.plane = (const float *)x->data + (image * x->dims[1] + c) * s.height * s.width;
      for (int64_t p = 0; p < rows * columns; p++)
        ((float *)y->data)[k++] = (float)roi_bin(&s, &r, p / columns, p % columns, most);
    }
  }
  return CM_OK;
}
