/* What is told of a profile. */
#include <stdlib.h>

#include "base/order.h"
#include "core/network/dynamics.h"
#include "core/spiking/profile.h"

enum { RASTER_ROWS = 40, RASTER_COLUMNS = 100 };

/* Spikes of neurons begin .. end - 1, and how many of them never spike. */
typedef struct tally {
  uint64_t neurons, spikes, silent, largest;
} tally;

static void add(tally *t, uint64_t count)
{
  t->neurons++;
  t->spikes += count;
  t->silent += count == 0;
  t->largest = count > t->largest ? count : t->largest;
}

static double rate(const cm_profile *p, const tally *t)
{
  return t->neurons > 0 ? (double)t->spikes / (double)t->neurons / p->steps : 0;
}

static json_t *told(const cm_profile *p, const tally *t)
{
  json_t *made = json_pack("{s:I, s:I, s:I, s:f, s:f}", "neurons", (json_int_t)t->neurons, "spikes", (json_int_t)t->spikes, "silent",
                           (json_int_t)t->silent, "rate", rate(p, t), "largest_rate", (double)t->largest / p->steps);
  if (p->dt > 0)
    (void)json_object_set_new(made, "rate_hz", json_real(rate(p, t) / p->dt));
  return made;
}

static json_t *populations(const cm_profile *p)
{
  const cm_topology *t = p->topology;
  json_t *list = json_array();
  tally *all = calloc(t->population_count, sizeof *all);
  for (uint32_t v = 0; v < t->vertex_count && all != NULL; v++)
    add(&all[t->population_of[v]], p->count[v]);
  for (uint32_t k = 0; k < t->population_count && all != NULL; k++) {
    json_t *one = told(p, &all[k]);
    (void)json_object_set_new(one, "name", json_string(t->population[k].name));
    (void)json_object_set_new(one, "kind", json_string(t->population[k].kind));
    (void)json_array_append_new(list, one);
  }
  free(all);
  return list;
}

/* Spikes of the whole network in a step: mean, what 99 % of the steps stay within, the worst step and the first that has it. */
static json_t *peak(const cm_profile *p)
{
  uint64_t *each = calloc(p->steps, sizeof *each), worst = 0;
  uint32_t step = 0;
  if (each == NULL)
    return NULL;
  for (uint32_t s = 0; s < p->steps; s++) {
    each[s] = p->spikes.first[s + 1] - p->spikes.first[s];
    if (each[s] > worst) {
      worst = each[s];
      step = s;
    }
  }
  qsort(each, p->steps, sizeof *each, cm_ascending_long);
  const uint64_t most = each[((uint64_t)p->steps * 99 + 99) / 100 - 1];
  free(each);
  return json_pack("{s:f, s:I, s:I, s:I}", "mean", (double)p->spikes.first[p->steps] / p->steps, "p99", (json_int_t)most, "worst",
                   (json_int_t)worst, "step", (json_int_t)step);
}

static json_t *by_step(const cm_profile *p)
{
  json_t *list = json_array();
  for (uint32_t s = 0; s < p->steps; s++)
    (void)json_array_append_new(list, json_integer((json_int_t)(p->spikes.first[s + 1] - p->spikes.first[s])));
  return list;
}

json_t *cm_spikes_raster(const cm_spikes *spikes)
{
  const uint32_t n = spikes->neurons, rows = n < RASTER_ROWS ? n : RASTER_ROWS, columns = spikes->steps < RASTER_COLUMNS ? spikes->steps : RASTER_COLUMNS;
  uint64_t *box = calloc((size_t)rows * columns + 1, sizeof *box);
  if (box == NULL)
    return NULL;
  for (uint32_t s = 0; s < spikes->steps; s++)
    for (uint64_t i = spikes->first[s]; i < spikes->first[s + 1]; i++)
      box[(uint64_t)spikes->neuron[i] * rows / n * columns + (uint64_t)s * columns / spikes->steps]++;
  json_t *all = json_array();
  for (uint32_t r = 0; r < rows; r++) {
    json_t *row = json_array();
    for (uint32_t c = 0; c < columns; c++)
      (void)json_array_append_new(row, json_integer((json_int_t)box[(size_t)r * columns + c]));
    (void)json_array_append_new(all, row);
  }
  free(box);
  return all;
}

json_t *cm_profile_report(const cm_profile *profile, bool peaks)
{
  tally inputs = {0}, others = {0};
  for (uint32_t v = 0; v < profile->topology->vertex_count; v++)
    add(profile->topology->dynamics->model[v] == CM_NEURON_INPUT ? &inputs : &others, profile->count[v]);
  json_t *made = json_pack("{s:s, s:f, s:I, s:o, s:o, s:I, s:o, s:o}", "semantics", profile->semantics->name, "dt", profile->dt, "steps",
                           (json_int_t)profile->steps, "neurons", told(profile, &others), "inputs", told(profile, &inputs),
                           "synaptic_events", (json_int_t)profile->events, "peak", peak(profile), "raster", cm_spikes_raster(&profile->spikes));
  if (made != NULL && profile->topology->population_count > 0)
    (void)json_object_set_new(made, "populations", populations(profile));
  char note[240];
  if (made != NULL && cm_spikes_miss_inputs(&profile->spikes, profile->topology, note, sizeof note))
    (void)json_object_set_new(made, "note", json_string(note));
  if (made != NULL && peaks)
    (void)json_object_set_new(made, "spikes_by_step", by_step(profile));
  return made;
}
