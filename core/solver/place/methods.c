#include "core/solver/place/methods.h"

#include "base/json.h"
#include "core/placement/placement.h"
#include "core/solver/mappers/learned.h"
#include "core/solver/presets.h"

/* Of force-directed refinement: a thousand rounds of up to some 4000 parts, fewer of more. */
static const double force_looks = 1e9;

static cm_status told(const json_t *report, cm_error *error)
{
  return cm_whole(report != NULL, "the report", error);
}

static const cm_place_effort *effort_of(const cm_candidate *c)
{
  const cm_effort *own = cm_effort_of(c->input->options);
  return own->arranged_as != NULL ? &own->arranged_as->place : &own->place;
}

static cm_place_task task_on(const cm_candidate *c, const cm_region *region)
{
  return (cm_place_task){.chip = c->input->chip, .region = region, .seed = c->input->options->placement_seed, .run = c->run};
}

/* The seed's placement. */
static cm_status place_by_seed(const cm_candidate *c, const cm_region *region, uint32_t *core, json_t **report,
                               cm_error *error)
{
  const cm_chip *chip = c->input->chip;
  const struct cm_map_options *o = c->input->options;
  double scale = (double)c->input->demand->network->weight_scale;
  cm_force_options options = {.share = o->force_fraction, .rounds_max = o->force_passes, .looks_max = force_looks};
  cm_force_result force;
  cm_place_task task = task_on(c, region);
  CM_TRY(cm_place_by_bisection(c->partition->parts, &task, o->bisection_tries, core, error));
  double bisected = (double)cm_placement_traffic(c->partition->parts, chip, core) / scale;
  CM_TRY(cm_place_by_force(c->partition->parts, &task, &options, core, &force, error));
  double refined = (double)cm_placement_traffic(c->partition->parts, chip, core) / scale;
  *report = json_pack("{s:{s:f, s:f}, s:{s:i, s:I, s:f, s:f}}", "part_traffic", "bisection", bisected, "force_directed",
                      refined, "force", "passes", (int)force.rounds, "swaps", (json_int_t)force.swaps, "before",
                      force.force_before / scale, "after", force.force_after / scale);
  return told(*report, error);
}

/* Loads of routers and links are looked at along axes. */
static bool knows_loads(const cm_candidate *c)
{
  return cm_geometry_of(c->input->chip) == CM_BY_AXES && c->input->options->mapper != CM_MAPPER_LEARNED;
}

cm_status cm_gather_flows(cm_candidate *c, cm_error *error)
{
  const struct cm_map_options *o = c->input->options;
  const cm_topology *t = c->input->demand->network;
  const cm_arrange_budget *budget = &cm_effort_of(o)->place.arrange;
  bool engine = knows_loads(c) && o->mapper != CM_MAPPER_BISECTION;
  if (!engine || cm_pays_for_trees(c) || budget->relief == 0 || c->partition->part_count > budget->few)
    return CM_OK;
  return t->directed ? cm_flows_of_axons(c->input->demand, c->partition->part, c->partition->part_count, c->run, &c->flows, error)
                     : cm_flows_of_graph(c->partition->parts, c->run, &c->flows, error);
}

static bool tell_relief(const cm_arrange_result *made, double unit, json_t *report)
{
  if (!made->relieved || made->least == 0)
    return true;
  json_t *told = json_pack("{s:f, s:f, s:f}", "congestion_max_before", made->busiest_before / unit, "congestion_max",
                           made->busiest / unit, "energy_ratio", (double)made->refined / (double)made->least);
  return json_object_set_new(json_object_get(report, "placement"), "congestion_refinement", told) == 0;
}

/* The placement engine. */
static cm_status place_by_engine(const cm_candidate *c, const cm_region *region, cm_places *placed, cm_error *error)
{
  cm_arrange_options options = {.budget = &effort_of(c)->arrange, .flows = c->flows};
  cm_place_task task = task_on(c, region);
  cm_arrange_result made;
  CM_TRY(cm_arrange(c->partition->parts, &task, &options, placed->core, &made, error));
  double before = made.refined > 0 ? (double)made.curve / (double)made.refined : 1;
  double refined = (double)cm_placement_traffic(c->partition->parts, c->input->chip, placed->core);
  double unit = (double)c->input->demand->network->weight_scale;
  placed->busiest = made.busiest;
  placed->report = json_pack("{s:{s:f, s:s, s:f, s:i, s:I}}", "placement", "part_traffic", refined / unit, "method",
                             made.method, "curve_ratio", before, "passes", 0, "swaps", (json_int_t)made.swaps);
  return told(tell_relief(&made, unit, placed->report) ? placed->report : NULL, error);
}

