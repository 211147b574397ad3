#include "base/foreign.h"

#include <stdint.h>
#include <string.h>

enum { ESCAPE_MAX = 13, MALFORMED = UINT32_MAX };

/* The character at `text`, and its bytes; MALFORMED, one byte: no UTF-8. */
static uint32_t decode(const unsigned char *text, size_t size, size_t *bytes)
{
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const size_t length = text[0] < 0x80 ? 1 : text[0] < 0xc2 ? 0 : text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : text[0] < 0xf5 ? 4 : 0;
  uint32_t character = length == 1 ? text[0] : text[0] & (0x7fU >> length);
  *bytes = 1;
  if (length == 0 || length > size)
    return MALFORMED;
  for (size_t i = 1; i < length; i++) {
    if ((text[i] & 0xc0) != 0x80)
      return MALFORMED;
    character = character << 6 | (text[i] & 0x3f);
  }
  if (character < least[length] || character > 0x10ffff || (character >= 0xd800 && character < 0xe000))
    return MALFORMED;
  *bytes = length;
  return character;
}

/* Controls, and what Unicode has to format text without a width: directions, marks of order, tags. Joiners stay: scripts need them. */
static bool is_hidden(uint32_t c, cm_foreign kind)
{
  static const uint32_t ranges[][2] = {{0, 0x1f},        {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},   {0x180e, 0x180e},
                                       {0x200b, 0x200b}, {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb},
                                       {0xe0000, 0xe007f}};
  if (kind == CM_FOREIGN_LINES && (c == '\n' || c == '\t'))
    return false;
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
    if (c >= ranges[i][0] && c <= ranges[i][1])
      return true;
  return false;
}

/* The next character's bytes; in `escape` what is shown for it, "" for itself. */
static size_t next(const char *text, size_t size, cm_foreign kind, char escape[ESCAPE_MAX])
{
  size_t bytes;
  const uint32_t c = decode((const unsigned char *)text, size, &bytes);
  escape[0] = '\0';
  if (c == MALFORMED)
    (void)snprintf(escape, ESCAPE_MAX, "\\x%02X", (unsigned char)text[0]);
  else if (is_hidden(c, kind) && c <= 0xffff)
    (void)snprintf(escape, ESCAPE_MAX, "\\u%04X", (unsigned)c);
  else if (is_hidden(c, kind))
    (void)snprintf(escape, ESCAPE_MAX, "\\u%04X\\u%04X", 0xd7c0U + (unsigned)(c >> 10), 0xdc00U + (unsigned)(c & 0x3ff));
  return bytes;
}

void cm_foreign_print(const char *text, size_t size, cm_foreign kind, FILE *stream)
{
  char escape[ESCAPE_MAX];
  for (size_t at = 0, bytes; at < size; at += bytes) {
    bytes = next(text + at, size - at, kind, escape);
    if (escape[0] != '\0')
      (void)fputs(escape, stream);
    else
      (void)fwrite(text + at, 1, bytes, stream);
  }
}

const char *cm_foreign_copy(const char *text, cm_foreign kind, char *shown, size_t room)
{
  char escape[ESCAPE_MAX];
  size_t used = 0;
  const size_t size = strlen(text);
  for (size_t at = 0, bytes; at < size; at += bytes) {
    bytes = next(text + at, size - at, kind, escape);
    const size_t more = escape[0] != '\0' ? strlen(escape) : bytes;
    if (used + more >= room)
      break;
    (void)memcpy(shown + used, escape[0] != '\0' ? escape : text + at, more);
    used += more;
  }
  shown[used] = '\0';
  return shown;
}

bool cm_foreign_is_plain(const char *text, cm_foreign kind)
{
  char escape[ESCAPE_MAX];
  const size_t size = strlen(text);
  for (size_t at = 0; at < size; at += next(text + at, size - at, kind, escape))
    if (next(text + at, size - at, kind, escape), escape[0] != '\0')
      return false;
  return true;
}
