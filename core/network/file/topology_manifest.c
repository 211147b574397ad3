/* What a topology file says of itself. Nothing is allocated on a count that the bytes cannot hold. */
#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <zlib.h>

#include "core/network/file/topology_reader.h"
#include "base/json.h"
#include "core/network/names.h"
#include "core/network/rates.h"

enum { DEFLATE_RATIO_MAX = 1040 };

cm_status cm_topology_damaged(cm_error *error, const char *what)
{
  cm_fail(error, CM_BAD_NETWORK, "damaged topology file: %s", what);
  return cm_fail_at(error, CM_MANIFEST_NAME);
}

cm_status cm_topology_machine_failed(zip_error_t *cause, const char *name, cm_error *error)
{
  if (cause == NULL || zip_error_code_zip(cause) == ZIP_ER_OK)
    return CM_OK;
  if (zip_error_code_zip(cause) == ZIP_ER_MEMORY ||
      (zip_error_system_type(cause) == ZIP_ET_ZLIB && zip_error_code_system(cause) == Z_MEM_ERROR))
    return cm_whole(false, name, error);
  /* A window of a file takes a failed read for the file's end: the cause is only in errno. */
  cm_error failed;
  if (zip_error_code_zip(cause) == ZIP_ER_EOF && errno != 0 &&
      (cm_fail_errno(&failed, errno, "cannot read or write", name), cm_error_passes(&failed))) {
    *error = failed;
    return failed.status;
  }
  return zip_error_system_type(cause) == ZIP_ET_SYS
             ? cm_fail_errno(error, zip_error_code_system(cause), "cannot read or write", name)
             : CM_OK;
}

static bool number(const json_t *object, const char *name, uint64_t most, uint64_t *value)
{
  const json_t *found = json_object_get(object, name);
  json_int_t n = json_integer_value(found);
  if (!json_is_integer(found) || n < 0 || (uint64_t)n > most)
    return false;
  *value = (uint64_t)n;
  return true;
}

static bool parse_member(const json_t *json, cm_topology_member *m)
{
  uint64_t first = 0, vertices = 0;
  const char *name = json_string_value(json_object_get(json, "name"));
  const char *hex = json_string_value(json_object_get(json, "blake2b"));
  size_t digest_size;
  *m = (cm_topology_member){0};
  if (name == NULL || strlen(name) >= sizeof m->name || hex == NULL || !number(json, "bytes", INT64_MAX, &m->bytes) ||
      sodium_hex2bin(m->digest, sizeof m->digest, hex, strlen(hex), NULL, &digest_size, NULL) != 0 ||
      digest_size != sizeof m->digest)
    return false;
  (void)snprintf(m->name, sizeof m->name, "%s", name);
  if (strncmp(name, "edges/", 6) != 0)
    return true;
  if (!number(json, "first_vertex", CM_VERTICES_MAX, &first) || !number(json, "vertices", CM_VERTICES_MAX, &vertices) ||
      !number(json, "rows", UINT32_MAX, &m->rows) || !number(json, "pins", CM_PINS_MAX, &m->pins))
    return false;
  m->first_vertex = (uint32_t)first;
  m->vertices = (uint32_t)vertices;
  return true;
}

/* What deflate could not have made, and what the vertices and pins cannot need, is refused before memory is taken. */
static cm_status check_member(cm_topology_reader *r, const cm_topology_member *m, cm_error *error)
{
  zip_stat_t about;
  uint64_t least = (uint64_t)m->vertices + 2 * m->pins;
  if (m->bytes == 0)
    return CM_OK;
  if (zip_stat(r->zip, m->name, 0, &about) != 0)
    cm_fail(error, CM_BAD_NETWORK, "damaged topology file: member %s is missing", m->name);
  else if ((about.valid & ZIP_STAT_SIZE) == 0 || (about.valid & ZIP_STAT_COMP_SIZE) == 0 || about.size != m->bytes ||
           about.size / DEFLATE_RATIO_MAX > about.comp_size)
    cm_fail(error, CM_BAD_NETWORK, "damaged topology file: the size of member %s differs from the manifest (%llu bytes expected)",
            m->name, (unsigned long long)m->bytes);
  else if (m->bytes < least || m->rows > m->pins)
    cm_fail(error, CM_BAD_NETWORK, "damaged topology file: the %llu bytes of member %s cannot hold %u vertices with %llu edges",
            (unsigned long long)m->bytes, m->name, m->vertices, (unsigned long long)m->pins);
  else if (about.comp_size > r->file_bytes - r->packed_bytes)
    cm_fail(error, CM_BAD_NETWORK, "damaged topology file: the members up to %s are longer than the file", m->name);
  else {
    r->packed_bytes += about.comp_size;
    r->raw_bytes += m->bytes;
    return CM_OK;
  }
  return cm_fail_at(error, "%s", m->name);
}

