/* Networks, uploads, chips, occupancy, reservations and the protocol itself, over HTTP against a live daemon. */
#include "tests/api/client.h"

#include <signal.h>

#include "api/internal.h"
#include "base/random.h"
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

static const char line_graph[] = "4 3\n2\n1 3\n2 4\n3\n";

/* ---- the protocol ---- */

START_TEST(health_ready_metrics)
{
  test_expect(test_get(&server, "/healthz"), 200);
  test_expect(test_get(&server, "/readyz"), 200);
  test_reply reply = test_get(&server, "/metrics");
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
                                      "/v1/networks?limit=1&name=x", "/v1/jobs?=1", "/v1/me?user"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    test_reply reply = test_get(&server, paths[i]);
    ck_assert_msg(reply.status == (strcmp(paths[i], "/v1/chips?") == 0 ? 200 : 400), "%s: %ld", paths[i], reply.status);
    test_reply_clear(&reply);
  }
  test_reply reply = test_problem(test_get(&server, "/v1/jobs?limits=3"), 400, "bad-request");
  ck_assert_msg(strstr(reply.body, "limit cursor state user network") != NULL, "%s", reply.body);
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
  ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(map, "attempts"), "maximum")), 16);
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
  }
  test_reply_clear(&reply);
  test_expect(test_get(&server, "/local.mk"), 404);
  test_expect(test_get(&server, "/.hidden.html"), 404);
  test_expect(test_get(&server, "/..%2fREADME.txt"), 400);
}
END_TEST

/* ---- networks ---- */

START_TEST(networks_come_and_go)
{
  test_reply reply = test_send(&server, "POST", "/v1/networks?name=a%20line", line_graph);
  ck_assert_msg(reply.status == 201, "%ld %s", reply.status, reply.body);
  char id[65], path[160], location[180];
  snprintf(id, sizeof id, "%s", test_word(reply.json, "id"));
  snprintf(path, sizeof path, "/v1/networks/%s", id);
  snprintf(location, sizeof location, "%s", test_header(&reply, "location"));
  ck_assert_str_eq(location, path);
  ck_assert_str_eq(test_word(reply.json, "name"), "a line");
  ck_assert_str_eq(test_word(reply.json, "format"), "metis");
  ck_assert_str_eq(test_word(reply.json, "sha256"), id);
  ck_assert_int_eq(json_integer_value(json_object_get(reply.json, "neurons")), 4);
  ck_assert_int_eq(json_integer_value(json_object_get(reply.json, "synapses")), 3);
  ck_assert_int_eq(json_integer_value(json_object_get(reply.json, "bytes")), sizeof line_graph - 1);
  test_reply_clear(&reply);

  test_expect(test_send(&server, "POST", "/v1/networks", line_graph), 200);
  test_expect(test_get(&server, path), 200);
  snprintf(location, sizeof location, "%s/content", path);
  reply = test_get(&server, location);
  ck_assert_int_eq(reply.status, 200);
  ck_assert_mem_eq(reply.body, "PK", 2);
  test_reply_clear(&reply);
  test_expect(test_request(&server, "DELETE", path, NULL, NULL, 0), 204);
  test_expect(test_get(&server, path), 404);
  test_expect(test_request(&server, "DELETE", path, NULL, NULL, 0), 404);
  test_expect(test_send(&server, "POST", "/v1/networks", line_graph), 201);
}
END_TEST

