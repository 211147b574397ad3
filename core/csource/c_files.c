/* Header, code, weights, lanes, test and how they are built. */
#include "core/csource/c_files.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "core/machine/run/run_lanes.h"

enum { SOURCE_STREAM = 0x736f75 };

/* A kernel's text of frame.kernel with the writer's name. */
static void print_frame(const cm_c_writer *w, const char *frame, const cm_c_word *words, FILE *out)
{
  for (const char *c = cm_c_kernel_find(frame); *c != '\0'; c++) {
    const cm_c_word *word = words;
    while (*c == '$' && word->word != NULL && strncmp(c + 1, word->word, strlen(word->word)) != 0)
      word++;
    if (*c != '$')
      fputc(*c, out);
    else if (strncmp(c + 1, "NAME", 4) == 0) {
      fputs(w->name, out);
      c += 4;
    } else if (word->word == NULL)
      fputc(*c, out);
    else {
      fputs(word->stands_for, out);
      c += strlen(word->word);
    }
  }
}

static const cm_c_word none[] = {{NULL, NULL}};

static cm_status take(cm_text *text, const char *name, const char *ending, cm_c_file *file, cm_error *error)
{
  (void)snprintf(file->name, sizeof file->name, "%s%s", name, ending);
  file->text = cm_text_close(text, &file->size);
  return cm_whole(file->text != NULL, "the text of the code", error);
}

static void print_upper(FILE *out, const char *name)
{
  for (const char *c = name; *c != '\0'; c++)
    fputc(toupper((unsigned char)*c), out);
}

/* ---- ends ---- */

/* What the program is given and gives, in the model's order; `print` is called for each that has memory of the caller. */
static void each_end(const cm_c_writer *w, void (*print)(const cm_c_writer *w, uint32_t tensor, bool in, uint32_t number, bool first, FILE *out),
                     FILE *out)
{
  const cm_program *p = w->program;
  bool first = true;
  for (uint32_t k = 0; k < p->input_count; k++)
    if (p->tensors[p->inputs[k]].role == CM_ROLE_INPUT) {
      print(w, p->inputs[k], true, k, first, out);
      first = false;
    }
  for (uint32_t k = 0; k < p->output_count; k++) {
    print(w, p->outputs[k], false, k, first, out);
    first = false;
  }
}

static uint64_t count_of(const cm_program_tensor *t)
{
  uint64_t count = 1;
  (void)cm_dims_count(t->rank, t->dims, &count);
  return count;
}

/* Outputs that share a tensor, or are inputs or constants, have names by their place too. */
static const char *end_of(const cm_c_writer *w, uint32_t tensor, bool in, uint32_t number, char made[80])
{
  char own[20];
  (void)snprintf(own, sizeof own, "out%u_", number);
  if (in || (w->program->tensors[tensor].role == CM_ROLE_OUTPUT && strncmp(w->ends[tensor], own, strlen(own)) == 0))
    return w->ends[tensor];
  (void)snprintf(made, 80, "out%u", number);
  return made;
}

static void print_parameter(const cm_c_writer *w, uint32_t tensor, bool in, uint32_t number, bool first, FILE *out)
{
  char made[80];
  const cm_program_tensor *t = &w->program->tensors[tensor];
  fprintf(out, "%s%s%s *%s", first ? "" : ", ", in ? "const " : "", cm_c_type(t->type), end_of(w, tensor, in, number, made));
}

static void print_description(const cm_c_writer *w, uint32_t tensor, bool in, uint32_t number, bool first, FILE *out)
{
  char made[80];
  const cm_program_tensor *t = &w->program->tensors[tensor];
  (void)first;
  fprintf(out, " * %s: %s[", end_of(w, tensor, in, number, made), cm_type_name(t->type));
  for (uint32_t d = 0; d < t->rank; d++)
    fprintf(out, "%s%" PRId64, d > 0 ? "," : "", t->dims[d]);
  fprintf(out, "], %" PRIu64 " elements\n", count_of(t));
}

static void print_member(const cm_c_writer *w, uint32_t tensor, bool in, uint32_t number, bool first, FILE *out)
{
  char made[80];
  (void)first;
  fprintf(out, "  %s%s *%s;\n", in ? "const " : "", cm_c_type(w->program->tensors[tensor].type), end_of(w, tensor, in, number, made));
}

