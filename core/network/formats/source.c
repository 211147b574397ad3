/* Happy path: a window of plain bytes is filled by read(2), by memcpy, or by inflating what those give.
 * What can fail: the file (cannot open, cannot read), gzip data that is damaged or ends early, more plain
 * bytes or a higher ratio than the limits allow, the run (cancel, time). */
#include "core/network/formats/source.h"

#include <errno.h>
#include <fcntl.h>
#include <isa-l/igzip_lib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/network/import_limits.h"

struct cm_source_state {
  int descriptor;
  const uint8_t *memory; /* NULL: read the descriptor */
  size_t memory_size;
  cm_import_limits limits;
  cm_run *run;
  struct inflate_state stream;
  bool inflating, stream_ended;
  bool raw_ended;
  uint8_t packed[1 << 16];
  uint8_t window[CM_SOURCE_WINDOW];
};

/* Up to `size` bytes as they lie in the file; 0 at the end. */
static cm_status read_raw(cm_source *source, uint8_t *bytes, size_t size, size_t *got, cm_error *error)
{
  struct cm_source_state *state = source->state;
  if (state->memory != NULL) {
    size_t left = state->memory_size - (size_t)source->raw_bytes;
    *got = size < left ? size : left;
    memcpy(bytes, state->memory + source->raw_bytes, *got);
  } else {
    ssize_t count;
    do
      count = read(state->descriptor, bytes, size);
    while (count < 0 && errno == EINTR);
    if (count < 0)
      return cm_fail_errno(error, errno, "cannot read", source->path);
    *got = (size_t)count;
  }
  if (*got == 0)
    state->raw_ended = true;
  source->raw_bytes += *got;
  return CM_OK;
}

static cm_status bad_gzip(cm_source *source, const char *what, cm_error *error)
{
  uint64_t at = source->raw_bytes - source->state->stream.avail_in;
  cm_fail(error, CM_BAD_NETWORK, "the gzip data of the file is damaged at byte %llu: %s", (unsigned long long)at, what);
  return cm_fail_at(error, "byte %llu", (unsigned long long)at);
}

/* Makes packed bytes available. */
static cm_status refill_packed(cm_source *source, cm_error *error)
{
  struct cm_source_state *state = source->state;
  if (state->stream.avail_in > 0 || state->raw_ended)
    return CM_OK;
  size_t got;
  CM_TRY(read_raw(source, state->packed, sizeof state->packed, &got, error));
  state->stream.next_in = state->packed;
  state->stream.avail_in = (uint32_t)got;
  return CM_OK;
}

/* Gzip members may follow one another; zeros after the last one are padding of tapes, as gzip(1) has it. */
static cm_status next_member(cm_source *source, bool *end, cm_error *error)
{
  struct cm_source_state *state = source->state;
  for (;;) {
    CM_TRY(refill_packed(source, error));
    if (state->stream.avail_in == 0) {
      *end = true;
      return CM_OK;
    }
    if (*state->stream.next_in != 0)
      break;
    state->stream.next_in++;
    state->stream.avail_in--;
  }
  if (*state->stream.next_in != 0x1f)
    return bad_gzip(source, "something else follows the end of the compressed data", error);
  *end = false;
  state->stream_ended = false;
  isal_inflate_reset(&state->stream);
  state->stream.crc_flag = ISAL_GZIP;
  return CM_OK;
}

/* What the library's refusals mean. */
static const char *refusal(int result)
{
  switch (result) {
  case ISAL_INVALID_WRAPPER: return "its header makes no sense";
  case ISAL_UNSUPPORTED_METHOD: return "it is compressed by another method than deflate";
  case ISAL_INCORRECT_CHECKSUM: return "its checksum or length is another";
  default: return "it cannot be unpacked";
  }
}

