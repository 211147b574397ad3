/* Functions and their calls: those that differ in numbers alone are one, which is given a table. */
#include "core/csource/text/writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Numbers between ` go from a text into a list, places in a table come for them. */
static char *take_numbers(const char *text, int64_t *numbers, size_t *count, cm_error *error)
{
  cm_text general;
  const bool opened = cm_text_open(&general);
  for (const char *c = text; opened && *c != '\0'; c++)
    if (*c != '`')
      fputc(*c, general.stream);
    else {
      char *end;
      numbers[*count] = strtoll(c + 1, &end, 10);
      fprintf(general.stream, "size[%zu]", (*count)++);
      c = end;
    }
  return cm_c_closed(&general, error);
}

cm_status cm_c_call(cm_c_piece *piece, const char *stem, const char *text, const char *arguments, cm_error *error)
{
  cm_c_writer *w = piece->w;
  int64_t numbers[CM_C_NUMBERS];
  size_t count = 0;
  const char *sizes = NULL;
  bool is_new;
  char *general = take_numbers(text, numbers, &count, error);
  if (general == NULL)
    return error->status;
  const cm_status status = count > 0 ? cm_c_table(w, numbers, count, &sizes, error) : CM_OK;
  cm_c_held *h = status == CM_OK ? cm_c_hold(w, &w->functions, stem, &(cm_c_held){.bytes = general, .size = strlen(general) + 1}, &is_new, error) : NULL;
  free(general);
  if (h == NULL)
    return error->status;
  if (is_new)
    h->sizes = sizes;
  h->shared = h->shared || sizes != h->sizes;
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
    for (const char *c = h->bytes; *c != '\0'; c++)
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
