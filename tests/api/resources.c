/* The protocol itself over HTTP against a live daemon: paths, methods, forged requests, kept replies, OpenAPI, the viewer's files. */
#include <coremap/run.h>
#include "tests/api/client.h"

#include <signal.h>

#include "api/internal.h"
#include "core/network/formats.h"

static test_daemon server;
static char folder[CM_PATH_MAX];
static cm_error error;

static void setup(void)
{
  const char *const arguments[] = {"--upload-limit", "1M", NULL};
  test_folder(folder);
  test_daemon_start(&server, folder, arguments);
}

static void teardown(void)
{
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
  ck_ok(cm_folder_remove(folder, &error));
}

/* ---- the protocol ---- */

START_TEST(health_ready_metrics)
{
  test_expect(test_get(&server, "/healthz"), 200);
  test_expect(test_get(&server, "/readyz"), 200);
  test_reply reply = test_get(&server, "/v1/version");
  ck_assert_int_eq(reply.status, 200);
  ck_assert_ptr_nonnull(strstr(reply.body, coremap_version()));
  test_reply_clear(&reply);
  reply = test_get(&server, "/metrics");
  ck_assert_int_eq(reply.status, 200);
  ck_assert_ptr_nonnull(strstr(reply.body, "coremapd_jobs{state=\"queued\"} 0"));
  ck_assert_ptr_nonnull(strstr(reply.body, "# TYPE coremapd_cache_hits_total counter"));
  test_reply_clear(&reply);
  reply = test_request(&server, "HEAD", "/healthz", NULL, NULL, 0);
  ck_assert_int_eq(reply.status, 200);
  ck_assert_uint_eq(reply.size, 0);
  test_reply_clear(&reply);
  test_expect(test_get(&server, "/v1/me"), 200);
}
END_TEST

START_TEST(wrong_paths_and_methods)
{
  test_reply reply = test_problem(test_get(&server, "/v1/nothing"), 404, "not-found");
  test_reply_clear(&reply);
  reply = test_problem(test_send(&server, "POST", "/healthz", ""), 405, "method-not-allowed");
  ck_assert_str_eq(test_header(&reply, "allow"), "GET, HEAD");
  test_reply_clear(&reply);
  reply = test_problem(test_send(&server, "PATCH", "/v1/networks", "{}"), 405, "method-not-allowed");
  ck_assert_str_eq(test_header(&reply, "allow"), "GET, HEAD, POST");
  test_reply_clear(&reply);
  reply = test_problem(test_get(&server, "/v1/uploads/abc"), 405, "method-not-allowed");
  ck_assert_str_eq(test_header(&reply, "allow"), "HEAD, PATCH, DELETE");
  test_reply_clear(&reply);
}
END_TEST

START_TEST(paths_that_mean_two_things_are_refused)
{
  static const char *const paths[] = {"/v1/../v1/jobs", "/v1/./jobs", "/v1/%2e%2e/jobs", "/v1/jobs%00", "/v1//jobs",
                                      "/v1/networks/a%2fb", "/%2e%2e/%2e%2e/etc/passwd", "/v1/chips/%zz", "/a%0ab"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    test_reply reply = test_get(&server, paths[i]);
    ck_assert_msg(reply.status == 400, "%s: %ld", paths[i], reply.status);
    test_reply_clear(&reply);
  }
}
END_TEST

static void expect_raw(const char *request, const char *status)
{
  char *answer = test_raw(&server, request, 2), start[32];
  snprintf(start, sizeof start, "HTTP/1.1 %s", status);
  ck_assert_msg(strncmp(answer, start, strlen(start)) == 0, "%s\n->\n%s", request, answer);
  free(answer);
}

