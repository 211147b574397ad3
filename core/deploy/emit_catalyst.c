/* catalyst-n1: writes of the ports prog_param, prog_pool, prog_delay, prog_index and prog_route of its meshes, a line each (rtl/neuromorphic_mesh.v).
 * After power-up all is 0, and a neuron of threshold 0 spikes in every step: so all parameters of all neurons of all cores are written. */
#include <inttypes.h>

#include "core/deploy/emitters.h"

enum { NEURONS = 1024, ROW_MAX = 4095, ROUTES = 12, MANTISSA_MOST = 4095 };

/* Parameters by their numbers there. */
enum { THRESHOLD = 0, LEAK = 1, REST = 2, REFRACTORY = 3, DECAY_V = 16, DECAY_U = 17, BIAS = 18, V_MIN = 30, V_MAX = 31 };

typedef struct word {
  int number, value;
} word;
enum { WORDS = 9 };

/* Mantissa of 13 bits, shift of 3. */
static int bias_word(int bias)
{
  int shift = 0;
  while (bias / (1 << shift) > MANTISSA_MOST || bias / (1 << shift) < -MANTISSA_MOST)
    shift++;
  return bias / (1 << shift) * 8 + shift;
}

static void words_of(const cm_chip_parameters *p, word words[WORDS])
{
  const word all[WORDS] = {{THRESHOLD, p->threshold}, {LEAK, p->leak},       {REST, p->rest}, {REFRACTORY, p->refractory}, {DECAY_V, p->decay_v},
                           {DECAY_U, p->decay_u},     {BIAS, bias_word(p->bias)}, {V_MIN, p->v_min}, {V_MAX, p->v_max}};
  for (int i = 0; i < WORDS; i++)
    words[i] = all[i];
}

static void put_words(FILE *stream, uint32_t core, uint64_t neuron, uint64_t count, const word words[WORDS])
{
  for (int i = 0; i < WORDS; i++)
    (void)fprintf(stream, "param %" PRIu32 " %" PRIu64 " %" PRIu64 " %d %d\n", core, neuron, count, words[i].number, words[i].value);
}

static bool alike(const cm_image_neuron *a, const cm_image_neuron *b)
{
  word x[WORDS], y[WORDS];
  words_of(&a->parameter, x);
  words_of(&b->parameter, y);
  for (int i = 0; i < WORDS; i++)
    if (x[i].value != y[i].value)
      return false;
  return true;
}

/* Neurons in runs that are alike, then those that nobody uses: they never spike. */
static void put_parameters(FILE *stream, uint32_t core, const cm_core_image *image)
{
  static const cm_chip_parameters unused = {.threshold = INT16_MAX, .v_min = INT16_MIN, .v_max = INT16_MAX};
  const uint64_t neurons = image != NULL ? image->neurons : 0;
  word words[WORDS];
  for (uint64_t k = 0, end; k < neurons; k = end) {
    for (end = k + 1; end < neurons && alike(&image->neuron[k], &image->neuron[end]); end++) {}
    words_of(&image->neuron[k].parameter, words);
    put_words(stream, core, k, end - k, words);
  }
  words_of(&unused, words);
  if (neurons < NEURONS)
    put_words(stream, core, neurons, NEURONS - neurons, words);
}

static cm_status put_core(FILE *stream, const cm_images *images, uint32_t number, cm_error *error)
{
  const cm_core_image *image = &images->image[number];
  char called[64];
  (void)cm_image_core_called(images, number, called, sizeof called);
  for (uint64_t k = 0; k < image->neurons; k++) {
    const cm_image_neuron *n = &image->neuron[k];
    if (n->entries > ROW_MAX || n->routes > ROUTES)
      return cm_fail(error, CM_CONFLICT, "neuron %" PRIu64 " of %s has %" PRIu32 " synapses on it and %" PRIu32 " routes: %d and %d are the most", k, called, n->entries,
                     n->routes, ROW_MAX, ROUTES);
    for (uint32_t i = n->entry; i < n->entry + n->entries; i++)
      (void)fprintf(stream, "pool %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu32 " %d %d\n", image->core, i, k, image->pool[i].target, image->pool[i].weight,
                    image->pool[i].delay);
    if (n->entries > 0)
      (void)fprintf(stream, "index %" PRIu32 " %" PRIu64 " %" PRIu32 " %" PRIu32 "\n", image->core, k, n->entry, n->entries);
    for (uint32_t i = 0; i < n->routes; i++) {
      const cm_image_route *r = &image->route[n->route + i];
      (void)fprintf(stream, "route %" PRIu32 " %" PRIu64 " %" PRIu32 " %" PRIu32 " %" PRIu32 " 1\n", image->core, k, i, r->core, r->neuron);
    }
  }
  return CM_OK;
}

static void put_inputs(FILE *stream, const cm_images *images, const cm_spikes *given)
{
  for (uint32_t step = 0; step < given->steps; step++)
    for (uint64_t i = given->first[step]; i < given->first[step + 1]; i++) {
      const uint32_t v = given->neuron[i];
      const cm_core_image *c = &images->image[images->core[v]];
      uint64_t k = images->at[v];
      if (c->neuron[k].kind != CM_IMAGE_INPUT)
        continue;
      do
        (void)fprintf(stream, "input %" PRIu32 " %" PRIu32 " %" PRIu64 " 1\n", step, c->core, k++);
      while (k < c->neurons && c->neuron[k].kind == CM_IMAGE_COPY);
    }
}

cm_status cm_emit_catalyst(const cm_images *images, const cm_spikes *given, FILE *stream, cm_error *error)
{
  const uint32_t cores = cm_chip_cores(images->chip);
  (void)fprintf(stream, "cores %" PRIu32 "\n", cores);
  for (uint32_t core = 0; core < cores; core++)
    put_parameters(stream, core, images->of_core[core] != UINT32_MAX ? &images->image[images->of_core[core]] : NULL);
  for (uint32_t i = 0; i < images->cores; i++)
    CM_TRY(put_core(stream, images, i, error));
  put_inputs(stream, images, given);
  (void)fprintf(stream, "run %" PRIu32 "\n", images->steps);
  return CM_OK;
}
