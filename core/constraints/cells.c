/* Neurons that relations (together, apart, adjacent, connected, order) name alike. What can fail: neurons that are to share a core and may not; memory. */
#include "core/constraints/areas.h"

#include <string.h>

#include "core/chip/json.h"

enum { NONE = UINT32_MAX };

typedef struct celling {
  cm_areas *a;
  cm_memory *memory;
  uint32_t *seen;    /* [vertices] the last set that named a neuron */
  uint32_t *to;      /* [cells] where a cell's neurons of the set go */
  uint64_t to_room;
  uint32_t sets;     /* looked at */
  uint32_t *leader;  /* [cells] union-find of cells that share a core */
} celling;

static cm_status add_cell(celling *s, uint32_t from, cm_error *error)
{
  CM_TRY(CM_ROOM(s->memory, s->to, &s->to_room, (uint64_t)s->a->cells + 1, error));
  s->to[s->a->cells] = NONE;
  s->to[from] = s->a->cells++;
  return CM_OK;
}

/* Cells are split by a set of subjects. */
static cm_status split(celling *s, const uint32_t *subject, uint32_t count, cm_error *error)
{
  cm_areas *a = s->a;
  s->sets++;
  for (uint32_t i = 0; i < a->cells; i++)
    s->to[i] = NONE;
  for (uint32_t k = 0; k < count; k++)
    for (uint32_t i = 0; i < cm_subject_size(&a->subjects, subject[k]); i++) {
      const uint32_t v = cm_subject_neuron(&a->subjects, subject[k], i), from = a->cell_of[v];
      if (s->seen[v] == s->sets)
        continue;
      s->seen[v] = s->sets;
      CM_TRY_IF(s->to[from] == NONE, add_cell(s, from, error));
      a->cell_of[v] = s->to[from];
    }
  return CM_OK;
}

static cm_status split_by(celling *s, const cm_constraint *c, cm_error *error)
{
  cm_status status = CM_OK;
  if (c->kind == CM_TOGETHER || c->kind == CM_CONNECTED)
    return split(s, c->of, c->of_count, error);
  for (uint32_t k = 0; k < c->of_count && status == CM_OK; k++)
    status = split(s, &c->of[k], 1, error);
  for (uint32_t k = 0; k < c->to_count && status == CM_OK; k++)
    status = split(s, &c->to[k], 1, error);
  return status;
}

static uint32_t leader_of(celling *s, uint32_t cell)
{
  while (s->leader[cell] != cell)
    cell = s->leader[cell] = s->leader[s->leader[cell]];
  return cell;
}

/* Cells of what shares a core become one, and are whole. */
static void join(celling *s)
{
  cm_areas *a = s->a;
  for (uint32_t i = 0; i < a->constraints.count; i++) {
    const cm_constraint *c = &a->constraints.constraint[i];
    uint32_t before = NONE;
    for (uint32_t k = 0; k < c->of_count && c->kind == CM_TOGETHER && c->scope == CM_SCOPE_CORE; k++)
      for (uint32_t n = 0; n < cm_subject_size(&a->subjects, c->of[k]); n++) {
        const uint32_t cell = leader_of(s, a->cell_of[cm_subject_neuron(&a->subjects, c->of[k], n)]);
        if (before != NONE)
          s->leader[cell] = leader_of(s, before);
        before = leader_of(s, cell);
        a->whole[before] = true;
      }
  }
}

/* Numbers without gaps, in the order of the first neuron. */
static void renumber(celling *s, uint32_t vertices)
{
  cm_areas *a = s->a;
  uint32_t count = 0;
  for (uint32_t i = 0; i < a->cells; i++)
    s->to[i] = NONE;
  for (uint32_t v = 0; v < vertices; v++) {
    const uint32_t leader = leader_of(s, a->cell_of[v]);
    if (s->to[leader] == NONE)
      s->to[leader] = count++;
    a->cell_of[v] = s->to[leader];
  }
  for (uint32_t i = 0; i < a->cells; i++) /* seen: whole, by the new numbers */
    if (s->to[i] != NONE)
      s->seen[s->to[i]] = a->whole[i];
  for (uint32_t i = 0; i < count; i++)
    a->whole[i] = s->seen[i] != 0;
  a->cells = count;
}

