/* Jobs, events and mappings over HTTP against a live daemon; and bad input that is about jobs. */
#include "tests/api/client.h"

#include <zlib.h>

#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>

#include "storage/pack.h"

static test_daemon server;
static char folder[CM_PATH_MAX];
static cm_error error;

static void setup(void)
{
  const char *const arguments[] = {"--workers", "2", "--threads", "2", NULL};
  test_folder(folder);
  test_daemon_start(&server, folder, arguments);
}

static void teardown(void)
{
  ck_assert_int_eq(test_daemon_stop(&server, SIGTERM), 0);
  ck_ok(cm_folder_remove(folder, &error));
}

/* The C. elegans connectome on Loihi, 16 neurons a core; `more` is added to the options. */
static void worm_job(char *id, const char *more)
{
  char network[65];
  test_upload_file(&server, "celegans_herm_chem.edges.csv", network);
  test_job(&server, id, "{\"network\": \"%s\", \"chip\": \"loihi1\", \"options\": {\"max_part_size\": 16%s}}", network,
           more);
}

/* A job that runs for a while. */
static void long_job(char *id)
{
  char network[65];
  test_upload_large(&server, 60000, 300000, 1, network);
  test_job(&server, id, "{\"network\": \"%s\", \"chip\": \"loihi64\", \"options\": {\"preset\": \"best\", \"max_part_size\": 32}}", network);
}

static json_t *finished(const char *id, const char *state)
{
  json_t *job = test_wait(&server, id);
  char *text = json_dumps(job, 0);
  ck_assert_msg(strcmp(test_word(job, "state"), state) == 0, "%s", text);
  free(text);
  return job;
}

START_TEST(a_network_becomes_a_mapping)
{
  char id[33], path[160];
  worm_job(id, "");
  json_t *job = finished(id, "done");
  ck_assert_str_eq(test_word(job, "kind"), "map");
  ck_assert_uint_ge(json_array_size(json_object_get(job, "phases")), 5);
  ck_assert(json_is_string(json_object_get(job, "created")) && json_is_string(json_object_get(job, "finished")));
  ck_assert_int_eq(json_integer_value(json_object_get(job, "attempts")), 1);
  const json_t *report = json_object_get(job, "report"), *bound = json_object_get(report, "bound");
  ck_assert(json_is_object(json_object_get(report, "metrics")));
  ck_assert_int_le(json_integer_value(json_object_get(bound, "parts")),
                   json_integer_value(json_object_get(report, "parts")));
  ck_assert_str_eq(json_string_value(json_object_get(bound, "limit")), "neurons");
  const char *mapping = test_word(job, "mapping");

  snprintf(path, sizeof path, "/v1/mappings/%s", mapping);
  test_reply reply = test_get(&server, path);
  ck_assert_int_eq(reply.status, 200);
  json_int_t parts = json_integer_value(json_object_get(reply.json, "parts"));
  ck_assert_int_ge(parts, 18); /* 286 neurons, 16 a core */
  test_reply_clear(&reply);
  snprintf(path, sizeof path, "/v1/mappings/%s/part", mapping);
  reply = test_get(&server, path);
  int lines = 0, members[1024] = {0};
  for (char *p = reply.body, *end; *p != '\0'; p = end + 1, lines++) {
    long part = strtol(p, &end, 10);
    ck_assert(part >= 0 && part < parts && *end == '\n');
    ck_assert_int_le(++members[part], 16);
  }
  ck_assert_int_eq(lines, 286);
  test_reply_clear(&reply);
  /* The neurons of each part are those of the list. */
  for (int p = 0; p < parts; p++) {
    snprintf(path, sizeof path, "/v1/mappings/%s/neurons?part=%d", mapping, p);
    reply = test_get(&server, path);
    const json_t *neurons = json_object_get(reply.json, "neurons");
    ck_assert_int_eq((int)json_array_size(neurons), members[p]);
    ck_assert_str_ne(test_word(json_array_get(neurons, 0), "name"), "");
    char condition[200];
    snprintf(condition, sizeof condition, "If-None-Match: %s", test_header(&reply, "etag"));
    test_reply_clear(&reply);
    test_expect(test_request(&server, "GET", path, (const char *const[]){condition, NULL}, NULL, 0), 304);
  }
  snprintf(path, sizeof path, "/v1/mappings/%s/neurons?part=%d", mapping, (int)parts);
  reply = test_problem(test_get(&server, path), 404, "not-found");
  test_reply_clear(&reply);
  snprintf(path, sizeof path, "/v1/mappings/%s/neurons?part=0&format=csv", mapping);
  test_expect(test_get(&server, path), 400);
  snprintf(path, sizeof path, "/v1/mappings/%s/placement", mapping);
  reply = test_get(&server, path);
  ck_assert_int_eq(strncmp(reply.body, "part,x,y\n", 9), 0);
  test_reply_clear(&reply);
  snprintf(path, sizeof path, "/v1/jobs/%s/log", id);
  reply = test_get(&server, path);
  ck_assert_ptr_nonnull(strstr(reply.body, "phase metrics"));
  test_reply_clear(&reply);
  json_decref(job);
}
END_TEST

/* Routes and the certificate are files of the mapping too, by the rule that the job chose. */
START_TEST(a_mapping_has_routes_and_a_certificate)
{
  char id[33], path[160];
  worm_job(id, ", \"routing\": \"west-first\", \"seed\": 7");
  json_t *job = finished(id, "done");
  const char *mapping = test_word(job, "mapping");
  snprintf(path, sizeof path, "/v1/mappings/%s/routes", mapping);
  test_reply reply = test_get(&server, path);
  ck_assert_int_eq(reply.status, 200);
  const json_t *figures = json_object_get(reply.json, "figures");
  ck_assert_str_eq(test_word(figures, "routing"), "west-first");
  ck_assert(json_is_true(json_object_get(figures, "deadlock_free")));
  ck_assert_double_le(json_number_value(json_object_get(figures, "link_load_max")),
                      json_number_value(json_object_get(figures, "link_load_max_before")));
  ck_assert_uint_gt(json_array_size(json_object_get(reply.json, "tables")), 0);
  test_reply_clear(&reply);
  snprintf(path, sizeof path, "/v1/mappings/%s/routes?format=csv", mapping);
  reply = test_get(&server, path);
  ck_assert_int_eq(strncmp(reply.body, "x,y,key,mask,links,cores\n", 25), 0);
  test_reply_clear(&reply);
  snprintf(path, sizeof path, "/v1/mappings/%s/routes?format=bin", mapping);
  reply = test_get(&server, path);
  ck_assert_mem_eq(reply.body, "CMLINKS1", 8);
  ck_assert_uint_eq(reply.size, 16 + 128 * 16);
  test_reply_clear(&reply);
  snprintf(path, sizeof path, "/v1/mappings/%s/certificate", mapping);
  reply = test_get(&server, path);
  ck_assert_int_eq(reply.status, 200);
  ck_assert_str_eq(test_word(reply.json, "format"), "coremapd certificate 1");
  ck_assert_uint_eq(json_array_size(json_object_get(reply.json, "bounds")), 6);
  ck_assert_str_eq(test_word(json_object_get(reply.json, "network"), "sha256"), test_word(job, "network"));
  test_reply_clear(&reply);
  json_decref(job);
}
END_TEST

/* Whether a mapping, which is small and so packed, keeps a file. */
static bool kept(const char *mapping, const char *name)
{
  char path[CM_PATH_MAX], *bytes = NULL;
  size_t size;
  sqlite3 *database;
  sqlite3_stmt *statement;
  ck_ok(cm_path(path, &error, "%s/coremapd.db", folder));
  ck_assert_int_eq(sqlite3_open(path, &database), SQLITE_OK);
  ck_assert_int_eq(sqlite3_prepare_v2(database, "SELECT content FROM packs WHERE mapping = ?", -1, &statement, NULL), SQLITE_OK);
  sqlite3_bind_text(statement, 1, mapping, -1, SQLITE_STATIC);
  ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
  cm_status status = cm_pack_file(sqlite3_column_blob(statement, 0), (size_t)sqlite3_column_bytes(statement, 0), name, &bytes, &size, &error);
  free(bytes);
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return status == CM_OK;
}

