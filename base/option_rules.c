/* What options do not go together, as rows of a table: checked, told in words, and stated in a schema. */
#include "base/json.h"
#include "base/memory.h"
#include "base/option.h"

static bool is_word_of(const char *word, const char *words)
{
  const size_t length = strlen(word);
  for (const char *at = words; (at = strstr(at, word)) != NULL; at += length)
    if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
      return true;
  return false;
}

/* Whether a value is another than the one that stands for nothing. */
static bool is_set(const cm_option *o, const json_t *value)
{
  return json_is_string(value) ? json_string_length(value) > 0 : json_is_boolean(value) ? json_is_true(value) : json_number_value(value) != o->normal;
}

static bool applies(const cm_option_rule *rule, const cm_options *table, const json_t *all, unsigned facts)
{
  bool holds = facts == 0 ? rule->facts == 0 : rule->facts != 0 && (rule->facts & ~facts) == 0;
  for (size_t i = 0; i < CM_OPTION_RULE_MAX && rule->when[i].option != NULL && holds; i++) {
    const json_t *value = json_object_get(all, rule->when[i].option);
    const char *word = json_string_value(value);
    holds = rule->when[i].values != NULL ? word != NULL && is_word_of(word, rule->when[i].values)
                                         : is_set(cm_option_find(table, rule->when[i].option), value);
  }
  return holds;
}

/* The words with what stands for each {NAME}. */
static cm_status refuse(const cm_option_rule *rule, const json_t *all, const json_t *told, cm_error *error)
{
  (void)cm_fail(error, CM_BAD_OPTION, "%s", "");
  for (const char *at = rule->words; *at != '\0';) {
    const size_t plain = strcspn(at, "{"), name = at[plain] == '{' ? strcspn(at + plain, "}") - 1 : 0;
    char key[40];
    (void)snprintf(key, sizeof key, "%.*s", (int)name, at + plain + (name > 0));
    const json_t *value = json_object_get(told, key) != NULL ? json_object_get(told, key) : json_object_get(all, key);
    cm_fail_more(error, "%.*s%s", (int)plain, at, json_is_string(value) ? json_string_value(value) : "");
    at += plain + (name > 0 ? name + 2 : 0);
  }
  return cm_fail_at(error, "/options/%s", rule->at);
}

cm_status cm_options_check(const cm_options *table, const void *fields, unsigned facts, const json_t *told, cm_error *error)
{
  if (table->rules == NULL)
    return CM_OK;
  json_t *all = cm_options_json(table, fields, false);
  if (all == NULL)
    return cm_whole(false, "options", error);
  cm_status status = CM_OK;
  for (const cm_option_rule *rule = table->rules; rule->at != NULL && status == CM_OK; rule++)
    if (applies(rule, table, all, facts))
      status = refuse(rule, all, told, error);
  json_decref(all);
  return status;
}

/* ---- the schema ---- */

/* What a value of an option is that a rule is about. */
static json_t *value_schema(const cm_option *o, const char *values)
{
  json_t *list = json_array();
  for (size_t i = 0; values != NULL && o->words[i] != NULL; i++)
    if (is_word_of(o->words[i], values))
      (void)json_array_append_new(list, json_string(o->words[i]));
  if (values != NULL)
    return json_pack("{s:o}", "enum", list);
  json_decref(list);
  return o->kind == CM_OPTION_NAME   ? json_pack("{s:i}", "minLength", 1)
         : o->kind == CM_OPTION_FLAG ? json_pack("{s:b}", "const", 1)
                                     : json_pack("{s:{s:f}}", "not", "const", o->normal);
}

static json_t *rule_schema(const cm_option_rule *rule, const cm_options *table)
{
  json_t *properties = json_object(), *required = json_array();
  for (size_t i = 0; i < CM_OPTION_RULE_MAX && rule->when[i].option != NULL; i++) {
    const char *name = rule->when[i].option;
    (void)json_object_set_new(properties, name, value_schema(cm_option_find(table, name), rule->when[i].values));
    (void)json_array_append_new(required, json_string(name));
  }
  return json_pack("{s:s, s:{s:o, s:o}}", "description", rule->words, "not", "properties", properties, "required", required);
}

json_t *cm_options_schema_ruled(const cm_options *table)
{
  json_t *schema = cm_options_schema(table), *all = json_array();
  for (const cm_option_rule *rule = table->rules; rule != NULL && rule->at != NULL; rule++)
    if (rule->facts == 0)
      (void)json_array_append_new(all, rule_schema(rule, table));
  if (json_array_size(all) > 0)
    (void)json_object_set(schema, "allOf", all);
  json_decref(all);
  return schema;
}
