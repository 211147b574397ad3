/* What is said of chip files and occupancies that cannot be read: the place, and what would be right. */
#include "tests/unit/unit.h"

#include "core/chip/occupancy.h"

void add_chip_refusals(TCase *tests);

static cm_error error;

typedef struct refusal {
  const char *text, *where, *says;
} refusal;

static void expect(const char *text, const char *where, const char *says)
{
  ck_assert_msg(strcmp(error.where, where) == 0, "%s: at '%s' (%s)", text, error.where, error.detail);
  ck_assert_msg(strstr(error.detail, says) != NULL, "%s: '%s' does not say '%s'", text, error.detail, says);
}

static void refuse_chip(const char *text, const char *where, const char *says)
{
  cm_chip *chip = NULL;
  ck_fails(cm_chip_parse(text, strlen(text), &chip, &error), CM_BAD_CHIP);
  ck_assert_ptr_null(chip);
  expect(text, where, says);
}

/* `before`, then so many times `again`, then `after`. */
static char *repeated(const char *before, const char *again, size_t times, const char *after)
{
  char *text = calloc(1, strlen(before) + times * strlen(again) + strlen(after) + 1), *end = text;
  end = stpcpy(end, before);
  for (size_t i = 0; i < times; i++)
    end = stpcpy(end, again);
  (void)stpcpy(end, after);
  return text;
}

START_TEST(chip_files)
{
#define CHIP(more) "{\"name\": \"a\", \"cores\": [4, 4], " more "}"
  static const refusal cases[] = {
    {"{\"name\": 7, \"cores\": [4, 4]}", "/name", "expected a text"},
    {CHIP("\"description\": 5"), "/description", "expected a text"},
    {CHIP("\"dies\": [1, \"2\"]"), "/dies/1", "expected a whole number"},
    {CHIP("\"cores_per_router\": 2"), "/cores_per_router", "expected two whole numbers [x, y]"},
    {CHIP("\"limits\": []"), "/limits", "expected an object"},
    {CHIP("\"limits\": {\"synapses\": 5, \"synapse_bits\": 9, \"bits_per_synapse\": 3}"), "/limits/synapse_bits",
     "give either synapses, or synapse_bits and bits_per_synapse"},
    {CHIP("\"energy_pj\": 7"), "/energy_pj", "expected an object"},
    {CHIP("\"energy_pj\": {\"routers\": 1}"), "/energy_pj/routers", "known here: router, link"},
    {CHIP("\"energy_pj\": {\"east_west\": -1}"), "/energy_pj/east_west", "-1 is out of range; 0 to 1e+12"},
    {CHIP("\"latency_ns\": {\"north_south\": \"fast\"}"), "/latency_ns/north_south", "expected a number"},
    {CHIP("\"latency_ns\": {\"diagonal\": -2}"), "/latency_ns/diagonal", "-2 is out of range"},
    {CHIP("\"latency_ns\": {\"die_to_die\": true}"), "/latency_ns/die_to_die", "expected a number"},
    {CHIP("\"table_entries\": 0"), "/table_entries", "0 is out of range; 1 to 2147483647"},
    {CHIP("\"dead_cores\": 7"), "/dead_cores", "expected a list"},
    {CHIP("\"dead_cores\": [[0, 0.5]]"), "/dead_cores/0", "coordinates must be whole numbers"},
    {CHIP("\"dead_routers\": 7"), "/dead_routers", "expected a list"},
    {CHIP("\"dead_routers\": [[4, 0]], \"interconnect\": {\"kind\": \"grid\"}"), "/dead_routers/0",
     "x = 4 is outside the chip: 0 to 3"},
    {CHIP("\"dead_links\": 7"), "/dead_links", "expected a list"},
    {CHIP("\"dead_links\": [[0, 0]]"), "/dead_links/0", "expected [x, y, \"east\""},
    {CHIP("\"dead_links\": [[1, 1, \"east\"], [4, 0, \"west\"]]"), "/dead_links/1", "4 is out of range; 0 to 3"},
    {CHIP("\"dead_links\": [[0, \"1\", \"east\"]]"), "/dead_links/0", "expected a whole number"},
    {CHIP("\"dead_links\": [[0, 0, \"north\"]]"), "/dead_links/0", "it would leave the chip"},
    {CHIP("\"machine\": {}, \"interconnect\": {\"kind\": \"grid\"}"), "/machine", "a plain mesh or torus"},
    {CHIP("\"machine\": {\"memory_bytes\": 4096, \"window\": 0}"), "/machine/window", "1 to 256 are possible"},
    {CHIP("\"machine\": {\"memory_bytes\": 4096, \"code_bytes\": 16}"), "/machine/code_bytes", "\"window\" should say"},
    {CHIP("\"costs\": 5"), "/costs", "expected an object"},
    {CHIP("\"costs\": {\"neuron\": 5}"), "/costs/neuron", "expected an object"},
    {CHIP("\"costs\": {\"spike\": {\"pj\": \"1\"}}"), "/costs/spike/pj", "expected a number from 0 to 1e+12"},
    {CHIP("\"costs\": {\"barrier\": 5}"), "/costs/barrier", "expected an object"},
    {CHIP("\"costs\": {\"barrier\": {\"tile\": [2]}}"), "/costs/barrier/tile", "two whole numbers [x, y] of cores, 1 to 4096"},
    {CHIP("\"costs\": {\"packets_per_ns\": 5}"), "/costs/packets_per_ns", "expected an object"},
    {CHIP("\"costs\": {\"packets_per_ns\": {\"port\": -1}}"), "/costs/packets_per_ns/port", "expected a number from 0"},
    {CHIP("\"costs\": {\"packets_per_ns\": {\"link\": 1e-20}}"), "/costs/packets_per_ns/link", "0 (as many as need be)"},
  };
#undef CHIP
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    refuse_chip(cases[i].text, cases[i].where, cases[i].says);
  char *text = repeated("{\"name\": \"a\", \"cores\": [4, 4], \"description\": \"", "long", 1001, "\"}");
  refuse_chip(text, "/description", "more than 4000 bytes");
  free(text);
  text = repeated("{\"name\": \"a\", \"cores\": [4, 4], \"dead_cores\": [", "[0, 0, 3, 3], ", 300, "[0, 0]]}");
  refuse_chip(text, "/dead_cores", "repeat the chip's cores too often");
  free(text);
  text = repeated("{\"name\": \"a\", \"cores\": [4, 4], \"costs\": {\"barrier\": {\"ns\": [", "[1, 1], ", 32, "[1, 1]]}}}");
  refuse_chip(text, "/costs/barrier/ns", "expected 1 to 32 points");
  free(text);
}
END_TEST

