/* Tables of edges: a directed edge a line; which column is what is said by a header, by PyNN's comment, by the caller, or is
 * source,target[,weight]; '#' and '%' start comment lines, fields may be quoted ("" is a quote). "[(0, 1), (1, 2)]", a list as Python
 * prints it, has its rows in brackets.
 *
 * Happy path: names become numbers, edges go into plain arrays (8 bytes an edge, 8 more with weights, 8 more with delays),
 * which are then grouped by source in place, each group sorted, repeats merged, weights made integers. How a table begins: table_begin.c; its rows: table_rows.c.
 * What can fail: a line with another number of fields, a weight that is no number, a name that is no text; each with its
 * line. */
#include "core/network/formats/table.h"

#include <string.h>

#include "core/network/formats/readers.h"
#include "core/network/formats/source.h"
#include "core/network/formats/survey.h"
#include "core/network/formats/table_rows.h"
#include "core/network/rates.h"
#include "core/network/recognise.h"

static cm_status read_edges(cm_table *t, cm_error *error)
{
  const char *line = NULL;
  size_t length = 0;
  bool end = false;
  cm_survey survey;
  CM_TRY(cm_survey_read(t->source, t->memory, &survey, error));
  CM_TRY(cm_table_read_first(t, &survey, &end, error));
  while (!end) {
    if (cm_table_next_row(t, &line, &length, &end, error) != CM_OK || (!end && cm_table_take_row(t, error) != CM_OK))
      return error->status;
  }
  return CM_OK;
}

bool cm_network_names_connections(const cm_source *source)
{
  const char *name = source->hint != NULL && source->hint->name != NULL ? source->hint->name : "";
  const char *ending = cm_format_ending(&cm_network_formats[CM_FORMAT_EDGES], name);
  return ending != NULL && strcmp(ending, ".conn") == 0;
}

cm_status cm_import_edges(const cm_reading_of *in, cm_error *error)
{
  cm_source *source = in->source;
  cm_memory *memory = in->run->memory;
  cm_table t = {.source = source, .limits = in->limits, .run = in->run, .memory = memory, .edges = {.memory = memory, .run = in->run, .limit = in->limits->pins_max}};
  cm_weights_as_asked(&t.edges.weight, source);
  t.connections = cm_network_names_connections(source);
  t.tuples = cm_is_tuple_list(source->at, (size_t)(source->end - source->at));
  t.line = t.tuples ? 1 : 0;
  cm_status status = cm_names_open(&t.names, memory, error);
  CM_THEN(status, read_edges(&t, error));
  t.undirected = t.any_undirected && !t.any_directed && !cm_source_wants_synapses(source);
  CM_THEN(status, cm_table_close(&t, in->made, error));
  CM_THEN_IF(status, t.rate != NULL, cm_topology_set_rates(in->made, t.rate, in->run, error));
  cm_table_free(&t);
  return status;
}
