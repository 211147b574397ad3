/* /v1/mappings: every view is a file that was written when the job ended; it is served with ETag and Range. */
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/handlers.h"
#include "base/json.h"
#include "base/number.h"
#include "library/private/base.h"
#include "library/private/stored.h"

enum { PARETO_NAME_MAX = 32 };

/* ---- choosing a representation ---- */

/* The weight that an Accept header gives to a media type, 0 to 1000; the most specific range counts (RFC 9110). */
static int weight(const char *accept, const char *type)
{
  int best = 0, best_rank = -1;
  size_t major = strcspn(type, "/") + 1, length = strcspn(type, ";");
  for (const char *p = accept; *p != '\0';) {
    size_t end = strcspn(p, ","), name = strcspn(p, ",; \t");
    int rank = name == length && strncasecmp(p, type, length) == 0                           ? 2
               : name == major + 1 && strncasecmp(p, type, major) == 0 && p[major] == '*' ? 1
               : name == 3 && strncmp(p, "*/*", 3) == 0                                       ? 0
                                                                                               : -1;
    if (rank > best_rank) {
      const char *q = p + name;
      double value = 1;
      while (q < p + end && (q = strpbrk(q, ";,")) != NULL && q < p + end) {
        q += 1 + strspn(q + 1, " \t");
        if ((q[0] == 'q' || q[0] == 'Q') && q[1] == '=')
          value = strtod(q + 2, NULL);
      }
      best_rank = rank;
      best = value >= 0 && value <= 1 ? (int)(value * 1000 + 0.5) : 0;
    }
    p += end;
    p += strspn(p, ", \t");
  }
  return best;
}

/* The forms of a table of a mapping, WHAT.json and so on; `type` is that of the file. */
static const struct {
  const char *word, *type;
} forms[] = {{"json", "application/json"}, {"csv", "text/csv"}, {"bin", "application/octet-stream"}};
enum { FORMS = sizeof forms / sizeof *forms, VIEW_NAME_MAX = 24 };

/* The form that ?format= or Accept asks for, the first one of equals; FORMS: the reply (400, 406) is set. */
static size_t choose(cm_request *request, const char *what, char view[VIEW_NAME_MAX])
{
  const char *format = cm_request_query(request, "format"), *accept = cm_request_header(request, "Accept");
  size_t best = FORMS;
  int best_weight = 0;
  for (size_t i = 0; i < FORMS; i++) {
    const int w = format != NULL ? strcmp(format, forms[i].word) == 0 : accept == NULL ? 1000 - (int)i : weight(accept, forms[i].type);
    if (w > best_weight) {
      best_weight = w;
      best = i;
    }
  }
  if (best < FORMS)
    (void)snprintf(view, VIEW_NAME_MAX, "%s.%s", what, forms[best].word);
  else if (format != NULL)
    CM_REPLY_BAD(request, "format must be json, csv or bin");
  else
    cm_reply_problem(request, 406, "not-acceptable", "No representation fits",
                     "there are application/json, text/csv and application/octet-stream");
  return best;
}

/* ---- replies ---- */

/* The mapping's row, and one of its files, to be read as a stream; NULL: the reply is set. */
static FILE *open_view(cm_request *request, const char *name, cm_mapping_row *mapping)
{
  int file = -1;
  cm_status status = cm_mappings_get(request->store, request->param[0], mapping, &request->error);
  CM_THEN(status, cm_mappings_open(request->store, mapping->id, name, &file, &request->error));
  FILE *stream = cm_reply_ok(request, status) ? fdopen(file, "r") : NULL;
  if (status == CM_OK && stream == NULL) {
    close(file);
    cm_reply_text(request, 503, NULL, NULL, 0);
  }
  return stream;
}

/* Whether a view may be made when it is first asked for. */
static bool is_late(const char *name)
{
  for (const char *const *late = library_late_views; *late != NULL; late++)
    if (strcmp(*late, name) == 0)
      return true;
  return false;
}

char *cm_file_text(int file)
{
  struct stat about;
  FILE *stream = fdopen(file, "rbe");
  char *text = stream != NULL && fstat(file, &about) == 0 ? malloc((size_t)about.st_size + 1) : NULL;
  if (text != NULL)
    text[fread(text, 1, (size_t)about.st_size, stream)] = '\0';
  if (stream != NULL)
    (void)fclose(stream);
  else
    close(file);
  return text;
}

