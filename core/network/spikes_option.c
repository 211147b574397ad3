#include "core/network/spikes_option.h"

static cm_status read_spikes(const char *option, const json_t *value, void *field, cm_error *error)
{
  cm_spikes_given *spikes = field;
  if (cm_option_upload(value, spikes->upload))
    return CM_OK;
  if (!json_is_string(value) || json_string_value(value)[0] == '\0')
    return cm_option_refuse(error, option, "text with a line STEP,NEURON for each spike, or {\"upload\": ID} of a file of them");
  spikes->text = true;
  return CM_OK;
}

static json_t *spikes_schema(void)
{
  return json_pack("{s:[{s:s, s:i, s:[s]}, o]}", "anyOf", "type", "string", "minLength", 1, "examples", "neurons,286\n0,17\n1,4\n",
                   cm_option_of_upload.schema());
}

const cm_option_own cm_option_of_spikes = {"FILE", read_spikes, spikes_schema};
