/* Writes the views of cores: what each holds and carries, and of a network that ran, how its neurons fired. */
#include <inttypes.h>

#include "core/measure/core_shares.h"
#include "core/measure/populations_of_parts.h"
#include "core/network/measured.h"
#include "core/output/view_writer.h"

typedef cm_view_writer writer;

static uint32_t core_x(const writer *w, uint32_t part)
{
  return w->mapping->core[part] % w->chip->width;
}

static uint32_t core_y(const writer *w, uint32_t part)
{
  return w->mapping->core[part] / w->chip->width;
}

/* Beside what the mapping itself has: whose neurons a core has, and how they fired. */
typedef struct core_told {
  cm_population_counts populations;
  uint64_t *spikes; /* [parts] of all steps; NULL: the network did not run */
  uint32_t *silent; /* [parts] neurons without one */
} core_told;

static void put_spikes(writer *w, uint32_t part, const core_told *told)
{
  static const char *const names[CM_PEAKS] = {"spikes", "packets_in", "packets_out"};
  (void)fprintf(w->stream, ", \"spikes\": %" PRIu64 ", \"silent\": %" PRIu32, told->spikes[part], told->silent[part]);
  for (int k = 0; w->mapping->peak != NULL && k < CM_PEAKS; k++)
    (void)fprintf(w->stream, "%s\"%s\": %" PRIu64 "%s", k == 0 ? ", \"peaks\": {" : ", ", names[k],
                  w->mapping->peak[(size_t)part * CM_PEAKS + (size_t)k].most, k + 1 == CM_PEAKS ? "}" : "");
}

/* What a core has besides: congestion, its time, how full it is, whose neurons it has, and how they fired. */
static void put_core_more(writer *w, uint32_t part, const core_told *told)
{
  const cm_population_counts *populations = &told->populations;
  const cm_core_load *load = &w->mapping->detail.core[part];
  const uint32_t first = populations->first != NULL ? populations->first[part] : 0, end = populations->first != NULL ? populations->first[part + 1] : 0;
  cm_share share[CM_SHARES_MAX];
  const uint32_t shares = cm_core_shares(w->chip, w->mapping->core[part], load, end - first, share);
  cm_view_put_text(w, ", \"congestion\": ");
  cm_view_put_real(w, cm_congestion_at(&w->mapping->detail, w->chip, w->mapping->core[part]));
  cm_view_put_text(w, ", \"core_ns\": ");
  cm_view_put_real(w, cm_core_ns(&w->chip->costs, load->receive_ns, load->send_ns));
  cm_view_put_text(w, ", \"shares\": {");
  for (uint32_t k = 0; k < shares; k++) {
    (void)fprintf(w->stream, "%s\"%s\": ", k > 0 ? ", " : "", share[k].limit);
    cm_view_put_real(w, cm_share_of(&share[k]));
  }
  cm_view_put_text(w, "}");
  for (uint32_t i = first; i < end; i++)
    (void)fprintf(w->stream, "%s{\"population\": %" PRIu32 ", \"neurons\": %" PRIu32 "}", i == first ? ", \"populations\": [" : ", ",
                  populations->list[i].population, populations->list[i].neurons);
  cm_view_put_text(w, end > first ? "]" : "");
  if (told->spikes != NULL)
    put_spikes(w, part, told);
}

/* One used core as a JSON object; with `told` all of it. */
static void put_core(writer *w, uint32_t part, const core_told *told)
{
  const cm_core_load *load = &w->mapping->detail.core[part];
  (void)fprintf(w->stream,
                "{\"part\": %" PRIu32 ", \"x\": %" PRIu32 ", \"y\": %" PRIu32 ", \"neurons\": %" PRIu64
                ", \"synapses\": %" PRIu64 ", \"inbound_axons\": %" PRIu64 ", \"outbound_axons\": %" PRIu64
                ", \"target_cores\": %" PRIu64 ", \"traffic_in\": ",
                part, core_x(w, part), core_y(w, part), load->neurons, load->synapses, load->inbound_axons,
                load->outbound_axons, load->target_cores);
  cm_view_put_real(w, load->traffic_in);
  cm_view_put_text(w, ", \"traffic_out\": ");
  cm_view_put_real(w, load->traffic_out);
  if (told != NULL)
    put_core_more(w, part, told);
  cm_view_put_text(w, "}");
}

static void put_core_list(writer *w, const char *lead, const core_told *told)
{
  cm_view_put_text(w, lead);
  for (uint32_t p = 0; p < w->mapping->part_count; p++) {
    cm_view_put_text(w, p == 0 ? "\n" : ",\n");
    put_core(w, p, told);
  }
  cm_view_put_text(w, "]");
}

void cm_put_cores(writer *w, const char *lead)
{
  put_core_list(w, lead, NULL);
}

/* How the neurons of each part fired. */
static cm_status count_spikes(const writer *w, core_told *told)
{
  const cm_measured *m = w->demand->network->measured;
  if (m == NULL)
    return CM_OK;
  if (CM_NEW(NULL, told->spikes, w->mapping->part_count, w->error) != CM_OK || CM_NEW(NULL, told->silent, w->mapping->part_count, w->error) != CM_OK)
    return w->error->status;
  for (uint32_t v = 0; v < m->neurons; v++) {
    uint64_t spikes = 0;
    for (uint32_t k = 0; k < m->windows; k++)
      spikes += m->spikes[(size_t)k * m->neurons + v];
    told->spikes[w->mapping->part[v]] += spikes;
    told->silent[w->mapping->part[v]] += spikes == 0;
  }
  return CM_OK;
}

cm_status cm_write_cores_json(writer *w)
{
  core_told told = {.spikes = NULL};
  cm_status status = count_spikes(w, &told);
  if (status == CM_OK && w->demand->network->population_count > 0)
    status = cm_populations_by_part(w->demand, w->mapping->part, w->mapping->part_count, NULL, &told.populations, w->error);
  if (status == CM_OK) {
    (void)fprintf(w->stream, "{\"width\": %" PRIu32 ", \"height\": %" PRIu32, w->chip->width, w->chip->height);
    put_core_list(w, ", \"cores\": [", &told);
    cm_view_put_text(w, "}\n");
    cm_population_counts_free(&told.populations);
  }
  CM_FREE(told.spikes, told.silent);
  return status;
}

cm_status cm_write_cores_csv(writer *w)
{
  cm_view_put_text(w, "part,x,y,neurons,synapses,inbound_axons,outbound_axons,target_cores,traffic_in,traffic_out,"
              "congestion,core_ns\n");
  for (uint32_t p = 0; p < w->mapping->part_count; p++) {
    const cm_core_load *load = &w->mapping->detail.core[p];
    (void)fprintf(w->stream, "%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",",
                  p, core_x(w, p), core_y(w, p), load->neurons, load->synapses, load->inbound_axons, load->outbound_axons,
                  load->target_cores);
    cm_view_put_real(w, load->traffic_in);
    cm_view_put_text(w, ",");
    cm_view_put_real(w, load->traffic_out);
    cm_view_put_text(w, ",");
    cm_view_put_real(w, cm_congestion_at(&w->mapping->detail, w->chip, w->mapping->core[p]));
    cm_view_put_text(w, ",");
    cm_view_put_real(w, cm_core_ns(&w->chip->costs, load->receive_ns, load->send_ns));
    cm_view_put_text(w, "\n");
  }
  return CM_OK;
}
