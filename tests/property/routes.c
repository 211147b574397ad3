/* Routes on random chips with random dead links: trees follow the turn rule and reach every target once; tables, walked
 * packet by packet, bring every axon to exactly its cores, and with widened keys to others too, as many as stated; nothing can
 * deadlock; a refusal is one that the chip deserves. */
#include "../unit/networks.h"

#include "core/verify/certificate.h"
#include "core/measure/measure.h"
#include "core/routing/routes.h"
#include "tests/property/turns.h"

static cm_error error;

/* ---- the rules in words of their own ---- */

static bool dead_link(const cm_chip *chip, uint32_t router, int direction)
{
  for (uint32_t i = 0; i < chip->dead_link_count; i++)
    if (chip->dead_links[i] == router * CM_DIRECTIONS + (uint32_t)direction)
      return true;
  return false;
}

/* Is there any way at all that the rule allows? Over all states, without the library. */
static bool reachable(const cm_chip *chip, cm_turn_rule rule, int source, int target)
{
  static bool seen[LINKS_MAX];
  static int queue[LINKS_MAX + 4][2];
  int end = 0;
  if (source == target)
    return true;
  memset(seen, 0, sizeof seen);
  queue[end][0] = source;
  queue[end++][1] = -1;
  for (int i = 0; i < end; i++)
    for (int d = 0; d < CM_DIRECTIONS; d++) {
      int next = step(chip, queue[i][0], d);
      if (next < 0 || (queue[i][1] >= 0 && !legal_turn(rule, queue[i][1], d)) ||
          dead_link(chip, (uint32_t)queue[i][0], d) || seen[next * CM_DIRECTIONS + d])
        continue;
      if (next == target)
        return true;
      seen[next * CM_DIRECTIONS + d] = true;
      queue[end][0] = next;
      queue[end++][1] = d;
    }
  return false;
}

/* ---- random chips ---- */

static cm_chip *random_chip(cm_random *random, bool with_dead)
{
  static char text[30000];
  uint32_t bx = 1 + below(random, 2), by = 1 + below(random, 3), dx = 1 + below(random, 2), dy = 1 + below(random, 2);
  uint32_t rx = 1 + below(random, 7), ry = 1 + below(random, 7);
  char limit[40] = "";
  if (below(random, 2))
    snprintf(limit, sizeof limit, " \"table_entries\": %u,", 1 + below(random, 60));
  int used = snprintf(text, sizeof text,
                      "{\"name\": \"r\", \"dies\": [%u, %u], \"cores\": [%u, %u], \"cores_per_router\": [%u, %u], "
                      "\"torus\": [%s, %s],%s \"dead_links\": [",
                      dx, dy, bx * rx, by * ry, bx, by, below(random, 2) ? "true" : "false",
                      below(random, 2) ? "true" : "false", limit);
  uint32_t percent = with_dead && below(random, 3) ? 1 + below(random, 15) : 0;
  bool first = true;
  for (uint32_t y = 0; y < dy * ry; y++)
    for (uint32_t x = 0; x < dx * rx; x++)
      for (int d = 0; d < CM_DIRECTIONS; d++) {
        bool inside = d == CM_EAST ? x + 1 < dx * rx : d == CM_WEST ? x > 0 : d == CM_SOUTH ? y + 1 < dy * ry : y > 0;
        if (!inside || below(random, 100) >= percent)
          continue;
        used += snprintf(text + used, sizeof text - (size_t)used, "%s[%u, %u, \"%s\"]", first ? "" : ", ", x, y,
                         cm_direction_name((cm_direction)d));
        first = false;
      }
  snprintf(text + used, sizeof text - (size_t)used, "]}");
  cm_chip *chip;
  ck_ok(cm_chip_parse(text, strlen(text), &chip, &error));
  return chip;
}

