/* Coarsened levels of two folders as one cache. */
#include "library/private/levels.h"

#include <unistd.h>

#include "library/internal.h"

struct library_levels {
  cm_cache *given, *made; /* NULL: there is no such folder */
  cm_level_cache cache;   /* what the pipeline works with */
};

static cm_status acquire(void *user, const char *key, char *folder, cm_error *error)
{
  library_levels *l = user;
  cm_level_cache given = cm_cache_levels(l->given), made = cm_cache_levels(l->made);
  cm_status status = given.acquire(given.user, key, folder, error);
  return status == CM_NOT_FOUND ? made.acquire(made.user, key, folder, error) : status;
}

/* Either knows whether it has given the key out. */
static void release(void *user, const char *key)
{
  library_levels *l = user;
  cm_level_cache given = cm_cache_levels(l->given), made = cm_cache_levels(l->made);
  given.release(given.user, key);
  made.release(made.user, key);
}

static void drop(void *user, const char *key)
{
  library_levels *l = user;
  cm_level_cache given = cm_cache_levels(l->given), made = cm_cache_levels(l->made);
  given.drop(given.user, key);
  made.drop(made.user, key);
}

static cm_status begin(void *user, char *folder, cm_error *error)
{
  cm_level_cache made = cm_cache_levels(((library_levels *)user)->made);
  return made.begin(made.user, folder, error);
}

static cm_status commit(void *user, const char *key, char *folder, cm_error *error)
{
  cm_level_cache made = cm_cache_levels(((library_levels *)user)->made);
  return made.commit(made.user, key, folder, error);
}

static void discard(void *user, const char *folder)
{
  cm_level_cache made = cm_cache_levels(((library_levels *)user)->made);
  made.discard(made.user, folder);
}

static cm_status open_both(const char *given, const char *made, uint64_t bytes_max, library_levels *l, cm_error *error)
{
  if (given != NULL && access(given, R_OK) == 0 && cm_cache_open(given, UINT64_MAX, &l->given, error) != CM_OK)
    return error->status;
  CM_TRY(cm_cache_open(made, bytes_max, &l->made, error));
  l->cache = l->given == NULL ? cm_cache_levels(l->made)
                              : (cm_level_cache){.user = l, .acquire = acquire, .release = release, .begin = begin, .commit = commit,
                                                 .discard = discard, .drop = drop};
  return CM_OK;
}

int library_levels_open(const char *given, const char *made, uint64_t bytes_max, library_levels **levels, coremap_error **error)
{
  cm_error e;
  library_levels *l = calloc(1, sizeof *l);
  cm_status status = l != NULL ? open_both(given, made, bytes_max, l, &e) : cm_whole(false, "levels", &e);
  LIBRARY_END(status, *levels = l, library_levels_close(l));
}

const struct cm_level_cache *library_levels_cache(const library_levels *levels)
{
  return &levels->cache;
}

void library_levels_close(library_levels *levels)
{
  if (levels == NULL)
    return;
  cm_cache_close(levels->given);
  cm_cache_close(levels->made);
  free(levels);
}

void library_levels_resize(library_levels *levels, uint64_t bytes_max)
{
  cm_cache_resize(levels->made, bytes_max);
}

void library_levels_empty(library_levels *levels)
{
  cm_cache_empty(levels->made);
}

library_levels_counts library_levels_count(library_levels *levels)
{
  cm_cache_counts c;
  cm_cache_count(levels->made, &c);
  return (library_levels_counts){c.hits, c.misses, c.damaged, c.evicted, c.entries, c.bytes, c.bytes_max, c.saved_seconds};
}

void library_levels_saved(library_levels *levels, double seconds)
{
  cm_cache_saved(levels->made, seconds);
}

cm_status library_levels_lend(library_levels *levels, const char *prefix, const char *folder, cm_error *error)
{
  return cm_cache_lend(levels->made, prefix, folder, error);
}

void library_levels_adopt(library_levels *levels, const char *folder)
{
  cm_cache_adopt(levels->made, folder);
}
