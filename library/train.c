/* Training a policy. */
#include <coremap/train.h>

#include "base/json.h"
#include "core/learning/pilot/pilot.h"
#include "library/internal.h"
#include "library/training_set.h"

_Static_assert(COREMAP_POLICY_LAYERS_MAX == CM_POLICY_LAYERS_MAX && COREMAP_POLICY_WIDTH_MAX == CM_POLICY_WIDTH_MAX,
               "the public header states the largest policy");

typedef struct asked {
  char graphs[CM_PATH_MAX], chips[CM_PATH_MAX], from[CM_PATH_MAX], checkpoint[CM_PATH_MAX]; /* "": not given */
  const char *output;
  json_t *curves; /* paths; NULL: none */
  coremap_lines line;
  void *line_user;
  uint32_t generated, every, stop_after, width, layers, method, threads;
  cm_policy_shape shape;
  cm_train_options options, given; /* given: 0 where it was not */
  bool wide; /* the width was given */
} asked;

#define FIELD(name) offsetof(asked, name)
#define COUNT(name, field, least, most, normal, what) \
  {name, CM_OPTION_COUNT, FIELD(field), least, most, normal, {0}, NULL, false, CM_SHAPES_BOTH, .about = what}
#define REAL(name, field, most, what) {name, CM_OPTION_REAL, FIELD(field), 0, most, 0, {0}, NULL, false, CM_SHAPES_BOTH, .about = what}

static const cm_option rows[] = {
  {"method", CM_OPTION_WORD, FIELD(method), CM_KIND_LAYOUT, 0, CM_KIND_LAYOUT, {"layout", "letter-shared", "letter-plane", "pilot"}, NULL, false,
   CM_SHAPES_BOTH, .about = "of learning"},
  COUNT("generated", generated, 0, 1000, 32, "graphs drawn at random for each chip"),
  COUNT("updates", given.updates, 0, 1000000, 0, "of the policy; 0: as suits the method, as below"),
  REAL("threshold", given.threshold, 1e6, "total of rewards at which it is updated"),
  COUNT("rounds", given.rounds, 0, 64, 0, "looks in an episode"),
  COUNT("draws", given.draws, 0, 256, 0, "placements drawn in an episode of the letter, pairs of flights of a pilot"),
  REAL("own", given.own, 100, "of the letter: share of a node's own loss in what a draw is worth to it"),
  REAL("rate", given.rate, 1, "of Adam"),
  COUNT("layers", layers, 0, CM_POLICY_LAYERS_MAX, 3, "graph convolutions"),
  COUNT("width", width, 0, CM_POLICY_WIDTH_MAX, 0, "of each, and of the readout; 0: 32, of a pilot 4"),
  COUNT("every", every, 1, 1000000, 50, "updates between checkpoints"),
  COUNT("stop_after", stop_after, 0, 1000000, 0, "updates of this call; 0: all"),
  COUNT("threads", threads, 1, 256, 2, "never changes the result")};
static const cm_options table = {rows, sizeof rows / sizeof *rows, "training", NULL};

json_t *library_train_table(void)
{
  return library_option_rows(&table);
}

/* What suits the method, but for what was given. */
static void settle_options(asked *a)
{
  cm_train_options *o = &a->options, *g = &a->given;
  uint64_t seed = o->seed;
  bool layout = a->shape.kind == CM_KIND_LAYOUT, pilot = a->shape.kind == CM_KIND_PILOT;
  *o = layout ? cm_train_defaults() : pilot ? cm_train_pilot_defaults() : cm_train_letter_defaults();
  o->seed = seed;
  o->updates = g->updates > 0 ? g->updates : o->updates;
  o->threshold = g->threshold > 0 ? g->threshold : o->threshold;
  o->rounds = g->rounds > 0 && layout ? g->rounds : o->rounds;
  o->rate = g->rate > 0 ? g->rate : o->rate;
  o->draws = g->draws > 0 ? g->draws : o->draws;
  o->own = g->own > 0 ? g->own : o->own;
  if (pilot)
    a->shape.layers = 1;
  if (pilot && !a->wide)
    a->shape.width = a->shape.readout = 4;
}

