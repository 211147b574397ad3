/* Operator-level models: a graph of nodes over values, as ONNX has them but in structures of our own.
 *
 * Values and nodes are numbered; a node names its inputs and outputs by value number. Everything small lives in the
 * model's arena and goes with it; tensors are shared by reference count. */
#pragma once

#include "base/run.h"
#include "core/operators/arena.h"
#include "core/operators/tensor.h"

#define CM_NONE UINT32_MAX /* no value, no node */

enum { CM_UNKNOWN_DIM = -1, CM_UNKNOWN_RANK = 255 };

/* What is known of a value before it is computed. */
typedef struct cm_shape {
  cm_type type;  /* CM_TYPE_NONE: not known */
  uint32_t rank; /* CM_UNKNOWN_RANK: not known */
  int64_t dims[CM_RANK_MAX]; /* CM_UNKNOWN_DIM: not known */
} cm_shape;

typedef struct cm_value {
  const char *name;
  cm_shape shape;
  const char *dim_names[CM_RANK_MAX]; /* names of the unknown dims of a graph input or output; NULL: none */
  cm_tensor *tensor;    /* the constant it is, when it is an initializer or was folded; one reference */
  bool initializer;     /* written as an initializer */
  bool constant;        /* depends on initializers alone */
  uint32_t producer;    /* node that makes it; CM_NONE: input or initializer */
  uint32_t use_count;   /* inputs of nodes and graph outputs that name it */
  const uint8_t *packed_type; /* a type that is no dense tensor, as it stood in the file */
  size_t packed_type_bytes;
} cm_value;

static inline bool cm_value_is_constant(const cm_value *v)
{
  return v->constant || v->initializer;
}

typedef enum cm_attribute_kind {
  CM_ATTRIBUTE_FLOAT = 1, CM_ATTRIBUTE_INT = 2, CM_ATTRIBUTE_STRING = 3, CM_ATTRIBUTE_TENSOR = 4, CM_ATTRIBUTE_FLOATS = 6,
  CM_ATTRIBUTE_INTS = 7,
  CM_ATTRIBUTE_STRINGS = 8, /* one text, each string on a line of its own */
  CM_ATTRIBUTE_PACKED = 100, /* subgraphs and the like: kept as bytes, never looked into */
} cm_attribute_kind;

typedef struct cm_attribute {
  const char *name;
  cm_attribute_kind kind;
  int64_t integer;
  float number;
  const char *text;
  size_t count; /* of ints or floats; bytes of text or packed */
  const int64_t *integers;
  const float *numbers;
  const uint8_t *packed;
  cm_tensor *tensor; /* one reference */
} cm_attribute;

typedef struct cm_node {
  const char *name, *op, *domain; /* domain "" is ONNX's own */
  uint32_t *inputs, *outputs;     /* values; CM_NONE where an optional input is left out */
  uint32_t input_count, output_count;
  cm_attribute *attributes;
  size_t attribute_count;
  const struct cm_operator *known; /* row of the operator table; NULL: unknown, a wall */
  const struct cm_layout *layout;  /* a permutation under work (permute.h); NULL: an ordinary node */
  uint32_t *captured;              /* values that its subgraphs name */
  uint32_t captured_count;
  bool removed;
} cm_node;

typedef struct cm_opset {
  const char *domain;
  int64_t version;
} cm_opset;

typedef struct cm_text_pair {
  const char *key, *value;
} cm_text_pair;

typedef struct cm_model {
  cm_arena arena;
  int64_t ir_version, model_version;
  int64_t opset; /* of ONNX's own domain */
  const char *producer_name, *producer_version, *domain, *doc, *graph_name, *graph_doc;
  cm_opset *opsets;
  size_t opset_count;
  cm_text_pair *metadata;
  size_t metadata_count;
  const uint8_t **functions; /* model-local functions as they stood in the file */
  size_t *function_bytes;
  size_t function_count;

  cm_value *values;
  size_t value_count, value_capacity;
  cm_node *nodes;
  size_t node_count, node_capacity;
  uint32_t *order;   /* live nodes, each after what it reads; made by cm_model_sort */
  size_t order_count;
  uint32_t *inputs, *outputs; /* values; inputs without those that are constants */
  size_t input_count, output_count;
  uint32_t splices; /* names that were made while unrolling */
} cm_model;

