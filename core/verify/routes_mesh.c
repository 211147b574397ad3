/* Routes on a mesh: what a router is called, which links lead where, which turns a rule forbids, what waits in a ring. */
#include "core/verify/routes_checking.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The letters of the directions in files, by cm_direction. */
static const char letters[] = "EWSN";

/* The turns that a rule forbids (docs/explanation/routes.md), by the letters of the two directions. */
static const struct {
  const char *name, *forbidden;
} rules[] = {
  {"xy", "SE SW NE NW"}, {"yx", "ES EN WS WN"}, {"west-first", "SW NW"}, {"north-last", "NE NW"},
  {"negative-first", "EN SW"},
};

static const char *rule_of(const char *name)
{
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    if (strcmp(name, rules[i].name) == 0)
      return rules[i].name;
  return NULL;
}

/* Links that close a torus are not used. */
static uint32_t beyond(const cm_routes_checking *c, uint32_t router, uint32_t out)
{
  uint32_t x = router % c->routers_x, y = router / c->routers_x;
  switch (out) {
    case CM_EAST: return x + 1 < c->routers_x ? router + 1 : UINT32_MAX;
    case CM_WEST: return x > 0 ? router - 1 : UINT32_MAX;
    case CM_SOUTH: return y + 1 < c->routers_y ? router + c->routers_x : UINT32_MAX;
    default: return y > 0 ? router - c->routers_x : UINT32_MAX;
  }
}

static bool turn_is_legal(const cm_routes_checking *c, unsigned in, unsigned out)
{
  if (in == CM_DIRECTIONS || in == out)
    return true;
  if ((in ^ out) == 1) /* back */
    return false;
  const char turn[3] = {letters[in], letters[out], '\0'};
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    if (c->rule != NULL && strcmp(c->rule, rules[i].name) == 0)
      return strstr(rules[i].forbidden, turn) == NULL;
  return false;
}

static uint32_t hop(cm_routes_checking *c, uint32_t router, uint32_t in, uint32_t out, uint64_t weight, const char *who)
{
  uint32_t x = router % c->routers_x, y = router / c->routers_x, next = beyond(c, router, out);
  size_t link = (size_t)router * CM_DIRECTIONS + out;
  if (next == UINT32_MAX) {
    routes_violation(c, "routes: %s leaves the chip at router (%" PRIu32 ", %" PRIu32 ") going %c", who, x, y, letters[out]);
    return UINT32_MAX;
  }
  if (c->dead[link]) {
    routes_violation(c, "routes: %s takes the dead link %c of router (%" PRIu32 ", %" PRIu32 ")", who, letters[out], x, y);
    return UINT32_MAX;
  }
  if (!turn_is_legal(c, in, out)) { /* it goes on all the same: it may close a ring */
    routes_violation(c, "routes: %s turns from %c to %c at router (%" PRIu32 ", %" PRIu32 "), which %s forbids", who,
                     letters[in], letters[out], x, y, c->rule != NULL ? c->rule : "the rule");
    if ((in ^ out) == 1)
      return UINT32_MAX;
  }
  if (c->met[next] == c->packet + 1) {
    routes_violation(c, "routes: %s comes to router (%" PRIu32 ", %" PRIu32 ") twice", who, next % c->routers_x,
                     next / c->routers_x);
    return UINT32_MAX;
  }
  c->met[next] = c->packet + 1;
  c->load[link] += weight;
  c->links++;
  c->traffic += weight;
  c->used[link] = 1;
  if (in != CM_DIRECTIONS) /* the link by which it came waits for this one */
    c->next[(size_t)beyond(c, router, in ^ 1) * CM_DIRECTIONS + in] |= (uint8_t)(1u << out);
  return next;
}

/* Along x first where the rule allows the turn, else along y first. */
static void go_plain(cm_routes_checking *c, uint32_t from_core, uint32_t to_core, uint64_t weight)
{
  uint32_t from = cm_routes_router_of(c, from_core), to = cm_routes_router_of(c, to_core);
  int64_t x = to % c->routers_x - (int64_t)(from % c->routers_x), y = to / c->routers_x - (int64_t)(from / c->routers_x);
  unsigned along_x = x > 0 ? CM_EAST : CM_WEST, along_y = y > 0 ? CM_SOUTH : CM_NORTH;
  bool x_first = x == 0 || y == 0 || turn_is_legal(c, along_x, along_y);
  x = llabs(x);
  y = llabs(y);
  while (x > 0 || y > 0) {
    bool go_x = x > 0 && (x_first || y == 0);
    unsigned out = go_x ? along_x : along_y;
    size_t link = (size_t)from * CM_DIRECTIONS + out;
    if (c->linked[link] != c->packet + 1) {
      c->linked[link] = c->packet + 1;
      c->plain_load[link] += weight;
    }
    from = beyond(c, from, out);
    *(go_x ? &x : &y) -= 1;
  }
}

