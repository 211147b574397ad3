/* Happy path: every source's relays by its routes, every synapse once, then the network that this makes, without cores and queues, step by step. */
#include "core/verify/images_check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/order.h"
#include "core/verify/check_report.h"
#include "core/verify/images_read.h"

enum { SLOTS = 256, EXPECTED_MAX = 1 << 30, NOBODY = -1 };

typedef struct checker {
  const cm_read_images *r;
  const cm_chip *chip;
  cm_run *run;
  cm_check_result *result;
  int64_t *home;      /* [network neurons] row of each */
  uint32_t *fed;      /* [rows] routes that lead to each */
  uint64_t *inbound;  /* [rows] a sum over the synapses to each: source, weight, delay */
  uint64_t *key;      /* of the synapses of a source: target and delay */
  uint64_t room;
  uint64_t synapses;
} checker;

static uint32_t place_of(const checker *c, uint32_t row)
{
  return row - c->r->first[c->r->neuron[row].core];
}

#define CALLED "neuron %" PRIu32 " of core %" PRIu32
#define NAME(c, row) place_of(c, row), (c)->r->number[(c)->r->neuron[row].core]

/* ---- structure ---- */

static void check_limits(const checker *c)
{
  const cm_read_images *r = c->r;
  for (uint32_t k = 0; k < r->cores; k++) {
    const uint64_t neurons = r->first[k + 1] - r->first[k], pool = r->pool_first[k + 1] - r->pool_first[k];
    if (r->number[k] >= cm_chip_cores(c->chip))
      cm_check_violation(c->result, "the chip has no core %" PRIu32, r->number[k]);
    if (c->chip->limits.neurons != 0 && neurons > c->chip->limits.neurons)
      cm_check_violation(c->result, "core %" PRIu32 " has %" PRIu64 " neurons, %" PRIu64 " are the most", r->number[k], neurons, c->chip->limits.neurons);
    if (c->chip->images.pool_entries != 0 && pool > c->chip->images.pool_entries)
      cm_check_violation(c->result, "core %" PRIu32 " has %" PRIu64 " synapses, %" PRIu64 " are the most", r->number[k], pool, c->chip->images.pool_entries);
  }
  for (uint32_t i = 0; i < r->neurons; i++)
    if (c->chip->limits.neuron_target_cores != 0 && r->neuron[i].routes > c->chip->limits.neuron_target_cores)
      cm_check_violation(c->result, CALLED " has %" PRIu32 " routes, %" PRIu64 " are the most", NAME(c, i), r->neuron[i].routes, c->chip->limits.neuron_target_cores);
}

static void find_homes(const checker *c)
{
  const cm_read_images *r = c->r;
  for (uint32_t v = 0; v < r->network_neurons; v++)
    c->home[v] = NOBODY;
  for (uint32_t i = 0; i < r->neurons; i++) {
    const cm_read_neuron *n = &r->neuron[i];
    if (n->kind > CM_READ_INPUT)
      continue;
    if (c->home[n->of] != NOBODY)
      cm_check_violation(c->result, "neuron %" PRIu32 " of the network stands twice", n->of);
    c->home[n->of] = i;
  }
  for (uint32_t v = 0; v < r->network_neurons; v++)
    if (c->home[v] == NOBODY)
      cm_check_violation(c->result, "neuron %" PRIu32 " of the network stands on no core", v);
}

static bool sends(const cm_read_neuron *n)
{
  return n->kind <= CM_READ_COPY;
}

/* Whether a synapse leads to the source's relay on its own core. */
static bool relays(const cm_read_images *r, uint32_t row, const cm_read_synapse *s)
{
  const cm_read_neuron *to = &r->neuron[s->target];
  return sends(&r->neuron[row]) && to->kind == CM_READ_RELAY && to->of == r->neuron[row].of && s->weight == 1 && s->delay == 0;
}

