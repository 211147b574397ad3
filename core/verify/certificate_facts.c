/* What is so of a mapping, as a certificate says it. What can fail: memory, a stop. */
#include "core/verify/certificate_facts.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "core/chip/resources.h"
#include "core/verify/check_measure.h"

typedef cm_certificate_facts facts;

enum { HEX = CM_CERTIFICATE_HEX };

/* ---- hashes ---- */

static void finish_hash(crypto_hash_sha256_state *state, char hex[HEX])
{
  unsigned char digest[crypto_hash_sha256_BYTES];
  crypto_hash_sha256_final(state, digest);
  sodium_bin2hex(hex, HEX, digest, sizeof digest);
}

/* The bytes that the views mapping.part and placement.csv have (docs/reference/mapping-formats.md). */
static void hash_parts(const facts *f, char hex[HEX])
{
  crypto_hash_sha256_state state;
  char line[16];
  crypto_hash_sha256_init(&state);
  for (uint32_t v = 0; v < f->given->demand->network->vertex_count; v++) {
    int size = snprintf(line, sizeof line, "%" PRIu32 "\n", f->made->mapped.part[v]);
    crypto_hash_sha256_update(&state, (const unsigned char *)line, (unsigned long long)size);
  }
  finish_hash(&state, hex);
}

static void hash_placement(const facts *f, char hex[HEX])
{
  crypto_hash_sha256_state state;
  char line[48] = "part,x,y\n";
  crypto_hash_sha256_init(&state);
  crypto_hash_sha256_update(&state, (const unsigned char *)line, strlen(line));
  for (uint32_t p = 0; p < f->made->mapped.parts; p++) {
    int size = snprintf(line, sizeof line, "%" PRIu32 ",%" PRIu32 ",%" PRIu32 "\n", p,
                        f->made->mapped.core[p] % f->given->chip->width, f->made->mapped.core[p] / f->given->chip->width);
    crypto_hash_sha256_update(&state, (const unsigned char *)line, (unsigned long long)size);
  }
  finish_hash(&state, hex);
}

/* ---- facts ---- */

static cm_status find_usable(facts *f, cm_error *error)
{
  const cm_occupancy *occupancy = f->given->occupancy;
  uint32_t cores = cm_chip_cores(f->given->chip);
  CM_TRY(CM_NEW(f->given->run->memory, f->usable, cores, error));
  for (uint32_t c = 0; c < cores; c++)
    f->usable[c] = occupancy == NULL || occupancy->state[c] == CM_CORE_FREE;
  for (uint32_t i = 0; i < f->given->chip->dead_core_count; i++)
    f->usable[f->given->chip->dead_cores[i]] = 0;
  for (uint32_t c = 0; c < cores; c++)
    f->usable_count += f->usable[c];
  crypto_hash_sha256_state state;
  crypto_hash_sha256_init(&state);
  crypto_hash_sha256_update(&state, f->usable, cores);
  finish_hash(&state, f->usable_hash);
  return CM_OK;
}

static cm_status find_populations(facts *f, cm_error *error)
{
  cm_run *run = f->given->run;
  uint32_t parts = f->made->mapped.parts;
  bool limited = f->given->chip->limits.populations != 0;
  for (uint32_t k = 0; k < f->given->chip->class_count; k++)
    limited = limited || f->given->chip->classes[k].limits.populations != 0;
  if (!limited)
    return CM_OK;
  CM_TRY(CM_NEW(run->memory, f->populations, parts, error));
  return cm_check_measure_populations(f->given->demand->network, f->made->mapped.part, parts, run, f->populations, error);
}

cm_status cm_certificate_find(cm_certificate_facts *f, cm_error *error)
{
  cm_status status = find_usable(f, error);
  CM_THEN(status, find_populations(f, error));
  for (int die = 0; die < 2 && status == CM_OK; die++)
    status = cm_check_measure_shared(&f->made->mapped, f->made->load, die == 1, f->given->run, f->shared[die], error);
  CM_THEN(status, cm_check_measure_circuits(&f->made->mapped, f->given->run, f->circuits, error));
  CM_THEN(status, cm_check_unpinned(&f->made->mapped, json_object_get(f->made->options, "constraints"), f->given->run, &f->unpinned, error));
  if (status == CM_OK) {
    hash_parts(f, f->part_hash);
    hash_placement(f, f->placement_hash);
    cm_check_measure_leaving(&f->made->mapped, &f->leaving);
    status = cm_bounds_compute(&f->made->mapped, f->usable, f->given->run, &f->bounds, error);
  }
  if (status == CM_OK)
    status =
      cm_step_bounds_compute(f->given->demand, &f->given->chip->costs, f->usable_count, f->given->run->memory, &f->step, error);
  for (uint32_t k = 0; k < f->given->demand->scenario_count && status == CM_OK; k++) {
    const cm_demand view = cm_demand_in_scenario(f->given->demand, k);
    status =
      cm_step_bounds_compute(&view, &f->given->chip->costs, f->usable_count, f->given->run->memory, &f->scenario_step[k], error);
  }
  return status;
}

