/* The checking mode: bytes know which buffer filled them, lanes know what has happened before. */
#include <string.h>

#include "core/machine/run/runner.h"
#include "core/operators/operator.h"

static bool is_stored(const cm_program_tensor *t)
{
  return t->role == CM_ROLE_OUTPUT || t->role == CM_ROLE_SPILL;
}

cm_status cm_checker_new(const cm_program *p, cm_checker **made, cm_error *error)
{
  cm_checker *c;
  uint64_t signals = 0;
  cm_memory *m = p->memory;
  CM_TRY(CM_NEW(m, c, 1, error));
  c->lanes = p->lane_count;
  for (uint64_t i = 0; i < p->instruction_count; i++)
    signals += p->instructions[i].opcode == CM_CODE_SET;
  cm_status status = CM_OK;
  if (CM_NEW_ALL(m, error, CM_ARRAY(c->clock, (size_t)c->lanes * c->lanes), CM_ARRAY(c->seq, c->lanes),
                 CM_ARRAY(c->signal, (signals + 1) * c->lanes), CM_ARRAY(c->tag, p->target.memory_bytes),
                 CM_ARRAY(c->access, ((size_t)p->buffer_count + 1) * c->lanes),
                 CM_ARRAY(c->written, ((size_t)p->buffer_count + 1) * c->lanes), CM_ARRAY(c->memory, (size_t)p->buffer_count + 1),
                 CM_ARRAY(c->home_lane, (size_t)p->tensor_count + 1), CM_ARRAY(c->home_seq, (size_t)p->tensor_count + 1)) != CM_OK)
    status = error->status;
  for (uint32_t t = 0; status == CM_OK && t < p->tensor_count; t++) {
    uint64_t count = 0;
    if (!is_stored(&p->tensors[t]))
      continue;
    (void)cm_dims_count(p->tensors[t].rank, p->tensors[t].dims, &count);
    CM_THEN(status, CM_NEW_ALL(m, error, CM_ARRAY(c->home_lane[t], count + 1), CM_ARRAY(c->home_seq[t], count + 1)));
  }
  CM_END(status, *made = c, cm_checker_free(c, p->tensor_count));
}

void cm_checker_free(cm_checker *c, uint32_t tensor_count)
{
  if (c == NULL)
    return;
  for (uint32_t t = 0; t < tensor_count; t++) {
    CM_FREE(c->home_lane != NULL ? c->home_lane[t] : NULL, c->home_seq != NULL ? c->home_seq[t] : NULL);
  }
  CM_FREE(c->clock, c->seq, c->signal, c->tag, c->memory, c->access, c->written, c->home_lane, c->home_seq, c);
}

/* ---- clocks ---- */

void cm_checker_begin(cm_checker *c, uint32_t lane)
{
  c->seq[lane]++;
  /* A lane knows what it did itself: everything before this instruction, and the instruction for those after it. */
  c->clock[(size_t)lane * c->lanes + lane] = c->seq[lane];
}

void cm_checker_set(cm_checker *c, uint32_t lane, uint64_t signal)
{
  memcpy(c->signal + signal * c->lanes, c->clock + (size_t)lane * c->lanes, c->lanes * sizeof *c->clock);
}

void cm_checker_wait(cm_checker *c, uint32_t lane, uint64_t signal)
{
  uint32_t *own = c->clock + (size_t)lane * c->lanes;
  const uint32_t *other = c->signal + signal * c->lanes;
  for (uint32_t l = 0; l < c->lanes; l++)
    own[l] = other[l] > own[l] ? other[l] : own[l];
}

void cm_checker_meet(cm_checker *c, uint64_t memory_bytes)
{
  for (uint32_t l = 0; l < c->lanes; l++)
    memcpy(c->clock + (size_t)l * c->lanes, c->seq, c->lanes * sizeof *c->clock);
  memset(c->tag, 0, memory_bytes * sizeof *c->tag);
}

static bool happened_before(const cm_checker *c, uint32_t lane, uint32_t other, uint32_t seq)
{
  return c->clock[(size_t)lane * c->lanes + other] >= seq;
}

static cm_status wrong(const cm_runner *r, cm_error *error, const char *what, uint32_t buffer, uint64_t address)
{
  (void)cm_fail(error, CM_DAMAGED, "instruction %llu (%s) %s: byte %llu of the chip, buffer %u",
                (unsigned long long)r->at, cm_opcode_name(r->program->instructions[r->at].opcode), what,
                (unsigned long long)address, buffer);
  return cm_fail_at(error, "instruction %llu", (unsigned long long)r->at);
}

static cm_status wrong_outside(const cm_runner *r, cm_error *error, const char *what, const cm_program_tensor *tensor, int64_t element)
{
  (void)cm_fail(error, CM_DAMAGED, "instruction %llu (%s) %s: element %lld of '%.80s'", (unsigned long long)r->at,
                cm_opcode_name(r->program->instructions[r->at].opcode), what, (long long)element, tensor->name);
  return cm_fail_at(error, "instruction %llu", (unsigned long long)r->at);
}

static void note(cm_checker *c, uint32_t lane, uint32_t buffer)
{
  c->access[(size_t)buffer * c->lanes + lane] = c->seq[lane];
}

/* ---- the chip ---- */

/* Counts what lies on other cores; no buffer lies in two memories. By a walk along the memories, as a judge of what finds
 * them by halving. */
