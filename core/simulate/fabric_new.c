/* Making a fabric, and giving it back. */
#include "core/chip/geometry.h"
#include "core/chip/turns.h"
#include "core/simulate/fabric.h"

static void set_times(cm_fabric *f)
{
  const cm_chip *chip = f->chip;
  const cm_hop_cost *l = &chip->latency_ns;
  for (uint32_t c = 0; c < f->links; c++) {
    f->channel[c].latency_ps = cm_ps(cm_chip_link(chip, c).latency_ns + l->router);
    f->channel[c].service_ps = cm_ps(cm_chip_link_ns(chip, c));
  }
  for (uint32_t core = 0; core < f->cores; core++) {
    f->channel[f->links + core].latency_ps = cm_ps(l->router);
    f->channel[f->links + core].service_ps = cm_ps(cm_chip_port_ns(chip));
  }
}

cm_status cm_fabric_new(const cm_traffic *traffic, uint32_t buffers, bool processing, cm_run *run, cm_fabric *fabric,
                        cm_error *error)
{
  const cm_chip *chip = traffic->chip;
  const cm_fabric_queue nothing = {CM_FABRIC_NONE, CM_FABRIC_NONE};
  cm_fabric f = {.traffic = traffic, .chip = chip, .run = run, .buffers = buffers, .processing = processing,
                 .by_steps = cm_geometry_of(chip) == CM_BY_AXES, .links = cm_chip_links(chip),
                 .routers = cm_chip_routers_x(chip) * cm_chip_routers_y(chip), .cores = cm_chip_cores(chip),
                 .leaving = CM_FABRIC_NONE, .packet_free = CM_FABRIC_NONE, .node_free = CM_FABRIC_NONE};
  f.direct = f.by_steps && !traffic->multicast;
  size_t channels = (size_t)f.links + f.cores;
  CM_TRY_OR(cm_events_new(run->memory, &f.events, error), cm_fabric_free(&f));
  CM_TRY_OR(CM_NEW_ALL(run->memory, error, CM_ARRAY(f.channel, channels), CM_ARRAY(f.core, f.cores),
                       CM_ARRAY(f.carried, channels)), cm_fabric_free(&f));
  for (uint32_t c = 0; c < channels; c++) {
    f.channel[c].buffer = nothing;
    f.channel[c].wait_head = CM_FABRIC_NONE;
    f.channel[c].router = c < f.links ? cm_chip_link(chip, c).to : cm_router_of(chip, c - f.links);
  }
  for (uint32_t core = 0; core < f.cores; core++)
    f.core[core].inbox = nothing;
  set_times(&f);
  for (size_t c = channels; c-- > 0;) /* those of inlets first */
    f.channel[c].lane = (uint8_t)cm_events_lane(&f.events, f.channel[c].latency_ps);
  *fabric = f;
  return CM_OK;
}

uint64_t *cm_fabric_take_carried(cm_fabric *f)
{
  uint64_t *carried = f->carried;
  for (uint32_t c = 0; c < f->links + f->cores; c++)
    carried[c] = f->channel[c].carried;
  f->carried = NULL;
  return carried;
}

void cm_fabric_free(cm_fabric *f)
{
  void *const blocks[] = {f->channel, f->core, f->carried, f->node, f->packet, f->todo, f->way};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    cm_free(blocks[i]);
  cm_events_free(&f->events);
  cm_frames_free(&f->frames);
  *f = (cm_fabric){0};
}
