/* The OpenAPI document. Paths, operations, query arguments, scopes and roles are those of the routes (routes.def); the options of jobs,
 * metrics and formats stand in tables of the library; api/openapi/ says the rest, a file an area, in the notation of openapi.h.
 *
 * An area "serves" the paths that begin so; "paths" has the schema of what stands between the last braces of a path, or [its name in
 * components, that]. "operations" are found by their name, or by that of the handler that several share. Of one, "200" is what the status
 * means, or [that, content, headers]; "file" is content that has an entity tag and is served in ranges; "body" is content, or [what it is,
 * content], and "body?" may be missing; "query" has the schemas of arguments that are not in components, "headers" those of the
 * request; "errors" are statuses beside those that follow from the route. */
#include <ctype.h>

#include "api/handlers.h"
#include "api/openapi.h"
#include "base/json.h"
#include "library/private/base.h"
#include "storage/sweep_jobs.h"

enum { PATH_SIZE = 128 };

typedef struct notes {
  json_t *areas;        /* in the document's order; what it begins with, and what areas have in common, stands in the first. Owned */
  const json_t *common; /* that one */
  json_t *paths, *operations, *schemas, *shapes; /* of all areas. Owned */
} notes;

/* "meaning", or ["meaning", content or null, headers]. */
static json_t *answer(const notes *n, const json_t *value)
{
  const json_t *about = json_is_array(value) ? json_array_get(value, 0) : value, *body = json_array_get(value, 1);
  json_t *made = json_pack("{s:O}", "description", about);
  if (body != NULL && !json_is_null(body))
    (void)json_object_set_new(made, "content", cm_openapi_content(n->shapes, body));
  if (json_array_size(value) > 2)
    (void)json_object_set_new(made, "headers", cm_openapi_headers(n->shapes, json_array_get(value, 2)));
  return made;
}

/* ---- operations ---- */

/* Adds what a problem's status refers to: components.responses of the name that "problems" gives it. */
static void add_problem(const notes *n, const char *status, json_t *responses)
{
  const char *name = json_string_value(json_array_get(json_object_get(json_object_get(n->common, "problems"), status), 0));
  if (name != NULL)
    (void)json_object_set_new(responses, status, cm_openapi_refer("responses", name));
}

static bool has_tag(const cm_route *route, const json_t *responses)
{
  return strcmp(route->method, "GET") == 0 &&
         json_object_get(json_object_get(json_object_get(responses, "200"), "headers"), "ETag") != NULL;
}

static json_t *responses_of(const notes *n, const cm_route *route, const json_t *told)
{
  json_t *made = json_object(), *value, *file = json_object_get(told, "file");
  const json_t *meaning = json_object_get(told, "200");
  const char *status, *errors = json_string_value(json_object_get(told, "errors"));
  char word[CM_OPENAPI_WORD_MAX];
  if (file != NULL) {
    (void)json_object_set_new(made, "200", json_pack("{s:s, s:o, s:o}", "description", meaning != NULL ? json_string_value(meaning) : "The file",
                                                     "content", cm_openapi_content(n->shapes, file), "headers",
                                                     json_pack("{s:o}", "ETag", cm_openapi_refer("headers", "ETag"))));
    (void)json_object_set_new(made, "206", json_pack("{s:s, s:o}", "description", "A part of it", "content", cm_openapi_content(n->shapes, file)));
    add_problem(n, "416", made);
  }
  json_object_foreach((json_t *)(uintptr_t)told, status, value)
    if (isdigit((unsigned char)*status) && (file == NULL || value != meaning))
      (void)json_object_set_new(made, status, answer(n, value));
  if (has_tag(route, made))
    (void)json_object_set_new(made, "304", json_pack("{s:s}", "description", "The client's copy is current"));
  while (cm_openapi_word(&errors, word))
    add_problem(n, word, made);
  if (route->object != CM_OBJECT_NONE && route->deed != CM_DEED_PUT)
    add_problem(n, "404", made);
  if (route->right != CM_RIGHT_PUBLIC)
    add_problem(n, "401", made);
  if (route->right != CM_RIGHT_PUBLIC && route->right != CM_RIGHT_SELF)
    add_problem(n, "403", made);
  add_problem(n, "default", made);
  return made;
}

