/* Kinds for parts that are given: a matching, made larger by exchanges along chains of kinds. What can fail: a part that may
 * run nowhere, too few cores, memory. */
#include <inttypes.h>
#include <string.h>

#include "core/chip/classes.h"
#include "core/limits/limits.h"
#include "core/solver/stage/kinds_of_neurons.h"

enum { NONE = UINT32_MAX };

typedef struct matching {
  uint32_t kinds, parts;
  const uint32_t *cores; /* [kinds] */
  const uint64_t *may;   /* [parts] */
  uint32_t *used;        /* [kinds] */
  uint8_t *kind;         /* [parts] */
} matching;

/* A part before `placed` on kind `from` that may be on `to`; NONE: none. */
static uint32_t movable(const matching *m, uint32_t placed, uint32_t from, uint32_t to)
{
  for (uint32_t p = 0; p < placed; p++)
    if (m->kind[p] == from && (m->may[p] >> to & 1) != 0)
      return p;
  return NONE;
}

/* Gives part p a kind; where all of its kinds are full, along the shortest chain of parts that move over. */
static bool place(matching *m, uint32_t p)
{
  uint32_t queue[CM_KINDS_MAX], count = 0, from[CM_KINDS_MAX];
  bool seen[CM_KINDS_MAX] = {false};
  for (uint32_t k = 0; k < m->kinds; k++)
    if ((m->may[p] >> k & 1) != 0 && m->cores[k] > 0) {
      queue[count++] = k;
      from[k] = NONE;
      seen[k] = true;
    }
  for (uint32_t head = 0; head < count; head++) {
    uint32_t k = queue[head];
    if (m->used[k] < m->cores[k]) {
      m->used[k]++;
      for (; from[k] != NONE; k = from[k])
        m->kind[movable(m, p, from[k], k)] = (uint8_t)k;
      m->kind[p] = (uint8_t)k;
      return true;
    }
    for (uint32_t next = 0; next < m->kinds; next++)
      if (!seen[next] && movable(m, p, k, next) != NONE) {
        seen[next] = true;
        from[next] = k;
        queue[count++] = next;
      }
  }
  return false;
}

/* Where the limits of a kind hold each part. */
static void look_at_limits(const cm_map_input *input, const uint64_t *use, uint64_t *may)
{
  for (uint32_t p = 0; p < input->part_count; p++)
    for (uint32_t k = 0; k < cm_chip_kinds(input->chip); k++)
      if (cm_find_violation(cm_chip_kind_limits(input->chip, k), use + (size_t)p * CM_RESOURCES, 1).broken_parts > 0)
        may[p] &= ~(UINT64_C(1) << k);
}

cm_status cm_match_kinds(const cm_map_input *input, const uint64_t *allowed, const uint64_t *use, const uint32_t *cores,
                         cm_run *run, uint8_t *kind, cm_error *error)
{
  uint32_t used[CM_KINDS_MAX] = {0}, fitting = NONE, parts = input->part_count;
  uint64_t *may;
  CM_TRY(CM_NEW(run->memory, may, parts, error));
  memset(may, 0xff, parts * sizeof *may);
  for (uint32_t v = 0; v < input->demand->network->vertex_count; v++)
    may[input->part[v]] &= allowed[v];
  for (uint32_t p = 0; p < parts && fitting == NONE; p++)
    fitting = may[p] == 0 ? p : NONE;
  cm_status status = CM_OK;
  if (fitting != NONE)
    status = cm_fail(error, CM_LIMIT_BROKEN, "part %" PRIu32 " holds neurons that no core class takes together: give them parts of their own", fitting);
  if (status == CM_OK)
    look_at_limits(input, use, may);
  matching m = {.kinds = cm_chip_kinds(input->chip), .parts = parts, .cores = cores, .may = may, .used = used, .kind = kind};
  for (uint32_t p = 0; p < parts && status == CM_OK; p++) {
    if (may[p] == 0)
      status = cm_fail(error, CM_LIMIT_BROKEN, "part %" PRIu32 " is too large for the core classes that take its neurons", p);
    else if (!place(&m, p))
      status = cm_fail(error, CM_NO_ROOM, "the classes that may take part %" PRIu32 " and those like it have too few free cores", p);
  }
  cm_free(may);
  return status;
}
