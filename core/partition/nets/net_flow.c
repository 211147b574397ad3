#include "core/partition/nets/net_flow.h"

#include "core/partition/nets/net_flow_region.h"
#include "core/partition/options.h"

typedef struct work {
  cm_net_state *state;
  cm_net_region region;
} work;

static uint32_t ties(const void *context, uint32_t v)
{
  const cm_net_state *s = ((const work *)context)->state;
  return cm_net_on_border(s, v) ? s->tie_count[v] : 0;
}

static int64_t tie_at(const void *context, uint32_t v, uint32_t i, uint32_t *part)
{
  const cm_net_state *s = ((const work *)context)->state;
  const cm_net_tie *t = &s->tie[s->tie_first[v] + i];
  *part = t->part;
  return t->weight;
}

static int64_t tie(const void *context, uint32_t v, uint32_t part)
{
  const cm_net_state *s = ((const work *)context)->state;
  for (uint32_t i = 0; i < s->tie_count[v]; i++)
    if (s->tie[s->tie_first[v] + i].part == part)
      return s->tie[s->tie_first[v] + i].weight;
  return 0;
}

static void begin(void *context)
{
  cm_net_region_begin(&((work *)context)->region);
}

static void spread(void *context, unsigned side, uint32_t v, uint32_t depth, bool farther)
{
  cm_net_region_spread(&((work *)context)->region, side, v, depth, farther);
}

static cm_status network(void *context, cm_error *error)
{
  return cm_net_region_network(&((work *)context)->region, error);
}

static int64_t move(void *context, uint32_t v, uint32_t to)
{
  cm_net_state *s = ((work *)context)->state;
  int64_t gain = cm_net_gain(s, v, to);
  cm_net_forget_touched(s);
  cm_net_move(s, v, to);
  return gain;
}

cm_status cm_net_flow(cm_net_state *state, const cm_flow_options *options, cm_run *run, int64_t *gain, cm_error *error)
{
  work w = {.state = state};
  const cm_net_graph *g = state->graph;
  cm_flow_view view = {.context = &w, .vertices = g->vertex_count, .parts = state->parts, .size_total = g->size_total,
                       .part = state->part, .load = state->load, .region = &w.region.base, .ties = ties, .tie_at = tie_at, .tie = tie,
                       .begin = begin, .spread = spread, .network = network, .move = move};
  cm_random_init(&view.random, options->seed, CM_STREAM_NETS_FLOW, options->stream);
  cm_status status = cm_net_region_new(state, run, &w.region, error);
  CM_THEN(status, cm_flow_refine(&view, options, run, gain, error));
  cm_net_region_free(&w.region);
  return status;
}
