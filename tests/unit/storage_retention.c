/* storage: the bin, how long things stay, and networks of several owners. */
#include "store.h"

#include "storage/bin.h"
#include "storage/holders.h"
#include "storage/quotas.h"
#include "storage/retention.h"
#include "storage/check.h"
#include "storage/mappings.h"
#include "storage/users.h"

static cm_status run_text(sqlite3 *handle, void *context, cm_error *slot)
{
  return cm_sql_run(handle, NULL, slot, context, "");
}

static void change(const char *sql)
{
  ck_ok(cm_database_write(store->database, run_text, (void *)(uintptr_t)sql, &error));
}

/* A mapping of a user, made so many days ago, with a file. */
static void add_mapping(const char *id, const char *user, int days, int bytes)
{
  char sql[400], path[80];
  snprintf(sql, sizeof sql, "INSERT INTO mappings(id, user, network, chip, job, bytes, created, kind, form, fingerprint) VALUES('%s', '%s', 'abc',"
           " 'toy', 'j%s', %d, %.17g, 'map', 1, 'f%s')", id, user, id, bytes, cm_store_time() - days * 86400.0, id);
  change(sql);
  snprintf(path, sizeof path, "mappings/%s", id);
  ck_ok(cm_folder_make(inside(path), &error));
  snprintf(path, sizeof path, "mappings/%s/summary.json", id);
  test_write(inside(path), "{}", 2);
}

static bool has_mapping(const char *id)
{
  cm_mapping_row row;
  return cm_mappings_get(store, id, &row, &error) == CM_OK;
}

START_TEST(what_is_deleted_comes_back_as_it_was)
{
  cm_network before, after;
  cm_mapping_row row;
  cm_binned entry, *entries;
  cm_quota_use use;
  size_t count;
  uint64_t faults;
  char id[CM_ID_MAX];
  ck_ok(cm_networks_get(store, "abc", &before, &error));
  create_job("ann", 0, id);
  ck_fails(cm_bin_put(store, CM_OBJECT_NETWORK, "abc", NULL, &(bool){false}, &error), CM_CONFLICT); /* the job needs it */
  ck_ok(cm_jobs_cancel(store, id, &error));
  ck_ok(cm_bin_put(store, CM_OBJECT_NETWORK, "abc", NULL, &(bool){false}, &error));
  ck_fails(cm_networks_get(store, "abc", &after, &error), CM_NOT_FOUND);
  ck_assert(is_there("networks/abc.zip"));
  add_mapping("m7", "ann", 0, 5);
  ck_ok(cm_bin_put(store, CM_OBJECT_MAPPING, "m7", NULL, &(bool){false}, &error));
  ck_fails(cm_mappings_find(store, "fm7", &row, &error), CM_NOT_FOUND);
  restart_store(); /* a start puts none of it aside */
  ck_ok(cm_bin_list(store, &(cm_bin_filter){"ann", 0, 10}, &entries, &count, &error));
  ck_assert_uint_eq(count, 1);
  ck_assert_str_eq(entries[0].id, "m7");
  ck_assert_str_eq(entries[0].kind, "mapping");
  ck_assert_uint_eq(entries[0].bytes, 5);
  free(entries);
  ck_ok(cm_bin_restore(store, "abc", &entry, &error));
  ck_ok(cm_networks_get(store, "abc", &after, &error));
  before.sequence = after.sequence;
  ck_assert_mem_eq(&before, &after, sizeof before);
  ck_fails(cm_bin_restore(store, "abc", &entry, &error), CM_NOT_FOUND);
  ck_ok(cm_bin_restore(store, "m7", &entry, &error));
  ck_ok(cm_mappings_find(store, "fm7", &row, &error));
  ck_ok(cm_bin_put(store, CM_OBJECT_MAPPING, "m7", NULL, &(bool){false}, &error));
  add_mapping("m7", "bob", 0, 9); /* in the bin it takes the other one's place */
  ck_ok(cm_bin_put(store, CM_OBJECT_MAPPING, "m7", NULL, &(bool){false}, &error));
  ck_ok(cm_quotas_use(store->database, "ann", &use, &error));
  ck_assert_double_eq_tol(use.use[CM_QUOTA_BYTES], 0, 0.1);
  ck_ok(cm_quotas_use(store->database, "bob", &use, &error));
  ck_assert_double_eq_tol(use.use[CM_QUOTA_BYTES], 9, 0.1);
  cm_store_close(store);
  ck_ok(cm_check_data(folder, &(cm_check_report){ignore_line, NULL}, &faults, &error));
  ck_assert_uint_eq(faults, 0);
  open_store();
  ck_ok(cm_bin_purge(store, "m7", NULL, &error));
  ck_assert(!is_there("mappings/m7"));
  ck_ok(cm_bin_put(store, CM_OBJECT_NETWORK, "abc", NULL, &(bool){false}, &error));
  ck_ok(cm_bin_purge(store, "abc", NULL, &error));
  ck_assert(!is_there("networks/abc.zip"));
  ck_fails(cm_bin_purge(store, "abc", NULL, &error), CM_NOT_FOUND);
  cm_store_close(store);
  ck_ok(cm_check_data(folder, &(cm_check_report){ignore_line, NULL}, &faults, &error));
  ck_assert_uint_eq(faults, 0);
  open_store();
}
END_TEST

