/* Happy path: open, add up what the members say, read them front to back. What can fail: libzip refuses, members claim more
 * than the limits allow, data ends early or fails its checksum. */
#include "core/network/archive/archive.h"

#include <stdio.h>
#include <string.h>

#include "core/network/formats/source.h"
#include "core/network/import_limits.h"
#include "core/network/recognise.h"

bool cm_is_zip(const uint8_t *bytes, size_t size)
{
  return size >= 4 && memcmp(bytes, "PK", 2) == 0 && bytes[2] < 9 && bytes[3] < 9;
}

static cm_status refuse(const char *what, cm_error *error)
{
  cm_fail(error, CM_BAD_NETWORK, "the zip archive %s", what);
  return cm_fail_at(error, "byte 0");
}

/* A few packed bytes may claim to be gigabytes. */
static cm_status check_limits(const cm_archive *archive, uint64_t size, const cm_import_limits *limits, cm_error *error)
{
  uint64_t all = 0;
  zip_stat_t about;
  for (uint64_t i = 0; i < archive->count; i++) {
    if (zip_stat_index(archive->zip, i, 0, &about) != 0 || (about.valid & ZIP_STAT_SIZE) == 0)
      return refuse("has a member of unknown size", error);
    if ((about.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && about.encryption_method != ZIP_EM_NONE)
      return refuse("is encrypted: unpack it, and pack it without a password", error);
    if (__builtin_add_overflow(all, about.size, &all))
      return refuse("has members of impossible sizes", error);
  }
  if (all > limits->bytes_max)
    return cm_over_limit("bytes once unpacked", all, limits->bytes_max, error);
  if (all > CM_RATIO_FROM_BYTES && (double)all > limits->ratio_max * (double)size)
    return cm_over_limit("bytes for each packed one", all / (size > 0 ? size : 1), (uint64_t)limits->ratio_max, error);
  return CM_OK;
}

/* A tar is no longer than what its source unpacks to, which is held to the limits. */
static cm_status open_tar(cm_archive *archive, cm_source *source, const cm_import_limits *limits, cm_run *run, cm_error *error)
{
  cm_archive made = {.bytes_max = limits->bytes_max};
  size_t size;
  CM_TRY(cm_source_image(source, run->memory, &made.image, &size, error));
  CM_END(cm_tar_list(made.image, size, run->memory, &made.tar, &made.count, error), *archive = made, cm_free(made.image));
}

cm_status cm_archive_open(cm_archive *archive, cm_source *source, const cm_import_limits *limits, cm_run *run, cm_error *error)
{
  cm_archive made = {.bytes_max = limits->bytes_max};
  size_t size = (size_t)(source->end - source->at);
  if (!cm_is_zip(source->at, size) && cm_is_tar(source->at, size))
    return open_tar(archive, source, limits, run, error);
  size = 0;
  const void *memory = cm_source_memory(source, &size);
  zip_error_t why;
  zip_source_t *bytes;
  zip_error_init(&why);
  if (source->gzipped) {
    CM_TRY(cm_source_image(source, run->memory, &made.image, &size, error));
    memory = made.image;
  }
  uint64_t packed = memory != NULL ? size : source->raw_size;
  bytes = memory != NULL ? zip_source_buffer_create(memory, size, 0, &why) : zip_source_file_create(source->path, 0, 0, &why);
  made.zip = bytes != NULL ? zip_open_from_source(bytes, ZIP_RDONLY, &why) : NULL;
  if (made.zip == NULL) {
    cm_status status = zip_error_code_zip(&why) == ZIP_ER_MEMORY
                         ? cm_whole(false, source->path, error)
                         : refuse("is damaged or cut off: its list of members cannot be read", error);
    zip_source_free(bytes);
    zip_error_fini(&why);
    cm_free(made.image);
    return status;
  }
  zip_error_fini(&why);
  zip_int64_t count = zip_get_num_entries(made.zip, 0);
  made.count = count > 0 ? (uint64_t)count : 0;
  if (made.count > CM_ARCHIVE_MEMBERS_MAX ? refuse("has more than 4096 members", error) != CM_OK
                                          : check_limits(&made, packed, limits, error) != CM_OK) {
    cm_archive_close(&made);
    return error->status;
  }
  if (!source->gzipped)
    source->raw_bytes = packed;
  *archive = made;
  return CM_OK;
}

void cm_archive_close(cm_archive *archive)
{
  if (archive->zip != NULL)
    zip_discard(archive->zip);
  if (archive->tar != NULL)
    cm_tar_free(archive->tar, archive->count);
  cm_free(archive->image);
  *archive = (cm_archive){0};
}

const char *cm_archive_name(const cm_archive *archive, uint64_t member)
{
  const char *name = archive->tar != NULL ? archive->tar[member].name : zip_get_name(archive->zip, member, 0);
  return name != NULL ? name : "";
}

uint64_t cm_archive_bytes(const cm_archive *archive, uint64_t member)
{
  zip_stat_t about;
  if (archive->tar != NULL)
    return archive->tar[member].bytes;
  return zip_stat_index(archive->zip, member, 0, &about) == 0 && (about.valid & ZIP_STAT_SIZE) != 0 ? about.size : 0;
}

cm_status cm_archive_stream(const cm_archive *archive, uint64_t member, cm_bytes *stream, cm_error *error)
{
  cm_bytes made = {.name = cm_archive_name(archive, member)};
  if (archive->tar != NULL) {
    made.at = archive->tar[member].data;
    made.left = archive->tar[member].bytes;
    *stream = made;
    return CM_OK;
  }
  made.member = zip_fopen_index(archive->zip, member, 0);
  if (made.member == NULL)
    return cm_bytes_bad(&made, "it cannot be unpacked: damaged, or packed by an unknown method", error);
  *stream = made;
  return CM_OK;
}

void cm_bytes_close(cm_bytes *stream)
{
  if (stream->member != NULL)
    (void)zip_fclose(stream->member);
  *stream = (cm_bytes){0};
}

cm_status cm_bytes_bad(const cm_bytes *stream, const char *what, cm_error *error)
{
  char name[80];
  (void)snprintf(name, sizeof name, "%s", stream->name);
  for (char *c = name; *c != '\0'; c++)
    *c = (unsigned char)*c < ' ' ? '?' : *c;
  cm_fail(error, CM_BAD_NETWORK, "%s: %s", name, what);
  return cm_fail_at(error, "%s", name);
}

cm_status cm_bytes_take(cm_bytes *stream, void *bytes, size_t size, cm_error *error)
{
  size_t got = 0;
  if (stream->source != NULL) {
    CM_TRY(cm_source_take(stream->source, bytes, size, &got, error));
  } else if (stream->at != NULL) {
    got = size < stream->left ? size : (size_t)stream->left;
    memcpy(bytes, stream->at, got);
    stream->at += got;
    stream->left -= got;
  } else {
    zip_int64_t more = zip_fread(stream->member, bytes, size);
    got = more > 0 ? (size_t)more : 0;
  }
  if (got < size)
    return cm_bytes_bad(stream, cm_say("it is damaged or ends early, at byte %llu", (unsigned long long)(stream->offset + got)).text, error);
  stream->offset += size;
  return CM_OK;
}

cm_status cm_bytes_end(cm_bytes *stream, cm_error *error)
{
  uint8_t rest[4096];
  zip_int64_t more = stream->member != NULL ? 1 : 0;
  while (more > 0)
    more = zip_fread(stream->member, rest, sizeof rest);
  return more == 0 ? CM_OK : cm_bytes_bad(stream, "it is damaged: its checksum is another", error);
}
