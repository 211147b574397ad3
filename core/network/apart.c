/* A network read in a confined child: a library that a damaged file crashes takes nothing else along, and what the file makes
 * it do has neither network nor files. Happy path: the child reads, writes our own format into a folder, tells how far it is and
 * then the report or the error through a pipe; the parent listens, ends the child when it is to stop, and reads the folder. */
#include "core/network/apart.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/file.h"
#include "core/network/formats.h"
#include "core/network/spike_file.h"
#include "core/network/topology_file.h"

/* What the child tells: how far it is, and last how it ended. */
typedef struct outcome {
  bool ended;
  double fraction;
  cm_status status;
  cm_error error;
  cm_import_report report;
} outcome;

static void tell_progress(void *user, const cm_progress *progress)
{
  const outcome told = {.fraction = progress->fraction};
  const ssize_t ignored = write(*(const int *)user, &told, sizeof told); /* the parent may be gone */
  (void)ignored;
}

/* What the child does with the file `path`, to make `made` in `folder`; its report is told to the parent. */
typedef struct apart {
  const char *path, *folder, *made;
  cm_status (*work)(const struct apart *apart, cm_run *run, cm_import_report *report, cm_error *error);
  const cm_import_hint *hint; /* how a network is to be read */
} apart;

/* Never returns. */
static void work(int pipe, const apart *a)
{
  char in_force[CM_IN_FORCE_MAX];
  const cm_confinement limits = {.input = a->path, .output = a->folder};
  outcome result = {0};
  cm_memory memory;
  cm_run run;
  memset(&result, 0, sizeof result);
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  cm_memory_init(&memory, 0);
  cm_run_init(&run);
  run.memory = &memory;
  run.on_progress = tell_progress;
  run.user = &pipe;
  result.ended = true;
  result.status = cm_confine(&limits, in_force, &result.error);
  if (result.status == CM_OK)
    result.status = a->work(a, &run, &result.report, &result.error);
  ssize_t written = write(pipe, &result, sizeof result);
  _exit(written == (ssize_t)sizeof result ? EXIT_SUCCESS : EXIT_FAILURE); /* nothing is left to be flushed */
}

/* Takes in what the child tells, until it has told how it ended or its end of the pipe is closed. */
static cm_status listen_to(int pipe, cm_run *run, outcome *result, cm_error *error)
{
  enum { LOOK_MS = 100 };
  outcome told = {0};
  size_t got = 0;
  for (ssize_t more = 1; more != 0 && !result->ended;) {
    struct pollfd end = {.fd = pipe, .events = POLLIN};
    more = poll(&end, 1, LOOK_MS) > 0 ? read(pipe, (char *)&told + got, sizeof told - got) : -1;
    got += more > 0 ? (size_t)more : 0;
    if (got == sizeof told) {
      *result = told;
      got = 0;
    }
    CM_TRY(cm_run_progress(run, result->fraction, -1, 0, NAN, error));
  }
  return CM_OK;
}

static cm_status wait_for(pid_t child, int pipe, const char *path, cm_run *run, outcome *result, cm_error *error)
{
  int ended = 0;
  cm_status status = listen_to(pipe, run, result, error);
  if (status != CM_OK)
    (void)kill(child, SIGKILL);
  while (waitpid(child, &ended, 0) < 0 && errno == EINTR)
    ;
  if (status != CM_OK || (result->ended && WIFEXITED(ended) && WEXITSTATUS(ended) == EXIT_SUCCESS))
    return status;
  return WIFSIGNALED(ended) ? cm_fail(error, CM_BAD_NETWORK, "the library that reads %s crashed on it (%s): the file is damaged",
                                      path, strsignal(WTERMSIG(ended)))
                            : cm_fail(error, CM_INTERNAL, "the process that read %s ended without a result", path);
}

/* Does that in a child. */
static cm_status do_apart(const apart *a, cm_run *run, cm_import_report *report, cm_error *error)
{
  int ends[2];
  outcome result = {0};
  if (pipe(ends) != 0)
    return cm_fail_errno(error, errno, "cannot start reading", a->path);
  (void)fflush(NULL);
  pid_t child = fork();
  if (child == 0)
    work(ends[1], a);
  (void)close(ends[1]);
  cm_status status = child < 0 ? cm_fail_errno(error, errno, "cannot start reading", a->path)
                               : wait_for(child, ends[0], a->path, run, &result, error);
  (void)close(ends[0]);
  if (status == CM_OK && result.status != CM_OK) {
    *error = result.error;
    status = result.status;
  }
  if (status == CM_OK && report != NULL)
    *report = result.report;
  return status;
}

