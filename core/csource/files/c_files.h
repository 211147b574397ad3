/* Internal to core/csource. */
#pragma once

#include "core/csource/text/writer.h"

/* The files around what was written: all texts of the writer are closed. *expected_ns is the time of the program on its chip. Errors: memory,
 * those of cm_simulate. */
cm_status cm_c_files(cm_c_writer *w, uint64_t seed, cm_c_file files[CM_C_FILES], double *expected_ns, cm_error *error);

/* The test, and what it stores: inputs of a seed and what the simulator makes of them in *expected_ns. Errors: as above. */
cm_status cm_c_test(const cm_c_writer *w, uint64_t seed, cm_c_file *test, cm_c_file *stored, double *expected_ns, cm_error *error);
