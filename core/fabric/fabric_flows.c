#include "core/fabric/fabric_flows.h"

enum { SIDE_MAX = 4096 };

static const int step_x[CM_FABRIC_LINKS] = {1, 1, 0, -1, -1, 0}, step_y[CM_FABRIC_LINKS] = {0, 1, 1, 0, -1, -1};

static uint32_t stepped(uint32_t at, int step, uint32_t side)
{
  return step < 0 && at == 0 ? side - 1 : step > 0 && at + 1 == side ? 0 : (uint32_t)((int)at + step);
}

uint32_t cm_fabric_neighbour(const cm_chip_grid *f, uint32_t chip, unsigned link)
{
  return stepped(chip / f->width, step_y[link], f->height) * f->width + stepped(chip % f->width, step_x[link], f->width);
}

static uint32_t hops(int x, int y)
{
  return (uint32_t)((x < 0) == (y < 0) ? (abs(x) > abs(y) ? abs(x) : abs(y)) : abs(x) + abs(y));
}

uint32_t cm_fabric_distance(const cm_chip_grid *f, uint32_t from, uint32_t to)
{
  const int x = (int)(to % f->width) - (int)(from % f->width), y = (int)(to / f->width) - (int)(from / f->width);
  const int other_x = f->wrap_x ? x + (x > 0 ? -(int)f->width : (int)f->width) : x;
  const int other_y = f->wrap_y ? y + (y > 0 ? -(int)f->height : (int)f->height) : y;
  uint32_t least = hops(x, y);
  for (unsigned way = 1; way < 4; way++) {
    const uint32_t around = hops(way & 1 ? other_x : x, way & 2 ? other_y : y);
    least = around < least ? around : least;
  }
  return least;
}

static cm_status check_fabric(const cm_chip_grid *f, cm_error *error)
{
  if (f->width == 0 || f->height == 0 || f->width > SIDE_MAX || f->height > SIDE_MAX)
    return cm_fail(error, CM_BAD_CHIP, "a fabric has 1 to %d chips a side, and this one is %u by %u", SIDE_MAX, f->width, f->height);
  for (uint32_t chip = 0; chip < cm_fabric_chips(f); chip++) {
    if (f->links[chip] >> CM_FABRIC_LINKS != 0)
      return cm_fail(error, CM_BAD_CHIP, "chip %u, %u has links beyond the six of a router: bits 0 to 5 say which work", chip % f->width, chip / f->width);
  }
  return CM_OK;
}

static cm_status check_list(const char *what, uint64_t first, uint64_t last, const uint32_t *list, uint32_t vertices, cm_error *error)
{
  if (last < first)
    return cm_fail(error, CM_BAD_NETWORK, "%s: where lists begin must not fall", what);
  for (uint64_t i = first; i < last; i++)
    if (list[i] >= vertices)
      return cm_fail(error, CM_BAD_NETWORK, "%s: vertex %u is named, and there are %u", what, list[i], vertices);
  return CM_OK;
}

cm_status cm_flows_check(const cm_flows *flows, cm_error *error)
{
  CM_TRY(check_fabric(flows->fabric, error));
  if (flows->family_first[0] != 0 || flows->family_first[flows->families] != flows->senders)
    return cm_fail(error, CM_BAD_NETWORK, "the families' senders are not the %u senders", flows->senders);
  cm_status status = check_list("senders", 0, flows->senders, flows->sender, flows->vertices, error);
  for (uint32_t k = 0; status == CM_OK && k < flows->families; k++) {
    if (flows->family_first[k + 1] < flows->family_first[k])
      return cm_fail(error, CM_BAD_NETWORK, "senders: where families begin must not fall");
    status = check_list("common targets", flows->common_first[k], flows->common_first[k + 1], flows->common, flows->vertices, error);
  }
  for (uint32_t s = 0; status == CM_OK && s < flows->senders; s++)
    status = check_list("own targets", flows->own_first[s], flows->own_first[s + 1], flows->own, flows->vertices, error);
  return status;
}
