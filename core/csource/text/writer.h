/* Between the files that write C. Everything is written into texts in memory; what failed is in the error of who was called last.
 * Internal to core/csource. */
#pragma once

#include "base/text.h"
#include "core/operators/operator.h"
#include "core/csource/plan/flow.h"
#include "core/csource/csource.h"
#include "core/csource/plan/homes.h"

enum { CM_C_AT_MAX = 96, CM_C_STREAMS = 12, CM_C_NUMBERS = 128, CM_C_SIZES_MAX = 640 };

/* An array of the code, a table of numbers or a function; found again by what it holds. */
typedef struct cm_c_held {
  uint64_t hash;
  const void *bytes; /* of an array; else a text: of a function with @ for its name */
  size_t size;
  cm_tensor *tensor; /* of an array; NULL */
  const char *name, *sizes; /* sizes: of a function, the table of its first call */
  bool shared;       /* of a function: calls with other tables follow */
  uint64_t first;    /* of a box: its first number */
} cm_c_held;

typedef struct cm_c_list {
  cm_c_held *held;
  uint64_t count, room;
} cm_c_list;

/* What the program is given or gives, in memory of the caller. */
typedef struct cm_c_end {
  uint32_t tensor;
  bool in;
  const char *name;
} cm_c_end;

typedef struct cm_c_writer {
  const cm_program *program;
  const cm_c_target *target;
  const char *name;
  cm_memory *memory;
  cm_run *run;
  cm_c_flow flow;
  cm_c_space space;
  cm_text weights, declared, *body; /* body: by lane */
  cm_c_list arrays, tables, boxes, functions;
  uint64_t box_end; /* numbers of the table of boxes */
  uint64_t scratch_at, *scratch; /* bytes of the present piece; most of a piece, by lane */
  bool binary;             /* weights are bytes of a file */
  bool timed;              /* pieces are marked, for the test to tell what each takes */
  uint64_t weight_bytes, weights_end, outside_bytes, pieces; /* weights_end: of that file */
  const char **homes; /* by tensor: name of an input or output, of room outside, of an array; NULL: of none */
  cm_c_end *ends;     /* in the model's order: inputs, then outputs */
  uint32_t end_count;
  cm_arena names;
} cm_c_writer;

/* A piece of an operator that is to become calls of kernels. */
typedef struct cm_c_piece {
  cm_c_writer *w;
  const cm_instruction *instruction;
  uint32_t lane;   /* of the code */
  cm_call call;    /* shapes, and values that are known */
  const cm_operand *operands; /* inputs, then outputs */
} cm_c_piece;

/* Numbers or values that a kernel walks: where they begin, as C, their type, and elements per step of each dimension. */
typedef struct cm_c_stream {
  char at[CM_C_AT_MAX];
  cm_type type;
  int64_t strides[CM_RANK_MAX];
  const char *table[CM_RANK_MAX]; /* an array of the code instead of a stride: elements skipped at each index; NULL: none */
  bool address;                   /* an expression is given the address, not what is there */
} cm_c_stream;

/* "float", "int8_t", ...; NULL: C has none. */
const char *cm_c_type(cm_type type);

