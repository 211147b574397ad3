/* Before work: the bound against what is there. After work: the same attempts once more with cores without number,
 * then with one limit after another lifted; the first that helps is narrowed down between what failed and what was
 * found to do. What can fail: a trial that runs out of time or memory ends the search, never the refusal. */
#include "core/solver/stage/infeasibility.h"

#include "core/chip/region.h"

enum { ATTEMPTS_MAX = 16 };
static const double pins_budget = 1e8;
static const double parts_dear = 512; /* with so many parts, which axons reach more of, an attempt takes twice as long */
static const double good_enough = 1.01; /* between a limit that was found to do and one that was not */

/* ---- before work ---- */

static uint64_t *limit_of(cm_limits *limits, cm_resource resource)
{
  uint64_t *const fields[CM_MEMORY + 1] = {&limits->neurons, &limits->synapses, &limits->inbound_axons,
                                           &limits->outbound_axons, &limits->target_cores, &limits->source_cores, [CM_MEMORY] = &limits->memory_bits};
  return fields[resource];
}

static cm_status parts_under(const cm_refusal *r, uint64_t value, uint32_t *parts, cm_error *error)
{
  cm_limits limits = r->terms->limits;
  cm_bound bound;
  *limit_of(&limits, r->bound->resource) = value;
  cm_status status = cm_bound_parts(r->input->demand, &limits, r->run, &bound, error);
  if (status == CM_OK)
    *parts = bound.parts;
  return status;
}

/* So many populations a core that the bound allows `allowed` parts; 0: other limits forbid them too. */
static cm_status smallest_sharing(const cm_refusal *r, uint32_t allowed, uint64_t *smallest, cm_error *error)
{
  cm_bound bound;
  *smallest = 0;
  cm_status status = cm_bound_without_populations(r->input->demand, &r->terms->limits, r->run, &bound, error);
  if (status == CM_OK && allowed > 0 && bound.parts <= allowed) {
    *smallest = (r->bound->total + allowed - 1) / allowed;
    *smallest = *smallest > r->bound->limit ? *smallest : r->bound->limit + 1;
  }
  return status;
}

/* The smallest value of the limit behind the bound under which the bound allows `allowed` parts; 0: other limits
 * forbid them too. */
static cm_status smallest_limit(const cm_refusal *r, uint32_t allowed, uint64_t *smallest, cm_error *error)
{
  const cm_topology *t = r->input->demand->network;
  if (r->bound->argument == CM_ARGUMENT_POPULATIONS)
    return smallest_sharing(r, allowed, smallest, error);
  uint64_t low = r->bound->limit + 1, high = r->bound->resource == CM_NEURONS ? r->input->demand->size_total : t->pin_count;
  if (r->bound->resource == CM_MEMORY)
    high = r->bound->total;
  uint32_t parts = 0;
  *smallest = 0;
  if (allowed == 0 || high < low)
    return CM_OK;
  if (r->bound->argument == CM_ARGUMENT_TOTAL && r->bound->total > low * allowed)
    low = (r->bound->total + allowed - 1) / allowed; /* less cannot do, and mostly this does */
  CM_TRY(parts_under(r, low, &parts, error));
  if (parts <= allowed) {
    *smallest = low;
    return CM_OK;
  }
  CM_TRY(parts_under(r, high, &parts, error));
  if (parts > allowed)
    return CM_OK;
  while (low + 1 < high) { /* low does not do, high does */
    uint64_t middle = low + (high - low) / 2;
    CM_TRY(parts_under(r, middle, &parts, error));
    if (parts <= allowed)
      high = middle;
    else
      low = middle;
  }
  *smallest = high;
  return CM_OK;
}

static void say_limit(const cm_refusal *r, uint64_t smallest, cm_error *error)
{
  error->limit_name = cm_bound_field(r->bound);
  cm_error_figure(error, "limit", r->bound->limit);
  if (smallest == 0)
    return;
  cm_fail_more(error, ", or at least %llu %s in a core", (unsigned long long)smallest,
               r->bound->argument == CM_ARGUMENT_POPULATIONS ? "populations" : cm_resource_name(r->bound->resource));
  cm_error_figure(error, "limit_proved", smallest);
}

