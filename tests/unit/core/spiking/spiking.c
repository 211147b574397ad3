/* Networks that run, against a dense simulation in double precision, what frameworks recorded, and steps by hand. */
#include "tests/unit/networks.h"

#include <math.h>

#include "core/network/dynamics.h"
#include "core/spiking/profile.h"
#include "core/spiking/simulator.h"

static cm_error error;
static cm_run run;
static const double dt = 1e-3;

static void set_up(void)
{
  cm_run_init(&run);
}

/* ---- networks ---- */

static float *floats(uint32_t count, float value)
{
  float *made = network_array(count, sizeof *made);
  for (uint32_t i = 0; i < count; i++)
    made[i] = value;
  return made;
}

/* Dynamics of one model: tau 10 ms, tau_syn 5 ms, threshold 1. */
static cm_dynamics *dynamics_of(uint32_t neurons, uint64_t pins, cm_neuron_model model)
{
  static const float normal[CM_NEURON_PARAMETERS] = {[CM_PARAMETER_TAU] = 10e-3F, [CM_PARAMETER_TAU_SYN] = 5e-3F, [CM_PARAMETER_R] = 1,
                                                     [CM_PARAMETER_V_THRESHOLD] = 1, [CM_PARAMETER_W_IN] = 1};
  cm_dynamics *d = network_array(1, sizeof *d);
  d->model = network_array(neurons, 1);
  memset(d->model, (int)model, neurons);
  for (int p = 0; p < CM_NEURON_PARAMETERS; p++)
    if (cm_neuron_has(model, (cm_neuron_parameter)p))
      d->parameter[p] = floats(neurons, normal[p]);
  d->weight = floats((uint32_t)pins, 1);
  return d;
}

static void forget(cm_topology *t)
{
  cm_dynamics_free(t->dynamics);
  CM_FREE(t->pin_delay, t->population, t->population_of);
  network_free(t);
}

/* Sources ascend, and their targets. */
static void synapse(cm_topology *t, uint32_t from, uint32_t to)
{
  t->pin[t->pin_count++] = to;
  for (uint32_t v = from; v < t->vertex_count; v++)
    t->net_first[v + 1] = t->pin_count;
}

static cm_simulator *started(const cm_topology *t, cm_semantics_number semantics)
{
  cm_simulator *s;
  ck_ok(cm_simulator_new(t, &(cm_profile_setting){.semantics = &cm_semantics_table[semantics], .dt = dt}, &run, &s, &error));
  return s;
}

/* Steps of which input 0 fires in those that `fires` names; what neuron `watched` spikes in is in `spikes`. */
static void play(cm_simulator *s, const char *fires, uint32_t watched, char *spikes)
{
  cm_step now;
  const uint32_t input = 0;
  for (size_t i = 0; fires[i] != '\0'; i++) {
    ck_ok(cm_simulator_step(s, &input, fires[i] == '|', &now, &error));
    spikes[i] = '.';
    for (uint32_t k = 0; k < now.count; k++)
      if (now.spike[k] == watched)
        spikes[i] = '|';
    spikes[i + 1] = '\0';
  }
}

/* ---- what frameworks recorded ---- */

/* v of the NIR repository's neuron (tests/data/nir/recorded/lif.csv): of snnTorch tau / dt times as large, of Norse and snnTorch after the
 * reset, of Rockpool too, of Spyx before it. */
START_TEST(one_neuron_is_as_recorded)
{
  static const struct {
    cm_semantics_number semantics;
    int column;
    double times;
  } recorded[] = {{CM_SEMANTICS_NORSE, 1, 1}, {CM_SEMANTICS_SNNTORCH, 2, 25}, {CM_SEMANTICS_SPYX, 3, 1}, {CM_SEMANTICS_ROCKPOOL, 4, 1}};
  cm_topology t = network_of_rows(2, 1);
  cm_simulator *s;
  cm_step now;
  char line[200];
  double value[6];
  synapse(&t, 0, 1);
  t.dynamics = dynamics_of(2, 1, CM_NEURON_LIF);
  t.dynamics->model[0] = CM_NEURON_INPUT;
  t.dynamics->parameter[CM_PARAMETER_TAU][1] = 2.5e-3F;
  t.dynamics->parameter[CM_PARAMETER_V_THRESHOLD][1] = 0.1F;
  FILE *file = fopen(test_data("nir/recorded/lif.csv"), "re");
  ck_assert_ptr_nonnull(file);
  ck_ok(cm_simulator_new(&t, &(cm_profile_setting){.semantics = &cm_semantics_table[recorded[_i].semantics], .dt = 1e-4}, &run, &s, &error));
  const uint32_t input = 0;
  int steps = 0;
  ck_assert_ptr_nonnull(fgets(line, sizeof line, file));
  for (; fgets(line, sizeof line, file) != NULL; steps++) {
    ck_assert_int_eq(sscanf(line, "%lf,%lf,%lf,%lf,%lf,%lf", value, value + 1, value + 2, value + 3, value + 4, value + 5), 6);
    ck_ok(cm_simulator_step(s, &input, value[0] > 0, &now, &error));
    const double v = value[recorded[_i].column] / recorded[_i].times;
    ck_assert_msg(fabs((double)cm_simulator_potentials(s)[1] - v) < 1e-6, "step %d: %.9g, recorded %.9g", steps,
                  (double)cm_simulator_potentials(s)[1], v);
  }
  ck_assert_int_eq(steps, 1000);
  (void)fclose(file);
  cm_simulator_free(s);
  forget(&t);
}
END_TEST

