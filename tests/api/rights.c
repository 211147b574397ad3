/* Who may what: every route by every kind of caller on things of every visibility, against a table that is written down here
 * a second time; and that what is private shows nowhere. A route without a row fails. */
#include "tests/api/client.h"

#include <signal.h>
#include <sqlite3.h>

#include "api/internal.h"
#include "core/output/views.h"

static test_daemon server;
static char folder[CM_PATH_MAX];
static cm_error error;
static sqlite3 *database;

/* ---- who asks ---- */

enum { NOBODY, READER, OWNER, MATE, OTHER, OPERATOR, ADMIN, CALLERS };

static const struct {
  const char *user, *role, *group, *scopes, *what;
} callers[CALLERS] = {
  [NOBODY] = {NULL, NULL, NULL, NULL, "nobody"},
  [READER] = {"ann", "user", "vision", "read", "the owner with a token that reads"},
  [OWNER] = {"ann", "user", "vision", "submit,reserve", "the owner"},
  [MATE] = {"bob", "user", "vision", "admin", "one of the group"},
  [OTHER] = {"eve", "user", "audio", "admin", "another user"},
  [OPERATOR] = {"olga", "operator", "none", "admin", "an operator"},
  [ADMIN] = {"root", "admin", "none", "admin", "an admin"},
};
static char tokens[CALLERS][128];

static void run(const char *words, char *line, size_t size)
{
  ck_assert_msg(test_command(folder, "/dev/null", words, line, size) == 0, "%s", words);
}

