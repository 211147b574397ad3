/* Figures of a mapping by core, router and link, beside its metrics. */
#pragma once

#include "core/chip/router_window.h"
#include "core/metrics/metrics.h"

typedef struct cm_metrics_detail {
  cm_core_load *core;   /* [part_count] by part */
  cm_window window;     /* the routers that have any traffic */
  double *congestion;   /* [routers of the window], row by row */
  double *link_load;    /* [cm_window_links] */
} cm_metrics_detail;

void cm_metrics_detail_free(cm_metrics_detail *detail);

/* Expected packets through the router of a core of the chip. */
double cm_congestion_at(const cm_metrics_detail *detail, const cm_chip *chip, uint32_t core);

/* Load of the link that leaves router (x, y) of a plain mesh or torus. */
double cm_link_load_at(const cm_metrics_detail *detail, uint32_t x, uint32_t y, cm_direction direction);
