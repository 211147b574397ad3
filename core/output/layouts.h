/* How binary views of a mapping are laid out, for programs that read them. */
#pragma once

#include <jansson.h>

/* A row a form of a file: "magic" of 8 bytes, by which a reader knows it; "views", whose files have it; "head" and "record", fields with
 * "name", "type" (u32, f32) and "offset" from the file's, from the record's beginning; "head_bytes", "record_bytes"; "of", what a record
 * is about; "count", fields of the head whose product is the number of records. NULL when out of memory. */
json_t *cm_layouts_json(void);
