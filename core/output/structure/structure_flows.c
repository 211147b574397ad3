/* Packets from core to core: in and out of a core, a neuron, a population; over a link. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/order.h"
#include "core/chip/geometry.h"
#include "core/output/structure/asking.h"

enum { LIMIT_MAX = 100000, LIMIT = 1000 };

typedef struct flow {
  uint32_t from, to; /* parts */
  uint64_t packets, axons;
} flow;

typedef struct flows {
  flow *list;
  uint64_t count, room, packets;
} flows;

/* Sums by part at the other end, for one part at a time. */
typedef struct sums {
  flow *at;       /* [parts] axons 0: nothing yet */
  uint32_t *used; /* [parts] */
  uint32_t count;
} sums;

static void add(sums *s, uint32_t other, uint64_t packets)
{
  if (s->at[other].axons++ == 0)
    s->used[s->count++] = other;
  s->at[other].packets += packets;
}

/* Moves the sums of a part to the list of flows, those without packets left out. */
static cm_status flush(sums *s, uint32_t part, bool out, flows *f, cm_error *error)
{
  CM_TRY(CM_ROOM(NULL, f->list, &f->room, f->count + s->count, error));
  for (uint32_t i = 0; i < s->count; i++) {
    const uint32_t other = s->used[i];
    const flow one = s->at[other];
    if (one.packets > 0)
      f->list[f->count++] = (flow){out ? part : other, out ? other : part, one.packets, one.axons};
    f->packets += one.packets;
    s->at[other] = (flow){0};
  }
  s->count = 0;
  return CM_OK;
}

/* Some neurons, by part. */
typedef struct group {
  uint32_t *neuron, count;
} group;

typedef struct gathering {
  const cm_structure *s;
  group of;
  sums sums;
  uint32_t *stamp; /* [axons] part that it was counted at, plus 1 */
  flows out, in;
} gathering;

static void add_outputs(gathering *g, uint32_t v)
{
  const cm_structure *s = g->s;
  uint32_t axon, end;
  for (cm_axons_of(s, v, &axon, &end); axon < end; axon++)
    for (uint64_t i = s->pair_first[axon]; i < s->pair_first[axon + 1]; i++)
      if (s->pair_part[i] != s->part[v])
        add(&g->sums, s->pair_part[i], cm_pair_packets(s, axon, i));
}

/* Of a directed network: an axon brings its packet to a core once, however many neurons there take it. */
static void add_inputs(gathering *g, uint32_t v)
{
  const cm_structure *s = g->s;
  const uint32_t part = s->part[v];
  uint64_t at = s->in_first[v];
  for (uint32_t axon = 0; cm_next_input(s, v, &at, &axon);) {
    const uint32_t from = s->part[s->source[axon]];
    if (from == part || g->stamp[axon] == part + 1)
      continue;
    g->stamp[axon] = part + 1;
    add(&g->sums, from, s->weight[axon]);
  }
}

static cm_status gather_ways(gathering *g, bool out, cm_error *error)
{
  const cm_structure *s = g->s;
  for (uint32_t i = 0; i < g->of.count; i++) {
    const uint32_t v = g->of.neuron[i];
    (out ? add_outputs : add_inputs)(g, v);
    CM_TRY_IF((i + 1 == g->of.count || s->part[g->of.neuron[i + 1]] != s->part[v]), flush(&g->sums, s->part[v], out, out ? &g->out : &g->in, error));
  }
  return CM_OK;
}

/* An edge stands in the rows of both its ends: what comes in is what goes out, turned. */
static cm_status turn(gathering *g, cm_error *error)
{
  CM_TRY(CM_ROOM(NULL, g->in.list, &g->in.room, g->out.count, error));
  g->in.count = g->out.count;
  g->in.packets = g->out.packets;
  for (uint64_t i = 0; i < g->out.count; i++) {
    const flow f = g->out.list[i];
    g->in.list[i] = (flow){f.to, f.from, f.packets, f.axons};
  }
  return CM_OK;
}

CM_ORDER(by_packets, flow, CM_FALLING(packets) CM_RISING(from) CM_RISING(to))