/* True when all that a node makes depends on initializers alone. */
static inline bool cm_node_is_constant(const cm_model *model, const cm_node *node)
{
  for (uint32_t o = 0; o < node->output_count; o++)
    if (!model->values[node->outputs[o]].constant)
      return false;
  return true;
}

/* What a node is called: its name, or where it has none that of the first value that it makes. */
const char *cm_node_name(const cm_model *model, const cm_node *node);

/* Frees a model with all it holds; NULL is allowed. */
void cm_model_free(cm_model *model);

/* An empty model on an account. */
cm_status cm_model_new(cm_memory *memory, cm_model **made, cm_error *error);

/* A copy that shares only tensors with the original. O(size of the graph). */
cm_status cm_model_copy(const cm_model *model, cm_memory *memory, cm_model **made, cm_error *error);

/* Adds a value; `name` NULL or taken: a new name that begins with `stem`. The number comes in *value. */
cm_status cm_model_add_value(cm_model *model, const char *name, uint32_t *value, cm_error *error);
cm_status cm_model_add_named(cm_model *model, const char *stem, uint32_t *value, cm_error *error);

/* Adds a constant; takes a reference on the tensor. */
cm_status cm_model_add_constant(cm_model *model, const char *stem, cm_tensor *tensor, uint32_t *value, cm_error *error);

/* Adds an initializer of int64 numbers. */
cm_status cm_model_add_integers(cm_model *model, const char *stem, const int64_t *numbers, size_t count,
                                uint32_t *value, cm_error *error);

/* What a body of nodes is given, and where what it makes is put. */
typedef struct cm_body_values {
  const uint32_t *inputs;
  uint32_t input_count;
  uint32_t *outputs;
  uint32_t output_count;
} cm_body_values;

/* Adds a node of ONNX's own domain with one output; outputs' producers are set. */
cm_status cm_model_add_node(cm_model *model, const char *op, const uint32_t *inputs, uint32_t input_count,
                            const uint32_t *outputs, uint32_t output_count, uint32_t *node, cm_error *error);

/* Adds a Slice of elements [ends[0], ends[1]) along an axis, as the model's opset has it; *made is its new value. */
cm_status cm_model_add_slice(cm_model *model, uint32_t value, int64_t axis, const int64_t ends[2], uint32_t *made, cm_error *error);

/* Sets or replaces an attribute. */
cm_status cm_node_set_integers(cm_model *model, cm_node *node, const char *name, const int64_t *numbers, size_t count,
                               cm_error *error);
cm_status cm_node_set_integer(cm_model *model, cm_node *node, const char *name, int64_t number, cm_error *error);

/* The same with a copy of another attribute; its texts and lists are shared, and have to live as long. */
cm_status cm_node_put_attribute(cm_model *model, cm_node *node, const char *name, const cm_attribute *attribute, cm_error *error);

/* The attribute of that name, or NULL. */
const cm_attribute *cm_node_attribute(const cm_node *node, const char *name);

/* An attribute's value, or `otherwise` when it is not there or of another kind. */
int64_t cm_node_integer(const cm_node *node, const char *name, int64_t otherwise);
float cm_node_number(const cm_node *node, const char *name, float otherwise);
const char *cm_node_text(const cm_node *node, const char *name, const char *otherwise);

/* Orders live nodes so that each comes after what it reads, the earliest in the file first; counts uses; sets
 * producers. Errors: CM_BAD_NETWORK when nodes depend on each other in a circle or read a value that nobody makes. */
cm_status cm_model_sort(cm_model *model, cm_error *error);

/* Removes nodes whose outputs nobody uses, then constants without use, and sorts. */
cm_status cm_model_sweep(cm_model *model, cm_error *error);

/* Everybody who reads `from` reads `to` instead; graph outputs stay. */
void cm_model_redirect(cm_model *model, uint32_t from, uint32_t to);

/* True when a value is read from outside: it is a graph output or a subgraph names it. */
bool cm_model_is_output(const cm_model *model, uint32_t value);

/* The version of a domain that the model states; 0: none. */
int64_t cm_model_opset(const cm_model *model, const char *domain);

/* "Conv 'name'" for messages; static buffer of the caller. */
const char *cm_node_label(const cm_node *node, char *text, size_t size);
