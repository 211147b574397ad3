/* Homes of buffers: memory that is shared by what is never needed at once. */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "core/csource/plan/homes.h"
#include "core/operators/operator.h"

enum { MOST_GROUPS = 16384 };

/* Buffers that keep their places to each other. */
typedef struct group {
  uint64_t from, end, home; /* in the program; in the code */
  uint64_t shift;           /* added to the places of a buffer that took over another's */
  uint32_t *first, *last;   /* by lane: what is done before any use; the last use */
} group;

/* A group, by the buffer that stands for it. */
typedef struct sized {
  uint64_t bytes;
  uint32_t buffer;
} sized;

typedef struct packing {
  const cm_program *p;
  const cm_c_flow *flow;
  cm_c_space *space;
  group *groups;     /* by buffer */
  uint32_t *leader;  /* by buffer: towards the one that stands for its group */
  uint32_t *clocks;
  sized *order;      /* groups that are used */
  uint32_t count;
} packing;

static uint32_t leader_of(packing *k, uint32_t buffer)
{
  for (; k->leader[buffer] != buffer; buffer = k->leader[buffer])
    k->leader[buffer] = k->leader[k->leader[buffer]];
  return buffer;
}

static void use(packing *k, uint64_t i, uint32_t buffer, uint64_t address, uint64_t bytes)
{
  const uint32_t lanes = k->flow->lanes, lane = k->flow->lane[i];
  const uint32_t *done = k->flow->done + i * lanes;
  group *g = &k->groups[buffer];
  if (bytes == 0 || k->space->buffers[buffer].constant || k->space->buffers[buffer].in_place)
    return;
  const uint64_t line = address / CM_C_LINE * CM_C_LINE;
  g->from = g->end == 0 || line < g->from ? line : g->from;
  g->end = address + bytes > g->end ? address + bytes : g->end;
  for (uint32_t l = 0; l < lanes; l++) {
    const uint32_t before = done[l] - (l == lane);
    g->first[l] = before < g->first[l] ? before : g->first[l];
  }
  g->last[lane] = k->flow->number[i] > g->last[lane] ? k->flow->number[i] : g->last[lane];
}

static bool overlap(const group *a, const group *b)
{
  return a->from < b->end && b->from < a->end;
}

static void unite(packing *k, uint32_t a, uint32_t b)
{
  a = leader_of(k, a);
  b = leader_of(k, b);
  k->leader[a > b ? a : b] = a > b ? b : a;
}

/* Two buffers of an instruction that share places in the program go on sharing them. */
static void join(packing *k, uint32_t a, uint32_t b)
{
  if (((a | b) & CM_PART_OUTSIDE) == 0 && overlap(&k->groups[a], &k->groups[b]))
    unite(k, a, b);
}

static void each_use(packing *k, bool joins)
{
  const cm_program *p = k->p;
  for (uint64_t i = 0; i < p->instruction_count; i++) {
    const cm_instruction *at = &p->instructions[i];
    const cm_operand *o = &p->operands[at->first_operand];
    if (k->flow->lane[i] == CM_NONE)
      continue;
    if (at->opcode == CM_CODE_COPY && joins)
      join(k, at->buffer, at->source_buffer);
    else if (at->opcode == CM_CODE_COPY)
      use(k, i, at->source_buffer, at->source, at->bytes);
    if (at->opcode == CM_CODE_COPY || at->opcode == CM_CODE_LOAD || at->opcode == CM_CODE_STORE) {
      if (!joins)
        use(k, i, at->buffer, at->address, at->bytes);
      continue;
    }
    for (uint32_t n = 0; n < at->input_count + at->output_count; n++)
      for (uint32_t j = 0; o[n].type != CM_TYPE_NONE && j < o[n].part_count; j++) {
        const cm_program_part *part = &p->parts[o[n].first_part + j];
        if (!joins && !cm_part_is_outside(part))
          use(k, i, part->buffer, part->address, cm_c_reach(part) * cm_type_bytes(o[n].type));
        for (uint32_t m = at->input_count; joins && n < at->input_count && m < at->input_count + at->output_count; m++)
          if (o[m].type != CM_TYPE_NONE && o[m].part_count > 0)
            join(k, part->buffer, p->parts[o[m].first_part].buffer);
      }
  }
}

