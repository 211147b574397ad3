/* The judge of constraints. What can fail: memory. */
#include "core/verify/constraints_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOBODY = UINT32_MAX };

/* A core of a subject, and a neuron of it there. */
typedef struct spot {
  uint32_t member; /* its place in the list that it is in */
  uint32_t neuron;
  long x, y;
} spot;

typedef struct side {
  spot *spot;
  uint32_t count;
  uint64_t room;
} side;

typedef struct judge {
  const cm_mapped *m;
  const cm_subjects *subjects;
  const cm_constraints *all;
  uint32_t number;
  const cm_constraint *c;
  side of, to;
  uint32_t *mark; /* [cores] */
  char *words;
} judge;

static void tell(const judge *j, const spot *a, const spot *b)
{
  char name[400];
  cm_subjects_text(j->subjects, j->all, j->number, name, sizeof name);
  int used = snprintf(j->words, CM_BROKEN_WORDS_MAX, "%s is broken: neuron %u lies on core (%ld, %ld)", name, a->neuron, a->x, a->y);
  if (b != NULL && used > 0 && used < CM_BROKEN_WORDS_MAX)
    (void)snprintf(j->words + used, (size_t)(CM_BROKEN_WORDS_MAX - used), ", and neuron %u on core (%ld, %ld)", b->neuron, b->x, b->y);
}

/* Where a list's subjects lie, each core of a subject once; neurons outside the chip lie nowhere. */
static cm_status find_spots(judge *j, const uint32_t *member, uint32_t count, side *s, cm_error *error)
{
  const cm_mapped *m = j->m;
  memset(j->mark, 0xff, cm_chip_cores(m->chip) * sizeof *j->mark);
  for (uint32_t k = 0; k < count; k++)
    for (uint32_t i = 0; i < cm_subject_size(j->subjects, member[k]); i++) {
      const uint32_t v = cm_subject_neuron(j->subjects, member[k], i), core = m->core[m->part[v]];
      if (cm_demand_is_outside(m->demand, v) || j->mark[core] == k)
        continue;
      j->mark[core] = k;
      CM_TRY(CM_ROOM(j->subjects->memory, s->spot, &s->room, (uint64_t)s->count + 1, error));
      s->spot[s->count++] = (spot){k, v, core % m->chip->width, core / m->chip->width};
    }
  return CM_OK;
}

/* A number that two cores share where they are in the same core, router, chip, column or row. */
static long place_in(const judge *j, const spot *s)
{
  const cm_chip *chip = j->m->chip;
  switch (j->c->scope) {
    case CM_SCOPE_ROUTER: return s->y / chip->router_y * chip->width + s->x / chip->router_x;
    case CM_SCOPE_CHIP: return s->y / chip->die_height * chip->width + s->x / chip->die_width;
    case CM_SCOPE_COLUMN: return s->x;
    case CM_SCOPE_ROW: return s->y;
    default: return s->y * chip->width + s->x;
  }
}

static void judge_pin(const judge *j)
{
  for (uint32_t i = 0; i < j->of.count; i++) {
    const spot *s = &j->of.spot[i];
    uint32_t hits = 0;
    for (uint32_t k = 0; k < j->c->at_count; k++)
      hits += j->c->at[k].x0 <= s->x && s->x <= j->c->at[k].x1 && j->c->at[k].y0 <= s->y && s->y <= j->c->at[k].y1;
    if ((hits > 0) != (j->c->kind == CM_PIN)) {
      tell(j, s, NULL);
      return;
    }
  }
}

static void judge_together(const judge *j)
{
  for (uint32_t i = 1; i < j->of.count; i++)
    if (place_in(j, &j->of.spot[i]) != place_in(j, &j->of.spot[0])) {
      tell(j, &j->of.spot[0], &j->of.spot[i]);
      return;
    }
}

/* The first who is in each place owns it: of another subject, or of the other side, nobody may be there. */
static void judge_apart(const judge *j)
{
  memset(j->mark, 0xff, cm_chip_cores(j->m->chip) * sizeof *j->mark);
  for (uint32_t i = 0; i < j->of.count; i++) {
    uint32_t *owner = &j->mark[place_in(j, &j->of.spot[i])];
    if (*owner == NOBODY)
      *owner = i;
    else if (j->c->to_count == 0 && j->of.spot[*owner].member != j->of.spot[i].member)
      tell(j, &j->of.spot[*owner], &j->of.spot[i]);
  }
  for (uint32_t i = 0; i < j->to.count; i++) {
    const uint32_t owner = j->mark[place_in(j, &j->to.spot[i])];
    if (owner != NOBODY)
      tell(j, &j->of.spot[owner], &j->to.spot[i]);
  }
}

