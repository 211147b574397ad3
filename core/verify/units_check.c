/* Happy path: the network's synapses by target -> neurons of the file one by one, their relays and copies -> neurons that are not in it
 * -> what stands on each core. What can fail: files, memory, a stop. */
#include "core/verify/check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/order.h"
#include "core/verify/check_measure.h"
#include "core/verify/check_read.h"
#include "core/verify/check_report.h"

enum { FILE_BYTES_MAX = 1 << 30 };

typedef struct checking {
  const cm_demand *demand;
  const cm_chip *chip;
  cm_run *run;
  cm_check_result *result;
  cm_check_file file;
  uint64_t *in_first; /* [vertices + 2] */
  uint32_t *in;       /* [pins] sources by target */
  uint32_t *found;    /* of one neuron: synapses by its relays, or cores by its copies */
  uint64_t found_count, found_capacity;
  cm_reached reached; /* parts that the neuron at hand reaches */
  uint32_t *net;      /* [vertices + 1] its first net */
  uint32_t *units;    /* [vertices] of each neuron, 0: not in the file */
  uint64_t given;     /* neurons of the network, by their sizes without relays */
  uint8_t *fed;       /* of one neuron's relays: how many others each feeds */
  uint64_t fed_capacity;
} checking;

#define violation(c, ...) cm_check_violation((c)->result, __VA_ARGS__)

static cm_status gather(checking *c, cm_error *error)
{
  const cm_topology *t = c->demand->network;
  cm_memory *memory = c->run->memory;
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(c->in_first, (size_t)t->vertex_count + 2), CM_ARRAY(c->in, t->pin_count),
                    CM_ARRAY(c->net, (size_t)t->vertex_count + 1), CM_ARRAY(c->units, t->vertex_count)));
  for (uint32_t e = 0; e < t->net_count; e++) {
    c->net[cm_topology_source(t, e) + 1]++;
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
      c->in_first[t->pin[i] + 2]++;
  }
  for (uint32_t v = 0; v < t->vertex_count; v++) {
    c->net[v + 1] += c->net[v];
    c->in_first[v + 2] += c->in_first[v + 1];
  }
  for (uint32_t e = 0; e < t->net_count; e++)
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
      c->in[c->in_first[t->pin[i] + 1]++] = cm_topology_source(t, e);
  return CM_OK;
}

static cm_status note(checking *c, uint64_t value, cm_error *error)
{
  CM_TRY(CM_ROOM(c->run->memory, c->found, &c->found_capacity, c->found_count + 1, error));
  c->found[c->found_count++] = (uint32_t)value;
  return CM_OK;
}

/* Whether what was found is what there should be, each as often. Both are sorted on the way. */
static bool is_all(checking *c, uint32_t *wanted, uint64_t count)
{
  if (count != c->found_count)
    return false;
  if (count > 0) {
    qsort(wanted, count, sizeof *wanted, cm_ascending);
    qsort(c->found, count, sizeof *c->found, cm_ascending);
  }
  return count == 0 || memcmp(wanted, c->found, count * sizeof *wanted) == 0;
}

