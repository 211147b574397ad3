/* Whole topologies to and from their file, on the streaming reader and writer. */
#include <math.h>
#include <string.h>

#include "core/network/file/topology_format.h"

/* One net as a row; `wide` [longest net] holds its weights. */
static cm_topology_row row_of(const cm_topology *t, uint32_t e, uint64_t *wide)
{
  uint64_t begin = t->net_first[e], count = t->net_first[e + 1] - begin;
  for (uint64_t i = 0; t->pin_weight != NULL && i < count; i++)
    wide[i] = t->pin_weight[begin + i];
  return (cm_topology_row){.vertex = cm_topology_source(t, e),
                           .net_weight = cm_topology_net_weight(t, e),
                           .count = count,
                           .target = t->pin + begin,
                           .weight = t->pin_weight != NULL ? wide : NULL};
}

static uint64_t longest_net(const cm_topology *t)
{
  uint64_t longest = 0;
  for (uint32_t e = 0; e < t->net_count; e++)
    if (t->net_first[e + 1] - t->net_first[e] > longest)
      longest = t->net_first[e + 1] - t->net_first[e];
  return longest;
}

/* The rates of those nets that become rows. */
static cm_status save_scenarios(const cm_topology *t, cm_topology_writer *writer, cm_run *run, cm_error *error)
{
  uint64_t *rate;
  size_t kept = 0;
  if (t->scenario_count == 0)
    return CM_OK;
  CM_TRY(CM_NEW(run->memory, rate, (size_t)t->scenario_count * t->net_count, error));
  for (size_t i = 0; i < (size_t)t->scenario_count * t->net_count; i++)
    if (t->net_first[i % t->net_count + 1] > t->net_first[i % t->net_count])
      rate[kept++] = t->scenario_rate[i];
  cm_status status = cm_topology_writer_scenarios(writer, (const cm_scenario_name *)t->scenario_name, t->scenario_count, rate,
                                                  (uint32_t)(kept / t->scenario_count), error);
  cm_free(rate);
  return status;
}

static cm_status save(const cm_topology *t, const char *path, bool stored, cm_run *run, cm_error *error)
{
  cm_topology_header header = {.directed = t->directed,
                               .vertex_count = t->vertex_count,
                               .weight_scale = t->weight_scale,
                               .duplicate_count = t->duplicate_count,
                               .self_loop_count = t->self_loop_count,
                               .empty_net_count = t->empty_net_count,
                               .zero_count = t->zero_count,
                               .weight_exponent = t->weight_exponent,
                               .delay_unit_ns = t->delay_unit_ns};
  cm_topology_writer *writer;
  uint64_t *wide, steps = CM_RUN_STEPS;
  CM_TRY(CM_NEW(run->memory, wide, t->pin_weight != NULL ? longest_net(t) : 0, error));
  if (cm_topology_writer_open(path, &header, t->size, &writer, error) != CM_OK) {
    cm_free(wide);
    return error->status;
  }
  if (stored)
    cm_topology_writer_stored(writer);
  cm_status status = CM_OK;
  if (t->label_text != NULL)
    status = cm_topology_writer_labels(writer, t->label_text, t->label_first, error);
  if (status == CM_OK && t->pin_negative != NULL)
    status = cm_topology_writer_signs(writer, t->pin_negative, t->pin_count, error);
  if (status == CM_OK && t->pin_delay != NULL)
    status = cm_topology_writer_delays(writer, t->pin_delay, t->pin_count, error);
  if (status == CM_OK && t->population_of != NULL)
    status = cm_topology_writer_populations(writer, t->population, t->population_count, t->population_of, error);
  CM_THEN(status, save_scenarios(t, writer, run, error));
  if (status == CM_OK && t->dynamics != NULL)
    status = cm_topology_writer_dynamics(writer, t->dynamics, t->pin_count, error);
  for (uint32_t e = 0; e < t->net_count && status == CM_OK; e++) {
    cm_topology_row row = row_of(t, e, wide);
    if (row.count > 0)
      status = cm_topology_writer_row(writer, &row, error);
    if (status == CM_OK && cm_run_due(&steps, row.count + 1))
      status = cm_run_progress(run, (double)e / t->net_count, -1, t->vertex_count, NAN, error);
  }
  cm_free(wide);
  if (status != CM_OK) {
    cm_topology_writer_abort(writer);
    return status;
  }
  return cm_topology_writer_close(writer, error);
}

