/* Reads a mapping file for the check. The bulk arrays are taken number by number as they stream past; all
 * other text goes to a bounded buffer, in which each bulk array is replaced by null, and from there through jansson.
 * What can fail: the stream, memory, text that is no JSON or not such a mapping. */
#include <ctype.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/json.h"
#include "core/metrics/metrics.h"
#include "core/network/topology.h"
#include "core/verify/check_read.h"

enum { REST_BYTES_MAX = 64 << 20, CORE_BYTES_MAX = 4096, CHECK_EVERY = 1 << 16 };

typedef struct reader {
  FILE *stream;
  uint64_t offset; /* bytes taken */
  cm_run *run;
  cm_check_file *file;
  uint64_t neurons_max, cores_max;
  uint64_t neuron_room, core_room;
  char *rest;
  size_t rest_size, rest_room;
  cm_error *error;
} reader;

static cm_status bad(reader *r, const char *what)
{
  cm_fail(r->error, CM_BAD_MAPPING, "the mapping file cannot be read at byte %" PRIu64 ": %s", r->offset, what);
  return cm_fail_at(r->error, "byte %" PRIu64, r->offset);
}

static int take(reader *r)
{
  int c = getc_unlocked(r->stream);
  if (c != EOF)
    r->offset++;
  return c;
}

static void give_back(reader *r, int c)
{
  if (c == EOF)
    return;
  (void)ungetc(c, r->stream);
  r->offset--;
}

