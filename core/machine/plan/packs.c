#include "core/machine/plan/packs.h"

#include <string.h>

#include "core/operators/evaluate.h"
#include "core/operators/operator.h"

/* A pack that is being filled, one a type. */
typedef struct open_pack {
  uint32_t first, count; /* in the list of members */
  uint64_t bytes;
} open_pack;

typedef struct packing {
  cm_model *model;
  cm_run *run;
  cm_pack *pack;
  uint32_t *members; /* constants of one type, in the order of use */
  uint32_t count;
  bool *seen;
} packing;

static double port_latency_bytes(const cm_target *target)
{
  double most = 0;
  for (uint32_t d = 0; d < target->device_count; d++) {
    const cm_device *device = &target->device[d];
    double bytes = (device->latency_ns + target->issue_ns) * device->bytes_per_ns;
    most = device->moves && bytes > most ? bytes : most;
  }
  return most;
}

static bool is_small(const cm_model *m, uint32_t value, cm_type type, uint64_t most)
{
  const cm_value *v = &m->values[value];
  uint64_t count;
  return cm_value_is_constant(v) && v->shape.type == type && cm_shape_known(&v->shape) &&
         cm_type_bytes(type) > 0 && cm_dims_count(v->shape.rank, v->shape.dims, &count) && count > 0 &&
         count <= most / cm_type_bytes(type);
}

/* One constant of all members of a pack. */
static cm_status close_pack(packing *p, open_pack *open, cm_type type, cm_error *error)
{
  cm_tensor *tensor;
  uint32_t made;
  const uint32_t first = open->first, count = open->count;
  int64_t elements = (int64_t)(open->bytes / cm_type_bytes(type)), at = 0;
  *open = (open_pack){.first = first + count};
  if (count < 2)
    return CM_OK;
  CM_TRY(cm_tensor_new(p->run->memory, type, 1, &elements, &tensor, error));
  CM_TRY(cm_model_add_constant(p->model, "packed", tensor, &made, error));
  for (uint32_t k = first; k < first + count; k++) {
    const cm_tensor *part;
    CM_TRY(cm_constant_tensor(p->model, p->members[k], p->run, &part, error));
    memcpy((char *)tensor->data + (uint64_t)at * cm_type_bytes(type), part->data, part->count * cm_type_bytes(type));
    p->pack->value[p->members[k]] = made;
    p->pack->offset[p->members[k]] = at;
    at += (int64_t)part->count;
  }
  return CM_OK;
}

static cm_status pack_type(packing *p, cm_type type, uint64_t size, uint64_t most, uint32_t values, cm_error *error)
{
  cm_model *m = p->model;
  open_pack open = {0};
  p->count = 0;
  memset(p->seen, 0, values * sizeof *p->seen);
  for (size_t i = 0; i < m->input_count; i++)
    p->seen[m->inputs[i]] = true; /* may be given when it runs */
  for (size_t i = 0; i < m->order_count; i++)
    for (uint32_t k = 0; k < m->nodes[m->order[i]].input_count; k++) {
      uint32_t value = m->nodes[m->order[i]].inputs[k];
      if (value == CM_NONE || p->seen[value] || !is_small(m, value, type, size / 2 < most ? size / 2 : most))
        continue;
      uint64_t count = 1;
      p->seen[value] = true;
      (void)cm_dims_count(m->values[value].shape.rank, m->values[value].shape.dims, &count);
      CM_TRY_IF(open.bytes + count * cm_type_bytes(type) > size, close_pack(p, &open, type, error));
      p->members[p->count++] = value;
      open.count++;
      open.bytes += count * cm_type_bytes(type);
    }
  return close_pack(p, &open, type, error);
}

cm_status cm_packs_make(cm_model *model, const cm_target *target, uint64_t most, cm_run *run, cm_packs *packs, cm_error *error)
{
  static const cm_type types[] = {CM_FLOAT, CM_FLOAT16, CM_INT8, CM_UINT8, CM_INT32};
  static const double sizes[CM_PACK_SIZES] = {1, 3, 8, 24};
  packing p = {.model = model, .run = run};
  cm_status status = CM_OK;
  *packs = (cm_packs){.value_count = (uint32_t)model->value_count};
  CM_TRY(CM_NEW(run->memory, p.members, model->value_count + 1, error));
  status = CM_NEW(run->memory, p.seen, model->value_count + 1, error);
  for (int s = 0; status == CM_OK && s < CM_PACK_SIZES; s++) {
    p.pack = &packs->size[s];
    CM_THEN(status, CM_NEW_ALL(run->memory, error, CM_ARRAY(p.pack->value, packs->value_count + 1),
                               CM_ARRAY(p.pack->offset, packs->value_count + 1)));
    for (uint32_t v = 0; status == CM_OK && v < packs->value_count; v++)
      p.pack->value[v] = CM_NONE;
    for (size_t t = 0; status == CM_OK && t < sizeof types / sizeof *types; t++)
      status = pack_type(&p, types[t], (uint64_t)(sizes[s] * port_latency_bytes(target)), most, packs->value_count, error);
  }
  CM_FREE(p.members, p.seen);
  return status;
}

void cm_packs_free(cm_packs *packs)
{
  for (int s = 0; s < CM_PACK_SIZES; s++)
    CM_FREE(packs->size[s].value, packs->size[s].offset);
  *packs = (cm_packs){0};
}