static cm_status refuse_cores(const cm_refusal *r, uint64_t smallest, cm_error *error)
{
  uint32_t needed = r->bound->parts, cores = cm_chip_cores(r->input->chip), broken = 0;
  cm_region *none = NULL;
  char reason[160];
  cm_status status = cm_region_choose(r->input->chip, r->input->occupancy, needed, r->run, &none, error);
  cm_region_free(none);
  if (status != CM_NO_ROOM)
    return status;
  cm_error figures = *error; /* of the free cores */
  for (uint32_t c = 0; c < cores; c++)
    broken += r->input->occupancy->state[c] == CM_CORE_BROKEN;
  cm_fail(error, CM_NO_ROOM, "at least %u cores are needed (%s) and %u of the chip's %u are free", needed,
          cm_bound_reason(r->bound, reason, sizeof reason), r->terms->cores, cores);
  for (size_t i = 0; i < figures.figure_count; i++)
    cm_error_figure(error, figures.figures[i].name, figures.figures[i].value);
  if (needed > cores - broken)
    cm_fail_more(error, ", no more than %u usable", cores - broken);
  cm_fail_more(error, ": it takes at least %u more free cores", needed - r->terms->cores);
  cm_error_figure(error, "cores_proved", needed);
  say_limit(r, smallest, error);
  cm_fail_more(error, " (proved; whether that is enough is not)");
  return CM_NO_ROOM;
}

/* Options allow too few: of parts, or of cores. */
static cm_status refuse_option(const cm_refusal *r, const char *option, uint32_t allowed, uint64_t smallest, cm_error *error)
{
  char reason[160];
  cm_fail(error, CM_LIMIT_BROKEN, "%u %s are %s, and at least %u are needed (%s): it takes at least %u more %s", allowed, option,
          option[0] == 'p' ? "asked for" : "allowed", r->bound->parts, cm_bound_reason(r->bound, reason, sizeof reason),
          r->bound->parts - allowed, option);
  cm_error_figure(error, option, allowed);
  cm_error_figure(error, "cores_proved", r->bound->parts);
  say_limit(r, smallest, error);
  cm_fail_more(error, " (proved; whether that is enough is not)");
  cm_fail_at(error, "/options/%s", option);
  return CM_LIMIT_BROKEN;
}

cm_status cm_refuse_by_bound(const cm_refusal *refusal, cm_error *error)
{
  uint32_t parts = refusal->terms->parts, allowed = refusal->terms->cores;
  uint64_t smallest;
  if (parts != 0 && parts < allowed)
    allowed = parts;
  if (refusal->bound->parts <= allowed)
    return CM_OK;
  CM_TRY(smallest_limit(refusal, allowed, &smallest, error));
  if (refusal->terms->budget)
    return refuse_option(refusal, "cores", allowed, smallest, error);
  return parts > 0 && allowed == parts ? refuse_option(refusal, "parts", parts, smallest, error)
                                       : refuse_cores(refusal, smallest, error);
}

/* ---- after work ---- */

typedef struct search {
  const cm_refusal *refusal;
  uint32_t left;     /* attempts that may still be made */
  bool kept;         /* a partition that keeps the terms turned up */
  cm_status stopped; /* what ended the search early; CM_OK: nothing */
  cm_error why;
} search;

/* Whether some terms can be met. */
static bool can(search *s, const cm_terms *terms, cm_outcome *outcome)
{
  cm_error error;
  if (s->left == 0 || s->kept || s->stopped != CM_OK)
    return false;
  cm_status status = s->refusal->attempt(s->refusal->context, terms, &s->left, outcome, &error);
  if (status != CM_OK && status != CM_NO_ROOM && status != CM_LIMIT_BROKEN) {
    s->stopped = status;
    s->why = error;
  }
  s->kept = s->kept || (status == CM_OK && cm_outcome_keeps(outcome, s->refusal->terms));
  return status == CM_OK;
}