/* A query argument: the operation's own, or one of components. */
static json_t *query_argument(const notes *n, const char *path, const json_t *own, const char *name)
{
  json_t *made, *value;
  const char *of;
  if (own == NULL && (made = cm_list_argument(path, name)) != NULL)
    return made;
  if (own == NULL)
    json_object_foreach(json_object_get(n->common, "parameters"), of, value)
      if (strcmp(json_string_value(json_object_get(value, "name")), name) == 0 && strcmp(json_string_value(json_object_get(value, "in")), "query") == 0)
        return cm_openapi_refer("parameters", of);
  made = json_pack("{s:s, s:s}", "name", name, "in", "query");
  cm_openapi_describe(n->shapes, own, made);
  return made;
}

static json_t *parameters_of(const notes *n, const cm_route *route, const json_t *told, const json_t *responses)
{
  json_t *made = json_array();
  const json_t *value, *others = json_object_get(told, "headers");
  char name[CM_OPENAPI_WORD_MAX];
  const char *names = strcmp(route->query, "*") != 0 ? route->query : NULL;
  while (cm_openapi_word(&names, name))
    (void)json_array_append_new(made, query_argument(n, route->pattern, json_object_get(json_object_get(told, "query"), name), name));
  for (size_t i = 0; (value = json_array_get(others, i)) != NULL; i++) {
    const char *shared = json_string_value(value);
    json_t *header = shared != NULL ? cm_openapi_refer("parameters", shared) : json_pack("{s:s}", "in", "header");
    if (shared == NULL)
      cm_openapi_describe(n->shapes, value, header);
    (void)json_array_append_new(made, header);
  }
  if (has_tag(route, responses))
    (void)json_array_append_new(made, cm_openapi_refer("parameters", "IfNoneMatch"));
  if (json_object_get(told, "file") != NULL)
    (void)json_array_append_new(made, cm_openapi_refer("parameters", "Range"));
  return made;
}

/* "body" (needed) or "body?": content, or ["meaning", content]. */
static void add_body(const notes *n, const json_t *told, json_t *operation)
{
  const json_t *needed = json_object_get(told, "body"), *value = needed != NULL ? needed : json_object_get(told, "body?");
  if (value == NULL)
    return;
  json_t *body = json_pack("{s:b, s:o}", "required", needed != NULL, "content",
                           cm_openapi_content(n->shapes, json_is_array(value) ? json_array_get(value, 1) : value));
  if (json_is_array(value))
    (void)json_object_set(body, "description", json_array_get(value, 0));
  (void)json_object_set_new(operation, "requestBody", body);
}

static json_t *security_of(cm_right right)
{
  const char *scope, *role;
  json_t *words = json_array();
  cm_right_asks(right, &scope, &role);
  if (scope != NULL)
    (void)json_array_append_new(words, json_string(scope));
  if (role != NULL)
    (void)json_array_append_new(words, json_sprintf("role %s", role));
  if (right != CM_RIGHT_PUBLIC)
    return json_pack("[{s:o}]", "token", words);
  json_decref(words);
  return json_array();
}

static void set_unless_empty(json_t *object, const char *name, json_t *list)
{
  if (json_array_size(list) > 0)
    (void)json_object_set(object, name, list);
  json_decref(list);
}

static json_t *operation_of(const notes *n, const cm_route *route, const char *area)
{
  json_t *told = json_object(), *made = json_pack("{s:s, s:[s]}", "operationId", route->operation, "tags", area);
  (void)json_object_update(told, json_object_get(n->operations, route->handler_name));
  (void)json_object_update(told, json_object_get(n->operations, route->operation));
  if (json_object_get(told, "summary") != NULL)
    (void)json_object_set(made, "summary", json_object_get(told, "summary"));
  if (json_object_get(told, "description") != NULL)
    (void)json_object_set(made, "description", json_object_get(told, "description"));
  json_t *responses = responses_of(n, route, told);
  set_unless_empty(made, "parameters", parameters_of(n, route, told, responses));
  add_body(n, told, made);
  (void)json_object_set_new(made, "security", security_of(route->right));
  (void)json_object_set_new(made, "responses", responses);
  json_decref(told);
  return made;
}

/* ---- paths ---- */

static const char *name_of(const json_t *area)
{
  const char *name = json_string_value(json_object_get(area, "name"));
  return name != NULL ? name : "";
}

