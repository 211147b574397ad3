#include "core/output/exports/exports.h"

#include <stdio.h>
#include <string.h>

#include "core/chip/geometry.h"
#include "core/output/exports/writers.h"

const cm_export_format cm_export_formats[] = {
  {"sanafe", "SANA-FE: architecture, network and mapping in one YAML file", "sanafe.yaml", "application/yaml", cm_export_sanafe, CM_EXPORT_MESHES},
  {"booksim", "BookSim 2: configuration of the mesh, with the traffic between routers", "booksim.cfg", "text/plain; charset=utf-8",
   cm_export_booksim, CM_EXPORT_MESHES},
  {"noxim", "Noxim: table of traffic between routers", "noxim.txt", "text/plain; charset=utf-8", cm_export_noxim, CM_EXPORT_MESHES},
  {"pacman", "PACMAN (SpiNNaker): placements, keys and routing tables as JSON", "pacman.json", "application/json", cm_export_pacman, CM_EXPORT_GRIDS},
  {"spinnaker", "SpiNNaker: routing tables as its routers are loaded, binary", "tables.bin", "application/octet-stream", cm_export_spinnaker, CM_EXPORT_GRIDS},
  {"hgrade", "graders of hypergraph mappings: binary placement of the parts", "placement.bin", "application/octet-stream",
   cm_export_hgrade, CM_EXPORT_ANY},
  {"traffic", "packets a step between routers: source destination rate", "traffic.txt", "text/plain; charset=utf-8", cm_export_traffic, CM_EXPORT_ANY},
  {"lava", "cores of every layer and the neurons on them, as JSON", "layers.json", "application/json", cm_export_lava, CM_EXPORT_ANY},
  {"units", "copies and relays of neurons, with the cores and inputs of each, as JSON", "units.json", "application/json", cm_export_units, CM_EXPORT_ANY},
  {NULL, NULL, NULL, NULL, NULL, CM_EXPORT_ANY},
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
  const cm_chip *chip = mapped->chip;
  cm_interconnect_kind kind = cm_interconnect_kind_of(chip);
  if (format->chips == CM_EXPORT_GRIDS ? kind > CM_HEXAGONAL : format->chips == CM_EXPORT_MESHES && cm_geometry_of(chip) != CM_BY_AXES)
    return cm_fail(error, CM_BAD_OPTION, "format \"%s\" tells of %s; the interconnect of chip %s is \"%s\"", format->name,
                   format->chips == CM_EXPORT_GRIDS ? "grids and hexagonal grids" : "a plain mesh or torus", chip->name,
                   cm_interconnect_kind_name(kind));
  cm_run_phase(run, "export");
  cm_status status = format->write(mapped, run, stream, error);
  if (status == CM_OK && (fflush(stream) != 0 || ferror(stream) != 0))
    status = cm_fail(error, CM_DISK_FULL, "cannot write the export");
  return status;
}
