/* How much the method for the least edge cut does, by preset. */
#include "core/solver/mappers/axon_engine.h"

/* Effort of the presets on edges. */
static const cm_edge_options edge_efforts[] = {
  [CM_PRESET_FAST] = {.starts = 1, .tries = 3, .coarse_vertices = 30, .label_rounds = 3, .fm_rounds = 2, .loose_rounds = 1,
                      .rounds = 2, .patience = 20, .least_tie = 0.5, .split_sweeps = 2, .sweeps = 4, .more_sweeps = 2},
  [CM_PRESET_BALANCED] = {.starts = 2, .starts_many = 1, .tries = 6, .coarse_vertices = 30, .label_rounds = 3,
                          .fm_rounds = 3, .loose_rounds = 2, .large_once = true, .rounds = 3, .patience = 50, .least_tie = 0.1,
                          .flow_reach = 3, .flow_rounds = 2, .flow_worth = 0.001, .cycles = 1,
                          .split_sweeps = 3, .sweeps = 5, .more_sweeps = 8},
  [CM_PRESET_BEST] = {.starts = 8, .tries = 4, .coarse_vertices = 50, .anneal_sweeps = 300, .label_rounds = 4,
                      .fm_rounds = 10, .loose_rounds = 5, .rounds = 6, .patience = 120, .least_tie = 0.1,
                      .flow_reach = 4, .flow_rounds = 2, .flow_worth = 0.0002, .cycles = 4,
                      .below = &edge_efforts[CM_PRESET_BALANCED], .members = 3, .unions = 12, .split_sweeps = 8, .sweeps = 20},
};

cm_edge_options cm_engine_edge_options(const cm_engine_task *task, uint32_t preset)
{
  cm_edge_options options = edge_efforts[preset];
  options.most = task->limits.neurons;
  options.parts = task->parts;
  options.parts_max = task->parts_max;
  options.seed = task->input->options->seed;
  return options;
}
