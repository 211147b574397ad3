/* A program run on owners instead of numbers: every element carries the instruction that made it. What can fail: what is
 * compared differs, memory. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/machine/tiles/tiles.h"

/* Owners are instruction numbers from 1; 0 is what came from outside. */
typedef struct following {
  const cm_program *p;
  const cm_topology *t;
  const uint32_t *part, *core;
  uint32_t *chip;      /* by byte: owner of the element that begins there */
  uint32_t **outside;  /* by tensor, by element; NULL: a constant, or nothing is stored there */
  uint64_t *constant;  /* by buffer: bytes of constants that were loaded into it */
  uint64_t *reader;    /* by buffer: the last tile that counted its constants */
  uint64_t *bytes;     /* by owner: that the present tile reads */
  uint32_t *touched;   /* owners with bytes */
  uint32_t touched_count;
  uint32_t net;        /* next axon of the network, sorted by the tile that reads */
  uint32_t *by_reader; /* axons in that order */
} following;

static size_t width_of(const cm_program_tensor *t)
{
  return cm_type_bytes(t->type);
}

/* Makers of a tensor's elements. */
static cm_status make_outside(following *f, uint32_t tensor, cm_error *error)
{
  uint64_t count = 0;
  (void)cm_dims_count(f->p->tensors[tensor].rank, f->p->tensors[tensor].dims, &count);
  return f->outside[tensor] != NULL ? CM_OK : CM_NEW(f->p->memory, f->outside[tensor], count + 1, error);
}

/* ---- transfers ---- */

/* Element by element of a box of a tensor, in step with a dense buffer. */
static cm_status transfer(following *f, const cm_instruction *i, cm_error *error)
{
  const cm_program_tensor *t = &f->p->tensors[i->tensor];
  int64_t strides[CM_RANK_MAX], index[CM_RANK_MAX] = {0};
  size_t width = width_of(t);
  uint64_t at = i->address;
  cm_strides(t->rank, t->dims, strides);
  bool stores = i->opcode == CM_CODE_STORE;
  CM_TRY_IF(stores, make_outside(f, i->tensor, error));
  uint32_t *outside = f->outside[i->tensor];
  if (!stores)
    f->constant[i->buffer] += t->role == CM_ROLE_CONSTANT ? i->bytes : 0;
  if (i->bytes == 0)
    return CM_OK;
  do {
    int64_t element = 0;
    for (uint32_t k = 0; k < t->rank; k++)
      element += (i->from[k] + index[k]) * strides[k];
    if (stores)
      outside[element] = f->chip[at];
    else
      f->chip[at] = outside == NULL ? 0 : outside[element];
    at += width;
  } while (cm_next_index(t->rank, i->extent, index));
  return CM_OK;
}

/* ---- tiles ---- */

static cm_status differs(const following *f, uint32_t tile, cm_error *error, const char *what, uint64_t says, uint64_t is)
{
  (void)cm_fail(error, CM_BAD_MAPPING, "tile %" PRIu32 " (%.80s) %s %" PRIu64 " in the network or mapping, but %" PRIu64
                " in the program", tile, cm_topology_label(f->t, tile), what, says, is);
  return cm_fail_at(error, "tile %" PRIu32, tile);
}

static void read_operand(following *f, const cm_operand *o, uint32_t tile, uint64_t *held)
{
  size_t width = cm_type_bytes(o->type);
  for (uint32_t k = 0; k < o->part_count; k++) {
    const cm_program_part *part = &f->p->parts[o->first_part + k];
    const bool outside = cm_part_is_outside(part);
    const uint32_t *makers = outside ? f->outside[cm_part_tensor(part)] : f->chip;
    int64_t index[CM_RANK_MAX] = {0};
    if (makers == NULL)
      continue; /* a constant or an input */
    if (!outside && f->constant[part->buffer] > 0) {
      *held += f->reader[part->buffer] != tile + UINT64_C(1) ? f->constant[part->buffer] : 0;
      f->reader[part->buffer] = tile + UINT64_C(1);
      continue;
    }
    do {
      int64_t element = 0;
      for (uint32_t r = 0; r < part->shape->rank; r++)
        element += index[r] * part->shape->stride[r];
      uint32_t owner = outside ? makers[part->address / width + (uint64_t)element] : makers[part->address + (uint64_t)element * width];
      if (f->bytes[owner] == 0)
        f->touched[f->touched_count++] = owner;
      f->bytes[owner] += width;
    } while (cm_next_index(part->shape->rank, part->shape->extent, index));
  }
}

