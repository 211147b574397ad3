/* Builds models. What can fail: memory, too many pairs. */
#include "core/constraints/model_building.h"

#include <string.h>

#include "base/random.h"

static bool is_out(const bool *list, uint32_t number)
{
  return list != NULL && list[number];
}

static uint32_t leader_of(cm_model_building *b, uint32_t node)
{
  while (b->leader[node] != node)
    node = b->leader[node] = b->leader[b->leader[node]];
  return node;
}

/* ---- variables ---- */

static void join_nodes(cm_model_building *b)
{
  for (uint32_t i = 0; i < b->p->node_count; i++)
    b->leader[i] = i;
  for (uint32_t i = 0; i < b->p->constraints.count; i++) {
    const cm_constraint *c = &b->p->constraints.constraint[i];
    if (c->kind != CM_TOGETHER || c->scope != CM_SCOPE_CORE || is_out(b->out->constraint, i))
      continue;
    uint32_t before = UINT32_MAX;
    for (uint32_t k = 0; k < c->of_count; k++) {
      if (is_out(b->out->node, c->of[k]))
        continue;
      if (before != UINT32_MAX)
        b->leader[leader_of(b, c->of[k])] = leader_of(b, before);
      before = c->of[k];
    }
  }
}

static cm_status number_variables(cm_model_building *b, cm_error *error)
{
  cm_place_model *m = b->m;
  join_nodes(b);
  for (uint32_t i = 0; i < b->p->node_count; i++)
    m->variable_of[i] = UINT32_MAX;
  for (uint32_t i = 0; i < b->p->node_count; i++) {
    const uint32_t leader = leader_of(b, i);
    if (is_out(b->out->node, i))
      continue;
    if (m->variable_of[leader] == UINT32_MAX)
      m->variable_of[leader] = m->variables++;
    m->variable_of[i] = m->variable_of[leader];
  }
  return CM_NEW_ALL(b->memory, error, CM_ARRAY(m->domain, (size_t)m->variables * m->words), CM_ARRAY(b->role, m->variables));
}

static void keep(cm_place_model *m, uint32_t variable, const uint64_t *tiles, bool inside)
{
  for (uint32_t w = 0; w < m->words; w++)
    cm_model_domain(m, variable)[w] &= inside ? tiles[w] : ~tiles[w];
}

/* Tiles that are there, and of each node's kind. */
static cm_status first_domains(cm_model_building *b, cm_error *error)
{
  cm_place_model *m = b->m;
  uint64_t *tiles;
  CM_TRY(CM_NEW(b->memory, tiles, m->words, error));
  memset(m->domain, 0xff, (size_t)m->variables * m->words * sizeof *m->domain);
  const bool kinds = !is_out(b->out->limit, CM_LIMIT_KINDS);
  for (uint32_t i = 0; i < b->p->node_count; i++) {
    const uint16_t kind = b->p->node[i].kind;
    if (m->variable_of[i] == UINT32_MAX)
      continue;
    memset(tiles, 0, m->words * sizeof *tiles);
    for (uint32_t t = 0; t < m->tiles; t++)
      if (b->p->tile[t].kind != CM_NO_KIND && (!kinds || kind == CM_NO_KIND || b->p->tile[t].kind == kind))
        cm_tile_add(tiles, t);
    keep(m, m->variable_of[i], tiles, true);
  }
  cm_free(tiles);
  return CM_OK;
}

/* ---- constraints ---- */

