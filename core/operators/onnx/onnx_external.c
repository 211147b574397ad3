/* External data. What can fail: names that lead elsewhere, files that are not there or too short, memory. */
#include "core/operators/onnx/onnx_external.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_MAX_BYTES = 1000 };
#define MEMBER_BYTES_MAX (UINT64_C(1) << 36)

typedef struct filling {
  cm_external *source;
  cm_run *run;
  ProtobufCAllocator *allocator;
} filling;

/* So much is read at once, and no more once it is to stop. */
enum { PIECE_BYTES = 1 << 23 };

static uint64_t piece(uint64_t left)
{
  return left < PIECE_BYTES ? left : PIECE_BYTES;
}

/* How much of some bytes is read, and whether to go on. */
static cm_status go_on(cm_run *run, uint64_t done, uint64_t all, cm_error *error)
{
  return cm_run_progress(run, (double)done / (double)all, -1, 0, NAN, error);
}

/* Where a tensor's data is. */
typedef struct place {
  const char *location;
  uint64_t offset, length;
  bool has_length;
} place;

static cm_status refuse(const Onnx__TensorProto *t, cm_error *error, const char *what)
{
  return cm_fail(error, CM_BAD_NETWORK, "tensor '%.80s' keeps its data in another file (external data): %s",
                 t->name != NULL ? t->name : "", what);
}

static bool read_count(const char *text, uint64_t *number)
{
  char *end;
  errno = 0;
  *number = strtoull(text, &end, 10);
  return errno == 0 && end != text && *end == '\0' && text[0] >= '0' && text[0] <= '9';
}

static cm_status read_place(const Onnx__TensorProto *t, place *p, cm_error *error)
{
  *p = (place){.location = NULL};
  for (size_t i = 0; i < t->n_external_data; i++) {
    const char *key = t->external_data[i]->key, *value = t->external_data[i]->value;
    if (key == NULL || value == NULL)
      continue;
    if (strcmp(key, "location") == 0)
      p->location = value;
    else if ((strcmp(key, "offset") == 0 && !read_count(value, &p->offset)) ||
             (strcmp(key, "length") == 0 && !read_count(value, &p->length)))
      return refuse(t, error, "its offset or length is no number");
    p->has_length = p->has_length || strcmp(key, "length") == 0;
  }
  return p->location != NULL ? CM_OK : refuse(t, error, "no location is given");
}

/* A relative path without "..", empty parts or backslashes: what stays below the folder. */
static bool stays_inside(const char *location)
{
  size_t length = strlen(location);
  if (length == 0 || length > NAME_MAX_BYTES || strchr(location, '\\') != NULL)
    return false;
  for (const char *at = location; at != NULL; at = strchr(at, '/') != NULL ? strchr(at, '/') + 1 : NULL) {
    size_t part = strcspn(at, "/");
    if (part == 0 || (part == 2 && at[0] == '.' && at[1] == '.'))
      return false;
  }
  return true;
}

/* Opens a file below the folder, a part at a time and never through a link; -1. */
static int open_below(int folder, const char *location)
{
  char part[NAME_MAX_BYTES + 1];
  int at = dup(folder);
  while (at >= 0) {
    size_t length = strcspn(location, "/");
    bool last = location[length] == '\0';
    memcpy(part, location, length);
    part[length] = '\0';
    int next = openat(at, part, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (last ? 0 : O_DIRECTORY));
    int reason = errno;
    (void)close(at);
    errno = reason;
    at = next;
    location += length + 1;
    if (last)
      break;
  }
  return at;
}

/* Room for a tensor's bytes, once it is known that there are as many. */
static cm_status allocate(const filling *f, uint64_t wanted, uint8_t **bytes, cm_error *error)
{
  *bytes = f->allocator->alloc(f->allocator->allocator_data, wanted + 1);
  if (*bytes == NULL)
    *error = ((const cm_proto_account *)f->allocator->allocator_data)->error;
  return *bytes != NULL ? CM_OK : error->status;
}

