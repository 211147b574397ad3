/* Ensembles of decision trees of domain ai.onnx.ml: TreeEnsembleRegressor and TreeEnsembleClassifier. What ONNX leaves open is as ONNX Runtime
 * has it: where the weights of one class alone stand for two, 0.5 or 0 parts them, as weights are all positive or not. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/operators/ops/learned.h"

/* What becomes of the weights of the leaves that a row reaches. */
typedef enum aggregate { ADD, LEAST, MOST } aggregate;

typedef struct leaf_weight {
  uint32_t node; /* in the forest */
  uint32_t target;
  float weight;
  size_t place; /* as listed, which is the order of adding */
} leaf_weight;

typedef struct tree_node {
  int64_t tree, id;
  uint32_t feature, yes, no; /* yes and no: in the forest */
  char mode; /* as the first letters that tell them apart: 'L' leaf, '<' '=' (at most) '>' 'g' (at least) 'e' 'n' */
  bool missing; /* NaN goes to yes */
  float value;
  uint32_t first, count; /* of its weights */
} tree_node;

/* Nodes by tree and number; roots are those that nobody leads to. */
typedef struct forest {
  tree_node *node;
  leaf_weight *weight;
  uint32_t *root;
  size_t nodes, weights, roots;
  int64_t features; /* that are looked at */
  aggregate how;
} forest;

static int by_number(const void *left, const void *right)
{
  const tree_node *a = left, *b = right;
  return a->tree != b->tree ? (a->tree < b->tree ? -1 : 1) : (a->id > b->id) - (a->id < b->id);
}

static int by_node(const void *left, const void *right)
{
  const leaf_weight *a = left, *b = right;
  return a->node != b->node ? (a->node < b->node ? -1 : 1) : (a->place > b->place) - (a->place < b->place);
}

static cm_status find(const cm_call *call, const forest *f, int64_t tree, int64_t id, uint32_t *number, cm_error *error)
{
  const tree_node wanted = {.tree = tree, .id = id};
  const tree_node *found = bsearch(&wanted, f->node, f->nodes, sizeof *f->node, by_number);
  if (found == NULL)
    return cm_call_fail(call, error, "has no node %lld of tree %lld", (long long)id, (long long)tree);
  *number = (uint32_t)(found - f->node);
  return CM_OK;
}

/* Modes stand a line each. */
static cm_status read_modes(const cm_call *call, forest *f, cm_error *error)
{
  static const struct {
    const char *name;
    char mode;
  } modes[] = {{"LEAF", 'L'}, {"BRANCH_LEQ", '='}, {"BRANCH_LT", '<'}, {"BRANCH_GTE", 'g'}, {"BRANCH_GT", '>'}, {"BRANCH_EQ", 'e'}, {"BRANCH_NEQ", 'n'}};
  enum { MODES = sizeof modes / sizeof *modes };
  const cm_attribute *a = cm_node_attribute(call->node, "nodes_modes");
  const char *at = a != NULL ? a->text : "", *end = a != NULL ? a->text + a->count : at;
  for (size_t i = 0; i < f->nodes; i++) {
    const char *stop = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
    const size_t length = (size_t)((stop != NULL ? stop : end) - at);
    size_t m = 0;
    while (m < MODES && (strlen(modes[m].name) != length || strncmp(at, modes[m].name, length) != 0))
      m++;
    if (m == MODES)
      return cm_call_fail(call, error, "nodes_modes %zu is \"%.*s\", which is none", i, (int)(length < 40 ? length : 40), at);
    f->node[i].mode = modes[m].mode;
    at = stop != NULL ? stop + 1 : end;
  }
  return CM_OK;
}

typedef struct node_lists {
  const int64_t *tree, *id, *feature, *yes, *no, *missing;
  const float *value;
  size_t missings;
} node_lists;

