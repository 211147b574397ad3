/* Arrays, functions and calls. */
#include "core/csource/writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *cm_c_type(cm_type type)
{
  static const char *const names[CM_TYPE_COUNT] = {
    [CM_FLOAT] = "float",    [CM_UINT8] = "uint8_t", [CM_INT8] = "int8_t",    [CM_UINT16] = "uint16_t", [CM_INT16] = "int16_t",  [CM_INT32] = "int32_t",
    [CM_INT64] = "int64_t", [CM_BOOL] = "uint8_t",  [CM_DOUBLE] = "double", [CM_UINT32] = "uint32_t",   [CM_UINT64] = "uint64_t"};
  return (unsigned)type < CM_TYPE_COUNT ? names[type] : NULL;
}

void cm_c_add(char *text, size_t size, const char *format, ...)
{
  const size_t at = strlen(text);
  va_list list;
  va_start(list, format);
  (void)vsnprintf(text + at, size - at, format, list);
  va_end(list);
}

cm_status cm_c_refuse(const cm_c_piece *piece, cm_error *error, const char *format, ...)
{
  char label[160], why[240];
  va_list list;
  va_start(list, format);
  (void)vsnprintf(why, sizeof why, format, list);
  va_end(list);
  return cm_fail(error, CM_BAD_NETWORK, "C for target %s: node %s %s", piece->w->target->name,
                 cm_node_label(piece->call.node, label, sizeof label), why);
}

void cm_c_number(double number, bool single, char text[48])
{
  if (isnan(number) || isinf(number)) {
    (void)snprintf(text, 48, "%s", isnan(number) ? "NAN" : number > 0 ? "INFINITY" : "(-INFINITY)");
    return;
  }
  (void)snprintf(text, 40, single ? "%.9g" : "%.17g", number);
  if (strpbrk(text, ".e") == NULL)
    cm_c_add(text, 48, ".0");
  if (single)
    cm_c_add(text, 48, "F");
}

/* ---- arrays ---- */

static uint64_t hash_of(const void *bytes, size_t size)
{
  uint64_t hash = UINT64_C(14695981039346656037);
  for (size_t i = 0; i < size; i++)
    hash = (hash ^ ((const uint8_t *)bytes)[i]) * UINT64_C(1099511628211);
  return hash;
}

static size_t bytes_of(const cm_tensor *t)
{
  return (size_t)t->count * cm_type_bytes(t->type);
}

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

static cm_c_held *add_held(cm_c_writer *w, cm_c_list *list, uint64_t hash, cm_error *error)
{
  if (CM_ROOM(w->memory, list->held, &list->room, list->count + 1, error) != CM_OK)
    return NULL;
  cm_c_held *h = &list->held[list->count++];
  *h = (cm_c_held){.hash = hash};
  return h;
}

/* An array as bytes of a file, each aligned for any type. */
static void add_bytes(cm_c_writer *w, const cm_tensor *t, const char *name)
{
  fprintf(w->declared.stream, "#define %s ((const %s *)(const void *)(%s_weights + %" PRIu64 "))\n", name, cm_c_type(t->type), w->name, w->weights_end);
  (void)fwrite(t->data, 1, bytes_of(t), w->weights.stream); /* the text's end says whether all could be written */
  for (w->weights_end += bytes_of(t); w->weights_end % sizeof(double) != 0; w->weights_end++)
    (void)fputc(0, w->weights.stream);
}

cm_status cm_c_array(cm_c_writer *w, const cm_tensor *t, char at[CM_C_AT_MAX], cm_error *error)
{
  const uint64_t hash = hash_of(t->data, bytes_of(t)) + (uint64_t)t->type;
  for (uint64_t k = 0; k < w->arrays.count; k++) {
    const cm_c_held *h = &w->arrays.held[k];
    if (h->hash == hash && h->tensor->type == t->type && h->tensor->count == t->count && memcmp(h->tensor->data, t->data, bytes_of(t)) == 0) {
      (void)snprintf(at, CM_C_AT_MAX, "%s", h->name);
      return CM_OK;
    }
  }
  const uint64_t number = w->arrays.count;
  cm_c_held *h = add_held(w, &w->arrays, hash, error);
  if (h == NULL)
    return error->status;
  h->tensor = cm_tensor_share((cm_tensor *)t);
  (void)snprintf(at, CM_C_AT_MAX, "%s_w%" PRIu64, w->name, number);
  (void)snprintf(h->name, sizeof h->name, "%.31s", at);
  w->weight_bytes += bytes_of(t);
  if (w->binary)
    add_bytes(w, t, h->name);
  else {
    fprintf(w->declared.stream, "extern const %s %s[];\n", cm_c_type(t->type), h->name);
    cm_c_print_array(t, h->name, w->weights.stream);
  }
  return CM_OK;
}

