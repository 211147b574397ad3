/* Answers as JSON, reasons in words. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/constraints/solution.h"

enum { NAMED_MAX = 6, WORDS_MAX = 1000 };

static const char *limit_name(uint32_t limit)
{
  return limit < CM_TILE_LIMITS ? cm_tile_limit_names[limit] : limit == CM_LIMIT_KINDS ? "kind" : "circuits";
}

static uint32_t nodes_of(const cm_problem *p, const cm_reason *r)
{
  uint32_t count = 0;
  for (uint32_t i = 0; i < p->node_count; i++)
    count += r->node[i] ? 1 : 0;
  return count;
}

/* Tiles that are there in the places of a pin. */
static uint32_t tiles_at(const cm_problem *p, const cm_constraint *c)
{
  uint32_t count = 0;
  for (uint32_t t = 0; t < cm_problem_tiles(p); t++) {
    bool in = false;
    for (uint32_t i = 0; i < c->at_count && !in; i++)
      in = t % p->width >= c->at[i].x0 && t % p->width <= c->at[i].x1 && t / p->width >= c->at[i].y0 && t / p->width <= c->at[i].y1;
    count += in && p->tile[t].kind != CM_NO_KIND ? 1 : 0;
  }
  return count;
}

/* One of the set in words. */
static void reason_words(const cm_problem *p, uint32_t number, char *words, size_t size)
{
  static const char *const limits[CM_LIMITS_ALL] = {"how many nodes a tile takes", "the memory of tiles", "the channels into tiles",
                                                       "the channels out of tiles", "the kinds of tiles", "the circuits of links and routers"};
  if (number >= p->constraints.count) {
    (void)snprintf(words, size, "%s", limits[number - p->constraints.count]);
    return;
  }
  const cm_constraint *c = &p->constraints.constraint[number];
  cm_constraint_text(&p->constraints, number, "node", words, size);
  const size_t used = strlen(words);
  if (c->kind == CM_PIN && used < size) {
    const uint32_t tiles = tiles_at(p, c);
    (void)snprintf(words + used - 1, size - used + 1, " in %u tile%s)", tiles, tiles == 1 ? "" : "s");
  }
}

static size_t add(char *words, size_t used, const char *text)
{
  const int more = used < WORDS_MAX ? snprintf(words + used, WORDS_MAX - used, "%s", text) : 0;
  return used + (size_t)more;
}

/* "4 nodes (a, b, c, d) have no places under constraint 1 (pin of 4 nodes in 3 tiles) and how many nodes a tile takes" */
static void tell_reason(const cm_problem *p, const cm_reason *r, char words[WORDS_MAX])
{
  char text[320];
  const uint32_t nodes = nodes_of(p, r), all = p->constraints.count + CM_LIMITS_ALL;
  uint32_t named = 0, reasons = 0;
  (void)snprintf(text, sizeof text, "%u node%s (", nodes, nodes == 1 ? "" : "s");
  size_t used = add(words, 0, text);
  for (uint32_t i = 0; i < p->node_count && named < NAMED_MAX; i++) {
    if (!r->node[i])
      continue;
    (void)snprintf(text, sizeof text, "%s%.40s", named++ > 0 ? ", " : "", p->node[i].name);
    used = add(words, used, text);
  }
  used = add(words, used, nodes > NAMED_MAX ? ", ...) " : ") ");
  used = add(words, used, nodes == 1 ? "has no place" : "have no places");
  for (uint32_t i = 0; i < all; i++) {
    if (!(i < p->constraints.count ? r->constraint[i] : r->limit[i - p->constraints.count]))
      continue;
    used = add(words, used, reasons++ > 0 ? " and " : " under ");
    reason_words(p, i, text, sizeof text);
    used = add(words, used, text);
  }
}

static json_t *reason_json(const cm_problem *p, const cm_reason *r)
{
  char words[WORDS_MAX];
  json_t *because = json_array(), *nodes = json_array();
  for (uint32_t i = 0; i < p->constraints.count + CM_LIMITS_ALL; i++) {
    const bool constraint = i < p->constraints.count;
    const uint32_t limit = constraint ? 0 : i - p->constraints.count;
    if (!(constraint ? r->constraint[i] : r->limit[limit]))
      continue;
    reason_words(p, i, words, sizeof words);
    json_t *one = json_pack("{s:s, s:b}", "words", words, "enough", constraint ? r->enough[i] : r->enough_limit[limit]);
    if (constraint)
      (void)json_object_set_new(one, "constraint", json_integer(i));
    else
      (void)json_object_set_new(one, "limit", json_string(limit_name(limit)));
    (void)json_array_append_new(because, one);
  }
  for (uint32_t i = 0; i < p->node_count; i++)
    if (r->node[i])
      (void)json_array_append_new(nodes, json_string(p->node[i].name));
  tell_reason(p, r, words);
  return json_pack("{s:s, s:b, s:o, s:o}", "words", words, "minimal", r->minimal, "because", because, "nodes", nodes);
}

json_t *cm_solution_json(const cm_problem *p, const cm_solution *s)
{
  static const char *const answers[] = {"impossible", "places", "unknown"};
  json_t *made = json_pack("{s:s}", "answer", answers[s->answer]);
  if (s->answer == CM_IMPOSSIBLE)
    (void)json_object_set_new(made, "reason", reason_json(p, &s->reason));
  if (s->answer != CM_POSSIBLE)
    return made;
  json_t *places = json_object();
  for (uint32_t i = 0; i < p->node_count; i++)
    (void)json_object_set_new(places, p->node[i].name, json_pack("[i, i]", (int)(s->place[i] % p->width), (int)(s->place[i] / p->width)));
  (void)json_object_set_new(made, "hops", json_integer((json_int_t)s->cost));
  (void)json_object_set_new(made, "optimal", json_boolean(s->optimal));
  (void)json_object_set_new(made, "places", places);
  return made;
}
