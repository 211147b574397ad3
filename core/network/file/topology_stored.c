/* A topology file whose members lie as they are: each is written to its place as it comes, without a spool and without libzip, and the
 * manifest and the zip's directory follow at the end. What can fail: no room on disk, no memory, a run told to stop. */
#include <errno.h>
#include <isa-l/crc.h>
#include <string.h>

#include "core/network/file/topology_writer.h"

/* Records of a zip and what stands in them (PKWARE's APPNOTE, 4.3 and 4.4). */
enum {
  LOCAL = 0x04034b50, CENTRAL = 0x02014b50, END = 0x06054b50, END_64 = 0x06064b50, LOCATOR_64 = 0x07064b50, VERSION = 20,
  VERSION_64 = 45, EXTRA_64 = 1,
  RECORD_MAX = 128
};
static const uint64_t four_bytes = UINT32_MAX, two_bytes = UINT16_MAX; /* these say: see the field of eight bytes */

typedef struct record {
  uint8_t bytes[RECORD_MAX];
  size_t used;
} record;

static void put(record *r, unsigned bytes, uint64_t value)
{
  for (unsigned i = 0; i < bytes; i++)
    r->bytes[r->used++] = (uint8_t)(value >> 8 * i);
}

static uint64_t at_most(uint64_t value, uint64_t most)
{
  return value < most ? value : most;
}

static cm_status write_bytes(cm_topology_writer *w, const void *bytes, size_t size, cm_error *error)
{
  if (fwrite(bytes, 1, size, w->out.stream) != size)
    return cm_fail_errno(error, errno, "cannot write", w->out.scratch);
  w->written += size;
  return CM_OK;
}

static cm_status write_record(cm_topology_writer *w, const record *r, cm_error *error)
{
  return write_bytes(w, r->bytes, r->used, error);
}

/* What local and central record of a member have in common, from the version on. */
static void put_member(record *r, const cm_stored_member *m, bool wide, size_t extra)
{
  put(r, 2, wide ? VERSION_64 : VERSION);
  put(r, 2, 0); /* flags */
  put(r, 2, ZIP_CM_STORE);
  put(r, 2, 0); /* midnight */
  put(r, 2, CM_MEMBER_DATE);
  put(r, 4, m->crc);
  put(r, 4, at_most(m->bytes, four_bytes)); /* packed and not */
  put(r, 4, at_most(m->bytes, four_bytes));
  put(r, 2, strlen(m->name));
  put(r, 2, extra);
}

static void put_name(record *r, const char *name)
{
  memcpy(r->bytes + r->used, name, strlen(name));
  r->used += strlen(name);
}

cm_status cm_topology_store_member(cm_topology_writer *w, const char *name, const void *data, size_t size, cm_error *error)
{
  record r = {.used = 0};
  CM_TRY(CM_ROOM(NULL, w->stored_member, &w->stored_room, (uint64_t)w->stored_count + 1, error));
  cm_stored_member *m = &w->stored_member[w->stored_count];
  *m = (cm_stored_member){.at = w->written, .bytes = size, .crc = crc32_gzip_refl(0, data, size)};
  (void)snprintf(m->name, sizeof m->name, "%s", name);
  const bool wide = size >= four_bytes;
  put(&r, 4, LOCAL);
  put_member(&r, m, wide, wide ? 20 : 0);
  put_name(&r, name);
  if (wide) {
    put(&r, 2, EXTRA_64);
    put(&r, 2, 16);
    put(&r, 8, size);
    put(&r, 8, size);
  }
  w->stored_count++;
  return write_record(w, &r, error) == CM_OK ? write_bytes(w, data, size, error) : error->status;
}

static cm_status write_central(cm_topology_writer *w, const cm_stored_member *m, cm_error *error)
{
  record r = {.used = 0};
  const bool wide = m->bytes >= four_bytes, far = m->at >= four_bytes;
  const size_t extra = (wide ? 16u : 0u) + (far ? 8u : 0u);
  put(&r, 4, CENTRAL);
  put(&r, 2, VERSION_64); /* that made it */
  put_member(&r, m, wide || far, extra > 0 ? extra + 4 : 0);
  put(&r, 2, 0); /* comment */
  put(&r, 2, 0); /* disk */
  put(&r, 2, 0); /* attributes, inside and out */
  put(&r, 4, 0);
  put(&r, 4, at_most(m->at, four_bytes));
  put_name(&r, m->name);
  if (extra > 0) {
    put(&r, 2, EXTRA_64);
    put(&r, 2, extra);
    if (wide) {
      put(&r, 8, m->bytes);
      put(&r, 8, m->bytes);
    }
    if (far)
      put(&r, 8, m->at);
  }
  return write_record(w, &r, error);
}

/* The end of the directory that lies from `at` on. */
static cm_status write_end(cm_topology_writer *w, uint64_t at, cm_error *error)
{
  record r = {.used = 0};
  const uint64_t bytes = w->written - at, end = w->written, count = w->stored_count;
  if (bytes >= four_bytes || at >= four_bytes || count >= two_bytes) {
    put(&r, 4, END_64);
    put(&r, 8, 44); /* bytes that follow */
    put(&r, 2, VERSION_64);
    put(&r, 2, VERSION_64);
    put(&r, 4, 0); /* disks */
    put(&r, 4, 0);
    put(&r, 8, count);
    put(&r, 8, count);
    put(&r, 8, bytes);
    put(&r, 8, at);
    put(&r, 4, LOCATOR_64);
    put(&r, 4, 0);
    put(&r, 8, end);
    put(&r, 4, 1);
  }
  put(&r, 4, END);
  put(&r, 2, 0);
  put(&r, 2, 0);
  put(&r, 2, at_most(count, two_bytes));
  put(&r, 2, at_most(count, two_bytes));
  put(&r, 4, at_most(bytes, four_bytes));
  put(&r, 4, at_most(at, four_bytes));
  put(&r, 2, 0);
  return write_record(w, &r, error);
}

cm_status cm_topology_store_end(cm_topology_writer *w, const char *manifest, cm_error *error)
{
  CM_TRY_IF(w->run != NULL, cm_run_check(w->run, error));
  CM_TRY(cm_topology_store_member(w, CM_MANIFEST_NAME, manifest, strlen(manifest), error));
  const uint64_t directory = w->written;
  for (uint32_t i = 0; i < w->stored_count; i++)
    CM_TRY(write_central(w, &w->stored_member[i], error));
  return write_end(w, directory, error);
}
