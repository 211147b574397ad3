/* Reads placement problems. What can fail: unknown fields, numbers out of range, names that are not there or twice; memory. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "core/constraints/problem_reading.h"

static const json_int_t WEIGHT_MAX = (json_int_t)1 << 30;

const char *const cm_tile_limit_names[CM_TILE_LIMITS] = {"nodes", "memory", "channels_in", "channels_out"};

/* ---- nodes ---- */

/* What a node is: its tiles' kind, which has to be there. */
static cm_status read_node_kind(const cm_problem *p, const json_t *kind, const char *where, uint16_t *number, cm_error *error)
{
  *number = CM_NO_KIND;
  if (kind == NULL)
    return CM_OK;
  if (!json_is_string(kind))
    return cm_problem_bad(where, "\"kind\" to be text", error);
  for (uint32_t k = 0; k < p->kind_count; k++)
    if (strcmp(p->kind[k], json_string_value(kind)) == 0)
      *number = (uint16_t)k;
  return *number != CM_NO_KIND ? CM_OK : cm_json_fail(error, CM_BAD_OPTION, where, "%s/kind: the array has no tiles of kind \"%.60s\"", where,
                                                      json_string_value(kind));
}

static cm_status read_node(cm_problem_reading *r, uint32_t number, const json_t *object, cm_error *error)
{
  static const char *const fields[] = {"name", "kind", "group", "memory", "channels_in", "channels_out", NULL};
  cm_problem *p = r->p;
  cm_problem_node *node = &p->node[number];
  char where[CM_JSON_PLACE_MAX];
  (void)cm_json_place(where, "/nodes/%u", number);
  const char *name = json_string_value(json_object_get(object, "name"));
  const json_t *group = json_object_get(object, "group");
  if (name == NULL || name[0] == '\0')
    return cm_problem_bad(where, "an object with a \"name\"", error);
  CM_TRY(cm_json_known_fields(object, where, fields, CM_BAD_OPTION, error));
  CM_TRY(read_node_kind(p, json_object_get(object, "kind"), where, &node->kind, error));
  CM_TRY(CM_NEW(r->memory, node->name, strlen(name) + 1, error));
  memcpy(node->name, name, strlen(name) + 1);
  node->need[CM_TILE_NODES] = 1;
  for (size_t l = CM_TILE_MEMORY; l < CM_TILE_LIMITS; l++)
    CM_TRY(cm_problem_whole(object, where, cm_tile_limit_names[l], CM_NEED_MAX, &node->need[l], error));
  if (group == NULL)
    return CM_OK;
  if (!json_is_string(group))
    return cm_problem_bad(where, "\"group\" to be text", error);
  uint32_t at;
  CM_TRY(cm_problem_intern(r, (cm_problem_names){&p->group, &p->group_count, CM_PROBLEM_NODES_MAX}, json_string_value(group), &at, error));
  p->group_of[number] = at + 1;
  return CM_OK;
}

static int by_name(const void *a, const void *b, void *context)
{
  const cm_problem *p = context;
  return strcmp(p->node[*(const uint32_t *)a].name, p->node[*(const uint32_t *)b].name);
}

static cm_status read_nodes(cm_problem_reading *r, const json_t *list, cm_error *error)
{
  cm_problem *p = r->p;
  if (!json_is_array(list) || json_array_size(list) == 0 || json_array_size(list) > CM_PROBLEM_NODES_MAX)
    return cm_problem_bad("/nodes", "a list of 1 to 4096 nodes", error);
  p->node_count = (uint32_t)json_array_size(list);
  CM_TRY(CM_NEW_ALL(r->memory, error, CM_ARRAY(p->node, p->node_count), CM_ARRAY(p->group_of, p->node_count), CM_ARRAY(r->by_name, p->node_count)));
  for (uint32_t i = 0; i < p->node_count; i++) {
    r->by_name[i] = i;
    CM_TRY(read_node(r, i, json_array_get(list, i), error));
  }
  qsort_r(r->by_name, p->node_count, sizeof *r->by_name, by_name, p);
  for (uint32_t i = 0; i + 1 < p->node_count; i++) {
    const uint32_t a = r->by_name[i], b = r->by_name[i + 1];
    char where[CM_JSON_PLACE_MAX];
    (void)cm_json_place(where, "/nodes/%u/name", a > b ? a : b);
    if (strcmp(p->node[a].name, p->node[b].name) == 0)
      return cm_json_fail(error, CM_BAD_OPTION, where, "%s: another node is called \"%.60s\" too", where, p->node[a].name);
  }
  return CM_OK;
}

/* ---- nets ---- */

static cm_status add_pin(cm_problem_reading *r, const json_t *name, const char *where, cm_error *error)
{
  cm_problem *p = r->p;
  if (!json_is_string(name))
    return cm_problem_bad(where, "the name of a node", error);
  uint32_t from = 0, to = p->node_count;
  while (from + 1 < to) {
    const uint32_t middle = from + (to - from) / 2;
    if (strcmp(p->node[r->by_name[middle]].name, json_string_value(name)) <= 0)
      from = middle;
    else
      to = middle;
  }
  const uint32_t node = r->by_name[from];
  if (strcmp(p->node[node].name, json_string_value(name)) != 0)
    return cm_json_fail(error, CM_BAD_OPTION, where, "%s: no node is called \"%.60s\"", where, json_string_value(name));
  for (uint32_t i = p->first[p->net_count]; i < p->first[p->net_count + 1]; i++)
    if (p->pin[i] == node)
      return CM_OK;
  CM_TRY(CM_ROOM(r->memory, p->pin, &r->pin_capacity, p->first[p->net_count + 1] + 1, error));
  p->pin[p->first[p->net_count + 1]++] = node;
  return CM_OK;
}

