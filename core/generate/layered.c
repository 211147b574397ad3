/* Layered networks (docs/reference/generators.md): every neuron reaches some of those around its like in the next layer. */
#include <math.h>

#include "base/random.h"
#include "base/threads.h"
#include "core/generate/generate.h"

enum { BLOCK = 4096, RATE_SCALE = 1024 };

/* Random stream: of a neuron. */
enum { STREAM_NEURON = 5 };

typedef struct layered {
  const cm_layered *shape;
  cm_run *run;
  cm_topology *made;
  uint32_t across, down;   /* sides of the window in the next layer */
} layered;

/* The `side` places around `at` in a line of `length`, as many at its ends as in the middle. */
static uint32_t window_begin(uint32_t at, uint32_t side, uint32_t length)
{
  uint32_t begin = at > side / 2 ? at - side / 2 : 0;
  return begin + side > length ? length - side : begin;
}

/* Takes `wanted` of the window's places, each set of so many as likely as any other (Knuth's algorithm S), ascending. */
static void draw_targets(const layered *l, uint32_t neuron, cm_random *random, uint32_t *row)
{
  const cm_layered *s = l->shape;
  uint32_t layer_size = s->width * s->height, next = (neuron / layer_size + 1) * layer_size;
  uint32_t x0 = window_begin(neuron % layer_size % s->width, l->across, s->width);
  uint32_t y0 = window_begin(neuron % layer_size / s->width, l->down, s->height);
  uint32_t left = l->across * l->down, wanted = s->fan_out < left ? s->fan_out : left;
  for (uint32_t y = y0; y < y0 + l->down; y++)
    for (uint32_t x = x0; x < x0 + l->across; x++, left--)
      if (cm_random_below(random, left) < wanted) {
        *row++ = next + y * s->width + x;
        wanted--;
      }
}

static cm_status draw_block(void *context, size_t index, cm_error *error)
{
  layered *l = context;
  cm_topology *t = l->made;
  uint32_t begin = (uint32_t)index * BLOCK, end = t->net_count - begin < BLOCK ? t->net_count : begin + BLOCK;
  for (uint32_t e = begin; e < end; e++) {
    cm_random random;
    cm_random_init(&random, l->run->seed, STREAM_NEURON, e);
    t->net_weight[e] = 1 + cm_random_below(&random, RATE_SCALE);
    draw_targets(l, e, &random, t->pin + t->net_first[e]);
  }
  return cm_run_check(l->run, error);
}

static cm_status generate(layered *l, cm_error *error)
{
  cm_topology *t = l->made;
  cm_memory *memory = l->run->memory;
  const cm_layered *s = l->shape;
  uint64_t window = (uint64_t)l->across * l->down, fan = s->fan_out < window ? s->fan_out : window;
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(t->net_first, (size_t)t->net_count + 1), CM_ARRAY(t->net_source, t->net_count),
                    CM_ARRAY(t->net_weight, t->net_count), CM_ARRAY(t->pin, t->net_count * fan)));
  for (uint32_t e = 0; e < t->net_count; e++) {
    t->net_first[e + 1] = t->net_first[e] + fan;
    t->net_source[e] = e;
  }
  t->pin_count = t->net_first[t->net_count];
  return cm_parallel(l->run, (t->net_count + BLOCK - 1) / BLOCK, draw_block, l, error);
}

cm_status cm_generate_layered(const cm_layered *shape, cm_run *run, cm_topology **topology, cm_error *error)
{
  const cm_layered *s = shape;
  uint64_t layer_size = (uint64_t)s->width * s->height, neurons = layer_size * s->layers;
  if (s->layers < 2 || layer_size == 0 || neurons > CM_VERTICES_MAX || layer_size > CM_VERTICES_MAX)
    return cm_fail(error, CM_BAD_OPTION,
                   "%u layers of %u x %u neurons cannot be made: two layers or more and at most %u neurons are expected",
                   s->layers, s->width, s->height, CM_VERTICES_MAX);
  if (s->fan_out < 1 || s->fan_out > CM_FAN_OUT_MAX || s->spread < s->fan_out)
    return cm_fail(error, CM_BAD_OPTION,
                   "%u targets of %u around a place cannot be had: 1 to %d are expected, and no more than there are",
                   s->fan_out, s->spread, CM_FAN_OUT_MAX);
  layered l = {.shape = s, .run = run};
  /* A square window of a sheet, a run of a line. */
  l.down = s->height == 1 ? 1 : (uint32_t)fmin(ceil(sqrt((double)s->spread)), s->height);
  l.across = (uint32_t)fmin(ceil((double)s->spread / l.down), s->width);
  cm_run_phase(run, "generate");
  CM_TRY(CM_NEW(run->memory, l.made, 1, error));
  l.made->directed = true;
  l.made->vertex_count = (uint32_t)neurons;
  l.made->net_count = (uint32_t)(neurons - layer_size); /* the last layer sends to nobody */
  l.made->size_total = neurons;
  l.made->weight_scale = RATE_SCALE;
  cm_status status = generate(&l, error);
  CM_THEN(status, cm_name_runs(l.made, "layer", s->layers, NULL, (uint32_t)layer_size, run->memory, error));
  CM_END(status, *topology = l.made, cm_topology_free(l.made));
}

cm_status cm_generate_chain(uint32_t populations, uint32_t size, cm_run *run, cm_topology **topology, cm_error *error)
{
  uint64_t neurons = (uint64_t)populations * size;
  if (populations < 2 || size == 0 || neurons > CM_VERTICES_MAX)
    return cm_fail(error, CM_BAD_OPTION,
                   "a chain of %u populations of %u neurons cannot be made: two populations or more and at most %u "
                   "neurons are expected", populations, size, CM_VERTICES_MAX);
  cm_topology *t;
  cm_run_phase(run, "generate");
  CM_TRY(CM_NEW(run->memory, t, 1, error));
  *t = (cm_topology){.directed = true, .vertex_count = (uint32_t)neurons, .net_count = (uint32_t)neurons,
                     .pin_count = neurons, .size_total = neurons, .weight_scale = 1};
  if (CM_NEW_ALL(run->memory, error, CM_ARRAY(t->net_first, neurons + 1), CM_ARRAY(t->net_weight, neurons),
                 CM_ARRAY(t->pin, neurons)) != CM_OK ||
      cm_name_runs(t, "population", populations, NULL, size, run->memory, error) != CM_OK) {
    cm_topology_free(t);
    return error->status;
  }
  for (uint32_t v = 0; v < neurons; v++) {
    t->net_first[(size_t)v + 1] = (uint64_t)v + 1;
    t->net_weight[v] = 1;
    t->pin[v] = (uint32_t)(((uint64_t)v + size) % neurons);
  }
  *topology = t;
  return CM_OK;
}
