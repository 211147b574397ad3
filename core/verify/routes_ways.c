/* Routes on interconnects, hop by hop: every link a packet takes is there and alive; its virtual channel follows from the stated
 * order of routers; what waits for what is gathered and taken apart. Shares nothing with what makes routes but the list of links.
 * What can fail: memory. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/verify/routes_checking.h"
#include "base/order.h"

#define NONE UINT64_MAX
#define START UINT32_MAX

enum { WAITING_FIRST = 4096 };

static const char *rule_of(const char *name)
{
  return strcmp(name, "up-down") == 0 ? "up-down" : NULL;
}

/* Levels around the root, corrected until none gets less. */
static void find_levels(const cm_interconnect *net, uint32_t root, uint32_t *level)
{
  bool more = true;
  for (uint32_t r = 0; r < net->routers; r++)
    level[r] = r == root ? 0 : UINT32_MAX;
  for (uint32_t at = 0; more; at++) {
    more = false;
    for (uint32_t i = 0; i < net->link_count; i++)
      if (level[net->link[i].from] == at && level[net->link[i].to] == UINT32_MAX) {
        level[net->link[i].to] = at + 1;
        more = true;
      }
  }
}

static cm_status prepare(cm_routes_checking *c, cm_error *error)
{
  cm_memory *memory = c->run->memory;
  const json_t *root = json_object_get(json_object_get(c->json, "figures"), "root");
  json_int_t number = json_integer_value(root);
  if (!json_is_null(root) && (!json_is_integer(root) || number < 0 || number >= c->routers))
    return cm_fail(error, CM_BAD_MAPPING, "the routes' /figures/root is neither null nor one of %" PRIu32 " routers", c->routers);
  json_int_t channels = json_integer_value(json_object_get(json_object_get(c->json, "figures"), "virtual_channels"));
  if (channels < 0 || channels > c->routers)
    return cm_fail(error, CM_BAD_MAPPING, "the routes' /figures/virtual_channels is missing or out of range");
  c->last_channel = channels > 0 ? (uint32_t)channels - 1 : 0;
  c->waiting_room = WAITING_FIRST;
  if (CM_NEW_ALL(memory, error, CM_ARRAY(c->order, c->routers), CM_ARRAY(c->channel, c->routers), CM_ARRAY(c->way, c->routers),
                 CM_ARRAY(c->hops, c->routers), CM_ARRAY(c->waiting, c->waiting_room)) != CM_OK || cm_check_ways_new(c->chip, memory, &c->ways, error) != CM_OK)
    return error->status;
  memset(c->waiting, 0xff, c->waiting_room * sizeof *c->waiting);
  c->shared = c->multicast && c->chip->table_entries != 0 && (c->net->kind == CM_GRID || c->net->kind == CM_HEXAGONAL);
  c->exact = !c->shared;
  for (uint32_t r = 0; r < c->routers; r++)
    c->links_max = c->net->first[r + 1] - c->net->first[r] > c->links_max ? c->net->first[r + 1] - c->net->first[r] : c->links_max;
  if (!json_is_null(root)) /* all at level 0 otherwise */
    find_levels(c->net, (uint32_t)number, c->order);
  return CM_OK;
}

/* Whether a link leads to an earlier router: nearer to the root, else of lower number. */
static bool is_up(const cm_routes_checking *c, uint32_t link)
{
  uint32_t from = c->net->link[link].from, to = c->net->link[link].to;
  return c->order[to] != c->order[from] ? c->order[to] < c->order[from] : to < from;
}

static cm_waiting *find_waiting(cm_waiting *table, uint64_t room, cm_waiting wanted)
{
  uint64_t at = (wanted.channel * UINT64_C(0x9e3779b97f4a7c15) ^ wanted.next * UINT64_C(0xbf58476d1ce4e5b9)) >> 20 & (room - 1);
  while (table[at].channel != NONE && (table[at].channel != wanted.channel || table[at].next != wanted.next))
    at = (at + 1) & (room - 1);
  return &table[at];
}

static void note_waiting(cm_routes_checking *c, uint64_t channel, uint64_t next)
{
  cm_waiting wanted = {channel, next}, *found = find_waiting(c->waiting, c->waiting_room, wanted);
  if (found->channel != NONE)
    return;
  *found = wanted;
  if (2 * ++c->waiting_count < c->waiting_room)
    return;
  cm_waiting *wider;
  cm_error error;
  if (CM_NEW(c->run->memory, wider, 2 * c->waiting_room, &error) != CM_OK) {
    c->result->out_of_memory = true;
    c->waiting_count--; /* what comes from here on may overwrite nothing */
    *found = (cm_waiting){NONE, NONE};
    return;
  }
  memset(wider, 0xff, 2 * c->waiting_room * sizeof *wider);
  for (uint64_t i = 0; i < c->waiting_room; i++)
    if (c->waiting[i].channel != NONE)
      *find_waiting(wider, 2 * c->waiting_room, c->waiting[i]) = c->waiting[i];
  cm_free(c->waiting);
  c->waiting = wider;
  c->waiting_room *= 2;
}

