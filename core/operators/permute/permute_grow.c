/* Growing the region of a permutation: which values could be stored otherwise, and which operators tie them together. */
#include "core/operators/permute/permute_region.h"

/* A value joins the region, and waits to be grown from; false: it cannot be stored otherwise. */
static bool add_value(cm_region *r, uint32_t value, const cm_layout *other, uint8_t phase)
{
  cm_region_value *v = &r->value[value];
  const cm_value *m = &r->p->model->values[value];
  if (m->constant || !cm_shape_known(&m->shape) || m->shape.rank != other->rank)
    return false;
  v->in = true;
  v->phase = phase;
  v->other = *other;
  r->queue[r->queue_tail++] = value;
  return true;
}

/* Through another permutation rho (a -> b), from the side that is known. */
static void grow_through_layout(cm_region *r, const cm_node *n, bool from_input)
{
  uint32_t a = n->inputs[0], b = n->outputs[0], known = from_input ? a : b, next = from_input ? b : a;
  cm_maps *maps = r->p->maps;
  const cm_region_value *k = &r->value[known];
  cm_layout rho = from_input ? *n->layout : cm_layout_invert(maps, n->layout), back = cm_layout_invert(maps, &rho), other;
  if (r->value[next].in)
    return;
  if (cm_layout_equal(&k->other, &rho)) {
    /* Beyond it lies the other side of the same permutation. */
    (void)add_value(r, next, &back, 1 - k->phase);
    return;
  }
  if (cm_layout_keeps_elements(&k->other) && cm_layout_keeps_axes(&rho))
    other = k->other;
  else if (cm_layout_keeps_axes(&k->other) && cm_layout_keeps_elements(&rho)) {
    other = cm_layout_identity(rho.rank);
    for (uint32_t i = 0; i < rho.rank; i++)
      other.map[i] = k->other.map[rho.perm[i]];
  } else
    other = cm_layout_compose(maps, &back, &k->other);
  if (!cm_layout_is_identity(&other))
    (void)add_value(r, next, &other, k->phase);
}

/* A rule's answer fits when every value it names is new, or has just that other form, on the same side. */
static bool fits(const cm_region *r, const cm_crossing *c, uint8_t phase)
{
  const cm_node *n = cm_crossing_node(c);
  for (uint32_t s = 0; s < c->slot_count; s++) {
    uint32_t value = s < n->input_count ? n->inputs[s] : n->outputs[s - n->input_count];
    if (c->tied[s] && r->value[value].in && r->value[value].phase != phase)
      return false;
  }
  return true;
}

/* The groups that a node has already leave room for another one. */
static bool has_room(const cm_region *r, const cm_crossing *c)
{
  for (uint32_t g = r->group_of[c->node]; g != 0; g = r->groups[g - 1].next) {
    const cm_tie_group *old = &r->groups[g - 1];
    if (!old->independent || !c->independent)
      return false;
    for (uint32_t s = 0; s < c->slot_count; s++)
      if (old->tied[s] && c->tied[s])
        return false;
  }
  return true;
}

static cm_status grow_through_node(cm_region *r, uint32_t node, uint32_t slot, uint32_t value, cm_error *error)
{
  const cm_node *n = &r->p->model->nodes[node];
  uint8_t phase = r->value[value].phase;
  cm_crossing c = {.model = r->p->model,
                   .node = node,
                   .maps = r->p->maps,
                   .run = r->p->run,
                   .input_count = n->input_count,
                   .slot_count = n->input_count + n->output_count,
                   .from = slot};
  CM_TRY(CM_ARENA_NEW(&r->arena, c.layout, c.slot_count, error));
  CM_TRY(CM_ARENA_NEW(&r->arena, c.tied, c.slot_count, error));
  c.layout[slot] = r->value[value].other;
  c.tied[slot] = true;
  if (!cm_cross(&c) || !has_room(r, &c) || !fits(r, &c, phase))
    return CM_OK;
  void *block = r->groups;
  CM_TRY(cm_arena_grow(&r->arena, &block, &r->group_capacity, r->group_count, sizeof *r->groups, error));
  r->groups = block;
  r->groups[r->group_count] = (cm_tie_group){.node = node, .phase = phase, .independent = c.independent, .tied = c.tied,
                                          .layout = c.layout, .slot_count = c.slot_count, .next = r->group_of[node],
                                          .variable = cm_cut_node(&r->cut)};
  r->group_of[node] = (uint32_t)++r->group_count;
  for (uint32_t s = 0; s < c.slot_count; s++) {
    uint32_t v = s < n->input_count ? n->inputs[s] : n->outputs[s - n->input_count];
    if (c.tied[s] && !r->value[v].in)
      (void)add_value(r, v, &c.layout[s], phase);
  }
  return CM_OK;
}