/* ---- calls ---- */

/* The one with this text, which may be new. */
static cm_c_held *held_text(cm_c_writer *w, cm_c_list *list, const char *stem, const char *text, bool *is_new, cm_error *error)
{
  const uint64_t hash = hash_of(text, strlen(text)), number = list->count;
  *is_new = false;
  for (uint64_t k = 0; k < list->count; k++)
    if (list->held[k].hash == hash && strcmp(list->held[k].text, text) == 0)
      return &list->held[k];
  cm_c_held *h = add_held(w, list, hash, error);
  if (h == NULL || (h->text = cm_arena_text(&w->names, text, strlen(text), error)) == NULL)
    return NULL;
  (void)snprintf(h->name, sizeof h->name, "%.20s_%" PRIu64, stem, number);
  *is_new = true;
  return h;
}

/* Numbers as text. */
static char *list_text(const int64_t *numbers, size_t count, cm_error *error)
{
  cm_text made;
  char *text = NULL;
  if (cm_text_open(&made)) {
    for (size_t k = 0; k < count; k++)
      fprintf(made.stream, k == 0 ? "%" PRId64 : k % 24 == 0 ? ",\n  %" PRId64 : ", %" PRId64, numbers[k]);
    text = cm_text_close(&made, NULL);
  }
  (void)cm_whole(text != NULL, "the text of a table", error);
  return text;
}

