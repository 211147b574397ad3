/* The binary views of a mapping. All of a chip stands in a file where that is not much; of a larger chip a box does, so
 * that the file costs what is used. What can fail: memory. */
#include "core/chip/interconnect/interconnect.h"
#include "core/mapping/result/export.h"
#include "core/mapping/result/export_internal.h"

#include <stdlib.h>
#include <string.h>

typedef cm_view_writer writer;

/* Chips of more cores, arrays of more routers are written as a box. */
enum { WHOLE_MAX = 1 << 20 };

static void put_u32(FILE *stream, uint32_t value)
{
  uint8_t bytes[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16), (uint8_t)(value >> 24)};
  (void)fwrite(bytes, 1, sizeof bytes, stream);
}

static void put_count_u32(FILE *stream, uint64_t value)
{
  put_u32(stream, value > UINT32_MAX ? UINT32_MAX : (uint32_t)value);
}

static void put_f32(FILE *stream, double value)
{
  float narrow = (float)value;
  uint32_t bits;
  memcpy(&bits, &narrow, sizeof bits);
  put_u32(stream, bits);
}

cm_status cm_write_neurons_binary(writer *w)
{
  (void)fputs("CMNEURO1", w->stream);
  put_u32(w->stream, w->mapping->vertex_count);
  put_u32(w->stream, w->mapping->part_count);
  for (uint32_t v = 0; v < w->mapping->vertex_count; v++)
    put_u32(w->stream, w->mapping->part[v]);
  return CM_OK;
}

/* Columns and rows from (x, y) on; along a torus they may go over the edge. */
typedef struct box {
  uint32_t x, y, columns, rows;
} box;

/* The head of a file of a grid, and what of the grid it holds. */
static box put_head(FILE *stream, const char *magic, uint32_t width, uint32_t height, box used)
{
  box whole = {0, 0, width, height};
  bool all = (uint64_t)width * height <= WHOLE_MAX;
  (void)fprintf(stream, "%s%c", magic, all ? '1' : '2');
  put_u32(stream, width);
  put_u32(stream, height);
  if (all)
    return whole;
  put_u32(stream, used.x);
  put_u32(stream, used.y);
  put_u32(stream, used.columns);
  put_u32(stream, used.rows);
  return used;
}

static int by_core(const void *a, const void *b)
{
  const uint32_t *p = a, *q = b;
  return *p < *q ? -1 : *p > *q;
}

static void put_core(const writer *w, uint32_t part, uint32_t core)
{
  static const cm_core_load idle;
  const cm_core_load *load = part == UINT32_MAX ? &idle : &w->mapping->detail.core[part];
  put_u32(w->stream, part);
  put_count_u32(w->stream, load->neurons);
  put_count_u32(w->stream, load->synapses);
  put_count_u32(w->stream, load->inbound_axons);
  put_count_u32(w->stream, load->outbound_axons);
  put_count_u32(w->stream, load->target_cores);
  put_f32(w->stream, load->traffic_in);
  put_f32(w->stream, load->traffic_out);
  put_f32(w->stream, cm_congestion_at(&w->mapping->detail, w->chip, core));
}

cm_status cm_write_cores_binary(writer *w)
{
  const cm_window *window = &w->mapping->detail.window;
  uint32_t width = w->chip->width, height = w->chip->height, rx = w->chip->router_x, ry = w->chip->router_y;
  uint32_t parts = w->mapping->part_count;
  struct place {
    uint32_t core, part;
  } *place; /* of every part, by core */
  if (CM_NEW(NULL, place, parts, w->error) != CM_OK)
    return w->error->status;
  for (uint32_t p = 0; p < parts; p++)
    place[p] = (struct place){w->mapping->core[p], p};
  qsort(place, parts, sizeof *place, by_core);
  box b = put_head(w->stream, "CMCORES", width, height,
                   (box){window->x0 * rx, window->y0 * ry, window->width * rx, window->height * ry});
  for (uint32_t j = 0; j < b.rows; j++) {
    uint32_t y = b.y + j < height ? b.y + j : b.y + j - height, from = 0, to = parts;
    while (from < to) { /* the first place of the row or beyond */
      uint32_t middle = from + (to - from) / 2;
      if (place[middle].core < y * width)
        from = middle + 1;
      else
        to = middle;
    }
    for (uint32_t i = 0, next = from; i < b.columns; i++) {
      uint32_t x = b.x + i < width ? b.x + i : b.x + i - width, core = y * width + x;
      if (x == 0)
        next = from;
      while (next < parts && place[next].core < core)
        next++;
      put_core(w, next < parts && place[next].core == core ? place[next].part : UINT32_MAX, core);
    }
  }
  cm_free(place);
  return CM_OK;
}

void cm_links_write_binary(const cm_window *window, const double *load, FILE *stream)
{
  const cm_window *w = window;
  box b = put_head(stream, "CMLINKS", w->routers_x, w->routers_y, (box){w->x0, w->y0, w->width, w->height});
  for (uint32_t j = 0; j < b.rows; j++)
    for (uint32_t i = 0; i < b.columns; i++) {
      uint32_t x = b.x + i < w->routers_x ? b.x + i : b.x + i - w->routers_x;
      uint32_t y = b.y + j < w->routers_y ? b.y + j : b.y + j - w->routers_y;
      uint32_t column = cm_window_column(w, x), row = cm_window_row(w, y);
      bool inside = column < w->width && row < w->height;
      for (size_t d = 0; d < CM_DIRECTIONS; d++)
        put_f32(stream, inside ? load[((size_t)row * w->width + column) * CM_DIRECTIONS + d] : 0);
    }
}

/* All links of an interconnect that is no plain mesh: from, to, load. */
void cm_ways_write_binary(const cm_chip *chip, const double *load, FILE *stream)
{
  const cm_interconnect *net = chip->interconnect;
  (void)fputs("CMLINKS3", stream);
  put_u32(stream, net->routers);
  put_u32(stream, net->link_count);
  for (uint32_t i = 0; i < net->link_count; i++) {
    put_u32(stream, net->link[i].from);
    put_u32(stream, net->link[i].to);
    put_f32(stream, load[i]);
  }
}

cm_status cm_write_links_binary(writer *w)
{
  if (w->chip->interconnect != NULL) {
    cm_ways_write_binary(w->chip, w->mapping->detail.link_load, w->stream);
    return CM_OK;
  }
  cm_links_write_binary(&w->mapping->detail.window, w->mapping->detail.link_load, w->stream);
  return CM_OK;
}
