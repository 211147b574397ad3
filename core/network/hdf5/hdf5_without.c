/* In place of what reads HDF5 files, where the program is configured --without-hdf5: all are refused. */
#include "core/network/formats/export_writer.h"
#include "core/network/formats/readers.h"
#include "core/network/recognise.h"
#include "core/network/spike_file.h"

static cm_status refuse(cm_error *error)
{
  cm_fail(error, CM_BAD_NETWORK,
          "this program was built without HDF5, in which NIR, SONATA and lava-dl keep networks; to have them, install HDF5 (Debian: "
          "libhdf5-dev) and configure it without --without-hdf5");
  return cm_fail_at(error, "byte 0");
}

cm_status cm_recognise_hdf5(CM_UNUSED cm_source *source, CM_UNUSED cm_memory *memory,
                            CM_UNUSED const cm_network_format **found, cm_error *error)
{
  return refuse(error);
}

cm_status cm_import_nir(CM_UNUSED const cm_reading_of *in, cm_error *error)
{
  return refuse(error);
}

cm_status cm_export_nir(CM_UNUSED const cm_export_writer *w, cm_error *error)
{
  return refuse(error);
}

cm_status cm_import_lava(const cm_reading_of *in, cm_error *error)
{
  return cm_import_nir(in, error);
}

cm_status cm_import_sonata(const cm_reading_of *in, cm_error *error)
{
  return cm_import_nir(in, error);
}

cm_status cm_spike_file_read(CM_UNUSED const char *path, CM_UNUSED cm_run *run, CM_UNUSED cm_spike_take take,
                             CM_UNUSED void *user, cm_error *error)
{
  return refuse(error);
}
