/* GET /v1/mappings and GET /v1/programs: what there is, whatever has become of the jobs that made it. */
#include <stdlib.h>

#include "api/handlers.h"

static json_t *entry_json(const cm_mapping_entry *e)
{
  const cm_mapping_row *m = &e->mapping;
  json_t *one = json_pack("{s:s, s:s, s:s, s:I, s:o, s:b}", "id", m->id, "network", m->network, "chip", m->chip, "bytes", (json_int_t)m->bytes,
                          "created", cm_time_json(m->created), "pinned", e->pinned);
  cm_owner_add(one, &m->owner);
  if (m->job[0] != '\0' && one != NULL) {
    (void)json_object_set_new(one, "job", json_string(m->job));
    (void)json_object_set_new(one, "name", json_string(e->name));
  }
  return one;
}

static void list_results(cm_request *request, library_job_result result)
{
  cm_error error;
  uint64_t limit;
  int64_t before;
  cm_mapping_entry *entries;
  size_t count;
  if (!cm_page_asked(request, CM_PAGE_MAX, CM_PAGE_DEFAULT, &limit, &before))
    return;
  const cm_mapping_filter filter = {.viewer = &request->viewer, .made = result, .user = cm_request_query(request, "user"),
                                    .network = cm_request_query(request, "network"), .chip = cm_request_query(request, "chip"),
                                    .before = before, .limit = (size_t)limit + 1};
  if (cm_mappings_list(request->store, &filter, &entries, &count, &error) != CM_OK) {
    cm_reply_error(request, &error);
    return;
  }
  json_t *list = json_array();
  for (size_t i = 0; i < count && i < limit; i++)
    (void)json_array_append_new(list, entry_json(&entries[i]));
  json_t *body = json_pack("{s+:o}", cm_made_as(result)->word, "s", list);
  if (count > limit)
    cm_page_add_next(request, body, entries[limit - 1].sequence);
  free(entries);
  cm_reply_json(request, 200, body);
}

void cm_list_mappings(cm_request *request)
{
  list_results(request, LIBRARY_RESULT_MAPPING);
}

void cm_list_programs(cm_request *request)
{
  list_results(request, LIBRARY_RESULT_PROGRAM);
}
