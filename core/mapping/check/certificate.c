/* Writing and checking certificates. What can fail: memory, a stop, the stream; a file that is no certificate. */
#include "core/mapping/check/certificate.h"

#include <errno.h>
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/mapping/check/check_internal.h"
#include "core/mapping/export.h"
#include "core/mapping/metrics.h"
#include "core/partition/limits.h"

enum { HEX = 65, FILE_BYTES_MAX = 64 << 20 };

typedef struct facts {
  const cm_mapping *mapping; /* part, core and their counts */
  const cm_topology *topology;
  const cm_chip *chip;
  const char *network_id;
  const cm_metrics *metrics;
  const cm_core_load *core;
  uint32_t *populations;     /* [parts] of each part; NULL: the chip does not limit them */
  uint8_t *usable;           /* [cores] */
  uint32_t usable_count;
  cm_bounds bounds;
  cm_step_bounds step;
  const cm_metrics *scenario; /* [scenario_count of the network] */
  cm_step_bounds scenario_step[CM_SCENARIOS_MAX];
  char usable_hash[HEX], part_hash[HEX], placement_hash[HEX];
} facts;

/* ---- hashes ---- */

static ssize_t hash_bytes(void *state, const char *bytes, size_t size)
{
  crypto_hash_sha256_update(state, (const unsigned char *)bytes, size);
  return (ssize_t)size;
}

static void finish_hash(crypto_hash_sha256_state *state, char hex[HEX])
{
  unsigned char digest[crypto_hash_sha256_BYTES];
  crypto_hash_sha256_final(state, digest);
  sodium_bin2hex(hex, HEX, digest, sizeof digest);
}

/* The SHA-256 of a view as a file of it would have. */
static cm_status hash_view(const facts *f, cm_mapping_view view, char hex[HEX], cm_error *error)
{
  crypto_hash_sha256_state state;
  crypto_hash_sha256_init(&state);
  FILE *stream = fopencookie(&state, "w", (cookie_io_functions_t){.write = hash_bytes});
  if (stream == NULL)
    return cm_fail(error, CM_NO_MEMORY, "out of memory for the certificate");
  cm_status status = cm_mapping_write(f->mapping, f->topology, f->chip, NULL, view, stream, error);
  fclose(stream);
  finish_hash(&state, hex);
  return status;
}

/* ---- facts ---- */

static cm_status find_usable(facts *f, const cm_occupancy *occupancy, cm_memory *memory, cm_error *error)
{
  uint32_t cores = cm_chip_cores(f->chip);
  if (CM_NEW(memory, f->usable, cores, error) != CM_OK)
    return error->status;
  for (uint32_t c = 0; c < cores; c++)
    f->usable[c] = occupancy == NULL || occupancy->state[c] == CM_CORE_FREE;
  for (uint32_t i = 0; i < f->chip->dead_core_count; i++)
    f->usable[f->chip->dead_cores[i]] = 0;
  for (uint32_t c = 0; c < cores; c++)
    f->usable_count += f->usable[c];
  crypto_hash_sha256_state state;
  crypto_hash_sha256_init(&state);
  crypto_hash_sha256_update(&state, f->usable, cores);
  finish_hash(&state, f->usable_hash);
  return CM_OK;
}

static cm_status find_populations(facts *f, cm_run *run, cm_error *error)
{
  uint32_t parts = f->mapping->part_count;
  bool limited = f->chip->limits.populations != 0;
  for (uint32_t k = 0; k < f->chip->class_count; k++)
    limited = limited || f->chip->classes[k].limits.populations != 0;
  if (!limited)
    return CM_OK;
  if (CM_NEW(run->memory, f->populations, parts, error) != CM_OK)
    return error->status;
  return cm_check_measure_populations(f->topology, f->mapping->part, parts, run, f->populations, error);
}

