#include "storage/log.h"

#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *const names[CM_LOG_FORMATS] = {"text", "json"};
static atomic_int log_format = CM_LOG_TEXT;

cm_log_format cm_log_format_of(const char *name)
{
  int format = 0;
  while (format < CM_LOG_FORMATS && strcmp(names[format], name) != 0)
    format++;
  return (cm_log_format)format;
}

void cm_log_set_format(cm_log_format format)
{
  atomic_store(&log_format, (int)format);
}

/* Bytes of the UTF-8 character at `p`; 0: it is none, or one that terminals act on. */
static size_t character(const unsigned char *p)
{
  if (p[0] < 0x80)
    return p[0] >= 0x20 && p[0] != 0x7f;
  const size_t more = p[0] >= 0xc2 && p[0] < 0xe0 ? 1 : (p[0] & 0xf0) == 0xe0 ? 2 : p[0] >= 0xf0 && p[0] < 0xf5 ? 3 : 0;
  for (size_t i = 1; i <= more; i++)
    if ((p[i] & 0xc0) != 0x80)
      return 0;
  const bool wrong = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0) || (p[0] == 0xf0 && p[1] < 0x90) ||
                     (p[0] == 0xf4 && p[1] >= 0x90) || (p[0] == 0xc2 && p[1] < 0xa0);
  return more > 0 && !wrong ? more + 1 : 0;
}

/* Appends; the closing brace and the end of the line always have room. */
static void append(cm_log_line *line, const char *name, const char *value, bool quoted)
{
  const size_t before = line->used, most = sizeof line->text - 3;
  size_t used = before;
  if (before == 0)
    return;
  int length = snprintf(line->text + used, most - used, ",\"%s\":%s", name, quoted ? "\"" : "");
  used += length > 0 ? (size_t)length : most;
  for (const unsigned char *p = (const unsigned char *)value; *p != '\0' && used + 8 < most;) {
    const size_t size = character(p);
    if (*p == '"' || *p == '\\')
      line->text[used++] = '\\';
    if (size == 0)
      line->text[used++] = '?'; /* names of files may hold anything */
    for (size_t i = 0; i < size; i++)
      line->text[used++] = (char)p[i];
    p += size > 0 ? size : 1;
  }
  if (used + 8 >= most)
    return;
  if (quoted)
    line->text[used++] = '"';
  line->used = used;
}

void cm_log_begin(cm_log_line *line, const char *event)
{
  struct timespec now;
  struct tm parts;
  line->used = 0;
  if (atomic_load(&log_format) != CM_LOG_JSON)
    return;
  (void)clock_gettime(CLOCK_REALTIME, &now);
  (void)gmtime_r(&now.tv_sec, &parts);
  size_t used = strftime(line->text, sizeof line->text, "{\"time\":\"%Y-%m-%dT%H:%M:%S", &parts);
  used += (size_t)snprintf(line->text + used, sizeof line->text - used, ".%06ldZ\"", now.tv_nsec / 1000);
  line->used = used;
  append(line, "event", event, true);
}

void cm_log_word(cm_log_line *line, const char *name, const char *value)
{
  if (value[0] != '\0')
    append(line, name, value, true);
}

void cm_log_count(cm_log_line *line, const char *name, uint64_t value)
{
  char text[24];
  (void)snprintf(text, sizeof text, "%llu", (unsigned long long)value);
  append(line, name, text, false);
}

void cm_log_seconds(cm_log_line *line, const char *name, double value)
{
  char text[40];
  (void)snprintf(text, sizeof text, "%.6f", isfinite(value) ? value : 0);
  append(line, name, text, false);
}

void cm_log_end(cm_log_line *line)
{
  if (line->used == 0)
    return;
  line->text[line->used++] = '}';
  line->text[line->used++] = '\n';
  /* One write, so that lines of several threads stay whole. */
  (void)!write(STDERR_FILENO, line->text, line->used);
}

void cm_log(const char *format, ...)
{
  char text[2048];
  cm_log_line line;
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  cm_log_begin(&line, "message");
  cm_log_word(&line, "text", text);
  cm_log_end(&line);
  if (line.used > 0)
    return;
  for (char *p = text; *p != '\0'; p++)
    if ((unsigned char)*p < 0x20 || *p == 0x7f)
      *p = '?';
  (void)fprintf(stderr, "coremapd: %s\n", text);
}
