/* Header, code, weights, lanes and how they are built. */
#include "core/csource/text/writer.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *type_of(const cm_c_writer *w, const cm_c_end *end)
{
  return cm_c_type(w->program->tensors[end->tensor].type);
}

/* The declaration of the function that computes, as far as its closing bracket. */
static void print_run(const cm_c_writer *w, FILE *out)
{
  fprintf(out, "int %s_run(", w->name);
  for (uint32_t k = 0; k < w->end_count; k++)
    fprintf(out, "%s%s%s *%s", k == 0 ? "" : ", ", w->ends[k].in ? "const " : "", type_of(w, &w->ends[k]), w->ends[k].name);
  fputc(')', out);
}

/* ---- header ---- */

static void print_description(const cm_c_writer *w, FILE *out)
{
  fprintf(out, "/* A program for chip %.60s as C99, for target %s: %s.\n", w->program->chip_name, w->target->name, w->target->what);
  for (uint32_t k = 0; k < w->end_count; k++) {
    const cm_program_tensor *t = &w->program->tensors[w->ends[k].tensor];
    fprintf(out, " * %s: %s[", w->ends[k].name, cm_type_name(t->type));
    for (uint32_t d = 0; d < t->rank; d++)
      fprintf(out, "%s%" PRId64, d > 0 ? "," : "", t->dims[d]);
    fprintf(out, "], %" PRId64 " elements\n", cm_c_count(t->rank, t->dims));
  }
  fprintf(out, " * Memory: %" PRIu64 " bytes of what lies on the chip, %" PRIu64 " of lanes, %" PRIu64 " outside; weights %" PRIu64 " bytes. */\n",
          w->space.bytes, cm_c_scratch_bytes(w), w->outside_bytes, w->weight_bytes);
}

static void print_header(const cm_c_writer *w, double expected_ns, FILE *out)
{
  char upper[CM_TARGET_NAME_MAX] = "";
  for (size_t k = 0; w->name[k] != '\0'; k++)
    upper[k] = (char)toupper((unsigned char)w->name[k]);
  print_description(w, out);
  fprintf(out, "#ifndef %s_H\n#define %s_H\n\n#include <stddef.h>\n#include <stdint.h>\n\n", upper, upper);
  fprintf(out, "/* Nanoseconds of a run on the chip of the program. */\n#define %s_EXPECTED_NS %.3f\n\n", upper, expected_ns);
  fputs("/* Computes the outputs; memory is static, so one run at a time. Not 0: lanes cannot be started. */\n", out);
  print_run(w, out);
  fprintf(out, ";\n\n/* How the code reaches memory outside, and its lanes each other (%s_lanes.c). */\n", w->name);
  fprintf(out, "void %s_load(void *chip, const void *outside, size_t bytes);\nvoid %s_store(void *outside, const void *chip, size_t bytes);\n", w->name, w->name);
  fprintf(out, "int %s_start(void (*const lanes[])(void));\n", w->name);
  if (w->timed)
    fprintf(out, "\n/* Told before each piece, by its number, and what is none: -1 (%s_test.c). */\nvoid %s_piece(int piece);\n", w->name, w->name);
  if (w->flow.lanes > 1 && w->target->lanes == CM_C_CORES)
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
#define PLAIN(name) {name, name, {{NULL, NULL}}}
#define QUANTIZED(name, type, least, most) {name "_" #type, name, {{"T", #type}, {"LEAST", least}, {"MOST", most}, {NULL, NULL}}}
  static const struct {
    const char *name, *kernel;
    cm_c_word words[4];
  } helpers[] = {PLAIN("copy_boxes"), PLAIN("copy_framed"), PLAIN("move_box"), PLAIN("sigmoid"), PLAIN("larger"), PLAIN("smaller"), PLAIN("nearest"),
                 PLAIN("whole"), PLAIN("quotient"), PLAIN("modulo"), PLAIN("dot"), PLAIN("dot_state"),
                 QUANTIZED("requantize", int8, "-128", "127"),
                 QUANTIZED("requantize", uint8, "0", "255"),
                 QUANTIZED("quantize", int8, "-128", "127"),
                 QUANTIZED("quantize", uint8, "0", "255")};
#undef QUANTIZED
#undef PLAIN
  for (size_t k = 0; k < sizeof helpers / sizeof *helpers; k++) {
    char call[40];
    (void)snprintf(call, sizeof call, "%s(", helpers[k].name);
    bool used = false;
    for (uint32_t l = 0; l <= count; l++)
      for (const char *at = l < count ? lanes[l] : kernels; !used && (at = strstr(at, call)) != NULL; at++)
        used = !isalnum((unsigned char)at[-1]) && at[-1] != '_';
    if (used)
      fputc('\n', out);
    if (used)
      cm_c_print(cm_c_kernel_find(helpers[k].kernel), helpers[k].words, out);
  }
}

