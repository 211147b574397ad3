/* Where parts and layers are, and nothing else. */
#include <inttypes.h>

#include "base/json.h"
#include "core/output/exports/writers.h"

static void put_le(FILE *out, uint64_t value, unsigned bytes)
{
  for (unsigned i = 0; i < bytes; i++)
    (void)fputc((int)(value >> 8 * i & 0xff), out);
}

/* Little endian: u64 number of parts, then i32 x, i32 y of each. */
cm_status cm_export_hgrade(const cm_mapped *mapped, cm_run *run, FILE *stream, cm_error *error)
{
  put_le(stream, mapped->parts, 8);
  for (uint32_t p = 0; p < mapped->parts; p++) {
    put_le(stream, mapped->core[p] % mapped->chip->width, 4);
    put_le(stream, mapped->core[p] / mapped->chip->width, 4);
  }
  return cm_run_check(run, error);
}

/* Neurons of a population on one core, those beside each other as [first, last]. */
static void put_range(FILE *out, const cm_mapped *m, uint32_t part, uint32_t first, uint32_t last, bool lead)
{
  (void)fprintf(out, "%s\n    {\"core\": [%" PRIu32 ", %" PRIu32 "], \"part\": %" PRIu32 ", \"neurons\": [%" PRIu32 ", %" PRIu32 "]}", lead ? "" : ",",
                m->core[part] % m->chip->width, m->core[part] / m->chip->width, part, first, last);
}

cm_status cm_export_lava(const cm_mapped *m, cm_run *run, FILE *stream, cm_error *error)
{
  const cm_topology *t = m->demand->network;
  cm_groups g;
  CM_TRY(cm_groups_of(t, run, &g, error));
  (void)fputs("{\"chip\": ", stream);
  cm_json_put_string(m->chip->name, stream);
  (void)fprintf(stream, ", \"cores\": [%" PRIu32 ", %" PRIu32 "], \"layers\": [", m->chip->width, m->chip->height);
  bool lead = true;
  for (uint32_t p = 0; p < g.count; p++) {
    if (g.first[p] == g.first[p + 1])
      continue;
    (void)fputs(lead ? "\n  {\"name\": " : ",\n  {\"name\": ", stream);
    cm_json_put_string(t->population_count > 0 ? t->population[p].name : "network", stream);
    (void)fputs(", \"kind\": ", stream);
    cm_json_put_string(t->population_count > 0 ? t->population[p].kind : "", stream);
    (void)fprintf(stream, ", \"size\": %" PRIu32 ", \"placed\": [", g.first[p + 1] - g.first[p]);
    for (uint32_t i = g.first[p], end; i < g.first[p + 1]; i = end) {
      uint32_t part = m->part[g.neuron[i]];
      for (end = i + 1; end < g.first[p + 1] && m->part[g.neuron[end]] == part; end++) {}
      put_range(stream, m, part, i - g.first[p], end - 1 - g.first[p], i == g.first[p]);
    }
    (void)fputs("]}", stream);
    lead = false;
  }
  (void)fputs("\n]}\n", stream);
  cm_groups_free(&g);
  return cm_run_check(run, error);
}
