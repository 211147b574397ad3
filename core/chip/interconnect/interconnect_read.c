/* Reads and prints the interconnect of a chip file (docs/reference/chip-file.md). What can fail: fields that are missing or out of range,
 * trees that do not end in one switch, graphs that do not hang together, memory. */
#include <inttypes.h>
#include <math.h>

#include "core/chip/interconnect/detours.h"
#include "core/chip/interconnect/internal.h"
#include "core/chip/json.h"

static const double FACTOR_MAX = 1e6;

static const char *const kind_names[CM_INTERCONNECT_KINDS] = {"grid", "hexagonal", "tree", "all-to-all", "graph"};

const char *cm_interconnect_kind_name(cm_interconnect_kind kind)
{
  return kind_names[kind];
}

cm_status cm_interconnect_bad(cm_error *error, const char *where, const char *what)
{
  return cm_json_fail(error, CM_BAD_CHIP, where, "%s: %s", where, what);
}

/* A factor above 0; `value` NULL: 1. */
static cm_status read_factor(const json_t *value, const char *where, double *factor, cm_error *error)
{
  *factor = value == NULL ? 1 : json_number_value(value);
  if ((value == NULL || json_is_number(value)) && isfinite(*factor) && *factor > 0 && *factor <= FACTOR_MAX)
    return CM_OK;
  return cm_json_fail(error, CM_BAD_CHIP, where, "%s: expected a number above 0, at most %g", where, FACTOR_MAX);
}

static cm_status read_level(const json_t *item, size_t index, uint32_t *width, uint32_t *height, cm_tree_level *level,
                            cm_error *error)
{
  static const char *const names[] = {"block", "cost", "bandwidth", NULL};
  char where[64], inner[80];
  (void)snprintf(where, sizeof where, "/interconnect/levels/%zu", index);
  if (!json_is_object(item))
    return cm_interconnect_bad(error, where, "expected an object {\"block\": [x, y], ...}");
  CM_TRY(cm_json_known_fields(item, where, names, CM_BAD_CHIP, error));
  const json_t *block = json_object_get(item, "block");
  json_int_t x = json_integer_value(json_array_get(block, 0)), y = json_integer_value(json_array_get(block, 1));
  (void)snprintf(inner, sizeof inner, "%s/block", where);
  if (json_array_size(block) != 2 || x < 1 || y < 1 || x > CM_CHIP_CORES_MAX || y > CM_CHIP_CORES_MAX || x * y < 2)
    return cm_interconnect_bad(error, inner, "expected two whole numbers [x, y], two routers or more together");
  if (*width % (uint32_t)x != 0 || *height % (uint32_t)y != 0)
    return cm_json_fail(error, CM_BAD_CHIP, inner, "%s: the %u x %u below do not divide into blocks of %d x %d", inner, *width,
                        *height, (int)x, (int)y);
  (void)snprintf(inner, sizeof inner, "%s/cost", where);
  CM_TRY(read_factor(json_object_get(item, "cost"), inner, &level->cost, error));
  (void)snprintf(inner, sizeof inner, "%s/bandwidth", where);
  CM_TRY(read_factor(json_object_get(item, "bandwidth"), inner, &level->bandwidth, error));
  level->x = (uint32_t)x;
  level->y = (uint32_t)y;
  level->width = *width /= level->x;
  level->height = *height /= level->y;
  return CM_OK;
}

static cm_status read_tree(const json_t *value, cm_interconnect *net, cm_error *error)
{
  const json_t *list = json_object_get(value, "levels");
  uint32_t width = net->columns, height = net->rows;
  size_t levels = json_array_size(list);
  if (levels > CM_TREE_LEVELS_MAX)
    return cm_json_fail(error, CM_BAD_CHIP, "/interconnect/levels", "/interconnect/levels: at most %d levels are possible",
                        CM_TREE_LEVELS_MAX);
  for (size_t i = 0; i < levels; i++) {
    CM_TRY(read_level(json_array_get(list, i), i, &width, &height, &net->level[i], error));
    net->level[i].first = net->routers;
    net->routers += width * height;
    net->levels++;
  }
  if (levels == 0 || width * height != 1)
    return cm_json_fail(error, CM_BAD_CHIP, "/interconnect/levels",
                        "/interconnect/levels: %u x %u routers are left at the top; the blocks must end in one switch", width,
                        height);
  return CM_OK;
}

