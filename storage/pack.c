/* Happy path: a job's folder is read, packed, and the pack is written with the job's row; whoever wants a file gets it from
 * there. What can fail: reading; a pack that is damaged (its SHA-256 is noted, and zlib has a checksum of its own). */
#include "storage/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <zlib.h>

#include "storage/blobs.h"
#include "storage/folder.h"
#include "storage/log.h"
#include "storage/internal.h"

enum { FILES_MAX = 128, NAME_BYTES_MAX = 64, SIZE_BYTES = 8 };

cm_status cm_mappings_folder(const cm_store *store, const char *id, char *path, cm_error *error)
{
  return cm_path(path, error, "%s/mappings/%s", store->folder, id);
}

void cm_pack_clear(cm_pack *pack)
{
  free(pack->bytes);
  *pack = (cm_pack){0};
}

/* ---- packing ---- */

typedef struct listing {
  char name[FILES_MAX][NAME_BYTES_MAX];
  size_t size[FILES_MAX], count, bytes;
} listing;

static int rank_of(const char *name)
{
  const char *ending = strrchr(name, '.');
  return ending == NULL ? 1 : strcmp(ending, ".json") == 0 ? 0 : strcmp(ending, ".bin") == 0 ? 2 : 1;
}

static int compare(const void *a, const void *b)
{
  const int difference = rank_of(a) - rank_of(b);
  return difference != 0 ? difference : strcmp(a, b);
}

