/* Neurons as chips compute them, by hand: values that catalyst-n1's Verilog gives (its raz_div4096 among them). */
#include "tests/unit/unit.h"

#include "core/deploy/chip_neurons.h"

/* A neuron's states and spikes for what comes in. */
typedef struct walk {
  cm_chip_parameters parameter;
  cm_chip_state from;
  int32_t in[4], v[4], u[4];
  bool spikes[4];
} walk;

#define LIF .model = CM_CHIP_NEURON_CATALYST_LIF, .v_min = INT16_MIN, .v_max = INT16_MAX
#define CUBA .model = CM_CHIP_NEURON_CATALYST_CUBA, .v_min = INT16_MIN, .v_max = INT16_MAX

static const walk walks[] = {
  /* leak; inhibition ends at rest; a spike where v reaches the threshold, then a step of rest in which what comes in is lost */
  {{LIF, .threshold = 10, .leak = 2, .refractory = 1}, {0}, {5, -20, 12, 9}, {3, 0, 0, 0}, {0}, {false, false, true, false}},
  /* threshold 0 and leak 0: a spike in every step */
  {{LIF, .threshold = 0}, {0}, {0, 0, 0, 0}, {0}, {0}, {true, true, true, true}},
  /* -2985 at 2048: -1492.5 down to -1493, and one more: -1494 are lost; v has the u of the step before */
  {{CUBA, .threshold = 9999, .decay_u = 2048}, {.u = -2985}, {0, 0, 0, 0}, {-2985, -4476, -5220, -5592}, {-1491, -744, -372, -186}, {0}},
  /* 3 at 2048: 1.5 down to 1, and one more */
  {{CUBA, .threshold = 9999, .decay_v = 2048, .decay_u = 4095}, {.v = 3}, {0, 7, 0, 0}, {1, 0, 7, 3}, {0, 7, 0, 0}, {0}},
  /* 4095 clears what is below 4096, and leaves one of 4097; v stays at its lowest */
  {{CUBA, .threshold = 32767, .decay_u = 4095}, {.v = -32000, .u = -4097}, {0, 0, 0, 0}, {-32768, -32768, -32768, -32768}, {0, 0, 0, 0}, {0}},
  /* the last step's u, and the bias, reach the threshold; v is then at rest and u stays */
  {{CUBA, .threshold = 20, .rest = -3, .decay_u = 2048, .bias = 4}, {0}, {16, 0, 0, 0}, {4, -3, 9, 17}, {16, 8, 4, 2}, {false, true, false, false}},
};

START_TEST(steps_are_as_by_hand)
{
  const walk *w = &walks[_i];
  cm_chip_state s = w->from;
  for (int k = 0; k < 4; k++) {
    const bool spikes = cm_chip_neurons[w->parameter.model].step(&w->parameter, w->in[k], &s);
    ck_assert_msg(spikes == w->spikes[k] && s.v == w->v[k] && s.u == w->u[k], "walk %d, step %d: v %d for %d, u %d for %d, spikes %d", _i, k, s.v, w->v[k], s.u,
                  w->u[k], spikes);
  }
}
END_TEST

/* Loihi's loses towards zero, takes this step's u and compares with >. */
START_TEST(loihi_is_as_by_hand)
{
  const cm_chip_parameters p = {.model = CM_CHIP_NEURON_LOIHI_CUBA, .threshold = 10, .decay_v = 2048, .decay_u = 2048, .v_min = INT16_MIN, .v_max = INT16_MAX};
  const int32_t in[] = {-3, 0, 13, 9}, v[] = {-3, -4, 10, 0}, u[] = {-3, -2, 12, 15};
  cm_chip_state s = {0};
  for (int k = 0; k < 4; k++) {
    ck_assert_int_eq(cm_chip_neurons[p.model].step(&p, in[k], &s), k == 3);
    ck_assert_int_eq(s.v, v[k]);
    ck_assert_int_eq(s.u, u[k]);
  }
}
END_TEST

START_TEST(rows_are_found_by_name)
{
  ck_assert_int_eq(cm_chip_neuron_find("catalyst-cuba"), CM_CHIP_NEURON_CATALYST_CUBA);
  ck_assert_int_eq(cm_chip_neuron_find("catalyst"), CM_CHIP_NEURONS);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("chip_neurons");
  TCase *tests = tcase_create("chip_neurons");
  tcase_add_loop_test(tests, steps_are_as_by_hand, 0, (int)(sizeof walks / sizeof *walks));
  tcase_add_test(tests, loihi_is_as_by_hand);
  tcase_add_test(tests, rows_are_found_by_name);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
