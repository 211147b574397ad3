/* From communities as they are to communities that processors can hold: joined (join.c), split, cut down to size, and
 * then refined pair by pair. */
#include "core/learning/communities/communities.h"
#include "core/learning/communities/fit.h"
#include "core/learning/communities/groups.h"
#include "core/partition/edge/two_way_fm.h"
#include "base/members.h"
#include "core/partition/reference/bisect.h"

enum { GROWTH_SHARE = 8, SPLIT_TRIES = 8, REFINE_ROUNDS = 8, PATIENCE = 200 };

static int falling(const void *a, const void *b)
{
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? 1 : x > y ? -1 : 0;
}

/* ---- splitting ---- */

/* Splits the largest community in two, the smaller one of a size that the processor left for it holds. */
static cm_status split_largest(cm_fit *f, cm_error *error)
{
  uint32_t largest = 0, n = f->graph->vertex_count, members = 0, *member = NULL, *scratch = NULL;
  uint8_t *side = NULL;
  uint64_t cut;
  cm_graph *inner = NULL;
  for (uint32_t c = 1; c < f->count; c++)
    largest = f->nodes[c] > f->nodes[largest] ? c : largest;
  uint32_t size = f->nodes[largest], half = size / 2, room = f->capacity[f->count];
  cm_status status = CM_NEW_ALL(f->run->memory, error, CM_ARRAY(member, size), CM_ARRAY(side, size), CM_ARRAY(scratch, n));
  for (uint32_t v = 0; status == CM_OK && v < n; v++)
    if (f->community[v] == largest)
      member[members++] = v;
  CM_THEN(status, cm_graph_induce(f->graph, member, size, scratch, f->run, &inner, error));
  cm_bisect_options options = {.half = {.target = half < room ? half : room},
                               .tries = SPLIT_TRIES,
                               .seed = f->run->seed,
                               .node = f->count,
                               .stream = CM_STREAM_COMMUNITIES};
  CM_THEN(status, cm_bisect(inner, &options, f->run, side, &cut, error));
  if (status == CM_OK) {
    for (uint32_t k = 0; k < size; k++)
      if (side[k])
        f->community[member[k]] = f->count;
    f->count++;
    cm_fit_count(f);
  }
  cm_graph_free(inner);
  CM_FREE(member, side, scratch);
  return status;
}

/* ---- cutting down to size ---- */

typedef struct leaver {
  int64_t gain;
  uint32_t vertex, to;
} leaver;

CM_ORDER(by_gain, leaver, CM_FALLING(gain) CM_RISING(vertex))

/* The community with room that v is tied to most, less its ties to its own. */
static leaver best_exit(const cm_fit *f, int64_t *tie, uint32_t v)
{
  const cm_graph *g = f->graph;
  memset(tie, 0, f->count * sizeof *tie);
  for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++)
    tie[f->community[g->neighbour[i]]] += (int64_t)g->weight[i];
  leaver found = {.vertex = v, .to = UINT32_MAX};
  for (uint32_t c = 0; c < f->count; c++)
    if (f->nodes[c] < f->slot[c] && (found.to == UINT32_MAX || tie[c] > tie[found.to]))
      found.to = c;
  found.gain = tie[found.to] - tie[f->community[v]];
  return found;
}

/* Moves vertices out of community c until it fits: a quarter of those too many at a time, then their gains anew. */
static cm_status cut_down(cm_fit *f, uint32_t c, int64_t *tie, leaver *leavers, cm_error *error)
{
  while (f->nodes[c] > f->slot[c]) {
    uint32_t found = 0, batch = (f->nodes[c] - f->slot[c] + 3) / 4;
    for (uint32_t v = 0; v < f->graph->vertex_count; v++)
      if (f->community[v] == c)
        leavers[found++] = best_exit(f, tie, v);
    qsort(leavers, found, sizeof *leavers, by_gain);
    for (uint32_t k = 0, moved = 0; k < found && moved < batch; k++) {
      uint32_t to = leavers[k].to;
      if (f->nodes[to] >= f->slot[to])
        continue;
      f->community[leavers[k].vertex] = to;
      f->nodes[to]++;
      f->nodes[c]--;
      moved++;
    }
    CM_TRY(cm_run_check(f->run, error));
  }
  return CM_OK;
}

/* Each community is meant for the processor of its rank by size. */
static cm_status choose_slots(cm_fit *f, cm_error *error)
{
  cm_status status = cm_fit_sort(f, true, f->order, error);
  for (uint32_t k = 0; status == CM_OK && k < f->count; k++)
    f->slot[f->order[k]] = f->capacity[k];
  return status;
}

