/* GET /v1/jobs, /v1/sweeps, /v1/mappings, /v1/programs and /v1/networks: pages of what there is. What a list is filtered and sorted by, and
 * most of what its rows show, stands in storage/lists.def. */
#include "api/lists.h"

#include <math.h>

#include "api/job_view.h"
#include "base/json.h"

/* ---- arguments ---- */

#define ALWAYS "sort limit cursor total ids since until"
#define N(name)
#define Y(name) " " name
#define S(name) " " name
/* Times are asked for by since and until. */
#define NAMED_WORD(name) name
#define NAMED_PART(name) name
#define NAMED_COUNT(name) name
#define NAMED_REAL(name) name
#define NAMED_TRUTH(name) name
#define NAMED_LABELS(name) name
#define NAMED_TIME(name) ""
#define FIELD(name, kind, jobs, ...) jobs(NAMED_##kind(#name))
const char cm_arguments_jobs[] = ALWAYS
#include "storage/lists.def"
  ;
#undef FIELD
#define FIELD(name, kind, jobs, sweeps, ...) sweeps(NAMED_##kind(#name))
const char cm_arguments_sweeps[] = ALWAYS
#include "storage/lists.def"
  ;
#undef FIELD
#define FIELD(name, kind, jobs, sweeps, results, ...) results(NAMED_##kind(#name))
const char cm_arguments_results[] = ALWAYS
#include "storage/lists.def"
  ;
#undef FIELD
#define FIELD(name, kind, jobs, sweeps, results, networks, ...) networks(NAMED_##kind(#name))
const char cm_arguments_networks[] = ALWAYS
#include "storage/lists.def"
  ;
#undef FIELD

enum { LABELS_ASKED_MAX = 8, IDS_MAX = 1000 };

typedef struct asked {
  cm_list_query query;
  cm_page page;
  char labels[LABELS_ASKED_MAX][CM_LABEL_KEY_MAX + CM_LABEL_VALUE_MAX + 4];
  size_t label_count;
  char *ids;
} asked;

static bool refuse(cm_request *request, const char *name, const char *what)
{
  return CM_REPLY_BAD(request, "query argument %s must be %s", name, what);
}

static cm_list_condition *add_condition(asked *a, const cm_field *field)
{
  if (a->query.count == CM_CONDITIONS_MAX)
    return NULL;
  cm_list_condition *c = &a->query.conditions[a->query.count++];
  *c = (cm_list_condition){.field = field, .low = -INFINITY, .high = INFINITY};
  return c;
}

/* A number; false: `text` is none, or is more than one. */
static bool read_bound(const char *text, size_t length, double *value)
{
  char copy[40], *end;
  if (length == 0)
    return true; /* open */
  if (length >= sizeof copy || strspn(text, "0123456789+-.eE") < length)
    return false;
  (void)snprintf(copy, sizeof copy, "%.*s", (int)length, text);
  *value = strtod(copy, &end);
  return *end == '\0' && isfinite(*value);
}

/* "3", "3..5", "3.." or "..5". */
static bool read_range(const char *text, double *low, double *high)
{
  const char *dots = strstr(text, "..");
  if (dots == NULL)
    return read_bound(text, strlen(text), low) && text[0] != '\0' && read_bound(text, strlen(text), high);
  return strlen(text) > 2 && read_bound(text, (size_t)(dots - text), low) && read_bound(dots + 2, strlen(dots + 2), high);
}

/* "paper=fig3,draft": several conditions. */
static bool read_labels(cm_request *request, asked *a, const cm_field *field, const char *text)
{
  for (const char *p = text;; p++) {
    const size_t length = strcspn(p, ",");
    if (a->label_count == LABELS_ASKED_MAX)
      return refuse(request, field->name, "at most 8 labels");
    char *sought = a->labels[a->label_count++];
    if (cm_label_sought(p, length, sought, &request->error) != CM_OK)
      return refuse(request, field->name, "key=value or key, several between commas: a key has letters, digits and . _ - /");
    cm_list_condition *c = add_condition(a, field);
    if (c != NULL)
      c->text = sought;
    p += length;
    if (*p == '\0')
      return true;
  }
}

