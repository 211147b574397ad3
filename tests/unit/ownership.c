/* Whose mappings are, after random histories of three users and an operator, against a model that knows sets of owners and nothing of
 * tables: nothing that somebody owns is lost, and what nobody owns any more is reached by nobody. CM_HISTORIES says how many
 * histories, CM_SEED which. */
#include "shares.h"

#include "storage/retention.h"

enum { USERS = 3, THINGS = 8, STEPS = 40, NOBODY = -1, DAYS = 86400 };

static const char *const names[USERS] = {"ann", "bob", "eve"}, *const groups[USERS] = {"vision", "vision", "audio"};

/* ---- the model ---- */

typedef enum place { AWAY, LIVE, BINNED } place;

typedef struct word {
  cm_visibility visibility;
  bool pinned;
} word;

typedef struct thing {
  char id[CM_ID_MAX], fingerprint[40], group[16];
  place place;
  unsigned owners;    /* a bit for each */
  int first;          /* of them, by whom it stands in its row; NOBODY */
  word word[USERS], left; /* left: of the last owner that was removed */
  bool found;         /* equal jobs are given it */
  char job[CM_ID_MAX]; /* queued, that needs it; "" none */
  int asker;          /* whose job that is */
} thing;

static thing things[THINGS];
static int thing_count, made;
static uint64_t state;

static uint32_t draw(uint32_t below)
{
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33) % below;
}

static bool owns(const thing *t, int user)
{
  return (t->owners >> user & 1) != 0;
}

static int lowest(unsigned owners)
{
  int user = 0;
  while (user < USERS && (owners >> user & 1) == 0)
    user++;
  return user < USERS ? user : NOBODY;
}

static bool word_shows(cm_visibility visibility, const char *group, int user)
{
  return visibility == CM_VISIBLE_LAB || (visibility == CM_VISIBLE_GROUP && strcmp(group, groups[user]) == 0);
}

static bool should_see(const thing *t, int user)
{
  bool sees = t->owners == 0 && word_shows(t->left.visibility, t->group, user);
  for (int i = 0; i < USERS; i++)
    sees = sees || (owns(t, i) && (i == user || word_shows(t->word[i].visibility, groups[i], user)));
  return t->place == LIVE && sees;
}

/* Somebody is no owner any more. */
static void leave(thing *t, int user)
{
  t->owners &= ~(1u << user);
  if (t->first == user)
    t->first = t->place == LIVE ? lowest(t->owners) : NOBODY;
}

static void come_back(thing *t)
{
  t->place = LIVE;
  if (t->first == NOBODY) {
    t->found = t->found && t->word[lowest(t->owners)].visibility == CM_VISIBLE_LAB;
    t->first = lowest(t->owners);
  }
}

/* ---- deeds, on both ---- */

/* One there, of this user if some are soon found; NULL: none is. */
static thing *any(place where, int user)
{
  thing *found = NULL;
  for (int tries = 0; tries < 6 && thing_count > 0; tries++) {
    thing *t = &things[draw((uint32_t)thing_count)];
    if (t->place == where && (found == NULL || !owns(found, user)))
      found = t;
  }
  return found;
}

/* Half of what they make is the lab's, where it can be several users'. */
static cm_visibility draw_visibility(void)
{
  return draw(2) == 0 ? CM_VISIBLE_LAB : (cm_visibility)draw(CM_VISIBILITIES);
}

static const cm_viewer *viewer(int user)
{
  static cm_viewer viewers[USERS];
  viewers[user] = (cm_viewer){names[user], groups[user], false};
  return &viewers[user];
}

/* A job that makes what an equal one has made, or is given that. */
static void make(int user)
{
  char fingerprint[60], job[CM_ID_MAX], domain[CM_USER_MAX + 16];
  const cm_owner owner = owner_of(names[user], draw_visibility(), groups[user]);
  cm_mapping_row found;
  cm_owner_domain(&owner, domain);
  (void)snprintf(fingerprint, sizeof fingerprint, "of %.30s", domain);
  const bool known = cm_mappings_find(store, fingerprint, &found, &error) == CM_OK;
  thing *t = NULL;
  bool should = false;
  for (int i = 0; i < thing_count; i++) {
    const bool fits = things[i].place == LIVE && things[i].found && strcmp(things[i].fingerprint, fingerprint) == 0;
    should = should || fits;
    if (fits && known && strcmp(things[i].id, found.id) == 0)
      t = &things[i];
  }
  ck_assert(known == should && known == (t != NULL));
  if (!known && thing_count == THINGS)
    return;
  queue_job(&owner, "map", "{}", job);
  if (!known) {
    t = &things[thing_count++];
    *t = (thing){.place = LIVE, .found = true, .owners = 0, .first = user};
    (void)snprintf(t->id, sizeof t->id, "m%d", made++);
    (void)snprintf(t->fingerprint, sizeof t->fingerprint, "%.39s", fingerprint);
  }
  ck_ok(end_job(t->id, known ? NULL : fingerprint));
  if (!owns(t, user))
    t->word[user] = t->owners == 0 && known ? t->left : (word){owner.visibility, false};
  t->first = t->owners == 0 ? user : t->first;
  t->owners |= 1u << user;
}