cm_status cm_place_again(cm_candidate *c, cm_error *error)
{
  cm_place_task task = task_on(c, c->places.region);
  return cm_arrange_again(c->partition->parts, &task, &effort_of(c)->arrange, c->places.core, error);
}

/* Whole routers are placed from anywhere (core/placement/trees/trees.h): parts stand in their order until then. */
static cm_status place_in_order(const cm_candidate *c, const cm_region *region, cm_places *placed, cm_error *error)
{
  for (uint32_t p = 0; p < c->partition->part_count; p++)
    placed->core[p] = region->cores[p];
  placed->report = json_pack("{s:{s:s}}", "placement", "method", "whole routers");
  return told(placed->report, error);
}

cm_status cm_place_on(const cm_candidate *c, const cm_region *region, cm_places *placed, cm_error *error)
{
  const struct cm_map_options *o = c->input->options;
  cm_places made = {0};
  CM_TRY(CM_NEW(c->run->memory, made.core, c->partition->part_count, error));
  bool seeds =
    o->mapper == CM_MAPPER_BISECTION || (o->mapper == CM_MAPPER_AUTO && cm_preset_facts_of((cm_preset)o->preset)->edge_alone);
  cm_status status = o->mapper == CM_MAPPER_LEARNED ? cm_place_by_policy(c->input, c->partition->part, c->partition->parts,
                                                                         region, c->run, made.core, &made.report, error)
                     : seeds                        ? place_by_seed(c, region, made.core, &made.report, error)
                     : cm_effort_of(o)->place.routers_from_order && cm_pays_for_trees(c) && cm_has_groups(c->input->chip)
                       ? place_in_order(c, region, &made, error)
                       : place_by_engine(c, region, &made, error);
  CM_TRY_OR(status, cm_places_free(&made));
  made.energy = cm_placement_energy(c->partition->parts, c->input->chip, made.core);
  *placed = made;
  return CM_OK;
}

/* ---- trees ---- */

bool cm_pays_for_trees(const cm_candidate *c)
{
  const struct cm_map_options *o = c->input->options;
  bool as_is = o->mapper == CM_MAPPER_LEARNED && !o->policy_refinement;
  return o->traffic_model == CM_MULTICAST && c->input->demand->network->directed && !as_is;
}

static json_t *tell(const cm_trees_result *made, double unit)
{
  return json_pack("{s:f, s:f, s:i, s:i, s:I, s:b, s:s*}", "before", (double)made->before / unit, "after",
                   (double)made->after / unit, "passes", (int)made->sweeps, "starts", (int)made->starts, "swaps",
                   (json_int_t)made->swaps, "sampled", made->sampled, "groups", made->groups);
}

cm_status cm_shorten_trees(cm_candidate *c, cm_error *error)
{
  cm_place_task task = task_on(c, c->places.region);
  cm_casts *casts;
  cm_trees_result made;
  double unit = (double)c->input->demand->network->weight_scale * cm_cheapest_hop_units(c->input->chip);
  CM_TRY(cm_casts_of_axons(c->input->demand, c->partition->part, c->partition->part_count, c->run, &casts, error));
  cm_status status = cm_place_by_trees(casts, &task, &effort_of(c)->trees, c->places.core, &made, error);
  cm_casts_free(casts);
  if (status != CM_OK)
    return status;
  c->places.trees = (double)made.after / unit;
  return cm_json_set(c->places.report, "multicast", tell(&made, unit), "the report", error);
}

/* ---- links ---- */

bool cm_spreads_over_links(const cm_candidate *c)
{
  const struct cm_map_options *o = c->input->options;
  return c->input->demand->network->directed && (o->objective == CM_OBJECTIVE_TIME || o->objective == CM_OBJECTIVE_EDP) &&
         !cm_pays_for_trees(c) && knows_loads(c) && c->partition->kind == NULL;
}

cm_status cm_spread_over_links(cm_candidate *c, cm_error *error)
{
  cm_place_task task = task_on(c, c->places.region);
  cm_flows *flows;
  cm_links_result made;
  double unit = (double)c->input->demand->network->weight_scale;
  if (!cm_spreads_over_links(c))
    return CM_OK;
  CM_TRY(cm_flows_of_axons(c->input->demand, c->partition->part, c->partition->part_count, c->run, &flows, error));
  cm_status status = cm_place_by_links(flows, &task, &effort_of(c)->links, c->places.core, &made, error);
  cm_flows_free(flows);
  if (status != CM_OK || !made.done)
    return status;
  json_t *told = json_pack("{s:f, s:f, s:I}", "link_ns_max_before", made.before / unit, "link_ns_max", made.after / unit,
                           "swaps", (json_int_t)made.swaps);
  return cm_json_set(c->places.report, "links", told, "the report", error);
}
