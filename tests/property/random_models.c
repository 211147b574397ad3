/* Random models of all operators, with inputs and outputs left out and some things wrong: whatever is compiled computes what the
 * model does, nothing crashes, and what is refused says why. In the suite a few; by hand
 *   random_models --cases N [--seed S] [--first K] [--keep FOLDER]
 * where each case runs in a process of its own: it counts crashes, results that differ, and cases over 60 s. */
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sodium.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "../unit/unit.h"

#include "base/random.h"
#include "core/chip/chip.h"
#include "core/machine/compile.h"
#include "core/machine/run/run_lanes.h"
#include "core/operators/control.h"
#include "core/operators/evaluate.h"
#include "core/operators/model_check.h"
#include "core/operators/onnx/onnx.h"
#include "core/operators/operator.h"

enum { BYTES = 1 << 20, TEXT = 128, VALUES = 64, NODES = 4, CASE_SECONDS = 60, OPERATORS = 256 };

/* ---- what is made of them, shared by the processes of the cases ---- */

typedef struct tally {
  uint32_t tried[OPERATORS], compiled[OPERATORS]; /* by row of the table */
  uint32_t programs, models, refused;
} tally;

static tally *seen;

/* ---- bytes of protocol buffers ---- */

typedef struct bytes {
  uint8_t at[BYTES];
  size_t size;
} bytes;

static void put(bytes *b, const void *data, size_t size)
{
  if (b->size + size > BYTES)
    abort();
  memcpy(b->at + b->size, data, size);
  b->size += size;
}

static void put_varint(bytes *b, uint64_t number)
{
  for (; number >= 128; number >>= 7)
    put(b, &(uint8_t){(uint8_t)(number | 128)}, 1);
  put(b, &(uint8_t){(uint8_t)number}, 1);
}

static void put_number(bytes *b, unsigned field, int64_t number)
{
  put_varint(b, field << 3);
  put_varint(b, (uint64_t)number);
}

static void put_data(bytes *b, unsigned field, const void *data, size_t size)
{
  put_varint(b, field << 3 | 2);
  put_varint(b, size);
  put(b, data, size);
}

static void put_text(bytes *b, unsigned field, const char *text)
{
  put_data(b, field, text, strlen(text));
}

/* ---- one case ---- */

typedef struct value {
  char name[16];
  cm_shape shape;
  bool known;    /* the shape */
  bool constant; /* the numbers */
} value;

typedef struct maker {
  cm_random random;
  int64_t opset;
  bool odd;              /* something may be wrong */
  size_t other;          /* number of an attribute, from 1, that is of another kind than it should be; 0: none */
  bool other_list;       /* a list instead of one, or one instead of a list; else integers for numbers and numbers for the rest */
  int64_t extent[128];   /* by letter; 0: not chosen yet */
  bytes nodes, constants, inputs, outputs;
  value values[VALUES];
  size_t value_count;
  cm_tensor *given[VALUES]; /* of the graph's inputs */
  size_t given_count;
  size_t op[NODES], op_count; /* rows of the table */
  bool open[NODES]; /* whole numbers, truth values or regions that it reads behind its first input are known to a run alone */
} maker;

static cm_run run;
static cm_memory memory;
static cm_error error;
static cm_chip *chips[3];
static const char *keep;

static int64_t pick(maker *m, int64_t least, int64_t most)
{
  return least + (int64_t)cm_random_below(&m->random, (uint64_t)(most - least + 1));
}

static bool chance(maker *m, int64_t one_in)
{
  return pick(m, 1, one_in) == 1;
}

static int64_t extent_of(maker *m, char letter)
{
  int64_t *e = &m->extent[(unsigned char)letter & 127];
  if (*e == 0)
    *e = strchr("NM", letter) != NULL ? pick(m, 1, 3) : letter == 'C' ? pick(m, 2, 5) : pick(m, 3, 7);
  return *e;
}

/* A number, or the extent of a letter. */
static double number_at(maker *m, const char **text)
{
  if (**text >= 'A' && **text <= 'Z')
    return (double)extent_of(m, *(*text)++);
  char *end;
  double number = strtod(*text, &end);
  *text = end > *text ? end : *text + 1;
  return number;
}

static size_t numbers_of(maker *m, const char *text, double *numbers, size_t most)
{
  size_t count = 0;
  while (*text != '\0' && *text != ']' && *text != '@' && *text != ' ' && count < most) {
    numbers[count++] = number_at(m, &text);
    text += *text == ',';
  }
  return count;
}

/* One of what stands between "|", as a text of its own. */
static void choose(maker *m, const char *text, char *chosen)
{
  int64_t ways = 1;
  for (const char *t = text; *t != '\0' && *t != ' ' && *t != '@'; t++)
    ways += *t == '|';
  for (int64_t way = pick(m, 0, ways - 1); way > 0; text++)
    way -= *text == '|';
  size_t length = strcspn(text, "| @");
  length = length < TEXT - 1 ? length : TEXT - 1;
  memcpy(chosen, text, length);
  chosen[length] = '\0';
}

/* ---- tensors ---- */

static bool is_float(cm_type type)
{
  return type == CM_FLOAT || type == CM_DOUBLE || type == CM_FLOAT16 || type == CM_BFLOAT16;
}

static cm_type type_of(maker *m, uint32_t types)
{
  static const cm_type usual[] = {CM_FLOAT, CM_INT64, CM_INT32, CM_UINT8, CM_INT8, CM_BOOL, CM_DOUBLE, CM_FLOAT16,
                                  CM_BFLOAT16, CM_INT16, CM_UINT16, CM_UINT32, CM_UINT64};
  if ((types >> CM_FLOAT & 1) != 0 && !chance(m, 4))
    return CM_FLOAT;
  for (int tries = 0; tries < 60; tries++) {
    cm_type type = usual[pick(m, 0, sizeof usual / sizeof *usual - 1)];
    if ((types >> (unsigned)type & 1) != 0 || (m->odd && chance(m, 30)))
      return type;
  }
  return CM_FLOAT;
}