static cm_status begin(const asked *a, cm_policy **policy, cm_error *error)
{
  if (a->from[0] != '\0') {
    CM_TRY(cm_policy_load(a->from, policy, error));
    if ((*policy)->shape.kind == a->shape.kind)
      return CM_OK;
    cm_policy_free(*policy);
    return cm_fail(error, CM_BAD_OPTION, "%s is a policy of another method of learning: choose the method that made it, or begin without it", a->from);
  }
  return cm_policy_new(&a->shape, 1, a->options.seed, policy, error);
}

static cm_status write_curve(const char *path, const cm_training *training, cm_error *error)
{
  cm_file file;
  uint32_t count;
  const cm_curve_point *curve = cm_training_curve(training, &count);
  size_t length = strlen(path);
  bool picture = length > 4 && strcmp(path + length - 4, ".svg") == 0;
  CM_TRY(cm_file_create(&file, path, error));
  return cm_file_end(&file, (picture ? cm_curve_write_svg : cm_curve_write_csv)(curve, count, file.stream, error), error);
}

/* What the policy says of itself. */
static cm_status fill_card(const asked *a, const library_training_set *s, cm_training *training, cm_error *error)
{
  const cm_train_options *o = &a->options;
  uint32_t count;
  const cm_curve_point *curve = cm_training_curve(training, &count);
  uint64_t episodes = 0;
  for (uint32_t i = 0; i < count; i++)
    episodes += curve[i].episodes;
  const cm_curve_point *last = &curve[count - 1];
  json_t *card = json_pack(
    "{s:{s:i, s:i, s:s, s:i}, s:{s:I, s:i, s:I, s:f, s:i, s:f, s:i, s:i, s:f, s:f, s:f, s:f, s:i}, s:{s:f, s:f, s:f}}",
    "training_set", "examples", (int)s->examples, "generated_per_chip", (int)a->generated, "chips", a->chips,
    "held_out_every", (int)o->held_out, "training", "seed", (json_int_t)o->seed, "updates", (int)count, "episodes",
    (json_int_t)episodes, "threshold", o->threshold, "rounds", (int)o->rounds, "noise", o->noise, "epochs",
    (int)o->epochs, "batch", (int)o->batch, "clip", o->clip, "rate", o->rate, "whole", o->whole, "own", o->own,
    "draws", (int)o->draws, "results",
    "held_out_hops_to_sequential", last->held_out, "start_hops_to_sequential", last->start, "reward", last->reward);
  char *text;
  CM_TRY(cm_json_text(card, JSON_INDENT(1) | JSON_REAL_PRECISION(6), "the card", &text, error));
  cm_policy *policy = cm_training_policy(training);
  free(policy->card);
  policy->card = text;
  return CM_OK;
}

static void tell(const asked *a, const cm_training *training, uint32_t from)
{
  uint32_t count;
  char line[200];
  const cm_curve_point *curve = cm_training_curve(training, &count);
  for (uint32_t i = from; i < count; i++)
    if (curve[i].held_out > 0) {
      (void)snprintf(line, sizeof line, "update %-5u %u episodes, reward %.4f, held out %.4f of sequential (start %.4f)", curve[i].update,
                     curve[i].episodes, curve[i].reward, curve[i].held_out, curve[i].start);
      a->line(a->line_user, line);
    }
}

static cm_status run_updates(const asked *a, cm_training *training, cm_error *error)
{
  uint32_t done, until = a->options.updates;
  (void)cm_training_curve(training, &done);
  if (a->stop_after > 0 && done + a->stop_after < until)
    until = done + a->stop_after;
  while (done < until) {
    uint32_t next = done + a->every < until ? done + a->every : until;
    CM_TRY(cm_training_run(training, next, error));
    if (a->line != NULL)
      tell(a, training, done);
    if (a->checkpoint[0] != '\0' && cm_training_save(training, a->checkpoint, error) != CM_OK)
      return error->status;
    done = next;
  }
  return CM_OK;
}