/* Where a table beside the edges goes; NULL: it is none. */
static cm_topology_member *table_member(cm_topology_reader *r, const char *name)
{
  const struct {
    const char *name;
    cm_topology_member *member;
  } tables[] = {{"sizes", &r->sizes},
                {"labels", &r->labels},
                {"parents", &r->parents},
                {"signs", &r->signs},
                {"delays", &r->delays},
                {"populations", &r->population_of},
                {"scenarios", &r->scenario_rates},
                {"models", &r->dynamics.model_runs},
                {"parameters", &r->dynamics.parameter_runs},
                {"weights", &r->dynamics.weights},
                {"parallel", &r->dynamics.parallel},
                {"nodes", &r->dynamics.nodes},
                {"numbers", &r->dynamics.numbers}};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    if (strcmp(name, tables[i].name) == 0)
      return tables[i].member;
  return NULL;
}

static cm_status check_dynamics(const cm_topology_reader *r, cm_error *error)
{
  enum { PARALLEL_BYTES = 6 }; /* of the shortest */
  const cm_topology_dynamics *d = &r->dynamics;
  const bool vertices = r->header.vertex_count > 0;
  if ((d->has_models && vertices && d->model_runs.bytes == 0) ||
      (d->parameters > 0 && vertices && d->parameter_runs.bytes < d->parameters) ||
      (d->has_weights && d->weights.bytes != r->header.pin_count * sizeof(float)) ||
      d->numbers.bytes / sizeof(float) != d->number_count || d->numbers.bytes % sizeof(float) != 0 ||
      d->parallel.bytes / PARALLEL_BYTES < d->parallel_count)
    return cm_topology_damaged(error, "models, parameters, weights or parallel synapses are missing or of another length");
  return CM_OK;
}

static cm_status parse_members(cm_topology_reader *r, const json_t *list, cm_error *error)
{
  size_t count = json_array_size(list);
  uint64_t vertices = 0, rows = 0, pins = 0;
  if (!json_is_array(list))
    return cm_topology_damaged(error, "the manifest has no list of members");
  CM_TRY(CM_NEW(r->memory, r->members, count, error));
  for (size_t i = 0; i < count; i++) {
    cm_topology_member m;
    if (!parse_member(json_array_get(list, i), &m))
      return cm_topology_damaged(error, "the manifest describes a member wrongly");
    CM_TRY(check_member(r, &m, error));
    cm_topology_member *table = table_member(r, m.name);
    if (table != NULL)
      *table = m;
    else if (strncmp(m.name, "edges/", 6) != 0 || m.first_vertex != vertices || m.vertices == 0)
      return cm_topology_damaged(error, "the members do not follow each other");
    else {
      vertices += m.vertices;
      rows += m.rows;
      pins += m.pins;
      r->members[r->member_count++] = m;
    }
  }
  if (vertices != r->header.vertex_count || rows != r->header.net_count || pins != r->header.pin_count)
    return cm_topology_damaged(error, "the members' counts do not add up to the manifest's");
  if ((r->header.has_sizes && r->sizes.bytes < r->header.vertex_count) ||
      (r->header.has_labels && r->labels.bytes < r->header.vertex_count) || r->parents.bytes < r->header.finer_count)
    return cm_topology_damaged(error, "sizes, labels or parents are missing");
  if ((r->header.has_signs && r->signs.bytes != (r->header.pin_count + 63) / 64 * 8) ||
      (r->header.has_delays && r->delays.bytes != r->header.pin_count * 4) ||
      (r->header.population_count > 0 && r->population_of.bytes < r->header.vertex_count))
    return cm_topology_damaged(error, "signs, delays or populations are missing or of another length");
  if (r->scenario_rates.bytes < (uint64_t)r->header.scenario_count * r->header.net_count)
    return cm_topology_damaged(error, "the rates of its scenarios are missing");
  return check_dynamics(r, error);
}

/* Of "populations", a list of [name, kind]. */
static cm_status parse_populations(cm_topology_reader *r, const json_t *list, cm_error *error)
{
  size_t count = json_array_size(list);
  if (list != NULL && (!json_is_array(list) || count == 0 || count > CM_POPULATIONS_MAX))
    return cm_topology_damaged(error, "the manifest's populations are no list of at most 65536");
  CM_TRY(CM_NEW(r->memory, r->populations, count, error));
  for (size_t i = 0; i < count; i++) {
    const json_t *row = json_array_get(list, i);
    const char *name = json_string_value(json_array_get(row, 0)), *kind = json_string_value(json_array_get(row, 1));
    if (name == NULL || kind == NULL || strlen(name) >= CM_POPULATION_NAME_MAX || !cm_name_valid(name, strlen(name)) ||
        strlen(kind) >= CM_POPULATION_KIND_MAX || !cm_name_valid(kind, strlen(kind)))
      return cm_topology_damaged(error, "a population's name or kind is missing, too long or no text");
    (void)snprintf(r->populations[i].name, CM_POPULATION_NAME_MAX, "%s", name);
    (void)snprintf(r->populations[i].kind, CM_POPULATION_KIND_MAX, "%s", kind);
  }
  r->header.population_count = (uint32_t)count;
  return CM_OK;
}

