/* What a core holds of neurons that a chip's limits on single neurons make more of: copies with the cores that each serves, relays with
 * their inputs (docs/explanation/neuron-limits.md). */
#include <inttypes.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/order.h"
#include "core/network/net_order.h"
#include "core/output/exports/writers.h"

typedef struct writer {
  const cm_mapped *m;
  FILE *out;
  uint64_t *in_first; /* [vertices + 2] */
  uint32_t *in;       /* [pins] sources by target, ascending */
  uint32_t *net;      /* [vertices + 1] nets of a source stand together: the first */
  uint32_t *parts;    /* [parts] that a neuron reaches, ascending */
  uint32_t *stamp;    /* [parts] the last neuron that reaches it, plus 1 */
  int64_t *open;      /* [pins of the largest fan-in, twice] inputs without a place, relays as -1 - number */
  bool any;
} writer;

static cm_status gather(writer *w, cm_run *run, cm_error *error)
{
  const cm_topology *t = w->m->demand->network;
  uint64_t most = 0;
  CM_TRY(CM_NEW_ALL(run->memory, error, CM_ARRAY(w->in_first, (size_t)t->vertex_count + 2), CM_ARRAY(w->in, t->pin_count),
                    CM_ARRAY(w->net, (size_t)t->vertex_count + 1), CM_ARRAY(w->parts, w->m->parts),
                    CM_ARRAY(w->stamp, w->m->parts)));
  cm_topology_nets_from(t, w->net);
  cm_topology_nets_to(t, w->in_first, w->in);
  for (uint32_t v = 0; v < t->vertex_count; v++)
    most = w->in_first[v + 1] - w->in_first[v] > most ? w->in_first[v + 1] - w->in_first[v] : most;
  for (uint64_t i = 0; i < t->pin_count; i++)
    w->in[i] = cm_topology_source(t, w->in[i]);
  return CM_NEW(run->memory, w->open, 2 * most + 1, error);
}

/* The parts that a neuron reaches into w->parts. */
static uint32_t reach(writer *w, uint32_t v)
{
  const cm_topology *t = w->m->demand->network;
  uint32_t count = 0;
  for (uint64_t i = t->net_first[w->net[v]]; i < t->net_first[w->net[v + 1]]; i++) {
    uint32_t p = w->m->part[t->pin[i]];
    if (w->stamp[p] != v + 1)
      w->parts[count++] = p;
    w->stamp[p] = v + 1;
  }
  if (count > 0)
    qsort(w->parts, count, sizeof *w->parts, cm_ascending);
  return count;
}

static void put_copies(const writer *w, uint32_t count, uint64_t most)
{
  for (uint32_t i = 0; i < count; i++)
    (void)fprintf(w->out, "%s%" PRIu32, i == 0 ? ", \"copies\": [[" : i % most == 0 ? "], [" : ", ", w->parts[i]);
  (void)fputs("]]", w->out);
}

/* A relay takes the next inputs as long as more are open than the neuron takes itself, and is open then as the last. */
static void put_relays(writer *w, uint32_t v, uint64_t fan_in)
{
  uint64_t first = 0, end = 0, relays = 0;
  uint32_t *in = w->in + w->in_first[v];
  uint64_t inputs = w->in_first[v + 1] - w->in_first[v];
  qsort(in, inputs, sizeof *in, cm_ascending);
  while (end < inputs) {
    w->open[end] = in[end];
    end++;
  }
  (void)fputs(", \"relays\": [", w->out);
  while (end - first > fan_in) {
    uint64_t take = end - first - fan_in + 1 < fan_in ? end - first - fan_in + 1 : fan_in;
    for (uint64_t i = 0; i < take; i++)
      (void)fprintf(w->out, "%s%" PRId64, i > 0 ? ", " : relays > 0 ? ", [" : "[", w->open[first++]);
    (void)fputc(']', w->out);
    w->open[end++] = -1 - (int64_t)relays++;
  }
  (void)fputs("], \"inputs\": [", w->out);
  for (uint64_t i = first; i < end; i++)
    (void)fprintf(w->out, "%s%" PRId64, i > first ? ", " : "", w->open[i]);
  (void)fputc(']', w->out);
}

static cm_status put_all(writer *w, cm_run *run, cm_error *error)
{
  const cm_limits *l = &w->m->chip->limits;
  for (uint32_t v = 0; v < w->m->demand->network->vertex_count; v++) {
    CM_TRY_IF(v % 1024 == 0, cm_run_check(run, error));
    uint64_t inputs = w->in_first[v + 1] - w->in_first[v];
    uint32_t reached = l->neuron_target_cores != 0 ? reach(w, v) : 0;
    bool copied = l->neuron_target_cores != 0 && reached > l->neuron_target_cores, relayed = l->fan_in != 0 && inputs > l->fan_in;
    if (!copied && !relayed)
      continue;
    (void)fprintf(w->out, "%s\n {\"neuron\": %" PRIu32, w->any ? "," : "", v);
    if (w->m->demand->network->label_text != NULL) {
      (void)fputs(", \"name\": ", w->out);
      cm_json_put_string(cm_topology_label(w->m->demand->network, v), w->out);
    }
    (void)fprintf(w->out, ", \"part\": %" PRIu32, w->m->part[v]);
    w->any = true;
    if (copied)
      put_copies(w, reached, l->neuron_target_cores);
    if (relayed)
      put_relays(w, v, l->fan_in);
    (void)fputc('}', w->out);
  }
  return CM_OK;
}

cm_status cm_export_units(const cm_mapped *m, cm_run *run, FILE *stream, cm_error *error)
{
  writer w = {.m = m, .out = stream};
  (void)fprintf(stream, "{\"format\": \"coremapd units 1\", \"fan_in_per_neuron\": %" PRIu64 ", \"target_cores_per_neuron\": %" PRIu64 ", \"neurons\": [",
                m->chip->limits.fan_in, m->chip->limits.neuron_target_cores);
  cm_status status = gather(&w, run, error);
  CM_THEN(status, put_all(&w, run, error));
  (void)fputs("\n]}\n", stream);
  void *const blocks[] = {w.in_first, w.in, w.net, w.parts, w.stamp, w.open};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    cm_free(blocks[i]);
  return status == CM_OK ? cm_run_check(run, error) : status;
}
