/* Happy path: which group sends to which without a delay, groups that reach each other (Tarjan 1972, on a stack of our own), and the
 * longest way to each. What can fail: memory. */
#include "core/spiking/evaluation_order.h"

#include "core/network/dynamics.h"

/* Which groups a group sends to without a delay, each once. */
typedef struct sending {
  uint64_t *first; /* [groups + 1] */
  uint32_t *to;
  uint64_t count, room;
  uint32_t *seen; /* [groups] by which group last, from 1 */
  bool delayed;   /* whatever its delay */
} sending;

static bool at_once(const cm_topology *t, uint64_t pin, bool delayed)
{
  return delayed || t->pin_delay == NULL || t->pin_delay[pin] == 0;
}

static void make_groups(const cm_topology *t, cm_evaluation_order *o)
{
  o->groups = t->population_of != NULL ? t->population_count : 2; /* inputs, and all others */
  for (uint32_t v = 0; v < t->vertex_count; v++)
    o->group_of[v] = t->population_of != NULL ? t->population_of[v] : t->dynamics->model[v] != CM_NEURON_INPUT;
}

static void make_neurons(const cm_topology *t, cm_evaluation_order *o)
{
  o->groups = t->vertex_count;
  for (uint32_t v = 0; v < t->vertex_count; v++)
    o->group_of[v] = v;
}

/* Nets in the order of their sources' groups. */
static cm_status sort_nets(const cm_topology *t, const cm_evaluation_order *o, cm_memory *memory, uint32_t **net, uint32_t **begin,
                           cm_error *error)
{
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(*net, t->net_count), CM_ARRAY(*begin, (size_t)o->groups + 2)));
  for (uint32_t e = 0; e < t->net_count; e++)
    (*begin)[o->group_of[cm_topology_source(t, e)] + 2]++;
  for (uint32_t g = 0; g < o->groups; g++)
    (*begin)[g + 2] += (*begin)[g + 1];
  for (uint32_t e = 0; e < t->net_count; e++)
    (*net)[(*begin)[o->group_of[cm_topology_source(t, e)] + 1]++] = e;
  return CM_OK;
}

static cm_status add_net(const cm_topology *t, const cm_evaluation_order *o, uint32_t net, cm_memory *memory, sending *s, cm_error *error)
{
  const uint32_t mark = o->group_of[cm_topology_source(t, net)] + 1;
  for (uint64_t i = t->net_first[net]; i < t->net_first[net + 1]; i++) {
    const uint32_t to = o->group_of[t->pin[i]];
    if (s->seen[to] == mark || !at_once(t, i, s->delayed))
      continue;
    s->seen[to] = mark;
    CM_TRY(CM_ROOM(memory, s->to, &s->room, s->count + 1, error));
    s->to[s->count++] = to;
  }
  return CM_OK;
}

static cm_status find_sending(const cm_topology *t, const cm_evaluation_order *o, cm_run *run, sending *s, cm_error *error)
{
  uint32_t *net = NULL, *begin = NULL;
  uint64_t steps = 0;
  cm_status status = sort_nets(t, o, run->memory, &net, &begin, error);
  if (status == CM_OK && (CM_NEW(run->memory, s->seen, o->groups, error) != CM_OK ||
                          CM_NEW(run->memory, s->first, (size_t)o->groups + 1, error) != CM_OK))
    status = error->status;
  for (uint32_t g = 0; g < o->groups && status == CM_OK; g++) {
    for (uint32_t k = begin[g]; k < begin[g + 1] && status == CM_OK; k++) {
      status = add_net(t, o, net[k], run->memory, s, error);
      CM_THEN_IF(status, cm_run_due(&steps, t->net_first[net[k] + 1] - t->net_first[net[k]]), cm_run_check(run, error));
    }
    s->first[g + 1] = s->count;
  }
  CM_FREE(net, begin);
  return status;
}

/* Tarjan's search; numbers start at 1. */
typedef struct search {
  const sending *sent;
  uint32_t *number, *low, *loop; /* [groups] loop: from 1; 0: still open */
  uint32_t *open, *path;         /* groups whose loop is not closed, in order of discovery; groups under way */
  uint64_t *next;                /* [groups] which it sends to next */
  uint32_t numbers, opened, depth, found;
} search;

static void enter(search *s, uint32_t group)
{
  s->number[group] = s->low[group] = ++s->numbers;
  s->next[group] = s->sent->first[group];
  s->open[s->opened++] = group;
  s->path[s->depth++] = group;
}

static void explore(search *s, uint32_t start)
{
  enter(s, start);
  while (s->depth > 0) {
    const uint32_t g = s->path[s->depth - 1];
    if (s->next[g] < s->sent->first[g + 1]) {
      const uint32_t to = s->sent->to[s->next[g]++];
      if (s->number[to] == 0)
        enter(s, to);
      else if (s->loop[to] == 0 && s->number[to] < s->low[g])
        s->low[g] = s->number[to];
      continue;
    }
    s->depth--;
    if (s->depth > 0 && s->low[g] < s->low[s->path[s->depth - 1]])
      s->low[s->path[s->depth - 1]] = s->low[g];
    if (s->low[g] != s->number[g])
      continue;
    s->found++;
    while (s->loop[g] == 0)
      s->loop[s->open[--s->opened]] = s->found;
  }
}

