#include "core/deploy/deploy_request.h"

#include "core/network/spikes.h"

enum { THREADS_MAX = 1024 };

#define FIELD(name) offsetof(cm_deploy_request, name)
static const double most_bytes = 1152921504606846976.0; /* 2^60 */

static const cm_option options_of_deployments[] = {
  {"mapping", CM_OPTION_NAME, FIELD(mapping), 0, CM_DEPLOY_MAPPING_MAX, 0, {0}, NULL, false, CM_SHAPES_BOTH,
   .about = "the mapping by which the network lies on cores; one is made unless given"},
  {"steps", CM_OPTION_COUNT, FIELD(run.steps), 1, CM_SPIKE_STEPS_MAX, 0, {0}, NULL, false, CM_SHAPES_BOTH, .about = "time steps, from rest"},
#define RUNNING(name) FIELD(run.running.name)
#include "core/spiking/running_options.def"
#undef RUNNING
  {"seed", CM_OPTION_LONG_COUNT, FIELD(run.seed), 0, CM_OPTION_WHOLE_MOST, 1, {0}, NULL, false, CM_SHAPES_BOTH,
   .about = "of chance; 1 unless given"},
  {"threads", CM_OPTION_COUNT, FIELD(run.threads), 1, THREADS_MAX, THREADS_MAX, {0}, NULL, true, CM_SHAPES_BOTH,
   .about = "at most; never changes the result"},
  {"memory_limit", CM_OPTION_BYTES, FIELD(run.memory_limit), 0, most_bytes, 0, {0}, NULL, true, CM_SHAPES_BOTH, .about = "or 512M, 2G"},
  {"time_limit", CM_OPTION_POSITIVE, FIELD(run.time_limit), 0, 1e9, 0, {0}, NULL, true, CM_SHAPES_BOTH, .about = "seconds"},
};
const cm_options cm_deploy_option_table = {options_of_deployments, sizeof options_of_deployments / sizeof *options_of_deployments, "a deployment", NULL};

cm_status cm_deploy_options_read(const json_t *options, cm_deploy_request *request, cm_error *error)
{
  cm_deploy_request r = {.mapping = ""};
  cm_options_default(&cm_deploy_option_table, &r);
  CM_TRY(cm_options_read(&cm_deploy_option_table, options, &r, error));
  if (r.run.steps == 0)
    return cm_option_refuse(error, "steps", "how many time steps the network runs");
  CM_TRY(cm_running_check(&r.run.running, error));
  *request = r;
  return CM_OK;
}
