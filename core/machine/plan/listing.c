/* A plan for people and other programs: its pieces as JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/order.h"
#include "core/machine/report.h"

static int write_text(FILE *stream, const char *text)
{
  json_t *json = json_string(text);
  int failed = json == NULL || cm_json_dumpf(json, stream, JSON_ENCODE_ANY) != 0;
  json_decref(json);
  return failed;
}

/* {"value": NAME, "from": [...], "to": [...]} */
static int write_tile(FILE *stream, const cm_plan *plan, uint32_t tile)
{
  const cm_tile *t = &plan->tiles[tile];
  int failed = fputs("{\"value\": ", stream) < 0 || write_text(stream, plan->model->values[t->value].name) != 0;
  for (int side = 0; side < 2; side++) {
    const int64_t *corner = side == 0 ? t->box.from : t->box.to;
    failed |= fputs(side == 0 ? ", \"from\": [" : "], \"to\": [", stream) < 0;
    for (uint32_t k = 0; k < t->box.rank; k++)
      failed |= fprintf(stream, "%s%" PRId64, k > 0 ? ", " : "", corner[k]) < 0;
  }
  return failed | (fputs("]}", stream) < 0);
}

static int write_tiles(FILE *stream, const cm_plan *plan, const char *name, const uint32_t *tiles, uint32_t count)
{
  int failed = fprintf(stream, ", \"%s\": [", name) < 0;
  for (uint32_t i = 0; i < count; i++)
    failed |= (i > 0 && fputs(", ", stream) < 0) | write_tile(stream, plan, tiles[i]);
  return failed | (fputc(']', stream) == EOF);
}

static int write_piece(FILE *stream, const cm_plan *plan, const cm_piece *piece)
{
  const cm_node *node = plan->ops[piece->op].call.node;
  int failed = fputs("{\"node\": ", stream) < 0 || write_text(stream, cm_node_name(plan->model, node)) != 0 ||
               fputs(", \"operator\": ", stream) < 0 || write_text(stream, node->op) != 0;
  failed |= write_tiles(stream, plan, "reads", cm_piece_inputs(plan, piece), piece->input_count);
  failed |= write_tiles(stream, plan, "makes", cm_piece_outputs(plan, piece), piece->output_count);
  return failed | (fputc('}', stream) == EOF);
}

static cm_status write_pieces(const cm_plan *plan, const uint32_t *pieces, size_t count, const char *path, cm_error *error)
{
  cm_file file = {0};
  CM_TRY(cm_file_create(&file, path, error));
  int failed = fprintf(file.stream, "{\"memory_bytes\": %" PRIu64 ", \"pieces\": [", plan->memory_bytes) < 0;
  for (size_t i = 0; i < count && !failed; i++)
    failed |= (fputs(i == 0 ? "\n" : ",\n", file.stream) < 0) | write_piece(file.stream, plan, &plan->pieces[pieces[i]]);
  failed |= fputs("\n]}\n", file.stream) < 0;
  return cm_file_end(&file, failed ? cm_fail(error, CM_DISK_FULL, "cannot write %s", path) : CM_OK, error);
}

/* A piece, and where its operator stands in the file. */
typedef struct placed {
  uint32_t place, piece;
} placed;

CM_ORDER(by_place, placed, CM_RISING(place) CM_RISING(piece))

/* The node of the file that an operator's outputs, and copies of them, are of. */
static uint32_t node_of(const cm_plan *plan, uint32_t op)
{
  const cm_node *node = plan->ops[op].call.node;
  uint32_t o = 0;
  while (node->outputs[o] == CM_NONE)
    o++;
  return plan->model->values[node->outputs[o]].producer;
}

static cm_status sort_by_operator(const cm_plan *plan, size_t count, uint32_t *pieces, cm_error *error)
{
  const cm_model *m = plan->model;
  uint32_t *place = NULL;
  placed *list = NULL;
  cm_status status = CM_NEW_ALL(plan->memory, error, CM_ARRAY(place, m->node_count), CM_ARRAY(list, count));
  for (size_t i = 0; status == CM_OK && i < m->order_count; i++)
    place[m->order[i]] = (uint32_t)i;
  for (size_t i = 0; status == CM_OK && i < count; i++)
    list[i] = (placed){place[node_of(plan, plan->pieces[pieces[i]].op)], pieces[i]};
  if (status == CM_OK)
    qsort(list, count, sizeof *list, by_place);
  for (size_t i = 0; status == CM_OK && i < count; i++)
    pieces[i] = list[i].piece;
  CM_FREE(place, list);
  return status;
}

cm_status cm_pieces_write(const cm_plan *plan, const uint32_t *pieces, size_t count, bool by_operator, const char *path,
                          cm_error *error)
{
  uint32_t *sorted;
  if (!by_operator)
    return write_pieces(plan, pieces, count, path, error);
  CM_TRY(CM_NEW(plan->memory, sorted, count, error));
  memcpy(sorted, pieces, count * sizeof *sorted);
  cm_status status = sort_by_operator(plan, count, sorted, error);
  CM_THEN(status, write_pieces(plan, sorted, count, path, error));
  cm_free(sorted);
  return status;
}

static uint32_t living(const cm_plan *plan)
{
  uint32_t pieces = 0;
  for (size_t p = 0; p < plan->piece_count; p++)
    pieces += !plan->pieces[p].dead;
  return pieces;
}

json_t *cm_pieces_report(const cm_plan *plan)
{
  uint32_t cut = 0;
  for (uint32_t o = 0; o < plan->op_count; o++)
    cut += plan->ops[o].piece_count > 1;
  return json_pack("{s:I, s:I, s:I}", "computed", (json_int_t)plan->op_count, "cut", (json_int_t)cut, "pieces",
                   (json_int_t)living(plan) * plan->turns);
}
