/* SONATA circuits: a zip or tar with the configuration (circuit or simulation), files of nodes, edges and their types, and spikes.
 *
 * Happy path: the configuration names the files; nodes say how many neurons a population has and which are virtual, types what
 * edges weigh that do not say it themselves, spikes what neurons send. HDF5 files are taken out of the archive one at a time.
 * What can fail: files that the archive lacks, ids that are no rows, spikes of some populations only. */
#include "core/network/hdf5/sonata_circuit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "core/network/formats/entries.h"
#include "core/network/formats/source.h"
#include "core/network/hdf5/h5.h"
#include "core/network/names.h"

/* ---- configuration ---- */

/* Networks that a configuration names: those of another one must be the same. */
static cm_status take_networks(sonata_files *c, const char *name, const json_t *networks, cm_error *error)
{
  if (c->networks == NULL) {
    (void)snprintf(c->config, sizeof c->config, "%s", name);
    c->networks = json_deep_copy(networks);
    return CM_OK;
  }
  if (json_equal(c->networks, networks))
    return CM_OK;
  return sonata_circuit_bad(name, cm_say("it names other networks than %s: config=NAME says which one is read", c->config).text, error);
}

/* *circuit: the configuration that this one says holds the networks, cut to its room; "": none. */
static cm_status read_config(sonata_files *c, uint64_t member, char circuit[CM_H5_TEXT_MAX], cm_error *error)
{
  enum { CONFIG_MAX = 1 << 24 };
  circuit[0] = '\0';
  if (cm_archive_bytes(&c->archive, member) > CONFIG_MAX)
    return CM_OK;
  CM_TRY(sonata_member_open(c, member, error));
  uint64_t refusals = cm_json_refusals();
  json_t *json = cm_json_loadb(c->image, c->image_size, 0, NULL);
  const json_t *networks = json_object_get(json, "networks"), *run = json_object_get(json, "run");
  const char *other = json_string_value(json_object_get(json, "network"));
  double begin = json_number_value(json_object_get(run, "tstart")), end = json_number_value(json_object_get(run, "tstop"));
  cm_status status = CM_OK;
  if (json_is_array(json_object_get(networks, "edges")))
    status = take_networks(c, cm_archive_name(&c->archive, member), networks, error);
  const double step = json_number_value(json_object_get(run, "dt"));
  if (step > 0)
    c->step_ms = c->step_ms == 0 || c->step_ms == step ? step : -1;
  if (end > begin)
    c->seconds = c->seconds == 0 || c->seconds == (end - begin) / 1e3 ? (end - begin) / 1e3 : -1;
  (void)snprintf(circuit, CM_H5_TEXT_MAX, "%s", other != NULL ? other : "");
  json_decref(json);
  sonata_member_close(c);
  return status == CM_OK ? cm_json_whole(refusals, cm_archive_name(&c->archive, member), error) : status;
}

/* The one that option config names, and the one that it names. */
static cm_status read_asked(sonata_files *c, const char *name, cm_error *error)
{
  char circuit[CM_H5_TEXT_MAX], ignored[CM_H5_TEXT_MAX];
  uint64_t member;
  CM_TRY(sonata_member_find(c, name, &member, error));
  CM_TRY(read_config(c, member, circuit, error));
  if (c->networks == NULL && circuit[0] != '\0' &&
      (sonata_member_find(c, circuit, &member, error) != CM_OK || read_config(c, member, ignored, error) != CM_OK))
    return error->status;
  return CM_OK;
}

static cm_status read_configs(sonata_files *c, cm_error *error)
{
  const char *asked = cm_source_option(c->s->asked, CM_READ_CONFIG);
  char ignored[CM_H5_TEXT_MAX];
  cm_status status = asked != NULL ? read_asked(c, asked, error) : CM_OK;
  for (uint64_t i = 0; asked == NULL && status == CM_OK && i < c->archive.count; i++) {
    const char *name = cm_archive_name(&c->archive, i);
    size_t length = strlen(name);
    if (length > 5 && strcmp(name + length - 5, ".json") == 0)
      status = read_config(c, i, ignored, error);
  }
  if (status != CM_OK || c->networks != NULL)
    return status;
  return sonata_circuit_bad(asked != NULL ? asked : "config.json",
                            "the archive has no configuration that names networks: nodes and edges", error);
}

/* ---- HDF5 files ---- */

