/* bench/queue: what the queue costs when it is long. */
#include <curl/curl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api/server.h"
#include "base/run.h"
#include "storage/jobs.h"

static const char usage[] =
  "usage: bench/queue [--jobs N] [--users U] [--rounds R] [--folder FOLDER] [--json]\n"
  "\n"
  "Starts a server without workers on a fresh data folder and measures, over HTTP, POST of a job, GET of one job and lists\n"
  "of 50 and of 1000, and the claim of a job by a worker: first with as few jobs queued as the question needs, then with N\n"
  "(100000) of U users (20) and three priorities. Prints milliseconds of wall clock, and of processor time of server and\n"
  "client, as medians of R rounds (21), and the ratio of long to short, which should be 2 at most; processor time tells it\n"
  "on a busy machine too. --folder: where the data folder is made (TMPDIR).\n";

static cm_error error;
static cm_store *store;
static cm_server *server;
static CURL *curl;
static char network[CM_SHA_MAX];

static void die(const char *what)
{
  fprintf(stderr, "bench/queue: %s\n", what);
  exit(1);
}

#define must(call) ((call) == CM_OK ? (void)0 : die(error.detail))

/* ---- the server, and requests ---- */

static void nothing_to_wake(void *user)
{
  (void)user;
}

static size_t drop(char *bytes, size_t size, size_t count, void *total)
{
  (void)bytes;
  *(size_t *)total += size * count;
  return size * count;
}

static void request(const char *path, const char *body)
{
  char url[256];
  long status;
  size_t received = 0;
  snprintf(url, sizeof url, "http://127.0.0.1:%u%s", cm_server_port(server), path);
  curl_easy_setopt(curl, CURLOPT_URL, url);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, drop);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &received);
  if (body != NULL)
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
  else
    curl_easy_setopt(curl, CURLOPT_HTTPGET, 1L);
  if (curl_easy_perform(curl) != CURLE_OK || curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status) != CURLE_OK ||
      status >= 300)
    die("a request failed");
}

static cm_status add_network(sqlite3 *handle, void *context, cm_error *e)
{
  (void)context;
  return cm_sql_run(handle, NULL, e,
                    "INSERT INTO networks(id, user, name, format, gzipped, directed, neurons, hyperedges, synapses, bytes,"
                    " plain_bytes, duplicates, self_loops, empty_nets, labels, created)"
                    " VALUES(?, '', '', 'edges', 0, 1, 3, 3, 3, 3, 3, 0, 0, 0, 0, 1)", "t", network);
}

/* Rows as POST /v1/jobs makes them, many in one transaction. */
typedef struct filling {
  uint64_t jobs, users;
} filling;

static cm_status fill(sqlite3 *handle, void *context, cm_error *e)
{
  const filling *f = context;
  for (uint64_t i = 0; i < f->jobs; i++) {
    char id[CM_ID_MAX], user[CM_USER_MAX];
    cm_store_id(id);
    snprintf(user, sizeof user, "user%llu", (unsigned long long)(i % f->users));
    if (cm_sql_run(handle, NULL, e,
                   "INSERT INTO jobs(id, user, kind, name, network, chip, options, reserve, ttl, priority, state, attempt,"
                   " kills, moved, cancel_requested, reused, created)"
                   " VALUES(?, ?, 'map', '', ?, 'loihi1', '{}', 0, 3600, ?, 'queued', 0, 0, 0, 0, 0, ?)", "tttid", id, user,
                   network, (int64_t)(i % 3) - 1, cm_store_time()) != CM_OK)
      return e->status;
  }
  return CM_OK;
}

static cm_status empty(sqlite3 *handle, void *context, cm_error *e)
{
  (void)context;
  return cm_sql_run(handle, NULL, e, "DELETE FROM jobs", "");
}

/* ---- what is measured ---- */

static void post(void)
{
  char body[256];
  snprintf(body, sizeof body, "{\"network\": \"%s\", \"chip\": \"loihi1\", \"priority\": 0}", network);
  request("/v1/jobs", body);
}

static char one[CM_ID_MAX];

static void get(void)
{
  char path[128];
  snprintf(path, sizeof path, "/v1/jobs/%s", one);
  request(path, NULL);
}

static void list_50(void)
{
  request("/v1/jobs?limit=50", NULL);
}

static void list_1000(void)
{
  request("/v1/jobs?state=queued&limit=1000", NULL);
}

static void claim(void)
{
  cm_job job;
  bool found;
  must(cm_jobs_claim(store, CM_CLAIM_ANY, &job, &found, &error));
  if (!found)
    die("nothing to claim");
  cm_job_clear(&job);
}

static const struct question {
  const char *name;
  void (*ask)(void);
  uint64_t needs; /* jobs queued for the short measurement */
} questions[] = {
  {"POST one job", post, 0}, {"GET one job", get, 1}, {"list of 50", list_50, 50}, {"list of 1000", list_1000, 1000},
  {"claim", claim, 1},
};
enum { QUESTIONS = sizeof questions / sizeof *questions, ROUNDS_MAX = 1001 };

/* What a long queue may cost of a short one. */
static const double ratio_most = 2;

typedef struct timing {
  double wall, processor; /* milliseconds */
} timing;