START_TEST(smuggled_requests_are_refused)
{
  expect_raw(
      "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "400");
  expect_raw("POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}", "400");
  expect_raw("POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "400");
  expect_raw("POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400");
  expect_raw("POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: +2\r\n\r\n{}", "400");
  expect_raw("GET /healthz HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", "421");
  expect_raw("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1.evil.example\r\nConnection: close\r\n\r\n", "421");
  expect_raw("DELETE /v1/cache HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\nConnection: close\r\n\r\n",
             "403");
  expect_raw("DELETE /v1/cache HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nConnection: close\r\n\r\n",
             "204");
  expect_raw("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "200");
  expect_raw("POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n{}", "501");
  expect_raw("POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "501");
  expect_raw("POST /v1/jobs HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400");
}
END_TEST

/* Whoever is refused because the end of his request is uncertain gets one reply, in JSON, and nothing that follows is read
 * as a request; also when the HTTP library found it. */
START_TEST(what_cannot_be_read_gets_one_reply_and_the_end)
{
  static const char *const shapes[][2] = {
    {"GET /healthz HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding : chunked\r\n\r\n", "400"},
    {"GET /healthz HTTP/1.1\r\nHost: localhost\r\nA b: c\r\n\r\n", "400"},
    {"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: a\001b\r\n\r\n", "400"},
    {"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", "400"},
    {"GET /healthz HTTP/1.1\r\n\r\n", "400"},
    {"GET /healthz x HTTP/1.1\r\nHost: localhost\r\n\r\n", "400"},
    {"GET /healthz HTTP/1.1\r\nHost: localhost\r\nno colon\r\n\r\n", "400"},
    {"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: abc\r\n\r\n", "400"},
    {"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: \r\n\r\n", "400"},
    {"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999999\r\n\r\n", "413"},
    {"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n", "400"},
    {"GET /healthz HTTP/9.9\r\nHost: localhost\r\n\r\n", "505"},
  };
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    char request[512];
    snprintf(request, sizeof request, "%sGET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n", shapes[i][0]);
    expect_raw(request, shapes[i][1]);
    char *answer = test_raw(&server, request, 2);
    ck_assert_msg(strstr(answer + 1, "HTTP/1.1 ") == NULL, "%s\n->\n%s", request, answer);
    ck_assert_msg(strstr(answer, "Content-Type: application/problem+json\r\n") != NULL, "%s\n->\n%s", request, answer);
    ck_assert_msg(strstr(answer, "Connection: close\r\n") != NULL, "%s\n->\n%s", request, answer);
    json_t *problem = json_loads(strstr(answer, "\r\n\r\n") + 4, 0, NULL);
    ck_assert_msg(problem != NULL, "%s", answer);
    ck_assert_str_ne(test_word(problem, "detail"), "");
    json_decref(problem);
    free(answer);
  }
}
END_TEST

START_TEST(unknown_query_arguments_are_refused)
{
  static const char *const paths[] = {"/healthz?x=1", "/v1/jobs?limits=3", "/v1/jobs?limit=1&limit=2", "/v1/chips?",
                                      "/v1/networks?limit=1&nam=x", "/v1/jobs?=1", "/v1/me?user"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    test_reply reply = test_get(&server, paths[i]);
    ck_assert_msg(reply.status == (strcmp(paths[i], "/v1/chips?") == 0 ? 200 : 400), "%s: %ld", paths[i], reply.status);
    test_reply_clear(&reply);
  }
  test_reply reply = test_problem(test_get(&server, "/v1/jobs?limits=3"), 400, "bad-request");
  ck_assert_msg(strstr(reply.body, "limit cursor total ids since until network sweep state") != NULL, "%s", reply.body);
  test_reply_clear(&reply);
  test_expect(test_send(&server, "POST", "/v1/networks?nam=x", "a,b,1\n"), 400);
  test_expect(test_get(&server, "/?from=mail"), 200);
}
END_TEST

START_TEST(a_kept_alive_connection_serves_many)
{
  char *answer = test_raw(&server, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
                                   "GET /v1/nothing HTTP/1.1\r\nHost: localhost\r\n\r\n"
                                   "GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 3);
  int replies = 0;
  for (const char *p = answer; (p = strstr(p, "HTTP/1.1 ")) != NULL; p++)
    replies++;
  ck_assert_int_eq(replies, 3);
  free(answer);
}
END_TEST

/* A reply that its connection keeps names each request by its own id, and has each header once, whatever came between. */
START_TEST(kept_replies_are_each_requests_own)
{
  static const char health[] = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n", end[] = "\r\n";
  static const char *const once[] = {"Content-Type: ", "Cache-Control: ", "X-Content-Type-Options: ", "X-Frame-Options: ", "Date: ",
                                     "X-Request-Id: ", "Content-Length: "};
  char text[1024], ids[4][40];
  (void)snprintf(text, sizeof text, "%s%s%s%s" "GET /v1/me HTTP/1.1\r\nHost: localhost\r\n\r\n" "%sOrigin: http://127.0.0.1:%d\r\n%s"
                 "%sConnection: close\r\n%s", health, end, health, end, health, server.port, end, health, end);
  char *answer = test_raw(&server, text, 3), *reply = answer;
  int health_replies = 0;
  for (int i = 0; i < 5; i++) {
    char *next = strstr(reply + 1, "HTTP/1.1 ");
    ck_assert((next == NULL) == (i == 4));
    const size_t size = next != NULL ? (size_t)(next - reply) : strlen(reply);
    char *one = strndup(reply, size);
    ck_assert_ptr_nonnull(one);
    ck_assert_int_eq(strncmp(one, "HTTP/1.1 200 OK\r\n", 17), 0);
    for (size_t h = 0; h < sizeof once / sizeof *once; h++) {
      const char *first = strstr(one, once[h]);
      ck_assert_msg(first != NULL && strstr(first + 1, once[h]) == NULL, "%s in reply %d: %s", once[h], i, one);
    }
    if (strstr(one, "\"status\": \"ok\"") != NULL) {
      ck_assert_int_eq(sscanf(strstr(one, "X-Request-Id: "), "X-Request-Id: %39s", ids[health_replies]), 1);
      for (int before = 0; before < health_replies; before++)
        ck_assert_str_ne(ids[before], ids[health_replies]);
      health_replies++;
    }
    free(one);
    reply = next;
  }
  ck_assert_int_eq(health_replies, 4);
  free(answer);
}
END_TEST

/* The query arguments of an operation in the document are those of its route. */
static void expect_query(const json_t *document, const json_t *operation, const char *names)
{
  char documented[256] = "";
  const json_t *shared = json_object_get(json_object_get(document, "components"), "parameters");
  size_t i, count = 0, named = 0;
  json_t *parameter;
  json_array_foreach(json_object_get(operation, "parameters"), i, parameter)
  {
    const char *reference = test_word(parameter, "$ref");
    if (reference[0] != '\0')
      parameter = json_object_get(shared, strrchr(reference, '/') + 1);
    if (strcmp(test_word(parameter, "in"), "query") != 0)
      continue;
    size_t used = strlen(documented);
    snprintf(documented + used, sizeof documented - used, " %s ", test_word(parameter, "name"));
    count++;
  }
  for (const char *p = names; *p != '\0' && *p != '*'; p += strspn(p, " ")) {
    char name[64];
    size_t length = strcspn(p, " ");
    snprintf(name, sizeof name, " %.*s ", (int)length, p);
    ck_assert_msg(strstr(documented, name) != NULL, "%s: query argument%sis not documented",
                  test_word(operation, "operationId"), name);
    p += length;
    named++;
  }
  ck_assert_uint_eq(count, named);
}

/* An operation's scope and role are those of its right. */
static void expect_right(const json_t *operation, cm_right right)
{
  static const char *const words[] = {
    [CM_RIGHT_PUBLIC] = "[]", [CM_RIGHT_SELF] = "[{\"token\":[]}]", [CM_RIGHT_READ] = "[{\"token\":[\"read\"]}]",
    [CM_RIGHT_SUBMIT] = "[{\"token\":[\"submit\"]}]", [CM_RIGHT_RESERVE] = "[{\"token\":[\"reserve\"]}]",
    [CM_RIGHT_ACCOUNT] = "[{\"token\":[\"admin\"]}]", [CM_RIGHT_WATCH] = "[{\"token\":[\"read\",\"role operator\"]}]",
    [CM_RIGHT_OPERATE] = "[{\"token\":[\"admin\",\"role operator\"]}]",
    [CM_RIGHT_ADMIN] = "[{\"token\":[\"admin\",\"role admin\"]}]",
  };
  char *text = json_dumps(json_object_get(operation, "security"), JSON_COMPACT);
  ck_assert_ptr_nonnull(text);
  ck_assert_str_eq(text, words[right]);
  free(text);
}

/* The document and the routing table name the same operations. */
START_TEST(openapi_covers_the_routes_both_ways)
{
  test_reply reply = test_get(&server, "/openapi.json");
  ck_assert_int_eq(reply.status, 200);
  ck_assert_str_eq(test_word(reply.json, "openapi"), "3.1.0");
  json_t *paths = json_object_get(reply.json, "paths"), *item, *operation;
  const char *path, *method;
  size_t documented = 0;
  for (size_t i = 0; i < cm_route_count; i++) {
    char name[128], verb[12];
    size_t used = 0;
    for (const char *p = cm_routes[i].pattern; *p != '\0'; p++)
      if (*p != '*')
        name[used++] = *p;
    name[used] = '\0';
    for (used = 0; cm_routes[i].method[used] != '\0'; used++)
      verb[used] = (char)(cm_routes[i].method[used] + ('a' - 'A'));
    verb[used] = '\0';
    operation = json_object_get(json_object_get(paths, name), verb);
    ck_assert_msg(operation != NULL, "%s %s is not documented", verb, name);
    ck_assert_str_eq(test_word(operation, "operationId"), cm_routes[i].operation);
    expect_query(reply.json, operation, cm_routes[i].query);
    expect_right(operation, cm_routes[i].right);
  }
  json_object_foreach(paths, path, item)
    json_object_foreach(item, method, operation)
      if (strcmp(method, "parameters") != 0) {
        documented++;
        ck_assert_msg(json_object_get(json_object_get(operation, "responses"), "default") != NULL, "%s %s", method,
                      path);
      }
  ck_assert_uint_eq(documented, cm_route_count);
  test_reply_clear(&reply);
}
END_TEST

/* The document's list of formats is the table's, and models. */
START_TEST(openapi_knows_the_network_formats)
{
  test_reply reply = test_get(&server, "/openapi.json");
  const json_t *schemas = json_object_get(json_object_get(reply.json, "components"), "schemas"),
               *names = json_object_get(json_object_get(schemas, "NetworkFormat"), "enum");
  size_t count = 0;
  for (const char *name; (name = cm_network_format_name_at(count)) != NULL; count++)
    ck_assert_str_eq(json_string_value(json_array_get(names, count)), name);
  ck_assert_uint_eq(json_array_size(names), count + 1);
  ck_assert_str_eq(json_string_value(json_array_get(names, count)), "onnx");
  test_reply_clear(&reply);
}
END_TEST

/* The options of each kind of job are there with their words and ranges, metrics with their units, formats and layers. */
START_TEST(openapi_has_what_stands_in_tables)
{
  test_reply reply = test_get(&server, "/openapi.json");
  const json_t *schemas = json_object_get(json_object_get(reply.json, "components"), "schemas"), *map, *compile, *simulate;
  map = json_object_get(json_object_get(schemas, "MapOptions"), "properties");
  compile = json_object_get(json_object_get(schemas, "CompileOptions"), "properties");
  simulate = json_object_get(json_object_get(schemas, "SimulateOptions"), "properties");
  ck_assert_uint_eq(json_array_size(json_object_get(json_object_get(map, "preset"), "enum")), 4);
  ck_assert_str_eq(test_word(json_object_get(map, "preset"), "default"), "balanced");
  ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(map, "capacity_tries"), "maximum")), 16);
  ck_assert_str_eq(test_word(json_object_get(compile, "verify"), "type"), "boolean");
  ck_assert_uint_eq(json_array_size(json_object_get(json_object_get(compile, "shape"), "anyOf")), 2);
  ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(simulate, "steps"), "minimum")), 1);
  const json_t *metrics = json_object_get(json_object_get(schemas, "Metrics"), "properties"),
               *exports = json_object_get(json_object_get(schemas, "ExportFormat"), "enum"),
               *layers = json_object_get(json_object_get(schemas, "PictureLayer"), "enum");
  ck_assert_str_eq(test_word(json_object_get(metrics, "step_ns"), "x-unit"), "ns");
  ck_assert_str_eq(json_string_value(json_array_get(exports, 0)), "sanafe");
  ck_assert_str_eq(json_string_value(json_array_get(layers, 0)), "neurons");
  test_reply_clear(&reply);
}
END_TEST

