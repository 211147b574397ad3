/* Learning curves for people: a table and a picture. */
#include <math.h>

#include "core/learning/training/train.h"

cm_status cm_curve_write_csv(const cm_curve_point *curve, uint32_t count, FILE *stream, cm_error *error)
{
  fputs("update,episodes,reward,gained,held_out,start\n", stream);
  for (uint32_t i = 0; i < count; i++) {
    fprintf(stream, "%u,%u,%.6f,%.6f,", curve[i].update, curve[i].episodes, curve[i].reward, curve[i].gained);
    if (curve[i].held_out > 0)
      fprintf(stream, "%.6f,%.6f", curve[i].held_out, curve[i].start);
    else
      fputc(',', stream);
    fputc('\n', stream);
  }
  return ferror(stream) ? cm_fail(error, CM_IO, "cannot write the learning curve") : CM_OK;
}

enum { WIDTH = 720, HEIGHT = 240, LEFT = 60, TOP = 30, GAP = 40, PANELS = 2 };

static double value_of(const cm_curve_point *point, int panel)
{
  return panel == 0 ? point->reward : point->held_out;
}

/* One panel: a line through the points that have a value. */
static void draw_panel(const cm_curve_point *curve, uint32_t count, int panel, FILE *stream)
{
  static const char *const titles[PANELS] = {"reward of an episode (sequential loss / loss)",
                                             "held out: hops / hops of the sequential placement"};
  double least = INFINITY, most = -INFINITY;
  int top = TOP + panel * (HEIGHT + GAP);
  for (uint32_t i = 0; i < count; i++) {
    double value = value_of(&curve[i], panel);
    if (panel == 1 && value == 0)
      continue;
    least = fmin(least, value);
    most = fmax(most, value);
  }
  if (!(most > least)) {
    most = isfinite(most) ? most + 0.01 : 1;
    least = isfinite(least) ? least - 0.01 : 0;
  }
  fprintf(stream, "<text x=\"%d\" y=\"%d\">%s</text>\n", LEFT, top - 8, titles[panel]);
  fprintf(stream, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#999\"/>\n", LEFT, top,
          WIDTH, HEIGHT);
  fprintf(stream, "<text x=\"4\" y=\"%d\">%.4f</text><text x=\"4\" y=\"%d\">%.4f</text>\n", top + 10, most,
          top + HEIGHT, least);
  fputs("<polyline fill=\"none\" stroke=\"#1f6feb\" points=\"", stream);
  for (uint32_t i = 0; i < count; i++) {
    double value = value_of(&curve[i], panel);
    if (panel == 0 || value > 0)
      fprintf(stream, "%.1f,%.1f ", LEFT + (count > 1 ? (double)i * WIDTH / (count - 1) : 0),
              top + HEIGHT - (value - least) / (most - least) * HEIGHT);
  }
  fputs("\"/>\n", stream);
}

cm_status cm_curve_write_svg(const cm_curve_point *curve, uint32_t count, FILE *stream, cm_error *error)
{
  int width = LEFT + WIDTH + 20, height = TOP + PANELS * (HEIGHT + GAP);
  fprintf(stream,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
          "font-size=\"12\">\n<title>Learning curve over %u updates</title>\n"
          "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
          width, height, count, width, height);
  for (int panel = 0; panel < PANELS; panel++)
    draw_panel(curve, count, panel, stream);
  fputs("</svg>\n", stream);
  return ferror(stream) ? cm_fail(error, CM_IO, "cannot write the picture of the learning curve") : CM_OK;
}
