/* What is told of a deployment, and its files. */
#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"
#include "core/deploy/bench_words.h"
#include "core/deploy/deploy.h"
#include "core/deploy/emitters.h"
#include "core/deploy/images_file.h"
#include "core/spiking/coefficients.h"

static uint64_t spikes_of(const cm_integer_network *n, const cm_spikes *s)
{
  uint64_t all = 0;
  for (uint64_t i = 0; i < s->first[s->steps]; i++)
    all += !n->input[s->neuron[i]];
  return all;
}

/* How spikes differ from others: how many, and in which step first. */
static json_t *difference(const cm_integer_network *n, const cm_spikes *a, const cm_spikes *b)
{
  uint32_t first;
  const uint64_t differing = cm_spikes_differ(n, a, b, NULL, &first);
  return json_pack("{s:I, s:o}", "spikes", (json_int_t)differing, "first_step", first == UINT32_MAX ? json_null() : json_integer(first));
}

static json_t *peak(const cm_images *m, const cm_image_peak *p, uint64_t limit, bool core)
{
  return json_pack("{s:I, s:I, s:o, s:o*}", "most", (json_int_t)p->most, "step", (json_int_t)p->step, "limit", limit > 0 ? json_integer((json_int_t)limit) : json_null(),
                   "core", core && m->cores > 0 ? json_integer(m->image[p->image].core) : NULL);
}

/* By population: its scale, spikes, and those that differ. */
static json_t *populations(const cm_deployment *d)
{
  const cm_integer_network *n = &d->network;
  const cm_topology *t = n->topology;
  json_t *list = json_array();
  uint32_t first;
  uint64_t *differing = calloc((size_t)n->groups + 1, sizeof *differing), *spikes = calloc((size_t)n->groups + 1, sizeof *spikes);
  if (differing != NULL && spikes != NULL && t->population_of != NULL) {
    (void)cm_spikes_differ(n, &d->on_chip.spikes, &d->result.network, differing, &first);
    for (uint64_t i = 0; i < d->result.network.first[d->result.network.steps]; i++)
      spikes[n->group[d->result.network.neuron[i]]]++;
    for (uint32_t g = 0; g < t->population_count; g++)
      (void)json_array_append_new(list, json_pack("{s:s, s:f, s:I, s:I, s:I}", "name", t->population[g].name, "scale", d->quantised.scale[g], "spikes",
                                                  (json_int_t)spikes[g], "differing", (json_int_t)differing[g], "clamped_v",
                                                  (json_int_t)d->quantised.result.clamped[g]));
  }
  free(differing);
  free(spikes);
  return list;
}

static json_t *limit(uint64_t most)
{
  return most > 0 ? json_integer((json_int_t)most) : json_null();
}

/* What each core in use holds, by kinds of neurons, and its fullest step. */
static json_t *cores(const cm_deployment *d)
{
  const cm_images *m = &d->images;
  json_t *list = json_array();
  for (uint32_t i = 0; i < m->cores; i++) {
    const cm_core_image *c = &m->image[i];
    json_int_t kind[CM_IMAGE_KINDS] = {0};
    for (uint64_t k = 0; k < c->neurons; k++)
      kind[c->neuron[k].kind]++;
    (void)json_array_append_new(list, json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "core", (json_int_t)c->core, "x", (json_int_t)(c->core % m->chip->width), "y",
                                                (json_int_t)(c->core / m->chip->width), "neurons", kind[CM_IMAGE_NEURON] + kind[CM_IMAGE_INPUT], "copies",
                                                kind[CM_IMAGE_COPY], "relays", kind[CM_IMAGE_RELAY], "biases", kind[CM_IMAGE_BIAS], "synapses", (json_int_t)c->entries,
                                                "routes", (json_int_t)c->routes, "spikes", (json_int_t)d->result.most[i]));
  }
  return list;
}

