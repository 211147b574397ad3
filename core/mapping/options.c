/* Job options as one table: names, kinds, ranges and defaults. Parsing, printing and the messages follow from it. */
#include "core/mapping/options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/number.h"
#include "core/mapping/mappers/step_engine.h"
#include "core/partition/options.h"

enum { WORDS_MAX = 7 };
typedef enum kind { WORD, COUNT, LONG_COUNT, BYTES, REAL, NAME } kind;
typedef enum stage { SHAPES_BOTH, SHAPES_PARTS, SHAPES_PLACES, SHAPES_WHOLE } stage; /* WHOLE: parts and places together */

typedef struct option {
  const char *name;
  kind kind;
  size_t offset;
  double least, most, normal;
  const char *words[WORDS_MAX + 1];  /* WORD: the values, in the order of their numbers */
  const char *reason;     /* WORD: why other values are refused */
  bool same_result;       /* changes time or memory, never the mapping */
  stage shapes;
  const char *about;
} option;

#define FIELD(name) offsetof(struct cm_map_options, name)
static const double int64_most = 9223372036854774784.0; /* largest double below 2^63 */

static const double imbalance_any = 100; /* the most that can be stated */

static const option table[] = {
  {"preset", WORD, FIELD(preset), 0, 0, CM_PRESET_BALANCED, {"reference", "fast", "balanced", "best"},
   NULL, false,
   SHAPES_BOTH, "effort: fast, balanced (unless given), best; reference is a published method to the letter"},
  {"objective", WORD, FIELD(objective), 0, 0, CM_OBJECTIVE_AUTO, {"edge", "axon", "time", "energy", "edp", "pareto", "auto"}, NULL, false,
   SHAPES_BOTH, "what is minimised (docs/options.md); unless given, axon for directed networks under core limits, else edge"},
  {"mapper", WORD, FIELD(mapper), 0, 0, CM_MAPPER_AUTO, {"bisection", "staged", "mesh", "learned", "auto"}, NULL, false,
   SHAPES_PLACES, "mesh (parts and places at once), staged (placement engine), learned (a trained policy), bisection; unless given, what suits preset and objective"},
  {"communication", WORD, FIELD(communication), 0, 0, CM_UNICAST, {"unicast", "multicast"}, NULL, false,
   SHAPES_PLACES, "what placement pays for: unicast (a packet to every core reached; unless given) or multicast (one along the union of the routes)"},
  {"seed", LONG_COUNT, FIELD(seed), 0, int64_most, 1, {0}, NULL, false,
   SHAPES_BOTH, "same input, options and seed: same bytes out; 1 unless given"},
  {"coarsening_seed", LONG_COUNT, FIELD(coarsening_seed), 0, int64_most, -1, {0}, NULL, false,
   SHAPES_PARTS, "of the matching order alone; the seed unless given"},
  {"placement_seed", LONG_COUNT, FIELD(placement_seed), 0, int64_most, -1, {0}, NULL, false,
   SHAPES_PLACES, "of the placement alone; the seed unless given"},
  {"parts", COUNT, FIELD(parts), 0, CM_CHIP_CORES_MAX, 0, {0}, NULL, false,
   SHAPES_PARTS, "exactly N parts; at most N for objectives time, energy, edp, pareto; unless given, the core limits decide"},
  {"imbalance", REAL, FIELD(imbalance), 0, 100, -1, {0}, NULL, false,
   SHAPES_PARTS, "with parts: one may exceed the mean by this share; 0.03 unless given"},
  {"step_budget_ns", REAL, FIELD(step_budget_ns), 0, 1e18, 0, {0}, NULL, false,
   SHAPES_PARTS, "with objective energy: the busiest core takes so many nanoseconds at most"},
  {"max_part_size", LONG_COUNT, FIELD(max_part_size), 0, UINT32_MAX, 0, {0}, NULL, false,
   SHAPES_PARTS, "at most N neurons in a part"},
  {"coarsening_share", COUNT, FIELD(coarsening_share), 1, 1000000, 15, {0}, NULL, false,
   SHAPES_PARTS, "of preset reference: a merged vertex is at most capacity / N; 15 unless given"},
  {"coarsening_tries", COUNT, FIELD(coarsening_tries), 1, 64, 8, {0}, NULL, false,
   SHAPES_PARTS, "of preset reference: matchings a level; 8 unless given"},
  {"coarsening_stop", REAL, FIELD(coarsening_stop), 0, 1, 0.20, {0}, NULL, false,
   SHAPES_PARTS, "of preset reference: a level that shrinks by less ends coarsening; 0.2 unless given"},
  {"matching", WORD, FIELD(matching), 0, 0, CM_MATCHING_AUTO, {"auto", "heaviest", "available"}, NULL, false,
   SHAPES_PARTS, "of preset reference: which neighbours are asked"},
  {"bisection_tries", COUNT, FIELD(bisection_tries), 1, 64, 8, {0}, NULL, false,
   SHAPES_BOTH, "of preset reference and mapper bisection: growings a bisection; 8 unless given"},
  {"refinement_passes", COUNT, FIELD(refinement_passes), 0, 1000, 1, {0}, NULL, false,
   SHAPES_PARTS, "of preset reference: visits of all vertices a level; 1 unless given"},
  {"force_share", REAL, FIELD(force_share), 0, 1, 0.05, {0}, NULL, false,
   SHAPES_PLACES, "of mapper bisection: share of the parts that a round walks; 0.05 unless given"},
  {"force_rounds", COUNT, FIELD(force_rounds), 0, 1000000, 1000, {0}, NULL, false,
   SHAPES_PLACES, "of mapper bisection: most rounds; 1000 unless given"},
  {"attempts", COUNT, FIELD(attempts), 1, CM_ATTEMPTS_MAX, CM_ATTEMPTS_MAX, {0}, NULL, false,
   SHAPES_PARTS, "most tries of the partition stage; 16 unless given"},
  {"routing", WORD, FIELD(routing), 0, 0, CM_ROUTES_AUTO,
   {"auto", "xy", "yx", "west-first", "north-last", "negative-first"}, NULL, false,
   SHAPES_PLACES, "turn rule of the routes; the chip's own unless given"},
  {"route_model", WORD, FIELD(route_model), 0, 0, CM_ROUTES_MULTICAST, {"multicast", "unicast"}, NULL, false,
   SHAPES_PLACES, "trees with tables, or a path a pair of parts"},
  {"policy_refinement", WORD, FIELD(policy_refinement), 0, 0, 1, {"off", "on"}, NULL, false,
   SHAPES_PLACES, "of mapper learned: off leaves what the policy says as it is"},
  {"policy_aim", WORD, FIELD(policy_aim), 0, 0, CM_AIM_HOPS, {"hops", "reward"}, NULL, false,
   SHAPES_PLACES, "of mapper learned: what refinement is for"},
  {"from", NAME, FIELD(from), 0, 0, 0, {0}, NULL, false,
   SHAPES_WHOLE, "start from this mapping: keep what can stay, move what must"},
  {"compare", WORD, FIELD(compare), 0, 0, 0, {"none", "fresh"}, NULL, false,
   SHAPES_WHOLE, "with from: fresh maps afresh too and reports both costs"},
  {"regions", LONG_COUNT, FIELD(regions), 0, 64, -1, {0}, NULL, false,
   SHAPES_PLACES, "candidate regions of free cores that are placed on and compared; 2 unless given"},
  {"threads", COUNT, FIELD(threads), 0, 256, 0, {0}, NULL, true,
   SHAPES_BOTH, "never changes the result; as many as processors unless given"},
  {"memory_limit", BYTES, FIELD(memory_limit), 0, int64_most, 0, {0}, NULL, true,
   SHAPES_BOTH, "or 512M, 2G; what does not fit stands in files"},
  {"time_limit", REAL, FIELD(time_limit), 0, 31536000, 0, {0}, NULL, true,
   SHAPES_BOTH, "seconds"},
};
enum { OPTIONS = sizeof table / sizeof *table };