static int by_value(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double processor_time(void)
{
  return (double)clock() / CLOCKS_PER_SEC * 1000;
}

static timing measure(void (*ask)(void), uint64_t rounds)
{
  static double wall[ROUNDS_MAX], processor[ROUNDS_MAX];
  ask(); /* once for caches */
  for (uint64_t i = 0; i < rounds; i++) {
    double started = cm_now(), used = processor_time();
    ask();
    wall[i] = (cm_now() - started) * 1000;
    processor[i] = processor_time() - used;
  }
  qsort(wall, rounds, sizeof *wall, by_value);
  qsort(processor, rounds, sizeof *processor, by_value);
  return (timing){wall[rounds / 2], processor[rounds / 2]};
}

/* The oldest job, of the lowest priority: the farthest from the front. */
static void choose_one(void)
{
  cm_job *jobs;
  cm_list_page page;
  const cm_list_condition queued = {.field = cm_field_of(CM_LIST_JOBS, "state"), .text = "queued"};
  must(cm_jobs_list(store, &(cm_list_query){.list = CM_LIST_JOBS, .conditions = {queued}, .count = 1, .limit = 1}, &page, &jobs, &error));
  if (page.count > 0)
    snprintf(one, sizeof one, "%s", jobs[0].id);
  for (size_t i = 0; i < page.count; i++)
    cm_job_clear(&jobs[i]);
  free(jobs);
  cm_list_page_clear(&page);
}

static void fill_to(uint64_t jobs, uint64_t users)
{
  filling f = {jobs, users};
  must(cm_database_write(store->database, empty, NULL, &error));
  must(cm_database_write(store->database, fill, &f, &error));
  choose_one();
}

int main(int count, char **words)
{
  static const struct option options[] = {{"jobs", 1, NULL, 'j'}, {"users", 1, NULL, 'u'}, {"rounds", 1, NULL, 'r'},
                                          {"folder", 1, NULL, 'f'}, {"json", 0, NULL, 'J'}, {"help", 0, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
  uint64_t jobs = 100000, users = 20, rounds = 21;
  const char *base = getenv("TMPDIR");
  bool json = false;
  for (int c; (c = getopt_long(count, words, "", options, NULL)) != -1;)
    switch (c) {
    case 'j': jobs = strtoull(optarg, NULL, 10); break;
    case 'u': users = strtoull(optarg, NULL, 10); break;
    case 'r': rounds = strtoull(optarg, NULL, 10); break;
    case 'f': base = optarg; break;
    case 'J': json = true; break;
    case 'h': fputs(usage, stdout); return 0;
    default: fputs(usage, stderr); return 2;
    }
  if (jobs < 2000 || users < 1 || rounds < 1 || rounds >= ROUNDS_MAX) {
    fputs("bench/queue: --jobs from 2000, --users from 1, --rounds from 1 to 1000\n", stderr);
    return 2;
  }
  char folder[CM_PATH_MAX];
  snprintf(folder, sizeof folder, "%s/coremap-queue-XXXXXX", base != NULL ? base : "/tmp");
  if (mkdtemp(folder) == NULL)
    die("cannot make a data folder; see --folder");
  memset(network, 'a', CM_SHA_MAX - 1);
  must(cm_store_open(folder, 1 << 20, &store, &error));
  must(cm_database_write(store->database, add_network, NULL, &error));
  cm_server_options o = {.listen = "127.0.0.1:0", .store = store, .www = folder, .workers = 2,
                         .on_queued = nothing_to_wake,
                         .limits = {.upload_bytes_max = 1 << 20, .connections = 16, .connections_per_address = 16,
                                    .head_seconds = 30, .idle_seconds = 60, .stall_seconds = 60, .rate_min = 1}};
  must(cm_server_start(&o, &server, &error));
  curl = curl_easy_init();
  if (curl == NULL)
    die("libcurl cannot be started");
  timing few[QUESTIONS], many[QUESTIONS];
  for (size_t i = 0; i < QUESTIONS; i++) {
    /* What asking takes away or adds stays small beside the queue. */
    fill_to(questions[i].ask == claim ? rounds + 1 : questions[i].needs, users);
    few[i] = measure(questions[i].ask, rounds);
  }
  fill_to(jobs, users);
  for (size_t i = 0; i < QUESTIONS; i++)
    many[i] = measure(questions[i].ask, rounds);
  if (!json)
    printf("%-14s %14s %14s %7s %14s %14s %7s\n", "", "short ms", "long ms", "ratio", "short cpu ms", "long cpu ms",
           "ratio");
  size_t within = 0;
  for (size_t i = 0; i < QUESTIONS; i++) {
    within += many[i].processor <= ratio_most * few[i].processor;
    printf(json ? "{\"question\": \"%s\", \"short_ms\": %.3f, \"long_ms\": %.3f, \"ratio\": %.2f, \"short_cpu_ms\": %.3f,"
                  " \"long_cpu_ms\": %.3f, \"cpu_ratio\": %.2f}\n"
                : "%-14s %14.3f %14.3f %7.2f %14.3f %14.3f %7.2f\n", questions[i].name, few[i].wall, many[i].wall,
           many[i].wall / few[i].wall, few[i].processor, many[i].processor, many[i].processor / few[i].processor);
  }
  if (!json)
    printf("%zu of %d within %g times, by processor time\n", within, QUESTIONS, ratio_most);
  curl_easy_cleanup(curl);
  cm_server_stop(server);
  cm_store_close(store);
  must(cm_folder_remove(folder, &error));
  return 0;
}