/* One link [a, b], [a, b, cost] or [a, b, cost, bandwidth]. */
static cm_status read_graph_link(const json_t *item, size_t index, const cm_interconnect *net, cm_draft *draft, cm_error *error)
{
  char where[64];
  (void)snprintf(where, sizeof where, "/interconnect/links/%zu", index);
  const json_t *a = json_array_get(item, 0), *b = json_array_get(item, 1);
  if (json_array_size(item) < 2 || json_array_size(item) > 4 || !json_is_integer(a) || !json_is_integer(b))
    return cm_interconnect_bad(error, where, "expected [router, router], then cost and bandwidth where they are not 1");
  json_int_t from = json_integer_value(a), to = json_integer_value(b);
  if (from < 0 || to < 0 || from >= net->routers || to >= net->routers)
    return cm_json_fail(error, CM_BAD_CHIP, where, "%s: routers are numbered from 0 to %u", where, net->routers - 1);
  if (from == to)
    return cm_interconnect_bad(error, where, "a link joins two routers");
  cm_draft_link link = {(uint32_t)from, (uint32_t)to, 1, 1, -1, -1};
  CM_TRY(read_factor(json_array_get(item, 2), where, &link.cost, error));
  CM_TRY(read_factor(json_array_get(item, 3), where, &link.bandwidth, error));
  return cm_draft_add(draft, link, error);
}

static cm_status read_graph(const json_t *value, cm_interconnect *net, cm_draft *draft, cm_error *error)
{
  const json_t *list = json_object_get(value, "links"), *switches = json_object_get(value, "switches");
  json_int_t more = json_integer_value(switches);
  if (switches != NULL && (!json_is_integer(switches) || more < 0 || more > CM_TABLE_ROUTERS_MAX))
    return cm_json_fail(error, CM_BAD_CHIP, "/interconnect/switches", "/interconnect/switches: expected 0 to %d",
                        CM_TABLE_ROUTERS_MAX);
  uint64_t routers = (uint64_t)net->routers + (uint64_t)more;
  if (routers > CM_TABLE_ROUTERS_MAX)
    return cm_json_fail(error, CM_BAD_CHIP, "/interconnect",
                        "/interconnect: a graph of %" PRIu64 " routers is too large; at most %d are possible (more cores behind "
                        "each router make fewer)",
                        routers, CM_TABLE_ROUTERS_MAX);
  net->routers = (uint32_t)routers;
  if (!json_is_array(list))
    return cm_interconnect_bad(error, "/interconnect/links", "expected a list of [router, router, cost, bandwidth]");
  for (size_t i = 0; i < json_array_size(list); i++)
    CM_TRY(read_graph_link(json_array_get(list, i), i, net, draft, error));
  return CM_OK;
}

/* A graph without dead links hangs together. */
static cm_status check_connected(const cm_interconnect *net, cm_error *error)
{
  uint8_t *reached;
  CM_TRY(CM_NEW(NULL, reached, net->routers, error));
  cm_status status = cm_interconnect_component(net, 0, NULL, reached, error);
  uint32_t count = 0, lost = 0;
  for (uint32_t r = net->routers; status == CM_OK && r-- > 0;) {
    count += reached[r];
    lost = reached[r] ? lost : r;
  }
  cm_free(reached);
  if (status == CM_OK && count < net->routers)
    return cm_json_fail(error, CM_BAD_CHIP, "/interconnect/links",
                        "/interconnect/links: the graph is not connected: router 0 reaches %u of %u routers, and not router %u",
                        count, net->routers, lost);
  return status;
}

static cm_status read_fields(const json_t *value, cm_interconnect_kind kind, cm_error *error)
{
  static const char *const fields[CM_INTERCONNECT_KINDS][4] = {{"kind", NULL},           {"kind", NULL},
                                                               {"kind", "levels", NULL}, {"kind", NULL},
                                                               {"kind", "switches", "links", NULL}};
  return cm_json_known_fields(value, "/interconnect", fields[kind], CM_BAD_CHIP, error);
}

static cm_status check_torus(const cm_interconnect *net, const cm_chip *chip, cm_error *error)
{
  bool grid = net->kind == CM_GRID || net->kind == CM_HEXAGONAL;
  if (!grid && (chip->torus_x || chip->torus_y))
    return cm_interconnect_bad(error, "/torus", "only grids have edges to join");
  if ((chip->torus_x && net->columns < 3) || (chip->torus_y && net->rows < 3))
    return cm_interconnect_bad(error, "/torus", "an axis of fewer than 3 routers has no edges to join");
  return CM_OK;
}