/* Follows a tree from its source: every router of it is met once, along links that are there, with legal turns. */
static void follow(const cm_chip *chip, cm_turn_rule rule, cm_tree tree, uint32_t source, const bool *wanted)
{
  static int index[ROUTERS_MAX];
  static bool met[ROUTERS_MAX];
  memset(met, 0, sizeof met);
  for (int i = 0; i < ROUTERS_MAX; i++)
    index[i] = -1;
  for (size_t i = 0; i < tree.count; i++) {
    ck_assert_int_eq(index[tree.node[i].router], -1);
    index[tree.node[i].router] = (int)i;
    ck_assert_int_eq(tree.node[i].target, wanted[tree.node[i].router]);
  }
  int stack[ROUTERS_MAX], depth = 0;
  size_t count = 1;
  ck_assert_uint_eq(tree.node[0].router, source);
  ck_assert_int_eq(tree.node[0].in, CM_NO_DIRECTION);
  met[source] = true;
  stack[depth++] = 0;
  while (depth > 0) {
    const cm_tree_node *node = &tree.node[stack[--depth]];
    ck_assert(node->out != 0 || node->target || node->router == source);
    for (int d = 0; d < CM_DIRECTIONS; d++) {
      if (!(node->out >> d & 1))
        continue;
      int next = step(chip, (int)node->router, d);
      ck_assert_int_ge(next, 0);
      ck_assert(!dead_link(chip, node->router, d));
      ck_assert(node->in == CM_NO_DIRECTION || legal_turn(rule, node->in, d));
      ck_assert_msg(!met[next] && index[next] >= 0, "a router is met twice or belongs to no tree");
      met[next] = true;
      ck_assert_int_eq(tree.node[index[next]].in, d);
      stack[depth++] = index[next];
      count++;
    }
  }
  ck_assert_uint_eq(count, tree.count);
}

START_TEST(trees_follow_the_rule_and_reach_every_target_once)
{
  cm_random random;
  cm_random_init(&random, 5, 0, 0);
  uint32_t refused = 0, too_strict = 0, traced = 0;
  for (uint32_t round = 0; round < test_rounds(600); round++) {
    cm_chip *chip = random_chip(&random, true);
    uint32_t routers = cm_chip_routers_x(chip) * cm_chip_routers_y(chip);
    for (int rule = 0; rule < CM_TURN_RULES; rule++) {
      cm_tracer *tracer;
      ck_ok(cm_tracer_new(chip, (cm_turn_rule)rule, NULL, &tracer, &error));
      for (int repeat = 0; repeat < 6; repeat++) {
        uint32_t source = below(&random, routers), target[12], count = below(&random, 12), lost = UINT32_MAX;
        bool wanted[ROUTERS_MAX] = {false}, all = true;
        for (uint32_t i = 0; i < count; i++) {
          target[i] = below(&random, routers);
          wanted[target[i]] = true;
        }
        for (uint32_t i = 0; i < count; i++)
          all = all && reachable(chip, (cm_turn_rule)rule, (int)source, (int)target[i]);
        cm_tree tree;
        cm_status status = cm_trace(tracer, &(cm_ends){source, target, count}, below(&random, 64), &tree, &lost, &error);
        traced++;
        if (status == CM_OK)
          follow(chip, (cm_turn_rule)rule, tree, source, wanted);
        else {
          ck_assert_int_eq(status, CM_NO_ROUTE);
          ck_assert(wanted[lost]);
          refused++;
          too_strict += all;
          ck_assert_msg(!all || (count > 1 && rule > CM_TURNS_YX), "a route there is was refused");
        }
        ck_assert_msg(all || status != CM_OK, "a route there is not was found");
      }
      cm_tracer_free(tracer);
    }
    cm_chip_free(chip);
  }
  /* Trees that share no router cannot always be grown one target after the other: rarely refused though each
   * target alone could be reached. */
  ck_assert_msg(refused > 0 && too_strict * 100 < traced, "%u of %u refused, %u of them without need", refused, traced,
                too_strict);
}
END_TEST

/* ---- mappings ---- */

typedef struct made {
  cm_chip *chip;
  cm_topology network;
  cm_mapping mapping;
  uint32_t part[200], core[PARTS_MAX];
} made;

