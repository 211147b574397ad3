/* Members of version 4, of networks that say how they run: models and parameters in runs of equal values, weights as float32,
 * parallel synapses. What can fail: runs that do not fit the vertices, numbers out of range, a member cut short, memory. */
#include <endian.h>
#include <math.h>
#include <string.h>

#include "base/varint.h"
#include "core/network/file/topology_reader.h"
#include "core/network/file/topology_writer.h"

/* A run of equal values has twice its length, and 1; one of values that differ, twice its length. */
enum { EQUAL = 1, SHORTEST = 4 /* equal values that are worth a run */ };

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers of 32 bits are written as they lie");

/* ---- writing ---- */

static cm_status put_bytes(cm_topology_bytes *b, uint64_t head, const void *data, size_t size, cm_error *error)
{
  CM_TRY(cm_topology_reserve(b, CM_VARINT_BYTES_MAX + size, error));
  cm_topology_put(b, head);
  memcpy(b->data + b->used, data, size);
  b->used += size;
  return CM_OK;
}

/* How many values from `at` on are the first of them, a zero's sign included. */
static uint64_t alike(const float *value, uint64_t at, uint64_t count)
{
  uint64_t end = at + 1;
  while (end < count && value[end] == value[at] && signbit(value[end]) == signbit(value[at]))
    end++;
  return end - at;
}

static cm_status put_runs(cm_topology_bytes *b, const float *value, uint64_t count, cm_error *error)
{
  cm_status status = CM_OK;
  uint64_t from = 0; /* of values that differ and are not written yet */
  for (uint64_t i = 0; i < count && status == CM_OK;) {
    const uint64_t equal = alike(value, i, count);
    if (equal >= SHORTEST || i + equal == count) {
      const uint64_t single = equal >= SHORTEST ? i : count;
      if (from < single)
        status = put_bytes(b, 2 * (single - from), value + from, (single - from) * sizeof *value, error);
      if (status == CM_OK && equal >= SHORTEST)
        status = put_bytes(b, 2 * equal + EQUAL, value + i, sizeof *value, error);
      from = i + equal;
    }
    i += equal;
  }
  return status;
}

static cm_status spool_models(cm_topology_writer *w, const uint8_t *model, uint32_t count, cm_error *error)
{
  cm_topology_bytes b = {0};
  cm_status status = CM_OK;
  for (uint32_t v = 0; v < count && status == CM_OK;) {
    uint32_t end = v + 1;
    while (end < count && model[end] == model[v])
      end++;
    status = cm_topology_reserve(&b, 2 * (size_t)CM_VARINT_BYTES_MAX, error);
    if (status == CM_OK) {
      cm_topology_put(&b, model[v]);
      cm_topology_put(&b, end - v);
    }
    v = end;
  }
  CM_THEN(status, cm_topology_spool(w, "models", b.data, b.used, json_object(), error));
  cm_free(b.data);
  return status;
}

static cm_status spool_parameters(cm_topology_writer *w, const cm_dynamics *d, uint32_t count, cm_error *error)
{
  cm_topology_bytes b = {0};
  cm_status status = CM_OK;
  for (int p = 0; p < CM_NEURON_PARAMETERS && status == CM_OK; p++)
    if (d->parameter[p] != NULL)
      status = put_runs(&b, d->parameter[p], count, error);
  if (status == CM_OK && b.used > 0)
    status = cm_topology_spool(w, "parameters", b.data, b.used, json_object(), error);
  cm_free(b.data);
  return status;
}

static cm_status spool_parallel(cm_topology_writer *w, const cm_dynamics *d, cm_error *error)
{
  cm_topology_bytes b = {0};
  cm_status status = CM_OK;
  uint64_t pin = 0;
  for (uint64_t i = 0; i < d->parallel_count && status == CM_OK; i++) {
    const cm_parallel_synapse *s = &d->parallel[i];
    status = cm_topology_reserve(&b, 2 * (size_t)CM_VARINT_BYTES_MAX, error);
    if (status != CM_OK)
      break;
    cm_topology_put(&b, s->pin - pin);
    status = put_bytes(&b, s->delay, &s->weight, sizeof s->weight, error);
    pin = s->pin;
  }
  if (status == CM_OK && b.used > 0)
    status = cm_topology_spool(w, "parallel", b.data, b.used, json_object(), error);
  cm_free(b.data);
  return status;
}

