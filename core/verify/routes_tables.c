/* Tables: every axon's packet starts at its source's router, finds the one entry for its key or goes straight on, and must
 * come to exactly the cores of its targets; where keys are widened, to them at least, and what comes to others is counted. */
#include <inttypes.h>
#include <string.h>

#include "core/verify/check_report.h"
#include "core/verify/routes_checking.h"

typedef struct walker {
  cm_routes_checking *c;
  uint32_t *queue; /* [routers] where the packet is, and how it came there */
  uint32_t *came;  /* [routers] by place in the queue */
  uint32_t *out;   /* [most links of a router] */
  uint32_t *core_stamp; /* [cores] targets of the packet under way: its number plus 1; delivered: 0 again */
  uint8_t *holds;       /* [cores] a part is there */
  uint32_t *more, mores; /* [parts] cores without a target that the packet under way came to */
} walker;

/* The entry of a router for a key, the first that matches; NULL: none. */
static cm_stated_entry *find_entry(cm_routes_checking *c, uint32_t router, uint64_t key)
{
  uint64_t low = c->first[router], high = c->first[router + 1];
  if (c->block != NULL) {
    for (; low < c->first[router + 1]; low++)
      if (((key ^ c->entry[low].key) & ~c->entry[low].open) == 0)
        return &c->entry[low];
    return NULL;
  }
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if ((c->entry[middle].key | c->entry[middle].open) < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low < c->first[router + 1] && c->entry[low].key <= key ? &c->entry[low] : NULL;
}

/* A core behind a router: they are numbered row by row. */
static uint32_t core_behind(const cm_routes_checking *c, uint32_t router, unsigned number)
{
  uint32_t x = router % c->routers_x * c->chip->router_x + number % c->chip->router_x,
           y = router / c->routers_x * c->chip->router_y + number / c->chip->router_x;
  return y * c->chip->width + x;
}

/* Delivers the packet to the cores of a router; the number of those it was meant for. */
static uint32_t deliver(walker *w, uint32_t router, uint64_t cores, const char *who)
{
  cm_routes_checking *c = w->c;
  uint32_t right = 0;
  for (; cores != 0; cores &= cores - 1) {
    uint32_t core = core_behind(c, router, (unsigned)__builtin_ctzll(cores));
    if (w->core_stamp[core] == c->packet + 1) {
      w->core_stamp[core] = 0;
      right++;
    } else if (c->widened && w->holds[core])
      w->more[w->mores++] = core;
    else
      routes_violation(c, "routes: %s comes to core (%" PRIu32 ", %" PRIu32 "), which holds %s", who,
                       core % c->chip->width, core / c->chip->width,
                       c->widened ? "no part" : "no target of it, and no keys are said to be widened");
  }
  return right;
}

/* Where a packet goes on by an entry, or straight on without one: in w->out; how many. */
static uint32_t ways_out(walker *w, uint32_t in, const cm_stated_entry *entry)
{
  cm_routes_checking *c = w->c;
  if (entry == NULL) {
    w->out[0] = c->geometry->straight(c, in);
    return w->out[0] != UINT32_MAX;
  }
  if (entry->outs > 0)
    memcpy(w->out, c->out + entry->out, entry->outs * sizeof *w->out);
  return entry->outs;
}

/* Carries the packet of a key from the source's core; `wanted` cores are stamped. */
static void carry(walker *w, uint64_t key, uint32_t source, uint32_t wanted, uint64_t weight, const char *who)
{
  cm_routes_checking *c = w->c;
  uint32_t count = 0, right = 0;
  w->queue[count] = cm_routes_router_of(c, source);
  w->came[count++] = c->geometry->start;
  c->met[w->queue[0]] = c->packet + 1;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t router = w->queue[i], in = w->came[i];
    cm_stated_entry *entry = find_entry(c, router, key);
    if (entry == NULL && in == c->geometry->start) {
      routes_violation(c, "routes: %s finds no entry at its own router (%" PRIu32 ", %" PRIu32 ")", who,
                       router % c->routers_x, router / c->routers_x);
      return;
    }
    uint32_t outs = ways_out(w, in, entry);
    if (outs == 0 && entry == NULL) {
      char name[CM_ROUTER_NAME_MAX];
      cm_router_name(c->routers_x, c->routers_y, router, name);
      routes_violation(c, "routes: %s finds no entry at %s, and nothing lies straight on", who, name);
    }
    if (entry != NULL) {
      entry->used = true;
      right += deliver(w, router, entry->cores, who);
    }
    for (uint32_t k = 0; k < outs; k++) {
      uint32_t next = c->geometry->hop(c, router, in, w->out[k], weight, who);
      if (next == UINT32_MAX)
        continue;
      w->queue[count] = next;
      w->came[count++] = w->out[k];
    }
  }
  if (right < wanted)
    routes_violation(c, "routes: %s misses %" PRIu32 " of the %" PRIu32 " cores that hold its targets", who, wanted - right,
                     wanted);
}

