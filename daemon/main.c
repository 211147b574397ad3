/* coremapd. Happy path: settings, log, data folder, interrupted jobs back to the queue, workers, HTTP, "listening on ...",
 * wait for SIGTERM or SIGINT, stop accepting, let jobs end, close, exit 0. A second signal exits at once. SIGHUP opens
 * the log anew and reads the settings again. */
#include <coremap/network.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#include "api/server.h"
#include "base/number.h"
#include "daemon/admin.h"
#include "daemon/backup.h"
#include "daemon/command.h"
#include "daemon/config.h"
#include "daemon/drain.h"
#include "daemon/health.h"
#include "daemon/fork_server.h"
#include "daemon/import.h"
#include "daemon/log.h"
#include "daemon/limits.h"
#include "daemon/manager.h"
#include "daemon/manual.h"
#include "daemon/slurm/cluster.h"
#include "daemon/slurm/wire.h"
#include "daemon/usage.h"
#include "daemon/workers.h"
#include "storage/check.h"
#include "storage/clock.h"
#include "storage/drain.h"
#include "storage/jobs.h"
#include "storage/leases.h"
#include "storage/log.h"
#include "storage/pack.h"
#include "storage/retention.h"
#include "storage/scrub.h"
#include "storage/uploads.h"
#include "storage/usage.h"

typedef struct service {
  int word_count;
  char **words; /* of the command line */
  cm_config config;
  cm_store *store;
  cm_workers *workers;
  cm_server *server;
  sigset_t signals;
  int sockets[CM_SOCKETS_MAX]; /* of the service manager */
  size_t socket_count;
  bool draining, unwell; /* what has been told */
  bool all_packed;       /* no results of earlier releases are folders that need not be */
} service;

/* What is done now and then, and tried again: a failure is logged alone. */
static void note(cm_status status, const cm_error *error, const char *what)
{
  if (status != CM_OK)
    cm_log("%s: %s", what, error->detail);
}

static void wake_workers(void *user)
{
  cm_workers_wake(((service *)user)->workers);
}

static cm_status import(void *user, const cm_network_source *source, cm_network *network, cm_error *error)
{
  const service *s = user;
  const cm_config *c = &s->config;
  unsigned looks = 0; /* what cannot be looked at is told by who reads it */
  (void)coremap_look(source->path, network->format, &looks, NULL);
  const bool apart = c->import_in_child || (looks & (COREMAP_LOOKS_CONFINED | COREMAP_LOOKS_LIKE_MODEL)) != 0;
  cm_import_options options = {.executor = apart ? &cm_executor_process : cm_executor_find(c->executor),
                               .threads = (unsigned)c->threads};
  return cm_import_upload_file(s->store, &options, source, network, error);
}

static cm_server_limits limits_of(const cm_config *c)
{
  return (cm_server_limits){.upload_bytes_max = c->upload_limit, .memory_limit = c->memory_limit,
                            .disk_free_min = c->disk_reserve, .connections = c->connections,
                            .connections_per_address = c->connections_per_address, .head_seconds = c->head_timeout,
                            .visibility = cm_visibility_of(c->visibility), .idle_seconds = c->idle_timeout, .stall_seconds = c->stall_timeout,
                            .rate_min = c->min_rate, .bin_days = c->bin_days};
}

