/* base: varints, numbers, heaps, random numbers, threads, run context, texts of JSON. */
#include "unit.h"

#include <sched.h>
#include <stdatomic.h>

#include "base/annealing.h"
#include "base/foreign.h"
#include "base/heap.h"
#include "base/json.h"
#include "base/number.h"
#include "base/random.h"
#include "base/text.h"
#include "base/threads.h"
#include "base/varint.h"

START_TEST(varint_is_the_seeds_figure)
{
  /* Source 0, figure 2: 000010010101010010101 and 0001101 in reading order, high bit = more follow. */
  const uint8_t figure[] = {0x84, 0xd5, 0x15, 0x0d};
  uint64_t value = 0;
  ck_assert_uint_eq(cm_varint_decode(figure, sizeof figure, &value), 3);
  ck_assert_uint_eq(value, 0x012a95);
  ck_assert_uint_eq(cm_varint_decode(figure + 3, 1, &value), 1);
  ck_assert_uint_eq(value, 13);
}
END_TEST

START_TEST(metropolis_takes_as_often_as_its_rule_says)
{
  cm_random random;
  cm_random_init(&random, 5, 0, 0);
  uint32_t taken = 0, asked = 200000;
  for (uint32_t i = 0; i < asked; i++)
    taken += cm_metropolis(&random, 3, 2, CM_HOPELESS);
  double chance = exp(-1.5), deviation = sqrt(chance * (1 - chance) * asked);
  ck_assert_double_le(fabs(taken - chance * asked), 5 * deviation);
  ck_assert(cm_metropolis(&random, 0, 0, INFINITY) && cm_metropolis(&random, -1, 0, CM_HOPELESS));
  ck_assert(!cm_metropolis(&random, 1e-9, 0, INFINITY) && !cm_metropolis(&random, 1e-9, 0, CM_HOPELESS));
  cm_random before = random;
  ck_assert(!cm_metropolis(&random, 60, 3, CM_HOPELESS));
  ck_assert_int_eq(memcmp(&before, &random, sizeof random), 0); /* without a draw */
  ck_assert_double_eq_tol(cm_cooled(8, 1.0 / 16, 0.5), 2, 1e-12);
}
END_TEST

/* A heap of numbers that notes where each stands, with as many children a node as its test likes. */
typedef struct numbers {
  uint32_t item[300], place[300];
} numbers;

static bool number_before(const numbers *n, uint32_t a, uint32_t b)
{
  (void)n;
  return a < b;
}

static void set_number(numbers *n, size_t at, uint32_t value)
{
  n->item[at] = value;
  n->place[value] = (uint32_t)at;
}

CM_HEAP_DEFINE(two, numbers, uint32_t, 2, CM_HEAP_GET, set_number, number_before)
CM_HEAP_DEFINE(five, numbers, uint32_t, 5, CM_HEAP_GET, set_number, number_before)

START_TEST(heaps_give_out_in_order_and_know_where_items_stand)
{
  cm_random random;
  cm_random_init(&random, 3, 0, 0);
  for (uint32_t count = 1; count < 300; count += 13) {
    numbers n = {0};
    uint32_t put[300];
    cm_random_permutation(&random, put, count);
    for (uint32_t i = 0; i < count; i++)
      (_i == 0 ? two_rise : five_rise)(&n, i, put[i]);
    for (uint32_t left = count; left > 0; left--) {
      ck_assert_uint_eq(n.item[0], count - left);
      for (uint32_t i = 0; i < left; i++)
        ck_assert_uint_eq(n.place[n.item[i]], i);
      if (left > 1)
        (_i == 0 ? two_sink : five_sink)(&n, left - 1, 0, n.item[left - 1]);
    }
  }
}
END_TEST

START_TEST(equal_keys_come_out_by_number)
{
  cm_heap_item room[64];
  cm_heap heap = {.item = room};
  for (uint32_t i = 0; i < 64; i++)
    cm_heap_push(&heap, (cm_heap_item){(i * 37 % 64) / 8, i * 37 % 64});
  for (uint32_t i = 0; i < 64; i++) {
    cm_heap_item top = cm_heap_pop(&heap);
    ck_assert_uint_eq(top.number, i);
    ck_assert_uint_eq(top.key, i / 8);
  }
  ck_assert_uint_eq(heap.count, 0);
}
END_TEST