static cm_status read_lists(const cm_call *call, node_lists *l, size_t *nodes, cm_error *error)
{
  *nodes = 0;
  if (cm_learned_integers(call, "nodes_treeids", true, &l->tree, nodes, error) != CM_OK)
    return error->status;
  if (*nodes == 0 || *nodes >= UINT32_MAX)
    return cm_call_fail(call, error, "has no trees");
  l->missings = *nodes;
  if (cm_learned_integers(call, "nodes_nodeids", true, &l->id, nodes, error) != CM_OK ||
      cm_learned_integers(call, "nodes_featureids", true, &l->feature, nodes, error) != CM_OK ||
      cm_learned_integers(call, "nodes_truenodeids", true, &l->yes, nodes, error) != CM_OK ||
      cm_learned_integers(call, "nodes_falsenodeids", true, &l->no, nodes, error) != CM_OK ||
      cm_learned_integers(call, "nodes_missing_value_tracks_true", false, &l->missing, &l->missings, error) != CM_OK ||
      cm_learned_numbers(call, "nodes_values", true, &l->value, nodes, error) != CM_OK)
    return error->status;
  return CM_OK;
}

/* Where branches lead, and who nobody leads to. Twice led to: no tree. */
static cm_status lead(const cm_call *call, const node_lists *l, forest *f, bool *led, cm_error *error)
{
  for (size_t i = 0; i < f->nodes; i++) {
    uint32_t at, to[2];
    if (find(call, f, l->tree[i], l->id[i], &at, error) != CM_OK)
      return error->status;
    tree_node *n = &f->node[at];
    if (n->mode == 'L')
      continue;
    if (find(call, f, n->tree, l->yes[i], &to[0], error) != CM_OK || find(call, f, n->tree, l->no[i], &to[1], error) != CM_OK)
      return error->status;
    for (int k = 0; k < 2; k++) {
      if (led[to[k]])
        return cm_call_fail(call, error, "tree %lld is none: two branches lead to node %lld", (long long)n->tree, (long long)f->node[to[k]].id);
      led[to[k]] = true;
    }
    n->yes = to[0];
    n->no = to[1];
    f->features = n->feature >= f->features ? (int64_t)n->feature + 1 : f->features;
  }
  for (size_t i = 0; i < f->nodes; i++)
    if (!led[i])
      f->root[f->roots++] = (uint32_t)i;
  return f->roots > 0 ? CM_OK : cm_call_fail(call, error, "its trees have no roots");
}

static cm_status read_nodes(const cm_call *call, forest *f, cm_error *error)
{
  node_lists l;
  bool *led;
  if (read_lists(call, &l, &f->nodes, error) != CM_OK || CM_NEW(call->memory, f->node, f->nodes, error) != CM_OK ||
      CM_NEW(call->memory, f->root, f->nodes, error) != CM_OK)
    return error->status;
  for (size_t i = 0; i < f->nodes; i++) {
    if (l.feature[i] < 0 || l.feature[i] > INT32_MAX)
      return cm_call_fail(call, error, "nodes_featureids %zu is %lld", i, (long long)l.feature[i]);
    f->node[i] = (tree_node){.tree = l.tree[i], .id = l.id[i], .feature = (uint32_t)l.feature[i], .value = l.value[i], .missing = l.missings > 0 && l.missing[i] != 0};
  }
  if (read_modes(call, f, error) != CM_OK)
    return error->status;
  qsort(f->node, f->nodes, sizeof *f->node, by_number);
  for (size_t i = 1; i < f->nodes; i++)
    if (by_number(&f->node[i - 1], &f->node[i]) == 0)
      return cm_call_fail(call, error, "node %lld of tree %lld is there twice", (long long)f->node[i].id, (long long)f->node[i].tree);
  if (CM_NEW(call->memory, led, f->nodes, error) != CM_OK)
    return error->status;
  cm_status status = lead(call, &l, f, led, error);
  cm_free(led);
  return status;
}