cm_status cm_topology_save(const cm_topology *t, const char *path, cm_run *run, cm_error *error)
{
  return save(t, path, false, run, error);
}

cm_status cm_topology_store(const cm_topology *t, const char *path, cm_run *run, cm_error *error)
{
  return save(t, path, true, run, error);
}

static cm_status allocate(const cm_topology_header *h, cm_run *run, cm_topology *t, cm_error *error)
{
  *t = (cm_topology){.directed = h->directed,
                     .vertex_count = h->vertex_count,
                     .net_count = h->directed ? h->net_count : h->vertex_count,
                     .pin_count = h->pin_count,
                     .size_total = h->size_total,
                     .weight_scale = h->weight_scale,
                     .duplicate_count = h->duplicate_count,
                     .self_loop_count = h->self_loop_count,
                     .empty_net_count = h->empty_net_count,
                     .zero_count = h->zero_count,
                     .weight_exponent = h->weight_exponent,
                     .delay_unit_ns = h->delay_unit_ns,
                     .population_count = h->population_count,
                     .scenario_count = h->scenario_count};
  if (CM_NEW_ALL(run->memory, error, CM_ARRAY(t->net_first, (size_t)t->net_count + 1), CM_ARRAY(t->pin, t->pin_count)) != CM_OK ||
      (h->directed && (CM_NEW_ALL(run->memory, error, CM_ARRAY(t->net_source, t->net_count),
                                  CM_ARRAY(t->net_weight, t->net_count)) != CM_OK)) ||
      (h->has_weights && CM_NEW(run->memory, t->pin_weight, t->pin_count, error) != CM_OK) ||
      (h->has_sizes && CM_NEW(run->memory, t->size, t->vertex_count, error) != CM_OK) ||
      (h->has_signs && CM_NEW(run->memory, t->pin_negative, (t->pin_count + 63) / 64, error) != CM_OK) ||
      (h->has_delays && CM_NEW(run->memory, t->pin_delay, t->pin_count, error) != CM_OK) ||
      (h->population_count > 0 && (CM_NEW_ALL(run->memory, error, CM_ARRAY(t->population, t->population_count),
                                              CM_ARRAY(t->population_of, t->vertex_count)) != CM_OK)) ||
      (h->scenario_count > 0 && (CM_NEW_ALL(run->memory, error, CM_ARRAY(t->scenario_name, t->scenario_count),
                                            CM_ARRAY(t->scenario_rate, (size_t)t->scenario_count * t->net_count)) != CM_OK)))
    return error->status;
  return CM_OK;
}

/* Narrows the weights of a row; a topology's synapses weigh at most 32 bits. */
static cm_status store_weights(cm_topology *t, const cm_topology_row *row, uint64_t at, cm_error *error)
{
  for (uint64_t i = 0; t->pin_weight != NULL && i < row->count; i++) {
    const uint64_t weight = row->weight != NULL ? row->weight[i] : row->net_weight;
    if (weight > UINT32_MAX)
      return cm_fail(error, CM_BAD_NETWORK, "an edge of vertex %u weighs %llu, more than %u", row->vertex,
                     (unsigned long long)weight, UINT32_MAX);
    t->pin_weight[at + i] = (uint32_t)weight;
  }
  return CM_OK;
}

