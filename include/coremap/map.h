/* coremap: mapping a network on the free cores of a chip. */
#ifndef COREMAP_MAP_H
#define COREMAP_MAP_H

#include <stddef.h>

#include <coremap/chip.h>
#include <coremap/network.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coremap_mapping coremap_mapping;

/* Maps a network. `options` is a JSON object (docs/reference/options.md; coremap_options_text makes one) or NULL:
 * {"preset": "fast", "seed": 3, "threads": 2}; beside them paths: "from", of an older mapping to start from; "part", of parts that are
 * made already, one number a line, which are then placed; "policy_file", of mapper learned (coremap_train); "cache", a folder that keeps
 * coarsened levels between calls, one at a time, at most 1 GiB; and "alone": true where nobody else uses the network meanwhile, which
 * saves memory. The mapping breaks no limit of any core; the same input, options and seed give the same bytes for any number of threads.
 * It is the caller's (coremap_mapping_free), and keeps network and chip. Time and memory by preset: docs/reference/options.md. Errors: bad-option,
 * bad-mapping ("from", "part"), neuron-too-large, no-room, limit-broken, memory-limit, time-limit, cancelled, no-memory, disk-full, io. */
int coremap_map(const coremap_network *network, const coremap_chip *chip, const char *options, coremap_progress progress,
                void *user, coremap_mapping **mapping, coremap_error **error);

/* Says which of some chips, a list that NULL ends (NULL: all presets that networks are mapped on), would take a network, by their free cores; nothing is mapped. *json is the caller's: an array of {"chip", "cores",
 * "free", "fits": "yes" (parts were found that keep all limits), "no" (proved) or "unknown", "bound": that on cores (null: a neuron is too large),
 * "reason": why not (null: it fits), "cores_found": of those parts (null: none), "choices": as in reports of mappings, where the chip
 * states costs, "seconds": that a mapping takes}. O(chips * synapses). Errors: cancelled, no-memory. */
int coremap_fit(const coremap_network *network, const coremap_chip *const *chips, coremap_progress progress, void *user, char **json, coremap_error **error);

/* Opens the file of a mapping of `network` ("mapping" below); `chip` NULL: the one that the mapping describes, all cores free. It
 * has parts and places, and can be routed, exported, drawn and simulated; what else it is stands in its file. O(file + neurons).
 * Errors: bad-mapping with the byte, bad-chip, not-found, cancelled, no-memory, io. */
int coremap_mapping_open(const char *path, const coremap_network *network, const coremap_chip *chip, coremap_progress progress,
                         void *user, coremap_mapping **mapping, coremap_error **error);

/* The summary of the mapping in a file, without its network: *json is the caller's, as coremap_mapping_text gives "summary".
 * O(file). Errors: bad-mapping with the byte, not-found, no-memory, io. */
int coremap_mapping_about(const char *path, char **json, coremap_error **error);

/* Draws the Pareto set in a summary (of a mapping of objective pareto) as SVG: time of the busiest core against network energy,
 * with the lower bounds. Errors: bad-mapping (it has no set), disk-full, io. */
int coremap_pareto_draw(const char *summary, const char *path, coremap_error **error);

/* The part of each neuron [*neurons], and x, y of each part's core [2 * *parts]: they live as long as the mapping. O(1). */
const uint32_t *coremap_mapping_parts(const coremap_mapping *mapping, uint64_t *neurons);
const int32_t *coremap_mapping_places(const coremap_mapping *mapping, uint64_t *parts);

/* A metric of the mapping by its name ("energy_pj", "cut_net", ...; coremap_table "metrics" has all, docs/reference/mapping-formats.md their meaning), in
 * its unit. Of a mapping that was opened, as its file states it. O(metrics). Errors: not-found (there is none of that name, or its
 * value is a text), no-memory. */
int coremap_mapping_metric(const coremap_mapping *mapping, const char *name, double *value, coremap_error **error);

/* The cores of the region that was chosen for it, by number [*cores]: all that its parts have, and those between them. NULL and 0
 * of a mapping that was opened. O(1). */
const uint32_t *coremap_mapping_region(const coremap_mapping *mapping, uint64_t *cores);

/* What can be made of a mapping: "mapping" (all of it, as `coremap map -o` writes it), "summary" (without the bulk: chip,
 * options, metrics), "report" (of one just made: {"parts", "bound", "metrics", "attempts", "report"}, and for people "limits":
 * {name: {"most", "limit"}} of a core, "region", "scenarios" and "shown", the names of the metrics that say something of it),
 * "certificate", "picture:svg:LAYER", "picture:png:LAYER", a format of docs/reference/exports.md ("sanafe", "booksim", "traffic", ...), or
 * a view of docs/reference/mapping-formats.md by its file's name: "neurons", "cores" and "links" as .json, .csv and .bin, "mapping.part",
 * "placement.csv", or the answer to a question about its structure, as JSON that docs/reference/mapping-formats.md describes:
 * "links?limit=10&axons=5", "flows?core=3,4", "tree?neuron=7", "neurons?find=AVAL", "matrix?by=part". The first writes it into a file, whole or not at all; the second gives *size bytes and a zero behind them:
 * the caller's (coremap_text_free). Errors: bad-option (names what there is), conflict (the format cannot hold this mapping),
 * no-memory, disk-full, io. */
int coremap_mapping_write(const coremap_mapping *mapping, const char *what, const char *path, coremap_error **error);
int coremap_mapping_text(const coremap_mapping *mapping, const char *what, char **text, size_t *size, coremap_error **error);

/* coremap_mapping_write as a run of its own that tells its progress and can be stopped: exports of large networks take a while. */
int coremap_mapping_write_watched(const coremap_mapping *mapping, const char *what, const char *path, coremap_progress progress,
                                  void *user, coremap_error **error);

/* Writes the Pareto set of a mapping of objective pareto into a folder, made if missing: pareto.json (its table), pareto.svg,
 * and each mapping as pareto-1.json, pareto-2.json, ...; nothing for other objectives. Errors: disk-full, io, no-memory. */
int coremap_mapping_write_pareto(const coremap_mapping *mapping, const char *folder, coremap_error **error);

void coremap_mapping_free(coremap_mapping *mapping); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
