/* Writes the views of a mapping. What can fail: memory for the summary's JSON, and the stream. */
#include "core/output/views.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "core/measure/populations_of_parts.h"
#include "core/measure/scenario_metrics.h"
#include "core/network/identity.h"
#include "core/network/measured.h"
#include "core/output/view_writer.h"

typedef cm_view_writer writer;

static uint32_t core_x(const writer *w, uint32_t part)
{
  return w->mapping->core[part] % w->chip->width;
}

static uint32_t core_y(const writer *w, uint32_t part)
{
  return w->mapping->core[part] / w->chip->width;
}

/* ---- JSON of the summary ---- */

static json_t *network_json(const writer *w)
{
  return json_pack("{s:s?, s:b, s:I, s:I, s:I, s:b}", "id", w->network_id, "directed", w->demand->network->directed,
                   "neurons", (json_int_t)w->demand->network->vertex_count, "hyperedges",
                   (json_int_t)cm_topology_hyperedges(w->demand->network), "synapses",
                   (json_int_t)cm_topology_synapses(w->demand->network), "labels", w->demand->network->label_text != NULL);
}

static json_t *chip_json(const writer *w)
{
  json_t *chip = cm_chip_json(w->chip);
  if (chip == NULL || json_object_set_new(chip, "width", json_integer(w->chip->width)) != 0 ||
      json_object_set_new(chip, "height", json_integer(w->chip->height)) != 0) {
    json_decref(chip);
    return NULL;
  }
  return chip;
}

/* The options that shape a result; those that only say how it is computed would differ between equal mappings. */
static json_t *options_json(const writer *w)
{
  static const char *const how[] = {"threads", "memory_limit", "time_limit"};
  json_t *options = w->mapping->options == NULL ? json_object() : json_copy(w->mapping->options);
  for (size_t i = 0; options != NULL && i < sizeof how / sizeof *how; i++)
    (void)json_object_del(options, how[i]);
  return options;
}

static json_t *region_json(const writer *w)
{
  const cm_region *region = w->mapping->region;
  if (region == NULL)
    return json_null();
  return json_pack("{s:I, s:I, s:I, s:I, s:b, s:I}", "x", (json_int_t)region->x0, "y", (json_int_t)region->y0,
                   "width", (json_int_t)region->width, "height", (json_int_t)region->height, "rectangle",
                   region->rectangle, "cores", (json_int_t)region->core_count);
}

static json_t *measured_json(const cm_measured *m)
{
  return json_pack("{s:I, s:I, s:s, s:f}", "steps", (json_int_t)m->steps, "windows", (json_int_t)m->windows, "semantics", m->semantics, "dt", m->dt);
}

/* NULL: none. */
static json_t *pacing_json(const cm_pacing *pacing)
{
  return pacing->turn != NULL ? json_pack("{s:f, s:f}", "ns", pacing->ns, "step_ns", pacing->step_ns) : NULL;
}

static json_t *summary_json(const writer *w)
{
  json_t *report = w->mapping->report == NULL ? json_object() : json_incref(w->mapping->report);
  const cm_mapping *m = w->mapping;
  const cm_measured *measured = w->demand->network->measured;
  json_t *scenarios = m->scenario_count > 0 ? cm_scenarios_json(m, w->demand->network) : NULL;
  if (m->scenario_count > 0 && scenarios == NULL) {
    json_decref(report);
    return NULL;
  }
  return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o*, s:o*, s:o*, s:o, s:o}", "format", "coremapd mapping 1", "populations",
                   cm_populations_json(w->demand, m->part, m->part_count), "network",
                   network_json(w), "chip", chip_json(w), "options", options_json(w), "region", region_json(w),
                   "parts", (json_int_t)w->mapping->part_count, "bound", cm_bound_json(&w->mapping->bound), "metrics",
                   cm_metrics_json(&w->mapping->metrics), "pacing", pacing_json(&m->pacing), "scenarios", scenarios, "measured", measured != NULL ? measured_json(measured) : NULL, "attempts",
                   cm_attempts_json(w->mapping->attempts, w->mapping->attempt_count, false), "report", report);
}

