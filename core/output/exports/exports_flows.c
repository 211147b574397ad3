/* What goes between routers in a step, for simulators of networks on chips: a matrix, and two tools' ways to say it.
 *
 * A packet goes to each other core that an axon reaches, as the metrics count it (docs/reference/mapping-formats.md); cores behind one
 * router talk without the network. Routers are numbered row by row: y * width + x. */
#include <inttypes.h>
#include <stdlib.h>

#include "core/chip/turns.h"
#include "core/network/nets_by_part.h"
#include "core/output/exports/writers.h"

/* The busiest router sends or takes so many packets a cycle where rates are of cycles: far below saturation. */
static const double busiest_rate = 0.1;

typedef struct flows {
  const cm_mapped *mapped;
  uint32_t *first, *net; /* nets of each part */
  uint32_t *router;      /* [parts] */
  uint32_t *order;       /* [parts] by router */
  uint64_t *weight;      /* [parts] scaled, of the source router under way, at the first part in `order` of a target router */
  uint32_t *head;        /* [parts] that part */
  uint32_t *mark;        /* [parts] the last axon that reached it, plus 1 */
  double unit;
} flows;

static void flows_free(flows *f)
{
  CM_FREE(f->first, f->net, f->router, f->order, f->weight, f->head, f->mark);
}

typedef struct sort_key {
  uint32_t router, part;
} sort_key;

static int by_router(const void *a, const void *b)
{
  const sort_key *x = a, *y = b;
  return x->router != y->router ? (x->router < y->router ? -1 : 1) : (x->part > y->part) - (x->part < y->part);
}

static cm_status flows_open(const cm_mapped *m, cm_run *run, flows *f, cm_error *error)
{
  sort_key *key = NULL;
  *f = (flows){.mapped = m, .unit = (double)m->demand->network->weight_scale};
  if (CM_NEW_ALL(run->memory, error, CM_ARRAY(f->router, m->parts), CM_ARRAY(f->order, m->parts), CM_ARRAY(f->weight, m->parts),
                 CM_ARRAY(f->head, m->parts), CM_ARRAY(f->mark, m->parts), CM_ARRAY(key, m->parts)) != CM_OK ||
      cm_nets_by_part(m->demand->network, m->part, m->parts, run, &f->first, &f->net, error) != CM_OK) {
    cm_free(key);
    flows_free(f);
    return error->status;
  }
  for (uint32_t p = 0; p < m->parts; p++)
    key[p] = (sort_key){f->router[p] = cm_router_of(m->chip, m->core[p]), p};
  qsort(key, m->parts, sizeof *key, by_router);
  for (uint32_t i = 0; i < m->parts; i++) {
    f->order[i] = key[i].part;
    f->head[key[i].part] = i > 0 && key[i].router == key[i - 1].router ? f->head[key[i - 1].part] : key[i].part;
  }
  cm_free(key);
  return CM_OK;
}

/* Adds what the nets of one part send to other routers. */
static void add_part(flows *f, uint32_t p)
{
  const cm_topology *t = f->mapped->demand->network;
  for (uint32_t i = f->first[p]; i < f->first[p + 1]; i++) {
    uint32_t net = f->net[i];
    for (uint64_t k = t->net_first[net]; k < t->net_first[net + 1]; k++) {
      uint32_t q = f->mapped->part[t->pin[k]];
      if (f->router[q] == f->router[p] || (t->directed && f->mark[q] == net + 1))
        continue;
      f->mark[q] = net + 1;
      f->weight[f->head[q]] += t->directed ? cm_demand_net_weight(f->mapped->demand, net) : cm_demand_pin_weight(f->mapped->demand, net, k);
    }
  }
}

typedef void (*flow_visit)(void *user, uint32_t from, uint32_t to, double packets);

/* Calls for every pair of routers with traffic, by source, then by destination. O(synapses + routers in use squared). */
static cm_status flows_walk(flows *f, cm_run *run, flow_visit visit, void *user, cm_error *error)
{
  uint32_t parts = f->mapped->parts;
  for (uint32_t p = 0; p < parts; p++)
    f->mark[p] = 0;
  for (uint32_t i = 0, end; i < parts; i = end) {
    uint32_t from = f->router[f->order[i]];
    for (end = i; end < parts && f->router[f->order[end]] == from; end++)
      add_part(f, f->order[end]);
    for (uint32_t k = 0; k < parts; k++) {
      uint32_t q = f->order[k];
      if (f->weight[q] > 0)
        visit(user, from, f->router[q], (double)f->weight[q] / f->unit);
      f->weight[q] = 0;
    }
    CM_TRY(cm_run_check(run, error));
  }
  return CM_OK;
}

/* ---- the matrix ---- */

static void put_flow(void *user, uint32_t from, uint32_t to, double packets)
{
  (void)fprintf(user, "%" PRIu32 " %" PRIu32 " %.15g\n", from, to, packets);
}