/* The area of a path: the one that serves the longest beginning of it. */
static const char *area_of(const notes *n, const char *path)
{
  const char *best = "", *start;
  json_t *serves;
  size_t i, j, longest = 0;
  const json_t *area, *one;
  json_array_foreach(n->areas, i, area) {
    serves = json_object_get(area, "serves");
    json_array_foreach(serves, j, one)
      if ((start = json_string_value(one)) != NULL && strlen(start) > longest && strncmp(path, start, strlen(start)) == 0) {
        longest = strlen(start);
        best = name_of(area);
      }
  }
  return best;
}

/* A parameter of a path by its schema or [its name in components, that], which is asked for with `shared`. */
static json_t *path_parameter(const notes *n, const json_t *value, const char *name, bool shared)
{
  if (shared && json_is_array(value))
    return cm_openapi_refer("parameters", json_string_value(json_array_get(value, 0)));
  json_t *made = json_pack("{s:s, s:s, s:b}", "name", name, "in", "path", "required", 1);
  cm_openapi_describe(n->shapes, value, made);
  return made;
}

/* What stands between braces in a path: references to components, or parameters. */
static json_t *path_parameters(const notes *n, const char *path)
{
  json_t *made = json_array();
  for (const char *p = path; (p = strchr(p, '{')) != NULL;) {
    char name[CM_OPENAPI_WORD_MAX], whole[PATH_SIZE];
    const size_t length = strcspn(p, "}");
    (void)snprintf(name, sizeof name, "%.*s", (int)length - 1, p + 1);
    p += length;
    (void)snprintf(whole, sizeof whole, "%.*s", (int)(p - path) + 1, path);
    (void)json_array_append_new(made, path_parameter(n, json_object_get(n->paths, whole), name, true));
  }
  return made;
}

static json_t *all_paths(const notes *n)
{
  json_t *made = json_object();
  for (size_t i = 0; i < cm_route_count; i++) {
    const cm_route *route = &cm_routes[i];
    char path[PATH_SIZE] = "", method[12] = "";
    for (size_t used = 0, from = 0; route->pattern[from] != '\0' && used + 1 < sizeof path; from++)
      if (route->pattern[from] != '*')
        path[used++] = route->pattern[from];
    for (size_t j = 0; route->method[j] != '\0' && j + 1 < sizeof method; j++)
      method[j] = (char)tolower((unsigned char)route->method[j]);
    json_t *item = json_object_get(made, path);
    if (item == NULL) {
      item = json_object();
      set_unless_empty(item, "parameters", path_parameters(n, path));
      (void)json_object_set_new(made, path, item);
    }
    (void)json_object_set_new(item, method, operation_of(n, route, area_of(n, path)));
  }
  return made;
}

/* ---- components ---- */

/* An enumeration of the names in a table, and of one more unless that is NULL. */
static json_t *one_of(const char *of, const char *more)
{
  json_t *rows = library_table(of), *words = json_array();
  const json_t *row;
  size_t i;
  json_array_foreach(rows, i, row)
    (void)json_array_append(words, json_is_string(row) ? (json_t *)(uintptr_t)row : json_object_get(row, "name"));
  if (more != NULL)
    (void)json_array_append_new(words, json_string(more));
  json_decref(rows);
  return json_pack("{s:s, s:o}", "type", "string", "enum", words);
}

/* The options of each kind of jobs: of "map", MapOptions; JobKind: one of their names, and JobOptions: any of these. */
static void add_job_kinds(json_t *schemas)
{
  json_t *names = json_array(), *any = json_array();
  for (size_t i = 0; library_job_kind_at(i) != NULL; i++) {
    const char *name = library_job_kind_at(i)->name;
    char options[40];
    (void)snprintf(options, sizeof options, "%c%sOptions", toupper((unsigned char)name[0]), name + 1);
    (void)json_array_append_new(names, json_string(name));
    (void)json_array_append_new(any, cm_openapi_refer("schemas", options));
    (void)json_object_set_new(schemas, options, library_schema(name));
  }
  (void)json_array_append_new(names, json_string(cm_sweep_kind));
  (void)json_object_set_new(schemas, "JobKind", json_pack("{s:o}", "enum", names));
  (void)json_object_set_new(schemas, "JobOptions", json_pack("{s:s, s:o}", "description", "By the kind of the job", "anyOf", any));
}

