#include "core/partition/axon/hypergraph.h"

#include <string.h>

#include "base/threads.h"
#include "core/partition/axon/locality.h"

enum { RADIX = 1 << 16, SLICES = 64 };

void cm_hypergraph_free(cm_hypergraph *graph)
{
  if (graph == NULL)
    return;
  cm_free(graph->in_first);
  cm_free(graph->in_net);
  cm_free(graph->out_first);
  cm_free(graph->out_net);
  cm_free(graph->size);
  cm_free(graph->synapses);
  cm_free(graph->number);
  cm_free(graph->own_begin);
  cm_free(graph->own_end);
  cm_free(graph->own_pin);
  cm_free(graph->own_net_source);
  cm_free(graph->own_net_weight);
  cm_free(graph);
}

void cm_hypergraph_drop_pins(cm_hypergraph *g, const cm_topology *topology)
{
  cm_free(g->own_pin);
  g->own_pin = NULL;
  g->pin = topology->pin;
  g->renumber = g->number;
}

enum { RANGES_MAX = 8 };

/* Each thread takes a range of the nets. The lists of a vertex are filled in the order of the ranges, so that they come
 * out the same for any number. */
typedef struct indexing {
  cm_hypergraph *graph;
  cm_run *run;
  uint32_t ranges;
  uint64_t *next[RANGES_MAX]; /* [vertices] of a range: inbound nets while counting, then the place of the next one */
} indexing;

static uint32_t indexed_net(const indexing *w, size_t range)
{
  return (uint32_t)cm_slice_begin(w->graph->net_count, range, w->ranges);
}

static cm_status count_range(void *context, size_t range, cm_error *error)
{
  indexing *w = context;
  const cm_hypergraph *g = w->graph;
  uint64_t *count;
  if (CM_NEW(w->run->memory, count, g->vertex_count, error) != CM_OK)
    return error->status;
  w->next[range] = count;
  for (uint32_t e = indexed_net(w, range); e < indexed_net(w, range + 1); e++)
    for (uint64_t i = g->net_begin[e]; i < g->net_end[e]; i++)
      count[g->pin[i]]++;
  return CM_OK;
}

static cm_status fill_range(void *context, size_t range, cm_error *error)
{
  (void)error;
  const indexing *w = context;
  cm_hypergraph *g = w->graph;
  uint64_t *next = w->next[range];
  for (uint32_t e = indexed_net(w, range); e < indexed_net(w, range + 1); e++)
    for (uint64_t i = g->net_begin[e]; i < g->net_end[e]; i++)
      g->in_net[next[g->pin[i]]++] = e;
  return CM_OK;
}

/* Turns counts into places. */
static void place_ranges(indexing *w)
{
  cm_hypergraph *g = w->graph;
  uint64_t sum = 0;
  for (uint32_t v = 0; v < g->vertex_count; v++) {
    g->in_first[v] = sum;
    for (uint32_t range = 0; range < w->ranges; range++) {
      uint64_t here = w->next[range][v];
      w->next[range][v] = sum;
      sum += here;
    }
  }
  g->in_first[g->vertex_count] = sum;
}

static cm_status index_targets(cm_hypergraph *g, cm_run *run, cm_error *error)
{
  indexing w = {.graph = g, .run = run, .ranges = run->threads < RANGES_MAX ? run->threads : RANGES_MAX};
  cm_status status = cm_parallel(run, w.ranges, count_range, &w, error);
  if (status == CM_OK)
    status = cm_run_check(run, error);
  if (status == CM_OK) {
    place_ranges(&w);
    status = cm_parallel(run, w.ranges, fill_range, &w, error);
  }
  for (uint32_t range = 0; range < w.ranges; range++)
    cm_free(w.next[range]);
  return status;
}

