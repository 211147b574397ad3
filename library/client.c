/* Requests to one server, over libcurl, which HDF5 brings along anyway. */
#include "library/private/client.h"

#include <curl/curl.h>
#include <errno.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/foreign.h"
#include "base/json.h"
#include "base/number.h"
#include "base/text.h"
#include "library/internal.h"
#include "library/private/tokens.h"

enum { JSON_BYTES_MAX = 8 << 20, JSON_MEMORY_MAX = 32 << 20, HEADER_BYTES_MAX = 256 << 10, CONNECT_SECONDS = 10, WAIT_SECONDS = 30 };
enum { TIMEOUT_NORMAL = 300, TIMEOUT_MAX = 86400, SPEED_MIN = 1024, ADDRESS_MAX = 1024 };

struct coremap_client {
  CURL *curl;
  char url[LIBRARY_URL_MAX];     /* without a slash at its end */
  char token[LIBRARY_TOKEN_MAX]; /* "": none */
  const atomic_bool *cancel;     /* NULL: nobody stops it but a run */
  uint64_t timeout, file_bytes;  /* seconds; at most of a download */
};

struct coremap_reply {
  library_reply told;
  char *text;
};

/* A limit that the environment may state; `parse` reads it. */
static cm_status read_limit(const char *name, bool (*parse)(const char *, uint64_t *), uint64_t most, uint64_t *limit, cm_error *error)
{
  uint64_t given;
  const char *text = getenv(name);
  if (text == NULL || text[0] == '\0')
    return CM_OK;
  if (!parse(text, &given) || given == 0 || given > most)
    return cm_fail(error, CM_BAD_REQUEST, "$%s is \"%.40s\"; it must be a number from 1 to %llu", name, text, (unsigned long long)most);
  *limit = given;
  return CM_OK;
}

/* The token that is given, or NULL: that which is kept for the address. */
static cm_status settle_token(coremap_client *client, const char *token, cm_error *error)
{
  if (token == NULL)
    return library_token_find(client->url, client->token, error);
  if (token[0] == '\0')
    return CM_OK;
  if (strlen(token) >= LIBRARY_TOKEN_MAX || strcspn(token, "\r\n") != strlen(token))
    return cm_fail(error, CM_BAD_REQUEST, "a token is one line of at most %d bytes", LIBRARY_TOKEN_MAX - 1);
  library_client_use(client, token);
  return library_token_safe(client->url, error);
}

static cm_status settle(coremap_client *client, const char *url, const char *token, cm_error *error)
{
  char shown[LIBRARY_URL_MAX];
  if (strncasecmp(url, "http://", 7) != 0 && strncasecmp(url, "https://", 8) != 0)
    return cm_fail(error, CM_BAD_REQUEST, "\"%s\" is no server's address, like http://127.0.0.1:8080",
                   cm_foreign_copy(url, CM_FOREIGN_LINE, shown, sizeof shown));
  if (snprintf(client->url, sizeof client->url, "%s", url) >= LIBRARY_URL_MAX)
    return cm_fail(error, CM_BAD_REQUEST, "the address %.60s... is too long", url);
  for (size_t length = strlen(client->url); client->url[length - 1] == '/'; length--)
    client->url[length - 1] = '\0';
  client->timeout = TIMEOUT_NORMAL;
  client->file_bytes = UINT64_C(64) << 30;
  CM_TRY(read_limit("COREMAP_TIMEOUT", cm_whole_parse, TIMEOUT_MAX, &client->timeout, error));
  CM_TRY(read_limit("COREMAP_DOWNLOAD_LIMIT", cm_bytes_parse, INT64_MAX, &client->file_bytes, error));
  return settle_token(client, token, error);
}

cm_status library_client_open(const char *url, const char *token, const atomic_bool *cancel, coremap_client **made, cm_error *error)
{
  coremap_client *client = calloc(1, sizeof *client);
  CM_TRY_OR(cm_whole(client != NULL && (client->curl = curl_easy_init()) != NULL, "a client", error), free(client));
  client->cancel = cancel;
  CM_END(settle(client, url, token, error), *made = client, coremap_client_free(client));
}

