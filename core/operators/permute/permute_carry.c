/* What a cut decided, carried out on the graph: values in their new forms, operators rewritten, permutations between.
 */
#include <string.h>

#include "base/json.h"
#include "core/operators/permute/permute_region.h"

/* The form in which a value is now made. */
static cm_layout made_form(const cm_region *r, uint32_t value)
{
  const cm_region_value *v = &r->value[value];
  uint32_t rank = r->p->model->values[value].shape.rank;
  const cm_tie_group *g = cm_region_making_group(r, value);
  if (!v->in || !v->made_switched)
    return cm_layout_identity(rank);
  if (g != NULL) {
    const cm_node *n = &r->p->model->nodes[g->node];
    for (uint32_t o = 0; o < n->output_count; o++)
      if (n->outputs[o] == value)
        return g->layout[n->input_count + o];
  }
  return v->other;
}

typedef struct stored_form {
  struct stored_form *next;
  cm_layout layout;
  uint32_t value;
} stored_form;

typedef struct carrier {
  cm_region *r;
  size_t old_values;
  stored_form **forms; /* by old value: in which forms it is there */
} carrier;

/* The value that holds an old one in some form, made by a permutation when it is not there. */
static cm_status in_form(carrier *c, uint32_t value, const cm_layout *form, uint32_t *found, cm_error *error)
{
  cm_permute *p = c->r->p;
  stored_form *f, *first = c->forms[value];
  for (f = first; f != NULL; f = f->next)
    if (cm_layout_equal(&f->layout, form)) {
      *found = f->value;
      return CM_OK;
    }
  cm_layout back = cm_layout_invert(p->maps, &first->layout), step = cm_layout_compose(p->maps, &back, form);
  CM_TRY(CM_ARENA_NEW(&c->r->arena, f, 1, error));
  f->layout = *form;
  /* The value as it was keeps its name. */
  if (cm_layout_is_identity(form))
    f->value = value;
  else if (cm_model_add_named(p->model, p->model->values[value].name, &f->value, error) != CM_OK)
    return error->status;
  CM_TRY(cm_permute_add(p, first->value, &step, f->value, error));
  f->next = first->next;
  first->next = f;
  *found = f->value;
  return CM_OK;
}

/* The form in which each value of the region is made gets a value of its own where it changed. */
static cm_status make_forms(carrier *c, cm_error *error)
{
  cm_permute *p = c->r->p;
  CM_TRY(CM_ARENA_NEW(&c->r->arena, c->forms, c->old_values, error));
  for (size_t v = 0; v < c->old_values; v++) {
    stored_form *f;
    if (!c->r->value[v].in)
      continue;
    CM_TRY(CM_ARENA_NEW(&c->r->arena, f, 1, error));
    f->layout = made_form(c->r, (uint32_t)v);
    f->value = (uint32_t)v;
    if (!cm_layout_is_identity(&f->layout)) {
      CM_TRY(cm_model_add_named(p->model, p->model->values[v].name, &f->value, error));
      p->model->values[f->value].shape = p->model->values[v].shape;
      cm_layout_dims(&f->layout, p->model->values[v].shape.dims, p->model->values[f->value].shape.dims);
    }
    c->forms[v] = f;
  }
  return CM_OK;
}

static cm_status note_move(carrier *c, uint32_t node, const cm_tie_group *g, cm_error *error)
{
  const cm_model *m = c->r->p->model;
  const cm_node *n = &m->nodes[node];
  uint32_t s = 0;
  while (!g->tied[s])
    s++;
  const cm_layout *l = &g->layout[s];
  const cm_value *x = &m->values[s < n->input_count ? n->inputs[s] : n->outputs[s - n->input_count]];
  bool inter = !cm_layout_keeps_axes(l), intra = !cm_layout_keeps_elements(l);
  json_t *item = json_pack("{s:s, s:s, s:s, s:s, s:o}", "action", "cross", "rule",
                           inter && intra ? "z101+z102" : inter ? "z102" : "z101", "node",
                           n->name[0] != '\0' ? n->name : x->name, "operator", n->op, "permutation",
                           cm_layout_json(c->r->p->maps, l, x->shape.dims));
  return cm_json_append(c->r->p->moves, item, "the report of permutations", error);
}

