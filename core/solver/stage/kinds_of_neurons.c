/* Happy path: what each kind takes -> what groups of one label and one choice need of each kind -> the groups with the least
 * choice first -> a kind for every neuron. What can fail: a label or a neuron that no kind takes, memory, a stop. */
#include "core/solver/stage/kinds_of_neurons.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/chip/classes.h"
#include "core/chip/reach.h"
#include "core/constraints/areas.h"
#include "core/limits/bound.h"
#include "core/limits/populations.h"

enum { NONE = UINT32_MAX };

cm_status cm_count_kinds(const cm_map_input *input, cm_run *run, uint32_t *cores, cm_error *error)
{
  const cm_chip *chip = input->chip;
  uint8_t *usable;
  uint32_t ignored;
  memset(cores, 0, cm_chip_kinds(chip) * sizeof *cores);
  CM_TRY(CM_NEW(run->memory, usable, cm_chip_cores(chip), error));
  cm_status status = cm_usable_cores(chip, input->occupancy, run->memory, usable, &ignored, error);
  for (uint32_t c = 0; status == CM_OK && c < cm_chip_cores(chip); c++)
    cores[cm_chip_kind_of(chip, c)] += usable[c];
  cm_free(usable);
  return status;
}

static uint32_t label_of(const cm_topology *t, uint32_t v)
{
  return t->population_of != NULL ? t->population_of[v] : 0;
}

static const char *label_name(const cm_topology *t, uint32_t label)
{
  return t->population != NULL ? t->population[label].name : "";
}

const char *cm_name_kind(const cm_chip *chip, uint32_t kind, char *text, size_t size)
{
  if (kind == 0)
    (void)snprintf(text, size, "cores of no class");
  else
    (void)snprintf(text, size, "cores of class \"%s\"", cm_chip_kind_name(chip, kind));
  return text;
}

/* ---- what may run where ---- */

/* Whether kinds take each label at all: bits [labels]. */
static cm_status take_labels(const cm_topology *t, const cm_chip *chip, const uint32_t *cores, cm_run *run, uint64_t **takes,
                             cm_error *error)
{
  uint32_t labels = t->population_of != NULL ? t->population_count : 1;
  CM_TRY(CM_NEW(run->memory, *takes, labels, error));
  for (uint32_t l = 0; l < labels; l++)
    for (uint32_t k = 0; k < cm_chip_kinds(chip); k++)
      if (cores[k] > 0 && cm_chip_kind_takes(chip, k, label_name(t, l), t->population != NULL ? t->population[l].kind : ""))
        (*takes)[l] |= UINT64_C(1) << k;
  return CM_OK;
}

static cm_status refuse_label(const cm_topology *t, const cm_chip *chip, uint32_t label, const uint32_t *cores, cm_error *error)
{
  uint32_t taken = 0, others = 0; /* the chip may have no core without a class */
  for (uint32_t c = 0; c < cm_chip_cores(chip) && others == 0; c++)
    others = cm_chip_kind_of(chip, c) == 0;
  for (uint32_t k = others ? 0 : 1; k < cm_chip_kinds(chip); k++)
    taken += cores[k] == 0 && cm_chip_kind_takes(chip, k, label_name(t, label), t->population != NULL ? t->population[label].kind : "");
  const char *why = taken == 0 ? "no core class takes it" : "no core of a class that takes it is free";
  if (t->population == NULL)
    cm_fail(error, CM_LIMIT_BROKEN, "the network has no labels, and every core class asks for one; leave the labels of a class out to take any neuron");
  else
    cm_fail(error, taken == 0 ? CM_LIMIT_BROKEN : CM_NO_ROOM, "label \"%.60s\"%s%.24s%s: %s", t->population[label].name,
            t->population[label].kind[0] != '\0' ? " (model " : "", t->population[label].kind,
            t->population[label].kind[0] != '\0' ? ")" : "", why);
  error->limit_name = "core_classes";
  return error->status;
}

/* The first limit that a neuron alone breaks on cores of a kind; CM_RESOURCES: none. */
static cm_resource too_large(const cm_limits *l, uint64_t size, uint64_t synapses, uint64_t axons, uint64_t *use)
{
  const struct {
    cm_resource resource;
    uint64_t use, limit;
  } all[] = {{CM_NEURONS, size, l->neurons}, {CM_INBOUND_AXONS, axons, l->inbound_axons}, {CM_SYNAPSES, synapses, l->synapses},
             {CM_MEMORY, cm_memory_bits(l, size, synapses, axons), l->memory_bits}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i].limit != 0 && all[i].use > all[i].limit) {
      *use = all[i].use;
      return all[i].resource;
    }
  return CM_RESOURCES;
}

