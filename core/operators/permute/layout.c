/* The algebra of layouts. */
#include "core/operators/permute/layout.h"

#include <string.h>

#include "core/operators/operator.h"

struct cm_map_entry {
  uint32_t length, *to;
  uint64_t hash;
};

void cm_maps_init(cm_maps *maps, cm_memory *memory)
{
  *maps = (cm_maps){.count = 1};
  cm_arena_init(&maps->arena, memory);
}

void cm_maps_free(cm_maps *maps)
{
  cm_arena_free(&maps->arena);
}

uint32_t cm_maps_intern(cm_maps *maps, uint32_t length, const uint32_t *to)
{
  uint64_t hash = UINT64_C(14695981039346656037) + length;
  bool identity = true;
  for (uint32_t i = 0; i < length; i++) {
    hash = (hash ^ to[i]) * UINT64_C(1099511628211);
    identity = identity && to[i] == i;
  }
  if (identity || maps->error.status != CM_OK)
    return 0;
  for (size_t m = 1; m < maps->count; m++)
    if (maps->entries[m].hash == hash && maps->entries[m].length == length &&
        memcmp(maps->entries[m].to, to, length * sizeof *to) == 0)
      return (uint32_t)m;
  void *block = maps->entries;
  uint32_t *copy;
  if (cm_arena_grow(&maps->arena, &block, &maps->capacity, maps->count, sizeof *maps->entries, &maps->error) != CM_OK ||
      CM_ARENA_NEW(&maps->arena, copy, length, &maps->error) != CM_OK)
    return 0;
  memcpy(copy, to, length * sizeof *to);
  maps->entries = block;
  maps->entries[maps->count] = (struct cm_map_entry){.length = length, .to = copy, .hash = hash};
  return (uint32_t)maps->count++;
}

uint32_t cm_map_at(const cm_maps *maps, uint32_t map, uint32_t index)
{
  return map == 0 ? index : maps->entries[map].to[index];
}

void cm_maps_end_scratch(cm_maps *maps)
{
  maps->scratch_used = 0;
}

uint32_t *cm_maps_scratch(cm_maps *maps, uint32_t length)
{
  if (maps->error.status != CM_OK)
    return NULL;
  if (length > maps->scratch_capacity - maps->scratch_used) {
    size_t capacity = 2 * maps->scratch_capacity + length;
    uint32_t *fresh;
    /* Arrays that are in use stay where they are, in the old block. */
    if (CM_ARENA_NEW(&maps->arena, fresh, capacity, &maps->error) != CM_OK)
      return NULL;
    maps->scratch = fresh;
    maps->scratch_capacity = capacity;
    maps->scratch_used = 0;
  }
  uint32_t *made = maps->scratch + maps->scratch_used;
  maps->scratch_used += length;
  return made;
}

uint32_t cm_maps_keep(cm_maps *maps, uint32_t length, const uint32_t *to)
{
  uint32_t map = to != NULL ? cm_maps_intern(maps, length, to) : 0;
  cm_maps_end_scratch(maps);
  return map;
}

/* (second after first): stored index of `second` -> index of what `first` maps from. */
static uint32_t compose_maps(cm_maps *maps, uint32_t first, uint32_t second)
{
  if (first == 0 || second == 0)
    return first + second;
  uint32_t length = maps->entries[first].length, *to = cm_maps_scratch(maps, length);
  for (uint32_t i = 0; to != NULL && i < length; i++)
    to[i] = cm_map_at(maps, first, cm_map_at(maps, second, i));
  return cm_maps_keep(maps, length, to);
}

uint32_t cm_map_invert(cm_maps *maps, uint32_t map)
{
  if (map == 0)
    return 0;
  uint32_t length = maps->entries[map].length, *to = cm_maps_scratch(maps, length);
  for (uint32_t i = 0; to != NULL && i < length; i++)
    to[cm_map_at(maps, map, i)] = i;
  return cm_maps_keep(maps, length, to);
}

