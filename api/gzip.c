/* Files that are packed while they are sent: a piece of input and a piece of output in memory, whatever the size.
 * What can fail: reading the file (the connection is closed, so that the client sees that it has not got all). */
#include <isa-l/igzip_lib.h>
#include <strings.h>
#include <unistd.h>

#include "api/internal.h"

enum {
  PACKED_MIN = 4 << 10,   /* smaller files are not worth it */
  INPUT_BYTES = 64 << 10,
  TURN_BYTES_MAX = 1 << 20, /* read at most before others have their turn, once there is something to send */
};

typedef struct packer {
  int file;
  uint64_t *sent; /* of its request, which lives as long as its connection reads */
  bool failed;
  struct isal_zstream stream;
  uint8_t input[INPUT_BYTES];
  uint8_t tables[ISAL_DEF_LVL1_DEFAULT];
} packer;

/* Whether an Accept-Encoding header takes gzip: its own weight counts before that of "*". */
static bool takes_gzip(const char *header)
{
  bool any = false;
  for (const char *p = header; *p != '\0';) {
    p += strspn(p, " \t,");
    size_t name = strcspn(p, ",; \t"), length = strcspn(p, ",");
    const char *weight = memchr(p, ';', length);
    bool refused = false;
    if (weight != NULL) {
      weight += 1 + strspn(weight + 1, " \t");
      refused = strncasecmp(weight, "q=0", 3) == 0 && strspn(weight + 3, ".0") == strcspn(weight + 3, ", \t");
    }
    if ((name == 4 && strncasecmp(p, "gzip", 4) == 0) || (name == 6 && strncasecmp(p, "x-gzip", 6) == 0))
      return !refused;
    any = any || (name == 1 && p[0] == '*' && !refused);
    p += length;
  }
  return any;
}

bool cm_gzip_packs(const char *type)
{
  return strncmp(type, "text/", 5) == 0 || strncmp(type, "application/json", 16) == 0 || strcmp(type, "application/octet-stream") == 0;
}

bool cm_gzip_wanted(const cm_request *request, const char *type, uint64_t bytes)
{
  const char *header = cm_request_header(request, "Accept-Encoding");
  return bytes >= PACKED_MIN && header != NULL && cm_gzip_packs(type) && takes_gzip(header) &&
         cm_request_header(request, "Range") == NULL;
}

/* One step: more input when there is none, and what that makes; false: the file cannot be read. */
static bool pack(packer *p)
{
  if (p->stream.avail_in == 0 && !p->stream.end_of_stream) {
    ssize_t got = read(p->file, p->input, sizeof p->input);
    if (got < 0)
      return false;
    p->stream.next_in = p->input;
    p->stream.avail_in = (uint32_t)got;
    p->stream.end_of_stream = got == 0;
  }
  return isal_deflate(&p->stream) == COMP_OK;
}

static ssize_t read_packed(void *context, CM_UNUSED uint64_t position, char *buffer, size_t room)
{
  packer *p = context;
  p->stream.next_out = (uint8_t *)buffer;
  p->stream.avail_out = (uint32_t)room;
  uint32_t before = p->stream.total_in;
  while (p->stream.avail_out > 0 && p->stream.internal_state.state != ZSTATE_END && !p->failed &&
         (p->stream.avail_out == room || p->stream.total_in - before < TURN_BYTES_MAX))
    p->failed = !pack(p);
  if (p->failed)
    return MHD_CONTENT_READER_END_WITH_ERROR;
  *p->sent += room - p->stream.avail_out;
  return p->stream.avail_out < room ? (ssize_t)(room - p->stream.avail_out) : MHD_CONTENT_READER_END_OF_STREAM;
}

static void release(void *context)
{
  packer *p = context;
  (void)close(p->file);
  free(p);
}

struct MHD_Response *cm_gzip_response(int file, uint64_t *sent)
{
  packer *p = calloc(1, sizeof *p); /* the library leaves next_in and avail_in to us */
  if (p == NULL)
    return NULL;
  p->file = file;
  p->sent = sent;
  isal_deflate_init(&p->stream);
  p->stream.level = 1;
  p->stream.level_buf = p->tables;
  p->stream.level_buf_size = sizeof p->tables;
  p->stream.gzip_flag = IGZIP_GZIP;
  struct MHD_Response *response =
      MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, INPUT_BYTES, read_packed, p, release);
  if (response == NULL)
    free(p);
  return response;
}
