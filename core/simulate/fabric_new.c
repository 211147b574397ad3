/* Making a fabric, and giving it back. */
#include "core/chip/interconnect/interconnect.h"
#include "core/chip/turns.h"
#include "core/simulate/fabric.h"

static void set_times(cm_fabric *f)
{
  const cm_chip *chip = f->chip;
  const cm_hop_cost *l = &chip->latency_ns;
  const cm_interconnect *net = chip->interconnect;
  for (uint32_t c = 0; c < f->links && net != NULL; c++) {
    f->channel[c].latency_ps = cm_ps(net->link[c].latency_ns + l->router);
    f->channel[c].service_ps = cm_ps(cm_interconnect_link_ns(chip, c));
  }
  for (uint32_t c = 0; c < f->links && net == NULL; c++) {
    bool along_x = c % CM_DIRECTIONS == CM_EAST || c % CM_DIRECTIONS == CM_WEST;
    double link = cm_chip_between_dies(chip, c) ? l->die_to_die : along_x ? l->east_west : l->north_south;
    f->channel[c].latency_ps = cm_ps(link + l->router);
    f->channel[c].service_ps = cm_ps(cm_chip_link_ns(chip, c));
  }
  for (uint32_t core = 0; core < f->cores; core++) {
    f->channel[f->links + core].latency_ps = cm_ps(l->router);
    f->channel[f->links + core].service_ps = cm_ps(cm_chip_port_ns(chip));
  }
}

/* The router that a buffer feeds. */
static uint32_t router_of(const cm_fabric *f, uint32_t buffer)
{
  if (buffer >= f->links)
    return cm_router_of(f->chip, buffer - f->links);
  if (f->chip->interconnect != NULL)
    return f->chip->interconnect->link[buffer].to;
  uint32_t router = buffer / CM_DIRECTIONS, x = router % cm_chip_routers_x(f->chip), y = router / cm_chip_routers_x(f->chip);
  uint32_t columns = cm_chip_routers_x(f->chip), rows = cm_chip_routers_y(f->chip);
  switch (buffer % CM_DIRECTIONS) {
    case CM_EAST: x = (x + 1) % columns; break;
    case CM_WEST: x = (x + columns - 1) % columns; break;
    case CM_SOUTH: y = (y + 1) % rows; break;
    default: y = (y + rows - 1) % rows; break;
  }
  return y * columns + x;
}

uint32_t cm_fabric_links(const cm_chip *chip)
{
  return chip->interconnect != NULL ? chip->interconnect->link_count : cm_chip_routers_x(chip) * cm_chip_routers_y(chip) * CM_DIRECTIONS;
}

cm_status cm_fabric_new(const cm_traffic *traffic, uint32_t buffers, bool processing, cm_run *run, cm_fabric *fabric,
                        cm_error *error)
{
  const cm_chip *chip = traffic->chip;
  const cm_fabric_queue nothing = {CM_FABRIC_NONE, CM_FABRIC_NONE};
  cm_fabric f = {.traffic = traffic, .chip = chip, .run = run, .buffers = buffers, .processing = processing,
                 .direct = !traffic->multicast && chip->interconnect == NULL,
                 .routers = cm_chip_routers_x(chip) * cm_chip_routers_y(chip), .cores = cm_chip_cores(chip),
                 
                 .leaving = CM_FABRIC_NONE, .packet_free = CM_FABRIC_NONE, .node_free = CM_FABRIC_NONE};
  f.links = cm_fabric_links(chip);
  size_t channels = (size_t)f.links + f.cores;
  if (cm_events_new(run->memory, &f.events, error) != CM_OK || CM_NEW(run->memory, f.channel, channels, error) != CM_OK ||
      CM_NEW(run->memory, f.core, f.cores, error) != CM_OK || CM_NEW(run->memory, f.carried, channels, error) != CM_OK) {
    cm_fabric_free(&f);
    return error->status;
  }
  for (uint32_t c = 0; c < channels; c++) {
    f.channel[c].buffer = nothing;
    f.channel[c].wait_head = CM_FABRIC_NONE;
    f.channel[c].router = router_of(&f, c);
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
