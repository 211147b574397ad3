/* Vertices of a table: in order of their numbers, where all names are numbers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
  char text[300];
  (void)snprintf(text, sizeof text,
                 "%llu and %llu look like the size of a matrix, not like an edge: no other line names a vertex near. Remove "
                 "the line; a Matrix Market file begins with %%%%MatrixMarket. If it is an edge, put it after another one",
                 (unsigned long long)last->value, (unsigned long long)last->value);
  return cm_table_bad(t, text, error);
}

/* Where every name is a whole number, vertices go in order of these numbers. */
static cm_status order_names(cm_table *t, cm_topology *made, cm_error *error)
{
  cm_names *names = &t->names;
  numbered *ids = NULL;
  uint32_t *place = NULL;
  double *rate = NULL;
  bool same = true; /* every name is its vertex's number already */
  uint64_t value;
  cm_free(names->slot);
  names->slot = NULL;
  for (uint32_t i = 0; i < names->count; i++) {
    if (!cm_field_whole(names->text + names->first[i], names->first[i + 1] - names->first[i] - 1, &value))
      goto keep;
    same = same && value == i;
  }
  if (same)
    return CM_OK;
  if (CM_NEW(t->memory, ids, names->count, error) != CM_OK ||
      CM_NEW(t->memory, place, names->count, error) != CM_OK ||
      CM_NEW(t->memory, made->label_text, names->first[names->count], error) != CM_OK ||
      CM_NEW(t->memory, made->label_first, (size_t)names->count + 1, error) != CM_OK ||
      (t->rate != NULL && CM_NEW(t->memory, rate, names->count, error) != CM_OK)) {
    cm_free(ids);
    cm_free(place);
    return error->status;
  }
  for (uint32_t i = 0; i < names->count; i++) {
    cm_field_whole(names->text + names->first[i], names->first[i + 1] - names->first[i] - 1, &value);
    ids[i] = (numbered){value, i};
  }
  qsort(ids, names->count, sizeof *ids, by_value);
  if (refuse_head(t, &ids[names->count - 1], error) != CM_OK) {
    cm_free(ids);
    cm_free(place);
    cm_free(rate);
    return error->status;
  }
  same = true;
  for (uint32_t v = 0; v < names->count; v++) {
    uint32_t i = ids[v].number;
    uint64_t size = names->first[i + 1] - names->first[i];
    same = same && ids[v].value == v;
    place[i] = v;
    if (rate != NULL)
      rate[v] = i < t->rate_room ? t->rate[i] : NAN;
    memcpy(made->label_text + made->label_first[v], names->text + names->first[i], size);
    made->label_first[v + 1] = made->label_first[v] + size;
  }
  for (uint64_t e = 0; e < t->edges.count; e++) {
    t->edges.from[e] = place[t->edges.from[e]];
    t->edges.to[e] = place[t->edges.to[e]];
  }
  if (rate != NULL) {
    cm_free(t->rate);
    t->rate = rate;
    t->rate_room = names->count;
  }
  cm_free(ids);
  cm_free(place);
  if (same) {
    cm_free(made->label_text);
    cm_free(made->label_first);
    made->label_text = NULL;
    made->label_first = NULL;
  }
  return CM_OK;

keep:
  CM_TRIM(t->memory, names->text, names->first[names->count]);
  CM_TRIM(t->memory, names->first, (uint64_t)names->count + 1);
  made->label_text = names->text;
  made->label_first = names->first;
  names->text = NULL;
  names->first = NULL;
  return CM_OK;
}

cm_status cm_table_close(cm_table *t, cm_topology *made, cm_error *error)
{
  made->directed = true;
  made->vertex_count = t->names.count;
  made->size_total = made->vertex_count;
  return order_names(t, made, error) == CM_OK ? cm_entries_close(&t->edges, made, error) : error->status;
}

