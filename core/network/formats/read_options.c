/* How a file is to be read, where it could be read in several ways. */
#include <stdlib.h>
#include <string.h>

#include "core/network/formats/table_rows.h"
#include "core/network/import.h"

const cm_read_option cm_read_options[CM_READ_OPTIONS] = {
  [CM_READ_COLUMNS] = {"columns", "source,target,weight,delay,-",
                       "what the columns of an edge list without a header are, in their order; -: not read", false},
  [CM_READ_ZEROS] = {"zeros", "keep|drop", "synapses of weight 0 stay (keep, the default) or are left out", false},
  [CM_READ_DIRECTED] = {"directed", "auto|yes|no", "what the file says (auto, the default), every edge two synapses (yes), or "
                        "synapses are edges of a graph (no)", false},
  [CM_READ_INPUT_SHAPE] = {"input_shape", "CxHxW",
                           "shape of what comes into a network of layers (NIR, lava-dl) whose file does not say it", false},
  [CM_READ_CONFIG] = {"config", "NAME", "of a SONATA circuit with several configurations: the one that is read", false},
  [CM_READ_POPULATION] = {"population", "NAME,...", "of a SONATA file or circuit: the populations of edges that are read", false},
  [CM_READ_RATES] = {"rates", "FILE", "rates of all neurons that send, a line name,rate each", true},
  [CM_READ_PARAMETERS] = {"parameters", "FILE", "models and parameters of neurons, a line a neuron or population under a header", true},
};

/* Whether `value` is one of the words between bars. */
static bool is_one_of(const char *value, const char *words)
{
  const size_t length = strlen(value);
  for (const char *at = words; length > 0;) {
    const size_t word = strcspn(at, "|");
    if (word == length && strncmp(at, value, word) == 0)
      return true;
    if (at[word] == '\0')
      break;
    at += word + 1;
  }
  return false;
}

int cm_read_option_shape(const char *value, uint64_t *dim, int most)
{
  int count = 0;
  for (char *end; count < most; value = end + 1) {
    if (*value < '0' || *value > '9')
      return 0;
    dim[count] = strtoull(value, &end, 10);
    if (dim[count] == 0 || dim[count++] > UINT32_MAX || (*end != 'x' && *end != '\0'))
      return 0;
    if (*end == '\0')
      return count;
  }
  return 0;
}

static cm_status check_shape(const char *value, cm_error *error)
{
  enum { RANK_MAX = 6 };
  uint64_t dim[RANK_MAX];
  return cm_read_option_shape(value, dim, RANK_MAX) > 0
           ? CM_OK
           : cm_fail(error, CM_BAD_OPTION, "input_shape must be one to six extents, as 2x34x34, not \"%.40s\"", value);
}

cm_status cm_read_option_check(cm_read_option_id id, const char *value, cm_error *error)
{
  cm_columns ignored;
  const cm_read_option *o = &cm_read_options[id];
  if (id == CM_READ_COLUMNS)
    return cm_columns_of_option(value, &ignored, error);
  if (id == CM_READ_INPUT_SHAPE)
    return check_shape(value, error);
  if (strchr(o->form, '|') == NULL || is_one_of(value, o->form))
    return CM_OK;
  cm_fail(error, CM_BAD_OPTION, "%s must be ", o->name);
  for (const char *at = o->form; *at != '\0';) {
    const size_t word = strcspn(at, "|");
    cm_fail_more(error, "%.*s%s", (int)word, at, at[word] == '|' ? " or " : "");
    at += word + (at[word] == '|');
  }
  cm_fail_more(error, ", not \"%.40s\"", value);
  return error->status;
}