/* Outputs that no store makes: inputs, constants and outputs twice. */
static cm_status print_copies(cm_c_writer *w, FILE *out, cm_error *error)
{
  for (uint32_t k = 0; k < w->end_count; k++) {
    const cm_program_tensor *t = &w->program->tensors[w->ends[k].tensor];
    char at[CM_C_AT_MAX];
    if (w->ends[k].name == w->homes[w->ends[k].tensor])
      continue;
    if (t->role == CM_ROLE_CONSTANT && cm_c_array(w, t->data, at, error) != CM_OK)
      return error->status;
    fprintf(out, "  memcpy(%s, %s, %" PRIu64 ");\n", w->ends[k].name, t->role == CM_ROLE_CONSTANT ? at : w->homes[w->ends[k].tensor], t->bytes);
  }
  return CM_OK;
}

static void print_memory(const char *name, uint64_t bytes, FILE *out)
{
  if (bytes > 0)
    fprintf(out, "static union {\n  double aligned;\n  unsigned char bytes[%" PRIu64 "];\n} %s_memory;\nstatic unsigned char *const %s = %s_memory.bytes;\n",
            bytes, name, name, name);
}

static void print_lane(const cm_c_writer *w, uint32_t lane, const char *calls, FILE *out)
{
  char name[40];
  (void)snprintf(name, sizeof name, "scratch%u", lane);
  fputc('\n', out);
  print_memory(name, w->scratch[lane], out);
  fprintf(out, "\nstatic void lane_%u(void)\n{\n", lane);
  if (w->scratch[lane] > 0)
    fprintf(out, "  unsigned char *const scratch = %s;\n", name);
  cm_c_print_calls(w, calls, out);
  fputs("}\n", out);
}

/* All lanes, once or in turns, each of which goes on with the next elements of what comes and goes. */
static void print_turns(const cm_c_writer *w, FILE *out)
{
  const cm_program *p = w->program;
  const char *indent = p->turns > 1 ? "    " : "  ";
  if (p->turns > 1)
    fprintf(out, "  for (size_t turn = 0; turn < %u; turn++) {\n", p->turns);
  for (uint32_t k = 0; k < w->end_count; k++) {
    const cm_program_tensor *t = &p->tensors[w->ends[k].tensor];
    const char *name = w->ends[k].name;
    fprintf(out, "%sends.%s = %s", indent, name, name);
    if (cm_program_rows(p, w->ends[k].tensor) > 0)
      fprintf(out, " + turn * %" PRIu64, t->bytes / cm_type_bytes(t->type) / p->turns);
    fputs(";\n", out);
  }
  fprintf(out, "%sif (%s_start(lanes) != 0)\n%s  return 1;\n%s", indent, w->name, indent, p->turns > 1 ? "  }\n" : "");
}

/* The texts of the code: lanes, then what stands around them. */
enum { COPIES, DECLARED, KERNELS, TEXTS };

static void print_code(const cm_c_writer *w, char *const *texts, FILE *out)
{
  const uint32_t lanes = w->flow.lanes;
  cm_c_print(cm_c_kernel_find("head"), (const cm_c_word[]){{"NAME", w->name}, {NULL, NULL}}, out);
  if (w->binary)
    fprintf(out, "\nconst unsigned char *%s_weights;\n", w->name);
  fprintf(out, "\n%s", texts[lanes + DECLARED]);
  print_memory("chip", w->space.bytes, out);
  cm_c_print_boxes(w, out);
  print_helpers(texts[lanes + KERNELS], texts, lanes, out);
  fprintf(out, "%s\n/* Inputs and outputs of a run. */\nstatic struct {\n", texts[lanes + KERNELS]);
  for (uint32_t k = 0; k < w->end_count; k++)
    fprintf(out, "  %s%s *%s;\n", w->ends[k].in ? "const " : "", type_of(w, &w->ends[k]), w->ends[k].name);
  fputs("} ends;\n\n", out);
  print_memory("outside", w->outside_bytes, out);
  for (uint32_t l = 0; l < lanes; l++)
    print_lane(w, l, texts[l], out);
  fputc('\n', out);
  print_run(w, out);
  fputs("\n{\n  static void (*const lanes[])(void) = {", out);
  for (uint32_t l = 0; l < lanes; l++)
    fprintf(out, "%slane_%u", l > 0 ? ", " : "", l);
  fputs("};\n", out);
  print_turns(w, out);
  fprintf(out, "%s  return 0;\n}\n", texts[lanes + COPIES]);
}

