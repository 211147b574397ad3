/* Whole jobs made of bytes: a degenerate network, a chip and its occupancy, options; mapped, checked, written in every
 * view, routed and certified. A refusal has a reason, a mapping is legal to the independent check, and the account is
 * empty afterwards; anything else aborts. Bytes that are missing are 0, so that any string is a job. */
#pragma once

#include <jansson.h>

#include "core/output/beside.h"
#include "core/verify/certificate.h"
#include "core/output/views.h"
#include "core/solver/map.h"
#include "core/mapping/options.h"
#include "core/routing/routes.h"
#include "old.h"

enum { JOB_VERTICES_MAX = 40, JOB_POPULATIONS_MAX = 7, JOB_PINS_MAX = JOB_VERTICES_MAX * JOB_VERTICES_MAX };

typedef struct job_bytes {
  const uint8_t *data;
  size_t size, at;
} job_bytes;

static inline uint32_t job_byte(job_bytes *b)
{
  return b->at < b->size ? b->data[b->at++] : 0;
}

static inline void job_demand(bool holds, const char *what)
{
  if (!holds) {
    fprintf(stderr, "%s\n", what);
    abort();
  }
}

/* ---- the network ---- */

typedef struct job_network {
  cm_topology topology;
  uint64_t first[JOB_VERTICES_MAX + 1], weight[JOB_VERTICES_MAX];
  uint32_t pin[JOB_PINS_MAX], pin_weight[JOB_PINS_MAX], size[JOB_VERTICES_MAX], source[JOB_VERTICES_MAX];
  bool edge[JOB_VERTICES_MAX][JOB_VERTICES_MAX];
  cm_population population[JOB_POPULATIONS_MAX];
  uint32_t population_of[JOB_VERTICES_MAX];
} job_network;

enum { JOB_ISOLATED, JOB_STAR, JOB_CLIQUE, JOB_RING, JOB_LOOPS, JOB_LOW_BYTES, JOB_BYTES, JOB_SHAPES };

static inline void job_edges(job_network *w, uint32_t n, uint32_t shape, job_bytes *b)
{
  for (uint32_t v = 0; v < n; v++)
    for (uint32_t u = 0; u < n; u++)
      switch (shape) {
        case JOB_STAR: w->edge[v][u] = v == 0 && u != 0; break;
        case JOB_CLIQUE: w->edge[v][u] = v != u; break;
        case JOB_RING: w->edge[v][u] = u == (v + 1) % n; break;
        case JOB_LOOPS: w->edge[v][u] = u == v; break;
        case JOB_LOW_BYTES: w->edge[v][u] = job_byte(b) % 8 == 1; break;
        case JOB_BYTES: w->edge[v][u] = job_byte(b) & 1; break;
        default: w->edge[v][u] = false;
      }
}

/* Neurons in turns, or side by side; the last bytes of a job, so that most have none. */
static inline void job_populations(job_network *w, job_bytes *b)
{
  cm_topology *t = &w->topology;
  uint32_t how = job_byte(b), count = how % (JOB_POPULATIONS_MAX + 1), n = t->vertex_count;
  if (count == 0)
    return;
  for (uint32_t k = 0; k < count; k++)
    snprintf(w->population[k].name, sizeof w->population[k].name, "p%u", k);
  for (uint32_t v = 0; v < n; v++)
    w->population_of[v] = how & 128 ? v * count / n : v % count;
  t->population_count = count;
  t->population = w->population;
  t->population_of = w->population_of;
}

static inline void job_network_read(job_network *w, job_bytes *b)
{
  static const uint32_t weights[] = {1, 0, 7, UINT32_MAX};
  *w = (job_network){.topology = {.weight_scale = 1}};
  cm_topology *t = &w->topology;
  uint32_t n = job_byte(b) % (JOB_VERTICES_MAX + 1), kind = job_byte(b), kept = 0;
  bool weighted = kind & 2, sized = kind & 4;
  t->directed = kind & 1;
  t->vertex_count = n;
  uint32_t heavy = weights[kind >> 3 & 3];
  job_edges(w, n, (kind >> 5) % JOB_SHAPES, b);
  for (uint32_t v = 0; v < n; v++) {
    uint64_t before = t->pin_count;
    for (uint32_t u = 0; u < n; u++)
      if (t->directed ? w->edge[v][u] : u != v && (w->edge[v][u] || w->edge[u][v])) {
        w->pin_weight[t->pin_count] = (u + v) % 3 == 0 ? heavy : 1; /* the same from both ends */
        w->pin[t->pin_count++] = u;
      }
    w->size[v] = sized ? 1 + (v * 5 + n) % 7 : 1;
    t->size_total += w->size[v];
    if (!t->directed)
      w->first[v + 1] = t->pin_count;
    else if (t->pin_count > before) {
      w->source[kept] = v;
      w->weight[kept] = v % 2 == 0 ? heavy : 1;
      w->first[++kept] = t->pin_count;
    }
  }
  t->net_count = t->directed ? kept : n;
  t->net_first = w->first;
  t->pin = w->pin;
  t->size = sized ? w->size : NULL;
  t->pin_weight = weighted ? w->pin_weight : NULL;
  if (t->directed) {
    t->net_source = w->source;
    t->net_weight = w->weight;
  }
  job_populations(w, b);
  cm_error error;
  if (cm_topology_verify(t, &error) != CM_OK)
    job_demand(false, error.detail);
}