static cm_status grow_from(cm_region *r, uint32_t value, cm_error *error)
{
  const cm_model *m = r->p->model;
  uint32_t producer = m->values[value].producer;
  if (producer != CM_NONE && m->nodes[producer].layout != NULL)
    grow_through_layout(r, &m->nodes[producer], false);
  else if (producer != CM_NONE)
    for (uint32_t o = 0; o < m->nodes[producer].output_count; o++)
      CM_TRY_IF(m->nodes[producer].outputs[o] == value, grow_through_node(r, producer, m->nodes[producer].input_count + o, value, error));
  for (uint32_t k = r->reader_first[value]; k < r->reader_first[value + 1]; k++) {
    const cm_node *n = &m->nodes[r->reader[k]];
    if (n->layout != NULL) {
      grow_through_layout(r, n, true);
      continue;
    }
    for (uint32_t s = 0; s < n->input_count; s++)
      CM_TRY_IF(n->inputs[s] == value, grow_through_node(r, r->reader[k], s, value, error));
  }
  return CM_OK;
}

static cm_status list_readers(cm_region *r, cm_error *error)
{
  const cm_model *m = r->p->model;
  size_t total = 0;
  CM_TRY(CM_ARENA_NEW(&r->arena, r->reader_first, m->value_count + 2, error));
  for (size_t i = 0; i < m->order_count; i++) {
    const cm_node *n = &m->nodes[m->order[i]];
    for (uint32_t s = 0; s < n->input_count; s++)
      if (n->inputs[s] != CM_NONE) {
        r->reader_first[n->inputs[s] + 2]++;
        total++;
      }
  }
  for (size_t v = 2; v < m->value_count + 2; v++)
    r->reader_first[v] += r->reader_first[v - 1];
  CM_TRY(CM_ARENA_NEW(&r->arena, r->reader, total, error));
  for (size_t i = 0; i < m->order_count; i++) {
    const cm_node *n = &m->nodes[m->order[i]];
    for (uint32_t s = 0; s < n->input_count; s++)
      if (n->inputs[s] != CM_NONE)
        r->reader[r->reader_first[n->inputs[s] + 1]++] = m->order[i];
  }
  return CM_OK;
}

cm_status cm_region_grow(cm_region *r, uint32_t seed, cm_error *error)
{
  const cm_model *m = r->p->model;
  const cm_node *n = &m->nodes[seed];
  cm_layout back = cm_layout_invert(r->p->maps, n->layout);
  CM_TRY(CM_ARENA_NEW(&r->arena, r->value, m->value_count, error));
  CM_TRY(CM_ARENA_NEW(&r->arena, r->group_of, m->node_count, error));
  CM_TRY(CM_ARENA_NEW(&r->arena, r->queue, m->value_count, error));
  CM_TRY(list_readers(r, error));
  if (!add_value(r, n->inputs[0], n->layout, 0) || !add_value(r, n->outputs[0], &back, 1))
    return CM_OK;
  while (r->queue_head < r->queue_tail)
    CM_TRY(grow_from(r, r->queue[r->queue_head++], error));
  return CM_OK;
}

const cm_tie_group *cm_region_group_at(const cm_region *r, uint32_t node, uint32_t slot)
{
  for (uint32_t g = r->group_of[node]; g != 0; g = r->groups[g - 1].next)
    if (r->groups[g - 1].tied[slot])
      return &r->groups[g - 1];
  return NULL;
}

const cm_tie_group *cm_region_making_group(const cm_region *r, uint32_t value)
{
  const cm_model *m = r->p->model;
  uint32_t producer = m->values[value].producer;
  for (uint32_t o = 0; producer != CM_NONE && o < m->nodes[producer].output_count; o++)
    if (m->nodes[producer].outputs[o] == value)
      return cm_region_group_at(r, producer, m->nodes[producer].input_count + o);
  return NULL;
}
