/* The server's own log: standard error, which a service manager keeps; as sentences, or as a JSON object a line. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum cm_log_format {
  CM_LOG_TEXT, /* messages alone, "coremapd: ..." */
  CM_LOG_JSON, /* messages, requests and steps of jobs (docs/how-to/log.md) */
  CM_LOG_FORMATS
} cm_log_format;

/* "text", "json" and back (CM_LOG_FORMATS: unknown). */
cm_log_format cm_log_format_of(const char *name);

/* From now on; text until then. */
void cm_log_set_format(cm_log_format format);

/* One line, "coremapd: ..."; whole also when several threads log. */
void cm_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* An event as members of an object, which only the JSON log holds: begin, members, end. A line that has no room for a
 * member goes without it. Nothing is allocated. */
typedef struct cm_log_line {
  char text[3072];
  size_t used; /* 0: nobody wants it */
} cm_log_line;
void cm_log_begin(cm_log_line *line, const char *event);
void cm_log_word(cm_log_line *line, const char *name, const char *value); /* "": left out */
void cm_log_count(cm_log_line *line, const char *name, uint64_t value);
void cm_log_seconds(cm_log_line *line, const char *name, double value);
void cm_log_end(cm_log_line *line);