static void print_setting(const cm_c_writer *w, uint32_t tensor, bool in, uint32_t number, bool first, FILE *out)
{
  char made[80];
  (void)first;
  const char *name = end_of(w, tensor, in, number, made);
  fprintf(out, "  ends.%s = %s;\n", name, name);
}

/* ---- header ---- */

static void print_header(const cm_c_writer *w, double expected_ns, FILE *out)
{
  const cm_c_target *t = w->target;
  uint64_t scratch = 0;
  for (uint32_t l = 0; l < w->flow.lanes; l++)
    scratch += w->scratch[l];
  fprintf(out, "/* A program for chip %.60s as C99, for target %s: %s.\n", w->program->chip_name, t->name, t->what);
  each_end(w, print_description, out);
  fprintf(out, " * Memory: %" PRIu64 " bytes of what lies on the chip, %" PRIu64 " of lanes, %" PRIu64 " outside; weights %" PRIu64 " bytes. */\n",
          w->space.bytes, scratch, w->outside_bytes, w->weight_bytes);
  fputs("#ifndef ", out);
  print_upper(out, w->name);
  fputs("_H\n#define ", out);
  print_upper(out, w->name);
  fputs("_H\n\n#include <stddef.h>\n#include <stdint.h>\n\n/* Nanoseconds of a run on the chip of the program. */\n#define ", out);
  print_upper(out, w->name);
  fprintf(out, "_EXPECTED_NS %.3f\n\n/* Computes the outputs; memory is static, so one run at a time. Not 0: lanes cannot be started. */\nint %s_run(", expected_ns, w->name);
  each_end(w, print_parameter, out);
  fprintf(out, ");\n\n/* How the code reaches memory outside, and its lanes each other (%s_lanes.c). */\n", w->name);
  fprintf(out, "void %s_load(void *chip, const void *outside, size_t bytes);\nvoid %s_store(void *outside, const void *chip, size_t bytes);\n", w->name, w->name);
  fprintf(out, "int %s_start(void (*const lanes[])(void));\n", w->name);
  if (w->flow.lanes > 1 && t->lanes == CM_C_CORES)
    fprintf(out, "\n/* What each core but the first calls once with its number, from 1 to %u: it stays there. */\nvoid %s_core(unsigned lane);\n", w->flow.lanes - 1,
            w->name);
  if (w->flow.lanes > 1)
    fprintf(out, "void %s_signal(unsigned lane, unsigned count);\nvoid %s_wait(unsigned lane, unsigned count);\n", w->name, w->name);
  fputs("\n#endif\n", out);
}

/* ---- code ---- */

/* Functions of frame.kernel that are called somewhere. */
static void print_helpers(const char *kernels, char *const *lanes, uint32_t count, FILE *out)
{
  static const char *const helpers[] = {"copy_box", "move_box", "larger", "smaller", "requantize_int8", "requantize_uint8", "quantize_int8", "quantize_uint8"};
  for (size_t k = 0; k < sizeof helpers / sizeof *helpers; k++) {
    char call[40];
    (void)snprintf(call, sizeof call, "%s(", helpers[k]);
    bool used = false;
    for (uint32_t l = 0; l <= count; l++)
      for (const char *at = l < count ? lanes[l] : kernels; !used && (at = strstr(at, call)) != NULL; at++)
        used = !isalnum((unsigned char)at[-1]) && at[-1] != '_';
    if (used)
      fprintf(out, "\n%s", cm_c_kernel_find(helpers[k]));
  }
}

/* Outputs that no store makes: inputs, constants and outputs twice. */
static cm_status print_copies(cm_c_writer *w, FILE *out, cm_error *error)
{
  const cm_program *p = w->program;
  for (uint32_t k = 0; k < p->output_count; k++) {
    const uint32_t tensor = p->outputs[k];
    const cm_program_tensor *t = &p->tensors[tensor];
    char made[80], at[CM_C_AT_MAX];
    const char *name = end_of(w, tensor, false, k, made);
    if (name == w->ends[tensor])
      continue;
    if (t->role == CM_ROLE_CONSTANT && cm_c_array(w, t->data, at, error) != CM_OK)
      return error->status;
    fprintf(out, "  memcpy(%s, %s, %" PRIu64 ");\n", name, t->role == CM_ROLE_CONSTANT ? at : w->ends[tensor], t->bytes);
  }
  return CM_OK;
}