static cm_status write_operand(following *f, const cm_operand *o, uint32_t tile, uint64_t *held, cm_error *error)
{
  const cm_program_part *part = &f->p->parts[o->first_part];
  uint64_t count = o->part_count > 0 ? 1 : 0;
  size_t width = cm_type_bytes(o->type);
  for (uint32_t r = 0; r < o->rank; r++)
    count *= (uint64_t)o->dims[r];
  const bool outside = count > 0 && cm_part_is_outside(part);
  CM_TRY_IF(outside, make_outside(f, cm_part_tensor(part), error));
  for (uint64_t e = 0; e < count; e++)
    (outside ? f->outside[cm_part_tensor(part)] : f->chip)[outside ? e : part->address + e * width] = tile + 1;
  *held += count * width;
  return CM_OK;
}

/* The axons into a tile are what it reads, byte for byte. */
static cm_status compare_axons(following *f, uint32_t tile, cm_error *error)
{
  for (; f->net < f->t->net_count && f->t->pin[f->t->net_first[f->by_reader[f->net]]] == tile; f->net++) {
    uint32_t e = f->by_reader[f->net], from = f->t->net_source[e];
    uint64_t says = cm_topology_pin_weight(f->t, e, f->t->net_first[e]), is = f->bytes[from + 1];
    if (says != is)
      return differs(f, tile, error, "reads of another bytes that are", says, is);
    f->bytes[from + 1] = 0;
  }
  f->bytes[0] = 0;
  for (uint32_t k = 0; k < f->touched_count; k++)
    if (f->bytes[f->touched[k]] != 0)
      return differs(f, tile, error, "reads of another bytes that are", 0, f->bytes[f->touched[k]]);
  f->touched_count = 0;
  return CM_OK;
}

/* NODE[k]@DEVICE. */
static bool is_called(const following *f, uint32_t tile, const cm_instruction *i)
{
  const cm_node *node = &f->p->operators[i->operator_number];
  const char *label = cm_topology_label(f->t, tile), *device = strrchr(label, '@'), *number = NULL;
  char name[128];
  int length = snprintf(name, sizeof name, "%.120s", node->name != NULL && node->name[0] != '\0' ? node->name : node->op);
  for (const char *at = label; device != NULL && at < device; at++)
    number = *at == '[' ? at : number;
  return number != NULL && number - label == length && memcmp(label, name, (size_t)length) == 0 &&
         strcmp(device + 1, f->p->target.device[f->p->lanes[i->lane].device].name) == 0;
}

static cm_status compute(following *f, const cm_instruction *i, uint32_t tile, cm_error *error)
{
  uint64_t held = 0;
  if (tile >= f->t->vertex_count)
    return cm_fail(error, CM_BAD_MAPPING, "the program computes more pieces than the network has tiles (%" PRIu32 ")",
                   f->t->vertex_count);
  for (uint32_t k = 0; k < i->input_count; k++)
    read_operand(f, &f->p->operands[i->first_operand + k], tile, &held);
  CM_TRY(compare_axons(f, tile, error));
  for (uint32_t k = i->input_count; k < i->input_count + i->output_count; k++)
    CM_TRY(write_operand(f, &f->p->operands[i->first_operand + k], tile, &held, error));
  held = held > 0 ? held : 1;
  if (cm_topology_size(f->t, tile) != held)
    return differs(f, tile, error, "holds bytes that are", cm_topology_size(f->t, tile), held);
  uint32_t lies = cm_lane_core(&f->p->target, i->lane), says = f->core[f->part[tile]];
  if (lies != says)
    return differs(f, tile, error, "lies on the core with number", says, lies);
  if (!is_called(f, tile, i))
    return cm_fail(error, CM_BAD_MAPPING, "tile %" PRIu32 " is called %.80s, but the program computes %.80s on %s there",
                   tile, cm_topology_label(f->t, tile), f->p->operators[i->operator_number].name,
                   f->p->target.device[f->p->lanes[i->lane].device].name);
  return CM_OK;
}

