/* Networks and models on their way to a server. */
#ifndef CM_CLI_UPLOAD_H
#define CM_CLI_UPLOAD_H

#include "cli/http.h"

typedef struct cli_upload {
  const char *path; /* of a file (cli_input), or the id of what the server has */
  const char *name; /* as named on the command line: the network's name is its last part */
  const char *format; /* NULL: by content */
  const char *visibility; /* NULL: as the server's settings say */
} cli_upload;

/* "lab", "group", "private". */
bool cli_is_visibility(const char *text);

/* The last part of a path. */
const char *cli_base_name(const char *path);

/* Spikes of a file, of at most 1 MiB, if any is named, among the options of a job. CM_BAD_OPTION: it is no text. */
cm_status cli_read_spikes(const char *path, json_t *options, cm_error *error);

/* The server's description of it, the caller's: of what is there under that id, of what the server has with the same
 * bytes (it is asked by their hash, and nothing is sent), or of what is sent now. Errors: CM_NOT_FOUND, those of the server
 * and of files. */
cm_status cli_upload_network(cli_server *server, cli_run *cli, const cli_upload *what, json_t **network, cm_error *error);

#endif
