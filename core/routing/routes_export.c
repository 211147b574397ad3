/* Writing routes (docs/explanation/routes.md). Tables are gathered for as many routers at once as memory allows, in the order of
 * routers, each entry found again by walking the trees. */
#include <errno.h>
#include <inttypes.h>

#include "base/json.h"
#include "core/measure/binary.h"
#include "core/routing/tables.h"
#include "core/routing/walk.h"

enum { BAND_ENTRIES_MAX = 1 << 24 };

typedef struct writer {
  const cm_routes *r;
  cm_run *run;
  FILE *stream;
  bool csv;
} writer;

static const char letters[CM_DIRECTIONS + 1] = "EWSN"; /* in the order of cm_direction */

/* What differs by geometry: over turns of a mesh, or ways of an interconnect. */
typedef struct form {
  json_t *(*router)(const cm_chip *chip, uint32_t router);
  const char *router_columns;
  void (*put_router)(const writer *w, uint32_t router);
  cm_status (*put_path)(const writer *w, cm_walker *walker, uint32_t flow, cm_error *error);
  void (*put_word)(const writer *w, uint32_t router, uint64_t word);
} form;
static const form forms[CM_GEOMETRIES];

static const form *form_of(const cm_routes *r)
{
  return &forms[cm_geometry_of(r->chip)];
}

/* ---- figures ---- */

/* What wider keys cost: axons with packets to cores that hold no target of them, and those packets. */
static bool put_widened(const cm_routes *r, json_t *tables)
{
  uint64_t axons = 0;
  double packets = 0;
  for (uint32_t f = 0; r->needed != NULL && f < r->flow_count; f++) {
    uint64_t more = r->first[f + 1] - r->first[f] - r->needed[f];
    axons += more > 0;
    packets += (double)r->weight[f] * (double)more;
  }
  return axons == 0 ||
         json_object_set_new(tables, "widened",
                             json_pack("{s:I, s:f}", "axons", (json_int_t)axons, "packets", packets / r->unit)) == 0;
}

/* The order of routers and the virtual channels of an interconnect. */
static bool put_channels(const cm_routes *r, json_t *json)
{
  uint32_t root = cm_interconnect_root(r->chip->interconnect);
  return json_object_set_new(json, "root", root == CM_NO_WAY ? json_null() : json_integer(root)) == 0 &&
         json_object_set_new(json, "virtual_channels", json_integer(r->virtual_channels)) == 0;
}

json_t *cm_routes_json(const cm_routes *r)
{
  json_t *json =
      json_pack("{s:s, s:s, s:I, s:I, s:f, s:f, s:f, s:b, s:I, s:I}", "routing", cm_chip_rule_name(r->chip, r->rule), "model",
                r->multicast ? "multicast" : "unicast", "flows", (json_int_t)r->flow_count, "links",
                (json_int_t)r->links, "hop_traffic", r->traffic, "link_load_max_before",
                (double)r->load_max_before / r->unit, "link_load_max", (double)r->load_max / r->unit, "deadlock_free",
                1, "channels", (json_int_t)r->channels, "dependencies", (json_int_t)r->dependencies);
  if (json != NULL && r->words != NULL && !put_channels(r, json)) {
    json_decref(json);
    return NULL;
  }
  if (json == NULL || !r->multicast)
    return json;
  uint32_t entries = cm_routes_entries(r, r->fullest);
  json_t *fullest = form_of(r)->router(r->chip, r->fullest);
  json_t *tables =
      json_pack("{s:I, s:o, s:I, s:o, s:I, s:b}", "entries", (json_int_t)r->entries_total, "limit",
                r->chip->table_entries == 0 ? json_null() : json_integer(r->chip->table_entries), "most",
                (json_int_t)entries, "fullest", fullest, "routers_over", (json_int_t)r->routers_over, "fit", r->routers_over == 0);
  /* An entry an axon at each router of its tree: what minimising began with. */
  bool whole = r->key_block == NULL || json_object_set_new(tables, "one_per_key", json_integer((json_int_t)(r->links + r->flow_count))) == 0;
  whole = whole && put_widened(r, tables);
  if (json_object_set_new(json, "tables", tables) != 0 || !whole) {
    json_decref(json);
    return NULL;
  }
  return json;
}

