#include "core/output/cores_cut.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/measure/binary.h"
#include "core/measure/core_shares.h"
#include "core/output/view_writer.h"

enum { MAGIC_BYTES = 8, COUNTS = 6, RATES = 3, RECORD_BYTES = 4 * (COUNTS + RATES), NO_PART = -1 };
enum { RECORDS_MAX = 1 << 20, OBJECTS_MAX = 1 << 16 }; /* of a reply, which memory holds */

/* The view, mapped: a record of each core of a box of it. */
typedef struct cores {
  const uint8_t *bytes, *record;
  size_t size;
  uint32_t width, height, x, y, columns, rows;
} cores;

static uint32_t get_u32(const uint8_t *bytes)
{
  return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static double get_f32(const uint8_t *bytes)
{
  const uint32_t bits = get_u32(bytes);
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Reads the head; false: it is none of cores, or the file is of another length. */
static bool read_head(cores *c)
{
  const bool whole = c->size >= MAGIC_BYTES && memcmp(c->bytes, "CMCORES1", MAGIC_BYTES) == 0;
  const size_t head = MAGIC_BYTES + 4 * (whole ? 2 : 6);
  if (c->size < head || memcmp(c->bytes, whole ? "CMCORES1" : "CMCORES2", MAGIC_BYTES) != 0)
    return false;
  uint32_t field[6] = {0};
  for (size_t i = 0; i < (whole ? 2 : 6); i++)
    field[i] = get_u32(c->bytes + MAGIC_BYTES + 4 * i);
  c->width = field[0];
  c->height = field[1];
  c->x = field[2];
  c->y = field[3];
  c->columns = whole ? c->width : field[4];
  c->rows = whole ? c->height : field[5];
  c->record = c->bytes + head;
  return c->x < c->width && c->y < c->height && c->columns <= c->width && c->rows <= c->height &&
         c->size == head + (size_t)c->columns * c->rows * RECORD_BYTES;
}

/* The box of a chip, all of it where none is asked for; refused where it is not on the chip, or more than `most` records. */
static cm_status take_box(cm_cores_cut *cut, uint32_t width, uint32_t height, uint64_t most, cm_error *error)
{
  const uint32_t each = cut->block > 0 ? cut->block : 1;
  if (cut->columns == 0)
    *cut = (cm_cores_cut){0, 0, width, height, cut->block};
  if (cut->x >= width || cut->y >= height || cut->columns > width - cut->x || cut->rows > height - cut->y || cut->rows == 0)
    return cm_fail(error, CM_BAD_OPTION, "box %" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 " is not on the chip, which has %" PRIu32 " x %" PRIu32 " cores",
                   cut->x, cut->y, cut->columns, cut->rows, width, height);
  const uint64_t records = (uint64_t)((cut->columns - 1) / each + 1) * ((cut->rows - 1) / each + 1);
  if (records > most)
    return cm_fail(error, CM_BAD_OPTION, "that are %" PRIu64 " cores or blocks; at once there are at most %" PRIu64 ": a smaller box, or larger blocks", records, most);
  return CM_OK;
}

/* The record of a core of the chip; one outside the view's box, which may go over the edge, is idle. */
static const uint8_t *record_at(const cores *c, uint32_t x, uint32_t y)
{
  static const uint8_t idle[RECORD_BYTES] = {0xff, 0xff, 0xff, 0xff};
  const uint32_t i = (x >= c->x ? 0 : c->width) + x - c->x, j = (y >= c->y ? 0 : c->height) + y - c->y;
  return i < c->columns && j < c->rows ? c->record + ((size_t)j * c->columns + i) * RECORD_BYTES : idle;
}

/* How many cores of a box are used, and the most of each figure. */
static void put_block(const cores *c, cm_cores_cut box, FILE *stream)
{
  uint32_t used = 0, most[COUNTS] = {0};
  double rate[RATES] = {0};
  for (uint32_t y = box.y; y < box.y + box.rows; y++)
    for (uint32_t x = box.x; x < box.x + box.columns; x++) {
      const uint8_t *record = record_at(c, x, y);
      used += get_u32(record) != (uint32_t)NO_PART;
      for (uint32_t k = 1; k < COUNTS; k++)
        if (get_u32(record + 4 * k) > most[k])
          most[k] = get_u32(record + 4 * k);
      for (uint32_t k = 0; k < RATES; k++)
        if (get_f32(record + 4 * (COUNTS + k)) > rate[k])
          rate[k] = get_f32(record + 4 * (COUNTS + k));
    }
  cm_put_u32(stream, used);
  for (uint32_t k = 1; k < COUNTS; k++)
    cm_put_u32(stream, most[k]);
  for (uint32_t k = 0; k < RATES; k++)
    cm_put_f32(stream, rate[k]);
}

static void put_cut(const cores *c, cm_cores_cut cut, FILE *stream)
{
  const uint32_t each = cut.block > 0 ? cut.block : 1, columns = (cut.columns - 1) / each + 1, rows = (cut.rows - 1) / each + 1;
  const uint32_t head[] = {c->width, c->height, cut.x, cut.y, columns, rows, cut.block};
  (void)fputs(cut.block > 0 ? "CMCORES3" : "CMCORES2", stream);
  for (size_t i = 0; i < (cut.block > 0 ? 7 : 6); i++)
    cm_put_u32(stream, head[i]);
  for (uint32_t j = 0; j < rows; j++)
    for (uint32_t i = 0; i < columns; i++) {
      const uint32_t x = cut.x + i * each, y = cut.y + j * each, right = cut.x + cut.columns - x, below = cut.y + cut.rows - y;
      if (cut.block > 0)
        put_block(c, (cm_cores_cut){x, y, right < each ? right : each, below < each ? below : each, 0}, stream);
      else
        (void)fwrite(record_at(c, x, y), 1, RECORD_BYTES, stream);
    }
}

static cm_status cut_binary(int file, cm_cores_cut cut, FILE *stream, cm_error *error)
{
  struct stat about;
  cores c = {.size = fstat(file, &about) == 0 ? (size_t)about.st_size : 0};
  void *mapped = c.size > 0 ? mmap(NULL, c.size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
  if (mapped == MAP_FAILED)
    return cm_fail(error, CM_IO, "the cores of the mapping cannot be read now");
  c.bytes = mapped;
  cm_status status = read_head(&c) ? take_box(&cut, c.width, c.height, RECORDS_MAX, error) : cm_fail(error, CM_DAMAGED, "the cores of the mapping are damaged");
  if (status == CM_OK)
    put_cut(&c, cut, stream);
  (void)munmap(mapped, c.size);
  return status;
}

/* What is told of the cores of a block: the most that one has, -1: nothing. */
enum { CORE_NS, POPULATION, NEURON_SPIKES, SILENT, PEAK_SPIKES, PEAK_PACKETS_IN, FIGURES, LIMIT_ROOM = 48 };
static const char *const figure_names[FIGURES] = {"core_ns", "population", "neuron_spikes", "silent", "peak_spikes", "peak_packets_in"};

typedef struct block_told {
  uint32_t used;
  double most[FIGURES], share[CM_SHARES_MAX];
} block_told;

/* Limits in the order in which they were met. */
typedef struct limits_met {
  uint32_t count;
  char name[CM_SHARES_MAX][LIMIT_ROOM];
} limits_met;

static double number_after(const char *text, const char *key)
{
  const char *found = text != NULL ? strstr(text, key) : NULL;
  return found != NULL ? strtod(found + strlen(key), NULL) : -1.0;
}

/* The number of the limit of a name; CM_SHARES_MAX: there is no room for it. */
static uint32_t limit_named(limits_met *limits, const char *name, size_t length)
{
  uint32_t k = 0;
  while (k < limits->count && (strncmp(limits->name[k], name, length) != 0 || limits->name[k][length] != '\0'))
    k++;
  if (k == limits->count && k < CM_SHARES_MAX && length < LIMIT_ROOM)
    memcpy(limits->name[limits->count++], name, length); /* behind it are zeros */
  return k < limits->count ? k : CM_SHARES_MAX;
}

static void count_core(const char *line, limits_met *limits, block_told *block)
{
  const char *peaks = strstr(line, "\"peaks\": "), *at = strstr(line, "\"shares\": {"), *end = at != NULL ? strchr(at, '}') : NULL;
  double figure[FIGURES] = {[CORE_NS] = number_after(line, "\"core_ns\": "), [POPULATION] = number_after(line, "{\"population\": "),
                            [NEURON_SPIKES] = number_after(line, "\"spikes\": "), [SILENT] = number_after(line, "\"silent\": "),
                            [PEAK_SPIKES] = number_after(peaks, "\"spikes\": "), [PEAK_PACKETS_IN] = number_after(peaks, "\"packets_in\": ")};
  if (figure[NEURON_SPIKES] >= 0.0)
    figure[NEURON_SPIKES] /= number_after(line, "\"neurons\": ");
  for (int k = 0; k < FIGURES; k++)
    if (block->used == 0 || figure[k] > block->most[k])
      block->most[k] = figure[k];
  for (int k = 0; block->used == 0 && k < CM_SHARES_MAX; k++)
    block->share[k] = -1.0;
  block->used++;
  for (at = end != NULL ? strchr(at, '{') : NULL; at != NULL && (at = strchr(at, '"')) != NULL && at < end; at = strpbrk(at, ",}")) {
    const size_t length = strcspn(++at, "\"");
    const uint32_t k = limit_named(limits, at, length);
    at += length;
    if (k < CM_SHARES_MAX && number_after(at, "\": ") > block->share[k])
      block->share[k] = number_after(at, "\": ");
  }
}

static void put_blocks(const block_told *block, const limits_met *limits, cm_cores_cut cut, uint32_t blocks, FILE *stream)
{
  cm_view_writer w = {.stream = stream};
  const char *lead = "";
  const uint32_t columns = (cut.columns - 1) / cut.block + 1;
  for (uint32_t b = 0; b < blocks; b++) {
    if (block[b].used == 0)
      continue;
    (void)fprintf(stream, "%s{\"x\":%" PRIu32 ",\"y\":%" PRIu32 ",\"used\":%" PRIu32, lead, cut.x + b % columns * cut.block, cut.y + b / columns * cut.block,
                  block[b].used);
    for (int k = 0; k < FIGURES; k++)
      if (block[b].most[k] >= 0.0) {
        (void)fprintf(stream, ",\"%s\":", figure_names[k]);
        cm_view_put_real(&w, block[b].most[k]);
      }
    const char *next = ",\"shares\":{";
    for (uint32_t k = 0; k < limits->count; k++)
      if (block[b].share[k] >= 0.0) {
        (void)fprintf(stream, "%s\"%s\":", next, limits->name[k]);
        cm_view_put_real(&w, block[b].share[k]);
        next = ",";
      }
    (void)fputs(*next == ',' && next[1] == '\0' ? "}}" : "}", stream);
    lead = ",\n";
  }
}

/* The view has a line a core, which begins with its part and place, between that of the head and the end of the last. Without blocks lines are handed on. */
static cm_status cut_json(FILE *view, cm_cores_cut cut, FILE *stream, cm_error *error)
{
  char *line = NULL;
  size_t room = 0, put = 0;
  uint32_t x, y;
  block_told *block = NULL;
  limits_met limits = {0};
  cm_status status = getline(&line, &room, view) > 0 && sscanf(line, "{\"width\": %" SCNu32 ", \"height\": %" SCNu32, &x, &y) == 2
                       ? take_box(&cut, x, y, OBJECTS_MAX, error) : cm_fail(error, CM_DAMAGED, "the cores of the mapping are damaged");
  const uint32_t each = cut.block > 0 ? cut.block : 1, columns = (cut.columns - 1) / each + 1, rows = (cut.rows - 1) / each + 1;
  if (status == CM_OK && cut.block > 0 && (block = calloc((size_t)columns * rows, sizeof *block)) == NULL)
    status = cm_fail(error, CM_NO_MEMORY, "no memory for blocks of cores");
  if (status == CM_OK && block != NULL)
    (void)fprintf(stream, "{\"width\": %" PRIu32 ", \"height\": %" PRIu32 ", \"block\": %" PRIu32 ", \"blocks\": [\n", x, y, cut.block);
  else if (status == CM_OK)
    (void)fputs(line, stream);
  while (status == CM_OK && getline(&line, &room, view) > 0) {
    const double across = number_after(line, "\"x\": "), down = number_after(line, "\"y\": ");
    x = across < 0.0 ? UINT32_MAX : (uint32_t)across;
    y = down < 0.0 ? UINT32_MAX : (uint32_t)down;
    if (x - cut.x >= cut.columns || y - cut.y >= cut.rows)
      continue;
    const size_t bytes = strcspn(line, "\n"), after = bytes > 0 && line[bytes - 1] == ',' ? 1 : 2; /* or the end of all: "]}" */
    if (block != NULL)
      count_core(line, &limits, &block[(y - cut.y) / each * columns + (x - cut.x) / each]);
    else
      (void)fprintf(stream, "%s%.*s", put++ > 0 ? ",\n" : "", (int)(bytes > after ? bytes - after : 0), line);
  }
  if (status == CM_OK && block != NULL)
    put_blocks(block, &limits, cut, columns * rows, stream);
  if (status == CM_OK)
    (void)fputs("]}\n", stream);
  free(block);
  free(line);
  return status;
}

cm_status cm_cores_cut_write(int file, cm_cores_cut cut, FILE *stream, cm_error *error)
{
  char first = '\0';
  if (pread(file, &first, 1, 0) != 1 || first != '{')
    return cut_binary(file, cut, stream, error);
  int own = dup(file);
  FILE *view = own >= 0 ? fdopen(own, "rb") : NULL;
  if (view == NULL) {
    if (own >= 0)
      close(own);
    return cm_fail(error, CM_IO, "the cores of the mapping cannot be read now");
  }
  cm_status status = cut_json(view, cut, stream, error);
  (void)fclose(view);
  return status;
}
