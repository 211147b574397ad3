/* Executors: what a job makes is the same whichever runs it, and a child that crashes, blows up or hangs costs its job and
 * nothing else. Children are found as the kernel lists them and are treated from outside. */
#include "tests/api/client.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/sanitized.h"
#include "daemon/child_limits.h"
#include "daemon/job/work.h"
#include "storage/jobs.h"

static const char *const without[] = {"--workers", "1", "--grace", "0", "--executor", "process", "--outlive", "0", NULL};
static const char *const briefly[] = {"--workers", "1", "--grace", "0", "--executor", "process", "--outlive", "2", NULL};
static const char *const processes[] = {"--workers", "1", "--grace", "0", "--executor", "process", NULL};
static test_daemon server;
static char folder[CM_PATH_MAX];
static cm_error error;

static void setup(void)
{
  unsetenv("CM_TEST_EXECUTOR");
  test_folder(folder);
  test_daemon_start(&server, folder, processes);
}

static void teardown(void)
{
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
  ck_ok(cm_folder_remove(folder, &error));
}

static void long_job_of(char *id, const char *more)
{
  char network[65];
  test_upload_large(&server, 60000, 300000, 1, network);
  test_job(&server, id, "{\"network\": \"%s\", \"chip\": \"loihi64\", \"options\": {\"preset\": \"reference\", \"max_part_size\": 32, \"coarsening_tries\": 64,"
           " \"bisection_tries\": 64%s}}", network, more);
}

static void short_job(char *id)
{
  char network[65];
  test_upload_file(&server, "celegans_herm_chem.edges.csv", network);
  test_job(&server, id, "{\"network\": \"%s\", \"chip\": \"loihi1\", \"options\": {\"max_part_size\": 16}}", network);
}

/* A child of a process, other than `but`; 0: none. */
static pid_t one_below(pid_t parent, pid_t but)
{
  DIR *listing = opendir("/proc");
  pid_t found = 0;
  for (struct dirent *item; found == 0 && (item = readdir(listing)) != NULL;) {
    char path[300], line[512] = "";
    int pid = 0, above = 0;
    snprintf(path, sizeof path, "/proc/%.200s/stat", item->d_name);
    FILE *stream = item->d_name[0] >= '1' && item->d_name[0] <= '9' ? fopen(path, "r") : NULL;
    if (stream == NULL)
      continue;
    const char *name = fgets(line, sizeof line, stream) != NULL ? strrchr(line, ')') : NULL;
    char state = 'Z';
    if (name != NULL && sscanf(line, "%d", &pid) == 1 && sscanf(name, ") %c %d", &state, &above) == 2 && above == parent && pid != but &&
        state != 'Z')
      found = pid;
    fclose(stream);
  }
  closedir(listing);
  return found;
}

/* Of a server: the only child of its fork server; 0: none, or another one (that of an upload) has not ended yet. */
static pid_t child_of(pid_t parent)
{
  pid_t fork_server = one_below(parent, 0), child = fork_server != 0 ? one_below(fork_server, 0) : 0;
  return child != 0 && one_below(fork_server, child) == 0 ? child : 0;
}

/* The child, once it works: its phase shows that it has confined itself. */
static pid_t working_child(const char *job)
{
  char path[64];
  snprintf(path, sizeof path, "/v1/jobs/%s", job);
  for (int i = 0; i < 60000; i++) {
    test_reply reply = test_get(&server, path);
    const char *phase = test_word(json_object_get(reply.json, "progress"), "phase");
    pid_t pid = strcmp(phase, "coarsen") == 0 ? child_of(server.pid) : 0;
    test_reply_clear(&reply);
    if (pid != 0)
      return pid;
    usleep(5000);
  }
  ck_abort_msg("job %s has no child that works", job);
  return 0;
}

static void expect_end(const char *id, const char *state, const char *code, const char *said)
{
  json_t *job = test_wait(&server, id);
  const json_t *problem = json_object_get(job, "problem");
  char *text = json_dumps(job, 0);
  ck_assert_msg(strcmp(test_word(job, "state"), state) == 0, "%.2000s", text);
  ck_assert_msg(strcmp(test_word(problem, "code"), code) == 0, "%.2000s", text);
  ck_assert_msg(strstr(test_word(problem, "detail"), said) != NULL, "%.2000s", text);
  free(text);
  json_decref(job);
}

