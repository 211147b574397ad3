/* Sources: catalyst-n1, rtl/scalable_core_v2.v (states S_UPDATE_CALC and S_UPDATE_WRITE, raz_div4096); Loihi's current-based neuron as
 * published (Davies et al., IEEE Micro 38(1), 2018). */
#include "core/deploy/chip_neurons.h"

#include <string.h>

enum { PARTS = 4096 };

/* The low 24 bits, with their sign: the width of v, u and sums. */
static int32_t wrap(int32_t x)
{
  const uint32_t sign = UINT32_C(1) << 23, all = (UINT32_C(1) << 24) - 1;
  return (int32_t)(((uint32_t)x & all) ^ sign) - (int32_t)sign;
}

/* x parts / 4096: down, and where that leaves a fraction one more away from zero. */
static int32_t lose_catalyst(int32_t x, int16_t parts)
{
  const int64_t product = (int64_t)x * parts;
  const int64_t down = product >= 0 ? product / PARTS : -((-product + PARTS - 1) / PARTS);
  return (int32_t)(product % PARTS == 0 ? down : down + (product < 0 ? -1 : 1));
}

static int32_t clamp(const cm_chip_parameters *p, int32_t v)
{
  return v < p->v_min ? p->v_min : v > p->v_max ? p->v_max : v;
}

bool cm_catalyst_lif(const cm_chip_parameters *p, int32_t in, cm_chip_state *s)
{
  const int32_t v = wrap(s->v + in - p->leak);
  const bool rests = s->refractory > 0, spikes = !rests && v >= p->threshold;
  s->refractory = rests ? (int16_t)(s->refractory - 1) : spikes ? p->refractory : 0;
  s->v = clamp(p, !rests && !spikes && v > 0 ? v : p->rest);
  s->u = 0;
  return spikes;
}

bool cm_catalyst_cuba(const cm_chip_parameters *p, int32_t in, cm_chip_state *s)
{
  const int32_t v = wrap(s->v - lose_catalyst(s->v, p->decay_v) + s->u + p->bias);
  const bool rests = s->refractory > 0, spikes = !rests && v >= p->threshold;
  s->u = wrap(s->u - lose_catalyst(s->u, p->decay_u) + in);
  s->refractory = rests ? (int16_t)(s->refractory - 1) : spikes ? p->refractory : 0;
  s->v = clamp(p, rests || spikes ? p->rest : v);
  return spikes;
}

bool cm_loihi_cuba(const cm_chip_parameters *p, int32_t in, cm_chip_state *s)
{
  s->u = wrap(s->u - (int32_t)((int64_t)s->u * p->decay_u / PARTS) + in);
  const int32_t v = wrap(s->v - (int32_t)((int64_t)s->v * p->decay_v / PARTS) + s->u + p->bias);
  const bool rests = s->refractory > 0, spikes = !rests && v > p->threshold;
  s->refractory = rests ? (int16_t)(s->refractory - 1) : spikes ? p->refractory : 0;
  s->v = clamp(p, rests || spikes ? p->rest : v);
  return spikes;
}

const cm_chip_neuron_row cm_chip_neurons[CM_CHIP_NEURONS] = {
#define CHIP_NEURON(number, name, function, latency, reset, above, about) {name, function, latency, CM_RESET_##reset, above, about},
#include "core/deploy/chip_neurons.def"
#undef CHIP_NEURON
};

cm_chip_neuron cm_chip_neuron_find(const char *name)
{
  int k = 0;
  while (k < CM_CHIP_NEURONS && strcmp(cm_chip_neurons[k].name, name) != 0)
    k++;
  return (cm_chip_neuron)k;
}
