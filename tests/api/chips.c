/* Chips, occupancies and reservations over HTTP. */
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
  json_array_foreach(json_object_get(reply.json, "chips"), index, chip) {
    const char *name = json_string_value(json_object_get(chip, "name"));
    ck_assert_int_eq(json_is_true(json_object_get(chip, "runs_programs")),
                     strncmp(name, "npu-", 4) == 0 || strcmp(name, "host") == 0 || strcmp(name, "cortex-m7") == 0 ||
                       strcmp(name, "pulp-cluster") == 0 || strcmp(name, "esp32-s3") == 0);
  }
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
  /* What is shown on terminals has nothing that moves their cursor or turns the direction of writing. */
  reply = test_problem(patch("loihi1", "*", "{\"occupy\": [[9, 0]], \"owner\": \"a\\u001b[2J\"}"), 400, "bad-occupancy");
  ck_assert_str_eq(test_word(reply.json, "where"), "/owner");
  test_reply_clear(&reply);
  test_expect(patch("loihi1", "*", "{\"occupy\": [[9, 0]], \"owner\": \"a\\u009b31m\"}"), 400);
  const char *const whole[] = {"If-Match: *", NULL};
  static const char turned[] = "{\"taken\": [{\"owner\": \"a\\u202eb\", \"cores\": [[9, 0]]}]}";
  test_expect(test_request(&server, "PUT", "/v1/chips/loihi1/occupancy", whole, turned, strlen(turned)), 400);
  test_expect(test_send(&server, "POST", "/v1/chips/loihi1/reservations", "{\"count\": 1, \"owner\": \"a\\u009bb\"}"), 400);
  reply = test_problem(test_send(&server, "PUT", "/v1/chips/ours", "{\"cores\": [4, 4], \"description\": \"\\u001b]0;x\\u0007\"}"), 400, "bad-chip");
  ck_assert_str_eq(test_word(reply.json, "where"), "/description");
  test_reply_clear(&reply);
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
  reply = test_send(&server, "PUT", path, "{\"owner\": \"you\"}"); /* another holder, for as long as before */
  ck_assert_str_eq(json_string_value(json_object_get(reply.json, "owner")), "you");
  ck_assert_double_eq(json_number_value(json_object_get(reply.json, "ttl")), 120);
  test_reply_clear(&reply);
  test_expect(test_send(&server, "PUT", path, "{\"owner\": 1}"), 400);
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
  Suite *suite = suite_create("chips");
  TCase *tests = tcase_create("chips");
  tcase_add_unchecked_fixture(tests, setup, teardown);
  tcase_add_test(tests, chips_come_and_go);
  tcase_add_test(tests, chips_change_only_as_seen);
  tcase_add_test(tests, taken_cores_outlive_a_change_of_their_chip);
  tcase_add_test(tests, occupancy_is_written_conditionally);
  tcase_add_test(tests, reservations_live_and_end);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
