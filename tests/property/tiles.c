/* Tiles of operators: shares of devices are their portions rounded down or up and nothing is lost or given twice. */
#include <math.h>

#include "../unit/unit.h"
#include "core/base/random.h"
#include "core/operators/tile_share.h"

static cm_error error;

enum { DEVICES_MAX = 12 };

static uint32_t random_devices(cm_random *random, cm_tile_device *devices)
{
  uint32_t count = 1 + (uint32_t)cm_random_below(random, DEVICES_MAX);
  for (uint32_t i = 0; i < count; i++)
    devices[i] = (cm_tile_device){"d",
                                  1 + (uint32_t)cm_random_below(random, 64),
                                  1 + cm_random_below(random, 4096),
                                  (double)cm_random_below(random, 500) / 8,
                                  0.125 + (double)cm_random_below(random, 500) / 8,
                                  cm_random_below(random, 2) == 0};
  ck_ok(cm_tile_devices_check(devices, count, &error));
  return count;
}

START_TEST(shares_are_portions_rounded_and_add_up)
{
  cm_random random;
  cm_random_init(&random, (uint64_t)_i, 0, 0);
  cm_tile_device devices[DEVICES_MAX];
  uint32_t count = random_devices(&random, devices);
  uint64_t share[DEVICES_MAX], cells = cm_random_below(&random, UINT64_C(1) << cm_random_below(&random, 50)), sum = 0;
  double total = 0;
  for (uint32_t i = 0; i < count; i++) /* seed 4: p = K L / T, T = max(Tc, Td) or Tc + 2 Td */
    total += devices[i].cores * (double)devices[i].length /
             (devices[i].pipelined ? fmax(devices[i].compute_ns, devices[i].transfer_ns)
                                   : devices[i].compute_ns + devices[i].transfer_ns + devices[i].transfer_ns);
  cm_tile_shares(devices, count, cells, share);
  for (uint32_t i = 0; i < count; i++) {
    double exact = (double)cells * cm_tile_capability(&devices[i]) / total;
    ck_assert_double_gt((double)share[i], exact - 1 - 1e-9 * exact);
    ck_assert_double_lt((double)share[i], exact + 1 + 1e-9 * exact);
    sum += share[i];
    uint64_t pieces = cm_tile_micro_operators(&devices[i], share[i]);
    ck_assert_uint_ge(pieces * devices[i].length, share[i]);
    ck_assert(pieces == 0 || (pieces - 1) * devices[i].length < share[i]);
  }
  ck_assert_uint_eq(sum, cells);
}
END_TEST

START_TEST(devices_of_seed_4)
{
  cm_tile_device devices[] = {{"unpipelined", 2, 10, 3, 4, false}, {"pipelined", 1, 10, 3, 4, true}};
  uint64_t share[2];
  ck_assert_double_eq(cm_tile_time(&devices[0]), 10);
  ck_assert_double_eq(cm_tile_time(&devices[1]), 4);
  ck_assert_double_eq(cm_tile_capability(&devices[0]), 2);
  ck_assert_double_eq(cm_tile_capability(&devices[1]), 2.5);
  cm_tile_shares(devices, 2, 90, share);
  ck_assert_uint_eq(share[0], 40);
  ck_assert_uint_eq(share[1], 50);
}
END_TEST

START_TEST(devices_without_throughput_are_named)
{
  cm_tile_device good = {"engine", 1, 1, 1, 1, false}, bad[] = {good, good, good, good, good};
  bad[0].cores = 0;
  bad[1].length = 0;
  bad[2].transfer_ns = -1;
  bad[3].transfer_ns = bad[3].compute_ns = 0;
  bad[4].compute_ns = NAN;
  for (uint32_t i = 0; i < 5; i++) {
    ck_fails(cm_tile_devices_check(&bad[i], 1, &error), CM_BAD_CHIP);
    ck_assert_ptr_nonnull(strstr(error.detail, "engine"));
  }
  ck_fails(cm_tile_devices_check(&good, 0, &error), CM_BAD_CHIP);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("tiles");
  TCase *c = tcase_create("tiles");
  tcase_set_timeout(c, 60);
  suite_add_tcase(suite, c);
  tcase_add_loop_test(c, shares_are_portions_rounded_and_add_up, 0, 200);
  tcase_add_test(c, devices_of_seed_4);
  tcase_add_test(c, devices_without_throughput_are_named);
  return test_main(suite);
}
