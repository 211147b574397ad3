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
  cm_status status = keep(r, '"');
  while (status == CM_OK) {
    int c = take(r);
    if (c == EOF)
      return bad(r, "the file ends inside a text");
    status = keep(r, c);
    if (c == '"')
      break;
    if (c == '\\' && status == CM_OK) {
      if ((c = take(r)) == EOF)
        return bad(r, "the file ends inside a text");
      status = keep(r, c);
    }
  }
  return status;
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

static cm_status add_neuron(reader *r, uint32_t part)
{
  cm_check_file *file = r->file;
  if (++file->neuron_count > r->neurons_max)
    return CM_OK; /* counted, so that the check can say how many are too many */
  if (file->kept_neurons == r->neuron_room) {
    uint64_t room = r->neuron_room == 0 ? 1024 : r->neuron_room * 2;
    room = room > r->neurons_max ? r->neurons_max : room;
    uint32_t *grown = cm_reallocate(r->run->memory, file->neuron, room, sizeof *grown, r->error);
    if (grown == NULL)
      return r->error->status;
    file->neuron = grown;
    r->neuron_room = room;
  }
  file->neuron[file->kept_neurons++] = part;
  return file->neuron_count % CHECK_EVERY == 0 ? cm_run_check(r->run, r->error) : CM_OK;
}

/* A whole number; one that is larger than `most` counts as that. */
static cm_status read_number(reader *r, uint64_t most, const char *expected, uint64_t *value)
{
  int c = take_token(r);
  *value = 0;
  if (c == EOF || !isdigit(c))
    return bad(r, expected);
  for (; c != EOF && isdigit(c); c = take(r)) {
    uint64_t digit = (uint64_t)(c - '0');
    *value = *value > (most - digit) / 10 ? most : *value * 10 + digit;
  }
  give_back(r, c);
  return CM_OK;
}

static cm_status read_neuron(reader *r)
{
  uint64_t value;
  if (read_number(r, UINT32_MAX, "\"neurons\" must be a list of part numbers", &value) != CM_OK)
    return r->error->status;
  return add_neuron(r, (uint32_t)value);
}

static cm_status add_number(reader *r, cm_check_numbers *list, uint64_t most, const char *expected)
{
  uint64_t value;
  if (read_number(r, UINT64_MAX, expected, &value) != CM_OK)
    return r->error->status;
  if (++list->count > most)
    return CM_OK;
  if (CM_ROOM(r->run->memory, list->number, &list->room, list->kept + 1, r->error) != CM_OK)
    return r->error->status;
  list->number[list->kept++] = value;
  return list->count % CHECK_EVERY == 0 ? cm_run_check(r->run, r->error) : CM_OK;
}

static cm_status read_key(reader *r)
{
  return add_number(r, &r->file->key, r->neurons_max, "\"keys\" must be a list of whole numbers");
}

static cm_status read_turn(reader *r)
{
  return add_number(r, &r->file->turns, r->neurons_max, "\"turns\" must be a list of whole numbers");
}

static cm_status read_spikes(reader *r)
{
  return add_number(r, &r->file->spikes, r->neurons_max * CM_SCENARIOS_MAX, "\"spikes\" must be a list of whole numbers");
}

/* Kept where something of neurons is. */
static cm_status read_stimulus(reader *r)
{
  return add_number(r, &r->file->stimulus, r->neurons_max > 0 ? UINT64_MAX : 0, "\"stimulus\" must be a list of whole numbers");
}

static cm_status core_count_field(reader *r, const json_t *core, const char *name, uint64_t *value)
{
  const json_t *field = json_object_get(core, name);
  if (!json_is_integer(field) || json_integer_value(field) < 0) {
    char what[120];
    (void)snprintf(what, sizeof what, "an entry of \"cores\" has no count \"%s\"", name);
    return bad(r, what);
  }
  *value = (uint64_t)json_integer_value(field);
  return CM_OK;
}

static cm_status core_real_field(reader *r, const json_t *core, const char *name, double *value)
{
  const json_t *field = json_object_get(core, name);
  if (!json_is_number(field)) {
    char what[120];
    (void)snprintf(what, sizeof what, "an entry of \"cores\" has no number \"%s\"", name);
    return bad(r, what);
  }
  *value = json_number_value(field);
  return CM_OK;
}