START_TEST(varint_round_trips_every_length)
{
  cm_random random;
  cm_random_init(&random, 7, 0, 0);
  for (int bits = 0; bits <= 64; bits++) {
    for (int i = 0; i < 200; i++) {
      uint64_t value = bits == 0 ? 0 : cm_random_next(&random) >> (64 - bits), back = 0;
      uint8_t bytes[CM_VARINT_BYTES_MAX];
      size_t length = cm_varint_encode(value, bytes);
      ck_assert_uint_eq(cm_varint_decode(bytes, length, &back), length);
      ck_assert_uint_eq(back, value);
      ck_assert_uint_eq(cm_varint_decode(bytes, length - 1, &back), 0);
    }
  }
  uint8_t endless[CM_VARINT_BYTES_MAX + 1];
  memset(endless, 0xff, sizeof endless);
  uint64_t untouched = 42;
  ck_assert_uint_eq(cm_varint_decode(endless, sizeof endless, &untouched), 0);
  ck_assert_uint_eq(untouched, 42);
}
END_TEST

START_TEST(numbers_are_read_whole_or_not_at_all)
{
  static const struct {
    const char *text;
    uint64_t bytes;
  } good[] = {{"0", 0},           {"1000", 1000},      {"512K", 512 << 10},           {"1.5M", 3 << 19},
              {"2GiB", 2ull << 30}, {"3TB", 3ull << 40}, {"18446744073709551615", UINT64_MAX}};
  static const char *const bad[] = {"", "-1", " 1", "1X", "1KK", "1Gi", "K", "0x10", "1e3", "18446744073709551616", "16777216T"};
  uint64_t value = 7;
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    ck_assert_msg(cm_bytes_parse(good[i].text, &value), "%s", good[i].text);
    ck_assert_uint_eq(value, good[i].bytes);
  }
  value = 7;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    ck_assert_msg(!cm_bytes_parse(bad[i], &value) && !cm_whole_parse(bad[i], &value), "%s", bad[i]);
    ck_assert_uint_eq(value, 7);
  }
  ck_assert(!cm_whole_parse("2G", &value) && !cm_whole_parse("1.0", &value));
  ck_assert(cm_whole_parse("42", &value) && value == 42);
}
END_TEST

START_TEST(random_streams_are_fixed_and_unbiased)
{
  cm_random a, b;
  cm_random_init(&a, 1, 2, 3);
  cm_random_init(&b, 1, 2, 4);
  ck_assert_uint_ne(cm_random_next(&a), cm_random_next(&b));
  uint32_t count[6] = {0}, order[64], seen[64] = {0};
  for (int i = 0; i < 60000; i++)
    count[cm_random_below(&a, 6)]++;
  for (int i = 0; i < 6; i++)
    ck_assert(count[i] > 9600 && count[i] < 10400); /* 4 deviations */
  cm_random_permutation(&a, order, 64);
  for (int i = 0; i < 64; i++)
    seen[order[i]]++;
  for (int i = 0; i < 64; i++)
    ck_assert_uint_eq(seen[i], 1);
}
END_TEST

static cm_status square_unless_13(void *context, size_t i, cm_error *error)
{
  uint64_t *out = context;
  out[i] = i * i;
  return i % 50 == 13 ? cm_fail(error, CM_INTERNAL, "index %zu", i) : CM_OK;
}

/* Rounds of a pool follow each other; each task of each is called once, and a failure ends only its round. */
typedef struct tally {
  atomic_uint calls[40];
  size_t fails; /* this one does; SIZE_MAX: none */
} tally;

static cm_status count_call(void *context, size_t i, cm_error *slot)
{
  tally *t = context;
  atomic_fetch_add(&t->calls[i], 1);
  return i == t->fails ? cm_fail(slot, CM_INTERNAL, "task %zu", i) : CM_OK;
}

START_TEST(a_thread_pool_plays_many_rounds)
{
  cm_error error;
  for (unsigned threads = 1; threads < 6; threads++) {
    cm_thread_pool *pool;
    ck_ok(cm_thread_pool_new(NULL, threads, &pool, &error));
    for (size_t round = 0; round < 2000; round++) {
      tally t = {.fails = round % 7 == 0 ? round % 40 : SIZE_MAX};
      size_t count = round % 41;
      cm_status status = cm_thread_pool_run(pool, count, count_call, &t, &error);
      ck_assert_int_eq(status, t.fails < count ? CM_INTERNAL : CM_OK);
      for (size_t i = 0; i < 40; i++)
        ck_assert_uint_le(atomic_load(&t.calls[i]), i < count);
      for (size_t i = 0; i < count && t.fails >= count; i++)
        ck_assert_uint_eq(atomic_load(&t.calls[i]), 1);
    }
    cm_thread_pool_free(pool);
  }
}
END_TEST

