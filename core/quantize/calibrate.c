#include "core/quantize/calibrate.h"

#include <math.h>

#include "core/operators/evaluate.h"
#include "core/operators/operator.h"

/* ---- ranges ---- */

/* One walk over the samples. */
typedef struct walk {
  const cm_model *model;
  const uint32_t *root;
  cm_range *range;
  cm_histogram **histogram; /* by value; NULL while ranges are found */
} walk;

static void widen(cm_range *r, const cm_tensor *t)
{
  for (uint64_t i = 0; i < t->count; i++) {
    const double x = (double)((const float *)t->data)[i];
    if (isfinite(x)) {
      r->low = fmin(r->low, x);
      r->high = fmax(r->high, x);
    }
  }
}

static void count(cm_histogram *h, const cm_tensor *t)
{
  const double width = h->range.high - h->range.low;
  for (uint64_t i = 0; width > 0 && i < t->count; i++) {
    const double at = ((double)((const float *)t->data)[i] - h->range.low) / width * CM_HISTOGRAM_BINS;
    if (isfinite(at))
      h->bin[at < 0 ? 0 : at < CM_HISTOGRAM_BINS ? (size_t)at : CM_HISTOGRAM_BINS - 1]++;
  }
}

static void look_at(const walk *w, uint32_t value, const cm_tensor *t)
{
  if (t == NULL || t->type != CM_FLOAT || w->root[value] != value)
    return;
  if (w->histogram != NULL)
    count(w->histogram[value], t);
  else
    widen(&w->range[value], t);
}

static cm_status look_behind(void *user, uint32_t node, cm_tensor *const *tensors, cm_error *error)
{
  const walk *w = user;
  const cm_node *n = &w->model->nodes[node];
  (void)error;
  for (uint32_t o = 0; o < n->output_count; o++)
    look_at(w, n->outputs[o], tensors[n->outputs[o]]);
  return CM_OK;
}

/* The model on every sample; where outputs are kept is `outputs` (NULL: nowhere). */
static cm_status run_samples(cm_calibration *c, const cm_watch *watch, cm_tensor **outputs, cm_error *error)
{
  for (size_t s = 0; s < c->samples.count; s++)
    if (cm_run_progress(c->run, (double)s / (double)c->samples.count, -1, 0, (double)NAN, error) != CM_OK ||
        cm_evaluate_watched(c->model, c->samples.tensors + s * c->samples.inputs, watch, c->run,
                            outputs != NULL ? outputs + s * c->model->output_count : NULL, error) != CM_OK)
      return error->status;
  return CM_OK;
}

static cm_status look_at_all(cm_calibration *c, walk *w, cm_error *error)
{
  for (size_t k = 0; k < c->samples.count * c->samples.inputs; k++)
    look_at(w, c->model->inputs[k % c->samples.inputs], c->samples.tensors[k]);
  return run_samples(c, &(cm_watch){look_behind, w}, NULL, error);
}

static cm_status new_histograms(const cm_model *model, walk *w, cm_error *error)
{
  CM_TRY(CM_NEW(model->arena.memory, w->histogram, model->value_count + 1, error));
  for (uint32_t v = 0; v < model->value_count; v++) {
    if (w->root[v] != v)
      continue;
    CM_TRY(CM_NEW(model->arena.memory, w->histogram[v], 1, error));
    w->histogram[v]->range = w->range[v];
  }
  return CM_OK;
}

static cm_range choose(const cm_quantize_options *o, const cm_histogram *h)
{
  if (!(h->range.high > h->range.low))
    return h->range;
  return o->method == CM_RANGE_PERCENTILE ? cm_range_percentile(h, o->percentile) : cm_range_least_error(h);
}

cm_status cm_calibrate(cm_calibration *c, cm_error *error)
{
  const size_t values = c->model->value_count;
  walk w = {.model = c->model, .root = c->layers.root, .range = c->ranges};
  for (size_t v = 0; v < values; v++)
    c->ranges[v] = (cm_range){INFINITY, -INFINITY};
  cm_run_phase(c->run, "calibrate");
  cm_status status = look_at_all(c, &w, error);
  for (size_t v = 0; v < values; v++)
    if (!(c->ranges[v].low <= c->ranges[v].high)) /* nothing finite was seen */
      c->ranges[v] = (cm_range){0, 0};
  if (status != CM_OK || c->options->method == CM_RANGE_ALL)
    return status;
  status = new_histograms(c->model, &w, error);
  CM_THEN(status, look_at_all(c, &w, error));
  for (size_t v = 0; w.histogram != NULL && v < values; v++) {
    if (status == CM_OK && w.histogram[v] != NULL)
      c->ranges[v] = choose(c->options, w.histogram[v]);
    cm_free(w.histogram[v]);
  }
  cm_free(w.histogram);
  return status;
}