static made *make(cm_random *random, bool with_dead, bool undirected)
{
  static made m;
  static uint32_t order[4096];
  memset(&m, 0, sizeof m);
  do {
    cm_chip_free(m.chip);
    m.chip = random_chip(random, with_dead);
  } while (cm_chip_cores(m.chip) > 4096);
  uint32_t cores = cm_chip_cores(m.chip), parts = 1 + below(random, cores < PARTS_MAX ? cores : PARTS_MAX);
  uint32_t vertices = parts + below(random, 100);
  m.network = undirected ? network_undirected(random, vertices, 1 + below(random, 20))
                         : network_directed(random, vertices, 1 + below(random, 80));
  cm_random_permutation(random, order, cores);
  memcpy(m.core, order, parts * sizeof *order);
  for (uint32_t v = 0; v < vertices; v++)
    m.part[v] = v < parts ? v : below(random, parts);
  m.mapping = (cm_mapping){.vertex_count = vertices, .part_count = parts, .part = m.part, .core = m.core};
  return &m;
}

static cm_status route(const cm_mapping *mapping, const cm_topology *network, const cm_chip *chip, cm_turn_rule rule,
                       bool multicast, cm_run *run, cm_routes **routes)
{
  static cm_demand demand; /* routes borrow it: of the last ones made */
  cm_route_options options = {.rule = rule, .multicast = multicast};
  demand = cm_demand_of(network);
  const cm_mapped mapped = cm_mapped_by(mapping, &demand, chip);
  return cm_routes_make(&mapped, &options, run, routes, &error);
}

static void drop(made *m)
{
  cm_chip_free(m->chip);
  m->chip = NULL;
  network_free(&m->network);
}

static char *written(const cm_routes *routes, cm_routes_view view, cm_run *run, size_t *size)
{
  char *text = NULL;
  FILE *stream = open_memstream(&text, size);
  ck_ok(cm_routes_write(routes, view, run, stream, &error));
  fclose(stream);
  return text;
}

/* What packets do to links, and where they could wait. */
typedef struct traffic {
  double load[LINKS_MAX];
  bool wait[LINKS_MAX][CM_DIRECTIONS];
} traffic;

static int direction_of(char letter)
{
  static const char letters[] = "EWSN";
  ck_assert_ptr_nonnull(strchr(letters, letter));
  return (int)(strchr(letters, letter) - letters);
}

/* Sends a packet with a key from a router, as the tables say, counting arrivals at cores. */
static void send_packet(const cm_chip *chip, const json_t *tables, uint64_t key, int source, double rate,
                        uint32_t *arrived, traffic *t)
{
  int stack[4 * ROUTERS_MAX][2], depth = 0, rx = (int)cm_chip_routers_x(chip), sent = 0;
  stack[depth][0] = source;
  stack[depth++][1] = -1;
  while (depth > 0) {
    int router = stack[--depth][0], in = stack[depth][1];
    ck_assert_int_lt(++sent, 4 * ROUTERS_MAX);
    const json_t *match = NULL, *table, *entry;
    size_t i, k;
    json_array_foreach(tables, i, table) {
      if (json_integer_value(json_object_get(table, "x")) != router % rx ||
          json_integer_value(json_object_get(table, "y")) != router / rx)
        continue;
      json_array_foreach(json_object_get(table, "entries"), k, entry)
        if ((key & (uint64_t)json_integer_value(json_array_get(entry, 1))) ==
            (uint64_t)json_integer_value(json_array_get(entry, 0))) {
          ck_assert_msg(match == NULL || chip->table_entries != 0, "two entries match");
          match = match == NULL ? entry : match; /* of minimised tables the first counts */
        }
    }
    char straight[2] = {in < 0 ? 0 : "EWSN"[in], 0};
    ck_assert_msg(match != NULL || in >= 0, "a packet is lost at its source");
    const char *links = match == NULL ? straight : json_string_value(json_array_get(match, 2));
    const json_t *core;
    json_array_foreach(match == NULL ? NULL : json_array_get(match, 3), i, core) {
      uint32_t behind = (uint32_t)json_integer_value(core);
      uint32_t x = (uint32_t)(router % rx) * chip->router_x + behind % chip->router_x;
      uint32_t y = (uint32_t)(router / rx) * chip->router_y + behind / chip->router_x;
      arrived[y * chip->width + x]++;
    }
    for (; *links != '\0'; links++) {
      int d = direction_of(*links), next = step(chip, router, d);
      ck_assert_int_ge(next, 0);
      ck_assert(!dead_link(chip, (uint32_t)router, d));
      t->load[router * CM_DIRECTIONS + d] += rate;
      if (in >= 0)
        t->wait[step(chip, router, in ^ 1) * CM_DIRECTIONS + in][d] = true;
      stack[depth][0] = next;
      stack[depth++][1] = d;
    }
  }
}

