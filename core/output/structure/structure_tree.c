/* The tree of one axon: the links that its packets take, and the tables of the routers there. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/order.h"
#include "core/chip/geometry.h"
#include "core/output/structure/asking.h"

enum { LIMIT_MAX = 1000000, LIMIT = 10000 };

typedef struct branch {
  uint32_t at; /* a link, or a part */
  uint64_t packets;
} branch;

CM_ORDER(by_packets, branch, CM_FALLING(packets) CM_RISING(at))

typedef struct tree {
  branch *target, *link; /* its own part left out */
  uint64_t *over;        /* [links of the chip] packets */
  uint8_t *passed;       /* [routers with a table] */
  uint64_t targets, links, link_room;
} tree;

static void pass(const cm_structure *s, tree *t, uint32_t router)
{
  uint64_t low = 0, high = s->router_count;
  CM_BISECT(low, high, at, s->router[at] < router)
  if (low < s->router_count && s->router[low] == router)
    t->passed[low] = 1;
}

static cm_status grow(const cm_asking *q, tree *t, uint32_t axon, cm_error *error)
{
  const cm_structure *s = q->s;
  const uint32_t home = s->part[s->source[axon]];
  CM_TRY(CM_NEW_ALL(NULL, error, CM_ARRAY(t->target, s->pair_first[axon + 1] - s->pair_first[axon]), CM_ARRAY(t->over, cm_chip_links(q->chip)),
                    CM_ARRAY(t->passed, s->router_count)));
  for (uint64_t i = s->pair_first[axon]; i < s->pair_first[axon + 1]; i++) {
    const branch to = {s->pair_part[i], cm_pair_packets(s, axon, i)};
    uint32_t link;
    if (to.at == home || to.packets == 0)
      continue;
    t->target[t->targets++] = to;
    pass(s, t, cm_router_of(q->chip, s->core[home]));
    pass(s, t, cm_router_of(q->chip, s->core[to.at]));
    for (cm_way_links way = cm_chip_way_links(q->chip, s->core[home], s->core[to.at]); cm_way_links_next(&way, &link); t->over[link] += to.packets) {
      if (t->over[link] > 0)
        continue;
      CM_TRY(CM_ROOM(NULL, t->link, &t->link_room, t->links + 1, error));
      t->link[t->links++].at = link;
      pass(s, t, cm_chip_link(q->chip, link).from);
    }
  }
  for (uint64_t i = 0; i < t->links; i++)
    t->link[i].packets = t->over[t->link[i].at];
  if (t->targets > 0)
    qsort(t->target, t->targets, sizeof *t->target, by_packets);
  if (t->links > 0)
    qsort(t->link, t->links, sizeof *t->link, by_packets);
  return CM_OK;
}

static void put_tree(cm_asking *q, const tree *t, uint64_t limit)
{
  char text[CM_LINK_TEXT_MAX];
  bool more = false;
  (void)fprintf(q->w.stream, ", \"target_count\": %" PRIu64 ", \"link_count\": %" PRIu64 ",\n\"targets\": [", t->targets, t->links);
  for (uint64_t i = 0; i < t->targets && i < limit; i++) {
    cm_view_put_text(&q->w, i > 0 ? ",\n {" : "\n {");
    cm_put_place(q, t->target[i].at);
    cm_put_packets(q, "packets", t->target[i].packets);
    cm_view_put_text(&q->w, "}");
  }
  cm_view_put_text(&q->w, "],\n\"links\": [");
  for (uint64_t i = 0; i < t->links && i < limit; i++) {
    cm_chip_link_text(q->chip, t->link[i].at, CM_LINK_AS_JSON, text);
    (void)fprintf(q->w.stream, "%s\n {%s", i > 0 ? "," : "", text);
    cm_put_packets(q, "packets", t->link[i].packets);
    cm_view_put_text(&q->w, "}");
  }
  cm_view_put_text(&q->w, "],\n\"routers\": [");
  for (uint64_t i = 0; t->passed != NULL && i < q->s->router_count; i++)
    if (t->passed[i]) {
      cm_put_table(q, i, more);
      more = true;
    }
  cm_view_put_text(&q->w, "]}\n");
}

cm_status cm_answer_tree(cm_asking *q, cm_error *error)
{
  const cm_structure *s = q->s;
  uint64_t limit, which;
  uint32_t neuron, axon, end;
  tree t = {0};
  CM_TRY(cm_asked_count(q, "limit", (cm_count_range){1, LIMIT_MAX, LIMIT}, &limit, error));
  CM_TRY(cm_asked_count(q, "axon", (cm_count_range){0, UINT32_MAX, 0}, &which, error));
  CM_TRY(cm_asked_neuron(q, cm_asked(q, "neuron"), &neuron, error));
  cm_axons_of(s, neuron, &axon, &end);
  const uint32_t axons = end - axon;
  if (which > 0 && which >= axons)
    return cm_asked_badly(error, "axon", "axon must be below %" PRIu32 ": so many has neuron %" PRIu32 ", counted from 0", axons, neuron);
  cm_status status = axons > 0 ? grow(q, &t, axon + (uint32_t)which, error) : CM_OK; /* of none an empty tree */
  if (status == CM_OK) {
    cm_view_put_text(&q->w, "{");
    cm_put_neuron(q, neuron);
    cm_view_put_text(&q->w, ", ");
    cm_put_place(q, s->part[neuron]);
    (void)fprintf(q->w.stream, ", \"axon\": %" PRIu64 ", \"axons\": %" PRIu32, which, axons);
    if (s->weight_count > 0 && axons > 0)
      cm_put_packets(q, "packets", s->weight[axon + which]);
    put_tree(q, &t, limit);
  }
  CM_FREE(t.target, t.link, t.over, t.passed);
  return status;
}
