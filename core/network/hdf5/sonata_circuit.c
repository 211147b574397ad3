/* SONATA circuits: a zip with the configuration (circuit or simulation), files of nodes, edges and their types, and spikes.
 *
 * Happy path: the configuration names the files; nodes say how many neurons a population has and which are virtual, types what
 * edges weigh that do not say it themselves, spikes what neurons send. HDF5 files are taken out of the archive one at a time.
 * What can fail: files that the archive lacks, ids that are no rows, spikes of some populations only. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "core/network/archive/archive.h"
#include "core/network/formats/table_rows.h"
#include "core/network/hdf5/sonata.h"
#include "core/network/rates.h"

typedef struct circuit {
  sonata *s;
  cm_archive archive;
  json_t *networks;      /* of the configuration: nodes and edges */
  double seconds;        /* of the simulation; 0: not said */
  void *image;           /* of the member that is open */
  size_t image_size;
  cm_source member;
  double *rate;          /* [neurons]; NULL: no spikes */
  bool *measured;        /* [populations] */
  uint64_t *virtual_type, virtual_room, virtual_count; /* node types of the file that is open */
} circuit;

static cm_status bad(const char *place, const char *what, cm_error *error)
{
  cm_fail(error, CM_BAD_NETWORK, "SONATA circuit, %.80s: %s", place, what);
  return cm_fail_at(error, "%.80s", place);
}

/* ---- members ---- */

/* What stands behind variables and dots: "$NETWORK_DIR/a/b.h5" is "a/b.h5". */
static const char *plain_path(const char *path)
{
  const char *begin = path;
  for (const char *at = path; at != NULL; at = strchr(at, '/'), at = at != NULL ? at + 1 : NULL)
    if (*at == '$' || *at == '.' || *at == '/') {
      const char *slash = strchr(at, '/');
      begin = slash != NULL ? slash + 1 : at;
    }
  return begin;
}

/* The one member that ends in a path. */
static cm_status find_member(const circuit *c, const char *path, uint64_t *member, cm_error *error)
{
  const char *tail = plain_path(path);
  uint64_t found = 0;
  for (uint64_t i = 0; i < c->archive.count; i++) {
    const char *name = cm_archive_name(&c->archive, i);
    size_t length = strlen(name), part = strlen(tail);
    if (length < part || part == 0 || strcmp(name + length - part, tail) != 0 || (length > part && name[length - part - 1] != '/'))
      continue;
    *member = i;
    found++;
  }
  return found == 1 ? CM_OK : bad(tail, found == 0 ? "the archive has no such file" : "the archive has several such files", error);
}

static void close_member(circuit *c)
{
  cm_source_close(&c->member);
  cm_free(c->image);
  c->image = NULL;
}

/* Takes a member out of the archive, as a source. */
static cm_status open_member(circuit *c, uint64_t member, cm_error *error)
{
  cm_bytes stream;
  uint64_t size = cm_archive_bytes(&c->archive, member);
  if (cm_archive_stream(&c->archive, member, &stream, error) != CM_OK)
    return error->status;
  uint8_t *image;
  cm_status status = CM_NEW(c->s->memory, image, size + 1, error);
  c->image = image;
  c->image_size = (size_t)size;
  if (status == CM_OK)
    status = cm_bytes_take(&stream, image, (size_t)size, error);
  if (status == CM_OK)
    status = cm_bytes_end(&stream, error);
  cm_bytes_close(&stream);
  if (status == CM_OK)
    status = cm_source_open_memory(&c->member, c->image, (size_t)size, c->s->limits, c->s->run, error);
  if (status != CM_OK)
    close_member(c);
  return status;
}

/* ---- configuration ---- */

static cm_status read_config(circuit *c, uint64_t member, cm_error *error)
{
  enum { CONFIG_MAX = 1 << 24 };
  if (cm_archive_bytes(&c->archive, member) > CONFIG_MAX)
    return CM_OK;
  if (open_member(c, member, error) != CM_OK)
    return error->status;
  json_t *json = cm_json_loadb(c->image, c->image_size, 0, NULL);
  const json_t *networks = json_object_get(json, "networks"), *run = json_object_get(json, "run");
  double begin = json_number_value(json_object_get(run, "tstart")), end = json_number_value(json_object_get(run, "tstop"));
  cm_status status = CM_OK;
  if (json_is_array(json_object_get(networks, "edges")) && c->networks != NULL)
    status = bad(cm_archive_name(&c->archive, member), "a second configuration names networks; keep one", error);
  else if (json_is_array(json_object_get(networks, "edges")))
    c->networks = json_deep_copy(networks);
  if (end > begin)
    c->seconds = (end - begin) / 1e3;
  json_decref(json);
  close_member(c);
  return status;
}