/* Forms are made of the schema: it names the limits that a chip's reader knows, all of them. */
START_TEST(openapi_has_all_limits_of_chips)
{
  static const char *const groups[] = {"limits", "router_limits", "die_limits", "circuits"};
  test_reply reply = test_get(&server, "/openapi.json");
  const json_t *schemas = json_object_get(json_object_get(reply.json, "components"), "schemas");
  const json_t *chip = json_object_get(json_object_get(schemas, "Chip"), "properties");
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
    char text[200];
    snprintf(text, sizeof text, "{\"cores\": [4, 4], \"dies\": [2, 2], \"%s\": {\"nonsense\": 1}}", groups[i]);
    test_reply refused = test_problem(test_send(&server, "PUT", "/v1/chips/bad", text), 400, "bad-chip");
    const char *known = strstr(test_word(refused.json, "detail"), "known here: ");
    ck_assert_msg(known != NULL, "%s: %s", groups[i], test_word(refused.json, "detail"));
    size_t names = 1;
    for (const char *at = known; (at = strchr(at, ',')) != NULL; at++)
      names++;
    json_t *schema = json_object_get(chip, groups[i]), *row;
    const char *reference = json_string_value(json_object_get(schema, "$ref")), *name;
    if (json_object_get(schema, "allOf") != NULL)
      reference = test_word(json_array_get(json_object_get(schema, "allOf"), 0), "$ref");
    json_t *fields = json_object_get(reference != NULL ? json_object_get(schemas, strrchr(reference, '/') + 1) : schema, "properties");
    ck_assert_uint_eq(json_object_size(fields), names);
    json_object_foreach(fields, name, row)
    {
      char word[80];
      snprintf(word, sizeof word, " %s", name);
      const char *found = strstr(known, word);
      ck_assert_msg(found != NULL && strchr(",", found[strlen(word)]) != NULL, "%s/%s", groups[i], name);
    }
    test_reply_clear(&refused);
  }
  test_reply_clear(&reply);
}
END_TEST

