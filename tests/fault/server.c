/* What the server must survive: kill -9 at any moment, damaged files, a disk without room, SIGTERM under load. */
#include "tests/api/client.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/random.h"

static test_daemon server;
static char folder[CM_PATH_MAX];
static cm_error error;

static const char *const one_worker[] = {"--workers", "1", "--grace", "0", NULL};

static void setup(void)
{
  test_folder(folder);
  test_daemon_start(&server, folder, one_worker);
}

static void teardown(void)
{
  ck_ok(cm_folder_remove(folder, &error));
}

static void restart(int signal)
{
  (void)test_daemon_stop(&server, signal);
  test_daemon_start(&server, folder, one_worker);
}

static void long_job(char *id, uint64_t seed)
{
  char network[65];
  test_upload_large(&server, 24000, 120000, seed, network);
  test_job(&server, id, "{\"network\": \"%s\", \"chip\": \"loihi64\", \"options\": {\"preset\": \"reference\", \"max_part_size\": 32, \"coarsening_tries\": 24,"
           " \"bisection_tries\": 24}}", network);
}

static void expect_state(const char *id, const char *state)
{
  json_t *job = test_wait(&server, id);
  char *text = json_dumps(job, 0);
  ck_assert_msg(strcmp(test_word(job, "state"), state) == 0, "%s", text);
  free(text);
  json_decref(job);
}

static size_t entries(const char *name)
{
  char path[CM_PATH_MAX];
  size_t count = 0;
  ck_ok(cm_path(path, &error, "%s/%s", folder, name));
  DIR *listing = opendir(path);
  for (struct dirent *item; listing != NULL && (item = readdir(listing)) != NULL;)
    count += item->d_name[0] != '.';
  if (listing != NULL)
    closedir(listing);
  return count;
}

static void expect_entries(const char *name, size_t count)
{
  for (int i = 0; i < 30000 && entries(name) != count; i++)
    usleep(10000);
  ck_assert_uint_eq(entries(name), count);
}

/* ---- kill -9 ---- */

/* Uploads, queues jobs, kills at a random moment, starts again: all that was answered is there, and every job ends. */
START_TEST(killed_anywhere_nothing_acknowledged_is_lost)
{
  enum { ROUNDS = 6, JOBS = 4 };
  cm_random random;
  cm_random_init(&random, 5, 0, 0);
  char networks[ROUNDS][65] = {0}, jobs[ROUNDS * JOBS][33];
  for (int round = 0; round < ROUNDS; round++) {
    char text[64];
    snprintf(text, sizeof text, "a,b,%d\nb,c,2\nc,d,3\nd,a,4\n", round + 1);
    test_upload(&server, text, strlen(text), networks[round]);
    for (int i = 0; i < JOBS; i++)
      test_job(&server, jobs[round * JOBS + i],
               "{\"network\": \"%s\", \"chip\": \"loihi1\", \"options\": {\"seed\": %d}}", networks[round], i);
    usleep((useconds_t)cm_random_below(&random, 40000));
    restart(SIGKILL);
    for (int i = 0; i <= round; i++) {
      char path[128];
      snprintf(path, sizeof path, "/v1/networks/%.64s", networks[i]);
      test_expect(test_get(&server, path), 200);
    }
    /* No job may meet three kills: that would rightly fail it. */
    for (int i = 0; round % 2 == 1 && i < (round + 1) * JOBS; i++)
      expect_state(jobs[i], "done");
  }
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
  ck_assert_uint_eq(entries("incoming"), 0);
}
END_TEST

START_TEST(a_job_killed_midway_runs_again)
{
  char id[33], path[96];
  long_job(id, 1);
  test_wait_state(&server, id, "running");
  usleep(100000);
  restart(SIGKILL);
  snprintf(path, sizeof path, "/v1/jobs/%s", id);
  test_wait_state(&server, id, "running");
  test_reply reply = test_get(&server, path);
  ck_assert_int_eq(json_integer_value(json_object_get(reply.json, "attempts")), 2);
  test_reply_clear(&reply);
  expect_state(id, "done");
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
}
END_TEST

