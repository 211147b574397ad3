/* Operations of the library: reading networks of each format, mapping with each preset and mapper, checking what was
 * mapped, compiling to each stage. */
#include <dirent.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/machine/compile.h"
#include "core/solver/map.h"
#include "core/mapping/options.h"
#include "core/output/beside.h"
#include "core/output/views.h"
#include "core/network/import.h"
#include "core/network/topology_file.h"
#include "tests/fault/operations.h"

static cm_run run;
static cm_memory memory;

static void begin(void)
{
  cm_memory_init(&memory, 0);
  cm_run_init(&run);
  run.memory = &memory;
  run.threads = 2;
}

static void hash_into(char *digest, const char *path)
{
  cm_error error;
  uint64_t bytes;
  operation_must(cm_file_hash(path, digest, &bytes, &error), &error, "the digest of what was made");
}

static int not_dots(const struct dirent *entry)
{
  return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* Nothing but these names may lie in the folder; NULL at the end. */
static void only_files(const char *folder, const char *const *names)
{
  struct dirent **list;
  int count = scandir(folder, &list, not_dots, alphasort);
  if (count < 0)
    operation_wrong("%s cannot be listed", folder);
  for (int k = 0; k < count; k++) {
    bool known = false;
    for (size_t i = 0; names[i] != NULL; i++)
      known = known || strcmp(names[i], list[k]->d_name) == 0;
    if (!known)
      operation_wrong("leaves %s behind", list[k]->d_name);
    free(list[k]);
  }
  free(list);
}

/* The digest of all files in a folder: of their names and digests, by name. */
static void hash_folder(char *digest, const char *folder)
{
  struct dirent **list;
  int count = scandir(folder, &list, not_dots, alphasort);
  const char *all = operation_path("digests");
  FILE *stream = fopen(all, "w");
  if (count <= 0 || stream == NULL)
    operation_wrong("%s is empty or cannot be listed", folder);
  for (int k = 0; k < count; k++) {
    char path[CM_PATH_MAX], one[65];
    (void)snprintf(path, sizeof path, "%.500s/%.300s", folder, list[k]->d_name);
    hash_into(one, path);
    (void)fprintf(stream, "%s %s\n", list[k]->d_name, one);
    free(list[k]);
  }
  free(list);
  (void)fclose(stream);
  hash_into(digest, all);
}

/* ---- reading ---- */

static cm_topology *topology;
static cm_import_report import_report;

static cm_status import_file(const char *path, cm_error *error)
{
  cm_import_limits limits = cm_import_limits_default();
  begin();
  return cm_import(path, &limits, &run, &topology, &import_report, error);
}

static void settle_import(cm_status status, char *digest)
{
  cm_error error;
  if (status != CM_OK) {
    if (topology != NULL)
      operation_wrong("an output was touched by a failure");
    return;
  }
  const char *path = operation_path("again.zip");
  operation_must(cm_topology_save(topology, path, &run, &error), &error, "saving what was read");
  hash_into(digest, path);
  cm_topology_free(topology);
  topology = NULL;
}

static const char edges_text[] =
  "a,b,1\nb,c,2\nc,d,3\nd,a,4\na,c,2\ne,a,1\nf,e,3\ng,a,2\nh,b,1\na,h,5\nf,g,1\ni,a,2\nb,i,1\n";

#define IMPORT(name, text)                                                              \
  static cm_status import_##name(cm_error *error)                                       \
  {                                                                                     \
    return import_file(operation_path(#name), error);                                   \
  }                                                                                     \
  static void prepare_##name(void)                                                      \
  {                                                                                     \
    operation_write(operation_path(#name), text, strlen(text));                         \
  }

IMPORT(edges, edges_text)
IMPORT(metis, "4 4 1\n2 3 4 1\n1 3 3 2\n2 2 4 5\n1 1 3 5\n")
IMPORT(hmetis, "3 5\n1 2 3\n3 4 5\n1 5\n")
IMPORT(matrix, "%%MatrixMarket matrix coordinate integer general\n4 4 4\n1 2 3\n2 3 1\n3 4 2\n4 1 9\n")

static cm_status import_snn(cm_error *error)
{
  return import_file(operation_data("small.snn"), error);
}

static cm_status import_gzip(cm_error *error)
{
  return import_file(operation_data("celegans_herm_chem.graph.gz"), error);
}

static void prepare_zip(void)
{
  cm_error error;
  prepare_edges();
  operation_must(import_file(operation_path("edges"), &error), &error, "reading a network");
  operation_must(cm_topology_save(topology, operation_path("in.zip"), &run, &error), &error, "writing a network");
  cm_topology_free(topology);
  topology = NULL;
}

static cm_status import_zip(cm_error *error)
{
  return import_file(operation_path("in.zip"), error);
}

static cm_status write_zip(cm_error *error)
{
  cm_status status = import_zip(error);
  CM_THEN(status, cm_topology_save(topology, operation_path("out.zip"), &run, error));
  if (status != CM_OK) {
    cm_topology_free(topology);
    topology = NULL;
  }
  return status;
}

static void settle_write(cm_status status, char *digest)
{
  static const char *const kept[] = {"edges", "in.zip", "out.zip", "again.zip", NULL};
  char written[65];
  settle_import(status, digest);
  only_files(operation_folder, kept);
  if (status == CM_OK) {
    hash_into(written, operation_path("out.zip"));
    if (strcmp(written, digest) != 0)
      operation_wrong("the file written is not the network in memory");
  }
}

/* ---- mapping ---- */

static const char *options_text;

static cm_status write_late(const char *folder, cm_mapping_view view, cm_error *error)
{
  cm_topology *network;
  cm_status status = cm_topology_load(operation_path("in.zip"), &run, &network, error);
  return status == CM_OK ? cm_mapping_write_late(folder, view, network, &run, error) : status;
}

/* What a job of kind map does, without a server: read, map, write all views; and what is made of them when it is asked for:
 * routes and certificate. */
static cm_status map_to(const char *folder, cm_error *error)
{
  cm_chip *chip = NULL;
  cm_occupancy *occupancy = NULL;
  cm_topology *network = NULL;
  cm_map_options *options = NULL;
  cm_mapping *mapping = NULL;
  json_t *json = json_loads(options_text, 0, NULL);
  if (json == NULL) /* the test's own want of memory */
    return cm_fail(error, CM_NO_MEMORY, "no memory for the test's options");
  cm_status status = cm_map_options_parse(json, &options, error);
  json_decref(json);
  begin();
  if (status == CM_OK) {
    cm_map_options_apply(options, &run);
    run.threads = 2;
    status = cm_chip_parse(cm_chip_preset_text("loihi1"), strlen(cm_chip_preset_text("loihi1")), &chip, error);
  }
  CM_THEN(status, cm_occupancy_new(chip, &occupancy, error));
  CM_THEN(status, cm_topology_load(operation_path("in.zip"), &run, &network, error));
  cm_map_input input = {.demand = network != NULL ? CM_DEMAND_OF(network) : NULL, .network_id = "0", .chip = chip, .occupancy = occupancy, .options = options,
                        .scratch_folder = operation_path("scratch"), .policy = options != NULL && options->mapper == CM_MAPPER_LEARNED ? operation_source("share/policies/default.policy") : NULL};
  CM_THEN(status, cm_map(&input, &run, &mapping, error));
  CM_THEN(status, cm_mapping_write_folder(mapping, CM_DEMAND_OF(network), chip, "0", folder, error));
  CM_THEN(status, cm_mapping_write_beside(mapping, &input, &run, folder, error));
  CM_THEN(status, write_late(folder, CM_VIEW_ROUTES_JSON, error));
  CM_THEN(status, write_late(folder, CM_VIEW_CERTIFICATE_JSON, error));
  CM_THEN(status, write_late(folder, CM_VIEW_STRUCTURE, error));
  cm_mapping_free(mapping);
  cm_topology_free(network);
  cm_map_options_free(options);
  cm_occupancy_free(occupancy);
  cm_chip_free(chip);
  return status;
}

static void prepare_map(void)
{
  cm_error error;
  if (access(operation_path("in.zip"), F_OK) != 0)
    prepare_zip();
  operation_must(cm_folder_remove(operation_path("scratch"), &error), &error, "emptying");
  operation_must(cm_folder_remove(operation_path("out"), &error), &error, "emptying");
  operation_must(cm_folder_make(operation_path("scratch"), &error), &error, "a folder");
}

static void settle_map(cm_status status, char *digest)
{
  if (status == CM_OK)
    hash_folder(digest, operation_path("out"));
}

#define MAP(name, text)                           \
  static cm_status map_##name(cm_error *error)    \
  {                                               \
    options_text = text;                          \
    return map_to(operation_path("out"), error);  \
  }

MAP(fast, "{\"preset\": \"fast\", \"max_part_size\": 3}")
MAP(balanced, "{\"preset\": \"balanced\", \"max_part_size\": 3}")
MAP(best, "{\"preset\": \"best\", \"max_part_size\": 5}")
MAP(reference, "{\"preset\": \"reference\", \"max_part_size\": 3}")
MAP(edge, "{\"preset\": \"balanced\", \"objective\": \"edge\", \"parts\": 3}")
MAP(two_phase, "{\"preset\": \"balanced\", \"mapper\": \"two-phase\", \"max_part_size\": 3}")
MAP(integrated, "{\"preset\": \"balanced\", \"mapper\": \"integrated\", \"objective\": \"edge\", \"max_part_size\": 3}")
MAP(bisection, "{\"preset\": \"fast\", \"mapper\": \"bisection\", \"max_part_size\": 3}")
MAP(learned, "{\"preset\": \"fast\", \"mapper\": \"learned\", \"max_part_size\": 3}")
MAP(multicast, "{\"preset\": \"fast\", \"traffic_model\": \"multicast\", \"routing\": \"west-first\", \"max_part_size\": 3}")
MAP(limited, "{\"preset\": \"fast\", \"memory_limit\": 4000000, \"max_part_size\": 3}")

/* ---- checking ---- */

static void prepare_check(void)
{
  cm_error error;
  if (access(operation_path("made/mapping.json"), F_OK) == 0)
    return;
  prepare_map();
  options_text = "{\"preset\": \"fast\", \"max_part_size\": 3}";
  operation_must(map_to(operation_path("made"), &error), &error, "mapping");
}

static cm_status check_certificate(cm_error *error)
{
  cm_chip *chip = NULL;
  cm_topology *network = NULL;
  cm_check_result result = {0};
  begin();
  cm_status status = cm_chip_parse(cm_chip_preset_text("loihi1"), strlen(cm_chip_preset_text("loihi1")), &chip, error);
  CM_THEN(status, cm_topology_load(operation_path("in.zip"), &run, &network, error));
  if (status == CM_OK)
    status = cm_certificate_check(operation_path("made/certificate.json"), operation_path("made/mapping.json"),
                                  &(cm_check_context){.demand = CM_DEMAND_OF(network), .chip = chip, .network_id = "0", .run = &run}, &result,
                                  error);
  if (status == CM_OK && result.violation_count > 0)
    status = cm_fail(error, CM_INTERNAL, "a legal mapping is refused: %.500s", result.violations[0]);
  cm_check_result_free(&result);
  cm_topology_free(network);
  cm_chip_free(chip);
  return status;
}

static void settle_check(cm_status status, char *digest)
{
  (void)status;
  (void)digest;
}

/* ---- compiling ---- */

static cm_status compile_to(const char *chip_name, cm_compile_stage stage, cm_error *error)
{
  cm_compile_options options = {.seed = 1, .threads = 2, .verify = true, .scores = 8, .make_tiles = true, .stop_after = stage};
  cm_chip *chip = NULL;
  json_t *report = NULL;
  cm_status status = CM_OK;
  begin();
  if (chip_name != NULL)
    status = cm_chip_parse(cm_chip_preset_text(chip_name), strlen(cm_chip_preset_text(chip_name)), &chip, error);
  options.tiles = operation_path("out/tiles.zip");
  options.mapping = stage == CM_STAGE_MAPPING ? operation_path("out/mapping.json") : NULL;
  CM_THEN(status, cm_compile(operation_data("onnx/shuffle.onnx"), &options, chip, &run,
                             operation_path(stage == CM_STAGE_TILE ? "out/tiles.zip" : "out/result"),
                             operation_path("out/timeline"), &report, error));
  json_decref(report);
  cm_chip_free(chip);
  return status;
}

static void prepare_compile(void)
{
  cm_error error;
  const char *const folders[] = {"scratch", "out"};
  for (int i = 0; i < 2; i++) {
    operation_must(cm_folder_remove(operation_path("%s", folders[i]), &error), &error, "emptying");
    operation_must(cm_folder_make(operation_path("%s", folders[i]), &error), &error, "a folder");
  }
}

static void settle_compile(cm_status status, char *digest)
{
  static const char *const kept[] = {"result", "timeline", "tiles.zip", "mapping.json", NULL};
  if (status == CM_OK)
    hash_into(digest, operation_path(access(operation_path("out/result"), F_OK) == 0 ? "out/result" : "out/tiles.zip"));
  only_files(operation_path("out"), kept);
}

#define COMPILE(name, chip, stage)                  \
  static cm_status compile_##name(cm_error *error)  \
  {                                                 \
    return compile_to(chip, stage, error);          \
  }

COMPILE(permutations, NULL, CM_STAGE_PERMUTATIONS)
COMPILE(program, "npu-embedded", CM_STAGE_PROGRAM)
COMPILE(tile, "npu-manycore", CM_STAGE_TILE)
COMPILE(mapping, "npu-manycore", CM_STAGE_MAPPING)

const operation library_operations[] = {
  {"import edges", prepare_edges, import_edges, settle_import, false},
  {"import metis", prepare_metis, import_metis, settle_import, false},
  {"import hmetis", prepare_hmetis, import_hmetis, settle_import, false},
  {"import matrix-market", prepare_matrix, import_matrix, settle_import, false},
  {"import snn", NULL, import_snn, settle_import, false},
  {"import gzip", NULL, import_gzip, settle_import, false},
  {"import topology", prepare_zip, import_zip, settle_import, true},
  {"write topology", prepare_zip, write_zip, settle_write, true},
  {"map fast", prepare_map, map_fast, settle_map, true},
  {"map balanced", prepare_map, map_balanced, settle_map, true},
  {"map best", prepare_map, map_best, settle_map, true},
  {"map reference", prepare_map, map_reference, settle_map, true},
  {"map edge parts", prepare_map, map_edge, settle_map, true},
  {"map two-phase", prepare_map, map_two_phase, settle_map, true},
  {"map integrated", prepare_map, map_integrated, settle_map, true},
  {"map bisection", prepare_map, map_bisection, settle_map, true},
  {"map learned", prepare_map, map_learned, settle_map, true},
  {"map multicast routes", prepare_map, map_multicast, settle_map, true},
  {"map memory limit", prepare_map, map_limited, settle_map, true},
  {"check certificate", prepare_check, check_certificate, settle_check, true},
  {"compile permutations", prepare_compile, compile_permutations, settle_compile, true},
  {"compile program", prepare_compile, compile_program, settle_compile, true},
  {"compile tile", prepare_compile, compile_tile, settle_compile, true},
  {"compile tile mapping", prepare_compile, compile_mapping, settle_compile, true},
  {NULL, NULL, NULL, NULL, false},
};
