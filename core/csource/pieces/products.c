/* Windows, weights, zero points, scales and blocks. */
#include "core/csource/pieces/products.h"

#include <inttypes.h>
#include <string.h>

#include "core/operators/ops/window.h"

cm_status cm_c_plane_read(const cm_c_piece *piece, const cm_shape *x, const int64_t *kernel, bool ceil_mode, cm_c_plane *p, cm_error *error)
{
  cm_window w;
  CM_TRY(piece->call.node->known->kernel == cm_kernel_conv_transpose ? cm_window_transposed(&piece->call, &w, error)
                                                                     : cm_window_read(&piece->call, x, kernel, ceil_mode, &w, error));
  p->rank = w.rank;
  for (uint32_t i = 0; i < 2; i++) {
    const bool there = i + w.rank >= 2;
    const uint32_t d = there ? i + w.rank - 2 : 0;
    p->in[i] = there ? w.in[d] : 1;
    p->out[i] = there ? w.out[d] : 1;
    p->kernel[i] = there ? w.kernel[d] : 1;
    p->stride[i] = there ? w.stride[d] : 1;
    p->before[i] = there ? w.before[d] : 0;
    p->after[i] = there ? w.after[d] : 0;
    p->dilation[i] = there ? w.dilation[d] : 1;
  }
  return CM_OK;
}

cm_c_factors cm_c_factors_of(const cm_c_piece *piece)
{
  const cm_kernel_function kernel = piece->call.node->known->kernel;
  if (kernel == cm_kernel_qlinear_conv || kernel == cm_kernel_qlinear_matmul)
    return (cm_c_factors){0, 3, 2, 5, 1, 4, 6, 7, kernel == cm_kernel_qlinear_conv ? 8 : CM_NONE};
  if (kernel == cm_kernel_conv_integer || kernel == cm_kernel_matmul_integer)
    return (cm_c_factors){0, 1, 2, 3, CM_NONE, CM_NONE, CM_NONE, CM_NONE, CM_NONE};
  return (cm_c_factors){0, 1, CM_NONE, CM_NONE, CM_NONE, CM_NONE, CM_NONE, CM_NONE, kernel == cm_kernel_matmul ? CM_NONE : 2};
}

static bool is_there(const cm_c_piece *piece, uint32_t input)
{
  return input != CM_NONE && cm_has(&piece->call, input);
}

/* A value that has to be known, one or `count` numbers; left out: NULL. */
static cm_status known(const cm_c_piece *piece, uint32_t input, uint64_t count, const char *what, const cm_tensor **value, cm_error *error)
{
  *value = is_there(piece, input) ? piece->call.value[input] : NULL;
  if (is_there(piece, input) && *value == NULL)
    return cm_c_refuse(piece, error, "has a %s that is no constant", what);
  if (*value != NULL && (*value)->count != 1 && (*value)->count != count)
    return cm_c_refuse(piece, error, "has %llu %ss, where one or %llu are written", (unsigned long long)(*value)->count, what,
                            (unsigned long long)count);
  return CM_OK;
}

static bool all_alike(const cm_tensor *t)
{
  for (uint64_t i = 1; i < t->count; i++)
    if (cm_tensor_integer(t, i) != cm_tensor_integer(t, 0))
      return false;
  return true;
}

static void zero_text(const cm_tensor *zero, char text[16])
{
  const int64_t number = zero != NULL ? cm_tensor_integer(zero, 0) : 0;
  text[0] = '\0';
  if (number != 0)
    (void)snprintf(text, 16, " %c %d", number < 0 ? '+' : '-', (int)(number < 0 ? -number : number));
}

/* ---- weights ---- */

/* Known weights in that order; with `zero`, one a filter, taken off. */
static cm_status known_weights(cm_c_piece *piece, const cm_tensor *w, const cm_tensor *zero, const int64_t dims[3], cm_c_order order, cm_c_product *p, cm_error *error)
{
  const int64_t filters = dims[1], depth = dims[2], count = dims[0] * filters * depth;
  const size_t width = cm_type_bytes(w->type);
  cm_tensor *made;
  p->right_type = zero != NULL ? CM_INT16 : w->type;
  CM_TRY(cm_tensor_new(piece->w->memory, p->right_type, 1, &count, &made, error));
  for (int64_t i = 0; i < count; i++) {
    const int64_t f = i / depth % filters, d = i % depth, group = i / depth / filters;
    const int64_t to = order == CM_C_TRANSPOSED ? (group * depth + d) * filters + f : i, z = order == CM_C_COLUMNS ? i % filters : i / depth;
    if (zero != NULL)
      cm_tensor_put_integer(made, (uint64_t)to, cm_tensor_integer(w, (uint64_t)i) - cm_tensor_integer(zero, (uint64_t)z));
    else
      memcpy((uint8_t *)made->data + (size_t)to * width, (const uint8_t *)w->data + (size_t)i * width, width);
  }
  const cm_status status = cm_c_array(piece->w, made, p->right, error);
  cm_tensor_free(made);
  return status;
}

