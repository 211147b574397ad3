/* Nanoseconds a synapse and a pair of parts that talk, as they were measured on networks of 30 thousand to 13 million synapses; those
 * of presets stand in their rows. */
#include "core/output/checking.h"

#include <math.h>
#include <string.h>

#include "core/chip/geometry.h"
#include "core/mapping/options.h"

static const double TENTH = 0.1, JOB_NS = 5e6, CHECK_SYNAPSE_NS = 35, CHECK_CELL_NS = 2, CHECK_LINK_NS = 5, JOB_PAIR_NS = 2000,
                    AGAIN_SYNAPSE_NS = 60, AGAIN_PAIR_NS = 100;

static double pairs_of(const cm_mapping *m)
{
  double pairs = 0;
  for (uint32_t p = 0; p < m->part_count; p++)
    pairs += (double)m->detail.core[p].target_cores;
  return pairs;
}

/* Each pair's packets go over the rectangle between two cores of the region; elsewhere ways are found anew for each part. */
static double check_ns(const cm_mapping *m, const cm_topology *t, const cm_chip *chip)
{
  const double synapses = CHECK_SYNAPSE_NS * (double)(t->pin_count + t->vertex_count);
  const double cells = ((double)m->region->width / 3 + 1) * ((double)m->region->height / 3 + 1);
  return synapses + (cm_geometry_of(chip) == CM_BY_WAYS ? CHECK_LINK_NS * cm_chip_links(chip) * m->part_count
                                                : CHECK_CELL_NS * cells * pairs_of(m));
}

static double job_ns(const cm_mapping *m, const cm_topology *t)
{
  const char *preset = json_string_value(json_object_get(m->options, "preset"));
  if (json_object_get(m->report, "incremental") != NULL)
    return JOB_NS + AGAIN_SYNAPSE_NS * (double)t->pin_count + AGAIN_PAIR_NS * pairs_of(m);
  for (cm_preset i = 0; preset != NULL && i < CM_PRESETS; i++) {
    const cm_preset_facts *facts = cm_preset_facts_of(i);
    if (strcmp(preset, facts->name) == 0)
      return JOB_NS + facts->synapse_ns * fmin((double)t->pin_count, facts->synapses_max * t->vertex_count) +
             JOB_PAIR_NS * pairs_of(m);
  }
  return 0;
}

bool cm_checking_is_cheap(const cm_mapping *mapping, const cm_topology *topology, const cm_chip *chip)
{
  return check_ns(mapping, topology, chip) < TENTH * job_ns(mapping, topology);
}
