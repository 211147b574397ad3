/* Tiles: cells of the grids of values, and boxes of their own. */
#include "core/machine/plan/cutter.h"

enum { TILES_MAX = 1 << 19 }; /* a plan takes a kilobyte a tile, and is made for every candidate */

static cm_status too_many(const cm_plan *plan, cm_error *error)
{
  return cm_fail(
    error, CM_TOO_LARGE,
    "the model would have more than %d tiles on a chip of %llu bytes: a smaller batch, or a chip with more memory, has fewer",
    TILES_MAX, (unsigned long long)plan->memory_bytes);
}

static cm_status add_tile(cm_plan *plan, uint32_t value, const cm_box *box, uint32_t *number, cm_error *error)
{
  if (plan->tile_count >= TILES_MAX)
    return too_many(plan, error);
  CM_TRY(CM_ROOM(plan->memory, plan->tiles, &plan->tile_capacity, plan->tile_count + 1, error));
  plan->tiles[plan->tile_count] = (cm_tile){.value = value, .piece = CM_NONE, .last_op = CM_NONE, .box = *box,
                                            .bytes = cm_aligned(cm_plan_bytes(plan, value, box))};
  *number = (uint32_t)plan->tile_count++;
  return CM_OK;
}

static void lie_outside(cm_tile *tile)
{
  tile->host = true;
  tile->bytes = 0;
}

uint64_t cm_plan_bytes(const cm_plan *plan, uint32_t value, const cm_box *box)
{
  return cm_box_count(box) * cm_type_bytes(plan->model->values[value].shape.type);
}

cm_box cm_plan_constant_box(const cm_plan *plan, uint32_t value, const cm_box *box)
{
  cm_box whole = cm_box_whole(&plan->model->values[value].shape);
  return cm_plan_bytes(plan, value, &whole) <= plan->memory_bytes / CM_SMALL_SHARE ? whole : *box;
}

static size_t box_hash(uint32_t value, const cm_box *box)
{
  uint64_t hash = value * UINT64_C(0x9E3779B97F4A7C15);
  for (uint32_t i = 0; i < box->rank; i++)
    hash = (hash ^ ((uint64_t)box->from[i] << 24) ^ (uint64_t)box->to[i]) * UINT64_C(0xFF51AFD7ED558CCD) ^ hash >> 29;
  return (size_t)(hash ^ hash >> 32);
}

static cm_status grow_box_table(cm_plan *plan, cm_error *error)
{
  size_t size = plan->box_table_size > 0 ? plan->box_table_size * 2 : 1024;
  uint32_t *table;
  CM_TRY(CM_NEW(plan->memory, table, size, error));
  for (size_t i = 0; i < plan->box_table_size; i++) {
    if (plan->box_table[i] == 0)
      continue;
    const cm_tile *tile = &plan->tiles[plan->box_table[i] - 1];
    size_t at = box_hash(tile->value, &tile->box) & (size - 1);
    while (table[at] != 0)
      at = (at + 1) & (size - 1);
    table[at] = plan->box_table[i];
  }
  cm_free(plan->box_table);
  plan->box_table = table;
  plan->box_table_size = size;
  return CM_OK;
}

cm_status cm_plan_box_tile(cm_plan *plan, uint32_t value, const cm_box *box, bool host, uint32_t *number, cm_error *error)
{
  CM_TRY_IF(2 * plan->box_count >= plan->box_table_size, grow_box_table(plan, error));
  size_t at = box_hash(value, box) & (plan->box_table_size - 1);
  for (; plan->box_table[at] != 0; at = (at + 1) & (plan->box_table_size - 1)) {
    const cm_tile *tile = &plan->tiles[plan->box_table[at] - 1];
    if (tile->value == value && tile->host == host && cm_box_equal(&tile->box, box)) {
      *number = plan->box_table[at] - 1;
      return CM_OK;
    }
  }
  CM_TRY(add_tile(plan, value, box, number, error));
  plan->tiles[*number].constant = !host && plan->values[value].kind == CM_VALUE_CONSTANT;
  if (host)
    lie_outside(&plan->tiles[*number]);
  plan->values[value].host_reads |= host;
  plan->box_table[at] = *number + 1;
  plan->box_count++;
  return CM_OK;
}

static int64_t grid_from(const cm_plan_value *value, uint32_t axis, int64_t cell)
{
  if (value->stretches.edge != NULL && value->stretches.axis == axis)
    return value->stretches.edge[cell];
  int64_t from = cell * value->step[axis];
  return from < value->whole.to[axis] ? from : value->whole.to[axis];
}

cm_status cm_plan_add_grid(cm_plan *plan, uint32_t value, cm_error *error)
{
  cm_plan_value *v = &plan->values[value];
  int64_t cell[CM_RANK_MAX] = {0};
  v->first_tile = (uint32_t)plan->tile_count;
  uint64_t count = 1; /* before any is made: a model of a few bytes can have any number of rows */
  for (uint32_t i = 0; i < v->whole.rank; i++) {
    if ((uint64_t)v->count[i] > TILES_MAX || (count *= (uint64_t)v->count[i]) > TILES_MAX - plan->tile_count)
      return too_many(plan, error);
  }
  do {
    cm_box box = {.rank = v->whole.rank};
    uint32_t number;
    for (uint32_t i = 0; i < box.rank; i++) {
      box.from[i] = grid_from(v, i, cell[i]);
      box.to[i] = cm_grid_to(v, i, cell[i]);
    }
    CM_TRY(add_tile(plan, value, &box, &number, error));
    plan->tiles[number].grid = true;
    if (v->host)
      lie_outside(&plan->tiles[number]);
  } while (cm_next_index(v->whole.rank, v->count, cell));
  return CM_OK;
}

bool cm_cells_begin(const cm_plan *plan, const cm_tile *box, cm_cells *cells)
{
  *cells = (cm_cells){.value = &plan->values[box->value]};
  if (cells->value->kind != CM_VALUE_MADE || cm_box_count(&box->box) == 0)
    return false;
  for (uint32_t i = 0; i < box->box.rank; i++) {
    cells->first[i] = cm_grid_cell(cells->value, i, box->box.from[i]);
    cells->extent[i] = cm_grid_cell(cells->value, i, box->box.to[i] - 1) - cells->first[i] + 1;
  }
  return true;
}

bool cm_cells_next(cm_cells *cells)
{
  return cm_next_index(cells->value->whole.rank, cells->extent, cells->index);
}

uint32_t cm_cells_tile(const cm_cells *cells)
{
  int64_t cell[CM_RANK_MAX];
  for (uint32_t i = 0; i < cells->value->whole.rank; i++)
    cell[i] = cells->first[i] + cells->index[i];
  return cm_plan_tile_at(cells->value, cell);
}

int64_t cm_grid_cell(const cm_plan_value *value, uint32_t axis, int64_t place)
{
  const int64_t *edge = value->stretches.axis == axis ? value->stretches.edge : NULL;
  if (edge == NULL)
    return place / value->step[axis];
  int64_t low = 0, high = value->count[axis];
  while (high - low > 1) {
    int64_t middle = (low + high) / 2;
    *(edge[middle] <= place ? &low : &high) = middle;
  }
  return low;
}

int64_t cm_grid_to(const cm_plan_value *value, uint32_t axis, int64_t cell)
{
  return grid_from(value, axis, cell + 1);
}

uint32_t cm_plan_tile_at(const cm_plan_value *value, const int64_t *cell)
{
  int64_t at = 0;
  for (uint32_t i = 0; i < value->whole.rank; i++)
    at = at * value->count[i] + cell[i];
  return value->first_tile + (uint32_t)at;
}
