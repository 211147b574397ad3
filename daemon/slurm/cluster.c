/* Happy path: ask the bridge to submit, see the run's beat in the folder, pass on its progress, read its end.
 *
 * What can fail: the bridge or Slurm is not there (we ask again every few seconds, and say so); Slurm has forgotten a run that has not begun
 * (it is submitted again, three times); a run's beat stops (Slurm is asked, and when it knows of nothing that runs, this attempt is over, and the
 * job is tried again: the late run writes where nobody reads). */
#include "daemon/slurm/cluster.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/hold.h"
#include "base/json.h"
#include "daemon/slurm/wire.h"
#include "daemon/told.h"
#include "storage/log.h"

static const double LOOK_S = 0.5, BEAT_OLD_S = 30, ASK_S = 10, RETRY_S = 5, FORGOTTEN_S = 60, CONNECT_S = 2;
enum { SUBMISSIONS_MAX = 3, SMALL_FILE = 64 << 10, TOKEN_LENGTH = 20 };

typedef struct remote {
  cm_submission s;
  uint32_t slot;
  char token[CM_SLURM_TOKEN_MAX];
  cm_told told;
  cm_told_end end;
  double looked, asked, beat;  /* when: at the folder; Slurm; the last new beat, 0: it has not begun */
  double beats;                /* what that said: for how long it runs */
  double submitted, missed;    /* when it was taken; since when Slurm does not know it, or has ended it: 0: is not so */
  int submissions;
  bool waits;                  /* for an answer to a submission */
  char logged[CM_SLURM_TEXT_MAX], said[CM_SLURM_TEXT_MAX]; /* where it is: last told its log; as Slurm has it */
  char lost[CM_SLURM_TEXT_MAX]; /* why there will be no result; "": nothing says so */
} remote;

/* The connection to the bridge, and who waits for its answers. */
static struct {
  pthread_mutex_t lock;
  char fault[CM_SLURM_TEXT_MAX];
  bool greeted;
  int socket; /* -1: none */
  double tried;
  remote **slots;
  uint32_t count;
} cluster = {.lock = PTHREAD_MUTEX_INITIALIZER, .socket = -1};

/* ---- the bridge; all with the lock ---- */

static void complain(const char *text)
{
  if (strcmp(cluster.fault, text) != 0 && text[0] != '\0')
    cm_log("cluster: %s", text);
  (void)snprintf(cluster.fault, sizeof cluster.fault, "%s", text);
}

static void hang_up(const char *why)
{
  if (cluster.socket >= 0)
    (void)close(cluster.socket);
  cluster.socket = -1;
  complain(why);
}

static bool connected(void)
{
  struct sockaddr_un place = {.sun_family = AF_UNIX};
  const double now = cm_now();
  if (cluster.socket >= 0 || now < cluster.tried + CONNECT_S)
    return cluster.socket >= 0;
  cluster.tried = now;
  (void)snprintf(place.sun_path, sizeof place.sun_path, "%s", cm_cluster_bridge());
  cluster.socket = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  cluster.greeted = false;
  if (cluster.socket >= 0 && connect(cluster.socket, (struct sockaddr *)&place, sizeof place) == 0)
    return true;
  char why[CM_SLURM_TEXT_MAX];
  (void)snprintf(why, sizeof why, "nobody listens at %.100s: start coremapd slurm-bridge", cm_cluster_bridge());
  hang_up(why);
  return false;
}

/* The bridge is of our build: runs of another one would refuse our folders. */
static void greet(const cm_slurm_hello *hello)
{
  char ours[65];
  cm_error ignored;
  cluster.greeted = cm_work_program(ours, &ignored) == CM_OK && strncmp(ours, hello->program, sizeof ours) == 0;
  if (cluster.greeted)
    complain("");
  else
    hang_up("the bridge runs another build of coremapd: install the server's on the bridge and the nodes");
}

