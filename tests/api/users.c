/* Users and tokens: made on the data folder beside a server that runs, and over HTTP; what a token may, and when it ends. */
#include "tests/api/client.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/run.h"

static test_daemon server;
static char folder[CM_PATH_MAX], said[CM_PATH_MAX]; /* what commands say of themselves */
static cm_error error;

static void setup(void)
{
  test_folder(folder);
  ck_ok(cm_path(said, &error, "%s.said", folder));
  test_daemon_start(&server, folder, NULL);
}

static void teardown(void)
{
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
  ck_ok(cm_folder_remove(folder, &error));
  (void)unlink(said);
}

static int command(const char *words, char *line, size_t size)
{
  return test_command(folder, said, words, line, size);
}

/* A header line with a new token. */
static void make_token(const char *words, char header[128])
{
  char line[512], text[100];
  snprintf(line, sizeof line, "token add %s", words);
  ck_assert_int_eq(command(line, text, sizeof text), 0);
  ck_assert_uint_eq(strlen(text), 8 + 12 + 1 + 43);
  snprintf(header, 128, "Authorization: Bearer %s", text);
}

static test_reply ask(const char *method, const char *path, const char *header, const char *body)
{
  const char *const headers[] = {header, NULL};
  return test_request(&server, method, path, headers, body, body != NULL ? strlen(body) : 0);
}

static void expect(const char *method, const char *path, const char *header, const char *body, long status)
{
  test_expect(ask(method, path, header, body), status);
}

/* ann administers, bob uses. */
static char ann[128], bob[128];

static void make_users(void)
{
  ck_assert_int_eq(command("user add ann --role admin", NULL, 0), 0);
  ck_assert_int_eq(command("user add bob --group vision", NULL, 0), 0);
  make_token("--user ann --scope admin", ann);
  make_token("--user bob", bob);
}

START_TEST(without_users_nothing_is_asked_for)
{
  test_reply reply = test_get(&server, "/v1/me");
  ck_assert_int_eq(reply.status, 200);
  ck_assert(json_is_true(json_object_get(reply.json, "open")));
  ck_assert_str_eq(test_word(reply.json, "user"), "");
  test_reply_clear(&reply);
  test_expect(test_get(&server, "/metrics"), 200);
  test_expect(test_get(&server, "/v1/users"), 200);
  test_expect(test_get(&server, "/v1/tokens"), 200);
  /* Nobody is locked out over HTTP. */
  reply = test_problem(test_send(&server, "POST", "/v1/users", "{\"name\": \"eve\", \"role\": \"admin\"}"), 409, "conflict");
  test_reply_clear(&reply);
  test_expect(test_send(&server, "POST", "/v1/tokens", "{}"), 404);
}
END_TEST

START_TEST(with_users_a_token_is_needed_at_once)
{
  make_users();
  test_reply reply = test_problem(test_get(&server, "/v1/jobs"), 401, "unauthorized");
  ck_assert_str_eq(test_header(&reply, "www-authenticate"), "Bearer realm=\"coremapd\"");
  test_reply_clear(&reply);
  expect("GET", "/v1/jobs", bob, NULL, 200);
  /* What tells nothing of anybody stays open. */
  test_expect(test_get(&server, "/healthz"), 200);
  test_expect(test_get(&server, "/readyz"), 200);
  test_expect(test_get(&server, "/openapi.json"), 200);
  test_expect(test_get(&server, "/"), 200);
  reply = ask("GET", "/v1/me", bob, NULL);
  ck_assert_str_eq(test_word(reply.json, "user"), "bob");
  ck_assert_str_eq(test_word(reply.json, "group"), "vision");
  ck_assert_str_eq(test_word(reply.json, "role"), "user");
  ck_assert(json_is_false(json_object_get(reply.json, "open")));
  test_reply_clear(&reply);
}
END_TEST

/* The newest entries of an action; refusals are noted within a second or so. */
static test_reply trail(const char *query, size_t wanted)
{
  for (int tries = 0;; tries++) {
    test_reply reply = ask("GET", query, ann, NULL);
    ck_assert_int_eq(reply.status, 200);
    if (json_array_size(json_object_get(reply.json, "entries")) >= wanted || tries == 300)
      return reply;
    test_reply_clear(&reply);
    usleep(100000);
  }
}

