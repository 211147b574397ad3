/* coremapd slurm-bridge: the process that may speak to Slurm, and does nothing else: the server reaches it by a unix socket and keeps its
 * confinement. Happy path: take what is asked, submit together what came together, answer.
 *
 * What can fail: Slurm does not answer (that is the answer, and the server asks again); the server goes (it comes back); what is asked is
 * wrong (it is not done: tokens are all that reaches a command line, beside numbers and the settings). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "daemon/config.h"
#include "daemon/job/work.h"
#include "daemon/slurm/probe.h"
#include "storage/log.h"

enum { SERVERS = 4, TOGETHER_MAX = 500, LIST_KEPT_S = 30 * 86400, PROBE_LOOK_MS = 5000 };

typedef struct bridge {
  const cm_config *config;
  cm_slurm_queue *queue;
  cm_slurm_site site;
  cm_slurm_probes *probes;
  int place, servers[SERVERS];
  struct {
    cm_slurm_ask ask;
    int server;
  } waiting[TOGETHER_MAX]; /* to be submitted */
  size_t count;
} bridge;

static volatile sig_atomic_t over;

static void on_signal(CM_UNUSED int number)
{
  over = 1;
}

/* ---- submissions ---- */

static void answer(int server, const cm_slurm_told *told)
{
  (void)send(server, told, sizeof *told, MSG_NOSIGNAL);
}

/* Whether two runs can be one array: what they need is the same but for time and memory within twice. */
static bool fit(const cm_slurm_ask *a, const cm_slurm_ask *c)
{
  return a->threads == c->threads && strcmp(a->user, c->user) == 0 && a->minutes <= 2 * c->minutes && c->minutes <= 2 * a->minutes &&
         a->mebibytes <= 2 * c->mebibytes && c->mebibytes <= 2 * a->mebibytes;
}

/* Submits all that wait, those that fit together as one. */
static void submit_all(bridge *b)
{
  static bool done[TOGETHER_MAX];
  static size_t members[TOGETHER_MAX];
  static const cm_slurm_ask *runs[TOGETHER_MAX];
  memset(done, 0, sizeof done);
  for (size_t i = 0; i < b->count; i++) {
    cm_error error;
    size_t count = 0;
    if (done[i])
      continue;
    cm_slurm_ask *first = &b->waiting[i].ask;
    for (size_t j = i; j < b->count; j++)
      if (!done[j] && fit(first, &b->waiting[j].ask)) {
        done[j] = true;
        runs[count] = &b->waiting[j].ask;
        members[count++] = j;
        first->minutes = b->waiting[j].ask.minutes > first->minutes ? b->waiting[j].ask.minutes : first->minutes;
        first->mebibytes = b->waiting[j].ask.mebibytes > first->mebibytes ? b->waiting[j].ask.mebibytes : first->mebibytes;
      }
    const cm_status status = cm_slurm_submit(&b->site, runs, count, NULL, &error);
    cm_slurm_queue_age(b->queue);
    if (status != CM_OK)
      cm_log("slurm-bridge: %zu runs could not be submitted: %s", count, error.detail);
    for (size_t m = 0; m < count; m++) {
      const cm_slurm_ask *one = &b->waiting[members[m]].ask;
      cm_slurm_told told = {.slot = one->slot, .state = status == CM_OK ? CM_SLURM_TAKEN : CM_SLURM_UNREACHABLE};
      memcpy(told.token, one->token, sizeof told.token);
      (void)snprintf(told.text, sizeof told.text, "%s%.200s", status == CM_OK ? "given to Slurm" : "Slurm does not take it: ", status == CM_OK ? "" : error.detail);
      answer(b->waiting[members[m]].server, &told);
    }
  }
  b->count = 0;
}

/* ---- the server ---- */

/* Only what can be a token is one; and a name that accounts can have. */
static bool is_sound(cm_slurm_ask *asked)
{
  asked->token[sizeof asked->token - 1] = asked->user[sizeof asked->user - 1] = '\0';
  for (char *c = asked->user; *c != '\0'; c++)
    if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-@", *c) == NULL)
      *c = '_';
  return strlen(asked->token) == 20 && strspn(asked->token, "0123456789abcdef") == 20 && asked->attempt > 0 && asked->threads > 0 &&
         asked->mebibytes > 0 && asked->minutes > 0;
}

/* false: this server is gone. */
static bool take(bridge *b, int server)
{
  cm_slurm_ask asked;
  ssize_t got = -1;
  while (b->count < TOGETHER_MAX && (got = recv(server, &asked, sizeof asked, MSG_DONTWAIT)) != 0) {
    if (got < 0)
      return errno == EAGAIN || errno == EINTR;
    if (got != (ssize_t)sizeof asked || !is_sound(&asked))
      continue;
    cm_slurm_told told = {.slot = asked.slot};
    memcpy(told.token, asked.token, sizeof told.token);
    if (asked.what == CM_SLURM_SUBMIT) {
      b->waiting[b->count].ask = asked;
      b->waiting[b->count++].server = server;
    } else if (asked.what == CM_SLURM_CANCEL)
      cm_slurm_queue_cancel(b->queue, asked.token);
    else {
      cm_slurm_queue_look(b->queue, &told);
      answer(server, &told);
    }
  }
  return b->count == TOGETHER_MAX || got != 0;
}

