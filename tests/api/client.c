#include "tests/api/client.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <curl/curl.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/random.h"
#include "base/run.h"

/* ---- the daemon ---- */

void test_daemon_start(test_daemon *daemon, const char *data, const char *const *arguments)
{
  test_daemon_start_limited(daemon, data, arguments, NULL);
}

void test_daemon_start_limited(test_daemon *daemon, const char *data, const char *const *arguments,
                               const struct rlimit *files)
{
  char program[CM_PATH_MAX], www[CM_PATH_MAX];
  const char *build = getenv("CM_BUILD"), *source = getenv("CM_SOURCE");
  const char *words[24] = {program, "--data", data, "--www", www, NULL};
  int output[2], count = 5;
  if (arguments == NULL || *arguments == NULL || strcmp(*arguments, "--listen") != 0) {
    words[count++] = "--listen";
    words[count++] = "127.0.0.1:0";
  }
  snprintf(program, sizeof program, "%s/coremapd", build != NULL ? build : "build/check");
  snprintf(www, sizeof www, "%s/www", source != NULL ? source : ".");
  for (; arguments != NULL && *arguments != NULL; arguments++)
    words[count++] = *arguments;
  const char *executor = getenv("CM_TEST_EXECUTOR"); /* the same tests under another executor */
  if (executor != NULL) {
    words[count++] = "--executor";
    words[count++] = executor;
  }
  words[count] = NULL;
  ck_assert_int_eq(pipe(output), 0);
  daemon->pid = fork();
  ck_assert_int_ge(daemon->pid, 0);
  if (daemon->pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (files != NULL)
      setrlimit(RLIMIT_NOFILE, files);
    dup2(output[1], STDOUT_FILENO);
    close(output[0]);
    close(output[1]);
    execv(program, (char *const *)(uintptr_t)words);
    _exit(127);
  }
  close(output[1]);
  char line[128] = "";
  size_t used = 0;
  while (used + 1 < sizeof line && memchr(line, '\n', used) == NULL) {
    ssize_t got = read(output[0], line + used, sizeof line - 1 - used);
    ck_assert_msg(got > 0, "%s did not say where it listens", program);
    used += (size_t)got;
    line[used] = '\0';
  }
  close(output[0]);
  ck_assert_int_eq(sscanf(line, "listening on %63s", daemon->url), 1);
  daemon->port = (int)strtol(strrchr(daemon->url, ':') + 1, NULL, 10);
}

