/* Which of the formats that lie in HDF5 a file is, by the groups at its top. */
#include <stdio.h>

#include "core/network/formats/source.h"
#include "core/network/hdf5/h5.h"
#include "core/network/recognise.h"

static const struct {
  const char *group;
  cm_format_id id;
} groups[] = {
  {"node", CM_FORMAT_NIR},
  {"layer", CM_FORMAT_LAVA},
  {"edges", CM_FORMAT_SONATA},
  {"nodes", CM_FORMAT_SONATA}, /* without edges it is refused there */
  {"spikes", CM_FORMAT_SONATA},
};

cm_status cm_recognise_hdf5(cm_source *source, cm_memory *memory, const cm_network_format **found, cm_error *error)
{
  const cm_import_limits limits = cm_import_limits_default();
  char list[200] = "nothing", formats[CM_FORMAT_NAMES_MAX];
  cm_h5_texts names = {0};
  cm_run run;
  cm_h5 h5;
  cm_run_init(&run);
  run.memory = memory;
  CM_TRY(cm_h5_open(&h5, source, &limits, &run, "HDF5 file", error));
  *found = NULL;
  for (size_t i = 0; i < sizeof groups / sizeof *groups && *found == NULL; i++)
    if (cm_h5_has(h5.file, groups[i].group))
      *found = &cm_network_formats[groups[i].id];
  cm_status status = *found == NULL ? CM_BAD_NETWORK : CM_OK;
  hid_t root = *found == NULL ? H5Gopen2(h5.file, "/", H5P_DEFAULT) : -1;
  if (root >= 0 && cm_h5_names(&h5, root, &names, error) == CM_OK)
    for (size_t i = 0, used = 0; i < names.count && used < sizeof list; i++)
      used += (size_t)snprintf(list + used, sizeof list - used, "%s/%.60s", i == 0 ? "" : ", ", cm_h5_text_at(&names, i));
  cm_h5_texts_free(&names);
  if (root >= 0)
    (void)H5Gclose(root);
  cm_h5_close(&h5);
  if (status == CM_OK)
    return cm_source_rewind(source, error);
  cm_fail(error, CM_BAD_NETWORK,
          "the file is an HDF5 file of none of the networks that can be read (%s); it holds %s: export its connections, "
          "in Python scipy.io.mmwrite('net.mtx', scipy.sparse.coo_matrix((weight, (pre, post)), shape=(n, n)))",
          cm_network_formats_about(formats), list);
  return cm_fail_at(error, "/");
}