/* Nets by the part of their source, in order; only those that leave it. */
typedef struct outgoing {
  uint32_t *first, *net; /* [parts + 1] */
} outgoing;

static cm_status find_outgoing(cm_routes_checking *c, outgoing *o, cm_error *error)
{
  const cm_topology *t = c->demand->network;
  uint8_t *leaves;
  uint32_t *next;
  CM_TRY(CM_NEW_ALL(c->run->memory, error, CM_ARRAY(o->first, (size_t)c->parts + 1), CM_ARRAY(o->net, t->net_count),
                    CM_ARRAY(leaves, t->net_count)));
  CM_TRY_OR(CM_NEW(c->run->memory, next, c->parts, error), cm_free(leaves));
  for (uint32_t net = 0; net < t->net_count; net++) {
    cm_routes_reach(c, net);
    leaves[net] = c->targets > 0;
    o->first[c->part[cm_topology_source(t, net)] + 1] += leaves[net];
  }
  for (uint32_t p = 0; p < c->parts; p++) {
    o->first[p + 1] += o->first[p];
    next[p] = o->first[p];
  }
  for (uint32_t net = 0; net < t->net_count; net++)
    if (leaves[net])
      o->net[next[c->part[cm_topology_source(t, net)]]++] = net;
  CM_FREE(leaves, next);
  return CM_OK;
}

/* The cores that a packet of this key comes to as the tables have it, against the net's: whether this is its net. Looks
 * only; needed where one neuron has several nets, whose keys are never widened. */
static bool comes_to(walker *w, uint64_t key, uint32_t source, uint32_t wanted)
{
  cm_routes_checking *c = w->c;
  uint32_t count = 0, right = 0, wrong = 0, stamped = c->packet + 1;
  w->queue[count] = cm_routes_router_of(c, source);
  w->came[count++] = c->geometry->start;
  for (uint32_t i = 0; i < count; i++) {
    const cm_stated_entry *entry = find_entry(c, w->queue[i], key);
    uint32_t outs = entry == NULL && w->came[i] == c->geometry->start ? 0 : ways_out(w, w->came[i], entry);
    for (uint64_t cores = entry != NULL ? entry->cores : 0; cores != 0; cores &= cores - 1) {
      bool meant = w->core_stamp[core_behind(c, w->queue[i], (unsigned)__builtin_ctzll(cores))] == stamped;
      right += meant;
      wrong += !meant;
    }
    for (uint32_t k = 0; k < outs && count < c->routers; k++) {
      uint32_t next = c->geometry->beyond(c, w->queue[i], w->out[k]);
      if (next == UINT32_MAX)
        return false;
      w->queue[count] = next;
      w->came[count++] = w->out[k];
    }
  }
  return right == wanted && wrong == 0;
}

static void stamp_targets(walker *w, bool on)
{
  cm_routes_checking *c = w->c;
  for (uint32_t i = 0; i < c->targets; i++)
    w->core_stamp[c->core[c->target[i]]] = on ? c->packet + 1 : 0;
}

/* The net of a rank: the first of its neuron's that is left, and whose targets the tables reach. UINT32_MAX: none. */
static uint32_t find_net(walker *w, const outgoing *o, uint8_t *taken, uint32_t part, uint32_t neuron, uint64_t key)
{
  cm_routes_checking *c = w->c;
  uint32_t first = UINT32_MAX, left = 0, end = o->first[part + 1], low = o->first[part];
  for (uint32_t high = end; low < high;) { /* nets stand by their source */
    uint32_t middle = low + (high - low) / 2;
    if (cm_topology_source(c->demand->network, o->net[middle]) < neuron)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < end && cm_topology_source(c->demand->network, o->net[low]) == neuron; low++)
    if (!taken[low]) {
      first = first == UINT32_MAX ? low : first;
      left++;
    }
  end = low;
  for (uint32_t i = first; left > 1 && i < end; i++) {
    if (taken[i])
      continue;
    cm_routes_reach(c, o->net[i]);
    stamp_targets(w, true);
    bool right = comes_to(w, key, c->core[part], c->targets);
    stamp_targets(w, false);
    if (right)
      return i;
  }
  return first;
}