static bool is_space(int c)
{
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static int take_token(reader *r)
{
  int c;
  do
    c = take(r);
  while (is_space(c));
  return c;
}

static cm_status keep(reader *r, int c)
{
  if (r->rest_size == r->rest_room) {
    size_t room = r->rest_room == 0 ? 1 << 14 : r->rest_room * 2;
    if (room > REST_BYTES_MAX)
      return bad(r, "what stands beside its long lists exceeds 64 MiB");
    char *grown = cm_reallocate(r->run->memory, r->rest, room, 1, r->error);
    if (grown == NULL)
      return r->error->status;
    r->rest = grown;
    r->rest_room = room;
  }
  r->rest[r->rest_size++] = (char)c;
  return CM_OK;
}

static cm_status keep_text(reader *r, const char *text)
{
  cm_status status = CM_OK;
  while (*text != '\0' && status == CM_OK)
    status = keep(r, *text++);
  return status;
}

/* A string whose opening quote is taken already, copied as it stands. */
static cm_status keep_string(reader *r)
{
  bool escaped = false;
  CM_TRY(keep(r, '"'));
  for (int c = 0; c != '"' || escaped;) {
    escaped = c == '\\' && !escaped;
    if ((c = take(r)) == EOF)
      return bad(r, "the file ends inside a text");
    CM_TRY(keep(r, c));
  }
  return CM_OK;
}

/* Any value, copied as it stands; jansson judges it later. Ends before the ',' or '}' that follows. */
static cm_status keep_value(reader *r)
{
  cm_status status = CM_OK;
  for (uint64_t depth = 0; status == CM_OK;) {
    int c = take(r);
    if (c == EOF)
      return bad(r, "the file ends inside a value");
    if (depth == 0 && (c == ',' || c == '}')) {
      give_back(r, c);
      break;
    }
    if (c == '"') {
      status = keep_string(r);
      continue;
    }
    depth += c == '[' || c == '{';
    if (c == ']' || c == '}') {
      if (depth == 0)
        return bad(r, "a bracket closes that was not opened");
      depth--;
    }
    status = keep(r, c);
  }
  return status;
}

/* An array that is not kept as JSON. */
typedef struct bulk {
  const char *name, *of; /* what it must be a list of */
  cm_status (*element)(reader *r, const struct bulk *b);
  size_t seen, list; /* where in cm_check_file; list: of whole numbers */
  uint64_t times;    /* so many of them a neuron are kept at most */
} bulk;

/* A whole number; one that is larger than `most` counts as that. */
static cm_status read_number(reader *r, const bulk *b, uint64_t most, uint64_t *value)
{
  int c = take_token(r);
  *value = 0;
  if (c == EOF || !isdigit(c))
    return bad(r, cm_say("\"%s\" must be a list of %s", b->name, b->of).text);
  for (; c != EOF && isdigit(c); c = take(r)) {
    uint64_t digit = (uint64_t)(c - '0');
    *value = *value > (most - digit) / 10 ? most : *value * 10 + digit;
  }
  give_back(r, c);
  return CM_OK;
}

static cm_status read_neuron(reader *r, const bulk *b)
{
  cm_check_file *file = r->file;
  uint64_t part;
  CM_TRY(read_number(r, b, UINT32_MAX, &part));
  if (++file->neuron_count > r->neurons_max)
    return CM_OK; /* counted, so that the check can say how many are too many */
  CM_TRY(CM_ROOM(r->run->memory, file->neuron, &r->neuron_room, file->kept_neurons + 1, r->error));
  file->neuron[file->kept_neurons++] = (uint32_t)part;
  return file->neuron_count % CHECK_EVERY == 0 ? cm_run_check(r->run, r->error) : CM_OK;
}

static cm_status read_listed(reader *r, const bulk *b)
{
  cm_check_numbers *list = (cm_check_numbers *)(void *)((char *)r->file + b->list);
  const uint64_t most = r->neurons_max > UINT64_MAX / b->times ? UINT64_MAX : r->neurons_max * b->times;
  uint64_t value;
  CM_TRY(read_number(r, b, UINT64_MAX, &value));
  if (++list->count > most)
    return CM_OK;
  CM_TRY(CM_ROOM(r->run->memory, list->number, &list->room, list->kept + 1, r->error));
  list->number[list->kept++] = value;
  return list->count % CHECK_EVERY == 0 ? cm_run_check(r->run, r->error) : CM_OK;
}

/* The fields of a core. */
#define COUNT(name) {#name, offsetof(cm_check_core, name), false}
#define REAL(name) {#name, offsetof(cm_check_core, name), true}
static const struct {
  const char *name;
  size_t at;
  bool real;
} fields[] = {COUNT(part), COUNT(x), COUNT(y), COUNT(neurons), COUNT(synapses), COUNT(inbound_axons), COUNT(outbound_axons), COUNT(target_cores),
              REAL(traffic_in), REAL(traffic_out)};

static cm_status add_core(reader *r, const json_t *json)
{
  cm_check_core core;
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    const json_t *field = json_object_get(json, fields[i].name);
    void *at = (char *)&core + fields[i].at;
    if (fields[i].real ? !json_is_number(field) : !json_is_integer(field) || json_integer_value(field) < 0)
      return bad(r, cm_say("an entry of \"cores\" has no %s \"%s\"", fields[i].real ? "number" : "count", fields[i].name).text);
    if (fields[i].real)
      *(double *)at = json_number_value(field);
    else
      *(uint64_t *)at = (uint64_t)json_integer_value(field);
  }
  cm_check_file *file = r->file;
  if (++file->core_count > r->cores_max)
    return CM_OK;
  CM_TRY(CM_ROOM(r->run->memory, file->core, &r->core_room, file->kept_cores + 1, r->error));
  file->core[file->kept_cores++] = core;
  return CM_OK;
}

/* One flat object of "cores"; none of its texts needs a brace, so the next '}' ends it. */
static cm_status read_core(reader *r, CM_UNUSED const bulk *b)
{
  char text[CORE_BYTES_MAX];
  size_t size = 0;
  int c = take_token(r);
  if (c != '{')
    return bad(r, "\"cores\" must be a list of objects");
  for (; c != EOF && size < sizeof text; c = take(r)) {
    text[size++] = (char)c;
    if (c == '}')
      break;
  }
  if (c != '}')
    return bad(r, "an entry of \"cores\" does not end");
  uint64_t refusals = cm_json_refusals();
  json_t *core = cm_json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
  if (core == NULL && cm_json_whole(refusals, "an entry of \"cores\"", r->error) != CM_OK)
    return r->error->status;
  if (core == NULL)
    return bad(r, "an entry of \"cores\" is not valid JSON");
  cm_status status = add_core(r, core);
  json_decref(core);
  return status;
}

