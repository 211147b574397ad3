/* What a linear node gives for one element of its input. */
#include "core/network/hdf5/nir.h"

static cm_status affine_taps(const nir_node *n, uint64_t at, nir_tap tap, void *user, cm_error *error)
{
  uint64_t outputs = n->weight_shape.dim[0], inputs = n->weight_shape.dim[1], row = at / inputs, column = at % inputs;
  for (uint64_t o = 0; o < outputs; o++)
    CM_TRY(tap(user, row * outputs + o, n->weight[o * inputs + column], 0, error));
  return CM_OK;
}

/* Output along one axis that tap `k` of the window connects with input `at`; -1: none. */
static int64_t along(const nir_axis *a, uint64_t extent, uint64_t at, int64_t k)
{
  int64_t moved = (int64_t)at + a->before - k * a->dilation;
  return moved < 0 || moved % a->stride != 0 || moved / a->stride >= (int64_t)extent ? -1 : moved / a->stride;
}

static cm_status window_taps(const nir_node *n, uint64_t at, nir_tap tap, void *user, cm_error *error)
{
  bool flat = n->in.rank == 2, convolution = n->kind == NIR_CONV;
  uint64_t height = flat ? 1 : n->in.dim[1], width = n->in.dim[n->in.rank - 1];
  uint64_t out_height = flat ? 1 : n->out.dim[1], out_width = n->out.dim[n->out.rank - 1];
  uint64_t channel = at / (height * width), y = at / width % height, x = at % width;
  uint64_t outputs = convolution ? n->weight_shape.dim[0] / (uint64_t)n->groups : 1,
           inputs = convolution ? n->weight_shape.dim[1] : 1, group = channel / inputs;
  double share = n->average ? 1 / (double)(n->axis[0].kernel * n->axis[1].kernel) : 1;
  for (uint64_t k = 0; k < outputs; k++) {
    uint64_t o = convolution ? group * outputs + k : channel;
    for (int64_t i = 0; i < n->axis[0].kernel; i++) {
      int64_t row = along(&n->axis[0], out_height, y, i);
      for (int64_t j = 0; row >= 0 && j < n->axis[1].kernel; j++) {
        int64_t column = along(&n->axis[1], out_width, x, j);
        if (column < 0)
          continue;
        uint64_t weight = ((o * inputs + channel % inputs) * (uint64_t)n->axis[0].kernel + (uint64_t)i) *
                              (uint64_t)n->axis[1].kernel + (uint64_t)j;
        CM_TRY(tap(user, (o * out_height + (uint64_t)row) * out_width + (uint64_t)column, convolution ? n->weight[weight] : share,
                   0, error));
      }
    }
  }
  return CM_OK;
}

cm_status nir_taps(const nir_node *n, uint64_t at, nir_tap tap, void *user, cm_error *error)
{
  switch (n->kind) {
    case NIR_AFFINE: return affine_taps(n, at, tap, user, error);
    case NIR_CONV: case NIR_POOL: return window_taps(n, at, tap, user, error);
    case NIR_SCALE: return tap(user, at, n->weight[nir_broadcast(&n->weight_shape, &n->in, at)], 0, error);
    case NIR_DELAY: return tap(user, at, 1, n->weight[nir_broadcast(&n->weight_shape, &n->in, at)] * 1e3, error);
    case NIR_UNIT: case NIR_IDENTITY: break;
  }
  return tap(user, at, 1, 0, error);
}
