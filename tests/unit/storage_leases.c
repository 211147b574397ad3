/* storage: leases of cores, against a model under random interleavings, and under a wall clock that jumps. */
#include "store.h"

#include <unistd.h>

#include "base/random.h"
#include "storage/leases.h"
#include "storage/occupancy.h"
#include "storage/clock.h"
#include "storage/mappings.h"

START_TEST(a_reserving_job_takes_its_region_or_nothing)
{
  char id[CM_ID_MAX], etag[CM_ETAG_MAX], *text;
  const uint32_t region[] = {0, 1, 8, 9};
  cm_job job;
  bool taken, mismatch;
  cm_mapping_row mapping = {.id = "m1", .network = "abc", .chip = "toy"};
  cm_job_outcome done = {.state = CM_JOB_DONE, .mapping = &mapping, .region = region, .region_count = 4};
  ck_ok(cm_folder_make(inside("mappings/m1"), &error));
  test_write(inside("mappings/m1/summary.json"), "{}", 2);
  create_job("", 0, id);
  claim(&job);
  const char occupy[] = "{\"occupy\": [[1, 1]], \"owner\": \"me\"}";
  cm_occupancy_change change = {"toy", "*", false, occupy, sizeof occupy - 1};
  ck_ok(cm_occupancy_write(store, &change, &mismatch, &text, etag, &error));
  free(text);
  ck_fails(cm_jobs_finish(store, &job, &done, &taken, &error), CM_CONFLICT);
  ck_assert(taken);
  cm_mapping_row found;
  ck_fails(cm_mappings_get(store, "m1", &found, &error), CM_NOT_FOUND);
  const char release[] = "{\"release\": [[1, 1]]}";
  change.json = release;
  change.size = sizeof release - 1;
  ck_ok(cm_occupancy_write(store, &change, &mismatch, &text, etag, &error));
  free(text);
  ck_ok(cm_jobs_finish(store, &job, &done, &taken, &error));
  cm_job_clear(&job);
  ck_ok(cm_jobs_get(store, id, &job, &error));
  cm_lease lease;
  ck_ok(cm_leases_get(store, "toy", job.lease, &lease, &error));
  ck_assert_uint_eq(lease.core_count, 4);
  ck_assert_str_eq(lease.cores, "[[0,0,1,1]]");
  cm_lease_clear(&lease);
  cm_job_clear(&job);
}
END_TEST

START_TEST(leased_cores_cannot_be_given_away)
{
  cm_lease lease, other;
  char *text, etag[CM_ETAG_MAX];
  bool mismatch;
  json_t *cores = json_pack("[[i,i,i,i]]", 0, 0, 1, 1);
  ck_ok(cm_leases_create(store, &(cm_lease_request){{{0}, {0}, 0}, "toy", "me", NULL, 60, cores, 0}, &lease, &error));
  ck_fails(cm_leases_create(store, &(cm_lease_request){{{0}, {0}, 0}, "toy", "you", NULL, 60, cores, 0}, &other, &error),
           CM_CONFLICT);
  ck_fails(cm_leases_create(store, &(cm_lease_request){{{0}, {0}, 0}, "toy", "you", NULL, 60, NULL, 61}, &other, &error), CM_NO_ROOM);
  const char release[] = "{\"release\": [[0, 0]]}";
  ck_fails(cm_occupancy_write(store, &(cm_occupancy_change){"toy", "*", false, release, sizeof release - 1}, &mismatch,
                              &text, etag, &error), CM_CONFLICT);
  ck_fails(cm_occupancy_write(store, &(cm_occupancy_change){"toy", "*", true, "{}", 2}, &mismatch, &text, etag,
                              &error), CM_CONFLICT);
  ck_assert(!mismatch);
  ck_fails(cm_occupancy_write(store, &(cm_occupancy_change){"toy", "old", true, "{}", 2}, &mismatch, &text, etag,
                              &error), CM_CONFLICT);
  ck_assert(mismatch);
  /* A core may break under a lease; repaired, it is free, and the lease no longer holds it. */
  const char wear[] = "{\"broken\": [[0, 0]]}", mend[] = "{\"repaired\": [[0, 0]]}";
  ck_ok(cm_occupancy_write(store, &(cm_occupancy_change){"toy", "*", false, wear, sizeof wear - 1}, &mismatch,
                           &text, etag, &error));
  free(text);
  ck_ok(cm_occupancy_write(store, &(cm_occupancy_change){"toy", "*", false, mend, sizeof mend - 1}, &mismatch,
                           &text, etag, &error));
  free(text);
  cm_lease now;
  ck_ok(cm_leases_get(store, "toy", lease.id, &now, &error));
  ck_assert_uint_eq(now.core_count, 3);
  cm_lease_clear(&now);
  ck_ok(cm_leases_release(store, "toy", lease.id, &error));
  ck_fails(cm_leases_release(store, "toy", lease.id, &error), CM_NOT_FOUND);
  ck_ok(cm_leases_create(store, &(cm_lease_request){{{0}, {0}, 0}, "toy", "you", NULL, 60, NULL, 64}, &other, &error));
  cm_lease_clear(&lease);
  cm_lease_clear(&other);
  json_decref(cores);
}
END_TEST

