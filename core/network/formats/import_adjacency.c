/* Adjacency lists: a row for each neuron, itself and then its targets, as NetworkX writes them.
 *
 * Happy path: names become numbers; what follows the first of a row is its targets. What can fail: names that are no text, a neuron
 * with two rows, targets without a row where nobody said that it is such a list. */

#include "core/network/formats/adjacency.h"
#include "core/network/formats/readers.h"
#include "core/network/formats/table_rows.h"
#include "core/network/import_limits.h"
#include "core/network/recognise.h"

typedef struct adjacency {
  cm_table table;
  uint8_t *has_row; /* [names.count] */
  uint64_t room;
  bool repeats;     /* a neighbour stands twice in a row, or next to itself */
} adjacency;

static cm_status vertex(adjacency *a, size_t field, uint32_t *number, cm_error *error)
{
  cm_table *t = &a->table;
  const uint32_t before = t->names.count;
  CM_TRY(cm_table_name(t, &t->fields[field], field == 0 ? "source" : "target", number, error));
  CM_TRY(CM_ROOM(t->memory, a->has_row, &a->room, t->names.count, error));
  if (t->names.count > before)
    a->has_row[before] = 0;
  return CM_OK;
}

static cm_status read_row(adjacency *a, cm_error *error)
{
  cm_table *t = &a->table;
  uint32_t from, to, last = UINT32_MAX;
  CM_TRY(vertex(a, 0, &from, error));
  if (a->has_row[from])
    return cm_table_bad(t, "a second row of the same neuron; each has one in an adjacency list", error);
  a->has_row[from] = 1;
  for (size_t i = 1; i < t->field_count && t->fields[i].length > 0; i++) {
    CM_TRY(vertex(a, i, &to, error));
    a->repeats = a->repeats || to == last || to == from;
    last = to;
    cm_reading_row *row = cm_reading_next(&t->source->reading);
    if (row != NULL) {
      cm_reading_name(row->source, t->fields[0].text, t->fields[0].length);
      cm_reading_name(row->target, t->fields[i].text, t->fields[i].length);
      row->weight = 1;
      row->delay_ms = -1;
    }
    CM_TRY(cm_entries_add(&t->edges, from, to, 1, -1, error));
  }
  return CM_OK;
}

static cm_status read_rows(adjacency *a, cm_error *error)
{
  const char *line = NULL;
  size_t length = 0;
  bool end = false;
  a->table.named = true; /* names may stand between blanks */
  for (;;) {
    CM_TRY(cm_table_next_row(&a->table, &line, &length, &end, error));
    if (end)
      return CM_OK;
    CM_TRY(read_row(a, error));
  }
}

static cm_status open_list(adjacency *a, cm_source *source, const cm_import_limits *limits, cm_run *run, cm_error *error)
{
  *a = (adjacency){.table = {.source = source, .limits = limits, .run = run, .memory = run->memory, .what = "adjacency list",
                             .edges = {.memory = run->memory, .run = run, .limit = limits->pins_max}}};
  return cm_names_open(&a->table.names, run->memory, error);
}

static void close_list(adjacency *a)
{
  cm_free(a->has_row);
  cm_table_free(&a->table);
}

cm_status cm_adjacency_fits(cm_source *source, cm_memory *memory, bool *fits, bool *repeats, cm_error *error)
{
  const cm_import_limits limits = cm_import_limits_default();
  const cm_reading kept = source->reading;
  cm_error wrong;
  cm_run run;
  adjacency a;
  cm_run_init(&run);
  run.memory = memory;
  cm_status status = open_list(&a, source, &limits, &run, &wrong);
  CM_THEN(status, read_rows(&a, &wrong));
  *fits = status == CM_OK;
  for (uint32_t v = 0; v < a.table.names.count && *fits; v++)
    *fits = a.has_row[v] != 0;
  *repeats = a.repeats;
  close_list(&a);
  source->reading = kept;
  if (status != CM_OK && status != CM_BAD_NETWORK) {
    *error = wrong;
    return status;
  }
  CM_TRY(cm_source_rewind(source, error));
  cm_skip_byte_order_mark(source);
  return CM_OK;
}

cm_status cm_import_adjacency(const cm_reading_of *in, cm_error *error)
{
  adjacency a;
  cm_status status = open_list(&a, in->source, in->limits, in->run, error);
  CM_THEN(status, read_rows(&a, error));
  CM_THEN(status, cm_table_close(&a.table, in->made, error));
  close_list(&a);
  return status;
}