static cm_status refuse_neuron(const cm_demand *demand, const cm_chip *chip, uint32_t v, uint64_t takes, uint32_t synapses, uint32_t axons,
                               cm_error *error)
{
  char name[128];
  uint64_t use = 0;
  uint32_t last = 63 - (uint32_t)__builtin_clzll(takes);
  const cm_limits *l = cm_chip_kind_limits(chip, last);
  cm_resource r = too_large(l, cm_demand_size(demand, v), synapses, axons, &use);
  uint64_t limit = r == CM_MEMORY ? l->memory_bits : cm_limit(l, r);
  cm_neuron_too_large(demand->network, v, r, use, limit, error);
  cm_fail_more(error, "; these are %s%s", cm_name_kind(chip, last, name, sizeof name),
               __builtin_popcountll(takes) > 1 ? ", and others that take its label hold it no better" : ", which alone take its label");
  return error->status;
}

static cm_status refuse_unpinned(uint32_t v, cm_error *error)
{
  (void)cm_fail(error, CM_NO_ROOM, "neuron %u is not pinned, and all cores that would take it are for pinned ones (pinned_only): pin it, or free others", v);
  error->limit_name = "core_classes";
  return error->status;
}

/* Neurons that share a core go where all of them may. */
static cm_status agree(const cm_map_input *input, cm_run *run, uint64_t *allowed, cm_error *error)
{
  const uint32_t n = input->demand->network->vertex_count;
  uint64_t *common;
  if (!cm_has_relations(input))
    return CM_OK;
  CM_TRY(CM_NEW(run->memory, common, input->areas->cells, error));
  memset(common, 0xff, input->areas->cells * sizeof *common);
  for (uint32_t v = 0; v < n; v++)
    common[input->areas->cell_of[v]] &= allowed[v];
  cm_status status = CM_OK;
  for (uint32_t v = 0; v < n && status == CM_OK; v++) {
    const uint32_t cell = input->areas->cell_of[v];
    if (!input->areas->whole[cell])
      continue;
    allowed[v] = common[cell];
    if (common[cell] == 0)
      status = cm_fail(error, CM_LIMIT_BROKEN, "neuron %u shares a core with others (kind together), and no kind of core takes all of them", v);
  }
  cm_free(common);
  return status;
}

cm_status cm_allowed_kinds(const cm_map_input *input, const uint32_t *cores, cm_run *run, uint64_t *allowed, cm_error *error)
{
  const cm_demand *demand = input->demand;
  const cm_chip *chip = input->chip;
  const cm_areas *areas = input->areas;
  uint32_t n = demand->network->vertex_count, *synapses = NULL, *axons = NULL;
  uint64_t *takes = NULL, ignored, all = 0;
  const uint64_t kept = cm_chip_pinned_kinds(chip);
  cm_status status = take_labels(demand->network, chip, cores, run, &takes, error);
  CM_THEN(status, CM_NEW_ALL(run->memory, error, CM_ARRAY(synapses, n), CM_ARRAY(axons, n)));
  CM_THEN(status, cm_count_inputs(demand, run, synapses, axons, error));
  for (uint32_t k = 0; k < cm_chip_kinds(chip); k++)
    all |= cores[k] > 0 ? UINT64_C(1) << k : 0;
  for (uint32_t v = 0; status == CM_OK && v < n; v++) {
    uint64_t mine = takes[label_of(demand->network, v)] & (areas != NULL ? areas->takes[areas->choice_of[v]] : ~UINT64_C(0));
    const bool left_out = mine != 0 && (mine & ~kept) == 0 && (areas == NULL || !areas->pinned[areas->choice_of[v]]);
    mine &= areas != NULL && areas->pinned[areas->choice_of[v]] ? ~UINT64_C(0) : ~kept;
    allowed[v] = 0;
    if (cm_demand_is_outside(demand, v) && all != 0) {
      allowed[v] = all;
      continue;
    }
    for (uint32_t k = 0; k < cm_chip_kinds(chip); k++)
      if ((mine >> k & 1) != 0 && too_large(cm_chip_kind_limits(chip, k), cm_demand_size(demand, v), synapses[v], axons[v], &ignored) == CM_RESOURCES)
        allowed[v] |= UINT64_C(1) << k;
    if (left_out)
      status = refuse_unpinned(v, error);
    else if (mine == 0)
      status = refuse_label(demand->network, chip, label_of(demand->network, v), cores, error);
    else if (allowed[v] == 0)
      status = refuse_neuron(demand, chip, v, mine, synapses[v], axons[v], error);
  }
  CM_FREE(takes, synapses, axons);
  return status == CM_OK ? agree(input, run, allowed, error) : status;
}

