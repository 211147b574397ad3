#include "core/placement/trees/tree_state.h"

#include <string.h>

static cm_status slopes_new(size_t count, cm_memory *memory, cm_tree_slopes *slopes, cm_error *error)
{
  return CM_NEW(memory, slopes->up, count, error) == CM_OK ? CM_NEW(memory, slopes->down, count, error) : error->status;
}

static void slopes_free(cm_tree_slopes *slopes)
{
  CM_FREE(slopes->up, slopes->down);
}

cm_status cm_tree_prices_new(const cm_trees *trees, const cm_region *region, cm_run *run, cm_tree_prices **prices,
                             cm_error *error)
{
  const cm_chip *chip = trees->chip;
  cm_tree_prices *p;
  uint32_t corner = region->y0 * chip->width + region->x0;
  uint32_t far = (region->y0 + region->height - 1) * chip->width + region->x0 + region->width - 1;
  cm_tree_spot first = cm_trees_spot(trees, corner), last = cm_trees_spot(trees, far);
  CM_TRY(CM_NEW(run->memory, p, 1, error));
  *p = (cm_tree_prices){.trees = trees, .line = first.line, .place = first.place,
                        .lines = last.line - first.line + 1, .places = last.place - first.place + 1};
  cm_status status = slopes_new(p->lines, run->memory, &p->of_line, error);
  CM_THEN(status, slopes_new(p->places, run->memory, &p->of_place, error));
  CM_THEN(status, slopes_new((size_t)p->lines * p->places, run->memory, &p->at, error));
  CM_THEN(status, CM_NEW_ALL(run->memory, error, CM_ARRAY(p->by_line, p->lines), CM_ARRAY(p->by_place, p->places)));
  CM_END(status, *prices = p, cm_tree_prices_free(p));
}

void cm_tree_prices_free(cm_tree_prices *p)
{
  if (p == NULL)
    return;
  slopes_free(&p->of_line);
  slopes_free(&p->of_place);
  slopes_free(&p->at);
  CM_FREE(p->by_line, p->by_place, p);
}

uint32_t cm_tree_prices_cell(const cm_tree_prices *p, uint32_t core)
{
  cm_tree_spot spot = cm_trees_spot(p->trees, core);
  return (spot.line - p->line) * p->places + spot.place - p->place;
}

/* ---- slopes ---- */

/* A price of `weight` for every unit of way beyond a point. */
static inline void rise(cm_tree_slope *slope, const uint64_t *way, uint32_t first, uint32_t point, int64_t weight)
{
  cm_tree_slope *s = slope + (point - first);
  s->weight += weight;
  s->start += weight * (int64_t)(way[point] - way[first]);
}

/* Adds the prices of all slopes at every point to sum [count], and forgets them. */
static void settle(cm_tree_slopes *slopes, const uint64_t *way, uint32_t count, int64_t *sum)
{
  cm_tree_slope up = {0}, down = {0};
  for (uint32_t i = 0; i < count; i++) {
    sum[i] += up.weight * (int64_t)(way[i] - way[0]) - up.start;
    up.weight += slopes->up[i].weight;
    up.start += slopes->up[i].start;
    slopes->up[i] = (cm_tree_slope){0};
  }
  for (uint32_t i = count; i-- > 0;) {
    sum[i] += down.start - down.weight * (int64_t)(way[i] - way[0]);
    down.weight += slopes->down[i].weight;
    down.start += slopes->down[i].start;
    slopes->down[i] = (cm_tree_slope){0};
  }
}

/* ---- casts ---- */

