/* coremapd --node SCRIPT LIST: a run on a node of the cluster. Happy path: find our line of the list, take the attempt, work in a child,
 * write a beat every few seconds, write how the child ended.
 *
 * What can fail: the attempt is another run's, or its folder is gone (we end, and touch nothing); Slurm ends us (so does the child, and its
 * end is written); the node or its file system fails (the beat stops, which is all that anybody hears). */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "base/number.h"
#include "daemon/slurm/wire.h"
#include "daemon/told.h"

static const double STOP_GRACE_S = 5, TIME_GRACE_S = 5;
enum { LOOK_MS = 500 };

typedef struct node_run {
  char folder[CM_PATH_MAX], run[CM_PATH_MAX];
  int attempt;
  double time_limit;
  pid_t child;
  int output;        /* what the child says */
  double began, beat, stop; /* when; 0: not yet */
  size_t said;
  cm_told_end end;
} node_run;

static volatile sig_atomic_t told_to_end;

static void on_signal(CM_UNUSED int number)
{
  told_to_end = 1;
}

/* Finds our line of the list, and from that the job folder. */
static cm_status find(node_run *r, const char *list, cm_error *error)
{
  const char *task = getenv("SLURM_ARRAY_TASK_ID");
  uint64_t wanted = 0;
  char *text, token[CM_SLURM_TOKEN_MAX] = "";
  size_t size;
  if (task != NULL && !cm_whole_parse(task, &wanted))
    return cm_fail(error, CM_DAMAGED, "SLURM_ARRAY_TASK_ID is \"%.20s\", which is no number", task);
  CM_TRY(cm_file_read(list, 1 << 20, &text, &size, error));
  const char *line = text;
  for (; wanted > 0 && line != NULL; wanted--)
    line = (line = strchr(line, '\n')) != NULL ? line + 1 : NULL;
  const bool found = line != NULL && sscanf(line, "%20[0-9a-f] %d", token, &r->attempt) == 2;
  free(text);
  if (!found)
    return cm_fail(error, CM_DAMAGED, "%s has no line of ours", list);
  const char *slash = strstr(list, "/lists/");
  CM_TRY(cm_path(r->folder, error, "%.*s/%s.job", slash != NULL ? (int)(slash - list) : 0, list, token));
  return cm_path(r->run, error, "%s/run.%d", r->folder, r->attempt);
}

/* A file of the run, whole or not there. */
static void put(const node_run *r, const char *name, json_t *content)
{
  char path[CM_PATH_MAX], written[CM_PATH_MAX];
  cm_error error;
  if (content == NULL || cm_path(path, &error, "%s/%s", r->run, name) != CM_OK || cm_path(written, &error, "%s.new", path) != CM_OK ||
      cm_work_write(content, written, JSON_COMPACT, &error) != CM_OK)
    (void)fprintf(stderr, "coremapd --node: %s\n", content != NULL ? error.detail : "out of memory");
  else if (rename(written, path) != 0)
    (void)fprintf(stderr, "coremapd --node: cannot rename %s: %s\n", written, strerror(errno));
  json_decref(content);
}

static void put_beat(node_run *r, double now)
{
  const char *name = getenv("SLURMD_NODENAME");
  char host[64] = "";
  if (now < r->beat + CM_SLURM_BEAT_S && r->beat > 0)
    return;
  (void)gethostname(host, sizeof host - 1);
  put(r, CM_SLURM_BEAT, json_pack("{s:s, s:f}", "node", name != NULL ? name : host, "seconds", now - r->began));
  r->beat = now;
}

static void put_end(const node_run *r)
{
  put(r, CM_SLURM_END, json_pack("{s:i, s:f, s:b, s:b, s:s}", "status", r->end.status, "cpu_seconds", r->end.cpu_seconds, "stopped", r->end.asked,
                                 "overdue", r->end.overdue, "said", r->end.said));
}

static bool start(node_run *r)
{
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return false;
  (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
  const pid_t parent = getpid();
  r->child = fork();
  if (r->child == 0) {
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || dup2(ends[1], STDOUT_FILENO) < 0)
      _exit(EXIT_FAILURE);
    (void)close(ends[0]);
    (void)signal(SIGTERM, SIG_DFL);
    _exit(cm_work_main(r->folder, r->attempt, false));
  }
  (void)close(ends[1]);
  r->output = ends[0];
  return r->child > 0;
}

