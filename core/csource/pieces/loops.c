/* Loops over elements, made to measure. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/csource/text/writer.h"

/* ---- dimensions that lie together in all streams become one ---- */

static cm_c_stream *stream_of(cm_c_pointwise *p, uint32_t k)
{
  return k < p->input_count ? &p->inputs[k] : &p->outputs[k - p->input_count];
}

static bool joins(cm_c_pointwise *p, uint32_t d)
{
  for (uint32_t k = 0; k < p->input_count + p->output_count; k++)
    if (stream_of(p, k)->strides[d] != stream_of(p, k)->strides[d + 1] * p->dims[d + 1] || stream_of(p, k)->table[d] != NULL ||
        stream_of(p, k)->table[d + 1] != NULL)
      return false;
  return true;
}

static void drop(cm_c_pointwise *p, uint32_t d)
{
  p->rank--;
  for (uint32_t i = d; i < p->rank; i++) {
    p->dims[i] = p->dims[i + 1];
    for (uint32_t k = 0; k < p->input_count + p->output_count; k++) {
      stream_of(p, k)->strides[i] = stream_of(p, k)->strides[i + 1];
      stream_of(p, k)->table[i] = stream_of(p, k)->table[i + 1];
    }
  }
}

void cm_c_join_dims(cm_c_pointwise *p)
{
  for (uint32_t d = p->rank; d-- > 0;)
    if (p->dims[d] == 1)
      drop(p, d);
  for (uint32_t d = p->rank; d-- > 1;)
    if (joins(p, d - 1)) {
      p->dims[d] *= p->dims[d - 1];
      drop(p, d - 1);
    }
}

/* ---- the text of a loop ---- */

static void print_index(FILE *out, const cm_c_stream *s, uint32_t rank)
{
  bool any = false;
  for (uint32_t d = 0; d < rank; d++)
    if (s->table[d] != NULL) {
      fprintf(out, "%s%s[i%u]", any ? " + " : "", s->table[d], d);
      any = true;
    } else if (s->strides[d] != 0) {
      fprintf(out, s->strides[d] == 1 ? "%si%u" : "%si%u * `%" PRId64 "`", any ? " + " : "", d, s->strides[d]);
      any = true;
    }
  fputs(any ? "" : "0", out);
}

static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
static const char indent[] = "                    ";

/* Whether an expression has that letter as a name. */
static bool names(const cm_c_pointwise *p, char letter)
{
  for (uint32_t k = 0; k < p->output_count; k++)
    for (const char *c = p->expressions[k]; c != NULL && *c != '\0'; c += strspn(c, word)) {
      c += strcspn(c, word);
      if (*c == letter && strspn(c, word) == 1)
        return true;
    }
  return p->ahead != NULL || p->sum != NULL || p->place != NULL;
}

static void print_inputs(FILE *out, const cm_c_pointwise *p, uint32_t from, uint32_t to, uint32_t loops)
{
  for (uint32_t k = from; k < to; k++) {
    const bool address = p->inputs[k].address;
    fprintf(out, "%.*sconst %s %s%c = p%c%s", (int)(2 * loops + 2), indent, cm_c_type(p->inputs[k].type), address ? "*" : "", 'a' + (int)k, 'a' + (int)k,
            address ? " + " : "[");
    print_index(out, &p->inputs[k], p->rank);
    fputs(address ? ";\n" : "];\n", out);
    if (!names(p, (char)('a' + k)))
      fprintf(out, "%.*s(void)%c;\n", (int)(2 * loops + 2), indent, 'a' + (int)k);
  }
}

/* What is made ahead, in so many loops. */
static void print_ahead(FILE *out, const cm_c_pointwise *p, uint32_t loops)
{
  print_inputs(out, p, 1, p->input_count, loops);
  fprintf(out, "%.*sconst double k = %s;\n", (int)(2 * loops + 2), indent, p->ahead);
}