/* Rewrites one node whose form changed, then exchanges its values. */
static cm_status carry_node(carrier *c, uint32_t node, cm_error *error)
{
  cm_region *r = c->r;
  cm_model *m = r->p->model;
  cm_node *n = &m->nodes[node];
  uint32_t inputs = n->input_count, outputs = n->output_count, *old_input;
  cm_crossing x = {.model = m, .node = node, .maps = r->p->maps, .run = r->p->run, .input_count = inputs,
                   .slot_count = inputs + outputs};
  bool any = false;
  CM_TRY(CM_ARENA_NEW(&r->arena, x.layout, x.slot_count, error));
  CM_TRY(CM_ARENA_NEW(&r->arena, x.tied, x.slot_count, error));
  CM_TRY(CM_ARENA_NEW(&r->arena, old_input, inputs, error));
  memcpy(old_input, n->inputs, inputs * sizeof *old_input);
  for (uint32_t g = r->group_of[node]; g != 0; g = r->groups[g - 1].next) {
    const cm_tie_group *group = &r->groups[g - 1];
    if (!group->switched)
      continue;
    any = true;
    for (uint32_t s = 0; s < x.slot_count; s++)
      if (group->tied[s]) {
        x.tied[s] = true;
        x.layout[s] = group->layout[s];
      }
    CM_TRY(note_move(c, node, group, error));
  }
  CM_TRY_IF(any, cm_cross_rewrite(&x, error));
  for (uint32_t s = 0; s < inputs; s++) {
    uint32_t value = old_input[s], now, place = x.exchanged && s < 2 ? 1 - s : s;
    if (value == CM_NONE || !r->value[value].in)
      continue;
    cm_layout wanted = x.tied[s] ? x.layout[s] : cm_layout_identity(m->values[value].shape.rank);
    CM_TRY(in_form(c, value, &wanted, &now, error));
    m->nodes[node].inputs[place] = now;
  }
  for (uint32_t o = 0; o < outputs; o++) {
    uint32_t value = m->nodes[node].outputs[o], plain;
    if (value == CM_NONE || !r->value[value].in)
      continue;
    const stored_form *made = c->forms[value];
    if (r->value[value].turned && made->value != value) { /* the permutation that the product will take along */
      CM_TRY(cm_model_add_named(m, m->values[value].name, &plain, error));
      m->values[plain].shape = m->values[value].shape;
      m->nodes[node].outputs[o] = plain;
      CM_TRY(cm_permute_add(r->p, plain, &made->layout, made->value, error));
    } else
      m->nodes[node].outputs[o] = made->value;
  }
  return CM_OK;
}

/* A permutation between two values becomes what it is between their new forms. */
static cm_status carry_layout(carrier *c, uint32_t node, cm_error *error)
{
  cm_region *r = c->r;
  cm_model *m = r->p->model;
  uint32_t a = m->nodes[node].inputs[0], b = m->nodes[node].outputs[0];
  cm_layout *step;
  CM_TRY(CM_ARENA_NEW(&m->arena, step, 1, error));
  *step = *m->nodes[node].layout;
  if (r->value[a].in) {
    cm_layout back = cm_layout_invert(r->p->maps, &c->forms[a]->layout);
    *step = cm_layout_compose(r->p->maps, &back, step);
    m->nodes[node].inputs[0] = c->forms[a]->value;
  }
  if (r->value[b].in) {
    *step = cm_layout_compose(r->p->maps, step, &c->forms[b]->layout);
    m->nodes[node].outputs[0] = c->forms[b]->value;
  }
  m->nodes[node].layout = step;
  return CM_OK;
}

cm_status cm_region_carry_out(cm_region *r, cm_error *error)
{
  cm_model *m = r->p->model;
  carrier c = {.r = r, .old_values = m->value_count};
  CM_TRY(make_forms(&c, error));
  for (size_t i = 0; i < m->order_count; i++) {
    uint32_t node = m->order[i];
    if ((m->nodes[node].layout != NULL ? carry_layout : carry_node)(&c, node, error) != CM_OK)
      return error->status;
  }
  /* Graph outputs and what subgraphs read stay as they were. */
  for (size_t v = 0; v < c.old_values; v++) {
    uint32_t ignored;
    if (!r->value[v].in || !cm_model_is_output(m, (uint32_t)v))
      continue;
    cm_layout plain = cm_layout_identity(m->values[v].shape.rank);
    CM_TRY(in_form(&c, (uint32_t)v, &plain, &ignored, error));
  }
  return cm_permute_normalise(r->p, error);
}
