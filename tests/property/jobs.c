/* Whole jobs of degenerate networks: none, one or a few neurons, no synapses, stars, cliques, loops; under every preset,
 * mapper and objective. What tests/fuzz/whole_job.h demands of each, and that those that can be mapped are. */
#include "../unit/unit.h"

#include "../fuzz/whole_job.h"
#include "base/random.h"

enum { HOW_MAX = 120, STEP = CM_SANITIZED ? 13 : 1, LONG_STEP = CM_SANITIZED ? 21 : 7 }; /* presets x mappers x objectives x traffic models */

/* The source's own method has one objective. */
static bool is_served(uint32_t how)
{
  enum { REFERENCE = 2, AXON = 2 };
  return how % 4 != REFERENCE || how / 20 % 3 != AXON;
}

/* The bytes of a job on a chip of 3 x 3 cores. */
static cm_status job_of(uint8_t how, uint8_t parts, uint8_t neurons_limit, uint8_t vertices, uint8_t kind)
{
  const uint8_t bytes[] = {how, parts, 0, 2 + 6 * 2, 0, neurons_limit, 0, 0, 0, 0, 0, 0, vertices, kind};
  return whole_job(bytes, sizeof bytes);
}

/* A library's caller may have networks that no file has. */
START_TEST(networks_without_neurons_pass_every_stage)
{
  for (uint32_t how = 0; how < HOW_MAX; how += STEP)
    for (uint8_t directed = 0; is_served(how) && directed < 2; directed++) {
      ck_assert_int_eq(job_of((uint8_t)how, 0, 4, 0, directed), CM_OK);
      ck_assert_int_eq(job_of((uint8_t)how, 2 + 3 * 4, 4, 0, directed), CM_OK);
      cm_status bare = job_of((uint8_t)how, 0, 0, 0, directed);
      ck_assert(bare == CM_OK || bare == CM_BAD_OPTION);
    }
}
END_TEST

/* Without directions and with; by preset best, which takes twenty times as long as others, in turns. */
START_TEST(one_neuron_a_core_is_mapped_under_every_way)
{
  enum { BEST = 3 };
  for (uint32_t how = 0; how < HOW_MAX; how += STEP)
    for (uint32_t k = 0; is_served(how) && k < 2; k++) {
      if (how % 4 == BEST && k != how / 20 % 2)
        continue;
      uint8_t kind = (uint8_t)((how + k * 3) % JOB_SHAPES << 5 | k);
      ck_assert_int_eq(job_of((uint8_t)how, 0, 1, 9, kind), CM_OK);
      ck_assert_int_eq(job_of((uint8_t)how, 0, 1, 1, kind), CM_OK);
      ck_assert_int_eq(job_of((uint8_t)how, 0, 1, 10, kind), CM_NO_ROOM);
    }
}
END_TEST

/* Populations that share no core, and two of them a core, under every way and limits on synapses and axons too; the
 * independent check counts who is where. */
START_TEST(populations_keep_their_cores_under_every_way)
{
  enum { MESH = 3, POPULATIONS = 5, SIDE_BY_SIDE = 128 };
  for (uint32_t how = 0; how < HOW_MAX; how += LONG_STEP)
    if (is_served(how)) {
      uint32_t k = how / 7 % 4;
      uint32_t shape = (how / 4 + k) % JOB_LOW_BYTES;
      uint8_t neurons = 3, directed = (how + k) % 3 != 0; /* parts of 5 neurons, of 20 synapses: job_chip's limits */
      uint8_t limited = k < 2 && shape != JOB_CLIQUE ? 4 : 0;
      uint8_t kind = (uint8_t)(shape << 5 | directed);
      uint8_t parts = how % 5 == 0 ? 1 + 7 * 3 : 0;
      const uint8_t bytes[] = {(uint8_t)how, parts, 0, 2 + 6 * 2, 0, neurons, limited, limited, 0, 0, 0, 0, 20, kind,
                               POPULATIONS | (k % 2 == 0 ? SIDE_BY_SIDE : 0), (uint8_t)(1 + k / 2)};
      cm_status status = whole_job(bytes, sizeof bytes), wanted = how / 4 % 5 == MESH ? CM_BAD_OPTION : CM_OK;
      ck_assert_msg(status == wanted || (kind >> 5 == JOB_STAR && status == CM_NEURON_TOO_LARGE), "way %u, case %u: %d", how, k,
                    (int)status);
    }
}
END_TEST

