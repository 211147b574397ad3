/* Lanes of the code. Instructions are taken in the order of the program, in which every flag is set before it is waited for. */
#include "core/csource/plan/flow.h"

#include <string.h>

typedef struct flowing {
  const cm_program *p;
  cm_c_flow *flow;
  uint32_t *of_lane;     /* by lane of the program that computes: lane of the code; CM_NONE: it moves data */
  uint32_t *waits_on;    /* by flag: a lane of the program that waits for it */
  uint32_t *clock;       /* [lane of the program][lane]: what is known to be done where it is */
  uint32_t *known;       /* [lane][lane] */
  uint32_t *signal;      /* [SET][lane]: what was known when it was done */
  uint64_t *first_signal, *seen; /* by flag */
  uint32_t *count;       /* by lane */
} flowing;

static void spread(flowing *f, uint32_t most)
{
  const cm_program *p = f->p;
  uint32_t computing = 0, next = 0;
  for (uint32_t l = 0; l < p->lane_count; l++)
    computing += !p->target.device[p->lanes[l].device].moves;
  f->flow->lanes = most == 0 || most > computing ? computing : most;
  f->flow->lanes = f->flow->lanes == 0 ? 1 : f->flow->lanes;
  for (uint32_t l = 0; l < p->lane_count; l++)
    f->of_lane[l] = p->target.device[p->lanes[l].device].moves ? CM_NONE : next++ % f->flow->lanes;
}

static cm_status begin(flowing *f, cm_error *error)
{
  const cm_program *p = f->p;
  const size_t lanes = f->flow->lanes;
  uint64_t signals = 0;
  for (uint64_t i = 0; i < p->instruction_count; i++) {
    const cm_instruction *at = &p->instructions[i];
    if (at->opcode == CM_CODE_SET) {
      f->first_signal[at->flag + 1]++;
      signals++;
    } else if (at->opcode == CM_CODE_WAIT)
      f->waits_on[at->flag] = at->lane;
  }
  for (uint32_t k = 0; k < p->flag_count; k++)
    f->first_signal[k + 1] += f->first_signal[k];
  return CM_NEW_ALL(p->memory, error, CM_ARRAY(f->flow->done, p->instruction_count * lanes + 1), CM_ARRAY(f->clock, p->lane_count * lanes + 1),
                    CM_ARRAY(f->known, lanes * lanes), CM_ARRAY(f->signal, signals * lanes + 1), CM_ARRAY(f->count, lanes));
}

static void join(uint32_t *clock, const uint32_t *with, uint32_t lanes)
{
  for (uint32_t l = 0; l < lanes; l++)
    clock[l] = clock[l] < with[l] ? with[l] : clock[l];
}

/* The lane that a transfer goes to: of a load that of the unit that waits for its end, of a store the one that has done most by then. */
static uint32_t lane_of_transfer(const flowing *f, uint64_t i)
{
  const cm_program *p = f->p;
  const cm_instruction *at = &p->instructions[i];
  const uint32_t *clock = f->clock + (size_t)at->lane * f->flow->lanes;
  uint32_t best = 0;
  for (uint64_t k = i + 1; at->opcode == CM_CODE_LOAD && k < p->instruction_count; k++)
    if (p->instructions[k].lane == at->lane && p->instructions[k].opcode == CM_CODE_SET) {
      const uint32_t reader = f->of_lane[f->waits_on[p->instructions[k].flag]];
      return reader != CM_NONE ? reader : 0;
    }
  for (uint32_t l = 1; l < f->flow->lanes; l++)
    best = clock[l] > clock[best] ? l : best;
  return best;
}