/* What the words of a field are where there are only some; NULL: any. */
static const char *words_of(const cm_field *field, const char *text)
{
  if (strcmp(field->name, "state") == 0 && cm_job_state_of(text) == CM_JOB_STATES)
    return "queued, running, done, failed or cancelled";
  if (strcmp(field->name, "sha256") == 0 && (strlen(text) != CM_SHA_MAX - 1 || strspn(text, "0123456789abcdef") != CM_SHA_MAX - 1))
    return "the SHA-256 of a file's bytes, 64 lower-case hexadecimal digits";
  return NULL;
}

static bool read_field(cm_request *request, asked *a, const cm_field *field)
{
  const char *text = field->kind != CM_FIELD_TIME ? cm_request_query(request, field->name) : NULL;
  if (text == NULL)
    return true;
  if (field->kind == CM_FIELD_LABELS)
    return read_labels(request, a, field, text);
  cm_list_condition *c = add_condition(a, field);
  if (c == NULL)
    return refuse(request, field->name, "one of fewer conditions");
  switch (field->kind) {
  case CM_FIELD_COUNT:
  case CM_FIELD_REAL:
    return read_range(text, &c->low, &c->high) || refuse(request, field->name, "a number, or a range such as 10..20, 10.. or ..20");
  case CM_FIELD_TRUTH:
    c->low = c->high = strcmp(text, "true") == 0;
    return c->low != 0 || strcmp(text, "false") == 0 || refuse(request, field->name, "true or false");
  default:
    c->text = text;
    return words_of(field, text) == NULL || refuse(request, field->name, words_of(field, text));
  }
}

static bool read_times(cm_request *request, asked *a)
{
  uint64_t since, until;
  if (!cm_request_number(request, "since", 0, UINT32_MAX, 0, &since) || !cm_request_number(request, "until", 0, UINT32_MAX, 0, &until))
    return false;
  cm_list_condition *c = since > 0 || until > 0 ? add_condition(a, cm_field_of(a->query.list, "created")) : NULL;
  if (c != NULL && since > 0)
    c->low = (double)since;
  if (c != NULL && until > 0)
    c->high = (double)until;
  return true;
}

static bool sorts(const cm_field *field, cm_list list)
{
  return field->in[list] != CM_LISTED_NOT && field->value != NULL && field->kind != CM_FIELD_LABELS;
}

static bool read_sort(cm_request *request, asked *a)
{
  const char *text = cm_request_query(request, "sort");
  char names[600] = "";
  if (text == NULL)
    return true;
  a->query.rising = text[0] != '-';
  const cm_field *field = cm_field_of(a->query.list, text + !a->query.rising);
  if (field != NULL && sorts(field, a->query.list)) {
    a->query.sort = strcmp(field->name, "created") != 0 ? field : NULL; /* which is the order of arrival */
    return true;
  }
  for (size_t i = 0; i < cm_field_count; i++)
    if (sorts(&cm_fields[i], a->query.list))
      (void)snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", names[0] != '\0' ? ", " : "", cm_fields[i].name);
  return CM_REPLY_BAD(request, "query argument sort must be one of %s, after a - for the largest first", names);
}

/* "A,B" as a JSON array. */
static bool read_ids(cm_request *request, asked *a)
{
  const char *text = cm_request_query(request, "ids");
  json_t *list = json_array();
  if (text == NULL) {
    json_decref(list);
    return true;
  }
  for (const char *p = text; json_array_size(list) < IDS_MAX; p++) {
    const size_t length = strcspn(p, ",");
    if (length == 0 || length >= CM_SHA_MAX)
      break;
    (void)json_array_append_new(list, json_stringn(p, length));
    p += length;
    if (*p == '\0') {
      a->ids = cm_json_dumps(list, JSON_COMPACT);
      break;
    }
  }
  json_decref(list);
  a->query.ids = a->ids;
  return a->ids != NULL || refuse(request, "ids", "ids between commas, at most 1000");
}