START_TEST(a_network_is_read_as_it_is_told)
{
  const char triangle[] = "3 3\n2 3\n1 3\n1 2\n"; /* a graph's rows, and as good three nets or four edges */
  test_reply reply = test_problem(test_send(&server, "POST", "/v1/networks?format=nix", triangle), 400, "bad-request");
  ck_assert_ptr_nonnull(strstr(test_word(reply.json, "detail"), "topology, snn, metis, hmetis"));
  test_reply_clear(&reply);
  reply = test_problem(test_send(&server, "POST", "/v1/networks?format=snn", triangle), 400, "bad-network");
  test_reply_clear(&reply);
  reply = test_problem(test_send(&server, "POST", "/v1/networks?format=onnx", triangle), 400, "bad-network");
  test_reply_clear(&reply);
  reply = test_send(&server, "POST", "/v1/networks?format=hmetis", triangle);
  ck_assert_int_eq(reply.status, 201);
  ck_assert_str_eq(test_word(reply.json, "format"), "hmetis");
  char path[160];
  snprintf(path, sizeof path, "/v1/networks/%s", test_word(reply.json, "id"));
  test_reply_clear(&reply);
  test_expect(test_send(&server, "POST", "/v1/networks", triangle), 200);
  test_expect(test_send(&server, "POST", "/v1/networks?format=hmetis", triangle), 200);
  test_expect(test_send(&server, "POST", "/v1/networks?format=edges", triangle), 409);
  test_expect(test_request(&server, "DELETE", path, NULL, NULL, 0), 204);
  reply = test_send(&server, "POST", "/v1/networks?name=mine.hgr", triangle);
  ck_assert_str_eq(test_word(reply.json, "format"), "hmetis");
  test_reply_clear(&reply);
  test_expect(test_request(&server, "DELETE", path, NULL, NULL, 0), 204);
  reply = test_send(&server, "POST", "/v1/networks", triangle);
  ck_assert_str_eq(test_word(reply.json, "format"), "metis");
  test_reply_clear(&reply);
  test_expect(test_request(&server, "DELETE", path, NULL, NULL, 0), 204);
}
END_TEST

START_TEST(networks_are_listed_page_by_page)
{
  char text[64], id[65], path[160];
  for (int i = 0; i < 5; i++) {
    snprintf(text, sizeof text, "a,b,%d\nb,c,1\n", i + 10);
    test_upload(&server, text, strlen(text), id);
  }
  int seen = 0, pages = 0;
  snprintf(path, sizeof path, "/v1/networks?limit=2");
  while (path[0] != '\0') {
    test_reply reply = test_get(&server, path);
    ck_assert_int_eq(reply.status, 200);
    seen += (int)json_array_size(json_object_get(reply.json, "networks"));
    pages++;
    if (json_object_get(reply.json, "next") != NULL)
      snprintf(path, sizeof path, "/v1/networks?limit=2&cursor=%s", test_word(reply.json, "next"));
    else
      path[0] = '\0';
    test_reply_clear(&reply);
  }
  ck_assert_int_ge(seen, 5);
  ck_assert_int_eq(pages, (seen + 1) / 2);
  test_expect(test_get(&server, "/v1/networks?limit=0"), 400);
  test_expect(test_get(&server, "/v1/networks?limit=x"), 400);
  test_expect(test_get(&server, "/v1/networks?cursor=-1"), 400);
}
END_TEST

/* Bad input: files. */
START_TEST(bad_networks_are_refused_with_the_place)
{
  static const struct {
    const char *text;
    bool place;
  } table[] = {
    {"", false},
    {"% x\n", false},                         /* no neurons */
    {"%PDF-1.4\n%\n", false},
    {"this is no network at all\n", false},
    {"4 3\n2\n1 9\n2 4\n3\n", true},        /* vertex out of range */
    {"4 9\n2\n1 3\n2 4\n3\n", false},        /* counts that do not match */
    {"4 3 1\n2 -1\n1 -1\n", true},           /* negative weight */
    {"a,b,nan\nb,c,1\n", true},              /* non-finite weight */
    {"a,b,--3\nb,c,1\n", true},
    {"PK\003\004 damaged zip", false},
    {"\037\213\010 damaged gzip", false},
  };
  test_reply before = test_get(&server, "/v1/networks?limit=1000");
  size_t stored = json_array_size(json_object_get(before.json, "networks"));
  test_reply_clear(&before);
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    test_reply reply = test_send(&server, "POST", "/v1/networks", table[i].text);
    ck_assert_msg(reply.status == 400, "%s: %ld %s", table[i].text, reply.status, reply.body);
    reply = test_problem(reply, 400, "bad-network");
    ck_assert_msg(!table[i].place || test_word(reply.json, "where")[0] != '\0', "%s: %s", table[i].text, reply.body);
    test_reply_clear(&reply);
  }
  test_reply after = test_get(&server, "/v1/networks?limit=1000");
  ck_assert_uint_eq(json_array_size(json_object_get(after.json, "networks")), stored);
  test_reply_clear(&after);
  test_expect(test_get(&server, "/healthz"), 200);
}
END_TEST