cm_status cm_c_boxes(cm_c_writer *w, const int64_t *numbers, size_t count, int64_t *first, cm_error *error)
{
  const uint64_t end = w->box_end;
  bool is_new;
  char *text = list_text(numbers, count, error);
  if (text == NULL)
    return error->status;
  cm_c_held *h = held_text(w, &w->boxes, "box", text, &is_new, error);
  free(text);
  if (h == NULL)
    return error->status;
  if (is_new) {
    h->first = end;
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
    fprintf(out, "  %s,\n", w->boxes.held[k].text);
  fprintf(out, "};\n\n%s", cm_c_kernel_find("copy_box"));
}

cm_status cm_c_table(cm_c_writer *w, const int64_t *numbers, size_t count, const char **name, cm_error *error)
{
  bool is_new;
  char *text = list_text(numbers, count, error);
  if (text == NULL)
    return error->status;
  const cm_c_held *h = held_text(w, &w->tables, "size", text, &is_new, error);
  if (h != NULL && (*name = cm_arena_text(&w->names, h->name, strlen(h->name), error)) != NULL && is_new)
    fprintf(w->declared.stream, "static const int %s[] = {%s};\n", *name, text);
  free(text);
  return h != NULL && *name != NULL ? CM_OK : error->status;
}

/* Numbers between ` go from a text into a list, places in a table come for them. */
static cm_status take_numbers(const char *text, char **made, int64_t *numbers, size_t *count, cm_error *error)
{
  cm_text general;
  if (!cm_text_open(&general))
    return cm_whole(false, "the text of a kernel", error);
  for (const char *c = text; *c != '\0'; c++)
    if (*c != '`')
      fputc(*c, general.stream);
    else {
      char *end;
      numbers[*count] = strtoll(c + 1, &end, 10);
      fprintf(general.stream, "size[%zu]", (*count)++);
      c = end;
    }
  *made = cm_text_close(&general, NULL);
  return cm_whole(*made != NULL, "the text of a kernel", error);
}

cm_status cm_c_call(cm_c_piece *piece, const char *stem, const char *text, const char *arguments, cm_error *error)
{
  cm_c_writer *w = piece->w;
  int64_t numbers[CM_C_NUMBERS];
  size_t count = 0;
  char *general = NULL;
  const char *sizes = NULL;
  bool is_new;
  if (take_numbers(text, &general, numbers, &count, error) != CM_OK)
    return error->status;
  cm_status status = count > 0 ? cm_c_table(w, numbers, count, &sizes, error) : CM_OK;
  cm_c_held *h = status == CM_OK ? held_text(w, &w->functions, stem, general, &is_new, error) : NULL;
  free(general);
  if (h == NULL)
    return error->status;
  if (is_new)
    h->sizes = sizes;
  h->shared = h->shared || (sizes != NULL && strcmp(sizes, h->sizes) != 0);
  FILE *out = w->body[piece->lane].stream;
  fprintf(out, "  %s(", h->name);
  if (sizes != NULL)
    fprintf(out, "`%td %s`", h - w->functions.held, sizes);
  fprintf(out, "%s);\n", arguments);
  return CM_OK;
}

/* A function that is called with one table has it in its text. */
void cm_c_print_calls(const cm_c_writer *w, const char *calls, FILE *out)
{
  for (const char *c = calls; *c != '\0'; c++) {
    if (*c != '`') {
      fputc(*c, out);
      continue;
    }
    char *name;
    const bool shared = w->functions.held[strtoull(c + 1, &name, 10)].shared;
    for (c = name + 1; *c != '`'; c++)
      if (shared)
        fputc(*c, out);
    if (shared)
      fputs(", ", out);
  }
}

void cm_c_functions(const cm_c_writer *w, FILE *out)
{
  for (uint64_t k = 0; k < w->functions.count; k++) {
    const cm_c_held *h = &w->functions.held[k];
    fputc('\n', out);
    for (const char *c = h->text; *c != '\0'; c++)
      if (strncmp(c, "size[", 5) == 0 && !h->shared) {
        fprintf(out, "%s[", h->sizes);
        c += 4;
      } else if (*c != '@')
        fputc(*c, out);
      else {
        fputs(h->name, out);
        if (h->shared) {
          fputs("(const int *restrict size, ", out);
          c++;
        }
      }
  }
}

void cm_c_sizes(char sizes[CM_C_SIZES_MAX], const char *names, const int64_t *values)
{
  for (size_t length; *names != '\0'; names += length + (names[length] == ' '), values++) {
    length = strcspn(names, " ");
    cm_c_add(sizes, CM_C_SIZES_MAX, "%s%.*s = `%" PRId64 "`", sizes[0] != '\0' ? ", " : "const int ", (int)length, names, *values);
  }
}

const char *cm_c_kernel_find(const char *name)
{
  for (const cm_c_kernel_text *k = cm_c_kernel_table; k->name != NULL; k++)
    if (strcmp(k->name, name) == 0)
      return k->text;
  return NULL;
}

cm_status cm_c_kernel(cm_c_piece *piece, const char *kernel, const cm_c_word *words, const char *arguments, cm_error *error)
{
  const char *from = cm_c_kernel_find(kernel);
  cm_text made;
  if (!cm_text_open(&made))
    return cm_whole(false, "the text of a kernel", error);
  while (*from != '\0') {
    const cm_c_word *word = words;
    size_t length = 0;
    if (*from == '$')
      for (; word->word != NULL; word++)
        if (length = strlen(word->word), strncmp(from + 1, word->word, length) == 0)
          break;
    if (*from != '$' || word->word == NULL)
      fputc(*from++, made.stream);
    else {
      fputs(word->stands_for, made.stream);
      from += 1 + length;
    }
  }
  char *text = cm_text_close(&made, NULL);
  if (text == NULL)
    return cm_whole(false, "the text of a kernel", error);
  const cm_status status = cm_c_call(piece, kernel, text, arguments, error);
  free(text);
  return status;
}

/* ---- files ---- */

void cm_c_frame(const cm_c_writer *w, const char *frame, const cm_c_word *words, FILE *out)
{
  for (const char *c = cm_c_kernel_find(frame); *c != '\0'; c++) {
    const cm_c_word *word = words;
    while (*c == '$' && word->word != NULL && strncmp(c + 1, word->word, strlen(word->word)) != 0)
      word++;
    if (*c != '$')
      fputc(*c, out);
    else if (strncmp(c + 1, "NAME", 4) == 0) {
      fputs(w->name, out);
      c += 4;
    } else if (word->word == NULL)
      fputc(*c, out);
    else {
      fputs(word->stands_for, out);
      c += strlen(word->word);
    }
  }
}

cm_status cm_c_take(cm_text *text, const char *name, const char *ending, cm_c_file *file, cm_error *error)
{
  (void)snprintf(file->name, sizeof file->name, "%s%s", name, ending);
  file->text = cm_text_close(text, &file->size);
  return cm_whole(file->text != NULL, "the text of the code", error);
}
