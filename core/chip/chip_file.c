/* Reads and prints chip descriptions (docs/reference/chip-file.md). What can fail: text that is no JSON, unknown or
 * missing fields, numbers out of range, memory. */
#include <inttypes.h>
#include <math.h>

#include "base/json.h"
#include "core/chip/chip_read.h"
#include "core/chip/classes.h"
#include "core/chip/interconnect/interconnect.h"
#include "core/chip/json.h"

/* Far above any real figure, far below where sums of costs lose precision. */
static const double COST_MAX = 1e12;
enum { DESCRIPTION_MAX = 4000 };

/* A pair of whole numbers; both 1 when the field is not there. */
static cm_status read_pair(const json_t *object, const char *name, uint32_t most, uint32_t pair[2],
                           cm_error *error)
{
  char where[64];
  (void)snprintf(where, sizeof where, "/%s", name);
  const json_t *value = json_object_get(object, name);
  pair[0] = pair[1] = 1;
  if (value == NULL)
    return CM_OK;
  if (!json_is_array(value) || json_array_size(value) != 2)
    return cm_chip_bad(error, where, "expected two whole numbers [x, y]");
  for (size_t i = 0; i < 2; i++) {
    int64_t number;
    (void)snprintf(where, sizeof where, "/%s/%zu", name, i);
    CM_TRY(cm_chip_read_whole(json_array_get(value, i), where, 1, most, &number, error));
    pair[i] = (uint32_t)number;
  }
  return CM_OK;
}

static cm_status read_size(const json_t *root, cm_chip *chip, cm_error *error)
{
  uint32_t dies[2], cores[2], block[2];
  if (json_object_get(root, "cores") == NULL)
    return cm_chip_bad(error, "/cores", "missing; it gives the cores of one die as [width, height]");
  CM_TRY(read_pair(root, "dies", CM_CHIP_CORES_MAX, dies, error));
  CM_TRY(read_pair(root, "cores", CM_CHIP_CORES_MAX, cores, error));
  CM_TRY(read_pair(root, "cores_per_router", CM_CHIP_CORES_MAX, block, error));
  uint64_t width = (uint64_t)dies[0] * cores[0], height = (uint64_t)dies[1] * cores[1];
  if (width > CM_CHIP_CORES_MAX || height > CM_CHIP_CORES_MAX || width * height > CM_CHIP_CORES_MAX)
    return cm_json_fail(error, CM_BAD_CHIP, "/cores",
                        "/cores: %" PRIu64 " x %" PRIu64 " cores are too many; at most %d are possible", width,
                        height, CM_CHIP_CORES_MAX);
  if (cores[0] % block[0] != 0 || cores[1] % block[1] != 0)
    return cm_json_fail(error, CM_BAD_CHIP, "/cores_per_router",
                        "/cores_per_router: a die of %" PRIu32 " x %" PRIu32
                        " cores does not divide into blocks of %" PRIu32 " x %" PRIu32,
                        cores[0], cores[1], block[0], block[1]);
  chip->dies_x = dies[0];
  chip->dies_y = dies[1];
  chip->die_width = cores[0];
  chip->die_height = cores[1];
  chip->width = (uint32_t)width;
  chip->height = (uint32_t)height;
  chip->router_x = block[0];
  chip->router_y = block[1];
  return CM_OK;
}

