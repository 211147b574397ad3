/* POST /v1/fits: which chips would take a network. Nothing is queued, and nothing reserved. */
#include "api/fits.h"

#include "api/handlers.h"
#include "api/making.h"
#include "api/submit.h"
#include "base/json.h"
#include "base/order.h"
#include "library/private/base.h"
#include "library/private/stored.h"
#include "storage/chips.h"
#include "storage/estimates.h"
#include "storage/occupancy.h"

enum { CHIPS_MAX = 256 };

/* Chips with their occupancies. */
typedef struct chips {
  coremap_chip *chip[CHIPS_MAX + 1];
  size_t count;
} chips;

static bool open_named(cm_request *request, const json_t *names, chips *made)
{
  size_t i;
  json_t *name;
  if (json_array_size(names) == 0 || json_array_size(names) > CHIPS_MAX)
    return cm_reply_bad_member(request, CM_BAD_REQUEST, "/chips", "expected names of 1 to 256 chips, or \"all\"");
  json_array_foreach(names, i, name) {
    char where[32];
    (void)snprintf(where, sizeof where, "/chips/%zu", i);
    if (!json_is_string(name) || !cm_chips_name_is_sound(json_string_value(name)))
      return cm_reply_bad_member(request, CM_BAD_REQUEST, where, "expected the name of a chip");
    if (!cm_access_sees(request, CM_OBJECT_CHIP, json_string_value(name), where))
      return false;
    if (!cm_reply_ok(request, cm_occupancy_open(request->store, json_string_value(name), &made->chip[made->count], &request->error)))
      return false;
    made->count++;
  }
  return true;
}

cm_status cm_fits_open_all(cm_store *store, const cm_viewer *viewer, size_t most, coremap_chip **made, size_t *count, cm_error *error)
{
  cm_chip_entry *listed;
  size_t entries, opened = 0;
  CM_TRY(cm_chips_list(store, viewer, &listed, &entries, error));
  for (size_t i = 0; i < entries && opened < most; i++) {
    cm_error ignored; /* deleted since it was listed */
    coremap_chip *chip = NULL;
    if (cm_occupancy_open(store, listed[i].name, &chip, &ignored) != CM_OK)
      continue;
    if (library_chip_facts_of(chip).runs_programs)
      coremap_chip_free(chip);
    else
      made[opened++] = chip;
  }
  free(listed);
  *count = opened;
  return CM_OK;
}

CM_ORDER(by_end, cm_lease, CM_RISING(expires))

/* When leases that the caller sees have ended, so that as many cores are free as the network needs at least; left out where it has them, or
 * leases do not help. */
static cm_status add_earliest(cm_request *request, json_t *row, cm_error *error)
{
  const json_t *found = json_object_get(row, "cores_found"), *bound = json_object_get(row, "bound");
  double free_cores = json_number_value(json_object_get(row, "free")),
         needed = json_is_integer(found) ? json_number_value(found) : json_number_value(json_object_get(bound, "parts"));
  cm_lease *lease;
  size_t count;
  if (bound == NULL || json_is_null(bound) || needed <= free_cores)
    return CM_OK;
  CM_TRY(cm_leases_list(request->store, json_string_value(json_object_get(row, "chip")), &request->viewer, &lease, &count, error));
  if (count > 0)
    qsort(lease, count, sizeof *lease, by_end);
  for (size_t i = 0; i < count && free_cores < needed; i++) {
    free_cores += (double)lease[i].core_count;
    if (free_cores >= needed)
      (void)json_object_set_new(row, "earliest", cm_time_json(lease[i].expires));
  }
  for (size_t i = 0; i < count; i++)
    cm_lease_clear(&lease[i]);
  free(lease);
  return CM_OK;
}

/* What a mapping by the server's defaults takes, as jobs like it did here. */
static cm_status add_seconds(cm_request *request, const cm_network *network, json_t *row, cm_error *error)
{
  cm_job job = {0};
  double seconds;
  cm_submit_liken(&job, library_job_kind_at(0), NULL, network);
  (void)snprintf(job.chip, sizeof job.chip, "%s", json_string_value(json_object_get(row, "chip")));
  CM_TRY(cm_estimate(request->store, &job, &seconds, error));
  return cm_json_set(row, "seconds", json_real(seconds), "what would fit", error);
}

static cm_status look(cm_request *request, const char *id, const chips *on, cm_run *run, json_t **rows, cm_error *error)
{
  char path[CM_PATH_MAX], *text;
  coremap_network *network = NULL;
  coremap_error *why = NULL;
  CM_TRY(cm_networks_path(request->store, id, path, error));
  int result = library_network_load(path, "", library_on_run, run, &network, &why);
  if (result == 0)
    result = coremap_fit(network, (const coremap_chip *const *)on->chip, library_on_run, run, &text, &why);
  if (result == 0)
    *rows = library_json(text);
  coremap_network_free(network);
  return library_status(result, &why, error);
}

static void reply_fits(cm_request *request, const cm_network *network, const chips *on)
{
  cm_making making;
  json_t *rows = NULL, *row;
  size_t i;
  cm_status status = cm_making_begin(request, &making, &request->error);
  if (status == CM_OK) {
    status = look(request, network->id, on, &making.run, &rows, &request->error);
    cm_making_end(request, &making);
  }
  json_array_foreach(rows, i, row)
    if (status == CM_OK && (status = add_seconds(request, network, row, &request->error)) == CM_OK)
      status = add_earliest(request, row, &request->error);
  if (status == CM_OK) {
    cm_reply_json(request, 200, json_pack("{s:s, s:o}", "network", network->id, "fits", rows));
    return;
  }
  json_decref(rows);
  cm_reply_error(request, &request->error);
}

void cm_post_fits(cm_request *request)
{
  static const char *const names[] = {"network", "chips", NULL};
  cm_network network;
  chips on = {.count = 0};
  json_t *object = cm_request_json(request);
  const json_t *id = json_object_get(object, "network"), *named = json_object_get(object, "chips");
  const char *all = json_string_value(named);
  bool right = object != NULL && cm_request_members(request, object, names);
  if (right && (!json_is_string(id) || strlen(json_string_value(id)) == 0))
    right = cm_reply_bad_member(request, CM_BAD_REQUEST, "/network", "the id of an uploaded network is needed");
  right = right && cm_access_sees(request, CM_OBJECT_NETWORK, json_string_value(id), "/network");
  if (right && cm_networks_get(request->store, json_string_value(id), &network, &request->error) != CM_OK) {
    cm_reply_error(request, &request->error);
    right = false;
  }
  if (right && strcmp(network.format, "onnx") == 0)
    right = cm_reply_bad_member(request, CM_BAD_REQUEST, "/network", "an ONNX model is compiled, not mapped");
  if (right && (named == NULL || (all != NULL && strcmp(all, "all") == 0)))
    right = cm_fits_open_all(request->store, &request->viewer, CHIPS_MAX, on.chip, &on.count, &request->error) == CM_OK ||
            (cm_reply_error(request, &request->error), false);
  else if (right)
    right = open_named(request, named, &on);
  if (right)
    reply_fits(request, &network, &on);
  for (size_t i = 0; i < on.count; i++)
    coremap_chip_free(on.chip[i]);
  json_decref(object);
}