static cm_status store_network(const apart *a, cm_run *run, cm_import_report *report, cm_error *error)
{
  const cm_import_limits standard = cm_import_limits_default();
  cm_topology *topology = NULL;
  return cm_import_as(a->path, a->hint, &standard, run, &topology, report, error) == CM_OK
           ? cm_topology_store(topology, a->made, run, error)
           : error->status;
}

cm_status cm_import_apart(const char *path, const cm_import_hint *hint, const char *folder, cm_run *run, cm_topology **topology,
                          cm_import_report *report, cm_error *error)
{
  char made[CM_PATH_MAX];
  CM_TRY(cm_path(made, error, "%s/network.zip", folder));
  cm_run_phase(run, "read");
  cm_status status = do_apart(&(apart){path, folder, made, store_network, hint}, run, report, error);
  CM_THEN(status, cm_topology_load(made, run, topology, error));
  (void)unlink(made);
  return status;
}

static cm_status store_spike(void *user, uint64_t number, const char *population, uint64_t id, double ms, cm_error *error)
{
  (void)number;
  return fprintf(user, "%.17g %llu %s\n", ms, (unsigned long long)id, population) > 0
           ? CM_OK
           : cm_fail_errno(error, errno, "cannot write", "the spikes");
}

static cm_status store_spikes(const apart *a, cm_run *run, cm_import_report *report, cm_error *error)
{
  (void)report;
  FILE *stream = fopen(a->made, "we");
  if (stream == NULL)
    return cm_fail_errno(error, errno, "cannot write", a->made);
  cm_status status = cm_spike_file_read(a->path, run, store_spike, stream, error);
  if (fclose(stream) != 0 && status == CM_OK)
    status = cm_fail_errno(error, errno, "cannot write", a->made);
  return status;
}

/* The lines that the child has written. */
static cm_status take_spikes(FILE *stream, cm_spike_take take, void *user, cm_error *error)
{
  char *line = NULL, *end;
  size_t room = 0;
  cm_status status = CM_OK;
  uint64_t number = 0;
  for (ssize_t length; status == CM_OK && (length = getline(&line, &room, stream)) > 0;) {
    line[length - 1] = '\0';
    const double ms = strtod(line, &end);
    const uint64_t id = strtoull(end, &end, 10);
    status = take(user, number++, *end == ' ' ? end + 1 : "", id, ms, error);
  }
  free(line);
  return status == CM_OK && ferror(stream) != 0 ? cm_fail_errno(error, EIO, "cannot read", "the spikes") : status;
}

cm_status cm_spike_file_apart(const char *path, cm_run *run, cm_spike_take take, void *user, cm_error *error)
{
  char folder[CM_PATH_MAX], lines[CM_PATH_MAX];
  cm_error ignored;
  CM_TRY(cm_folder_scratch(folder, error));
  cm_status status = cm_path(lines, error, "%s/spikes", folder);
  CM_THEN(status, do_apart(&(apart){path, folder, lines, store_spikes, NULL}, run, NULL, error));
  FILE *stream = status == CM_OK ? fopen(lines, "re") : NULL;
  if (status == CM_OK)
    status = stream != NULL ? take_spikes(stream, take, user, error) : cm_fail_errno(error, errno, "cannot read", lines);
  if (stream != NULL)
    fclose(stream);
  (void)cm_folder_remove(folder, &ignored);
  return status;
}

cm_status cm_import_guarded(const char *path, const cm_import_hint *hint, cm_run *run, cm_topology **topology,
                            cm_import_report *report, cm_error *error)
{
  const cm_import_limits limits = cm_import_limits_default();
  char folder[CM_PATH_MAX];
  cm_error ignored;
  if (!cm_network_needs_confinement(path, hint->format))
    return cm_import_as(path, hint, &limits, run, topology, report, error);
  CM_TRY(cm_folder_scratch(folder, error));
  cm_status status = cm_import_apart(path, hint, folder, run, topology, report, error);
  (void)cm_folder_remove(folder, &ignored);
  return status;
}
