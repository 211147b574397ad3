/* Happy path: the cheapest candidate -> its routes and their minimised tables -> they fit. Else other places, until some fit or
 * none is left; then keys are widened, first on the places that came nearest. What can fail: as mapping and routes. */
#include "core/solver/driver/fitting.h"

#include <string.h>

#include "base/json.h"
#include "core/routing/routes.h"
#include "core/solver/driver/portfolio.h"

enum { TRIES_MAX = 8 /* of up to CM_LOCAL_CORES_MAX cores, half of them each */ };

static bool is_limited(const cm_map_input *in)
{
  uint64_t behind = (uint64_t)in->chip->router_x * in->chip->router_y;
  return in->chip->table_entries != 0 && in->demand->network->directed && in->options->route_model == CM_ROUTES_MULTICAST &&
         behind <= CM_LOCAL_CORES_MAX;
}

/* Whether the tables fit. */
static cm_status check(const cm_map_input *input, const cm_mapping *mapping, cm_key_width keys, cm_run *run, json_t **told,
                       cm_error *error)
{
  bool own;
  cm_route_options options = cm_routes_wanted(input->options, input->chip, &own);
  cm_routes *routes;
  options.keys = keys;
  *told = NULL;
  if (!is_limited(input))
    return CM_OK;
  const cm_mapped mapped = cm_mapped_by(mapping, input->demand, input->chip);
  cm_status status = cm_routes_make(&mapped, &options, run, &routes, error);
  if (status == CM_NO_ROUTE) /* the routes say so; the mapping stands without them */
    return CM_OK;
  if (status != CM_OK)
    return status;
  json_t *figures = cm_routes_json(routes);
  json_t *tables = figures == NULL ? NULL : json_incref(json_object_get(figures, "tables"));
  if (tables != NULL && json_object_set(tables, "routing", json_object_get(figures, "routing")) == 0)
    *told = json_incref(tables);
  json_decref(tables);
  json_decref(figures);
  cm_routes_free(routes);
  return cm_whole(*told != NULL, "the report", error);
}

cm_status cm_fitting_check(const cm_map_input *input, const cm_mapping *mapping, cm_run *run, json_t **told, cm_error *error)
{
  return check(input, mapping, CM_KEYS_ANY, run, told, error);
}

/* Takes cores until every router has `kept` free ones at most, the first row by row. */
static cm_status thin(const cm_chip *chip, const cm_occupancy *from, uint32_t kept, cm_occupancy **made, cm_error *error)
{
  CM_TRY(cm_occupancy_new(chip, made, error));
  for (uint32_t router = 0; router < cm_chip_routers_x(chip) * cm_chip_routers_y(chip); router++) {
    uint32_t x0 = router % cm_chip_routers_x(chip) * chip->router_x, y0 = router / cm_chip_routers_x(chip) * chip->router_y, left = kept;
    for (uint32_t y = y0; y < y0 + chip->router_y; y++)
      for (uint32_t x = x0; x < x0 + chip->router_x; x++) {
        uint8_t *state = &(*made)->state[(size_t)y * chip->width + x], was = from->state[(size_t)y * chip->width + x];
        *state = was != CM_CORE_FREE || left == 0 ? (was == CM_CORE_BROKEN ? CM_CORE_BROKEN : CM_CORE_TAKEN) : CM_CORE_FREE;
        left -= *state == CM_CORE_FREE;
      }
  }
  return CM_OK;
}

/* One try: what is different from the job, and what came of it. */
typedef struct try {
  uint32_t traffic_model, kept; /* cores used behind a router; 0: all */
} try;

static cm_status propose(const cm_map_input *input, try by, cm_run *run, cm_candidate *candidate, cm_error *error)
{
  cm_variant variant;
  cm_map_input *other = cm_vary(input, &variant);
  cm_occupancy *thinned = NULL;
  variant.options.traffic_model = by.traffic_model;
  if (by.kept != 0) {
    CM_TRY(thin(input->chip, input->occupancy, by.kept, &thinned, error));
    other->occupancy = thinned;
  }
  cm_status status = cm_best_candidate(other, run, candidate, error);
  if (status == CM_OK)
    candidate->input = input;
  cm_occupancy_free(thinned);
  return status;
}

static uint64_t needed(const cm_error *error)
{
  for (size_t i = 0; i < error->figure_count; i++)
    if (strcmp(error->figures[i].name, "entries") == 0)
      return error->figures[i].value;
  return UINT64_MAX;
}

static cm_status note(json_t *tried, try by, uint64_t most, cm_error *error)
{
  json_t *row = json_pack("{s:s, s:I}", "traffic_model", by.traffic_model == CM_MULTICAST ? "multicast" : "unicast", "most",
                          (json_int_t)most);
  bool kept = row != NULL && (by.kept == 0 || json_object_set_new(row, "cores_of_a_router", json_integer(by.kept)) == 0);
  return cm_whole(kept && json_array_append_new(tried, row) == 0, "the report", error);
}

