/* The coarsened levels of a job folder as one cache: those that were given with it, and those that the job makes. */
#include "daemon/job/levels.h"

#include <unistd.h>

static cm_status acquire(void *user, const char *key, char *folder, cm_error *error)
{
  cm_work_levels *l = user;
  cm_level_cache given = cm_cache_levels(l->given), made = cm_cache_levels(l->made);
  cm_status status = given.acquire(given.user, key, folder, error);
  return status == CM_NOT_FOUND ? made.acquire(made.user, key, folder, error) : status;
}

/* Either knows whether it has given the key out. */
static void release(void *user, const char *key)
{
  cm_work_levels *l = user;
  cm_level_cache given = cm_cache_levels(l->given), made = cm_cache_levels(l->made);
  given.release(given.user, key);
  made.release(made.user, key);
}

static void drop(void *user, const char *key)
{
  cm_work_levels *l = user;
  cm_level_cache given = cm_cache_levels(l->given), made = cm_cache_levels(l->made);
  given.drop(given.user, key);
  made.drop(made.user, key);
}

static cm_status begin(void *user, char *folder, cm_error *error)
{
  cm_level_cache made = cm_cache_levels(((cm_work_levels *)user)->made);
  return made.begin(made.user, folder, error);
}

static cm_status commit(void *user, const char *key, char *folder, cm_error *error)
{
  cm_level_cache made = cm_cache_levels(((cm_work_levels *)user)->made);
  return made.commit(made.user, key, folder, error);
}

static void discard(void *user, const char *folder)
{
  cm_level_cache made = cm_cache_levels(((cm_work_levels *)user)->made);
  made.discard(made.user, folder);
}

cm_status cm_work_levels_open(const char *folder, cm_work_levels *levels, cm_error *error)
{
  char path[CM_PATH_MAX];
  cm_work_levels made = {0};
  if (cm_path(path, error, "%s/" CM_WORK_LEVELS, folder) != CM_OK)
    return error->status;
  bool lent = access(path, R_OK) == 0;
  if (lent && cm_cache_open(path, UINT64_MAX, &made.given, error) != CM_OK)
    return error->status;
  if (cm_path(path, error, "%s/" CM_WORK_LEVELS_MADE, folder) != CM_OK ||
      cm_cache_open(path, UINT64_MAX, &made.made, error) != CM_OK) {
    cm_cache_close(made.given);
    return error->status;
  }
  *levels = made;
  levels->cache = made.given == NULL
                      ? cm_cache_levels(made.made)
                      : (cm_level_cache){.user = levels, .acquire = acquire, .release = release, .begin = begin,
                                         .commit = commit, .discard = discard, .drop = drop};
  return CM_OK;
}

void cm_work_levels_close(cm_work_levels *levels)
{
  cm_cache_close(levels->given);
  cm_cache_close(levels->made);
}
