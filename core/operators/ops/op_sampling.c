/* Operators that sample and assemble images: AffineGrid, DeformConv, MaxRoiPool, Col2Im. */
#include <math.h>
#include <string.h>

#include "core/operators/ops/window.h"

/* ---- AffineGrid ---- */

cm_status cm_shape_affine_grid(cm_call *call, cm_error *error)
{
  const cm_shape *theta = &call->input[0];
  int64_t size[5];
  size_t count;
  bool known;
  cm_shape *y = &call->output[0];
  y->type = theta->type;
  CM_TRY(cm_call_integers(call, NULL, 1, size, 5, &count, &known, error));
  if (!known || theta->rank == CM_UNKNOWN_RANK)
    return CM_OK;
  int64_t space = (int64_t)count - 2;
  if ((count != 4 && count != 5) || theta->rank != 3 || (theta->dims[1] >= 0 && theta->dims[1] != space) ||
      (theta->dims[2] >= 0 && theta->dims[2] != space + 1) || (theta->dims[0] >= 0 && theta->dims[0] != size[0]))
    return cm_call_fail(call, error, "its matrices do not go with a size of %zu numbers", count);
  y->rank = (uint32_t)count;
  y->dims[0] = size[0];
  for (size_t i = 1; i + 1 < count; i++)
    y->dims[i] = size[i + 1];
  y->dims[count - 1] = space;
  return CM_OK;
}

cm_status cm_kernel_affine_grid(cm_call *call, cm_error *error)
{
  const cm_tensor *theta = call->value[0];
  cm_tensor *y = call->result[0];
  const uint32_t space = y->rank - 2;
  const bool aligned = cm_node_integer(call->node, "align_corners", 0) != 0;
  int64_t index[CM_RANK_MAX] = {0};
  uint64_t k = 0;
  (void)error;
  if (y->count == 0)
    return CM_OK;
  do {
    double at[4] = {0};
    for (uint32_t i = 0; i < space; i++) { /* the last dimension is x */
      double n = (double)y->dims[i + 1], place = (double)index[i + 1];
      at[space - 1 - i] = !aligned ? (2 * place + 1) / n - 1 : n > 1 ? 2 * place / (n - 1) - 1 : -1;
    }
    at[space] = 1;
    for (uint32_t r = 0; r < space; r++) {
      double sum = 0;
      for (uint32_t c = 0; c <= space; c++)
        sum += at[c] * cm_tensor_number(theta, (uint64_t)((index[0] * (int64_t)space + r) * ((int64_t)space + 1) + c));
      cm_tensor_put_number(y, k++, sum, false);
    }
  } while (cm_next_index(space + 1, y->dims, index));
  return CM_OK;
}

/* ---- DeformConv ---- */

static cm_status deform_window(const cm_call *call, cm_window *w, cm_error *error)
{
  const cm_shape *k = &call->input[1];
  if (k->rank != call->input[0].rank)
    return cm_call_fail(call, error, "its weights have %u dimensions, its input %u", k->rank, call->input[0].rank);
  return cm_window_read(call, &call->input[0], k->dims + 2, false, w, error);
}

static uint64_t count_of(const cm_call *call, uint32_t input)
{
  uint64_t count = 0;
  (void)cm_dims_count(call->input[input].rank, call->input[input].dims, &count);
  return count;
}

cm_status cm_check_deform_conv(const cm_call *call, cm_error *error)
{
  cm_window w;
  cm_piece_place at;
  const cm_shape *x = &call->input[0], *weights = &call->input[1];
  int64_t groups = cm_node_integer(call->node, "group", 1), offset_groups = cm_node_integer(call->node, "offset_group", 1);
  if (x->rank != 4)
    return cm_call_fail(call, error, "samples %u dimensions; images of 2 are computed", x->rank - 2);
  CM_TRY(deform_window(call, &w, error));
  const int64_t *extents = cm_call_place(call, &at) ? at.extent + 2 : w.out;
  uint64_t places = offset_groups > 0 ? (uint64_t)(w.kernel[0] * w.kernel[1] * offset_groups * x->dims[0] * extents[0] * extents[1]) : 0;
  if (groups < 1 || offset_groups < 1 || x->dims[1] % offset_groups != 0 || weights->dims[1] * groups != x->dims[1] ||
      weights->dims[0] % groups != 0 || count_of(call, 2) != 2 * places || (cm_has(call, 4) && count_of(call, 4) != places))
    return cm_call_fail(call, error, "its groups, offsets or mask do not go together");
  return cm_call_need_lists(call, 3, 4, weights->dims[0], error);
}

