/* The C interface, which the Python package uses too: opaque results, and JSON texts for options, reports and problems. Only these symbols
 * show outside the shared library (interface.map). */
#ifndef COREMAP_INTERFACE_H
#define COREMAP_INTERFACE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coremap_result coremap_result;

/* Told of a phase and how far it is, 0 to 1; anything but 0 asks to stop. Called from the calling thread. */
typedef int (*coremap_progress)(void *user, const char *phase, double fraction);

/* "0.1.0". */
const char *coremap_version(void);

/* Maps a network file. `request` is {"chip": NAME or PATH, "options": {...} (docs/options.md), "format", "occupancy": PATH,
 * "from": PATH}, all but the chip optional. 0: *result is the caller's (coremap_result_free); else *problem is, a text
 * {"code", "detail", "where"} (coremap_free). Calls may run side by side. */
int coremap_map(const char *path, const char *request, coremap_progress progress, void *user, coremap_result **result,
                char **problem);

/* Part of each neuron [count], and x, y of each part [2 * count]: borrowed from the result. */
const uint32_t *coremap_parts(const coremap_result *result, uint64_t *count);
const int32_t *coremap_places(const coremap_result *result, uint64_t *count);

/* Writes into a file: "mapping" (coremap map -o), "summary", "certificate", "picture:svg:LAYER" or "picture:png:LAYER", or a
 * format of docs/exports.md. Errors as coremap_map. */
int coremap_write(const coremap_result *result, const char *what, const char *path, char **problem);

void coremap_result_free(coremap_result *result);
void coremap_free(char *text);

#ifdef __cplusplus
}
#endif

#endif
