/* Happy path: neurons with their copies, core by core, then source by source relays with their rows, then biases. What can fail: cores that are too
 * small; memory. */
#include "core/deploy/images.h"

#include <stdio.h>
#include <string.h>

const char *const cm_image_kinds[CM_IMAGE_KINDS] = {"neuron", "input", "copy", "relay", "bias"};

typedef struct builder {
  const cm_integer_network *n;
  const cm_mapped *mapped;
  cm_run *run;
  cm_images *made;
  uint32_t *mark;    /* [images] the source that has a relay there, plus 1 */
  uint32_t *copies;  /* [neurons] of each, itself included */
  uint32_t *reached; /* [images] those that the source at hand reaches */
  uint32_t reaches;
} builder;

/* Spikes where at least so much comes in: 1 of a relay; 0 of what spikes in every step. */
static cm_chip_parameters spikes_from(const builder *b, int least)
{
  const cm_chip_neuron model = b->n->words.plain;
  return (cm_chip_parameters){.model = (uint8_t)model, .threshold = (int16_t)(least - cm_chip_neurons[model].above), .v_min = INT16_MIN, .v_max = INT16_MAX};
}

static cm_core_image *image_of(const builder *b, uint32_t neuron)
{
  return &b->made->image[b->made->core[neuron]];
}

static cm_status add_neuron(const builder *b, cm_core_image *c, cm_image_kind kind, uint32_t of, const cm_chip_parameters *parameter, cm_error *error)
{
  CM_TRY(CM_ROOM(b->run->memory, c->neuron, &c->neuron_room, c->neurons + 1, error));
  c->neuron[c->neurons++] = (cm_image_neuron){.kind = (uint8_t)kind, .of = of, .parameter = *parameter, .entry = (uint32_t)c->entries,
                                              .route = (uint32_t)c->routes};
  return CM_OK;
}

/* To the row of neuron `from`, whose entries are the last of the pool. */
static cm_status add_entry(const builder *b, cm_core_image *c, uint32_t from, cm_image_entry entry, cm_error *error)
{
  CM_TRY(CM_ROOM(b->run->memory, c->pool, &c->entry_room, c->entries + 1, error));
  if (c->neuron[from].entries++ == 0)
    c->neuron[from].entry = (uint32_t)c->entries;
  c->pool[c->entries++] = entry;
  return CM_OK;
}

/* A synapse to a neuron and to all of its copies. */
static cm_status add_synapse(const builder *b, cm_core_image *c, uint32_t from, const cm_image_entry *entry, uint32_t copies, cm_error *error)
{
  for (uint32_t k = 0; k < copies; k++)
    CM_TRY(add_entry(b, c, from, (cm_image_entry){entry->target + k, entry->weight, entry->delay}, error));
  return CM_OK;
}

/* ---- neurons and copies ---- */

/* The images that a source's targets are on, in the order of the first target. */
static void find_reached(builder *b, uint32_t v)
{
  b->reaches = 0;
  for (uint64_t i = b->n->first[v]; i < b->n->first[v + 1]; i++) {
    const uint32_t to = b->made->core[b->n->synapse[i].target];
    if (b->mark[to] != v + 1)
      b->reached[b->reaches++] = to;
    b->mark[to] = v + 1;
  }
}

static cm_status put_neurons(builder *b, cm_error *error)
{
  const uint64_t most = b->mapped->chip->limits.neuron_target_cores;
  for (uint32_t v = 0; v < b->n->neurons; v++) {
    cm_core_image *c = image_of(b, v);
    find_reached(b, v);
    b->copies[v] = b->n->hop == 1 || most == 0 || b->reaches <= most ? 1 : (uint32_t)((b->reaches - 1) / most + 1);
    b->made->at[v] = (uint32_t)c->neurons;
    for (uint32_t k = 0; k < b->copies[v]; k++)
      CM_TRY(add_neuron(b, c, k > 0 ? CM_IMAGE_COPY : b->n->input[v] ? CM_IMAGE_INPUT : CM_IMAGE_NEURON, v, &b->n->parameter[v], error));
  }
  return CM_OK;
}

/* ---- synapses ---- */

static cm_status put_rows(const builder *b, cm_error *error)
{
  for (uint32_t v = 0; v < b->n->neurons; v++)
    for (uint64_t i = b->n->first[v]; i < b->n->first[v + 1]; i++) {
      const cm_integer_synapse *s = &b->n->synapse[i];
      CM_TRY(add_entry(b, image_of(b, v), b->made->at[v], (cm_image_entry){b->made->at[s->target], s->weight, s->delay}, error));
    }
  return CM_OK;
}

