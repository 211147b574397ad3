/* The files of a data folder, and packed results, against what its database says of them. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "library/private/base.h"
#include "library/private/stored.h"
#include "storage/blobs.h"
#include "storage/check_report.h"
#include "storage/pack.h"

/* A file against what is noted about it. */
static void check_file(cm_checking *c, const char *path, uint64_t bytes, const char *sha256)
{
  cm_error error;
  char file[CM_PATH_MAX];
  struct stat about;
  cm_blob now;
  if (cm_path(file, &error, "%s/%s", c->folder, path) != CM_OK || stat(file, &about) != 0)
    cm_checking_fault(c, "%s: %s", path, errno == ENOENT ? "the file is missing" : "the file cannot be read");
  else if ((uint64_t)about.st_size != bytes)
    cm_checking_fault(c, "%s: %llu bytes, %llu expected", path, (unsigned long long)about.st_size, (unsigned long long)bytes);
  else if (c->digests && cm_blob_read(file, path, &now, &error) != CM_OK)
    cm_checking_fault(c, "%s: %s", path, error.detail);
  else if (c->digests && strcmp(now.sha256, sha256) != 0)
    cm_checking_fault(c, "%s: SHA-256 is %s, %s expected", path, now.sha256, sha256);
  c->files++;
  c->bytes += bytes;
}

cm_status cm_checking_blobs(cm_checking *c, cm_error *error)
{
  sqlite3_stmt *statement;
  cm_status status =
      cm_sql_prepare(c->handle, &statement, error, "SELECT path, bytes, sha256 FROM blobs ORDER BY path", "");
  while (cm_sql_next(statement, &status, error))
    check_file(c, (const char *)sqlite3_column_text(statement, 0), (uint64_t)sqlite3_column_int64(statement, 1),
                 (const char *)sqlite3_column_text(statement, 2));
  return cm_sql_end(statement, status, error);
}

/* A network whose digest no release has noted: a model's is its id, a topology file has checksums of its own. */
static void check_old_network(cm_checking *c, const char *id, bool model)
{
  cm_error error;
  cm_blob now;
  coremap_network *network = NULL;
  coremap_error *why = NULL;
  char file[CM_PATH_MAX], path[CM_SHA_MAX + 32];
  (void)snprintf(path, sizeof path, "networks/%s.zip", id);
  if (cm_path(file, &error, "%s/%s", c->folder, path) != CM_OK || access(file, R_OK) != 0) {
    cm_checking_fault(c, "%s: the file is missing", path);
    return;
  }
  c->undigested++;
  if (!c->digests)
    return;
  if (model && cm_blob_read(file, path, &now, &error) == CM_OK && strcmp(now.sha256, id) != 0)
    cm_checking_fault(c, "%s: SHA-256 is %s", path, now.sha256);
  else if (!model && library_status(library_network_load(file, "", NULL, NULL, &network, &why), &why, &error) != CM_OK)
    cm_checking_fault(c, "%s: %s", path, error.detail);
  coremap_network_free(network);
}

cm_status cm_checking_old_rows(cm_checking *c, cm_error *error)
{
  sqlite3_stmt *statement;
  cm_status status = cm_sql_prepare(c->handle, &statement, error, "SELECT id, format = 'onnx' FROM networks n WHERE NOT"
                                    " EXISTS (SELECT 1 FROM blobs WHERE path = 'networks/' || n.id || '.zip')", "");
  while (cm_sql_next(statement, &status, error))
    check_old_network(c, (const char *)sqlite3_column_text(statement, 0), sqlite3_column_int(statement, 1) != 0);
  status = cm_sql_end(statement, status, error);
  CM_TRY(status);
  status = cm_sql_prepare(c->handle, &statement, error, "SELECT id FROM mappings m WHERE form <> 2 AND NOT EXISTS (SELECT 1 FROM blobs"
                          " WHERE path > 'mappings/' || m.id || '/' AND path < 'mappings/' || m.id || '0')", "");
  while (cm_sql_next(statement, &status, error)) {
    char path[CM_PATH_MAX];
    const char *id = (const char *)sqlite3_column_text(statement, 0);
    if (cm_path(path, error, "%s/mappings/%s", c->folder, id) != CM_OK || access(path, R_OK | X_OK) != 0)
      cm_checking_fault(c, "mappings/%s: the folder is missing", id);
    else
      c->undigested++;
  }
  return cm_sql_end(statement, status, error);
}

cm_status cm_checking_packs(cm_checking *c, cm_error *error)
{
  sqlite3_stmt *statement;
  uint64_t packs = 0, bytes = 0;
  cm_status status = cm_sql_prepare(c->handle, &statement, error, "SELECT m.id, p.sha256, p.content FROM mappings m LEFT JOIN packs p"
                                    " ON p.mapping = m.id WHERE m.form = 2 ORDER BY m.id", "");
  while (cm_sql_next(statement, &status, error)) {
    char now[CM_SHA_MAX];
    cm_error why;
    const char *id = (const char *)sqlite3_column_text(statement, 0), *sha256 = (const char *)sqlite3_column_text(statement, 1);
    const void *content = sqlite3_column_blob(statement, 2);
    const size_t size = (size_t)sqlite3_column_bytes(statement, 2);
    if (content == NULL || sha256 == NULL) {
      cm_checking_fault(c, "mapping %s: its packed files are missing", id);
      continue;
    }
    cm_store_sha256(content, size, now);
    if (strcmp(now, sha256) != 0)
      cm_checking_fault(c, "mapping %s: SHA-256 of its packed files is %s, %s expected", id, now, sha256);
    else if (cm_pack_check(content, size, &why) != CM_OK)
      cm_checking_fault(c, "mapping %s: %s", id, why.detail);
    packs++;
    bytes += size;
  }
  status = cm_sql_end(statement, status, error);
  if (status == CM_OK && packs > 0)
    cm_checking_say(c, "packed results: %llu with %llu bytes", (unsigned long long)packs, (unsigned long long)bytes);
  return status;
}