uint32_t cm_cell_together(const cm_areas *a, uint32_t constraint)
{
  const cm_constraint *c = &a->constraints.constraint[constraint];
  for (uint32_t k = 0; k < c->of_count && c->kind == CM_TOGETHER && c->scope == CM_SCOPE_CORE; k++)
    if (cm_subject_size(&a->subjects, c->of[k]) > 0)
      return a->cell_of[cm_subject_neuron(&a->subjects, c->of[k], 0)];
  return NONE;
}

/* ---- contradictions ---- */

/* Whether two members of a constraint's lists, by their places in both, may not share a core; the places of `to` follow those of `of`. */
static bool parts_them(const cm_constraint *c, uint32_t a, uint32_t b)
{
  const bool sides = (a < c->of_count) != (b < c->of_count), next = a + 1 == b || b + 1 == a;
  bool apart = c->kind == CM_APART || (c->kind == CM_ORDER && c->side != CM_WITHIN_HOPS) || c->kind == CM_ADJACENT;
  for (uint32_t i = 0; i < c->offset_count && c->kind == CM_ADJACENT; i++)
    apart = apart && (c->offset[i].x != 0 || c->offset[i].y != 0);
  return apart && a != b && (c->to_count > 0 ? sides : c->kind == CM_APART || next);
}

static cm_status refuse(const celling *s, uint32_t number, uint32_t cell, cm_error *error)
{
  const cm_areas *a = s->a;
  char where[CM_JSON_PLACE_MAX], words[400];
  cm_subjects_text(&a->subjects, &a->constraints, number, words, sizeof words);
  (void)cm_json_fail(error, CM_BAD_OPTION, cm_json_place(where, "/options/constraints/%u", number), "%s", words);
  for (uint32_t i = 0; i < a->constraints.count; i++) {
    if (cm_cell_together(a, i) != cell)
      continue;
    cm_subjects_text(&a->subjects, &a->constraints, i, words, sizeof words);
    cm_fail_more(error, " and %s", words);
  }
  cm_fail_more(error, " cannot be kept together: some of these neurons share a core, and may not");
  return error->status;
}

/* Whether a constraint parts neurons that share a core; owner [cells] is scratch. */
static cm_status check_parted(const celling *s, uint32_t number, uint32_t *owner, cm_error *error)
{
  const cm_areas *a = s->a;
  const cm_constraint *c = &a->constraints.constraint[number];
  memset(owner, 0xff, a->cells * sizeof *owner);
  for (uint32_t k = 0; k < c->of_count + c->to_count; k++) {
    const uint32_t subject = k < c->of_count ? c->of[k] : c->to[k - c->of_count];
    for (uint32_t i = 0; i < cm_subject_size(&a->subjects, subject); i++) {
      const uint32_t cell = a->cell_of[cm_subject_neuron(&a->subjects, subject, i)];
      if (a->whole[cell] && owner[cell] != NONE && parts_them(c, owner[cell], k))
        return refuse(s, number, cell, error);
      owner[cell] = k;
    }
  }
  return CM_OK;
}

static cm_status check_contradictions(const celling *s, cm_error *error)
{
  uint32_t *owner;
  CM_TRY(CM_NEW(s->memory, owner, s->a->cells, error));
  cm_status status = CM_OK;
  for (uint32_t i = 0; i < s->a->constraints.count && status == CM_OK; i++)
    if (!cm_is_area(&s->a->constraints.constraint[i]))
      status = check_parted(s, i, owner, error);
  cm_free(owner);
  return status;
}

cm_status cm_areas_make_cells(cm_areas *a, uint32_t vertices, cm_memory *memory, cm_error *error)
{
  celling s = {.a = a, .memory = memory};
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(a->cell_of, vertices), CM_ARRAY(s.seen, (size_t)vertices + 1));
  CM_THEN(status, add_cell(&s, 0, error));
  for (uint32_t i = 0; i < a->constraints.count && status == CM_OK; i++)
    if (!cm_is_area(&a->constraints.constraint[i])) {
      a->relations = true;
      status = split_by(&s, &a->constraints.constraint[i], error);
    }
  CM_THEN(status, CM_NEW_ALL(memory, error, CM_ARRAY(s.leader, a->cells), CM_ARRAY(a->whole, a->cells)));
  if (status == CM_OK) {
    for (uint32_t i = 0; i < a->cells; i++)
      s.leader[i] = i;
    join(&s);
    for (uint32_t i = 0; i < a->cells; i++)
      a->whole[leader_of(&s, i)] = a->whole[leader_of(&s, i)] || a->whole[i];
    renumber(&s, vertices);
    status = check_contradictions(&s, error);
  }
  CM_FREE(s.seen, s.to, s.leader);
  return status;
}
