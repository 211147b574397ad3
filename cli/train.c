/* coremap train: a policy for mapper `learned` from a set of graphs (docs/learned-mapper.md). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/training_set.h"
#include "base/file.h"
#include "base/json.h"
#include "core/learning/pilot/pilot.h"
#include "core/learning/training/train.h"

enum { GRAPHS = 1, GENERATED, CHIPS, UPDATES, THRESHOLD, ROUNDS, RATE, LAYERS, WIDTH, SEED, FROM, CHECKPOINT, EVERY, STOP,
       CURVE, THREADS, METHOD, DRAWS, OWN };

static const cli_flag flags[] = {
  {"method", "NAME", METHOD, "layout (unless given), letter, letter-plane or pilot (docs/learned-mapper.md)"},
  {"graphs", "DIR", GRAPHS, "networks in any format; each is cut into parts for each chip"},
  {"generated", "N", GENERATED, "so many graphs drawn at random for each chip; 32 unless given"},
  {"chips", "LIST", CHIPS, "grids WxH, presets or chip files, with commas between"},
  {"updates", "N", UPDATES, "of the policy; 150 unless given (letter: 2000)"},
  {"threshold", "X", THRESHOLD, "total of rewards at which it is updated; 48 unless given (letter: 96)"},
  {"rounds", "N", ROUNDS, "looks in an episode; 4 unless given (letter: always 1)"},
  {"draws", "N", DRAWS, "of the letter: placements drawn in an episode; of a pilot: pairs of flights; 8 unless given"},
  {"own", "X", OWN, "of the letter: share of a node's own loss in what a draw is worth to it; 0 unless given"},
  {"rate", "X", RATE, "of Adam; 0.003 unless given (letter: 0.001, pilot: 0.08)"},
  {"layers", "N", LAYERS, "graph convolutions; 3 unless given"},
  {"width", "N", WIDTH, "of each, and of the readout; 32 unless given (pilot: 4)"},
  {"seed", "N", SEED, "same input, options and seed: same bytes out"},
  {"from", "POLICY", FROM, "begin with this one"},
  {"checkpoint", "FILE", CHECKPOINT, "write one now and then; where it is there already, go on from it"},
  {"every", "N", EVERY, "updates between checkpoints; 50 unless given"},
  {"stop-after", "N", STOP, "updates of this run: the rest when it is resumed"},
  {"curve", "FILE", CURVE, "the learning curve, as .csv or .svg; may be given twice"},
  {"threads", "N", THREADS, "never changes the result"},
  {"output", "FILE", CLI_OUTPUT, "the policy"},
  CLI_JSON_FLAG,
  CLI_QUIET_FLAG,
  {0}};

enum { CURVES_MAX = 2 };

typedef struct arguments {
  const char *graphs, *chips, *from, *checkpoint, *output, *curve[CURVES_MAX];
  uint32_t curves, generated, every, stop_after;
  cm_policy_shape shape;
  cm_train_options options, given; /* given: 0 where it was not */
  unsigned threads;
  bool json, quiet, wide; /* wide: the width was given */
} arguments;

static bool real_of(const char *text, double most, double *value)
{
  char *end;
  *value = strtod(text, &end);
  return end != text && *end == '\0' && *value > 0 && *value <= most;
}

static bool choose_method(const char *name, cm_policy_shape *shape)
{
  static const char *const names[CM_KINDS] = {"layout", "letter", "letter-plane", "pilot"};
  for (uint32_t kind = 0; kind < CM_KINDS; kind++)
    if (strcmp(name, names[kind]) == 0) {
      shape->kind = kind;
      shape->inputs = kind == CM_KIND_LAYOUT ? CM_POLICY_INPUTS : kind == CM_KIND_PILOT ? CM_PILOT_INPUTS : CM_FEATURES;
      return true;
    }
  return false;
}

/* What suits the method, but for what was given. */
static void settle_options(arguments *a)
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

