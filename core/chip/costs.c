/* Reading and printing costs. What can fail: fields of the wrong kind or out of range, unknown fields. */
#include "core/chip/costs.h"

#include <math.h>

#include "core/chip/json.h"

static const double COST_MAX = 1e12;
enum { WHERE = 80, TILE_MAX = 1 << 12 };

const char *const cm_charge_names[CM_CHARGES] = {
  [CM_CHARGE_PACKET_SENT] = "packet_sent", [CM_CHARGE_PACKET_RECEIVED] = "packet_received",
  [CM_CHARGE_SYNAPSE] = "synapse",         [CM_CHARGE_NEURON] = "neuron",
  [CM_CHARGE_SPIKE] = "spike"};

const cm_costs cm_costs_unit = {.charge = {[CM_CHARGE_PACKET_SENT] = {1, 1},
                                          [CM_CHARGE_PACKET_RECEIVED] = {1, 1},
                                          [CM_CHARGE_SYNAPSE] = {1, 1},
                                          [CM_CHARGE_NEURON] = {1, 1}},
                                .side_by_side = true,
                                .barrier = {.tile_x = 1, .tile_y = 1}};

static cm_status read_number(const json_t *object, const char *group, const char *name, double *number, cm_error *error)
{
  const json_t *value = json_object_get(object, name);
  if (value == NULL)
    return CM_OK;
  char where[WHERE];
  (void)snprintf(where, sizeof where, "%s/%s", group, name);
  double given = json_is_number(value) ? json_number_value(value) : NAN;
  if (!(given >= 0 && given <= COST_MAX))
    return cm_json_fail(error, CM_BAD_CHIP, where, "%s: expected a number from 0 to %g", where, COST_MAX);
  *number = given;
  return CM_OK;
}

static cm_status expect_object(const json_t *value, const char *where, const char *const *fields, cm_error *error)
{
  if (!json_is_object(value))
    return cm_json_fail(error, CM_BAD_CHIP, where, "%s: expected an object", where);
  return cm_json_known_fields(value, where, fields, CM_BAD_CHIP, error);
}

/* An event that is not named costs nothing. */
static cm_status read_event(const json_t *root, cm_charge event, cm_charge_cost *cost, cm_error *error)
{
  static const char *const fields[] = {"ns", "pj", NULL};
  const json_t *value = json_object_get(root, cm_charge_names[event]);
  char where[WHERE];
  *cost = (cm_charge_cost){0};
  if (value == NULL)
    return CM_OK;
  (void)snprintf(where, sizeof where, "/costs/%s", cm_charge_names[event]);
  CM_TRY(expect_object(value, where, fields, error));
  CM_TRY(read_number(value, where, "ns", &cost->ns, error));
  return read_number(value, where, "pj", &cost->pj, error);
}

static cm_status bad_tile(cm_error *error)
{
  return cm_json_fail(error, CM_BAD_CHIP, "/costs/barrier/tile",
                      "/costs/barrier/tile: expected two whole numbers [x, y] of cores, 1 to %d", TILE_MAX);
}

static cm_status read_tile(const json_t *value, cm_barrier *barrier, cm_error *error)
{
  uint32_t *const side[2] = {&barrier->tile_x, &barrier->tile_y};
  barrier->tile_x = barrier->tile_y = 1;
  if (value == NULL)
    return CM_OK;
  if (json_array_size(value) != 2)
    return bad_tile(error);
  for (size_t i = 0; i < 2; i++) {
    json_int_t number = json_integer_value(json_array_get(value, i));
    if (number < 1 || number > TILE_MAX)
      return bad_tile(error);
    *side[i] = (uint32_t)number;
  }
  return CM_OK;
}

static cm_status read_points(const json_t *value, cm_barrier *barrier, cm_error *error)
{
  size_t count = json_array_size(value);
  if (count < 1 || count > CM_BARRIER_POINTS_MAX)
    return cm_json_fail(error, CM_BAD_CHIP, "/costs/barrier/ns",
                        "/costs/barrier/ns: expected 1 to %d points [tiles in use, ns]", CM_BARRIER_POINTS_MAX);
  for (size_t i = 0; i < count; i++) {
    const json_t *point = json_array_get(value, i);
    json_int_t tiles = json_integer_value(json_array_get(point, 0)), least = i == 0 ? 1 : barrier->tiles[i - 1] + 1;
    double ns = json_is_number(json_array_get(point, 1)) ? json_number_value(json_array_get(point, 1)) : NAN;
    char where[WHERE];
    (void)snprintf(where, sizeof where, "/costs/barrier/ns/%zu", i);
    if (json_array_size(point) != 2 || tiles < least || tiles > CM_CHIP_CORES_MAX || (i == 0 && tiles != 1) ||
        !(ns >= 0 && ns <= COST_MAX))
      return cm_json_fail(error, CM_BAD_CHIP, where,
                          "%s: expected [tiles in use, ns], tiles ascending from 1 and ns from 0 to %g", where, COST_MAX);
    barrier->tiles[i] = (uint32_t)tiles;
    barrier->ns[i] = ns;
  }
  barrier->points = (uint32_t)count;
  return CM_OK;
}

static cm_status read_barrier(const json_t *root, cm_barrier *barrier, cm_error *error)
{
  static const char *const fields[] = {"tile", "ns", "spike", "packet", NULL};
  const json_t *value = json_object_get(root, "barrier");
  *barrier = (cm_barrier){.tile_x = 1, .tile_y = 1};
  if (value == NULL)
    return CM_OK;
  CM_TRY(expect_object(value, "/costs/barrier", fields, error));
  CM_TRY(read_tile(json_object_get(value, "tile"), barrier, error));
  CM_TRY(read_number(value, "/costs/barrier", "spike", &barrier->spike_ns, error));
  CM_TRY(read_number(value, "/costs/barrier", "packet", &barrier->packet_ns, error));
  return read_points(json_object_get(value, "ns"), barrier, error);
}

