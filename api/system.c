/* Health, metrics, the OpenAPI document, the cache, and the viewer's files. */
#include <stdlib.h>
#include <string.h>

#include "api/handlers.h"
#include "storage/jobs.h"
#include "core/base/text.h"

void cm_get_health(cm_request *request)
{
  cm_reply_json(request, 200, json_pack("{s:s, s:s}", "status", "ok", "version", CM_VERSION));
}

void cm_get_ready(cm_request *request)
{
  cm_error error;
  cm_server *server = request->server;
  uint64_t room = cm_store_free_bytes(request->store), wanted = cm_server_limits_now(server).disk_free_min, open = 0,
           most = 0;
  const uint64_t reserve = cm_descriptors_reserve(server->options.workers);
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
  else if (cm_store_writable(request->store, &error) != CM_OK)
    cm_reply_problem(request, 503, "not-writable", "The database takes no writes", "%s", error.detail);
  else
    cm_reply_json(request, 200, json_pack("{s:s}", "status", "ready"));
}

void cm_get_metrics(cm_request *request)
{
  static const char *const names[6] = {"0xx", "1xx", "2xx", "3xx", "4xx", "5xx"};
  cm_error error;
  cm_store *store = request->store;
  cm_counters *c = &request->server->counters;
  cm_cache_counts cache;
  uint64_t jobs[CM_JOB_STATES], transactions, writes, mappings, bytes;
  if (cm_jobs_count(store, jobs, &error) != CM_OK || cm_mappings_count(store, &mappings, &bytes, &error) != CM_OK) {
    cm_reply_error(request, &error);
    return;
  }
  cm_connection_counts connections;
  uint64_t files = 0, files_max = 0;
  (void)cm_descriptors_count(&files, &files_max);
  cm_connections_count(request->server->connections, &connections);
  cm_cache_count(store->cache, &cache);
  cm_database_counts(store->database, &transactions, &writes);
  cm_text text;
  size_t size = 0;
  if (!cm_text_open(&text)) {
    cm_reply_text(request, 503, NULL, NULL, 0);
    return;
  }
  FILE *out = text.stream;
  (void)fputs("# HELP coremapd_jobs Jobs by state.\n# TYPE coremapd_jobs gauge\n", out);
  for (int i = 0; i < CM_JOB_STATES; i++)
    (void)fprintf(out, "coremapd_jobs{state=\"%s\"} %llu\n", cm_job_state_name((cm_job_state)i),
                  (unsigned long long)jobs[i]);
  (void)fputs("# HELP coremapd_requests_total Answered requests by class of status.\n"
              "# TYPE coremapd_requests_total counter\n", out);
  for (int i = 2; i < 6; i++)
    (void)fprintf(out, "coremapd_requests_total{status=\"%s\"} %llu\n", names[i],
                  (unsigned long long)atomic_load(&c->requests[i]));
  const struct {
    const char *name, *kind, *help;
    uint64_t value;
  } table[] = {
    {"coremapd_uploads_total", "counter", "Bodies of networks received whole.", atomic_load(&c->uploads)},
    {"coremapd_upload_bytes_total", "counter", "Bytes of them.", atomic_load(&c->upload_bytes)},
    {"coremapd_imports_failed_total", "counter", "Of them, those that could not be read.",
     atomic_load(&c->imports_failed)},
    {"coremapd_connections", "gauge", "Open connections.", connections.open},
    {"coremapd_connections_max", "gauge", "How many there may be.", cm_server_limits_now(request->server).connections},
    {"coremapd_connections_refused_total", "counter", "Connections refused because all were busy.",
     connections.refused},
    {"coremapd_connections_evicted_total", "counter", "Idle connections closed to make room for new ones.",
     connections.evicted},
    {"coremapd_connections_timed_out_total", "counter", "Connections closed because the client did not get on.",
     connections.timed_out},
    {"coremapd_open_files", "gauge", "Open files and sockets.", files},
    {"coremapd_open_files_max", "gauge", "How many there may be.", files_max},
    {"coremapd_event_streams", "gauge", "Open event streams.", (uint64_t)atomic_load(&c->streams)},
    {"coremapd_cache_hits_total", "counter", "Jobs that found their coarsened levels.", cache.hits},
    {"coremapd_cache_misses_total", "counter", "Jobs that did not.", cache.misses},
    {"coremapd_cache_damaged_total", "counter", "Cache entries dropped because a checksum did not match.",
     cache.damaged},
    {"coremapd_cache_evicted_total", "counter", "Cache entries dropped to make room.", cache.evicted},
    {"coremapd_cache_entries", "gauge", "Entries in the cache.", cache.entries},
    {"coremapd_cache_bytes", "gauge", "Bytes in the cache.", cache.bytes},
    {"coremapd_mappings", "gauge", "Stored mappings.", mappings},
    {"coremapd_mapping_bytes", "gauge", "Bytes of them.", bytes},
    {"coremapd_database_writes_total", "counter", "Writes to the database.", writes},
    {"coremapd_database_transactions_total", "counter", "Transactions that carried them.", transactions},
    {"coremapd_disk_free_bytes", "gauge", "Free bytes where the data folder lies.", cm_store_free_bytes(store)},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    (void)fprintf(out, "# HELP %s %s\n# TYPE %s %s\n%s %llu\n", table[i].name, table[i].help, table[i].name,
                  table[i].kind, table[i].name, (unsigned long long)table[i].value);
  char *whole = cm_text_close(&text, &size);
  cm_reply_text(request, 200, "text/plain; version=0.0.4; charset=utf-8", whole, size);
}

void cm_get_openapi(cm_request *request)
{
  cm_reply_static(request, 200, "application/json", cm_openapi_text, strlen(cm_openapi_text));
}

void cm_get_cache(cm_request *request)
{
  cm_cache_counts c;
  cm_cache_count(request->store->cache, &c);
  cm_reply_json(request, 200,
                json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "entries", (json_int_t)c.entries, "bytes",
                          (json_int_t)c.bytes, "bytes_max", (json_int_t)c.bytes_max, "hits", (json_int_t)c.hits,
                          "misses", (json_int_t)c.misses, "damaged", (json_int_t)c.damaged, "evicted",
                          (json_int_t)c.evicted));
}

void cm_delete_cache(cm_request *request)
{
  cm_cache_empty(request->store->cache);
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
  cm_error error;
  char path[CM_PATH_MAX];
  if (cm_path(path, &error, "%s", request->server->www) != CM_OK) {
    cm_reply_error(request, &error);
    return;
  }
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
  if (!inside || cm_file_read(path, 16 << 20, &bytes, &size, &error) != CM_OK) {
    cm_reply_problem(request, 404, "not-found", "There is no such file", "the viewer has no file %.200s",
                     request->path);
    return;
  }
  cm_store_sha256(bytes, size, etag);
  if (cm_reply_unchanged(request, etag))
    free(bytes);
  else {
    cm_reply_text(request, 200, type, bytes, size);
    cm_reply_header(request, "ETag", "\"%s\"", etag);
  }
  cm_reply_header(request, "Content-Security-Policy",
                  "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'");
}
