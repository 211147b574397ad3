#include "cli/http.h"
#include "base/json.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "cli/context.h"

enum { JSON_BYTES_MAX = 1 << 28, CONNECT_SECONDS = 10 };

struct cli_server {
  CURL *curl;
  char url[CLI_URL_MAX]; /* without a slash at its end */
  char token[CLI_TOKEN_MAX]; /* "": none */
  const atomic_bool *cancel;
};

bool cli_where_take(cli_where *where, int flag)
{
  switch (flag) {
  case CLI_SERVER: where->server = optarg; return true;
  case CLI_CONTEXT: where->context = optarg; return true;
  case CLI_JSON: where->json = true; return true;
  case CLI_QUIET: where->quiet = true; return true;
  default: return false;
  }
}

/* The server's address, and the token of a context. */
static cm_status find_server(const cli_where *where, cli_context *context, cm_error *error)
{
  const char *given = where->server, *environment = getenv("COREMAP_SERVER");
  if (given != NULL && where->context != NULL)
    return cm_fail(error, CM_BAD_REQUEST, "a context is a server: name either --server or --context");
  if (given == NULL && where->context == NULL && environment != NULL && environment[0] != '\0')
    given = environment;
  *context = (cli_context){.name = ""};
  if (given == NULL && cli_context_find(where->context, context, error) != CM_OK)
    return error->status;
  if (context->name[0] == '\0' &&
      snprintf(context->url, sizeof context->url, "%s", given != NULL ? given : "http://127.0.0.1:8080") >= CLI_URL_MAX)
    return cm_fail(error, CM_BAD_REQUEST, "the address %.60s... is too long", given);
  return CM_OK;
}

cm_status cli_server_open(const cli_where *where, const atomic_bool *cancel, cli_server **made, cm_error *error)
{
  cli_context context;
  if (find_server(where, &context, error) != CM_OK)
    return error->status;
  const char *url = context.url;
  if (strncasecmp(url, "http://", 7) != 0 && strncasecmp(url, "https://", 8) != 0)
    return cm_fail(error, CM_BAD_REQUEST, "\"%s\" is no server's address, like http://127.0.0.1:8080", url);
  cli_server *server = calloc(1, sizeof *server);
  if (server == NULL || (server->curl = curl_easy_init()) == NULL) {
    free(server);
    return cm_fail(error, CM_NO_MEMORY, "out of memory");
  }
  server->cancel = cancel;
  (void)snprintf(server->url, sizeof server->url, "%s", url);
  for (size_t length = strlen(server->url); server->url[length - 1] == '/'; length--)
    server->url[length - 1] = '\0';
  bool own = context.token[0] != '\0' && getenv("COREMAP_TOKEN") == NULL;
  if (own)
    (void)snprintf(server->token, sizeof server->token, "%s", context.token);
  if (own ? cli_token_safe(server->url, error) != CM_OK : cli_token_find(server->url, server->token, error) != CM_OK) {
    cli_server_close(server);
    return error->status;
  }
  *made = server;
  return CM_OK;
}

void cli_server_close(cli_server *server)
{
  if (server != NULL)
    curl_easy_cleanup(server->curl);
  free(server);
}

const char *cli_server_url(const cli_server *server)
{
  return server->url;
}

void cli_server_use(cli_server *server, const char *token)
{
  (void)snprintf(server->token, sizeof server->token, "%s", token);
}

char *cli_url_segment(cli_server *server, const char *text)
{
  char *escaped = curl_easy_escape(server->curl, text, 0), *copy = escaped != NULL ? strdup(escaped) : NULL;
  curl_free(escaped);
  return copy;
}

/* ---- one request ---- */

/* Where the body of a reply goes. */
typedef struct arrival {
  CURL *curl;
  FILE *download, *text;
  size_t text_bytes;
} arrival;

static long status_of(CURL *curl)
{
  long status = 0;
  (void)curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  return status;
}

static size_t on_bytes(char *bytes, size_t one, size_t count, void *user)
{
  arrival *a = user;
  (void)one;
  if (a->download != NULL && status_of(a->curl) < 300)
    return fwrite(bytes, 1, count, a->download);
  a->text_bytes += count;
  return a->text_bytes > JSON_BYTES_MAX ? 0 : fwrite(bytes, 1, count, a->text);
}

/* Who is asked whether to go on, and told how far it is. */
typedef struct watch {
  const atomic_bool *cancel;
  const cli_request *request;
} watch;

static int on_progress(void *user, curl_off_t to_get, curl_off_t got, curl_off_t to_send, curl_off_t sent)
{
  const watch *w = user;
  cm_error ignored;
  bool up = w->request->upload != NULL;
  curl_off_t all = up ? to_send : to_get, done = up ? sent : got;
  if (w->request->run != NULL && all > 0)
    (void)cm_run_progress(w->request->run, (double)done / (double)all, -1, 0, 0, &ignored);
  return atomic_load(w->cancel);
}

