/* The independent check of a mapping file. Happy path: read the file, check its shape (neurons, parts, cores),
 * recompute every figure, compare with the core limits and with what the file states. What can fail: the file cannot
 * be read or understood, memory, a stop. Everything else is a violation and listed. */
#include "core/verify/check.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "core/verify/check_internal.h"

static const double TOLERANCE = 1e-6;
enum { SENTENCE_MAX = 300 };
#define violation(c, ...) cm_check_violation(&(c)->result, &(c)->out_of_memory, __VA_ARGS__)

typedef struct checker {
  const cm_topology *topology;
  const cm_chip *chip;
  const cm_occupancy *occupancy;
  const char *network_id;
  cm_run *run;
  cm_check_file file;
  uint32_t parts;        /* parts that the file's cores give a place */
  uint32_t *core;        /* [parts] */
  uint8_t *dead;         /* [cores of the chip] */
  bool sound;            /* parts and cores are in range: figures can be recomputed */
  cm_check_truth truth;
  cm_check_result result;
  bool out_of_memory;
} checker;

void cm_check_violation(cm_check_result *result, bool *out_of_memory, const char *format, ...)
{
  result->violation_count++;
  if (result->listed == CM_CHECK_LISTED_MAX)
    return;
  char text[SENTENCE_MAX];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  size_t size = length < 0 ? 0 : (size_t)length >= sizeof text ? sizeof text - 1 : (size_t)length;
  cm_error error;
  char *copy;
  if (CM_NEW(NULL, copy, size + 1, &error) != CM_OK) {
    *out_of_memory = true;
    return;
  }
  memcpy(copy, text, size);
  result->violations[result->listed++] = copy;
}

void cm_check_result_free(cm_check_result *result)
{
  for (uint32_t i = 0; i < result->listed; i++)
    cm_free(result->violations[i]);
  cm_free(result->violations);
  *result = (cm_check_result){0};
}

/* Compares a whole number that the file states with the true one. */
static void compare_count(checker *c, const json_t *object, const char *name, const char *label, uint64_t truth)
{
  const json_t *value = json_object_get(object, name);
  if (!json_is_integer(value))
    violation(c, "%s is missing; it is %" PRIu64, label, truth);
  else if (json_integer_value(value) < 0 || (uint64_t)json_integer_value(value) != truth)
    violation(c, "%s is stated as %" JSON_INTEGER_FORMAT ", but is %" PRIu64, label, json_integer_value(value),
              truth);
}

bool cm_check_differs(double stated, double truth)
{
  return !(fabs(stated - truth) <= TOLERANCE * fmax(fabs(stated), fabs(truth)));
}

/* ---- shape ---- */

static void check_header(checker *c)
{
  compare_count(c, c->file.rest, "parts", "the number of parts", c->file.core_count);
}

/* Why a core cannot be used; NULL: it can. */
static const char *unusable(const checker *c, uint32_t core)
{
  if (c->dead[core])
    return "dead";
  if (c->occupancy == NULL || c->occupancy->state[core] == CM_CORE_FREE)
    return NULL;
  return c->occupancy->state[core] == CM_CORE_BROKEN ? "broken" : "occupied";
}

static bool outside_region(const json_t *region, const cm_check_core *core)
{
  json_int_t x = json_integer_value(json_object_get(region, "x")), y = json_integer_value(json_object_get(region, "y"));
  json_int_t width = json_integer_value(json_object_get(region, "width"));
  json_int_t height = json_integer_value(json_object_get(region, "height"));
  json_int_t at_x = (json_int_t)core->x, at_y = (json_int_t)core->y;
  return at_x < x || at_y < y || at_x - x >= width || at_y - y >= height;
}

