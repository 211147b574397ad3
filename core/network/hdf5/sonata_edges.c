/* SONATA edges (.h5): /edges/POPULATION/{source_node_id, target_node_id, edge_group_id, edge_group_index, GROUP/...}.
 *
 * Happy path: a first pass over all edge populations finds the populations of neurons and their largest ids, a second reads
 * edges slice by slice with what their groups say of them. What can fail: lists of different lengths, groups that are not
 * there, ids that are no row numbers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/network/formats/entries.h"
#include "core/network/formats/source.h"
#include "core/network/hdf5/sonata.h"
#include "core/network/import_limits.h"
#include "core/network/names.h"

enum { SLICE = 1 << 16, GROUPS_MAX = 1024, SPARSE_IDS = 64, SPARSE_FROM = 1 << 20 };

/* What the groups of one edge population say: numbers by group and index. */
typedef struct group {
  bool there;
  uint64_t count;
  double *weight, *delay_ms, *synapses; /* NULL: it does not say */
} group;

/* ---- populations of neurons ---- */

cm_status sonata_population(sonata *s, const char *name, uint32_t *found, cm_error *error)
{
  cm_topology *made = s->made;
  for (*found = 0; *found < made->population_count; ++*found)
    if (strcmp(made->population[*found].name, name) == 0)
      return CM_OK;
  if (made->population_count >= CM_POPULATIONS_MAX)
    return cm_over_limit("populations", made->population_count + UINT64_C(1), CM_POPULATIONS_MAX, error);
  CM_TRY(CM_ROOM(s->memory, made->population, &s->population_room, made->population_count + UINT64_C(1), error));
  CM_TRY(CM_ROOM(s->memory, s->ids, &s->ids_room, made->population_count + UINT64_C(1), error));
  CM_TRY(CM_ROOM(s->memory, s->numbered, &s->numbered_room, made->population_count + UINT64_C(1), error));
  CM_TRY(CM_ROOM(s->memory, s->used, &s->used_room, made->population_count + UINT64_C(1), error));
  s->used[*found] = false;
  s->numbered[*found] = (sonata_ids){0};
  memset(&made->population[*found], 0, sizeof *made->population);
  (void)snprintf(made->population[*found].name, CM_POPULATION_NAME_MAX, "%s", name);
  s->ids[*found] = 0;
  made->population_count++;
  return CM_OK;
}

/* The population that a list of ids is of: its attribute says it. */
static cm_status population_of(sonata *s, hid_t edges, const char *list, uint32_t *found, cm_error *error)
{
  char name[CM_POPULATION_NAME_MAX] = "";
  hid_t data;
  CM_TRY(cm_h5_object(&s->h5, edges, list, &data, error));
  cm_h5_attribute(data, "node_population", name, sizeof name);
  (void)H5Oclose(data);
  if (name[0] == '\0' || !cm_name_valid(name, strlen(name)))
    return cm_h5_bad(&s->h5, edges, list, "its attribute node_population, which must name the neurons, is missing", error);
  return sonata_population(s, name, found, error);
}

static cm_status length_of(sonata *s, hid_t edges, const char *list, uint64_t *length, cm_error *error)
{
  cm_h5_extents is;
  CM_TRY(cm_h5_shape(&s->h5, edges, list, &is, error));
  *length = is.dim[0];
  return is.rank == 1 ? CM_OK : cm_h5_bad(&s->h5, edges, list, "a list is expected", error);
}

/* First pass over one edge population: which neurons there must be. */
static cm_status survey(sonata *s, hid_t edges, cm_error *error)
{
  static const char *const lists[] = {"source_node_id", "target_node_id"};
  uint64_t length[2];
  for (int side = 0; side < 2; side++) {
    uint32_t p;
    CM_TRY(population_of(s, edges, lists[side], &p, error));
    CM_TRY(length_of(s, edges, lists[side], &length[side], error));
    s->used[p] = true;
    for (uint64_t at = 0; at < length[side]; at += SLICE) {
      uint64_t count = length[side] - at < SLICE ? length[side] - at : SLICE;
      CM_TRY(cm_h5_slice(&s->h5, edges, lists[side], H5T_NATIVE_UINT64, at, count, s->source, error));
      CM_TRY(cm_run_check(s->run, error));
      for (uint64_t i = 0; i < count; i++)
        if (s->numbered[p].count == 0 && s->source[i] >= s->ids[p])
          s->ids[p] = s->source[i] < UINT64_MAX ? s->source[i] + 1 : UINT64_MAX;
    }
  }
  if (length[0] != length[1])
    return cm_h5_bad(&s->h5, edges, NULL, "source_node_id and target_node_id have different lengths", error);
  s->edges += length[0];
  return CM_OK;
}

