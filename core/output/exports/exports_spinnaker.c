/* SpiNNaker: files of PACMAN, its mapper, and tables as its routers are loaded. PACMAN's: where vertices are (chip x, y and processor p), which keys their neurons send, and routing tables by
 * its file schemas. SpiNNaker's y grows north. Processor 0 of a chip is its monitor's, so cores begin at 1. */
#include <inttypes.h>

#include "base/json.h"
#include "core/chip/interconnect/path_trees.h"
#include "core/chip/turns.h"
#include "core/output/exports/writers.h"
#include "core/routing/tables.h"

enum { KEY_BITS = 32, PROCESSORS = 17 };

static uint32_t north(const cm_chip *chip, uint32_t router)
{
  return cm_chip_routers_y(chip) - 1 - router / cm_chip_routers_x(chip);
}

static uint64_t all_bits(const cm_routes *r)
{
  return r->key_bits == 0 ? 0 : UINT64_MAX >> (64 - r->key_bits);
}

static void put_placements(const cm_mapped *m, FILE *out)
{
  (void)fputs("{\"placements\": [\n", out);
  for (uint32_t p = 0; p < m->parts; p++) {
    uint32_t router = cm_router_of(m->chip, m->core[p]);
    (void)fprintf(out, "{\"vertex_label\": \"part%" PRIu32 "\", \"x\": %" PRIu32 ", \"y\": %" PRIu32 ", \"p\": %" PRIu32 "}%s\n", p,
                  router % cm_chip_routers_x(m->chip), north(m->chip, router), cm_core_behind(m->chip, m->core[p]) + 1,
                  p + 1 < m->parts ? "," : "");
  }
}

/* What the network calls the neurons of a part's keys, where it does. */
static void put_names(const cm_routes *r, uint32_t p, FILE *out)
{
  if (r->demand->network->label_text == NULL)
    return;
  (void)fputs(", \"names\": [", out);
  for (uint32_t f = r->part_first[p]; f < r->part_first[p + 1]; f++) {
    (void)fputs(f == r->part_first[p] ? "" : ",", out);
    cm_json_put_string(cm_topology_label(r->demand->network, cm_topology_source(r->demand->network, r->net[f])), out);
  }
  (void)fputc(']', out);
}

static void put_keys(const cm_mapped *m, const cm_routes *r, FILE *out)
{
  uint64_t all = all_bits(r);
  (void)fputs("], \"keys\": [\n", out);
  for (uint32_t p = 0; p < m->parts; p++) {
    (void)fprintf(out, "{\"vertex_label\": \"part%" PRIu32 "\", \"key\": %" PRIu64 ", \"mask\": %" PRIu64 ", \"neurons\": [", p,
                  cm_routes_key(r, p), all & ~((UINT64_C(1) << r->rank_bits) - 1));
    for (uint32_t f = r->part_first[p]; f < r->part_first[p + 1]; f++)
      (void)fprintf(out, "%s%" PRIu32, f == r->part_first[p] ? "" : ",", cm_topology_source(r->demand->network, r->net[f]));
    (void)fputc(']', out);
    put_names(r, p, out);
    (void)fprintf(out, "}%s\n", p + 1 < m->parts ? "," : "");
  }
}

/* Entries come part by part; they are gathered by router in two walks. */
typedef struct tables {
  const cm_routes *r;
  uint64_t *at; /* [routers + 1] */
  cm_table_entry *entry;
} tables;

static cm_status gather(void *user, const cm_table_entry *entry, cm_error *error)
{
  tables *t = user;
  (void)error;
  t->entry[t->at[entry->router - t->r->first_router]++] = *entry;
  return CM_OK;
}

/* SpiNNaker's numbers of links, those of hexagonal interconnects: east, north-east, north, west, south-west, south. */
enum { LINKS = 6 };

