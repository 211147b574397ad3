/* Choosing routes: flows, their first trees, rounds that move them off full links, the check against deadlock, tables.
 *
 * Under an adaptive rule two quadrants leave the shape of a tree open. Round by round every flow is taken out of the
 * loads and put back with the shapes that cost least, a link costing what the fourth power of its load grows by: full
 * links repel. The best round counts. Everything is in order of flows on one thread.
 *
 * What can fail: memory, a stop, dead links that cut a target off. */
#include "core/routing/routes.h"

#include <math.h>

#include "core/chip/dependency.h"
#include "core/mapping/options.h"
#include "core/routing/tables.h"
#include "core/routing/widen.h"

enum { ROUNDS_MAX = 6, CHECK_EVERY = 1024, WIDENINGS_MAX = 24 };
/* Links that all rounds together may look at, and above which only the two plain shapes are tried. */
static const double STEPS_MAX = 6e9, LINKS_FOR_ALL_SHAPES = 3e7;

/* ---- loads ---- */

typedef struct chooser {
  cm_routes *r;
  cm_run *run;
  cm_walker walker;
  double most; /* highest load when the round began: costs are in its units */
} chooser;

/* Makes room for the loads of a tree that leaves the rows in use: around dead links. */
static cm_status cover(chooser *c, cm_tree tree, cm_error *error)
{
  cm_routes *r = c->r;
  uint32_t low = r->first_router, high = low + r->router_count, columns = cm_chip_routers_x(r->chip);
  for (size_t i = 0; i < tree.count; i++) {
    uint32_t row = tree.node[i].router / columns * columns;
    low = row < low ? row : low;
    high = row + columns > high ? row + columns : high;
  }
  if (high - low == r->router_count)
    return CM_OK;
  uint64_t *more;
  CM_TRY(CM_NEW(c->run->memory, more, (size_t)(high - low) * CM_DIRECTIONS, error));
  memcpy(more + (size_t)(r->first_router - low) * CM_DIRECTIONS, r->load,
         (size_t)r->router_count * CM_DIRECTIONS * sizeof *more);
  cm_free(r->load);
  r->load = more;
  r->first_router = low;
  r->router_count = high - low;
  return CM_OK;
}

static cm_status walk(chooser *c, uint32_t flow, unsigned shapes, cm_tree *tree, cm_error *error)
{
  cm_status status = cm_walk_flow(&c->walker, flow, shapes, tree, error);
  return status == CM_OK && c->r->chip->dead_link_count > 0 ? cover(c, *tree, error) : status;
}

static uint64_t *load_of(const cm_routes *r, uint32_t router, unsigned out)
{
  return &r->load[(size_t)(router - r->first_router) * CM_DIRECTIONS + (unsigned)__builtin_ctz(out)];
}

/* Adds `weight` (or takes it off, as unsigned numbers may) on every link of a tree. */
static uint64_t put(chooser *c, cm_tree tree, uint64_t weight)
{
  for (size_t i = 0; i < tree.count; i++)
    for (unsigned out = tree.node[i].out; out != 0; out &= out - 1)
      *load_of(c->r, tree.node[i].router, out) += weight;
  return tree.count - 1;
}

static double fourth_power(double x)
{
  return x * x * x * x;
}

/* What a tree adds to the sum of the fourth powers of all loads. */
static double cost(const chooser *c, cm_tree tree, uint64_t weight)
{
  double sum = 0;
  for (size_t i = 0; i < tree.count; i++)
    for (unsigned out = tree.node[i].out; out != 0; out &= out - 1) {
      double load = (double)*load_of(c->r, tree.node[i].router, out);
      sum += fourth_power((load + (double)weight) / c->most) - fourth_power(load / c->most);
    }
  return sum;
}

static uint64_t highest(const chooser *c)
{
  uint64_t most = 0;
  for (size_t i = 0; i < (size_t)c->r->router_count * CM_DIRECTIONS; i++)
    most = c->r->load[i] > most ? c->r->load[i] : most;
  return most;
}

/* Loads with the present shapes. */
static cm_status load_all(chooser *c, cm_error *error)
{
  cm_tree tree;
  c->r->links = 0;
  memset(c->r->load, 0, (size_t)c->r->router_count * CM_DIRECTIONS * sizeof *c->r->load);
  for (uint32_t f = 0; f < c->r->flow_count; f++) {
    if (walk(c, f, c->r->shapes[f], &tree, error) != CM_OK ||
        (f % CHECK_EVERY == 0 && cm_run_check(c->run, error) != CM_OK))
      return error->status;
    c->r->links += put(c, tree, c->r->weight[f]);
  }
  return CM_OK;
}

