/* A picture as PNG, for where vectors do not go: the chip, numbers of cores along its sides, and a bar of colours with its numbers.
 * Words stand in the picture's caption, and in its SVG. */
#include <inttypes.h>
#include <math.h>
#include <png.h>
#include <string.h>

#include "core/output/picture/drawing.h"

enum { SIDE = 1280, MARGIN = 72, LEGEND = 150, BAR = 24, DIGIT = 3 /* pixels of a dot */ };

typedef struct canvas {
  uint8_t *pixel; /* [height][width][3] */
  uint32_t width, height;
} canvas;

static void fill_box(canvas *c, double x0, double y0, double x1, double y1, cm_colour colour)
{
  uint32_t left = x0 < 0 ? 0 : (uint32_t)lround(x0), top = y0 < 0 ? 0 : (uint32_t)lround(y0);
  for (uint32_t y = top; y < c->height && y < (uint32_t)lround(fmax(y1, 0)); y++)
    for (uint32_t x = left; x < c->width && x < (uint32_t)lround(fmax(x1, 0)); x++) {
      uint8_t *p = c->pixel + ((size_t)y * c->width + x) * 3;
      p[0] = colour.r;
      p[1] = colour.g;
      p[2] = colour.b;
    }
}

/* Rows of three dots from the top, the left one in the highest bit. */
static const struct glyph {
  char character;
  uint8_t row[5];
} glyphs[] = {{'0', {7, 5, 5, 5, 7}}, {'1', {2, 6, 2, 2, 7}}, {'2', {7, 1, 7, 4, 7}}, {'3', {7, 1, 7, 1, 7}}, {'4', {5, 5, 7, 1, 1}},
              {'5', {7, 4, 7, 1, 7}}, {'6', {7, 4, 7, 5, 7}}, {'7', {7, 1, 1, 2, 2}}, {'8', {7, 5, 7, 5, 7}}, {'9', {7, 5, 7, 1, 7}},
              {'.', {0, 0, 0, 0, 2}}, {'-', {0, 0, 7, 0, 0}}, {'+', {0, 2, 7, 2, 0}}, {'e', {0, 7, 5, 6, 7}}};

static int width_of(const char *text)
{
  return (int)strlen(text) * 4 * DIGIT;
}

static void put_number(canvas *c, double x, double y, const char *text)
{
  static const cm_colour black = {0, 0, 0};
  for (; *text != '\0'; text++, x += 4 * DIGIT)
    for (size_t g = 0; g < sizeof glyphs / sizeof *glyphs; g++)
      for (int row = 0; glyphs[g].character == *text && row < 5; row++)
        for (int dot = 0; dot < 3; dot++)
          if (glyphs[g].row[row] >> (2 - dot) & 1)
            fill_box(c, x + dot * DIGIT, y + row * DIGIT, x + (dot + 1) * DIGIT, y + (row + 1) * DIGIT, black);
}

static void put_cores(canvas *c, const cm_picture *p, double s)
{
  static const cm_colour free_core = {244, 244, 244}, broken = {119, 119, 119}, quiet = {216, 216, 216};
  double gap = s >= 8 ? 1 : 0;
  for (uint32_t y = 0; y < p->height; y++)
    for (uint32_t x = 0; x < p->width; x++) {
      size_t i = (size_t)y * p->width + x;
      double v = p->value[i];
      cm_colour colour = p->dead[i]        ? broken
                         : v < 0           ? free_core
                         : p->link != NULL ? quiet
                         : p->kinds        ? cm_picture_kind((uint32_t)v)
                                           : cm_picture_colour(p->most > 0 ? v / p->most : 0);
      fill_box(c, MARGIN + x * s, MARGIN + y * s, MARGIN + (x + 1) * s - gap, MARGIN + (y + 1) * s - gap, colour);
    }
}

/* A line at an angle, of boxes. */
static void put_slanted(canvas *c, const cm_drawn_link *l, double sx, double sy, double thin)
{
  double length = hypot(l->dx * sx, l->dy * sy), x = MARGIN + l->x * sx - l->dy * sy / length * thin, y = MARGIN + l->y * sy + l->dx * sx / length * thin;
  for (double at = 0; at < 1; at += thin / 2 / length)
    fill_box(c, x + at * l->dx * sx - thin / 2, y + at * l->dy * sy - thin / 2, x + at * l->dx * sx + thin / 2, y + at * l->dy * sy + thin / 2,
             cm_picture_colour(l->load));
}