cm_status cm_c_weights(cm_c_piece *piece, const cm_c_factors *f, const int64_t dims[3], cm_c_order order, cm_c_product *p, cm_error *error)
{
  const int64_t groups = dims[0], filters = dims[1], depth = dims[2], wide[3] = {groups, depth, filters};
  const cm_tensor *zero;
  p->right_type = piece->call.input[f->w].type;
  if (p->right_type != CM_FLOAT && cm_type_bytes(p->right_type) > 1)
    return cm_c_refuse(piece, error, "multiplies %s, where float32 and 8 bits are written", cm_type_name(p->right_type));
  CM_TRY(known(piece, f->w_zero, order == CM_C_COLUMNS ? (uint64_t)filters : (uint64_t)(groups * filters), "zero point", &zero, error));
  const bool differs = zero != NULL && !all_alike(zero);
  zero_text(differs ? NULL : zero, p->right_zero);
  if (piece->call.value[f->w] != NULL)
    return known_weights(piece, piece->call.value[f->w], differs ? zero : NULL, dims, order, p, error);
  if (differs)
    return cm_c_refuse(piece, error, "has zero points that differ for weights that are computed");
  if (order != CM_C_TRANSPOSED)
    return cm_c_input(piece, f->w, p->right, error);
  cm_c_stream from = {.type = p->right_type, .strides = {filters * depth, 1, depth}}, to = {.type = p->right_type};
  CM_TRY(cm_c_input(piece, f->w, from.at, error));
  cm_c_scratch(piece, p->right_type, groups * filters * depth, to.at);
  cm_strides(3, wide, to.strides);
  (void)snprintf(p->right, sizeof p->right, "%s", to.at);
  return cm_c_copy(piece, 3, wide, &to, &from, error);
}

/* ---- sums ---- */

/* The factor from sums to quantized numbers: one as C, or an array. */
static cm_status factor(cm_c_piece *piece, const cm_c_factors *f, cm_c_product *p, char text[120], cm_error *error)
{
  const cm_tensor *x, *w, *y;
  char at[CM_C_AT_MAX];
  cm_tensor *made;
  CM_TRY(known(piece, f->x_scale, 1, "scale", &x, error));
  CM_TRY(known(piece, f->w_scale, (uint64_t)p->filters, "scale", &w, error));
  CM_TRY(known(piece, f->y_scale, 1, "scale", &y, error));
  const int64_t count = (int64_t)w->count;
  CM_TRY(cm_tensor_new(piece->w->memory, CM_FLOAT, 1, &count, &made, error));
  float *numbers = made->data;
  for (int64_t i = 0; i < count; i++)
    numbers[i] = ((const float *)x->data)[0] * ((const float *)w->data)[i] / ((const float *)y->data)[0];
  cm_status status = CM_OK;
  if (count == 1)
    cm_c_number((double)numbers[0], true, text);
  else if ((status = cm_c_array(piece->w, made, at, error)) == CM_OK) {
    cm_c_add(p->more, sizeof p->more, "const float *restrict factor, ");
    cm_c_add(p->more_arguments, sizeof p->more_arguments, "%s, ", at);
    (void)snprintf(text, 120, "factor[%s]", p->filter);
  }
  cm_tensor_free(made);
  return status;
}