/* The names of the parameters, in the order in which they are written. */
static json_t *names(const cm_dynamics *d)
{
  json_t *list = json_array();
  for (int p = 0; p < CM_NEURON_PARAMETERS; p++)
    if (d->parameter[p] != NULL && json_array_append_new(list, json_string(cm_neuron_parameters[p].name)) != 0) {
      json_decref(list);
      return NULL;
    }
  return list;
}

cm_status cm_topology_writer_dynamics(cm_topology_writer *w, const cm_dynamics *d, uint64_t pins, cm_error *error)
{
  json_decref(w->dynamics);
  w->dynamics = json_pack("{s:b, s:o, s:b, s:I, s:I}", "models", d->model != NULL, "parameters", names(d), "weights", d->weight != NULL,
                          "parallel", (json_int_t)d->parallel_count, "numbers", (json_int_t)(d->nodes != NULL ? d->number_count : 0));
  if (w->dynamics == NULL)
    return cm_whole(false, w->out.path, error);
  if ((d->model != NULL && spool_models(w, d->model, w->header.vertex_count, error) != CM_OK) ||
      spool_parameters(w, d, w->header.vertex_count, error) != CM_OK ||
      (d->weight != NULL &&
       cm_topology_spool(w, "weights", (const uint8_t *)d->weight, pins * sizeof *d->weight, json_object(), error) != CM_OK) ||
      (d->nodes != NULL &&
       (cm_topology_spool(w, "nodes", (const uint8_t *)d->nodes, strlen(d->nodes), json_object(), error) != CM_OK ||
        cm_topology_spool(w, "numbers", (const uint8_t *)d->number, d->number_count * sizeof *d->number, json_object(), error) != CM_OK)))
    return error->status;
  return spool_parallel(w, d, error);
}

/* ---- reading ---- */

static cm_status read_models(cm_topology_reader *r, uint8_t *model, cm_error *error)
{
  cm_stream *s = &r->input;
  uint64_t number = 0, length = 0;
  cm_status status = cm_stream_open(r, &r->dynamics.model_runs, error);
  for (uint32_t v = 0; v < r->header.vertex_count && status == CM_OK; v += (uint32_t)length) {
    status = cm_stream_number(s, CM_NEURON_MODELS - 1, "a model out of range", &number, error);
    CM_THEN(status, cm_stream_number(s, r->header.vertex_count - v, "more models than vertices", &length, error));
    if (status == CM_OK && length == 0)
      status = cm_stream_wrong(s, "a run of no vertices", error);
    if (status == CM_OK)
      memset(model + v, (int)number, length);
  }
  return status == CM_OK ? cm_stream_finish(s, error) : status;
}

static cm_status read_runs(cm_topology_reader *r, float *value, cm_error *error)
{
  cm_stream *s = &r->input;
  cm_status status = CM_OK;
  for (uint64_t v = 0, count = r->header.vertex_count, head = 0; v < count && status == CM_OK; v += head / 2) {
    status = cm_stream_number(s, 2 * (count - v) + EQUAL, "more parameters than vertices", &head, error);
    if (status == CM_OK && head / 2 == 0)
      status = cm_stream_wrong(s, "a run of no vertices", error);
    CM_THEN(status, cm_stream_bytes(s, value + v, (head % 2 == EQUAL ? 1 : head / 2) * sizeof *value, error));
    for (uint64_t i = 1; status == CM_OK && head % 2 == EQUAL && i < head / 2; i++)
      value[v + i] = value[v];
  }
  return status;
}

