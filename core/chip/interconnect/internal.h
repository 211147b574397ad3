/* What the files of interconnects share. */
#pragma once

#include "core/chip/interconnect/interconnect.h"

/* Steps between two routers of a grid: to the one side and, round a ring, to the other (both the same where there is none). */
enum { CM_GRID_SIDES = 4 }; /* pairs of them */
typedef struct cm_grid_steps {
  int64_t east[2], north[2];
} cm_grid_steps;

static inline cm_grid_steps cm_grid_steps_between(const cm_interconnect *net, uint32_t from, uint32_t to)
{
  int64_t columns = net->columns, rows = net->rows, east = (int64_t)(to % net->columns) - from % net->columns,
          north = (int64_t)(from / net->columns) - to / net->columns;
  return (cm_grid_steps){{east, net->ring_x ? east + (east < 0 ? columns : -columns) : east},
                         {north, net->ring_y ? north + (north < 0 ? rows : -rows) : north}};
}

static inline uint32_t cm_steps_apart(int64_t a, int64_t b)
{
  return (uint32_t)(a > b ? a - b : b - a);
}

/* Hops that so many steps take. */
static inline uint32_t cm_grid_length(const cm_interconnect *net, int64_t east, int64_t north)
{
  uint32_t x = cm_steps_apart(east, 0), y = cm_steps_apart(north, 0);
  return net->kind != CM_HEXAGONAL || (east < 0) != (north < 0) ? x + y : x > y ? x : y;
}

/* Formulas of regular kinds: of trees over living links (CM_NO_WAY: a dead one is between), of others as if none were dead. */
uint32_t cm_formula_hops(const cm_interconnect *net, uint32_t from, uint32_t to);
uint32_t cm_formula_units(const cm_interconnect *net, uint32_t from, uint32_t to);

/* Refuses a field of a chip file; always CM_BAD_CHIP. */
cm_status cm_interconnect_bad(cm_error *error, const char *where, const char *what);

/* A link under way to be built. */
typedef struct cm_draft_link {
  uint32_t from, to;
  double cost, bandwidth;
  double energy_pj, latency_ns; /* negative: cost times the chip's link, or die border */
} cm_draft_link;

/* Gathers links; each stands for both directions. */
typedef struct cm_draft {
  cm_draft_link *link;
  uint64_t count, room;
} cm_draft;

cm_status cm_draft_add(cm_draft *draft, cm_draft_link link, cm_error *error);

/* The regular kinds' links. */
cm_status cm_draft_grid(const cm_interconnect *net, const cm_chip *chip, cm_draft *draft, cm_error *error);
cm_status cm_draft_tree(const cm_interconnect *net, cm_draft *draft, cm_error *error);
cm_status cm_draft_all(const cm_interconnect *net, cm_draft *draft, cm_error *error);

/* Numbers the links and prices them. CM_BAD_CHIP where two routers are joined twice. */
cm_status cm_interconnect_build(cm_interconnect *net, const cm_chip *chip, cm_draft *draft, cm_error *error);

/* Router beside one in a direction (cm_hexagonal_x, _y); CM_NO_WAY at an open edge. */
enum { CM_SIX = 6 };
extern const char *const cm_six_names[CM_SIX]; /* "east", "north-east", "north", "west", "south-west", "south" */
uint32_t cm_interconnect_beside(const cm_interconnect *net, uint32_t router, unsigned direction);
