#include "core/partition/reference/coarsen.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/random.h"
#include "base/threads.h"
#include "core/partition/graph_gather.h"
#include "core/partition/graph_rows.h"

enum { CHECK_EVERY = 4096 };

static void restrict_to(cm_capacities *held, const cm_capacities *by)
{
  held->least = by->least > held->least ? by->least : held->least;
  held->most = by->most < held->most ? by->most : held->most;
}

/* Whether u, a neighbour, may pair with v; for which capacities the answer is the same goes into the pairing. */
static bool may_pair(const cm_pairing_task *task, cm_pairing *pairing, uint32_t u, uint32_t v)
{
  const uint64_t asked = ((uint64_t)task->graph->size[u] + task->graph->size[v]) * task->options->coarsening_share;
  const bool fits = asked <= task->options->capacity;
  if (pairing->mate[u] != u)
    return false;
  restrict_to(&pairing->holds, fits ? &(cm_capacities){asked, UINT64_MAX} : &(cm_capacities){0, asked - 1});
  return fits;
}

/* The neighbour that v pairs with, or v itself. */
static uint32_t choose_mate(const cm_pairing_task *task, const cm_graph_row *row, cm_pairing *pairing, uint32_t v,
                            cm_random *random, uint64_t *weight)
{
  uint64_t heaviest = 0;
  uint32_t chosen = v, equals = 0;
  bool any_edge = false;
  for (uint64_t i = 0; i < row->count; i++) {
    uint32_t u = row->neighbour[i];
    uint64_t w = row->weight[i];
    if (any_edge && w < heaviest)
      continue;
    bool fits = may_pair(task, pairing, u, v);
    if (!fits && task->matching == CM_MATCHING_AVAILABLE)
      continue;
    if (!any_edge || w > heaviest) {
      any_edge = true;
      heaviest = w;
      chosen = v;
      equals = 0;
    }
    /* One of the equally heavy neighbours that fit, each with the same chance. */
    if (fits && cm_random_below(random, ++equals) == 0)
      chosen = u;
  }
  *weight = heaviest;
  return chosen;
}

/* Of the time of a level. */
static const double share_of_matching = 0.6, share_of_contracting = 0.3;

static cm_status pair(const cm_pairing_task *task, cm_graph_rows *rows, const uint32_t *order, cm_random *random,
                      cm_pairing *pairing, cm_error *error)
{
  uint32_t vertices = task->graph->vertex_count, *mate = pairing->mate;
  pairing->pairs = task->kept != NULL ? task->kept->pairs : 0;
  pairing->removed = 0;
  pairing->holds = (cm_capacities){0, UINT64_MAX};
  for (uint32_t v = 0; v < vertices; v++)
    mate[v] = task->kept != NULL && task->kept->pairs > 0 ? task->kept->mate[v] : v;
  for (uint32_t i = 0; i < vertices; i++) {
    uint32_t v = order[i];
    cm_graph_row row;
    if (i % CHECK_EVERY == 0) {
      CM_TRY(cm_run_check(task->run, error));
      cm_run_add(task->run, i > 0 ? share_of_matching / task->options->coarsening_tries * CHECK_EVERY / vertices : 0);
    }
    if (mate[v] != v)
      continue;
    CM_TRY(cm_graph_row_of(rows, v, &row, error));
    uint64_t weight;
    uint32_t u = choose_mate(task, &row, pairing, v, random, &weight);
    if (u == v)
      continue;
    mate[v] = u;
    mate[u] = v;
    pairing->pairs++;
    pairing->removed += weight;
  }
  return CM_OK;
}

