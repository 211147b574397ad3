/* Tables of SONATA types: what edges weigh that do not say it themselves, and what nodes are. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/network/formats/table_rows.h"
#include "core/network/hdf5/sonata_circuit.h"

static const char *const type_words[] = {"edge_type_id", "syn_weight", "delay", "nsyns", "node_type_id", "model_type", "model_template", "dynamics_params"};
enum { TYPE_EDGE, TYPE_WEIGHT, TYPE_DELAY, TYPE_SYNAPSES, TYPE_NODE, TYPE_MODEL, TYPE_TEMPLATE, TYPE_DYNAMICS, TYPE_WORDS };

static cm_status type_number(cm_table *t, const int at[TYPE_WORDS], int word, double *value, cm_error *error)
{
  const cm_field *f = at[word] >= 0 ? &t->fields[at[word]] : NULL;
  *value = NAN;
  if (f == NULL || f->length == 0 || (f->length == 4 && strncasecmp(f->text, "NULL", 4) == 0) ||
      (f->length == 3 && strncasecmp(f->text, "nan", 3) == 0))
    return CM_OK;
  return cm_table_number(t, f, type_words[word], value, error);
}

static bool says(const cm_table *t, int at, const char *word)
{
  return at >= 0 && t->fields[at].length == strlen(word) && strncmp(t->fields[at].text, word, t->fields[at].length) == 0;
}

/* A column of words, cut to its room. */
static void take_word(const cm_table *t, int at, char *text, size_t room)
{
  if (at >= 0)
    (void)snprintf(text, room, "%.*s", (int)t->fields[at].length, t->fields[at].text);
}

static cm_status take_type(sonata_files *c, cm_table *t, const int at[TYPE_WORDS], bool edges, cm_error *error)
{
  sonata *s = c->s;
  sonata_type type = {.sign = 1};
  const cm_field *id = &t->fields[at[edges ? TYPE_EDGE : TYPE_NODE]];
  if (!cm_field_whole(id->text, id->length, &type.id))
    return cm_table_bad(t, "the type's id is no whole number", error);
  if (edges) {
    CM_TRY(type_number(t, at, TYPE_WEIGHT, &type.weight, error));
    CM_TRY(type_number(t, at, TYPE_DELAY, &type.delay_ms, error));
    CM_TRY(type_number(t, at, TYPE_SYNAPSES, &type.synapses, error));
    CM_TRY(CM_ROOM(s->memory, s->types, &s->types_room, s->type_count + 1, error));
    if (type.delay_ms < 0)
      return cm_table_bad(t, "the delay is negative", error);
    take_word(t, at[TYPE_DYNAMICS], type.dynamics, sizeof type.dynamics);
    s->types[s->type_count++] = type;
    return CM_OK;
  }
  sonata_node_type made = {.id = type.id, .is_virtual = says(t, at[TYPE_MODEL], "virtual")};
  for (int k = 1; k < SONATA_POINTS; k++)
    if (says(t, at[TYPE_TEMPLATE], sonata_point_names[k]))
      made.point = (sonata_point)k;
  take_word(t, at[at[TYPE_TEMPLATE] < 0 ? TYPE_MODEL : TYPE_TEMPLATE], made.template, sizeof made.template);
  take_word(t, at[TYPE_DYNAMICS], made.dynamics, sizeof made.dynamics);
  CM_TRY(CM_ROOM(s->memory, c->node_type, &c->node_type_room, c->node_types + 1, error));
  c->node_type[c->node_types++] = made;
  return CM_OK;
}

static int by_id(const void *a, const void *b)
{
  uint64_t x = ((const sonata_type *)a)->id, y = ((const sonata_type *)b)->id;
  return x < y ? -1 : x > y;
}

/* Reads the table that `path` names; NULL or "": there is none. */
cm_status sonata_types_read(sonata_files *c, const char *path, bool edges, cm_error *error)
{
  const char *line = NULL;
  size_t length = 0;
  uint64_t member;
  int at[TYPE_WORDS];
  size_t fields = 0;
  c->s->type_count = c->node_types = 0;
  if (path == NULL || path[0] == '\0' || strcmp(path, "NULL") == 0)
    return CM_OK;
  CM_TRY(sonata_member_find(c, path, &member, error));
  CM_TRY(sonata_member_open(c, member, error));
  cm_table t = {.source = &c->member, .what = "SONATA types", .limits = c->s->limits, .run = c->s->run, .memory = c->s->memory};
  cm_status status = CM_OK;
  for (bool end = false; status == CM_OK;) {
    status = cm_table_next_line(&t, &line, &length, &end, error);
    if (status != CM_OK || end)
      break;
    if (length == 0)
      continue;
    if (t.separator == 0)
      cm_table_find_separator(&t, line, length);
    status = cm_table_split(&t, line, length, error);
    if (status == CM_OK && fields == 0) {
      fields = t.field_count;
      for (int w = 0; w < TYPE_WORDS; w++) {
        at[w] = CM_COLUMN_NONE;
        for (size_t i = 0; i < fields; i++)
          if (says(&t, (int)i, type_words[w]))
            at[w] = (int)i;
      }
      if (at[edges ? TYPE_EDGE : TYPE_NODE] < 0)
        status = cm_table_bad(&t, edges ? "a header with edge_type_id is expected" : "a header with node_type_id is expected", error);
    } else if (status == CM_OK)
      status = t.field_count == fields ? take_type(c, &t, at, edges, error)
                                       : cm_table_bad(&t, "it has another number of fields than the header", error);
  }
  cm_table_free(&t);
  sonata_member_close(c);
  for (uint64_t i = 0; i < c->node_types && status == CM_OK; i++)
    status = sonata_point_read(c, &c->node_type[i], error);
  for (uint64_t i = 0; i < c->s->type_count && status == CM_OK; i++)
    status = sonata_sign_read(c, &c->s->types[i], error);
  if (status == CM_OK && c->s->type_count > 1)
    qsort(c->s->types, c->s->type_count, sizeof *c->s->types, by_id);
  return status;
}
