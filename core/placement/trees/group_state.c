/* Casts: each one's groups with a digest of the parts in each -> casts in order of sender and groups -> runs of alike ones become one.
 * Trees: booked as the ways say. What can fail: memory. */
#include "core/placement/trees/group_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/random.h"
#include "core/chip/interconnect/path_trees.h"

/* ---- casts between groups ---- */

/* A group that a cast reaches, with a sum over its parts there that does not depend on their order. */
typedef struct reached {
  uint32_t group;
  uint64_t digest;
} reached;

typedef struct plain_cast {
  uint32_t sender, count;
  uint64_t first, digest, weight; /* digest: of the groups */
} plain_cast;

typedef struct maker {
  const cm_casts *casts;
  const uint32_t *group;
  cm_memory *memory;
  uint64_t *here;   /* [groups] digest of the parts of the cast under way */
  uint32_t *list;   /* [groups] its groups */
  plain_cast *cast; /* [casts->count] */
  reached *reached; /* [reached_count] */
  uint64_t reached_count;
  uint64_t *digest; /* [casts->count] scratch: of one group in a run of casts */
  cm_group_casts made;
} maker;

CM_ORDER(by_groups, plain_cast, CM_RISING(sender) CM_RISING(digest) CM_RISING(first))

/* The sender counts among those of its own group: its packets may come back to it. */
static uint32_t list_groups(maker *m, uint32_t sender, uint32_t e)
{
  const cm_casts *c = m->casts;
  uint32_t count = 0, own = m->group[sender];
  for (uint64_t i = c->first[e]; i < c->first[e + 1]; i++) {
    uint32_t g = m->group[c->target[i]];
    if (m->here[g] == 0)
      m->list[count++] = g;
    m->here[g] += cm_mix(c->target[i] + UINT64_C(1)) | 1;
  }
  if (m->here[own] != 0)
    m->here[own] += cm_mix(sender + UINT64_C(1)) | 1;
  qsort(m->list, count, sizeof *m->list, cm_ascending);
  return count;
}

static void gather(maker *m)
{
  const cm_casts *c = m->casts;
  for (uint32_t p = 0; p < c->parts; p++)
    for (uint32_t e = c->of_part[p]; e < c->of_part[p + 1]; e++) {
      uint32_t count = list_groups(m, p, e);
      plain_cast made = {.sender = m->group[p], .count = count, .first = m->reached_count, .weight = c->weight[e]};
      for (uint32_t i = 0; i < count; i++) {
        uint32_t g = m->list[i];
        made.digest = cm_mix(made.digest + g + 1);
        m->reached[m->reached_count++] = (reached){g, m->here[g]};
        m->here[g] = 0;
      }
      m->cast[e] = made;
    }
}

/* How many different sets of the parts of one group the casts of a run reach. */
static cm_group_target target_of(maker *m, const plain_cast *run, uint32_t count, uint32_t number)
{
  cm_group_target made = {.group = m->reached[run->first + number].group};
  for (uint32_t i = 0; i < count; i++)
    m->digest[i] = m->reached[run[i].first + number].digest;
  qsort(m->digest, count, sizeof *m->digest, cm_ascending_long);
  for (uint32_t i = 0; i < count; i++)
    if (i == 0 || m->digest[i] != m->digest[i - 1]) {
      made.sets++;
      made.digest = cm_mix(made.digest + m->digest[i]);
    }
  return made;
}

static void join(maker *m)
{
  cm_group_casts *made = &m->made;
  uint32_t all = m->casts->count;
  for (uint32_t from = 0, end; from < all; from = end) {
    const plain_cast *run = &m->cast[from];
    uint64_t at = made->first[made->count], weight = 0;
    for (end = from; end < all && m->cast[end].sender == run->sender && m->cast[end].digest == run->digest &&
                     m->cast[end].count == run->count;
         end++)
      weight += m->cast[end].weight;
    for (uint32_t i = 0; i < run->count; i++)
      made->target[at + i] = target_of(m, run, end - from, i);
    made->sender[made->count] = run->sender;
    made->weight[made->count] = weight;
    made->first[++made->count] = at + run->count;
  }
}

static bool touches_sender(const cm_group_casts *c, uint32_t e)
{
  for (uint64_t i = c->first[e]; i < c->first[e + 1]; i++)
    if (c->target[i].group == c->sender[e])
      return true;
  return false;
}

/* Lists what touches each group, once each. */
static cm_status list_touching(cm_group_casts *c, cm_memory *memory, cm_error *error)
{
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(c->of_group, (size_t)c->groups + 2),
                    CM_ARRAY(c->touching, c->first[c->count] + c->count)));
  uint64_t *begin = c->of_group + 1; /* while the lists are filled one place ahead */
  for (uint32_t e = 0; e < c->count; e++) {
    for (uint64_t i = c->first[e]; i < c->first[e + 1]; i++)
      begin[c->target[i].group + 1]++;
    begin[c->sender[e] + 1] += !touches_sender(c, e);
  }
  for (uint32_t g = 0; g < c->groups; g++)
    begin[g + 1] += begin[g];
  for (uint32_t e = 0; e < c->count; e++) {
    for (uint64_t i = c->first[e]; i < c->first[e + 1]; i++)
      c->touching[begin[c->target[i].group]++] = e;
    if (!touches_sender(c, e))
      c->touching[begin[c->sender[e]]++] = e;
  }
  return CM_OK;
}

cm_status cm_group_casts_new(const cm_casts *casts, const uint32_t *group, uint32_t groups, cm_memory *memory,
                             cm_group_casts *made, cm_error *error)
{
  maker m = {.casts = casts, .group = group, .memory = memory, .made = {.groups = groups}};
  uint64_t targets = casts->first[casts->count];
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(m.here, groups), CM_ARRAY(m.list, groups), CM_ARRAY(m.cast, casts->count),
                                CM_ARRAY(m.reached, targets), CM_ARRAY(m.digest, casts->count),
                                CM_ARRAY(m.made.sender, casts->count), CM_ARRAY(m.made.first, (size_t)casts->count + 1),
                                CM_ARRAY(m.made.target, targets), CM_ARRAY(m.made.weight, casts->count));
  if (status == CM_OK) {
    gather(&m);
    if (casts->count > 0)
      qsort(m.cast, casts->count, sizeof *m.cast, by_groups);
    join(&m);
    status = list_touching(&m.made, memory, error);
  }
  CM_FREE(m.here, m.list, m.cast, m.reached, m.digest);
  CM_END(status, *made = m.made, cm_group_casts_free(&m.made));
}

void cm_group_casts_free(cm_group_casts *casts)
{
  CM_FREE(casts->sender, casts->first, casts->target, casts->weight, casts->of_group, casts->touching);
  *casts = (cm_group_casts){0};
}

/* ---- trees ---- */

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
  CM_TRY_IF(by > 0, cm_counts_reserve(&s->ways, s->count, s->run, error));
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
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(s.router, casts->groups), CM_ARRAY(s.node, net->routers),
                                CM_ARRAY(s.met, net->routers));
  if (status == CM_OK)
    memcpy(s.router, router, casts->groups * sizeof *router);
  for (uint32_t e = 0; status == CM_OK && e < casts->count; e++)
    status = cm_group_state_book(&s, e, 1, error);
  CM_END(status, *state = s, cm_group_state_free(&s));
}

void cm_group_state_free(cm_group_state *state)
{
  CM_FREE(state->router, state->node, state->met);
  cm_counts_free(&state->ways);
  *state = (cm_group_state){0};
}
