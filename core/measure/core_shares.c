#include "core/measure/core_shares.h"

#include "core/chip/classes.h"
#include "core/chip/resources.h"

uint32_t cm_core_shares(const cm_chip *chip, uint32_t core, const cm_core_load *load, uint32_t populations, cm_share shares[CM_SHARES_MAX])
{
  const cm_limits *limits = cm_chip_core_limits(chip, core);
  const cm_share all[] = {
    {cm_resource_field(CM_NEURONS), load->neurons, limits->neurons},
    {cm_resource_field(CM_SYNAPSES), load->synapses, limits->synapses},
    {cm_resource_field(CM_INBOUND_AXONS), load->inbound_axons, limits->inbound_axons},
    {cm_resource_field(CM_OUTBOUND_AXONS), load->outbound_axons, limits->outbound_axons},
    {cm_resource_field(CM_TARGET_CORES), load->target_cores, limits->target_cores},
    {cm_resource_field(CM_SOURCE_CORES), load->source_cores, limits->source_cores},
    {cm_resource_field(CM_MEMORY), cm_memory_bits(limits, load->neurons, load->synapses, load->inbound_axons), limits->memory_bits},
    {"populations", populations, limits->populations}};
  uint32_t count = 0;
  for (uint32_t k = 0; k < sizeof all / sizeof *all; k++)
    if (all[k].most > 0)
      shares[count++] = all[k];
  return count;
}
