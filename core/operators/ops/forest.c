#include "core/operators/ops/forest.h"
#include "base/order.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

CM_ORDER(by_number, cm_tree_node, CM_RISING(tree) CM_RISING(id))

CM_ORDER(by_node, cm_leaf_weight, CM_RISING(node) CM_RISING(place))

static cm_status find(const cm_call *call, const cm_forest *f, int64_t tree, int64_t id, uint32_t *number, cm_error *error)
{
  const cm_tree_node wanted = {.tree = tree, .id = id};
  const cm_tree_node *found = bsearch(&wanted, f->node, f->nodes, sizeof *f->node, by_number);
  if (found == NULL)
    return cm_call_fail(call, error, "has no node %lld of tree %lld", (long long)id, (long long)tree);
  *number = (uint32_t)(found - f->node);
  return CM_OK;
}

/* Modes stand a line each. */
static cm_status read_modes(const cm_call *call, cm_forest *f, cm_error *error)
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
  CM_TRY(cm_learned_integers(call, "nodes_treeids", true, &l->tree, nodes, error));
  if (*nodes == 0 || *nodes >= UINT32_MAX)
    return cm_call_fail(call, error, "has no trees");
  l->missings = *nodes;
  CM_TRY(cm_learned_integers(call, "nodes_nodeids", true, &l->id, nodes, error));
  CM_TRY(cm_learned_integers(call, "nodes_featureids", true, &l->feature, nodes, error));
  CM_TRY(cm_learned_integers(call, "nodes_truenodeids", true, &l->yes, nodes, error));
  CM_TRY(cm_learned_integers(call, "nodes_falsenodeids", true, &l->no, nodes, error));
  CM_TRY(cm_learned_integers(call, "nodes_missing_value_tracks_true", false, &l->missing, &l->missings, error));
  return cm_learned_numbers(call, "nodes_values", true, &l->value, nodes, error);
}