/* Asks that a job ends. */
static void ask_to_stop(const char *id)
{
  char path[64];
  snprintf(path, sizeof path, "/v1/jobs/%s/cancel", id);
  test_reply reply = test_send(&server, "POST", path, "");
  ck_assert_msg(reply.status / 100 == 2, "%ld %s", reply.status, reply.body);
  test_reply_clear(&reply);
}

static void cancel_job(const char *id)
{
  ask_to_stop(id);
  json_t *job = test_wait(&server, id);
  ck_assert_str_eq(test_word(job, "state"), "cancelled");
  json_decref(job);
}

/* The server answers, and the queue goes on. */
static void expect_service(void)
{
  char id[33];
  test_expect(test_get(&server, "/readyz"), 200);
  short_job(id);
  json_t *job = test_wait(&server, id);
  ck_assert_str_eq(test_word(job, "state"), "done");
  json_decref(job);
}

/* ---- the same bytes ---- */

/* Compares every file that both servers give of a mapping or program, byte by byte. */
static void compare_files(const test_daemon *other, const char *kind, const char *here, const char *there)
{
  static const char *const names[] = {"content", "part", "placement", "cores",   "neurons", "links",   "routes",
                                      "certificate", "model", "program", "schedule", "tiles", "mapping", "report"};
  int files = 0;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char path[160];
    snprintf(path, sizeof path, "/v1/%ss/%s/%s", kind, here, names[i]);
    test_reply left = test_get(&server, path);
    snprintf(path, sizeof path, "/v1/%ss/%s/%s", kind, there, names[i]);
    test_reply right = test_get(other, path);
    ck_assert_int_eq(left.status, right.status);
    if (left.status == 200) {
      ck_assert_msg(left.size == right.size && memcmp(left.body, right.body, left.size) == 0, "%s differs", path);
      files++;
    }
    test_reply_clear(&left);
    test_reply_clear(&right);
  }
  ck_assert_int_ge(files, strcmp(kind, "mapping") == 0 ? 7 : 1);
}

/* Runs a job on both servers and compares what they made. `result` is "mapping" or "program". */
static void compare(const test_daemon *other, const char *file, const char *wanted, const char *result)
{
  char network[65], id[33];
  test_upload_file(&server, file, network);
  test_upload_file(other, file, network);
  test_job(&server, id, "{\"network\": \"%s\", %s}", network, wanted);
  json_t *here = test_wait(&server, id);
  test_job(other, id, "{\"network\": \"%s\", %s}", network, wanted);
  json_t *there = test_wait(other, id);
  char *text = json_dumps(here, 0);
  ck_assert_msg(strcmp(test_word(here, "state"), "done") == 0, "%s", text);
  free(text);
  ck_assert_str_eq(test_word(there, "state"), "done");
  compare_files(other, result, test_word(here, result), test_word(there, result));
  ck_assert(json_equal(json_object_get(here, "report"), json_object_get(there, "report")));
  ck_assert_uint_eq(json_array_size(json_object_get(here, "phases")), json_array_size(json_object_get(there, "phases")));
  json_decref(here);
  json_decref(there);
}

START_TEST(both_make_the_same_bytes)
{
  test_daemon other;
  char threads[CM_PATH_MAX];
  test_folder(threads);
  test_daemon_start(&other, threads, NULL);
  const char *worm = "celegans_herm_chem.edges.csv";
  compare(&other, worm, "\"chip\": \"loihi1\", \"options\": {\"max_part_size\": 16}", "mapping");
  compare(&other, worm, "\"chip\": \"loihi1\", \"options\": {\"preset\": \"reference\", \"max_part_size\": 16}", "mapping");
  compare(&other, worm, "\"chip\": \"loihi1\", \"options\": {\"mapper\": \"learned\", \"max_part_size\": 16}", "mapping");
  compare(&other, worm, "\"chip\": \"loihi1\", \"options\": {\"preset\": \"fast\", \"max_part_size\": 16,"
          " \"memory_limit\": 500000000}, \"reserve\": true", "mapping");
  compare(&other, "onnx/shuffle.onnx", "\"kind\": \"compile\", \"options\": {\"verify\": true}", "program");
  compare(&other, "onnx/shuffle.onnx", "\"kind\": \"compile\", \"chip\": \"npu-embedded\"", "program");
  ck_assert_int_eq(test_daemon_stop(&other, SIGTERM), 0);
  ck_ok(cm_folder_remove(threads, &error));
}
END_TEST

