#include "core/partition/graph_gather.h"

void cm_gatherer_free(cm_gatherer *gathered)
{
  cm_free(gathered->weight);
  for (unsigned l = 0; l < CM_GATHERER_LEVELS; l++)
    cm_free(gathered->bits[l]);
  *gathered = (cm_gatherer){0};
}

cm_status cm_gatherer_new(cm_run *run, uint32_t vertices, cm_gatherer *made, cm_error *error)
{
  cm_gatherer gathered = {0};
  cm_status status = CM_NEW(run->memory, gathered.weight, vertices, error);
  uint64_t words = vertices;
  do {
    words = words / 64 + 1;
    CM_THEN(status, CM_NEW(run->memory, gathered.bits[gathered.levels], words, error));
    gathered.levels++;
  } while (words > 1);
  CM_END(status, *made = gathered, cm_gatherer_free(&gathered));
}

static cm_status make_room(cm_graph *graph, uint64_t needed, uint64_t *room, cm_run *run, cm_error *error)
{
  if (needed <= *room)
    return CM_OK;
  uint64_t wanted = needed + graph->entry_count / 2 + 1024;
  uint32_t *neighbour = cm_reallocate(run->memory, graph->neighbour, wanted, sizeof *neighbour, error);
  if (neighbour == NULL)
    return error->status;
  graph->neighbour = neighbour;
  uint64_t *weight = cm_reallocate(run->memory, graph->weight, wanted, sizeof *weight, error);
  if (weight == NULL)
    return error->status;
  graph->weight = weight;
  *room = wanted;
  return CM_OK;
}

/* Takes the neighbours below word `word` of level `level` into the graph, in order. */
static void take_word(cm_gatherer *gathered, unsigned level, uint32_t word, cm_graph *graph)
{
  uint64_t bits = gathered->bits[level][word];
  gathered->bits[level][word] = 0;
  for (; bits != 0; bits &= bits - 1) {
    uint32_t number = word * 64 + (uint32_t)__builtin_ctzll(bits);
    if (level > 0) {
      take_word(gathered, level - 1, number, graph);
      continue;
    }
    uint64_t weight = gathered->weight[number] >> 1;
    gathered->weight[number] = 0;
    graph->neighbour[graph->entry_count] = number;
    graph->weight[graph->entry_count++] = weight;
    graph->weight_total += weight; /* twice the truth until cm_graph_finish */
  }
}

cm_status cm_gatherer_append(cm_gatherer *gathered, cm_graph *graph, uint32_t row, uint64_t *room, cm_run *run,
                             cm_error *error)
{
  CM_TRY(make_room(graph, graph->entry_count + gathered->count, room, run, error));
  take_word(gathered, gathered->levels - 1, 0, graph);
  graph->first[row + 1] = graph->entry_count;
  gathered->count = 0;
  return CM_OK;
}
