/* What does not go together as tables: a row each, tried in order. */
#include "core/mapping/combinations.h"

#include <stdio.h>

#include "core/chip/classes.h"
#include "core/chip/interconnect/interconnect.h"
#include "core/limits/populations.h"
#include "core/mapping/options.h"

typedef struct combination {
  const char *place; /* of the option that is to be another */
  bool (*clashes)(const cm_map_options *o, const cm_map_input *in);
  const char *words; /* what is wrong, and what would be right */
  void (*name)(const cm_map_options *o, const cm_map_input *in, char *text, size_t size); /* stands after them; NULL: nothing does */
  const char *then;  /* and these after the name */
} combination;

enum { NAME_MAX_BYTES = 256 };

static cm_status check(const combination *rows, size_t count, const cm_map_options *o, const cm_map_input *in, cm_error *error)
{
  char name[NAME_MAX_BYTES] = "";
  for (size_t i = 0; i < count; i++) {
    const combination *row = &rows[i];
    if (!row->clashes(o, in))
      continue;
    if (row->name != NULL)
      row->name(o, in, name, sizeof name);
    cm_fail(error, CM_BAD_OPTION, "%s%s%s", row->words, name, row->then != NULL ? row->then : "");
    return cm_fail_at(error, "%s", row->place);
  }
  return CM_OK;
}

/* ---- names ---- */

static void name_objective(const cm_map_options *o, const cm_map_input *in, char *text, size_t size)
{
  (void)in;
  (void)snprintf(text, size, "%s", cm_objective_name((cm_objective)o->objective));
}

static void name_interconnect(const cm_map_options *o, const cm_map_input *in, char *text, size_t size)
{
  (void)o;
  (void)snprintf(text, size, "%s is \"%s\"", in->chip->name, cm_interconnect_kind_name(in->chip->interconnect->kind));
}

static void name_target_cores(const cm_map_options *o, const cm_map_input *in, char *text, size_t size)
{
  (void)o;
  (void)snprintf(text, size, "%llu", (unsigned long long)in->chip->limits.neuron_target_cores);
}

/* ---- options by themselves ---- */

static bool of_steps(const cm_map_options *o)
{
  return cm_objective_is_of_steps((cm_objective)o->objective);
}

static bool unserved(const cm_map_options *o, const cm_map_input *in)
{
  (void)in;
  return o->objective != CM_OBJECTIVE_AUTO && !cm_preset_serves((cm_preset)o->preset, (cm_objective)o->objective);
}

static bool integrated_parts(const cm_map_options *o, const cm_map_input *in)
{
  (void)in;
  return o->parts != 0 && o->objective == CM_OBJECTIVE_AXON && o->mapper == CM_MAPPER_INTEGRATED;
}

static bool integrated_steps(const cm_map_options *o, const cm_map_input *in)
{
  (void)in;
  return of_steps(o) && o->mapper == CM_MAPPER_INTEGRATED;
}

static bool budget_without_energy(const cm_map_options *o, const cm_map_input *in)
{
  (void)in;
  return o->step_budget_ns > 0 && o->objective != CM_OBJECTIVE_ENERGY;
}

static bool pareto_named_from(const cm_map_options *o, const cm_map_input *in)
{
  (void)in;
  return o->objective == CM_OBJECTIVE_PARETO && o->from[0] != '\0';
}

static const combination of_options[] = {
  {"/options/objective", unserved, "preset reference minimises the edge cut; for objective \"", name_objective,
   "\" choose preset fast, balanced or best"},
  {"/options/mapper", integrated_parts,
   "mapper \"integrated\" makes as many parts as the core limits ask for under objective \"axon\": for a fixed number choose two-phase",
   NULL, NULL},
  {"/options/mapper", integrated_steps, "mapper \"integrated\" serves objectives edge and axon; for objective \"", name_objective,
   "\" choose two-phase"},
  {"/options/step_budget_ns", budget_without_energy,
   "step_budget_ns says how long a core may take under objective \"energy\": choose that, or leave the budget out", NULL, NULL},
  {"/options/objective", pareto_named_from,
   "objective \"pareto\" maps afresh: for a network that is mapped choose time, energy or edp, or leave out from", NULL, NULL},
};

/* ---- with network and chip ---- */

static bool worst_by_reference(const cm_map_options *o, const cm_map_input *in)
{
  (void)in;
  return o->scenarios == CM_SCENARIOS_WORST && o->preset == CM_PRESET_REFERENCE;
}

static bool worst_of_none(const cm_map_options *o, const cm_map_input *in)
{
  return o->scenarios == CM_SCENARIOS_WORST && in->topology->scenario_count == 0;
}

static bool integrated_ways(const cm_map_options *o, const cm_map_input *in)
{
  return o->mapper == CM_MAPPER_INTEGRATED && in->chip->interconnect != NULL;
}

static bool learned_ways(const cm_map_options *o, const cm_map_input *in)
{
  return o->mapper == CM_MAPPER_LEARNED && in->chip->interconnect != NULL;
}

