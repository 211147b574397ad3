/* The mapping that is mapped from: its neurons and cores, known again in the network and on the chip of now. */
#include <errno.h>
#include <string.h>

#include "base/option.h"
#include "core/network/identity.h"
#include "core/solver/incremental/remapping.h"
#include "core/verify/check_read.h"

static cm_status read_old(cm_remapping *r, cm_error *error)
{
  cm_run_phase(r->run, "load-old");
  FILE *stream = fopen(r->input->from, "rbe");
  if (stream == NULL)
    return cm_fail_errno(error, errno, "cannot open", r->input->from);
  cm_status status = cm_check_read(stream, CM_VERTICES_MAX, CM_CHIP_CORES_MAX, r->run, &r->old, error);
  fclose(stream);
  if (status != CM_OK)
    return status;
  if (json_object_get(json_object_get(json_object_get(r->old.rest, "report"), "leaving"), "copies") != NULL)
    return cm_option_refuse(error, "from", "left out: the old mapping has copies of neurons, which are not mapped again");
  if (!r->old.has_neurons || !r->old.has_cores)
    return cm_fail(error, CM_BAD_MAPPING, "the old mapping has no \"%s\"; only the full JSON view can be mapped from",
                   r->old.has_neurons ? "cores" : "neurons");
  for (uint64_t v = 0; v < r->old.kept_neurons; v++)
    if (r->old.neuron[v] >= r->old.kept_cores)
      return cm_fail(error, CM_BAD_MAPPING, "neuron %llu of the old mapping is in part %u, but it has %llu parts",
                     (unsigned long long)v, r->old.neuron[v], (unsigned long long)r->old.kept_cores);
  return CM_OK;
}

/* Where the old parts stand on this chip; one core, one part. */
static cm_status find_cores(cm_remapping *r, cm_error *error)
{
  const cm_chip *chip = r->input->chip;
  uint32_t cores = cm_chip_cores(chip);
  CM_TRY(CM_NEW_ALL(r->run->memory, error, CM_ARRAY(r->old_core, r->old.kept_cores), CM_ARRAY(r->part_at, cores)));
  memset(r->old_core, 0xff, r->old.kept_cores * sizeof *r->old_core);
  memset(r->part_at, 0xff, cores * sizeof *r->part_at);
  for (uint32_t c = 0; c < cores; c++)
    r->usable += r->occupancy->state[c] == CM_CORE_FREE;
  for (uint64_t i = 0; i < r->old.kept_cores; i++) {
    const cm_check_core *core = &r->old.core[i];
    if (core->part >= r->old.kept_cores)
      return cm_fail(error, CM_BAD_MAPPING, "the old mapping names part %llu, but it has %llu parts",
                     (unsigned long long)core->part, (unsigned long long)r->old.kept_cores);
    if (core->x >= chip->width || core->y >= chip->height) {
      r->lost_cores++;
      continue;
    }
    uint32_t number = (uint32_t)(core->y * chip->width + core->x);
    if (r->part_at[number] != CM_NOWHERE)
      return cm_fail(error, CM_BAD_MAPPING, "parts %u and %llu of the old mapping share core (%u, %u)",
                     r->part_at[number], (unsigned long long)core->part, (unsigned)core->x, (unsigned)core->y);
    if (r->occupancy->state[number] != CM_CORE_FREE) {
      r->lost_cores++;
      continue;
    }
    r->part_at[number] = (uint32_t)core->part;
    r->old_core[core->part] = number;
  }
  return CM_OK;
}

/* Who is who. A file without keys, or with keys of another kind, leaves the numbers. */
static cm_status match_neurons(cm_remapping *r, cm_error *error)
{
  const cm_topology *topology = r->input->demand->network;
  const cm_check_file *old = &r->old;
  uint32_t n = topology->vertex_count;
  bool named = topology->label_text != NULL;
  const json_t *before = json_object_get(json_object_get(old->rest, "network"), "labels");
  uint64_t *key;
  CM_TRY(CM_NEW(r->run->memory, r->old_of, n, error));
  if (old->key.count != old->neuron_count || json_is_true(before) != named) {
    for (uint32_t v = 0; v < n; v++)
      r->old_of[v] = v < old->kept_neurons ? v : CM_NOBODY;
    return CM_OK;
  }
  CM_TRY(CM_NEW(r->run->memory, key, n, error));
  cm_status status = cm_identify(r->input->demand, r->run, key, error);
  const cm_versions versions = {.old_key = old->key.number, .old_count = (uint32_t)old->key.kept, .key = key, .count = n};
  CM_THEN(status, cm_match_neurons(&versions, named, r->run, r->old_of, error));
  cm_free(key);
  return status;
}

cm_status cm_remap_load_old(cm_remapping *r, cm_error *error)
{
  CM_TRY(read_old(r, error));
  CM_TRY(match_neurons(r, error));
  return find_cores(r, error);
}