/* ---- the whole ---- */

static cm_status follow(following *f, cm_run *run, cm_error *error)
{
  uint32_t tile = 0;
  cm_status status = CM_OK;
  for (uint64_t n = 0; n < f->p->instruction_count && status == CM_OK; n++) {
    const cm_instruction *i = &f->p->instructions[n];
    switch (i->opcode) {
    case CM_CODE_LOAD:
    case CM_CODE_STORE: status = transfer(f, i, error); break;
    case CM_CODE_COPY:
      memmove(f->chip + i->address, f->chip + i->source, i->bytes * sizeof *f->chip);
      f->constant[i->buffer] = f->constant[i->source_buffer];
      break;
    case CM_CODE_MATRIX:
    case CM_CODE_VECTOR:
    case CM_CODE_HOST: status = compute(f, i, tile++, error); break;
    default: break;
    }
    CM_THEN(status, cm_run_check(run, error));
  }
  if (status == CM_OK && tile != f->t->vertex_count)
    return cm_fail(error, CM_BAD_MAPPING, "the program computes %" PRIu32 " pieces, the network has %" PRIu32 " tiles", tile,
                   f->t->vertex_count);
  return status;
}

/* Axons by the tile that reads; of one tile in any order. */
static cm_status sort_axons(following *f, cm_error *error)
{
  uint32_t *first;
  const cm_topology *t = f->t;
  CM_TRY(CM_NEW(f->p->memory, first, (size_t)t->vertex_count + 2, error));
  for (uint32_t e = 0; e < t->net_count; e++)
    first[t->pin[t->net_first[e]] + 1]++;
  for (uint32_t v = 0; v < t->vertex_count; v++)
    first[v + 1] += first[v];
  for (uint32_t e = 0; e < t->net_count; e++)
    f->by_reader[first[t->pin[t->net_first[e]]]++] = e;
  cm_free(first);
  return CM_OK;
}

cm_status cm_tiles_agree(const cm_program *program, const cm_topology *topology, const uint32_t *part, const uint32_t *core,
                         cm_run *run, cm_error *error)
{
  following f = {.p = program, .t = topology, .part = part, .core = core};
  cm_memory *memory = program->memory;
  cm_status status = CM_OK;
  for (uint32_t e = 0; e < topology->net_count; e++)
    if (topology->net_first[e + 1] - topology->net_first[e] != 1)
      return cm_fail(error, CM_BAD_MAPPING, "axon %" PRIu32 " has not one target, as axons between tiles have", e);
  if (CM_NEW_ALL(memory, error, CM_ARRAY(f.chip, program->target.memory_bytes + 1),
                 CM_ARRAY(f.outside, (size_t)program->tensor_count + 1), CM_ARRAY(f.constant, (size_t)program->buffer_count + 1),
                 CM_ARRAY(f.reader, (size_t)program->buffer_count + 1), CM_ARRAY(f.bytes, (size_t)topology->vertex_count + 2),
                 CM_ARRAY(f.touched, (size_t)topology->vertex_count + 2),
                 CM_ARRAY(f.by_reader, (size_t)topology->net_count + 1)) != CM_OK || sort_axons(&f, error) != CM_OK)
    status = error->status;
  CM_THEN(status, follow(&f, run, error));
  for (uint32_t t = 0; f.outside != NULL && t < program->tensor_count; t++)
    cm_free(f.outside[t]);
  CM_FREE(f.chip, f.outside, f.constant, f.reader, f.bytes, f.touched, f.by_reader);
  return status;
}
