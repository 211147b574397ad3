/* Networks as images of a chip's cores. */
#include "base/json.h"
#include "core/deploy/deploy.h"
#include "core/deploy/deploy_request.h"
#include "core/verify/images_check.h"
#include "library/internal.h"
#include "library/private/base.h"

enum { TRIES = 8 };

struct coremap_deployment {
  coremap_network *network;
  coremap_chip *chip;
  cm_memory memory;
  cm_profile reference;
  cm_deployment made;
};

/* What is under way. */
typedef struct deploying {
  coremap_deployment *d;
  cm_deploy_request asked;
  char mapping[CM_PATH_MAX]; /* "": none is given */
  cm_run *run;
} deploying;

static cm_status deploy_by(deploying *at, const cm_mapped *mapped, cm_error *error)
{
  return cm_deploy(&at->d->reference, mapped, at->run, &at->d->made, error);
}

/* All on one core that is free: synapses need no relays there. */
static cm_status deploy_alone(deploying *at, cm_error *error)
{
  const cm_chip *chip = at->d->chip->chip;
  const cm_topology *t = at->d->network->topology;
  const uint32_t core = cm_occupancy_next(at->d->chip->occupancy, 0, CM_CORE_FREE);
  uint32_t *part;
  if (core >= cm_chip_cores(chip) || (chip->limits.neurons != 0 && t->vertex_count > chip->limits.neurons))
    return cm_fail(error, CM_LIMIT_BROKEN, "the network does not fit one core");
  CM_TRY(CM_NEW(at->run->memory, part, t->vertex_count, error));
  const cm_demand demand = cm_demand_of(t);
  const cm_mapped mapped = {.demand = &demand, .chip = chip, .part = part, .parts = 1, .core = &core};
  const cm_status status = deploy_by(at, &mapped, error);
  cm_free(part);
  return status;
}

static cm_status find_largest(const cm_mapped *mapped, cm_memory *memory, uint32_t *most, cm_error *error)
{
  uint32_t *size;
  CM_TRY(CM_NEW(memory, size, mapped->parts, error));
  *most = 0;
  for (uint32_t v = 0; v < mapped->demand->network->vertex_count; v++)
    if (++size[mapped->part[v]] > *most)
      *most = size[mapped->part[v]];
  cm_free(size);
  return CM_OK;
}

/* Maps with parts of at most *most neurons (0: any) and deploys; where that breaks a limit, *most is what to try next. */
static cm_status deploy_parts(deploying *at, uint32_t *most, cm_error *error)
{
  coremap_mapping *mapping = NULL;
  coremap_error *why = NULL;
  char options[128];
  uint32_t largest = 0;
  (void)snprintf(options, sizeof options, "{\"preset\": \"fast\", \"seed\": %llu, \"max_part_size\": %u}", (unsigned long long)at->asked.run.seed, *most);
  cm_status status = library_status(coremap_map(at->d->network, at->d->chip, options, library_on_run, at->run, &mapping, &why), &why, error);
  CM_THEN(status, find_largest(&mapping->mapped, at->run->memory, &largest, error));
  CM_THEN(status, deploy_by(at, &mapping->mapped, error));
  *most = largest - largest / 5 - (largest > 0);
  coremap_mapping_free(mapping);
  return status;
}

/* On one core, or else with ever smaller parts; what the last try lost is told where there is no room for smaller ones. */
static cm_status deploy_anywhere(deploying *at, cm_error *error)
{
  uint32_t most = 0;
  cm_status status = deploy_alone(at, error);
  for (int k = 0; k < TRIES && status == CM_LIMIT_BROKEN && (k == 0 || most > 0); k++) {
    const cm_error lost = *error;
    status = deploy_parts(at, &most, error);
    if (status == CM_NO_ROOM && k > 0) {
      *error = lost;
      return lost.status;
    }
  }
  return status;
}

static cm_status deploy_given(deploying *at, cm_error *error)
{
  coremap_mapping *mapping = NULL;
  coremap_error *why = NULL;
  cm_status status = library_status(coremap_mapping_open(at->mapping, at->d->network, at->d->chip, library_on_run, at->run, &mapping, &why), &why, error);
  CM_THEN(status, deploy_by(at, &mapping->mapped, error));
  coremap_mapping_free(mapping);
  return status;
}

