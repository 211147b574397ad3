/* What can fail: the server dies between a transaction and what follows it (cm_sweep_tell): then mappings that need not be kept stay
 * until the sweep's next point ends. Everything else is in the transaction in which a job ends. */
#include "storage/sweep_jobs.h"

#include <math.h>

#include "base/json.h"
#include "storage/audit.h"
#include "storage/derive.h"
#include "storage/jobs_internal.h"

const char cm_sweep_kind[] = "sweep";

bool cm_job_is_sweep(const cm_job *job)
{
  return strcmp(job->kind, cm_sweep_kind) == 0;
}

/* ---- news ---- */

typedef enum what { STATE, STOP, DROP, PROGRESS } what;

struct cm_sweep_note {
  what what;
  char id[CM_ID_MAX];      /* of a job, or (DROP) a mapping */
  cm_job_state state;      /* STATE */
  char mapping[CM_ID_MAX]; /* STATE: of a sweep, its best */
  double fraction;         /* PROGRESS */
};

void cm_sweep_news_clear(cm_sweep_news *news)
{
  free(news->notes);
  *news = (cm_sweep_news){0};
}

static cm_status add_note(cm_sweep_news *news, const cm_sweep_note *note, cm_error *error)
{
  CM_TRY(CM_HEAP_GROW(news->notes, &news->capacity, news->count + 1, "what a sweep has to tell", error));
  news->notes[news->count++] = *note;
  return CM_OK;
}

/* A mapping that nobody needs goes, and the rest of its Pareto set as far as that may go too; one that stays a rule takes. */
static void drop(cm_store *store, const char *mapping)
{
  cm_error ignored;
  char point[CM_ID_MAX];
  bool found = true;
  (void)snprintf(point, sizeof point, "%s", mapping);
  while (found && cm_mappings_delete(store, point, true, &ignored) == CM_OK)
    if (cm_database_find(store->database, &found, &ignored, "SELECT id FROM mappings WHERE pareto = ? ORDER BY point LIMIT 1", "t>t", mapping,
                         CM_INTO(point)) != CM_OK)
      return;
}

void cm_sweep_tell(cm_store *store, cm_sweep_news *news)
{
  for (size_t i = 0; i < news->count; i++) {
    const cm_sweep_note *note = &news->notes[i];
    char text[80];
    switch (note->what) {
    case STATE:
      cm_job_publish(store, note->id, note->state, note->mapping[0] != '\0' ? "mapping" : NULL, note->mapping[0] != '\0' ? note->mapping : NULL);
      cm_event_bus_finished(store->bus, note->id);
      break;
    case STOP:
      cm_event_bus_cancel(store->bus, note->id);
      break;
    case DROP:
      drop(store, note->id);
      break;
    case PROGRESS:
      (void)snprintf(text, sizeof text, "{\"phase\":\"sweep\",\"fraction\":%.6g}", note->fraction);
      cm_event_bus_progress(store->bus, note->id, text, "[]", NULL);
      cm_event_bus_publish(store->bus, note->id, "progress", text);
      break;
    }
  }
  cm_sweep_news_clear(news);
}

/* ---- the tally ---- */

typedef struct ended {
  char sweep[CM_ID_MAX], job[CM_ID_MAX], mapping[CM_ID_MAX];
  int64_t order;
  cm_job_state state;
  bool reused, cancelled;        /* the sweep's cancel was asked for */
  double cpu_seconds;
  json_t *report, *spec, *tally; /* of the job, and of its sweep */
  char *problem;
} ended;

static void clear(ended *e)
{
  json_decref(e->report);
  json_decref(e->spec);
  json_decref(e->tally);
  free(e->problem);
}

/* Of a text, which is freed. */
static cm_status read_json(char *text, json_t **value, cm_error *error)
{
  *value = text[0] != '\0' ? cm_json_loadb(text, strlen(text), 0, NULL) : json_object();
  free(text);
  return *value != NULL ? CM_OK : cm_fail(error, CM_DAMAGED, "what is noted of a sweep is no JSON");
}

