/* Mappings over HTTP against a live daemon: what a job makes of a network, and every view of it. */
#include "tests/api/jobs.h"

#include <sqlite3.h>
#include <zlib.h>

#include "storage/pack.h"

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
/* A ring that also jumps four ahead, and a hub that all of it reaches: alone on its core, the hub takes 16 ns to receive and
 * 3.8 ns to handle each packet, and nothing else takes as long. */
enum { RING = 12 };

static void upload_hub(char *network)
{
  char text[RING * 40 + 40];
  int length = snprintf(text, sizeof text, "source,target,weight\n");
  for (int i = 0; i < RING; i++)
    length += snprintf(text + length, sizeof text - (size_t)length, "n%d,hub,1\nn%d,n%d,1\nn%d,n%d,1\n", i, i, (i + 1) % RING, i,
                       (i + 4) % RING);
  test_upload(&server, text, (size_t)length, network);
}

START_TEST(objectives_of_time_steps)
{
  static const char *const objectives[] = {"time", "edp", "energy"};
  double step[3], energy[3];
  for (int i = 0; i < 3; i++) {
    char id[33], network[65];
    upload_hub(network);
    test_job(&server, id, "{\"network\": \"%s\", \"chip\": \"loihi1\", \"options\": {\"objective\": \"%s\", \"preset\": \"fast\", "
             "\"parts\": 1000}}", network, objectives[i]);
    json_t *job = finished(id, "done");
    const json_t *report = json_object_get(job, "report"), *metrics = json_object_get(report, "metrics");
    step[i] = json_number_value(json_object_get(metrics, "core_ns_max"));
    energy[i] = json_number_value(json_object_get(metrics, "energy_packets_pj"));
    ck_assert_ptr_nonnull(strstr(test_word(metrics, "step_limit"), "core ("));
    ck_assert_double_gt(json_number_value(json_object_get(metrics, "step_ns")), step[i]);
    const json_t *bound = json_object_get(json_object_get(report, "mapper"), "step_bound");
    ck_assert_double_eq_tol(json_number_value(json_object_get(bound, "ns")), RING * 19.8, 1e-6);
    json_decref(job);
  }
  ck_assert_double_eq_tol(step[0], RING * 19.8, 1e-6);
  ck_assert_double_ge(step[1], step[0] - 1e-6);
  ck_assert_double_ge(energy[0], energy[1]);
  ck_assert_double_eq_tol(energy[2], RING * 111, 1e-6); /* an axon that reaches anything sends one packet */
}
END_TEST

/* A job of several mappings: each is there, and a plot with a point for each. */
START_TEST(a_pareto_set_is_served)
{
  char id[33], network[65], path[200];
  upload_hub(network);
  test_job(&server, id, "{\"network\": \"%s\", \"chip\": \"loihi1\", \"options\": {\"objective\": \"pareto\", \"preset\": \"fast\"}}",
           network);
  json_t *job = finished(id, "done");
  const char *mapping = test_word(job, "mapping");
  snprintf(path, sizeof path, "/v1/mappings/%s/pareto", mapping);
  test_reply table = test_get(&server, path);
  ck_assert_int_eq(table.status, 200);
  const json_t *points = json_object_get(table.json, "points");
  ck_assert_uint_ge(json_array_size(points), 4);
  ck_assert_double_eq_tol(json_number_value(json_object_get(json_object_get(table.json, "bound"), "energy_network_pj")), RING * 111,
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
    ck_assert_uint_eq(json_array_size(json_object_get(one.json, "neurons")), RING + 1);
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

/* In a data folder of a release before: what was stored stays to the byte, what is told of it has the names of now. */
START_TEST(mappings_of_before_are_told_by_the_names_of_now)
{
  static const char mapping[] = "f9a2b623555a1a1f84d9", before[] = "edge_hop_traffic balance"; /* by which it was written */
  char old[CM_PATH_MAX], command[3 * CM_PATH_MAX], path[100], name[32];
  test_daemon other;
  int read = 0;
  test_folder(old);
  (void)snprintf(command, sizeof command, "tar -xzf '%s' -C '%s' --strip-components=1", test_data("data-folder-7.tar.gz"), old);
  ck_assert_int_eq(system(command), 0);
  test_daemon_start(&other, old, NULL);
  snprintf(path, sizeof path, "/v1/mappings/%s/content", mapping);
  test_reply content = test_get(&other, path);
  snprintf(path, sizeof path, "/v1/mappings/%s", mapping);
  test_reply summary = test_get(&other, path);
  const json_t *then = json_object_get(content.json, "metrics"), *now = json_object_get(summary.json, "metrics");
  for (const char *p = before; sscanf(p, "%31s%n", name, &read) == 1; p += read) {
    ck_assert_msg(json_is_number(json_object_get(then, name)), "%s", name);
    ck_assert_msg(json_object_get(now, name) == NULL, "%s", name);
  }
  ck_assert_double_eq(json_number_value(json_object_get(now, "weighted_hops")), json_number_value(json_object_get(then, "edge_hop_traffic")));
  ck_assert_double_eq(json_number_value(json_object_get(now, "imbalance")), json_number_value(json_object_get(then, "balance")) - 1);
  ck_assert_uint_eq(json_object_size(now), json_object_size(then));
  then = json_object_get(content.json, "options"), now = json_object_get(summary.json, "options");
  ck_assert(json_is_integer(json_object_get(then, "attempts")) && json_object_get(now, "attempts") == NULL);
  ck_assert(json_equal(json_object_get(then, "attempts"), json_object_get(now, "capacity_tries")));
  test_reply_clear(&content);
  test_reply_clear(&summary);
  test_reply job = test_get(&other, "/v1/jobs/f8820362774778e53d9e");
  now = json_object_get(json_object_get(job.json, "report"), "metrics");
  ck_assert(json_is_number(json_object_get(now, "weighted_hops")) && json_object_get(now, "edge_hop_traffic") == NULL);
  test_reply_clear(&job);
  ck_assert_int_eq(test_daemon_stop(&other, SIGTERM), 0);
  ck_ok(cm_folder_remove(old, &error));
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("mappings");
  TCase *tests = tcase_create("mappings");
  tcase_add_unchecked_fixture(tests, jobs_setup, jobs_teardown);
  tcase_add_test(tests, a_network_becomes_a_mapping);
  tcase_add_test(tests, a_mapping_has_routes_and_a_certificate);
  tcase_add_test(tests, routes_and_certificate_are_made_when_first_asked_for);
  tcase_add_test(tests, routes_that_cannot_be_are_refused_in_words);
  tcase_add_test(tests, a_mapping_survives_a_broken_core);
  tcase_add_test(tests, views_have_representations_tags_and_ranges);
  tcase_add_loop_test(tests, large_views_come_packed, 0, 2);
  tcase_add_test(tests, a_mapping_over_http_passes_the_check);
  tcase_add_test(tests, objectives_of_time_steps);
  tcase_add_test(tests, a_pareto_set_is_served);
  tcase_add_test(tests, mappings_of_before_are_told_by_the_names_of_now);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
