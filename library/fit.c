/* Which chips would take a network. */
#include <coremap/map.h>

#include "base/json.h"
#include "core/look/fits.h"
#include "library/internal.h"
#include "library/private/base.h"

enum { PRESETS_MAX = 64 };

static cm_status fit(const coremap_network *network, const cm_fit_chip *on, size_t count, cm_run *run, char **json, cm_error *error)
{
  const uint64_t refusals = cm_json_refusals();
  json_t *rows;
  cm_status status = cm_fit(network->topology, on, count, run, &rows, error);
  return status == CM_OK ? library_whole_text(rows, refusals, json, error) : status;
}

/* All presets that say how many neurons a core takes and run no programs. */
static cm_status fit_presets(const coremap_network *network, cm_run *run, char **json, cm_error *error)
{
  cm_fit_chip on[PRESETS_MAX];
  cm_chip *chip[PRESETS_MAX];
  cm_occupancy *occupancy[PRESETS_MAX];
  size_t count = 0;
  cm_status status = CM_OK;
  for (const char *const *name = cm_chip_presets(); *name != NULL && count < PRESETS_MAX && status == CM_OK; name++) {
    status = cm_chip_open(*name, &chip[count], error);
    if (status == CM_OK && (chip[count]->limits.neurons == 0 || chip[count]->target != NULL)) {
      cm_chip_free(chip[count]);
      continue;
    }
    if (status == CM_OK && (status = cm_occupancy_new(chip[count], &occupancy[count], error)) != CM_OK)
      cm_chip_free(chip[count]);
    if (status == CM_OK)
      on[count] = (cm_fit_chip){chip[count], occupancy[count]};
    count += status == CM_OK;
  }
  CM_THEN(status, fit(network, on, count, run, json, error));
  for (size_t i = 0; i < count; i++) {
    cm_occupancy_free(occupancy[i]);
    cm_chip_free(chip[i]);
  }
  return status;
}

static cm_status fit_these(const coremap_network *network, const coremap_chip *const *chips, cm_run *run, char **json, cm_error *error)
{
  cm_fit_chip *on;
  size_t count = 0;
  while (chips[count] != NULL)
    count++;
  CM_TRY(CM_NEW(run->memory, on, count, error));
  for (size_t i = 0; i < count; i++)
    on[i] = (cm_fit_chip){chips[i]->chip, chips[i]->occupancy};
  cm_status status = fit(network, on, count, run, json, error);
  cm_free(on);
  return status;
}

int coremap_fit(const coremap_network *network, const coremap_chip *const *chips, coremap_progress progress, void *user, char **json, coremap_error **error)
{
  cm_error e;
  library_run r;
  library_begin(&r, progress, user);
  const cm_status status = chips == NULL ? fit_presets(network, r.run, json, &e) : fit_these(network, chips, r.run, json, &e);
  return library_tell(status, &e, error);
}

void library_name_chips(const coremap_network *network, const coremap_chip *const *chips, const coremap_chip *own, const json_t *options, cm_run *run,
                        cm_error *error)
{
  const json_int_t part_max = json_integer_value(json_object_get(options, "max_part_size"));
  const json_int_t least = part_max > 0 ? (json_int_t)((network->topology->size_total - 1) / (uint64_t)part_max + 1) : 1;
  cm_error ignored;
  json_t *row, *rows;
  char *text;
  size_t i, told = 0;
  if ((error->status != CM_NO_ROOM && error->status != CM_NEURON_TOO_LARGE) || network->topology->pin_count > LIBRARY_LOOKED_AT_MAX ||
      (chips == NULL ? fit_presets(network, run, &text, &ignored) : fit_these(network, chips, run, &text, &ignored)) != CM_OK)
    return;
  rows = library_json(text);
  json_array_foreach(rows, i, row) {
    const char *name = json_string_value(json_object_get(row, "chip"));
    const json_int_t found = json_integer_value(json_object_get(row, "cores_found")), left = json_integer_value(json_object_get(row, "free"));
    if (strcmp(json_string_value(json_object_get(row, "fits")), "yes") == 0 && least <= left && (own == NULL || strcmp(name, own->chip->name) != 0))
      cm_fail_more(error, "%s%s (%lld of %lld cores)", told++ == 0 ? ". Chips that would take it: " : ", ", name,
                   (long long)(found > least ? found : least), (long long)left);
  }
  json_decref(rows);
}
