/* An occupancy as text: equal cores merged to rectangles, those of an owner together. What can fail: memory. */
#include "core/chip/occupancy.h"

#include <inttypes.h>

#include "base/json.h"
#include "base/order.h"
#include "base/text.h"
#include "core/chip/json.h"

/* A rectangle of equal cores; `key` is the owner's index, or BROKEN_KEY. */
typedef struct block {
  uint32_t key;
  cm_rectangle r;
} block;

static const uint32_t BROKEN_KEY = UINT32_MAX;

CM_ORDER(by_key, block, CM_RISING(key) CM_RISING(r.y0) CM_RISING(r.x0))

typedef struct block_list {
  block *block;
  uint64_t count, room;
} block_list;

static cm_status add_block(block_list *list, block added, cm_error *error)
{
  CM_TRY(CM_ROOM(NULL, list->block, &list->room, list->count + 1, error));
  list->block[list->count++] = added;
  return CM_OK;
}

/* Cuts the chip's used cores in runs along rows and joins a run with the equal one right above. */
static cm_status find_blocks(const cm_occupancy *occupancy, block_list *list, cm_error *error)
{
  uint32_t width = occupancy->width;
  size_t *above; /* [width] 1 + the block that a run starting at x of the last row belongs to, 0: none */
  CM_TRY(CM_NEW(NULL, above, width, error));
  cm_status status = CM_OK;
  bool clear = true; /* no block above */
  for (uint32_t y = 0; status == CM_OK && y < occupancy->height; y++) {
    const uint8_t *state = occupancy->state + (size_t)y * width;
    bool idle = state[0] == CM_CORE_FREE && memcmp(state, state + 1, width - 1) == 0;
    if (idle && clear)
      continue;
    clear = idle;
    const uint32_t *owner = occupancy->owner + (size_t)y * width;
    for (uint32_t x = 0, end; status == CM_OK && x < width; x = end) {
      size_t old = above[x];
      for (end = x + 1; end < width && state[end] == state[x] &&
                        (state[x] != CM_CORE_TAKEN || owner[end] == owner[x]); end++)
        above[end] = 0;
      above[x] = 0;
      if (state[x] == CM_CORE_FREE)
        continue;
      uint32_t key = state[x] == CM_CORE_BROKEN ? BROKEN_KEY : owner[x];
      if (old != 0 && list->block[old - 1].key == key && list->block[old - 1].r.x1 == end - 1 &&
          list->block[old - 1].r.y1 + 1 == y) {
        list->block[old - 1].r.y1 = y;
      } else {
        status = add_block(list, (block){key, {x, y, end - 1, y}}, error);
        old = list->count;
      }
      above[x] = old;
    }
  }
  cm_free(above);
  return status;
}

/* When jansson is refused memory, an owner is missing in the text. */
static void print_state(FILE *stream, const cm_occupancy *occupancy, const cm_chip *chip,
                        const block_list *list, const cm_fragmentation *f)
{
  (void)fprintf(stream, "{\"chip\": \"%s\", \"width\": %" PRIu32 ", \"height\": %" PRIu32 ", \"free\": %" PRIu32
                ", \"fragmentation\": {\"value\": %.6f, \"largest_free_rectangle\": %" PRIu64 ", \"pieces\": %" PRIu32
                ", \"largest_piece\": %" PRIu32 "}, \"taken\": [",
                chip->name, chip->width, chip->height, f->free, f->value, f->largest_rectangle, f->pieces,
                f->largest_piece);
  size_t i = 0;
  for (bool first = true; i < list->count && list->block[i].key != BROKEN_KEY; first = false) {
    uint32_t key = list->block[i].key;
    json_t *name = json_string(occupancy->owners[key]);
    char *quoted = cm_json_dumps(name, JSON_ENCODE_ANY);
    (void)fprintf(stream, "%s{\"owner\": %s, \"cores\": [", first ? "" : ", ", quoted != NULL ? quoted : "");
    free(quoted);
    json_decref(name);
    for (size_t start = i; i < list->count && list->block[i].key == key; i++) {
      cm_rectangle r = list->block[i].r;
      (void)fprintf(stream, "%s[%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 "]", i == start ? "" : ",", r.x0,
                    r.y0, r.x1, r.y1);
    }
    (void)fputs("]}", stream);
  }
  (void)fputs("], \"broken\": [", stream);
  for (size_t start = i; i < list->count; i++) {
    cm_rectangle r = list->block[i].r;
    (void)fprintf(stream, "%s[%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 "]", i == start ? "" : ",", r.x0,
                  r.y0, r.x1, r.y1);
  }
  (void)fputs("]}\n", stream);
}

cm_status cm_occupancy_print(const cm_occupancy *occupancy, const cm_chip *chip, char **json,
                             cm_error *error)
{
  block_list list = {0};
  cm_fragmentation fragmentation;
  cm_status status = find_blocks(occupancy, &list, error);
  CM_THEN(status, cm_fragmentation_of(occupancy, &fragmentation, error));
  if (status == CM_OK) {
    if (list.count > 0)
      qsort(list.block, list.count, sizeof *list.block, by_key);
    cm_text text;
    char *whole = NULL;
    uint64_t refusals = cm_json_refusals();
    if (cm_text_open(&text)) {
      print_state(text.stream, occupancy, chip, &list, &fragmentation);
      whole = cm_text_close(&text, NULL);
    }
    status = cm_whole(whole != NULL, "printing the occupancy", error);
    CM_THEN(status, cm_json_whole(refusals, "printing the occupancy", error));
    if (status == CM_OK)
      *json = whole;
    else
      free(whole);
  }
  cm_free(list.block);
  return status;
}
