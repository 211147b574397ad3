/* The test of the code: stored inputs, and what the simulator makes of them. */
#include "core/csource/text/writer.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/random.h"
#include "core/machine/run/run_lanes.h"

enum { SOURCE_STREAM = 0x736f75 };

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
  CM_TRY(CM_NEW(w->memory, v->inputs, p->input_count + 1, error));
  CM_TRY(CM_NEW(w->memory, v->outputs, p->output_count + 1, error));
  for (uint32_t k = 0; k < p->input_count; k++) {
    const cm_program_tensor *t = &p->tensors[p->inputs[k]];
    CM_TRY(cm_tensor_new(w->memory, t->type, t->rank, t->dims, &v->inputs[k], error));
    cm_tensor_fill_random(v->inputs[k], &random);
  }
  return cm_simulate(p, v->inputs, &options, w->run, v->outputs, &v->simulation, error);
}

/* Declarations, memory for outputs, the call and comparisons of the test. */
enum { DECLARED, STORES, COMPARISONS, PIECES, TEXTS };

static void print_test(const cm_c_writer *w, const vectors *v, cm_text made[TEXTS])
{
  const cm_program *p = w->program;
  const char *before = "";
  fprintf(made[STORES].stream, "#define RUN %s_run(", w->name);
  for (uint32_t k = 0; k < p->input_count; k++)
    if (p->tensors[p->inputs[k]].role == CM_ROLE_INPUT) {
      fprintf(made[DECLARED].stream, "extern const %s %s_in%u[];\n", cm_c_type(v->inputs[k]->type), w->name, k);
      fprintf(made[STORES].stream, "%s%s_in%u", before, w->name, k);
      before = ", ";
    }
  for (uint32_t k = 0; k < p->output_count; k++) {
    const cm_tensor *t = v->outputs[k];
    fprintf(made[DECLARED].stream, "extern const %s %s_out%u[];\nstatic %s out%u[%" PRIu64 "];\n", cm_c_type(t->type), w->name, k, cm_c_type(t->type), k,
            t->count > 0 ? t->count : 1);
    fprintf(made[STORES].stream, "%sout%u", before, k);
    fprintf(made[COMPARISONS].stream, "  COMPARE(out%u, %s_out%u, %" PRIu64 ");\n", k, w->name, k, t->count);
    before = ", ";
  }
  fputs(")\n", made[STORES].stream);
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
    const uint32_t counted = i->input_count > 0 && operands[0].type != CM_TYPE_NONE ? 0 : i->input_count;
    cm_program_rate_name(p, i, operands[counted].type, name);
    fprintf(out, "  \"%s,", w->name);
    for (const char *c = p->target.device[p->lanes[i->lane].device].name; *c != '\0'; c++) /* a name can end no text */
      fputc(isalnum((unsigned char)*c) || *c == ' ' || *c == '-' || *c == '.' ? *c : '_', out);
    fprintf(out, ",%s,%s,%" PRIu64 "\",\n", cm_unit_name(cm_opcode_unit(i->opcode)), name, i->work.operations);
  }
  fprintf(out, "};\n%s", cm_c_kernel_find("pieces"));
}

/* How a test comes by weights in a file. */
static const char reading[] =
  "static union {\n  double aligned;\n  unsigned char bytes[%" PRIu64 "];\n} weights;\n\n"
  "static int weights_are_read(void)\n{\n  FILE *file = fopen(\"%s_weights.bin\", \"rb\");\n  %s_weights = weights.bytes;\n"
  "  const int whole = file != NULL && fread(weights.bytes, 1, %" PRIu64 ", file) == %" PRIu64 ";\n"
  "  if (!whole)\n    fputs(\"%s_weights.bin is not here, or short\\n\", stderr);\n"
  "  if (file != NULL)\n    fclose(file);\n  return whole;\n}\n#define WEIGHTS_ARE_READ weights_are_read()\n";

static cm_status write_test(const cm_c_writer *w, const vectors *v, cm_c_file *test, cm_error *error)
{
  cm_text text, made[TEXTS];
  char *parts[TEXTS], weights[700] = "";
  bool opened = true;
  for (int k = 0; k < TEXTS; k++)
    opened = cm_text_open(&made[k]) && opened;
  if (opened)
    print_test(w, v, made);
  if (opened && w->timed)
    print_pieces(w, made[PIECES].stream);
  for (int k = 0; k < TEXTS; k++)
    opened = (parts[k] = cm_c_closed(&made[k], error)) != NULL && opened;
  if (w->binary)
    (void)snprintf(weights, sizeof weights, reading, w->weights_end > 0 ? w->weights_end : 1, w->name, w->name, w->weights_end, w->weights_end, w->name);
  const cm_c_word words[] = {{"NAME", w->name}, {"WEIGHTS", weights}, {"DECLARED", parts[DECLARED]}, {"STORES", parts[STORES]}, {"COMPARISONS", parts[COMPARISONS]}, {"PIECES", parts[PIECES]},
                             {"TOLD", w->timed ? "  if (argc > 2 && write_pieces(argv[2]) != 0) {\n    perror(argv[2]);\n    return 2;\n  }\n" : ""},
                             {"TOLERANCE", w->target->exact ? "0" : "1e-5"}, {NULL, NULL}};
  if (opened && cm_text_open(&text))
    cm_c_print(cm_c_kernel_find("test"), words, text.stream);
  const cm_status status = opened ? cm_c_take(&text, w->name, "_test.c", test, error) : error->status;
  for (int k = 0; k < TEXTS; k++)
    free(parts[k]);
  return status;
}

static cm_status write_vectors(const cm_c_writer *w, const vectors *v, cm_c_file *stored, cm_error *error)
{
  const cm_program *p = w->program;
  char name[60];
  cm_text text;
  if (!cm_text_open(&text))
    return cm_whole(false, "the text of the test", error);
  fputs("/* Inputs of seed and what the program makes of them. */\n#include <math.h>\n#include <stdint.h>\n", text.stream);
  for (uint32_t k = 0; k < p->input_count + p->output_count; k++) {
    const bool in = k < p->input_count;
    const uint32_t number = in ? k : k - p->input_count;
    (void)snprintf(name, sizeof name, "%s_%s%u", w->name, in ? "in" : "out", number);
    if (!in || p->tensors[p->inputs[k]].role == CM_ROLE_INPUT)
      cm_c_print_array(in ? v->inputs[k] : v->outputs[number], name, text.stream);
  }
  return cm_c_take(&text, w->name, "_vectors.c", stored, error);
}

cm_status cm_c_test(const cm_c_writer *w, uint64_t seed, cm_c_file *test, cm_c_file *stored, double *expected_ns, cm_error *error)
{
  const cm_program *p = w->program;
  vectors v = {0};
  cm_status status = simulate(w, seed, &v, error);
  *expected_ns = v.simulation.time_ns;
  CM_THEN(status, write_vectors(w, &v, stored, error));
  CM_THEN(status, write_test(w, &v, test, error));
  for (uint32_t k = 0; v.inputs != NULL && k < p->input_count; k++)
    cm_tensor_free(v.inputs[k]);
  for (uint32_t k = 0; v.outputs != NULL && k < p->output_count; k++)
    cm_tensor_free(v.outputs[k]);
  CM_FREE(v.inputs, v.outputs);
  return status;
}
