/* Colours and ticks of pictures. */
#include "core/output/picture/drawing.h"

#include <math.h>

cm_colour cm_picture_colour(double share)
{
  /* From dark to light, evenly as the eye sees it. */
  static const cm_colour stops[] = {{48, 18, 89}, {59, 66, 134}, {44, 111, 142}, {31, 149, 139}, {70, 184, 112}, {152, 214, 62}, {244, 230, 58}};
  enum { LAST = sizeof stops / sizeof *stops - 1 };
  double at = fmin(fmax(share, 0), 1) * LAST;
  int low = at >= LAST ? LAST - 1 : (int)at;
  double f = at - low;
  const cm_colour *a = &stops[low], *b = &stops[low + 1];
  return (cm_colour){(uint8_t)lround(a->r + f * (b->r - a->r)), (uint8_t)lround(a->g + f * (b->g - a->g)),
                     (uint8_t)lround(a->b + f * (b->b - a->b))};
}

cm_colour cm_picture_kind(uint32_t kind)
{
  static const cm_colour kinds[] = {{0, 114, 178}, {230, 159, 0}, {0, 158, 115}, {204, 121, 167}, {213, 94, 0}, {86, 180, 233},
                                    {240, 228, 66}, {120, 94, 240}, {100, 100, 100}, {128, 64, 0}, {0, 80, 60}, {180, 30, 90}};
  return kinds[kind % (sizeof kinds / sizeof *kinds)];
}

uint32_t cm_picture_tick(uint32_t cores)
{
  uint32_t tick = 1;
  for (uint32_t step = 0; cores / tick > 16; step++)
    tick = step % 2 == 0 ? tick * 4 : tick * 2;
  return tick;
}