static cm_status fill(const json_t *value, const cm_chip *chip, cm_interconnect *net, cm_draft *draft, cm_error *error)
{
  CM_TRY(read_fields(value, net->kind, error));
  CM_TRY(check_torus(net, chip, error));
  net->ring_x = chip->torus_x;
  net->ring_y = chip->torus_y;
  cm_status status = CM_OK;
  if (net->kind == CM_ALL_TO_ALL && net->routers > CM_ALL_TO_ALL_MAX)
    status = cm_json_fail(error, CM_BAD_CHIP, "/interconnect",
                          "/interconnect: %u routers are too many to be joined each to each; at most %d are possible (a tree "
                          "of one level joins more)",
                          net->routers, CM_ALL_TO_ALL_MAX);
  else if (net->kind == CM_ALL_TO_ALL)
    status = cm_draft_all(net, draft, error);
  else if (net->kind == CM_GRAPH)
    status = read_graph(value, net, draft, error);
  else if (net->kind == CM_TREE) {
    status = read_tree(value, net, error);
    CM_THEN(status, cm_draft_tree(net, draft, error));
  } else
    status = cm_draft_grid(net, chip, draft, error);
  CM_THEN(status, cm_interconnect_build(net, chip, draft, error));
  return status == CM_OK && net->kind == CM_GRAPH ? check_connected(net, error) : status;
}

/* What a graph's links cost, as they are printed again. */
static cm_status keep_costs(cm_interconnect *net, const cm_draft *draft, cm_error *error)
{
  if (net->kind != CM_GRAPH)
    return CM_OK;
  CM_TRY(CM_NEW(NULL, net->cost, net->link_count, error));
  for (uint64_t i = 0; i < draft->count; i++) {
    const cm_draft_link *d = &draft->link[i];
    uint32_t link = (uint32_t)cm_interconnect_link(net, d->from, d->to);
    net->cost[link] = net->cost[net->link[link].twin] = d->cost;
  }
  return CM_OK;
}

cm_status cm_interconnect_read(const json_t *value, const cm_chip *chip, cm_interconnect **made, cm_error *error)
{
  if (value == NULL) {
    *made = NULL;
    return CM_OK;
  }
  const char *name = json_string_value(json_object_get(value, "kind"));
  cm_interconnect_kind kind = CM_GRID;
  while (name != NULL && kind < CM_INTERCONNECT_KINDS && strcmp(name, kind_names[kind]) != 0)
    kind++;
  if (name == NULL || kind == CM_INTERCONNECT_KINDS)
    return cm_interconnect_bad(error, "/interconnect/kind", "expected \"grid\", \"hexagonal\", \"tree\", \"all-to-all\" or \"graph\"");
  cm_interconnect *net;
  cm_draft draft = {0};
  CM_TRY(CM_NEW(NULL, net, 1, error));
  (void)pthread_mutex_init(&net->making, NULL);
  net->kind = kind;
  net->columns = cm_chip_routers_x(chip);
  net->rows = cm_chip_routers_y(chip);
  net->routers = net->columns * net->rows;
  cm_status status = fill(value, chip, net, &draft, error);
  CM_THEN(status, keep_costs(net, &draft, error));
  cm_free(draft.link);
  CM_END(status, *made = net, cm_interconnect_free(net));
}

void cm_interconnect_free(cm_interconnect *net)
{
  if (net == NULL)
    return;
  (void)pthread_mutex_destroy(&net->making);
  CM_FREE(net->first, net->link, net->cost, net->way);
  cm_detours_free(net->detours);
  cm_free(net);
}

/* ---- printing ---- */

static json_t *levels_json(const cm_interconnect *net)
{
  json_t *list = json_array();
  for (uint32_t i = 0; i < net->levels; i++)
    if (json_array_append_new(list, json_pack("{s:[i,i], s:f, s:f}", "block", (int)net->level[i].x, (int)net->level[i].y, "cost",
                                              net->level[i].cost, "bandwidth", net->level[i].bandwidth)) != 0) {
      json_decref(list);
      return NULL;
    }
  return list;
}

static json_t *links_json(const cm_interconnect *net)
{
  json_t *list = json_array();
  for (uint32_t i = 0; i < net->link_count; i++)
    if (net->link[i].from < net->link[i].to &&
        json_array_append_new(list, json_pack("[i, i, f, f]", (int)net->link[i].from, (int)net->link[i].to, net->cost[i],
                                              net->link[i].bandwidth)) != 0) {
      json_decref(list);
      return NULL;
    }
  return list;
}

json_t *cm_interconnect_json(const cm_interconnect *net)
{
  uint32_t grid = net->columns * net->rows;
  if (net->kind == CM_TREE)
    return json_pack("{s:s, s:o}", "kind", kind_names[net->kind], "levels", levels_json(net));
  if (net->kind == CM_GRAPH)
    return json_pack("{s:s, s:i, s:o}", "kind", kind_names[net->kind], "switches", (int)(net->routers - grid), "links",
                     links_json(net));
  return json_pack("{s:s}", "kind", kind_names[net->kind]);
}