static cm_status read_net(cm_problem_reading *r, const json_t *object, const char *where, bool edge, cm_error *error)
{
  static const char *const fields_of_edges[] = {"from", "to", "weight", NULL}, *const fields_of_nets[] = {"nodes", "weight", NULL};
  cm_problem *p = r->p;
  const json_t *nodes = json_object_get(object, "nodes");
  char place[CM_JSON_PLACE_MAX];
  if (!json_is_object(object))
    return cm_problem_bad(where, edge ? "an object: from, to and weight" : "an object: nodes and weight", error);
  CM_TRY(cm_json_known_fields(object, where, edge ? fields_of_edges : fields_of_nets, CM_BAD_OPTION, error));
  p->weight[p->net_count] = 1;
  p->first[p->net_count + 1] = p->first[p->net_count];
  cm_status status = cm_problem_whole(object, where, "weight", WEIGHT_MAX, &p->weight[p->net_count], error);
  (void)cm_json_place(place, "%s/nodes", where);
  if (status == CM_OK && !edge && (!json_is_array(nodes) || json_array_size(nodes) < 2))
    return cm_problem_bad(place, "a list of at least two names", error);
  for (size_t i = 0; status == CM_OK && i < (edge ? 2 : json_array_size(nodes)); i++) {
    if (edge)
      (void)cm_json_place(place, "%s/%s", where, i == 0 ? "from" : "to");
    else
      (void)cm_json_place(place, "%s/nodes/%zu", where, i);
    status = add_pin(r, edge ? json_object_get(object, i == 0 ? "from" : "to") : json_array_get(nodes, i), place, error);
  }
  p->net_count++;
  return status;
}

static cm_status read_nets(cm_problem_reading *r, const json_t *edges, const json_t *nets, cm_error *error)
{
  cm_problem *p = r->p;
  const size_t count = json_array_size(edges) + json_array_size(nets);
  if ((edges != NULL && !json_is_array(edges)) || (nets != NULL && !json_is_array(nets)))
    return cm_problem_bad(edges != NULL && !json_is_array(edges) ? "/edges" : "/nets", "a list", error);
  p->edge_count = (uint32_t)json_array_size(edges);
  cm_status status = CM_NEW_ALL(r->memory, error, CM_ARRAY(p->first, count + 1), CM_ARRAY(p->weight, count));
  for (size_t i = 0; status == CM_OK && i < count; i++) {
    const bool edge = i < json_array_size(edges);
    const size_t number = edge ? i : i - json_array_size(edges);
    char where[CM_JSON_PLACE_MAX];
    (void)cm_json_place(where, "/%s/%zu", edge ? "edges" : "nets", number);
    status = read_net(r, json_array_get(edge ? edges : nets, number), where, edge, error);
  }
  return status;
}

/* ---- constraints ---- */

static const char *name_of(const void *context, uint32_t node)
{
  return ((const cm_problem *)context)->node[node].name;
}

static bool group_named(const void *context, CM_UNUSED const char *kind, const json_t *name, void (*take)(void *user,
                        uint32_t member), void *user)
{
  const cm_problem *p = context;
  uint32_t group = 0;
  while (group < p->group_count && json_is_string(name) && strcmp(p->group[group], json_string_value(name)) != 0)
    group++;
  if (!json_is_string(name) || group == p->group_count)
    return false;
  for (uint32_t i = 0; i < p->node_count; i++)
    if (p->group_of[i] == group + 1)
      take(user, i);
  return true;
}

static cm_status read_constraints(cm_problem_reading *r, const json_t *list, cm_error *error)
{
  static const char *const groups[] = {"group", NULL};
  cm_problem *p = r->p;
  const cm_constraint_world world = {.what = "node", .count = p->node_count, .numbered = p->node_count, .name = name_of, .group = group_named, .groups = groups, .context = p,
                                     .width = p->width, .height = p->height, .router_x = p->router_x, .router_y = p->router_y, .chip_x = p->chip_x,
                                     .chip_y = p->chip_y, .status = CM_BAD_OPTION};
  return list == NULL ? CM_OK : cm_constraints_read(list, "/constraints", &world, r->memory, &p->constraints, error);
}

cm_status cm_problem_read(const json_t *root, cm_memory *memory, cm_problem **problem, cm_error *error)
{
  static const char *const fields[] = {"array", "nodes", "edges", "nets", "constraints", NULL};
  cm_problem_reading r = {.memory = memory};
  if (!json_is_object(root))
    return cm_problem_bad("/", "an object: array, nodes, edges, nets and constraints", error);
  CM_TRY(cm_json_known_fields(root, "", fields, CM_BAD_OPTION, error));
  CM_TRY(CM_NEW(memory, r.p, 1, error));
  cm_status status = cm_problem_read_array(&r, json_object_get(root, "array"), error);
  CM_THEN(status, read_nodes(&r, json_object_get(root, "nodes"), error));
  CM_THEN(status, read_nets(&r, json_object_get(root, "edges"), json_object_get(root, "nets"), error));
  CM_THEN(status, read_constraints(&r, json_object_get(root, "constraints"), error));
  cm_free(r.by_name);
  CM_END(status, *problem = r.p, cm_problem_free(r.p));
}

cm_status cm_problem_parse(const char *text, size_t size, cm_memory *memory, cm_problem **problem, cm_error *error)
{
  json_t *root;
  CM_TRY(cm_json_load(text, size, &(cm_document){"problem", CM_PROBLEM_BYTES_MAX, CM_BAD_OPTION}, &root, error));
  cm_status status = cm_problem_read(root, memory, problem, error);
  json_decref(root);
  return status;
}
