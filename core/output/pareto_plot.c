/* Happy path: points and bounds from the table -> axes of whole powers and their halves -> lines, points, words. What can
 * fail: there is no table. */
#include "core/output/pareto_files.h"

#include <math.h>
#include <stdio.h>

enum { WIDTH = 640, HEIGHT = 420, LEFT = 84, RIGHT = 24, TOP = 36, BOTTOM = 56 };

typedef struct axis {
  double low, high;    /* logarithms of the ends */
  double from, to;     /* where these are drawn */
  const char *unit;
  double scale;        /* of the unit */
} axis;

static double at(const axis *a, double value)
{
  return a->from + (log10(value / a->scale) - a->low) / (a->high - a->low) * (a->to - a->from);
}

/* The largest prefix that leaves the least value at 1 or more. */
static axis axis_of(double least, double most, double from, double to, const char *const units[4])
{
  axis a = {.from = from, .to = to, .unit = units[0], .scale = 1};
  for (int i = 1; i < 4 && least >= a.scale * 1000; i++) {
    a.scale *= 1000;
    a.unit = units[i];
  }
  double margin = 0.06 * (log10(most / least) + 0.2);
  a.low = log10(least / a.scale) - margin;
  a.high = log10(most / a.scale) + margin;
  return a;
}

/* 1, 2 and 5 times powers of ten. */
static void draw_ticks(const axis *a, bool across, FILE *stream)
{
  static const double steps[] = {1, 2, 5};
  for (int power = (int)floor(a->low); power <= (int)ceil(a->high); power++)
    for (int i = 0; i < 3; i++) {
      double value = steps[i] * pow(10, power), where = at(a, value * a->scale);
      if (log10(value) < a->low || log10(value) > a->high)
        continue;
      if (across)
        fprintf(stream, "<path class=\"grid\" d=\"M%.1f %dV%d\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n", where,
                TOP, HEIGHT - BOTTOM, where, HEIGHT - BOTTOM + 16, value);
      else
        fprintf(stream, "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n", LEFT, where,
                WIDTH - RIGHT, LEFT - 6, where + 4, value);
    }
}

static double figure(const json_t *object, const char *name)
{
  return json_number_value(json_object_get(object, name));
}

/* Axes are logarithmic: what takes nothing stands at their unit. */
static double drawn(const json_t *object, const char *name)
{
  return fmax(figure(object, name), 1);
}

static void draw_points(const json_t *points, json_int_t chosen, const axis *x, const axis *y, FILE *stream)
{
  size_t i;
  const json_t *p;
  fputs("<path class=\"front\" d=\"", stream);
  json_array_foreach(points, i, p)
    fprintf(stream, "%c%.1f %.1f", i == 0 ? 'M' : 'L', at(x, drawn(p, "core_ns_max")), at(y, drawn(p, "energy_network_pj")));
  fputs("\"/>\n", stream);
  json_array_foreach(points, i, p) {
    double px = at(x, drawn(p, "core_ns_max")), py = at(y, drawn(p, "energy_network_pj"));
    fprintf(stream,
            "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"><title>%g %s, %g %s, %g cores</title></circle>"
            "<text x=\"%.1f\" y=\"%.1f\">%g</text>\n",
            json_integer_value(json_object_get(p, "number")) == chosen ? "chosen" : "point", px, py,
            figure(p, "core_ns_max") / x->scale, x->unit, figure(p, "energy_network_pj") / y->scale, y->unit,
            figure(p, "parts"), px + 8, py - 6, figure(p, "number"));
  }
}

static void draw_bounds(double ns, double pj, const axis *x, const axis *y, FILE *stream)
{
  if (ns > 0)
    fprintf(stream,
            "<path class=\"bound\" d=\"M%.1f %dV%d\"/><text class=\"bound-text\" x=\"%.1f\" y=\"%d\">no step is shorter</text>\n",
            at(x, ns), TOP, HEIGHT - BOTTOM, at(x, ns) + 5, HEIGHT - BOTTOM - 90);
  if (pj > 0)
    fprintf(stream,
            "<path class=\"bound\" d=\"M%d %.1fH%d\"/><text class=\"bound-text\" x=\"%d\" y=\"%.1f\">a packet an "
            "axon: none needs less</text>\n",
            LEFT, at(y, pj), WIDTH - RIGHT, LEFT + 90, at(y, pj) - 5);
}

cm_status cm_pareto_draw(const json_t *table, FILE *stream, cm_error *error)
{
  static const char *const times[] = {"ns", "us", "ms", "s"}, *const energies[] = {"pJ", "nJ", "uJ", "mJ"};
  const json_t *points = json_object_get(table, "points"), *bound = json_object_get(table, "bound"), *p;
  double ns = fmax(figure(bound, "core_ns"), 0), pj = fmax(figure(bound, "energy_network_pj"), 0);
  double ns_low = ns > 0 ? ns : INFINITY, ns_high = ns, pj_low = pj > 0 ? pj : INFINITY, pj_high = pj;
  size_t i;
  json_array_foreach(points, i, p) {
    double time = drawn(p, "core_ns_max"), energy = drawn(p, "energy_network_pj");
    ns_low = fmin(ns_low, time);
    ns_high = fmax(ns_high, time);
    pj_low = fmin(pj_low, energy);
    pj_high = fmax(pj_high, energy);
  }
  if (json_array_size(points) == 0)
    return cm_fail(error, CM_BAD_MAPPING, "there is no Pareto set to draw: map with objective pareto");
  axis x = axis_of(ns_low, ns_high, LEFT, WIDTH - RIGHT, times), y = axis_of(pj_low, pj_high, HEIGHT - BOTTOM, TOP, energies);
  fprintf(stream,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\">\n"
          "<title>Time of a step against energy of the network</title>\n"
          "<style>text{font:12px system-ui,sans-serif;fill:#333}.grid{stroke:#ddd}.front{stroke:#1f6f8b;fill:none;stroke-width:1.5}"
          ".point{fill:#1f6f8b}.chosen{fill:#c2410c}.bound{stroke:#b91c1c;stroke-dasharray:6 4}.bound-text{fill:#b91c1c}</style>\n"
          "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
          WIDTH, HEIGHT, WIDTH, HEIGHT, WIDTH, HEIGHT);
  draw_ticks(&x, true, stream);
  draw_ticks(&y, false, stream);
  draw_bounds(ns, pj, &x, &y, stream);
  draw_points(points, json_integer_value(json_object_get(table, "chosen")), &x, &y, stream);
  fprintf(stream,
          "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">busiest core, %s a step</text>"
          "<text transform=\"translate(18 %d) rotate(-90)\" text-anchor=\"middle\">packets and hops, %s a step</text>\n</svg>\n",
          (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, x.unit, (TOP + HEIGHT - BOTTOM) / 2, y.unit);
  return CM_OK;
}
