/* Happy path: parts and network as the search sees them -> copies one by one -> together with copies of their sources -> copies in order. What can fail:
 * memory, a stop. */
#include "core/placement/copy_leaving.h"

#include <string.h>

#include "core/chip/reach.h"
#include "core/network/net_order.h"
#include "core/placement/copying.h"

enum { COPIES_LEAST = 64 };

void cm_copied_parts_free(cm_copied_parts *made)
{
  cm_neuron_copies_free(&made->copies);
  CM_FREE(made->part, made->core);
  *made = (cm_copied_parts){.parts = 0};
}

static cm_status read_network(cm_copying *s, cm_error *error)
{
  const cm_topology *t = s->t->demand->network;
  cm_memory *memory = s->t->run->memory;
  s->n = s->count = t->vertex_count;
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(s->in_first, (size_t)s->n + 2), CM_ARRAY(s->source, t->pin_count),
                    CM_ARRAY(s->input, t->pin_count), CM_ARRAY(s->net, (size_t)s->n + 1)));
  cm_topology_nets_from(t, s->net);
  for (uint64_t i = 0; i < t->pin_count; i++)
    s->in_first[t->pin[i] + 2]++;
  for (uint32_t v = 2; v < s->n + 2; v++)
    s->in_first[v] += s->in_first[v - 1];
  s->served = t->pin_count;
  for (uint32_t e = 0; e < t->net_count; e++)
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
      const uint64_t at = s->in_first[t->pin[i] + 1]++;
      s->source[at] = cm_topology_source(t, e);
      s->input[i] = at;
    }
  for (uint64_t i = 0; i < t->pin_count; i++)
    s->input[i] -= s->in_first[t->pin[i]];
  CM_TRY(CM_ROOM(memory, s->server, &s->room, t->pin_count + 1, error));
  memcpy(s->server, s->source, t->pin_count * sizeof *s->server);
  return CM_OK;
}

static cm_status read_cores(cm_copying *s, uint64_t copies, cm_error *error)
{
  const cm_copy_task *t = s->t;
  cm_memory *memory = t->run->memory;
  const size_t parts = t->parts + copies + 1; /* each copy opens one at most */
  uint32_t ignored;
  s->parts = t->parts;
  if (CM_NEW_ALL(memory, error, CM_ARRAY(s->core, parts), CM_ARRAY(s->cluster, parts), CM_ARRAY(s->neurons, parts),
                 CM_ARRAY(s->synapses, parts), CM_ARRAY(s->seen, parts), CM_ARRAY(s->candidate, parts),
                 CM_ARRAY(s->usable, cm_chip_cores(t->chip))) != CM_OK ||
      cm_usable_cores(t->chip, t->occupancy, memory, s->usable, &ignored, error) != CM_OK)
    return error->status;
  for (uint32_t p = 0; p < t->parts; p++) {
    s->core[p] = t->core[p];
    s->cluster[p] = cm_chip_cluster_of(t->chip, t->core[p]);
    s->usable[t->core[p]] = 0;
  }
  for (uint32_t v = 0; v < s->n; v++) {
    s->neurons[t->part[v]] += cm_demand_size(t->demand, v);
    s->synapses[t->part[v]] += s->in_first[v + 1] - s->in_first[v];
  }
  return CM_OK;
}

static cm_status make_instances(cm_copying *s, cm_error *error)
{
  cm_memory *memory = s->t->run->memory;
  uint32_t **const each[] = {&s->of, &s->part, &s->next, &s->set, &s->in_set, &s->need, &s->needed};
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(s->leaving, s->most), CM_ARRAY(s->row, s->most)));
  for (size_t i = 0; i < sizeof each / sizeof *each; i++)
    CM_TRY(CM_NEW(memory, *each[i], s->most, error));
  return CM_OK;
}

