#include "core/solver/presets.h"

#define PRESET(number, name, facts, ...) [CM_PRESET_##number] = {__VA_ARGS__},
const cm_effort cm_efforts[CM_PRESETS] = {
#include "core/mapping/presets.def"
};
#undef PRESET

const cm_effort *cm_effort_least(const cm_effort *effort)
{
  while (effort->below != NULL)
    effort = effort->below;
  return effort;
}
