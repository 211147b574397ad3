/* coremap: running programs that coremap_compile made. */
#ifndef COREMAP_PROGRAM_H
#define COREMAP_PROGRAM_H

#include <coremap/arrays.h>
#include <coremap/run.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coremap_program coremap_program;

/* Reads a program file; everything in it is checked. O(file). Errors: damaged with section and byte, too-large, not-found,
 * no-memory, io. */
int coremap_program_read(const char *path, coremap_progress progress, void *user, coremap_program **program, coremap_error **error);

/* {"chip", "memory_bytes" (of the chip), "inputs" and "outputs": [{"name", "type", "dims"}]}; the caller's. */
int coremap_program_about(const coremap_program *program, char **json, coremap_error **error);

/* Simulates the program: the time of every unit, and what it computes. `options` is a JSON object or NULL: "inputs", [FILE or
 * NAME=FILE] (.npy, .npz or raw little-endian elements; without a name in the program's order; what is not given is random by
 * "seed"); "output", a prefix of .npy files; "output_dir", a folder of raw elements; "timeline", a file (Chrome trace JSON); "nodes": true for a table of the time by node (docs/explanation/programs.md);
 * "model", an ONNX file that is computed on the same inputs; "check": true proves that nothing is read that was not written or
 * was overwritten, in any timing; "time": true computes nothing. *report is the caller's: {"chip", "time_ns", "units": {name:
 * {"lanes", "busy_ns"}}, "instructions", "loaded_bytes", "stored_bytes", "parameter_bytes", "copied_bytes", "peak_bytes",
 * "checked", "largest_relative_deviation" (from the model)}. O(program). Errors: bad-request (a file that fits no input),
 * bad-network (a model of other inputs or outputs), bad-option, damaged (lanes wait for each other for ever; what was read
 * wrongly), cancelled, not-found, no-memory, disk-full, io. */
int coremap_program_run(const coremap_program *program, const char *options, coremap_progress progress, void *user, char **report,
                        coremap_error **error);

/* The same with arrays in memory: `inputs` (NULL: none) has those that no file gives, by the names of the program's inputs and of
 * their types and dims; `outputs` (NULL: not asked) has the program's outputs instead of what it had, none of them with "time". Errors
 * further: bad-request (an array that is no input, or of another type or shape, or that a file gives too). */
int coremap_program_run_arrays(const coremap_program *program, const coremap_arrays *inputs, coremap_arrays *outputs, const char *options,
                               coremap_progress progress, void *user, char **report, coremap_error **error);

/* Writes its tensors and instructions as text. Errors: disk-full, io. */
int coremap_program_disassemble(const coremap_program *program, const char *path, coremap_error **error);

/* Writes the program as C99: code, header, weights, lanes, a test with stored inputs and outputs, a Makefile.
 * `options` is a JSON object: "output_dir", the folder, which is made, or "archive", a tar file; "target" ("host", ...), "name" of files and functions ("model"), "lanes" at most (as many as units that
 * compute, or one where threads would not pay), "seed" of the stored inputs, "weights": "arrays" of C, or "binary", a file of bytes, "pieces": true
 * for a test that also writes what each piece takes, as coremap_calibrate reads it. *report is the caller's: {"target", "lanes", "pieces", "kernels", "chip_bytes", "scratch_bytes",
 * "outside_bytes", "weight_bytes", "expected_ns"}. O(program), and a run of it. Errors: bad-option, bad-network (an operator of which no C is
 * written, with its node), too-large (more memory than the target has), damaged, cancelled, no-memory, disk-full, io. */
int coremap_program_emit(const coremap_program *program, const char *options, coremap_progress progress, void *user, char **report,
                         coremap_error **error);

void coremap_program_free(coremap_program *program); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
