#define _POSIX_C_SOURCE 200809L /* strdup */
/* The whole C interface: networks from files and rows, chips with taken cores, mappings, views, errors, programs, schedules.
 *
 * usage: library DATA FOLDER. FOLDER/network.npz is there; leaves FOLDER/library.map, which the command judges. */
#include <coremap/coremap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int checks, failures;
static const char *data, *folder;
static char room[4096];

static void check(int good, const char *what)
{
  checks++;
  if (!good) {
    failures++;
    printf("FAILED: %s\n", what);
  }
}

/* Whether a call failed with this code, this text in its detail and this place. */
static int told(int result, coremap_error **error, const char *code, const char *detail, const char *place)
{
  int good = result == -1 && *error != NULL && strcmp(coremap_error_code(*error), code) == 0 &&
             strstr(coremap_error_detail(*error), detail) != NULL && strcmp(coremap_error_place(*error), place) == 0;
  if (!good && *error != NULL)
    printf("  %s: %s (%s)\n", coremap_error_code(*error), coremap_error_detail(*error), coremap_error_place(*error));
  coremap_error_free(*error);
  *error = NULL;
  return good;
}

static const char *in(const char *where, const char *name)
{
  snprintf(room, sizeof room, "%s/%s", where, name);
  return room;
}

static int stop_at_once(void *user, const char *phase, double fraction)
{
  (void)phase;
  (void)fraction;
  return ++*(int *)user > 0;
}

static void rows(void)
{
  static const uint64_t first[] = {0, 2, 3, 3}, late[] = {1, 2, 3, 3}, falls[] = {0, 2, 1, 3};
  static const uint32_t target[] = {2, 1, 0}, wrong[] = {2, 3, 0};
  static const double weight[] = {0.5, -2, 1}, none[] = {1, 1.0 / 0.0, 1};
  coremap_error *error = NULL;
  coremap_network *network = NULL, *again = NULL;
  check(coremap_network_from_csr(3, first, target, weight, &network, &error) == 0, "rows");
  check(coremap_network_neurons(network) == 3 && coremap_network_synapses(network) == 3, "3 neurons, 3 synapses");
  check(coremap_network_name(network, 0) == NULL, "no names");
  check(coremap_network_write(network, in(folder, "rows.csv"), &error) == 0, "written");
  check(coremap_network_read(room, "{\"format\": \"edges\"}", NULL, NULL, &again, &error) == 0, "read");
  check(coremap_network_synapses(again) == 3, "again 3 synapses");
  coremap_network_free(again);
  coremap_network_free(network);
  network = NULL;
  check(told(coremap_network_from_csr(3, late, target, NULL, &network, &error), &error, "bad-network", "start at 0", "neuron 0"), "late rows");
  check(told(coremap_network_from_csr(3, falls, target, NULL, &network, &error), &error, "bad-network", "never descend", "neuron 2"), "rows fall");
  check(told(coremap_network_from_csr(3, first, wrong, NULL, &network, &error), &error, "bad-network", "neuron 3 of 3", "synapse 1"), "no such neuron");
  check(told(coremap_network_from_csr(3, first, target, none, &network, &error), &error, "bad-network", "finite", "synapse 1"), "no finite weight");
  check(told(coremap_network_from_csr(0, first, target, NULL, &network, &error), &error, "bad-network", "no neurons", ""), "nobody");
  check(coremap_network_from_csr(0, first, target, NULL, &network, NULL) == -1 && network == NULL, "errors that nobody asks for");
  check(told(coremap_network_read("nowhere.snn", NULL, NULL, NULL, &network, &error), &error, "not-found", "nowhere.snn", ""), "no file");
  check(told(coremap_network_read("nowhere.snn", "{\"colums\": \"1\"}", NULL, NULL, &network, &error), &error, "bad-option", "colums",
             "/options/colums"), "no such option of reading");
  check(told(coremap_network_read("nowhere.snn", "[]", NULL, NULL, &network, &error), &error, "bad-option", "JSON object", "/options"), "no options");
}

