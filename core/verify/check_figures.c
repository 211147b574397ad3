/* A mapping file's limits and figures beside those that the check has recomputed. */
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "core/verify/checker.h"

void cm_checker_count(cm_checker *c, const json_t *object, const char *name, const char *label, uint64_t truth)
{
  const json_t *value = json_object_get(object, name);
  if (!json_is_integer(value))
    violation(c, "%s is missing; it is %" PRIu64, label, truth);
  else if (json_integer_value(value) < 0 || (uint64_t)json_integer_value(value) != truth)
    violation(c, "%s is stated as %" JSON_INTEGER_FORMAT ", but is %" PRIu64, label, json_integer_value(value),
              truth);
}

static void check_limit(cm_checker *c, uint32_t part, const char *what, uint64_t has, uint64_t limit)
{
  if (limit != 0 && has > limit)
    violation(c, "part %" PRIu32 " on core (%" PRIu32 ", %" PRIu32 ") has %" PRIu64 " %s, over the limit of %" PRIu64, part,
              c->core[part] % c->given->chip->width, c->core[part] / c->given->chip->width, has, what, limit);
}

void cm_checker_limits(cm_checker *c)
{
  for (uint32_t p = 0; p < c->parts; p++) {
    const cm_core_load *load = &c->truth.core[p];
    const cm_limits *limits = cm_check_limits_at(c->given->chip, c->core[p]);
    check_limit(c, p, "neurons", load->neurons, limits->neurons);
    check_limit(c, p, "synapses", load->synapses, limits->synapses);
    check_limit(c, p, "inbound axons", load->inbound_axons, limits->inbound_axons);
    check_limit(c, p, "outbound axons", load->outbound_axons, limits->outbound_axons);
    check_limit(c, p, "target cores", load->target_cores, limits->target_cores);
    check_limit(c, p, "source cores", load->source_cores, limits->source_cores);
    check_limit(c, p, "bits of memory",
                load->neurons * limits->neuron_bits + load->synapses * limits->synapse_bits + load->inbound_axons * limits->axon_bits,
                limits->memory_bits);
  }
}

cm_status cm_checker_populations(cm_checker *c, cm_error *error)
{
  uint32_t *count;
  bool limited = c->given->chip->limits.populations != 0;
  for (uint32_t k = 0; k < c->given->chip->class_count; k++)
    limited = limited || c->given->chip->classes[k].limits.populations != 0;
  if (!limited)
    return CM_OK;
  CM_TRY(CM_NEW(c->given->run->memory, count, c->parts, error));
  cm_status status = cm_check_measure_populations(c->given->demand->network, c->file.neuron, c->parts, c->given->run, count, error);
  for (uint32_t p = 0; status == CM_OK && p < c->parts; p++)
    check_limit(c, p, "populations", count[p], cm_check_limits_at(c->given->chip, c->core[p])->populations);
  cm_free(count);
  return status;
}

static void compare_load(cm_checker *c, uint64_t part, const char *what, double stated, double truth)
{
  if (cm_check_differs(stated, truth))
    violation(c, "part %" PRIu64 ": %s is stated as %.17g, but is %.17g", part, what, stated, truth);
}

void cm_checker_loads(cm_checker *c)
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
static cm_metrics as_of(const cm_checker *c, cm_metrics_age made)
{
  cm_metrics m = c->truth.metrics;
  if (made < CM_SINCE_PORTS) {
    const cm_costs *costs = &c->given->chip->costs;
    double port = m.port_load_max / (costs->port_packets_per_ns > 0 ? costs->port_packets_per_ns : 1),
           link = c->truth.link_max / (costs->link_packets_per_ns > 0 ? costs->link_packets_per_ns : 1);
    m.link_load_max = c->truth.link_max;
    m.multicast_link_load_max = c->truth.tree_link_max;
    m.saturation_load = fmax(port, link) > 0 ? 1 / fmax(port, link) : 0;
  }
  return m;
}

/* Whether a figure that older mappings mean otherwise is stated as it is meant now. */
static bool counts_ports(const cm_checker *c, const json_t *metrics)
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
static cm_metrics_age age_of(const cm_checker *c, const json_t *metrics)
{
  cm_metrics_age made = c->given->demand->outside_count > 0 ? CM_SINCE_BORDER : CM_SINCE_FIRST; /* no older mapping has inputs outside */
  for (size_t i = 0; i < FIGURES; i++)
    if (figures[i].real && figures[i].since > made && json_object_get(metrics, figures[i].name) != NULL)
      made = figures[i].since;
  return made < CM_SINCE_PORTS && counts_ports(c, metrics) ? CM_SINCE_PORTS : made;
}

static void check_figure(cm_checker *c, const json_t *metrics, const figure *f, const cm_metrics *right)
{
  const void *field = (const char *)right + f->offset;
  char what[64];
  (void)snprintf(what, sizeof what, "metrics: %s", f->name);
  if (!f->real) {
    cm_checker_count(c, metrics, f->name, what, f->size == sizeof(uint64_t) ? *(const uint64_t *)field : *(const uint32_t *)field);
    return;
  }
  const json_t *stated = json_object_get(metrics, f->name);
  double value = *(const double *)field;
  if (!json_is_number(stated))
    violation(c, "%s is missing; it is %.17g", what, value);
  else if (cm_check_differs(json_number_value(stated), value))
    violation(c, "%s is stated as %.17g, but is %.17g", what, json_number_value(stated), value);
}

void cm_checker_metrics(cm_checker *c)
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
  else if (limit == NULL || !cm_check_step_limit(&c->mapped, &c->truth, limit))
    violation(c, "metrics: step_limit is stated as %.150s, which is not what takes as long as the step",
              limit != NULL ? limit : "no text");
}
