/* The bytes of the policy files that ship with the program, made at build time; inside this room only. */
#pragma once

#include <stddef.h>

typedef struct cm_shipped_file {
  const unsigned char *bytes;
  size_t size;
} cm_shipped_file;

extern const cm_shipped_file cm_shipped_files[]; /* in the order of cm_shipped_policy */
