/* The fixture of tests that read and write files under an account: a folder, a run, and all memory given back at the
 * end. */
#pragma once

#include "unit.h"

static cm_error error;
static cm_run run;
static cm_memory memory;
static char folder[CM_PATH_MAX];

static inline void setup(void)
{
  cm_run_init(&run);
  cm_memory_init(&memory, 0);
  run.memory = &memory;
  memset(&error, 0, sizeof error);
  test_folder(folder);
}

static inline void teardown(void)
{
  ck_ok(cm_folder_remove(folder, &error));
  ck_assert_uint_eq(memory.used_bytes, 0);
}

/* A path in the test's folder; two live at a time. */
static inline const char *in_folder(const char *name)
{
  static char path[2][CM_PATH_MAX];
  static int turn;
  turn = !turn;
  ck_ok(cm_path(path[turn], &error, "%s/%s", folder, name));
  return path[turn];
}
