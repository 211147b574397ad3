#include "core/fabric/fabric_tree.h"

static unsigned opposite(unsigned link)
{
  return (link + 3) % CM_FABRIC_LINKS;
}

static void find_working(cm_fabric_tree *tree)
{
  for (uint32_t chip = 0; chip < cm_fabric_chips(tree->f); chip++)
    for (unsigned link = 0; link < CM_FABRIC_LINKS; link++)
      if (tree->f->links[chip] >> link & tree->f->links[cm_fabric_neighbour(tree->f, chip, link)] >> opposite(link) & 1)
        tree->works[chip] |= (uint8_t)(1u << link);
}

cm_status cm_fabric_tree_new(const cm_chip_grid *f, cm_memory *memory, cm_fabric_tree *tree, cm_error *error)
{
  const uint32_t chips = cm_fabric_chips(f);
  *tree = (cm_fabric_tree){.f = f};
  if (CM_NEW(memory, tree->works, chips, error) == CM_OK && CM_NEW(memory, tree->link, chips, error) == CM_OK && CM_NEW(memory, tree->member, chips, error) == CM_OK && CM_NEW(memory, tree->wanted, chips, error) == CM_OK &&
      CM_NEW(memory, tree->chip, chips, error) == CM_OK && CM_NEW(memory, tree->joined, chips, error) == CM_OK && CM_NEW(memory, tree->seen, chips, error) == CM_OK &&
      CM_NEW(memory, tree->queue, chips, error) == CM_OK && CM_NEW(memory, tree->back, chips, error) == CM_OK && CM_NEW(memory, tree->steps, chips, error) == CM_OK && CM_NEW(memory, tree->again, chips, error) == CM_OK &&
      CM_NEW(memory, tree->taken, chips, error) == CM_OK) {
    find_working(tree);
    return CM_OK;
  }
  cm_fabric_tree_free(tree);
  return error->status;
}

void cm_fabric_tree_free(cm_fabric_tree *tree)
{
  CM_FREE(tree->works, tree->link, tree->member, tree->wanted, tree->chip, tree->joined, tree->seen, tree->queue, tree->back, tree->steps, tree->again, tree->taken);
}

/* A stamp that no element of an array has. */
static void restamp(uint32_t *stamp, uint32_t *array, uint32_t count)
{
  if (++*stamp == 0) {
    memset(array, 0, count * sizeof *array);
    *stamp = 1;
  }
}

static void add(cm_fabric_tree *tree, uint32_t chip)
{
  tree->member[chip] = tree->now;
  tree->link[chip] = 0;
  tree->chip[tree->size++] = chip;
}

void cm_fabric_tree_begin(cm_fabric_tree *tree, uint32_t chip)
{
  restamp(&tree->now, tree->member, cm_fabric_chips(tree->f));
  tree->size = 0;
  add(tree, chip);
}

/* Joins a chip to one of the tree: `link` leads there. */
static void join(cm_fabric_tree *tree, uint32_t chip, unsigned link)
{
  const uint32_t of = cm_fabric_neighbour(tree->f, chip, link);
  tree->joined[tree->size] = link;
  add(tree, chip);
  tree->link[chip] |= (uint8_t)(1u << link);
  tree->link[of] |= (uint8_t)(1u << opposite(link));
  tree->taken[of] |= (uint8_t)(1u << opposite(link));
}

void cm_fabric_tree_cut(cm_fabric_tree *tree, uint32_t size)
{
  while (tree->size > size) {
    const uint32_t chip = tree->chip[--tree->size];
    const unsigned link = tree->joined[tree->size];
    tree->link[cm_fabric_neighbour(tree->f, chip, link)] &= (uint8_t) ~(1u << opposite(link));
    tree->member[chip] = 0;
  }
}

/* Joins a wanted chip that is beside chip number i of the tree; false: there is none. */
static bool join_beside(cm_fabric_tree *tree, uint32_t i)
{
  const uint32_t chip = tree->chip[i];
  for (unsigned link = 0; link < CM_FABRIC_LINKS; link++) {
    const uint32_t to = cm_fabric_neighbour(tree->f, chip, link);
    if (tree->works[chip] >> link & 1 && tree->wanted[to] == tree->want && !cm_fabric_tree_has(tree, to)) {
      join(tree, to, opposite(link));
      return true;
    }
  }
  return false;
}

