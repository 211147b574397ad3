/* The importer of the topology file: opens it where it lies, and checks the limits before anything is unpacked. */
#include <stdio.h>
#include <zip.h>

#include "core/network/file/topology_format.h"
#include "core/network/formats/readers.h"
#include "core/network/formats/source.h"
#include "core/network/import_limits.h"

/* A zip needs seeking: what came gzipped is unpacked to a nameless file first. */
static cm_status unpack(cm_source *source, FILE **stream, uint64_t *size, cm_error *error)
{
  FILE *made = tmpfile();
  if (made == NULL)
    return cm_fail(error, CM_IO, "cannot create a temporary file to unpack %s", source->path);
  *size = 0;
  for (;;) {
    size_t here = (size_t)(source->end - source->at);
    if (fwrite(source->at, 1, here, made) != here) {
      fclose(made);
      return cm_fail(error, CM_DISK_FULL, "no room for the temporary file to unpack %s", source->path);
    }
    *size += here;
    source->at = source->end;
    if (source->ended)
      break;
    if (cm_source_fill(source, error) != CM_OK) {
      fclose(made);
      return error->status;
    }
  }
  if (fflush(made) != 0) {
    fclose(made);
    return cm_fail(error, CM_DISK_FULL, "no room for the temporary file to unpack %s", source->path);
  }
  *stream = made;
  return CM_OK;
}

static cm_status open_reader(cm_source *source, cm_run *run, cm_topology_reader **reader, uint64_t *size, cm_error *error)
{
  size_t memory_size;
  const void *memory = cm_source_memory(source, &memory_size);
  zip_source_t *zip_source;
  if (source->gzipped) {
    FILE *stream = NULL;
    CM_TRY(unpack(source, &stream, size, error));
    zip_source = zip_source_filep_create(stream, 0, -1, NULL);
    if (zip_source == NULL)
      fclose(stream);
  } else if (memory != NULL) {
    *size = memory_size;
    zip_source = zip_source_buffer_create(memory, memory_size, 0, NULL);
  } else {
    *size = source->raw_size;
    zip_source = zip_source_file_create(source->path, 0, 0, NULL);
  }
  if (zip_source == NULL)
    return cm_whole(false, source->path, error);
  return cm_topology_reader_open_source(zip_source, source->path, run->memory, reader, error);
}

static cm_status check_limits(const cm_topology_reader *reader, uint64_t size, const cm_import_limits *limits, cm_error *error)
{
  const cm_topology_header *h = cm_topology_reader_header(reader);
  uint64_t bytes = cm_topology_reader_bytes(reader);
  if (h->vertex_count > limits->vertices_max)
    return cm_over_limit("vertices", h->vertex_count, limits->vertices_max, error);
  if (h->pin_count > limits->pins_max)
    return cm_over_limit("edge ends", h->pin_count, limits->pins_max, error);
  if (bytes > limits->bytes_max)
    return cm_over_limit("bytes once unpacked", bytes, limits->bytes_max, error);
  if (bytes > CM_RATIO_FROM_BYTES && (double)bytes > limits->ratio_max * (double)size)
    return cm_over_limit("bytes for each packed one", bytes / size, (uint64_t)limits->ratio_max, error);
  return CM_OK;
}

cm_status cm_import_topology(const cm_reading_of *in, cm_error *error)
{
  cm_topology_reader *reader;
  cm_topology *read = NULL;
  uint64_t size = 0;
  CM_TRY(open_reader(in->source, in->run, &reader, &size, error));
  cm_status status = check_limits(reader, size, in->limits, error);
  CM_THEN(status, cm_topology_read(reader, in->run, &read, error));
  if (status == CM_OK)
    *in->made = *read;
  cm_free(read);
  in->source->plain_bytes = cm_topology_reader_bytes(reader);
  if (!in->source->gzipped)
    in->source->raw_bytes = size;
  cm_topology_reader_close(reader);
  return status;
}