static void take_answer(const cm_slurm_told *told)
{
  remote *r = told->slot < cluster.count ? cluster.slots[told->slot] : NULL;
  const double now = cm_now();
  if (r == NULL || strncmp(r->token, told->token, sizeof r->token) != 0)
    return;
  complain(told->state == CM_SLURM_UNREACHABLE ? told->text : "");
  if (told->state == CM_SLURM_TAKEN) {
    r->waits = false;
    r->submitted = now;
    r->submissions++;
  } else if (told->state == CM_SLURM_UNREACHABLE) {
    r->waits = false;
    r->missed = 0;
  } else if (told->state == CM_SLURM_UNKNOWN || told->state == CM_SLURM_ENDED) {
    if (r->missed == 0)
      r->missed = now;
    if (told->state == CM_SLURM_ENDED)
      (void)snprintf(r->lost, sizeof r->lost, "%.150s%s", told->text, r->beat > 0 ? "" : " before it began: the node must see the shared folder and have this coremapd");
  } else {
    r->missed = 0;
    r->lost[0] = '\0';
  }
  (void)snprintf(r->said, sizeof r->said, "%s", told->text);
}

static void hear(void)
{
  union {
    cm_slurm_told told;
    cm_slurm_hello hello;
  } message;
  ssize_t got = -1;
  while (cluster.socket >= 0 && (got = recv(cluster.socket, &message, sizeof message, MSG_DONTWAIT)) > 0)
    if (got == (ssize_t)sizeof message.hello)
      greet(&message.hello);
    else if (got == (ssize_t)sizeof message.told && cluster.greeted)
      take_answer(&message.told);
  if (cluster.socket >= 0 && (got == 0 || (errno != EAGAIN && errno != EINTR))) {
    hang_up("the bridge has gone: start coremapd slurm-bridge");
    for (uint32_t i = 0; i < cluster.count; i++)
      if (cluster.slots[i] != NULL)
        cluster.slots[i]->waits = false; /* its answer will not come; what it submitted is found, or does no harm */
  }
}

