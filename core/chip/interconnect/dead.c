/* Dead links and routers of a chip file, read and printed (docs/reference/chip-file.md). What can fail: what is no link, or no router. */
#include "core/chip/interconnect/internal.h"
#include "core/chip/json.h"

/* [x, y, direction] on grids, [from, to] on all others. */
static cm_status read_dead(const json_t *item, size_t index, const cm_interconnect *net, int64_t *link, cm_error *error)
{
  char where[64];
  (void)snprintf(where, sizeof where, "/dead_links/%zu", index);
  json_int_t a = json_integer_value(json_array_get(item, 0)), b = json_integer_value(json_array_get(item, 1));
  bool whole = json_is_integer(json_array_get(item, 0)) && json_is_integer(json_array_get(item, 1));
  const char *name = json_string_value(json_array_get(item, 2));
  *link = CM_NO_LINK;
  if (net->kind == CM_GRID || net->kind == CM_HEXAGONAL) {
    unsigned d = 0;
    while (name != NULL && d < CM_SIX && strcmp(name, cm_six_names[d]) != 0)
      d++;
    if (json_array_size(item) != 3 || !whole || name == NULL || d == CM_SIX || (net->kind == CM_GRID && d % 3 == 1))
      return cm_interconnect_bad(error, where, net->kind == CM_GRID
                                 ? "expected [x, y, \"east\" or \"west\" or \"south\" or \"north\"] of a router"
                                 : "expected [x, y, direction] of a router, one of \"east\", \"north-east\", \"north\", \"west\", "
                                   "\"south-west\", \"south\"");
    uint32_t to = a < 0 || b < 0 || a >= net->columns || b >= net->rows
                    ? CM_NO_WAY
                    : cm_interconnect_beside(net, (uint32_t)b * net->columns + (uint32_t)a, d);
    if (to != CM_NO_WAY)
      *link = cm_interconnect_link(net, (uint32_t)b * net->columns + (uint32_t)a, to);
  } else {
    if (json_array_size(item) != 2 || !whole)
      return cm_interconnect_bad(error, where, "expected [from, to], the numbers of two routers");
    if (a >= 0 && b >= 0 && a < net->routers && b < net->routers)
      *link = cm_interconnect_link(net, (uint32_t)a, (uint32_t)b);
  }
  return *link != CM_NO_LINK ? CM_OK : cm_interconnect_bad(error, where, "there is no such link");
}

static void bury(cm_interconnect *net, uint32_t link)
{
  net->dead_count += !net->link[link].dead;
  net->link[link].dead = true;
}

/* All links of a router, both ways. */
static cm_status bury_routers(const json_t *list, cm_interconnect *net, cm_error *error)
{
  const cm_rectangles from = {list, "/dead_routers", net->columns, net->rows, CM_BAD_CHIP};
  for (size_t i = 0; i < json_array_size(list); i++) {
    cm_rectangle r;
    CM_TRY(cm_rectangle_read(&from, i, &r, error));
    for (uint32_t y = r.y0; y <= r.y1; y++)
      for (uint32_t x = r.x0; x <= r.x1; x++)
        for (uint32_t k = net->first[y * net->columns + x]; k < net->first[y * net->columns + x + 1]; k++) {
          bury(net, k);
          bury(net, net->link[k].twin);
        }
  }
  return CM_OK;
}

cm_status cm_interconnect_read_dead(const json_t *list, const json_t *routers, cm_interconnect *net, cm_error *error)
{
  if (list != NULL && !json_is_array(list))
    return cm_interconnect_bad(error, "/dead_links", "expected a list");
  for (size_t i = 0; i < json_array_size(list); i++) {
    int64_t link;
    CM_TRY(read_dead(json_array_get(list, i), i, net, &link, error));
    bury(net, (uint32_t)link);
  }
  return bury_routers(routers, net, error);
}

static json_t *dead_json(const cm_interconnect *net, uint32_t link)
{
  const cm_link *k = &net->link[link];
  if (net->kind != CM_GRID && net->kind != CM_HEXAGONAL)
    return json_pack("[i, i]", (int)k->from, (int)k->to);
  unsigned d = 0;
  while (d + 1 < CM_SIX && (cm_interconnect_beside(net, k->from, d) != k->to || (net->kind == CM_GRID && d % 3 == 1)))
    d++;
  return json_pack("[i, i, s]", (int)(k->from % net->columns), (int)(k->from / net->columns), cm_six_names[d]);
}

json_t *cm_interconnect_dead_json(const cm_interconnect *net)
{
  json_t *list = json_array();
  for (uint32_t i = 0; net->dead_count > 0 && i < net->link_count; i++)
    if (net->link[i].dead && json_array_append_new(list, dead_json(net, i)) != 0) {
      json_decref(list);
      return NULL;
    }
  return list;
}
