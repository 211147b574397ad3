#include "python/interface.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/chip/occupancy.h"
#include "core/mapping/check/certificate.h"
#include "core/mapping/export.h"
#include "core/mapping/map.h"
#include "core/mapping/picture/picture.h"
#include "core/network/apart.h"
#include "core/network/formats.h"
#include "core/network/import.h"

enum { OCCUPANCY_BYTES_MAX = 1 << 28 };

struct coremap_result {
  cm_topology *topology;
  cm_chip *chip;
  cm_occupancy *occupancy;
  cm_mapping *mapping;
  int32_t *place; /* [2 * parts] */
  char network_id[65];
};

/* A run that tells Python how far it is. */
typedef struct told_run {
  cm_run run;
  cm_memory memory;
  atomic_bool stop;
  coremap_progress progress;
  void *user;
} told_run;

static void on_progress(void *user, const cm_progress *progress)
{
  told_run *told = user;
  if (told->progress(told->user, progress->phase, progress->fraction) != 0)
    atomic_store(&told->stop, true);
}

static void begin(told_run *told, coremap_progress progress, void *user)
{
  memset(told, 0, sizeof *told);
  cm_memory_init(&told->memory, 0);
  cm_run_init(&told->run);
  told->run.memory = &told->memory;
  told->run.cancel = &told->stop;
  told->progress = progress;
  told->user = user;
  if (progress != NULL) {
    told->run.on_progress = on_progress;
    told->run.user = told;
  }
}

static int tell(cm_status status, const cm_error *error, char **problem)
{
  if (status == CM_OK)
    return 0;
  json_t *told = json_pack("{s:s, s:s, s:s}", "code", cm_status_code(status), "detail", error->detail, "where", error->where);
  *problem = told != NULL ? cm_json_dumps(told, JSON_COMPACT) : NULL;
  json_decref(told);
  if (*problem == NULL)
    *problem = strdup("{\"code\": \"no-memory\", \"detail\": \"out of memory\", \"where\": \"\"}");
  return 1;
}

const char *coremap_version(void)
{
  return CM_VERSION;
}

static cm_status open_occupancy(const char *path, coremap_result *r, cm_error *error)
{
  char *text;
  size_t size;
  if (path == NULL)
    return cm_occupancy_new(r->chip, &r->occupancy, error);
  if (cm_file_read(path, OCCUPANCY_BYTES_MAX, &text, &size, error) != CM_OK)
    return error->status;
  cm_status status = cm_occupancy_parse(r->chip, text, size, &r->occupancy, error);
  free(text);
  return status;
}

static cm_status make_scratch(char path[CM_PATH_MAX], cm_error *error)
{
  const char *base = getenv("TMPDIR");
  if (cm_path(path, error, "%s/coremap-XXXXXX", base != NULL && base[0] != '\0' ? base : "/tmp") != CM_OK)
    return error->status;
  if (mkdtemp(path) != NULL)
    return CM_OK;
  path[0] = '\0';
  return cm_fail_errno(error, errno, "cannot make a folder in", base != NULL ? base : "/tmp");
}

static const char *text_of(const json_t *object, const char *name)
{
  return json_string_value(json_object_get(object, name));
}

static cm_status map_file(const char *path, const json_t *request, told_run *told, coremap_result *r, const char *scratch, cm_error *error)
{
  const cm_import_limits limits = cm_import_limits_default();
  const cm_import_hint hint = {.format = text_of(request, "format"), .name = path};
  const char *chip = text_of(request, "chip");
  cm_map_options *options;
  cm_import_report report;
  uint64_t bytes;
  if (chip == NULL)
    return cm_fail(error, CM_BAD_CHIP, "no chip is named");
  if (cm_map_options_parse(json_object_get(request, "options"), &options, error) != CM_OK)
    return error->status;
  cm_map_options_apply(options, &told->run);
  told->memory.scratch_folder = scratch;
  cm_status status = cm_chip_open(chip, &r->chip, error);
  if (status == CM_OK)
    status = open_occupancy(text_of(request, "occupancy"), r, error);
  if (status == CM_OK)
    status = cm_network_needs_confinement(path, hint.format)
               ? cm_import_apart(path, &hint, scratch, &told->run, &r->topology, &report, error)
               : cm_import_as(path, &hint, &limits, &told->run, &r->topology, &report, error);
  if (status == CM_OK)
    status = cm_map_options_set_inputs(options, r->topology, told->run.memory, error);
  if (status == CM_OK)
    status = cm_file_hash(path, r->network_id, &bytes, error);
  const cm_map_input input = {.topology = r->topology, .chip = r->chip, .occupancy = r->occupancy, .options = options,
                              .scratch_folder = scratch, .from = text_of(request, "from")};
  if (status == CM_OK)
    status = cm_map(&input, &told->run, &r->mapping, error);
  cm_map_options_free(options);
  return status;
}

