/* Small results as one value of the database in place of a folder of files, each of which would take a block of the disk.
 *
 * A pack is what zlib makes of: for each file, JSON first and binary last (which it packs best), name, NUL, size as eight bytes,
 * least first, and its bytes. */
#pragma once

#include "storage/mappings.h"

enum {
  CM_PACK_PLAIN_MAX = 1 << 20,   /* bytes of the files together */
  CM_PACK_PACKED_MAX = 32 << 10, /* and of the pack: what is larger stays a folder */
};

struct cm_pack {
  unsigned char *bytes; /* NULL: the folder is none that is packed */
  size_t size;
  char sha256[CM_SHA_MAX];
};

void cm_pack_clear(cm_pack *pack); /* a zeroed one is fine */

/* Packs the files of a folder, which stays as it is; a folder that is too large, or has folders in it, gives pack->bytes =
 * NULL. The caller clears. Errors: of reading, CM_NO_MEMORY. */
cm_status cm_pack_folder(const char *folder, cm_pack *pack, cm_error *error);

/* One file of a pack; the caller frees *bytes. CM_NOT_FOUND: it has none of the name; CM_DAMAGED: it is no pack. O(what lies
 * before it). */
cm_status cm_pack_file(const void *pack, size_t size, const char *name, char **bytes, size_t *bytes_size, cm_error *error);

/* Writes all files of a pack into a folder. */
cm_status cm_pack_unfold(const void *pack, size_t size, const char *folder, cm_error *error);

/* Reads a pack to its end; CM_DAMAGED. */
cm_status cm_pack_check(const void *pack, size_t size, cm_error *error);

/* In write closures: stores a mapping's pack. */
cm_status cm_pack_note_in(sqlite3 *handle, const char *mapping, const cm_pack *pack, cm_error *error);

/* Packs so many of the mappings that an earlier release left as folders; *left: more may be there. What cannot be read stays a
 * folder, with a line of the log. */
cm_status cm_pack_old(cm_store *store, unsigned most, bool *left, cm_error *error);

/* The folder of a mapping's files, where it is no pack. */
cm_status cm_mappings_folder(const cm_store *store, const char *id, char *path, cm_error *error);
