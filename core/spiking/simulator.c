/* Happy path: level by level, blocks of neurons take their sums and are updated, then what they send is added to the sums of its targets'
 * blocks. Each block is one task of either kind, so threads share nothing. What can fail: memory, before the first step. */
#include "core/spiking/simulator.h"

#include <stdlib.h>
#include <string.h>

#include "base/threads.h"
#include "core/network/dynamics.h"
#include "core/spiking/coefficients.h"
#include "core/spiking/evaluation_order.h"
#include "core/spiking/synapse_blocks.h"
#include "core/spiking/update.h"

/* Neurons of one model, level and block, one after another. */
typedef struct stretch {
  uint32_t begin, end;
  uint8_t model;
} stretch;

/* Of a level. */
typedef struct level {
  uint32_t *first;   /* [blocks + 1] stretches of each block */
  stretch *stretch;
  uint64_t room;
  uint32_t *graded;  /* neurons whose v is sent in every step, ascending */
  float *value;      /* [graded_count] */
  uint32_t graded_count;
  uint64_t graded_events;
} level;

struct cm_simulator {
  const cm_topology *topology;
  const cm_semantics *semantics;
  cm_run *run;
  cm_coefficients coefficients;
  cm_evaluation_order order;
  cm_synapse_blocks synapses;
  cm_thread_pool *pool;  /* NULL: not worth it */
  level *level;          /* [order.levels] */
  float *v, *current, *second; /* as in update.h */
  uint32_t *resting;     /* [neurons] steps of refractory times that are left; NULL: no neuron has one */
  uint32_t *fired;       /* [neurons] by block, those of a level */
  uint32_t *fired_count; /* [blocks] */
  uint32_t *spike[2];    /* [neurons] of this step and of the last one, by level; two where spikes are later */
  uint32_t spikes[2];
  uint32_t *told;        /* of the step, ascending */
  uint64_t told_room;
  uint64_t now;
  /* Of the round of tasks that is under way: */
  const level *updating;
  const uint32_t *source;
  const float *value;
  uint32_t sources;
};

/* ---- making ---- */

static uint8_t model_of(const cm_simulator *e, uint32_t v)
{
  return e->topology->dynamics->model[v];
}

static uint32_t level_of(const cm_simulator *e, uint32_t v)
{
  return e->order.level[e->order.group_of[v]];
}

/* Adds neuron v to its level's stretches; *used [levels] are there. */
static cm_status add_neuron(cm_simulator *e, uint32_t v, uint32_t *used, cm_error *error)
{
  const uint32_t at = level_of(e, v), block = v >> e->synapses.block_bits;
  level *l = &e->level[at];
  stretch *last = used[at] > 0 ? &l->stretch[used[at] - 1] : NULL;
  if (last != NULL && last->end == v && last->model == model_of(e, v) && last->begin >> e->synapses.block_bits == block) {
    last->end++;
    return CM_OK;
  }
  CM_TRY(CM_ROOM(e->run->memory, l->stretch, &l->room, (uint64_t)used[at] + 1, error));
  l->stretch[used[at]++] = (stretch){v, v + 1, model_of(e, v)};
  l->first[block + 1] = used[at];
  return CM_OK;
}

static bool is_graded(const cm_simulator *e, uint32_t v)
{
  return !cm_neuron_models[model_of(e, v)].spikes && cm_synapse_blocks_of(&e->synapses, v) > 0;
}

static cm_status make_graded(cm_simulator *e, cm_error *error)
{
  cm_memory *memory = e->run->memory;
  for (uint32_t v = 0; v < e->topology->vertex_count; v++)
    e->level[level_of(e, v)].graded_count += is_graded(e, v);
  for (uint32_t l = 0; l < e->order.levels; l++) {
    CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(e->level[l].graded, e->level[l].graded_count), CM_ARRAY(e->level[l].value, e->level[l].graded_count)));
    e->level[l].graded_count = 0;
  }
  for (uint32_t v = 0; v < e->topology->vertex_count; v++)
    if (is_graded(e, v)) {
      level *l = &e->level[level_of(e, v)];
      l->graded[l->graded_count++] = v;
      l->graded_events += cm_synapse_blocks_of(&e->synapses, v);
    }
  return CM_OK;
}