/* Removes links that wait for nobody until none is left: there is no ring. */
static void no_ring(const cm_chip *chip, traffic *t)
{
  int links = (int)(cm_chip_routers_x(chip) * cm_chip_routers_y(chip)) * CM_DIRECTIONS;
  bool gone[LINKS_MAX] = {false}, more = true;
  int left = links;
  while (more) {
    more = false;
    for (int l = 0; l < links; l++) {
      bool waits = false;
      int next = step(chip, l / CM_DIRECTIONS, l % CM_DIRECTIONS);
      for (int d = 0; d < CM_DIRECTIONS; d++)
        waits = waits || (t->wait[l][d] && !gone[next * CM_DIRECTIONS + d]);
      if (!gone[l] && !waits) {
        gone[l] = more = true;
        left--;
      }
    }
  }
  ck_assert_msg(left == 0, "%d links wait for each other", left);
}

static void same_loads(const cm_routes *routes, const traffic *t)
{
  uint32_t links = cm_chip_routers_x(routes->chip) * cm_chip_routers_y(routes->chip) * CM_DIRECTIONS;
  double most = 0;
  for (uint32_t l = 0; l < links; l++) {
    const uint32_t row = l / CM_DIRECTIONS - routes->first_router; /* of the routers that there are loads of */
    const uint64_t load = row < routes->router_count ? routes->load[row * CM_DIRECTIONS + l % CM_DIRECTIONS] : 0;
    ck_assert_double_eq_tol((double)load / routes->unit, t->load[l], 1e-6);
    most = t->load[l] > most ? t->load[l] : most;
  }
  ck_assert_double_eq_tol((double)routes->load_max / routes->unit, most, 1e-6);
}

static void check_tables(const made *m, const cm_routes *routes, cm_run *run)
{
  size_t size;
  char *text = written(routes, CM_ROUTES_JSON, run, &size);
  json_error_t trouble;
  json_t *json = json_loadb(text, size, 0, &trouble);
  ck_assert_msg(json != NULL, "%s", trouble.text);
  const json_t *tables = json_object_get(json, "tables"), *keys = json_object_get(json, "keys"), *table;
  const json_t *blocks = json_object_get(keys, "blocks");
  ck_assert_int_eq(blocks != NULL, m->chip->table_entries != 0);
  unsigned rank_bits = (unsigned)json_integer_value(json_object_get(keys, "rank_bits"));
  static traffic t;
  memset(&t, 0, sizeof t);
  uint32_t flow = 0, wider = 0;
  double dropped = 0;
  for (uint32_t p = 0; p < m->mapping.part_count; p++) {
    const json_t *neurons = json_array_get(json_object_get(keys, "neurons"), p);
    for (size_t rank = 0; rank < json_array_size(neurons); rank++, flow++) {
      uint32_t net = routes->net[flow], arrived[4096] = {0};
      ck_assert_int_eq(json_integer_value(json_array_get(neurons, rank)), cm_topology_source(&m->network, net));
      uint64_t block = blocks == NULL ? p : (uint64_t)json_integer_value(json_array_get(blocks, p));
      send_packet(m->chip, tables, block << rank_bits | rank, (int)cm_router_of(m->chip, m->core[p]),
                  (double)m->network.net_weight[net] / (double)m->network.weight_scale, arrived, &t);
      for (uint64_t i = m->network.net_first[net]; i < m->network.net_first[net + 1]; i++) {
        uint32_t q = m->part[m->network.pin[i]];
        if (q == p && m->chip->table_entries == 0) /* under a limit packets come back to their core */
          continue;
        ck_assert_msg(arrived[m->core[q]] == 1 || arrived[m->core[q]] == 77, "part %u got %u packets", q, arrived[m->core[q]]);
        arrived[m->core[q]] = 77;
      }
      uint32_t more = 0;
      for (uint32_t c = 0; c < cm_chip_cores(m->chip); c++) {
        ck_assert_msg(arrived[c] == 0 || arrived[c] == 77 || routes->needed != NULL,
                      "a packet came to a core that it is not for");
        more += arrived[c] == 77 ? 0 : arrived[c];
      }
      ck_assert_uint_eq(more, routes->needed == NULL ? 0 : routes->first[flow + 1] - routes->first[flow] - routes->needed[flow]);
      wider += more > 0;
      dropped += more * (double)m->network.net_weight[net] / (double)m->network.weight_scale;
    }
  }
  const json_t *stated = json_object_get(json_object_get(json_object_get(json, "figures"), "tables"), "widened");
  ck_assert_int_eq(stated != NULL, wider > 0);
  ck_assert_int_eq(json_integer_value(json_object_get(stated, "axons")), wider);
  ck_assert_double_eq_tol(json_number_value(json_object_get(stated, "packets")), dropped, 1e-9 + 1e-6 * dropped);
  ck_assert_uint_eq(flow, routes->flow_count);
  same_loads(routes, &t);
  no_ring(m->chip, &t);
  size_t i, entries = 0, over = 0;
  json_array_foreach(tables, i, table) {
    size_t here = json_array_size(json_object_get(table, "entries"));
    entries += here;
    over += m->chip->table_entries != 0 && here > m->chip->table_entries;
  }
  ck_assert_uint_eq(over, 0); /* what does not fit is refused */
  ck_assert_uint_eq(entries, routes->entries_total);
  ck_assert_uint_eq(over, routes->routers_over);
  json_decref(json);
  free(text);
  text = written(routes, CM_ROUTES_CSV, run, &size);
  size_t lines = 0;
  for (size_t k = 0; k < size; k++)
    lines += text[k] == '\n';
  ck_assert_uint_eq(lines, entries + 1);
  free(text);
}

