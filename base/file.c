/* Happy path: create beside the target, write, fdatasync, rename, fsync the folder.
 * What can fail: no folder, no room, a short write (seen by fflush), a crash at any point (the target then
 * is the old or the new file; a stray temporary "NAME.tmp-XXXXXX" may stay and is swept by the owner).
 * What is no regular file (a pipe, a device) cannot be replaced: what was written is copied into it at the end. */
#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <nettle/sha2.h>
#include <sodium.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* The descriptor that a path names as such ("/dev/stdout", "/dev/fd/7"); -1: none. Opened by its path, a file that
 * standard output was sent to would be written from its beginning. */
static int descriptor_of(const char *path)
{
  static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
  if (strcmp(path, "/dev/stdout") == 0)
    return STDOUT_FILENO;
  if (strcmp(path, "/dev/stderr") == 0)
    return STDERR_FILENO;
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    size_t length = strlen(folders[i]);
    char *end;
    if (strncmp(path, folders[i], length) != 0)
      continue;
    unsigned long number = strtoul(path + length, &end, 10);
    if (end != path + length && *end == '\0' && number <= INT_MAX)
      return (int)number;
  }
  return -1;
}

/* Where the link `path`, which leads nowhere yet, points. */
static cm_status follow(const char *path, char *target, cm_error *error)
{
  char link[CM_PATH_MAX];
  ssize_t length = readlink(path, link, sizeof link);
  if (length < 0 || (size_t)length >= sizeof link)
    return cm_path(target, error, "%s", path);
  link[length] = '\0';
  const char *slash = strrchr(path, '/');
  if (link[0] == '/' || slash == NULL)
    return cm_path(target, error, "%s", link);
  return cm_path(target, error, "%.*s/%s", (int)(slash - path), path, link);
}

/* Finds out what stands at made->path and follows links; fills mode, owner and, for what is no regular file,
 * `through`. */
static cm_status look(cm_file *made, const char *path, cm_error *error)
{
  struct stat about;
  char whole[PATH_MAX];
  int named = descriptor_of(path);
  CM_TRY(cm_path(made->path, error, "%s", path));
  if (named >= 0) {
    made->through = fcntl(named, F_DUPFD_CLOEXEC, 0);
    return made->through >= 0 ? CM_OK : cm_fail_errno(error, errno, "cannot write", path);
  }
  if (stat(path, &about) != 0)
    return errno == ENOENT ? follow(path, made->path, error) : cm_fail_errno(error, errno, "cannot write", path);
  if (S_ISDIR(about.st_mode))
    return cm_fail_errno(error, EISDIR, "cannot write", path);
  if (!S_ISREG(about.st_mode)) {
    made->through = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return made->through >= 0 ? CM_OK : cm_fail_errno(error, errno, "cannot write", path);
  }
  made->replaces = true;
  made->mode = about.st_mode & 07777;
  made->user = about.st_uid;
  made->group = about.st_gid;
  return realpath(path, whole) != NULL ? cm_path(made->path, error, "%s", whole)
                                       : cm_fail_errno(error, errno, "cannot write", path);
}

/* A new file under a name of its own, with the rights that the process gives new files. */
static int open_scratch(char *path)
{
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  enum { TRIES = 100, DRAWN = 6 };
  char *end = path + strlen(path) - DRAWN;
  for (int i = 0; i < TRIES; i++) {
    unsigned char drawn[DRAWN];
    if (getrandom(drawn, sizeof drawn, 0) != (ssize_t)sizeof drawn)
      return -1;
    for (int k = 0; k < DRAWN; k++)
      end[k] = letters[drawn[k] % (sizeof letters - 1)];
    int descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST)
      return descriptor;
  }
  return -1;
}

/* Where passing files go. */
static const char *passing(void)
{
  const char *folder = getenv("TMPDIR");
  return folder != NULL && folder[0] != '\0' ? folder : "/tmp";
}

