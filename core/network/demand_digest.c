#include "core/network/demand_digest.h"

#include <sodium.h>

/* An array, or that there is none. */
static void add(crypto_generichash_state *state, const void *array, uint64_t count, size_t each)
{
  const uint64_t size = array != NULL ? count * each : UINT64_MAX;
  (void)crypto_generichash_update(state, (const unsigned char *)&size, sizeof size);
  if (array != NULL)
    (void)crypto_generichash_update(state, array, size);
}

/* The same of the largest array, mixed to 64 bits: the name of its file stands beside a digest, so that it tells apart only what is made of
 * one file. */
static void add_mixed(crypto_generichash_state *state, const uint32_t *array, uint64_t count)
{
  uint64_t mixed = count;
  for (uint64_t i = 0; i < count; i += 2) {
    const uint64_t two = array[i] | (uint64_t)(i + 1 < count ? array[i + 1] : 0) << 32;
    mixed = ((mixed << 5 | mixed >> 59) ^ two) * UINT64_C(0x9e3779b97f4a7c15);
  }
  add(state, &mixed, 1, sizeof mixed);
}

#define ADD(state, array, count) add(state, array, count, sizeof *(array))

void cm_demand_digest(const cm_demand *demand, unsigned char digest[CM_DEMAND_DIGEST_BYTES])
{
  const cm_topology *t = demand->network;
  crypto_generichash_state state;
  const uint64_t figures[] = {
    t->directed,           t->vertex_count,        t->net_count,            t->pin_count,
    demand->size_total,    demand->outside_count,  demand->neurons_limited, demand->relay_count,
    demand->target_cores_max, t->weight_scale,     t->population_count,     demand->scenario_count,
    (uint64_t)(int64_t)t->weight_exponent};
  (void)crypto_generichash_init(&state, NULL, 0, CM_DEMAND_DIGEST_BYTES);
  ADD(&state, figures, sizeof figures / sizeof *figures);
  ADD(&state, t->net_first, (uint64_t)t->net_count + 1);
  ADD(&state, t->net_source, t->net_count);
  ADD(&state, demand->net_weight, t->net_count);
  add_mixed(&state, t->pin, t->pin_count);
  ADD(&state, t->pin_weight, t->pin_count);
  ADD(&state, demand->size, t->vertex_count);
  ADD(&state, t->population_of, t->vertex_count);
  ADD(&state, t->scenario_rate, (uint64_t)demand->scenario_count * t->net_count);
  (void)crypto_generichash_final(&state, digest, CM_DEMAND_DIGEST_BYTES);
}
