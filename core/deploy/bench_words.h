/* Commands as words that a test bench in Verilog reads by $readmemh (docs/reference/core-images.md). */
#pragma once

#include "base/status.h"

/* Of a file of commands, another: for each line a word of 32 hexadecimal digits. 4 are the number of the command: cores 0, param 1, pool 2, index 3,
 * route 4, input 5, run 6; then its numbers, 4 digits each, of input and run the first one 8; zeros behind them. Whole or not at all. Errors: CM_IO,
 * CM_DISK_FULL. O(file). */
cm_status cm_bench_words_write(const char *commands, const char *path, cm_error *error);
