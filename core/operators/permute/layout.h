/* How a tensor is stored: a permutation of its axes and, per axis, of the elements along it.
 *
 * stored[j_0, j_1, ...] = logical[i_0, i_1, ...] with i_a = map_a[j_k] where perm[k] = a. A pure axis permutation is an
 * inter-dimension permutation of source 3, pure maps are intra-dimension ones; layouts are closed under composition. */
#pragma once

#include <jansson.h>

#include "core/operators/arena.h"
#include "core/operators/tensor.h"

/* Index maps, each kept once: a map is its number, 0 is the identity of any length. Memory failures stick in `error`,
 * and the map that could not be made is the identity: callers check once, at the end. */
typedef struct cm_maps {
  cm_arena arena;
  struct cm_map_entry *entries;
  size_t count, capacity;
  uint32_t *scratch; /* for maps under construction; used again and again */
  size_t scratch_used, scratch_capacity;
  cm_error error; /* status CM_OK: none */
} cm_maps;

typedef struct cm_layout {
  uint32_t rank;
  uint32_t perm[CM_RANK_MAX]; /* stored axis -> logical axis */
  uint32_t map[CM_RANK_MAX];  /* per logical axis */
} cm_layout;

void cm_maps_init(cm_maps *maps, cm_memory *memory);
void cm_maps_free(cm_maps *maps);

/* The number of a map of `length` entries (a permutation of 0 .. length-1); copies it when it is new. */
uint32_t cm_maps_intern(cm_maps *maps, uint32_t length, const uint32_t *to);

/* An array in which a map is built, not zeroed, valid until the next cm_maps_keep; NULL sticks as an error. */
uint32_t *cm_maps_scratch(cm_maps *maps, uint32_t length);

/* Gives all such arrays back. */
void cm_maps_end_scratch(cm_maps *maps);

/* Interns what was built there, and gives all back; 0 for NULL. */
uint32_t cm_maps_keep(cm_maps *maps, uint32_t length, const uint32_t *to);

/* Entry `index` of a map. */
uint32_t cm_map_at(const cm_maps *maps, uint32_t map, uint32_t index);

/* The map that undoes it. */
uint32_t cm_map_invert(cm_maps *maps, uint32_t map);

/* Of a rank that is not known: of rank 0. */
cm_layout cm_layout_identity(uint32_t rank);
bool cm_layout_is_identity(const cm_layout *layout);
bool cm_layout_equal(const cm_layout *a, const cm_layout *b);

/* True when the axes stay in order; true when no axis has a map. */
bool cm_layout_keeps_axes(const cm_layout *layout);
bool cm_layout_keeps_elements(const cm_layout *layout);

/* First one, then the other on what the first made. */
cm_layout cm_layout_compose(cm_maps *maps, const cm_layout *first, const cm_layout *second);
cm_layout cm_layout_invert(cm_maps *maps, const cm_layout *layout);

/* Where a logical axis is stored. */
uint32_t cm_layout_place(const cm_layout *layout, uint32_t axis);

/* The dims of the stored tensor. */
void cm_layout_dims(const cm_layout *layout, const int64_t *dims, int64_t *stored);

/* True when storing changes the order of elements in memory (axes of one element may go anywhere). */
bool cm_layout_moves(const cm_layout *layout, const int64_t *dims);

/* The layout behind a reshape: `made` such that reshaping what `layout` stored gives what `made` stores, no element
 * moved. False when there is none. */
bool cm_layout_reshape(cm_maps *maps, const cm_layout *layout, const int64_t *dims, uint32_t rank,
                       const int64_t *new_dims, cm_layout *made);

/* The tensor stored under a layout, as a new one. O(elements). */
cm_status cm_layout_apply(const cm_maps *maps, const cm_layout *layout, const cm_tensor *tensor, cm_memory *memory,
                          cm_tensor **made, cm_error *error);

/* A map seen as a permutation of mixed-radix digits: a channel shuffle of g groups is two digits exchanged. */
typedef struct cm_digits {
  uint32_t count;
  uint32_t size[CM_RANK_MAX]; /* in logical order, most significant first */
  uint32_t order[CM_RANK_MAX]; /* stored digit -> logical digit */
} cm_digits;
bool cm_map_digits(const cm_maps *maps, uint32_t map, uint32_t length, cm_digits *digits);

/* True when one Transpose over the digits of all axes carries a layout out. */
bool cm_layout_has_digits(const cm_maps *maps, const cm_layout *layout, const int64_t *dims);

/* Passes over the data that a layout takes: none when nothing moves, one Transpose over digits where there are digits,
 * else a Gather a map and a Transpose for the axes. */
unsigned cm_layout_passes(const cm_maps *maps, const cm_layout *layout, const int64_t *dims);

/* "inter", "intra" or "both", the axis order and the maps (at most 64 entries of each), for reports. */
json_t *cm_layout_json(const cm_maps *maps, const cm_layout *layout, const int64_t *dims);