START_TEST(parallel_runs_each_once_and_reports_the_lowest_failure)
{
  cm_error error;
  cm_run run;
  cm_run_init(&run);
  run.threads = 4;
  uint64_t out[13] = {0}, all[200];
  ck_ok(cm_parallel(&run, 13, square_unless_13, out, &error));
  for (size_t i = 0; i < 13; i++)
    ck_assert_uint_eq(out[i], i * i);
  ck_fails(cm_parallel(&run, 200, square_unless_13, all, &error), CM_INTERNAL);
  ck_assert_str_eq(error.detail, "index 13");
}
END_TEST

/* While rounds are recorded one thread plays them all, as they are cut for many. */
START_TEST(recorded_rounds_are_counted_by_phase)
{
  cm_error error;
  cm_run run;
  uint64_t out[30];
  cm_run_init(&run);
  run.threads = 4;
  cm_rounds_log log = {.run = &run};
  cm_threads_record(&log);
  cm_run_phase(&run, "one");
  ck_ok(cm_parallel(&run, 12, square_unless_13, out, &error));
  ck_ok(cm_parallel(&run, 5, square_unless_13, out, &error));
  cm_run_phase(&run, "two");
  ck_fails(cm_parallel(&run, 30, square_unless_13, out, &error), CM_INTERNAL);
  ck_assert_str_eq(error.detail, "index 13");
  cm_run_finish(&run);
  cm_threads_record(NULL);
  ck_ok(cm_parallel(&run, 3, square_unless_13, out, &error));
  ck_assert_uint_eq(log.phase[0].rounds, 2);
  ck_assert_uint_eq(log.phase[0].tasks, 17);
  ck_assert_uint_eq(log.phase[1].rounds, 1);
  for (int i = 0; i < 2; i++) {
    ck_assert_double_ge(log.phase[i].alone, 0);
    ck_assert_double_le(log.phase[i].span, log.phase[i].together);
    ck_assert_double_ge(log.phase[i].span, log.phase[i].together / 4);
  }
}
END_TEST

static cm_status meet(void *context, size_t i, cm_error *error)
{
  (void)i, (void)error;
  atomic_uint *met = context;
  for (atomic_fetch_add(met, 1); atomic_load(met) % 3 != 0;)
    (void)sched_yield();
  return CM_OK;
}

/* Real rounds are counted alike: three threads that wait for each other take a task each. */
START_TEST(real_rounds_are_counted_by_phase)
{
  cm_error error;
  cm_run run;
  cm_thread_pool *pool;
  atomic_uint met = 0;
  uint64_t out[12];
  cm_run_init(&run);
  run.threads = 3;
  cm_rounds_log log = {.run = &run, .real = true};
  cm_threads_record(&log);
  ck_ok(cm_thread_pool_new(NULL, run.threads, &pool, &error));
  cm_run_phase(&run, "one");
  ck_ok(cm_thread_pool_run(pool, 3, meet, &met, &error));
  cm_run_phase(&run, "two");
  ck_ok(cm_parallel(&run, 12, square_unless_13, out, &error));
  ck_ok(cm_thread_pool_run(pool, 3, meet, &met, &error));
  cm_run_finish(&run);
  cm_threads_record(NULL);
  cm_thread_pool_free(pool);
  ck_assert_uint_eq(log.phase[0].rounds, 1);
  ck_assert_uint_eq(log.phase[0].tasks, 3);
  ck_assert_uint_eq(log.phase[0].helped, 2);
  ck_assert_uint_eq(log.phase[1].rounds, 2);
  ck_assert_uint_eq(log.phase[1].tasks, 15);
  ck_assert_uint_ge(log.phase[1].helped, 2);
}
END_TEST

START_TEST(run_stops_on_cancel_and_deadline)
{
  cm_error error;
  cm_run run;
  cm_run_init(&run);
  cm_run_phase(&run, "one");
  ck_ok(cm_run_check(&run, &error));
  atomic_bool cancel = true;
  run.cancel = &cancel;
  ck_fails(cm_run_check(&run, &error), CM_CANCELLED);
  run.cancel = NULL;
  run.deadline = cm_now() - 1;
  ck_fails(cm_run_progress(&run, 0.5, -1, 0, 0, &error), CM_TIME_LIMIT);
  cm_run_phase(&run, "two");
  cm_run_phase(&run, "one");
  cm_run_finish(&run);
  ck_assert_uint_eq(run.phase_count, 2);
}
END_TEST