static cm_status make_levels(cm_simulator *e, cm_error *error)
{
  cm_memory *memory = e->run->memory;
  uint32_t *used = NULL;
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(e->level, e->order.levels), CM_ARRAY(used, e->order.levels));
  for (uint32_t l = 0; l < e->order.levels && status == CM_OK; l++)
    status = CM_NEW(memory, e->level[l].first, (size_t)e->synapses.blocks + 1, error);
  for (uint32_t v = 0; v < e->topology->vertex_count && status == CM_OK; v++)
    if (model_of(e, v) != CM_NEURON_INPUT)
      status = add_neuron(e, v, used, error);
  for (uint32_t l = 0; l < e->order.levels && status == CM_OK; l++)
    for (uint32_t b = 0; b < e->synapses.blocks; b++)
      e->level[l].first[b + 1] = e->level[l].first[b + 1] > e->level[l].first[b] ? e->level[l].first[b + 1] : e->level[l].first[b];
  cm_free(used);
  return status == CM_OK ? make_graded(e, error) : status;
}

static cm_status make_state(cm_simulator *e, cm_error *error)
{
  cm_memory *memory = e->run->memory;
  const uint32_t n = e->topology->vertex_count;
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(e->v, n), CM_ARRAY(e->fired, n), CM_ARRAY(e->fired_count, e->synapses.blocks), CM_ARRAY(e->spike[0], n)));
  CM_TRY_IF(e->semantics->output > 0, CM_NEW(memory, e->spike[1], n, error));
  CM_TRY_IF(e->coefficients.decay_current != NULL, CM_NEW(memory, e->current, n, error));
  CM_TRY_IF(e->coefficients.second.decay != NULL, CM_NEW(memory, e->second, n, error));
  CM_TRY_IF(e->coefficients.refractory != NULL, CM_NEW(memory, e->resting, n, error));
  const uint64_t worth = 1 << 20; /* synapses for which a second thread is */
  if (e->run->threads > 1 && e->synapses.count >= worth)
    return cm_thread_pool_new(memory, e->run->threads, &e->pool, error);
  return CM_OK;
}

cm_status cm_simulator_check(const cm_topology *t, cm_error *error)
{
  if (!t->directed)
    return cm_fail(error, CM_BAD_NETWORK, "the network is undirected: only directed networks run");
  if (t->dynamics == NULL || t->dynamics->model == NULL)
    return cm_fail(error, CM_BAD_NETWORK, "the network does not say how its neurons behave: give it as NIR or with a table of parameters; `coremap show` says what of a file was not read");
  return CM_OK;
}

cm_status cm_simulator_new(const cm_topology *topology, const cm_profile_setting *setting, cm_run *run, cm_simulator **simulator, cm_error *error)
{
  const cm_semantics *semantics = setting->semantics;
  cm_simulator *e;
  CM_TRY(cm_simulator_check(topology, error));
  CM_TRY(CM_NEW(run->memory, e, 1, error));
  e->topology = topology;
  e->semantics = semantics;
  e->run = run;
  uint32_t *loop_of = NULL;
  cm_status status = cm_coefficients_make(topology, semantics, setting->dt, run->memory, &e->coefficients, error);
  if (status == CM_OK) {
    cm_coefficients_set_bias(topology, semantics->first == CM_FIRST_ALL, &e->coefficients);
    status = cm_evaluation_order_make(topology, run, &e->order, error);
  }
  CM_THEN_IF(status, semantics->loop > 0, cm_neuron_loops_make(topology, semantics->delayed, run, &loop_of, error));
  const cm_latency latency = {.dt = setting->dt, .output = semantics->output, .loop_of = loop_of, .loop = semantics->loop};
  CM_THEN(status, cm_synapse_blocks_make(&(cm_timed_network){topology, &e->order, &latency, setting->sole_reader}, run, &e->synapses, error));
  cm_free(loop_of);
  CM_THEN(status, make_levels(e, error));
  CM_THEN(status, make_state(e, error));
  CM_END(status, *simulator = e, cm_simulator_free(e));
}

void cm_simulator_free(cm_simulator *e)
{
  if (e == NULL)
    return;
  for (uint32_t l = 0; e->level != NULL && l < e->order.levels; l++) {
    CM_FREE(e->level[l].first, e->level[l].stretch, e->level[l].graded, e->level[l].value);
  }
  CM_FREE(e->level, e->v, e->current, e->second, e->resting, e->fired, e->fired_count, e->spike[0], e->spike[1], e->told);
  cm_thread_pool_free(e->pool);
  cm_coefficients_free(&e->coefficients);
  cm_evaluation_order_free(&e->order);
  cm_synapse_blocks_free(&e->synapses);
  cm_free(e);
}

/* ---- a step ---- */

static cm_status play(cm_simulator *e, cm_task task, cm_error *error)
{
  if (e->pool != NULL)
    return cm_thread_pool_run(e->pool, e->synapses.blocks, task, e, error);
  for (uint32_t b = 0; b < e->synapses.blocks; b++)
    (void)task(e, b, error);
  return CM_OK;
}