cm_status cm_match(const cm_pairing_task *task, uint32_t try, cm_pairing *pairing, cm_error *error)
{
  const cm_graph *graph = task->graph;
  uint32_t *order;
  cm_graph_rows rows = {0};
  cm_random random;
  cm_random_init(&random, task->options->coarsening_seed, CM_STREAM_COARSENING, (uint64_t)task->level << 32 | try);
  cm_status status = CM_NEW(task->run->memory, order, graph->vertex_count, error);
  CM_THEN(status, cm_graph_rows_new(graph, task->run, &rows, error));
  if (status == CM_OK) {
    cm_random_permutation(&random, order, graph->vertex_count);
    status = pair(task, &rows, order, &random, pairing, error);
  }
  cm_graph_rows_free(&rows);
  cm_free(order);
  return status;
}

/* ---- what the heaviest edges are ---- */

/* Where graphs would not become so many times smaller, they are read as they are. */
enum { RECORDS_SHARE = 4 };

/* Entries of row v that weigh no less than any before them; copies them to neighbour and weight unless those are NULL. */
static uint64_t find_records(const cm_graph *graph, uint32_t v, uint32_t *neighbour, uint64_t *weight)
{
  uint64_t count = 0, heaviest = 0;
  for (uint64_t i = graph->first[v]; i < graph->first[v + 1]; i++) {
    if (graph->weight[i] < heaviest)
      continue;
    heaviest = graph->weight[i];
    if (neighbour != NULL) {
      neighbour[count] = graph->neighbour[i];
      weight[count] = heaviest;
    }
    count++;
  }
  return count;
}