static bool ask(remote *r, cm_slurm_what what)
{
  const cm_execution *x = r->s.execution;
  cm_slurm_ask asked = {.what = (int32_t)what, .slot = r->slot, .attempt = x->attempt, .threads = x->threads > 0 ? x->threads : 1};
  const double seconds = x->time_limit > 0 ? x->time_limit : x->seconds;
  asked.minutes = (uint32_t)fmin(ceil(seconds / 60) + 2, 525600);
  asked.mebibytes = (uint32_t)fmin(ceil((double)x->bytes / (1 << 20)) + 64, 1 << 30);
  memcpy(asked.token, r->token, sizeof asked.token);
  (void)snprintf(asked.user, sizeof asked.user, "%s", x->user != NULL && x->user[0] != '\0' ? x->user : "nobody");
  const bool sent = connected() && cluster.greeted &&
                    send(cluster.socket, &asked, sizeof asked, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof asked;
  if (sent || what == CM_SLURM_CANCEL)
    r->asked = cm_now();
  return sent;
}

static cm_status enlist(remote *r, cm_error *error)
{
  uint32_t i = 0;
  while (i < cluster.count && cluster.slots[i] != NULL)
    i++;
  if (i == cluster.count) {
    remote **grown = realloc(cluster.slots, (2 * (size_t)cluster.count + 64) * sizeof *grown);
    if (grown == NULL)
      return cm_whole(false, "jobs on the cluster", error);
    memset(grown + cluster.count, 0, ((size_t)cluster.count + 64) * sizeof *grown);
    cluster.slots = grown;
    cluster.count = 2 * cluster.count + 64;
  }
  cluster.slots[i] = r;
  r->slot = i;
  return CM_OK;
}

/* ---- the folder ---- */

/* A small file of the run, as an object; NULL: it is not there. */
static json_t *read_file(const remote *r, const char *name)
{
  char path[CM_PATH_MAX], *text;
  cm_error ignored;
  size_t size;
  if (cm_path(path, &ignored, "%s/run.%d/%s", r->s.execution->folder, r->s.execution->attempt, name) != CM_OK ||
      cm_file_read(path, SMALL_FILE, &text, &size, &ignored) != CM_OK)
    return NULL;
  json_t *object = cm_json_loadb(text, size, 0, NULL);
  free(text);
  return object;
}

/* Where the job is, in its log. */
static void say(remote *r, const char *text)
{
  const cm_work_watch *watch = r->s.execution->watch;
  if (strcmp(text, r->logged) == 0)
    return;
  (void)snprintf(r->logged, sizeof r->logged, "%s", text);
  watch->log(watch->user, text);
}

static void see_beat(remote *r, double now)
{
  char text[CM_SLURM_TEXT_MAX];
  json_t *beat = read_file(r, CM_SLURM_BEAT);
  const double seconds = json_number_value(json_object_get(beat, "seconds"));
  const char *node = json_string_value(json_object_get(beat, "node"));
  if (node != NULL && (r->beat == 0 || seconds > r->beats)) {
    if (r->beat == 0)
      r->s.execution->watch->wait(r->s.execution->watch->user, NULL, seconds);
    r->beat = now;
    r->beats = seconds;
    r->missed = 0;
    r->lost[0] = '\0';
    (void)snprintf(text, sizeof text, "running on %.60s", node);
    say(r, text);
  }
  json_decref(beat);
}

static bool see_end(remote *r)
{
  const char *said;
  int stopped, overdue;
  json_t *end = read_file(r, CM_SLURM_END);
  const bool ended = json_unpack(end, "{s:i, s:F, s:b, s:b, s:s}", "status", &r->end.status, "cpu_seconds", &r->end.cpu_seconds, "stopped", &stopped,
                                 "overdue", &overdue, "said", &said) == 0;
  if (ended) {
    r->end.asked = r->end.unstoppable = stopped != 0 && r->s.stopped;
    r->end.overdue = overdue != 0;
    r->lost[0] = '\0';
    (void)snprintf(r->end.said, sizeof r->end.said, "%s", said);
    if (stopped != 0 && !r->s.stopped) /* not by us */
      (void)snprintf(r->lost, sizeof r->lost, "%s", "it was told to end on its node");
  }
  json_decref(end);
  return ended;
}

/* ---- the executor ---- */

static cm_status start(const cm_execution *x, bool anew, cm_submission **made, cm_error *error)
{
  remote *r;
  const char *name = strrchr(x->folder, '/');
  CM_TRY(CM_HEAP(r, 1, "a job on the cluster", error));
  r->s = (cm_submission){.execution = x, .wakes = -1};
  r->told.file = -1;
  (void)snprintf(r->token, sizeof r->token, "%.20s", name != NULL ? name + 1 : "");
  (void)pthread_mutex_lock(&cluster.lock);
  cm_status status = enlist(r, error);
  if (status == CM_OK && anew)
    r->waits = ask(r, CM_SLURM_SUBMIT);
  else if (status == CM_OK)
    r->submitted = cm_now(); /* perhaps: it is asked for */
  (void)pthread_mutex_unlock(&cluster.lock);
  CM_END(status, *made = &r->s, free(r));
}

static cm_status submit(const cm_execution *execution, cm_submission **made, cm_error *error)
{
  return start(execution, true, made, error);
}

static cm_status adopt(const cm_execution *execution, cm_submission **made, cm_error *error)
{
  const char *shared = cm_cluster_shared();
  const size_t length = shared != NULL ? strlen(shared) : 0;
  if (shared == NULL || strncmp(execution->folder, shared, length) != 0 || execution->folder[length] != '/')
    return cm_fail(error, CM_NOT_FOUND, "it was not given to a cluster");
  return start(execution, false, made, error);
}

static void stop(cm_submission *submission)
{
  remote *r = (remote *)submission;
  char path[CM_PATH_MAX];
  cm_error ignored;
  if (cm_path(path, &ignored, "%s/" CM_SLURM_STOP, r->s.execution->folder) == CM_OK)
    (void)close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0640));
  CM_HOLD(&cluster.lock);
  (void)ask(r, CM_SLURM_CANCEL);
}

