/* Stated shapes. What can fail: text of another form, names that the model does not have, extents that contradict it. */
#include "core/operators/shapes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { EXTENT_MAX = 1 << 30, TEXT_MAX = 320 };

static cm_status refuse(cm_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));
static cm_status refuse(cm_error *error, const char *format, ...)
{
  char text[TEXT_MAX];
  va_list list;
  va_start(list, format);
  (void)vsnprintf(text, sizeof text, format, list);
  va_end(list);
  (void)cm_fail(error, CM_BAD_OPTION, "option shape: %s", text);
  return cm_fail_at(error, "/options/shape");
}

/* ---- reading ---- */

cm_status cm_stated_shapes_add(cm_stated_shapes *shapes, const char *name, const int64_t *dims, uint32_t rank, cm_error *error)
{
  if (name[0] == '\0' || strlen(name) >= CM_STATED_NAME_MAX)
    return refuse(error, "a name has 1 to %d characters", CM_STATED_NAME_MAX - 1);
  if (rank == 0 || rank > CM_RANK_MAX)
    return refuse(error, "'%s' has %u extents; 1 to %d can be stated", name, rank, CM_RANK_MAX);
  for (uint32_t k = 0; k < rank; k++)
    if (dims[k] < 0 || dims[k] > EXTENT_MAX)
      return refuse(error, "'%s' has an extent of %lld; 0 to %d can be stated", name, (long long)dims[k], EXTENT_MAX);
  for (uint32_t i = 0; i < shapes->count; i++)
    if (strcmp(shapes->item[i].name, name) == 0)
      return refuse(error, "'%s' is stated twice", name);
  if (shapes->count == CM_STATED_SHAPES_MAX)
    return refuse(error, "at most %d shapes can be stated", CM_STATED_SHAPES_MAX);
  memcpy(shapes->item[shapes->count].name, name, strlen(name) + 1);
  memcpy(shapes->item[shapes->count].dims, dims, rank * sizeof *dims);
  shapes->item[shapes->count++].rank = rank;
  return CM_OK;
}

/* "1x3x640x480" of `length` characters; the number of extents, 0 when the text is of another form. */
static uint32_t read_extents(const char *text, size_t length, int64_t *dims)
{
  uint32_t rank = 0;
  size_t at = 0;
  while (rank < CM_RANK_MAX) {
    int64_t extent = 0;
    size_t begin = at;
    for (; at < length && text[at] >= '0' && text[at] <= '9' && extent <= EXTENT_MAX; at++)
      extent = extent * 10 + (text[at] - '0');
    if (at == begin)
      return 0;
    dims[rank++] = extent;
    if (at == length)
      return rank;
    if (text[at++] != 'x')
      return 0;
  }
  return 0;
}

cm_status cm_stated_shapes_parse(const char *text, cm_stated_shapes *shapes, cm_error *error)
{
  cm_stated_shapes made = *shapes;
  const char *item = text;
  do {
    /* A name may hold ':', '/' and '.', as exporters write them, so the last '=' before the comma divides. */
    size_t length = strcspn(item, ","), equals = length;
    char name[CM_STATED_NAME_MAX];
    int64_t dims[CM_RANK_MAX];
    while (equals > 0 && item[equals - 1] != '=')
      equals--;
    uint32_t rank = equals > 1 ? read_extents(item + equals, length - equals, dims) : 0;
    if (rank == 0 || equals > sizeof name)
      return refuse(error, "\"%.*s\" is not of the form NAME=DIMS, like input=1x3x224x224", (int)length, item);
    memcpy(name, item, equals - 1);
    name[equals - 1] = '\0';
    CM_TRY(cm_stated_shapes_add(&made, name, dims, rank, error));
    item += length;
  } while (*item++ == ',');
  *shapes = made;
  return CM_OK;
}

/* ---- giving ---- */

static cm_value *input_named(const cm_model *model, const char *name)
{
  for (size_t i = 0; i < model->input_count; i++)
    if (strcmp(model->values[model->inputs[i]].name, name) == 0)
      return &model->values[model->inputs[i]];
  return NULL;
}

/* Gives every open dimension of a name its extent; the number of dimensions that have this name. */
static cm_status name_extent(cm_model *model, const char *name, int64_t extent, size_t *count, cm_error *error)
{
  *count = 0;
  for (size_t i = 0; i < model->input_count; i++) {
    cm_value *v = &model->values[model->inputs[i]];
    for (uint32_t k = 0; v->shape.rank != CM_UNKNOWN_RANK && k < v->shape.rank; k++) {
      if (v->dim_names[k] == NULL || strcmp(v->dim_names[k], name) != 0)
        continue;
      ++*count;
      if (v->shape.dims[k] >= 0 && v->shape.dims[k] != extent)
        return refuse(error, "dimension '%.60s' would be %lld in input '%.60s' and %lld elsewhere", name,
                      (long long)v->shape.dims[k], v->name, (long long)extent);
      v->shape.dims[k] = extent;
    }
  }
  return CM_OK;
}