/* ---- a dense simulation ---- */

/* A random network of inputs and neurons with delays, loops and inhibition; weights are multiples of 1 / 64, so that sums are exact. */
static cm_topology random_network(cm_random *random, cm_neuron_model model, bool delays, bool rests)
{
  const uint32_t n = 30 + below(random, 300);
  cm_topology t = network_of_rows(n, (size_t)n * n);
  for (uint32_t v = 0; v < n; v++)
    for (uint32_t to = n / 5; to < n; to++)
      if (below(random, 8) == 0)
        synapse(&t, v, to);
  t.dynamics = dynamics_of(n, t.pin_count, model);
  t.delay_unit_ns = 1000000;
  t.pin_delay = network_array(t.pin_count, sizeof *t.pin_delay);
  for (uint64_t i = 0; i < t.pin_count; i++) {
    t.dynamics->weight[i] = ((float)below(random, 64) - 20) / 64 * 8;
    t.pin_delay[i] = delays ? below(random, 20) : 0;
  }
  for (uint32_t v = 0; v < n; v++) {
    if (v < n / 5)
      t.dynamics->model[v] = CM_NEURON_INPUT;
    t.dynamics->parameter[CM_PARAMETER_TAU][v] = (float)(5 + below(random, 20)) * 1e-3F;
    t.dynamics->parameter[CM_PARAMETER_V_RESET][v] = (float)below(random, 8) / 16 - 0.25F;
    t.dynamics->parameter[CM_PARAMETER_V_THRESHOLD][v] = 0.9F + 0.2F * (float)cm_random_unit(random); /* no sum is as much */
    t.dynamics->parameter[CM_PARAMETER_REFRACTORY][v] = rests ? (float)below(random, 5) * (float)dt : 0;
    if (rests && cm_neuron_has(model, CM_PARAMETER_TAU_SYN) && v % 3 > 0) {
      t.dynamics->parameter[CM_PARAMETER_TAU_SYN_INHIBITORY][v] = (float)(2 + below(random, 20)) * 1e-3F;
      t.dynamics->parameter[CM_PARAMETER_W_IN_INHIBITORY][v] = (float)(v % 3 - 1) * 0.75F;
    }
  }
  return t;
}

typedef struct dense {
  const cm_topology *topology;
  double *v, *current, *second, *sum; /* [neurons]; sum [RING * neurons * 2], what goes to second currents at 1 */
  int *rest;                 /* [neurons] steps that v still stays */
  uint64_t now;
} dense;
enum { RING = 32 };

static void send_dense(dense *d, uint32_t from)
{
  const cm_topology *t = d->topology;
  for (uint64_t i = t->net_first[from]; i < t->net_first[from + 1]; i++) {
    const bool input = t->dynamics->model[from] == CM_NEURON_INPUT;
    const uint64_t delay = t->pin_delay[i] == 0 && !input ? 1 : t->pin_delay[i];
    const float *second = t->dynamics->parameter[CM_PARAMETER_TAU_SYN_INHIBITORY];
    const bool other = second != NULL && second[t->pin[i]] > 0 && t->dynamics->weight[i] < 0;
    d->sum[((d->now + delay) % RING * t->vertex_count + t->pin[i]) * 2 + other] += (double)t->dynamics->weight[i];
  }
}

