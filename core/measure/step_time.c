#include "core/measure/step_time.h"

#include <math.h>
#include <stdio.h>

#include "core/chip/geometry.h"
#include "core/partition/step/loads.h"

/* The busiest of the places that may hold a step up. */
typedef struct busiest {
  double ns;
  char *text;
} busiest;

/* A number without an exponent where it is large. */
static cm_phrase figure(double value)
{
  return value < 1e6 ? cm_say("%.6g", value) : cm_say("%.0f", value);
}

static void say(busiest *b, double ns, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void say(busiest *b, double ns, const char *format, ...)
{
  va_list arguments;
  b->ns = ns;
  va_start(arguments, format);
  (void)vsnprintf(b->text, CM_STEP_LIMIT_MAX, format, arguments);
  va_end(arguments);
}

static void judge_core(const cm_mapped *on, uint32_t part, const cm_core_events *events, cm_core_load *load, cm_metrics *m,
                       busiest *b)
{
  const cm_chip *chip = on->chip;
  const double *n = events->count;
  load->receive_ns = cm_receive_ns(&chip->costs, events);
  load->send_ns = cm_send_ns(&chip->costs, events);
  double ns = cm_core_ns(&chip->costs, load->receive_ns, load->send_ns);
  uint32_t x = on->core[part] % chip->width, y = on->core[part] / chip->width;
  m->core_ns_max = ns > m->core_ns_max ? ns : m->core_ns_max;
  if (ns <= b->ns)
    return;
  if (!chip->costs.side_by_side)
    say(b, ns, "core (%u, %u) with part %u receives for %s ns and then sends for %s ns", x, y, part, figure(load->receive_ns).text,
        figure(load->send_ns).text);
  else if (load->receive_ns >= load->send_ns)
    say(b, ns, "core (%u, %u) with part %u receives %s packets and handles %s synapses in %s ns", x, y, part,
        figure(n[CM_CHARGE_PACKET_RECEIVED]).text, figure(n[CM_CHARGE_SYNAPSE]).text, figure(ns).text);
  else
    say(b, ns, "core (%u, %u) with part %u updates %s neurons, of which %s fire, and sends %s packets in %s ns", x, y, part,
        figure(n[CM_CHARGE_NEURON]).text, figure(n[CM_CHARGE_SPIKE]).text, figure(n[CM_CHARGE_PACKET_SENT]).text, figure(ns).text);
}

static void judge_ports(const cm_chip *chip, uint32_t core, const cm_core_load *load, busiest *b)
{
  double most = load->traffic_in > load->traffic_out ? load->traffic_in : load->traffic_out, rate = chip->costs.port_packets_per_ns;
  if (rate > 0 && most / rate > b->ns)
    say(b, most / rate, "the %s of core (%u, %u) passes %s packets in %s ns",
        load->traffic_in >= load->traffic_out ? "inlet" : "outlet", core % chip->width, core / chip->width, figure(most).text, figure(most / rate).text);
}

static void judge_links(const cm_chip *chip, const cm_metrics_detail *detail, busiest *b)
{
  const cm_window *w = &detail->window;
  char name[CM_LINK_TEXT_MAX];
  for (size_t i = 0; chip->costs.link_packets_per_ns > 0 && i < cm_window_links(w); i++) {
    uint32_t link = cm_window_link(w, i);
    double ns = cm_chip_step_ns(chip, link, detail->link_load[i]);
    if (ns <= b->ns)
      continue;
    cm_chip_link_text(chip, link, CM_LINK_IN_WORDS, name);
    say(b, ns, "%s passes %s packets in %s ns", name, figure(detail->link_load[i]).text, figure(ns).text);
  }
}

cm_status cm_tiles_in_use(const cm_chip *chip, const uint32_t *core, uint32_t parts, cm_memory *memory, uint32_t *tiles,
                          cm_error *error)
{
  const cm_barrier *b = &chip->costs.barrier;
  uint32_t across = (chip->width + b->tile_x - 1) / b->tile_x, down = (chip->height + b->tile_y - 1) / b->tile_y;
  uint8_t *used;
  CM_TRY(CM_NEW(memory, used, (size_t)across * down, error));
  *tiles = 0;
  for (uint32_t p = 0; p < parts; p++) {
    uint8_t *tile = &used[(size_t)(core[p] / chip->width / b->tile_y) * across + core[p] % chip->width / b->tile_x];
    *tiles += !*tile;
    *tile = 1;
  }
  cm_free(used);
  return CM_OK;
}

static void price_events(const cm_costs *costs, const cm_core_events *events, cm_metrics *m)
{
  const cm_charge_cost *c = costs->charge;
  m->energy_packets_pj += c[CM_CHARGE_PACKET_SENT].pj * events->count[CM_CHARGE_PACKET_SENT] +
                          c[CM_CHARGE_PACKET_RECEIVED].pj * events->count[CM_CHARGE_PACKET_RECEIVED];
  m->energy_synapses_pj += c[CM_CHARGE_SYNAPSE].pj * events->count[CM_CHARGE_SYNAPSE];
  m->energy_neurons_pj += c[CM_CHARGE_NEURON].pj * events->count[CM_CHARGE_NEURON] +
                          c[CM_CHARGE_SPIKE].pj * events->count[CM_CHARGE_SPIKE];
}

/* Steps a ns at which the busiest port or link is full. */
static double saturation(const cm_chip *chip, const cm_metrics *m, const cm_metrics_detail *detail)
{
  const cm_window *w = &detail->window;
  double most = m->port_load_max * cm_chip_port_ns(chip);
  for (size_t i = 0; i < cm_window_links(w); i++) {
    double ns = detail->link_load[i] == 0 ? 0 : detail->link_load[i] * cm_chip_link_ns(chip, cm_window_link(w, i));
    most = ns > most ? ns : most;
  }
  return most > 0 ? 1 / most : 0;
}

cm_status cm_step_measure(const cm_mapped *mapped, cm_run *run, cm_metrics *m, cm_metrics_detail *detail, cm_error *error)
{
  const cm_chip *chip = mapped->chip;
  cm_core_events *events;
  uint32_t tiles = 0, sources = 0;
  double spikes = 0, packets = 0;
  busiest b = {0, m->step_limit};
  CM_TRY(CM_NEW(run->memory, events, mapped->parts, error));
  cm_status status = cm_step_loads(mapped->demand, mapped->part, mapped->parts, run, events, error);
  if (status == CM_OK && chip->costs.barrier.points > 0)
    status = cm_tiles_in_use(chip, mapped->core, mapped->parts, run->memory, &tiles, error);
  CM_THEN(status, cm_step_bias_sources(mapped->demand, mapped->part, mapped->parts, run->memory, &sources, error));
  for (uint32_t p = 0; p < mapped->parts && status == CM_OK; p++) {
    judge_core(mapped, p, &events[p], &detail->core[p], m, &b);
    judge_ports(chip, mapped->core[p], &detail->core[p], &b);
    price_events(&chip->costs, &events[p], m);
    spikes += events[p].count[CM_CHARGE_SPIKE];
    packets += events[p].count[CM_CHARGE_PACKET_RECEIVED];
  }
  cm_free(events);
  if (status != CM_OK)
    return status;
  judge_links(chip, detail, &b);
  m->barrier_ns = cm_barrier_ns(&chip->costs.barrier, tiles) + cm_between_ns(&chip->costs.barrier, mapped->parts, spikes + sources, packets);
  m->step_ideal_ns = b.ns + m->barrier_ns;
  m->pacing_ns = mapped->pacing != NULL ? mapped->pacing->ns : 0;
  m->step_ns = mapped->pacing != NULL ? fmax(mapped->pacing->step_ns, m->step_ideal_ns) : m->step_ideal_ns;
  m->energy_step_pj = m->energy_pj + m->border_energy_pj + m->energy_packets_pj + m->energy_synapses_pj + m->energy_neurons_pj;
  m->saturation_load = saturation(chip, m, detail);
  return CM_OK;
}
