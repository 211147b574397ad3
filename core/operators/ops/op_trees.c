/* Ensembles of decision trees of domain ai.onnx.ml: TreeEnsembleRegressor and TreeEnsembleClassifier. What ONNX leaves open is as ONNX Runtime
 * has it: where the weights of one class alone stand for two, 0.5 or 0 parts them, as weights are all positive or not. */
#include <string.h>

#include "core/operators/ops/forest.h"

/* ---- TreeEnsembleRegressor ---- */

static int64_t targets_of(const cm_call *call)
{
  const int64_t targets = cm_node_integer(call->node, "n_targets", 1);
  return targets > 0 && targets < INT32_MAX ? targets : 1;
}

cm_status cm_shape_tree_regressor(cm_call *call, cm_error *error)
{
  static const char *const known[] = {"SUM", "AVERAGE", "MIN", "MAX"};
  const char *how = cm_node_text(call->node, "aggregate_function", "SUM");
  const float *base;
  size_t bases = (size_t)targets_of(call), i = 0;
  int64_t rows, columns;
  cm_forest f;
  while (i < 4 && strcmp(how, known[i]) != 0)
    i++;
  if (i == 4)
    return cm_call_fail(call, error, "its attribute aggregate_function is %.40s; SUM, AVERAGE, MIN and MAX are computed", how);
  CM_TRY(cm_learned_rows(call, &rows, &columns, error));
  CM_TRY(cm_learned_check_post(call, error));
  CM_TRY(cm_learned_numbers(call, "base_values", false, &base, &bases, error));
  CM_TRY(cm_forest_read(call, "target", targets_of(call), &f, error));
  cm_forest_free(&f);
  call->output[0] = (cm_shape){.type = CM_FLOAT, .rank = 2, .dims = {rows, targets_of(call)}};
  return CM_OK;
}

typedef struct regression {
  const cm_call *call;
  const float *base;
  size_t bases, targets;
  float share; /* of a sum */
} regression;

static void end_regression(void *user, uint64_t row, float *sums, CM_UNUSED const bool *any)
{
  const regression *r = user;
  for (size_t t = 0; t < r->targets; t++)
    sums[t] = sums[t] * r->share + (r->bases > 0 ? r->base[t] : 0);
  cm_learned_post(r->call->node, sums, r->targets);
  memcpy((float *)r->call->result[0]->data + row * r->targets, sums, r->targets * sizeof *sums);
}

cm_status cm_kernel_tree_regressor(cm_call *call, cm_error *error)
{
  const char *how = cm_node_text(call->node, "aggregate_function", "SUM");
  regression r = {.call = call, .targets = (size_t)targets_of(call), .bases = (size_t)targets_of(call)};
  cm_forest f;
  CM_TRY(cm_learned_numbers(call, "base_values", false, &r.base, &r.bases, error));
  CM_TRY(cm_forest_read(call, "target", (int64_t)r.targets, &f, error));
  r.share = strcmp(how, "AVERAGE") == 0 ? 1 / (float)f.roots : 1;
  f.how = strcmp(how, "MIN") == 0 ? CM_FOREST_LEAST : strcmp(how, "MAX") == 0 ? CM_FOREST_MOST : CM_FOREST_ADD;
  cm_status status = cm_forest_each_row(call, &f, r.targets, end_regression, &r, error);
  cm_forest_free(&f);
  return status;
}

/* ---- TreeEnsembleClassifier ---- */

cm_status cm_shape_tree_classifier(cm_call *call, cm_error *error)
{
  int64_t classes;
  const float *base;
  size_t bases = 0;
  cm_forest f;
  CM_TRY(cm_learned_classes(call, "classlabels_int64s", &classes, error));
  CM_TRY(cm_learned_numbers(call, "base_values", false, &base, &bases, error));
  if (bases > 0 && bases != (size_t)classes && !(bases == 1 && classes == 2))
    return cm_call_fail(call, error, "its attribute base_values has %zu numbers for %lld classes", bases, (long long)classes);
  CM_TRY(cm_forest_read(call, "class", classes, &f, error));
  cm_forest_free(&f);
  return CM_OK;
}

typedef struct classification {
  const cm_call *call;
  const int64_t *label;
  const float *base;
  size_t bases, classes;
  bool one, positive; /* weights are of one class alone, of two; none is negative */
} classification;

/* The score of one class, as that of two; the label. */
static size_t part_in_two(const classification *c, float sum, float *scores)
{
  const char *post = cm_node_text(c->call->node, "post_transform", "NONE");
  const float s = sum + (c->bases > 0 ? c->base[c->bases - 1] : 0);
  scores[0] = c->positive ? 1 - s : -s;
  scores[1] = s;
  if (!c->positive && strcmp(post, "LOGISTIC") == 0)
    cm_learned_post(c->call->node, scores, 2);
  return s > (c->positive ? 0.5f : 0) ? 1 : 0;
}

static void end_classification(void *user, uint64_t row, float *sums, CM_UNUSED const bool *any)
{
  const classification *c = user;
  size_t best;
  if (c->one)
    best = part_in_two(c, sums[0] + sums[1], sums);
  else {
    for (size_t k = 0; k < c->classes && c->bases == c->classes; k++)
      sums[k] += c->base[k];
    best = cm_learned_best(sums, c->classes);
    cm_learned_post(c->call->node, sums, c->classes);
  }
  if (c->call->result[0] != NULL)
    ((int64_t *)c->call->result[0]->data)[row] = c->label[best];
  if (c->call->output_count > 1 && c->call->result[1] != NULL)
    memcpy((float *)c->call->result[1]->data + row * c->classes, sums, c->classes * sizeof *sums);
}

cm_status cm_kernel_tree_classifier(cm_call *call, cm_error *error)
{
  classification c = {.call = call, .one = true, .positive = true};
  cm_forest f;
  CM_TRY(cm_learned_integers(call, "classlabels_int64s", true, &c.label, &c.classes, error));
  CM_TRY(cm_learned_numbers(call, "base_values", false, &c.base, &c.bases, error));
  CM_TRY(cm_forest_read(call, "class", (int64_t)c.classes, &f, error));
  c.one = c.classes == 2;
  for (size_t i = 0; i < f.weights; i++) {
    c.one = c.one && f.weight[i].target == f.weight[0].target;
    c.positive = c.positive && f.weight[i].weight >= 0;
  }
  cm_status status = cm_forest_each_row(call, &f, c.classes, end_classification, &c, error);
  cm_forest_free(&f);
  return status;
}

/* ---- their work ---- */

uint64_t cm_trees_work(const cm_call *call)
{
  const cm_attribute *trees = cm_node_attribute(call->node, "nodes_treeids");
  const uint64_t nodes = trees != NULL ? trees->count : 0;
  uint64_t count = nodes > 0, levels = 1;
  for (uint64_t i = 1; i < nodes && trees->integers != NULL; i++)
    count += trees->integers[i] != trees->integers[i - 1];
  while (count > 0 && levels < 63 && UINT64_C(1) << levels < nodes / count)
    levels++;
  return count * levels;
}
