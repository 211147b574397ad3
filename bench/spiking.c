/* How many synaptic events a second the functional simulator does: a random network whose neurons fire at a steady rate. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "base/random.h"
#include "core/network/dynamics.h"
#include "core/spiking/simulator.h"

static const char usage[] =
  "usage: bench/spiking [--neurons N] [--targets T] [--delays D] [--steps S] [--rate R] [--threads N]\n"
  "\n"
  "N neurons (77169), LIF, each with T random targets (1000) at delays of 1 to D steps (16), firing in R of the steps (0.02), for S\n"
  "steps (200). Prints one line: events, seconds of the steps, processor seconds, millions of events a second, bytes, all memory at most.\n";

typedef struct setting {
  uint32_t neurons, targets, delays, steps;
  double rate;
  unsigned threads;
} setting;

static double seconds(clockid_t clock)
{
  struct timespec t;
  (void)clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Rows of distinct ascending targets: one in each of T even slices of the neurons. */
static void draw(const setting *s, cm_topology *t)
{
  cm_random random;
  cm_random_init(&random, 1, 1, 1);
  uint64_t at = 0;
  for (uint32_t v = 0; v < s->neurons; v++) {
    for (uint32_t k = 0; k < s->targets; k++, at++) {
      const uint32_t from = (uint32_t)((uint64_t)s->neurons * k / s->targets), to = (uint32_t)((uint64_t)s->neurons * (k + 1) / s->targets);
      const uint64_t bits = cm_random_next(&random);
      t->pin[at] = from + (uint32_t)((bits & 0xffffffff) * (to - from) >> 32);
      t->pin_delay[at] = 1 + (uint32_t)(bits >> 40) % s->delays;
      t->dynamics->weight[at] = bits >> 63 ? 1e-5F : -1e-5F;
    }
    t->net_first[v + 1] = at;
  }
}

static cm_status make(const setting *s, cm_memory *memory, cm_topology *t, cm_dynamics *d, cm_error *error)
{
  const uint64_t pins = (uint64_t)s->neurons * s->targets;
  static const cm_neuron_parameter used[] = {CM_PARAMETER_TAU, CM_PARAMETER_R, CM_PARAMETER_V_THRESHOLD, CM_PARAMETER_BIAS};
  *t = (cm_topology){.directed = true, .vertex_count = s->neurons, .net_count = s->neurons, .pin_count = pins, .weight_scale = 1,
                     .delay_unit_ns = 1000000, .dynamics = d};
  if (CM_NEW(memory, t->net_first, (size_t)s->neurons + 1, error) != CM_OK || CM_NEW(memory, t->pin, pins, error) != CM_OK ||
      CM_NEW(memory, t->pin_delay, pins, error) != CM_OK || CM_NEW(memory, d->weight, pins, error) != CM_OK ||
      CM_NEW(memory, d->model, s->neurons, error) != CM_OK)
    return error->status;
  for (size_t i = 0; i < sizeof used / sizeof *used; i++)
    if (CM_NEW(memory, d->parameter[used[i]], s->neurons, error) != CM_OK)
      return error->status;
  cm_random random;
  cm_random_init(&random, 1, 1, 2);
  for (uint32_t v = 0; v < s->neurons; v++) {
    d->model[v] = CM_NEURON_LIF;
    d->parameter[CM_PARAMETER_TAU][v] = 1e9F;
    d->parameter[CM_PARAMETER_R][v] = 1e12F; /* dt / tau r: 1 */
    d->parameter[CM_PARAMETER_V_THRESHOLD][v] = 1;
    d->parameter[CM_PARAMETER_BIAS][v] = (float)(s->rate * (0.5 + cm_random_unit(&random)));
  }
  draw(s, t);
  return CM_OK;
}

static cm_status run_steps(const setting *s, cm_run *run, const cm_topology *t, cm_error *error)
{
  cm_simulator *simulator;
  cm_step step;
  uint64_t events = 0, spikes = 0;
  const cm_profile_setting running = {.semantics = &cm_semantics_table[CM_SEMANTICS_SNNTORCH], .dt = 1e-3, .sole_reader = true};
  const uint64_t before = atomic_load(&run->memory->used_bytes);
  cm_status status = cm_simulator_new(t, &running, run, &simulator, error);
  if (status != CM_OK)
    return status;
  const uint64_t bytes = atomic_load(&run->memory->used_bytes) - before;
  const uint32_t warm = (uint32_t)(2 / s->rate); /* until neurons fire apart */
  double wall = 0, processor = 0;
  for (uint32_t i = 0; i < warm + s->steps && status == CM_OK; i++) {
    if (i == warm) {
      wall = seconds(CLOCK_MONOTONIC);
      processor = seconds(CLOCK_PROCESS_CPUTIME_ID);
    }
    status = cm_simulator_step(simulator, NULL, 0, &step, error);
    if (status == CM_OK && i >= warm) {
      events += step.events;
      spikes += step.count;
    }
  }
  wall = seconds(CLOCK_MONOTONIC) - wall;
  processor = seconds(CLOCK_PROCESS_CPUTIME_ID) - processor;
  struct rusage most;
  (void)getrusage(RUSAGE_SELF, &most);
  if (status == CM_OK)
    printf("%llu spikes, %llu events, %.3f s, %.3f CPU s, %.1f million events/s, %.1f a CPU second, %.1f bytes a synapse, %.2f GB at most\n",
           (unsigned long long)spikes, (unsigned long long)events, wall, processor, 1e-6 * (double)events / wall,
           1e-6 * (double)events / processor, (double)bytes / (double)t->pin_count, 1024e-9 * (double)most.ru_maxrss);
  cm_simulator_free(simulator);
  return status;
}

static bool parse(int argc, char **argv, setting *s)
{
  static const struct option options[] = {{"neurons", 1, NULL, 'n'}, {"targets", 1, NULL, 't'}, {"delays", 1, NULL, 'd'},
                                          {"steps", 1, NULL, 's'},   {"rate", 1, NULL, 'r'},    {"threads", 1, NULL, 'j'}, {0}};
  for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;)
    switch (c) {
      case 'n': s->neurons = (uint32_t)strtoul(optarg, NULL, 10); break;
      case 't': s->targets = (uint32_t)strtoul(optarg, NULL, 10); break;
      case 'd': s->delays = (uint32_t)strtoul(optarg, NULL, 10); break;
      case 's': s->steps = (uint32_t)strtoul(optarg, NULL, 10); break;
      case 'r': s->rate = strtod(optarg, NULL); break;
      case 'j': s->threads = (unsigned)strtoul(optarg, NULL, 10); break;
      default: return false;
    }
  return optind == argc && s->neurons >= s->targets && s->targets > 0 && s->delays > 0 && s->rate > 0 && s->threads > 0;
}

int main(int argc, char **argv)
{
  setting s = {77169, 1000, 16, 200, 0.02, 1};
  cm_memory memory;
  cm_run run;
  cm_error error;
  cm_topology t;
  cm_dynamics d = {.model = NULL};
  if (!parse(argc, argv, &s)) {
    fputs(usage, stderr);
    return 2;
  }
  cm_memory_init(&memory, 0);
  cm_run_init(&run);
  run.memory = &memory;
  run.threads = s.threads;
  if (make(&s, &memory, &t, &d, &error) == CM_OK && run_steps(&s, &run, &t, &error) == CM_OK)
    return 0;
  fprintf(stderr, "%s\n", error.detail);
  return 1;
}
