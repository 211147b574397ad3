#include "core/output/exports/exports.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/chip/geometry.h"
#include "core/output/exports/writers.h"

const cm_export_format cm_export_formats[] = {
  {"sanafe", "SANA-FE: architecture, network and mapping in one YAML file", "sanafe.yaml", "application/yaml", cm_export_sanafe},
  {"booksim", "BookSim 2: configuration of the mesh, with the traffic between routers", "booksim.cfg", "text/plain; charset=utf-8",
   cm_export_booksim},
  {"noxim", "Noxim: table of traffic between routers", "noxim.txt", "text/plain; charset=utf-8", cm_export_noxim},
  {"pacman", "PACMAN (SpiNNaker): placements, keys and routing tables as JSON", "pacman.json", "application/json", cm_export_pacman},
  {"spinnaker", "SpiNNaker: routing tables as its routers are loaded, binary", "tables.bin", "application/octet-stream", cm_export_spinnaker},
  {"hgrade", "graders of hypergraph mappings: binary placement of the parts", "placement.bin", "application/octet-stream",
   cm_export_hgrade},
  {"traffic", "packets a step between routers: source destination rate", "traffic.txt", "text/plain; charset=utf-8", cm_export_traffic},
  {"lava", "cores of every layer and the neurons on them, as JSON", "layers.json", "application/json", cm_export_lava},
  {"units", "copies and relays of neurons, with the cores and inputs of each, as JSON", "units.json", "application/json", cm_export_units},
  {NULL, NULL, NULL, NULL, NULL},
};

cm_status cm_export_find(const char *name, const cm_export_format **format, cm_error *error)
{
  char names[200] = "";
  size_t used = 0;
  for (const cm_export_format *f = cm_export_formats; f->name != NULL; f++) {
    if (name != NULL && strcmp(name, f->name) == 0) {
      *format = f;
      return CM_OK;
    }
    used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", f == cm_export_formats ? "" : ", ", f->name);
  }
  return cm_fail(error, CM_BAD_OPTION, name != NULL ? "there is no format \"%.40s\" to export to; there are %s" : "%.0sname what to export to: %s",
                 name != NULL ? name : "", names);
}

cm_status cm_export_mapping(const cm_export_format *format, const cm_mapped *mapped, cm_run *run, FILE *stream, cm_error *error)
{
  bool mesh = format->write == cm_export_sanafe || format->write == cm_export_booksim || format->write == cm_export_noxim;
  if (mesh && cm_chip_need_axes(mapped->chip, "this export", error) != CM_OK)
    return error->status;
  cm_run_phase(run, "export");
  cm_status status = format->write(mapped, run, stream, error);
  if (status == CM_OK && (fflush(stream) != 0 || ferror(stream) != 0))
    status = cm_fail(error, CM_DISK_FULL, "cannot write the export");
  return status;
}
