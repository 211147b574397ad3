/* Networks from rows, edges and nets in memory. */
#include "core/network/csr.h"

#include <math.h>
#include <string.h>

#include "core/network/formats/entries.h"
#include "core/network/formats/rows.h"
#include "core/network/formats/source.h"
#include "core/network/formats/weighted.h"
#include "core/network/import_limits.h"
#include "core/network/net_order.h"
#include "core/network/symmetry.h"

/* What rows, edges and nets are called in refusals. */
typedef struct words {
  const char *vertex, *row, *entry; /* "neuron", "neuron", "synapse" */
} words;
static const words of_rows = {"neuron", "neuron", "synapse"}, of_graph = {"vertex", "vertex", "neighbour"}, of_edges = {"neuron", "", "edge"},
                   of_nets = {"vertex", "net", "pin"};

static cm_status check_count(const words *w, uint32_t vertices, cm_error *error)
{
  const cm_import_limits limits = cm_import_limits_default();
  if (vertices == 0)
    return cm_fail(error, CM_BAD_NETWORK, "the network has no neurons");
  return vertices > limits.vertices_max ? cm_over_limit(w->vertex, vertices, limits.vertices_max, error) : CM_OK;
}

static cm_status check_rows(const words *w, uint32_t rows, const uint64_t *first, cm_error *error)
{
  const cm_import_limits limits = cm_import_limits_default();
  for (uint32_t v = 0; v <= rows; v++)
    if (v == 0 ? first[v] != 0 : first[v] < first[v - 1]) {
      cm_fail(error, CM_BAD_NETWORK, "the row of %s %u starts at %s %llu; rows start at 0 and never descend", w->row, v, w->entry,
              (unsigned long long)first[v]);
      return cm_fail_at(error, "%s %u", w->row, v);
    }
  return first[rows] > limits.pins_max ? cm_over_limit(w->entry, first[rows], limits.pins_max, error) : CM_OK;
}

static cm_status check_entry(const words *w, uint64_t i, uint32_t target, uint32_t vertices, double weight, cm_error *error)
{
  if (target >= vertices)
    (void)cm_fail(error, CM_BAD_NETWORK, "%s %llu leads to %s %u of %u %s", w->entry, (unsigned long long)i, w->vertex, target, vertices,
                  strcmp(w->vertex, "vertex") == 0 ? "vertices" : "neurons");
  else if (!isfinite(weight))
    (void)cm_fail(error, CM_BAD_NETWORK, "%s %llu has a weight that is no finite number", w->entry, (unsigned long long)i);
  else
    return CM_OK;
  return cm_fail_at(error, "%s %llu", w->entry, (unsigned long long)i);
}

/* Vertices without anything: rows follow. */
static cm_status begin(const words *w, uint32_t vertices, bool directed, cm_run *run, cm_topology **made, cm_error *error)
{
  cm_run_phase(run, "read");
  CM_TRY(check_count(w, vertices, error));
  CM_TRY(CM_NEW(run->memory, *made, 1, error));
  (*made)->directed = directed;
  (*made)->vertex_count = vertices;
  (*made)->size_total = vertices;
  return CM_OK;
}

/* ---- rows ---- */

/* Copies the rows; those of graphs without neighbours that are the vertex itself. */
static cm_status copy_rows(const cm_row_arrays *rows, const words *w, cm_topology *made, cm_weights *weights, cm_run *run, cm_error *error)
{
  const uint64_t *first = rows->first;
  uint64_t used = 0;
  for (uint32_t v = 0; v < rows->vertices; v++) {
    for (uint64_t i = first[v]; i < first[v + 1]; i++) {
      CM_TRY_IF(i % CM_CHECK_EVERY == 0, cm_run_check(run, error));
      const double weight = rows->weight != NULL ? rows->weight[i] : 1;
      CM_TRY(check_entry(w, i, rows->target[i], rows->vertices, weight, error));
      if (!made->directed && rows->target[i] == v) {
        made->self_loop_count++;
        continue;
      }
      made->pin[used] = rows->target[i];
      CM_TRY(cm_weights_keep(weights, run->memory, used++, first[rows->vertices], weight, error));
    }
    made->net_first[v + 1] = used;
  }
  return CM_OK;
}

