/* Networks, sizes, rates, cores and options that programs give as arrays and one by one: held against files with the same in them, and
 * against counts of this program's own.
 *
 * usage: library_arrays FOLDER. */
#include <coremap/coremap.h>
#include <stdio.h>
#include <string.h>

static int checks, failures;
static const char *folder;
static coremap_error *error;

static void check(int good, const char *what)
{
  checks++;
  if (!good) {
    failures++;
    printf("FAILED: %s%s%s\n", what, error != NULL ? ": " : "", error != NULL ? coremap_error_detail(error) : "");
  }
  coremap_error_free(error);
  error = NULL;
}

static void refused(int result, const char *code, const char *place, const char *what)
{
  check(result == -1 && strcmp(coremap_error_code(error), code) == 0 && strcmp(coremap_error_place(error), place) == 0, what);
}

static const char *in(const char *name, char path[4096])
{
  snprintf(path, 4096, "%s/%s", folder, name);
  return path;
}

static coremap_network *from_text(const char *name, const char *text)
{
  char path[4096];
  coremap_network *network = NULL;
  FILE *file = fopen(in(name, path), "w");
  check(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0 && coremap_network_read(path, NULL, NULL, NULL, &network, &error) == 0, name);
  return network;
}

/* Whether two networks are written alike, in a format that has all of them. */
static int alike(const coremap_network *a, const coremap_network *b, const char *ending)
{
  static char text[2][65536];
  const coremap_network *both[] = {a, b};
  size_t size[2] = {0};
  for (int i = 0; i < 2; i++) {
    char name[64], path[4096];
    snprintf(name, sizeof name, "alike%d.%s", i, ending);
    if (coremap_network_write(both[i], in(name, path), &error) != 0)
      return 0;
    FILE *file = fopen(path, "r");
    size[i] = file != NULL ? fread(text[i], 1, sizeof text[i], file) : 0;
    if (file != NULL)
      fclose(file);
  }
  return size[0] > 0 && size[0] == size[1] && memcmp(text[0], text[1], size[0]) == 0;
}

/* A square with one diagonal; edge 0-2 weighs 5, and there is a loop. */
static void graphs(void)
{
  static const uint64_t first[] = {0, 4, 6, 9, 11}, alone[] = {0, 1, 1, 1, 1};
  static const uint32_t neighbour[] = {3, 0, 1, 2, 2, 0, 1, 0, 3, 0, 2}, one[] = {1}, from[] = {0, 1, 2, 3, 2, 1}, to[] = {1, 2, 3, 0, 0, 1};
  static const double weight[] = {1, 9, 1, 5, 1, 1, 1, 5, 1, 1, 1}, wrong[] = {1, 9, 1, 4, 1, 1, 1, 5, 1, 1, 1}, edges[] = {1, 1, 1, 1, 5, 7};
  static const uint32_t size[] = {3, 1, 2, 1};
  coremap_network *file = from_text("square.graph", "4 5 011\n3 2 1 3 5 4 1\n1 1 1 3 1\n2 1 5 2 1 4 1\n1 1 1 3 1\n"), *rows = NULL, *pairs = NULL, *bad = NULL;
  check(coremap_network_from_graph(4, first, neighbour, weight, &rows, &error) == 0 && coremap_network_synapses(rows) == 5, "rows of a graph");
  check(!alike(rows, file, "graph"), "sizes are seen");
  check(coremap_network_set_sizes(rows, size, &error) == 0 && alike(rows, file, "graph"), "rows and sizes are the file of METIS");
  check(coremap_network_from_edges(4, 6, from, to, edges, 0, &pairs, &error) == 0 && coremap_network_set_sizes(pairs, size, &error) == 0 &&
        alike(pairs, file, "graph"), "so are edges, each once");
  refused(coremap_network_from_graph(4, alone, one, NULL, &bad, &error), "bad-network", "vertex 0", "an edge of one row");
  refused(coremap_network_from_graph(4, first, neighbour, wrong, &bad, &error), "bad-network", "vertex 0", "an edge of two weights");
  refused(coremap_network_from_edges(3, 6, from, to, edges, 0, &bad, &error), "bad-network", "edge 2", "a vertex that is not there");
  refused(coremap_network_set_rates(rows, edges, &error), "bad-network", "", "rates of a graph");
  check(bad == NULL, "nothing is made of what is refused");
  coremap_network_free(file);
  coremap_network_free(rows);
  coremap_network_free(pairs);
}

/* Three nets, out of order by their sources; a pin twice, and a net of one vertex. */
static void nets(void)
{
  static const uint64_t first[] = {0, 4, 7, 8, 10}, none[] = {0, 0};
  static const uint32_t pin[] = {2, 0, 1, 0, 0, 3, 2, 1, 0, 1};
  static const double rate[] = {4, 2, 6, 1}, below[] = {4, -2, 6, 1}, rates[] = {8, 0.5, 4, 1}, below_zero[] = {0, -1, 0, 0};
  coremap_network *file = from_text("nets.hgr", "4 4 1\n4 3 1 2 1\n2 1 4 3\n6 2\n1 1 2\n"), *made = NULL, *bad = NULL;
  check(coremap_network_from_nets(4, 4, first, pin, rate, &made, &error) == 0 && alike(made, file, "hgr"), "nets are the file of hMETIS");
  refused(coremap_network_from_nets(4, 1, none, pin, NULL, &bad, &error), "bad-network", "net 0", "a net without pins");
  refused(coremap_network_from_nets(2, 4, first, pin, NULL, &bad, &error), "bad-network", "pin 0", "a pin that is not there");
  refused(coremap_network_from_nets(4, 4, first, pin, below, &bad, &error), "bad-network", "net 1", "a rate below 0");
  refused(coremap_network_set_rates(made, below_zero, &error), "bad-network", "neuron 1", "a rate below 0 of a neuron");
  check(coremap_network_set_rates(made, rates, &error) == 0 && !alike(made, file, "zip"), "rates by neuron");
  check(coremap_network_set_rates(file, rates, &error) == 0 && alike(made, file, "zip"), "of both alike");
  coremap_network_free(file);
  coremap_network_free(made);
}

