#include "core/output/exports/sanafe_pacing.h"

/* Time that each neuron keeps its core busy when it fires. `reached` [parts]: zeroed. */
static void count_busy(const cm_mapped *m, uint32_t *reached, double *busy_ns)
{
  const cm_topology *t = m->demand->network;
  const cm_charge_cost *c = m->chip->costs.charge;
  for (uint32_t v = 0; v < t->vertex_count; v++)
    busy_ns[v] = c[CM_CHARGE_NEURON].ns;
  for (uint32_t e = 0; e < t->net_count; e++) {
    double *busy = &busy_ns[cm_topology_source(t, e)];
    *busy += c[CM_CHARGE_SPIKE].ns;
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
      uint32_t part = m->part[t->pin[i]];
      *busy += reached[part] != e + 1 ? c[CM_CHARGE_PACKET_SENT].ns : 0;
      reached[part] = e + 1;
    }
  }
}

/* `first` [parts + 2]: zeroed. */
static void put_in_order(const cm_mapped *m, uint32_t *first, uint32_t *order)
{
  const uint32_t neurons = m->demand->network->vertex_count;
  for (uint32_t v = 0; v < neurons; v++)
    first[m->part[v] + 1]++;
  for (uint32_t p = 0; p < m->parts; p++)
    first[p + 1] += first[p];
  for (uint32_t v = 0; v < neurons; v++)
    order[first[m->part[v]] + m->pacing->turn[v]] = v;
}

/* Of each core in its order: until a neuron's time comes, less what is lost by rounding down. */
static void find_waits(const cm_mapped *m, const uint32_t *first, const double *busy_ns, cm_sanafe_pacing *p)
{
  uint32_t fewest = UINT32_MAX;
  for (uint32_t part = 0; part < m->parts; part++) {
    const uint32_t count = first[part + 1] - first[part];
    fewest = count > 0 && count < fewest ? count : fewest;
  }
  p->wait_ns = m->pacing->ns / fewest / CM_SANAFE_WAITS;
  for (uint32_t part = 0; part < m->parts; part++) {
    double now = 0;
    for (uint32_t i = first[part]; i < first[part + 1]; i++) {
      const double idle = m->pacing->ns * (i - first[part] + 0.5) / (first[part + 1] - first[part]) - now;
      const double units = idle > 0 && p->wait_ns > 0 ? idle / p->wait_ns : 0;
      p->wait[p->order[i]] = units < CM_SANAFE_WAITS ? (uint8_t)units : CM_SANAFE_WAITS - 1;
      now += p->wait[p->order[i]] * p->wait_ns + busy_ns[p->order[i]];
    }
  }
}

cm_status cm_sanafe_pacing_make(const cm_mapped *mapped, cm_run *run, cm_sanafe_pacing *pacing, cm_error *error)
{
  const uint32_t neurons = mapped->demand->network->vertex_count;
  uint32_t *first = NULL, *reached = NULL;
  double *busy_ns = NULL;
  *pacing = (cm_sanafe_pacing){0};
  if (mapped->pacing == NULL)
    return CM_OK;
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(pacing->order, neurons), CM_ARRAY(pacing->wait, neurons),
                                CM_ARRAY(busy_ns, neurons), CM_ARRAY(first, (size_t)mapped->parts + 2),
                                CM_ARRAY(reached, mapped->parts));
  if (status == CM_OK) {
    count_busy(mapped, reached, busy_ns);
    put_in_order(mapped, first, pacing->order);
    find_waits(mapped, first, busy_ns, pacing);
  } else
    cm_sanafe_pacing_free(pacing);
  CM_FREE(first, reached, busy_ns);
  return status;
}

void cm_sanafe_pacing_free(cm_sanafe_pacing *pacing)
{
  CM_FREE(pacing->order, pacing->wait);
  *pacing = (cm_sanafe_pacing){0};
}