static void follow_routes(const checker *c)
{
  const cm_read_images *r = c->r;
  for (uint32_t i = 0; i < r->neurons; i++)
    for (uint32_t k = r->neuron[i].pool; k < r->neuron[i].pool + r->neuron[i].synapses; k++)
      c->fed[r->synapse[k].target] += relays(r, i, &r->synapse[k]);
  for (uint32_t i = 0; i < r->neurons; i++)
    for (uint32_t k = r->neuron[i].route; k < r->neuron[i].route + r->neuron[i].routes; k++) {
      const cm_read_neuron *to = &r->neuron[r->route[k]];
      c->fed[r->route[k]]++;
      if (!sends(&r->neuron[i]) || to->kind != CM_READ_RELAY || to->of != r->neuron[i].of)
        cm_check_violation(c->result, CALLED " has a route to " CALLED ", which does not relay it", NAME(c, i), NAME(c, r->route[k]));
    }
  for (uint32_t i = 0; i < r->neurons; i++)
    if (r->neuron[i].kind == CM_READ_RELAY && c->fed[i] != 1)
      cm_check_violation(c->result, CALLED " is a relay that %" PRIu32 " routes lead to, not 1", NAME(c, i), c->fed[i]);
}

static uint64_t mix(uint64_t x)
{
  x ^= x >> 33;
  x *= UINT64_C(0xff51afd7ed558ccd);
  x ^= x >> 33;
  return x * UINT64_C(0xc4ceb9fe1a85ec53);
}

/* Adds the row of a source, or of a relay of it, to the source's keys; counts what comes in at each row. */
static cm_status gather(checker *c, uint32_t row, uint64_t *count, cm_error *error)
{
  const cm_read_neuron *n = &c->r->neuron[row];
  for (uint32_t k = n->pool; k < n->pool + n->synapses; k++) {
    const cm_read_synapse *s = &c->r->synapse[k];
    const cm_read_neuron *to = &c->r->neuron[s->target];
    if (relays(c->r, row, s)) {
      CM_TRY(gather(c, s->target, count, error));
      continue;
    }
    CM_TRY(CM_ROOM(c->run->memory, c->key, &c->room, *count + 1, error));
    c->inbound[s->target] += mix((uint64_t)n->of << 32 ^ (uint64_t)(uint32_t)(s->weight * 64 + s->delay));
    if (to->kind == CM_READ_NEURON)
      c->key[(*count)++] = (uint64_t)to->of << 8 | (uint64_t)s->delay;
    else if (to->kind != CM_READ_COPY)
      cm_check_violation(c->result, CALLED " has a synapse to " CALLED ", which is no neuron of the network", NAME(c, row), NAME(c, s->target));
  }
  return CM_OK;
}

/* Its own row, and those of its relays: one on a core. */
static cm_status check_source(checker *c, uint32_t v, cm_error *error)
{
  const cm_read_images *r = c->r;
  uint64_t count = 0;
  uint32_t row = (uint32_t)c->home[v];
  cm_status status = gather(c, row, &count, error);
  do
    for (uint32_t k = r->neuron[row].route; k < r->neuron[row].route + r->neuron[row].routes && status == CM_OK; k++)
      status = gather(c, r->route[k], &count, error);
  while (status == CM_OK && ++row < r->neurons && r->neuron[row].kind == CM_READ_COPY && r->neuron[row].of == v);
  CM_TRY(status);
  if (count > 1) /* there may be no room for any */
    qsort(c->key, count, sizeof *c->key, cm_ascending_long);
  for (uint64_t i = 1; i < count; i++)
    if (c->key[i] == c->key[i - 1])
      cm_check_violation(c->result, "the synapse from neuron %" PRIu32 " to %" PRIu64 " with delay %" PRIu64 " stands twice", v, c->key[i] >> 8, c->key[i] & 0xff);
  c->synapses += count;
  return CM_OK;
}

/* Biases, and whether copies get what their neurons get. */
static void check_copies(const checker *c)
{
  const cm_read_images *r = c->r;
  for (uint32_t i = 0; i < r->neurons; i++)
    for (uint32_t k = r->neuron[i].pool; r->neuron[i].kind == CM_READ_BIAS && k < r->neuron[i].pool + r->neuron[i].synapses; k++)
      c->inbound[r->synapse[k].target] += mix((uint64_t)r->neuron[i].of << 33 ^ (uint64_t)(uint32_t)(r->synapse[k].weight * 64) ^ 1);
  for (uint32_t i = 1; i < r->neurons; i++)
    if (r->neuron[i].kind == CM_READ_COPY &&
        (c->home[r->neuron[i].of] == NOBODY || r->neuron[c->home[r->neuron[i].of]].core != r->neuron[i].core || c->inbound[c->home[r->neuron[i].of]] != c->inbound[i]))
      cm_check_violation(c->result, CALLED " is a copy of neuron %" PRIu32 " but does not get its synapses", NAME(c, i), r->neuron[i].of);
}

