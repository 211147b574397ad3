/* Archives of strangers, zip and tar: members found by name and read as streams, within the limits, in a confined process
 * (cm_network_needs_confinement). Zip is read by libzip. */
#pragma once

#include <zip.h>

#include "base/memory.h"
#include "base/run.h"
#include "base/status.h"
#include "core/network/formats/source.h"
#include "core/network/import_limits.h"

enum { CM_ARCHIVE_MEMBERS_MAX = 4096 };

/* A file of a tar archive. */
typedef struct cm_tar_member {
  char *name;
  const uint8_t *data; /* in the archive's image */
  uint64_t bytes;
} cm_tar_member;

/* The files of a tar archive that stands in memory, in its order; other entries are passed over. The caller frees *members
 * with cm_tar_free, and keeps the image meanwhile. CM_BAD_NETWORK with the byte: damaged, cut off, or of more than
 * CM_ARCHIVE_MEMBERS_MAX files. */
cm_status cm_tar_list(const uint8_t *image, uint64_t size, cm_memory *memory, cm_tar_member **members, uint64_t *count,
                      cm_error *error);
void cm_tar_free(cm_tar_member *members, uint64_t count);

typedef struct cm_archive {
  zip_t *zip;         /* NULL: a tar */
  cm_tar_member *tar; /* [count] */
  void *image;        /* of a tar, and of what came gzipped; NULL: read where it lies */
  uint64_t count;     /* of members */
  uint64_t bytes_max; /* of one member once unpacked */
} cm_archive;

/* Opens the zip or tar that a source holds. CM_BAD_NETWORK: damaged, encrypted, or of more than CM_ARCHIVE_MEMBERS_MAX members;
 * CM_TOO_LARGE: what its members say they hold passes the limits. */
cm_status cm_archive_open(cm_archive *archive, cm_source *source, const cm_import_limits *limits, cm_run *run, cm_error *error);
void cm_archive_close(cm_archive *archive); /* harmless on a zeroed archive */

/* The name of a member; never NULL. */
const char *cm_archive_name(const cm_archive *archive, uint64_t member);

/* Bytes of a member once unpacked, as the archive says. */
uint64_t cm_archive_bytes(const cm_archive *archive, uint64_t member);

/* Bytes one after another: of a member, or of a source. */
typedef struct cm_bytes {
  cm_source *source;  /* NULL: a member */
  zip_file_t *member;
  const uint8_t *at;  /* [left] what is left of a member of a tar; NULL: none */
  uint64_t left;
  const char *name;   /* for messages */
  uint64_t offset;    /* bytes taken so far */
} cm_bytes;

cm_status cm_archive_stream(const cm_archive *archive, uint64_t member, cm_bytes *stream, cm_error *error);
void cm_bytes_close(cm_bytes *stream); /* harmless on a zeroed stream */

/* Exactly `size` bytes. CM_BAD_NETWORK with the byte where it ends early or is damaged. */
cm_status cm_bytes_take(cm_bytes *stream, void *bytes, size_t size, cm_error *error);

/* Reads to the end: only then a member's checksum is known to be right. CM_BAD_NETWORK: it is another. */
cm_status cm_bytes_end(cm_bytes *stream, cm_error *error);

/* CM_BAD_NETWORK with the stream's name and `what`. */
cm_status cm_bytes_bad(const cm_bytes *stream, const char *what, cm_error *error);
