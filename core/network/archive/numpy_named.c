/* Archives of plain arrays (.npz), by their names: sources and targets of synapses, weights, delays; or a square matrix; and
 * what neurons are called, and which population they are of.
 *
 * Happy path: the words of tables say which array is which, lists are read beside each other. What can fail: no array has a
 * name that is known, lists of different lengths, two names for one neuron. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/network/archive/archive.h"
#include "core/network/archive/npy.h"
#include "core/network/archive/numpy.h"
#include "core/network/formats/entries.h"
#include "core/network/formats/table.h"
#include "core/network/formats/table_rows.h"

static const char *const edge_lists[] = {"edge_index", "edges", "edge_list", "edgelist"};
static const char *const matrices[] = {"adjacency", "adj", "connectivity", "connectome", "matrix", "A", "W"};
static const char *const counts[] = {"n_neurons", "num_neurons", "n_nodes", "num_nodes", "N", "n", "shape"};
static const char *const name_lists[] = {"names", "labels", "ids", "neuron_ids", "node_ids"};
static const char *const population_lists[] = {"population", "populations", "layer", "layers", "cell_type", "cell_types"};
#define COUNT(list) (sizeof(list) / sizeof *(list))

static const char *first_of(const cm_numpy *n, const char *const *names, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (cm_numpy_has(n, names[i]))
      return names[i];
  return NULL;
}

/* The name of an array without ".npy"; false: the member is none. */
static bool array_name(const cm_numpy *n, uint64_t member, char name[CM_NUMPY_NAME_MAX])
{
  const char *whole = cm_archive_name(&n->archive, member);
  size_t length = strlen(whole);
  if (!cm_path_ends(whole, length, ".npy") || length - 4 >= CM_NUMPY_NAME_MAX)
    return false;
  memcpy(name, whole, length - 4);
  name[length - 4] = '\0';
  return true;
}

/* The array for a column, by the words that tables know; "" when there is none. */
static void find_column(const cm_numpy *n, cm_column_id id, char best[CM_NUMPY_NAME_MAX])
{
  char name[CM_NUMPY_NAME_MAX];
  int least = -1;
  best[0] = '\0';
  for (uint64_t i = 0; i < n->archive.count; i++) {
    int rank = array_name(n, i, name) ? cm_column_word(name, strlen(name), id) : -1;
    if (rank >= 0 && (least < 0 || rank < least)) {
      least = rank;
      memcpy(best, name, sizeof name);
    }
  }
}

/* ---- neurons ---- */

/* How many neurons there are, where an array says it. */
static cm_status read_count(cm_numpy *n, uint64_t *count, cm_error *error)
{
  const char *name = first_of(n, counts, COUNT(counts));
  cm_array array;
  *count = 0;
  if (name == NULL)
    return CM_OK;
  CM_TRY(cm_numpy_open(n, name, &array, error));
  uint64_t value[2] = {0};
  cm_status status = CM_OK;
  if (cm_npy_numbers(&array.npy) && array.npy.count >= 1 && array.npy.count <= 2)
    status = cm_npy_indices(&array.npy, &array.stream, (size_t)array.npy.count, value, error);
  else
    status = cm_bytes_bad(&array.stream, "the number of neurons is expected", error);
  if (status == CM_OK && ((array.npy.count == 2 && value[0] != value[1]) || value[0] == 0))
    status = cm_bytes_bad(&array.stream, "the number of neurons is expected, or a square shape", error);
  cm_bytes_close(&array.stream);
  if (status == CM_OK)
    *count = value[0];
  return status;
}

/* Texts of a list with one for each neuron, as numbers. */
static cm_status read_texts(cm_numpy *n, const char *list, bool distinct, cm_names *names, uint32_t *number, cm_error *error)
{
  char text[CM_NPY_TEXT_MAX];
  cm_array array;
  uint32_t count = n->made->vertex_count;
  CM_TRY(cm_numpy_open_list(n, list, false, &array, error));
  cm_status status = array.npy.count == count ? CM_OK : CM_BAD_NETWORK;
  if (status != CM_OK)
    (void)cm_bytes_bad(&array.stream, cm_say("it has %llu items; one for each of %u neurons is expected", (unsigned long long)array.npy.count,
                                             count).text, error);
  for (uint32_t v = 0; v < count && status == CM_OK; v++) {
    status = cm_npy_text(&array.npy, &array.stream, text, error);
    if (status == CM_OK && (text[0] == '\0' || !cm_name_valid(text, strlen(text))))
      status = cm_bytes_bad(&array.stream, "a name is empty, has control characters or is not UTF-8", error);
    CM_THEN(status, cm_names_number(names, text, strlen(text), count, &number[v], error));
    if (status == CM_OK && distinct && number[v] != v)
      status = cm_bytes_bad(&array.stream, cm_say("the name '%.60s' stands twice", text).text, error);
  }
  cm_bytes_close(&array.stream);
  return status;
}

