/* Counts over the free cores of a chip, row by row. What can fail: memory. */
#include "core/chip/occupancy.h"

#include "core/chip/region_search.h"

/* Every maximal free rectangle ends in some row, of equal rows in the last; a stack of rising columns meets them all in one
 * pass. */
cm_status cm_tallest_rectangles(cm_core_map of, cm_memory *memory, uint32_t *tallest, uint64_t *largest, cm_error *error)
{
  uint32_t *column, *start, *rise, width = of.width;
  *largest = 0;
  column = start = rise = NULL;
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(column, (size_t)width + 1), CM_ARRAY(start, (size_t)width + 1),
                                CM_ARRAY(rise, (size_t)width + 1));
  for (uint32_t y = 0, equal = 1; status == CM_OK && y < of.height; y++) {
    const uint8_t *row = of.usable + (size_t)y * width;
    uint32_t depth = 0;
    if (y + 1 < of.height && memcmp(row, row + width, width) == 0) {
      equal++;
      continue;
    }
    for (uint32_t x = 0; x <= width; x++) {
      uint32_t h = 0, from = x; /* column [width] stays 0 and empties the stack */
      if (x < width)
        h = column[x] = row[x] ? column[x] + equal : 0;
      while (depth > 0 && rise[depth - 1] >= h) {
        depth--;
        uint32_t w = x - start[depth];
        if (rise[depth] > tallest[w])
          tallest[w] = rise[depth];
        if ((uint64_t)w * rise[depth] > *largest)
          *largest = (uint64_t)w * rise[depth];
        from = start[depth];
      }
      if (h > 0) {
        start[depth] = from;
        rise[depth++] = h;
      }
    }
    equal = 1;
  }
  for (uint32_t w = width; w > 0; w--)
    if (tallest[w + 1] > tallest[w])
      tallest[w] = tallest[w + 1];
  CM_FREE(column, start, rise);
  return status;
}

/* A piece as a tree of its runs along rows. */
typedef struct piece {
  uint32_t parent; /* itself: the root */
  uint32_t members; /* of a root: cores */
} piece;

typedef struct stretch {
  uint32_t from, to; /* columns from .. to - 1 */
  uint32_t piece;
} stretch;

typedef struct pieces {
  piece *piece;
  uint64_t room;
  uint32_t count;
  stretch *above, *here; /* [width / 2 + 1] of the last row and of this one */
  uint32_t above_count, here_count;
  cm_memory *memory;
} pieces;

static uint32_t root_of(pieces *p, uint32_t number)
{
  while (p->piece[number].parent != number) {
    p->piece[number].parent = p->piece[p->piece[number].parent].parent;
    number = p->piece[number].parent;
  }
  return number;
}

/* One piece of two; the smaller number stays. */
static uint32_t join(pieces *p, uint32_t a, uint32_t b)
{
  a = root_of(p, a);
  b = root_of(p, b);
  if (a == b)
    return a;
  uint32_t root = a < b ? a : b, other = a < b ? b : a;
  p->piece[other].parent = root;
  p->piece[root].members += p->piece[other].members;
  return root;
}

static cm_status add_row(pieces *p, const uint8_t *row, uint32_t width, cm_error *error)
{
  const stretch *above = p->above, *end = p->above + p->above_count;
  p->here_count = 0;
  for (uint32_t x = 0; x < width;) {
    const uint8_t *start = memchr(row + x, 1, width - x);
    if (start == NULL)
      break;
    uint32_t from = (uint32_t)(start - row);
    const uint8_t *stop = memchr(start, 0, width - from);
    x = stop == NULL ? width : (uint32_t)(stop - row);
    uint32_t mine = UINT32_MAX;
    while (above < end && above->to <= from)
      above++;
    for (const stretch *a = above; a < end && a->from < x; a++)
      mine = mine == UINT32_MAX ? root_of(p, a->piece) : join(p, mine, a->piece);
    if (mine == UINT32_MAX) {
      CM_TRY(CM_ROOM(p->memory, p->piece, &p->room, (uint64_t)p->count + 1, error));
      mine = p->count++;
      p->piece[mine] = (piece){mine, 0};
    }
    p->piece[mine].members += x - from;
    p->here[p->here_count++] = (stretch){from, x, mine};
  }
  stretch *last = p->above;
  p->above = p->here;
  p->above_count = p->here_count;
  p->here = last;
  return CM_OK;
}

/* Free cores that hang together: runs along rows, joined with those that they touch in the row above. */
static cm_status count_pieces(const uint8_t *usable, uint32_t width, uint32_t height, cm_memory *memory,
                              cm_fragmentation *f, cm_error *error)
{
  pieces p = {.memory = memory};
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(p.above, width / 2 + 1), CM_ARRAY(p.here, width / 2 + 1));
  for (uint32_t y = 0; status == CM_OK && y < height; y++)
    status = add_row(&p, usable + (size_t)y * width, width, error);
  for (uint32_t i = 0; status == CM_OK && i < p.count; i++) {
    if (p.piece[i].parent != i)
      continue;
    f->pieces++;
    f->largest_piece = p.piece[i].members > f->largest_piece ? p.piece[i].members : f->largest_piece;
  }
  CM_FREE(p.piece, p.above, p.here);
  return status;
}

cm_status cm_fragmentation_of(const cm_occupancy *occupancy, cm_fragmentation *fragmentation, cm_error *error)
{
  uint32_t cores = occupancy->width * occupancy->height, *tallest = NULL;
  uint8_t *usable;
  cm_fragmentation f = {0};
  CM_TRY(CM_NEW(NULL, usable, cores, error));
  for (uint32_t c = 0; c < cores; c++) {
    usable[c] = occupancy->state[c] == CM_CORE_FREE;
    f.free += usable[c];
  }
  cm_status status = CM_NEW(NULL, tallest, (size_t)occupancy->width + 2, error);
  CM_THEN(status, cm_tallest_rectangles((cm_core_map){usable, occupancy->width, occupancy->height}, NULL, tallest,
                                        &f.largest_rectangle, error));
  CM_THEN(status, count_pieces(usable, occupancy->width, occupancy->height, NULL, &f, error));
  CM_FREE(usable, tallest);
  f.value = f.free > 0 ? 1 - (double)f.largest_rectangle / f.free : 0;
  CM_END(status, *fragmentation = f, );
}