void coremap_client_free(coremap_client *client)
{
  if (client == NULL)
    return;
  curl_easy_cleanup(client->curl);
  (void)memset(client->token, 0, sizeof client->token);
  free(client);
}

const char *library_client_url(const coremap_client *client)
{
  return client->url;
}

void library_client_use(coremap_client *client, const char *token)
{
  (void)snprintf(client->token, sizeof client->token, "%s", token);
}

char *library_client_segment(coremap_client *client, const char *text)
{
  char *escaped = curl_easy_escape(client->curl, text, 0), *copy = escaped != NULL ? strdup(escaped) : NULL;
  curl_free(escaped);
  return copy;
}

/* ---- one request ---- */

/* A request under way. */
typedef struct transfer {
  const coremap_client *client;
  const library_request *request;
  cm_text text; /* of a reply that is not downloaded */
  uint64_t header_bytes, body_bytes;
  double begun; /* when the first byte of a body came; 0: none did */
  cm_error *error;
  bool failed; /* `error` says why it was given up */
} transfer;

/* The failure ends the transfer: 0 bytes are fewer than there were. */
static size_t give_up(transfer *t, cm_status failure)
{
  t->failed = failure != CM_OK;
  return 0;
}

static long status_of(CURL *curl)
{
  long status = 0;
  (void)curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  return status;
}

static size_t on_header(CM_UNUSED char *bytes, CM_UNUSED size_t one, size_t count, void *user)
{
  transfer *t = user;
  t->header_bytes += count;
  if (t->header_bytes <= HEADER_BYTES_MAX)
    return count;
  return give_up(t, cm_fail(t->error, CM_TOO_LARGE, "%s sends more than %d bytes of headers", t->client->url, HEADER_BYTES_MAX));
}

static size_t on_bytes(char *bytes, CM_UNUSED size_t one, size_t count, void *user)
{
  transfer *t = user;
  const bool file = t->request->download != NULL && status_of(t->client->curl) < 300;
  const uint64_t most = file && !t->request->in_memory ? t->client->file_bytes : JSON_BYTES_MAX;
  t->body_bytes += count;
  t->begun = t->begun > 0 ? t->begun : cm_now();
  if (t->body_bytes > most)
    return give_up(t, cm_fail(t->error, CM_TOO_LARGE, "%s sends more than %llu bytes for %.200s%s", t->client->url, (unsigned long long)most,
                              t->request->path, file && !t->request->in_memory ? "; $COREMAP_DOWNLOAD_LIMIT allows more" : ""));
  if (fwrite(bytes, 1, count, file ? t->request->download : t->text.stream) == count)
    return count;
  return give_up(t, cm_fail(t->error, file ? CM_DISK_FULL : CM_NO_MEMORY, file ? "cannot write what %s sends" : "out of memory for %s", t->request->path));
}

static int on_progress(void *user, curl_off_t to_get, curl_off_t got, curl_off_t to_send, curl_off_t sent)
{
  transfer *t = user;
  const bool up = t->request->upload != NULL;
  const curl_off_t all = up ? to_send : to_get, done = up ? sent : got;
  if (t->client->cancel != NULL && atomic_load(t->client->cancel))
    (void)give_up(t, cm_fail(t->error, CM_CANCELLED, "interrupted"));
  else if (t->request->download == NULL && t->begun > 0 && cm_now() - t->begun > (double)t->client->timeout) /* JSON is short: who drips it wants to keep us */
    (void)give_up(t, cm_fail(t->error, CM_IO, "%s had not sent all of %.200s after %llu seconds", t->client->url, t->request->path,
                             (unsigned long long)t->client->timeout));
  else if (t->request->run != NULL)
    (void)give_up(t, cm_run_progress(t->request->run, all > 0 ? (double)done / (double)all : -1, -1, 0, 0, t->error));
  return t->failed;
}

/* A member that is a text, in words that are safe to show, else ""; whether there is one. */
static bool copy_word(const json_t *json, const char *name, char *word, size_t size)
{
  const char *text = json_string_value(json_object_get(json, name));
  (void)cm_foreign_copy(text != NULL ? text : "", CM_FOREIGN_LINE, word, size);
  return text != NULL;
}

