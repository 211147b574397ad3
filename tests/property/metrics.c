/* core/measure against the definitions written down naively: every packet of every net is walked over the chip
 * step by step, probabilities by their recurrence, trees as sets of links. */
#include "../unit/networks.h"

#include <math.h>

#include "core/measure/measure.h"
#include "core/verify/check_measure.h"

enum { ROUTERS_MAX = 1024, PARTS_MAX = 64 };

static cm_error error;

typedef struct truth {
  cm_metrics m;
  double congestion[ROUTERS_MAX], link[ROUTERS_MAX * 4], tree_link[ROUTERS_MAX * 4];
  double hold_ns[ROUTERS_MAX * 4]; /* of a packet on a link */
  double cast[PARTS_MAX];          /* packets that leave a part once, whatever their targets */
  cm_core_load core[PARTS_MAX];
  double latency_sum;
} truth;

/* Next coordinate one step in a direction (+1, -1) of a ring or line. */
static int walk(int at, int way, int size)
{
  return (at + way + size) % size;
}

/* Steps with sign from a to b, by counting both ways. */
static int steps(int a, int b, int size, bool torus)
{
  if (!torus)
    return b - a;
  int east = 0, west = 0;
  for (int at = a; at != b; at = walk(at, 1, size))
    east++;
  for (int at = a; at != b; at = walk(at, -1, size))
    west++;
  return east <= west ? east : -west;
}

static void router_of(const cm_chip *chip, uint32_t core, int *x, int *y)
{
  *x = (int)(core % chip->width / chip->router_x);
  *y = (int)(core / chip->width / chip->router_y);
}

/* One packet: energy, latency, links under the chip's routing (marked in `tree` when given), congestion. */
static void packet(const cm_chip *chip, uint32_t from, uint32_t to, double w, truth *t, bool *tree)
{
  int x, y, tx, ty, rx = (int)cm_chip_routers_x(chip), ry = (int)cm_chip_routers_y(chip);
  router_of(chip, from, &x, &y);
  router_of(chip, to, &tx, &ty);
  int dx = steps(x, tx, rx, chip->torus_x), dy = steps(y, ty, ry, chip->torus_y);
  double energy = chip->energy_pj.router, latency = chip->latency_ns.router;
  int at[2] = {x, y}, left[2] = {dx, dy}, size[2] = {rx, ry};
  uint32_t die[2] = {chip->die_width / chip->router_x, chip->die_height / chip->router_y};
  for (int turn = 0; turn < 2; turn++) {
    int axis = chip->routing == CM_ROUTING_XY ? turn : 1 - turn;
    while (left[axis] != 0) {
      int way = left[axis] > 0 ? 1 : -1, next = walk(at[axis], way, size[axis]);
      int direction = axis == 0 ? (way > 0 ? CM_EAST : CM_WEST) : way > 0 ? CM_SOUTH : CM_NORTH;
      t->link[(at[1] * rx + at[0]) * 4 + direction] += w;
      if (tree != NULL)
        tree[(at[1] * rx + at[0]) * 4 + direction] = true;
      bool dies = (axis == 0 ? chip->dies_x : chip->dies_y) > 1 &&
                  ((uint32_t)at[axis] / die[axis] != (uint32_t)next / die[axis]);
      const cm_hop_cost *e = &chip->energy_pj, *l = &chip->latency_ns;
      energy += e->router + (dies ? e->die_to_die : axis == 0 ? e->east_west : e->north_south);
      t->hold_ns[(at[1] * rx + at[0]) * 4 + direction] = dies ? l->die_to_die : axis == 0 ? l->east_west : l->north_south;
      latency += l->router + (dies ? l->die_to_die : axis == 0 ? l->east_west : l->north_south);
      at[axis] = next;
      left[axis] -= way;
    }
  }
  int d = abs(dx) + abs(dy);
  t->m.energy_pj += w * energy;
  t->latency_sum += w * latency;
  t->m.latency_max_ns = fmax(t->m.latency_max_ns, latency);
  t->m.hop_traffic += w * d;
  t->m.connectivity += w;
  t->m.congestion_mean += w * (d + 1) / cm_chip_cores(chip);
  /* tau by the rule itself. */
  double p[64][64] = {{0}};
  p[0][0] = 1;
  for (int j = 0; j <= abs(dy); j++)
    for (int i = 0; i <= abs(dx); i++) {
      int px = ((x + (dx < 0 ? -i : i)) % rx + rx) % rx, py = ((y + (dy < 0 ? -j : j)) % ry + ry) % ry;
      t->congestion[py * rx + px] += w * p[j][i];
      bool both = i < abs(dx) && j < abs(dy);
      if (i < abs(dx))
        p[j][i + 1] += both ? p[j][i] / 2 : p[j][i];
      if (j < abs(dy))
        p[j + 1][i] += both ? p[j][i] / 2 : p[j][i];
    }
}

