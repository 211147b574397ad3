#include "core/output/picture/picture.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "core/chip/geometry.h"
#include "core/measure/measure.h"
#include "core/output/picture/drawing.h"
#include "core/measure/populations_of_parts.h"

enum { WHOLE_CORES_MAX = 65536, DRAWN_CORES_MAX = 1 << 22 };

typedef enum source { COUNT, REAL, CONGESTION, LINKS, POPULATION } source;

static const struct layer {
  const char *name, *title, *unit;
  source source;
  size_t offset, limit; /* in cm_core_load; in cm_limits plus 1, 0: it has none */
} layers[] = {
  {"neurons", "neurons", "", COUNT, offsetof(cm_core_load, neurons), offsetof(cm_limits, neurons) + 1},
  {"synapses", "synapses", "", COUNT, offsetof(cm_core_load, synapses), offsetof(cm_limits, synapses) + 1},
  {"inbound_axons", "inbound axons", "", COUNT, offsetof(cm_core_load, inbound_axons), offsetof(cm_limits, inbound_axons) + 1},
  {"outbound_axons", "outbound axons", "", COUNT, offsetof(cm_core_load, outbound_axons), offsetof(cm_limits, outbound_axons) + 1},
  {"target_cores", "target cores", "", COUNT, offsetof(cm_core_load, target_cores), offsetof(cm_limits, target_cores) + 1},
  {"traffic_in", "traffic in", "packets a step", REAL, offsetof(cm_core_load, traffic_in), 0},
  {"traffic_out", "traffic out", "packets a step", REAL, offsetof(cm_core_load, traffic_out), 0},
  {"receive_ns", "time to receive", "ns a step", REAL, offsetof(cm_core_load, receive_ns), 0},
  {"send_ns", "time to send", "ns a step", REAL, offsetof(cm_core_load, send_ns), 0},
  {"congestion", "congestion", "packets a step", CONGESTION, 0, 0},
  {"links", "link load", "packets a step", LINKS, 0, 0},
  {"population", "populations", "", POPULATION, 0, 0},
};
enum { LAYERS = sizeof layers / sizeof *layers };

const char *const cm_picture_layers[] = {"neurons",    "synapses",    "inbound_axons", "outbound_axons", "target_cores", "traffic_in",
                                         "traffic_out", "receive_ns", "send_ns",       "congestion",     "links",        "population", NULL};
_Static_assert(sizeof cm_picture_layers / sizeof *cm_picture_layers == LAYERS + 1, "a name a layer");

static cm_status find_layer(const char *name, const struct layer **layer, cm_error *error)
{
  char names[300] = "";
  size_t used = 0;
  for (size_t i = 0; i < LAYERS; i++) {
    if (strcmp(name, layers[i].name) == 0) {
      *layer = &layers[i];
      return CM_OK;
    }
    used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i == 0 ? "" : ", ", layers[i].name);
  }
  return cm_fail(error, CM_BAD_OPTION, "there is no layer \"%.40s\" to draw; there are %s", name, names);
}

/* ---- what is drawn ---- */

/* The box of cores, whole routers, that the picture shows. */
static cm_status frame(cm_picture *p, cm_error *error)
{
  const cm_mapped *m = p->mapped;
  const cm_chip *chip = m->chip;
  uint32_t x0 = UINT32_MAX, y0 = UINT32_MAX, x1 = 0, y1 = 0;
  for (uint32_t i = 0; i < m->parts; i++) {
    uint32_t x = m->core[i] % chip->width, y = m->core[i] / chip->width;
    x0 = x < x0 ? x : x0;
    y0 = y < y0 ? y : y0;
    x1 = x > x1 ? x : x1;
    y1 = y > y1 ? y : y1;
  }
  if (cm_chip_cores(chip) <= WHOLE_CORES_MAX || m->parts == 0) {
    x0 = y0 = 0;
    x1 = chip->width - 1;
    y1 = chip->height - 1;
  }
  p->rx0 = x0 / chip->router_x;
  p->ry0 = y0 / chip->router_y;
  p->routers_x = x1 / chip->router_x - p->rx0 + 1;
  p->routers_y = y1 / chip->router_y - p->ry0 + 1;
  p->x0 = p->rx0 * chip->router_x;
  p->y0 = p->ry0 * chip->router_y;
  p->width = p->routers_x * chip->router_x;
  p->height = p->routers_y * chip->router_y;
  if ((uint64_t)p->width * p->height > DRAWN_CORES_MAX)
    return cm_fail(error, CM_CONFLICT, "the cores in use lie over %" PRIu32 " x %" PRIu32 " cores: at most %d can be drawn", p->width,
                   p->height, DRAWN_CORES_MAX);
  return CM_OK;
}

