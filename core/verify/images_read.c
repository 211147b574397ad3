/* Happy path: sizes of cores, then their rows. What can fail: rows of another form, indices out of range, memory. */
#include "core/verify/images_read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "core/chip/json.h"
#include "core/verify/images_source.h"

enum { FILE_MAX = 1 << 30 };

typedef struct reader {
  cm_run *run;
  const cm_images_source *from;
  cm_read_images *r;
  uint64_t routes;
} reader;

/* A row whose columns are to be checked. */
typedef struct row {
  cm_image_list list;
  size_t core, number;
  int64_t value[CM_IMAGE_COLUMNS];
} row;

static cm_status take_row(const reader *b, row *r, cm_error *error)
{
  return b->from->row(b->from, r->list, r->core, r->number, r->value, error);
}

static cm_status refuse(const row *r, const char *what, cm_error *error)
{
  char where[CM_IMAGE_PLACE_MAX];
  return cm_json_fail(error, CM_BAD_MAPPING, cm_image_place(where, r->list, r->core, r->number), "%s: %s", where, what);
}

/* Whether column k is from least to most. */
static cm_status whole(const row *r, size_t k, int64_t least, int64_t most, cm_error *error)
{
  char where[CM_IMAGE_PLACE_MAX];
  if (r->value[k] >= least && r->value[k] <= most)
    return CM_OK;
  return cm_json_fail(error, CM_BAD_MAPPING, cm_image_place(where, r->list, r->core, r->number), "%s/%zu: expected a whole number from %lld to %lld", where, k,
                      (long long)least, (long long)most);
}

/* ---- rows ---- */

/* A stretch of a core's pool or routes that a neuron has; behind those of the neurons before, none is another's too. */
static cm_status read_stretch(const row *r, size_t k, uint64_t count, uint64_t *used, cm_error *error)
{
  CM_TRY(whole(r, k, 0, INT32_MAX, error));
  CM_TRY(whole(r, k + 1, 0, INT32_MAX, error));
  *used += (uint64_t)r->value[k + 1];
  if ((r->value[k + 1] > 0 && (uint64_t)(r->value[k] + r->value[k + 1]) > count) || *used > count)
    return refuse(r, "it has more synapses or routes than its core", error);
  return CM_OK;
}

static cm_status read_neuron(const row *r, const cm_image_core *core, uint64_t used[2], cm_read_neuron *n, cm_error *error)
{
  cm_chip_parameters *p = &n->parameter;
  int16_t *const words[] = {&p->threshold, &p->leak, &p->rest, &p->refractory, &p->decay_v, &p->decay_u, &p->bias, &p->v_min, &p->v_max};
  const size_t first = CM_IMAGE_COLUMN_MODEL + 1, count = sizeof words / sizeof *words;
  CM_TRY(whole(r, 1, 0, INT32_MAX, error));
  CM_TRY(whole(r, 2, 0, INT32_MAX, error));
  n->kind = (cm_read_kind)r->value[CM_IMAGE_COLUMN_KIND];
  p->model = (uint8_t)r->value[CM_IMAGE_COLUMN_MODEL];
  n->of = (uint32_t)r->value[1];
  n->shift = (uint32_t)r->value[2];
  for (size_t k = 0; k < count; k++) {
    CM_TRY(whole(r, first + k, INT16_MIN, INT16_MAX, error));
    *words[k] = (int16_t)r->value[first + k];
  }
  CM_TRY(read_stretch(r, first + count, core->rows[CM_LIST_POOL], &used[0], error));
  CM_TRY(read_stretch(r, first + count + 2, core->rows[CM_LIST_ROUTES], &used[1], error));
  n->pool = (uint32_t)r->value[first + count];
  n->synapses = (uint32_t)r->value[first + count + 1];
  n->route = (uint32_t)r->value[first + count + 2];
  n->routes = (uint32_t)r->value[first + count + 3];
  return CM_OK;
}

static cm_status read_neurons(const reader *b, uint32_t c, const cm_image_core *core, cm_error *error)
{
  cm_read_images *r = b->r;
  row at = {.list = CM_LIST_NEURONS, .core = c};
  uint64_t used[2] = {0, 0};
  for (; at.number < core->rows[CM_LIST_NEURONS]; at.number++) {
    cm_read_neuron *n = &r->neuron[r->first[c] + at.number];
    CM_TRY(take_row(b, &at, error));
    CM_TRY(read_neuron(&at, core, used, n, error));
    n->core = c;
    n->pool += (uint32_t)r->pool_first[c];
    n->route += (uint32_t)b->routes;
    if (n->kind <= CM_READ_RELAY && n->of >= r->network_neurons)
      return refuse(&at, "the network has no such neuron", error);
  }
  return CM_OK;
}

