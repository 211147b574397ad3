/* The files of a SONATA circuit in their archive, and the lists and groups of one that is open. */
#include <string.h>

#include "core/network/archive/archive.h"
#include "core/network/formats/source.h"
#include "core/network/hdf5/h5.h"
#include "core/network/hdf5/sonata_circuit.h"

cm_status sonata_circuit_bad(const char *place, const char *what, cm_error *error)
{
  cm_fail(error, CM_BAD_NETWORK, "SONATA circuit, %.80s: %s", place, what);
  return cm_fail_at(error, "%.80s", place);
}

/* What stands behind variables and dots: "$NETWORK_DIR/a/b.h5" is "a/b.h5". */
static const char *plain_path(const char *path)
{
  const char *begin = path;
  for (const char *at = path; at != NULL; at = strchr(at, '/'), at = at != NULL ? at + 1 : NULL)
    if (*at == '$' || *at == '.' || *at == '/') {
      const char *slash = strchr(at, '/');
      begin = slash != NULL ? slash + 1 : at;
    }
  return begin;
}

/* The one member that ends in a path. */
cm_status sonata_member_find(const sonata_files *c, const char *path, uint64_t *member, cm_error *error)
{
  const char *tail = plain_path(path);
  uint64_t found = 0;
  for (uint64_t i = 0; i < c->archive.count; i++) {
    const char *name = cm_archive_name(&c->archive, i);
    size_t length = strlen(name), part = strlen(tail);
    if (length < part || part == 0 || strcmp(name + length - part, tail) != 0 || (length > part && name[length - part - 1] != '/'))
      continue;
    *member = i;
    found++;
  }
  return found == 1 ? CM_OK : sonata_circuit_bad(tail, found == 0 ? "the archive has no such file" : "the archive has several such files", error);
}

void sonata_member_close(sonata_files *c)
{
  cm_source_close(&c->member);
  cm_free(c->image);
  c->image = NULL;
}

/* Takes a member out of the archive, as a source. */
cm_status sonata_member_open(sonata_files *c, uint64_t member, cm_error *error)
{
  cm_bytes stream;
  uint64_t size = cm_archive_bytes(&c->archive, member);
  CM_TRY(cm_archive_stream(&c->archive, member, &stream, error));
  uint8_t *image;
  cm_status status = CM_NEW(c->s->memory, image, size + 1, error);
  c->image = image;
  c->image_size = (size_t)size;
  CM_THEN(status, cm_bytes_take(&stream, image, (size_t)size, error));
  CM_THEN(status, cm_bytes_end(&stream, error));
  cm_bytes_close(&stream);
  CM_THEN(status, cm_source_open_memory(&c->member, c->image, (size_t)size, c->s->limits, c->s->run, error));
  if (status != CM_OK)
    sonata_member_close(c);
  return status;
}

/* Does `each` to every member of a group, if it is there. */
cm_status sonata_for_members(sonata_files *c, const char *path, sonata_each *each, cm_error *error)
{
  const cm_h5 *h5 = &c->s->h5;
  cm_h5_texts names = {0};
  hid_t all, one;
  if (!cm_h5_has(h5->file, path))
    return cm_h5_bad(h5, h5->file, path, "it is missing", error);
  CM_TRY(cm_h5_object(h5, h5->file, path, &all, error));
  cm_status status = cm_h5_names(h5, all, &names, error);
  for (uint64_t i = 0; i < names.count && status == CM_OK; i++) {
    status = cm_h5_object(h5, all, cm_h5_text_at(&names, i), &one, error);
    if (status != CM_OK)
      break;
    status = each(c, one, cm_h5_text_at(&names, i), error);
    (void)H5Oclose(one);
  }
  cm_h5_texts_free(&names);
  (void)H5Oclose(all);
  return status;
}

cm_status sonata_length(sonata_files *c, hid_t group, const char *list, uint64_t *length, cm_error *error)
{
  cm_h5_extents is;
  CM_TRY(cm_h5_shape(&c->s->h5, group, list, &is, error));
  *length = is.dim[0];
  return is.rank == 1 ? CM_OK : cm_h5_bad(&c->s->h5, group, list, "a list is expected", error);
}