/* Repeats may stand once more in one row than in the other. */
static cm_status check_both_ways(const cm_topology *made, cm_run *run, cm_error *error)
{
  cm_asymmetry a;
  CM_TRY(cm_topology_asymmetry(made, run->memory, run, &a, error));
  if (!a.found)
    return CM_OK;
  if (a.missing)
    (void)cm_fail(error, CM_BAD_NETWORK, "vertex %u lists neighbour %u, and vertex %u does not list %u", a.from, a.to, a.to, a.from);
  else
    (void)cm_fail(error, CM_BAD_NETWORK, "the edge of vertices %u and %u weighs something else in the row of %u", a.from, a.to, a.to);
  return cm_fail_at(error, "vertex %u", a.from);
}

cm_status cm_topology_from_csr(const cm_row_arrays *rows, cm_run *run, cm_topology **topology, cm_error *error)
{
  const words *w = rows->directed ? &of_rows : &of_graph;
  const uint32_t vertices = rows->vertices;
  cm_topology *made = NULL;
  cm_weights weights = {0};
  CM_TRY(begin(w, vertices, rows->directed, run, &made, error));
  cm_status status = check_rows(w, vertices, rows->first, error);
  CM_THEN(status, CM_NEW_ALL(run->memory, error, CM_ARRAY(made->net_first, (size_t)vertices + 1),
                             CM_ARRAY(made->pin, rows->first[vertices])));
  CM_THEN(status, copy_rows(rows, w, made, &weights, run, error));
  if (status == CM_OK && (status = cm_weighted_rows_close(made, &weights, run, error)) == CM_OK)
    status = cm_weighted_rows_scale(made, &weights, run, error);
  if (status == CM_OK && !rows->directed)
    status = check_both_ways(made, run, error);
  cm_weights_free(&weights);
  CM_END(status, *topology = made, cm_topology_free(made));
}

/* ---- edges ---- */

static cm_status add_edge(cm_entries *entries, bool directed, uint32_t from, uint32_t to, double weight, cm_error *error)
{
  cm_status status = cm_entries_add(entries, from, to, weight, -1, error);
  return status == CM_OK && !directed ? cm_entries_add(entries, to, from, weight, -1, error) : status;
}

cm_status cm_topology_from_edges(const cm_edge_arrays *edges, cm_run *run, cm_topology **topology, cm_error *error)
{
  const cm_import_limits limits = cm_import_limits_default();
  cm_topology *made = NULL;
  cm_entries entries = {.memory = run->memory, .run = run, .limit = limits.pins_max};
  cm_status status = begin(&of_edges, edges->vertices, edges->directed, run, &made, error);
  for (uint64_t i = 0; status == CM_OK && i < edges->count; i++) {
    const double weight = edges->weight != NULL ? edges->weight[i] : 1;
    status = i % CM_CHECK_EVERY == 0 ? cm_run_check(run, error) : CM_OK;
    CM_THEN(status, check_entry(&of_edges, i, edges->from[i] > edges->to[i] ? edges->from[i] : edges->to[i], edges->vertices, weight, error));
    if (status == CM_OK && !edges->directed && edges->from[i] == edges->to[i])
      made->self_loop_count++;
    else if (status == CM_OK)
      status = add_edge(&entries, edges->directed, edges->from[i], edges->to[i], weight, error);
  }
  CM_THEN(status, cm_entries_close(&entries, made, error));
  cm_entries_free(&entries);
  CM_END(status, *topology = made, cm_topology_free(made));
}

/* ---- nets ---- */

