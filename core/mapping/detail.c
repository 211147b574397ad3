#include "core/mapping/detail.h"

double cm_congestion_at(const cm_metrics_detail *detail, const cm_chip *chip, uint32_t core)
{
  const cm_window *w = &detail->window;
  uint32_t column = cm_window_column(w, core % chip->width / chip->router_x),
           row = cm_window_row(w, core / chip->width / chip->router_y);
  return column < w->width && row < w->height ? detail->congestion[(size_t)row * w->width + column] : 0;
}

double cm_link_load_at(const cm_metrics_detail *detail, uint32_t x, uint32_t y, cm_direction direction)
{
  const cm_window *w = &detail->window;
  return cm_window_load(w, detail->link_load, (y * w->routers_x + x) * CM_DIRECTIONS + (uint32_t)direction);
}

void cm_metrics_detail_free(cm_metrics_detail *detail)
{
  CM_FREE(detail->core, detail->congestion, detail->link_load);
  *detail = (cm_metrics_detail){0};
}