/* 0, for as many as need be, or a rate at which a packet takes no longer than anything else may. */
static cm_status read_rate(const json_t *object, const char *name, double *rate, cm_error *error)
{
  char where[WHERE];
  (void)snprintf(where, sizeof where, "/costs/packets_per_ns/%s", name);
  CM_TRY(read_number(object, "/costs/packets_per_ns", name, rate, error));
  if (*rate > 0 && *rate < 1 / COST_MAX)
    return cm_json_fail(error, CM_BAD_CHIP, where, "%s: expected 0 (as many as need be) or a number from %g to %g", where,
                        1 / COST_MAX, COST_MAX);
  return CM_OK;
}

static cm_status read_bandwidths(const json_t *root, cm_costs *costs, cm_error *error)
{
  static const char *const fields[] = {"port", "link", NULL};
  const json_t *value = json_object_get(root, "packets_per_ns");
  if (value == NULL)
    return CM_OK;
  CM_TRY(expect_object(value, "/costs/packets_per_ns", fields, error));
  CM_TRY(read_rate(value, "port", &costs->port_packets_per_ns, error));
  return read_rate(value, "link", &costs->link_packets_per_ns, error);
}

cm_status cm_costs_read(const json_t *value, cm_costs *costs, cm_error *error)
{
  static const char *const fields[] = {"packet_sent", "packet_received", "synapse", "neuron", "spike",
                                       "side_by_side", "barrier", "packets_per_ns", NULL};
  cm_costs read = {0};
  if (value == NULL) {
    *costs = cm_costs_unit;
    return CM_OK;
  }
  CM_TRY(expect_object(value, "/costs", fields, error));
  for (cm_charge e = 0; e < CM_CHARGES; e++)
    CM_TRY(read_event(value, e, &read.charge[e], error));
  const json_t *side = json_object_get(value, "side_by_side");
  if (side != NULL && !json_is_boolean(side))
    return cm_json_fail(error, CM_BAD_CHIP, "/costs/side_by_side", "/costs/side_by_side: expected true or false");
  read.side_by_side = side == NULL || json_is_true(side);
  CM_TRY(read_barrier(value, &read.barrier, error));
  CM_TRY(read_bandwidths(value, &read, error));
  *costs = read;
  return CM_OK;
}

static json_t *barrier_json(const cm_barrier *barrier)
{
  json_t *points = json_array();
  for (uint32_t i = 0; i < barrier->points; i++)
    (void)json_array_append_new(points, json_pack("[i, f]", (int)barrier->tiles[i], barrier->ns[i]));
  json_t *object = json_pack("{s:[i, i], s:o}", "tile", (int)barrier->tile_x, (int)barrier->tile_y, "ns", points);
  if (barrier->spike_ns > 0)
    (void)json_object_set_new(object, "spike", json_real(barrier->spike_ns));
  if (barrier->packet_ns > 0)
    (void)json_object_set_new(object, "packet", json_real(barrier->packet_ns));
  return object;
}

bool cm_costs_are_stated(const cm_costs *costs)
{
  bool stated = false;
  for (cm_charge c = 0; c < CM_CHARGES; c++)
    stated |= costs->charge[c].ns != cm_costs_unit.charge[c].ns || costs->charge[c].pj != cm_costs_unit.charge[c].pj;
  return stated;
}

json_t *cm_costs_json(const cm_costs *costs)
{
  json_t *object = json_object();
  int failed = 0;
  for (cm_charge e = 0; e < CM_CHARGES; e++)
    failed |= json_object_set_new(object, cm_charge_names[e],
                                  json_pack("{s:f, s:f}", "ns", costs->charge[e].ns, "pj", costs->charge[e].pj));
  failed |= json_object_set_new(object, "side_by_side", json_boolean(costs->side_by_side));
  if (costs->barrier.points > 0)
    failed |= json_object_set_new(object, "barrier", barrier_json(&costs->barrier));
  if (costs->port_packets_per_ns > 0 || costs->link_packets_per_ns > 0)
    failed |= json_object_set_new(object, "packets_per_ns",
                                  json_pack("{s:f, s:f}", "port", costs->port_packets_per_ns, "link",
                                            costs->link_packets_per_ns));
  if (failed) {
    json_decref(object);
    return NULL;
  }
  return object;
}

double cm_barrier_ns(const cm_barrier *barrier, uint32_t tiles)
{
  double ns = 0;
  for (uint32_t i = 0; i < barrier->points && barrier->tiles[i] <= tiles; i++)
    ns = barrier->ns[i];
  return ns;
}

double cm_between_ns(const cm_barrier *barrier, uint32_t parts, double spikes, double packets)
{
  return barrier->spike_ns * spikes + (parts > 1 ? barrier->packet_ns * packets : 0);
}

double cm_receive_ns(const cm_costs *costs, const cm_core_events *events)
{
  return costs->charge[CM_CHARGE_PACKET_RECEIVED].ns * events->count[CM_CHARGE_PACKET_RECEIVED] +
         costs->charge[CM_CHARGE_SYNAPSE].ns * events->count[CM_CHARGE_SYNAPSE];
}

double cm_send_ns(const cm_costs *costs, const cm_core_events *events)
{
  return costs->charge[CM_CHARGE_NEURON].ns * events->count[CM_CHARGE_NEURON] +
         costs->charge[CM_CHARGE_SPIKE].ns * events->count[CM_CHARGE_SPIKE] +
         costs->charge[CM_CHARGE_PACKET_SENT].ns * events->count[CM_CHARGE_PACKET_SENT];
}
