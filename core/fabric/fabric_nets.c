#include "core/fabric/fabric_nets.h"

static void put_pins(cm_fabric_nets *nets, const cm_fabric_groups *groups, uint64_t *at, const uint32_t *vertex, uint64_t begin, uint64_t end)
{
  for (uint64_t i = begin; i < end; i++)
    nets->pin[(*at)++] = groups->of[vertex[i]];
}

static void put_nets(cm_fabric_nets *nets, const cm_flows *flows, const cm_fabric_groups *groups)
{
  uint64_t at = 0;
  for (uint32_t s = 0; s < flows->senders; s++) {
    nets->first[s] = at;
    nets->weight[s] = 1;
    put_pins(nets, groups, &at, flows->own, flows->own_first[s], flows->own_first[s + 1]);
    nets->source[s] = at;
    put_pins(nets, groups, &at, flows->sender, s, s + 1);
  }
  for (uint32_t k = 0; k < flows->families; k++) {
    const uint32_t net = flows->senders + k;
    const bool any = flows->common_first[k + 1] > flows->common_first[k];
    nets->first[net] = at;
    nets->weight[net] = flows->family_first[k + 1] - flows->family_first[k];
    put_pins(nets, groups, &at, flows->common, flows->common_first[k], flows->common_first[k + 1]);
    nets->source[net] = at;
    put_pins(nets, groups, &at, flows->sender, flows->family_first[k], any ? flows->family_first[k + 1] : flows->family_first[k]);
  }
  nets->first[nets->count] = at;
}

/* The nets of each group, of the pins. */
static void put_groups(cm_fabric_nets *nets, uint32_t groups)
{
  const uint64_t pins = nets->first[nets->count];
  for (uint64_t i = 0; i < pins; i++)
    nets->of_first[nets->pin[i] + 1]++;
  for (uint32_t g = 0; g < groups; g++)
    nets->of_first[g + 1] += nets->of_first[g];
  for (uint32_t net = nets->count; net-- > 0;)
    for (uint64_t i = nets->first[net + 1]; i-- > nets->first[net];)
      nets->of[--nets->of_first[nets->pin[i] + 1]] = 2 * net + (i >= nets->source[net]);
  for (uint32_t g = 0; g < groups; g++) /* each now begins where it ended before, one further */
    nets->of_first[g] = nets->of_first[g + 1];
  nets->of_first[groups] = pins;
}

cm_status cm_fabric_nets_make(const cm_flows *flows, const cm_fabric_groups *groups, cm_memory *memory, cm_fabric_nets *nets, cm_error *error)
{
  const uint64_t pins = flows->own_first[flows->senders] + flows->common_first[flows->families] + 2 * (uint64_t)flows->senders;
  const uint32_t count = flows->senders + flows->families;
  *nets = (cm_fabric_nets){.count = count};
  CM_TRY_OR(CM_NEW_ALL(memory, error, CM_ARRAY(nets->first, (size_t)count + 1), CM_ARRAY(nets->source, count), CM_ARRAY(nets->weight, count),
                       CM_ARRAY(nets->pin, pins), CM_ARRAY(nets->of, pins), CM_ARRAY(nets->of_first, (size_t)groups->count + 1)), cm_fabric_nets_free(nets));
  put_nets(nets, flows, groups);
  put_groups(nets, groups->count);
  return CM_OK;
}

void cm_fabric_nets_free(cm_fabric_nets *nets)
{
  CM_FREE(nets->first, nets->source, nets->pin, nets->weight, nets->of_first, nets->of);
}
