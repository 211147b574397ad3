#include "base/option.h"
#include "base/memory.h"

#include "base/number.h"

cm_status cm_option_refuse(cm_error *error, const char *name, const char *expected)
{
  (void)cm_fail(error, CM_BAD_OPTION, "option %s: expected %s", name, expected);
  return cm_fail_at(error, "/options/%s", name);
}

const cm_option *cm_option_find(const cm_options *table, const char *name)
{
  for (size_t i = 0; i < table->count; i++)
    if (strcmp(table->option[i].name, name) == 0)
      return &table->option[i];
  return NULL;
}

/* ---- fields ---- */

static bool is_whole(const cm_option *o)
{
  return o->kind == CM_OPTION_COUNT || o->kind == CM_OPTION_LONG_COUNT || o->kind == CM_OPTION_BYTES;
}

/* The bounds of a whole number, which itself is never a double: beyond 2^53 that would be another number. */
static json_int_t whole_min(const cm_option *o)
{
  return (json_int_t)o->least;
}

static json_int_t whole_max(const cm_option *o)
{
  return o->most >= CM_OPTION_WHOLE_MOST ? INT64_MAX : (json_int_t)o->most;
}

static void store_whole(const cm_option *o, void *fields, json_int_t value)
{
  void *field = (char *)fields + o->offset;
  if (o->kind == CM_OPTION_COUNT)
    *(uint32_t *)field = (uint32_t)value;
  else
    *(uint64_t *)field = (uint64_t)value;
}

static void store(const cm_option *o, void *fields, double value)
{
  void *field = (char *)fields + o->offset;
  switch (o->kind) {
    case CM_OPTION_COUNT:
    case CM_OPTION_LONG_COUNT:
    case CM_OPTION_BYTES: store_whole(o, fields, (json_int_t)value); break;
    case CM_OPTION_WORD: *(uint32_t *)field = (uint32_t)value; break;
    case CM_OPTION_EITHER:
    case CM_OPTION_FLAG: *(bool *)field = value > 0; break;
    case CM_OPTION_REAL:
    case CM_OPTION_POSITIVE: *(double *)field = value; break;
    case CM_OPTION_NAME: *(char *)field = '\0'; break;
    case CM_OPTION_OWN: break;
  }
}

static json_t *print(const cm_option *o, const void *fields)
{
  const void *field = (const char *)fields + o->offset;
  switch (o->kind) {
    case CM_OPTION_WORD: {
      uint32_t number = *(const uint32_t *)field;
      return number < o->least ? json_null() : json_string(o->words[number - (uint32_t)o->least]);
    }
    case CM_OPTION_EITHER: return json_string(o->words[*(const bool *)field]);
    case CM_OPTION_FLAG: return json_boolean(*(const bool *)field);
    case CM_OPTION_COUNT: return json_integer(*(const uint32_t *)field);
    case CM_OPTION_LONG_COUNT:
    case CM_OPTION_BYTES: return json_integer((json_int_t) * (const uint64_t *)field);
    case CM_OPTION_REAL:
    case CM_OPTION_POSITIVE: return json_real(*(const double *)field);
    default: return json_string(field);
  }
}

void cm_options_default(const cm_options *table, void *fields)
{
  for (size_t i = 0; i < table->count; i++)
    store(&table->option[i], fields, table->option[i].normal);
}

json_t *cm_options_json(const cm_options *table, const void *fields, bool shaping)
{
  json_t *json = json_object();
  for (size_t i = 0; i < table->count && json != NULL; i++) {
    const cm_option *o = &table->option[i];
    if (o->kind == CM_OPTION_OWN || (shaping && o->same_result))
      continue;
    if (json_object_set_new(json, o->name, print(o, fields)) != 0) {
      json_decref(json);
      return NULL;
    }
  }
  return json;
}

/* ---- reading ---- */

/* "option NAME is WHAT; it can be ..." */
static cm_status refuse(const cm_option *o, const char *what, cm_error *error)
{
  static const char *const nouns[] = {
    [CM_OPTION_FLAG] = "true or false", [CM_OPTION_COUNT] = "a whole number", [CM_OPTION_LONG_COUNT] = "a whole number",
    [CM_OPTION_BYTES] = "a whole number of bytes (or text like \"2G\")", [CM_OPTION_REAL] = "a number",
    [CM_OPTION_POSITIVE] = "a number above 0", [CM_OPTION_NAME] = "an id or a name, of letters, digits, - and _"};
  char choices[200] = "";
  size_t used = 0;
  for (size_t i = 0; o->words[i] != NULL && used < sizeof choices; i++)
    used += (size_t)snprintf(choices + used, sizeof choices - used, "%s\"%s\"", i > 0 ? ", " : "", o->words[i]);
  if (o->words[0] != NULL)
    (void)cm_fail(error, CM_BAD_OPTION, "option %s is %s; it can be %s%s%s", o->name, what, choices,
                  o->reason != NULL ? ": " : "", o->reason != NULL ? o->reason : "");
  else if (o->kind == CM_OPTION_FLAG || o->kind == CM_OPTION_NAME)
    (void)cm_fail(error, CM_BAD_OPTION, "option %s is %s; it must be %s", o->name, what, nouns[o->kind]);
  else if (o->kind == CM_OPTION_POSITIVE)
    (void)cm_fail(error, CM_BAD_OPTION, "option %s is %s; it must be %s and at most %.15g", o->name, what, nouns[o->kind],
                  o->most);
  else if (o->kind == CM_OPTION_REAL)
    (void)cm_fail(error, CM_BAD_OPTION, "option %s is %s; it must be %s from %.15g to %.15g", o->name, what, nouns[o->kind], o->least,
                  o->most);
  else
    (void)cm_fail(error, CM_BAD_OPTION, "option %s is %s; it must be %s from %" JSON_INTEGER_FORMAT " to %" JSON_INTEGER_FORMAT,
                  o->name, what, nouns[o->kind], whole_min(o), whole_max(o));
  return cm_fail_at(error, "/options/%s", o->name);
}