static cm_status find_facts(facts *f, const cm_occupancy *occupancy, cm_run *run, cm_error *error)
{
  cm_status status = find_usable(f, occupancy, run->memory, error);
  if (status == CM_OK)
    status = find_populations(f, run, error);
  if (status == CM_OK)
    status = hash_view(f, CM_VIEW_PART, f->part_hash, error);
  if (status == CM_OK)
    status = hash_view(f, CM_VIEW_PLACEMENT_CSV, f->placement_hash, error);
  if (status == CM_OK)
    status = cm_bounds_compute(f->topology, f->chip, f->mapping->part, f->mapping->part_count, f->usable, run,
                               &f->bounds, error);
  if (status == CM_OK)
    status = cm_step_bounds_compute(f->topology, &f->chip->costs, f->usable_count, run->memory, &f->step, error);
  for (uint32_t k = 0; k < f->topology->scenario_count && status == CM_OK; k++) {
    cm_topology view = cm_topology_in_scenario(f->topology, k);
    status = cm_step_bounds_compute(&view, &f->chip->costs, f->usable_count, run->memory, &f->scenario_step[k], error);
  }
  return status;
}

static uint64_t use_of(const cm_core_load *load, cm_resource resource)
{
  const uint64_t values[CM_RESOURCES] = {load->neurons, load->synapses, load->inbound_axons, load->outbound_axons,
                                         load->target_cores};
  return values[resource];
}

/* What parts use of one limit: of a resource, CM_MEMORY, or populations. */
enum { POPULATIONS = CM_MEMORY + 1 };

static uint64_t limit_at(const cm_limits *l, int resource)
{
  return resource == POPULATIONS ? l->populations : resource == CM_MEMORY ? l->memory_bits : cm_limit(l, (cm_resource)resource);
}

static uint64_t use_at(const facts *f, const cm_limits *l, int resource, uint32_t p)
{
  const cm_core_load *load = &f->core[p];
  if (resource == POPULATIONS)
    return f->populations[p];
  return resource == CM_MEMORY ? cm_memory_bits(l, load->neurons, load->synapses, load->inbound_axons) : use_of(load, (cm_resource)resource);
}

/* A limit of a kind of cores with the part there that uses most of it. */
static json_t *limit_row(const facts *f, uint32_t kind, const cm_limits *l, int resource)
{
  uint64_t limit = limit_at(l, resource), most = 0;
  uint32_t part = 0;
  for (uint32_t p = 0; p < f->mapping->part_count; p++) {
    if (f->chip->class_count > 0 && f->chip->class_of[f->mapping->core[p]] != kind)
      continue;
    uint64_t use = use_at(f, l, resource, p);
    part = use > most ? p : part;
    most = use > most ? use : most;
  }
  return json_pack("{s:s, s:s*, s:o, s:I, s:I, s:b}", "resource", resource == POPULATIONS ? "populations" : cm_resource_name((cm_resource)resource),
                   "class", kind > 0 ? f->chip->classes[kind - 1].name : NULL, "limit",
                   limit == 0 ? json_null() : json_integer((json_int_t)limit), "most", (json_int_t)most, "part", (json_int_t)part,
                   "holds", limit == 0 || most <= limit);
}

/* All limits, of each kind of cores that parts stand on; those on memory and populations where there are such. */
static json_t *limits_json(const facts *f)
{
  json_t *list = json_array();
  for (uint32_t kind = 0; kind <= f->chip->class_count; kind++) {
    const cm_limits *l = kind > 0 && f->chip->classes[kind - 1].own_limits ? &f->chip->classes[kind - 1].limits : &f->chip->limits;
    bool used = f->chip->class_count == 0;
    for (uint32_t p = 0; p < f->mapping->part_count && !used; p++)
      used = f->chip->class_of[f->mapping->core[p]] == kind;
    for (int r = 0; r <= POPULATIONS && used; r++) {
      if (r == CM_RESOURCES || (r >= CM_MEMORY && limit_at(l, r) == 0))
        continue;
      if (json_array_append_new(list, limit_row(f, kind, l, r)) != 0) {
        json_decref(list);
        return NULL;
      }
    }
  }
  return list;
}

