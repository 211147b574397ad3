#define _POSIX_C_SOURCE 200809L /* strdup */
/* What the C interface has beyond making: tables, networks of recipes, opened mappings, parts, routes, checks, programs, policies. Two ways to
 * the same thing end in the same bytes.
 *
 * usage: library_made DATA FOLDER */
#include <coremap/coremap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int checks, failures;
static const char *data, *folder;
static coremap_error *error;

static void check(int good, const char *what)
{
  checks++;
  if (good)
    return;
  failures++;
  printf("FAILED: %s%s%s\n", what, error != NULL ? ": " : "", error != NULL ? coremap_error_detail(error) : "");
  coremap_error_free(error);
  error = NULL;
}

/* Whether a call failed with this code and this text in its detail. */
static int told(int result, const char *code, const char *detail)
{
  int good = result == -1 && error != NULL && strcmp(coremap_error_code(error), code) == 0 && strstr(coremap_error_detail(error), detail) != NULL;
  if (!good && error != NULL)
    printf("  %s: %s\n", coremap_error_code(error), coremap_error_detail(error));
  coremap_error_free(error);
  error = NULL;
  return good;
}

/* A path; four stay at a time. */
static const char *in(const char *where, const char *name)
{
  static char room[4][4096];
  static int next;
  next = (next + 1) % 4;
  snprintf(room[next], sizeof room[next], "%s/%s", where, name);
  return room[next];
}

/* Whether a text that is given away has `part` in it; frees it. */
static int has(char *text, const char *part)
{
  int found = text != NULL && strstr(text, part) != NULL;
  if (!found)
    printf("  no %s in %.300s\n", part, text != NULL ? text : "nothing");
  coremap_text_free(text);
  return found;
}

static int alike(char *a, char *b)
{
  int same = a != NULL && b != NULL && strcmp(a, b) == 0;
  coremap_text_free(a);
  coremap_text_free(b);
  return same;
}

static void tables(void)
{
  static const char *const names[][2] = {{"formats", "\"endings\":[\".snn\"]"}, {"reading", "\"zeros\""}, {"exports", "\"booksim\""},
    {"layers", "\"congestion\""}, {"targets", "\"pulp\""}, {"metrics", "\"x-unit\""}, {"operators", "\"Conv\""}, {"map", "\"preset\""}, {"partition", "\"max_part_size\""},
    {"place", "\"regions\""}, {"compile", "\"stop_after\""}, {"simulate", "\"saturation\""}, {"schedule", "\"processors\""}, {"train", "|pilot\""}};
  char *text = NULL, *one = NULL, *other = NULL;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++, text = NULL)
    check(coremap_table(names[i][0], &text, &error) == 0 && has(text, names[i][1]), names[i][0]);
  check(told(coremap_table("moods", &text, &error), "not-found", "formats, reading"), "no such table");
  check(coremap_options_schema("map", &text, &error) == 0 && has(text, "\"enum\":[\"reference\",\"fast\",\"balanced\",\"best\"]"), "a schema");
  check(coremap_options_read("map", "{\"seed\": 3}", &text, NULL, &error) == 0 && has(text, "\"preset\":\"balanced\""), "what is not given is stated");
  check(coremap_options_read("map", "{\"threads\": 2, \"seed\": 3}", NULL, &one, &error) == 0 &&
          coremap_options_read("map", "{\"seed\": 3, \"preset\": \"balanced\", \"memory_limit\": \"2G\"}", NULL, &other, &error) == 0 && alike(one, other),
        "equal results have equal texts");
  check(coremap_options_read("map", "{\"seed\": 4}", NULL, &one, &error) == 0 && coremap_options_read("map", NULL, NULL, &other, &error) == 0 &&
          !alike(one, other), "and others have not");
  check(told(coremap_options_read("compile", "{\"order\": \"luck\"}", NULL, NULL, &error), "bad-option", "search"), "no such order");
  check(told(coremap_options_read("read", "{\"zeros\": \"most\"}", NULL, NULL, &error), "bad-option", "keep or drop"), "no such zeros");
  check(told(coremap_options_read("live", NULL, NULL, NULL, &error), "not-found", "simulate"), "no such kind");
}

