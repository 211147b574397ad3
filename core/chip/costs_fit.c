/* Happy path: the busiest core of each step by the prices at hand, least squares of its counts, again until the cores stay the same. What can fail: prices
 * that the steps do not tell apart; memory. */
#include "core/chip/costs_fit.h"

#include <math.h>

enum { ROUNDS = 40 };

/* What two columns of length 1 may differ by and still be one. */
static const double alike = 1e-5;

typedef struct fit {
  const cm_chip *chip;
  const cm_measured_steps *steps;
  bool fitted[CM_TERMS];
  double *row;   /* [runs * CM_TERMS] counts of each step */
  double length[CM_TERMS];
  double gram[CM_TERMS][CM_TERMS], aim[CM_TERMS]; /* of the normal equations, columns scaled to length 1 */
} fit;

static void prices_of(const cm_costs *c, double price[CM_TERMS])
{
  for (int k = 0; k < CM_CHARGES; k++)
    price[k] = c->charge[k].ns;
  price[CM_TERM_BARRIER] = c->barrier.points == 1 ? c->barrier.ns[0] : 0;
  price[CM_TERM_SPIKE_BETWEEN] = c->barrier.spike_ns;
  price[CM_TERM_PACKET_BETWEEN] = c->barrier.packet_ns;
}

static void set_prices(cm_costs *c, const double price[CM_TERMS])
{
  for (int k = 0; k < CM_CHARGES; k++)
    c->charge[k].ns = price[k];
  if (c->barrier.points == 1)
    c->barrier.ns[0] = price[CM_TERM_BARRIER];
  c->barrier.spike_ns = price[CM_TERM_SPIKE_BETWEEN];
  c->barrier.packet_ns = price[CM_TERM_PACKET_BETWEEN];
}

static bool receives(int charge)
{
  return charge == CM_CHARGE_PACKET_RECEIVED || charge == CM_CHARGE_SYNAPSE;
}

/* Counts of what makes a step's time by these costs. */
static void count(const fit *f, uint32_t run, const cm_costs *costs, double row[CM_TERMS])
{
  const cm_measured_steps *m = f->steps;
  const uint64_t first = m->first[run], end = m->first[run + 1];
  uint64_t busiest = first;
  double most = -1, spikes = 0, packets = 0;
  for (uint64_t k = first; k < end; k++) {
    const double ns = cm_core_ns(costs, cm_receive_ns(costs, &m->core[k]), cm_send_ns(costs, &m->core[k]));
    busiest = ns > most ? k : busiest;
    most = ns > most ? ns : most;
    spikes += m->core[k].count[CM_CHARGE_SPIKE];
    packets += m->core[k].count[CM_CHARGE_PACKET_RECEIVED];
  }
  const cm_core_events *e = &m->core[busiest];
  const bool receiving = cm_receive_ns(costs, e) >= cm_send_ns(costs, e);
  for (int c = 0; c < CM_CHARGES; c++)
    row[c] = !costs->side_by_side || receives(c) == receiving ? e->count[c] : 0;
  row[CM_TERM_BARRIER] = costs->barrier.points == 1;
  row[CM_TERM_SPIKE_BETWEEN] = spikes;
  row[CM_TERM_PACKET_BETWEEN] = end - first > 1 ? packets : 0;
}

static double known_ns(const fit *f, uint32_t run)
{
  const cm_barrier *b = &f->chip->costs.barrier;
  return b->points > 1 ? cm_barrier_ns(b, f->steps->tiles[run]) : 0;
}

static double foresee(const fit *f, uint32_t run, const double row[CM_TERMS], const double price[CM_TERMS])
{
  double ns = known_ns(f, run);
  for (int k = 0; k < CM_TERMS; k++)
    ns += row[k] * price[k];
  return ns;
}

/* ---- least squares ---- */