/* Nobody pays for routes and certificate that nobody asks for. Once made they stay, also without the network. */
START_TEST(routes_and_certificate_are_made_when_first_asked_for)
{
  char id[33], network_id[65], path[160], *made = NULL;
  worm_job(id, ", \"seed\": 11");
  json_t *job = finished(id, "done");
  const char *mapping = test_word(job, "mapping");
  ck_assert(!kept(mapping, "routes.json") && !kept(mapping, "certificate.json"));
  for (int time = 0; time < 3; time++) {
    snprintf(path, sizeof path, "/v1/mappings/%s/certificate", mapping);
    test_reply reply = test_get(&server, path);
    ck_assert_int_eq(reply.status, 200);
    if (time == 0)
      made = strdup(reply.body);
    ck_assert_str_eq(reply.body, made);
    ck_assert(kept(mapping, "certificate.json"));
    test_reply_clear(&reply);
    snprintf(path, sizeof path, "/v1/mappings/%s/routes?format=csv", mapping);
    if (time == 1) { /* the network goes before anybody has asked for routes */
      char network[100];
      snprintf(network, sizeof network, "/v1/networks/%s", test_word(job, "network"));
      test_expect(test_request(&server, "DELETE", network, NULL, NULL, 0), 204);
      reply = test_problem(test_get(&server, path), 409, "conflict");
      ck_assert_ptr_nonnull(strstr(reply.body, "upload it again"));
      test_reply_clear(&reply);
    }
  }
  test_upload_file(&server, "celegans_herm_chem.edges.csv", network_id);
  test_expect(test_get(&server, path), 200);
  ck_assert(kept(mapping, "routes.json") && kept(mapping, "routes.csv") && kept(mapping, "routes.bin"));
  free(made);
  json_decref(job);
}
END_TEST

/* Dead links leave but one way east, which XY does not take: nobody asked for routes, so their view says why there are
 * none; who asks is refused. */
START_TEST(routes_that_cannot_be_are_refused_in_words)
{
  static const char chip[] = "{\"name\": \"cut\", \"cores\": [4, 4], \"limits\": {\"neurons\": 18}, "
                             "\"dead_links\": [[1, 0, \"east\"], [1, 1, \"east\"], [1, 2, \"east\"]]}";
  char network[65], id[33], path[160];
  test_reply reply = test_request(&server, "PUT", "/v1/chips/cut", NULL, chip, strlen(chip));
  ck_assert_int_eq(reply.status, 201);
  test_reply_clear(&reply);
  test_upload_file(&server, "celegans_herm_chem.edges.csv", network);
  test_job(&server, id, "{\"network\": \"%s\", \"chip\": \"cut\"}", network);
  json_t *job = finished(id, "done");
  snprintf(path, sizeof path, "/v1/mappings/%s/routes", test_word(job, "mapping"));
  reply = test_get(&server, path);
  ck_assert_int_eq(reply.status, 200);
  ck_assert_str_eq(test_word(json_object_get(reply.json, "refused"), "code"), "no-route");
  ck_assert_ptr_nonnull(strstr(test_word(json_object_get(reply.json, "refused"), "detail"), "neuron"));
  test_reply_clear(&reply);
  json_decref(job);
  test_job(&server, id, "{\"network\": \"%s\", \"chip\": \"cut\", \"options\": {\"routing\": \"xy\"}}", network);
  job = finished(id, "failed");
  ck_assert_str_eq(test_word(json_object_get(job, "problem"), "code"), "no-route");
  ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(job, "problem"), "status")), 422);
  json_decref(job);
  test_job(&server, id, "{\"network\": \"%s\", \"chip\": \"cut\", \"options\": {\"routing\": \"west-first\"}}",
           network);
  json_decref(finished(id, "done"));
}
END_TEST

/* A core of a mapping breaks: a job that starts from the mapping moves the neurons of that core and no others. */
START_TEST(a_mapping_survives_a_broken_core)
{
  char id[33], again[33], path[160], options[120];
  worm_job(id, ", \"seed\": 9");
  json_t *job = finished(id, "done");
  snprintf(path, sizeof path, "/v1/mappings/%s/cores?format=json", test_word(job, "mapping"));
  test_reply reply = test_get(&server, path);
  const json_t *core = json_array_get(json_object_get(reply.json, "cores"), 2);
  char body[100];
  snprintf(body, sizeof body, "{\"broken\": [[%d, %d]]}", (int)json_integer_value(json_object_get(core, "x")),
           (int)json_integer_value(json_object_get(core, "y")));
  json_int_t lost = json_integer_value(json_object_get(core, "neurons"));
  test_reply_clear(&reply);
  /* The mapping is in use: its lease holds all its cores, and is no hindrance. */
  snprintf(path, sizeof path, "/v1/mappings/%s/commit", test_word(job, "mapping"));
  test_expect(test_request(&server, "POST", path, NULL, "{}", 2), 201);
  const char *const any[] = {"If-Match: *", NULL};
  reply = test_request(&server, "PATCH", "/v1/chips/loihi1/occupancy", any, body, strlen(body));
  ck_assert_int_eq(reply.status, 200);
  test_reply_clear(&reply);
  snprintf(options, sizeof options, ", \"seed\": 9, \"from\": \"%s\"", test_word(job, "mapping"));
  worm_job(again, options);
  json_t *second = finished(again, "done");
  snprintf(path, sizeof path, "/v1/mappings/%s", test_word(second, "mapping"));
  reply = test_get(&server, path);
  const json_t *told = json_object_get(json_object_get(reply.json, "report"), "incremental");
  ck_assert_int_eq(json_integer_value(json_object_get(told, "lost_cores")), 1);
  ck_assert_int_eq(json_integer_value(json_object_get(told, "moved_neurons")), lost);
  test_reply_clear(&reply);
  json_decref(job);
  json_decref(second);
  char network[65], text[300];
  test_upload_file(&server, "celegans_herm_chem.edges.csv", network);
  snprintf(text, sizeof text, "{\"network\": \"%s\", \"chip\": \"loihi1\", \"options\": {\"from\": \"0123\"}}",
           network);
  test_expect(test_request(&server, "POST", "/v1/jobs", NULL, text, strlen(text)), 404);
}
END_TEST

/* An ONNX model goes up, a compile job makes a program of it, and its files come back. */
START_TEST(a_model_becomes_a_program)
{
  char network[65], id[33], path[160];
  test_upload_file(&server, "onnx/shuffle.onnx", network);
  snprintf(path, sizeof path, "/v1/networks/%s", network);
  test_reply reply = test_get(&server, path);
  ck_assert_str_eq(test_word(reply.json, "format"), "onnx");
  ck_assert_int_gt(json_integer_value(json_object_get(reply.json, "operators")), 0);
  test_reply_clear(&reply);
  test_job(&server, id, "{\"kind\": \"compile\", \"network\": \"%s\", \"options\": {\"verify\": true}}", network);
  json_t *job = finished(id, "done"), *bytes = json_object_get(json_object_get(job, "report"), "permutation_bytes");
  ck_assert_int_lt(json_integer_value(json_object_get(bytes, "after")),
                   json_integer_value(json_object_get(bytes, "before")));
  ck_assert_ptr_null(json_object_get(job, "mapping"));
  const char *program = test_word(job, "program");
  snprintf(path, sizeof path, "/v1/programs/%s", program);
  reply = test_get(&server, path);
  ck_assert_int_eq(reply.status, 200);
  ck_assert_str_eq(test_word(reply.json, "job"), id);
  test_reply_clear(&reply);
  snprintf(path, sizeof path, "/v1/programs/%s/model", program);
  reply = test_get(&server, path);
  ck_assert_int_eq(reply.status, 200);
  ck_assert_int_eq(reply.body[0], 8); /* an ONNX file begins with its IR version */
  test_reply_clear(&reply);
  snprintf(path, sizeof path, "/v1/programs/%s/report", program);
  reply = test_get(&server, path);
  ck_assert(json_is_array(json_object_get(reply.json, "moves")));
  test_reply_clear(&reply);
  /* A program is no mapping, and a model is not mapped. */
  snprintf(path, sizeof path, "/v1/mappings/%s", program);
  reply = test_problem(test_get(&server, path), 404, "not-found");
  test_reply_clear(&reply);
  char body[200];
  snprintf(body, sizeof body, "{\"network\": \"%s\", \"chip\": \"loihi1\"}", network);
  reply = test_problem(test_send(&server, "POST", "/v1/jobs", body), 400, "bad-option");
  test_reply_clear(&reply);
  snprintf(path, sizeof path, "/v1/programs/%s", program);
  test_expect(test_request(&server, "DELETE", path, NULL, NULL, 0), 204);
  test_expect(test_get(&server, path), 404);
  json_decref(job);
}
END_TEST