static cm_status relate(cm_model_building *b, uint32_t from, uint32_t to, cm_relation relation, cm_error *error)
{
  cm_place_model *m = b->m;
  if (from == to) { /* one variable is both: only tiles that go with themselves are left */
    for (uint32_t t = 0; t < m->tiles; t++)
      if (cm_tile_in(cm_model_domain(m, from), t) && !cm_relation_holds(m, &relation, t, t))
        cm_model_domain(m, from)[t / 64] &= ~(UINT64_C(1) << t % 64);
    return CM_OK;
  }
  if (b->pair_count + 2 > CM_MODEL_RELATIONS_MAX)
    return cm_fail(error, CM_TOO_LARGE, "constraints relate more than %d pairs of nodes", CM_MODEL_RELATIONS_MAX / 2);
  CM_TRY(CM_ROOM(b->memory, b->pair, &b->pair_capacity, b->pair_count + 2, error));
  relation.other = to;
  b->pair[b->pair_count++] = (struct pair){from, relation};
  relation.other = from;
  relation.table++;
  b->pair[b->pair_count++] = (struct pair){to, relation};
  return CM_OK;
}

/* Between each of `of` and each of `to`; without `to` between neighbours in the list, or all pairs. */
static cm_status relate_all(cm_model_building *b, const cm_constraint *c, cm_relation relation, bool all, cm_error *error)
{
  const uint32_t *variable_of = b->m->variable_of;
  cm_status status = CM_OK;
  for (uint32_t i = 0; i < c->of_count && status == CM_OK; i++) {
    const uint32_t from = variable_of[c->of[i]];
    const uint32_t *to = c->to_count > 0 ? c->to : c->of;
    const uint32_t begin = c->to_count > 0 ? 0 : i + 1, end = c->to_count > 0 ? c->to_count : all || i + 2 > c->of_count ? c->of_count : i + 2;
    for (uint32_t k = begin; k < end && status == CM_OK; k++)
      if (from != UINT32_MAX && variable_of[to[k]] != UINT32_MAX)
        status = relate(b, from, variable_of[to[k]], relation, error);
  }
  return status;
}

static cm_status add_packing(cm_model_building *b, cm_scope scope, uint32_t count, cm_packing **made, cm_error *error)
{
  cm_place_model *m = b->m;
  CM_TRY(cm_model_label(b, scope, error));
  CM_TRY(CM_ROOM(b->memory, m->packing, &b->packing_capacity, m->packing_count + 1, error));
  cm_packing *p = &m->packing[m->packing_count++];
  *p = (cm_packing){.scope = scope, .buckets = m->labels[scope]};
  CM_TRY(CM_NEW_ALL(b->memory, error, CM_ARRAY(p->variable, count), CM_ARRAY(p->need, count), CM_ARRAY(p->capacity, p->buckets)));
  *made = p;
  return CM_OK;
}

static cm_status add_apart(cm_model_building *b, const cm_constraint *c, cm_error *error)
{
  cm_packing *p;
  CM_TRY(add_packing(b, c->scope, c->of_count, &p, error));
  for (uint32_t i = 0; i < c->of_count; i++) {
    if (b->m->variable_of[c->of[i]] == UINT32_MAX)
      continue;
    p->variable[p->count] = b->m->variable_of[c->of[i]];
    p->need[p->count++] = 1;
  }
  for (uint32_t i = 0; i < p->buckets; i++)
    p->capacity[i] = 1;
  return CM_OK;
}

static cm_status add_chain(cm_model_building *b, const cm_constraint *c, cm_error *error)
{
  cm_place_model *m = b->m;
  CM_TRY(cm_model_links(b, error));
  CM_TRY(CM_ROOM(b->memory, m->chain, &b->chain_capacity, m->chain_count + 1, error));
  cm_chain *chain = &m->chain[m->chain_count++];
  *chain = (cm_chain){0};
  CM_TRY(CM_NEW(b->memory, chain->variable, c->of_count, error));
  for (uint32_t i = 0; i < c->of_count; i++)
    if (m->variable_of[c->of[i]] != UINT32_MAX)
      chain->variable[chain->count++] = m->variable_of[c->of[i]];
  return CM_OK;
}