static cm_status inflate_into(cm_source *source, uint8_t *bytes, size_t size, size_t *got, cm_error *error)
{
  struct cm_source_state *state = source->state;
  struct inflate_state *stream = &state->stream;
  stream->next_out = bytes;
  stream->avail_out = (uint32_t)size;
  while (stream->avail_out > 0) {
    if (state->stream_ended) {
      bool end;
      CM_TRY(next_member(source, &end, error));
      if (end)
        break;
    }
    CM_TRY(refill_packed(source, error));
    uint32_t room = stream->avail_out;
    bool last = stream->avail_in == 0; /* what comes now was held back */
    int result = isal_inflate(stream);
    if (result < ISAL_DECOMP_OK)
      return bad_gzip(source, refusal(result), error);
    if (stream->block_state == ISAL_BLOCK_FINISH)
      state->stream_ended = true;
    else if (last && stream->avail_out == room)
      return bad_gzip(source, "it ends early", error);
  }
  *got = size - stream->avail_out;
  return CM_OK;
}

static cm_status check_limits(const cm_source *source, cm_error *error)
{
  const cm_import_limits *limits = &source->state->limits;
  if (source->plain_bytes > limits->bytes_max) {
    cm_fail(error, CM_TOO_LARGE, "the network has more than %llu bytes%s; that is the limit",
            (unsigned long long)limits->bytes_max, source->gzipped ? " once unpacked" : "");
    cm_error_figure(error, "limit", limits->bytes_max);
    return error->status;
  }
  if (source->gzipped && source->plain_bytes > CM_RATIO_FROM_BYTES &&
      (double)source->plain_bytes > limits->ratio_max * (double)source->raw_bytes) {
    cm_fail(error, CM_TOO_LARGE,
            "the network unpacks to more than %.0f times its size (%llu bytes after %llu); that is the limit",
            limits->ratio_max, (unsigned long long)source->plain_bytes, (unsigned long long)source->raw_bytes);
    cm_error_figure(error, "limit", (uint64_t)limits->ratio_max);
    return error->status;
  }
  return CM_OK;
}

cm_status cm_source_fill(cm_source *source, cm_error *error)
{
  struct cm_source_state *state = source->state;
  size_t unread = (size_t)(source->end - source->at);
  if (unread == CM_SOURCE_WINDOW || source->ended)
    return CM_OK;
  memmove(state->window, source->at, unread);
  source->at = state->window;
  source->end = state->window + unread;
  while (unread < CM_SOURCE_WINDOW) {
    size_t got = 0;
    uint8_t *room = state->window + unread;
    cm_status status = state->inflating ? inflate_into(source, room, CM_SOURCE_WINDOW - unread, &got, error)
                                        : read_raw(source, room, CM_SOURCE_WINDOW - unread, &got, error);
    if (status != CM_OK)
      return status;
    if (got == 0) {
      source->ended = true;
      break;
    }
    unread += got;
    source->plain_bytes += got;
    source->end = state->window + unread;
    CM_TRY(check_limits(source, error));
  }
  double fraction = source->raw_size == 0 ? 0 : (double)source->raw_bytes / (double)source->raw_size;
  return cm_run_progress(state->run, fraction < 1 ? fraction : 1, -1, 0, NAN, error);
}

/* Looks at the first bytes and starts unpacking where they say gzip. */
static cm_status start(cm_source *source, cm_error *error)
{
  struct cm_source_state *state = source->state;
  source->at = source->end = state->window;
  size_t held = 0, got = 1;
  while (held < 3 && got > 0) {
    CM_TRY(read_raw(source, state->packed + held, sizeof state->packed - held, &got, error));
    held += got;
  }
  if (held >= 3 && state->packed[0] == 0x1f && state->packed[1] == 0x8b && state->packed[2] == 8) {
    isal_inflate_init(&state->stream);
    state->stream.crc_flag = ISAL_GZIP;
    state->stream.next_in = state->packed;
    state->stream.avail_in = (uint32_t)held;
    state->inflating = source->gzipped = true;
  } else {
    memcpy(state->window, state->packed, held);
    source->end = state->window + held;
    source->plain_bytes = held;
    CM_TRY(check_limits(source, error));
  }
  return cm_source_fill(source, error);
}

static cm_status prepare(cm_source *source, const char *path, const cm_import_limits *limits, cm_run *run, cm_error *error)
{
  *source = (cm_source){.path = path};
  CM_TRY(CM_NEW(run->memory, source->state, 1, error));
  source->state->descriptor = -1;
  source->state->limits = *limits;
  source->state->run = run;
  return CM_OK;
}

