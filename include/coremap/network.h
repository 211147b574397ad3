/* coremap: networks of neurons and synapses. */
#ifndef COREMAP_NETWORK_H
#define COREMAP_NETWORK_H

#include <coremap/run.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coremap_network coremap_network;

#define COREMAP_NEURONS_MAX 2147483646 /* that a network may have */

#define COREMAP_LOOKS_LIKE_MODEL 1
#define COREMAP_LOOKS_CONFINED 2

/* What a file looks like by its first bytes, in *looks: a sum of COREMAP_LOOKS_LIKE_MODEL, an ONNX model, which coremap_compile
 * takes; and COREMAP_LOOKS_CONFINED, of a format whose library does not withstand damaged files, so that coremap_network_read
 * reads it in a confined process. `format` (a name of the table "formats", "onnx", or NULL) is right whatever the bytes say. O(1).
 * Errors: not-found, no-memory, io. */
int coremap_look(const char *path, const char *format, unsigned *looks, coremap_error **error);

/* Reads a network file of any supported format, recognised by content. `options` is a JSON object or NULL: "format"
 * (a name, right whatever the bytes say), "columns", "zeros", "directed" ("auto", "yes", "no"), "rates", the path of a table of measured rates; "parameters", that of a table of models and parameters;
 * "name", the file's where its path is another; "id": false where mappings need not name the network by its file's SHA-256, which
 * then is not made; and "confined": true where the process is confined already (coremap_look).
 * O(synapses log(synapses per neuron)). Errors: bad-network, bad-option, too-large, not-found, io, memory. */
int coremap_network_read(const char *path, const char *options, coremap_progress progress, void *user,
                         coremap_network **network, coremap_error **error);

/* A network from compressed sparse rows: neuron v has synapses to target[first[v]] .. target[first[v + 1] - 1], in any
 * order; first[0] is 0. `weight` has one for each synapse, NULL: 1 each; repeated synapses are added up. All is copied.
 * O(synapses log(synapses per neuron)). Errors: bad-network (offsets that descend, a target that is no neuron, a weight
 * that is not finite, no neurons), too-large, no-memory. */
int coremap_network_from_csr(uint32_t neurons, const uint64_t *first, const uint32_t *target, const double *weight,
                             coremap_network **network, coremap_error **error);

/* A graph from the rows of METIS (xadj, adjncy, adjwgt): vertex v has neighbours neighbour[first[v]] .. neighbour[first[v + 1] - 1],
 * in any order, and each edge stands in both rows with one weight; loops are dropped. Else as coremap_network_from_csr. Errors: also
 * bad-network where an edge stands in one row alone. */
int coremap_network_from_graph(uint32_t vertices, const uint64_t *first, const uint32_t *neighbour, const double *weight,
                               coremap_network **network, coremap_error **error);

/* Edges from[i] -> to[i] with weight[i] [edges], NULL: 1 each; repeated edges are added up. Directed, they are synapses; else a graph's,
 * as igraph has them, where each stands once and loops are dropped. All is copied. O(edges log(edges per neuron)). Errors: bad-network,
 * too-large, no-memory. */
int coremap_network_from_edges(uint32_t neurons, uint64_t edges, const uint32_t *from, const uint32_t *to, const double *weight,
                               int directed, coremap_network **network, coremap_error **error);

/* A hypergraph from the arrays of hMETIS, PaToH and KaHyPar: net e has the pins pin[first[e]] .. pin[first[e + 1] - 1], the first of
 * which is its source (of nets without a direction, any), and the rate rate[e], 0 or more [nets], NULL: 1 each. Nets of one vertex
 * are dropped. All is copied. O(pins log(pins per net)). Errors: bad-network, too-large, no-memory. */
int coremap_network_from_nets(uint32_t vertices, uint32_t nets, const uint64_t *first, const uint32_t *pin, const double *rate,
                              coremap_network **network, coremap_error **error);

/* Gives every neuron a size [neurons]: what it takes of a core's neurons (METIS's vwgt); 1 each before. Copied. Only of a network of
 * which nothing has been made yet, and that no other call is using. It is no longer that of its file, and has no id. O(neurons).
 * Errors: conflict (a mapping has it), no-memory. */
int coremap_network_set_sizes(coremap_network *network, const uint32_t *size, coremap_error **error);

/* Gives the axons of every neuron a rate [neurons], 0 or more: packets a step; NAN: they keep theirs, 1 unless the network says
 * otherwise. Under the same conditions. O(synapses). Errors: bad-network (a graph, whose edges carry no rates; a negative rate),
 * too-large, conflict, no-memory. */
int coremap_network_set_rates(coremap_network *network, const double *rate, coremap_error **error);

/* Gives every neuron a model (neuron_models.def's names: "LIF") [neurons], NULL: as it was, and `count` parameters by name, value[i]
 * [neurons], NAN: as it was, or what a file that does not say it means. Under the same conditions. O(neurons). Errors: bad-option (no
 * such model or parameter), bad-network (a graph; a neuron that lacks a parameter, has one that its model has not, or one that is not
 * finite or not above 0 where it must be), conflict, no-memory. */
int coremap_network_set_parameters(coremap_network *network, const char *const *model, size_t count, const char *const *name,
                                   const float *const *value, coremap_error **error);

/* A parameter of every neuron [neurons], 0 where its model has it not; NULL: no neuron has it. And the model of a neuron; NULL: none is
 * known. They live until the network is freed or given parameters. O(1). */
const float *coremap_network_parameter(const coremap_network *network, const char *name);
const char *coremap_network_model(const coremap_network *network, uint32_t neuron);

/* Writes the network, whole or not at all; the format is what the name's ending says (.zip, .snn, .graph, .hgr, .mtx, .csv,
 * .tsv). Errors: bad-option, disk-full, io. */
int coremap_network_write(const coremap_network *network, const char *path, coremap_error **error);

/* The same in the format that `as` says, whatever the path is called: a format's name, or an ending ("tsv", "csv.gz"); NULL: the
 * path's. Errors: also cancelled. */
int coremap_network_write_as(const coremap_network *network, const char *path, const char *as, coremap_progress progress, void *user,
                             coremap_error **error);

/* What the network is, as JSON that is the caller's: {"format" ("": it came from no file), "gzipped", "directed", "bytes" and
 * "plain_bytes" of its file, "neurons", "inputs", "synapses", "hyperedges", "labels", "delays", "signs", "populations":
 * [{"name", "kind", "neurons"}], "report": {"duplicates", "self_loops", "empty_nets", "zeros"} (what reading merged, kept or
 * dropped), "inhibitory", "reading": {"why", "columns", "header", "ids", "directed", "merged", "dropped", "ignored", "rows"} (what was
 * understood of the file), where it is known how it runs "dynamics": {"models": [{"population" (where it has some), "model", "neurons",
 * "parameters": {NAME: {"least", "most", "mean"}}}], "parallel" (synapses beside others of another delay)}}, and with `degrees` "size" (of all neurons) and {"median", "largest"} of "fan_out" and "fan_in".
 * O(neurons), with degrees O(synapses). Errors: no-memory. */
int coremap_network_about(const coremap_network *network, int degrees, char **json, coremap_error **error);

uint32_t coremap_network_neurons(const coremap_network *network);
uint64_t coremap_network_synapses(const coremap_network *network);

/* What the network calls a neuron, or NULL; lives as long as the network. */
const char *coremap_network_name(const coremap_network *network, uint32_t neuron);

void coremap_network_free(coremap_network *network); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
