/* Happy path: traffic of the mapping -> steps side by side, a stream, and streams of growing load until the network
 * saturates -> the report. What can fail: options, memory, stops. */
#include "core/simulate/simulate.h"

#include <math.h>

#include "base/json.h"
#include "base/threads.h"
#include "core/chip/geometry.h"
#include "core/measure/step_time.h"
#include "core/simulate/outcomes.h"
#include "core/simulate/simulate_request.h"

const cm_simulate_options cm_simulate_defaults = {.steps = 1, .buffers = 16, .packets = 200000, .seed = 1};

enum { STEPS_MAX = 100000, HOTTEST = 10, PROBES = 3, ROUNDS = 4, DOUBLINGS = 40 };

typedef struct simulation {
  const cm_traffic *traffic;
  const cm_simulate_options *options;
  cm_run *run;
  cm_step_outcome *step;      /* [steps] */
  cm_stream_outcome *stream;  /* [PROBES] */
  double load[PROBES];
} simulation;

/* ---- the report ---- */

/* A link or an inlet, by where it is. */
static json_t *channel_json(const cm_chip *chip, uint32_t channel)
{
  uint32_t links = cm_chip_links(chip), core = channel - links;
  char link[CM_LINK_TEXT_MAX], object[CM_LINK_TEXT_MAX + 32];
  if (channel >= links)
    return json_pack("{s:s, s:i, s:i}", "kind", "inlet", "x", (int)(core % chip->width), "y", (int)(core / chip->width));
  cm_chip_link_text(chip, channel, CM_LINK_AS_JSON, link);
  int size = snprintf(object, sizeof object, "{\"kind\": \"link\", %s}", link);
  return cm_json_loadb(object, (size_t)size, 0, NULL);
}

/* The channels that carried most. */
static json_t *hottest_json(const cm_chip *chip, const uint64_t *carried, double ns)
{
  uint32_t channels = cm_chip_links(chip) + cm_chip_cores(chip), best[HOTTEST], count = 0;
  json_t *list = json_array();
  for (uint32_t c = 0; c < channels; c++) {
    if (carried[c] == 0 || (count == HOTTEST && carried[c] <= carried[best[count - 1]]))
      continue;
    uint32_t i = count < HOTTEST ? count++ : HOTTEST - 1;
    for (; i > 0 && carried[best[i - 1]] < carried[c]; i--)
      best[i] = best[i - 1];
    best[i] = c;
  }
  for (uint32_t i = 0; i < count; i++) {
    json_t *row = channel_json(chip, best[i]);
    (void)json_object_set_new(row, "packets", json_integer((json_int_t)carried[best[i]]));
    (void)json_object_set_new(row, "packets_per_ns", json_real(ns > 0 ? (double)carried[best[i]] / ns : 0));
    (void)json_array_append_new(list, row);
  }
  return list;
}

static json_t *steps_json(const simulation *s, uint32_t tiles)
{
  uint32_t steps = s->options->steps, channels = cm_chip_links(s->traffic->chip) + cm_chip_cores(s->traffic->chip);
  double sum = 0, most = 0, free_sum = 0, barrier = cm_barrier_ns(&s->traffic->chip->costs.barrier, tiles);
  uint64_t packets = 0, hops = 0, stuck = 0;
  cm_step_outcome *all = &s->step[0];
  for (uint32_t i = 0; i < steps; i++) {
    const cm_step_outcome *o = &s->step[i];
    const double ns = o->ns + o->between_ns;
    sum += ns;
    free_sum += o->free_ns + o->between_ns;
    most = ns > most ? ns : most;
    packets += o->packets;
    hops += o->hops;
    stuck += o->stuck;
    if (i > 0)
      cm_histogram_join(all->latency, o->latency);
    for (uint32_t c = 0; c < channels && i > 0; c++)
      all->carried[c] += o->carried[c];
  }
  return json_pack("{s:i, s:f, s:f, s:f, s:f, s:I, s:I, s:b, s:o, s:o}", "count", (int)steps, "step_ns_mean",
                   sum / steps + barrier, "step_ns_max", most + barrier, "contention_free_ns_mean", free_sum / steps + barrier,
                   "barrier_ns", barrier, "packets", (json_int_t)packets, "hops", (json_int_t)hops, "deadlock", stuck > 0,
                   "latency", cm_histogram_json(all->latency), "hottest",
                   hottest_json(s->traffic->chip, all->carried, sum));
}

static json_t *stream_json(const simulation *s, const cm_stream_outcome *o)
{
  return json_pack("{s:f, s:b, s:f, s:I, s:I, s:b, s:f, s:o, s:o}", "load", o->load, "saturated", o->saturated,
                   "unhindered_mean_ns", o->free_mean_ns, "packets", (json_int_t)o->packets, "hops", (json_int_t)o->hops,
                   "deadlock", o->stuck > 0, "ns", o->ns, "latency", cm_histogram_json(o->latency), "hottest",
                   hottest_json(s->traffic->chip, o->carried, o->ns));
}

