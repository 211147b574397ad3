/* The chip's own way through a step: packets of the last step write sums, delayed synapses and rows add to them, neurons step in order, and of their
 * spikes each core keeps as many as its queues hold (catalyst-n1, rtl/scalable_core_v2.v, rtl/neuromorphic_mesh.v). */
#include <string.h>

#include "core/deploy/images.h"
#include "core/deploy/router_queues.h"

enum { DELAYS = CM_CHIP_DELAY_MAX + 1 };

/* Clocks of a step: of a core for each neuron, spike and synapse; of the chip for each spike's routes, and besides. */
enum { NEURON_CLOCKS = 4, SPIKE_CLOCKS = 3, SYNAPSE_CLOCKS = 6, ROUTE_CLOCKS = 37 };

/* A core that runs. */
typedef struct runner {
  cm_chip_state *state; /* [neurons] */
  int32_t *sum;         /* [neurons] */
  int32_t *waiting;     /* [DELAYS * neurons] what delayed synapses bring, by step */
  uint64_t held[DELAYS]; /* delayed synapses by step */
  uint32_t *spiked;     /* [count] of the last step, those that the queues held */
  uint32_t count;
} runner;

typedef struct packet {
  uint32_t image, neuron;
} packet;

typedef struct engine {
  const cm_images *m;
  cm_run *run;
  runner *core; /* [cores] */
  packet *packet;
  uint64_t packets, room;
  cm_router_queues queues; /* where the chip has such */
  cm_images_result *r;
} engine;

static void peak(cm_image_peak *p, uint64_t now, uint32_t step, uint32_t image)
{
  if (now > p->most)
    *p = (cm_image_peak){now, step, image};
}

static cm_status inject(const engine *e, const cm_spikes *given, uint32_t step, cm_error *error)
{
  for (uint64_t i = step < given->steps ? given->first[step] : 0; step < given->steps && i < given->first[step + 1]; i++) {
    const uint32_t v = given->neuron[i], image = e->m->core[v];
    const cm_core_image *c = &e->m->image[image];
    uint64_t k = e->m->at[v];
    if (c->neuron[k].kind != CM_IMAGE_INPUT)
      continue;
    do
      e->core[image].sum[k++] = 1;
    while (k < c->neurons && c->neuron[k].kind == CM_IMAGE_COPY);
  }
  return cm_run_check(e->run, error);
}

/* What costs name, of a step and an image. */
static void tally(const engine *e, uint32_t image, uint32_t step, cm_charge charge, uint64_t count)
{
  if (e->r->events != NULL)
    e->r->events[(size_t)step * e->m->cores + image].count[charge] += (double)count;
}

static void tally_spike(const engine *e, uint32_t image, uint32_t step, const cm_image_neuron *n)
{
  tally(e, image, step, n->kind == CM_IMAGE_RELAY ? CM_CHARGE_PACKET_RECEIVED : CM_CHARGE_SPIKE, 1);
  tally(e, image, step, CM_CHARGE_PACKET_SENT, n->routes);
}

/* Rows of the last step's spikes. */
static uint64_t deliver(const engine *e, uint32_t image, uint32_t step)
{
  const cm_core_image *c = &e->m->image[image];
  runner *r = &e->core[image];
  const uint64_t most = e->m->chip->images.delayed_per_step;
  const uint32_t now = step % DELAYS;
  uint64_t synapses = r->held[now];
  int32_t *due = r->waiting + (size_t)now * c->neurons;
  peak(&e->r->delayed_peak, r->held[now], step, image);
  for (uint64_t k = 0; k < c->neurons; k++)
    r->sum[k] += due[k];
  if (c->neurons > 0)
    memset(due, 0, c->neurons * sizeof *due);
  r->held[now] = 0;
  for (uint32_t i = 0; i < r->count; i++) {
    const cm_image_neuron *from = &c->neuron[r->spiked[i]];
    synapses += from->entries;
    for (uint32_t k = from->entry; k < from->entry + from->entries; k++) {
      const cm_image_entry *s = &c->pool[k];
      const uint32_t then = (step + s->delay) % DELAYS;
      const bool waits = s->delay > 0 && (most == 0 || r->held[then] < most);
      if (waits) {
        r->waiting[(size_t)then * c->neurons + s->target] += s->weight;
        r->held[then]++;
      } else
        r->sum[s->target] += s->weight;
      e->r->lost += s->delay > 0 && !waits;
    }
  }
  tally(e, image, step, CM_CHARGE_SYNAPSE, synapses);
  tally(e, image, step, CM_CHARGE_NEURON, c->neurons);
  return synapses;
}