static void store(struct cm_map_options *options, const option *o, double value)
{
  char *field = (char *)options + o->offset;
  if (o->kind == NAME)
    *field = '\0';
  else if (o->kind == REAL)
    *(double *)(void *)field = value;
  else if (o->kind == LONG_COUNT || o->kind == BYTES)
    *(uint64_t *)(void *)field = value < 0 ? UINT64_MAX : (uint64_t)value;
  else
    *(uint32_t *)(void *)field = (uint32_t)value;
}

static const option *find(const char *name)
{
  for (size_t i = 0; i < OPTIONS; i++)
    if (strcmp(table[i].name, name) == 0)
      return &table[i];
  return NULL;
}

static cm_status refuse(const option *o, cm_error *error, const char *what)
{
  if (o->kind == WORD) {
    char choices[160] = "";
    size_t used = 0;
    for (size_t i = 0; o->words[i] != NULL && used < sizeof choices; i++)
      used += (size_t)snprintf(choices + used, sizeof choices - used, "%s\"%s\"", i > 0 ? ", " : "", o->words[i]);
    cm_fail(error, CM_BAD_OPTION, "option %s is %s; it can be %s%s%s", o->name, what, choices,
            o->reason != NULL ? ": " : "", o->reason != NULL ? o->reason : "");
  } else
    cm_fail(error, CM_BAD_OPTION, "option %s is %s; it must be %s from %.15g to %.15g", o->name, what,
            o->kind == REAL    ? "a number"
            : o->kind == BYTES ? "a whole number of bytes (or text like \"2G\")"
                               : "a whole number",
            o->least, o->most);
  return cm_fail_at(error, "/options/%s", o->name);
}