/* Clusters, and what may leave a neuron for other cores. */
static cm_status read_clusters(const json_t *root, cm_chip *chip, cm_error *error)
{
  const cm_limits *l = &chip->limits;
  uint32_t block[2];
  if (l->far_synapses != 0 && json_object_get(root, "cluster") == NULL)
    return cm_chip_bad(error, "/cluster", "missing; limits/far_synapses_per_neuron counts synapses that leave it: give it as [x, y] cores");
  if ((l->near_synapses != 0 || l->far_synapses != 0) && chip->class_count > 0)
    return cm_chip_bad(error, "/core_classes", "cores of a chip that limits near_synapses_per_neuron or far_synapses_per_neuron are all alike: leave these out, or those");
  if (json_object_get(root, "cluster") == NULL)
    return CM_OK;
  CM_TRY(read_pair(root, "cluster", CM_CHIP_CORES_MAX, block, error));
  if (chip->width % block[0] != 0 || chip->height % block[1] != 0)
    return cm_json_fail(error, CM_BAD_CHIP, "/cluster", "/cluster: %" PRIu32 " x %" PRIu32 " cores do not divide into clusters of %" PRIu32 " x %" PRIu32,
                        chip->width, chip->height, block[0], block[1]);
  chip->cluster_x = block[0];
  chip->cluster_y = block[1];
  return CM_OK;
}

static cm_status read_text(const json_t *root, cm_chip *chip, cm_error *error)
{
  const json_t *name = json_object_get(root, "name"), *description = json_object_get(root, "description");
  if (!json_is_string(name))
    return cm_chip_bad(error, "/name", "expected a text");
  const char *text = json_string_value(name);
  size_t length = json_string_length(name);
  if (length == 0 || length >= CM_CHIP_NAME_MAX ||
      strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") != length ||
      text[0] == '.')
    return cm_json_fail(error, CM_BAD_CHIP, "/name",
                        "/name: expected 1 to %d letters, digits, '.', '_' or '-', not starting with '.'",
                        CM_CHIP_NAME_MAX - 1);
  memcpy(chip->name, text, length + 1);
  if (description != NULL && !json_is_string(description))
    return cm_chip_bad(error, "/description", "expected a text");
  text = description == NULL ? "" : json_string_value(description);
  length = strlen(text);
  if (length > DESCRIPTION_MAX)
    return cm_json_fail(error, CM_BAD_CHIP, "/description", "/description: more than %d bytes",
                        DESCRIPTION_MAX);
  CM_TRY(CM_NEW(NULL, chip->description, length + 1, error));
  memcpy(chip->description, text, length + 1);
  return CM_OK;
}

static cm_status read_torus(const json_t *root, cm_chip *chip, cm_error *error)
{
  const json_t *torus = json_object_get(root, "torus");
  if (torus == NULL)
    return CM_OK;
  const json_t *x = json_array_get(torus, 0), *y = json_array_get(torus, 1);
  if (json_array_size(torus) != 2 || !json_is_boolean(x) || !json_is_boolean(y))
    return cm_chip_bad(error, "/torus", "expected two truth values [x, y]");
  chip->torus_x = json_is_true(x);
  chip->torus_y = json_is_true(y);
  return CM_OK;
}

/* One cost out of an object; `*cost` keeps its value when the field is not there. */
static cm_status read_cost(const json_t *object, const char *group, const char *name, double *cost,
                           cm_error *error)
{
  const json_t *value = json_object_get(object, name);
  if (value == NULL)
    return CM_OK;
  char where[64];
  (void)snprintf(where, sizeof where, "/%s/%s", group, name);
  if (!json_is_number(value))
    return cm_chip_bad(error, where, "expected a number");
  double given = json_number_value(value);
  if (!isfinite(given) || given < 0 || given > COST_MAX)
    return cm_json_fail(error, CM_BAD_CHIP, where, "%s: %g is out of range; 0 to %g are possible", where,
                        given, COST_MAX);
  *cost = given;
  return CM_OK;
}