/* One number a neuron. */
static void put_neuron_list(writer *w, const char *lead, const uint32_t *number)
{
  cm_view_put_text(w, lead);
  for (uint32_t v = 0; v < w->mapping->vertex_count; v++) {
    if (v > 0)
      cm_view_put_text(w, v % 32 == 0 ? ",\n" : ",");
    cm_view_put_count(w, number[v]);
  }
  cm_view_put_text(w, "]");
}

static void put_numbers(writer *w, const char *name, const uint64_t *number, uint64_t count)
{
  (void)fprintf(w->stream, ",\n\"%s\": [", name);
  for (uint64_t i = 0; i < count; i++) {
    if (i > 0)
      cm_view_put_text(w, i % 32 == 0 ? ",\n" : ",");
    cm_view_put_count(w, number[i]);
  }
  cm_view_put_text(w, "]");
}

/* Who each neuron is, so that a later version of the network can be mapped from this mapping. */
static cm_status put_keys(writer *w)
{
  cm_run run;
  uint64_t *key;
  cm_run_init(&run);
  if (CM_NEW(NULL, key, w->demand->network->vertex_count, w->error) != CM_OK)
    return w->error->status;
  cm_status status = cm_identify(w->demand, &run, key, w->error);
  if (status == CM_OK)
    put_numbers(w, "keys", key, w->demand->network->vertex_count);
  cm_free(key);
  return status;
}

/* The summary, and after its fields the bulk when `full`. */
static cm_status write_summary(writer *w, bool full)
{
  json_t *summary = summary_json(w);
  if (summary == NULL)
    return cm_whole(false, "the mapping's summary", w->error);
  const char *key;
  json_t *value;
  bool failed = false, first = true;
  json_object_foreach(summary, key, value)
  {
    (void)fprintf(w->stream, "%s\"%s\": ", first ? "{" : ",\n", key);
    first = false;
    /* Through memory: jansson's own writing to a stream cannot tell a full disk from a lack of memory. */
    char *text = cm_json_dumps(value, JSON_ENCODE_ANY);
    if (text == NULL)
      failed = true;
    else
      cm_view_put_text(w, text);
    free(text);
  }
  json_decref(summary);
  if (failed)
    return cm_whole(false, "the mapping's summary", w->error);
  if (full) {
    cm_put_cores(w, ",\n\"cores\": [");
    put_neuron_list(w, ",\n\"neurons\": [", w->mapping->part);
    if (w->mapping->pacing.turn != NULL)
      put_neuron_list(w, ",\n\"turns\": [", w->mapping->pacing.turn);
    if (put_keys(w) != CM_OK)
      return w->error->status;
    const cm_measured *m = w->demand->network->measured;
    if (m != NULL) {
      put_numbers(w, "spikes", m->spikes, (uint64_t)m->windows * m->neurons);
      put_numbers(w, "stimulus", m->stimulus, 2 * m->inputs);
    }
  }
  cm_view_put_text(w, "}\n");
  return CM_OK;
}

static cm_status write_summary_json(writer *w)
{
  return write_summary(w, false);
}

static cm_status write_full_json(writer *w)
{
  return write_summary(w, true);
}

/* ---- neurons ---- */

static cm_status write_neurons_json(writer *w)
{
  cm_view_put_text(w, "{\"count\": ");
  cm_view_put_count(w, w->mapping->vertex_count);
  cm_view_put_text(w, ", \"parts\": ");
  cm_view_put_count(w, w->mapping->part_count);
  cm_view_put_text(w, ",\n\"cores\": [");
  for (uint32_t p = 0; p < w->mapping->part_count; p++)
    (void)fprintf(w->stream, "%s[%" PRIu32 ",%" PRIu32 "]", p == 0 ? "" : ",", core_x(w, p), core_y(w, p));
  put_neuron_list(w, "],\n\"neurons\": [", w->mapping->part);
  cm_view_put_text(w, "}\n");
  return CM_OK;
}

static cm_status write_neurons_csv(writer *w)
{
  cm_view_put_text(w, "neuron,name,part,x,y\n");
  for (uint32_t v = 0; v < w->mapping->vertex_count; v++) {
    uint32_t part = w->mapping->part[v];
    cm_view_put_count(w, v);
    cm_view_put_text(w, ",");
    cm_csv_cell(w->stream, cm_topology_label(w->demand->network, v));
    cm_view_put_text(w, ",");
    cm_view_put_count(w, part);
    cm_view_put_text(w, ",");
    cm_view_put_count(w, core_x(w, part));
    cm_view_put_text(w, ",");
    cm_view_put_count(w, core_y(w, part));
    cm_view_put_text(w, "\n");
  }
  return CM_OK;
}