typedef struct ways_out {
  uint32_t links;  /* bit: link */
  uint64_t cores;  /* bit: core behind the router */
} ways_out;

static ways_out by_axes(const cm_routes *r, const cm_table_entry *e)
{
  static const unsigned number[CM_DIRECTIONS] = {[CM_EAST] = 0, [CM_NORTH] = 2, [CM_WEST] = 3, [CM_SOUTH] = 5};
  ways_out out = {.cores = e->word >> CM_DIRECTIONS};
  (void)r;
  for (int d = 0; d < CM_DIRECTIONS; d++)
    out.links |= (uint32_t)(e->word >> d & 1) << number[d];
  return out;
}

static ways_out by_ways(const cm_routes *r, const cm_table_entry *e)
{
  const cm_interconnect *net = r->chip->interconnect;
  const cm_word *word = &r->words->word[e->word];
  ways_out out = {.cores = word->cores};
  for (uint32_t i = 0; i < word->count; i++)
    out.links |= 1u << cm_interconnect_direction(net, net->first[e->router] + r->words->link[word->first + i]);
  return out;
}

static ways_out ways_of(const cm_routes *r, const cm_table_entry *e)
{
  static ways_out (*const of[CM_GEOMETRIES])(const cm_routes *, const cm_table_entry *) = {[CM_BY_AXES] = by_axes, [CM_BY_WAYS] = by_ways};
  return of[cm_geometry_of(r->chip)](r, e);
}

static void put_entry(const cm_routes *r, const cm_table_entry *e, uint64_t all, FILE *out)
{
  static const char *const links[LINKS] = {"east", "north_east", "north", "west", "south_west", "south"};
  ways_out ways = ways_of(r, e);
  bool first = true;
  (void)fprintf(out, "{\"key\": %" PRIu64 ", \"mask\": %" PRIu64 ", \"directions\": [", e->key, all & ~e->open);
  for (int d = 0; d < LINKS; d++)
    if (ways.links >> d & 1) {
      (void)fprintf(out, "%s\"%s\"", first ? "" : ", ", links[d]);
      first = false;
    }
  for (unsigned core = 0; core < PROCESSORS; core++)
    if (ways.cores >> core & 1) {
      (void)fprintf(out, "%s\"core%u\"", first ? "" : ", ", core + 1);
      first = false;
    }
  (void)fputs("]}", out);
}

static cm_status gather_tables(const cm_routes *r, cm_run *run, tables *t, cm_error *error)
{
  *t = (tables){.r = r};
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(t->at, (size_t)r->router_count + 1),
                                CM_ARRAY(t->entry, r->entries_total));
  for (uint32_t k = 0; status == CM_OK && k + 1 < r->router_count; k++)
    t->at[k + 1] = t->at[k] + r->entries[k];
  if (status == CM_OK && r->entries_total > 0)
    status = cm_tables_walk(r, run, gather, t, error);
  if (status != CM_OK) {
    CM_FREE(t->at, t->entry);
  }
  return status;
}

static cm_status put_tables(const cm_routes *r, cm_run *run, FILE *out, cm_error *error)
{
  tables t;
  uint64_t all = all_bits(r), i = 0;
  CM_TRY(gather_tables(r, run, &t, error));
  (void)fputs("], \"routing_tables\": [\n", out);
  bool lead = true;
  for (uint32_t k = 0; k < r->router_count; k++) {
    uint64_t end = t.at[k];
    uint32_t router = r->first_router + k;
    if (i == end)
      continue;
    (void)fprintf(out, "%s{\"chip\": [%" PRIu32 ", %" PRIu32 "], \"entries\": [", lead ? "" : ",\n",
                  router % cm_chip_routers_x(r->chip), north(r->chip, router));
    for (bool first = true; i < end; i++, first = false) {
      (void)fputs(first ? "" : ",\n", out);
      put_entry(r, &t.entry[i], all, out);
    }
    (void)fputs("]}", out);
    lead = false;
  }
  (void)fputs("\n]}\n", out);
  CM_FREE(t.at, t.entry);
  return CM_OK;
}