static void check_paths(const made *m, const cm_routes *routes, cm_run *run)
{
  size_t size;
  char *text = written(routes, CM_ROUTES_CSV, run, &size);
  static traffic t;
  memset(&t, 0, sizeof t);
  for (char *at = strchr(text, '\n') + 1; at < text + size;) {
    char *end = strchr(at, '\n');
    ck_assert_ptr_nonnull(end);
    *end = '\0';
    unsigned from, to;
    double packets;
    int used = 0;
    ck_assert_int_eq(sscanf(at, "%u,%u,%lf,%n", &from, &to, &packets, &used), 3);
    int router = (int)cm_router_of(m->chip, m->core[from]), in = -1;
    for (char *p = at + used; *p != '\0';) {
      int d = direction_of(*p);
      ck_assert(in < 0 || legal_turn(routes->rule, in, d));
      for (long length = strtol(p + 1, &p, 10); length > 0; length--) {
        ck_assert(!dead_link(m->chip, (uint32_t)router, d));
        t.load[router * CM_DIRECTIONS + d] += packets;
        if (in >= 0)
          t.wait[step(m->chip, router, in ^ 1) * CM_DIRECTIONS + in][d] = true;
        router = step(m->chip, router, d);
        in = d;
        ck_assert_int_ge(router, 0);
      }
    }
    ck_assert_uint_eq((uint32_t)router, cm_router_of(m->chip, m->core[to]));
    at = end + 1;
  }
  same_loads(routes, &t);
  no_ring(m->chip, &t);
  free(text);
}

/* What would do does, without wider keys, and one entry less does not. */
static void check_refused(made *m, cm_turn_rule rule, cm_run *run)
{
  ck_assert_str_eq(error.figures[0].name, "entries");
  uint32_t limit = m->chip->table_entries, needed = (uint32_t)error.figures[0].value;
  cm_routes *routes;
  ck_assert_uint_gt(needed, limit);
  m->chip->table_entries = needed;
  ck_ok(route(&m->mapping, &m->network, m->chip, rule, true, run, &routes));
  ck_assert_ptr_null(routes->needed);
  check_tables(m, routes, run);
  cm_routes_free(routes);
  m->chip->table_entries = limit;
}