static bool is_before(const packing *k, const group *a, const group *b)
{
  for (uint32_t l = 0; l < k->flow->lanes; l++)
    if (a->last[l] > b->first[l])
      return false;
  return true;
}

/* Whether a buffer that an instruction makes, and nothing is joined to, can stand where a buffer stands that it reads last. */
static bool may_follow(packing *k, uint64_t i, uint32_t a, uint32_t b)
{
  const uint32_t *done = k->flow->done + i * k->flow->lanes;
  const group *x = &k->groups[a], *y = &k->groups[b];
  bool may = a != b && x->end - x->from == y->end - y->from;
  for (uint32_t l = 0; l < k->flow->lanes; l++)
    may = may && x->last[l] <= done[l] && y->first[l] + (l == k->flow->lane[i]) >= done[l];
  const group taken = {.from = x->from + x->shift, .end = x->end + x->shift};
  for (uint32_t m = 0; may && m < k->p->buffer_count; m++) {
    const group *g = &k->groups[m], at = {.from = g->from + g->shift, .end = g->end + g->shift};
    may = m == b || leader_of(k, m) != leader_of(k, b);
    if (m != a && g->end > 0 && leader_of(k, m) == leader_of(k, a) && overlap(&at, &taken))
      may = may && (is_before(k, g, y) || is_before(k, y, g));
  }
  return may;
}

/* What an operator makes of its inputs element for element takes the place of one. */
static void take_over(packing *k)
{
  const cm_program *p = k->p;
  for (uint64_t i = 0; i < p->instruction_count; i++) {
    const cm_instruction *at = &p->instructions[i];
    const cm_operand *o = &p->operands[at->first_operand], *out = o + at->input_count;
    if (k->flow->lane[i] == CM_NONE || !cm_opcode_computes(at->opcode) || p->operators[at->operator_number].known->runs != CM_RUNS_IN_PLACE || at->output_count != 1 ||
        out->type == CM_TYPE_NONE)
      continue;
    const cm_program_part *to = &p->parts[out->first_part];
    for (uint32_t n = 0; n < at->input_count; n++) {
      const cm_program_part *from = &p->parts[o[n].first_part];
      bool fits = o[n].type == out->type && o[n].part_count == 1 && o[n].rank == out->rank && memcmp(o[n].dims, out->dims, out->rank * sizeof *out->dims) == 0 &&
                  !cm_part_is_outside(from) && !cm_part_is_outside(to) && cm_c_is_whole(from, &o[n]) && k->groups[from->buffer].end > 0 &&
                  from->address - k->groups[from->buffer].from == to->address - k->groups[to->buffer].from;
      for (uint32_t m = 0; fits && m < at->input_count; m++)
        for (uint32_t j = 0; m != n && o[m].type != CM_TYPE_NONE && j < o[m].part_count; j++)
          fits = fits && p->parts[o[m].first_part + j].buffer != from->buffer;
      if (!fits || !may_follow(k, i, from->buffer, to->buffer))
        continue;
      k->groups[to->buffer].shift = k->groups[from->buffer].from + k->groups[from->buffer].shift - k->groups[to->buffer].from;
      unite(k, from->buffer, to->buffer);
      break;
    }
  }
}

