/* core/chip: descriptions, presets, distances, ways. */
#include "tests/unit/chips.h"

#include "base/random.h"
#include "core/chip/interconnect/internal.h"

void add_chip_refusals(TCase *tests); /* chip_refusals.c */

static cm_error error;

/* Member by member: what lies between members may differ. */
static void check_same_limits(const cm_limits *a, const cm_limits *b)
{
  ck_assert_uint_eq(a->neurons, b->neurons);
  ck_assert_uint_eq(a->synapses, b->synapses);
  ck_assert_uint_eq(a->inbound_axons, b->inbound_axons);
  ck_assert_uint_eq(a->outbound_axons, b->outbound_axons);
  ck_assert_uint_eq(a->target_cores, b->target_cores);
  ck_assert_uint_eq(a->source_cores, b->source_cores);
  ck_assert_uint_eq(a->memory_bits, b->memory_bits);
  ck_assert_uint_eq(a->neuron_bits, b->neuron_bits);
  ck_assert_uint_eq(a->synapse_bits, b->synapse_bits);
  ck_assert_uint_eq(a->axon_bits, b->axon_bits);
  ck_assert_uint_eq(a->fan_in, b->fan_in);
  ck_assert_uint_eq(a->neuron_target_cores, b->neuron_target_cores);
  ck_assert_uint_eq(a->populations, b->populations);
}

START_TEST(presets_open_and_round_trip)
{
  size_t count = 0;
  for (const char *const *name = cm_chip_presets(); *name != NULL; name++, count++) {
    cm_chip *chip, *again;
    ck_ok(cm_chip_open(*name, &chip, &error));
    ck_assert_str_eq(chip->name, *name);
    ck_assert_uint_gt(strlen(chip->description), 40);
    char *text, *second;
    if (chip->target != NULL) {
      chip->target->window = 7;
      chip->target->code_bytes = 48;
    }
    ck_ok(cm_chip_print(chip, &text, &error));
    ck_ok(cm_chip_parse(text, strlen(text), &again, &error));
    ck_ok(cm_chip_print(again, &second, &error));
    ck_assert_str_eq(text, second);
    check_same_limits(&chip->limits, &again->limits);
    ck_assert_int_eq(chip->target != NULL, again->target != NULL);
    ck_assert(chip->target == NULL || (again->target->window == 7 && again->target->code_bytes == 48));
    for (uint32_t m = 0; chip->target != NULL && m < chip->target->memory_count; m++) {
      ck_assert_uint_eq(again->target->memory_count, chip->target->memory_count);
      ck_assert_uint_eq(again->target->memory[m].core, chip->target->memory[m].core);
      ck_assert_uint_eq(again->target->memory[m].to, chip->target->memory[m].to);
    }
    free(text);
    free(second);
    cm_chip_free(chip);
    cm_chip_free(again);
  }
  ck_assert_uint_eq(count, 22);
  cm_chip *chip;
  ck_ok(cm_chip_open("loihi64", &chip, &error));
  ck_assert_uint_eq(chip->width, 64);
  ck_assert_uint_eq(chip->limits.inbound_axons, 4096);
  ck_assert_double_eq(chip->energy_pj.router, 1.7);
  ck_assert_double_eq(chip->latency_ns.north_south, 5.3);
  cm_chip_free(chip);
  ck_ok(cm_chip_open("loihi1", &chip, &error));
  ck_assert_uint_eq(chip->limits.synapses, 131072);
  ck_assert_double_eq(chip->energy_pj.north_south, 4.2);
  ck_assert_double_eq(chip->energy_pj.east_west, 3.0);
  ck_assert_double_eq(chip->latency_ns.north_south, 6.5);
  cm_chip_free(chip);
  ck_ok(cm_chip_open("spinnaker2", &chip, &error));
  ck_assert_uint_eq(cm_chip_cores(chip) - chip->dead_core_count, 152);
  cm_chip_free(chip);
  ck_fails(cm_chip_open("loihi", &chip, &error), CM_NOT_FOUND);
  ck_assert_ptr_nonnull(strstr(error.detail, "truenorth"));
  ck_fails(cm_chip_open("./no-such.json", &chip, &error), CM_NOT_FOUND);
  ck_assert_ptr_null(cm_chip_preset_text("loihi"));
}
END_TEST