static cm_status read_costs(const json_t *root, const char *group, double router, double link,
                            cm_hop_cost *cost, cm_error *error)
{
  static const char *const names[] = {"router", "link", "east_west", "north_south", "die_to_die", "diagonal", NULL};
  *cost = (cm_hop_cost){router, link, link, link, link};
  const json_t *object = json_object_get(root, group);
  if (object == NULL)
    return CM_OK;
  char where[32];
  (void)snprintf(where, sizeof where, "/%s", group);
  if (!json_is_object(object))
    return cm_chip_bad(error, where, "expected an object");
  cm_status status = cm_json_known_fields(object, where, names, CM_BAD_CHIP, error);
  CM_THEN(status, read_cost(object, group, "router", &cost->router, error));
  CM_THEN(status, read_cost(object, group, "link", &link, error));
  CM_TRY(status);
  cost->east_west = cost->north_south = cost->die_to_die = cost->diagonal = link;
  CM_TRY(read_cost(object, group, "east_west", &cost->east_west, error));
  CM_TRY(read_cost(object, group, "north_south", &cost->north_south, error));
  CM_TRY(read_cost(object, group, "diagonal", &cost->diagonal, error));
  return read_cost(object, group, "die_to_die", &cost->die_to_die, error);
}

/* Links have a direction only where the chip is a grid. */
static cm_status check_directions(const json_t *root, const cm_chip *chip, cm_error *error)
{
  static const char *const groups[] = {"energy_pj", "latency_ns"}, *const names[] = {"east_west", "north_south", "diagonal"};
  const cm_interconnect *net = chip->interconnect;
  bool grid = net == NULL || net->kind == CM_GRID || net->kind == CM_HEXAGONAL;
  for (size_t g = 0; g < 2; g++)
    for (size_t n = 0; n < 3; n++) {
      bool known = n == 2 ? net != NULL && net->kind == CM_HEXAGONAL : grid;
      char where[64];
      (void)snprintf(where, sizeof where, "/%s/%s", groups[g], names[n]);
      if (!known && json_object_get(json_object_get(root, groups[g]), names[n]) != NULL)
        return cm_chip_bad(error, where, "this chip's interconnect has no such links");
    }
  return CM_OK;
}

static cm_status read_routing(const json_t *root, cm_chip *chip, cm_error *error)
{
  const json_t *routing = json_object_get(root, "routing");
  if (routing == NULL)
    return CM_OK;
  const char *text = json_string_value(routing);
  if (text == NULL || (strcmp(text, "xy") != 0 && strcmp(text, "yx") != 0))
    return cm_chip_bad(error, "/routing", "expected \"xy\" or \"yx\"");
  chip->routing = text[0] == 'x' ? CM_ROUTING_XY : CM_ROUTING_YX;
  return CM_OK;
}

static cm_status read_table_entries(const json_t *root, cm_chip *chip, cm_error *error)
{
  const json_t *value = json_object_get(root, "table_entries");
  int64_t number = 0;
  if (value != NULL && cm_chip_read_whole(value, "/table_entries", 1, INT32_MAX, &number, error) != CM_OK)
    return error->status;
  chip->table_entries = (uint32_t)number;
  return CM_OK;
}

/* Inbound axons that take neurons: both count against the neurons of a core, as memory of a bit each. */
static cm_status read_axon_relays(const json_t *root, cm_chip *chip, cm_error *error)
{
  const json_t *relays = json_object_get(root, "axon_relays");
  cm_limits *l = &chip->limits;
  if (relays != NULL && !json_is_boolean(relays))
    return cm_chip_bad(error, "/axon_relays", "expected a truth value");
  if (!json_is_true(relays))
    return CM_OK;
  if (l->neurons == 0 || l->memory_bits != 0)
    return cm_chip_bad(error, "/axon_relays", l->neurons == 0 ? "inbound axons take neurons of limits/neurons, which is missing" : "leave out limits/memory_bits, or this");
  if (chip->class_count > 0)
    return cm_chip_bad(error, "/axon_relays", "cores of such a chip are all alike: leave out core_classes, or this");
  chip->axon_relays = true;
  l->memory_bits = l->neurons;
  l->neuron_bits = l->axon_bits = 1;
  return CM_OK;
}

