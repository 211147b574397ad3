/* Header, code, weights, lanes, test and how they are built. */
#include "core/csource/c_files.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>


static const cm_c_word none[] = {{NULL, NULL}};

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
  if (w->timed)
    fprintf(out, "\n/* Told before each piece, by its number, and what is none: -1 (%s_test.c). */\nvoid %s_piece(int piece);\n", w->name, w->name);
  if (w->flow.lanes > 1 && t->lanes == CM_C_CORES)
    fprintf(out, "\n/* What each core but the first calls once with its number, from 1 to %u: it stays there. */\nvoid %s_core(unsigned lane);\n", w->flow.lanes - 1,
            w->name);
  if (w->flow.lanes > 1)
    fprintf(out, "void %s_signal(unsigned lane, unsigned count);\nvoid %s_wait(unsigned lane, unsigned count);\n", w->name, w->name);
  if (w->binary)
    fprintf(out, "\n/* Where the bytes of %s_weights.bin lie, aligned for any type: set before the first run. */\nextern const unsigned char *%s_weights;\n",
            w->name, w->name);
  fputs("\n#endif\n", out);
}

/* ---- code ---- */

/* Functions of frame.kernel that are called somewhere. */
static void print_helpers(const char *kernels, char *const *lanes, uint32_t count, FILE *out)
{
  static const char *const helpers[] = {"copy_boxes", "move_box", "larger", "smaller", "requantize_int8", "requantize_uint8", "quantize_int8", "quantize_uint8"};
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
  cm_c_frame(w, "head", none, out);
  if (w->binary)
    fprintf(out, "\nconst unsigned char *%s_weights;\n", w->name);
  fprintf(out, "\n%s", declared);
  cm_c_print_boxes(w, out);
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
    cm_c_print_calls(w, lanes[l], out);
    fputs("}\n", out);
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
  cm_text copies, functions, text;
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
  if (status == CM_OK)
    status = cm_whole(cm_text_open(&functions), "the text of the code", error);
  if (status == CM_OK) {
    cm_c_functions(w, functions.stream);
    whole = (kernels = cm_text_close(&functions, NULL)) != NULL && whole;
  }
  if (status == CM_OK)
    status = cm_whole(whole && cm_text_open(&text), "the text of the code", error);
  if (status == CM_OK) {
    print_code(w, declared, kernels, lanes, last, text.stream);
    status = cm_c_take(&text, w->name, ".c", code, error);
  }
  for (uint32_t l = 0; l < w->flow.lanes; l++)
    free(lanes[l]);
  cm_free(lanes);
  free(declared);
  free(kernels);
  free(last);
  return status == CM_OK ? cm_c_take(&w->weights, w->name, w->binary ? "_weights.bin" : "_weights.c", weights, error) : status;
}

/* ---- lanes, and how all is built ---- */

/* A file that is a frame of kernels/frame.kernel; "@NAME": of boards.kernel, the one of the target's board. */
static cm_status write_frame(const cm_c_writer *w, const char *frame, const char *name, const char *ending, cm_c_file *file, cm_error *error)
{
  char lanes[20], own[40], weights[CM_TARGET_NAME_MAX + 20] = "";
  cm_text text;
  if (!cm_text_open(&text))
    return cm_whole(false, "the text of the code", error);
  (void)snprintf(lanes, sizeof lanes, "%u", w->flow.lanes);
  if (!w->binary)
    (void)snprintf(weights, sizeof weights, "%s_weights.o ", w->name);
  (void)snprintf(own, sizeof own, frame[0] == '@' ? "%s_%s" : "%.0s%s", w->target->board, frame + (frame[0] == '@'));
  const cm_c_word words[] = {
    {"LANES", lanes}, {"WEIGHTS", weights}, {"COMPILER", w->target->compiler}, {"FLAGS", w->target->flags},
    {"THREADS", w->flow.lanes > 1 && w->target->lanes == CM_C_THREADS ? " -pthread" : ""}, {NULL, NULL}};
  cm_c_frame(w, own, words, text.stream);
  return cm_c_take(&text, name, ending, file, error);
}

static const char *lanes_frame(const cm_c_writer *w)
{
  return w->flow.lanes == 1 ? "loop" : w->target->lanes == CM_C_CORES ? "cores" : "threads";
}

cm_status cm_c_files(cm_c_writer *w, uint64_t seed, cm_c_file files[CM_C_FILES], double *expected_ns, cm_error *error)
{
  enum { HEADER, CODE, WEIGHTS, LANES, TEST, VECTORS, MAKEFILE, BOARD, SCRIPT };
  const bool board = w->target->board[0] != '\0';
  cm_text text;
  cm_status status = write_code(w, &files[CODE], &files[WEIGHTS], error); /* first, for it may add weights */
  if (status == CM_OK)
    status = cm_c_test(w, seed, &files[TEST], &files[VECTORS], expected_ns, error);
  if (status == CM_OK)
    status = cm_whole(cm_text_open(&text), "the text of the header", error);
  if (status == CM_OK) {
    print_header(w, *expected_ns, text.stream);
    status = cm_c_take(&text, w->name, ".h", &files[HEADER], error);
  }
  if (status == CM_OK)
    status = write_frame(w, lanes_frame(w), w->name, "_lanes.c", &files[LANES], error);
  if (status == CM_OK)
    status = write_frame(w, board ? "@makefile" : "makefile", "Makefile", "", &files[MAKEFILE], error);
  if (status == CM_OK && board)
    status = write_frame(w, "@begin", w->name, "_board.c", &files[BOARD], error);
  if (status == CM_OK && board)
    status = write_frame(w, "@script", w->name, "_board.ld", &files[SCRIPT], error);
  return status;
}
