/* Monte-Carlo tree search over orders, and descent from the best one. */
#include <math.h>
#include <string.h>

#include "core/schedule/order_piece.h"

/* How far the search goes beyond what has done well so far; scores are scaled to 0 .. 1. */
static const double exploration = 0.5;

enum { ROLL_OUT_DRAWS = 2 };

/* One beginning of an order: the path from the root says which. */
typedef struct leaf {
  uint32_t node; /* placed last, as the piece numbers it */
  uint32_t child, sibling; /* 0: none */
  uint32_t visits;
  double sum; /* of the scores seen below it */
} leaf;

typedef struct tree {
  cm_hunt *hunt;
  leaf *leaf; /* 0 is the root */
  uint32_t count;
  uint32_t *path, depth;
  double least, most; /* scores seen */
} tree;

void cm_hunt_roll_out(cm_hunt *hunt, uint32_t draws)
{
  cm_piece *p = hunt->piece;
  while (p->placed < p->count) {
    uint32_t chosen = (uint32_t)cm_random_below(hunt->random, p->ready_count);
    for (uint32_t d = 1; d < draws; d++) {
      uint32_t other = (uint32_t)cm_random_below(hunt->random, p->ready_count);
      if (hunt->height[p->ready[other]] > hunt->height[p->ready[chosen]])
        chosen = other;
    }
    cm_piece_place(p, chosen);
  }
}

static uint32_t child_for(const tree *t, uint32_t parent, uint32_t node)
{
  uint32_t child = t->leaf[parent].child;
  while (child != 0 && t->leaf[child].node != node)
    child = t->leaf[child].sibling;
  return child;
}

/* The highest ready node that has no child yet, else the child that promises most (upper confidence bound). *fresh says
 * which it was. */
static uint32_t choose(const tree *t, uint32_t parent, bool *fresh)
{
  const cm_piece *p = t->hunt->piece;
  uint32_t best = 0;
  double best_value = -1, range = t->most > t->least ? t->most - t->least : 1;
  *fresh = false;
  for (uint32_t i = 0; i < p->ready_count; i++) {
    uint32_t child = child_for(t, parent, p->ready[i]);
    if (child == 0) {
      if (!*fresh || t->hunt->height[p->ready[i]] > t->hunt->height[p->ready[best]])
        best = i;
      *fresh = true;
    } else if (!*fresh) {
      const leaf *c = &t->leaf[child];
      double value = (t->most - c->sum / c->visits) / range + exploration * sqrt(log((double)t->leaf[parent].visits) / c->visits);
      if (value > best_value) {
        best = i;
        best_value = value;
      }
    }
  }
  return best;
}

/* Goes down the tree, adds one leaf, and completes the order at random. */
static void grow(tree *t)
{
  cm_piece *p = t->hunt->piece;
  uint32_t at = 0;
  bool fresh = false;
  cm_piece_begin(p);
  t->depth = 0;
  t->path[t->depth++] = 0;
  while (p->placed < p->count && !fresh) {
    uint32_t choice = 0;
    if (p->ready_count > 1) {
      choice = choose(t, at, &fresh);
      uint32_t node = p->ready[choice], child = child_for(t, at, node);
      if (fresh) {
        child = t->count++;
        t->leaf[child] = (leaf){.node = node, .sibling = t->leaf[at].child};
        t->leaf[at].child = child;
      }
      t->path[t->depth++] = at = child;
    }
    cm_piece_place(p, choice);
  }
  cm_hunt_roll_out(t->hunt, ROLL_OUT_DRAWS);
}

cm_status cm_hunt_tree(cm_hunt *hunt, uint64_t tries, bool *stop, cm_error *error)
{
  tree t = {.hunt = hunt, .count = 1, .least = INFINITY, .most = -INFINITY};
  cm_status status = CM_NEW(hunt->memory, t.leaf, tries + 1, error);
  CM_THEN(status, CM_NEW(hunt->memory, t.path, (size_t)hunt->piece->count + 1, error));
  for (uint64_t k = 0; k < tries && status == CM_OK && !*stop; k++) {
    uint64_t score = 0;
    grow(&t);
    status = hunt->score(hunt, &score, stop, error);
    t.least = fmin(t.least, (double)score);
    t.most = fmax(t.most, (double)score);
    for (uint32_t i = 0; i < t.depth; i++) {
      t.leaf[t.path[i]].visits++;
      t.leaf[t.path[i]].sum += (double)score;
    }
  }
  CM_FREE(t.leaf, t.path);
  return status;
}

/* ---- descent ---- */

static bool has_arc(const cm_piece *p, uint32_t from, uint32_t to)
{
  for (uint64_t i = p->first[from]; i < p->first[from + 1]; i++)
    if (p->out[i] == to)
      return true;
  return false;
}

/* Puts into piece->order the order `at` with one node moved as far as it may go at most; false when it can go
 * nowhere. */
static bool move_one(cm_hunt *hunt, const uint32_t *at)
{
  cm_piece *p = hunt->piece;
  uint32_t from = (uint32_t)cm_random_below(hunt->random, p->count), low = from, high = from, v = at[from];
  while (low > 0 && !has_arc(p, at[low - 1], v))
    low--;
  while (high + 1 < p->count && !has_arc(p, v, at[high + 1]))
    high++;
  if (low == high)
    return false;
  uint32_t to = low + (uint32_t)cm_random_below(hunt->random, high - low);
  to += to >= from; /* any place but its own */
  memcpy(p->order, at, p->count * sizeof *p->order);
  if (to < from)
    memmove(p->order + to + 1, p->order + to, (from - to) * sizeof *p->order);
  else
    memmove(p->order + from, p->order + from + 1, (to - from) * sizeof *p->order);
  p->order[to] = v;
  return true;
}

cm_status cm_hunt_descend(cm_hunt *hunt, bool *stop, cm_error *error)
{
  uint32_t *at;
  uint64_t here = hunt->best_score, score;
  size_t bytes = hunt->piece->count * sizeof *at;
  cm_status status = CM_NEW(hunt->memory, at, hunt->piece->count, error);
  if (status == CM_OK)
    memcpy(at, hunt->best, bytes);
  /* A piece with two orders has two neighbours that can change places, so a move is found sooner or later. */
  while (status == CM_OK && !*stop)
    if (move_one(hunt, at) && (status = hunt->score(hunt, &score, stop, error)) == CM_OK && score <= here) {
      memcpy(at, hunt->piece->order, bytes);
      here = score;
    }
  cm_free(at);
  return status;
}