/* The files in their order; *small: they may be packed. */
static cm_status list_files(const char *folder, listing *l, bool *small, cm_error *error)
{
  DIR *open;
  CM_TRY(cm_folder_list(folder, &open, error));
  *small = true;
  for (const char *item; *small && (item = cm_folder_next(open)) != NULL;) {
    struct stat about;
    *small = l->count < FILES_MAX && strlen(item) < NAME_BYTES_MAX &&
             fstatat(dirfd(open), item, &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(about.st_mode) &&
             (uint64_t)about.st_size <= CM_PACK_PLAIN_MAX - l->bytes;
    if (!*small)
      break;
    (void)memcpy(l->name[l->count++], item, strlen(item) + 1);
    l->bytes += (size_t)about.st_size;
  }
  (void)closedir(open);
  qsort(l->name, l->count, NAME_BYTES_MAX, compare);
  return CM_OK;
}

static cm_status read_files(const char *folder, const listing *l, unsigned char *plain, size_t room, size_t *used, cm_error *error)
{
  for (size_t i = 0; i < l->count; i++) {
    char path[CM_PATH_MAX], *bytes;
    size_t size, name = strlen(l->name[i]) + 1;
    CM_TRY(cm_path(path, error, "%s/%s", folder, l->name[i]));
    CM_TRY(cm_file_read(path, CM_PACK_PLAIN_MAX, &bytes, &size, error));
    const bool fits = size <= room - *used && name + SIZE_BYTES <= room - *used - size;
    if (fits) {
      memcpy(plain + *used, l->name[i], name);
      *used += name;
      for (int b = 0; b < SIZE_BYTES; b++)
        plain[(*used)++] = (unsigned char)(size >> (8 * b));
      memcpy(plain + *used, bytes, size);
      *used += size;
    }
    free(bytes);
    if (!fits)
      return cm_fail(error, CM_CONFLICT, "%s grew while it was read", path);
  }
  return CM_OK;
}

cm_status cm_pack_folder(const char *folder, cm_pack *pack, cm_error *error)
{
  bool small = false;
  size_t used = 0;
  uLongf packed = CM_PACK_PACKED_MAX;
  listing *l = calloc(1, sizeof *l);
  const size_t room = CM_PACK_PLAIN_MAX + FILES_MAX * (NAME_BYTES_MAX + SIZE_BYTES);
  unsigned char *plain = malloc(room);
  cm_pack made = {.bytes = malloc(CM_PACK_PACKED_MAX)};
  cm_status status = l == NULL || plain == NULL || made.bytes == NULL ? cm_whole(false, folder, error)
                                                                      : list_files(folder, l, &small, error);
  CM_THEN_IF(status, small, read_files(folder, l, plain, room, &used, error));
  const int code = status == CM_OK && small ? compress2(made.bytes, &packed, plain, used, 6) : Z_BUF_ERROR;
  const bool fits = code == Z_OK;
  if (code == Z_MEM_ERROR)
    status = cm_whole(false, folder, error);
  free(l);
  free(plain);
  if (!fits) {
    cm_pack_clear(&made);
    CM_TRY(status);
  } else {
    made.size = packed;
    cm_store_sha256(made.bytes, made.size, made.sha256);
  }
  *pack = made;
  return CM_OK;
}

/* ---- unpacking ---- */

typedef struct reader {
  z_stream stream;
  size_t left; /* bytes that may still come */
} reader;

static cm_status damaged(cm_error *error)
{
  return cm_fail(error, CM_DAMAGED, "a packed result is damaged; coremapd --check-data names it");
}

/* The next `size` bytes; *end (NULL: not wanted here): there were none. */
static cm_status take(reader *r, void *bytes, size_t size, bool *end, cm_error *error)
{
  r->stream.next_out = bytes;
  r->stream.avail_out = (uInt)size;
  int code = Z_OK;
  while (code == Z_OK && r->stream.avail_out > 0)
    code = inflate(&r->stream, Z_NO_FLUSH);
  const size_t got = size - r->stream.avail_out;
  if (end != NULL)
    *end = got == 0 && code == Z_STREAM_END;
  if (got == size || (end != NULL && *end))
    return CM_OK;
  return code == Z_MEM_ERROR ? cm_whole(false, "a result", error) : damaged(error); /* the window is allocated by what needs it first */
}

/* The name and the size of the next file; *end: there is none. */
static cm_status take_head(reader *r, char name[NAME_BYTES_MAX], size_t *size, bool *end, cm_error *error)
{
  unsigned char digits[SIZE_BYTES];
  uint64_t bytes = 0;
  for (size_t i = 0; i == 0 || name[i - 1] != '\0'; i++) {
    if (i == NAME_BYTES_MAX)
      return damaged(error);
    CM_TRY(take(r, &name[i], 1, i == 0 ? end : NULL, error));
    if (i == 0 && *end)
      return CM_OK;
  }
  CM_TRY(take(r, digits, sizeof digits, NULL, error));
  for (int b = SIZE_BYTES; b-- > 0;)
    bytes = bytes << 8 | digits[b];
  if (bytes > r->left)
    return damaged(error);
  *size = (size_t)bytes;
  r->left -= *size;
  return CM_OK;
}

static cm_status write_file(const char *folder, const char *name, const char *bytes, size_t size, cm_error *error)
{
  char path[CM_PATH_MAX];
  CM_TRY(cm_path(path, error, "%s/%s", folder, name));
  FILE *stream = fopen(path, "wbe");
  if (stream == NULL)
    return cm_fail_errno(error, errno, "cannot create", path);
  errno = 0;
  bool written = fwrite(bytes, 1, size, stream) == size;
  written = fclose(stream) == 0 && written;
  return written ? CM_OK : cm_fail_errno(error, errno != 0 ? errno : EIO, "cannot write", path);
}

/* Looks for a file; `wanted` NULL: reads all, writes them to `folder` (NULL: does not), and finds none. */
static cm_status look(reader *r, const char *wanted, const char *folder, char **bytes, size_t *size, cm_error *error)
{
  for (;;) {
    char name[NAME_BYTES_MAX];
    size_t length = 0;
    bool end;
    CM_TRY(take_head(r, name, &length, &end, error));
    if (end)
      return cm_fail(error, CM_NOT_FOUND, "the mapping has no such view; docs/reference/mapping-formats.md lists them");
    char *made = malloc(length + 1);
    if (made == NULL)
      return cm_whole(false, "a result", error);
    if (length > 0 && take(r, made, length, NULL, error) != CM_OK) {
      free(made);
      return error->status;
    }
    made[length] = '\0';
    if (wanted != NULL && strcmp(name, wanted) == 0) {
      *bytes = made;
      *size = length;
      return CM_OK;
    }
    cm_status status = folder != NULL && strchr(name, '/') == NULL ? write_file(folder, name, made, length, error) : CM_OK;
    free(made);
    CM_TRY(status);
  }
}

static reader reader_of(const void *pack, size_t size)
{
  return (reader){.left = CM_PACK_PLAIN_MAX, .stream = {.next_in = (z_const Bytef *)(uintptr_t)pack, .avail_in = (uInt)size}};
}

static cm_status read_pack(reader r, const char *name, const char *folder, char **bytes, size_t *bytes_size, cm_error *error)
{
  if (inflateInit(&r.stream) != Z_OK)
    return cm_whole(false, "a result", error);
  cm_status status = look(&r, name, folder, bytes, bytes_size, error);
  (void)inflateEnd(&r.stream);
  return status;
}

cm_status cm_pack_file(const void *pack, size_t size, const char *name, char **bytes, size_t *bytes_size, cm_error *error)
{
  return read_pack(reader_of(pack, size), name, NULL, bytes, bytes_size, error);
}

cm_status cm_pack_unfold(const void *pack, size_t size, const char *folder, cm_error *error)
{
  cm_status status = read_pack(reader_of(pack, size), NULL, folder, NULL, NULL, error);
  return status == CM_NOT_FOUND ? CM_OK : status;
}

cm_status cm_pack_check(const void *pack, size_t size, cm_error *error)
{
  cm_status status = read_pack(reader_of(pack, size), NULL, NULL, NULL, NULL, error);
  return status == CM_NOT_FOUND ? CM_OK : status;
}

/* ---- in the database ---- */

cm_status cm_pack_note_in(sqlite3 *handle, const char *mapping, const cm_pack *pack, cm_error *error)
{
  sqlite3_stmt *statement;
  cm_status status = cm_sql_prepare(handle, &statement, error,
                                    "INSERT INTO packs(mapping, sha256, content) VALUES(?, ?, ?)"
                                    " ON CONFLICT(mapping) DO UPDATE SET sha256 = excluded.sha256, content = excluded.content", "tt",
                                    mapping, pack->sha256);
  CM_THEN_IF(status, sqlite3_bind_blob(statement, 3, pack->bytes, (int)pack->size, SQLITE_STATIC) != SQLITE_OK, cm_whole(false, "a result", error));
  (void)cm_sql_next(statement, &status, error);
  return cm_sql_end(statement, status, error);
}

/* ---- folders of earlier releases ---- */

typedef struct old_work {
  const char *mapping;
  const cm_pack *pack;
  bool packed;
} old_work;

static cm_status replace(sqlite3 *handle, void *context, cm_error *error)
{
  old_work *w = context;
  const cm_pack *p = w->pack;
  char path[CM_ID_MAX + 16];
  int changes;
  w->packed = false;
  (void)snprintf(path, sizeof path, "mappings/%s", w->mapping);
  CM_TRY(cm_sql_run(handle, &changes, error,
                    "UPDATE mappings SET form = ?2, bytes = CASE ?2 WHEN 2 THEN ?3 ELSE bytes END WHERE id = ?1 AND form = 0",
                    "tii", w->mapping, (int64_t)(p->bytes != NULL ? CM_FORM_PACK : CM_FORM_FOLDER), (int64_t)p->size));
  if (changes == 0 || p->bytes == NULL)
    return CM_OK; /* deleted meanwhile, or too large */
  w->packed = true;
  return cm_blobs_forget_in(handle, path, error) == CM_OK ? cm_pack_note_in(handle, w->mapping, p, error) : error->status;
}

static cm_status pack_one(cm_store *store, const char *id, cm_error *error)
{
  char folder[CM_PATH_MAX];
  cm_pack pack = {0};
  cm_error ignored;
  CM_TRY(cm_mappings_folder(store, id, folder, error));
  cm_status status = cm_pack_folder(folder, &pack, error);
  if (status == CM_NO_MEMORY)
    return status; /* to be tried again */
  if (status != CM_OK)
    cm_log("mappings/%s stays a folder: %s", id, error->detail);
  old_work work = {.mapping = id, .pack = &pack};
  status = cm_database_write(store->database, replace, &work, error);
  if (status == CM_OK && work.packed)
    (void)cm_folder_remove(folder, &ignored); /* what stays behind is swept at the next start */
  cm_pack_clear(&pack);
  return status;
}

cm_status cm_pack_old(cm_store *store, unsigned most, bool *left, cm_error *error)
{
  static const cm_row_kind kind = {"i", "SELECT id FROM mappings INDEXED BY mappings_old WHERE form = 0 LIMIT ?", "old results", CM_ID_MAX, cm_sql_id, NULL};
  char (*ids)[CM_ID_MAX];
  size_t count;
  CM_TRY(cm_database_list(store->database, &kind, &ids, &count, error, (int64_t)most));
  cm_status status = CM_OK;
  for (size_t i = 0; i < count && status == CM_OK; i++)
    status = pack_one(store, ids[i], error);
  free(ids);
  *left = count == most;
  return status;
}
