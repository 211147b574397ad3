/* Images of cores, in JSON or binary: whatever the bytes, a reason, or images that are the same when read again and that are judged. The checksum of the
 * binary form is made right first, so that what lies behind it is reached. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "core/verify/images_check.h"
#include "core/verify/images_read.h"
#include "tests/fuzz/demand.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void mend(uint8_t *bytes, size_t size)
{
  enum { SUM = 4 };
  if (size < SUM || memcmp(bytes, "CMIMAGES", size < 8 ? size : 8) != 0)
    return;
  const uLong sum = crc32_z(crc32_z(0, NULL, 0), bytes, size - SUM);
  for (size_t i = 0; i < SUM; i++)
    bytes[size - SUM + i] = (uint8_t)(sum >> 8 * i);
}

/* Judged by a chip with room for little, so that endless runs are none. */
static void judge(const cm_read_images *images, cm_run *run)
{
  cm_error error = {.status = CM_OK};
  cm_chip *chip;
  cm_images_verdict verdict = {.spikes = 0};
  demand(cm_chip_mesh(4, 4, &chip, &error) == CM_OK, "no chip");
  chip->limits.neurons = 64;
  chip->images.pool_entries = 256;
  if (cm_images_judge(images, "/nowhere", chip, run, &verdict, &error) == CM_OK)
    cm_check_result_free(&verdict.result);
  else
    demand(error.status != CM_INTERNAL && error.detail[0] != '\0', "a verdict fails without a reason");
  cm_chip_free(chip);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  cm_error error = {.status = CM_OK};
  cm_memory memory;
  cm_run run;
  cm_read_images images, again;
  uint8_t *bytes = malloc(size + 1);
  demand(bytes != NULL, "no memory");
  memcpy(bytes, data, size);
  bytes[size] = '\0';
  mend(bytes, size);
  cm_memory_init(&memory, 64 << 20);
  cm_run_init(&run);
  run.memory = &memory;
  run.deadline = cm_now() + 2;
  if (cm_images_parse((const char *)bytes, size, &run, &images, &error) == CM_OK) {
    demand(cm_images_parse((const char *)bytes, size, &run, &again, &error) == CM_OK && cm_read_images_same(&images, &again), "read again they are others");
    cm_read_images_free(&again);
    judge(&images, &run);
    cm_read_images_free(&images);
  } else
    demand(error.status != CM_INTERNAL && error.detail[0] != '\0', "a failure without a reason");
  free(bytes);
  demand(memory.used_bytes == 0, "bytes are still on the account");
  return 0;
}
