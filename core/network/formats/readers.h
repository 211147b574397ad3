/* The readers: each makes a topology of a source that is of its format, or says what is wrong. */
#pragma once

#include "core/network/formats/source.h"

/* The readers: each makes a topology of a source that is of its format, or says what is wrong. */
#define FORMAT(number, reader, ...) \
  cm_status reader(const cm_reading_of *in, cm_error *error);
#include "core/network/formats/formats.def"
#undef FORMAT
