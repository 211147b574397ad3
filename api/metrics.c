/* GET /metrics, in Prometheus' text format (docs/how-to/metrics.md). */
#include <sys/resource.h>
#include <unistd.h>

#include "api/handlers.h"
#include "base/text.h"
#include "storage/scrub.h"

static void family(FILE *out, const char *name, const char *kind, const char *help)
{
  (void)fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind);
}

static void one(FILE *out, const char *name, const char *kind, const char *help, double value)
{
  family(out, name, kind, help);
  (void)fprintf(out, "%s %.17g\n", name, value);
}

static void histogram(FILE *out, const char *name, const char *labels, const cm_durations *h, const double *bounds)
{
  uint64_t count = 0;
  for (int i = 0; i <= CM_DURATION_BOUNDS; i++) {
    count += atomic_load(&h->bucket[i]);
    if (i < CM_DURATION_BOUNDS)
      (void)fprintf(out, "%s_bucket{%s,le=\"%g\"} %llu\n", name, labels, bounds[i], (unsigned long long)count);
    else
      (void)fprintf(out, "%s_bucket{%s,le=\"+Inf\"} %llu\n", name, labels, (unsigned long long)count);
  }
  (void)fprintf(out, "%s_sum{%s} %.6f\n%s_count{%s} %llu\n", name, labels, (double)atomic_load(&h->microseconds) / 1e6, name,
                labels, (unsigned long long)count);
}

static void put_requests(FILE *out, cm_server *server)
{
  static const char *const names[6] = {"0xx", "1xx", "2xx", "3xx", "4xx", "5xx"};
  family(out, "coremapd_requests_total", "counter", "Answered requests by class of status.");
  for (int i = 2; i < 6; i++)
    (void)fprintf(out, "coremapd_requests_total{status=\"%s\"} %llu\n", names[i],
                  (unsigned long long)atomic_load(&server->counters.requests[i]));
  family(out, "coremapd_request_seconds", "histogram",
         "From a request's being there whole to its reply's being ready, without long polls' waiting, by route.");
  for (size_t i = 0; i < cm_route_count; i++) {
    char labels[160];
    const cm_durations *h = &server->latency[i];
    bool any = false;
    for (int b = 0; b <= CM_DURATION_BOUNDS; b++)
      any = any || atomic_load(&h->bucket[b]) > 0;
    (void)snprintf(labels, sizeof labels, "method=\"%s\",route=\"%s\"", cm_routes[i].method, cm_routes[i].pattern);
    if (any)
      histogram(out, "coremapd_request_seconds", labels, h, cm_request_bounds);
  }
}

static void put_jobs(FILE *out, const cm_store *store)
{
  const cm_job_series *s;
  family(out, "coremapd_job_seconds", "histogram", "What done jobs took, by kind and preset, but for those given another one's result.");
  for (size_t i = 0; (s = cm_monitor_jobs(store->monitor, i)) != NULL; i++) {
    char labels[80];
    (void)snprintf(labels, sizeof labels, "kind=\"%s\",preset=\"%s\"", s->kind, s->preset);
    histogram(out, "coremapd_job_seconds", labels, &s->seconds, cm_job_bounds);
  }
  family(out, "coremapd_jobs_ended_total", "counter", "Jobs that have ended, by how.");
  for (size_t i = 0; (s = cm_monitor_jobs(store->monitor, i)) != NULL; i++)
    for (int state = CM_JOB_DONE; state < CM_JOB_STATES; state++)
      (void)fprintf(out, "coremapd_jobs_ended_total{kind=\"%s\",preset=\"%s\",state=\"%s\"} %llu\n", s->kind, s->preset,
                    cm_job_state_name((cm_job_state)state), (unsigned long long)atomic_load(&s->ended[state]));
  family(out, "coremapd_job_cpu_seconds_total", "counter", "Processor time of ended jobs' last attempts.");
  for (size_t i = 0; (s = cm_monitor_jobs(store->monitor, i)) != NULL; i++)
    (void)fprintf(out, "coremapd_job_cpu_seconds_total{kind=\"%s\",preset=\"%s\"} %.6f\n", s->kind, s->preset,
                  (double)atomic_load(&s->cpu_microseconds) / 1e6);
}