static void fill(maker *m, cm_tensor *t, bool positive)
{
  for (uint64_t i = 0; i < t->count; i++) {
    double number = is_float(t->type) ? (double)pick(m, -32, 32) / 16 : (double)pick(m, -5, 9);
    bool natural = t->type == CM_BOOL || t->type == CM_UINT8 || t->type == CM_UINT16 || t->type == CM_UINT32 || t->type == CM_UINT64;
    if (positive || natural)
      number = fabs(number) + (positive ? 0.0625 : 0);
    cm_tensor_put_number(t, i, t->type == CM_BOOL ? (double)pick(m, 0, 1) : number, false);
  }
}

static void put_shape(bytes *b, const char *name, const cm_tensor *t)
{
  static bytes dims, tensor, info;
  dims.size = tensor.size = info.size = 0;
  for (uint32_t i = 0; i < t->rank; i++) {
    static bytes dim;
    dim.size = 0;
    put_number(&dim, 1, t->dims[i]);
    put_data(&dims, 1, dim.at, dim.size);
  }
  put_number(&tensor, 1, t->type);
  put_data(&tensor, 2, dims.at, dims.size);
  put_text(&info, 1, name);
  static bytes type;
  type.size = 0;
  put_data(&type, 1, tensor.at, tensor.size);
  put_data(&info, 2, type.at, type.size);
  put_data(b, 11, info.at, info.size);
}

static void put_constant(bytes *b, const char *name, const cm_tensor *t)
{
  static bytes made;
  made.size = 0;
  for (uint32_t i = 0; i < t->rank; i++)
    put_number(&made, 1, t->dims[i]);
  put_number(&made, 2, t->type);
  put_text(&made, 8, name);
  put_data(&made, 9, t->data, t->count * cm_type_bytes(t->type));
  put_data(b, 5, made.at, made.size);
}

static value *new_value(maker *m)
{
  if (m->value_count == VALUES)
    abort();
  value *v = &m->values[m->value_count];
  snprintf(v->name, sizeof v->name, "v%zu", m->value_count++);
  v->known = v->constant = false;
  return v;
}

/* Takes the tensor: a constant, or an input of the graph. */
static const value *place(maker *m, cm_tensor *t, bool constant)
{
  value *v = new_value(m);
  v->shape = cm_shape_of(t);
  v->known = true;
  v->constant = constant && t->count < 4096;
  if (v->constant) {
    put_constant(&m->constants, v->name, t);
    cm_tensor_free(t);
  } else {
    put_shape(&m->inputs, v->name, t);
    m->given[m->given_count++] = t;
  }
  return v;
}

/* ---- inputs of nodes ---- */

/* Whether a value that is there goes where [dims] stand; letters that are free get its extents. */
static bool fits(maker *m, const value *v, uint32_t types, const char *dims)
{
  int64_t before[128];
  if (!v->known || !cm_shape_known(&v->shape) || (types >> (unsigned)v->shape.type & 1) == 0)
    return false;
  if (*dims == '*')
    return true;
  memcpy(before, m->extent, sizeof before);
  uint32_t rank = 0;
  bool good = true;
  while (*dims != ']' && good) {
    bool letter = *dims >= 'A' && *dims <= 'Z';
    int64_t *e = letter ? &m->extent[(unsigned char)*dims] : NULL;
    good = rank < v->shape.rank && v->shape.dims[rank] > 0;
    if (good && letter && *e == 0)
      *e = v->shape.dims[rank];
    if (good)
      good = (int64_t)number_at(m, &dims) == v->shape.dims[rank++];
    dims += *dims == ',';
  }
  good = good && rank == v->shape.rank;
  if (!good)
    memcpy(m->extent, before, sizeof before);
  return good;
}

static const value *found(maker *m, uint32_t types, const char *dims)
{
  for (int tries = 0; tries < 6 && m->value_count > 0; tries++) {
    const value *v = &m->values[pick(m, 0, (int64_t)m->value_count - 1)];
    if (fits(m, v, types, dims))
      return v;
  }
  return NULL;
}

/* The extents in brackets; behind "~" those of `first`, some of them 1 or left out. */
static uint32_t dims_of(maker *m, const char *text, const value *first, int64_t *dims)
{
  double numbers[CM_RANK_MAX];
  uint32_t rank = 0;
  if (*text == '~' && first != NULL && first->known && first->shape.rank <= CM_RANK_MAX) {
    uint32_t skip = (uint32_t)pick(m, 0, first->shape.rank);
    for (uint32_t i = chance(m, 2) ? skip : 0; i < first->shape.rank; i++)
      dims[rank++] = chance(m, 3) ? 1 : first->shape.dims[i];
  } else if (*text == '*') {
    for (rank = 0; rank < 4 && !chance(m, 5); rank++)
      dims[rank] = pick(m, 1, 6);
  } else
    for (rank = (uint32_t)numbers_of(m, text, numbers, CM_RANK_MAX); dims != NULL && *text != '\0';) {
      for (uint32_t i = 0; i < rank; i++)
        dims[i] = (int64_t)numbers[i];
      break;
    }
  for (uint32_t i = 0; i < rank; i++)
    if (m->odd && chance(m, 25))
      dims[i] = pick(m, 0, 2);
  return rank;
}

