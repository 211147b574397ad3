#include "core/chip/fragments.h"

#include "core/chip/internal.h"

/* Every maximal free rectangle ends in some row; a stack of rising columns meets them all in one pass. */
cm_status cm_tallest_rectangles(const uint8_t *usable, uint32_t width, uint32_t height, cm_memory *memory,
                                uint32_t *tallest, uint64_t *largest, cm_error *error)
{
  uint32_t *column, *start, *rise;
  cm_status status = CM_OK;
  *largest = 0;
  column = start = rise = NULL;
  if (CM_NEW(memory, column, (size_t)width + 1, error) != CM_OK ||
      CM_NEW(memory, start, (size_t)width + 1, error) != CM_OK ||
      CM_NEW(memory, rise, (size_t)width + 1, error) != CM_OK)
    status = error->status;
  for (uint32_t y = 0; status == CM_OK && y < height; y++) {
    const uint8_t *row = usable + (size_t)y * width;
    uint32_t depth = 0;
    for (uint32_t x = 0; x <= width; x++) {
      uint32_t h = 0, from = x; /* column [width] stays 0 and empties the stack */
      if (x < width)
        h = column[x] = row[x] ? column[x] + 1 : 0;
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
  }
  for (uint32_t w = width; w > 0; w--)
    if (tallest[w + 1] > tallest[w])
      tallest[w] = tallest[w + 1];
  cm_free(column);
  cm_free(start);
  cm_free(rise);
  return status;
}

/* Free cores that hang together, each counted from one flood over a stack. */
static cm_status count_pieces(const uint8_t *usable, uint32_t width, uint32_t height, cm_memory *memory,
                              cm_fragmentation *f, cm_error *error)
{
  uint8_t *seen;
  uint32_t *stack, cores = width * height;
  cm_status status = CM_NEW(memory, seen, cores, error);
  if (status != CM_OK)
    return status;
  status = CM_NEW(memory, stack, cores, error);
  for (uint32_t start = 0; status == CM_OK && start < cores; start++) {
    uint32_t depth = 0, members = 0;
    if (!usable[start] || seen[start])
      continue;
    seen[start] = 1;
    stack[depth++] = start;
    while (depth > 0) {
      uint32_t core = stack[--depth], x = core % width, y = core / width;
      uint32_t beside[4] = {x > 0 ? core - 1 : core, x + 1 < width ? core + 1 : core, y > 0 ? core - width : core,
                            y + 1 < height ? core + width : core};
      members++;
      for (int i = 0; i < 4; i++)
        if (usable[beside[i]] && !seen[beside[i]]) {
          seen[beside[i]] = 1;
          stack[depth++] = beside[i];
        }
    }
    f->pieces++;
    f->largest_piece = members > f->largest_piece ? members : f->largest_piece;
  }
  cm_free(seen);
  cm_free(stack);
  return status;
}

cm_status cm_fragmentation_of(const cm_occupancy *occupancy, cm_fragmentation *fragmentation, cm_error *error)
{
  uint32_t cores = occupancy->width * occupancy->height, *tallest = NULL;
  uint8_t *usable;
  cm_fragmentation f = {0};
  cm_status status = CM_NEW(NULL, usable, cores, error);
  if (status != CM_OK)
    return status;
  for (uint32_t c = 0; c < cores; c++) {
    usable[c] = occupancy->state[c] == CM_CORE_FREE;
    f.free += usable[c];
  }
  status = CM_NEW(NULL, tallest, (size_t)occupancy->width + 2, error);
  if (status == CM_OK)
    status =
        cm_tallest_rectangles(usable, occupancy->width, occupancy->height, NULL, tallest, &f.largest_rectangle, error);
  if (status == CM_OK)
    status = count_pieces(usable, occupancy->width, occupancy->height, NULL, &f, error);
  cm_free(usable);
  cm_free(tallest);
  f.value = f.free > 0 ? 1 - (double)f.largest_rectangle / f.free : 0;
  if (status == CM_OK)
    *fragmentation = f;
  return status;
}
