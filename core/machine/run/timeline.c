#include "core/machine/run/timeline.h"

#include "base/file.h"
#include "core/machine/run/analysis.h"
#include "core/schedule/trace.h"

/* The node's own name where it has one. */
static const char *name_of(const cm_node *node)
{
  return node->name != NULL && node->name[0] != '\0' ? node->name : node->op;
}

static cm_span span_of(const cm_program *program, const cm_busy *busy)
{
  const cm_instruction *i = &program->instructions[busy->instruction];
  bool computes = cm_opcode_computes(i->opcode);
  return (cm_span){
      .unit = i->lane, .start = (uint64_t)busy->start_ns, .finish = (uint64_t)busy->end_ns,
      .name = computes                    ? name_of(&program->operators[i->operator_number])
              : i->opcode == CM_CODE_COPY ? cm_opcode_name(i->opcode)
                                          : program->tensors[i->tensor].name,
      .kind = computes ? program->operators[i->operator_number].op : cm_opcode_name(i->opcode),
      .critical = busy->reason == CM_BEGINS_OFF_PATH ? NULL : cm_begin_reason_name(busy->reason)};
}

/* "matrix 0", "data 1 port 0". */
static cm_status name_lanes(const cm_program *p, const char ***names, char (**texts)[CM_LANE_NAME_MAX], cm_error *error)
{
  CM_TRY(CM_NEW_ALL(p->memory, error, CM_ARRAY(*names, p->lane_count + 1), CM_ARRAY(*texts, p->lane_count + 1)));
  for (uint32_t l = 0; l < p->lane_count; l++) {
    cm_lane_name(p, l, (*texts)[l]);
    (*names)[l] = (*texts)[l];
  }
  return CM_OK;
}

/* Of changes in one nanosecond the last. */
static size_t memory_points(const cm_analysis *analysis, cm_counted *point)
{
  size_t count = 0;
  for (size_t k = 0; k < analysis->held_count; k++) {
    uint64_t time = (uint64_t)analysis->held[k].ns;
    count -= count > 0 && point[count - 1].time == time;
    point[count++] = (cm_counted){time, analysis->held[k].bytes};
  }
  return count;
}

cm_status cm_timeline_write(const cm_program *program, const char *name, cm_run *run, const char *path, cm_error *error)
{
  cm_analysis analysis = {0};
  cm_span *spans = NULL;
  cm_counted *points = NULL;
  const char **names = NULL;
  char(*texts)[CM_LANE_NAME_MAX] = NULL;
  cm_file file = {0};
  cm_counter memory = {.name = "memory", .unit = "bytes", .limit = program->target.memory_bytes};
  cm_timeline timeline = {.name = name, .unit_count = program->lane_count, .counter = &memory, .units_per_us = 1000};
  cm_status status = cm_analysis_make(program, run, &analysis, error);
  CM_THEN(status, CM_NEW_ALL(program->memory, error, CM_ARRAY(spans, analysis.busy_count + 1),
                             CM_ARRAY(points, analysis.held_count + 1)));
  CM_THEN(status, name_lanes(program, &names, &texts, error));
  CM_THEN(status, cm_file_create(&file, path, error));
  if (status == CM_OK) {
    for (size_t k = 0; k < analysis.busy_count; k++)
      spans[k] = span_of(program, &analysis.busy[k]);
    memory.point = points;
    memory.point_count = memory_points(&analysis, points);
    timeline.unit_name = names;
    timeline.span = spans;
    timeline.span_count = analysis.busy_count;
    status = cm_trace_write(&timeline, file.stream, error);
  }
  status = cm_file_end(&file, status, error);
  cm_analysis_free(&analysis);
  CM_FREE(spans, points, names, texts);
  return status;
}
