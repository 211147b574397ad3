/* Program files: whatever the bytes, a reason, or a program that prints, runs within its memory, becomes C or not, and is written as it was. The
 * checksums are made right first, so that what lies behind them is reached. */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/csource/csource.h"
#include "core/machine/program/codec.h"
#include "core/machine/run/run_lanes.h"
#include "tests/fuzz/demand.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void mend(uint8_t *bytes, size_t size)
{
  size_t at = CM_PROGRAM_HEADER_BYTES;
  while (size >= at + CM_SECTION_HEADER_BYTES) {
    uint64_t length = 0;
    for (int i = 7; i >= 0; i--)
      length = length << 8 | bytes[at + 8 + (size_t)i];
    if (length > size - at - CM_SECTION_HEADER_BYTES)
      return;
    cm_section_hash(bytes + at + CM_SECTION_HEADER_BYTES, (size_t)length, bytes + at + 16);
    at += CM_SECTION_HEADER_BYTES + (size_t)length;
  }
}

static void simulate(const cm_program *p, cm_run *run)
{
  cm_error error = {.status = CM_OK};
  cm_simulation_options options = {.compute = true, .check = true};
  cm_simulation result;
  cm_tensor **inputs = calloc(p->input_count + 1, sizeof *inputs), **outputs = calloc(p->output_count + 1, sizeof *outputs);
  for (uint32_t i = 0; i < p->input_count; i++) {
    const cm_program_tensor *t = &p->tensors[p->inputs[i]];
    if (cm_tensor_new(run->memory, t->type, t->rank, t->dims, &inputs[i], &error) != CM_OK)
      break;
  }
  if (error.status == CM_OK && cm_simulate(p, inputs, &options, run, outputs, &result, &error) != CM_OK)
    demand(error.detail[0] != '\0', "a failure without a reason");
  for (uint32_t i = 0; i < p->input_count; i++)
    cm_tensor_free(inputs[i]);
  for (uint32_t o = 0; o < p->output_count; o++)
    cm_tensor_free(outputs[o]);
  free(inputs);
  free(outputs);
}

static void emit(const cm_program *p, const char *target, cm_run *run)
{
  cm_error error = {.status = CM_OK};
  cm_c_file files[CM_C_FILES];
  cm_c_options options;
  json_t *report;
  cm_c_options_default(&options);
  (void)snprintf(options.target, sizeof options.target, "%s", target);
  if (cm_c_make(p, &options, run, files, &report, &error) == CM_OK) {
    json_decref(report);
    cm_c_files_free(files);
  } else
    demand(error.status != CM_INTERNAL && error.detail[0] != '\0', "no C, without a reason");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  cm_error error = {.status = CM_OK};
  cm_memory memory;
  cm_run run;
  cm_program *p;
  uint8_t *bytes = malloc(size + 1);
  demand(bytes != NULL && sodium_init() >= 0, "no memory");
  memcpy(bytes, data, size);
  mend(bytes, size);
  cm_memory_init(&memory, 64 << 20);
  cm_run_init(&run);
  run.memory = &memory;
  run.deadline = cm_now() + 2;
  if (cm_program_read_memory(bytes, size, &run, &p, &error) == CM_OK) {
    FILE *nowhere = fopen("/dev/null", "w");
    if (nowhere != NULL) {
      (void)cm_program_disassemble(p, nowhere, &error);
      (void)fclose(nowhere);
    }
    simulate(p, &run);
    emit(p, cm_c_targets()[size % 4].name, &run);
    cm_program_free(p);
  } else
    demand(error.status != CM_INTERNAL && error.detail[0] != '\0', "a failure without a reason");
  free(bytes);
  demand(memory.used_bytes == 0, "bytes are still on the account");
  return 0;
}