static cm_status read_configs(circuit *c, cm_error *error)
{
  for (uint64_t i = 0; i < c->archive.count; i++) {
    const char *name = cm_archive_name(&c->archive, i);
    size_t length = strlen(name);
    if (length > 5 && strcmp(name + length - 5, ".json") == 0 && read_config(c, i, error) != CM_OK)
      return error->status;
  }
  return c->networks != NULL ? CM_OK
                             : bad("config.json", "the archive has no configuration that names networks: nodes and edges", error);
}

/* ---- tables of types ---- */

static const char *const type_words[] = {"edge_type_id", "syn_weight", "delay", "nsyns", "node_type_id", "model_type"};
enum { TYPE_EDGE, TYPE_WEIGHT, TYPE_DELAY, TYPE_SYNAPSES, TYPE_NODE, TYPE_MODEL, TYPE_WORDS };

static cm_status type_number(cm_table *t, const int at[TYPE_WORDS], int word, double *value, cm_error *error)
{
  const cm_field *f = at[word] >= 0 ? &t->fields[at[word]] : NULL;
  *value = NAN;
  if (f == NULL || f->length == 0 || (f->length == 4 && strncasecmp(f->text, "NULL", 4) == 0) ||
      (f->length == 3 && strncasecmp(f->text, "nan", 3) == 0))
    return CM_OK;
  return cm_table_number(t, f, type_words[word], value, error);
}

static cm_status take_type(circuit *c, cm_table *t, const int at[TYPE_WORDS], bool edges, cm_error *error)
{
  sonata *s = c->s;
  sonata_type type;
  const cm_field *id = &t->fields[at[edges ? TYPE_EDGE : TYPE_NODE]];
  if (!cm_field_whole(id->text, id->length, &type.id))
    return cm_table_bad(t, "the type's id is no whole number", error);
  if (edges) {
    if (type_number(t, at, TYPE_WEIGHT, &type.weight, error) != CM_OK || type_number(t, at, TYPE_DELAY, &type.delay_ms, error) != CM_OK ||
        type_number(t, at, TYPE_SYNAPSES, &type.synapses, error) != CM_OK ||
        CM_ROOM(s->memory, s->types, &s->types_room, s->type_count + 1, error) != CM_OK)
      return error->status;
    if (type.delay_ms < 0)
      return cm_table_bad(t, "the delay is negative", error);
    s->types[s->type_count++] = type;
    return CM_OK;
  }
  const cm_field *model = at[TYPE_MODEL] >= 0 ? &t->fields[at[TYPE_MODEL]] : NULL;
  if (model == NULL || model->length != 7 || strncmp(model->text, "virtual", 7) != 0)
    return CM_OK;
  if (CM_ROOM(s->memory, c->virtual_type, &c->virtual_room, c->virtual_count + 1, error) != CM_OK)
    return error->status;
  c->virtual_type[c->virtual_count++] = type.id;
  return CM_OK;
}

static int by_id(const void *a, const void *b)
{
  uint64_t x = ((const sonata_type *)a)->id, y = ((const sonata_type *)b)->id;
  return x < y ? -1 : x > y;
}

/* Reads the table that `path` names; NULL or "": there is none. */
static cm_status read_types(circuit *c, const char *path, bool edges, cm_error *error)
{
  const char *line = NULL;
  size_t length = 0;
  uint64_t member;
  int at[TYPE_WORDS];
  size_t fields = 0;
  c->s->type_count = c->virtual_count = 0;
  if (path == NULL || path[0] == '\0' || strcmp(path, "NULL") == 0)
    return CM_OK;
  if (find_member(c, path, &member, error) != CM_OK || open_member(c, member, error) != CM_OK)
    return error->status;
  cm_table t = {.source = &c->member, .what = "SONATA types", .limits = c->s->limits, .run = c->s->run, .memory = c->s->memory};
  cm_status status = CM_OK;
  for (bool end = false; status == CM_OK;) {
    status = cm_table_next_line(&t, &line, &length, &end, error);
    if (status != CM_OK || end)
      break;
    if (length == 0)
      continue;
    if (t.separator == 0)
      cm_table_find_separator(&t, line, length);
    status = cm_table_split(&t, line, length, error);
    if (status == CM_OK && fields == 0) {
      fields = t.field_count;
      for (int w = 0; w < TYPE_WORDS; w++) {
        at[w] = CM_COLUMN_NONE;
        for (size_t i = 0; i < fields; i++)
          if (t.fields[i].length == strlen(type_words[w]) && strncmp(t.fields[i].text, type_words[w], t.fields[i].length) == 0)
            at[w] = (int)i;
      }
      if (at[edges ? TYPE_EDGE : TYPE_NODE] < 0)
        status = cm_table_bad(&t, edges ? "a header with edge_type_id is expected" : "a header with node_type_id is expected", error);
    } else if (status == CM_OK)
      status = t.field_count == fields ? take_type(c, &t, at, edges, error)
                                       : cm_table_bad(&t, "it has another number of fields than the header", error);
  }
  cm_free(t.unquoted);
  cm_free(t.fields);
  close_member(c);
  if (status == CM_OK && c->s->type_count > 1)
    qsort(c->s->types, c->s->type_count, sizeof *c->s->types, by_id);
  return status;
}

