/* Networks of published recipes. */
#include <coremap/generate.h>

#include "core/generate/generate.h"
#include "library/internal.h"

_Static_assert(COREMAP_FAN_OUT_MAX == CM_FAN_OUT_MAX, "the public header states the largest fan-out");

typedef struct recipe_options {
  const char *recipe;
  uint32_t neurons, layers, width, height, spread, populations, size, threads;
  double fan_out, scale;
  bool rates, seeded, threaded; /* the last two: it is given */
  uint64_t seed;
} recipe_options;

#define FIELD(name) offsetof(recipe_options, name)
#define COUNT(name, normal, what) \
  {#name, CM_OPTION_COUNT, FIELD(name), 0, CM_VERTICES_MAX, normal, {0}, NULL, false, CM_SHAPES_BOTH, .about = what}

static const cm_option rows[] = {
  COUNT(neurons, 0, "of a reservoir or connectome"),
  {"fan_out", CM_OPTION_REAL, FIELD(fan_out), 0, CM_FAN_OUT_MAX, 0, {0}, NULL, false, CM_SHAPES_BOTH, .about = "mean number of targets; 0: by the recipe"},
  COUNT(layers, 32, "2 or more"),
  COUNT(width, 32768, "of a layer"),
  COUNT(height, 1, "of a layer"),
  COUNT(spread, 0, "neurons around the same place that targets are drawn from; 0: twice the fan-out"),
  COUNT(populations, 200, "of a chain"),
  COUNT(size, 10000, "of a population of a chain"),
  {"scale", CM_OPTION_REAL, FIELD(scale), 0, 1e9, 1, {0}, NULL, false, CM_SHAPES_BOTH, .about = "of a microcircuit"},
  {"rates", CM_OPTION_FLAG, FIELD(rates), 0, 1, 0, {0}, NULL, false, CM_SHAPES_BOTH, .about = "of a microcircuit: the published mean rates"},
  {"seed", CM_OPTION_LONG_COUNT, FIELD(seed), 0, CM_OPTION_WHOLE_MOST, 1, {0}, NULL, false, CM_SHAPES_BOTH, .about = "of what is drawn"},
  {"threads", CM_OPTION_COUNT, FIELD(threads), 1, 1024, 1, {0}, NULL, true, CM_SHAPES_BOTH, .about = "never changes the result"}};
static const cm_options table = {rows, sizeof rows / sizeof *rows, "a recipe", NULL};

enum { CONNECTOME_NEURONS = 139000, CONNECTOME_FAN_OUT = 360, LAYERED_FAN_OUT = 64 };

static cm_status read_options(const char *recipe, const char *text, recipe_options *options, cm_error *error)
{
  json_t *object;
  cm_options_default(&table, options);
  options->recipe = recipe;
  CM_TRY(library_options(text, &object, error));
  cm_status status = cm_options_read(&table, object, options, error);
  options->seeded = json_object_get(object, "seed") != NULL;
  options->threaded = json_object_get(object, "threads") != NULL;
  json_decref(object);
  return status;
}

static cm_status make(const recipe_options *o, cm_run *run, cm_topology **topology, cm_error *error)
{
  if (strcmp(o->recipe, "layered") == 0) {
    cm_layered shape = {o->layers, o->width, o->height, o->fan_out > 0 ? (uint32_t)o->fan_out : LAYERED_FAN_OUT, o->spread};
    if (shape.spread == 0)
      shape.spread = 2 * shape.fan_out;
    return cm_generate_layered(&shape, run, topology, error);
  }
  if (strcmp(o->recipe, "chain") == 0)
    return cm_generate_chain(o->populations, o->size, run, topology, error);
  if (strcmp(o->recipe, "connectome") == 0)
    return cm_generate_connectome(o->neurons > 0 ? o->neurons : CONNECTOME_NEURONS, o->fan_out > 0 ? o->fan_out : CONNECTOME_FAN_OUT, run,
                                  topology, error);
  if (strcmp(o->recipe, "reservoir") == 0)
    return cm_generate_reservoir(o->neurons, o->fan_out > 0 ? o->fan_out : cm_reservoir_fan_out(o->neurons), run, topology, error);
  return cm_fail(error, CM_NOT_FOUND, "there is no recipe \"%.40s\", but reservoir, microcircuit (into a file), layered, chain and connectome",
                 o->recipe);
}

static void begin(library_run *r, const recipe_options *options, coremap_progress progress, void *user)
{
  library_begin(r, progress, user);
  if (options->seeded)
    r->run->seed = options->seed;
  if (options->threaded)
    r->run->threads = options->threads;
}

int coremap_generate(const char *recipe, const char *text, coremap_progress progress, void *user, coremap_network **network,
                     coremap_error **error)
{
  cm_error e;
  library_run r;
  recipe_options options;
  cm_topology *topology = NULL;
  cm_status status = read_options(recipe, text, &options, &e);
  if (status == CM_OK) {
    begin(&r, &options, progress, user);
    library_outlive(&r, NULL);
    status = make(&options, r.run, &topology, &e);
    cm_run_finish(r.run);
  }
  return library_network_own(status, topology, "", network, &e, error);
}

static cm_status write_microcircuit(const recipe_options *o, const char *path, cm_run *run, json_t **report, cm_error *error)
{
  cm_microcircuit counts;
  cm_microcircuit_report made;
  CM_TRY(cm_microcircuit_counts(o->scale, &counts, error));
  CM_TRY(cm_generate_microcircuit(o->scale, o->rates, path, run, &made, error));
  *report = json_pack("{s:I, s:I, s:I}", "neurons", (json_int_t)counts.neurons, "synapses", (json_int_t)made.synapses, "pairs",
                      (json_int_t)made.pairs);
  return CM_OK;
}

static cm_status write_made(const recipe_options *o, const char *path, const char *as, cm_run *run, json_t **report, cm_error *error)
{
  cm_topology *t;
  CM_TRY(make(o, run, &t, error));
  cm_status status = library_network_write(t, path, as, run, error);
  *report = json_pack("{s:I, s:I, s:I}", "neurons", (json_int_t)t->vertex_count, "hyperedges", (json_int_t)cm_topology_hyperedges(t),
                      "synapses", (json_int_t)cm_topology_synapses(t));
  cm_topology_free(t);
  return status;
}

int coremap_generate_file(const char *recipe, const char *text, const char *path, const char *as, coremap_progress progress, void *user,
                          char **report, coremap_error **error)
{
  cm_error e;
  library_run r;
  recipe_options options;
  json_t *told = NULL;
  cm_status status = read_options(recipe, text, &options, &e);
  if (status != CM_OK)
    return library_tell(status, &e, error);
  begin(&r, &options, progress, user);
  status = strcmp(recipe, "microcircuit") == 0 ? write_microcircuit(&options, path, r.run, &told, &e)
                                               : write_made(&options, path, as, r.run, &told, &e);
  cm_run_finish(r.run);
  return library_tell(library_text_of(status, told, JSON_COMPACT, report, &e), &e, error);
}