static cm_status deploy(coremap_deployment *d, json_t *object, library_run *r, cm_error *error)
{
  library_stimulus from;
  deploying at = {.d = d, .run = r->run};
  if (cm_deploy_check(d->chip->chip, error) != CM_OK || library_stimulus_take(object, &from, error) != CM_OK ||
      library_take_text(object, "mapping_file", at.mapping, error) != CM_OK || cm_deploy_options_read(object, &at.asked, error) != CM_OK)
    return error->status;
  if (at.asked.mapping[0] != '\0')
    return cm_option_refuse(error, "mapping", "left out: a server knows mappings by ids, here option mapping_file names a file");
  r->run->threads = json_object_get(object, "threads") != NULL ? at.asked.run.threads : r->run->threads;
  r->run->deadline = at.asked.run.time_limit > 0 ? cm_now() + at.asked.run.time_limit : 0;
  r->run->memory->limit_bytes = at.asked.run.memory_limit;
  CM_TRY(library_profile(d->network->topology, &from, &at.asked.run, r->run, &d->reference, error));
  return at.mapping[0] != '\0' ? deploy_given(&at, error) : deploy_anywhere(&at, error);
}

int coremap_deploy(const coremap_network *network, const coremap_chip *chip, const char *options, coremap_progress progress, void *user,
                   coremap_deployment **deployment, coremap_error **error)
{
  cm_error e;
  library_run r;
  json_t *object = NULL;
  coremap_deployment *made = calloc(1, sizeof *made);
  library_begin(&r, progress, user);
  cm_status status = cm_whole(made != NULL, "a deployment", &e);
  if (status == CM_OK) {
    cm_memory_init(&made->memory, 0);
    library_outlive(&r, &made->memory);
    made->network = (coremap_network *)(uintptr_t)network;
    made->chip = (coremap_chip *)(uintptr_t)chip;
    atomic_fetch_add(&made->network->owners, 1);
    atomic_fetch_add(&made->chip->owners, 1);
    status = library_options(options, &object, &e);
  }
  CM_THEN(status, deploy(made, object, &r, &e));
  cm_run_finish(r.run);
  json_decref(object);
  LIBRARY_END(status, *deployment = made, coremap_deployment_free(made));
}

int coremap_deployment_report(const coremap_deployment *deployment, char **json, coremap_error **error)
{
  cm_error e;
  const uint64_t before = cm_json_refusals();
  return library_tell(library_whole_text(cm_deployment_report(&deployment->made), before, json, &e), &e, error);
}

int coremap_deployment_write(const coremap_deployment *deployment, const char *folder, coremap_error **error)
{
  cm_error e;
  return library_tell(cm_deployment_write(&deployment->made, folder, &e), &e, error);
}

void coremap_deployment_free(coremap_deployment *deployment)
{
  if (deployment == NULL)
    return;
  cm_deployment_free(&deployment->made);
  cm_profile_free(&deployment->reference);
  coremap_network_free(deployment->network);
  coremap_chip_free(deployment->chip);
  free(deployment);
}

static json_t *verdict_json(const cm_images_verdict *v)
{
  json_t *list = json_array();
  for (uint32_t i = 0; i < v->result.listed; i++)
    (void)json_array_append_new(list, json_string(v->result.violations[i]));
  return json_pack("{s:b, s:I, s:o, s:I, s:I, s:I, s:I}", "legal", v->result.violation_count == 0, "violations", (json_int_t)v->result.violation_count, "listed", list,
                   "cores", (json_int_t)v->cores, "neurons", (json_int_t)v->neurons, "synapses", (json_int_t)v->synapses, "spikes", (json_int_t)v->spikes);
}

int coremap_images_check(const char *folder, const coremap_chip *chip, coremap_progress progress, void *user, char **report, coremap_error **error)
{
  cm_error e;
  library_run r;
  cm_images_verdict verdict = {.spikes = 0};
  library_begin(&r, progress, user);
  cm_status status = cm_images_check(folder, chip->chip, r.run, &verdict, &e);
  const uint64_t before = cm_json_refusals();
  CM_THEN(status, library_whole_text(verdict_json(&verdict), before, report, &e));
  cm_check_result_free(&verdict.result);
  cm_run_finish(r.run);
  return library_tell(status, &e, error);
}