static void looks(void)
{
  unsigned looks = 0;
  check(coremap_look(in(data, "onnx/shuffle.onnx"), NULL, &looks, &error) == 0 && looks == COREMAP_LOOKS_LIKE_MODEL, "a model");
  check(coremap_look(in(data, "small.snn"), NULL, &looks, &error) == 0 && looks == 0, "a network");
  check(coremap_look(in(data, "small.snn"), "gexf", &looks, &error) == 0 && looks == COREMAP_LOOKS_CONFINED, "a format that is read apart");
}

static coremap_network *recipes(void)
{
  coremap_network *network = NULL, *again = NULL;
  char *one = NULL, *other = NULL;
  check(coremap_generate("reservoir", "{\"neurons\": 300, \"fan_out\": 20, \"seed\": 5}", NULL, NULL, &network, &error) == 0, "a reservoir");
  check(coremap_generate("reservoir", "{\"neurons\": 300, \"fan_out\": 20, \"seed\": 5, \"threads\": 3}", NULL, NULL, &again, &error) == 0, "with threads");
  check(coremap_network_about(network, 1, &one, &error) == 0 && coremap_network_about(again, 1, &other, &error) == 0 &&
          strstr(one, "\"fan_in\"") != NULL && alike(one, other), "the same with threads");
  coremap_network_free(again);
  again = NULL;
  check(told(coremap_generate("spaghetti", NULL, NULL, NULL, &again, &error), "not-found", "reservoir"), "no such recipe");
  check(coremap_network_write_as(network, in(folder, "made.out"), "snn", NULL, NULL, &error) == 0, "written whatever it is called");
  check(coremap_network_read(in(folder, "made.out"), "{\"name\": \"made.snn\"}", NULL, NULL, &again, &error) == 0, "read by its name");
  check(coremap_network_about(again, 0, &one, &error) == 0 && has(one, "\"format\":\"snn\""), "what it is");
  coremap_network_free(network);
  check(coremap_generate_file("chain", "{\"populations\": 4, \"size\": 9}", in(folder, "chain.csv"), NULL, NULL, NULL, &one, &error) == 0 &&
          has(one, "\"synapses\":36"), "a chain in a file");
  return again;
}

static void chips(void)
{
  coremap_chip *chip = NULL;
  char *text = NULL;
  check(coremap_chip_mesh(6, 5, "{\"occupy\": [[0, 0, 1, 0]], \"broken\": [[5, 4]]}", &chip, &error) == 0, "a grid");
  check(coremap_chip_about(chip, &text, &error) == 0 && has(text, "\"free\":27,\"taken\":2,\"broken\":1"), "what it is");
  check(coremap_chip_occupancy(chip, &text, &error) == 0 && strstr(text, "\"free\": 27") != NULL, "the state of its cores");
  coremap_chip *again = NULL;
  check(coremap_chip_mesh(6, 5, text, &again, &error) == 0 && coremap_chip_free_cores(again) == 27, "reads back");
  coremap_text_free(text);
  coremap_chip_free(again);
  coremap_chip_free(chip);
}

