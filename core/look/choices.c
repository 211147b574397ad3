#include "core/look/choices.h"

#include "base/json.h"

/* Of larger networks a look sees so many synapses, or this share of them. */
enum { PINS_MIN = 1 << 15, PINS_SHARE = 8 };

uint64_t cm_choices_pins(const cm_topology *t)
{
  return t->pin_count / PINS_SHARE > PINS_MIN ? t->pin_count / PINS_SHARE : PINS_MIN;
}

typedef struct choices {
  cm_look look;
  cm_look_on on;
  uint32_t fewest, most; /* cores */
  cm_look_point point[CM_LOOK_POINTS_MAX];
  uint32_t count;
} choices;

static cm_status look(const cm_map_input *in, uint32_t fewest, cm_run *run, choices *c, cm_error *error)
{
  const uint32_t free = cm_occupancy_free_count(in->occupancy), allowed = in->options->cores != 0 ? in->options->cores : in->options->parts;
  const cm_limits limits = cm_chip_widest_limits(in->chip);
  cm_run_phase(run, "look");
  cm_status status = cm_look_begin(in->demand, cm_choices_pins(in->demand->network), run, &c->look, error);
  CM_THEN(status, cm_look_on_chip(&c->look, in->chip, &limits, &c->on, error));
  CM_TRY(status);
  c->fewest = fewest != 0 ? fewest : c->on.fewest;
  c->most = allowed != 0 && allowed < free ? allowed : free;
  if (c->fewest <= c->most)
    c->count = cm_look_choices(&c->on, c->fewest, c->most, c->point);
  return CM_OK;
}

static json_t *row(const cm_look_point *p)
{
  return json_pack("{s:I, s:f, s:f, s:f, s:f, s:s?, s:f}", "cores", (json_int_t)p->cores, "step_ns", p->step_ns, "energy_step_pj", p->energy_pj,
                   "bound_step_ns", p->bound_ns, "bound_energy_step_pj", p->bound_pj, "limit", p->filled > 0 ? cm_resource_name(p->fullest) : NULL,
                   "filled", p->filled);
}

json_t *cm_choices_json(const cm_look_point *point, uint32_t count)
{
  json_t *points = json_array();
  for (uint32_t i = 0; i < count; i++)
    (void)json_array_append_new(points, row(&point[i]));
  return json_pack("{s:s, s:I, s:o}", "objective", "time", "knee", (json_int_t)(count > 0 ? point[cm_look_knee(point, count)].cores : 0), "points", points);
}

bool cm_choices_are_told(const cm_map_input *input)
{
  return input->demand->network->directed && cm_costs_are_stated(&input->chip->costs);
}

cm_status cm_choices_report(const cm_map_input *input, cm_mapping *m, cm_run *run, cm_error *error)
{
  choices c = {0};
  cm_variant variant;
  cm_map_input *all = cm_vary(input, &variant);
  bool by_limits = input->options->parts == 0 && !cm_objective_is_of_steps((cm_objective)input->options->objective);
  if (!cm_choices_are_told(input))
    return CM_OK;
  variant.options.cores = variant.options.parts = 0; /* what all free cores would do */
  cm_status status = look(all, by_limits ? m->part_count : m->bound.parts, run, &c, error);
  CM_THEN_IF(status, c.count > 0, cm_json_set(m->report, "choices", cm_choices_json(c.point, c.count), "the report", error));
  cm_look_end(&c.look);
  return status;
}

cm_status cm_choices_knee(const cm_map_input *input, cm_run *run, uint32_t *cores, cm_error *error)
{
  choices c = {0};
  cm_status status = look(input, 0, run, &c, error);
  if (status == CM_OK)
    *cores = c.count > 0 ? cm_look_knee_between(&c.on, c.point, c.count) : 0;
  cm_look_end(&c.look);
  return status;
}