static size_t in_bin(const char *user)
{
  cm_binned *entries;
  size_t count;
  ck_ok(cm_bin_list(store, &(cm_bin_filter){user, 0, 1000}, &entries, &count, &error));
  free(entries);
  return count;
}

/* More than are looked at at once; a crash, or a fault, leaves no half of it. */
START_TEST(a_bin_is_emptied_whole_or_not_at_all)
{
  enum { THINGS = 205 };
  const cm_viewer ann = {"ann", "", false};
  char id[16];
  add_mapping("bobs", "bob", 0, 5);
  ck_ok(cm_bin_put(store, CM_OBJECT_MAPPING, "bobs", NULL, &(bool){false}, &error));
  for (int i = 0; i < THINGS; i++) {
    snprintf(id, sizeof id, "m%d", i);
    add_mapping(id, "ann", 0, 5);
    ck_ok(cm_bin_put(store, CM_OBJECT_MAPPING, id, NULL, &(bool){false}, &error));
  }
  change("CREATE TRIGGER fault BEFORE DELETE ON bin WHEN old.id = 'm204' BEGIN SELECT raise(ABORT, 'a fault'); END");
  ck_assert_int_ne(cm_bin_empty(store, &ann, &error), CM_OK);
  ck_assert_uint_eq(in_bin("ann"), THINGS);
  ck_assert(is_there("mappings/m0") && is_there("mappings/m204"));
  /* Nor is what goes past the bin left in it. */
  add_mapping("m204b", "ann", 0, 5);
  change("CREATE TRIGGER other BEFORE DELETE ON bin WHEN old.id = 'm204b' BEGIN SELECT raise(ABORT, 'a fault'); END");
  ck_assert_int_ne(cm_bin_pass(store, CM_OBJECT_MAPPING, "m204b", &ann, &error), CM_OK);
  ck_assert(has_mapping("m204b"));
  change("DROP TRIGGER other");
  ck_ok(cm_bin_pass(store, CM_OBJECT_MAPPING, "m204b", &ann, &error));
  ck_assert(!has_mapping("m204b") && !is_there("mappings/m204b"));
  ck_assert_uint_eq(in_bin("ann"), THINGS);
  change("DROP TRIGGER fault");
  ck_ok(cm_bin_empty(store, &ann, &error));
  ck_assert_uint_eq(in_bin("ann"), 0);
  ck_assert(!is_there("mappings/m0") && !is_there("mappings/m204"));
  ck_assert_uint_eq(in_bin("bob"), 1);
  ck_assert(is_there("mappings/bobs"));
}
END_TEST