/* Those too large for their slots are cut down. */
static cm_status cut_all_down(cm_fit *f, cm_error *error)
{
  int64_t *tie = NULL;
  leaver *leavers = NULL;
  cm_status status = CM_NEW_ALL(f->run->memory, error, CM_ARRAY(tie, f->count), CM_ARRAY(leavers, f->graph->vertex_count));
  for (uint32_t c = 0; status == CM_OK && c < f->count; c++)
    status = cut_down(f, c, tie, leavers, error);
  CM_FREE(tie, leavers);
  return status;
}

/* ---- refinement ---- */

/* The graph as the pair refiner reads it: vertices of size 1; it borrows but for `size`. */
static cm_status compact_view(const cm_graph *graph, cm_memory *memory, cm_csr_graph *view, cm_error *error)
{
  uint32_t n = graph->vertex_count, *size;
  CM_TRY(CM_NEW(memory, size, n, error));
  for (uint32_t v = 0; v < n; v++)
    size[v] = 1;
  *view = (cm_csr_graph){.vertex_count = n, .entry_count = graph->entry_count, .first = graph->first,
                       .neighbour = graph->neighbour, .wide = graph->weight, .size = size, .size_total = n,
                       .size_max = 1, .weight_total = graph->weight_total, .weight_unit = 1};
  return CM_OK;
}

typedef struct refiner {
  cm_fit *f;
  cm_csr_graph view;
  cm_pair_table table;
  cm_pair_seed *seed;       /* [vertices] */
  uint32_t *first, *member; /* of the communities as a round began */
  uint32_t *most;           /* [count] how many vertices each may hold */
} refiner;

static cm_status refine_pair(refiner *r, uint32_t c, uint32_t d, int64_t *gain, cm_error *error)
{
  cm_fit *f = r->f;
  const cm_graph *g = f->graph;
  uint32_t seeds = 0, both = f->nodes[c] + f->nodes[d];
  for (unsigned side = 0; side < 2; side++)
    for (uint32_t k = r->first[side ? d : c]; k < r->first[(side ? d : c) + 1]; k++) {
      uint32_t v = r->member[k], own = f->community[v], other = own == c ? d : c;
      int64_t tie = 0;
      for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
        uint32_t p = f->community[g->neighbour[i]];
        tie += p == other ? (int64_t)g->weight[i] : p == own ? -(int64_t)g->weight[i] : 0;
      }
      r->seed[seeds++] = (cm_pair_seed){v, tie};
    }
  cm_pair pair = {.part = {c, d}, .load = {f->nodes[c], f->nodes[d]}, .patience = PATIENCE, .work = UINT64_MAX,
                  .seed = r->seed, .seeds = seeds};
  /* One vertex at least stays in either. */
  pair.most[0] = r->most[c] < both ? r->most[c] : both - 1;
  pair.most[1] = r->most[d] < both ? r->most[d] : both - 1;
  CM_TRY(cm_pair_refine(&r->view, f->community, &r->table, &pair, f->run, error));
  f->nodes[c] = (uint32_t)pair.load[0];
  f->nodes[d] = (uint32_t)pair.load[1];
  *gain += pair.gain;
  return CM_OK;
}

static cm_status refine_round(refiner *r, int64_t *gain, cm_error *error)
{
  cm_fit *f = r->f;
  cm_graph *between;
  cm_status status = cm_graph_contract(f->graph, f->community, f->count, f->run, &between, error);
  CM_TRY(status);
  memset(r->first, 0, ((size_t)f->count + 2) * sizeof *r->first);
  cm_sort_members(f->community, f->graph->vertex_count, f->count, r->first, r->member);
  for (uint32_t c = 0; status == CM_OK && c < f->count; c++)
    for (uint64_t i = between->first[c]; status == CM_OK && i < between->first[c + 1]; i++)
      if (between->neighbour[i] > c)
        status = refine_pair(r, c, between->neighbour[i], gain, error);
  cm_graph_free(between);
  return status == CM_OK ? cm_run_check(f->run, error) : status;
}