START_TEST(too_large_uploads_are_refused)
{
  size_t size = (1 << 20) + 1;
  char *bytes = calloc(1, size);
  test_reply reply = test_problem(test_request(&server, "POST", "/v1/networks", NULL, bytes, size), 413, "too-large");
  ck_assert_int_eq(json_integer_value(json_object_get(reply.json, "limit_bytes")), 1 << 20);
  test_reply_clear(&reply);
  /* Without a length, it shows only on the way. */
  const char *const chunked[] = {"Transfer-Encoding: chunked", "Content-Length:", NULL};
  reply = test_request(&server, "POST", "/v1/networks", chunked, bytes, size);
  ck_assert_int_eq(reply.status, 413);
  test_reply_clear(&reply);
  free(bytes);
  const char *const expecting[] = {"Expect: 100-continue", NULL};
  reply = test_request(&server, "POST", "/v1/networks", expecting, line_graph, strlen(line_graph));
  ck_assert(reply.status == 200 || reply.status == 201);
  test_reply_clear(&reply);
  test_expect(test_send(&server, "POST", "/v1/networks?name=%01", line_graph), 400);
}
END_TEST

START_TEST(uploads_are_resumed)
{
  char path[128], body[64];
  size_t size = strlen(line_graph) + 1;
  char text[32];
  snprintf(text, sizeof text, "%s%%", line_graph); /* other bytes than the other tests' */
  snprintf(body, sizeof body, "{\"name\": \"pieces\", \"size\": %zu}", size);
  test_reply reply = test_send(&server, "POST", "/v1/uploads", body);
  ck_assert_int_eq(reply.status, 201);
  snprintf(path, sizeof path, "%s", test_header(&reply, "location"));
  test_reply_clear(&reply);
  const char *const at0[] = {"Upload-Offset: 0", NULL}, *const at5[] = {"Upload-Offset: 5", NULL};
  test_expect(test_request(&server, "PATCH", path, at0, text, 5), 204);
  reply = test_problem(test_request(&server, "PATCH", path, at0, text, 5), 409, "conflict");
  ck_assert_str_eq(test_header(&reply, "upload-offset"), "5");
  test_reply_clear(&reply);
  reply = test_request(&server, "HEAD", path, NULL, NULL, 0);
  ck_assert_str_eq(test_header(&reply, "upload-offset"), "5");
  test_reply_clear(&reply);
  test_expect(test_request(&server, "PATCH", path, at5, line_graph, strlen(line_graph)), 413);
  /* What stops the import and is not the bytes' fault leaves them: an empty piece tries again. */
  char wrong[160], end[64];
  snprintf(wrong, sizeof wrong, "%s?format=poem", path);
  snprintf(end, sizeof end, "Upload-Offset: %zu", size);
  test_expect(test_request(&server, "PATCH", wrong, at5, text + 5, size - 5), 400);
  test_expect(test_request(&server, "HEAD", path, NULL, NULL, 0), 200);
  const char *const at_end[] = {end, NULL};
  reply = test_request(&server, "PATCH", path, at_end, "", 0);
  ck_assert_msg(reply.status == 201, "%ld %s", reply.status, reply.body);
  ck_assert_str_eq(test_word(reply.json, "name"), "pieces");
  test_reply_clear(&reply);
  test_expect(test_request(&server, "HEAD", path, NULL, NULL, 0), 404);
  test_expect(test_send(&server, "POST", "/v1/uploads", "{\"size\": 0}"), 400);
  test_expect(test_send(&server, "POST", "/v1/uploads", "{\"size\": 99999999}"), 413);
  reply = test_send(&server, "POST", "/v1/uploads", "{\"size\": 3}"); /* no network: refused, and gone */
  snprintf(path, sizeof path, "%s", test_header(&reply, "location"));
  test_reply_clear(&reply);
  test_expect(test_request(&server, "PATCH", path, at0, "%x\n", 3), 400);
  test_expect(test_request(&server, "HEAD", path, NULL, NULL, 0), 404);
  reply = test_send(&server, "POST", "/v1/uploads", "{\"size\": 10}");
  snprintf(path, sizeof path, "%s", test_header(&reply, "location"));
  test_reply_clear(&reply);
  test_expect(test_request(&server, "DELETE", path, NULL, NULL, 0), 204);
  test_expect(test_request(&server, "DELETE", path, NULL, NULL, 0), 404);
}
END_TEST

