/* What is written once for all who use it: arrays of constants, tables of numbers. */
#include "core/csource/text/writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(const void *bytes, size_t size)
{
  uint64_t hash = UINT64_C(14695981039346656037);
  for (size_t i = 0; i < size; i++)
    hash = (hash ^ ((const uint8_t *)bytes)[i]) * UINT64_C(1099511628211);
  return hash;
}

cm_c_held *cm_c_hold(cm_c_writer *w, cm_c_list *list, const char *stem, const cm_c_held *what, bool *is_new, cm_error *error)
{
  const uint64_t hash = hash_of(what->bytes, what->size);
  char name[40];
  *is_new = false;
  for (uint64_t k = 0; k < list->count; k++) {
    cm_c_held *h = &list->held[k];
    if (h->hash == hash && h->size == what->size && (h->tensor == NULL || h->tensor->type == what->tensor->type) && memcmp(h->bytes, what->bytes, h->size) == 0)
      return h;
  }
  (void)snprintf(name, sizeof name, "%.20s_%s%" PRIu64, stem, what->tensor != NULL ? "w" : "", list->count);
  if (CM_ROOM(w->memory, list->held, &list->room, list->count + 1, error) != CM_OK)
    return NULL;
  cm_c_held *h = &list->held[list->count];
  *h = (cm_c_held){.hash = hash, .size = what->size, .name = cm_arena_text(&w->names, name, strlen(name), error)};
  h->bytes = h->name == NULL || what->tensor != NULL ? what->bytes : cm_arena_text(&w->names, what->bytes, what->size - 1, error);
  if (h->name == NULL || h->bytes == NULL)
    return NULL;
  h->tensor = what->tensor != NULL ? cm_tensor_share(what->tensor) : NULL;
  list->count++;
  *is_new = true;
  return h;
}

/* ---- arrays ---- */

static void print_element(FILE *out, const cm_tensor *t, uint64_t i)
{
  char text[48];
  if (t->type == CM_FLOAT || t->type == CM_DOUBLE) {
    cm_c_number(cm_tensor_number(t, i), t->type == CM_FLOAT, text);
    fputs(text, out);
  } else if (t->type == CM_INT64 && cm_tensor_integer(t, i) == INT64_MIN)
    fputs("INT64_MIN", out);
  else if (t->type == CM_INT32 && cm_tensor_integer(t, i) == INT32_MIN)
    fputs("INT32_MIN", out);
  else
    fprintf(out, t->type == CM_INT64 ? "%" PRId64 "LL" : "%" PRId64, cm_tensor_integer(t, i));
}

void cm_c_print_array(const cm_tensor *t, const char *name, FILE *out)
{
  fprintf(out, "\nextern const %s %s[];\nconst %s %s[%" PRIu64 "] = {", cm_c_type(t->type), name, cm_c_type(t->type), name, t->count > 0 ? t->count : 1);
  for (uint64_t i = 0; i < t->count; i++) {
    fputs(i % 12 == 0 ? "\n  " : " ", out);
    print_element(out, t, i);
    fputs(i + 1 < t->count ? "," : "", out);
  }
  fputs(t->count > 0 ? "\n};\n" : "0};\n", out);
}

cm_status cm_c_array(cm_c_writer *w, const cm_tensor *t, char at[CM_C_AT_MAX], cm_error *error)
{
  const size_t bytes = (size_t)t->count * cm_type_bytes(t->type);
  bool is_new;
  const cm_c_held *h = cm_c_hold(w, &w->arrays, w->name, &(cm_c_held){.bytes = t->data, .size = bytes, .tensor = (cm_tensor *)t}, &is_new, error);
  if (h == NULL)
    return error->status;
  (void)snprintf(at, CM_C_AT_MAX, "%s", h->name);
  w->weight_bytes += is_new ? bytes : 0;
  if (is_new && w->binary) { /* bytes of a file, each array aligned for any type */
    fprintf(w->declared.stream, "#define %s ((const %s *)(const void *)(%s_weights + %" PRIu64 "))\n", h->name, cm_c_type(t->type), w->name, w->weights_end);
    (void)fwrite(t->data, 1, bytes, w->weights.stream); /* the text's end says whether all could be written */
    for (w->weights_end += bytes; w->weights_end % sizeof(double) != 0; w->weights_end++)
      (void)fputc(0, w->weights.stream);
  } else if (is_new) {
    fprintf(w->declared.stream, "extern const %s %s[];\n", cm_c_type(t->type), h->name);
    cm_c_print_array(t, h->name, w->weights.stream);
  }
  return CM_OK;
}

/* ---- numbers ---- */

static cm_c_held *hold_numbers(cm_c_writer *w, cm_c_list *list, const int64_t *numbers, size_t count, bool *is_new, cm_error *error)
{
  cm_text made;
  if (cm_text_open(&made))
    for (size_t k = 0; k < count; k++)
      fprintf(made.stream, k == 0 ? "%" PRId64 : k % 24 == 0 ? ",\n  %" PRId64 : ", %" PRId64, numbers[k]);
  char *text = cm_c_closed(&made, error);
  cm_c_held *h = text != NULL ? cm_c_hold(w, list, "size", &(cm_c_held){.bytes = text, .size = strlen(text) + 1}, is_new, error) : NULL;
  free(text);
  return h;
}

cm_status cm_c_boxes(cm_c_writer *w, const int64_t *numbers, size_t count, int64_t *first, cm_error *error)
{
  bool is_new;
  cm_c_held *h = hold_numbers(w, &w->boxes, numbers, count, &is_new, error);
  if (h == NULL)
    return error->status;
  if (is_new) {
    h->first = w->box_end;
    w->box_end += count;
  }
  *first = (int64_t)h->first;
  return CM_OK;
}

void cm_c_print_boxes(const cm_c_writer *w, FILE *out)
{
  if (w->boxes.count == 0)
    return;
  fputs("\nstatic const int boxes[] = {\n", out);
  for (uint64_t k = 0; k < w->boxes.count; k++)
    fprintf(out, "  %s,\n", (const char *)w->boxes.held[k].bytes);
  fprintf(out, "};\n\n%s", cm_c_kernel_find("copy_box"));
}

cm_status cm_c_table(cm_c_writer *w, const int64_t *numbers, size_t count, const char **name, cm_error *error)
{
  bool is_new;
  const cm_c_held *h = hold_numbers(w, &w->tables, numbers, count, &is_new, error);
  if (h == NULL)
    return error->status;
  if (is_new)
    fprintf(w->declared.stream, "static const int %s[] = {%s};\n", h->name, (const char *)h->bytes);
  *name = h->name;
  return CM_OK;
}