static void check_core(checker *c, const cm_check_core *core, uint8_t *placed, uint32_t *tenant)
{
  if (core->part >= c->parts) {
    violation(c, "\"cores\" names part %" PRIu64 ", but there are %" PRIu32 " parts", core->part, c->parts);
    c->sound = false;
    return;
  }
  if (placed[core->part]) {
    violation(c, "part %" PRIu64 " is placed twice", core->part);
    c->sound = false;
    return;
  }
  placed[core->part] = 1;
  if (core->x >= c->chip->width || core->y >= c->chip->height) {
    violation(c, "part %" PRIu64 " is on core (%" PRIu64 ", %" PRIu64 "), outside the chip of %" PRIu32 " x %" PRIu32,
              core->part, core->x, core->y, c->chip->width, c->chip->height);
    c->sound = false;
    return;
  }
  uint32_t number = (uint32_t)(core->y * c->chip->width + core->x);
  c->core[core->part] = number;
  if (tenant[number] != 0)
    violation(c, "parts %" PRIu32 " and %" PRIu64 " share core (%" PRIu64 ", %" PRIu64 ")", tenant[number] - 1,
              core->part, core->x, core->y);
  tenant[number] = (uint32_t)core->part + 1;
  const char *why = unusable(c, number);
  if (why != NULL)
    violation(c, "part %" PRIu64 " is on core (%" PRIu64 ", %" PRIu64 "), which is %s", core->part, core->x, core->y,
              why);
  const json_t *region = json_object_get(c->file.rest, "region");
  if (json_is_object(region) && outside_region(region, core))
    violation(c, "part %" PRIu64 " is on core (%" PRIu64 ", %" PRIu64 "), outside the stated region", core->part,
              core->x, core->y);
}

static cm_status check_cores(checker *c, cm_error *error)
{
  uint8_t *placed = NULL;
  uint32_t *tenant = NULL; /* part on each core, plus 1 */
  if (c->file.core_count > c->file.kept_cores) {
    violation(c, "%" PRIu64 " parts are more than the chip's %" PRIu32 " cores", c->file.core_count,
              cm_chip_cores(c->chip));
    c->sound = false;
  }
  c->parts = (uint32_t)c->file.kept_cores;
  cm_status status = CM_OK;
  if (CM_NEW(c->run->memory, c->core, c->parts, error) != CM_OK ||
      CM_NEW(c->run->memory, c->dead, cm_chip_cores(c->chip), error) != CM_OK ||
      CM_NEW(c->run->memory, placed, c->parts, error) != CM_OK ||
      CM_NEW(c->run->memory, tenant, cm_chip_cores(c->chip), error) != CM_OK)
    status = error->status;
  for (uint32_t i = 0; status == CM_OK && i < c->chip->dead_core_count; i++)
    c->dead[c->chip->dead_cores[i]] = 1;
  for (uint64_t i = 0; status == CM_OK && i < c->file.kept_cores; i++)
    check_core(c, &c->file.core[i], placed, tenant);
  for (uint32_t p = 0; status == CM_OK && p < c->parts; p++)
    if (!placed[p]) {
      violation(c, "part %" PRIu32 " has no core", p);
      c->sound = false;
    }
  cm_free(placed);
  cm_free(tenant);
  return status;
}

static void check_neurons(checker *c)
{
  if (c->file.neuron_count != c->topology->vertex_count) {
    violation(c, "\"neurons\" has %" PRIu64 " entries, the network %" PRIu32 " neurons", c->file.neuron_count,
              c->topology->vertex_count);
    c->sound = false;
  }
  for (uint64_t v = 0; v < c->file.kept_neurons; v++)
    if (c->file.neuron[v] >= c->parts) {
      violation(c, "neuron %" PRIu64 " is in part %" PRIu32 ", but there are %" PRIu32 " parts", v,
                c->file.neuron[v], c->parts);
      c->sound = false;
    }
}

/* ---- limits and figures ---- */

static void check_limit(checker *c, uint32_t part, const char *what, uint64_t has, uint64_t limit)
{
  if (limit != 0 && has > limit)
    violation(c, "part %" PRIu32 " on core (%" PRIu32 ", %" PRIu32 ") has %" PRIu64 " %s, over the limit of %" PRIu64,
              part, c->core[part] % c->chip->width, c->core[part] / c->chip->width, has, what, limit);
}

