/* coremap: options set one by one, for programs that do not write JSON. */
#ifndef COREMAP_OPTIONS_H
#define COREMAP_OPTIONS_H

#include <coremap/error.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coremap_options coremap_options;

/* Options of a kind ("map", for partitions too, "compile", "simulate", "schedule"), none set yet; the caller's. Errors: not-found (no such kind),
 * no-memory. */
int coremap_options_new(const char *kind, coremap_options **options, coremap_error **error);

/* Sets an option by its name (coremap_table has all, and what they are) to a word, an id, a path or bytes like "2G"; to a whole number;
 * to a number; to true (not 0) or false. What was set before is replaced. Its value is looked at now, how it goes with others in the
 * call that they are for. O(options). Errors: bad-option with /options/NAME and what would be right, no-memory. */
int coremap_options_set_text(coremap_options *options, const char *name, const char *value, coremap_error **error);
int coremap_options_set_count(coremap_options *options, const char *name, uint64_t value, coremap_error **error);
int coremap_options_set_real(coremap_options *options, const char *name, double value, coremap_error **error);
int coremap_options_set_flag(coremap_options *options, const char *name, int value, coremap_error **error);

/* The options as a JSON object, for calls that take `options`: until one is set again, as long as they live. O(1). */
const char *coremap_options_text(const coremap_options *options);

void coremap_options_free(coremap_options *options); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
