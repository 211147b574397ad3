/* A live daemon and a small HTTP client, for tests. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "tests/unit/unit.h"

typedef struct test_daemon {
  pid_t pid;
  char url[64];
  int port;
} test_daemon;

/* Starts $CM_BUILD/coremapd on a data folder and a free port, with more arguments (NULL-terminated, may be NULL); waits
 * for "listening on". The daemon dies with the test. */
void test_daemon_start(test_daemon *daemon, const char *data, const char *const *arguments);

/* The same with a limit of open files. */
void test_daemon_start_limited(test_daemon *daemon, const char *data, const char *const *arguments,
                               const struct rlimit *files);

/* Sends a signal and waits for the end; the exit status, or 128 + the signal that ended it. */
int test_daemon_stop(test_daemon *daemon, int signal);

typedef struct test_reply {
  long status;      /* 0: no reply */
  char *headers;    /* lower-case names, one per line */
  char *body;       /* NUL-terminated */
  size_t size;
  json_t *json;     /* of a JSON body, else NULL */
} test_reply;

void test_reply_clear(test_reply *reply);

/* The value of a reply's header ("" when it has none); static buffer. */
const char *test_header(const test_reply *reply, const char *name);

/* One request. `path` begins with '/'; `headers` are "Name: value" lines, NULL-terminated (may be NULL). */
test_reply test_request(const test_daemon *daemon, const char *method, const char *path, const char *const *headers,
                        const void *body, size_t size);

/* Shorter forms; the caller clears what they return. */
test_reply test_get(const test_daemon *daemon, const char *path);
test_reply test_send(const test_daemon *daemon, const char *method, const char *path, const char *text);

/* Asserts the status and shows the body otherwise; clears the reply. */
void test_expect(test_reply reply, long status);
/* Asserts status and problem code, returns the reply. */
test_reply test_problem(test_reply reply, long status, const char *code);

/* Sends raw bytes on a connection of its own and returns what came back until the server closed or `seconds` passed. */
char *test_raw(const test_daemon *daemon, const char *bytes, double seconds);

/* Runs $CM_BUILD/coremapd with these words on a data folder; its exit status, and the first line that it prints (NULL: not wanted). What
 * it says of itself is added to `log`. */
int test_command(const char *data, const char *log, const char *words, char *line, size_t size);

/* Uploads bytes as a network; fills id (65 bytes). */
void test_upload(const test_daemon *daemon, const void *bytes, size_t size, char *id);
/* Uploads a file of tests/data. */
void test_upload_file(const test_daemon *daemon, const char *name, char *id);
/* Uploads a random graph that takes a job a while; fills id. */
void test_upload_large(const test_daemon *daemon, uint32_t vertices, uint32_t edges, uint64_t seed, char *id);

/* Queues a job (format of a JSON body); fills id (33 bytes). */
void test_job(const test_daemon *daemon, char *id, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Waits until a job has ended; its JSON (owned by the caller). */
json_t *test_wait(const test_daemon *daemon, const char *id);
/* Waits until a job is in this state. */
void test_wait_state(const test_daemon *daemon, const char *id, const char *state);

/* A member's text ("" when absent). */
const char *test_word(const json_t *object, const char *name);