/* Groups take over what their buffers need. */
static void gather(packing *k)
{
  const uint32_t lanes = k->flow->lanes;
  for (uint32_t b = 0; b < k->p->buffer_count; b++) {
    k->space->buffers[b].from = k->groups[b].from;
    k->groups[b].from += k->groups[b].shift;
    k->groups[b].end += k->groups[b].shift;
  }
  for (uint32_t b = 0; b < k->p->buffer_count; b++) {
    group *own = &k->groups[b], *g = &k->groups[leader_of(k, b)];
    if (own->end > 0 && own == g)
      k->order[k->count++].buffer = b;
    if (own->end == 0 || own == g)
      continue;
    g->from = own->from < g->from ? own->from : g->from;
    g->end = own->end > g->end ? own->end : g->end;
    for (uint32_t l = 0; l < lanes; l++) {
      g->first[l] = own->first[l] < g->first[l] ? own->first[l] : g->first[l];
      g->last[l] = own->last[l] > g->last[l] ? own->last[l] : g->last[l];
    }
  }
}

/* Groups of `order`, the largest first, to homes; `placed` are those that have one, by home. */
static void place(packing *k, uint32_t *placed)
{
  for (uint32_t n = 0; n < k->count; n++) {
    group *g = &k->groups[k->order[n].buffer];
    const uint64_t bytes = g->end - g->from;
    uint64_t at = 0;
    uint32_t m = 0;
    for (; m < n; m++) {
      const group *other = &k->groups[placed[m]];
      if (is_before(k, g, other) || is_before(k, other, g))
        continue;
      if (at + bytes <= other->home)
        break;
      const uint64_t end = other->home + cm_c_whole_lines(other->end - other->from);
      at = end > at ? end : at;
    }
    g->home = at;
    for (m = n; m > 0 && k->groups[placed[m - 1]].home > at; m--)
      placed[m] = placed[m - 1];
    placed[m] = k->order[n].buffer;
  }
}

CM_ORDER(larger_first, sized, CM_FALLING(bytes) CM_RISING(buffer))

static void give_homes(packing *k, uint32_t *placed)
{
  const bool many = k->count > MOST_GROUPS;
  for (uint32_t n = 0; n < k->count; n++)
    k->order[n].bytes = k->groups[k->order[n].buffer].end - k->groups[k->order[n].buffer].from;
  qsort(k->order, k->count, sizeof *k->order, larger_first);
  if (!many)
    place(k, placed);
  for (uint32_t n = 0; n < k->count; n++) {
    group *g = &k->groups[k->order[n].buffer];
    g->home = many ? g->from : g->home;
    const uint64_t end = g->home + cm_c_whole_lines(g->end - g->from);
    k->space->bytes = end > k->space->bytes ? end : k->space->bytes;
  }
  for (uint32_t b = 0; b < k->p->buffer_count; b++) {
    const group *g = &k->groups[leader_of(k, b)];
    k->space->buffers[b].home = g->home + (k->space->buffers[b].from + k->groups[b].shift - g->from);
  }
}

cm_status cm_c_space_pack(const cm_program *p, const cm_c_flow *flow, cm_c_space *space, cm_error *error)
{
  packing k = {.p = p, .flow = flow, .space = space};
  const size_t lanes = flow->lanes, buffers = p->buffer_count;
  uint32_t *placed;
  CM_TRY(CM_NEW_ALL(p->memory, error, CM_ARRAY(k.groups, buffers + 1), CM_ARRAY(k.leader, buffers + 1), CM_ARRAY(k.clocks, 2 * lanes * buffers + 1),
                    CM_ARRAY(k.order, buffers + 1), CM_ARRAY(placed, buffers + 1)));
  for (uint32_t b = 0; b < buffers; b++) {
    k.leader[b] = b;
    k.groups[b].first = k.clocks + 2 * lanes * b;
    k.groups[b].last = k.groups[b].first + lanes;
    memset(k.groups[b].first, 0xff, lanes * sizeof *k.clocks);
  }
  each_use(&k, false);
  each_use(&k, true);
  if (buffers <= MOST_GROUPS)
    take_over(&k);
  gather(&k);
  give_homes(&k, placed);
  CM_FREE(k.groups, k.leader, k.clocks, k.order, placed);
  return CM_OK;
}
