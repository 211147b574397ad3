/* What the server keeps in its data folder. */
#include "library/private/stored.h"

#include <string.h>

#include "core/mapping/result/beside.h"
#include "core/network/topology_file.h"
#include "library/internal.h"

const char *const library_late_views[] = {"routes.json", "routes.csv", "routes.bin", "certificate.json", NULL};

int library_network_load(const char *path, coremap_progress progress, void *user, coremap_network **network, coremap_error **error)
{
  cm_error e;
  library_run r;
  cm_topology *topology = NULL;
  library_begin(&r, progress, user);
  library_outlive(&r, NULL);
  cm_status status = cm_topology_load(path, r.run, &topology, &e);
  cm_run_finish(r.run);
  return library_network_own(status, topology, "", network, &e, error);
}

/* CM_VIEWS_ALL: there is none of that name. */
static cm_mapping_view find_late(const char *name)
{
  cm_mapping_view view = CM_VIEWS;
  while (view < CM_VIEWS_ALL && strcmp(cm_mapping_view_name(view), name) != 0)
    view++;
  return view;
}

int library_view_make(const char *folder, const char *view, const char *network, coremap_progress progress, void *user,
                      coremap_error **error)
{
  cm_error e;
  library_run r;
  cm_topology *topology;
  const cm_mapping_view late = find_late(view);
  library_begin(&r, progress, user);
  cm_status status = late == CM_VIEWS_ALL ? cm_fail(&e, CM_NOT_FOUND, "no view %.40s is made afterwards", view)
                                          : cm_topology_load(network, r.run, &topology, &e);
  if (status == CM_OK)
    status = cm_mapping_write_late(folder, late, topology, r.run, &e);
  cm_run_finish(r.run);
  return library_tell(status, &e, error);
}
