/* Networks and models on their way to a server. */
#pragma once

#include "cli/http.h"

typedef struct cli_upload {
  const char *path; /* of a file (cli_input), or the id of what the server has */
  const char *name; /* as named on the command line: the network's name is its last part */
  const char *format; /* NULL: by content */
  const char *visibility; /* NULL: as the server's settings say */
} cli_upload;

/* The last part of a path. */
const char *cli_base_name(const char *path);

/* Spikes of a file, of at most 1 MiB, if any is named, among the options of a job. CM_BAD_OPTION: it is no text. */
cm_status cli_read_spikes(const char *path, json_t *options, cm_error *error);

/* The server's description of it, the caller's: of what is there under that id, of what the server has with the same
 * bytes (it is asked by their hash, and nothing is sent), or of what is sent now. Errors: CM_NOT_FOUND, those of the server
 * and of files. */
cm_status cli_upload_network(cli_server *server, cli_run *cli, const cli_upload *what, json_t **network, cm_error *error);

/* Sends a file, or a folder of samples packed, as an upload of kind `of` ("samples") that a job's option names; `upload` is its id, of CM_ID size: cli_drop_upload
 * deletes it once the job has ended. Errors: those of the server and of files. */
cm_status cli_send_upload(cli_server *server, cli_run *cli, const char *path, const char *of, char upload[80], cm_error *error);
void cli_drop_upload(cli_server *server, const char *upload);

/* A job of a kind with these options, on a network or model that is sent first, to its end: *job, the caller's, is done. `chip` may be NULL. Errors:
 * CM_CONFLICT (it failed, or was cancelled: why), those of the server and of files. */
typedef struct cli_errand {
  const char *kind, *chip;
  json_t *options;
} cli_errand;
cm_status cli_run_errand(cli_server *server, cli_run *cli, const cli_upload *file, const cli_errand *errand, json_t **job, cm_error *error);