/* Normal equations of relative errors. */
static void set_up(fit *f, const double price[CM_TERMS])
{
  double held[CM_TERMS];
  memset(f->gram, 0, sizeof f->gram);
  memset(f->aim, 0, sizeof f->aim);
  memset(f->length, 0, sizeof f->length);
  for (int k = 0; k < CM_TERMS; k++)
    held[k] = f->fitted[k] ? 0 : price[k];
  for (int pass = 0; pass < 2; pass++)
    for (uint32_t run = 0; run < f->steps->runs; run++) {
      const double *row = f->row + (size_t)run * CM_TERMS, ns = f->steps->ns[run], left = 1 - foresee(f, run, row, held) / ns;
      for (int i = 0; i < CM_TERMS; i++) {
        const double x = f->fitted[i] ? row[i] / ns : 0;
        if (pass == 0)
          f->length[i] += x * x;
        else if (f->length[i] > 0) {
          f->aim[i] += x / sqrt(f->length[i]) * left;
          for (int j = 0; j < CM_TERMS; j++)
            f->gram[i][j] += f->fitted[j] && f->length[j] > 0 ? x / sqrt(f->length[i]) * row[j] / ns / sqrt(f->length[j]) : 0;
        }
      }
    }
}

/* Solves the equations of the terms in `set` for right-hand side `b` by Cholesky; false: they hang together. */
static bool solve(const fit *f, unsigned set, const double b[CM_TERMS], double x[CM_TERMS])
{
  double l[CM_TERMS][CM_TERMS] = {{0}}, y[CM_TERMS] = {0};
  int at[CM_TERMS] = {0}, n = 0;
  for (int k = 0; k < CM_TERMS; k++) {
    x[k] = 0;
    if (set >> k & 1)
      at[n++] = k;
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) {
      double sum = f->gram[at[i]][at[j]];
      for (int k = 0; k < j; k++)
        sum -= l[i][k] * l[j][k];
      if (i == j && sum < alike * alike)
        return false;
      l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
    }
    y[i] = b[at[i]];
    for (int k = 0; k < i; k++)
      y[i] -= l[i][k] * y[k];
    y[i] /= l[i][i];
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++)
      y[i] -= l[k][i] * x[at[k]];
    x[at[i]] = y[i] / l[i][i];
  }
  return true;
}

static cm_status refuse_alike(const fit *f, unsigned before, int term, cm_error *error)
{
  double x[CM_TERMS];
  char others[160] = "";
  size_t used = 0;
  (void)solve(f, before, f->gram[term], x);
  for (int k = 0; k < CM_TERMS; k++)
    if (fabs(x[k]) > 1e-3)
      used += (size_t)snprintf(others + used, sizeof others - used, "%s%s", used > 0 ? ", " : "", cm_term_name(k));
  return cm_fail(error, CM_BAD_REQUEST, "the runs do not tell the price of %s from that of %s: their counts go together in all %u; add runs in which they do not, or keep one of them", cm_term_name(term),
                 others, f->steps->runs);
}

/* Whether the steps tell all prices apart. */
static cm_status check_apart(const fit *f, cm_error *error)
{
  double x[CM_TERMS];
  unsigned set = 0;
  for (int k = 0; k < CM_TERMS; k++) {
    if (!f->fitted[k])
      continue;
    if (f->length[k] == 0)
      return cm_fail(error, CM_BAD_REQUEST, "no run says what %s costs: it never happens at a core that holds a step up; add runs in which it does, or keep its price", cm_term_name(k));
    if (!solve(f, set | 1u << k, f->aim, x))
      return refuse_alike(f, set, k, error);
    set |= 1u << k;
  }
  return CM_OK;
}

/* The best of all sets of terms whose prices come out positive: few enough to try each. */
static void find_prices(const fit *f, double price[CM_TERMS])
{
  unsigned all = 0;
  double best = 0, x[CM_TERMS], found[CM_TERMS] = {0};
  for (int k = 0; k < CM_TERMS; k++)
    all |= f->fitted[k] ? 1u << k : 0;
  for (unsigned set = all; set > 0; set = (set - 1) & all) {
    double gain = 0; /* squares of errors that it takes away */
    bool fine = solve(f, set, f->aim, x);
    for (int k = 0; k < CM_TERMS; k++) {
      fine = fine && x[k] >= 0;
      gain += x[k] * f->aim[k];
    }
    if (fine && gain > best) {
      best = gain;
      memcpy(found, x, sizeof found);
    }
  }
  for (int k = 0; k < CM_TERMS; k++)
    if (f->fitted[k])
      price[k] = found[k] / sqrt(f->length[k]);
}

/* ---- rounds ---- */

