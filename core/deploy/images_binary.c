/* images.bin: numbers from the lowest byte up, a checksum last (docs/reference/core-images.md). */
#include <string.h>
#include <zlib.h>

#include "core/deploy/images_file.h"

enum { CHIP_NAME = 64, NAME = 32, VERSION = 1 };

typedef struct writer {
  FILE *out;
  uLong sum;
} writer;

static void put_bytes(writer *w, const uint8_t *bytes, size_t size)
{
  w->sum = crc32_z(w->sum, bytes, size);
  (void)fwrite(bytes, 1, size, w->out);
}

static void put(writer *w, uint64_t number, size_t size)
{
  uint8_t bytes[sizeof number];
  for (size_t i = 0; i < size; i++)
    bytes[i] = (uint8_t)(number >> 8 * i);
  put_bytes(w, bytes, size);
}

/* Zeros behind it. */
static void put_name(writer *w, const char *name, size_t size)
{
  uint8_t bytes[CHIP_NAME] = {0};
  (void)snprintf((char *)bytes, size, "%s", name);
  put_bytes(w, bytes, size);
}

static void put_neuron(writer *w, const cm_images *m, const cm_image_neuron *n)
{
  const cm_chip_parameters *p = &n->parameter;
  const int16_t words[] = {p->threshold, p->leak, p->rest, p->refractory, p->decay_v, p->decay_u, p->bias, p->v_min, p->v_max, 0};
  put(w, n->kind, 1);
  put(w, p->model, 1);
  put(w, 0, 2);
  put(w, n->of, 4);
  put(w, n->kind <= CM_IMAGE_COPY ? m->shift[n->of] : 0, 4);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    put(w, (uint16_t)words[i], 2);
  put(w, n->entry, 4);
  put(w, n->entries, 4);
  put(w, n->route, 4);
  put(w, n->routes, 4);
}

static void put_core(writer *w, const cm_images *m, const cm_core_image *c)
{
  for (uint64_t k = 0; k < c->neurons; k++)
    put_neuron(w, m, &c->neuron[k]);
  for (uint64_t i = 0; i < c->entries; i++) {
    put(w, c->pool[i].target, 4);
    put(w, (uint16_t)c->pool[i].weight, 2);
    put(w, c->pool[i].delay, 2);
  }
  for (uint64_t i = 0; i < c->routes; i++) {
    put(w, c->route[i].core, 4);
    put(w, c->route[i].neuron, 4);
  }
}

/* Steps and neurons of inputs alone, or how many there are (w NULL). */
static uint64_t put_inputs(writer *w, const cm_images *m, const cm_spikes *given)
{
  uint64_t count = 0;
  for (uint32_t step = 0; step < given->steps; step++)
    for (uint64_t i = given->first[step]; i < given->first[step + 1]; i++) {
      const uint32_t v = given->neuron[i];
      if (m->image[m->core[v]].neuron[m->at[v]].kind != CM_IMAGE_INPUT)
        continue;
      count++;
      if (w != NULL) {
        put(w, step, 4);
        put(w, v, 4);
      }
    }
  return count;
}

void cm_images_put(const cm_images *m, const cm_spikes *given, FILE *out)
{
  writer w = {out, crc32_z(0, NULL, 0)};
  put_bytes(&w, (const uint8_t *)"CMIMAGES", strlen("CMIMAGES"));
  const uint32_t numbers[] = {VERSION, CM_CHIP_NEURONS, m->neurons, m->network_steps, m->steps, m->cores};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    put(&w, numbers[i], 4);
  put(&w, m->synapses, 8);
  put(&w, put_inputs(NULL, m, given), 8);
  put_name(&w, m->chip->name, CHIP_NAME);
  put_name(&w, m->chip->images.format, NAME);
  for (int k = 0; k < CM_CHIP_NEURONS; k++)
    put_name(&w, cm_chip_neurons[k].name, NAME);
  for (uint32_t i = 0; i < m->cores; i++) {
    const cm_core_image *c = &m->image[i];
    const uint64_t sizes[] = {c->core, c->neurons, c->entries, c->routes};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
      put(&w, sizes[k], 4);
  }
  for (uint32_t i = 0; i < m->cores; i++)
    put_core(&w, m, &m->image[i]);
  (void)put_inputs(&w, m, given);
  put(&w, w.sum, 4);
}
