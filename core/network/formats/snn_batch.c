/* Hyperedges of an .snn file, as many at once as the source's window holds whole: heads and rates are read in order, targets are copied,
 * checked and sorted on threads, each hyperedge to where it stands if none before it has repeats, and gaps are closed in order. What is wrong
 * is left to the reader of single ones, which names it: nothing behind it is kept. */
#include <endian.h>
#include <math.h>
#include <string.h>

#include "base/threads.h"
#include "base/wide.h"
#include "core/network/formats/rows.h"
#include "core/network/formats/snn.h"
#include "core/network/formats/source.h"
#include "core/network/topology.h"

enum { NETS_MOST = 2048, SLICES_MOST = 8, HEAD_BYTES = 8, RATE_BYTES = 4, SLICE_PINS = 1 << 14 };

typedef struct entry {
  cm_snn_net net;
  const uint8_t *from; /* its targets in the window */
  bool wrong;          /* one of them is no vertex */
} entry;

typedef struct slice {
  uint32_t begin, end; /* entries */
  cm_row_sorter sorter;
  CM_THREADS_APART
} slice;

struct cm_snn_batch {
  cm_thread_pool *pool;
  uint32_t slices, count;
  cm_topology *made;
  slice slice[SLICES_MOST];
  entry entry[NETS_MOST];
};

cm_status cm_snn_keep(cm_snn_reader *r, const cm_snn_net *n, cm_error *error)
{
  cm_topology *made = r->made;
  const uint32_t net = made->net_count;
  CM_TRY(CM_ROOM(r->memory, made->net_first, &r->first_room, (uint64_t)net + 2, error));
  CM_TRY(CM_ROOM(r->memory, made->net_source, &r->source_room, (uint64_t)net + 1, error));
  CM_TRY(CM_ROOM(r->memory, r->rate, &r->rate_room, (uint64_t)net + 1, error));
  if (net > 0 && n->source < made->net_source[net - 1])
    r->sources_ascend = false;
  made->duplicate_count += n->count - n->kept;
  made->self_loop_count += n->selves;
  made->pin_count = n->pin + n->kept;
  made->net_first[net + 1] = made->pin_count;
  made->net_source[net] = n->source;
  r->rate[net] = n->rate;
  made->net_count++;
  return CM_OK;
}

static unsigned threads_of(const cm_snn_reader *r)
{
  return r->run->threads == 0 ? 1 : r->run->threads < SLICES_MOST ? r->run->threads : SLICES_MOST;
}

cm_status cm_snn_batch_new(cm_snn_reader *r, cm_error *error)
{
  CM_TRY(CM_NEW(r->memory, r->batch, 1, error));
  for (uint32_t i = 0; i < SLICES_MOST; i++)
    r->batch->slice[i].sorter.memory = r->memory;
  return cm_thread_pool_new(r->memory, threads_of(r), &r->batch->pool, error);
}

void cm_snn_batch_free(cm_snn_reader *r)
{
  if (r->batch == NULL)
    return;
  cm_thread_pool_free(r->batch->pool);
  for (uint32_t i = 0; i < SLICES_MOST; i++)
    cm_row_sorter_free(&r->batch->slice[i].sorter);
  cm_free(r->batch);
}

/* ---- heads, in order ---- */

static uint32_t number_at(const uint8_t *bytes)
{
  uint32_t number;
  memcpy(&number, bytes, sizeof number);
  return le32toh(number);
}

/* The hyperedge at `at`, whose targets would go to `pin`; false where it does not end in the window, or is not right. */
static bool look_at(const cm_snn_reader *r, const uint8_t *at, uint64_t pin, entry *e)
{
  const uint64_t left = (uint64_t)(r->source->end - at);
  if (left < HEAD_BYTES + RATE_BYTES)
    return false;
  const uint64_t count = number_at(at);
  if ((left - HEAD_BYTES - RATE_BYTES) / 4 < count)
    return false;
  *e = (entry){.net = {.pin = pin, .count = count, .source = number_at(at + 4)}, .from = at + HEAD_BYTES};
  const uint32_t bits = number_at(e->from + 4 * count);
  memcpy(&e->net.rate, &bits, sizeof bits);
  return e->net.source < r->made->vertex_count && count <= r->limits->pins_max - pin && isfinite(e->net.rate) && e->net.rate >= 0;
}

static const uint8_t *behind(const entry *e)
{
  return e->from + 4 * e->net.count + RATE_BYTES;
}

/* ---- targets, on threads ---- */