static cm_tensor *tensor_of(cm_type type, uint32_t rank, const int64_t *dims)
{
  cm_tensor *t;
  if (cm_tensor_new(&memory, type, rank, dims, &t, &error) != CM_OK)
    abort();
  return t;
}

/* "=1,2|3@dims": a list, or a scalar. */
static cm_tensor *listed(maker *m, cm_type type, const char *text, bool scalar)
{
  char chosen[TEXT];
  double numbers[TEXT / 2], extents[CM_RANK_MAX];
  const char *shape = strchr(text, '@'), *end = strchr(text, ' ');
  choose(m, text, chosen);
  size_t count = numbers_of(m, chosen, numbers, TEXT / 2);
  int64_t dims[CM_RANK_MAX] = {(int64_t)count};
  uint32_t rank = scalar ? 0 : 1;
  if (shape != NULL && (end == NULL || shape < end)) {
    rank = (uint32_t)numbers_of(m, shape + 1, extents, CM_RANK_MAX);
    for (uint32_t i = 0; i < rank; i++)
      dims[i] = (int64_t)extents[i];
  }
  cm_tensor *t = tensor_of(type, rank, dims);
  for (uint64_t i = 0; i < t->count && i < count; i++)
    cm_tensor_put_number(t, i, m->odd && chance(m, 20) ? (double)pick(m, -3, 300) : numbers[i], false);
  return t;
}

static uint32_t bit(cm_type type)
{
  return UINT32_C(1) << type;
}

static uint32_t types_of(const cm_operator *o, size_t slot, char word, const value *first, const value *before)
{
  switch (word) {
  case 'r': return o->types[slot < CM_OPERATOR_TYPED ? slot : CM_OPERATOR_TYPED - 1];
  case 's': return first != NULL && first->known ? bit(first->shape.type) : bit(CM_FLOAT);
  case 'z': return before != NULL && before->known ? bit(before->shape.type) : bit(CM_FLOAT);
  case 'i': case 'I': return bit(CM_INT64);
  case 'j': return bit(CM_INT32);
  case 'u': return bit(CM_UINT8);
  case 'q': return bit(CM_UINT8) | bit(CM_INT8);
  case 'b': case 'B': return bit(CM_BOOL);
  default: return bit(CM_FLOAT);
  }
}

/* One word of a row; NULL: left out. */
static const value *input_of(maker *m, const cm_operator *o, size_t slot, const char *word, const value *first,
                             const value *before)
{
  if (*word == '-' || (*word == '?' && chance(m, 3)) || (m->odd && chance(m, 25)))
    return NULL;
  word += *word == '?';
  const uint32_t types = types_of(o, slot, *word, first, before);
  const bool scalar = *word == 'I' || *word == 'F' || *word == 'B' || (*word == 's' && word[1] == '='), natural = *word == 'p';
  int64_t dims[CM_RANK_MAX], most = 0;
  const char *rest = word + 1;
  if (*rest == '=') /* what shapes hang on is mostly known */
    return place(m, listed(m, type_of(m, types), rest + 1, scalar), !chance(m, 12));
  bool negative = *rest == '-';
  if (*rest == '<' || *rest == '-') {
    rest++;
    most = (int64_t)number_at(m, &rest);
  }
  const value *old = most == 0 && !natural && *rest == '[' && !chance(m, 3) ? found(m, types, rest + 1) : NULL;
  if (old != NULL)
    return old;
  uint32_t rank = dims_of(m, *rest == '[' ? rest + 1 : rest, first, dims);
  cm_tensor *t = tensor_of(type_of(m, types), rank, dims);
  fill(m, t, natural);
  for (uint64_t i = 0; i < t->count && most > 0; i++)
    cm_tensor_put_integer(t, i, pick(m, negative ? -most : 0, most - 1));
  return place(m, t, slot > 0 && !chance(m, 3));
}

/* ---- nodes ---- */

typedef struct recipe {
  const char *op;
  int since, until, outputs;
  const char *inputs, *attributes;
} recipe;

#define MODEL(op, since, until, outputs, inputs, attributes) {op, since, until, outputs, inputs, attributes},
static const recipe recipes[] = {
#include "random_models.def"
};
enum { RECIPES = sizeof recipes / sizeof *recipes };

/* Those of operators that work element by element. */
static const char *usual_inputs(const cm_operator *o)
{
  if (o->kernel == cm_kernel_binary || o->kernel == cm_kernel_compare)
    return "r[*] s~";
  if (o->kernel == cm_kernel_variadic)
    return "r[*] ?s~ ?s~";
  bool unary = o->kernel == cm_kernel_unary || o->kernel == cm_kernel_identity || o->kernel == cm_kernel_float_test ||
               o->kernel == cm_kernel_logical_unary;
  return unary ? "r[*]" : NULL;
}

/* A recipe of an operator in this opset; false: it is not in it. */
static bool recipe_of(maker *m, const cm_operator *o, recipe *chosen)
{
  size_t count = 0;
  if (o->since > m->opset || o->until < m->opset)
    return false;
  for (size_t i = 0; i < RECIPES; i++)
    if (strcmp(recipes[i].op, o->name) == 0 && recipes[i].since <= m->opset && recipes[i].until >= m->opset && chance(m, (int64_t)++count))
      *chosen = recipes[i];
  if (count == 0 && usual_inputs(o) != NULL) {
    *chosen = (recipe){o->name, o->since, o->until, 1, usual_inputs(o), ""};
    count = 1;
  }
  return count > 0;
}