/* Opens the HDF5 file of that member, does `work`, closes it. */
static cm_status with_file(sonata_files *c, uint64_t member, cm_status (*work)(sonata_files *c, cm_error *error), cm_error *error)
{
  CM_TRY(sonata_member_open(c, member, error));
  cm_status status = cm_h5_open(&c->s->h5, &c->member, c->s->limits, c->s->run, "SONATA circuit", error);
  if (status == CM_OK) {
    status = work(c, error);
    cm_h5_close(&c->s->h5);
  }
  sonata_member_close(c);
  return status;
}

/* The lists of the configuration: "nodes" or "edges", each file with its types. */
static cm_status for_files(sonata_files *c, const char *list, cm_status (*work)(sonata_files *c, cm_error *error), bool typed, cm_error *error)
{
  const json_t *one;
  size_t i;
  uint64_t member;
  bool edges = strcmp(list, "edges") == 0;
  json_array_foreach(json_object_get(c->networks, list), i, one) {
    const char *file = json_string_value(json_object_get(one, edges ? "edges_file" : "nodes_file"));
    const char *types = json_string_value(json_object_get(one, edges ? "edge_types_file" : "node_types_file"));
    if (file == NULL)
      return sonata_circuit_bad("config.json", edges ? "an entry of edges has no edges_file" : "an entry of nodes has no nodes_file", error);
    if (sonata_member_find(c, file, &member, error) != CM_OK || (typed && sonata_types_read(c, types, edges, error) != CM_OK) ||
        with_file(c, member, work, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

/* ---- nodes ---- */

static int by_id(const void *a, const void *b, void *ids)
{
  const uint64_t *id = ids, x = id[*(const uint32_t *)a], y = id[*(const uint32_t *)b];
  return x < y ? -1 : x > y;
}

static cm_status sort_ids(sonata_files *c, hid_t group, sonata_ids *made, cm_error *error)
{
  for (uint32_t i = 0; i < made->count; i++)
    made->row[i] = i;
  qsort_r(made->row, made->count, sizeof *made->row, by_id, made->id);
  for (uint64_t i = 1; i < made->count; i++)
    if (made->id[made->row[i]] == made->id[made->row[i - 1]])
      return cm_h5_bad(&c->s->h5, group, "node_id", "two nodes have the same id", error);
  return CM_OK;
}

/* The ids of a population's nodes, where the file gives them and they are not its rows. */
static cm_status read_ids(sonata_files *c, hid_t group, uint32_t p, cm_error *error)
{
  sonata *s = c->s;
  uint64_t count;
  bool rows = true;
  sonata_ids made = {0};
  if (!cm_h5_has(group, "node_id") || s->ids[p] == 0 || s->ids[p] > s->limits->vertices_max)
    return CM_OK;
  CM_TRY(sonata_length(c, group, "node_id", &count, error));
  if (count != s->ids[p])
    return cm_h5_bad(&s->h5, group, "node_id", "its length is another than that of node_type_id", error);
  cm_status status = CM_NEW(s->memory, made.id, count, error);
  CM_THEN(status, cm_h5_slice(&s->h5, group, "node_id", H5T_NATIVE_UINT64, 0, count, made.id, error));
  for (uint64_t i = 0; i < count && status == CM_OK; i++)
    rows = rows && made.id[i] == i;
  made.count = rows ? 0 : count;
  if (status == CM_OK && !rows)
    status = CM_NEW(s->memory, made.row, count, error);
  if (status == CM_OK && !rows)
    status = sort_ids(c, group, &made, error);
  if (status == CM_OK && !rows) {
    s->numbered[p] = made;
    return CM_OK;
  }
  CM_FREE(made.id, made.row);
  return status;
}

static cm_status read_population(sonata_files *c, hid_t group, const char *name, cm_error *error)
{
  enum { SLICE = 1 << 16 };
  sonata *s = c->s;
  uint32_t p;
  uint64_t count;
  const sonata_node_type *type;
  bool input = false;
  for (uint64_t i = 0; i < c->node_types; i++)
    input = input || c->node_type[i].is_virtual;
  if (!sonata_wants(s, name) && !cm_h5_has(group, "node_type_id"))
    return CM_OK; /* incomplete, and not asked for */
  if (!cm_name_valid(name, strlen(name)) || strlen(name) >= CM_POPULATION_NAME_MAX)
    return cm_h5_bad(&s->h5, group, NULL, "its name has control characters or more than 119 bytes", error);
  CM_TRY(sonata_length(c, group, "node_type_id", &count, error));
  CM_TRY(sonata_population(s, name, &p, error));
  if (s->ids[p] > 0)
    return cm_h5_bad(&s->h5, group, NULL, "the population stands in two files", error);
  for (uint64_t at = 0; at < count && input; at += SLICE) {
    uint64_t here = count - at < SLICE ? count - at : SLICE;
    CM_TRY(cm_h5_slice(&s->h5, group, "node_type_id", H5T_NATIVE_UINT64, at, here, s->source, error));
    for (uint64_t i = 0; i < here && input; i++)
      input = (type = sonata_node_type_find(c, s->source[i])) != NULL && type->is_virtual;
  }
  s->ids[p] = count;
  CM_TRY(read_ids(c, group, p, error));
  if (input)
    (void)snprintf(s->made->population[p].kind, sizeof s->made->population[p].kind, "%s", CM_INPUT_KIND);
  return CM_OK;
}

static cm_status read_nodes(sonata_files *c, cm_error *error)
{
  return sonata_for_members(c, "nodes", read_population, error);
}

static cm_status read_points(sonata_files *c, cm_error *error)
{
  return sonata_for_members(c, "nodes", sonata_points_take, error);
}

/* ---- edges ---- */

static cm_status survey_edges(sonata_files *c, cm_error *error)
{
  return sonata_survey(c->s, error);
}

static cm_status read_edges(sonata_files *c, cm_error *error)
{
  return sonata_read(c->s, error);
}

/* Edges may name only nodes that are there. */
static cm_status check_ids(const sonata_files *c, const uint64_t *declared, uint32_t known, cm_error *error)
{
  const sonata *s = c->s;
  for (uint32_t p = 0; p < s->made->population_count; p++) {
    uint64_t there = p < known ? declared[p] : 0;
    if (s->ids[p] <= there)
      continue;
    return sonata_circuit_bad(s->made->population[p].name, cm_say("edges name node %llu, of %llu that the nodes files have",
                                                            (unsigned long long)s->ids[p] - 1, (unsigned long long)there).text, error);
  }
  return CM_OK;
}

/* ---- the circuit ---- */

static cm_status read_circuit(sonata_files *c, cm_error *error)
{
  sonata *s = c->s;
  uint64_t *declared = NULL;
  CM_TRY(read_configs(c, error));
  CM_TRY(for_files(c, "nodes", read_nodes, true, error));
  uint32_t known = s->made->population_count;
  CM_TRY(CM_NEW(s->memory, declared, known, error));
  for (uint32_t p = 0; p < known; p++)
    declared[p] = s->ids[p];
  cm_status status = for_files(c, "edges", survey_edges, false, error);
  CM_THEN(status, check_ids(c, declared, known, error));
  cm_free(declared);
  s->declared = true;
  CM_THEN(status, sonata_leave_out(s, error));
  CM_THEN(status, sonata_number(s, error));
  if (status == CM_OK && c->points) {
    status = sonata_points_open(c, error);
    CM_THEN(status, for_files(c, "nodes", read_points, true, error));
    sonata_points_delay(c);
  }
  if (status != CM_OK || for_files(c, "edges", read_edges, true, error) != CM_OK ||
      CM_NEW(s->memory, c->measured, s->made->population_count, error) != CM_OK)
    return error->status;
  for (uint64_t i = 0; i < c->archive.count; i++) {
    const char *name = cm_archive_name(&c->archive, i);
    size_t length = strlen(name);
    CM_TRY_IF(length > 3 && strcmp(name + length - 3, ".h5") == 0, with_file(c, i, sonata_spikes_read, error));
  }
  CM_TRY(cm_entries_close(&s->entries, s->made, error));
  CM_TRY(sonata_spikes_set_rates(c, error));
  return sonata_points_set(c, error);
}

cm_status sonata_circuit(sonata *s, cm_source *source, cm_error *error)
{
  sonata_files c = {.s = s};
  CM_TRY(cm_archive_open(&c.archive, source, s->limits, s->run, error));
  cm_status status = read_circuit(&c, error);
  sonata_member_close(&c);
  cm_archive_close(&c.archive);
  json_decref(c.networks);
  cm_neuron_values_free(&c.values);
  CM_FREE(c.rate, c.measured, c.node_type);
  return status;
}
