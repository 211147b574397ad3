/* What is drawn, before it is known how. */
#pragma once

#include "core/output/picture/picture.h"

typedef struct cm_colour {
  uint8_t r, g, b;
} cm_colour;

enum { CM_PICTURE_TITLE_MAX = 200 };

/* A link that is loaded: where its router is drawn, and how far it goes; in routers. */
typedef struct cm_drawn_link {
  double x, y, dx, dy, load;
  uint32_t router; /* that it leaves */
} cm_drawn_link;

typedef struct cm_picture {
  const cm_mapped *mapped;
  uint32_t x0, y0, width, height; /* cores drawn */
  double *value;                  /* [width * height] row by row; negative: not in use */
  cm_drawn_link *link;            /* [link_count], or NULL: cores are coloured */
  size_t link_count;
  uint32_t rx0, ry0, routers_x, routers_y; /* routers drawn */
  bool *dead;                     /* [width * height] */
  double most;                    /* of what is coloured */
  bool kinds;                     /* values are numbers of populations */
  char title[CM_PICTURE_TITLE_MAX];
  const char *unit;
} cm_picture;

/* A share from 0 to 1 as a colour that also reads in grey and by the colour blind; a kind's. */
cm_colour cm_picture_colour(double share);
cm_colour cm_picture_kind(uint32_t kind);

/* Cores between two ticks. */
uint32_t cm_picture_tick(uint32_t cores);

void cm_picture_svg(const cm_picture *p, FILE *stream);
cm_status cm_picture_png(const cm_picture *p, cm_run *run, FILE *stream, cm_error *error);