/* A summary of the version before in the names of now: *file is another one, then. */
static cm_status rename_summary(int *file, cm_error *error)
{
  coremap_error *why = NULL;
  char *now, *text = cm_file_text(dup(*file));
  (void)lseek(*file, 0, SEEK_SET); /* both have read */
  if (text == NULL)
    return cm_fail(error, CM_IO, "the summary of the mapping cannot be read now");
  cm_status status = library_status(library_names_of_now(text, &now, &why), &why, error);
  free(text);
  if (status != CM_OK || now == NULL)
    return status;
  int renamed = memfd_create("summary", MFD_CLOEXEC);
  const size_t size = strlen(now);
  if (renamed >= 0 && write(renamed, now, size) == (ssize_t)size && lseek(renamed, 0, SEEK_SET) == 0) {
    close(*file);
    *file = renamed;
  } else {
    status = cm_whole(false, "the summary of a mapping", error);
    if (renamed >= 0)
      close(renamed);
  }
  coremap_text_free(now);
  return status;
}

static void reply_view(cm_request *request, const char *v, const char *type)
{
  const bool summary = strcmp(v, "summary.json") == 0;
  cm_mapping_row mapping;
  char etag[CM_ID_MAX + 24];
  if (!cm_reply_ok(request, cm_mappings_get(request->store, request->param[0], &mapping, &request->error)))
    return;
  /* A mapping never changes: its id and the view name the bytes. */
  (void)snprintf(etag, sizeof etag, "%s-%s", mapping.id, summary ? "summary" : v);
  if (cm_reply_known(request, type, etag, "Accept"))
    return;
  int file;
  cm_status status = cm_mappings_open(request->store, mapping.id, v, &file, &request->error);
  if (status == CM_NOT_FOUND && is_late(v))
    status = cm_view_make(request, &mapping, v, &file, &request->error);
  if (status == CM_OK && summary && (status = rename_summary(&file, &request->error)) != CM_OK)
    close(file);
  if (cm_reply_ok(request, status))
    cm_reply_opened(request, file, type, etag, "Accept");
}

/* By the end of the route's pattern. */
void cm_get_mapping_view(cm_request *request)
{
  static const struct {
    const char *end, *view, *type;
  } views[] = {{"/certificate", "certificate.json", "application/json"},
               {"/part", "mapping.part", "text/plain; charset=utf-8"},
               {"/placement", "placement.csv", "text/csv"},
               {"/content", "mapping.json", "application/json"}, /* as `coremap map -o` writes it and `coremap check` reads it */
               {"/{id}", "summary.json", "application/json"}};
  size_t i = 0;
  while (strcmp(strrchr(request->route->pattern, '/'), views[i].end) != 0)
    i++;
  reply_view(request, views[i].view, views[i].type);
}

/* A table of which somebody may ask for less. */
static void reply_table_or(cm_request *request, const char *what, bool less, void (*reply_less)(cm_request *request, const char *view, const char *type))
{
  char view[VIEW_NAME_MAX];
  const size_t form = choose(request, what, view);
  if (form < FORMS)
    (less ? reply_less : reply_view)(request, view, forms[form].type);
}

void cm_get_mapping_cores(cm_request *request)
{
  reply_table_or(request, "cores", cm_request_query(request, "box") != NULL || cm_request_query(request, "block") != NULL, cm_cores_reply);
}

void cm_get_mapping_links(cm_request *request)
{
  if (cm_request_query(request, "sort") != NULL || cm_request_query(request, "limit") != NULL || cm_request_query(request, "axons") != NULL)
    cm_structure_reply(request, "links");
  else
    reply_table_or(request, "links", false, NULL);
}

void cm_get_mapping_routes(cm_request *request)
{
  reply_table_or(request, "routes", false, NULL);
}

/* A file of a Pareto set: only mappings of objective pareto have them. */
static void reply_pareto(cm_request *request, const char *name, const char *type)
{
  cm_mapping_row mapping;
  int file;
  char etag[CM_ID_MAX + PARETO_NAME_MAX + 2];
  if (!cm_reply_ok(request, cm_mappings_get(request->store, request->param[0], &mapping, &request->error)))
    return;
  cm_status status = cm_mappings_open(request->store, mapping.id, name, &file, &request->error);
  if (status == CM_NOT_FOUND)
    cm_reply_problem(request, 404, "not-found", "There is no such mapping in a Pareto set",
                     "only mappings of objective pareto have a set, whose mappings are numbered from 1");
  else if (cm_reply_ok(request, status)) {
    (void)snprintf(etag, sizeof etag, "%s-%s", mapping.id, name);
    if (cm_reply_known(request, type, etag, ""))
      close(file);
    else
      cm_reply_opened(request, file, type, etag, "");
  }
}

