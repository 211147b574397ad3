/* Happy path: copies -> what these leave, neurons and copies mend that change cores -> copies again, while that helps -> from other parts. What can fail: memory,
 * a stop. */
#include "core/placement/copy_rounds.h"

#include <string.h>

#include "core/partition/keep_leaving.h"

enum { SEARCHES = 6, FEW = 8 /* of so many synapses one is too many still */ };

void cm_copies_free(cm_copies *c)
{
  cm_copied_parts_free(&c->on);
  cm_demand_clear(&c->demand);
  cm_topology_free(c->network);
  CM_FREE(c->of);
  *c = (cm_copies){.network = NULL};
}

/* Copies for what stands on the task's cores; *c, which that may be of, is replaced. */
static cm_status add(const cm_copy_task *task, cm_copies *c, cm_error *error)
{
  const uint32_t before = task->demand->network->vertex_count;
  cm_copies made = {.network = NULL};
  cm_status status = cm_copy_leaving(task, &made.on, error);
  CM_THEN(status, cm_topology_copied(task->demand->network, &made.on.copies, task->run, &made.network, error));
  CM_THEN(status, CM_NEW(task->run->memory, made.of, made.network->vertex_count, error));
  if (status == CM_OK) {
    made.demand = cm_demand_of(made.network);
    if (task->demand->outside_count > 0)
      status = cm_demand_set_outside(&made.demand, task->run->memory, error);
  }
  CM_TRY_OR(status, cm_copies_free(&made));
  for (uint32_t v = 0; v < made.network->vertex_count; v++) {
    const uint32_t was = v < before ? v : made.on.copies.of[v - before];
    made.of[v] = c->of != NULL ? c->of[was] : was;
  }
  cm_copies_free(c);
  *c = made;
  return CM_OK;
}

/* Neurons change parts, so that less is too much. */
static cm_status move(const cm_copy_task *task, uint64_t seed, uint32_t *part, uint64_t *left, cm_error *error)
{
  uint32_t *cluster;
  CM_TRY(CM_NEW(task->run->memory, cluster, task->parts, error));
  for (uint32_t p = 0; p < task->parts; p++)
    cluster[p] = cm_chip_cluster_of(task->chip, task->core[p]);
  const cm_keep_leaving options = {.limits = task->limits, .cluster = cluster, .parts = task->parts, .seed = seed};
  const cm_status status = cm_keep_leaving_synapses(task->demand, &options, task->run, part, left, error);
  cm_free(cluster);
  return status;
}

/* Copies, and then neurons and copies that move. */
static cm_status add_and_move(const cm_copy_task *task, uint64_t seed, cm_copies *c, cm_error *error)
{
  cm_copy_task next = *task;
  CM_TRY(add(task, c, error));
  next.demand = &c->demand;
  next.core = c->on.core;
  next.parts = c->on.parts;
  return c->on.left == 0 || c->on.missing > 0 ? CM_OK : move(&next, seed, c->on.part, &c->on.left, error);
}

static cm_status search(const cm_copy_task *task, uint64_t left, uint64_t seed, cm_copies *c, cm_error *error)
{
  cm_copies_free(c);
  cm_status status = add_and_move(task, seed, c, error);
  while (status == CM_OK && c->on.left > 0 && c->on.missing == 0 && c->on.left < left) {
    cm_copy_task again = *task;
    again.demand = &c->demand;
    again.part = c->on.part;
    again.core = c->on.core;
    again.parts = c->on.parts;
    left = c->on.left;
    status = add_and_move(&again, seed, c, error);
  }
  return status;
}

/* All copies, each with what it serves. */
static cm_status list(const cm_copy_task *task, cm_copies *c, cm_error *error)
{
  const cm_topology *t = c->network;
  const uint32_t n = task->demand->network->vertex_count;
  cm_memory *memory = task->run->memory;
  cm_neuron_copies all = {.count = t->vertex_count - n};
  uint32_t e = 0;
  while (e < t->net_count && cm_topology_source(t, e) < n)
    e++;
  const uint64_t begin = t->net_first[e];
  CM_TRY_OR(CM_NEW_ALL(memory, error, CM_ARRAY(all.of, all.count), CM_ARRAY(all.first, (size_t)all.count + 1),
                       CM_ARRAY(all.serves, t->pin_count - begin)), cm_neuron_copies_free(&all));
  memcpy(all.of, c->of + n, all.count * sizeof *all.of);
  memcpy(all.serves, t->pin + begin, (t->pin_count - begin) * sizeof *t->pin);
  for (uint32_t i = 0; i < all.count; i++) {
    e += e < t->net_count && cm_topology_source(t, e) == n + i;
    all.first[i + 1] = t->net_first[e] - begin;
  }
  cm_neuron_copies_free(&c->on.copies);
  c->on.copies = all;
  return CM_OK;
}

cm_status cm_copies_make(const cm_copy_task *task, uint64_t left, uint64_t seed, uint32_t *part, cm_copies *copies, cm_error *error)
{
  cm_copies c = {.network = NULL};
  cm_status status = search(task, left, seed, &c, error);
  for (uint64_t i = 1; i < SEARCHES && status == CM_OK && c.on.missing == 0 && c.on.left > 0 && c.on.left * FEW <= left; i++) {
    status = move(task, seed + i, part, &left, error);
    CM_THEN(status, search(task, left, seed, &c, error));
  }
  CM_THEN(status, list(task, &c, error));
  CM_END(status, *copies = c, cm_copies_free(&c));
}
