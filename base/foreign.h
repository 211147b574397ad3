/* Text that others wrote, for people to see: what moves a cursor, sets a title, turns the direction of writing or cannot be seen is
 * shown as the escape that JSON has for it, \u001B, and a byte that is no UTF-8 as \xFF. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* CM_FOREIGN_LINES: tabs and ends of lines stay; else they are shown too. */
typedef enum cm_foreign { CM_FOREIGN_LINE, CM_FOREIGN_LINES } cm_foreign;

void cm_foreign_print(const char *text, size_t size, cm_foreign kind, FILE *stream);

/* The same into `shown`, cut to its room between two characters; returns `shown`. */
const char *cm_foreign_copy(const char *text, cm_foreign kind, char *shown, size_t room);

/* Whether a text would be shown as it is. */
bool cm_foreign_is_plain(const char *text, cm_foreign kind);