/* Until nothing is said for a while. */
static void hear(node_run *r)
{
  char bytes[256];
  ssize_t got;
  if (r->output < 0)
    (void)poll(NULL, 0, LOOK_MS);
  else if (poll(&(struct pollfd){.fd = r->output, .events = POLLIN}, 1, LOOK_MS) > 0) {
    while ((got = read(r->output, bytes, sizeof bytes)) > 0)
      for (ssize_t i = 0; i < got; i++)
        if (bytes[i] != '\n' && r->said + 1 < sizeof r->end.said)
          r->end.said[r->said++] = bytes[i];
    if (got == 0) {
      (void)close(r->output);
      r->output = -1;
    }
  }
}

/* Ends the child where it is to end, or has run for too long. */
static void keep_limits(node_run *r, double now)
{
  char stop[CM_PATH_MAX];
  cm_error ignored;
  const bool asked = told_to_end || (cm_path(stop, &ignored, "%s/" CM_SLURM_STOP, r->folder) == CM_OK && access(stop, F_OK) == 0);
  if (asked && r->stop == 0) {
    r->stop = now;
    r->end.asked = true;
    (void)kill(r->child, SIGTERM);
  }
  if (r->stop > 0 && now > r->stop + STOP_GRACE_S)
    (void)kill(r->child, SIGKILL);
  if (r->time_limit > 0 && now > r->began + r->time_limit + TIME_GRACE_S) {
    r->end.overdue = true;
    (void)kill(r->child, SIGKILL);
  }
}

static void follow(node_run *r)
{
  struct rusage used;
  while (wait4(r->child, &r->end.status, WNOHANG, &used) == 0) {
    const double now = cm_now();
    put_beat(r, now);
    keep_limits(r, now);
    hear(r);
  }
  while (r->output >= 0) /* all its ends are closed */
    hear(r);
  r->end.cpu_seconds = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
}

/* Of a probe, whose attempt is 0: says which build there is here. */
static int answer_probe(const char *list, cm_error *error)
{
  const char *slash = strstr(list, "/lists/"), *name = getenv("SLURMD_NODENAME");
  char path[CM_PATH_MAX], program[65];
  cm_file file;
  if (cm_work_program(program, error) != CM_OK ||
      cm_path(path, error, "%.*s/probes/%s", (int)(slash - list), list, name != NULL ? name : "unknown") != CM_OK || cm_file_create(&file, path, error) != CM_OK)
    return EXIT_FAILURE;
  (void)fputs(program, file.stream);
  return cm_file_commit(&file, error) == CM_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

int cm_slurm_node_main(const char *list)
{
  static node_run r = {.output = -1};
  cm_error error;
  cm_work_job job;
  (void)umask(007); /* the server's user is another one of our group */
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  (void)sigaction(SIGTERM, &action, NULL);
  const bool found = find(&r, list, &error) == CM_OK;
  if (found && r.attempt == 0)
    return answer_probe(list, &error);
  if (!found || cm_work_read(r.folder, &job, &error) != CM_OK) {
    (void)fprintf(stderr, "coremapd --node: %s\n", error.detail);
    return EXIT_FAILURE;
  }
  r.time_limit = job.time_limit;
  cm_work_job_clear(&job);
  if (mkdir(r.run, 0777) != 0) { /* its attempt is another run's */
    (void)fprintf(stderr, "coremapd --node: %s cannot be made: %s\n", r.run, strerror(errno));
    return errno == EEXIST ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  r.began = cm_now();
  put_beat(&r, r.began);
  if (start(&r))
    follow(&r);
  else {
    (void)cm_fail_errno(&error, errno, "cannot start a child on the node for", r.folder);
    (void)snprintf(r.end.said, sizeof r.end.said, "%s %d %s", cm_status_code(error.status), error.cause, error.detail);
    r.end.status = EXIT_FAILURE << 8;
  }
  put_end(&r);
  return EXIT_SUCCESS;
}
