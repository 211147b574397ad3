/* The binary files of grids and links. All of a chip stands in a file where that is not much; of a larger chip a box does, so
 * that the file costs what is used. */
#include "core/measure/binary.h"

#include <string.h>

#include "core/chip/geometry.h"

/* Chips of more cores, arrays of more routers are written as a box. */
enum { WHOLE_MAX = 1 << 20 };

void cm_put_u32(FILE *stream, uint32_t value)
{
  uint8_t bytes[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16), (uint8_t)(value >> 24)};
  (void)fwrite(bytes, 1, sizeof bytes, stream);
}

void cm_put_f32(FILE *stream, double value)
{
  float narrow = (float)value;
  uint32_t bits;
  memcpy(&bits, &narrow, sizeof bits);
  cm_put_u32(stream, bits);
}

cm_binary_box cm_put_head(FILE *stream, const char *magic, uint32_t width, uint32_t height, cm_binary_box used)
{
  cm_binary_box whole = {0, 0, width, height};
  bool all = (uint64_t)width * height <= WHOLE_MAX;
  (void)fprintf(stream, "%s%c", magic, all ? '1' : '2');
  cm_put_u32(stream, width);
  cm_put_u32(stream, height);
  if (all)
    return whole;
  cm_put_u32(stream, used.x);
  cm_put_u32(stream, used.y);
  cm_put_u32(stream, used.columns);
  cm_put_u32(stream, used.rows);
  return used;
}

static void put_ways(const cm_chip *chip, const double *load, FILE *stream)
{
  (void)fputs("CMLINKS3", stream);
  cm_put_u32(stream, cm_chip_routers(chip));
  cm_put_u32(stream, cm_chip_links(chip));
  for (uint32_t i = 0; i < cm_chip_links(chip); i++) {
    cm_link link = cm_chip_link(chip, i);
    cm_put_u32(stream, link.from);
    cm_put_u32(stream, link.to);
    cm_put_f32(stream, load[i]);
  }
}

void cm_links_write_binary(const cm_chip *chip, const cm_window *window, const double *load, FILE *stream)
{
  const cm_window *w = window;
  if (w->ways != 0) {
    put_ways(chip, load, stream);
    return;
  }
  cm_binary_box b = cm_put_head(stream, "CMLINKS", w->routers_x, w->routers_y, (cm_binary_box){w->x0, w->y0, w->width, w->height});
  for (uint32_t j = 0; j < b.rows; j++)
    for (uint32_t i = 0; i < b.columns; i++) {
      uint32_t x = b.x + i < w->routers_x ? b.x + i : b.x + i - w->routers_x;
      uint32_t y = b.y + j < w->routers_y ? b.y + j : b.y + j - w->routers_y;
      for (uint32_t d = 0; d < CM_DIRECTIONS; d++)
        cm_put_f32(stream, cm_window_load(w, load, (y * w->routers_x + x) * CM_DIRECTIONS + d));
    }
}
