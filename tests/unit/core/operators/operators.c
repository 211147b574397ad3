/* Operator-level models: ONNX in and out, shapes, constants, values (issue 5). */
#include "tests/unit/onnx.h"

#include "base/product.h"
#include "base/random.h"
#include "core/operators/operator.h"
#include "core/operators/ops/sigmoid.h"

static cm_run run;
static cm_memory memory;
static cm_error error;
static atomic_bool stop;

static void set_up(void)
{
  cm_memory_init(&memory, UINT64_C(2) << 30);
  cm_run_init(&run);
  run.memory = &memory;
}

static void tear_down(void)
{
  ck_assert_msg(memory.used_bytes == 0, "%llu bytes are still on the account", (unsigned long long)memory.used_bytes);
}

static cm_model *read_data(const char *name)
{
  cm_model *model;
  ck_ok(cm_onnx_read(test_data(name), &run, &model, &error));
  return model;
}

/* Written and read again, a model is the same bytes the second time and computes the same. */
START_TEST(models_survive_a_round_trip)
{
  static const char *const names[] = {"onnx/nodes/test_cast_FLOAT_to_INT2/model.onnx",
                                      "onnx/nodes/test_identity_sequence/model.onnx",
                                      "onnx/nodes/test_resize_tf_crop_and_resize/model.onnx", "onnx/small.onnx"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    cm_model *first = read_data(names[i]), *second;
    uint8_t *once, *twice;
    size_t once_size, twice_size;
    ck_ok(cm_onnx_write_memory(first, &once, &once_size, &error));
    ck_ok(cm_onnx_read_memory(once, once_size, &run, &second, &error));
    ck_ok(cm_onnx_write_memory(second, &twice, &twice_size, &error));
    ck_assert_uint_eq(once_size, twice_size);
    ck_assert_mem_eq(once, twice, once_size);
    ck_assert_uint_eq(first->order_count, second->order_count);
    CM_FREE(once, twice);
    cm_model_free(first);
    cm_model_free(second);
  }
}
END_TEST

/* Every prefix of a model and every byte of it changed: a clear error or a model that can be written, never a crash. */
START_TEST(damage_is_noticed_or_harmless)
{
  char *bytes;
  size_t size;
  unsigned refused = 0;
  ck_ok(cm_file_read(test_data("onnx/nodes/test_conv_with_strides_no_padding/model.onnx"), 1 << 20, &bytes, &size,
                     &error));
  for (size_t i = 0; i < 3 * size; i++) {
    cm_model *model;
    char saved = bytes[i % size];
    size_t length = i < size ? i : size;
    if (i >= size)
      bytes[i % size] = (char)(saved ^ (i < 2 * size ? 0x80 : 0x05));
    cm_status status = cm_onnx_read_memory(bytes, length, &run, &model, &error);
    bytes[i % size] = saved;
    if (status == CM_OK)
      cm_model_free(model);
    else {
      refused++;
      ck_assert_msg(status == CM_BAD_NETWORK || status == CM_TOO_LARGE, "%s: %s", cm_status_code(status), error.detail);
      ck_assert_int_ne(error.detail[0], '\0');
    }
  }
  ck_assert_uint_gt(refused, size / 2);
  free(bytes);
}
END_TEST

/* A protocol buffer that nests messages without end must be refused, not followed. */
START_TEST(deep_nesting_is_refused)
{
  /* graph.node.attribute.g.node.attribute.g ...: each level wraps the one before. */
  uint8_t bytes[4096] = {0}, *at = bytes + sizeof bytes;
  size_t size = 0;
  static const uint8_t tags[] = {5 << 3 | 2, 1 << 3 | 2, 6 << 3 | 2};
  for (int level = 0; level < 300; level++) {
    uint8_t tag = level == 299 ? 7 << 3 | 2 : tags[level % 3];
    size_t length = size;
    uint8_t head[4];
    size_t n = 0;
    head[n++] = tag;
    if (length >= 128)
      head[n++] = (uint8_t)(length | 0x80);
    head[n++] = (uint8_t)(length >= 128 ? length >> 7 : length);
    at -= n;
    memcpy(at, head, n);
    size += n;
  }
  cm_model *model;
  ck_fails(cm_onnx_read_memory(at, size, &run, &model, &error), CM_TOO_LARGE);
  ck_assert_ptr_nonnull(strstr(error.detail, "nest"));
}
END_TEST

