/* The audit trail by effect: what each kind of change says it did, and that refused ones say why. */
#include "tests/api/jobs.h"

#include <stdarg.h>
#include <unistd.h>

#include "base/file.h"
#include "base/run.h"

static char ann[128], bob[128], cyd[128];
static char worm[65], made_last[33]; /* the network of jobs, and what the last one made */

static int command(const char *words, char *line, size_t size)
{
  return test_command(folder, "/dev/null", words, line, size);
}

static void make_user(const char *words, const char *token, char header[128])
{
  char line[300], text[100];
  snprintf(line, sizeof line, "user add %s", words);
  ck_assert_int_eq(command(line, NULL, 0), 0);
  snprintf(line, sizeof line, "token add --user %s", token);
  ck_assert_int_eq(command(line, text, sizeof text), 0);
  snprintf(header, 128, "Authorization: Bearer %s", text);
}

/* ann administers; bob and cyd are of one group. */
static void setup(void)
{
  jobs_setup();
  make_user("ann --role admin", "ann --scope admin", ann);
  make_user("bob --group vision", "bob --scope submit,reserve", bob);
  make_user("cyd --group vision", "cyd --scope submit", cyd);
}

static test_reply ask(const char *method, const char *path, const char *who, const char *body)
{
  const char *const headers[] = {who, NULL};
  return test_request(&server, method, path, headers, body, body != NULL ? strlen(body) : 0);
}

static void expect(const char *method, const char *who, const char *body, long status, const char *format, ...)
  __attribute__((format(printf, 5, 6)));

static void expect(const char *method, const char *who, const char *body, long status, const char *format, ...)
{
  char path[300];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(path, sizeof path, format, arguments);
  va_end(arguments);
  test_expect(ask(method, path, who, body), status);
}

/* The effects of the entries of an action, newest first, a line each; of as many as are asked for. */
static const char *effects(const char *action, size_t count)
{
  static char text[4096];
  char path[120];
  size_t used = 0, i = 0;
  snprintf(path, sizeof path, "/v1/audit?action=%s&limit=%zu", action, count);
  text[0] = '\0';
  for (int tries = 0; tries < 300 && i < count; tries++) { /* refusals are noted within a second or so, in the order of the clock */
    test_reply reply = ask("GET", path, ann, NULL);
    ck_assert_int_eq(reply.status, 200);
    const json_t *entries = json_object_get(reply.json, "entries"), *entry;
    used = 0;
    json_array_foreach(entries, i, entry)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i > 0 ? "\n" : "", test_word(entry, "effect"));
    test_reply_clear(&reply);
    if (i < count)
      usleep(100000);
  }
  return text;
}

