/* Options set one by one: each value is read by its row when it comes. */
#include <coremap/options.h>

#include "base/json.h"
#include "library/internal.h"

struct coremap_options {
  const cm_options *table;
  json_t *set;
  char *text; /* of them */
};

/* What calls take beside the options of the tables: paths, and whether a network is used by this call alone. */
static bool is_beside(const char *name)
{
  static const char *const names[] = {"from", "part", "policy_file", "cache", "alone", "spikes_file", "poisson_file"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(name, names[i]) == 0)
      return true;
  return false;
}

/* The row alone reads the value: rules of several options are for when all are there. */
static cm_status check(const cm_options *table, const json_t *one, cm_error *error)
{
  const char *name = json_object_iter_key(json_object_iter((json_t *)(uintptr_t)one));
  const cm_option *found = cm_option_find(table, name);
  char field[CM_PATH_MAX] = "";
  if (found == NULL ? is_beside(name) : found->kind == CM_OPTION_OWN)
    return CM_OK;
  if (found == NULL)
    return cm_options_read(table, one, field, error); /* which says what there is */
  cm_option row = *found;
  row.offset = 0;
  return cm_options_read(&(cm_options){.option = &row, .count = 1, .of = table->of}, one, field, error);
}

static cm_status put(coremap_options *options, const char *name, json_t *value, cm_error *error)
{
  json_t *one = json_pack("{s:o}", name, value), *all = json_copy(options->set);
  char *text = NULL;
  cm_status status = cm_whole(one != NULL && all != NULL, "options", error);
  CM_THEN(status, cm_options_rename(options->table, one, NULL, error));
  CM_THEN(status, check(options->table, one, error));
  CM_THEN(status, cm_whole(json_object_update(all, one) == 0, "options", error));
  CM_THEN(status, library_text(json_incref(all), JSON_COMPACT, &text, error));
  json_decref(one);
  CM_TRY_OR(status, json_decref(all));
  json_decref(options->set);
  free(options->text);
  options->set = all;
  options->text = text;
  return CM_OK;
}

int coremap_options_new(const char *kind, coremap_options **options, coremap_error **error)
{
  cm_error e;
  coremap_options *made = calloc(1, sizeof *made);
  cm_status status = cm_whole(made != NULL, "options", &e);
  CM_THEN(status, library_option_table(kind, &made->table, &e));
  CM_THEN(status, cm_whole((made->set = json_object()) != NULL && (made->text = strdup("{}")) != NULL, "options", &e));
  LIBRARY_END(status, *options = made, coremap_options_free(made));
}

int coremap_options_set_text(coremap_options *options, const char *name, const char *value, coremap_error **error)
{
  cm_error e;
  return library_tell(put(options, name, json_string(value), &e), &e, error);
}

int coremap_options_set_count(coremap_options *options, const char *name, uint64_t value, coremap_error **error)
{
  cm_error e;
  return library_tell(put(options, name, json_integer(value <= INT64_MAX ? (json_int_t)value : -1), &e), &e, error);
}

int coremap_options_set_real(coremap_options *options, const char *name, double value, coremap_error **error)
{
  cm_error e;
  return library_tell(put(options, name, json_real(value), &e), &e, error);
}

int coremap_options_set_flag(coremap_options *options, const char *name, int value, coremap_error **error)
{
  cm_error e;
  return library_tell(put(options, name, json_boolean(value), &e), &e, error);
}

const char *coremap_options_text(const coremap_options *options)
{
  return options->text;
}

void coremap_options_free(coremap_options *options)
{
  if (options == NULL)
    return;
  json_decref(options->set);
  free(options->text);
  free(options);
}
