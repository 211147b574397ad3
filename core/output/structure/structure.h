/* What a mapping is made of, for questions: who sends how much to whom, over which links. Made once of mapping and network, it
 * stands in a file from which each question reads what it needs; files are the machine's own, not portable.
 *
 * Questions, whose answers are JSON objects (api/openapi/mappings.json describes them):
 *   links    sort=load limit axons: links and ports with the highest load, and the axons that fill them
 *   flows    one of core=X,Y neuron population link, and limit: packets from core to core, in and out of that
 *   tree     neuron=N axon limit: the links that the packets of an axon take
 *   neurons  find=NUMBER|NAME limit: neurons with what they receive and reach
 *   matrix   by=part|population: packets from part to part, or synapse events, in at most CM_MATRIX_SIDE_MAX rows
 *   routers  entries of their routing tables, where the chip limits these
 *   diff     limit: against another mapping of the network, what has moved and which cores have become fuller */
#pragma once

#include <stdio.h>

#include "base/run.h"
#include "core/mapping/detail.h"
#include "core/mapping/mapped.h"
#include "core/mapping/options.h"

enum { CM_MATRIX_SIDE_MAX = 512 };

typedef struct cm_structure {
#define SECTION(name, type) type *name; uint64_t name##_count;
#include "core/output/structure/structure.def"
#undef SECTION
  void *mapped; /* the file that sections stand in; NULL: each is a block of cm_allocate */
  size_t mapped_bytes;
} cm_structure;

/* Makes it of a mapping that these options made; the caller clears, after failures too. Opens phase "structure". O(synapses + metrics), and
 * that of routes where the chip limits tables. Errors: memory, those of the run. */
cm_status cm_structure_make(const cm_mapped *mapped, const cm_map_options *options, cm_run *run, cm_structure *made, cm_error *error);
void cm_structure_clear(cm_structure *s); /* harmless on a zeroed one */

/* Writes it to a stream, which keeps errors. */
void cm_structure_write(const cm_structure *s, FILE *stream);

/* Maps such a file; the descriptor stays the caller's. All that others count on is checked but `in`. O(neurons + pairs). CM_DAMAGED, CM_IO. */
cm_status cm_structure_open(int descriptor, cm_structure *s, cm_error *error);

/* Names and values by turns, NULL after the last. */
typedef const char *const *cm_arguments;

/* Writes the answer to a question; `other` is what "diff" compares with, else NULL. Errors: CM_BAD_OPTION, with the name of what
 * the question has wrong as its place; CM_NOT_FOUND: what it names is not there; CM_CONFLICT: no comparison; memory. */
cm_status cm_structure_answer(const cm_structure *s, const cm_structure *other, const char *kind, cm_arguments arguments, FILE *stream,
                              cm_error *error);

/* The same of a question as in an address, "links?limit=10&axons=5". */
cm_status cm_structure_ask(const cm_structure *s, const char *question, FILE *stream, cm_error *error);

/* Whether a text is one of these questions. */
bool cm_structure_is_question(const char *text);
