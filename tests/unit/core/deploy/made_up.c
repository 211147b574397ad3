/* docs/how-to/new-chip.md, walked for a chip that nobody has: weights of 8 bits, a spike where v reaches the threshold, which it then loses. What its
 * emitter writes is executed by a chip of the test's own, which knows nothing of images. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/deploy/deploy.h"
#include "core/deploy/emitters.h"
#include "core/network/dynamics.h"
#include "tests/unit/chips.h"

enum { INPUTS = 12, NEURONS = 48, STEPS = 150, CORES = 2, ROOM = 256, LATEST = 512 };
static const double dt = 1e-3;
static cm_error error;
static cm_run run;

/* ---- what a chip takes: a neuron, and an emitter ---- */

bool cm_made_up_neuron(const cm_chip_parameters *p, int32_t in, cm_chip_state *s)
{
  s->v += in - (int32_t)((s->v * (int64_t)p->decay_v + (s->v < 0 ? -2048 : 2048)) / 4096);
  const bool spikes = s->v >= p->threshold;
  s->v -= spikes ? p->threshold : 0;
  return spikes;
}

cm_status cm_emit_made_up(const cm_images *images, const cm_spikes *given, FILE *stream, cm_error *failure)
{
  (void)failure;
  for (uint32_t i = 0; i < images->cores; i++) {
    const cm_core_image *c = &images->image[i];
    for (uint32_t k = 0; k < c->neurons; k++) {
      const cm_image_neuron *n = &c->neuron[k];
      (void)fprintf(stream, "n %" PRIu32 " %" PRIu32 " %d %d 0\n", c->core, k, n->parameter.decay_v, n->parameter.threshold);
      for (uint32_t j = n->entry; j < n->entry + n->entries; j++)
        (void)fprintf(stream, "s %" PRIu32 " %" PRIu32 " %" PRIu32 " %d %d\n", c->core, k, c->pool[j].target, c->pool[j].weight, c->pool[j].delay);
      for (uint32_t j = n->route; j < n->route + n->routes; j++)
        (void)fprintf(stream, "r %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " 0\n", c->core, k, c->route[j].core, c->route[j].neuron);
    }
  }
  for (uint32_t step = 0; step < given->steps; step++)
    for (uint64_t i = given->first[step]; i < given->first[step + 1]; i++)
      if (images->image[images->core[given->neuron[i]]].neuron[images->at[given->neuron[i]]].kind == CM_IMAGE_INPUT)
        (void)fprintf(stream, "i %" PRIu32 " %" PRIu32 " %" PRIu32 " 0 0\n", step, images->image[images->core[given->neuron[i]]].core, images->at[given->neuron[i]]);
  return CM_OK;
}

/* ---- the chip ---- */

typedef struct command {
  char what;
  int a[5];
} command;

/* All spikes by step, core and neuron as rows of three; how many. */
static size_t execute(const char *text, uint32_t steps, uint32_t spike[][3], size_t most)
{
  static int in[LATEST][CORES][ROOM], v[CORES][ROOM], decay[CORES][ROOM], threshold[CORES][ROOM];
  static command list[20000];
  size_t commands = 0, spikes = 0;
  memset(in, 0, sizeof in);
  memset(v, 0, sizeof v);
  memset(threshold, 0, sizeof threshold); /* 0: there is no neuron */
  for (const char *line = text; *line != '\0'; line = strchr(line, '\n') + 1) {
    command *c = &list[commands++];
    ck_assert_uint_lt(commands, 20000);
    ck_assert_int_eq(sscanf(line, "%c %d %d %d %d %d", &c->what, &c->a[0], &c->a[1], &c->a[2], &c->a[3], &c->a[4]), 6);
    if (c->what == 'n') {
      decay[c->a[0]][c->a[1]] = c->a[2];
      threshold[c->a[0]][c->a[1]] = c->a[3];
    } else if (c->what == 'i')
      in[c->a[0]][c->a[1]][c->a[2]]++;
    else if (c->what == 's')
      ck_assert_msg(c->a[3] >= -128 && c->a[3] <= 127, "a weight of %d", c->a[3]);
  }
  for (uint32_t t = 0; t < steps; t++)
    for (int core = 0; core < CORES; core++)
      for (int n = 0; n < ROOM; n++) {
        int *at = &v[core][n];
        *at += in[t][core][n] - (int)lround(*at * decay[core][n] / 4096.0);
        if (threshold[core][n] == 0 || *at < threshold[core][n])
          continue;
        *at -= threshold[core][n];
        ck_assert_uint_lt(spikes, most);
        spike[spikes][0] = t;
        spike[spikes][1] = (uint32_t)core;
        spike[spikes++][2] = (uint32_t)n;
        for (size_t k = 0; k < commands; k++) {
          const command *c = &list[k];
          if (c->a[0] != core || c->a[1] != n)
            continue;
          if (c->what == 's')
            in[t + 1 + (uint32_t)c->a[4]][core][c->a[2]] += c->a[3];
          else if (c->what == 'r')
            in[t + 1][c->a[2]][c->a[3]]++;
        }
      }
  return spikes;
}

/* ---- the network ---- */

static float *floats(size_t count, float value)
{
  float *made = network_array(count, sizeof *made);
  for (size_t i = 0; i < count; i++)
    made[i] = value;
  return made;
}

/* Inputs, and neurons that reach later ones, some with less than nothing. */
static cm_topology random_network(cm_random *random)
{
  cm_topology t = network_of_rows(NEURONS, (size_t)NEURONS * NEURONS);
  for (uint32_t v = 0; v < NEURONS; v++) {
    for (uint32_t to = v < INPUTS ? INPUTS : v + 1; to < NEURONS; to++)
      if (below(random, 3) == 0)
        t.pin[t.pin_count++] = to;
    t.net_first[v + 1] = t.pin_count;
  }
  cm_dynamics *d = t.dynamics = network_array(1, sizeof *d);
  d->model = network_array(NEURONS, 1);
  for (uint32_t v = 0; v < NEURONS; v++)
    d->model[v] = v < INPUTS ? CM_NEURON_INPUT : CM_NEURON_LIF;
  d->parameter[CM_PARAMETER_TAU] = floats(NEURONS, 20e-3F);
  d->parameter[CM_PARAMETER_R] = floats(NEURONS, 20);
  d->parameter[CM_PARAMETER_V_THRESHOLD] = floats(NEURONS, 1);
  d->weight = floats(t.pin_count, 0);
  for (uint64_t i = 0; i < t.pin_count; i++)
    d->weight[i] = ((float)below(random, 64) - 16) / 100;
  return t;
}

/* On so many cores: what the images spike is what the chip does, and some of it what the network does. */
START_TEST(a_made_up_chip_spikes_as_its_images)
{
  static uint32_t spike[20000][3];
  cm_random random;
  cm_stimulus stimulus = {.inputs = 0};
  cm_profile reference;
  cm_deployment d;
  cm_emit *emit;
  uint32_t part[NEURONS], core[CORES] = {0, 1};
  char *text = NULL;
  size_t size;
  cm_run_init(&run);
  cm_random_init(&random, 5, 0, (uint64_t)_i);
  cm_topology t = random_network(&random);
  cm_chip *chip = chip_parsed("{\"name\": \"made-up\", \"cores\": [2, 1], \"limits\": {\"neurons\": 256}, \"axon_relays\": true, "
                              "\"images\": {\"format\": \"made-up\", \"pool_entries\": 4096}}");
  const cm_demand demand = cm_demand_of(&t);
  const cm_mapped mapped = {.demand = &demand, .chip = chip, .part = part, .parts = (uint32_t)_i, .core = core};
  for (uint32_t v = 0; v < NEURONS; v++)
    part[v] = below(&random, (uint64_t)_i);
  ck_ok(cm_stimulus_poisson(&t, &(cm_poisson){.rate = 60, .dt = dt, .seed = 3}, &run, &stimulus, &error));
  ck_ok(cm_profile_run(&t, &(cm_profile_setting){.semantics = &cm_semantics_table[CM_SEMANTICS_ROCKPOOL], .dt = dt, .steps = STEPS}, &stimulus, &run, &reference, &error));
  ck_ok(cm_deploy(&reference, &mapped, &run, &d, &error));
  ck_ok(cm_emitter_find(chip, &emit, &error));
  FILE *stream = open_memstream(&text, &size);
  ck_assert_ptr_nonnull(stream);
  ck_ok(emit(&d.images, &d.on_chip.spikes, stream, &error));
  (void)fclose(stream);
  ck_assert_uint_eq(execute(text, d.images.steps, spike, 20000), d.result.spikes);
  for (uint64_t i = 0; i < d.result.spikes; i++)
    ck_assert_msg(spike[i][0] == d.result.spike[i].step && spike[i][1] == d.result.spike[i].core && spike[i][2] == d.result.spike[i].neuron, "spike %" PRIu64, i);
  const uint64_t all = d.on_chip.spikes.first[STEPS];
  ck_assert_uint_gt(all, 300);
  ck_assert_uint_lt(d.quantised.differing, all / 2);
  free(text);
  cm_deployment_free(&d);
  cm_profile_free(&reference);
  cm_stimulus_free(&stimulus);
  cm_dynamics_free(t.dynamics);
  network_free(&t);
  cm_chip_free(chip);
}
END_TEST

/* What the neurons do not do is refused. */
START_TEST(other_resets_are_refused)
{
  cm_random random;
  cm_integer_network n;
  cm_run_init(&run);
  cm_random_init(&random, 5, 0, 9);
  cm_topology t = random_network(&random);
  const cm_integer_setting setting = {.words = {CM_CHIP_NEURON_MADE_UP, CM_CHIP_NEURON_MADE_UP, 8}, .semantics = &cm_semantics_table[CM_SEMANTICS_NORSE], .dt = dt, .hop = 1};
  ck_fails(cm_integer_network_make(&t, &setting, &run, &n, &error), CM_BAD_OPTION);
  ck_assert_ptr_nonnull(strstr(error.detail, "subtract their threshold at once: choose rockpool"));
  cm_dynamics_free(t.dynamics);
  network_free(&t);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("made-up chip");
  TCase *tcase = tcase_create("made-up chip");
  tcase_add_loop_test(tcase, a_made_up_chip_spikes_as_its_images, 1, CORES + 1);
  tcase_add_test(tcase, other_resets_are_refused);
  suite_add_tcase(suite, tcase);
  return test_main(suite);
}