cm_status cm_c_sums(cm_c_piece *piece, const cm_c_factors *f, cm_c_product *p, cm_error *error)
{
  const cm_tensor *zero;
  char at[CM_C_AT_MAX], sum[120] = "s", scale[120];
  p->left_type = piece->call.input[f->x].type;
  p->out_type = piece->call.output[0].type;
  if (is_there(piece, f->x_zero) && piece->call.value[f->x_zero] == NULL && cm_c_count(piece->call.input[f->x_zero].rank, piece->call.input[f->x_zero].dims) == 1) {
    CM_TRY(cm_c_input(piece, f->x_zero, at, error));
    cm_c_add(p->more, sizeof p->more, "const %s *restrict left_zero, ", cm_c_type(p->left_type));
    cm_c_add(p->more_arguments, sizeof p->more_arguments, "%s, ", at);
    (void)snprintf(p->left_zero, sizeof p->left_zero, " - left_zero[0]");
  } else {
    CM_TRY(known(piece, f->x_zero, 1, "zero point", &zero, error));
    zero_text(zero, p->left_zero);
  }
  if (is_there(piece, f->bias)) {
    CM_TRY(cm_c_input(piece, f->bias, at, error));
    cm_c_add(p->more, sizeof p->more, "const %s *restrict bias, ", cm_c_type(piece->call.input[f->bias].type));
    cm_c_add(p->more_arguments, sizeof p->more_arguments, "%s, ", at);
    (void)snprintf(sum, sizeof sum, "s + bias[%s]", p->filter);
  }
  if (f->y_scale == CM_NONE) {
    (void)snprintf(p->store, sizeof p->store, "%s", sum);
    return CM_OK;
  }
  CM_TRY(known(piece, f->y_zero, 1, "zero point", &zero, error));
  CM_TRY(factor(piece, f, p, scale, error));
  (void)snprintf(p->store, sizeof p->store, "requantize_%s(%s, %s, %d)", p->out_type == CM_INT8 ? "int8" : "uint8", sum, scale,
                 zero != NULL ? (int)cm_tensor_integer(zero, 0) : 0);
  return CM_OK;
}

/* ---- calls ---- */

static uint32_t power_of_two(int64_t most, uint32_t limit)
{
  uint32_t made = 1;
  while (2 * made <= limit && 2 * (int64_t)made <= most)
    made *= 2;
  return made;
}

void cm_c_blocks(const cm_c_piece *piece, int64_t rows, int64_t columns, cm_c_product *p)
{
  const cm_c_target *t = piece->w->target;
  p->rows = rows < t->rows ? (uint32_t)rows : t->rows;
  /* A window's code is long: for few filters it is that of half as many. */
  const bool half = strcmp(p->kernel, "conv") == 0 && columns < 2 * (int64_t)t->columns;
  p->columns = power_of_two(columns, half ? t->columns / 2 : p->rows == 1 ? t->rows * t->columns / 2 : t->columns);
  cm_c_add(p->fixed, sizeof p->fixed, "%sROWS = %u, COLUMNS = %u", p->fixed[0] != '\0' ? ", " : "", p->rows, p->columns);
}

cm_status cm_c_product_call(cm_c_piece *piece, const cm_c_product *p, cm_error *error)
{
  static const char row[] = "int i = 0; i < ROWS; i++", column[] = "int j = 0; j < COLUMNS; j++";
  const bool whole = p->left_type != CM_FLOAT, product = strcmp(p->kernel, "product") == 0;
  char additions[CM_C_TEXT_MAX] = "", arguments[8 * CM_C_AT_MAX] = "";
  for (uint32_t i = 0; i < p->rows; i++) {
    cm_c_add(additions, sizeof additions, product ? "%s            sum[%u][j] += " : "%s                  sum[%u][j] += ", i > 0 ? "\n" : "", i);
    if (product)
      cm_c_add(additions, sizeof additions, "%s(value[%u * AM]%s) * w;", whole ? "(int16_t)" : "", i, p->left_zero);
    else
      cm_c_add(additions, sizeof additions, "value[%u] * w;", i);
  }
  cm_c_add(arguments, sizeof arguments, "%s, %s, %s%s", p->left, p->right, p->more_arguments, p->out);
  const cm_c_word *words =
    WORDS({"LEFT", cm_c_type(p->left_type)}, {"RIGHT", cm_c_type(p->right_type)}, {"OUT", cm_c_type(p->out_type)}, {"MORE", p->more}, {"SIZES", p->sizes},
          {"FIXED", p->fixed}, {"SUM", whole ? "int32_t" : "float"}, {"FACTOR", whole ? "int16_t" : "float"}, {"EDGES", p->edges ? cm_c_kernel_find("edges") : ""},
          {"ABOVE", p->edges ? " - PH" : ""}, {"ASIDE", p->edges ? " - PW" : ""}, {"PAD", strchr(p->left_zero, '[') != NULL ? "left_zero[0]" : "-(0$LZERO)"}, {"LZERO", p->left_zero}, {"RZERO", p->right_zero}, {"ADDITIONS", additions},
          {"EACH", p->by_column ? column : row}, {"ALONG", p->by_column ? row : column}, {"BY", p->by_column ? "j" : "i"}, {"INNER", p->by_column ? "i" : "j"},
          {"ORDER", p->by_column ? "j * ROWS + i" : "i * COLUMNS + j"}, {"LINE", p->by_column ? "(n + j) * YN + m" : "(m + i) * YM + n"}, {"STORE", p->store});
  return cm_c_kernel(piece, p->kernel, words, arguments, error);
}
