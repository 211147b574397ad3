/* Small operator graphs made by hand or at random for tests. */
#pragma once

#include <stdarg.h>

#include "base/random.h"
#include "core/operators/permute/cross.h"
#include "core/operators/evaluate.h"
#include "unit.h"

typedef struct graph {
  cm_model *model;
  cm_random *random;
  cm_memory *memory;
} graph;

static inline graph graph_new(cm_random *random, cm_memory *memory, int64_t opset)
{
  cm_error error;
  graph g = {.random = random, .memory = memory};
  ck_ok(cm_model_new(memory, &g.model, &error));
  cm_model *m = g.model;
  m->ir_version = 8;
  m->opset = opset;
  m->producer_name = m->producer_version = m->domain = m->doc = m->graph_name = m->graph_doc = "";
  m->opsets = cm_arena_allocate(&m->arena, 1, sizeof *m->opsets, &error);
  m->opsets[0] = (cm_opset){"", opset};
  m->opset_count = 1;
  m->inputs = cm_arena_allocate(&m->arena, 8, sizeof *m->inputs, &error);
  m->outputs = cm_arena_allocate(&m->arena, 8, sizeof *m->outputs, &error);
  return g;
}

static inline uint32_t graph_value(graph *g)
{
  cm_error error;
  uint32_t value;
  ck_ok(cm_model_add_named(g->model, "v", &value, &error));
  return value;
}

static inline uint32_t graph_input(graph *g, uint32_t rank, const int64_t *dims)
{
  uint32_t value = graph_value(g);
  cm_shape *s = &g->model->values[value].shape;
  s->type = CM_FLOAT;
  s->rank = rank;
  memcpy(s->dims, dims, rank * sizeof *dims);
  g->model->inputs[g->model->input_count++] = value;
  return value;
}

static inline cm_tensor *graph_random_tensor(cm_random *random, cm_memory *memory, uint32_t rank, const int64_t *dims,
                                             double least)
{
  cm_error error;
  cm_tensor *t;
  ck_ok(cm_tensor_new(memory, CM_FLOAT, rank, dims, &t, &error));
  for (uint64_t i = 0; i < t->count; i++)
    ((float *)t->data)[i] = (float)(least + (1 - least) * cm_random_unit(random));
  return t;
}

/* Random numbers from `least` to 1. */
static inline uint32_t graph_constant(graph *g, uint32_t rank, const int64_t *dims, double least)
{
  cm_error error;
  uint32_t value;
  cm_tensor *t = graph_random_tensor(g->random, g->memory, rank, dims, least);
  ck_ok(cm_model_add_constant(g->model, "c", t, &value, &error));
  return value;
}

static inline uint32_t graph_integers(graph *g, size_t count, const int64_t *numbers)
{
  cm_error error;
  uint32_t value;
  ck_ok(cm_model_add_integers(g->model, "i", numbers, count, &value, &error));
  return value;
}

/* A node over the given inputs (ended by CM_NONE - 1) with one output. */
#define GRAPH_END (CM_NONE - 1)
static inline uint32_t graph_node(graph *g, const char *op, ...)
{
  cm_error error;
  uint32_t inputs[10], count = 0, output = graph_value(g), node;
  va_list list;
  va_start(list, op);
  for (uint32_t v; (v = va_arg(list, uint32_t)) != GRAPH_END;)
    inputs[count++] = v;
  va_end(list);
  ck_ok(cm_model_add_node(g->model, op, inputs, count, &output, 1, &node, &error));
  ck_assert_ptr_nonnull(g->model->nodes[node].known);
  return output;
}

static inline cm_node *graph_last(graph *g)
{
  return &g->model->nodes[g->model->node_count - 1];
}

static inline void graph_ints(graph *g, const char *name, size_t count, const int64_t *numbers)
{
  cm_error error;
  ck_ok(cm_node_set_integers(g->model, graph_last(g), name, numbers, count, &error));
}

static inline void graph_int(graph *g, const char *name, int64_t number)
{
  cm_error error;
  ck_ok(cm_node_set_integer(g->model, graph_last(g), name, number, &error));
}

/* The axis order of a Transpose. */
static inline uint32_t graph_transpose(graph *g, uint32_t x, size_t rank, const int64_t *perm)
{
  uint32_t y = graph_node(g, "Transpose", x, GRAPH_END);
  graph_ints(g, "perm", rank, perm);
  return y;
}

static inline void graph_output(graph *g, uint32_t value)
{
  g->model->outputs[g->model->output_count++] = value;
}

static inline void graph_finish(graph *g, cm_run *run)
{
  cm_error error;
  ck_ok(cm_model_sort(g->model, &error));
  ck_ok(cm_infer(g->model, run, &error));
}
