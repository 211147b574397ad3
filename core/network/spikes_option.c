#include "core/network/spikes_option.h"

#include <stdio.h>
#include <string.h>

static cm_status read_spikes(const char *option, const json_t *value, void *field, cm_error *error)
{
  cm_spikes_given *spikes = field;
  const char *upload = json_string_value(json_object_get(value, "upload"));
  size_t length = upload != NULL ? strlen(upload) : 0;
  if (json_object_size(value) == 1 && length > 0 && length < sizeof spikes->upload &&
      strspn(upload, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == length) {
    (void)snprintf(spikes->upload, sizeof spikes->upload, "%s", upload);
    return CM_OK;
  }
  if (!json_is_string(value) || json_string_value(value)[0] == '\0')
    return cm_option_refuse(error, option, "text with a line STEP,NEURON for each spike, or {\"upload\": ID} of a file of them");
  spikes->text = true;
  return CM_OK;
}

static json_t *spikes_schema(void)
{
  return json_pack("{s:[{s:s, s:i, s:[s]}, {s:s, s:[s], s:{s:{s:s}}, s:b}]}", "anyOf", "type", "string", "minLength", 1, "examples",
                   "neurons,286\n0,17\n1,4\n", "type", "object", "required", "upload", "properties", "upload", "type", "string",
                   "additionalProperties", false);
}

const cm_option_own cm_option_of_spikes = {"FILE", read_spikes, spikes_schema};