static void take_server(bridge *b)
{
  cm_slurm_hello hello = {0};
  cm_error ignored;
  const int server = accept4(b->place, NULL, NULL, SOCK_CLOEXEC);
  size_t i = 0;
  while (i < SERVERS && b->servers[i] >= 0)
    i++;
  if (server < 0 || i == SERVERS) {
    if (server >= 0)
      (void)close(server);
    return;
  }
  (void)cm_work_program(hello.program, &ignored);
  (void)send(server, &hello, sizeof hello, MSG_NOSIGNAL);
  b->servers[i] = server;
}

static void serve(bridge *b)
{
  struct pollfd polled[SERVERS + 1] = {{.fd = b->place, .events = POLLIN}};
  for (size_t i = 0; i < SERVERS; i++)
    polled[i + 1] = (struct pollfd){.fd = b->servers[i], .events = POLLIN};
  const int told = poll(polled, SERVERS + 1, cm_slurm_probes_wait(b->probes) ? PROBE_LOOK_MS : -1);
  cm_slurm_probes_look(b->probes, &b->site, b->queue);
  if (told <= 0)
    return;
  for (size_t i = 0; i < SERVERS; i++)
    if (polled[i + 1].revents != 0 && !take(b, b->servers[i])) {
      submit_all(b);
      (void)close(b->servers[i]);
      b->servers[i] = -1;
    }
  if (polled[0].revents != 0)
    take_server(b);
  submit_all(b);
}

/* ---- start ---- */

/* Lists that no run of Slurm's can be in any more. */
static void remove_old_lists(const bridge *b)
{
  char path[CM_PATH_MAX];
  cm_error ignored;
  struct stat about;
  DIR *lists = cm_path(path, &ignored, "%s/lists", b->config->shared) == CM_OK ? opendir(path) : NULL;
  for (const struct dirent *item; lists != NULL && (item = readdir(lists)) != NULL;)
    if (fstatat(dirfd(lists), item->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(about.st_mode) && about.st_mtime < time(NULL) - LIST_KEPT_S)
      (void)unlinkat(dirfd(lists), item->d_name, 0);
  if (lists != NULL)
    (void)closedir(lists);
}

static cm_status listen_at(bridge *b, cm_error *error)
{
  struct sockaddr_un place = {.sun_family = AF_UNIX};
  const char *path = b->config->bridge;
  if (strlen(path) >= sizeof place.sun_path)
    return cm_fail(error, CM_BAD_OPTION, "bridge is \"%.60s...\"; the path of a socket has at most %zu bytes", path, sizeof place.sun_path - 1);
  memcpy(place.sun_path, path, strlen(path) + 1);
  (void)unlink(path);
  b->place = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (b->place < 0 || bind(b->place, (struct sockaddr *)&place, sizeof place) != 0 || chmod(path, 0660) != 0 || listen(b->place, SERVERS) != 0)
    return cm_fail_errno(error, errno, "the bridge cannot listen at", path);
  return CM_OK;
}

static cm_status start(bridge *b, cm_error *error)
{
  char path[CM_PATH_MAX];
  if (b->config->bridge[0] == '\0' || b->config->shared[0] == '\0')
    return cm_fail(error, CM_BAD_OPTION, "the settings bridge (a socket's path) and shared (a folder that all nodes see) are not there: coremapd slurm-bridge --config FILE");
  b->site.shared = b->config->shared;
  b->site.flags = b->config->slurm_flags;
  if (cm_slurm_check_flags(b->site.flags, error) != CM_OK || cm_path(path, error, "%s/lists", b->config->shared) != CM_OK || cm_folder_make(path, error) != CM_OK ||
      cm_slurm_write_script(&b->site, error) != CM_OK || cm_slurm_queue_new(b->config->shared, &b->queue, error) != CM_OK)
    return error->status;
  return cm_slurm_probes_begin(&b->site, &b->probes, error) == CM_OK ? listen_at(b, error) : error->status;
}

int cm_slurm_bridge_run(const cm_config *config)
{
  static bridge b = {.place = -1, .servers = {-1, -1, -1, -1}};
  cm_error error;
  const struct sigaction action = {.sa_handler = on_signal};
  b.config = config;
  (void)umask(027);
  (void)sigaction(SIGTERM, &action, NULL);
  (void)sigaction(SIGINT, &action, NULL);
  (void)signal(SIGPIPE, SIG_IGN);
  if (start(&b, &error) != CM_OK) {
    (void)fprintf(stderr, "coremapd slurm-bridge: %s\n", error.detail);
    return EXIT_FAILURE;
  }
  (void)printf("listening at %s\n", config->bridge);
  (void)fflush(stdout);
  remove_old_lists(&b);
  while (!over)
    serve(&b);
  (void)unlink(config->bridge);
  return EXIT_SUCCESS;
}
