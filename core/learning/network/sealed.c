#include "core/learning/network/sealed.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"

void cm_sealed_begin(cm_sealed_writer *writer, const char magic[CM_MAGIC_BYTES + 1])
{
  *writer = (cm_sealed_writer){0};
  cm_sealed_put(writer, magic, CM_MAGIC_BYTES);
}

void cm_sealed_put(cm_sealed_writer *writer, const void *bytes, size_t size)
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

cm_status cm_sealed_commit(cm_sealed_writer *writer, const char *path, cm_error *error)
{
  unsigned char seal[CM_SEAL_BYTES];
  cm_file file;
  if (!writer->failed) {
    crypto_hash_sha256(seal, writer->bytes, writer->size);
    cm_sealed_put(writer, seal, sizeof seal);
  }
  cm_status status =
    writer->failed ? cm_fail(error, CM_NO_MEMORY, "out of memory for %s", path) : cm_file_create(&file, path, error);
  if (status == CM_OK) {
    if (fwrite(writer->bytes, 1, writer->size, file.stream) == writer->size)
      status = cm_file_commit(&file, error);
    else {
      cm_file_discard(&file);
      status = cm_fail(error, CM_IO, "cannot write %s", path);
    }
  }
  free(writer->bytes);
  *writer = (cm_sealed_writer){0};
  return status;
}

cm_status cm_sealed_open(cm_sealed_reader *reader, const void *bytes, size_t size, const char magic[CM_MAGIC_BYTES + 1],
                         const char *kind, const char *name, cm_error *error)
{
  unsigned char seal[CM_SEAL_BYTES];
  if (size < CM_MAGIC_BYTES || memcmp(bytes, magic, CM_MAGIC_BYTES) != 0)
    return cm_fail(error, CM_DAMAGED, "%s is no %s of this version: it does not begin with %s", name, kind, magic);
  if (size < CM_MAGIC_BYTES + CM_SEAL_BYTES)
    return cm_fail(error, CM_DAMAGED, "%s is cut short: %zu bytes are no %s", name, size, kind);
  size -= CM_SEAL_BYTES;
  crypto_hash_sha256(seal, bytes, size);
  if (memcmp(seal, (const unsigned char *)bytes + size, CM_SEAL_BYTES) != 0)
    return cm_fail(error, CM_DAMAGED, "%s is damaged: its checksum does not match its %zu bytes", name, size);
  *reader = (cm_sealed_reader){.bytes = bytes, .size = size, .at = CM_MAGIC_BYTES};
  return CM_OK;
}

void cm_sealed_get(cm_sealed_reader *reader, void *bytes, size_t size)
{
  if (size > reader->size - reader->at) {
    reader->failed = true;
    memset(bytes, 0, size);
    return;
  }
  memcpy(bytes, reader->bytes + reader->at, size);
  reader->at += size;
}