START_TEST(occupancies)
{
  static const refusal cases[] = {
    {"{\"width\": 5}", "/width", "the chip's is 4"},
    {"{\"height\": 4.5}", "/height", "the chip's is 4"},
    {"{\"colour\": 5}", "/colour", "known here: chip, width"},
    {"{\"taken\": 5}", "/taken", "expected a list"},
    {"{\"taken\": [4]}", "/taken/0", "expected {\"owner\", \"cores\"}"},
    {"{\"taken\": [{\"owner\": \"x\", \"colour\": 1}]}", "/taken/0/colour", "known here: owner, cores"},
    {"{\"taken\": [{\"owner\": 7}]}", "/taken/0/owner", "a text of at most 128 bytes"},
    {"{\"taken\": [{\"owner\": \"x\", \"cores\": 3}]}", "/taken/0/cores", "expected a list of cores and rectangles"},
    {"{\"taken\": [{\"owner\": \"x\", \"cores\": [[1]]}]}", "/taken/0/cores/0", "expected a core [x,y]"},
    {"{\"broken\": [[3, 3, 2, 3]]}", "/broken/0", "the rectangle's second corner (2, 3) lies before its first (3, 3)"},
    {"{\"release\": 5}", "/release", "expected a list of cores"},
    {"{\"repaired\": [[0, -1]]}", "/repaired/0", "y = -1 is outside the chip: 0 to 3"},
  };
  cm_chip *chip;
  cm_occupancy *occupancy = NULL;
  ck_ok(cm_chip_mesh(4, 4, &chip, &error));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ck_fails(cm_occupancy_parse(chip, cases[i].text, strlen(cases[i].text), &occupancy, &error), CM_BAD_OCCUPANCY);
    expect(cases[i].text, cases[i].where, cases[i].says);
  }
  char *text = repeated("{\"occupy\": [", "[0, 0, 3, 3], ", 300, "[0, 0]], \"owner\": \"x\"}");
  ck_fails(cm_occupancy_parse(chip, text, strlen(text), &occupancy, &error), CM_BAD_OCCUPANCY);
  expect("a long list", "/occupy", "repeat the chip's cores too often");
  ck_assert_ptr_null(occupancy);
  free(text);
  cm_chip_free(chip);
}
END_TEST

void add_chip_refusals(TCase *tests)
{
  tcase_add_test(tests, chip_files);
  tcase_add_test(tests, occupancies);
}
