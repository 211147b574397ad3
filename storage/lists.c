/* A page is read in two steps: which rows (sequence and value to sort by; of jobs, whose rows are long, an index has all that these
 * queries ask for), then what each has. Both texts are put together from the rows of lists.def. */
#include "storage/lists.h"

#include <math.h>

#include "storage/internal.h"

#define N CM_LISTED_NOT
#define Y CM_LISTED_KNOWN
#define S CM_LISTED_SHOWN
const cm_field cm_fields[] = {
#define FIELD(name, kind, jobs, sweeps, results, networks, index, value, condition, about) \
  {#name, CM_FIELD_##kind, {jobs, sweeps, results, results, networks}, index, value, condition, about},
#include "storage/lists.def"
#undef FIELD
};
#undef N
#undef Y
#undef S
const size_t cm_field_count = sizeof cm_fields / sizeof *cm_fields;

enum { FIELDS = sizeof cm_fields / sizeof *cm_fields, QUERY_MAX = 16 << 10, FIRST_PARAMETER = 10, IDS = 5, AFTER, AT, LIMIT };

#define SHARED CM_VIEWER_SEES_SHARED("t", "?1", "?2", "?3")
static const struct {
  const char *name, *table, *sees, *also, *index;
  cm_object object;
} lists[CM_LISTS] = {
  [CM_LIST_JOBS] = {"jobs", "jobs", CM_VIEWER_SEES("t", "?1", "?2", "?3"), "", "jobs_listed", CM_OBJECT_JOB},
  [CM_LIST_SWEEPS] = {"sweeps", "jobs", CM_VIEWER_SEES("t", "?1", "?2", "?3"), " AND t.kind = 'sweep'", "jobs_listed", CM_OBJECT_JOB},
  [CM_LIST_MAPPINGS] = {"mappings", "mappings", SHARED, " AND t.kind = 'map'", NULL, CM_OBJECT_MAPPING},
  [CM_LIST_PROGRAMS] = {"programs", "mappings", SHARED, " AND t.kind = 'compile'", NULL, CM_OBJECT_PROGRAM},
  [CM_LIST_NETWORKS] = {"networks", "networks", SHARED, "", NULL, CM_OBJECT_NETWORK},
};

#define JOIN_NETWORK " LEFT JOIN networks n ON n.id = t.network AND " CM_VIEWER_SEES_SHARED("n", "?1", "?2", "?3")
#define JOIN_JOB " LEFT JOIN jobs j INDEXED BY jobs_named ON j.id = t.job AND " CM_VIEWER_SEES("j", "?1", "?2", "?3")

const char *cm_list_name(cm_list list)
{
  return lists[list].name;
}

const cm_field *cm_field_of(cm_list list, const char *name)
{
  for (size_t i = 0; i < FIELDS; i++)
    if (cm_fields[i].in[list] != CM_LISTED_NOT && strcmp(cm_fields[i].name, name) == 0)
      return &cm_fields[i];
  return NULL;
}

const cm_cell *cm_list_cell(cm_list list, const cm_list_row *row, const char *name)
{
  return &row->cells[cm_field_of(list, name) - cm_fields];
}

/* ---- texts of queries ---- */

typedef struct text {
  char query[QUERY_MAX];
  size_t used;
} text;

static void add(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(text *t, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  const int more = vsnprintf(t->query + t->used, QUERY_MAX - t->used, format, arguments);
  va_end(arguments);
  t->used += more > 0 && t->used + (size_t)more < QUERY_MAX ? (size_t)more : 0;
}

static bool names(const cm_field *field, const char *table)
{
  return field != NULL && field->value != NULL && strncmp(field->value, table, 2) == 0;
}

/* The condition of a field, with its parameter in place of $. */
static void add_condition(text *t, const cm_list_condition *c, unsigned parameter)
{
  const cm_field *f = c->field;
  char number[16];
  (void)snprintf(number, sizeof number, "?%u", parameter);
  add(t, " AND (");
  if (f->condition != NULL)
    for (const char *p = f->condition; *p != '\0'; p++)
      add(t, *p == '$' ? "%s" : "%.1s", *p == '$' ? number : p);
  else if (f->kind == CM_FIELD_PART)
    add(t, "%s LIKE %s ESCAPE '\\'", f->value, number);
  else if (f->kind == CM_FIELD_LABELS)
    add(t, "instr(%s, %s) > 0", f->value, number);
  else if (c->text != NULL)
    add(t, "%s = %s", f->value, number);
  else
    add(t, "%s BETWEEN %s AND ?%u", f->value, number, parameter + 1);
  add(t, ")");
}

/* What is compared where rows are sorted; what has no value comes last. */
static void add_key(text *t, const cm_list_query *q)
{
  const cm_field *f = q->sort;
  const bool words = f->kind == CM_FIELD_WORD || f->kind == CM_FIELD_PART;
  add(t, "coalesce(%s, %s)", f->value, words ? "''" : q->rising ? "9e999" : "-9e999");
}

static void add_place(text *t, const cm_list_query *q)
{
  if (q->after == 0)
    return;
  if (q->sort == NULL) {
    add(t, " AND t.rowid %s ?%d", q->rising ? ">" : "<", AFTER);
    return;
  }
  add(t, " AND (");
  add_key(t, q);
  add(t, " %s ?%d OR (", q->rising ? ">" : "<", AT);
  add_key(t, q);
  add(t, " = ?%d AND t.rowid < ?%d))", AT, AFTER);
}

/* The index that finds rows in the order that is asked for; "": none. */
static void add_index(text *t, const cm_list_query *q, bool counts)
{
  const char *index = lists[q->list].index;
  for (size_t i = q->count; i-- > 0 && q->sort == NULL && !counts;)
    if (q->conditions[i].field->index != NULL)
      index = q->conditions[i].field->index;
  if (index == NULL && q->sort == NULL && q->count == 0 && !counts && strcmp(lists[q->list].table, "mappings") == 0)
    index = "mappings_kind";
  if (q->ids == NULL && index != NULL)
    add(t, " INDEXED BY %s", index);
  else if (q->ids == NULL)
    add(t, " NOT INDEXED");
}

static void make_query(text *t, const cm_list_query *q, bool counts)
{
  bool network = names(q->sort, "n."), job = names(q->sort, "j.");
  for (size_t i = 0; i < q->count; i++) {
    const cm_field *f = q->conditions[i].field; /* a condition of its own looks up what it needs */
    network = network || (f->condition == NULL && names(f, "n."));
    job = job || (f->condition == NULL && names(f, "j."));
  }
  t->used = 0;
  add(t, counts ? "SELECT count(*)" : "SELECT t.rowid, ");
  if (!counts && q->sort != NULL)
    add_key(t, q);
  else if (!counts)
    add(t, "NULL");
  add(t, " FROM %s t", lists[q->list].table);
  add_index(t, q, counts);
  add(t, "%s%s WHERE %s%s", network ? JOIN_NETWORK : "", job ? JOIN_JOB : "", lists[q->list].sees, lists[q->list].also);
  if (q->ids != NULL)
    add(t, " AND t.id IN (SELECT value FROM json_each(?%d))", IDS);
  for (size_t i = 0; i < q->count; i++)
    add_condition(t, &q->conditions[i], (unsigned)(FIRST_PARAMETER + 2 * i));
  if (counts)
    return;
  add_place(t, q);
  add(t, " ORDER BY ");
  if (q->sort != NULL) {
    add_key(t, q);
    add(t, " %s, t.rowid DESC", q->rising ? "ASC" : "DESC");
  } else
    add(t, "t.rowid %s", q->rising ? "ASC" : "DESC");
  add(t, " LIMIT ?%d", LIMIT);
}

/* ---- values ---- */

static int bind_number(sqlite3_stmt *statement, int parameter, double value)
{
  return fabs(value) < 9e15 && value == rint(value) ? sqlite3_bind_int64(statement, parameter, (int64_t)value) : sqlite3_bind_double(statement, parameter, value);
}

static int bind_cell(sqlite3_stmt *statement, int parameter, const cm_cell *cell)
{
  if (cell->kind == CM_CELL_TEXT)
    return sqlite3_bind_text(statement, parameter, cell->text, -1, SQLITE_TRANSIENT);
  return cell->kind == CM_CELL_WHOLE ? sqlite3_bind_int64(statement, parameter, cell->whole) : sqlite3_bind_double(statement, parameter, cell->real);
}

/* A part of a name as a pattern of LIKE. */
static int bind_part(sqlite3_stmt *statement, int parameter, const char *part)
{
  char pattern[2 * CM_NAME_MAX + 3] = "%";
  size_t used = 1;
  for (const char *p = part; *p != '\0' && used + 3 < sizeof pattern; p++) {
    if (*p == '%' || *p == '_' || *p == '\\')
      pattern[used++] = '\\';
    pattern[used++] = *p;
  }
  pattern[used++] = '%';
  return sqlite3_bind_text(statement, parameter, pattern, (int)used, SQLITE_TRANSIENT);
}

/* Parameters that a query does not have are not bound. */
static cm_status bind(sqlite3 *handle, sqlite3_stmt *statement, const cm_list_query *q, cm_error *error)
{
  const int last = sqlite3_bind_parameter_count(statement);
  int code = SQLITE_OK;
  if (q->ids != NULL && last >= IDS)
    code = sqlite3_bind_text(statement, IDS, q->ids, -1, SQLITE_TRANSIENT);
  for (size_t i = 0; i < q->count && code == SQLITE_OK; i++) {
    const cm_list_condition *c = &q->conditions[i];
    const int parameter = (int)(FIRST_PARAMETER + 2 * i);
    if (c->field->kind == CM_FIELD_PART)
      code = bind_part(statement, parameter, c->text);
    else if (c->text != NULL)
      code = sqlite3_bind_text(statement, parameter, c->text, -1, SQLITE_TRANSIENT);
    else if ((code = bind_number(statement, parameter, c->low)) == SQLITE_OK)
      code = bind_number(statement, parameter + 1, c->high);
  }
  if (code == SQLITE_OK && last >= AFTER)
    code = sqlite3_bind_int64(statement, AFTER, q->after);
  if (code == SQLITE_OK && last >= AT)
    code = bind_cell(statement, AT, &q->at);
  if (code == SQLITE_OK && last >= LIMIT)
    code = sqlite3_bind_int64(statement, LIMIT, (int64_t)q->limit + 1);
  return code == SQLITE_OK ? CM_OK : cm_sql_fail(handle, code, "bind", error);
}

static cm_status prepare(sqlite3 *handle, sqlite3_stmt **statement, const char *query, const cm_list_query *q, cm_error *error)
{
  CM_TRY(cm_sql_prepare(handle, statement, error, query, "itt", CM_VIEWER_VALUES(q->viewer)));
  return bind(handle, *statement, q, error);
}

static cm_status read_cell(sqlite3_stmt *row, int column, cm_cell *cell, cm_error *error)
{
  const int type = sqlite3_column_type(row, column);
  *cell = (cm_cell){.kind = type == SQLITE_INTEGER ? CM_CELL_WHOLE : type == SQLITE_FLOAT ? CM_CELL_REAL : type == SQLITE_TEXT ? CM_CELL_TEXT : CM_CELL_NONE};
  cell->whole = cell->kind == CM_CELL_WHOLE ? sqlite3_column_int64(row, column) : 0;
  cell->real = cell->kind == CM_CELL_REAL ? sqlite3_column_double(row, column) : 0;
  return cell->kind == CM_CELL_TEXT ? cm_sql_text(row, column, &cell->text, error) : CM_OK;
}

void cm_list_page_clear(cm_list_page *page)
{
  for (size_t i = 0; i < page->count; i++) {
    for (size_t f = 0; f < FIELDS && page->rows[i].cells != NULL; f++)
      free(page->rows[i].cells[f].text);
    free(page->rows[i].cells);
    free(page->rows[i].at.text);
  }
  free(page->rows);
  *page = (cm_list_page){0};
}

/* ---- the two steps ---- */

static cm_status pick(sqlite3 *handle, text *t, const cm_list_query *q, cm_list_page *page, cm_error *error)
{
  sqlite3_stmt *statement;
  CM_TRY(CM_HEAP(page->rows, q->limit + 1, "a list", error));
  make_query(t, q, false);
  cm_status status = prepare(handle, &statement, t->query, q, error);
  while (cm_sql_next(statement, &status, error)) {
    page->more = page->count == q->limit;
    if (page->more)
      break;
    cm_list_row *made = &page->rows[page->count++];
    made->sequence = sqlite3_column_int64(statement, 0);
    status = read_cell(statement, 1, &made->at, error);
  }
  return cm_sql_end(statement, status, error);
}

static void make_look(text *t, cm_list list)
{
  t->used = 0;
  add(t, "SELECT t.id");
  bool network = false, job = false;
  for (size_t i = 0; i < FIELDS; i++)
    if (cm_fields[i].in[list] == CM_LISTED_SHOWN) {
      add(t, ", %s", cm_fields[i].value);
      network = network || names(&cm_fields[i], "n.");
      job = job || names(&cm_fields[i], "j.");
    }
  add(t, " FROM %s t%s%s WHERE t.rowid = ?4", lists[list].table, network ? JOIN_NETWORK : "", job ? JOIN_JOB : "");
}

static cm_status look(sqlite3 *handle, const text *t, const cm_list_query *q, cm_list_row *made, cm_error *error)
{
  sqlite3_stmt *statement;
  int column = 1;
  CM_TRY(CM_HEAP(made->cells, FIELDS, "a list", error));
  cm_status status = cm_sql_prepare(handle, &statement, error, t->query, "itti", CM_VIEWER_VALUES(q->viewer), made->sequence);
  const bool row = cm_sql_next(statement, &status, error);
  if (row)
    cm_sql_copy(statement, 0, made->id, sizeof made->id);
  for (size_t i = 0; i < FIELDS && status == CM_OK && row; i++)
    if (cm_fields[i].in[q->list] == CM_LISTED_SHOWN)
      status = read_cell(statement, column++, &made->cells[i], error);
  status = cm_sql_end(statement, status, error);
  return status == CM_OK ? cm_owners_get_in(handle, lists[q->list].object, made->id, q->viewer, &made->owner, error) : status;
}

static cm_status count_all(sqlite3 *handle, text *t, const cm_list_query *q, cm_list_page *page, cm_error *error)
{
  sqlite3_stmt *statement;
  make_query(t, q, true);
  cm_status status = prepare(handle, &statement, t->query, q, error);
  if (cm_sql_next(statement, &status, error))
    page->total = sqlite3_column_int64(statement, 0);
  return cm_sql_end(statement, status, error);
}

cm_status cm_lists_read_in(sqlite3 *handle, const cm_list_query *query, cm_list_page *page, cm_error *error)
{
  text *t;
  cm_list_page_clear(page);
  CM_TRY(CM_HEAP(t, 1, "a list", error));
  cm_status status = pick(handle, t, query, page, error);
  if (status == CM_OK)
    make_look(t, query->list);
  for (size_t i = 0; i < page->count && status == CM_OK; i++)
    status = look(handle, t, query, &page->rows[i], error);
  page->total = (int64_t)page->count;
  CM_THEN_IF(status, query->total && (page->more || query->after != 0), count_all(handle, t, query, page, error));
  free(t);
  return status;
}

cm_status cm_lists_read(cm_store *store, const cm_list_query *query, cm_list_page *page, cm_error *error)
{
  cm_reading r;
  *page = (cm_list_page){0};
  cm_status status = cm_reading_begin(store->database, false, &r, error);
  CM_THEN(status, cm_lists_read_in(r.handle, query, page, error));
  return cm_reading_end(&r, status);
}