/* Sum of squares of relative errors. */
static double errors_of(const fit *f, const cm_costs *costs)
{
  double row[CM_TERMS], price[CM_TERMS], sum = 0;
  prices_of(costs, price);
  for (uint32_t run = 0; run < f->steps->runs; run++) {
    count(f, run, costs, row);
    const double off = foresee(f, run, row, price) / f->steps->ns[run] - 1;
    sum += off * off;
  }
  return sum;
}

static cm_status fit_costs(fit *f, cm_run *run, cm_costs *costs, cm_error *error)
{
  cm_costs now = *costs, best = *costs;
  double price[CM_TERMS], row[CM_TERMS], least = INFINITY;
  prices_of(&now, price);
  for (int round = 0; round < ROUNDS; round++) {
    bool changed = round == 0;
    for (uint32_t k = 0; k < f->steps->runs; k++) {
      double *at = f->row + (size_t)k * CM_TERMS;
      count(f, k, &now, row);
      for (int i = 0; i < CM_TERMS; i++) {
        changed = changed || at[i] != row[i];
        at[i] = row[i];
      }
    }
    if (!changed)
      break;
    set_up(f, price);
    if (check_apart(f, error) != CM_OK) {
      if (round == 0)
        return error->status;
      break; /* the rounds before have told them apart */
    }
    find_prices(f, price);
    set_prices(&now, price);
    const double left = errors_of(f, &now);
    best = left < least ? now : best;
    least = left < least ? left : least;
    CM_TRY(cm_run_check(run, error));
  }
  *costs = best;
  return CM_OK;
}

static json_t *report_of(const fit *f, const cm_costs *costs)
{
  double was[CM_TERMS], is[CM_TERMS], row[CM_TERMS], most = 0, sum = 0;
  json_t *terms = json_array(), *left = json_array();
  prices_of(&f->chip->costs, was);
  prices_of(costs, is);
  for (int k = 0; k < CM_TERMS; k++)
    if (f->fitted[k])
      (void)json_array_append_new(terms, json_pack("{s:s, s:f, s:f}", "price", cm_term_name(k), "was_ns", was[k], "ns", is[k]));
  for (uint32_t run = 0; run < f->steps->runs; run++) {
    count(f, run, costs, row);
    const double ns = foresee(f, run, row, is), off = ns / f->steps->ns[run] - 1;
    (void)json_array_append_new(left, json_pack("{s:s, s:f, s:f, s:f}", "run", f->steps->name[run], "measured_ns", f->steps->ns[run], "foreseen_ns", ns, "error", off));
    most = fmax(most, fabs(off));
    sum += fabs(off);
  }
  return json_pack("{s:s, s:I, s:o, s:f, s:f, s:o}", "chip", f->chip->name, "runs", (json_int_t)f->steps->runs, "prices", terms, "error_mean", sum / f->steps->runs, "error_max", most,
                   "steps", left);
}

cm_status cm_costs_fit(const cm_costs_task *task, cm_run *run, cm_costs *costs, json_t **report, cm_error *error)
{
  const cm_chip *chip = task->chip;
  const cm_measured_steps *steps = task->steps;
  fit f = {.chip = chip, .steps = steps};
  cm_costs made = chip->costs;
  double price[CM_TERMS];
  bool any = false;
  prices_of(&chip->costs, price);
  for (int k = 0; k < CM_TERMS; k++) {
    f.fitted[k] = price[k] > 0 && !task->keep[k];
    any = any || f.fitted[k];
  }
  if (!any)
    return cm_fail(error, CM_BAD_REQUEST, "the chip has no price above 0 that may be changed: what is to be found begins at any other");
  for (uint32_t k = 0; k < steps->runs; k++)
    if (chip->costs.barrier.points > 1 && steps->tiles[k] == 0)
      return cm_fail(error, CM_BAD_REQUEST, "the chip's barrier depends on tiles in use: column \"tiles\" of run \"%.40s\" is missing", steps->name[k]);
  cm_status status = CM_NEW(run->memory, f.row, (size_t)steps->runs * CM_TERMS, error);
  CM_THEN(status, fit_costs(&f, run, &made, error));
  cm_free(f.row);
  if (status == CM_OK) {
    *report = report_of(&f, &made);
    *costs = made;
    status = cm_whole(*report != NULL, "the report", error);
  }
  return status;
}
