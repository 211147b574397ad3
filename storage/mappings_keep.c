/* What is made of a mapping after its job: one more file beside it, or a packed one packed anew. */
#include <errno.h>
#include <unistd.h>

#include "storage/blobs.h"
#include "storage/pack.h"
#include "storage/quotas.h"

typedef struct keeping {
  const cm_mapping_row *mapping;
  cm_blob blob;
} keeping;

static cm_status keep(sqlite3 *handle, void *context, cm_error *error)
{
  keeping *k = context;
  int changes;
  if (cm_quota_check_in(handle, k->mapping->owner.user, CM_QUOTA_BYTES, (double)k->blob.bytes, error) != CM_OK ||
      cm_sql_run(handle, &changes, error, "UPDATE mappings SET bytes = bytes + ? WHERE id = ? AND form = ? AND NOT EXISTS"
                 " (SELECT 1 FROM blobs WHERE path = ?)", "itit", (int64_t)k->blob.bytes, k->mapping->id, (int64_t)CM_FORM_FOLDER,
                 k->blob.path) != CM_OK)
    return error->status;
  return changes == 1 ? cm_blob_note_in(handle, &k->blob, error) : cm_fail(error, CM_CONFLICT, "it is not kept");
}

cm_status cm_mappings_keep(cm_store *store, const cm_mapping_row *mapping, const char *name, const char *path, cm_error *error)
{
  keeping k = {.mapping = mapping};
  char to[CM_PATH_MAX], known[CM_PATH_MAX];
  CM_TRY(cm_path(known, error, "mappings/%s/%s", mapping->id, name));
  CM_TRY(cm_path(to, error, "%s/%s", store->folder, known));
  CM_TRY(cm_blob_read(path, known, &k.blob, error));
  if (link(path, to) != 0) /* packed, or being deleted, or another has made it in this moment */
    return cm_fail_errno(error, errno, "cannot keep", path);
  cm_status status = cm_database_write(store->database, keep, &k, error);
  if (status != CM_OK)
    (void)unlink(to);
  return status;
}

typedef struct repacking {
  const cm_mapping_row *mapping;
  cm_pack pack;
} repacking;

static cm_status repack(sqlite3 *handle, void *context, cm_error *error)
{
  repacking *r = context;
  const double more = (double)r->pack.size - (double)r->mapping->bytes;
  int changes;
  if ((more > 0 && cm_quota_check_in(handle, r->mapping->owner.user, CM_QUOTA_BYTES, more, error) != CM_OK) ||
      cm_sql_run(handle, &changes, error, "UPDATE mappings SET bytes = ? WHERE id = ? AND form = ?", "iti", (int64_t)r->pack.size,
                 r->mapping->id, (int64_t)CM_FORM_PACK) != CM_OK)
    return error->status;
  return changes == 1 ? cm_pack_note_in(handle, r->mapping->id, &r->pack, error)
                      : cm_fail(error, CM_CONFLICT, "it is no packed result");
}

cm_status cm_mappings_repack(cm_store *store, const cm_mapping_row *mapping, const char *folder, cm_error *error)
{
  repacking r = {.mapping = mapping};
  cm_status status = cm_pack_folder(folder, &r.pack, error);
  CM_THEN_IF(status, r.pack.bytes == NULL, cm_fail(error, CM_CONFLICT, "it is too large to be packed"));
  CM_THEN(status, cm_database_write(store->database, repack, &r, error));
  cm_pack_clear(&r.pack);
  return status;
}