cm_status cm_folder_scratch(char path[CM_PATH_MAX], cm_error *error)
{
  cm_status status = cm_path(path, error, "%s/coremap-XXXXXX", passing());
  CM_THEN_IF(status, mkdtemp(path) == NULL, cm_fail_errno(error, errno, "cannot make a folder in", passing()));
  if (status != CM_OK)
    path[0] = '\0';
  return status;
}

void cm_buffered_begin(FILE *stream, size_t bytes, char **buffer)
{
  *buffer = malloc(bytes);
  if (*buffer != NULL)
    (void)setvbuf(stream, *buffer, _IOFBF, bytes);
}

int cm_buffered_close(FILE **stream, char **buffer)
{
  int failed = fclose(*stream) != 0 ? errno : 0;
  *stream = NULL;
  free(*buffer);
  *buffer = NULL;
  return failed;
}

/* To a file under construction at once. */
enum { WRITE_BYTES = 1 << 16 };

cm_status cm_file_create(cm_file *file, const char *path, cm_error *error)
{
  cm_file made = {.through = -1};
  struct stat about;
  CM_TRY(look(&made, path, error));
  cm_status status = made.through < 0
                         ? cm_path(made.scratch, error, "%s.tmp-XXXXXX", made.path)
                         : cm_path(made.scratch, error, "%s/coremap.tmp-XXXXXX", passing());
  int descriptor = status == CM_OK ? open_scratch(made.scratch) : -1;
  if (status == CM_OK && descriptor < 0)
    status = cm_fail_errno(error, errno, "cannot create", path);
  else if (status == CM_OK && ((made.stream = fdopen(descriptor, "w+b")) == NULL || fstat(descriptor, &about) != 0)) {
    status = cm_fail_errno(error, errno, "cannot create", path);
    if (made.stream != NULL)
      fclose(made.stream);
    else
      close(descriptor);
    unlink(made.scratch);
  }
  if (status != CM_OK) {
    if (made.through >= 0)
      close(made.through);
    return status;
  }
  if (!made.replaces) {
    made.mode = about.st_mode & 07777;
    made.user = about.st_uid;
    made.group = about.st_gid;
  }
  cm_buffered_begin(made.stream, WRITE_BYTES, &made.buffer);
  *file = made;
  return CM_OK;
}

cm_status cm_file_reopen(cm_file *file, cm_error *error)
{
  FILE *stream = fopen(file->scratch, "r+be");
  if (stream == NULL)
    return cm_fail_errno(error, errno, "cannot open", file->scratch);
  (void)cm_buffered_close(&file->stream, &file->buffer);
  file->stream = stream;
  return CM_OK;
}

/* Copies all that was written into what stands at the path; 0 or why not. */
static int pour(const cm_file *file)
{
  char block[1 << 14];
  size_t got;
  if (fseek(file->stream, 0, SEEK_SET) != 0)
    return errno;
  while ((got = fread(block, 1, sizeof block, file->stream)) > 0)
    for (size_t put = 0; put < got;) {
      ssize_t more = write(file->through, block + put, got - put);
      if (more < 0 && errno != EINTR)
        return errno;
      put += more > 0 ? (size_t)more : 0;
    }
  return ferror(file->stream) ? EIO : 0;
}

/* The new file's owner and mode; what the process may not give stays its own. */
static int own(const cm_file *file)
{
  struct stat about;
  int descriptor = fileno(file->stream);
  if (fstat(descriptor, &about) != 0)
    return errno;
  if (about.st_uid != file->user || about.st_gid != file->group) {
    if (fchown(descriptor, file->user, file->group) != 0 && errno != EPERM)
      return errno;
  }
  return fchmod(descriptor, file->mode) != 0 ? errno : 0;
}

/* Files of this thread go with their folder. */
static _Thread_local __attribute__((tls_model("initial-exec"))) bool files_pass;

bool cm_files_last(bool last)
{
  const bool before = !files_pass;
  files_pass = !last;
  return before;
}

