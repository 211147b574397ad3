#pragma once

#include <stddef.h>

/* SHA-256 of a buffer as 64 hex digits and NUL. */
void cm_store_sha256(const void *bytes, size_t size, char *hex);