START_TEST(leases_expire)
{
  cm_lease lease, kept;
  uint64_t count;
  ck_ok(cm_leases_create(store, &(cm_lease_request){{{0}, {0}, 0}, "toy", "a", NULL, 0.2, NULL, 32}, &lease, &error));
  ck_ok(cm_leases_create(store, &(cm_lease_request){{{0}, {0}, 0}, "toy", "b", NULL, 0.2, NULL, 32}, &kept, &error));
  cm_lease_clear(&kept);
  ck_ok(cm_leases_keep(store, kept.id, &(cm_lease_request){.chip = "toy", .ttl = 60}, &kept, &error));
  usleep(250000);
  ck_fails(cm_leases_keep(store, lease.id, &(cm_lease_request){.chip = "toy", .ttl = 60}, &lease, &error), CM_NOT_FOUND);
  ck_ok(cm_leases_expire(store, &count, &error));
  ck_assert_uint_eq(count, 1);
  ck_ok(cm_leases_expire(store, &count, &error));
  ck_assert_uint_eq(count, 0);
  coremap_chip *chip;
  ck_ok(cm_occupancy_open(store, "toy", &chip, &error));
  ck_assert_uint_eq(coremap_chip_free_cores(chip), 32);
  coremap_chip_free(chip);
  cm_lease_clear(&lease);
  cm_lease_clear(&kept);
}
END_TEST

static double wall_now, steady_now;

static double fake_wall(void)
{
  return wall_now;
}

static double fake_steady(void)
{
  return steady_now;
}

static void expect_leases(size_t expected)
{
  cm_lease *leases;
  uint64_t expired;
  size_t count;
  for (int i = 0; i < 2; i++) { /* before and after the server has looked at its clock */
    ck_ok(cm_leases_list(store, "toy", NULL, &leases, &count, &error));
    ck_assert_uint_eq(count, expected);
    for (size_t k = 0; k < count; k++)
      cm_lease_clear(&leases[k]);
    free(leases);
    ck_ok(cm_leases_expire(store, &expired, &error));
    ck_assert(i == 0 || expired == 0);
  }
}

START_TEST(a_wall_clock_that_jumps_ends_no_lease_and_no_delay)
{
  char id[CM_ID_MAX];
  cm_lease lease;
  cm_job job;
  bool again, found;
  wall_now = 1e9;
  steady_now = 5000;
  cm_clock_replace(&(cm_clock){fake_wall, fake_steady});
  restart_store();
  create_job("", 0, id);
  claim(&job);
  ck_ok(cm_jobs_retry(store, &job, NULL, &again, &error)); /* in 2 s */
  cm_job_clear(&job);
  ck_ok(cm_leases_create(store, &(cm_lease_request){{{0}, {0}, 0}, "toy", "a", NULL, 60, NULL, 32}, &lease, &error));
  ck_assert(lease.expires == 1e9 + 60);
  cm_lease_clear(&lease);
  static const double jumps[] = {7200, -86400, 1e8, -1e8};
  for (size_t i = 0; i < sizeof jumps / sizeof *jumps; i++) {
    wall_now += jumps[i];
    ck_ok(cm_jobs_claim(store, CM_CLAIM_ANY, &job, &found, &error));
    ck_assert(!found);
    expect_leases(1);
    ck_ok(cm_leases_get(store, "toy", lease.id, &lease, &error));
    ck_assert(lease.expires - wall_now > 59 && lease.expires - wall_now < 61);
    cm_lease_clear(&lease);
    restart_store(); /* no time has passed: what was stored has followed */
    expect_leases(1);
  }
  /* Time that really passes. */
  steady_now += 3;
  wall_now += 3;
  claim(&job);
  cm_job_clear(&job);
  ck_ok(cm_leases_keep(store, lease.id, &(cm_lease_request){.chip = "toy", .ttl = 30}, &lease, &error));
  cm_lease_clear(&lease);
  steady_now += 29;
  wall_now -= 7200;
  expect_leases(1);
  steady_now += 2;
  expect_leases(0);
  /* While no server runs the wall clock counts, and across a boot there is nothing else. */
  ck_ok(cm_leases_create(store, &(cm_lease_request){{{0}, {0}, 0}, "toy", "a", NULL, 60, NULL, 32}, &lease, &error));
  cm_lease_clear(&lease);
  steady_now = 10;
  wall_now += 50;
  restart_store();
  expect_leases(1);
  wall_now += 20;
  steady_now = 20;
  restart_store();
  expect_leases(0);
  cm_clock_replace(NULL);
}
END_TEST