uint64_t sonata_row(const sonata *s, uint32_t population, uint64_t id)
{
  const sonata_ids *n = &s->numbered[population];
  uint64_t low = 0, high = n->count;
  if (n->count == 0)
    return id < s->ids[population] ? id : UINT64_MAX;
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (n->id[n->row[middle]] < id)
      low = middle + 1;
    else
      high = middle;
  }
  return low < n->count && n->id[n->row[low]] == id ? n->row[low] : UINT64_MAX;
}

bool sonata_wants(const sonata *s, const char *population)
{
  const char *said = cm_source_option(s->asked, CM_READ_POPULATION);
  if (said == NULL)
    return true;
  for (size_t length = strlen(population); *said != '\0';) {
    const size_t word = strcspn(said, ",");
    if (word == length && strncmp(said, population, word) == 0)
      return true;
    said += word + (said[word] == ',');
  }
  return false;
}

cm_status sonata_leave_out(sonata *s, cm_error *error)
{
  cm_topology *made = s->made;
  uint32_t kept = 0;
  const char *said = cm_source_option(s->asked, CM_READ_POPULATION);
  for (uint32_t p = 0; said != NULL && p < made->population_count; p++) {
    if (!s->used[p]) {
      CM_FREE(s->numbered[p].id, s->numbered[p].row);
      continue;
    }
    memmove(&made->population[kept], &made->population[p], sizeof *made->population);
    s->numbered[kept] = s->numbered[p];
    s->ids[kept++] = s->ids[p];
  }
  if (said == NULL)
    return CM_OK;
  made->population_count = kept;
  return kept > 0 ? CM_OK
                  : cm_fail(error, CM_BAD_NETWORK,
                            "SONATA: no population of edges, nor of neurons with edges, is named \"%.80s\"", said);
}

cm_status sonata_number(sonata *s, cm_error *error)
{
  cm_topology *made = s->made;
  uint64_t all = 0, room = 0, steps = 0;
  uint32_t vertex = 0;
  CM_TRY(CM_NEW(s->memory, s->first, made->population_count, error));
  for (uint32_t p = 0; p < made->population_count; p++) {
    if (s->ids[p] > s->limits->vertices_max || (!s->declared && s->ids[p] > SPARSE_FROM && s->ids[p] / SPARSE_IDS > s->edges))
      return cm_fail(error, CM_BAD_NETWORK,
                     "SONATA edges: population '%.60s' has the id %llu, but there are only %llu edges: ids are rows of the "
                     "nodes file, from 0 on", made->population[p].name, (unsigned long long)s->ids[p] - 1,
                     (unsigned long long)s->edges);
    s->first[p] = all;
    all += s->ids[p];
    if (all > s->limits->vertices_max)
      return cm_over_limit("neurons", all, s->limits->vertices_max, error);
  }
  made->vertex_count = (uint32_t)all;
  made->size_total = all;
  CM_TRY(CM_NEW_ALL(s->memory, error, CM_ARRAY(made->population_of, all), CM_ARRAY(made->label_first, all + 1)));
  for (uint32_t p = 0; p < made->population_count; p++)
    for (uint64_t id = 0; id < s->ids[p]; id++) {
      CM_TRY_IF(cm_run_due(&steps, 1), cm_run_check(s->run, error));
      CM_TRY(cm_labels_add(made, s->memory, &room, vertex, cm_say("%s[%llu]", made->population[p].name,
                                                            (unsigned long long)(s->numbered[p].count > 0 ? s->numbered[p].id[id] : id)).text,
                                                            error));
      made->population_of[vertex++] = p;
    }
  return CM_OK;
}

/* ---- edges ---- */

/* The type of edges of that id; NULL: none is known. */
static const sonata_type *find_type(const sonata *s, uint64_t id)
{
  uint64_t low = 0, high = s->typed ? s->type_count : 0;
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (s->types[middle].id < id)
      low = middle + 1;
    else
      high = middle;
  }
  return s->typed && low < s->type_count && s->types[low].id == id ? &s->types[low] : NULL;
}

static void free_groups(group *groups)
{
  for (int g = 0; groups != NULL && g < GROUPS_MAX; g++) {
    CM_FREE(groups[g].weight, groups[g].delay_ms, groups[g].synapses);
  }
  cm_free(groups);
}

static cm_status read_property(sonata *s, hid_t object, const char *name, group *g, double **values, cm_error *error)
{
  cm_h5_extents is;
  if (!cm_h5_has(object, name))
    return CM_OK;
  CM_TRY(cm_h5_reals(&s->h5, object, name, values, &is, error));
  uint64_t count = is.rank == 1 ? is.dim[0] : 0;
  if (is.rank != 1 || (g->there && g->count != count))
    return cm_h5_bad(&s->h5, object, name, "its length is another than that of its neighbours", error);
  for (uint64_t i = 0; i < count; i++)
    if (!isfinite((*values)[i]))
      return cm_h5_bad(&s->h5, object, name, "a number is infinite or undefined", error);
  g->there = true;
  g->count = count;
  return CM_OK;
}

