/* Networks read from texts made here; includers have an error slot. */
#pragma once

#include "files.h"
#include "core/network/import.h"

static inline cm_topology *import_bytes(const void *bytes, size_t size, const char *format)
{
  cm_topology *t = NULL;
  cm_import_report report;
  const char *path = in_folder("in");
  test_write(path, bytes, size);
  ck_ok(cm_import(path, NULL, &run, &t, &report, &error));
  ck_assert_str_eq(report.format, format);
  ck_assert_uint_eq(report.bytes, size);
  ck_ok(cm_topology_verify(t, &error));
  return t;
}

static inline cm_topology *import_text(const char *text, const char *format)
{
  return import_bytes(text, strlen(text), format);
}

/* Asserts that an import fails at `where` with a detail that shows `value`. */
static inline void refuse_bytes(const void *bytes, size_t size, const char *where, const char *value)
{
  cm_topology *t = NULL;
  const char *path = in_folder("bad");
  test_write(path, bytes, size);
  ck_fails(cm_import(path, NULL, &run, &t, NULL, &error), CM_BAD_NETWORK);
  ck_assert_ptr_null(t);
  ck_assert_str_eq(error.where, where);
  ck_assert_msg(strstr(error.detail, value) != NULL, "'%s' does not name '%s'", error.detail, value);
}

static inline void refuse_text(const char *text, const char *where, const char *value)
{
  refuse_bytes(text, strlen(text), where, value);
}

static inline void pins_are(const cm_topology *t, uint32_t net, const uint32_t *pin, size_t count)
{
  ck_assert_uint_eq(t->net_first[net + 1] - t->net_first[net], count);
  for (size_t i = 0; i < count; i++)
    ck_assert_uint_eq(t->pin[t->net_first[net] + i], pin[i]);
}
#define PINS(t, net, ...) \
  pins_are(t, net, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