/* What one packet pays on the link that leaves router r. */
static double link_energy(const cm_chip *chip, uint32_t r, int direction)
{
  int rx = (int)cm_chip_routers_x(chip), ry = (int)cm_chip_routers_y(chip), x = (int)r % rx, y = (int)r / rx;
  bool along_x = direction == CM_EAST || direction == CM_WEST;
  int way = direction == CM_EAST || direction == CM_SOUTH ? 1 : -1;
  int at = along_x ? x : y, next = walk(at, way, along_x ? rx : ry);
  uint32_t die = along_x ? chip->die_width / chip->router_x : chip->die_height / chip->router_y;
  bool dies = (along_x ? chip->dies_x : chip->dies_y) > 1 && (uint32_t)at / die != (uint32_t)next / die;
  const cm_hop_cost *e = &chip->energy_pj;
  return dies ? e->die_to_die : along_x ? e->east_west : e->north_south;
}

static void brute_force(const cm_topology *n, const cm_chip *chip, const uint32_t *part, uint32_t parts,
                        const uint32_t *core, truth *t)
{
  memset(t, 0, sizeof *t);
  double unit = (double)n->weight_scale;
  static bool reaches[512][PARTS_MAX], part_reaches[PARTS_MAX][PARTS_MAX];
  memset(reaches, 0, sizeof reaches);
  memset(part_reaches, 0, sizeof part_reaches);
  for (uint32_t e = 0; e < n->net_count; e++) {
    uint32_t source = cm_topology_source(n, e), s = part[source];
    bool in[PARTS_MAX] = {false}, tree[ROUTERS_MAX * 4] = {false}, cut = false;
    for (uint64_t i = n->net_first[e]; i < n->net_first[e + 1]; i++) {
      uint32_t p = part[n->pin[i]];
      double weight = (double)cm_topology_pin_weight(n, e, i) / unit;
      t->core[p].synapses++;
      reaches[source][p] = part_reaches[s][p] = in[p] = true;
      if (p == s)
        continue;
      t->m.edge_cut += n->directed ? weight : weight / 2;
      t->m.weighted_hops += (n->directed ? weight : weight / 2) * cm_chip_distance(chip, core[s], core[p]);
      if (!n->directed) {
        packet(chip, core[s], core[p], weight / 2, t, NULL);
        t->core[p].traffic_in += weight / 2;
        t->core[s].traffic_out += weight / 2;
      }
    }
    if (!n->directed)
      continue;
    double w = (double)n->net_weight[e] / unit;
    for (uint32_t p = 0; p < parts; p++)
      if (in[p] && p != s) {
        cut = true;
        packet(chip, core[s], core[p], w, t, tree);
        t->core[p].traffic_in += w;
        t->core[s].traffic_out += w;
      }
    t->m.cut_net += cut ? w : 0;
    t->cast[s] += cut ? w : 0;
    t->m.multicast_energy_pj += cut ? w * chip->energy_pj.router : 0;
    for (uint32_t l = 0; l < ROUTERS_MAX * 4; l++)
      if (tree[l]) {
        t->m.multicast_hops += w;
        t->m.multicast_energy_pj += w * (chip->energy_pj.router + link_energy(chip, l / 4, (int)(l % 4)));
        t->tree_link[l] += w;
      }
  }
  if (!n->directed) {
    t->m.cut_net = t->m.edge_cut;
    t->m.multicast_hops = t->m.hop_traffic;
    t->m.multicast_energy_pj = t->m.energy_pj;
  }
  t->m.latency_mean_ns = t->m.connectivity > 0 ? t->latency_sum / t->m.connectivity : 0;
  uint32_t count[PARTS_MAX] = {0};
  for (uint32_t v = 0; v < n->vertex_count; v++) {
    count[part[v]]++;
    t->core[part[v]].neurons += cm_topology_size(n, v);
    for (uint32_t p = 0; p < parts; p++) {
      t->core[p].inbound_axons += reaches[v][p];
      t->core[part[v]].outbound_axons += reaches[v][p] && p != part[v];
    }
  }
  double total = 0, reuse = 0;
  for (uint32_t p = 0; p < parts; p++) {
    for (uint32_t q = 0; q < parts; q++)
      t->core[p].target_cores += part_reaches[p][q] && p != q;
    t->m.cores_used += count[p] > 0;
    total += (double)t->core[p].neurons;
    reuse += t->core[p].inbound_axons ? (double)t->core[p].synapses / (double)t->core[p].inbound_axons : 0;
#define MOST(field, value) if (t->m.field < t->core[p].value) t->m.field = t->core[p].value
    MOST(largest_part, neurons);
    MOST(most_synapses, synapses);
    MOST(most_inbound_axons, inbound_axons);
    MOST(most_outbound_axons, outbound_axons);
    MOST(most_target_cores, target_cores);
  }
  t->m.synaptic_reuse_mean = reuse / t->m.cores_used;
  t->m.imbalance = (double)t->m.largest_part / (total / t->m.cores_used) - 1;
  double links = 0, sum = 0;
  int rx = (int)cm_chip_routers_x(chip), ry = (int)cm_chip_routers_y(chip);
  for (int r = 0; r < rx * ry; r++) {
    t->m.congestion_max = fmax(t->m.congestion_max, t->congestion[r]);
    links += (r % rx + 1 < rx) + (r % rx > 0) + (r / rx + 1 < ry) + (r / rx > 0);
    if (chip->torus_x && rx > 1)
      links += (r % rx == 0) + (r % rx + 1 == rx);
    if (chip->torus_y && ry > 1)
      links += (r / rx == 0) + (r / rx + 1 == ry);
    for (int d = 0; d < 4; d++) {
      sum += t->link[r * 4 + d];
      t->m.link_load_max = fmax(t->m.link_load_max, t->link[r * 4 + d]);
      t->m.multicast_link_load_max =
          fmax(t->m.multicast_link_load_max, (n->directed ? t->tree_link : t->link)[r * 4 + d]);
    }
  }
  for (uint32_t p = 0; p < parts; p++) {
    double cast = n->directed ? t->cast[p] : t->core[p].traffic_out, in = t->core[p].traffic_in;
    t->m.port_load_max = fmax(t->m.port_load_max, fmax(in, t->core[p].traffic_out));
    t->m.multicast_port_load_max = fmax(t->m.multicast_port_load_max, fmax(in, cast));
  }
  double port = chip->costs.port_packets_per_ns, link = chip->costs.link_packets_per_ns;
  double busy = t->m.port_load_max * (port > 0 ? 1 / port : chip->latency_ns.router);
  for (int l = 0; l < ROUTERS_MAX * 4; l++)
    busy = fmax(busy, t->link[l] * (link > 0 ? 1 / link : t->hold_ns[l]));
  t->m.saturation_load = busy > 0 ? 1 / busy : 0;
  t->m.link_load_max = fmax(t->m.link_load_max, t->m.port_load_max);
  t->m.multicast_link_load_max = fmax(t->m.multicast_link_load_max, t->m.multicast_port_load_max);
  t->m.multicast_link_load_mean = links > 0 ? t->m.multicast_hops / links : 0;
  t->m.link_load_mean = links > 0 ? sum / links : 0;
}

