/* images.bin as rows of numbers: sizes and the checksum first, so that every row is there (docs/reference/core-images.md). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "core/chip/json.h"
#include "core/verify/images_read.h"
#include "core/verify/images_source.h"

static const char magic[] = "CMIMAGES";
enum { MAGIC = sizeof magic - 1, HEAD = 144, NAME = 32, CORE = 16, SUM = 4, ROWS_MAX = INT32_MAX };
static const size_t row_bytes[CM_LISTS] = {48, 8, 8, 8};

typedef struct binary_source {
  cm_images_source base;
  const uint8_t *bytes;
  size_t models, table, *first; /* first: [cores + 1] of each core's rows, the last of the inputs */
} binary_source;

static uint64_t number_at(const uint8_t *bytes, size_t size)
{
  uint64_t number = 0;
  for (size_t i = size; i > 0; i--)
    number = number << 8 | bytes[i - 1];
  return number;
}

static int64_t word_at(const uint8_t *bytes)
{
  return (int64_t)(number_at(bytes, 2) ^ 0x8000) - 0x8000;
}

static cm_status core_at(const cm_images_source *source, size_t core, cm_image_core *found, CM_UNUSED cm_error *error)
{
  const binary_source *s = (const binary_source *)source;
  const uint8_t *at = s->bytes + s->table + core * CORE;
  found->number = (int64_t)number_at(at, 4);
  for (size_t k = 0; k < CM_LIST_INPUTS; k++)
    found->rows[k] = number_at(at + 4 + 4 * k, 4);
  return CM_OK;
}

/* kind, model, of, shift, nine words, then where its rows of the pool and its routes are. */
static cm_status read_neuron(const binary_source *s, const uint8_t *at, const char *where, int64_t *value, cm_error *error)
{
  enum { OF = 1, SHIFT = 2, FIRST = 4, WORDS = 9, STRETCHES = 4 };
  char name[NAME + 1] = "";
  value[CM_IMAGE_COLUMN_KIND] = at[0];
  if (at[0] >= CM_READ_KINDS || at[1] >= s->models || number_at(at + 2, 2) != 0 || number_at(at + 30, 2) != 0)
    return cm_json_fail(error, CM_BAD_MAPPING, where, "%s: expected a kind below %d, a model below %zu, and zeros between fields", where, CM_READ_KINDS, s->models);
  memcpy(name, s->bytes + HEAD + (size_t)at[1] * NAME, NAME);
  const cm_chip_neuron found = cm_chip_neuron_find(name);
  if (found == CM_CHIP_NEURONS)
    return cm_json_fail(error, CM_BAD_MAPPING, where, "%s: there is no model of neurons \"%s\"", where, name);
  value[CM_IMAGE_COLUMN_MODEL] = found;
  value[OF] = (int64_t)number_at(at + 4, 4);
  value[SHIFT] = (int64_t)number_at(at + 8, 4);
  for (size_t k = 0; k < WORDS; k++)
    value[FIRST + k] = word_at(at + 12 + 2 * k);
  for (size_t k = 0; k < STRETCHES; k++)
    value[FIRST + WORDS + k] = (int64_t)number_at(at + 32 + 4 * k, 4);
  return CM_OK;
}

static cm_status row_at(const cm_images_source *source, cm_image_list list, size_t core, size_t number, int64_t *value, cm_error *error)
{
  const binary_source *s = (const binary_source *)source;
  cm_image_core sizes = {.number = 0};
  size_t from = s->first[list == CM_LIST_INPUTS ? s->base.cores : core];
  char where[CM_IMAGE_PLACE_MAX];
  if (list != CM_LIST_INPUTS)
    (void)core_at(source, core, &sizes, error);
  for (int k = 0; k < (int)list && list != CM_LIST_INPUTS; k++)
    from += sizes.rows[k] * row_bytes[k];
  const uint8_t *at = s->bytes + from + number * row_bytes[list];
  if (list == CM_LIST_NEURONS)
    return read_neuron(s, at, cm_image_place(where, list, core, number), value, error);
  value[0] = (int64_t)number_at(at, 4);
  value[1] = list == CM_LIST_POOL ? word_at(at + 4) : (int64_t)number_at(at + 4, 4);
  if (list == CM_LIST_POOL && at[7] != 0)
    return cm_json_fail(error, CM_BAD_MAPPING, cm_image_place(where, list, core, number), "%s: expected a zero behind the delay", where);
  if (list == CM_LIST_POOL)
    value[2] = at[6];
  return CM_OK;
}

static void close_binary(cm_images_source *source)
{
  free(((binary_source *)source)->first);
  free(source);
}