static cm_status send_to_block(void *context, size_t block, CM_UNUSED cm_error *error)
{
  const cm_simulator *e = context;
  cm_synapse_blocks_send(&e->synapses, (uint32_t)block, e->source, e->value, e->sources, e->now);
  return CM_OK;
}

/* Sends spikes (value NULL) or values; counts nothing. */
static cm_status send(cm_simulator *e, const uint32_t *source, const float *value, uint32_t count, cm_error *error)
{
  e->source = source;
  e->value = value;
  e->sources = count;
  return count > 0 ? play(e, send_to_block, error) : CM_OK;
}

static cm_status update_block(void *context, size_t block, CM_UNUSED cm_error *error)
{
  cm_simulator *e = context;
  const uint32_t begin = (uint32_t)block << e->synapses.block_bits;
  float *sum = cm_synapse_blocks_sums(&e->synapses, (uint32_t)block, e->now);
  uint32_t *fired = e->fired + begin, count = 0;
  for (uint32_t s = e->updating->first[block]; s < e->updating->first[block + 1]; s++) {
    const stretch *here = &e->updating->stretch[s];
    const cm_update update = {.coefficients = &e->coefficients, .v = e->v, .current = e->current, .second = e->second, .resting = e->resting, .sum = sum, .base = begin,
                              .apart = UINT32_C(1) << e->synapses.block_bits,
                              .closed = e->semantics->current == CM_CURRENT_OVER_STEP, .reset = e->semantics->reset,
                              .model = here->model};
    count += cm_update_neurons(&update, here->begin, here->end, fired + count);
  }
  e->fired_count[block] = count;
  return CM_OK;
}

/* Updates the neurons of a level and adds those that spike to `spike`. */
static cm_status update_level(cm_simulator *e, const level *l, uint32_t *spike, uint32_t *count, cm_error *error)
{
  e->updating = l;
  if (l->first[e->synapses.blocks] == 0)
    return CM_OK;
  CM_TRY(play(e, update_block, error));
  for (uint32_t b = 0; b < e->synapses.blocks; b++) {
    memcpy(spike + *count, e->fired + ((size_t)b << e->synapses.block_bits), e->fired_count[b] * sizeof *spike);
    *count += e->fired_count[b];
  }
  return CM_OK;
}

static cm_status send_values(cm_simulator *e, level *l, cm_error *error)
{
  for (uint32_t i = 0; i < l->graded_count; i++)
    l->value[i] = e->v[l->graded[i]];
  return send(e, l->graded, l->value, l->graded_count, error);
}

static int by_number(const void *a, const void *b)
{
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* What is told of the step: inputs, and the spikes whose time has come. */
static cm_status tell(cm_simulator *e, const uint32_t *input, uint32_t inputs, unsigned shown, cm_step *step, cm_error *error)
{
  const uint32_t *spike = e->spike[shown], spikes = e->spikes[shown], all = inputs + spikes;
  bool ascending = true;
  CM_TRY(CM_ROOM(e->run->memory, e->told, &e->told_room, all, error));
  if (inputs > 0)
    memcpy(e->told, input, inputs * sizeof *input);
  if (spikes > 0)
    memcpy(e->told + inputs, spike, spikes * sizeof *spike);
  for (uint32_t i = 1; i < all && ascending; i++)
    ascending = e->told[i - 1] <= e->told[i];
  if (!ascending)
    qsort(e->told, all, sizeof *e->told, by_number);
  uint64_t events = 0;
  for (uint32_t i = 0; i < all; i++)
    events += cm_synapse_blocks_of(&e->synapses, e->told[i]);
  for (uint32_t l = 0; l < e->order.levels; l++)
    events += e->level[l].graded_events;
  *step = (cm_step){e->told, all, events};
  return CM_OK;
}

cm_status cm_simulator_step(cm_simulator *e, const uint32_t *input, uint32_t count, cm_step *step, cm_error *error)
{
  const unsigned later = e->semantics->output;
  const unsigned now = (unsigned)(e->now & later), shown = later > 0 ? 1 - now : now;
  e->spikes[now] = 0;
  CM_TRY(send(e, input, NULL, count, error));
  for (uint32_t l = 0; l < e->order.levels; l++) {
    const uint32_t before = e->spikes[now];
    CM_TRY(update_level(e, &e->level[l], e->spike[now], &e->spikes[now], error));
    CM_TRY(send(e, e->spike[now] + before, NULL, e->spikes[now] - before, error));
    CM_TRY(send_values(e, &e->level[l], error));
  }
  CM_TRY(tell(e, input, count, shown, step, error));
  if (e->now++ == 0 && e->semantics->first != CM_FIRST_ALL)
    cm_coefficients_set_bias(e->topology, true, &e->coefficients);
  return CM_OK;
}

const float *cm_simulator_potentials(const cm_simulator *e)
{
  return e->v;
}