/* *found: the job is a point of a sweep that runs. */
static cm_status read_ended(sqlite3 *handle, const char *job, ended *e, bool *found, cm_error *error)
{
  char state[16], *report = NULL, *spec = NULL, *tally = NULL;
  cm_status status =
      cm_sql_find(handle, found, error,
                  "SELECT s.id, j.id, j.mapping, j.sequence, j.state, j.reused, s.cancel_requested, coalesce(j.cpu_seconds, 0), j.report,"
                  " s.options, s.report, j.problem FROM jobs j JOIN jobs s ON s.id = j.sweep WHERE j.id = ? AND s.state = 'running'", "t>tttitbbdssss", job,
                  CM_INTO(e->sweep), CM_INTO(e->job), CM_INTO(e->mapping), &e->order, CM_INTO(state), &e->reused, &e->cancelled, &e->cpu_seconds, &report,
                  &spec, &tally, &e->problem);
  if (status != CM_OK || !*found) {
    free(report);
    free(spec);
    free(tally);
    return status;
  }
  e->state = cm_job_state_of(state);
  cm_status of_report = read_json(report, &e->report, error), of_spec = read_json(spec, &e->spec, error), of_tally = read_json(tally, &e->tally, error);
  return of_report != CM_OK ? of_report : of_spec != CM_OK ? of_spec : of_tally;
}

static double number_of(const json_t *object, const char *name)
{
  return json_number_value(json_object_get(object, name));
}

static void add_to(json_t *tally, const char *name, double more)
{
  const double sum = number_of(tally, name) + more;
  (void)json_object_set_new(tally, name, strcmp(name, "cpu_seconds") == 0 ? json_real(sum) : json_integer((json_int_t)sum));
}

/* The job as an entry of "kept", or NULL where it lacks a metric that is compared. */
static json_t *entry_of(const ended *e)
{
  const json_t *metrics = json_object_get(e->report, "metrics"), *name;
  json_t *values = json_array();
  size_t i;
  json_array_foreach(json_object_get(e->spec, "by"), i, name) {
    json_t *value = json_object_get(metrics, json_string_value(name));
    if (!json_is_number(value)) {
      json_decref(values);
      return NULL;
    }
    (void)json_array_append(values, value);
  }
  return json_pack("{s:s, s:s, s:I, s:o}", "job", e->job, "mapping", e->mapping, "order", (json_int_t)e->order, "values", values);
}

/* A value turned so that less is better. */
static double value_of(const json_t *spec, const json_t *entry, size_t i)
{
  return -(double)json_integer_value(json_array_get(json_object_get(spec, "better"), i)) *
         json_number_value(json_array_get(json_object_get(entry, "values"), i));
}

/* Whether a is at least as good as b in all that is compared; the earlier point where they are even. */
static bool covers(const json_t *spec, const json_t *a, const json_t *b)
{
  bool even = true;
  for (size_t i = 0; i < json_array_size(json_object_get(spec, "by")); i++) {
    if (value_of(spec, a, i) > value_of(spec, b, i))
      return false;
    even = even && value_of(spec, a, i) == value_of(spec, b, i);
  }
  return !even || number_of(a, "order") < number_of(b, "order");
}

/* By the first metric, and by the second where that is even: the order of "kept". */
static bool before(const json_t *spec, const json_t *a, const json_t *b)
{
  for (size_t i = 0; i < json_array_size(json_object_get(spec, "by")); i++)
    if (value_of(spec, a, i) != value_of(spec, b, i))
      return value_of(spec, a, i) < value_of(spec, b, i);
  return number_of(a, "order") < number_of(b, "order");
}

static bool keeps(const json_t *spec, const char *which)
{
  return strcmp(json_string_value(json_object_get(spec, "keep")), which) == 0;
}

/* Whether an entry may go now that another is there. */
static bool beaten(const json_t *spec, const json_t *entry, const json_t *by)
{
  return keeps(spec, "pareto") ? covers(spec, by, entry) : before(spec, by, entry);
}

static cm_status let_go(const json_t *spec, const json_t *entry, cm_sweep_news *news, cm_error *error)
{
  cm_sweep_note note = {.what = DROP};
  (void)snprintf(note.id, sizeof note.id, "%s", json_string_value(json_object_get(entry, "mapping")));
  return keeps(spec, "all") ? CM_OK : add_note(news, &note, error);
}

/* Takes a done job among the kept ones, and lets those go that it beats. */
static cm_status compare(ended *e, cm_sweep_news *news, cm_error *error)
{
  json_t *kept = json_object_get(e->tally, "kept"), *entry = entry_of(e);
  const double best = json_array_size(kept) > 0 ? value_of(e->spec, json_array_get(kept, 0), 0) : INFINITY;
  cm_status status = CM_OK;
  size_t at = 0;
  if (entry == NULL) {
    add_to(e->tally, "without_gain", 1);
    return CM_OK;
  }
  const bool gain = value_of(e->spec, entry, 0) < best;
  bool taken = e->mapping[0] != '\0'; /* else its own job has seen that it is beaten */
  for (size_t i = 0; i < json_array_size(kept); i++)
    taken = taken && !beaten(e->spec, entry, json_array_get(kept, i));
  if (!taken && e->mapping[0] != '\0')
    status = let_go(e->spec, entry, news, error);
  for (size_t i = 0; taken && status == CM_OK && i < json_array_size(kept);) {
    const json_t *old = json_array_get(kept, i);
    if (beaten(e->spec, old, entry)) {
      status = let_go(e->spec, old, news, error);
      (void)json_array_remove(kept, i);
    } else
      at += before(e->spec, old, entry), i++;
  }
  if (taken && status == CM_OK)
    (void)json_array_insert(kept, at, entry);
  json_decref(entry);
  if (gain)
    (void)json_object_set_new(e->tally, "without_gain", json_integer(0));
  else
    add_to(e->tally, "without_gain", 1);
  return status;
}

