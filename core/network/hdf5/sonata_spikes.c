/* Spikes of a SONATA circuit, of the new layout by population or of the old one without. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/network/hdf5/h5.h"
#include "core/network/hdf5/sonata_circuit.h"
#include "core/network/rates.h"

/* Adds one population's spikes to its neurons' counts. */
static cm_status count_spikes(sonata_files *c, hid_t group, const char *ids, uint32_t p, cm_error *error)
{
  enum { SLICE = 1 << 15 };
  sonata *s = c->s;
  uint64_t count, times;
  double *time = NULL, last = 0;
  char units[16] = "";
  hid_t data;
  CM_TRY(sonata_length(c, group, ids, &count, error));
  CM_TRY(sonata_length(c, group, "timestamps", &times, error));
  if (times != count)
    return cm_h5_bad(&s->h5, group, "timestamps", "its length is another than that of the ids", error);
  CM_TRY(cm_h5_object(&s->h5, group, "timestamps", &data, error));
  cm_h5_attribute(data, "units", units, sizeof units);
  (void)H5Oclose(data);
  double milliseconds = strcmp(units, "s") == 0 || strcmp(units, "seconds") == 0 ? 1e3 : 1;
  cm_status status = CM_NEW(s->memory, time, SLICE, error);
  for (uint64_t at = 0; at < count && status == CM_OK; at += SLICE) {
    uint64_t here = count - at < SLICE ? count - at : SLICE;
    status = cm_h5_slice(&s->h5, group, ids, H5T_NATIVE_UINT64, at, here, s->source, error);
    CM_THEN(status, cm_h5_slice(&s->h5, group, "timestamps", H5T_NATIVE_DOUBLE, at, here, time, error));
    for (uint64_t i = 0; i < here && status == CM_OK; i++) {
      last = time[i] > last ? time[i] : last;
      const uint64_t row = sonata_row(s, p, s->source[i]);
      if (row != UINT64_MAX) {
        c->rate[s->first[p] + row]++;
        continue;
      }
      status = cm_h5_bad(&s->h5, group, ids, cm_say("node %llu spikes, of %llu in its population, which has no such id",
                                                    (unsigned long long)s->source[i], (unsigned long long)s->ids[p]).text, error);
    }
  }
  cm_free(time);
  if (status == CM_OK && c->seconds == 0 && last > 0) /* the configuration does not say how long */
    c->seconds = last * milliseconds / 1e3;
  c->measured[p] = status == CM_OK;
  return status;
}

static cm_status read_spiking(sonata_files *c, hid_t group, const char *name, cm_error *error)
{
  const cm_topology *made = c->s->made;
  if (H5Iget_type(group) != H5I_GROUP)
    return CM_OK; /* lists of the old layout */
  for (uint32_t p = 0; p < made->population_count; p++)
    if (strcmp(made->population[p].name, name) == 0)
      return count_spikes(c, group, "node_ids", p, error);
  if (cm_source_option(c->s->asked, CM_READ_POPULATION) != NULL)
    return CM_OK; /* of a population that is left out */
  return cm_h5_bad(&c->s->h5, group, NULL, cm_say("the circuit has no population '%.60s'", name).text, error);
}

/* The old layout has one list of ids, which must be those of the one population that is no input. */
cm_status sonata_spikes_read(sonata_files *c, cm_error *error)
{
  const cm_topology *made = c->s->made;
  const cm_h5 *h5 = &c->s->h5;
  hid_t group;
  uint32_t found = 0, p = 0;
  if (!cm_h5_has(h5->file, "spikes"))
    return CM_OK;
  CM_TRY_IF(c->rate == NULL, CM_NEW(c->s->memory, c->rate, made->vertex_count, error));
  CM_TRY(cm_h5_object(h5, h5->file, "spikes", &group, error));
  bool old = H5Iget_type(group) == H5I_GROUP && cm_h5_has(group, "gids");
  for (uint32_t i = 0; i < made->population_count; i++)
    if (strcmp(made->population[i].kind, CM_INPUT_KIND) != 0) {
      p = i;
      found++;
    }
  cm_status status = CM_OK;
  if (old)
    status = found == 1 ? count_spikes(c, group, "gids", p, error)
                        : cm_h5_bad(h5, group, "gids", "the circuit has several populations, and these ids do not say whose they "
                                    "are: write spikes by population, /spikes/NAME/node_ids", error);
  (void)H5Oclose(group);
  return status == CM_OK && !old ? sonata_for_members(c, "spikes", read_spiking, error) : status;
}

/* A circuit may have measured its inputs alone: whose rates are not known is reported. */
static void report_silent(const sonata_files *c)
{
  const cm_topology *made = c->s->made;
  char line[CM_READING_TEXT_MAX];
  for (uint32_t p = 0; p < made->population_count; p++) {
    if (c->measured[p])
      continue;
    (void)snprintf(line, sizeof line, "rates of %s (no spikes of it: each is 1)", made->population[p].name);
    cm_reading_add(c->s->asked->reading.ignored, line, strlen(line));
  }
}

/* Spikes over the time of the simulation are rates, in hertz; who was not measured keeps the rate of 1. */
cm_status sonata_spikes_set_rates(sonata_files *c, cm_error *error)
{
  cm_topology *made = c->s->made;
  if (c->rate == NULL)
    return CM_OK;
  if (c->seconds < 0)
    return sonata_circuit_bad(
      "spikes", "the archive has simulations of different lengths: config=NAME says of which one the spikes are", error);
  if (c->seconds == 0)
    return sonata_circuit_bad("spikes", "neither run.tstop of a configuration nor a spike says how long they were counted", error);
  for (uint32_t v = 0; v < made->vertex_count; v++)
    c->rate[v] = c->measured[made->population_of[v]] ? c->rate[v] / c->seconds : NAN;
  report_silent(c);
  return cm_topology_set_rates(made, c->rate, c->s->run, error);
}
