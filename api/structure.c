/* Questions about the structure of a mapping: /v1/mappings/{id}/flows, /tree, /matrix, /routers, /diff, and those that /links and /neurons take. They are
 * answered from a view that is made when somebody first asks. It tells of the network: for those who see that. */
#include <unistd.h>

#include "api/handlers.h"
#include "library/private/base.h"
#include "library/private/stored.h"

static const char view[] = "structure.bin";

enum { ARGUMENTS_MAX = CM_QUERY_MAX };

typedef struct question {
  const char *kind;
  const char *argument[2 * ARGUMENTS_MAX + 1]; /* names and values by turns */
  cm_mapping_row mapping, with;
  const char *compared; /* the id of `with`; NULL: nothing is compared */
  int file, other;      /* -1: not open */
} question;

/* The arguments of the route that the request has, but for those that are no part of the question. */
static void take_arguments(const cm_request *request, question *q)
{
  size_t count = 0;
  static const char *const names[] = {"sort", "limit", "axons", "axon", "core", "neuron", "population", "link", "find", "by"};
  for (size_t i = 0; i < sizeof names / sizeof *names && count < 2 * ARGUMENTS_MAX; i++) {
    const char *value = cm_request_query(request, names[i]);
    if (value == NULL)
      continue;
    q->argument[count++] = names[i];
    q->argument[count++] = value;
  }
}

/* A tag of what is asked; a mapping never changes. */
static void tag(const question *q, char etag[CM_ID_MAX + 64])
{
  uint64_t hash = UINT64_C(14695981039346656037);
  for (size_t i = 0; q->argument[i] != NULL; i++)
    for (const char *p = q->argument[i];; p++) {
      hash = (hash ^ (unsigned char)*p) * UINT64_C(1099511628211);
      if (*p == '\0')
        break;
    }
  (void)snprintf(etag, CM_ID_MAX + 64, "%s-%s-%016llx%s%.20s", q->mapping.id, q->kind, (unsigned long long)hash, q->compared != NULL ? "-" : "",
                 q->compared != NULL ? q->compared : "");
}

static cm_status make(cm_request *request, const cm_mapping_row *mapping, int *file, cm_error *error)
{
  if (*file >= 0)
    close(*file);
  *file = -1;
  return cm_view_make(request, mapping, view, file, error);
}

static cm_status open_one(cm_request *request, const cm_mapping_row *mapping, int *file, cm_error *error)
{
  cm_status status = cm_mappings_open(request->store, mapping->id, view, file, error);
  return status == CM_NOT_FOUND ? make(request, mapping, file, error) : status;
}

/* The answer's text; one from views that another release has written is given after they are made anew. */
static cm_status answer(cm_request *request, question *q, char **text, cm_error *error)
{
  cm_status status = CM_OK;
  for (int again = 0; again < 2; again++) {
    coremap_error *why = NULL;
    if (again == 0) {
      status = open_one(request, &q->mapping, &q->file, error);
      CM_THEN_IF(status, q->compared != NULL, open_one(request, &q->with, &q->other, error));
    } else {
      status = make(request, &q->mapping, &q->file, error);
      CM_THEN_IF(status, q->compared != NULL, make(request, &q->with, &q->other, error));
    }
    CM_THEN(status, library_status(library_structure_answer(q->file, q->other, q->kind, q->argument, text, &why), &why, error));
    if (status != CM_DAMAGED)
      break;
  }
  return status;
}

static void reply(cm_request *request, question *q)
{
  char etag[CM_ID_MAX + 64], *text;
  tag(q, etag);
  if (cm_reply_unchanged(request, etag))
    return;
  cm_status status = answer(request, q, &text, &request->error);
  if (q->file >= 0)
    close(q->file);
  if (q->other >= 0)
    close(q->other);
  if (!cm_reply_ok(request, status))
    return;
  cm_reply_text(request, 200, "application/json", text, strlen(text));
  cm_reply_header(request, "ETag", "\"%s\"", etag);
}

/* Whose mapping it is, and whether its network may be told of; false: the reply is set. */
static bool begin(cm_request *request, question *q, const char *kind)
{
  const char *format = cm_request_query(request, "format");
  *q = (question){.kind = kind, .file = -1, .other = -1};
  if ((format != NULL && strcmp(format, "json") != 0) || cm_request_query(request, "part") != NULL)
    return CM_REPLY_BAD(request, "answers to questions come as json alone, and without a part");
  if (!cm_reply_ok(request, cm_mappings_get(request->store, request->param[0], &q->mapping, &request->error)))
    return false;
  take_arguments(request, q);
  return cm_mapping_shows_network(request, &q->mapping, "looked into");
}

void cm_structure_reply(cm_request *request, const char *kind)
{
  question q;
  if (begin(request, &q, kind))
    reply(request, &q);
}

void cm_get_mapping_question(cm_request *request)
{
  cm_structure_reply(request, strrchr(request->route->pattern, '/') + 1);
}

/* Another mapping that the caller sees, of the same network and chip; false: the reply is set. */
static bool find_other(cm_request *request, question *q)
{
  const char *with = cm_request_query(request, "with");
  if (with == NULL)
    return CM_REPLY_BAD(request, "name the mapping to compare with: ?with=ID");
  if (!cm_access_sees(request, CM_OBJECT_MAPPING, with, "with"))
    return false;
  if (!cm_reply_ok(request, cm_mappings_get(request->store, with, &q->with, &request->error)))
    return false;
  q->compared = q->with.id;
  if (strcmp(q->with.network, q->mapping.network) == 0)
    return true;
  return cm_reply_problem(request, 409, "conflict", "These mappings do not compare",
                          "mapping %s is of another network: compare mappings of one network", q->with.id);
}

void cm_get_mapping_diff(cm_request *request)
{
  question q;
  if (begin(request, &q, "diff") && find_other(request, &q))
    reply(request, &q);
}