static bool read_query(cm_request *request, cm_list list, asked *a)
{
  const char *total = cm_request_query(request, "total");
  a->query.list = list;
  a->query.viewer = &request->viewer;
  if (!cm_page_asked_at(request, CM_PAGE_MAX, CM_PAGE_DEFAULT, &a->page) || !read_times(request, a) || !read_sort(request, a))
    return false;
  for (size_t i = 0; i < cm_field_count; i++)
    if (cm_fields[i].in[list] != CM_LISTED_NOT && !read_field(request, a, &cm_fields[i]))
      return false;
  if (total != NULL && strcmp(total, "true") != 0 && strcmp(total, "false") != 0)
    return refuse(request, "total", "true or false");
  a->query.total = total != NULL && total[0] == 't';
  a->query.limit = (size_t)a->page.limit;
  a->query.after = a->page.after;
  a->query.at = a->page.at;
  return read_ids(request, a);
}

/* ---- rows ---- */

/* What a row has in a field; nothing where it has no value. */
static void write_cell(cm_writer *w, const cm_field *field, const cm_cell *cell)
{
  const double number = cell->kind == CM_CELL_WHOLE ? (double)cell->whole : cell->real;
  if (field->kind == CM_FIELD_LABELS)
    cm_write_labels(w, cell->text != NULL ? cell->text : "");
  else if (cell->kind == CM_CELL_NONE)
    return;
  else if (field->kind == CM_FIELD_TIME)
    cm_write_time(w, field->name, number);
  else if (field->kind == CM_FIELD_TRUTH)
    cm_write_truth(w, field->name, cell->whole != 0);
  else if (cell->kind == CM_CELL_TEXT)
    cm_write_word(w, field->name, cell->text);
  else if (field->kind == CM_FIELD_COUNT)
    cm_write_whole(w, field->name, (int64_t)number);
  else
    cm_write_real(w, field->name, number);
}

static void write_cells(cm_writer *w, cm_list list, const cm_list_row *row)
{
  for (size_t i = 0; i < cm_field_count; i++)
    if (cm_fields[i].in[list] == CM_LISTED_SHOWN)
      write_cell(w, &cm_fields[i], &row->cells[i]);
}

static void write_owner(cm_writer *w, const cm_owner *owner)
{
  cm_write_word(w, "user", owner->user);
  cm_write_word(w, "visibility", cm_visibility_name(owner->visibility));
  if (owner->visibility == CM_VISIBLE_GROUP)
    cm_write_word(w, "group", owner->group);
}

static void reply_page(cm_request *request, const asked *a, const cm_list_page *page, cm_writer *w)
{
  size_t size = 0;
  cm_write_list_end(w);
  if (page->more) {
    char next[CM_CURSOR_MAX];
    const cm_list_row *last = &page->rows[page->count - 1];
    cm_page_next_at(request, last->sequence, a->query.sort != NULL ? &last->at : NULL, next);
    cm_write_word(w, "next", next);
  }
  if (a->query.total)
    cm_write_whole(w, "total", page->total);
  cm_write_end(w);
  char *text = cm_write_done(w, &size);
  cm_reply_text(request, 200, "application/json", text, size);
}

/* ---- the lists ---- */