/* What was changed stands in the entry: ids that were made, old and new values; and that it was refused, to whom. */
START_TEST(changes_tell_what_they_did)
{
  make_users();
  expect("PATCH", "/v1/users/bob", ann, "{\"role\": \"operator\", \"group\": \"\"}", 200);
  test_reply reply = trail("/v1/audit?action=patchUser", 1);
  ck_assert_str_eq(test_word(json_array_get(json_object_get(reply.json, "entries"), 0), "effect"),
                   "role user -> operator; group \"vision\" -> \"\"");
  test_reply_clear(&reply);
  expect("PUT", "/v1/quotas/users/bob", ann, "{\"queued\": 5}", 200);
  expect("PUT", "/v1/quotas/users/bob", ann, "{\"queued\": 7, \"bytes\": 1e9}", 200);
  reply = trail("/v1/audit?action=putUserQuota", 2);
  const json_t *entries = json_object_get(reply.json, "entries");
  ck_assert_ptr_nonnull(strstr(test_word(json_array_get(entries, 0), "effect"), "queued 5 -> 7"));
  ck_assert_ptr_nonnull(strstr(test_word(json_array_get(entries, 0), "effect"), "bytes none -> 1000000000"));
  test_reply_clear(&reply);
  expect("POST", "/v1/users", bob, "{\"name\": \"dora\"}", 403);
  expect("DELETE", "/v1/networks/none", bob, NULL, 404);
  reply = trail("/v1/audit?action=postUser&user=bob", 1);
  ck_assert_str_eq(test_word(json_array_get(json_object_get(reply.json, "entries"), 0), "effect"), "refused: 403 forbidden: this needs a token with scope admin; GET /v1/me says what this one has");
  test_reply_clear(&reply);
  reply = trail("/v1/audit?action=deleteNetwork", 1);
  ck_assert_str_eq(test_word(json_array_get(json_object_get(reply.json, "entries"), 0), "effect"), "refused: 404 not-found: there is no network none");
  test_reply_clear(&reply);
  expect("POST", "/v1/networks", bob, "4 3\n2\n1 3\n2 4\n3\n", 201);
  reply = trail("/v1/audit?action=postNetwork", 1);
  ck_assert_ptr_nonnull(strstr(test_word(json_array_get(json_object_get(reply.json, "entries"), 0), "effect"), "network "));
  test_reply_clear(&reply);
}
END_TEST

/* A refusal names the chips of the server that would do, with those of others that its owner sees, and no more. */
START_TEST(a_refusal_names_chips_that_its_owner_sees)
{
  static const char chip[] = "{\"name\": \"%s\", \"cores\": [2, 2], \"limits\": {\"neurons\": %d}}";
  static const struct {
    const char *name, *shown;
    int neurons;
  } chips[] = {{"tight", "lab", 1}, {"theirs", "lab", 7}, {"secret", "private", 7}};
  make_users();
  for (size_t i = 0; i < sizeof chips / sizeof *chips; i++) {
    char path[64], body[128];
    snprintf(path, sizeof path, "/v1/chips/%s?visibility=%s", chips[i].name, chips[i].shown);
    snprintf(body, sizeof body, chip, chips[i].name, chips[i].neurons);
    expect("PUT", path, ann, body, 201);
  }
  char path[128], body[256];
  test_reply reply = ask("POST", "/v1/networks", bob, "6 6\n2 6\n1 3\n2 4\n3 5\n4 6\n5 1\n");
  snprintf(body, sizeof body, "{\"network\": \"%s\", \"chip\": \"tight\", \"options\": {\"preset\": \"fast\"}}", test_word(reply.json, "id"));
  test_reply_clear(&reply);
  reply = ask("POST", "/v1/jobs", bob, body);
  snprintf(path, sizeof path, "/v1/jobs/%s?wait=30s", test_word(reply.json, "id"));
  do {
    test_reply_clear(&reply);
    reply = ask("GET", path, bob, NULL);
  } while (strcmp(test_word(reply.json, "state"), "queued") == 0 || strcmp(test_word(reply.json, "state"), "running") == 0);
  const char *detail = test_word(json_object_get(reply.json, "problem"), "detail");
  ck_assert_msg(strstr(detail, ". Chips that would take it: ") != NULL && strstr(detail, ", theirs (1 of 4 cores)") != NULL, "%s", detail);
  ck_assert(strstr(detail, "secret") == NULL && strstr(detail, "tight (") == NULL);
  test_reply_clear(&reply);
}
END_TEST

