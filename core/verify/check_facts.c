/* What a mapping says of its network, its chip, its region, the bound on parts and its neurons' keys. The bound and the keys
 * are defined by what computes them (core/limits/bound.c, core/network/identity.c); they are computed again. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/json.h"
#include "core/limits/bound.h"
#include "core/network/identity.h"
#include "core/verify/checker.h"

/* ---- comparing ---- */

/* Compares a member of the file with its true value, which is taken over. */
static cm_status compare_member(cm_checker *c, const char *where, const json_t *stated, json_t *truth, cm_error *error)
{
  CM_TRY(cm_whole(truth != NULL, "checking the mapping", error));
  cm_check_compare(&(cm_check_comparison){.result = &c->result, .what = "mapping"}, where, stated, truth);
  json_decref(truth);
  return CM_OK;
}

/* ---- network and chip ---- */

static cm_status check_network(cm_checker *c, cm_error *error)
{
  const cm_topology *t = c->given->demand->network;
  const json_t *stated = json_object_get(c->file.rest, "network");
  /* A mapping of a network that was no file has no id. */
  const json_t *id = json_object_get(stated, "id");
  json_t *truth = json_pack("{s:O?, s:b, s:I, s:I, s:I, s:b}", "id", id, "directed", t->directed, "neurons",
                            (json_int_t)t->vertex_count, "hyperedges", (json_int_t)cm_topology_hyperedges(t), "synapses",
                            (json_int_t)cm_topology_synapses(t), "labels", t->label_text != NULL);
  if (truth != NULL && c->given->network_id != NULL && !json_is_null(id))
    (void)json_object_set_new(truth, "id", json_string(c->given->network_id));
  return compare_member(c, "/network", stated, truth, error);
}

static cm_status count_largest(const cm_checker *c, json_t *of_parts, cm_error *error)
{
  const cm_topology *t = c->given->demand->network;
  uint64_t *both;
  uint32_t at = 0;
  if (t->population_count == 0)
    return CM_OK;
  CM_TRY(CM_NEW(c->given->run->memory, both, t->vertex_count, error));
  uint32_t held = 0;
  for (uint32_t v = 0; v < t->vertex_count; v++)
    if (!cm_demand_is_outside(c->given->demand, v))
      both[held++] = (uint64_t)c->file.neuron[v] << 32 | t->population_of[v];
  qsort(both, held, sizeof *both, cm_ascending_long);
  for (uint32_t p = 0; p < c->parts; p++) {
    uint32_t most = 0, best = 0;
    while (at < held && both[at] >> 32 == p) {
      uint32_t begin = at;
      while (at < held && both[at] == both[begin])
        at++;
      if (at - begin > most) {
        most = at - begin;
        best = (uint32_t)both[begin];
      }
    }
    (void)json_array_append_new(of_parts, json_integer(best));
  }
  cm_free(both);
  return CM_OK;
}

/* Counted part by part. Mappings of before there were any say nothing; they have no figures of inputs outside either. */
static cm_status check_populations(cm_checker *c, cm_error *error)
{
  const cm_topology *t = c->given->demand->network;
  const json_t *stated = json_object_get(c->file.rest, "populations");
  if (stated == NULL && json_object_get(json_object_get(c->file.rest, "metrics"), "outside_inputs") != NULL) {
    violation(c, "mapping /populations is missing");
    return CM_OK;
  }
  json_t *list = json_array(), *of_parts = json_array();
  uint32_t *count = NULL;
  cm_status status =
    stated == NULL || t->population_count == 0 ? CM_OK : CM_NEW(c->given->run->memory, count, t->population_count, error);
  for (uint32_t v = 0; count != NULL && v < t->vertex_count; v++)
    count[t->population_of[v]]++;
  for (uint32_t k = 0; count != NULL && k < t->population_count; k++)
    (void)json_array_append_new(list, json_pack("{s:s, s:s, s:I}", "name", t->population[k].name, "kind", t->population[k].kind,
                                                "neurons", (json_int_t)count[k]));
  cm_free(count);
  if (status == CM_OK && count_largest(c, of_parts, error) != CM_OK)
    status = error->status;
  if (status != CM_OK || stated == NULL || (json_is_null(stated) && t->population_count == 0)) {
    json_decref(list);
    json_decref(of_parts);
    return status;
  }
  return compare_member(c, "/populations", stated, json_pack("{s:o, s:o}", "list", list, "of_parts", of_parts), error);
}

