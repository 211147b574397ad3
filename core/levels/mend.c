/* Happy path: neurons of both networks -> on each level the pairs of the old one whose halves still exist, fit and touch -> the others
 * are matched as always -> each coarse vertex stands for the old one of its members, one of them where several would. What can fail:
 * memory, disk, cancel. */
#include "core/levels/mend.h"

#include <math.h>

#include "base/order.h"
#include "core/levels/level_pairs.h"
#include "core/network/names.h"
#include "core/partition/graph_rows.h"

enum { CHECK_EVERY = 4096 };
static const uint32_t none = UINT32_MAX;

/* ---- what merged before ---- */

void cm_old_levels_free(cm_old_levels *old)
{
  for (uint32_t l = 0; l < old->count; l++)
    cm_free(old->parent[l]);
  *old = (cm_old_levels){0};
}

static bool read_note(const cm_level_files *files, uint32_t level, cm_level_note *note)
{
  return cm_level_note_read(files->folder, level, note) || cm_level_note_read(files->shared, level, note);
}

cm_status cm_old_levels_read(const cm_level_files *files, cm_run *run, cm_old_levels *old, cm_error *error)
{
  cm_old_levels made = {0};
  char path[CM_PATH_MAX];
  cm_status status = CM_OK;
  for (uint32_t l = 0; l < files->count && status == CM_OK; l++) {
    uint32_t finer = 0;
    status = cm_level_path(files, l + 1, path, error);
    CM_THEN(status, cm_level_parents_read(path, run, &made.parent[l], &finer, &made.vertices[l + 1], error));
    if (status != CM_OK)
      break;
    made.count++;
    if (l > 0 && finer != made.vertices[l])
      status = cm_fail(error, CM_DAMAGED, "%s merges %u vertices, and the finer level has %u", path, finer, made.vertices[l]);
    made.vertices[l] = finer;
  }
  for (uint32_t l = 0; l <= files->count && l <= CM_LEVELS_MAX && status == CM_OK; l++)
    if (!read_note(files, l + 1, &made.note[l]))
      status = cm_fail(error, CM_DAMAGED, "there is no note of level %u", l + 1);
  CM_END(status, *old = made, cm_old_levels_free(&made));
}

/* ---- who is who ---- */

typedef struct mending {
  const cm_mend_task *task;
  cm_run *run;
  cm_mended made;
  uint32_t *counterpart; /* [vertices of the level] old vertex that each stands for, of all different ones; none */
} mending;

static cm_status by_names(const mending *m, cm_names *names, uint32_t *old_of, bool *taken, cm_error *error)
{
  const cm_topology *old = m->task->edited_from, *new = m->task->network;
  uint32_t count = 0;
  for (uint32_t v = 0; v < old->vertex_count; v++) {
    const char *name = cm_topology_label(old, v);
    uint32_t number;
    CM_TRY(cm_names_number(names, name, strlen(name), UINT32_MAX - 1, &number, error));
    if (number == count)
      old_of[count++] = v;
  }
  for (uint32_t v = 0; v < new->vertex_count; v++) {
    const char *name = cm_topology_label(new, v);
    uint32_t number;
    if (!cm_names_find(names, name, strlen(name), &number) || taken[number])
      continue;
    taken[number] = true;
    m->counterpart[v] = old_of[number];
  }
  return CM_OK;
}

static cm_status find_neurons(const mending *m, cm_error *error)
{
  const cm_topology *old = m->task->edited_from, *new = m->task->network;
  const bool named = old->label_first != NULL && new->label_first != NULL;
  for (uint32_t v = 0; v < new->vertex_count; v++)
    m->counterpart[v] = !named && v < old->vertex_count ? v : none;
  if (!named)
    return CM_OK;
  cm_names names;
  uint32_t *old_of = NULL;
  bool *taken = NULL;
  CM_TRY(cm_names_open(&names, m->run->memory, error));
  cm_status status = CM_NEW_ALL(m->run->memory, error, CM_ARRAY(old_of, old->vertex_count), CM_ARRAY(taken, old->vertex_count));
  CM_THEN(status, by_names(m, &names, old_of, taken, error));
  cm_names_close(&names);
  CM_FREE(old_of, taken);
  return status;
}

/* ---- pairs that stay ---- */

static void restrict_to(cm_capacities *held, cm_capacities by)
{
  held->least = by.least > held->least ? by.least : held->least;
  held->most = by.most < held->most ? by.most : held->most;
}

static bool has_edge(const cm_graph_row *row, uint32_t to)
{
  uint64_t low = 0, high = row->count;
  CM_BISECT(low, high, middle, row->neighbour[middle] < to)
  return low < row->count && row->neighbour[low] == to;
}

