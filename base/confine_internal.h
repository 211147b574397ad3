/* Between the files that confine a process. */
#pragma once

#include "base/confine.h"

struct sock_filter;

/* Of the sanitizers' libraries, where the program has one. Not what a file was compiled for: a sanitized server may have the
 * plain library. */
extern void __asan_init(void) __attribute__((weak));
extern void __tsan_init(void) __attribute__((weak));

static inline bool cm_has_sanitizer(void)
{
  return __asan_init != NULL || __tsan_init != NULL;
}

/* Landlock: reading what may be read, everything but links, devices and pipes where may be written; no connections, no signals
 * to others. The ABI in force, 0 when there is none. */
int cm_confine_files(const cm_confinement *confinement);

/* From now on this process answers its own calls by path (open, stat, access, rename and their kin), so that nothing is told of what
 * it may not open, not whether it is there; the filter of system calls has to send them back as SIGSYS. false: it cannot, and they
 * have to be allowed. */
bool cm_confine_paths(void);

/* The first steps of that filter, which let through the calls that answering makes; how many there are. */
size_t cm_confine_own_calls(struct sock_filter *steps);