/* The chip block is a chip file: what it leaves out has the value that such a file gives it. */
static cm_status check_chip(cm_checker *c, cm_error *error)
{
  const json_t *stated = json_object_get(c->file.rest, "chip");
  cm_error why;
  cm_chip *chip = NULL;
  json_t *block = json_copy((json_t *)(uintptr_t)stated);
  (void)json_object_del(block, "width");
  (void)json_object_del(block, "height");
  char *text = block != NULL ? cm_json_dumps(block, JSON_REAL_PRECISION(17)) : NULL;
  json_decref(block);
  if (text == NULL) {
    violation(c, "mapping /chip is missing or no object");
    return CM_OK;
  }
  cm_status status = cm_chip_parse(text, strlen(text), &chip, &why);
  free(text);
  if (status == CM_NO_MEMORY) {
    *error = why;
    return status;
  }
  if (status != CM_OK) {
    violation(c, "mapping /chip%s is no chip: %.180s", why.where, why.detail);
    return CM_OK;
  }
  json_t *says = cm_chip_json(chip);
  cm_chip_free(chip);
  static const char *const sides[] = {"width", "height"};
  const uint32_t size[] = {c->given->chip->width, c->given->chip->height};
  json_t *is = cm_chip_json(c->given->chip);
  for (int i = 0; i < 2 && says != NULL && is != NULL; i++) {
    json_t *side = json_object_get(stated, sides[i]);
    if (side != NULL)
      (void)json_object_set(says, sides[i], side);
    (void)json_object_set_new(is, sides[i], json_integer(size[i]));
  }
  status = cm_whole(says != NULL, "checking the mapping", error);
  if (status == CM_OK)
    status = compare_member(c, "/chip", says, is, error);
  else
    json_decref(is);
  json_decref(says);
  return status;
}

/* ---- region ---- */

/* Whether every core of a box is free, as far as the chip and the occupancy tell. */
typedef struct box {
  uint32_t x0, y0, x1, y1; /* both ends included */
} box;

static cm_status box_is_free(const cm_checker *c, box b, bool *whole, cm_error *error)
{
  uint32_t width = c->given->chip->width;
  *whole = true;
  for (uint32_t i = 0; i < c->given->chip->dead_core_count && *whole; i++) {
    uint32_t x = c->given->chip->dead_cores[i] % width, y = c->given->chip->dead_cores[i] / width;
    *whole = x < b.x0 || x > b.x1 || y < b.y0 || y > b.y1;
  }
  for (uint32_t y = b.y0; c->given->occupancy != NULL && y <= b.y1 && *whole; y++) {
    for (uint32_t x = b.x0; x <= b.x1 && *whole; x++)
      *whole = c->given->occupancy->state[(size_t)y * width + x] == CM_CORE_FREE;
    CM_TRY(cm_run_check(c->given->run, error));
  }
  return CM_OK;
}

/* The box is what the parts' cores span, and as many cores are given out as there are parts. */
static cm_status check_region(cm_checker *c, cm_error *error)
{
  const json_t *stated = json_object_get(c->file.rest, "region");
  if (json_is_null(stated) || c->parts == 0)
    return CM_OK;
  box b = {.x0 = UINT32_MAX, .y0 = UINT32_MAX};
  for (uint32_t p = 0; p < c->parts; p++) {
    uint32_t x = c->core[p] % c->given->chip->width, y = c->core[p] / c->given->chip->width;
    b = (box){x < b.x0 ? x : b.x0, y < b.y0 ? y : b.y0, x > b.x1 ? x : b.x1, y > b.y1 ? y : b.y1};
  }
  bool whole;
  CM_TRY(box_is_free(c, b, &whole, error));
  /* Without the occupancy that it was made for, a box that seems free may not have been. */
  if (c->given->occupancy == NULL && whole && json_is_false(json_object_get(stated, "rectangle")))
    whole = false;
  return compare_member(c, "/region", stated,
                        json_pack("{s:I, s:I, s:I, s:I, s:b, s:I}", "x", (json_int_t)b.x0, "y", (json_int_t)b.y0, "width",
                                  (json_int_t)(b.x1 - b.x0 + 1), "height", (json_int_t)(b.y1 - b.y0 + 1), "rectangle", whole,
                                  "cores", (json_int_t)c->parts),
                        error);
}

/* ---- options and bound ---- */

static uint64_t option(const cm_checker *c, const char *name)
{
  const json_t *value = json_object_get(json_object_get(c->file.rest, "options"), name);
  return json_is_integer(value) && json_integer_value(value) > 0 ? (uint64_t)json_integer_value(value) : 0;
}

/* Objectives of time steps take so many parts at most, the others exactly so many. */
static bool takes_fewer(const cm_checker *c)
{
  const char *objective = json_string_value(json_object_get(json_object_get(c->file.rest, "options"), "objective"));
  return objective != NULL &&
         (strcmp(objective, "time") == 0 || strcmp(objective, "energy") == 0 || strcmp(objective, "edp") == 0 ||
          strcmp(objective, "pareto") == 0 || strcmp(objective, "knee") == 0);
}