static cm_status read_groups(sonata *s, hid_t edges, group *groups, cm_error *error)
{
  char name[12];
  for (int g = 0; g < GROUPS_MAX; g++) {
    hid_t object;
    (void)snprintf(name, sizeof name, "%d", g);
    if (!cm_h5_has(edges, name))
      continue;
    CM_TRY(cm_h5_object(&s->h5, edges, name, &object, error));
    cm_status status = H5Iget_type(object) == H5I_GROUP ? CM_OK : cm_h5_bad(&s->h5, edges, name, "a group is expected", error);
    CM_THEN(status, read_property(s, object, "syn_weight", &groups[g], &groups[g].weight, error));
    CM_THEN(status, read_property(s, object, "delay", &groups[g], &groups[g].delay_ms, error));
    CM_THEN(status, read_property(s, object, "nsyns", &groups[g], &groups[g].synapses, error));
    (void)H5Oclose(object);
    if (status != CM_OK)
      return status;
  }
  return CM_OK;
}

static cm_status add_edge(sonata *s, hid_t edges, const group *groups, bool grouped, uint64_t i, uint64_t at,
                          const uint32_t side[2], cm_error *error)
{
  const sonata_type *type = find_type(s, s->typed ? s->type[i] : 0);
  double weight = type != NULL && !isnan(type->weight) ? type->weight : 1;
  double delay_ms = type != NULL && !isnan(type->delay_ms) ? type->delay_ms : -1;
  double synapses = type != NULL && !isnan(type->synapses) ? type->synapses : 1, sign = type != NULL ? type->sign : 1;
  if (grouped) {
    const group *g = s->group[i] < GROUPS_MAX ? &groups[s->group[i]] : NULL;
    if (g == NULL || (g->there && s->index[i] >= g->count))
      return cm_h5_bad(&s->h5, edges, "edge_group_index", cm_say("edge %llu has index %llu of group %llu, which is not there",
                                                            (unsigned long long)(at + i), (unsigned long long)s->index[i],
                                                            (unsigned long long)s->group[i]).text, error);
    weight = g->weight != NULL ? g->weight[s->index[i]] : weight;
    synapses = g->synapses != NULL ? g->synapses[s->index[i]] : synapses;
    delay_ms = g->delay_ms != NULL ? g->delay_ms[s->index[i]] : delay_ms;
    if (g->delay_ms != NULL && delay_ms < 0)
      return cm_h5_bad(&s->h5, edges, "delay", "a delay is negative", error);
  }
  const uint64_t source = sonata_row(s, side[0], s->source[i]), target = sonata_row(s, side[1], s->target[i]);
  if (source == UINT64_MAX || target == UINT64_MAX)
    return cm_h5_bad(&s->h5, edges, NULL, cm_say("edge %llu names node %llu of '%.40s', which the nodes files lack", (unsigned long long)(at + i),
                                                 (unsigned long long)(source == UINT64_MAX ? s->source[i] : s->target[i]),
                                                   s->made->population[side[source != UINT64_MAX]].name).text, error);
  const uint32_t to = (uint32_t)(s->first[side[1]] + target);
  if (s->model != NULL && s->model[to] == CM_NEURON_CUBALIF)
    delay_ms = fmax(delay_ms, 0) + s->step_ms;
  return cm_entries_add(&s->entries, (uint32_t)(s->first[side[0]] + source), to, weight * synapses * sign, delay_ms, error);
}

static cm_status read_edges(sonata *s, hid_t edges, cm_error *error)
{
  uint32_t side[2];
  uint64_t length;
  group *groups = NULL;
  bool grouped = cm_h5_has(edges, "edge_group_id") && cm_h5_has(edges, "edge_group_index");
  CM_TRY(population_of(s, edges, "source_node_id", &side[0], error));
  CM_TRY(population_of(s, edges, "target_node_id", &side[1], error));
  CM_TRY(length_of(s, edges, "source_node_id", &length, error));
  CM_TRY(CM_NEW(s->memory, groups, GROUPS_MAX, error));
  s->typed = s->type_count > 0 && cm_h5_has(edges, "edge_type_id");
  cm_status status = read_groups(s, edges, groups, error);
  for (uint64_t at = 0; at < length && status == CM_OK; at += SLICE) {
    uint64_t count = length - at < SLICE ? length - at : SLICE;
    status = cm_h5_slice(&s->h5, edges, "source_node_id", H5T_NATIVE_UINT64, at, count, s->source, error);
    CM_THEN(status, cm_h5_slice(&s->h5, edges, "target_node_id", H5T_NATIVE_UINT64, at, count, s->target, error));
    if (status == CM_OK && grouped)
      status = cm_h5_slice(&s->h5, edges, "edge_group_id", H5T_NATIVE_UINT64, at, count, s->group, error);
    if (status == CM_OK && grouped)
      status = cm_h5_slice(&s->h5, edges, "edge_group_index", H5T_NATIVE_UINT64, at, count, s->index, error);
    if (status == CM_OK && s->typed)
      status = cm_h5_slice(&s->h5, edges, "edge_type_id", H5T_NATIVE_UINT64, at, count, s->type, error);
    for (uint64_t i = 0; i < count && status == CM_OK; i++)
      status = add_edge(s, edges, groups, grouped, i, at, side, error);
    CM_THEN(status, cm_run_check(s->run, error));
  }
  free_groups(groups);
  return status;
}