static void show(thing *t, int user)
{
  cm_owner owner = owner_of(names[user], (cm_visibility)draw(CM_VISIBILITIES), groups[user]);
  ck_ok(cm_owners_show(store->database, CM_OBJECT_MAPPING, t->id, &owner, &error));
  t->word[user].visibility = owner.visibility;
  t->found = false;
}

static void delete_one(thing *t, int user)
{
  bool last = true, alone = t->owners == 1u << user, needed = t->job[0] != '\0';
  cm_status status = cm_bin_put(store, CM_OBJECT_MAPPING, t->id, viewer(user), &last, &error);
  ck_assert_int_eq(status, alone && needed ? CM_CONFLICT : CM_OK);
  if (status != CM_OK)
    return;
  ck_assert(last == alone);
  if (alone)
    t->place = BINNED;
  else
    leave(t, user);
}

static void delete_for_all(thing *t)
{
  bool last;
  cm_status status = cm_bin_put(store, CM_OBJECT_MAPPING, t->id, NULL, &last, &error);
  ck_assert_int_eq(status, t->job[0] != '\0' ? CM_CONFLICT : CM_OK);
  t->place = status == CM_OK ? BINNED : LIVE;
}

static void restore(thing *t)
{
  cm_binned entry;
  ck_ok(cm_bin_restore(store, t->id, &entry, &error));
  come_back(t);
}

static void purge(thing *t, int user)
{
  ck_ok(cm_bin_purge(store, t->id, user != NOBODY ? viewer(user) : NULL, &error));
  if (user != NOBODY)
    leave(t, user);
  if (t->owners == 0 || user == NOBODY)
    t->place = AWAY;
}

static void pin(thing *t, int user)
{
  t->word[user].pinned = draw(2) == 0;
  ck_ok(cm_pin(store, CM_OBJECT_MAPPING, t->id, names[user], t->word[user].pinned, &error));
}

/* A simulation, or a job that starts from it, waits; or waits no longer. */
static void need(thing *t, int user)
{
  char options[80];
  const bool simulates = draw(2) == 0;
  const cm_owner owner = owner_of(names[user], CM_VISIBLE_PRIVATE, "");
  if (t->job[0] == '\0') {
    (void)snprintf(options, sizeof options, simulates ? "{\"mapping\":\"%s\"}" : "{\"from\":\"%s\"}", t->id);
    queue_job(&owner, simulates ? "simulate" : "map", options, t->job);
    t->asker = user;
  } else {
    ck_ok(cm_jobs_cancel(store, t->job, &error));
    t->job[0] = '\0';
  }
}

/* A rule for one user, under which all falls that he has not pinned and that no job needs. */
static void rule(int user)
{
  cm_retention_done done;
  cm_limit_row row = {false, "", {-1, 30, -1, -1}};
  (void)snprintf(row.name, sizeof row.name, "%s", names[user]);
  ck_ok(cm_limits_set(store->database, &cm_keep_kind, &row, &error));
  ck_ok(cm_retention_run(store, cm_store_time() + 100 * DAYS, 1000 * DAYS, &done, &error));
  row.most[CM_KEEP_MAPPINGS] = -1;
  ck_ok(cm_limits_set(store->database, &cm_keep_kind, &row, &error));
  for (thing *t = things; t < things + thing_count; t++)
    if (t->place == LIVE && owns(t, user) && !t->word[user].pinned && t->job[0] == '\0') {
      if (t->owners == 1u << user)
        t->place = BINNED;
      else
        leave(t, user);
    }
}

static void add_user(int user)
{
  cm_user one = {0};
  (void)snprintf(one.name, sizeof one.name, "%s", names[user]);
  (void)snprintf(one.group, sizeof one.group, "%s", groups[user]);
  ck_ok(cm_users_add(store->database, &one, &error));
}

/* A namesake comes at once, and has nothing. */
static void replace_user(int user)
{
  bool busy = false;
  for (int i = 0; i < thing_count; i++)
    busy = busy || (things[i].job[0] != '\0' && things[i].asker == user);
  ck_assert_int_eq(cm_users_remove(store->database, names[user], &error), busy ? CM_CONFLICT : CM_OK);
  if (busy)
    return;
  add_user(user);
  for (thing *t = things; t < things + thing_count; t++) {
    if (t->place == AWAY || !owns(t, user))
      continue;
    leave(t, user);
    if (t->owners == 0) {
      t->left = t->word[user];
      (void)snprintf(t->group, sizeof t->group, "%s", groups[user]);
      t->found = t->found && t->left.visibility == CM_VISIBLE_LAB;
    }
  }
}

