/* /v1/programs: what jobs made that compile, quantize and deploy: models, programs, images of cores, and the report of how. */
#include <unistd.h>

#include "api/handlers.h"

/* What a job may have made: by the name of its resource, and of its file; what it is, and what a browser keeps it as, after the id. */
static const struct part {
  const char *resource, *file, *type, *kept;
} parts[] = {{"model", "model.onnx", "application/octet-stream", ".onnx"},
             {"program", "program.bin", "application/octet-stream", ".program"},
             {"report", "report.json", "application/json", NULL},
             {"schedule", "schedule.json", "application/json", NULL},
             {"tiles", "tiles.zip", "application/zip", "-tiles.zip"},
             {"mapping", "mapping.json", "application/json", NULL},
             {"pieces", "pieces.json", "application/json", NULL},
             {"images", "images.json", "application/json", NULL},
             {"binary", "images.bin", "application/octet-stream", ".images"},
             {"commands", "commands.txt", "text/plain; charset=utf-8", NULL},
             {"bench", "bench.mem", "text/plain; charset=utf-8", NULL},
             {"inputs", "inputs.csv", "text/csv", NULL},
             {"expected", "expected.txt", "text/plain; charset=utf-8", NULL},
             {"spikes", "spikes.csv", "text/csv", NULL}};

/* The one that a path ends with, which has a route. */
static const struct part *part_of(const cm_request *request)
{
  const char *name = request->segment[request->segments - 1];
  const struct part *part = parts;
  while (strcmp(part->resource, name) != 0)
    part++;
  return part;
}

/* With ETag and Range; a program never changes. */
void cm_get_program_part(cm_request *request)
{
  cm_mapping_row program;
  int file;
  char etag[CM_ID_MAX + 16];
  const struct part *part = part_of(request);
  if (cm_programs_get(request->store, request->param[0], &program, &request->error) != CM_OK ||
      cm_mappings_open(request->store, program.id, part->file, &file, &request->error) != CM_OK)
    cm_reply_error(request, &request->error);
  else {
    (void)snprintf(etag, sizeof etag, "%s-%.8s", program.id, part->file);
    if (cm_reply_known(request, part->type, etag, ""))
      close(file);
    else
      cm_reply_opened(request, file, part->type, etag, "");
  }
  if (part->kept != NULL)
    cm_reply_header(request, "Content-Disposition", "attachment; filename=\"%.16s%s\"", request->param[0], part->kept);
}

/* Addresses of the files that are there. */
static json_t *list_files(const cm_request *request, const char *id)
{
  json_t *list = json_object();
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (cm_mappings_has(request->store, id, parts[i].file))
      json_object_set_new(list, parts[i].resource,
                          json_sprintf("%s/v1/programs/%s/%s", request->server->base, id, parts[i].resource));
  return list;
}

void cm_get_program(cm_request *request)
{
  cm_mapping_row p;
  if (!cm_reply_ok(request, cm_programs_get(request->store, request->param[0], &p, &request->error)))
    return;
  json_t *body = json_pack("{s:s, s:s, s:s, s:s, s:I, s:o, s:o}", "id", p.id, "network", p.network, "chip", p.chip, "job",
                           p.job, "bytes", (json_int_t)p.bytes, "created", cm_time_json(p.created), "files", list_files(request, p.id));
  cm_owner_add(body, &p.owner);
  cm_reply_json(request, 200, body);
}

void cm_delete_program(cm_request *request)
{
  cm_mapping_row program;
  if (cm_reply_ok(request, cm_programs_get(request->store, request->param[0], &program, &request->error)))
    cm_request_delete(request, CM_OBJECT_PROGRAM, program.id);
}
