/* /v1/programs: what compile jobs made: a model and the report of how it was made. */
#include <unistd.h>

#include "api/internal.h"
#include "storage/mappings.h"

/* Serves one file of a program with ETag and Range; a program never changes. */
static void reply_part(cm_request *request, const char *name, const char *type)
{
  cm_error error;
  cm_mapping_row program;
  char folder[CM_PATH_MAX], path[CM_PATH_MAX], etag[CM_ID_MAX + 16];
  if (cm_programs_get(request->store, request->param[0], &program, &error) != CM_OK ||
      cm_mappings_folder(request->store, program.id, folder, &error) != CM_OK ||
      cm_path(path, &error, "%s/%s", folder, name) != CM_OK) {
    cm_reply_error(request, &error);
    return;
  }
  (void)snprintf(etag, sizeof etag, "%s-%.8s", program.id, name);
  cm_reply_file(request, path, type, etag);
}

void cm_get_program(cm_request *request)
{
  cm_error error;
  cm_mapping_row p;
  char folder[CM_PATH_MAX], path[CM_PATH_MAX];
  if (cm_programs_get(request->store, request->param[0], &p, &error) != CM_OK ||
      cm_mappings_folder(request->store, p.id, folder, &error) != CM_OK ||
      cm_path(path, &error, "%s/program.bin", folder) != CM_OK) {
    cm_reply_error(request, &error);
    return;
  }
  /* A job for a chip that runs programs made one; others made a model. */
  const char *made = access(path, F_OK) == 0 ? "program" : "model";
  cm_reply_json(request, 200,
                json_pack("{s:s, s:s, s:s, s:s, s:I, s:o, s:{s:o, s:o}}", "id", p.id, "network", p.network, "chip",
                          p.chip, "job", p.job, "bytes", (json_int_t)p.bytes, "created", cm_time_json(p.created),
                          "files", made, json_sprintf("/v1/programs/%s/%s", p.id, made), "report",
                          json_sprintf("/v1/programs/%s/report", p.id)));
}

void cm_get_program_model(cm_request *request)
{
  reply_part(request, "model.onnx", "application/octet-stream");
  cm_reply_header(request, "Content-Disposition", "attachment; filename=\"%.16s.onnx\"", request->param[0]);
}

void cm_get_program_file(cm_request *request)
{
  reply_part(request, "program.bin", "application/octet-stream");
  cm_reply_header(request, "Content-Disposition", "attachment; filename=\"%.16s.program\"", request->param[0]);
}

void cm_get_program_report(cm_request *request)
{
  reply_part(request, "report.json", "application/json");
}

void cm_get_program_schedule(cm_request *request)
{
  reply_part(request, "schedule.json", "application/json");
}

void cm_delete_program(cm_request *request)
{
  cm_error error;
  cm_mapping_row program;
  if (cm_programs_get(request->store, request->param[0], &program, &error) != CM_OK ||
      cm_mappings_delete(request->store, program.id, &error) != CM_OK)
    cm_reply_error(request, &error);
  else
    cm_reply_empty(request, 204);
}
