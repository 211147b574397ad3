/* Inputs that a model is calibrated with. */
#pragma once

#include "core/operators/graph.h"

typedef struct cm_samples {
  cm_tensor **tensors; /* [count * inputs], a sample's inputs side by side; one reference each */
  size_t count, inputs;
} cm_samples;

/* Reads samples in the order of their names: those of a folder, of a zip file that has one inside, or of a single file. Each is a file that cm_tensor_parse takes (of
 * several inputs a .npz, which may be the zip file), or a folder with such a file for each input, in the order of their names or named after them; a file with N times the numbers of its input
 * holds N samples, one after the other. At most `most` (0: all). O(bytes). Errors: CM_BAD_NETWORK (an input whose shape is open), CM_BAD_REQUEST
 * (no sample, or what is wrong with one), CM_TOO_LARGE, CM_NOT_FOUND, CM_IO, memory. */
cm_status cm_samples_read(const cm_model *model, const char *path, size_t most, cm_memory *memory, cm_samples *samples, cm_error *error);

/* Packs the files of a folder of samples into a zip file, which cm_samples_read takes: the same bytes from the same files. Errors: CM_BAD_REQUEST (no sample), CM_NOT_FOUND, CM_IO. */
cm_status cm_samples_pack(const char *folder, const char *out, cm_error *error);

/* Random samples: real numbers from -1 to 1, any byte, else 0. Errors: CM_BAD_NETWORK (an input whose shape is open), memory. */
cm_status cm_samples_random(const cm_model *model, size_t count, uint64_t seed, cm_memory *memory, cm_samples *samples, cm_error *error);

void cm_samples_free(cm_samples *samples);