/* ---- for outside graders ---- */

static cm_status write_part(writer *w)
{
  for (uint32_t v = 0; v < w->mapping->vertex_count; v++) {
    cm_view_put_count(w, w->mapping->part[v]);
    cm_view_put_text(w, "\n");
  }
  return CM_OK;
}

static cm_status write_placement_csv(writer *w)
{
  cm_view_put_text(w, "part,x,y\n");
  for (uint32_t p = 0; p < w->mapping->part_count; p++)
    (void)fprintf(w->stream, "%" PRIu32 ",%" PRIu32 ",%" PRIu32 "\n", p, core_x(w, p), core_y(w, p));
  return CM_OK;
}

static const struct {
  const char *name;
  cm_status (*write)(writer *w);
} views[CM_VIEWS_ALL] = {
  [CM_VIEW_SUMMARY_JSON] = {"summary.json", write_summary_json}, [CM_VIEW_FULL_JSON] = {"mapping.json", write_full_json},
  [CM_VIEW_NEURONS_JSON] = {"neurons.json", write_neurons_json}, [CM_VIEW_NEURONS_CSV] = {"neurons.csv", write_neurons_csv},
  [CM_VIEW_NEURONS_BINARY] = {"neurons.bin", cm_write_neurons_binary}, [CM_VIEW_CORES_JSON] = {"cores.json", cm_write_cores_json},
  [CM_VIEW_CORES_CSV] = {"cores.csv", cm_write_cores_csv}, [CM_VIEW_CORES_BINARY] = {"cores.bin", cm_write_cores_binary},
  [CM_VIEW_LINKS_JSON] = {"links.json", cm_write_links_json}, [CM_VIEW_LINKS_CSV] = {"links.csv", cm_write_links_csv},
  [CM_VIEW_LINKS_BINARY] = {"links.bin", cm_write_links_binary}, [CM_VIEW_PART] = {"mapping.part", write_part},
  [CM_VIEW_PLACEMENT_CSV] = {"placement.csv", write_placement_csv}, [CM_VIEW_ROUTES_JSON] = {"routes.json", NULL},
  [CM_VIEW_ROUTES_CSV] = {"routes.csv", NULL}, [CM_VIEW_ROUTES_BINARY] = {"routes.bin", NULL},
  [CM_VIEW_CERTIFICATE_JSON] = {"certificate.json", NULL}, [CM_VIEW_STRUCTURE] = {"structure.bin", NULL},
};

const char *cm_mapping_view_name(cm_mapping_view view)
{
  return views[view].name;
}

cm_status cm_mapping_write(const cm_mapping *mapping, const cm_demand *demand, const cm_chip *chip,
                           const char *network_id, cm_mapping_view view, FILE *stream, cm_error *error)
{
  writer w = {mapping, demand, chip, network_id, stream, error};
  uint64_t refusals = cm_json_refusals();
  errno = 0;
  cm_status status = views[view].write(&w);
  CM_THEN(status, cm_json_whole(refusals, views[view].name, error));
  if (status != CM_OK)
    return status;
  if (fflush(stream) != 0 || ferror(stream) != 0)
    return cm_fail_errno(error, errno != 0 ? errno : EIO, "cannot write", views[view].name);
  return CM_OK;
}

cm_status cm_mapping_write_folder(const cm_mapping *mapping, const cm_demand *demand, const cm_chip *chip, const char *network_id,
                                  const char *folder, cm_error *error)
{
  cm_status status = cm_folder_make(folder, error);
  for (int view = 0; status == CM_OK && view < CM_VIEWS; view++) {
    char path[CM_PATH_MAX];
    cm_file file = {0};
    if ((status = cm_path(path, error, "%s/%s", folder, views[view].name)) != CM_OK ||
        (status = cm_file_create(&file, path, error)) != CM_OK)
      return status;
    status = cm_file_end(&file, cm_mapping_write(mapping, demand, chip, network_id, (cm_mapping_view)view, file.stream, error), error);
  }
  return status;
}
