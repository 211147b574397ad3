/* storage: what two have made is both's. */
#include "shares.h"

#include "storage/retention.h"

static void add_users(void)
{
  static const char *const names[] = {"ann", "bob", "eve"};
  for (int i = 0; i < 3; i++) {
    cm_user user = {0};
    (void)snprintf(user.name, sizeof user.name, "%s", names[i]);
    ck_ok(cm_users_add(store->database, &user, &error));
  }
}

/* ann's job has made m, and bob's equal one was given it. */
static void make_shared(void)
{
  char job[CM_ID_MAX];
  const cm_owner ann = owner_of("ann", CM_VISIBLE_LAB, ""), bob = owner_of("bob", CM_VISIBLE_LAB, "");
  add_users();
  queue_job(&ann, "map", "{}", job);
  ck_ok(end_job("m", "f"));
  queue_job(&bob, "map", "{}", job);
  ck_ok(end_job("m", NULL));
}

static bool his(const char *user)
{
  bool owns;
  (void)mapping_shows("m", user, "", &owns);
  return owns;
}

static bool shows(const char *user)
{
  bool owns;
  return mapping_shows("m", user, "", &owns);
}

START_TEST(equal_jobs_make_a_mapping_of_both)
{
  bool last, pinned;
  make_shared();
  ck_assert(his("ann") && his("bob") && !his("eve") && shows("eve"));
  /* Each pins for himself. */
  ck_ok(cm_pin(store, CM_OBJECT_MAPPING, "m", "bob", true, &error));
  ck_ok(cm_pinned(store, CM_OBJECT_MAPPING, "m", "ann", &pinned, &error));
  ck_assert(!pinned);
  /* What one hides the other still shows. */
  const cm_owner hidden = owner_of("ann", CM_VISIBLE_PRIVATE, ""), bobs = owner_of("bob", CM_VISIBLE_PRIVATE, "");
  ck_ok(cm_owners_show(store->database, CM_OBJECT_MAPPING, "m", &hidden, &error));
  ck_assert(his("ann") && his("bob") && shows("eve"));
  ck_ok(cm_owners_show(store->database, CM_OBJECT_MAPPING, "m", &bobs, &error));
  ck_assert(his("ann") && his("bob") && !shows("eve"));
  /* What one deletes is the other's, with his pin, until he deletes it too. */
  ck_ok(delete_mapping("m", "ann", &last));
  ck_assert(!last && !his("ann") && !shows("ann") && his("bob"));
  ck_ok(cm_pinned(store, CM_OBJECT_MAPPING, "m", "bob", &pinned, &error));
  ck_assert(pinned);
  ck_ok(delete_mapping("m", "bob", &last));
  ck_assert(last && !shows("bob"));
}
END_TEST

/* The mapping of a sweep's job that need not be kept goes unless somebody needs it, as the deletion sees it. */
START_TEST(what_a_sweep_lets_go_stays_where_it_is_needed)
{
  char job[CM_ID_MAX], simulation[CM_ID_MAX];
  const cm_owner ann = owner_of("ann", CM_VISIBLE_LAB, "");
  add_users();
  queue_job(&ann, "map", "{}", job);
  ck_ok(end_job("m", "f"));
  ck_fails(cm_mappings_delete(store, "m", true, &error), CM_NOT_FOUND);
  ck_ok(cm_database_run(store->database, NULL, &error, "UPDATE jobs SET sweep = 's' WHERE id = ?", "t", job));
  ck_ok(cm_pin(store, CM_OBJECT_MAPPING, "m", "ann", true, &error));
  ck_fails(cm_mappings_delete(store, "m", true, &error), CM_NOT_FOUND);
  ck_ok(cm_pin(store, CM_OBJECT_MAPPING, "m", "ann", false, &error));
  queue_job(&ann, "simulate", "{\"mapping\": \"m\"}", simulation);
  ck_fails(cm_mappings_delete(store, "m", true, &error), CM_NOT_FOUND);
  ck_assert(his("ann"));
  ck_ok(cm_jobs_cancel(store, simulation, &error));
  ck_ok(cm_mappings_delete(store, "m", true, &error));
  ck_assert(!his("ann"));
}
END_TEST