static cm_status begin(cm_copying *s, cm_error *error)
{
  const cm_copy_task *t = s->t;
  cm_memory *memory = t->run->memory;
  cm_leaving *now;
  uint32_t *cluster;
  CM_TRY(CM_NEW(memory, cluster, t->parts, error));
  for (uint32_t p = 0; p < t->parts; p++)
    cluster[p] = cm_chip_cluster_of(t->chip, t->core[p]);
  cm_status status = CM_NEW(memory, now, t->demand->network->vertex_count, error);
  if (status == CM_OK)
    cm_count_leaving(t->demand, t->part, cluster, now);
  for (uint32_t v = 0; status == CM_OK && v < t->demand->network->vertex_count; v++)
    s->excess += cm_demand_is_outside(t->demand, v) ? 0 : cm_leaving_excess(&t->chip->limits, now[v]);
  s->most = (size_t)t->demand->network->vertex_count;
  s->most += COPIES_LEAST + (size_t)(s->excess < s->most / 4 ? 16 * s->excess : 4 * (uint64_t)s->most);
  if (status == CM_OK && (read_network(s, error) != CM_OK || read_cores(s, s->most - s->n, error) != CM_OK || make_instances(s, error) != CM_OK))
    status = error->status;
  for (uint32_t v = 0; status == CM_OK && v < s->n; v++) {
    s->of[v] = v;
    s->part[v] = t->part[v];
    s->next[v] = CM_NO_COPY;
    s->leaving[v] = now[v];
    s->row[v] = s->in_first[v];
  }
  CM_FREE(cluster, now);
  return status;
}

/* Copies by their neurons, with what each serves. */
static cm_status deliver(cm_copying *s, cm_copied_parts *made, cm_error *error)
{
  const cm_topology *t = s->t->demand->network;
  cm_memory *memory = s->t->run->memory;
  cm_neuron_copies *c = &made->copies;
  uint32_t *number, sum = 0; /* of each instance, as those see it who get it */
  uint64_t served = 0, room = 0;
  CM_TRY(CM_NEW(memory, number, s->count, error));
  c->count = s->count - s->n;
  cm_status status = CM_NEW(memory, c->of, c->count, error);
  CM_THEN(status, CM_NEW_ALL(memory, error, CM_ARRAY(c->first, (size_t)c->count + 1), CM_ARRAY(made->part, s->count),
                             CM_ARRAY(made->core, s->parts)));
  for (uint32_t v = 0; status == CM_OK && v < s->n; v++) {
    number[v] = v;
    made->part[v] = s->part[v];
    for (uint32_t u = s->next[v]; u != CM_NO_COPY; u = s->next[u], sum++) {
      c->of[sum] = v;
      number[u] = s->n + sum;
      made->part[s->n + sum] = s->part[u];
    }
  }
  for (uint32_t v = 0, i = 0; status == CM_OK && v < s->n; v++)
    for (uint32_t u = s->next[v]; status == CM_OK && u != CM_NO_COPY; u = s->next[u], c->first[++i] = served)
      for (uint32_t w = 0; status == CM_OK && w < 2; w++) /* neurons, then copies */
        for (uint64_t k = t->net_first[s->net[v]]; status == CM_OK && k < t->net_first[s->net[v + 1]]; k++)
          for (uint32_t x = w == 0 ? t->pin[k] : s->next[t->pin[k]]; status == CM_OK && x != CM_NO_COPY; x = w == 0 ? CM_NO_COPY : s->next[x])
            if (s->server[s->row[x] + s->input[k]] == u && (status = CM_ROOM(memory, c->serves, &room, served + 1, error)) == CM_OK)
              c->serves[served++] = number[x];
  if (status == CM_OK)
    memcpy(made->core, s->core, s->parts * sizeof *made->core);
  made->parts = s->parts;
  made->missing = s->missing;
  made->left = s->excess;
  CM_FREE(number);
  return status;
}

static void end(cm_copying *s)
{
  CM_FREE(s->in_first, s->source, s->input, s->net, s->of, s->part, s->next, s->leaving, s->row, s->server, s->core, s->cluster, s->neurons, s->synapses, s->seen,
          s->candidate, s->usable, s->set, s->in_set, s->need, s->needed);
}

cm_status cm_copy_leaving(const cm_copy_task *task, cm_copied_parts *made, cm_error *error)
{
  cm_copying s = {.t = task};
  *made = (cm_copied_parts){.parts = 0};
  cm_status status = begin(&s, error);
  CM_THEN(status, cm_copying_mend(&s, error));
  CM_THEN(status, cm_copying_mend_together(&s, error));
  CM_THEN(status, deliver(&s, made, error));
  end(&s);
  return status;
}
