/* The load of every link that carries something, as JSON and CSV. */
#include <inttypes.h>

#include "core/chip/geometry.h"
#include "core/output/view_writer.h"

typedef cm_view_writer writer;

static void put_links(writer *w, cm_link_form form)
{
  const cm_window *window = &w->mapping->detail.window;
  const double *load = w->mapping->detail.link_load;
  const uint32_t row = window->routers_x * CM_DIRECTIONS;
  char text[CM_LINK_TEXT_MAX];
  bool first = true;
  for (uint32_t i = 0; i < cm_chip_links(w->chip); i++) {
    if (window->ways == 0 && i % row == 0 && cm_window_row(window, i / row) >= window->height) {
      i += row - 1; /* nothing is in the row */
      continue;
    }
    double here = cm_window_load(window, load, i);
    if (here <= 0)
      continue;
    cm_chip_link_text(w->chip, i, form, text);
    (void)fprintf(w->stream, form == CM_LINK_AS_CSV ? "%s%s," : "%s{%s, \"load\": ", first || form == CM_LINK_AS_CSV ? "" : ",\n", text);
    first = false;
    cm_view_put_real(w, here);
    cm_view_put_text(w, form == CM_LINK_AS_CSV ? "\n" : "}");
  }
}

cm_status cm_write_links_json(writer *w)
{
  (void)fprintf(w->stream, "{\"routers_x\": %" PRIu32 ", \"routers_y\": %" PRIu32 ", \"links\": [\n",
                cm_chip_routers_x(w->chip), cm_chip_routers_y(w->chip));
  put_links(w, CM_LINK_AS_JSON);
  cm_view_put_text(w, "]}\n");
  return CM_OK;
}

cm_status cm_write_links_csv(writer *w)
{
  (void)fprintf(w->stream, "%s,load\n", cm_chip_link_columns(w->chip));
  put_links(w, CM_LINK_AS_CSV);
  return CM_OK;
}