/* The table of a set, and which mapping each of its points is, as far as the caller sees it; NULL: no memory, or the table is none. */
static char *table_with_ids(int file, const char *id, const cm_list_page *page)
{
  char *text = cm_file_text(file);
  json_t *table = text != NULL ? cm_json_loadb(text, strlen(text), 0, NULL) : NULL, *point;
  size_t i;
  free(text);
  json_array_foreach(json_object_get(table, "points"), i, point) {
    const json_int_t number = json_integer_value(json_object_get(point, "number"));
    if (number == json_integer_value(json_object_get(table, "chosen")))
      (void)json_object_set_new(point, "mapping", json_string(id));
    for (size_t k = 0; k < page->count; k++)
      if (cm_list_cell(CM_LIST_MAPPINGS, &page->rows[k], "point")->whole == number)
        (void)json_object_set_new(point, "mapping", json_string(page->rows[k].id));
  }
  text = table != NULL ? cm_json_dumps(table, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) : NULL;
  json_decref(table);
  return text;
}

static void reply_table(cm_request *request)
{
  cm_list_page page;
  int file;
  const char *id = request->param[0];
  const cm_list_query points = {.list = CM_LIST_MAPPINGS, .viewer = &request->viewer, .limit = CM_JOB_POINTS_MAX, .count = 1,
                                .conditions = {{.field = cm_field_of(CM_LIST_MAPPINGS, "pareto"), .text = id}}};
  cm_status status = cm_lists_read(request->store, &points, &page, &request->error);
  CM_THEN(status, cm_mappings_open(request->store, id, "pareto.json", &file, &request->error));
  if (status == CM_NOT_FOUND)
    cm_reply_problem(request, 404, "not-found", "There is no such mapping in a Pareto set", "only the first mapping of a job of objective pareto has a set");
  else if (cm_reply_ok(request, status)) {
    char *text = table_with_ids(file, id, &page), tag[CM_SHA_MAX];
    cm_store_sha256(text != NULL ? text : "", text != NULL ? strlen(text) : 0, tag);
    if (cm_reply_unchanged(request, tag))
      free(text);
    else {
      cm_reply_text(request, 200, "application/json", text, text != NULL ? strlen(text) : 0);
      cm_reply_header(request, "ETag", "\"%s\"", tag);
    }
  }
  cm_list_page_clear(&page);
}

void cm_get_mapping_pareto(cm_request *request)
{
  const char *format = cm_request_query(request, "format");
  if (format != NULL && strcmp(format, "json") != 0 && strcmp(format, "svg") != 0)
    CM_REPLY_BAD(request, "format must be json or svg");
  else if (format != NULL && strcmp(format, "svg") == 0)
    reply_pareto(request, "pareto.svg", "image/svg+xml");
  else
    reply_table(request);
}

void cm_get_mapping_pareto_point(cm_request *request)
{
  char name[PARETO_NAME_MAX];
  uint64_t number;
  if (!cm_whole_parse(request->param[1], &number) || number > UINT32_MAX)
    number = 0; /* there is none */
  (void)snprintf(name, sizeof name, "pareto-%llu.json", (unsigned long long)number);
  reply_pareto(request, name, "application/json");
}

/* ---- commit: a mapping made as a trial takes its cores ---- */

/* The cores of placement.csv (part,x,y) as a list of [x,y]; NULL when it cannot be read. */
static json_t *placed_cores(FILE *stream)
{
  json_t *list = json_array();
  char line[128];
  bool header = true;
  while (list != NULL && fgets(line, sizeof line, stream) != NULL) {
    unsigned part, x, y;
    if (header)
      header = false;
    else if (sscanf(line, "%u,%u,%u", &part, &x, &y) != 3 ||
             json_array_append_new(list, json_pack("[I,I]", (json_int_t)x, (json_int_t)y)) != 0) {
      json_decref(list);
      list = NULL;
    }
  }
  return list;
}

void cm_commit_mapping(cm_request *request)
{
  cm_mapping_row mapping;
  cm_owner chip;
  cm_lease lease;
  FILE *stream = NULL;
  cm_lease_request wanted = {.owner = "", .ttl = cm_lease_ttl_default_s};
  json_t *object = request->body_size > 0 ? cm_request_json(request) : json_object();
  if (object == NULL)
    return;
  if (cm_request_lease(request, object, &wanted) && (stream = open_view(request, "placement.csv", &mapping)) != NULL &&
      cm_access_sees_behind(request, CM_OBJECT_CHIP, mapping.chip, "the chip of this mapping", &chip) &&
      cm_access_derive(request, object, &mapping.owner, &wanted.whose) && cm_access_derive(request, object, &chip, &wanted.whose)) {
    json_t *cores = placed_cores(stream);
    wanted.chip = mapping.chip;
    wanted.job = mapping.job;
    wanted.cores = cores;
    if (cores == NULL)
      (void)cm_fail(&request->error, CM_IO, "the mapping's placement cannot be read");
    if (cores == NULL || cm_leases_create(request->store, &wanted, &lease, &request->error) != CM_OK)
      cm_reply_error(request, &request->error);
    else {
      cm_reply_lease(request, 201, &lease);
      cm_lease_clear(&lease);
    }
    json_decref(cores);
  }
  if (stream != NULL)
    fclose(stream);
  json_decref(object);
}