/* An array read element by element. */
static cm_status read_array(reader *r, const bulk *b)
{
  if (take_token(r) != '[')
    return bad(r, "expected a list");
  int c = take_token(r);
  if (c == ']')
    return CM_OK;
  give_back(r, c);
  for (;;) {
    CM_TRY(b->element(r, b));
    c = take_token(r);
    if (c == ']')
      return CM_OK;
    if (c != ',')
      return bad(r, "expected ',' or ']'");
  }
}

static bool key_is(const reader *r, size_t start, const char *name)
{
  size_t length = strlen(name);
  return r->rest_size - start == length + 2 && memcmp(r->rest + start + 1, name, length) == 0;
}

#define LIST(name, times) {#name, "whole numbers", read_listed, offsetof(cm_check_file, has_##name), offsetof(cm_check_file, name), times}
static const bulk bulks[] = {
  {"neurons", "part numbers", read_neuron, offsetof(cm_check_file, has_neurons), 0, 0},
  {"keys", "whole numbers", read_listed, offsetof(cm_check_file, has_keys), offsetof(cm_check_file, key), 1},
  LIST(turns, 1),
  LIST(spikes, CM_SCENARIOS_MAX),
  LIST(stimulus, UINT64_MAX), /* kept where something of neurons is */
  {"cores", "objects", read_core, offsetof(cm_check_file, has_cores), 0, 0},
};

static cm_status read_field(reader *r)
{
  if (take_token(r) != '"')
    return bad(r, "expected a field's name");
  size_t start = r->rest_size;
  CM_TRY(keep_string(r));
  const bulk *b = NULL;
  for (size_t k = 0; k < sizeof bulks / sizeof *bulks && b == NULL; k++)
    b = key_is(r, start, bulks[k].name) ? &bulks[k] : NULL;
  if (take_token(r) != ':')
    return bad(r, "expected ':'");
  CM_TRY(keep(r, ':'));
  if (b == NULL)
    return keep_value(r);
  bool *seen = (bool *)((char *)r->file + b->seen);
  if (*seen)
    return bad(r, cm_say("\"%s\" stands twice", b->name).text);
  *seen = true;
  CM_TRY(keep_text(r, "null"));
  return read_array(r, b);
}

static cm_status read_fields(reader *r)
{
  if (take_token(r) != '{')
    return bad(r, "a mapping is one JSON object");
  CM_TRY(keep(r, '{'));
  for (int c = ','; c != '}';) {
    CM_TRY(read_field(r));
    c = take_token(r);
    if (c != ',' && c != '}')
      return bad(r, "expected ',' or '}'");
    CM_TRY(keep(r, c));
  }
  return take_token(r) != EOF ? bad(r, "text follows the mapping's end") : CM_OK;
}

void cm_check_file_free(cm_check_file *file)
{
  json_decref(file->rest);
  CM_FREE(file->neuron, file->key.number, file->turns.number, file->spikes.number, file->stimulus.number, file->core);
  *file = (cm_check_file){0};
}

cm_status cm_check_read(FILE *stream, uint64_t neurons_max, uint64_t cores_max, cm_run *run, cm_check_file *file,
                        cm_error *error)
{
  cm_check_file fresh = {0};
  reader r = {.stream = stream, .run = run, .file = &fresh, .neurons_max = neurons_max, .cores_max = cores_max,
              .error = error};
  cm_status status = read_fields(&r);
  if (ferror(stream) != 0)
    status = cm_fail(error, CM_IO, "the mapping file cannot be read after byte %" PRIu64, r.offset);
  if (status == CM_OK) {
    json_error_t trouble;
    uint64_t refusals = cm_json_refusals();
    fresh.rest = cm_json_loadb(r.rest, r.rest_size, JSON_REJECT_DUPLICATES, &trouble);
    status = cm_json_whole(refusals, "the mapping file", error);
    if (status == CM_OK && fresh.rest == NULL)
      status = cm_fail(error, CM_BAD_MAPPING, "the mapping file is not valid JSON: %s", trouble.text);
    CM_THEN(status, cm_whole(cm_metrics_rename(fresh.rest), "the mapping file", error));
  }
  cm_free(r.rest);
  CM_END(status, *file = fresh, cm_check_file_free(&fresh));
}