static json_t *bound_json(const char *metric, double value, double bound)
{
  return json_pack("{s:s, s:f, s:f, s:o}", "metric", metric, "value", value, "bound", bound, "gap_percent",
                   bound > 0 ? json_real((value / bound - 1) * 100) : json_null());
}

static json_t *bounds_json(const facts *f)
{
  const cm_metrics *m = f->metrics;
  return json_pack("[o, o, o, o, o, o]", bound_json("hop_traffic", m->hop_traffic, f->bounds.hop_traffic),
                   bound_json("energy_pj", m->energy_pj, f->bounds.energy_pj),
                   bound_json("multicast_hops", m->multicast_hops, f->bounds.multicast_hops),
                   bound_json("multicast_energy_pj", m->multicast_energy_pj, f->bounds.multicast_energy_pj),
                   bound_json("core_ns_max", m->core_ns_max, f->step.core_ns_max),
                   bound_json("energy_step_pj", m->energy_step_pj, f->step.energy_step_pj));
}

/* The figures; the sentence that explains one of them is no fact. */
static json_t *metrics_json(const cm_metrics *metrics)
{
  json_t *json = cm_metrics_json(metrics);
  (void)json_object_del(json, "step_limit");
  return json;
}

/* Every scenario: its figures, and how short and cheap its step could be at least. */
static json_t *scenarios_json(const facts *f)
{
  json_t *list = json_array();
  for (uint32_t k = 0; k < f->topology->scenario_count; k++) {
    const cm_metrics *m = &f->scenario[k];
    json_t *row = json_pack("{s:s, s:o, s:[o, o]}", "name", f->topology->scenario_name[k], "metrics", metrics_json(m), "bounds",
                            bound_json("core_ns_max", m->core_ns_max, f->scenario_step[k].core_ns_max),
                            bound_json("energy_step_pj", m->energy_step_pj, f->scenario_step[k].energy_step_pj));
    if (json_array_append_new(list, row) != 0) {
      json_decref(list);
      return NULL;
    }
  }
  return list;
}

static json_t *facts_json(const facts *f)
{
  const cm_topology *t = f->topology;
  json_t *network = json_pack("{s:s?, s:b, s:I, s:I, s:I}", "sha256", f->network_id, "directed", t->directed, "neurons",
                              (json_int_t)t->vertex_count, "hyperedges", (json_int_t)cm_topology_hyperedges(t),
                              "synapses", (json_int_t)cm_topology_synapses(t));
  json_t *mapping = json_pack("{s:I, s:s, s:s}", "parts", (json_int_t)f->mapping->part_count, "part_sha256",
                              f->part_hash, "placement_sha256", f->placement_hash);
  json_t *usable = json_pack("{s:I, s:s}", "cores", (json_int_t)f->usable_count, "sha256", f->usable_hash);
  json_t *scenarios = t->scenario_count > 0 ? scenarios_json(f) : NULL;
  if (t->scenario_count > 0 && scenarios == NULL) {
    json_decref(network);
    json_decref(mapping);
    json_decref(usable);
    return NULL;
  }
  return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o*}", "format", "coremapd certificate 1", "network", network,
                   "chip", cm_chip_json(f->chip), "usable", usable, "mapping", mapping, "limits", limits_json(f),
                   "metrics", metrics_json(f->metrics), "bounds", bounds_json(f), "scenarios", scenarios);
}

