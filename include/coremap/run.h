/* coremap: the library's version, progress of long calls, and texts that it gives away.
 *
 * Calls may run side by side on different threads. Networks, chips and mappings never change once they are made, but
 * for the calls ..._set_...: any number of threads may read them, and each is freed when its owner and all that were made of it have let go. */
#ifndef COREMAP_RUN_H
#define COREMAP_RUN_H

#include <coremap/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "0.8.0". */
const char *coremap_version(void);

/* Told of a phase ("read", "partition", "place", ...) and how far it is, 0 to 1, at most some ten times a second, from
 * the thread that called. Anything but 0 asks the call to stop: it fails with code "cancelled" soon after. */
typedef int (*coremap_progress)(void *user, const char *phase, double fraction);

/* Frees a text that a function gave away; NULL is allowed. */
void coremap_text_free(char *text);

#ifdef __cplusplus
}
#endif

#endif
