/* The test of the code: stored inputs, and what the simulator makes of them. */
#include "core/csource/c_files.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/random.h"
#include "core/machine/run/run_lanes.h"
#include "core/operators/tiling/split.h"

enum { SOURCE_STREAM = 0x736f75 };

static cm_status random_input(const cm_program_tensor *t, cm_random *random, cm_memory *memory, cm_tensor **made, cm_error *error)
{
  if (cm_tensor_new(memory, t->type, t->rank, t->dims, made, error) != CM_OK)
    return error->status;
  for (uint64_t i = 0; i < (*made)->count; i++)
    if (t->type == CM_FLOAT)
      ((float *)(*made)->data)[i] = (float)(2 * cm_random_unit(random) - 1);
    else if (t->type == CM_UINT8 || t->type == CM_INT8)
      ((uint8_t *)(*made)->data)[i] = (uint8_t)cm_random_below(random, 256);
  return CM_OK;
}

typedef struct vectors {
  cm_tensor **inputs, **outputs;
  cm_simulation simulation;
} vectors;

static cm_status simulate(const cm_c_writer *w, uint64_t seed, vectors *v, cm_error *error)
{
  static const cm_simulation_options options = {.compute = true};
  const cm_program *p = w->program;
  cm_random random;
  cm_random_init(&random, seed, SOURCE_STREAM, 0);
  if (CM_NEW(w->memory, v->inputs, p->input_count + 1, error) != CM_OK || CM_NEW(w->memory, v->outputs, p->output_count + 1, error) != CM_OK)
    return error->status;
  for (uint32_t k = 0; k < p->input_count; k++)
    if (random_input(&p->tensors[p->inputs[k]], &random, w->memory, &v->inputs[k], error) != CM_OK)
      return error->status;
  return cm_simulate(p, v->inputs, &options, w->run, v->outputs, &v->simulation, error);
}

static void print_stored(const cm_c_writer *w, const cm_tensor *t, const char *what, uint32_t number, FILE *out)
{
  char name[60];
  (void)snprintf(name, sizeof name, "%s_%s%u", w->name, what, number);
  cm_c_print_array(t, name, out);
}

/* Declarations, memory for outputs, the call and comparisons of the test. */
static void print_test(const cm_c_writer *w, const vectors *v, cm_text made[3])
{
  const cm_program *p = w->program;
  fputs("#define RUN ", made[1].stream);
  fprintf(made[1].stream, "%s_run(", w->name);
  bool first = true;
  for (uint32_t k = 0; k < p->input_count; k++)
    if (p->tensors[p->inputs[k]].role == CM_ROLE_INPUT) {
      fprintf(made[0].stream, "extern const %s %s_in%u[];\n", cm_c_type(v->inputs[k]->type), w->name, k);
      fprintf(made[1].stream, "%s%s_in%u", first ? "" : ", ", w->name, k);
      first = false;
    }
  for (uint32_t k = 0; k < p->output_count; k++) {
    const cm_tensor *t = v->outputs[k];
    fprintf(made[0].stream, "extern const %s %s_out%u[];\nstatic %s out%u[%" PRIu64 "];\n", cm_c_type(t->type), w->name, k, cm_c_type(t->type), k,
            t->count > 0 ? t->count : 1);
    fprintf(made[1].stream, "%sout%u", first ? "" : ", ", k);
    fprintf(made[2].stream, "  COMPARE(out%u, %s_out%u, %" PRIu64 ");\n", k, w->name, k, t->count);
    first = false;
  }
  fputs(")\n", made[1].stream);
}

/* What coremap calibrate is to know of each piece, and the test's clock of pieces. */
static void print_pieces(const cm_c_writer *w, FILE *out)
{
  const cm_program *p = w->program;
  char name[CM_TARGET_NAME_MAX];
  fputs("/* Of each piece: run, device, kind, operator and type, operations. */\nstatic const char *const pieces[] = {\n", out);
  for (uint64_t k = 0; k < p->instruction_count; k++) {
    const cm_instruction *i = &p->instructions[k];
    const cm_operand *operands = p->operands + i->first_operand;
    if (!cm_opcode_computes(i->opcode))
      continue;
    const cm_node *node = &p->operators[i->operator_number];
    const uint32_t weights = cm_split_weights(node), counted = i->input_count > 0 && operands[0].type != CM_TYPE_NONE ? 0 : i->input_count;
    cm_rate_name(node, weights < i->input_count ? operands[weights].dims[0] : 0, operands[counted].type, name);
    fprintf(out, "  \"%s,%s,%s,%s,%" PRIu64 "\",\n", w->name, p->target.device[p->lanes[i->lane].device].name, cm_unit_name(cm_opcode_unit(i->opcode)), name,
            i->work.operations);
  }
  fputs("};\n", out);
  cm_c_frame(w, "pieces", (const cm_c_word[]){{NULL, NULL}}, out);
}