/* What one relay (number below `relays`), or the neuron itself, takes in: synapses are noted, relays of lower numbers counted as fed. */
static cm_status take_inputs(checking *c, uint32_t v, const json_t *list, size_t number, cm_error *error)
{
  uint64_t count = json_array_size(list);
  if (!json_is_array(list) || count == 0)
    violation(c, "units: neuron %" PRIu32 " has a relay, or is one's neuron, without inputs", v);
  if (count > c->chip->limits.fan_in)
    violation(c, "units: neuron %" PRIu32 ", or a relay of it, takes %" PRIu64 " inputs, over the limit of %" PRIu64, v, count, c->chip->limits.fan_in);
  for (size_t i = 0; i < count; i++) {
    const json_t *item = json_array_get(list, i);
    json_int_t value = json_integer_value(item);
    if (!json_is_integer(item) || value >= (json_int_t)c->demand->network->vertex_count || (value < 0 && -1 - value >= (json_int_t)number))
      violation(c, "units: neuron %" PRIu32 " has an input that is neither a neuron nor a relay before it", v);
    else if (value < 0)
      c->fed[-1 - value] = c->fed[-1 - value] == 0 ? 1 : 2;
    else if (note(c, (uint64_t)value, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

static cm_status check_relays(checking *c, uint32_t v, const json_t *entry, uint64_t *relays, cm_error *error)
{
  const json_t *list = json_object_get(entry, "relays");
  uint64_t inputs = c->in_first[v + 1] - c->in_first[v];
  *relays = json_array_size(list);
  if (list == NULL) {
    if (c->chip->limits.fan_in != 0 && inputs > c->chip->limits.fan_in)
      violation(c, "units: neuron %" PRIu32 " has %" PRIu64 " inputs, over the limit of %" PRIu64 ", and no relays", v, inputs, c->chip->limits.fan_in);
    return CM_OK;
  }
  if (!c->chip->relays)
    violation(c, "units: neuron %" PRIu32 " has relays, and the chip takes none", v);
  c->found_count = 0;
  CM_TRY(CM_ROOM(c->run->memory, c->fed, &c->fed_capacity, *relays + 1, error));
  memset(c->fed, 0, *relays + 1);
  for (size_t i = 0; i < *relays; i++)
    CM_TRY(take_inputs(c, v, json_array_get(list, i), i, error));
  CM_TRY(take_inputs(c, v, json_object_get(entry, "inputs"), *relays, error));
  for (size_t i = 0; i < *relays; i++)
    if (c->fed[i] != 1)
      violation(c, "units: relay %zu of neuron %" PRIu32 " feeds %s", i, v, c->fed[i] == 0 ? "nobody" : "more than one");
  if (!is_all(c, c->in + c->in_first[v], inputs))
    violation(c, "units: the synapses that come into neuron %" PRIu32 " over its relays are not its %" PRIu64 ", each once", v, inputs);
  return CM_OK;
}

static cm_status check_copies(checking *c, uint32_t v, const json_t *entry, uint64_t *copies, cm_error *error)
{
  const json_t *list = json_object_get(entry, "copies");
  uint64_t most = c->chip->limits.neuron_target_cores, reached;
  *copies = list != NULL ? json_array_size(list) : 1;
  c->reached.count = 0;
  CM_TRY_IF(most != 0, cm_check_reached(c->demand->network, c->file.neuron, &c->net[v], c->run, &c->reached, error));
  reached = c->reached.count;
  if (list == NULL) {
    if (most != 0 && reached > most)
      violation(c, "units: neuron %" PRIu32 " reaches %" PRIu64 " cores, over the limit of %" PRIu64 ", and has no copies", v, reached, most);
    return CM_OK;
  }
  c->found_count = 0;
  for (size_t i = 0; i < *copies; i++) {
    const json_t *parts = json_array_get(list, i);
    uint64_t count = json_array_size(parts);
    if (count == 0 || count > most)
      violation(c, "units: copy %zu of neuron %" PRIu32 " serves %" PRIu64 " cores of at most %" PRIu64, i, v, count, most);
    for (size_t k = 0; k < count; k++) {
      const json_t *part = json_array_get(parts, k);
      if (!json_is_integer(part) || json_integer_value(part) < 0 || json_integer_value(part) >= (json_int_t)c->file.kept_cores)
        violation(c, "units: copy %zu of neuron %" PRIu32 " serves a part that there is not", i, v);
      else if (note(c, (uint64_t)json_integer_value(part), error) != CM_OK)
        return error->status;
    }
  }
  if (!is_all(c, c->reached.part, reached))
    violation(c, "units: the cores that the copies of neuron %" PRIu32 " serve are not the %" PRIu64 " that it reaches, each once", v, reached);
  return CM_OK;
}

static cm_status check_entry(checking *c, const json_t *entry, cm_error *error)
{
  const json_t *number = json_object_get(entry, "neuron");
  uint64_t copies, relays;
  if (!json_is_integer(number) || json_integer_value(number) < 0 || json_integer_value(number) >= (json_int_t)c->demand->network->vertex_count)
    return cm_fail(error, CM_BAD_MAPPING, "the units name a neuron that the network does not have");
  uint32_t v = (uint32_t)json_integer_value(number);
  if (c->units[v] != 0) {
    violation(c, "units: neuron %" PRIu32 " stands there twice", v);
    return CM_OK;
  }
  if (json_integer_value(json_object_get(entry, "part")) != (json_int_t)c->file.neuron[v])
    violation(c, "units: neuron %" PRIu32 " is in part %" PRIu32, v, c->file.neuron[v]);
  CM_TRY(check_relays(c, v, entry, &relays, error));
  CM_TRY(check_copies(c, v, entry, &copies, error));
  c->given += cm_demand_size(c->demand, v) / (1 + relays);
  if (cm_demand_size(c->demand, v) % (1 + relays) != 0)
    violation(c, "units: neuron %" PRIu32 " is counted as %" PRIu64 " neurons, which its %" PRIu64 " relays and itself do not divide", v,
              (uint64_t)cm_demand_size(c->demand, v), relays);
  c->units[v] = (uint32_t)(copies * cm_demand_size(c->demand, v)); /* sizes have the relays in them */
  return CM_OK;
}

/* Neurons that the file leaves out need nothing; then what stands on every core. */
static cm_status check_rest(checking *c, cm_error *error)
{
  uint64_t *held, ignored;
  CM_TRY(CM_NEW(c->run->memory, held, c->file.kept_cores, error));
  cm_status status = CM_OK;
  for (uint32_t v = 0; v < c->demand->network->vertex_count && status == CM_OK; v++) {
    if (c->units[v] == 0) {
      c->units[v] = cm_demand_size(c->demand, v);
      c->given += c->units[v];
      status = check_relays(c, v, NULL, &ignored, error);
      CM_THEN(status, check_copies(c, v, NULL, &ignored, error));
    }
    held[c->file.neuron[v]] += c->units[v];
  }
  const uint64_t neurons = c->demand->size_total - c->demand->relay_count;
  if (status == CM_OK && c->demand->neurons_limited && c->given != neurons)
    violation(c, "units: without relays there are %" PRIu64 " neurons, and the network has %" PRIu64, c->given, neurons);
  for (uint64_t i = 0; i < c->file.kept_cores && status == CM_OK; i++)
    if (held[c->file.core[i].part] != c->file.core[i].neurons)
      violation(c, "units: part %" PRIu64 " has %" PRIu64 " neurons, relays and copies, and the mapping says %" PRIu64, c->file.core[i].part,
                held[c->file.core[i].part], c->file.core[i].neurons);
  cm_free(held);
  return status;
}

static cm_status check_units(checking *c, const json_t *root, cm_error *error)
{
  const char *format = json_string_value(json_object_get(root, "format"));
  const json_t *list = json_object_get(root, "neurons");
  if (format == NULL || strcmp(format, "coremapd units 1") != 0 || !json_is_array(list))
    return cm_fail(error, CM_BAD_MAPPING, "the units' \"format\" is not \"coremapd units 1\", or \"neurons\" is no list");
  CM_TRY(gather(c, error));
  for (size_t i = 0; i < json_array_size(list); i++)
    if (check_entry(c, json_array_get(list, i), error) != CM_OK || cm_run_check(c->run, error) != CM_OK)
      return error->status;
  return check_rest(c, error);
}

static cm_status read_files(checking *c, const char *path, const char *mapping_path, json_t **root, cm_error *error)
{
  char *text;
  size_t size;
  json_error_t trouble;
  FILE *stream = fopen(mapping_path, "rbe");
  if (stream == NULL)
    return cm_fail_errno(error, errno, "cannot open", mapping_path);
  cm_status status = cm_check_read(stream, c->demand->network->vertex_count, cm_chip_cores(c->chip), c->run, &c->file, error);
  (void)fclose(stream);
  if (status != CM_OK || cm_file_read(path, FILE_BYTES_MAX, &text, &size, error) != CM_OK)
    return error->status;
  uint64_t refusals = cm_json_refusals();
  *root = cm_json_loadb(text, size, JSON_REJECT_DUPLICATES, &trouble);
  free(text);
  CM_TRY_IF(*root == NULL, cm_json_whole(refusals, "the units", error));
  return *root != NULL ? CM_OK : cm_fail(error, CM_BAD_MAPPING, "the units cannot be read as JSON (as coremap export --to units writes them): line %d: %s",
                                         trouble.line, trouble.text);
}

cm_status cm_units_check(const char *path, const char *mapping_path, const cm_check_context *context, cm_check_result *result,
                         cm_error *error)
{
  checking c = {.demand = context->demand, .chip = context->chip, .run = context->run, .result = result};
  json_t *root = NULL;
  CM_TRY_IF(result->violations == NULL, CM_NEW(NULL, result->violations, CM_CHECK_LISTED_MAX, error));
  cm_status status = read_files(&c, path, mapping_path, &root, error);
  CM_THEN(status, check_units(&c, root, error));
  CM_THEN(status, cm_check_whole(result, error));
  json_decref(root);
  cm_check_file_free(&c.file);
  CM_FREE(c.in_first, c.in, c.found, c.reached.part, c.net, c.units, c.fed);
  return status;
}