static bool trees_of_copies(const cm_map_options *o, const cm_map_input *in)
{
  return o->traffic_model == CM_MULTICAST && in->chip->limits.neuron_target_cores != 0;
}

static bool turns_of_ways(const cm_map_options *o, const cm_map_input *in)
{
  return o->routing != CM_ROUTES_AUTO && in->chip->interconnect != NULL;
}

static bool multicast_from(const cm_map_options *o, const cm_map_input *in)
{
  return in->from != NULL && o->traffic_model == CM_MULTICAST;
}

static bool pareto_from(const cm_map_options *o, const cm_map_input *in)
{
  return in->from != NULL && o->objective == CM_OBJECTIVE_PARETO;
}

static bool pareto_of_parts(const cm_map_options *o, const cm_map_input *in)
{
  return in->part != NULL && o->objective == CM_OBJECTIVE_PARETO;
}

#define ONLY_MESH " is for a plain mesh or torus; the interconnect of chip "

static const combination of_jobs[] = {
  {"/options/scenarios", worst_by_reference,
   "preset reference knows one rate an axon: for the worst scenario choose preset fast, balanced or best", NULL, NULL},
  {"/options/scenarios", worst_of_none,
   "the network's rates do not vary, so that none of its scenarios is the worst: give it a table of rates with columns rate:NAME, or "
   "leave the option out", NULL, NULL},
  {"/options/mapper", integrated_ways, "mapper \"integrated\"" ONLY_MESH, name_interconnect, NULL},
  {"/options/mapper", learned_ways, "mapper \"learned\"" ONLY_MESH, name_interconnect, NULL},
  {"/options/traffic_model", trees_of_copies, "the chip lets a neuron reach ", name_target_cores,
   " cores, and each copy of it sends a packet to each of its own: there is no tree to pay for; choose traffic_model \"unicast\", or a "
   "chip without target_cores_per_neuron"},
  {"/options/routing", turns_of_ways, "a turn rule (option \"routing\")" ONLY_MESH, name_interconnect, NULL},
  {"/options/traffic_model", multicast_from,
   "option \"from\" supports traffic_model \"unicast\" only: leave out \"from\", or set \"unicast\"", NULL, NULL},
  {"/options/objective", pareto_from,
   "objective \"pareto\" makes its mappings afresh: to map again choose time, energy or edp", NULL, NULL},
  {"/options/objective", pareto_of_parts,
   "objective \"pareto\" makes parts, and here they are given: choose time, energy or edp", NULL, NULL},
};

/* ---- with the network that is partitioned ---- */

static bool integrated_populations(const cm_map_options *o, const cm_map_input *in)
{
  return o->mapper == CM_MAPPER_INTEGRATED && in->chip != NULL && !cm_cores_differ(in->chip) &&
         cm_populations_limited(in->topology, &in->chip->limits);
}

static bool alike_cores(const cm_map_options *o, const cm_map_input *in)
{
  return cm_cores_differ(in->chip) && o->mapper != CM_MAPPER_AUTO && o->mapper != CM_MAPPER_TWO_PHASE;
}

static bool steps_without_chip(const cm_map_options *o, const cm_map_input *in)
{
  return of_steps(o) && in->chip == NULL;
}

static bool steps_of_undirected(const cm_map_options *o, const cm_map_input *in)
{
  return of_steps(o) && !in->topology->directed;
}

static bool pareto_alone(const cm_map_options *o, const cm_map_input *in)
{
  (void)in;
  return o->objective == CM_OBJECTIVE_PARETO;
}

static const combination of_partitions[] = {
  {"/options/mapper", integrated_populations,
   "mapper \"integrated\" does not keep a limit on populations_per_core: choose \"auto\" or \"two-phase\"", NULL, NULL},
  {"/options/mapper", alike_cores,
   "this mapper takes all cores for alike, and the chip has core_classes: choose \"auto\" or \"two-phase\"", NULL, NULL},
  {"/options/objective", pareto_alone,
   "objective \"pareto\" makes several mappings, not one partition: choose time, energy or edp", NULL, NULL},
  {"/options/objective", steps_without_chip, "objective \"", name_objective, "\" needs a chip, whose costs it counts: name one"},
  {"/options/objective", steps_of_undirected, "objective \"", name_objective,
   "\" counts spikes, and this network is undirected: give a directed one, or choose objective \"edge\""},
};

cm_status cm_combinations_of_options(const cm_map_options *options, cm_error *error)
{
  return check(of_options, sizeof of_options / sizeof *of_options, options, NULL, error);
}

cm_status cm_combinations_of_job(const cm_map_input *input, cm_error *error)
{
  return check(of_jobs, sizeof of_jobs / sizeof *of_jobs, input->options, input, error);
}

cm_status cm_combinations_of_partition(const cm_map_input *input, cm_error *error)
{
  return check(of_partitions, sizeof of_partitions / sizeof *of_partitions, input->options, input, error);
}