START_TEST(a_job_that_kills_the_server_three_times_is_failed)
{
  char id[33], next[33];
  long_job(id, 2);
  for (int i = 0; i < 3; i++) {
    test_wait_state(&server, id, "running");
    restart(SIGKILL);
  }
  json_t *job = test_wait(&server, id);
  ck_assert_str_eq(test_word(job, "state"), "failed");
  ck_assert_str_eq(test_word(json_object_get(job, "problem"), "code"), "killed-server");
  json_decref(job);
  /* The rest of the queue goes on. */
  char network[65];
  test_upload(&server, "a,b,1\n", 6, network);
  test_job(&server, next, "{\"network\": \"%s\", \"chip\": \"loihi1\"}", network);
  expect_state(next, "done");
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
}
END_TEST

START_TEST(a_killed_upload_leaves_nothing)
{
  char request[256];
  snprintf(request, sizeof request,
           "POST /v1/networks HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\na,b,1\nb,c,");
  free(test_raw(&server, request, 0.3)); /* the client goes away */
  usleep(200000);
  expect_entries("incoming", 0);
  pid_t client = fork();
  if (client == 0) {
    free(test_raw(&server, request, 300));
    _exit(0);
  }
  expect_entries("incoming", 1);
  restart(SIGKILL);
  kill(client, SIGKILL);
  waitpid(client, NULL, 0);
  ck_assert_uint_eq(entries("incoming"), 0);
  test_reply reply = test_get(&server, "/v1/networks");
  ck_assert_uint_eq(json_array_size(json_object_get(reply.json, "networks")), 0);
  test_reply_clear(&reply);
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
}
END_TEST

START_TEST(a_resumable_upload_survives_a_kill)
{
  char path[128];
  test_reply reply = test_send(&server, "POST", "/v1/uploads", "{\"size\": 12}");
  snprintf(path, sizeof path, "%s", test_header(&reply, "location"));
  test_reply_clear(&reply);
  const char *const at0[] = {"Upload-Offset: 0", NULL}, *const at6[] = {"Upload-Offset: 6", NULL};
  test_expect(test_request(&server, "PATCH", path, at0, "a,b,1\n", 6), 204);
  restart(SIGKILL);
  reply = test_request(&server, "HEAD", path, NULL, NULL, 0);
  ck_assert_str_eq(test_header(&reply, "upload-offset"), "6");
  test_reply_clear(&reply);
  test_expect(test_request(&server, "PATCH", path, at6, "b,c,2\n", 6), 201);
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
}
END_TEST

START_TEST(leases_survive_a_kill)
{
  test_expect(test_send(&server, "POST", "/v1/chips/loihi1/reservations", "{\"cores\": [[0, 0, 3, 3]], \"ttl\": 600}"),
              201);
  restart(SIGKILL);
  test_expect(test_send(&server, "POST", "/v1/chips/loihi1/reservations", "{\"cores\": [[3, 3]]}"), 409);
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
}
END_TEST

/* ---- SIGTERM ---- */

START_TEST(sigterm_sends_running_jobs_back_to_the_queue)
{
  char id[33], path[96];
  long_job(id, 3);
  test_wait_state(&server, id, "running");
  usleep(100000);
  double before = cm_now();
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
  ck_assert(cm_now() - before < 30);
  ck_assert_uint_eq(entries("incoming"), 0);
  test_daemon_start(&server, folder, one_worker);
  expect_state(id, "done");
  snprintf(path, sizeof path, "/v1/jobs/%s", id);
  test_reply reply = test_get(&server, path);
  ck_assert_int_eq(json_integer_value(json_object_get(reply.json, "attempts")), 2);
  test_reply_clear(&reply);
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
}
END_TEST