/* Takes a flow out and puts it back at the least cost. */
static cm_status reroute(chooser *c, uint32_t flow, unsigned open_count, unsigned shapes_tried, cm_error *error)
{
  cm_routes *r = c->r;
  uint64_t weight = r->weight[flow];
  cm_tree tree;
  CM_TRY(walk(c, flow, r->shapes[flow], &tree, error));
  (void)put(c, tree, UINT64_C(0) - weight);
  unsigned best = r->shapes[flow];
  double least = cost(c, tree, weight);
  for (unsigned q = 0; q < open_count; q++) {
    unsigned field = (unsigned)(CM_SHAPES - 1) << (CM_SHAPE_BITS * q), kept = best & ~field;
    for (unsigned s = 0; s < shapes_tried; s++) {
      unsigned shapes = kept | s << (CM_SHAPE_BITS * q);
      if (shapes == best)
        continue;
      CM_TRY(walk(c, flow, shapes, &tree, error));
      double here = cost(c, tree, weight);
      if (here < least) {
        least = here;
        best = shapes;
      }
    }
  }
  r->shapes[flow] = (uint8_t)best;
  CM_TRY(walk(c, flow, best, &tree, error));
  (void)put(c, tree, weight);
  return CM_OK;
}

/* Rounds of rerouting while the fullest link carries less and less. */
static cm_status balance(chooser *c, cm_error *error)
{
  cm_routes *r = c->r;
  unsigned open[2], open_count = cm_tracer_open_quadrants(c->walker.tracer, open);
  if (open_count == 0 || r->load_max_before == 0 || r->needed != NULL) /* wider keys share entries where their trees are alike */
    return CM_OK;
  unsigned tried = (double)r->links > LINKS_FOR_ALL_SHAPES ? 2 : CM_SHAPES;
  double rounds = floor(STEPS_MAX / ((double)r->links * (2 + tried * open_count) + 1));
  uint32_t rounds_max = rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds < 1 ? 1 : (uint32_t)rounds;
  uint8_t *best;
  CM_TRY(CM_NEW(c->run->memory, best, r->flow_count, error));
  uint64_t least = r->load_max_before;
  cm_status status = CM_OK;
  for (uint32_t round = 0; round < rounds_max && status == CM_OK; round++) {
    c->most = (double)highest(c);
    for (uint32_t f = 0; f < r->flow_count && status == CM_OK; f++) {
      status = reroute(c, f, open_count, tried, error);
      if (status == CM_OK && f % CHECK_EVERY == 0)
        status = cm_run_progress(c->run, ((double)round + (double)f / r->flow_count) / rounds_max, -1, r->flow_count,
                                 c->most / r->unit, error);
    }
    uint64_t most = highest(c);
    if (status != CM_OK || most >= least)
      break;
    least = most;
    memcpy(best, r->shapes, r->flow_count * sizeof *best);
  }
  memcpy(r->shapes, best, r->flow_count * sizeof *best);
  cm_free(best);
  return status == CM_OK ? load_all(c, error) : status;
}

/* ---- deadlock ---- */

static cm_status check_deadlock(chooser *c, cm_error *error)
{
  cm_routes *r = c->r;
  cm_dependencies graph;
  cm_tree tree;
  cm_status status = cm_dependencies_new(r->chip, c->run->memory, &graph, error);
  CM_TRY(status);
  double traffic = 0;
  for (uint32_t f = 0; f < r->flow_count && status == CM_OK; f++) {
    status = cm_walk_flow(&c->walker, f, r->shapes[f], &tree, error);
    if (status == CM_OK) {
      cm_dependencies_add_tree(&graph, r->chip, &tree);
      traffic += (double)r->weight[f] * (double)(tree.count - 1);
      status = f % CHECK_EVERY == 0 ? cm_run_check(c->run, error) : CM_OK;
    }
  }
  CM_THEN(status, cm_dependencies_check(&graph, c->run->memory, error));
  cm_dependencies_count(&graph, &r->channels, &r->dependencies);
  r->traffic = traffic / r->unit;
  cm_dependencies_free(&graph);
  return status;
}

/* ---- tables ---- */

static cm_status count_entry(void *user, const cm_table_entry *entry, CM_UNUSED cm_error *error)
{
  cm_routes *r = user;
  r->entries[entry->router - r->first_router]++;
  r->entries_total++;
  return CM_OK;
}