/* ---- chip, occupancy, options ---- */

static inline cm_chip *job_chip(job_bytes *b)
{
  static const uint32_t limits[] = {0, 1, 2, 5, 20, 1000, 3, 8};
  static const char *const names[] = {"neurons", "synapses", "inbound_axons", "outbound_axons", "target_cores"};
  uint32_t shape = job_byte(b), more = job_byte(b), width = 1 + shape % 6, height = 1 + shape / 6 % 6;
  json_t *asked = json_object();
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    uint32_t limit = limits[job_byte(b) % 8];
    if (limit != 0)
      json_object_set_new(asked, names[i], json_integer(limit));
  }
  json_t *json = json_pack(
      "{s:s, s:[i,i], s:[i,i], s:[b,b], s:o, s:{s:f, s:f, s:f}, s:s}", "name", "c", "dies", 1 + (int)(more & 1),
      1 + (int)(more >> 1 & 1), "cores", (int)width, (int)height, "torus", (int)(more >> 2 & 1), (int)(more >> 3 & 1),
      "limits", asked, "energy_pj", "router", more & 16 ? 0.0 : 1.5, "link", more & 32 ? 0.0 : 0.25, "die_to_die",
      more & 64 ? 1e12 : 2.0, "routing", more & 128 ? "yx" : "xy");
  json_t *dead = json_array();
  static const char *const ways[] = {"east", "west", "south", "north"};
  uint32_t links = job_byte(b) % 4, all_x = width * (1 + (more & 1)), all_y = height * (1 + (more >> 1 & 1));
  for (uint32_t i = 0; i < links; i++) {
    uint32_t where = job_byte(b);
    json_array_append_new(dead, json_pack("[i,i,s]", (int)(where % all_x), (int)(where / all_x % all_y), ways[where >> 6]));
  }
  json_object_set_new(json, "dead_links", dead);
  char *text = json_dumps(json, 0);
  json_decref(json);
  cm_chip *chip = NULL;
  cm_error error;
  if (cm_chip_parse(text, strlen(text), &chip, &error) != CM_OK) {
    job_demand(error.status == CM_BAD_CHIP, error.detail); /* a link that is not there */
    chip = NULL;
  }
  free(text);
  return chip;
}

static inline void job_memory(cm_chip *chip, uint32_t memory)
{
  cm_limits *l = &chip->limits;
  if (memory == 0)
    return;
  l->memory_bits = (uint64_t)memory * 16;
  l->neuron_bits = 3;
  l->synapse_bits = 2;
  l->axon_bits = memory & 1 ? 5 : 0;
}

/* One or two classes of cores, which take the first or second population (the second any), with tighter limits or the chip's. */
static inline void job_classes(cm_chip *chip, uint32_t how)
{
  cm_error error;
  uint32_t count = 1 + (how & 1), cores = cm_chip_cores(chip);
  if (how == 0 || cores < 2)
    return;
  job_demand(CM_NEW(NULL, chip->classes, count, &error) == CM_OK && CM_NEW(NULL, chip->class_of, cores, &error) == CM_OK, "no memory");
  chip->class_count = count;
  for (uint32_t c = 0; c < cores; c++) /* by columns, or in turns; every class has a core */
    chip->class_of[c] = (uint8_t)((c < count ? c + 1 : (how & 2 ? c % chip->width : c) % (count + (how >> 2 & 1)) + 1) % (count + 1));
  for (uint32_t k = 0; k < count; k++) {
    cm_core_class *class = &chip->classes[k];
    snprintf(class->name, sizeof class->name, "class %u", k);
    class->own_limits = how >> 3 & 1;
    class->limits = (cm_limits){.neurons = class->own_limits ? 1 + (how >> 4) : 0, .populations = class->own_limits ? how >> 7 : 0};
    if (k == 1)
      continue;
    class->label_count = 1;
    job_demand(CM_NEW(NULL, class->label, 1, &error) == CM_OK && CM_NEW(NULL, class->label[0], 3, &error) == CM_OK, "no memory");
    snprintf(class->label[0], 3, "p%u", how >> 5 & 1);
  }
}

