/* Files that a command line names. "-" is standard input or output; what can be read only once is kept in a nameless
 * file first, for readers go over their files several times. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/foreign.h"
#include "base/text.h"

enum { SPOOLED_MAX = 16, FD_PATH_MAX = 40 };

static struct {
  char path[FD_PATH_MAX], shown[CM_PATH_MAX];
} spooled[SPOOLED_MAX];
static size_t spooled_count;
static char standard_output[FD_PATH_MAX];

static const char *empty;  /* an input without bytes */

static const char *stop(const char *shown, int cause)
{
  cli_printf(stderr, "coremap: cannot read %s: %s\n", shown, strerror(cause));
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

const char *cli_empty_input(void)
{
  return empty;
}

/* Remembers a file without bytes, for the error that follows. */
static const char *note_empty(const char *path)
{
  struct stat about;
  if (empty == NULL && stat(path, &about) == 0 && S_ISREG(about.st_mode) && about.st_size == 0)
    empty = path;
  return path;
}

const char *cli_input(const char *path)
{
  static bool taken;
  struct stat about;
  if (strcmp(path, "-") != 0) {
    if (stat(path, &about) != 0 || (!S_ISFIFO(about.st_mode) && !S_ISSOCK(about.st_mode)))
      return note_empty(path);
    int from = open(path, O_RDONLY | O_CLOEXEC);
    if (from < 0)
      return stop(path, errno);
    const char *kept = spool(from, path);
    (void)close(from);
    return note_empty(kept);
  }
  if (taken) {
    fputs("coremap: standard input can be one file only: name the others\n", stderr);
    exit(EXIT_USAGE);
  }
  taken = true;
  return note_empty(spool(STDIN_FILENO, "standard input"));
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
    cli_printf(stderr, "coremap: cannot write standard output: %s\n", strerror(errno));
    exit(EXIT_REFUSED);
  }
  (void)snprintf(standard_output, sizeof standard_output, "/dev/fd/%d", kept);
  return standard_output;
}

/* The spooled file, or standard output, whose path stands at `at`, by what people call it; NULL: neither. */
static const char *known_path(const char *at, size_t *length)
{
  for (size_t i = 0; i < spooled_count; i++)
    if (*length = strlen(spooled[i].path), strncmp(at, spooled[i].path, *length) == 0)
      return spooled[i].shown;
  *length = strlen(standard_output);
  return *length > 0 && strncmp(at, standard_output, *length) == 0 ? "standard output" : NULL;
}

void cli_print_detail(const char *detail)
{
  cm_text line;
  size_t length, size;
  if (!cm_text_open(&line))
    return;
  for (const char *at = detail, *known; *at != '\0'; at += length)
    if ((known = known_path(at, &length)) != NULL)
      (void)fputs(known, line.stream);
    else
      length = (size_t)(fputc((unsigned char)*at, line.stream) != EOF);
  char *text = cm_text_close(&line, &size);
  if (text != NULL)
    cm_foreign_print(text, size, CM_FOREIGN_LINE, stderr);
  free(text);
}