/* The newest entry of an action has this effect, to the letter. */
static void told(const char *action, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void told(const char *action, const char *format, ...)
{
  char wanted[600];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(wanted, sizeof wanted, format, arguments);
  va_end(arguments);
  ck_assert_str_eq(effects(action, 1), wanted);
}

/* A member of what a request answers. */
static void made(const char *method, const char *path, const char *who, const char *body, long status, const char *member, char *value, size_t size)
{
  test_reply reply = ask(method, path, who, body);
  ck_assert_msg(reply.status == status, "%s %s: %ld %s", method, path, reply.status, reply.body);
  snprintf(value, size, "%s", test_word(reply.json, member));
  test_reply_clear(&reply);
}

static const char network[] = "4 3\n2\n1 3\n2 4\n3\n";

START_TEST(of_networks_and_the_bin)
{
  char id[65], upload[33];
  made("POST", "/v1/networks?visibility=private", bob, network, 201, "id", id, sizeof id);
  told("postNetwork", "network %s, private", id);
  expect("PUT", bob, "{\"visibility\": \"group\"}", 200, "/v1/networks/%s/access", id);
  told("putNetworkAccess", "visibility private -> group vision, of bob");
  expect("PUT", ann, "{\"visibility\": \"lab\"}", 200, "/v1/networks/%s/access", id);
  told("putNetworkAccess", "visibility group vision -> lab, of all owners");
  expect("PUT", bob, NULL, 200, "/v1/networks/%s/pin", id);
  told("putNetworkPin", "network %s pinned, of bob", id);
  expect("DELETE", bob, NULL, 200, "/v1/networks/%s/pin", id);
  told("deleteNetworkPin", "network %s pinned no longer, of bob", id);
  expect("DELETE", bob, NULL, 204, "/v1/networks/%s", id);
  told("deleteNetwork", "network %s to the bin", id);
  expect("POST", ann, NULL, 200, "/v1/bin/%s/restore", id);
  told("restoreBinned", "network %s back from the bin, of bob", id);
  expect("DELETE", bob, NULL, 204, "/v1/networks/%s", id);
  expect("DELETE", bob, NULL, 204, "/v1/bin/%s", id);
  ck_assert_ptr_nonnull(strstr(effects("deleteBinned", 1), " gone for good, "));
  /* Whoever empties the bin: an entry for each thing. */
  for (int i = 0; i < 2; i++) {
    made("POST", "/v1/networks?visibility=private", bob, network, 201, "id", id, sizeof id);
    expect("DELETE", bob, NULL, 204, "/v1/networks/%s", id);
  }
  expect("DELETE", bob, NULL, 204, "/v1/bin");
  ck_assert_ptr_nonnull(strstr(effects("emptyBin", 2), id));
  /* The same bytes are one network of two, until one of them leaves. */
  made("POST", "/v1/networks", bob, network, 201, "id", id, sizeof id);
  expect("POST", cyd, network, 200, "/v1/networks");
  told("postNetwork", "network %s, of cyd too", id);
  expect("DELETE", cyd, NULL, 204, "/v1/networks/%s", id);
  told("deleteNetwork", "network %s, no longer of cyd", id);
  made("POST", "/v1/uploads", bob, "{\"size\": 100}", 201, "id", upload, sizeof upload);
  told("postUpload", "upload %s, 100 bytes", upload);
  expect("DELETE", bob, NULL, 204, "/v1/uploads/%s", upload);
  told("deleteUpload", "upload %s gone", upload);
}
END_TEST

static void run_job(const char *who, const char *members, const char *result, char job[33])
{
  char body[300], path[120];
  snprintf(body, sizeof body, "{\"network\": \"%s\", %s}", worm, members);
  made("POST", "/v1/jobs", who, body, 202, "id", job, 33);
  for (;;) {
    snprintf(path, sizeof path, "/v1/jobs/%s?wait=20", job);
    test_reply reply = ask("GET", path, who, NULL);
    const char *state = test_word(reply.json, "state");
    const bool over = strcmp(state, "queued") != 0 && strcmp(state, "running") != 0;
    snprintf(made_last, sizeof made_last, "%s", test_word(reply.json, result));
    test_reply_clear(&reply);
    if (over)
      break;
  }
  ck_assert_str_ne(made_last, "");
}

START_TEST(of_jobs_and_what_they_make)
{
  static const char mapped[] = "\"chip\": \"loihi1\", \"visibility\": \"group\"";
  char job[33], first[33], line[200];
  made("POST", "/v1/networks", bob, network, 201, "id", worm, sizeof worm);
  run_job(bob, mapped, "mapping", job);
  told("postJob", "job %s, group vision", job);
  told("job", "mapping %s, group vision", made_last);
  snprintf(first, sizeof first, "%s", made_last);
  run_job(cyd, mapped, "mapping", job);
  ck_assert_str_eq(first, made_last);
  told("job", "mapping %s of an equal job; mapping %s, of cyd too", made_last, made_last);
  /* Whose doing it is, and by which request. */
  test_reply reply = ask("GET", "/v1/audit?action=job&limit=1", ann, NULL);
  const json_t *entry = json_array_get(json_object_get(reply.json, "entries"), 0);
  snprintf(line, sizeof line, "jobs/%s", job);
  ck_assert_str_eq(test_word(entry, "object"), line);
  ck_assert_str_eq(test_word(entry, "user"), "cyd");
  ck_assert_uint_eq(strlen(test_word(entry, "request")), 16);
  test_reply_clear(&reply);
  expect("PUT", cyd, "{\"visibility\": \"private\"}", 200, "/v1/mappings/%s/access", made_last);
  told("putMappingAccess", "visibility group vision -> private, of cyd");
  expect("PUT", cyd, "{\"visibility\": \"lab\"}", 200, "/v1/jobs/%s/access", job);
  told("putJobAccess", "visibility group vision -> lab, of cyd");
  expect("DELETE", bob, NULL, 204, "/v1/mappings/%s", made_last);
  told("deleteMapping", "mapping %s, no longer of bob", made_last);
  expect("DELETE", cyd, NULL, 204, "/v1/mappings/%s", made_last);
  told("deleteMapping", "mapping %s to the bin", made_last);
  expect("POST", cyd, NULL, 200, "/v1/bin/%s/restore", made_last);
  told("restoreBinned", "mapping %s back from the bin, of cyd", made_last);
  expect("DELETE", cyd, NULL, 204, "/v1/jobs/%s", job);
  told("deleteJob", "job %s to the bin", job);
}
END_TEST

START_TEST(of_programs)
{
  char *model, job[33];
  size_t size;
  const char *const headers[] = {bob, NULL};
  ck_ok(cm_file_read(test_data("onnx/shuffle.onnx"), 1 << 24, &model, &size, &error));
  test_reply reply = test_request(&server, "POST", "/v1/networks?visibility=private", headers, model, size);
  snprintf(worm, sizeof worm, "%s", test_word(reply.json, "id"));
  test_reply_clear(&reply);
  free(model);
  run_job(bob, "\"kind\": \"compile\"", "program", job);
  told("job", "program %s, private", made_last);
  expect("PUT", bob, NULL, 200, "/v1/programs/%s/pin", made_last);
  told("putProgramPin", "program %s pinned, of bob", made_last);
  expect("PUT", bob, "{\"visibility\": \"group\"}", 200, "/v1/programs/%s/access", made_last);
  told("putProgramAccess", "visibility private -> group vision, of bob");
  expect("DELETE", bob, NULL, 204, "/v1/programs/%s", made_last);
  told("deleteProgram", "program %s to the bin", made_last);
}
END_TEST

START_TEST(of_chips_and_leases)
{
  char lease[33];
  test_reply reply = ask("GET", "/v1/chips/loihi1", ann, NULL);
  json_t *chip = json_copy(reply.json);
  test_reply_clear(&reply);
  json_object_set_new(chip, "name", json_string("mine"));
  char *text = json_dumps(chip, 0);
  expect("PUT", bob, text, 201, "/v1/chips/mine?visibility=group");
  ck_assert_int_eq(strncmp(effects("putChip", 1), "chip mine, group vision, description ", 37), 0);
  free(text);
  json_object_set_new(chip, "description", json_string("another"));
  text = json_dumps(chip, 0);
  expect("PUT", bob, text, 200, "/v1/chips/mine");
  free(text);
  json_decref(chip);
  ck_assert_int_eq(strncmp(effects("putChip", 1), "chip mine, description ", 23), 0);
  ck_assert_ptr_nonnull(strstr(effects("putChip", 1), " -> "));
  expect("PUT", bob, "{\"visibility\": \"lab\"}", 200, "/v1/chips/mine/access");
  told("putChipAccess", "visibility group vision -> lab, of bob");
  const char *const headers[] = {bob, "If-Match: *", NULL};
  static const char change[] = "{\"occupy\": [[0, 0, 1, 1]], \"owner\": \"x\", \"broken\": [[5, 5]]}";
  test_expect(test_request(&server, "PATCH", "/v1/chips/mine/occupancy", headers, change, sizeof change - 1), 200);
  told("patchOccupancy", "taken 0 -> 4, broken 0 -> 1");
  made("POST", "/v1/chips/mine/reservations", bob, "{\"owner\": \"x\", \"count\": 3, \"ttl\": 60}", 201, "id", lease, sizeof lease);
  told("postReservation", "lease %s of 3 cores", lease);
  expect("PUT", bob, "{}", 200, "/v1/chips/mine/reservations/%s", lease);
  told("putReservation", "lease %s kept", lease);
  expect("DELETE", bob, NULL, 204, "/v1/chips/mine/reservations/%s", lease);
  told("deleteReservation", "lease %s of 3 cores gone", lease);
  static const char back[] = "{\"release\": [[0, 0, 1, 1]]}";
  test_expect(test_request(&server, "PATCH", "/v1/chips/mine/occupancy", headers, back, sizeof back - 1), 200);
  expect("DELETE", bob, NULL, 204, "/v1/chips/mine");
  told("deleteChip", "chip mine of bob gone");
}
END_TEST

START_TEST(of_users_tokens_and_the_server)
{
  char token[33], line[CM_PATH_MAX + 16], path[CM_PATH_MAX];
  made("POST", "/v1/tokens", ann, "{\"name\": \"x\", \"scopes\": [\"submit\"]}", 201, "id", token, sizeof token);
  told("postToken", "token %s of ann, read submit", token);
  expect("DELETE", ann, NULL, 204, "/v1/tokens/%s", token);
  told("deleteToken", "token %s of ann, read submit, revoked", token);
  expect("DELETE", ann, NULL, 204, "/v1/users/cyd");
  told("deleteUser", "user cyd, role user, group \"vision\", gone with 1 tokens");
  expect("PUT", ann, "{\"jobs_days\": 30}", 200, "/v1/retention/bob");
  told("putRetention", "jobs_days none -> 30");
  expect("DELETE", ann, NULL, 204, "/v1/cache");
  ck_assert_int_eq(strncmp(effects("deleteCache", 1), "bytes ", 6), 0);
  ck_assert_int_eq(command("drain --undo", NULL, 0), 0);
  told("drain", "takes jobs again");
  ck_ok(cm_path(path, &error, "%s.backup", folder));
  snprintf(line, sizeof line, "backup '%s'", path);
  ck_assert_int_eq(command(line, NULL, 0), 0);
  ck_assert_ptr_nonnull(strstr(effects("backup", 1), "the database and 0 files, 0 bytes"));
  ck_ok(cm_folder_remove(path, &error));
}
END_TEST

/* A change that is refused says why; looking at what one may not leaves nothing. */
START_TEST(of_what_was_refused)
{
  expect("POST", bob, "{\"name\": \"dora\"}", 403, "/v1/users");
  ck_assert_int_eq(strncmp(effects("postUser", 1), "refused: 403 forbidden: ", 24), 0);
  expect("DELETE", bob, NULL, 404, "/v1/networks/%s", "none");
  told("deleteNetwork", "refused: 404 not-found: there is no network none");
  expect("POST", cyd, "{\"owner\": \"x\", \"count\": 1, \"ttl\": 60}", 403, "/v1/chips/loihi1/reservations");
  ck_assert_int_eq(strncmp(effects("postReservation", 1), "refused: 403 forbidden: ", 24), 0);
  ck_assert_ptr_nonnull(strstr(effects("postReservation", 1), "reserve"));
  expect("GET", bob, NULL, 403, "/v1/users");
  test_reply reply = ask("GET", "/v1/audit?action=listUsers", ann, NULL);
  ck_assert_uint_eq(json_array_size(json_object_get(reply.json, "entries")), 0);
  test_reply_clear(&reply);
  /* Of a path and what is below it; not of what only begins like it. */
  reply = ask("GET", "/v1/audit?object=/v1/chips/loihi1", ann, NULL);
  ck_assert_uint_eq(json_array_size(json_object_get(reply.json, "entries")), 1);
  test_reply_clear(&reply);
  reply = ask("GET", "/v1/audit?object=/v1/chips/loihi", ann, NULL);
  ck_assert_uint_eq(json_array_size(json_object_get(reply.json, "entries")), 0);
  test_reply_clear(&reply);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("audit");
  TCase *tests = tcase_create("audit");
  tcase_add_checked_fixture(tests, setup, jobs_teardown);
  tcase_add_test(tests, of_networks_and_the_bin);
  tcase_add_test(tests, of_jobs_and_what_they_make);
  tcase_add_test(tests, of_programs);
  tcase_add_test(tests, of_chips_and_leases);
  tcase_add_test(tests, of_users_tokens_and_the_server);
  tcase_add_test(tests, of_what_was_refused);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