/* With one limit lifted; then between what does not do and what was found to do. 0: lifting it does not help. */
static uint64_t relax(search *s, cm_resource resource, cm_outcome *best)
{
  cm_terms terms = *s->refusal->terms;
  uint64_t *limit = limit_of(&terms.limits, resource), low = *limit;
  if (low == 0)
    return 0;
  *limit = 0;
  if (!can(s, &terms, best))
    return 0;
  uint64_t high = best->most[resource];
  while (high > low + 1 && (double)high > (double)low * good_enough && s->left > 0) {
    cm_outcome outcome;
    *limit = low + (high - low) / 2;
    if (can(s, &terms, &outcome)) {
      *best = outcome;
      high = outcome.most[resource];
    } else if (s->stopped == CM_OK)
      low = *limit;
    else
      break;
  }
  return high;
}

bool cm_outcome_keeps(const cm_outcome *outcome, const cm_terms *terms)
{
  bool keeps = outcome->parts <= terms->cores && (terms->parts == 0 || terms->parts == outcome->parts);
  for (cm_resource r = 0; r < CM_RESOURCES; r++)
    keeps = keeps && (cm_limit(&terms->limits, r) == 0 || outcome->most[r] <= cm_limit(&terms->limits, r));
  return keeps;
}

static void explain_cores(search *s, cm_error *error)
{
  const cm_refusal *r = s->refusal;
  cm_terms terms = *r->terms;
  cm_outcome outcome;
  bool fixed = terms.parts != 0;
  terms.cores = UINT32_MAX;
  terms.parts = 0;
  outcome.parts = r->roomy_parts;
  if (outcome.parts == 0 && !can(s, &terms, &outcome)) {
    if (s->stopped == CM_OK)
      cm_fail_more(error, ". With any number of cores no legal partition was found either");
    return;
  }
  cm_fail_more(error, ". A legal partition of %u parts was found%s; at least %u are needed", outcome.parts,
               fixed ? " where the number was free" : "", r->bound->parts);
  if (!fixed)
    cm_error_figure(error, "needed", outcome.parts);
  cm_error_figure(error, "cores_found", outcome.parts);
  cm_error_figure(error, "cores_proved", r->bound->parts);
}

static void explain_limits(search *s, cm_resource first, cm_error *error)
{
  static const cm_resource order[] = {CM_INBOUND_AXONS, CM_NEURONS, CM_SYNAPSES, CM_TARGET_CORES, CM_SOURCE_CORES, CM_OUTBOUND_AXONS};
  cm_resource resource = first;
  cm_outcome best;
  uint64_t found = first < CM_RESOURCES ? relax(s, first, &best) : 0;
  for (size_t i = 0; i < CM_RESOURCES && found == 0; i++)
    if (order[i] != first) {
      resource = order[i];
      found = relax(s, resource, &best);
    }
  if (found == 0)
    return;
  uint64_t limit = cm_limit(&s->refusal->terms->limits, resource);
  cm_fail_more(error, ". With %llu %s in a core in place of %llu a legal partition of %u parts was found",
               (unsigned long long)found, cm_resource_name(resource), (unsigned long long)limit, best.parts);
  if (s->refusal->terms->parts == 0)
    cm_fail_more(error, " on the %s cores", cm_terms_cores(s->refusal->terms));
  error->limit_name = cm_resource_field(resource);
  cm_error_figure(error, "limit", limit);
  cm_error_figure(error, "limit_found", found);
}

cm_status cm_explain_refusal(const cm_refusal *refusal, cm_resource first, cm_error *error)
{
  if (refusal->first_parts != 0) { /* what it takes lies far beyond the terms: single limits, a little relaxed, do not help */
    cm_fail_more(error, "; at least %u are needed (proved)", refusal->bound->parts);
    cm_error_figure(error, "cores_proved", refusal->bound->parts);
    return error->status;
  }
  double attempts = pins_budget / (double)(refusal->input->demand->network->pin_count + 1) / (1 + refusal->parts / parts_dear);
  search s = {.refusal = refusal, .left = attempts > ATTEMPTS_MAX ? ATTEMPTS_MAX : attempts < 1 ? 1 : (uint32_t)attempts};
  explain_cores(&s, error);
  explain_limits(&s, first, error);
  if (s.stopped == CM_CANCELLED)
    *error = s.why;
  return s.kept ? CM_OK : error->status;
}