static void *watch(void *id)
{
  char path[96];
  snprintf(path, sizeof path, "/v1/jobs/%s/events", (char *)id);
  test_reply reply = test_get(&server, path);
  test_reply_clear(&reply);
  return NULL;
}

static void *poll_long(void *id)
{
  char path[96];
  snprintf(path, sizeof path, "/v1/jobs/%s?wait=60s", (char *)id);
  test_reply reply = test_get(&server, path);
  test_reply_clear(&reply);
  return NULL;
}

START_TEST(sigterm_ends_streams_and_polls)
{
  enum { EACH = 10 };
  char id[33];
  pthread_t threads[2 * EACH];
  long_job(id, 4);
  test_wait_state(&server, id, "running");
  for (int i = 0; i < EACH; i++) {
    ck_assert_int_eq(pthread_create(&threads[2 * i], NULL, watch, id), 0);
    ck_assert_int_eq(pthread_create(&threads[2 * i + 1], NULL, poll_long, id), 0);
  }
  usleep(200000);
  double before = cm_now();
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
  ck_assert(cm_now() - before < 30);
  for (int i = 0; i < 2 * EACH; i++)
    pthread_join(threads[i], NULL);
}
END_TEST

/* ---- damage and want ---- */

static void damage_folder(const char *path)
{
  DIR *listing = opendir(path);
  ck_assert_ptr_nonnull(listing);
  for (struct dirent *item; (item = readdir(listing)) != NULL;) {
    char name[CM_PATH_MAX];
    if (strstr(item->d_name, ".zip") == NULL && strcmp(item->d_name, "parts") != 0)
      continue; /* the partition too is kept, where making it took a while */
    ck_ok(cm_path(name, &error, "%s/%s", path, item->d_name));
    FILE *stream = fopen(name, "r+b");
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_eq(fseek(stream, -40, SEEK_END), 0);
    fputs("damaged", stream);
    fclose(stream);
  }
  closedir(listing);
}

START_TEST(a_damaged_cache_entry_is_made_again)
{
  char network[65], id[33], path[CM_PATH_MAX], entry[CM_PATH_MAX];
  test_upload_large(&server, 2000, 10000, 6, network);
  test_job(
      &server, id,
      "{\"network\": \"%s\", \"chip\": \"loihi64\", \"options\": {\"preset\": \"reference\", \"max_part_size\": 64}}",
      network);
  json_t *first = test_wait(&server, id);
  ck_assert_str_eq(test_word(first, "state"), "done");
  ck_assert_int_ge(json_integer_value(json_object_get(json_array_get(json_object_get(json_object_get(first, "report"),
                   "attempts"), 0), "levels")), 1);
  ck_ok(cm_path(path, &error, "%s/cache", folder));
  DIR *listing = opendir(path);
  for (struct dirent *item; (item = readdir(listing)) != NULL;)
    if (item->d_name[0] != '.') {
      ck_ok(cm_path(entry, &error, "%s/%s", path, item->d_name));
      damage_folder(entry);
    }
  closedir(listing);
  test_job(&server, id, "{\"network\": \"%s\", \"chip\": \"loihi64\", \"options\": {\"preset\": \"reference\", \"max_part_size\": 64, \"placement_seed\": 9}}", network);
  json_t *second = test_wait(&server, id);
  ck_assert_str_eq(test_word(second, "state"), "done");
  ck_assert(json_is_false(json_object_get(json_object_get(second, "report"), "coarsening_cached")));
  test_reply cache = test_get(&server, "/v1/cache");
  ck_assert_int_ge(json_integer_value(json_object_get(cache.json, "damaged")), 1);
  test_reply_clear(&cache);
  json_decref(first);
  json_decref(second);
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
}
END_TEST

static int run_daemon(const char *const *arguments);