/* Lists of what leaves add to which of `targets` sums: class_treeids, or target_treeids, and so on. */
static cm_status read_weights(const cm_call *call, const char *what, int64_t targets, forest *f, cm_error *error)
{
  static const char *const parts[] = {"treeids", "nodeids", "ids"};
  const int64_t *list[3];
  const float *weight;
  char name[40];
  for (int k = 0; k < 3; k++) {
    (void)snprintf(name, sizeof name, "%s_%s", what, parts[k]);
    if (cm_learned_integers(call, name, true, &list[k], &f->weights, error) != CM_OK)
      return error->status;
    if (f->weights == 0)
      return cm_call_fail(call, error, "its attribute %s is empty", name);
  }
  (void)snprintf(name, sizeof name, "%s_weights", what);
  if (cm_learned_numbers(call, name, true, &weight, &f->weights, error) != CM_OK || CM_NEW(call->memory, f->weight, f->weights + 1, error) != CM_OK)
    return error->status;
  for (size_t i = 0; i < f->weights; i++) {
    leaf_weight *w = &f->weight[i];
    if (find(call, f, list[0][i], list[1][i], &w->node, error) != CM_OK)
      return error->status;
    if (list[2][i] < 0 || list[2][i] >= targets)
      return cm_call_fail(call, error, "%s_ids %zu is %lld of %lld", what, i, (long long)list[2][i], (long long)targets);
    w->target = (uint32_t)list[2][i];
    w->weight = weight[i];
    w->place = i;
  }
  qsort(f->weight, f->weights, sizeof *f->weight, by_node);
  for (size_t i = 0; i < f->weights; i++) {
    tree_node *n = &f->node[f->weight[i].node];
    n->first = n->count++ == 0 ? (uint32_t)i : n->first;
  }
  return CM_OK;
}

static void forget(forest *f)
{
  CM_FREE(f->node, f->weight, f->root);
}

static cm_status read_forest(const cm_call *call, const char *what, int64_t targets, forest *f, cm_error *error)
{
  int64_t rows, columns;
  *f = (forest){0};
  cm_status status = cm_learned_rows(call, &rows, &columns, error);
  if (status == CM_OK)
    status = read_nodes(call, f, error);
  if (status == CM_OK)
    status = read_weights(call, what, targets, f, error);
  if (status == CM_OK && columns >= 0 && f->features > columns)
    status = cm_call_fail(call, error, "looks at feature %lld of %lld", (long long)f->features - 1, (long long)columns);
  if (status != CM_OK)
    forget(f);
  return status;
}

/* ---- a row ---- */

static bool goes_yes(const tree_node *n, double x)
{
  if (isnan(x))
    return n->missing;
  switch (n->mode) {
  case '=': return x <= (double)n->value;
  case '<': return x < (double)n->value;
  case 'g': return x >= (double)n->value;
  case '>': return x > (double)n->value;
  case 'e': return !(x < (double)n->value) && !(x > (double)n->value);
  default: return x < (double)n->value || x > (double)n->value;
  }
}

/* What the leaves that a row reaches make of the sums. Nodes are led to once, so that every way ends. */
static void go_down(const forest *f, const cm_tensor *x, uint64_t first, float *sums, bool *any)
{
  for (size_t r = 0; r < f->roots; r++) {
    const tree_node *n = &f->node[f->root[r]];
    while (n->mode != 'L')
      n = &f->node[goes_yes(n, cm_tensor_number(x, first + n->feature)) ? n->yes : n->no];
    for (uint32_t i = n->first; i < n->first + n->count; i++) {
      const leaf_weight *w = &f->weight[i];
      float *s = &sums[w->target];
      *s = f->how == ADD || !any[w->target] ? *s + w->weight : f->how == LEAST ? fminf(*s, w->weight) : fmaxf(*s, w->weight);
      any[w->target] = true;
    }
  }
}

/* The sums of each row, handed to `finish`; 0: none of the leaves that were reached names the target. */
typedef void (*row_end)(void *user, uint64_t row, float *sums, const bool *any);