/* For a chip that runs programs the job makes one. */
START_TEST(a_model_becomes_a_program_for_a_chip)
{
  char network[65], id[33], path[160];
  test_upload_file(&server, "onnx/shuffle.onnx", network);
  test_job(&server, id,
           "{\"kind\": \"compile\", \"network\": \"%s\", \"chip\": \"npu-embedded\", \"options\": {\"verify\": true, "
           "\"memory\": 16384}}", network);
  json_t *job = finished(id, "done"), *report = json_object_get(job, "report");
  ck_assert_str_eq(test_word(report, "stage"), "program");
  ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(report, "program"), "memory_bytes")), 16384);
  const char *program = test_word(job, "program");
  snprintf(path, sizeof path, "/v1/programs/%s", program);
  test_reply reply = test_get(&server, path);
  ck_assert_str_eq(test_word(reply.json, "chip"), "npu-embedded");
  ck_assert_ptr_nonnull(json_object_get(json_object_get(reply.json, "files"), "program"));
  ck_assert_ptr_null(json_object_get(json_object_get(reply.json, "files"), "model"));
  test_reply_clear(&reply);
  /* One job takes the model to a core mapping too, with its timeline. */
  const json_t *tiles = json_object_get(report, "tiles");
  ck_assert_double_gt(json_number_value(json_object_get(json_object_get(json_object_get(tiles, "mapping"), "metrics"),
                                                        "cores_used")), 0);
  snprintf(path, sizeof path, "/v1/programs/%s/schedule", program);
  reply = test_get(&server, path);
  ck_assert_uint_gt(json_array_size(json_object_get(reply.json, "traceEvents")), 4);
  test_reply_clear(&reply);
  snprintf(path, sizeof path, "/v1/programs/%s/mapping", program);
  reply = test_get(&server, path);
  ck_assert_int_eq((json_int_t)json_array_size(json_object_get(reply.json, "neurons")),
                   json_integer_value(json_object_get(tiles, "tiles")));
  test_reply_clear(&reply);
  snprintf(path, sizeof path, "/v1/programs/%s/tiles", program);
  reply = test_get(&server, path);
  ck_assert_mem_eq(reply.body, "PK", 2);
  test_reply_clear(&reply);
  snprintf(path, sizeof path, "/v1/programs/%s/program", program);
  reply = test_get(&server, path);
  ck_assert_int_eq(reply.status, 200);
  ck_assert_mem_eq(reply.body, "CMPROG\r\n", 8);
  test_reply_clear(&reply);
  snprintf(path, sizeof path, "/v1/programs/%s/model", program);
  test_expect(test_get(&server, path), 404);
  json_decref(job);
  /* Too small a memory says which node and how much would do. */
  test_job(&server, id, "{\"kind\": \"compile\", \"network\": \"%s\", \"chip\": \"npu-embedded\", \"options\": "
           "{\"memory\": 128}}", network);
  job = finished(id, "failed");
  ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(json_object_get(job, "problem"), "detail")), "needs"));
  json_decref(job);
}
END_TEST

START_TEST(views_have_representations_tags_and_ranges)
{
  char id[33], path[160], condition[160];
  worm_job(id, "");
  json_t *job = finished(id, "done");
  snprintf(path, sizeof path, "/v1/mappings/%s/cores", test_word(job, "mapping"));
  static const struct {
    const char *accept, *type;
  } table[] = {
    {"Accept: application/json", "application/json"},
    {"Accept: text/csv", "text/csv"},
    {"Accept: application/octet-stream", "application/octet-stream"},
    {"Accept: */*", "application/json"},
    {"Accept: text/*;q=0.5, application/json;q=0.1", "text/csv"},
    {"Accept: application/json;q=0, */*", "text/csv"},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    const char *const headers[] = {table[i].accept, NULL};
    test_reply reply = test_request(&server, "GET", path, headers, NULL, 0);
    ck_assert_int_eq(reply.status, 200);
    ck_assert_msg(strcmp(test_header(&reply, "content-type"), table[i].type) == 0, "%s", table[i].accept);
    test_reply_clear(&reply);
  }
  const char *const picture[] = {"Accept: image/png", NULL};
  test_expect(test_request(&server, "GET", path, picture, NULL, 0), 406);

  snprintf(path, sizeof path, "/v1/mappings/%s/cores?format=bin", test_word(job, "mapping"));
  test_reply whole = test_get(&server, path);
  ck_assert_mem_eq(whole.body, "CMCORES1", 8);
  ck_assert_uint_eq(whole.size, 16 + 128 * 36);
  snprintf(condition, sizeof condition, "If-None-Match: %s", test_header(&whole, "etag"));
  const char *const same[] = {condition, NULL};
  test_expect(test_request(&server, "GET", path, same, NULL, 0), 304);
  static const struct {
    const char *range, *content;
    size_t first, size;
  } ranges[] = {{"Range: bytes=8-15", "bytes 8-15/4624", 8, 8},
                {"Range: bytes=4600-", "bytes 4600-4623/4624", 4600, 24},
                {"Range: bytes=-10", "bytes 4614-4623/4624", 4614, 10},
                {"Range: bytes=4000-99999", "bytes 4000-4623/4624", 4000, 624}};
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
    const char *const headers[] = {ranges[i].range, NULL};
    test_reply reply = test_request(&server, "GET", path, headers, NULL, 0);
    ck_assert_int_eq(reply.status, 206);
    ck_assert_str_eq(test_header(&reply, "content-range"), ranges[i].content);
    ck_assert_uint_eq(reply.size, ranges[i].size);
    ck_assert_mem_eq(reply.body, whole.body + ranges[i].first, ranges[i].size);
    test_reply_clear(&reply);
  }
  const char *const outside[] = {"Range: bytes=4624-", NULL}, *const nonsense[] = {"Range: bytes=9-3", NULL},
             *const stale[] = {"Range: bytes=0-3", "If-Range: \"other\"", NULL};
  test_reply reply = test_request(&server, "GET", path, outside, NULL, 0);
  ck_assert_int_eq(reply.status, 416);
  ck_assert_str_eq(test_header(&reply, "content-range"), "bytes */4624");
  test_reply_clear(&reply);
  test_expect(test_request(&server, "GET", path, nonsense, NULL, 0), 200);
  test_expect(test_request(&server, "GET", path, stale, NULL, 0), 200);
  test_reply_clear(&whole);
  snprintf(path, sizeof path, "/v1/mappings/%s/links?format=xml", test_word(job, "mapping"));
  test_expect(test_get(&server, path), 400);
  snprintf(path, sizeof path, "/v1/mappings/%s/neurons?part=x", test_word(job, "mapping"));
  test_expect(test_get(&server, path), 400);
  test_expect(test_get(&server, "/v1/mappings/../jobs"), 400);
  test_expect(test_get(&server, "/v1/mappings/abc/cores"), 404);
  json_decref(job);
}
END_TEST

/* What gzip makes of a packed reply; the caller frees. */
static char *unpacked(const test_reply *reply, size_t *size)
{
  enum { ROOM = 4 << 20 };
  char *bytes = malloc(ROOM);
  z_stream stream = {.next_in = (unsigned char *)reply->body, .avail_in = (unsigned)reply->size,
                     .next_out = (unsigned char *)bytes, .avail_out = ROOM};
  ck_assert_int_eq(inflateInit2(&stream, 15 + 16), Z_OK);
  ck_assert_int_eq(inflate(&stream, Z_FINISH), Z_STREAM_END);
  *size = stream.total_out;
  inflateEnd(&stream);
  return bytes;
}

