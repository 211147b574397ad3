/* How a file is to be read, where it could be read in several ways. */
#include <stdlib.h>
#include <string.h>

#include "core/network/formats/table_rows.h"
#include "core/network/import.h"

const cm_read_option cm_read_options[CM_READ_OPTIONS] = {
  [CM_READ_COLUMNS] = {"columns", "source,target,weight,delay,-",
                       "what the columns of an edge list without a header are, in their order; -: not read", false},
  [CM_READ_ZEROS] = {"zeros", "keep|drop", "synapses of weight 0 stay (keep, the default) or are left out", false},
  [CM_READ_INPUT_SHAPE] = {"input_shape", "CxHxW",
                           "shape of what comes into a network of layers (NIR, lava-dl) whose file does not say it", false},
  [CM_READ_CONFIG] = {"config", "NAME", "of a SONATA circuit with several configurations: the one that is read", false},
  [CM_READ_POPULATION] = {"population", "NAME,...", "of a SONATA file or circuit: the populations of edges that are read", false},
  [CM_READ_RATES] = {"rates", "FILE", "rates of all neurons that send, a line name,rate each", true},
};

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
  if (id == CM_READ_COLUMNS)
    return cm_columns_of_option(value, &ignored, error);
  if (id == CM_READ_INPUT_SHAPE)
    return check_shape(value, error);
  if (id == CM_READ_RATES || id == CM_READ_CONFIG || id == CM_READ_POPULATION)
    return CM_OK;
  return strcmp(value, "keep") == 0 || strcmp(value, "drop") == 0
           ? CM_OK
           : cm_fail(error, CM_BAD_OPTION, "zeros must be keep or drop, not \"%.40s\"", value);
}
