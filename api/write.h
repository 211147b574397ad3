/* Writes a JSON object as text, member by member. For replies that many ask for, again and again: no tree is built, and texts that
 * are JSON already (options, reports, phases of jobs) are copied in without being read. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed but for `compact`: ready. Indented by two, as all replies are, or on one line. */
typedef struct cm_writer {
  char *text;
  size_t used, room;
  unsigned depth;
  bool compact, member, failed; /* member: the object has one already; failed: no memory */
} cm_writer;

void cm_write_begin(cm_writer *w);                  /* an object: the whole, or an element of a list */
void cm_write_object(cm_writer *w, const char *name); /* a member that is an object */
void cm_write_end(cm_writer *w);
void cm_write_list(cm_writer *w, const char *name); /* a member that is a list of objects */
void cm_write_list_end(cm_writer *w);

void cm_write_word(cm_writer *w, const char *name, const char *value); /* UTF-8; control characters are escaped */
void cm_write_whole(cm_writer *w, const char *name, int64_t value);
void cm_write_real(cm_writer *w, const char *name, double value);      /* 15 digits; what is not finite: null */
void cm_write_truth(cm_writer *w, const char *name, bool value);
void cm_write_time(cm_writer *w, const char *name, double seconds);    /* since 1970; 0: null */
void cm_write_json(cm_writer *w, const char *name, const char *json);  /* compact JSON; O(its bytes) */

/* The text, which the caller frees; NULL: no memory. *size without the NUL. Indented ones end with a line end. */
char *cm_write_done(cm_writer *w, size_t *size);