static void put_flows(cm_asking *q, const char *name, flows *f, uint64_t limit)
{
  if (f->count > 0)
    qsort(f->list, f->count, sizeof *f->list, by_packets);
  (void)fprintf(q->w.stream, ",\n\"%s\": {\"count\": %" PRIu64, name, f->count);
  cm_put_packets(q, "packets", f->packets);
  cm_view_put_text(&q->w, ", \"flows\": [");
  for (uint64_t i = 0; i < f->count && i < limit; i++) {
    const flow *one = &f->list[i];
    cm_view_put_text(&q->w, i > 0 ? ",\n {\"from\": " : "\n {\"from\": ");
    cm_put_core(q, q->s->core[one->from]);
    cm_view_put_text(&q->w, ", \"to\": ");
    cm_put_core(q, q->s->core[one->to]);
    cm_put_packets(q, "packets", one->packets);
    (void)fprintf(q->w.stream, ", \"axons\": %" PRIu64 "}", one->axons);
  }
  cm_view_put_text(&q->w, "]}");
}

static cm_status open_sums(const cm_structure *s, sums *made, cm_error *error)
{
  CM_TRY(CM_NEW(NULL, made->at, cm_structure_parts(s), error));
  return CM_NEW(NULL, made->used, cm_structure_parts(s), error);
}

static cm_status gather(gathering *g, cm_error *error)
{
  const bool directed = g->s->in_first_count > 0;
  CM_TRY(open_sums(g->s, &g->sums, error));
  CM_TRY(CM_NEW(NULL, g->stamp, directed ? cm_structure_axons(g->s) : 1, error));
  CM_TRY(gather_ways(g, true, error));
  return directed ? gather_ways(g, false, error) : turn(g, error);
}

/* Answers of neurons that are `of`. */
static cm_status answer_of(cm_asking *q, group of, uint64_t limit, cm_error *error)
{
  gathering g = {.s = q->s, .of = of};
  cm_status status = gather(&g, error);
  if (status == CM_OK) {
    (void)fprintf(q->w.stream, "{\"neurons\": %" PRIu32, of.count);
    put_flows(q, "out", &g.out, limit);
    put_flows(q, "in", &g.in, limit);
    cm_view_put_text(&q->w, "}\n");
  }
  CM_FREE(g.sums.at, g.sums.used, g.stamp, g.out.list, g.in.list);
  return status;
}

/* ---- over a link ---- */

static cm_status gather_link(const cm_structure *s, const cm_chip *chip, uint32_t link, sums *sum, flows *through, cm_error *error)
{
  for (uint32_t p = 0; p < cm_structure_parts(s); p++) {
    for (uint32_t a = s->axon_first[p]; a < s->axon_first[p + 1]; a++)
      for (uint64_t i = s->pair_first[a]; i < s->pair_first[a + 1]; i++)
        if (s->pair_part[i] != p)
          add(sum, s->pair_part[i], cm_pair_packets(s, a, i));
    for (uint32_t i = 0; i < sum->count; i++)
      if (!cm_chip_way_passes(chip, s->core[p], s->core[sum->used[i]], link))
        sum->at[sum->used[i]].packets = 0; /* what flush leaves out */
    CM_TRY(flush(sum, p, true, through, error));
  }
  return CM_OK;
}

static cm_status answer_link(cm_asking *q, uint32_t link, uint64_t limit, cm_error *error)
{
  sums sum = {0};
  flows through = {0};
  char text[CM_LINK_TEXT_MAX];
  cm_status status = open_sums(q->s, &sum, error);
  CM_THEN(status, gather_link(q->s, q->chip, link, &sum, &through, error));
  if (status == CM_OK) {
    cm_chip_link_text(q->chip, link, CM_LINK_AS_JSON, text);
    (void)fprintf(q->w.stream, "{\"link\": {%s}", text);
    put_flows(q, "through", &through, limit);
    cm_view_put_text(&q->w, "}\n");
  }
  CM_FREE(sum.at, sum.used, through.list);
  return status;
}

static cm_status find_link(const cm_chip *chip, const char *text, uint32_t *link, cm_error *error)
{
  if (cm_chip_find_link(chip, text, link))
    return CM_OK;
  return cm_asked_badly(error, "link", "there is no link \"%.60s\": name one by its %s, as the view of links does", text, cm_chip_link_columns(chip));
}

