/* A placement problem as variables with domains of tiles, for a complete search: nodes that share a tile by constraint are one variable. */
#pragma once

#include "core/constraints/problem.h"

/* What of a problem is left out: to find out what it is that makes it impossible. */
typedef struct cm_left_out {
  const bool *constraint; /* [constraints] */
  const bool *limit;      /* [CM_LIMITS_ALL] */
  const bool *node;       /* [nodes] */
} cm_left_out;

enum { CM_MODEL_RELATIONS_MAX = 1 << 22 };

/* How two variables relate: by a table, or by the labels of their tiles. */
typedef enum cm_relation_kind { CM_BY_TABLE, CM_SAME_LABEL, CM_OTHER_LABEL } cm_relation_kind;

typedef struct cm_relation {
  uint32_t other;
  uint8_t kind, scope;
  uint32_t table; /* rows of tiles of `other` that go with each tile of this variable */
} cm_relation;

/* Variables whose needs in a bucket (a tile, a column, ...) are together at most its capacity. */
typedef struct cm_packing {
  uint32_t count, buckets;
  cm_scope scope;
  uint32_t *variable; /* [count] */
  uint64_t *need;     /* [count] */
  uint64_t *capacity; /* [buckets] */
} cm_packing;

typedef struct cm_chain {
  uint32_t count;
  uint32_t *variable; /* [count] whose routers hang together */
} cm_chain;

/* Variables that are not the same, by an edge. */
typedef struct cm_circuit {
  uint32_t from, to;
} cm_circuit;

typedef struct cm_place_model {
  const cm_problem *problem;
  uint32_t tiles, words; /* words of 64 tiles */
  uint32_t variables;
  uint32_t *variable_of; /* [nodes] UINT32_MAX: left out */
  uint64_t *domain;      /* [variables * words] */
  uint32_t *label[CM_SCOPES], labels[CM_SCOPES]; /* [tiles] */
  uint64_t *mask[CM_SCOPES];                     /* [labels * words] tiles of a label */
  uint64_t **table;      /* [table_count] each [tiles * words] */
  uint32_t table_count;
  uint64_t *links;       /* [tiles * words] tiles behind the same router or one that is linked to it; NULL: nobody asks */
  cm_relation *relation; /* of variable v: first_relation[v] .. first_relation[v + 1] - 1 */
  uint32_t *first_relation;
  cm_packing *packing;
  uint32_t packing_count;
  cm_chain *chain;
  uint32_t chain_count;
  uint32_t *alike;       /* [variables] the first one that this one may trade places with, itself included; nets are not asked */
  /* Nets of variables, those inside one left out: of net n pin[first[n]] ..; nets of v net_of[first_net[v]] .. */
  uint32_t net_count, *first, *pin, *first_net, *net_of;
  uint64_t *weight;
  cm_circuit *circuit; /* [circuit_count] none where they are not limited */
  uint32_t circuit_count;
  uint32_t *first_circuit, *circuit_of; /* of variable v: circuit_of[first_circuit[v]] ..; NULL where circuits are not limited */
} cm_place_model;

/* Builds it; the caller's: cm_place_model_free. `out` may be NULL, and its arrays. O(tiles^2 / 64 * kinds of relations + relations + pins). Errors:
 * CM_TOO_LARGE (more than CM_MODEL_RELATIONS_MAX pairs), memory. */
cm_status cm_place_model_new(const cm_problem *problem, const cm_left_out *out, cm_memory *memory, cm_place_model **model, cm_error *error);
void cm_place_model_free(cm_place_model *model); /* NULL is allowed */

/* Whether two variables at these tiles are as the relation says. O(1). */
bool cm_relation_holds(const cm_place_model *model, const cm_relation *relation, uint32_t tile, uint32_t other);

/* problem_circuits.c: whether no link and no router has too many of the circuits between variables in these boxes and domains [variables], as far as each
 * tile that is left asks for it. load: cm_circuit_loads numbers. *broken: the circuit that was too many. O(circuits * (hops + words)). */
bool cm_circuits_hold(const cm_place_model *model, const cm_router_box *box, const uint64_t *domain, uint32_t *load, uint32_t *broken);

/* The tiles [words] to which a circuit with one settled end can lead beside those that are booked so; returns the other end, UINT32_MAX: there is none that is
 * open, and tiles are left alone. O(tiles). */
uint32_t cm_circuit_reach(const cm_place_model *model, uint32_t circuit, const cm_router_box *box, const uint64_t *domain, uint32_t *load, uint64_t *tiles);

/* Books a circuit between places [variables], or takes it off; returns by how much the number of those that are too many changes. O(hops). */
int64_t cm_circuit_book(const cm_place_model *model, uint32_t circuit, const uint32_t *place, uint32_t *load, bool on);
size_t cm_circuit_loads(const cm_problem *problem);

/* ---- sets of tiles ---- */

static inline bool cm_tile_in(const uint64_t *set, uint32_t tile)
{
  return (set[tile / 64] >> tile % 64 & 1) != 0;
}

static inline void cm_tile_add(uint64_t *set, uint32_t tile)
{
  set[tile / 64] |= UINT64_C(1) << tile % 64;
}

/* The first tile of a set from `from` on; words * 64: none. */
static inline uint32_t cm_tile_next(const uint64_t *set, uint32_t words, uint32_t from)
{
  for (uint32_t w = from / 64; w < words; w++) {
    const uint64_t rest = w == from / 64 ? set[w] & ~UINT64_C(0) << from % 64 : set[w];
    if (rest != 0)
      return w * 64 + (uint32_t)__builtin_ctzll(rest);
  }
  return words * 64;
}

static inline uint32_t cm_tile_count(const uint64_t *set, uint32_t words)
{
  uint32_t count = 0;
  for (uint32_t w = 0; w < words; w++)
    count += (uint32_t)__builtin_popcountll(set[w]);
  return count;
}