static uint64_t use_of(const cm_core_load *load, cm_resource resource)
{
  const uint64_t values[CM_RESOURCES] = {load->neurons, load->synapses, load->inbound_axons, load->outbound_axons,
                                         load->target_cores, load->source_cores};
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
  const cm_core_load *load = &f->made->load[p];
  if (resource == POPULATIONS)
    return f->populations[p];
  return resource == CM_MEMORY ? cm_memory_bits(l, load->neurons, load->synapses, load->inbound_axons) : use_of(load, (cm_resource)resource);
}

/* A limit of a kind of cores with the part there that uses most of it. */
static json_t *limit_row(const facts *f, uint32_t kind, const cm_limits *l, int resource)
{
  uint64_t limit = limit_at(l, resource), most = 0;
  uint32_t part = 0;
  for (uint32_t p = 0; p < f->made->mapped.parts; p++) {
    if (f->given->chip->class_count > 0 && f->given->chip->class_of[f->made->mapped.core[p]] != kind)
      continue;
    uint64_t use = use_at(f, l, resource, p);
    part = use > most ? p : part;
    most = use > most ? use : most;
  }
  return json_pack("{s:s, s:s*, s:o, s:I, s:I, s:b}", "resource",
                   resource == POPULATIONS ? "populations" : cm_resource_name((cm_resource)resource), "class",
                   kind > 0 ? f->given->chip->classes[kind - 1].name : NULL, "limit",
                   limit == 0 ? json_null() : json_integer((json_int_t)limit), "most", (json_int_t)most, "part", (json_int_t)part,
                   "holds", limit == 0 || most <= limit);
}

/* Of a class for pinned neurons alone: those that no constraint pins. */
static json_t *unpinned_row(const facts *f, uint32_t kind)
{
  const uint64_t count = f->unpinned.count[kind];
  return json_pack("{s:s, s:s, s:i, s:I, s:n, s:b}", "resource", "neurons that no constraint pins", "class", f->given->chip->classes[kind - 1].name, "limit", 0, "most",
                   (json_int_t)count, "part", "holds", count == 0);
}

/* What leaves neurons of a chip that limits it: the neuron that has most, and its part. */
static json_t *leaving_row(const facts *f, const char *name, const cm_leaving_way *way, uint64_t limit)
{
  return json_pack("{s:s, s:I, s:I, s:I, s:b}", "resource", name, "limit", (json_int_t)limit, "most", (json_int_t)way->most, "part",
                   (json_int_t)f->made->mapped.part[way->neuron], "holds", way->most <= limit);
}

static bool add_place(json_t *list, const char *name, uint64_t limit, const cm_check_shared *s)
{
  return limit == 0 || json_array_append_new(list, json_pack("{s:s, s:I, s:I, s:I, s:b}", "resource", name, "limit", (json_int_t)limit, "most", (json_int_t)s->most,
                                                             "part", (json_int_t)s->part, "holds", s->most <= limit)) == 0;
}

/* What routers, dies and links of a chip that limits it hold, and a part on the fullest. */
static bool add_shared(const facts *f, json_t *list)
{
  static const char *const circuits[3] = {"circuits of a link", "circuits into a router", "circuits out of a router"};
  static const char *const names[2][3] = {{"synapses of a router", "inbound axons of a router", "outbound axons of a router"},
                                          {"synapses of a die", "inbound axons of a die", "outbound axons of a die"}};
  for (int die = 0; die < 2; die++)
    for (int kind = 0; kind < 3; kind++)
      if (!add_place(list, names[die][kind], cm_check_shared_limit(f->given->chip, die == 1, kind), &f->shared[die][kind]))
        return false;
  for (int kind = 0; kind < 3; kind++)
    if (!add_place(list, circuits[kind], cm_check_circuit_limit(f->given->chip, kind), &f->circuits[kind]))
      return false;
  return true;
}

