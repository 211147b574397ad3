/* Jobs over HTTP against a live daemon: queueing, refusing, cancelling, events, reserving; and bad input that is about jobs. */
#include "tests/api/jobs.h"

#include <pthread.h>

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
    {"{\"network\": \"%s\", \"chip\": \"loihi1\", \"options\": {\"levels_from\": \"x\"}}", "bad-option", "/options/levels_from", 400},
    {"{\"network\": \"%s\", \"chip\": \"loihi1\", \"options\": {\"preset\": \"reference\", \"levels_from\": \"x\"}}", "not-found",
     "/options/levels_from", 404},
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

/* Options by their names in the version before make the same job, whose log says so. */
START_TEST(old_names_of_options_are_read)
{
  char network[65], id[2][33], body[256], path[96];
  test_upload_file(&server, "celegans_herm_chem.edges.csv", network);
  static const char *const options[2] = {"\"communication\": \"multicast\", \"mapper\": \"staged\"",
                                         "\"traffic_model\": \"multicast\", \"mapper\": \"two-phase\""};
  json_t *job[2];
  for (int i = 0; i < 2; i++) {
    test_job(&server, id[i], "{\"network\": \"%s\", \"chip\": \"loihi1\", \"options\": {\"preset\": \"fast\", %s}}", network, options[i]);
    job[i] = finished(id[i], "done");
    snprintf(path, sizeof path, "/v1/jobs/%s/log", id[i]);
    test_reply log = test_get(&server, path);
    ck_assert_int_eq(log.status, 200);
    ck_assert((strstr(log.body, "option 'communication' is called 'traffic_model' now") != NULL) == (i == 0));
    ck_assert((strstr(log.body, "'staged' is called 'two-phase' now") != NULL) == (i == 0));
    test_reply_clear(&log);
  }
  ck_assert_str_eq(test_word(job[0], "mapping"), test_word(job[1], "mapping"));
  snprintf(path, sizeof path, "/v1/mappings/%s", test_word(job[0], "mapping"));
  test_reply mapping = test_get(&server, path);
  ck_assert_str_eq(test_word(json_object_get(mapping.json, "options"), "traffic_model"), "multicast");
  test_reply_clear(&mapping);
  snprintf(body, sizeof body, "{\"network\": \"%s\", \"chip\": \"loihi1\", \"options\": {\"attempts\": 2, \"capacity_tries\": 2}}", network);
  test_reply both = test_problem(test_send(&server, "POST", "/v1/jobs", body), 400, "bad-option");
  ck_assert_str_eq(test_word(both.json, "where"), "/options/attempts");
  test_reply_clear(&both);
  json_decref(job[0]);
  json_decref(job[1]);
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
  /* The second answer can be about the state alone: that it runs is stored before it is told, and told before any progress. */
  for (int i = 0; i < 4; i++) {
    snprintf(header, sizeof header, "If-None-Match: %s", tag);
    const char *const headers[] = {header, NULL};
    test_reply reply = test_request(&server, "GET", path, headers, NULL, 0);
    ck_assert_int_eq(reply.status, 200);
    ck_assert_str_ne(test_header(&reply, "etag"), tag);
    snprintf(tag, sizeof tag, "%s", test_header(&reply, "etag"));
    if (i > 1) {
      ck_assert_str_ne(test_word(json_object_get(reply.json, "progress"), "phase"), "");
      ck_assert_int_ge(strcmp(test_word(reply.json, "heard"), test_word(reply.json, "started")), 0);
    }
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
  tcase_add_unchecked_fixture(tests, jobs_setup, jobs_teardown);
  tcase_add_test(tests, equal_jobs_run_once_and_others_share_the_coarsening);
  tcase_add_test(tests, bad_jobs_are_refused_at_once);
  tcase_add_test(tests, impossible_jobs_fail_with_the_reason);
  tcase_add_test(tests, small_and_odd_networks_are_mapped);
  tcase_add_test(tests, old_names_of_options_are_read);
  tcase_add_test(tests, an_idempotency_key_makes_one_job);
  tcase_add_test(tests, jobs_queue_cancel_and_go);
  tcase_add_test(tests, a_time_limit_ends_a_job);
  tcase_add_test(tests, events_tell_a_job_and_can_be_resumed);
  tcase_add_test(tests, a_long_poll_with_a_tag_sees_progress);
  tcase_add_test(tests, many_watchers_learn_the_end);
  tcase_add_test(tests, a_reserving_job_leases_its_region);
  tcase_add_test(tests, a_trial_mapping_is_committed_later);
  tcase_add_test(tests, jobs_are_listed_page_by_page);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
