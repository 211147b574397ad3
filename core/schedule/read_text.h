/* What the readers of workloads share: a cursor over text that knows its line, and what was read. */
#pragma once

#include <stdio.h>

#include "core/schedule/read.h"

typedef struct cm_text {
  const char *at;
  uint32_t line;
  cm_memory *memory;
  uint32_t asked; /* processors that the caller names */
  /* What it says (workload.h); processors are 0 of a project. */
  uint32_t tasks, processors, resources, *demand, *capacity;
  uint64_t *time;
  cm_arc *arcs;
  uint64_t arc_count, arc_capacity;
} cm_text;

/* Moves to what is neither a blank, a line's end nor in a comment. */
void cm_text_skip_blanks(cm_text *text);

/* The next number, which is at most `maximum`; `what` names it in errors. Blanks, line ends and comments from # to the
 * end of a line are skipped. */
cm_status cm_text_number(cm_text *text, const char *what, uint64_t maximum, uint64_t *number, cm_error *error);

/* Adds an arc between tasks. */
cm_status cm_text_arc(cm_text *text, uint64_t from, uint64_t to, uint64_t weight, cm_error *error);

/* Room for the times and demands of so many. Each number takes two bytes of text at least: what cannot be there is refused. */
cm_status cm_text_room(cm_text *text, uint64_t tasks, uint64_t processors, uint64_t resources, cm_error *error);

/* Nothing may follow. */
cm_status cm_text_end(cm_text *text, cm_error *error);

/* Something else stands where `what` is expected. */
cm_status cm_text_fail(const cm_text *text, const char *what, cm_error *error);

/* read_psplib.c */
cm_status cm_read_patterson(cm_text *text, cm_error *error);
cm_status cm_read_progen(cm_text *text, cm_error *error);
