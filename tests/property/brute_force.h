/* The least time of tiny models on tiny chips, by trying every schedule: the judge of the bound on time.
 *
 * A model is layers of [1, channels, 1, width]; every way to cut every layer in a grid is tried, and of each every schedule
 * of pieces, loads and stores on lanes, with whatever is thrown out of the memory whenever. Only parameters fill the
 * memory, which allows more than any program has. A device lies on a core; what is done there is known on another after the
 * way between. Nothing here is the library's: what a piece reads, does and takes is said
 * once more. Time is in quarters of a nanosecond, so that all of it is whole. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { LAYERS = 4, DEVICES = 4, TASKS = 12, ITEMS = 8, BEGUN = 8, RUNNING = 3 * BEGUN, ARRIVES = 64, SEEN = 1 << 15, QUARTERS = 4, PATIENCE = 200000 };

typedef enum { TINY_INPUT, TINY_CONV, TINY_POOL, TINY_RELU, TINY_ADD, TINY_SLICE } tiny_kind;
typedef enum { ON_PORT, ON_MATRIX, ON_VECTOR, ON_KINDS } tiny_lane;

typedef struct tiny_layer {
  tiny_kind kind;
  int from[2]; /* layers that it reads */
  int channels, width, kernel, stride, pad, after; /* pads before and after the row; of a slice, which is always read, its start */
  bool read; /* by another; else it is an output */
} tiny_layer;

typedef struct tiny_device {
  int lanes, latency; /* ns */
  int rate[ON_KINDS]; /* operations or bytes a nanosecond; 0: it cannot */
  int at;             /* its core, of a row */
} tiny_device;

typedef struct tiny {
  tiny_layer layer[LAYERS];
  int layers;
  tiny_device device[DEVICES];
  int devices, issue, memory;
  int grain;    /* parameters come 0: a piece's at once, 1: filter by filter, 2: in halves of a filter */
  bool columns; /* the input comes column by column */
  int link, router; /* ns of a link and of a router; with hops memory is never short */
  bool far;         /* bytes go the way of the flag too: there is no memory that all cores share */
} tiny;

typedef struct brute_seen {
  uint32_t used, begun, items, known[DEVICES], has[DEVICES]; /* by which cut */
  uint64_t running[RUNNING];
  int64_t at;
} brute_seen;

typedef struct brute {
  int tasks, items, devices, memory, item_bytes_all;
  uint32_t all, needs[TASKS], reads[TASKS]; /* by task: tasks before it; items */
  int64_t ns[TASKS + ITEMS][DEVICES];       /* quarters; 0: not on this device */
  int64_t least[TASKS + ITEMS], tail[TASKS]; /* on its fastest device; with what has to follow it */
  int lanes[DEVICES];
  int64_t way[DEVICES][DEVICES]; /* quarters, from core to core */
  uint32_t cut; /* the number of this cut among all that were tried */
  int bytes[ITEMS];
  int64_t best;
  brute_seen *seen; /* SEEN */
  uint64_t *patience; /* states that may still be looked at */
} brute;

typedef struct brute_state {
  uint32_t begun, done, here, coming; /* tasks, tasks, items, items */
  uint32_t known[DEVICES], has[DEVICES]; /* of the second and the third, what is known on a device's core */
  int idle[DEVICES], running;
  struct {
    int32_t end;
    int16_t what, device;
  } run[RUNNING];
} brute_state;

/* ---- schedules ---- */

static int brute_held(const brute *b, uint32_t items)
{
  int bytes = 0;
  for (int i = 0; i < b->items; i++)
    bytes += items >> i & 1 ? b->bytes[i] : 0;
  return bytes;
}

/* Items that pieces not begun will read; and that pieces under way do. */
static uint32_t brute_wanted(const brute *b, const brute_state *s)
{
  uint32_t wanted = 0;
  for (int t = 0; t < b->tasks; t++)
    wanted |= s->begun >> t & 1 ? 0 : b->reads[t];
  return wanted;
}