START_TEST(a_row_of_many_columns_comes_back_whole)
{
  enum { MORE = 100 };
  bool last;
  int64_t values = 0;
  cm_binned entry;
  make_shared();
  for (int i = 0; i < MORE; i++)
    ck_ok(cm_database_run(store->database, NULL, &error, cm_say("ALTER TABLE mappings ADD COLUMN more%d INTEGER DEFAULT 0", i).text, ""));
  ck_ok(cm_database_run(store->database, NULL, &error, "UPDATE mappings SET more0 = 1, more99 = 2", ""));
  ck_ok(cm_bin_put(store, CM_OBJECT_MAPPING, "m", NULL, &last, &error));
  ck_ok(cm_bin_restore(store, "m", &entry, &error));
  ck_ok(cm_database_find(store->database, NULL, &error, "SELECT more0 + more99 FROM mappings", ">i", &values));
  ck_assert_int_eq(values, 3);
}
END_TEST

START_TEST(a_rule_takes_only_what_is_its_users)
{
  cm_retention_done done;
  make_shared();
  ck_ok(cm_limits_set(store->database, &cm_keep_kind, &(cm_limit_row){false, "ann", {NAN, 30, NAN, NAN}}, &error));
  ck_ok(cm_retention_run(store, cm_store_time() + 40 * 86400, 1e9, &done, &error));
  ck_assert(!his("ann") && his("bob"));
  ck_ok(cm_limits_set(store->database, &cm_keep_kind, &(cm_limit_row){false, "bob", {NAN, NAN, NAN, 5}}, &error));
  ck_ok(cm_retention_run(store, cm_store_time(), 1e9, &done, &error));
  ck_assert(!shows("bob"));
}
END_TEST

START_TEST(a_removed_user_leaves_what_others_made_too)
{
  make_shared();
  ck_ok(cm_users_remove(store->database, "ann", &error));
  ck_assert(!his("ann") && his("bob"));
  ck_ok(cm_users_remove(store->database, "bob", &error));
  ck_assert(!his("bob") && shows("eve"));
}
END_TEST

/* Who is none of the owners deletes it for all, and each of them can bring it back. */
START_TEST(what_an_operator_deletes_comes_back_to_all)
{
  bool last;
  cm_binned entry, *entries;
  size_t count;
  const cm_viewer ann = {"ann", "", false};
  make_shared();
  ck_ok(delete_mapping("m", NULL, &last));
  ck_assert(last && !shows("ann") && !shows("bob"));
  ck_ok(cm_bin_list(store, &(cm_bin_filter){"bob", 0, 9}, &entries, &count, &error));
  ck_assert_uint_eq(count, 1);
  free(entries);
  ck_ok(cm_bin_purge(store, "m", &ann, &error));
  ck_ok(cm_bin_restore(store, "m", &entry, &error));
  ck_assert(!his("ann") && his("bob"));
}
END_TEST

static void refuse_to_delete(const char *kind, const char *options)
{
  char id[CM_ID_MAX];
  bool last;
  cm_retention_done done;
  const cm_owner eve = owner_of("eve", CM_VISIBLE_LAB, "");
  queue_job(&eve, kind, options, id);
  ck_ok(delete_mapping("m", "ann", &last)); /* bob keeps it */
  ck_fails(delete_mapping("m", "bob", &last), CM_CONFLICT);
  ck_assert_ptr_nonnull(strstr(error.detail, id));
  ck_ok(cm_limits_set(store->database, &cm_keep_kind, &(cm_limit_row){false, "bob", {NAN, 30, NAN, NAN}}, &error));
  ck_ok(cm_retention_run(store, cm_store_time() + 40 * 86400, 1e9, &done, &error));
  ck_assert(his("bob"));
  ck_ok(cm_jobs_cancel(store, id, &error));
  ck_ok(delete_mapping("m", "bob", &last));
}