static void put_users(FILE *out, const cm_figures *f)
{
  family(out, "coremapd_queue_age_seconds", "gauge", "For how long the oldest queued job has waited, by lane.");
  for (int lane = 0; lane < CM_LANES; lane++)
    (void)fprintf(out, "coremapd_queue_age_seconds{lane=\"%s\"} %.3f\n", cm_queue_lane_name((cm_lane_of_jobs)lane), f->lanes[lane].age);
  family(out, "coremapd_lane_jobs", "gauge", "Jobs that wait and run, by lane; those of lane cluster run on it.");
  for (int lane = 0; lane < CM_LANES; lane++) {
    const char *name = cm_queue_lane_name((cm_lane_of_jobs)lane);
    (void)fprintf(out, "coremapd_lane_jobs{lane=\"%s\",state=\"queued\"} %.0f\ncoremapd_lane_jobs{lane=\"%s\",state=\"running\"} %.0f\n", name,
                  f->lanes[lane].queued, name, f->lanes[lane].running);
  }
  family(out, "coremapd_user_bytes", "gauge", "Stored bytes by owner; user \"\": nobody's.");
  for (size_t i = 0; i < f->user_count; i++) {
    const cm_user_figures *u = &f->users[i];
    (void)fprintf(out, "coremapd_user_bytes{user=\"%s\",of=\"networks\"} %.0f\ncoremapd_user_bytes{user=\"%s\",of=\"mappings\"} %.0f\n"
                  "coremapd_user_bytes{user=\"%s\",of=\"uploads\"} %.0f\n", u->user, u->network_bytes, u->user, u->mapping_bytes,
                  u->user, u->upload_bytes);
  }
  static const struct {
    const char *name, *help;
    size_t offset;
  } gauges[] = {
    {"coremapd_leases", "Leases by owner.", offsetof(cm_user_figures, leases)},
    {"coremapd_leased_cores", "Cores of them.", offsetof(cm_user_figures, leased_cores)},
    {"coremapd_user_cpu_seconds", "Processor time of jobs in 24 hours, by owner.", offsetof(cm_user_figures, cpu_seconds)},
    {"coremapd_user_jobs_queued", "Queued jobs by owner.", offsetof(cm_user_figures, queued)},
    {"coremapd_user_jobs_running", "Running jobs by owner.", offsetof(cm_user_figures, running)},
  };
  for (size_t g = 0; g < sizeof gauges / sizeof *gauges; g++) {
    family(out, gauges[g].name, "gauge", gauges[g].help);
    for (size_t i = 0; i < f->user_count; i++)
      (void)fprintf(out, "%s{user=\"%s\"} %.17g\n", gauges[g].name, f->users[i].user,
                    *(const double *)(const void *)((const char *)&f->users[i] + gauges[g].offset));
  }
}