START_TEST(what_is_old_or_too_much_goes_but_for_pins)
{
  cm_retention_done done;
  cm_network network;
  bool pinned;
  const double now = cm_store_time(), week = 7 * 86400;
  cm_user ann = {.name = "ann"}, bob = {.name = "bob"};
  ck_ok(cm_users_add(store->database, &ann, &error));
  ck_ok(cm_users_add(store->database, &bob, &error));
  add_mapping("old", "ann", 40, 10);
  add_mapping("kept", "ann", 40, 10);
  add_mapping("new", "ann", 1, 10);
  add_mapping("bobs", "bob", 40, 10);
  ck_ok(cm_retention_run(store, now, week, &done, &error)); /* no rules: all stays */
  ck_assert_uint_eq(done.mappings + done.networks + done.jobs + done.purged, 0);
  ck_ok(cm_pin(store, CM_OBJECT_MAPPING, "kept", "ann", true, &error));
  ck_ok(cm_pinned(store, CM_OBJECT_MAPPING, "kept", "ann", &pinned, &error));
  ck_assert(pinned);
  ck_ok(cm_limits_set(store->database, &cm_keep_kind, &(cm_limit_row){false, "*", {NAN, 30, NAN, NAN}}, &error));
  ck_ok(cm_limits_set(store->database, &cm_keep_kind, &(cm_limit_row){false, "bob", {NAN, 60, NAN, NAN}}, &error));
  ck_fails(cm_limits_set(store->database, &cm_keep_kind, &(cm_limit_row){false, "eve", {1, 1, 1, 1}}, &error), CM_NOT_FOUND);
  ck_ok(cm_retention_run(store, now, week, &done, &error));
  ck_assert_uint_eq(done.mappings, 1);
  ck_assert(!has_mapping("old") && has_mapping("kept") && has_mapping("new") && has_mapping("bobs"));
  /* By size: the oldest go until the newest fit; pins count and stay. */
  add_mapping("mid", "ann", 2, 10);
  ck_ok(cm_limits_set(store->database, &cm_keep_kind, &(cm_limit_row){false, "ann", {NAN, NAN, NAN, 15}}, &error));
  ck_ok(cm_retention_run(store, now, week, &done, &error));
  ck_assert_uint_eq(done.mappings, 1);
  ck_assert(!has_mapping("mid") && has_mapping("kept") && has_mapping("new"));
  /* Networks by their last use. */
  ck_ok(cm_limits_set(store->database, &cm_keep_kind, &(cm_limit_row){false, "*", {10, -1, NAN, NAN}}, &error));
  change("UPDATE networks SET created = created - 20 * 86400");
  char id[CM_ID_MAX];
  create_job("ann", 0, id);
  ck_ok(cm_jobs_cancel(store, id, &error));
  ck_ok(cm_retention_run(store, now, week, &done, &error));
  ck_assert_uint_eq(done.networks, 0);
  change("UPDATE jobs SET created = created - 20 * 86400, finished = finished - 20 * 86400");
  ck_ok(cm_retention_run(store, now, week, &done, &error));
  ck_assert_uint_eq(done.networks, 1);
  ck_fails(cm_networks_get(store, "abc", &network, &error), CM_NOT_FOUND);
  ck_ok(cm_limits_set(store->database, &cm_keep_kind, &(cm_limit_row){false, "*", {-1, NAN, 10, NAN}}, &error));
  ck_ok(cm_retention_run(store, now, week, &done, &error));
  ck_assert_uint_eq(done.jobs, 1);
  /* A job's record comes back as it was. */
  cm_binned binned;
  cm_job job;
  ck_fails(cm_jobs_get(store, id, &job, &error), CM_NOT_FOUND);
  ck_ok(cm_bin_restore(store, id, &binned, &error));
  ck_assert_str_eq(binned.kind, "job");
  ck_ok(cm_jobs_get(store, id, &job, &error));
  ck_assert_int_eq(job.state, CM_JOB_CANCELLED);
  ck_assert_str_eq(job.owner.user, "ann");
  cm_job_clear(&job);
  ck_ok(cm_retention_run(store, now, week, &done, &error));
  ck_assert_uint_eq(done.jobs, 1);
  /* The bin is emptied when its time has come. */
  ck_ok(cm_retention_run(store, now + week / 2, week, &done, &error));
  ck_assert_uint_eq(done.purged, 0);
  ck_assert(is_there("mappings/old"));
  ck_ok(cm_retention_run(store, now + 2 * week, week, &done, &error));
  ck_assert_uint_eq(done.purged, 4);
  ck_assert(!is_there("mappings/old") && !is_there("networks/abc.zip"));
}
END_TEST