static cm_status write_code(cm_c_writer *w, cm_c_file *code, cm_c_file *weights, cm_error *error)
{
  const uint32_t lanes = w->flow.lanes;
  cm_text copies, functions, text;
  char **texts;
  CM_TRY(CM_NEW(w->memory, texts, lanes + TEXTS, error));
  cm_status status = CM_OK;
  if (cm_text_open(&copies))
    status = print_copies(w, copies.stream, error); /* first, for it may declare arrays */
  if (cm_text_open(&functions))
    cm_c_functions(w, functions.stream);
  cm_text *const made[TEXTS] = {&copies, &w->declared, &functions};
  cm_error lost;
  for (uint32_t k = 0; k < lanes + TEXTS; k++)
    if ((texts[k] = cm_c_closed(k < lanes ? &w->body[k] : made[k - lanes], &lost)) == NULL && status == CM_OK)
      status = cm_whole(false, "the text of the code", error);
  if (status == CM_OK) {
    if (cm_text_open(&text))
      print_code(w, texts, text.stream);
    status = cm_c_take(&text, w->name, ".c", code, error);
  }
  for (uint32_t k = 0; k < lanes + TEXTS; k++)
    free(texts[k]);
  cm_free(texts);
  return status == CM_OK ? cm_c_take(&w->weights, w->name, w->binary ? "_weights.bin" : "_weights.c", weights, error) : status;
}

/* ---- lanes, and how all is built ---- */

/* What the makefile of a board has beside others'. */
static const struct {
  const char *board, *flags, *libraries;
} boards[] = {{"", "", ""}, {"mps2", "", ""}, {"virt", " --specs=picolibc.specs", " -Wl,--start-group -lc -lsemihost -Wl,--end-group"}};

/* A file that is a text of kernels/frame.kernel, or of boards.kernel for the target's board. */
static cm_status write_frame(const cm_c_writer *w, const char *frame, const char *name, const char *ending, cm_c_file *file, cm_error *error)
{
  char lanes[20], link[40];
  size_t b = 0;
  cm_text text;
  while (strcmp(boards[b].board, w->target->board) != 0)
    b++;
  const bool board = b > 0, threads = w->flow.lanes > 1 && w->target->lanes == CM_C_THREADS;
  (void)snprintf(lanes, sizeof lanes, "%u", w->flow.lanes);
  (void)snprintf(link, sizeof link, "%s_link", w->target->board);
  const cm_c_word words[] = {{"NAME", w->name},
                             {"LANES", lanes},
                             {"MOVES", cm_c_kernel_find("moves")},
                             {"WEIGHTS", w->binary ? "" : "$NAME_weights.o "},
                             {"COMPILER", w->target->compiler},
                             {"FLAGS", w->target->flags},
                             {"MORE", threads ? " -pthread" : boards[b].flags},
                             {"LINK", cm_c_kernel_find(link)},
                             {"BOARD", board ? " $NAME_board.o" : ""},
                             {"SCRIPT", board ? " $NAME_board.ld" : ""},
                             {"LIBRARIES", boards[b].libraries},
                             {"RUN", board ? "$(QEMU) -kernel " : "./"},
                             {NULL, NULL}};
  if (cm_text_open(&text))
    cm_c_print(cm_c_kernel_find(frame), words, text.stream);
  return cm_c_take(&text, name, ending, file, error);
}

enum { HEADER, CODE, WEIGHTS, LANES, TEST, VECTORS, MAKEFILE, BOARD, SCRIPT };

static cm_status write_frames(const cm_c_writer *w, cm_c_file files[CM_C_FILES], cm_error *error)
{
  const char *lanes = w->flow.lanes == 1 ? "loop" : w->target->lanes == CM_C_CORES ? "cores" : "threads";
  char begin[40], script[40];
  CM_TRY(write_frame(w, lanes, w->name, "_lanes.c", &files[LANES], error));
  CM_TRY(write_frame(w, "makefile", "Makefile", "", &files[MAKEFILE], error));
  if (w->target->board[0] == '\0')
    return CM_OK;
  (void)snprintf(begin, sizeof begin, "%s_begin", w->target->board);
  (void)snprintf(script, sizeof script, "%s_script", w->target->board);
  CM_TRY(write_frame(w, begin, w->name, "_board.c", &files[BOARD], error));
  return write_frame(w, script, w->name, "_board.ld", &files[SCRIPT], error);
}

cm_status cm_c_files(cm_c_writer *w, uint64_t seed, cm_c_file files[CM_C_FILES], double *expected_ns, cm_error *error)
{
  cm_text text;
  CM_TRY(write_code(w, &files[CODE], &files[WEIGHTS], error)); /* first, for it may add weights */
  CM_TRY(cm_c_test(w, seed, &files[TEST], &files[VECTORS], expected_ns, error));
  if (cm_text_open(&text))
    print_header(w, *expected_ns, text.stream);
  CM_TRY(cm_c_take(&text, w->name, ".h", &files[HEADER], error));
  return write_frames(w, files, error);
}
