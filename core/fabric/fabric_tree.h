/* A tree on a fabric that grows: chips joined by links, without a direction. */
#pragma once

#include "base/run.h"
#include "core/fabric/fabric_flows.h"

typedef struct cm_fabric_tree {
  const cm_chip_grid *f;
  uint8_t *works;     /* [chips]: bit l: link l works both ways, for packets of all senders of a tree */
  uint8_t *link;      /* [chips]: bit l: the tree has link l of this chip; of chips in it */
  uint32_t *member;   /* [chips]: `now`: the chip is in the tree */
  uint32_t *wanted;   /* [chips]: `want`: it is to be */
  uint32_t *chip;     /* in the tree, in the order in which they came */
  uint32_t *joined;   /* of those with number 1 and more: the link that leads back to the tree */
  uint32_t size, now, want;
  uint32_t *seen, *queue, search; /* of a search */
  uint8_t *back;                  /* of what was seen: the link that leads back */
  uint32_t *steps, *again;        /* of what was seen: links on the way back, and those of them that earlier trees took */
  uint8_t *taken;                 /* [chips]: bit l: an earlier tree leads from this chip over link l */
} cm_fabric_tree;

cm_status cm_fabric_tree_new(const cm_chip_grid *f, cm_memory *memory, cm_fabric_tree *tree, cm_error *error);
void cm_fabric_tree_free(cm_fabric_tree *tree);

/* Begins anew, with one chip; of ways that are as short, a tree takes what earlier ones took. */
void cm_fabric_tree_begin(cm_fabric_tree *tree, uint32_t chip);

static inline bool cm_fabric_tree_has(const cm_fabric_tree *tree, uint32_t chip)
{
  return tree->member[chip] == tree->now;
}

/* Grows by working links until it has these chips, each time by the nearest one: first by those beside it. Errors: CM_NO_ROUTE; it has then grown by some of them. */
cm_status cm_fabric_tree_grow(cm_fabric_tree *tree, const uint32_t *chip, uint32_t count, cm_error *error);

/* Takes off what came last, until it has `size` chips. */
void cm_fabric_tree_cut(cm_fabric_tree *tree, uint32_t size);
