/* Health, the interface's description, the cache, and the viewer's files. */
#include <pthread.h>
#include <sys/mman.h>

#include "api/handlers.h"
#include "api/openapi.h"
#include "storage/drain.h"
#include "storage/schema.h"
#include "storage/scrub.h"
#include "library/private/base.h"

enum { DISK_FULL = 1 << 22 }; /* free bytes below which nothing can be stored any more, whatever the reserve */

void cm_get_health(cm_request *request)
{
  static const char text[] = "{\n  \"status\": \"ok\",\n  \"version\": \"" CM_VERSION "\"\n}\n";
  cm_reply_same(request, &(cm_same){.type = "application/json", .body = text, .size = sizeof text - 1});
}

/* The text as a file in memory; -1: there is no room. */
static int file_of(const char *text)
{
  const size_t size = strlen(text);
  const int file = memfd_create("text", MFD_CLOEXEC);
  if (file >= 0 && write(file, text, size) == (ssize_t)size && lseek(file, 0, SEEK_SET) == 0)
    return file;
  if (file >= 0)
    close(file);
  return -1;
}

/* Made when first asked for, and kept. */
void cm_get_openapi(cm_request *request)
{
  static const char type[] = "application/json";
  static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
  static char *text, etag[CM_SHA_MAX];
  (void)pthread_mutex_lock(&making);
  if (text == NULL && (text = cm_openapi_document()) != NULL)
    cm_store_sha256(text, strlen(text), etag);
  const char *made = text;
  (void)pthread_mutex_unlock(&making);
  if (made != NULL && cm_reply_known(request, type, etag, ""))
    return;
  const int file = made != NULL ? file_of(made) : -1;
  if (file >= 0)
    cm_reply_opened(request, file, type, etag, "");
  else
    cm_reply_json(request, 200, NULL);
}

/* What clients and upgrades compare: docs/reference/compatibility.md. */
void cm_get_layouts(cm_request *request)
{
  json_t *layouts = library_table("layouts");
  cm_reply_json(request, 200, layouts != NULL ? json_pack("{s:s, s:o}", "byte_order", "little", "layouts", layouts) : NULL);
}

void cm_get_version(cm_request *request)
{
  cm_reply_json(request, 200, json_pack("{s:s, s:i, s:i}", "version", CM_VERSION, "api", 1, "data_schema", cm_schema_version));
}

void cm_get_ready(cm_request *request)
{
  cm_server *server = request->server;
  const uint64_t room = cm_store_free_bytes(request->store), reserve_wanted = cm_server_limits_now(server).disk_free_min,
                 wanted = reserve_wanted > DISK_FULL ? reserve_wanted : DISK_FULL;
  uint64_t open = 0, most = 0;
  const uint64_t reserve = cm_descriptors_reserve(server->options.workers);
  const uint64_t damaged = cm_scrub_count(request->store).damaged;
  bool counted = cm_descriptors_count(&open, &most);
  if (atomic_load(&server->draining))
    cm_reply_problem(request, 503, "draining", "The server is going down", "nothing new is accepted");
  else if (room < wanted)
    cm_reply_problem(request, 503, "disk-low", "The disk is nearly full", "%llu bytes are free, %llu are wanted",
                     (unsigned long long)room, (unsigned long long)wanted);
  else if (counted && open + reserve / 2 > most)
    cm_reply_problem(request, 503, "files-low", "Too many files are open",
                     "%llu of %llu are open; jobs and uploads want %llu of them free", (unsigned long long)open,
                     (unsigned long long)most, (unsigned long long)reserve / 2);
  else if (cm_store_writable(request->store, &request->error) != CM_OK)
    cm_reply_problem(request, 503, "not-writable", "The database takes no writes", "%s", request->error.detail);
  else if (damaged > 0)
    cm_reply_problem(request, 503, "damaged", "Stored files are damaged", "%llu stored files or results are not as they were stored;"
                     " the log names them, and all else is served", (unsigned long long)damaged);
  else
    cm_reply_json(request, 200, json_pack("{s:s}", "status", "ready"));
}

/* The wish is a row of the database, as that of coremapd drain, which the workers follow within a second; once it is answered, nothing new
 * is taken any more. */
