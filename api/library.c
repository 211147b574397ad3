/* What the HTTP library refuses by itself, because it cannot be parsed: answered as everything else is.
 *
 * The library would answer in HTML, and 0.9.75 sends the head of some of these replies twice (a malformed
 * Content-Length, a missing Host). It queues them through its own public function; a program's definition stands before
 * a shared library's, so they come through here. The reply is then written to the socket at once and the library told to
 * close. Our own replies go to the library's function by its address.
 *
 * And 0.9.75 tells what comes as texts that end at their first NUL: "Remote-User: ada" of "ada\0eve". Such heads are found by where in
 * its buffer the texts lie. */
#include <dlfcn.h>
#include <pthread.h>
#include <sys/socket.h>
#include <time.h>

#include "api/internal.h"
#include "api/problem.h"
#include "base/json.h"

/* The library has 32 KiB for a connection, half of it for what it reads, and closes without a word where the rest does not do for a reply
 * or a body: a head has to leave room, with 64 bytes for each entry. */
enum { UNREAD_MAX = 1 << 18, HEAD_BYTES_MAX = 16 << 10, HEAD_ENTRIES_MAX = 128 };
#define HEAD_BOUND "the request's head must fit in 16 KiB, and its headers, trailers, cookies and query arguments be 128 at most"

typedef enum MHD_Result (*queue_function)(struct MHD_Connection *, unsigned, struct MHD_Response *);

static queue_function library_queue;

static void find_queue(void)
{
  void *found = dlsym(RTLD_NEXT, "MHD_queue_response");
  memcpy(&library_queue, &found, sizeof found);
}

enum MHD_Result cm_library_queue(struct MHD_Connection *connection, unsigned status, struct MHD_Response *response)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_queue);
  return library_queue != NULL ? library_queue(connection, status, response) : MHD_NO;
}

typedef struct refusal {
  unsigned library, status;
  const char *reason, *code, *title, *detail;
} refusal;

/* By the status that the library wants to send; the last one is for all others. */
static const refusal *refusal_of(unsigned status)
{
  static const refusal table[] = {
    {413, 413, "Content Too Large", "too-large", "The request is too large",
     "the body announces more bytes than can be counted"},
    {414, 414, "URI Too Long", "target-too-long", "The target is too long", HEAD_BOUND},
    {431, 431, "Request Header Fields Too Large", "head-too-large", "The head is too large", HEAD_BOUND},
    {500, 503, "Service Unavailable", "no-memory", "The machine has no memory left", "try again soon"},
    {505, 505, "HTTP Version Not Supported", "http-version", "The version of HTTP is not supported",
     "this server speaks HTTP/1.1"},
    {0, 400, "Bad Request", "bad-request", "The request cannot be understood",
     "its head, or the coding of its body, is malformed"},
  };
  const refusal *r = table;
  while (r->library != 0 && r->library != status)
    r++;
  return r;
}

/* The whole reply; the caller frees, NULL when out of memory. */
static char *text_of(const refusal *r)
{
  json_t *problem = cm_problem_plain(r->status, r->code, r->title, r->detail);
  char *body = problem != NULL ? cm_json_dumps(problem, JSON_INDENT(2)) : NULL, *text = NULL, date[CM_HTTP_DATE_MAX];
  json_decref(problem);
  const bool dated = cm_http_date(time(NULL), date);
  size_t size = 0;
  FILE *out = body != NULL ? open_memstream(&text, &size) : NULL;
  if (out != NULL) {
    (void)fprintf(out, "HTTP/1.1 %u %s\r\n%s%s%sConnection: close\r\nContent-Type: application/problem+json\r\n", r->status,
                  r->reason, dated ? "Date: " : "", dated ? date : "", dated ? "\r\n" : "");
    for (const cm_header *h = cm_safety_headers; h->name != NULL; h++)
      (void)fprintf(out, "%s: %s\r\n", h->name, h->value);
    (void)fprintf(out, "Content-Length: %zu\r\n\r\n%s\n", strlen(body) + 1, body);
    (void)fclose(out);
  }
  free(body);
  return text;
}

/* Throws away what has come, so that closing does not take the reply from a client that still sends. */
static void drain(int socket)
{
  char bytes[4096];
  ssize_t got;
  for (size_t all = 0; all < UNREAD_MAX && (got = recv(socket, bytes, sizeof bytes, MSG_DONTWAIT)) > 0;)
    all += (size_t)got;
}