static cm_status read_rivals(sqlite3 *handle, const char *job, json_t **rivals, cm_error *error)
{
  ended e = {0};
  bool found = false;
  cm_status status = read_ended(handle, job, &e, &found, error);
  const json_t *kept = json_object_get(e.tally, "kept"), *entry;
  if (status == CM_OK && json_array_size(kept) > 0 && !keeps(e.spec, "all")) {
    json_t *values = json_array(), *by = json_copy(json_object_get(e.spec, "by"));
    size_t i;
    json_array_foreach(kept, i, entry)
      (void)json_array_append(values, json_object_get(entry, "values"));
    if (keeps(e.spec, "best") && json_array_size(by) > 1)
      (void)json_array_remove(by, 1); /* only decides where the first is even */
    *rivals = json_pack("{s:o, s:O, s:o}", "by", by, "better", json_object_get(e.spec, "better"), "values", values);
  }
  clear(&e);
  return status;
}

cm_status cm_sweep_rivals(cm_store *store, const char *job, json_t **rivals, cm_error *error)
{
  cm_reading r;
  *rivals = NULL;
  cm_status status = cm_reading_begin(store->database, true, &r, error);
  CM_THEN(status, read_rivals(r.handle, job, rivals, error));
  return cm_reading_end(&r, status);
}

/* How far the job's first metric is above its bound, as a part of that; infinite where the job states none. */
static double gap_of(const ended *e)
{
  const char *by = json_string_value(json_array_get(json_object_get(e->spec, "by"), 0));
  const json_t *bound = json_object_get(json_object_get(json_object_get(e->report, "mapper"), "step_bound"), "gap_percent");
  if (strcmp(by, "step_ns") == 0)
    return json_is_number(bound) ? json_number_value(bound) / 100 : INFINITY;
  const double parts = number_of(json_object_get(e->report, "bound"), "parts");
  return parts > 0 ? number_of(json_object_get(e->report, "metrics"), "cores_used") / parts - 1 : INFINITY;
}

/* Why no more jobs of the sweep are to start; NULL: they are. */
static const char *spent(const ended *e)
{
  const json_t *budget = json_object_get(e->spec, "budget"), *cpu = json_object_get(budget, "cpu_seconds"), *idle = json_object_get(budget, "idle"),
               *gap = json_object_get(budget, "gap");
  if (e->cancelled || json_object_get(e->tally, "stopped") != NULL)
    return NULL;
  if (cpu != NULL && number_of(e->tally, "cpu_seconds") >= json_number_value(cpu))
    return "the processor seconds of the budget are used";
  if (idle != NULL && number_of(e->tally, "without_gain") >= json_number_value(idle))
    return "as many in a row as the budget allows were no better";
  if (gap != NULL && e->state == CM_JOB_DONE && gap_of(e) <= json_number_value(gap))
    return "a mapping is as near to its bound as asked";
  return NULL;
}

/* ---- ends ---- */

/* Notes the jobs of a sweep in a state. */
static cm_status note_jobs(sqlite3 *handle, const char *sweep, const char *state, const cm_sweep_note *as, cm_sweep_news *news, cm_error *error)
{
  sqlite3_stmt *statement;
  cm_sweep_note note = *as;
  cm_status status = cm_sql_prepare(handle, &statement, error, "SELECT id FROM jobs WHERE sweep = ? AND state = ?", "tt", sweep, state);
  while (cm_sql_next(statement, &status, error)) {
    cm_sql_copy(statement, 0, note.id, sizeof note.id);
    status = add_note(news, &note, error);
  }
  return cm_sql_end(statement, status, error);
}

