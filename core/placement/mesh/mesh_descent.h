/* What the steps of the integrated mapper share: a descent from one cell of all cores and the coarsest graph to a cell a core
 * and the finest, and the work that it belongs to. */
#pragma once

#include "base/random.h"
#include "core/placement/mesh/mesh.h"
#include "core/placement/mesh/mesh_coarsen.h"

/* Vertices of the coarsest graph, about. */
enum { CM_MESH_COARSEST = 100 };

/* Ways to begin: merging by weight, by algebraic distance, and by distance with a spectral layout. */
typedef enum cm_mesh_kind { CM_BY_WEIGHT, CM_BY_DISTANCE, CM_BY_LAYOUT, CM_KINDS } cm_mesh_kind;

static inline cm_mesh_rating cm_mesh_rating_of(cm_mesh_kind kind)
{
  return kind == CM_BY_WEIGHT ? CM_RATE_WEIGHT : CM_RATE_DISTANCE;
}

/* A descent on its way: graph level, grid and assignment. */
typedef struct cm_mesh_descent {
  uint32_t level;
  cm_mesh_grid *grid;
  uint32_t *cell; /* [vertices of the level] */
  uint64_t cost;
} cm_mesh_descent;

typedef struct cm_mesh_work {
  const cm_axes *axes;
  const cm_mesh_options *options;
  cm_run *run;
  cm_mesh_kind kind;
  double sweeps; /* on the finest level */
  double finest; /* the share that annealing the finest level is of the stretch under way */
  double power;  /* coarser levels get (vertices of the finest / theirs) ^ power times as many visits of each vertex */
  uint64_t seed;
  cm_random random; /* of the descent under way */
  const cm_hierarchy *hierarchy; /* borrowed */
  const float *chance;    /* [CM_CHANCES] */
  cm_mesh_descent *start; /* [starts] */
  cm_mesh_descent best;   /* result */
  uint32_t **other;       /* [descents] cells that the other descents found, NULL for the best one's */
} cm_mesh_work;

void cm_mesh_descent_free(cm_mesh_descent *d); /* leaves it empty */

/* So many times as long as annealing the finest level takes annealing all levels of a hierarchy, once each in a V-cycle (`starts` 0), else
 * in so many starts and on grids that are halved between them; about. */
double cm_mesh_levels_take(const cm_mesh_work *w, const cm_hierarchy *hierarchy, uint32_t starts);

/* Vertices that a cell should have, on average, on the coarsest level whose vertices go to the cores. */
double cm_mesh_vertices_per_core(cm_mesh_kind kind);

/* Halves the cells of a descent's grid: the connected pieces of each go to one half, then to the other, in proportion to their
 * cores. O(entries). */
cm_status cm_mesh_halve_cells(const cm_mesh_work *w, cm_mesh_descent *d, cm_random *random, cm_error *error);

/* Assigns the vertices of a descent's level to cells by the two slowest modes of the graph (spectral layout), turned to the angle
 * of least cost. The modes are found on the coarsest level and smoothed on the way down. Effort 1 finds them well, less saves
 * walks. O(entries of the levels passed) times some forty times the effort. */
cm_status cm_mesh_layout(const cm_mesh_work *w, cm_mesh_descent *d, double effort, cm_error *error);

/* Takes the descent to the next finer graph, and anneals: `cycle`: in a V-cycle. */
cm_status cm_mesh_uncoarsen(const cm_mesh_work *w, cm_mesh_descent *d, bool cycle, cm_random *random,
                            cm_error *error);

/* A descent into w->best as far as level `last`; quick: from one start. */
cm_status cm_mesh_descend(cm_mesh_work *w, bool quick, uint32_t last, cm_error *error);
/* Continues it. */
cm_status cm_mesh_descend_on(cm_mesh_work *w, uint32_t last, cm_error *error);

/* Quick descents of every kind, then w->options->descents whole ones of the best kind: the best of all goes to w->best,
 * what the others found to w->other. `by_distance`, all levels of the graph coarsened so, is used up but for its finest
 * graph. Ends phase "start". */
cm_status cm_mesh_descend_best_kind(cm_mesh_work *w, cm_hierarchy *by_distance, cm_error *error);

/* A V-cycle of w->best inside the cores, or inside what these and another mapping have in common (other [vertices],
 * else NULL); kept when better. `round` names its random stream. */
cm_status cm_mesh_cycle(cm_mesh_work *w, cm_csr_graph *graph, const uint32_t *other, uint64_t round, cm_error *error);
