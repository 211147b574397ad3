/* Options of compile jobs. */
#include <stdio.h>
#include <string.h>

#include "core/base/number.h"
#include "core/base/option.h"
#include "core/machine/compile.h"

enum { THREADS_MAX = 1024 };

static const double LARGE = 9007199254740992.0; /* the largest whole number that a double is sure of */

/* All of them; read_option reads each. */
static const struct {
  const char *name, *form, *about;
} table[] = {
  {"stop_after", "permutations|split|order|tile|program|mapping",
   "the last stage: split gives pieces as JSON, order as they will run, tile the program's pieces as a network, mapping these on cores"},
  {"verify", "true|false", "compute the model before and after on random inputs and compare, and tiles with the program"},
  {"memory", "BYTES", "of on-chip memory instead of the chip's, or 256K, 4M"},
  {"shape", "NAME=DIMS", "extents of an input that the model leaves open, like input=1x3x224x224, or of an open dimension, like "
                         "batch=1; once for each"},
  {"order", "search|file", "file: operators stay in the order of the file"},
  {"objective", "time|traffic", "what comes first, the time (unless given) or the bytes to and from the chip"},
  {"scores", "N", "candidates that the search for pieces and orders scores; unless given, by the size of the program"},
  {"search_seconds", "X", "the search ends after so many seconds with the best found"},
  {"tiles", "true|false", "also make a network of the program's pieces (of jobs; unless given)"},
  {"seed", "N", "of the random inputs and the search"},
  {"threads", "N", "never changes the result"},
  {"memory_limit", "BYTES", "that the compiler may use, or 512M, 2G"},
  {"time_limit", "X", "seconds"},
};
enum { OPTIONS = sizeof table / sizeof *table };

bool cm_compile_option_about(size_t number, cm_option_about *about)
{
  if (number >= OPTIONS)
    return false;
  *about = (cm_option_about){.name = table[number].name, .about = table[number].about};
  (void)snprintf(about->form, sizeof about->form, "%s", table[number].form);
  return true;
}

static cm_status read_number(const char *name, const json_t *value, double least, double most, double *number,
                             cm_error *error)
{
  char expected[64];
  double x = json_number_value(value);
  if (json_is_number(value) && x >= least && x <= most) {
    *number = x;
    return CM_OK;
  }
  (void)snprintf(expected, sizeof expected, "a number from %.0f to %.3g", least, most);
  return cm_option_refuse(error, name, expected);
}

/* A number, or text like "512K". */
static cm_status read_bytes(const char *name, const json_t *value, uint64_t *bytes, cm_error *error)
{
  double number = 0;
  if (json_is_string(value)) {
    if (cm_bytes_parse(json_string_value(value), bytes))
      return CM_OK;
    return cm_option_refuse(error, name, "bytes, as a number or text like \"512K\"");
  }
  if (read_number(name, value, 0, LARGE, &number, error) != CM_OK)
    return error->status;
  *bytes = (uint64_t)number;
  return CM_OK;
}

const char *cm_compile_stage_name(cm_compile_stage stage)
{
  static const char *const names[] = {NULL, "permutations", "split", "order", "tile", "program", "mapping"};
  return names[stage];
}

static cm_status read_stage(const char *name, const json_t *value, cm_compile_stage *stage, cm_error *error)
{
  const char *text = json_string_value(value);
  for (cm_compile_stage s = CM_STAGE_PERMUTATIONS; text != NULL && s <= CM_STAGE_MAPPING; s++)
    if (strcmp(text, cm_compile_stage_name(s)) == 0) {
      *stage = s;
      return CM_OK;
    }
  return cm_option_refuse(error, name, "\"permutations\", \"split\", \"tile\", \"order\", \"program\" or \"mapping\"");
}

static cm_status read_order(const char *name, const json_t *value, bool *file_order, cm_error *error)
{
  const char *text = json_string_value(value);
  if (text == NULL || (strcmp(text, "file") != 0 && strcmp(text, "search") != 0))
    return cm_option_refuse(error, name, "\"file\" or \"search\"");
  *file_order = strcmp(text, "file") == 0;
  return CM_OK;
}