/* ---- parts of a simulation ---- */

static cm_status run_step(void *context, size_t index, cm_error *error)
{
  simulation *s = context;
  return cm_simulate_step(s->traffic, s->options, (uint32_t)index, s->run, &s->step[index], error);
}

static cm_status run_stream(void *context, size_t index, cm_error *error)
{
  simulation *s = context;
  return cm_simulate_stream(s->traffic, s->options, s->load[index], s->run, &s->stream[index], error);
}

static void free_stream(cm_stream_outcome *o)
{
  CM_FREE(o->latency, o->carried);
  *o = (cm_stream_outcome){0};
}

static cm_status simulate_steps(simulation *s, json_t *report, cm_error *error)
{
  uint32_t tiles;
  cm_run_phase(s->run, "steps");
  CM_TRY(cm_tiles_in_use(s->traffic->chip, s->traffic->core, s->traffic->parts, s->run->memory, &tiles, error));
  CM_TRY(CM_NEW(s->run->memory, s->step, s->options->steps, error));
  cm_status status = cm_parallel(s->run, s->options->steps, run_step, s, error);
  CM_THEN(status, cm_json_set(report, "steps", steps_json(s, tiles), "the report", error));
  if (status == CM_OK && s->step[0].frames.most > 0)
    status =
      cm_json_set(report, "frames", cm_frames_json(&s->step[0].frames, cm_chip_routers_x(s->traffic->chip)), "the report", error);
  for (uint32_t i = 0; i < s->options->steps; i++) {
    cm_frames_free(&s->step[i].frames);
    CM_FREE(s->step[i].latency, s->step[i].carried);
  }
  cm_free(s->step);
  return status;
}

static cm_status simulate_stream(simulation *s, json_t *report, cm_error *error)
{
  cm_run_phase(s->run, "stream");
  s->load[0] = s->options->load;
  cm_status status = run_stream(s, 0, error);
  CM_THEN(status, cm_json_set(report, "stream", stream_json(s, &s->stream[0]), "the report", error));
  free_stream(&s->stream[0]);
  return status;
}

static void tell_load(const cm_stream_outcome *o, json_t *curve)
{
  (void)json_array_append_new(curve, json_pack("{s:f, s:f, s:b}", "load", o->load, "latency_mean_ns",
                                               cm_histogram_mean_ns(o->latency), "saturated", o->saturated));
}

/* Tries some loads at once; *low and *high close in on where the network saturates. Each goes into the curve. */
static cm_status probe(simulation *s, double *low, double *high, json_t *curve, cm_error *error)
{
  for (int i = 0; i < PROBES; i++)
    s->load[i] = *low + (*high - *low) * (i + 1) / (PROBES + 1);
  if (cm_parallel(s->run, PROBES, run_stream, s, error) != CM_OK) {
    for (int i = 0; i < PROBES; i++)
      free_stream(&s->stream[i]);
    return error->status;
  }
  double fits = *low, fails = *high;
  for (int i = 0; i < PROBES; i++) {
    const cm_stream_outcome *o = &s->stream[i];
    if (o->saturated && o->load < fails)
      fails = o->load;
    else if (!o->saturated && fails == *high)
      fits = o->load;
    tell_load(o, curve);
    free_stream(&s->stream[i]);
  }
  *low = fits;
  *high = fails;
  return CM_OK;
}

/* A load that saturates, by doubling from where one packet in a thousand ns leaves a core on average. */
static cm_status find_bracket(simulation *s, double *low, double *high, json_t *curve, cm_error *error)
{
  double packets = 0;
  for (uint32_t e = 0; e < s->traffic->demand->network->net_count; e++)
    packets += cm_traffic_rate(s->traffic, e) * (double)(s->traffic->net_first[e + 1] - s->traffic->net_first[e]);
  *low = 0;
  *high = packets > 0 ? s->traffic->parts / packets / 1000 : 1;
  /* Idle threads try the next loads ahead of time; what is past the first that saturates is not looked at. */
  uint32_t ahead = s->run->threads < 1 ? 1 : s->run->threads > PROBES ? PROBES : s->run->threads;
  for (uint32_t tried = 0; tried < DOUBLINGS; tried += ahead) {
    bool saturated = false;
    for (uint32_t i = 0; i < ahead; i++)
      s->load[i] = ldexp(*high, (int)i);
    cm_status status = cm_parallel(s->run, ahead, run_stream, s, error);
    for (uint32_t i = 0; i < ahead; i++) {
      if (status == CM_OK && !saturated) {
        saturated = s->stream[i].saturated;
        tell_load(&s->stream[i], curve);
        *low = saturated ? *low : *high;
        *high = saturated ? *high : 2 * *high;
      }
      free_stream(&s->stream[i]);
    }
    if (status != CM_OK || saturated)
      return status;
  }
  return CM_OK;
}

