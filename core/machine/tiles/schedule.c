/* A tiling in time: the list schedule of its micro-operators on the cores of their devices. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/machine/tiles/tiles.h"
#include "core/schedule/trace.h"

static cm_status make_dag(const cm_tiling *t, cm_memory *memory, cm_dag **made, cm_error *error)
{
  cm_arc *arcs;
  if (CM_NEW(memory, arcs, t->arc_count, error) != CM_OK)
    return error->status;
  for (uint64_t i = 0; i < t->arc_count; i++)
    arcs[i] = (cm_arc){t->arc[i].from, t->arc[i].to, 0};
  cm_status status = cm_dag_new(memory, t->micro_count, arcs, t->arc_count, made, error);
  cm_free(arcs);
  return status;
}

cm_status cm_tiles_schedule(const cm_tiling *tiling, const cm_tile_device *devices, uint32_t device_count,
                            cm_run *run, cm_schedule **made, cm_error *error)
{
  cm_dag *dag;
  cm_workload *workload;
  if (make_dag(tiling, run->memory, &dag, error) != CM_OK ||
      cm_workload_project(run->memory, dag, device_count, &workload, error) != CM_OK)
    return error->status;
  for (uint32_t d = 0; d < device_count; d++)
    workload->capacity[d] = devices[d].cores;
  for (uint32_t m = 0; m < tiling->micro_count; m++) {
    workload->time[m] = tiling->micro[m].latency_ns;
    workload->demand[(size_t)m * device_count + tiling->micro[m].device] = 1;
  }
  cm_schedule_options options = {.method = CM_SCHEDULE_LIST, .schedules = 1};
  cm_status status = cm_workload_check(workload, error);
  if (status == CM_OK)
    status = cm_schedule_make(workload, &options, run, made, error);
  cm_workload_free(workload);
  return status;
}

/* ---- as a timeline ---- */

typedef struct naming {
  char (*unit)[64];
  const char **unit_name;
  char (*span)[160];
} naming;

static void name_spans(const cm_model *model, const cm_tiling *t, const cm_schedule *s, naming *names, cm_span *span)
{
  for (uint32_t m = 0, number = 0; m < t->micro_count; m++) {
    const cm_node *node = &model->nodes[t->micro[m].node];
    number = m > 0 && t->micro[m - 1].node == t->micro[m].node ? number + 1 : 0;
    (void)snprintf(names->span[m], sizeof *names->span, "%.120s[%" PRIu32 "]",
                   node->name != NULL && node->name[0] != '\0' ? node->name : node->op, number);
    span[m] = (cm_span){0, s->start[m], s->finish[m], names->span[m], node->op};
  }
}

static void name_units(const cm_tile_device *devices, uint32_t device_count, naming *names)
{
  for (uint32_t d = 0, unit = 0; d < device_count; d++)
    for (uint32_t core = 0; core < devices[d].cores; core++, unit++) {
      (void)snprintf(names->unit[unit], sizeof *names->unit, "%.40s %" PRIu32, devices[d].name, core);
      names->unit_name[unit] = names->unit[unit];
    }
}

/* Spans of each device in turn get its lanes: `scratch` holds them together, `place` where they belong. */
static cm_status seat_spans(const cm_tiling *t, const cm_tile_device *devices, uint32_t device_count, cm_span *span,
                            cm_span *scratch, uint32_t *place, cm_memory *memory, cm_error *error)
{
  uint32_t first = 0;
  for (uint32_t d = 0; d < device_count; first += devices[d++].cores) {
    uint32_t lanes;
    size_t count = 0;
    for (uint32_t m = 0; m < t->micro_count; m++)
      if (t->micro[m].device == d) {
        scratch[count] = span[m];
        place[count++] = m;
      }
    if (cm_spans_spread(scratch, count, &lanes, memory, error) != CM_OK)
      return error->status;
    for (size_t i = 0; i < count; i++)
      span[place[i]].unit = first + scratch[i].unit;
  }
  return CM_OK;
}

cm_status cm_tiles_write_trace(const cm_model *model, const cm_tiling *tiling, const cm_tile_device *devices,
                               uint32_t device_count, const cm_schedule *schedule, cm_memory *memory, FILE *stream,
                               cm_error *error)
{
  cm_timeline t = {.name = model->graph_name, .span_count = tiling->micro_count, .units_per_us = 1000};
  naming names = {0};
  cm_span *span = NULL, *scratch = NULL;
  uint32_t *place = NULL;
  cm_status status;
  for (uint32_t d = 0; d < device_count; d++)
    t.unit_count += devices[d].cores;
  if ((status = CM_NEW(memory, span, t.span_count, error)) == CM_OK &&
      (status = CM_NEW(memory, scratch, t.span_count, error)) == CM_OK &&
      (status = CM_NEW(memory, place, t.span_count, error)) == CM_OK &&
      (status = CM_NEW(memory, names.span, t.span_count, error)) == CM_OK &&
      (status = CM_NEW(memory, names.unit, t.unit_count, error)) == CM_OK &&
      (status = CM_NEW(memory, names.unit_name, t.unit_count, error)) == CM_OK) {
    name_spans(model, tiling, schedule, &names, span);
    name_units(devices, device_count, &names);
    t.span = span;
    t.unit_name = names.unit_name;
    if ((status = seat_spans(tiling, devices, device_count, span, scratch, place, memory, error)) == CM_OK)
      status = cm_trace_write(&t, stream, error);
  }
  cm_free(span);
  cm_free(scratch);
  cm_free(place);
  cm_free(names.span);
  cm_free(names.unit);
  cm_free(names.unit_name);
  return status;
}

/* ---- as figures ---- */

static json_t *device_json(const cm_tiling *t, const cm_tile_device *devices, uint32_t d)
{
  uint64_t elements = 0, busy = 0, count = 0;
  for (uint32_t m = 0; m < t->micro_count; m++)
    if (t->micro[m].device == d) {
      count++;
      elements += t->micro[m].elements;
      busy += t->micro[m].latency_ns;
    }
  return json_pack("{s:s, s:I, s:f, s:I, s:I, s:I}", "name", devices[d].name, "cores", (json_int_t)devices[d].cores,
                   "capability_per_ns", cm_tile_capability(&devices[d]), "micro_operators", (json_int_t)count,
                   "elements", (json_int_t)elements, "busy_ns", (json_int_t)busy);
}

json_t *cm_tiles_report(const cm_tiling *t, const cm_tile_device *devices, uint32_t device_count,
                        const cm_schedule *schedule)
{
  uint64_t moved = 0, held = 0, largest = 0, operators = 0;
  json_t *list = json_array();
  for (uint64_t i = 0; i < t->arc_count; i++)
    moved += t->arc[i].bytes;
  for (uint32_t m = 0; m < t->micro_count; m++) {
    operators += m == 0 || t->micro[m].node != t->micro[m - 1].node;
    held += t->micro[m].bytes;
    largest = t->micro[m].bytes > largest ? t->micro[m].bytes : largest;
  }
  for (uint32_t d = 0; d < device_count; d++)
    if (json_array_append_new(list, device_json(t, devices, d)) != 0) {
      json_decref(list);
      return NULL;
    }
  return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "operators", (json_int_t)operators,
                   "micro_operators", (json_int_t)t->micro_count, "arcs", (json_int_t)t->arc_count, "bytes_moved",
                   (json_int_t)moved, "bytes_held", (json_int_t)held, "largest_bytes", (json_int_t)largest,
                   "makespan_ns", (json_int_t)schedule->makespan, "lower_bound_ns", (json_int_t)schedule->lower_bound,
                   "devices", list);
}