void cm_delete_mapping(cm_request *request)
{
  cm_mapping_row mapping;
  if (cm_reply_ok(request, cm_mappings_get(request->store, request->param[0], &mapping, &request->error)))
    cm_request_delete(request, CM_OBJECT_MAPPING, mapping.id);
}

/* ---- the neurons of one part ---- */

/* Reads one field of a CSV record (RFC 4180) into `field`, cut when longer; returns the character that ended it:
 * ',', '\n' or EOF. Names may hold commas, quotes and line ends. */
static int read_field(FILE *stream, char *field, size_t size)
{
  size_t used = 0;
  int c = getc_unlocked(stream);
  bool quoted = c == '"';
  if (quoted)
    c = getc_unlocked(stream);
  for (; c != EOF; c = getc_unlocked(stream)) {
    if (quoted && c == '"' && (c = getc_unlocked(stream)) != '"')
      quoted = false;
    if (!quoted && (c == ',' || c == '\n' || c == EOF))
      break;
    if (used + 1 < size && c != '\r')
      field[used++] = (char)c;
  }
  field[used] = '\0';
  return c;
}

/* Streams neurons.csv (neuron,name,part,x,y) and keeps the rows of one part: O(neurons) time, O(neurons of the part)
 * memory. NULL when out of memory. */
static json_t *neurons_of(FILE *stream, uint64_t part)
{
  enum { NEURON, NAME, PART, FIELDS };
  char field[FIELDS][512], rest[32];
  json_t *list = json_array();
  int end = '\n';
  do /* the header line */
    end = read_field(stream, rest, sizeof rest);
  while (end == ',');
  while (end != EOF) {
    int count = 0;
    for (end = ','; end == ','; count++)
      end = count < FIELDS ? read_field(stream, field[count], sizeof *field) : read_field(stream, rest, sizeof rest);
    if (count < FIELDS || strtoull(field[PART], NULL, 10) != part)
      continue;
    json_t *row = json_pack("{s:I}", "neuron", (json_int_t)strtoull(field[NEURON], NULL, 10));
    if (field[NAME][0] != '\0')
      (void)json_object_set_new(row, "name", json_string(field[NAME]));
    if (json_array_append_new(list, row) != 0) {
      json_decref(list);
      return NULL;
    }
  }
  return list;
}

static void reply_neurons_of(cm_request *request, uint64_t part)
{
  cm_mapping_row mapping;
  char etag[CM_ID_MAX + 32];
  if (!cm_reply_ok(request, cm_mappings_get(request->store, request->param[0], &mapping, &request->error)))
    return;
  (void)snprintf(etag, sizeof etag, "%s-neurons-%llu", mapping.id, (unsigned long long)part);
  if (cm_reply_unchanged(request, etag))
    return;
  FILE *stream = open_view(request, "neurons.csv", &mapping);
  if (stream == NULL)
    return;
  json_t *list = neurons_of(stream, part);
  fclose(stream);
  if (list != NULL && json_array_size(list) == 0) { /* every part has neurons */
    json_decref(list);
    cm_reply_problem(request, 404, "not-found", "There is no such part", "the mapping has no part %llu",
                     (unsigned long long)part);
    return;
  }
  cm_reply_json(request, 200, list != NULL ? json_pack("{s:I, s:o}", "part", (json_int_t)part, "neurons", list) : NULL);
  cm_reply_header(request, "ETag", "\"%s\"", etag);
}

void cm_get_mapping_neurons(cm_request *request)
{
  uint64_t part;
  const char *format = cm_request_query(request, "format");
  if (cm_request_query(request, "find") != NULL || cm_request_query(request, "limit") != NULL)
    cm_structure_reply(request, "neurons");
  else if (!cm_request_number(request, "part", 0, UINT32_MAX, UINT64_MAX, &part))
    return;
  else if (part == UINT64_MAX)
    reply_table_or(request, "neurons", false, NULL);
  else if (format != NULL && strcmp(format, "json") != 0)
    CM_REPLY_BAD(request, "the neurons of one part come as json only");
  else
    reply_neurons_of(request, part);
}
