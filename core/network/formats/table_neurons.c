/* Tables that say something of the neurons of a network that has been read: rates, parameters. */

#include "core/network/formats/table_rows.h"

cm_status cm_table_name_all(cm_table *t, const cm_topology *network, cm_error *error)
{
  uint32_t ignored;
  for (uint32_t v = 0; network->label_text != NULL && v < network->vertex_count; v++)
    CM_TRY(cm_names_number(&t->names, network->label_text + network->label_first[v],
                           network->label_first[v + 1] - network->label_first[v] - 1, UINT32_MAX, &ignored, error));
  return network->label_text != NULL && t->names.count != network->vertex_count
           ? cm_fail(error, CM_BAD_NETWORK, "%s cannot be told by name: two neurons of the network have the same name", t->what)
           : CM_OK;
}

cm_status cm_table_next_plain_row(cm_table *t, bool *end, cm_error *error)
{
  const char *line = NULL;
  size_t length = 0;
  do {
    CM_TRY(cm_table_next_line(t, &line, &length, end, error));
    if (*end)
      return CM_OK;
  } while (length == 0 || line[0] == '#' || line[0] == '%');
  if (t->separator == 0)
    cm_table_find_separator(t, line, length);
  return cm_table_split(t, line, length, error);
}

cm_status cm_table_bad_name(const cm_table *t, const char *what, const cm_field *name, const char *more, cm_error *error)
{
  return cm_table_bad(t, cm_say("%s '%.*s'%s", what, cm_field_shown(name), name->text, more).text, error);
}

cm_status cm_table_vertex(cm_table *t, const cm_topology *network, const cm_field *name, uint32_t *vertex, cm_error *error)
{
  uint64_t number;
  if (network->label_text != NULL) {
    if (name->length > 0 && cm_names_find(&t->names, name->text, name->length, vertex))
      return CM_OK;
  } else if (cm_field_whole(name->text, name->length, &number) && number < network->vertex_count) {
    *vertex = (uint32_t)number;
    return CM_OK;
  }
  return cm_table_bad_name(t, "the network has no neuron", name, "", error);
}
