/* How a file is to be read, where it could be read in several ways. */
#include <string.h>

#include "core/network/formats/table_rows.h"
#include "core/network/import.h"

const cm_read_option cm_read_options[CM_READ_OPTIONS] = {
  [CM_READ_COLUMNS] = {"columns", "source,target,weight,delay,-",
                       "what the columns of an edge list without a header are, in their order; -: not read", false},
  [CM_READ_ZEROS] = {"zeros", "keep|drop", "synapses of weight 0 stay (keep, the default) or are left out",
                     false},
  [CM_READ_DIRECTED] = {"directed", "auto|yes|no", "what the file says (auto, the default), every edge two synapses (yes), or "
                        "synapses are edges of a graph (no)", false},
  [CM_READ_RATES] = {"rates", "FILE", "rates of all neurons that send, a line name,rate each", true},
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

cm_status cm_read_option_check(cm_read_option_id id, const char *value, cm_error *error)
{
  cm_columns ignored;
  const cm_read_option *o = &cm_read_options[id];
  if (id == CM_READ_COLUMNS)
    return cm_columns_of_option(value, &ignored, error);
  if (o->file || is_one_of(value, o->form))
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
