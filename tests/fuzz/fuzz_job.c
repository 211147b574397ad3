/* Whole jobs: degenerate networks, chips, presets and mappers through map, check, routes and certificate. */
#define JOB_SECONDS 2
#include "whole_job.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  (void)whole_job(data, size);
  return 0;
}