static cm_status find_saturation(simulation *s, json_t *report, cm_error *error)
{
  double low, high;
  json_t *curve = json_array();
  cm_run_phase(s->run, "saturation");
  cm_status status = find_bracket(s, &low, &high, curve, error);
  for (int i = 0; i < ROUNDS && status == CM_OK; i++)
    status = probe(s, &low, &high, curve, error);
  CM_TRY_OR(status, json_decref(curve));
  json_t *told = json_pack("{s:f, s:f, s:o}", "load", low, "fails_at", high, "curve", curve);
  return cm_json_set(report, "saturation", told, "the report", error);
}

static cm_status check_rules(const cm_demand *demand, const cm_simulate_options *o, cm_error *error)
{
  const cm_simulate_request request = {.options = *o};
  const unsigned facts = (demand->network->directed ? 0u : CM_SIMULATE_UNDIRECTED) | (demand->target_cores_max != 0 ? CM_SIMULATE_COPIES : 0u) |
                         (o->spikes != NULL ? CM_SIMULATE_SPIKES : 0u);
  json_t *told = json_pack("{s:o}", "target_cores", json_sprintf("%u", demand->target_cores_max));
  cm_status status = cm_options_check(&cm_simulate_option_table, &request, facts, told, error);
  json_decref(told);
  return status;
}

static cm_status check(const cm_demand *demand, const cm_chip *chip, const cm_simulate_options *o, cm_error *error)
{
  CM_TRY(check_rules(demand, o, error));
  CM_TRY(cm_interconnect_prepare(chip->interconnect, error));
  if (o->steps > STEPS_MAX || o->buffers < 1 || o->packets < 1000 || !(o->load >= 0 && o->load < 1e9))
    return cm_fail(error, CM_BAD_OPTION,
                   "a simulation takes at most %d steps, buffers of 1 packet or more, streams of 1000 packets or more, and a "
                   "load from 0 to 1e9",
                   STEPS_MAX);
  if (o->spikes != NULL && o->steps > o->spikes->steps)
    return cm_fail(error, CM_BAD_OPTION, "%u steps are asked for, and spikes are given for %u: ask for fewer", o->steps,
                   o->spikes->steps);
  return CM_OK;
}

cm_status cm_refuse_scenario(const char *name, const char *const *known, size_t count, cm_error *error)
{
  char list[400] = "";
  size_t used = 0;
  for (size_t k = 0; k < count && used < sizeof list; k++)
    used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", k > 0 ? ", " : "", known[k]);
  if (count == 0)
    cm_fail(error, CM_BAD_OPTION, "the network's rates do not vary: it has no scenario \"%s\", nor any other", name);
  else
    cm_fail(error, CM_BAD_OPTION, "the network has no scenario \"%s\"; it has %.300s", name, list);
  return cm_fail_at(error, "/options/scenario");
}

/* The network by the rates that are asked for. */
static cm_status choose_scenario(const cm_demand *demand, const char *name, cm_demand *chosen, cm_error *error)
{
  const char *known[CM_SCENARIOS_MAX];
  uint32_t found = cm_topology_find_scenario(demand->network, name);
  *chosen = *demand;
  if (name[0] == '\0')
    return CM_OK;
  if (found < demand->scenario_count) {
    *chosen = cm_demand_in_scenario(demand, found);
    return CM_OK;
  }
  for (uint32_t k = 0; k < demand->scenario_count; k++)
    known[k] = demand->network->scenario_name[k];
  return cm_refuse_scenario(name, known, demand->scenario_count, error);
}

cm_status cm_packets_simulate(const cm_mapped *mapped, const cm_simulate_options *options, cm_run *run, json_t **report,
                              cm_error *error)
{
  cm_traffic traffic;
  cm_demand demand;
  cm_mapped seen = *mapped;
  seen.demand = &demand;
  CM_TRY(check(mapped->demand, mapped->chip, options, error));
  CM_TRY(choose_scenario(mapped->demand, options->scenario, &demand, error));
  cm_run_phase(run, "traffic");
  CM_TRY(cm_traffic_new(&seen, options->multicast, run, &traffic, error));
  cm_stream_outcome streams[PROBES] = {{0}};
  simulation s = {.traffic = &traffic, .options = options, .run = run, .stream = streams};
  json_t *made = json_pack("{s:s, s:i, s:I}", "traffic_model", options->multicast ? "multicast" : "unicast", "buffers",
                           (int)options->buffers, "seed", (json_int_t)options->seed);
  cm_status status = cm_whole(
    made != NULL && (options->scenario[0] == '\0' || json_object_set_new(made, "scenario", json_string(options->scenario)) == 0),
    "the report", error);
  CM_THEN_IF(status, options->steps > 0, simulate_steps(&s, made, error));
  CM_THEN_IF(status, options->load > 0, simulate_stream(&s, made, error));
  CM_THEN_IF(status, options->saturation, find_saturation(&s, made, error));
  cm_traffic_free(&traffic);
  CM_END(status, *report = made, json_decref(made));
}
