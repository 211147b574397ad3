/* Requests to a live server: the first byte chooses an operation, whose body the rest is, or (0) says that the rest is the
 * request itself. No reply is 5xx but for a reason that is the server's own, and a refusal says what is wrong. */
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "api/server.h"
#include "daemon/import.h"
#include "daemon/workers.h"
#include "old.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int __lsan_is_turned_off(void);

/* The server's threads may still be at what a client left; tests/hostile/run looks for leaks when all have ended. */
int __lsan_is_turned_off(void)
{
  return 1;
}

enum { ID_MAX = 80, REPLY_MAX = 1 << 20, ACCEPTED_MAX = 500 };

static const struct {
  const char *method, *before, *after; /* the id of `what` between them */
  enum { NOTHING, NETWORK, MAPPING, LEASE, UPLOAD } what;
  const char *header;
} operations[] = {
  {"POST", "/v1/networks", "", NOTHING, ""},
  {"POST", "/v1/uploads", "", NOTHING, ""},
  {"PATCH", "/v1/uploads/", "", UPLOAD, "Upload-Offset: 0\r\nContent-Type: application/offset+octet-stream\r\n"},
  {"PUT", "/v1/chips/toy", "", NOTHING, ""},
  {"PUT", "/v1/chips/other", "", NOTHING, ""},
  {"PUT", "/v1/chips/toy/occupancy", "", NOTHING, "If-Match: *\r\n"},
  {"PATCH", "/v1/chips/toy/occupancy", "", NOTHING, ""},
  {"POST", "/v1/chips/toy/reservations", "", NOTHING, ""},
  {"PUT", "/v1/chips/toy/reservations/", "", LEASE, ""},
  {"POST", "/v1/jobs", "", NOTHING, ""},
  {"POST", "/v1/mappings/", "/commit", MAPPING, ""},
  {"POST", "/v1/users", "", NOTHING, ""},
  {"PATCH", "/v1/users/somebody", "", NOTHING, ""},
  {"POST", "/v1/tokens", "", NOTHING, ""},
  {"GET", "/v1/chips/toy/reservations/", "", LEASE, ""},
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

static char folder[64], id[5][ID_MAX], reply[REPLY_MAX];
static cm_store *store;
static cm_server *server;
static cm_workers *workers;
static unsigned accepted; /* requests that left something behind */

static void demand(bool holds, const char *what)
{
  if (!holds) {
    fprintf(stderr, "%s: %.2000s\n", what, reply);
    abort();
  }
}

static void wake(void *user)
{
  (void)user;
  if (workers != NULL)
    cm_workers_wake(workers);
}

static cm_status import(void *user, const cm_network_source *source, cm_network *network, cm_error *error)
{
  (void)user;
  cm_network_source bounded = *source;
  bounded.memory_limit = 256 << 20;
  return cm_import_upload_file(store, &(cm_import_options){.executor = &cm_executor_threads, .threads = 1}, &bounded, network, error);
}

/* Sends bytes on a connection of their own and reads what comes until its end; the status, 0: nothing came. For what is no
 * whole request nothing may come for long. */
static int ask(const void *bytes, size_t size, bool whole)
{
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(cm_server_port(server))};
  struct timeval patience = {.tv_sec = whole ? 8 : 0, .tv_usec = whole ? 0 : 50000};
  const char *at = bytes;
  size_t got = 0;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  reply[0] = '\0';
  demand(made >= 0 && connect(made, (struct sockaddr *)&to, sizeof to) == 0, "no connection");
  (void)setsockopt(made, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  for (ssize_t sent = 0; size > 0 && (sent = send(made, at, size, MSG_NOSIGNAL)) > 0; size -= (size_t)sent)
    at += sent;
  if (!whole) /* else the server closes; a client that closes first wants no answer */
    (void)shutdown(made, SHUT_WR);
  for (ssize_t read = 1; got < REPLY_MAX - 1 && read != 0;) {
    read = recv(made, reply + got, REPLY_MAX - 1 - got, 0);
    if (read < 0 && errno == EINTR) /* the fuzzer's alarm */
      continue;
    demand(read >= 0 || errno == ECONNRESET || !whole, "no answer");
    if (read < 0)
      break;
    got += (size_t)read;
  }
  (void)close(made);
  reply[got] = '\0';
  return got < 12 ? 0 : (int)strtol(reply + 9, NULL, 10);
}

static int request(const char *method, const char *path, const char *header, const void *body, size_t size)
{
  char *text = malloc(size + 1024);
  demand(text != NULL, "no memory");
  int head = snprintf(text, 1024, "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%sContent-Length: %zu\r\n\r\n",
                      method, path, header, size);
  memcpy(text + head, body, size);
  int status = ask(text, (size_t)head + size, true);
  free(text);
  return status;
}

/* The text of a member of the last reply. */
static void note(const char *member, char *value)
{
  const char *at = strstr(reply, member);
  demand(at != NULL && sscanf(at + strlen(member), "%*[\": ]%79[^\"]", value) == 1, member);
}

static void must(const char *method, const char *path, const char *body, const char *member, char *value)
{
  demand(request(method, path, "", body, strlen(body)) / 100 == 2, path);
  if (member != NULL)
    note(member, value);
}

static void close_server(void)
{
  cm_error ignored;
  cm_server_stop(server);
  cm_store_close(store);
  (void)cm_folder_remove(folder, &ignored);
  server = NULL;
  store = NULL;
}

/* On a file system that syncs at once: a server with one of each thing that a body may be about. Once the job has made its mapping, jobs stay in the queue. */
static void open_server(void)
{
  cm_error error;
  char job[200], job_id[ID_MAX], path[ID_MAX + 40];
  snprintf(folder, sizeof folder, "/dev/shm/cm-fuzz-http-XXXXXX");
  demand(mkdtemp(folder) != NULL && cm_store_open(folder, 1 << 20, &store, &error) == CM_OK, "no data folder");
  cm_workers_options hands = {.store = store, .workers = 1, .threads = 1, .executor = cm_executor_find("threads")};
  cm_server_options options = {.listen = "127.0.0.1:0", .store = store, .www = folder, .workers = 1, .on_queued = wake,
                               .import = import,
                               .limits = {.upload_bytes_max = 1 << 20, .connections = 64, .connections_per_address = 64,
                                          .head_seconds = 2, .idle_seconds = 2, .stall_seconds = 2, .rate_min = 1}};
  demand(cm_workers_start(&hands, &workers, &error) == CM_OK && cm_server_start(&options, &server, &error) == CM_OK, "no server");
  must("PUT", "/v1/chips/toy", "{\"name\": \"toy\", \"dies\": [1, 1], \"cores\": [8, 8]}", NULL, NULL);
  must("POST", "/v1/networks", "a,b,1\nb,c,2\nc,a,3\n", "\"id\"", id[NETWORK]);
  snprintf(job, sizeof job, "{\"network\": \"%s\", \"chip\": \"toy\", \"options\": {\"max_part_size\": 1}}", id[NETWORK]);
  must("POST", "/v1/jobs", job, "\"id\"", job_id);
  snprintf(path, sizeof path, "/v1/jobs/%s?wait=5s", job_id);
  for (int i = 0; i < 20 && strstr(reply, "\"done\"") == NULL; i++)
    must("GET", path, "", NULL, NULL);
  note("\"mapping\"", id[MAPPING]);
  cm_workers_free(workers);
  workers = NULL;
  must("POST", "/v1/chips/toy/reservations", "{\"count\": 1, \"ttl\": 600}", "\"id\"", id[LEASE]);
  must("POST", "/v1/uploads", "{\"name\": \"u\", \"size\": 4000}", "\"id\"", id[UPLOAD]);
  accepted = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static bool registered;
  char path[ID_MAX + 40];
  if (size == 0)
    return 0;
  if (!registered) {
    open_server();
    registered = atexit(close_server) == 0; /* after the libraries' own, which then run later */
  }
  unsigned chosen = data[0] == 0 ? 0 : 1 + (data[0] - 1u) % OPERATIONS;
  int status;
  if (chosen == 0) {
    /* What waits for a job to change does so rightly. */
    if (memmem(data, size, "wait", 4) != NULL || memmem(data, size, "events", 6) != NULL)
      return 0;
    status = ask(data + 1, size - 1, false);
    demand(status < 500 || (status >= 501 && status <= 507 && status != 502 && status != 504), "a fault of the server");
  } else {
    snprintf(path, sizeof path, "%s%s%s", operations[chosen - 1].before, id[operations[chosen - 1].what],
             operations[chosen - 1].after);
    status = request(operations[chosen - 1].method, path, operations[chosen - 1].header, data + 1, size - 1);
    demand(status >= 200 && (status < 500 || status == 503 || status == 507), "not a reply that there may be");
    demand(status < 400 || (strstr(reply, "application/problem+json") != NULL && strstr(reply, "\"detail\"") != NULL),
           "a refusal that says nothing");
  }
  accepted += status / 100 == 2;
  if (accepted >= ACCEPTED_MAX) {
    close_server();
    open_server();
  }
  return 0;
}
