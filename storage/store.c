/* Happy path: make the folders, take the lock, open the database, sweep what no row knows, open the cache.
 * What can fail: another server on the folder (lock), a newer schema, a full disk. */
#include "storage/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

void cm_store_id(char *id)
{
  unsigned char bytes[10];
  randombytes_buf(bytes, sizeof bytes);
  sodium_bin2hex(id, CM_ID_MAX, bytes, sizeof bytes);
}

double cm_store_time(void)
{
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void cm_store_sha256(const void *bytes, size_t size, char *hex)
{
  unsigned char digest[crypto_hash_sha256_BYTES];
  crypto_hash_sha256(digest, bytes, size);
  sodium_bin2hex(hex, CM_SHA_MAX, digest, sizeof digest);
}

uint64_t cm_store_free_bytes(const cm_store *store)
{
  struct statvfs about;
  return statvfs(store->folder, &about) == 0 ? (uint64_t)about.f_bavail * about.f_frsize : 0;
}

static cm_status touch(sqlite3 *handle, void *context, cm_error *error)
{
  (void)context;
  return cm_sql_run(
      handle, NULL, error,
      "INSERT INTO meta(name, value) VALUES('touched', 1) ON CONFLICT(name) DO UPDATE SET value = value + 1", "");
}

cm_status cm_store_writable(cm_store *store, cm_error *error)
{
  return cm_database_write(store->database, touch, NULL, error);
}

/* One sweep: removes the entries of FOLDER whose name (without `suffix`) is no id in TABLE. */
typedef struct sweep {
  const char *folder, *suffix, *query;
} sweep;

static cm_status sweep_folder(sqlite3 *handle, void *context, cm_error *error)
{
  const sweep *what = context;
  DIR *listing = opendir(what->folder);
  if (listing == NULL)
    return cm_fail_errno(error, errno, "cannot open folder", what->folder);
  cm_status status = CM_OK;
  struct dirent *item;
  while (status == CM_OK && (item = readdir(listing)) != NULL) {
    if (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0)
      continue;
    char id[NAME_MAX + 1], path[CM_PATH_MAX];
    int64_t known = 0;
    size_t length = strlen(item->d_name), cut = strlen(what->suffix);
    (void)snprintf(id, sizeof id, "%s", item->d_name);
    if (length > cut && strcmp(id + length - cut, what->suffix) == 0) {
      id[length - cut] = '\0';
      status = cm_sql_number(handle, 0, &known, error, what->query, "t", id);
    }
    if (status == CM_OK && known == 0) {
      status = cm_path(path, error, "%s/%s", what->folder, item->d_name);
      if (status == CM_OK)
        status = cm_folder_remove(path, error);
    }
  }
  closedir(listing);
  return status;
}

static cm_status sweep_all(cm_store *store, cm_error *error)
{
  static const struct {
    const char *folder, *suffix, *query;
  } table[] = {
    {"networks", ".zip", "SELECT 1 FROM networks WHERE id = ?"},
    {"mappings", "", "SELECT 1 FROM mappings WHERE id = ?"},
    {"incoming", "", "SELECT 1 FROM uploads WHERE id = ?"},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    char path[CM_PATH_MAX];
    if (cm_path(path, error, "%s/%s", store->folder, table[i].folder) != CM_OK ||
        cm_folder_make(path, error) != CM_OK)
      return error->status;
    sweep what = {path, table[i].suffix, table[i].query};
    if (cm_database_read(store->database, sweep_folder, &what, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

static cm_status take_lock(cm_store *store, cm_error *error)
{
  char path[CM_PATH_MAX];
  if (cm_path(path, error, "%s/lock", store->folder) != CM_OK)
    return error->status;
  store->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (store->lock < 0)
    return cm_fail_errno(error, errno, "cannot open", path);
  if (flock(store->lock, LOCK_EX | LOCK_NB) != 0)
    return errno == EWOULDBLOCK
               ? cm_fail(error, CM_CONFLICT, "another coremapd already works on the data folder %s", store->folder)
               : cm_fail_errno(error, errno, "cannot lock", path);
  return CM_OK;
}

cm_status cm_store_open(const char *folder, uint64_t cache_bytes_max, cm_store **store, cm_error *error)
{
  if (sodium_init() < 0)
    return cm_fail(error, CM_INTERNAL, "libsodium cannot be started");
  cm_store *made = calloc(1, sizeof *made);
  if (made == NULL)
    return cm_fail(error, CM_NO_MEMORY, "out of memory while opening the data folder");
  made->lock = -1;
  pthread_mutex_init(&made->blob_lock, NULL);
  char path[CM_PATH_MAX];
  if (cm_path(made->folder, error, "%s", folder) != CM_OK || cm_folder_make(folder, error) != CM_OK ||
      take_lock(made, error) != CM_OK || cm_path(path, error, "%s/coremapd.db", folder) != CM_OK ||
      cm_database_open(path, &made->database, error) != CM_OK || sweep_all(made, error) != CM_OK ||
      cm_path(path, error, "%s/cache", folder) != CM_OK ||
      cm_cache_open(path, cache_bytes_max, &made->cache, error) != CM_OK ||
      cm_board_new(&made->board, error) != CM_OK) {
    cm_store_close(made);
    return error->status;
  }
  *store = made;
  return CM_OK;
}

void cm_store_close(cm_store *store)
{
  if (store == NULL)
    return;
  cm_board_free(store->board);
  cm_cache_close(store->cache);
  cm_database_close(store->database);
  if (store->lock >= 0)
    close(store->lock);
  pthread_mutex_destroy(&store->blob_lock);
  free(store);
}
