/* Whether the program is built with the sanitizer of addresses or of threads: 1 or 0. Such programs map their shadow memory,
 * terabytes of it, which no limit on data allows, bring their own allocator, and take several times as long. */
#pragma once

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ || __has_feature(address_sanitizer) || \
  __has_feature(thread_sanitizer)
#define CM_SANITIZED 1
#else
#define CM_SANITIZED 0
#endif