/* The error that a problem reply tells of, in words that are safe to show. */
static cm_status problem(const coremap_client *client, const library_request *request, long status, const json_t *json, cm_error *error)
{
  char detail[CM_ERROR_DETAIL_MAX], id[80], where[sizeof error->where];
  const char *code = json_string_value(json_object_get(json, "code"));
  const bool said = copy_word(json, "detail", detail, sizeof detail), named = copy_word(json, "request", id, sizeof id);
  cm_status is = status == 404 ? CM_NOT_FOUND : status < 500 ? CM_BAD_REQUEST : CM_IO;
  for (cm_status s = CM_BAD_NETWORK; code != NULL && s <= CM_INTERNAL; s++)
    is = strcmp(cm_status_code(s), code) == 0 ? s : is;
  (void)copy_word(json, "where", where, sizeof where);
  if (status < 400)
    return cm_fail(error, CM_IO, "%s answers %s %s with status %ld: it points elsewhere, where nothing is sent; name the server's own address",
                   client->url, request->method, request->path, status);
  if (status == 401)
    return cm_fail(error, CM_CONFLICT, "%s wants a token: %s (coremap login)", client->url, detail);
  if (said && status >= 500 && named) /* whoever reads the server's log finds it by that */
    (void)cm_fail(error, is, "%s (request %s)", detail, id);
  else if (said)
    (void)cm_fail(error, is, "%s", detail);
  else
    (void)cm_fail(error, is, "%s answers %s %s with status %ld", client->url, request->method, request->path, status);
  return cm_fail_at(error, "%s", where);
}

static cm_status perform(transfer *t)
{
  char why[CURL_ERROR_SIZE] = "", shown[CURL_ERROR_SIZE];
  CURL *curl = t->client->curl;
  (void)curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, why);
  const CURLcode code = curl_easy_perform(curl);
  (void)curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, NULL);
  if (code == CURLE_OK || t->failed)
    return t->failed ? t->error->status : CM_OK;
  return cm_fail(t->error, CM_IO, "no answer from %s: %s", t->client->url,
                 cm_foreign_copy(why[0] != '\0' ? why : curl_easy_strerror(code), CM_FOREIGN_LINE, shown, sizeof shown));
}

#define SET(option, value) (void)curl_easy_setopt(t->client->curl, CURLOPT_##option, value)

/* Whom to talk to: the named server alone, whom the machine's authorities, or those that are named, vouch for. */
static void set_peer(transfer *t, const char *url)
{
  const char *trusted = getenv("SSL_CERT_FILE");
  cm_error ignored;
  SET(URL, url);
  SET(PROTOCOLS_STR, "http,https");
  SET(FOLLOWLOCATION, 0L);
  if (strncasecmp(url, "http:", 5) == 0 && library_token_safe(t->client->url, &ignored) == CM_OK)
    SET(PROXY, ""); /* what goes to this machine in the clear goes through no other */
  if (trusted != NULL && trusted[0] != '\0')
    SET(CAINFO, trusted);
}

static void set_limits(transfer *t)
{
  const bool waits = strstr(t->request->path, "wait=") != NULL;
  SET(CONNECTTIMEOUT, (long)CONNECT_SECONDS);
  SET(NOSIGNAL, 1L);
  SET(LOW_SPEED_LIMIT, (long)SPEED_MIN);
  SET(LOW_SPEED_TIME, (long)t->client->timeout + (waits ? WAIT_SECONDS : 0));
  SET(HEADERFUNCTION, on_header);
  SET(HEADERDATA, t);
  SET(WRITEFUNCTION, on_bytes);
  SET(WRITEDATA, t);
  SET(NOPROGRESS, 0L);
  SET(XFERINFOFUNCTION, on_progress);
  SET(XFERINFODATA, t);
}

