/* Options of all kinds: their tables, their schemas, and what an object of them says. */
#include "base/json.h"
#include "core/constraints/solution.h"
#include "core/deploy/deploy_request.h"
#include "core/machine/compile.h"
#include "core/mapping/options.h"
#include "core/quantize/quantize.h"
#include "core/schedule/request.h"
#include "core/simulate/simulate_request.h"
#include "library/internal.h"
#include "library/private/base.h"

typedef cm_status read_options(const json_t *given, json_t **all, json_t **shaping, cm_error *error);

/* Adds what is given of kinds of its own, as it is given; with `shaping`, of what can change a result alone. */
static bool add_own(const cm_options *table, json_t *stated, const json_t *given, bool shaping)
{
  bool good = true;
  for (size_t i = 0; i < table->count && good; i++) {
    const cm_option *o = &table->option[i];
    json_t *value = o->kind == CM_OPTION_OWN && !(shaping && o->same_result) ? json_object_get(given, o->name) : NULL;
    good = value == NULL || json_object_set(stated, o->name, value) == 0;
  }
  return good;
}

/* What a table says of the fields. */
static cm_status state(const cm_options *table, const json_t *given, const void *fields, json_t **all, json_t **shaping, cm_error *error)
{
  json_t *stated = cm_options_json(table, fields, false), *alone = cm_options_json(table, fields, true);
  if (stated == NULL || alone == NULL || !add_own(table, stated, given, false) || !add_own(table, alone, given, true)) {
    json_decref(stated);
    json_decref(alone);
    return cm_whole(false, "options", error);
  }
  *all = stated;
  *shaping = alone;
  return CM_OK;
}

static cm_status read_map(const json_t *given, json_t **all, json_t **shaping, cm_error *error)
{
  cm_map_options *options;
  CM_TRY(cm_map_options_parse(given, &options, error));
  cm_status status = state(&cm_map_option_table, given, options, all, shaping, error);
  cm_map_options_free(options);
  return status;
}

#define READER(kind, type, read) \
  static cm_status read_##kind(const json_t *given, json_t **all, json_t **shaping, cm_error *error) \
  { \
    type options; \
    CM_TRY(read(given, &options, error)); \
    return state(&cm_##kind##_option_table, given, &options, all, shaping, error); \
  }
READER(compile, cm_compile_options, cm_compile_options_read)
READER(quantize, cm_quantize_options, cm_quantize_options_read)
READER(simulate, cm_simulate_request, cm_simulate_options_read)
READER(profile, cm_profile_request, cm_profile_options_read)
READER(deploy, cm_deploy_request, cm_deploy_options_read)
READER(schedule, cm_schedule_request, cm_schedule_request_read)
READER(solve, cm_solve_request, cm_solve_options_read) /* of a job: who calls with a file reads options by themselves */
#undef READER

static cm_status read_read(const json_t *given, json_t **all, json_t **shaping, cm_error *error)
{
  json_t *rest = json_copy((json_t *)(uintptr_t)given);
  library_hint hint;
  cm_status status = cm_whole(rest != NULL, "options", error);
  CM_THEN(status, library_hint_read(rest, NULL, &hint, error));
  json_decref(rest);
  CM_TRY(status);
  library_hint_clear(&hint);
  *all = json_incref((json_t *)(uintptr_t)given);
  *shaping = json_incref((json_t *)(uintptr_t)given);
  return CM_OK;
}

static const struct kind {
  const char *name;
  const cm_options *table; /* NULL: none of this form */
  read_options *read;
} kinds[] = {
#define JOB_KIND(kind, ...) {#kind, &cm_##kind##_option_table, read_##kind},
#include "library/private/job_kinds.def"
#undef JOB_KIND
  {"schedule", &cm_schedule_option_table, read_schedule},
  {"read", NULL, read_read},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static cm_status find(const char *name, bool tabled, const struct kind **found, cm_error *error)
{
  for (size_t i = 0; i < KINDS; i++)
    if (strcmp(kinds[i].name, name) == 0 && (!tabled || kinds[i].table != NULL)) {
      *found = &kinds[i];
      return CM_OK;
    }
  (void)cm_fail(error, CM_NOT_FOUND, "there are no options \"%.40s\": there are ", name);
  for (size_t i = 0; i < KINDS && (!tabled || kinds[i].table != NULL); i++)
    cm_fail_more(error, "%s%s", i == 0 ? "" : kinds[i].table == NULL ? ", and " : i + 2 < KINDS ? ", " : " and ", kinds[i].name);
  return error->status;
}

cm_status library_option_table(const char *kind, const cm_options **table, cm_error *error)
{
  const struct kind *found;
  cm_status status = find(kind, true, &found, error);
  CM_END(status, *table = found->table, );
}

/* All rows, or those that shape what is made alone. */
static json_t *option_rows(const cm_options *table, bool partition, bool place)
{
  cm_option_about about;
  json_t *made = json_array();
  for (size_t i = 0; cm_option_about_at(table, i, &about); i++)
    if ((!partition || about.partitions) && (!place || about.places))
      (void)json_array_append_new(made, json_pack("{s:s, s:s, s:s, s:s*}", "name", about.name, "form", about.form, "about", about.about,
                                                  "was", about.was));
  return made;
}

json_t *library_option_rows(const cm_options *table)
{
  return option_rows(table, false, false);
}

json_t *library_options_table(const char *kind)
{
  const bool partition = strcmp(kind, "partition") == 0, place = strcmp(kind, "place") == 0;
  const struct kind *found;
  cm_error ignored;
  if (find(partition || place ? "map" : kind, true, &found, &ignored) != CM_OK)
    return NULL;
  return option_rows(found->table, partition, place);
}

cm_status library_options_rename(const char *kind, json_t *options, json_t *told, cm_error *error)
{
  const struct kind *found;
  cm_status status = find(kind, false, &found, error);
  return status == CM_OK && found->table != NULL ? cm_options_rename(found->table, options, told, error) : status;
}

int coremap_options_schema(const char *kind, char **json, coremap_error **error)
{
  cm_error e;
  const struct kind *found;
  cm_status status = find(kind, true, &found, &e);
  CM_THEN(status, library_text(cm_options_schema_ruled(found->table), JSON_COMPACT, json, &e));
  return library_tell(status, &e, error);
}

int coremap_options_read(const char *kind, const char *options, char **all, char **shaping, coremap_error **error)
{
  cm_error e;
  const struct kind *found;
  json_t *given = NULL, *stated = NULL, *alone = NULL;
  char *texts[2] = {NULL, NULL};
  cm_status status = find(kind, false, &found, &e);
  CM_THEN(status, library_options(options, &given, &e));
  CM_THEN(status, found->read(given, &stated, &alone, &e));
  json_decref(given);
  if (status == CM_OK) {
    status = library_text(stated, JSON_COMPACT, &texts[0], &e);
    if (status != CM_OK)
      json_decref(alone);
    else
      status = library_text(alone, JSON_COMPACT | JSON_SORT_KEYS, &texts[1], &e);
  }
  if (status == CM_OK && all != NULL)
    *all = texts[0];
  else
    coremap_text_free(texts[0]);
  if (status == CM_OK && shaping != NULL)
    *shaping = texts[1];
  else
    coremap_text_free(texts[1]);
  return library_tell(status, &e, error);
}