/* Packed are large texts and arrays, for those who take gzip and want no range; the tag says which bytes it is. */
START_TEST(large_views_come_packed)
{
  static const char *const views[] = {"content", "cores?format=bin"};
  char id[33], path[160], condition[200];
  worm_job(id, "");
  json_t *job = finished(id, "done");
  snprintf(path, sizeof path, "/v1/mappings/%s/%s", test_word(job, "mapping"), views[_i]);
  test_reply plain = test_get(&server, path);
  ck_assert_str_eq(test_header(&plain, "content-encoding"), "");
  ck_assert_str_eq(test_header(&plain, "vary"), "Accept, Accept-Encoding");
  static const char *const takes[] = {"Accept-Encoding: gzip", "Accept-Encoding: deflate, gzip;q=0.5", "Accept-Encoding: *"};
  char tag[128] = "";
  for (size_t i = 0; i < sizeof takes / sizeof *takes; i++) {
    test_reply packed = test_request(&server, "GET", path, (const char *const[]){takes[i], NULL}, NULL, 0);
    ck_assert_int_eq(packed.status, 200);
    ck_assert_str_eq(test_header(&packed, "content-encoding"), "gzip");
    ck_assert_str_eq(test_header(&packed, "vary"), "Accept, Accept-Encoding");
    ck_assert_uint_lt(packed.size, plain.size);
    size_t size;
    char *bytes = unpacked(&packed, &size);
    ck_assert_uint_eq(size, plain.size);
    ck_assert_mem_eq(bytes, plain.body, size);
    free(bytes);
    snprintf(tag, sizeof tag, "%s", test_header(&packed, "etag"));
    ck_assert_str_ne(tag, test_header(&plain, "etag"));
    test_reply_clear(&packed);
  }
  static const char *const not_those[] = {"Accept-Encoding: gzip;q=0, *", "Accept-Encoding: br", "Accept-Encoding: identity"};
  for (size_t i = 0; i < sizeof not_those / sizeof *not_those; i++) {
    test_reply reply = test_request(&server, "GET", path, (const char *const[]){not_those[i], NULL}, NULL, 0);
    ck_assert_str_eq(test_header(&reply, "content-encoding"), "");
    ck_assert_uint_eq(reply.size, plain.size);
    test_reply_clear(&reply);
  }
  snprintf(condition, sizeof condition, "If-None-Match: %s", tag);
  test_expect(test_request(&server, "GET", path, (const char *const[]){takes[0], condition, NULL}, NULL, 0), 304);
  test_reply part = test_request(&server, "GET", path, (const char *const[]){takes[0], "Range: bytes=0-99", NULL}, NULL, 0);
  ck_assert_int_eq(part.status, 206);
  ck_assert_str_eq(test_header(&part, "content-encoding"), "");
  ck_assert_mem_eq(part.body, plain.body, 100);
  test_reply_clear(&part);
  test_reply_clear(&plain);
  snprintf(path, sizeof path, "/v1/networks/%s/content", test_word(job, "network"));
  test_reply zip = test_request(&server, "GET", path, (const char *const[]){takes[0], NULL}, NULL, 0);
  ck_assert_str_eq(test_header(&zip, "content-encoding"), "");
  ck_assert_str_eq(test_header(&zip, "vary"), "");
  test_reply_clear(&zip);
  json_decref(job);
}
END_TEST

START_TEST(equal_jobs_run_once_and_others_share_the_coarsening)
{
  char first[33], second[33], third[33], path[96];
  worm_job(first, ", \"preset\": \"reference\", \"seed\": 7, \"coarsening_share\": 3");
  json_t *a = finished(first, "done");
  ck_assert(json_is_false(json_object_get(a, "reused")));
  worm_job(second, ", \"preset\": \"reference\", \"seed\": 7, \"coarsening_share\": 3, \"threads\": 1");
  json_t *b = finished(second, "done");
  ck_assert(json_is_true(json_object_get(b, "reused")));
  ck_assert_str_eq(test_word(a, "mapping"), test_word(b, "mapping"));
  worm_job(third, ", \"preset\": \"reference\", \"seed\": 7, \"coarsening_share\": 3, \"placement_seed\": 8");
  json_t *c = finished(third, "done");
  ck_assert_str_ne(test_word(a, "mapping"), test_word(c, "mapping"));
  ck_assert(json_is_false(json_object_get(json_object_get(a, "report"), "coarsening_cached")));
  ck_assert(json_is_true(json_object_get(json_object_get(c, "report"), "coarsening_cached")));
  test_reply cache = test_get(&server, "/v1/cache");
  ck_assert_int_ge(json_integer_value(json_object_get(cache.json, "hits")), 1);
  test_reply_clear(&cache);
  test_expect(test_request(&server, "DELETE", "/v1/cache", NULL, NULL, 0), 204);
  cache = test_get(&server, "/v1/cache");
  ck_assert_int_eq(json_integer_value(json_object_get(cache.json, "entries")), 0);
  test_reply_clear(&cache);
  /* A mapping that is gone is made again. */
  snprintf(path, sizeof path, "/v1/mappings/%s", test_word(a, "mapping"));
  test_expect(test_request(&server, "DELETE", path, NULL, NULL, 0), 204);
  test_expect(test_get(&server, path), 404);
  worm_job(first, ", \"preset\": \"reference\", \"seed\": 7, \"coarsening_share\": 3");
  json_t *d = finished(first, "done");
  ck_assert(json_is_false(json_object_get(d, "reused")));
  json_decref(a);
  json_decref(b);
  json_decref(c);
  json_decref(d);
}
END_TEST

START_TEST(bad_jobs_are_refused_at_once)
{
  char network[65], body[512];
  test_upload_file(&server, "celegans_herm_chem.edges.csv", network);
  static const struct {
    const char *format, *code, *where;
    long status;
  } table[] = {
    {"{\"network\": \"%s\", \"chip\": \"nochip\"}", "not-found", "/chip", 404},
    {"{\"network\": \"%.3s\", \"chip\": \"loihi1\"}", "not-found", "/network", 404},
    {"{\"network\": \"%s\"}", "bad-request", "/chip", 400},
    {"{\"what\": \"%s\"}", "bad-option", "/what", 400},
    {"{\"network\": \"%s\", \"chip\": 5}", "bad-request", "/chip", 400},
    {"{\"network\": \"%s\", \"chip\": \"loihi1\", \"kind\": \"bake\"}", "bad-option", "/kind", 400},
    {"{\"network\": \"%s\", \"chip\": \"loihi1\", \"options\": {\"preset\": \"magic\"}}", "bad-option", "/options/preset", 400},
    {"{\"network\": \"%s\", \"chip\": \"loihi1\", \"options\": {\"nothing\": 1}}", "bad-option", "/options/nothing", 400},
    {"{\"network\": \"%s\", \"chip\": \"loihi1\", \"options\": {\"coarsening_tries\": 1e9}}", "bad-option", "/options/coarsening_tries", 400},
    {"{\"network\": \"%s\", \"chip\": \"loihi1\", \"options\": []}", "bad-option", "/options", 400},
    {"{\"network\": \"%s\", \"chip\": \"loihi1\", \"priority\": 1000}", "bad-request", "/priority", 400},
    {"{\"network\": \"%s\", \"chip\": \"loihi1\", \"reserve\": 1}", "bad-request", "/reserve", 400},
    {"{\"network\": \"%s\", \"chip\": \"loihi1\", \"name\": \"a\\u0000b\"}", "bad-request", "", 400},
    {"{\"network\": \"%s\",", "bad-request", "line", 400},
    {"[\"%s\"]", "bad-request", "", 400},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(body, sizeof body, table[i].format, network);
#pragma GCC diagnostic pop
    test_reply reply = test_send(&server, "POST", "/v1/jobs", body);
    ck_assert_msg(reply.status == table[i].status, "%s: %ld %s", body, reply.status, reply.body);
    reply = test_problem(reply, table[i].status, table[i].code);
    ck_assert_msg(strncmp(test_word(reply.json, "where"), table[i].where, strlen(table[i].where)) == 0, "%s: %s", body,
                  reply.body);
    test_reply_clear(&reply);
  }
  test_expect(test_get(&server, "/v1/jobs/abc"), 404);
  test_expect(test_get(&server, "/v1/jobs/abc/events"), 404);
  test_expect(test_send(&server, "POST", "/v1/jobs/abc/cancel", NULL), 404);
  test_expect(test_get(&server, "/v1/jobs?state=odd"), 400);
}
END_TEST

