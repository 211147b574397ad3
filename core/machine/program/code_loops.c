#include "core/machine/program/code_loops.h"

#include <string.h>

#include "base/varint.h"

enum { TURNS_MIN = 4 };

/* ---- writing ---- */

typedef struct code {
  const uint8_t *bytes;
  const size_t *at;
  uint64_t count;
  uint32_t *shape; /* of each instruction: equal where opcode, lane, and how many numbers follow are equal */
} code;

static uint64_t next_number(const uint8_t *bytes, size_t *at, size_t end)
{
  uint64_t number = 0;
  *at += cm_varint_decode(bytes + *at, end - *at, &number);
  return number;
}

static cm_status find_shapes(code *c, cm_writer *w)
{
  if (CM_NEW(w->memory, c->shape, c->count + 1, w->error) != CM_OK)
    return w->status = w->error->status;
  for (uint64_t i = 0; i < c->count; i++) {
    size_t at = c->at[i];
    const uint64_t opcode = next_number(c->bytes, &at, c->at[i + 1]), lane = next_number(c->bytes, &at, c->at[i + 1]);
    uint32_t numbers = 0;
    for (; at < c->at[i + 1]; numbers++)
      (void)next_number(c->bytes, &at, c->at[i + 1]);
    c->shape[i] = (uint32_t)(numbers << 16 ^ lane << 4 ^ opcode);
  }
  return CM_OK;
}

/* Whether three instructions have as many numbers, which grow evenly; an opcode and a lane stay. */
static bool grow_evenly(const code *c, uint64_t i, uint64_t length)
{
  if (c->shape[i] != c->shape[i + length] || c->shape[i] != c->shape[i + 2 * length])
    return false;
  size_t a = c->at[i], b = c->at[i + length], d = c->at[i + 2 * length];
  const size_t a_end = c->at[i + 1], b_end = c->at[i + length + 1], d_end = c->at[i + 2 * length + 1];
  for (int k = 0; a < a_end && b < b_end && d < d_end; k++) {
    const uint64_t x = next_number(c->bytes, &a, a_end), y = next_number(c->bytes, &b, b_end), z = next_number(c->bytes, &d, d_end);
    if (y - x != z - y || (k < 2 && x != y))
      return false;
  }
  return a == a_end && b == b_end && d == d_end;
}

/* Turns of `length` instructions from i on. */
static uint64_t turns_of(const code *c, uint64_t i, uint64_t length)
{
  uint64_t even = 0; /* instructions from i on that grow evenly to the two turns behind them */
  while (i + even + 2 * length < c->count && even < length * (CM_LOOP_TURNS_MAX - 2) && grow_evenly(c, i + even, length))
    even++;
  return even < length ? 1 : even / length + 2;
}

/* The loop from i on that holds most instructions; the shortest one of these. */
static uint64_t best_loop(const code *c, uint64_t i, uint64_t *turns)
{
  uint64_t best = 0, held = 0;
  for (uint64_t length = 1; length <= CM_LOOP_INSTRUCTIONS_MAX && i + length < c->count; length++) {
    const uint64_t found = turns_of(c, i, length);
    if (found < TURNS_MIN || found * length <= held)
      continue;
    best = length;
    *turns = found;
    held = found * length;
  }
  return best;
}

/* What the numbers of the first turn grow by. */
static void put_growth(cm_writer *w, const code *c, uint64_t i, uint64_t length)
{
  size_t a = c->at[i], b = c->at[i + length];
  const size_t a_end = b, b_end = c->at[i + 2 * length];
  uint64_t pairs = 0, still = 0;
  cm_writer list = {.memory = w->memory, .error = w->error};
  while (a < a_end) {
    const uint64_t x = next_number(c->bytes, &a, a_end), growth = next_number(c->bytes, &b, b_end) - x;
    if (growth == 0) {
      still++;
      continue;
    }
    cm_put_number(&list, still);
    cm_put_signed(&list, (int64_t)growth);
    still = 0;
    pairs++;
  }
  cm_put_number(w, pairs);
  cm_put_bytes(w, list.bytes, list.size);
  w->status = w->status == CM_OK ? list.status : w->status;
  cm_free(list.bytes);
}