static void put_attribute(maker *m, bytes *node, const char *word)
{
  static bytes a;
  char chosen[TEXT], name[TEXT], whole[TEXT + 2];
  double numbers[16];
  const char *equals = strchr(word, '=');
  a.size = 0;
  snprintf(name, sizeof name, "%.*s", (int)(equals - word), word);
  choose(m, equals + 1, chosen);
  put_text(&a, 1, name);
  snprintf(whole, sizeof whole, " %.100s ", name);
  bool list =
    strchr(chosen, ',') != NULL || strstr(" strides pads dilations kernel_shape axes output_shape output_padding value_ints "
                                          "starts ends perm scales activation_params ",
                                          whole) != NULL;
  size_t count = chosen[0] == '\'' ? 0 : numbers_of(m, chosen, numbers, 16);
  for (size_t i = 0; i < count && m->odd; i++)
    if (chance(m, 15))
      numbers[i] = (double)pick(m, -3, chance(m, 3) ? 1 << 20 : 5);
  if (m->odd && chance(m, 20))
    count = count > 0 ? count - 1 : 0;
  const bool other = m->other > 0 && --m->other == 0;
  list = list != ((other && m->other_list) || (m->odd && chance(m, 30))); /* or of another kind than it should be */
  if (chosen[0] == '\'' && !other) {
    put_data(&a, 4, chosen + 1, strlen(chosen) - 2);
    put_number(&a, 20, 3);
  } else if ((strchr(chosen, '.') != NULL) != ((other && !m->other_list) || (m->odd && chance(m, 30)))) {
    for (size_t i = 0; i < count; i++) {
      float number = (float)numbers[i];
      put_varint(&a, (list ? 7u : 2u) << 3 | 5);
      put(&a, &number, sizeof number);
    }
    put_number(&a, 20, list ? 6 : 1);
  } else {
    for (size_t i = 0; i < count; i++)
      put_number(&a, list ? 8 : 3, (int64_t)numbers[i]);
    put_number(&a, 20, list ? 7 : 2);
  }
  put_data(node, 5, a.at, a.size);
}

/* The next word of a row; false at its end. */
static bool next_word(const char **at, const char **word)
{
  while (**at == ' ')
    (*at)++;
  *word = *at;
  *at += strcspn(*at, " ");
  return *at > *word;
}

/* Some outputs are left out, and sometimes there are more of them than the operator has. */
static void put_outputs(maker *m, bytes *node, int most)
{
  int64_t count = pick(m, 1, most), more = chance(m, 5) ? pick(m, 1, 2) : 0;
  if (m->other > 0) { /* or nobody would look at the node */
    put_text(node, 2, new_value(m)->name);
    return;
  }
  for (int64_t i = 0; i < count; i++)
    put_text(node, 2, chance(m, count > 1 ? 3 : 40) ? "" : new_value(m)->name);
  for (int64_t i = 0; i < more; i++)
    put_text(node, 2, m->odd && chance(m, 8) ? new_value(m)->name : "");
}

static void put_node(maker *m, const cm_operator *o, const recipe *r)
{
  static bytes node;
  const char *at = r->inputs, *word;
  const value *first = NULL, *before = NULL;
  node.size = 0;
  memset(m->extent, 0, sizeof m->extent);
  size_t names[16], count = 0; /* values may move no more, but their names are written at once */
  for (size_t slot = 0; next_word(&at, &word) && count < 16; slot++) {
    const value *v = input_of(m, o, slot, word, first, before);
    first = slot == 0 ? v : first;
    before = v != NULL ? v : before;
    names[count++] = v != NULL ? (size_t)(v - m->values) : VALUES;
  }
  while (count > 0 && names[count - 1] == VALUES && !chance(m, 4))
    count--;
  for (size_t i = 0; i < count; i++)
    put_text(&node, 1, names[i] != VALUES ? m->values[names[i]].name : "");
  put_outputs(m, &node, r->outputs);
  char name[16];
  m->open[m->op_count - 1] = false;
  for (size_t i = 1; i < count; i++)
    if (names[i] != VALUES && !m->values[names[i]].constant &&
        (!is_float(m->values[names[i]].shape.type) || o->kernel == cm_kernel_max_roi_pool))
      m->open[m->op_count - 1] = true;
  snprintf(name, sizeof name, "n%zu", m->op_count - 1);
  put_text(&node, 3, name);
  put_text(&node, 4, r->op);
  for (at = r->attributes; next_word(&at, &word);)
    if ((*word != '?' || m->other > 0 || chance(m, 2)) && !(m->odd && chance(m, 12)))
      put_attribute(m, &node, word + (*word == '?'));
  if (strcmp(r->op, "FusedConv") == 0)
    put_text(&node, 7, "com.microsoft");
  put_data(&m->nodes, 1, node.at, node.size);
}

/* ---- models ---- */

static void put_opset(bytes *model, const char *domain, int64_t version)
{
  static bytes b;
  b.size = 0;
  put_text(&b, 1, domain);
  put_number(&b, 2, version);
  put_data(model, 8, b.at, b.size);
}

static void finish(const maker *m, bytes *model)
{
  static bytes graph;
  graph.size = model->size = 0;
  put(&graph, m->nodes.at, m->nodes.size);
  put_text(&graph, 2, "random");
  put(&graph, m->constants.at, m->constants.size);
  put(&graph, m->inputs.at, m->inputs.size);
  put(&graph, m->outputs.at, m->outputs.size);
  put_number(model, 1, 8);
  put_data(model, 7, graph.at, graph.size);
  put_opset(model, "", m->opset);
  put_opset(model, "com.microsoft", 1);
}