static cm_status add_core(reader *r, const json_t *json)
{
  cm_check_core core;
  cm_status status;
  if ((status = core_count_field(r, json, "part", &core.part)) != CM_OK ||
      (status = core_count_field(r, json, "x", &core.x)) != CM_OK ||
      (status = core_count_field(r, json, "y", &core.y)) != CM_OK ||
      (status = core_count_field(r, json, "neurons", &core.neurons)) != CM_OK ||
      (status = core_count_field(r, json, "synapses", &core.synapses)) != CM_OK ||
      (status = core_count_field(r, json, "inbound_axons", &core.inbound_axons)) != CM_OK ||
      (status = core_count_field(r, json, "outbound_axons", &core.outbound_axons)) != CM_OK ||
      (status = core_count_field(r, json, "target_cores", &core.target_cores)) != CM_OK ||
      (status = core_real_field(r, json, "traffic_in", &core.traffic_in)) != CM_OK ||
      (status = core_real_field(r, json, "traffic_out", &core.traffic_out)) != CM_OK)
    return status;
  cm_check_file *file = r->file;
  if (++file->core_count > r->cores_max)
    return CM_OK;
  if (file->kept_cores == r->core_room) {
    uint64_t room = r->core_room == 0 ? 64 : r->core_room * 2;
    cm_check_core *grown = cm_reallocate(r->run->memory, file->core, room, sizeof *grown, r->error);
    if (grown == NULL)
      return r->error->status;
    file->core = grown;
    r->core_room = room;
  }
  file->core[file->kept_cores++] = core;
  return CM_OK;
}

/* One flat object of "cores"; none of its texts needs a brace, so the next '}' ends it. */
static cm_status read_core(reader *r)
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
static cm_status read_array(reader *r, cm_status (*element)(reader *r))
{
  if (take_token(r) != '[')
    return bad(r, "expected a list");
  int c = take_token(r);
  if (c == ']')
    return CM_OK;
  give_back(r, c);
  for (;;) {
    CM_TRY(element(r));
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

/* The arrays that are not kept as JSON. */
typedef struct bulk {
  const char *name, *twice;
  size_t seen; /* where in cm_check_file */
  cm_status (*element)(reader *r);
} bulk;

static const bulk bulks[] = {
    {"neurons", "\"neurons\" stands twice", offsetof(cm_check_file, has_neurons), read_neuron},
    {"keys", "\"keys\" stands twice", offsetof(cm_check_file, has_keys), read_key},
    {"turns", "\"turns\" stands twice", offsetof(cm_check_file, has_turns), read_turn},
    {"spikes", "\"spikes\" stands twice", offsetof(cm_check_file, has_spikes), read_spikes},
    {"stimulus", "\"stimulus\" stands twice", offsetof(cm_check_file, has_stimulus), read_stimulus},
    {"cores", "\"cores\" stands twice", offsetof(cm_check_file, has_cores), read_core},
};

static cm_status read_field(reader *r)
{
  if (take_token(r) != '"')
    return bad(r, "expected a field's name");
  size_t start = r->rest_size;
  cm_status status = keep_string(r);
  if (status != CM_OK)
    return status;
  const bulk *b = NULL;
  for (size_t k = 0; k < sizeof bulks / sizeof *bulks && b == NULL; k++)
    b = key_is(r, start, bulks[k].name) ? &bulks[k] : NULL;
  if (take_token(r) != ':')
    return bad(r, "expected ':'");
  if ((status = keep(r, ':')) != CM_OK)
    return status;
  if (b == NULL)
    return keep_value(r);
  bool *seen = (bool *)((char *)r->file + b->seen);
  if (*seen)
    return bad(r, b->twice);
  *seen = true;
  if ((status = keep_text(r, "null")) != CM_OK)
    return status;
  return read_array(r, b->element);
}

static cm_status read_fields(reader *r)
{
  if (take_token(r) != '{')
    return bad(r, "a mapping is one JSON object");
  cm_status status = keep(r, '{');
  for (int c = ','; status == CM_OK && c != '}';) {
    if ((status = read_field(r)) != CM_OK)
      return status;
    c = take_token(r);
    if (c != ',' && c != '}')
      return bad(r, "expected ',' or '}'");
    status = keep(r, c);
  }
  if (status == CM_OK && take_token(r) != EOF)
    return bad(r, "text follows the mapping's end");
  return status;
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