static cm_status check_structure(checker *c, cm_error *error)
{
  cm_status status = CM_OK;
  check_limits(c);
  find_homes(c);
  if (c->result->violation_count > 0)
    return CM_OK;
  follow_routes(c);
  for (uint32_t v = 0; v < c->r->network_neurons && status == CM_OK; v++)
    status = check_source(c, v, error);
  check_copies(c);
  if (c->synapses != c->r->network_synapses)
    cm_check_violation(c->result, "%" PRIu64 " synapses stand in the images, the network has %" PRIu64, c->synapses, c->r->network_synapses);
  return status;
}

/* ---- running ---- */

typedef struct rerun {
  const checker *c;
  int32_t *sum;         /* [SLOTS * network neurons] */
  int32_t *bias;        /* [network neurons] what flows in now */
  cm_chip_state *state; /* [network neurons] */
  uint64_t *spike;      /* [spikes] step, place of the core and row of the core, as one number */
  uint64_t spikes, room, inputs;
} rerun;

static void send_row(const rerun *e, uint32_t row, uint32_t arrives)
{
  const cm_read_images *r = e->c->r;
  const cm_read_neuron *n = &r->neuron[row];
  for (uint32_t k = n->pool; k < n->pool + n->synapses; k++) {
    const cm_read_neuron *to = &r->neuron[r->synapse[k].target];
    const uint32_t then = (arrives + (uint32_t)r->synapse[k].delay) % SLOTS;
    if (to->kind == CM_READ_NEURON)
      e->sum[(size_t)then * r->network_neurons + to->of] += r->synapse[k].weight;
    else if (relays(r, row, &r->synapse[k]))
      send_row(e, r->synapse[k].target, arrives + 1);
  }
}

/* By its own row in a step, by way of relays in two. */
static void send(const rerun *e, uint32_t v, uint32_t step)
{
  const cm_read_images *r = e->c->r;
  uint32_t row = (uint32_t)e->c->home[v];
  send_row(e, row, step + 1);
  do
    for (uint32_t k = r->neuron[row].route; k < r->neuron[row].route + r->neuron[row].routes; k++)
      send_row(e, r->route[k], step + 2);
  while (++row < r->neurons && r->neuron[row].kind == CM_READ_COPY && r->neuron[row].of == v);
}

static void start_biases(const rerun *e, uint32_t step)
{
  const cm_read_images *r = e->c->r;
  for (uint32_t i = 0; i < r->neurons; i++)
    for (uint32_t k = r->neuron[i].pool; r->neuron[i].kind == CM_READ_BIAS && r->neuron[i].of + 1 == step && k < r->neuron[i].pool + r->neuron[i].synapses; k++)
      if (r->neuron[r->synapse[k].target].kind == CM_READ_NEURON)
        e->bias[r->neuron[r->synapse[k].target].of] += r->synapse[k].weight;
}

static uint64_t spike_of(uint32_t step, uint32_t core, uint32_t place)
{
  return (uint64_t)step << 40 | (uint64_t)core << 20 | place;
}

static cm_status step_once(rerun *e, uint32_t step, cm_error *error)
{
  const cm_read_images *r = e->c->r;
  int32_t *in = e->sum + (size_t)(step % SLOTS) * r->network_neurons;
  start_biases(e, step);
  for (; e->inputs < r->inputs && r->input[2 * e->inputs] == step; e->inputs++)
    in[r->input[2 * e->inputs + 1]] = 1;
  for (uint32_t v = 0; v < r->network_neurons; v++) {
    const cm_read_neuron *n = &r->neuron[e->c->home[v]];
    if (!cm_chip_neurons[n->parameter.model].step(&n->parameter, in[v] + e->bias[v], &e->state[v]))
      continue;
    CM_TRY(CM_ROOM(e->c->run->memory, e->spike, &e->room, e->spikes + 1, error));
    e->spike[e->spikes++] = spike_of(step, n->core, place_of(e->c, (uint32_t)e->c->home[v]));
    send(e, v, step);
  }
  if (r->network_neurons > 0)
    memset(in, 0, r->network_neurons * sizeof *in);
  return cm_run_check(e->c->run, error);
}