/* Of "scenarios", a list of names. */
static cm_status parse_scenarios(cm_topology_reader *r, const json_t *list, cm_error *error)
{
  size_t count = json_array_size(list);
  if (!json_is_array(list) || count < 2 || count > CM_SCENARIOS_MAX || !r->header.directed)
    return cm_topology_damaged(error, "the manifest's scenarios are no list of 2 to 64 of a directed network");
  CM_TRY(CM_NEW(r->memory, r->scenarios, count, error));
  for (size_t i = 0; i < count; i++) {
    const char *name = json_string_value(json_array_get(list, i));
    if (name == NULL || !cm_scenario_name_valid(name, strlen(name)))
      return cm_topology_damaged(error, "a scenario's name is missing, too long or no text");
    for (size_t k = 0; k < i; k++)
      if (strcmp(r->scenarios[k], name) == 0)
        return cm_topology_damaged(error, "two scenarios have the same name");
    (void)snprintf(r->scenarios[i], CM_SCENARIO_NAME_MAX, "%s", name);
  }
  r->header.scenario_count = (uint32_t)count;
  return CM_OK;
}

/* What version 2 adds. */
static cm_status parse_signed(cm_topology_reader *r, const json_t *json, cm_error *error)
{
  cm_topology_header *h = &r->header;
  json_int_t exponent = json_integer_value(json_object_get(json, "weight_exponent"));
  h->has_signs = json_is_true(json_object_get(json, "has_signs"));
  h->has_delays = json_is_true(json_object_get(json, "has_delays"));
  if (exponent < -CM_WEIGHT_EXPONENT_MAX || exponent > CM_WEIGHT_EXPONENT_MAX ||
      !number(json, "delay_unit_ns", UINT64_C(1000000), &h->delay_unit_ns) || (h->has_delays && h->delay_unit_ns == 0) ||
      !number(json_object_get(json, "merged"), "zeros", INT64_MAX, &h->zero_count))
    return cm_topology_damaged(error, "a number of the manifest is missing or out of range");
  h->weight_exponent = (int)exponent;
  return parse_populations(r, json_object_get(json, "populations"), error);
}

/* The parameters that a list names, each once. */
static bool find_parameters(const json_t *list, cm_topology_dynamics *d)
{
  if (!json_is_array(list) || json_array_size(list) > CM_NEURON_PARAMETERS)
    return false;
  uint32_t seen = 0;
  for (d->parameters = 0; d->parameters < json_array_size(list); d->parameters++) {
    const char *said = json_string_value(json_array_get(list, d->parameters));
    int p = 0;
    while (p < CM_NEURON_PARAMETERS && (said == NULL || strcmp(said, cm_neuron_parameters[p].name) != 0))
      p++;
    if (p == CM_NEURON_PARAMETERS || (seen >> p & 1) != 0)
      return false;
    seen |= 1u << p;
    d->parameter[d->parameters] = (uint8_t)p;
  }
  return true;
}

/* What version 4 adds. */
static cm_status parse_dynamics(cm_topology_reader *r, const json_t *json, cm_error *error)
{
  cm_topology_dynamics *d = &r->dynamics;
  const json_int_t parallel = json_integer_value(json_object_get(json, "parallel")),
                   numbers = json_integer_value(json_object_get(json, "numbers"));
  d->has_models = json_is_true(json_object_get(json, "models"));
  d->has_weights = json_is_true(json_object_get(json, "weights"));
  if (!find_parameters(json_object_get(json, "parameters"), d) || parallel < 0 || numbers < 0 || (!d->has_models && d->parameters > 0) ||
      !r->header.directed || (parallel > 0 && !r->header.has_delays))
    return cm_topology_damaged(error, "its dynamics are no models, parameters by their names, weights and parallel synapses");
  d->parallel_count = (uint64_t)parallel;
  d->number_count = (uint64_t)numbers;
  r->header.has_dynamics = true;
  return CM_OK;
}