/* Text, or an object with text or numbers by name. */
static cm_status read_shapes(const char *option, const json_t *value, cm_stated_shapes *shapes, cm_error *error)
{
  static const char expected[] = "text like \"input=1x3x224x224\", or {\"input\": [1, 3, 224, 224]}";
  const char *name;
  json_t *item;
  *shapes = (cm_stated_shapes){.count = 0};
  if (json_is_string(value))
    return cm_stated_shapes_parse(json_string_value(value), shapes, error);
  if (!json_is_object(value))
    return cm_option_refuse(error, option, expected);
  json_object_foreach((json_t *)(uintptr_t)value, name, item)
  {
    int64_t dims[CM_RANK_MAX];
    size_t rank = json_array_size(item);
    bool numbers = json_is_array(item) && rank > 0 && rank <= CM_RANK_MAX;
    for (size_t k = 0; numbers && k < rank; k++) {
      numbers = json_is_integer(json_array_get(item, k));
      dims[k] = json_integer_value(json_array_get(item, k));
    }
    if (!numbers)
      return cm_option_refuse(error, option, expected);
    if (cm_stated_shapes_add(shapes, name, dims, (uint32_t)rank, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

static cm_status read_objective(const char *name, const json_t *value, bool *least_traffic, cm_error *error)
{
  const char *text = json_string_value(value);
  if (text == NULL || (strcmp(text, "time") != 0 && strcmp(text, "traffic") != 0))
    return cm_option_refuse(error, name, "\"time\" or \"traffic\"");
  *least_traffic = strcmp(text, "traffic") == 0;
  return CM_OK;
}

static cm_status read_option(const char *name, const json_t *value, cm_compile_options *made, cm_error *error)
{
  double number = 0;
  if (strcmp(name, "stop_after") == 0)
    return read_stage(name, value, &made->stop_after, error);
  if (strcmp(name, "verify") == 0)
    return cm_option_flag(name, value, &made->verify, error);
  if (strcmp(name, "tiles") == 0) {
    bool tiles = true;
    if (cm_option_flag(name, value, &tiles, error) != CM_OK)
      return error->status;
    made->no_tiles = !tiles;
    return CM_OK;
  }
  if (strcmp(name, "order") == 0)
    return read_order(name, value, &made->file_order, error);
  if (strcmp(name, "shape") == 0)
    return read_shapes(name, value, &made->shapes, error);
  if (strcmp(name, "objective") == 0)
    return read_objective(name, value, &made->least_traffic, error);
  if (strcmp(name, "scores") == 0) {
    if (read_number(name, value, 1, 1e6, &number, error) != CM_OK)
      return error->status;
    made->scores = (uint64_t)number;
    return CM_OK;
  }
  if (strcmp(name, "search_seconds") == 0)
    return read_number(name, value, 0, 1e6, &made->search_seconds, error);
  if (strcmp(name, "time_limit") == 0)
    return read_number(name, value, 0, 1e9, &made->time_limit, error);
  if (strcmp(name, "threads") == 0) {
    if (read_number(name, value, 1, THREADS_MAX, &number, error) != CM_OK)
      return error->status;
    made->threads = (unsigned)number;
    return CM_OK;
  }
  if (strcmp(name, "memory_limit") == 0)
    return read_bytes(name, value, &made->memory_limit, error);
  if (strcmp(name, "memory") == 0)
    return read_bytes(name, value, &made->memory, error);
  if (strcmp(name, "seed") != 0) {
    char known[400];
    size_t used = 0;
    for (size_t i = 0; i < OPTIONS && used < sizeof known; i++)
      used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", table[i].name);
    (void)cm_fail(error, CM_BAD_OPTION, "there is no option %.60s; compile has %s", name, known);
    return cm_fail_at(error, "/options/%.60s", name);
  }
  if (read_number(name, value, 0, LARGE, &number, error) != CM_OK)
    return error->status;
  made->seed = (uint64_t)number;
  return CM_OK;
}

cm_status cm_compile_options_read(const json_t *object, cm_compile_options *options, cm_error *error)
{
  cm_compile_options made = {.seed = 1, .threads = 1};
  const char *name;
  json_t *value;
  json_object_foreach((json_t *)(uintptr_t)object, name, value)
  {
    if (read_option(name, value, &made, error) != CM_OK)
      return error->status;
  }
  *options = made;
  return CM_OK;
}

cm_compile_stage cm_compile_last_stage(const cm_compile_options *options, const cm_chip *chip)
{
  if (options->stop_after != CM_STAGE_DEFAULT)
    return options->stop_after;
  return chip != NULL && chip->target != NULL ? CM_STAGE_PROGRAM : CM_STAGE_PERMUTATIONS;
}