/* What cannot be compiled is refused by name. */
START_TEST(what_is_not_supported_says_so)
{
  cm_model *model;
  ck_fails(cm_onnx_read(test_data("onnx/external.onnx"), &run, &model, &error), CM_BAD_NETWORK);
  ck_assert_ptr_nonnull(strstr(error.detail, "external data"));
  ck_assert_ptr_nonnull(strstr(error.detail, "'w'"));
  ck_fails(cm_onnx_read(test_data("celegans_herm_chem.graph.gz"), &run, &model, &error), CM_BAD_NETWORK);
  ck_assert_ptr_nonnull(strstr(error.detail, "byte"));
  ck_fails(cm_onnx_read_memory("", 0, &run, &model, &error), CM_BAD_NETWORK);
  cm_memory_init(&memory, 20000);
  ck_fails(cm_onnx_read(test_data("onnx/small.onnx"), &run, &model, &error), CM_MEMORY_LIMIT);
}
END_TEST

static void stop_at_once(void *user, const cm_progress *progress)
{
  uint32_t *told = user;
  atomic_store(&stop, ++*told > 1); /* the first tells that the phase begins */
  ck_assert_str_eq(progress->phase, "read");
}

/* A tensor of 64 MiB in a file beside its model: after the first piece of it the reader hears that it is to stop. */
START_TEST(a_large_tensor_in_another_file_is_left_when_asked)
{
  static const uint8_t bytes[] = "\x08\x08\x42\x02\x10\x0d\x3a\x21\x2a\x1f" /* IR 8, opset 13, a graph with an initializer */
                                 "\x08\x80\x80\x80\x08\x10\x01\x42\x01w"    /* dims 2^24, float, named w */
                                 "\x6a\x11\x0a\x08location\x12\x05w.bin\x70\x01"; /* external data */
  char folder[CM_PATH_MAX], path[CM_PATH_MAX];
  cm_model *model;
  uint32_t told = 0;
  test_folder(folder);
  ck_ok(cm_path(path, &error, "%s/w.bin", folder));
  test_write(path, "", 0);
  ck_assert_int_eq(truncate(path, 1 << 26), 0);
  ck_ok(cm_path(path, &error, "%s/model.onnx", folder));
  test_write(path, bytes, sizeof bytes - 1);
  run.cancel = &stop;
  run.on_progress = stop_at_once;
  run.user = &told;
  cm_run_phase(&run, "read");
  ck_fails(cm_onnx_read_beside(path, &run, &model, &error), CM_CANCELLED);
  ck_assert_uint_eq(told, 2);
  cm_run_init(&run);
  ck_ok(cm_folder_remove(folder, &error));
}
END_TEST

/* Every failed allocation on the way from file to values is reported and leaks nothing. */
START_TEST(every_failed_allocation_is_reported)
{
  for (uint64_t n = 1;; n++) {
    cm_model *model = NULL;
    uint8_t *bytes = NULL;
    size_t size;
    cm_memory_fail_at(n);
    cm_status status =
        cm_onnx_read(test_data("onnx/nodes/test_gemm_default_scalar_bias/model.onnx"), &run, &model, &error);
    CM_THEN(status, cm_infer(model, &run, &error));
    CM_THEN(status, cm_onnx_write_memory(model, &bytes, &size, &error));
    int fired = cm_memory_fault_fired();
    cm_memory_fail_at(0);
    cm_free(bytes);
    cm_model_free(model);
    ck_assert_uint_eq(memory.used_bytes, 0);
    if (!fired) {
      ck_assert_int_eq(status, CM_OK);
      break;
    }
    ck_assert_msg(status == CM_NO_MEMORY, "allocation %llu: %s", (unsigned long long)n, error.detail);
  }
}
END_TEST