cm_layout cm_layout_identity(uint32_t rank)
{
  cm_layout l = {.rank = rank <= CM_RANK_MAX ? rank : 0};
  for (uint32_t i = 0; i < l.rank; i++)
    l.perm[i] = i;
  return l;
}

bool cm_layout_keeps_axes(const cm_layout *l)
{
  for (uint32_t i = 0; i < l->rank; i++)
    if (l->perm[i] != i)
      return false;
  return true;
}

bool cm_layout_keeps_elements(const cm_layout *l)
{
  for (uint32_t i = 0; i < l->rank; i++)
    if (l->map[i] != 0)
      return false;
  return true;
}

bool cm_layout_is_identity(const cm_layout *l)
{
  return cm_layout_keeps_axes(l) && cm_layout_keeps_elements(l);
}

bool cm_layout_equal(const cm_layout *a, const cm_layout *b)
{
  return a->rank == b->rank && memcmp(a->perm, b->perm, a->rank * sizeof *a->perm) == 0 &&
         memcmp(a->map, b->map, a->rank * sizeof *a->map) == 0;
}

cm_layout cm_layout_compose(cm_maps *maps, const cm_layout *first, const cm_layout *second)
{
  cm_layout made = cm_layout_identity(first->rank);
  for (uint32_t k = 0; k < first->rank; k++) {
    uint32_t middle = second->perm[k], axis = first->perm[middle];
    made.perm[k] = axis;
    made.map[axis] = compose_maps(maps, first->map[axis], second->map[middle]);
  }
  return made;
}

cm_layout cm_layout_invert(cm_maps *maps, const cm_layout *l)
{
  cm_layout made = cm_layout_identity(l->rank);
  for (uint32_t k = 0; k < l->rank; k++) {
    made.perm[l->perm[k]] = k;
    made.map[k] = cm_map_invert(maps, l->map[l->perm[k]]);
  }
  return made;
}

uint32_t cm_layout_place(const cm_layout *l, uint32_t axis)
{
  uint32_t k = 0;
  while (l->perm[k] != axis)
    k++;
  return k;
}

void cm_layout_dims(const cm_layout *l, const int64_t *dims, int64_t *stored)
{
  int64_t made[CM_RANK_MAX] = {0};
  for (uint32_t k = 0; k < l->rank; k++)
    made[k] = dims[l->perm[k]];
  memcpy(stored, made, l->rank * sizeof *made);
}

bool cm_layout_moves(const cm_layout *l, const int64_t *dims)
{
  uint32_t last = 0;
  for (uint32_t k = 0; k < l->rank; k++) {
    uint32_t axis = l->perm[k];
    if (l->map[axis] != 0)
      return true;
    if (dims[axis] == 1)
      continue;
    if (axis < last)
      return true;
    last = axis;
  }
  return false;
}

cm_status cm_layout_apply(const cm_maps *maps, const cm_layout *l, const cm_tensor *t, cm_memory *memory,
                          cm_tensor **made, cm_error *error)
{
  int64_t dims[CM_RANK_MAX] = {0}, strides[CM_RANK_MAX], index[CM_RANK_MAX] = {0};
  size_t width = cm_type_bytes(t->type);
  cm_layout_dims(l, t->dims, dims);
  CM_TRY(cm_tensor_new(memory, t->type, t->rank, dims, made, error));
  cm_strides(t->rank, t->dims, strides);
  for (uint64_t i = 0; i < t->count; i++) {
    int64_t at = 0;
    for (uint32_t k = 0; k < l->rank; k++)
      at += (int64_t)cm_map_at(maps, l->map[l->perm[k]], (uint32_t)index[k]) * strides[l->perm[k]];
    memcpy((uint8_t *)(*made)->data + i * width, (const uint8_t *)t->data + (size_t)at * width, width);
    (void)cm_next_index(t->rank, dims, index);
  }
  return CM_OK;
}