/* What only the mapper can know is the failed job's problem. */
START_TEST(impossible_jobs_fail_with_the_reason)
{
  char network[65], id[33];
  test_upload_file(&server, "celegans_herm_chem.edges.csv", network);
  test_job(&server, id, "{\"network\": \"%s\", \"chip\": \"tianjic\", \"options\": {\"max_part_size\": 1}}", network);
  json_t *job = finished(id, "failed"), *problem = json_object_get(job, "problem");
  ck_assert_str_eq(test_word(problem, "code"), "no-room");
  ck_assert_int_eq(json_integer_value(json_object_get(problem, "status")), 409);
  ck_assert_int_eq(json_integer_value(json_object_get(problem, "needed")), 286);
  ck_assert_int_eq(json_integer_value(json_object_get(problem, "free")), 156);
  ck_assert_int_eq(json_integer_value(json_object_get(problem, "cores_proved")), 286);
  ck_assert_str_eq(test_word(problem, "limit_name"), "neurons");
  ck_assert_int_eq(json_integer_value(json_object_get(problem, "limit")), 1);
  ck_assert_int_eq(json_integer_value(json_object_get(problem, "limit_proved")), 2); /* 286 neurons on 156 cores */
  json_decref(job);

  /* Six parts at least, none of which may reach more than two others: a preset says what it broke and what would fit. */
  static const char *const presets[] = {"reference", "fast"};
  test_expect(test_send(&server, "PUT", "/v1/chips/narrow", "{\"name\": \"narrow\", \"cores\": [4, 2], \"limits\": "
                        "{\"neurons\": 50, \"target_cores\": 2}, \"energy_pj\": {\"router\": 1, \"link\": 1}, "
                        "\"latency_ns\": {\"router\": 1, \"link\": 1}}"), 201);
  for (int p = 0; p < 2; p++) {
    test_job(&server, id, "{\"network\": \"%s\", \"chip\": \"narrow\", \"options\": {\"preset\": \"%s\"}}", network,
             presets[p]);
    job = finished(id, "failed");
    problem = json_object_get(job, "problem");
    ck_assert_str_eq(test_word(problem, "code"), "limit-broken");
    ck_assert_int_eq(json_integer_value(json_object_get(problem, "status")), 422);
    ck_assert_str_eq(test_word(problem, "limit_name"), "target_cores");
    ck_assert_int_eq(json_integer_value(json_object_get(problem, "limit")), 2);
    json_int_t use = json_integer_value(json_object_get(problem, "use")),
               found = json_integer_value(json_object_get(problem, "limit_found"));
    ck_assert_int_ge(json_integer_value(json_object_get(problem, "part")), 0);
    ck_assert(use > 2 && use < 8);
    ck_assert(found > 2 && found < 8);
    json_decref(job);
  }

  /* One neuron with 300 inputs on cores that take 256. */
  char *text;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  for (int i = 1; i <= 300; i++)
    fprintf(stream, "n%d,hub,1\n", i);
  fclose(stream);
  test_upload(&server, text, size, network);
  free(text);
  test_job(&server, id, "{\"network\": \"%s\", \"chip\": \"truenorth\"}", network);
  job = finished(id, "failed");
  problem = json_object_get(job, "problem");
  ck_assert_str_eq(test_word(problem, "code"), "neuron-too-large");
  ck_assert_int_eq(json_integer_value(json_object_get(problem, "status")), 422);
  ck_assert_str_eq(test_word(problem, "limit_name"), "inbound_axons");
  ck_assert_int_eq(json_integer_value(json_object_get(problem, "use")), 300);
  ck_assert_int_eq(json_integer_value(json_object_get(problem, "limit")), 256);
  ck_assert_int_eq(json_integer_value(json_object_get(problem, "limit_proved")), 300);
  ck_assert_int_eq(json_integer_value(json_object_get(problem, "neurons_too_large")), 1);
  json_decref(job);

  test_job(&server, id, "{\"network\": \"%s\", \"chip\": \"loihi1\", \"options\": {\"memory_limit\": 1000}}", network);
  job = finished(id, "failed");
  ck_assert_str_eq(test_word(json_object_get(job, "problem"), "code"), "memory-limit");
  json_decref(job);
}
END_TEST

START_TEST(small_and_odd_networks_are_mapped)
{
  static const char *const texts[] = {"1 0\n\n", "a,a,1\n", "a,b,1\na,b,2\nb,b,1\n", "6 3\n2\n1\n4\n3\n6\n5\n"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    char network[65], id[33];
    test_upload(&server, texts[i], strlen(texts[i]), network);
    test_job(&server, id, "{\"network\": \"%s\", \"chip\": \"loihi1\"}", network);
    json_decref(finished(id, "done"));
  }
}
END_TEST

START_TEST(an_idempotency_key_makes_one_job)
{
  char network[65], body[256], id[33];
  test_upload_file(&server, "celegans_herm_chem.edges.csv", network);
  snprintf(body, sizeof body, "{\"network\": \"%s\", \"chip\": \"loihi1\"}", network);
  const char *const headers[] = {"Idempotency-Key: once", NULL};
  test_reply reply = test_request(&server, "POST", "/v1/jobs", headers, body, strlen(body));
  ck_assert_int_eq(reply.status, 202);
  snprintf(id, sizeof id, "%s", test_word(reply.json, "id"));
  test_reply_clear(&reply);
  snprintf(body, sizeof body, "{ \"chip\": \"loihi1\",  \"network\": \"%s\"}",
           network); /* the same, written otherwise */
  reply = test_request(&server, "POST", "/v1/jobs", headers, body, strlen(body));
  ck_assert_int_eq(reply.status, 200);
  ck_assert_str_eq(test_word(reply.json, "id"), id);
  test_reply_clear(&reply);
  snprintf(body, sizeof body, "{\"network\": \"%s\", \"chip\": \"loihi64\"}", network);
  reply = test_problem(test_request(&server, "POST", "/v1/jobs", headers, body, strlen(body)), 422,
                       "idempotency-key-reused");
  test_reply_clear(&reply);
}
END_TEST

START_TEST(jobs_queue_cancel_and_go)
{
  char running[2][33], queued[33], path[96];
  long_job(running[0]);
  /* Another seed, or it would wait for the first as its twin. */
  char network[65];
  test_upload_large(&server, 60000, 300000, 2, network);
  test_job(
      &server, running[1],
      "{\"network\": \"%s\", \"chip\": \"loihi64\", \"options\": {\"preset\": \"best\", \"max_part_size\": 32}}",
      network);
  test_wait_state(&server, running[0], "running");
  test_wait_state(&server, running[1], "running");
  /* What is expected to be short does not wait behind them. */
  worm_job(queued, ", \"preset\": \"fast\", \"seed\": 99");
  json_decref(finished(queued, "done"));
  test_job(&server, queued,
           "{\"network\": \"%s\", \"chip\": \"loihi64\", \"options\": {\"preset\": \"best\", \"seed\": 99}}", network);
  snprintf(path, sizeof path, "/v1/jobs/%s", queued);
  test_reply reply = test_get(&server, path);
  ck_assert_str_eq(test_word(reply.json, "state"), "queued");
  ck_assert_str_eq(test_word(reply.json, "lane"), "long");
  ck_assert_ptr_nonnull(strstr(test_word(reply.json, "reason"), "waits: 2 of 2 workers busy, next in about "));
  ck_assert(json_number_value(json_object_get(reply.json, "remaining_seconds")) >
            json_number_value(json_object_get(reply.json, "expected_seconds")));
  ck_assert_int_eq(json_integer_value(json_object_get(reply.json, "position")), 1);
  test_reply_clear(&reply);
  test_expect(test_request(&server, "DELETE", path, NULL, NULL, 0), 409);
  reply = test_get(&server, "/v1/jobs?state=running");
  ck_assert_uint_eq(json_array_size(json_object_get(reply.json, "jobs")), 2);
  test_reply_clear(&reply);
  snprintf(path, sizeof path, "/v1/networks/%s", network);
  reply = test_problem(test_request(&server, "DELETE", path, NULL, NULL, 0), 409, "conflict");
  test_reply_clear(&reply);

  /* A long poll returns when its time is up, and when the state changes. */
  snprintf(path, sizeof path, "/v1/jobs/%s?wait=300ms", queued);
  double before = cm_now();
  test_expect(test_get(&server, path), 200);
  ck_assert(cm_now() - before > 0.25 && cm_now() - before < 5);

  snprintf(path, sizeof path, "/v1/jobs/%s/cancel", queued);
  reply = test_send(&server, "POST", path, NULL);
  ck_assert_int_eq(reply.status, 202);
  ck_assert_str_eq(test_word(reply.json, "state"), "cancelled");
  test_reply_clear(&reply);
  test_expect(test_send(&server, "POST", path, NULL), 409);
  for (int i = 0; i < 2; i++) {
    snprintf(path, sizeof path, "/v1/jobs/%s/cancel", running[i]);
    test_expect(test_send(&server, "POST", path, NULL), 202);
  }
  for (int i = 0; i < 2; i++) {
    json_t *job = finished(running[i], "cancelled");
    ck_assert_str_eq(test_word(json_object_get(job, "problem"), "code"), "cancelled");
    json_decref(job);
    snprintf(path, sizeof path, "/v1/jobs/%s", running[i]);
    test_expect(test_request(&server, "DELETE", path, NULL, NULL, 0), 204);
    test_expect(test_get(&server, path), 404);
  }
}
END_TEST