/* The first members of an object that stays open. */
static cm_status put_figures(writer *w, cm_error *error)
{
  json_t *json = cm_routes_json(w->r);
  char *text = json == NULL ? NULL : cm_json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17));
  json_decref(json);
  CM_TRY(cm_whole(text != NULL, "the figures of the routes", error));
  (void)fprintf(w->stream, "{\"format\": \"coremapd routes 1\",\n\"figures\": %s,\n\"routers\": [%u, %u]", text,
                cm_chip_routers_x(w->r->chip), cm_chip_routers_y(w->r->chip));
  free(text);
  return CM_OK;
}

/* ---- paths of pairs ---- */

static cm_status put_turns(const writer *w, cm_walker *walker, uint32_t flow, cm_error *error)
{
  cm_tree tree;
  CM_TRY(cm_walk_flow(walker, flow, w->r->shapes[flow], &tree, error));
  (void)fputs(w->csv ? "" : "\"", w->stream);
  /* Nodes stand from the target back to the source, the source itself first. */
  for (size_t i = tree.count; i > 1;) {
    uint8_t in = tree.node[--i].in;
    size_t length = 1;
    for (; i > 1 && tree.node[i - 1].in == in; i--)
      length++;
    (void)fprintf(w->stream, "%c%zu", letters[in], length);
  }
  (void)fputs(w->csv ? "" : "\"", w->stream);
  return CM_OK;
}

/* The numbers of its routers. */
static cm_status put_way(const writer *w, cm_walker *walker, uint32_t flow, cm_error *error)
{
  cm_way_tree tree;
  CM_TRY(cm_walk_ways(walker, flow, &tree, error));
  (void)fputs(w->csv ? "" : "[", w->stream);
  for (uint32_t i = 0; i < tree.count; i++)
    (void)fprintf(w->stream, "%s%" PRIu32, i == 0 ? "" : w->csv ? " " : ",", tree.node[i].router);
  (void)fputs(w->csv ? "" : "]", w->stream);
  return CM_OK;
}

static cm_status put_paths(writer *w, cm_error *error)
{
  const cm_routes *r = w->r;
  cm_walker walker;
  cm_status status = cm_walker_new(r, w->run->memory, &walker, error);
  CM_TRY(status);
  for (uint32_t f = 0; f < r->flow_count && status == CM_OK; f++) {
    (void)fputs(w->csv ? "" : f == 0 ? "[" : ",\n[", w->stream);
    (void)fprintf(w->stream, "%" PRIu32 ",%" PRIu32 ",%.17g,", r->source[f], r->target[r->first[f]], (double)r->weight[f] / r->unit);
    status = form_of(r)->put_path(w, &walker, f, error);
    (void)fputs(w->csv ? "\n" : "]", w->stream);
    CM_THEN_IF(status, f % 4096 == 0, cm_run_check(w->run, error));
  }
  cm_walker_free(&walker);
  return status;
}

/* ---- tables ---- */

static void put_cores(const writer *w, uint64_t cores)
{
  bool first = true;
  for (int core = 0; core < CM_LOCAL_CORES_MAX; core++)
    if (cores >> core & 1) {
      (void)fprintf(w->stream, "%s%d", first ? "" : w->csv ? " " : ",", core);
      first = false;
    }
}

static void put_directions(const writer *w, CM_UNUSED uint32_t router, uint64_t word)
{
  (void)fputs(w->csv ? "" : "\"", w->stream);
  for (int d = 0; d < CM_DIRECTIONS; d++)
    if (word >> d & 1)
      (void)fputc(letters[d], w->stream);
  (void)fputs(w->csv ? "," : "\",[", w->stream);
  put_cores(w, word >> CM_DIRECTIONS);
}

/* Links as the numbers of the routers that they lead to. */
static void put_ways_out(const writer *w, uint32_t router, uint64_t word)
{
  const cm_interconnect *net = w->r->chip->interconnect;
  const cm_word *out = &w->r->words->word[word];
  (void)fputs(w->csv ? "" : "[", w->stream);
  for (uint32_t i = 0; i < out->count; i++)
    (void)fprintf(w->stream, "%s%" PRIu32, i == 0 ? "" : w->csv ? " " : ",",
                  net->link[net->first[router] + w->r->words->link[out->first + i]].to);
  (void)fputs(w->csv ? "," : "],[", w->stream);
  put_cores(w, out->cores);
}

