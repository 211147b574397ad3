/* Vertices of a table: in order of their numbers, where all names are numbers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/network/formats/entries.h"
#include "core/network/formats/table_rows.h"

typedef struct numbered {
  uint64_t value;
  uint32_t number;
} numbered;

static int by_value(const void *a, const void *b)
{
  uint64_t left = ((const numbered *)a)->value, right = ((const numbered *)b)->value;
  return left < right ? -1 : left > right;
}

/* A first line that states the size of a matrix reads as an edge from a vertex to itself whose number is beyond all. */
static cm_status refuse_head(cm_table *t, const numbered *last, cm_error *error)
{
  enum { FAR = 16, FAR_LEAST = 1000 };
  if (t->head_line == 0 || last->number != 0 || last->value <= FAR * (uint64_t)t->names.count + FAR_LEAST)
    return CM_OK;
  t->line = t->head_line;
  return cm_table_bad(t, cm_say("%llu and %llu look like the size of a matrix, not like an edge: no other line names a vertex near. Remove the line; a Matrix Market file begins with %%%%MatrixMarket. If it is an edge, put it after another one", (unsigned long long)last->value, (unsigned long long)last->value).text, error);
}

/* ---- names that are numbers ---- */

static cm_field name_at(const cm_names *names, uint32_t i)
{
  return (cm_field){names->text + names->first[i], names->first[i + 1] - names->first[i] - 1};
}

/* A number that went through a floating point one and cannot be told from its neighbours any more, or is not whole. */
static cm_status refuse_id(const cm_table *t, const cm_field *name, cm_id_kind kind, cm_error *error)
{
  return cm_fail(error, CM_BAD_NETWORK, "%s: the id '%.*s' %s", t->what != NULL ? t->what : "edge list", cm_field_shown(name), name->text,
                 kind == CM_ID_LOST ? "has lost digits: a floating point number tells ids apart up to 9007199254740992 (2^53) only; "
                                      "write ids as whole numbers, in Python from columns of int64 (dtype=str when they are read)"
                                    : "is no whole number, as ids are that are not names: are the columns others (columns=), or is it a "
                                      "matrix (format=matrix)?");
}

/* The number of each name; *numbers false: some are no numbers. */
static cm_status read_numbers(cm_table *t, numbered *ids, bool *numbers, bool *plain, cm_error *error)
{
  uint32_t wrong = t->names.count;
  cm_id_kind kind = CM_ID_WHOLE, worst = CM_ID_WHOLE;
  *plain = true;
  for (uint32_t i = 0; i < t->names.count && kind != CM_ID_NAME; i++) {
    const cm_field name = name_at(&t->names, i);
    ids[i].number = i;
    kind = cm_field_id(name.text, name.length, &ids[i].value);
    *plain = *plain && kind == CM_ID_WHOLE;
    if (kind > CM_ID_FLOAT && kind > worst) {
      wrong = i;
      worst = kind;
    }
  }
  *numbers = kind != CM_ID_NAME && (worst != CM_ID_FRACTION || !t->named);
  const cm_field name = *numbers && wrong < t->names.count ? name_at(&t->names, wrong) : (cm_field){NULL, 0};
  return name.text != NULL ? refuse_id(t, &name, worst, error) : CM_OK;
}

/* ---- vertices ---- */

/* Vertices by their numbers: place[i] is that of name i. Two names of one number are one vertex. */
static uint32_t place_names(const cm_table *t, const numbered *ids, uint32_t *place, double *rate)
{
  uint32_t vertices = 0;
  for (uint32_t k = 0; k < t->names.count; k++) {
    const uint32_t i = ids[k].number;
    const bool repeat = k > 0 && ids[k].value == ids[k - 1].value;
    const double said = t->rate != NULL && i < t->rate_room ? t->rate[i] : (double)NAN;
    place[i] = repeat ? vertices - 1 : vertices++;
    if (rate != NULL && (!repeat || !isnan(said)))
      rate[place[i]] = said;
  }
  return vertices;
}

static cm_status keep_labels(cm_table *t, const numbered *ids, uint32_t vertices, bool plain, cm_topology *made, cm_error *error)
{
  enum { DIGITS = 21 };
  const uint64_t room = plain ? t->names.first[t->names.count] : (uint64_t)vertices * DIGITS;
  CM_TRY(CM_NEW_ALL(t->memory, error, CM_ARRAY(made->label_text, room), CM_ARRAY(made->label_first, (size_t)vertices + 1)));
  uint32_t v = 0;
  for (uint32_t k = 0; k < t->names.count; k++) {
    if (k > 0 && ids[k].value == ids[k - 1].value)
      continue;
    const uint64_t at = made->label_first[v];
    made->label_first[++v] =
      at + 1 + (uint64_t)snprintf(made->label_text + at, room - at, "%llu", (unsigned long long)ids[k].value);
  }
  CM_TRIM(t->memory, made->label_text, made->label_first[v]);
  return CM_OK;
}

static cm_status order(cm_table *t, numbered *ids, uint32_t *place, bool plain, cm_topology *made, cm_error *error)
{
  double *rate = NULL;
  CM_TRY_IF(t->rate != NULL, CM_NEW(t->memory, rate, t->names.count, error));
  qsort(ids, t->names.count, sizeof *ids, by_value);
  if (refuse_head(t, &ids[t->names.count - 1], error) != CM_OK) {
    cm_free(rate);
    return error->status;
  }
  made->vertex_count = place_names(t, ids, place, rate);
  made->size_total = made->vertex_count;
  for (uint64_t e = 0; e < t->edges.count; e++) {
    t->edges.from[e] = place[t->edges.from[e]];
    t->edges.to[e] = place[t->edges.to[e]];
  }
  if (rate != NULL) {
    cm_free(t->rate);
    t->rate = rate;
    t->rate_room = t->names.count;
  }
  return ids[t->names.count - 1].value + 1 == made->vertex_count ? CM_OK : keep_labels(t, ids, made->vertex_count, plain, made, error);
}

static void keep_names(cm_table *t, cm_topology *made)
{
  cm_names *names = &t->names;
  CM_TRIM(t->memory, names->text, names->first[names->count]);
  CM_TRIM(t->memory, names->first, (uint64_t)names->count + 1);
  made->label_text = names->text;
  made->label_first = names->first;
  names->text = NULL;
  names->first = NULL;
}

/* Where every name is a whole number, vertices go in order of these numbers. */
static cm_status order_names(cm_table *t, cm_topology *made, cm_error *error)
{
  numbered *ids = NULL;
  uint32_t *place = NULL;
  bool numbers = false, plain = false;
  cm_free(t->names.slot);
  t->names.slot = NULL;
  if (t->names.count == 0)
    return CM_OK;
  cm_status status = CM_NEW_ALL(t->memory, error, CM_ARRAY(ids, t->names.count), CM_ARRAY(place, t->names.count));
  CM_THEN(status, read_numbers(t, ids, &numbers, &plain, error));
  if (status == CM_OK && numbers)
    status = order(t, ids, place, plain, made, error);
  else if (status == CM_OK)
    keep_names(t, made);
  CM_FREE(ids, place);
  return status;
}

cm_status cm_table_close(cm_table *t, cm_topology *made, cm_error *error)
{
  made->directed = !t->undirected;
  made->self_loop_count = t->undirected ? cm_entries_drop_loops(&t->edges) : 0;
  made->vertex_count = t->names.count;
  made->size_total = made->vertex_count;
  return order_names(t, made, error) == CM_OK ? cm_entries_close(&t->edges, made, error) : error->status;
}