static uint32_t brute_in_use(const brute *b, const brute_state *s)
{
  uint32_t used = 0;
  for (int r = 0; r < s->running; r++)
    used |= s->run[r].what < TASKS ? b->reads[s->run[r].what] : 0;
  return used;
}

/* True when the same state was met at the same time or earlier. */
static bool brute_known(brute *b, const brute_state *s, int64_t now)
{
  brute_seen key;
  memset(&key, 0, sizeof key);
  key.used = b->cut;
  key.begun = s->begun;
  key.items = s->here | s->coming << ITEMS;
  memcpy(key.known, s->known, sizeof key.known);
  memcpy(key.has, s->has, sizeof key.has);
  for (int r = 0; r < s->running; r++) {
    uint64_t entry = (uint64_t)(s->run[r].end - now) << 16 | (uint64_t)s->run[r].what << 8 | (uint64_t)s->run[r].device;
    int k = r;
    for (; k > 0 && key.running[k - 1] > entry; k--)
      key.running[k] = key.running[k - 1];
    key.running[k] = entry;
  }
  uint64_t hash = key.begun * UINT64_C(0x9e3779b97f4a7c15) ^ key.items * UINT64_C(0xc2b2ae3d27d4eb4f);
  for (int r = 0; r < RUNNING; r++)
    hash = (hash ^ key.running[r]) * UINT64_C(0xff51afd7ed558ccd) + (hash >> 29);
  for (uint64_t at = hash >> 40, tried = 0; tried < 32; at++, tried++) {
    brute_seen *slot = &b->seen[at % SEEN];
    key.at = slot->at;
    if (slot->used == b->cut && memcmp(slot, &key, sizeof key) != 0)
      continue;
    if (slot->used == b->cut && slot->at <= now)
      return true;
    key.at = now;
    *slot = key;
    return false;
  }
  return false; /* no room to remember */
}

static void brute_begin(const brute *b, brute_state *s, int64_t now, int what, int device)
{
  s->idle[device]--;
  s->run[s->running].end = (int32_t)(now + b->ns[what][device]);
  s->run[s->running].what = (int16_t)what;
  s->run[s->running++].device = (int16_t)device;
  if (what < TASKS)
    s->begun |= UINT32_C(1) << what;
  else
    s->coming |= UINT32_C(1) << (what - TASKS);
}

/* What was done on a device is known on cores that are as near as that, and later on others. */
static void brute_tell(const brute *b, brute_state *s, int64_t now, int what, int device)
{
  for (int d = 0; d < b->devices; d++)
    if (b->way[device][d] > 0) {
      s->run[s->running].end = (int32_t)(now + b->way[device][d]);
      s->run[s->running].what = (int16_t)(what + ARRIVES);
      s->run[s->running++].device = (int16_t)d;
    } else if (what < TASKS)
      s->known[d] |= UINT32_C(1) << what;
    else
      s->has[d] |= UINT32_C(1) << (what - TASKS);
}

/* What ends next ends. */
static int64_t brute_advance(const brute *b, brute_state *s)
{
  int64_t now = INT32_MAX;
  for (int r = 0; r < s->running; r++)
    now = s->run[r].end < now ? s->run[r].end : now;
  for (int r = 0; r < s->running;) {
    if (s->run[r].end > now) {
      r++;
      continue;
    }
    const int what = s->run[r].what, device = s->run[r].device;
    s->run[r] = s->run[--s->running];
    if (what >= ARRIVES) {
      *(what < ARRIVES + TASKS ? &s->known[device] : &s->has[device]) |= UINT32_C(1) << (what < ARRIVES + TASKS ? what - ARRIVES : what - ARRIVES - TASKS);
      continue;
    }
    s->idle[device]++;
    if (what < TASKS)
      s->done |= UINT32_C(1) << what;
    else {
      s->coming &= ~(UINT32_C(1) << (what - TASKS));
      s->here |= UINT32_C(1) << (what - TASKS);
    }
    brute_tell(b, s, now, what, device);
  }
  s->here &= brute_wanted(b, s) | brute_in_use(b, s);
  return now;
}

/* What is left can be done no earlier than this: so much is on one chain, or on the lanes of one device and those that do
 * the same. */
