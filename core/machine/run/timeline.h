/* What every unit does when, for viewers. */
#pragma once

#include "core/machine/program/program.h"

/* Simulates the time of a program and writes it as Chrome trace JSON (core/schedule/trace.h), a lane a unit, with the bytes
 * held on the chip as counter "memory" and the critical path marked (core/machine/run/analysis.h). Times are rounded down
 * to nanoseconds. O(n log n) in the program. Errors: CM_DAMAGED (lanes wait for ever), CM_IO, CM_DISK_FULL,
 * memory. */
cm_status cm_timeline_write(const cm_program *program, const char *name, cm_run *run, const char *path, cm_error *error);
