/* Programs as text. */
#include <inttypes.h>

#include "core/machine/program/program.h"

static void print_dims(FILE *out, uint32_t rank, const int64_t *dims)
{
  fputc('[', out);
  for (uint32_t i = 0; i < rank; i++)
    fprintf(out, "%s%" PRId64, i > 0 ? "," : "", dims[i]);
  fputc(']', out);
}

static void print_box(FILE *out, uint32_t rank, const int64_t *from, const int64_t *extent)
{
  fputc('[', out);
  for (uint32_t i = 0; i < rank; i++)
    fprintf(out, "%s%" PRId64 ":%" PRId64, i > 0 ? "," : "", from[i], from[i] + extent[i]);
  fputc(']', out);
}

static void print_operand(FILE *out, const cm_program *p, const cm_operand *o)
{
  if (o->type == CM_TYPE_NONE) {
    fputs(" -", out);
    return;
  }
  fprintf(out, " %s", cm_type_name(o->type));
  print_dims(out, o->rank, o->dims);
  fputs(o->part_count > 0 ? "@" : "=", out);
  if (o->part_count == 0)
    print_dims(out, o->rank == 1 && o->dims[0] <= CM_RANK_MAX ? (uint32_t)o->dims[0] : 0, o->numbers);
  for (uint32_t i = 0; i < o->part_count; i++) {
    const cm_program_part *part = &p->parts[o->first_part + i];
    const bool outside = cm_part_is_outside(part);
    fprintf(out, "%s%.60s", i > 0 ? "+" : "", outside ? p->tensors[cm_part_tensor(part)].name : "");
    if (!outside || part->address > 0)
      fprintf(out, "%s0x%" PRIx64, outside ? ":" : "", part->address);
  }
}

static void print_attribute(FILE *out, const cm_attribute *a)
{
  fprintf(out, " %s=", a->name);
  if (a->kind == CM_ATTRIBUTE_INT)
    fprintf(out, "%" PRId64, a->integer);
  else if (a->kind == CM_ATTRIBUTE_FLOAT)
    fprintf(out, "%g", (double)a->number);
  else if (a->kind == CM_ATTRIBUTE_STRING)
    fprintf(out, "%.60s", a->text);
  else if (a->kind == CM_ATTRIBUTE_STRINGS)
    for (const char *at = a->text; *at != '\0' && at < a->text + 60; at++)
      fputc(*at == '\n' ? ',' : *at, out);
  else
    for (size_t i = 0; i < a->count; i++)
      if (a->kind == CM_ATTRIBUTE_INTS)
        fprintf(out, "%s%" PRId64, i > 0 ? "," : "", a->integers[i]);
      else
        fprintf(out, "%s%g", i > 0 ? "," : "", (double)a->numbers[i]);
}

static void print_computation(FILE *out, const cm_program *p, const cm_instruction *i)
{
  const cm_node *n = &p->operators[i->operator_number];
  fprintf(out, " %s", n->op);
  for (uint32_t k = i->input_count; k < i->input_count + i->output_count; k++)
    print_operand(out, p, &p->operands[i->first_operand + k]);
  fputs(" <-", out);
  for (uint32_t k = 0; k < i->input_count; k++)
    print_operand(out, p, &p->operands[i->first_operand + k]);
  for (size_t k = 0; k < n->attribute_count; k++)
    print_attribute(out, &n->attributes[k]);
  fprintf(out, " ; %" PRIu64 " operations, node %.80s", i->work.operations, n->name);
}

static void print_instruction(FILE *out, const cm_program *p, uint64_t number)
{
  const cm_instruction *i = &p->instructions[number];
  const cm_lane *lane = &p->lanes[i->lane];
  const cm_device *device = &p->target.device[lane->device];
  fprintf(out, "%8" PRIu64 "  %s%u", number, device->name, lane->unit);
  if (device->ports > 1)
    fprintf(out, ".%u", lane->port);
  fprintf(out, "\t%s", cm_opcode_name(i->opcode));
  const cm_program_tensor *t = &p->tensors[i->tensor];
  switch (i->opcode) {
  case CM_CODE_LOAD:
    fprintf(out, " 0x%" PRIx64 " <- %.80s", i->address, t->name);
    print_box(out, t->rank, i->from, i->extent);
    fprintf(out, " ; %" PRIu64 " bytes", i->bytes);
    break;
  case CM_CODE_STORE:
    fprintf(out, " %.80s", t->name);
    print_box(out, t->rank, i->from, i->extent);
    fprintf(out, " <- 0x%" PRIx64 " ; %" PRIu64 " bytes", i->address, i->bytes);
    break;
  case CM_CODE_COPY:
    fprintf(out, " 0x%" PRIx64 " <- 0x%" PRIx64 " ; %" PRIu64 " bytes", i->address, i->source, i->bytes);
    break;
  case CM_CODE_SET:
    fprintf(out, " flag %u", i->flag);
    break;
  case CM_CODE_WAIT:
    fprintf(out, " flag %u >= %" PRIu64, i->flag, i->value);
    break;
  default:
    print_computation(out, p, i);
  }
  fputc('\n', out);
}

cm_status cm_program_disassemble(const cm_program *p, FILE *out, cm_error *error)
{
  static const char *const roles[] = {"constant", "input", "output", "spill"};
  fprintf(out, "; chip %s, %" PRIu64 " bytes on it, opset %" PRId64 ", %u lanes, %u flags\n", p->chip_name,
          p->target.memory_bytes, p->opset, p->lane_count, p->flag_count);
  for (uint32_t t = 0; t < p->tensor_count; t++) {
    const cm_program_tensor *tensor = &p->tensors[t];
    fprintf(out, "; %-8s 0x%-10" PRIx64 " %s", roles[tensor->role], tensor->address, cm_type_name(tensor->type));
    print_dims(out, tensor->rank, tensor->dims);
    fprintf(out, " %s\n", tensor->name);
  }
  if (p->turns > 1)
    fprintf(out, "; %u turns, each on the next rows of all but constants\n", p->turns);
  for (uint32_t o = 0; o < p->object_count; o++) {
    fprintf(out, "\n%s:\n", p->objects[o].name);
    for (uint64_t i = 0; i < p->objects[o].count; i++)
      print_instruction(out, p, p->objects[o].first + i);
  }
  return fflush(out) == 0 && ferror(out) == 0 ? CM_OK : cm_fail(error, CM_IO, "cannot print the program");
}