void cm_name_labels(const cm_demand *demand, const uint8_t *kind, uint32_t which, char *text, size_t size)
{
  const cm_topology *t = demand->network;
  uint32_t label[3] = {NONE, NONE, NONE};
  uint64_t neurons = 0, others = 0;
  uint32_t last = NONE, known = 0;
  for (uint32_t v = 0; v < t->vertex_count; v++) {
    if (kind[v] != which || cm_demand_is_outside(demand, v))
      continue;
    uint32_t l = label_of(t, v);
    neurons++;
    bool named = known > 0 && (l == label[0] || l == label[1] || l == label[2]);
    if (!named && known < 3)
      label[known++] = l;
    else if (!named && l != last)
      others++; /* populations are runs of neurons in most networks; else this counts some twice */
    last = l;
  }
  if (t->population == NULL) {
    (void)snprintf(text, size, "%" PRIu64 " neurons", neurons);
    return;
  }
  size_t used = (size_t)snprintf(text, size, "%" PRIu64 " neurons of label%s", neurons, known > 1 ? "s" : "");
  for (uint32_t i = 0; i < known && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, "%s \"%.40s\"", i == 0 ? "" : i + 1 == known && others == 0 ? " and" : ",",
                             label_name(t, label[i]));
  if (others > 0 && used < size)
    (void)snprintf(text + used, size - used, " and others");
}

/* ---- which shall run where ---- */

/* Neurons of one label with one choice of kinds. */
typedef struct group {
  uint32_t label, next; /* another group of the label, NONE: none */
  uint64_t allowed;
  double need[CM_KINDS_MAX]; /* cores of each kind, as shares where they add up */
  double least;
} group;

typedef struct choice {
  const cm_map_input *input;
  const uint64_t *allowed;
  cm_run *run;
  group *group;
  uint32_t groups;
  uint64_t room;
  uint32_t *of; /* [vertices] */
  double left[CM_KINDS_MAX];
  uint8_t *kind;
} choice;

static cm_status find_groups(choice *c, cm_error *error)
{
  const cm_topology *t = c->input->demand->network;
  uint32_t labels = t->population_of != NULL ? t->population_count : 1, *first;
  CM_TRY(CM_NEW(c->run->memory, first, labels, error));
  memset(first, 0xff, labels * sizeof *first);
  cm_status status = CM_NEW(c->run->memory, c->of, t->vertex_count, error);
  for (uint32_t v = 0; status == CM_OK && v < t->vertex_count; v++) {
    uint32_t label = label_of(t, v), g = first[label];
    while (g != NONE && c->group[g].allowed != c->allowed[v])
      g = c->group[g].next;
    if (g == NONE) {
      if ((status = CM_ROOM(c->run->memory, c->group, &c->room, c->groups + 1, error)) != CM_OK)
        break;
      c->group[c->groups] = (group){.label = label, .next = first[label], .allowed = c->allowed[v]};
      first[label] = g = c->groups++;
    }
    c->of[v] = g;
  }
  cm_free(first);
  return status;
}

/* What a group needs of every kind that may take it. */
static cm_status find_needs(choice *c, cm_population_split *split, cm_error *error)
{
  const cm_chip *chip = c->input->chip;
  cm_status status = CM_OK;
  for (uint32_t i = 0; i < split->count && status == CM_OK; i++) {
    group *g = &c->group[split->number[i]];
    cm_population_network n;
    status = cm_population_network_make(split, i, true, c->run, &n, error);
    if (status != CM_OK)
      break;
    g->least = INFINITY;
    for (uint32_t k = 0; k < cm_chip_kinds(chip) && status == CM_OK; k++) {
      cm_limits limits = *cm_chip_kind_limits(chip, k);
      cm_bound bound;
      if ((g->allowed >> k & 1) == 0)
        continue;
      bool apart = limits.populations == 1;
      limits.populations = limits.outbound_axons = limits.target_cores = limits.source_cores = 0;
      status = cm_bound_parts(&n.demand, &limits, c->run, &bound, error);
      if (status != CM_OK)
        break;
      g->need[k] = bound.parts;
      bool adds_up = bound.argument == CM_ARGUMENT_TOTAL || bound.argument == CM_ARGUMENT_NONE;
      if (!apart && adds_up) /* where nothing is limited one core holds all */
        g->need[k] = bound.filled > 0 ? bound.filled : 1e-9 * (double)n.demand.size_total;
      g->least = fmin(g->least, g->need[k]);
    }
    cm_population_network_free(&n);
  }
  return status;
}