/* The nets by target and by source, by counting sort. */
static cm_status index_vertices(cm_hypergraph *g, cm_run *run, cm_error *error)
{
  size_t n = g->vertex_count;
  if (CM_NEW(run->memory, g->in_first, n + 1, error) != CM_OK ||
      CM_NEW(run->memory, g->in_net, g->pin_count, error) != CM_OK ||
      CM_NEW(run->memory, g->out_first, n + 2, error) != CM_OK || /* starts are kept a place ahead while filling */
      CM_NEW(run->memory, g->out_net, g->net_count, error) != CM_OK || index_targets(g, run, error) != CM_OK)
    return error->status;
  for (uint32_t e = 0; e < g->net_count; e++)
    g->out_first[(size_t)g->net_source[e] + 2]++;
  for (size_t v = 2; v < n + 2; v++)
    g->out_first[v] += g->out_first[v - 1];
  for (uint32_t e = 0; e < g->net_count; e++)
    g->out_net[g->out_first[g->net_source[e] + 1]++] = e;
  return cm_run_check(run, error);
}

/* Sorts key [n] descending, equal ones by `number` [n] as they stand, and carries `number` along: two passes of a radix
 * sort, by `other` and back. */
static void sort_descending(uint32_t *key, uint32_t *number, uint32_t *other_key, uint32_t *other, uint32_t *count,
                            uint32_t n)
{
  for (unsigned shift = 0; shift < 32; shift += 16) {
    memset(count, 0, RADIX * sizeof *count);
    for (uint32_t i = 0; i < n; i++)
      count[~key[i] >> shift & (RADIX - 1)]++;
    for (uint32_t r = 0, sum = 0; r < RADIX; r++) {
      uint32_t here = count[r];
      count[r] = sum;
      sum += here;
    }
    for (uint32_t i = 0; i < n; i++) {
      uint32_t to = count[~key[i] >> shift & (RADIX - 1)]++;
      other_key[to] = key[i];
      other[to] = number[i];
    }
    uint32_t *swap = key;
    key = other_key;
    other_key = swap;
    swap = number;
    number = other;
    other = swap;
  }
}

/* Weights to 32 bits, and the nets by falling weight: rank [net_count] is the net of the topology. */
static cm_status rank_nets(const cm_topology *topology, cm_hypergraph *g, uint32_t *rank, cm_run *run, cm_error *error)
{
  uint32_t *other_key = NULL, *other = NULL, *count = NULL;
  uint64_t most = 0;
  unsigned shift = 0;
  cm_status status = CM_NEW(run->memory, other_key, g->net_count, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, other, g->net_count, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, count, RADIX, error);
  for (uint32_t e = 0; topology->net_weight != NULL && e < g->net_count; e++)
    most = topology->net_weight[e] > most ? topology->net_weight[e] : most;
  while (most >> shift > UINT32_MAX)
    shift++;
  if (status == CM_OK) {
    for (uint32_t e = 0; e < g->net_count; e++) {
      rank[e] = e;
      g->own_net_weight[e] = topology->net_weight != NULL ? (uint32_t)(topology->net_weight[e] >> shift) : 1;
    }
    sort_descending(g->own_net_weight, rank, other_key, other, count, g->net_count);
  }
  cm_free(other_key);
  cm_free(other);
  cm_free(count);
  return status;
}

typedef struct renumbering {
  cm_hypergraph *graph;
  const cm_topology *topology;
} renumbering;

static cm_status renumber_slice(void *context, size_t slice, cm_error *error)
{
  (void)error;
  const renumbering *w = context;
  cm_hypergraph *g = w->graph;
  uint64_t end = cm_slice_begin(g->pin_count, slice + 1, SLICES);
  for (uint64_t i = cm_slice_begin(g->pin_count, slice, SLICES); i < end; i++)
    g->own_pin[i] = g->number[w->topology->pin[i]];
  return CM_OK;
}

