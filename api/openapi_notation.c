/* Schemas, content and headers of the OpenAPI document from their short notation. */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "api/openapi.h"

json_t *cm_openapi_refer(const char *kind, const char *name)
{
  return json_pack("{s:o}", "$ref", json_sprintf("#/components/%s/%s", kind, name));
}

bool cm_openapi_word(const char **words, char word[CM_OPENAPI_WORD_MAX])
{
  if (*words == NULL || **words == '\0')
    return false;
  (void)snprintf(word, CM_OPENAPI_WORD_MAX, "%.*s", (int)strcspn(*words, " "), *words);
  *words += strcspn(*words, " ");
  *words += strspn(*words, " ");
  return true;
}

/* "TYPE" or "TYPE: description". */
static json_t *named_schema(const json_t *shapes, const char *text)
{
  const char *about = strstr(text, ": ");
  const size_t length = about != NULL ? (size_t)(about - text) : strlen(text);
  char name[CM_OPENAPI_WORD_MAX];
  (void)snprintf(name, sizeof name, "%.*s", (int)length, text);
  const json_t *shape = json_object_get(shapes, name);
  json_t *made = shape != NULL                   ? cm_openapi_schema(shapes, shape)
                 : isupper((unsigned char)*name) ? cm_openapi_refer("schemas", name)
                                                 : json_pack("{s:s}", "type", name);
  if (about != NULL)
    (void)json_object_set_new(made, "description", json_string(about + 2));
  return made;
}

/* Adds "properties" and "required", and that it is an object unless its type is told. */
static void add_properties(const json_t *shapes, const json_t *properties, json_t *made)
{
  json_t *all = json_object(), *required = json_array(), *value;
  const char *name;
  json_object_foreach((json_t *)(uintptr_t)properties, name, value) {
    const size_t length = strlen(name);
    const bool optional = length > 0 && name[length - 1] == '?';
    char plain[CM_OPENAPI_WORD_MAX];
    (void)snprintf(plain, sizeof plain, "%.*s", (int)(length - optional), name);
    (void)json_object_set_new(all, plain, cm_openapi_schema(shapes, value));
    if (!optional)
      (void)json_array_append_new(required, json_string(name));
  }
  if (json_object_get(made, "type") == NULL)
    (void)json_object_set_new(made, "type", json_string("object"));
  (void)json_object_set_new(made, "properties", all);
  if (json_array_size(required) > 0)
    (void)json_object_set(made, "required", required);
  json_decref(required);
}

static json_t *list_of(const json_t *shapes, const json_t *values)
{
  json_t *made = json_array();
  for (size_t i = 0; i < json_array_size(values); i++)
    (void)json_array_append_new(made, cm_openapi_schema(shapes, json_array_get(values, i)));
  return made;
}

json_t *cm_openapi_schema(const json_t *shapes, const json_t *value)
{
  if (json_is_string(value))
    return named_schema(shapes, json_string_value(value));
  if (json_is_array(value))
    return json_pack("{s:s, s:o}", "type", "array", "items", cm_openapi_schema(shapes, json_array_get(value, 0)));
  json_t *made = json_object(), *member;
  const char *name;
  json_object_foreach((json_t *)(uintptr_t)value, name, member)
    if (strcmp(name, "properties") == 0)
      add_properties(shapes, member, made);
    else if (strcmp(name, "anyOf") == 0 || strcmp(name, "allOf") == 0)
      (void)json_object_set_new(made, name, list_of(shapes, member));
    else if (strcmp(name, "items") == 0 || (strcmp(name, "additionalProperties") == 0 && !json_is_boolean(member)))
      (void)json_object_set_new(made, name, cm_openapi_schema(shapes, member));
    else
      (void)json_object_set(made, name, member);
  return made;
}

/* "MEDIA", or "MEDIA=Schema", of which the media type is left. */
static json_t *schema_of_media(char *media)
{
  char *schema = strchr(media, '=');
  if (schema != NULL) {
    *schema = '\0';
    return cm_openapi_refer("schemas", schema + 1);
  }
  const bool text = strncmp(media, "text/", 5) == 0 || strcmp(media, "application/yaml") == 0 || strcmp(media, "image/svg+xml") == 0;
  return text ? json_pack("{s:s}", "type", "string") : json_pack("{s:s, s:s}", "type", "string", "format", "binary");
}

json_t *cm_openapi_content(const json_t *shapes, const json_t *value)
{
  json_t *made = json_object(), *of;
  char word[CM_OPENAPI_WORD_MAX];
  const char *media, *words = json_string_value(value);
  if (words != NULL && strchr(words, '/') != NULL && strstr(words, ": ") == NULL)
    while (cm_openapi_word(&words, word)) {
      json_t *schema = schema_of_media(word);
      (void)json_object_set_new(made, word, json_pack("{s:o}", "schema", schema));
    }
  else if (json_object_size(value) > 0 && strchr(json_object_iter_key(json_object_iter((json_t *)(uintptr_t)value)), '/') != NULL)
    json_object_foreach((json_t *)(uintptr_t)value, media, of)
      (void)json_object_set_new(made, media, json_pack("{s:o}", "schema", cm_openapi_schema(shapes, of)));
  else
    (void)json_object_set_new(made, "application/json", json_pack("{s:o}", "schema", cm_openapi_schema(shapes, value)));
  return made;
}

void cm_openapi_describe(const json_t *shapes, const json_t *value, json_t *made)
{
  if (!json_is_string(value)) {
    (void)json_object_update(made, (json_t *)(uintptr_t)value);
    (void)json_object_set_new(made, "schema", cm_openapi_schema(shapes, json_object_get(value, "schema")));
    return;
  }
  json_t *of = cm_openapi_schema(shapes, value), *about = json_object_get(of, "description");
  if (about != NULL) {
    (void)json_object_set(made, "description", about);
    (void)json_object_del(of, "description");
  }
  (void)json_object_set_new(made, "schema", of);
}

json_t *cm_openapi_headers(const json_t *shapes, const json_t *value)
{
  json_t *made = json_object(), *of;
  char word[CM_OPENAPI_WORD_MAX];
  const char *name, *words = json_string_value(value);
  while (cm_openapi_word(&words, word))
    (void)json_object_set_new(made, word, cm_openapi_refer("headers", word));
  json_object_foreach((json_t *)(uintptr_t)value, name, of) {
    json_t *header = json_object();
    const size_t length = strcspn(name, "?");
    cm_openapi_describe(shapes, of, header);
    (void)json_object_set_new(header, "required", json_boolean(name[length] == '\0'));
    (void)json_object_setn_new(made, name, length, header);
  }
  return made;
}