/* ---- chips ---- */

/* A preset's text under another name. */
static char *copy_of_preset(const char *preset, const char *name)
{
  char path[96];
  snprintf(path, sizeof path, "/v1/chips/%s", preset);
  test_reply reply = test_get(&server, path);
  ck_assert_int_eq(reply.status, 200);
  json_object_set_new(reply.json, "name", json_string(name));
  char *text = json_dumps(reply.json, 0);
  test_reply_clear(&reply);
  return text;
}

START_TEST(chips_come_and_go)
{
  test_reply reply = test_get(&server, "/v1/chips");
  ck_assert_int_eq(reply.status, 200);
  ck_assert_uint_ge(json_array_size(json_object_get(reply.json, "chips")), 8);
  size_t index;
  const json_t *chip;
  json_array_foreach(json_object_get(reply.json, "chips"), index, chip)
    ck_assert_int_eq(json_is_true(json_object_get(chip, "runs_programs")),
                     strncmp(json_string_value(json_object_get(chip, "name")), "npu-", 4) == 0);
  test_reply_clear(&reply);
  char *text = copy_of_preset("tianjic", "mine");
  test_expect(test_send(&server, "PUT", "/v1/chips/mine", text), 201);
  test_expect(test_send(&server, "PUT", "/v1/chips/mine", text), 200);
  test_expect(test_get(&server, "/v1/chips/mine"), 200);
  reply =
      test_problem(test_send(&server, "PUT", "/v1/chips/other", text), 400, "bad-chip"); /* the name inside differs */
  ck_assert_str_eq(test_word(reply.json, "where"), "/name");
  test_reply_clear(&reply);
  free(text);
  text = copy_of_preset("tianjic", "tianjic");
  test_expect(test_send(&server, "PUT", "/v1/chips/tianjic", text), 409);
  free(text);
  test_expect(test_request(&server, "DELETE", "/v1/chips/tianjic", NULL, NULL, 0), 409);
  test_expect(test_request(&server, "DELETE", "/v1/chips/mine", NULL, NULL, 0), 204);
  test_expect(test_get(&server, "/v1/chips/mine"), 404);
  test_expect(test_get(&server, "/v1/chips/mine/occupancy"), 404);
  reply = test_problem(test_send(&server, "PUT", "/v1/chips/bad", "{\"cores\": [0, 5]}"), 400, "bad-chip");
  ck_assert_str_ne(test_word(reply.json, "where"), "");
  test_reply_clear(&reply);
  test_expect(test_send(&server, "PUT", "/v1/chips/bad", "{"), 400);
  test_expect(test_send(&server, "PUT", "/v1/chips/bad%20name", "{}"), 400);
}
END_TEST

/* ---- occupancy ---- */

static test_reply patch(const char *chip, const char *tag, const char *change)
{
  char path[96], condition[128];
  snprintf(path, sizeof path, "/v1/chips/%s/occupancy", chip);
  snprintf(condition, sizeof condition, "If-Match: %s", tag);
  const char *const headers[] = {condition, NULL};
  return test_request(&server, "PATCH", path, tag != NULL ? headers : NULL, change, strlen(change));
}