cm_status cm_file_commit(cm_file *file, cm_error *error)
{
  int failed = fflush(file->stream) != 0 ? errno : 0;
  if (failed == 0 && file->through >= 0)
    failed = pour(file);
  else if (failed == 0 && (failed = own(file)) == 0 && !files_pass)
    failed = fdatasync(fileno(file->stream)) != 0 ? errno : 0;
  const int closed = cm_buffered_close(&file->stream, &file->buffer);
  if (failed == 0)
    failed = closed;
  bool poured = file->through >= 0;
  if (poured && close(file->through) != 0 && failed == 0)
    failed = errno;
  file->through = -1;
  if (failed == 0 && !poured && rename(file->scratch, file->path) != 0)
    failed = errno;
  if (failed != 0 || poured)
    unlink(file->scratch);
  if (failed != 0)
    return cm_fail_errno(error, failed, "cannot write", file->path);
  return poured || files_pass ? CM_OK : cm_folder_sync_of(file->path, error);
}

cm_status cm_file_end(cm_file *file, cm_status status, cm_error *error)
{
  CM_THEN(status, cm_file_commit(file, error));
  cm_file_discard(file);
  return status;
}

cm_status cm_file_write(const char *path, const void *bytes, size_t size, cm_error *error)
{
  cm_file file;
  CM_TRY(cm_file_create(&file, path, error));
  const bool whole = fwrite(bytes, 1, size, file.stream) == size;
  return cm_file_end(&file, whole ? CM_OK : cm_fail(error, CM_DISK_FULL, "cannot write %s", path), error);
}

void cm_file_discard(cm_file *file)
{
  if (file->stream == NULL)
    return;
  (void)cm_buffered_close(&file->stream, &file->buffer);
  if (file->through >= 0)
    close(file->through);
  file->through = -1;
  unlink(file->scratch);
}

cm_status cm_file_read(const char *path, size_t maximum, char **text, size_t *size, cm_error *error)
{
  FILE *stream = fopen(path, "rbe");
  if (stream == NULL)
    return cm_fail_errno(error, errno, "cannot open", path);
  size_t room = 4096, used = 0;
  char *held = malloc(room + 1);
  cm_status status = CM_OK;
  while (held != NULL) {
    used += fread(held + used, 1, room - used, stream);
    if (used < room) {
      if (ferror(stream))
        status = cm_fail_errno(error, errno, "cannot read", path);
      break;
    }
    if (room > maximum) {
      status = cm_fail(error, CM_TOO_LARGE, "%s is larger than %zu bytes", path, maximum);
      break;
    }
    room *= 2;
    char *larger = realloc(held, room + 1);
    if (larger == NULL)
      free(held);
    held = larger;
  }
  fclose(stream);
  if (held == NULL)
    return cm_whole(false, path, error);
  CM_THEN_IF(status, used > maximum, cm_fail(error, CM_TOO_LARGE, "%s is larger than %zu bytes", path, maximum));
  CM_TRY_OR(status, free(held));
  held[used] = '\0';
  *text = held;
  *size = used;
  return CM_OK;
}

cm_status cm_file_hash(const char *path, char hex[65], uint64_t *bytes, cm_error *error)
{
  FILE *stream = fopen(path, "rbe");
  if (stream == NULL)
    return cm_fail_errno(error, errno, "cannot open", path);
  struct sha256_ctx state;
  sha256_init(&state);
  unsigned char block[1 << 16], digest[SHA256_DIGEST_SIZE];
  uint64_t total = 0;
  size_t got;
  while ((got = fread(block, 1, sizeof block, stream)) > 0) {
    sha256_update(&state, got, block);
    total += got;
  }
  bool bad = ferror(stream) != 0;
  fclose(stream);
  if (bad)
    return cm_fail(error, CM_IO, "cannot read %s", path);
  sha256_digest(&state, sizeof digest, digest);
  sodium_bin2hex(hex, 65, digest, sizeof digest);
  *bytes = total;
  return CM_OK;
}