/* All limits, of each kind of cores that parts stand on; those on memory, populations and what leaves neurons where there are such. */
static json_t *limits_json(const facts *f)
{
  json_t *list = json_array();
  for (uint32_t kind = 0; kind <= f->given->chip->class_count; kind++) {
    const cm_limits *l = kind > 0 && f->given->chip->classes[kind - 1].own_limits ? &f->given->chip->classes[kind - 1].limits
                                                                                  : &f->given->chip->limits;
    bool used = f->given->chip->class_count == 0;
    for (uint32_t p = 0; p < f->made->mapped.parts && !used; p++)
      used = f->given->chip->class_of[f->made->mapped.core[p]] == kind;
    for (int r = 0; r <= POPULATIONS && used; r++) {
      if (r == CM_RESOURCES || (r >= CM_SOURCE_CORES && limit_at(l, r) == 0))
        continue;
      if (json_array_append_new(list, limit_row(f, kind, l, r)) != 0) {
        json_decref(list);
        return NULL;
      }
    }
    if (used && kind > 0 && f->given->chip->classes[kind - 1].pinned_only && json_array_append_new(list, unpinned_row(f, kind)) != 0) {
      json_decref(list);
      return NULL;
    }
  }
  const cm_limits *l = &f->given->chip->limits;
  if ((l->near_synapses != 0 && json_array_append_new(list, leaving_row(f, "near synapses of a neuron", &f->leaving.near, l->near_synapses)) != 0) ||
      (l->far_synapses != 0 && json_array_append_new(list, leaving_row(f, "far synapses of a neuron", &f->leaving.far, l->far_synapses)) != 0) ||
      !add_shared(f, list)) {
    json_decref(list);
    return NULL;
  }
  return list;
}

static json_t *bound_json(const char *metric, double value, double bound)
{
  return json_pack("{s:s, s:f, s:f, s:o}", "metric", metric, "value", value, "bound", bound, "gap_percent",
                   bound > 0 ? json_real((value / bound - 1) * 100) : json_null());
}

/* NULL: not bounded. */
static json_t *step_bound_json(const cm_metrics *m, const cm_step_bounds *b)
{
  return b->step_ns > 0 ? bound_json("step_ns", m->step_ns, b->step_ns) : NULL;
}

static json_t *bounds_json(const facts *f)
{
  const cm_metrics *m = f->made->metrics;
  return json_pack("[o, o, o, o, o, o, o*]", bound_json("hop_traffic", m->hop_traffic, f->bounds.hop_traffic),
                   bound_json("energy_pj", m->energy_pj, f->bounds.energy_pj),
                   bound_json("multicast_hops", m->multicast_hops, f->bounds.multicast_hops),
                   bound_json("multicast_energy_pj", m->multicast_energy_pj, f->bounds.multicast_energy_pj),
                   bound_json("core_ns_max", m->core_ns_max, f->step.core_ns_max),
                   bound_json("energy_step_pj", m->energy_step_pj, f->step.energy_step_pj), step_bound_json(m, &f->step));
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
  for (uint32_t k = 0; k < f->given->demand->scenario_count; k++) {
    const cm_metrics *m = &f->made->scenario[k];
    json_t *row = json_pack("{s:s, s:o, s:[o, o, o*]}", "name", f->given->demand->network->scenario_name[k], "metrics", metrics_json(m),
                            "bounds", bound_json("core_ns_max", m->core_ns_max, f->scenario_step[k].core_ns_max),
                            bound_json("energy_step_pj", m->energy_step_pj, f->scenario_step[k].energy_step_pj), step_bound_json(m, &f->scenario_step[k]));
    if (json_array_append_new(list, row) != 0) {
      json_decref(list);
      return NULL;
    }
  }
  return list;
}

json_t *cm_certificate_json(const facts *f)
{
  const cm_topology *t = f->given->demand->network;
  json_t *network = json_pack("{s:s?, s:b, s:I, s:I, s:I}", "sha256", f->given->network_id, "directed", t->directed, "neurons",
                              (json_int_t)t->vertex_count, "hyperedges", (json_int_t)cm_topology_hyperedges(t), "synapses",
                              (json_int_t)cm_topology_synapses(t));
  json_t *mapping = json_pack("{s:I, s:s, s:s}", "parts", (json_int_t)f->made->mapped.parts, "part_sha256", f->part_hash,
                              "placement_sha256", f->placement_hash);
  json_t *usable = json_pack("{s:I, s:s}", "cores", (json_int_t)f->usable_count, "sha256", f->usable_hash);
  json_t *scenarios = f->given->demand->scenario_count > 0 ? scenarios_json(f) : NULL;
  if (f->given->demand->scenario_count > 0 && scenarios == NULL) {
    json_decref(network);
    json_decref(mapping);
    json_decref(usable);
    return NULL;
  }
  return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o*}", "format", "coremapd certificate 1", "network", network,
                   "chip", cm_chip_json(f->given->chip), "usable", usable, "mapping", mapping, "limits", limits_json(f),
                   "metrics", metrics_json(f->made->metrics), "bounds", bounds_json(f), "scenarios", scenarios);
}