static void check_limits(checker *c)
{
  for (uint32_t p = 0; p < c->parts; p++) {
    const cm_core_load *load = &c->truth.core[p];
    const cm_limits *limits = cm_check_limits_at(c->chip, c->core[p]);
    check_limit(c, p, "neurons", load->neurons, limits->neurons);
    check_limit(c, p, "synapses", load->synapses, limits->synapses);
    check_limit(c, p, "inbound axons", load->inbound_axons, limits->inbound_axons);
    check_limit(c, p, "outbound axons", load->outbound_axons, limits->outbound_axons);
    check_limit(c, p, "target cores", load->target_cores, limits->target_cores);
    check_limit(c, p, "bits of memory",
                load->neurons * limits->neuron_bits + load->synapses * limits->synapse_bits + load->inbound_axons * limits->axon_bits,
                limits->memory_bits);
  }
}

static cm_status check_populations(checker *c, cm_error *error)
{
  uint32_t *count;
  bool limited = c->chip->limits.populations != 0;
  for (uint32_t k = 0; k < c->chip->class_count; k++)
    limited = limited || c->chip->classes[k].limits.populations != 0;
  if (!limited)
    return CM_OK;
  if (CM_NEW(c->run->memory, count, c->parts, error) != CM_OK)
    return error->status;
  cm_status status = cm_check_measure_populations(c->topology, c->file.neuron, c->parts, c->run, count, error);
  for (uint32_t p = 0; status == CM_OK && p < c->parts; p++)
    check_limit(c, p, "populations", count[p], cm_check_limits_at(c->chip, c->core[p])->populations);
  cm_free(count);
  return status;
}

static void compare_load(checker *c, uint64_t part, const char *what, double stated, double truth)
{
  if (cm_check_differs(stated, truth))
    violation(c, "part %" PRIu64 ": %s is stated as %.17g, but is %.17g", part, what, stated, truth);
}

static void check_loads(checker *c)
{
  for (uint64_t i = 0; i < c->file.kept_cores; i++) {
    const cm_check_core *core = &c->file.core[i];
    const cm_core_load *truth = &c->truth.core[core->part];
    compare_load(c, core->part, "neurons", (double)core->neurons, (double)truth->neurons);
    compare_load(c, core->part, "synapses", (double)core->synapses, (double)truth->synapses);
    compare_load(c, core->part, "inbound_axons", (double)core->inbound_axons, (double)truth->inbound_axons);
    compare_load(c, core->part, "outbound_axons", (double)core->outbound_axons, (double)truth->outbound_axons);
    compare_load(c, core->part, "target_cores", (double)core->target_cores, (double)truth->target_cores);
    compare_load(c, core->part, "traffic_in", core->traffic_in, truth->traffic_in);
    compare_load(c, core->part, "traffic_out", core->traffic_out, truth->traffic_out);
  }
}

/* Links between routers alone counted in mappings of older versions, where ports count now. */
static cm_metrics as_of(const checker *c, cm_metrics_age made)
{
  cm_metrics m = c->truth.metrics;
  if (made < CM_SINCE_PORTS) {
    const cm_costs *costs = &c->chip->costs;
    double port = m.port_load_max / (costs->port_packets_per_ns > 0 ? costs->port_packets_per_ns : 1),
           link = c->truth.link_most / (costs->link_packets_per_ns > 0 ? costs->link_packets_per_ns : 1);
    m.link_load_max = c->truth.link_most;
    m.multicast_link_load_max = c->truth.tree_link_most;
    m.saturation_load = fmax(port, link) > 0 ? 1 / fmax(port, link) : 0;
  }
  return m;
}

