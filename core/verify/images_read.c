/* Happy path: sizes of cores, then their rows. What can fail: rows of another form, indices out of range, memory. */
#include "core/verify/images_read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "core/chip/json.h"

enum { COLUMNS = 17, FILE_MAX = 1 << 30 };

static const char *const kinds[CM_READ_KINDS] = {"neuron", "input", "copy", "relay", "bias"};

typedef struct reader {
  cm_run *run;
  cm_read_images *r;
  uint64_t routes;
} reader;

static cm_status refuse(const char *where, const char *what, cm_error *error)
{
  return cm_json_fail(error, CM_BAD_MAPPING, where, "%s: %s", where, what);
}

/* A list at `name` of an object; an empty one is fine. */
static cm_status list_of(const json_t *object, const char *where, const char *name, const json_t **list, cm_error *error)
{
  char place[CM_JSON_PLACE_MAX];
  *list = json_object_get(object, name);
  return json_is_array(*list) ? CM_OK : refuse(cm_json_place(place, "%s/%s", where, name), "expected a list", error);
}

#define RANGE(least, most) ((const int64_t[]){(least), (most)})

/* Entry k of a row, from range[0] to range[1]; `where` is the row's place. */
static cm_status whole(const json_t *row, size_t k, const int64_t range[2], const char *where, int64_t *value, cm_error *error)
{
  const json_t *number = json_array_get(row, k);
  if (!json_is_integer(number) || json_integer_value(number) < range[0] || json_integer_value(number) > range[1])
    return cm_json_fail(error, CM_BAD_MAPPING, where, "%s/%zu: expected a whole number from %lld to %lld", where, k, (long long)range[0], (long long)range[1]);
  *value = json_integer_value(number);
  return CM_OK;
}

static cm_status member(const json_t *object, const char *where, const char *name, int64_t most, int64_t *value, cm_error *error)
{
  char place[CM_JSON_PLACE_MAX];
  const json_t *number = json_object_get(object, name);
  if (!json_is_integer(number) || json_integer_value(number) < 0 || json_integer_value(number) > most)
    return refuse(cm_json_place(place, "%s/%s", where, name), "expected a whole number that is not negative", error);
  *value = json_integer_value(number);
  return CM_OK;
}

/* ---- rows ---- */

static cm_status read_kind(const json_t *row, const char *where, cm_read_neuron *n, cm_error *error)
{
  const char *kind = json_string_value(json_array_get(row, 0)), *model = json_string_value(json_array_get(row, 3));
  n->kind = CM_READ_KINDS;
  for (int k = 0; kind != NULL && k < CM_READ_KINDS; k++)
    if (strcmp(kinds[k], kind) == 0)
      n->kind = (cm_read_kind)k;
  const cm_chip_neuron found = model != NULL ? cm_chip_neuron_find(model) : CM_CHIP_NEURONS;
  if (n->kind == CM_READ_KINDS)
    return refuse(where, "expected a kind: neuron, input, copy, relay or bias", error);
  if (found == CM_CHIP_NEURONS)
    return refuse(where, "expected a model of neurons: catalyst-lif, catalyst-cuba or loihi-cuba", error);
  n->parameter.model = (uint8_t)found;
  return CM_OK;
}

/* A stretch of a core's pool or routes that a neuron has. */
static cm_status read_stretch(const json_t *row, size_t k, uint64_t count, const char *where, uint32_t stretch[2], cm_error *error)
{
  int64_t from, length;
  if (whole(row, k, RANGE(0, INT32_MAX), where, &from, error) != CM_OK || whole(row, k + 1, RANGE(0, INT32_MAX), where, &length, error) != CM_OK)
    return error->status;
  if (length > 0 && (uint64_t)(from + length) > count)
    return refuse(where, "it has more synapses or routes than its core", error);
  stretch[0] = (uint32_t)from;
  stretch[1] = (uint32_t)length;
  return CM_OK;
}