START_TEST(a_time_limit_ends_a_job)
{
  char network[65], id[33];
  test_upload_large(&server, 60000, 300000, 3, network);
  test_job(&server, id, "{\"network\": \"%s\", \"chip\": \"loihi64\", \"options\": {\"preset\": \"reference\", \"max_part_size\": 32, \"coarsening_tries\": 64,"
           " \"bisection_tries\": 64, \"time_limit\": 0.2}}", network);
  json_t *job = finished(id, "failed");
  ck_assert_str_eq(test_word(json_object_get(job, "problem"), "code"), "time-limit");
  json_decref(job);
}
END_TEST

/* ---- events ---- */

/* Reads a whole event stream; counts its events and keeps the last id. */
static int read_events(const char *id, const char *after, char *last, char **text)
{
  char path[96], header[64];
  snprintf(path, sizeof path, "/v1/jobs/%s/events", id);
  snprintf(header, sizeof header, "Last-Event-ID: %s", after != NULL ? after : "");
  const char *const headers[] = {header, NULL};
  test_reply reply = test_request(&server, "GET", path, after != NULL ? headers : NULL, NULL, 0);
  ck_assert_msg(reply.status == 200 || reply.status == 204, "%ld", reply.status);
  int count = 0;
  unsigned long long previous = 0;
  for (const char *p = reply.body; (p = strstr(p, "id: ")) != NULL; p++) {
    unsigned long long number = strtoull(p + 4, NULL, 10);
    ck_assert(number > previous); /* ids ascend */
    previous = number;
    count++;
  }
  snprintf(last, 32, "%llu", previous);
  *text = reply.body;
  reply.body = NULL;
  test_reply_clear(&reply);
  return count;
}

START_TEST(events_tell_a_job_and_can_be_resumed)
{
  char id[33], network[65], last[32], again[32], middle[32], *text, *rest;
  test_upload_large(&server, 20000, 100000, 4, network);
  test_job(
      &server, id,
      "{\"network\": \"%s\", \"chip\": \"loihi64\", \"options\": {\"preset\": \"reference\", \"max_part_size\": 64}}",
      network);
  int count = read_events(id, NULL, last, &text);
  ck_assert_int_ge(count, 4);
  ck_assert_int_eq(strncmp(text, "retry: ", 7), 0);
  ck_assert_ptr_nonnull(strstr(text, "event: progress"));
  ck_assert_ptr_nonnull(strstr(text, "\"state\":\"done\""));
  /* From the second event on, the rest comes, and no more; after the last, nothing. */
  snprintf(middle, sizeof middle, "%llu", strtoull(strstr(strstr(text, "id: ") + 4, "id: ") + 4, NULL, 10));
  int resumed = read_events(id, middle, again, &rest);
  ck_assert_int_eq(resumed, count - 2);
  ck_assert_str_eq(last, again);
  free(rest);
  ck_assert_int_eq(read_events(id, last, again, &rest), 0);
  free(rest);
  free(text);
  /* Without an id, an ended job is told in one event. */
  ck_assert_int_eq(read_events(id, NULL, again, &text), 1);
  free(text);
}
END_TEST

START_TEST(a_long_poll_with_a_tag_sees_progress)
{
  char id[33], path[96], header[128];
  long_job(id);
  snprintf(path, sizeof path, "/v1/jobs/%s?wait=10s", id);
  test_wait_state(&server, id, "running");
  char tag[96] = "\"none\"";
  for (int i = 0; i < 3; i++) {
    snprintf(header, sizeof header, "If-None-Match: %s", tag);
    const char *const headers[] = {header, NULL};
    test_reply reply = test_request(&server, "GET", path, headers, NULL, 0);
    ck_assert_int_eq(reply.status, 200);
    ck_assert_str_ne(test_header(&reply, "etag"), tag);
    snprintf(tag, sizeof tag, "%s", test_header(&reply, "etag"));
    if (i > 0)
      ck_assert_str_ne(test_word(json_object_get(reply.json, "progress"), "phase"), "");
    test_reply_clear(&reply);
  }
  snprintf(path, sizeof path, "/v1/jobs/%s/cancel", id);
  test_expect(test_send(&server, "POST", path, NULL), 202);
  json_decref(finished(id, "cancelled"));
}
END_TEST

static void *watch_events(void *id)
{
  char last[32], *text;
  (void)read_events(id, NULL, last, &text);
  void *end = strstr(text, "cancelled") != NULL ? id : NULL;
  free(text);
  return end;
}

START_TEST(many_watchers_learn_the_end)
{
  enum { WATCHERS = 40 };
  char id[33], path[96];
  pthread_t threads[WATCHERS];
  long_job(id);
  for (int i = 0; i < WATCHERS; i++)
    ck_assert_int_eq(pthread_create(&threads[i], NULL, watch_events, id), 0);
  usleep(300000);
  snprintf(path, sizeof path, "/v1/jobs/%s/cancel", id);
  test_expect(test_send(&server, "POST", path, NULL), 202);
  for (int i = 0; i < WATCHERS; i++) {
    void *end;
    pthread_join(threads[i], &end);
    ck_assert_ptr_eq(end, id);
  }
}
END_TEST

/* ---- reservations ---- */

START_TEST(a_reserving_job_leases_its_region)
{
  char network[65], id[33], path[160];
  test_upload_file(&server, "celegans_herm_chem.edges.csv", network);
  test_job(&server, id, "{\"network\": \"%s\", \"chip\": \"darwin3\", \"reserve\": true, \"name\": \"worm\","
           " \"options\": {\"max_part_size\": 16}}", network);
  json_t *job = finished(id, "done");
  snprintf(path, sizeof path, "/v1/chips/darwin3/reservations/%s", test_word(job, "lease"));
  test_reply reply = test_get(&server, path);
  ck_assert_int_eq(reply.status, 200);
  ck_assert_str_eq(test_word(reply.json, "job"), id);
  json_int_t held = json_integer_value(json_object_get(reply.json, "count"));
  ck_assert_int_eq(held, json_integer_value(json_object_get(json_object_get(job, "report"), "parts")));
  test_reply_clear(&reply);
  reply = test_get(&server, "/v1/chips/darwin3/occupancy");
  ck_assert_int_eq(json_integer_value(json_object_get(reply.json, "free")), 24 * 24 - held);
  test_reply_clear(&reply);
  json_decref(job);
  /* The next job goes elsewhere; its mapping touches no leased core. */
  test_job(&server, id,
           "{\"network\": \"%s\", \"chip\": \"darwin3\", \"reserve\": true, \"options\": {\"max_part_size\": 16}}",
           network);
  job = finished(id, "done");
  reply = test_get(&server, "/v1/chips/darwin3/occupancy");
  ck_assert_int_eq(json_integer_value(json_object_get(reply.json, "free")), 24 * 24 - 2 * held);
  test_reply_clear(&reply);
  json_decref(job);
}
END_TEST

START_TEST(a_trial_mapping_is_committed_later)
{
  char network[65], id[33], path[160], lease[160];
  test_upload_file(&server, "celegans_herm_chem.edges.csv", network);
  test_job(&server, id, "{\"network\": \"%s\", \"chip\": \"loihi84\", \"options\": {\"max_part_size\": 16}}", network);
  json_t *job = finished(id, "done");
  snprintf(path, sizeof path, "/v1/mappings/%s/commit", test_word(job, "mapping"));
  test_expect(test_send(&server, "POST", path, "{\"ttl\": 0}"), 400);
  test_reply reply = test_send(&server, "POST", path, "{\"owner\": \"me\", \"ttl\": 60}");
  ck_assert_msg(reply.status == 201, "%ld %s", reply.status, reply.body);
  ck_assert_int_eq(json_integer_value(json_object_get(reply.json, "count")),
                   json_integer_value(json_object_get(json_object_get(job, "report"), "parts")));
  snprintf(lease, sizeof lease, "%s", test_header(&reply, "location"));
  test_reply_clear(&reply);
  test_expect(test_get(&server, lease), 200);
  reply = test_problem(test_send(&server, "POST", path, NULL), 409, "conflict");
  test_reply_clear(&reply);
  test_expect(test_request(&server, "DELETE", lease, NULL, NULL, 0), 204);
  test_expect(test_send(&server, "POST", path, NULL), 201);
  json_decref(job);
}
END_TEST