static void print_memory(const char *name, uint64_t bytes, FILE *out)
{
  if (bytes > 0)
    fprintf(out, "static union {\n  double aligned;\n  unsigned char bytes[%" PRIu64 "];\n} %s_memory;\nstatic unsigned char *const %s = %s_memory.bytes;\n",
            bytes, name, name, name);
}

/* Everything but the outputs' copies, which need arrays that are declared at the top. */
static void print_code(const cm_c_writer *w, const char *declared, const char *kernels, char *const *lanes, const char *copies, FILE *out)
{
  print_frame(w, "head", none, out);
  fprintf(out, "\n%s", declared);
  print_helpers(kernels, lanes, w->flow.lanes, out);
  fputs(kernels, out);
  fputs("\n/* Inputs and outputs of a run. */\nstatic struct {\n", out);
  each_end(w, print_member, out);
  fputs("} ends;\n\n", out);
  print_memory("chip", w->space.bytes, out);
  print_memory("outside", w->outside_bytes, out);
  for (uint32_t l = 0; l < w->flow.lanes; l++) {
    char name[40];
    (void)snprintf(name, sizeof name, "scratch%u", l);
    fputc('\n', out);
    print_memory(name, w->scratch[l], out);
    fprintf(out, "\nstatic void lane_%u(void)\n{\n", l);
    if (w->scratch[l] > 0)
      fprintf(out, "  unsigned char *const scratch = %s;\n", name);
    fprintf(out, "%s}\n", lanes[l]);
  }
  fprintf(out, "\nint %s_run(", w->name);
  each_end(w, print_parameter, out);
  fprintf(out, ")\n{\n  static void (*const lanes[])(void) = {");
  for (uint32_t l = 0; l < w->flow.lanes; l++)
    fprintf(out, "%slane_%u", l > 0 ? ", " : "", l);
  fputs("};\n", out);
  each_end(w, print_setting, out);
  fprintf(out, "  if (%s_start(lanes) != 0)\n    return 1;\n%s  return 0;\n}\n", w->name, copies);
}

static cm_status write_code(cm_c_writer *w, cm_c_file *code, cm_c_file *weights, cm_error *error)
{
  cm_text copies, text;
  char **lanes, *declared = NULL, *kernels = NULL, *last = NULL;
  bool whole = true;
  if (CM_NEW(w->memory, lanes, w->flow.lanes + 1, error) != CM_OK)
    return error->status;
  for (uint32_t l = 0; l < w->flow.lanes; l++)
    whole = (lanes[l] = cm_text_close(&w->body[l], NULL)) != NULL && whole;
  cm_status status = cm_whole(cm_text_open(&copies), "the text of the code", error);
  if (status == CM_OK) {
    status = print_copies(w, copies.stream, error);
    whole = (last = cm_text_close(&copies, NULL)) != NULL && whole;
  }
  whole = (declared = cm_text_close(&w->declared, NULL)) != NULL && whole;
  whole = (kernels = cm_text_close(&w->kernels, NULL)) != NULL && whole;
  if (status == CM_OK)
    status = cm_whole(whole && cm_text_open(&text), "the text of the code", error);
  if (status == CM_OK) {
    print_code(w, declared, kernels, lanes, last, text.stream);
    status = take(&text, w->name, ".c", code, error);
  }
  for (uint32_t l = 0; l < w->flow.lanes; l++)
    free(lanes[l]);
  cm_free(lanes);
  free(declared);
  free(kernels);
  free(last);
  return status == CM_OK ? take(&w->weights, w->name, "_weights.c", weights, error) : status;
}

/* ---- test ---- */

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