static cm_status count_tables(chooser *c, cm_error *error)
{
  cm_routes *r = c->r;
  if (!r->multicast)
    return CM_OK;
  if (r->chip->table_entries != 0)
    return cm_tables_fit(r, c->run, error);
  CM_TRY(CM_NEW(c->run->memory, r->entries, r->router_count, error));
  CM_TRY(cm_tables_walk(r, c->run, count_entry, r, error));
  for (uint32_t i = 0; i < r->router_count; i++)
    r->fullest = r->entries[i] > cm_routes_entries(r, r->fullest) ? r->first_router + i : r->fullest;
  return CM_OK;
}

/* Refuses flows that are longer together than allowed: trees can only be shorter. */
static cm_status check_length(const cm_routes *r, uint64_t links_max, cm_error *error)
{
  uint64_t links = 0;
  const uint32_t *core = r->core;
  for (uint32_t f = 0; links_max != 0 && f < r->flow_count; f++)
    for (uint64_t i = r->first[f]; i < r->first[f + 1]; i++)
      links += cm_chip_distance(r->chip, core[r->source[f]], core[r->target[i]]);
  return links <= links_max
             ? CM_OK
             : cm_fail(error, CM_TOO_LARGE,
                       "routes of %llu links are made only when option routing names a rule; at most %llu are made "
                       "unasked",
                       (unsigned long long)links, (unsigned long long)links_max);
}

/* Rows of routers that trees use where no dead link sends them round. */
static cm_status find_rows(cm_routes *r, cm_memory *memory, cm_error *error)
{
  cm_window w;
  CM_TRY(cm_window_around(r->chip, r->core, r->parts, memory, &w, error));
  bool all = w.y0 + w.height > w.routers_y;
  r->first_router = all ? 0 : w.y0 * w.routers_x;
  r->router_count = (all ? w.routers_y : w.height) * w.routers_x;
  return CM_OK;
}

static cm_status lay_ways(chooser *c, cm_error *error)
{
  cm_routes *r = c->r;
  r->router_count = cm_chip_routers(r->chip);
  CM_TRY(CM_NEW(c->run->memory, r->load, cm_chip_links(r->chip), error));
  CM_TRY(cm_words_new(c->run->memory, &r->words, error));
  CM_TRY(cm_walker_new(r, c->run->memory, &c->walker, error));
  return cm_routes_ways(r, &c->walker, c->run, error);
}

static cm_status lay_turns(chooser *c, cm_error *error)
{
  cm_routes *r = c->r;
  CM_TRY(find_rows(r, c->run->memory, error));
  CM_TRY(CM_NEW(c->run->memory, r->load, (size_t)r->router_count * CM_DIRECTIONS, error));
  CM_TRY(cm_walker_new(r, c->run->memory, &c->walker, error));
  CM_TRY(load_all(c, error));
  r->load_max_before = highest(c);
  CM_TRY(balance(c, error));
  r->load_max = highest(c);
  return check_deadlock(c, error);
}

/* Routes over turns of a mesh, and over ways of an interconnect. */
static const struct {
  cm_status (*lay)(chooser *c, cm_error *error); /* trees, and the proof that they cannot deadlock */
  bool has_rules; /* to choose from */
} forms[CM_GEOMETRIES] = {{lay_turns, true}, {lay_ways, false}};

static cm_status lay(chooser *c, cm_error *error)
{
  cm_status status = forms[cm_geometry_of(c->r->chip)].lay(c, error);
  return status == CM_OK ? count_tables(c, error) : status;
}

/* Leaves nothing but the flows. */
static void take_up(chooser *c, unsigned key_bits)
{
  cm_routes *r = c->r;
  cm_walker_free(&c->walker);
  cm_words_free(r->words);
  r->words = NULL;
  void **made[] = {(void **)&r->load,        (void **)&r->entries, (void **)&r->key_block,   (void **)&r->table,
                   (void **)&r->table_first, (void **)&r->rehung,  (void **)&r->rehung_first};
  for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
    cm_free(*made[i]);
    *made[i] = NULL;
  }
  memset(r->shapes, 0, r->flow_count * sizeof *r->shapes);
  r->key_bits = key_bits;
  r->fullest = 0;
}

static cm_status make(chooser *c, uint64_t links_max, cm_error *error)
{
  cm_routes *r = c->r;
  CM_TRY(cm_routes_flows(r, c->run, error));
  CM_TRY(check_length(r, links_max, error));
  unsigned key_bits = r->key_bits;
  cm_status status = lay(c, error);
  for (uint32_t round = 0; status == CM_LIMIT_BROKEN && r->hasty && round < WIDENINGS_MAX; round++) {
    bool wider;
    cm_error other;
    status = cm_routes_widen(r, &c->walker, round, c->run, &wider, &other);
    if (status == CM_OK && !wider)
      return CM_LIMIT_BROKEN;
    if (status != CM_OK) {
      *error = other;
      return status;
    }
    take_up(c, key_bits);
    status = lay(c, error);
  }
  return status;
}

