/* The readers: each makes a topology of a source that is of its format, or says what is wrong. */
#pragma once

#include "core/network/formats/source.h"

/* The readers: each makes a topology of a source that is of its format, or says what is wrong. */
#define FORMAT(number, reader, ...) \
  cm_status reader(cm_source *source, const cm_import_limits *limits, cm_run *run, cm_topology **topology, cm_error *error);
#include "core/network/formats/formats.def"
#undef FORMAT