/* The error that a problem reply tells of. */
static cm_status problem(const cli_server *server, const cli_request *request, long status, const json_t *json,
                         cm_error *error)
{
  const char *code = json_string_value(json_object_get(json, "code")),
             *detail = json_string_value(json_object_get(json, "detail"));
  cm_status is = status == 404 ? CM_NOT_FOUND : status < 500 ? CM_BAD_REQUEST : CM_IO;
  for (cm_status s = CM_BAD_NETWORK; code != NULL && s <= CM_INTERNAL; s++)
    is = strcmp(cm_status_code(s), code) == 0 ? s : is;
  if (status == 401)
    return cm_fail(error, CM_CONFLICT, "%s wants a token: %s (coremap login)", server->url, detail != NULL ? detail : "");
  const char *id = json_string_value(json_object_get(json, "request"));
  if (detail != NULL && status >= 500 && id != NULL) /* whoever reads the server's log finds it by that */
    return cm_fail(error, is, "%s (request %s)", detail, id);
  if (detail != NULL)
    return cm_fail(error, is, "%s", detail);
  return cm_fail(error, is, "%s answers %s %s with status %ld", server->url, request->method, request->path, status);
}

static cm_status perform(cli_server *server, const cli_request *request, arrival *a, cm_error *error)
{
  char why[CURL_ERROR_SIZE] = "";
  (void)curl_easy_setopt(server->curl, CURLOPT_ERRORBUFFER, why);
  CURLcode code = curl_easy_perform(server->curl);
  (void)curl_easy_setopt(server->curl, CURLOPT_ERRORBUFFER, NULL);
  if (code == CURLE_OK)
    return CM_OK;
  if (code == CURLE_ABORTED_BY_CALLBACK)
    return cm_fail(error, CM_CANCELLED, "interrupted");
  if (code == CURLE_WRITE_ERROR && a->download != NULL)
    return cm_fail(error, CM_DISK_FULL, "cannot write what %s sends", request->path);
  return cm_fail(error, CM_IO, "no answer from %s: %s", server->url, why[0] != '\0' ? why : curl_easy_strerror(code));
}

static cm_status send_and_read(cli_server *server, const cli_request *request, const char *body, FILE *text,
                               struct curl_slist *headers, cm_error *error)
{
  CURL *curl = server->curl;
  arrival a = {.curl = curl, .download = request->download, .text = text};
  watch w = {server->cancel, request};
  char url[1024];
  if (snprintf(url, sizeof url, "%s%s", server->url, request->path) >= (int)sizeof url)
    return cm_fail(error, CM_BAD_REQUEST, "the address %.100s... is too long", url);
  curl_easy_reset(curl);
  (void)curl_easy_setopt(curl, CURLOPT_URL, url);
  (void)curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  /* As curl itself takes it: whom to trust instead of the machine's authorities. */
  const char *trusted = getenv("SSL_CERT_FILE");
  if (trusted != NULL && trusted[0] != '\0')
    (void)curl_easy_setopt(curl, CURLOPT_CAINFO, trusted);
  (void)curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  (void)curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
  (void)curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  (void)curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_bytes);
  (void)curl_easy_setopt(curl, CURLOPT_WRITEDATA, &a);
  (void)curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  (void)curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
  (void)curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &w);
  if (request->upload != NULL) {
    struct stat about;
    (void)curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
    if (fstat(fileno(request->upload), &about) == 0 && S_ISREG(about.st_mode))
      (void)curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)about.st_size);
    (void)curl_easy_setopt(curl, CURLOPT_READDATA, request->upload);
  } else if (body != NULL)
    (void)curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
  (void)curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
  return perform(server, request, &a, error);
}

cm_status cli_server_ask(cli_server *server, const cli_request *request, cli_reply *reply, cm_error *error)
{
  char *text = NULL, known[160];
  size_t size = 0;
  char *body = request->body != NULL ? cm_json_dumps(request->body, JSON_COMPACT) : NULL;
  FILE *sink = open_memstream(&text, &size);
  struct curl_slist *headers = curl_slist_append(NULL, body != NULL ? "Content-Type: application/json"
                                                                     : "Content-Type:");
  if (request->known != NULL && request->known[0] != '\0') {
    (void)snprintf(known, sizeof known, "If-None-Match: %s", request->known);
    headers = curl_slist_append(headers, known);
  }
  if (request->match != NULL) {
    (void)snprintf(known, sizeof known, "If-Match: %s", request->match);
    headers = curl_slist_append(headers, known);
  }
  if (server->token[0] != '\0') {
    char line[CLI_TOKEN_MAX + 32];
    (void)snprintf(line, sizeof line, "Authorization: Bearer %s", server->token);
    headers = curl_slist_append(headers, line);
  }
  cm_status status = sink == NULL || (request->body != NULL && body == NULL)
                         ? cm_fail(error, CM_NO_MEMORY, "out of memory")
                         : send_and_read(server, request, body, sink, headers, error);
  if (sink != NULL && fclose(sink) != 0 && status == CM_OK)
    status = cm_fail(error, CM_NO_MEMORY, "out of memory");
  curl_slist_free_all(headers);
  free(body);
  if (status == CM_OK) {
    struct curl_header *etag;
    cli_reply made = {.status = status_of(server->curl), .json = size > 0 ? cm_json_loadb(text, size, 0, NULL) : NULL};
    if (curl_easy_header(server->curl, "ETag", 0, CURLH_HEADER, -1, &etag) == CURLHE_OK)
      (void)snprintf(made.etag, sizeof made.etag, "%s", etag->value);
    if (made.status >= 400)
      status = problem(server, request, made.status, made.json, error);
    else if (made.json == NULL && request->download == NULL && made.status != 304 && made.status != 204)
      status = cm_fail(error, CM_IO, "%s%s is not answered in JSON: is that a coremapd server?", server->url,
                       request->path);
    if (status == CM_OK)
      *reply = made;
    else
      json_decref(made.json);
  }
  free(text);
  return status;
}