/* Joins the wanted chips that are beside the tree from its chip number `from` on, and those beside them: to its first chip what no other has beside it, so that what it sends leaves alike.
 * Returns how many. */
static uint32_t flood(cm_fabric_tree *tree, uint32_t from)
{
  const uint32_t before = tree->size;
  uint32_t i = from > 0 ? from : 1;
  do {
    while (i < tree->size)
      if (!join_beside(tree, i))
        i++;
  } while (from == 0 && join_beside(tree, 0));
  return tree->size - before;
}

/* The wanted chip that is nearest to the tree, with the way back in `back`; CM_NO_CHIP: none can be reached. */
static uint32_t nearest(cm_fabric_tree *tree)
{
  uint32_t end = 0;
  restamp(&tree->search, tree->seen, cm_fabric_chips(tree->f));
  for (uint32_t i = 1; i <= tree->size; i++) {
    const uint32_t chip = tree->chip[i % tree->size];
    tree->seen[chip] = tree->search;
    tree->steps[chip] = tree->again[chip] = 0;
    tree->queue[end++] = chip;
  }
  uint32_t found = CM_NO_CHIP;
  for (uint32_t at = 0; at < end && (found == CM_NO_CHIP || tree->steps[tree->queue[at]] < tree->steps[found]); at++) {
    const uint32_t from = tree->queue[at];
    for (unsigned link = 0; link < CM_FABRIC_LINKS; link++) {
      const uint32_t to = cm_fabric_neighbour(tree->f, from, link), steps = tree->steps[from] + 1, again = tree->again[from] + (tree->taken[from] >> link & 1);
      if ((tree->works[from] >> link & 1) == 0)
        continue;
      if (tree->seen[to] != tree->search) {
        tree->seen[to] = tree->search;
        tree->queue[end++] = to;
      } else if (tree->steps[to] != steps || tree->again[to] >= again)
        continue;
      tree->steps[to] = steps;
      tree->again[to] = again;
      tree->back[to] = (uint8_t)opposite(link);
      if (tree->wanted[to] == tree->want && (found == CM_NO_CHIP || again > tree->again[found]))
        found = to;
    }
  }
  return found;
}

static void join_way(cm_fabric_tree *tree, uint32_t chip)
{
  uint32_t length = 0; /* the way from the chip to the tree, in the queue, of which nothing is needed any more */
  for (; !cm_fabric_tree_has(tree, chip); chip = cm_fabric_neighbour(tree->f, chip, tree->back[chip]))
    tree->queue[length++] = chip;
  while (length > 0) {
    length--;
    join(tree, tree->queue[length], tree->back[tree->queue[length]]);
  }
}

static uint32_t missing(cm_fabric_tree *tree, const uint32_t *chip, uint32_t count)
{
  uint32_t left = 0;
  restamp(&tree->want, tree->wanted, cm_fabric_chips(tree->f));
  for (uint32_t i = 0; i < count; i++) {
    left += tree->wanted[chip[i]] != tree->want && !cm_fabric_tree_has(tree, chip[i]);
    tree->wanted[chip[i]] = tree->want;
  }
  return left;
}

cm_status cm_fabric_tree_grow(cm_fabric_tree *tree, const uint32_t *chip, uint32_t count, cm_error *error)
{
  uint32_t left = missing(tree, chip, count), from = 0;
  while (left > 0) {
    left -= flood(tree, from);
    if (left == 0)
      break;
    const uint32_t next = nearest(tree);
    if (next == CM_NO_CHIP)
      return cm_fail(error, CM_NO_ROUTE, "no working links lead from chip %u, %u to all chips with targets of what it sends", tree->chip[0] % tree->f->width,
                     tree->chip[0] / tree->f->width);
    from = tree->size;
    join_way(tree, next);
    left--;
  }
  return CM_OK;
}