static void set_body(transfer *t, const char *body)
{
  struct stat about;
  FILE *upload = t->request->upload;
  if (upload != NULL) {
    SET(UPLOAD, 1L);
    SET(READDATA, upload);
    if (fstat(fileno(upload), &about) == 0 && S_ISREG(about.st_mode))
      SET(INFILESIZE_LARGE, (curl_off_t)about.st_size);
  } else if (body != NULL)
    SET(POSTFIELDS, body);
  SET(CUSTOMREQUEST, t->request->method);
}

static struct curl_slist *add_header(struct curl_slist *headers, const char *name, const char *value)
{
  char line[LIBRARY_TOKEN_MAX + 40];
  if (value == NULL || value[0] == '\0')
    return headers;
  (void)snprintf(line, sizeof line, "%s: %s", name, value);
  return curl_slist_append(headers, line);
}

static struct curl_slist *make_headers(const coremap_client *client, const library_request *request)
{
  char bearer[LIBRARY_TOKEN_MAX + 8];
  struct curl_slist *headers = curl_slist_append(NULL, request->body != NULL ? "Content-Type: application/json" : "Content-Type:");
  (void)snprintf(bearer, sizeof bearer, client->token[0] != '\0' ? "Bearer %s" : "%s", client->token);
  headers = add_header(headers, "If-None-Match", request->known);
  headers = add_header(headers, "If-Match", request->match);
  headers = add_header(headers, "Upload-Offset", request->offset);
  return add_header(headers, "Authorization", bearer);
}

static cm_status send_and_read(transfer *t)
{
  char url[ADDRESS_MAX];
  const library_request *request = t->request;
  if (snprintf(url, sizeof url, "%s%s", t->client->url, request->path) >= (int)sizeof url)
    return cm_fail(t->error, CM_BAD_REQUEST, "the address %.100s... is too long", url);
  char *body = request->body != NULL ? cm_json_dumps(request->body, JSON_COMPACT) : NULL;
  CM_TRY(cm_whole(request->body == NULL || body != NULL, "a request", t->error));
  struct curl_slist *headers = make_headers(t->client, request);
  curl_easy_reset(t->client->curl);
  set_peer(t, url);
  set_limits(t);
  set_body(t, body);
  SET(HTTPHEADER, headers);
  const cm_status status = perform(t);
  SET(HTTPHEADER, NULL);
  curl_slist_free_all(headers);
  free(body);
  return status;
}

/* What a reply says; its JSON is an object, or there is none. */
static cm_status take(const transfer *t, const char *text, size_t size, library_reply *reply)
{
  struct curl_header *etag;
  const library_request *request = t->request;
  library_reply made = {.status = status_of(t->client->curl),
                        .json = size > 0 ? cm_json_loadb_within(text, size, 0, JSON_MEMORY_MAX, NULL) : NULL};
  const bool unchanged = made.status == 304 && request->known != NULL && request->known[0] != '\0';
  cm_status status = CM_OK;
  if (curl_easy_header(t->client->curl, "ETag", 0, CURLH_HEADER, -1, &etag) == CURLHE_OK)
    (void)snprintf(made.etag, sizeof made.etag, "%s", etag->value);
  if (made.status >= 300 && !unchanged)
    status = problem(t->client, request, made.status, made.json, t->error);
  else if (!json_is_object(made.json) && request->download == NULL && made.status != 204 && !unchanged)
    status = cm_fail(t->error, CM_IO, "%s%s is not answered in JSON: is that a coremapd server?", t->client->url, request->path);
  CM_END(status, *reply = made, json_decref(made.json));
}

cm_status library_client_ask(coremap_client *client, const library_request *request, library_reply *reply, cm_error *error)
{
  transfer t = {.client = client, .request = request, .error = error};
  size_t size = 0;
  CM_TRY(cm_whole(cm_text_open(&t.text), "a reply", error));
  cm_status status = send_and_read(&t);
  char *text = cm_text_close(&t.text, &size);
  CM_THEN(status, cm_whole(text != NULL, "a reply", error));
  CM_THEN(status, take(&t, text, size, reply));
  free(text);
  return status;
}

/* ---- for other programs ---- */