cm_status cm_shape_deform_conv(cm_call *call, cm_error *error)
{
  cm_window w;
  cm_piece_place piece;
  cm_shape *y = &call->output[0];
  *y = call->input[0];
  if (y->rank == CM_UNKNOWN_RANK || call->input[1].rank == CM_UNKNOWN_RANK)
    return CM_OK;
  CM_TRY(deform_window(call, &w, error));
  y->dims[1] = call->input[1].dims[0];
  memcpy(y->dims + 2, w.out, w.rank * sizeof *w.out);
  if (cm_call_place(call, &piece))
    memcpy(y->dims, piece.extent, sizeof y->dims);
  return CM_OK;
}

/* Bilinear between the pixels of a plane; outside of it there is nothing. */
static double between(const float *plane, int64_t height, int64_t width, double y, double x)
{
  double sum = 0, fy = floor(y), fx = floor(x);
  for (int i = 0; i < 4; i++) {
    double py = fy + (i >> 1), px = fx + (i & 1);
    if (py >= 0 && px >= 0 && py < (double)height && px < (double)width)
      sum += (1 - fabs(y - py)) * (1 - fabs(x - px)) * (double)plane[(int64_t)py * width + (int64_t)px];
  }
  return sum;
}

typedef struct deforming {
  cm_window w;
  cm_piece_place at;
  const cm_tensor *x, *weights, *offset, *mask; /* mask: NULL for none */
  int64_t height, width;                        /* of the output */
  int64_t offset_groups, channels;              /* channels of a group of filters */
} deforming;

/* One output element: filter f, which reads channels from `first` on. */
static double deformed(const deforming *d, int64_t n, int64_t f, int64_t first, int64_t row, int64_t column)
{
  const int64_t cells = d->w.kernel[0] * d->w.kernel[1], area = d->height * d->width, here = row * d->width + column,
                each = d->x->dims[1] / d->offset_groups;
  double sum = 0;
  for (int64_t c = 0; c < d->channels; c++) {
    int64_t channel = first + c, group = channel / each;
    const float *plane = (const float *)d->x->data + (n * d->x->dims[1] + channel) * d->x->dims[2] * d->x->dims[3];
    for (int64_t k = 0; k < cells; k++) {
      int64_t cell = (n * d->offset_groups + group) * cells + k;
      const float *shift = (const float *)d->offset->data + 2 * cell * area + here;
      double y = (double)((row + d->at.out_from[2]) * d->w.stride[0] - d->w.before[0] + k / d->w.kernel[1] * d->w.dilation[0]) +
                 (double)shift[0],
             x = (double)((column + d->at.out_from[3]) * d->w.stride[1] - d->w.before[1] + k % d->w.kernel[1] * d->w.dilation[1]) +
                 (double)shift[area],
             value = between(plane, d->x->dims[2], d->x->dims[3], y, x) *
                     (double)((const float *)d->weights->data)[(f * d->channels + c) * cells + k];
      sum += d->mask != NULL ? value * (double)((const float *)d->mask->data)[cell * area + here] : value;
    }
  }
  return sum;
}

