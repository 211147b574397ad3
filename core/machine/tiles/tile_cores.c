/* A program's tiles on the cores of its units, and what is said of them. What can fail: a limit of a core, memory. */
#include <string.h>

#include "core/machine/tiles/tiles.h"
#include "core/mapping/mapping.h"
#include "core/mapping/options.h"
#include "core/measure/measure.h"

static bool computes(const cm_instruction *i)
{
  return cm_opcode_computes(i->opcode);
}

/* Cores in ascending order become parts; those without a tile are none. */
static cm_status number_parts(cm_mapping *m, const cm_program *program, uint32_t cores, cm_memory *memory, cm_error *error)
{
  uint32_t *part_of, v = 0;
  CM_TRY(CM_NEW(memory, part_of, (size_t)cores + 1, error));
  for (uint64_t i = 0; i < program->instruction_count; i++)
    if (computes(&program->instructions[i]))
      part_of[cm_lane_core(&program->target, program->instructions[i].lane)] = 1;
  for (uint32_t c = 0; c < cores; c++)
    m->part_count += part_of[c];
  CM_TRY_OR(CM_NEW(memory, m->part, m->vertex_count, error), cm_free(part_of));
  CM_TRY_OR(CM_NEW(memory, m->core, m->part_count, error), cm_free(part_of));
  for (uint32_t c = 0, part = 0; c < cores; c++)
    if (part_of[c] != 0) {
      m->core[part] = c;
      part_of[c] = part++;
    }
  for (uint64_t i = 0; i < program->instruction_count; i++)
    if (computes(&program->instructions[i]))
      m->part[v++] = part_of[cm_lane_core(&program->target, program->instructions[i].lane)];
  cm_free(part_of);
  return CM_OK;
}

/* The box that the cores span. */
static cm_status make_region(cm_mapping *m, const cm_chip *chip, cm_memory *memory, cm_error *error)
{
  cm_occupancy *occupancy;
  CM_TRY(CM_NEW(memory, m->region, 1, error));
  CM_TRY(CM_NEW(memory, m->region->cores, m->part_count, error));
  CM_TRY(cm_occupancy_new(chip, &occupancy, error));
  m->region->core_count = m->part_count;
  memcpy(m->region->cores, m->core, m->part_count * sizeof *m->core);
  cm_region_enclose(chip, occupancy, m->region);
  cm_occupancy_free(occupancy);
  return CM_OK;
}

static cm_status keep_limits(const cm_mapping *m, const cm_chip *chip, cm_error *error)
{
  const cm_limits *l = &chip->limits;
  for (uint32_t p = 0; p < m->part_count; p++) {
    const cm_core_load *c = &m->detail.core[p];
    const struct {
      const char *name;
      uint64_t has, most;
    } of[] = {{"neurons", c->neurons, l->neurons},
              {"synapses", c->synapses, l->synapses},
              {"inbound_axons", c->inbound_axons, l->inbound_axons},
              {"outbound_axons", c->outbound_axons, l->outbound_axons},
              {"target_cores", c->target_cores, l->target_cores},
              {"source_cores", c->source_cores, l->source_cores}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
      if (of[i].most > 0 && of[i].has > of[i].most)
        return cm_fail(error, CM_LIMIT_BROKEN, "the tiles on core (%u, %u) have %llu %s, the chip allows %llu: lay the units "
                       "of its devices on more cores, or state no limits", m->core[p] % chip->width,
                       m->core[p] / chip->width, (unsigned long long)of[i].has, of[i].name,
                       (unsigned long long)of[i].most);
  }
  return CM_OK;
}

static cm_status say(cm_mapping *m, cm_error *error)
{
  cm_map_options *options;
  CM_TRY(cm_map_options_parse(NULL, &options, error));
  m->options = cm_map_options_shaping_json(options);
  cm_map_options_free(options);
  m->report = json_pack("{s:s}", "placed_by", "program");
  return cm_whole(m->options != NULL && m->report != NULL, "the report", error);
}

cm_status cm_tiles_map(const cm_demand *demand, const cm_program *program, const cm_chip *chip, cm_run *run,
                       cm_mapping **made, cm_error *error)
{
  cm_mapping *m;
  CM_TRY(CM_NEW(run->memory, m, 1, error));
  m->vertex_count = demand->network->vertex_count;
  if (number_parts(m, program, cm_chip_cores(chip), run->memory, error) != CM_OK ||
      make_region(m, chip, run->memory, error) != CM_OK || say(m, error) != CM_OK ||
      cm_bound_parts(demand, &chip->limits, run, &m->bound, error) != CM_OK ||
      cm_metrics_compute(&(cm_mapped){.demand = demand, .chip = chip, .part = m->part, .parts = m->part_count, .core = m->core}, run, &m->metrics, &m->detail, error) !=
        CM_OK ||
      keep_limits(m, chip, error) != CM_OK) {
    cm_mapping_free(m);
    return error->status;
  }
  *made = m;
  return CM_OK;
}

/* ---- as figures ---- */

static json_t *device_json(const cm_program *program, uint32_t device)
{
  const cm_device *d = &program->target.device[device];
  uint64_t tiles = 0;
  double operations = 0, busy = 0;
  for (uint64_t i = 0; i < program->instruction_count; i++) {
    const cm_instruction *instruction = &program->instructions[i];
    if (!computes(instruction) || program->lanes[instruction->lane].device != device)
      continue;
    tiles++;
    operations += (double)instruction->work.operations;
    busy += cm_instruction_ns(program, instruction);
  }
  return json_pack("{s:s, s:i, s:I, s:f, s:f}", "name", d->name, "units", (int)d->units, "tiles", (json_int_t)tiles,
                   "operations", operations, "busy_ns", busy);
}

json_t *cm_tiles_report(const cm_topology *topology, const cm_program *program)
{
  uint64_t moved = 0, largest = 0;
  json_t *list = json_array();
  for (uint32_t e = 0; e < topology->net_count; e++)
    moved += topology->net_weight[e];
  for (uint32_t v = 0; v < topology->vertex_count; v++)
    largest = topology->size[v] > largest ? topology->size[v] : largest;
  for (uint32_t d = 0; d < program->target.device_count; d++)
    if (!program->target.device[d].moves && json_array_append_new(list, device_json(program, d)) != 0) {
      json_decref(list);
      return NULL;
    }
  return json_pack("{s:I, s:I, s:I, s:I, s:I, s:o}", "tiles", (json_int_t)topology->vertex_count, "arcs",
                   (json_int_t)topology->net_count, "bytes_moved", (json_int_t)moved, "bytes_held",
                   (json_int_t)topology->size_total, "largest_bytes", (json_int_t)largest, "devices", list);
}