static cm_status cancel_rest(sqlite3 *handle, const char *sweep, int *cancelled, cm_sweep_news *news, cm_error *error)
{
  const cm_sweep_note over = {.what = STATE, .state = CM_JOB_CANCELLED}, stop = {.what = STOP};
  CM_TRY(note_jobs(handle, sweep, "queued", &over, news, error));
  CM_TRY(note_jobs(handle, sweep, "running", &stop, news, error));
  CM_TRY(cm_sql_run(handle, NULL, error, "UPDATE jobs SET cancel_requested = 1 WHERE sweep = ? AND state = 'running'", "t", sweep));
  return cm_sql_run(handle, cancelled, error,
                    "UPDATE jobs SET state = 'cancelled', cancel_requested = 1, finished = ?, retry_at = NULL, waits_for = NULL"
                    " WHERE sweep = ? AND state = 'queued'", "dt", cm_store_time(), sweep);
}

/* Writes the tally down, and ends the sweep when none of its jobs goes on. `problem`: of the last job that failed, NULL: none. */
static cm_status write_tally(sqlite3 *handle, const ended *e, cm_sweep_news *news, cm_error *error)
{
  int64_t open;
  CM_TRY(cm_sql_number(handle, 0, &open, error, "SELECT count(*) FROM jobs WHERE sweep = ? AND state IN ('queued', 'running')", "t", e->sweep));
  const json_t *best = json_array_get(json_object_get(e->tally, "kept"), 0);
  const char *mapping = json_string_value(json_object_get(best, "mapping"));
  const double jobs = number_of(e->tally, "jobs");
  cm_sweep_note note = {.what = open > 0 ? PROGRESS : STATE, .fraction = jobs > 0 ? 1 - (double)open / jobs : 0};
  note.state = e->cancelled ? CM_JOB_CANCELLED : mapping != NULL ? CM_JOB_DONE : CM_JOB_FAILED;
  (void)snprintf(note.id, sizeof note.id, "%s", e->sweep);
  (void)snprintf(note.mapping, sizeof note.mapping, "%s", mapping != NULL ? mapping : "");
  char *text = cm_json_dumps(e->tally, JSON_COMPACT | JSON_REAL_PRECISION(15));
  CM_TRY(cm_whole(text != NULL, "the tally of a sweep", error));
  cm_status status = cm_sql_run(handle, NULL, error, "UPDATE jobs SET report = ?, mapping = ? WHERE id = ?", "ttt", text, mapping, e->sweep);
  if (status == CM_OK && open == 0)
    status = cm_sql_run(handle, NULL, error, "UPDATE jobs SET state = ?, finished = ?, problem = ? WHERE id = ? AND state = 'running'", "tdtt",
                        cm_job_state_name(note.state), cm_store_time(), note.state == CM_JOB_FAILED && e->problem[0] != '\0' ? e->problem : NULL, e->sweep);
  free(text);
  return status == CM_OK ? add_note(news, &note, error) : status;
}

static cm_status count_in(sqlite3 *handle, ended *e, cm_sweep_news *news, cm_error *error)
{
  int cancelled = 0;
  add_to(e->tally, cm_job_state_name(e->state), 1);
  add_to(e->tally, "cpu_seconds", e->cpu_seconds);
  add_to(e->tally, "reused", e->reused);
  if (e->state == CM_JOB_DONE ? compare(e, news, error) != CM_OK : (add_to(e->tally, "without_gain", 1), false))
    return error->status;
  const char *why = spent(e);
  if (why != NULL) {
    (void)json_object_set_new(e->tally, "stopped", json_string(why));
    CM_TRY(cancel_rest(handle, e->sweep, &cancelled, news, error));
    add_to(e->tally, "cancelled", cancelled);
  }
  return write_tally(handle, e, news, error);
}

cm_status cm_sweep_point_ended_in(sqlite3 *handle, const char *job, cm_sweep_news *news, cm_error *error)
{
  ended e = {0};
  bool found = false;
  cm_status status = read_ended(handle, job, &e, &found, error);
  CM_THEN_IF(status, found, count_in(handle, &e, news, error));
  clear(&e);
  return status;
}

cm_status cm_sweep_cancel_in(sqlite3 *handle, const char *sweep, cm_sweep_news *news, cm_error *error)
{
  ended e = {.cancelled = true};
  bool found = false;
  int cancelled = 0;
  char *tally = NULL;
  (void)snprintf(e.sweep, sizeof e.sweep, "%s", sweep);
  CM_TRY(cancel_rest(handle, sweep, &cancelled, news, error));
  CM_TRY(cm_sql_find(handle, &found, error, "SELECT report FROM jobs WHERE id = ? AND state = 'running'", "t>s", sweep, &tally));
  if (!found)
    return CM_OK;
  cm_status status = read_json(tally, &e.tally, error);
  if (status == CM_OK) {
    add_to(e.tally, "cancelled", cancelled);
    status = write_tally(handle, &e, news, error);
  }
  clear(&e);
  return status;
}