static cm_status refine(cm_fit *f, cm_error *error)
{
  refiner r = {.f = f};
  uint32_t n = f->graph->vertex_count;
  cm_status status = compact_view(f->graph, f->run->memory, &r.view, error);
  CM_THEN(status, cm_pair_table_new(n, f->run, &r.table, error));
  CM_THEN(status, CM_NEW_ALL(f->run->memory, error, CM_ARRAY(r.seed, n), CM_ARRAY(r.first, (size_t)f->count + 2),
                             CM_ARRAY(r.member, n), CM_ARRAY(r.most, f->count)));
  /* Communities stay what they were found as: none swallows another only because its processor has room. */
  for (uint32_t c = 0; status == CM_OK && c < f->count; c++) {
    uint32_t grown = f->nodes[c] + f->nodes[c] / GROWTH_SHARE + 1;
    r.most[c] = grown < f->slot[c] ? grown : f->slot[c];
  }
  int64_t gain = 1;
  for (uint32_t round = 0; status == CM_OK && round < REFINE_ROUNDS && gain > 0; round++) {
    gain = 0;
    status = refine_round(&r, &gain, error);
  }
  cm_free(r.view.size);
  cm_pair_table_free(&r.table);
  CM_FREE(r.seed, r.first, r.member, r.most);
  return status;
}

/* ---- all ---- */

static cm_status fit_all(cm_fit *f, cm_error *error)
{
  cm_status status = CM_OK;
  uint32_t n = f->graph->vertex_count, most = f->processors < n ? f->processors : n;
  cm_fit_count(f);
  while (status == CM_OK && f->count > f->processors)
    status = cm_fit_join(f, error);
  while (status == CM_OK && f->count < most)
    status = split_largest(f, error);
  CM_THEN(status, choose_slots(f, error));
  CM_THEN(status, cut_all_down(f, error));
  CM_THEN(status, refine(f, error));
  CM_THEN(status, cm_number_groups(f->community, n, f->count, f->run->memory, &f->count, error));
  return status;
}

static cm_status check_room(const uint32_t *room, uint32_t count, uint32_t nodes, cm_error *error)
{
  uint64_t all = 0;
  for (uint32_t i = 0; i < count; i++)
    all += room[i];
  if (all >= nodes)
    return CM_OK;
  (void)cm_fail(error, CM_NO_ROOM, "not enough free cores on the processors: %u needed, %llu free", nodes,
                (unsigned long long)all);
  cm_error_figure(error, "needed", nodes);
  cm_error_figure(error, "free", all);
  return error->status;
}

static void fit_free(cm_fit *f)
{
  CM_FREE(f->community, f->capacity, f->nodes, f->order, f->slot);
}

/* With a copy of the communities, and room for as many as there may be. The caller frees, after a failure too. */
static cm_status fit_new(cm_fit *f, const uint32_t *community, uint32_t processors, cm_error *error)
{
  cm_memory *memory = f->run->memory;
  size_t n = f->graph->vertex_count, most = (size_t)f->count + processors;
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(f->community, n), CM_ARRAY(f->capacity, processors), CM_ARRAY(f->nodes, most),
                    CM_ARRAY(f->order, most), CM_ARRAY(f->slot, most)));
  memcpy(f->community, community, n * sizeof *community);
  return CM_OK;
}

cm_status cm_communities_fit(const cm_graph *graph, const uint32_t *capacity, uint32_t processors, cm_run *run,
                             uint32_t *community, uint32_t *count, cm_error *error)
{
  cm_fit f = {.graph = graph, .run = run, .count = *count, .processors = processors};
  CM_TRY(check_room(capacity, processors, graph->vertex_count, error));
  cm_status status = fit_new(&f, community, processors, error);
  if (status == CM_OK) {
    memcpy(f.capacity, capacity, processors * sizeof *capacity);
    qsort(f.capacity, processors, sizeof *f.capacity, falling);
    /* Processors without a free core hold nothing. */
    while (f.processors > 0 && f.capacity[f.processors - 1] == 0)
      f.processors--;
    status = fit_all(&f, error);
  }
  if (status == CM_OK) {
    memcpy(community, f.community, graph->vertex_count * sizeof *community);
    *count = f.count;
  }
  fit_free(&f);
  return status;
}

cm_status cm_communities_cut(const cm_graph *graph, const uint32_t *room, uint32_t count, cm_run *run,
                             uint32_t *community, cm_error *error)
{
  cm_fit f = {.graph = graph, .run = run, .count = count, .processors = count};
  CM_TRY(check_room(room, count, graph->vertex_count, error));
  cm_status status = fit_new(&f, community, 0, error);
  if (status == CM_OK) {
    memcpy(f.slot, room, count * sizeof *room);
    cm_fit_count(&f);
    status = cut_all_down(&f, error);
  }
  CM_THEN(status, refine(&f, error));
  if (status == CM_OK)
    memcpy(community, f.community, graph->vertex_count * sizeof *community);
  fit_free(&f);
  return status;
}