static int64_t brute_hope(const brute *b, const brute_state *s, uint32_t wanted)
{
  int64_t most = 0, sum[DEVICES] = {0};
  uint32_t missing = wanted & ~(s->here | s->coming);
  for (int what = 0; what < TASKS + b->items; what++) {
    if (what < TASKS ? what >= b->tasks || s->begun >> what & 1 : !(missing >> (what - TASKS) & 1))
      continue;
    if (what < TASKS)
      most = b->tail[what] > most ? b->tail[what] : most;
    for (int d = 0; d < b->devices; d++)
      if (b->ns[what][d] > 0) {
        sum[d] += b->least[what];
        break;
      }
  }
  for (int d = 0; d < b->devices; d++) {
    int64_t share = sum[d] / (b->lanes[d] + (d > 0 && b->devices > 3 ? b->lanes[3] : 0));
    most = share > most ? share : most;
  }
  return most;
}

/* At a time: throw out items, begin loads, begin tasks, each in the order of their numbers from `from` on; then go to the
 * time when something ends. Beginnings need no other times: what begins later can begin earlier. */
static void brute_try(brute *b, const brute_state *s, int64_t now, int from)
{
  if (now >= b->best || *b->patience == 0)
    return;
  --*b->patience;
  if (s->done == UINT32_MAX) {
    b->best = now;
    return;
  }
  uint32_t wanted = brute_wanted(b, s), in_use = brute_in_use(b, s), there = s->here | s->coming;
  if (now + brute_hope(b, s, wanted) >= b->best)
    return;
  int actions = b->items + (b->items + b->tasks) * b->devices, room = b->memory - brute_held(b, there);
  for (int a = from; a < actions && s->running < BEGUN; a++) {
    brute_state next = *s;
    if (a < b->items) {
      uint32_t item = UINT32_C(1) << a;
      if (b->item_bytes_all <= b->memory || !(s->here & item) || in_use & item)
        continue;
      next.here &= ~item;
      brute_try(b, &next, now, a + 1);
      continue;
    }
    int what = (a - b->items) / b->devices, device = (a - b->items) % b->devices;
    bool load = what < b->items;
    what = load ? TASKS + what : what - b->items;
    uint32_t bit = UINT32_C(1) << (load ? what - TASKS : what);
    if (s->idle[device] == 0 || b->ns[what][device] == 0)
      continue;
    if (load ? (there & bit) || !(wanted & bit) || b->bytes[what - TASKS] > room
             : (s->begun & bit) || (b->needs[what] & ~s->known[device]) || (b->reads[what] & ~(s->here & s->has[device])))
      continue;
    brute_begin(b, &next, now, what, device);
    brute_try(b, &next, now, a + 1);
  }
  if (s->running > 0) {
    brute_state next = *s;
    int64_t then = brute_advance(b, &next);
    if (then < b->best && !brute_known(b, &next, then))
      brute_try(b, &next, then, 0);
  }
}

/* ---- from a model and a cut to tasks ---- */

typedef struct brute_cut {
  int channels[LAYERS], width[LAYERS]; /* of a tile */
} brute_cut;

static int tiles(int extent, int step)
{
  return (extent + step - 1) / step;
}

static void set_time(const tiny *m, brute *b, int what, tiny_lane kind, int amount)
{
  for (int d = 0; d < m->devices; d++)
    if (m->device[d].rate[kind] > 0)
      b->ns[what][d] = QUARTERS * (m->issue + m->device[d].latency) + (QUARTERS * amount + m->device[d].rate[kind] - 1) / m->device[d].rate[kind];
}

/* The pieces of a layer that make any of channels [c0, c1) and columns [w0, w1). */
static uint32_t makers(const tiny *m, const brute_cut *cut, const int *first, int layer, int c0, int c1, int w0, int w1)
{
  const tiny_layer *l = &m->layer[layer];
  if (l->kind == TINY_SLICE) /* nobody makes it: it is a part of what it reads */
    return makers(m, cut, first, l->from[0], c0, c1, (w0 < 0 ? 0 : w0) + l->pad, (w1 < l->width ? w1 : l->width) + l->pad);
  int across = tiles(l->width, cut->width[layer]);
  uint32_t mask = 0;
  for (int c = 0; c < l->channels; c++)
    for (int w = w0 < 0 ? 0 : w0; w < w1 && w < l->width; w++)
      if (c >= c0 && c < c1)
        mask |= UINT32_C(1) << (first[layer] + c / cut->channels[layer] * across + w / cut->width[layer]);
  return mask;
}

