/* What follows an attempt that broke a limit: a smaller capacity or another number of parts, or nothing. */
#include <math.h>

#include "core/solver/stage/attempts_judge.h"

/* Legal parts that ask for so many times what all free cores have together are not brought together by other means: what
 * neurons share, the method has looked for already. */
static const double far_too_much = 1.25;

/* A method that keeps the limits makes parts for the limits; so many of them, whatever they hold, it makes by nets, which
 * takes many times as long. */
static const uint64_t exact_pins_most = 1500000;

/* An attempt comes nearer where it leaves so much of the parts over a limit, or of the worst excess; after so many in a row that did
 * not, smaller parts are not the way. */
static const double left_nearer = 0.9;
enum { VAIN_MOST = 3 };

static const char too_many[] = "each needs more cores than are free";

bool cm_attempts_ask_far_too_much(const cm_attempts *a, uint32_t parts)
{
  return a->fill * parts > far_too_much * a->terms.cores;
}

bool cm_attempts_are_out_of_reach(const cm_attempts *a)
{
  return a->engine->keeps_limits && a->terms.parts == 0 && cm_attempts_ask_far_too_much(a, a->made.attempts[a->made.attempt_count - 1].parts);
}

/* Whether the last attempts show no way to the limits. */
static bool is_vain(cm_attempts *a, const cm_violation *violation)
{
  double excess = (double)violation->use / (double)violation->limit - 1;
  bool first = a->least_broken == 0, nearer = first;
  if (first || (double)violation->broken_parts <= left_nearer * (double)a->least_broken) {
    a->least_broken = violation->broken_parts;
    nearer = true;
  }
  if (first || excess <= left_nearer * a->least_excess) {
    a->least_excess = excess;
    nearer = true;
  }
  a->vain = nearer ? 0 : a->vain + 1;
  return a->vain >= VAIN_MOST;
}

/* A smaller capacity in proportion to the worst excess, 95 % at most of the present one, or of what the largest part holds: other
 * limits may have kept parts far smaller. Not less than half of it the first time, for one bad part may mend without; every
 * further attempt may take twice as large a step. */
static uint64_t smaller_capacity(const cm_attempts *a, uint64_t capacity, const cm_violation *violation)
{
  capacity = a->widest < capacity ? a->widest : capacity;
  double ratio = (double)violation->limit / (double)violation->use;
  ratio = fmin(fmax(ratio, ldexp(1, -(int)a->made.attempt_count)), 0.95);
  return (uint64_t)floor((double)capacity * ratio);
}

/* Whether so many parts of this capacity could be enough. */
static bool has_room(const cm_attempts *a, uint64_t capacity)
{
  return (a->input->demand->size_total + capacity - 1) / capacity <= a->terms.cores;
}

/* Whether the method may be asked for as many parts as there are cores, where those of its choice are too many. */
static bool can_take_parts(const cm_attempts *a)
{
  const cm_attempt *last = &a->made.attempts[a->made.attempt_count - 1];
  bool cheap = !a->engine->keeps_limits || a->input->demand->network->pin_count <= exact_pins_most;
  return a->engine->takes_parts && cheap && !cm_attempts_ask_far_too_much(a, last->parts);
}

const char *cm_attempts_next(cm_attempts *a, const cm_violation *violation, uint64_t *capacity, uint32_t *parts)
{
  if (a->terms.parts != 0)
    return "the number of parts is fixed";
  if (a->made.attempt_count >= a->tries_max)
    return "no more attempts are allowed";
  if (cm_attempts_are_out_of_reach(a))
    return too_many;
  if (violation->broken_parts == 0) { /* too many: as many as there are cores */
    if (*parts != 0 || !can_take_parts(a))
      return too_many;
    *parts = a->terms.cores;
    return NULL;
  }
  if ((violation->resource == CM_TARGET_CORES || violation->resource == CM_SOURCE_CORES) &&
      violation->use * a->violation.limit > a->violation.use * violation->limit)
    return "smaller parts reach more cores";
  if (is_vain(a, violation))
    return "the last of them came no nearer";
  uint64_t smaller = smaller_capacity(a, *capacity, violation);
  smaller = smaller < a->largest ? a->largest : smaller;
  if (*capacity == a->largest)
    return "a part cannot be smaller";
  if (!has_room(a, smaller))
    return a->terms.budget ? "a smaller capacity needs more cores than are allowed" : "a smaller capacity needs more cores than are free";
  *capacity = smaller;
  return NULL;
}
