/* The pass: mark, place by regions until nothing gains, absorb, write out; the given model stays when nothing was
 * gained. */
#include "core/operators/permute/permutations.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "core/operators/evaluate.h"
#include "core/operators/permute/permute.h"

enum { NAME_SHOWN = 200 };

uint64_t cm_permutation_bytes(const cm_model *model)
{
  uint64_t total = 0;
  for (size_t i = 0; i < model->order_count; i++)
    total += cm_node_permutation_bytes(model, model->order[i]);
  return total;
}

/* One move: which permutation, what it crossed, what that gained. */
static cm_status note_gain(cm_permute *p, json_t *moves, const char *name, json_t *permutation, uint64_t gain, cm_error *error)
{
  bool z101 = false, z102 = false;
  size_t i;
  json_t *item;
  json_array_foreach(p->moves, i, item)
  {
    const char *rule = json_string_value(json_object_get(item, "rule"));
    z101 = z101 || (rule != NULL && strstr(rule, "z101") != NULL);
    z102 = z102 || (rule != NULL && strstr(rule, "z102") != NULL);
  }
  item = json_pack("{s:s, s:s, s:o, s:s, s:I, s:O}", "action", "move", "permutation_at", name, "permutation",
                   permutation, "rule",
                   z101 && z102 ? "z101+z102"
                   : z101       ? "z101"
                   : z102       ? "z102"
                                : "none",
                   "gain", (json_int_t)gain, "crossed", p->moves);
  return cm_json_append(moves, item, "the report of permutations", error);
}

/* Tries every permutation as a seed, again and again, until none gains. */
static cm_status place_all(cm_permute *p, cm_error *error)
{
  json_t *moves = p->moves;
  cm_status status = CM_OK;
  for (bool gained = true; gained && status == CM_OK;) {
    gained = false;
    for (size_t i = 0; i < p->model->node_count && status == CM_OK; i++) {
      const cm_node *n = &p->model->nodes[i];
      uint64_t gain = 0;
      if (n->removed || n->layout == NULL)
        continue;
      json_t *permutation = cm_layout_json(p->maps, n->layout, p->model->values[n->inputs[0]].shape.dims);
      char name[NAME_SHOWN]; /* the model that holds it goes when a step is taken */
      (void)snprintf(name, sizeof name, "%.199s", p->model->values[n->outputs[0]].name);
      p->moves = json_array();
      status = cm_run_progress(p->run, (double)i / (double)p->model->node_count, -1, p->model->order_count, (double)NAN, error);
      CM_THEN(status, cm_permute_region(p, (uint32_t)i, &gain, error));
      if (status == CM_OK && gain > 0) {
        status = note_gain(p, moves, name, json_incref(permutation), gain, error);
        gained = true;
      }
      json_decref(permutation);
      json_decref(p->moves);
    }
  }
  p->moves = moves;
  return status;
}

static cm_status absorb_all(cm_permute *p, cm_error *error)
{
  uint64_t before = cm_permute_total(p);
  CM_TRY(cm_permute_absorb(p, error));
  uint64_t after = cm_permute_total(p);
  if (after >= before)
    return CM_OK;
  json_t *item = json_pack("{s:s, s:s, s:I}", "action", "absorb", "rule", "z102", "gain", (json_int_t)(before - after));
  return cm_json_append(p->moves, item, "the report of permutations", error);
}

static cm_status work(cm_permute *p, cm_error *error)
{
  if (cm_permute_mark(p, error) != CM_OK || place_all(p, error) != CM_OK || absorb_all(p, error) != CM_OK ||
      place_all(p, error) != CM_OK || cm_permute_emit(p, error) != CM_OK)
    return error->status;
  return cm_infer(p->model, p->run, error);
}

static json_t *left_over(const cm_model *m)
{
  json_t *list = json_array();
  for (size_t i = 0; i < m->order_count; i++) {
    const cm_node *n = &m->nodes[m->order[i]];
    uint64_t bytes = cm_node_permutation_bytes(m, m->order[i]);
    if (bytes > 0)
      (void)json_array_append_new(list, json_pack("{s:s, s:s, s:I}", "operator", n->op, "output",
                                                  m->values[n->outputs[0]].name, "bytes", (json_int_t)bytes));
  }
  return list;
}

cm_status cm_permutations_optimise(const cm_model *given, cm_run *run, cm_model **made, json_t **report, cm_error *error)
{
  cm_maps maps;
  cm_permute p = {.maps = &maps, .run = run, .moves = json_array()};
  const uint64_t before = cm_copy_bytes(given), permuted_before = cm_permutation_bytes(given);
  cm_maps_init(&maps, given->arena.memory);
  cm_run_phase(run, "permutations");
  cm_status status = cm_model_copy(given, given->arena.memory, &p.model, error);
  CM_THEN(status, work(&p, error));
  if (status == CM_OK && cm_copy_bytes(p.model) >= before) {
    cm_model_free(p.model);
    p.model = NULL;
    status = cm_model_copy(given, given->arena.memory, &p.model, error);
  }
  if (status == CM_OK) {
    *report =
        json_pack("{s:{s:I, s:I}, s:{s:I, s:I}, s:{s:I, s:I}, s:o, s:o}", "copy_bytes", "before", (json_int_t)before,
                  "after", (json_int_t)cm_copy_bytes(p.model), "permutation_bytes", "before", (json_int_t)permuted_before,
                  "after", (json_int_t)cm_permutation_bytes(p.model), "operators", "before", (json_int_t)given->order_count, "after",
                  (json_int_t)p.model->order_count, "moves", json_incref(p.moves), "permutations", left_over(p.model));
    if ((status = cm_whole(*report != NULL, "the report of permutations", error)) == CM_OK)
      *made = p.model;
  }
  if (status != CM_OK)
    cm_model_free(p.model);
  json_decref(p.moves);
  cm_maps_free(&maps);
  return status;
}