/* A refusal of the piece's node. */
cm_status cm_c_refuse(const cm_c_piece *piece, cm_error *error, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Finds what holds the same as `what` (bytes, size, and an array's tensor), or adds it under a name of its own. Errors: memory. */
cm_c_held *cm_c_hold(cm_c_writer *w, cm_c_list *list, const char *stem, const cm_c_held *what, bool *is_new, cm_error *error);

/* An array of constants, written once for all that are alike: its name. Errors: memory. */
cm_status cm_c_array(cm_c_writer *w, const cm_tensor *tensor, char at[CM_C_AT_MAX], cm_error *error);

/* Defines an array. */
void cm_c_print_array(const cm_tensor *tensor, const char *name, FILE *out);

/* Where an input or output of a piece begins, as C; one that lies in several places is gathered first. A left-out one: "NULL". */
cm_status cm_c_input(cm_c_piece *piece, uint32_t input, char at[CM_C_AT_MAX], cm_error *error);
cm_status cm_c_output(cm_c_piece *piece, uint32_t output, char at[CM_C_AT_MAX], cm_error *error);

/* Whether an output is there. */
bool cm_c_makes(const cm_c_piece *piece, uint32_t output);

/* Planes of an image with room around each, of bytes that are all `fill`; `made`: an input that lies in several places was gathered into it at once. */
typedef struct cm_c_frame {
  int64_t planes, in[2], wide[2], before[2];
  int fill;
  bool made;
} cm_c_frame;
cm_status cm_c_input_framed(cm_c_piece *piece, uint32_t input, cm_c_frame *frame, char at[CM_C_AT_MAX], cm_error *error);

/* Where an element of a tensor outside lies, as C. */
void cm_c_outside(const cm_c_writer *w, uint32_t tensor, int64_t first, char at[CM_C_AT_MAX]);

/* The same as a dense stream of its elements, or broadcast to `wide`. */
cm_status cm_c_input_stream(cm_c_piece *piece, uint32_t input, const cm_shape *wide, cm_c_stream *stream, cm_error *error);
cm_status cm_c_output_stream(cm_c_piece *piece, uint32_t output, cm_c_stream *stream, cm_error *error);

/* Room of the lane for one piece, aligned: as C. Bytes of all lanes' rooms. */
void cm_c_scratch(cm_c_piece *piece, cm_type type, int64_t count, char at[CM_C_AT_MAX]);
uint64_t cm_c_scratch_bytes(const cm_c_writer *w);

/* Numbers that stand in the table of boxes from `first` on; and that table, with what copies by it. Errors: memory. */
cm_status cm_c_boxes(cm_c_writer *w, const int64_t *numbers, size_t count, int64_t *first, cm_error *error);
void cm_c_print_boxes(const cm_c_writer *w, FILE *out);

/* A table of numbers that are known: its name. Errors: memory. */
cm_status cm_c_table(cm_c_writer *w, const int64_t *numbers, size_t count, const char **name, cm_error *error);

/* A call of a function whose text has @ for its name, called after `stem`. Numbers between ` are taken from a table that it is given, so that
 * texts that differ in them alone are one function. */
cm_status cm_c_call(cm_c_piece *piece, const char *stem, const char *text, const char *arguments, cm_error *error);

/* Adds the sizes of a kernel to those that are there: names between spaces, and what each is in this call. */
void cm_c_sizes(char sizes[CM_C_SIZES_MAX], const char *names, const int64_t *values);

/* Prints the functions that are called, and the calls of a lane, when all are known. */
void cm_c_functions(const cm_c_writer *w, FILE *out);
void cm_c_print_calls(const cm_c_writer *w, const char *calls, FILE *out);

/* A word of a kernel's text ($WORD) and what stands for it. */
typedef struct cm_c_word {
  const char *word, *stands_for;
} cm_c_word;

#define WORDS(...) ((const cm_c_word[]){__VA_ARGS__, {NULL, NULL}})

/* A call of a kernel of core/csource/kernels; the last word has no name. */
cm_status cm_c_kernel(cm_c_piece *piece, const char *kernel, const cm_c_word *words, const char *arguments, cm_error *error);

/* The same on inputs and outputs by their numbers, as "01?2>0?1": of those behind a ? one that is there. */
cm_status cm_c_kernel_on(cm_c_piece *piece, const char *kernel, const char *operands, const cm_c_word *words, cm_error *error);

/* Goes through elements: out[k] = expressions[k], in which the inputs are called a, b, c, ...; one loop a dimension, after dimensions that lie
 * together in all are made one. */
typedef struct cm_c_pointwise {
  const char *stem;
  uint32_t rank, input_count, output_count;
  int64_t dims[CM_RANK_MAX];
  cm_c_stream inputs[CM_C_STREAMS], outputs[2];
  const char *expressions[2];
  const char *ahead; /* of all inputs but the first: made where they change, as double k; NULL */
  const char *sum;   /* what is summed in double over the last dimensions, which the output has not: the sum is s; NULL */
  const char *place; /* elements that the first output lies further at each index, where what is there is *o; NULL */
} cm_c_pointwise;
cm_status cm_c_pointwise_call(cm_c_piece *piece, cm_c_pointwise *p, cm_error *error);

/* Makes dimensions that lie together in all streams one, and drops those of one element. */
void cm_c_join_dims(cm_c_pointwise *p);

/* Copies a box of elements, of these extents; cm_c_box: how copy_boxes is told of that of a part. */
cm_status cm_c_box(cm_c_writer *w, const cm_program_part *part, cm_type type, int64_t *box, cm_error *error);
cm_status cm_c_copy(cm_c_piece *piece, uint32_t rank, const int64_t *extent, const cm_c_stream *to, const cm_c_stream *from, cm_error *error);

/* Adds to a text of `size` bytes that ends with NUL. */
void cm_c_add(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A formula in which the words x, alpha and beta are replaced. */
void cm_c_fill(const char *formula, const char *x, const char *a, const char *b, char *made, size_t size);

/* A number as C has it: a float32 or double to the last bit. */
void cm_c_number(double number, bool single, char text[48]);

/* Texts of core/csource/kernels, made at build time; the last one has no name. */
typedef struct cm_c_kernel_text {
  const char *name, *text;
} cm_c_kernel_text;
extern const cm_c_kernel_text cm_c_kernel_table[];
const char *cm_c_kernel_find(const char *name);

/* Prints a text with what stands for the words in it, and for those in that. */
void cm_c_print(const char *text, const cm_c_word *words, FILE *out);

/* Closes a text, which the caller frees; NULL where memory ran out, at its opening too. cm_c_take: as the file NAMEENDING. Errors: memory. */
char *cm_c_closed(cm_text *text, cm_error *error);
cm_status cm_c_take(cm_text *text, const char *name, const char *ending, cm_c_file *file, cm_error *error);

/* Writes what all instructions do into the lanes of the code. Errors: CM_BAD_NETWORK (an operator of which C is not written, with its node), memory,
 * CM_CANCELLED. */
cm_status cm_c_steps(cm_c_writer *w, cm_error *error);

/* The files around what was written: all texts of the writer are closed. *expected_ns is the time of the program on its chip. Errors: memory, those of
 * cm_simulate. cm_c_test: the test, and what it stores: inputs of a seed and what the simulator makes of them in that time. */
cm_status cm_c_files(cm_c_writer *w, uint64_t seed, cm_c_file files[CM_C_FILES], double *expected_ns, cm_error *error);
cm_status cm_c_test(const cm_c_writer *w, uint64_t seed, cm_c_file *test, cm_c_file *stored, double *expected_ns, cm_error *error);

/* ---- families of operators (emitters.def) ---- */
#define EMITTER(family, writer) cm_status cm_c_##writer(cm_c_piece *piece, cm_error *error);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wredundant-decls"
#include "core/csource/emitters.def"
#pragma GCC diagnostic pop
#undef EMITTER