static cm_status take(flowing *f, uint64_t i, cm_error *error)
{
  const cm_instruction *at = &f->p->instructions[i];
  cm_c_flow *flow = f->flow;
  const uint32_t lanes = flow->lanes, lane = f->of_lane[at->lane] != CM_NONE ? f->of_lane[at->lane] : lane_of_transfer(f, i);
  uint32_t *clock = f->clock + (size_t)at->lane * lanes, *known = f->known + (size_t)lane * lanes;
  for (uint32_t l = 0; l < lanes; l++)
    if (l != lane && clock[l] > known[l]) {
      CM_TRY(CM_ROOM(f->p->memory, flow->waits, &flow->wait_room, flow->wait_count + 1, error));
      flow->waits[flow->wait_count++] = (cm_c_flow_wait){.instruction = i, .lane = l, .count = clock[l]};
    }
  join(known, clock, lanes);
  known[lane] = ++f->count[lane];
  flow->lane[i] = lane;
  flow->number[i] = f->count[lane];
  memcpy(clock, known, lanes * sizeof *clock);
  memcpy(flow->done + i * lanes, known, lanes * sizeof *known);
  return CM_OK;
}

/* Marks what is waited for: the counts of each lane, looked up in one pass over the instructions. */
static cm_status mark_awaited(const flowing *f, cm_error *error)
{
  cm_c_flow *flow = f->flow;
  uint64_t *first, *by_number;
  CM_TRY(CM_NEW_ALL(f->p->memory, error, CM_ARRAY(first, (size_t)flow->lanes + 1), CM_ARRAY(by_number, f->p->instruction_count + 1)));
  for (uint32_t l = 0; l < flow->lanes; l++)
    first[l + 1] = first[l] + f->count[l];
  for (uint64_t i = 0; i < f->p->instruction_count; i++)
    if (flow->lane[i] != CM_NONE)
      by_number[first[flow->lane[i]] + flow->number[i] - 1] = i;
  for (uint64_t w = 0; w < flow->wait_count; w++)
    flow->awaited[by_number[first[flow->waits[w].lane] + flow->waits[w].count - 1]] = true;
  CM_FREE(first, by_number);
  return CM_OK;
}

static cm_status go_through(flowing *f, const bool *left_out, cm_error *error)
{
  const cm_program *p = f->p;
  const uint32_t lanes = f->flow->lanes;
  for (uint64_t i = 0; i < p->instruction_count; i++) {
    const cm_instruction *at = &p->instructions[i];
    uint32_t *clock = f->clock + (size_t)at->lane * lanes;
    f->flow->lane[i] = CM_NONE;
    if (at->opcode == CM_CODE_SET)
      memcpy(f->signal + (f->first_signal[at->flag] + f->seen[at->flag]++) * lanes, clock, lanes * sizeof *clock);
    else if (at->opcode == CM_CODE_WAIT) {
      if (at->value < 1 || f->seen[at->flag] < at->value)
        return cm_fail(error, CM_DAMAGED, "instruction %llu waits for a flag that is set only after it: C is emitted for programs that coremap compile made",
                       (unsigned long long)i);
      join(clock, f->signal + (f->first_signal[at->flag] + at->value - 1) * lanes, lanes);
    } else if (!left_out[i] && take(f, i, error) != CM_OK)
      return error->status;
  }
  return mark_awaited(f, error);
}

cm_status cm_c_flow_make(const cm_program *p, const bool *left_out, uint32_t most, cm_c_flow *flow, cm_error *error)
{
  flowing f = {.p = p, .flow = flow};
  *flow = (cm_c_flow){0};
  CM_TRY(CM_NEW_ALL(p->memory, error, CM_ARRAY(flow->lane, p->instruction_count + 1), CM_ARRAY(flow->number, p->instruction_count + 1),
                    CM_ARRAY(flow->awaited, p->instruction_count + 1), CM_ARRAY(f.of_lane, p->lane_count + 1), CM_ARRAY(f.waits_on, p->flag_count + 1),
                    CM_ARRAY(f.first_signal, (size_t)p->flag_count + 2), CM_ARRAY(f.seen, p->flag_count + 1)));
  spread(&f, most);
  cm_status status = begin(&f, error);
  CM_THEN(status, go_through(&f, left_out, error));
  CM_FREE(f.of_lane, f.waits_on, f.clock, f.known, f.signal, f.first_signal, f.seen, f.count);
  return status;
}

void cm_c_flow_end(cm_c_flow *flow)
{
  CM_FREE(flow->lane, flow->number, flow->awaited, flow->done, flow->waits);
  *flow = (cm_c_flow){0};
}
