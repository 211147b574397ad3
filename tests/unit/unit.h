/* What unit and property tests share. */
#pragma once

#include <check.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/run.h"
#include "base/sanitized.h"

/* libcheck writes each assertion that holds to a file, to say after which one a program crashed: more work than what most
 * assertions in loops look at, so that each is written the first times only. */
#define _mark_point(file, line)         \
  ({                                    \
    static _Thread_local int written_;  \
    if (written_ < 16) {                \
      written_++;                       \
      _mark_point(file, line);          \
    }                                   \
  })

/* Asserts that a call succeeds; shows the error's text otherwise. Needs a `cm_error error` in scope. */
#define ck_ok(call)                                                                                \
  do {                                                                                             \
    cm_status status_ = (call);                                                                    \
    ck_assert_msg(status_ == CM_OK, "%s: %s %s", #call, cm_status_code(status_), error.detail); \
  } while (0)

/* Asserts that a call fails with this status. */
#define ck_fails(call, expected)                                                              \
  do {                                                                                        \
    cm_status status_ = (call);                                                               \
    ck_assert_msg(status_ == (expected), "%s: %s instead of %s (%s)", #call,               \
                  cm_status_code(status_), cm_status_code(expected), error.detail);        \
    ck_assert_int_eq(error.status, expected);                                                 \
    ck_assert_msg(error.detail[0] != '\0', "%s: no detail", #call);                           \
  } while (0)

/* The path of a file in tests/data; static buffer. */
static inline const char *test_data(const char *name)
{
  static char path[CM_PATH_MAX];
  const char *folder = getenv("CM_TEST_DATA");
  snprintf(path, sizeof path, "%s/%s", folder != NULL ? folder : "tests/data", name);
  return path;
}

/* A fresh folder under TMPDIR or /tmp; the test removes it with cm_folder_remove. */
static inline void test_folder(char *path)
{
  const char *base = getenv("TMPDIR");
  snprintf(path, CM_PATH_MAX, "%s/cm-test-XXXXXX", base != NULL ? base : "/tmp");
  ck_assert_ptr_nonnull(mkdtemp(path));
}

/* Writes bytes to a file. */
static inline void test_write(const char *path, const void *bytes, size_t size)
{
  FILE *stream = fopen(path, "wb");
  ck_assert_ptr_nonnull(stream);
  ck_assert_uint_eq(fwrite(bytes, 1, size, stream), size);
  ck_assert_int_eq(fclose(stream), 0);
}

/* How often a search is tried on random inputs, or found something, of `all` times: an eighth under sanitizers, which look
 * at each access and not at what comes out. */
static inline uint32_t test_rounds(uint32_t all)
{
  return CM_SANITIZED ? all / 8 : all;
}

/* Adds a case if it is to run: all are, or those whose name matches CM_TEST, a pattern as the shell has them (tests/run). */
static inline void test_add(TCase *cases, const TTest *test, int from, int to)
{
  const char *pattern = getenv("CM_TEST");
  if (pattern == NULL || fnmatch(pattern, test->name, 0) == 0)
    _tcase_add_test(cases, test, 0, 0, from, to);
}
#undef tcase_add_test
#undef tcase_add_loop_test
#define tcase_add_test(cases, test) test_add(cases, test, 0, 1)
/* A case that judges what comes out of a large input and not how: not under sanitizers, which see its code in other cases. */
#define tcase_add_figures_test(cases, test) test_add(cases, test, 0, CM_SANITIZED ? 0 : 1)
#define tcase_add_loop_test(cases, test, from, to) test_add(cases, test, from, to)

/* A case that hangs is ended after ten minutes: a busy machine, on which one of seconds may take minutes, is not a defect.
 * libcheck ends a process of a case. Cases that share the program's (CK_FORK=no) have an alarm instead, which ends that alone:
 * libcheck's handler would kill its whole group, with the make that runs it. */
enum { TEST_SECONDS = 600 };
static inline void test_alarm(void)
{
  const char *forks = getenv("CK_FORK");
  if (forks != NULL && strcmp(forks, "no") == 0) {
    (void)signal(SIGALRM, SIG_DFL);
    (void)alarm(TEST_SECONDS);
  }
}
static inline TCase *test_cases(const char *name)
{
  TCase *cases = tcase_create(name);
  tcase_set_timeout(cases, TEST_SECONDS);
  tcase_add_checked_fixture(cases, test_alarm, NULL);
  return cases;
}
#define tcase_create(name) test_cases(name)

/* Runs a suite; the exit status of the test program. */
static inline int test_main(Suite *suite)
{
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
