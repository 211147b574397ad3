/* Programs over HTTP against a live daemon: what a compile job makes of a model. */
#include "tests/api/jobs.h"

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

/* A model in float32 goes up, one in 8-bit integers comes back. */
START_TEST(a_model_becomes_one_in_integers)
{
  char network[65], id[33], path[160];
  test_upload_file(&server, "onnx/shuffle.onnx", network);
  test_job(&server, id, "{\"kind\": \"quantize\", \"network\": \"%s\", \"options\": {\"samples\": 1, \"method\": \"error\"}}", network);
  json_t *job = finished(id, "done"), *report = json_object_get(job, "report");
  ck_assert_uint_eq(json_array_size(json_object_get(report, "layers")), 9);
  ck_assert_double_lt(json_number_value(json_object_get(json_array_get(json_object_get(report, "outputs"), 0), "error")), 0.05);
  snprintf(path, sizeof path, "/v1/programs/%s/model", test_word(job, "program"));
  test_reply reply = test_get(&server, path);
  ck_assert_int_eq(reply.status, 200);
  ck_assert_ptr_nonnull(memmem(reply.body, reply.size, "QuantizeLinear", strlen("QuantizeLinear")));
  test_reply_clear(&reply);
  json_decref(job);
}
END_TEST

/* With samples that were sent, it is another one; what is wrong with them is told without the server's paths. */
START_TEST(a_model_becomes_integers_by_samples)
{
  static const char *const at[] = {"Upload-Offset: 0", NULL};
  enum { NUMBERS = 1 * 16 * 16 * 6 };
  char network[65], id[33], path[80], upload[33];
  float samples[2 * NUMBERS + 1];
  test_upload_file(&server, "onnx/shuffle.onnx", network);
  for (int i = 0; i < 2 * NUMBERS + 1; i++)
    samples[i] = (float)(i % 17) / 4;
  for (size_t odd = 0; odd < 2; odd++) {
    test_reply reply = test_send(&server, "POST", "/v1/uploads", odd > 0 ? "{\"size\": 12292}" : "{\"size\": 12288}");
    snprintf(upload, sizeof upload, "%s", test_word(reply.json, "id"));
    test_reply_clear(&reply);
    snprintf(path, sizeof path, "/v1/uploads/%s?of=samples", upload);
    test_expect(test_request(&server, "PATCH", path, at, (const char *)samples, sizeof(float) * (2 * NUMBERS + odd)), 204);
    test_job(&server, id, "{\"kind\": \"quantize\", \"network\": \"%s\", \"options\": {\"data\": {\"upload\": \"%s\"}}}", network, upload);
    json_t *job = finished(id, odd > 0 ? "failed" : "done");
    if (odd > 0)
      ck_assert_str_eq(test_word(json_object_get(job, "problem"), "detail"), "upload has 12292 bytes; 1536 elements of float32 would have 6144");
    else
      ck_assert(json_is_false(json_object_get(json_object_get(job, "report"), "random")));
    json_decref(job);
    snprintf(path, sizeof path, "/v1/uploads/%s", upload);
    test_expect(test_send(&server, "DELETE", path, ""), 204);
  }
  /* Nobody names a file of the server, or an upload that is gone. */
  for (size_t i = 0; i < 2; i++) {
    char body[300], text[100];
    snprintf(text, sizeof text, i > 0 ? "{\"upload\": \"%s\"}" : "\"/etc\"", upload);
    snprintf(body, sizeof body, "{\"kind\": \"quantize\", \"network\": \"%s\", \"options\": {\"data\": %s}}", network, text);
    test_reply reply = test_problem(test_send(&server, "POST", "/v1/jobs", body), i > 0 ? 404 : 400, i > 0 ? "not-found" : "bad-option");
    ck_assert_str_eq(test_word(reply.json, "where"), i > 0 ? "/options/data/upload" : "/options/data");
    test_reply_clear(&reply);
  }
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
  /* As C: a tar archive with the code of the target that is asked for. */
  snprintf(path, sizeof path, "/v1/programs/%s/source?target=host&name=shuffle&weights=binary", program);
  test_reply code = test_get(&server, path);
  ck_assert_int_eq(code.status, 200);
  ck_assert_str_eq(code.body, "shuffle/shuffle.h");
  ck_assert_str_eq(code.body + 257, "ustar");
  test_reply_clear(&code);
  snprintf(path, sizeof path, "/v1/programs/%s/source?target=host&name=shuffle&pieces=true", program);
  code = test_get(&server, path);
  ck_assert_int_eq(code.status, 200);
  ck_assert_ptr_nonnull(memmem(code.body, code.size, "shuffle_piece(", 14));
  test_reply_clear(&code);
  snprintf(path, sizeof path, "/v1/programs/%s/source?pieces=perhaps", program);
  code = test_problem(test_get(&server, path), 400, "bad-option");
  test_reply_clear(&code);
  snprintf(path, sizeof path, "/v1/programs/%s/source?target=toaster", program);
  code = test_problem(test_get(&server, path), 400, "bad-option");
  test_reply_clear(&code);
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

int main(void)
{
  Suite *suite = suite_create("programs");
  TCase *tests = tcase_create("programs");
  tcase_add_unchecked_fixture(tests, jobs_setup, jobs_teardown);
  tcase_add_test(tests, a_model_becomes_a_program);
  tcase_add_test(tests, a_model_becomes_one_in_integers);
  tcase_add_test(tests, a_model_becomes_integers_by_samples);
  tcase_add_test(tests, a_model_becomes_a_program_for_a_chip);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
