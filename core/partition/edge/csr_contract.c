#include <string.h>

#include "base/threads.h"
#include "core/partition/edge/csr_graph_rows.h"
#include "base/members.h"

enum {
  CHECK_EVERY = 4096,
  CHUNK_ENTRIES = 1 << 20, /* entries of one parallel piece */
  CHUNKS_MAX = 32
};
#define NONE UINT32_MAX

/* The rows of some consecutive coarse vertices. */
typedef struct piece {
  uint32_t begin, end; /* coarse vertices */
  uint64_t place;      /* of its first entry, if nothing merged */
  uint64_t count;      /* that it has */
  uint64_t most;       /* the largest weight */
} piece;

typedef struct contraction {
  const cm_csr_graph *graph;
  const uint32_t *map;
  cm_run *run;
  uint32_t *first, *member; /* members of each coarse vertex */
  cm_csr_graph *coarse;
  piece *piece;
  uint32_t pieces;
} contraction;

static uint64_t member_entries(const contraction *c, uint32_t u)
{
  uint64_t entries = 0;
  for (uint32_t j = c->first[u]; j < c->first[u + 1]; j++)
    entries += cm_csr_graph_degree(c->graph, c->member[j]);
  return entries;
}

/* Pieces of about equal work; their borders depend on the graph alone. */
static void cut_pieces(contraction *c)
{
  uint64_t share = c->graph->entry_count / CHUNKS_MAX + 1, bound = 0;
  share = share > CHUNK_ENTRIES ? share : CHUNK_ENTRIES;
  piece *p = c->piece;
  for (uint32_t u = 0; u < c->coarse->vertex_count; u++) {
    bound += member_entries(c, u);
    p->end = u + 1;
    if (bound >= share && c->pieces + 1 < CHUNKS_MAX && u + 1 < c->coarse->vertex_count) {
      p[1] = (piece){.begin = u + 1, .place = p->place + bound};
      p++;
      c->pieces++;
      bound = 0;
    }
  }
  c->pieces++;
}

/* One coarse row from entry `begin` on; `place` tells where in it a neighbour stands already. Returns where it ends. */
static uint64_t merge_row(const contraction *c, piece *p, uint32_t u, uint64_t begin, uint32_t *place)
{
  const cm_csr_graph *g = c->graph;
  cm_csr_graph *coarse = c->coarse;
  uint64_t end = begin, size = 0;
  for (uint32_t j = c->first[u]; j < c->first[u + 1]; j++) {
    uint32_t v = c->member[j];
    size += g->size[v];
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
      uint32_t other = c->map[g->neighbour[i]];
      uint64_t weight = cm_csr_graph_weight(g, i);
      if (other == u)
        continue;
      if (place[other] == NONE)
        place[other] = (uint32_t)(end++ - begin);
      else
        weight += cm_csr_graph_weight(coarse, begin + place[other]);
      cm_csr_put(coarse, begin + place[other], other, weight);
      p->most = weight > p->most ? weight : p->most;
    }
  }
  for (uint64_t i = begin; i < end; i++)
    place[coarse->neighbour[i]] = NONE;
  coarse->size[u] = (uint32_t)size;
  coarse->first[u + 1] = end - begin;
  return end;
}

static cm_status merge_piece(void *context, size_t index, cm_error *error)
{
  contraction *c = context;
  piece *p = &c->piece[index];
  uint32_t *place, coarse = c->coarse->vertex_count;
  uint64_t end = p->place;
  CM_TRY(CM_NEW(c->run->memory, place, coarse, error));
  memset(place, 0xff, coarse * sizeof *place);
  cm_status status = CM_OK;
  p->most = 0;
  for (uint32_t u = p->begin; u < p->end && status == CM_OK; u++) {
    end = merge_row(c, p, u, end, place);
    if (u % CHECK_EVERY == 0)
      status = cm_run_check(c->run, error);
  }
  p->count = end - p->place;
  cm_free(place);
  return status;
}

/* The pieces' parts of an array, one after another. */
static cm_status close_gaps(const contraction *c, void **array, size_t size, cm_error *error)
{
  uint64_t total = 0;
  for (const piece *p = c->piece; p < c->piece + c->pieces; total += p++->count)
    memmove((char *)*array + total * size, (const char *)*array + p->place * size, p->count * size);
  CM_TRY(cm_book_reserved(*array, total * size, error));
  void *closed = cm_reallocate(c->run->memory, *array, total, size, error);
  if (closed == NULL)
    return error->status;
  *array = closed;
  return CM_OK;
}

