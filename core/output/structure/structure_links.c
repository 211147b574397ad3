/* The links and ports with the highest load, and the axons that fill them; tables of routers. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/chip/geometry.h"
#include "core/output/structure/asking.h"

/* With axons every link and port asked for is a bit of 64. */
enum { LIMIT_MAX = 1000, FILLED_MAX = 32, AXONS_MAX = 100, LIMIT = 10 };

/* What axons are looked for. */
typedef enum sink_kind { LINK, INLET, OUTLET } sink_kind;
typedef struct filling {
  uint32_t axon;
  uint64_t packets;
} filling;
typedef struct sink {
  sink_kind kind;
  uint32_t at; /* link, or part */
  double load, ns;
  uint64_t axons; /* that pass it */
  filling *most;  /* [limit] a heap, the least at its root */
  uint32_t kept;
} sink;

static int by_load(const void *a, const void *b)
{
  const sink *p = a, *q = b;
  if (p->load != q->load)
    return p->load < q->load ? 1 : -1;
  return p->at != q->at ? (p->at < q->at ? -1 : 1) : (int)p->kind - (int)q->kind;
}

/* Inlets and outlets of all parts, the fullest first. */
static cm_status list_ports(const cm_asking *q, sink **ports, uint64_t *count, cm_error *error)
{
  const cm_structure *s = q->s;
  const double rate = q->chip->costs.port_packets_per_ns;
  CM_TRY(CM_NEW(NULL, *ports, 2 * (uint64_t)cm_structure_parts(s), error));
  *count = 0;
  for (uint32_t p = 0; p < cm_structure_parts(s); p++)
    for (sink_kind kind = INLET; kind <= OUTLET; kind++) {
      const double load = kind == INLET ? s->load[p].traffic_in : s->load[p].traffic_out;
      if (load > 0)
        (*ports)[(*count)++] = (sink){.kind = kind, .at = p, .load = load, .ns = rate > 0 ? load / rate : 0};
    }
  qsort(*ports, *count, sizeof **ports, by_load);
  return CM_OK;
}

static bool is_less(const filling *a, const filling *b)
{
  return a->packets != b->packets ? a->packets < b->packets : a->axon > b->axon;
}

/* Keeps an axon among the `limit` that fill a sink most. O(log limit). */
static void keep(sink *k, filling one, uint32_t limit)
{
  uint32_t at = 0;
  k->axons++;
  if (k->kept < limit) {
    for (at = k->kept++; at > 0 && is_less(&one, &k->most[(at - 1) / 2]); at = (at - 1) / 2)
      k->most[at] = k->most[(at - 1) / 2];
    k->most[at] = one;
    return;
  }
  if (limit == 0 || !is_less(&k->most[0], &one))
    return;
  for (uint32_t child; (child = 2 * at + 1) < limit; at = child) {
    child += child + 1 < limit && is_less(&k->most[child + 1], &k->most[child]);
    if (!is_less(&k->most[child], &one))
      break;
    k->most[at] = k->most[child];
  }
  k->most[at] = one;
}

typedef struct filler {
  const cm_asking *q;
  sink *sink;
  uint32_t sinks, limit;
  uint64_t *mask;  /* [parts] which sinks packets from the part under way to another one pass */
  uint32_t *stamp; /* [parts] last part that mask was made for, plus 1 */
} filler;

static uint64_t mask_of(const filler *f, uint32_t from, uint32_t to)
{
  const cm_structure *s = f->q->s;
  uint64_t mask = 0;
  for (uint32_t k = 0; k < f->sinks && from != to; k++) {
    const sink *one = &f->sink[k];
    const bool passes = one->kind == LINK    ? cm_chip_way_passes(f->q->chip, s->core[from], s->core[to], one->at)
                        : one->kind == INLET ? one->at == to
                                             : one->at == from;
    mask |= (uint64_t)passes << k;
  }
  return mask;
}

