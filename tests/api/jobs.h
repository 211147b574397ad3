/* A live daemon with two workers, and jobs for it, for the tests of what jobs make. */
#pragma once

#include <signal.h>

#include "tests/api/client.h"

static test_daemon server;
static char folder[CM_PATH_MAX];
static cm_error error;

static inline void jobs_setup(void)
{
  const char *const arguments[] = {"--workers", "2", "--threads", "2", NULL};
  test_folder(folder);
  test_daemon_start(&server, folder, arguments);
}

static inline void jobs_teardown(void)
{
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
  ck_ok(cm_folder_remove(folder, &error));
}

/* The C. elegans connectome on Loihi, 16 neurons a core; `more` is added to the options. */
static inline void worm_job(char *id, const char *more)
{
  char network[65];
  test_upload_file(&server, "celegans_herm_chem.edges.csv", network);
  test_job(&server, id, "{\"network\": \"%s\", \"chip\": \"loihi1\", \"options\": {\"max_part_size\": 16%s}}", network,
           more);
}

/* A job that runs for a while. */
static inline void long_job(char *id)
{
  char network[65];
  test_upload_large(&server, 60000, 300000, 1, network);
  test_job(&server, id, "{\"network\": \"%s\", \"chip\": \"loihi64\", \"options\": {\"preset\": \"best\", \"max_part_size\": 32}}", network);
}

static inline json_t *finished(const char *id, const char *state)
{
  json_t *job = test_wait(&server, id);
  char *text = json_dumps(job, 0);
  ck_assert_msg(strcmp(test_word(job, "state"), state) == 0, "%s", text);
  free(text);
  return job;
}
