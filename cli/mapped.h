/* Mappings on a server that a command line names. */
#pragma once

#include "cli/http.h"

/* Gets a view ("/export?to=noxim") of a server's mapping, by its id or that of the job that made it. */
cm_status cli_get_mapping(const cli_where *where, cli_run *cli, const char *id, const char *view, FILE *stream, cm_error *error);
