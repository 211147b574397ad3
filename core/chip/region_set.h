/* The set under way in the search for compact ones (region_search.), and its exchanges. */
#pragma once

#include "base/run.h"
#include "core/chip/prices.h"

typedef struct cm_ranked_core {
  double key;
  uint32_t core;
} cm_ranked_core;

typedef struct cm_set_search {
  const cm_chip *chip;
  const uint8_t *usable; /* [cores] */
  cm_run *run;
  cm_price_axis x, y;
  double hop;             /* a mean one */
  uint32_t sites, count;  /* usable cores, cores wanted */
  cm_ranked_core *order;          /* those ranked, of which the `count` nearest come first */
  uint64_t ordered, order_capacity;
  uint8_t *in;            /* [cores] members of the set under way */
  uint32_t *member;       /* [count] them, ascending */
  double *by_x, *by_y;    /* [length] what a router's column, row costs the set */
  double *less_x, *less_y; /* [length] the same without the core that is to go */
  uint32_t *column, *row; /* [length] members there */
  double work;            /* cores looked at for balls */
} cm_set_search;

/* What dead links at a router cost a core behind it. */
static inline double cm_set_penalty(const cm_set_search *s, uint32_t x, uint32_t y)
{
  return s->chip->dead_link_count > 0 ? cm_dead_link_penalty(s->chip, x, y, s->hop) : 0;
}

/* Takes the members out, before others are written over them; takes them in, in any order. */
void cm_set_empty(cm_set_search *s);
void cm_set_take(cm_set_search *s);

/* Exchanges single cores of the set under way while that pays, or so much work is done. */
cm_status cm_set_improve(cm_set_search *s, cm_error *error);