static void put_links(canvas *c, const cm_picture *p, double s)
{
  double sx = s * p->mapped->chip->router_x, sy = s * p->mapped->chip->router_y, thin = 0.12 * fmin(sx, sy);
  for (size_t i = 0; i < p->link_count; i++) {
    cm_drawn_link l = p->link[i];
    double cx = MARGIN + l.x * sx, cy = MARGIN + l.y * sy;
    l.load = p->most > 0 ? l.load / p->most : 0;
    if (l.dx != 0 && l.dy != 0)
      put_slanted(c, &l, sx, sy, fmax(thin, 1));
    else if (l.dx != 0) {
      double top = l.dx > 0 ? cy + thin / 2 : cy - 1.5 * thin;
      fill_box(c, l.dx > 0 ? cx : cx + l.dx * sx, top, l.dx > 0 ? cx + l.dx * sx : cx, top + thin, cm_picture_colour(l.load));
    } else {
      double left = l.dy > 0 ? cx - 1.5 * thin : cx + thin / 2;
      fill_box(c, left, l.dy > 0 ? cy : cy + l.dy * sy, left + thin, l.dy > 0 ? cy + l.dy * sy : cy, cm_picture_colour(l.load));
    }
  }
}

static void put_sides(canvas *c, const cm_picture *p, double s)
{
  char text[24];
  uint32_t tick = cm_picture_tick(p->width > p->height ? p->width : p->height);
  for (uint32_t x = (p->x0 + tick - 1) / tick * tick; x < p->x0 + p->width; x += tick) {
    (void)snprintf(text, sizeof text, "%" PRIu32, x);
    put_number(c, MARGIN + (x - p->x0 + 0.5) * s - width_of(text) / 2.0, MARGIN + p->height * s + 8, text);
  }
  for (uint32_t y = (p->y0 + tick - 1) / tick * tick; y < p->y0 + p->height; y += tick) {
    (void)snprintf(text, sizeof text, "%" PRIu32, y);
    put_number(c, MARGIN - 8 - width_of(text), MARGIN + (y - p->y0 + 0.5) * s - 2.5 * DIGIT, text);
  }
  double left = MARGIN + p->width * s + 24, height = p->height * s;
  for (int i = 0; !p->kinds && i < 256; i++)
    fill_box(c, left, MARGIN + height * (255 - i) / 256, left + BAR, MARGIN + height * (256 - i) / 256, cm_picture_colour(i / 255.0));
  for (int i = 0; !p->kinds && i <= 4; i++) {
    (void)snprintf(text, sizeof text, "%.4g", p->most * i / 4);
    put_number(c, left + BAR + 8, MARGIN + height * (1 - i / 4.0) - 2.5 * DIGIT, text);
  }
}

cm_status cm_picture_png(const cm_picture *p, cm_run *run, FILE *stream, cm_error *error)
{
  static const cm_colour white = {255, 255, 255};
  uint32_t longer = p->width > p->height ? p->width : p->height;
  double s = longer >= SIDE ? 1 : floor((double)SIDE / longer);
  canvas c = {.width = (uint32_t)(2 * MARGIN + p->width * s + LEGEND), .height = (uint32_t)(2 * MARGIN + p->height * s)};
  CM_TRY(CM_NEW(run->memory, c.pixel, (size_t)c.width * c.height * 3, error));
  fill_box(&c, 0, 0, c.width, c.height, white);
  put_cores(&c, p, s);
  if (p->link != NULL)
    put_links(&c, p, s);
  put_sides(&c, p, s);
  png_image image = {.version = PNG_IMAGE_VERSION, .width = c.width, .height = c.height, .format = PNG_FORMAT_RGB};
  cm_status status = png_image_write_to_stdio(&image, stream, 0, c.pixel, 0, NULL) != 0
                       ? CM_OK
                       : cm_fail(error, CM_DISK_FULL, "cannot write the picture: %s", image.message);
  cm_free(c.pixel);
  return status;
}