static void check_options(cm_checker *c)
{
  uint64_t parts = option(c, "parts"), cores = option(c, "cores"), most = option(c, "max_part_size");
  if (parts != 0 && (c->parts > parts || (c->parts < parts && !takes_fewer(c))))
    violation(c, "mapping /options/parts asks for %" PRIu64 " parts, but there are %" PRIu32, parts, c->parts);
  if (cores != 0 && c->parts > cores)
    violation(c, "mapping /options/cores allows %" PRIu64 " cores, but there are %" PRIu32 " parts", cores, c->parts);
  if (most != 0 && c->truth.metrics.largest_part > most)
    violation(c, "mapping /options/max_part_size is %" PRIu64 ", but the largest part has %" PRIu64 " neurons", most,
              c->truth.metrics.largest_part);
  const double budget = json_number_value(json_object_get(json_object_get(c->file.rest, "options"), "step_budget_ns")), busiest = c->truth.metrics.core_ns_max;
  if (budget > 0 && busiest > budget && cm_check_differs(busiest, budget))
    violation(c, "mapping /options/step_budget_ns allows %.17g ns, but the busiest core takes %.17g ns", budget, busiest);
}

/* The limits that the bound was proved for: the chip's, unless options ask for smaller parts. With a fixed number of parts
 * their largest size follows from the imbalance, and stands in the bound itself; no part may exceed it. */
static cm_limits limits_of_bound(cm_checker *c, const json_t *stated)
{
  cm_limits limits = cm_chip_widest_limits(c->given->chip);
  uint64_t most = option(c, "max_part_size");
  if (most != 0 && (limits.neurons == 0 || most < limits.neurons))
    limits.neurons = most;
  const char *limit = json_string_value(json_object_get(stated, "limit"));
  json_int_t per_core = json_integer_value(json_object_get(stated, "per_core"));
  bool fixed = option(c, "parts") != 0 || (limits.neurons == 0 && limits.synapses == 0 && limits.inbound_axons == 0);
  if (fixed && limit != NULL && strcmp(limit, cm_resource_name(CM_NEURONS)) == 0 && per_core > 0 &&
      (uint64_t)per_core >= c->truth.metrics.largest_part)
    limits.neurons = (uint64_t)per_core;
  return limits;
}

static cm_status check_bound(cm_checker *c, cm_error *error)
{
  const json_t *stated = json_object_get(c->file.rest, "bound");
  cm_limits limits = limits_of_bound(c, stated);
  cm_bound bound;
  if (json_integer_value(json_object_get(stated, "parts")) > c->parts)
    violation(c, "mapping /bound/parts says that %" JSON_INTEGER_FORMAT " parts are the least, but this mapping has %" PRIu32,
              json_integer_value(json_object_get(stated, "parts")), c->parts);
  cm_status status = cm_bound_parts(c->given->demand, &limits, c->given->run, &bound, error);
  return status == CM_OK ? compare_member(c, "/bound", stated, cm_bound_json(&bound), error) : status;
}

/* ---- keys ---- */

static cm_status check_keys(cm_checker *c, cm_error *error)
{
  const cm_check_file *file = &c->file;
  uint32_t neurons = c->given->demand->network->vertex_count;
  uint64_t *key;
  if (!file->has_keys) {
    violation(c, "mapping /keys is missing; it has a key for each of %" PRIu32 " neurons", neurons);
    return CM_OK;
  }
  if (file->key.count != neurons) {
    violation(c, "mapping /keys has %" PRIu64 " entries, the network %" PRIu32 " neurons", file->key.count, neurons);
    return CM_OK;
  }
  CM_TRY(CM_NEW(c->given->run->memory, key, neurons, error));
  cm_status status = cm_identify(c->given->demand, c->given->run, key, error);
  for (uint32_t v = 0; v < neurons && status == CM_OK; v++)
    if (key[v] != file->key.number[v])
      violation(c, "mapping /keys/%" PRIu32 " is stated as %" PRIu64 ", but is %" PRIu64, v, file->key.number[v], key[v]);
  cm_free(key);
  return status;
}

cm_status cm_checker_facts(cm_checker *c, cm_error *error)
{
  check_options(c);
  if (check_network(c, error) != CM_OK || check_chip(c, error) != CM_OK || check_populations(c, error) != CM_OK ||
      check_region(c, error) != CM_OK || check_bound(c, error) != CM_OK)
    return error->status;
  return check_keys(c, error);
}
