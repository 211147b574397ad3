/* Happy path: create beside the target, write, fdatasync, rename, fsync the folder.
 * What can fail: no folder, no room, a short write (seen by fflush), a crash at any point (the target then
 * is the old or the new file; a stray temporary "NAME.tmp-XXXXXX" may stay and is swept by the owner). */
#include "core/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

cm_status cm_path(char *path, cm_error *error, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(path, CM_PATH_MAX, format, arguments);
  va_end(arguments);
  if (length < 0 || length >= CM_PATH_MAX)
    return cm_fail(error, CM_IO, "a path is longer than %d bytes", CM_PATH_MAX - 1);
  return CM_OK;
}

cm_status cm_file_create(cm_file *file, const char *path, cm_error *error)
{
  cm_file made = {0};
  if (cm_path(made.path, error, "%s", path) != CM_OK ||
      cm_path(made.scratch, error, "%s.tmp-XXXXXX", path) != CM_OK)
    return error->status;
  int descriptor = mkostemp(made.scratch, O_CLOEXEC);
  if (descriptor < 0)
    return cm_fail_errno(error, errno, "cannot create", path);
  mode_t mask = umask(0);
  umask(mask);
  (void)fchmod(descriptor, 0666 & ~mask);
  made.stream = fdopen(descriptor, "w+b");
  if (made.stream == NULL) {
    int cause = errno;
    close(descriptor);
    unlink(made.scratch);
    return cm_fail_errno(error, cause, "cannot create", path);
  }
  *file = made;
  return CM_OK;
}

cm_status cm_folder_sync(const char *path, cm_error *error)
{
  int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return cm_fail_errno(error, errno, "cannot open folder", path);
  int failed = fsync(descriptor) != 0 ? errno : 0;
  close(descriptor);
  return failed != 0 ? cm_fail_errno(error, failed, "cannot sync folder", path) : CM_OK;
}

cm_status cm_folder_sync_of(const char *path, cm_error *error)
{
  char folder[CM_PATH_MAX];
  (void)snprintf(folder, sizeof folder, "%s", path);
  char *slash = strrchr(folder, '/');
  if (slash == NULL)
    return cm_folder_sync(".", error);
  slash[slash == folder ? 1 : 0] = '\0';
  return cm_folder_sync(folder, error);
}

cm_status cm_file_commit(cm_file *file, cm_error *error)
{
  int failed = fflush(file->stream) != 0 || fdatasync(fileno(file->stream)) != 0 ? errno : 0;
  if (fclose(file->stream) != 0 && failed == 0)
    failed = errno;
  file->stream = NULL;
  if (failed == 0 && rename(file->scratch, file->path) != 0)
    failed = errno;
  if (failed != 0) {
    unlink(file->scratch);
    return cm_fail_errno(error, failed, "cannot write", file->path);
  }
  return cm_folder_sync_of(file->path, error);
}

void cm_file_discard(cm_file *file)
{
  if (file->stream == NULL)
    return;
  fclose(file->stream);
  file->stream = NULL;
  unlink(file->scratch);
}

static cm_status make_folders(const char *path, bool durable, cm_error *error)
{
  char step[CM_PATH_MAX];
  if (cm_path(step, error, "%s", path) != CM_OK)
    return error->status;
  for (char *p = step + 1;; p++) {
    char held = *p;
    if (held != '/' && held != '\0')
      continue;
    *p = '\0';
    if (mkdir(step, 0777) != 0) {
      if (errno != EEXIST)
        return cm_fail_errno(error, errno, "cannot make folder", step);
    } else if (durable && cm_folder_sync_of(step, error) != CM_OK)
      return error->status;
    if (held == '\0')
      return CM_OK;
    *p = held;
  }
}

cm_status cm_folder_make(const char *path, cm_error *error)
{
  return make_folders(path, false, error);
}

cm_status cm_folder_make_durable(const char *path, cm_error *error)
{
  return make_folders(path, true, error);
}

static int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *place)
{
  (void)about;
  (void)kind;
  (void)place;
  return remove(path);
}

cm_status cm_folder_remove(const char *path, cm_error *error)
{
  if (nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS) != 0 && errno != ENOENT)
    return cm_fail_errno(error, errno, "cannot remove folder", path);
  return CM_OK;
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
    return cm_fail(error, CM_NO_MEMORY, "out of memory while reading %s", path);
  if (status == CM_OK && used > maximum)
    status = cm_fail(error, CM_TOO_LARGE, "%s is larger than %zu bytes", path, maximum);
  if (status != CM_OK) {
    free(held);
    return status;
  }
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
  crypto_hash_sha256_state state;
  crypto_hash_sha256_init(&state);
  unsigned char block[1 << 16], digest[crypto_hash_sha256_BYTES];
  uint64_t total = 0;
  size_t got;
  while ((got = fread(block, 1, sizeof block, stream)) > 0) {
    crypto_hash_sha256_update(&state, block, got);
    total += got;
  }
  bool bad = ferror(stream) != 0;
  fclose(stream);
  if (bad)
    return cm_fail(error, CM_IO, "cannot read %s", path);
  crypto_hash_sha256_final(&state, digest);
  sodium_bin2hex(hex, 65, digest, sizeof digest);
  *bytes = total;
  return CM_OK;
}
