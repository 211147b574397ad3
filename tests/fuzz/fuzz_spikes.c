/* Given spikes of three neurons, as lines or as an array of NumPy. */
#include "core/network/spikes.h"
#include "old.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  cm_error error = {.status = CM_OK};
  cm_memory memory;
  cm_run run;
  cm_spikes spikes;
  char path[64];
  int handle;
  old_file(data, size, &handle, path);
  cm_memory_init(&memory, 16 << 20);
  cm_run_init(&run);
  run.memory = &memory;
  if (cm_spikes_read(path, "spikes", &(cm_spike_ids){.neurons = 3}, &run, &spikes, &error) == CM_OK) {
    if (spikes.neurons != 3 || spikes.steps == 0 || spikes.steps > CM_SPIKE_STEPS_MAX || spikes.first[0] != 0 ||
        spikes.first[spikes.steps - 1] == spikes.first[spikes.steps]) /* the last step has a spike */
      abort();
    for (uint32_t s = 0; s < spikes.steps; s++)
      for (uint64_t i = spikes.first[s]; i < spikes.first[s + 1]; i++)
        if (spikes.neuron[i] > 2)
          abort();
    cm_spikes_free(&spikes);
  } else if (error.status == CM_INTERNAL || error.detail[0] == '\0')
    abort();
  if (memory.used_bytes != 0)
    abort();
  close(handle);
  return 0;
}
