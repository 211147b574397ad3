#include "core/levels/level_pairs.h"

#include <unistd.h>

#include "core/partition/graph_gather.h"

static cm_status pairs_path(const char *folder, uint32_t level, char path[CM_PATH_MAX], cm_error *error)
{
  return cm_path(path, error, "%s/pairs-%u.zip", folder, level);
}

cm_status cm_level_parents_read(const char *path, cm_run *run, uint32_t **parent, uint32_t *finer_count, uint32_t *count, cm_error *error)
{
  cm_topology_reader *reader;
  uint32_t *made;
  CM_TRY(cm_topology_reader_open(path, run->memory, &reader, error));
  const cm_topology_header header = *cm_topology_reader_header(reader);
  cm_status status = CM_NEW(run->memory, made, header.finer_count, error);
  CM_THEN(status, cm_topology_reader_parents(reader, made, error));
  cm_topology_reader_close(reader);
  CM_TRY_OR(status, cm_free(made));
  *parent = made;
  *finer_count = header.finer_count;
  *count = header.vertex_count;
  return CM_OK;
}

static cm_status keep_level(const cm_level_files *files, uint32_t level, const char *to, cm_run *run, cm_error *error)
{
  char path[CM_PATH_MAX];
  uint32_t *parent = NULL, finer_count = 0, count = 0;
  cm_graph *bare = NULL;
  cm_status status = cm_level_path(files, level, path, error);
  CM_THEN(status, cm_level_parents_read(path, run, &parent, &finer_count, &count, error));
  CM_THEN(status, cm_graph_new(run, count, 0, &bare, error));
  for (uint32_t v = 0; status == CM_OK && v < count; v++)
    bare->size[v] = 1;
  CM_THEN(status, pairs_path(to, level, path, error));
  CM_THEN(status, cm_graph_save(bare, parent, finer_count, files->weight_scale, false, path, run, error));
  cm_graph_free(bare);
  cm_free(parent);
  return status;
}

cm_status cm_level_pairs_keep(const cm_level_files *files, const char *to, cm_run *run, cm_error *error)
{
  cm_status status = CM_OK;
  cm_level_note note;
  for (uint32_t level = files->shared_count + 1; status == CM_OK && cm_level_note_read(files->folder, level, &note); level++) {
    status = cm_level_note_write(to, level, &note, error);
    CM_THEN_IF(status, level <= files->count, keep_level(files, level, to, run, error));
  }
  return status;
}

/* Level files->count + 1, of *graph, which it replaces. */
static cm_status restore_level(cm_graph **graph, const char *pairs, cm_level_files *files, cm_run *run, cm_error *error)
{
  const uint32_t finer_count = (*graph)->vertex_count;
  char path[CM_PATH_MAX];
  uint32_t *parent = NULL, merged = 0, count = 0;
  cm_graph *coarse = NULL;
  cm_status status = cm_level_parents_read(pairs, run, &parent, &merged, &count, error);
  CM_THEN_IF(status, merged != finer_count, cm_fail(error, CM_DAMAGED, "%s merges %u vertices, and the finer level has %u", pairs, merged, finer_count));
  CM_THEN(status, cm_graph_contract(*graph, parent, count, run, &coarse, error));
  if (status == CM_OK) {
    cm_graph_free(*graph);
    *graph = coarse;
    status = cm_level_path(files, ++files->count, path, error);
  }
  CM_THEN(status, cm_graph_save(coarse, parent, finer_count, files->weight_scale, true, path, run, error));
  cm_free(parent);
  return status;
}

cm_status cm_level_pairs_restore(cm_graph *graph, const char *from, cm_level_files *files, cm_run *run, cm_error *error)
{
  char path[CM_PATH_MAX];
  bool more = true;
  cm_status status = CM_OK;
  files->count = files->shared_count;
  while (status == CM_OK && more && files->count < CM_LEVELS_MAX) {
    const uint32_t level = files->count + 1;
    cm_level_note note;
    if (!cm_level_note_read(from, level, &note))
      status = cm_fail(error, CM_DAMAGED, "%s has no note of level %u", from, level);
    else
      status = cm_level_note_write(files->folder, level, &note, error);
    CM_THEN(status, pairs_path(from, level, path, error));
    more = status == CM_OK && access(path, R_OK) == 0;
    if (more)
      status = restore_level(&graph, path, files, run, error);
  }
  cm_graph_free(graph);
  return status;
}