/* The items with the parameters of filters [c0, c1) of a layer; made when they are new. CM_NONE where there are too many. */
static uint32_t parameters(const tiny *m, brute *b, int *first_item, int layer, int step, int c0, int c1)
{
  const tiny_layer *l = &m->layer[layer];
  int filter = m->layer[l->from[0]].channels * l->kernel * 4, parts = m->grain == 2 ? 2 : 1;
  int each = m->grain == 0 ? step : 1, count = tiles(l->channels, each) * parts;
  uint32_t mask = 0;
  if (first_item[layer] < 0) {
    first_item[layer] = b->items;
    if (b->items + count > ITEMS)
      return UINT32_MAX;
    for (int i = 0; i < count; i++, b->items++) {
      int from = i / parts * each, filters = from + each > l->channels ? l->channels - from : each;
      b->bytes[b->items] = filters * filter / parts;
      b->item_bytes_all += b->bytes[b->items];
      set_time(m, b, TASKS + b->items, ON_PORT, b->bytes[b->items]);
    }
  }
  for (int i = 0; i < count; i++)
    if (i / parts * each >= c0 - c0 % each && i / parts * each < c1)
      mask |= UINT32_C(1) << (first_item[layer] + i);
  return mask;
}

/* False when there are more tasks than are looked at. */
static bool make_tasks(const tiny *m, const brute_cut *cut, brute *b)
{
  int first[LAYERS], first_item[LAYERS];
  for (int k = 0; k < m->layers; k++) {
    const tiny_layer *l = &m->layer[k];
    first[k] = b->tasks;
    first_item[k] = -1;
    for (int c = 0; c < l->channels && l->kind != TINY_SLICE; c += cut->channels[k])
      for (int w = 0; w < l->width; w += cut->width[k]) {
        int c1 = c + cut->channels[k] < l->channels ? c + cut->channels[k] : l->channels,
            w1 = w + cut->width[k] < l->width ? w + cut->width[k] : l->width, made = (c1 - c) * (w1 - w), t = b->tasks++;
        if (t == TASKS)
          return false;
        if (l->kind == TINY_INPUT) {
          set_time(m, b, t, ON_PORT, made * 4);
          continue;
        }
        const tiny_layer *x = &m->layer[l->from[0]];
        const bool conv = l->kind == TINY_CONV, all = made == l->channels * l->width, window = conv || l->kind == TINY_POOL;
        set_time(m, b, t, conv ? ON_MATRIX : ON_VECTOR, made * (conv ? x->channels * l->kernel : window ? l->kernel : 1));
        b->needs[t] = makers(m, cut, first, l->from[0], conv ? 0 : c, conv ? x->channels : c1,
                             window ? w * l->stride - l->pad : w, /* what makes all reads all */
                             window && all ? x->width : window ? (w1 - 1) * l->stride - l->pad + l->kernel : w1);
        if (l->kind == TINY_ADD)
          b->needs[t] |= makers(m, cut, first, l->from[1], c, c1, w, w1);
        if (conv && (b->reads[t] = parameters(m, b, first_item, k, cut->channels[k], c, c1)) == UINT32_MAX)
          return false;
      }
  }
  const int stores = b->tasks;
  for (int k = 1, pieces = stores; k < m->layers; k++) /* outputs go out piece by piece */
    for (int t = first[k]; !m->layer[k].read && t < (k + 1 < m->layers ? first[k + 1] : pieces); t++) {
      const tiny_layer *l = &m->layer[k];
      int across = tiles(l->width, cut->width[k]), c = (t - first[k]) / across * cut->channels[k],
          w = (t - first[k]) % across * cut->width[k], s = b->tasks++;
      if (s == TASKS)
        return false;
      int c1 = c + cut->channels[k] < l->channels ? c + cut->channels[k] : l->channels,
          w1 = w + cut->width[k] < l->width ? w + cut->width[k] : l->width;
      set_time(m, b, s, ON_PORT, (c1 - c) * (w1 - w) * 4);
      b->needs[s] = UINT32_C(1) << t;
    }
  /* What no output needs is never done: rows between the windows of a stride. */
  for (int t = b->tasks; t-- > 0;) {
    bool output = t >= stores;
    b->all |= output || b->all >> t & 1 ? UINT32_C(1) << t : 0;
    b->all |= b->all >> t & 1 ? b->needs[t] : 0;
  }
  for (int t = 0; t < b->tasks; t++)
    b->reads[t] = b->all >> t & 1 ? b->reads[t] : 0;
  return true;
}

