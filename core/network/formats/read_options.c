/* How a file is to be read, where it could be read in several ways. */
#include <string.h>

#include "core/network/formats/table_rows.h"
#include "core/network/import.h"

const cm_read_option cm_read_options[CM_READ_OPTIONS] = {
  [CM_READ_COLUMNS] = {"columns", "source,target,weight,delay,-",
                       "what the columns of an edge list without a header are, in their order; -: not read", false},
  [CM_READ_ZEROS] = {"zeros", "keep|drop", "synapses of weight 0 stay (keep, the default) or are left out",
                     false},
  [CM_READ_RATES] = {"rates", "FILE", "rates of all neurons that send, a line name,rate each", true},
};

cm_status cm_read_option_check(cm_read_option_id id, const char *value, cm_error *error)
{
  cm_columns ignored;
  if (id == CM_READ_COLUMNS)
    return cm_columns_of_option(value, &ignored, error);
  if (id == CM_READ_RATES)
    return CM_OK;
  return strcmp(value, "keep") == 0 || strcmp(value, "drop") == 0
           ? CM_OK
           : cm_fail(error, CM_BAD_OPTION, "zeros must be keep or drop, not \"%.40s\"", value);
}
