/* What the files of the interposer know of each other. */
#pragma once

#include <stdbool.h>

#include "tests/lib/interpose.h"

#if !defined(__x86_64__)
#error "the interposer knows the registers of x86_64 only"
#endif

#define INTERPOSE_COOKIE 0x5ca1ab1e0ddba115ULL

extern interpose_control *interpose_page;

/* A system call that the filter lets through; its result or -errno. */
static inline long interpose_direct(long number, long a, long b, long c, long d, long e)
{
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register unsigned long long r9 __asm__("r9") = INTERPOSE_COOKIE;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

/* Whether this call of `kind` is the one to fail. */
bool interpose_due(interpose_kind kind);

/* ---- interpose_log.c ---- */

/* Opens the log of what is done to files below `folder`; false: it cannot be. */
bool interpose_log_open(const char *log, const char *folder);
bool interpose_logs(void);

/* Carries out a system call on files and records it. */
long interpose_log_call(long number, const long *a);

/* ---- interpose_spawn.c ---- */

/* Before the filter is there: programs that it would trap before they can handle traps are started from a process without. */
void interpose_spawner_start(int count, char **words);