static inline cm_occupancy *job_occupancy(job_bytes *b, const cm_chip *chip)
{
  cm_occupancy *occupancy;
  cm_error error;
  uint32_t share = job_byte(b);
  if (cm_occupancy_new(chip, &occupancy, &error) != CM_OK)
    job_demand(false, error.detail);
  for (uint32_t c = 0; share % 4 != 0 && c < cm_chip_cores(chip); c++)
    if (share % 4 == 3 || (c * 7 + share) % 5 == 0)
      occupancy->state[c] = c % 2 == 0 ? CM_CORE_TAKEN : CM_CORE_BROKEN;
  return occupancy;
}

static inline json_t *job_options(job_bytes *b)
{
  static const char *const presets[] = {"fast", "balanced", "reference", "best"},
                           *const mappers[] = {"auto", "bisection", "two-phase", "integrated", "learned"},
                           *const objectives[] = {"auto", "edge", "axon"},
                           *const rules[] = {"auto", "xy", "yx", "west-first", "north-last", "negative-first"};
  uint32_t how = job_byte(b), parts = job_byte(b), rest = job_byte(b);
  json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i}", "preset", presets[how % 4], "mapper",
                           mappers[how / 4 % 5], "objective", objectives[how / 20 % 3], "traffic_model",
                           how / 60 % 2 ? "multicast" : "unicast", "routing", rules[rest % 6], "route_model",
                           rest / 6 % 2 ? "unicast" : "multicast", "threads", 1 + (int)(rest / 12 % 2));
  if (parts % 3 == 1)
    json_object_set_new(json, "parts", json_integer(parts / 3));
  if (parts % 3 == 2)
    json_object_set_new(json, "max_part_size", json_integer(parts / 3));
  return json;
}

/* ---- the job ---- */

static inline bool job_refusal(cm_status status)
{
  return status == CM_NO_ROOM || status == CM_LIMIT_BROKEN || status == CM_NEURON_TOO_LARGE || status == CM_BAD_OPTION ||
         status == CM_TOO_LARGE || status == CM_NO_ROUTE || status == CM_MEMORY_LIMIT;
}

/* A stream on memory, or NULL: CM_VIEW_FULL_JSON to a file of its own for those that read paths. */
static inline void job_views(const cm_mapping *mapping, const cm_demand *demand, const cm_chip *chip)
{
  for (int view = 0; view < CM_VIEWS; view++) {
    char *text = NULL;
    size_t size = 0;
    cm_error error;
    FILE *stream = open_memstream(&text, &size);
    if (cm_mapping_write(mapping, demand, chip, "n", (cm_mapping_view)view, stream, &error) != CM_OK)
      job_demand(false, error.detail);
    fclose(stream);
    free(text);
  }
}

static inline void job_legal(cm_check_result *result)
{
  for (uint32_t i = 0; i < result->listed; i++)
    fprintf(stderr, "violation: %s\n", result->violations[i]);
  job_demand(result->violation_count == 0, "the mapping is not legal");
  cm_check_result_free(result);
}

static inline void job_check(const cm_mapping *mapping, const cm_map_input *input, cm_run *run)
{
  char *text = NULL, *proof = NULL, path[64], proof_path[64];
  size_t size = 0, proof_size = 0;
  int handle, proof_handle;
  cm_error error;
  cm_check_result result;
  FILE *stream = open_memstream(&text, &size);
  if (cm_mapping_write(mapping, input->demand, input->chip, NULL, CM_VIEW_FULL_JSON, stream, &error) != CM_OK)
    job_demand(false, error.detail);
  fclose(stream);
  old_file(text, size, &handle, path);
  if (cm_check_mapping(
        path, &(cm_check_context){.demand = input->demand, .chip = input->chip, .occupancy = input->occupancy, .run = run},
        &result, &error) != CM_OK)
    job_demand(false, error.detail);
  job_legal(&result);
  stream = open_memstream(&proof, &proof_size);
  if (cm_mapping_certify(
        mapping,
        &(cm_check_context){
          .demand = input->demand, .chip = input->chip, .occupancy = input->occupancy, .network_id = "00", .run = run},
        stream, &error) != CM_OK)
    job_demand(false, error.detail);
  fclose(stream);
  old_file(proof, proof_size, &proof_handle, proof_path);
  if (cm_certificate_check(
        proof_path, path,
        &(cm_check_context){
          .demand = input->demand, .chip = input->chip, .occupancy = input->occupancy, .network_id = "00", .run = run},
        &result, &error) != CM_OK)
    job_demand(false, error.detail);
  job_legal(&result);
  close(handle);
  close(proof_handle);
  free(text);
  free(proof);
}

