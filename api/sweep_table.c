/* GET /v1/sweeps/{id}: what a sweep is, where it stands, and what its jobs have found, as JSON or CSV. */
#include "api/handlers.h"
#include "base/json.h"
#include "base/text.h"
#include "storage/sweep_jobs.h"

enum { TABLE_PAGE = 1000 };

/* The options that make a job a point: those of the axes. */
static json_t *point_options(const json_t *spec, const cm_job *job)
{
  json_t *options = cm_json_loadb(job->options, strlen(job->options), 0, NULL), *made = json_object(), *value;
  const char *name;
  json_object_foreach(json_object_get(spec, "axes"), name, value)
    (void)json_object_set(made, name, json_object_get(options, name));
  json_decref(options);
  return made;
}

static json_t *row_of(const json_t *spec, const json_t *tally, const cm_job *job)
{
  json_t *report = cm_json_loadb(job->report, strlen(job->report), 0, NULL), *problem = cm_json_loadb(job->problem, strlen(job->problem), 0, NULL),
         *metrics = json_object_get(report, "metrics"), *kept = json_object_get(tally, "kept"), *entry;
  bool stays = strcmp(json_string_value(json_object_get(spec, "keep")), "all") == 0 && job->state == CM_JOB_DONE;
  size_t i;
  json_array_foreach(kept, i, entry)
    stays = stays || strcmp(json_string_value(json_object_get(entry, "job")), job->id) == 0;
  json_t *row = json_pack("{s:s, s:s, s:s, s:o, s:s, s:b}", "job", job->id, "network", job->network, "chip", job->chip, "options",
                          point_options(spec, job), "state", cm_job_state_name(job->state), "kept", stays);
  if (job->state == CM_JOB_DONE) {
    if (job->mapping[0] != '\0')
      (void)json_object_set_new(row, "mapping", json_string(job->mapping));
    (void)json_object_set_new(row, "reused", json_boolean(job->reused));
  }
  if (metrics != NULL)
    (void)json_object_set(row, "metrics", metrics);
  if (json_is_object(problem))
    (void)json_object_set(row, "problem", problem);
  json_decref(report);
  json_decref(problem);
  return row;
}

static void write_cell(FILE *out, const json_t *value)
{
  char *text = json_is_string(value) || value == NULL ? NULL : cm_json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
  cm_csv_cell(out, text != NULL ? text : json_string_value(value));
  free(text);
}

/* The columns: what names a point, then the numbers of the first row that has some. */
static void write_csv(FILE *out, const json_t *spec, const json_t *rows)
{
  static const char *const fixed[] = {"job", "network", "chip", "state", "kept", "mapping", NULL};
  const json_t *metrics = NULL, *row;
  json_t *value;
  const char *name;
  size_t i;
  json_array_foreach(rows, i, row)
    if (metrics == NULL)
      metrics = json_object_get(row, "metrics");
  for (size_t k = 0; fixed[k] != NULL; k++)
    (void)fprintf(out, "%s%s", k > 0 ? "," : "", fixed[k]);
  json_object_foreach(json_object_get(spec, "axes"), name, value)
    (void)fprintf(out, ",%s", name);
  json_object_foreach((json_t *)(uintptr_t)metrics, name, value)
    if (json_is_number(value))
      (void)fprintf(out, ",%s", name);
  (void)fputs("\n", out);
  json_array_foreach(rows, i, row) {
    for (size_t k = 0; fixed[k] != NULL; k++) {
      if (k > 0)
        (void)fputc(',', out);
      write_cell(out, json_object_get(row, fixed[k]));
    }
    json_object_foreach(json_object_get(spec, "axes"), name, value) {
      (void)fputc(',', out);
      write_cell(out, json_object_get(json_object_get(row, "options"), name));
    }
    json_object_foreach((json_t *)(uintptr_t)metrics, name, value)
      if (json_is_number(value)) {
        (void)fputc(',', out);
        write_cell(out, json_object_get(json_object_get(row, "metrics"), name));
      }
    (void)fputs("\n", out);
  }
}

static void reply_csv(cm_request *request, const json_t *spec, const json_t *rows)
{
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (out != NULL) {
    write_csv(out, spec, rows);
    if (fclose(out) != 0) {
      free(text);
      text = NULL;
    }
  }
  cm_reply_text(request, 200, "text/csv; charset=utf-8", text, size);
}