/* Spikes that one of both has and the other has not, in boxes; NULL: no memory. */
static json_t *differing_raster(const cm_spikes *a, const cm_spikes *b)
{
  cm_spikes d = {.neurons = a->neurons, .steps = a->steps};
  uint64_t count = 0;
  d.first = calloc((size_t)a->steps + 1, sizeof *d.first);
  d.neuron = calloc(a->first[a->steps] + b->first[a->steps] + 1, sizeof *d.neuron);
  for (uint32_t s = 0; s < a->steps && d.first != NULL && d.neuron != NULL; s++) {
    uint64_t i = a->first[s], j = b->first[s];
    while (i < a->first[s + 1] || j < b->first[s + 1]) {
      const uint32_t x = i < a->first[s + 1] ? a->neuron[i] : UINT32_MAX, y = j < b->first[s + 1] ? b->neuron[j] : UINT32_MAX;
      i += x <= y;
      j += y <= x;
      if (x != y)
        d.neuron[count++] = x < y ? x : y;
    }
    d.first[s + 1] = count;
  }
  json_t *made = d.first != NULL && d.neuron != NULL ? cm_spikes_raster(&d) : NULL;
  free(d.first);
  free(d.neuron);
  return made;
}

/* The report without what is drawn. */
static json_t *numbers(const cm_deployment *d)
{
  const cm_integer_network *n = &d->network;
  const cm_images *m = &d->images;
  const cm_image_limits *l = &m->chip->images;
  uint64_t kind[CM_IMAGE_KINDS] = {0}, entries = 0, routes = 0;
  for (uint32_t i = 0; i < m->cores; i++) {
    entries += m->image[i].entries;
    routes += m->image[i].routes;
    for (uint64_t k = 0; k < m->image[i].neurons; k++)
      kind[m->image[i].neuron[k].kind]++;
  }
  return json_pack("{s:s, s:s, s:f, s:I, s:I, s:I, s:I, s:{s:I, s:I, s:I, s:I, s:I, s:I, s:I}, s:{s:I, s:I, s:I, s:I, s:I}, s:o, s:o, s:o, s:I, s:I, s:{s:o, s:o, s:o, s:o}, s:f, s:o}",
                   "chip", m->chip->name, "semantics", d->reference->semantics->name, "dt", d->reference->dt, "steps", (json_int_t)m->network_steps, "chip_steps",
                   (json_int_t)m->steps, "synapse_steps", (json_int_t)n->hop, "loop_steps", (json_int_t)n->loop,
                   "images", "cores", (json_int_t)m->cores, "neurons", (json_int_t)(kind[CM_IMAGE_NEURON] + kind[CM_IMAGE_INPUT]), "copies",
                   (json_int_t)kind[CM_IMAGE_COPY], "relays", (json_int_t)kind[CM_IMAGE_RELAY], "biases", (json_int_t)kind[CM_IMAGE_BIAS], "synapses", (json_int_t)entries,
                   "routes", (json_int_t)routes,
                   "spikes", "reference", (json_int_t)spikes_of(n, &d->reference->spikes), "on_chip", (json_int_t)spikes_of(n, &d->on_chip.spikes), "quantised",
                   (json_int_t)spikes_of(n, &d->quantised.result.spikes), "images", (json_int_t)spikes_of(n, &d->result.network), "all", (json_int_t)d->result.spikes,
                   "longer_loops", difference(n, &d->reference->spikes, &d->on_chip.spikes), "quantising",
                   difference(n, &d->on_chip.spikes, &d->quantised.result.spikes), "mapping", difference(n, &d->quantised.result.spikes, &d->result.network),
                   "clamped", (json_int_t)d->quantised.clamped, "runs", (json_int_t)d->quantised.runs, "peaks", "spikes", peak(m, &d->result.spikes_peak, l->spikes_per_step, true), "sent", peak(m, &d->result.sent_peak, 0, true),
                   "packets", peak(m, &d->result.packets_peak, l->packets_per_step, false), "delayed", peak(m, &d->result.delayed_peak, l->delayed_per_step, true),
                   "clocks_per_step", m->steps > 0 ? (double)d->result.clocks / m->steps : 0.0, "populations", populations(d));
}