static void follow_rank(walker *w, const outgoing *o, uint8_t *taken, uint32_t part, size_t rank, const json_t *neuron)
{
  cm_routes_checking *c = w->c;
  char who[96];
  json_int_t v = json_integer_value(neuron);
  uint64_t key = (uint64_t)(c->block != NULL ? c->block[part] : part) << c->rank_bits | rank;
  uint32_t index = json_is_integer(neuron) && v >= 0 && v < c->demand->network->vertex_count
                       ? find_net(w, o, taken, part, (uint32_t)v, key)
                       : UINT32_MAX;
  if (index == UINT32_MAX) {
    routes_violation(c, "routes /keys/neurons/%" PRIu32 "/%zu: neuron %" JSON_INTEGER_FORMAT " has no (further) axon that "
                     "leaves part %" PRIu32, part, rank, v, part);
    return;
  }
  taken[index] = 1;
  uint32_t net = o->net[index];
  uint64_t weight = cm_demand_net_weight(c->demand, net);
  cm_routes_reach(c, net);
  stamp_targets(w, true);
  (void)snprintf(who, sizeof who, "neuron %" JSON_INTEGER_FORMAT " (key %" PRIu64 ")", v, key);
  c->flows++;
  w->mores = 0;
  carry(w, key, c->core[part], c->targets, weight, who);
  stamp_targets(w, false);
  for (uint32_t i = 0; i < c->targets; i++)
    c->geometry->plain(c, c->core[part], c->core[c->target[i]], weight);
  for (uint32_t i = 0; i < w->mores; i++)
    c->geometry->plain(c, c->core[part], w->more[i], weight);
  c->wider += w->mores > 0;
  c->dropped += (double)weight * w->mores;
  c->packet++;
}

static unsigned bits_for(uint64_t numbers)
{
  unsigned bits = 0;
  while (bits < 63 && UINT64_C(1) << bits < numbers)
    bits++;
  return bits;
}

static cm_status follow_parts(walker *w, const outgoing *o, uint8_t *taken, cm_error *error)
{
  cm_routes_checking *c = w->c;
  const json_t *keys = json_object_get(c->json, "keys"), *lists = json_object_get(keys, "neurons");
  uint32_t most = 1;
  if (json_array_size(lists) != c->parts)
    routes_violation(c, "routes /keys/neurons has %zu lists, the mapping %" PRIu32 " parts", json_array_size(lists), c->parts);
  for (uint32_t p = 0; p < c->parts; p++) {
    const json_t *list = json_array_get(lists, p);
    uint32_t axons = o->first[p + 1] - o->first[p];
    most = axons > most ? axons : most;
    for (size_t rank = 0; rank < json_array_size(list) && rank >> c->rank_bits == 0; rank++)
      follow_rank(w, o, taken, p, rank, json_array_get(list, rank));
    for (uint32_t i = o->first[p]; i < o->first[p + 1]; i++)
      if (!taken[i])
        routes_violation(c, "routes /keys/neurons/%" PRIu32 ": an axon of neuron %" PRIu32 " has no key", p,
                         cm_topology_source(c->demand->network, o->net[i]));
    CM_TRY(cm_run_check(c->run, error));
  }
  cm_check_comparison comparison = {.result = c->result, .what = "routes", .except = "neurons"};
  json_t *blocks = c->block == NULL ? NULL : json_object_get(keys, "blocks"); /* read already: each is another */
  uint64_t numbers = c->parts;
  for (uint32_t p = 0; c->block != NULL && p < c->parts; p++)
    numbers = c->block[p] + UINT64_C(1) > numbers ? c->block[p] + UINT64_C(1) : numbers;
  json_t *truth = json_pack("{s:I, s:I, s:O*}", "bits", (json_int_t)(bits_for(most) + bits_for(numbers)), "rank_bits",
                            (json_int_t)bits_for(most), "blocks", blocks);
  cm_check_compare(&comparison, "/keys", keys, truth);
  json_decref(truth);
  return CM_OK;
}

cm_status cm_routes_follow_tables(cm_routes_checking *c, cm_error *error)
{
  walker w = {.c = c};
  outgoing o = {0};
  uint8_t *taken = NULL;
  cm_memory *memory = c->run->memory;
  if ((uint64_t)c->chip->router_x * c->chip->router_y > 60)
    return cm_fail(error, CM_BAD_MAPPING, "routing tables know at most 60 cores behind one router");
  cm_status status = find_outgoing(c, &o, error);
  CM_THEN(status, CM_NEW_ALL(memory, error, CM_ARRAY(w.queue, c->routers), CM_ARRAY(w.out, c->links_max),
                             CM_ARRAY(w.came, c->routers), CM_ARRAY(w.core_stamp, cm_chip_cores(c->chip)),
                             CM_ARRAY(w.holds, cm_chip_cores(c->chip)), CM_ARRAY(w.more, c->parts),
                             CM_ARRAY(taken, o.first[c->parts])));
  for (uint32_t p = 0; status == CM_OK && p < c->parts; p++)
    w.holds[c->core[p]] = 1;
  CM_THEN(status, follow_parts(&w, &o, taken, error));
  for (uint32_t r = 0; status == CM_OK && c->block == NULL && r < c->routers; r++)
    for (uint64_t i = c->first[r]; i < c->first[r + 1]; i++)
      if (!c->entry[i].used) {
        char name[CM_ROUTER_NAME_MAX];
        cm_router_name(c->routers_x, c->routers_y, r, name);
        routes_violation(c, "routes: the entry for key %" PRIu64 " of %s serves no axon", c->entry[i].key, name);
      }
  CM_FREE(w.queue, w.out, w.came, w.core_stamp, w.holds, w.more, taken, o.first, o.net);
  return status;
}