/* mate [old vertices] of the old level. */
static cm_status find_old_mates(const cm_old_levels *old, uint32_t level, cm_run *run, uint32_t *mate, cm_error *error)
{
  uint32_t *first;
  const uint32_t *parent = old->parent[level];
  CM_TRY(CM_NEW(run->memory, first, old->vertices[level + 1], error));
  for (uint32_t q = 0; q < old->vertices[level + 1]; q++)
    first[q] = none;
  for (uint32_t a = 0; a < old->vertices[level]; a++) {
    mate[a] = a;
    if (first[parent[a]] == none)
      first[parent[a]] = a;
    else {
      mate[a] = first[parent[a]];
      mate[mate[a]] = a;
    }
  }
  cm_free(first);
  return CM_OK;
}

typedef struct keeping {
  uint32_t *old_mate; /* [old vertices] */
  uint32_t *now;      /* [old vertices] the vertex that stands for each; none */
  uint32_t *mate;     /* [vertices] */
  cm_graph_rows rows;
} keeping;

static void keeping_free(keeping *k)
{
  cm_graph_rows_free(&k->rows);
  CM_FREE(k->old_mate, k->now, k->mate);
}

static cm_status keeping_new(const mending *m, const cm_graph *graph, uint32_t level, keeping *made, cm_error *error)
{
  const cm_old_levels *old = m->task->old;
  keeping k = {0};
  cm_status status = CM_NEW_ALL(m->run->memory, error, CM_ARRAY(k.old_mate, old->vertices[level]),
                                CM_ARRAY(k.now, old->vertices[level]), CM_ARRAY(k.mate, graph->vertex_count));
  CM_THEN(status, cm_graph_rows_new(graph, m->run, &k.rows, error));
  CM_THEN(status, find_old_mates(old, level, m->run, k.old_mate, error));
  CM_TRY_OR(status, keeping_free(&k));
  for (uint32_t a = 0; a < old->vertices[level]; a++)
    k.now[a] = none;
  for (uint32_t v = 0; v < graph->vertex_count; v++) {
    k.mate[v] = v;
    if (m->counterpart[v] != none)
      k.now[m->counterpart[v]] = v;
  }
  *made = k;
  return CM_OK;
}

static cm_status keep_pairs(const mending *m, const cm_graph *graph, keeping *k, cm_pairs_kept *kept, cm_error *error)
{
  const cm_partition_options *o = m->task->options;
  for (uint32_t v = 0; v < graph->vertex_count; v++) {
    const uint32_t a = m->counterpart[v], u = a != none ? k->now[k->old_mate[a]] : none;
    cm_graph_row row;
    if (v % CHECK_EVERY == 0 && cm_run_check(m->run, error) != CM_OK)
      return error->status;
    if (u == none || u <= v)
      continue;
    const uint64_t asked = ((uint64_t)graph->size[u] + graph->size[v]) * o->coarsening_share;
    const bool fits = asked <= o->capacity;
    restrict_to(&kept->holds, fits ? (cm_capacities){asked, UINT64_MAX} : (cm_capacities){0, asked - 1});
    CM_TRY(cm_graph_row_of(&k->rows, v, &row, error));
    if (!fits || !has_edge(&row, u))
      continue;
    k->mate[v] = u;
    k->mate[u] = v;
    kept->pairs++;
  }
  return CM_OK;
}

/* ---- the next level ---- */

/* Old vertices that the coarse ones stand for: first those of pairs that stayed, then as they come. */
static cm_status climb(mending *m, uint32_t level, const uint32_t *parent, uint32_t finer, uint32_t coarse, cm_error *error)
{
  const cm_old_levels *old = m->task->old;
  const uint32_t *up = old->parent[level];
  uint32_t *next = NULL, *first = NULL;
  bool *taken = NULL;
  cm_status status = CM_NEW_ALL(m->run->memory, error, CM_ARRAY(next, coarse), CM_ARRAY(first, coarse),
                                CM_ARRAY(taken, old->vertices[level + 1]));
  CM_TRY_OR(status, CM_FREE(next, first, taken));
  for (uint32_t c = 0; c < coarse; c++)
    next[c] = first[c] = none;
  for (uint32_t v = 0; v < finer; v++) { /* `first`: of the first member, until the second agrees */
    const uint32_t c = parent[v], q = m->counterpart[v] != none ? up[m->counterpart[v]] : none;
    if (q != none && first[c] == q) {
      next[c] = q;
      taken[q] = true;
    }
    first[c] = q;
  }
  for (uint32_t v = 0; v < finer; v++) {
    const uint32_t c = parent[v], q = m->counterpart[v] != none ? up[m->counterpart[v]] : none;
    if (q == none || next[c] != none || taken[q])
      continue;
    next[c] = q;
    taken[q] = true;
  }
  CM_FREE(first, taken, m->counterpart);
  m->counterpart = next;
  return CM_OK;
}

