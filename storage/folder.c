/* Happy path: lock the folder, read the marker, list what lies in it.
 * What can fail: another server holds the folder, it is somebody else's, its marker is newer or damaged, its database
 * has gone. */
#include "storage/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"

enum { MARKER_BYTES_MAX = 4096, NAMED_MAX = 3 };

const char *const cm_folder_parts[] = {"networks", "mappings", "cache", "incoming", NULL};

cm_status cm_folder_lock(const char *path, int *descriptor, cm_error *error)
{
  int opened = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0)
    return cm_fail_errno(error, errno, "cannot open folder", path);
  if (flock(opened, LOCK_EX | LOCK_NB) != 0) {
    int cause = errno;
    close(opened);
    return cause == EWOULDBLOCK
               ? cm_fail(error, CM_CONFLICT, "another coremapd already works on the data folder %s", path)
               : cm_fail_errno(error, cause, "cannot lock folder (it must be on a local file system)", path);
  }
  *descriptor = opened;
  return CM_OK;
}

static cm_status read_marker(const char *path, cm_folder *folder, cm_error *error)
{
  char file[CM_PATH_MAX], *text;
  size_t size;
  CM_TRY(cm_path(file, error, "%s/coremapd.json", path));
  cm_status status = cm_file_read(file, MARKER_BYTES_MAX, &text, &size, error);
  if (status != CM_OK)
    return status == CM_NOT_FOUND ? CM_OK : status;
  uint64_t refusals = cm_json_refusals();
  json_t *marker = cm_json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
  free(text);
  if (marker == NULL && cm_json_whole(refusals, "the folder's marker", error) != CM_OK)
    return error->status;
  const json_t *format = json_object_get(marker, "format");
  const char *id = json_string_value(json_object_get(marker, "id"));
  if (json_is_true(json_object_get(marker, "unfinished")))
    status = cm_fail(error, CM_CONFLICT, "%s is half of a backup, or of what was restored from one: that was interrupted, or goes on; "
                     "delete the folder and do it again", path);
  else if (!json_is_integer(format) || json_integer_value(format) < 1)
    status = cm_fail(error, CM_DAMAGED, "%s is damaged; restore it from a backup", file);
  else if (json_integer_value(format) > CM_FOLDER_FORMAT)
    status = cm_fail(error, CM_CONFLICT,
                     "the data folder %s was written by a newer version (format %lld, this program knows %d); start that "
                     "version, or name another folder with --data", path, (long long)json_integer_value(format),
                     CM_FOLDER_FORMAT);
  else if (id == NULL || id[0] == '\0' || strlen(id) >= sizeof folder->id)
    status = cm_fail(error, CM_DAMAGED, "%s names no identity; restore it from a backup", file);
  else {
    (void)snprintf(folder->id, sizeof folder->id, "%s", id);
    folder->marked = true;
  }
  json_decref(marker);
  return status;
}

cm_status cm_folder_list(const char *path, DIR **listing, cm_error *error)
{
  *listing = opendir(path);
  return *listing != NULL ? CM_OK : cm_fail_errno(error, errno, "cannot open folder", path);
}

const char *cm_folder_next(DIR *listing)
{
  const struct dirent *item;
  while ((item = readdir(listing)) != NULL && (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0))
    ;
  return item != NULL ? item->d_name : NULL;
}

static cm_status is_filled(const char *path, const char *part, bool *filled, cm_error *error)
{
  char name[CM_PATH_MAX];
  CM_TRY(cm_path(name, error, "%s/%s", path, part));
  DIR *listing;
  const cm_status status = cm_folder_list(name, &listing, error);
  if (status != CM_OK)
    return status == CM_NOT_FOUND ? CM_OK : status;
  *filled = *filled || cm_folder_next(listing) != NULL;
  closedir(listing);
  return CM_OK;
}

/* Names that a data folder has of itself. A script that starts the server may keep its log and process number there
 * as coremapd.*; a file system's root has a lost+found. */
static bool is_ours(const char *name)
{
  for (const char *const *part = cm_folder_parts; *part != NULL; part++)
    if (strcmp(name, *part) == 0)
      return true;
  return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, "lock") == 0 ||
         strcmp(name, "lost+found") == 0 || strncmp(name, "coremapd.", 9) == 0;
}

/* What is in the folder that is not ours: how many names, and the first ones as text. */
static cm_status list_strangers(const char *path, size_t *count, char *names, size_t size, cm_error *error)
{
  DIR *listing;
  size_t found = 0, used = 0;
  CM_TRY(cm_folder_list(path, &listing, error));
  names[0] = '\0';
  for (const char *name; (name = cm_folder_next(listing)) != NULL;)
    if (!is_ours(name) && found++ < NAMED_MAX && used < size)
      used += (size_t)snprintf(names + used, size - used, "%s%.60s", used > 0 ? ", " : "", name);
  closedir(listing);
  *count = found;
  return CM_OK;
}

cm_status cm_folder_examine(const char *path, cm_folder *folder, cm_error *error)
{
  cm_folder found = {0};
  char database[CM_PATH_MAX], names[256];
  struct stat about;
  size_t strangers = 0;
  CM_TRY(read_marker(path, &found, error));
  CM_TRY(cm_path(database, error, "%s/coremapd.db", path));
  CM_TRY(list_strangers(path, &strangers, names, sizeof names, error));
  CM_TRY(is_filled(path, "networks", &found.filled, error));
  CM_TRY(is_filled(path, "mappings", &found.filled, error));
  bool has_database = stat(database, &about) == 0 && about.st_size > 0;
  if (!found.marked && !has_database && strangers > 0)
    return cm_fail(error, CM_CONFLICT,
                   "%s is no data folder: it holds what is not coremapd's (%s%s); name an empty or a new folder with --data",
                   path, names, strangers > NAMED_MAX ? ", ..." : "");
  if (!has_database && found.marked)
    return cm_fail(error, CM_CONFLICT,
                   "the data folder %s has lost its database coremapd.db, which says what its files are; restore it "
                   "from a backup, or name another folder with --data", path);
  if (!has_database && found.filled)
    return cm_fail(error, CM_CONFLICT,
                   "%s is no data folder, or has lost its database: there are files in networks/ or mappings/ and no "
                   "coremapd.db that knows them; restore it from a backup, or name another folder with --data", path);
  *folder = found;
  return CM_OK;
}

static cm_status write_marker(const char *path, const char *about, int format, const char *rest, cm_error *error)
{
  char name[CM_PATH_MAX];
  cm_file file = {0};
  CM_TRY(cm_path(name, error, "%s/coremapd.json", path));
  CM_TRY(cm_file_create(&file, name, error));
  (void)fprintf(file.stream, "{\"about\": \"%s of coremapd %s\", \"format\": %d, %s}\n", about, CM_VERSION, format, rest);
  return cm_file_commit(&file, error);
}

cm_status cm_folder_mark(const char *path, const char *id, cm_error *error)
{
  char rest[CM_FOLDER_ID_MAX + 16];
  (void)snprintf(rest, sizeof rest, "\"id\": \"%s\"", id);
  return write_marker(path, "data folder", CM_FOLDER_FORMAT, rest, error);
}

cm_status cm_folder_mark_unfinished(const char *path, cm_error *error)
{
  return write_marker(path, "unfinished copy of a data folder", 0, "\"unfinished\": true", error);
}
