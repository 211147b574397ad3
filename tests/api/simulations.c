/* Simulations of mappings over HTTP against a live daemon, of spikes drawn and uploaded. */
#include "tests/api/jobs.h"

static char *simulation_of(const char *mapping, const char *more)
{
  static char body[400];
  snprintf(body, sizeof body, "{\"kind\": \"simulate\", \"options\": {\"mapping\": \"%s\"%s}}", mapping, more);
  return body;
}

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

/* Hops are those that the metrics count, and every packet passes each router on its way once. */
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
  } wrong[] = {{", \"load\": -1", "/options/load"},
               {", \"steps\": 0", "/options/steps"},
               {", \"lod\": 1", "/options/lod"},
               {", \"traffic_model\": \"both\"", "/options/traffic_model"},
               {", \"spikes\": \"0,286\", \"spike_ids\": \"position\"", "/options/spikes"},
               {", \"spikes\": \"neurons,300\"", "/options/spikes"},
               {", \"spikes\": [0, 1]", "/options/spikes"},
               {", \"spikes\": \"0,1\", \"load\": 1e-5", "/options/spikes"}};
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

int main(void)
{
  Suite *suite = suite_create("simulations");
  TCase *tests = tcase_create("simulations");
  tcase_add_unchecked_fixture(tests, jobs_setup, jobs_teardown);
  tcase_add_test(tests, a_mapping_is_simulated);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