static void put_place(const writer *w, uint32_t router)
{
  uint32_t columns = cm_chip_routers_x(w->r->chip), x = router % columns, y = router / columns;
  (void)fprintf(w->stream, w->csv ? "%" PRIu32 ",%" PRIu32 "," : "\"x\": %" PRIu32 ", \"y\": %" PRIu32, x, y);
}

static void put_number(const writer *w, uint32_t router)
{
  (void)fprintf(w->stream, w->csv ? "%" PRIu32 "," : "\"router\": %" PRIu32, router);
}

static json_t *place_json(const cm_chip *chip, uint32_t router)
{
  uint32_t columns = cm_chip_routers_x(chip);
  return json_pack("[i,i]", (int)(router % columns), (int)(router / columns));
}

static json_t *number_json(CM_UNUSED const cm_chip *chip, uint32_t router)
{
  return json_integer(router);
}

static const form forms[CM_GEOMETRIES] = {{place_json, "x,y", put_place, put_turns, put_directions},
                                          {number_json, "router", put_number, put_way, put_ways_out}};

static void put_entry(writer *w, const cm_table_entry *entry)
{
  uint64_t all = w->r->key_bits == 0 ? 0 : UINT64_MAX >> (64 - w->r->key_bits);
  uint64_t mask = all & ~entry->open;
  if (w->csv)
    form_of(w->r)->put_router(w, entry->router);
  (void)fprintf(w->stream, w->csv ? "0x%" PRIx64 ",0x%" PRIx64 "," : "[%" PRIu64 ",%" PRIu64 ",", entry->key, mask);
  form_of(w->r)->put_word(w, entry->router, entry->word);
  (void)fputs(w->csv ? "\n" : "]]", w->stream);
}

/* Routers whose entries are held at once. */
typedef struct band {
  uint32_t first, end;   /* routers */
  uint64_t *at;          /* [routers of the band + 1] where each one's next entry goes */
  cm_table_entry *entry;
} band;

static cm_status gather(void *user, const cm_table_entry *entry, CM_UNUSED cm_error *error)
{
  band *b = user;
  if (entry->router >= b->first && entry->router < b->end)
    b->entry[b->at[entry->router - b->first]++] = *entry;
  return CM_OK;
}

static void put_band(writer *w, const band *b, bool *first)
{
  uint64_t i = 0;
  for (uint32_t router = b->first; router < b->end; router++) {
    uint64_t end = b->at[router - b->first];
    if (i == end)
      continue;
    if (!w->csv) {
      (void)fputs(*first ? "{" : ",\n{", w->stream);
      form_of(w->r)->put_router(w, router);
      (void)fputs(", \"entries\": [", w->stream);
    }
    *first = false;
    for (bool lead = true; i < end; i++, lead = false) {
      if (!w->csv && !lead)
        (void)fputc(',', w->stream);
      put_entry(w, &b->entry[i]);
    }
    if (!w->csv)
      (void)fputs("]}", w->stream);
  }
}

static cm_status put_tables(writer *w, cm_error *error)
{
  const cm_routes *r = w->r;
  uint32_t end = r->first_router + r->router_count;
  bool lead = true;
  cm_status status = CM_OK;
  for (band b = {.end = r->first_router}; b.end < end && status == CM_OK;) {
    uint64_t entries = 0;
    b.first = b.end;
    for (; b.end < end && (b.end == b.first || entries + cm_routes_entries(r, b.end) <= BAND_ENTRIES_MAX); b.end++)
      entries += cm_routes_entries(r, b.end);
    b.at = NULL;
    b.entry = NULL;
    status = CM_NEW_ALL(w->run->memory, error, CM_ARRAY(b.at, (size_t)(b.end - b.first) + 1), CM_ARRAY(b.entry, entries));
    for (uint32_t i = b.first; status == CM_OK && i + 1 < b.end; i++)
      b.at[i - b.first + 1] = b.at[i - b.first] + cm_routes_entries(r, i);
    CM_THEN_IF(status, entries > 0, cm_tables_walk(r, w->run, gather, &b, error));
    if (status == CM_OK && entries > 0)
      put_band(w, &b, &lead);
    CM_FREE(b.at, b.entry);
  }
  return status;
}