static void step(int user)
{
  thing *live = any(LIVE, user), *binned = any(BINNED, user);
  const bool his = live != NULL && owns(live, user), back = binned != NULL && owns(binned, user);
  switch (draw(12)) {
  case 0: his ? show(live, user) : make(user); break;
  case 1:
  case 2: his ? delete_one(live, user) : make(user); break;
  case 3: live != NULL && draw(3) == 0 ? delete_for_all(live) : make(user); break;
  case 4:
  case 5: back ? restore(binned) : make(user); break;
  case 6: back ? purge(binned, user) : make(user); break;
  case 7: his ? pin(live, user) : make(user); break;
  case 8: live != NULL ? need(live, user) : make(user); break;
  case 9: draw(2) == 0 ? rule(user) : make(user); break;
  case 10: draw(3) == 0 ? replace_user(user) : make(user); break;
  default: make(user);
  }
}

/* ---- what must hold ---- */

static void check_bin(const thing *t, int user)
{
  cm_owner owner;
  const cm_status status = cm_owners_get(store->database, CM_OBJECT_BINNED, t->id, NULL, viewer(user), &owner, &error);
  ck_assert_msg((status == CM_OK) == (t->place == BINNED && owns(t, user)), "%s in the bin of %s", t->id, names[user]);
}

static void check(void)
{
  char path[80];
  for (const thing *t = things; t < things + thing_count; t++) {
    (void)snprintf(path, sizeof path, "mappings/%s", t->id);
    ck_assert_msg(is_there(path) == (t->place != AWAY), "the files of %s", t->id);
    for (int user = 0; user < USERS; user++) {
      bool his, pinned;
      ck_assert_msg(mapping_shows(t->id, names[user], groups[user], &his) == should_see(t, user), "%s seen by %s", t->id, names[user]);
      ck_assert_msg(his == (t->place == LIVE && owns(t, user)), "%s of %s", t->id, names[user]);
      check_bin(t, user);
      ck_ok(cm_pinned(store, CM_OBJECT_MAPPING, t->id, names[user], &pinned, &error));
      ck_assert_msg(!his || pinned == t->word[user].pinned, "%s pinned by %s", t->id, names[user]);
    }
  }
}

/* The lists show each what he sees, and nothing else. */
static void check_lists(void)
{
  for (int user = 0; user < USERS; user++) {
    cm_list_page page;
    size_t expected = 0;
    ck_ok(cm_lists_read(store, &(cm_list_query){.list = CM_LIST_MAPPINGS, .viewer = viewer(user), .limit = 1000}, &page, &error));
    for (const thing *t = things; t < things + thing_count; t++)
      expected += should_see(t, user);
    ck_assert_uint_eq(page.count, expected);
    cm_list_page_clear(&page);
  }
}

static cm_status forget_jobs(sqlite3 *handle, void *context, cm_error *slot)
{
  (void)context;
  return cm_sql_run(handle, NULL, slot, "DELETE FROM jobs", "");
}

/* When the last has gone nothing is left. */
static void clear(void)
{
  int64_t left = -1;
  for (thing *t = things; t < things + thing_count; t++) {
    if (t->job[0] != '\0')
      need(t, 0);
    if (t->place == LIVE)
      delete_for_all(t);
    if (t->place == BINNED)
      purge(t, NOBODY);
  }
  check();
  ck_ok(cm_database_find(store->database, NULL, &error, "SELECT (SELECT count(*) FROM mappings) + (SELECT count(*) FROM owners) + (SELECT count(*) FROM"
                         " bin) + (SELECT count(*) FROM blobs WHERE path LIKE 'mappings/%')", ">i", &left));
  ck_assert_int_eq(left, 0);
  ck_ok(cm_database_write(store->database, forget_jobs, NULL, &error));
  thing_count = 0;
}

START_TEST(histories_lose_nothing_and_leave_nothing)
{
  const char *count = getenv("CM_HISTORIES"), *seed = getenv("CM_SEED");
  const uint32_t histories = count != NULL ? (uint32_t)strtoul(count, NULL, 10) : test_rounds(80);
  for (int user = 0; user < USERS; user++)
    add_user(user);
  for (uint32_t i = 0; i < histories; i++) {
    state = i + (seed != NULL ? strtoull(seed, NULL, 10) : 1) * 1000003;
    for (int n = 0; n < STEPS; n++) {
      step((int)draw(USERS));
      check();
    }
    check_lists();
    clear();
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("ownership");
  TCase *tests = tcase_create("ownership");
  tcase_set_timeout(tests, getenv("CM_HISTORIES") != NULL ? 0 : 120);
  tcase_add_checked_fixture(tests, store_setup, store_teardown);
  tcase_add_test(tests, histories_lose_nothing_and_leave_nothing);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
