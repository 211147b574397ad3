/* Happy path: lock the folder, look whose it is, open the database, compare identities, put aside what no row knows,
 * open the cache.
 * What can fail: another server on the folder (lock), a folder that is not ours, a newer schema, a full disk. */
#include "storage/store.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <sodium.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "library/private/base.h"
#include "storage/check.h"
#include "storage/clock.h"
#include "storage/folder.h"
#include "storage/log.h"
#include "storage/monitor.h"
#include "storage/scrub.h"
#include "storage/positions.h"
#include "storage/sweep.h"

uint64_t cm_store_free_bytes(const cm_store *store)
{
  struct statvfs about;
  if (statvfs(store->folder, &about) != 0 || (about.f_files > 0 && about.f_favail == 0)) /* no file more, or no byte */
    return 0;
  return (uint64_t)about.f_bavail * about.f_frsize;
}

cm_status cm_store_writable(cm_store *store, cm_error *error)
{
  return cm_database_run(store->database, NULL, error, "INSERT INTO meta(name, value) VALUES('touched', 1) ON CONFLICT(name) DO UPDATE SET value = value + 1",
                         "");
}

/* Servers of the release before lock this file: it is locked when it is there, and `make` makes it. */
static cm_status take_old_lock(cm_store *store, bool make, cm_error *error)
{
  char path[CM_PATH_MAX];
  if (store->old_lock >= 0)
    return CM_OK;
  CM_TRY(cm_path(path, error, "%s/lock", store->folder));
  store->old_lock = open(path, O_RDWR | O_CLOEXEC | (make ? O_CREAT : 0), 0666);
  if (store->old_lock < 0)
    return errno == ENOENT ? CM_OK : cm_fail_errno(error, errno, "cannot open", path);
  if (flock(store->old_lock, LOCK_EX | LOCK_NB) != 0)
    return errno == EWOULDBLOCK
               ? cm_fail(error, CM_CONFLICT, "another coremapd already works on the data folder %s", store->folder)
               : cm_fail_errno(error, errno, "cannot lock", path);
  return CM_OK;
}

static cm_status make_parts(const cm_store *store, cm_error *error)
{
  for (const char *const *part = cm_folder_parts; *part != NULL; part++) {
    char path[CM_PATH_MAX];
    CM_TRY(cm_path(path, error, "%s/%s", store->folder, *part));
    CM_TRY(cm_folder_make_durable(path, error));
  }
  return CM_OK;
}

/* Marker and database must name one folder. The database gets its identity first: a marker without a database would be
 * refused ever after. */
static cm_status identify(cm_store *store, const cm_folder *found, cm_error *error)
{
  char *id = store->id;
  id[0] = '\0';
  CM_TRY(cm_database_find(store->database, NULL, error, "SELECT id FROM folder", ">t", CM_INTO(store->id)));
  if (found->marked && id[0] != '\0' && strcmp(found->id, id) != 0)
    return cm_fail(error, CM_CONFLICT,
                   "the database in %s belongs to another data folder (%s, and coremapd.json says %s); put the one back "
                   "that belongs here, or name another folder with --data", store->folder, id, found->id);
  if (id[0] == '\0') {
    if (found->marked)
      (void)snprintf(id, sizeof store->id, "%s", found->id);
    else
      cm_store_id(id);
    CM_TRY(cm_database_run(store->database, NULL, error, "INSERT INTO folder(id) VALUES(?)", "t", id));
  }
  if (found->marked)
    return CM_OK;
  if (found->filled)
    cm_log("took over the data folder %s of an earlier release", store->folder);
  return cm_folder_mark(store->folder, id, error);
}

/* What is in the folder is its owner's alone, whatever mode an earlier release, or who made it, gave it. */
static cm_status close_to_others(const cm_store *store, cm_error *error)
{
  struct stat about;
  if (fstat(store->lock, &about) != 0)
    return cm_fail_errno(error, errno, "cannot look at", store->folder);
  if ((about.st_mode & 077) == 0 || about.st_uid != geteuid())
    return CM_OK;
  if (fchmod(store->lock, 0700) != 0)
    return cm_fail_errno(error, errno, "cannot close to others", store->folder);
  cm_log("the data folder %s was open to others; its mode is 0700 now", store->folder);
  return CM_OK;
}

