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

/* Whether a mapping keeps constraints, JSON {"constraints": [...]} (docs/reference/constraints.md), by code of its own. Errors: limit-broken names a neuron;
 * bad-option at the JSON pointer of what is wrong; no-memory. */
int coremap_constraints_check(const coremap_mapping *mapping, const char *constraints, coremap_error **error);

#ifdef __cplusplus
}
#endif

#endif