START_TEST(what_a_queued_job_needs_stays)
{
  make_shared();
  if (_i == 0)
    refuse_to_delete("simulate", "{\"mapping\":\"m\"}");
  else
    refuse_to_delete("map", "{\"from\":\"m\"}");
}
END_TEST

/* Job ids of others, which the asker does not see, are told to nobody. */
START_TEST(a_private_job_is_not_named)
{
  char id[CM_ID_MAX];
  bool last;
  const cm_owner eve = owner_of("eve", CM_VISIBLE_PRIVATE, "");
  make_shared();
  ck_ok(delete_mapping("m", "ann", &last));
  queue_job(&eve, "simulate", "{\"mapping\":\"m\"}", id);
  ck_fails(delete_mapping("m", "bob", &last), CM_CONFLICT);
  ck_assert_ptr_null(strstr(error.detail, id));
}
END_TEST

/* A job whose twin's result has gone before it ends is queued again; it is never done with a result that is not there. */
START_TEST(a_result_that_has_gone_is_not_given)
{
  char job[CM_ID_MAX];
  bool last;
  const cm_owner ann = owner_of("ann", CM_VISIBLE_LAB, ""), bob = owner_of("bob", CM_VISIBLE_LAB, "");
  add_users();
  queue_job(&ann, "map", "{}", job);
  ck_ok(end_job("m", "f"));
  queue_job(&bob, "map", "{}", job);
  ck_ok(delete_mapping("m", "ann", &last));
  ck_fails(end_job("m", NULL), CM_CONFLICT);
  ck_assert_int_eq(state_of(job), CM_JOB_QUEUED);
}
END_TEST

/* Whose mapping is simulated is not the simulator's. */
START_TEST(a_simulation_owns_nothing)
{
  char job[CM_ID_MAX];
  const cm_owner eve = owner_of("eve", CM_VISIBLE_LAB, "");
  make_shared();
  queue_job(&eve, "simulate", "{\"mapping\":\"m\"}", job);
  ck_ok(end_job("m", NULL));
  ck_assert(!his("eve"));
}
END_TEST

/* What a removed user had for himself, and an operator brings back, is not given to a namesake's equal job. */
START_TEST(a_namesake_is_given_nothing)
{
  char job[CM_ID_MAX];
  bool last;
  cm_binned entry;
  cm_mapping_row row;
  const cm_owner ann = owner_of("ann", CM_VISIBLE_PRIVATE, "");
  add_users();
  queue_job(&ann, "map", "{}", job);
  ck_ok(end_job("m", "f"));
  ck_ok(delete_mapping("m", "ann", &last));
  ck_ok(cm_users_remove(store->database, "ann", &error));
  ck_ok(cm_bin_restore(store, "m", &entry, &error));
  ck_fails(cm_mappings_find(store, "f", &row, &error), CM_NOT_FOUND);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("storage, owners");
  TCase *tests = tcase_create("storage, owners");
  tcase_add_checked_fixture(tests, store_setup, store_teardown);
  tcase_add_test(tests, equal_jobs_make_a_mapping_of_both);
  tcase_add_test(tests, what_a_sweep_lets_go_stays_where_it_is_needed);
  tcase_add_test(tests, a_row_of_many_columns_comes_back_whole);
  tcase_add_test(tests, a_rule_takes_only_what_is_its_users);
  tcase_add_test(tests, a_removed_user_leaves_what_others_made_too);
  tcase_add_test(tests, what_an_operator_deletes_comes_back_to_all);
  tcase_add_loop_test(tests, what_a_queued_job_needs_stays, 0, 2);
  tcase_add_test(tests, a_private_job_is_not_named);
  tcase_add_test(tests, a_result_that_has_gone_is_not_given);
  tcase_add_test(tests, a_simulation_owns_nothing);
  tcase_add_test(tests, a_namesake_is_given_nothing);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
