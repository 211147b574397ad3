/* The binary views of a mapping. What can fail: memory. */

#include <stdlib.h>

#include "core/measure/binary.h"
#include "core/output/view_writer.h"

typedef cm_view_writer writer;

static void put_count_u32(FILE *stream, uint64_t value)
{
  cm_put_u32(stream, value > UINT32_MAX ? UINT32_MAX : (uint32_t)value);
}

cm_status cm_write_neurons_binary(writer *w)
{
  (void)fputs("CMNEURO1", w->stream);
  cm_put_u32(w->stream, w->mapping->vertex_count);
  cm_put_u32(w->stream, w->mapping->part_count);
  for (uint32_t v = 0; v < w->mapping->vertex_count; v++)
    cm_put_u32(w->stream, w->mapping->part[v]);
  return CM_OK;
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
  cm_put_u32(w->stream, part);
  put_count_u32(w->stream, load->neurons);
  put_count_u32(w->stream, load->synapses);
  put_count_u32(w->stream, load->inbound_axons);
  put_count_u32(w->stream, load->outbound_axons);
  put_count_u32(w->stream, load->target_cores);
  cm_put_f32(w->stream, load->traffic_in);
  cm_put_f32(w->stream, load->traffic_out);
  cm_put_f32(w->stream, cm_congestion_at(&w->mapping->detail, w->chip, core));
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
  cm_binary_box b = cm_put_head(w->stream, "CMCORES", width, height,
                   (cm_binary_box){window->x0 * rx, window->y0 * ry, window->width * rx, window->height * ry});
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

cm_status cm_write_links_binary(writer *w)
{
  cm_links_write_binary(w->chip, &w->mapping->detail.window, w->mapping->detail.link_load, w->stream);
  return CM_OK;
}
