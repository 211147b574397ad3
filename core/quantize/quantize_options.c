/* Options of quantize jobs. */
#include "core/quantize/quantize.h"

static const double LARGE = 9007199254740992.0; /* the largest whole number that a double is sure of */

#define FIELD(name) offsetof(cm_quantize_options, name)

static const cm_option options_of_quantize_jobs[] = {
  {"method", CM_OPTION_WORD, FIELD(method), CM_RANGE_ALL, 0, CM_RANGE_ALL, {"range", "percentile", "error"}, NULL, false, CM_SHAPES_BOTH,
   .about = "how ranges follow from what samples make: range (all of it, unless given), percentile (without the outermost), error (least mean square, of weights too)"},
  {"percentile", CM_OPTION_REAL, FIELD(percentile), 50, 100, 99.99, {0}, NULL, false, CM_SHAPES_BOTH,
   .about = "of the numbers that method percentile keeps; 99.99 unless given"},
  {"threshold", CM_OPTION_REAL, FIELD(threshold), 0, 1e6, 0, {0}, NULL, false, CM_SHAPES_BOTH,
   .about = "products with a larger error, relative and alone, stay in float32; 0 (none) unless given"},
  {"data", CM_OPTION_OWN, FIELD(upload), 0, 0, 0, {0}, NULL, false, CM_SHAPES_BOTH,
   .about = "samples: of the command and the library a folder or file, of a server {\"upload\": ID}; random numbers unless given", .own = &cm_option_of_upload},
  {"samples", CM_OPTION_COUNT, FIELD(samples), 0, 100000, 0, {0}, NULL, false, CM_SHAPES_BOTH,
   .about = "random inputs, 8 unless given; or of those given, so many at most"},
  {"shape", CM_OPTION_OWN, FIELD(shapes), 0, 0, 0, {0}, NULL, false, CM_SHAPES_BOTH,
   .about = "extents of an input that the model leaves open, like input=1x3x224x224; once for each", .own = &cm_stated_shapes_option},
  {"seed", CM_OPTION_LONG_COUNT, FIELD(seed), 0, CM_OPTION_WHOLE_MOST, 1, {0}, NULL, false, CM_SHAPES_BOTH, .about = "of random inputs"},
  {"memory_limit", CM_OPTION_BYTES, FIELD(memory_limit), 0, LARGE, 0, {0}, NULL, true, CM_SHAPES_BOTH, .about = "or 512M, 2G"},
  {"time_limit", CM_OPTION_REAL, FIELD(time_limit), 0, 1e9, 0, {0}, NULL, true, CM_SHAPES_BOTH, .about = "seconds"},
};
const cm_options cm_quantize_option_table = {options_of_quantize_jobs, sizeof options_of_quantize_jobs / sizeof *options_of_quantize_jobs,
                                             "a quantize job", NULL};

cm_status cm_quantize_options_read(const json_t *object, cm_quantize_options *options, cm_error *error)
{
  cm_quantize_options made = {.seed = 1};
  cm_options_default(&cm_quantize_option_table, &made);
  CM_TRY(cm_options_read(&cm_quantize_option_table, object, &made, error));
  *options = made;
  return CM_OK;
}