START_TEST(the_data_folder_is_checked_by_command)
{
  char network[65], id[33], path[CM_PATH_MAX];
  const char *const check[] = {"--check-data", "--data", folder, NULL};
  test_upload_large(&server, 500, 2000, 8, network);
  test_job(&server, id, "{\"network\": \"%s\", \"chip\": \"loihi64\"}", network);
  expect_state(id, "done");
  ck_assert_int_eq(run_daemon(check), 1); /* a server works on it */
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
  ck_assert_int_eq(run_daemon(check), 0);
  ck_ok(cm_path(path, &error, "%s/networks", folder));
  damage_folder(path);
  ck_assert_int_eq(run_daemon(check), 1);
}
END_TEST

START_TEST(a_damaged_network_fails_its_job_only)
{
  char network[65], id[33], path[CM_PATH_MAX];
  test_upload_large(&server, 500, 2000, 7, network);
  ck_ok(cm_path(path, &error, "%s/networks", folder));
  damage_folder(path);
  test_job(&server, id, "{\"network\": \"%s\", \"chip\": \"loihi64\"}", network);
  json_t *job = test_wait(&server, id);
  ck_assert_str_eq(test_word(job, "state"), "failed");
  ck_assert_str_eq(test_word(json_object_get(job, "problem"), "code"), "damaged");
  json_decref(job);
  test_expect(test_get(&server, "/readyz"), 200);
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
}
END_TEST

/* Also when it comes while the server is busy starting, or a thread of a library takes it. */
/* Processor time of the server so far, in clock ticks. */
static unsigned long processor_ticks(void)
{
  char path[64], line[1024];
  unsigned long user = 0, system_ticks = 0;
  snprintf(path, sizeof path, "/proc/%d/stat", (int)server.pid);
  FILE *stream = fopen(path, "r");
  ck_assert_ptr_nonnull(stream);
  ck_assert_ptr_nonnull(fgets(line, sizeof line, stream));
  fclose(stream);
  const char *rest = strrchr(line, ')');
  ck_assert_int_eq(sscanf(rest, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system_ticks), 2);
  return user + system_ticks;
}

/* Waits until the server does nothing: no request could be made to ask it. */
static void wait_until_idle(void)
{
  unsigned long before = processor_ticks(), now;
  for (int tries = 0; tries < 300; tries++, before = now) {
    usleep(400000);
    now = processor_ticks();
    if (now - before <= 2)
      return;
  }
  ck_abort_msg("the server stays busy");
}

/* Without descriptors a job's files cannot be opened: it is queued again, and done once there are some. */
START_TEST(a_job_without_descriptors_is_tried_again)
{
  char id[33], path[96];
  struct rlimit before, none;
  long_job(id, 9);
  test_wait_state(&server, id, "running");
  ck_assert_int_eq(prlimit(server.pid, RLIMIT_NOFILE, NULL, &before), 0);
  none = (struct rlimit){.rlim_cur = 3, .rlim_max = before.rlim_max};
  ck_assert_int_eq(prlimit(server.pid, RLIMIT_NOFILE, &none, NULL), 0);
  wait_until_idle(); /* the attempt has ended */
  ck_assert_int_eq(prlimit(server.pid, RLIMIT_NOFILE, &before, NULL), 0);
  snprintf(path, sizeof path, "/v1/jobs/%s", id);
  test_reply reply = test_get(&server, path);
  const json_t *retry = json_object_get(reply.json, "retry");
  ck_assert_msg(json_integer_value(json_object_get(retry, "count")) >= 1, "%s", reply.body);
  ck_assert_str_ne(test_word(json_object_get(retry, "problem"), "detail"), "");
  test_reply_clear(&reply);
  expect_state(id, "done");
  snprintf(path, sizeof path, "/v1/jobs/%s/log", id);
  reply = test_get(&server, path);
  ck_assert_ptr_nonnull(strstr(reply.body, "retry 1 of 5 in 2 s"));
  test_reply_clear(&reply);
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
}
END_TEST