/* ---- whom a question is about ---- */

static cm_status find_core(const cm_asking *q, const char *text, uint32_t *part, cm_error *error)
{
  unsigned x, y;
  int end = 0;
  *part = cm_structure_parts(q->s);
  if (sscanf(text, "%u,%u%n", &x, &y, &end) != 2 || text[end] != '\0' || x >= q->chip->width || y >= q->chip->height)
    return cm_asked_badly(error, "core", "core must be X,Y on a chip of %" PRIu32 " x %" PRIu32 " cores", q->chip->width, q->chip->height);
  *part = cm_part_on(q->s, y * q->chip->width + x);
  return *part < cm_structure_parts(q->s) ? CM_OK : cm_fail(error, CM_NOT_FOUND, "no neuron of the mapping is on core (%u, %u)", x, y);
}

static cm_status find_population(const cm_structure *s, const char *text, uint32_t *population, cm_error *error)
{
  const char *name = s->population_name;
  uint64_t number = UINT64_MAX;
  for (*population = 0; name != NULL && name < s->population_name + s->population_name_count; ++*population, name += strlen(name) + 1)
    if (strcmp(name, text) == 0)
      return CM_OK;
  if (!cm_whole_parse(text, &number) || number >= *population)
    return cm_fail(error, CM_NOT_FOUND, "the network has no population \"%.60s\"", text);
  *population = (uint32_t)number;
  return CM_OK;
}

/* The neurons with key[v] == value, by part. O(neurons + parts). */
static cm_status select_neurons(const cm_structure *s, const uint32_t *key, uint32_t value, group *of, cm_error *error)
{
  uint32_t *first;
  CM_TRY(CM_NEW(NULL, first, (uint64_t)cm_structure_parts(s) + 1, error));
  for (uint32_t v = 0; v < cm_structure_neurons(s); v++)
    if (key[v] == value) {
      first[s->part[v] + 1]++;
      of->count++;
    }
  for (uint32_t p = 0; p < cm_structure_parts(s); p++)
    first[p + 1] += first[p];
  cm_status status = CM_NEW(NULL, of->neuron, of->count, error);
  for (uint32_t v = 0; v < cm_structure_neurons(s) && status == CM_OK; v++)
    if (key[v] == value)
      of->neuron[first[s->part[v]]++] = v;
  cm_free(first);
  return status;
}

static cm_status select_neuron(const cm_asking *q, const char *text, group *of, cm_error *error)
{
  uint32_t neuron;
  CM_TRY(cm_asked_neuron(q, text, &neuron, error));
  CM_TRY(CM_NEW(NULL, of->neuron, 1, error));
  of->neuron[0] = neuron;
  of->count = 1;
  return CM_OK;
}

cm_status cm_answer_flows(cm_asking *q, cm_error *error)
{
  const char *core = cm_asked(q, "core"), *neuron = cm_asked(q, "neuron"), *population = cm_asked(q, "population"), *link = cm_asked(q, "link");
  const cm_structure *s = q->s;
  group of = {0};
  uint64_t limit;
  uint32_t which = 0;
  cm_status status = cm_asked_count(q, "limit", (cm_count_range){1, LIMIT_MAX, LIMIT}, &limit, error);
  if (status != CM_OK)
    return status;
  if ((core != NULL) + (neuron != NULL) + (population != NULL) + (link != NULL) != 1)
    return cm_asked_badly(error, "core", "flows are those of one thing: name a core, a neuron, a population or a link");
  if (link != NULL)
    return (status = find_link(q->chip, link, &which, error)) == CM_OK ? answer_link(q, which, limit, error) : status;
  if (core != NULL && (status = find_core(q, core, &which, error)) == CM_OK)
    status = select_neurons(s, s->part, which, &of, error);
  else if (population != NULL && (status = find_population(s, population, &which, error)) == CM_OK)
    status = select_neurons(s, s->population, which, &of, error);
  else if (neuron != NULL)
    status = select_neuron(q, neuron, &of, error);
  CM_THEN(status, answer_of(q, of, limit, error));
  cm_free(of.neuron);
  return status;
}