/* ---- errors of layers ---- */

typedef struct judging {
  const cm_calibration *of;
  cm_tensor **tensors; /* by value: what one product is given */
  double *wrong, *all; /* by layer: squares of differences, and of numbers */
  size_t next;         /* layers are in the order of the nodes */
} judging;

static cm_affine affine_of(const judging *j, uint32_t value)
{
  return cm_affine_of(j->of->ranges[j->of->layers.root[value]]);
}

/* The factors of a product, rounded; the caller frees those that are not NULL. */
static cm_status round_factors(const judging *j, const cm_layer *l, cm_tensor *const *tensors, cm_tensor *factor[2], cm_error *error)
{
  const cm_node *n = &j->of->model->nodes[l->node];
  cm_memory *memory = j->of->model->arena.memory;
  CM_TRY(cm_affine_round(tensors[n->inputs[0]], affine_of(j, n->inputs[0]), memory, &factor[0], error));
  if (l->axis != CM_NONE) {
    factor[1] = cm_tensor_share(l->weights.rounded);
    return CM_OK;
  }
  return cm_affine_round(tensors[n->inputs[1]], affine_of(j, n->inputs[1]), memory, &factor[1], error);
}

static cm_status compare(judging *j, size_t layer, const cm_tensor *exact, const cm_tensor *product, cm_error *error)
{
  const cm_layer *l = &j->of->layers.layer[layer];
  cm_tensor *made;
  CM_TRY(cm_affine_round(product, affine_of(j, l->output), j->of->model->arena.memory, &made, error));
  for (uint64_t i = 0; i < exact->count; i++) {
    const double y = fmin(fmax((double)((const float *)exact->data)[i], l->low), l->high), d = (double)((const float *)made->data)[i] - y;
    j->wrong[layer] += d * d;
    j->all[layer] += y * y;
  }
  cm_tensor_free(made);
  return CM_OK;
}

static cm_status judge(void *user, uint32_t node, cm_tensor *const *tensors, cm_error *error)
{
  judging *j = user;
  cm_tensor *factor[2] = {NULL}, *product = NULL;
  const size_t layer = j->next;
  if (j->of->layers.layer[layer].node != node)
    return CM_OK;
  j->next = (layer + 1) % j->of->layers.count;
  const cm_node *n = &j->of->model->nodes[node];
  cm_status status = round_factors(j, &j->of->layers.layer[layer], tensors, factor, error);
  for (uint32_t k = 0; k < n->input_count; k++)
    if (n->inputs[k] != CM_NONE)
      j->tensors[n->inputs[k]] = k < 2 ? factor[k] : tensors[n->inputs[k]];
  CM_THEN(status, cm_evaluate_node(n, j->of->model->opset, j->tensors, j->of->model->arena.memory, &product, error));
  CM_THEN(status, compare(j, layer, tensors[n->outputs[0]], product, error));
  cm_tensor_free(product);
  cm_tensor_free(factor[0]);
  cm_tensor_free(factor[1]);
  return status;
}

cm_status cm_layer_errors(cm_calibration *c, cm_error *error)
{
  judging j = {.of = c};
  const size_t layers = c->layers.count;
  cm_status status = CM_OK;
  cm_run_phase(c->run, "judge");
  status = CM_NEW_ALL(c->run->memory, error, CM_ARRAY(j.tensors, c->model->value_count + 1), CM_ARRAY(j.wrong, layers + 1),
                      CM_ARRAY(j.all, layers + 1));
  CM_THEN(status, run_samples(c, &(cm_watch){judge, &j}, c->expected, error));
  for (size_t i = 0; status == CM_OK && i < layers; i++)
    c->layers.layer[i].error = sqrt(j.all[i] > 0 ? j.wrong[i] / j.all[i] : j.wrong[i]);
  CM_FREE(j.tensors, j.wrong, j.all);
  return status;
}
