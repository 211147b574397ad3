/* Happy path: the next thing by name, read in pieces with rests between; at the end of a round a pause.
 *
 * What can fail: a thing goes, or is stored anew, while it is read (its row is looked at again before it counts as damaged); the
 * database does not answer (the round is tried again later). */
#include "storage/scrub.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <sodium.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hold.h"
#include "storage/blobs.h"
#include "storage/internal.h"
#include "storage/log.h"

enum { PIECE = 1 << 18, DAMAGED_MAX = 1024, PATH_LENGTH = sizeof((cm_blob *)0)->path };

static const double share = 0.01, pause_seconds = 600, again_seconds = 60;

struct cm_scrub {
  cm_store *store;
  pthread_t thread;
  pthread_mutex_t lock; /* of what follows */
  pthread_cond_t changed;
  bool stopping;
  cm_scrub_counts counts;
  unsigned char *piece; /* the thread's, as the rest */
  char (*damaged)[PATH_LENGTH];
  double looked_again;
};

/* One thing that is stored: a file, or the packed files of a mapping, whose path is "packs/ID". */
typedef struct thing {
  cm_blob noted;
  bool packed, there; /* there: it has a row */
  cm_status status;   /* of what is packed: whether it is whole */
} thing;

/* ---- resting ---- */

/* False: it is to stop. */
static bool rest(cm_scrub *s, double seconds)
{
  struct timespec until;
  (void)clock_gettime(CLOCK_MONOTONIC, &until);
  const double ends = (double)until.tv_sec + (double)until.tv_nsec / 1e9 + seconds;
  until.tv_sec = (time_t)ends;
  until.tv_nsec = (long)((ends - (double)until.tv_sec) * 1e9);
  CM_HOLD(&s->lock);
  while (!s->stopping && pthread_cond_timedwait(&s->changed, &s->lock, &until) != ETIMEDOUT)
    ;
  return !s->stopping;
}

/* Rests for what was done since `began`. */
static bool rest_after(cm_scrub *s, double began)
{
  return rest(s, (cm_now() - began) * (1 / share - 1));
}

/* ---- one thing ---- */

static void from_row(sqlite3_stmt *row, thing *t)
{
  t->there = true;
  (void)snprintf(t->noted.path, sizeof t->noted.path, "%s%s", t->packed ? "packs/" : "", (const char *)sqlite3_column_text(row, 0));
  cm_sql_copy(row, 1, t->noted.sha256, sizeof t->noted.sha256);
  t->noted.bytes = (uint64_t)sqlite3_column_int64(row, 2);
  if (t->packed) {
    char now[CM_SHA_MAX];
    cm_store_sha256(sqlite3_column_blob(row, 3), (size_t)sqlite3_column_bytes(row, 3), now);
    t->status = strcmp(now, t->noted.sha256) == 0 ? CM_OK : CM_DAMAGED;
  }
}

static const char *name_of(const thing *t)
{
  return t->packed ? t->noted.path + sizeof "packs/" - 1 : t->noted.path;
}

static cm_status ask(sqlite3 *handle, thing *t, const char *query, const char *name, cm_error *error)
{
  sqlite3_stmt *statement;
  t->there = false;
  cm_status status = cm_sql_prepare(handle, &statement, error, query, "t", name);
  if (cm_sql_next(statement, &status, error))
    from_row(statement, t);
  return cm_sql_end(statement, status, error);
}

/* The thing after this one; files come first. */
static cm_status next(sqlite3 *handle, thing *t, cm_error *error)
{
  static const char packs[] = "SELECT mapping, sha256, length(content), content FROM packs WHERE mapping > ? ORDER BY mapping LIMIT 1";
  CM_TRY_IF(!t->packed, ask(handle, t, "SELECT path, sha256, bytes FROM blobs WHERE path > ? ORDER BY path LIMIT 1", t->noted.path, error));
  if (t->there && !t->packed)
    return CM_OK;
  char after[PATH_LENGTH];
  (void)snprintf(after, sizeof after, "%s", t->packed ? name_of(t) : "");
  t->packed = true;
  return ask(handle, t, packs, after, error);
}