START_TEST(packets_walk_tables_and_paths_to_their_cores)
{
  cm_random random;
  uint32_t over = 0;
  cm_random_init(&random, 6, 0, 0);
  uint32_t refused = 0;
  for (uint32_t round = 0; round < test_rounds(150); round++) {
    bool undirected = round % 5 == 0, multicast = round % 3 != 0;
    made *m = make(&random, round % 2 == 0, undirected);
    cm_run run;
    cm_memory memory;
    cm_run_init(&run);
    cm_memory_init(&memory, 0);
    run.memory = &memory;
    for (int rule = 0; rule < CM_TURN_RULES; rule++) {
      cm_routes *routes;
      cm_status status = route(&m->mapping, &m->network, m->chip, (cm_turn_rule)rule, multicast, &run, &routes);
      if (status == CM_NO_ROUTE) {
        ck_assert_uint_gt(m->chip->dead_link_count, 0);
        ck_assert_ptr_nonnull(strstr(error.detail, multicast && !undirected ? "neuron" : "part"));
        refused++;
        continue;
      }
      if (status == CM_LIMIT_BROKEN) {
        check_refused(m, (cm_turn_rule)rule, &run);
        over++;
        continue;
      }
      ck_ok(status);
      ck_assert_int_eq(routes->multicast, multicast && !undirected);
      ck_assert_uint_le(routes->load_max, routes->load_max_before);
      if (routes->multicast)
        check_tables(m, routes, &run);
      else
        check_paths(m, routes, &run);
      cm_routes_free(routes);
    }
    ck_assert_uint_eq(memory.used_bytes, 0);
    drop(m);
  }
  ck_assert_uint_gt(refused, 0);
  ck_assert_uint_ge(over, CM_SANITIZED ? 0 : 1);
}
END_TEST

/* Few parts of many axons, each of another neuron. */
static bool crowd(made *m, cm_random *random)
{
  uint32_t parts = 2 + below(random, 7);
  parts = parts < m->mapping.part_count ? parts : m->mapping.part_count;
  for (uint32_t v = 0; v < m->mapping.vertex_count; v++)
    m->part[v] = v < parts ? v : below(random, parts);
  m->mapping.part_count = parts;
  for (uint32_t e = 0; e < m->network.net_count && e < m->network.vertex_count; e++)
    m->network.net_source[e] = e;
  return m->network.net_count <= m->network.vertex_count;
}

/* Under every limit that leaves an entry for each part keys are widened until they fit; the less it is the more packets it costs. */
START_TEST(wider_keys_bring_every_packet_to_its_cores)
{
  cm_random random;
  cm_random_init(&random, 11, 0, 0);
  uint32_t wider = 0, refused = 0;
  for (uint32_t round = 0; round < test_rounds(60); round++) {
    made *m = make(&random, round % 4 == 0, false);
    cm_routes *routes;
    cm_run run;
    cm_memory memory;
    cm_run_init(&run);
    cm_memory_init(&memory, 0);
    run.memory = &memory;
    m->chip->table_entries = 1000;
    cm_status status = crowd(m, &random)
                         ? route(&m->mapping, &m->network, m->chip, (cm_turn_rule)(round % CM_TURN_RULES), true, &run, &routes)
                         : CM_NO_ROUTE;
    while (status == CM_OK) {
      check_tables(m, routes, &run);
      wider += routes->needed != NULL;
      m->chip->table_entries = cm_routes_entries(routes, routes->fullest) - 1;
      cm_routes_free(routes);
      status = m->chip->table_entries == 0
                 ? CM_NO_ROUTE
                 : route(&m->mapping, &m->network, m->chip, (cm_turn_rule)(round % CM_TURN_RULES), true, &run, &routes);
    }
    if (status == CM_LIMIT_BROKEN) {
      ck_assert_msg(m->chip->table_entries < m->mapping.part_count || m->chip->dead_link_count > 0, "%s", error.detail);
      refused++;
    }
    ck_assert_uint_eq(memory.used_bytes, 0);
    drop(m);
  }
  ck_assert_uint_gt(wider, test_rounds(60) / 2);
  ck_assert_uint_gt(refused, 0);
}
END_TEST

/* ---- minimised tables ---- */

