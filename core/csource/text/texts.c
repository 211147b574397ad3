/* Words, numbers and texts of kernels. */
#include "core/csource/text/writer.h"

#include <ctype.h>
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

void cm_c_fill(const char *formula, const char *x, const char *a, const char *b, char *made, size_t size)
{
  made[0] = '\0';
  for (size_t n; *formula != '\0'; formula += n) {
    for (n = 0; isalnum((unsigned char)formula[n]) || formula[n] == '_'; n++)
      ;
    const char *word = n == 1 && *formula == 'x' ? x : n == 5 && strncmp(formula, "alpha", n) == 0 ? a : n == 4 && strncmp(formula, "beta", n) == 0 ? b : NULL;
    n += n == 0;
    cm_c_add(made, size, "%.*s", word != NULL ? (int)strlen(word) : (int)n, word != NULL ? word : formula);
  }
}

char *cm_c_closed(cm_text *text, cm_error *error)
{
  char *made = text->stream != NULL ? cm_text_close(text, NULL) : NULL;
  (void)cm_whole(made != NULL, "the text of the code", error);
  return made;
}

cm_status cm_c_take(cm_text *text, const char *name, const char *ending, cm_c_file *file, cm_error *error)
{
  (void)snprintf(file->name, sizeof file->name, "%s%s", name, ending);
  file->text = text->stream != NULL ? cm_text_close(text, &file->size) : NULL;
  return cm_whole(file->text != NULL, "the text of the code", error);
}

/* ---- texts of core/csource/kernels ---- */

const char *cm_c_kernel_find(const char *name)
{
  for (const cm_c_kernel_text *k = cm_c_kernel_table; k->name != NULL; k++)
    if (strcmp(k->name, name) == 0)
      return k->text;
  return "";
}

void cm_c_print(const char *text, const cm_c_word *words, FILE *out)
{
  for (; *text != '\0'; text++) {
    const cm_c_word *word = words;
    while (*text == '$' && word->word != NULL && strncmp(text + 1, word->word, strlen(word->word)) != 0)
      word++;
    if (*text != '$' || word->word == NULL)
      fputc(*text, out);
    else {
      cm_c_print(word->stands_for, words, out);
      text += strlen(word->word);
    }
  }
}

cm_status cm_c_kernel(cm_c_piece *piece, const char *kernel, const cm_c_word *words, const char *arguments, cm_error *error)
{
  cm_text made;
  if (cm_text_open(&made))
    cm_c_print(cm_c_kernel_find(kernel), words, made.stream);
  char *text = cm_c_closed(&made, error);
  const cm_status status = text != NULL ? cm_c_call(piece, kernel, text, arguments, error) : error->status;
  free(text);
  return status;
}