cm_status cm_certificate_write(const cm_mapping *mapping, const cm_topology *topology, const cm_chip *chip,
                               const cm_occupancy *occupancy, const char *network_id, cm_run *run, FILE *stream,
                               cm_error *error)
{
  cm_run_phase(run, "certificate");
  facts f = {.mapping = mapping, .topology = topology, .chip = chip, .network_id = network_id,
             .metrics = &mapping->metrics, .core = mapping->detail.core, .scenario = mapping->scenario};
  cm_status status = find_facts(&f, occupancy, run, error);
  cm_free(f.usable);
  json_t *json = status == CM_OK ? facts_json(&f) : NULL;
  cm_free(f.populations);
  if (status != CM_OK)
    return status;
  if (json != NULL && mapping->options != NULL && json_object_set(json, "options", mapping->options) != 0) {
    json_decref(json);
    json = NULL;
  }
  char *text = json == NULL ? NULL : cm_json_dumps(json, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
  json_decref(json);
  if (text == NULL)
    return cm_fail(error, CM_NO_MEMORY, "out of memory for the certificate");
  errno = 0;
  int failed = fputs(text, stream) < 0 || fputc('\n', stream) < 0 || fflush(stream) != 0;
  free(text);
  return failed ? cm_fail_errno(error, errno != 0 ? errno : EIO, "cannot write", "the certificate") : CM_OK;
}

/* ---- check ---- */

typedef struct checking {
  cm_check_result result;
  bool out_of_memory;
} checking;

/* A gap is a difference of nearly equal numbers: what a relative error of 1e-6 in its value makes of it is no lie. */
static void compare_gaps(checking *c, const char *where, const json_t *stated, const json_t *truth)
{
  const json_t *list = json_object_get(stated, "bounds"), *is_list = json_object_get(truth, "bounds");
  for (size_t i = 0; i < json_array_size(is_list); i++) {
    const json_t *says = json_object_get(json_array_get(list, i), "gap_percent"),
                 *is = json_object_get(json_array_get(is_list, i), "gap_percent");
    double gap = json_number_value(is);
    if (json_is_null(is) ? json_is_null(says)
                         : json_is_number(says) && fabs(json_number_value(says) - gap) <= 1e-4 * (2 + fabs(gap) / 100))
      continue;
    cm_check_violation(&c->result, &c->out_of_memory, "certificate %s/bounds/%zu/gap_percent is stated as %.17g, but is %.17g",
                       where, i, json_number_value(says), gap);
  }
}

/* The figures of all scenarios; *figures is the caller's. */
static cm_status measure_scenarios(const facts *f, const cm_mapping *m, cm_run *run, cm_metrics **figures, cm_error *error)
{
  cm_status status = CM_NEW(run->memory, *figures, f->topology->scenario_count, error);
  for (uint32_t k = 0; k < f->topology->scenario_count && status == CM_OK; k++) {
    cm_check_truth truth;
    status = cm_check_scenario_truth(f->topology, k, f->chip, m->part, m->core, m->part_count, run, &truth, error);
    (*figures)[k] = truth.metrics;
    cm_free(truth.core);
  }
  return status;
}

/* All that a certificate of this mapping says, `options` being the mapping's. */
static void compare(checking *c, json_t *stated, json_t *truth, const json_t *options)
{
  cm_check_comparison comparison = {.result = &c->result, .out_of_memory = &c->out_of_memory, .what = "certificate",
                                    .except = "gap_percent"};
  compare_gaps(c, "", stated, truth);
  const json_t *scenarios = json_object_get(truth, "scenarios");
  for (size_t i = 0; i < json_array_size(scenarios); i++) {
    char where[32];
    (void)snprintf(where, sizeof where, "/scenarios/%zu", i);
    compare_gaps(c, where, json_array_get(json_object_get(stated, "scenarios"), i), json_array_get(scenarios, i));
  }
  json_t *whole = json_copy(truth);
  if (whole == NULL || (options != NULL && json_object_set(whole, "options", (json_t *)(uintptr_t)options) != 0))
    c->out_of_memory = true;
  else
    cm_check_compare(&comparison, "", stated, whole);
  json_decref(whole);
}

static cm_status read_certificate(const char *path, json_t **json, cm_error *error)
{
  char *text;
  size_t size;
  json_error_t trouble;
  cm_status status = cm_file_read(path, FILE_BYTES_MAX, &text, &size, error);
  if (status != CM_OK)
    return status;
  uint64_t refusals = cm_json_refusals();
  json_t *root = cm_json_loadb(text, size, JSON_REJECT_DUPLICATES, &trouble);
  free(text);
  if (root == NULL && cm_json_whole(refusals, "the certificate", error) != CM_OK)
    return error->status;
  if (root == NULL)
    return cm_fail(error, CM_BAD_MAPPING, "the certificate is not valid JSON: line %d: %s", trouble.line, trouble.text);
  const char *format = json_string_value(json_object_get(root, "format"));
  if (format == NULL || strcmp(format, "coremapd certificate 1") != 0) {
    json_decref(root);
    return cm_fail(error, CM_BAD_MAPPING,
                   "the file is no certificate: its \"format\" is not \"coremapd certificate 1\"");
  }
  *json = root;
  return CM_OK;
}

/* Parts and cores of a mapping file that cm_check_mapping has found sound. */
static cm_status read_mapping(const char *path, const cm_topology *topology, const cm_chip *chip, cm_run *run,
                              cm_check_file *file, uint32_t **core, cm_error *error)
{
  FILE *stream = fopen(path, "rbe");
  if (stream == NULL)
    return cm_fail_errno(error, errno, "cannot open", path);
  cm_status status = cm_check_read(stream, topology->vertex_count, cm_chip_cores(chip), run, file, error);
  fclose(stream);
  if (status == CM_OK)
    status = CM_NEW(run->memory, *core, file->kept_cores, error);
  for (uint64_t i = 0; status == CM_OK && i < file->kept_cores; i++)
    (*core)[file->core[i].part] = (uint32_t)(file->core[i].y * chip->width + file->core[i].x);
  return status;
}

cm_status cm_certificate_check(const char *path, const char *mapping_path, const cm_topology *topology,
                               const cm_chip *chip, const cm_occupancy *occupancy, const char *network_id, cm_run *run,
                               cm_check_result *result, cm_error *error)
{
  checking c = {0};
  json_t *stated = NULL;
  cm_status status = read_certificate(path, &stated, error);
  if (status != CM_OK)
    return status;
  status = cm_check_mapping(mapping_path, topology, chip, occupancy, network_id, run, &c.result, error);
  if (status != CM_OK || c.result.violation_count > 0) { /* figures of an illegal mapping certify nothing */
    json_decref(stated);
    if (status == CM_OK)
      *result = c.result;
    return status;
  }
  cm_check_file file = {0};
  cm_check_truth truth = {0};
  uint32_t *core = NULL;
  cm_metrics *scenario = NULL;
  facts f = {.topology = topology, .chip = chip, .network_id = network_id, .metrics = &truth.metrics};
  cm_mapping mapping = {0};
  uint64_t refusals = cm_json_refusals();
  status = read_mapping(mapping_path, topology, chip, run, &file, &core, error);
  if (status == CM_OK)
    status = cm_check_measure(topology, chip, file.neuron, (uint32_t)file.kept_cores, core, run, &truth, error);
  if (status == CM_OK) {
    mapping = (cm_mapping){.vertex_count = topology->vertex_count, .part_count = (uint32_t)file.kept_cores,
                           .part = file.neuron, .core = core};
    f.mapping = &mapping;
    f.core = truth.core;
    status = measure_scenarios(&f, &mapping, run, &scenario, error);
    f.scenario = scenario;
  }
  if (status == CM_OK) {
    status = find_facts(&f, occupancy, run, error);
  }
  json_t *true_json = status == CM_OK ? facts_json(&f) : NULL;
  if (status == CM_OK && true_json == NULL)
    status = cm_fail(error, CM_NO_MEMORY, "out of memory while checking the certificate");
  if (status == CM_OK)
    compare(&c, stated, true_json, json_object_get(file.rest, "options"));
  if (status == CM_OK)
    status = cm_json_whole(refusals, "the check of the certificate", error);
  if (status == CM_OK && c.out_of_memory)
    status = cm_fail(error, CM_NO_MEMORY, "out of memory while listing violations");
  json_decref(true_json);
  json_decref(stated);
  cm_check_file_free(&file);
  cm_free(core);
  cm_free(truth.core);
  cm_free(scenario);
  cm_free(f.usable);
  cm_free(f.populations);
  if (status != CM_OK) {
    cm_check_result_free(&c.result);
    return status;
  }
  *result = c.result;
  return CM_OK;
}
