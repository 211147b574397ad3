#include "core/learning/refine.h"

#include <string.h>

#include "core/placement/arrange.h"
#include "core/placement/qap.h"

enum { SWAP_ROUNDS = 60, SWEEPS_MAX = 2000 };

static cm_status anneal(const cm_scene *scene, const cm_refine_options *options, cm_run *run, uint32_t *at,
                        cm_error *error)
{
  uint32_t sites = scene->sites, *tried;
  double pairs = (double)sites * (sites > 1 ? sites - 1 : 1) / 2, sweeps = options->looks / pairs;
  uint64_t cost;
  cm_qap_options cold = {.population = 1,
                         .sweeps = sweeps > SWEEPS_MAX ? SWEEPS_MAX : (uint32_t)sweeps,
                         .seed = options->seed,
                         .start = at};
  if (cold.sweeps == 0 || sites > CM_QAP_CORES_MAX)
    return CM_OK;
  if (CM_NEW(run->memory, tried, scene->nodes, error) != CM_OK)
    return error->status;
  cm_status status = cm_place_by_annealing(scene->graph, scene->axes, &cold, run, tried, &cost, error);
  if (status == CM_OK && cost < cm_scene_hops(scene, at))
    memcpy(at, tried, scene->nodes * sizeof *at);
  cm_free(tried);
  return status;
}

cm_status cm_scene_refine(const cm_scene *scene, const cm_refine_options *options, cm_run *run, uint32_t *at,
                          cm_error *error)
{
  uint32_t rounds;
  uint64_t swaps;
  cm_region region = cm_scene_region(scene);
  if (cm_place_by_swaps(scene->graph, scene->axes, scene->chip, &region, SWAP_ROUNDS, run, at, &rounds, &swaps, error) !=
      CM_OK)
    return error->status;
  return anneal(scene, options, run, at, error);
}