static void same(double a, double b, const char *what, int round)
{
  ck_assert_msg(isfinite(a) && fabs(a - b) <= 1e-9 * fmax(1, fabs(b)), "round %d: %s %.12g instead of %.12g", round,
                what, a, b);
}

/* Totals and loads against those of the walk. */
static void agree(const cm_metrics *m, const cm_core_load *core, uint32_t parts, const truth *t, int round)
{
#define SAME(field) same(m->field, t->m.field, #field, round)
  SAME(energy_pj); SAME(latency_mean_ns); SAME(latency_max_ns); SAME(congestion_mean); SAME(congestion_max);
  SAME(link_load_mean); SAME(link_load_max); SAME(hop_traffic); SAME(weighted_hops); SAME(multicast_hops);
  SAME(multicast_energy_pj); SAME(multicast_link_load_mean); SAME(multicast_link_load_max);
  SAME(connectivity); SAME(cut_net); SAME(edge_cut); SAME(synaptic_reuse_mean); SAME(imbalance);
  SAME(port_load_max); SAME(multicast_port_load_max); SAME(saturation_load);
  ck_assert_uint_eq(m->cores_used, t->m.cores_used);
  ck_assert_mem_eq(&m->largest_part, &t->m.largest_part, 5 * sizeof m->largest_part);
  for (uint32_t p = 0; p < parts; p++) {
    ck_assert_mem_eq(&core[p], &t->core[p], 5 * sizeof(uint64_t));
    same(core[p].traffic_in, t->core[p].traffic_in, "traffic in", round);
    same(core[p].traffic_out, t->core[p].traffic_out, "traffic out", round);
  }
}