static cm_status keep(engine *e, uint32_t step, const cm_core_image *c, uint32_t neuron, cm_error *error)
{
  cm_images_result *r = e->r;
  CM_TRY(CM_ROOM(e->run->memory, r->spike, &r->room, r->spikes + 1, error));
  r->spike[r->spikes++] = (cm_image_spike){step, c->core, neuron};
  return CM_OK;
}

static cm_status update(engine *e, uint32_t image, uint32_t step, uint64_t *spikes, cm_error *error)
{
  const cm_core_image *c = &e->m->image[image];
  runner *r = &e->core[image];
  const uint64_t most = e->m->chip->images.spikes_per_step;
  uint64_t all = 0;
  r->count = 0;
  for (uint32_t k = 0; k < c->neurons; k++) {
    const cm_chip_parameters *p = &c->neuron[k].parameter;
    if (!cm_chip_neurons[p->model].step(p, r->sum[k], &r->state[k]))
      continue;
    CM_TRY(keep(e, step, c, k, error));
    if (most == 0 || all < most) {
      r->spiked[r->count++] = k;
      tally_spike(e, image, step, &c->neuron[k]);
    } else
      e->r->lost++;
    all++;
  }
  if (c->neurons > 0)
    memset(r->sum, 0, c->neurons * sizeof *r->sum);
  peak(&e->r->spikes_peak, all, step, image);
  e->r->most[image] = all > e->r->most[image] ? all : e->r->most[image];
  *spikes += r->count;
  return CM_OK;
}

/* Whether the routers hold a packet. */
static bool held(engine *e, uint32_t from, uint32_t to)
{
  return e->queues.length == 0 || cm_router_queues_send(&e->queues, from, to);
}

/* What core i sent in a step, of which routers held less. */
static void note_stuck(engine *e, uint32_t i, uint32_t step, uint64_t sent, uint64_t held_of)
{
  if (held_of < sent && e->r->stuck.most == 0) {
    e->r->stuck = (cm_image_peak){sent, step, i};
    e->r->stuck_held = held_of;
  }
}

/* Spikes of all cores as packets of the next step. */
static cm_status route(engine *e, uint32_t step, cm_error *error)
{
  const uint64_t most = e->m->chip->images.packets_per_step;
  uint64_t all = 0;
  e->packets = 0;
  cm_router_queues_empty(&e->queues);
  for (uint32_t i = 0; i < e->m->cores; i++) {
    const cm_core_image *c = &e->m->image[i];
    const uint64_t before = all;
    uint64_t stuck = 0;
    for (uint32_t k = 0; k < e->core[i].count; k++) {
      const cm_image_neuron *from = &c->neuron[e->core[i].spiked[k]];
      CM_TRY(CM_ROOM(e->run->memory, e->packet, &e->room, e->packets + from->routes, error));
      for (uint32_t j = from->route; j < from->route + from->routes; j++, all++) {
        const bool fits = held(e, c->core, c->route[j].core);
        stuck += !fits;
        if (fits && (most == 0 || all < most))
          e->packet[e->packets++] = (packet){e->m->of_core[c->route[j].core], c->route[j].neuron};
        else
          e->r->lost++;
      }
    }
    note_stuck(e, i, step, all - before, all - before - stuck);
    peak(&e->r->sent_peak, all - before, step, i);
  }
  peak(&e->r->packets_peak, all, step, 0);
  return CM_OK;
}