/* Rows of all pieces, each where it stands if nothing merges. */
static cm_status merge(contraction *c, bool wide, cm_error *error)
{
  cm_csr_graph *coarse = c->coarse;
  cm_memory *memory = c->run->memory;
  uint64_t all = c->graph->entry_count;
  coarse->neighbour = cm_reserve(memory, all, sizeof *coarse->neighbour, error);
  if (coarse->neighbour == NULL)
    return error->status;
  void *weight = cm_reserve(memory, all, wide ? sizeof *coarse->wide : sizeof *coarse->weight, error);
  *(wide ? (void **)&coarse->wide : (void **)&coarse->weight) = weight;
  return weight == NULL ? error->status : cm_parallel(c->run, c->pieces, merge_piece, c, error);
}

/* Weights have 32 bits unless one needs more. */
static cm_status merge_all(contraction *c, cm_error *error)
{
  cm_csr_graph *coarse = c->coarse;
  uint64_t most = 0;
  bool wide = c->graph->wide != NULL;
  CM_TRY(merge(c, wide, error));
  for (uint32_t p = 0; p < c->pieces; p++)
    most = c->piece[p].most > most ? c->piece[p].most : most;
  if (most > UINT32_MAX && !wide) {
    wide = true;
    CM_FREE(coarse->neighbour, coarse->weight);
    coarse->neighbour = coarse->weight = NULL;
    CM_TRY(merge(c, wide, error));
  }
  CM_TRY(close_gaps(c, (void **)&coarse->neighbour, sizeof *coarse->neighbour, error));
  return wide ? close_gaps(c, (void **)&coarse->wide, sizeof *coarse->wide, error)
              : close_gaps(c, (void **)&coarse->weight, sizeof *coarse->weight, error);
}

static cm_status contract(contraction *c, cm_error *error)
{
  cm_csr_graph *coarse = c->coarse;
  cm_memory *memory = c->run->memory;
  CM_TRY(CM_NEW(memory, c->first, (size_t)coarse->vertex_count + 2, error));
  CM_TRY(CM_NEW(memory, c->member, c->graph->vertex_count, error));
  CM_TRY(CM_NEW(memory, c->piece, CHUNKS_MAX, error));
  cm_sort_members(c->map, c->graph->vertex_count, c->coarse->vertex_count, c->first, c->member);
  cut_pieces(c);
  CM_TRY(merge_all(c, error));
  for (uint32_t u = 0; u < coarse->vertex_count; u++)
    coarse->first[u + 1] += coarse->first[u];
  coarse->entry_count = coarse->first[coarse->vertex_count];
  return CM_OK;
}

cm_status cm_csr_graph_contract(const cm_csr_graph *graph, const uint32_t *map, uint32_t coarse_count, cm_run *run,
                              cm_csr_graph **coarse, cm_error *error)
{
  contraction c = {.graph = graph, .map = map, .run = run};
  CM_TRY(cm_csr_new_graph(run, coarse_count, &c.coarse, error));
  cm_status status = contract(&c, error);
  CM_FREE(c.piece, c.first, c.member);
  CM_TRY_OR(status, cm_csr_graph_free(c.coarse));
  c.coarse->weight_unit = graph->weight_unit;
  cm_csr_count_sizes(c.coarse);
  cm_csr_count_weights(c.coarse);
  *coarse = c.coarse;
  return CM_OK;
}

cm_status cm_csr_graph_induce(const cm_csr_graph *graph, const uint32_t *vertex, uint32_t count, uint32_t *local,
                            cm_run *run, cm_csr_graph **induced, cm_error *error)
{
  cm_csr_graph *made;
  CM_TRY(cm_csr_new_graph(run, count, &made, error));
  uint64_t entries = 0, used = 0;
  for (uint32_t i = 0; i < count; i++) {
    local[vertex[i]] = i;
    entries += cm_csr_graph_degree(graph, vertex[i]);
  }
  made->entry_count = entries;
  made->weight_unit = graph->weight_unit;
  made->repeats = graph->repeats;
  cm_csr_width kept = graph->weight != NULL ? CM_CSR_NARROW : graph->wide != NULL ? CM_CSR_WIDE : CM_CSR_UNIFORM;
  CM_TRY_OR(CM_NEW(run->memory, made->neighbour, entries, error), cm_csr_graph_free(made));
  CM_TRY_OR(cm_csr_new_weights(run, made, kept, error), cm_csr_graph_free(made));
  for (uint32_t i = 0; i < count; i++) {
    uint32_t v = vertex[i];
    made->size[i] = graph->size[v];
    for (uint64_t j = graph->first[v]; j < graph->first[v + 1]; j++) {
      /* A stale value is told apart by looking whom it names. */
      uint32_t other = graph->neighbour[j], at = local[other];
      if (at < count && vertex[at] == other)
        cm_csr_put(made, used++, at, cm_csr_graph_weight(graph, j));
    }
    made->first[i + 1] = used;
  }
  made->entry_count = used;
  cm_csr_count_sizes(made);
  cm_csr_count_weights(made);
  *induced = made;
  return CM_OK;
}
