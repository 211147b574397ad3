/* What the files of the chip room share. */
#ifndef CM_CHIP_INTERNAL_H
#define CM_CHIP_INTERNAL_H

#include <jansson.h>

#include "core/chip/chip.h"

/* Presets as the build embeds them (presets.awk writes presets.c), ended by a NULL name. */
typedef struct cm_chip_preset {
  const char *name;
  const char *text;
} cm_chip_preset;
extern const cm_chip_preset cm_chip_preset_table[];
extern const char *const cm_chip_preset_names[];

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

/* The refusal of one field of a chip file: CM_BAD_CHIP at the JSON pointer `where`. */
cm_status cm_chip_bad(cm_error *error, const char *where, const char *what);

/* A whole number of a chip file, least to most. */
cm_status cm_chip_read_whole(const json_t *value, const char *where, int64_t least, int64_t most, int64_t *number,
                             cm_error *error);

/* Limits of a core, from an object (NULL: none) and as one; *bits_per_synapse is 0 unless synapses are stated in bits. */
cm_status cm_limits_read(const json_t *object, const char *where, cm_limits *limits, uint32_t *bits_per_synapse, cm_error *error);
json_t *cm_limits_json(const cm_limits *limits, uint32_t bits_per_synapse);

/* Dead cores (dead routers have no cores) and, of a plain mesh, dead links: from a chip file's root, and as lists. */
cm_status cm_dead_cores_read(const json_t *root, cm_chip *chip, cm_error *error);
cm_status cm_dead_links_read(const json_t *root, cm_chip *chip, cm_error *error);
json_t *cm_dead_cores_json(const cm_chip *chip);
json_t *cm_dead_links_json(const cm_chip *chip);

/* Core classes (classes.h): from a list (NULL: none), and as one, NULL where there are none. */
cm_status cm_classes_read(const json_t *list, cm_chip *chip, cm_error *error);
void cm_classes_free(cm_chip *chip);

/* tallest [width + 2]: at index w the height of the tallest all-usable rectangle at least w wide; *largest: cores of
 * the largest. O(cores). */
cm_status cm_tallest_rectangles(const uint8_t *usable, uint32_t width, uint32_t height, cm_memory *memory,
                                uint32_t *tallest, uint64_t *largest, cm_error *error);

/* How many cores a list of rectangles may name: overlaps are fine, endless repetition is not. */
static inline uint64_t cm_named_cores_max(uint32_t width, uint32_t height)
{
  return (uint64_t)width * height * 16 + 4096;
}

#endif