/* Every change has one entry, of whoever made it, and nothing takes it away; looking leaves none. */
START_TEST(changes_leave_a_trail)
{
  sqlite3 *database;
  char path[CM_PATH_MAX];
  make_users();
  expect("GET", "/v1/jobs", bob, NULL, 200);
  expect("POST", "/v1/users", ann, "{\"name\": \"carl\"}", 201);
  expect("POST", "/v1/users", ann, "{\"name\": \"carl\"}", 409);
  expect("POST", "/v1/users", bob, "{\"name\": \"dora\"}", 403);
  expect("POST", "/v1/networks?visibility=private", bob, "4 3\n2\n1 3\n2 4\n3\n", 201);
  expect("GET", "/v1/audit", bob, NULL, 403);
  test_reply reply = trail("/v1/audit?action=postUser&user=bob", 1); /* refused */
  ck_assert_uint_eq(json_array_size(json_object_get(reply.json, "entries")), 1);
  test_reply_clear(&reply);
  reply = trail("/v1/audit?action=postUser&user=ann", 2);
  ck_assert_uint_eq(json_array_size(json_object_get(reply.json, "entries")), 2);
  test_reply_clear(&reply);
  reply = ask("GET", "/v1/audit?action=postUser&limit=1", ann, NULL);
  ck_assert_str_ne(test_word(reply.json, "next"), "");
  test_reply_clear(&reply);
  reply = ask("GET", "/v1/audit?action=postNetwork", ann, NULL);
  ck_assert_uint_eq(strlen(test_word(json_array_get(json_object_get(reply.json, "entries"), 0), "request")), 16);
  ck_assert_int_eq(reply.status, 200);
  const json_t *entries = json_object_get(reply.json, "entries"), *newest = json_array_get(entries, 0);
  ck_assert_uint_eq(json_array_size(entries), 1);
  ck_assert_str_eq(test_word(newest, "action"), "postNetwork");
  ck_assert_str_eq(test_word(newest, "user"), "bob");
  ck_assert_str_eq(test_word(newest, "object"), "/v1/networks");
  ck_assert_str_eq(test_word(newest, "address"), "127.0.0.1");
  test_reply_clear(&reply);
  reply = ask("GET", "/v1/audit?user=ann&format=ndjson", ann, NULL);
  ck_assert_ptr_nonnull(strstr(reply.body, "\"action\":\"postUser\",\"object\":\"/v1/users\",\"request\":\""));
  ck_assert_ptr_null(strstr(reply.body, "bob"));
  test_reply_clear(&reply);
  reply = ask("GET", "/v1/audit?action=user%20add", ann, NULL);
  ck_assert_uint_ge(json_array_size(json_object_get(reply.json, "entries")), 1);
  test_reply_clear(&reply);
  ck_ok(cm_path(path, &error, "%s/coremapd.db", folder));
  ck_assert_int_eq(sqlite3_open(path, &database), SQLITE_OK);
  ck_assert_int_ne(sqlite3_exec(database, "DELETE FROM audit", NULL, NULL, NULL), SQLITE_OK);
  ck_assert_int_ne(sqlite3_exec(database, "UPDATE audit SET user = 'eve'", NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(database);
}
END_TEST

/* What a member of the months of a user's use is, in the month ago (0: this one). */
static double used(const char *query, size_t ago, const char *member)
{
  test_reply reply = ask("GET", query, ann, NULL);
  const json_t *months = json_object_get(reply.json, "months");
  ck_assert_int_eq(reply.status, 200);
  ck_assert_uint_gt(json_array_size(months), ago);
  double value = json_number_value(json_object_get(json_array_get(months, json_array_size(months) - 1 - ago), member));
  test_reply_clear(&reply);
  return value;
}

/* Core-hours, split where a month ends, whether the lease is still kept for the quotas or not; processor time; bytes, which months
 * without a change have from those before. They outlast their user, and a later one of his name has none of them. */
START_TEST(what_was_used_is_kept_by_month)
{
  char path[CM_PATH_MAX], line[2 * CM_PATH_MAX];
  sqlite3 *database;
  make_users();
  ck_assert_int_eq(command("user add cyd", NULL, 0), 0);
  expect("POST", "/v1/networks", bob, "4 3\n2\n1 3\n2 4\n3\n", 201);
  const double stored = used("/v1/usage?user=bob&since=2020-01", 0, "bytes");
  ck_assert(stored > 0);
  expect("GET", "/v1/usage?user=bob&since=2020-13", ann, NULL, 400);
  expect("GET", "/v1/usage?user=ann&since=2020-01", bob, NULL, 403);
  ck_ok(cm_path(path, &error, "%s/coremapd.db", folder));
  ck_assert_int_eq(sqlite3_open(path, &database), SQLITE_OK);
  /* 10 cores: an hour before the month's begin, two hours of it; and half an hour that ended long ago. */
  ck_assert_int_eq(sqlite3_exec(database, "INSERT INTO lease_use SELECT 'a', 'bob', 10, s - 3600, s + 7200 FROM"
                                " (SELECT unixepoch('now', 'start of month', '-1 month') AS s);"
                                "INSERT INTO lease_use VALUES('b', 'bob', 10, 1000000000, 1000001800);"
                                "INSERT INTO ledger VALUES('bob', '2001-09', 3600, 2.5, 77);", NULL, NULL, NULL), SQLITE_OK);
  for (int round = 0; round < 2; round++) {
    ck_assert_double_eq_tol(used("/v1/usage?user=bob&since=2020-01", 1, "core_hours"), 20, 1e-6);
    ck_assert_double_eq_tol(used("/v1/usage?user=bob&since=2020-01", 2, "core_hours"), 10, 1e-6);
    ck_assert_double_eq_tol(used("/v1/usage?user=bob&since=2020-01", 1, "bytes"), 77, 0.5);
    ck_assert_double_eq_tol(used("/v1/usage?user=bob&since=2020-01", 0, "bytes"), stored, 0.5);
    ck_assert_int_eq(command("usage --csv", line, sizeof line), 0);
    ck_assert_str_eq(line, "month,user,core_hours,cpu_seconds,bytes");
    /* A lease is taken: what ended more than a week ago goes from the quotas' table. */
    expect("POST", "/v1/chips/loihi64/reservations", ann, "{\"owner\": \"x\", \"count\": 1, \"ttl\": 60}", 201);
  }
  sqlite3_stmt *left;
  ck_assert_int_eq(sqlite3_prepare_v2(database, "SELECT count(*) FROM lease_use WHERE user = 'bob'", -1, &left, NULL), SQLITE_OK);
  ck_assert_int_eq(sqlite3_step(left), SQLITE_ROW);
  ck_assert_int_eq(sqlite3_column_int(left, 0), 0);
  sqlite3_finalize(left);
  sqlite3_close(database);
  expect("DELETE", "/v1/users/bob", ann, NULL, 204);
  ck_assert_int_eq(command("user add bob", NULL, 0), 0);
  test_reply reply = ask("GET", "/v1/usage?user=bob&since=2001-01", ann, NULL);
  ck_assert_uint_eq(json_array_size(json_object_get(reply.json, "months")), 0);
  test_reply_clear(&reply);
  snprintf(line, sizeof line, "'%s/coremapd' usage --csv --data '%s' | grep -qx '2001-09,bob (removed),6.000,2.500,77'",
           getenv("CM_BUILD") != NULL ? getenv("CM_BUILD") : "build/check", folder);
  ck_assert_int_eq(system(line), 0);
  ck_assert_int_eq(command("usage --since 2026", NULL, 0), 2);
}
END_TEST

START_TEST(scopes_and_roles_bound_what_a_token_may)
{
  char reads[128], operates[128];
  make_users();
  ck_assert_int_eq(command("user add olga --role operator", NULL, 0), 0);
  make_token("--user bob --scope read", reads);
  make_token("--user olga --scope read", operates);
  expect("GET", "/v1/networks", reads, NULL, 200);
  test_reply reply = test_problem(ask("POST", "/v1/networks", reads, "4 3\n2\n1 3\n2 4\n3\n"), 403, "forbidden");
  ck_assert_ptr_nonnull(strstr(reply.body, "scope submit"));
  test_reply_clear(&reply);
  expect("POST", "/v1/networks", bob, "4 3\n2\n1 3\n2 4\n3\n", 201);
  reply = test_problem(ask("GET", "/metrics", bob, NULL), 403, "forbidden");
  ck_assert_ptr_nonnull(strstr(reply.body, "role operator"));
  test_reply_clear(&reply);
  expect("GET", "/metrics", operates, NULL, 200);
  expect("DELETE", "/v1/cache", operates, NULL, 403);
  expect("GET", "/v1/users", bob, NULL, 403);
  expect("GET", "/v1/users", ann, NULL, 200);
  expect("GET", "/v1/tokens?user=ann", bob, NULL, 403);
  expect("GET", "/v1/tokens?user=bob", ann, NULL, 200);
}
END_TEST

START_TEST(wrong_tokens_are_refused_alike)
{
  char wrong[128], other[128];
  make_users();
  snprintf(wrong, sizeof wrong, "%s", bob);
  size_t last = strlen(wrong) - 1;
  wrong[last] = wrong[last] == 'A' ? 'B' : 'A';
  snprintf(other, sizeof other, "Authorization: Bearer coremap_0123456789ab_%.43s", bob + strlen(bob) - 43);
  test_reply a = test_problem(ask("GET", "/v1/me", wrong, NULL), 401, "unauthorized"),
             b = test_problem(ask("GET", "/v1/me", other, NULL), 401, "unauthorized"),
             c = test_problem(ask("GET", "/v1/me", "Authorization: Bearer ' OR 1=1 --", NULL), 401, "unauthorized");
  /* But for the id of each request, which tells nothing. */
  ck_assert_int_eq(json_object_del(a.json, "request") + json_object_del(b.json, "request") + json_object_del(c.json, "request"), 0);
  ck_assert(json_equal(a.json, b.json) && json_equal(a.json, c.json));
  ck_assert_uint_eq(a.size, b.size);
  test_reply_clear(&a);
  test_reply_clear(&b);
  test_reply_clear(&c);
}
END_TEST

START_TEST(wrong_tokens_are_slowed_down_and_right_ones_are_not)
{
  make_users();
  for (int i = 0; i < 3; i++)
    expect("GET", "/v1/me", "Authorization: Bearer coremap_guess", NULL, 401);
  double begun = cm_now();
  expect("GET", "/v1/me", "Authorization: Bearer coremap_guess", NULL, 401);
  expect("POST", "/v1/networks", "Authorization: Bearer coremap_guess", "4 3\n2\n1 3\n2 4\n3\n", 401);
  ck_assert_double_ge(cm_now() - begun, 0.25 + 0.5);
  /* Twenty guesses at once: some are held back, the others told to go away; who has a token waits for none of them.
   * A busy machine may take so long over them that they are not at once: again, then. */
  int sent_away = 0, held_back = 0;
  for (int round = 0; round < 10 && (sent_away == 0 || held_back == 0); round++) {
    pid_t guessers[20];
    for (int i = 0; i < 20; i++)
      if ((guessers[i] = fork()) == 0) {
        char *reply = test_raw(&server, "GET /v1/me HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer coremap_x\r\n"
                               "Connection: close\r\n\r\n", 300);
        _exit(strstr(reply, " 429 ") != NULL ? 1 : strstr(reply, " 401 ") != NULL ? 0 : 2);
      }
    usleep(300000);
    expect("GET", "/v1/me", bob, NULL, 200);
    sent_away = held_back = 0;
    for (int i = 0; i < 20; i++) {
      siginfo_t ended = {0};
      ck_assert_int_eq(waitid(P_PID, (id_t)guessers[i], &ended, WEXITED | WNOHANG | WNOWAIT), 0);
      held_back += ended.si_pid == 0; /* when the right token had its answer */
    }
    for (int i = 0; i < 20; i++) {
      int status;
      ck_assert_int_eq(waitpid(guessers[i], &status, 0), guessers[i]);
      ck_assert(WIFEXITED(status) && WEXITSTATUS(status) < 2);
      sent_away += WEXITSTATUS(status);
    }
    ck_assert_int_le(sent_away, 4);
  }
  ck_assert_int_ge(held_back, 1);
  ck_assert_int_ge(sent_away, 1);
}
END_TEST

START_TEST(revoked_expired_and_disabled_end_at_once)
{
  char brief[128], id[32], words[64];
  make_users();
  long valid = 0;
  int seconds = 1;
  for (; valid != 200 && seconds <= 64; seconds *= 2) { /* longer where a busy machine asks too late */
    snprintf(words, sizeof words, "--user bob --expires %ds", seconds);
    make_token(words, brief);
    test_reply first = ask("GET", "/v1/me", brief, NULL);
    valid = first.status;
    test_reply_clear(&first);
  }
  ck_assert_int_eq(valid, 200);
  usleep((useconds_t)seconds / 2 * 1000000 + 100000);
  test_reply reply = test_problem(ask("GET", "/v1/me", brief, NULL), 401, "unauthorized");
  ck_assert_ptr_nonnull(strstr(reply.body, "expired"));
  test_reply_clear(&reply);
  ck_assert_int_eq(command("user disable bob", NULL, 0), 0);
  expect("GET", "/v1/me", bob, NULL, 401);
  expect("PATCH", "/v1/users/bob", ann, "{\"disabled\": false}", 200);
  expect("GET", "/v1/me", bob, NULL, 200);
  snprintf(id, sizeof id, "%.12s", strstr(bob, "coremap_") + 8);
  snprintf(words, sizeof words, "token revoke %s", id);
  ck_assert_int_eq(command(words, NULL, 0), 0);
  expect("GET", "/v1/me", bob, NULL, 401);
  ck_assert_int_eq(command(words, NULL, 0), 1);
}
END_TEST

START_TEST(users_and_tokens_over_http)
{
  make_users();
  expect("POST", "/v1/users", ann, "{\"name\": \"cem\", \"group\": \"vision\"}", 201);
  expect("POST", "/v1/users", ann, "{\"name\": \"cem\"}", 409);
  expect("POST", "/v1/users", ann, "{\"name\": \"../x\"}", 400);
  expect("POST", "/v1/users", ann, "{\"name\": \"dan\", \"role\": \"god\"}", 400);
  test_reply reply = ask("POST", "/v1/tokens", ann, "{\"user\": \"cem\", \"name\": \"laptop\", \"scopes\": [\"admin\"], \"ttl\": 3600}");
  ck_assert_int_eq(reply.status, 201);
  ck_assert_str_eq(test_header(&reply, "cache-control"), "no-store");
  char cem[128], id[32], path[80];
  snprintf(cem, sizeof cem, "Authorization: Bearer %s", test_word(reply.json, "token"));
  snprintf(id, sizeof id, "%s", test_word(reply.json, "id"));
  test_reply_clear(&reply);
  /* He administers himself, and nobody else; nothing that he makes outlives what he has. */
  reply = ask("POST", "/v1/tokens", cem, "{\"scopes\": [\"read\"]}");
  ck_assert_int_eq(reply.status, 201);
  ck_assert(json_array_size(json_object_get(reply.json, "scopes")) == 1);
  char own[128], own_id[32];
  snprintf(own, sizeof own, "Authorization: Bearer %s", test_word(reply.json, "token"));
  snprintf(own_id, sizeof own_id, "%s", test_word(reply.json, "id"));
  test_reply_clear(&reply);
  expect("POST", "/v1/tokens", cem, "{\"ttl\": 86400}", 400);
  expect("POST", "/v1/tokens", cem, "{\"user\": \"ann\"}", 403);
  expect("POST", "/v1/tokens", own, "{}", 403);
  expect("POST", "/v1/tokens", bob, "{}", 403);
  expect("GET", "/v1/users", cem, NULL, 403);
  /* Only one's own are seen and revoked; another one's is not there. */
  snprintf(path, sizeof path, "/v1/tokens/%.12s", strstr(bob, "coremap_") + 8);
  expect("DELETE", path, cem, NULL, 404);
  snprintf(path, sizeof path, "/v1/tokens/%s", id);
  expect("DELETE", path, own, NULL, 403);
  snprintf(path, sizeof path, "/v1/tokens/%s", own_id);
  expect("DELETE", path, own, NULL, 204);
  expect("GET", "/v1/me", own, NULL, 401);
  /* The token is told once. */
  reply = ask("GET", "/v1/tokens?user=cem", ann, NULL);
  ck_assert_uint_eq(json_array_size(json_object_get(reply.json, "tokens")), 1);
  ck_assert_ptr_null(strstr(reply.body, "coremap_"));
  test_reply_clear(&reply);
  expect("DELETE", "/v1/users/cem", ann, NULL, 204);
  expect("GET", "/v1/me", cem, NULL, 401);
  expect("DELETE", "/v1/users/cem", ann, NULL, 404);
  expect("DELETE", "/v1/users/ann", ann, NULL, 409);
  expect("PATCH", "/v1/users/ann", ann, "{\"role\": \"user\"}", 409);
  expect("PATCH", "/v1/users/ann", ann, "{\"disabled\": true}", 409);
}
END_TEST

START_TEST(the_last_use_is_noted_and_no_secret_is_stored)
{
  char bytes[1 << 16], path[CM_PATH_MAX];
  make_users();
  expect("GET", "/v1/me", bob, NULL, 200);
  test_reply reply = {0};
  for (int i = 0; i < 3000; i++) {
    reply = ask("GET", "/v1/tokens", bob, NULL);
    if (json_is_string(json_object_get(json_array_get(json_object_get(reply.json, "tokens"), 0), "last_used")))
      break;
    test_reply_clear(&reply);
    usleep(100000);
  }
  ck_assert_ptr_nonnull(reply.json);
  test_reply_clear(&reply);
  const char *secret = bob + strlen(bob) - 43;
  static const char *const files[] = {"/coremapd.db", "/coremapd.db-wal", ".said"};
  for (int i = 0; i < 3; i++) {
    ck_ok(cm_path(path, &error, "%s%s", folder, files[i]));
    FILE *stream = fopen(path, "rb");
    ck_assert(stream != NULL || i == 1);
    size_t got;
    while (stream != NULL && (got = fread(bytes, 1, sizeof bytes, stream)) > 0)
      ck_assert_ptr_null(memmem(bytes, got, secret, 43));
    if (stream != NULL)
      fclose(stream);
  }
}
END_TEST

/* The JSON log, whole; the caller frees. */
static char *read_log(size_t *size)
{
  char *bytes;
  ck_ok(cm_file_read(said, 1 << 20, &bytes, size, &error));
  return bytes;
}

/* Each request and each step of a job has one line, with the id that the reply and the job have; no secret is in any. */
START_TEST(the_log_tells_who_did_what_and_no_secret)
{
  static const char network[] = "4 3\n2\n1 3\n2 4\n3\n", loud[] = "{\"token\": \"coremap_SECRET\", \"name\": \"BODYWORD\"}";
  char job[33], body[256], *log, named[64], path[100];
  const char *const arguments[] = {"--log", said, "--log-format", "json", NULL};
  size_t size;
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
  make_users();
  (void)unlink(said);
  test_daemon_start(&server, folder, arguments);
  test_reply reply = ask("POST", "/v1/networks?name=n", bob, network);
  ck_assert_int_eq(reply.status, 201);
  char id[65];
  snprintf(id, sizeof id, "%s", test_word(reply.json, "id"));
  test_reply_clear(&reply);
  snprintf(body, sizeof body, "{\"network\": \"%s\", \"chip\": \"loihi64\", \"name\": \"BODYWORD\"}", id);
  reply = ask("POST", "/v1/jobs", bob, body);
  ck_assert_int_eq(reply.status, 202);
  snprintf(job, sizeof job, "%s", test_word(reply.json, "id"));
  snprintf(named, sizeof named, "%s", test_header(&reply, "x-request-id"));
  ck_assert_uint_eq(strlen(named), 16);
  ck_assert_str_eq(test_word(reply.json, "request"), named);
  test_reply_clear(&reply);
  snprintf(path, sizeof path, "/v1/jobs/%s?wait=20s", job);
  for (int i = 0; i < 50; i++) {
    reply = ask("GET", path, bob, NULL);
    bool done = strcmp(test_word(reply.json, "state"), "done") == 0;
    test_reply_clear(&reply);
    if (done)
      break;
  }
  /* Secrets wherever a client may put them. */
  const char *token = strstr(bob, "coremap_");
  snprintf(path, sizeof path, "/v1/jobs?token=%s", token);
  expect("GET", path, bob, NULL, 400);
  snprintf(path, sizeof path, "/v1/tokens/%s", token);
  expect("DELETE", path, bob, NULL, 403);
  expect("POST", "/v1/session", "Cookie: coremap_session=COOKIEWORD", loud, 400);
  expect("POST", "/v1/jobs", bob, "{BODYWORD", 400);
  expect("GET", "/v1/me", "Authorization: Bearer coremap_0123456789ab_WRONGWORD", NULL, 401);
  reply = ask("GET", "/v1/jobs/none", bob, NULL);
  ck_assert_str_eq(test_word(reply.json, "request"), test_header(&reply, "x-request-id"));
  test_reply_clear(&reply);
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
  log = read_log(&size);
  static const char *const secrets[] = {"BODYWORD", "SECRET", "COOKIEWORD", "WRONGWORD", "Bearer"};
  for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++)
    ck_assert_msg(memmem(log, size, secrets[i], strlen(secrets[i])) == NULL, "%s is in the log", secrets[i]);
  ck_assert_ptr_null(memmem(log, size, token + 21, 43));
  ck_assert_ptr_null(memmem(log, size, network, sizeof network - 1));
  int requests = 0, steps = 0;
  bool posted = false, queued = false, ran = false, done = false;
  for (char *line = log, *end; line < log + size; line = end + 1) {
    end = memchr(line, '\n', (size_t)(log + size - line));
    ck_assert_ptr_nonnull(end);
    json_t *entry = json_loadb(line, (size_t)(end - line), 0, NULL);
    ck_assert_msg(entry != NULL, "no JSON: %.*s", (int)(end - line), line);
    bool mine = strcmp(test_word(entry, "request"), named) == 0;
    if (strcmp(test_word(entry, "event"), "request") == 0) {
      requests++;
      ck_assert(json_is_integer(json_object_get(entry, "status")) && json_is_real(json_object_get(entry, "seconds")));
      if (mine) {
        posted = true;
        ck_assert_str_eq(test_word(entry, "user"), "bob");
        ck_assert_str_eq(test_word(entry, "address"), "127.0.0.1");
        ck_assert_str_eq(test_word(entry, "method"), "POST");
        ck_assert_str_eq(test_word(entry, "route"), "/v1/jobs");
        ck_assert_int_eq(json_integer_value(json_object_get(entry, "status")), 202);
        ck_assert_uint_eq((size_t)json_integer_value(json_object_get(entry, "bytes_in")), strlen(body));
        ck_assert_int_gt(json_integer_value(json_object_get(entry, "bytes_out")), 100);
      }
    } else if (strcmp(test_word(entry, "event"), "job") == 0) {
      steps++;
      ck_assert(mine);
      ck_assert_str_eq(test_word(entry, "job"), job);
      queued = queued || strcmp(test_word(entry, "step"), "queued") == 0;
      ran = ran || strcmp(test_word(entry, "step"), "running") == 0;
      done = done || strcmp(test_word(entry, "step"), "done") == 0;
    }
    json_decref(entry);
  }
  ck_assert_int_ge(requests, 9);
  ck_assert_int_ge(steps, 4);
  ck_assert(posted && queued && ran && done);
  free(log);
  test_daemon_start(&server, folder, NULL);
}
END_TEST

/* Who operates the server ends it from afar, once its jobs have ended; and takes that back. */
START_TEST(draining_over_http)
{
  int status;
  make_users();
  expect("PUT", "/v1/drain", bob, NULL, 403);
  expect("PUT", "/v1/drain", ann, NULL, 204);
  test_reply reply = test_request(&server, "POST", "/v1/jobs", (const char *const[]){ann, NULL}, "{}", 2);
  ck_assert_msg(reply.status == 503 || reply.status == 0, "%ld", reply.status); /* or it has ended already */
  test_reply_clear(&reply);
  ck_assert_int_eq(waitpid(server.pid, &status, 0), server.pid);
  ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  test_daemon_start(&server, folder, NULL);
  expect("DELETE", "/v1/drain", ann, NULL, 204);
  expect("GET", "/v1/me", bob, NULL, 200);
}
END_TEST

/* As a browser does: the token once, then a cookie. */
START_TEST(a_session_stands_for_its_token)
{
  char body[200], cookie[160], secret[64], words[80];
  test_expect(test_send(&server, "POST", "/v1/session", "{\"token\": \"x\"}"), 409); /* no users yet */
  make_users();
  expect("POST", "/v1/session", "A: b", "{\"token\": \"coremap_x\"}", 401);
  expect("POST", "/v1/session", "A: b", "{}", 400);
  snprintf(body, sizeof body, "{\"token\": \"%s\"}", strstr(bob, "coremap_"));
  expect("POST", "/v1/session", "Origin: http://evil.example", body, 403);
  test_reply reply = ask("POST", "/v1/session", "A: b", body);
  ck_assert_int_eq(reply.status, 200);
  ck_assert_str_eq(test_word(reply.json, "user"), "bob");
  ck_assert_str_eq(test_header(&reply, "cache-control"), "no-store");
  ck_assert_int_eq(sscanf(test_header(&reply, "set-cookie"), "coremap_session=%63[^;]", secret), 1);
  ck_assert_ptr_nonnull(strstr(test_header(&reply, "set-cookie"), "; Path=/; HttpOnly; SameSite=Strict; Max-Age="));
  ck_assert_ptr_null(strstr(bob, secret));
  test_reply_clear(&reply);
  snprintf(cookie, sizeof cookie, "Cookie: theme=dark; coremap_session=%s", secret);
  expect("GET", "/v1/jobs", cookie, NULL, 200);
  /* Another page's forms and scripts change nothing, with whatever Origin, or none. */
  char origin[100], other[100];
  snprintf(origin, sizeof origin, "Origin: %s", server.url);
  snprintf(other, sizeof other, "Origin: http://127.0.0.1:%d", server.port == 1 ? 2 : 1);
  const char *const headers[][3] = {{cookie, NULL, NULL}, {cookie, other, NULL}, {cookie, "Origin: null", NULL},
                                    {cookie, origin, NULL}};
  for (int i = 0; i < 4; i++)
    test_expect(test_request(&server, "POST", "/v1/networks", headers[i], "4 3\n2\n1 3\n2 4\n3\n", 16), i < 3 ? 403 : 201);
  /* It may what the token may, and ends with it. */
  expect("GET", "/metrics", cookie, NULL, 403);
  expect("GET", "/v1/me", "Cookie: coremap_session=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", NULL, 401);
  test_expect(test_request(&server, "DELETE", "/v1/session", headers[3], NULL, 0), 204);
  expect("GET", "/v1/jobs", cookie, NULL, 401);
  reply = ask("POST", "/v1/session", "A: b", body);
  ck_assert_int_eq(sscanf(test_header(&reply, "set-cookie"), "coremap_session=%63[^;]", secret), 1);
  test_reply_clear(&reply);
  snprintf(cookie, sizeof cookie, "Cookie: coremap_session=%s", secret);
  expect("GET", "/v1/jobs", cookie, NULL, 200);
  snprintf(words, sizeof words, "token revoke %.12s", strstr(bob, "coremap_") + 8);
  ck_assert_int_eq(command(words, NULL, 0), 0);
  expect("GET", "/v1/jobs", cookie, NULL, 401);
}
END_TEST

START_TEST(commands_say_what_is_wrong)
{
  ck_assert_int_eq(command("user add 'No Name'", NULL, 0), 2);
  ck_assert_int_eq(command("user add ann --role god", NULL, 0), 2);
  ck_assert_int_eq(command("user fly ann", NULL, 0), 2);
  ck_assert_int_eq(command("user add ann --expires 3d", NULL, 0), 2);
  ck_assert_int_eq(command("user list --share 3", NULL, 0), 2);
  ck_assert_int_eq(command("token add --user nobody", NULL, 0), 1);
  ck_assert_int_eq(command("user add ann --role admin", NULL, 0), 0);
  ck_assert_int_eq(command("token add --user ann --expires soon", NULL, 0), 2);
  ck_assert_int_eq(command("token add --user ann --scope all", NULL, 0), 2);
  ck_assert_int_eq(command("user add ann", NULL, 0), 1);
  ck_assert_int_eq(command("user disable ann", NULL, 0), 1);
  /* The only user may go, and the server is open again. */
  expect("GET", "/v1/jobs", "A: b", NULL, 401);
  ck_assert_int_eq(command("user remove ann", NULL, 0), 0);
  expect("GET", "/v1/jobs", "A: b", NULL, 200);
}
END_TEST

/* A folder that does not exist yet is made, by a command before the first start. */
static unsigned mode_of(const char *name)
{
  char path[CM_PATH_MAX];
  struct stat about;
  ck_ok(cm_path(path, &error, "%s%s", folder, name));
  ck_assert_int_eq(stat(path, &about), 0);
  return about.st_mode & 0777;
}

/* Nobody else on the machine reads what the server keeps, whatever mode the folder had. */
START_TEST(the_folder_is_its_owners_alone)
{
  char network[65];
  test_upload(&server, "4 3\n2\n1 3\n2 4\n3\n", 16, network);
  ck_assert_uint_eq(mode_of("/coremapd.db"), 0600);
  ck_assert_uint_eq(mode_of("/coremapd.json"), 0600);
  ck_assert_uint_eq(mode_of("/networks"), 0700);
  char name[100];
  snprintf(name, sizeof name, "/networks/%s.zip", network);
  ck_assert_uint_eq(mode_of(name), 0600);
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
  ck_assert_int_eq(chmod(folder, 0755), 0);
  test_daemon_start(&server, folder, NULL);
  ck_assert_uint_eq(mode_of(""), 0700);
}
END_TEST

START_TEST(the_first_user_comes_before_the_first_start)
{
  char kept[CM_PATH_MAX];
  memcpy(kept, folder, sizeof kept);
  ck_ok(cm_path(folder, &error, "%s/new", kept));
  ck_assert_int_eq(mkdir(folder, 0700), 0);
  ck_assert_int_eq(command("user add ann --role admin", NULL, 0), 0);
  test_daemon second;
  test_daemon_start(&second, folder, NULL);
  test_expect(test_get(&second, "/v1/jobs"), 401);
  ck_assert_int_eq(test_daemon_stop(&second, SIGTERM), 0);
  memcpy(folder, kept, sizeof kept);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("users");
  TCase *tests = tcase_create("users");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, without_users_nothing_is_asked_for);
  tcase_add_test(tests, with_users_a_token_is_needed_at_once);
  tcase_add_test(tests, changes_tell_what_they_did);
  tcase_add_test(tests, a_refusal_names_chips_that_its_owner_sees);
  tcase_add_test(tests, changes_leave_a_trail);
  tcase_add_test(tests, what_was_used_is_kept_by_month);
  tcase_add_test(tests, scopes_and_roles_bound_what_a_token_may);
  tcase_add_test(tests, wrong_tokens_are_refused_alike);
  tcase_add_test(tests, wrong_tokens_are_slowed_down_and_right_ones_are_not);
  tcase_add_test(tests, revoked_expired_and_disabled_end_at_once);
  tcase_add_test(tests, users_and_tokens_over_http);
  tcase_add_test(tests, the_last_use_is_noted_and_no_secret_is_stored);
  tcase_add_test(tests, the_log_tells_who_did_what_and_no_secret);
  tcase_add_test(tests, draining_over_http);
  tcase_add_test(tests, a_session_stands_for_its_token);
  tcase_add_test(tests, commands_say_what_is_wrong);
  tcase_add_test(tests, the_folder_is_its_owners_alone);
  tcase_add_test(tests, the_first_user_comes_before_the_first_start);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