START_TEST(a_signal_always_ends_it_in_order)
{
  for (int round = 0; round < 8; round++) {
    ck_assert_int_eq(test_daemon_stop(&server, round % 2 ? SIGTERM : SIGINT), 0);
    test_daemon_start(&server, folder, one_worker);
  }
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
}
END_TEST

START_TEST(a_nearly_full_disk_refuses_uploads)
{
  const char *const arguments[] = {"--disk-reserve", "1000000T", NULL};
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
  test_daemon_start(&server, folder, arguments);
  test_reply reply = test_problem(test_get(&server, "/readyz"), 503, "disk-low");
  test_reply_clear(&reply);
  reply = test_problem(test_send(&server, "POST", "/v1/networks", "a,b,1\n"), 507, "disk-full");
  test_reply_clear(&reply);
  test_expect(test_get(&server, "/healthz"), 200);
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
}
END_TEST

/* Files may have 1 MiB at most: a larger upload cannot be stored, and nothing of it stays. */
START_TEST(a_write_that_fails_stores_nothing)
{
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
  struct rlimit before, small;
  ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
  small = before;
  small.rlim_cur = 1 << 20;
  signal(SIGXFSZ, SIG_IGN); /* writes then fail with EFBIG; the daemon inherits both */
  ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
  test_daemon_start(&server, folder, one_worker);
  ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
  size_t size = 3 << 20;
  char *bytes = malloc(size);
  memset(bytes, '\n', size);
  test_reply reply = test_request(&server, "POST", "/v1/networks", NULL, bytes, size);
  free(bytes);
  ck_assert_msg(reply.status == 500 || reply.status == 507, "%ld %s", reply.status, reply.body);
  test_reply_clear(&reply);
  ck_assert_uint_eq(entries("incoming"), 0);
  char network[65];
  test_upload(&server, "a,b,1\n", 6, network);
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
}
END_TEST

/* ---- the command line ---- */