/* How a test comes by weights in a file. */
static const char reading[] =
  "static union {\n  double aligned;\n  unsigned char bytes[%" PRIu64 "];\n} weights;\n\n"
  "static int weights_are_read(void)\n{\n  FILE *file = fopen(\"%s_weights.bin\", \"rb\");\n  %s_weights = weights.bytes;\n"
  "  const int whole = file != NULL && fread(weights.bytes, 1, %" PRIu64 ", file) == %" PRIu64 ";\n"
  "  if (!whole)\n    fputs(\"%s_weights.bin is not here, or short\\n\", stderr);\n"
  "  if (file != NULL)\n    fclose(file);\n  return whole;\n}\n#define WEIGHTS_ARE_READ weights_are_read()\n";

static cm_status write_test(const cm_c_writer *w, const vectors *v, cm_c_file *test, cm_c_file *stored, cm_error *error)
{
  const cm_program *p = w->program;
  cm_text text, made[4];
  char *parts[4] = {NULL};
  if (!cm_text_open(&text))
    return cm_whole(false, "the text of the test", error);
  fprintf(text.stream, "/* Inputs of seed and what the program makes of them. */\n#include <math.h>\n#include <stdint.h>\n");
  for (uint32_t k = 0; k < p->input_count; k++)
    if (p->tensors[p->inputs[k]].role == CM_ROLE_INPUT)
      print_stored(w, v->inputs[k], "in", k, text.stream);
  for (uint32_t k = 0; k < p->output_count; k++)
    print_stored(w, v->outputs[k], "out", k, text.stream);
  cm_status status = cm_c_take(&text, w->name, "_vectors.c", stored, error);
  bool opened = true;
  for (int k = 0; k < 4; k++)
    opened = cm_text_open(&made[k]) && opened;
  if (opened)
    print_test(w, v, made);
  if (opened && w->timed)
    print_pieces(w, made[3].stream);
  for (int k = 0; k < 4; k++)
    opened = made[k].stream != NULL && (parts[k] = cm_text_close(&made[k], NULL)) != NULL && opened;
  if (status == CM_OK)
    status = cm_whole(opened && cm_text_open(&text), "the text of the test", error);
  if (status == CM_OK) {
    char weights[700] = "";
    if (w->binary)
      (void)snprintf(weights, sizeof weights, reading, w->weights_end > 0 ? w->weights_end : 1, w->name, w->name, w->weights_end, w->weights_end, w->name);
    const cm_c_word words[] = {
      {"WEIGHTS", weights}, {"DECLARED", parts[0]}, {"STORES", parts[1]}, {"COMPARISONS", parts[2]}, {"PIECES", parts[3]},
      {"TOLD", w->timed ? "  if (argc > 2 && write_pieces(argv[2]) != 0) {\n    perror(argv[2]);\n    return 2;\n  }\n" : ""}, {"TOLERANCE", w->target->exact ? "0" : "1e-5"}, {NULL, NULL}};
    cm_c_frame(w, "test", words, text.stream);
    status = cm_c_take(&text, w->name, "_test.c", test, error);
  }
  for (int k = 0; k < 4; k++)
    free(parts[k]);
  return status;
}


cm_status cm_c_test(const cm_c_writer *w, uint64_t seed, cm_c_file *test, cm_c_file *stored, double *expected_ns, cm_error *error)
{
  const cm_program *p = w->program;
  vectors v = {0};
  cm_status status = simulate(w, seed, &v, error);
  *expected_ns = v.simulation.time_ns;
  if (status == CM_OK)
    status = write_test(w, &v, test, stored, error);
  for (uint32_t k = 0; v.inputs != NULL && k < p->input_count; k++)
    cm_tensor_free(v.inputs[k]);
  for (uint32_t k = 0; v.outputs != NULL && k < p->output_count; k++)
    cm_tensor_free(v.outputs[k]);
  cm_free(v.inputs);
  cm_free(v.outputs);
  return status;
}
