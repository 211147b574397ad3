/* The cortical microcircuit of Potjans and Diesmann (2014): eight populations, a table of connection probabilities.
 *
 * A projection of probability p between N and M neurons has ln(1-p) / ln(1 - 1/(NM)) synapses, each between a source
 * and a target drawn at random, so that pairs may have several (docs/reference/generators.md). Here the synapses of a projection
 * are first dealt to its sources, which leaves their numbers distributed the same and lets every row be drawn when it
 * is written. What can fail: memory, the disk, the run. */
#include <math.h>
#include <stdio.h>

#include "base/random.h"
#include "base/threads.h"
#include "core/generate/generate.h"
#include "core/network/topology_file.h"

enum { POPULATIONS = CM_MICROCIRCUIT_POPULATIONS, PROJECTIONS = POPULATIONS * POPULATIONS, RATE_SCALE = 1024 };

/* Random streams: of a projection, of a neuron. */
enum { STREAM_DEAL = 3, STREAM_ROW = 4 };

/* Layers 2/3, 4, 5 and 6, excitatory before inhibitory. */
static const double full_size[POPULATIONS] = {20683, 5834, 21915, 5479, 4850, 1065, 14395, 2948};

/* Mean rates, spikes a second. */
static const double mean_rate[POPULATIONS] = {0.903, 2.965, 4.414, 5.876, 7.569, 8.633, 1.105, 7.829};

static const double probability[POPULATIONS][POPULATIONS] = { /* [target][source] */
  {0.1009, 0.1689, 0.0437, 0.0818, 0.0323, 0.0000, 0.0076, 0.0000},
  {0.1346, 0.1371, 0.0316, 0.0515, 0.0755, 0.0000, 0.0042, 0.0000},
  {0.0077, 0.0059, 0.0497, 0.1350, 0.0067, 0.0003, 0.0453, 0.0000},
  {0.0691, 0.0029, 0.0794, 0.1597, 0.0033, 0.0000, 0.1057, 0.0000},
  {0.1004, 0.0622, 0.0505, 0.0057, 0.0831, 0.3726, 0.0204, 0.0000},
  {0.0548, 0.0269, 0.0257, 0.0022, 0.0600, 0.3158, 0.0086, 0.0000},
  {0.0156, 0.0066, 0.0211, 0.0166, 0.0572, 0.0197, 0.0396, 0.2252},
  {0.0364, 0.0010, 0.0034, 0.0005, 0.0277, 0.0080, 0.0658, 0.1443},
};

cm_status cm_microcircuit_counts(double scale, cm_microcircuit *counts, cm_error *error)
{
  if (!(scale >= 0.001 && scale <= 10))
    return cm_fail(error, CM_BAD_OPTION, "a microcircuit of scale %g cannot be made: 0.001 to 10 is expected", scale);
  *counts = (cm_microcircuit){0};
  for (int p = 0; p < POPULATIONS; p++) {
    counts->size[p] = (uint32_t)llround(scale * full_size[p]);
    counts->neurons += counts->size[p];
  }
  for (int to = 0; to < POPULATIONS; to++)
    for (int from = 0; from < POPULATIONS; from++) {
      double pairs = (double)counts->size[to] * counts->size[from];
      if (probability[to][from] <= 0 || pairs < 2)
        continue;
      counts->synapses[to][from] = (uint64_t)llround(log(1 - probability[to][from]) / log((pairs - 1) / pairs));
      counts->synapse_count += counts->synapses[to][from];
    }
  return CM_OK;
}

typedef struct microcircuit {
  cm_run *run;
  cm_microcircuit counts;
  uint32_t begin[POPULATIONS + 1]; /* the first neuron of each population */
  uint32_t *dealt;                 /* [neurons][POPULATIONS] synapses of a neuron to each population */
  uint32_t *times;                 /* [neurons] how often the row under way has each target */
  uint64_t *marked;                /* [neurons / 64 + 1] bits of the targets it has */
  uint32_t *target;                /* [neurons] of the row */
  uint64_t *weight;                /* [neurons] */
} microcircuit;

/* Deals the synapses of one projection to its sources. */
static cm_status deal(void *context, size_t projection, cm_error *error)
{
  microcircuit *m = context;
  size_t to = projection / POPULATIONS, from = projection % POPULATIONS;
  cm_random random;
  cm_random_init(&random, m->run->seed, STREAM_DEAL, projection);
  for (uint64_t i = 0; i < m->counts.synapses[to][from]; i++) {
    size_t source = m->begin[from] + cm_random_below(&random, m->counts.size[from]);
    m->dealt[source * POPULATIONS + to]++;
    CM_TRY_IF(i % (1 << 20) == 0, cm_run_check(m->run, error));
  }
  return CM_OK;
}

