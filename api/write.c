#include "api/write.h"

#include <math.h>
#include <time.h>

#include "base/json.h"

/* Room for so many bytes more, and a NUL; NULL: no memory. */
static char *room_for(cm_writer *w, size_t bytes)
{
  if (w->failed)
    return NULL;
  if (w->used + bytes + 1 > w->room) {
    const size_t room = 2 * w->room + bytes + 1024;
    char *larger = realloc(w->text, room);
    if (larger == NULL) {
      w->failed = true;
      return NULL;
    }
    w->text = larger;
    w->room = room;
  }
  return w->text + w->used;
}

static void put(cm_writer *w, const char *bytes, size_t size)
{
  char *to = room_for(w, size);
  if (to == NULL)
    return;
  memcpy(to, bytes, size);
  w->used += size;
}

static void put_text(cm_writer *w, const char *text)
{
  put(w, text, strlen(text));
}

/* A line end and the indent of this depth. */
static void put_line(cm_writer *w, unsigned depth)
{
  if (w->compact)
    return;
  char *to = room_for(w, 1 + 2 * (size_t)depth);
  if (to == NULL)
    return;
  to[0] = '\n';
  memset(to + 1, ' ', 2 * (size_t)depth);
  w->used += 1 + 2 * (size_t)depth;
}

static void put_string(cm_writer *w, const char *value)
{
  put(w, "\"", 1);
  while (*value != '\0') {
    char escape[CM_JSON_ESCAPE_MAX];
    size_t plain;
    const char *rest = cm_json_piece(value, &plain, escape);
    put(w, value, plain);
    put_text(w, escape);
    value = rest;
  }
  put(w, "\"", 1);
}

static void put_name(cm_writer *w, const char *name)
{
  if (w->member)
    put(w, ",", 1);
  put_line(w, w->depth);
  put_string(w, name);
  put(w, ": ", w->compact ? 1 : 2);
  w->member = true;
}

void cm_write_begin(cm_writer *w)
{
  if (w->depth > 0) {
    if (w->member)
      put(w, ",", 1);
    put_line(w, w->depth);
  }
  put(w, "{", 1);
  w->depth++;
  w->member = false;
}

void cm_write_object(cm_writer *w, const char *name)
{
  put_name(w, name);
  put(w, "{", 1);
  w->depth++;
  w->member = false;
}

void cm_write_end(cm_writer *w)
{
  w->depth--;
  if (w->member)
    put_line(w, w->depth);
  put(w, "}", 1);
  w->member = true;
}

void cm_write_list(cm_writer *w, const char *name)
{
  put_name(w, name);
  put(w, "[", 1);
  w->depth++;
  w->member = false;
}

void cm_write_list_end(cm_writer *w)
{
  w->depth--;
  if (w->member)
    put_line(w, w->depth);
  put(w, "]", 1);
  w->member = true;
}

void cm_write_word(cm_writer *w, const char *name, const char *value)
{
  put_name(w, name);
  put_string(w, value);
}

void cm_write_whole(cm_writer *w, const char *name, int64_t value)
{
  char text[24];
  put_name(w, name);
  (void)snprintf(text, sizeof text, "%lld", (long long)value);
  put_text(w, text);
}

void cm_write_real(cm_writer *w, const char *name, double value)
{
  char text[40];
  put_name(w, name);
  (void)snprintf(text, sizeof text, "%.15g", value);
  put_text(w, isfinite(value) ? text : "null");
  if (isfinite(value) && strpbrk(text, ".e") == NULL)
    put(w, ".0", 2); /* a number that may have a fraction looks like one */
}

void cm_write_truth(cm_writer *w, const char *name, bool value)
{
  put_name(w, name);
  put_text(w, value ? "true" : "false");
}

static void put_digits(char *to, int count, int value)
{
  for (int i = count; i-- > 0; value /= 10)
    to[i] = (char)('0' + value % 10);
}

void cm_write_time(cm_writer *w, const char *name, double seconds)
{
  time_t whole = (time_t)floor(seconds);
  struct tm parts;
  char text[] = "\"0000-00-00T00:00:00.000Z\"";
  put_name(w, name);
  if (seconds <= 0 || gmtime_r(&whole, &parts) == NULL) {
    put_text(w, "null");
    return;
  }
  put_digits(text + 1, 4, parts.tm_year + 1900);
  put_digits(text + 6, 2, parts.tm_mon + 1);
  put_digits(text + 9, 2, parts.tm_mday);
  put_digits(text + 12, 2, parts.tm_hour);
  put_digits(text + 15, 2, parts.tm_min);
  put_digits(text + 18, 2, parts.tm_sec);
  put_digits(text + 21, 3, (int)((seconds - (double)whole) * 1000));
  put(w, text, sizeof text - 1);
}

/* How many bytes from `p` on have no structure: up to the next of {}[],: outside strings. */
static size_t plain_run(const char *p)
{
  static const bool structure[256] = {['{'] = true, ['}'] = true, ['['] = true, [']'] = true, [','] = true, [':'] = true, ['\0'] = true};
  const char *at = p;
  while (!structure[(unsigned char)*at]) {
    if (*at++ != '"')
      continue;
    for (; *at != '\0' && *at != '"'; at++)
      at += *at == '\\' && at[1] != '\0';
    at += *at == '"';
  }
  return (size_t)(at - p);
}

/* Only where lines end depends on the form: strings and numbers are copied. */
static void put_indented(cm_writer *w, const char *json)
{
  unsigned depth = w->depth;
  for (const char *p = json; *p != '\0';) {
    const size_t plain = plain_run(p);
    if (plain > 0)
      put(w, p, plain);
    p += plain;
    const char c = *p;
    const bool opens = c == '{' || c == '[', closes = c == '}' || c == ']';
    if (c == '\0')
      break;
    if (opens && (p[1] == '}' || p[1] == ']')) {
      put(w, p, 2); /* an empty one */
      p += 2;
      continue;
    }
    if (closes)
      put_line(w, --depth);
    put(w, c == ':' ? ": " : p, c == ':' ? 2 : 1);
    if (opens || c == ',')
      put_line(w, opens ? ++depth : depth);
    p++;
  }
}

void cm_write_json(cm_writer *w, const char *name, const char *json)
{
  put_name(w, name);
  if (w->compact)
    put_text(w, json);
  else
    put_indented(w, json);
}

char *cm_write_done(cm_writer *w, size_t *size)
{
  if (!w->compact)
    put(w, "\n", 1);
  if (room_for(w, 0) == NULL) {
    free(w->text);
    w->text = NULL;
    return NULL;
  }
  w->text[w->used] = '\0';
  *size = w->used;
  return w->text;
}