static cm_status read_word(const cm_option *o, const json_t *value, void *fields, cm_error *error)
{
  const char *text = json_string_value(value);
  char what[96];
  for (size_t i = 0; text != NULL && o->words[i] != NULL; i++)
    if (strcmp(text, o->words[i]) == 0) {
      store(o, fields, o->least + (double)i);
      return CM_OK;
    }
  (void)snprintf(what, sizeof what, text != NULL ? "\"%.60s\"" : "no text", text);
  return refuse(o, what, error);
}

static cm_status read_flag(const cm_option *o, const json_t *value, void *fields, cm_error *error)
{
  if (!json_is_boolean(value))
    return refuse(o, "neither", error);
  store(o, fields, json_is_true(value));
  return CM_OK;
}

static cm_status read_name(const cm_option *o, const json_t *value, void *fields, cm_error *error)
{
  const char *text = json_string_value(value);
  if (text == NULL)
    return refuse(o, "no text", error);
  size_t length = strlen(text);
  if (length >= (size_t)o->most ||
      strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != length)
    return refuse(o, "none", error);
  (void)memcpy((char *)fields + o->offset, text, length + 1);
  return CM_OK;
}

static cm_status read_whole(const cm_option *o, const json_t *value, void *fields, cm_error *error)
{
  const char *text = o->kind == CM_OPTION_BYTES ? json_string_value(value) : NULL;
  json_int_t whole = json_integer_value(value);
  uint64_t bytes;
  char what[96];
  if (text != NULL && cm_bytes_parse(text, &bytes))
    whole = bytes <= INT64_MAX ? (json_int_t)bytes : -1;
  else if (!json_is_integer(value))
    return refuse(o, json_is_real(value) ? "not whole" : "no number", error);
  if (whole >= whole_min(o) && whole <= whole_max(o)) {
    store_whole(o, fields, whole);
    return CM_OK;
  }
  if (text != NULL)
    (void)snprintf(what, sizeof what, "%.60s", text);
  else
    (void)snprintf(what, sizeof what, "%" JSON_INTEGER_FORMAT, whole);
  return refuse(o, what, error);
}

static cm_status read_real(const cm_option *o, const json_t *value, void *fields, cm_error *error)
{
  const double number = json_number_value(value);
  char what[96];
  if (!json_is_number(value))
    return refuse(o, "no number", error);
  if (number >= o->least && number <= o->most && (o->kind == CM_OPTION_REAL || number > 0)) {
    store(o, fields, number);
    return CM_OK;
  }
  (void)snprintf(what, sizeof what, "%.15g", number);
  return refuse(o, what, error);
}

static cm_status unknown(const cm_options *table, const char *name, cm_error *error)
{
  char known[800];
  size_t used = 0;
  for (size_t i = 0; i < table->count && used < sizeof known; i++)
    used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", table->option[i].name);
  (void)cm_fail(error, CM_BAD_OPTION, "there is no option %.40s; %s has %s", name, table->of, known);
  return cm_fail_at(error, "/options/%.60s", name);
}

/* Of an object whose names are those of now. */
static cm_status read_fields(const cm_options *table, json_t *object, void *fields, cm_error *error)
{
  const char *name;
  json_t *value;
  json_object_foreach(object, name, value)
  {
    const cm_option *o = cm_option_find(table, name);
    if (o == NULL)
      return unknown(table, name, error);
    cm_status status = CM_OK;
    switch (o->kind) {
      case CM_OPTION_WORD:
      case CM_OPTION_EITHER: status = read_word(o, value, fields, error); break;
      case CM_OPTION_FLAG: status = read_flag(o, value, fields, error); break;
      case CM_OPTION_NAME: status = read_name(o, value, fields, error); break;
      case CM_OPTION_OWN: status = o->own->read(name, value, (char *)fields + o->offset, error); break;
      default: status = is_whole(o) ? read_whole(o, value, fields, error) : read_real(o, value, fields, error);
    }
    CM_TRY(status);
  }
  return CM_OK;
}

