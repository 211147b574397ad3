/* The letter at work: views of processors, and from places of highest probability to cores of one's own. */
#include <string.h>

#include "core/learning/assign.h"
#include "core/learning/letter/letter.h"

static cm_status own_graph(const cm_environment *environment, const uint32_t *node, cm_run *run, cm_letter_view *view,
                           cm_error *error)
{
  uint32_t *scratch;
  if (CM_NEW(run->memory, scratch, environment->nodes, error) != CM_OK)
    return error->status;
  cm_status status =
    cm_graph_induce(environment->graph, node, view->nodes, scratch, run, &view->own_graph, error);
  cm_free(scratch);
  if (status == CM_OK)
    status = cm_laplacian_new(view->own_graph, run, &view->own_laplacian, error);
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
  if (status == CM_OK && environment->processors > 1)
    status = own_graph(environment, node, run, &v, error);
  if (status != CM_OK) {
    cm_letter_view_free(&v);
    return status;
  }
  for (uint32_t i = 0; i < v.nodes; i++)
    memcpy(v.input + (size_t)i * CM_FEATURES, environment->feature + (size_t)node[i] * CM_FEATURES,
           CM_FEATURES * sizeof *v.input);
  *view = v;
  return CM_OK;
}

void cm_letter_view_free(cm_letter_view *view)
{
  cm_free(view->input);
  cm_laplacian_free(view->own_laplacian);
  cm_graph_free(view->own_graph);
  *view = (cm_letter_view){0};
}

cm_status cm_letter_assign(const cm_environment *environment, uint32_t p, const cm_letter_places *places, const uint32_t *place,
                           cm_memory *memory, uint32_t *at, cm_error *error)
{
  uint32_t nodes = environment->node_first[p + 1] - environment->node_first[p], *wanted, *free_core = NULL, *core = NULL;
  const uint32_t *node = environment->node + environment->node_first[p];
  uint64_t *priority = NULL;
  cm_status status = CM_NEW(memory, wanted, nodes, error);
  if (status == CM_OK)
    status = CM_NEW(memory, free_core, places->sites, error);
  if (status == CM_OK)
    status = CM_NEW(memory, core, nodes, error);
  if (status == CM_OK)
    status = CM_NEW(memory, priority, nodes, error);
  if (status == CM_OK) {
    for (uint32_t i = 0; i < places->sites; i++)
      free_core[i] = environment->site[places->site_of[i]];
    for (uint32_t i = 0; i < nodes; i++) {
      const uint32_t *of = place + (size_t)i * places->axes;
      wanted[i] = places->axes == 1 ? free_core[of[0]]
                                    : (places->y0 + of[1]) * environment->chip->width + places->x0 + of[0];
      priority[i] = environment->priority[node[i]];
    }
    const cm_assign_task task = {environment->chip, free_core, places->sites, wanted, priority, nodes, CM_DISTANCE_MANHATTAN};
    status = cm_assign(&task, memory, core, error);
  }
  for (uint32_t i = 0; i < nodes && status == CM_OK; i++)
    at[node[i]] = environment->site_on[core[i]];
  cm_free(wanted);
  cm_free(free_core);
  cm_free(core);
  cm_free(priority);
  return status;
}

/* One processor. */
static cm_status place(const cm_policy *policy, const cm_environment *environment, uint32_t p, cm_run *run, uint32_t *at,
                       cm_error *error)
{
  cm_letter_view view;
  cm_letter_pass *pass = NULL;
  cm_letter_places places = cm_letter_places_of(environment, p, policy->shape.kind);
  uint32_t axes = places.axes, *wish = NULL;
  if (cm_letter_view_new(environment, p, run, &view, error) != CM_OK)
    return error->status;
  cm_status status = cm_letter_pass_new(&policy->shape, view.rows, run->memory, &pass, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, wish, (size_t)view.nodes * axes, error);
  if (status == CM_OK) {
    cm_letter_forward(policy, &view, pass);
    for (size_t r = 0; r < (size_t)view.nodes * axes; r++)
      wish[r] = cm_axis_likeliest((double)pass->mean[r], places.count[r % axes], (double)policy->bound);
    status = cm_letter_assign(environment, p, &places, wish, run->memory, at, error);
  }
  cm_free(wish);
  cm_letter_pass_free(pass);
  cm_letter_view_free(&view);
  return status;
}

cm_status cm_letter_place(const cm_policy *policy, const cm_environment *environment, cm_run *run, uint32_t *at, cm_error *error)
{
  for (uint32_t p = 0; p < environment->processors; p++)
    if (environment->node_first[p + 1] > environment->node_first[p] && place(policy, environment, p, run, at, error) != CM_OK)
      return error->status;
  return CM_OK;
}
