/* Happy path: digest of all that the method reads -> an entry of the cache -> parts. On a miss the method runs, and its parts are
 * written in a scratch folder that is then published. What can fail: the method; a damaged entry is dropped, and parts are made
 * again; whatever else the cache fails in costs the time it would have saved. */
#include "core/solver/mappers/kept.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/varint.h"
#include "core/chip/costs.h"
#include "core/network/demand_digest.h"
#include "core/placement/axes.h"

/* To be raised whenever a method gives other numbers for the same task. */
enum { PARTS_VERSION = 3 };

/* Partitions of networks with fewer synapses are made faster than they are looked up. */
enum { PINS_LEAST = 1 << 13 };

/* ---- keys ---- */

typedef crypto_generichash_state hash;

static void add(hash *state, const void *bytes, size_t size)
{
  (void)crypto_generichash_update(state, bytes, size);
}

static void add_whole(hash *state, uint64_t value)
{
  add(state, &value, sizeof value);
}

static cm_status add_json(hash *state, json_t *value, cm_error *error)
{
  char *text = value != NULL ? cm_json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17)) : NULL;
  json_decref(value);
  CM_TRY(cm_whole(text != NULL, "the key of a partition", error));
  add(state, text, strlen(text) + 1);
  free(text);
  return CM_OK;
}

/* Without those that shape places, routes and what is told of them, and no partition; of them the seed of places counts for methods that
 * place. */
static cm_status add_options(hash *state, const cm_map_options *options, cm_error *error)
{
  json_t *told = cm_map_options_shaping_json(options);
  for (size_t i = 0; told != NULL && i < cm_map_option_table.count; i++) {
    const cm_option *o = &cm_map_option_table.option[i];
    if (o->shapes == CM_SHAPES_PLACES || o->shapes == CM_SHAPES_WHOLE)
      (void)json_object_del(told, o->name);
  }
  return add_json(state, told, error);
}

static void add_limits(hash *state, const cm_limits *l)
{
  const uint64_t all[] = {l->neurons,      l->synapses,    l->inbound_axons,       l->outbound_axons,
                          l->target_cores, l->memory_bits, l->neuron_bits,         l->synapse_bits,
                          l->axon_bits,    l->fan_in,      l->neuron_target_cores, l->populations, l->source_cores};
  add(state, all, sizeof all);
}

static const char *network_of(const cm_map_input *input)
{
  return input->levels_id != NULL ? input->levels_id : input->network_id;
}

/* The network first, as with levels (levels.c). */
static void set_key(cm_kept *kept, hash *state)
{
  const char *network = network_of(kept->task->input);
  const size_t length = strlen(network);
  unsigned char digest[32];
  (void)crypto_generichash_final(state, digest, sizeof digest);
  memcpy(kept->key, network, length);
  (void)sodium_bin2hex(kept->key + length, sizeof kept->key - length, digest, sizeof digest);
}

/* Found once a job. */
static void add_demand(hash *state, const cm_engine_task *task)
{
  static const unsigned char zeros[CM_DEMAND_DIGEST_BYTES] = {0};
  unsigned char own[CM_DEMAND_DIGEST_BYTES] = {0}, *digest = task->digest != NULL ? task->digest : own;
  if (memcmp(digest, zeros, sizeof zeros) == 0)
    cm_demand_digest(task->input->demand, digest);
  add(state, digest, sizeof own);
}

cm_status cm_kept_begin(const cm_engine *engine, const cm_engine_task *task, cm_kept *kept, cm_error *error)
{
  const cm_map_input *in = task->input;
  const cm_topology *t = in->demand->network;
  hash state;
  unsigned char digest[CM_DEMAND_DIGEST_BYTES];
  *kept = (cm_kept){.task = task, .began = cm_now()};
  if (in->cache == NULL || network_of(in) == NULL || strlen(network_of(in)) > 64 ||
      (in->levels_from != NULL && in->levels_from->levels_id == NULL))
    return CM_OK;
  (void)crypto_generichash_init(&state, NULL, 0, 32);
  add_whole(&state, PARTS_VERSION);
  add(&state, engine->name, strlen(engine->name) + 1);
  add_whole(&state, task->parts);
  add_whole(&state, task->parts_max);
  add(&state, &in->share, sizeof in->share);
  add_limits(&state, &task->limits);
  add_whole(&state, engine->places ? in->options->placement_seed : 0);
  add_whole(&state, in->traffic != NULL);
  if (in->traffic != NULL)
    add(&state, in->traffic, t->net_count * sizeof *in->traffic);
  add_demand(&state, task);
  if (in->levels_from != NULL) {
    cm_demand_digest(in->levels_from->demand, digest);
    add(&state, digest, sizeof digest);
  }
  if (add_options(&state, in->options, error) != CM_OK ||
      (in->chip != NULL && add_json(&state, cm_costs_json(&in->chip->costs), error) != CM_OK))
    return error->status;
  set_key(kept, &state);
  return CM_OK;
}

