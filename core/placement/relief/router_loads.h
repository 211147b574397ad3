/* Expected packets at every router when each packet takes at every router one of its still useful directions with equal
 * chances (congestion), kept while parts change places. */
#pragma once

#include "core/partition/flows.h"
#include "core/placement/task.h"

/* Routers along one axis that packets between the cores can come to. */
typedef struct cm_load_axis {
  uint32_t length;
  bool ring;      /* a whole torus, else the box of the cores */
  uint32_t reach; /* longest way */
} cm_load_axis;

typedef struct cm_loads {
  const cm_flows *flows; /* borrowed */
  cm_flows *in;          /* the same by target */
  cm_load_axis x, y;
  uint32_t *core_x, *core_y; /* [cores] router of each core of the list, in the box */
  size_t *pattern_first;     /* [(x.reach + 1) * (y.reach + 1)] */
  double *pattern;  /* chances to pass the routers of a rectangle, from its corner of departure, row by row eastward */
  double *mirrored; /* the same westward */
  double *load;     /* [x.length * y.length] */
  double touched;   /* routers booked so far: what the work is counted in */
} cm_loads;

/* So many chances at most are kept ahead. */
enum { CM_LOAD_CHANCES_MAX = 1 << 21 };

/* Loads of flows between parts on the cores of a region; the flows stay the caller's. *loads is NULL where the
 * cores lie so far apart that the chances would exceed CM_LOAD_CHANCES_MAX. O(chances + flows). */
cm_status cm_loads_new(const cm_flows *flows, const cm_place_task *task, cm_loads **loads, cm_error *error);
void cm_loads_free(cm_loads *loads); /* NULL is allowed */

/* Books all flows anew; at [parts] numbers cores of the list. O(flows * rectangle of a way). */
void cm_loads_fill(cm_loads *loads, const uint32_t *at);

/* Adds (sign 1) or takes away (-1) what a part sends and gets, but for what it shares with `without`. */
void cm_loads_book(cm_loads *loads, const uint32_t *at, uint32_t part, uint32_t without, double sign);

/* The highest load. O(routers of the box). */
double cm_loads_highest(const cm_loads *loads);