/* A step in which `fires` [neurons] are the inputs that fire; neurons that do are added. */
static void step_dense(dense *d, bool *fires)
{
  const cm_dynamics *m = d->topology->dynamics;
  const uint32_t n = d->topology->vertex_count;
  for (uint32_t v = 0; v < n; v++)
    if (fires[v])
      send_dense(d, v);
  double *sum = d->sum + d->now % RING * n * 2;
  for (uint32_t v = 0; v < n; v++) {
    if (m->model[v] == CM_NEURON_INPUT)
      continue;
    const double tau = (double)m->parameter[CM_PARAMETER_TAU][v];
    double in = sum[v * 2];
    if (m->parameter[CM_PARAMETER_TAU_SYN] != NULL)
      in = d->current[v] += dt / (double)m->parameter[CM_PARAMETER_TAU_SYN][v] * (in - d->current[v]);
    const double other = m->parameter[CM_PARAMETER_TAU_SYN_INHIBITORY] != NULL ? (double)m->parameter[CM_PARAMETER_TAU_SYN_INHIBITORY][v] : 0;
    if (other > 0) {
      const double w = (double)m->parameter[CM_PARAMETER_W_IN_INHIBITORY][v];
      in += d->second[v] += dt / other * ((w > 0 ? w : 1) * sum[v * 2 + 1] - d->second[v]);
    }
    d->v[v] += d->rest[v] == 0 ? dt / tau * (in - d->v[v]) : 0;
    fires[v] = d->rest[v] == 0 && d->v[v] > (double)m->parameter[CM_PARAMETER_V_THRESHOLD][v];
    d->rest[v] -= d->rest[v] > 0;
    if (fires[v]) {
      d->v[v] = (double)m->parameter[CM_PARAMETER_V_RESET][v];
      d->rest[v] = (int)lround((double)m->parameter[CM_PARAMETER_REFRACTORY][v] / dt);
    }
    sum[v * 2] = sum[v * 2 + 1] = 0;
  }
  for (uint32_t v = 0; v < n; v++)
    if (fires[v] && m->model[v] != CM_NEURON_INPUT)
      send_dense(d, v);
  d->now++;
}

START_TEST(random_networks_are_as_a_dense_simulation)
{
  cm_random random;
  cm_step now;
  cm_random_init(&random, 7, 1, (uint64_t)_i);
  cm_topology t = random_network(&random, _i % 2 == 0 ? CM_NEURON_LIF : CM_NEURON_CUBALIF, _i % 3 > 0, _i % 4 > 1);
  const uint32_t n = t.vertex_count;
  dense d = {.topology = &t, .v = network_array(n, sizeof *d.v), .current = network_array(n, sizeof *d.v), .second = network_array(n, sizeof *d.v), .rest = network_array(n, sizeof *d.rest),
             .sum = network_array((size_t)RING * n * 2, sizeof *d.v)};
  cm_simulator *s = started(&t, CM_SEMANTICS_SNNTORCH);
  bool *fires = network_array(n, sizeof *fires);
  uint32_t *input = network_array(n, sizeof *input);
  uint64_t spikes = 0;
  for (int step = 0; step < 200; step++) {
    uint32_t inputs = 0, at = 0;
    memset(fires, 0, n);
    for (uint32_t v = 0; v < n / 5; v++)
      if (below(&random, 6) == 0) {
        fires[v] = true;
        input[inputs++] = v;
      }
    step_dense(&d, fires);
    ck_ok(cm_simulator_step(s, input, inputs, &now, &error));
    for (uint32_t v = 0; v < n; v++) {
      const bool fired = at < now.count && now.spike[at] == v;
      ck_assert_msg(fired == fires[v], "step %d, neuron %u", step, v);
      at += fired;
    }
    spikes += now.count - inputs;
  }
  ck_assert_uint_gt(spikes, n); /* not a network that rests */
  cm_simulator_free(s);
  CM_FREE(fires, input, d.v, d.current, d.second, d.sum, d.rest);
  forget(&t);
}
END_TEST

/* ---- by hand ---- */

/* An input and a chain of populations of one IF each: without delays all act in the step of the input. */
static cm_topology chain(uint32_t neurons, uint32_t back)
{
  cm_topology t = network_of_rows(neurons, neurons + 1);
  for (uint32_t v = 0; v + 1 < neurons; v++)
    synapse(&t, v, v + 1);
  if (back > 0)
    synapse(&t, neurons - 1, back);
  t.population_count = neurons;
  t.population = network_array(neurons, sizeof *t.population);
  t.population_of = network_array(neurons, sizeof *t.population_of);
  for (uint32_t v = 0; v < neurons; v++)
    t.population_of[v] = v;
  t.dynamics = dynamics_of(neurons, t.pin_count, CM_NEURON_IF);
  t.dynamics->model[0] = CM_NEURON_INPUT;
  for (uint64_t i = 0; i < t.pin_count; i++)
    t.dynamics->weight[i] = 1.5F;
  return t;
}