static void compare_uploads(const test_daemon *other, const char *bytes, size_t size)
{
  test_reply here = test_request(&server, "POST", "/v1/networks", NULL, bytes, size),
             there = test_request(other, "POST", "/v1/networks", NULL, bytes, size);
  ck_assert_int_eq(here.status, there.status);
  static const char *const own[] = {"created", "request"}; /* of each reply */
  for (size_t i = 0; i < 2; i++) {
    (void)json_object_del(here.json, own[i]);
    (void)json_object_del(there.json, own[i]);
  }
  ck_assert_msg(json_equal(here.json, there.json), "%s\n%s", here.body, there.body);
  test_reply_clear(&here);
  test_reply_clear(&there);
}

/* A model of one MatMul of x by itself, n x n: verified, it takes as long as its open dimension says. */
static void upload_square(const test_daemon *daemon, char *network)
{
  static const char model[] =
    "\010\007B\002\020\015:D\012\021\012\001x\012\001x\022\001y\042\006MatMul\022\001gZ\025\012\001x\022\020\012\016\010\001"
    "\022\012\012\003\022\001n\012\003\022\001nb\025\012\001y\022\020\012\016\010\001\022\012\012\003\022\001n\012\003\022\001n";
  test_upload(daemon, model, sizeof model - 1, network);
}

/* Under `threads` too: what a model does to the process that reads or compiles it costs that model alone. */
START_TEST(models_are_never_taken_apart_in_the_server)
{
  const char *const in_threads[] = {"--workers", "1", "--executor", "threads", NULL};
  char network[65], id[33];
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
  test_daemon_start(&server, folder, in_threads);
  short_job(id);
  json_decref(test_wait(&server, id));
  ck_assert_int_eq(one_below(server.pid, 0), 0); /* networks are mapped in the server */
  upload_square(&server, network);
  ck_assert_int_ne(one_below(server.pid, 0), 0);
  test_job(&server, id, "{\"kind\": \"compile\", \"network\": \"%s\", \"options\": {\"verify\": true, \"shape\": \"n=5000\"}}",
           network);
  test_wait_state(&server, id, "running");
  pid_t pid = 0;
  for (int i = 0; i < 4000 && pid == 0; i++, usleep(5000))
    pid = child_of(server.pid);
  ck_assert_int_ne(pid, 0);
  ck_assert_int_eq(kill(pid, SIGSEGV), 0);
  expect_end(id, "failed", "internal", CM_SANITIZED ? "the job's process" : "SIGSEGV");
  expect_service();
}
END_TEST

START_TEST(uploads_are_read_in_a_child_as_in_a_thread)
{
  const char *const in_child[] = {"--import-in-child", "yes", NULL};
  const char *const files[] = {"celegans_herm_chem.edges.csv", "celegans_herm_chem.graph.gz", "small.snn", "onnx/shuffle.onnx"};
  const char *const wrong[] = {"source,target\n0,1\n2,x\n", "%PDF-1.4\n", "PK\003\004 is no zip", "0 1 -3\n"};
  test_daemon threads, child;
  char a[CM_PATH_MAX], b[CM_PATH_MAX];
  test_folder(a);
  test_folder(b);
  test_daemon_start(&threads, a, NULL);
  test_daemon_start(&child, b, in_child);
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char *bytes;
    size_t size;
    ck_ok(cm_file_read(test_data(files[i]), 1 << 24, &bytes, &size, &error));
    compare_uploads(&threads, bytes, size);
    test_reply first = test_request(&child, "POST", "/v1/networks", NULL, bytes, size);
    ck_assert_int_eq(first.status, 201);
    test_reply_clear(&first);
    compare_uploads(&child, bytes, size);
    bytes[size / 2] ^= 0x55;
    compare_uploads(&threads, bytes, size / 2 + 1);
    free(bytes);
  }
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    compare_uploads(&threads, wrong[i], strlen(wrong[i]));
  ck_assert_int_eq(test_daemon_stop(&threads, SIGTERM), 0);
  ck_assert_int_eq(test_daemon_stop(&child, SIGTERM), 0);
  ck_ok(cm_folder_remove(a, &error));
  ck_ok(cm_folder_remove(b, &error));
}
END_TEST