static cm_status start(service *s, cm_error *error)
{
  const cm_config *c = &s->config;
  if (cm_descriptors_raise(error) != CM_OK || cm_store_open(c->data, c->cache_limit, &s->store, error) != CM_OK ||
      cm_drain_ask(s->store->database, false, error) != CM_OK ||
        cm_usage_set_half_life(s->store, (double)c->half_life, error) != CM_OK || cm_scrub_start(s->store, error) != CM_OK)
    return error->status;
  const bool cluster = c->shared[0] != '\0';
  const double bytes = c->cluster_bytes > 0 ? (double)c->cluster_bytes : c->memory_limit > 0 ? (double)c->memory_limit : INFINITY;
  CM_TRY(cm_cluster_open(c->bridge, c->shared, s->store->folder, error));
  CM_TRY(cm_jobs_set_cluster(s->store, cluster ? (double)c->cluster_from : INFINITY, bytes, error));
  cm_fork_prepare(s->store->folder, (unsigned)c->outlive);
  cm_workers_options workers = {.store = s->store, .workers = (unsigned)c->workers,
                                .short_workers = (unsigned)c->short_workers, .threads = (unsigned)c->threads,
                                .memory_limit = c->memory_limit, .disk_reserve = c->disk_reserve,
                                .cluster_jobs = cluster ? (unsigned)c->cluster_jobs : 0, .executor = cm_executor_find(c->executor), .lasting = c->outlive > 0};
  CM_TRY(cm_workers_start(&workers, &s->workers, error));
  cm_server_options server = {.listen = c->listen, .socket_mode = (unsigned)strtoul(c->socket_mode, NULL, 8),
                              .sockets = s->sockets, .socket_count = s->socket_count, .store = s->store, .www = c->www,
                              .tls_certificate = c->tls_certificate, .tls_key = c->tls_key, .public_url = c->public_url,
                              .trusted_proxies = c->trusted_proxies, .proxy_secret = c->proxy_secret,
                              .remote_user = c->remote_user, .auto_add = c->auto_add, .cors_origins = c->cors_origins,
                              .workers = (unsigned)c->workers, .short_workers = (unsigned)c->short_workers, .limits = limits_of(c), .on_queued = wake_workers,
                              .import = import, .user = s};
  return cm_server_start(&server, &s->server, error);
}

static const int ours[] = {SIGTERM, SIGINT, SIGHUP};

/* Libraries may start threads of their own before main, which do not block the signals: one that gets a signal blocks them
 * from now on and sends it on to the process, where serve() waits for it. */
static void pass_on(int number, CM_UNUSED siginfo_t *info, void *context)
{
  ucontext_t *interrupted = context;
  for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
    (void)sigaddset(&interrupted->uc_sigmask, ours[i]);
  (void)kill(getpid(), number);
}

/* To be called before any thread starts, so that all of ours leave the signals to serve(). */
static void claim_signals(service *s)
{
  struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
  (void)sigemptyset(&s->signals);
  for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
    (void)sigaddset(&s->signals, ours[i]);
  action.sa_mask = s->signals;
  (void)pthread_sigmask(SIG_BLOCK, &s->signals, NULL);
  for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
    (void)sigaction(ours[i], &action, NULL);
  (void)signal(SIGPIPE, SIG_IGN);
}

static void *exit_on_second_signal(void *argument)
{
  int number = SIGHUP;
  while (number == SIGHUP)
    (void)sigwait(argument, &number);
  _exit(128 + number);
}

/* SIGHUP: settings that are wrong now change nothing, and never end the server. */
static void reload_all(service *s)
{
  cm_error error;
  cm_config next;
  cm_status status = cm_config_read(s->word_count, s->words, &next, &error);
  CM_THEN(status, cm_log_open(next.log, &error));
  CM_THEN(status, cm_server_certify(s->server, next.tls_certificate, next.tls_key, &error));
  if (status != CM_OK) {
    cm_log("SIGHUP: %s; nothing is changed", error.detail);
    return;
  }
  for (const char *name = NULL; (name = cm_config_needs_restart(&s->config, &next, name)) != NULL;)
    cm_log("SIGHUP: setting %s changes at the next start", name);
  cm_config_take(&s->config, &next);
  cm_log_set_format(cm_log_format_of(next.log_format));
  const cm_server_limits limits = limits_of(&next);
  cm_server_limit(s->server, &limits);
  cm_workers_limit(s->workers, next.memory_limit, next.disk_reserve);
  library_levels_resize(s->store->cache, next.cache_limit);
  note(cm_usage_set_half_life(s->store, (double)next.half_life, &error), &error, "SIGHUP: setting half-life stays as it was");
  cm_log("SIGHUP: the log is open anew and the settings are read");
}

static void reload(service *s)
{
  char message[64];
  (void)snprintf(message, sizeof message, "RELOADING=1\nMONOTONIC_USEC=%.0f", cm_now() * 1e6);
  cm_manager_tell(message);
  reload_all(s);
  cm_manager_tell("READY=1");
}

