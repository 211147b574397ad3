/* For suites of what allocates on an account and draws at random: `run` has an account that is empty after each case, `source` begins anew
 * before it. */
#pragma once

#include "networks.h"

static cm_error error;
static cm_run run;
static cm_memory account;
static cm_random source;

static inline void account_opens(uint64_t seed)
{
  cm_run_init(&run);
  cm_memory_init(&account, 0);
  run.memory = &account;
  cm_random_init(&source, seed, 1, 1);
}

static inline void account_is_empty(void)
{
  ck_assert_uint_eq(account.used_bytes, 0);
}