cm_status cm_kernel_deform_conv(cm_call *call, cm_error *error)
{
  deforming d = {.x = call->value[0], .weights = call->value[1], .offset = call->value[2],
                 .mask = cm_has(call, 4) ? call->value[4] : NULL, .offset_groups = cm_node_integer(call->node, "offset_group", 1)};
  const cm_tensor *bias = cm_has(call, 3) ? call->value[3] : NULL;
  cm_tensor *y = call->result[0];
  int64_t groups = cm_node_integer(call->node, "group", 1);
  uint64_t to = 0;
  CM_TRY(deform_window(call, &d.w, error));
  (void)cm_call_place(call, &d.at);
  d.height = y->dims[2];
  d.width = y->dims[3];
  d.channels = d.weights->dims[1];
  for (int64_t n = 0; n < y->dims[0]; n++)
    for (int64_t f = 0; f < y->dims[1]; f++)
      for (int64_t p = 0; p < d.height * d.width; p++)
        ((float *)y->data)[to++] = (float)(deformed(&d, n, f, f / (y->dims[1] / groups) * d.channels, p / d.width, p % d.width) +
                                           (bias != NULL ? (double)((const float *)bias->data)[f] : 0));
  return CM_OK;
}

/* ---- MaxRoiPool ---- */

cm_status cm_shape_max_roi_pool(cm_call *call, cm_error *error)
{
  const cm_attribute *pooled = cm_node_attribute(call->node, "pooled_shape");
  const cm_shape *x = &call->input[0];
  cm_shape *y = &call->output[0];
  if (pooled == NULL || pooled->count != 2 || pooled->integers[0] < 1 || pooled->integers[1] < 1)
    return cm_call_fail(call, error, "needs regions and a pooled_shape of two numbers");
  const cm_shape *rois = &call->input[1];
  *y = *x;
  if (x->rank == CM_UNKNOWN_RANK || rois->rank == CM_UNKNOWN_RANK)
    return CM_OK;
  if (x->rank != 4 || rois->rank != 2 || (rois->dims[1] >= 0 && rois->dims[1] != 5))
    return cm_call_fail(call, error, "needs images of 4 dimensions and regions of 5 numbers");
  for (int64_t r = 0; call->value[1] != NULL && x->dims[0] >= 0 && r < rois->dims[0]; r++) {
    double image = cm_tensor_number(call->value[1], (uint64_t)(5 * r));
    if (!(image >= 0 && image < (double)x->dims[0]))
      return cm_call_fail(call, error, "image %g is not within %lld", image, (long long)x->dims[0]);
  }
  y->dims[0] = rois->dims[0];
  y->dims[2] = pooled->integers[0];
  y->dims[3] = pooled->integers[1];
  return CM_OK;
}

static int64_t bounded(double x, int64_t most)
{
  return x < 0 ? 0 : x > (double)most ? most : (int64_t)x;
}

cm_status cm_kernel_max_roi_pool(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0], *rois = call->value[1];
  cm_tensor *y = call->result[0];
  const float scale = cm_node_number(call->node, "spatial_scale", 1); /* products in float32 decide what is rounded up */
  const int64_t rows = y->dims[2], columns = y->dims[3], height = x->dims[2], width = x->dims[3];
  uint64_t to = 0;
  (void)error;
  for (int64_t r = 0; r < rois->dims[0]; r++) {
    const float *at = (const float *)rois->data + 5 * r;
    double left = (double)roundf(at[1] * scale), top = (double)roundf(at[2] * scale),
           wide = fmax((double)roundf(at[3] * scale) - left + 1, 1), high = fmax((double)roundf(at[4] * scale) - top + 1, 1);
    for (int64_t c = 0; c < x->dims[1]; c++) {
      const float *plane = (const float *)x->data + ((int64_t)at[0] * x->dims[1] + c) * height * width;
      for (int64_t p = 0; p < rows * columns; p++) {
        double i = (double)(p / columns), j = (double)(p % columns);
        int64_t y1 = bounded(floor(i * high / (double)rows) + top, height), y2 = bounded(ceil((i + 1) * high / (double)rows) + top, height),
                x1 = bounded(floor(j * wide / (double)columns) + left, width),
                x2 = bounded(ceil((j + 1) * wide / (double)columns) + left, width);
        float most = y1 < y2 && x1 < x2 ? -INFINITY : 0;
        for (int64_t k = y1; k < y2; k++)
          for (int64_t l = x1; l < x2; l++)
            most = plane[k * width + l] > most ? plane[k * width + l] : most;
        ((float *)y->data)[to++] = most;
      }
    }
  }
  return CM_OK;
}