static void print_loops(FILE *out, cm_c_pointwise *p)
{
  uint32_t ahead = p->ahead != NULL ? p->rank : CM_NONE;
  for (bool same = p->ahead != NULL; same && ahead > 0; ahead -= same)
    for (uint32_t k = 1; k < p->input_count; k++)
      same = same && p->inputs[k].strides[ahead - 1] == 0;
  uint32_t kept = p->rank;
  while (p->sum != NULL && kept > 0 && p->outputs[0].strides[kept - 1] == 0)
    kept--;
  fprintf(out, "SEPARATE void @(");
  for (uint32_t k = 0; k < p->input_count; k++)
    fprintf(out, "const %s *p%c, ", cm_c_type(p->inputs[k].type), 'a' + (int)k);
  for (uint32_t k = 0; k < p->output_count; k++)
    fprintf(out, "%s%s *y%u", k > 0 ? ", " : "", cm_c_type(p->outputs[k].type), k);
  fputs(")\n{\n", out);
  for (uint32_t d = 0; d < p->rank; d++) {
    if (d == ahead)
      print_ahead(out, p, d);
    if (d == kept)
      fprintf(out, "%.*sdouble s = 0;\n", (int)(2 * d + 2), indent);
    if (d + 1 == p->rank && p->sum == NULL && p->place == NULL)
      fprintf(out, "%.*sINDEPENDENT\n", (int)(2 * d + 2), indent);
    fprintf(out, "%.*sfor (int i%u = 0; i%u < `%" PRId64 "`; i%u++) {\n", (int)(2 * d + 2), indent, d, d, p->dims[d], d);
  }
  if (p->sum != NULL && kept == p->rank)
    fprintf(out, "%.*sdouble s = 0;\n", (int)(2 * kept + 2), indent);
  if (ahead == p->rank)
    print_ahead(out, p, ahead);
  print_inputs(out, p, 0, p->ahead != NULL ? 1 : p->input_count, p->rank);
  if (p->sum != NULL)
    fprintf(out, "%.*ss += %s;\n", (int)(2 * p->rank + 2), indent, p->sum);
  uint32_t open = p->rank;
  while (p->sum != NULL && open > kept)
    fprintf(out, "%.*s}\n", (int)(2 * --open + 2), indent);
  for (uint32_t k = 0; k < p->output_count; k++) {
    if (p->place != NULL)
      fprintf(out, "%.*s%s *const o = y%u + ", (int)(2 * open + 2), indent, cm_c_type(p->outputs[k].type), k);
    else
      fprintf(out, "%.*sy%u[", (int)(2 * open + 2), indent, k);
    print_index(out, &p->outputs[k], open);
    if (p->place != NULL)
      fprintf(out, " + %s;\n%.*s*o = %s;\n", p->place, (int)(2 * open + 2), indent, p->expressions[k]);
    else
      fprintf(out, "] = %s;\n", p->expressions[k]);
  }
  while (open-- > 0)
    fprintf(out, "%.*s}\n", (int)(2 * open + 2), indent);
  fputs("}\n", out);
}

cm_status cm_c_pointwise_call(cm_c_piece *piece, cm_c_pointwise *p, cm_error *error)
{
  char arguments[(CM_C_STREAMS + 2) * CM_C_AT_MAX] = "";
  cm_text made;
  cm_c_join_dims(p);
  if (cm_text_open(&made))
    print_loops(made.stream, p);
  char *text = cm_c_closed(&made, error);
  if (text == NULL)
    return error->status;
  for (uint32_t k = 0; k < p->input_count + p->output_count; k++)
    cm_c_add(arguments, sizeof arguments, "%s%s", k > 0 ? ", " : "", stream_of(p, k)->at);
  const cm_status status = cm_c_call(piece, p->stem, text, arguments, error);
  free(text);
  return status;
}

static cm_c_pointwise copy_of(uint32_t rank, const int64_t *extent, const cm_c_stream *to, const cm_c_stream *from)
{
  cm_c_pointwise p = {.stem = "copy", .rank = rank, .input_count = 1, .output_count = 1, .inputs = {*from}, .outputs = {*to}, .expressions = {"a"}};
  memcpy(p.dims, extent, rank * sizeof *extent);
  cm_c_join_dims(&p);
  return p;
}

static cm_status box_of(cm_c_writer *w, const cm_c_pointwise *p, int64_t *box, cm_error *error)
{
  const int64_t width = (int64_t)cm_type_bytes(p->outputs[0].type);
  int64_t numbers[2 + 3 * CM_RANK_MAX] = {width, p->rank > 0 ? p->rank : 1, 1, width, width};
  for (uint32_t d = 0; d < p->rank; d++) {
    numbers[2 + 3 * d] = p->dims[d];
    numbers[3 + 3 * d] = p->outputs[0].strides[d] * width;
    numbers[4 + 3 * d] = p->inputs[0].strides[d] * width;
  }
  return cm_c_boxes(w, numbers, (size_t)(2 + 3 * numbers[1]), box, error);
}

cm_status cm_c_box(cm_c_writer *w, const cm_program_part *part, cm_type type, int64_t *box, cm_error *error)
{
  cm_c_stream to = {.type = type}, from = {.type = type};
  memcpy(to.strides, part->shape->to_stride, sizeof to.strides);
  memcpy(from.strides, part->shape->stride, sizeof from.strides);
  const cm_c_pointwise p = copy_of(part->shape->rank, part->shape->extent, &to, &from);
  return box_of(w, &p, box, error);
}

cm_status cm_c_copy(cm_c_piece *piece, uint32_t rank, const int64_t *extent, const cm_c_stream *to, const cm_c_stream *from, cm_error *error)
{
  cm_c_pointwise p = copy_of(rank, extent, to, from);
  int64_t box;
  bool tables = false;
  FILE *out = piece->w->body[piece->lane].stream;
  for (uint32_t d = 0; d < p.rank; d++)
    tables = tables || p.inputs[0].table[d] != NULL;
  if (tables)
    return cm_c_pointwise_call(piece, &p, error);
  if (strcmp(to->at, from->at) == 0 && memcmp(p.outputs[0].strides, p.inputs[0].strides, p.rank * sizeof *p.dims) == 0)
    return CM_OK; /* in place, and stays */
  if (p.rank == 0 || (p.rank == 1 && p.inputs[0].strides[0] == 1 && p.outputs[0].strides[0] == 1)) {
    fprintf(out, "  memcpy(%s, %s, %zu);\n", to->at, from->at, (p.rank == 0 ? 1 : (size_t)p.dims[0]) * cm_type_bytes(to->type));
    return CM_OK;
  }
  CM_TRY(box_of(piece->w, &p, &box, error));
  fprintf(out, "  copy_box(%s, %s, %" PRId64 ");\n", to->at, from->at, box);
  return CM_OK;
}