static cm_status parse_manifest(cm_topology_reader *r, const json_t *json, cm_error *error)
{
  cm_topology_header *h = &r->header;
  const json_t *merged = json_object_get(json, "merged");
  const char *format = json_string_value(json_object_get(json, "format"));
  uint64_t version = 0, vertices = 0, nets = 0, finer = 0, empty = 0;
  if (format == NULL || strcmp(format, CM_TOPOLOGY_FORMAT_NAME) != 0 || !number(json, "version", UINT32_MAX, &version))
    return cm_topology_damaged(error, "the manifest is not one of a topology");
  if (version < CM_TOPOLOGY_VERSION || version > CM_TOPOLOGY_VERSION_DYNAMICS)
    return cm_fail(error, CM_BAD_NETWORK, "topology file of version %llu; this program reads versions %d to %d",
                   (unsigned long long)version, CM_TOPOLOGY_VERSION, CM_TOPOLOGY_VERSION_DYNAMICS);
  if (!number(json, "vertices", CM_VERTICES_MAX, &vertices) || !number(json, "nets", UINT32_MAX, &nets) ||
      !number(json, "pins", CM_PINS_MAX, &h->pin_count) || !number(json, "size_total", INT64_MAX, &h->size_total) ||
      !number(json, "weight_total", INT64_MAX, &h->weight_total) || !number(json, "weight_scale", INT64_MAX, &h->weight_scale) ||
      h->weight_scale == 0 || !number(json, "finer_vertices", CM_VERTICES_MAX, &finer) ||
      !number(merged, "duplicates", INT64_MAX, &h->duplicate_count) ||
      !number(merged, "self_loops", INT64_MAX, &h->self_loop_count) || !number(merged, "empty_nets", UINT32_MAX, &empty))
    return cm_topology_damaged(error, "a number of the manifest is missing or out of range");
  h->vertex_count = (uint32_t)vertices;
  h->net_count = (uint32_t)nets;
  h->finer_count = (uint32_t)finer;
  h->empty_net_count = (uint32_t)empty;
  h->directed = json_is_true(json_object_get(json, "directed"));
  h->has_weights = json_is_true(json_object_get(json, "has_weights"));
  h->has_sizes = json_is_true(json_object_get(json, "has_sizes"));
  h->has_labels = json_is_true(json_object_get(json, "has_labels"));
  const json_t *scenarios = json_object_get(json, "scenarios");
  if ((version >= CM_TOPOLOGY_VERSION_SIGNED && parse_signed(r, json, error) != CM_OK) ||
      ((version == CM_TOPOLOGY_VERSION_SCENARIOS || (version > CM_TOPOLOGY_VERSION_SCENARIOS && scenarios != NULL)) &&
       parse_scenarios(r, scenarios, error) != CM_OK) ||
      (version >= CM_TOPOLOGY_VERSION_DYNAMICS && parse_dynamics(r, json_object_get(json, "dynamics"), error) != CM_OK))
    return error->status;
  return parse_members(r, json_object_get(json, "members"), error);
}

cm_status cm_topology_manifest(cm_topology_reader *r, cm_error *error)
{
  zip_stat_t about;
  errno = 0;
  zip_file_t *file = zip_fopen(r->zip, CM_MANIFEST_NAME, 0);
  CM_TRY_IF(file == NULL, cm_topology_machine_failed(zip_get_error(r->zip), "the topology file", error));
  if (file == NULL || zip_stat(r->zip, CM_MANIFEST_NAME, 0, &about) != 0 || about.size > CM_MANIFEST_BYTES_MAX) {
    if (file != NULL)
      zip_fclose(file);
    return cm_topology_damaged(error, "the zip has no manifest.json, so it is not a topology file");
  }
  char *text;
  if (CM_NEW(r->memory, text, about.size + 1, error) != CM_OK) {
    zip_fclose(file);
    return error->status;
  }
  /* One byte more than there are: libzip compares its own checksum only when it meets the end. */
  char more;
  errno = 0;
  zip_int64_t got = zip_fread(file, text, about.size + 1);
  if (got >= 0 && zip_fread(file, &more, 1) != 0) /* a fault after some bytes shows at the next read */
    got = -1;
  cm_status failed = got < 0 ? cm_topology_machine_failed(zip_file_get_error(file), "the topology file", error) : CM_OK;
  zip_fclose(file);
  if (failed != CM_OK) {
    cm_free(text);
    return failed;
  }
  json_error_t where;
  uint64_t refusals = cm_json_refusals();
  json_t *json = got == (zip_int64_t)about.size ? cm_json_loadb(text, about.size, JSON_REJECT_DUPLICATES, &where) : NULL;
  cm_free(text);
  cm_status status = cm_json_whole(refusals, "the manifest", error);
  if (status == CM_OK)
    status = json == NULL ? cm_topology_damaged(error, "the manifest is not JSON") : parse_manifest(r, json, error);
  json_decref(json);
  return status;
}