static cm_status train(const asked *a, const library_training_set *s, char **card, cm_error *error)
{
  cm_policy *policy;
  cm_training *training = NULL;
  CM_TRY(begin(a, &policy, error));
  cm_status status = cm_training_new(&(cm_training_task){policy, s->example, s->examples}, &a->options, s->run, &training, error);
  if (status == CM_OK && a->checkpoint[0] != '\0') {
    status = cm_training_resume(training, a->checkpoint, error);
    if (status == CM_NOT_FOUND)
      status = CM_OK;
  }
  CM_THEN(status, run_updates(a, training, error));
  CM_THEN(status, fill_card(a, s, training, error));
  CM_THEN(status, cm_policy_save(cm_training_policy(training), a->output, error));
  for (size_t i = 0; i < json_array_size(a->curves) && status == CM_OK; i++)
    status = write_curve(json_string_value(json_array_get(a->curves, i)), training, error);
  CM_THEN_IF(status, card != NULL, cm_whole((*card = strdup(cm_training_policy(training)->card)) != NULL, "the card", error));
  cm_training_free(training);
  cm_policy_free(policy);
  return status;
}

/* ---- what is asked ---- */

static cm_status read_curves(json_t *object, asked *a, cm_error *error)
{
  json_t *curves = json_object_get(object, "curves"), *one;
  size_t i;
  if (curves != NULL && !json_is_array(curves))
    return cm_option_refuse(error, "curves", "a list of paths");
  json_array_foreach(curves, i, one)
    if (!json_is_string(one))
      return cm_option_refuse(error, "curves", "a list of paths");
  a->curves = json_incref(curves);
  (void)json_object_del(object, "curves");
  return CM_OK;
}

static cm_status read_asked(json_t *object, asked *a, cm_error *error)
{
  const json_t *given = json_object_get(object, "seed");
  const uint64_t seed = given != NULL ? (uint64_t)json_integer_value(given) : cm_train_defaults().seed;
  if (given != NULL && !json_is_integer(given))
    return cm_option_refuse(error, "seed", "a whole number");
  (void)json_object_del(object, "seed");
  if (read_curves(object, a, error) != CM_OK || library_take_text(object, "graphs", a->graphs, error) != CM_OK ||
      library_take_text(object, "chips", a->chips, error) != CM_OK || library_take_text(object, "from", a->from, error) != CM_OK ||
      library_take_text(object, "checkpoint", a->checkpoint, error) != CM_OK)
    return error->status;
  cm_options_default(&table, a);
  CM_TRY(cm_options_read(&table, object, a, error));
  a->options.seed = seed;
  if (a->chips[0] == '\0')
    return cm_option_refuse(error, "chips", "grids WxH, presets or chip files, with commas between");
  a->wide = a->width > 0;
  a->shape = (cm_policy_shape){.layers = a->layers, .width = a->wide ? a->width : 32, .readout = a->wide ? a->width : 32};
  a->shape.kind = a->method;
  a->shape.inputs = a->method == CM_KIND_LAYOUT ? CM_POLICY_INPUTS : a->method == CM_KIND_PILOT ? CM_PILOT_INPUTS : CM_FEATURES;
  settle_options(a);
  return CM_OK;
}

static cm_status train_on(const asked *a, cm_run *run, char **card, cm_error *error)
{
  /* The letter's reward counts trees. */
  library_training_set s = {.graphs = a->graphs[0] != '\0' ? a->graphs : NULL, .chip_names = a->chips, .generated = a->generated,
                            .trees = a->shape.kind != CM_KIND_LAYOUT, .seed = a->options.seed, .run = run};
  cm_status status = library_training_set_make(&s, error);
  CM_THEN(status, train(a, &s, card, error));
  library_training_set_free(&s);
  return status;
}

int coremap_train(const char *options, const char *path, coremap_lines line, void *line_user, coremap_progress progress, void *user,
                  char **card, coremap_error **error)
{
  cm_error e;
  library_run r;
  json_t *object = NULL;
  asked a = {.output = path, .line = line, .line_user = line_user};
  library_begin(&r, progress, user);
  cm_status status = library_options(options, &object, &e);
  CM_THEN(status, read_asked(object, &a, &e));
  json_decref(object);
  if (status == CM_OK) {
    r.run->threads = a.threads;
    status = train_on(&a, r.run, card, &e);
  }
  cm_run_finish(r.run);
  json_decref(a.curves);
  return library_tell(status, &e, error);
}