cm_route_options cm_routes_wanted(const cm_map_options *options, const cm_chip *chip, bool *own)
{
  *own = options->routing != CM_ROUTES_AUTO;
  cm_turn_rule theirs = chip->routing == CM_ROUTING_XY ? CM_TURNS_XY : CM_TURNS_YX;
  return (cm_route_options){.rule = *own ? (cm_turn_rule)(options->routing - 1) : theirs,
                            .multicast = options->route_model == CM_ROUTES_MULTICAST && chip->limits.neuron_target_cores == 0,
                            .other_rule = !*own};
}

/* Makes them under one rule; with exact keys only unless `hasty`. */
static cm_status make_under(const cm_mapped *mapped, const cm_route_options *options, bool hasty, cm_run *run, cm_routes **routes,
                            cm_error *error)
{
  const cm_topology *topology = mapped->demand->network;
  chooser c = {.run = run};
  CM_TRY(CM_NEW(run->memory, c.r, 1, error));
  *c.r = (cm_routes){.demand = mapped->demand, .chip = mapped->chip, .part = mapped->part, .parts = mapped->parts, .core = mapped->core,
                     .rule = options->rule,
                     .multicast = options->multicast && topology->directed, .hasty = hasty,
                     .unit = (double)topology->weight_scale * (topology->directed ? 1 : 2)};
  cm_status status = make(&c, options->links_max, error);
  cm_walker_free(&c.walker);
  CM_END(status, *routes = c.r, cm_routes_free(c.r));
}

/* Under the rule of the options, or the other one. */
static cm_status make_either(const cm_mapped *mapped, const cm_route_options *options, bool hasty, cm_run *run, cm_routes **routes,
                             cm_error *error)
{
  cm_status status = make_under(mapped, options, hasty, run, routes, error);
  if (status != CM_LIMIT_BROKEN || !forms[cm_geometry_of(mapped->chip)].has_rules || !options->other_rule || options->rule > CM_TURNS_YX)
    return status;
  cm_route_options other = *options;
  cm_error ignored;
  other.rule = options->rule == CM_TURNS_XY ? CM_TURNS_YX : CM_TURNS_XY;
  cm_status second = make_under(mapped, &other, hasty, run, routes, &ignored);
  if (second == CM_OK || second == CM_LIMIT_BROKEN || second == CM_NO_ROUTE)
    return second == CM_OK ? CM_OK : status;
  *error = ignored;
  return second;
}

cm_status cm_routes_make(const cm_mapped *mapped, const cm_route_options *options, cm_run *run, cm_routes **routes,
                         cm_error *error)
{
  const cm_chip *chip = mapped->chip;
  cm_run_phase(run, "routes");
  CM_TRY(cm_interconnect_prepare(chip->interconnect, error));
  if (options->multicast && mapped->demand->network->directed && (uint64_t)chip->router_x * chip->router_y > CM_LOCAL_CORES_MAX)
    return cm_fail(error, CM_TOO_LARGE, "routing tables know at most %d cores behind one router; this chip has %u x %u",
                   CM_LOCAL_CORES_MAX, chip->router_x, chip->router_y);
  cm_status status = options->keys == CM_KEYS_WIDE ? cm_fail(error, CM_LIMIT_BROKEN, "tables do not fit with wider keys either")
                                                   : make_either(mapped, options, false, run, routes, error);
  if (status != CM_LIMIT_BROKEN || options->keys == CM_KEYS_EXACT)
    return status;
  cm_error ignored; /* what the exact tables need is what would be right */
  cm_status wider = make_either(mapped, options, true, run, routes, &ignored);
  if (wider != CM_OK && wider != CM_LIMIT_BROKEN && wider != CM_NO_ROUTE)
    *error = ignored;
  return wider == CM_NO_ROUTE ? CM_LIMIT_BROKEN : wider;
}

void cm_routes_free(cm_routes *routes)
{
  if (routes == NULL)
    return;
  CM_FREE(routes->first, routes->target, routes->needed, routes->source, routes->net, routes->weight, routes->shapes,
          routes->part_first, routes->load, routes->entries, routes->key_block, routes->table, routes->table_first,
          routes->rehung, routes->rehung_first);
  cm_words_free(routes->words);
  cm_free(routes);
}