/* ---- what befalls a child ---- */

/* The sanitizers end a process that crashes in their own way. */
START_TEST(a_crash_costs_one_job)
{
  static const struct {
    int signal;
    const char *code, *said, *seed; /* another one finds no levels kept */
  } deaths[] = {{SIGSEGV, "internal", "SIGSEGV", ", \"seed\": 1"}, {SIGABRT, "internal", "SIGABRT", ", \"seed\": 2"},
                {SIGBUS, "internal", "SIGBUS", ", \"seed\": 3"}};
  for (size_t i = 0; i < sizeof deaths / sizeof *deaths; i++) {
    char id[33], next[33];
    long_job_of(id, deaths[i].seed);
    short_job(next); /* queued behind */
    ck_assert_int_eq(kill(working_child(id), deaths[i].signal), 0);
    expect_end(id, "failed", deaths[i].code, CM_SANITIZED ? "the job's process" : deaths[i].said);
    json_t *job = test_wait(&server, next);
    ck_assert_str_eq(test_word(job, "state"), "done");
    json_decref(job);
    expect_service();
  }
  ck_assert_int_eq(one_below(one_below(server.pid, 0), 0), 0);
}
END_TEST

/* As if the job had been tried so often before; its time has come again. */
static void set_retries(const char *id, int retries)
{
  char path[CM_PATH_MAX], text[200];
  sqlite3 *handle;
  ck_ok(cm_path(path, &error, "%s/coremapd.db", folder));
  ck_assert_int_eq(sqlite3_open(path, &handle), SQLITE_OK);
  sqlite3_busy_timeout(handle, 5000);
  snprintf(text, sizeof text, "UPDATE jobs SET retries = %d, retry_at = 0 WHERE id = '%s'", retries, id);
  ck_assert_int_eq(sqlite3_exec(handle, text, NULL, NULL, NULL), SQLITE_OK);
  ck_assert_int_eq(sqlite3_changes(handle), 1);
  sqlite3_close(handle);
}

START_TEST(a_job_whose_child_is_always_killed_is_failed)
{
  char id[33], path[64];
  long_job_of(id, "");
  snprintf(path, sizeof path, "/v1/jobs/%s", id);
  for (int retry = 0; retry <= CM_JOB_RETRIES_MAX; retry += CM_JOB_RETRIES_MAX) {
    ck_assert_int_eq(kill(working_child(id), SIGKILL), 0);
    if (retry == CM_JOB_RETRIES_MAX)
      break;
    test_wait_state(&server, id, "queued"); /* the machine may have been short of memory: it is tried again */
    test_reply reply = test_get(&server, path);
    ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(reply.json, "retry"), "count")), 1);
    test_reply_clear(&reply);
    expect_service(); /* others do not wait for it */
    set_retries(id, CM_JOB_RETRIES_MAX);
  }
  expect_end(id, "failed", "no-memory", "SIGKILL");
  expect_service();
}
END_TEST

START_TEST(a_memory_blow_up_costs_one_job)
{
  char id[33];
  const struct rlimit little = {1 << 20, 1 << 20};
  if (CM_SANITIZED)
    return;
  long_job_of(id, ", \"memory_limit\": 1000000000");
  ck_assert_int_eq(prlimit(working_child(id), RLIMIT_DATA, &little, NULL), 0);
  expect_end(id, "failed", "memory-limit", "more memory than its process may have");
  expect_service();
}
END_TEST