/* ---- Col2Im ---- */

/* The image and the blocks, which are inputs, as a window; false while they are not known. */
static cm_status image_window(const cm_call *call, cm_window *w, int64_t *image, bool *known, cm_error *error)
{
  int64_t block[CM_RANK_MAX];
  size_t count, blocks;
  bool other;
  CM_TRY(cm_call_integers(call, NULL, 1, image, CM_RANK_MAX - 2, &count, known, error));
  CM_TRY(cm_call_integers(call, NULL, 2, block, CM_RANK_MAX - 2, &blocks, &other, error));
  *known = *known && other;
  if (!*known)
    return CM_OK;
  if (count != blocks || count == 0)
    return cm_call_fail(call, error, "has an image of %zu and blocks of %zu dimensions", count, blocks);
  CM_TRY(cm_window_attributes(call, (uint32_t)count, w, error));
  for (uint32_t i = 0; i < w->rank; i++) {
    int64_t room = image[i] + w->before[i] + w->after[i] - w->dilation[i] * (block[i] - 1) - 1;
    if (block[i] < 1 || image[i] < 1 || room < 0)
      return cm_call_fail(call, error, "blocks of %lld do not fit into %lld with padding", (long long)block[i], (long long)image[i]);
    w->kernel[i] = block[i];
    w->out[i] = room / w->stride[i] + 1;
  }
  return CM_OK;
}

cm_status cm_shape_col2im(cm_call *call, cm_error *error)
{
  const cm_shape *x = &call->input[0];
  cm_shape *y = &call->output[0];
  int64_t image[CM_RANK_MAX], cells = 1, blocks = 1;
  bool known;
  cm_window w;
  y->type = x->type;
  CM_TRY(image_window(call, &w, image, &known, error));
  if (!known || x->rank == CM_UNKNOWN_RANK)
    return CM_OK;
  for (uint32_t i = 0; i < w.rank; i++) {
    cells *= w.kernel[i];
    blocks *= w.out[i];
  }
  if (x->rank != 3 || (x->dims[1] >= 0 && x->dims[1] % cells != 0) || (x->dims[2] >= 0 && x->dims[2] != blocks))
    return cm_call_fail(call, error, "needs columns of a multiple of %lld, and %lld of them", (long long)cells, (long long)blocks);
  y->rank = w.rank + 2;
  y->dims[0] = x->dims[0];
  y->dims[1] = x->dims[1] < 0 ? CM_UNKNOWN_DIM : x->dims[1] / cells;
  memcpy(y->dims + 2, image, w.rank * sizeof *image);
  return CM_OK;
}

cm_status cm_kernel_col2im(cm_call *call, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  cm_tensor *y = call->result[0];
  int64_t image[CM_RANK_MAX], place[CM_RANK_MAX];
  uint64_t from = 0, area = 1;
  bool known;
  cm_window w;
  CM_TRY(image_window(call, &w, image, &known, error));
  for (uint32_t i = 0; i < w.rank; i++)
    area *= (uint64_t)image[i];
  for (uint64_t plane = 0; x->count > 0 && plane < (uint64_t)(y->dims[0] * y->dims[1]); plane++) {
    int64_t cell[CM_RANK_MAX] = {0};
    do {
      memset(place, 0, sizeof place);
      do {
        uint64_t at = 0;
        bool inside = true;
        for (uint32_t i = 0; i < w.rank; i++) {
          int64_t p = place[i] * w.stride[i] - w.before[i] + cell[i] * w.dilation[i];
          inside = inside && p >= 0 && p < image[i];
          at = at * (uint64_t)image[i] + (uint64_t)p;
        }
        if (inside)
          cm_tensor_put_number(y, plane * area + at, cm_tensor_number(y, plane * area + at) + cm_tensor_number(x, from), false);
        from++;
      } while (cm_next_index(w.rank, w.out, place));
    } while (cm_next_index(w.rank, w.kernel, cell));
  }
  return CM_OK;
}