int test_daemon_stop(test_daemon *daemon, int signal)
{
  int status;
  kill(daemon->pid, signal);
  ck_assert_int_eq(waitpid(daemon->pid, &status, 0), daemon->pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- requests ---- */

typedef struct buffer {
  char *bytes;
  size_t size;
} buffer;

static size_t append(const void *bytes, size_t size, size_t count, void *user)
{
  buffer *b = user;
  b->bytes = realloc(b->bytes, b->size + size * count + 1);
  ck_assert_ptr_nonnull(b->bytes);
  memcpy(b->bytes + b->size, bytes, size * count);
  b->size += size * count;
  b->bytes[b->size] = '\0';
  return size * count;
}

static size_t append_header(char *bytes, size_t size, size_t count, void *user)
{
  for (char *p = bytes; p < bytes + size * count && *p != ':'; p++)
    *p = (char)tolower((unsigned char)*p);
  return append(bytes, size, count, user);
}

void test_reply_clear(test_reply *reply)
{
  free(reply->headers);
  free(reply->body);
  json_decref(reply->json);
  *reply = (test_reply){0};
}

const char *test_header(const test_reply *reply, const char *name)
{
  static _Thread_local char value[512];
  char key[64];
  snprintf(key, sizeof key, "\n%s: ", name);
  const char *found = strstr(reply->headers, key);
  if (found == NULL)
    return "";
  found += strlen(key);
  snprintf(value, sizeof value, "%.*s", (int)strcspn(found, "\r\n"), found);
  return value;
}

typedef struct source {
  const char *bytes;
  size_t left;
} source;

static size_t give(char *room, size_t size, size_t count, void *user)
{
  source *s = user;
  size_t n = size * count < s->left ? size * count : s->left;
  memcpy(room, s->bytes, n);
  s->bytes += n;
  s->left -= n;
  return n;
}

test_reply test_request(const test_daemon *daemon, const char *method, const char *path, const char *const *headers,
                        const void *body, size_t size)
{
  test_reply reply = {0};
  buffer head = {0}, content = {0};
  source input = {body, size};
  char url[4096];
  struct curl_slist *list = NULL;
  CURL *curl = curl_easy_init();
  ck_assert_ptr_nonnull(curl);
  snprintf(url, sizeof url, "%s%s", daemon->url, path);
  append("\n", 1, 1, &head);
  for (; headers != NULL && *headers != NULL; headers++)
    list = curl_slist_append(list, *headers);
  curl_easy_setopt(curl, CURLOPT_URL, url);
  curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT, 120L);
  if (body != NULL) {
    curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(curl, CURLOPT_READFUNCTION, give);
    curl_easy_setopt(curl, CURLOPT_READDATA, &input);
    curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)size);
  } else if (strcmp(method, "HEAD") == 0)
    curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, append);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &content);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, append_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &head);
  if (curl_easy_perform(curl) == CURLE_OK)
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &reply.status);
  curl_slist_free_all(list);
  curl_easy_cleanup(curl);
  if (content.bytes == NULL)
    append("", 1, 0, &content);
  reply.headers = head.bytes;
  reply.body = content.bytes;
  reply.size = content.size;
  if (strstr(test_header(&reply, "content-type"), "json") != NULL)
    reply.json = json_loadb(reply.body, reply.size, 0, NULL);
  return reply;
}

test_reply test_get(const test_daemon *daemon, const char *path)
{
  return test_request(daemon, "GET", path, NULL, NULL, 0);
}

test_reply test_send(const test_daemon *daemon, const char *method, const char *path, const char *text)
{
  return test_request(daemon, method, path, NULL, text, text != NULL ? strlen(text) : 0);
}

void test_expect(test_reply reply, long status)
{
  ck_assert_msg(reply.status == status, "status %ld instead of %ld: %s", reply.status, status, reply.body);
  test_reply_clear(&reply);
}

test_reply test_problem(test_reply reply, long status, const char *code)
{
  ck_assert_msg(reply.status == status, "status %ld instead of %ld: %s", reply.status, status, reply.body);
  ck_assert_str_eq(test_header(&reply, "content-type"), "application/problem+json");
  ck_assert_msg(strcmp(test_word(reply.json, "code"), code) == 0, "code is not %s: %s", code, reply.body);
  ck_assert_int_eq(json_integer_value(json_object_get(reply.json, "status")), status);
  ck_assert_str_ne(test_word(reply.json, "detail"), "");
  ck_assert_str_ne(test_word(reply.json, "title"), "");
  ck_assert_str_ne(test_word(reply.json, "type"), "");
  return reply;
}

char *test_raw(const test_daemon *daemon, const char *bytes, double seconds)
{
  buffer answer = {0};
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)daemon->port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ck_assert_int_eq(connect(connection, (struct sockaddr *)&address, sizeof address), 0);
  (void)send(connection, bytes, strlen(bytes), MSG_NOSIGNAL);
  double until = cm_now() + seconds;
  char block[4096];
  for (;;) {
    struct pollfd ready = {connection, POLLIN, 0};
    double left = until - cm_now();
    if (left <= 0 || poll(&ready, 1, (int)(left * 1000) + 1) <= 0)
      break;
    ssize_t got = read(connection, block, sizeof block);
    if (got <= 0)
      break;
    append(block, 1, (size_t)got, &answer);
  }
  close(connection);
  if (answer.bytes == NULL)
    append("", 1, 0, &answer);
  return answer.bytes;
}

/* ---- networks and jobs ---- */