/* Draws the targets of one neuron: ascending, with the number of synapses to each. Returns how many there are. */
static uint64_t draw_row(microcircuit *m, uint32_t source)
{
  cm_random random;
  uint64_t count = 0;
  cm_random_init(&random, m->run->seed, STREAM_ROW, source);
  for (size_t to = 0; to < POPULATIONS; to++)
    for (uint32_t i = m->dealt[(size_t)source * POPULATIONS + to]; i > 0; i--) {
      uint32_t target = m->begin[to] + (uint32_t)cm_random_below(&random, m->counts.size[to]);
      m->times[target]++;
      m->marked[target / 64] |= UINT64_C(1) << target % 64;
    }
  for (size_t word = 0; word <= m->counts.neurons / 64; word++) {
    for (uint64_t bits = m->marked[word]; bits != 0; bits &= bits - 1) {
      uint32_t target = (uint32_t)(word * 64) + (uint32_t)__builtin_ctzll(bits);
      m->target[count] = target;
      m->weight[count++] = m->times[target];
      m->times[target] = 0;
    }
    m->marked[word] = 0;
  }
  return count;
}

static cm_status write_rows(microcircuit *m, bool rates, cm_topology_writer *writer, cm_microcircuit_report *report,
                            cm_error *error)
{
  size_t population = 0;
  for (uint32_t source = 0; source < m->counts.neurons; source++) {
    while (source >= m->begin[population + 1])
      population++;
    uint64_t unit = rates ? (uint64_t)llround(mean_rate[population] * RATE_SCALE) : 1, count = draw_row(m, source);
    bool plain = true; /* every pair has one synapse */
    for (uint64_t i = 0; i < count; i++) {
      report->synapses += m->weight[i];
      report->autapses += m->target[i] == source;
      plain = plain && m->weight[i] == 1;
      m->weight[i] *= unit;
    }
    report->pairs += count;
    cm_topology_row row = {source, unit, count, m->target, plain ? NULL : m->weight, NULL};
    CM_TRY_IF(count > 0, cm_topology_writer_row(writer, &row, error));
    CM_TRY_IF(source % 64 == 0, cm_run_progress(m->run, (double)source / m->counts.neurons, -1, m->counts.neurons, NAN, error));
  }
  cm_topology_writer_merged(writer, report->synapses - report->pairs, report->autapses);
  return CM_OK;
}

/* The eight populations as runs of neurons. */
static cm_status name_populations(const microcircuit *m, cm_topology_writer *writer, cm_error *error)
{
  static const char *const names[POPULATIONS] = {"L23E", "L23I", "L4E", "L4I", "L5E", "L5I", "L6E", "L6I"};
  cm_population population[POPULATIONS] = {{.kind = ""}};
  uint32_t *of;
  CM_TRY(CM_NEW(m->run->memory, of, m->counts.neurons, error));
  for (uint32_t p = 0; p < POPULATIONS; p++) {
    (void)snprintf(population[p].name, sizeof population[p].name, "%s", names[p]);
    for (uint32_t v = m->begin[p]; v < m->begin[p + 1]; v++)
      of[v] = p;
  }
  cm_status status = cm_topology_writer_populations(writer, population, POPULATIONS, of, error);
  cm_free(of);
  return status;
}

static cm_status generate(microcircuit *m, bool rates, const char *path, cm_microcircuit_report *report, cm_error *error)
{
  cm_memory *memory = m->run->memory;
  uint32_t neurons = m->counts.neurons;
  cm_topology_header header = {.directed = true, .vertex_count = neurons, .weight_scale = rates ? RATE_SCALE : 1};
  cm_topology_writer *writer;
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(m->dealt, (size_t)neurons * POPULATIONS), CM_ARRAY(m->times, neurons),
                    CM_ARRAY(m->marked, neurons / 64 + 1), CM_ARRAY(m->target, neurons), CM_ARRAY(m->weight, neurons)));
  CM_TRY(cm_parallel(m->run, PROJECTIONS, deal, m, error));
  CM_TRY(cm_topology_writer_open(path, &header, NULL, &writer, error));
  if (name_populations(m, writer, error) != CM_OK || write_rows(m, rates, writer, report, error) != CM_OK) {
    cm_topology_writer_abort(writer);
    return error->status;
  }
  cm_run_phase(m->run, "write");
  return cm_topology_writer_close(writer, error);
}

cm_status cm_generate_microcircuit(double scale, bool rates, const char *path, cm_run *run,
                                   cm_microcircuit_report *report, cm_error *error)
{
  microcircuit m = {.run = run};
  cm_microcircuit_report made = {0};
  CM_TRY(cm_microcircuit_counts(scale, &m.counts, error));
  for (int p = 0; p < POPULATIONS; p++)
    m.begin[p + 1] = m.begin[p] + m.counts.size[p];
  cm_run_phase(run, "generate");
  cm_status status = generate(&m, rates, path, &made, error);
  CM_FREE(m.dealt, m.times, m.marked, m.target, m.weight);
  if (status == CM_OK && report != NULL)
    *report = made;
  return status;
}