static int run_daemon(const char *const *arguments)
{
  char program[CM_PATH_MAX];
  const char *build = getenv("CM_BUILD");
  snprintf(program, sizeof program, "%s/coremapd", build != NULL ? build : "build/check");
  const char *words[12] = {program};
  for (int i = 0; arguments[i] != NULL; i++)
    words[i + 1] = arguments[i];
  pid_t pid = fork();
  if (pid == 0) {
    int null = open("/dev/null", O_WRONLY);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    execv(program, (char *const *)(uintptr_t)words);
    _exit(127);
  }
  int status;
  ck_assert_int_eq(waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

START_TEST(settings_are_checked_at_start)
{
  char file[CM_PATH_MAX];
  ck_ok(cm_path(file, &error, "%s/settings.ini", folder));
  test_write(file, "[coremapd]\nworkers = many\n", 26);
  ck_assert_int_eq(run_daemon((const char *const[]){"--listen", "0.0.0.0:0", "--data", "/nonexistent", NULL}) != 0, 1);
  char other[CM_PATH_MAX];
  ck_ok(cm_path(other, &error, "%s/other", folder));
  ck_assert_int_eq(run_daemon((const char *const[]){"--listen", "0.0.0.0:0", "--data", other, NULL}), 2);
  ck_assert_int_eq(run_daemon((const char *const[]){"--listen", "nonsense", "--data", other, NULL}), 2);
  ck_assert_int_eq(run_daemon((const char *const[]){"--workers", "0", "--data", other, NULL}), 2);
  ck_assert_int_eq(run_daemon((const char *const[]){"--what", "0", NULL}), 2);
  ck_assert_int_eq(run_daemon((const char *const[]){"--config", file, "--data", other, NULL}), 2);
  ck_assert_int_eq(run_daemon((const char *const[]){"--help", NULL}), 0);
  /* A second server on the same folder. */
  ck_assert_int_eq(run_daemon((const char *const[]){"--listen", "127.0.0.1:0", "--data", folder, NULL}), 1);
  test_write(file, "workers = 3\nmemory-limit = 1G\n", 30);
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
  test_daemon_start(&server, folder, (const char *const[]){"--config", file, "--grace=1", NULL});
  ck_assert_int_eq(test_daemon_stop(&server, SIGINT), 0);
}
END_TEST

static bool holds(const char *path, const char *text)
{
  char *bytes;
  size_t size;
  if (cm_file_read(path, 1 << 16, &bytes, &size, &error) != CM_OK)
    return false;
  bool found = memmem(bytes, size, text, strlen(text)) != NULL;
  free(bytes);
  return found;
}

static void expect_soon(const char *path, const char *text)
{
  for (int i = 0; i < 30000 && !holds(path, text); i++)
    usleep(10000);
  ck_assert_msg(holds(path, text), "%s does not say \"%s\"", path, text);
}

/* The log can be renamed, settings change, wrong ones change nothing, and the server goes on. */
START_TEST(sighup_reopens_the_log_and_reads_the_settings)
{
  char file[CM_PATH_MAX], log[CM_PATH_MAX], old[CM_PATH_MAX], text[2 * CM_PATH_MAX];
  ck_ok(cm_path(file, &error, "%s/settings.ini", folder));
  ck_ok(cm_path(log, &error, "%s/log", folder));
  ck_ok(cm_path(old, &error, "%s/log.1", folder));
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
  int size = snprintf(text, sizeof text, "log = %s\nupload-limit = 10\n", log);
  test_write(file, text, (size_t)size);
  test_daemon_start(&server, folder, (const char *const[]){"--config", file, NULL});
  test_expect(test_send(&server, "POST", "/v1/networks", "a,b,1\nb,c,1\n"), 413);
  ck_assert_int_eq(rename(log, old), 0);
  size = snprintf(text, sizeof text, "log = %s\nupload-limit = 1000\nworkers = 1\n", log);
  test_write(file, text, (size_t)size);
  ck_assert_int_eq(kill(server.pid, SIGHUP), 0);
  expect_soon(log, "the settings are read");
  ck_assert(holds(log, "setting workers changes at the next start"));
  ck_assert(!holds(old, "the settings are read"));
  test_expect(test_send(&server, "POST", "/v1/networks", "a,b,1\nb,c,1\n"), 201);
  test_write(file, "upload-limit = many\n", 20);
  ck_assert_int_eq(kill(server.pid, SIGHUP), 0);
  expect_soon(log, "nothing is changed");
  test_expect(test_send(&server, "POST", "/v1/networks", "a,b,2\nb,c,1\n"), 201);
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("server under fault");
  TCase *tests = tcase_create("faults");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, killed_anywhere_nothing_acknowledged_is_lost);
  tcase_add_test(tests, a_job_killed_midway_runs_again);
  tcase_add_test(tests, a_job_that_kills_the_server_three_times_is_failed);
  tcase_add_test(tests, a_killed_upload_leaves_nothing);
  tcase_add_test(tests, a_resumable_upload_survives_a_kill);
  tcase_add_test(tests, leases_survive_a_kill);
  tcase_add_test(tests, sigterm_sends_running_jobs_back_to_the_queue);
  tcase_add_test(tests, sigterm_ends_streams_and_polls);
  tcase_add_test(tests, a_damaged_cache_entry_is_made_again);
  tcase_add_test(tests, the_data_folder_is_checked_by_command);
  tcase_add_test(tests, a_damaged_network_fails_its_job_only);
  tcase_add_test(tests, a_job_without_descriptors_is_tried_again);
  tcase_add_test(tests, a_signal_always_ends_it_in_order);
  tcase_add_test(tests, a_nearly_full_disk_refuses_uploads);
  tcase_add_test(tests, a_write_that_fails_stores_nothing);
  tcase_add_test(tests, settings_are_checked_at_start);
  tcase_add_test(tests, sighup_reopens_the_log_and_reads_the_settings);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