static void sql(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void sql(const char *format, ...)
{
  char *why = NULL;
  va_list arguments;
  va_start(arguments, format);
  char *text = sqlite3_vmprintf(format, arguments);
  va_end(arguments);
  ck_assert_msg(sqlite3_exec(database, text, NULL, NULL, &why) == SQLITE_OK, "%s: %s", text, why);
  sqlite3_free(text);
}

static void setup(void)
{
  char words[200], line[100];
  test_folder(folder);
  test_daemon_start(&server, folder, NULL);
  for (int i = READER; i < CALLERS; i++) {
    if (i != OWNER) {
      snprintf(words, sizeof words, "user add %s --role %s --group %s", callers[i].user, callers[i].role, callers[i].group);
      run(words, line, sizeof line);
    }
    snprintf(words, sizeof words, "token add --user %s --scope %s", callers[i].user, callers[i].scopes);
    run(words, line, sizeof line);
    snprintf(tokens[i], sizeof *tokens, "Authorization: Bearer %s", line);
  }
  char path[CM_PATH_MAX];
  ck_ok(cm_path(path, &error, "%s/coremapd.db", folder));
  ck_assert_int_eq(sqlite3_open(path, &database), SQLITE_OK);
  sqlite3_busy_timeout(database, 10000);
  sql("PRAGMA synchronous = OFF");
}

static void teardown(void)
{
  sqlite3_close(database);
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
  ck_ok(cm_folder_remove(folder, &error));
}

static test_reply ask(int caller, const char *method, const char *path, const char *body)
{
  const char *const headers[] = {caller == NOBODY ? "X: y" : tokens[caller], "Upload-Offset: 0",
                                 strstr(path, "/occupancy") != NULL ? "If-Match: *" : NULL, NULL};
  return test_request(&server, method, path, headers, body, body != NULL ? strlen(body) : 0);
}

static void expect(int caller, const char *method, const char *path, const char *body, long status)
{
  test_expect(ask(caller, method, path, body), status);
}

/* ---- the table ---- */

/* What is asked of the caller: everyone, Token, scopes read, submit, reServe, admin; with role: Watch (read, operator), Operate
 * (admin, operator), Administer (admin, admin). Of what: Network, Chip, Lease, Job, Mapping, Program, Upload, what is in the Bin, or nothing. What is
 * done to it: seen, changed, put. */
static const struct {
  const char *method, *pattern;
  char asks, object, deed;
  const char *body;
} rows[] = {
  {"GET", "/healthz", 'e', '-', 's', NULL},
  {"GET", "/readyz", 'e', '-', 's', NULL},
  {"GET", "/openapi.json", 'e', '-', 's', NULL},
  {"GET", "/v1/version", 'e', '-', 's', NULL},
  {"GET", "/v1/layouts", 'e', '-', 's', NULL},
  {"GET", "/", 'e', '-', 's', NULL},
  {"GET", "/{file*}", 'e', '-', 's', NULL},
  {"GET", "/metrics", 'W', '-', 's', NULL},
  {"GET", "/v1/cache", 'W', '-', 's', NULL},
  {"DELETE", "/v1/cache", 'O', '-', 's', NULL},
  {"GET", "/v1/me", 'T', '-', 's', NULL},
  {"POST", "/v1/session", 'e', '-', 's', "{}"},
  {"DELETE", "/v1/session", 'e', '-', 's', NULL},
  {"GET", "/v1/users", 'A', '-', 's', NULL},
  {"POST", "/v1/users", 'A', '-', 's', "{\"name\": \"ann\"}"},
  {"GET", "/v1/users/{name}", 'A', '-', 's', NULL},
  {"PATCH", "/v1/users/{name}", 'A', '-', 's', "{}"},
  {"DELETE", "/v1/users/{name}", 'A', '-', 's', NULL},
  {"GET", "/v1/audit", 'A', '-', 's', NULL},
  {"GET", "/v1/usage", 'T', '-', 's', NULL},
  {"GET", "/v1/quotas", 'A', '-', 's', NULL},
  {"PUT", "/v1/quotas/users/{name}", 'A', '-', 's', "{}"},
  {"PUT", "/v1/quotas/groups/{name}", 'A', '-', 's', "{}"},
  {"PUT", "/v1/drain", 'O', '-', 's', NULL},
  {"DELETE", "/v1/drain", 'O', '-', 's', NULL},
  {"GET", "/v1/bin", 'r', '-', 's', NULL},
  {"DELETE", "/v1/bin", 's', '-', 's', NULL},
  {"POST", "/v1/bin/{id}/restore", 's', 'B', 'c', NULL},
  {"DELETE", "/v1/bin/{id}", 's', 'B', 'c', NULL},
  {"GET", "/v1/retention", 'T', '-', 's', NULL},
  {"PUT", "/v1/retention/{name}", 'A', '-', 's', "{}"},
  {"GET", "/v1/tokens", 'T', '-', 's', NULL},
  {"POST", "/v1/tokens", 'a', '-', 's', "{\"ttl\": 60}"},
  {"DELETE", "/v1/tokens/{id}", 'a', '-', 's', NULL},
  {"GET", "/v1/networks", 'r', '-', 's', NULL},
  {"POST", "/v1/networks", 's', '-', 's', "4 3\n2\n1 3\n2 4\n3\n"},
  {"GET", "/v1/networks/{id}", 'r', 'N', 's', NULL},
  {"DELETE", "/v1/networks/{id}", 's', 'N', 'c', NULL},
  {"GET", "/v1/networks/{id}/content", 'r', 'N', 's', NULL},
  {"POST", "/v1/networks/{id}/parameters", 's', 'N', 's', "neuron,model,tau,v_threshold\n0,LIF,0.01,1\n"},
  {"POST", "/v1/networks/{id}/rates", 's', 'N', 's', "0,1\n"},
  {"PUT", "/v1/networks/{id}/pin", 's', 'N', 'c', NULL},
  {"DELETE", "/v1/networks/{id}/pin", 's', 'N', 'c', NULL},
  {"GET", "/v1/networks/{id}/labels", 'r', 'N', 's', NULL},
  {"PUT", "/v1/networks/{id}/labels", 's', 'N', 'c', "{\"labels\": {}}"},
  {"GET", "/v1/networks/{id}/access", 'r', 'N', 's', NULL},
  {"PUT", "/v1/networks/{id}/access", 's', 'N', 'c', "{\"visibility\": \"lab\"}"},
  {"POST", "/v1/uploads", 's', '-', 's', "{\"size\": 5}"},
  {"HEAD", "/v1/uploads/{id}", 's', 'U', 'h', NULL},
  {"PATCH", "/v1/uploads/{id}", 's', 'U', 'c', "a"},
  {"DELETE", "/v1/uploads/{id}", 's', 'U', 'c', NULL},
  {"GET", "/v1/chips", 'r', '-', 's', NULL},
  {"GET", "/v1/chips/{name}", 'r', 'C', 's', NULL},
  {"PUT", "/v1/chips/{name}", 's', 'C', 'p', "{}"},
  {"DELETE", "/v1/chips/{name}", 's', 'C', 'c', NULL},
  {"GET", "/v1/chips/{name}/access", 'r', 'C', 's', NULL},
  {"PUT", "/v1/chips/{name}/access", 's', 'C', 'c', "{\"visibility\": \"lab\"}"},
  {"GET", "/v1/chips/{name}/occupancy", 'r', 'C', 's', NULL},
  {"PUT", "/v1/chips/{name}/occupancy", 'v', 'C', 'c', "{}"},
  {"PATCH", "/v1/chips/{name}/occupancy", 'v', 'C', 'c', "{}"},
  {"GET", "/v1/chips/{name}/holders", 'r', 'C', 's', NULL},
  {"GET", "/v1/reservations", 'r', '-', 's', NULL},
  {"GET", "/v1/chips/{name}/reservations", 'r', 'C', 's', NULL},
  {"POST", "/v1/chips/{name}/reservations", 'v', 'C', 's', "{\"count\": 1}"},
  {"GET", "/v1/chips/{name}/reservations/{id}", 'r', 'L', 's', NULL},
  {"PUT", "/v1/chips/{name}/reservations/{id}", 'v', 'L', 'c', NULL},
  {"DELETE", "/v1/chips/{name}/reservations/{id}", 'v', 'L', 'c', NULL},
  {"GET", "/v1/chips/{name}/reservations/{id}/access", 'r', 'L', 's', NULL},
  {"PUT", "/v1/chips/{name}/reservations/{id}/access", 'v', 'L', 'c', "{\"visibility\": \"lab\"}"},
  {"GET", "/v1/jobs", 'r', '-', 's', NULL},
  {"POST", "/v1/fits", 'r', '-', 's', "{}"},
  {"POST", "/v1/jobs", 's', '-', 's', "{}"},
  {"GET", "/v1/events", 'r', '-', 's', NULL},
  {"GET", "/v1/sweeps", 'r', '-', 's', NULL},
  {"GET", "/v1/sweeps/{id}", 'r', 'J', 's', NULL},
  {"GET", "/v1/jobs/{id}", 'r', 'J', 's', NULL},
  {"DELETE", "/v1/jobs/{id}", 's', 'J', 'c', NULL},
  {"GET", "/v1/jobs/{id}/events", 'r', 'J', 's', NULL},
  {"GET", "/v1/jobs/{id}/history", 'r', 'J', 's', NULL},
  {"GET", "/v1/jobs/{id}/log", 'r', 'J', 's', NULL},
  {"POST", "/v1/jobs/{id}/cancel", 's', 'J', 'c', NULL},
  {"GET", "/v1/jobs/{id}/labels", 'r', 'J', 's', NULL},
  {"PUT", "/v1/jobs/{id}/labels", 's', 'J', 'c', "{\"labels\": {}}"},
  {"GET", "/v1/jobs/{id}/access", 'r', 'J', 's', NULL},
  {"PUT", "/v1/jobs/{id}/access", 's', 'J', 'c', "{\"visibility\": \"private\"}"},
  {"GET", "/v1/mappings", 'r', '-', 's', NULL},
  {"GET", "/v1/mappings/{id}", 'r', 'M', 's', NULL},
  {"DELETE", "/v1/mappings/{id}", 's', 'M', 'c', NULL},
  {"GET", "/v1/mappings/{id}/cores", 'r', 'M', 's', NULL},
  {"GET", "/v1/mappings/{id}/neurons", 'r', 'M', 's', NULL},
  {"GET", "/v1/mappings/{id}/links", 'r', 'M', 's', NULL},
  {"GET", "/v1/mappings/{id}/flows", 'r', 'M', 's', NULL},
  {"GET", "/v1/mappings/{id}/tree", 'r', 'M', 's', NULL},
  {"GET", "/v1/mappings/{id}/matrix", 'r', 'M', 's', NULL},
  {"GET", "/v1/mappings/{id}/routers", 'r', 'M', 's', NULL},
  {"GET", "/v1/mappings/{id}/diff", 'r', 'M', 's', NULL},
  {"GET", "/v1/mappings/{id}/routes", 'r', 'M', 's', NULL},
  {"GET", "/v1/mappings/{id}/certificate", 'r', 'M', 's', NULL},
  {"GET", "/v1/mappings/{id}/pareto", 'r', 'M', 's', NULL},
  {"GET", "/v1/mappings/{id}/pareto/{number}", 'r', 'M', 's', NULL},
  {"GET", "/v1/mappings/{id}/part", 'r', 'M', 's', NULL},
  {"GET", "/v1/mappings/{id}/placement", 'r', 'M', 's', NULL},
  {"GET", "/v1/mappings/{id}/content", 'r', 'M', 's', NULL},
  {"GET", "/v1/mappings/{id}/export", 'r', 'M', 's', NULL},
  {"GET", "/v1/mappings/{id}/picture", 'r', 'M', 's', NULL},
  {"POST", "/v1/mappings/{id}/commit", 'v', 'M', 's', "{}"},
  {"PUT", "/v1/mappings/{id}/pin", 's', 'M', 'c', NULL},
  {"DELETE", "/v1/mappings/{id}/pin", 's', 'M', 'c', NULL},
  {"GET", "/v1/mappings/{id}/labels", 'r', 'M', 's', NULL},
  {"PUT", "/v1/mappings/{id}/labels", 's', 'M', 'c', "{\"labels\": {}}"},
  {"GET", "/v1/mappings/{id}/access", 'r', 'M', 's', NULL},
  {"PUT", "/v1/mappings/{id}/access", 's', 'M', 'c', "{\"visibility\": \"private\"}"},
  {"GET", "/v1/programs", 'r', '-', 's', NULL},
  {"GET", "/v1/programs/{id}", 'r', 'G', 's', NULL},
  {"DELETE", "/v1/programs/{id}", 's', 'G', 'c', NULL},
  {"GET", "/v1/programs/{id}/model", 'r', 'G', 's', NULL},
  {"GET", "/v1/programs/{id}/schedule", 'r', 'G', 's', NULL},
  {"GET", "/v1/programs/{id}/program", 'r', 'G', 's', NULL},
  {"GET", "/v1/programs/{id}/tiles", 'r', 'G', 's', NULL},
  {"GET", "/v1/programs/{id}/mapping", 'r', 'G', 's', NULL},
  {"GET", "/v1/programs/{id}/report", 'r', 'G', 's', NULL},
  {"GET", "/v1/programs/{id}/pieces", 'r', 'G', 's', NULL},
  {"GET", "/v1/programs/{id}/images", 'r', 'G', 's', NULL},
  {"GET", "/v1/programs/{id}/binary", 'r', 'G', 's', NULL},
  {"GET", "/v1/programs/{id}/commands", 'r', 'G', 's', NULL},
  {"GET", "/v1/programs/{id}/bench", 'r', 'G', 's', NULL},
  {"GET", "/v1/programs/{id}/inputs", 'r', 'G', 's', NULL},
  {"GET", "/v1/programs/{id}/expected", 'r', 'G', 's', NULL},
  {"GET", "/v1/programs/{id}/spikes", 'r', 'G', 's', NULL},
  {"GET", "/v1/programs/{id}/source", 'r', 'G', 's', NULL},
  {"PUT", "/v1/programs/{id}/pin", 's', 'G', 'c', NULL},
  {"DELETE", "/v1/programs/{id}/pin", 's', 'G', 'c', NULL},
  {"GET", "/v1/programs/{id}/labels", 'r', 'G', 's', NULL},
  {"PUT", "/v1/programs/{id}/labels", 's', 'G', 'c', "{\"labels\": {}}"},
  {"GET", "/v1/programs/{id}/access", 'r', 'G', 's', NULL},
  {"PUT", "/v1/programs/{id}/access", 's', 'G', 'c', "{\"visibility\": \"private\"}"},
};
enum { ROWS = sizeof rows / sizeof *rows };

/* 401, 403, 404, or 0: let in. */
static long expected(int row, int caller, const char *visibility)
{
  const char asks = rows[row].asks;
  bool admin_scope = caller >= MATE, operates = caller >= OPERATOR;
  if (asks == 'e')
    return 0;
  if (caller == NOBODY)
    return 401;
  bool has = asks == 'T' || asks == 'r'               ? true
             : asks == 's' || asks == 'v'             ? caller != READER
             : asks == 'a'                            ? admin_scope
             : asks == 'W' || asks == 'O'             ? operates
                                                      : caller == ADMIN;
  if (!has)
    return 403;
  if (rows[row].object == '-')
    return 0;
  bool owns = caller == READER || caller == OWNER || operates;
  bool sees = owns || strcmp(visibility, "lab") == 0 || (strcmp(visibility, "group") == 0 && caller == MATE);
  if (!sees)
    return rows[row].deed == 'p' ? 0 : 404;
  return owns || rows[row].deed == 's' || rows[row].deed == 'h' ? 0 : 403;
}

/* ---- things, put into the database as they would stand there ---- */

static char *chip_text;

static void put_file(const char *format, const char *id, const char *name, const char *text)
{
  char path[CM_PATH_MAX];
  ck_ok(cm_path(path, &error, "%s/", folder));
  size_t used = strlen(path);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  snprintf(path + used, sizeof path - used, format, id, name);
#pragma GCC diagnostic pop
  test_write(path, text, strlen(text));
}

static void make_files(const char *id)
{
  static const char *const files[] = {"model.onnx", "program.bin", "report.json", "schedule.json", "tiles.zip", "mapping.json",
                                      "pieces.json", "images.json", "images.bin", "commands.txt", "bench.mem", "inputs.csv", "expected.txt", "spikes.csv",
                                      "pareto.json", "pareto-1.json"};
  char path[CM_PATH_MAX];
  ck_ok(cm_path(path, &error, "%s/mappings/%s", folder, id));
  ck_ok(cm_folder_make(path, &error));
  for (int view = 0; view < CM_VIEWS; view++)
    put_file("mappings/%s/%s", id, cm_mapping_view_name((cm_mapping_view)view), "part,x,y\n0,0,0\n");
  put_file("mappings/%s/%s", id, cm_mapping_view_name(CM_VIEW_CERTIFICATE_JSON), "{}");
  put_file("mappings/%s/%s", id, cm_mapping_view_name(CM_VIEW_ROUTES_JSON), "{}");
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    put_file("mappings/%s/%s", id, files[i], "{}");
}

/* A thing of ann's; its id, or name. */
static void make(char object, const char *visibility, char *id, size_t size)
{
  static unsigned number;
  const char *team = strcmp(visibility, "group") == 0 ? "vision" : "";
  snprintf(id, size, "thing%u", ++number);
  switch (object) {
  case 'N':
    sql("INSERT INTO networks(id, user, name, format, gzipped, directed, neurons, hyperedges, synapses, bytes, plain_bytes,"
        " duplicates, self_loops, empty_nets, labels, created, sha256, visibility, team)"
        " VALUES('%s', 'ann', '', 'metis', 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, '%s', '%s', '%s')", id, id, visibility, team);
    put_file("networks/%s.zip%.0s", id, "", "x");
    break;
  case 'C':
    sql("INSERT INTO chips(name, user, description, created, visibility, team) VALUES('%s', 'ann', '%s', 1, '%s', '%s')", id,
        chip_text, visibility, team);
    break;
  case 'L':
    sql("INSERT INTO leases(id, user, chip, owner, ttl, expires, created, visibility, team)"
        " VALUES('%s', 'ann', 'common', '', 60, 1e12, 1, '%s', '%s')", id, visibility, team);
    break;
  case 'J':
    sql("INSERT INTO jobs(id, user, kind, name, network, chip, options, reserve, ttl, priority, state, attempt, kills, moved,"
        " cancel_requested, created, mapping, reused, visibility, team) VALUES('%s', 'ann', 'map', '', 'n', 'common', '{}', 0,"
        " 60, 0, 'done', 1, 0, 0, 0, 1, 'm', 0, '%s', '%s')", id, visibility, team);
    break;
  case 'M':
  case 'G':
    sql("INSERT INTO mappings(id, user, network, chip, job, bytes, created, kind, visibility, team)"
        " VALUES('%s', 'ann', 'n', 'common', 'j', 1, 1, '%s', '%s', '%s')", id, object == 'M' ? "map" : "compile", visibility,
        team);
    make_files(id);
    break;
  case 'U':
    sql("INSERT INTO uploads(id, user, name, size, created, visibility, team) VALUES('%s', 'ann', '', 100, 1, '%s', '%s')", id,
        visibility, team);
    put_file("incoming/%s%.0s", id, "", "");
    break;
  case 'B':
    sql("INSERT INTO bin(id, kind, user, team, visibility, name, bytes, deleted, content) VALUES('%s', 'mapping', 'ann', '%s', '%s', '', 1, 1,"
        " '{\"id\": \"%s\", \"user\": \"ann\", \"network\": \"n\", \"chip\": \"common\", \"job\": \"j\", \"bytes\": 1, \"created\": 1.0}')",
        id, team, visibility, id);
    break;
  default:
    break;
  }
}

/* The path of a route with the thing's id in it. */
static void fill(const char *pattern, char object, const char *id, char *path, size_t size)
{
  char *out = path;
  for (const char *p = pattern; *p != '\0';) {
    if (*p != '{') {
      *out++ = *p++;
      *out = '\0';
      continue;
    }
    const char *word = strncmp(p, "{file*}", 7) == 0      ? "app.js"
                       : strstr(pattern, "/users/") != NULL || strstr(pattern, "/retention/") != NULL ? "temporary"
                       : strncmp(p, "{number}", 8) == 0     ? "1"
                       : object == 'L' && strncmp(p, "{name}", 6) == 0 ? "common"
                                                                      : id;
    out += snprintf(out, size - (size_t)(out - path), "%s", word);
    p = strchr(p, '}') + 1;
  }
}

static void ask_all(int row)
{
  static const char *const visibilities[] = {"private", "group", "lab"};
  for (int v = 0; v < 3; v++)
    for (int caller = 0; caller < CALLERS; caller++) {
      char id[80] = "", path[200];
      make(rows[row].object, visibilities[v], id, sizeof id);
      sql("INSERT OR IGNORE INTO users(name, role, team, disabled, created) VALUES('temporary', 'user', '', 0, 1)");
      if (strstr(rows[row].pattern, "/tokens/") != NULL && caller != NOBODY)
        sql("INSERT INTO tokens VALUES('%s', '%s', '', 1, '', 1, 0, 0)", id, callers[caller].user);
      if (strncmp(rows[row].pattern, "/v1/sweeps/", 11) == 0)
        sql("UPDATE jobs SET kind = 'sweep', options = '{\"by\":[\"energy_pj\"],\"keep\":\"all\"}', report = '{\"kept\":[]}' WHERE id = '%s'", id);
      fill(rows[row].pattern, rows[row].object, id, path, sizeof path);
      if (strcmp(path, "/v1/drain") == 0) /* who is let in is refused for this, and the server stays */
        strncat(path, "?x=1", sizeof path - strlen(path) - 1);
      if (strcmp(path, "/v1/events") == 0) /* which goes on without an end */
        strncat(path, "?until=idle", sizeof path - strlen(path) - 1);
      test_reply reply = ask(caller, rows[row].method, path, rows[row].body);
      long wanted = expected(row, caller, visibilities[v]);
      bool out = reply.status == 401 || reply.status == 403 || reply.status == 404 || reply.status == 0 ||
                 (reply.status >= 500 && strstr(reply.body, "\"damaged\"") == NULL); /* files here are stand-ins: who is told so was let in */
      ck_assert_msg(wanted == 0 ? !out : reply.status == wanted, "%s %s by %s on a thing that is %s: %ld, not %ld\n%s",
                    rows[row].method, path, callers[caller].what, visibilities[v], reply.status, wanted, reply.body);
      test_reply_clear(&reply);
    }
}

START_TEST(every_route_asks_for_what_the_table_says)
{
  test_reply reply = ask(ADMIN, "GET", "/v1/chips/loihi1", NULL);
  ck_assert_int_eq(reply.status, 200);
  chip_text = sqlite3_mprintf("%q", reply.body);
  test_reply_clear(&reply);
  sql("INSERT INTO chips(name, user, description, created) VALUES('common', '', '%s', 1)", chip_text);
  bool asked[ROWS] = {false};
  for (size_t i = 0; i < cm_route_count; i++) {
    int row = 0;
    while (row < ROWS && (strcmp(rows[row].method, cm_routes[i].method) != 0 ||
                          strcmp(rows[row].pattern, cm_routes[i].pattern) != 0))
      row++;
    ck_assert_msg(row < ROWS, "%s %s has no row: write down who may", cm_routes[i].method, cm_routes[i].pattern);
    asked[row] = true;
  }
  for (int row = 0; row < ROWS; row++) {
    ck_assert_msg(asked[row], "%s %s is no route any more", rows[row].method, rows[row].pattern);
    ask_all(row);
  }
  sqlite3_free(chip_text);
}
END_TEST

/* ---- what is private shows nowhere ---- */

static const char triangle[] = "3 3\n2 3\n1 3\n1 2\n"; /* a triangle, and as good three nets */

static void upload(int caller, const char *query, char id[65], long status)
{
  char path[100];
  snprintf(path, sizeof path, "/v1/networks%s", query);
  test_reply reply = ask(caller, "POST", path, triangle);
  ck_assert_msg(reply.status == status, "%ld %s", reply.status, reply.body);
  snprintf(id, 65, "%s", test_word(reply.json, "id"));
  test_reply_clear(&reply);
}

static size_t length_of(int caller, const char *path, const char *name)
{
  test_reply reply = ask(caller, "GET", path, NULL);
  ck_assert_int_eq(reply.status, 200);
  size_t length = json_array_size(json_object_get(reply.json, name));
  test_reply_clear(&reply);
  return length;
}

START_TEST(bytes_that_another_one_has_privately_are_new)
{
  char mine[65], again[65], hers[65], groups[65], labs[65], path[120];
  upload(OWNER, "?visibility=private&name=secret", mine, 201);
  upload(OWNER, "?visibility=private", again, 200);
  ck_assert_str_eq(mine, again);
  ck_assert_uint_eq(length_of(OTHER, "/v1/networks", "networks"), 0);
  ck_assert_uint_eq(length_of(ADMIN, "/v1/networks", "networks"), 1);
  snprintf(path, sizeof path, "/v1/networks?sha256=%s",
           "d4fce7724e9a77c51632800fd4261cd6de08215703f62e6eed220881227c6d60");
  ck_assert_uint_eq(length_of(OWNER, path, "networks"), 1);
  ck_assert_uint_eq(length_of(OTHER, path, "networks"), 0);
  ck_assert_uint_eq(length_of(MATE, path, "networks"), 0);
  upload(OTHER, "?visibility=private", hers, 201);
  ck_assert_str_ne(mine, hers);
  /* Also read as something else, which is refused to who has them already. */
  upload(OTHER, "?visibility=group&format=hmetis", groups, 201);
  test_expect(ask(OTHER, "POST", "/v1/networks?visibility=group&format=metis", triangle), 409);
  upload(MATE, "", labs, 201);
  char sha[65];
  cm_store_sha256(triangle, strlen(triangle), sha);
  ck_assert_str_eq(labs, sha); /* the lab's go by the hash of their bytes */
  upload(OTHER, "", again, 200);
  ck_assert_str_eq(again, labs);
  /* What is not there and what one may not see are told alike. */
  snprintf(path, sizeof path, "/v1/networks/%s", mine);
  test_reply hidden = test_problem(ask(OTHER, "GET", path, NULL), 404, "not-found");
  snprintf(path, sizeof path, "/v1/networks/%064d", 7);
  test_reply missing = test_problem(ask(OTHER, "GET", path, NULL), 404, "not-found");
  ck_assert_uint_eq(hidden.size, missing.size);
  char *at = strstr(hidden.body, mine);
  ck_assert_ptr_nonnull(at);
  memcpy(at, strstr(missing.body, "000000"), 64);
  /* But for the id of each request, which tells nothing. */
  char *one = strstr(hidden.body, "\"request\": \""), *other = strstr(missing.body, "\"request\": \"");
  ck_assert(one != NULL && other != NULL && one - hidden.body == other - missing.body);
  memcpy(one, other, 12 + 16);
  ck_assert_str_eq(hidden.body, missing.body);
  test_reply_clear(&hidden);
  test_reply_clear(&missing);
  /* Each one's deletes its own. */
  snprintf(path, sizeof path, "/v1/networks/%s", hers);
  expect(OTHER, "DELETE", path, NULL, 204);
  snprintf(path, sizeof path, "/v1/networks/%s", mine);
  expect(OWNER, "GET", path, NULL, 200);
}
END_TEST

static void add_result(const char *id, const char *kind, const char *network, const char *visibility, const char *group)
{
  sql("INSERT INTO mappings(id, user, team, visibility, network, chip, job, bytes, created, kind) VALUES('%s', 'ann', '%s', '%s', '%s', '%s',"
      " 'j-%s', 9, 1, '%s')", id, group, visibility, network, strcmp(kind, "map") == 0 ? "loihi1" : "", id, kind);
}

/* The ids and owners of a list, by one page after another of a single entry. */
static void expect_list(int caller, const char *what, const char *filter, const char *text)
{
  char path[200], got[200] = "", cursor[40] = "";
  do {
    snprintf(path, sizeof path, "/v1/%s?limit=1%s%s", what, filter, cursor);
    test_reply reply = ask(caller, "GET", path, NULL);
    ck_assert_int_eq(reply.status, 200);
    const json_t *one = json_array_get(json_object_get(reply.json, what), 0);
    if (one != NULL)
      snprintf(got + strlen(got), sizeof got - strlen(got), "%s %s %s%s%s;", test_word(one, "id"), test_word(one, "user"),
               test_word(one, "visibility"), json_object_get(one, "job") != NULL ? " " : "",
               json_object_get(one, "job") != NULL ? test_word(one, "name") : "");
    const char *next = json_string_value(json_object_get(reply.json, "next"));
    cursor[0] = '\0';
    if (next != NULL)
      snprintf(cursor, sizeof cursor, "&cursor=%s", next);
    test_reply_clear(&reply);
  } while (cursor[0] != '\0');
  ck_assert_msg(strcmp(got, text) == 0, "%s of %s: %s", path, callers[caller].what, got);
}

/* Whatever has become of the jobs; what several own is shown in the name of who shows it. */
START_TEST(results_are_found_without_their_jobs)
{
  add_result("m1", "map", "n1", "lab", "");
  add_result("m2", "map", "n2", "group", "vision");
  add_result("m3", "map", "n1", "private", "");
  add_result("p1", "compile", "n3", "lab", "");
  sql("INSERT INTO owners VALUES('m3', 'bob', 'vision', 'group', 1, 1, '')");
  sql("INSERT INTO jobs(id, user, kind, name, network, chip, options, reserve, ttl, priority, state, attempt, kills, moved, cancel_requested,"
      " created, reused, visibility, mapping) VALUES('j-m1', 'ann', 'map', 'first', 'n1', 'loihi1', '{}', 0, 60, 0, 'done', 1, 0, 0, 0, 1, 0,"
      " 'private', 'm1')");
  expect_list(OWNER, "mappings", "", "m3 ann private;m2 ann group;m1 ann lab first;");
  expect_list(MATE, "mappings", "", "m3 bob group;m2 ann group;m1 ann lab;");
  expect_list(OTHER, "mappings", "", "m1 ann lab;");
  expect_list(ADMIN, "mappings", "", "m3 ann private;m2 ann group;m1 ann lab first;");
  expect_list(OTHER, "programs", "", "p1 ann lab;");
  expect_list(MATE, "mappings", "&network=n1", "m3 bob group;m1 ann lab;");
  expect_list(MATE, "mappings", "&user=bob", "m3 bob group;");
  expect_list(MATE, "mappings", "&user=ann", "m2 ann group;m1 ann lab;"); /* not m3: ann hides that it is hers */
  expect_list(OWNER, "mappings", "&chip=toy", "");
  expect(MATE, "DELETE", "/v1/mappings/m3", NULL, 204);
  expect_list(MATE, "mappings", "", "m2 ann group;m1 ann lab;");
  expect_list(OWNER, "mappings", "&network=n1", "m3 ann private;m1 ann lab first;");
}
END_TEST

static void queue(int caller, const char *network, const char *more, long status, char id[33])
{
  char body[300];
  snprintf(body, sizeof body, "{\"network\": \"%s\", \"chip\": \"loihi1\"%s}", network, more);
  test_reply reply = ask(caller, "POST", "/v1/jobs", body);
  ck_assert_msg(reply.status == status, "%ld %s", reply.status, reply.body);
  snprintf(id, 33, "%s", test_word(reply.json, "id"));
  test_reply_clear(&reply);
}

static json_t *wait_for(int caller, const char *id)
{
  char path[80];
  for (;;) {
    snprintf(path, sizeof path, "/v1/jobs/%s?wait=10s", id);
    test_reply reply = ask(caller, "GET", path, NULL);
    ck_assert_int_eq(reply.status, 200);
    const char *state = test_word(reply.json, "state");
    if (strcmp(state, "queued") != 0 && strcmp(state, "running") != 0) {
      ck_assert_msg(strcmp(state, "done") == 0, "%s", reply.body);
      json_t *job = json_incref(reply.json);
      test_reply_clear(&reply);
      return job;
    }
    test_reply_clear(&reply);
  }
}

START_TEST(results_and_levels_are_shared_only_among_who_sees_them)
{
  static const char options[] = ", \"options\": {\"preset\": \"reference\", \"seed\": 5, \"max_part_size\": 2}";
  char network[65], id[33], more[200];
  test_reply reply = ask(OWNER, "POST", "/v1/networks", "a,b,1\nb,c,1\nc,d,1\nd,a,1\na,c,1\n");
  ck_assert_int_eq(reply.status, 201);
  snprintf(network, sizeof network, "%s", test_word(reply.json, "id"));
  test_reply_clear(&reply);
  snprintf(more, sizeof more, ", \"visibility\": \"private\"%s", options);
  queue(OWNER, network, more, 202, id);
  json_t *job = wait_for(OWNER, id);
  ck_assert_str_eq(test_word(job, "visibility"), "private");
  char mapping[80];
  snprintf(mapping, sizeof mapping, "/v1/mappings/%s", test_word(job, "mapping"));
  json_decref(job);
  expect(OWNER, "GET", mapping, NULL, 200);
  expect(MATE, "GET", mapping, NULL, 404);
  ck_assert_uint_eq(length_of(OTHER, "/v1/jobs", "jobs"), 0);
  /* The same job of another one finds neither the mapping nor the levels; the same of the same one both. */
  queue(OTHER, network, options, 202, id);
  job = wait_for(OTHER, id);
  ck_assert(json_is_false(json_object_get(job, "reused")));
  ck_assert(!json_is_true(json_object_get(json_object_get(job, "report"), "coarsening_cached")));
  json_decref(job);
  queue(OWNER, network, more, 202, id);
  job = wait_for(OWNER, id);
  ck_assert(json_is_true(json_object_get(job, "reused")));
  json_decref(job);
  queue(MATE, network, options, 202, id);
  job = wait_for(MATE, id);
  ck_assert(json_is_true(json_object_get(job, "reused")));
  json_decref(job);
  /* Shown to the group, and hidden again. */
  char path[100];
  snprintf(path, sizeof path, "%s/access", mapping);
  expect(OWNER, "PUT", path, "{\"visibility\": \"group\"}", 200);
  expect(MATE, "GET", mapping, NULL, 200);
  expect(OTHER, "GET", mapping, NULL, 404);
  expect(OWNER, "PUT", path, "{\"visibility\": \"private\"}", 200);
  expect(MATE, "GET", mapping, NULL, 404);
}
END_TEST

START_TEST(what_is_not_seen_is_not_used)
{
  char network[65], id[33], path[120], body[200];
  upload(OWNER, "?visibility=private", network, 201);
  snprintf(body, sizeof body, "{\"network\": \"%s\", \"chip\": \"loihi1\"}", network);
  test_reply reply = test_problem(ask(OTHER, "POST", "/v1/jobs", body), 404, "not-found");
  ck_assert_str_eq(test_word(reply.json, "where"), "/network");
  test_reply_clear(&reply);
  queue(OWNER, network, "", 202, id);
  json_decref(wait_for(OWNER, id));
  /* Names of chips are shared; what stands behind them is not. */
  reply = ask(OWNER, "GET", "/v1/chips/loihi1", NULL);
  char *at = strstr(reply.body, "loihi1"), chip[1 << 14];
  snprintf(chip, sizeof chip, "%.*sours%s", (int)(at - reply.body), reply.body, at + 6);
  test_reply_clear(&reply);
  expect(OWNER, "PUT", "/v1/chips/ours?visibility=group", chip, 201);
  expect(OTHER, "GET", "/v1/chips/ours", NULL, 404);
  expect(OTHER, "PUT", "/v1/chips/ours", chip, 409);
  expect(OPERATOR, "PUT", "/v1/chips/ours", chip, 200);
  expect(MATE, "GET", "/v1/chips/ours/access", NULL, 200); /* an operator's change takes it from nobody */
  expect(OWNER, "DELETE", "/v1/chips/ours", NULL, 204);
  /* A preset's occupancy is the operators' matter; its cores are leased by whoever may. */
  expect(OTHER, "PATCH", "/v1/chips/loihi1/occupancy", "{\"occupy\": [[0, 0]]}", 403);
  expect(OPERATOR, "PATCH", "/v1/chips/loihi1/occupancy", "{\"occupy\": [[0, 0]], \"owner\": \"lab\"}", 200);
  reply = ask(OWNER, "POST", "/v1/chips/loihi1/reservations", "{\"count\": 2, \"visibility\": \"private\"}");
  ck_assert_int_eq(reply.status, 201);
  snprintf(path, sizeof path, "/v1/chips/loihi1/reservations/%s", test_word(reply.json, "id"));
  test_reply_clear(&reply);
  for (int all = 0; all < 2; all++) {
    const char *const list = all ? "/v1/reservations" : "/v1/chips/loihi1/reservations";
    ck_assert_uint_eq(length_of(OTHER, list, "reservations"), 0);
    ck_assert_uint_eq(length_of(OWNER, list, "reservations"), 1);
  }
  expect(OTHER, "DELETE", path, NULL, 404);
  expect(OPERATOR, "DELETE", path, NULL, 204);
  /* A network that was the lab's stays so. */
  upload(OWNER, "", network, 201);
  snprintf(path, sizeof path, "/v1/networks/%s/access", network);
  expect(OWNER, "PUT", path, "{\"visibility\": \"private\"}", 409);
  expect(OWNER, "PUT", path, "{\"visibility\": \"all\"}", 400);
  expect(ADMIN, "POST", "/v1/networks?visibility=group", triangle, 400); /* is in no group */
}
END_TEST

START_TEST(what_a_removed_user_had_is_no_namesakes)
{
  char network[65], again[65], path[120], line[100];
  upload(OTHER, "?visibility=private", network, 201);
  run("user remove eve", line, sizeof line);
  run("user add eve --group audio", line, sizeof line);
  run("token add --user eve", line, sizeof line);
  snprintf(tokens[OTHER], sizeof *tokens, "Authorization: Bearer %s", line);
  snprintf(path, sizeof path, "/v1/networks/%s", network);
  expect(OTHER, "GET", path, NULL, 404);
  upload(OTHER, "?visibility=private", again, 201);
  ck_assert_str_ne(network, again);
  expect(OPERATOR, "DELETE", path, NULL, 204);
}
END_TEST

START_TEST(a_stream_ends_when_its_token_does)
{
  char network[65], id[33], path[80], request[400], line[100], words[80];
  test_reply reply = ask(OWNER, "POST", "/v1/networks", triangle);
  snprintf(network, sizeof network, "%s", test_word(reply.json, "id"));
  test_reply_clear(&reply);
  /* A queued job of which nothing comes: its turn is after a thousand years. */
  queue(OWNER, network, ", \"priority\": -100", 202, id);
  json_decref(wait_for(OWNER, id));
  sql("UPDATE jobs SET state = 'queued', retry_at = 1e12 WHERE id = '%s'", id);
  snprintf(path, sizeof path, "/v1/jobs/%s/events", id);
  snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s\r\n\r\n", path, tokens[OWNER]);
  snprintf(words, sizeof words, "token revoke %.12s", strstr(tokens[OWNER], "coremap_") + 8);
  pid_t revoker = fork();
  if (revoker == 0) {
    usleep(500000);
    run(words, line, sizeof line);
    _exit(0);
  }
  double begun = cm_now();
  char *text = test_raw(&server, request, 300);
  ck_assert_ptr_nonnull(strstr(text, "event: state"));
  ck_assert_double_lt(cm_now() - begun, 300); /* ended by the server */
  ck_assert_double_gt(cm_now() - begun, 0.4);
  free(text);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("rights");
  TCase *tests = tcase_create("rights");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, every_route_asks_for_what_the_table_says);
  tcase_add_test(tests, bytes_that_another_one_has_privately_are_new);
  tcase_add_test(tests, results_are_found_without_their_jobs);
  tcase_add_test(tests, results_and_levels_are_shared_only_among_who_sees_them);
  tcase_add_test(tests, what_is_not_seen_is_not_used);
  tcase_add_test(tests, what_a_removed_user_had_is_no_namesakes);
  tcase_add_test(tests, a_stream_ends_when_its_token_does);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
