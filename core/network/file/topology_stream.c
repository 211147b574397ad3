/* Members of a topology file, inflated in small blocks; the checksum is compared at the end. */
#include <errno.h>
#include <string.h>

#include "base/varint.h"
#include "core/network/file/topology_reader.h"

static cm_status cut_short(const cm_stream *s, cm_error *error)
{
  cm_fail(error, CM_BAD_NETWORK, "damaged topology file: member %s ends or errs at byte %llu of %llu", s->about->name,
          (unsigned long long)s->inflated, (unsigned long long)s->about->bytes);
  return cm_fail_at(error, "%s byte %llu", s->about->name, (unsigned long long)s->inflated);
}

cm_status cm_stream_wrong(const cm_stream *s, const char *what, cm_error *error)
{
  uint64_t at = s->inflated - (s->end - s->begin);
  cm_fail(error, CM_BAD_NETWORK, "damaged topology file: member %s, byte %llu: %s", s->about->name, (unsigned long long)at, what);
  return cm_fail_at(error, "%s byte %llu", s->about->name, (unsigned long long)at);
}

void cm_stream_close(cm_stream *s)
{
  if (s->file != NULL)
    zip_fclose(s->file);
  s->file = NULL;
}

cm_status cm_stream_open(cm_topology_reader *r, const cm_topology_member *about, cm_error *error)
{
  cm_stream *s = &r->input;
  cm_stream_close(s);
  s->about = about;
  s->begin = s->end = 0;
  s->inflated = 0;
  crypto_generichash_init(s->hash, NULL, 0, CM_CHECKSUM_BYTES);
  errno = 0;
  s->file = zip_fopen(r->zip, about->name, 0);
  CM_TRY_IF(s->file == NULL, cm_topology_machine_failed(zip_get_error(r->zip), "the topology file", error));
  return s->file != NULL ? CM_OK : cut_short(s, error);
}

uint64_t cm_stream_left(const cm_stream *s)
{
  return s->about->bytes - s->inflated + (s->end - s->begin);
}

cm_status cm_stream_fill(cm_stream *s, size_t wanted, cm_error *error)
{
  if (s->end - s->begin >= wanted || s->inflated == s->about->bytes)
    return CM_OK;
  memmove(s->block, s->block + s->begin, s->end - s->begin);
  s->end -= s->begin;
  s->begin = 0;
  while (s->end < sizeof s->block && s->inflated < s->about->bytes) {
    uint64_t left = s->about->bytes - s->inflated, room = sizeof s->block - s->end;
    errno = 0;
    zip_int64_t got = zip_fread(s->file, s->block + s->end, left < room ? left : room);
    CM_TRY_IF(got < 0, cm_topology_machine_failed(zip_file_get_error(s->file), "the topology file", error));
    if (got <= 0)
      return cut_short(s, error);
    crypto_generichash_update(s->hash, s->block + s->end, (unsigned long long)got);
    s->end += (size_t)got;
    s->inflated += (uint64_t)got;
  }
  return CM_OK;
}

cm_status cm_stream_number(cm_stream *s, uint64_t most, const char *what, uint64_t *value, cm_error *error)
{
  CM_TRY(cm_stream_fill(s, CM_VARINT_BYTES_MAX, error));
  uint64_t number = 0;
  size_t used = cm_varint_decode(s->block + s->begin, s->end - s->begin, &number);
  if (used == 0 || number > most)
    return cm_stream_wrong(s, what, error);
  s->begin += used;
  *value = number;
  return CM_OK;
}

cm_status cm_stream_bytes(cm_stream *s, void *into, uint64_t bytes, cm_error *error)
{
  uint8_t *at = into;
  while (bytes > 0) {
    CM_TRY(cm_stream_fill(s, 1, error));
    const uint64_t here = s->end - s->begin < bytes ? s->end - s->begin : bytes;
    if (here == 0)
      return cm_stream_wrong(s, "it ends too early", error);
    memcpy(at, s->block + s->begin, here);
    s->begin += here;
    at += here;
    bytes -= here;
  }
  return CM_OK;
}

cm_status cm_stream_finish(cm_stream *s, cm_error *error)
{
  unsigned char digest[CM_CHECKSUM_BYTES];
  if (cm_stream_left(s) != 0)
    return cm_stream_wrong(s, "bytes are left over", error);
  crypto_generichash_final(s->hash, digest, sizeof digest);
  cm_stream_close(s);
  if (sodium_memcmp(digest, s->about->digest, sizeof digest) != 0)
    return cm_stream_wrong(s, "the checksum does not match", error);
  return CM_OK;
}
