/* Neurons by number or name, and whom they reach. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/number.h"
#include "base/order.h"
#include "core/output/structure/asking.h"

enum { LIMIT_MAX = 100, LIMIT = 20 };

typedef struct target {
  uint32_t part;
  uint64_t synapses, packets;
} target;

CM_ORDER(by_part, target, CM_RISING(part))

static int by_synapses(const void *a, const void *b)
{
  const target *p = a, *q = b;
  return p->synapses != q->synapses ? (p->synapses < q->synapses ? 1 : -1) : by_part(a, b);
}

/* The parts that a neuron reaches, those with most synapses first; the caller frees. */
static cm_status list_targets(const cm_structure *s, uint32_t neuron, target **list, uint64_t *count, cm_error *error)
{
  uint32_t first, end;
  uint64_t used = 0;
  cm_axons_of(s, neuron, &first, &end);
  const uint64_t pairs = s->pair_first[end] - s->pair_first[first];
  CM_TRY(CM_NEW(NULL, *list, pairs, error));
  for (uint32_t a = first; a < end; a++)
    for (uint64_t i = s->pair_first[a]; i < s->pair_first[a + 1]; i++)
      (*list)[used++] = (target){s->pair_part[i], s->pair_synapses[i], cm_pair_packets(s, a, i)};
  qsort(*list, used, sizeof **list, by_part);
  *count = 0;
  for (uint64_t i = 0; i < used; i++) { /* several axons may reach one part */
    target *last = *count > 0 ? &(*list)[*count - 1] : NULL;
    if (last != NULL && last->part == (*list)[i].part) {
      last->synapses += (*list)[i].synapses;
      last->packets += (*list)[i].packets;
    } else
      (*list)[(*count)++] = (*list)[i];
  }
  qsort(*list, *count, sizeof **list, by_synapses);
  return CM_OK;
}

static cm_status put_found(cm_asking *q, uint32_t neuron, cm_error *error)
{
  const cm_structure *s = q->s;
  target *list;
  uint64_t count, fan_out = 0;
  CM_TRY(list_targets(s, neuron, &list, &count, error));
  for (uint64_t i = 0; i < count; i++)
    fan_out += list[i].synapses;
  cm_view_put_text(&q->w, "\n {");
  cm_put_neuron(q, neuron);
  cm_view_put_text(&q->w, ", ");
  cm_put_place(q, s->part[neuron]);
  if (s->population_count > 0) {
    cm_view_put_text(&q->w, ", \"population\": ");
    cm_json_put_string(cm_population_name(s, s->population[neuron]), q->w.stream);
  }
  (void)fprintf(q->w.stream, ", \"fan_in\": %" PRIu32 ", \"fan_out\": %" PRIu64 ", \"targets\": [", s->fan_in[neuron], fan_out);
  for (uint64_t i = 0; i < count; i++) {
    cm_view_put_text(&q->w, i > 0 ? ",\n  {" : "\n  {");
    cm_put_place(q, list[i].part);
    (void)fprintf(q->w.stream, ", \"synapses\": %" PRIu64, list[i].synapses);
    cm_put_packets(q, "packets", list[i].packets);
    cm_view_put_text(&q->w, "}");
  }
  cm_view_put_text(&q->w, "]}");
  cm_free(list);
  return CM_OK;
}

/* How well a neuron is what is looked for: 3 by its number, 2 by its name, 1 by a part of it, 0 not. */
static int rank_of(const cm_structure *s, uint32_t neuron, const char *text, uint64_t number)
{
  const char *name = cm_neuron_name(s, neuron);
  if (neuron == number)
    return 3;
  return name == NULL || strstr(name, text) == NULL ? 0 : strcmp(name, text) == 0 ? 2 : 1;
}

cm_status cm_answer_neurons(cm_asking *q, cm_error *error)
{
  const cm_structure *s = q->s;
  const char *text = cm_asked(q, "find");
  uint64_t limit, number = UINT64_MAX, count[4] = {0}, shown = 0;
  uint32_t found[4][LIMIT_MAX];
  cm_status status = cm_asked_count(q, "limit", (cm_count_range){1, LIMIT_MAX, LIMIT}, &limit, error);
  if (status == CM_OK && (text == NULL || *text == '\0'))
    status = cm_asked_badly(error, "find", "find must be the number of a neuron, or some of its name");
  if (status != CM_OK)
    return status;
  (void)cm_whole_parse(text, &number);
  for (uint32_t v = 0; v < cm_structure_neurons(s); v++) {
    const int rank = rank_of(s, v, text, number);
    if (rank > 0 && count[rank] < limit)
      found[rank][count[rank]] = v;
    count[rank]++;
  }
  (void)fprintf(q->w.stream, "{\"count\": %" PRIu64 ", \"neurons\": [", count[1] + count[2] + count[3]);
  for (int rank = 3; rank > 0; rank--)
    for (uint64_t i = 0; i < count[rank] && shown < limit && status == CM_OK; i++) {
      cm_view_put_text(&q->w, shown++ > 0 ? "," : "");
      status = put_found(q, found[rank][i], error);
    }
  cm_view_put_text(&q->w, "]}\n");
  return status;
}
