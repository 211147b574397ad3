/* coremap: nodes on tiles under constraints, or a proof that there are no places. */
#ifndef COREMAP_SOLVE_H
#define COREMAP_SOLVE_H

#include <coremap/map.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Solves the placement problem in a text of JSON (docs/reference/constraints.md: array, nodes, edges, nets, constraints). `options` is a JSON object or
 * NULL: "seed", "effort", "time_limit". *answer is JSON, the caller's (coremap_text_free): {"answer": "places" | "impossible" | "unknown", "places":
 * {NODE: [x, y]}, "hops", "optimal", "reason": {"words", "minimal", "because", "nodes"}}. Places are checked before they are given. Same problem and
 * options: same answer. Errors: bad-option at the JSON pointer of what is wrong, too-large, time-limit, cancelled, memory-limit, no-memory. */
int coremap_solve(const char *problem, const char *options, coremap_progress progress, void *user, char **answer, coremap_error **error);

/* The same of a file. Errors also not-found, io. */
int coremap_solve_file(const char *path, const char *options, coremap_progress progress, void *user, char **answer, coremap_error **error);

/* A chip on which a network's constraints of place hold: cores that a pin of populations tells apart become classes that take who may lie there, so that every
 * mapping on it keeps them. `constraints` is JSON, {"constraints": [...]} with pin and not_here (docs/reference/constraints.md). The caller's:
 * coremap_chip_free. Errors: bad-option at the JSON pointer of what is wrong, too-large, no-memory. */
int coremap_chip_constrain(const coremap_chip *chip, const coremap_network *network, const char *constraints, coremap_chip **made, coremap_error **error);

/* Whether a mapping keeps them, by code of its own. Errors: limit-broken names a neuron; those of reading. */
int coremap_constraints_check(const coremap_mapping *mapping, const char *constraints, coremap_error **error);

#ifdef __cplusplus
}
#endif

#endif
