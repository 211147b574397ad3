/* Happy path: the chips that the job's owner sees, with their occupancies -> the network -> which of them take it. What can fail: anything,
 * and then the refusal stands as it is. */
#include "daemon/refusal.h"

#include "api/fits.h"
#include "base/json.h"
#include "library/private/base.h"
#include "library/private/stored.h"
#include "storage/chips.h"
#include "storage/networks.h"

enum { CHIPS_MAX = 64 };

static void look(cm_store *store, const cm_job *job, const coremap_chip *const *chips, cm_error *why)
{
  cm_error ignored;
  cm_memory memory;
  cm_run run;
  coremap_network *network = NULL;
  coremap_chip *own = NULL;
  json_t *options = cm_json_loadb(job->options, strlen(job->options), 0, NULL);
  char path[CM_PATH_MAX];
  cm_memory_init(&memory, 0);
  cm_run_init(&run);
  run.memory = &memory;
  if (cm_chips_open(store, job->chip, &own, &ignored) == CM_OK && cm_networks_path(store, job->network, path, &ignored) == CM_OK &&
      library_network_load(path, "", library_on_run, &run, &network, NULL) == 0)
    library_name_chips(network, chips, own, options, &run, why);
  coremap_network_free(network);
  coremap_chip_free(own);
  json_decref(options);
  cm_run_finish(&run);
}

void cm_refusal_name_chips(cm_store *store, const cm_job *job, cm_error *why)
{
  const cm_viewer viewer = {job->owner.user, job->owner.group, false};
  cm_error ignored;
  cm_network about;
  coremap_chip *chips[CHIPS_MAX + 1] = {NULL};
  size_t count = 0;
  if ((why->status != CM_NO_ROOM && why->status != CM_NEURON_TOO_LARGE) || job->network[0] == '\0' ||
      cm_networks_get(store, job->network, &about, &ignored) != CM_OK || about.synapses > LIBRARY_LOOKED_AT_MAX ||
      cm_fits_open_all(store, &viewer, CHIPS_MAX, chips, &count, &ignored) != CM_OK)
    return;
  look(store, job, (const coremap_chip *const *)chips, why);
  for (size_t i = 0; i < count; i++)
    coremap_chip_free(chips[i]);
}