/* Whether a figure that older mappings mean otherwise is stated as it is meant now. */
static bool counts_ports(const checker *c, const json_t *metrics)
{
  cm_metrics now = c->truth.metrics, before = as_of(c, CM_SINCE_STEPS);
  const struct {
    const char *name;
    double now, before;
  } both[] = {{"link_load_max", now.link_load_max, before.link_load_max},
              {"multicast_link_load_max", now.multicast_link_load_max, before.multicast_link_load_max},
              {"saturation_load", now.saturation_load, before.saturation_load}};
  for (size_t i = 0; i < sizeof both / sizeof *both; i++) {
    double stated = json_number_value(json_object_get(metrics, both[i].name));
    if (cm_check_differs(stated, both[i].before) && !cm_check_differs(stated, both[i].now))
      return true;
  }
  return false;
}

/* A metric of the table; sentences are judged apart. */
typedef struct figure {
  const char *name;
  size_t offset, size;
  bool real;
  cm_metrics_age since;
} figure;

#define REAL(name, where, since, ...) {#name, offsetof(cm_metrics, name), sizeof(double), true, since},
#define COUNT(name, where, since, ...) {#name, offsetof(cm_metrics, name), sizeof(uint32_t), false, since},
#define LONG_COUNT(name, where, since, ...) {#name, offsetof(cm_metrics, name), sizeof(uint64_t), false, since},
#define TEXT(...)
static const figure figures[] = {
#include "core/metrics/metrics.def"
};
enum { FIGURES = sizeof figures / sizeof *figures };

/* How old the file is, by what it has. */
static cm_metrics_age age_of(const checker *c, const json_t *metrics)
{
  cm_metrics_age made = CM_SINCE_FIRST;
  if (c->topology->outside_count > 0) /* no older mapping has inputs outside */
    return CM_SINCE_BORDER;
  for (size_t i = 0; i < FIGURES; i++)
    if (figures[i].real && figures[i].since > made && json_object_get(metrics, figures[i].name) != NULL)
      made = figures[i].since;
  return made < CM_SINCE_PORTS && counts_ports(c, metrics) ? CM_SINCE_PORTS : made;
}

static void check_figure(checker *c, const json_t *metrics, const figure *f, const cm_metrics *right)
{
  const void *field = (const char *)right + f->offset;
  char what[64];
  (void)snprintf(what, sizeof what, "metrics: %s", f->name);
  if (!f->real) {
    compare_count(c, metrics, f->name, what, f->size == sizeof(uint64_t) ? *(const uint64_t *)field : *(const uint32_t *)field);
    return;
  }
  const json_t *stated = json_object_get(metrics, f->name);
  double value = *(const double *)field;
  if (!json_is_number(stated))
    violation(c, "%s is missing; it is %.17g", what, value);
  else if (cm_check_differs(json_number_value(stated), value))
    violation(c, "%s is stated as %.17g, but is %.17g", what, json_number_value(stated), value);
}

static void check_metrics(checker *c)
{
  const json_t *metrics = json_object_get(c->file.rest, "metrics");
  cm_metrics_age made = age_of(c, metrics);
  const cm_metrics right = as_of(c, made);
  for (size_t i = 0; i < FIGURES; i++)
    if (made >= figures[i].since)
      check_figure(c, metrics, &figures[i], &right);
  const char *limit = json_string_value(json_object_get(metrics, "step_limit"));
  if (made < CM_SINCE_STEPS)
    return;
  if (json_object_get(metrics, "step_limit") == NULL)
    violation(c, "metrics: step_limit is missing");
  else if (limit == NULL || !cm_check_step_limit(c->chip, c->core, c->parts, &c->truth, limit))
    violation(c, "metrics: step_limit is stated as %.150s, which is not what takes as long as the step",
              limit != NULL ? limit : "no text");
}