static cm_status read_file(const filling *f, const Onnx__TensorProto *t, const place *p, uint64_t wanted, uint8_t **bytes,
                           cm_error *error)
{
  struct stat about;
  int file = open_below(f->source->folder, p->location);
  cm_status status = CM_OK;
  if (file < 0)
    return refuse(t, error, errno == ELOOP ? "it is a link, which is not followed" : "it cannot be opened");
  if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode))
    status = refuse(t, error, "it is no file");
  else if (p->offset > (uint64_t)about.st_size || wanted > (uint64_t)about.st_size - p->offset)
    status = refuse(t, error, "the file is shorter than its shape and type need");
  CM_THEN(status, allocate(f, wanted, bytes, error));
  for (uint64_t done = 0; status == CM_OK && done < wanted;) {
    ssize_t got = pread(file, *bytes + done, piece(wanted - done), (off_t)(p->offset + done));
    status =
      got <= 0 ? cm_fail(error, CM_IO, "cannot read %.200s", p->location) : go_on(f->run, done += (uint64_t)got, wanted, error);
  }
  (void)close(file);
  return status;
}

cm_status cm_external_member(zip_t *zip, const char *name, uint64_t most, cm_run *run, uint8_t **made, uint64_t *size,
                             cm_error *error)
{
  zip_stat_t about;
  uint8_t *bytes = NULL;
  if (zip_stat(zip, name, ZIP_FL_ENC_GUESS, &about) != 0 || (about.valid & ZIP_STAT_SIZE) == 0)
    return cm_fail(error, CM_BAD_NETWORK, "the zip has no member %.200s", name);
  if (about.size > most)
    return cm_fail(error, CM_TOO_LARGE, "member %.200s may have at most %llu bytes", name, (unsigned long long)most);
  zip_file_t *file = zip_fopen(zip, name, ZIP_FL_ENC_GUESS);
  if (file == NULL)
    return cm_fail(error, CM_BAD_NETWORK, "member %.200s cannot be opened", name);
  cm_status status = CM_NEW(run->memory, bytes, about.size + 1, error);
  for (uint64_t done = 0; status == CM_OK && done < about.size;) {
    zip_int64_t got = zip_fread(file, bytes + done, piece(about.size - done));
    status = got <= 0 ? cm_fail(error, CM_BAD_NETWORK, "member %.200s is damaged at byte %llu", name, (unsigned long long)done)
                      : go_on(run, done += (uint64_t)got, about.size, error);
  }
  (void)zip_fclose(file);
  if (status != CM_OK) {
    cm_free(bytes);
    return status;
  }
  *made = bytes;
  *size = about.size;
  return CM_OK;
}

static cm_status read_member(const filling *f, const Onnx__TensorProto *t, const place *p, uint64_t wanted,
                             uint8_t **bytes, cm_error *error)
{
  cm_external *s = f->source;
  char name[2 * NAME_MAX_BYTES + 10];
  size_t i = 0;
  (void)snprintf(name, sizeof name, "%.1000s%s", s->prefix, p->location);
  while (i < s->member_count && strcmp(s->member[i].name, name) != 0)
    i++;
  if (i == CM_EXTERNAL_FILES_MAX)
    return refuse(t, error, "at most 256 files are read");
  if (i == s->member_count) {
    char *copy;
    CM_TRY(CM_NEW(f->run->memory, copy, strlen(name) + 1, error));
    memcpy(copy, name, strlen(name) + 1);
    s->member[i].name = copy;
    s->member[i].bytes = NULL;
    s->member_count++;
    if (cm_external_member(s->zip, name, MEMBER_BYTES_MAX, f->run, &s->member[i].bytes, &s->member[i].size, error) != CM_OK)
      return error->status == CM_BAD_NETWORK ? refuse(t, error, "the zip does not have it, or it is damaged") : error->status;
  }
  if (p->offset > s->member[i].size || wanted > s->member[i].size - p->offset)
    return refuse(t, error, "the file is shorter than its shape and type need");
  CM_TRY(allocate(f, wanted, bytes, error));
  memcpy(*bytes, s->member[i].bytes + p->offset, wanted);
  return CM_OK;
}

