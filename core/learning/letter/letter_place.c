/* The letter at work: views of processors, and from places of highest probability to cores of one's own. */

#include "core/learning/letter/seats.h"

static cm_status own_graph(const cm_environment *environment, const uint32_t *node, cm_run *run, cm_letter_view *view,
                           cm_error *error)
{
  uint32_t *scratch;
  CM_TRY(CM_NEW(run->memory, scratch, environment->nodes, error));
  cm_status status =
    cm_graph_induce(environment->graph, node, view->nodes, scratch, run, &view->own_graph, error);
  cm_free(scratch);
  CM_THEN(status, cm_laplacian_new(view->own_graph, run, &view->own_laplacian, error));
  view->laplacian = view->own_laplacian;
  return status;
}

cm_status cm_letter_view_new(const cm_environment *environment, uint32_t p, cm_run *run, cm_letter_view *view, cm_error *error)
{
  const uint32_t *node = environment->node + environment->node_first[p];
  cm_letter_view v = {.rows = environment->site_first[p + 1] - environment->site_first[p],
                      .nodes = environment->node_first[p + 1] - environment->node_first[p],
                      .laplacian = environment->laplacian};
  cm_status status = CM_NEW(run->memory, v.input, (size_t)v.rows * CM_FEATURES, error);
  CM_THEN_IF(status, environment->processors > 1, own_graph(environment, node, run, &v, error));
  for (uint32_t i = 0; status == CM_OK && i < v.nodes; i++)
    memcpy(v.input + (size_t)i * CM_FEATURES, environment->feature + (size_t)node[i] * CM_FEATURES,
           CM_FEATURES * sizeof *v.input);
  CM_END(status, *view = v, cm_letter_view_free(&v));
}

void cm_letter_view_free(cm_letter_view *view)
{
  cm_free(view->input);
  cm_laplacian_free(view->own_laplacian);
  cm_graph_free(view->own_graph);
  *view = (cm_letter_view){0};
}

/* One processor. */
static cm_status place(const cm_policy *policy, const cm_environment *environment, uint32_t p, cm_run *run, uint32_t *at,
                       cm_error *error)
{
  cm_letter_view view = {0};
  cm_letter_pass *pass = NULL;
  cm_letter_seats seats;
  uint32_t *wish = NULL;
  CM_TRY(cm_letter_seats_new(environment, p, policy->shape.kind, CM_DISTANCE_MANHATTAN, &seats, error));
  cm_status status = cm_letter_view_new(environment, p, run, &view, error);
  CM_THEN(status, cm_letter_pass_new(&policy->shape, view.rows, run->memory, &pass, error));
  CM_THEN(status, CM_NEW(run->memory, wish, seats.rows, error));
  if (status == CM_OK) {
    cm_letter_forward(policy, &view, pass);
    for (size_t r = 0; r < seats.rows; r++)
      wish[r] = cm_axis_likeliest((double)pass->mean[r], seats.places.count[r % seats.places.axes], (double)policy->bound);
    cm_letter_seats_by_node(&seats, wish, at);
  }
  cm_free(wish);
  cm_letter_pass_free(pass);
  cm_letter_view_free(&view);
  cm_letter_seats_free(&seats);
  return status;
}

cm_status cm_letter_place(const cm_policy *policy, const cm_environment *environment, cm_run *run, uint32_t *at, cm_error *error)
{
  for (uint32_t p = 0; p < environment->processors; p++)
    if (environment->node_first[p + 1] > environment->node_first[p] && place(policy, environment, p, run, at, error) != CM_OK)
      return error->status;
  return CM_OK;
}