const char *test_word(const json_t *object, const char *name)
{
  const char *word = json_string_value(json_object_get(object, name));
  return word != NULL ? word : "";
}

int test_command(const char *data, const char *log, const char *words, char *line, size_t size)
{
  char whole[4 * CM_PATH_MAX], text[512] = "";
  const char *build = getenv("CM_BUILD");
  snprintf(whole, sizeof whole, "'%s/coremapd' %s --data '%s' 2>>'%s'", build != NULL ? build : "build/check", words, data, log);
  FILE *out = popen(whole, "r");
  ck_assert_ptr_nonnull(out);
  if (fgets(text, sizeof text, out) != NULL)
    text[strcspn(text, "\n")] = '\0';
  while (fgetc(out) != EOF)
    ;
  int status = pclose(out);
  if (line != NULL)
    snprintf(line, size, "%s", text);
  return WEXITSTATUS(status);
}

void test_upload(const test_daemon *daemon, const void *bytes, size_t size, char *id)
{
  test_reply reply = test_request(daemon, "POST", "/v1/networks", NULL, bytes, size);
  ck_assert_msg(reply.status == 201 || reply.status == 200, "upload: %ld %s", reply.status, reply.body);
  snprintf(id, 65, "%s", test_word(reply.json, "id"));
  test_reply_clear(&reply);
}

void test_upload_file(const test_daemon *daemon, const char *name, char *id)
{
  cm_error error;
  char *bytes;
  size_t size;
  ck_ok(cm_file_read(test_data(name), 1 << 24, &bytes, &size, &error));
  test_upload(daemon, bytes, size, id);
  free(bytes);
}

void test_upload_large(const test_daemon *daemon, uint32_t vertices, uint32_t edges, uint64_t seed, char *id)
{
  char *text;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  cm_random random;
  cm_random_init(&random, seed, 0, 0);
  fprintf(stream, "source,target,weight\n");
  for (uint32_t i = 0; i < edges; i++) {
    uint32_t from = i < vertices ? i : (uint32_t)cm_random_below(&random, vertices);
    uint32_t to = (uint32_t)cm_random_below(&random, vertices);
    fprintf(stream, "%u,%u,%u\n", from, to, (unsigned)cm_random_below(&random, 9) + 1);
  }
  fclose(stream);
  test_upload(daemon, text, size, id);
  free(text);
}

void test_job(const test_daemon *daemon, char *id, const char *format, ...)
{
  char body[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(body, sizeof body, format, arguments);
  va_end(arguments);
  test_reply reply = test_send(daemon, "POST", "/v1/jobs", body);
  ck_assert_msg(reply.status == 202, "job: %ld %s", reply.status, reply.body);
  snprintf(id, 33, "%s", test_word(reply.json, "id"));
  test_reply_clear(&reply);
}

json_t *test_wait(const test_daemon *daemon, const char *id)
{
  char path[128];
  snprintf(path, sizeof path, "/v1/jobs/%s?wait=20s", id);
  for (int i = 0; i < 20; i++) {
    test_reply reply = test_get(daemon, path);
    ck_assert_msg(reply.status == 200, "wait: %ld %s", reply.status, reply.body);
    const char *state = test_word(reply.json, "state");
    if (strcmp(state, "queued") != 0 && strcmp(state, "running") != 0) {
      json_t *job = json_incref(reply.json);
      test_reply_clear(&reply);
      return job;
    }
    test_reply_clear(&reply);
  }
  ck_abort_msg("job %s did not end", id);
  return NULL;
}

void test_wait_state(const test_daemon *daemon, const char *id, const char *state)
{
  char path[128];
  snprintf(path, sizeof path, "/v1/jobs/%s", id);
  for (int i = 0; i < 60000; i++) { /* minutes, for a busy machine */
    test_reply reply = test_get(daemon, path);
    bool there = strcmp(test_word(reply.json, "state"), state) == 0;
    test_reply_clear(&reply);
    if (there)
      return;
    usleep(5000);
  }
  ck_abort_msg("job %s did not become %s", id, state);
}