static cm_status same(sqlite3 *handle, thing *t, cm_error *error)
{
  char name[PATH_LENGTH];
  (void)snprintf(name, sizeof name, "%s", name_of(t));
  return ask(handle, t, t->packed ? "SELECT mapping, sha256, length(content), content FROM packs WHERE mapping = ?"
                                  : "SELECT path, sha256, bytes FROM blobs WHERE path = ?", name, error);
}

static cm_status look_for(const cm_scrub *s, cm_status (*which)(sqlite3 *handle, thing *t, cm_error *error), thing *t, cm_error *error)
{
  cm_reading r;
  cm_status status = cm_reading_begin(s->store->database, true, &r, error);
  CM_THEN(status, which(r.handle, t, error));
  return cm_reading_end(&r, status);
}

/* Reads a file in pieces, from the disk where it can be: what the kernel still has is not what lies there. CM_CANCELLED: it is to
 * stop. */
static cm_status read_file(cm_scrub *s, const thing *t, char *sha256, cm_error *error)
{
  char path[CM_PATH_MAX];
  unsigned char digest[SHA256_DIGEST_SIZE];
  struct sha256_ctx state;
  ssize_t got = 1;
  double began = cm_now();
  uint64_t total = 0;
  CM_TRY(cm_path(path, error, "%s/%s", s->store->folder, t->noted.path));
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0)
    return cm_fail_errno(error, errno, "cannot open", path);
  (void)posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  sha256_init(&state);
  while ((got = read(file, s->piece, PIECE)) > 0 && total <= t->noted.bytes) {
    sha256_update(&state, (size_t)got, s->piece);
    total += (uint64_t)got;
    if (!rest_after(s, began))
      break;
    began = cm_now();
  }
  const int cause = errno;
  (void)close(file);
  if (got < 0)
    return cm_fail_errno(error, cause, "cannot read", path);
  if (got > 0 && total <= t->noted.bytes)
    return cm_fail(error, CM_CANCELLED, "the server stops");
  sha256_digest(&state, sizeof digest, digest);
  sodium_bin2hex(sha256, CM_SHA_MAX, digest, sizeof digest);
  return CM_OK;
}

/* What is wrong with a thing; CM_OK: nothing, or it has gone or been stored anew meanwhile. */
static cm_status look_at(cm_scrub *s, const thing *t, cm_error *error)
{
  char now[CM_SHA_MAX];
  thing again = *t;
  cm_error ignored;
  if (t->packed && t->status != CM_OK)
    return cm_fail(error, CM_DAMAGED, "the SHA-256 of its packed files is not %s", t->noted.sha256);
  if (t->packed || (read_file(s, t, now, error) == CM_OK && strcmp(now, t->noted.sha256) == 0))
    return CM_OK;
  if (error->status == CM_OK)
    (void)cm_fail(error, CM_DAMAGED, "its SHA-256 is %s, %s expected", now, t->noted.sha256);
  if (error->status == CM_CANCELLED || cm_error_passes(error))
    return error->status;
  pthread_mutex_lock(&s->store->blob_lock); /* files and their rows go together under it */
  cm_status status = look_for(s, same, &again, &ignored);
  pthread_mutex_unlock(&s->store->blob_lock);
  return status == CM_OK && again.there && strcmp(again.noted.sha256, t->noted.sha256) == 0 ? CM_DAMAGED : CM_OK;
}

/* ---- what is damaged ---- */

static void note(cm_scrub *s, const char *path, const cm_error *why)
{
  size_t i = 0;
  while (i < s->counts.damaged && strcmp(s->damaged[i], path) != 0)
    i++;
  if (i < s->counts.damaged || i == DAMAGED_MAX)
    return;
  (void)snprintf(s->damaged[i], PATH_LENGTH, "%s", path);
  pthread_mutex_lock(&s->lock);
  s->counts.damaged++;
  pthread_mutex_unlock(&s->lock);
  cm_log("DAMAGED %s: %s; bring it back from a backup, or delete it", path, why->detail);
}