static cm_status parse_word(struct cm_map_options *options, const option *o, const json_t *value, cm_error *error)
{
  const char *text = json_string_value(value);
  for (size_t i = 0; text != NULL && o->words[i] != NULL; i++) {
    if (strcmp(text, o->words[i]) == 0) {
      store(options, o, (double)i);
      return CM_OK;
    }
  }
  char what[96];
  (void)snprintf(what, sizeof what, text != NULL ? "\"%.60s\"" : "no text", text);
  return refuse(o, error, what);
}

/* An id: letters, digits, '-' and '_'. */
static cm_status parse_name(struct cm_map_options *options, const option *o, const json_t *value, cm_error *error)
{
  const char *text = json_string_value(value);
  if (text == NULL || strlen(text) >= CM_FROM_MAX ||
      strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != strlen(text)) {
    cm_fail(error, CM_BAD_OPTION, "option %s must be the id of a mapping", o->name);
    return cm_fail_at(error, "/options/%s", o->name);
  }
  (void)snprintf((char *)options + o->offset, CM_FROM_MAX, "%s", text);
  return CM_OK;
}

static cm_status parse_number(struct cm_map_options *options, const option *o, const json_t *value, cm_error *error)
{
  double number;
  uint64_t bytes;
  char what[96];
  if (json_is_integer(value)) {
    json_int_t whole = json_integer_value(value);
    number = (double)whole;
    if ((o->kind == LONG_COUNT || o->kind == BYTES) && whole >= 0 && number <= o->most) {
      *(uint64_t *)(void *)((char *)options + o->offset) = (uint64_t)whole; /* exact beyond 2^53 */
      return CM_OK;
    }
    (void)snprintf(what, sizeof what, "%" JSON_INTEGER_FORMAT, whole);
  } else if (json_is_real(value) && o->kind == REAL) {
    number = json_real_value(value);
    (void)snprintf(what, sizeof what, "%.15g", number);
  } else if (json_is_string(value) && o->kind == BYTES && cm_bytes_parse(json_string_value(value), &bytes)) {
    number = (double)bytes;
    (void)snprintf(what, sizeof what, "%.60s", json_string_value(value));
  } else
    return refuse(o, error, json_is_real(value) ? "not whole" : "no number");
  if (!(number >= o->least && number <= o->most))
    return refuse(o, error, what);
  store(options, o, number);
  return CM_OK;
}

