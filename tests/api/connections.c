/* Sockets: where the server listens, and what it does about clients that keep connections without using them. */
#include "tests/api/client.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/random.h"
#include "base/run.h"

static test_daemon server;
static char folder[CM_PATH_MAX];
static cm_error error;

static void setup(void)
{
  test_folder(folder);
}

static void teardown(void)
{
  ck_ok(cm_folder_remove(folder, &error));
}

/* A connection from one of loopback's addresses. */
static int connect_from(const char *address)
{
  struct sockaddr_in from = {.sin_family = AF_INET}, to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)server.port)};
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ck_assert_int_eq(inet_pton(AF_INET, address, &from.sin_addr), 1);
  int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ck_assert_int_ge(made, 0);
  ck_assert_int_eq(bind(made, (struct sockaddr *)&from, sizeof from), 0);
  ck_assert_int_eq(connect(made, (struct sockaddr *)&to, sizeof to), 0);
  return made;
}

static void say(int connection, const char *text)
{
  ck_assert_int_eq(send(connection, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

static const char healthy[] = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";

/* Asks and waits for an answer on a connection that stays. */
static void expect_answer(int connection)
{
  char answer[1024];
  say(connection, healthy);
  ssize_t got = recv(connection, answer, sizeof answer - 1, 0);
  ck_assert_int_gt(got, 0);
  answer[got] = '\0';
  ck_assert_msg(strncmp(answer, "HTTP/1.1 200", 12) == 0, "%s", answer);
}

/* ---- heads ---- */

/* A request whose head has so many lines of so many bytes between what it begins and ends with; the status of its answer, 0: none. */
static int status_of_head(const char *first, const char *repeated, const char *between, int lines, int bytes, const char *last)
{
  enum { ROOM = 1 << 20 };
  char *head = malloc(ROOM), answer[32] = "";
  int status = 0, connection = connect_from("127.0.0.1");
  size_t used = (size_t)snprintf(head, ROOM, "%s", first);
  for (int i = 0; i < lines; i++)
    used += (size_t)snprintf(head + used, ROOM - used, "%s%s%0*d", i > 0 ? between : "", repeated, bytes, i);
  used += (size_t)snprintf(head + used, ROOM - used, "%s", last);
  (void)send(connection, head, used, MSG_NOSIGNAL);
  for (ssize_t got = 0, more; got < 15 && (more = recv(connection, answer + got, sizeof answer - 1 - (size_t)got, 0)) > 0;)
    got += more;
  (void)sscanf(answer, "HTTP/1.1 %d", &status);
  close(connection);
  free(head);
  return status;
}

/* As large as may be it is read; larger it is refused, in words, wherever memory for it ends: there the HTTP library closes without
 * any, or reads through a null pointer. */
START_TEST(heads_of_any_size_are_answered)
{
  static const char post[] = "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n";
  static const char cookies[] = "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nCookie: ";
  static const char line[] = " HTTP/1.1\r\nHost: localhost\r\n\r\n", method[] = " / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  static const char chunked[] = "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n";
  test_daemon_start(&server, folder, NULL);
  for (int lines = 10; lines < 1000; lines += lines > 400 && lines < 500 ? 2 : 30)
    ck_assert_int_eq(status_of_head(chunked, "X: ", "\r\n", lines, 1, "\r\n\r\n"), lines > 120 ? 431 : 400);
  for (int bytes = 100; bytes < 40000; bytes += bytes > 31500 && bytes < 32600 ? 50 : 900)
    ck_assert_int_eq(status_of_head("", "", "", 1, bytes, method), bytes > 16300 ? bytes > 32700 ? 414 : 431 : 405);
  for (int bytes = 100; bytes < 40000; bytes += bytes > 32000 && bytes < 32600 ? 50 : 700)
    ck_assert_int_eq(status_of_head(post, "X: ", "", 1, bytes, "\r\n\r\n{}"), bytes > 16300 ? 431 : 400);
  for (int bytes = 50; bytes < 330; bytes += 10)
    ck_assert_int_eq(status_of_head(post, "X: ", "\r\n", 100, bytes, "\r\n\r\n{}"), bytes > 155 ? 431 : 400);
  for (int lines = 10; lines < 1000; lines += 30)
    ck_assert_int_eq(status_of_head(post, "X: ", "\r\n", lines, 1, "\r\n\r\n{}"), lines > 120 ? 431 : 400);
  for (int lines = 10; lines < 3000; lines += 90)
    ck_assert_int_eq(status_of_head(cookies, "a", "=b; ", lines, 1, "\r\n\r\n{}"), lines > 120 ? 431 : 400);
  for (int lines = 10; lines < 2500; lines += 90)
    ck_assert_int_eq(status_of_head("GET /healthz?", "a", "&", lines, 1, line), lines > 120 ? 431 : 400);
  for (int bytes = 100; bytes < 40000; bytes += 900)
    ck_assert_int_eq(status_of_head("GET /healthz?", "a", "", 1, bytes, line), bytes > 16300 ? 414 : 400);
  expect_answer(connect_from("127.0.0.1"));
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
}
END_TEST

/* ---- where it listens ---- */

START_TEST(after_a_kill_the_port_is_free_at_once)
{
  enum { CLIENTS = 20 };
  char listen[32];
  int client[CLIENTS];
  test_daemon_start(&server, folder, NULL);
  for (int i = 0; i < CLIENTS; i++) {
    client[i] = connect_from("127.0.0.1");
    expect_answer(client[i]);
  }
  ck_assert_int_eq(test_daemon_stop(&server, SIGKILL), 128 + SIGKILL);
  snprintf(listen, sizeof listen, "127.0.0.1:%d", server.port);
  const char *const again[] = {"--listen", listen, NULL};
  test_daemon_start(&server, folder, again); /* fails the test when it does not listen */
  test_expect(test_get(&server, "/healthz"), 200);
  for (int i = 0; i < CLIENTS; i++)
    close(client[i]);
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
}
END_TEST

START_TEST(a_port_in_use_is_refused_in_words)
{
  char other[CM_PATH_MAX], said[CM_PATH_MAX], listen[32];
  test_daemon_start(&server, folder, NULL);
  ck_ok(cm_path(other, &error, "%s/other", folder));
  ck_ok(cm_path(said, &error, "%s/said", folder));
  snprintf(listen, sizeof listen, "127.0.0.1:%d", server.port);
  pid_t second = fork();
  ck_assert_int_ge(second, 0);
  if (second == 0) {
    char program[CM_PATH_MAX];
    snprintf(program, sizeof program, "%s/coremapd", getenv("CM_BUILD"));
    dup2(open(said, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), STDERR_FILENO);
    execl(program, program, "--listen", listen, "--data", other, (char *)NULL);
    _exit(127);
  }
  int status;
  ck_assert_int_eq(waitpid(second, &status, 0), second);
  ck_assert_int_eq(WEXITSTATUS(status), 1);
  char *text;
  size_t size;
  ck_ok(cm_file_read(said, 4096, &text, &size, &error));
  ck_assert_msg(memmem(text, size, listen, strlen(listen)) != NULL &&
                    memmem(text, size, "another server listens there", 28) != NULL, "%.*s", (int)size, text);
  free(text);
  test_expect(test_get(&server, "/healthz"), 200);
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
}
END_TEST

static bool has_ipv6(void)
{
  struct sockaddr_in6 at = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  int probe = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  bool has = probe >= 0 && bind(probe, (struct sockaddr *)&at, sizeof at) == 0;
  if (probe >= 0)
    close(probe);
  return has;
}

START_TEST(it_listens_on_ipv6_too)
{
  if (!has_ipv6())
    return;
  test_daemon_start(&server, folder, (const char *const[]){"--listen", "[::1]:0", NULL});
  ck_assert_int_eq(strncmp(server.url, "http://[::1]:", 13), 0);
  test_expect(test_get(&server, "/healthz"), 200);
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
}
END_TEST

/* ---- clients that keep what they do not use ---- */

static double seconds_until_closed(int connection, double most)
{
  double began = cm_now();
  char bytes[4096];
  struct timeval patience = {.tv_sec = (time_t)most + 1};
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  while (recv(connection, bytes, sizeof bytes, 0) > 0)
    if (cm_now() - began > most)
      break;
  return cm_now() - began;
}

static bool is_open(int connection)
{
  char byte;
  return recv(connection, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0;
}

/* More idle sockets than the server may open files: jobs get their files all the same, and others their answers. */
START_TEST(idle_sockets_take_no_files_from_jobs)
{
  enum { IDLE = 1000 };
  const struct rlimit few = {600, 600};
  struct rlimit mine;
  char network[65], id[33];
  int idle[IDLE];
  getrlimit(RLIMIT_NOFILE, &mine);
  mine.rlim_cur = mine.rlim_max;
  ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &mine), 0);
  test_daemon_start_limited(&server, folder, NULL, &few);
  int kept = connect_from("127.0.0.1");
  expect_answer(kept);
  for (int i = 0; i < IDLE; i++)
    idle[i] = connect_from("127.0.0.2");
  test_expect(test_get(&server, "/readyz"), 200);
  test_upload_file(&server, "celegans_herm_chem.edges.csv", network);
  test_job(&server, id, "{\"network\": \"%s\", \"chip\": \"loihi1\"}", network);
  json_t *job = test_wait(&server, id);
  ck_assert_str_eq(test_word(job, "state"), "done");
  json_decref(job);
  expect_answer(kept);
  test_reply reply = test_get(&server, "/metrics");
  ck_assert_ptr_null(strstr(reply.body, "coremapd_connections_evicted_total 0\n"));
  ck_assert_ptr_nonnull(strstr(reply.body, "coremapd_connections_max 188\n"));
  test_reply_clear(&reply);
  for (int i = 0; i < IDLE; i++)
    close(idle[i]);
  close(kept);
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
}
END_TEST

/* The reply to a GET, to the end of its body. */
static void ask(int connection, const char *path, char *reply, size_t size)
{
  char request[128];
  const char *length = NULL, *body = NULL;
  size_t used = 0;
  snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path);
  say(connection, request);
  while (body == NULL || used < (size_t)(body - reply) + strtoul(length + 16, NULL, 10)) {
    ssize_t got = recv(connection, reply + used, size - 1 - used, 0);
    ck_assert_int_gt(got, 0);
    reply[used += (size_t)got] = '\0';
    body = strstr(reply, "\r\n\r\n");
    body = body != NULL ? body + 4 : NULL;
    length = strstr(reply, "Content-Length: ");
  }
}

/* A connection keeps what it was answered last: it is not taken for another job, nor for what the job was before. */
START_TEST(a_connection_sees_the_job_it_asks_for)
{
  enum { SIZE = 32768 };
  char network[65], id[2][33], path[2][64], reply[SIZE], again[SIZE], key[64];
  test_daemon_start(&server, folder, NULL);
  test_upload_file(&server, "celegans_herm_chem.edges.csv", network);
  for (int i = 0; i < 2; i++) {
    test_job(&server, id[i], "{\"network\": \"%s\", \"chip\": \"loihi1\", \"options\": {\"preset\": \"fast\", \"seed\": %d}}", network, i + 1);
    json_decref(test_wait(&server, id[i]));
    snprintf(path[i], sizeof path[i], "/v1/jobs/%s", id[i]);
  }
  int connection = connect_from("127.0.0.1");
  for (int i = 0; i < 8; i++) {
    const int of = i / 2 % 2;
    ask(connection, path[of], reply, sizeof reply);
    snprintf(key, sizeof key, "\"id\": \"%s\"", id[of]);
    ck_assert_ptr_nonnull(strstr(reply, key));
    ck_assert_ptr_nonnull(strstr(reply, "\r\nETag: \"done-"));
    ask(connection, path[of], again, sizeof again);
    ck_assert_str_eq(strstr(reply, "\r\n\r\n"), strstr(again, "\r\n\r\n"));
    ck_assert_int_ne(strncmp(strstr(reply, "X-Request-Id: "), strstr(again, "X-Request-Id: "), 30), 0);
    if (i % 3 == 0)
      expect_answer(connection);
  }
  test_expect(test_request(&server, "DELETE", path[1], NULL, NULL, 0), 204);
  ask(connection, path[1], reply, sizeof reply);
  ck_assert_int_eq(strncmp(reply, "HTTP/1.1 404", 12), 0);
  close(connection);
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
}
END_TEST

START_TEST(one_address_gets_its_share_only)
{
  enum { GREEDY = 40 };
  int greedy[GREEDY], open = 0;
  test_daemon_start(&server, folder, (const char *const[]){"--connections", "30", "--connections-per-address", "20", NULL});
  int others[5];
  for (int i = 0; i < 5; i++)
    expect_answer(others[i] = connect_from("127.0.0.3"));
  for (int i = 0; i < GREEDY; i++)
    greedy[i] = connect_from("127.0.0.2");
  for (int tries = 0; tries < 1000; tries++) { /* until the server has seen them all */
    usleep(300000);
    open = 0;
    for (int i = 0; i < GREEDY; i++)
      open += is_open(greedy[i]);
    if (open <= 20)
      break;
  }
  ck_assert_int_le(open, 20);
  expect_answer(greedy[GREEDY - 1]);
  for (int i = 0; i < 5; i++)
    expect_answer(others[i]);
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
}
END_TEST

START_TEST(too_few_files_are_refused_at_start)
{
  char program[CM_PATH_MAX];
  snprintf(program, sizeof program, "%s/coremapd", getenv("CM_BUILD"));
  pid_t child = fork();
  if (child == 0) {
    (void)setrlimit(RLIMIT_NOFILE, &(struct rlimit){100, 100});
    execl(program, program, "--listen", "127.0.0.1:0", "--data", folder, (char *)NULL);
    _exit(127);
  }
  int status;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_int_eq(WEXITSTATUS(status), 2);
}
END_TEST

static const char *const impatient[] = {"--head-timeout", "2", "--idle-timeout", "3", "--stall-timeout", "2", "--min-rate",
                                        "2000", NULL};

enum { PATIENCE = 120, STEADY = 10 }; /* seconds: for a server to let go on a busy machine; to drip at a good pace */

/* Connects, drips `bytes` at a time and says after how many seconds the server had enough, at most `most`.
 * `ret_pause` gets the longest time that nothing was sent, for which a busy machine may be to blame. */
static double drip(const char *start, unsigned bytes, useconds_t pause, double most, double *ret_pause)
{
  double began = cm_now(), sent = began;
  char block[4096];
  memset(block, ' ', sizeof block);
  int connection = connect_from("127.0.0.1");
  say(connection, start);
  for (*ret_pause = 0; is_open(connection) && cm_now() - began < most; usleep(pause)) {
    if (send(connection, block, bytes, MSG_NOSIGNAL) < 0)
      break;
    double now = cm_now();
    *ret_pause = now - sent > *ret_pause ? now - sent : *ret_pause;
    sent = now;
  }
  double now = cm_now();
  *ret_pause = now - sent > *ret_pause ? now - sent : *ret_pause;
  close(connection);
  return now - began;
}

START_TEST(a_slow_head_is_cut_short)
{
  test_daemon_start(&server, folder, impatient);
  int silent = connect_from("127.0.0.1"), resting = connect_from("127.0.0.1");
  expect_answer(resting);
  double pause, took = drip("GET /healthz HTTP/1.1\r\nX-Slow: ", 1, 100000, PATIENCE, &pause);
  ck_assert_msg(took > 1 && took < PATIENCE, "a dripped head was cut after %g s", took);
  ck_assert_double_lt(seconds_until_closed(silent, PATIENCE), PATIENCE);
  ck_assert_double_lt(seconds_until_closed(resting, PATIENCE), PATIENCE);
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
}
END_TEST

START_TEST(a_slow_body_is_cut_short_and_a_steady_one_is_not)
{
  static const char head[] = "POST /v1/networks HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n";
  test_daemon_start(&server, folder, impatient);
  double pause, took = drip(head, 10, 100000, PATIENCE, &pause);
  ck_assert_msg(took > 1 && took < PATIENCE, "a dripped body was cut after %g s", took);
  /* Where the machine kept this client from sending, it was not steady: again. */
  for (int i = 0; i < 10; i++)
    if ((took = drip(head, 3000, 200000, STEADY, &pause)) >= STEADY || pause < 1)
      break;
  ck_assert_msg(took >= STEADY, "a steady body was cut after %g s", took);
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
}
END_TEST

static bool one_timed_out(void)
{
  test_reply reply = test_get(&server, "/metrics");
  bool one = strstr(reply.body, "coremapd_connections_timed_out_total 1\n") != NULL;
  test_reply_clear(&reply);
  return one;
}

START_TEST(a_reader_that_does_not_read_is_cut_short)
{
  enum { SIZE = 12 << 20 };
  char request[256], network[65], *text = malloc(SIZE);
  size_t used = 0;
  test_daemon_start(&server, folder, impatient);
  /* A network that does not pack well, so that its file fills the sockets' buffers. */
  cm_random random;
  cm_random_init(&random, 3, 0, 0);
  while (used < SIZE - 64)
    used += (size_t)snprintf(text + used, 64, "%u,%u,%u\n", (unsigned)cm_random_below(&random, 4000000),
                             (unsigned)cm_random_below(&random, 4000000), (unsigned)cm_random_below(&random, 1000000));
  test_upload(&server, text, used, network);
  free(text);
  int reader[2], small = 4096;
  snprintf(request, sizeof request, "GET /v1/networks/%s/content HTTP/1.1\r\nHost: localhost\r\n\r\n", network);
  for (int i = 0; i < 2; i++) {
    reader[i] = connect_from("127.0.0.1");
    setsockopt(reader[i], SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    say(reader[i], request);
  }
  /* One reads nothing, the other steadily. */
  double began = cm_now();
  char block[16384];
  while (cm_now() - began < 7 || (cm_now() - began < 100 && !one_timed_out())) {
    ssize_t got = recv(reader[1], block, sizeof block, 0);
    ck_assert_msg(got > 0, "the steady reader was cut after %g s", cm_now() - began);
    usleep(200000);
  }
  ck_assert(one_timed_out());
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("connections");
  TCase *tests = tcase_create("connections");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, heads_of_any_size_are_answered);
  tcase_add_test(tests, after_a_kill_the_port_is_free_at_once);
  tcase_add_test(tests, a_port_in_use_is_refused_in_words);
  tcase_add_test(tests, it_listens_on_ipv6_too);
  tcase_add_test(tests, idle_sockets_take_no_files_from_jobs);
  tcase_add_test(tests, a_connection_sees_the_job_it_asks_for);
  tcase_add_test(tests, one_address_gets_its_share_only);
  tcase_add_test(tests, too_few_files_are_refused_at_start);
  tcase_add_test(tests, a_slow_head_is_cut_short);
  tcase_add_test(tests, a_slow_body_is_cut_short_and_a_steady_one_is_not);
  tcase_add_test(tests, a_reader_that_does_not_read_is_cut_short);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