static size_t cell(const cm_picture *p, uint32_t core)
{
  uint32_t width = p->mapped->chip->width;
  return (size_t)(core / width - p->y0) * p->width + (core % width - p->x0);
}

static double load_of(const struct layer *layer, const cm_metrics_detail *detail, const cm_chip *chip, uint32_t part, uint32_t core)
{
  const char *load = (const char *)&detail->core[part];
  if (layer->source == CONGESTION)
    return cm_congestion_at(detail, chip, core);
  return layer->source == COUNT ? (double)*(const uint64_t *)(const void *)(load + layer->offset)
                                : *(const double *)(const void *)(load + layer->offset);
}

typedef struct spot {
  double x, y;
} spot;

/* Where a router is drawn. */
static spot spot_of(const cm_picture *p, const spot *switches, uint32_t router)
{
  uint32_t columns = cm_chip_routers_x(p->mapped->chip), grid = columns * cm_chip_routers_y(p->mapped->chip);
  return router < grid ? (spot){router % columns - (double)p->rx0 + 0.5, router / columns - (double)p->ry0 + 0.5} : switches[router - grid];
}

/* A switch is amid the routers before it that it joins. */
static void place_switches(const cm_picture *p, uint32_t grid, spot *switches)
{
  const cm_interconnect *net = p->mapped->chip->interconnect;
  for (uint32_t r = grid; r < cm_chip_routers(p->mapped->chip); r++) {
    spot sum = {0, 0};
    uint32_t count = 0;
    for (uint32_t i = net->first[r]; i < net->first[r + 1] && net->link[i].to < r; i++, count++) {
      spot under = spot_of(p, switches, net->link[i].to);
      sum = (spot){sum.x + under.x, sum.y + under.y};
    }
    switches[r - grid] = (spot){count > 0 ? sum.x / count : 0.5, count > 0 ? sum.y / count : 0.5};
  }
}

/* How far a link goes along an axis: one that closes a ring leaves the other way, by one. */
static double reach(double from, double to, uint32_t routers, bool ring)
{
  return ring && fabs(to - from) > 1 && fabs(to - from) >= routers - 1 ? (to > from ? -1 : 1) : to - from;
}

static void draw_link(cm_picture *p, const spot *switches, uint32_t link, double load)
{
  const cm_chip *chip = p->mapped->chip;
  cm_link l = cm_chip_link(chip, link);
  spot a = spot_of(p, switches, l.from), b = spot_of(p, switches, l.to);
  p->link[p->link_count++] = (cm_drawn_link){.x = a.x, .y = a.y, .load = load, .router = l.from,
                                             .dx = reach(a.x, b.x, cm_chip_routers_x(chip), chip->torus_x),
                                             .dy = reach(a.y, b.y, cm_chip_routers_y(chip), chip->torus_y)};
  p->most = load > p->most ? load : p->most;
}

/* Those that leave a router that is drawn, or a switch. */
static cm_status fill_links(cm_picture *p, const cm_metrics_detail *detail, cm_run *run, cm_error *error)
{
  const cm_chip *chip = p->mapped->chip;
  uint32_t columns = cm_chip_routers_x(chip), grid = columns * cm_chip_routers_y(chip);
  spot *switches;
  CM_TRY(CM_NEW_ALL(run->memory, error, CM_ARRAY(p->link, cm_window_links(&detail->window) + 1),
                    CM_ARRAY(switches, cm_chip_routers(chip) - grid)));
  place_switches(p, grid, switches);
  for (size_t i = 0; i < cm_window_links(&detail->window); i++) {
    uint32_t link = cm_window_link(&detail->window, i), from = cm_chip_link(chip, link).from, x = from % columns, y = from / columns;
    bool drawn = from >= grid || (x >= p->rx0 && x < p->rx0 + p->routers_x && y >= p->ry0 && y < p->ry0 + p->routers_y);
    if (drawn && detail->link_load[i] > 0)
      draw_link(p, switches, link, detail->link_load[i]);
  }
  cm_free(switches);
  return CM_OK;
}

