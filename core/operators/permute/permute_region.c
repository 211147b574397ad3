/* Where a permutation goes, decided for its whole region at once.
 *
 * The permutation pi at the seed makes y = pi(x). From x and y on, a region of values is grown in which each value
 * could be stored either as it is or as it would be on the other side of pi: a value before pi could be stored already
 * permuted, one behind it still unpermuted. In terms of "before" and "after" every value has two forms, one of which is
 * its present one; an operator that lets the permutation pass ties its inputs and outputs to one form. Wherever two
 * neighbours disagree, a permutation has to stand, and moves the bytes of the value between them. Choosing the forms at
 * least cost is a minimum cut: source's side = before, sink's side = after. Residual chains, branches and concats are
 * decided together that way.
 *
 * Growing is in permute_grow.c, what is done then in permute_carry.c.
 *
 * Costs: several readers that want the other form share one permutation, hence two auxiliary nodes a value. Ties go to
 * what changes the least. */
#include "core/operators/permute/permute_region.h"

/* One unit of cost is 1 / SCALE byte, so that changes without gain cost something. */
enum { SCALE = 4096 };

/* ---- the cut ---- */

/* A form that cannot change: on its own side. */
static uint32_t fixed(uint8_t phase)
{
  return phase == 0 ? CM_CUT_SOURCE : CM_CUT_SINK;
}

/* The form in which a value is made. */
static void find_variable(cm_region *r, uint32_t value)
{
  const cm_model *m = r->p->model;
  uint32_t producer = m->values[value].producer;
  cm_region_value *v = &r->value[value];
  const cm_tie_group *g = cm_region_making_group(r, value);
  v->turned = g == NULL && cm_product_makes_turned(r->p, value, &v->other);
  if (v->turned || (producer != CM_NONE && m->nodes[producer].layout != NULL))
    v->variable = cm_cut_node(&r->cut);
  else
    v->variable = g != NULL ? g->variable : fixed(v->phase);
}

/* A product reads a value for nothing in either form. */
static bool reads_either(cm_region *r, uint32_t value, uint32_t node, uint32_t slot)
{
  const cm_region_value *v = &r->value[value];
  int64_t stored[CM_RANK_MAX];
  cm_layout back = cm_layout_invert(r->p->maps, &v->other);
  cm_layout_dims(&v->other, r->p->model->values[value].shape.dims, stored);
  return cm_product_reads_turned(r->p, node, slot, &back, stored);
}

static int64_t cost_of(const cm_region *r, const cm_layout *layout, uint32_t value)
{
  return (int64_t)cm_layout_bytes(r->p, layout, &r->p->model->values[value]) * SCALE;
}

/* cost[i][j] is paid when `a` is on side i and `b` on side j; where no cut can say it, the excess is put on
 * disagreement. */
static cm_status add_pair(cm_region *r, uint32_t a, uint32_t b, int64_t cost[2][2], cm_error *error)
{
  int64_t c00 = cost[0][0], c01 = cost[0][1], c10 = cost[1][0], c11 = cost[1][1];
  if (c01 + c10 < c00 + c11)
    c01 = c00 + c11 - c10;
  /* c = c00 + [a=1](c10 - c00) + [b=1](c11 - c10) + [a=0, b=1](c01 + c10 - c00 - c11) */
  int64_t on_a = c10 - c00, on_b = c11 - c10;
  CM_TRY(cm_cut_edge(&r->cut, on_a > 0 ? CM_CUT_SOURCE : a, on_a > 0 ? a : CM_CUT_SINK, on_a > 0 ? on_a : -on_a, error));
  CM_TRY(cm_cut_edge(&r->cut, on_b > 0 ? CM_CUT_SOURCE : b, on_b > 0 ? b : CM_CUT_SINK, on_b > 0 ? on_b : -on_b, error));
  return cm_cut_edge(&r->cut, a, b, c01 + c10 - c00 - c11, error);
}

/* A reader that wants another layout than the value's two forms: two forms of its own. */
static cm_status add_misfit(cm_region *r, uint32_t value, const cm_tie_group *g, uint32_t slot, cm_error *error)
{
  const cm_region_value *v = &r->value[value];
  int64_t cost[2][2];
  cm_layout plain = cm_layout_identity(v->other.rank);
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      const cm_layout *made = i == v->phase ? &plain : &v->other, *wanted = j == g->phase ? &plain : &g->layout[slot];
      cm_layout back = cm_layout_invert(r->p->maps, made), step = cm_layout_compose(r->p->maps, &back, wanted);
      cost[i][j] = cost_of(r, &step, value);
    }
  return add_pair(r, v->variable, g->variable, cost, error);
}

/* A permutation between two values of the region (or one that lies outside): what it would be in each pair of forms. */
static cm_status add_layout_node(cm_region *r, uint32_t node, cm_error *error)
{
  const cm_node *n = &r->p->model->nodes[node];
  uint32_t a = n->inputs[0], b = n->outputs[0];
  const cm_region_value *va = &r->value[a], *vb = &r->value[b];
  cm_maps *maps = r->p->maps;
  int64_t cost[2][2];
  cm_layout plain = cm_layout_identity(n->layout->rank);
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      const cm_layout *from = !va->in || i == va->phase ? &plain : &va->other,
                      *to = !vb->in || j == vb->phase ? &plain : &vb->other;
      cm_layout back = cm_layout_invert(maps, from), step = cm_layout_compose(maps, &back, n->layout);
      step = cm_layout_compose(maps, &step, to);
      cost[i][j] = (!va->in || i == va->phase) && (!vb->in || j == vb->phase) && cm_permute_is_free(r->p, node) ? 0 : cost_of(r, &step, a);
    }
  uint32_t x = va->in ? va->variable : CM_CUT_SOURCE, y = vb->in ? vb->variable : CM_CUT_SOURCE;
  return add_pair(r, x, y, cost, error);
}