/* Limits as the file states them. */
static json_t *limits_json(const cm_chip *chip)
{
  cm_limits stated = chip->limits;
  if (chip->axon_relays)
    stated.memory_bits = stated.neuron_bits = stated.axon_bits = 0;
  return cm_limits_json(&stated, chip->bits_per_synapse);
}

/* What a chip asks of single neurons. Synapses of relays and copies are no synapses of the network: where these are limited nobody
 * would count them. */
static cm_status read_neurons(const json_t *root, cm_chip *chip, cm_error *error)
{
  const json_t *relays = json_object_get(root, "relays");
  const cm_limits *l = &chip->limits;
  if (relays != NULL && !json_is_boolean(relays))
    return cm_chip_bad(error, "/relays", "expected a truth value");
  chip->relays = json_is_true(relays);
  if (chip->relays && l->fan_in == 0)
    return cm_chip_bad(error, "/relays", "relays are for neurons of more inputs than limits/fan_in_per_neuron, which is missing");
  CM_TRY(read_axon_relays(root, chip, error));
  bool counted = l->synapses != 0 || (l->memory_bits != 0 && l->synapse_bits != 0);
  for (uint32_t k = 0; k < chip->class_count; k++)
    counted = counted || chip->classes[k].limits.synapses != 0 || chip->classes[k].limits.synapse_bits != 0;
  if (counted && (chip->relays || l->neuron_target_cores != 0))
    return cm_chip_bad(error, chip->relays ? "/relays" : "/limits/target_cores_per_neuron",
                       "synapses of relays and copies are not counted: leave out limits on synapses, or this");
  if (chip->table_entries != 0 && l->neuron_target_cores != 0)
    return cm_chip_bad(error, "/table_entries", "a neuron that reaches few cores sends packets to each, without tables: leave out table_entries, or limits/target_cores_per_neuron");
  return CM_OK;
}

static cm_status read_interconnect(const json_t *root, cm_chip *chip, cm_error *error)
{
  CM_TRY(cm_interconnect_read(json_object_get(root, "interconnect"), chip, &chip->interconnect, error));
  CM_TRY(check_directions(root, chip, error));
  const json_t *routers = json_object_get(root, "dead_routers");
  if (chip->interconnect == NULL && routers != NULL)
    return cm_chip_bad(error, "/dead_routers", "a plain mesh goes around no router: add \"interconnect\": {\"kind\": \"grid\"}");
  if (chip->interconnect == NULL)
    return cm_dead_links_read(root, chip, error);
  if (json_object_get(root, "machine") != NULL)
    return cm_chip_bad(error, "/machine", "chips that run programs are a plain mesh or torus: leave out interconnect");
  if (json_object_get(root, "routing") != NULL)
    return cm_chip_bad(error, "/routing", "axes have an order on a plain mesh or torus only: leave out interconnect, or this");
  return cm_interconnect_read_dead(json_object_get(root, "dead_links"), routers, chip->interconnect, error);
}

/* What every link and router carries of pairs of cores. Parts change places to keep it, which other limits on places would not survive. */
static cm_status read_circuits(const json_t *root, cm_chip *chip, cm_error *error)
{
  static const char *const names[] = {"link", "router_in", "router_out", NULL}, *const others[] = {"interconnect", "machine", "core_classes", "router_limits", "die_limits", NULL};
  uint32_t *const at[] = {&chip->circuits.link, &chip->circuits.router_in, &chip->circuits.router_out};
  const json_t *object = json_object_get(root, "circuits");
  char where[64];
  if (object == NULL)
    return CM_OK;
  if (!json_is_object(object) || json_object_size(object) == 0)
    return cm_chip_bad(error, "/circuits", "expected link, router_in or router_out");
  CM_TRY(cm_json_known_fields(object, "/circuits", names, CM_BAD_CHIP, error));
  for (int i = 0; names[i] != NULL; i++) {
    int64_t number = 0;
    (void)snprintf(where, sizeof where, "/circuits/%s", names[i]);
    if (json_object_get(object, names[i]) != NULL && cm_chip_read_whole(json_object_get(object, names[i]), where, 1, INT32_MAX, &number, error) != CM_OK)
      return error->status;
    *at[i] = (uint32_t)number;
  }
  for (int i = 0; others[i] != NULL; i++)
    if (json_object_get(root, others[i]) != NULL) {
      (void)snprintf(where, sizeof where, "not kept together with %s: leave out that, or this", others[i]);
      return cm_chip_bad(error, "/circuits", where);
    }
  if (chip->limits.near_synapses != 0 || chip->limits.far_synapses != 0)
    return cm_chip_bad(error, "/circuits", "not kept together with limits/near_synapses_per_neuron or far_synapses_per_neuron: leave these out, or this");
  return CM_OK;
}