static cm_status add_region(hash *state, const cm_chip *chip, const cm_region *region, cm_run *run, cm_error *error)
{
  cm_axes *a;
  CM_TRY(cm_axes_new(chip, region->cores, region->core_count, run, &a, error));
  const uint32_t figures[] = {region->width, region->height, a->columns, a->rows, a->count, a->units_per_hop};
  add(state, figures, sizeof figures);
  add(state, &a->base, sizeof a->base);
  add(state, &chip->energy_pj, sizeof chip->energy_pj); /* by which regions are compared */
  add(state, a->dx, (size_t)a->columns * a->columns * sizeof *a->dx);
  add(state, a->dy, (size_t)a->rows * a->rows * sizeof *a->dy);
  add(state, a->column, a->count * sizeof *a->column);
  add(state, a->row, a->count * sizeof *a->row);
  for (uint32_t i = 0; i < region->core_count; i++) {
    uint32_t core = region->cores[i], place[] = {core % chip->width - region->x0, core / chip->width - region->y0};
    add(state, place, sizeof place);
  }
  cm_axes_free(a);
  return CM_OK;
}

/* From the key as it is. */
static void go_on(const cm_kept *kept, hash *state)
{
  (void)crypto_generichash_init(state, NULL, 0, 32);
  add(state, kept->key, strlen(kept->key));
}

cm_status cm_kept_on(cm_kept *kept, cm_region *const *regions, uint32_t count, cm_run *run, cm_error *error)
{
  hash state;
  if (kept->key[0] == '\0')
    return CM_OK;
  go_on(kept, &state);
  for (uint32_t i = 0; i < count; i++)
    CM_TRY(add_region(&state, kept->task->input->chip, regions[i], run, error));
  set_key(kept, &state);
  return CM_OK;
}

void cm_kept_from(cm_kept *kept, const uint32_t *number, uint64_t count)
{
  hash state;
  go_on(kept, &state);
  add(&state, number, count * sizeof *number);
  if (kept->key[0] != '\0')
    set_key(kept, &state);
}

/* ---- entries: a file of varints ---- */

enum { HEAD = 5 };

static cm_status write_numbers(const char *folder, const uint64_t head[HEAD], const uint32_t *number, uint64_t count,
                               cm_error *error)
{
  uint8_t bytes[CM_VARINT_BYTES_MAX] = {0};
  char path[CM_PATH_MAX];
  CM_TRY(cm_path(path, error, "%s/parts", folder));
  FILE *file = fopen(path, "wbex");
  if (file == NULL)
    return cm_fail_errno(error, errno, "cannot write", path);
  for (size_t i = 0; i < HEAD; i++)
    (void)fwrite(bytes, 1, cm_varint_encode(head[i], bytes), file);
  for (uint64_t i = 0; i < count; i++)
    (void)fwrite(bytes, 1, cm_varint_encode(number[i], bytes), file);
  bool whole = !ferror(file);
  return fclose(file) == 0 && whole ? CM_OK : cm_fail_errno(error, errno, "cannot write", path);
}

typedef struct reading {
  const uint8_t *at;
  size_t left;
  bool sound;
} reading;

static uint64_t next(reading *r)
{
  uint64_t value = 0;
  size_t used = r->sound ? cm_varint_decode(r->at, r->left, &value) : 0;
  r->sound = used > 0;
  r->at += used;
  r->left -= used;
  return value;
}

/* Whether the file holds what was written. */
static bool read_numbers(const char *folder, uint32_t *number, uint64_t count, cm_attempt *attempt)
{
  char path[CM_PATH_MAX], *text;
  size_t size;
  uint64_t head[HEAD];
  cm_error ignored;
  if (cm_path(path, &ignored, "%s/parts", folder) != CM_OK ||
      cm_file_read(path, (count + HEAD) * CM_VARINT_BYTES_MAX, &text, &size, &ignored) != CM_OK)
    return false;
  reading r = {(const uint8_t *)text, size, true};
  for (size_t i = 0; i < HEAD; i++)
    head[i] = next(&r);
  r.sound = r.sound && head[0] == PARTS_VERSION && head[1] == count;
  for (uint64_t i = 0; r.sound && i < count; i++) {
    uint64_t value = next(&r);
    number[i] = (uint32_t)value;
    r.sound = r.sound && value <= UINT32_MAX;
  }
  free(text);
  if (!r.sound)
    return false;
  attempt->levels = (uint32_t)head[2];
  attempt->levels_available = (uint32_t)head[3];
  attempt->coarsening_cached = true;
  attempt->saved_seconds = (double)head[4] / 1000;
  return true;
}