static cm_status add_pin(cm_model_building *b, const cm_constraint *c, cm_error *error)
{
  cm_place_model *m = b->m;
  uint64_t *tiles;
  CM_TRY(CM_NEW(b->memory, tiles, m->words, error));
  for (uint32_t i = 0; i < c->at_count; i++)
    for (uint32_t y = c->at[i].y0; y <= c->at[i].y1; y++)
      for (uint32_t x = c->at[i].x0; x <= c->at[i].x1; x++)
        cm_tile_add(tiles, y * b->p->width + x);
  for (uint32_t i = 0; i < c->of_count; i++)
    if (m->variable_of[c->of[i]] != UINT32_MAX)
      keep(m, m->variable_of[c->of[i]], tiles, c->kind == CM_PIN);
  cm_free(tiles);
  return CM_OK;
}

/* What a variable does in a constraint: its side, and its place in the list where that matters. */
static void note_roles(cm_model_building *b, uint32_t number)
{
  const cm_constraint *c = &b->p->constraints.constraint[number];
  const bool listed = (c->kind == CM_ADJACENT || (c->kind == CM_ORDER && c->side != CM_WITHIN_HOPS)) && c->to_count == 0;
  for (uint32_t i = 0; i < c->of_count + c->to_count; i++) {
    const uint32_t v = b->m->variable_of[i < c->of_count ? c->of[i] : c->to[i - c->of_count]];
    const uint64_t role = ((uint64_t)number << 32) + (i < c->of_count ? 0 : 1) + (listed ? i + 2 : 0);
    if (v != UINT32_MAX && c->kind != CM_PIN && c->kind != CM_NOT_HERE && !(c->kind == CM_TOGETHER && c->scope == CM_SCOPE_CORE))
      b->role[v] += cm_mix(role);
  }
}

static cm_status add_constraint(cm_model_building *b, uint32_t number, cm_error *error)
{
  const cm_constraint *c = &b->p->constraints.constraint[number];
  cm_relation relation = {.kind = CM_BY_TABLE, .scope = (uint8_t)c->scope};
  note_roles(b, number);
  switch (c->kind) {
    case CM_PIN:
    case CM_NOT_HERE: return add_pin(b, c, error);
    case CM_CONNECTED: return add_chain(b, c, error);
    case CM_APART:
      if (c->to_count == 0)
        return add_apart(b, c, error);
      relation.kind = CM_OTHER_LABEL;
      return cm_model_label(b, c->scope, error) == CM_OK ? relate_all(b, c, relation, true, error) : error->status;
    case CM_TOGETHER:
      relation.kind = CM_SAME_LABEL;
      if (c->scope == CM_SCOPE_CORE)
        return CM_OK;
      return cm_model_label(b, c->scope, error) == CM_OK ? relate_all(b, c, relation, false, error) : error->status;
    default:
      return cm_model_tables(b, c, &relation.table, error) == CM_OK ? relate_all(b, c, relation, c->kind == CM_ORDER && c->side == CM_WITHIN_HOPS, error)
                                                              : error->status;
  }
}

/* What all variables that need something of a limit take of it in tiles, or behind routers, or on chips. */
static cm_status add_limit(cm_model_building *b, cm_scope scope, uint32_t limit, uint64_t capacity, cm_error *error)
{
  cm_place_model *m = b->m;
  const cm_problem *p = b->p;
  cm_packing *packing;
  CM_TRY(add_packing(b, scope, m->variables, &packing, error));
  for (uint32_t i = 0; i < p->node_count; i++)
    if (m->variable_of[i] != UINT32_MAX)
      packing->need[m->variable_of[i]] += p->node[i].need[limit];
  for (uint32_t v = 0; v < m->variables; v++) {
    b->role[v] += cm_mix(packing->need[v] ^ (uint64_t)(limit + 1) << 60);
    if (packing->need[v] > 0) {
      packing->variable[packing->count] = v;
      packing->need[packing->count++] = packing->need[v];
    }
  }
  for (uint32_t i = 0; i < packing->buckets; i++)
    packing->capacity[i] = scope != CM_SCOPE_CORE ? capacity : p->tile[i].kind == CM_NO_KIND ? 0 : p->tile[i].limit[limit];
  return CM_OK;
}