static inline void job_routes(const cm_mapping *mapping, const cm_map_input *input, cm_run *run)
{
  cm_error error = {.status = CM_OK};
  cm_routes *routes = NULL;
  bool own;
  cm_route_options options = cm_routes_wanted(input->options, input->chip, &own);
  const cm_mapped mapped = cm_mapped_by(mapping, input->demand, input->chip);
  cm_status status = cm_routes_make(&mapped, &options, run, &routes, &error);
  job_demand(status == CM_OK || (job_refusal(status) && error.detail[0] != '\0'), error.detail);
  for (int view = CM_ROUTES_JSON; status == CM_OK && view <= CM_ROUTES_BINARY; view++) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (cm_routes_write(routes, (cm_routes_view)view, run, stream, &error) != CM_OK)
      job_demand(false, error.detail);
    fclose(stream);
    free(text);
  }
  cm_routes_free(routes);
}

/* What a job may take: a fuzzer wants many, and is sanitized. */
#ifndef JOB_SECONDS
#define JOB_SECONDS 60
#endif

/* Carries out the job of these bytes; the status of the mapping, CM_BAD_CHIP when the bytes make no chip. */
static inline cm_status whole_job(const uint8_t *data, size_t size)
{
  job_bytes bytes = {data, size, 0};
  json_t *json = job_options(&bytes);
  cm_chip *chip = job_chip(&bytes);
  cm_status status = CM_BAD_CHIP;
  if (chip != NULL) {
    cm_occupancy *occupancy = job_occupancy(&bytes, chip);
    job_network *network = malloc(sizeof *network);
    job_demand(network != NULL, "no memory");
    job_network_read(network, &bytes);
    chip->limits.populations = job_byte(&bytes) % 4;
    job_memory(chip, job_byte(&bytes));
    job_classes(chip, job_byte(&bytes));
    uint32_t alone = job_byte(&bytes); /* limits of single neurons */
    chip->limits.fan_in = alone % 4 == 0 ? 0 : 1 + alone % 4;
    bool free_synapses = chip->limits.synapses == 0 && chip->limits.memory_bits == 0; /* else files refuse relays and copies */
    chip->relays = free_synapses && chip->limits.fan_in != 0 && (alone >> 2 & 1);
    chip->limits.neuron_target_cores = free_synapses ? alone >> 3 & 3 : 0;
    cm_memory memory;
    cm_run run;
    cm_error error = {.status = CM_OK};
    cm_map_options *options = NULL;
    cm_mapping *mapping = NULL;
    cm_memory_init(&memory, 0);
    cm_run_init(&run);
    run.memory = &memory;
    job_demand(cm_map_options_parse(json, &options, &error) == CM_OK || error.status == CM_BAD_OPTION, error.detail);
    status = options == NULL ? CM_BAD_OPTION : CM_OK;
    if (options != NULL) {
      cm_map_options_apply(options, &run);
      cm_demand demand = cm_demand_of(&network->topology);
      cm_map_input input = {.demand = &demand, .chip = chip, .occupancy = occupancy, .options = options,
                            .scratch_folder = "/tmp"};
      run.deadline = cm_now() + JOB_SECONDS;
      status = cm_chip_limit_neurons(chip, &demand, NULL, &error);
      if (status == CM_OK)
        status = cm_map(&input, &run, &mapping, &error);
      run.deadline = 0;
      job_demand(status == CM_OK || status == CM_TIME_LIMIT || (job_refusal(status) && error.detail[0] != '\0'), error.detail);
      if (status == CM_OK) {
        job_views(mapping, input.demand, chip);
        job_check(mapping, &input, &run);
        job_routes(mapping, &input, &run);
        cm_mapping_free(mapping);
      }
      cm_map_options_free(options);
      cm_demand_clear(&demand);
    }
    job_demand(memory.used_bytes == 0, "bytes are still on the account");
    free(network);
    cm_occupancy_free(occupancy);
    cm_chip_free(chip);
  }
  json_decref(json);
  return status;
}
