/* Force-directed swaps for any number of parts: no tables, a swap is judged from the rows of its two parts. */
#include <math.h>

#include "core/placement/swaps.h"
#include "core/placement/qap/qap.h"

#define NOBODY UINT32_MAX

typedef struct field {
  const cm_graph *parts;
  const cm_axes *axes;
  const cm_chip *chip;
  const cm_region *region;
  uint32_t *at;       /* [parts] number of the core in the region */
  uint32_t *occupant; /* [box] part on each core of the region's box */
} field;

static uint32_t cell(const field *f, uint32_t number)
{
  uint32_t core = f->region->cores[number];
  return (core / f->chip->width - f->region->y0) * f->region->width + core % f->chip->width - f->region->x0;
}

/* What part u pays on core `there`, part `other` standing on u's core then. */
static int64_t pays(const field *f, uint32_t u, uint32_t there, uint32_t other)
{
  const cm_graph *g = f->parts;
  const cm_axes *a = f->axes;
  const uint32_t *dx = a->dx + (size_t)a->column[there] * a->columns, *dy = a->dy + (size_t)a->row[there] * a->rows;
  int64_t sum = 0;
  for (uint64_t i = g->first[u]; i < g->first[u + 1]; i++) {
    uint32_t v = g->neighbour[i], core = v == other ? f->at[u] : f->at[v];
    sum += (int64_t)g->weight[i] * (dx[a->column[core]] + dy[a->row[core]]);
  }
  return sum;
}

/* Where those that u talks to are on average, as a cell of the box. */
static void centre(const field *f, uint32_t u, double *x, double *y)
{
  const cm_graph *g = f->parts;
  double weight = 0;
  *x = *y = 0;
  for (uint64_t i = g->first[u]; i < g->first[u + 1]; i++) {
    uint32_t c = cell(f, f->at[g->neighbour[i]]);
    double w = (double)g->weight[i];
    *x += w * (c % f->region->width);
    *y += w * (c / f->region->width);
    weight += w;
  }
  if (weight > 0) {
    *x /= weight;
    *y /= weight;
  }
}

/* The best swap for u on its way to the centre of its neighbours; NOBODY when none gains. */
static uint32_t find_partner(const field *f, uint32_t u, int64_t *gain)
{
  uint32_t here = cell(f, f->at[u]), best = NOBODY;
  double cx, cy, x0 = here % f->region->width, y0 = here / f->region->width;
  centre(f, u, &cx, &cy);
  double reach = fmax(fabs(cx - x0), fabs(cy - y0));
  int64_t own = pays(f, u, f->at[u], NOBODY);
  *gain = 0;
  for (double step = reach, last = -1; step > 0.25; step /= 2) {
    double x = round(x0 + (cx - x0) * step / reach), y = round(y0 + (cy - y0) * step / reach);
    uint32_t there = (uint32_t)y * f->region->width + (uint32_t)x, v = f->occupant[there];
    if (there == here || (double)there == last || v == NOBODY)
      continue;
    last = there;
    int64_t saved = own + pays(f, v, f->at[v], NOBODY) - pays(f, u, f->at[v], v) - pays(f, v, f->at[u], u);
    if (saved > *gain) {
      *gain = saved;
      best = v;
    }
  }
  return best;
}

static cm_status refine(field *f, uint32_t rounds_max, cm_run *run, cm_swaps_result *made, cm_error *error)
{
  uint64_t cost = cm_axes_cost(f->parts, f->axes, f->at);
  *made = (cm_swaps_result){0};
  for (uint64_t gained = cost; made->rounds < rounds_max && gained > 0 && gained >= cost / 1000; made->rounds++) {
    gained = 0;
    for (uint32_t u = 0; u < f->parts->vertex_count; u++) {
      int64_t gain;
      uint32_t v = find_partner(f, u, &gain);
      if (v != NOBODY) {
        uint32_t core = f->at[u];
        f->at[u] = f->at[v];
        f->at[v] = core;
        f->occupant[cell(f, f->at[u])] = u;
        f->occupant[cell(f, core)] = v;
        gained += (uint64_t)gain;
        made->swaps++;
      }
      if (u % 256 == 0 && cm_run_progress(run, (made->rounds + (double)u / f->parts->vertex_count) / rounds_max, -1,
                                          f->parts->vertex_count, (double)cost, error) != CM_OK)
        return error->status;
    }
    cost -= gained;
  }
  return CM_OK;
}

cm_status cm_place_by_swaps(const cm_graph *parts, const cm_place_task *task, uint32_t rounds_max, uint32_t *at,
                            cm_swaps_result *result, cm_error *error)
{
  field f = {.parts = parts, .axes = task->axes, .chip = task->chip, .region = task->region, .at = at};
  size_t box = (size_t)f.region->width * f.region->height;
  CM_TRY(CM_NEW(task->run->memory, f.occupant, box, error));
  for (size_t c = 0; c < box; c++)
    f.occupant[c] = NOBODY;
  for (uint32_t u = 0; u < parts->vertex_count; u++)
    f.occupant[cell(&f, at[u])] = u;
  cm_status status = refine(&f, rounds_max, task->run, result, error);
  cm_free(f.occupant);
  return status;
}