static cm_status copy_records(const cm_graph *graph, cm_run *run, cm_graph *kept, cm_error *error)
{
  for (uint32_t v = 0; v < graph->vertex_count; v++) {
    uint64_t at = kept->first[v];
    kept->size[v] = graph->size[v];
    kept->first[v + 1] = at + find_records(graph, v, kept->neighbour + at, kept->weight + at);
    if (v % CHECK_EVERY == 0 && cm_run_check(run, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

/* The graph with those entries alone: CM_MATCHING_HEAVIEST looks at no others, and so every try but reads the few. NULL
 * where they are not few. */
static cm_status keep_records(const cm_graph *graph, cm_run *run, cm_graph **kept, cm_error *error)
{
  uint64_t count = 0;
  cm_graph *made;
  for (uint32_t v = 0; v < graph->vertex_count; v++) {
    count += find_records(graph, v, NULL, NULL);
    if (count > graph->entry_count / RECORDS_SHARE) {
      *kept = NULL;
      return CM_OK;
    }
    if (v % CHECK_EVERY == 0 && cm_run_check(run, error) != CM_OK)
      return error->status;
  }
  cm_status status = cm_graph_new(run, graph->vertex_count, count, &made, error);
  if (status != CM_OK)
    return status;
  status = copy_records(graph, run, made, error);
  CM_END(status, *kept = made, cm_graph_free(made));
}

typedef struct tries {
  cm_pairing_task task;
  cm_pairing *pairing; /* [tries] */
  cm_capacities holds; /* of all tries so far, the outcome */
} tries;

static cm_status match_once(void *context, size_t try, cm_error *error)
{
  tries *all = context;
  cm_pairing *pairing = &all->pairing[try];
  if (pairing->mate == NULL && CM_NEW(all->task.run->memory, pairing->mate, all->task.graph->vertex_count, error) != CM_OK)
    return error->status;
  return cm_match(&all->task, (uint32_t)try, pairing, error);
}

/* Numbers coarse vertices by their lowest member. */
static uint32_t number_pairs(const uint32_t *mate, uint32_t vertices, uint32_t *parent)
{
  uint32_t next = 0;
  for (uint32_t v = 0; v < vertices; v++)
    parent[v] = mate[v] < v ? parent[mate[v]] : next++;
  return next;
}

/* Whether the level shrinks enough; *best is the try that removes most weight. */
static cm_status match_all(tries *all, uint32_t *best, bool *shrinks, cm_error *error)
{
  cm_pairing_task *task = &all->task;
  const cm_partition_options *options = task->options;
  const cm_graph *whole = task->graph;
  cm_graph *kept = NULL;
  cm_status status = CM_OK;
  if (task->matching == CM_MATCHING_HEAVIEST && (task->kept == NULL || task->kept->pairs == 0))
    status = keep_records(whole, task->run, &kept, error);
  task->graph = kept != NULL ? kept : whole;
  CM_THEN(status, cm_parallel(task->run, options->coarsening_tries, match_once, all, error));
  task->graph = whole;
  cm_graph_free(kept);
  *best = 0;
  for (uint32_t t = 0; status == CM_OK && t < options->coarsening_tries; t++) {
    restrict_to(&all->holds, &all->pairing[t].holds);
    if (all->pairing[t].removed > all->pairing[*best].removed)
      *best = t;
  }
  *shrinks = status == CM_OK && all->pairing[*best].pairs > 0 &&
             all->pairing[*best].pairs >= options->coarsening_stop * whole->vertex_count;
  return status;
}

cm_status cm_coarsen_level(const cm_pairing_task *task, uint32_t *parent, cm_graph **coarse, cm_level_note *note, cm_error *error)
{
  const cm_graph *graph = task->graph;
  uint32_t count = task->options->coarsening_tries, best = 0;
  bool by_itself = task->matching == CM_MATCHING_AUTO, shrinks = false;
  tries all = {.task = *task, .holds = task->kept != NULL ? task->kept->holds : (cm_capacities){0, UINT64_MAX}};
  if (by_itself)
    all.task.matching = task->kept != NULL && task->kept->available ? CM_MATCHING_AVAILABLE : CM_MATCHING_HEAVIEST;
  cm_status status = CM_NEW(task->run->memory, all.pairing, count, error);
  CM_THEN(status, match_all(&all, &best, &shrinks, error));
  if (status == CM_OK && !shrinks && by_itself && all.task.matching != CM_MATCHING_AVAILABLE) {
    all.task.matching = CM_MATCHING_AVAILABLE;
    status = match_all(&all, &best, &shrinks, error);
  }
  if (status == CM_OK && shrinks) {
    uint32_t coarse_count = number_pairs(all.pairing[best].mate, graph->vertex_count, parent);
    status = cm_graph_contract(graph, parent, coarse_count, task->run, coarse, error);
    cm_run_add(task->run, share_of_contracting);
  } else if (status == CM_OK)
    *coarse = NULL;
  *note = (cm_level_note){all.holds, shrinks && by_itself && all.task.matching == CM_MATCHING_AVAILABLE};
  for (uint32_t t = 0; all.pairing != NULL && t < count; t++)
    cm_free(all.pairing[t].mate);
  cm_free(all.pairing);
  return status;
}

/* ---- files ---- */

static const char *name_of(const cm_level_files *files)
{
  return files->pairs ? "pairs" : "level";
}

cm_status cm_level_path(const cm_level_files *files, uint32_t number, char path[CM_PATH_MAX], cm_error *error)
{
  return cm_path(path, error, "%s/%s-%u.zip", number <= files->shared_count ? files->shared : files->folder, name_of(files), number);
}

cm_status cm_level_note_write(const char *folder, uint32_t level, const cm_level_note *note, cm_error *error)
{
  const uint64_t number[] = {note->holds.least, note->holds.most, note->available};
  char path[CM_PATH_MAX];
  CM_TRY(cm_path(path, error, "%s/note-%u", folder, level));
  FILE *file = fopen(path, "wbe");
  if (file == NULL)
    return cm_fail_errno(error, errno, "cannot write", path);
  bool whole = fwrite(number, sizeof number, 1, file) == 1;
  return fclose(file) == 0 && whole ? CM_OK : cm_fail_errno(error, errno, "cannot write", path);
}

bool cm_level_note_read(const char *folder, uint32_t level, cm_level_note *note)
{
  uint64_t number[3];
  char path[CM_PATH_MAX];
  cm_error ignored;
  FILE *file = folder[0] != '\0' && cm_path(path, &ignored, "%s/note-%u", folder, level) == CM_OK ? fopen(path, "rbe") : NULL;
  bool whole = file != NULL && fread(number, sizeof number, 1, file) == 1;
  if (file != NULL)
    (void)fclose(file);
  if (whole)
    *note = (cm_level_note){{number[0], number[1]}, number[2] != 0};
  return whole;
}

/* The folder that has what comes after the levels so far; NULL: neither. */
static const char *next_in(const cm_level_files *files, cm_level_note *note)
{
  const uint32_t level = files->count + 1;
  if (cm_level_note_read(files->folder, level, note))
    return files->folder;
  return files->shared_count == files->count && cm_level_note_read(files->shared, level, note) ? files->shared : NULL;
}

static bool is_there(const cm_level_files *files, const char *folder, uint32_t level)
{
  char path[CM_PATH_MAX];
  cm_error ignored;
  return cm_path(path, &ignored, "%s/%s-%u.zip", folder, name_of(files), level) == CM_OK && access(path, R_OK) == 0;
}

bool cm_levels_hold(cm_level_files *files, uint64_t capacity, uint32_t *available)
{
  files->count = files->shared_count = *available = 0;
  while (files->count < CM_LEVELS_MAX) {
    cm_level_note note;
    const char *folder = next_in(files, &note);
    if (folder == NULL || capacity < note.holds.least || capacity > note.holds.most)
      return false;
    if (!is_there(files, folder, files->count + 1))
      break;
    files->count++;
    files->shared_count += folder == files->shared;
    *available += note.available;
  }
  return true;
}

cm_status cm_coarsen_once(cm_graph **graph, const cm_pairing_task *task, cm_level_files *files, uint32_t *parent, bool *made,
                          cm_error *error)
{
  const uint32_t finer_count = (*graph)->vertex_count, level = files->count;
  cm_pairing_task own = *task;
  own.graph = *graph;
  own.level = level;
  cm_graph *coarse = NULL;
  cm_level_note note;
  char path[CM_PATH_MAX];
  cm_status status = cm_coarsen_level(&own, parent, &coarse, &note, error);
  CM_THEN(status, cm_level_note_write(files->folder, level + 1, &note, error));
  *made = coarse != NULL;
  if (coarse != NULL) {
    cm_graph_free(*graph);
    *graph = coarse;
    CM_THEN(status, cm_level_path(files, ++files->count, path, error));
    CM_THEN(status, cm_graph_save(coarse, parent, finer_count, files->weight_scale, true, path, task->run, error));
  }
  return status;
}

static cm_status add_level(cm_graph **graph, const cm_partition_options *options, cm_level_files *files, cm_run *run, bool *made,
                           cm_error *error)
{
  uint32_t *parent;
  CM_TRY(CM_NEW(run->memory, parent, (*graph)->vertex_count, error));
  const cm_pairing_task task = {.options = options, .matching = options->matching, .run = run};
  cm_status status = cm_coarsen_once(graph, &task, files, parent, made, error);
  cm_free(parent);
  return status;
}

/* A level takes about as long as all that are coarser. */
static const double share_of_level = 0.4;

cm_status cm_coarsen(cm_graph *graph, const cm_partition_options *options, cm_level_files *files, cm_run *run, cm_error *error)
{
  bool made = true;
  cm_status status = CM_OK;
  for (files->count = files->shared_count; status == CM_OK && made && files->count < CM_LEVELS_MAX;) {
    const size_t mark = cm_run_within(run, share_of_level);
    status = cm_run_progress(run, 0, (int)files->count, graph->vertex_count, NAN, error);
    CM_THEN(status, add_level(&graph, options, files, run, &made, error));
    cm_run_leave(run, mark);
  }
  cm_graph_free(graph);
  return status;
}