/* Names and populations of neurons 0 to vertex_count - 1, where the archive has them. */
static cm_status name_neurons(cm_numpy *n, cm_error *error)
{
  const char *lists[] = {first_of(n, name_lists, COUNT(name_lists)), first_of(n, population_lists, COUNT(population_lists))};
  for (int i = 0; i < 2; i++) {
    cm_names names;
    uint32_t *number = NULL;
    if (lists[i] == NULL)
      continue;
    CM_TRY(cm_names_open(&names, n->memory, error));
    cm_status status = CM_NEW(n->memory, number, n->made->vertex_count, error);
    CM_THEN(status, read_texts(n, lists[i], i == 0, &names, number, error));
    if (status == CM_OK && i == 0)
      cm_labels_take(n->made, &names);
    else if (status == CM_OK)
      status = cm_populations_take(n->made, &names, &number, n->memory, error);
    cm_names_close(&names);
    cm_free(number);
    if (status != CM_OK)
      return status;
  }
  return CM_OK;
}

/* ---- lists of synapses ---- */

/* Source and target ids of `count` synapses; `both`: one array of pairs, where `list` is open twice on it. */
static cm_status read_ids(cm_array list[2], bool both, size_t count, uint64_t *from, uint64_t *to, cm_error *error)
{
  uint64_t pair[CM_NPY_SLICE];
  if (!both)
    return cm_npy_indices(&list[0].npy, &list[0].stream, count, from, error) == CM_OK
             ? cm_npy_indices(&list[1].npy, &list[1].stream, count, to, error)
             : error->status;
  CM_TRY(cm_npy_indices(&list[0].npy, &list[0].stream, 2 * count, pair, error));
  for (size_t i = 0; i < count; i++) {
    from[i] = pair[2 * i];
    to[i] = pair[2 * i + 1];
  }
  return CM_OK;
}

/* A neuron by its id, which any number or text may be. */
static cm_status number_id(cm_table *t, const cm_array *list, const char *text, uint32_t *number, cm_error *error)
{
  if (text[0] == '\0' || !cm_name_valid(text, strlen(text)))
    return cm_bytes_bad(&list->stream, "an id is empty, has control characters or is not UTF-8", error);
  return cm_names_number(&t->names, text, strlen(text), t->limits->vertices_max, number, error);
}

typedef struct synapse {
  uint64_t id[2]; /* source, target */
  double weight, delay_ms;
} synapse;

static cm_status add(cm_numpy *n, cm_table *t, uint64_t count, const cm_array list[2], const synapse *s, cm_error *error)
{
  const uint64_t *id = s->id;
  uint32_t ends[2] = {(uint32_t)id[0], (uint32_t)id[1]};
  for (int side = 0; side < 2; side++) {
    if (count > 0 && id[side] >= count)
      return cm_bytes_bad(&list[side].stream, "an index is not below the number of neurons", error);
    if (count > 0)
      continue;
    CM_TRY(number_id(t, &list[side], cm_say("%llu", (unsigned long long)id[side]).text, &ends[side], error));
  }
  return cm_entries_add(count > 0 ? &n->entries : &t->edges, ends[0], ends[1], s->weight, s->delay_ms, error);
}

/* Ids that are texts, one by one. */
static cm_status add_texts(cm_table *t, cm_array list[2], double weight, double delay_ms, cm_error *error)
{
  char text[CM_NPY_TEXT_MAX];
  uint32_t ends[2];
  for (int side = 0; side < 2; side++)
    if (cm_npy_text(&list[side].npy, &list[side].stream, text, error) != CM_OK ||
        number_id(t, &list[side], text, &ends[side], error) != CM_OK)
      return error->status;
  return cm_entries_add(&t->edges, ends[0], ends[1], weight, delay_ms, error);
}

/* Lists beside each other: source, target and, where they are open, weight and delay. `count` neurons; 0: those that the
 * lists name, which go to `t`. */