/* Each allocation in turn fails: a clear refusal, nothing lost, nothing left. */
static void survive(const made *m)
{
  uint64_t fired = 0;
  for (uint64_t n = 1;; n += 1 + n / test_rounds(100)) { /* each of the first, then fewer: tables are made alike */
    cm_run run;
    cm_memory memory;
    cm_run_init(&run);
    cm_memory_init(&memory, 0);
    run.memory = &memory;
    cm_routes *routes = NULL;
    cm_bounds bounds;
    static uint8_t usable[4096];
    memset(usable, 1, sizeof usable);
    cm_memory_fail_at(n);
    cm_status status = route(&m->mapping, &m->network, m->chip, CM_TURNS_WEST_FIRST, true, &run, &routes);
    if (status == CM_OK || status == CM_NO_ROUTE) {
      FILE *nowhere = fopen("/dev/null", "w");
      status = routes == NULL ? CM_OK : cm_routes_write(routes, CM_ROUTES_JSON, &run, nowhere, &error);
      fclose(nowhere);
    }
    if (status == CM_OK)
      status =
        cm_bounds_compute(&(cm_mapped){.demand = CM_DEMAND_OF(&m->network), .chip = m->chip, .part = m->part, .parts = m->mapping.part_count},
                          usable, &run, &bounds, &error);
    bool hit = cm_memory_fault_fired();
    cm_memory_fail_at(0);
    cm_routes_free(routes);
    ck_assert_int_eq(status, hit ? CM_NO_MEMORY : CM_OK);
    ck_assert_uint_eq(memory.used_bytes, 0);
    if (!hit)
      break;
    fired++;
  }
  ck_assert_uint_gt(fired, 30);
}

START_TEST(routes_survive_a_lack_of_memory)
{
  cm_random random;
  cm_random_init(&random, 9, 0, 0);
  made *m = make(&random, true, false);
  m->chip->table_entries = 500;
  survive(m);
  drop(m);
}
END_TEST

START_TEST(wider_keys_survive_a_lack_of_memory)
{
  cm_random random;
  cm_random_init(&random, 11, 0, 0);
  made *m = make(&random, false, false);
  while (!crowd(m, &random)) {
    drop(m);
    m = make(&random, false, false);
  }
  m->chip->table_entries = m->mapping.part_count;
  cm_run run;
  cm_run_init(&run);
  cm_routes *routes;
  ck_ok(route(&m->mapping, &m->network, m->chip, CM_TURNS_WEST_FIRST, true, &run, &routes));
  ck_assert_ptr_nonnull(routes->needed);
  cm_routes_free(routes);
  survive(m);
  drop(m);
}
END_TEST

/* Under XY on a mesh, trees are those of the metrics, and so are their hops and loads. */
START_TEST(xy_routes_agree_with_the_metrics)
{
  cm_random random;
  cm_random_init(&random, 7, 0, 0);
  for (uint32_t round = 0; round < test_rounds(40); round++) {
    made *m = make(&random, false, round % 4 == 0);
    m->chip->table_entries = 0;
    m->chip->torus_x = m->chip->torus_y = false;
    cm_run run;
    cm_run_init(&run);
    cm_metrics metrics;
    cm_metrics_detail detail;
    cm_routes *tree, *path;
    ck_ok(cm_metrics_compute(&(cm_mapped){CM_DEMAND_OF(&m->network), m->chip, m->part, m->mapping.part_count, m->core, NULL}, &run, &metrics, &detail,
                             &error));
    ck_ok(route(&m->mapping, &m->network, m->chip, CM_TURNS_XY, true, &run, &tree));
    ck_ok(route(&m->mapping, &m->network, m->chip, CM_TURNS_XY, false, &run, &path));
    ck_assert_double_eq_tol(tree->traffic, metrics.multicast_hops, 1e-6);
    ck_assert_double_eq_tol(fmax((double)tree->load_max / tree->unit, metrics.multicast_port_load_max),
                            metrics.multicast_link_load_max, 1e-6);
    ck_assert_double_eq_tol(path->traffic, metrics.hop_traffic, 1e-6);
    ck_assert_double_eq_tol(fmax((double)path->load_max / path->unit, metrics.port_load_max), metrics.link_load_max, 1e-6);
    cm_metrics_detail_free(&detail);
    cm_routes_free(tree);
    cm_routes_free(path);
    drop(m);
  }
}
END_TEST

/* ---- the least highest load, by trying all minimal paths ---- */

typedef struct search {
  const cm_chip *chip;
  cm_turn_rule rule;
  uint32_t flows;
  int source[4], target[4];
  uint64_t weight[4], load[LINKS_MAX], best;
} search;

