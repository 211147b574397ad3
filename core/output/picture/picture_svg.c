/* A picture as SVG: title, chip with its ticks, a bar of colours or the names of populations. */
#include <inttypes.h>
#include <math.h>

#include "core/chip/geometry.h"
#include "core/output/picture/drawing.h"

enum { SIDE = 640, LEFT = 44, TOP = 44, BOTTOM = 34, LEGEND = 150, KINDS_SHOWN = 20, BAR = 14 };

static void put_text(FILE *out, const char *text)
{
  for (; *text != '\0'; text++)
    switch (*text) {
    case '<': (void)fputs("&lt;", out); break;
    case '>': (void)fputs("&gt;", out); break;
    case '&': (void)fputs("&amp;", out); break;
    case '"': (void)fputs("&quot;", out); break;
    default: (void)fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
    }
}

static void put_colour(FILE *out, cm_colour c)
{
  (void)fprintf(out, "#%02x%02x%02x", c.r, c.g, c.b);
}

static cm_colour colour_of(const cm_picture *p, double value)
{
  return p->kinds ? cm_picture_kind((uint32_t)value) : cm_picture_colour(p->most > 0 ? value / p->most : 0);
}

static void put_cores(const cm_picture *p, double s, FILE *out)
{
  double gap = s >= 6 ? 0.5 : 0;
  for (uint32_t y = 0; y < p->height; y++)
    for (uint32_t x = 0; x < p->width; x++) {
      size_t i = (size_t)y * p->width + x;
      if (p->value[i] < 0 && !p->dead[i])
        continue;
      (void)fprintf(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"", LEFT + x * s + gap / 2, TOP + y * s + gap / 2,
                    s - gap, s - gap);
      if (p->dead[i])
        (void)fputs("#777777\"><title>broken", out);
      else if (p->link != NULL)
        (void)fputs("#d8d8d8\"><title>", out);
      else {
        put_colour(out, colour_of(p, p->value[i]));
        (void)fputs("\"><title>", out);
      }
      if (!p->dead[i] && p->kinds)
        put_text(out, p->mapped->demand->network->population[(uint32_t)p->value[i]].name);
      else if (!p->dead[i] && p->link == NULL)
        (void)fprintf(out, "%.6g", p->value[i]);
      (void)fprintf(out, " (%" PRIu32 ", %" PRIu32 ")</title></rect>\n", p->x0 + x, p->y0 + y);
    }
}

/* A link is a line beside that of the other direction, as wide and as coloured as it is loaded. */
static void put_links(const cm_picture *p, double s, FILE *out)
{
  double sx = s * p->mapped->chip->router_x, sy = s * p->mapped->chip->router_y, aside = 0.12 * fmin(sx, sy);
  char name[CM_ROUTER_NAME_MAX];
  for (size_t i = 0; i < p->link_count; i++) {
    const cm_drawn_link *l = &p->link[i];
    double length = hypot(l->dx, l->dy), x1 = LEFT + l->x * sx - l->dy / length * aside, y1 = TOP + l->y * sy + l->dx / length * aside;
    (void)fprintf(out, "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke-width=\"%.2f\" stroke=\"", x1, y1, x1 + l->dx * sx,
                  y1 + l->dy * sy, fmin(sx, sy) * (0.06 + 0.14 * l->load / p->most));
    put_colour(out, cm_picture_colour(l->load / p->most));
    cm_chip_router_name(p->mapped->chip, l->router, name);
    (void)fprintf(out, "\"><title>%.6g, from %s</title></line>\n", l->load, name);
  }
}

static void put_ticks(const cm_picture *p, double s, FILE *out)
{
  uint32_t tick = cm_picture_tick(p->width > p->height ? p->width : p->height);
  for (uint32_t x = (p->x0 + tick - 1) / tick * tick; x < p->x0 + p->width; x += tick)
    (void)fprintf(out, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"middle\">%" PRIu32 "</text>\n", LEFT + (x - p->x0 + 0.5) * s,
                  TOP + p->height * s + 15, x);
  for (uint32_t y = (p->y0 + tick - 1) / tick * tick; y < p->y0 + p->height; y += tick)
    (void)fprintf(out, "<text x=\"%d\" y=\"%.2f\" text-anchor=\"end\">%" PRIu32 "</text>\n", LEFT - 6, TOP + (y - p->y0 + 0.5) * s + 4, y);
}

