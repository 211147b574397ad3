/* What the readers of files about chips share: places of refusals, known fields, rectangles. */
#pragma once

#include <jansson.h>

#include "core/chip/chip.h"

/* Cores [x0, x1] x [y0, y1], corners included. */
typedef struct cm_rectangle {
  uint32_t x0, y0, x1, y1;
} cm_rectangle;

/* A list of them in a document. */
typedef struct cm_rectangles {
  const json_t *list;     /* of [x,y] and [x0,y0,x1,y1] */
  const char *where;      /* its JSON pointer */
  uint32_t width, height; /* all lie inside */
  cm_status status;       /* the code of a refusal */
} cm_rectangles;

cm_status cm_rectangle_read(const cm_rectangles *from, size_t index, cm_rectangle *rectangle, cm_error *error);

/* Refuses fields of `object` (at pointer `where`) that are not among the NULL-terminated `names`. */
cm_status cm_json_known_fields(const json_t *object, const char *where, const char *const *names,
                               cm_status status, cm_error *error);

/* Fails with `status` at the JSON pointer `where`. */
cm_status cm_json_fail(cm_error *error, cm_status status, const char *where, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The place of something below another, "%s/%zu", cut to what an error has room for; returns `place`. */
enum { CM_JSON_PLACE_MAX = 96 };
const char *cm_json_place(char place[CM_JSON_PLACE_MAX], const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What a document is called, how long it may be, and the code of a refusal. */
typedef struct cm_document {
  const char *name;
  size_t size_max;
  cm_status status;
} cm_document;

/* Parses text to an object; the place of a syntax error is its line and column. */
cm_status cm_json_load(const char *text, size_t size, const cm_document *kind, json_t **object, cm_error *error);

/* How many cores a list of rectangles may name: overlaps are fine, endless repetition is not. */
static inline uint64_t cm_named_cores_max(uint32_t width, uint32_t height)
{
  return (uint64_t)width * height * 16 + 4096;
}