/* A mapping that is opened does what the one does that it was written from. */
static void opened(coremap_mapping *made, const coremap_network *network, const coremap_chip *chip)
{
  static const char *const whats[] = {"booksim", "traffic", "picture:svg:congestion"};
  coremap_mapping *mapping = NULL;
  char *one = NULL, *other = NULL;
  size_t size;
  uint64_t count;
  check(coremap_mapping_write(made, "mapping", in(folder, "made.map"), &error) == 0, "written");
  check(coremap_mapping_open(in(folder, "made.map"), network, NULL, NULL, NULL, &mapping, &error) == 0, "opened");
  if (mapping == NULL)
    return;
  for (size_t i = 0; i < sizeof whats / sizeof *whats; i++)
    check(coremap_mapping_text(made, whats[i], &one, &size, &error) == 0 && coremap_mapping_text(mapping, whats[i], &other, &size, &error) == 0 &&
            alike(one, other), whats[i]);
  check(coremap_simulate(made, "{\"steps\": 2}", NULL, NULL, &one, &error) == 0 && coremap_simulate(mapping, "{\"steps\": 2}", NULL, NULL, &other, &error) == 0 &&
          alike(one, other), "simulated alike");
  check(coremap_mapping_region(made, &count) != NULL && count >= 1 && coremap_mapping_region(mapping, &count) == NULL && count == 0, "regions");
  check(told(coremap_mapping_text(mapping, "mapping", &one, &size, &error), "conflict", "opened"), "its views are its file's");
  check(coremap_mapping_about(in(folder, "made.map"), &one, &error) == 0 && strstr(one, "\"metrics\"") != NULL, "its summary without its network");
  check(told(coremap_scenario_check("storm", one, &error), "bad-option", "storm"), "no such scenario");
  check(told(coremap_pareto_draw(one, in(folder, "none.svg"), &error), "bad-mapping", ""), "no Pareto set");
  coremap_text_free(one);
  check(told(coremap_mapping_open(in(data, "small.snn"), network, chip, NULL, NULL, &mapping, &error), "bad-mapping", ""), "no mapping");
  coremap_mapping_free(mapping);
}

/* Whether two mappings put the same neurons together, whatever the numbers of the parts. */
static int same_parts(const coremap_mapping *one, const coremap_mapping *other)
{
  uint64_t neurons, count;
  const uint32_t *a = coremap_mapping_parts(one, &neurons), *b = coremap_mapping_parts(other, &count);
  uint32_t first[4096];
  int same = neurons == count && neurons <= 4096;
  memset(first, 0xff, sizeof first);
  for (uint64_t v = 0; same && v < neurons; v++) {
    if (first[a[v]] == UINT32_MAX)
      first[a[v]] = b[v];
    same = first[a[v]] == b[v];
  }
  return same;
}

static void mappings(const coremap_network *network)
{
  coremap_chip *chip = NULL;
  coremap_mapping *mapping = NULL, *placed = NULL;
  coremap_routes *routes = NULL;
  char *text = NULL, beside[9000], options[9000];
  size_t size;
  check(coremap_chip_open("loihi1", NULL, &chip, &error) == 0, "a chip");
  check(coremap_map(network, chip, "{\"preset\": \"fast\", \"max_part_size\": 16, \"alone\": true}", NULL, NULL, &mapping, &error) == 0, "mapped");
  if (mapping == NULL)
    return;
  check(coremap_mapping_text(mapping, "report", &text, &size, &error) == 0 && has(text, "\"shown\":["), "what it tells");
  opened(mapping, network, chip);
  check(coremap_routes_make(mapping, NULL, NULL, &routes, &error) == 0, "routes");
  check(coremap_routes_about(routes, &text, &error) == 0 && has(text, "\"deadlock_free\":true"), "what they are");
  check(coremap_routes_write(routes, "json", in(folder, "routes.json"), NULL, NULL, &error) == 0, "written");
  check(told(coremap_routes_write(routes, "xml", in(folder, "routes.xml"), NULL, NULL, &error), "bad-option", "csv"), "but not so");
  check(coremap_mapping_write_watched(mapping, "certificate", in(folder, "made.certificate"), NULL, NULL, &error) == 0, "a certificate");
  snprintf(beside, sizeof beside, "{\"routes\": \"%s\", \"certificate\": \"%s\", \"again\": true}", in(folder, "routes.json"), in(folder, "made.certificate"));
  check(coremap_check_beside(in(folder, "made.map"), beside, network, chip, NULL, NULL, &text, &error) == 0 && has(text, "\"legal\":true"), "all of it is legal");
  check(told(coremap_check_beside(in(folder, "made.map"), "{\"stars\": true}", network, chip, NULL, NULL, &text, &error), "bad-option", "stars"), "nothing is ignored");
  check(coremap_mapping_write(mapping, "mapping.part", in(folder, "made.part"), &error) == 0, "its parts");
  snprintf(options, sizeof options, "{\"preset\": \"fast\", \"part\": \"%s\"}", in(folder, "made.part"));
  check(coremap_map(network, chip, options, NULL, NULL, &placed, &error) == 0, "parts that are given are placed");
  check(placed != NULL && same_parts(mapping, placed), "and stay as they are");
  coremap_mapping_free(placed);
  coremap_mapping_free(mapping); /* routes hold it */
  check(coremap_routes_about(routes, &text, &error) == 0 && has(text, "\"flows\""), "routes outlive what they are of");
  coremap_routes_free(routes);
  coremap_chip_free(chip);
}