START_TEST(populations_act_in_order_and_loops_take_a_step)
{
  static const struct {
    cm_semantics_number semantics;
    uint32_t back;
    const char *last; /* neuron 3 of 0 -> 1 -> 2 -> 3 */
  } cases[] = {{CM_SEMANTICS_SNNTORCH, 0, "|......"},
               {CM_SEMANTICS_SPYX, 0, "...|..."},      /* each layer a step later */
               {CM_SEMANTICS_SNNTORCH, 2, ".|.|.|."},  /* 2 and 3 are a loop */
               {CM_SEMANTICS_SNNTORCH, 3, "|||||||"}}; /* 3 alone is one */
  char spikes[16];
  cm_topology t = chain(4, cases[_i].back);
  cm_simulator *s = started(&t, cases[_i].semantics);
  play(s, "|......", 3, spikes);
  ck_assert_str_eq(spikes, cases[_i].last);
  cm_simulator_free(s);
  forget(&t);
}
END_TEST

/* An IF of threshold 1 that gets 1.5 in each of three steps: what is left of it says how it was reset. */
START_TEST(resets_by_hand)
{
  static const struct {
    cm_semantics_number semantics;
    float left[3];
  } cases[] = {{CM_SEMANTICS_SNNTORCH, {0, 0, 0}}, {CM_SEMANTICS_ROCKPOOL, {0.5F, 1, 1.5F}}, {CM_SEMANTICS_SPYX, {1.5F, 2, 2.5F}},
               {CM_SEMANTICS_SNNTORCH_SUBTRACT, {0.5F, 1, 1.5F}}, {CM_SEMANTICS_EXACT, {0, 0, 0}}};
  cm_step now;
  const uint32_t input = 0;
  cm_topology t = chain(2, 0);
  cm_simulator *s = started(&t, cases[_i].semantics);
  for (int i = 0; i < 3; i++) {
    ck_ok(cm_simulator_step(s, &input, 1, &now, &error));
    ck_assert_float_eq(cm_simulator_potentials(s)[1], cases[_i].left[i]);
  }
  cm_simulator_free(s);
  forget(&t);
}
END_TEST

/* LI under a constant current of 1 for 10 ms is 1 - exp(-1) where the equations are solved, whatever the steps. In the last case a second current
 * of 5 ms takes twice a current of -1. */
START_TEST(exact_is_the_solution)
{
  cm_step now;
  const uint32_t input = 0;
  cm_topology t = chain(2, 0);
  cm_dynamics_free(t.dynamics);
  t.dynamics = dynamics_of(2, 1, _i == 0 ? CM_NEURON_LI : CM_NEURON_CUBALI);
  t.dynamics->model[0] = CM_NEURON_INPUT;
  if (_i == 2) {
    t.dynamics->weight[0] = -1;
    t.dynamics->parameter[CM_PARAMETER_TAU_SYN][1] = 7e-3F;
    t.dynamics->parameter[CM_PARAMETER_TAU_SYN_INHIBITORY][1] = 5e-3F;
    t.dynamics->parameter[CM_PARAMETER_W_IN_INHIBITORY][1] = 2;
  }
  cm_simulator *s = started(&t, CM_SEMANTICS_EXACT);
  for (int i = 0; i < 10; i++)
    ck_ok(cm_simulator_step(s, &input, 1, &now, &error));
  const double a = exp(-1), b = exp(-2); /* of tau 10 ms and tau_syn 5 ms */
  ck_assert_double_eq_tol((double)cm_simulator_potentials(s)[1], _i == 0 ? 1 - a : (_i == 1 ? 1 : -2) * (1 - 2 * a + b), 1e-6);
  cm_simulator_free(s);
  forget(&t);
}
END_TEST