/* Every edge repeats the size of its other vertex; they must agree. */
static cm_status check_sizes(const cm_topology *t, const cm_topology_row *row, cm_error *error)
{
  for (uint64_t i = 0; (t->size != NULL || row->size != NULL) && i < row->count; i++) {
    const uint32_t size = row->size != NULL ? row->size[i] : 1;
    if (size != cm_topology_size(t, row->target[i]))
      return cm_fail(error, CM_BAD_NETWORK, "an edge of vertex %u names size %u for vertex %u, which has %u",
                     row->vertex, size, row->target[i], cm_topology_size(t, row->target[i]));
  }
  return CM_OK;
}

static cm_status load_rows(cm_topology_reader *reader, cm_topology *t, cm_run *run, cm_error *error)
{
  uint64_t used = 0, steps = CM_RUN_STEPS;
  uint32_t net = 0;
  for (;;) {
    cm_topology_row row;
    bool end;
    CM_TRY(cm_topology_reader_next(reader, &row, &end, error));
    if (!t->directed) /* vertices without edges have empty rows */
      while (net < (end ? t->vertex_count : row.vertex))
        t->net_first[++net] = used;
    if (end)
      return CM_OK;
    memcpy(t->pin + used, row.target, row.count * sizeof *row.target);
    CM_TRY(check_sizes(t, &row, error));
    CM_TRY(store_weights(t, &row, used, error));
    if (t->directed) {
      t->net_source[net] = row.vertex;
      t->net_weight[net] = row.net_weight;
    }
    used += row.count;
    t->net_first[++net] = used;
    CM_TRY_IF(cm_run_due(&steps, row.count + 1), cm_run_progress(run, (double)used / (double)t->pin_count, -1, t->vertex_count, NAN, error));
  }
}

/* One net per vertex needs no list of sources. */
static void drop_plain_sources(cm_topology *t)
{
  if (!t->directed || t->net_count != t->vertex_count)
    return;
  for (uint32_t e = 0; e < t->net_count; e++)
    if (t->net_source[e] != e)
      return;
  cm_free(t->net_source);
  t->net_source = NULL;
}

cm_status cm_topology_read(cm_topology_reader *reader, cm_run *run, cm_topology **topology, cm_error *error)
{
  cm_topology *t = NULL;
  const cm_topology_header *header = cm_topology_reader_header(reader);
  cm_status status = CM_NEW(run->memory, t, 1, error);
  CM_THEN(status, allocate(header, run, t, error));
  if (status == CM_OK && header->has_sizes)
    status = cm_topology_reader_sizes(reader, t->size, error);
  if (status == CM_OK && header->has_labels)
    status = cm_topology_reader_labels(reader, &t->label_text, &t->label_first, error);
  if (status == CM_OK && header->has_signs)
    status = cm_topology_reader_signs(reader, t->pin_negative, error);
  if (status == CM_OK && header->has_delays)
    status = cm_topology_reader_delays(reader, t->pin_delay, error);
  if (status == CM_OK && header->population_count > 0)
    status = cm_topology_reader_populations(reader, t->population, t->population_of, error);
  if (status == CM_OK && header->scenario_count > 0)
    status = cm_topology_reader_scenarios(reader, t->scenario_name, t->scenario_rate, error);
  if (status == CM_OK && header->has_dynamics)
    status = cm_topology_reader_dynamics(reader, &t->dynamics, error);
  CM_THEN(status, load_rows(reader, t, run, error));
  if (status == CM_OK) {
    drop_plain_sources(t);
    status = cm_topology_verify(t, error);
  }
  CM_END(status, *topology = t, cm_topology_free(t));
}

cm_status cm_topology_load(const char *path, cm_run *run, cm_topology **topology, cm_error *error)
{
  cm_topology_reader *reader;
  CM_TRY(cm_topology_reader_open(path, run->memory, &reader, error));
  cm_status status = cm_topology_read(reader, run, topology, error);
  cm_topology_reader_close(reader);
  return status;
}