cm_status cm_source_open(cm_source *source, const char *path, const cm_import_limits *limits, cm_run *run, cm_error *error)
{
  cm_source made;
  CM_TRY(prepare(&made, path, limits, run, error));
  cm_status status;
  struct stat about;
  made.state->descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (made.state->descriptor < 0 || fstat(made.state->descriptor, &about) != 0) {
    status = cm_fail_errno(error, errno, "cannot open", path);
  } else if (S_ISDIR(about.st_mode)) {
    status = cm_fail_errno(error, EISDIR, "cannot read", path);
  } else {
    made.raw_size = S_ISREG(about.st_mode) ? (uint64_t)about.st_size : 0;
    status = start(&made, error);
  }
  CM_END(status, *source = made, cm_source_close(&made));
}

cm_status cm_source_open_memory(cm_source *source, const void *bytes, size_t size, const cm_import_limits *limits,
                                cm_run *run, cm_error *error)
{
  cm_source made;
  CM_TRY(prepare(&made, "the network", limits, run, error));
  made.state->memory = size > 0 ? bytes : (const uint8_t *)"";
  made.state->memory_size = size;
  made.raw_size = size;
  CM_END(start(&made, error), *source = made, cm_source_close(&made));
}

void cm_source_close(cm_source *source)
{
  if (source->state == NULL)
    return;
  if (source->state->descriptor >= 0)
    close(source->state->descriptor);
  cm_free(source->state);
  source->state = NULL;
}

cm_status cm_source_rewind(cm_source *source, cm_error *error)
{
  struct cm_source_state *state = source->state;
  if (state->memory == NULL && lseek(state->descriptor, 0, SEEK_SET) != 0)
    return cm_fail_errno(error, errno, "cannot read twice", source->path);
  state->inflating = state->stream_ended = state->raw_ended = false;
  source->ended = source->gzipped = false;
  source->plain_bytes = source->raw_bytes = 0;
  return start(source, error);
}

cm_status cm_source_take(cm_source *source, void *bytes, size_t size, size_t *got, cm_error *error)
{
  uint8_t *to = bytes;
  size_t taken = 0;
  while (taken < size) {
    size_t here = (size_t)(source->end - source->at);
    if (here > size - taken)
      here = size - taken;
    memcpy(to + taken, source->at, here);
    source->at += here;
    taken += here;
    if (taken < size) {
      if (source->ended)
        break;
      CM_TRY(cm_source_fill(source, error));
    }
  }
  *got = taken;
  return CM_OK;
}

cm_status cm_source_image(cm_source *source, cm_memory *memory, void **image, size_t *size, cm_error *error)
{
  enum { IMAGE_BYTES_MAX = 1 << 30 };
  uint8_t *made = NULL;
  uint64_t room = 0, used = 0;
  for (;;) {
    size_t here = (size_t)(source->end - source->at);
    cm_status status = used + here > IMAGE_BYTES_MAX
                         ? cm_over_limit("bytes once unpacked (such a file is held in memory when it comes gzipped: unpack it "
                                         "first)", used + here, IMAGE_BYTES_MAX, error)
                         : CM_ROOM(memory, made, &room, used + here + 1, error);
    if (status != CM_OK) {
      cm_free(made);
      return status;
    }
    memcpy(made + used, source->at, here);
    used += here;
    source->at = source->end;
    if (source->ended)
      break;
    if (cm_source_fill(source, error) != CM_OK) {
      cm_free(made);
      return error->status;
    }
  }
  *image = made;
  *size = (size_t)used;
  return CM_OK;
}

const void *cm_source_memory(const cm_source *source, size_t *size)
{
  *size = source->state->memory_size;
  return source->state->memory;
}

const char *cm_source_option(const cm_source *source, cm_read_option_id id)
{
  const char *value = source->hint != NULL ? source->hint->option[id] : NULL;
  return value != NULL && value[0] != '\0' ? value : NULL;
}

static bool says(const cm_source *source, cm_read_option_id id, const char *word)
{
  const char *said = cm_source_option(source, id);
  return said != NULL && strcmp(said, word) == 0;
}

bool cm_source_wants_synapses(const cm_source *source)
{
  return says(source, CM_READ_DIRECTED, "yes");
}