START_TEST(a_hang_costs_one_job)
{
  char id[33];
  long_job_of(id, ", \"time_limit\": 2");
  ck_assert_int_eq(kill(working_child(id), SIGSTOP), 0); /* it looks at no clock any more */
  expect_end(id, "failed", "time-limit", "past its time limit of 2 s");
  expect_service();
}
END_TEST

START_TEST(processor_time_is_bounded_too)
{
  char id[33];
  const struct rlimit little = {1, 10};
  long_job_of(id, ", \"time_limit\": 60");
  ck_assert_int_eq(prlimit(working_child(id), RLIMIT_CPU, &little, NULL), 0);
  expect_end(id, "failed", "time-limit", "SIGXCPU");
  expect_service();
}
END_TEST

START_TEST(a_child_that_does_not_stop_is_cancelled_all_the_same)
{
  char id[33];
  long_job_of(id, "");
  ck_assert_int_eq(kill(working_child(id), SIGSTOP), 0);
  cancel_job(id);
  ck_assert_int_eq(one_below(one_below(server.pid, 0), 0), 0);
}
END_TEST

/* Of a process, as the kernel has it; 0: it is there no more, or is only to be buried. */
static char state_of(pid_t pid)
{
  char path[64], line[512] = "", state = 0;
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  FILE *stream = fopen(path, "r");
  const char *name = stream != NULL && fgets(line, sizeof line, stream) != NULL ? strrchr(line, ')') : NULL;
  if (name == NULL || sscanf(name, ") %c", &state) != 1 || state == 'Z' || state == 'X')
    state = 0;
  if (stream != NULL)
    fclose(stream);
  return state;
}

static void expect_death(pid_t pid)
{
  for (int i = 0; i < 60000 && state_of(pid) != 0; i++)
    usleep(5000);
  ck_assert_int_eq(state_of(pid), 0);
}

static void expect_attempts(const char *id, int attempts)
{
  char path[64];
  snprintf(path, sizeof path, "/v1/jobs/%s", id);
  test_reply reply = test_get(&server, path);
  ck_assert_msg(json_integer_value(json_object_get(reply.json, "attempts")) == attempts, "%s", reply.body);
  test_reply_clear(&reply);
}

/* Where the server is told that jobs do not outlive it, and where nobody comes in time. */
START_TEST(a_child_without_a_server_ends_and_the_job_runs_again)
{
  char id[33], path[64];
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
  test_daemon_start(&server, folder, _i == 0 ? without : briefly);
  long_job_of(id, "");
  pid_t pid = working_child(id);
  (void)test_daemon_stop(&server, SIGKILL);
  expect_death(pid);
  test_daemon_start(&server, folder, processes);
  ck_assert_int_ne(working_child(id), 0);
  expect_attempts(id, 2);
  snprintf(path, sizeof path, "/v1/jobs/%s/log", id);
  test_reply log = test_get(&server, path);
  ck_assert_ptr_nonnull(strstr(log.body, "confined: "));
  test_reply_clear(&log);
}
END_TEST

/* However the server ends: the same child goes on, tells the next server what it told this one, and stops when that wants it to. */
START_TEST(a_job_outlives_its_server)
{
  char id[33], path[64];
  long_job_of(id, "");
  const pid_t pid = working_child(id);
  for (int ends = 0; ends < 3; ends++) {
    (void)test_daemon_stop(&server, ends == 1 ? SIGTERM : SIGKILL);
    ck_assert_int_ne(state_of(pid), 0);
    test_daemon_start(&server, folder, processes);
    test_wait_state(&server, id, "running");
    expect_attempts(id, 1);
  }
  snprintf(path, sizeof path, "/v1/jobs/%s/log", id);
  bool said = false;
  for (int i = 0; i < 6000 && !said; i++) {
    test_reply log = test_get(&server, path);
    said = strstr(log.body, "attempt 1 goes on") != NULL && strstr(log.body, "confined: ") != NULL;
    test_reply_clear(&log);
    usleep(5000);
  }
  ck_assert(said);
  ck_assert_int_ne(state_of(pid), 0);
  expect_attempts(id, 1);
  cancel_job(id);
  ck_assert_int_eq(state_of(pid), 0);
  expect_service();
}
END_TEST

