/* The independent check of a mapping. */
#include "base/json.h"
#include "core/verify/check.h"
#include "library/internal.h"

static char *verdict(const cm_check_result *result)
{
  json_t *list = json_array();
  for (uint32_t i = 0; i < result->listed; i++)
    (void)json_array_append_new(list, json_string(result->violations[i]));
  json_t *told = json_pack("{s:b, s:I, s:o}", "legal", result->violation_count == 0, "violations",
                           (json_int_t)result->violation_count, "listed", list);
  char *text = told != NULL ? cm_json_dumps(told, JSON_COMPACT) : NULL;
  json_decref(told);
  return text;
}

int coremap_check(const char *path, const char *certificate, const coremap_network *network, const coremap_chip *chip,
                  coremap_progress progress, void *user, char **report, coremap_error **error)
{
  cm_error e;
  library_run r;
  cm_check_result result = {0};
  const char *id = network->id[0] != '\0' ? network->id : NULL;
  library_begin(&r, progress, user);
  cm_status status =
      certificate == NULL
        ? cm_check_mapping(path, network->topology, chip->chip, chip->occupancy, id, r.run, &result, &e)
        : cm_certificate_check(certificate, path, network->topology, chip->chip, chip->occupancy, id, r.run, &result, &e);
  cm_run_finish(r.run);
  char *text = status == CM_OK ? verdict(&result) : NULL;
  if (status == CM_OK && text == NULL)
    status = cm_fail(&e, CM_NO_MEMORY, "out of memory for the verdict");
  if (status == CM_OK)
    *report = text;
  cm_check_result_free(&result);
  return library_tell(status, &e, error);
}