/* What the sweep is and where it stands, without its rows. */
static json_t *head_of(const cm_job *sweep, const json_t *spec, json_t *tally)
{
  static const char *const asked[] = {"axes", "base", "keep", "by", "budget", NULL};
  const json_t *better;
  json_t *ways = json_array();
  size_t k;
  json_array_foreach(json_object_get(spec, "better"), k, better)
    (void)json_array_append_new(ways, json_string(json_integer_value(better) > 0 ? "more" : "less"));
  static const char *const counted[] = {"jobs", "done", "failed", "cancelled", "reused", "cpu_seconds", "stopped", NULL};
  json_t *head = json_pack("{s:s, s:s, s:s, s:s}", "id", sweep->id, "name", sweep->name, "state", cm_job_state_name(sweep->state), "user", sweep->owner.user);
  (void)json_object_set_new(head, "better", ways);
  (void)json_object_set_new(head, "created", cm_time_json(sweep->created));
  (void)json_object_set_new(head, "finished", cm_time_json(sweep->finished));
  (void)json_object_set_new(head, "labels", cm_labels_json(sweep->labels));
  for (size_t i = 0; asked[i] != NULL; i++)
    if (json_object_get(spec, asked[i]) != NULL)
      (void)json_object_set(head, asked[i], json_object_get(spec, asked[i]));
  for (size_t i = 0; counted[i] != NULL; i++)
    if (json_object_get(tally, counted[i]) != NULL)
      (void)json_object_set(head, counted[i], json_object_get(tally, counted[i]));
  const json_t *best = json_array_get(json_object_get(tally, "kept"), 0);
  if (best != NULL)
    (void)json_object_set_new(head, "best", json_pack("{s:O, s:O, s:O}", "job", json_object_get(best, "job"), "mapping", json_object_get(best, "mapping"),
                                                      "values", json_object_get(best, "values")));
  return head;
}

static void reply_table(cm_request *request, const cm_job *sweep, const char *format, uint64_t limit, int64_t after)
{
  cm_job *jobs;
  size_t count;
  const cm_sweep_filter filter = {.viewer = &request->viewer, .sweep = sweep->id, .after = after, .limit = (size_t)limit + 1};
  if (!cm_reply_ok(request, cm_sweeps_jobs(request->store, &filter, &jobs, &count, &request->error)))
    return;
  json_t *spec = cm_json_loadb(sweep->options, strlen(sweep->options), 0, NULL), *tally = cm_json_loadb(sweep->report, strlen(sweep->report), 0, NULL),
         *rows = json_array();
  for (size_t i = 0; i < count && i < limit; i++)
    (void)json_array_append_new(rows, row_of(spec, tally, &jobs[i]));
  if (strcmp(format, "csv") == 0)
    reply_csv(request, spec, rows);
  else {
    json_t *body = head_of(sweep, spec, tally);
    (void)json_object_set(body, "rows", rows);
    if (count > limit)
      cm_page_add_next(request, body, jobs[limit - 1].sequence);
    cm_reply_json(request, 200, body);
  }
  for (size_t i = 0; i < count; i++)
    cm_job_clear(&jobs[i]);
  free(jobs);
  json_decref(spec);
  json_decref(tally);
  json_decref(rows);
}

void cm_get_sweep(cm_request *request)
{
  cm_job sweep;
  uint64_t limit;
  int64_t after;
  const char *given = cm_request_query(request, "format"), *format = given != NULL ? given : "json";
  if (strcmp(format, "json") != 0 && strcmp(format, "csv") != 0) {
    CM_REPLY_BAD(request, "format must be json or csv");
    return;
  }
  if (!cm_page_asked(request, CM_SWEEP_POINTS_MAX, strcmp(format, "csv") == 0 ? CM_SWEEP_POINTS_MAX : TABLE_PAGE, &limit, &after))
    return;
  if (!cm_reply_ok(request, cm_jobs_get(request->store, request->param[0], &sweep, &request->error)))
    return;
  if (cm_job_is_sweep(&sweep))
    reply_table(request, &sweep, format, limit, after);
  else {
    (void)cm_reply_ok(request, cm_fail(&request->error, CM_NOT_FOUND, "job %s is no sweep, but of kind %s: see /v1/jobs/%s", sweep.id, sweep.kind, sweep.id));
  }
  cm_job_clear(&sweep);
}