static cm_status read_parameters(cm_topology_reader *r, cm_dynamics *made, cm_error *error)
{
  const cm_topology_dynamics *d = &r->dynamics;
  cm_status status = cm_stream_open(r, &d->parameter_runs, error);
  for (uint8_t p = 0; p < d->parameters && status == CM_OK; p++) {
    float **value = &made->parameter[d->parameter[p]];
    status = CM_NEW(r->memory, *value, r->header.vertex_count, error);
    CM_THEN(status, read_runs(r, *value, error));
  }
  return status == CM_OK ? cm_stream_finish(&r->input, error) : status;
}

static cm_status read_parallel(cm_topology_reader *r, cm_dynamics *made, cm_error *error)
{
  cm_stream *s = &r->input;
  uint64_t pin = 0, more = 0, delay = 0;
  cm_status status = cm_stream_open(r, &r->dynamics.parallel, error);
  for (; made->parallel_count < r->dynamics.parallel_count && status == CM_OK; made->parallel_count++) {
    cm_parallel_synapse *synapse = &made->parallel[made->parallel_count];
    status = cm_stream_number(s, r->header.pin_count - pin, "a synapse out of range", &more, error);
    CM_THEN(status, cm_stream_number(s, UINT32_MAX, "a delay out of range", &delay, error));
    CM_THEN(status, cm_stream_bytes(s, &synapse->weight, sizeof synapse->weight, error));
    synapse->pin = pin += more;
    synapse->delay = (uint32_t)delay;
  }
  return status == CM_OK ? cm_stream_finish(s, error) : status;
}

static cm_status read_whole(cm_topology_reader *r, const cm_topology_member *member, void *into, cm_error *error)
{
  cm_status status = cm_stream_open(r, member, error);
  CM_THEN(status, cm_stream_bytes(&r->input, into, member->bytes, error));
  return status == CM_OK ? cm_stream_finish(&r->input, error) : status;
}

cm_status cm_topology_reader_dynamics(cm_topology_reader *r, cm_dynamics **dynamics, cm_error *error)
{
  const cm_topology_dynamics *d = &r->dynamics;
  const cm_topology_header *h = &r->header;
  cm_dynamics *made = NULL;
  cm_status status = CM_NEW(r->memory, made, 1, error);
  if (status == CM_OK && ((d->has_models && CM_NEW(r->memory, made->model, h->vertex_count, error) != CM_OK) ||
                          (d->has_weights && CM_NEW(r->memory, made->weight, h->pin_count, error) != CM_OK) ||
                          (d->nodes.bytes > 0 && CM_NEW(r->memory, made->nodes, d->nodes.bytes + 1, error) != CM_OK) ||
                          (d->number_count > 0 && CM_NEW(r->memory, made->number, d->number_count, error) != CM_OK) ||
                          (d->parallel_count > 0 && CM_NEW(r->memory, made->parallel, d->parallel_count, error) != CM_OK)))
    status = error->status;
  if (status == CM_OK && d->has_models && h->vertex_count > 0)
    status = read_models(r, made->model, error);
  if (status == CM_OK && d->parameters > 0 && h->vertex_count > 0)
    status = read_parameters(r, made, error);
  if (status == CM_OK && d->has_weights && h->pin_count > 0)
    status = read_whole(r, &d->weights, made->weight, error);
  if (status == CM_OK && d->parallel_count > 0)
    status = read_parallel(r, made, error);
  if (status == CM_OK && d->nodes.bytes > 0)
    status = read_whole(r, &d->nodes, made->nodes, error);
  if (status == CM_OK && d->number_count > 0)
    status = read_whole(r, &d->numbers, made->number, error);
  cm_stream_close(&r->input);
  r->begun = false;
  CM_THEN(status, cm_topology_reader_rewind(r, error));
  if (status != CM_OK) {
    cm_dynamics_free(made);
    return status;
  }
  made->number_count = d->number_count;
  *dynamics = made;
  return CM_OK;
}
