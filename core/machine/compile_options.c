/* Options of compile jobs. */

#include "base/option.h"
#include "core/machine/compile.h"
#include "core/machine/plan/settings.h"

enum { THREADS_MAX = 1024 };

static const double LARGE = 9007199254740992.0; /* the largest whole number that a double is sure of */

#define FIELD(name) offsetof(cm_compile_options, name)

static const cm_option options_of_compile_jobs[] = {
  {"stop_after", CM_OPTION_WORD, FIELD(stop_after), CM_STAGE_PERMUTATIONS, 0, CM_STAGE_DEFAULT,
   {"permutations", "split", "order", "tile", "program", "mapping"}, NULL, false, CM_SHAPES_BOTH,
   .about = "the last stage: split gives pieces as JSON, order as they will run, tile the program's pieces as a network, mapping these on cores"},
  {"verify", CM_OPTION_FLAG, FIELD(verify), 0, 1, 0, {0}, NULL, false, CM_SHAPES_BOTH,
   .about = "compute the model before and after on random inputs and compare, and tiles with the program"},
  {"memory", CM_OPTION_BYTES, FIELD(memory), 0, LARGE, 0, {0}, NULL, false, CM_SHAPES_BOTH,
   .about = "of on-chip memory instead of the chip's, or 256K, 4M"},
  {"smallest_memory", CM_OPTION_FLAG, FIELD(smallest_memory), 0, 1, 0, {0}, NULL, false, CM_SHAPES_BOTH,
   .about = "compile for the least on-chip memory that does"},
  {"shape", CM_OPTION_OWN, FIELD(shapes), 0, 0, 0, {0}, NULL, false, CM_SHAPES_BOTH,
   .about = "extents of an input that the model leaves open, like input=1x3x224x224, or of an open dimension, like batch=1; once for each",
   .own = &cm_stated_shapes_option},
  {"order", CM_OPTION_WORD, FIELD(order), CM_COMPILE_ORDER_SEARCH, 0, CM_COMPILE_ORDER_SEARCH, {"search", "file", "tree", "sample"}, NULL, false,
   CM_SHAPES_BOTH,
   .about = "of operators: search (unless given: every order of a part where there are few, else tree search), tree, sample (random orders) or file (as in the file)"},
  {"division", CM_OPTION_WORD, FIELD(division), CM_DIVISION_CAPABILITY, 0, CM_DIVISION_CAPABILITY, {"capability", "even", "unsplit", "layers"}, NULL, false,
   CM_SHAPES_BOTH,
   .about = "of operators among devices: capability (unless given); or what programs are compared with: pieces shared evenly among units, operators not split, layer by layer"},
  {"objective", CM_OPTION_EITHER, FIELD(least_traffic), 0, 1, 0, {"time", "traffic"}, NULL, false, CM_SHAPES_BOTH,
   .about = "what comes first, the time (unless given) or the bytes to and from the chip"},
  {"scores", CM_OPTION_LONG_COUNT, FIELD(scores), 1, 1e6, 0, {0}, NULL, false, CM_SHAPES_BOTH,
   .about = "candidates that the search for pieces and orders scores; unless given, by the size of the program"},
  {"until", CM_OPTION_REAL, FIELD(until_ns), 0, 1e15, 0, {0}, NULL, false, CM_SHAPES_BOTH,
   .about = "the searches end with the first program that takes so many ns at most"},
  {"search_seconds", CM_OPTION_REAL, FIELD(search_seconds), 0, 1e6, 0, {0}, NULL, false, CM_SHAPES_BOTH,
   .about = "the search ends after so many seconds with the best found"},
  {"tiles", CM_OPTION_FLAG, FIELD(make_tiles), 0, 1, 1, {0}, NULL, false, CM_SHAPES_BOTH,
   .about = "also make a network of the program's pieces (of jobs; unless given)"},
  {"seed", CM_OPTION_LONG_COUNT, FIELD(seed), 0, CM_OPTION_WHOLE_MOST, 1, {0}, NULL, false, CM_SHAPES_BOTH,
   .about = "of the random inputs and the search"},
  {"threads", CM_OPTION_COUNT, FIELD(threads), 1, THREADS_MAX, 1, {0}, NULL, true, CM_SHAPES_BOTH, .about = "never changes the result"},
  {"memory_limit", CM_OPTION_BYTES, FIELD(memory_limit), 0, LARGE, 0, {0}, NULL, true, CM_SHAPES_BOTH,
   .about = "that the compiler may use, or 512M, 2G"},
  {"time_limit", CM_OPTION_REAL, FIELD(time_limit), 0, 1e9, 0, {0}, NULL, true, CM_SHAPES_BOTH, .about = "seconds"},
};
static const cm_option_rule rules[] = {
  {"stop_after", {{"stop_after", "split order tile program mapping"}}, CM_COMPILE_NO_CHIP, "stages after \"permutations\" need a chip: name one"},
  {"smallest_memory", {{"smallest_memory", NULL}}, CM_COMPILE_NO_CHIP, "the smallest memory is that of a chip: name one"},
  {"smallest_memory", {{"smallest_memory", NULL}, {"memory", NULL}}, 0, "smallest_memory finds the memory, and memory states it: give one of them"},
  {"smallest_memory", {{"smallest_memory", NULL}, {"stop_after", "permutations"}}, 0, "permutations are made without a memory: stop later for the smallest"},
  {.at = NULL},
};
const cm_options cm_compile_option_table = {options_of_compile_jobs, sizeof options_of_compile_jobs / sizeof *options_of_compile_jobs,
                                            "a compile job", rules};

const char *cm_compile_stage_name(cm_compile_stage stage)
{
  static const char *const names[] = {NULL, "permutations", "split", "order", "tile", "program", "mapping"};
  return names[stage];
}

cm_status cm_compile_options_read(const json_t *object, cm_compile_options *options, cm_error *error)
{
  cm_compile_options made = {.seed = 1};
  cm_options_default(&cm_compile_option_table, &made);
  CM_TRY(cm_options_read(&cm_compile_option_table, object, &made, error));
  *options = made;
  return CM_OK;
}

cm_compile_stage cm_compile_last_stage(const cm_compile_options *options, const cm_chip *chip)
{
  if (options->stop_after != CM_STAGE_DEFAULT)
    return options->stop_after;
  return chip != NULL ? CM_STAGE_PROGRAM : CM_STAGE_PERMUTATIONS;
}
