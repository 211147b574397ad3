#include "core/partition/axon/net_sample.h"

#include "base/random.h"
#include "core/partition/options.h"

bool cm_net_sample_suits(const cm_hypergraph *g)
{
  return g->reach_max == 0 && cm_hypergraph_reaches_many(g) && g->pin_count >= (uint64_t)CM_MANY * g->vertex_count;
}

/* The number of nets that weigh threshold / m or more: weights fall. */
static uint32_t heavier(const cm_hypergraph *g, uint64_t threshold, uint32_t m)
{
  uint32_t low = 0, high = g->net_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if ((uint64_t)g->net_weight[middle] * m >= threshold)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Where the nets end of which one of m is kept: those that weigh threshold / m or more, and all for the largest m. */
static uint32_t end_of_class(const cm_hypergraph *g, uint64_t threshold, uint32_t m, uint32_t most)
{
  return m < most ? heavier(g, threshold, m) : g->net_count;
}

/* The nets that are kept of all. */
static uint64_t kept_nets(const cm_hypergraph *g, uint64_t threshold, uint32_t most)
{
  uint64_t kept = 0;
  for (uint32_t m = 1, begin = 0; m <= most; m++) {
    uint32_t end = end_of_class(g, threshold, m, most);
    kept += (end - begin + m - 1) / m;
    begin = end;
  }
  return kept;
}

/* The weight from which on nets stay, so that up to so many are kept. */
static uint64_t find_threshold(const cm_hypergraph *g, uint64_t wanted, uint32_t most)
{
  uint64_t low = 0, high = (uint64_t)(g->net_count > 0 ? g->net_weight[0] : 0) * most + 1;
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (kept_nets(g, middle, most) > wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return high;
}

/* Nets that are alike, of which one is drawn. */
typedef struct group {
  uint32_t net[CM_NET_AXONS_MAX], count;
} group;

static void draw(const cm_hypergraph *g, group *from, unsigned shift, cm_random *random, cm_net_sample *sample)
{
  if (from->count == 0)
    return;
  uint32_t net = from->net[cm_random_below(random, from->count)];
  sample->net[sample->count] = net;
  sample->weight[sample->count] = (uint32_t)((uint64_t)g->net_weight[net] * from->count >> shift);
  sample->axons[sample->count++] = (uint8_t)from->count;
  from->count = 0;
}

/* Nothing but its own nets tells where a source without inputs belongs. */
static bool stays(const cm_hypergraph *g, uint32_t net)
{
  return g->synapses[g->net_source[net]] == 0;
}

static void draw_all(const cm_hypergraph *g, uint64_t threshold, uint32_t most, cm_random *random, cm_net_sample *sample)
{
  unsigned shift = 0; /* what a net stands for weighs less than this and itself */
  while ((threshold + (g->net_count > 0 ? g->net_weight[0] : 0)) >> shift > UINT32_MAX)
    shift++;
  for (uint32_t m = 1, e = 0; m <= most; m++) {
    group open = {.count = 0};
    for (uint32_t end = end_of_class(g, threshold, m, most); e < end; e++) {
      group alone = {.net = {e}, .count = 1};
      if (stays(g, e)) {
        draw(g, &alone, shift, random, sample);
        continue;
      }
      open.net[open.count++] = e;
      if (open.count == m)
        draw(g, &open, shift, random, sample);
    }
    draw(g, &open, shift, random, sample);
  }
}

cm_status cm_net_sample_draw(const cm_hypergraph *g, uint32_t one_of, uint64_t seed, cm_run *run, cm_net_sample *sample,
                             cm_error *error)
{
  uint32_t most = 2 * one_of;
  uint64_t threshold = find_threshold(g, g->net_count / one_of, most);
  size_t room = (size_t)kept_nets(g, threshold, most);
  for (uint32_t e = 0; e < g->net_count; e++)
    room += stays(g, e);
  *sample = (cm_net_sample){0};
  CM_TRY(CM_NEW(run->memory, sample->net, room, error));
  CM_TRY(CM_NEW(run->memory, sample->weight, room, error));
  CM_TRY(CM_NEW(run->memory, sample->axons, room, error));
  cm_random random;
  cm_random_init(&random, seed, CM_STREAM_SAMPLE, 0);
  draw_all(g, threshold, most, &random, sample);
  return CM_OK;
}

void cm_net_sample_clear(cm_net_sample *sample)
{
  CM_FREE(sample->net, sample->weight, sample->axons);
  *sample = (cm_net_sample){0};
}