START_TEST(viewer_files_are_safe)
{
  test_reply reply = test_get(&server, "/");
  if (reply.status == 200) { /* the viewer is there */
    ck_assert_ptr_nonnull(strstr(test_header(&reply, "content-security-policy"), "default-src 'self'"));
    ck_assert_str_eq(test_header(&reply, "x-content-type-options"), "nosniff");
    char condition[200];
    snprintf(condition, sizeof condition, "If-None-Match: %s", test_header(&reply, "etag"));
    const char *const headers[] = {condition, NULL};
    test_expect(test_request(&server, "GET", "/", headers, NULL, 0), 304);
    const char *const packs[] = {"Accept-Encoding: gzip", NULL};
    test_reply packed = test_request(&server, "GET", "/style.css", packs, NULL, 0), plain = test_get(&server, "/style.css");
    ck_assert_str_eq(test_header(&packed, "content-encoding"), "gzip");
    ck_assert_uint_lt(packed.size, plain.size / 2);
    ck_assert_ptr_nonnull(strstr(test_header(&packed, "content-security-policy"), "default-src 'self'"));
    test_reply_clear(&packed);
    test_reply_clear(&plain);
  }
  test_reply_clear(&reply);
  test_expect(test_get(&server, "/local.mk"), 404);
  test_expect(test_get(&server, "/.hidden.html"), 404);
  test_expect(test_get(&server, "/..%2fREADME.txt"), 400);
  /* Without them a server says how it is started with them. */
  test_daemon bare;
  char data[CM_PATH_MAX];
  test_folder(data);
  const char *const nowhere[] = {"--www", "/nonexistent", NULL};
  test_daemon_start(&bare, data, nowhere);
  reply = test_problem(test_get(&bare, "/"), 404, "not-found");
  ck_assert_ptr_nonnull(strstr(test_word(reply.json, "detail"), "--www FOLDER"));
  test_reply_clear(&reply);
  ck_assert_int_eq(test_daemon_stop(&bare, SIGTERM), 0);
  ck_ok(cm_folder_remove(data, &error));
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("resources");
  TCase *tests = tcase_create("resources");
  tcase_add_unchecked_fixture(tests, setup, teardown);
  tcase_add_test(tests, health_ready_metrics);
  tcase_add_test(tests, wrong_paths_and_methods);
  tcase_add_test(tests, paths_that_mean_two_things_are_refused);
  tcase_add_test(tests, smuggled_requests_are_refused);
  tcase_add_test(tests, what_cannot_be_read_gets_one_reply_and_the_end);
  tcase_add_test(tests, unknown_query_arguments_are_refused);
  tcase_add_test(tests, a_kept_alive_connection_serves_many);
  tcase_add_test(tests, kept_replies_are_each_requests_own);
  tcase_add_test(tests, openapi_covers_the_routes_both_ways);
  tcase_add_test(tests, openapi_knows_the_network_formats);
  tcase_add_test(tests, openapi_has_what_stands_in_tables);
  tcase_add_test(tests, openapi_has_all_limits_of_chips);
  tcase_add_test(tests, viewer_files_are_safe);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
