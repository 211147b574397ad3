/* coremap train: a policy for mapper `learned` from a set of graphs (docs/explanation/learned-mapper.md). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum { GRAPHS = 1, GENERATED, CHIPS, UPDATES, THRESHOLD, ROUNDS, RATE, LAYERS, WIDTH, SEED, FROM, CHECKPOINT, EVERY, STOP,
       CURVE, THREADS, METHOD, DRAWS, OWN };

static const cli_flag flags[] = {
  {"method", "NAME", METHOD, "layout (unless given), letter-shared, letter-plane or pilot (docs/explanation/learned-mapper.md)"},
  {"graphs", "DIR", GRAPHS, "networks in any format; each is cut into parts for each chip"},
  {"generated", "N", GENERATED, "so many graphs drawn at random for each chip; 32 unless given"},
  {"chips", "LIST", CHIPS, "grids WxH, presets or chip files, with commas between"},
  {"updates", "N", UPDATES, "of the policy; 150 unless given (the letters: 2000)"},
  {"threshold", "X", THRESHOLD, "total of rewards at which it is updated; 48 unless given (the letters: 96)"},
  {"rounds", "N", ROUNDS, "looks in an episode; 4 unless given (the letters: always 1)"},
  {"draws", "N", DRAWS, "of the letters: placements drawn in an episode; of a pilot: pairs of flights; 8 unless given"},
  {"own", "X", OWN, "of the letters: share of a node's own loss in what a draw is worth to it; 0 unless given"},
  {"rate", "X", RATE, "of Adam; 0.003 unless given (the letters: 0.001, pilot: 0.08)"},
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
  const char *output;
  json_t *options, *curves;
  bool graphs, none; /* a folder is named; none are generated */
  bool json, quiet;
} arguments;

static bool real_of(const char *text, double most, arguments *a)
{
  char *end;
  double value = strtod(text, &end);
  return end != text && *end == '\0' && value > 0 && value <= most &&
         json_object_set_new(a->options, cli_taken(), json_real(value)) == 0;
}

static bool count_of(const char *text, uint64_t least, uint64_t most, arguments *a)
{
  uint64_t value;
  const char *name = strcmp(cli_taken(), "stop-after") == 0 ? "stop_after" : cli_taken();
  return cli_whole(text, least, most, &value) && json_object_set_new(a->options, name, json_integer((json_int_t)value)) == 0;
}

static bool text_of(const char *text, arguments *a)
{
  return json_object_set_new(a->options, cli_taken(), json_string(text)) == 0;
}

/* Whether the library knows the method. */
static bool choose_method(const char *name, arguments *a)
{
  const json_t *row;
  size_t i, length = strlen(name);
  json_array_foreach(cli_table("train"), i, row) {
    if (strcmp(cli_text(row, "name"), "method") != 0)
      continue;
    for (const char *word = cli_text(row, "form"); *word != '\0'; word += strspn(word, "|")) {
      size_t size = strcspn(word, "|");
      if (size == length && strncmp(word, name, size) == 0)
        return text_of(name, a);
      word += size;
    }
  }
  return false;
}

/* Returns -1 to go on, else an exit status. */
static int parse(int argc, char **argv, arguments *a)
{
  for (int flag; (flag = cli_next(&cli_command_train, argc, argv)) != -1;) {
    bool good = true;
    switch (flag) {
      case GRAPHS:
        good = text_of(optarg, a);
        a->graphs = true;
        break;
      case GENERATED:
        good = count_of(optarg, 0, 1000, a);
        a->none = good && strtoul(optarg, NULL, 10) == 0;
        break;
      case CHIPS:
      case CHECKPOINT: good = text_of(optarg, a); break;
      case METHOD: good = choose_method(optarg, a); break;
      case DRAWS: good = count_of(optarg, 2, 256, a); break;
      case OWN: good = real_of(optarg, 100, a); break;
      case UPDATES:
      case EVERY:
      case STOP: good = count_of(optarg, 1, 1000000, a); break;
      case THRESHOLD: good = real_of(optarg, 1e6, a); break;
      case ROUNDS: good = count_of(optarg, 1, 64, a); break;
      case RATE: good = real_of(optarg, 1, a); break;
      case LAYERS: good = count_of(optarg, 0, COREMAP_POLICY_LAYERS_MAX, a); break;
      case WIDTH: good = count_of(optarg, 1, COREMAP_POLICY_WIDTH_MAX, a); break;
      case SEED: good = count_of(optarg, 0, UINT64_MAX, a); break;
      case FROM: good = text_of(cli_input(optarg), a); break;
      case CURVE: good = json_array_size(a->curves) < CURVES_MAX && json_array_append_new(a->curves, json_string(cli_output(optarg))) == 0; break;
      case THREADS: good = count_of(optarg, 1, 256, a); break;
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
  if (a->output == NULL || json_object_get(a->options, "chips") == NULL)
    return cli_usage("train", "name the policy to write with -o and the chips with --chips");
  if (!a->graphs && a->none)
    return cli_usage("train", "there is nothing to train on: name a folder with --graphs, or allow --generated");
  return -1;
}

static void on_line(void *user, const char *line)
{
  (void)user;
  cli_printf(stderr, "%s\n", line);
}

static int train(const arguments *a)
{
  cm_error error;
  cli_run cli;
  coremap_error *why = NULL;
  char *options = NULL, *card = NULL;
  cli_run_begin(&cli, a->quiet);
  (void)json_object_set(a->options, "curves", a->curves);
  cm_status status = cli_json_text(a->options, &options, &error);
  if (status == CM_OK)
    status = library_status(coremap_train(options, a->output, a->quiet ? NULL : on_line, NULL, library_on_run, &cli.run, &card, &why), &why,
                            &error);
  free(options);
  if (status == CM_OK && a->json)
    cli_puts(card);
  cli_run_end(&cli);
  coremap_text_free(card);
  return status == CM_OK ? EXIT_DONE : cli_fail(&error);
}

static int train_command(int argc, char **argv)
{
  arguments a = {.options = json_object(), .curves = json_array()};
  int done = parse(argc, argv, &a);
  if (done < 0)
    done = train(&a);
  json_decref(a.options);
  json_decref(a.curves);
  return done;
}

const cli_command cli_command_train = {
  .name = "train", .what = "train the policy of mapper `learned`", .run = train_command, .reads = true,
  .usage = "[--graphs DIR] --chips LIST -o POLICY [OPTION...]",
  .about = "Trains the policy of mapper `learned` on part graphs: of the networks in a folder, and drawn at random. With --json it\n"
           "prints the policy's card: on what it was trained, how, and with what result.",
  .flags = flags};