static cm_status read_lists(cm_numpy *n, cm_table *t, cm_array list[4], bool both, uint64_t count, cm_error *error)
{
  enum { SLICE = CM_NPY_SLICE / 2 };
  uint64_t from[SLICE], to[SLICE], edges = both ? list[0].npy.count / 2 : list[0].npy.count;
  double weight[SLICE], delay_ms[SLICE];
  bool numbers = cm_npy_numbers(&list[0].npy) && cm_npy_numbers(&list[1].npy);
  CM_TRY_IF(!both, cm_numpy_lengths(&list[0], &list[1], error));
  for (int i = CM_COLUMN_WEIGHT; i < CM_COLUMNS; i++)
    if (list[i].stream.member != NULL && list[i].npy.count != edges)
      return cm_numpy_lengths(&list[0], &list[i], error) != CM_OK
               ? error->status
               : cm_bytes_bad(&list[i].stream, "its length is not the number of synapses", error);
  if (count > 0 && !numbers)
    return cm_bytes_bad(&list[0].stream, "indices of neurons are expected, for the archive says how many there are", error);
  for (uint64_t at = 0; at < edges; at += SLICE) {
    size_t here = edges - at < SLICE ? (size_t)(edges - at) : SLICE;
    if (cm_run_check(n->run, error) != CM_OK || (numbers && read_ids(list, both, here, from, to, error) != CM_OK) ||
        (list[CM_COLUMN_WEIGHT].stream.member != NULL &&
         cm_npy_reals(&list[CM_COLUMN_WEIGHT].npy, &list[CM_COLUMN_WEIGHT].stream, here, weight, error) != CM_OK) ||
        (list[CM_COLUMN_DELAY].stream.member != NULL &&
         cm_npy_reals(&list[CM_COLUMN_DELAY].npy, &list[CM_COLUMN_DELAY].stream, here, delay_ms, error) != CM_OK))
      return error->status;
    for (size_t i = 0; i < here; i++) {
      double w = list[CM_COLUMN_WEIGHT].stream.member != NULL ? weight[i] : 1;
      double d = list[CM_COLUMN_DELAY].stream.member != NULL ? delay_ms[i] : -1;
      if (!isfinite(w))
        return cm_bytes_bad(&list[CM_COLUMN_WEIGHT].stream, "a weight is infinite or undefined", error);
      if (list[CM_COLUMN_DELAY].stream.member != NULL && !(d >= 0 && isfinite(d)))
        return cm_bytes_bad(&list[CM_COLUMN_DELAY].stream, "a delay is negative, infinite or undefined", error);
      if ((numbers ? add(n, t, count, list, &(synapse){{from[i], to[i]}, w, d}, error) : add_texts(t, list, w, d, error)) !=
          CM_OK)
        return error->status;
    }
  }
  for (int i = 0; i < CM_COLUMNS; i++)
    CM_TRY(cm_bytes_end(&list[i].stream, error));
  return CM_OK;
}

cm_status cm_numpy_pairs(cm_numpy *n, cm_array list[3], uint64_t count, cm_error *error)
{
  cm_array all[CM_COLUMNS] = {list[0], list[1], list[2]};
  return count > 0 || list[0].npy.count == 0 ? read_lists(n, NULL, all, false, count, error)
                                             : cm_bytes_bad(&list[0].stream, "a matrix without rows has no entries", error);
}

/* Opens the lists, and reads them. `pairs`: the one array of sources and targets; NULL: two arrays. */
static cm_status read_synapses(cm_numpy *n, const char *const name[CM_COLUMNS], const char *pairs, cm_error *error)
{
  cm_array list[CM_COLUMNS] = {{.stream.name = NULL}};
  cm_table t = {.source = n->source, .limits = n->limits, .run = n->run, .memory = n->memory,
                .edges = {.memory = n->memory, .run = n->run, .limit = n->limits->pins_max}};
  uint64_t count;
  bool both = false;
  cm_status status = read_count(n, &count, error);
  t.edges.weight.drop_zeros = n->entries.weight.drop_zeros;
  t.edges.weight.runs = n->entries.weight.runs;
  if (status == CM_OK && count > 0)
    status = cm_numpy_vertices(n, count, error);
  CM_THEN(status, cm_names_open(&t.names, n->memory, error));
  for (int i = 0; i < CM_COLUMNS && status == CM_OK; i++)
    if (pairs != NULL && i <= CM_COLUMN_TARGET)
      status = cm_numpy_open(n, pairs, &list[i], error);
    else if (name[i][0] != '\0')
      status = cm_numpy_open_list(n, name[i], i >= CM_COLUMN_WEIGHT, &list[i], error);
  if (status == CM_OK && pairs != NULL) {
    cm_npy *npy = &list[0].npy;
    uint64_t skipped[CM_NPY_SLICE];
    bool wide = npy->rank == 2 && npy->dim[0] == 2 && (npy->dim[1] != 2 || strcmp(pairs, edge_lists[0]) == 0);
    both = wide == npy->columns_first; /* pair after pair; else all sources, then all targets */
    if (npy->rank != 2 || (!wide && npy->dim[1] != 2) || !cm_npy_numbers(npy))
      status = cm_bytes_bad(&list[0].stream, "pairs of source and target are expected: 2 x synapses, or synapses x 2", error);
    for (uint64_t at = 0; status == CM_OK && !both && at < npy->count / 2; at += CM_NPY_SLICE) /* to the targets */
      status = cm_npy_indices(npy, &list[1].stream, (size_t)(npy->count / 2 - at < CM_NPY_SLICE ? npy->count / 2 - at : CM_NPY_SLICE),
                              skipped, error);
    if (!both)
      list[0].npy.count = list[1].npy.count = npy->count / 2;
  }
  CM_THEN(status, read_lists(n, &t, list, both, count, error));
  if (status == CM_OK && count == 0) {
    status = cm_table_close(&t, n->made, error);
    n->closed = true;
  } else if (status == CM_OK)
    status = name_neurons(n, error);
  for (int i = 0; i < CM_COLUMNS; i++)
    cm_bytes_close(&list[i].stream);
  cm_names_close(&t.names);
  cm_entries_free(&t.edges);
  return status;
}