static bool pair_holds(const judge *j, const spot *a, const spot *b)
{
  const cm_chip *chip = j->m->chip;
  const cm_constraint *c = j->c;
  const long x = a->x / chip->router_x - b->x / chip->router_x, y = a->y / chip->router_y - b->y / chip->router_y;
  if (c->kind == CM_ADJACENT) {
    for (uint32_t i = 0; i < c->offset_count; i++)
      if (c->offset[i].x == x && c->offset[i].y == y)
        return true;
    return false;
  }
  switch (c->side) {
    case CM_LEFT_OF: return x < 0;
    case CM_RIGHT_OF: return x > 0;
    case CM_ABOVE: return y < 0;
    case CM_BELOW: return y > 0;
    default: return labs(x) + labs(y) <= (long)c->hops;
  }
}

static void judge_pairs(const judge *j)
{
  const bool next = j->c->to_count == 0, any = j->c->kind == CM_ORDER && j->c->side == CM_WITHIN_HOPS;
  const side *second = next ? &j->of : &j->to;
  for (uint32_t i = 0; i < j->of.count; i++)
    for (uint32_t k = 0; k < second->count; k++) {
      const spot *a = &j->of.spot[i], *b = &second->spot[k];
      const bool asked = !next || (any ? a->member < b->member : a->member + 1 == b->member);
      if (asked && !pair_holds(j, a, b)) {
        tell(j, a, b);
        return;
      }
    }
}

/* Spreads from the first router until nothing is added. */
static cm_status judge_connected(const judge *j, cm_error *error)
{
  const cm_chip *chip = j->m->chip;
  const uint32_t wide = cm_chip_routers_x(chip), high = cm_chip_routers_y(chip);
  uint8_t *state; /* of a router: 1 somebody is there, 2 reached */
  bool grown = j->of.count > 0;
  CM_TRY(CM_NEW(j->subjects->memory, state, (size_t)wide * high, error));
  for (uint32_t i = 0; i < j->of.count; i++)
    state[j->of.spot[i].y / chip->router_y * wide + j->of.spot[i].x / chip->router_x] = 1;
  if (grown)
    state[j->of.spot[0].y / chip->router_y * wide + j->of.spot[0].x / chip->router_x] = 2;
  while (grown) {
    grown = false;
    for (uint32_t r = 0; r < wide * high; r++) {
      const bool beside = (r % wide > 0 && state[r - 1] == 2) || (r % wide + 1 < wide && state[r + 1] == 2) || (r >= wide && state[r - wide] == 2) ||
                          (r / wide + 1 < high && state[r + wide] == 2);
      if (state[r] == 1 && beside) {
        state[r] = 2;
        grown = true;
      }
    }
  }
  for (uint32_t i = 0; i < j->of.count; i++)
    if (state[j->of.spot[i].y / chip->router_y * wide + j->of.spot[i].x / chip->router_x] == 1)
      tell(j, &j->of.spot[0], &j->of.spot[i]);
  cm_free(state);
  return CM_OK;
}

cm_status cm_constraint_check(const cm_mapped *mapped, const cm_subjects *subjects, const cm_constraints *constraints, uint32_t number, char *words,
                              cm_error *error)
{
  judge j = {.m = mapped, .subjects = subjects, .all = constraints, .number = number, .c = &constraints->constraint[number], .words = words};
  words[0] = '\0';
  cm_status status = CM_NEW(subjects->memory, j.mark, cm_chip_cores(mapped->chip), error);
  CM_THEN(status, find_spots(&j, j.c->of, j.c->of_count, &j.of, error));
  CM_THEN(status, find_spots(&j, j.c->to, j.c->to_count, &j.to, error));
  if (status == CM_OK)
    switch (j.c->kind) {
      case CM_PIN:
      case CM_NOT_HERE: judge_pin(&j); break;
      case CM_TOGETHER: judge_together(&j); break;
      case CM_APART: judge_apart(&j); break;
      case CM_CONNECTED: status = judge_connected(&j, error); break;
      default: judge_pairs(&j);
    }
  CM_FREE(j.of.spot, j.to.spot, j.mark);
  return status;
}
