/* /v1/programs: what compile jobs made: a model and the report of how it was made. */
#include <unistd.h>

#include "api/handlers.h"
#include "storage/mappings.h"

/* Serves one file of a program with ETag and Range; a program never changes. */
static void reply_part(cm_request *request, const char *name, const char *type)
{
  cm_error error;
  cm_mapping_row program;
  int file;
  char etag[CM_ID_MAX + 16];
  if (cm_programs_get(request->store, request->param[0], &program, &error) != CM_OK ||
      cm_mappings_open(request->store, program.id, name, &file, &error) != CM_OK) {
    cm_reply_error(request, &error);
    return;
  }
  (void)snprintf(etag, sizeof etag, "%s-%.8s", program.id, name);
  if (cm_reply_known(request, type, etag, ""))
    close(file);
  else
    cm_reply_opened(request, file, type, etag, "");
}

/* What a job may have made: by the name of its resource, and of its file. */
static const struct {
  const char *resource, *file;
} files[] = {{"model", "model.onnx"},       {"program", "program.bin"}, {"report", "report.json"},
             {"schedule", "schedule.json"}, {"tiles", "tiles.zip"},     {"mapping", "mapping.json"},
             {"pieces", "pieces.json"}};

/* Addresses of the files that are there. */
static json_t *list_files(const cm_request *request, const char *id)
{
  json_t *list = json_object();
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    if (cm_mappings_has(request->store, id, files[i].file))
      json_object_set_new(list, files[i].resource,
                          json_sprintf("%s/v1/programs/%s/%s", request->server->base, id, files[i].resource));
  return list;
}

void cm_get_program(cm_request *request)
{
  cm_error error;
  cm_mapping_row p;
  if (cm_programs_get(request->store, request->param[0], &p, &error) != CM_OK) {
    cm_reply_error(request, &error);
    return;
  }
  json_t *body = json_pack("{s:s, s:s, s:s, s:s, s:I, s:o, s:o}", "id", p.id, "network", p.network, "chip", p.chip, "job",
                           p.job, "bytes", (json_int_t)p.bytes, "created", cm_time_json(p.created), "files", list_files(request, p.id));
  cm_owner_add(body, &p.owner);
  cm_reply_json(request, 200, body);
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

void cm_get_program_pieces(cm_request *request)
{
  reply_part(request, "pieces.json", "application/json");
}

void cm_get_program_schedule(cm_request *request)
{
  reply_part(request, "schedule.json", "application/json");
}

void cm_get_program_tiles(cm_request *request)
{
  reply_part(request, "tiles.zip", "application/zip");
  cm_reply_header(request, "Content-Disposition", "attachment; filename=\"%.16s-tiles.zip\"", request->param[0]);
}

void cm_get_program_mapping(cm_request *request)
{
  reply_part(request, "mapping.json", "application/json");
}

void cm_delete_program(cm_request *request)
{
  cm_error error;
  cm_mapping_row program;
  if (cm_programs_get(request->store, request->param[0], &program, &error) != CM_OK)
    cm_reply_error(request, &error);
  else
    cm_request_delete(request, CM_OBJECT_PROGRAM, program.id);
}