/* What befalls a child while there is no server is heard by the next one: its result, its crash, that it does not stop. */
START_TEST(what_ends_without_a_server_is_not_lost)
{
  char network[65], id[33], crashed[33], stuck[33];
  const char *const three[] = {"--workers", "3", "--grace", "0", "--executor", "process", NULL};
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
  test_daemon_start(&server, folder, three);
  long_job_of(crashed, "");
  const pid_t crashes = working_child(crashed);
  ck_assert_int_eq(kill(crashes, SIGSTOP), 0);
  test_upload_large(&server, 20000, 100000, 1, network);
  test_job(&server, id, "{\"network\": \"%s\", \"chip\": \"loihi64\", \"options\": {\"preset\": \"fast\", \"seed\": 2}}", network);
  pid_t ends = 0;
  for (int i = 0; i < 60000 && ends == 0; i++, usleep(1000))
    ends = one_below(one_below(server.pid, 0), crashes);
  ck_assert_int_ne(ends, 0);
  ck_assert_int_eq(kill(ends, SIGSTOP), 0); /* not before the server */
  long_job_of(stuck, ", \"seed\": 3");
  test_wait_state(&server, stuck, "running");
  (void)test_daemon_stop(&server, SIGKILL);
  ck_assert_int_eq(kill(ends, SIGCONT), 0);
  ck_assert_int_eq(kill(crashes, SIGSEGV), 0);
  ck_assert_int_eq(kill(crashes, SIGCONT), 0);
  expect_death(crashes);
  expect_death(ends);
  test_daemon_start(&server, folder, three);
  expect_end(crashed, "failed", "internal", CM_SANITIZED ? "the job's process" : "SIGSEGV");
  json_t *job = test_wait(&server, id);
  ck_assert_str_eq(test_word(job, "state"), "done");
  ck_assert_int_eq(json_integer_value(json_object_get(job, "attempts")), 1);
  json_decref(job);
  cancel_job(stuck);
  expect_service();
}
END_TEST

START_TEST(a_fork_server_that_dies_is_started_anew)
{
  char id[33], path[64];
  long_job_of(id, "");
  ck_assert_int_ne(working_child(id), 0);
  const pid_t first = one_below(server.pid, 0);
  ck_assert_int_eq(kill(first, SIGKILL), 0); /* its children die by that; the job is tried again */
  snprintf(path, sizeof path, "/v1/jobs/%s", id);
  bool again = false;
  for (int i = 0; i < 60000 && !again; i++) {
    test_reply reply = test_get(&server, path);
    again = json_object_get(reply.json, "retry") != NULL;
    test_reply_clear(&reply);
    usleep(5000);
  }
  ck_assert(again);
  ask_to_stop(id);
  expect_service();
  pid_t second = one_below(server.pid, 0);
  ck_assert(second != 0 && second != first);
}
END_TEST

/* Of a process that holds three files of 1 MiB, one in a folder, one without a name, one without a name that is mapped
 * and not open, and runs five threads. */
static void *rest(void *argument)
{
  (void)pause();
  return argument;
}

static void hold_much(const char *job, int told)
{
  static const char *const names[] = {"made/a", "b", "c"};
  char path[CM_PATH_MAX + 16];
  int file = -1;
  for (size_t i = 0; i < 3; i++) {
    (void)snprintf(path, sizeof path, "%s/%s", job, names[i]);
    file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0 || posix_fallocate(file, 0, 1 << 20) != 0 || (i > 0 && unlink(path) != 0))
      _exit(1);
  }
  if (mmap(NULL, 1 << 20, PROT_READ, MAP_SHARED, file, 0) == MAP_FAILED || close(file) != 0)
    _exit(2);
  for (int i = 0; i < 4; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, rest, NULL) != 0)
      _exit(3);
  }
  (void)!write(told, "x", 1);
  (void)pause();
  _exit(4);
}