static cm_status add_limits(cm_model_building *b, cm_error *error)
{
  cm_status status = CM_OK;
  for (uint32_t l = 0; l < CM_TILE_LIMITS && status == CM_OK; l++) {
    if (is_out(b->out->limit, l))
      continue;
    status = add_limit(b, CM_SCOPE_CORE, l, 0, error);
    CM_THEN_IF(status, b->p->router_limit[l] != UINT64_MAX, add_limit(b, CM_SCOPE_ROUTER, l, b->p->router_limit[l], error));
    CM_THEN_IF(status, b->p->chip_limit[l] != UINT64_MAX, add_limit(b, CM_SCOPE_CHIP, l, b->p->chip_limit[l], error));
  }
  return status;
}

static cm_status build(cm_model_building *b, cm_error *error)
{
  cm_place_model *m = b->m;
  cm_status status = number_variables(b, error);
  CM_THEN(status, first_domains(b, error));
  for (uint32_t i = 0; i < b->p->constraints.count && status == CM_OK; i++)
    if (!is_out(b->out->constraint, i))
      status = add_constraint(b, i, error);
  CM_THEN(status, add_limits(b, error));
  CM_THEN(status, cm_model_sort_relations(b, error));
  CM_THEN(status, cm_model_collect_nets(b, error));
  CM_THEN(status, cm_model_collect_circuits(b, error));
  CM_THEN(status, cm_model_find_alike(b, error));
  for (uint32_t v = 0; v < m->variables && status == CM_OK && m->tiles % 64 != 0; v++)
    cm_model_domain(m, v)[m->words - 1] &= ~(~UINT64_C(0) << m->tiles % 64);
  return status;
}

cm_status cm_place_model_new(const cm_problem *problem, const cm_left_out *out, cm_memory *memory, cm_place_model **model, cm_error *error)
{
  static const cm_left_out nothing = {NULL, NULL, NULL};
  cm_model_building b = {.p = problem, .out = out != NULL ? out : &nothing, .memory = memory};
  CM_TRY(CM_NEW(memory, b.m, 1, error));
  b.m->problem = problem;
  b.m->tiles = cm_problem_tiles(problem);
  b.m->words = (b.m->tiles + 63) / 64;
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(b.m->variable_of, problem->node_count), CM_ARRAY(b.leader, problem->node_count),
                                               CM_ARRAY(b.tabled, problem->constraints.count));
  CM_THEN(status, build(&b, error));
  CM_FREE(b.leader, b.tabled, b.role, b.pair);
  CM_END(status, *model = b.m, cm_place_model_free(b.m));
}

void cm_place_model_free(cm_place_model *m)
{
  if (m == NULL)
    return;
  for (uint32_t s = 0; s < CM_SCOPES; s++) {
    CM_FREE(m->label[s], m->mask[s]);
  }
  for (uint32_t t = 0; t < m->table_count; t++)
    cm_free(m->table[t]);
  for (uint32_t i = 0; i < m->packing_count; i++) {
    CM_FREE(m->packing[i].variable, m->packing[i].need, m->packing[i].capacity);
  }
  for (uint32_t i = 0; i < m->chain_count; i++)
    cm_free(m->chain[i].variable);
  CM_FREE(m->variable_of, m->domain, m->table, m->links, m->relation, m->first_relation, m->packing, m->chain, m->alike, m->first, m->pin, m->first_net, m->net_of,
          m->weight, m->circuit, m->first_circuit, m->circuit_of, m);
}

bool cm_relation_holds(const cm_place_model *m, const cm_relation *relation, uint32_t tile, uint32_t other)
{
  if (relation->kind == CM_BY_TABLE)
    return cm_tile_in(&m->table[relation->table][(size_t)tile * m->words], other);
  const uint32_t *label = m->label[relation->scope];
  return (label[tile] == label[other]) == (relation->kind == CM_SAME_LABEL);
}