static void make_hopes(const tiny *m, brute *b)
{
  for (int d = 0; d < m->devices; d++)
    b->lanes[d] = m->device[d].lanes;
  for (int what = TASKS + b->items; what-- > 0;) {
    for (int d = 0; d < m->devices; d++)
      if (b->ns[what][d] > 0 && (b->least[what] == 0 || b->ns[what][d] < b->least[what]))
        b->least[what] = b->ns[what][d];
    if (what >= TASKS)
      continue;
    for (int t = 0; t < b->tasks; t++) /* what follows has a higher number */
      if (b->needs[t] >> what & 1 && b->tail[t] > b->tail[what])
        b->tail[what] = b->tail[t];
    b->tail[what] += b->least[what];
  }
}

/* The least time of one cut, INT64_MAX where there is none below `best`. */
static int64_t brute_of_cut(const tiny *m, const brute_cut *cut, int64_t best, brute_seen *seen, uint32_t number, uint64_t *patience)
{
  brute b = {.devices = m->devices, .memory = m->memory, .best = best, .seen = seen, .cut = number, .patience = patience};
  brute_state s = {0};
  if (!make_tasks(m, cut, &b))
    return INT64_MAX;
  make_hopes(m, &b);
  s.begun = s.done = ~b.all;
  for (int d = 0; d < m->devices; d++) {
    s.idle[d] = m->device[d].lanes;
    s.known[d] = s.done;
    for (int e = 0; e < m->devices; e++) {
      const int links = m->device[d].at > m->device[e].at ? m->device[d].at - m->device[e].at : m->device[e].at - m->device[d].at;
      b.way[d][e] = links == 0 ? 0 : QUARTERS * (m->far ? 2 : 1) * (links * m->link + (links + 1) * m->router);
    }
  }
  brute_try(&b, &s, 0, 0);
  return b.best;
}

/* The least time of all cuts with few enough pieces, in quarters of a nanosecond; INT64_MAX: the memory never suffices, or there are
 * too many schedules to try all.
 * `seen` has room for SEEN and begins as zeros, `cuts` as 0. */
static int64_t brute_min(const tiny *m, brute_seen *seen, uint32_t *cuts)
{
  int64_t best = INT64_MAX;
  uint64_t patience = PATIENCE;
  int ways = 1;
  for (int k = 1; k < m->layers; k++)
    ways *= m->layer[k].kind == TINY_SLICE ? 1 : m->layer[k].channels * m->layer[k].width;
  for (int way = 0; way < ways; way++) {
    brute_cut cut = {.channels = {m->layer[0].channels}, .width = {m->columns ? 1 : m->layer[0].width}};
    int rest = way;
    for (int k = 1; k < m->layers; k++) {
      if (m->layer[k].kind == TINY_SLICE)
        continue;
      cut.channels[k] = 1 + rest % m->layer[k].channels;
      rest /= m->layer[k].channels;
      cut.width[k] = 1 + rest % m->layer[k].width;
      rest /= m->layer[k].width;
    }
    int64_t found = brute_of_cut(m, &cut, best, seen, ++*cuts, &patience);
    best = found < best ? found : best;
  }
  return patience > 0 ? best : INT64_MAX;
}