/* What the server gives out stands before the independent check. */
START_TEST(a_mapping_over_http_passes_the_check)
{
  char id[33], path[160], file[CM_PATH_MAX], command[4 * CM_PATH_MAX];
  worm_job(id, "");
  json_t *job = finished(id, "done");
  snprintf(path, sizeof path, "/v1/mappings/%s/content", test_word(job, "mapping"));
  test_reply reply = test_get(&server, path);
  ck_assert_int_eq(reply.status, 200);
  ck_ok(cm_path(file, &error, "%s/mapping.json", folder));
  test_write(file, reply.body, reply.size);
  test_reply_clear(&reply);
  const char *build = getenv("CM_BUILD");
  snprintf(command, sizeof command, "'%s/coremap' check '%s' --chip loihi1 --mapping '%s' >/dev/null",
           build != NULL ? build : "build/check", test_data("celegans_herm_chem.edges.csv"), file);
  ck_assert_int_eq(system(command), 0);
  json_decref(job);
}
END_TEST

/* The neuron with most inputs alone needs 57 packets and synapses of 19.8 ns: no step is shorter, and this network has
 * one that is as short. The number of parts is a limit here, not a demand. */
START_TEST(objectives_of_time_steps)
{
  static const char *const objectives[] = {"time", "edp", "energy"};
  double step[3], energy[3];
  for (int i = 0; i < 3; i++) {
    char id[33], network[65];
    test_upload_file(&server, "celegans_herm_chem.edges.csv", network);
    test_job(&server, id, "{\"network\": \"%s\", \"chip\": \"loihi1\", \"options\": {\"objective\": \"%s\", \"preset\": \"fast\", "
             "\"parts\": 1000}}", network, objectives[i]);
    json_t *job = finished(id, "done");
    const json_t *report = json_object_get(job, "report"), *metrics = json_object_get(report, "metrics");
    step[i] = json_number_value(json_object_get(metrics, "core_ns_max"));
    energy[i] = json_number_value(json_object_get(metrics, "energy_packets_pj"));
    ck_assert_ptr_nonnull(strstr(test_word(metrics, "step_limit"), "core ("));
    ck_assert_double_gt(json_number_value(json_object_get(metrics, "step_ns")), step[i]);
    const json_t *bound = json_object_get(json_object_get(report, "mapper"), "step_bound");
    ck_assert_double_eq_tol(json_number_value(json_object_get(bound, "ns")), 57 * 19.8, 1e-6);
    json_decref(job);
  }
  ck_assert_double_eq_tol(step[0], 57 * 19.8, 1e-6);
  ck_assert_double_ge(step[1], step[0] - 1e-6);
  ck_assert_double_ge(energy[0], energy[1]);
  ck_assert_double_eq_tol(energy[2], 196 * 111, 1e-6); /* an axon that reaches anything sends one packet */
}
END_TEST

/* A job of several mappings: each is there, and a plot with a point for each. */
static char *simulation_of(const char *mapping, const char *more)
{
  static char body[400];
  snprintf(body, sizeof body, "{\"kind\": \"simulate\", \"options\": {\"mapping\": \"%s\"%s}}", mapping, more);
  return body;
}

/* Hops are those that the metrics count, and every packet passes each router on its way once. */
/* The same spikes as an upload make the same report; what is not there, not whole or no spikes is told. */
static void uploaded_spikes(const char *mapping, const json_t *report)
{
  static const char *const at[] = {"Upload-Offset: 0", NULL}, *const behind[] = {"Upload-Offset: 12", NULL};
  static const char text[] = "neurons,286\n2,17\n0,4\n";
  char id[33], path[80], upload[33], more[120];
  test_reply reply = test_problem(test_send(&server, "POST", "/v1/jobs", simulation_of(mapping, ", \"spikes\": {\"upload\": \"nope\"}")), 404, "not-found");
  ck_assert_str_eq(test_word(reply.json, "where"), "/options/spikes/upload");
  test_reply_clear(&reply);
  reply = test_send(&server, "POST", "/v1/uploads", "{\"size\": 21}");
  snprintf(upload, sizeof upload, "%s", test_word(reply.json, "id"));
  test_reply_clear(&reply);
  snprintf(more, sizeof more, ", \"spikes\": {\"upload\": \"%s\"}", upload);
  snprintf(path, sizeof path, "/v1/uploads/%s?of=spikes", upload);
  test_expect(test_request(&server, "PATCH", path, at, text, 12), 204);
  reply = test_problem(test_send(&server, "POST", "/v1/jobs", simulation_of(mapping, more)), 409, "conflict");
  test_reply_clear(&reply);
  test_expect(test_request(&server, "PATCH", path, behind, text + 12, sizeof text - 13), 204);
  for (int again = 0; again < 2; again++) {
    reply = test_send(&server, "POST", "/v1/jobs", simulation_of(mapping, more));
    ck_assert_int_eq(reply.status, 202);
    snprintf(id, sizeof id, "%s", test_word(reply.json, "id"));
    test_reply_clear(&reply);
    json_t *job = finished(id, "done");
    ck_assert(json_equal(json_object_get(job, "report"), report));
    json_decref(job);
  }
  snprintf(path, sizeof path, "/v1/uploads/%s", upload);
  test_expect(test_send(&server, "DELETE", path, ""), 204);
  reply = test_send(&server, "POST", "/v1/uploads", "{\"size\": 5}");
  snprintf(upload, sizeof upload, "%s", test_word(reply.json, "id"));
  test_reply_clear(&reply);
  snprintf(path, sizeof path, "/v1/uploads/%s?of=bats", upload);
  test_expect(test_request(&server, "PATCH", path, at, "0,286", 5), 400);
  snprintf(path, sizeof path, "/v1/uploads/%s?of=spikes", upload);
  test_expect(test_request(&server, "PATCH", path, at, "0,286", 5), 204);
  snprintf(more, sizeof more, ", \"spikes\": {\"upload\": \"%s\"}", upload);
  reply = test_send(&server, "POST", "/v1/jobs", simulation_of(mapping, more));
  snprintf(id, sizeof id, "%s", test_word(reply.json, "id"));
  test_reply_clear(&reply);
  json_t *job = finished(id, "failed");
  ck_assert_ptr_nonnull(strstr(test_word(json_object_get(job, "problem"), "detail"), "the uploaded spikes, line 1: neuron 286"));
  json_decref(job);
}

