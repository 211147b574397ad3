/* Where a chain of variables can still hang together: in one piece of the tiles that its members may have, within as many tiles of those that are settled
 * as members are not. */
#include <string.h>

#include "core/constraints/domains.h"

/* Tiles that hang together with `first` inside a set; returns their number, in s->flood. */
static uint32_t flood(cm_state *s, const uint64_t *inside, uint32_t first, uint64_t *reached)
{
  const cm_place_model *m = s->model;
  uint32_t count = 0;
  memset(reached, 0, m->words * sizeof *reached);
  cm_tile_add(reached, first);
  s->flood[count++] = first;
  for (uint32_t i = 0; i < count; i++) {
    const uint64_t *links = &m->links[(size_t)s->flood[i] * m->words];
    for (uint32_t w = 0; w < m->words; w++)
      for (uint64_t more = links[w] & inside[w] & ~reached[w]; more != 0; more &= more - 1) {
        reached[w] |= more & -more;
        s->flood[count++] = w * 64 + (uint32_t)__builtin_ctzll(more);
      }
    s->work += m->words;
  }
  return count;
}

/* Tiles from where no more tiles than there are open members lead to the first settled one, settled ones counting nothing. */
static void near_settled(cm_state *s, const uint64_t *inside, const uint64_t *settled, uint32_t first, uint32_t open, uint64_t *near)
{
  const cm_place_model *m = s->model;
  uint64_t *front = &s->scratch[3 * (size_t)m->words];
  memset(near, 0, m->words * sizeof *near);
  (void)flood(s, settled, first, front);
  for (uint32_t step = 0;; step++) {
    for (uint32_t w = 0; w < m->words; w++)
      near[w] |= front[w];
    if (step == open)
      return;
    /* One tile further, and on along settled ones. */
    uint64_t next[CM_PROBLEM_TILES_MAX / 64] = {0};
    uint32_t count = 0;
    bool any = false;
    for (uint32_t t = cm_tile_next(front, m->words, 0); t < m->tiles; t = cm_tile_next(front, m->words, t + 1))
      for (uint32_t w = 0; w < m->words; w++)
        next[w] |= m->links[(size_t)t * m->words + w] & inside[w] & ~near[w];
    for (uint32_t t = cm_tile_next(next, m->words, 0); t < m->tiles; t = cm_tile_next(next, m->words, t + 1))
      s->flood[count++] = t;
    for (uint32_t i = 0; i < count; i++)
      for (uint32_t w = 0; w < m->words; w++)
        for (uint64_t more = m->links[(size_t)s->flood[i] * m->words + w] & settled[w] & ~near[w] & ~next[w]; more != 0; more &= more - 1) {
          next[w] |= more & -more;
          s->flood[count++] = w * 64 + (uint32_t)__builtin_ctzll(more);
        }
    for (uint32_t w = 0; w < m->words; w++) {
      front[w] = next[w];
      any = any || next[w] != 0;
    }
    s->work += (uint64_t)count * m->words;
    if (!any)
      return;
  }
}

static cm_status narrow_all(cm_state *s, const cm_chain *c, const uint64_t *tiles, bool *possible, cm_error *error)
{
  for (uint32_t k = 0; k < c->count && *possible; k++)
    CM_TRY(cm_state_narrow(s, c->variable[k], tiles, true, possible, error));
  return CM_OK;
}

/* Pieces of the tiles in which every member has one. */
static void viable_pieces(cm_state *s, const cm_chain *c, const uint64_t *all, uint64_t *viable)
{
  const cm_place_model *m = s->model;
  uint64_t rest[CM_PROBLEM_TILES_MAX / 64], *piece = &s->scratch[2 * (size_t)m->words];
  memcpy(rest, all, m->words * sizeof *rest);
  memset(viable, 0, m->words * sizeof *viable);
  for (uint32_t t = cm_tile_next(rest, m->words, 0); t < m->tiles; t = cm_tile_next(rest, m->words, t + 1)) {
    (void)flood(s, all, t, piece);
    bool good = true;
    for (uint32_t k = 0; k < c->count && good; k++) {
      const uint64_t *domain = cm_state_domain(s, c->variable[k]);
      good = false;
      for (uint32_t w = 0; w < m->words && !good; w++)
        good = (domain[w] & piece[w]) != 0;
    }
    for (uint32_t w = 0; w < m->words; w++) {
      rest[w] &= ~piece[w];
      viable[w] |= good ? piece[w] : 0;
    }
  }
}

cm_status cm_chain_narrow(cm_state *s, uint32_t chain, bool *possible, cm_error *error)
{
  const cm_place_model *m = s->model;
  const cm_chain *c = &m->chain[chain];
  uint64_t all[CM_PROBLEM_TILES_MAX / 64] = {0}, settled[CM_PROBLEM_TILES_MAX / 64] = {0}, near[CM_PROBLEM_TILES_MAX / 64];
  uint32_t open = 0, first = UINT32_MAX;
  for (uint32_t k = 0; k < c->count; k++) {
    const uint64_t *domain = cm_state_domain(s, c->variable[k]);
    const bool one = cm_tile_count(domain, m->words) == 1;
    for (uint32_t w = 0; w < m->words; w++) {
      all[w] |= domain[w];
      settled[w] |= one ? domain[w] : 0;
    }
    open += one ? 0 : 1;
    first = one ? cm_tile_next(domain, m->words, 0) : first;
  }
  if (c->count == 0)
    return CM_OK;
  viable_pieces(s, c, all, near);
  CM_TRY(narrow_all(s, c, near, possible, error));
  if (!*possible || first == UINT32_MAX)
    return CM_OK;
  near_settled(s, all, settled, first, open, near);
  return narrow_all(s, c, near, possible, error);
}