START_TEST(parallel_synapses_act_each_at_its_time)
{
  char spikes[16];
  cm_topology t = chain(2, 0);
  t.delay_unit_ns = 1000000;
  t.pin_delay = network_array(1, sizeof *t.pin_delay);
  t.pin_delay[0] = 1;
  t.dynamics->parallel = network_array(1, sizeof *t.dynamics->parallel);
  t.dynamics->parallel_count = 1;
  t.dynamics->parallel[0] = (cm_parallel_synapse){.pin = 0, .weight = 2, .delay = 4};
  cm_simulator *s = started(&t, CM_SEMANTICS_SNNTORCH);
  play(s, "|......", 1, spikes);
  ck_assert_str_eq(spikes, ".|..|..");
  cm_simulator_free(s);
  forget(&t);
}
END_TEST

/* ---- threads ---- */

/* Enough synapses for a second thread, and blocks of targets that are full and not; weights whose sums depend on their order. */
START_TEST(spikes_are_the_same_for_any_number_of_threads)
{
  enum { NEURONS = 3000, TARGETS = 400, STEPS = 40 };
  cm_random random;
  cm_step one, many;
  cm_random_init(&random, 8, 1, 1);
  cm_topology t = network_of_rows(NEURONS, (size_t)NEURONS * TARGETS);
  for (uint32_t v = 0; v < NEURONS; v++, t.net_first[v] = t.pin_count)
    for (uint32_t k = 0; k < TARGETS; k++)
      t.pin[t.pin_count++] = (uint32_t)(NEURONS * k / TARGETS) + below(&random, NEURONS / TARGETS);
  t.dynamics = dynamics_of(NEURONS, t.pin_count, CM_NEURON_LIF);
  t.delay_unit_ns = 1000000;
  t.pin_delay = network_array(t.pin_count, sizeof *t.pin_delay);
  for (uint64_t i = 0; i < t.pin_count; i++) {
    t.dynamics->weight[i] = (float)cm_random_unit(&random) - 0.45F;
    t.pin_delay[i] = 1 + below(&random, 30);
  }
  for (uint32_t v = 0; v < NEURONS; v++)
    t.dynamics->parameter[CM_PARAMETER_BIAS][v] = 3 * (float)cm_random_unit(&random);
  cm_simulator *alone = started(&t, CM_SEMANTICS_SNNTORCH);
  run.threads = 3;
  cm_simulator *together; /* whose synapses are the only ones left */
  ck_ok(cm_simulator_new(&t, &(cm_profile_setting){.semantics = &cm_semantics_table[CM_SEMANTICS_SNNTORCH], .dt = dt, .sole_reader = true}, &run, &together, &error));
  uint64_t spikes = 0;
  for (int step = 0; step < STEPS; step++) {
    ck_ok(cm_simulator_step(alone, NULL, 0, &one, &error));
    ck_ok(cm_simulator_step(together, NULL, 0, &many, &error));
    ck_assert_uint_eq(one.count, many.count);
    ck_assert_uint_eq(one.events, (uint64_t)one.count * TARGETS);
    ck_assert(one.count == 0 || memcmp(one.spike, many.spike, one.count * sizeof *one.spike) == 0);
    ck_assert_int_eq(memcmp(cm_simulator_potentials(alone), cm_simulator_potentials(together), NEURONS * sizeof(float)), 0);
    spikes += one.count;
  }
  ck_assert_uint_gt(spikes, NEURONS);
  cm_simulator_free(alone);
  cm_simulator_free(together);
  forget(&t);
}
END_TEST

/* ---- refusals ---- */

static void refuse(cm_topology *t, cm_semantics_number semantics, double step, const char *words)
{
  cm_simulator *s;
  ck_assert_int_ne(cm_simulator_new(t, &(cm_profile_setting){.semantics = &cm_semantics_table[semantics], .dt = step}, &run, &s, &error), CM_OK);
  ck_assert_msg(strstr(error.detail, words) != NULL, "%s", error.detail);
}

