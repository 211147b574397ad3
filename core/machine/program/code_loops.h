/* Loops in the code of a program file: instructions of one shape whose numbers grow evenly from turn to turn are written once.
 * Internal to core/machine.
 *
 * A loop is the number 0 (no opcode), its instructions, its turns, the instructions of the first turn, and what their numbers
 * grow by: how many pairs, and of each how many numbers grow by nothing before it and the growth (signed). */
#pragma once

#include "core/machine/program/coding.h"

enum { CM_LOOP_INSTRUCTIONS_MAX = 1024, CM_LOOP_TURNS_MAX = 4096 };

/* Writes code, instruction k at bytes [at[k], at[k + 1]), with loops where there are any. O(count * CM_LOOP_INSTRUCTIONS_MAX)
 * comparisons of one number for code without any. Errors (in `w`): memory. */
void cm_loops_put(cm_writer *w, const uint8_t *code, const size_t *at, uint64_t count);

/* Reads a loop behind its 0, each turn's instructions with `get`, `left` at most in all. */
void cm_loops_get(cm_coding *g, uint64_t left, void (*get)(cm_coding *g));