static test_reply put_if(const char *path, const char *tag, const char *text)
{
  char condition[256];
  snprintf(condition, sizeof condition, "If-Match: %s", tag);
  const char *const headers[] = {condition, NULL};
  return test_request(&server, text != NULL ? "PUT" : "DELETE", path, headers, text, text != NULL ? strlen(text) : 0);
}

START_TEST(chips_change_only_as_seen)
{
  char tag[128];
  test_expect(put_if("/v1/chips/ours", "*", "{\"cores\": [4, 4]}"), 412); /* there is none yet */
  test_expect(test_send(&server, "PUT", "/v1/chips/ours", "{\"cores\": [4, 4]}"), 201);
  test_reply reply = test_get(&server, "/v1/chips/ours");
  snprintf(tag, sizeof tag, "%s", test_header(&reply, "etag"));
  test_reply_clear(&reply);
  reply = put_if("/v1/chips/ours", tag, "{\"cores\": [5, 4]}");
  ck_assert_int_eq(reply.status, 200);
  ck_assert_str_ne(test_header(&reply, "etag"), tag);
  test_reply_clear(&reply);
  reply = test_problem(put_if("/v1/chips/ours", tag, "{\"cores\": [6, 4]}"), 412, "precondition-failed");
  test_reply_clear(&reply);
  reply = test_problem(put_if("/v1/chips/ours", tag, NULL), 412, "precondition-failed");
  test_reply_clear(&reply);
  reply = test_get(&server, "/v1/chips/ours");
  ck_assert_int_eq(json_integer_value(json_array_get(json_object_get(reply.json, "cores"), 0)), 5);
  snprintf(tag, sizeof tag, "%s", test_header(&reply, "etag"));
  test_reply_clear(&reply);
  const char *const new_only[] = {"If-None-Match: *", NULL}, *const tags[] = {"If-None-Match: \"x\"", NULL};
  reply = test_problem(test_request(&server, "PUT", "/v1/chips/ours", new_only, "{\"cores\": [6, 4]}", 17), 412, "precondition-failed");
  test_reply_clear(&reply);
  test_expect(test_request(&server, "PUT", "/v1/chips/ours", tags, "{\"cores\": [6, 4]}", 17), 400);
  test_expect(test_request(&server, "PUT", "/v1/chips/fresh", new_only, "{\"cores\": [6, 4]}", 17), 201);
  test_expect(put_if("/v1/chips/ours", "nonsense", "{\"cores\": [6, 4]}"), 400);
  test_expect(put_if("/v1/chips/ours", tag, NULL), 204);
}
END_TEST

