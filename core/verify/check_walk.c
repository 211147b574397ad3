/* Where the check's packets go, hop by hop. */
#include "core/verify/check_walk.h"

#include <stdlib.h>
#include <string.h>

#include "core/chip/geometry.h"

void cm_check_walk_free(cm_check_walk *walk)
{
  CM_FREE(walk->wave[0], walk->wave[1], walk->way);
  cm_check_ways_free(&walk->ways);
}

typedef struct position {
  int64_t x, y;
} position;

static position place_of(const cm_check_walk *w, uint32_t part)
{
  uint32_t core = w->core[part];
  return (position){core % w->chip->width / w->chip->router_x, core / w->chip->width / w->chip->router_y};
}

static size_t router_of(const cm_check_walk *w, uint32_t part)
{
  position at = place_of(w, part);
  return (size_t)(at.y * w->columns + at.x);
}

/* How far to go along an axis, with sign; on a ring the shorter way, forward when equal. */
static int64_t displacement(int64_t from, int64_t to, int64_t size, bool ring)
{
  int64_t d = to - from;
  if (ring && 2 * d > size)
    d -= size;
  else if (ring && 2 * d <= -size)
    d += size;
  return d;
}

static position displace(const cm_check_walk *w, uint32_t from, uint32_t to)
{
  position a = place_of(w, from), b = place_of(w, to);
  return (position){displacement(a.x, b.x, w->columns, w->chip->torus_x), displacement(a.y, b.y, w->rows, w->chip->torus_y)};
}

static int64_t around(int64_t at, int64_t size)
{
  return at < 0 ? at + size : at >= size ? at - size : at;
}

static cm_status mesh_hops(cm_check_walk *w, uint32_t from, uint32_t to, double *hops, CM_UNUSED cm_error *error)
{
  position d = displace(w, from, to);
  *hops = (double)(llabs(d.x) + llabs(d.y));
  return CM_OK;
}

/* A link of a plain mesh, by its direction and whether it leads to another die. */
static cm_check_hop hop_on_mesh(const cm_chip *chip, size_t link, bool along_x, bool between)
{
  const cm_hop_cost *e = &chip->energy_pj, *l = &chip->latency_ns;
  return (cm_check_hop){link, between ? e->die_to_die : along_x ? e->east_west : e->north_south,
                        between ? l->die_to_die : along_x ? l->east_west : l->north_south, 1};
}

static void mesh_route(const cm_check_walk *w, uint32_t from, uint32_t to, cm_check_visit visit, void *user)
{
  position at = place_of(w, from), left = displace(w, from, to);
  int64_t die_columns = w->chip->die_width / w->chip->router_x, die_rows = w->chip->die_height / w->chip->router_y;
  while (left.x != 0 || left.y != 0) {
    bool along_x = w->chip->routing == CM_ROUTING_XY ? left.x != 0 : left.y == 0;
    position next = at;
    size_t direction;
    if (along_x) {
      int64_t step = left.x > 0 ? 1 : -1;
      next.x = around(at.x + step, w->columns);
      left.x -= step;
      direction = step > 0 ? CM_EAST : CM_WEST;
    } else {
      int64_t step = left.y > 0 ? 1 : -1;
      next.y = around(at.y + step, w->rows);
      left.y -= step;
      direction = step > 0 ? CM_SOUTH : CM_NORTH;
    }
    bool between = at.x / die_columns != next.x / die_columns || at.y / die_rows != next.y / die_rows;
    cm_check_hop hop = hop_on_mesh(w->chip, (size_t)(at.y * w->columns + at.x) * CM_DIRECTIONS + direction, along_x, between);
    visit(&hop, user);
    at = next;
  }
}

static void mesh_flood(cm_check_walk *w, uint32_t from, uint32_t to, double packets, double *passing)
{
  position start = place_of(w, from), d = displace(w, from, to);
  int64_t width = llabs(d.x), height = llabs(d.y);
  double *row = w->wave[0], *below = w->wave[1];
  memset(row, 0, (size_t)(width + 1) * sizeof *row);
  row[0] = packets;
  for (int64_t j = 0; j <= height; j++) {
    memset(below, 0, (size_t)(width + 1) * sizeof *below);
    double *here = passing + around(start.y + (d.y < 0 ? -j : j), w->rows) * w->columns;
    for (int64_t i = 0; i <= width; i++) {
      here[around(start.x + (d.x < 0 ? -i : i), w->columns)] += row[i];
      double onward = i < width && j < height ? row[i] / 2 : row[i];
      if (i < width)
        row[i + 1] += onward;
      if (j < height)
        below[i] += onward;
    }
    double *swap = row;
    row = below;
    below = swap;
  }
}

static cm_status way_hops(cm_check_walk *w, uint32_t from, uint32_t to, double *hops, cm_error *error)
{
  cm_status status = cm_check_way(&w->ways, w->core[from], w->core[to], w->way, &w->way_count, error);
  *hops = w->way_count;
  return status;
}

static void way_route(const cm_check_walk *w, CM_UNUSED uint32_t from, CM_UNUSED uint32_t to, cm_check_visit visit, void *user)
{
  for (uint32_t i = w->way_count; i-- > 0;) {
    const cm_link *link = &w->chip->interconnect->link[w->way[i]];
    visit(&(cm_check_hop){w->way[i], link->energy_pj, link->latency_ns, link->bandwidth}, user);
  }
}

static void way_pass(cm_check_walk *w, uint32_t from, CM_UNUSED uint32_t to, double packets, double *passing)
{
  passing[router_of(w, from)] += packets;
  for (uint32_t i = w->way_count; i-- > 0;)
    passing[w->chip->interconnect->link[w->way[i]].to] += packets;
}

/* ---- which ---- */

static cm_status survey_ways(cm_check_walk *w, cm_memory *memory, cm_error *error)
{
  const cm_interconnect *net = w->chip->interconnect;
  for (uint32_t i = 0; i < net->link_count; i++)
    w->links_there += !net->link[i].dead;
  CM_TRY(CM_NEW(memory, w->way, net->routers, error));
  return cm_check_ways_new(w->chip, memory, &w->ways, error);
}

static cm_status survey_mesh(cm_check_walk *w, cm_memory *memory, cm_error *error)
{
  double across = (double)(w->chip->torus_x && w->columns > 1 ? w->columns : w->columns - 1);
  double down = (double)(w->chip->torus_y && w->rows > 1 ? w->rows : w->rows - 1);
  w->links_there = 2 * (across * (double)w->rows + down * (double)w->columns);
  CM_TRY(CM_NEW(memory, w->wave[0], (size_t)w->columns + 1, error));
  return CM_NEW(memory, w->wave[1], (size_t)w->columns + 1, error);
}

cm_status cm_check_walk_new(const cm_chip *chip, const uint32_t *core, cm_memory *memory, cm_check_walk *walk, cm_error *error)
{
  static const cm_check_walk_kind kinds[CM_GEOMETRIES] = {{survey_mesh, mesh_hops, mesh_route, mesh_flood},
                                                          {survey_ways, way_hops, way_route, way_pass}};
  *walk = (cm_check_walk){.chip = chip, .core = core, .columns = chip->width / chip->router_x, .rows = chip->height / chip->router_y,
                          .routers = cm_chip_routers(chip), .links = cm_chip_links(chip), .kind = &kinds[cm_geometry_of(chip)]};
  return walk->kind->survey(walk, memory, error);
}