/* What is known of the values so far, so that nodes go on from them; false when the model is refused. */
static bool learn_shapes(maker *m)
{
  static bytes model;
  cm_model *read = NULL;
  finish(m, &model);
  bool good = cm_onnx_read_memory(model.at, model.size, &run, &read, &error) == CM_OK && cm_infer(read, &run, &error) == CM_OK;
  for (size_t i = 0; good && i < m->value_count; i++)
    for (size_t v = 0; v < read->value_count; v++)
      if (strcmp(read->values[v].name, m->values[i].name) == 0) {
        m->values[i].shape = read->values[v].shape;
        m->values[i].known = cm_shape_known(&read->values[v].shape) && read->values[v].shape.type != CM_TYPE_NONE;
      }
  cm_model_free(read);
  return good;
}

/* Everything that nodes make, or some of it, is an output of the graph. */
static void put_graph_outputs(maker *m, size_t from, size_t until)
{
  static bytes info;
  for (size_t i = from; i < until; i++) {
    info.size = 0;
    put_text(&info, 1, m->values[i].name);
    put_data(&m->outputs, 12, info.at, info.size);
  }
}

static const cm_operator *random_operator(maker *m, uint32_t wanted, size_t *row)
{
  size_t rows = 0;
  const cm_operator *table = cm_operator_table();
  while (table[rows].name != NULL && (table[rows].flags & CM_OPERATOR_OWN) == 0)
    rows++;
  *row = m->op_count == 0 ? wanted % rows : (size_t)pick(m, 0, (int64_t)rows - 1);
  return &table[*row];
}

static void make(maker *m, uint64_t seed, uint32_t number, bytes *model)
{
  static const int64_t opsets[] = {6, 8, 9, 10, 11, 12, 13, 15, 17, 18, 19, 20, 21, 23, 24};
  memset(m, 0, sizeof *m);
  cm_random_init(&m->random, seed, number, 0);
  m->opset = chance(m, 2) ? 20 : opsets[pick(m, 0, sizeof opsets / sizeof *opsets - 1)];
  m->odd = chance(m, 4);
  for (int64_t nodes = pick(m, 1, NODES), tries = 0; (int64_t)m->op_count < nodes && tries < 20; tries++) {
    recipe r;
    size_t row;
    const cm_operator *o = random_operator(m, number, &row);
    while (m->op_count == 0 && tries < 19 && !recipe_of(m, o, &r)) { /* an opset that has it */
      m->opset = opsets[pick(m, 0, sizeof opsets / sizeof *opsets - 1)];
      tries += chance(m, 20);
    }
    if (!recipe_of(m, o, &r))
      continue;
    size_t before = m->value_count;
    m->op[m->op_count++] = row;
    put_node(m, o, &r);
    for (size_t i = before; i < m->value_count; i++) /* those that no shape is known of are what the node made */
      if (!m->values[i].known)
        put_graph_outputs(m, i, i + 1);
    if (!learn_shapes(m))
      break;
  }
  finish(m, model);
}

/* ---- judging ---- */

typedef struct judged {
  maker m;
  bytes model;
  char model_path[100], made_path[100], what[700];
  cm_tensor *plain[VALUES], *made[VALUES];
  cm_status evaluated;
  size_t outputs;
} judged;

static void say(judged *j, const char *what, const char *why)
{
  if (j->what[0] == '\0')
    snprintf(j->what, sizeof j->what, "%.100s: %.500s", what, why);
}

static void drop(cm_tensor **tensors)
{
  for (size_t i = 0; i < VALUES; i++) {
    cm_tensor_free(tensors[i]);
    tensors[i] = NULL;
  }
}

static bool is_refusal(cm_status status)
{
  return status == CM_BAD_NETWORK || status == CM_TOO_LARGE || status == CM_BAD_OPTION || status == CM_BAD_CHIP ||
         status == CM_MEMORY_LIMIT;
}

static void evaluate(judged *j)
{
  cm_model *model = NULL;
  j->evaluated = cm_onnx_read(j->model_path, &run, &model, &error);
  if (j->evaluated == CM_OK)
    j->evaluated = cm_model_unroll(model, &run, &error);
  if (j->evaluated == CM_OK)
    j->evaluated = cm_evaluate(model, j->m.given, &run, j->plain, &error);
  if (j->evaluated != CM_OK && !is_refusal(j->evaluated))
    say(j, "evaluated", error.detail);
  j->outputs = model != NULL ? model->output_count : 0;
  cm_model_free(model);
}

static void compare(judged *j, const char *what)
{
  char text[200];
  for (size_t i = 0; i < j->outputs; i++) {
    const cm_tensor *a = j->made[i], *b = j->plain[i];
    bool half = b->type == CM_FLOAT16 || b->type == CM_BFLOAT16;
    int64_t at = cm_tensor_deviates(a, b, half ? 2e-2 : 1e-4, half ? 1e-2 : 1e-4);
    if (at == -1)
      continue;
    if (at == -2)
      snprintf(text, sizeof text, "output %zu is %s of rank %u, not %s of rank %u", i, cm_type_name(a->type), a->rank,
               cm_type_name(b->type), b->rank);
    else
      snprintf(text, sizeof text, "output %zu is %g at %lld, not %g", i, cm_tensor_number(a, (uint64_t)at), (long long)at,
               cm_tensor_number(b, (uint64_t)at));
    say(j, what, text);
  }
}

static void count(const judged *j, bool compiled)
{
  for (size_t i = 0; i < j->m.op_count; i++) {
    seen->tried[j->m.op[i]] += !compiled;
    seen->compiled[j->m.op[i]] += compiled;
  }
}

/* Numbers that only a run sees may be wrong: an index or a length that is not within what it is of. Of constants a compiler
 * sees that. */
static bool is_of_values(const judged *j, const char *why)
{
  bool of_values = strstr(why, "index ") != NULL || strstr(why, "image ") != NULL || strstr(why, "has a sequence of") != NULL ||
                   strstr(why, "chooses element") != NULL;
  const char *name = strstr(why, "'n");
  size_t node = name != NULL ? strtoul(name + 2, NULL, 10) : NODES;
  return j->m.odd && j->evaluated != CM_OK && of_values && node < NODES && j->m.open[node];
}