static cm_status read_pool(const reader *b, uint32_t c, const cm_image_core *core, cm_error *error)
{
  cm_read_images *r = b->r;
  row at = {.list = CM_LIST_POOL, .core = c};
  for (; at.number < core->rows[CM_LIST_POOL]; at.number++) {
    if (take_row(b, &at, error) != CM_OK || whole(&at, 0, 0, (int64_t)core->rows[CM_LIST_NEURONS] - 1, error) != CM_OK ||
        whole(&at, 1, INT16_MIN, INT16_MAX, error) != CM_OK || whole(&at, 2, 0, INT8_MAX / 2, error) != CM_OK)
      return error->status;
    r->synapse[r->pool_first[c] + at.number] = (cm_read_synapse){r->first[c] + (uint32_t)at.value[0], (int32_t)at.value[1], (int32_t)at.value[2]};
  }
  return CM_OK;
}

static cm_status read_routes(reader *b, uint32_t c, const cm_image_core *core, cm_error *error)
{
  cm_read_images *r = b->r;
  row at = {.list = CM_LIST_ROUTES, .core = c};
  for (; at.number < core->rows[CM_LIST_ROUTES]; at.number++) {
    uint32_t to = 0;
    CM_TRY(take_row(b, &at, error));
    CM_TRY(whole(&at, 0, 0, INT32_MAX, error));
    while (to < r->cores && r->number[to] != (uint32_t)at.value[0])
      to++;
    if (to == r->cores)
      return refuse(&at, "no core of that number has an image", error);
    CM_TRY(whole(&at, 1, 0, (int64_t)r->first[to + 1] - r->first[to] - 1, error));
    r->route[b->routes + at.number] = r->first[to] + (uint32_t)at.value[1];
  }
  b->routes += core->rows[CM_LIST_ROUTES];
  r->all_routes = b->routes;
  return CM_OK;
}

static cm_status read_inputs(const reader *b, cm_error *error)
{
  cm_read_images *r = b->r;
  row at = {.list = CM_LIST_INPUTS};
  r->inputs = b->from->inputs;
  CM_TRY(CM_NEW(b->run->memory, r->input, 2 * r->inputs, error));
  for (; at.number < r->inputs; at.number++) {
    CM_TRY(take_row(b, &at, error));
    CM_TRY(whole(&at, 0, 0, (int64_t)r->network_steps - 1, error));
    CM_TRY(whole(&at, 1, 0, (int64_t)r->network_neurons - 1, error));
    if (at.number > 0 && (uint32_t)at.value[0] < r->input[2 * at.number - 2])
      return refuse(&at, "steps ascend", error);
    r->input[2 * at.number] = (uint32_t)at.value[0];
    r->input[2 * at.number + 1] = (uint32_t)at.value[1];
  }
  return CM_OK;
}

/* ---- all ---- */

/* How many rows all cores have, and which cores they are. */
static cm_status read_sizes(const reader *b, cm_error *error)
{
  cm_read_images *r = b->r;
  uint64_t routes = 0, neurons = 0;
  cm_image_core core;
  if (b->from->cores > INT32_MAX)
    return cm_json_fail(error, CM_BAD_MAPPING, "/cores", "/cores: there are too many");
  r->cores = (uint32_t)b->from->cores;
  CM_TRY(CM_NEW_ALL(b->run->memory, error, CM_ARRAY(r->number, r->cores), CM_ARRAY(r->first, (size_t)r->cores + 1),
                    CM_ARRAY(r->pool_first, (size_t)r->cores + 1)));
  for (uint32_t c = 0; c < r->cores; c++) {
    char where[CM_JSON_PLACE_MAX];
    CM_TRY(b->from->core(b->from, c, &core, error));
    (void)cm_json_place(where, "/cores/%u", c);
    if (core.number > INT32_MAX || (c > 0 && (uint32_t)core.number <= r->number[c - 1]))
      return cm_json_fail(error, CM_BAD_MAPPING, where, "%s: cores ascend", where);
    neurons += core.rows[CM_LIST_NEURONS];
    routes += core.rows[CM_LIST_ROUTES];
    r->number[c] = (uint32_t)core.number;
    r->first[c + 1] = (uint32_t)neurons;
    r->pool_first[c + 1] = r->pool_first[c] + core.rows[CM_LIST_POOL];
    if (neurons > INT32_MAX || routes > INT32_MAX || r->pool_first[c + 1] > INT32_MAX)
      return cm_json_fail(error, CM_BAD_MAPPING, where, "%s: there are too many rows", where);
  }
  r->neurons = (uint32_t)neurons;
  if (r->network_neurons > r->neurons)
    return cm_json_fail(error, CM_BAD_MAPPING, "/network_neurons", "the network has %" PRIu32 " neurons, more than the %" PRIu32 " of all cores", r->network_neurons, r->neurons);
  CM_TRY(CM_NEW_ALL(b->run->memory, error, CM_ARRAY(r->neuron, r->neurons), CM_ARRAY(r->synapse, r->pool_first[r->cores])));
  return CM_NEW(b->run->memory, r->route, routes, error);
}

