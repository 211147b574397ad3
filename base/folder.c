/* Folders: made, synced and removed with all that is in them. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

cm_status cm_folder_sync(const char *path, cm_error *error)
{
  int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return cm_fail_errno(error, errno, "cannot open folder", path);
  int failed = fsync(descriptor) != 0 ? errno : 0;
  close(descriptor);
  return failed != 0 ? cm_fail_errno(error, failed, "cannot sync folder", path) : CM_OK;
}

static cm_status sync_file(const char *path, cm_error *error)
{
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0)
    return cm_fail_errno(error, errno, "cannot open", path);
  const int failed = fdatasync(descriptor) != 0 ? errno : 0;
  close(descriptor);
  return failed != 0 ? cm_fail_errno(error, failed, "cannot sync", path) : CM_OK;
}

cm_status cm_folder_sync_files(const char *path, cm_error *error)
{
  DIR *listing = opendir(path);
  if (listing == NULL)
    return cm_fail_errno(error, errno, "cannot open folder", path);
  cm_status status = CM_OK;
  for (const struct dirent *item; status == CM_OK && (item = readdir(listing)) != NULL;) {
    char one[CM_PATH_MAX];
    struct stat about;
    if (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0)
      continue;
    status = cm_path(one, error, "%s/%s", path, item->d_name);
    if (status == CM_OK && lstat(one, &about) != 0)
      status = cm_fail_errno(error, errno, "cannot look at", one);
    else if (status == CM_OK && S_ISDIR(about.st_mode))
      status = cm_folder_sync_files(one, error);
    else if (status == CM_OK && S_ISREG(about.st_mode))
      status = sync_file(one, error);
  }
  (void)closedir(listing);
  return status == CM_OK ? cm_folder_sync(path, error) : status;
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

static cm_status make_one(const char *path, bool durable, cm_error *error)
{
  if (mkdir(path, 0777) == 0)
    return durable ? cm_folder_sync_of(path, error) : CM_OK;
  return errno == EEXIST ? CM_OK : cm_fail_errno(error, errno, "cannot make folder", path);
}

/* From below, so that nothing is asked of those further up, which a confined process must not know of. */
static cm_status make_all(char *path, bool durable, cm_error *error)
{
  char *slash = strrchr(path, '/');
  cm_status status = make_one(path, durable, error);
  if (status == CM_OK || error->cause != ENOENT || slash == NULL || slash == path)
    return status;
  *slash = '\0';
  status = make_all(path, durable, error);
  *slash = '/';
  return status == CM_OK ? make_one(path, durable, error) : status;
}

static cm_status make_folders(const char *path, bool durable, cm_error *error)
{
  char whole[CM_PATH_MAX];
  return cm_path(whole, error, "%s", path) == CM_OK ? make_all(whole, durable, error) : error->status;
}

cm_status cm_folder_make(const char *path, cm_error *error)
{
  return make_folders(path, false, error);
}

cm_status cm_folder_make_durable(const char *path, cm_error *error)
{
  return make_folders(path, true, error);
}

static int remove_entry(const char *path, CM_UNUSED const struct stat *about, CM_UNUSED int kind, CM_UNUSED struct FTW *place)
{
  return remove(path);
}

cm_status cm_folder_remove(const char *path, cm_error *error)
{
  if (nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS) != 0 && errno != ENOENT)
    return cm_fail_errno(error, errno, "cannot remove folder", path);
  return CM_OK;
}