static uint32_t hop(cm_routes_checking *c, uint32_t router, uint32_t in, uint32_t out, uint64_t weight, const char *who)
{
  const cm_link *k = &c->net->link[out];
  char from[CM_ROUTER_NAME_MAX], to[CM_ROUTER_NAME_MAX];
  cm_router_name(c->routers_x, c->routers_y, router, from);
  cm_router_name(c->routers_x, c->routers_y, k->to, to);
  if (k->dead) {
    routes_violation(c, "routes: %s takes the dead link from %s to %s", who, from, to);
    return UINT32_MAX;
  }
  if (c->met[k->to] == c->packet + 1) {
    routes_violation(c, "routes: %s comes to %s twice", who, to);
    return UINT32_MAX;
  }
  uint32_t came = c->channel[router], channel = in == START ? 0 : came + (!is_up(c, in) && is_up(c, out));
  channel = channel < c->last_channel ? channel : c->last_channel;
  uint64_t number = (uint64_t)channel * c->link_count + out;
  c->met[k->to] = c->packet + 1;
  c->channel[k->to] = channel;
  c->hops[k->to] = (in == START ? 0 : c->hops[router]) + 1;
  c->channels = channel >= c->channels ? channel + 1 : c->channels;
  c->load[out] += weight;
  c->links++;
  c->traffic += weight;
  note_waiting(c, number, NONE);
  if (in != START)
    note_waiting(c, (uint64_t)came * c->link_count + in, number);
  return k->to;
}

/* By where the link's ends lie; a step of more than 1 goes round a ring. */
static uint32_t straight(const cm_routes_checking *c, uint32_t in)
{
  uint32_t from = c->net->link[in].from, to = c->net->link[in].to, width = c->routers_x, height = c->routers_y;
  if (c->net->kind != CM_GRID && c->net->kind != CM_HEXAGONAL)
    return UINT32_MAX;
  uint32_t right = (to % width + width - from % width) % width, down = (to / width + height - from / width) % height;
  uint32_t next = (to / width + down) % height * width + (to % width + right) % width;
  bool over_x = right == 1 ? to % width + 1 == width : right > 1 && to % width == 0,
       over_y = down == 1 ? to / width + 1 == height : down > 1 && to / width == 0;
  if ((over_x && !c->chip->torus_x) || (over_y && !c->chip->torus_y))
    return UINT32_MAX;
  for (uint32_t i = c->net->first[to]; i < c->net->first[to + 1]; i++)
    if (c->net->link[i].to == next)
      return i;
  return UINT32_MAX;
}

static void go_plain(cm_routes_checking *c, uint32_t from_core, uint32_t to_core, uint64_t weight)
{
  uint32_t count;
  cm_error error;
  if (cm_check_way(&c->ways, from_core, to_core, c->way, &count, &error) != CM_OK) {
    routes_violation(c, "routes: %s", error.detail);
    return;
  }
  uint32_t to = count > 0 ? c->net->link[c->way[0]].to : 0;
  if (c->shared && count > 0 && c->met[to] == c->packet + 1 && c->hops[to] > count + 1)
    routes_violation(
      c, "routes: a packet takes %" PRIu32 " hops to router %" PRIu32 ", which is %" PRIu32 " away: one more is the most",
      c->hops[to], to, count);
  for (uint32_t i = 0; i < count; i++)
    if (c->linked[c->way[i]] != c->packet + 1) {
      c->linked[c->way[i]] = c->packet + 1;
      c->plain_links++;
      c->plain_load[c->way[i]] += weight;
    }
}

/* Walks the routers of a list, the source's first; false after a violation. */
static bool walk(cm_routes_checking *c, const json_t *path, uint32_t from, uint32_t to, uint64_t weight, const char *who)
{
  uint32_t at = from, in = START, next;
  c->met[at] = c->packet + 1;
  for (size_t i = 0; i < json_array_size(path); i++) {
    const json_t *value = json_array_get(path, i);
    json_int_t router = json_is_integer(value) ? json_integer_value(value) : -1;
    int64_t link = i == 0 || router < 0 || router >= c->routers ? CM_NO_LINK : cm_interconnect_link(c->net, at, (uint32_t)router);
    if (i == 0 ? router != from : link == CM_NO_LINK) {
      routes_violation(c, "routes: the path of %s %s (place %zu)", who, i == 0 ? "does not begin at its source's router" : "takes a link that is none", i);
      return false;
    }
    if (i == 0)
      continue;
    next = hop(c, at, in, (uint32_t)link, weight, who);
    if (next == UINT32_MAX)
      return false;
    at = next;
    in = (uint32_t)link;
  }
  if (at != to || json_array_size(path) == 0)
    routes_violation(c, "routes: the path of %s ends at router %" PRIu32 ", not at %" PRIu32, who, at, to);
  return at == to;
}

/* ---- rings ---- */

CM_ORDER(by_next, cm_waiting, CM_RISING(next) CM_RISING(channel))

