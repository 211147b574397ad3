/* Topology files: the bytes as a zip; or, so that checksums do not stop every mutation, as the edges member of a zip
 * whose manifest is made to fit: one byte of options, then vertices, rows, pins, weight total, then the member. */
#include <jansson.h>
#include <sodium.h>
#include <string.h>
#include <zip.h>

#include "base/varint.h"
#include "network.h"

static zip_source_t *owned(const void *bytes, size_t size)
{
  void *copy = malloc(size + 1);
  if (copy == NULL)
    abort();
  memcpy(copy, bytes, size);
  zip_source_t *source = zip_source_buffer_create(copy, size, 1, NULL);
  if (source == NULL)
    abort();
  return source;
}

static char *make_manifest(uint8_t options, const uint64_t *count, const uint8_t *edges, size_t size)
{
  unsigned char digest[32];
  char hex[65];
  crypto_generichash(digest, sizeof digest, edges, size, NULL, 0);
  sodium_bin2hex(hex, sizeof hex, digest, sizeof digest);
  json_t *manifest = json_pack(
    "{s:s, s:i, s:b, s:I, s:I, s:I, s:I, s:I, s:i, s:b, s:b, s:b, s:i, s:{s:i, s:i, s:i}, s:[{s:s, s:I, s:s, s:i, s:I, "
    "s:I, s:I}]}",
    "format", "coremapd topology", "version", 1, "directed", options & 1, "vertices", (json_int_t)count[0], "nets",
    (json_int_t)count[1], "pins", (json_int_t)count[2], "size_total", (json_int_t)count[0], "weight_total",
    (json_int_t)count[3], "weight_scale", 1, "has_weights", options >> 1 & 1, "has_sizes", 0, "has_labels", 0,
    "finer_vertices", 0, "merged", "duplicates", 0, "self_loops", 0, "empty_nets", 0, "members", "name", "edges/000000",
    "bytes", (json_int_t)size, "blake2b", hex, "first_vertex", 0, "vertices", (json_int_t)count[0], "rows",
    (json_int_t)count[1], "pins", (json_int_t)count[2]);
  char *text = manifest != NULL ? json_dumps(manifest, 0) : NULL;
  if (text == NULL)
    abort();
  json_decref(manifest);
  return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  uint64_t count[4];
  size_t at = 1;
  if (size > 2 && memcmp(data, "PK", 2) == 0)
    return fuzz_import(cm_import_topology, data, size);
  for (size_t i = 0; i < 4; i++) {
    size_t used = at < size ? cm_varint_decode(data + at, size - at, &count[i]) : 0;
    if (used == 0 || count[i] > INT64_MAX)
      return 0;
    at += used;
  }
  if (at == size)
    return 0; /* libzip leaks an owned buffer of no bytes */
  char *manifest = make_manifest(data[0], count, data + at, size - at);
  zip_source_t *archive = zip_source_buffer_create(NULL, 0, 0, NULL);
  zip_source_keep(archive);
  zip_t *zip = zip_open_from_source(archive, ZIP_CREATE | ZIP_TRUNCATE, NULL);
  if (zip == NULL || zip_file_add(zip, "manifest.json", owned(manifest, strlen(manifest)), 0) != 0 ||
      zip_file_add(zip, "edges/000000", owned(data + at, size - at), 0) != 1 ||
      zip_set_file_compression(zip, 0, ZIP_CM_STORE, 0) != 0 ||
      zip_set_file_compression(zip, 1, ZIP_CM_STORE, 0) != 0 || zip_close(zip) != 0)
    abort();
  zip_stat_t about;
  if (zip_source_stat(archive, &about) != 0 || zip_source_open(archive) != 0)
    abort();
  uint8_t *bytes = malloc(about.size);
  if (bytes == NULL || zip_source_read(archive, bytes, about.size) != (zip_int64_t)about.size)
    abort();
  zip_source_close(archive);
  zip_source_free(archive);
  fuzz_import(cm_import_topology, bytes, about.size);
  free(bytes);
  free(manifest);
  return 0;
}