/* Looks at those that were damaged: what is whole or has gone is so no more. */
static bool look_again(cm_scrub *s)
{
  cm_error error;
  s->looked_again = cm_now();
  for (size_t i = s->counts.damaged; i-- > 0;) {
    double began = cm_now();
    thing t = {.packed = strncmp(s->damaged[i], "packs/", 6) == 0};
    memcpy(t.noted.path, s->damaged[i], PATH_LENGTH);
    error.status = CM_OK;
    if (look_for(s, same, &t, &error) == CM_OK && (!t.there || look_at(s, &t, &error) == CM_OK)) {
      cm_log("no longer damaged: %s", s->damaged[i]);
      memmove(s->damaged[i], s->damaged[s->counts.damaged - 1], PATH_LENGTH);
      pthread_mutex_lock(&s->lock);
      s->counts.damaged--;
      pthread_mutex_unlock(&s->lock);
    }
    if (!rest_after(s, began))
      return false;
  }
  return true;
}

/* ---- rounds ---- */

/* One of everything. False: it is to stop. */
static bool look_at_all(cm_scrub *s)
{
  thing t = {0};
  cm_error error;
  for (;;) {
    double began = cm_now();
    error.status = CM_OK;
    if (look_for(s, next, &t, &error) != CM_OK)
      return rest(s, again_seconds);
    if (!t.there)
      break;
    const cm_status status = look_at(s, &t, &error);
    if (status == CM_DAMAGED)
      note(s, t.noted.path, &error);
    pthread_mutex_lock(&s->lock);
    s->counts.things++;
    s->counts.bytes += t.noted.bytes;
    pthread_mutex_unlock(&s->lock);
    /* The rests within a file are in this time, too: those after its last piece are what is left. */
    if (!(t.packed ? rest_after(s, began) : rest(s, 0.01)) || (cm_now() - s->looked_again > again_seconds && !look_again(s)))
      return false;
  }
  pthread_mutex_lock(&s->lock);
  s->counts.rounds++;
  pthread_mutex_unlock(&s->lock);
  return true;
}

static void *scrub(void *context)
{
  cm_scrub *s = context;
  while (look_at_all(s))
    for (double rested = 0; rested < pause_seconds; rested += again_seconds)
      if (!rest(s, again_seconds) || !look_again(s))
        return NULL;
  return NULL;
}

/* ---- start and end ---- */

static void free_scrub(cm_scrub *s)
{
  pthread_mutex_destroy(&s->lock);
  pthread_cond_destroy(&s->changed);
  free(s->piece);
  free(s->damaged);
  free(s);
}

cm_status cm_scrub_start(cm_store *store, cm_error *error)
{
  pthread_condattr_t attributes;
  cm_scrub *made;
  CM_TRY(CM_HEAP(made, 1, "the server", error));
  (void)pthread_condattr_init(&attributes);
  (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_mutex_init(&made->lock, NULL);
  pthread_cond_init(&made->changed, &attributes);
  (void)pthread_condattr_destroy(&attributes);
  made->store = store;
  made->piece = malloc(PIECE);
  made->damaged = calloc(DAMAGED_MAX, sizeof *made->damaged);
  if (made->piece == NULL || made->damaged == NULL || pthread_create(&made->thread, NULL, scrub, made) != 0) {
    free_scrub(made);
    return cm_whole(false, "the server", error);
  }
  store->scrub = made;
  return CM_OK;
}

void cm_scrub_stop(cm_store *store)
{
  cm_scrub *s = store->scrub;
  if (s == NULL)
    return;
  pthread_mutex_lock(&s->lock);
  s->stopping = true;
  pthread_cond_signal(&s->changed);
  pthread_mutex_unlock(&s->lock);
  pthread_join(s->thread, NULL);
  store->scrub = NULL;
  free_scrub(s);
}

cm_scrub_counts cm_scrub_count(const cm_store *store)
{
  if (store->scrub == NULL)
    return (cm_scrub_counts){0};
  CM_HOLD(&store->scrub->lock);
  return store->scrub->counts;
}