/* A ring of 60 in parts of 6 sizes: counted here, and as metrics; no core that is taken or broken is used. */
static void mapped(void)
{
  enum { N = 60 };
  static uint32_t from[N], to[N], size[N], filled[N];
  static uint8_t state[36], wrong[36] = {3};
  coremap_network *ring = NULL;
  coremap_chip *chip = NULL;
  coremap_mapping *mapping = NULL;
  coremap_partition *partition = NULL;
  uint64_t count, parts, cores;
  double cut = -1, most = -1, value;
  int good = 1;
  for (uint32_t v = 0; v < N; v++) {
    from[v] = v;
    to[v] = (v + 1) % N;
    size[v] = 1 + v % 2;
  }
  for (int c = 0; c < 36; c++)
    state[c] = c < 12 ? COREMAP_CORE_TAKEN : c == 20 ? COREMAP_CORE_BROKEN : COREMAP_CORE_FREE;
  check(coremap_network_from_edges(N, N, from, to, NULL, 1, &ring, &error) == 0 && coremap_network_set_sizes(ring, size, &error) == 0, "a ring");
  check(coremap_chip_mesh(6, 6, NULL, &chip, &error) == 0 && coremap_chip_set_cores(chip, state, &error) == 0, "states of cores");
  refused(coremap_chip_set_cores(chip, wrong, &error), "bad-occupancy", "core 0", "no state");
  check(memcmp(coremap_chip_cores(chip, &cores), state, 36) == 0 && cores == 36 && coremap_chip_free_cores(chip) == 23, "states given back");
  check(coremap_map(ring, chip, "{\"max_part_size\": 6}", NULL, NULL, &mapping, &error) == 0, "mapped");
  const uint32_t *part = coremap_mapping_parts(mapping, &count);
  const int32_t *xy = coremap_mapping_places(mapping, &parts);
  int crossing = 0;
  uint32_t fullest = 0;
  for (uint32_t v = 0; v < N; v++) {
    crossing += part[v] != part[to[v]];
    filled[part[v]] += size[v];
    fullest = filled[part[v]] > fullest ? filled[part[v]] : fullest;
  }
  for (uint64_t p = 0; p < parts; p++)
    good = good && state[xy[2 * p + 1] * 6 + xy[2 * p]] == COREMAP_CORE_FREE;
  check(good, "on free cores");
  check(coremap_mapping_metric(mapping, "cut_net", &cut, &error) == 0 && cut == crossing, "the nets cut");
  check(coremap_mapping_metric(mapping, "largest_part", &most, &error) == 0 && most == fullest && most <= 6, "the fullest part");
  refused(coremap_mapping_metric(mapping, "no_such", &value, &error), "not-found", "", "no such metric");
  refused(coremap_mapping_metric(mapping, "step_limit", &value, &error), "not-found", "", "a metric that is a text");
  refused(coremap_network_set_sizes(ring, size, &error), "conflict", "", "sizes of what is mapped");
  refused(coremap_chip_set_cores(chip, state, &error), "conflict", "", "cores of what is mapped");
  check(coremap_partition_make(ring, NULL, "{\"max_part_size\": 6}", NULL, NULL, &partition, &error) == 0 &&
        coremap_partition_metric(partition, "largest_part", &most, &error) == 0 && most <= 6, "a partition's");
  coremap_partition_free(partition);
  coremap_mapping_free(mapping);
  coremap_network_free(ring);
  coremap_chip_free(chip);
}

static void options(void)
{
  coremap_options *options = NULL;
  refused(coremap_options_new("nothing", &options, &error), "not-found", "", "no such kind");
  check(coremap_options_new("map", &options, &error) == 0 && strcmp(coremap_options_text(options), "{}") == 0, "none set");
  check(coremap_options_set_text(options, "preset", "fast", &error) == 0 && coremap_options_set_count(options, "seed", 3, &error) == 0 &&
        coremap_options_set_count(options, "seed", 4, &error) == 0 && coremap_options_set_text(options, "part", "there/is.part", &error) == 0, "set");
  check(strcmp(coremap_options_text(options), "{\"preset\":\"fast\",\"seed\":4,\"part\":\"there/is.part\"}") == 0, "as text");
  refused(coremap_options_set_text(options, "preset", "faster", &error), "bad-option", "/options/preset", "no such word");
  refused(coremap_options_set_count(options, "sed", 3, &error), "bad-option", "/options/sed", "no such option");
  refused(coremap_options_set_real(options, "seed", 0.5, &error), "bad-option", "/options/seed", "half a seed");
  refused(coremap_options_set_count(options, "seed", UINT64_MAX, &error), "bad-option", "/options/seed", "a seed that JSON does not hold");
  refused(coremap_options_set_flag(options, "max_part_size", 1, &error), "bad-option", "/options/max_part_size", "a size that is true");
  check(strstr(coremap_options_text(options), "\"seed\":4") != NULL, "what is refused changes nothing");
  coremap_options_free(options);
}

int main(int argc, char **argv)
{
  if (argc != 2)
    return 2;
  folder = argv[1];
  graphs();
  nets();
  mapped();
  options();
  printf("Checks: %d, Failures: %d, Errors: 0\n", checks, failures);
  return failures != 0;
}