static double seconds_of(struct timeval t)
{
  return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* By the names that Prometheus' own clients give them. */
static void put_process(FILE *out, const cm_server *server)
{
  struct rusage self, children;
  unsigned long long pages = 0, resident = 0;
  const double page = (double)sysconf(_SC_PAGESIZE);
  FILE *memory = fopen("/proc/self/statm", "re");
  if (memory != NULL) {
    if (fscanf(memory, "%llu %llu", &pages, &resident) != 2)
      pages = resident = 0;
    (void)fclose(memory);
  }
  if (getrusage(RUSAGE_SELF, &self) == 0)
    one(out, "process_cpu_seconds_total", "counter", "Processor time of the server.",
        seconds_of(self.ru_utime) + seconds_of(self.ru_stime));
  if (getrusage(RUSAGE_CHILDREN, &children) == 0)
    one(out, "coremapd_children_cpu_seconds_total", "counter", "Processor time of its ended children.",
        seconds_of(children.ru_utime) + seconds_of(children.ru_stime));
  one(out, "process_resident_memory_bytes", "gauge", "Memory of the server.", (double)resident * page);
  one(out, "process_virtual_memory_bytes", "gauge", "Address space of the server.", (double)pages * page);
  one(out, "process_start_time_seconds", "gauge", "When it started, since 1970.", server->started);
}

static void put_counts(FILE *out, cm_request *request, uint64_t mappings, uint64_t bytes)
{
  cm_store *store = request->store;
  cm_counters *c = &request->server->counters;
  cm_connection_counts connections;
  uint64_t files = 0, files_max = 0, transactions, writes;
  (void)cm_descriptors_count(&files, &files_max);
  cm_connections_count(request->server->connections, &connections);
  const library_levels_counts cache = library_levels_count(store->cache);
  cm_database_counts(store->database, &transactions, &writes);
  const cm_scrub_counts scrub = cm_scrub_count(store);
  const cm_server_options *o = &request->server->options;
  const struct {
    const char *name, *kind, *help;
    double value;
  } table[] = {
    {"coremapd_workers", "gauge", "Jobs that may run at once, without short ones.", (double)o->workers},
    {"coremapd_short_workers", "gauge", "Short jobs that may run beside them.", (double)o->short_workers},
    {"coremapd_draining", "gauge", "1: no new jobs are taken.", atomic_load(&request->server->draining)},
    {"coremapd_wrong_tokens_total", "counter", "Requests with a wrong token.", (double)atomic_load(&c->wrong_tokens)},
    {"coremapd_uploads_total", "counter", "Bodies of networks received whole.", (double)atomic_load(&c->uploads)},
    {"coremapd_upload_bytes_total", "counter", "Bytes of them.", (double)atomic_load(&c->upload_bytes)},
    {"coremapd_imports_failed_total", "counter", "Of them, those that could not be read.",
     (double)atomic_load(&c->imports_failed)},
    {"coremapd_connections", "gauge", "Open connections.", (double)connections.open},
    {"coremapd_connections_max", "gauge", "How many there may be.", (double)cm_server_limits_now(request->server).connections},
    {"coremapd_connections_refused_total", "counter", "Connections refused because all were busy.", (double)connections.refused},
    {"coremapd_connections_evicted_total", "counter", "Idle connections closed to make room for new ones.",
     (double)connections.evicted},
    {"coremapd_connections_timed_out_total", "counter", "Connections closed because the client did not get on.",
     (double)connections.timed_out},
    {"coremapd_open_files", "gauge", "Open files and sockets.", (double)files},
    {"coremapd_open_files_max", "gauge", "How many there may be.", (double)files_max},
    {"coremapd_event_streams", "gauge", "Open event streams.", (double)atomic_load(&c->streams)},
    {"coremapd_cache_hits_total", "counter", "Levels and partitions that jobs found.", (double)cache.hits},
    {"coremapd_cache_misses_total", "counter", "Those that they did not.", (double)cache.misses},
    {"coremapd_cache_saved_seconds_total", "counter", "What partitions took when they were made, that jobs found.",
     cache.saved_seconds},
    {"coremapd_cache_damaged_total", "counter", "Cache entries dropped because a checksum did not match.", (double)cache.damaged},
    {"coremapd_cache_evicted_total", "counter", "Cache entries dropped to make room.", (double)cache.evicted},
    {"coremapd_cache_entries", "gauge", "Entries in the cache.", (double)cache.entries},
    {"coremapd_cache_bytes", "gauge", "Bytes in the cache.", (double)cache.bytes},
    {"coremapd_cache_bytes_max", "gauge", "How many there may be.", (double)cache.bytes_max},
    {"coremapd_mappings", "gauge", "Stored mappings.", (double)mappings},
    {"coremapd_mapping_bytes", "gauge", "Bytes of them.", (double)bytes},
    {"coremapd_database_writes_total", "counter", "Writes to the database.", (double)writes},
    {"coremapd_database_transactions_total", "counter", "Transactions that carried them.", (double)transactions},
    {"coremapd_database_waiting_seconds", "gauge", "For how long writes have waited without one being done.",
     cm_database_waiting(store->database)},
    {"coremapd_damaged", "gauge", "Stored files and results that are not as they were stored.", (double)scrub.damaged},
    {"coremapd_scrub_rounds_total", "counter", "Times that everything stored was read and compared.", (double)scrub.rounds},
    {"coremapd_scrub_bytes_total", "counter", "Bytes read for that.", (double)scrub.bytes},
    {"coremapd_disk_free_bytes", "gauge", "Free bytes where the data folder lies.", (double)cm_store_free_bytes(store)},
    {"coremapd_disk_reserve_bytes", "gauge", "Free bytes below which uploads are refused.",
     (double)cm_server_limits_now(request->server).disk_free_min},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    one(out, table[i].name, table[i].kind, table[i].help, table[i].value);
}

void cm_get_metrics(cm_request *request)
{
  cm_store *store = request->store;
  cm_figures figures;
  uint64_t jobs[CM_JOB_STATES], mappings, bytes;
  cm_text text;
  size_t size = 0;
  if (cm_jobs_count(store, jobs, &request->error) != CM_OK || cm_mappings_count(store, &mappings, &bytes, &request->error) != CM_OK ||
      cm_figures_read(store, &figures, &request->error) != CM_OK) {
    cm_reply_error(request, &request->error);
    return;
  }
  if (!cm_text_open(&text)) {
    free(figures.users);
    cm_reply_text(request, 503, NULL, NULL, 0);
    return;
  }
  FILE *out = text.stream;
  family(out, "coremapd_build_info", "gauge", "Always 1.");
  (void)fputs("coremapd_build_info{version=\"" CM_VERSION "\"} 1\n", out);
  family(out, "coremapd_jobs", "gauge", "Jobs by state.");
  for (int i = 0; i < CM_JOB_STATES; i++)
    (void)fprintf(out, "coremapd_jobs{state=\"%s\"} %llu\n", cm_job_state_name((cm_job_state)i),
                  (unsigned long long)jobs[i]);
  put_requests(out, request->server);
  put_jobs(out, store);
  put_users(out, &figures);
  put_counts(out, request, mappings, bytes);
  put_process(out, request->server);
  free(figures.users);
  char *whole = cm_text_close(&text, &size);
  cm_reply_text(request, 200, "text/plain; version=0.0.4; charset=utf-8", whole, size);
}