static cm_status set_places(coremap_result *r, cm_error *error)
{
  const cm_mapping *m = r->mapping;
  r->place = calloc((size_t)m->part_count + 1, 2 * sizeof *r->place);
  if (r->place == NULL)
    return cm_fail(error, CM_NO_MEMORY, "out of memory for the places");
  for (uint32_t p = 0; p < m->part_count; p++) {
    r->place[2 * (size_t)p] = (int32_t)(m->core[p] % r->chip->width);
    r->place[2 * (size_t)p + 1] = (int32_t)(m->core[p] / r->chip->width);
  }
  return CM_OK;
}

int coremap_map(const char *path, const char *request_text, coremap_progress progress, void *user, coremap_result **result,
                char **problem)
{
  cm_error error, ignored;
  told_run told;
  char scratch[CM_PATH_MAX] = "";
  json_t *request = cm_json_loadb(request_text, strlen(request_text), 0, NULL);
  coremap_result *r = calloc(1, sizeof *r);
  begin(&told, progress, user);
  cm_status status = r == NULL                 ? cm_fail(&error, CM_NO_MEMORY, "out of memory")
                     : !json_is_object(request) ? cm_fail(&error, CM_BAD_REQUEST, "the request is no JSON object")
                                                : make_scratch(scratch, &error);
  if (status == CM_OK)
    status = map_file(path, request, &told, r, scratch, &error);
  if (status == CM_OK)
    status = set_places(r, &error);
  cm_run_finish(&told.run);
  if (scratch[0] != '\0')
    (void)cm_folder_remove(scratch, &ignored);
  json_decref(request);
  if (status == CM_OK)
    *result = r;
  else
    coremap_result_free(r);
  return tell(status, &error, problem);
}

const uint32_t *coremap_parts(const coremap_result *result, uint64_t *count)
{
  *count = result->mapping->vertex_count;
  return result->mapping->part;
}

const int32_t *coremap_places(const coremap_result *result, uint64_t *count)
{
  *count = result->mapping->part_count;
  return result->place;
}

/* A picture, "picture:svg:neurons", or an export. */
static cm_status write_made(const coremap_result *r, const char *what, cm_run *run, FILE *stream, cm_error *error)
{
  const cm_mapped mapped = {.topology = r->topology, .chip = r->chip, .part = r->mapping->part, .parts = r->mapping->part_count,
                            .core = r->mapping->core};
  const cm_export_format *format;
  bool png = strncmp(what, "picture:png:", 12) == 0;
  if (png || strncmp(what, "picture:svg:", 12) == 0)
    return cm_picture_write(&mapped, what + 12, png ? CM_PICTURE_PNG : CM_PICTURE_SVG, run, stream, error);
  if (cm_export_find(what, &format, error) != CM_OK)
    return error->status;
  return cm_export_mapping(format, &mapped, run, stream, error);
}

int coremap_write(const coremap_result *r, const char *what, const char *path, char **problem)
{
  cm_error error;
  cm_file file;
  told_run told;
  begin(&told, NULL, NULL);
  cm_status status = cm_file_create(&file, path, &error);
  if (status != CM_OK)
    return tell(status, &error, problem);
  if (strcmp(what, "mapping") == 0 || strcmp(what, "summary") == 0)
    status = cm_mapping_write(r->mapping, r->topology, r->chip, r->network_id, what[0] == 'm' ? CM_VIEW_FULL_JSON : CM_VIEW_SUMMARY_JSON,
                              file.stream, &error);
  else if (strcmp(what, "certificate") == 0)
    status = cm_certificate_write(r->mapping, r->topology, r->chip, r->occupancy, r->network_id, &told.run, file.stream, &error);
  else
    status = write_made(r, what, &told.run, file.stream, &error);
  cm_run_finish(&told.run);
  if (status == CM_OK)
    status = cm_file_commit(&file, &error);
  else
    cm_file_discard(&file);
  return tell(status, &error, problem);
}

void coremap_result_free(coremap_result *result)
{
  if (result == NULL)
    return;
  cm_mapping_free(result->mapping);
  cm_topology_free(result->topology);
  cm_occupancy_free(result->occupancy);
  cm_chip_free(result->chip);
  free(result->place);
  free(result);
}

void coremap_free(char *text)
{
  free(text);
}
