/* NIR, the neuromorphic intermediate representation: a graph of nodes, in HDF5; and other files of layers that are read as such
 * a graph. What their readers share. */
#pragma once

#include "core/network/hdf5/h5.h"
#include "base/memory.h"
#include "base/run.h"
#include "base/status.h"
#include "core/network/import_limits.h"
#include "core/network/topology.h"

enum { NIR_RANK_MAX = 6, NIR_NAME_MAX = CM_POPULATION_NAME_MAX, NIR_NODES_MAX = CM_POPULATIONS_MAX };

/* What a node does with numbers. Units are neurons; all else is linear and is composed into synapses. */
typedef enum nir_kind {
  NIR_UNIT,
  NIR_IDENTITY, /* Output, Flatten, and the Input of a nested graph */
  NIR_AFFINE,
  NIR_CONV,     /* of one or two dimensions */
  NIR_POOL, NIR_SCALE, NIR_DELAY,
} nir_kind;

typedef struct nir_shape {
  int rank;
  uint64_t dim[NIR_RANK_MAX];
  uint64_t count; /* of elements; 0: not known yet */
} nir_shape;

/* One axis of a window. */
typedef struct nir_axis {
  int64_t kernel, stride, before, after, dilation;
} nir_axis;

typedef struct nir_numbers {
  float *value; /* [shape.count]; NULL: the file does not say it */
  nir_shape shape;
} nir_numbers;

typedef struct nir_node {
  char name[NIR_NAME_MAX]; /* "outer.inner" inside a nested graph */
  char type[CM_POPULATION_KIND_MAX];
  nir_kind kind;
  const char *format, *place; /* for messages: what the file is, and what stands before the name in it */
  bool input;              /* one of the outermost graph */
  bool flatten;
  int64_t flatten_first, flatten_last;
  nir_shape own;           /* of a unit's parameters or an Input: what the file says */
  bool exact;              /* a unit's own shape is not to be broadcast */
  cm_neuron_model model;   /* of a unit; CM_NEURON_MODELS: none that is known */
  nir_numbers parameter[CM_NEURON_PARAMETERS]; /* of a unit; of a linear node its bias, one for each row or channel */
  nir_shape in, out;       /* units: both the same */
  double *weight;          /* [output][input] and so on; Scale and Delay: [weight_shape.count] */
  nir_shape weight_shape;
  nir_axis axis[2];        /* rows, columns; of one dimension: the second alone */
  bool same;               /* padding "same" */
  bool average;
  int64_t groups;
  bool leads;              /* to a neuron; units too */
  uint32_t *next;          /* successors in natural order of their names */
  uint32_t next_count;
  uint32_t unit_first;     /* units: number of the first neuron */
  uint32_t population;     /* units */
} nir_node;

typedef struct nir_graph {
  cm_memory *memory;
  cm_run *run;
  nir_node *node;
  uint32_t count;
  uint64_t room;
  uint32_t (*edge)[2];
  uint64_t edge_count, edge_room;
  uint32_t *unit, unit_count; /* nodes that are neurons, in order of their numbers; once these are known */
  nir_shape input_shape; /* of the first layer, as it was asked for; no elements: it was not */
  bool input_used;
  char *nodes;           /* what stands in the file, for cm_dynamics */
  float *number;
  uint64_t number_count, number_room;
  int dropped_rank; /* windows found an axis of 1 in front of as many; 0: none did */
} nir_graph;

/* Reads nodes and edges of the file, nested graphs in place of their nodes. */
cm_status nir_read(const cm_h5 *h5, nir_graph *graph, cm_error *error);
void nir_free(nir_graph *graph);

/* The same of what lava-dl exports: layers one after another. */
cm_status lava_read(const cm_h5 *h5, nir_graph *graph, cm_error *error);

/* The model and parameters of a layer's neurons of that shape, by its group "neuron", into n; left where NIR's models cannot say them. */
cm_status lava_read_neurons(const cm_h5 *h5, hid_t group, double step_s, const nir_shape *shape, nir_node *n, cm_error *error);

/* Whether numbers are one for all, for each of the first axis, or for each; *spread: the shape that is then broadcast. */
bool nir_spreads(const nir_shape *read, const nir_shape *whole, nir_shape *spread);

/* Numbers of a node's weight: finite, of at most NIR_RANK_MAX dimensions. */
cm_status nir_read_weight(const cm_h5 *h5, hid_t group, const char *name, nir_node *node, cm_error *error);

/* What a node of n->kind is given, into n: of units the model, the parameters that it has, and the largest shape of them. CM_BAD_NETWORK
 * where it is missing, of another shape, not finite, or not above 0 where it must be. */
cm_status nir_read_parameters(const cm_h5 *h5, hid_t group, nir_node *n, cm_error *error);

/* A unit whose model or parameters are not known; NULL: all are. */
const nir_node *nir_without_model(const nir_graph *graph);

/* Keeps all that stands in the file: g->nodes and the numbers behind them. */
cm_status nir_keep_nodes(const cm_h5 *h5, nir_graph *graph, cm_error *error);

/* Makes made->dynamics with models and parameters, neuron by neuron; units have their numbers. CM_BAD_NETWORK: parameters of another
 * shape than their neurons. */
cm_status nir_dynamics(nir_graph *graph, cm_topology *made, cm_error *error);

/* One or two whole numbers from `least` to 2^20 into both axes; *found is false when there are none. */
cm_status nir_read_axes(const cm_h5 *h5, hid_t group, const char *name, int64_t least, int64_t value[2], bool *found,
                        cm_error *error);

/* Every edge once, each node's successors in order of their numbers. */
cm_status nir_link(nir_graph *graph, cm_error *error);

/* Which nodes lead to neurons, and an input for each of them that nothing feeds, in a graph without an Input: of the shape that
 * its weight says. CM_BAD_NETWORK: nothing says it, or the graph has an Input that should have fed it. */
cm_status nir_add_inputs(nir_graph *graph, cm_error *error);

/* CM_BAD_NETWORK at a node. */
cm_status nir_bad(const nir_node *node, const char *what, cm_error *error);

/* Fills every node's shapes from those of the inputs and of the neurons' parameters. */
cm_status nir_infer(nir_graph *graph, cm_error *error);

/* Numbers the neurons of all units, g->unit in their order, made->vertex_count of them; then names them and makes their populations. */
cm_status nir_number_units(nir_graph *g, const cm_import_limits *limits, cm_topology *made, cm_error *error);
cm_status nir_name_neurons(const nir_graph *g, cm_topology *made, cm_error *error);

/* What a node gives for 1 at element `at` of its input: calls `tap` for every output that is connected to it. */
typedef cm_status (*nir_tap)(void *user, uint64_t output, double weight, double delay_ms, cm_error *error);
cm_status nir_taps(const nir_node *node, uint64_t at, nir_tap tap, void *user, cm_error *error);

/* Broadcasting: the element of `shape` that stands at element `at` of `whole`. */
uint64_t nir_broadcast(const nir_shape *shape, const nir_shape *whole, uint64_t at);
bool nir_broadcasts(const nir_shape *shape, const nir_shape *whole);

/* A shape without the axes of 1 that stand before the last `rank`. */
nir_shape nir_without_leading(const nir_shape *shape, int rank);

/* A shape as people write it. */
cm_phrase nir_say_shape(const nir_shape *shape);
