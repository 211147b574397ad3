#include "core/network/formats/sink.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/memory.h"

enum { DIGITS_MAX = 20 };

cm_status cm_sink_open(cm_sink *sink, const char *path, bool gzipped, cm_error *error)
{
  sink->packer = NULL;
  sink->used = 0;
  sink->failure = CM_OK;
  sink->cause = 0;
  CM_TRY(cm_file_create(&sink->file, path, error));
  int descriptor = dup(fileno(sink->file.stream));
  if (descriptor >= 0)
    sink->packer = gzdopen(descriptor, gzipped ? "wb6" : "wbT");
  if (sink->packer == NULL) {
    int cause = descriptor < 0 ? errno : ENOMEM;
    if (descriptor >= 0)
      close(descriptor);
    cm_file_discard(&sink->file);
    return cm_fail_errno(error, cause, "cannot write", path);
  }
  return CM_OK;
}

static void flush(cm_sink *sink)
{
  if (sink->used > 0 && sink->failure == CM_OK &&
      gzwrite(sink->packer, sink->buffer, (unsigned)sink->used) != (int)sink->used) {
    int code;
    sink->cause = errno;
    (void)gzerror(sink->packer, &code);
    sink->failure = code == Z_MEM_ERROR ? CM_NO_MEMORY : CM_IO;
  }
  sink->used = 0;
}

void cm_sink_bytes(cm_sink *sink, const void *bytes, size_t size)
{
  const char *from = bytes;
  while (size > 0) {
    if (sink->used == sizeof sink->buffer)
      flush(sink);
    size_t here = sizeof sink->buffer - sink->used;
    here = here < size ? here : size;
    memcpy(sink->buffer + sink->used, from, here);
    sink->used += here;
    from += here;
    size -= here;
  }
}

void cm_sink_text(cm_sink *sink, const char *text)
{
  cm_sink_bytes(sink, text, strlen(text));
}

void cm_sink_number(cm_sink *sink, uint64_t value)
{
  char digits[DIGITS_MAX];
  size_t at = sizeof digits;
  do
    digits[--at] = (char)('0' + value % 10);
  while ((value /= 10) != 0);
  cm_sink_bytes(sink, digits + at, sizeof digits - at);
}

cm_status cm_sink_status(const cm_sink *sink, cm_error *error)
{
  if (sink->failure == CM_NO_MEMORY)
    return cm_whole(false, sink->file.path, error);
  return sink->failure == CM_OK ? CM_OK : cm_fail_errno(error, sink->cause, "cannot write", sink->file.path);
}

cm_status cm_sink_close(cm_sink *sink, cm_error *error)
{
  flush(sink);
  errno = 0;
  int result = gzclose(sink->packer);
  sink->packer = NULL;
  if (result != Z_OK && sink->failure == CM_OK) {
    sink->cause = errno;
    sink->failure = result == Z_MEM_ERROR ? CM_NO_MEMORY : CM_IO;
  }
  CM_TRY_OR(cm_sink_status(sink, error), cm_file_discard(&sink->file));
  return cm_file_commit(&sink->file, error);
}

void cm_sink_discard(cm_sink *sink)
{
  if (sink->packer != NULL)
    (void)gzclose(sink->packer);
  sink->packer = NULL;
  cm_file_discard(&sink->file);
}