/* Two populations and two classes of cores, of which one takes the first only, some cores being of no class: legal under every
 * way that does not take all cores for alike. */
START_TEST(classes_of_cores_are_kept_under_every_way)
{
  enum { STAGED = 2, TWO = 2, SIDE_BY_SIDE = 128, BY_COLUMNS = 2, SOME_OF_NONE = 4, OWN_LIMITS = 8, OF_SIX = 5 << 4 };
  for (uint32_t how = 0; how < HOW_MAX; how += LONG_STEP)
    if (is_served(how)) {
      uint32_t k = how / 7 % 4, mapper = how / 4 % 5;
      uint8_t neurons = 3, kind = (uint8_t)((k % 2 == 0 ? JOB_RING : JOB_STAR) << 5 | (k != 3));
      uint8_t classes = (uint8_t)(1 | (k % 2 == 0 ? BY_COLUMNS : 0) | SOME_OF_NONE | (k / 2 == 0 ? OWN_LIMITS | OF_SIX : 0));
      const uint8_t bytes[] = {(uint8_t)how, 0, 0, 2 + 6 * 2, 0, neurons, 0, 0, 0, 0, 0, 0, 20, kind, TWO | SIDE_BY_SIDE, 0, 0, classes};
      bool alike = mapper != 0 && mapper != STAGED;
      cm_status status = whole_job(bytes, sizeof bytes);
      ck_assert_msg(status == (alike ? CM_BAD_OPTION : CM_OK), "way %u, case %u: %d", how, k, (int)status);
    }
}
END_TEST

/* A ring of 20 on cores of 6 neurons, each neuron reaching one core: those at the ends of a part are there twice. */
START_TEST(copies_are_counted_under_every_way)
{
  enum { ONE_TARGET = 1 << 3 };
  for (uint32_t how = 0; how < HOW_MAX; how += LONG_STEP)
    if (is_served(how)) {
      const uint8_t bytes[] = {(uint8_t)how, 0, 0, 2 + 6 * 2, 0, 7, 0, 0, 0, 0, 0, 0, 20, JOB_RING << 5 | 1, 0, 0, 0, 0, ONE_TARGET};
      ck_assert_int_eq(whole_job(bytes, sizeof bytes), how / 60 % 2 == 1 ? CM_BAD_OPTION : CM_OK); /* no trees to pay for */
    }
}
END_TEST

/* Four neurons of a ring, or of loops, with their synapses and axons take 40 bits of the 48 of a core. */
START_TEST(memory_is_kept_under_every_way)
{
  for (uint32_t how = 0; how < HOW_MAX; how += LONG_STEP)
    if (is_served(how)) {
      uint32_t k = how / 3 % 2;
      const uint8_t bytes[] = {(uint8_t)how, 0, 0, 2 + 6 * 2, 0, 6, 0, 0, 0, 0, 0, 0, 20,
                               (uint8_t)((k == 0 ? JOB_RING : JOB_LOOPS) << 5 | 1), 0, 0, 3};
      cm_status status = whole_job(bytes, sizeof bytes);
      ck_assert_msg(status == CM_OK, "way %u, case %u: %d", how, k, (int)status);
    }
}
END_TEST

START_TEST(jobs_of_random_bytes_are_mapped_or_refused)
{
  uint32_t mapped = 0;
  for (uint64_t round = 0; round < test_rounds(120); round++) {
    uint8_t bytes[96];
    cm_random random;
    cm_random_init(&random, round, 14, 0);
    for (size_t i = 0; i < sizeof bytes; i++)
      bytes[i] = (uint8_t)cm_random_below(&random, 256);
    mapped += whole_job(bytes, sizeof bytes) == CM_OK;
  }
  ck_assert_uint_gt(mapped, test_rounds(15) / 4);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("jobs");
  TCase *tests = tcase_create("jobs");
  tcase_add_test(tests, networks_without_neurons_pass_every_stage);
  tcase_add_test(tests, one_neuron_a_core_is_mapped_under_every_way);
  tcase_add_test(tests, populations_keep_their_cores_under_every_way);
  tcase_add_test(tests, memory_is_kept_under_every_way);
  tcase_add_test(tests, classes_of_cores_are_kept_under_every_way);
  tcase_add_test(tests, copies_are_counted_under_every_way);
  tcase_add_test(tests, jobs_of_random_bytes_are_mapped_or_refused);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