cm_status cm_export_traffic(const cm_mapped *mapped, cm_run *run, FILE *stream, cm_error *error)
{
  flows f;
  CM_TRY(flows_open(mapped, run, &f, error));
  (void)fprintf(stream, "# packets a step between the routers of a %" PRIu32 " x %" PRIu32 " grid; router = y * %" PRIu32 " + x, y grows south\n"
                "# source destination rate\n",
                cm_chip_routers_x(mapped->chip), cm_chip_routers_y(mapped->chip), cm_chip_routers_x(mapped->chip));
  cm_status status = flows_walk(&f, run, put_flow, stream, error);
  flows_free(&f);
  return status;
}

/* ---- rates of cycles ---- */

typedef struct rates {
  FILE *stream;
  double scale; /* packets a cycle for each packet a step */
  double *sent, *taken; /* [routers from the first in use] */
  uint32_t base;
  uint32_t width, side; /* routers along x; BookSim's meshes are square */
  const char *format;
} rates;

static void count_flow(void *user, uint32_t from, uint32_t to, double packets)
{
  rates *r = user;
  r->sent[from - r->base] += packets;
  r->taken[to - r->base] += packets;
}

static void put_rate(void *user, uint32_t from, uint32_t to, double packets)
{
  const rates *r = user;
  if (r->format[0] == 'n')
    (void)fprintf(r->stream, "%" PRIu32 " %" PRIu32 " %.9f %.9f\n", from, to, packets * r->scale, packets * r->scale);
  else
    (void)fprintf(r->stream, "//: %" PRIu32 " %" PRIu32 " %.9g\n", from / r->width * r->side + from % r->width,
                  to / r->width * r->side + to % r->width, packets * r->scale);
}

/* Finds the scale by which the busiest router has busiest_rate. */
static cm_status scale_flows(flows *f, cm_run *run, rates *r, cm_error *error)
{
  uint32_t parts = f->mapped->parts, first = f->router[f->order[0]], last = f->router[f->order[parts - 1]];
  double most = 0;
  r->base = first;
  if (CM_NEW_ALL(run->memory, error, CM_ARRAY(r->sent, (size_t)(last - first) + 1),
                 CM_ARRAY(r->taken, (size_t)(last - first) + 1)) != CM_OK ||
      flows_walk(f, run, count_flow, r, error) != CM_OK) {
    CM_FREE(r->sent, r->taken);
    return error->status;
  }
  for (uint32_t i = 0; i <= last - first; i++) {
    most = r->sent[i] > most ? r->sent[i] : most;
    most = r->taken[i] > most ? r->taken[i] : most;
  }
  CM_FREE(r->sent, r->taken);
  r->scale = most > 0 ? busiest_rate / most : 0;
  return CM_OK;
}

static cm_status export_rates(const cm_mapped *mapped, const char *format, cm_run *run, FILE *stream, cm_error *error)
{
  flows f;
  rates r = {.stream = stream, .format = format};
  CM_TRY(flows_open(mapped, run, &f, error));
  cm_status status = scale_flows(&f, run, &r, error);
  uint32_t x = cm_chip_routers_x(mapped->chip), y = cm_chip_routers_y(mapped->chip);
  r.width = x;
  r.side = x > y ? x : y;
  if (status == CM_OK && format[0] == 'n')
    (void)fprintf(stream, "%% mesh_dim_x: %" PRIu32 ", mesh_dim_y: %" PRIu32 "; traffic_distribution: TRAFFIC_TABLE_BASED\n"
                  "%% %.9g packets a cycle for each packet a step: the busiest router sends or takes %.9g a cycle\n"
                  "%% source destination pir por\n",
                  x, y, r.scale, busiest_rate);
  else if (status == CM_OK)
    (void)fprintf(stream, "// %" PRIu32 " x %" PRIu32 " routers of a square mesh, node = y * %" PRIu32 " + x.\n"
                  "// Lines \"//: source destination rate\" are the traffic, in packets a cycle: %.9g for each packet a step,\n"
                  "// so that the busiest router sends or takes %.9g. docs/reference/exports.md says how BookSim reads them.\n"
                  "topology = mesh;\nk = %" PRIu32 ";\nn = 2;\nrouting_function = dim_order;\nnum_vcs = 4;\nvc_buf_size = 8;\n"
                  "packet_size = 1;\nsim_type = latency;\ninjection_rate = %.9g;\n",
                  x, y, r.side, r.scale, busiest_rate, r.side, busiest_rate);
  CM_THEN(status, flows_walk(&f, run, put_rate, &r, error));
  flows_free(&f);
  return status;
}

cm_status cm_export_noxim(const cm_mapped *mapped, cm_run *run, FILE *stream, cm_error *error)
{
  return export_rates(mapped, "noxim", run, stream, error);
}

cm_status cm_export_booksim(const cm_mapped *mapped, cm_run *run, FILE *stream, cm_error *error)
{
  return export_rates(mapped, "booksim", run, stream, error);
}