static void drain(cm_request *request, bool wanted)
{
  if (cm_reply_ok(request, cm_drain_ask(request->store->database, wanted, &request->error))) {
    atomic_store(&request->server->draining, wanted);
    cm_reply_empty(request, 204);
  }
}

void cm_put_drain(cm_request *request)
{
  drain(request, true);
}

void cm_delete_drain(cm_request *request)
{
  drain(request, false);
}

void cm_get_cache(cm_request *request)
{
  const library_levels_counts c = library_levels_count(request->store->cache);
  cm_reply_json(request, 200,
                json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "entries", (json_int_t)c.entries, "bytes",
                          (json_int_t)c.bytes, "bytes_max", (json_int_t)c.bytes_max, "hits", (json_int_t)c.hits,
                          "misses", (json_int_t)c.misses, "damaged", (json_int_t)c.damaged, "evicted",
                          (json_int_t)c.evicted));
}

void cm_delete_cache(cm_request *request)
{
  char effect[80];
  const uint64_t before = library_levels_count(request->store->cache).bytes;
  library_levels_empty(request->store->cache);
  const uint64_t after = library_levels_count(request->store->cache).bytes;
  (void)snprintf(effect, sizeof effect, "bytes %llu -> %llu", (unsigned long long)before, (unsigned long long)after);
  if (cm_reply_ok(request, cm_audit_tell(request->store->database, effect, &request->error)))
    cm_reply_empty(request, 204);
}

/* ---- the viewer ---- */

static const char *type_of(const char *name)
{
  static const struct {
    const char *ending, *type;
  } table[] = {
    {".html", "text/html; charset=utf-8"}, {".js", "text/javascript; charset=utf-8"},
    {".mjs", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},   {".json", "application/json"},  {".svg", "image/svg+xml"},
    {".png", "image/png"},                 {".ico", "image/x-icon"},       {".woff2", "font/woff2"},
    {".txt", "text/plain; charset=utf-8"},
  };
  const char *ending = strrchr(name, '.');
  for (size_t i = 0; ending != NULL && i < sizeof table / sizeof *table; i++)
    if (strcmp(table[i].ending, ending) == 0)
      return table[i].type;
  return NULL;
}

/* Segments have been decoded and hold neither slashes nor dot names; hidden files and unknown kinds are not served. */
void cm_get_static(cm_request *request)
{
  char path[CM_PATH_MAX];
  if (!cm_reply_ok(request, cm_path(path, &request->error, "%s", request->server->www)))
    return;
  const char *name = "index.html";
  for (size_t i = 0; i < request->segments; i++) {
    name = request->segment[i];
    size_t used = strlen(path);
    if (name[0] == '.' || used + strlen(name) + 2 > sizeof path) {
      name = "";
      break;
    }
    (void)snprintf(path + used, sizeof path - used, "/%s", name);
  }
  size_t used = strlen(path);
  if (request->segments == 0)
    (void)snprintf(path + used, sizeof path - used, "/%s", name);
  const char *type = type_of(name);
  char *bytes, etag[CM_SHA_MAX], resolved[PATH_MAX], root[PATH_MAX];
  size_t size, root_length;
  /* A link that leads out of the folder is not followed. */
  bool inside = type != NULL && realpath(path, resolved) != NULL && realpath(request->server->www, root) != NULL &&
                strncmp(resolved, root, root_length = strlen(root)) == 0 && resolved[root_length] == '/';
  if (!inside || cm_file_read(path, 16 << 20, &bytes, &size, &request->error) != CM_OK) {
    if (request->segments == 0)
      cm_reply_problem(request, 404, "not-found", "The viewer is not installed", "the server has no viewer: start it with --www FOLDER "
                       "(or setting www), the folder www of the sources or of an installation; /openapi.json describes the interface");
    else
      cm_reply_problem(request, 404, "not-found", "There is no such file", "the viewer has no file %.200s", request->path);
    return;
  }
  cm_store_sha256(bytes, size, etag);
  free(bytes);
  cm_reply_file(request, path, type, etag, ""); /* packed for who takes that: a third of the bytes */
  cm_reply_header(request, "Content-Security-Policy",
                  "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'");
}