static void take_axon(filler *f, uint32_t part, uint32_t axon)
{
  const cm_structure *s = f->q->s;
  uint64_t packets[64], seen = 0;
  for (uint64_t i = s->pair_first[axon]; i < s->pair_first[axon + 1]; i++) {
    const uint32_t to = s->pair_part[i];
    if (f->stamp[to] != part + 1) {
      f->stamp[to] = part + 1;
      f->mask[to] = mask_of(f, part, to);
    }
    for (uint64_t rest = f->mask[to]; rest != 0; rest &= rest - 1) {
      const int k = __builtin_ctzll(rest);
      packets[k] = (seen >> k & 1 ? packets[k] : 0) + cm_pair_packets(s, axon, i);
      seen |= UINT64_C(1) << k;
    }
  }
  for (; seen != 0; seen &= seen - 1) {
    const int k = __builtin_ctzll(seen);
    if (packets[k] > 0)
      keep(&f->sink[k], (filling){axon, packets[k]}, f->limit);
  }
}

static int by_packets(const void *a, const void *b)
{
  return is_less(a, b) ? 1 : is_less(b, a) ? -1 : 0;
}

/* Finds the axons that fill the sinks. O(pairs + flows * sinks). */
static cm_status fill(const cm_asking *q, sink *sinks, uint32_t count, uint32_t limit, cm_error *error)
{
  const cm_structure *s = q->s;
  filler f = {.q = q, .sink = sinks, .sinks = count, .limit = limit};
  if (CM_NEW(NULL, f.mask, cm_structure_parts(s), error) == CM_OK)
    (void)CM_NEW(NULL, f.stamp, cm_structure_parts(s), error);
  cm_status status = f.mask != NULL && f.stamp != NULL ? CM_OK : error->status;
  for (uint32_t k = 0; k < count && status == CM_OK; k++)
    status = CM_NEW(NULL, sinks[k].most, limit, error);
  for (uint32_t p = 0; p < cm_structure_parts(s) && status == CM_OK; p++)
    for (uint32_t a = s->axon_first[p]; a < s->axon_first[p + 1]; a++)
      take_axon(&f, p, a);
  for (uint32_t k = 0; k < count && status == CM_OK; k++)
    qsort(sinks[k].most, sinks[k].kept, sizeof *sinks[k].most, by_packets);
  CM_FREE(f.mask, f.stamp);
  return status;
}

static void put_sink(cm_asking *q, const sink *k, bool axons)
{
  const cm_structure *s = q->s;
  char text[CM_LINK_TEXT_MAX];
  cm_view_put_text(&q->w, "{");
  if (k->kind == LINK) {
    cm_chip_link_text(q->chip, k->at, CM_LINK_AS_JSON, text);
    cm_view_put_text(&q->w, text);
  } else {
    (void)fprintf(q->w.stream, "\"port\": \"%s\", ", k->kind == INLET ? "inlet" : "outlet");
    cm_put_place(q, k->at);
  }
  cm_view_put_text(&q->w, ", \"load\": ");
  cm_view_put_real(&q->w, k->load);
  cm_view_put_text(&q->w, ", \"ns\": ");
  cm_view_put_real(&q->w, k->ns);
  if (axons)
    (void)fprintf(q->w.stream, ", \"axon_count\": %" PRIu64 ", \"axons\": [", k->axons);
  for (uint32_t i = 0; axons && i < k->kept; i++) {
    const uint32_t axon = k->most[i].axon, source = s->source[axon];
    uint32_t first, end;
    cm_axons_of(s, source, &first, &end);
    cm_view_put_text(&q->w, i > 0 ? ",\n  {" : "\n  {");
    cm_put_neuron(q, source);
    cm_view_put_text(&q->w, ", ");
    cm_put_place(q, s->part[source]);
    cm_put_packets(q, "packets", k->most[i].packets);
    if (end > first + 1)
      (void)fprintf(q->w.stream, ", \"axon\": %" PRIu32, axon - first);
    cm_view_put_text(&q->w, "}");
  }
  cm_view_put_text(&q->w, axons ? "]}" : "}");
}

