/* Spikes that are given to a call: as text, or in a file. */

#include "base/json.h"
#include "library/internal.h"
#include "library/private/stored.h"

cm_status library_spikes_take(json_t *object, library_spikes *from, cm_error *error)
{
  const json_t *spikes = json_object_get(object, "spikes");
  from->confined = json_is_true(json_object_get(object, "confined"));
  from->text = json_string_value(spikes);
  from->upload = json_is_object(spikes);
  (void)json_object_del(object, "confined");
  return library_take_text(object, "spikes_file", from->file, error) == CM_OK
           ? library_take_text(object, "spikes_name", from->name, error)
           : error->status;
}

bool library_spikes_are_given(const library_spikes *from)
{
  return from->file[0] != '\0' || from->text != NULL || from->upload;
}

cm_status library_spikes_read(const library_spikes *from, const cm_spike_ids *ids, cm_run *run, cm_spikes *spikes, cm_error *error)
{
  cm_spike_ids read = *ids;
  read.confined = from->confined;
  if (from->file[0] != '\0')
    return cm_spikes_read(from->file, from->name[0] != '\0' ? from->name : from->file, &read, run, spikes, error);
  if (from->text != NULL)
    return cm_spikes_parse(from->text, "option spikes", &read, run, spikes, error);
  return cm_option_refuse(error, "spikes", "text: uploads are a server's");
}

int library_spikes_check(const char *text, uint32_t neurons, bool named, coremap_error **error)
{
  cm_spikes spikes;
  library_run r;
  library_begin(&r, NULL, NULL);
  const cm_spike_ids ids = {.neurons = neurons, .any = named};
  cm_status status = cm_spikes_parse(text, "option spikes", &ids, r.run, &spikes, &r.error);
  if (status == CM_OK)
    cm_spikes_free(&spikes);
  return library_tell(status, &r.error, error);
}

int coremap_spikes_check(const char *text, uint32_t neurons, coremap_error **error)
{
  return library_spikes_check(text, neurons, false, error);
}
