#include "core/output/renamed.h"

#include "base/option.h"
#include "core/mapping/options.h"

static const struct member {
  const char *of; /* an object in the report; "": the report itself */
  const char *was, *now;
} members[] = {{"", "tried", "candidates"},
               {"placement", "relief", "congestion_refinement"},
               {"placement", "rounds", "passes"},
               {"force", "rounds", "passes"},
               {"multicast", "sweeps", "passes"},
               {"links", "busiest_ns_before", "link_ns_max_before"},
               {"links", "busiest_ns", "link_ns_max"},
               {"incremental", "seated_parts", "placed_parts"}},
  of_congestion[] = {{"", "busiest_before", "congestion_max_before"}, {"", "busiest", "congestion_max"}};

static bool rename_member(json_t *report, const struct member *m)
{
  json_t *object = m->of[0] != '\0' ? json_object_get(report, m->of) : report, *value = json_object_get(object, m->was);
  if (value == NULL || json_object_get(object, m->now) != NULL)
    return true;
  return json_object_set(object, m->now, value) == 0 && json_object_del(object, m->was) == 0;
}

cm_status cm_mapping_rename(json_t *summary, cm_error *error)
{
  json_t *report = json_object_get(summary, "report"), *row;
  size_t i;
  bool good = true;
  for (i = 0; i < sizeof members / sizeof *members; i++)
    good = good && rename_member(report, &members[i]);
  for (i = 0; i < sizeof of_congestion / sizeof *of_congestion; i++)
    good = good && rename_member(json_object_get(json_object_get(report, "placement"), "congestion_refinement"), &of_congestion[i]);
  CM_TRY(cm_whole(good, "the mapping file", error));
  json_array_foreach(json_object_get(json_object_get(report, "tables"), "did_not_fit"), i, row)
    CM_TRY(cm_options_rename(&cm_map_option_table, row, NULL, error));
  json_array_foreach(json_object_get(report, "candidates"), i, row) /* their mappers */
    CM_TRY(cm_options_rename(&cm_map_option_table, row, NULL, error));
  return cm_options_rename(&cm_map_option_table, json_object_get(summary, "options"), NULL, error);
}