static cm_status open_folder(cm_store *store, const char *folder, cm_error *error)
{
  cm_folder found;
  char path[CM_PATH_MAX];
  if (cm_path(store->folder, error, "%s", folder) != CM_OK || cm_folder_make_durable(folder, error) != CM_OK ||
      cm_folder_lock(folder, &store->lock, error) != CM_OK || cm_folder_examine(folder, &found, error) != CM_OK ||
      take_old_lock(store, false, error) != CM_OK || cm_path(path, error, "%s/coremapd.db", folder) != CM_OK ||
      cm_database_open(path, found.marked || found.filled, &store->database, error) != CM_OK ||
      take_old_lock(store, true, error) != CM_OK || make_parts(store, error) != CM_OK ||
      identify(store, &found, error) != CM_OK || close_to_others(store, error) != CM_OK || cm_clock_start(store, error) != CM_OK)
    return error->status;
  return cm_folder_sync(folder, error);
}

cm_status cm_store_open(const char *folder, uint64_t cache_bytes_max, cm_store **store, cm_error *error)
{
  if (sodium_init() < 0)
    return cm_fail(error, CM_INTERNAL, "libsodium cannot be started");
  cm_store *made;
  CM_TRY(CM_HEAP(made, 1, "the data folder", error));
  made->lock = made->old_lock = -1;
  pthread_mutex_init(&made->blob_lock, NULL);
  char path[CM_PATH_MAX];
  uint64_t moved, faults;
  coremap_error *why = NULL;
  if (open_folder(made, folder, error) != CM_OK || cm_sweep(made, &moved, error) != CM_OK ||
      cm_check_sizes(made, &faults, error) != CM_OK ||
      cm_path(path, error, "%s/cache", folder) != CM_OK ||
      library_status(library_levels_open(NULL, path, cache_bytes_max, &made->cache, &why), &why, error) != CM_OK ||
      cm_monitor_start(&made->monitor, error) != CM_OK || cm_event_bus_new(&made->bus, error) != CM_OK) {
    cm_store_close(made);
    return error->status;
  }
  *store = made;
  return CM_OK;
}

/* Files of another user's making are the end of a server that cannot open them. */
static cm_status check_owner(const char *folder, bool make, bool *there, cm_error *error)
{
  struct stat about;
  *there = stat(folder, &about) == 0;
  if (!*there)
    return errno == ENOENT && make ? CM_OK
           : errno == ENOENT ? cm_fail(error, CM_NOT_FOUND, "there is no data folder %s; name it with --data", folder)
                             : cm_fail_errno(error, errno, "cannot look at", folder);
  if (about.st_uid == geteuid())
    return CM_OK;
  char buffer[1024];
  struct passwd entry, *owner = NULL;
  (void)getpwuid_r(about.st_uid, &entry, buffer, sizeof buffer, &owner);
  return cm_fail(error, CM_CONFLICT, "the data folder %s belongs to %s: do this as that user, with sudo -u %s", folder,
                 owner != NULL ? owner->pw_name : "another user", owner != NULL ? owner->pw_name : "USER");
}

cm_status cm_store_open_beside(const char *folder, bool make, cm_database **database, cm_error *error)
{
  char path[CM_PATH_MAX];
  bool there;
  int lock = -1;
  cm_store *store;
  if (sodium_init() < 0)
    return cm_fail(error, CM_INTERNAL, "libsodium cannot be started");
  CM_TRY(check_owner(folder, make, &there, error));
  CM_TRY(cm_path(path, error, "%s/coremapd.db", folder));
  bool served = there && cm_folder_lock(folder, &lock, error) != CM_OK;
  if (served && error->status != CM_CONFLICT)
    return error->status;
  if (lock >= 0)
    close(lock);
  if (!served) { /* as a start would, so that folder and schema are ours */
    CM_TRY(cm_store_open(folder, UINT64_MAX, &store, error));
    cm_store_close(store);
  }
  return cm_database_join(path, database, error);
}

void cm_store_close(cm_store *store)
{
  if (store == NULL)
    return;
  cm_scrub_stop(store);
  cm_queue_order_free(atomic_load(&store->order));
  cm_monitor_free(store->monitor);
  cm_event_bus_free(store->bus);
  library_levels_close(store->cache);
  cm_database_close(store->database);
  if (store->old_lock >= 0)
    close(store->old_lock);
  if (store->lock >= 0)
    close(store->lock);
  pthread_mutex_destroy(&store->blob_lock);
  free(store);
}