static cm_status unknown(const char *name, cm_error *error)
{
  char known[800];
  size_t used = 0;
  for (size_t i = 0; i < OPTIONS && used < sizeof known; i++)
    used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", table[i].name);
  cm_fail(error, CM_BAD_OPTION, "there is no option %.40s; the options are %s", name, known);
  return cm_fail_at(error, "/options/%.60s", name);
}

/* What does not go together, and what follows from what. */
static cm_status resolve(struct cm_map_options *o, cm_error *error)
{
  bool chosen = o->objective != CM_OBJECTIVE_AUTO;
  const cm_engine *engine = chosen ? cm_engine_find((cm_preset)o->preset, (cm_objective)o->objective) : NULL;
  if (chosen && engine == NULL) {
    cm_fail(error, CM_BAD_OPTION,
            "preset reference minimises the edge cut; for objective \"%s\" choose preset fast, balanced or best",
            cm_objective_name((cm_objective)o->objective));
    return cm_fail_at(error, "/options/objective");
  }
  if (o->parts != 0 && engine != NULL && !engine->takes_parts) {
    cm_fail(error, CM_BAD_OPTION,
            "objective \"axon\" takes as many parts as the core limits ask for; for a fixed number of "
            "parts choose objective \"edge\"");
    return cm_fail_at(error, "/options/parts");
  }
  if (chosen && cm_objective_is_of_steps((cm_objective)o->objective) && o->mapper == CM_MAPPER_MESH) {
    cm_fail(error, CM_BAD_OPTION, "mapper \"mesh\" serves objectives edge and axon; for objective \"%s\" choose staged",
            cm_objective_name((cm_objective)o->objective));
    return cm_fail_at(error, "/options/mapper");
  }
  if (o->step_budget_ns > 0 && o->objective != CM_OBJECTIVE_ENERGY) {
    cm_fail(error, CM_BAD_OPTION, "step_budget_ns says how long a core may take under objective \"energy\": choose that, or leave "
                                  "the budget out");
    return cm_fail_at(error, "/options/step_budget_ns");
  }
  if (o->objective == CM_OBJECTIVE_PARETO && o->from[0] != '\0') {
    cm_fail(error, CM_BAD_OPTION, "objective \"pareto\" maps afresh: for a network that is mapped choose time, energy or edp, or "
                                  "leave out from");
    return cm_fail_at(error, "/options/objective");
  }
  if (o->imbalance < 0) /* time balances work, not neurons */
    o->imbalance = chosen && cm_objective_is_of_steps((cm_objective)o->objective) ? imbalance_any : 0.03;
  if (o->regions == UINT64_MAX)
    o->regions = o->preset == CM_PRESET_REFERENCE ? 0 : 2;
  if (o->coarsening_seed == UINT64_MAX)
    o->coarsening_seed = o->seed;
  if (o->placement_seed == UINT64_MAX)
    o->placement_seed = o->seed;
  if (o->threads == 0) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    o->threads = processors < 1 ? 1 : processors > 256 ? 256 : (uint32_t)processors;
  }
  return CM_OK;
}

