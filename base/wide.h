/* Hot loops over integer arrays, compiled a second time for wider vector units that the machine is asked for at start.
 * Only for integer arithmetic, single-precision comparison, and sums of which every element has its own: both versions
 * give the same results. */
#pragma once

#include "base/sanitized.h"

#if defined(__x86_64__) && defined(__linux__) && !defined(__clang__) && !CM_SANITIZED
#define CM_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define CM_WIDE
#endif

/* The same for loops over arrays that are looked up by index: the compiler vectorises them at its highest level only. */
#if defined(__GNUC__) && !defined(__clang__)
#define CM_WIDE_LOOP CM_WIDE __attribute__((optimize("O3")))
#else
#define CM_WIDE_LOOP CM_WIDE
#endif
