#include "core/placement/trees/group_state.h"

#include <string.h>

#include "base/random.h"
#include "core/chip/interconnect/path_trees.h"

static cm_group_node *meet(cm_group_state *s, uint32_t router)
{
  cm_group_node *n = &s->node[router];
  if (n->mark != s->mark) {
    *n = (cm_group_node){.mark = s->mark, .into = CM_NO_WAY};
    s->met[s->count++] = router;
  }
  return n;
}

/* The tree of a cast, in s->met and s->node; the units of its links. */
static double trace(cm_group_state *s, uint32_t cast)
{
  const cm_group_casts *c = s->casts;
  uint32_t from = s->router[c->sender[cast]];
  double units = 0;
  s->count = 0;
  if (++s->mark == 0) {
    memset(s->node, 0, s->net->routers * sizeof *s->node);
    s->mark = 1;
  }
  (void)meet(s, from);
  for (uint64_t i = c->first[cast]; i < c->first[cast + 1]; i++) {
    uint32_t at = s->router[c->target[i].group];
    cm_group_node *n = meet(s, at);
    n->sets = c->target[i].sets > n->sets ? c->target[i].sets : n->sets;
    n->digest += c->target[i].digest;
    while (at != from && n->into == CM_NO_WAY) {
      n->into = cm_interconnect_last(s->net, from, at);
      const cm_link *link = &s->net->link[n->into];
      units += link->units;
      at = link->from;
      cm_group_node *before = meet(s, at);
      before->out += cm_mix(n->into + UINT64_C(1));
      before->last = n->into;
      before->outs++;
      n = before;
    }
  }
  s->steps += s->count;
  return units;
}

static bool is_straight(const cm_group_state *s, const cm_group_node *n)
{
  return n->sets == 0 && n->outs == 1 && n->into != CM_NO_WAY && cm_interconnect_straight(s->net, n->into) == (int64_t)n->last;
}

cm_status cm_group_state_book(cm_group_state *s, uint32_t cast, int32_t by, cm_error *error)
{
  s->links += by * trace(s, cast) * (double)s->casts->weight[cast];
  if (by > 0 && cm_counts_reserve(&s->ways, s->count, s->run, error) != CM_OK)
    return error->status;
  for (uint32_t i = 0; i < s->count; i++) {
    const cm_group_node *n = &s->node[s->met[i]];
    if (is_straight(s, n))
      continue;
    uint64_t key = cm_mix(n->out + cm_mix(n->digest + s->met[i])) >> 1;
    uint32_t users = cm_counts_add(&s->ways, key, by);
    if (users == (by > 0))
      s->entries += (double)by * (n->sets > 0 ? n->sets : 1);
  }
  return CM_OK;
}

cm_status cm_group_state_new(const cm_group_casts *casts, const cm_interconnect *net, const uint32_t *router, cm_run *run,
                             cm_group_state *state, cm_error *error)
{
  cm_group_state s = {.casts = casts, .net = net, .run = run};
  cm_status status = CM_OK;
  if (CM_NEW(run->memory, s.router, casts->groups, error) != CM_OK || CM_NEW(run->memory, s.node, net->routers, error) != CM_OK ||
      CM_NEW(run->memory, s.met, net->routers, error) != CM_OK)
    status = error->status;
  else
    memcpy(s.router, router, casts->groups * sizeof *router);
  for (uint32_t e = 0; status == CM_OK && e < casts->count; e++)
    status = cm_group_state_book(&s, e, 1, error);
  if (status == CM_OK)
    *state = s;
  else
    cm_group_state_free(&s);
  return status;
}

void cm_group_state_free(cm_group_state *state)
{
  cm_free(state->router);
  cm_free(state->node);
  cm_free(state->met);
  cm_counts_free(&state->ways);
  *state = (cm_group_state){0};
}