static void try_paths(search *s, uint32_t flow, int at, int in)
{
  int rx = (int)cm_chip_routers_x(s->chip);
  if (flow == s->flows) {
    uint64_t most = 0;
    for (int l = 0; l < LINKS_MAX; l++)
      most = s->load[l] > most ? s->load[l] : most;
    s->best = most < s->best ? most : s->best;
    return;
  }
  if (at == s->target[flow]) {
    try_paths(s, flow + 1, flow + 1 < s->flows ? s->source[flow + 1] : 0, -1);
    return;
  }
  int dx = s->target[flow] % rx - at % rx, dy = s->target[flow] / rx - at / rx;
  for (int d = 0; d < CM_DIRECTIONS; d++) {
    bool useful = d == CM_EAST ? dx > 0 : d == CM_WEST ? dx < 0 : d == CM_SOUTH ? dy > 0 : dy < 0;
    if (!useful || (in >= 0 && !legal_turn(s->rule, in, d)))
      continue;
    s->load[at * CM_DIRECTIONS + d] += s->weight[flow];
    try_paths(s, flow, step(s->chip, at, d), d);
    s->load[at * CM_DIRECTIONS + d] -= s->weight[flow];
  }
}

START_TEST(balanced_loads_come_near_the_least_possible)
{
  cm_random random;
  cm_random_init(&random, 8, 0, 0);
  uint32_t best = 0, open = 0;
  for (uint32_t round = 0; round < test_rounds(200); round++) {
    cm_chip *chip;
    ck_ok(cm_chip_mesh(4, 4, &chip, &error));
    search s = {.chip = chip, .rule = (cm_turn_rule)(round % CM_TURN_RULES), .flows = 4, .best = UINT64_MAX};
    uint32_t part[16], core[16];
    cm_topology n = {
        .directed = true, .vertex_count = 16, .net_count = 4, .pin_count = 4, .size_total = 16, .weight_scale = 1};
    n.net_first = network_array(5, sizeof *n.net_first);
    n.net_source = network_array(4, sizeof *n.net_source);
    n.net_weight = network_array(4, sizeof *n.net_weight);
    n.pin = network_array(4, sizeof *n.pin);
    for (uint32_t v = 0; v < 16; v++)
      part[v] = core[v] = v;
    for (uint32_t e = 0; e < 4; e++) {
      /* Sources ascend; sources and targets close together, so that paths meet. */
      n.net_source[e] = e + (e > 1 ? 2 : 0);
      n.pin[e] = 10 + below(&random, 6);
      n.net_weight[e] = 1 + below(&random, 9);
      n.net_first[e + 1] = e + 1;
      s.source[e] = (int)n.net_source[e];
      s.target[e] = (int)n.pin[e];
      s.weight[e] = n.net_weight[e];
    }
    try_paths(&s, 0, s.source[0], -1);
    cm_mapping mapping = {.vertex_count = 16, .part_count = 16, .part = part, .core = core};
    cm_run run;
    cm_run_init(&run);
    cm_routes *routes;
    ck_ok(route(&mapping, &n, chip, s.rule, true, &run, &routes));
    ck_assert_uint_ge(routes->load_max, s.best);
    ck_assert_uint_le(routes->load_max, routes->load_max_before);
    if (routes->load_max_before > s.best) { /* there was something to gain */
      open++;
      best += routes->load_max == s.best;
    }
    cm_routes_free(routes);
    network_free(&n);
    cm_chip_free(chip);
  }
  ck_assert_msg(open > test_rounds(20) && best * 10 >= open * 7, "the least load was reached in %u of %u cases", best, open);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("routes, property");
  TCase *tests = tcase_create("routes");
  tcase_add_test(tests, trees_follow_the_rule_and_reach_every_target_once);
  tcase_add_test(tests, packets_walk_tables_and_paths_to_their_cores);
  tcase_add_test(tests, wider_keys_bring_every_packet_to_its_cores);
  tcase_add_test(tests, routes_survive_a_lack_of_memory);
  tcase_add_test(tests, wider_keys_survive_a_lack_of_memory);
  tcase_add_test(tests, xy_routes_agree_with_the_metrics);
  tcase_add_test(tests, balanced_loads_come_near_the_least_possible);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