/* All readers of one value, and what each of them wants. */
static cm_status add_readers(cm_region *r, uint32_t value, cm_error *error)
{
  const cm_model *m = r->p->model;
  cm_region_value *v = &r->value[value];
  int64_t cost = cost_of(r, &v->other, value);
  uint32_t after = CM_NONE, before = CM_NONE;
  for (uint32_t k = r->reader_first[value]; k <= r->reader_first[value + 1]; k++) {
    bool last = k == r->reader_first[value + 1];
    const cm_node *n = last ? NULL : &m->nodes[r->reader[k]];
    if (last ? !cm_model_is_output(m, value) : n->layout != NULL)
      continue;
    for (uint32_t s = 0; s < (last ? 1 : n->input_count); s++) {
      if (!last && n->inputs[s] != value)
        continue;
      const cm_tie_group *g = last ? NULL : cm_region_group_at(r, r->reader[k], s);
      if (!last && g == NULL && reads_either(r, value, r->reader[k], s))
        continue;
      if (g != NULL && !cm_layout_equal(&g->layout[s], &v->other)) {
        CM_TRY(add_misfit(r, value, g, s, error));
        continue;
      }
      uint32_t wants = g != NULL ? g->variable : fixed(v->phase);
      if (after == CM_NONE) {
        after = cm_cut_node(&r->cut);
        before = cm_cut_node(&r->cut);
        CM_TRY(cm_cut_edge(&r->cut, v->variable, after, cost, error));
        CM_TRY(cm_cut_edge(&r->cut, before, v->variable, cost, error));
      }
      CM_TRY(cm_cut_edge(&r->cut, after, wants, CM_CUT_INFINITE, error));
      CM_TRY(cm_cut_edge(&r->cut, wants, before, CM_CUT_INFINITE, error));
    }
  }
  return CM_OK;
}

static cm_status build_cut(cm_region *r, cm_error *error)
{
  const cm_model *m = r->p->model;
  for (size_t v = 0; v < m->value_count; v++)
    if (r->value[v].in)
      find_variable(r, (uint32_t)v);
  for (size_t i = 0; i < r->group_count; i++) {
    const cm_tie_group *g = &r->groups[i];
    CM_TRY(cm_cut_edge(&r->cut, g->phase == 0 ? CM_CUT_SOURCE : g->variable, g->phase == 0 ? g->variable : CM_CUT_SINK, 1,
                       error));
  }
  for (size_t v = 0; v < m->value_count; v++) {
    const cm_region_value *x = &r->value[v];
    if (x->in && ((x->turned && cm_cut_edge(&r->cut, x->phase == 0 ? CM_CUT_SOURCE : x->variable, x->phase == 0 ? x->variable : CM_CUT_SINK,
                                            1, error) != CM_OK) ||
                  add_readers(r, (uint32_t)v, error) != CM_OK))
      return error->status;
  }
  for (size_t i = 0; i < m->order_count; i++) {
    const cm_node *n = &m->nodes[m->order[i]];
    CM_TRY_IF(n->layout != NULL && (r->value[n->inputs[0]].in || r->value[n->outputs[0]].in), add_layout_node(r, m->order[i], error));
  }
  return CM_OK;
}

/* ---- one region ---- */

/* Reads the cut; true when anything changes form. */
static bool read_cut(cm_region *r, const uint8_t *side)
{
  bool any = false;
  for (size_t i = 0; i < r->group_count; i++) {
    cm_tie_group *g = &r->groups[i];
    g->switched = side[g->variable] != g->phase;
    any = any || g->switched;
  }
  for (size_t v = 0; v < r->p->model->value_count; v++) {
    cm_region_value *x = &r->value[v];
    x->made_switched = x->in && side[x->variable] != x->phase;
    any = any || x->made_switched;
  }
  return any;
}

cm_status cm_permute_region(cm_permute *p, uint32_t seed, uint64_t *gain, cm_error *error)
{
  cm_region r = {.p = p};
  cm_model *given = p->model, *copy = NULL;
  uint8_t *side = NULL;
  int64_t cost;
  size_t moves = json_array_size(p->moves);
  *gain = 0;
  cm_arena_init(&r.arena, given->arena.memory);
  cm_cut_init(&r.cut, &r.arena);
  cm_status status = cm_region_grow(&r, seed, error);
  CM_THEN(status, build_cut(&r, error));
  CM_THEN(status, cm_cut_solve(&r.cut, &side, &cost, error));
  if (status == CM_OK && p->maps->error.status != CM_OK) {
    *error = p->maps->error;
    status = error->status;
  }
  /* The cut's costs leave out what permutations share by chance; what counts is the whole before and after. */
  if (status == CM_OK && read_cut(&r, side) &&
      (status = cm_model_copy(given, given->arena.memory, &copy, error)) == CM_OK) {
    uint64_t before = cm_permute_total(p), after;
    p->model = copy;
    status = cm_region_carry_out(&r, error);
    after = status == CM_OK ? cm_permute_total(p) : 0;
    if (status == CM_OK && after < before) {
      *gain = before - after;
      cm_model_free(given);
    } else {
      cm_model_free(copy);
      p->model = given;
      while (json_array_size(p->moves) > moves)
        (void)json_array_remove(p->moves, json_array_size(p->moves) - 1);
    }
  }
  cm_arena_free(&r.arena);
  return status;
}