static void chips(void)
{
  coremap_error *error = NULL;
  coremap_chip *chip = NULL;
  int loihi = 0;
  for (uint32_t i = 0; coremap_chip_preset(i) != NULL; i++)
    loihi += strcmp(coremap_chip_preset(i), "loihi1") == 0;
  check(loihi == 1, "presets");
  check(coremap_chip_parse("{\"name\": \"ours\", \"cores\": [6, 4]}", "{\"occupy\": [[0, 0, 2, 3]], \"owner\": \"others\"}", &chip, &error) == 0, "a chip of text");
  check(coremap_chip_width(chip) == 6 && coremap_chip_height(chip) == 4 && coremap_chip_free_cores(chip) == 12, "6 x 4 cores, 12 free");
  char *text = coremap_chip_json(chip);
  check(text != NULL && strstr(text, "\"ours\"") != NULL, "as text again");
  coremap_text_free(text);
  coremap_chip_free(chip);
  chip = NULL;
  check(told(coremap_chip_open("nochip", NULL, &chip, &error), &error, "not-found", "loihi1", ""), "no such chip");
  check(told(coremap_chip_parse("{\"name\": \"x\", \"cores\": [0, 4]}", NULL, &chip, &error), &error, "bad-chip", "", "/cores/0"), "no cores");
  check(told(coremap_chip_open("loihi1", "{\"occupy\": [[99, 0]]}", &chip, &error), &error, "bad-occupancy", "", "/occupy/0"), "no such core");
}

static void map(void)
{
  coremap_error *error = NULL;
  coremap_network *network = NULL;
  coremap_chip *chip = NULL;
  coremap_mapping *mapping = NULL, *other = NULL;
  uint64_t neurons, parts, needed = 0;
  char *text;
  size_t size;
  int calls = 0;
  check(coremap_network_read(in(folder, "network.npz"), NULL, NULL, NULL, &network, &error) == 0, "the network");
  check(coremap_chip_open("loihi1", NULL, &chip, &error) == 0, "the chip");
  check(told(coremap_map(network, chip, "{\"presett\": \"best\"}", NULL, NULL, &mapping, &error), &error, "bad-option", "preset", "/options/presett"), "an unknown option");
  check(told(coremap_map(network, chip, "{\"seed\": 1, \"seed\": 2}", NULL, NULL, &mapping, &error), &error, "bad-option", "JSON object", "/options"), "an option twice");
  check(told(coremap_map(network, chip, NULL, stop_at_once, &calls, &mapping, &error), &error, "cancelled", "", "") && calls > 0, "stopped");
  check(coremap_map(network, chip, "{\"preset\": \"fast\", \"max_part_size\": 32, \"seed\": 3}", NULL, NULL, &mapping, &error) == 0, "mapped");
  const uint32_t *part = coremap_mapping_parts(mapping, &neurons);
  const int32_t *xy = coremap_mapping_places(mapping, &parts);
  check(neurons == 500 && parts >= 16, "parts");
  for (uint64_t v = 0; v < neurons; v++)
    if (part[v] >= parts || xy[2 * part[v]] < 0 || xy[2 * part[v]] >= (int32_t)coremap_chip_width(chip)) {
      check(0, "a neuron without a core");
      break;
    }
  check(coremap_mapping_write(mapping, "mapping", in(folder, "library.map"), &error) == 0, "written");
  coremap_chip *full = NULL;
  check(coremap_chip_open("loihi1", "{\"occupy\": [[0, 0, 15, 6]], \"owner\": \"others\"}", &full, &error) == 0, "a chip of 16 free cores");
  check(coremap_map(network, full, "{\"preset\": \"fast\", \"max_part_size\": 20}", NULL, NULL, &other, &error) == -1 &&
        strcmp(coremap_error_code(error), "no-room") == 0 && coremap_error_figure(error, "free", &needed) == 1 && needed == 16 &&
        coremap_error_figure(error, "nonsense", &needed) == 0, "no room, and how many are free");
  coremap_error_free(error);
  error = NULL;
  coremap_chip_free(full);
  char *report = NULL;
  check(coremap_check(room, NULL, network, chip, NULL, NULL, &report, &error) == 0 && strstr(report, "\"legal\":true") != NULL, "legal");
  coremap_text_free(report);
  check(coremap_mapping_write(mapping, "certificate", in(folder, "library.cert"), &error) == 0, "a certificate");
  char *certificate = strdup(room);
  check(coremap_check(in(folder, "library.map"), certificate, network, chip, NULL, NULL, &report, &error) == 0 && strstr(report, "\"legal\":true") != NULL, "certified");
  coremap_text_free(report);
  free(certificate);
  /* A mapping of another network breaks rules. */
  static const uint64_t first[] = {0, 1, 1};
  static const uint32_t target[] = {1};
  coremap_network *foreign = NULL;
  check(coremap_network_from_csr(2, first, target, NULL, &foreign, &error) == 0, "another network");
  check(coremap_check(in(folder, "library.map"), NULL, foreign, chip, NULL, NULL, &report, &error) != 0 || strstr(report, "\"legal\":false") != NULL, "not of that one");
  if (error == NULL)
    coremap_text_free(report);
  coremap_error_free(error);
  error = NULL;
  coremap_network_free(foreign);
  /* A mapping keeps what it is of. */
  coremap_network_free(network);
  coremap_chip_free(chip);
  check(coremap_mapping_text(mapping, "summary", &text, &size, &error) == 0 && strlen(text) == size && text[0] == '{', "a summary");
  coremap_text_free(text);
  check(coremap_mapping_text(mapping, "sanafe", &text, &size, &error) == 0 && strstr(text, "mappings:") != NULL, "an export");
  coremap_text_free(text);
  check(coremap_mapping_text(mapping, "picture:png:links", &text, &size, &error) == 0 && size > 100 && memcmp(text + 1, "PNG", 3) == 0, "a picture");
  coremap_text_free(text);
  check(coremap_simulate(mapping, "{\"spikes\": \"0,3\\n4,499\\n\"}", NULL, NULL, &report, &error) == 0 && strstr(report, "\"count\":5") != NULL, "simulated");
  coremap_text_free(report);
  check(told(coremap_simulate(mapping, "{\"spikes\": \"0,3\\n4,500\\n\"}", NULL, NULL, &report, &error), &error, "bad-option", "500 neurons", "line 2"), "no such neuron");
  check(told(coremap_simulate(mapping, "{\"load\": 0.001, \"spikes_file\": \"x\"}", NULL, NULL, &report, &error), &error, "bad-option", "time steps", "/options/spikes_file"), "spikes of a stream");
  check(told(coremap_mapping_text(mapping, "poem", &text, &size, &error), &error, "bad-option", "sanafe", ""), "no such export");
  coremap_mapping_free(mapping);
}