/* ---- bytes that the library does not tell ---- */

/* How the head lies in the library's buffer: line after line, the ends of each made NUL. */
typedef struct layout {
  const char *end; /* past the NUL of what came last */
  size_t breaks;   /* NULs more between lines: 1 where they end in CR LF; unknown before the first header */
  size_t lines;
  bool broken;
} layout;

static enum MHD_Result next_line(void *context, CM_UNUSED enum MHD_ValueKind kind, const char *name, const char *value)
{
  layout *l = context;
  if (l->lines++ == 0 && name == l->end + 1)
    l->breaks = 1;
  l->broken = l->broken || name != l->end + l->breaks || value == NULL;
  if (value != NULL)
    l->end = value + strlen(value) + 1;
  return l->broken ? MHD_NO : MHD_YES;
}

bool cm_library_told_all(struct MHD_Connection *connection, const char *raw, size_t length, const char *version)
{
  layout l = {.end = version + strlen(version) + 1};
  if (strncmp(MHD_get_version(), "0.9.", 4) != 0) /* others refuse NULs themselves */
    return true;
  if (version != raw + length + 1)
    return false;
  (void)MHD_get_connection_values(connection, MHD_HEADER_KIND, next_line, &l);
  /* After the last header comes the end of its line, and the empty line. */
  for (size_t i = 0; i < 2 * l.breaks + 1 && !l.broken && l.lines > 0; i++)
    l.broken = l.end[i] != '\0';
  return !l.broken;
}

/* ---- heads that are too large ---- */

static enum MHD_Result add_line(void *context, CM_UNUSED enum MHD_ValueKind kind, const char *name, const char *value)
{
  size_t *bytes = context;
  *bytes += strlen(name) + (value != NULL ? strlen(value) : 0) + strlen(": \r\n");
  return MHD_YES;
}

/* The library goes on to take the arguments of a target apart; where its memory ends with them, 0.9.75 closes the connection and works on
 * it all the same, through a null pointer. So those of a refused one are cut off, in its own buffer. */
bool cm_library_takes_target(struct MHD_Connection *connection, const char *target)
{
  const size_t size = strlen(target);
  char *arguments = (char *)(uintptr_t)strchr(target, '?');
  int count = 0;
  for (const char *p = arguments; p != NULL; p = strchr(p + 1, '&'))
    count++;
  if (size <= HEAD_BYTES_MAX && count <= HEAD_ENTRIES_MAX)
    return true;
  if (arguments != NULL)
    arguments[1] = '\0';
  (void)MHD_queue_response(connection, size > HEAD_BYTES_MAX ? 414 : 431, NULL);
  return false;
}

bool cm_library_takes_head(struct MHD_Connection *connection, const char *method, const char *target, enum MHD_Result *refused)
{
  const enum MHD_ValueKind lines = MHD_HEADER_KIND | MHD_FOOTER_KIND, parts = MHD_COOKIE_KIND | MHD_GET_ARGUMENT_KIND;
  size_t bytes = strlen(method) + strlen(target);
  (void)MHD_get_connection_values(connection, lines, add_line, &bytes);
  const int entries = MHD_get_connection_values(connection, lines | parts, NULL, NULL);
  if (bytes <= HEAD_BYTES_MAX && entries <= HEAD_ENTRIES_MAX)
    return true;
  *refused = MHD_queue_response(connection, 431, NULL);
  return false;
}

/* The library's calls, and those for want of its memory. MHD_NO makes it close the connection. */
enum MHD_Result MHD_queue_response(struct MHD_Connection *connection, unsigned status, CM_UNUSED struct MHD_Response *response)
{
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  char *text = info != NULL ? text_of(refusal_of(status)) : NULL;
  if (text != NULL) {
    const union MHD_ConnectionInfo *tls = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    if (tls != NULL && tls->tls_session != NULL)
      (void)gnutls_record_send(tls->tls_session, text, strlen(text));
    else
      (void)send(info->connect_fd, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL);
    (void)shutdown(info->connect_fd, SHUT_WR);
    drain(info->connect_fd);
  }
  free(text);
  return MHD_NO;
}