static cm_status step_once(engine *e, const cm_spikes *given, uint32_t step, cm_error *error)
{
  uint64_t spikes = 0, longest = 0;
  CM_TRY(inject(e, given, step, error));
  for (uint64_t i = 0; i < e->packets; i++)
    e->core[e->packet[i].image].sum[e->packet[i].neuron] = 1;
  for (uint32_t i = 0; i < e->m->cores; i++) {
    const uint64_t before = e->core[i].count, synapses = deliver(e, i, step), clocks = SPIKE_CLOCKS * before + SYNAPSE_CLOCKS * synapses;
    longest = clocks > longest ? clocks : longest;
    CM_TRY(update(e, i, step, &spikes, error));
  }
  e->r->clocks += NEURON_CLOCKS * e->m->chip->limits.neurons + longest + ROUTE_CLOCKS * spikes;
  return route(e, step, error);
}

/* The network's own spikes by its steps, ascending in each. */
static cm_status sort(const engine *e, cm_error *error)
{
  const cm_images *m = e->m;
  cm_images_result *r = e->r;
  cm_spike *own = NULL;
  uint64_t count = 0;
  CM_TRY(CM_NEW(e->run->memory, own, r->spikes, error));
  for (uint64_t i = 0; i < r->spikes; i++) {
    const cm_image_neuron *from = &m->image[m->of_core[r->spike[i].core]].neuron[r->spike[i].neuron];
    if (from->kind <= CM_IMAGE_INPUT && r->spike[i].step >= m->shift[from->of] && r->spike[i].step - m->shift[from->of] < m->network_steps)
      own[count++] = (cm_spike){r->spike[i].step - m->shift[from->of], from->of};
  }
  r->network = (cm_spikes){.neurons = m->neurons, .steps = m->network_steps};
  const cm_status status = cm_spikes_sort(own, count, true, e->run->memory, &r->network, error);
  cm_free(own);
  return status;
}

static cm_status start(engine *e, cm_error *error)
{
  const cm_chip *chip = e->m->chip;
  CM_TRY_IF(chip->images.router_queue > 0, cm_router_queues_make(chip->width, chip->height, (uint32_t)chip->images.router_queue, e->run->memory, &e->queues, error));
  CM_TRY(CM_NEW_ALL(e->run->memory, error, CM_ARRAY(e->core, e->m->cores), CM_ARRAY(e->r->most, e->m->cores)));
  for (uint32_t i = 0; i < e->m->cores; i++) {
    const uint64_t n = e->m->image[i].neurons;
    runner *r = &e->core[i];
    CM_TRY(CM_NEW_ALL(e->run->memory, error, CM_ARRAY(r->state, n), CM_ARRAY(r->sum, n), CM_ARRAY(r->waiting, n * DELAYS), CM_ARRAY(r->spiked, n)));
  }
  return CM_OK;
}

cm_status cm_images_run(const cm_images *images, const cm_spikes *given, bool events, cm_run *run, cm_images_result *result, cm_error *error)
{
  cm_images_result r = {.spikes = 0};
  engine e = {.m = images, .run = run, .r = &r};
  cm_status status = start(&e, error);
  CM_THEN_IF(status, events, CM_NEW(run->memory, r.events, (size_t)images->steps * images->cores, error));
  for (uint32_t step = 0; step < images->steps && status == CM_OK; step++)
    status = step_once(&e, given, step, error);
  CM_THEN(status, sort(&e, error));
  for (uint32_t i = 0; e.core != NULL && i < images->cores; i++) {
    CM_FREE(e.core[i].state, e.core[i].sum, e.core[i].waiting, e.core[i].spiked);
  }
  CM_FREE(e.core, e.packet);
  cm_router_queues_free(&e.queues);
  CM_END(status, *result = r, cm_images_result_free(&r));
}

void cm_images_result_free(cm_images_result *result)
{
  CM_FREE(result->spike, result->most, result->events);
  cm_spikes_free(&result->network);
  *result = (cm_images_result){.spikes = 0};
}
