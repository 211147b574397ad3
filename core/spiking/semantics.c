#include "core/spiking/semantics.h"

const cm_semantics cm_semantics_table[CM_SEMANTICS] = {
#define SEMANTICS(number, name, decay, current, reset, output, first, about)                                                              \
  {name, CM_DECAY_##decay, CM_CURRENT_##current, CM_RESET_##reset, output, CM_FIRST_##first, about, 0, false},
#include "core/spiking/semantics.def"
#undef SEMANTICS
};
