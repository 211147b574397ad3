/* coremap: verifying a mapping, with code that shares nothing with what makes mappings. */
#ifndef COREMAP_CHECK_H
#define COREMAP_CHECK_H

#include <coremap/chip.h>
#include <coremap/network.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Checks the mapping file at `path`: every neuron once, every core free and used once, every limit, every figure that the file
 * states; with `certificate` (a path, or NULL) also all that it says. *report is a text, the caller's (coremap_text_free):
 * {"legal": true or false, "violations": how many, "listed": [sentences]}. A mapping that breaks rules is no failure.
 * O(synapses). Errors: bad-mapping (the file cannot be understood), not-found, cancelled, no-memory, io. */
int coremap_check(const char *path, const char *certificate, const coremap_network *network, const coremap_chip *chip,
                  coremap_progress progress, void *user, char **report, coremap_error **error);

/* The same with more beside the mapping; `beside` is a JSON object or NULL, of paths: "certificate"; "routes" (routes.json);
 * "units" (the export of that name: copies and relays); "program": the network is the tiles of this program and the mapping
 * where its units lie; and "again": true, which maps again with the options that the mapping states and compares all of it. Each
 * is looked at only where nothing before it was broken. *report has also "program_agrees": false where the program does
 * something else, which is a violation. Errors: also those of coremap_map. */
int coremap_check_beside(const char *path, const char *beside, const coremap_network *network, const coremap_chip *chip,
                         coremap_progress progress, void *user, char **report, coremap_error **error);

#ifdef __cplusplus
}
#endif

#endif