/* The population that has most neurons on each core; the first of equals. */
static cm_status fill_populations(cm_picture *p, cm_run *run, cm_error *error)
{
  const cm_topology *t = p->mapped->demand->network;
  uint32_t *most;
  if (t->population_count == 0)
    return cm_fail(error, CM_CONFLICT, "the network has no populations to colour by");
  CM_TRY(CM_NEW(run->memory, most, p->mapped->parts, error));
  cm_status status = cm_populations_of_parts(p->mapped->demand, p->mapped->part, p->mapped->parts, run->memory, most, error);
  for (uint32_t i = 0; status == CM_OK && i < p->mapped->parts; i++)
    p->value[cell(p, p->mapped->core[i])] = most[i];
  p->kinds = true;
  cm_free(most);
  return status;
}

static void set_title(cm_picture *p, const struct layer *layer)
{
  const cm_chip *chip = p->mapped->chip;
  uint64_t limit = layer->limit > 0 ? *(const uint64_t *)(const void *)((const char *)&chip->limits + layer->limit - 1) : 0;
  char most[64] = "";
  if (limit > 0)
    (void)snprintf(most, sizeof most, ", at most %.0f of %" PRIu64, p->most, limit);
  else if (!p->kinds)
    (void)snprintf(most, sizeof most, ", at most %.4g", p->most);
  (void)snprintf(p->title, sizeof p->title, "%s%s%s%s: %" PRIu32 " cores of %.40s", layer->title, most, layer->unit[0] != '\0' ? " " : "",
                 layer->unit, p->mapped->parts, chip->name);
}

static cm_status fill(cm_picture *p, const struct layer *layer, cm_run *run, cm_error *error)
{
  const cm_mapped *m = p->mapped;
  cm_metrics metrics;
  cm_metrics_detail detail = {0};
  if (layer->source == POPULATION)
    return fill_populations(p, run, error);
  CM_TRY(cm_metrics_compute(m, run, &metrics, &detail, error));
  for (uint32_t i = 0; i < m->parts; i++) {
    double value = layer->source == LINKS ? 0 : load_of(layer, &detail, m->chip, i, m->core[i]);
    p->value[cell(p, m->core[i])] = value;
    p->most = value > p->most ? value : p->most;
  }
  cm_status status = layer->source == LINKS ? fill_links(p, &detail, run, error) : CM_OK;
  cm_metrics_detail_free(&detail);
  return status;
}

cm_status cm_picture_write(const cm_mapped *mapped, const char *name, cm_picture_format format, cm_run *run, FILE *stream,
                           cm_error *error)
{
  const struct layer *layer = NULL;
  cm_picture p = {.mapped = mapped};
  CM_TRY(find_layer(name, &layer, error));
  CM_TRY(frame(&p, error));
  size_t cells = (size_t)p.width * p.height;
  cm_run_phase(run, "draw");
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(p.value, cells), CM_ARRAY(p.dead, cells));
  for (size_t i = 0; status == CM_OK && i < cells; i++)
    p.value[i] = -1;
  for (uint32_t i = 0; status == CM_OK && i < mapped->chip->dead_core_count; i++) {
    uint32_t core = mapped->chip->dead_cores[i], x = core % mapped->chip->width, y = core / mapped->chip->width;
    if (x >= p.x0 && x < p.x0 + p.width && y >= p.y0 && y < p.y0 + p.height)
      p.dead[cell(&p, core)] = true;
  }
  CM_THEN(status, fill(&p, layer, run, error));
  if (status == CM_OK) {
    p.unit = layer->unit;
    set_title(&p, layer);
    if (format == CM_PICTURE_PNG)
      status = cm_picture_png(&p, run, stream, error);
    else
      cm_picture_svg(&p, stream);
  }
  if (status == CM_OK && (fflush(stream) != 0 || ferror(stream) != 0))
    status = cm_fail(error, CM_DISK_FULL, "cannot write the picture");
  CM_FREE(p.value, p.dead, p.link);
  return status;
}