void cm_loops_put(cm_writer *w, const uint8_t *bytes, const size_t *at, uint64_t count)
{
  code c = {bytes, at, count, NULL};
  if (find_shapes(&c, w) != CM_OK)
    return;
  for (uint64_t i = 0, turns = 1, length; i < count && w->status == CM_OK; i += length * turns) {
    length = best_loop(&c, i, &turns);
    if (length == 0) {
      length = turns = 1;
      cm_put_bytes(w, bytes + at[i], at[i + 1] - at[i]);
      continue;
    }
    cm_put_number(w, 0);
    cm_put_number(w, length);
    cm_put_number(w, turns);
    cm_put_bytes(w, bytes + at[i], at[i + length] - at[i]);
    put_growth(w, &c, i, length);
  }
  cm_free(c.shape);
}

/* ---- reading ---- */

/* The instructions of the first turn stand at bytes [from, to), what they grow by from `growth` on. */
typedef struct turning {
  size_t from, to, growth;
  uint64_t pairs;
} turning;

/* A further turn: every number and so many times its growth. */
static void put_turn(const cm_reader *r, const turning *t, uint64_t turn, cm_writer *w)
{
  cm_reader growth = *r;
  size_t at = t->from;
  uint64_t pairs = t->pairs;
  growth.at = t->growth;
  for (uint64_t still = pairs > 0 ? cm_get_number(&growth) : UINT64_MAX; at < t->to; still--) {
    uint64_t number = next_number(r->bytes, &at, t->to);
    if (still == 0) {
      number += turn * (uint64_t)cm_get_signed(&growth);
      still = --pairs > 0 ? cm_get_number(&growth) + 1 : 0;
    }
    cm_put_number(w, number);
  }
}

/* Reads all that was written for one turn. */
static void get_turn(cm_coding *g, const cm_writer *turn, uint64_t length, void (*get)(cm_coding *g))
{
  const cm_reader outer = g->r;
  g->r.bytes = turn->bytes;
  g->r.size = turn->size;
  g->r.at = 0;
  for (uint64_t k = 0; k < length && g->r.status == CM_OK; k++)
    get(g);
  if (g->r.status == CM_OK && g->r.at != g->r.size)
    (void)cm_reader_fail(&g->r, "a turn of a loop has other instructions than the first");
  const cm_status status = g->r.status;
  g->r = outer;
  g->r.status = status;
}

void cm_loops_get(cm_coding *g, uint64_t left, void (*get)(cm_coding *g))
{
  const uint64_t length = cm_get_at_most(&g->r, CM_LOOP_INSTRUCTIONS_MAX, "the length of a loop");
  const uint64_t turns = cm_get_at_most(&g->r, CM_LOOP_TURNS_MAX, "the number of turns");
  if (g->r.status == CM_OK && (length == 0 || turns < 2 || length * turns > left))
    (void)cm_reader_fail(&g->r, "a loop of %llu instructions and %llu turns, where %llu instructions are left", (unsigned long long)length,
                         (unsigned long long)turns, (unsigned long long)left);
  turning t = {.from = g->r.at};
  for (uint64_t k = 0; k < length && g->r.status == CM_OK; k++)
    get(g);
  t.to = g->r.at;
  t.pairs = cm_get_count(&g->r, "the number of growths");
  t.growth = g->r.at;
  for (uint64_t k = 0; k < t.pairs; k++) {
    (void)cm_get_number(&g->r);
    (void)cm_get_signed(&g->r);
  }
  cm_writer turn = {.memory = g->p->memory, .error = g->r.error};
  for (uint64_t k = 1; k < turns && g->r.status == CM_OK; k++) {
    turn.size = 0;
    put_turn(&g->r, &t, k, &turn);
    if (turn.status != CM_OK)
      g->r.status = turn.status;
    else
      get_turn(g, &turn, length, get);
  }
  cm_free(turn.bytes);
}
