/* coremap train: a policy for mapper `learned` from a set of graphs (docs/explanation/learned-mapper.md). */

#include "cli/cli.h"

enum { GENERATED = 1, UPDATES, THRESHOLD, ROUNDS, RATE, LAYERS, WIDTH, SEED, FROM, CURVE, THREADS, METHOD, DRAWS, OWN };

typedef struct arguments {
  cli_line line; /* its body is the library's options */
  const char *output;
} arguments;

static const cli_flag flags[] = {
  {"method", "NAME", METHOD, "layout (unless given), letter-shared, letter-plane or pilot (docs/explanation/learned-mapper.md)"},
  {"graphs", "DIR", CLI_BODY, "networks in any format; each is cut into parts for each chip"},
  {"generated", "N", GENERATED, "so many graphs drawn at random for each chip; 32 unless given"},
  {"chips", "LIST", CLI_BODY, "grids WxH, presets or chip files, with commas between"},
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
  {"checkpoint", "FILE", CLI_BODY, "write one now and then; where it is there already, go on from it"},
  {"every", "N", UPDATES, "updates between checkpoints; 50 unless given"},
  {"stop-after", "N", UPDATES, "updates of this run: the rest when it is resumed"},
  {"curve", "FILE", CURVE, "the learning curve, as .csv or .svg; may be given twice"},
  {"threads", "N", THREADS, "never changes the result"},
  {"output", "FILE", CLI_OUT, "the policy", CLI_AT(output)},
  CLI_JSON_FLAG,
  CLI_QUIET_FLAG,
  {0}};

enum { CURVES_MAX = 2 };

static bool real_of(double most, cli_line *line)
{
  char *end;
  double value = strtod(optarg, &end);
  return end != optarg && *end == '\0' && value > 0 && value <= most && json_object_set_new(line->body, cli_taken(), json_real(value)) == 0;
}

static bool count_of(uint64_t least, uint64_t most, cli_line *line)
{
  uint64_t value;
  const char *name = strcmp(cli_taken(), "stop-after") == 0 ? "stop_after" : cli_taken();
  return cli_whole(optarg, least, most, &value) && json_object_set_new(line->body, name, json_integer((json_int_t)value)) == 0;
}

/* Whether the library knows the method. */
static bool is_method(const char *name)
{
  const json_t *row;
  size_t i, length = strlen(name);
  json_array_foreach(cli_table("train"), i, row) {
    if (strcmp(cli_text(row, "name"), "method") != 0)
      continue;
    for (const char *word = cli_text(row, "form"); *word != '\0'; word += strspn(word, "|")) {
      size_t size = strcspn(word, "|");
      if (size == length && strncmp(word, name, size) == 0)
        return true;
      word += size;
    }
  }
  return false;
}

static int take(void *given, int code)
{
  cli_line *line = given;
  json_t *body = line->body;
  bool good = true;
  switch (code) {
  case GENERATED: good = count_of(0, 1000, line); break;
  case METHOD: good = is_method(optarg) && json_object_set_new(body, "method", json_string(optarg)) == 0; break;
  case DRAWS: good = count_of(2, 256, line); break;
  case OWN: good = real_of(100, line); break;
  case UPDATES: good = count_of(1, 1000000, line); break;
  case THRESHOLD: good = real_of(1e6, line); break;
  case ROUNDS: good = count_of(1, 64, line); break;
  case RATE: good = real_of(1, line); break;
  case LAYERS: good = count_of(0, COREMAP_POLICY_LAYERS_MAX, line); break;
  case WIDTH: good = count_of(1, COREMAP_POLICY_WIDTH_MAX, line); break;
  case SEED: good = count_of(0, UINT64_MAX, line); break;
  case FROM: good = json_object_set_new(body, "from", json_string(cli_input(optarg))) == 0; break;
  case CURVE: good = json_array_size(json_object_get(body, "curves")) < CURVES_MAX && cli_list_add(body, "curves", json_string(cli_output(optarg))); break;
  case THREADS: good = count_of(1, 256, line); break;
  }
  return good ? -1 : cli_usage("train", "--%s cannot be \"%s\"", cli_taken(), optarg);
}

static int check(void *given)
{
  const arguments *a = given;
  const json_t *generated = json_object_get(a->line.body, "generated");
  if (a->output == NULL || json_object_get(a->line.body, "chips") == NULL)
    return cli_usage("train", "name the policy to write with -o and the chips with --chips");
  if (json_object_get(a->line.body, "graphs") == NULL && generated != NULL && json_integer_value(generated) == 0)
    return cli_usage("train", "there is nothing to train on: name a folder with --graphs, or allow --generated");
  return -1;
}

static void on_line(CM_UNUSED void *user, const char *line)
{
  cli_printf(stderr, "%s\n", line);
}

static cm_status train(void *given, cli_run *cli, CM_UNUSED json_t **none, cm_error *error)
{
  const arguments *a = given;
  char *options = NULL, *card = NULL;
  cm_status status = cli_json_text(a->line.body, &options, error);
  CM_THEN(status, library_status(coremap_train(options, a->output, a->line.quiet ? NULL : on_line, NULL, library_on_run, &cli->run, &card, &cli_why), &cli_why, error));
  free(options);
  if (status == CM_OK && a->line.json)
    cli_puts(card);
  coremap_text_free(card);
  return status;
}

const cli_command cli_command_train = {
  .name = "train", .what = "train the policy of mapper `learned`", .take = take, .check = check, .make = train, .size = sizeof(arguments), .reads = true,
  .usage = "[--graphs DIR] --chips LIST -o POLICY [OPTION...]",
  .about = "Trains the policy of mapper `learned` on part graphs: of the networks in a folder, and drawn at random. With --json it\n"
           "prints the policy's card: on what it was trained, how, and with what result.",
  .flags = flags};
