/* coremap: compiling ONNX models to programs of a chip with units. */
#ifndef COREMAP_COMPILE_H
#define COREMAP_COMPILE_H

#include <coremap/chip.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Compiles the model at `model` for a chip and writes what the last stage makes to `out`, whole or not at all: a program,
 * or what option "stop_after" asks for ("permutations", "split", "order", "tile", "mapping"); without a chip (NULL), the model
 * with its permutations taken out. A chip that runs no programs (its file has no "machine") is bad-chip. `options` is a JSON object (docs/reference/options.md) or NULL. *report is a text, the caller's
 * (coremap_text_free): figures by stage, the time, its lower bound and what limits it. Weights beside the model are read from
 * its folder alone. Errors: bad-network, bad-chip, bad-option (also open dimensions without a stated extent), too-large (names
 * the node), memory-limit, time-limit, cancelled, not-found, disk-full, io. */
int coremap_compile(const char *model, const coremap_chip *chip, const char *options, const char *out,
                    coremap_progress progress, void *user, char **report, coremap_error **error);

/* The same with more than a program; `files` is a JSON object or NULL: paths for "timeline" (when each unit does what, Chrome
 * trace JSON), "tiles" (the program's pieces as a network) and "mapping" (these on the chip's cores); "measure", a command that
 * scores orders on the real target (docs/explanation/orders.md); "beside": false where no weights outside the model's file are to be read. */
int coremap_compile_files(const char *model, const coremap_chip *chip, const char *options, const char *files, const char *out,
                          coremap_progress progress, void *user, char **report, coremap_error **error);

/* The stage that these options and this chip (NULL: none) end in: "permutations", "split", ..., which is not to be freed. Errors:
 * bad-option. */
int coremap_compile_last(const char *options, const coremap_chip *chip, const char **stage, coremap_error **error);

/* Writes a float32 model with its products in 8-bit integers (QuantizeLinear and DequantizeLinear) to `out`, an ONNX file that
 * coremap_compile turns into integer programs; scales follow from samples. `options` is a JSON object or NULL: those of quantize
 * jobs (docs/reference/options.md), "data", a folder of samples (docs/how-to/quantizing.md; random numbers unless given), and "beside" as above. *report is the
 * caller's text: how wrong each product and each output is. Errors: bad-network (also: nothing to quantize), bad-request (samples), bad-option,
 * memory-limit, time-limit, cancelled, not-found, disk-full, io. */
int coremap_quantize(const char *model, const char *options, const char *out, coremap_progress progress, void *user, char **report,
                     coremap_error **error);

/* What a model is, as JSON that is the caller's: {"opset", "producer", "operators": how many, "permutation_bytes" (that
 * permutations move), "inputs" and "outputs": [{"name", "type", "dims": [extent, or the name of an open one, or null]}]}, no
 * "dims": their number is not known. `options`: "shape", as of jobs. Weights beside the model are read from its folder alone.
 * Errors: bad-network (also: it is no model), bad-option, too-large, not-found, no-memory, io. */
int coremap_model_about(const char *model, const char *options, char **json, coremap_error **error);

#ifdef __cplusplus
}
#endif

#endif
