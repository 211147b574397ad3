/* Happy path: read the file, carry every packet, look for rings, compare the figures. What can fail: the file, memory, a
 * stop. Everything else is a violation and listed. */
#include "core/verify/check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "core/verify/check_report.h"
#include "core/verify/routes_checking.h"

static const size_t FILE_BYTES_MAX = (size_t)1 << 31;

/* ---- figures ---- */

static json_t *tables_json(cm_routes_checking *c)
{
  uint64_t most = 0, over = 0, limit = c->chip->table_entries;
  uint32_t fullest = 0;
  for (uint32_t r = 0; r < c->routers; r++) {
    uint64_t entries = c->first[r + 1] - c->first[r];
    over += limit != 0 && entries > limit;
    if (limit != 0 && entries > limit) {
      char name[CM_ROUTER_NAME_MAX];
      cm_router_name(c->routers_x, c->routers_y, r, name);
      routes_violation(c, "routes: the table of %s has %" PRIu64 " entries, the chip's have %" PRIu64 " at most", name, entries, limit);
    }
    fullest = entries > most ? r : fullest;
    most = entries > most ? entries : most;
  }
  json_t *keys = limit == 0 ? NULL : json_integer((json_int_t)(c->links + c->flows));
  json_t *wider = c->wider == 0 ? NULL
                                : json_pack("{s:I, s:f}", "axons", (json_int_t)c->wider, "packets",
                                            c->dropped / (double)c->demand->network->weight_scale);
  return json_pack("{s:I, s:o, s:I, s:o, s:I, s:b, s:o*, s:o*}", "entries", (json_int_t)c->first[c->routers], "limit",
                   limit == 0 ? json_null() : json_integer((json_int_t)limit), "most", (json_int_t)most, "fullest", c->geometry->router_json(c, fullest),
                   "routers_over", (json_int_t)over, "fit", over == 0, "one_per_key", keys, "widened", wider);
}

static cm_status check_figures(cm_routes_checking *c, cm_error *error)
{
  uint64_t channels = 0, dependencies = 0, most = 0, plain = 0;
  double unit = (double)c->demand->network->weight_scale * (c->demand->network->directed ? 1 : 2);
  const json_t *stated = json_object_get(c->json, "figures");
  CM_TRY(c->geometry->rings(c, &channels, &dependencies, error));
  for (size_t l = 0; l < c->link_count; l++) {
    most = c->load[l] > most ? c->load[l] : most;
    plain = c->plain_load[l] > plain ? c->plain_load[l] : plain;
    if (c->exact && c->load[l] != c->plain_load[l])
      routes_violation(c, "routes: the link from router %" PRIu32 " to router %" PRIu32 " carries %.17g, by the shortest ways %.17g",
                       c->net->link[l].from, c->net->link[l].to, (double)c->load[l] / unit, (double)c->plain_load[l] / unit);
  }
  if (c->shared && most > plain)
    routes_violation(c, "routes: a link carries %.17g, by the shortest ways none more than %.17g", (double)most / unit,
                     (double)plain / unit);
  if (c->shared && c->links != c->plain_links)
    routes_violation(c, "routes: trees have %" PRIu64 " links, by the shortest ways %" PRIu64, c->links, c->plain_links);
  double before = (double)plain / unit;
  if (c->chip->dead_link_count > 0) { /* ways around them have no first shape: it is no less than what came of it */
    before = json_number_value(json_object_get(stated, "link_load_max_before"));
    if (before * unit < (double)most * (1 - 1e-6))
      before = (double)most / unit;
  }
  json_t *truth = json_pack("{s:s?, s:s, s:I, s:I, s:f, s:f, s:f, s:b, s:I, s:I}", "routing", c->rule, "model",
                            c->multicast ? "multicast" : "unicast", "flows", (json_int_t)c->flows, "links",
                            (json_int_t)c->links, "hop_traffic", (double)c->traffic / unit, "link_load_max_before",
                            before, "link_load_max", (double)most / unit, "deadlock_free", 1, "channels",
                            (json_int_t)channels, "dependencies", (json_int_t)dependencies);
  if (truth == NULL || (c->multicast && json_object_set_new(truth, "tables", tables_json(c)) != 0) ||
      !c->geometry->figures(c, stated, truth)) {
    json_decref(truth);
    return cm_whole(false, "what is checked of the routes", error);
  }
  cm_check_comparison comparison = {.result = c->result, .what = "routes"};
  cm_check_compare(&comparison, "/figures", stated, truth);
  json_decref(truth);
  return CM_OK;
}

/* What the mapping's report says of wider keys, where its tables are under the same rule. */
static void check_report(const cm_routes_checking *c, const cm_mapping_places *places)
{
  double dropped = c->dropped / (double)c->demand->network->weight_scale;
  if (c->multicast && c->rule != NULL && strcmp(places->tables_rule, c->rule) == 0 &&
      (places->wider != c->wider || cm_check_differs(places->dropped, dropped)))
    routes_violation(
      c, "report/tables/widened is of %" PRIu64 " axons and %.17g packets, the tables widen the keys of %" PRIu64 " for %.17g",
      places->wider, places->dropped, c->wider, dropped);
}

/* ---- all ---- */