START_TEST(a_lease_without_memory_changes_nothing)
{
  char before[CM_ETAG_MAX], after[CM_ETAG_MAX], *text;
  uint64_t faults = 0;
  cm_lease lease;
  ck_ok(cm_occupancy_read(store, "toy", &text, before, &error));
  free(text);
  for (uint64_t n = 1;; n++) {
    cm_memory_fail_at(n);
    cm_status status = cm_leases_create(store, &(cm_lease_request){{{0}, {0}, 0}, "toy", "me", NULL, 60, NULL, 5}, &lease, &error);
    bool fired = cm_memory_fault_fired();
    cm_memory_fail_at(0);
    if (!fired) {
      ck_assert_int_eq(status, CM_OK);
      break;
    }
    faults++;
    ck_assert_int_eq(status, CM_NO_MEMORY);
    ck_ok(cm_occupancy_read(store, "toy", &text, after, &error));
    free(text);
    ck_assert_str_eq(before, after);
  }
  ck_assert_uint_gt(faults, 3);
  cm_lease_clear(&lease);
}
END_TEST

/* A model of who holds what, kept beside the store under random operations of several holders. */
START_TEST(two_leases_never_hold_one_core)
{
  enum { ROUNDS = 400, LEASES = 12 };
  struct { char id[CM_ID_MAX]; bool live; uint64_t cores; } model[LEASES] = {0};
  cm_random random;
  cm_random_init(&random, 11, 0, 0);
  for (int round = 0; round < ROUNDS; round++) {
    size_t i = (size_t)cm_random_below(&random, LEASES);
    if (!model[i].live) {
      cm_lease lease;
      uint32_t x = (uint32_t)cm_random_below(&random, 7), y = (uint32_t)cm_random_below(&random, 7);
      json_t *cores =
          cm_random_below(&random, 2) == 0 ? json_pack("[[i,i,i,i]]", (int)x, (int)y, (int)x + 1, (int)y + 1) : NULL;
      double ttl = cm_random_below(&random, 8) == 0 ? 0.01 : 60;
      cm_status status = cm_leases_create(
          store, &(cm_lease_request){{{0}, {0}, 0}, "toy", "m", NULL, ttl, cores, (uint32_t)cm_random_below(&random, 9) + 1}, &lease,
          &error);
      json_decref(cores);
      if (status == CM_OK) {
        memcpy(model[i].id, lease.id, sizeof lease.id);
        model[i].live = true;
        cm_lease_clear(&lease);
      } else
        /* The shortest may be over before it has been read back. */
        ck_assert(status == CM_CONFLICT || status == CM_NO_ROOM || (status == CM_NOT_FOUND && ttl < 1));
    } else if (cm_random_below(&random, 2) == 0) {
      cm_status status = cm_leases_release(store, "toy", model[i].id, &error);
      ck_assert(status == CM_OK || status == CM_NOT_FOUND);
      model[i].live = false;
    } else {
      char change[80], *text, etag[CM_ETAG_MAX];
      bool mismatch;
      static const char *const verbs[] = {"occupy", "release", "broken", "repaired"};
      (void)snprintf(change, sizeof change, "{\"%s\": [[%d, %d]]}", verbs[cm_random_below(&random, 4)],
                     (int)cm_random_below(&random, 8), (int)cm_random_below(&random, 8));
      if (cm_occupancy_write(store, &(cm_occupancy_change){"toy", "*", false, change, strlen(change)}, &mismatch, &text,
                             etag, &error) == CM_OK)
        free(text);
      else
        ck_assert_int_eq(error.status, CM_CONFLICT);
    }
    cm_lease *leases;
    size_t count;
    int held[64] = {0};
    ck_ok(cm_leases_list(store, "toy", NULL, &leases, &count, &error));
    for (size_t l = 0; l < count; l++) {
      json_t *cores = json_loads(leases[l].cores, 0, NULL), *r;
      size_t k;
      json_array_foreach(cores, k, r) for (json_int_t y = json_integer_value(json_array_get(r, 1));
                                           y <= json_integer_value(json_array_get(r, 3));
                                           y++) for (json_int_t x = json_integer_value(json_array_get(r, 0));
                                                     x <= json_integer_value(json_array_get(r, 2)); x++)
          ck_assert_int_eq(held[y * 8 + x]++, 0);
      json_decref(cores);
      cm_lease_clear(&leases[l]);
    }
    free(leases);
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("storage, leases");
  TCase *tests = tcase_create("storage, leases");
  tcase_add_checked_fixture(tests, store_setup, store_teardown);
  tcase_add_test(tests, a_reserving_job_takes_its_region_or_nothing);
  tcase_add_test(tests, leased_cores_cannot_be_given_away);
  tcase_add_test(tests, leases_expire);
  tcase_add_test(tests, a_wall_clock_that_jumps_ends_no_lease_and_no_delay);
  tcase_add_test(tests, a_lease_without_memory_changes_nothing);
  tcase_add_test(tests, two_leases_never_hold_one_core);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