/* What was compiled runs, and computes the same. */
static void judge_made(judged *j, bool program)
{
  static const cm_simulation_options options = {.compute = true, .check = true};
  cm_simulation result;
  cm_program *p = NULL;
  cm_model *model = NULL;
  cm_status status = program ? cm_program_read(j->made_path, &run, &p, &error) : cm_onnx_read(j->made_path, &run, &model, &error);
  if (status == CM_OK)
    status = program ? cm_simulate(p, j->m.given, &options, &run, j->made, &result, &error)
                     : cm_evaluate(model, j->m.given, &run, j->made, &error);
  if (status != CM_OK && (j->evaluated == CM_OK || (program && !is_of_values(j, error.detail))))
    say(j, program ? "compiled, but does not run" : "rewritten, but does not run", error.detail);
  else if (status == CM_OK && j->evaluated == CM_OK)
    compare(j, program ? "as a program" : "rewritten");
  cm_program_free(p);
  cm_model_free(model);
  drop(j->made);
}

/* Elements of the largest value that is known. */
static uint64_t largest(const maker *m)
{
  uint64_t count, most = 0;
  for (size_t i = 0; i < m->value_count; i++)
    if (m->values[i].known && cm_dims_count(m->values[i].shape.rank, m->values[i].shape.dims, &count) && count > most)
      most = count;
  return most;
}

static void compile(judged *j, bool program)
{
  static const uint64_t sizes[] = {0, 0, 4096, 1024};
  cm_compile_options options;
  json_t *report = NULL;
  (void)cm_compile_options_read(NULL, &options, &error);
  options.memory = largest(&j->m) > 1 << 20 ? 0 : sizes[pick(&j->m, 0, 3)]; /* else it is cut into ten thousands of pieces */
  if (program && largest(&j->m) > 1 << 24)
    return;
  options.scores = 1;
  options.smallest_memory = program && options.memory == 0 && largest(&j->m) < 1024 && chance(&j->m, 8);
  options.make_tiles = false;
  options.order = (uint32_t)pick(&j->m, CM_COMPILE_ORDER_SEARCH, CM_COMPILE_ORDER_SAMPLE);
  cm_chip *chip = program ? chips[pick(&j->m, 0, 2)] : NULL;
  options.least_traffic = chance(&j->m, 4) && chip != chips[2];
  cm_status status = cm_compile(j->model_path, &options, chip, &run, j->made_path, NULL, &report, &error);
  json_decref(report);
  if (status == CM_OK) {
    *(program ? &seen->programs : &seen->models) += 1;
    if (program)
      count(j, true);
    judge_made(j, program);
  } else if (!is_refusal(status))
    say(j, "compiling", error.detail);
  else if (error.detail[0] == '\0')
    say(j, "refused", "and does not say why");
  else if (program)
    seen->refused++;
}

/* True when all is well. */
static bool judge(const char *folder, uint64_t seed, uint32_t number)
{
  static judged j;
  memset(&j, 0, sizeof j);
  snprintf(j.model_path, sizeof j.model_path, "%.80s/model.onnx", folder);
  snprintf(j.made_path, sizeof j.made_path, "%.80s/made", folder);
  make(&j.m, seed, number, &j.model);
  FILE *stream = fopen(j.model_path, "wb");
  if (stream == NULL || fwrite(j.model.at, 1, j.model.size, stream) != j.model.size || fclose(stream) != 0)
    abort();
  count(&j, false);
  evaluate(&j);
  compile(&j, true);
  compile(&j, true);
  compile(&j, false);
  drop(j.plain);
  for (size_t i = 0; i < j.m.given_count; i++)
    cm_tensor_free(j.m.given[i]);
  if (memory.used_bytes != 0)
    say(&j, "memory", "is still on the account");
  if (j.what[0] != '\0')
    fprintf(stderr, "case %u%s: %s\n", number, j.m.odd ? " (odd)" : "", j.what);
  return j.what[0] == '\0';
}

/* ---- many ---- */

