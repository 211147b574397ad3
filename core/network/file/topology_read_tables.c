/* The tables beside the rows of a topology file: sizes, parents, signs, delays, populations, scenarios, labels. What can fail: numbers
 * out of range, a member cut short, a checksum that differs, memory. */
#include <string.h>

#include "core/network/file/topology_reader.h"
#include "core/network/names.h"

static cm_status read_numbers(cm_topology_reader *r, const cm_topology_member *m, uint32_t *value, uint32_t count,
                              uint32_t most, cm_error *error)
{
  cm_status status = cm_stream_open(r, m, error);
  for (uint32_t i = 0; i < count && status == CM_OK; i++) {
    uint64_t number = 0;
    status = cm_stream_number(&r->input, most, "a number out of range", &number, error);
    value[i] = (uint32_t)number;
  }
  CM_THEN(status, cm_stream_finish(&r->input, error));
  cm_stream_close(&r->input);
  r->begun = false;
  CM_THEN(status, cm_topology_reader_rewind(r, error));
  return status;
}

cm_status cm_topology_reader_sizes(cm_topology_reader *r, uint32_t *sizes, cm_error *error)
{
  if (r->header.has_sizes && r->header.vertex_count > 0)
    return read_numbers(r, &r->sizes, sizes, r->header.vertex_count, UINT32_MAX, error);
  for (uint32_t v = 0; v < r->header.vertex_count; v++)
    sizes[v] = 1;
  return CM_OK;
}

cm_status cm_topology_reader_parents(cm_topology_reader *r, uint32_t *parent, cm_error *error)
{
  if (r->header.finer_count == 0)
    return cm_fail(error, CM_BAD_NETWORK, "the topology file is no coarsened level: it names no parents");
  if (r->header.vertex_count == 0)
    return cm_topology_damaged(error, "finer vertices without a coarse one");
  return read_numbers(r, &r->parents, parent, r->header.finer_count, r->header.vertex_count - 1, error);
}

/* Reads a member of fixed length as it lies. */
static cm_status read_plain(cm_topology_reader *r, const cm_topology_member *m, uint8_t *into, cm_error *error)
{
  cm_stream *s = &r->input;
  cm_status status = cm_stream_open(r, m, error);
  CM_THEN(status, cm_stream_bytes(s, into, m->bytes, error));
  CM_THEN(status, cm_stream_finish(s, error));
  cm_stream_close(s);
  r->begun = false;
  return status == CM_OK ? cm_topology_reader_rewind(r, error) : status;
}

cm_status cm_topology_reader_signs(cm_topology_reader *r, uint64_t *negative, cm_error *error)
{
  if (r->signs.bytes == 0)
    return CM_OK;
  CM_TRY(read_plain(r, &r->signs, (uint8_t *)negative, error));
  for (uint64_t i = 0; i < r->signs.bytes / 8; i++)
    negative[i] = le64toh(negative[i]);
  return CM_OK;
}

cm_status cm_topology_reader_delays(cm_topology_reader *r, uint32_t *delay, cm_error *error)
{
  if (r->delays.bytes == 0)
    return CM_OK;
  CM_TRY(read_plain(r, &r->delays, (uint8_t *)delay, error));
  for (uint64_t i = 0; i < r->header.pin_count; i++)
    delay[i] = le32toh(delay[i]);
  return CM_OK;
}

cm_status cm_topology_reader_populations(cm_topology_reader *r, cm_population *population, uint32_t *population_of,
                                         cm_error *error)
{
  uint32_t count = r->header.population_count;
  memcpy(population, r->populations, count * sizeof *population);
  return r->header.vertex_count == 0
           ? CM_OK
           : read_numbers(r, &r->population_of, population_of, r->header.vertex_count, count - 1, error);
}

cm_status cm_topology_reader_scenarios(cm_topology_reader *r, cm_scenario_name *name, uint64_t *rate, cm_error *error)
{
  size_t count = (size_t)r->header.scenario_count * r->header.net_count;
  memcpy(name, r->scenarios, r->header.scenario_count * sizeof *name);
  if (count == 0)
    return CM_OK;
  cm_status status = cm_stream_open(r, &r->scenario_rates, error);
  for (size_t i = 0; i < count && status == CM_OK; i++)
    status = cm_stream_number(&r->input, CM_WEIGHT_SUM_MAX, "a rate out of range", &rate[i], error);
  CM_THEN(status, cm_stream_finish(&r->input, error));
  cm_stream_close(&r->input);
  r->begun = false;
  return status == CM_OK ? cm_topology_reader_rewind(r, error) : status;
}

cm_status cm_topology_reader_labels(cm_topology_reader *r, char **text, uint64_t **first, cm_error *error)
{
  char *made = NULL;
  uint64_t *starts = NULL, used = 0;
  uint32_t vertex = 0;
  cm_stream *s = &r->input;
  cm_status status = CM_NEW_ALL(r->memory, error, CM_ARRAY(made, r->labels.bytes),
                                CM_ARRAY(starts, (size_t)r->header.vertex_count + 1));
  CM_THEN(status, cm_stream_open(r, &r->labels, error));
  while (status == CM_OK && cm_stream_left(s) > 0) {
    status = cm_stream_fill(s, 1, error);
    for (; status == CM_OK && s->begin < s->end; s->begin++) {
      made[used++] = (char)s->block[s->begin];
      if (made[used - 1] != '\0')
        continue;
      if (vertex == r->header.vertex_count)
        status = cm_stream_wrong(s, "more labels than vertices", error);
      else
        starts[++vertex] = used;
    }
  }
  if (status == CM_OK && (vertex != r->header.vertex_count || starts[vertex] != used))
    status = cm_stream_wrong(s, "fewer labels than vertices", error);
  CM_THEN(status, cm_stream_finish(s, error));
  cm_stream_close(s);
  r->begun = false;
  CM_THEN(status, cm_topology_reader_rewind(r, error));
  for (uint32_t v = 0; v < r->header.vertex_count && status == CM_OK; v++)
    if (!cm_name_valid(made + starts[v], (size_t)(starts[v + 1] - starts[v] - 1)))
      status = cm_topology_damaged(error, "a label is not UTF-8 or has control characters");
  if (status != CM_OK) {
    CM_FREE(made, starts);
    return status;
  }
  *text = made;
  *first = starts;
  return CM_OK;
}