/* Narrow floats: decoding and encoding are inverse for every code, and rounding is to even. */
START_TEST(narrow_floats_are_exact)
{
  static const cm_type types[] = {CM_FLOAT16, CM_BFLOAT16, CM_FLOAT8E4M3FN, CM_FLOAT8E4M3FNUZ, CM_FLOAT8E5M2,
                                  CM_FLOAT8E5M2FNUZ, CM_FLOAT4E2M1};
  for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
    for (uint32_t code = 0; code < 1U << cm_type_bits(types[t]); code++) {
      float value = cm_narrow_decode(types[t], code);
      if (!isnan(value) && !isinf(value))
        ck_assert_msg(cm_narrow_encode(types[t], value, true) == code, "%s code %u", cm_type_name(types[t]), code);
    }
  ck_assert_uint_eq(cm_narrow_encode(CM_FLOAT16, 2049.0F, false), cm_narrow_encode(CM_FLOAT16, 2048.0F, false));
  ck_assert_uint_eq(cm_narrow_encode(CM_FLOAT16, 2051.0F, false), cm_narrow_encode(CM_FLOAT16, 2052.0F, false));
  ck_assert(isinf(cm_narrow_decode(CM_FLOAT16, cm_narrow_encode(CM_FLOAT16, 70000.0F, false))));
  ck_assert_float_eq(cm_narrow_decode(CM_FLOAT8E4M3FN, cm_narrow_encode(CM_FLOAT8E4M3FN, 1e9F, true)), 448.0F);
}
END_TEST

/* Products are the sums of the definition to the last bit, whatever blocks and slices they are made in. */
/* Of some 300 thousand floats, all signs and exponents among them: beside double. */
START_TEST(sigmoids_are_right_to_their_last_bits)
{
  for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 14983) {
    const float x = number_of((uint32_t)bits), made = sigmoid(x);
    const double right = 1 / (1 + exp(-(double)x));
    if (isnan(x))
      ck_assert(isnan(made));
    else if (right > 1.2e-38)
      ck_assert_msg(fabs((double)made - right) <= ldexp(2.4, ilogb(right) - 23), "of %a: %a, not %a", (double)x, (double)made, right);
    else
      ck_assert(made >= 0 && (double)made < 1.3e-38);
  }
  ck_assert(sigmoid(INFINITY) == 1 && sigmoid(-INFINITY) == 0 && sigmoid(0) == 0.5F);
}
END_TEST

START_TEST(products_sum_in_one_order)
{
  enum { M = 9, N = 37, K = 530 };
  static float a[M * K], b[K * N], c[M * N], before[M * N];
  cm_random random;
  cm_random_init(&random, 1, 0, 0);
  for (size_t i = 0; i < M * K; i++)
    a[i] = (float)(cm_random_unit(&random) - 0.5);
  for (size_t i = 0; i < K * N; i++)
    b[i] = (float)(cm_random_unit(&random) - 0.5);
  for (int round = 0; round < 60; round++) {
    const bool ta = round & 1, tb = round & 2, add = round & 4;
    const int64_t m = 1 + (int64_t)cm_random_below(&random, M), n = 1 + (int64_t)cm_random_below(&random, N), k = (int64_t)cm_random_below(&random, K + 1);
    memcpy(before, c, sizeof before);
    cm_ordered_product((cm_product){.m = m, .n = n, .k = k, .transpose_a = ta, .transpose_b = tb, .add = add}, a, b, c);
    for (int64_t i = 0; i < m; i++)
      for (int64_t j = 0; j < n; j++) {
        volatile float sum = add ? before[i * n + j] : 0, one;
        for (int64_t l = 0; l < k; l++) {
          one = a[ta ? l * m + i : i * k + l] * b[tb ? j * k + l : l * n + j];
          sum = sum + one;
        }
        ck_assert_msg(memcmp((const float *)&sum, &c[i * n + j], sizeof sum) == 0, "round %d: element %lld, %lld", round, (long long)i, (long long)j);
      }
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("operators");
  TCase *tests = tcase_create("operators");
  tcase_add_checked_fixture(tests, set_up, tear_down);
  tcase_add_test(tests, models_survive_a_round_trip);
  tcase_add_test(tests, damage_is_noticed_or_harmless);
  tcase_add_test(tests, deep_nesting_is_refused);
  tcase_add_test(tests, what_is_not_supported_says_so);
  tcase_add_test(tests, a_large_tensor_in_another_file_is_left_when_asked);
  tcase_add_test(tests, every_failed_allocation_is_reported);
  tcase_add_test(tests, narrow_floats_are_exact);
  tcase_add_test(tests, sigmoids_are_right_to_their_last_bits);
  tcase_add_test(tests, products_sum_in_one_order);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