/* ---- what the archive holds ---- */

static cm_status refuse(const cm_numpy *n, cm_error *error)
{
  char list[300] = "nothing", name[CM_NUMPY_NAME_MAX];
  for (uint64_t i = 0, used = 0; i < n->archive.count && used < sizeof list; i++)
    if (array_name(n, i, name))
      used += (uint64_t)snprintf(list + used, sizeof list - used, "%s%.40s", used == 0 ? "" : ", ", name);
  cm_fail(error, CM_BAD_NETWORK, "NumPy: none of the archive's arrays is known to be a network; it holds %s. Save it as "
          "numpy.savez('net.npz', pre=..., post=..., weight=..., delay=..., n=...), or scipy.sparse.save_npz", list);
  return cm_fail_at(error, "byte 0");
}

/* The square matrix: the one under a usual name, or the only one; "" when it is neither. */
static cm_status find_matrix(cm_numpy *n, char found[CM_NUMPY_NAME_MAX], cm_error *error)
{
  char name[CM_NUMPY_NAME_MAX];
  int squares = 0, best = -1;
  cm_array array;
  found[0] = '\0';
  for (uint64_t i = 0; i < n->archive.count; i++) {
    if (!array_name(n, i, name) || cm_column_word(name, strlen(name), CM_COLUMN_DELAY) >= 0)
      continue;
    CM_TRY(cm_numpy_open(n, name, &array, error));
    bool square = array.npy.rank == 2 && array.npy.dim[0] == array.npy.dim[1] && cm_npy_numbers(&array.npy);
    cm_bytes_close(&array.stream);
    if (!square)
      continue;
    int rank = cm_column_word(name, strlen(name), CM_COLUMN_WEIGHT);
    for (size_t k = 0; k < COUNT(matrices) && rank < 0; k++)
      if (strcasecmp(matrices[k], name) == 0)
        rank = 100 + (int)k;
    if (squares++ == 0 ? (best = rank, true) : rank >= 0 && (best < 0 || rank < best)) {
      best = rank;
      memcpy(found, name, sizeof name);
    }
  }
  if (squares > 1 && best < 0)
    found[0] = '\0';
  return CM_OK;
}

cm_status cm_numpy_named(cm_numpy *n, cm_error *error)
{
  char column[CM_COLUMNS][CM_NUMPY_NAME_MAX], matrix[CM_NUMPY_NAME_MAX];
  const char *name[CM_COLUMNS], *pairs = first_of(n, edge_lists, COUNT(edge_lists));
  for (int id = 0; id < CM_COLUMNS; id++) {
    find_column(n, (cm_column_id)id, column[id]);
    name[id] = column[id];
  }
  if (name[CM_COLUMN_SOURCE][0] != '\0' && name[CM_COLUMN_TARGET][0] != '\0')
    return read_synapses(n, name, NULL, error);
  if (pairs != NULL) {
    if (name[CM_COLUMN_WEIGHT][0] == '\0' && cm_numpy_has(n, "edge_weight"))
      name[CM_COLUMN_WEIGHT] = "edge_weight";
    return read_synapses(n, name, pairs, error);
  }
  CM_TRY(find_matrix(n, matrix, error));
  if (matrix[0] == '\0')
    return refuse(n, error);
  cm_array array, delay = {.stream.name = NULL};
  CM_TRY(cm_numpy_open(n, matrix, &array, error));
  bool delays = name[CM_COLUMN_DELAY][0] != '\0' && strcmp(name[CM_COLUMN_DELAY], matrix) != 0;
  cm_status status = delays ? cm_numpy_open(n, name[CM_COLUMN_DELAY], &delay, error) : CM_OK;
  CM_THEN(status, cm_numpy_dense(n, &array.npy, &array.stream, delays ? &delay : NULL, error));
  cm_bytes_close(&array.stream);
  cm_bytes_close(&delay.stream);
  return status == CM_OK ? name_neurons(n, error) : status;
}