int coremap_client_open(const char *url, const char *token, coremap_client **client, coremap_error **error)
{
  cm_error e;
  return library_tell(library_client_open(url, token, NULL, client, &e), &e, error);
}

/* A request of which a JSON object tells, with the files that it names. */
typedef struct asked {
  library_request request;
  char file[CM_PATH_MAX], output[CM_PATH_MAX], known[CM_PATH_MAX], match[CM_PATH_MAX], offset[24];
  cm_file made;
} asked;

static cm_status read_offset(json_t *object, asked *a, cm_error *error)
{
  const json_t *offset = json_object_get(object, "offset");
  if (offset == NULL)
    return CM_OK;
  if (!json_is_integer(offset) || json_integer_value(offset) < 0)
    return cm_option_refuse(error, "offset", "a whole number of bytes");
  (void)snprintf(a->offset, sizeof a->offset, "%" JSON_INTEGER_FORMAT, json_integer_value(offset));
  (void)json_object_del(object, "offset");
  return CM_OK;
}

static cm_status read_asked(json_t *object, asked *a, cm_error *error)
{
  a->request.body = json_incref(json_object_get(object, "body"));
  (void)json_object_del(object, "body");
  if (library_take_text(object, "file", a->file, error) != CM_OK || library_take_text(object, "output", a->output, error) != CM_OK ||
      library_take_text(object, "known", a->known, error) != CM_OK || library_take_text(object, "match", a->match, error) != CM_OK ||
      read_offset(object, a, error) != CM_OK || library_nothing_left(object, "a request", error) != CM_OK)
    return error->status;
  if (a->file[0] != '\0' && (a->request.upload = fopen(a->file, "rbe")) == NULL)
    return cm_fail_errno(error, errno, "cannot open", a->file);
  a->request.known = a->known;
  a->request.match = a->match;
  a->request.offset = a->offset;
  if (a->output[0] == '\0')
    return CM_OK;
  cm_status status = cm_file_create(&a->made, a->output, error);
  a->request.download = a->made.stream;
  return status;
}

static cm_status ask(coremap_client *client, asked *a, const char *request, library_reply *reply, cm_error *error)
{
  json_t *object;
  CM_TRY(library_options(request, &object, error));
  cm_status status = read_asked(object, a, error);
  CM_THEN(status, library_client_ask(client, &a->request, reply, error));
  CM_THEN_IF(status, a->made.stream != NULL, cm_file_commit(&a->made, error));
  cm_file_discard(&a->made);
  if (a->request.upload != NULL)
    (void)fclose(a->request.upload);
  json_decref((json_t *)(uintptr_t)a->request.body);
  json_decref(object);
  return status;
}

int coremap_client_ask(coremap_client *client, const char *method, const char *path, const char *request, coremap_progress progress,
                       void *user, coremap_reply **reply, coremap_error **error)
{
  cm_error e;
  library_run r;
  coremap_reply *made = calloc(1, sizeof *made);
  asked *a = calloc(1, sizeof *a);
  cm_status status = cm_whole(made != NULL && a != NULL, "a request", &e);
  if (status == CM_OK) {
    library_begin(&r, progress, user);
    cm_run_phase(r.run, "request");
    a->request = (library_request){.method = method, .path = path, .run = r.run};
    status = ask(client, a, request, &made->told, &e);
    cm_run_finish(r.run);
  }
  CM_THEN_IF(status, made->told.json != NULL, cm_whole((made->text = cm_json_dumps(made->told.json, JSON_COMPACT)) != NULL, "a reply", &e));
  free(a);
  LIBRARY_END(status, *reply = made, coremap_reply_free(made));
}

unsigned coremap_reply_status(const coremap_reply *reply)
{
  return (unsigned)reply->told.status;
}

const char *coremap_reply_etag(const coremap_reply *reply)
{
  return reply->told.etag;
}

const char *coremap_reply_text(const coremap_reply *reply)
{
  return reply->text != NULL ? reply->text : "";
}

void coremap_reply_free(coremap_reply *reply)
{
  if (reply == NULL)
    return;
  json_decref(reply->told.json);
  free(reply->text);
  free(reply);
}