static cm_status read_neuron(const json_t *row, const char *where, uint64_t pool, uint64_t routes, cm_read_neuron *n, cm_error *error)
{
  cm_chip_parameters *p = &n->parameter;
  int16_t *const words[] = {&p->threshold, &p->leak, &p->rest, &p->refractory, &p->decay_v, &p->decay_u, &p->bias, &p->v_min, &p->v_max};
  const size_t first = 4, count = sizeof words / sizeof *words;
  int64_t value, of, shift;
  uint32_t stretch[2];
  if (!json_is_array(row) || json_array_size(row) != COLUMNS)
    return refuse(where, "expected a row of 17 columns", error);
  if (read_kind(row, where, n, error) != CM_OK || whole(row, 1, RANGE(0, INT32_MAX), where, &of, error) != CM_OK ||
      whole(row, 2, RANGE(0, INT32_MAX), where, &shift, error) != CM_OK)
    return error->status;
  n->of = (uint32_t)of;
  n->shift = (uint32_t)shift;
  for (size_t k = 0; k < count; k++) {
    if (whole(row, first + k, RANGE(INT16_MIN, INT16_MAX), where, &value, error) != CM_OK)
      return error->status;
    *words[k] = (int16_t)value;
  }
  if (read_stretch(row, first + count, pool, where, stretch, error) != CM_OK)
    return error->status;
  n->pool = stretch[0];
  n->synapses = stretch[1];
  if (read_stretch(row, first + count + 2, routes, where, stretch, error) != CM_OK)
    return error->status;
  n->route = stretch[0];
  n->routes = stretch[1];
  return CM_OK;
}

/* ---- cores ---- */

static cm_status read_rows(reader *b, const json_t *core, uint32_t c, cm_error *error)
{
  cm_read_images *r = b->r;
  const json_t *neurons, *pool, *routes;
  char where[CM_JSON_PLACE_MAX], place[CM_JSON_PLACE_MAX];
  (void)cm_json_place(where, "/cores/%u", c);
  if (list_of(core, where, "neurons", &neurons, error) != CM_OK || list_of(core, where, "pool", &pool, error) != CM_OK ||
      list_of(core, where, "routes", &routes, error) != CM_OK)
    return error->status;
  for (size_t k = 0; k < json_array_size(neurons); k++) {
    cm_read_neuron *n = &r->neuron[r->first[c] + k];
    if (read_neuron(json_array_get(neurons, k), cm_json_place(place, "/cores/%u/neurons/%zu", c, k), json_array_size(pool), json_array_size(routes), n, error) != CM_OK)
      return error->status;
    n->core = c;
    n->pool += (uint32_t)r->pool_first[c];
    n->route += (uint32_t)b->routes;
    if (n->kind <= CM_READ_RELAY && n->of >= r->network_neurons)
      return refuse(place, "the network has no such neuron", error);
  }
  for (size_t k = 0; k < json_array_size(pool); k++) {
    int64_t target, weight, delay;
    const json_t *row = json_array_get(pool, k);
    (void)cm_json_place(place, "/cores/%u/pool/%zu", c, k);
    if (whole(row, 0, RANGE(0, (int64_t)json_array_size(neurons) - 1), place, &target, error) != CM_OK ||
        whole(row, 1, RANGE(INT16_MIN, INT16_MAX), place, &weight, error) != CM_OK || whole(row, 2, RANGE(0, INT8_MAX / 2), place, &delay, error) != CM_OK)
      return error->status;
    r->synapse[r->pool_first[c] + k] = (cm_read_synapse){r->first[c] + (uint32_t)target, (int32_t)weight, (int32_t)delay};
  }
  for (size_t k = 0; k < json_array_size(routes); k++) {
    int64_t to, neuron;
    uint32_t at = 0;
    const json_t *row = json_array_get(routes, k);
    (void)cm_json_place(place, "/cores/%u/routes/%zu", c, k);
    if (whole(row, 0, RANGE(0, INT32_MAX), place, &to, error) != CM_OK)
      return error->status;
    while (at < r->cores && r->number[at] != (uint32_t)to)
      at++;
    if (at == r->cores)
      return refuse(place, "no core of that number has an image", error);
    if (whole(row, 1, RANGE(0, (int64_t)r->first[at + 1] - r->first[at] - 1), place, &neuron, error) != CM_OK)
      return error->status;
    r->route[b->routes + k] = r->first[at] + (uint32_t)neuron;
  }
  b->routes += json_array_size(routes);
  return CM_OK;
}