static cm_status fill_from_topology(const cm_topology *topology, cm_hypergraph *g, cm_run *run, cm_error *error)
{
  uint32_t *rank;
  g->vertex_count = topology->vertex_count;
  g->net_count = topology->net_count;
  g->pin_count = topology->pin_count;
  if (CM_NEW(run->memory, g->number, g->vertex_count, error) != CM_OK ||
      CM_NEW(run->memory, g->own_pin, g->pin_count, error) != CM_OK ||
      CM_NEW(run->memory, g->own_net_weight, g->net_count, error) != CM_OK ||
      CM_NEW(run->memory, g->own_net_source, g->net_count, error) != CM_OK ||
      CM_NEW(run->memory, g->own_begin, g->net_count, error) != CM_OK ||
      CM_NEW(run->memory, g->own_end, g->net_count, error) != CM_OK ||
      CM_NEW(run->memory, rank, g->net_count, error) != CM_OK)
    return error->status;
  cm_status status = rank_nets(topology, g, rank, run, error);
  if (status == CM_OK)
    status = cm_number_by_locality(topology, run, g->number, error);
  if (status == CM_OK) {
    renumbering w = {.graph = g, .topology = topology};
    status = cm_parallel(run, SLICES, renumber_slice, &w, error);
  }
  g->pin = g->own_pin;
  for (uint32_t e = 0; e < g->net_count && status == CM_OK; e++) {
    g->own_net_source[e] = g->number[cm_topology_source(topology, rank[e])];
    g->own_begin[e] = topology->net_first[rank[e]];
    g->own_end[e] = topology->net_first[rank[e] + 1];
  }
  cm_free(rank);
  g->net_weight = g->own_net_weight;
  g->net_source = g->own_net_source;
  g->net_begin = g->own_begin;
  g->net_end = g->own_end;
  if (status != CM_OK || CM_NEW(run->memory, g->size, g->vertex_count, error) != CM_OK ||
      CM_NEW(run->memory, g->synapses, g->vertex_count, error) != CM_OK || index_vertices(g, run, error) != CM_OK)
    return error->status;
  for (uint32_t v = 0; v < g->vertex_count; v++) {
    g->size[g->number[v]] = cm_topology_size(topology, v);
    g->synapses[v] = g->in_first[v + 1] - g->in_first[v];
  }
  return CM_OK;
}

cm_status cm_hypergraph_from_topology(const cm_topology *topology, cm_run *run, cm_hypergraph **graph, cm_error *error)
{
  cm_hypergraph *made;
  if (CM_NEW(run->memory, made, 1, error) != CM_OK)
    return error->status;
  if (fill_from_topology(topology, made, run, error) != CM_OK) {
    cm_hypergraph_free(made);
    return error->status;
  }
  *graph = made;
  return CM_OK;
}

/* Each thread merges the targets of a range of nets, to where they stood in the finer graph; then gaps are closed. */
typedef struct merging {
  const cm_hypergraph *fine;
  const uint32_t *map;
  cm_hypergraph *coarse;
  cm_run *run;
  uint32_t ranges;
  uint64_t *place; /* [ranges + 1] first pin of a range if nothing merged */
  uint64_t *used;  /* [ranges] pins that it has */
} merging;

static uint32_t first_net(const merging *w, size_t range)
{
  return (uint32_t)cm_slice_begin(w->fine->net_count, range, w->ranges);
}

/* Each net's targets as coarse vertices, each once, in the order in which they first appear. */
static cm_status merge_range(void *context, size_t range, cm_error *error)
{
  merging *w = context;
  const cm_hypergraph *fine = w->fine;
  cm_hypergraph *g = w->coarse;
  uint32_t *seen;
  if (CM_NEW(w->run->memory, seen, g->vertex_count, error) != CM_OK)
    return error->status;
  uint64_t begin = w->place[range], used = begin;
  for (uint32_t e = first_net(w, range); e < first_net(w, range + 1); e++) {
    for (uint64_t i = fine->net_begin[e]; i < fine->net_end[e]; i++) {
      uint32_t c = w->map[cm_hypergraph_pin(fine, i)];
      if (seen[c] == e + 1)
        continue;
      seen[c] = e + 1;
      g->own_pin[used++] = c;
    }
    g->own_begin[e + 1] = used - begin;
    g->own_net_source[e] = w->map[fine->net_source[e]];
  }
  w->used[range] = used - begin;
  cm_free(seen);
  return cm_run_check(w->run, error);
}