/* From a source to its relay `at` on a core: on its own by its row, elsewhere by a route of it or of copy `copy`. */
static cm_status lead_to(const builder *b, uint32_t v, uint32_t copy, const cm_core_image *c, uint32_t at, cm_error *error)
{
  cm_core_image *home = image_of(b, v);
  if (c == home)
    return add_entry(b, home, b->made->at[v], (cm_image_entry){at, 1, 0}, error);
  CM_TRY(CM_ROOM(b->run->memory, home->route, &home->route_room, home->routes + 1, error));
  cm_image_neuron *from = &home->neuron[b->made->at[v] + copy];
  if (from->routes++ == 0)
    from->route = (uint32_t)home->routes;
  home->route[home->routes++] = (cm_image_route){c->core, at};
  return CM_OK;
}

/* The relay of the source at hand on each core that it reaches, with its row; routes from the source and its copies by turns. */
static cm_status put_relays(builder *b, uint32_t v, cm_error *error)
{
  const cm_chip_parameters relay = spikes_from(b, 1);
  const uint32_t each = b->copies[v] > 1 ? (uint32_t)b->mapped->chip->limits.neuron_target_cores : b->reaches;
  for (uint32_t k = 0; k < b->reaches; k++) {
    cm_core_image *c = &b->made->image[b->reached[k]];
    const uint32_t at = (uint32_t)c->neurons;
    CM_TRY(add_neuron(b, c, CM_IMAGE_RELAY, v, &relay, error));
    CM_TRY(lead_to(b, v, k / each, c, at, error));
    for (uint64_t i = b->n->first[v]; i < b->n->first[v + 1]; i++) {
      const cm_integer_synapse *s = &b->n->synapse[i];
      const cm_image_entry entry = {b->made->at[s->target], s->weight, s->delay};
      CM_TRY_IF(b->made->core[s->target] == b->reached[k], add_synapse(b, c, at, &entry, b->copies[s->target], error));
    }
  }
  return CM_OK;
}

static cm_status put_synapses(builder *b, cm_error *error)
{
  uint64_t work = 0;
  if (b->n->hop == 1)
    return put_rows(b, error);
  if (b->made->cores > 0)
    memset(b->mark, 0, b->made->cores * sizeof *b->mark);
  for (uint32_t v = 0; v < b->n->neurons; v++) {
    find_reached(b, v);
    CM_TRY(put_relays(b, v, error));
    CM_TRY_IF(cm_run_due(&work, b->n->first[v + 1] - b->n->first[v]), cm_run_check(b->run, error));
  }
  return CM_OK;
}

/* Sources of biases of a core: each spikes from a step on, the first from the very first, each other a step after the one before. */
static cm_status put_biases(const builder *b, uint32_t image, cm_error *error)
{
  cm_core_image *c = &b->made->image[image];
  const cm_chip_parameters source = spikes_from(b, 0), relay = spikes_from(b, 1);
  const uint32_t begin = (uint32_t)c->neurons;
  uint32_t last = 0;
  for (uint32_t i = 0; i < b->n->biases; i++)
    if (b->made->core[b->n->bias[i].target] == image && b->n->bias[i].start > last)
      last = b->n->bias[i].start;
  for (uint32_t k = 0; k < last; k++)
    CM_TRY(add_neuron(b, c, CM_IMAGE_BIAS, k, k == 0 ? &source : &relay, error));
  for (uint32_t k = 0; k < last; k++) {
    CM_TRY_IF(k + 1 < last, add_entry(b, c, begin + k, (cm_image_entry){begin + k + 1, 1, 0}, error));
    for (uint32_t i = 0; i < b->n->biases; i++) {
      const cm_integer_bias *bias = &b->n->bias[i];
      const cm_image_entry entry = {b->made->at[bias->target], bias->weight, 0};
      CM_TRY_IF(b->made->core[bias->target] == image && bias->start == k + 1, add_synapse(b, c, begin + k, &entry, b->copies[bias->target], error));
    }
  }
  return CM_OK;
}

/* ---- limits ---- */

const char *cm_image_core_called(const cm_images *images, uint32_t image, char *text, size_t size)
{
  const uint32_t core = images->image[image].core, width = images->chip->width;
  (void)snprintf(text, size, "core %u (%u, %u)", core, core % width, core / width);
  return text;
}