/* No file stays of an upload that a quota refuses, unless it is another user's too. */
START_TEST(a_refused_network_leaves_no_file)
{
  static const char *const ids[] = {"def", "abc"}; /* nobody's, and one that another has */
  cm_user eve = {.name = "eve"};
  change("UPDATE networks SET user = 'ann', visibility = 'private'");
  ck_ok(cm_users_add(store->database, &eve, &error));
  ck_ok(cm_limits_set(store->database, &cm_quota_kind, &(cm_limit_row){false, "eve", {50, NAN, NAN, NAN, NAN, NAN}}, &error));
  for (int i = 0; i < 2; i++) {
    char scratch[CM_PATH_MAX];
    bool known;
    cm_network network = {.neurons = 3, .bytes = 100, .owner = {.user = "eve"}};
    (void)snprintf(network.id, sizeof network.id, "%s", ids[i]);
    (void)snprintf(network.sha256, sizeof network.sha256, "%s", ids[i]);
    ck_ok(cm_path(scratch, &error, "%s/incoming/x", folder));
    test_write(scratch, "zip", 3);
    ck_fails(cm_networks_publish(store, &network, scratch, &known, &error), CM_QUOTA_USED);
  }
  ck_assert(!is_there("networks/def.zip") && is_there("networks/abc.zip"));
}
END_TEST

/* Who uploads the same bytes owns them too; they go when the last one deletes them. */
START_TEST(a_network_can_have_several_owners)
{
  bool last;
  cm_owner owner;
  cm_quota_use use;
  cm_user ann = {.name = "ann"}, bob = {.name = "bob"}, eve = {.name = "eve"};
  const cm_viewer as_ann = {"ann", "", false}, as_bob = {"bob", "", false}, as_eve = {"eve", "", false};
  ck_ok(cm_users_add(store->database, &ann, &error));
  ck_ok(cm_users_add(store->database, &bob, &error));
  ck_ok(cm_users_add(store->database, &eve, &error));
  change("UPDATE networks SET bytes = 100");
  ck_ok(cm_networks_join(store, "abc", "ann", &error)); /* it was nobody's */
  ck_ok(cm_networks_join(store, "abc", "bob", &error));
  ck_ok(cm_networks_join(store, "abc", "bob", &error));
  ck_ok(cm_owners_get(store->database, CM_OBJECT_NETWORK, "abc", NULL, &as_bob, &owner, &error));
  ck_assert(cm_owner_lets(&owner, &as_bob));
  ck_ok(cm_owners_get(store->database, CM_OBJECT_NETWORK, "abc", NULL, &as_eve, &owner, &error));
  ck_assert(!cm_owner_lets(&owner, &as_eve));
  ck_assert_str_eq(owner.user, "ann");
  for (int i = 0; i < 2; i++) {
    ck_ok(cm_quotas_use(store->database, i == 0 ? "ann" : "bob", &use, &error));
    ck_assert_double_eq(use.use[CM_QUOTA_BYTES], 100);
    ck_assert_double_eq(use.use[CM_QUOTA_NETWORKS], 1);
  }
  ck_ok(cm_limits_set(store->database, &cm_quota_kind, &(cm_limit_row){false, "eve", {50, NAN, NAN, NAN, NAN, NAN}}, &error));
  ck_fails(cm_networks_join(store, "abc", "eve", &error), CM_QUOTA_USED);
  ck_ok(cm_bin_put(store, CM_OBJECT_NETWORK, "abc", &as_ann, &last, &error));
  ck_assert(!last);
  ck_ok(cm_owners_get(store->database, CM_OBJECT_NETWORK, "abc", NULL, &as_bob, &owner, &error));
  ck_assert(cm_owner_lets(&owner, &as_bob));
  ck_ok(cm_quotas_use(store->database, "ann", &use, &error));
  ck_assert_double_eq(use.use[CM_QUOTA_NETWORKS], 0);
  ck_ok(cm_bin_put(store, CM_OBJECT_NETWORK, "abc", &as_bob, &last, &error));
  ck_assert(last);
  cm_binned entry;
  ck_ok(cm_bin_restore(store, "abc", &entry, &error));
  /* A removed user leaves it to the others. */
  ck_ok(cm_networks_join(store, "abc", "ann", &error));
  ck_ok(cm_users_remove(store->database, "bob", &error));
  ck_ok(cm_owners_get(store->database, CM_OBJECT_NETWORK, "abc", NULL, NULL, &owner, &error));
  ck_assert_str_eq(owner.user, "ann");
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("storage, retention");
  TCase *tests = tcase_create("storage, retention");
  tcase_add_checked_fixture(tests, store_setup, store_teardown);
  tcase_add_test(tests, what_is_deleted_comes_back_as_it_was);
  tcase_add_test(tests, a_bin_is_emptied_whole_or_not_at_all);
  tcase_add_test(tests, what_is_old_or_too_much_goes_but_for_pins);
  tcase_add_test(tests, a_network_can_have_several_owners);
  tcase_add_test(tests, a_refused_network_leaves_no_file);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
