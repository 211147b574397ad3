/* The layout behind a reshape: both shapes are cut into their common digits, and each digit keeps its order and map. */
#include "core/operators/permute/layout.h"

enum { DIGITS_MAX = 2 * CM_RANK_MAX };

/* The coarsest digits that both shapes are made of, without those of one element. */
typedef struct refinement {
  uint32_t count;
  uint32_t size[DIGITS_MAX], from[DIGITS_MAX], to[DIGITS_MAX]; /* and the axes they belong to on either side */
} refinement;

static bool refine(uint32_t rank, const int64_t *dims, uint32_t new_rank, const int64_t *new_dims, refinement *r)
{
  uint32_t i = 0, j = 0;
  int64_t a = 1, b = 1;
  r->count = 0;
  for (;;) {
    while (a == 1 && i < rank)
      a = dims[i++];
    while (b == 1 && j < new_rank)
      b = new_dims[j++];
    if (a <= 1 || b <= 1)
      return a == 1 && b == 1;
    int64_t size = a < b ? a : b;
    if (a % size != 0 || b % size != 0 || size > UINT32_MAX || r->count == DIGITS_MAX)
      return false;
    r->size[r->count] = (uint32_t)size;
    r->from[r->count] = i - 1;
    r->to[r->count++] = j - 1;
    a /= size;
    b /= size;
  }
}

/* A digit as stored: which one, and the map along it. */
typedef struct stored_digit {
  uint32_t digit, map;
} stored_digit;

/* Tries one stored order of an axis's digits: out[] gets each digit's map when the axis's map is that order exactly. */
static bool try_order(cm_maps *maps, uint32_t map, const refinement *r, const uint32_t *digits, uint32_t count,
                      const uint32_t *order, stored_digit *out)
{
  uint32_t stride[DIGITS_MAX], total = 1, stored_stride[DIGITS_MAX], *to[DIGITS_MAX];
  for (uint32_t i = count; i-- > 0; total *= r->size[digits[i]])
    stride[i] = total;
  total = 1;
  for (uint32_t i = count; i-- > 0; total *= r->size[digits[order[i]]])
    stored_stride[i] = total;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t size = r->size[digits[order[i]]], seen = 0;
    if ((to[i] = cm_maps_scratch(maps, size)) == NULL)
      return false;
    for (uint32_t v = 0; v < size; v++) {
      to[i][v] = cm_map_at(maps, map, v * stored_stride[i]) / stride[order[i]] % size;
      seen += to[i][v];
    }
    if ((uint64_t)seen != (uint64_t)size * (size - 1) / 2)
      return false;
  }
  for (uint32_t j = 0; j < total; j++) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < count; i++)
      at += to[i][j / stored_stride[i] % r->size[digits[order[i]]]] * stride[order[i]];
    if (at != cm_map_at(maps, map, j))
      return false;
  }
  for (uint32_t i = 0; i < count; i++)
    out[i] = (stored_digit){digits[order[i]], cm_maps_intern(maps, r->size[digits[order[i]]], to[i])};
  return true;
}

/* All orders of up to four digits, the natural one first. */
static bool next_order(uint32_t *order, uint32_t count)
{
  uint32_t i = count, j = count;
  if (count < 2)
    return false;
  for (i = count - 1; i > 0 && order[i - 1] > order[i];)
    i--;
  if (i == 0)
    return false;
  for (j = count - 1; order[j] < order[i - 1];)
    j--;
  uint32_t swap = order[i - 1];
  order[i - 1] = order[j];
  order[j] = swap;
  for (uint32_t k = 0; k < (count - i) / 2; k++) {
    swap = order[i + k];
    order[i + k] = order[count - 1 - k];
    order[count - 1 - k] = swap;
  }
  return true;
}

/* The stored digits of one logical axis. */
static bool axis_digits(cm_maps *maps, uint32_t axis, uint32_t map, const refinement *r, stored_digit *out, uint32_t *count)
{
  uint32_t digits[DIGITS_MAX], order[DIGITS_MAX], n = 0;
  for (uint32_t i = 0; i < r->count; i++)
    if (r->from[i] == axis)
      digits[n++] = i;
  *count = n;
  for (uint32_t i = 0; i < n; i++) {
    order[i] = i;
    out[i] = (stored_digit){digits[i], 0};
  }
  if (map == 0)
    return true;
  if (n == 1) {
    out[0].map = map;
    return true;
  }
  if (n > 4)
    return false;
  bool found;
  do {
    found = try_order(maps, map, r, digits, n, order, out);
    cm_maps_end_scratch(maps);
  } while (!found && next_order(order, n));
  return found;
}

/* The map of a new axis whose digits are stored in this order. */
static uint32_t join_digits(cm_maps *maps, const refinement *r, const stored_digit *s, uint32_t count)
{
  uint32_t total = 1, *to;
  bool plain = true;
  for (uint32_t i = 0; i < count; i++) {
    total *= r->size[s[i].digit];
    plain = plain && s[i].map == 0 && (i == 0 || s[i].digit > s[i - 1].digit);
  }
  if (plain || (to = cm_maps_scratch(maps, total)) == NULL)
    return 0;
  for (uint32_t j = 0; j < total; j++) {
    uint32_t rest = j, at = 0;
    for (uint32_t i = count; i-- > 0;) {
      uint32_t size = r->size[s[i].digit], stride = 1;
      for (uint32_t k = 0; k < count; k++)
        stride *= s[k].digit > s[i].digit ? r->size[s[k].digit] : 1;
      at += cm_map_at(maps, s[i].map, rest % size) * stride;
      rest /= size;
    }
    to[j] = at;
  }
  return cm_maps_keep(maps, total, to);
}

bool cm_layout_reshape(cm_maps *maps, const cm_layout *l, const int64_t *dims, uint32_t rank, const int64_t *new_dims,
                       cm_layout *made)
{
  refinement r;
  stored_digit stored[DIGITS_MAX];
  uint32_t count = 0, order[CM_RANK_MAX], axes = 0;
  bool seen[CM_RANK_MAX] = {false}, placed[CM_RANK_MAX] = {false};
  *made = cm_layout_identity(rank);
  if (cm_layout_is_identity(l))
    return true;
  if (!refine(l->rank, dims, rank, new_dims, &r))
    return false;
  for (uint32_t k = 0; k < l->rank; k++) {
    uint32_t n;
    if (!axis_digits(maps, l->perm[k], l->map[l->perm[k]], &r, stored + count, &n))
      return false;
    count += n;
  }
  for (uint32_t i = 0; i < count;) {
    uint32_t axis = r.to[stored[i].digit], n = 1;
    while (i + n < count && r.to[stored[i + n].digit] == axis)
      n++;
    if (seen[axis])
      return false;
    seen[axis] = true;
    order[axes++] = axis;
    made->map[axis] = join_digits(maps, &r, stored + i, n);
    i += n;
  }
  /* Axes of one element stay where they are; the others take the free places in their stored order. */
  for (uint32_t b = 0; b < rank; b++)
    placed[b] = !seen[b];
  for (uint32_t k = 0, next = 0; k < rank; k++)
    made->perm[k] = placed[k] ? k : order[next++];
  return true;
}
