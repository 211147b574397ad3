/* coremap: compiling ONNX models to programs of a chip with units. */
#ifndef COREMAP_COMPILE_H
#define COREMAP_COMPILE_H

#include <coremap/chip.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Compiles the model at `model` for a chip and writes what the last stage makes to `out`, whole or not at all: a program,
 * or what option "stop_after" asks for ("permutations", "split", "order", "tile", "mapping"); without a chip (NULL), the model
 * with its permutations taken out. `options` is a JSON object (docs/options.md) or NULL. *report is a text, the caller's
 * (coremap_text_free): figures by stage, the time, its lower bound and what limits it. Weights beside the model are read from
 * its folder alone. Errors: bad-network, bad-chip, bad-option (also open dimensions without a stated extent), too-large (names
 * the node), memory-limit, time-limit, cancelled, not-found, disk-full, io. */
int coremap_compile(const char *model, const coremap_chip *chip, const char *options, const char *out,
                    coremap_progress progress, void *user, char **report, coremap_error **error);

#ifdef __cplusplus
}
#endif

#endif
