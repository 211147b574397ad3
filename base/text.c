#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static ssize_t append(void *user, const char *bytes, size_t size)
{
  cm_text *text = user;
  if (text->room - text->size <= size) {
    size_t room = 2 * text->room + size + 256;
    char *larger = realloc(text->bytes, room);
    if (larger == NULL) {
      text->failed = true;
      return 0;
    }
    text->bytes = larger;
    text->room = room;
  }
  memcpy(text->bytes + text->size, bytes, size);
  text->size += size;
  text->bytes[text->size] = '\0';
  return (ssize_t)size;
}

bool cm_text_open(cm_text *text)
{
  *text = (cm_text){0};
  text->stream = fopencookie(text, "w", (cookie_io_functions_t){.write = append});
  return text->stream != NULL;
}

char *cm_text_close(cm_text *text, size_t *size)
{
  bool failed = ferror(text->stream) != 0;
  failed = fclose(text->stream) != 0 || failed || text->failed;
  text->stream = NULL;
  if (!failed && text->bytes == NULL)
    text->bytes = strdup("");
  if (failed) {
    free(text->bytes);
    text->bytes = NULL;
  }
  if (size != NULL)
    *size = text->size;
  return text->bytes;
}

bool cm_is_text(const void *bytes, size_t size)
{
  const unsigned char *at = bytes;
  for (size_t i = 0; i < size; i++)
    if (at[i] < ' ' && (at[i] < '\t' || at[i] > '\r'))
      return false;
  return true;
}

/* What a table calculates when it reads it as a cell: it begins so, and is no number. */
static bool is_formula(const char *text)
{
  char *end;
  if (text[0] == '\0' || strchr("=+-@\t\r", text[0]) == NULL)
    return false;
  (void)strtod(text, &end);
  return *end != '\0';
}

void cm_csv_cell(FILE *stream, const char *text)
{
  if (text == NULL)
    return;
  const bool formula = is_formula(text);
  if (!formula && strpbrk(text, ",\"\r\n") == NULL) {
    (void)fputs(text, stream);
    return;
  }
  (void)fputs(formula ? "\"'" : "\"", stream);
  for (; *text != '\0'; text++) {
    if (*text == '"')
      (void)fputc('"', stream);
    (void)fputc(*text, stream);
  }
  (void)fputc('"', stream);
}