/* The neuron of every key: by part, in the order of ranks. */
static void put_keys(writer *w)
{
  const cm_routes *r = w->r;
  (void)fprintf(w->stream, ",\n\"keys\": {\"bits\": %u, \"rank_bits\": %u, \"neurons\": [", r->key_bits, r->rank_bits);
  for (uint32_t p = 0; p < r->parts; p++) {
    (void)fputs(p == 0 ? "\n[" : ",\n[", w->stream);
    for (uint32_t f = r->part_first[p]; f < r->part_first[p + 1]; f++)
      (void)fprintf(w->stream, "%s%" PRIu32, f == r->part_first[p] ? "" : ",",
                    cm_topology_source(r->demand->network, r->net[f]));
    (void)fputc(']', w->stream);
  }
  (void)fputc(']', w->stream);
  for (uint32_t p = 0; r->key_block != NULL && p < r->parts; p++)
    (void)fprintf(w->stream, "%s%" PRIu32, p == 0 ? ", \"blocks\": [" : ",", r->key_block[p]);
  (void)fputs(r->key_block != NULL ? "]}" : "}", w->stream);
}

static cm_status put_json(writer *w, cm_error *error)
{
  CM_TRY(put_figures(w, error));
  if (w->r->multicast)
    put_keys(w);
  (void)fputs(w->r->multicast ? ",\n\"tables\": [\n" : ",\n\"paths\": [\n", w->stream);
  cm_status status = w->r->multicast ? put_tables(w, error) : put_paths(w, error);
  (void)fputs("\n]}\n", w->stream);
  return status;
}

static cm_status put_csv(writer *w, cm_error *error)
{
  if (w->r->multicast)
    (void)fprintf(w->stream, "%s,key,mask,links,cores\n", form_of(w->r)->router_columns);
  else
    (void)fputs("from,to,packets,path\n", w->stream);
  return w->r->multicast ? put_tables(w, error) : put_paths(w, error);
}

/* ---- link loads, as in the view of a mapping's links ---- */

static cm_status put_loads(writer *w, cm_error *error)
{
  const cm_routes *r = w->r;
  cm_window rows = cm_window_whole(r->chip);
  double *load;
  rows.y0 = r->first_router / rows.width;
  rows.height = r->router_count / rows.width;
  CM_TRY(CM_NEW(w->run->memory, load, cm_window_links(&rows), error));
  for (size_t i = 0; i < cm_window_links(&rows); i++)
    load[i] = (double)r->load[i] / r->unit;
  cm_links_write_binary(r->chip, &rows, load, w->stream);
  cm_free(load);
  return CM_OK;
}

cm_status cm_routes_write(const cm_routes *routes, cm_routes_view view, cm_run *run, FILE *stream, cm_error *error)
{
  writer w = {.r = routes, .run = run, .stream = stream, .csv = view == CM_ROUTES_CSV};
  errno = 0;
  cm_status status = view == CM_ROUTES_BINARY ? put_loads(&w, error)
                     : view == CM_ROUTES_CSV  ? put_csv(&w, error)
                                              : put_json(&w, error);
  CM_TRY(status);
  if (fflush(stream) != 0 || ferror(stream) != 0)
    return cm_fail_errno(error, errno != 0 ? errno : EIO, "cannot write", "the routes");
  return CM_OK;
}

cm_status cm_routes_write_refusal(const cm_error *why, FILE *stream, cm_error *error)
{
  json_t *json = json_pack("{s:s, s:{s:s, s:s}}", "format", "coremapd routes 1", "refused", "code",
                           cm_status_code(why->status), "detail", why->detail);
  char *text = json == NULL ? NULL : cm_json_dumps(json, JSON_COMPACT);
  json_decref(json);
  CM_TRY(cm_whole(text != NULL, "the routes", error));
  errno = 0;
  int failed = fputs(text, stream) < 0 || fputc('\n', stream) < 0 || fflush(stream) != 0;
  free(text);
  return failed ? cm_fail_errno(error, errno != 0 ? errno : EIO, "cannot write", "the routes") : CM_OK;
}
