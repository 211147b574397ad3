#include "core/machine/run/timeline.h"

#include "core/base/file.h"
#include "core/machine/run/simulate.h"
#include "core/schedule/trace.h"

typedef struct collecting {
  const cm_program *program;
  cm_span *spans;
  size_t count;
} collecting;

/* The node's own name where it has one. */
static const char *name_of(const cm_node *node)
{
  return node->name != NULL && node->name[0] != '\0' ? node->name : node->op;
}

static void collect(void *user, uint64_t number, double start, double end)
{
  collecting *c = user;
  const cm_instruction *i = &c->program->instructions[number];
  bool computes = i->opcode == CM_CODE_MATRIX || i->opcode == CM_CODE_VECTOR;
  c->spans[c->count++] = (cm_span){
      .unit = i->lane, .start = (uint64_t)start, .finish = (uint64_t)end,
      .name = computes                     ? name_of(&c->program->operators[i->operator_number])
              : i->opcode == CM_CODE_COPY ? cm_opcode_name(i->opcode)
                                           : c->program->tensors[i->tensor].name,
      .kind = computes ? c->program->operators[i->operator_number].op : cm_opcode_name(i->opcode)};
}

/* "matrix 0", "data 1 port 0". */
static cm_status name_lanes(const cm_program *p, const char ***names, char (**texts)[CM_LANE_NAME_MAX], cm_error *error)
{
  if (CM_NEW(p->memory, *names, p->lane_count + 1, error) != CM_OK ||
      CM_NEW(p->memory, *texts, p->lane_count + 1, error) != CM_OK)
    return error->status;
  for (uint32_t l = 0; l < p->lane_count; l++) {
    cm_lane_name(p, l, (*texts)[l]);
    (*names)[l] = (*texts)[l];
  }
  return CM_OK;
}

cm_status cm_timeline_write(const cm_program *program, const char *name, cm_run *run, const char *path, cm_error *error)
{
  static const cm_simulation_options options = {0};
  collecting c = {.program = program};
  cm_simulation result;
  const char **names = NULL;
  char(*texts)[CM_LANE_NAME_MAX] = NULL;
  cm_file file = {0};
  cm_status status = CM_NEW(program->memory, c.spans, program->instruction_count + 1, error);
  if (status == CM_OK)
    status = name_lanes(program, &names, &texts, error);
  if (status == CM_OK)
    status = cm_simulate(program, NULL, &options, collect, &c, run, NULL, &result, error);
  if (status == CM_OK)
    status = cm_file_create(&file, path, error);
  cm_timeline timeline = {.name = name, .unit_count = program->lane_count, .unit_name = names, .span = c.spans,
                          .span_count = c.count, .units_per_us = 1000};
  if (status == CM_OK && (status = cm_trace_write(&timeline, file.stream, error)) == CM_OK)
    status = cm_file_commit(&file, error);
  else
    cm_file_discard(&file);
  cm_free(c.spans);
  cm_free(names);
  cm_free(texts);
  return status;
}