/* What the file says it is, as far as the packets need it. */
static cm_status read_header(cm_routes_checking *c, cm_error *error)
{
  const char *format = json_string_value(json_object_get(c->json, "format")),
             *code = json_string_value(json_object_get(json_object_get(c->json, "refused"), "code"));
  if (format == NULL || strcmp(format, "coremapd routes 1") != 0)
    return cm_fail(error, CM_BAD_MAPPING, "the routes' \"format\" is not \"coremapd routes 1\"");
  if (code != NULL)
    return cm_fail(error, CM_BAD_MAPPING, "the file holds no routes, but why there are none (%.40s): nothing to check", code);
  const json_t *figures = json_object_get(c->json, "figures");
  const char *rule = json_string_value(json_object_get(figures, "routing")),
             *model = json_string_value(json_object_get(figures, "model"));
  c->rule = rule != NULL ? c->geometry->rule(rule) : NULL;
  if (c->rule == NULL)
    routes_violation(c, "routes /figures/routing names no turn rule");
  c->multicast = json_object_get(c->json, "tables") != NULL;
  c->widened = c->chip->table_entries != 0 && json_is_object(json_object_get(json_object_get(figures, "tables"), "widened"));
  if (model == NULL || strcmp(model, c->multicast ? "multicast" : "unicast") != 0)
    routes_violation(c, "routes /figures/model is not what the file holds: %s", c->multicast ? "tables" : "paths");
  if (c->multicast && !c->demand->network->directed)
    return cm_fail(error, CM_BAD_MAPPING, "tables are for directed networks, and this one is not");
  cm_check_comparison comparison = {.result = c->result, .what = "routes"};
  json_t *routers = json_pack("[I,I]", (json_int_t)c->routers_x, (json_int_t)c->routers_y);
  cm_check_compare(&comparison, "/routers", json_object_get(c->json, "routers"), routers);
  json_decref(routers);
  return CM_OK;
}

static cm_status prepare(cm_routes_checking *c, cm_error *error)
{
  cm_memory *memory = c->run->memory;
  size_t links = c->link_count;
  CM_TRY(c->geometry->prepare(c, error));
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(c->dead, links), CM_ARRAY(c->load, links), CM_ARRAY(c->plain_load, links),
                    CM_ARRAY(c->used, links), CM_ARRAY(c->next, links), CM_ARRAY(c->met, c->routers), CM_ARRAY(c->linked, links),
                    CM_ARRAY(c->stamp, c->parts), CM_ARRAY(c->target, c->parts)));
  for (uint32_t i = 0; i < c->chip->dead_link_count; i++)
    c->dead[c->chip->dead_links[i]] = 1;
  return CM_OK;
}

static cm_status read_file(cm_routes_checking *c, const char *path, cm_error *error)
{
  char *text;
  size_t size;
  json_error_t trouble;
  CM_TRY(cm_file_read(path, FILE_BYTES_MAX, &text, &size, error));
  uint64_t refusals = cm_json_refusals();
  c->json = cm_json_loadb(text, size, JSON_REJECT_DUPLICATES, &trouble);
  free(text);
  CM_TRY_IF(c->json == NULL, cm_json_whole(refusals, "the routes", error));
  return c->json != NULL ? CM_OK
                         : cm_fail(error, CM_BAD_MAPPING,
                                   "the routes cannot be read as JSON (as coremap map --routes FILE.json writes them): "
                                   "line %d: %s", trouble.line, trouble.text);
}

static cm_status check(cm_routes_checking *c, cm_error *error)
{
  CM_TRY(read_header(c, error));
  CM_TRY(prepare(c, error));
  cm_status status;
  if (c->multicast) {
    status = cm_routes_read_tables(c, error);
    CM_THEN(status, cm_routes_follow_tables(c, error));
  } else
    status = cm_routes_follow_paths(c, error);
  return status == CM_OK ? check_figures(c, error) : status;
}

cm_status cm_routes_check(const char *path, const char *mapping_path, const cm_check_context *context, cm_check_result *result,
                          cm_error *error)
{
  static const cm_routes_geometry *const geometry[CM_GEOMETRIES] = {[CM_BY_AXES] = &cm_routes_on_mesh, [CM_BY_WAYS] = &cm_routes_on_ways};
  const cm_chip *chip = context->chip;
  cm_mapping_places places = {0};
  cm_routes_checking c = {.demand = context->demand,
                          .chip = chip,
                          .run = context->run,
                          .result = result,
                          .geometry = geometry[cm_geometry_of(chip)],
                          .routers_x = chip->width / chip->router_x,
                          .routers_y = chip->height / chip->router_y};
  c.net = chip->interconnect;
  c.routers = cm_chip_routers(chip);
  c.link_count = cm_chip_links(chip);
  bool fresh = result->violations == NULL;
  CM_TRY_IF(fresh, CM_NEW(NULL, result->violations, CM_CHECK_LISTED_MAX, error));
  cm_status status = read_file(&c, path, error);
  CM_THEN(status, cm_mapping_read_places(mapping_path, context->demand->network->vertex_count, chip, context->run, &places, error));
  c.part = places.part;
  c.core = places.core;
  c.parts = places.parts;
  cm_free(places.pacing.turn);
  CM_THEN(status, check(&c, error));
  if (status == CM_OK)
    check_report(&c, &places);
  CM_THEN(status, cm_check_whole(result, error));
  json_decref(c.json);
  void *blocks[] = {c.part, c.core,   c.entry, c.first,  c.block, c.dead,    c.load, c.plain_load, c.used, c.next,
                    c.met,  c.linked, c.stamp, c.target, c.order, c.channel, c.way,  c.hops,       c.out,  c.waiting};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    cm_free(blocks[i]);
  cm_check_ways_free(&c.ways);
  if (status != CM_OK && fresh)
    cm_check_result_free(result);
  return status;
}
