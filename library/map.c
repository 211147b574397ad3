/* Mappings, and what is made of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mapping/result/beside.h"
#include "core/mapping/result/export.h"
#include "core/mapping/map.h"
#include "core/mapping/picture/picture.h"
#include "library/internal.h"

/* The network as option "inputs" wants it: networks never change, so that a view has the sizes. */
static cm_status view_network(coremap_mapping *m, const cm_map_options *options, cm_error *error)
{
  const cm_topology *t = m->network->topology;
  m->topology = *t;
  if (t->size != NULL) {
    m->topology.size = cm_allocate(NULL, t->vertex_count, sizeof *t->size, error);
    if (m->topology.size == NULL)
      return error->status;
    memcpy(m->topology.size, t->size, t->vertex_count * sizeof *t->size);
  }
  return cm_map_options_set_inputs(options, &m->topology, NULL, error);
}

static cm_status set_places(coremap_mapping *m, cm_error *error)
{
  uint32_t width = m->chip->chip->width;
  m->place = calloc((size_t)m->mapping->part_count + 1, 2 * sizeof *m->place);
  if (m->place == NULL)
    return cm_fail(error, CM_NO_MEMORY, "out of memory for the places");
  for (uint32_t p = 0; p < m->mapping->part_count; p++) {
    m->place[2 * (size_t)p] = (int32_t)(m->mapping->core[p] % width);
    m->place[2 * (size_t)p + 1] = (int32_t)(m->mapping->core[p] / width);
  }
  return CM_OK;
}

static cm_status map(coremap_mapping *m, json_t *object, cm_run *run, const char *scratch, cm_error *error)
{
  char from[CM_PATH_MAX];
  cm_map_options *options;
  if (library_take_text(object, "from", from, error) != CM_OK || cm_map_options_parse(object, &options, error) != CM_OK)
    return error->status;
  cm_map_options_apply(options, run);
  m->memory.scratch_folder = scratch;
  cm_status status = view_network(m, options, error);
  const cm_map_input input = {.topology = &m->topology, .network_id = m->network->id[0] != '\0' ? m->network->id : NULL, .chip = m->chip->chip,
                              .occupancy = m->chip->occupancy, .options = options, .scratch_folder = scratch,
                              .from = from[0] != '\0' ? from : NULL};
  if (status == CM_OK)
    status = cm_map(&input, run, &m->mapping, error);
  cm_map_options_free(options);
  m->memory.scratch_folder = NULL;
  return status == CM_OK ? set_places(m, error) : status;
}

static coremap_mapping *begin(const coremap_network *network, const coremap_chip *chip)
{
  coremap_mapping *m = calloc(1, sizeof *m);
  if (m == NULL)
    return NULL;
  m->network = (coremap_network *)network;
  m->chip = (coremap_chip *)chip;
  cm_memory_init(&m->memory, 0);
  atomic_fetch_add(&m->network->owners, 1);
  atomic_fetch_add(&m->chip->owners, 1);
  return m;
}

int coremap_map(const coremap_network *network, const coremap_chip *chip, const char *options, coremap_progress progress,
                void *user, coremap_mapping **mapping, coremap_error **error)
{
  cm_error e, ignored;
  library_run r;
  json_t *object = NULL;
  char scratch[CM_PATH_MAX] = "";
  coremap_mapping *m = begin(network, chip);
  library_begin(&r, progress, user);
  r.run.memory = m != NULL ? &m->memory : NULL;
  cm_status status = m != NULL ? library_options(options, &object, &e) : cm_fail(&e, CM_NO_MEMORY, "out of memory");
  if (status == CM_OK)
    status = cm_folder_scratch(scratch, &e);
  if (status == CM_OK)
    status = map(m, object, &r.run, scratch, &e);
  cm_run_finish(&r.run);
  if (scratch[0] != '\0')
    (void)cm_folder_remove(scratch, &ignored);
  json_decref(object);
  if (status == CM_OK)
    *mapping = m;
  else
    coremap_mapping_free(m);
  return library_tell(status, &e, error);
}

const uint32_t *coremap_mapping_parts(const coremap_mapping *mapping, uint64_t *neurons)
{
  *neurons = mapping->mapping->vertex_count;
  return mapping->mapping->part;
}

const int32_t *coremap_mapping_places(const coremap_mapping *mapping, uint64_t *parts)
{
  *parts = mapping->mapping->part_count;
  return mapping->place;
}

/* ---- what is made of them ---- */

static cm_status write_made(const coremap_mapping *m, const char *what, cm_run *run, FILE *stream, cm_error *error)
{
  const cm_mapped mapped = {.topology = &m->topology, .chip = m->chip->chip, .part = m->mapping->part,
                            .parts = m->mapping->part_count, .core = m->mapping->core};
  const char *id = m->network->id[0] != '\0' ? m->network->id : NULL;
  const cm_export_format *format;
  if (strcmp(what, "mapping") == 0 || strcmp(what, "summary") == 0)
    return cm_mapping_write(m->mapping, &m->topology, m->chip->chip, id, what[0] == 'm' ? CM_VIEW_FULL_JSON : CM_VIEW_SUMMARY_JSON,
                            stream, error);
  if (strcmp(what, "certificate") == 0)
    return cm_mapping_certify(m->mapping, &m->topology, m->chip->chip, m->chip->occupancy, id, run, stream, error);
  bool png = strncmp(what, "picture:png:", 12) == 0;
  if (png || strncmp(what, "picture:svg:", 12) == 0)
    return cm_picture_write(&mapped, what + 12, png ? CM_PICTURE_PNG : CM_PICTURE_SVG, run, stream, error);
  if (cm_export_find(what, &format, error) != CM_OK)
    return error->status;
  return cm_export_mapping(format, &mapped, run, stream, error);
}

int coremap_mapping_write(const coremap_mapping *mapping, const char *what, const char *path, coremap_error **error)
{
  cm_error e;
  cm_file file;
  library_run r;
  if (cm_file_create(&file, path, &e) != CM_OK)
    return library_tell(e.status, &e, error);
  library_begin(&r, NULL, NULL);
  cm_status status = write_made(mapping, what, &r.run, file.stream, &e);
  cm_run_finish(&r.run);
  if (status == CM_OK)
    status = cm_file_commit(&file, &e);
  else
    cm_file_discard(&file);
  return library_tell(status, &e, error);
}

int coremap_mapping_text(const coremap_mapping *mapping, const char *what, char **text, size_t *size, coremap_error **error)
{
  cm_error e;
  char *bytes = NULL;
  size_t count = 0;
  library_run r;
  FILE *stream = open_memstream(&bytes, &count);
  if (stream == NULL)
    return library_tell(cm_fail(&e, CM_NO_MEMORY, "out of memory for a text"), &e, error);
  library_begin(&r, NULL, NULL);
  cm_status status = write_made(mapping, what, &r.run, stream, &e);
  cm_run_finish(&r.run);
  if (fclose(stream) != 0 && status == CM_OK)
    status = cm_fail(&e, CM_NO_MEMORY, "out of memory for a text");
  if (status == CM_OK) {
    *text = bytes;
    *size = count;
  } else
    free(bytes);
  return library_tell(status, &e, error);
}

void coremap_mapping_free(coremap_mapping *mapping)
{
  if (mapping == NULL)
    return;
  cm_mapping_free(mapping->mapping);
  cm_free(mapping->topology.size);
  coremap_network_free(mapping->network);
  coremap_chip_free(mapping->chip);
  free(mapping->place);
  free(mapping);
}