static void parts(const coremap_network *network)
{
  coremap_partition *partition = NULL;
  char *text = NULL;
  uint64_t neurons;
  uint32_t most = 0;
  check(coremap_partition_make(network, NULL, "{\"parts\": 7, \"preset\": \"fast\"}", NULL, NULL, &partition, &error) == 0, "parts alone");
  const uint32_t *part = coremap_partition_parts(partition, &neurons);
  for (uint64_t v = 0; v < neurons; v++)
    most = part[v] > most ? part[v] : most;
  check(neurons == 300 && most == 6, "7 of them");
  check(coremap_partition_about(partition, &text, &error) == 0 && has(text, "\"parts\":7"), "what they are");
  check(coremap_partition_write(partition, in(folder, "alone.part"), &error) == 0, "written");
  coremap_partition_free(partition);
}

/* The same numbers from a file and from memory, to a file and to memory. */
static void arrays(const coremap_program *program)
{
  enum { NUMBERS = 16 * 16 * 6, MADE = 6 * 8 * 8 };
  static float numbers[NUMBERS], made[MADE + 1];
  static const uint64_t dims[] = {1, 16, 16, 6}, turned[] = {1, 6, 16, 16}, huge[] = {1ULL << 40, 1ULL << 40};
  coremap_arrays *inputs = NULL, *outputs = NULL;
  char *text = NULL, options[9000], model[5000];
  uint64_t bytes = 0;
  for (int i = 0; i < NUMBERS; i++)
    numbers[i] = (float)(i * 37 % 251) / 64 - 2;
  FILE *file = fopen(in(folder, "v.f32"), "wb");
  check(file != NULL && fwrite(numbers, sizeof *numbers, NUMBERS, file) == NUMBERS && fclose(file) == 0, "numbers in a file");
  snprintf(options, sizeof options, "{\"inputs\": [\"v=%s\"], \"output_dir\": \"%s\"}", in(folder, "v.f32"), in(folder, "made"));
  check(coremap_program_run(program, options, NULL, NULL, &text, &error) == 0 && has(text, "\"time_ns\""), "run on it");
  file = fopen(in(folder, "made/v__52.f32"), "rb");
  check(file != NULL && fread(made, sizeof *made, MADE + 1, file) == MADE && fclose(file) == 0, "what it makes");

  check(coremap_arrays_new(&inputs, &error) == 0 && coremap_arrays_new(&outputs, &error) == 0, "arrays");
  check(coremap_arrays_put(inputs, "v", "int64", 0, NULL, dims, &error) == 0 && coremap_arrays_put(inputs, "v", "float32", 4, dims, numbers, &error) == 0,
        "the later one stays");
  check(coremap_arrays_about(inputs, &text, &error) == 0 && has(text, "[{\"name\":\"v\",\"type\":\"float32\",\"dims\":[1,16,16,6]}]"), "what it is");
  numbers[0] = 77; /* it is a copy */
  snprintf(model, sizeof model, "{\"model\": \"%s\"}", in(data, "onnx/shuffle.onnx"));
  check(coremap_program_run_arrays(program, inputs, outputs, model, NULL, NULL, &text, &error) == 0 && has(text, "\"largest_relative_deviation\":"),
        "run on arrays");
  const float *numbers_out = coremap_arrays_elements(outputs, "v__52", &bytes);
  check(numbers_out != NULL && bytes == MADE * sizeof *made && memcmp(numbers_out, made, bytes) == 0, "the same numbers");
  check(coremap_arrays_about(outputs, &text, &error) == 0 && has(text, "\"dims\":[1,6,8,8]"), "and shape");
  check(coremap_arrays_elements(outputs, "v", NULL) == NULL, "no such array");

  check(told(coremap_program_run_arrays(program, inputs, outputs, options, NULL, NULL, &text, &error), "bad-request", "as an array and by file"), "given twice");
  check(told(coremap_program_run_arrays(program, outputs, outputs, NULL, NULL, NULL, &text, &error), "bad-request", "v__52 is none of"), "no input");
  check(coremap_arrays_put(inputs, "v", "float32", 4, turned, numbers, &error) == 0 &&
          told(coremap_program_run_arrays(program, inputs, outputs, NULL, NULL, NULL, &text, &error), "bad-request",
               "float32 [1, 6, 16, 16]; the program's input is float32 [1, 16, 16, 6]"), "another shape");
  check(told(coremap_arrays_put(inputs, "v", "float31", 4, dims, numbers, &error), "bad-request", "float31"), "no such type");
  check(told(coremap_arrays_put(inputs, "v", "float32", 9, dims, numbers, &error), "bad-request", "9 dims"), "too many dims");
  check(told(coremap_arrays_put(inputs, "v", "float32", 2, huge, numbers, &error), "too-large", ""), "too many elements");
  check(coremap_arrays_elements(outputs, "v__52", NULL) == numbers_out && memcmp(numbers_out, made, bytes) == 0, "refusals leave outputs alone");
  check(coremap_program_run_arrays(program, NULL, outputs, "{\"time\": true}", NULL, NULL, &text, &error) == 0 && has(text, "\"time_ns\"") &&
          coremap_arrays_about(outputs, &text, &error) == 0 && alike(text, strdup("[]")), "time alone makes none");
  coremap_arrays_free(inputs);
  coremap_arrays_free(outputs);
}