/* The manager hears of us as long as writes are written and workers work; when it hears nothing it ends us and starts anew. */
static void tell_health(service *s)
{
  enum { WRITER_PATIENCE_S = 30 };
  char job[CM_ID_MAX];
  const double waiting = cm_database_waiting(s->store->database);
  const bool stuck = cm_workers_stuck(s->workers, job), unwell = stuck || waiting > WRITER_PATIENCE_S;
  if (unwell && !s->unwell && stuck)
    cm_log("a worker has come to a stop%s%s", job[0] != '\0' ? ", in job " : "", job);
  else if (unwell && !s->unwell)
    cm_log("the database has written nothing for %.0f s while writes wait", waiting);
  s->unwell = unwell;
  if (!unwell)
    cm_manager_tell("WATCHDOG=1");
}

/* Follows the wish to drain; true: it is fulfilled. */
static bool drain(service *s)
{
  cm_error error;
  bool asked = s->draining;
  note(cm_drain_asked(s->store->database, &asked, &error), &error, "whether to drain cannot be read");
  if (asked != s->draining) {
    cm_server_drain(s->server, asked);
    cm_workers_hold(s->workers, asked);
    cm_log(asked ? "draining: nothing new is taken, running jobs end" : "draining no more: jobs are taken again");
    cm_manager_tell(asked ? "STATUS=draining: running jobs end" : "STATUS=");
    s->draining = asked;
  }
  return asked && cm_workers_busy(s->workers) == 0;
}

/* Removes uploads that were given up. */
static void expire_uploads(service *s)
{
  cm_error error;
  uint64_t removed = 0;
  if (s->config.upload_age == 0)
    return;
  note(cm_uploads_expire(s->store, (double)s->config.upload_age, &removed, &error), &error, "abandoned uploads cannot be removed");
  if (removed > 0)
    cm_log("%llu uploads that nobody went on with for %llu s are removed", (unsigned long long)removed,
           (unsigned long long)s->config.upload_age);
}

/* What is older than the rules say goes. */
static void retain(service *s)
{
  cm_error error;
  cm_retention_done done;
  if (cm_retention_run(s->store, cm_store_time(), (double)s->config.bin_days * 86400, &done, &error) != CM_OK)
    cm_log("what is old cannot be deleted: %s", error.detail);
  else if (done.networks + done.mappings + done.jobs + done.purged > 0)
    cm_log("retention: %llu networks, %llu mappings and programs, %llu jobs deleted, %llu things purged from the bin",
           (unsigned long long)done.networks, (unsigned long long)done.mappings, (unsigned long long)done.jobs,
           (unsigned long long)done.purged);
}

/* Results that a release before left as folders are packed, a few a second. */
static void pack_old(service *s)
{
  enum { AT_ONCE = 20 };
  cm_error error;
  if (s->all_packed)
    return;
  bool left = false;
  if (cm_pack_old(s->store, AT_ONCE, &left, &error) != CM_OK)
    cm_log("results of an earlier release cannot be packed yet: %s", error.detail);
  else
    s->all_packed = !left;
}

/* Waits for the signal to end, or for what runs when the server drains; meanwhile, once a second, frees what expired leases hold, and now and then what abandoned
 * uploads do. */
static void serve(service *s)
{
  enum { UPLOADS_EVERY = 60 };
  const struct timespec second = {.tv_sec = 1};
  for (uint32_t tick = 0;; tick++) {
    cm_error error;
    uint64_t expired;
    int number = sigtimedwait(&s->signals, NULL, &second);
    if (number == SIGHUP)
      reload(s);
    else if (number > 0)
      return;
    note(cm_leases_expire(s->store, &expired, &error), &error, "leases cannot be expired");
    if (tick % UPLOADS_EVERY == 0)
      expire_uploads(s);
    if (tick % UPLOADS_EVERY == UPLOADS_EVERY / 2)
      retain(s);
    note(cm_server_tick(s->server, &error), &error, "the last use of tokens cannot be noted");
    pack_old(s);
    tell_health(s);
    if (drain(s))
      return;
  }
}

/* Requests are answered until the jobs have ended, so that their watchers learn how. */
static void stop(service *s)
{
  cm_manager_tell("STOPPING=1");
  cm_server_drain(s->server, true);
  cm_workers_stop(s->workers, (double)s->config.grace);
  cm_error error;
  (void)cm_server_tick(s->server, &error);
  cm_server_stop(s->server);
  cm_workers_free(s->workers);
  note(cm_clock_follow(s->store, &error), &error, "leases and retries cannot follow the wall clock");
  cm_store_close(s->store);
}

