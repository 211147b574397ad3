#include "core/spiking/profile_request.h"

#include "core/network/spikes.h"

enum { THREADS_MAX = 1024 };

#define FIELD(name) offsetof(cm_profile_request, name)
static const double most_bytes = 1152921504606846976.0; /* 2^60 */

static const cm_option options_of_profiles[] = {
  {"steps", CM_OPTION_COUNT, FIELD(steps), 1, CM_SPIKE_STEPS_MAX, 0, {0}, NULL, false, CM_SHAPES_BOTH, .about = "time steps, from rest"},
#define RUNNING(name) FIELD(running.name)
#include "core/spiking/running_options.def"
#undef RUNNING
  {"seed", CM_OPTION_LONG_COUNT, FIELD(seed), 0, CM_OPTION_WHOLE_MOST, 1, {0}, NULL, false, CM_SHAPES_BOTH,
   .about = "of chance; 1 unless given"},
  {"peaks", CM_OPTION_FLAG, FIELD(peaks), 0, 1, 0, {0}, NULL, false, CM_SHAPES_BOTH, .about = "also tell the spikes of each step"},
  {"threads", CM_OPTION_COUNT, FIELD(threads), 1, THREADS_MAX, THREADS_MAX, {0}, NULL, true, CM_SHAPES_BOTH,
   .about = "at most; never changes the result"},
  {"memory_limit", CM_OPTION_BYTES, FIELD(memory_limit), 0, most_bytes, 0, {0}, NULL, true, CM_SHAPES_BOTH, .about = "or 512M, 2G"},
  {"time_limit", CM_OPTION_POSITIVE, FIELD(time_limit), 0, 1e9, 0, {0}, NULL, true, CM_SHAPES_BOTH, .about = "seconds"},
};
const cm_options cm_profile_option_table = {options_of_profiles, sizeof options_of_profiles / sizeof *options_of_profiles, "a profile", NULL};

cm_status cm_running_check(const cm_running *r, cm_error *error)
{
  if (cm_spikes_are_given(&r->spikes) && r->poisson > 0)
    return cm_option_refuse(error, "poisson", "either spikes that are given or random ones, not both");
  if (r->poisson > 0 && r->dt <= 0)
    return cm_option_refuse(error, "dt", "seconds of a time step, for spikes that come so often a second");
  return CM_OK;
}

cm_status cm_profile_options_read(const json_t *options, cm_profile_request *request, cm_error *error)
{
  cm_profile_request r = {.steps = 0};
  cm_options_default(&cm_profile_option_table, &r);
  CM_TRY(cm_options_read(&cm_profile_option_table, options, &r, error));
  if (r.steps == 0)
    return cm_option_refuse(error, "steps", "how many time steps the network runs");
  CM_TRY(cm_running_check(&r.running, error));
  *request = r;
  return CM_OK;
}