/* ---- the start ---- */

typedef struct create_work {
  const cm_sweep_request *request;
  cm_job_created result;
  char id[CM_ID_MAX];
  char (*ids)[CM_ID_MAX]; /* of the jobs */
} create_work;

static cm_status enter_sweep(sqlite3 *handle, create_work *work, const cm_owner *owner, cm_error *error)
{
  const cm_job *sweep = work->request->sweep;
  const cm_job_key key = work->request->key != NULL ? *work->request->key : (cm_job_key){0};
  char tally[160], words[CM_OWNER_WORDS_MAX];
  const double now = cm_store_time();
  (void)snprintf(tally, sizeof tally,
                 "{\"jobs\":%zu,\"done\":0,\"failed\":0,\"cancelled\":0,\"reused\":0,\"cpu_seconds\":0.0,\"without_gain\":0,\"kept\":[]}",
                 work->request->count);
  cm_audit_effect("sweep %s of %zu jobs, %s", work->id, work->request->count, cm_owner_words(owner, words));
  return cm_sql_run(handle, NULL, error,
                    "INSERT INTO jobs(id, user, team, visibility, kind, name, network, chip, options, reserve, ttl, priority, state,"
                    " attempt, kills, moved, cancel_requested, reused, idempotency_key, body_hash, created, started, report, request, label_set)"
                    " VALUES(?,?,?,?,?,?,?,?,?,0,0,?,'running',1,0,0,0,0,?,?,?,?,?,?,?)", "tttttttttittddttt", work->id, owner->user, owner->group,
                    cm_visibility_name(owner->visibility), cm_sweep_kind, sweep->name, sweep->network, sweep->chip, sweep->options,
                    (int64_t)sweep->priority, key.key, key.body_hash, now, now, tally, sweep->request, sweep->labels);
}

static cm_status create(sqlite3 *handle, void *context, cm_error *error)
{
  create_work *work = context;
  const cm_sweep_request *r = work->request;
  cm_owner owner = r->sweep->owner;
  bool room = false;
  if (r->key != NULL) {
    CM_TRY(cm_job_key_in(handle, owner.user, r->key, &work->result, work->id, error));
    if (work->result != CM_JOB_NEW)
      return CM_OK;
  }
  CM_TRY(cm_jobs_queue_room_in(handle, owner.user, r->count, &room, error));
  work->result = room ? CM_JOB_NEW : CM_JOB_QUEUE_FULL;
  if (!room)
    return CM_OK;
  cm_store_id(work->id);
  for (size_t i = 0; i < r->count; i++)
    if (cm_job_derive_in(handle, &r->jobs[i], &owner, r->sweep->shown, error) != CM_OK ||
        cm_job_enter_in(handle, &r->jobs[i], &(cm_job_entry){.sweep = work->id}, work->ids[i], error) != CM_OK)
      return error->status;
  return enter_sweep(handle, work, &owner, error);
}

cm_status cm_sweeps_create(cm_store *store, const cm_sweep_request *request, cm_job_created *result, char *id, cm_error *error)
{
  create_work work = {.request = request};
  CM_TRY(CM_HEAP(work.ids, request->count + 1, "the jobs of a sweep", error));
  cm_status status = cm_database_write(store->database, create, &work, error);
  if (status == CM_OK) {
    *result = work.result;
    memcpy(id, work.id, sizeof work.id);
  }
  for (size_t i = 0; status == CM_OK && work.result == CM_JOB_NEW && i < request->count; i++)
    cm_job_publish(store, work.ids[i], CM_JOB_QUEUED, NULL, NULL);
  free(work.ids);
  return status;
}

/* ---- looking ---- */

cm_status cm_sweeps_jobs(cm_store *store, const cm_sweep_filter *f, cm_job **jobs, size_t *count, cm_error *error)
{
  static const cm_row_kind kind = {"tiiitt", "SELECT " CM_JOB_COLUMNS " FROM jobs j INDEXED BY jobs_sweep WHERE sweep = ?1 AND sequence > ?2 AND "
                                   CM_VIEWER_SEES("j", "?4", "?5", "?6") " ORDER BY sequence LIMIT ?3", "the jobs of a sweep", sizeof(cm_job),
                                   cm_job_from_row, cm_job_clear_row};
  return cm_database_list(store->database, &kind, jobs, count, error, f->sweep, f->after, (int64_t)f->limit, CM_VIEWER_VALUES(f->viewer));
}