static json_t *all_schemas(const notes *n)
{
  json_t *made = json_object(), *value;
  const char *name;
  json_object_foreach(n->schemas, name, value)
    (void)json_object_set_new(made, name, cm_openapi_schema(n->shapes, value));
  add_job_kinds(made);
  static const char *const rows[CM_LISTS] = {"Job", "Job", "Result", "Result", "Network"};
  for (cm_list list = 0; list < CM_LISTS; list++)
    cm_list_describe(list, json_object_get(json_object_get(made, rows[list]), "properties"));
  (void)json_object_set_new(made, "NetworkFormat", one_of("formats", "onnx"));
  (void)json_object_set_new(made, "ExportFormat", one_of("exports", NULL));
  (void)json_object_set_new(made, "PictureLayer", one_of("layers", NULL));
  (void)json_object_set_new(made, "CodeTarget", one_of("targets", NULL));
  (void)json_object_set_new(made, "Metrics", library_table("metrics"));
  return made;
}

/* "problems": {status: [its name, what it means, headers]}. */
static json_t *all_responses(const notes *n)
{
  json_t *made = json_object(), *value;
  const char *status;
  json_object_foreach(json_object_get(n->common, "problems"), status, value) {
    json_t *problem = json_pack("{s:O, s:{s:{s:o}}}", "description", json_array_get(value, 1), "content", "application/problem+json", "schema",
                                cm_openapi_refer("schemas", "Problem"));
    if (json_array_size(value) > 2)
      (void)json_object_set_new(problem, "headers", cm_openapi_headers(n->shapes, json_array_get(value, 2)));
    (void)json_object_set_new(made, json_string_value(json_array_get(value, 0)), problem);
  }
  return made;
}

static json_t *all_parameters(const notes *n)
{
  json_t *made = json_object(), *value;
  const char *of;
  json_object_foreach(json_object_get(n->common, "parameters"), of, value) {
    json_t *parameter = json_object();
    cm_openapi_describe(n->shapes, value, parameter);
    (void)json_object_set_new(made, of, parameter);
  }
  json_object_foreach(n->paths, of, value)
    if (json_is_array(value)) {
      char name[CM_OPENAPI_WORD_MAX];
      const char *last = strrchr(of, '{') + 1;
      (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(last, "}"), last);
      (void)json_object_set_new(made, json_string_value(json_array_get(value, 0)), path_parameter(n, json_array_get(value, 1), name, false));
    }
  return made;
}

/* ---- the whole ---- */

static void collect(notes *n)
{
  const json_t *area;
  size_t i;
  json_array_foreach(n->areas, i, area) {
    (void)json_object_update(n->paths, json_object_get(area, "paths"));
    (void)json_object_update(n->operations, json_object_get(area, "operations"));
    (void)json_object_update(n->schemas, json_object_get(area, "schemas"));
    (void)json_object_update(n->shapes, json_object_get(area, "shapes"));
  }
}

static json_t *whole(const notes *n)
{
  json_t *made = json_deep_copy(json_object_get(n->common, "document")), *tags = json_array();
  for (size_t i = 1; i < json_array_size(n->areas); i++)
    (void)json_array_append_new(tags, json_pack("{s:s, s:O}", "name", name_of(json_array_get(n->areas, i)), "description",
                                                json_object_get(json_array_get(n->areas, i), "about")));
  (void)json_object_set_new(made, "tags", tags);
  (void)json_object_set_new(made, "paths", all_paths(n));
  (void)json_object_set_new(made, "components", json_pack("{s:o, s:o, s:o, s:o, s:O}", "schemas", all_schemas(n), "responses", all_responses(n),
                                                          "parameters", all_parameters(n), "headers",
                                                          cm_openapi_headers(n->shapes, json_object_get(n->common, "headers")),
                                                          "securitySchemes", json_object_get(n->common, "securitySchemes")));
  return made;
}

/* The document as text; NULL: no memory. */
char *cm_openapi_document(void)
{
  json_error_t ignored;
  const uint64_t refusals = cm_json_refusals();
  notes n = {cm_json_loadb(cm_openapi_text, strlen(cm_openapi_text), 0, &ignored), NULL, json_object(), json_object(), json_object(), json_object()};
  n.common = json_array_get(n.areas, 0);
  collect(&n);
  json_t *made = whole(&n);
  char *text = cm_json_dumps(made, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
  json_decref(made);
  json_decref(n.areas);
  json_decref(n.paths);
  json_decref(n.operations);
  json_decref(n.schemas);
  json_decref(n.shapes);
  if (cm_json_refusals() == refusals)
    return text;
  free(text); /* it may lack something */
  return NULL;
}