static void put_bar(const cm_picture *p, double x, double height, FILE *out)
{
  (void)fputs("<defs><linearGradient id=\"bar\" x1=\"0\" y1=\"1\" x2=\"0\" y2=\"0\">", out);
  for (int i = 0; i <= 12; i++) {
    (void)fprintf(out, "<stop offset=\"%.4f\" stop-color=\"", i / 12.0);
    put_colour(out, cm_picture_colour(i / 12.0));
    (void)fputs("\"/>", out);
  }
  (void)fprintf(out, "</linearGradient></defs>\n<rect x=\"%.2f\" y=\"%d\" width=\"%d\" height=\"%.2f\" fill=\"url(#bar)\"/>\n", x, TOP, BAR, height);
  for (int i = 0; i <= 4; i++)
    (void)fprintf(out, "<text x=\"%.2f\" y=\"%.2f\">%.4g</text>\n", x + BAR + 6, TOP + height * (1 - i / 4.0) + 4, p->most * i / 4);
  if (p->unit[0] != '\0')
    (void)fprintf(out, "<text x=\"%.2f\" y=\"%.2f\">%s</text>\n", x, TOP + height + 18, p->unit);
}

static void put_kinds(const cm_picture *p, double x, FILE *out)
{
  const cm_topology *t = p->mapped->demand->network;
  for (uint32_t k = 0; k < t->population_count && k < KINDS_SHOWN; k++) {
    (void)fprintf(out, "<rect x=\"%.2f\" y=\"%" PRIu32 "\" width=\"12\" height=\"12\" fill=\"", x, TOP + 18 * k);
    put_colour(out, cm_picture_kind(k));
    (void)fprintf(out, "\"/><text x=\"%.2f\" y=\"%" PRIu32 "\">", x + 18, TOP + 18 * k + 10);
    put_text(out, t->population[k].name);
    (void)fputs("</text>\n", out);
  }
  if (t->population_count > KINDS_SHOWN)
    (void)fprintf(out, "<text x=\"%.2f\" y=\"%d\">and %" PRIu32 " more</text>\n", x, TOP + 18 * KINDS_SHOWN + 10,
                  t->population_count - KINDS_SHOWN);
}

void cm_picture_svg(const cm_picture *p, FILE *out)
{
  double s = (double)SIDE / (p->width > p->height ? p->width : p->height), width = p->width * s, height = p->height * s;
  const uint32_t populations = p->mapped->demand->network->population_count;
  double least = p->kinds ? 18.0 * (populations < KINDS_SHOWN ? populations : KINDS_SHOWN + 1) : 0;
  double all = TOP + BOTTOM + (height > least ? height : least), wide = LEFT + width + 16 + LEGEND;
  (void)fprintf(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" "
                "font-size=\"12\" role=\"img\">\n<title>",
                wide, all, wide, all);
  put_text(out, p->title);
  (void)fprintf(out, "</title>\n<rect width=\"%.0f\" height=\"%.0f\" fill=\"white\"/>\n<text x=\"%d\" y=\"22\" font-size=\"14\">", wide, all, LEFT);
  put_text(out, p->title);
  (void)fprintf(out, "</text>\n<rect x=\"%d\" y=\"%d\" width=\"%.2f\" height=\"%.2f\" fill=\"#f4f4f4\" stroke=\"#999999\"/>\n", LEFT, TOP, width,
                height);
  put_cores(p, s, out);
  if (p->link != NULL)
    put_links(p, s, out);
  put_ticks(p, s, out);
  if (p->kinds)
    put_kinds(p, LEFT + width + 16, out);
  else
    put_bar(p, LEFT + width + 16, height, out);
  (void)fputs("</svg>\n", out);
}