static json_t *circuits_json(const cm_circuit_limits *l)
{
  if (l->link + l->router_in + l->router_out == 0)
    return NULL;
  return json_pack("{s:o*, s:o*, s:o*}", "link", l->link != 0 ? json_integer(l->link) : NULL, "router_in", l->router_in != 0 ? json_integer(l->router_in) : NULL, "router_out",
                   l->router_out != 0 ? json_integer(l->router_out) : NULL);
}

static cm_status read_chip(const json_t *root, cm_chip *chip, cm_error *error)
{
  static const char *const names[] = {"name", "description", "dies", "cores", "cores_per_router", "torus",
                                      "limits", "energy_pj", "latency_ns", "routing", "dead_cores",
                                      "dead_links", "table_entries", "machine", "costs", "interconnect",
                                      "dead_routers", "core_classes", "relays", "axon_relays", "images", "cluster", "router_limits", "die_limits", "circuits", NULL};
  cm_status status = cm_json_known_fields(root, "", names, CM_BAD_CHIP, error);
  if (status != CM_OK || (status = read_text(root, chip, error)) != CM_OK ||
      (status = read_size(root, chip, error)) != CM_OK || (status = read_torus(root, chip, error)) != CM_OK ||
      (status = cm_limits_read(json_object_get(root, "limits"), "/limits", &chip->limits, &chip->bits_per_synapse, error)) != CM_OK ||
      (status = read_costs(root, "energy_pj", 1, 0.1, &chip->energy_pj, error)) != CM_OK ||
      (status = read_costs(root, "latency_ns", 1, 0.01, &chip->latency_ns, error)) != CM_OK ||
      (status = cm_costs_read(json_object_get(root, "costs"), &chip->costs, error)) != CM_OK ||
      (status = read_routing(root, chip, error)) != CM_OK ||
      (status = read_table_entries(root, chip, error)) != CM_OK ||
      (status = cm_dead_cores_read(root, chip, error)) != CM_OK ||
      (status = cm_classes_read(json_object_get(root, "core_classes"), chip, error)) != CM_OK ||
      (status = read_neurons(root, chip, error)) != CM_OK || (status = read_clusters(root, chip, error)) != CM_OK ||
      (status = cm_shared_limits_read(root, "router_limits", &chip->router_limits, error)) != CM_OK ||
      (status = cm_shared_limits_read(root, "die_limits", &chip->die_limits, error)) != CM_OK ||
      (status = read_circuits(root, chip, error)) != CM_OK || (status = cm_image_limits_read(json_object_get(root, "images"), &chip->images, error)) != CM_OK)
    return status;
  CM_TRY(read_interconnect(root, chip, error));
  if ((chip->limits.near_synapses != 0 || chip->limits.far_synapses != 0) &&
      (json_object_get(root, "router_limits") != NULL || json_object_get(root, "die_limits") != NULL))
    return cm_chip_bad(error, json_object_get(root, "router_limits") != NULL ? "/router_limits" : "/die_limits",
                       "not kept together with limits/near_synapses_per_neuron or far_synapses_per_neuron: leave these out, or this");
  const json_t *machine = json_object_get(root, "machine");
  if (machine != NULL && chip->class_count > 0)
    return cm_chip_bad(error, "/core_classes", "cores of chips that run programs differ by their devices: leave out machine, or this");
  return machine == NULL ? CM_OK : cm_target_read(machine, chip, &chip->target, error);
}

