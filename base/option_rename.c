/* Options of the version before: names and words that are others now are read for one version more. */
#include "base/json.h"
#include "base/option.h"

static cm_status tell(json_t *told, const char *name, const char *is, const char *now, cm_error *error)
{
  if (told == NULL)
    return CM_OK;
  json_t *sentence = is == NULL ? json_sprintf("option '%s' is called '%s' now; the old name goes in the next version", name, now)
                                : json_sprintf("option %s: '%s' is called '%s' now; the old name goes in the next version", name, is, now);
  return cm_json_append(told, sentence, "options", error);
}

static cm_status rename_option(const cm_option *o, json_t *object, json_t *told, cm_error *error)
{
  json_t *given = o->was != NULL ? json_object_get(object, o->was) : NULL;
  if (given == NULL)
    return CM_OK;
  if (json_object_get(object, o->name) != NULL) {
    (void)cm_fail(error, CM_BAD_OPTION, "options %s and %s are the same one, by its old and its new name: leave %s out", o->was, o->name,
                  o->was);
    return cm_fail_at(error, "/options/%s", o->was);
  }
  CM_TRY(cm_json_set(object, o->name, json_incref(given), "options", error));
  (void)json_object_del(object, o->was);
  return tell(told, o->was, NULL, o->name, error);
}

static cm_status rename_word(const cm_option *o, json_t *object, json_t *told, cm_error *error)
{
  const char *word = json_string_value(json_object_get(object, o->name));
  for (size_t i = 0; word != NULL && i < CM_OPTION_WORDS_MAX; i++)
    if (o->words_were[i] != NULL && strcmp(word, o->words_were[i]) == 0)
      return cm_json_set(object, o->name, json_string(o->words[i]), "options", error) == CM_OK
               ? tell(told, o->name, o->words_were[i], o->words[i], error)
               : error->status;
  return CM_OK;
}

cm_status cm_options_rename(const cm_options *table, json_t *object, json_t *told, cm_error *error)
{
  for (size_t i = 0; i < table->count; i++)
    if (rename_option(&table->option[i], object, told, error) != CM_OK || rename_word(&table->option[i], object, told, error) != CM_OK)
      return error->status;
  return CM_OK;
}
