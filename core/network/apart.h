/* Networks read in a confined child, for whoever reads them in a process of his own. */
#pragma once

#include "core/network/import.h"

/* cm_import_as with the limits of cm_import_limits_default, in a confined child (base/confine.h): to be used where
 * cm_network_needs_confinement says so. `folder` is the caller's, and writable; nothing stays in it. A child that crashes is
 * CM_BAD_NETWORK. */
cm_status cm_import_apart(const char *path, const cm_import_hint *hint, const char *folder, cm_run *run, cm_topology **topology,
                          cm_import_report *report, cm_error *error);

/* cm_import_as with those limits: in such a child, with a scratch folder of its own, where the format asks for it, else here. */
cm_status cm_import_guarded(const char *path, const cm_import_hint *hint, cm_run *run, cm_topology **topology,
                            cm_import_report *report, cm_error *error);