/* Text, zeros behind it. */
static bool is_name(const uint8_t *bytes, size_t size)
{
  size_t length = 0;
  while (length < size && bytes[length] > ' ' && bytes[length] < 0x7f)
    length++;
  const size_t text = length;
  while (length < size && bytes[length] == 0)
    length++;
  return text > 0 && text < size && length == size;
}

/* Whether the sizes of all rows add up to those of the file. */
static cm_status find_rows(binary_source *s, size_t size, cm_error *error)
{
  const size_t end = size - SUM, inputs = s->base.inputs;
  size_t at = s->table + s->base.cores * CORE;
  cm_image_core core;
  CM_TRY(cm_whole((s->first = calloc(s->base.cores + 1, sizeof *s->first)) != NULL, "images of cores", error));
  for (size_t c = 0; c < s->base.cores; c++) {
    s->first[c] = at;
    (void)core_at(&s->base, c, &core, error);
    for (size_t k = 0; k < CM_LIST_INPUTS; k++) {
      if (core.rows[k] > (end - at) / row_bytes[k])
        return cm_json_fail(error, CM_BAD_MAPPING, "images.bin", "the file ends before the rows of core %" PRId64, core.number);
      at += core.rows[k] * row_bytes[k];
    }
  }
  s->first[s->base.cores] = at;
  if (inputs != (end - at) / row_bytes[CM_LIST_INPUTS] || (end - at) % row_bytes[CM_LIST_INPUTS] != 0)
    return cm_json_fail(error, CM_BAD_MAPPING, "images.bin", "%zu bytes are left for %zu inputs of %zu each", end - at, inputs, row_bytes[CM_LIST_INPUTS]);
  return CM_OK;
}

static cm_status read_head(binary_source *s, size_t size, cm_error *error)
{
  enum { VERSION = 8, MODELS = 12, CHIP = 48, CHIP_NAME = 64, FORMAT = 112 };
  const uint8_t *b = s->bytes;
  cm_images_source *base = &s->base;
  if (size < HEAD + SUM || !cm_images_are_binary(b, size) || number_at(b + VERSION, 4) != 1)
    return cm_json_fail(error, CM_BAD_MAPPING, "images.bin", "expected images of cores in binary, version 1, of at least %d bytes", HEAD + SUM);
  if (number_at(b + size - SUM, SUM) != crc32_z(crc32_z(0, NULL, 0), b, size - SUM))
    return cm_json_fail(error, CM_BAD_MAPPING, "images.bin", "the file is damaged: its checksum is another one");
  s->models = number_at(b + MODELS, 4);
  base->network_neurons = (int64_t)number_at(b + 16, 4);
  base->network_steps = (int64_t)number_at(b + 20, 4);
  base->steps = (int64_t)number_at(b + 24, 4);
  base->cores = number_at(b + 28, 4);
  base->network_synapses = (int64_t)number_at(b + 32, 8);
  base->inputs = number_at(b + 40, 8);
  if (base->network_neurons > ROWS_MAX || base->network_steps > ROWS_MAX || base->steps > ROWS_MAX || base->network_synapses < 0)
    return cm_json_fail(error, CM_BAD_MAPPING, "images.bin", "neurons, steps or synapses of the network are too many");
  if (!is_name(b + CHIP, CHIP_NAME) || !is_name(b + FORMAT, NAME))
    return cm_json_fail(error, CM_BAD_MAPPING, "images.bin", "expected the names of a chip and of a format");
  if (s->models > (size - HEAD - SUM) / NAME || base->cores > (size - HEAD - SUM - s->models * NAME) / CORE)
    return cm_json_fail(error, CM_BAD_MAPPING, "images.bin", "the file ends before its models and cores");
  for (size_t k = 0; k < s->models; k++)
    if (!is_name(b + HEAD + k * NAME, NAME))
      return cm_json_fail(error, CM_BAD_MAPPING, "images.bin", "expected the name of model %zu", k);
  s->table = HEAD + s->models * NAME;
  return find_rows(s, size, error);
}

int cm_images_are_binary(const uint8_t *bytes, size_t size)
{
  return size >= MAGIC && memcmp(bytes, magic, MAGIC) == 0;
}

cm_status cm_images_binary_open(const uint8_t *bytes, size_t size, cm_images_source **source, cm_error *error)
{
  binary_source *s = calloc(1, sizeof *s);
  if (s == NULL)
    return cm_whole(false, "images of cores", error);
  s->base = (cm_images_source){.core = core_at, .row = row_at, .close = close_binary};
  s->bytes = bytes;
  const cm_status status = read_head(s, size, error);
  CM_END(status, *source = &s->base, close_binary(&s->base));
}
