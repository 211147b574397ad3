/* The load of every link that carries something, as JSON and CSV. */
#include <inttypes.h>

#include "core/chip/interconnect/interconnect.h"
#include "core/chip/turns.h"
#include "core/output/view_writer.h"

typedef cm_view_writer writer;

/* Calls for every link that carries something, in order of routers and directions. */
static void put_links(writer *w, const char *separator, void (*put)(writer *w, uint32_t x, uint32_t y,
                                                                    const char *direction, double load))
{
  const cm_window *window = &w->mapping->detail.window;
  bool first = true;
  for (uint32_t y = 0; y < window->routers_y; y++) {
    if (cm_window_row(window, y) >= window->height)
      continue;
    for (uint32_t x = 0; x < window->routers_x; x++)
      for (cm_direction d = CM_EAST; d < CM_DIRECTIONS; d++) {
        double load = cm_link_load_at(&w->mapping->detail, x, y, d);
        if (load <= 0)
          continue;
        cm_view_put_text(w, first ? "" : separator);
        first = false;
        put(w, x, y, cm_direction_name(d), load);
      }
  }
}

static void put_link_json(writer *w, uint32_t x, uint32_t y, const char *direction, double load)
{
  (void)fprintf(w->stream, "{\"x\": %" PRIu32 ", \"y\": %" PRIu32 ", \"direction\": \"%s\", \"load\": ", x, y,
                direction);
  cm_view_put_real(w, load);
  cm_view_put_text(w, "}");
}

static void put_link_csv(writer *w, uint32_t x, uint32_t y, const char *direction, double load)
{
  (void)fprintf(w->stream, "%" PRIu32 ",%" PRIu32 ",%s,", x, y, direction);
  cm_view_put_real(w, load);
  cm_view_put_text(w, "\n");
}

/* Links of an interconnect that is no plain mesh are told by the numbers of their routers. */
static void put_ways(writer *w, bool csv)
{
  const cm_interconnect *net = w->chip->interconnect;
  const double *load = w->mapping->detail.link_load;
  const char *lead = "";
  for (uint32_t i = 0; i < net->link_count; i++) {
    if (load[i] <= 0)
      continue;
    if (csv)
      (void)fprintf(w->stream, "%" PRIu32 ",%" PRIu32 ",", net->link[i].from, net->link[i].to);
    else
      (void)fprintf(w->stream, "%s{\"from\": %" PRIu32 ", \"to\": %" PRIu32 ", \"load\": ", lead, net->link[i].from,
                    net->link[i].to);
    lead = ",\n";
    cm_view_put_real(w, load[i]);
    cm_view_put_text(w, csv ? "\n" : "}");
  }
}

cm_status cm_write_links_json(writer *w)
{
  (void)fprintf(w->stream, "{\"routers_x\": %" PRIu32 ", \"routers_y\": %" PRIu32 ", \"links\": [\n",
                cm_chip_routers_x(w->chip), cm_chip_routers_y(w->chip));
  if (w->chip->interconnect != NULL)
    put_ways(w, false);
  else
    put_links(w, ",\n", put_link_json);
  cm_view_put_text(w, "]}\n");
  return CM_OK;
}

cm_status cm_write_links_csv(writer *w)
{
  if (w->chip->interconnect != NULL) {
    cm_view_put_text(w, "from,to,load\n");
    put_ways(w, true);
    return CM_OK;
  }
  cm_view_put_text(w, "x,y,direction,load\n");
  put_links(w, "", put_link_csv);
  return CM_OK;
}