/* Returns -1 to go on, else an exit status. */
static int parse(int argc, char **argv, arguments *a)
{
  for (int flag; (flag = cli_next(&cli_command_train, argc, argv)) != -1;) {
    bool good = true;
    switch (flag) {
      case GRAPHS: a->graphs = optarg; break;
      case GENERATED: good = cli_whole32(optarg, 0, 1000, &a->generated); break;
      case CHIPS: a->chips = optarg; break;
      case METHOD: good = choose_method(optarg, &a->shape); break;
      case DRAWS: good = cli_whole32(optarg, 2, 256, &a->given.draws); break;
      case OWN: good = real_of(optarg, 100, &a->given.own); break;
      case UPDATES: good = cli_whole32(optarg, 1, 1000000, &a->given.updates); break;
      case THRESHOLD: good = real_of(optarg, 1e6, &a->given.threshold); break;
      case ROUNDS: good = cli_whole32(optarg, 1, 64, &a->given.rounds); break;
      case RATE: good = real_of(optarg, 1, &a->given.rate); break;
      case LAYERS: good = cli_whole32(optarg, 0, CM_POLICY_LAYERS_MAX, &a->shape.layers); break;
      case WIDTH:
        good = cli_whole32(optarg, 1, CM_POLICY_WIDTH_MAX, &a->shape.width);
        a->shape.readout = a->shape.width;
        a->wide = true;
        break;
      case SEED: good = cli_whole(optarg, 0, UINT64_MAX, &a->options.seed); break;
      case FROM: a->from = cli_input(optarg); break;
      case CHECKPOINT: a->checkpoint = optarg; break;
      case EVERY: good = cli_whole32(optarg, 1, 1000000, &a->every); break;
      case STOP: good = cli_whole32(optarg, 1, 1000000, &a->stop_after); break;
      case CURVE:
        good = a->curves < CURVES_MAX;
        if (good)
          a->curve[a->curves++] = cli_output(optarg);
        break;
      case THREADS: good = cli_whole32(optarg, 1, 256, &a->threads); break;
      case CLI_OUTPUT: a->output = cli_output(optarg); break;
      case CLI_JSON: a->json = true; break;
      case CLI_QUIET: a->quiet = true; break;
      default: return cli_ended(flag);
    }
    if (!good)
      return cli_usage("train", "--%s cannot be \"%s\"", cli_taken(), optarg);
  }
  if (optind != argc)
    return cli_usage("train", "\"%s\" is one word too many", argv[optind]);
  if (a->output == NULL || a->chips == NULL)
    return cli_usage("train", "name the policy to write with -o and the chips with --chips");
  if (a->graphs == NULL && a->generated == 0)
    return cli_usage("train", "there is nothing to train on: name a folder with --graphs, or allow --generated");
  settle_options(a);
  return -1;
}

static cm_status begin(const arguments *a, cm_policy **policy, cm_error *error)
{
  if (a->from != NULL) {
    if (cm_policy_load(a->from, policy, error) != CM_OK)
      return error->status;
    if ((*policy)->shape.kind == a->shape.kind)
      return CM_OK;
    cm_policy_free(*policy);
    return cm_fail(error, CM_BAD_OPTION, "%s is of another --method", a->from);
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
  if (cm_file_create(&file, path, error) != CM_OK)
    return error->status;
  if ((picture ? cm_curve_write_svg : cm_curve_write_csv)(curve, count, file.stream, error) != CM_OK) {
    cm_file_discard(&file);
    return error->status;
  }
  return cm_file_commit(&file, error);
}

/* What the policy says of itself. */
static cm_status fill_card(const arguments *a, const cli_training_set *s, cm_training *training, cm_error *error)
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
  char *text = card != NULL ? cm_json_dumps(card, JSON_INDENT(1) | JSON_REAL_PRECISION(6)) : NULL;
  json_decref(card);
  if (text == NULL)
    return cm_fail(error, CM_NO_MEMORY, "out of memory for the card");
  cm_policy *policy = cm_training_policy(training);
  free(policy->card);
  policy->card = text;
  return CM_OK;
}