START_TEST(a_mapping_is_simulated)
{
  char id[33], path[160];
  worm_job(id, "");
  json_t *job = finished(id, "done");
  snprintf(path, sizeof path, "/v1/mappings/%s", test_word(job, "mapping"));
  test_reply mapping = test_get(&server, path);
  double hops = json_number_value(json_object_get(json_object_get(mapping.json, "metrics"), "hop_traffic"));
  ck_assert_double_gt(hops, 0);
  test_reply_clear(&mapping);
  json_t *told[2];
  for (int i = 0; i < 2; i++) {
    test_reply reply = test_send(&server, "POST", "/v1/jobs",
                                 simulation_of(test_word(job, "mapping"), i == 0 ? ", \"steps\": 2, \"threads\": 1" :
                                               ", \"steps\": 2, \"threads\": 2"));
    ck_assert_int_eq(reply.status, 202);
    snprintf(id, sizeof id, "%s", test_word(reply.json, "id"));
    test_reply_clear(&reply);
    told[i] = finished(id, "done");
    ck_assert_str_eq(test_word(told[i], "mapping"), test_word(job, "mapping"));
    ck_assert_str_eq(test_word(told[i], "network"), test_word(job, "network"));
  }
  const json_t *report = json_object_get(told[0], "report"), *steps = json_object_get(report, "steps");
  ck_assert(json_equal(report, json_object_get(told[1], "report")));
  ck_assert_double_eq_tol(json_number_value(json_object_get(steps, "hops")), 2 * hops, 1e-9 * hops);
  json_int_t passed = 0;
  size_t i, k;
  json_t *frame, *router;
  json_array_foreach(json_object_get(json_object_get(report, "frames"), "packets"), i, frame)
    json_array_foreach(frame, k, router)
      passed += json_integer_value(router);
  ck_assert_int_eq(2 * passed, json_integer_value(json_object_get(steps, "hops")) +
                                 json_integer_value(json_object_get(steps, "packets")));
  static const struct {
    const char *more, *where;
  } wrong[] = {{", \"load\": -1", "/options/load"}, {", \"steps\": 0", "/options/steps"}, {", \"lod\": 1", "/options/lod"},
               {", \"communication\": \"both\"", "/options/communication"},
               {", \"spikes\": \"0,286\"", "/options/spikes"}, {", \"spikes\": \"neurons,300\"", "/options/spikes"},
               {", \"spikes\": [0, 1]", "/options/spikes"}, {", \"spikes\": \"0,1\", \"load\": 1e-5", "/options/spikes"}};
  for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
    test_reply reply =
      test_problem(test_send(&server, "POST", "/v1/jobs", simulation_of(test_word(job, "mapping"), wrong[w].more)), 400, "bad-option");
    ck_assert_str_eq(test_word(reply.json, "where"), wrong[w].where);
    test_reply_clear(&reply);
  }
  /* Spikes that are given: as many steps as they have. */
  test_reply reply = test_send(&server, "POST", "/v1/jobs",
                               simulation_of(test_word(job, "mapping"), ", \"spikes\": \"neurons,286\\n2,17\\n0,4\\n\""));
  ck_assert_int_eq(reply.status, 202);
  snprintf(id, sizeof id, "%s", test_word(reply.json, "id"));
  test_reply_clear(&reply);
  json_t *given = finished(id, "done");
  ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(json_object_get(given, "report"), "steps"), "count")), 3);
  uploaded_spikes(test_word(job, "mapping"), json_object_get(given, "report"));
  json_decref(given);
  reply = test_problem(test_send(&server, "POST", "/v1/jobs", simulation_of(test_word(job, "mapping"), ", \"scenario\": \"sleep\"")), 400, "bad-option");
  ck_assert_ptr_nonnull(strstr(reply.body, "it has no scenario \\\"sleep\\\", nor any other"));
  test_reply_clear(&reply);
  reply = test_problem(test_send(&server, "POST", "/v1/jobs", simulation_of("nope", "")), 404, "not-found");
  test_reply_clear(&reply);
  reply = test_problem(test_send(&server, "POST", "/v1/jobs", "{\"kind\": \"simulate\"}"), 400, "bad-option");
  test_reply_clear(&reply);
  json_decref(job);
  json_decref(told[0]);
  json_decref(told[1]);
}
END_TEST

START_TEST(a_pareto_set_is_served)
{
  char id[33], network[65], path[200];
  test_upload_file(&server, "celegans_herm_chem.edges.csv", network);
  test_job(&server, id, "{\"network\": \"%s\", \"chip\": \"loihi1\", \"options\": {\"objective\": \"pareto\", \"preset\": \"fast\"}}",
           network);
  json_t *job = finished(id, "done");
  const char *mapping = test_word(job, "mapping");
  snprintf(path, sizeof path, "/v1/mappings/%s/pareto", mapping);
  test_reply table = test_get(&server, path);
  ck_assert_int_eq(table.status, 200);
  const json_t *points = json_object_get(table.json, "points");
  ck_assert_uint_ge(json_array_size(points), 4);
  ck_assert_double_eq_tol(json_number_value(json_object_get(json_object_get(table.json, "bound"), "energy_network_pj")), 196 * 111,
                          1e-6); /* axons that reach anything, at 111 pJ a packet */
  size_t drawn = 0;
  snprintf(path, sizeof path, "/v1/mappings/%s/pareto?format=svg", mapping);
  test_reply plot = test_get(&server, path);
  ck_assert_int_eq(plot.status, 200);
  ck_assert_str_eq(test_header(&plot, "content-type"), "image/svg+xml");
  for (const char *p = plot.body; (p = strstr(p, "<circle")) != NULL; p++)
    drawn++;
  ck_assert_uint_eq(drawn, json_array_size(points));
  test_reply_clear(&plot);
  for (size_t i = 0; i < json_array_size(points); i++) {
    const json_t *point = json_array_get(points, i);
    snprintf(path, sizeof path, "/v1/mappings/%s/pareto/%zu", mapping, i + 1);
    test_reply one = test_get(&server, path);
    ck_assert_int_eq(one.status, 200);
    const json_t *metrics = json_object_get(one.json, "metrics");
    ck_assert_double_eq_tol(json_number_value(json_object_get(point, "energy_network_pj")),
                            json_number_value(json_object_get(metrics, "energy_pj")) +
                              json_number_value(json_object_get(metrics, "energy_packets_pj")), 1e-6);
    ck_assert_uint_eq(json_array_size(json_object_get(one.json, "neurons")), 286);
    test_reply_clear(&one);
  }
  snprintf(path, sizeof path, "/v1/mappings/%s/pareto/%zu", mapping, json_array_size(points) + 1);
  test_expect(test_get(&server, path), 404);
  snprintf(path, sizeof path, "/v1/mappings/%s/pareto/first", mapping);
  test_expect(test_get(&server, path), 404);
  snprintf(path, sizeof path, "/v1/mappings/%s/pareto?format=csv", mapping);
  test_expect(test_get(&server, path), 400);
  test_reply_clear(&table);
  json_decref(job);
  worm_job(id, "");
  job = finished(id, "done");
  snprintf(path, sizeof path, "/v1/mappings/%s/pareto", test_word(job, "mapping"));
  test_expect(test_get(&server, path), 404);
  json_decref(job);
}
END_TEST

START_TEST(jobs_are_listed_page_by_page)
{
  char id[33], path[160];
  for (int i = 0; i < 5; i++)
    worm_job(id, "");
  json_decref(finished(id, "done"));
  size_t seen = 0;
  snprintf(path, sizeof path, "/v1/jobs?limit=2");
  while (path[0] != '\0') {
    test_reply reply = test_get(&server, path);
    seen += json_array_size(json_object_get(reply.json, "jobs"));
    if (json_object_get(reply.json, "next") != NULL)
      snprintf(path, sizeof path, "/v1/jobs?limit=2&cursor=%s", test_word(reply.json, "next"));
    else
      path[0] = '\0';
    test_reply_clear(&reply);
  }
  ck_assert_uint_ge(seen, 5);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("jobs");
  TCase *tests = tcase_create("jobs");
  tcase_add_unchecked_fixture(tests, setup, teardown);
  tcase_set_timeout(tests, 300);
  tcase_add_test(tests, a_network_becomes_a_mapping);
  tcase_add_test(tests, a_mapping_has_routes_and_a_certificate);
  tcase_add_test(tests, routes_and_certificate_are_made_when_first_asked_for);
  tcase_add_test(tests, routes_that_cannot_be_are_refused_in_words);
  tcase_add_test(tests, a_mapping_survives_a_broken_core);
  tcase_add_test(tests, a_model_becomes_a_program);
  tcase_add_test(tests, a_model_becomes_a_program_for_a_chip);
  tcase_add_test(tests, views_have_representations_tags_and_ranges);
  tcase_add_loop_test(tests, large_views_come_packed, 0, 2);
  tcase_add_test(tests, equal_jobs_run_once_and_others_share_the_coarsening);
  tcase_add_test(tests, bad_jobs_are_refused_at_once);
  tcase_add_test(tests, impossible_jobs_fail_with_the_reason);
  tcase_add_test(tests, small_and_odd_networks_are_mapped);
  tcase_add_test(tests, an_idempotency_key_makes_one_job);
  tcase_add_test(tests, jobs_queue_cancel_and_go);
  tcase_add_test(tests, a_time_limit_ends_a_job);
  tcase_add_test(tests, events_tell_a_job_and_can_be_resumed);
  tcase_add_test(tests, a_long_poll_with_a_tag_sees_progress);
  tcase_add_test(tests, many_watchers_learn_the_end);
  tcase_add_test(tests, a_reserving_job_leases_its_region);
  tcase_add_test(tests, a_trial_mapping_is_committed_later);
  tcase_add_test(tests, a_mapping_over_http_passes_the_check);
  tcase_add_test(tests, objectives_of_time_steps);
  tcase_add_test(tests, a_mapping_is_simulated);
  tcase_add_test(tests, a_pareto_set_is_served);
  tcase_add_test(tests, jobs_are_listed_page_by_page);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