static void programs(void)
{
  coremap_chip *chip = NULL;
  coremap_program *program = NULL;
  coremap_network *tiles = NULL;
  char *text = NULL, files[9000], beside[5000];
  const char *stage = "", *model = in(data, "onnx/shuffle.onnx");
  check(coremap_model_about(model, NULL, &text, &error) == 0 && has(text, "\"inputs\":[{"), "what a model is");
  check(coremap_chip_open("npu-embedded", NULL, &chip, &error) == 0, "a chip with units");
  check(coremap_compile_last(NULL, chip, &stage, &error) == 0 && strcmp(stage, "program") == 0, "it ends in a program");
  snprintf(files, sizeof files, "{\"tiles\": \"%s\", \"mapping\": \"%s\"}", in(folder, "tiles.zip"), in(folder, "tiles.map"));
  check(coremap_compile_files(in(data, "onnx/shuffle.onnx"), chip, "{\"scores\": 4}", files, in(folder, "made.cmp"), NULL, NULL, &text, &error) == 0 &&
          has(text, "\"tiles\":{"), "compiled with its tiles");
  check(coremap_network_read(in(folder, "tiles.zip"), NULL, NULL, NULL, &tiles, &error) == 0, "the tiles");
  snprintf(beside, sizeof beside, "{\"program\": \"%s\"}", in(folder, "made.cmp"));
  check(coremap_check_beside(in(folder, "tiles.map"), beside, tiles, chip, NULL, NULL, &text, &error) == 0 && has(text, "\"legal\":true"), "are what the program does");
  check(coremap_program_read(in(folder, "made.cmp"), NULL, NULL, &program, &error) == 0, "the program");
  check(coremap_program_about(program, &text, &error) == 0 && has(text, "\"chip\":\"npu-embedded\""), "what it is");
  char *one = NULL, *other = NULL;
  check(coremap_program_run(program, "{\"check\": true, \"seed\": 3}", NULL, NULL, &one, &error) == 0 && strstr(one, "\"checked\":true") != NULL &&
          coremap_program_run(program, "{\"check\": true, \"seed\": 4}", NULL, NULL, &other, &error) == 0 && alike(one, other), "its time is the same for all numbers");
  check(told(coremap_program_run(program, "{\"inputs\": [\"a\", \"b\", \"c\", \"d\", \"e\"]}", NULL, NULL, &one, &error), "bad-request", "for none"), "too many inputs");
  arrays(program);
  check(coremap_program_disassemble(program, in(folder, "made.txt"), &error) == 0, "its instructions");
  coremap_program_free(program);
  coremap_network_free(tiles);
  coremap_chip_free(chip);
}

