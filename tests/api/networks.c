/* Networks over HTTP: uploads, whole or in pieces, lists, what is refused. */
#include "tests/api/client.h"

#include <signal.h>

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

/* What was understood of the file stands with the network, until it goes. */
START_TEST(what_was_read_is_kept)
{
  const char text[] = "pre,roi,post\nA,AL,B\nB,AL,C\n";
  char id[65], path[100];
  test_upload(&server, text, strlen(text), id);
  snprintf(path, sizeof path, "/v1/networks/%s", id);
  test_reply reply = test_get(&server, path);
  const json_t *reading = json_object_get(reply.json, "reading");
  ck_assert(json_is_true(json_object_get(reading, "header")) && json_is_true(json_object_get(reading, "directed")));
  ck_assert_str_eq(json_string_value(json_array_get(json_object_get(reading, "columns"), 2)), "target");
  ck_assert_str_eq(json_string_value(json_array_get(json_object_get(reading, "ignored"), 0)), "roi");
  ck_assert_str_eq(test_word(reading, "ids"), "names");
  ck_assert_str_eq(test_word(json_array_get(json_object_get(reading, "rows"), 1), "source"), "B");
  test_reply_clear(&reply);
  reply = test_problem(test_send(&server, "POST", "/v1/networks", "0,1,2\n3,0,4\n5,6,0\n"), 400, "bad-network");
  ck_assert_ptr_nonnull(strstr(test_word(reply.json, "detail"), "format=matrix"));
  test_reply_clear(&reply);
  reply = test_send(&server, "POST", "/v1/networks?format=matrix&directed=yes", "0,1,2\n3,0,4\n5,6,0\n");
  ck_assert_int_eq(reply.status, 201);
  test_reply_clear(&reply);
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

/* What curl -F sends, of known length and chunked, to whatever takes a body. */
START_TEST(forms_are_refused_and_say_what_to_send)
{
  static const char form[] =
    "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n4 3\n2\n1 3\n2 4\n3\n\r\n--x--\r\n";
  static const char *const kinds[][4] = {
    {"Content-Type: multipart/form-data; boundary=x", NULL},
    {"Content-Type: Multipart/Form-Data; boundary=x", "Transfer-Encoding: chunked", "Content-Length:", NULL}};
  static const char *const routes[][2] = {{"POST", "/v1/networks"}, {"PUT", "/v1/chips/form"}, {"POST", "/v1/jobs"}};
  for (size_t k = 0; k < 2; k++)
    for (size_t r = 0; r < sizeof routes / sizeof *routes; r++) {
      test_reply reply = test_request(&server, routes[r][0], routes[r][1], kinds[k], form, strlen(form));
      reply = test_problem(reply, 400, "bad-request");
      ck_assert_ptr_nonnull(strstr(test_word(reply.json, "detail"), "curl -T FILE"));
      ck_assert_ptr_nonnull(strstr(test_word(reply.json, "detail"), routes[r][0]));
      test_reply_clear(&reply);
    }
  test_expect(test_get(&server, "/healthz"), 200);
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

int main(void)
{
  Suite *suite = suite_create("networks");
  TCase *tests = tcase_create("networks");
  tcase_add_unchecked_fixture(tests, setup, teardown);
  tcase_add_test(tests, a_network_is_read_as_it_is_told);
  tcase_add_test(tests, networks_come_and_go);
  tcase_add_test(tests, what_was_read_is_kept);
  tcase_add_test(tests, networks_are_listed_page_by_page);
  tcase_add_test(tests, bad_networks_are_refused_with_the_place);
  tcase_add_test(tests, too_large_uploads_are_refused);
  tcase_add_test(tests, forms_are_refused_and_say_what_to_send);
  tcase_add_test(tests, uploads_are_resumed);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