/* Walks "E3S2"; false after a violation. */
static bool walk(cm_routes_checking *c, const json_t *text, uint32_t from, uint32_t to, uint64_t weight, const char *who)
{
  const char *path = json_string_value(text);
  uint32_t at = from;
  uint32_t in = CM_DIRECTIONS;
  c->met[at] = c->packet + 1;
  while (*path != '\0') {
    const char *letter = strchr(letters, *path);
    char *end;
    unsigned long long steps = letter != NULL && path[1] >= '1' && path[1] <= '9' ? strtoull(path + 1, &end, 10) : 0;
    if (steps == 0 || steps > c->routers) {
      routes_violation(c, "routes: the path of %s is no list of directions and steps: \"%.40s\"", who, path);
      return false;
    }
    for (; steps > 0; steps--) {
      at = hop(c, at, in, (unsigned)(letter - letters), weight, who);
      in = (unsigned)(letter - letters);
      if (at == UINT32_MAX)
        return false;
    }
    path = end;
  }
  if (at != to)
    routes_violation(c, "routes: the path of %s ends at router (%" PRIu32 ", %" PRIu32 "), not at (%" PRIu32 ", %" PRIu32 ")",
                     who, at % c->routers_x, at / c->routers_x, to % c->routers_x, to / c->routers_x);
  return at == to;
}

static cm_status check_rings(cm_routes_checking *c, uint64_t *channels, uint64_t *dependencies, cm_error *error)
{
  size_t links = c->link_count, ready = 0, done = 0;
  uint32_t *waits = NULL, *queue = NULL; /* links that each waits for; those that wait for none any more */
  CM_TRY_OR(CM_NEW_ALL(c->run->memory, error, CM_ARRAY(waits, links), CM_ARRAY(queue, links)), cm_free(waits));
  *channels = *dependencies = 0;
  for (size_t l = 0; l < links; l++) {
    *channels += c->used[l];
    waits[l] = (uint32_t)__builtin_popcount(c->next[l]);
    *dependencies += waits[l];
    if (c->used[l] && waits[l] == 0)
      queue[ready++] = (uint32_t)l;
  }
  for (; done < ready; done++) {
    uint32_t router = queue[done] / CM_DIRECTIONS;
    for (unsigned in = 0; in < CM_DIRECTIONS; in++) { /* links that end at this router and wait for this link */
      uint32_t before = beyond(c, router, in ^ 1);
      if (before == UINT32_MAX || !(c->next[(size_t)before * CM_DIRECTIONS + in] >> queue[done] % CM_DIRECTIONS & 1))
        continue;
      uint32_t link = before * CM_DIRECTIONS + in;
      if (--waits[link] == 0)
        queue[ready++] = link;
    }
  }
  for (size_t l = 0; l < links && done < *channels; l++)
    if (c->used[l] && waits[l] > 0) {
      routes_violation(c, "routes: packets can wait for each other for ever: link %c of router (%" PRIu32 ", %" PRIu32
                       ") waits in a ring", letters[l % CM_DIRECTIONS], (uint32_t)(l / CM_DIRECTIONS % c->routers_x),
                       (uint32_t)(l / CM_DIRECTIONS / c->routers_x));
      break;
    }
  CM_FREE(waits, queue);
  return CM_OK;
}

/* "EWSN" in any order, each once. */
static bool read_outs(cm_routes_checking *c, CM_UNUSED uint32_t router, const json_t *value, cm_stated_entry *entry)
{
  unsigned links = 0;
  if (!json_is_string(value))
    return false;
  for (const char *text = json_string_value(value); *text != '\0'; text++) {
    const char *letter = strchr(letters, *text);
    if (letter == NULL || links >> (letter - letters) & 1)
      return false;
    links |= 1u << (letter - letters);
  }
  for (; links != 0; links &= links - 1)
    c->out[entry->out + entry->outs++] = (uint32_t)__builtin_ctz(links);
  return true;
}

static cm_status prepare(cm_routes_checking *c, CM_UNUSED cm_error *error)
{
  c->links_max = CM_DIRECTIONS;
  return CM_OK;
}

static json_int_t router_of_table(const cm_routes_checking *c, const json_t *table)
{
  const json_int_t x = cm_routes_whole_of(table, "x"), y = cm_routes_whole_of(table, "y");
  return x >= 0 && y >= 0 && x < c->routers_x && y < c->routers_y ? y * c->routers_x + x : -1;
}

static json_t *router_json(const cm_routes_checking *c, uint32_t router)
{
  return json_pack("[I,I]", (json_int_t)(router % c->routers_x), (json_int_t)(router / c->routers_x));
}

static uint32_t straight(CM_UNUSED const cm_routes_checking *c, uint32_t in)
{
  return in;
}

static bool no_figures(CM_UNUSED const cm_routes_checking *c, CM_UNUSED const json_t *stated, CM_UNUSED json_t *truth)
{
  return true;
}

const cm_routes_geometry cm_routes_on_mesh = {
  .start = CM_DIRECTIONS, .path = JSON_STRING, .table_router = "x, y", .rule = rule_of, .prepare = prepare, .router_of_table = router_of_table,
  .router_json = router_json, .read_outs = read_outs, .beyond = beyond, .straight = straight, .hop = hop, .walk = walk, .plain = go_plain,
  .rings = check_rings, .figures = no_figures,
};
