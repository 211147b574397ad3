/* What the readers of files about chips share: places of refusals, known fields, rectangles. */
#ifndef CM_CHIP_JSON_H
#define CM_CHIP_JSON_H

#include <jansson.h>

#include "core/chip/chip.h"

/* Cores [x0, x1] x [y0, y1], corners included. */
typedef struct cm_rectangle {
  uint32_t x0, y0, x1, y1;
} cm_rectangle;

/* Reads [x,y] or [x0,y0,x1,y1] at JSON pointer `where`/`index`; `status` is the code of a refusal. */
cm_status cm_rectangle_read(const json_t *item, const char *where, size_t index, uint32_t width,
                            uint32_t height, cm_status status, cm_rectangle *rectangle, cm_error *error);

/* Refuses fields of `object` (at pointer `where`) that are not among the NULL-terminated `names`. */
cm_status cm_json_known_fields(const json_t *object, const char *where, const char *const *names,
                               cm_status status, cm_error *error);

/* Fails with `status` at the JSON pointer `where`. */
cm_status cm_json_fail(cm_error *error, cm_status status, const char *where, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Parses text to an object; the place of a syntax error is its line and column. */
cm_status cm_json_load(const char *text, size_t size, size_t size_max, const char *what, cm_status status,
                       json_t **object, cm_error *error);

/* How many cores a list of rectangles may name: overlaps are fine, endless repetition is not. */
static inline uint64_t cm_named_cores_max(uint32_t width, uint32_t height)
{
  return (uint64_t)width * height * 16 + 4096;
}

#endif