static int fail(const cm_error *error, int status)
{
  (void)fprintf(stderr, "coremapd: %s%s%s%s\n", error->detail, error->where[0] != '\0' ? " (" : "", error->where,
                error->where[0] != '\0' ? ")" : "");
  return status;
}

static int run(service *s)
{
  cm_error error;
  claim_signals(s);
  cm_log_set_format(cm_log_format_of(s->config.log_format));
  if (cm_log_open(s->config.log, &error) != CM_OK || cm_manager_sockets(s->sockets, &s->socket_count, &error) != CM_OK || start(s, &error) != CM_OK) {
    cm_workers_free(s->workers);
    cm_store_close(s->store);
    return fail(&error, error.status == CM_BAD_OPTION ? EXIT_USAGE : EXIT_FAILURE);
  }
  char place[160];
  for (size_t i = 0; cm_server_place(s->server, i, place, sizeof place); i++)
    (void)printf("listening on %s\n", place);
  (void)fflush(stdout);
  cm_manager_tell("READY=1");
  serve(s);
  pthread_t second;
  if (pthread_create(&second, NULL, exit_on_second_signal, &s->signals) == 0)
    (void)pthread_detach(second);
  stop(s);
  return EXIT_SUCCESS;
}

static void print_line(CM_UNUSED void *user, const char *line)
{
  (void)puts(line);
}

static int check_data(const char *folder)
{
  cm_error error;
  uint64_t faults;
  if (cm_check_data(folder, &(cm_check_report){print_line, NULL}, &faults, &error) != CM_OK)
    return fail(&error, EXIT_FAILURE);
  return faults == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int work(int count, char **words)
{
  cm_error error;
  uint64_t attempt = 0;
  if (count == 4 && cm_whole_parse(words[3], &attempt) && attempt > 0 && attempt <= INT_MAX)
    return cm_work_main(words[2], (int)attempt, false);
  (void)cm_fail(&error, CM_BAD_OPTION, "--work needs a job folder and the number of the attempt, from 1");
  return fail(&error, EXIT_USAGE);
}

int main(int count, char **words)
{
  static const struct {
    const char *word;
    int (*run)(int count, char **words);
  } commands[] = {{"--work", work}, {"drain", cm_drain_run}, {"usage", cm_usage_command_run}, {"health", cm_health_run}};
  static service s;
  cm_error error;
  cm_memory_return_freed();
  (void)umask(077); /* networks, results and hashes of tokens are nobody else's on this machine */
  for (size_t i = 0; count > 1 && i < sizeof commands / sizeof *commands; i++)
    if (strcmp(words[1], commands[i].word) == 0)
      return commands[i].run(count, words);
  if (count > 1 && strcmp(words[1], "--fork-server") == 0)
    return cm_fork_server_main();
  if (count == 4 && strcmp(words[1], "--node") == 0)
    return cm_slurm_node_main(words[3]);
  if (count > 1 && strcmp(words[1], "slurm-bridge") == 0) {
    static cm_config config;
    return cm_config_read(count - 1, words + 1, &config, &error) == CM_OK ? cm_slurm_bridge_run(&config) : fail(&error, EXIT_USAGE);
  }
  if (count > 1 && cm_backup_knows(words[1]))
    return cm_backup_run(count, words);
  if (count > 1 && cm_admin_knows(words[1]))
    return cm_admin_run(count, words);
  if (count > 1 && cm_limit_command_knows(words[1]))
    return cm_limit_command_run(count, words);
  s.word_count = count;
  s.words = words;
  if (cm_config_read(count, words, &s.config, &error) != CM_OK)
    return fail(&error, EXIT_USAGE);
  if (s.config.help) {
    char *text = cm_config_help();
    (void)fputs(text != NULL ? text : "", stdout);
    free(text);
    return EXIT_SUCCESS;
  }
  if (s.config.print != NULL) {
    (s.config.print == cm_config_prints[0]   ? cm_manual_config
     : s.config.print == cm_config_prints[1] ? cm_manual_daemon
                                             : cm_manual_settings)(stdout);
    return EXIT_SUCCESS;
  }
  if (s.config.version) {
    (void)puts("coremapd " CM_VERSION);
    return EXIT_SUCCESS;
  }
  return s.config.check_data ? check_data(s.config.data) : run(&s);
}