static void schedules(void)
{
  coremap_timetable *made = NULL;
  char *one = NULL, *other = NULL;
  const char *path = in(data, "schedule/j30_1_1.sm");
  check(coremap_timetable_make(path, NULL, NULL, NULL, &made, &error) == 0, "a timetable");
  check(coremap_timetable_text(made, "summary", &one, &error) == 0 && has(one, "\"tasks\":32"), "its summary");
  check(coremap_timetable_text(made, "schedule", &one, &error) == 0 && coremap_schedule(in(data, "schedule/j30_1_1.sm"), NULL, NULL, NULL, &other, &error) == 0 &&
          alike(one, other), "the same schedule");
  check(coremap_timetable_write(made, "timeline", in(folder, "made.trace"), &error) == 0, "its timeline");
  check(told(coremap_timetable_text(made, "mood", &one, &error), "bad-option", "timeline"), "and no more");
  coremap_timetable_free(made);
}

static void on_line(void *user, const char *line)
{
  *(int *)user += strncmp(line, "update ", 7) == 0;
}

static void policies(void)
{
  char *one = NULL, *other = NULL;
  int lines = 0;
  static const char options[] = "{\"chips\": \"4x4\", \"generated\": 10, \"updates\": 2, \"threshold\": 4, \"seed\": 3}";
  check(coremap_train(options, in(folder, "made.policy"), on_line, &lines, NULL, NULL, &one, &error) == 0 && lines > 0 &&
          coremap_train(options, in(folder, "made.policy"), NULL, NULL, NULL, NULL, &other, &error) == 0 && alike(one, other), "trained twice alike");
  check(told(coremap_train("{}", in(folder, "no.policy"), NULL, NULL, NULL, NULL, &one, &error), "bad-option", "chips"), "on no chips");
}

int main(int argc, char **argv)
{
  if (argc != 3)
    return 2;
  data = argv[1];
  folder = argv[2];
  tables();
  looks();
  chips();
  check(coremap_spikes_check("0,17\n1,4\n", 18, &error) == 0, "spikes");
  check(told(coremap_spikes_check("0,17\n1,18\n", 18, &error), "bad-option", "line 2"), "a spike of nobody");
  coremap_network *network = recipes();
  if (network != NULL) {
    mappings(network);
    parts(network);
  }
  coremap_network_free(network);
  programs();
  schedules();
  policies();
  printf("Checks: %d, Failures: %d, Errors: 0\n", checks, failures);
  return failures != 0;
}