/* Whether the reader of a table takes this value of an option; takes `value`. */
/* Whatever is in a text, jansson reads it back. */
START_TEST(what_others_wrote_is_shown_harmlessly)
{
  static const char *const cases[][2] = {
    {"Z\xc3\xbcrich \xe7\xa5\x9e \xf0\x9f\xa7\xa0", NULL},
    {"\x1b]0;title\x07 \x1b[2J\x7f", "\\u001B]0;title\\u0007 \\u001B[2J\\u007F"},
    {"\xc2\x9b" "31m", "\\u009B31m"},
    {"a\xe2\x80\xae" "b\xe2\x81\xa6" "c", "a\\u202Eb\\u2066c"},
    {"\xf3\xa0\x81\x81", "\\uDB40\\uDC41"},
    {"one\ntwo\ttab\r", "one\\u000Atwo\\u0009tab\\u000D"},
    {"cut \xe2\x80", "cut \\xE2\\x80"},
    {"\x9b and \xc0\x9b and \xed\xa0\x80", "\\x9B and \\xC0\\x9B and \\xED\\xA0\\x80"},
  };
  char shown[120];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *wanted = cases[i][1] != NULL ? cases[i][1] : cases[i][0];
    ck_assert_str_eq(cm_foreign_copy(cases[i][0], CM_FOREIGN_LINE, shown, sizeof shown), wanted);
    ck_assert(cm_foreign_is_plain(cases[i][0], CM_FOREIGN_LINE) == (cases[i][1] == NULL));
  }
  ck_assert(cm_foreign_is_plain("one\ntwo\ttab", CM_FOREIGN_LINES));
  ck_assert_str_eq(cm_foreign_copy("ab\xc3\xbc", CM_FOREIGN_LINE, shown, 4), "ab"); /* no half of a character */
  ck_assert_str_eq(cm_foreign_copy("ab\x1b", CM_FOREIGN_LINE, shown, 8), "ab");
}
END_TEST

START_TEST(json_of_others_takes_a_bounded_memory)
{
  enum { ARRAYS = 100000, MOST = 4 << 20 };
  char *text = malloc(3 * ARRAYS + 3);
  text[0] = '[';
  for (size_t i = 0; i < ARRAYS; i++)
    memcpy(text + 1 + 3 * i, "[],", 3);
  memcpy(text + 3 * ARRAYS, "]", 2);
  json_t *whole = cm_json_loadb(text, strlen(text), 0, NULL);
  ck_assert_uint_eq(json_array_size(whole), ARRAYS);
  ck_assert_ptr_null(cm_json_loadb_within(text, strlen(text), 0, MOST, NULL));
  json_t *again = cm_json_loadb_within("[1]", 3, 0, MOST, NULL);
  ck_assert_uint_eq(json_array_size(again), 1);
  json_decref(again);
  json_decref(whole);
  free(text);
}
END_TEST

START_TEST(strings_of_json_are_read_back)
{
  char text[140], *written;
  cm_text out;
  for (int i = 0; i < 127; i++)
    text[i] = (char)(i + 1);
  memcpy(text + 127, "h\xc3\xa9\"\\", 6);
  for (const char *from = text + strlen(text); from >= text; from -= 7) {
    json_error_t where;
    ck_assert(cm_text_open(&out));
    cm_json_put_string(from, out.stream);
    written = cm_text_close(&out, NULL);
    json_t *read = json_loads(written, JSON_DECODE_ANY, &where);
    ck_assert_msg(read != NULL, "%s: %s", written, where.text);
    ck_assert_str_eq(json_string_value(read), from);
    json_decref(read);
    free(written);
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("base");
  TCase *tests = tcase_create("base");
  tcase_add_test(tests, varint_is_the_seeds_figure);
  tcase_add_test(tests, metropolis_takes_as_often_as_its_rule_says);
  tcase_add_loop_test(tests, heaps_give_out_in_order_and_know_where_items_stand, 0, 2);
  tcase_add_test(tests, equal_keys_come_out_by_number);
  tcase_add_test(tests, varint_round_trips_every_length);
  tcase_add_test(tests, what_others_wrote_is_shown_harmlessly);
  tcase_add_test(tests, json_of_others_takes_a_bounded_memory);
  tcase_add_test(tests, strings_of_json_are_read_back);
  tcase_add_test(tests, numbers_are_read_whole_or_not_at_all);
  tcase_add_test(tests, random_streams_are_fixed_and_unbiased);
  tcase_add_test(tests, a_thread_pool_plays_many_rounds);
  tcase_add_test(tests, parallel_runs_each_once_and_reports_the_lowest_failure);
  tcase_add_test(tests, recorded_rounds_are_counted_by_phase);
  tcase_add_test(tests, real_rounds_are_counted_by_phase);
  tcase_add_test(tests, run_stops_on_cancel_and_deadline);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
