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
  uint64_t bound;      /* entries of their members */
  uint64_t count, room;
  uint32_t *neighbour; /* [room] */
  uint64_t *weight;    /* [room] */
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
    p->bound = bound;
    if (bound >= share && c->pieces + 1 < CHUNKS_MAX && u + 1 < c->coarse->vertex_count) {
      p++;
      c->pieces++;
      p->begin = u + 1;
      bound = 0;
    }
  }
  c->pieces++;
}

static cm_status grow(contraction *c, piece *p, uint64_t wanted, cm_error *error)
{
  if (wanted <= p->room)
    return CM_OK;
  uint64_t room = p->room + p->room / 2 > wanted ? p->room + p->room / 2 : wanted;
  room = room < p->bound ? room : p->bound;
  uint32_t *neighbour = cm_reallocate(c->run->memory, p->neighbour, room, sizeof *neighbour, error);
  if (neighbour == NULL)
    return error->status;
  p->neighbour = neighbour;
  uint64_t *weight = cm_reallocate(c->run->memory, p->weight, room, sizeof *weight, error);
  if (weight == NULL)
    return error->status;
  p->weight = weight;
  p->room = room;
  return CM_OK;
}

/* One coarse row; `place` tells where in it a neighbour stands already. */
static void merge_row(const contraction *c, piece *p, uint32_t u, uint32_t *place)
{
  const cm_csr_graph *g = c->graph;
  uint64_t begin = p->count, size = 0;
  for (uint32_t j = c->first[u]; j < c->first[u + 1]; j++) {
    uint32_t v = c->member[j];
    size += g->size[v];
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
      uint32_t other = c->map[g->neighbour[i]];
      if (other == u)
        continue;
      if (place[other] == NONE) {
        place[other] = (uint32_t)(p->count - begin);
        p->neighbour[p->count] = other;
        p->weight[p->count++] = 0;
      }
      p->weight[begin + place[other]] += cm_csr_graph_weight(g, i);
    }
  }
  for (uint64_t i = begin; i < p->count; i++) {
    place[p->neighbour[i]] = NONE;
    p->most = p->weight[i] > p->most ? p->weight[i] : p->most;
  }
  c->coarse->size[u] = (uint32_t)size;
  c->coarse->first[u + 1] = p->count - begin;
}

static cm_status merge_piece(void *context, size_t index, cm_error *error)
{
  contraction *c = context;
  piece *p = &c->piece[index];
  uint32_t *place, coarse = c->coarse->vertex_count;
  CM_TRY(CM_NEW(c->run->memory, place, coarse, error));
  memset(place, 0xff, coarse * sizeof *place);
  cm_status status = grow(c, p, p->bound / 4 + 16, error);
  for (uint32_t u = p->begin; u < p->end && status == CM_OK; u++) {
    uint64_t most = member_entries(c, u);
    status = grow(c, p, p->count + (most < coarse ? most : coarse), error);
    if (status == CM_OK)
      merge_row(c, p, u, place);
    if (status == CM_OK && u % CHECK_EVERY == 0)
      status = cm_run_check(c->run, error);
  }
  cm_free(place);
  return status;
}

static cm_status copy_piece(void *context, size_t index, cm_error *error)
{
  (void)error;
  contraction *c = context;
  piece *p = &c->piece[index];
  uint64_t at = c->coarse->first[p->begin];
  for (uint64_t i = 0; i < p->count; i++)
    cm_csr_put(c->coarse, at + i, p->neighbour[i], p->weight[i]);
  CM_FREE(p->neighbour, p->weight);
  p->neighbour = NULL;
  p->weight = NULL;
  return CM_OK;
}

static cm_status contract(contraction *c, cm_error *error)
{
  cm_csr_graph *coarse = c->coarse;
  cm_memory *memory = c->run->memory;
  uint64_t most = 0;
  CM_TRY(CM_NEW(memory, c->first, (size_t)coarse->vertex_count + 2, error));
  CM_TRY(CM_NEW(memory, c->member, c->graph->vertex_count, error));
  CM_TRY(CM_NEW(memory, c->piece, CHUNKS_MAX, error));
  cm_sort_members(c->map, c->graph->vertex_count, c->coarse->vertex_count, c->first, c->member);
  cut_pieces(c);
  CM_TRY(cm_parallel(c->run, c->pieces, merge_piece, c, error));
  for (uint32_t u = 0; u < coarse->vertex_count; u++)
    coarse->first[u + 1] += coarse->first[u];
  coarse->entry_count = coarse->first[coarse->vertex_count];
  for (uint32_t p = 0; p < c->pieces; p++)
    most = c->piece[p].most > most ? c->piece[p].most : most;
  CM_TRY(CM_NEW(memory, coarse->neighbour, coarse->entry_count, error));
  CM_TRY(cm_csr_new_weights(c->run, coarse, most <= UINT32_MAX ? CM_CSR_NARROW : CM_CSR_WIDE, error));
  return cm_parallel(c->run, c->pieces, copy_piece, c, error);
}

cm_status cm_csr_graph_contract(const cm_csr_graph *graph, const uint32_t *map, uint32_t coarse_count, cm_run *run,
                              cm_csr_graph **coarse, cm_error *error)
{
  contraction c = {.graph = graph, .map = map, .run = run};
  CM_TRY(cm_csr_new_graph(run, coarse_count, &c.coarse, error));
  cm_status status = contract(&c, error);
  for (uint32_t p = 0; c.piece != NULL && p < c.pieces; p++) {
    CM_FREE(c.piece[p].neighbour, c.piece[p].weight);
  }
  CM_FREE(c.piece, c.first, c.member);
  if (status != CM_OK) {
    cm_csr_graph_free(c.coarse);
    return status;
  }
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
  if (CM_NEW(run->memory, made->neighbour, entries, error) != CM_OK || cm_csr_new_weights(run, made, kept, error) != CM_OK) {
    cm_csr_graph_free(made);
    return error->status;
  }
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