/* ---- HDF5 files ---- */

typedef cm_status (*each_group)(circuit *c, hid_t group, const char *name, cm_error *error);

/* Does `each` to every member of a group, if it is there. */
static cm_status for_members(circuit *c, const char *path, each_group each, cm_error *error)
{
  const cm_h5 *h5 = &c->s->h5;
  cm_h5_texts names = {0};
  hid_t all, one;
  if (!cm_h5_has(h5->file, path))
    return cm_h5_bad(h5, h5->file, path, "it is missing", error);
  if (cm_h5_object(h5, h5->file, path, &all, error) != CM_OK)
    return error->status;
  cm_status status = cm_h5_names(h5, all, &names, error);
  for (uint64_t i = 0; i < names.count && status == CM_OK; i++) {
    status = cm_h5_object(h5, all, cm_h5_text_at(&names, i), &one, error);
    if (status != CM_OK)
      break;
    status = each(c, one, cm_h5_text_at(&names, i), error);
    (void)H5Oclose(one);
  }
  cm_h5_texts_free(&names);
  (void)H5Oclose(all);
  return status;
}

/* Opens the HDF5 file of that member, does `work`, closes it. */
static cm_status with_file(circuit *c, uint64_t member, cm_status (*work)(circuit *c, cm_error *error), cm_error *error)
{
  if (open_member(c, member, error) != CM_OK)
    return error->status;
  cm_status status = cm_h5_open(&c->s->h5, &c->member, c->s->limits, c->s->run, "SONATA circuit", error);
  if (status == CM_OK) {
    status = work(c, error);
    cm_h5_close(&c->s->h5);
  }
  close_member(c);
  return status;
}