/* What is to be asked of Slurm now, if anything; with the lock. true: this attempt is over. */
static bool see_to(remote *r, double now)
{
  const bool begun = r->beat > 0;
  if (r->s.stopped && !begun && now > r->asked + 1) /* whatever starts of it later ends at once: its folder is gone */
    return true;
  if (r->s.stopped && begun && now > r->beat + FORGOTTEN_S) {
    (void)snprintf(r->lost, sizeof r->lost, "its node says nothing any more");
    return true;
  }
  if (r->missed > 0 && r->lost[0] != '\0' && now > r->missed + CM_SLURM_SEEN_S)
    return true;
  if (r->missed > 0 && r->lost[0] == '\0' && now > r->missed + FORGOTTEN_S) {
    if (begun || r->submissions >= SUBMISSIONS_MAX) {
      (void)snprintf(r->lost, sizeof r->lost, "%s", begun ? "its node says nothing any more" : "it was submitted three times, and Slurm has forgotten it each time");
      return true;
    }
    r->missed = r->submitted = 0;
  }
  if (!begun && r->submitted == 0 && !r->waits && now > r->asked + RETRY_S)
    r->waits = ask(r, CM_SLURM_SUBMIT);
  else if (r->submitted > 0 && (begun ? now > r->beat + BEAT_OLD_S : true) && now > r->asked + ASK_S)
    (void)ask(r, CM_SLURM_LOOK);
  return false;
}

static bool has_ended(cm_submission *submission)
{
  remote *r = (remote *)submission;
  const double now = cm_now();
  char said[CM_SLURM_TEXT_MAX];
  if (now < r->looked + LOOK_S)
    return false;
  r->looked = now;
  const bool ended = see_end(r);
  if (!ended)
    see_beat(r, now);
  if (r->beat > 0 || ended)
    cm_told_follow(&r->told, r->s.execution->out, true, r->s.execution->watch);
  if (ended)
    return true;
  (void)pthread_mutex_lock(&cluster.lock);
  (void)connected();
  hear();
  const bool over = see_to(r, now);
  (void)snprintf(said, sizeof said, "%s", cluster.fault[0] != '\0' ? cluster.fault : r->said);
  (void)pthread_mutex_unlock(&cluster.lock);
  if (r->beat == 0 && said[0] != '\0') {
    say(r, said);
    r->s.execution->watch->wait(r->s.execution->watch->user, said, 0);
  }
  return over;
}

static cm_status judge(const cm_submission *submission, double *cpu_seconds, cm_error *error)
{
  const remote *r = (const remote *)submission;
  *cpu_seconds = r->end.cpu_seconds;
  if (r->s.stopped && r->beat == 0)
    return cm_fail(error, CM_CANCELLED, "cancelled in the cluster's queue");
  if (r->lost[0] != '\0')
    return cm_fail(error, r->s.stopped ? CM_CANCELLED : CM_NO_MEMORY, "the cluster has ended the job: %s", r->lost);
  return cm_told_judge(&r->end, r->told.phase, r->s.execution->time_limit, error);
}

static void leave(cm_submission *submission)
{
  remote *r = (remote *)submission;
  (void)pthread_mutex_lock(&cluster.lock);
  cluster.slots[r->slot] = NULL;
  (void)pthread_mutex_unlock(&cluster.lock);
  cm_told_clear(&r->told);
  free(r);
}

static bool is_followed(const char *token)
{
  for (uint32_t i = 0; i < cluster.count; i++)
    if (cluster.slots[i] != NULL && strncmp(cluster.slots[i]->token, token, strlen(cluster.slots[i]->token)) == 0)
      return true;
  return false;
}

/* What runs of a folder that goes ends at its next write. */
static void settle(void)
{
  char path[CM_PATH_MAX];
  cm_error ignored;
  const char *shared = cm_cluster_shared();
  DIR *folder = shared != NULL ? opendir(shared) : NULL;
  for (const struct dirent *item; folder != NULL && (item = readdir(folder)) != NULL;) {
    const size_t length = strlen(item->d_name);
    if (length == TOKEN_LENGTH + 4 && strcmp(item->d_name + TOKEN_LENGTH, ".job") == 0 && !is_followed(item->d_name) &&
        cm_path(path, &ignored, "%s/%s", shared, item->d_name) == CM_OK)
      (void)cm_folder_remove(path, &ignored);
  }
  if (folder != NULL)
    (void)closedir(folder);
}

const cm_executor cm_executor_slurm = {.name = "slurm", .outside = true, .elsewhere = true, .submit = submit, .adopt = adopt, .poll = has_ended, .stop = stop,
                                       .judge = judge, .release = leave, .leave = leave, .settle = settle};