/* How many rows all cores have, and which cores they are. */
static cm_status read_sizes(reader *b, const json_t *cores, cm_error *error)
{
  cm_read_images *r = b->r;
  uint64_t routes = 0;
  r->cores = (uint32_t)json_array_size(cores);
  if (CM_NEW(b->run->memory, r->number, r->cores, error) != CM_OK || CM_NEW(b->run->memory, r->first, (size_t)r->cores + 1, error) != CM_OK ||
      CM_NEW(b->run->memory, r->pool_first, (size_t)r->cores + 1, error) != CM_OK)
    return error->status;
  for (uint32_t c = 0; c < r->cores; c++) {
    char where[CM_JSON_PLACE_MAX];
    int64_t number;
    const json_t *core = json_array_get(cores, c);
    if (member(core, cm_json_place(where, "/cores/%u", c), "core", INT32_MAX, &number, error) != CM_OK)
      return error->status;
    if (c > 0 && (uint32_t)number <= r->number[c - 1])
      return refuse(where, "cores ascend", error);
    r->number[c] = (uint32_t)number;
    r->first[c + 1] = r->first[c] + (uint32_t)json_array_size(json_object_get(core, "neurons"));
    r->pool_first[c + 1] = r->pool_first[c] + json_array_size(json_object_get(core, "pool"));
    routes += json_array_size(json_object_get(core, "routes"));
  }
  r->neurons = r->first[r->cores];
  if (CM_NEW(b->run->memory, r->neuron, r->neurons, error) != CM_OK || CM_NEW(b->run->memory, r->synapse, r->pool_first[r->cores], error) != CM_OK ||
      CM_NEW(b->run->memory, r->route, routes, error) != CM_OK)
    return error->status;
  return CM_OK;
}

static cm_status read_inputs(reader *b, const json_t *inputs, cm_error *error)
{
  cm_read_images *r = b->r;
  r->inputs = json_array_size(inputs);
  if (CM_NEW(b->run->memory, r->input, 2 * r->inputs, error) != CM_OK)
    return error->status;
  for (size_t k = 0; k < r->inputs; k++) {
    char where[CM_JSON_PLACE_MAX];
    int64_t step, neuron;
    (void)cm_json_place(where, "/inputs/%zu", k);
    if (whole(json_array_get(inputs, k), 0, RANGE(0, (int64_t)r->network_steps - 1), where, &step, error) != CM_OK ||
        whole(json_array_get(inputs, k), 1, RANGE(0, (int64_t)r->network_neurons - 1), where, &neuron, error) != CM_OK)
      return error->status;
    if (k > 0 && (uint32_t)step < r->input[2 * k - 2])
      return refuse(where, "steps ascend", error);
    r->input[2 * k] = (uint32_t)step;
    r->input[2 * k + 1] = (uint32_t)neuron;
  }
  return CM_OK;
}

static cm_status read_all(reader *b, const json_t *root, cm_error *error)
{
  cm_read_images *r = b->r;
  const json_t *cores, *inputs;
  int64_t version, neurons, synapses, own, steps;
  if (member(root, "", "version", 1, &version, error) != CM_OK || member(root, "", "network_neurons", INT32_MAX, &neurons, error) != CM_OK ||
      member(root, "", "network_synapses", INT64_MAX, &synapses, error) != CM_OK || member(root, "", "network_steps", INT32_MAX, &own, error) != CM_OK ||
      member(root, "", "steps", INT32_MAX, &steps, error) != CM_OK || list_of(root, "", "cores", &cores, error) != CM_OK ||
      list_of(root, "", "inputs", &inputs, error) != CM_OK)
    return error->status;
  r->network_neurons = (uint32_t)neurons;
  r->network_synapses = (uint64_t)synapses;
  r->network_steps = (uint32_t)own;
  r->steps = (uint32_t)steps;
  cm_status status = read_sizes(b, cores, error);
  for (uint32_t c = 0; c < r->cores && status == CM_OK; c++)
    status = read_rows(b, json_array_get(cores, c), c, error);
  return status == CM_OK ? read_inputs(b, inputs, error) : status;
}

cm_status cm_images_read(const char *path, cm_run *run, cm_read_images *images, cm_error *error)
{
  static const cm_document kind = {"images of cores", FILE_MAX, CM_BAD_MAPPING};
  cm_read_images r = {.cores = 0};
  reader b = {.run = run, .r = &r};
  char *text;
  size_t size;
  json_t *root;
  if (cm_file_read(path, FILE_MAX, &text, &size, error) != CM_OK)
    return error->status;
  cm_status status = cm_json_load(text, size, &kind, &root, error);
  free(text);
  if (status != CM_OK)
    return status;
  status = read_all(&b, root, error);
  json_decref(root);
  if (status == CM_OK)
    *images = r;
  else
    cm_read_images_free(&r);
  return status;
}

void cm_read_images_free(cm_read_images *r)
{
  void *const arrays[] = {r->number, r->first, r->pool_first, r->neuron, r->synapse, r->route, r->input};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    cm_free(arrays[i]);
  *r = (cm_read_images){.cores = 0};
}