static cm_status check_all(checker *c, cm_error *error)
{
  const char *format = json_string_value(json_object_get(c->file.rest, "format"));
  if (format == NULL || strcmp(format, "coremapd mapping 1") != 0)
    return cm_fail(error, CM_BAD_MAPPING, "the file's \"format\" is %.60s; expected \"coremapd mapping 1\"",
                   format == NULL ? "missing" : format);
  if (!c->file.has_neurons || !c->file.has_cores)
    return cm_fail(error, CM_BAD_MAPPING, "the mapping file has no \"%s\"; only the full JSON view can be checked",
                   c->file.has_neurons ? "cores" : "neurons");
  c->sound = true;
  check_header(c);
  cm_status status = check_cores(c, error);
  if (status != CM_OK)
    return status;
  check_neurons(c);
  if (!c->sound)
    return CM_OK;
  status = cm_check_measure(c->topology, c->chip, c->file.neuron, c->parts, c->core, c->run, &c->truth, error);
  if (status != CM_OK)
    return status;
  check_limits(c);
  status = cm_check_classes(c->topology, c->chip, c->file.neuron, c->parts, c->core, c->run, &c->result, &c->out_of_memory, error);
  if (status != CM_OK)
    return status;
  if (check_populations(c, error) != CM_OK)
    return error->status;
  check_loads(c);
  check_metrics(c);
  if (cm_check_added_neurons(&c->file, c->topology, c->chip, c->run, &c->result, &c->out_of_memory, error) != CM_OK)
    return error->status;
  status = cm_check_scenarios(&c->file, c->topology, c->chip, c->core, c->parts, c->run, &c->result, &c->out_of_memory, error);
  if (status != CM_OK)
    return status;
  return cm_check_facts(&c->file, c->topology, c->chip, c->occupancy, c->network_id, c->core, c->parts,
                        c->truth.metrics.largest_part, c->run, &c->result, &c->out_of_memory, error);
}

cm_status cm_check_mapping_stream(FILE *stream, const cm_topology *topology, const cm_chip *chip,
                                  const cm_occupancy *occupancy, const char *network_id, cm_run *run,
                                  cm_check_result *result, cm_error *error)
{
  checker c = {.topology = topology, .chip = chip, .occupancy = occupancy, .network_id = network_id, .run = run};
  if (CM_NEW(NULL, c.result.violations, CM_CHECK_LISTED_MAX, error) != CM_OK)
    return error->status;
  uint64_t refusals = cm_json_refusals();
  cm_status status = cm_check_read(stream, topology->vertex_count, cm_chip_cores(chip), run, &c.file, error);
  if (status == CM_OK)
    status = check_all(&c, error);
  if (status == CM_OK) /* what was compared is whole */
    status = cm_json_whole(refusals, "the check", error);
  if (status == CM_OK && c.out_of_memory)
    status = cm_fail(error, CM_NO_MEMORY, "out of memory while listing violations");
  cm_check_file_free(&c.file);
  cm_free(c.core);
  cm_free(c.dead);
  cm_free(c.truth.core);
  if (status != CM_OK) {
    cm_check_result_free(&c.result);
    return status;
  }
  *result = c.result;
  return CM_OK;
}

cm_status cm_mapping_read_summary(const char *path, cm_run *run, json_t **summary, cm_error *error)
{
  FILE *stream = fopen(path, "rbe");
  cm_check_file file = {0};
  if (stream == NULL)
    return cm_fail_errno(error, errno, "cannot open", path);
  cm_status status = cm_check_read(stream, 0, 0, run, &file, error);
  fclose(stream);
  if (status == CM_OK) {
    (void)json_object_del(file.rest, "neurons");
    (void)json_object_del(file.rest, "cores");
    *summary = json_incref(file.rest);
  }
  cm_check_file_free(&file);
  return status;
}

cm_status cm_check_mapping(const char *path, const cm_topology *topology, const cm_chip *chip,
                           const cm_occupancy *occupancy, const char *network_id, cm_run *run,
                           cm_check_result *result, cm_error *error)
{
  FILE *stream = fopen(path, "rbe");
  if (stream == NULL)
    return cm_fail_errno(error, errno, "cannot open", path);
  cm_status status = cm_check_mapping_stream(stream, topology, chip, occupancy, network_id, run, result, error);
  (void)fclose(stream);
  return status;
}