/* ---- the file ---- */

/* Whether an edge population is read: by its name, or by those of the neurons at both ends. */
static bool wants_edges(const sonata *s, hid_t all, const char *name)
{
  static const char *const lists[] = {"source_node_id", "target_node_id"};
  bool wanted = true;
  if (sonata_wants(s, name))
    return true;
  hid_t edges = H5Oopen(all, name, H5P_DEFAULT);
  for (int side = 0; side < 2 && wanted; side++) {
    char population[CM_POPULATION_NAME_MAX] = "";
    hid_t data = edges >= 0 && H5Iget_type(edges) == H5I_GROUP && cm_h5_has(edges, lists[side])
                   ? H5Oopen(edges, lists[side], H5P_DEFAULT)
                   : -1;
    if (data >= 0)
      cm_h5_attribute(data, "node_population", population, sizeof population);
    (void)H5Oclose(data);
    wanted = population[0] != '\0' && sonata_wants(s, population);
  }
  (void)H5Oclose(edges);
  return wanted;
}

/* Does `each` to every edge population that is read, in natural order of their names. */
static cm_status for_edges(sonata *s, cm_status (*each)(sonata *s, hid_t edges, cm_error *error), cm_error *error)
{
  hid_t all, one;
  cm_h5_texts names = {0};
  if (!cm_h5_has(s->h5.file, "edges"))
    return cm_h5_bad(&s->h5, s->h5.file, NULL,
                     "the file holds no edges, so no network: name the edges file of the circuit", error);
  CM_TRY(cm_h5_object(&s->h5, s->h5.file, "edges", &all, error));
  cm_status status = cm_h5_names(&s->h5, all, &names, error);
  for (uint64_t i = 0; i < names.count && status == CM_OK; i++) {
    if (!wants_edges(s, all, cm_h5_text_at(&names, i)))
      continue;
    status = cm_h5_object(&s->h5, all, cm_h5_text_at(&names, i), &one, error);
    if (status != CM_OK)
      break;
    status = H5Iget_type(one) == H5I_GROUP ? each(s, one, error) : cm_h5_bad(&s->h5, one, NULL, "a group is expected", error);
    (void)H5Oclose(one);
    if (status == CM_BAD_NETWORK && names.count > 1 && cm_source_option(s->asked, CM_READ_POPULATION) == NULL)
      cm_fail_more(error, "; population=NAME,... reads others without it");
  }
  cm_h5_texts_free(&names);
  (void)H5Oclose(all);
  return status;
}

cm_status sonata_survey(sonata *s, cm_error *error)
{
  return for_edges(s, survey, error);
}

cm_status sonata_read(sonata *s, cm_error *error)
{
  return for_edges(s, read_edges, error);
}

cm_status sonata_open(sonata *s, const cm_reading_of *in, cm_error *error)
{
  cm_memory *memory = in->run->memory;
  *s = (sonata){.asked = in->source,
                .limits = in->limits,
                .run = in->run,
                .memory = memory,
                .made = in->made,
                .entries = {.memory = memory, .run = in->run, .limit = in->limits->pins_max}};
  cm_weights_as_asked(&s->entries.weight, in->source);
  CM_TRY(CM_NEW_ALL(s->memory, error, CM_ARRAY(s->source, SLICE), CM_ARRAY(s->target, SLICE), CM_ARRAY(s->group, SLICE),
                    CM_ARRAY(s->index, SLICE), CM_ARRAY(s->type, SLICE)));
  s->made->directed = true;
  return CM_OK;
}

void sonata_close(sonata *s)
{
  for (uint32_t p = 0; s->numbered != NULL && p < s->made->population_count; p++) {
    CM_FREE(s->numbered[p].id, s->numbered[p].row);
  }
  CM_FREE(s->numbered, s->used, s->ids, s->first, s->source, s->target, s->group, s->index, s->type, s->types);
  cm_entries_free(&s->entries);
}