/* The level of each group: loops are found after all that they reach, so that from the last on each is known when it is asked for. */
static cm_status find_levels(const sending *s, uint32_t loops, cm_evaluation_order *o, cm_memory *memory, cm_error *error)
{
  uint32_t *begin = NULL, *member = NULL, *level = NULL;
  cm_status status = CM_NEW(memory, begin, (size_t)loops + 3, error);
  if (status == CM_OK && (CM_NEW(memory, member, o->groups, error) != CM_OK || CM_NEW(memory, level, (size_t)loops + 1, error) != CM_OK))
    status = error->status;
  for (uint32_t g = 0; g < o->groups && status == CM_OK; g++)
    begin[o->loop[g] + 2]++;
  for (uint32_t l = 0; l <= loops && status == CM_OK; l++)
    begin[l + 2] += begin[l + 1];
  for (uint32_t g = 0; g < o->groups && status == CM_OK; g++)
    member[begin[o->loop[g] + 1]++] = g;
  for (uint32_t l = loops; l > 0 && status == CM_OK; l--)
    for (uint32_t k = begin[l]; k < begin[l + 1]; k++) {
      const uint32_t g = member[k];
      o->level[g] = level[l];
      o->levels = level[l] >= o->levels ? level[l] + 1 : o->levels;
      for (uint64_t i = s->first[g]; i < s->first[g + 1]; i++) {
        const uint32_t to = o->loop[s->to[i]];
        if (to != l && level[to] <= level[l])
          level[to] = level[l] + 1;
      }
    }
  CM_FREE(begin, member, level);
  return status;
}

static cm_status find_loops(const sending *sent, cm_evaluation_order *o, cm_memory *memory, cm_error *error)
{
  search s = {.sent = sent, .loop = o->loop};
  cm_status status = CM_NEW(memory, s.number, o->groups, error);
  if (status == CM_OK &&
      (CM_NEW(memory, s.low, o->groups, error) != CM_OK || CM_NEW(memory, s.open, o->groups, error) != CM_OK ||
       CM_NEW(memory, s.path, o->groups, error) != CM_OK || CM_NEW(memory, s.next, o->groups, error) != CM_OK))
    status = error->status;
  for (uint32_t g = 0; g < o->groups && status == CM_OK; g++)
    if (s.number[g] == 0)
      explore(&s, g);
  CM_FREE(s.number, s.low, s.open, s.path, s.next);
  return status == CM_OK ? find_levels(sent, s.found, o, memory, error) : status;
}

/* By populations, or with each neuron as a group. */
static cm_status make_order(const cm_topology *topology, bool neurons, bool delayed, cm_run *run, cm_evaluation_order *order, cm_error *error)
{
  cm_evaluation_order o = {.groups = 0};
  sending s = {.delayed = delayed};
  cm_status status = CM_NEW(run->memory, o.group_of, topology->vertex_count, error);
  if (status == CM_OK && neurons)
    make_neurons(topology, &o);
  else if (status == CM_OK)
    make_groups(topology, &o);
  if (status == CM_OK &&
      (CM_NEW(run->memory, o.loop, o.groups, error) != CM_OK || CM_NEW(run->memory, o.level, o.groups, error) != CM_OK))
    status = error->status;
  CM_THEN(status, find_sending(topology, &o, run, &s, error));
  CM_THEN(status, find_loops(&s, &o, run->memory, error));
  CM_FREE(s.first, s.to, s.seen);
  if (status == CM_OK)
    *order = o;
  else
    cm_evaluation_order_free(&o);
  return status;
}

cm_status cm_evaluation_order_make(const cm_topology *topology, cm_run *run, cm_evaluation_order *order, cm_error *error)
{
  return make_order(topology, false, false, run, order, error);
}

/* What synapses within a loop of groups make of it. */
typedef enum inner { INNER_NONE, INNER_AHEAD, INNER_LOOPS } inner;

static void find_inner(const cm_topology *t, bool delayed, const cm_evaluation_order *groups, const cm_evaluation_order *neurons, uint8_t *found)
{
  for (uint32_t e = 0; e < t->net_count; e++) {
    const uint32_t from = cm_topology_source(t, e);
    uint8_t *of = &found[groups->loop[groups->group_of[from]]];
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1] && *of != INNER_LOOPS; i++)
      if (at_once(t, i, delayed) && cm_in_loop(groups, from, t->pin[i]))
        *of = cm_in_loop(neurons, from, t->pin[i]) ? INNER_LOOPS : INNER_AHEAD;
  }
}

cm_status cm_neuron_loops_make(const cm_topology *topology, bool delayed, cm_run *run, uint32_t **loop_of, cm_error *error)
{
  cm_evaluation_order groups = {.groups = 0}, neurons = {.groups = 0};
  uint8_t *found = NULL;
  uint32_t *made = NULL;
  cm_status status = make_order(topology, false, delayed, run, &groups, error);
  CM_THEN(status, make_order(topology, true, delayed, run, &neurons, error));
  if (status == CM_OK && (CM_NEW(run->memory, found, (size_t)groups.groups + 1, error) != CM_OK || CM_NEW(run->memory, made, topology->vertex_count, error) != CM_OK))
    status = error->status;
  if (status == CM_OK) {
    find_inner(topology, delayed, &groups, &neurons, found);
    for (uint32_t v = 0; v < topology->vertex_count; v++) {
      const uint32_t loop = groups.loop[groups.group_of[v]];
      made[v] = found[loop] == INNER_AHEAD ? groups.groups + neurons.loop[v] : loop;
    }
    *loop_of = made;
  }
  cm_evaluation_order_free(&groups);
  cm_evaluation_order_free(&neurons);
  cm_free(found);
  return status;
}

void cm_evaluation_order_free(cm_evaluation_order *order)
{
  CM_FREE(order->group_of, order->loop, order->level);
  *order = (cm_evaluation_order){.groups = 0};
}