/* A group in the order in which groups choose: those with the least choice, then the largest. */
typedef struct rank {
  int choices;
  double least;
  uint32_t at; /* in the split */
} rank;

static int by_choice(const void *a, const void *b)
{
  const rank *p = a, *q = b;
  if (p->choices != q->choices)
    return p->choices - q->choices;
  if (p->least < q->least || p->least > q->least)
    return p->least > q->least ? -1 : 1;
  return p->at < q->at ? -1 : p->at > q->at;
}

/* The kind with room that needs the fewest cores for a group; NONE: none has room for all of it. */
static uint32_t best_kind(const choice *c, const group *g)
{
  uint32_t best = NONE;
  for (uint32_t k = 0; k < CM_KINDS_MAX; k++)
    if ((g->allowed >> k & 1) != 0 && g->need[k] <= c->left[k] &&
        (best == NONE || g->need[k] < g->need[best] || (g->need[k] <= g->need[best] && c->left[k] > c->left[best])))
      best = k;
  return best;
}

/* Gives a group's neurons out to several kinds, each as many as it has room for, those that need the fewest cores first; what
 * is over goes to the kind with most room for it. */
static void spread(choice *c, const cm_population_split *split, uint32_t i, const group *g)
{
  uint32_t begin = split->member_first[i], end = split->member_first[i + 1], at = begin;
  uint64_t open = g->allowed;
  uint32_t roomiest = 63 - (uint32_t)__builtin_clzll(g->allowed);
  for (uint32_t k = 0; k < CM_KINDS_MAX; k++)
    if ((g->allowed >> k & 1) != 0 && c->left[k] * g->need[roomiest] > c->left[roomiest] * g->need[k])
      roomiest = k;
  while (open != 0 && at < end) {
    uint32_t best = (uint32_t)__builtin_ctzll(open);
    for (uint32_t k = best + 1; k < CM_KINDS_MAX; k++)
      if ((open >> k & 1) != 0 && g->need[k] < g->need[best])
        best = k;
    open &= ~(UINT64_C(1) << best);
    double share = g->need[best] > 0 ? fmax(c->left[best], 0) / g->need[best] : 1;
    uint32_t take = (uint32_t)fmin(floor(share * (end - begin)), end - at);
    for (uint32_t j = 0; j < take; j++)
      c->kind[split->member[at++]] = (uint8_t)best;
    c->left[best] -= g->need[best] * take / (end - begin);
  }
  for (; at < end; at++)
    c->kind[split->member[at]] = (uint8_t)roomiest;
}

static cm_status give_out(choice *c, const cm_population_split *split, cm_error *error)
{
  rank *order;
  CM_TRY(CM_NEW(c->run->memory, order, split->count, error));
  for (uint32_t i = 0; i < split->count; i++) {
    const group *g = &c->group[split->number[i]];
    order[i] = (rank){__builtin_popcountll(g->allowed), g->least, i};
  }
  if (split->count > 0)
    qsort(order, split->count, sizeof *order, by_choice);
  for (uint32_t i = 0; i < split->count; i++) {
    uint32_t at = order[i].at;
    const group *g = &c->group[split->number[at]];
    uint32_t best = best_kind(c, g);
    if (best == NONE) {
      spread(c, split, at, g);
      continue;
    }
    for (uint32_t j = split->member_first[at]; j < split->member_first[at + 1]; j++)
      c->kind[split->member[j]] = (uint8_t)best;
    c->left[best] -= g->need[best];
  }
  cm_free(order);
  return CM_OK;
}

cm_status cm_choose_kinds(const cm_map_input *input, const uint64_t *allowed, const double *room, cm_run *run, uint8_t *kind,
                          cm_error *error)
{
  choice c = {.input = input, .allowed = allowed, .run = run, .kind = kind};
  cm_population_split split = {0};
  memcpy(c.left, room, cm_chip_kinds(input->chip) * sizeof *room);
  cm_status status = find_groups(&c, error);
  if (status == CM_OK && input->demand->network->vertex_count > 0)
    status = cm_population_split_open(input->demand, c.of, c.groups, run, &split, error);
  CM_THEN(status, find_needs(&c, &split, error));
  CM_THEN(status, give_out(&c, &split, error));
  cm_population_split_free(&split);
  CM_FREE(c.group, c.of);
  return status;
}