static cm_status close_gaps(merging *w, cm_error *error)
{
  cm_hypergraph *g = w->coarse;
  uint64_t total = 0;
  for (uint32_t range = 0; range < w->ranges; range++) {
    memmove(g->own_pin + total, g->own_pin + w->place[range], w->used[range] * sizeof *g->own_pin);
    for (uint32_t e = first_net(w, range); e < first_net(w, range + 1); e++)
      g->own_begin[e + 1] += total;
    total += w->used[range];
  }
  if (cm_book_reserved(g->own_pin, total * sizeof *g->own_pin, error) != CM_OK)
    return error->status;
  uint32_t *pin = cm_reallocate(w->run->memory, g->own_pin, total, sizeof *pin, error);
  if (pin == NULL)
    return error->status;
  g->own_pin = pin;
  g->pin_count = total;
  return CM_OK;
}

static cm_status merge_pins(const cm_hypergraph *fine, const uint32_t *map, cm_hypergraph *g, cm_run *run,
                            cm_error *error)
{
  merging w = {.fine = fine, .map = map, .coarse = g, .run = run};
  uint64_t place[RANGES_MAX + 1] = {0}, used[RANGES_MAX];
  w.ranges = run->threads < RANGES_MAX ? run->threads : RANGES_MAX;
  w.place = place;
  w.used = used;
  for (uint32_t range = 0; range < w.ranges; range++) {
    place[range + 1] = place[range];
    for (uint32_t e = first_net(&w, range); e < first_net(&w, range + 1); e++)
      place[range + 1] += fine->net_end[e] - fine->net_begin[e];
  }
  if (cm_parallel(run, w.ranges, merge_range, &w, error) != CM_OK)
    return error->status;
  return close_gaps(&w, error);
}

static cm_status contract(const cm_hypergraph *fine, const uint32_t *map, cm_hypergraph *g, cm_run *run,
                          cm_error *error)
{
  g->net_count = fine->net_count;
  if (CM_NEW(run->memory, g->own_begin, (size_t)g->net_count + 1, error) != CM_OK ||
      CM_NEW(run->memory, g->own_net_source, g->net_count, error) != CM_OK ||
      (g->own_pin = cm_reserve(run->memory, fine->pin_count, sizeof *g->own_pin, error)) == NULL ||
      CM_NEW(run->memory, g->size, g->vertex_count, error) != CM_OK ||
      CM_NEW(run->memory, g->synapses, g->vertex_count, error) != CM_OK ||
      merge_pins(fine, map, g, run, error) != CM_OK)
    return error->status;
  g->net_begin = g->own_begin;
  g->net_end = g->own_begin + 1;
  g->net_source = g->own_net_source;
  g->net_weight = fine->net_weight; /* nets keep their weights on every level */
  g->pin = g->own_pin;
  for (uint32_t v = 0; v < fine->vertex_count; v++) {
    g->size[map[v]] += fine->size[v];
    g->synapses[map[v]] += fine->synapses[v];
  }
  return index_vertices(g, run, error);
}

cm_status cm_hypergraph_contract(const cm_hypergraph *graph, const uint32_t *map, uint32_t coarse_count, cm_run *run,
                                 cm_hypergraph **coarse, cm_error *error)
{
  cm_hypergraph *made;
  if (CM_NEW(run->memory, made, 1, error) != CM_OK)
    return error->status;
  made->vertex_count = coarse_count;
  if (contract(graph, map, made, run, error) != CM_OK) {
    cm_hypergraph_free(made);
    return error->status;
  }
  *coarse = made;
  return CM_OK;
}