/* What targets [count] are: whether one is no vertex, whether they ascend, how many are the source. */
CM_WIDE_LOOP static void look(const uint32_t *pin, uint64_t count, uint32_t vertices, uint32_t source, bool *wrong, bool *ascend, uint32_t *selves)
{
  uint32_t beyond = 0, falls = 0, same = 0;
  for (uint64_t i = 0; i < count; i++) {
    beyond |= pin[i] >= vertices;
    same += pin[i] == source;
  }
  for (uint64_t i = 1; i < count; i++)
    falls |= pin[i] <= pin[i - 1];
  *wrong = beyond != 0;
  *ascend = falls == 0;
  *selves = same;
}

static cm_status take_one(const cm_topology *made, cm_row_sorter *sorter, entry *e, cm_error *error)
{
  cm_snn_net *n = &e->net;
  uint32_t *pin = made->pin + n->pin;
  bool ascend;
  memcpy(pin, e->from, n->count * sizeof *pin);
  for (uint64_t i = 0; BYTE_ORDER != LITTLE_ENDIAN && i < n->count; i++)
    pin[i] = le32toh(pin[i]);
  look(pin, n->count, made->vertex_count, n->source, &e->wrong, &ascend, &n->selves);
  n->kept = n->count;
  if (e->wrong || ascend)
    return CM_OK;
  CM_TRY(cm_row_sort(sorter, pin, n->count, &n->kept, error));
  bool ignored;
  look(pin, n->kept, made->vertex_count, n->source, &ignored, &ignored, &n->selves);
  return CM_OK;
}

static cm_status take_slice(void *context, size_t i, cm_error *error)
{
  cm_snn_batch *b = context;
  slice *s = &b->slice[i];
  for (uint32_t k = s->begin; k < s->end; k++)
    CM_TRY_IF(b->entry[k].net.count > 0, take_one(b->made, &s->sorter, &b->entry[k], error));
  return CM_OK;
}

/* Slices of about as many pins each. */
static void cut(cm_snn_batch *b, uint64_t first, uint64_t pins, unsigned threads)
{
  uint32_t k = 0;
  b->slices = pins / SLICE_PINS + 1 < threads ? (uint32_t)(pins / SLICE_PINS + 1) : threads;
  for (uint32_t i = 0; i < b->slices; i++) {
    const uint64_t end = first + cm_slice_begin(pins, i + 1, b->slices);
    b->slice[i].begin = k;
    while (k < b->count && (i + 1 == b->slices || b->entry[k].net.pin < end))
      k++;
    b->slice[i].end = k;
  }
}

/* ---- all together ---- */

/* Nets in order, up to one that is wrong; what repeats left free is closed. */
static cm_status keep(cm_snn_reader *r, uint32_t *taken, cm_error *error)
{
  cm_snn_batch *b = r->batch;
  cm_topology *made = r->made;
  for (*taken = 0; *taken < b->count && !b->entry[*taken].wrong; ++*taken) {
    entry *e = &b->entry[*taken];
    if (e->net.count == 0)
      made->empty_net_count++;
    else {
      if (e->net.pin != made->pin_count)
        memmove(made->pin + made->pin_count, made->pin + e->net.pin, e->net.kept * sizeof *made->pin);
      e->net.pin = made->pin_count;
      CM_TRY(cm_snn_keep(r, &e->net, error));
    }
    r->source->at = behind(e);
  }
  return CM_OK;
}

cm_status cm_snn_batch_take(cm_snn_reader *r, uint32_t most, uint32_t *taken, cm_error *error)
{
  cm_snn_batch *b = r->batch;
  const uint64_t first = r->made->pin_count;
  uint64_t pin = first;
  *taken = 0;
  entry whole;
  CM_TRY_IF(!look_at(r, r->source->at, pin, &whole), cm_source_fill(r->source, error));
  const uint8_t *at = r->source->at;
  for (b->count = 0; b->count < most && b->count < NETS_MOST && look_at(r, at, pin, &b->entry[b->count]); b->count++) {
    at = behind(&b->entry[b->count]);
    pin += b->entry[b->count].net.count;
  }
  if (b->count == 0)
    return CM_OK;
  CM_TRY(CM_ROOM(r->memory, r->made->pin, &r->pin_room, pin, error));
  b->made = r->made;
  cut(b, first, pin - first, threads_of(r));
  CM_TRY(cm_thread_pool_run(b->pool, b->slices, take_slice, b, error));
  return keep(r, taken, error);
}