static cm_chip *random_chip(cm_random *random)
{
  char text[600];
  uint32_t bx = 1 + below(random, 2), by = 1 + below(random, 2), dx = 1 + below(random, 3), dy = 1 + below(random, 2);
  snprintf(text, sizeof text,
           "{\"name\": \"r\", \"dies\": [%u, %u], \"cores\": [%u, %u], \"cores_per_router\": [%u, %u],"
           "\"torus\": [%s, %s], \"routing\": \"%s\","
           "\"energy_pj\": {\"router\": 1.7, \"east_west\": 3, \"north_south\": 4.2, \"die_to_die\": 11},"
           "\"latency_ns\": {\"router\": 2.1, \"east_west\": 4.1, \"north_south\": 6.5, \"die_to_die\": 20}%s}",
           dx, dy, bx * (1 + below(random, 7)), by * (1 + below(random, 7)), bx, by,
           below(random, 2) ? "true" : "false", below(random, 2) ? "true" : "false", below(random, 2) ? "xy" : "yx",
           below(random, 2) ? "" : ", \"costs\": {\"packets_per_ns\": {\"port\": 0.5, \"link\": 0.25}}");
  cm_chip *chip;
  ck_ok(cm_chip_parse(text, strlen(text), &chip, &error));
  return chip;
}

START_TEST(metrics_agree_with_a_walk_of_every_packet)
{
  cm_random random;
  cm_random_init(&random, 17, 0, 0);
  for (int round = 0; round < 400; round++) {
    cm_chip *chip = random_chip(&random);
    uint32_t cores = cm_chip_cores(chip), parts = 1 + below(&random, cores < PARTS_MAX ? cores : PARTS_MAX);
    uint32_t vertices = parts + below(&random, 60), order[2048], part[512];
    ck_assert_uint_le(cores, 2048);
    cm_topology n = round % 3 ? network_directed(&random, vertices, 1 + below(&random, 60))
                              : network_undirected(&random, vertices, 1 + below(&random, 30));
    cm_random_permutation(&random, order, cores);
    for (uint32_t v = 0; v < vertices; v++)
      part[v] = v < parts ? v : below(&random, parts);
    static truth t;
    brute_force(&n, chip, part, parts, order, &t);
    cm_metrics m, again;
    cm_metrics_detail d, e;
    cm_run run;
    cm_run_init(&run);
    cm_memory memory;
    cm_memory_init(&memory, 0);
    run.memory = &memory;
    ck_ok(cm_metrics_compute(&(cm_mapped){CM_DEMAND_OF(&n), chip, part, parts, order, NULL}, &run, &m, &d, &error));
    agree(&m, d.core, parts, &t, round);
    uint32_t routers_x = cm_chip_routers_x(chip), routers = routers_x * cm_chip_routers_y(chip);
    for (uint32_t c = 0; c < cores; c++)
      same(cm_congestion_at(&d, chip, c),
           t.congestion[c / chip->width / chip->router_y * routers_x + c % chip->width / chip->router_x],
           "congestion", round);
    for (uint32_t l = 0; l < routers * 4; l++)
      same(cm_link_load_at(&d, l / 4 % routers_x, l / 4 / routers_x, (cm_direction)(l % 4)), t.link[l], "link load", round);
    /* The figures of `coremap check`, which come from code of their own. */
    cm_check_truth checked;
    ck_ok(cm_check_measure(&(cm_mapped){CM_DEMAND_OF(&n), chip, part, parts, order, NULL}, &run, &checked, &error));
    agree(&checked.metrics, checked.core, parts, &t, round);
    cm_free(checked.core);
    /* The same bits on any number of threads. */
    run.threads = 2 + (unsigned)(round % 7);
    ck_ok(cm_metrics_compute(&(cm_mapped){CM_DEMAND_OF(&n), chip, part, parts, order, NULL}, &run, &again, &e, &error));
    ck_assert_mem_eq(&m, &again, sizeof m);
    size_t window = cm_window_size(&d.window);
    ck_assert_uint_eq(window, cm_window_size(&e.window));
    ck_assert_mem_eq(d.congestion, e.congestion, window * sizeof *d.congestion);
    ck_assert_mem_eq(d.link_load, e.link_load, window * 4 * sizeof *d.link_load);
    ck_assert_mem_eq(d.core, e.core, parts * sizeof *d.core);
    cm_metrics_detail_free(&d);
    cm_metrics_detail_free(&e);
    ck_assert_uint_eq(memory.used_bytes, 0);
    network_free(&n);
    cm_chip_free(chip);
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("metrics, property");
  TCase *tests = tcase_create("metrics");
  tcase_add_test(tests, metrics_agree_with_a_walk_of_every_packet);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