static cm_status visit_memory(cm_runner *r, uint32_t lane, uint32_t buffer, uint64_t address, uint64_t bytes, bool reads,
                              cm_error *error)
{
  const cm_target *t = &r->program->target;
  cm_checker *c = r->checker;
  const uint32_t core = cm_lane_core(t, lane);
  uint32_t m = 0;
  if (t->memory_count == 0 || bytes == 0)
    return CM_OK;
  while (t->memory[m].to <= address)
    m++;
  if (address + bytes > t->memory[m].to || (c->memory[buffer] != 0 && c->memory[buffer] != m + 1))
    return wrong(r, error, "uses a buffer that lies in two memories", buffer, address);
  c->memory[buffer] = m + 1;
  if (t->memory[m].core == CM_CORE_SHARED || t->memory[m].core == core)
    return CM_OK;
  const double way = reads ? cm_grid_ns(&t->grid, t->memory[m].core, core) : cm_grid_ns(&t->grid, core, t->memory[m].core);
  double *farthest = reads ? &c->read_hop_ns : &c->write_hop_ns;
  *farthest = way > *farthest ? way : *farthest;
  c->remote_bytes += bytes;
  return CM_OK;
}

cm_status cm_checker_end(cm_runner *r, const cm_instruction *i, cm_error *error)
{
  cm_checker *c = r->checker;
  const uint64_t said = i->remote.read_bytes + i->remote.written_bytes, bytes = c->remote_bytes;
  const double more = i->remote.hop_ns - c->read_hop_ns - c->write_hop_ns;
  c->remote_bytes = 0;
  c->read_hop_ns = c->write_hop_ns = 0;
  if (bytes == said && (more < 0 ? -more : more) <= 1e-9 * (1 + i->remote.hop_ns))
    return CM_OK;
  (void)cm_fail(error, CM_DAMAGED, "instruction %llu (%s) is timed for %llu bytes on other cores, and has %llu there",
                (unsigned long long)r->at, cm_opcode_name(i->opcode), (unsigned long long)said, (unsigned long long)bytes);
  return cm_fail_at(error, "instruction %llu", (unsigned long long)r->at);
}

cm_status cm_checker_read(cm_runner *r, uint32_t lane, uint32_t buffer, uint64_t address, uint64_t bytes, cm_error *error)
{
  cm_checker *c = r->checker;
  for (uint64_t b = address; b < address + bytes; b++)
    if (c->tag[b] != buffer + 1)
      return wrong(r, error, c->tag[b] == 0 ? "reads what nobody has written" : "reads what has been overwritten", buffer, b);
  for (uint32_t l = 0; bytes > 0 && l < c->lanes; l++)
    if (!happened_before(c, lane, l, c->written[(size_t)buffer * c->lanes + l]))
      return wrong(r, error, "reads without waiting for what writes", buffer, address);
  note(c, lane, buffer);
  /* What a port stores it fetches over the way there, as it loads. */
  const bool stores = r->program->instructions[r->at].opcode == CM_CODE_STORE;
  return visit_memory(r, lane, buffer, address, bytes, !stores, error);
}

cm_status cm_checker_write(cm_runner *r, uint32_t lane, uint32_t buffer, uint64_t address, uint64_t bytes, cm_error *error)
{
  cm_checker *c = r->checker;
  uint32_t last = 0;
  for (uint64_t b = address; b < address + bytes; b++) {
    uint32_t tag = c->tag[b];
    c->tag[b] = buffer + 1;
    if (tag == 0 || tag == last)
      continue;
    last = tag;
    for (uint32_t l = 0; l < c->lanes; l++)
      if (!happened_before(c, lane, l, c->access[(size_t)(tag - 1) * c->lanes + l]))
        return wrong(r, error, "overwrites what may still be read or written", tag - 1, b);
  }
  c->written[(size_t)buffer * c->lanes + lane] = c->seq[lane];
  note(c, lane, buffer);
  return visit_memory(r, lane, buffer, address, bytes, false, error);
}

/* ---- outside ---- */

cm_status cm_checker_home(cm_runner *r, uint32_t lane, const cm_home_box *box, bool stores, cm_error *error)
{
  cm_checker *c = r->checker;
  const cm_program_tensor *t = &r->program->tensors[box->tensor];
  int64_t index[CM_RANK_MAX] = {0};
  if (!is_stored(t))
    return CM_OK;
  do {
    int64_t at = box->first;
    for (uint32_t d = 0; d < box->rank; d++)
      at += index[d] * box->stride[d];
    uint32_t *by = &c->home_lane[box->tensor][at], *seq = &c->home_seq[box->tensor][at];
    if (!stores && *seq == 0)
      return wrong_outside(r, error, "reads what nobody has stored", t, at);
    if (!happened_before(c, lane, *by, *seq))
      return wrong_outside(r, error, "does not wait for what stores outside", t, at);
    if (stores) {
      *by = lane;
      *seq = c->seq[lane];
    }
  } while (cm_next_index(box->rank, box->extent, index));
  return CM_OK;
}

cm_status cm_checker_finish(cm_runner *r, cm_error *error)
{
  const cm_program *p = r->program;
  for (uint32_t o = 0; o < p->output_count; o++) {
    const cm_program_tensor *t = &p->tensors[p->outputs[o]];
    uint64_t count = 0;
    (void)cm_dims_count(t->rank, t->dims, &count);
    for (uint64_t e = 0; is_stored(t) && e < count; e++)
      if (r->checker->home_seq[p->outputs[o]][e] == 0)
        return cm_fail(error, CM_DAMAGED, "element %llu of output '%.80s' is never stored", (unsigned long long)e, t->name);
  }
  return CM_OK;
}
