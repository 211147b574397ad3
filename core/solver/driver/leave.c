/* Happy path: no neuron, link or router has too much. Else parts change places, then, for neurons, these their parts. What can fail: some have too much in the end. */
#include "core/solver/driver/leave.h"

#include <string.h>

#include "core/limits/limits.h"
#include "core/partition/keep_leaving.h"
#include "core/placement/circuit_sites.h"
#include "core/placement/cluster_sites.h"
#include "core/solver/place/place.h"

cm_status cm_candidate_count_anew(cm_candidate *c, cm_error *error)
{
  const cm_map_input *in = c->input;
  cm_partition *p = c->partition;
  cm_cuts cuts;
  cm_graph_free(p->parts);
  p->parts = NULL;
  cm_flows_free(c->flows);
  c->flows = NULL;
  cm_free(c->use);
  CM_TRY(CM_NEW(c->run->memory, c->use, (size_t)p->part_count * CM_RESOURCES, error));
  CM_TRY(cm_count_use_and_cuts(in->demand, p->part, p->part_count, c->run, c->use, &cuts, error));
  c->quality = cm_quality_of(in->demand->network, &cuts);
  c->attempts[c->attempt_count - 1].edge_cut = c->quality.edge_cut;
  return CM_OK;
}

/* Keeps parts and places that are the nearest so far. */
static cm_status keep_near_miss(const cm_candidate *c, uint64_t left, cm_error *error)
{
  const cm_partition *p = c->partition;
  cm_near_miss *near = c->input->near_miss;
  if (near == NULL || (near->part != NULL && near->left <= left))
    return CM_OK;
  CM_FREE(near->part, near->core);
  *near = (cm_near_miss){.parts = p->part_count, .left = left, .limits = c->limits};
  CM_TRY(CM_NEW_ALL(c->run->memory, error, CM_ARRAY(near->part, p->vertex_count), CM_ARRAY(near->core, p->part_count)));
  memcpy(near->part, p->part, p->vertex_count * sizeof *p->part);
  memcpy(near->core, c->places.core, p->part_count * sizeof *near->core);
  return CM_OK;
}

/* Neurons change parts, unless the caller gave these. */
static cm_status move_neurons(cm_candidate *c, uint64_t *left, cm_error *error)
{
  const cm_map_input *in = c->input;
  cm_partition *p = c->partition;
  uint32_t *cluster;
  cm_leaving *leaving = NULL;
  CM_TRY(CM_NEW(c->run->memory, cluster, p->part_count, error));
  const cm_keep_leaving options = {.limits = &c->limits, .cluster = cluster, .parts = p->part_count, .seed = in->options->seed};
  for (uint32_t k = 0; k < p->part_count; k++)
    cluster[k] = cm_chip_cluster_of(in->chip, c->places.core[k]);
  cm_status status = in->part == NULL ? cm_keep_leaving_synapses(in->demand, &options, c->run, p->part, left, error) : CM_OK;
  if (status == CM_OK && *left > 0 && (status = CM_NEW(c->run->memory, leaving, p->vertex_count, error)) == CM_OK) {
    cm_count_leaving(in->demand, p->part, cluster, leaving);
    status = keep_near_miss(c, *left, error);
    CM_THEN(status, cm_refuse_leaving(in->demand->network, &in->chip->limits, leaving, error));
  }
  CM_FREE(cluster, leaving);
  return status == CM_OK ? cm_candidate_count_anew(c, error) : status;
}

cm_status cm_candidate_keep_leaving(cm_candidate *c, cm_error *error)
{
  const cm_map_input *in = c->input;
  const cm_cluster_task task = {.demand = in->demand, .chip = in->chip, .occupancy = in->occupancy, .region = c->places.region, .part = c->partition->part,
                                .parts = c->partition->part_count, .run = c->run};
  uint64_t left;
  if (!cm_leaving_is_limited(&in->chip->limits))
    return CM_OK;
  cm_run_phase(c->run, "leaving");
  if (in->core != NULL) /* the search has been there */
    return CM_OK;
  cm_status status = cm_place_in_clusters(&task, c->places.core, &left, error);
  CM_THEN(status, cm_place_enclose(c, error));
  return status == CM_OK && left > 0 ? move_neurons(c, &left, error) : status;
}

cm_status cm_candidate_keep_circuits(cm_candidate *c, cm_error *error)
{
  const cm_map_input *in = c->input;
  const cm_circuit_task task = {.occupancy = in->occupancy, .region = c->places.region, .seed = in->options->seed, .run = c->run};
  cm_circuits circuits = {.chip = in->chip, .parts = c->partition->part_count};
  if (!cm_circuits_are_limited(in->chip) || in->core != NULL || in->chip->class_count > 0) /* places that constraints have chosen stay, and are judged */
    return CM_OK;
  cm_run_phase(c->run, "circuits");
  cm_status status = cm_circuits_find(in->demand, c->partition->part, c->run, &circuits, error);
  if (status == CM_OK)
    cm_circuits_book_all(&circuits, c->places.core);
  const bool broken = circuits.excess > 0;
  CM_THEN(status, cm_place_for_circuits(&task, &circuits, c->places.core, error));
  CM_THEN(status, cm_refuse_circuits(&circuits, error));
  cm_circuits_free(&circuits);
  return status == CM_OK && broken ? cm_place_enclose(c, error) : status;
}