void cm_external_end(cm_external *source)
{
  for (size_t i = 0; i < source->member_count; i++) {
    CM_FREE(source->member[i].name, source->member[i].bytes);
  }
  source->member_count = 0;
}

static cm_status fill_tensor(const filling *f, Onnx__TensorProto *t, cm_error *error)
{
  place p;
  uint64_t count;
  unsigned bits = cm_type_bits((cm_type)t->data_type);
  if (t->n_external_data == 0 && t->data_location != ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL)
    return CM_OK;
  if (f->source == NULL || (f->source->zip == NULL && f->source->folder < 0))
    return refuse(t, error, "send a zip with the model and that file, or store the model in one file");
  CM_TRY(read_place(t, &p, error));
  if (!stays_inside(p.location))
    return refuse(t, error, "its location leads out of the folder of the model");
  if (bits == 0 || t->n_dims > CM_RANK_MAX || !cm_dims_count((uint32_t)t->n_dims, t->dims, &count))
    return refuse(t, error, "its type or shape is impossible");
  uint64_t wanted = (count * bits + 7) / 8;
  if (p.has_length && p.length != wanted)
    return refuse(t, error, "its length is another than its shape and type need");
  uint8_t *bytes = NULL;
  if ((f->source->zip != NULL ? read_member : read_file)(f, t, &p, wanted, &bytes, error) != CM_OK) {
    if (bytes != NULL)
      f->allocator->free(f->allocator->allocator_data, bytes);
    return error->status;
  }
  for (size_t i = 0; i < t->n_external_data; i++)
    protobuf_c_message_free_unpacked(&t->external_data[i]->base, f->allocator);
  f->allocator->free(f->allocator->allocator_data, t->external_data);
  t->external_data = NULL;
  t->n_external_data = 0;
  t->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__DEFAULT;
  t->has_data_location = 0;
  if (t->has_raw_data) /* it has data of its own too: those of the file count */
    f->allocator->free(f->allocator->allocator_data, t->raw_data.data);
  t->has_raw_data = 1;
  t->raw_data = (ProtobufCBinaryData){.len = wanted, .data = bytes};
  return CM_OK;
}

static cm_status fill_graph(const filling *f, Onnx__GraphProto *g, cm_error *error);

static cm_status fill_nodes(const filling *f, Onnx__NodeProto **nodes, size_t count, cm_error *error)
{
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < nodes[i]->n_attribute; k++) {
      Onnx__AttributeProto *a = nodes[i]->attribute[k];
      if ((a->t != NULL && fill_tensor(f, a->t, error) != CM_OK) || (a->g != NULL && fill_graph(f, a->g, error) != CM_OK))
        return error->status;
    }
  return CM_OK;
}

/* Graphs nest no deeper than the walk over the bytes has allowed. */
static cm_status fill_graph(const filling *f, Onnx__GraphProto *g, cm_error *error)
{
  for (size_t i = 0; i < g->n_initializer; i++)
    CM_TRY(fill_tensor(f, g->initializer[i], error));
  return fill_nodes(f, g->node, g->n_node, error);
}

cm_status cm_external_fill(Onnx__ModelProto *model, cm_external *source, cm_run *run, ProtobufCAllocator *allocator,
                           cm_error *error)
{
  const filling f = {source, run, allocator};
  CM_TRY_IF(model->graph != NULL, fill_graph(&f, model->graph, error));
  for (size_t i = 0; i < model->n_functions; i++)
    CM_TRY(fill_nodes(&f, model->functions[i]->node, model->functions[i]->n_node, error));
  return CM_OK;
}