static cm_status give(cm_model *model, cm_value *v, const int64_t *dims, uint32_t rank, cm_error *error)
{
  if (v->shape.rank == CM_UNKNOWN_RANK) {
    v->shape.rank = rank;
    memcpy(v->shape.dims, dims, rank * sizeof *dims);
    return CM_OK;
  }
  if (v->shape.rank != rank)
    return refuse(error, "input '%.80s' has %u dimensions, not %u", v->name, v->shape.rank, rank);
  for (uint32_t k = 0; k < rank; k++) {
    size_t count;
    if (v->shape.dims[k] >= 0 && v->shape.dims[k] != dims[k])
      return refuse(error, "dimension %u of input '%.80s' is %lld in the model, not %lld", k, v->name,
                    (long long)v->shape.dims[k], (long long)dims[k]);
    v->shape.dims[k] = dims[k];
    CM_TRY_IF(v->dim_names[k] != NULL && v->dim_names[k][0] != '\0', name_extent(model, v->dim_names[k], dims[k], &count, error));
  }
  return CM_OK;
}

cm_status cm_model_state_shapes(cm_model *model, const cm_stated_shapes *shapes, cm_error *error)
{
  for (uint32_t i = 0; i < shapes->count; i++) {
    const char *name = shapes->item[i].name;
    cm_value *v = input_named(model, name);
    size_t count = 0;
    if (v != NULL) {
      CM_TRY(give(model, v, shapes->item[i].dims, shapes->item[i].rank, error));
      continue;
    }
    CM_TRY_IF(shapes->item[i].rank == 1, name_extent(model, name, shapes->item[i].dims[0], &count, error));
    if (count == 0)
      return refuse(error, "the model has no input '%s'%s%.80s%s", name, model->input_count > 0 ? "; its first is '" : "",
                    model->input_count > 0 ? model->values[model->inputs[0]].name : "", model->input_count > 0 ? "'" : "");
  }
  return CM_OK;
}

/* ---- refusing ---- */

typedef struct text {
  char bytes[TEXT_MAX];
  size_t used;
} text;

static void append(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void append(text *t, const char *format, ...)
{
  va_list list;
  va_start(list, format);
  int more = vsnprintf(t->bytes + t->used, sizeof t->bytes - t->used, format, list);
  va_end(list);
  t->used = more < 0 || t->used + (size_t)more >= sizeof t->bytes ? sizeof t->bytes - 1 : t->used + (size_t)more;
}

static bool is_open(const cm_value *v)
{
  bool open = v->shape.rank == CM_UNKNOWN_RANK;
  for (uint32_t k = 0; !open && k < v->shape.rank; k++)
    open = v->shape.dims[k] < 0;
  return open && v->shape.type != CM_SEQUENCE;
}

/* What to write for one input, with names where extents go. */
static void append_line(text *t, const cm_value *v)
{
  append(t, "%.60s=", v->name);
  if (v->shape.rank == CM_UNKNOWN_RANK)
    append(t, "<its extents>");
  for (uint32_t k = 0; v->shape.rank != CM_UNKNOWN_RANK && k < v->shape.rank; k++) {
    append(t, "%s", k > 0 ? "x" : "");
    if (v->shape.dims[k] >= 0)
      append(t, "%lld", (long long)v->shape.dims[k]);
    else if (v->dim_names[k] != NULL && v->dim_names[k][0] != '\0')
      append(t, "<%.24s>", v->dim_names[k]);
    else
      append(t, "<d%u>", k);
  }
}

cm_status cm_model_need_shapes(const cm_model *model, cm_error *error)
{
  text line = {.used = 0}, open = {.used = 0};
  for (size_t i = 0; i < model->input_count; i++) {
    const cm_value *v = &model->values[model->inputs[i]];
    if (!is_open(v))
      continue;
    append(&line, "%s", line.used > 0 ? "," : "");
    append_line(&line, v);
    append(&open, "%s'%.60s'", open.used > 0 ? ", of " : "", v->name);
    if (v->shape.rank == CM_UNKNOWN_RANK)
      append(&open, " all");
    for (uint32_t k = 0, first = 1; v->shape.rank != CM_UNKNOWN_RANK && k < v->shape.rank; k++)
      if (v->shape.dims[k] < 0) {
        append(&open, "%s", first ? " " : " and ");
        if (v->dim_names[k] != NULL && v->dim_names[k][0] != '\0')
          append(&open, "%.24s", v->dim_names[k]);
        else
          append(&open, "number %u", k);
        first = 0;
      }
  }
  if (line.used == 0)
    return CM_OK;
  (void)cm_fail(error, CM_BAD_OPTION, "the model leaves dimensions open: of input %s; state them by option shape, as \"%s\"", open.bytes,
                line.bytes);
  return cm_fail_at(error, "/options/shape");
}