/* Compares with the lines STEP CORE NEURON of expected.txt, those of relays, copies and biases left out. */
static cm_status compare(const rerun *e, const char *path, cm_error *error)
{
  const cm_read_images *r = e->c->r;
  char *text, *end;
  size_t size;
  uint64_t expected = 0, line = 0;
  bool differs = false;
  CM_TRY(cm_file_read(path, EXPECTED_MAX, &text, &size, error));
  for (const char *at = text; *at != '\0'; at = *end == '\n' ? end + 1 : end) {
    unsigned long number[3];
    line++;
    end = (char *)(uintptr_t)at;
    for (int k = 0; k < 3; k++)
      number[k] = strtoul(end, &end, 10);
    uint32_t core = 0;
    while (core < r->cores && r->number[core] != number[1])
      core++;
    if ((*end != '\n' && *end != '\0') || core == r->cores || number[2] >= r->first[core + 1] - r->first[core]) {
      free(text);
      return cm_fail(error, CM_BAD_MAPPING, "line %" PRIu64 " of expected.txt is no spike STEP CORE NEURON of these images", line);
    }
    if (r->neuron[r->first[core] + number[2]].kind > CM_READ_INPUT)
      continue;
    if (!differs && (expected >= e->spikes || e->spike[expected] != spike_of((uint32_t)number[0], core, (uint32_t)number[2]))) {
      cm_check_violation(e->c->result, "line %" PRIu64 " of expected.txt has neuron %lu of core %lu spike in step %lu, where the network does not", line, number[2],
                         number[1], number[0]);
      differs = true;
    }
    expected++;
  }
  free(text);
  if (!differs && expected != e->spikes)
    cm_check_violation(e->c->result, "expected.txt has %" PRIu64 " spikes, the network %" PRIu64, expected, e->spikes);
  return CM_OK;
}

static cm_status run_again(const checker *c, const char *folder, uint64_t *spikes, cm_error *error)
{
  rerun e = {.c = c};
  cm_memory *memory = c->run->memory;
  const uint32_t n = c->r->network_neurons;
  char path[CM_PATH_MAX];
  cm_status status = CM_NEW(memory, e.sum, (size_t)SLOTS * n, error);
  CM_THEN(status, CM_NEW_ALL(memory, error, CM_ARRAY(e.bias, n), CM_ARRAY(e.state, n)));
  for (uint32_t step = 0; step < c->r->steps && status == CM_OK; step++)
    status = step_once(&e, step, error);
  if (status == CM_OK) {
    if (e.spikes > 1)
      qsort(e.spike, e.spikes, sizeof *e.spike, cm_ascending_long);
    status = cm_path(path, error, "%s/expected.txt", folder);
  }
  CM_THEN(status, compare(&e, path, error));
  *spikes = e.spikes;
  CM_FREE(e.sum, e.bias, e.state, e.spike);
  return status;
}

/* ---- all ---- */

cm_status cm_images_judge(const cm_read_images *r, const char *folder, const cm_chip *chip, cm_run *run, cm_images_verdict *verdict, cm_error *error)
{
  cm_images_verdict found = {.cores = r->cores, .neurons = r->network_neurons};
  checker c = {.r = r, .chip = chip, .run = run, .result = &found.result};
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(found.result.violations, CM_CHECK_LISTED_MAX),
                                CM_ARRAY(c.home, r->network_neurons), CM_ARRAY(c.fed, r->neurons),
                                CM_ARRAY(c.inbound, r->neurons));
  CM_THEN(status, check_structure(&c, error));
  CM_THEN_IF(status, found.result.violation_count == 0, run_again(&c, folder, &found.spikes, error));
  found.synapses = c.synapses;
  CM_FREE(c.home, c.fed, c.inbound, c.key);
  CM_END(status, *verdict = found, cm_check_result_free(&found.result));
}

cm_status cm_images_check(const char *folder, const cm_chip *chip, cm_run *run, cm_images_verdict *verdict, cm_error *error)
{
  cm_read_images r;
  CM_TRY(cm_images_read_folder(folder, run, &r, error));
  const cm_status status = cm_images_judge(&r, folder, chip, run, verdict, error);
  cm_read_images_free(&r);
  return status;
}