START_TEST(taken_cores_outlive_a_change_of_their_chip)
{
  test_expect(test_send(&server, "PUT", "/v1/chips/ours", "{\"cores\": [8, 8]}"), 201);
  test_expect(patch("ours", "*", "{\"occupy\": [[7, 7], [1, 2]], \"owner\": \"vision group\", \"broken\": [[3, 3], [0, 7]]}"),
              200);
  test_reply reply = test_problem(test_send(&server, "PUT", "/v1/chips/ours", "{\"cores\": [7, 8]}"), 409, "conflict");
  ck_assert_ptr_nonnull(strstr(test_word(reply.json, "detail"), "(7, 7) of \"vision group\""));
  ck_assert_int_eq(json_integer_value(json_object_get(reply.json, "cores")), 1);
  test_reply_clear(&reply);
  /* A core that the new description calls dead would be gone too. */
  test_expect(test_send(&server, "PUT", "/v1/chips/ours", "{\"cores\": [8, 8], \"dead_cores\": [[1, 2]]}"), 409);
  test_expect(test_send(&server, "PUT", "/v1/chips/ours", "{\"cores\": [9, 9]}"), 200);
  test_expect(patch("ours", "*", "{\"release\": [[7, 7]]}"), 200);
  test_expect(test_send(&server, "PUT", "/v1/chips/ours", "{\"cores\": [4, 4], \"dead_cores\": [[0, 0]]}"), 200);
  reply = test_get(&server, "/v1/chips/ours/occupancy");
  ck_assert_int_eq(json_integer_value(json_object_get(reply.json, "width")), 4);
  ck_assert_int_eq(json_integer_value(json_object_get(reply.json, "free")), 13);
  char *taken = json_dumps(json_object_get(reply.json, "taken"), JSON_COMPACT),
       *broken = json_dumps(json_object_get(reply.json, "broken"), JSON_COMPACT);
  ck_assert_str_eq(taken, "[{\"owner\":\"vision group\",\"cores\":[[1,2,1,2]]}]");
  ck_assert_str_eq(broken, "[[0,0,0,0],[3,3,3,3]]");
  free(taken);
  free(broken);
  test_reply_clear(&reply);
  /* A description without its dead core: that is free again, what broke in use is not. */
  test_expect(test_send(&server, "PUT", "/v1/chips/ours", "{\"cores\": [4, 4]}"), 200);
  reply = test_get(&server, "/v1/chips/ours/occupancy");
  ck_assert_int_eq(json_integer_value(json_object_get(reply.json, "free")), 14);
  test_reply_clear(&reply);
  reply = test_problem(test_request(&server, "DELETE", "/v1/chips/ours", NULL, NULL, 0), 409, "conflict");
  ck_assert_ptr_nonnull(strstr(test_word(reply.json, "detail"), "(1, 2) of \"vision group\""));
  test_reply_clear(&reply);
  test_expect(patch("ours", "*", "{\"release\": [[1, 2]]}"), 200);
  test_expect(test_request(&server, "DELETE", "/v1/chips/ours", NULL, NULL, 0), 204);
}
END_TEST

START_TEST(occupancy_is_written_conditionally)
{
  test_reply reply = test_get(&server, "/v1/chips/loihi1/occupancy");
  char tag[64];
  snprintf(tag, sizeof tag, "%s", test_header(&reply, "etag"));
  ck_assert_int_eq(json_integer_value(json_object_get(reply.json, "free")), 128);
  test_reply_clear(&reply);
  const char change[] = "{\"occupy\": [[0, 0, 3, 3], [5, 5]], \"broken\": [[15, 7]], \"owner\": \"lab\"}";
  reply = test_problem(patch("loihi1", NULL, change), 428, "precondition-required");
  test_reply_clear(&reply);
  reply = patch("loihi1", tag, change);
  ck_assert_msg(reply.status == 200, "%ld %s", reply.status, reply.body);
  ck_assert_str_ne(test_header(&reply, "etag"), tag);
  ck_assert_int_eq(json_integer_value(json_object_get(reply.json, "free")), 128 - 18);
  const json_t *fragmentation = json_object_get(reply.json, "fragmentation");
  ck_assert_int_ge(json_integer_value(json_object_get(fragmentation, "pieces")), 1);
  ck_assert(json_number_value(json_object_get(fragmentation, "value")) > 0);
  ck_assert_int_lt(json_integer_value(json_object_get(fragmentation, "largest_free_rectangle")), 128 - 18);
  test_reply_clear(&reply);
  reply = test_problem(patch("loihi1", tag, change), 412, "precondition-failed");
  test_reply_clear(&reply);
  test_expect(patch("loihi1", "unquoted", change), 400);
  reply = test_problem(patch("loihi1", "*", "{\"occupy\": [[0, 0]], \"owner\": \"other\"}"), 409, "conflict");
  test_reply_clear(&reply);
  reply = test_problem(patch("loihi1", "*", "{\"occupy\": [[99, 0]]}"), 400, "bad-occupancy");
  ck_assert_str_ne(test_word(reply.json, "where"), "");
  test_reply_clear(&reply);
  test_expect(patch("loihi1", "*", "{\"occupy\": "), 400);
  test_expect(patch("loihi1", "*", "{\"unknown\": 1}"), 400);
  test_expect(patch("nochip", "*", "{}"), 404);
  const char *const any[] = {"If-Match: *", NULL};
  reply = test_request(&server, "PUT", "/v1/chips/loihi1/occupancy", any, "{}", 2);
  ck_assert_int_eq(json_integer_value(json_object_get(reply.json, "free")), 128);
  test_reply_clear(&reply);
}
END_TEST