START_TEST(a_chip_file_says_everything)
{
  cm_chip *chip = chip_parsed("{\"name\": \"c\", \"dies\": [2, 1], \"cores\": [4, 6], \"cores_per_router\": [2, 3],"
                        "\"torus\": [true, false], \"routing\": \"yx\", \"dead_cores\": [[1,1],[0,0,1,1],[7,5]],"
                        "\"dead_links\": [[3,0,\"east\"],[0,1,\"north\"],[0,1,\"north\"]],"
                        "\"limits\": {\"synapse_bits\": 100, \"bits_per_synapse\": 9, \"target_cores\": 3, \"source_cores\": 2},"
                        "\"energy_pj\": {\"router\": 2, \"link\": 3, \"die_to_die\": 9.5}}");
  ck_assert_uint_eq(chip->width, 8);
  ck_assert_uint_eq(chip->height, 6);
  ck_assert_uint_eq(cm_chip_routers_x(chip), 4);
  ck_assert_uint_eq(chip->limits.synapses, 11);
  ck_assert_uint_eq(chip->limits.target_cores, 3);
  ck_assert_uint_eq(chip->limits.source_cores, 2);
  ck_assert_uint_eq(chip->limits.neurons, 0);
  ck_assert_int_eq(chip->routing, CM_ROUTING_YX);
  ck_assert(chip->torus_x && !chip->torus_y);
  ck_assert_uint_eq(chip->dead_core_count, 5);
  const uint32_t dead[] = {0, 1, 8, 9, 47};
  ck_assert_mem_eq(chip->dead_cores, dead, sizeof dead);
  ck_assert_uint_eq(chip->dead_link_count, 2);
  ck_assert_uint_eq(chip->dead_links[0], 3 * 4 + CM_EAST);
  ck_assert_uint_eq(chip->dead_links[1], 4 * 4 + CM_NORTH);
  ck_assert_double_eq(chip->energy_pj.east_west, 3);
  ck_assert_double_eq(chip->energy_pj.die_to_die, 9.5);
  ck_assert_double_eq(chip->latency_ns.router, 1);
  ck_assert_double_eq(chip->latency_ns.die_to_die, 0.01);
  cm_chip_free(chip);
}
END_TEST