static cm_status read_all(reader *b, cm_error *error)
{
  cm_read_images *r = b->r;
  cm_image_core core;
  r->network_neurons = (uint32_t)b->from->network_neurons;
  r->network_synapses = (uint64_t)b->from->network_synapses;
  r->network_steps = (uint32_t)b->from->network_steps;
  r->steps = (uint32_t)b->from->steps;
  cm_status status = read_sizes(b, error);
  for (uint32_t c = 0; c < r->cores && status == CM_OK; c++) {
    status = b->from->core(b->from, c, &core, error);
    CM_THEN(status, read_neurons(b, c, &core, error));
    CM_THEN(status, read_pool(b, c, &core, error));
    CM_THEN(status, read_routes(b, c, &core, error));
  }
  return status == CM_OK ? read_inputs(b, error) : status;
}

cm_status cm_images_parse(const char *bytes, size_t size, cm_run *run, cm_read_images *images, cm_error *error)
{
  cm_read_images r = {.cores = 0};
  cm_images_source *from;
  cm_status status = cm_images_are_binary((const uint8_t *)bytes, size) ? cm_images_binary_open((const uint8_t *)bytes, size, &from, error)
                                                                        : cm_images_json_open(bytes, size, &from, error);
  CM_TRY(status);
  reader b = {.run = run, .from = from, .r = &r};
  status = read_all(&b, error);
  from->close(from);
  CM_END(status, *images = r, cm_read_images_free(&r));
}

static cm_status read_images(const char *path, cm_run *run, cm_read_images *images, cm_error *error)
{
  char *text;
  size_t size;
  CM_TRY(cm_file_read(path, FILE_MAX, &text, &size, error));
  const cm_status status = cm_images_parse(text, size, run, images, error);
  free(text);
  return status;
}

cm_status cm_images_read_folder(const char *folder, cm_run *run, cm_read_images *images, cm_error *error)
{
  static const char *const names[] = {"images.json", "images.bin"};
  cm_read_images read[2] = {{.cores = 0}, {.cores = 0}};
  int found = 0;
  for (int k = 0; k < 2; k++) {
    char path[CM_PATH_MAX];
    cm_status status = cm_path(path, error, "%s/%s", folder, names[k]);
    CM_THEN(status, read_images(path, run, &read[found], error));
    if (status != CM_OK && status != CM_NOT_FOUND) {
      cm_read_images_free(&read[0]);
      return status;
    }
    found += status == CM_OK;
  }
  if (found == 0)
    return cm_fail(error, CM_NOT_FOUND, "%s has neither %s nor %s, which coremap deploy writes", folder, names[0], names[1]);
  if (found == 2 && !cm_read_images_same(&read[0], &read[1])) {
    cm_read_images_free(&read[0]);
    cm_read_images_free(&read[1]);
    return cm_fail(error, CM_BAD_MAPPING, "%s and %s are images of different content", names[0], names[1]);
  }
  cm_read_images_free(&read[1]);
  *images = read[0];
  return CM_OK;
}

/* ---- the same ---- */

static bool same_neuron(const cm_read_neuron *a, const cm_read_neuron *b)
{
  const cm_chip_parameters *p = &a->parameter, *q = &b->parameter;
  const int64_t x[] = {a->kind, a->of, a->shift, a->pool, a->synapses, a->route, a->routes, p->model, p->threshold, p->leak, p->rest, p->refractory, p->decay_v, p->decay_u, p->bias, p->v_min, p->v_max};
  const int64_t y[] = {b->kind, b->of, b->shift, b->pool, b->synapses, b->route, b->routes, q->model, q->threshold, q->leak, q->rest, q->refractory, q->decay_v, q->decay_u, q->bias, q->v_min, q->v_max};
  return memcmp(x, y, sizeof x) == 0;
}

static bool same_bytes(const void *a, const void *b, size_t size)
{
  return size == 0 || memcmp(a, b, size) == 0;
}

bool cm_read_images_same(const cm_read_images *a, const cm_read_images *b)
{
  if (a->cores != b->cores || a->neurons != b->neurons || a->network_neurons != b->network_neurons || a->network_steps != b->network_steps ||
      a->steps != b->steps || a->network_synapses != b->network_synapses || a->inputs != b->inputs || a->all_routes != b->all_routes ||
      !same_bytes(a->number, b->number, a->cores * sizeof *a->number) || !same_bytes(a->first, b->first, ((size_t)a->cores + 1) * sizeof *a->first) ||
      !same_bytes(a->pool_first, b->pool_first, ((size_t)a->cores + 1) * sizeof *a->pool_first))
    return false;
  for (uint32_t i = 0; i < a->neurons; i++)
    if (!same_neuron(&a->neuron[i], &b->neuron[i]))
      return false;
  return same_bytes(a->synapse, b->synapse, a->pool_first[a->cores] * sizeof *a->synapse) && same_bytes(a->route, b->route, a->all_routes * sizeof *a->route) &&
         same_bytes(a->input, b->input, 2 * a->inputs * sizeof *a->input);
}

void cm_read_images_free(cm_read_images *r)
{
  void *const arrays[] = {r->number, r->first, r->pool_first, r->neuron, r->synapse, r->route, r->input};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    cm_free(arrays[i]);
  *r = (cm_read_images){.cores = 0};
}
