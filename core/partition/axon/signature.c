#include "core/partition/axon/signature.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/threads.h"

enum { LENGTH = 8, PASSES = 3 };

typedef struct vector {
  float x[LENGTH];
} vector;

typedef struct signatures {
  const cm_synapses *synapses;
  cm_run *run;
  uint32_t n;
  vector *old, *new; /* [n] */
  uint32_t *order;
} signatures;

static uint32_t border(const signatures *s, size_t slice)
{
  return (uint32_t)cm_slice_begin(s->n, slice, CM_SLICES);
}

/* The sum of the sources' vectors. */
static cm_status sum_slice(void *context, size_t slice, cm_error *error)
{
  signatures *s = context;
  const cm_inbound *in = &s->synapses->in;
  for (uint32_t v = border(s, slice); v < border(s, slice + 1); v++) {
    vector sum = {{0}};
    for (uint64_t i = in->first[v]; i < in->first[v + 1]; i++) {
      const vector *source = &s->old[cm_inbound_source(in, i)];
      for (int k = 0; k < LENGTH; k++)
        sum.x[k] += source->x[k];
    }
    s->new[v] = sum;
  }
  return cm_run_check(s->run, error);
}

static void centre(signatures *s)
{
  double mean[LENGTH] = {0};
  for (uint32_t v = 0; v < s->n; v++)
    for (int k = 0; k < LENGTH; k++)
      mean[k] += (double)s->new[v].x[k] / s->n;
  for (uint32_t v = 0; v < s->n; v++) {
    double square = 0;
    vector *x = &s->new[v];
    for (int k = 0; k < LENGTH; k++) {
      x->x[k] -= (float)mean[k];
      square += (double)x->x[k] * x->x[k];
    }
    float scale = square > 0 ? (float)(1 / sqrt(square)) : 0;
    for (int k = 0; k < LENGTH; k++)
      x->x[k] *= scale;
  }
}

/* The coordinate that varies most among order[begin .. end - 1], and its mean. */
static int widest(const signatures *s, uint32_t begin, uint32_t end, double *mean)
{
  double sum[LENGTH] = {0}, square[LENGTH] = {0}, most = -1;
  int best = 0;
  for (uint32_t i = begin; i < end; i++)
    for (int k = 0; k < LENGTH; k++) {
      double x = s->new[s->order[i]].x[k];
      sum[k] += x;
      square[k] += x * x;
    }
  for (int k = 0; k < LENGTH; k++) {
    double variance = square[k] - sum[k] * sum[k] / (end - begin);
    if (variance > most) {
      most = variance;
      best = k;
    }
  }
  *mean = sum[best] / (end - begin);
  return best;
}

/* Those below the mean first; both halves alike. `scratch` [n]. */
static void arrange(signatures *s, uint32_t begin, uint32_t end, uint32_t *scratch)
{
  double mean;
  if (end - begin < 2)
    return;
  int k = widest(s, begin, end, &mean);
  uint32_t low = begin, high = 0;
  for (uint32_t i = begin; i < end; i++) {
    uint32_t v = s->order[i];
    if (s->new[v].x[k] < mean)
      s->order[low++] = v;
    else
      scratch[high++] = v;
  }
  memcpy(s->order + low, scratch, high * sizeof *scratch);
  if (low == begin || low == end)
    return;
  arrange(s, begin, low, scratch);
  arrange(s, low, end, scratch);
}

static cm_status make_signatures(signatures *s, uint64_t seed, cm_error *error)
{
  for (uint32_t v = 0; v < s->n; v++) {
    uint64_t bits = cm_mix(seed + v * UINT64_C(0x9e3779b97f4a7c15));
    for (int k = 0; k < LENGTH; k++)
      s->new[v].x[k] = bits >> k & 1 ? 1 : -1;
  }
  for (int pass = 0; pass < PASSES; pass++) {
    vector *held = s->old;
    s->old = s->new;
    s->new = held;
    CM_TRY(cm_parallel(s->run, CM_SLICES, sum_slice, s, error));
    centre(s);
  }
  return CM_OK;
}

cm_status cm_order_by_sources(const cm_synapses *synapses, uint64_t seed, cm_run *run, uint32_t *order,
                              cm_error *error)
{
  uint32_t n = synapses->demand->network->vertex_count, *scratch = NULL;
  signatures s = {.synapses = synapses, .run = run, .n = n, .order = order};
  cm_status status = CM_NEW(run->memory, s.old, n, error);
  CM_THEN(status, CM_NEW(run->memory, s.new, n, error));
  CM_THEN(status, CM_NEW(run->memory, scratch, n, error));
  CM_THEN(status, make_signatures(&s, seed, error));
  if (status == CM_OK) {
    for (uint32_t v = 0; v < n; v++)
      order[v] = v;
    arrange(&s, 0, n, scratch);
  }
  CM_FREE(s.old, s.new, scratch);
  return status;
}