/* The lists of the configuration: "nodes" or "edges", each file with its types. */
static cm_status for_files(circuit *c, const char *list, cm_status (*work)(circuit *c, cm_error *error), bool typed, cm_error *error)
{
  const json_t *one;
  size_t i;
  uint64_t member;
  bool edges = strcmp(list, "edges") == 0;
  json_array_foreach(json_object_get(c->networks, list), i, one) {
    const char *file = json_string_value(json_object_get(one, edges ? "edges_file" : "nodes_file"));
    const char *types = json_string_value(json_object_get(one, edges ? "edge_types_file" : "node_types_file"));
    if (file == NULL)
      return bad("config.json", edges ? "an entry of edges has no edges_file" : "an entry of nodes has no nodes_file", error);
    if (find_member(c, file, &member, error) != CM_OK || (typed && read_types(c, types, edges, error) != CM_OK) ||
        with_file(c, member, work, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

/* ---- nodes ---- */

static cm_status length_of(circuit *c, hid_t group, const char *list, uint64_t *length, cm_error *error)
{
  int rank;
  uint64_t dims[CM_H5_RANK_MAX];
  if (cm_h5_shape(&c->s->h5, group, list, &rank, dims, error) != CM_OK)
    return error->status;
  *length = dims[0];
  return rank == 1 ? CM_OK : cm_h5_bad(&c->s->h5, group, list, "a list is expected", error);
}

static bool is_virtual(const circuit *c, uint64_t type)
{
  for (uint64_t i = 0; i < c->virtual_count; i++)
    if (c->virtual_type[i] == type)
      return true;
  return false;
}

static cm_status read_population(circuit *c, hid_t group, const char *name, cm_error *error)
{
  enum { SLICE = 1 << 16 };
  sonata *s = c->s;
  uint32_t p;
  uint64_t count;
  bool input = c->virtual_count > 0;
  if (!cm_name_valid(name, strlen(name)) || strlen(name) >= CM_POPULATION_NAME_MAX)
    return cm_h5_bad(&s->h5, group, NULL, "its name has control characters or more than 119 bytes", error);
  if (length_of(c, group, "node_type_id", &count, error) != CM_OK || sonata_population(s, name, &p, error) != CM_OK)
    return error->status;
  if (s->ids[p] > 0)
    return cm_h5_bad(&s->h5, group, NULL, "the population stands in two files", error);
  for (uint64_t at = 0; at < count && input; at += SLICE) {
    uint64_t here = count - at < SLICE ? count - at : SLICE;
    if (cm_h5_slice(&s->h5, group, "node_type_id", H5T_NATIVE_UINT64, at, here, s->source, error) != CM_OK)
      return error->status;
    for (uint64_t i = 0; i < here && input; i++)
      input = is_virtual(c, s->source[i]);
  }
  s->ids[p] = count;
  if (input)
    (void)snprintf(s->made->population[p].kind, sizeof s->made->population[p].kind, "%s", CM_INPUT_KIND);
  return CM_OK;
}

static cm_status read_nodes(circuit *c, cm_error *error)
{
  return for_members(c, "nodes", read_population, error);
}

/* ---- edges ---- */

static cm_status survey_edges(circuit *c, cm_error *error)
{
  return sonata_survey(c->s, error);
}

static cm_status read_edges(circuit *c, cm_error *error)
{
  return sonata_read(c->s, error);
}

/* Edges may name only nodes that are there. */
static cm_status check_ids(const circuit *c, const uint64_t *declared, uint32_t known, cm_error *error)
{
  const sonata *s = c->s;
  char what[160];
  for (uint32_t p = 0; p < s->made->population_count; p++) {
    uint64_t there = p < known ? declared[p] : 0;
    if (s->ids[p] <= there)
      continue;
    (void)snprintf(what, sizeof what, "edges name node %llu, of %llu that the nodes files have", (unsigned long long)s->ids[p] - 1,
                   (unsigned long long)there);
    return bad(s->made->population[p].name, what, error);
  }
  return CM_OK;
}

/* ---- spikes ---- */

/* Adds one population's spikes to its neurons' counts. */
static cm_status count_spikes(circuit *c, hid_t group, const char *ids, uint32_t p, cm_error *error)
{
  enum { SLICE = 1 << 15 };
  sonata *s = c->s;
  uint64_t count, times;
  double *time = NULL, last = 0;
  char units[16] = "", what[120];
  hid_t data;
  if (length_of(c, group, ids, &count, error) != CM_OK || length_of(c, group, "timestamps", &times, error) != CM_OK)
    return error->status;
  if (times != count)
    return cm_h5_bad(&s->h5, group, "timestamps", "its length is another than that of the ids", error);
  if (cm_h5_object(&s->h5, group, "timestamps", &data, error) != CM_OK)
    return error->status;
  cm_h5_attribute(data, "units", units, sizeof units);
  (void)H5Oclose(data);
  double milliseconds = strcmp(units, "s") == 0 || strcmp(units, "seconds") == 0 ? 1e3 : 1;
  cm_status status = CM_NEW(s->memory, time, SLICE, error);
  for (uint64_t at = 0; at < count && status == CM_OK; at += SLICE) {
    uint64_t here = count - at < SLICE ? count - at : SLICE;
    status = cm_h5_slice(&s->h5, group, ids, H5T_NATIVE_UINT64, at, here, s->source, error);
    if (status == CM_OK)
      status = cm_h5_slice(&s->h5, group, "timestamps", H5T_NATIVE_DOUBLE, at, here, time, error);
    for (uint64_t i = 0; i < here && status == CM_OK; i++) {
      last = time[i] > last ? time[i] : last;
      if (s->source[i] < s->ids[p]) {
        c->rate[s->first[p] + s->source[i]]++;
        continue;
      }
      (void)snprintf(what, sizeof what, "node %llu spikes, of %llu in its population", (unsigned long long)s->source[i],
                     (unsigned long long)s->ids[p]);
      status = cm_h5_bad(&s->h5, group, ids, what, error);
    }
  }
  cm_free(time);
  if (status == CM_OK && c->seconds <= 0 && last > 0) /* the configuration does not say how long */
    c->seconds = last * milliseconds / 1e3;
  c->measured[p] = status == CM_OK;
  return status;
}

static cm_status read_spiking(circuit *c, hid_t group, const char *name, cm_error *error)
{
  const cm_topology *made = c->s->made;
  char what[120];
  if (H5Iget_type(group) != H5I_GROUP)
    return CM_OK; /* lists of the old layout */
  for (uint32_t p = 0; p < made->population_count; p++)
    if (strcmp(made->population[p].name, name) == 0)
      return count_spikes(c, group, "node_ids", p, error);
  (void)snprintf(what, sizeof what, "the circuit has no population '%.60s'", name);
  return cm_h5_bad(&c->s->h5, group, NULL, what, error);
}

/* The old layout has one list of ids, which must be those of the one population that is no input. */
static cm_status read_spikes(circuit *c, cm_error *error)
{
  const cm_topology *made = c->s->made;
  const cm_h5 *h5 = &c->s->h5;
  hid_t group;
  uint32_t found = 0, p = 0;
  if (!cm_h5_has(h5->file, "spikes"))
    return CM_OK;
  if (c->rate == NULL && CM_NEW(c->s->memory, c->rate, made->vertex_count, error) != CM_OK)
    return error->status;
  if (cm_h5_object(h5, h5->file, "spikes", &group, error) != CM_OK)
    return error->status;
  bool old = H5Iget_type(group) == H5I_GROUP && cm_h5_has(group, "gids");
  for (uint32_t i = 0; i < made->population_count; i++)
    if (strcmp(made->population[i].kind, CM_INPUT_KIND) != 0) {
      p = i;
      found++;
    }
  cm_status status = CM_OK;
  if (old)
    status = found == 1 ? count_spikes(c, group, "gids", p, error)
                        : cm_h5_bad(h5, group, "gids", "the circuit has several populations, and these ids do not say whose they "
                                    "are: write spikes by population, /spikes/NAME/node_ids", error);
  (void)H5Oclose(group);
  return status == CM_OK && !old ? for_members(c, "spikes", read_spiking, error) : status;
}

/* Spikes over the time of the simulation are rates, in hertz, of all populations that send or of none. */
static cm_status set_rates(circuit *c, cm_error *error)
{
  cm_topology *made = c->s->made;
  if (c->rate == NULL)
    return CM_OK;
  for (uint32_t e = 0; e < made->net_count; e++) {
    const cm_population *of = &made->population[made->population_of[cm_topology_source(made, e)]];
    if (!c->measured[of - made->population])
      return bad(of->name, "the archive has spikes, but none of this population, which sends too: add them, or leave all out", error);
  }
  if (c->seconds <= 0)
    return bad("spikes", "neither run.tstop of a configuration nor a spike says how long they were counted", error);
  for (uint32_t v = 0; v < made->vertex_count; v++)
    c->rate[v] /= c->seconds;
  return cm_topology_set_rates(made, c->rate, c->s->run, error);
}

/* ---- the circuit ---- */

static cm_status read_circuit(circuit *c, cm_error *error)
{
  sonata *s = c->s;
  uint64_t *declared = NULL;
  if (read_configs(c, error) != CM_OK || for_files(c, "nodes", read_nodes, true, error) != CM_OK)
    return error->status;
  uint32_t known = s->made->population_count;
  if (CM_NEW(s->memory, declared, known, error) != CM_OK)
    return error->status;
  for (uint32_t p = 0; p < known; p++)
    declared[p] = s->ids[p];
  cm_status status = for_files(c, "edges", survey_edges, false, error);
  if (status == CM_OK)
    status = check_ids(c, declared, known, error);
  cm_free(declared);
  s->declared = true;
  if (status != CM_OK || sonata_number(s, error) != CM_OK || for_files(c, "edges", read_edges, true, error) != CM_OK ||
      CM_NEW(s->memory, c->measured, s->made->population_count, error) != CM_OK)
    return error->status;
  for (uint64_t i = 0; i < c->archive.count; i++) {
    const char *name = cm_archive_name(&c->archive, i);
    size_t length = strlen(name);
    if (length > 3 && strcmp(name + length - 3, ".h5") == 0 && with_file(c, i, read_spikes, error) != CM_OK)
      return error->status;
  }
  return cm_entries_close(&s->entries, s->made, error) == CM_OK ? set_rates(c, error) : error->status;
}

cm_status sonata_circuit(sonata *s, cm_source *source, cm_error *error)
{
  circuit c = {.s = s};
  if (cm_archive_open(&c.archive, source, s->limits, s->run, error) != CM_OK)
    return error->status;
  cm_status status = read_circuit(&c, error);
  close_member(&c);
  cm_archive_close(&c.archive);
  json_decref(c.networks);
  cm_free(c.rate);
  cm_free(c.measured);
  cm_free(c.virtual_type);
  return status;
}