static void begin(char *folder)
{
  if (sodium_init() < 0)
    abort();
  cm_memory_init(&memory, UINT64_C(1) << 30);
  cm_run_init(&run);
  run.memory = &memory;
  for (int i = 0; i < 3; i++)
    if (cm_chip_open((const char *[]){"npu-mixed", "npu-embedded", "npu-manycore"}[i], &chips[i], &error) != CM_OK)
      abort();
  seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  snprintf(folder, 60, "%s/coremap-models-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
  if (mkdtemp(folder) == NULL)
    abort();
}

static void end(const char *folder)
{
  (void)cm_folder_remove(folder, &error);
  for (int i = 0; i < 3; i++)
    cm_chip_free(chips[i]);
}

static void keep_model(const char *folder, uint64_t seed, uint32_t number)
{
  char command[2 * CM_PATH_MAX];
  snprintf(command, sizeof command, "cp '%.80s/model.onnx' '%.1000s/%llu-%u.onnx'", folder, keep, (unsigned long long)seed, number);
  if (keep != NULL && system(command) != 0)
    fprintf(stderr, "%s\n", command);
}

/* A process of its own for each: its end tells how it went. */
static bool judge_apart(const char *folder, uint64_t seed, uint32_t number)
{
  int status = 0;
  pid_t child = fork();
  if (child == 0) {
    (void)signal(SIGALRM, SIG_DFL);
    (void)signal(SIGABRT, SIG_DFL);
    (void)alarm(CASE_SECONDS);
    _exit(judge(folder, seed, number) ? 0 : 1);
  }
  if (child < 0 || waitpid(child, &status, 0) != child)
    return false;
  if (WIFSIGNALED(status))
    fprintf(stderr, "case %u: %s\n", number, WTERMSIG(status) == SIGALRM ? "takes over 60 s" : strsignal(WTERMSIG(status)));
  if (status != 0)
    keep_model(folder, seed, number);
  return status == 0;
}

static uint32_t judge_all(uint64_t seed, uint32_t first, uint32_t cases)
{
  char folder[60];
  uint32_t bad = 0;
  begin(folder);
  for (uint32_t i = first; i < first + cases; i++)
    bad += !judge_apart(folder, seed, i);
  fprintf(stderr, "%u cases, %u programs, %u rewritten, %u refused, %u bad\n", cases, seen->programs, seen->models, seen->refused, bad);
  end(folder);
  return bad;
}

/* Every operator of the table is tried, and all that make programs have been seen to. */
static uint32_t never_compiled(void)
{
  uint32_t missing = 0;
  for (size_t i = 0; cm_operator_table()[i].name != NULL; i++)
    if (seen->compiled[i] == 0 && (cm_operator_table()[i].flags & CM_OPERATOR_OWN) == 0) {
      fprintf(stderr, "%s: tried %u times, never compiled\n", cm_operator_table()[i].name, seen->tried[i]);
      missing++;
    }
  return missing;
}

START_TEST(random_models_compute_the_same_compiled)
{
  ck_assert_uint_eq(judge_all(1, 0, test_rounds(600)), 0);
}
END_TEST

/* A node of a row, whose attribute of that number is of another kind than it should be. */
static void judge_attribute(const recipe *r, size_t attribute, bool list)
{
  static maker m;
  static bytes model;
  cm_model *read;
  memset(&m, 0, sizeof m);
  cm_random_init(&m.random, attribute, (uint64_t)(r - recipes), 0);
  m.opset = r->until < 20 ? r->until : r->since > 20 ? r->since : 20;
  m.other = attribute;
  m.other_list = list;
  const cm_operator *o = cm_operator_find(strcmp(r->op, "FusedConv") == 0 ? "com.microsoft" : "", r->op, m.opset);
  ck_assert_ptr_nonnull(o);
  m.op_count = 1;
  put_node(&m, o, r);
  put_graph_outputs(&m, m.value_count - 1, m.value_count);
  finish(&m, &model);
  ck_assert_int_eq(cm_onnx_read_memory(model.at, model.size, &run, &read, &error), CM_OK);
  cm_status status = cm_model_unroll(read, &run, &error);
  ck_assert_msg(status == CM_BAD_NETWORK && strstr(error.detail, "its attribute") != NULL, "%s, attribute %zu: %s", r->op,
                attribute, status == CM_OK ? "taken" : error.detail);
  cm_model_free(read);
  for (size_t i = 0; i < m.given_count; i++)
    cm_tensor_free(m.given[i]);
}

START_TEST(attributes_of_other_kinds_are_refused)
{
  char folder[60];
  size_t tried = 0;
  begin(folder);
  for (const recipe *r = recipes; r < recipes + RECIPES; r++) {
    const char *at = r->attributes, *word;
    for (size_t attribute = 1; next_word(&at, &word); attribute++, tried++) {
      judge_attribute(r, attribute, false);
      judge_attribute(r, attribute, true);
    }
  }
  ck_assert_uint_gt(tried, 200);
  ck_assert_uint_eq(memory.used_bytes, 0);
  end(folder);
}
END_TEST

/* ---- models by hand ---- */

/* One node, float inputs, and what the model says of its output (rank CM_UNKNOWN_RANK: nothing). */
static void make_single(maker *m, bytes *model, const char *op, const cm_shape *input, const cm_shape *output)
{
  static bytes node, info;
  node.size = info.size = 0;
  memset(m, 0, sizeof *m);
  m->opset = 13;
  cm_tensor x = {.type = CM_FLOAT, .rank = input->rank}, y = {.type = CM_FLOAT, .rank = output->rank};
  memcpy(x.dims, input->dims, sizeof x.dims);
  memcpy(y.dims, output->dims, sizeof y.dims);
  put_text(&node, 1, "x");
  put_text(&node, 2, "y");
  put_text(&node, 4, op);
  put_data(&m->nodes, 1, node.at, node.size);
  put_shape(&m->inputs, "x", &x);
  put_shape(&info, "y", &y);
  info.at[0] = 12 << 3 | 2; /* an output, and no input */
  put(&m->outputs, info.at, info.size);
  finish(m, model);
}

/* Any number of rows is done in turns, or refused before memory is taken for them. */
START_TEST(models_of_any_number_of_rows_take_little_memory)
{
  static maker m;
  static bytes model;
  char folder[60], path[100], made[100];
  begin(folder);
  snprintf(path, sizeof path, "%s/model.onnx", folder);
  snprintf(made, sizeof made, "%s/made", folder);
  memory.limit_bytes = 128 << 20;
  for (int rows = 30; rows <= 50; rows += 5) {
    const cm_shape shape = {.rank = 2, .dims = {INT64_C(1) << rows, 4}};
    cm_compile_options options;
    json_t *report = NULL;
    make_single(&m, &model, "Relu", &shape, &shape);
    FILE *stream = fopen(path, "wb");
    ck_assert(stream != NULL && fwrite(model.at, 1, model.size, stream) == model.size && fclose(stream) == 0);
    (void)cm_compile_options_read(NULL, &options, &error);
    options.scores = 1;
    const cm_status status = cm_compile(path, &options, chips[1], &run, made, NULL, &report, &error);
    ck_assert_msg(status == (rows <= 30 ? CM_OK : CM_TOO_LARGE), "2^%d rows: %s", rows, error.detail);
    json_decref(report);
    ck_assert_msg(status == CM_OK || strstr(error.detail, "smaller batch") != NULL || strstr(error.detail, "elements") != NULL, "%s", error.detail);
  }
  end(folder);
}
END_TEST

START_TEST(a_declared_rank_that_is_wrong_is_refused)
{
  static maker m;
  static bytes model;
  char folder[60];
  cm_model *read;
  const cm_shape input = {.rank = 2, .dims = {2, 4}};
  begin(folder);
  for (uint32_t rank = 1; rank < 4; rank++) {
    const cm_shape output = {.rank = rank, .dims = {2, 4, 1}};
    make_single(&m, &model, "Relu", &input, &output);
    ck_assert_int_eq(cm_onnx_read_memory(model.at, model.size, &run, &read, &error), CM_OK);
    cm_status status = cm_infer(read, &run, &error);
    ck_assert_int_eq(status, rank == 2 ? CM_OK : CM_BAD_NETWORK);
    ck_assert(rank == 2 || strstr(error.detail, "its output 'y' has rank 2; the model declares one of rank") != NULL);
    cm_model_free(read);
  }
  end(folder);
}
END_TEST

/* A domain's operators are of that domain's version. */
START_TEST(an_unknown_operator_names_its_domains_version)
{
  static maker m;
  static bytes model, node;
  char folder[60];
  cm_model *read;
  const cm_shape shape = {.rank = 1, .dims = {2}};
  begin(folder);
  make_single(&m, &model, "Relu", &shape, &shape);
  m.nodes.size = node.size = 0;
  put_text(&node, 1, "x");
  put_text(&node, 2, "y");
  put_text(&node, 4, "Whatever");
  put_text(&node, 7, "com.microsoft");
  put_data(&m.nodes, 1, node.at, node.size);
  finish(&m, &model); /* opset 13, com.microsoft 1 */
  ck_assert_int_eq(cm_onnx_read_memory(model.at, model.size, &run, &read, &error), CM_OK);
  ck_assert_int_eq(cm_infer(read, &run, &error), CM_OK);
  ck_assert_int_eq(cm_model_check(read, &error), CM_BAD_NETWORK);
  ck_assert_msg(strstr(error.detail, "domain com.microsoft, opset 1,") != NULL, "%s", error.detail);
  cm_model_free(read);
  end(folder);
}
END_TEST

/* Else the kernel would read behind it. */
START_TEST(the_largest_of_nothing_is_refused)
{
  static maker m;
  static bytes model;
  char folder[60];
  cm_model *read;
  begin(folder);
  for (int64_t rows = 0; rows < 2; rows++) {
    const cm_shape input = {.rank = 2, .dims = {rows, 4}}, output = {.rank = 2, .dims = {1, 4}};
    make_single(&m, &model, "ArgMax", &input, &output);
    ck_assert_int_eq(cm_onnx_read_memory(model.at, model.size, &run, &read, &error), CM_OK);
    ck_assert_int_eq(cm_infer(read, &run, &error), rows == 0 ? CM_BAD_NETWORK : CM_OK);
    ck_assert(rows > 0 || strstr(error.detail, "nothing to choose from") != NULL);
    cm_model_free(read);
  }
  end(folder);
}
END_TEST

START_TEST(data_that_is_there_twice_is_refused)
{
  static maker m;
  static bytes model, twice;
  char folder[60];
  cm_model *read;
  const cm_shape shape = {.rank = 1, .dims = {2}};
  const float numbers[2] = {1, 2};
  begin(folder);
  make_single(&m, &model, "Relu", &shape, &shape);
  twice.size = 0;
  put_number(&twice, 1, 2);
  put_number(&twice, 2, CM_FLOAT);
  put_data(&twice, 4, numbers, sizeof numbers);
  put_text(&twice, 8, "w");
  put_data(&twice, 9, numbers, sizeof numbers);
  put_data(&m.constants, 5, twice.at, twice.size);
  finish(&m, &model);
  ck_assert_int_eq(cm_onnx_read_memory(model.at, model.size, &run, &read, &error), CM_BAD_NETWORK);
  ck_assert_msg(strstr(error.detail, "'w' holds raw bytes and a list of numbers") != NULL, "%s", error.detail);
  end(folder);
}
END_TEST

static uint64_t option(int argc, char **argv, const char *name, uint64_t otherwise)
{
  for (int i = 1; i + 1 < argc; i++)
    if (strcmp(argv[i], name) == 0)
      return strtoull(argv[i + 1], NULL, 10);
  return otherwise;
}

int main(int argc, char **argv)
{
  uint64_t cases = option(argc, argv, "--cases", 0);
  for (int i = 1; i + 1 < argc; i++)
    if (strcmp(argv[i], "--keep") == 0)
      keep = argv[i + 1];
  if (cases > 0) {
    uint32_t bad = judge_all(option(argc, argv, "--seed", 1), (uint32_t)option(argc, argv, "--first", 0), (uint32_t)cases);
    (void)never_compiled();
    return bad == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  Suite *suite = suite_create("random_models");
  TCase *tests = tcase_create("random_models");
  tcase_add_test(tests, random_models_compute_the_same_compiled);
  tcase_add_test(tests, attributes_of_other_kinds_are_refused);
  tcase_add_test(tests, models_of_any_number_of_rows_take_little_memory);
  tcase_add_test(tests, a_declared_rank_that_is_wrong_is_refused);
  tcase_add_test(tests, an_unknown_operator_names_its_domains_version);
  tcase_add_test(tests, data_that_is_there_twice_is_refused);
  tcase_add_test(tests, the_largest_of_nothing_is_refused);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