typedef struct knot {
  cm_waiting *arc; /* [arcs] by the channel waited for */
  uint64_t arcs;
  uint64_t *used;  /* [count] channels in use, ascending */
  uint64_t count;
  uint32_t *waits; /* [count] for how many it waits still */
  uint64_t *queue; /* [count] channels that wait for none */
} knot;

static uint64_t place_of(const knot *k, uint64_t channel)
{
  const uint64_t *at = bsearch(&channel, k->used, k->count, sizeof *k->used, cm_ascending_long);
  return (uint64_t)(at - k->used);
}

/* Takes channels that wait for none away until none is left; how many went. */
static uint64_t untie(knot *k)
{
  uint64_t ready = 0, done = 0;
  for (uint64_t i = 0; i < k->arcs; i++)
    k->waits[place_of(k, k->arc[i].channel)]++;
  for (uint64_t i = 0; i < k->count; i++)
    if (k->waits[i] == 0)
      k->queue[ready++] = k->used[i];
  for (; done < ready; done++) {
    uint64_t low = 0, high = k->arcs;
    while (low < high) { /* the first that waits for it */
      uint64_t middle = low + (high - low) / 2;
      if (k->arc[middle].next < k->queue[done])
        low = middle + 1;
      else
        high = middle;
    }
    for (; low < k->arcs && k->arc[low].next == k->queue[done]; low++)
      if (--k->waits[place_of(k, k->arc[low].channel)] == 0)
        k->queue[ready++] = k->arc[low].channel;
  }
  return done;
}

static void tell_ring(cm_routes_checking *c, const knot *k)
{
  for (uint64_t i = 0; i < k->count; i++)
    if (k->waits[i] > 0) {
      const cm_link *link = &c->net->link[k->used[i] % c->link_count];
      routes_violation(c, "routes: packets can wait for each other for ever: virtual channel %" PRIu64 " of the link from router %" PRIu32
                       " to router %" PRIu32 " waits in a ring", k->used[i] / c->link_count, link->from, link->to);
      return;
    }
}

static cm_status check_rings(cm_routes_checking *c, uint64_t *channels, uint64_t *dependencies, cm_error *error)
{
  knot k = {0};
  cm_memory *memory = c->run->memory;
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(k.arc, c->waiting_count), CM_ARRAY(k.used, c->waiting_count),
                                CM_ARRAY(k.waits, c->waiting_count), CM_ARRAY(k.queue, c->waiting_count));
  for (uint64_t i = 0; status == CM_OK && i < c->waiting_room; i++) {
    if (c->waiting[i].channel == NONE)
      continue;
    if (c->waiting[i].next == NONE)
      k.used[k.count++] = c->waiting[i].channel;
    else
      k.arc[k.arcs++] = c->waiting[i];
  }
  if (status == CM_OK) {
    if (k.count > 0)
      qsort(k.used, k.count, sizeof *k.used, cm_ascending_long);
    if (k.arcs > 0)
      qsort(k.arc, k.arcs, sizeof *k.arc, by_next);
    if (untie(&k) < k.count)
      tell_ring(c, &k);
    *channels = k.count;
    *dependencies = k.arcs;
  }
  CM_FREE(k.arc, k.used, k.waits, k.queue);
  return status;
}

/* ---- what the check asks ---- */

/* Routers that links lead to, each once. */
static bool read_outs(cm_routes_checking *c, uint32_t router, const json_t *list, cm_stated_entry *entry)
{
  if (!json_is_array(list))
    return false;
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *value = json_array_get(list, i);
    json_int_t to = json_is_integer(value) ? json_integer_value(value) : -1;
    int64_t link = to < 0 || to >= c->routers ? CM_NO_LINK : cm_interconnect_link(c->net, router, (uint32_t)to);
    for (uint32_t k = 0; k < entry->outs; k++)
      if (c->out[entry->out + k] == link)
        return false;
    if (link == CM_NO_LINK)
      return false;
    c->out[entry->out + entry->outs++] = (uint32_t)link;
  }
  return true;
}

static json_int_t router_of_table(CM_UNUSED const cm_routes_checking *c, const json_t *table)
{
  return cm_routes_whole_of(table, "router");
}

static json_t *router_json(CM_UNUSED const cm_routes_checking *c, uint32_t router)
{
  return json_integer(router);
}

static uint32_t beyond(const cm_routes_checking *c, CM_UNUSED uint32_t router, uint32_t out)
{
  return c->net->link[out].to;
}

/* Packets have been carried by the stated root. */
static bool add_figures(const cm_routes_checking *c, const json_t *stated, json_t *truth)
{
  return json_object_set(truth, "root", json_object_get(stated, "root")) == 0 &&
         json_object_set_new(truth, "virtual_channels", json_integer(c->channels)) == 0;
}

const cm_routes_geometry cm_routes_on_ways = {
  .start = START, .path = JSON_ARRAY, .table_router = "router", .rule = rule_of, .prepare = prepare, .router_of_table = router_of_table,
  .router_json = router_json, .read_outs = read_outs, .beyond = beyond, .straight = straight, .hop = hop, .walk = walk, .plain = go_plain,
  .rings = check_rings, .figures = add_figures,
};