static void put_number(uint32_t value, unsigned bytes, FILE *out)
{
  for (unsigned i = 0; i < bytes; i++)
    (void)fputc((int)(value >> 8 * i & 0xff), out);
}

/* An rtr_entry_t of the system software: next, free, route, key, mask. Bits of the route: links east, north-east, north, west,
 * south-west, south, then processors from 0. */
static void put_loaded(const cm_routes *r, uint32_t number, const cm_table_entry *e, uint64_t all, FILE *out)
{
  ways_out ways = ways_of(r, e);
  uint32_t route = (uint32_t)ways.cores << (LINKS + 1) | ways.links; /* processor 0 is the monitor's */
  put_number(number, 2, out);
  put_number(0, 2, out);
  put_number(route, 4, out);
  put_number((uint32_t)e->key, 4, out);
  put_number((uint32_t)(all & ~e->open), 4, out);
}

static cm_status put_loads(const cm_routes *r, cm_run *run, FILE *out, cm_error *error)
{
  tables t;
  uint64_t all = all_bits(r), i = 0;
  CM_TRY(gather_tables(r, run, &t, error));
  for (uint32_t k = 0; k < r->router_count; k++) {
    uint32_t router = r->first_router + k;
    if (i == t.at[k])
      continue;
    put_number(router % cm_chip_routers_x(r->chip), 2, out);
    put_number(north(r->chip, router), 2, out);
    put_number((uint32_t)(t.at[k] - i), 4, out);
    for (uint32_t number = 0; i < t.at[k]; i++)
      put_loaded(r, number++, &t.entry[i], all, out);
  }
  CM_FREE(t.at, t.entry);
  return CM_OK;
}

/* Routes on SpiNNaker's terms. */
static cm_status make_routes(const cm_mapped *mapped, cm_run *run, cm_routes **routes, cm_error *error)
{
  const cm_chip *chip = mapped->chip;
  cm_route_options options = {.rule = CM_TURNS_XY, .multicast = true, .other_rule = true};
  if (!mapped->demand->network->directed)
    return cm_fail(error, CM_CONFLICT, "SpiNNaker's keys are of axons, and this network's edges have no direction");
  if (chip->router_x * chip->router_y > PROCESSORS)
    return cm_fail(error, CM_CONFLICT, "a chip of SpiNNaker has %d processors for applications, and here are %" PRIu32 " cores behind a router",
                   PROCESSORS, chip->router_x * chip->router_y);
  if (chip->routing == CM_ROUTING_YX)
    options.rule = CM_TURNS_YX;
  CM_TRY(cm_routes_make(mapped, &options, run, routes, error));
  if ((*routes)->key_bits <= KEY_BITS)
    return CM_OK;
  cm_fail(error, CM_CONFLICT, "SpiNNaker's keys have %d bits, and these axons need %u", KEY_BITS, (*routes)->key_bits);
  cm_routes_free(*routes);
  return CM_CONFLICT;
}

cm_status cm_export_pacman(const cm_mapped *mapped, cm_run *run, FILE *stream, cm_error *error)
{
  cm_routes *routes;
  cm_status status = make_routes(mapped, run, &routes, error);
  if (status != CM_OK)
    return status;
  put_placements(mapped, stream);
  put_keys(mapped, routes, stream);
  status = put_tables(routes, run, stream, error);
  cm_routes_free(routes);
  return status;
}

cm_status cm_export_spinnaker(const cm_mapped *mapped, cm_run *run, FILE *stream, cm_error *error)
{
  cm_routes *routes;
  cm_status status = make_routes(mapped, run, &routes, error);
  if (status != CM_OK)
    return status;
  status = put_loads(routes, run, stream, error);
  cm_routes_free(routes);
  return status;
}