START_TEST(threads_and_bytes_of_a_child_are_counted)
{
  char job[CM_PATH_MAX], path[CM_PATH_MAX + 16], word;
  int ends[2], status;
  test_folder(job);
  snprintf(path, sizeof path, "%s/made", job);
  ck_ok(cm_folder_make(path, &error));
  ck_assert_int_eq(pipe(ends), 0);
  const pid_t pid = fork();
  if (pid == 0)
    hold_much(job, ends[1]);
  ck_assert_int_eq(read(ends[0], &word, 1), 1);
  cm_child_limits limits = {.pid = pid, .out = job, .threads = 1, .bytes = 3 << 20};
  ck_ok(cm_child_limits_threads(&limits, &error));
  ck_ok(cm_child_limits_bytes(&limits, &error)); /* of the two without a name, the larger sum counts */
  limits.bytes = 2 << 20;
  ck_fails(cm_child_limits_bytes(&limits, &error), CM_DISK_FULL);
  limits.bytes = 0;
  ck_ok(cm_child_limits_bytes(&limits, &error));
  kill(pid, SIGKILL);
  ck_assert_int_eq(waitpid(pid, &status, 0), pid);
  limits.bytes = 1;
  limits.pid = getpid();
  for (int i = 0; i < 40; i++) {
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, rest, NULL), 0);
  }
  ck_fails(cm_child_limits_threads(&limits, &error), CM_INTERNAL);
  limits.threads = 100;
  ck_ok(cm_child_limits_threads(&limits, &error));
  ck_ok(cm_folder_remove(job, &error));
}
END_TEST

/* `coremapd --work FOLDER ATTEMPT`: its exit status; `said` [CM_WORK_SAID_MAX] is what it says last. */
static int carry_out(const char *program, const char *job, const char *attempt, char *said)
{
  int output[2], status;
  ssize_t got, used = 0;
  ck_assert_int_eq(pipe(output), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    (void)dup2(output[1], STDOUT_FILENO);
    (void)execl(program, "coremapd", "--work", job, attempt, (char *)NULL);
    _exit(127);
  }
  close(output[1]);
  while ((got = read(output[0], said + used, (size_t)(CM_WORK_SAID_MAX - 1 - used))) > 0)
    used += got;
  said[used] = '\0';
  close(output[0]);
  ck_assert_int_eq(waitpid(pid, &status, 0), pid);
  return WEXITSTATUS(status);
}

/* What comes late or twice, and what another build would make, touches nothing that is read. */
START_TEST(an_attempt_is_made_once_and_by_one_build)
{
  char job[CM_PATH_MAX], path[CM_PATH_MAX + 16], program[CM_PATH_MAX], first[65], now[65], said[CM_WORK_SAID_MAX], *bytes;
  size_t size;
  uint64_t length;
  cm_work_job described = {.kind = "import", .threads = 1};
  snprintf(program, sizeof program, "%s/coremapd", getenv("CM_BUILD"));
  test_folder(job);
  snprintf(path, sizeof path, "%s/in", job);
  ck_ok(cm_folder_make(path, &error));
  ck_ok(cm_file_read(test_data("celegans_herm_chem.edges.csv"), 1 << 24, &bytes, &size, &error));
  snprintf(path, sizeof path, "%s/in/network", job);
  test_write(path, bytes, size);
  free(bytes);
  ck_ok(cm_file_hash(program, described.program, &length, &error));
  ck_ok(cm_work_describe(job, &described, &error));
  ck_assert_int_eq(carry_out(program, job, "1", said), 0);
  snprintf(path, sizeof path, "%s/out.1/made", job);
  ck_ok(cm_file_hash(path, first, &length, &error));
  ck_assert_int_ne(carry_out(program, job, "1", said), 0);
  ck_assert_msg(strstr(said, "conflict 0 attempt 1 at the job folder") != NULL, "%s", said);
  ck_assert_int_eq(carry_out(program, job, "2", said), 0);
  ck_ok(cm_file_hash(path, now, &length, &error));
  ck_assert_str_eq(first, now);
  snprintf(path, sizeof path, "%s/out.2/made", job);
  ck_ok(cm_file_hash(path, now, &length, &error));
  ck_assert_str_eq(first, now);
  described.program[0] = described.program[0] == 'f' ? '0' : 'f';
  ck_ok(cm_work_describe(job, &described, &error));
  ck_assert_int_ne(carry_out(program, job, "3", said), 0);
  ck_assert_msg(strstr(said, "for another build of coremapd") != NULL, "%s", said);
  snprintf(path, sizeof path, "%s/out.3", job);
  ck_assert_int_ne(access(path, F_OK), 0);
  ck_ok(cm_folder_remove(job, &error));
}
END_TEST

