/* What answers to questions about a structure share. */
#pragma once

#include "core/output/structure/structure.h"
#include "core/output/view_writer.h"

typedef struct cm_asking {
  const cm_structure *s, *other;
  cm_chip *chip; /* with its interconnect prepared */
  cm_arguments arguments;
  cm_view_writer w; /* its stream alone */
} cm_asking;

static inline uint32_t cm_structure_neurons(const cm_structure *s) { return (uint32_t)s->part_count; }
static inline uint32_t cm_structure_parts(const cm_structure *s) { return (uint32_t)s->core_count; }
static inline uint32_t cm_structure_axons(const cm_structure *s) { return (uint32_t)s->source_count; }

/* Scaled packets of an axon to the part of one of its pairs. */
static inline uint64_t cm_pair_packets(const cm_structure *s, uint32_t axon, uint64_t pair)
{
  return s->pair_weight_count > 0 ? s->pair_weight[pair] : s->weight[axon];
}

/* An argument of the question; NULL: it has none. */
const char *cm_asked(const cm_asking *q, const char *name);

/* A whole number that the question has, or the normal one. CM_BAD_OPTION. */
typedef struct cm_count_range {
  uint64_t low, high, normal;
} cm_count_range;
cm_status cm_asked_count(const cm_asking *q, const char *name, cm_count_range range, uint64_t *value, cm_error *error);

/* CM_BAD_OPTION of an argument, which is its place. */
cm_status cm_asked_badly(cm_error *error, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A neuron by its number or whole name. CM_BAD_OPTION. O(neurons). */
cm_status cm_asked_neuron(const cm_asking *q, const char *text, uint32_t *neuron, cm_error *error);

/* The axons of a neuron. O(log axons). */
void cm_axons_of(const cm_structure *s, uint32_t neuron, uint32_t *first, uint32_t *end);

/* The axon that reaches a neuron behind `*axon` (0: before the first), *at going from in_first [neuron] on. False: there are no more. */
bool cm_next_input(const cm_structure *s, uint32_t neuron, uint64_t *at, uint32_t *axon);

/* The name of a neuron, of a population; NULL: it has none. O(1), O(populations). */
const char *cm_neuron_name(const cm_structure *s, uint32_t neuron);
const char *cm_population_name(const cm_structure *s, uint32_t population);

/* The part on a core, or parts: none is. O(parts). */
uint32_t cm_part_on(const cm_structure *s, uint32_t core);

/* Members of an object: "part": P, "x": X, "y": Y; and "neuron": V, "name": "N", where it has one. */
void cm_put_place(cm_asking *q, uint32_t part);
void cm_put_neuron(cm_asking *q, uint32_t neuron);
/* [X, Y] */
void cm_put_core(cm_asking *q, uint32_t core);
/* ", "NAME": ", and packets of so many scaled ones. */
void cm_put_packets(cm_asking *q, const char *name, uint64_t scaled);

/* An element of an array: {"router": R, "x": X, "y": Y, "entries": E} of a router with a table, by its place among those. */
void cm_put_table(cm_asking *q, uint64_t at, bool behind_another);

/* The answers. */
cm_status cm_answer_links(cm_asking *q, cm_error *error);
cm_status cm_answer_flows(cm_asking *q, cm_error *error);
cm_status cm_answer_tree(cm_asking *q, cm_error *error);
cm_status cm_answer_neurons(cm_asking *q, cm_error *error);
cm_status cm_answer_matrix(cm_asking *q, cm_error *error);
cm_status cm_answer_routers(cm_asking *q, cm_error *error);
cm_status cm_answer_diff(cm_asking *q, cm_error *error);