/* Places for a job, and what came of each. */
typedef struct search {
  const cm_map_input *input;
  cm_run *run;
  json_t *tried;
  try tries[TRIES_MAX];
  uint64_t most[TRIES_MAX]; /* entries of the fullest router; UINT64_MAX: no places */
  size_t count;
  bool fits; /* the candidate, whose tables are told of */
  cm_candidate *candidate;
  json_t **told;
  cm_error least; /* what the nearest would take */
} search;

/* What the job asks for, then the least links of trees, on ever more routers. */
static void list_tries(search *s)
{
  uint32_t kept = s->input->chip->router_x * s->input->chip->router_y, asked = s->input->options->traffic_model;
  s->tries[s->count++] = (try){asked, 0};
  if (asked != CM_MULTICAST)
    s->tries[s->count++] = (try){CM_MULTICAST, 0};
  while (kept > 1 && s->count < TRIES_MAX) {
    kept = (kept + 1) / 2;
    s->tries[s->count++] = (try){CM_MULTICAST, kept};
  }
}

/* Whether tables with exact keys are so far off that no other places would do, about: with one core of each router in use a router
 * still has its share of what it had for all of them, and other trees hardly halve that. */
static bool places_are_vain(const cm_chip *chip, uint64_t most)
{
  return most / (2 * (uint64_t)chip->router_x * chip->router_y) > chip->table_entries;
}

/* The candidate's tables with exact keys; where that is far off, with wider ones at once. */
static cm_status judge(search *s, size_t number, cm_key_width keys, cm_error *error)
{
  cm_mapping view = cm_candidate_view(s->candidate);
  cm_status status = check(s->input, &view, keys, s->run, s->told, error);
  if (status != CM_LIMIT_BROKEN || keys == CM_KEYS_WIDE)
    return status;
  uint64_t most = s->most[number] = needed(error);
  if (s->least.status == CM_OK || most < needed(&s->least))
    s->least = *error;
  if (note(s->tried, s->tries[number], most, error) != CM_OK || !places_are_vain(s->input->chip, most))
    return error->status;
  s->most[number] = UINT64_MAX;
  return check(s->input, &view, CM_KEYS_WIDE, s->run, s->told, error);
}

/* One try; it does not fit where there are no such places either. */
static cm_status attempt(search *s, size_t number, cm_key_width keys, cm_error *error)
{
  s->most[number] = UINT64_MAX;
  cm_status status = propose(s->input, s->tries[number], s->run, s->candidate, error);
  if (number > 0 && (status == CM_NO_ROOM || status == CM_LIMIT_BROKEN || status == CM_BAD_OPTION))
    return CM_OK;
  if (status != CM_OK)
    return status;
  status = judge(s, number, keys, error);
  s->fits = status == CM_OK;
  if (!s->fits)
    cm_candidate_free(s->candidate);
  return status == CM_LIMIT_BROKEN ? CM_OK : status;
}

/* The try that came nearest of those that are left; s->count: none. */
static size_t nearest(const search *s)
{
  size_t best = s->count;
  for (size_t i = 0; i < s->count; i++)
    if (s->most[i] != UINT64_MAX && (best == s->count || s->most[i] < s->most[best]))
      best = i;
  return best;
}

/* Candidates until the tables of one fit, as they are or with wider keys. */
static cm_status find(search *s, cm_error *error)
{
  cm_status status = CM_OK;
  for (size_t i = 0; i < s->count && !s->fits && status == CM_OK; i++)
    status = attempt(s, i, CM_KEYS_EXACT, error);
  for (size_t i; !s->fits && status == CM_OK && (i = nearest(s)) < s->count;) {
    status = attempt(s, i, CM_KEYS_WIDE, error);
    s->most[i] = UINT64_MAX;
  }
  if (s->fits || status != CM_OK)
    return status;
  *error = s->least;
  return s->least.status;
}

cm_status cm_fitting_candidate(const cm_map_input *input, cm_run *run, cm_candidate *candidate, json_t **told, cm_error *error)
{
  *told = NULL;
  if (!is_limited(input))
    return cm_best_candidate(input, run, candidate, error);
  json_t *tried = json_array();
  CM_TRY(cm_whole(tried != NULL, "the report", error));
  search s = {.input = input, .run = run, .tried = tried, .candidate = candidate, .told = told};
  list_tries(&s);
  cm_status status = find(&s, error);
  if (status == CM_OK && *told != NULL && json_array_size(tried) > 0 &&
      (status = cm_json_set(*told, "did_not_fit", json_incref(tried), "the report", error)) != CM_OK) {
    cm_candidate_free(candidate);
    json_decref(*told);
    *told = NULL;
  }
  json_decref(tried);
  return status;
}