START_TEST(what_cannot_run_is_refused)
{
  cm_topology t = chain(2, 0);
  cm_dynamics *kept = t.dynamics;
  t.dynamics = NULL;
  refuse(&t, CM_SEMANTICS_SNNTORCH, dt, "does not say how its neurons behave");
  t.dynamics = dynamics_of(2, 1, CM_NEURON_LIF);
  t.dynamics->model[0] = CM_NEURON_INPUT;
  refuse(&t, CM_SEMANTICS_SNNTORCH, 0, "dt is missing: neuron 1 has a tau of 0.01 s");
  refuse(&t, CM_SEMANTICS_SNNTORCH, 0.03, "neuron 1 has a tau of 0.01 s, below half of dt, 0.03 s, where snntorch is unstable: give a dt of at most 0.02");
  t.dynamics->parameter[CM_PARAMETER_REFRACTORY][1] = 2.5e-3F;
  refuse(&t, CM_SEMANTICS_SNNTORCH, dt, "neuron 1 has a refractory time of 0.0025 s, which is 2.5 steps of 0.001 s: it has to be whole steps");
  refuse(&t, CM_SEMANTICS_SPYX, dt, "and spyx resets in a later step");
  t.dynamics->parameter[CM_PARAMETER_REFRACTORY][1] = 0;
  t.dynamics->model[1] = CM_NEURON_CUBALIF;
  t.dynamics->parameter[CM_PARAMETER_TAU_SYN] = floats(2, 5e-3F);
  t.dynamics->parameter[CM_PARAMETER_W_IN_INHIBITORY] = floats(2, 2);
  refuse(&t, CM_SEMANTICS_SNNTORCH, dt, "neuron 1 has a w_in_inhibitory of 2, but no tau_syn_inhibitory: give both or neither");
  t.dynamics->parameter[CM_PARAMETER_TAU_SYN_INHIBITORY] = floats(2, 1e-4F);
  refuse(&t, CM_SEMANTICS_SNNTORCH, dt, "neuron 1 has a tau_syn_inhibitory of 0.0001 s, below half of dt");
  t.dynamics->model[1] = CM_NEURON_LIF;
  t.dynamics->parameter[CM_PARAMETER_TAU][1] = 0;
  refuse(&t, CM_SEMANTICS_EXACT, dt, "a time constant is above 0");
  cm_dynamics_free(t.dynamics);
  t.dynamics = kept;
  t.delay_unit_ns = 1000;
  t.pin_delay = network_array(1, sizeof *t.pin_delay);
  t.pin_delay[0] = 1250;
  refuse(&t, CM_SEMANTICS_SNNTORCH, dt, "from neuron 0 to neuron 1 has a delay of 1.25 ms, no multiple of dt, 1 ms: it is 0.25 ms off");
  refuse(&t, CM_SEMANTICS_SNNTORCH, 0, "dt is missing: the synapse from neuron 0 to neuron 1 has a delay of 1.25 ms");
  forget(&t);
}
END_TEST

/* ---- chance ---- */

START_TEST(poisson_is_as_often_as_asked_and_not_by_turns)
{
  cm_topology t = network_of_rows(2000, 1);
  cm_stimulus stimulus;
  const uint32_t *input;
  uint32_t count;
  uint64_t sum = 0, squares = 0, both = 0;
  static bool before[2000];
  t.dynamics = dynamics_of(2000, 1, CM_NEURON_INPUT);
  ck_ok(cm_stimulus_poisson(&t, &(cm_poisson){.rate = 200, .dt = dt, .seed = 3}, &run, &stimulus, &error));
  for (uint32_t step = 0; step < 500; step++) {
    bool now[2000] = {false};
    ck_ok(cm_stimulus_step(&stimulus, step, &input, &count, &error));
    for (uint32_t i = 0; i < count; i++) {
      now[input[i]] = true;
      both += before[input[i]];
    }
    memcpy(before, now, sizeof now);
    sum += count;
    squares += (uint64_t)count * count;
  }
  const double mean = (double)sum / 500, spread = (double)squares / 500 - mean * mean;
  ck_assert_double_eq_tol(mean, 400, 4);                  /* deviation 0.8 */
  ck_assert_double_eq_tol(spread, 2000 * 0.2 * 0.8, 80);  /* that of a binomial, 320 */
  ck_assert_double_eq_tol((double)both, 499 * 2000 * 0.04, 1000);
  cm_stimulus_free(&stimulus);
  forget(&t);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("spiking");
  TCase *tests = tcase_create("spiking");
  tcase_add_checked_fixture(tests, set_up, NULL);
  tcase_add_loop_test(tests, one_neuron_is_as_recorded, 0, 4);
  tcase_add_loop_test(tests, random_networks_are_as_a_dense_simulation, 0, (int)test_rounds(12));
  tcase_add_loop_test(tests, populations_act_in_order_and_loops_take_a_step, 0, 4);
  tcase_add_loop_test(tests, resets_by_hand, 0, 5);
  tcase_add_loop_test(tests, exact_is_the_solution, 0, 3);
  tcase_add_test(tests, parallel_synapses_act_each_at_its_time);
  tcase_add_test(tests, spikes_are_the_same_for_any_number_of_threads);
  tcase_add_test(tests, what_cannot_run_is_refused);
  tcase_add_test(tests, poisson_is_as_often_as_asked_and_not_by_turns);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