START_TEST(bad_chip_files_are_refused_with_their_place)
{
  static const struct {
    const char *text, *where;
  } cases[] = {
    {"{\"cores\": [4,4]}", "/name"},
    {"{\"name\": \"a b\", \"cores\": [4,4]}", "/name"},
    {"{\"name\": \"..\", \"cores\": [4,4]}", "/name"},
    {"{\"name\": \"a\"}", "/cores"},
    {"{\"name\": \"a\", \"cores\": [4]}", "/cores"},
    {"{\"name\": \"a\", \"cores\": [4, 0]}", "/cores/1"},
    {"{\"name\": \"a\", \"cores\": [-4, 1]}", "/cores/0"},
    {"{\"name\": \"a\", \"cores\": [4.5, 1]}", "/cores/0"},
    {"{\"name\": \"a\", \"cores\": [16777216, 2]}", "/cores"},
    {"{\"name\": \"a\", \"dies\": [4096, 4096], \"cores\": [4096, 4096]}", "/cores"},
    {"{\"name\": \"a\", \"cores\": [4,4], \"cores_per_router\": [3,1]}", "/cores_per_router"},
    {"{\"name\": \"a\", \"cores\": [4,4], \"torus\": true}", "/torus"},
    {"{\"name\": \"a\", \"cores\": [4,4], \"speed\": 1}", "/speed"},
    {"{\"name\": \"a\", \"cores\": [4,4], \"limits\": {\"neuron\": 1}}", "/limits/neuron"},
    {"{\"name\": \"a\", \"cores\": [4,4], \"limits\": {\"neurons\": 0}}", "/limits/neurons"},
    {"{\"name\": \"a\", \"cores\": [4,4], \"limits\": {\"populations_per_core\": 0}}", "/limits/populations_per_core"},
    {"{\"name\": \"a\", \"cores\": [4,4], \"limits\": {\"far_synapses_per_neuron\": 4}}", "/cluster"},
    {"{\"name\": \"a\", \"cores\": [4,4], \"cluster\": [3, 2]}", "/cluster"},
    {"{\"name\": \"a\", \"cores\": [4,4], \"router_limits\": {\"neurons\": 4}}", "/router_limits/neurons"},
    {"{\"name\": \"a\", \"cores\": [4,4], \"circuits\": {}}", "/circuits"},
    {"{\"name\": \"a\", \"cores\": [4,4], \"circuits\": {\"router_in\": 0}}", "/circuits/router_in"},
    {"{\"name\": \"a\", \"cores\": [4,4], \"circuits\": {\"link\": 2}, \"die_limits\": {\"synapses\": 4}}", "/circuits"},
    {"{\"name\": \"a\", \"cores\": [4,4], \"die_limits\": {\"synapses\": 4}, \"limits\": {\"near_synapses_per_neuron\": 4}}", "/die_limits"},
    {"{\"name\": \"a\", \"cores\": [4,4], \"limits\": {\"near_synapses_per_neuron\": 4}, \"core_classes\": [{\"name\": \"b\", \"cores\": [[0, 0]]}]}", "/core_classes"},
    {"{\"name\": \"a\", \"cores\": [4,4], \"limits\": {\"memory_bits\": 9}}", "/limits/memory_bits"},
    {"{\"name\": \"a\", \"cores\": [4,4], \"limits\": {\"bits_per_neuron\": 9}}", "/limits/memory_bits"},
    {"{\"name\": \"a\", \"cores\": [4,4], \"limits\": {\"bits_per_synapse\": 9}}", "/limits/synapse_bits"},
    {"{\"name\": \"a\", \"cores\": [4,4], \"limits\": {\"memory_bits\": 9, \"bits_per_neuron\": 65537}}", "/limits/bits_per_neuron"},
    {"{\"name\": \"a\", \"cores\": [4,4], \"limits\": {\"neurons\": -1}}", "/limits/neurons"},
    {"{\"name\": \"a\", \"cores\": [4,4], \"limits\": {\"synapses\": 9007199254740993}}", "/limits/synapses"},
    {"{\"name\": \"a\", \"cores\": [4,4], \"limits\": {\"synapse_bits\": 8}}", "/limits/bits_per_synapse"},
    {"{\"name\": \"a\", \"cores\": [4,4], \"limits\": {\"synapse_bits\": 8, \"bits_per_synapse\": 9}}",
     "/limits/bits_per_synapse"},
    {"{\"name\": \"a\", \"cores\": [4,4], \"energy_pj\": {\"router\": -0.5}}", "/energy_pj/router"},
    {"{\"name\": \"a\", \"cores\": [4,4], \"latency_ns\": {\"link\": 1e300}}", "/latency_ns/link"},
    {"{\"name\": \"a\", \"cores\": [4,4], \"latency_ns\": {\"link\": \"1\"}}", "/latency_ns/link"},
    {"{\"name\": \"a\", \"cores\": [4,4], \"routing\": \"zz\"}", "/routing"},
#define CLASSES(list) "{\"name\": \"a\", \"cores\": [4,4], \"core_classes\": [" list "]}"
    {CLASSES(""), "/core_classes"},
    {CLASSES("{\"name\": \"other\", \"cores\": [[0,0]]}"), "/core_classes/0/name"},
    {CLASSES("{\"name\": \"x\"}"), "/core_classes/0/cores"},
    {CLASSES("{\"name\": \"x\", \"cores\": [[0,0]], \"pinned_only\": 1}"), "/core_classes/0/pinned_only"},
    {CLASSES("{\"name\": \"x\", \"cores\": [[4,0]]}"), "/core_classes/0/cores/0"},
    {CLASSES("{\"name\": \"x\", \"cores\": [[0,0]], \"labels\": []}"), "/core_classes/0/labels"},
    {CLASSES("{\"name\": \"x\", \"cores\": [[0,0]], \"limits\": {\"neurons\": 0}}"), "/core_classes/0/limits/neurons"},
    {CLASSES("{\"name\": \"x\", \"cores\": [[0,0]]}, {\"name\": \"x\", \"cores\": [[1,0]]}"), "/core_classes/1/name"},
    {CLASSES("{\"name\": \"x\", \"cores\": [[0,0]]}, {\"name\": \"y\", \"cores\": [[0,0,1,0]]}"), "/core_classes/1/cores"},
#undef CLASSES
    {"{\"name\": \"a\", \"cores\": [4,4], \"relays\": true}", "/relays"},
    {"{\"name\": \"a\", \"cores\": [4,4], \"relays\": true, \"limits\": {\"fan_in_per_neuron\": 4, \"synapses\": 9}}", "/relays"},
    {"{\"name\": \"a\", \"cores\": [4,4], \"limits\": {\"fan_in_per_neuron\": 1}}", "/limits/fan_in_per_neuron"},
    {"{\"name\": \"a\", \"cores\": [4,4], \"table_entries\": 9, \"limits\": {\"target_cores_per_neuron\": 1}}", "/table_entries"},
    {"{\"name\": \"a\", \"cores\": [4,4], \"dead_cores\": [[4,0]]}", "/dead_cores/0"},
    {"{\"name\": \"a\", \"cores\": [4,4], \"dead_cores\": [[0,0],[2,2,1,3]]}", "/dead_cores/1"},
    {"{\"name\": \"a\", \"cores\": [4,4], \"dead_cores\": [7]}", "/dead_cores/0"},
    {"{\"name\": \"a\", \"cores\": [4,4], \"dead_links\": [[3,0,\"east\"]]}", "/dead_links/0"},
    {"{\"name\": \"a\", \"cores\": [4,4], \"dead_links\": [[3,0,\"up\"]]}", "/dead_links/0"},
#define WAYS(more) "{\"name\": \"a\", \"cores\": [4,4], " more "}"
    {WAYS("\"interconnect\": {}"), "/interconnect/kind"},
    {WAYS("\"interconnect\": {\"kind\": \"ring\"}"), "/interconnect/kind"},
    {WAYS("\"interconnect\": {\"kind\": \"tree\"}"), "/interconnect/levels"},
    {WAYS("\"interconnect\": {\"kind\": \"tree\", \"levels\": [{\"block\": [2, 2]}]}"), "/interconnect/levels"},
    {WAYS("\"interconnect\": {\"kind\": \"tree\", \"levels\": [{\"block\": [3, 2]}]}"), "/interconnect/levels/0/block"},
    {WAYS("\"interconnect\": {\"kind\": \"tree\", \"levels\": [{\"block\": [4, 4], \"cost\": 0}]}"),
     "/interconnect/levels/0/cost"},
    {WAYS("\"interconnect\": {\"kind\": \"graph\"}"), "/interconnect/links"},
    {WAYS("\"interconnect\": {\"kind\": \"graph\", \"links\": [[0, 1]]}"), "/interconnect/links"},
    {WAYS("\"interconnect\": {\"kind\": \"graph\", \"links\": [[0, 16]]}"), "/interconnect/links/0"},
    {WAYS("\"interconnect\": {\"kind\": \"graph\", \"links\": [[0, 1], [1, 0]]}"), "/interconnect/links"},
    {WAYS("\"interconnect\": {\"kind\": \"graph\", \"switches\": 4090, \"links\": []}"), "/interconnect"},
    {WAYS("\"torus\": [true, false], \"interconnect\": {\"kind\": \"all-to-all\"}"), "/torus"},
    {WAYS("\"routing\": \"xy\", \"interconnect\": {\"kind\": \"hexagonal\"}"), "/routing"},
    {WAYS("\"dead_links\": [[3, 0, \"north-east\"]], \"interconnect\": {\"kind\": \"hexagonal\"}"), "/dead_links/0"},
    {WAYS("\"dead_links\": [[0, 0]], \"interconnect\": {\"kind\": \"all-to-all\"}"), "/dead_links/0"},
    {WAYS("\"dead_routers\": [[0, 0]]"), "/dead_routers"},
    {WAYS("\"energy_pj\": {\"diagonal\": 1}"), "/energy_pj/diagonal"},
    {WAYS("\"energy_pj\": {\"east_west\": 1}, \"interconnect\": {\"kind\": \"all-to-all\"}"), "/energy_pj/east_west"},
    {"{\"name\": \"a\", \"cores\": [40,40], \"interconnect\": {\"kind\": \"all-to-all\"}}", "/interconnect"},
#undef WAYS
    {"{\"name\": \"a\", \"name\": \"b\", \"cores\": [4,4]}", "line 1"},
    {"{\"name\": \"a\", \"cores\": [4,4], \"energy_pj\": {\"router\": 1e999}}", "line 1"},
    {"{\"name\": \"a\", \"cores\"", "line 1"},
    {"[]", ""},
    {"", "line 1"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cm_chip *chip = NULL;
    ck_fails(cm_chip_parse(cases[i].text, strlen(cases[i].text), &chip, &error), CM_BAD_CHIP);
    ck_assert_ptr_null(chip);
    ck_assert_msg(strncmp(error.where, cases[i].where, strlen(cases[i].where)) == 0, "%s: %s (%s)",
                  cases[i].text, error.where, error.detail);
    if (cases[i].where[0] == '/')
      ck_assert_str_eq(error.where, cases[i].where);
  }
  char *huge = calloc(1, CM_CHIP_FILE_BYTES_MAX + 1);
  cm_chip *chip;
  ck_fails(cm_chip_parse(huge, CM_CHIP_FILE_BYTES_MAX + 1, &chip, &error), CM_TOO_LARGE);
  free(huge);
}
END_TEST

START_TEST(distances_by_hand)
{
  cm_chip *chip;
  ck_ok(cm_chip_mesh(8, 8, &chip, &error));
  ck_assert_uint_eq(cm_chip_distance(chip, 0, 63), 14);
  ck_assert_uint_eq(cm_chip_distance(chip, 9, 9), 0);
  cm_chip_free(chip);
  ck_fails(cm_chip_mesh(0, 8, &chip, &error), CM_BAD_CHIP);
  /* A ring of 6 routers: 0 to 5 is one hop, 0 to 3 three. */
  chip = chip_parsed("{\"name\": \"ring\", \"cores\": [6, 2], \"torus\": [true, true]}");
  ck_assert_uint_eq(cm_chip_distance(chip, 0, 5), 1);
  ck_assert_uint_eq(cm_chip_distance(chip, 0, 3), 3);
  ck_assert_uint_eq(cm_chip_distance(chip, 0, 11), 2);
  cm_chip_free(chip);
  /* Two cores side by side share a router: no hop between them. Three dies of 2 routers each in a ring:
   * from router 0 to 3 both ways are as long; east crosses one border, west two. */
  chip = chip_parsed("{\"name\": \"dies\", \"dies\": [3, 1], \"cores\": [4, 1], \"cores_per_router\": [2, 1],"
               "\"torus\": [true, false]}");
  ck_assert_uint_eq(cm_chip_distance(chip, 0, 1), 0);
  cm_hops hops = cm_chip_hops(chip, 0, 6);
  ck_assert_uint_eq(hops.east_west, 2);
  ck_assert_uint_eq(hops.die_to_die, 1);
  hops = cm_chip_hops(chip, 6, 0); /* east again: 3, 4, 5, 0 */
  ck_assert_uint_eq(hops.die_to_die, 2);
  hops = cm_chip_hops(chip, 0, 11); /* west over the closing link */
  ck_assert_uint_eq(hops.east_west, 0);
  ck_assert_uint_eq(hops.die_to_die, 1);
  cm_chip_free(chip);
}
END_TEST

/* Fewest steps between routers by breadth-first search on the router graph. */
static void flood(const cm_chip *chip, uint32_t from, uint32_t *steps)
{
  uint32_t rx = cm_chip_routers_x(chip), ry = cm_chip_routers_y(chip), queue[256], head = 0, tail = 0;
  for (uint32_t i = 0; i < rx * ry; i++)
    steps[i] = UINT32_MAX;
  steps[from] = 0;
  queue[tail++] = from;
  while (head < tail) {
    uint32_t router = queue[head++], x = router % rx, y = router / rx, next[4], n = 0;
    if (x + 1 < rx || chip->torus_x)
      next[n++] = y * rx + (x + 1) % rx;
    if (x > 0 || chip->torus_x)
      next[n++] = y * rx + (x + rx - 1) % rx;
    if (y + 1 < ry || chip->torus_y)
      next[n++] = (y + 1) % ry * rx + x;
    if (y > 0 || chip->torus_y)
      next[n++] = (y + ry - 1) % ry * rx + x;
    for (uint32_t i = 0; i < n; i++)
      if (steps[next[i]] == UINT32_MAX) {
        steps[next[i]] = steps[router] + 1;
        queue[tail++] = next[i];
      }
  }
}

START_TEST(distances_are_those_of_the_router_graph)
{
  cm_random random;
  cm_random_init(&random, 3, 0, 0);
  for (int round = 0; round < (int)test_rounds(100); round++) {
    uint32_t dx = 1 + (uint32_t)cm_random_below(&random, 3), dy = 1 + (uint32_t)cm_random_below(&random, 3);
    uint32_t bx = 1 + (uint32_t)cm_random_below(&random, 2), by = 1 + (uint32_t)cm_random_below(&random, 2);
    uint32_t w = bx * (1 + (uint32_t)cm_random_below(&random, 4)), h = by * (1 + (uint32_t)cm_random_below(&random, 4));
    char text[300];
    snprintf(text, sizeof text,
             "{\"name\": \"r\", \"dies\": [%u, %u], \"cores\": [%u, %u], \"cores_per_router\": [%u, %u],"
             "\"torus\": [%s, %s]}", dx, dy, w, h, bx, by, round % 2 ? "true" : "false", round % 3 ? "true" : "false");
    cm_chip *chip = chip_parsed(text);
    uint32_t steps[256], rx = cm_chip_routers_x(chip), cores = cm_chip_cores(chip);
    for (uint32_t a = 0; a < cores; a++) {
      flood(chip, a / chip->width / by * rx + a % chip->width / bx, steps);
      for (uint32_t b = 0; b < cores; b++) {
        uint32_t expected = steps[b / chip->width / by * rx + b % chip->width / bx];
        ck_assert_uint_eq(cm_chip_distance(chip, a, b), expected);
        cm_hops hops = cm_chip_hops(chip, a, b);
        ck_assert_uint_eq(hops.east_west + hops.north_south + hops.die_to_die, expected);
        if (dx == 1 && dy == 1)
          ck_assert_uint_eq(hops.die_to_die, 0);
        if (round % 6 == 0) { /* a plain mesh of dies: borders between the two, by hand */
          uint32_t ax = a % chip->width / w, cx = b % chip->width / w, ay = a / chip->width / h,
                   cy = b / chip->width / h;
          ck_assert_uint_eq(hops.die_to_die, (ax > cx ? ax - cx : cx - ax) + (ay > cy ? ay - cy : cy - ay));
        }
      }
    }
    cm_chip_free(chip);
  }
}
END_TEST

/* Steps of a walker over the neighbours by hand: formulas, the table and all ways must agree with breadth-first search. */
static void compare_ways(const char *text)
{
  cm_chip *chip = chip_parsed(text);
  const cm_interconnect *net = chip->interconnect;
  uint32_t n = net->routers, *steps = calloc(n, sizeof *steps), *queue = calloc(n, sizeof *queue);
  ck_ok(cm_interconnect_prepare(net, &error));
  for (uint32_t from = 0; from < n; from++) {
    uint32_t head = 0, tail = 0;
    memset(steps, 0xff, n * sizeof *steps);
    steps[from] = 0;
    queue[tail++] = from;
    while (head < tail) {
      uint32_t at = queue[head++];
      for (uint32_t i = 0; i < net->link_count; i++)
        if (net->link[i].from == at && !net->link[i].dead && steps[net->link[i].to] == UINT32_MAX) {
          steps[net->link[i].to] = steps[at] + 1;
          queue[tail++] = net->link[i].to;
        }
    }
    for (uint32_t to = 0; to < n; to++) {
      ck_assert_uint_eq(cm_interconnect_hops(net, from, to), steps[to]);
      if (net->dead_count == 0 && net->kind != CM_GRAPH)
        ck_assert_uint_eq(cm_formula_hops(net, from, to), steps[to]);
      if (to == from || steps[to] == UINT32_MAX)
        continue;
      const cm_link *last = &net->link[cm_interconnect_last(net, from, to)];
      ck_assert_uint_eq(last->to, to);
      ck_assert(!last->dead);
      ck_assert_uint_eq(steps[last->from] + 1, steps[to]);
      for (uint32_t i = 0; i < net->link_count; i++) /* of those that end a shortest way, from the lowest router */
        ck_assert(net->link[i].to != to || net->link[i].dead || steps[net->link[i].from] + 1 != steps[to] ||
                  net->link[i].from >= last->from);
    }
  }
  free(steps);
  free(queue);
  char *first, *second;
  cm_chip *again;
  ck_ok(cm_chip_print(chip, &first, &error));
  ck_ok(cm_chip_parse(first, strlen(first), &again, &error));
  ck_ok(cm_chip_print(again, &second, &error));
  ck_assert_str_eq(first, second);
  free(first);
  free(second);
  cm_chip_free(chip);
  cm_chip_free(again);
}

START_TEST(ways_are_those_of_the_links)
{
  static const char *const sizes[] = {"[5, 4]", "[6, 3]", "[3, 7]"}, *const rings[] = {"[false, false]", "[true, true]", "[true, false]"};
  char text[400];
  for (int kind = 0; kind < 2; kind++)
    for (int size = 0; size < (CM_SANITIZED ? 1 : 3); size++)
      for (int ring = 0; ring < 3; ring++)
        for (int dead = 0; dead < 2; dead++) {
          (void)snprintf(text, sizeof text, "{\"name\": \"w\", \"cores\": %s, \"torus\": %s, \"interconnect\": {\"kind\": \"%s\"}%s}",
                         sizes[size], rings[ring], kind ? "hexagonal" : "grid",
                         dead ? ", \"dead_routers\": [[1, 1]], \"dead_links\": [[0, 2, \"east\"]]" : "");
          compare_ways(text);
        }
  compare_ways("{\"name\": \"t\", \"cores\": [8, 4], \"interconnect\": {\"kind\": \"tree\", \"levels\": [{\"block\": [2, 1]}, "
               "{\"block\": [2, 2], \"cost\": 2}, {\"block\": [2, 2]}]}}");
  compare_ways("{\"name\": \"a\", \"cores\": [3, 2], \"interconnect\": {\"kind\": \"all-to-all\"}}");
  compare_ways("{\"name\": \"a\", \"cores\": [3, 2], \"interconnect\": {\"kind\": \"all-to-all\"}, \"dead_links\": [[0, 1], [1, 0]]}");
  compare_ways("{\"name\": \"g\", \"cores\": [3, 2], \"interconnect\": {\"kind\": \"graph\", \"switches\": 1, \"links\": "
               "[[0, 6], [1, 6], [2, 6], [3, 6], [3, 4], [4, 5], [5, 0]]}}");
}
END_TEST

START_TEST(hexagonal_links_by_hand)
{
  /* Of router (1, 1): E (2, 1), NE (2, 0), N (1, 0), W (0, 1), SW (0, 2), S (1, 2); each die border costs its own. */
  cm_chip *chip = chip_parsed("{\"name\": \"h\", \"dies\": [2, 1], \"cores\": [2, 4], \"torus\": [true, true], \"interconnect\": {\"kind\": "
                        "\"hexagonal\"}, \"energy_pj\": {\"router\": 1, \"link\": 2, \"diagonal\": 3, \"die_to_die\": 9}}");
  static const uint32_t to[] = {6, 2, 1, 4, 8, 9};
  static const double pj[] = {9, 9, 2, 2, 3, 2};
  const cm_interconnect *net = chip->interconnect;
  ck_assert_uint_eq(net->link_count, 16 * 6);
  for (size_t i = 0; i < 6; i++) {
    int64_t link = cm_interconnect_link(net, 5, to[i]);
    ck_assert_int_ge(link, 0);
    ck_assert_double_eq(net->link[link].energy_pj, pj[i]);
    ck_assert_uint_eq(net->link[net->link[link].twin].to, 5);
  }
  ck_assert_int_eq(cm_interconnect_link(net, 5, 0), CM_NO_LINK); /* north-west and south-east are no links */
  ck_assert_int_eq(cm_interconnect_link(net, 5, 10), CM_NO_LINK);
  cm_chip_free(chip);
  /* A million cores behind 65536 routers: no table, and answers all the same. */
  chip = chip_parsed("{\"name\": \"m\", \"cores\": [1024, 1024], \"cores_per_router\": [4, 4], \"torus\": [true, true], "
               "\"interconnect\": {\"kind\": \"hexagonal\"}}");
  ck_ok(cm_interconnect_prepare(chip->interconnect, &error));
  ck_assert_ptr_null(atomic_load(&chip->interconnect->way));
  ck_assert_uint_eq(cm_interconnect_hops(chip->interconnect, 0, 100 * 256 + 256 - 100), 100); /* south-west all the way */
  ck_assert_uint_eq(cm_interconnect_hops(chip->interconnect, 0, 100 * 256 + 100), 156); /* east and, round the torus, north */
  cm_chip_free(chip);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("chip");
  TCase *tests = tcase_create("chip");
  tcase_add_test(tests, presets_open_and_round_trip);
  tcase_add_test(tests, a_chip_file_says_everything);
  tcase_add_test(tests, bad_chip_files_are_refused_with_their_place);
  tcase_add_test(tests, distances_by_hand);
  tcase_add_test(tests, distances_are_those_of_the_router_graph);
  tcase_add_test(tests, ways_are_those_of_the_links);
  tcase_add_test(tests, hexagonal_links_by_hand);
  add_chip_refusals(tests);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