bool cm_map_option_about(size_t number, cm_option_about *about)
{
  if (number >= OPTIONS)
    return false;
  const option *o = &table[number];
  *about = (cm_option_about){.name = o->name, .about = o->about, .partitions = o->shapes == SHAPES_BOTH || o->shapes == SHAPES_PARTS,
                             .places = o->shapes == SHAPES_BOTH || o->shapes == SHAPES_PLACES};
  size_t used = 0;
  for (size_t i = 0; o->words[i] != NULL && used < sizeof about->form; i++)
    used += (size_t)snprintf(about->form + used, sizeof about->form - used, "%s%s", i > 0 ? "|" : "", o->words[i]);
  if (o->kind != WORD)
    (void)snprintf(about->form, sizeof about->form, "%s",
                   o->kind == REAL ? "X" : o->kind == BYTES ? "BYTES" : o->kind == NAME ? "ID" : "N");
  return true;
}

cm_objective cm_objective_resolve(const struct cm_map_options *options, bool directed, bool limited)
{
  if (options->objective != CM_OBJECTIVE_AUTO)
    return (cm_objective)options->objective;
  bool axons = options->preset != CM_PRESET_REFERENCE && directed && limited && options->parts == 0;
  return axons ? CM_OBJECTIVE_AXON : CM_OBJECTIVE_EDGE;
}

const char *cm_preset_name(cm_preset preset)
{
  return find("preset")->words[preset];
}

const char *cm_objective_name(cm_objective objective)
{
  return find("objective")->words[objective];
}

cm_status cm_map_options_parse(const json_t *json, cm_map_options **options, cm_error *error)
{
  if (json != NULL && !json_is_object(json)) {
    cm_fail(error, CM_BAD_OPTION, "options must be a JSON object");
    return cm_fail_at(error, "/options");
  }
  struct cm_map_options *made = calloc(1, sizeof *made);
  if (made == NULL)
    return cm_fail(error, CM_NO_MEMORY, "out of memory for the options");
  for (size_t i = 0; i < OPTIONS; i++)
    store(made, &table[i], table[i].normal);
  const char *name;
  json_t *value;
  json_object_foreach((json_t *)json, name, value) {
    const option *o = find(name);
    cm_status status = o == NULL           ? unknown(name, error)
                       : o->kind == WORD ? parse_word(made, o, value, error)
                       : o->kind == NAME ? parse_name(made, o, value, error)
                                         : parse_number(made, o, value, error);
    if (status != CM_OK) {
      free(made);
      return status;
    }
  }
  if (resolve(made, error) != CM_OK) {
    free(made);
    return error->status;
  }
  *options = made;
  return CM_OK;
}

void cm_map_options_free(cm_map_options *options)
{
  free(options);
}

static json_t *print(const struct cm_map_options *options, const option *o)
{
  const char *field = (const char *)options + o->offset;
  switch (o->kind) {
    case WORD: return json_string(o->words[*(const uint32_t *)(const void *)field]);
    case NAME: return json_string(field);
    case REAL: return json_real(*(const double *)(const void *)field);
    case COUNT: return json_integer(*(const uint32_t *)(const void *)field);
    default: return json_integer((json_int_t) * (const uint64_t *)(const void *)field);
  }
}

json_t *cm_map_options_shaping_json(const cm_map_options *options)
{
  json_t *json = json_object();
  for (size_t i = 0; i < OPTIONS && json != NULL; i++) {
    if (table[i].same_result)
      continue;
    if (json_object_set_new(json, table[i].name, print(options, &table[i])) != 0) {
      json_decref(json);
      return NULL;
    }
  }
  return json;
}

const char *cm_map_options_from(const cm_map_options *options)
{
  return options->from[0] != '\0' ? options->from : NULL;
}

bool cm_map_options_coarsen(const cm_map_options *options)
{
  return options->preset == CM_PRESET_REFERENCE;
}

void cm_map_options_apply(const cm_map_options *options, cm_run *run)
{
  run->seed = options->seed;
  run->threads = options->threads;
  if (options->time_limit > 0)
    run->deadline = cm_now() + options->time_limit;
  if (options->memory_limit > 0 && run->memory != NULL)
    run->memory->limit_bytes = options->memory_limit;
}
