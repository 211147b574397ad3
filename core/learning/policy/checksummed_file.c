#include "core/learning/policy/checksummed_file.h"

#include <sodium.h>

#include "base/file.h"
#include "base/memory.h"

void cm_checksummed_begin(cm_checksummed_writer *writer, const char magic[CM_MAGIC_BYTES + 1])
{
  *writer = (cm_checksummed_writer){0};
  cm_checksummed_put(writer, magic, CM_MAGIC_BYTES);
}

void cm_checksummed_put(cm_checksummed_writer *writer, const void *bytes, size_t size)
{
  if (writer->size + size > writer->room) {
    size_t room = 2 * (writer->size + size) + 256;
    unsigned char *larger = realloc(writer->bytes, room);
    if (larger == NULL) {
      writer->failed = true;
      return;
    }
    writer->bytes = larger;
    writer->room = room;
  }
  memcpy(writer->bytes + writer->size, bytes, size);
  writer->size += size;
}

cm_status cm_checksummed_commit(cm_checksummed_writer *writer, const char *path, cm_error *error)
{
  unsigned char checksum[CM_CHECKSUM_BYTES];
  cm_file file;
  if (!writer->failed) {
    crypto_hash_sha256(checksum, writer->bytes, writer->size);
    cm_checksummed_put(writer, checksum, sizeof checksum);
  }
  cm_status status =
    writer->failed ? cm_whole(false, path, error) : cm_file_create(&file, path, error);
  if (status == CM_OK) {
    if (fwrite(writer->bytes, 1, writer->size, file.stream) == writer->size)
      status = cm_file_commit(&file, error);
    else {
      cm_file_discard(&file);
      status = cm_fail(error, CM_IO, "cannot write %s", path);
    }
  }
  free(writer->bytes);
  *writer = (cm_checksummed_writer){0};
  return status;
}

cm_status cm_checksummed_open(cm_checksummed_reader *reader, const char magic[CM_MAGIC_BYTES + 1], const char *kind, const char *name, cm_error *error)
{
  unsigned char checksum[CM_CHECKSUM_BYTES];
  const unsigned char *bytes = reader->bytes;
  size_t size = reader->size;
  if (size < CM_MAGIC_BYTES || memcmp(bytes, magic, CM_MAGIC_BYTES) != 0)
    return cm_fail(error, CM_DAMAGED, "%s is no %s of this version: it does not begin with %s", name, kind, magic);
  if (size < CM_MAGIC_BYTES + CM_CHECKSUM_BYTES)
    return cm_fail(error, CM_DAMAGED, "%s is cut short: %zu bytes are no %s", name, size, kind);
  size -= CM_CHECKSUM_BYTES;
  crypto_hash_sha256(checksum, bytes, size);
  if (memcmp(checksum, bytes + size, CM_CHECKSUM_BYTES) != 0)
    return cm_fail(error, CM_DAMAGED, "%s is damaged: its checksum does not match its %zu bytes", name, size);
  *reader = (cm_checksummed_reader){.bytes = bytes, .size = size, .at = CM_MAGIC_BYTES};
  return CM_OK;
}

void cm_checksummed_get(cm_checksummed_reader *reader, void *bytes, size_t size)
{
  if (size > reader->size - reader->at) {
    reader->failed = true;
    memset(bytes, 0, size);
    return;
  }
  memcpy(bytes, reader->bytes + reader->at, size);
  reader->at += size;
}
