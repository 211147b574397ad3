/* Files that a command line names. "-" is standard input or output; what can be read only once is kept in a nameless
 * file first, for readers go over their files several times. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "core/network/apart.h"
#include "core/network/rates.h"
#include "core/network/export.h"

enum { SPOOLED_MAX = 16, FD_PATH_MAX = 40 };

static struct {
  char path[FD_PATH_MAX], shown[CM_PATH_MAX];
} spooled[SPOOLED_MAX];
static size_t spooled_count;
static char standard_output[FD_PATH_MAX];

static const char *stop(const char *shown, int cause)
{
  fprintf(stderr, "coremap: cannot read %s: %s\n", shown, strerror(cause));
  exit(EXIT_USAGE);
}

static int nameless_file(const char *shown)
{
  const char *base = getenv("TMPDIR");
  char path[CM_PATH_MAX];
  cm_error error;
  base = base != NULL && base[0] != '\0' ? base : "/tmp";
  int file = open(base, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0)
    return file;
  if (cm_path(path, &error, "%s/coremap-XXXXXX", base) != CM_OK || (file = mkostemp(path, O_CLOEXEC)) < 0)
    (void)stop(shown, errno);
  (void)unlink(path);
  return file;
}

static void copy(int from, int to, const char *shown)
{
  static char block[1 << 16];
  for (ssize_t got; (got = read(from, block, sizeof block)) != 0;) {
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      (void)stop(shown, errno);
    for (ssize_t put = 0; put < got;) {
      ssize_t more = write(to, block + put, (size_t)(got - put));
      if (more < 0 && errno != EINTR)
        (void)stop(shown, errno);
      put += more > 0 ? more : 0;
    }
  }
}

/* Keeps what `from` gives in a nameless file, and returns a path of it. */
static const char *spool(int from, const char *shown)
{
  if (spooled_count == SPOOLED_MAX)
    (void)stop(shown, EMFILE);
  int to = nameless_file(shown);
  copy(from, to, shown);
  (void)snprintf(spooled[spooled_count].path, FD_PATH_MAX, "/proc/self/fd/%d", to);
  (void)snprintf(spooled[spooled_count].shown, CM_PATH_MAX, "%s", shown);
  return spooled[spooled_count++].path;
}

const char *cli_input(const char *path)
{
  static bool taken;
  struct stat about;
  if (strcmp(path, "-") != 0) {
    if (stat(path, &about) != 0 || (!S_ISFIFO(about.st_mode) && !S_ISSOCK(about.st_mode)))
      return path;
    int from = open(path, O_RDONLY | O_CLOEXEC);
    if (from < 0)
      return stop(path, errno);
    const char *kept = spool(from, path);
    (void)close(from);
    return kept;
  }
  if (taken) {
    fputs("coremap: standard input can be one file only: name the others\n", stderr);
    exit(EXIT_USAGE);
  }
  taken = true;
  return spool(STDIN_FILENO, "standard input");
}

const char *cli_output(const char *path)
{
  if (strcmp(path, "-") != 0 && strcmp(path, "/dev/stdout") != 0)
    return path;
  if (standard_output[0] != '\0') {
    fputs("coremap: standard output can take one file only: name the others\n", stderr);
    exit(EXIT_USAGE);
  }
  int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (kept < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    fprintf(stderr, "coremap: cannot write standard output: %s\n", strerror(errno));
    exit(EXIT_REFUSED);
  }
  (void)snprintf(standard_output, sizeof standard_output, "/dev/fd/%d", kept);
  return standard_output;
}

void cli_print_detail(const char *detail)
{
  for (const char *at = detail; *at != '\0';) {
    size_t i = 0, length = 0;
    for (; i < spooled_count; i++)
      if (length = strlen(spooled[i].path), strncmp(at, spooled[i].path, length) == 0)
        break;
    if (i < spooled_count) {
      fputs(spooled[i].shown, stderr);
      at += length;
    } else if (standard_output[0] != '\0' && strncmp(at, standard_output, strlen(standard_output)) == 0) {
      fputs("standard output", stderr);
      at += strlen(standard_output);
    } else
      fputc(*at++, stderr);
  }
}

static const char *read_option[CM_READ_OPTIONS];

const char *cli_read_option(cm_read_option_id id)
{
  return read_option[id];
}

cm_status cli_read_options(int *argc, char **argv, cm_error *error)
{
  int kept = 1;
  for (int i = 1; i < *argc; i++) {
    int id = 0;
    size_t length = 0;
    for (; id < CM_READ_OPTIONS; id++) {
      length = strlen(cm_read_options[id].name);
      if (strncmp(argv[i], "--", 2) == 0 && strncmp(argv[i] + 2, cm_read_options[id].name, length) == 0 &&
          (argv[i][2 + length] == '\0' || argv[i][2 + length] == '='))
        break;
    }
    if (id == CM_READ_OPTIONS) {
      argv[kept++] = argv[i];
      continue;
    }
    bool joined = argv[i][2 + length] == '=';
    if (!joined && i + 1 == *argc)
      return cm_fail(error, CM_BAD_OPTION, "--%s needs a value: %s", cm_read_options[id].name, cm_read_options[id].form);
    read_option[id] = joined ? argv[i] + 3 + length : argv[++i];
    if (cm_read_option_check((cm_read_option_id)id, read_option[id], error) != CM_OK)
      return error->status;
  }
  *argc = kept;
  argv[kept] = NULL;
  return CM_OK;
}

cm_status cli_import(const char *path, const char *format, cm_run *run, cm_topology **topology,
                     cm_import_report *report, cm_error *error)
{
  cm_import_hint hint = {.format = format, .name = path};
  memcpy(hint.option, read_option, sizeof hint.option);
  cm_topology *made;
  cm_status status = cm_import_guarded(path, &hint, run, &made, report, error);
  if (status == CM_OK && read_option[CM_READ_RATES] != NULL &&
      (status = cm_rates_read(cli_input(read_option[CM_READ_RATES]), made, run, error)) != CM_OK)
    cm_topology_free(made);
  if (status == CM_OK)
    *topology = made;
  return status;
}

cm_status cli_export(const cm_topology *topology, const char *path, const char *to, cm_run *run, cm_error *error)
{
  char name[CM_FORMAT_FILE_NAME_MAX];
  if (to == NULL && strcmp(path, "-") == 0)
    return cm_fail(error, CM_BAD_REQUEST, "standard output has no name that says the format: name it with --to");
  if (to != NULL && cm_network_format_file_name(to, name, error) != CM_OK)
    return error->status;
  return cm_export_as(topology, cli_output(path), to != NULL ? name : path, run, error);
}
