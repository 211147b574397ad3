#include "core/partition/axon/locality.h"

#define NONE UINT32_MAX

typedef struct carving {
  const cm_topology *topology;
  uint32_t *net;     /* [vertices] a net that the vertex is the source of; NONE */
  uint32_t *cell;    /* [vertices] */
  uint32_t *size;    /* [cells] */
  uint32_t *child;   /* [cells] last cell that was found beside this one; NONE */
  uint32_t *sibling; /* [cells] the one found before it beside the same cell; NONE */
  uint32_t *stack;   /* [cells] */
  uint32_t cells, root; /* root: last cell that was found beside none */
} carving;

/* The vertex and what its net reaches and no cell has yet: a cell, beside the first cell that it meets. */
static void carve(carving *c, uint32_t v)
{
  const cm_topology *t = c->topology;
  uint32_t made = c->cells++, beside = NONE, e = c->net[v];
  c->cell[v] = made;
  c->size[made] = 1;
  c->child[made] = NONE;
  for (uint64_t i = e != NONE ? t->net_first[e] : 0; e != NONE && i < t->net_first[e + 1]; i++) {
    uint32_t u = t->pin[i];
    if (c->cell[u] == NONE) {
      c->cell[u] = made;
      c->size[made]++;
    } else if (beside == NONE && c->cell[u] != made) {
      beside = c->cell[u];
    }
  }
  uint32_t *last = beside != NONE ? &c->child[beside] : &c->root;
  c->sibling[made] = *last;
  *last = made;
}

/* Turns sizes into first numbers: every cell followed by those beside it. */
static void number_cells(carving *c)
{
  uint32_t depth = 0, next = 0;
  if (c->root != NONE)
    c->stack[depth++] = c->root;
  while (depth > 0) {
    uint32_t cell = c->stack[--depth], size = c->size[cell];
    c->size[cell] = next;
    next += size;
    if (c->sibling[cell] != NONE)
      c->stack[depth++] = c->sibling[cell];
    if (c->child[cell] != NONE)
      c->stack[depth++] = c->child[cell];
  }
}

static cm_status allocate(carving *c, cm_memory *memory, uint32_t n, cm_error *error)
{
  if (CM_NEW(memory, c->net, n, error) != CM_OK || CM_NEW(memory, c->cell, n, error) != CM_OK ||
      CM_NEW(memory, c->size, n, error) != CM_OK || CM_NEW(memory, c->child, n, error) != CM_OK ||
      CM_NEW(memory, c->sibling, n, error) != CM_OK)
    return error->status;
  return CM_NEW(memory, c->stack, (size_t)n + 1, error);
}

cm_status cm_number_by_locality(const cm_topology *topology, cm_run *run, uint32_t *number, cm_error *error)
{
  carving c = {.topology = topology, .root = NONE};
  uint32_t n = topology->vertex_count;
  cm_status status = allocate(&c, run->memory, n, error);
  if (status == CM_OK) {
    for (uint32_t v = 0; v < n; v++)
      c.net[v] = c.cell[v] = NONE;
    for (uint32_t e = topology->net_count; e-- > 0;)
      c.net[cm_topology_source(topology, e)] = e;
    for (uint32_t v = 0; v < n; v++)
      if (c.cell[v] == NONE)
        carve(&c, v);
    number_cells(&c);
    for (uint32_t v = 0; v < n; v++)
      number[v] = c.size[c.cell[v]]++;
  }
  CM_FREE(c.net, c.cell, c.size, c.child, c.sibling, c.stack);
  return status;
}

void cm_shuffle_by_locality(cm_random *random, uint32_t block, uint32_t *order, uint32_t count)
{
  uint32_t blocks = count / block, rest = count % block; /* the rest stands last */
  uint32_t *which = order + (count - blocks);
  cm_random_permutation(random, which, blocks);
  for (uint32_t b = 0; b < blocks; b++) {
    uint32_t first = which[b] * block,
             *at = order + (size_t)b * block; /* never past what is still to be read of `which` */
    for (uint32_t i = 0; i < block; i++) {
      uint32_t j = (uint32_t)cm_random_below(random, i + 1);
      at[i] = at[j];
      at[j] = first + i;
    }
  }
  for (uint32_t i = 0; i < rest; i++)
    order[(size_t)blocks * block + i] = blocks * block + i;
}