json_t *cm_deployment_report(const cm_deployment *d)
{
  json_t *made = numbers(d);
  const cm_chip *chip = d->images.chip;
  const cm_image_limits *l = &chip->images;
  if (made != NULL &&
      (json_object_set_new(made, "limits", json_pack("{s:o, s:o, s:o}", "neurons", limit(chip->limits.neurons), "synapses", limit(l->pool_entries), "spikes",
                                                     limit(l->spikes_per_step))) != 0 ||
       json_object_set_new(made, "cores", cores(d)) != 0 ||
       json_object_set_new(made, "raster", json_pack("{s:o, s:o, s:o}", "reference", cm_spikes_raster(&d->reference->spikes), "chip",
                                                     cm_spikes_raster(&d->result.network), "differing",
                                                     differing_raster(&d->reference->spikes, &d->result.network))) != 0)) {
    json_decref(made);
    return NULL;
  }
  return made;
}

/* ---- files ---- */

static cm_status write_commands(const cm_deployment *d, FILE *stream, cm_error *error)
{
  cm_emit *emit;
  return cm_emitter_find(d->images.chip, &emit, error) == CM_OK ? emit(&d->images, &d->on_chip.spikes, stream, error) : error->status;
}

static cm_status write_expected(const cm_deployment *d, FILE *stream, CM_UNUSED cm_error *error)
{
  cm_images_print_spikes(&d->result, stream);
  return CM_OK;
}

static cm_status write_images(const cm_deployment *d, FILE *stream, CM_UNUSED cm_error *error)
{
  cm_images_print(&d->images, &d->on_chip.spikes, stream);
  return CM_OK;
}

static cm_status write_binary(const cm_deployment *d, FILE *stream, CM_UNUSED cm_error *error)
{
  cm_images_put(&d->images, &d->on_chip.spikes, stream);
  return CM_OK;
}

static cm_status write_report(const cm_deployment *d, FILE *stream, cm_error *error)
{
  json_t *report = cm_deployment_report(d);
  const bool whole = report != NULL && cm_json_dumpf(report, stream, JSON_COMPACT | JSON_REAL_PRECISION(12)) == 0;
  json_decref(report);
  (void)fputc('\n', stream);
  return cm_whole(whole, "the report", error);
}

/* Spikes by the network's own steps and names. */
static cm_status write_table(const cm_deployment *d, const cm_spikes *spikes, const char *folder, const char *name, cm_error *error)
{
  char path[CM_PATH_MAX];
  cm_profile own = *d->reference;
  own.spikes = *spikes;
  return cm_path(path, error, "%s/%s", folder, name) == CM_OK ? cm_profile_write_spikes(&own, path, error) : error->status;
}

static cm_status write_bench(const char *folder, cm_error *error)
{
  char commands[CM_PATH_MAX], path[CM_PATH_MAX];
  CM_TRY(cm_path(commands, error, "%s/commands.txt", folder));
  CM_TRY(cm_path(path, error, "%s/bench.mem", folder));
  return cm_bench_words_write(commands, path, error);
}

static cm_status write_tables(const cm_deployment *d, const char *folder, cm_error *error)
{
  cm_spikes inputs = {0};
  cm_status status = cm_deploy_inputs(d->reference, d->images.memory, &inputs, error);
  CM_THEN(status, write_table(d, &inputs, folder, "inputs.csv", error));
  cm_spikes_free(&inputs);
  return status == CM_OK ? write_table(d, &d->result.network, folder, "spikes.csv", error) : status;
}

cm_status cm_deployment_write(const cm_deployment *d, const char *folder, cm_error *error)
{
  static const struct {
    const char *name;
    cm_status (*write)(const cm_deployment *d, FILE *stream, cm_error *error);
  } files[] = {{"images.json", write_images}, {"images.bin", write_binary}, {"commands.txt", write_commands}, {"expected.txt", write_expected}, {"report.json", write_report}};
  char path[CM_PATH_MAX];
  cm_file file;
  CM_TRY(cm_folder_make(folder, error));
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    CM_TRY(cm_path(path, error, "%s/%s", folder, files[i].name));
    CM_TRY(cm_file_create(&file, path, error));
    if (files[i].write(d, file.stream, error) != CM_OK) {
      cm_file_discard(&file);
      return error->status;
    }
    CM_TRY(cm_file_commit(&file, error));
  }
  return write_bench(folder, error) == CM_OK ? write_tables(d, folder, error) : error->status;
}