START_TEST(reservations_live_and_end)
{
  char path[160];
  test_reply reply = test_send(&server, "POST", "/v1/chips/truenorth/reservations",
                               "{\"cores\": [[0, 0, 1, 1]], \"owner\": \"me\", \"ttl\": 60}");
  ck_assert_msg(reply.status == 201, "%ld %s", reply.status, reply.body);
  snprintf(path, sizeof path, "%s", test_header(&reply, "location"));
  ck_assert_int_eq(json_integer_value(json_object_get(reply.json, "count")), 4);
  test_reply_clear(&reply);
  reply = test_problem(test_send(&server, "POST", "/v1/chips/truenorth/reservations", "{\"cores\": [[1, 1]]}"), 409,
                       "conflict");
  ck_assert_int_eq(json_integer_value(json_object_get(reply.json, "free")), 4096 - 4);
  test_reply_clear(&reply);
  reply =
      test_problem(test_send(&server, "POST", "/v1/chips/truenorth/reservations", "{\"count\": 4093}"), 409, "no-room");
  ck_assert_int_eq(json_integer_value(json_object_get(reply.json, "needed")), 4093);
  ck_assert_int_eq(json_integer_value(json_object_get(reply.json, "free")), 4092);
  test_reply_clear(&reply);
  test_expect(patch("truenorth", "*", "{\"release\": [[0, 0]]}"), 409);
  test_expect(test_get(&server, path), 200);
  test_expect(test_send(&server, "PUT", path, "{\"ttl\": 120}"), 200);
  test_expect(test_send(&server, "PUT", path, "{\"ttl\": 0}"), 400);
  test_expect(test_send(&server, "POST", "/v1/chips/truenorth/reservations", "{}"), 400);
  test_expect(test_send(&server, "POST", "/v1/chips/truenorth/reservations", "{\"count\": 1, \"what\": 1}"), 400);
  test_expect(test_send(&server, "POST", "/v1/chips/nochip/reservations", "{\"count\": 1}"), 404);
  test_expect(test_request(&server, "DELETE", path, NULL, NULL, 0), 204);
  test_expect(test_get(&server, path), 404);
  reply = test_send(&server, "POST", "/v1/chips/truenorth/reservations", "{\"count\": 10, \"ttl\": 1}");
  ck_assert_int_eq(reply.status, 201);
  snprintf(path, sizeof path, "%s", test_header(&reply, "location"));
  test_reply_clear(&reply);
  usleep(1100000);
  test_expect(test_get(&server, path), 404);
  reply = test_get(&server, "/v1/chips/truenorth/occupancy");
  ck_assert_int_eq(json_integer_value(json_object_get(reply.json, "free")), 4096);
  test_reply_clear(&reply);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("resources");
  TCase *tests = tcase_create("resources");
  tcase_add_unchecked_fixture(tests, setup, teardown);
  tcase_set_timeout(tests, 60);
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
  tcase_add_test(tests, a_network_is_read_as_it_is_told);
  tcase_add_test(tests, viewer_files_are_safe);
  tcase_add_test(tests, networks_come_and_go);
  tcase_add_test(tests, networks_are_listed_page_by_page);
  tcase_add_test(tests, bad_networks_are_refused_with_the_place);
  tcase_add_test(tests, too_large_uploads_are_refused);
  tcase_add_test(tests, uploads_are_resumed);
  tcase_add_test(tests, chips_come_and_go);
  tcase_add_test(tests, chips_change_only_as_seen);
  tcase_add_test(tests, taken_cores_outlive_a_change_of_their_chip);
  tcase_add_test(tests, occupancy_is_written_conditionally);
  tcase_add_test(tests, reservations_live_and_end);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
