/* Costs of chips from measured steps. */
#include "base/json.h"
#include "core/chip/costs_fit.h"
#include "core/chip/rates_fit.h"
#include "library/internal.h"

/* Prices that stay as they are. */
static cm_status read_options(const char *text, bool keep[CM_TERMS], cm_error *error)
{
  json_t *object = NULL;
  const json_t *one;
  const char *name;
  size_t i;
  json_t *value;
  cm_status status = library_options(text, &object, error);
  if (status == CM_OK)
    json_object_foreach(object, name, value)
      if (status == CM_OK && (strcmp(name, "keep") != 0 || !json_is_array(value)))
        status = cm_fail(error, CM_BAD_OPTION, "option \"%.40s\" is not known here: \"keep\" is, a list of prices", name);
  json_array_foreach(status == CM_OK ? json_object_get(object, "keep") : NULL, i, one) {
    const char *price = json_is_string(one) ? json_string_value(one) : "";
    int k = 0;
    while (k < CM_TERMS && strcmp(price, cm_term_name(k)) != 0)
      k++;
    if (k < CM_TERMS)
      keep[k] = true;
    else if (status == CM_OK)
      status = cm_fail(error, CM_BAD_OPTION, "there is no price \"%.40s\" to keep: packet_sent, packet_received, synapse, neuron, spike, barrier, barrier/spike and barrier/packet are prices", price);
  }
  json_decref(object);
  return status;
}

/* Costs by steps of networks, or rates by pieces of programs, in a chip that shares the rest with the caller's. */
static cm_status fit(const char *runs, const bool keep[CM_TERMS], cm_chip *made, cm_run *run, json_t **told, cm_error *error)
{
  cm_measured_steps steps = {.runs = 0};
  cm_costs_task task = {.chip = made, .steps = &steps};
  if (cm_rates_are_measured(runs))
    return cm_rates_fit(runs, made, run, told, error);
  memcpy(task.keep, keep, sizeof task.keep);
  cm_status status = cm_measured_steps_read(runs, strlen(runs), run, &steps, error);
  CM_THEN(status, cm_costs_fit(&task, run, &made->costs, told, error));
  cm_measured_steps_free(&steps);
  return status;
}

int coremap_calibrate(const coremap_chip *chip, const char *runs, const char *options, char **report, coremap_error **error)
{
  cm_error e;
  library_run r;
  bool keep[CM_TERMS] = {false};
  cm_chip made = *chip->chip;
  cm_target *target = NULL;
  json_t *told = NULL;
  cm_status status = read_options(options, keep, &e);
  if (status != CM_OK)
    return library_tell(status, &e, error);
  library_begin(&r, NULL, NULL);
  if (made.target != NULL && (status = CM_NEW(r.run->memory, target, 1, &e)) == CM_OK) {
    *target = *made.target;
    made.target = target;
  }
  CM_THEN(status, fit(runs, keep, &made, r.run, &told, &e));
  CM_THEN(status, cm_json_set(told, "file", cm_chip_json(&made), "the chip file", &e));
  if (status == CM_OK)
    status = library_text(told, JSON_COMPACT | JSON_REAL_PRECISION(12), report, &e);
  else
    json_decref(told);
  cm_free(target);
  cm_run_finish(r.run);
  return library_tell(status, &e, error);
}
