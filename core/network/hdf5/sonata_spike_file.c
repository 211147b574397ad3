/* Happy path: each population's ids and times, a slice at a time. What can fail: files without spikes, lists of other lengths, times that are
 * none. */
#include <math.h>
#include <string.h>

#include "core/network/hdf5/h5.h"
#include "core/network/spike_file.h"

enum { SLICE = 1 << 15 };

typedef struct spike_file {
  cm_h5 h5;
  cm_spike_take take;
  void *user;
  uint64_t number;
  const char *ids, *population; /* of the lists under way */
  double unit;                  /* of their times, in milliseconds */
  uint64_t *id;
  double *time;
} spike_file;

static cm_status length_of(spike_file *f, hid_t group, const char *list, uint64_t *length, cm_error *error)
{
  cm_h5_extents is;
  CM_TRY(cm_h5_shape(&f->h5, group, list, &is, error));
  *length = is.rank == 1 ? is.dim[0] : 0;
  return is.rank == 1 ? CM_OK : cm_h5_bad(&f->h5, group, list, "a list is expected, of one dimension", error);
}

static cm_status read_slice(spike_file *f, hid_t group, uint64_t at, uint64_t count, cm_error *error)
{
  cm_status status = cm_h5_slice(&f->h5, group, f->ids, H5T_NATIVE_UINT64, at, count, f->id, error);
  CM_THEN(status, cm_h5_slice(&f->h5, group, "timestamps", H5T_NATIVE_DOUBLE, at, count, f->time, error));
  for (uint64_t i = 0; i < count && status == CM_OK; i++)
    status = isfinite(f->time[i]) && f->time[i] >= 0
               ? f->take(f->user, f->number++, f->population, f->id[i], f->time[i] * f->unit, error)
               : cm_h5_bad(&f->h5, group, "timestamps", "a time is negative or not finite", error);
  return status;
}

static cm_status read_lists(spike_file *f, hid_t group, const char *ids, const char *population, cm_error *error)
{
  char units[16] = "";
  uint64_t count, times;
  hid_t data;
  CM_TRY(length_of(f, group, ids, &count, error));
  CM_TRY(length_of(f, group, "timestamps", &times, error));
  CM_TRY(cm_h5_object(&f->h5, group, "timestamps", &data, error));
  cm_h5_attribute(data, "units", units, sizeof units);
  (void)H5Oclose(data);
  if (times != count)
    return cm_h5_bad(&f->h5, group, "timestamps", "its length is another than that of the ids", error);
  f->unit = strcmp(units, "s") == 0 || strcmp(units, "seconds") == 0 ? 1e3 : 1;
  f->ids = ids;
  f->population = population;
  cm_status status = CM_OK;
  for (uint64_t at = 0; at < count && status == CM_OK; at += SLICE)
    status = read_slice(f, group, at, count - at < SLICE ? count - at : SLICE, error);
  return status;
}

static cm_status read_populations(spike_file *f, hid_t spikes, cm_error *error)
{
  cm_h5_texts names = {0};
  cm_status status = cm_h5_names(&f->h5, spikes, &names, error);
  for (uint64_t i = 0; i < names.count && status == CM_OK; i++) {
    hid_t group;
    status = cm_h5_object(&f->h5, spikes, cm_h5_text_at(&names, i), &group, error);
    if (status != CM_OK)
      break;
    if (H5Iget_type(group) == H5I_GROUP)
      status = read_lists(f, group, "node_ids", cm_h5_text_at(&names, i), error);
    (void)H5Oclose(group);
  }
  cm_h5_texts_free(&names);
  return status;
}

static cm_status read_spikes(spike_file *f, cm_error *error)
{
  hid_t spikes;
  if (!cm_h5_has(f->h5.file, "spikes"))
    return cm_h5_bad(&f->h5, f->h5.file, NULL, "it has no group /spikes", error);
  CM_TRY(cm_h5_object(&f->h5, f->h5.file, "spikes", &spikes, error));
  cm_status status = H5Iget_type(spikes) != H5I_GROUP ? cm_h5_bad(&f->h5, f->h5.file, "spikes", "it is no group", error)
                     : cm_h5_has(spikes, "gids")      ? read_lists(f, spikes, "gids", "", error)
                                                      : read_populations(f, spikes, error);
  (void)H5Oclose(spikes);
  return status;
}

cm_status cm_spike_file_read(const char *path, cm_run *run, cm_spike_take take, void *user, cm_error *error)
{
  const cm_import_limits limits = cm_import_limits_default();
  spike_file f = {.take = take, .user = user};
  cm_source source;
  CM_TRY(cm_source_open(&source, path, &limits, run, error));
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(f.id, SLICE), CM_ARRAY(f.time, SLICE));
  if (status == CM_OK && (status = cm_h5_open(&f.h5, &source, &limits, run, "SONATA spikes", error)) == CM_OK) {
    status = read_spikes(&f, error);
    cm_h5_close(&f.h5);
  }
  cm_source_close(&source);
  CM_FREE(f.id, f.time);
  return status;
}