static cm_status each_row(const cm_call *call, const forest *f, size_t targets, row_end finish, void *user, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  const uint64_t rows = (uint64_t)call->output[0].dims[0], columns = rows > 0 ? x->count / rows : 0;
  float *sums;
  bool *any = NULL;
  if (CM_NEW(call->memory, sums, targets + 1, error) != CM_OK)
    return error->status;
  cm_status status = CM_NEW(call->memory, any, targets + 1, error);
  for (uint64_t r = 0; status == CM_OK && r < rows; r++) {
    memset(sums, 0, targets * sizeof *sums);
    memset(any, 0, targets * sizeof *any);
    go_down(f, x, r * columns, sums, any);
    finish(user, r, sums, any);
  }
  CM_FREE(sums, any);
  return status;
}

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
  forest f;
  while (i < 4 && strcmp(how, known[i]) != 0)
    i++;
  if (i == 4)
    return cm_call_fail(call, error, "its attribute aggregate_function is %.40s; SUM, AVERAGE, MIN and MAX are computed", how);
  if (cm_learned_rows(call, &rows, &columns, error) != CM_OK || cm_learned_check_post(call, error) != CM_OK ||
      cm_learned_numbers(call, "base_values", false, &base, &bases, error) != CM_OK ||
      read_forest(call, "target", targets_of(call), &f, error) != CM_OK)
    return error->status;
  forget(&f);
  call->output[0] = (cm_shape){.type = CM_FLOAT, .rank = 2, .dims = {rows, targets_of(call)}};
  return CM_OK;
}

typedef struct regression {
  const cm_call *call;
  const float *base;
  size_t bases, targets;
  float share; /* of a sum */
} regression;

static void end_regression(void *user, uint64_t row, float *sums, const bool *any)
{
  const regression *r = user;
  (void)any;
  for (size_t t = 0; t < r->targets; t++)
    sums[t] = sums[t] * r->share + (r->bases > 0 ? r->base[t] : 0);
  cm_learned_post(r->call->node, sums, r->targets);
  memcpy((float *)r->call->result[0]->data + row * r->targets, sums, r->targets * sizeof *sums);
}

cm_status cm_kernel_tree_regressor(cm_call *call, cm_error *error)
{
  const char *how = cm_node_text(call->node, "aggregate_function", "SUM");
  regression r = {.call = call, .targets = (size_t)targets_of(call), .bases = (size_t)targets_of(call)};
  forest f;
  if (cm_learned_numbers(call, "base_values", false, &r.base, &r.bases, error) != CM_OK ||
      read_forest(call, "target", (int64_t)r.targets, &f, error) != CM_OK)
    return error->status;
  r.share = strcmp(how, "AVERAGE") == 0 ? 1 / (float)f.roots : 1;
  f.how = strcmp(how, "MIN") == 0 ? LEAST : strcmp(how, "MAX") == 0 ? MOST : ADD;
  cm_status status = each_row(call, &f, r.targets, end_regression, &r, error);
  forget(&f);
  return status;
}

/* ---- TreeEnsembleClassifier ---- */

cm_status cm_shape_tree_classifier(cm_call *call, cm_error *error)
{
  int64_t classes;
  const float *base;
  size_t bases = 0;
  forest f;
  if (cm_learned_classes(call, "classlabels_int64s", &classes, error) != CM_OK ||
      cm_learned_numbers(call, "base_values", false, &base, &bases, error) != CM_OK)
    return error->status;
  if (bases > 0 && bases != (size_t)classes && !(bases == 1 && classes == 2))
    return cm_call_fail(call, error, "its attribute base_values has %zu numbers for %lld classes", bases, (long long)classes);
  if (read_forest(call, "class", classes, &f, error) != CM_OK)
    return error->status;
  forget(&f);
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

static void end_classification(void *user, uint64_t row, float *sums, const bool *any)
{
  const classification *c = user;
  size_t best;
  (void)any;
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
  forest f;
  if (cm_learned_integers(call, "classlabels_int64s", true, &c.label, &c.classes, error) != CM_OK ||
      cm_learned_numbers(call, "base_values", false, &c.base, &c.bases, error) != CM_OK ||
      read_forest(call, "class", (int64_t)c.classes, &f, error) != CM_OK)
    return error->status;
  c.one = c.classes == 2;
  for (size_t i = 0; i < f.weights; i++) {
    c.one = c.one && f.weight[i].target == f.weight[0].target;
    c.positive = c.positive && f.weight[i].weight >= 0;
  }
  cm_status status = each_row(call, &f, c.classes, end_classification, &c, error);
  forget(&f);
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
