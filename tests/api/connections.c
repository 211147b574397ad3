/* Sockets: where the server listens, and what it does about clients that keep connections without using them. */
#include "tests/api/client.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

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

int main(void)
{
  Suite *suite = suite_create("connections");
  TCase *tests = tcase_create("connections");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_set_timeout(tests, 120);
  tcase_add_test(tests, after_a_kill_the_port_is_free_at_once);
  tcase_add_test(tests, a_port_in_use_is_refused_in_words);
  tcase_add_test(tests, it_listens_on_ipv6_too);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