static void put_sinks(cm_asking *q, const char *name, const sink *sinks, uint64_t count, bool axons)
{
  (void)fprintf(q->w.stream, ",\n\"%s\": [", name);
  for (uint64_t k = 0; k < count; k++) {
    cm_view_put_text(&q->w, k > 0 ? ",\n " : "\n ");
    put_sink(q, &sinks[k], axons);
  }
  cm_view_put_text(&q->w, "]");
}

/* The first of the links, which stand by falling load, and of the ports, behind each other; the caller frees. */
static cm_status list_sinks(const cm_asking *q, uint64_t links, const sink *port, uint64_t ports, sink **all, cm_error *error)
{
  const cm_structure *s = q->s;
  CM_TRY(CM_NEW(NULL, *all, links + ports, error));
  for (uint64_t k = 0; k < links; k++) {
    const uint32_t link = s->link[k];
    if (link >= cm_chip_links(q->chip))
      return cm_fail(error, CM_DAMAGED, "the structure of a mapping has a link that its chip has not");
    (*all)[k] = (sink){.kind = LINK, .at = link, .load = s->link_load[k]};
    if (q->chip->costs.link_packets_per_ns > 0)
      (*all)[k].ns = cm_chip_step_ns(q->chip, link, s->link_load[k]);
  }
  memcpy(*all + links, port, ports * sizeof *port);
  return CM_OK;
}

cm_status cm_answer_links(cm_asking *q, cm_error *error)
{
  const cm_structure *s = q->s;
  const char *sort = cm_asked(q, "sort");
  uint64_t limit, axons, ports = 0;
  sink *port = NULL, *all = NULL;
  if (sort != NULL && strcmp(sort, "load") != 0)
    return cm_asked_badly(error, "sort", "links are sorted by load alone: sort=load");
  CM_TRY(cm_asked_count(q, "axons", (cm_count_range){0, AXONS_MAX, 0}, &axons, error));
  CM_TRY(cm_asked_count(q, "limit", (cm_count_range){1, axons > 0 ? FILLED_MAX : LIMIT_MAX, LIMIT}, &limit, error));
  CM_TRY(list_ports(q, &port, &ports, error));
  const uint64_t links = limit < s->link_count ? limit : s->link_count;
  ports = limit < ports ? limit : ports;
  cm_status status = list_sinks(q, links, port, ports, &all, error);
  CM_THEN_IF(status, axons > 0, fill(q, all, (uint32_t)(links + ports), (uint32_t)axons, error));
  if (status == CM_OK) {
    (void)fprintf(q->w.stream, "{\"routers_x\": %" PRIu32 ", \"routers_y\": %" PRIu32 ", \"count\": %" PRIu64, cm_chip_routers_x(q->chip),
                  cm_chip_routers_y(q->chip), s->link_count);
    put_sinks(q, "links", all, links, axons > 0);
    put_sinks(q, "ports", all + links, ports, axons > 0);
    cm_view_put_text(&q->w, "}\n");
  }
  for (uint64_t k = 0; all != NULL && k < links + ports; k++)
    cm_free(all[k].most);
  CM_FREE(all, port);
  return status;
}

cm_status cm_answer_routers(cm_asking *q, CM_UNUSED cm_error *error)
{
  cm_view_put_text(&q->w, "{\"limit\": ");
  if (q->chip->table_entries > 0)
    cm_view_put_count(&q->w, q->chip->table_entries);
  else
    cm_view_put_text(&q->w, "null");
  cm_view_put_text(&q->w, ", \"routers\": [");
  for (uint64_t i = 0; i < q->s->router_count; i++)
    cm_put_table(q, i, i > 0);
  cm_view_put_text(&q->w, "]}\n");
  return CM_OK;
}