/* A folder within a folder within a folder holds more than can be counted. */
START_TEST(a_child_that_fills_the_disk_is_killed)
{
  char id[33], path[CM_PATH_MAX + 16], below[CM_PATH_MAX + 128];
  long_job_of(id, "");
  ck_assert_int_ne(working_child(id), 0);
  snprintf(path, sizeof path, "%s/incoming", folder);
  DIR *listing = opendir(path);
  ck_assert_ptr_nonnull(listing);
  for (struct dirent *item; (item = readdir(listing)) != NULL;)
    if (strstr(item->d_name, ".job") != NULL) {
      snprintf(below, sizeof below, "%.1000s/%.60s/out.1/a/a/a/a/a/a/a/a/a/a/a", path, item->d_name);
      ck_ok(cm_folder_make(below, &error));
    }
  closedir(listing);
  snprintf(path, sizeof path, "/v1/jobs/%s/log", id);
  bool said = false;
  for (int i = 0; i < 60000 && !said; i++) {
    test_reply log = test_get(&server, path);
    said = strstr(log.body, "bytes that the disk had for it; it was killed; this may pass") != NULL;
    test_reply_clear(&log);
    usleep(5000);
  }
  ck_assert(said);
  ask_to_stop(id);
  expect_service();
}
END_TEST

/* Found by whoever waits for it: a job that is to be started, and one that runs and is to stop. */
START_TEST(a_fork_server_that_is_stopped_goes_on)
{
  char id[33];
  expect_service();
  const pid_t forks = one_below(server.pid, 0);
  ck_assert_int_eq(kill(forks, SIGSTOP), 0);
  expect_service();
  long_job_of(id, "");
  ck_assert_int_ne(working_child(id), 0);
  ck_assert_int_eq(kill(forks, SIGSTOP), 0);
  cancel_job(id);
  expect_service();
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("executors");
  TCase *tests = tcase_create("children"), *plain = tcase_create("counts");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, both_make_the_same_bytes);
  tcase_add_test(tests, uploads_are_read_in_a_child_as_in_a_thread);
  tcase_add_test(tests, models_are_never_taken_apart_in_the_server);
  tcase_add_test(tests, a_crash_costs_one_job);
  tcase_add_test(tests, a_job_whose_child_is_always_killed_is_failed);
  tcase_add_test(tests, a_memory_blow_up_costs_one_job);
  tcase_add_test(tests, a_hang_costs_one_job);
  tcase_add_test(tests, processor_time_is_bounded_too);
  tcase_add_test(tests, a_child_that_does_not_stop_is_cancelled_all_the_same);
  tcase_add_loop_test(tests, a_child_without_a_server_ends_and_the_job_runs_again, 0, 2);
  tcase_add_test(tests, a_job_outlives_its_server);
  tcase_add_test(tests, what_ends_without_a_server_is_not_lost);
  tcase_add_test(tests, a_fork_server_that_dies_is_started_anew);
  tcase_add_test(tests, a_fork_server_that_is_stopped_goes_on);
  tcase_add_test(tests, a_child_that_fills_the_disk_is_killed);
  tcase_add_test(plain, threads_and_bytes_of_a_child_are_counted);
  tcase_add_test(plain, an_attempt_is_made_once_and_by_one_build);
  suite_add_tcase(suite, tests);
  suite_add_tcase(suite, plain);
  return test_main(suite);
}