static cm_status check_core(const builder *b, uint32_t image, cm_error *error)
{
  const cm_core_image *c = &b->made->image[image];
  const cm_chip *chip = b->mapped->chip;
  uint64_t kind[CM_IMAGE_KINDS] = {0};
  char called[64];
  (void)cm_image_core_called(b->made, image, called, sizeof called);
  for (uint64_t i = 0; i < c->neurons; i++)
    kind[c->neuron[i].kind]++;
  if (chip->limits.neurons != 0 && c->neurons > chip->limits.neurons)
    return cm_fail(error, CM_LIMIT_BROKEN, "%s needs %llu neurons, %llu of the network, %llu copies, %llu relays and %llu for biases, but has %llu: map with smaller parts", called,
                   (unsigned long long)c->neurons, (unsigned long long)(kind[CM_IMAGE_NEURON] + kind[CM_IMAGE_INPUT]), (unsigned long long)kind[CM_IMAGE_COPY],
                   (unsigned long long)kind[CM_IMAGE_RELAY], (unsigned long long)kind[CM_IMAGE_BIAS], (unsigned long long)chip->limits.neurons);
  if (c->entries > chip->images.pool_entries)
    return cm_fail(error, CM_LIMIT_BROKEN, "%s needs %llu pool entries but has %llu: map with smaller parts", called, (unsigned long long)c->entries,
                   (unsigned long long)chip->images.pool_entries);
  return CM_OK;
}

/* ---- all ---- */

static cm_status number_cores(const builder *b, cm_error *error)
{
  cm_images *m = b->made;
  const cm_mapped *mapped = b->mapped;
  const uint32_t cores = cm_chip_cores(mapped->chip);
  CM_TRY(CM_NEW(b->run->memory, m->image, mapped->parts, error));
  CM_TRY(CM_NEW(b->run->memory, m->of_core, cores, error));
  for (uint32_t c = 0; c < cores; c++)
    m->of_core[c] = UINT32_MAX;
  for (uint32_t p = 0; p < mapped->parts; p++)
    m->of_core[mapped->core[p]] = 0;
  for (uint32_t c = 0; c < cores; c++)
    if (m->of_core[c] != UINT32_MAX) {
      m->of_core[c] = m->cores;
      m->image[m->cores++].core = c;
    }
  for (uint32_t v = 0; v < m->neurons; v++)
    m->core[v] = m->of_core[mapped->core[mapped->part[v]]];
  return CM_OK;
}

static cm_status make(builder *b, cm_error *error)
{
  cm_images *m = b->made;
  cm_memory *memory = b->run->memory;
  const uint32_t neurons = m->neurons;
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(m->core, neurons), CM_ARRAY(m->at, neurons), CM_ARRAY(m->shift, neurons), CM_ARRAY(b->copies, neurons)));
  CM_TRY(number_cores(b, error));
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(b->mark, m->cores), CM_ARRAY(b->reached, m->cores)));
  if (neurons > 0)
    memcpy(m->shift, b->n->shift, neurons * sizeof *m->shift);
  cm_status status = put_neurons(b, error);
  CM_THEN(status, put_synapses(b, error));
  for (uint32_t i = 0; i < m->cores && status == CM_OK; i++)
    status = put_biases(b, i, error);
  for (uint32_t i = 0; i < m->cores && status == CM_OK; i++)
    status = check_core(b, i, error);
  return status;
}

cm_status cm_images_make(const cm_integer_network *network, const cm_mapped *mapped, uint32_t network_steps, cm_run *run, cm_images *images, cm_error *error)
{
  cm_images m = {.chip = mapped->chip, .neurons = network->neurons, .synapses = network->synapses, .network_steps = network_steps, .steps = network_steps + network->shift_most,
                 .memory = run->memory};
  builder b = {.n = network, .mapped = mapped, .run = run, .made = &m};
  const cm_status status = make(&b, error);
  CM_FREE(b.mark, b.copies, b.reached);
  CM_END(status, *images = m, cm_images_free(&m));
}

void cm_images_free(cm_images *m)
{
  for (uint32_t i = 0; m->image != NULL && i < m->cores; i++)
    CM_FREE(m->image[i].neuron, m->image[i].pool, m->image[i].route);
  CM_FREE(m->image, m->of_core, m->core, m->at, m->shift);
  *m = (cm_images){.cores = 0};
}