static cm_status write_test(const cm_c_writer *w, const vectors *v, cm_c_file *test, cm_c_file *stored, cm_error *error)
{
  const cm_program *p = w->program;
  cm_text text, made[3];
  char *parts[3] = {NULL};
  if (!cm_text_open(&text))
    return cm_whole(false, "the text of the test", error);
  fprintf(text.stream, "/* Inputs of seed and what the program makes of them. */\n#include <math.h>\n#include <stdint.h>\n");
  for (uint32_t k = 0; k < p->input_count; k++)
    if (p->tensors[p->inputs[k]].role == CM_ROLE_INPUT)
      print_stored(w, v->inputs[k], "in", k, text.stream);
  for (uint32_t k = 0; k < p->output_count; k++)
    print_stored(w, v->outputs[k], "out", k, text.stream);
  cm_status status = take(&text, w->name, "_vectors.c", stored, error);
  bool opened = true;
  for (int k = 0; k < 3; k++)
    opened = cm_text_open(&made[k]) && opened;
  if (opened)
    print_test(w, v, made);
  for (int k = 0; k < 3; k++)
    opened = made[k].stream != NULL && (parts[k] = cm_text_close(&made[k], NULL)) != NULL && opened;
  if (status == CM_OK)
    status = cm_whole(opened && cm_text_open(&text), "the text of the test", error);
  if (status == CM_OK) {
    const cm_c_word words[] = {
      {"DECLARED", parts[0]}, {"STORES", parts[1]}, {"COMPARISONS", parts[2]}, {"TOLERANCE", w->target->exact ? "0" : "1e-5"}, {NULL, NULL}};
    print_frame(w, "test", words, text.stream);
    status = take(&text, w->name, "_test.c", test, error);
  }
  for (int k = 0; k < 3; k++)
    free(parts[k]);
  return status;
}

/* ---- lanes, and how all is built ---- */

/* A file that is a frame of kernels/frame.kernel; "@NAME": of boards.kernel, the one of the target's board. */
static cm_status write_frame(const cm_c_writer *w, const char *frame, const char *name, const char *ending, cm_c_file *file, cm_error *error)
{
  char lanes[20], own[40];
  cm_text text;
  if (!cm_text_open(&text))
    return cm_whole(false, "the text of the code", error);
  (void)snprintf(lanes, sizeof lanes, "%u", w->flow.lanes);
  (void)snprintf(own, sizeof own, frame[0] == '@' ? "%s_%s" : "%.0s%s", w->target->board, frame + (frame[0] == '@'));
  const cm_c_word words[] = {
    {"LANES", lanes}, {"COMPILER", w->target->compiler}, {"FLAGS", w->target->flags},
    {"THREADS", w->flow.lanes > 1 && w->target->lanes == CM_C_THREADS ? " -pthread" : ""}, {NULL, NULL}};
  print_frame(w, own, words, text.stream);
  return take(&text, name, ending, file, error);
}

static const char *lanes_frame(const cm_c_writer *w)
{
  return w->flow.lanes == 1 ? "loop" : w->target->lanes == CM_C_CORES ? "cores" : "threads";
}

cm_status cm_c_files(cm_c_writer *w, uint64_t seed, cm_c_file files[CM_C_FILES], double *expected_ns, cm_error *error)
{
  enum { HEADER, CODE, WEIGHTS, LANES, TEST, VECTORS, MAKEFILE, BOARD, SCRIPT };
  const cm_program *p = w->program;
  const bool board = w->target->board[0] != '\0';
  vectors v = {0};
  cm_text text;
  cm_status status = simulate(w, seed, &v, error);
  *expected_ns = v.simulation.time_ns;
  if (status == CM_OK)
    status = cm_whole(cm_text_open(&text), "the text of the header", error);
  if (status == CM_OK) {
    print_header(w, *expected_ns, text.stream);
    status = take(&text, w->name, ".h", &files[HEADER], error);
  }
  if (status == CM_OK)
    status = write_code(w, &files[CODE], &files[WEIGHTS], error);
  if (status == CM_OK)
    status = write_frame(w, lanes_frame(w), w->name, "_lanes.c", &files[LANES], error);
  if (status == CM_OK)
    status = write_test(w, &v, &files[TEST], &files[VECTORS], error);
  if (status == CM_OK)
    status = write_frame(w, board ? "@makefile" : "makefile", "Makefile", "", &files[MAKEFILE], error);
  if (status == CM_OK && board)
    status = write_frame(w, "@begin", w->name, "_board.c", &files[BOARD], error);
  if (status == CM_OK && board)
    status = write_frame(w, "@script", w->name, "_board.ld", &files[SCRIPT], error);
  for (uint32_t k = 0; v.inputs != NULL && k < p->input_count; k++)
    cm_tensor_free(v.inputs[k]);
  for (uint32_t k = 0; v.outputs != NULL && k < p->output_count; k++)
    cm_tensor_free(v.outputs[k]);
  cm_free(v.inputs);
  cm_free(v.outputs);
  return status;
}
