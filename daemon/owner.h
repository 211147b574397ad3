/* Commands beside a server: of which configuration, and as which user. */
#pragma once

#include "daemon/config.h"

/* Reads a command's flags as the server's settings. For root, who says neither --config nor --data, they are those of the
 * machine's server (CM_CONFIG_FILE) where it has a file; and from then on this process is the data folder's owner, so that
 * whatever it writes there is the server's to read. CM_BAD_OPTION, CM_IO. */
cm_status cm_owner_config(int count, char **words, cm_config *config, cm_error *error);