bool cm_kept_find(const cm_kept *kept, uint32_t *number, uint64_t count, cm_attempt *attempt)
{
  const cm_level_cache *cache = kept->task->input->cache;
  char folder[CM_PATH_MAX];
  cm_error ignored;
  if (kept->key[0] == '\0' || cache->acquire(cache->user, kept->key, folder, &ignored) != CM_OK)
    return false;
  bool sound = read_numbers(folder, number, count, attempt);
  if (sound)
    cache->release(cache->user, kept->key);
  else
    cache->drop(cache->user, kept->key);
  return sound;
}

void cm_kept_keep(const cm_kept *kept, const uint32_t *number, uint64_t count, const cm_attempt *attempt)
{
  const cm_level_cache *cache = kept->task->input->cache;
  const double seconds = cm_now() - kept->began;
  const uint64_t milliseconds = (uint64_t)(seconds * 1000) + 1; /* 0 is for what was not found */
  const uint64_t head[HEAD] = {PARTS_VERSION, count, attempt->levels, attempt->levels_available, milliseconds};
  char folder[CM_PATH_MAX];
  cm_error ignored;
  if (kept->key[0] == '\0' || kept->task->input->demand->network->pin_count < PINS_LEAST || cache->begin(cache->user, folder, &ignored) != CM_OK)
    return;
  if (write_numbers(folder, head, number, count, &ignored) == CM_OK &&
      cache->commit(cache->user, kept->key, folder, &ignored) == CM_OK)
    cache->release(cache->user, kept->key);
  else
    cache->discard(cache->user, folder);
}

/* ---- partitions ---- */

/* How many parts, and that of each vertex; whether no number is beyond. */
static bool take_parts(const uint32_t *number, cm_partition *made)
{
  made->part_count = number[0];
  memcpy(made->part, number + 1, made->vertex_count * sizeof *made->part);
  for (uint32_t v = 0; v < made->vertex_count; v++)
    if (made->part[v] >= made->part_count)
      return false;
  return true;
}

static cm_status look_up(const cm_kept *kept, cm_run *run, cm_attempt *attempt, uint32_t *number, cm_partition **partition,
                         cm_error *error)
{
  const uint32_t vertices = kept->task->input->demand->network->vertex_count;
  cm_partition *made;
  if (!cm_kept_find(kept, number, (uint64_t)vertices + 1, attempt))
    return CM_OK;
  CM_TRY(cm_partition_new(vertices, run, &made, error));
  if (take_parts(number, made))
    *partition = made;
  else
    cm_partition_free(made);
  return CM_OK;
}

static cm_status look_up_or_make(const cm_engine *engine, const cm_kept *kept, cm_run *run, cm_attempt *attempt,
                                 cm_partition **partition, cm_error *error)
{
  const uint32_t vertices = kept->task->input->demand->network->vertex_count;
  uint32_t *number;
  CM_TRY(CM_NEW(run->memory, number, (size_t)vertices + 1, error));
  cm_status status = look_up(kept, run, attempt, number, partition, error);
  if (status == CM_OK && *partition == NULL) {
    status = engine->partition(kept->task, run, attempt, partition, error);
    if (status == CM_OK && (*partition)->core == NULL && (*partition)->kind == NULL) {
      number[0] = (*partition)->part_count;
      memcpy(number + 1, (*partition)->part, vertices * sizeof *number);
      cm_kept_keep(kept, number, (uint64_t)vertices + 1, attempt);
    }
  }
  cm_free(number);
  return status;
}

static cm_status make(const cm_engine *engine, const cm_engine_task *task, cm_run *run, cm_attempt *attempt,
                      cm_partition **partition, cm_error *error)
{
  cm_kept kept = {0};
  CM_TRY_IF(!engine->places, cm_kept_begin(engine, task, &kept, error));
  if (engine == &cm_engine_axons && task->input->known != NULL)
    cm_kept_from(&kept, task->input->known->part, task->input->known->vertex_count);
  return kept.key[0] != '\0' ? look_up_or_make(engine, &kept, run, attempt, partition, error)
                             : engine->partition(task, run, attempt, partition, error);
}

cm_status cm_partition_or_kept(const cm_engine *engine, const cm_engine_task *task, cm_run *run, cm_attempt *attempt,
                               cm_partition **partition, cm_error *error)
{
  const cm_map_input *in = task->input;
  const cm_attempt fresh = *attempt;
  cm_engine_task whole = *task;
  if (!engine->counts_cores && in->chip != NULL && task->parts_max != UINT32_MAX)
    whole.parts_max = cm_chip_cores(in->chip);
  cm_status status = make(engine, &whole, run, attempt, partition, error);
  if (whole.parts_max == task->parts_max || (status == CM_OK && (*partition)->part_count <= task->parts_max) ||
      (status != CM_OK && status != CM_NO_ROOM))
    return status;
  if (status == CM_OK)
    cm_partition_free(*partition);
  *partition = NULL;
  *attempt = fresh;
  return make(engine, task, run, attempt, partition, error);
}