/* The list that the route's path names. Rows of results are the table's alone; what else those of jobs and networks are stands in their own. */
void cm_get_list(cm_request *request)
{
  asked a = {0};
  cm_list_page page = {0};
  cm_job *jobs = NULL;
  cm_writer w = {0};
  cm_list list = 0;
  while (strcmp(cm_list_name(list), request->route->pattern + strlen("/v1/")) != 0)
    list++;
  const bool queue = list == CM_LIST_JOBS || list == CM_LIST_SWEEPS;
  if (read_query(request, list, &a) &&
      cm_reply_ok(request, queue ? cm_jobs_list(request->store, &a.query, &page, &jobs, &request->error) : cm_lists_read(request->store, &a.query, &page, &request->error))) {
    const cm_jobs_running running = queue ? cm_jobs_running_now(request) : (cm_jobs_running){0};
    cm_write_begin(&w);
    cm_write_list(&w, cm_list_name(list));
    for (size_t i = 0; i < page.count; i++) {
      cm_write_begin(&w);
      if (queue) {
        cm_job_write(&w, request, &jobs[i], false, &running);
        cm_job_clear(&jobs[i]);
      } else {
        cm_write_word(&w, "id", page.rows[i].id);
        write_owner(&w, &page.rows[i].owner);
      }
      if (list == CM_LIST_NETWORKS)
        cm_network_write(&w, request, page.rows[i].id);
      write_cells(&w, list, &page.rows[i]);
      cm_write_end(&w);
    }
    reply_page(request, &a, &page, &w);
    free(jobs);
  }
  cm_list_page_clear(&page);
  free(a.ids);
}

/* ---- the document ---- */

static json_t *schema_of(const cm_field *field)
{
  switch (field->kind) {
  case CM_FIELD_COUNT: return json_pack("{s:s, s:s}", "type", "integer", "description", field->about);
  case CM_FIELD_REAL: return json_pack("{s:s, s:s}", "type", "number", "description", field->about);
  case CM_FIELD_TRUTH: return json_pack("{s:s, s:s}", "type", "boolean", "description", field->about);
  case CM_FIELD_TIME: return json_pack("{s:[s, s], s:s, s:s}", "type", "string", "null", "format", "date-time", "description", field->about);
  case CM_FIELD_LABELS: return json_pack("{s:s}", "$ref", "#/components/schemas/Labels");
  default: return json_pack("{s:s, s:s}", "type", "string", "description", field->about);
  }
}

void cm_list_describe(cm_list list, json_t *properties)
{
  for (size_t i = 0; i < cm_field_count; i++) {
    const char *name = cm_fields[i].kind == CM_FIELD_LABELS ? "labels" : cm_fields[i].name;
    if (cm_fields[i].in[list] == CM_LISTED_SHOWN && json_object_get(properties, name) == NULL)
      (void)json_object_set_new(properties, name, schema_of(&cm_fields[i]));
  }
}

/* What an argument of a field may be. */
static json_t *range_of(const cm_field *field)
{
  static const char number[] = "-?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?";
  if (field->kind == CM_FIELD_TRUTH)
    return json_pack("{s:s}", "type", "boolean");
  if (strcmp(field->name, "state") == 0)
    return json_pack("{s:s}", "$ref", "#/components/schemas/JobState");
  if (strcmp(field->name, "sha256") == 0)
    return json_pack("{s:s, s:s}", "type", "string", "pattern", "^[0-9a-f]{64}$");
  if (field->kind == CM_FIELD_LABELS)
    return json_pack("{s:s, s:s}", "type", "string", "pattern", "^[A-Za-z0-9._/-]+(=[^,]*)?(,[A-Za-z0-9._/-]+(=[^,]*)?)*$");
  if (field->kind == CM_FIELD_COUNT || field->kind == CM_FIELD_REAL)
    return json_pack("{s:s, s:o}", "type", "string", "pattern", json_sprintf("^(%s(\\.\\.(%s)?)?|\\.\\.%s)$", number, number, number));
  return json_pack("{s:s}", "type", "string");
}

json_t *cm_list_argument(const char *path, const char *name)
{
  for (cm_list list = 0; list < CM_LISTS; list++) {
    const cm_field *field = strncmp(path, "/v1/", 4) == 0 && strcmp(path + 4, cm_list_name(list)) == 0 ? cm_field_of(list, name) : NULL;
    if (field != NULL && field->kind != CM_FIELD_TIME)
      return json_pack("{s:s, s:s, s:o, s:o}", "name", name, "in", "query", "description",
                       json_sprintf("%s%s", field->kind == CM_FIELD_PART ? "A part of it: " : "", field->about), "schema", range_of(field));
  }
  return NULL;
}