/* Where branches lead, and who nobody leads to. Twice led to: no tree. */
static cm_status lead(const cm_call *call, const node_lists *l, cm_forest *f, bool *led, cm_error *error)
{
  for (size_t i = 0; i < f->nodes; i++) {
    uint32_t at, to[2];
    CM_TRY(find(call, f, l->tree[i], l->id[i], &at, error));
    cm_tree_node *n = &f->node[at];
    if (n->mode == 'L')
      continue;
    CM_TRY(find(call, f, n->tree, l->yes[i], &to[0], error));
    CM_TRY(find(call, f, n->tree, l->no[i], &to[1], error));
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

static cm_status read_nodes(const cm_call *call, cm_forest *f, cm_error *error)
{
  node_lists l;
  bool *led;
  CM_TRY(read_lists(call, &l, &f->nodes, error));
  CM_TRY(CM_NEW_ALL(call->memory, error, CM_ARRAY(f->node, f->nodes), CM_ARRAY(f->root, f->nodes)));
  for (size_t i = 0; i < f->nodes; i++) {
    if (l.feature[i] < 0 || l.feature[i] > INT32_MAX)
      return cm_call_fail(call, error, "nodes_featureids %zu is %lld", i, (long long)l.feature[i]);
    f->node[i] = (cm_tree_node){.tree = l.tree[i], .id = l.id[i], .feature = (uint32_t)l.feature[i], .value = l.value[i], .missing = l.missings > 0 && l.missing[i] != 0};
  }
  CM_TRY(read_modes(call, f, error));
  qsort(f->node, f->nodes, sizeof *f->node, by_number);
  for (size_t i = 1; i < f->nodes; i++)
    if (by_number(&f->node[i - 1], &f->node[i]) == 0)
      return cm_call_fail(call, error, "node %lld of tree %lld is there twice", (long long)f->node[i].id, (long long)f->node[i].tree);
  CM_TRY(CM_NEW(call->memory, led, f->nodes, error));
  cm_status status = lead(call, &l, f, led, error);
  cm_free(led);
  return status;
}

/* Lists of what leaves add to which of `targets` sums: class_treeids, or target_treeids, and so on. */
static cm_status read_weights(const cm_call *call, const char *what, int64_t targets, cm_forest *f, cm_error *error)
{
  static const char *const parts[] = {"treeids", "nodeids", "ids"};
  const int64_t *list[3];
  const float *weight;
  char name[40];
  for (int k = 0; k < 3; k++) {
    (void)snprintf(name, sizeof name, "%s_%s", what, parts[k]);
    CM_TRY(cm_learned_integers(call, name, true, &list[k], &f->weights, error));
    if (f->weights == 0)
      return cm_call_fail(call, error, "its attribute %s is empty", name);
  }
  CM_TRY(cm_learned_numbers(call, cm_say("%s_weights", what).text, true, &weight, &f->weights, error));
  CM_TRY(CM_NEW(call->memory, f->weight, f->weights + 1, error));
  for (size_t i = 0; i < f->weights; i++) {
    cm_leaf_weight *w = &f->weight[i];
    CM_TRY(find(call, f, list[0][i], list[1][i], &w->node, error));
    if (list[2][i] < 0 || list[2][i] >= targets)
      return cm_call_fail(call, error, "%s_ids %zu is %lld of %lld", what, i, (long long)list[2][i], (long long)targets);
    w->target = (uint32_t)list[2][i];
    w->weight = weight[i];
    w->place = i;
  }
  qsort(f->weight, f->weights, sizeof *f->weight, by_node);
  for (size_t i = 0; i < f->weights; i++) {
    cm_tree_node *n = &f->node[f->weight[i].node];
    n->first = n->count++ == 0 ? (uint32_t)i : n->first;
  }
  return CM_OK;
}

void cm_forest_free(cm_forest *f)
{
  CM_FREE(f->node, f->weight, f->root);
}

cm_status cm_forest_read(const cm_call *call, const char *what, int64_t targets, cm_forest *f, cm_error *error)
{
  int64_t rows, columns;
  *f = (cm_forest){0};
  cm_status status = cm_learned_rows(call, &rows, &columns, error);
  CM_THEN(status, read_nodes(call, f, error));
  CM_THEN(status, read_weights(call, what, targets, f, error));
  if (status == CM_OK && columns >= 0 && f->features > columns)
    status = cm_call_fail(call, error, "looks at feature %lld of %lld", (long long)f->features - 1, (long long)columns);
  if (status != CM_OK)
    cm_forest_free(f);
  return status;
}

/* ---- a row ---- */

static bool goes_yes(const cm_tree_node *n, double x)
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
static void go_down(const cm_forest *f, const cm_tensor *x, uint64_t first, float *sums, bool *any)
{
  for (size_t r = 0; r < f->roots; r++) {
    const cm_tree_node *n = &f->node[f->root[r]];
    while (n->mode != 'L')
      n = &f->node[goes_yes(n, cm_tensor_number(x, first + n->feature)) ? n->yes : n->no];
    for (uint32_t i = n->first; i < n->first + n->count; i++) {
      const cm_leaf_weight *w = &f->weight[i];
      float *s = &sums[w->target];
      *s = f->how == CM_FOREST_ADD || !any[w->target] ? *s + w->weight : f->how == CM_FOREST_LEAST ? fminf(*s, w->weight) : fmaxf(*s, w->weight);
      any[w->target] = true;
    }
  }
}

cm_status cm_forest_each_row(const cm_call *call, const cm_forest *f, size_t targets, cm_row_end finish, void *user, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  const uint64_t rows = (uint64_t)call->output[0].dims[0], columns = rows > 0 ? x->count / rows : 0;
  float *sums;
  bool *any = NULL;
  CM_TRY(CM_NEW(call->memory, sums, targets + 1, error));
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