/* A cast that reaches u: what its tree would grow by with u anywhere, u taken out of it. */
static void price_inbound(cm_tree_prices *p, const cm_tree_net *net, uint32_t own_key)
{
  const cm_trees *t = p->trees;
  const uint64_t *line_way = t->trunk.sum, *place_way = t->branch.sum;
  const uint32_t *key = t->key + net->first, n = net->size;
  uint32_t low_line = net->at.line, high_line = low_line, sender = net->at.place;
  bool taken = false;
  rise(p->of_place.up, place_way, p->place, sender, net->weight);
  rise(p->of_place.down, place_way, p->place, sender, net->weight);
  for (uint32_t i = 0; i < n;) {
    uint32_t line = key[i] >> t->key_shift, low = UINT32_MAX, high = 0;
    for (; i < n && key[i] >> t->key_shift == line; i++) {
      if (key[i] == own_key && !taken) {
        taken = true;
        continue;
      }
      low = low == UINT32_MAX ? key[i] : low;
      high = key[i];
    }
    if (low == UINT32_MAX)
      continue;
    uint32_t at = cm_trees_key_line(t, net, low);
    uint32_t nearest = cm_trees_key_place(t, net, low), farthest = cm_trees_key_place(t, net, high);
    low_line = at < low_line ? at : low_line;
    high_line = at > high_line ? at : high_line;
    size_t row = (size_t)(at - p->line) * p->places;
    if (farthest > sender) {
      rise(p->at.up + row, place_way, p->place, farthest, net->weight);
      rise(p->at.up + row, place_way, p->place, sender, -net->weight);
    }
    if (nearest < sender) {
      rise(p->at.down + row, place_way, p->place, nearest, net->weight);
      rise(p->at.down + row, place_way, p->place, sender, -net->weight);
    }
  }
  rise(p->of_line.up, line_way, p->line, high_line, net->weight);
  rise(p->of_line.down, line_way, p->line, low_line, net->weight);
}

/* A cast of u's own: its trunk depends on u's line alone, its branches on u's place. */
static void price_own(cm_tree_prices *p, const cm_tree_net *net)
{
  const cm_trees *t = p->trees;
  const uint64_t *line_way = t->trunk.sum, *place_way = t->branch.sum;
  const uint32_t *key = t->key + net->first, n = net->size;
  rise(p->of_line.up, line_way, p->line, cm_trees_key_line(t, net, key[0]), net->weight);
  rise(p->of_line.down, line_way, p->line, cm_trees_key_line(t, net, key[n - 1]), net->weight);
  for (uint32_t i = 0, begin; i < n;) {
    uint32_t line = key[i] >> t->key_shift;
    for (begin = i; i < n && key[i] >> t->key_shift == line;)
      i++;
    rise(p->of_place.up, place_way, p->place, cm_trees_key_place(t, net, key[begin]), net->weight);
    rise(p->of_place.down, place_way, p->place, cm_trees_key_place(t, net, key[i - 1]), net->weight);
  }
}

void cm_tree_prices_of(cm_tree_prices *p, uint32_t u, int64_t *price)
{
  const cm_trees *t = p->trees;
  const uint64_t *line_way = t->trunk.sum + p->line, *place_way = t->branch.sum + p->place;
  for (uint64_t i = t->inbound.first[u]; i < t->inbound.first[u + 1]; i++) {
    const cm_tree_net *net = &t->net[t->inbound.cast[i]];
    price_inbound(p, net, cm_trees_key(t, net, u));
  }
  for (uint32_t e = t->casts->of_part[u]; e < t->casts->of_part[u + 1]; e++)
    price_own(p, &t->net[e]);
  memset(p->by_place, 0, p->places * sizeof *p->by_place);
  memset(p->by_line, 0, p->lines * sizeof *p->by_line);
  settle(&p->of_place, place_way, p->places, p->by_place);
  settle(&p->of_line, line_way, p->lines, p->by_line);
  for (uint32_t l = 0; l < p->lines; l++) {
    int64_t *row = price + (size_t)l * p->places;
    for (uint32_t i = 0; i < p->places; i++)
      row[i] = p->by_place[i] + p->by_line[l];
    cm_tree_slopes at = {p->at.up + (size_t)l * p->places, p->at.down + (size_t)l * p->places};
    settle(&at, place_way, p->places, row);
  }
}