/* ---- digits ---- */

bool cm_map_digits(const cm_maps *maps, uint32_t map, uint32_t length, cm_digits *d)
{
  uint32_t sizes[CM_RANK_MAX], strides[CM_RANK_MAX], count = 0;
  if (cm_map_at(maps, map, 0) != 0)
    return false;
  /* From the least significant stored digit on: how far the map goes in equal steps. */
  for (uint32_t done = 1; done < length;) {
    if (count == CM_RANK_MAX || length % done != 0)
      return false;
    uint32_t step = cm_map_at(maps, map, done), size = 1;
    while (done * size < length && cm_map_at(maps, map, done * size) == step * size)
      size++;
    while (size > 1 && length / done % size != 0)
      size--;
    if (size < 2)
      return false;
    sizes[count] = size;
    strides[count++] = step;
    done *= size;
  }
  /* Digits by falling stride are the logical ones; each stride must be the product of the smaller digits. */
  d->count = count;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t rank = 0;
    uint64_t below = 1;
    for (uint32_t j = 0; j < count; j++) {
      rank += strides[j] > strides[i];
      below *= strides[j] < strides[i] ? sizes[j] : 1;
    }
    if (below != strides[i])
      return false;
    d->size[rank] = sizes[i];
    d->order[count - 1 - i] = rank;
  }
  for (uint32_t j = 0; j < length; j++) {
    uint32_t rest = j, at = 0;
    for (uint32_t i = 0; i < count; rest /= sizes[i++])
      at += rest % sizes[i] * strides[i];
    if (at != cm_map_at(maps, map, j))
      return false;
  }
  return true;
}

bool cm_layout_has_digits(const cm_maps *maps, const cm_layout *l, const int64_t *dims)
{
  cm_digits digits;
  uint32_t total = 0;
  for (uint32_t a = 0; a < l->rank; a++) {
    if (l->map[a] != 0 && !cm_map_digits(maps, l->map[a], (uint32_t)dims[a], &digits))
      return false;
    total += l->map[a] != 0 ? digits.count : 1;
  }
  return total <= CM_RANK_MAX;
}

unsigned cm_layout_passes(const cm_maps *maps, const cm_layout *l, const int64_t *dims)
{
  if (!cm_layout_moves(l, dims))
    return 0;
  if (cm_layout_has_digits(maps, l, dims))
    return 1;
  cm_layout axes = *l;
  unsigned passes = 0;
  for (uint32_t a = 0; a < l->rank; a++) {
    passes += axes.map[a] != 0;
    axes.map[a] = 0;
  }
  return passes + cm_layout_moves(&axes, dims);
}

enum { MAP_ENTRIES_SHOWN = 64 };

json_t *cm_layout_json(const cm_maps *maps, const cm_layout *l, const int64_t *dims)
{
  bool inter = !cm_layout_keeps_axes(l), intra = !cm_layout_keeps_elements(l);
  json_t *axes = json_array(), *all = json_array();
  for (uint32_t k = 0; k < l->rank; k++)
    (void)json_array_append_new(axes, json_integer(l->perm[k]));
  for (uint32_t a = 0; a < l->rank; a++) {
    if (l->map[a] == 0)
      continue;
    json_t *index = json_array();
    for (int64_t i = 0; i < dims[a] && i < MAP_ENTRIES_SHOWN; i++)
      (void)json_array_append_new(index, json_integer(cm_map_at(maps, l->map[a], (uint32_t)i)));
    (void)json_array_append_new(
        all, json_pack("{s:i, s:I, s:o}", "axis", (int)a, "length", (json_int_t)dims[a], "index", index));
  }
  return json_pack("{s:s, s:o, s:o}", "kind",
                   inter && intra ? "both"
                   : intra        ? "intra"
                                  : "inter",
                   "axes", axes, "maps", all);
}