/* Level files->shared_count from the network's neurons. */
static cm_status climb_shared(mending *m, const cm_level_files *files, cm_error *error)
{
  cm_status status = CM_OK;
  for (uint32_t l = 0; l < files->shared_count && l < m->task->old->count && status == CM_OK; l++) {
    char path[CM_PATH_MAX];
    uint32_t *parent = NULL, finer = 0, coarse = 0;
    status = cm_level_path(files, l + 1, path, error);
    CM_THEN(status, cm_level_parents_read(path, m->run, &parent, &finer, &coarse, error));
    CM_THEN(status, climb(m, l, parent, finer, coarse, error));
    cm_free(parent);
  }
  return status;
}

static cm_status mend_level(mending *m, cm_graph **graph, cm_level_files *files, uint32_t *parent, bool *made, cm_error *error)
{
  const uint32_t level = files->count, finer = (*graph)->vertex_count;
  const cm_level_note *note = &m->task->old->note[level];
  cm_pairs_kept kept = {.holds = note->holds, .available = note->available};
  const cm_pairing_task task = {.options = m->task->options, .matching = m->task->options->matching, .run = m->run, .kept = &kept};
  keeping k;
  CM_TRY(keeping_new(m, *graph, level, &k, error));
  cm_status status = keep_pairs(m, *graph, &k, &kept, error);
  kept.mate = k.mate;
  CM_THEN(status, cm_coarsen_once(graph, &task, files, parent, made, error));
  keeping_free(&k);
  if (status != CM_OK || !*made)
    return status;
  m->made.carried += kept.pairs;
  m->made.matched += finer - (*graph)->vertex_count - kept.pairs;
  return climb(m, level, parent, finer, (*graph)->vertex_count, error);
}

/* The old levels end here, and a further one would not come of what was added since. */
static bool ends(const mending *m, const cm_graph *graph)
{
  const cm_old_levels *old = m->task->old;
  return graph->vertex_count * (1 - m->task->options->coarsening_stop) <= old->vertices[old->count];
}

/* What comes after the old levels; for capacities that have no further one of these. */
static cm_status go_on(const mending *m, cm_graph **graph, cm_level_files *files, cm_error *error)
{
  const cm_old_levels *old = m->task->old;
  const cm_pairs_kept nothing = {.holds = old->note[old->count].holds};
  const cm_pairing_task task = {.options = m->task->options, .matching = m->task->options->matching, .run = m->run, .kept = &nothing};
  cm_level_files rest = *files;
  uint32_t *parent;
  bool made = false;
  if (files->count == CM_LEVELS_MAX)
    return CM_OK;
  if (files->count == old->count && ends(m, *graph))
    return cm_level_note_write(files->folder, files->count + 1, &old->note[old->count], error);
  CM_TRY(CM_NEW(m->run->memory, parent, (*graph)->vertex_count, error));
  cm_status status = cm_coarsen_once(graph, &task, files, parent, &made, error);
  cm_free(parent);
  if (status != CM_OK || !made)
    return status;
  rest.shared_count = files->count;
  status = cm_coarsen(*graph, m->task->options, &rest, m->run, error);
  *graph = NULL;
  files->count = rest.count;
  return status;
}

static cm_status mend(mending *m, cm_graph **graph, cm_level_files *files, cm_error *error)
{
  const cm_old_levels *old = m->task->old;
  bool made = true;
  cm_status status = CM_OK;
  for (files->count = files->shared_count; status == CM_OK && made && files->count < old->count;) {
    const uint32_t finer = (*graph)->vertex_count;
    uint32_t *parent = NULL;
    status = cm_run_progress(m->run, 0, (int)files->count, finer, NAN, error);
    CM_THEN(status, CM_NEW(m->run->memory, parent, finer, error));
    CM_THEN(status, mend_level(m, graph, files, parent, &made, error));
    cm_free(parent);
  }
  CM_THEN_IF(status, made, go_on(m, graph, files, error));
  return status;
}

cm_status cm_levels_mend(cm_graph *graph, const cm_mend_task *task, cm_level_files *files, cm_run *run, cm_mended *mended,
                         cm_error *error)
{
  mending m = {.task = task, .run = run};
  cm_status status = CM_NEW(run->memory, m.counterpart, task->network->vertex_count, error);
  CM_THEN(status, find_neurons(&m, error));
  CM_THEN(status, climb_shared(&m, files, error));
  CM_THEN(status, mend(&m, &graph, files, error));
  cm_free(m.counterpart);
  cm_graph_free(graph);
  CM_TRY(status);
  *mended = m.made;
  return CM_OK;
}