static void tell(const cm_training *training, uint32_t from)
{
  uint32_t count;
  const cm_curve_point *curve = cm_training_curve(training, &count);
  for (uint32_t i = from; i < count; i++)
    if (curve[i].held_out > 0)
      fprintf(stderr, "update %-5u %u episodes, reward %.4f, held out %.4f of sequential (start %.4f)\n",
              curve[i].update, curve[i].episodes, curve[i].reward, curve[i].held_out, curve[i].start);
}

static cm_status run_updates(const arguments *a, cm_training *training, cm_error *error)
{
  uint32_t done, until = a->options.updates;
  (void)cm_training_curve(training, &done);
  if (a->stop_after > 0 && done + a->stop_after < until)
    until = done + a->stop_after;
  while (done < until) {
    uint32_t next = done + a->every < until ? done + a->every : until;
    if (cm_training_run(training, next, error) != CM_OK)
      return error->status;
    if (!a->quiet)
      tell(training, done);
    if (a->checkpoint != NULL && cm_training_save(training, a->checkpoint, error) != CM_OK)
      return error->status;
    done = next;
  }
  return CM_OK;
}

static cm_status train(const arguments *a, const cli_training_set *s, cm_error *error)
{
  cm_policy *policy;
  cm_training *training = NULL;
  if (begin(a, &policy, error) != CM_OK)
    return error->status;
  cm_status status =
    cm_training_new(policy, s->example, s->examples, &a->options, s->run, &training, error);
  if (status == CM_OK && a->checkpoint != NULL) {
    status = cm_training_resume(training, a->checkpoint, error);
    if (status == CM_NOT_FOUND)
      status = CM_OK;
  }
  if (status == CM_OK)
    status = run_updates(a, training, error);
  if (status == CM_OK)
    status = fill_card(a, s, training, error);
  if (status == CM_OK)
    status = cm_policy_save(cm_training_policy(training), a->output, error);
  for (uint32_t i = 0; i < a->curves && status == CM_OK; i++)
    status = write_curve(a->curve[i], training, error);
  if (status == CM_OK && a->json)
    puts(cm_training_policy(training)->card);
  cm_training_free(training);
  cm_policy_free(policy);
  return status;
}

static int train_command(int argc, char **argv)
{
  arguments a = {.generated = 32,
                 .every = 50,
                 .threads = 2,
                 .shape = {.inputs = CM_POLICY_INPUTS, .layers = 3, .width = 32, .readout = 32},
                 .options = cm_train_defaults()};
  int done = parse(argc, argv, &a);
  if (done >= 0)
    return done;
  cm_error error;
  cli_run cli;
  cli_run_begin(&cli, a.quiet);
  cli.run.threads = a.threads;
  /* The letter's reward counts trees. */
  cli_training_set s = {.graphs = a.graphs, .chip_names = a.chips, .generated = a.generated, .trees = a.shape.kind != CM_KIND_LAYOUT,
                        .seed = a.options.seed, .run = &cli.run};
  cm_status status = cli_training_set_make(&s, &error);
  if (status == CM_OK)
    status = train(&a, &s, &error);
  cli_run_end(&cli);
  cli_training_set_free(&s);
  return status == CM_OK ? EXIT_DONE : cli_fail(&error);
}

const cli_command cli_command_train = {
  .name = "train", .what = "train the policy of mapper `learned`", .run = train_command, .reads = true,
  .usage = "[--graphs DIR] --chips LIST -o POLICY [OPTION...]",
  .about = "Trains the policy of mapper `learned` on part graphs: of the networks in a folder, and drawn at random. With --json it\n"
           "prints the policy's card: on what it was trained, how, and with what result.",
  .flags = flags};
