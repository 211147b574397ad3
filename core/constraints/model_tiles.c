/* What is known of the tiles of a model. What can fail: memory, too many relations. */
#include <stdlib.h>
#include <string.h>

#include "core/constraints/model_building.h"

enum { TABLE_WORDS_MAX = 1 << 25 };

/* Where a tile's router lies. */
static cm_place_offset router_at(const cm_problem *p, uint32_t tile)
{
  return (cm_place_offset){(int32_t)(tile % p->width / p->router_x), (int32_t)(tile / p->width / p->router_y)};
}

static uint32_t label_at(const cm_problem *p, cm_scope scope, uint32_t tile)
{
  const uint32_t x = tile % p->width, y = tile / p->width;
  switch (scope) {
    case CM_SCOPE_ROUTER: return y / p->router_y * (p->width / p->router_x) + x / p->router_x;
    case CM_SCOPE_CHIP: return y / p->chip_y * (p->width / p->chip_x) + x / p->chip_x;
    case CM_SCOPE_COLUMN: return x;
    case CM_SCOPE_ROW: return y;
    default: return tile;
  }
}

cm_status cm_model_label(cm_model_building *b, cm_scope scope, cm_error *error)
{
  cm_place_model *m = b->m;
  if (m->label[scope] != NULL)
    return CM_OK;
  m->labels[scope] = label_at(b->p, scope, m->tiles - 1) + 1;
  CM_TRY(CM_NEW_ALL(b->memory, error, CM_ARRAY(m->label[scope], m->tiles), CM_ARRAY(m->mask[scope], (size_t)m->labels[scope] * m->words)));
  for (uint32_t t = 0; t < m->tiles; t++) {
    m->label[scope][t] = label_at(b->p, scope, t);
    cm_tile_add(&m->mask[scope][(size_t)m->label[scope][t] * m->words], t);
  }
  return CM_OK;
}

/* Whether a tile may stand to another as a constraint between two says. */
static bool related(const cm_constraint *c, cm_place_offset a, cm_place_offset b)
{
  const int32_t x = a.x - b.x, y = a.y - b.y;
  if (c->kind == CM_ADJACENT) {
    for (uint32_t i = 0; i < c->offset_count; i++)
      if (c->offset[i].x == x && c->offset[i].y == y)
        return true;
    return false;
  }
  switch (c->side) {
    case CM_LEFT_OF: return x < 0;
    case CM_RIGHT_OF: return x > 0;
    case CM_ABOVE: return y < 0;
    case CM_BELOW: return y > 0;
    default: return (uint32_t)abs(x) + (uint32_t)abs(y) <= c->hops;
  }
}

static bool same_relation(const cm_constraint *a, const cm_constraint *b)
{
  if (a->kind != b->kind || a->offset_count != b->offset_count || a->side != b->side || a->hops != b->hops)
    return false;
  return a->offset_count == 0 || memcmp(a->offset, b->offset, a->offset_count * sizeof *a->offset) == 0;
}

cm_status cm_model_tables(cm_model_building *b, const cm_constraint *c, uint32_t *first, cm_error *error)
{
  cm_place_model *m = b->m;
  for (*first = 0; *first < m->table_count; *first += 2)
    if (same_relation(b->tabled[*first / 2], c))
      return CM_OK;
  if ((uint64_t)m->table_count * m->tiles * m->words > TABLE_WORDS_MAX)
    return cm_fail(error, CM_TOO_LARGE, "too many different relations for an array of %u tiles: %u", m->tiles, m->table_count / 2);
  b->tabled[m->table_count / 2] = c;
  CM_TRY(CM_ROOM(b->memory, m->table, &b->table_capacity, m->table_count + 2, error));
  *first = m->table_count;
  for (int side = 0; side < 2; side++, m->table_count++)
    CM_TRY(CM_NEW(b->memory, m->table[m->table_count], (size_t)m->tiles * m->words, error));
  for (uint32_t s = 0; s < m->tiles; s++)
    for (uint32_t t = 0; t < m->tiles; t++)
      if (related(c, router_at(b->p, s), router_at(b->p, t))) {
        cm_tile_add(&m->table[*first][(size_t)s * m->words], t);
        cm_tile_add(&m->table[*first + 1][(size_t)t * m->words], s);
      }
  return CM_OK;
}

cm_status cm_model_links(cm_model_building *b, cm_error *error)
{
  cm_place_model *m = b->m;
  if (m->links != NULL)
    return CM_OK;
  CM_TRY(CM_NEW(b->memory, m->links, (size_t)m->tiles * m->words, error));
  const cm_constraint near = {.kind = CM_ORDER, .side = CM_WITHIN_HOPS, .hops = 1};
  for (uint32_t s = 0; s < m->tiles; s++)
    for (uint32_t t = 0; t < m->tiles; t++)
      if (related(&near, router_at(b->p, s), router_at(b->p, t)))
        cm_tile_add(&m->links[(size_t)s * m->words], t);
  return CM_OK;
}