/* Net `net` goes behind those that `made` has: its source, and each other pin once. */
static cm_status copy_net(const cm_net_arrays *nets, uint32_t net, cm_row_sorter *sorter, cm_topology *made, cm_error *error)
{
  const uint64_t begin = made->pin_count, from = nets->first[net], end = nets->first[net + 1];
  uint64_t kept;
  if (from == end) {
    (void)cm_fail(error, CM_BAD_NETWORK, "net %u has no pins; its first one is its source", net);
    return cm_fail_at(error, "net %u", net);
  }
  for (uint64_t i = from; i < end; i++) {
    CM_TRY(check_entry(&of_nets, i, nets->pin[i], nets->vertices, 1, error));
    if (nets->pin[i] != nets->pin[from])
      made->pin[made->pin_count++] = nets->pin[i];
    else
      made->duplicate_count += i > from;
  }
  const uint64_t count = made->pin_count - begin;
  CM_TRY(cm_row_sort(sorter, made->pin + begin, count, &kept, error));
  made->duplicate_count += count - kept;
  made->pin_count = begin + kept;
  if (kept == 0) {
    made->empty_net_count++;
    return CM_OK;
  }
  made->net_source[made->net_count] = nets->pin[from];
  made->net_weight[made->net_count] = net; /* until it is scaled */
  made->net_first[++made->net_count] = made->pin_count;
  return CM_OK;
}

static cm_status scale_nets(const cm_net_arrays *nets, cm_topology *made, cm_error *error)
{
  double sum = 0, most = 0;
  bool whole = true;
  for (uint32_t e = 0; e < made->net_count; e++) {
    const uint32_t net = (uint32_t)made->net_weight[e];
    const double weight = nets->weight != NULL ? nets->weight[net] : 1;
    if (!isfinite(weight) || weight < 0) {
      (void)cm_fail(error, CM_BAD_NETWORK, "the weight of net %u is %g; a rate is 0 or more", net, weight);
      return cm_fail_at(error, "net %u", net);
    }
    sum += weight * (double)(made->net_first[e + 1] - made->net_first[e]);
    most = weight > most ? weight : most;
    whole = whole && weight == trunc(weight);
  }
  CM_TRY(cm_weight_scale(sum, most, UINT32_MAX, whole, &made->weight_scale, error));
  for (uint32_t e = 0; e < made->net_count; e++)
    made->net_weight[e] = nets->weight != NULL ? cm_weight_scaled(nets->weight[made->net_weight[e]], made->weight_scale) : 1;
  return CM_OK;
}

cm_status cm_topology_from_nets(const cm_net_arrays *nets, cm_run *run, cm_topology **topology, cm_error *error)
{
  cm_topology *made = NULL;
  cm_row_sorter sorter = {.memory = run->memory};
  CM_TRY(begin(&of_nets, nets->vertices, true, run, &made, error));
  cm_status status = check_rows(&of_nets, nets->count, nets->first, error);
  CM_THEN(status, CM_NEW_ALL(run->memory, error, CM_ARRAY(made->net_first, (size_t)nets->count + 1),
                             CM_ARRAY(made->net_source, nets->count), CM_ARRAY(made->net_weight, nets->count),
                             CM_ARRAY(made->pin, nets->first[nets->count])));
  for (uint32_t e = 0; status == CM_OK && e < nets->count; e++) {
    status = e % CM_CHECK_EVERY == 0 ? cm_run_check(run, error) : CM_OK;
    CM_THEN(status, copy_net(nets, e, &sorter, made, error));
  }
  if (status == CM_OK && (status = scale_nets(nets, made, error)) == CM_OK)
    status = cm_topology_order_nets(made, NULL, run, error);
  cm_row_sorter_free(&sorter);
  CM_END(status, *topology = made, cm_topology_free(made));
}

/* ---- sizes ---- */

cm_status cm_topology_set_sizes(cm_topology *topology, const uint32_t *size, cm_memory *memory, cm_error *error)
{
  uint32_t *kept;
  uint64_t total = 0;
  CM_TRY(CM_NEW(memory, kept, topology->vertex_count, error));
  for (uint32_t v = 0; v < topology->vertex_count; v++)
    total += size[v];
  memcpy(kept, size, topology->vertex_count * sizeof *size);
  cm_free(topology->size);
  topology->size = kept;
  topology->size_total = total;
  return CM_OK;
}