cm_status cm_chip_parse(const char *json, size_t size, cm_chip **chip, cm_error *error)
{
  static const cm_document kind = {"chip description", CM_CHIP_FILE_BYTES_MAX, CM_BAD_CHIP};
  json_t *root;
  CM_TRY(cm_json_load(json, size, &kind, &root, error));
  cm_chip *fresh;
  cm_status status = CM_NEW(NULL, fresh, 1, error);
  CM_THEN(status, read_chip(root, fresh, error));
  json_decref(root);
  CM_END(status, *chip = fresh, cm_chip_free(fresh));
}

static json_t *cost_json(const cm_chip *chip, const cm_hop_cost *cost)
{
  const cm_interconnect *net = chip->interconnect;
  if (net != NULL && net->kind != CM_GRID && net->kind != CM_HEXAGONAL)
    return json_pack("{s:f, s:f, s:f}", "router", cost->router, "link", cost->east_west, "die_to_die", cost->die_to_die);
  return json_pack("{s:f, s:f, s:f, s:f, s:o*}", "router", cost->router, "east_west", cost->east_west,
                   "north_south", cost->north_south, "die_to_die", cost->die_to_die, "diagonal",
                   net != NULL && net->kind == CM_HEXAGONAL ? json_real(cost->diagonal) : NULL);
}

json_t *cm_chip_json(const cm_chip *chip)
{
  return json_pack("{s:s, s:s, s:[i,i], s:[i,i], s:[i,i], s:[b,b], s:o, s:o, s:o, s:s*, s:o, s:o, s:o*, s:o*, s:o, s:o*, s:o*, s:o*, s:o*, s:o*, s:o*, s:o*, s:o*, s:o*}", "name",
                   chip->name, "description", chip->description, "dies", (int)chip->dies_x,
                   (int)chip->dies_y, "cores", (int)chip->die_width, (int)chip->die_height,
                   "cores_per_router", (int)chip->router_x, (int)chip->router_y, "torus", chip->torus_x,
                   chip->torus_y, "limits", limits_json(chip), "energy_pj", cost_json(chip, &chip->energy_pj),
                   "latency_ns", cost_json(chip, &chip->latency_ns), "routing",
                   chip->interconnect != NULL ? NULL : chip->routing == CM_ROUTING_XY ? "xy" : "yx", "dead_cores", cm_dead_cores_json(chip),
                   "dead_links",
                   chip->interconnect != NULL ? cm_interconnect_dead_json(chip->interconnect) : cm_dead_links_json(chip), "table_entries",
                   chip->table_entries == 0 ? NULL : json_integer(chip->table_entries), "machine",
                   chip->target == NULL ? NULL : cm_target_json(chip->target), "costs",
                   cm_costs_json(&chip->costs), "interconnect",
                   chip->interconnect == NULL ? NULL : cm_interconnect_json(chip->interconnect),
                   "core_classes", cm_classes_json(chip), "relays", chip->relays ? json_true() : NULL, "axon_relays",
                   chip->axon_relays ? json_true() : NULL, "images", cm_image_limits_json(&chip->images),
                   "cluster", chip->cluster_x == 0 ? NULL : json_pack("[i,i]", (int)chip->cluster_x, (int)chip->cluster_y),
                   "router_limits", cm_shared_limits_json(&chip->router_limits), "die_limits", cm_shared_limits_json(&chip->die_limits), "circuits", circuits_json(&chip->circuits));
}

cm_status cm_chip_print(const cm_chip *chip, char **json, cm_error *error)
{
  return cm_json_text(cm_chip_json(chip), JSON_INDENT(2), "the text of the chip", json, error);
}