static void outside(void)
{
  /* Inputs outside in one mapping, on cores in the next: the network is the same. */
  coremap_error *error = NULL;
  coremap_network *network = NULL;
  coremap_chip *chip = NULL;
  coremap_mapping *mapping = NULL;
  char *text[2];
  size_t size;
  check(coremap_network_read(in(data, "nir/lif_norse.nir"), NULL, NULL, NULL, &network, &error) == 0, "a network with inputs");
  check(coremap_chip_open("loihi1", NULL, &chip, &error) == 0, "a chip");
  for (int i = 0; i < 2; i++) {
    check(coremap_map(network, chip, "{\"inputs\": \"outside\"}", NULL, NULL, &mapping, &error) == 0, "inputs outside");
    coremap_mapping_free(mapping);
    check(coremap_map(network, chip, NULL, NULL, NULL, &mapping, &error) == 0, "inputs on cores");
    check(coremap_mapping_text(mapping, "mapping", &text[i], &size, &error) == 0, "as text");
    coremap_mapping_free(mapping);
  }
  check(strcmp(text[0], text[1]) == 0, "the same bytes");
  coremap_text_free(text[0]);
  coremap_text_free(text[1]);
  coremap_network_free(network);
  coremap_chip_free(chip);
}

static void programs(void)
{
  coremap_error *error = NULL;
  coremap_chip *chip = NULL;
  char *report = NULL, *model = strdup(in(data, "onnx/shuffle.onnx"));
  check(coremap_chip_open("npu-embedded", NULL, &chip, &error) == 0, "a chip with units");
  check(coremap_compile(model, chip, "{\"scores\": 4}", in(folder, "library.cmp"), NULL, NULL, &report, &error) == 0, "compiled");
  check(report != NULL && strstr(report, "\"stage\":\"program\"") != NULL && strstr(report, "lower_bound") != NULL, "its report");
  coremap_text_free(report);
  char *open = strdup(in(data, "onnx/small.onnx"));
  check(told(coremap_compile(open, chip, NULL, in(folder, "library.cmp"), NULL, NULL, &report, &error), &error, "bad-option", "batch", "/options/shape"), "open dimensions");
  free(open);
  check(told(coremap_compile(model, chip, "{\"order\": \"random\"}", room, NULL, NULL, &report, &error), &error, "bad-option", "search", "/options/order"), "no such order");
  free(model);
  coremap_chip_free(chip);
}

static void schedules(void)
{
  coremap_error *error = NULL;
  char *text = NULL;
  check(coremap_schedule(in(data, "schedule/j30_1_1.sm"), NULL, NULL, NULL, &text, &error) == 0 && strstr(text, "\"makespan\"") != NULL, "scheduled");
  coremap_text_free(text);
  check(told(coremap_schedule(room, "{\"method\": \"luck\"}", NULL, NULL, &text, &error), &error, "bad-option", "search", "/options/method"), "no such method");
}

int main(int argc, char **argv)
{
  if (argc != 3)
    return 2;
  data = argv[1];
  folder = argv[2];
  check(coremap_version()[0] == '0', "a version");
  rows();
  chips();
  map();
  outside();
  programs();
  schedules();
  printf("Checks: %d, Failures: %d, Errors: 0\n", checks, failures);
  return failures != 0;
}