cm_status cm_options_read(const cm_options *table, const json_t *object, void *fields, cm_error *error)
{
  if (object == NULL)
    return CM_OK;
  if (!json_is_object(object)) {
    (void)cm_fail(error, CM_BAD_OPTION, "options must be a JSON object");
    return cm_fail_at(error, "/options");
  }
  json_t *given = json_copy((json_t *)(uintptr_t)object);
  cm_status status = cm_whole(given != NULL, "options", error);
  CM_THEN(status, cm_options_rename(table, given, NULL, error));
  CM_THEN(status, read_fields(table, given, fields, error));
  json_decref(given);
  return status;
}

/* ---- what is said of them ---- */

bool cm_option_about_at(const cm_options *table, size_t number, cm_option_about *about)
{
  static const char *const forms[] = {
    [CM_OPTION_FLAG] = "true|false", [CM_OPTION_COUNT] = "N", [CM_OPTION_LONG_COUNT] = "N", [CM_OPTION_BYTES] = "BYTES",
    [CM_OPTION_REAL] = "X", [CM_OPTION_POSITIVE] = "X", [CM_OPTION_NAME] = "ID"};
  if (number >= table->count)
    return false;
  const cm_option *o = &table->option[number];
  *about = (cm_option_about){.name = o->name,
                             .about = o->about,
                             .was = o->was,
                             .partitions = o->shapes == CM_SHAPES_BOTH || o->shapes == CM_SHAPES_PARTS,
                             .places = o->shapes == CM_SHAPES_BOTH || o->shapes == CM_SHAPES_PLACES};
  size_t used = 0;
  for (size_t i = 0; o->words[i] != NULL && used < sizeof about->form; i++)
    used += (size_t)snprintf(about->form + used, sizeof about->form - used, "%s%s", i > 0 ? "|" : "", o->words[i]);
  if (o->words[0] == NULL)
    (void)snprintf(about->form, sizeof about->form, "%s", o->kind == CM_OPTION_OWN ? o->own->form : forms[o->kind]);
  return true;
}

/* A schema of one kind; NULL: no memory. */
static json_t *schema_of(const cm_option *o)
{
  json_t *made = NULL, *words;
  switch (o->kind) {
    case CM_OPTION_FLAG: return json_pack("{s:s}", "type", "boolean");
    case CM_OPTION_NAME: return json_pack("{s:s, s:I}", "type", "string", "maxLength", (json_int_t)o->most - 1);
    case CM_OPTION_OWN: return o->own->schema();
    case CM_OPTION_COUNT:
    case CM_OPTION_LONG_COUNT:
      return json_pack("{s:s, s:I, s:I}", "type", "integer", "minimum", whole_min(o), "maximum", whole_max(o));
    case CM_OPTION_BYTES:
      return json_pack("{s:[s, s], s:I, s:I, s:s}", "type", "integer", "string", "minimum", whole_min(o), "maximum", whole_max(o),
                       "pattern", "^[0-9]+(\\.[0-9]*)?([KMGT](i?B)?)?$");
    case CM_OPTION_REAL:
    case CM_OPTION_POSITIVE:
      return json_pack("{s:s, s:f, s:f}", "type", "number", o->kind == CM_OPTION_REAL ? "minimum" : "exclusiveMinimum",
                       o->kind == CM_OPTION_REAL ? o->least : 0.0, "maximum", o->most);
    default:
      words = json_array();
      for (size_t i = 0; o->words[i] != NULL; i++)
        (void)json_array_append_new(words, json_string(o->words[i]));
      made = json_pack("{s:s, s:o}", "type", "string", "enum", words);
      return made;
  }
}

/* What it is unless given, where that is a value that could be given; NULL: it is not. */
static json_t *normal_of(const cm_option *o)
{
  double first = o->kind == CM_OPTION_WORD ? o->least : 0;
  switch (o->kind) {
    case CM_OPTION_NAME:
    case CM_OPTION_OWN: return NULL;
    case CM_OPTION_FLAG: return json_boolean(o->normal > 0);
    case CM_OPTION_WORD:
    case CM_OPTION_EITHER: return o->normal < first ? NULL : json_string(o->words[(size_t)(o->normal - first)]);
    case CM_OPTION_REAL:
    case CM_OPTION_POSITIVE:
      return o->normal < o->least || (o->kind == CM_OPTION_POSITIVE && o->normal <= 0) ? NULL : json_real(o->normal);
    default: return o->normal < o->least ? NULL : json_integer((json_int_t)o->normal);
  }
}

json_t *cm_options_schema(const cm_options *table)
{
  json_t *properties = json_object();
  for (size_t i = 0; i < table->count; i++) {
    const cm_option *o = &table->option[i];
    json_t *one = schema_of(o), *normal = normal_of(o);
    if (normal != NULL)
      (void)json_object_set_new(one, "default", normal);
    (void)json_object_set_new(one, "description", json_string(o->about));
    if (json_object_set_new(properties, o->name, one) != 0) {
      json_decref(properties);
      return NULL;
    }
  }
  return json_pack("{s:s, s:b, s:o}", "type", "object", "additionalProperties", 0, "properties", properties);
}
