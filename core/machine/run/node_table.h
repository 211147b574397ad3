/* A program by the nodes of its model: where their time goes. */
#pragma once

#include <jansson.h>

#include "core/machine/run/analysis.h"

/* [{"node", "operator", "device", "instructions", "busy_ns", "share" (of all lanes of its device, for all of the time), "utilisation" (work over what its units can do
 * while busy), "path_ns" (on the critical path), "path_share" (of the whole time), "bytes", "memory": {"outside_read", "outside_written", "chip_read",
 * "chip_written"}, "peak_bytes" (of what it makes or brings, on the chip at the first time when most is held), "held_until_ns" (the last use of it), "waits": why those on the path begin when they do, "start", "lane", "data" or "room"}], in the order in which they begin. A node on two
 * devices has two rows; tensors that are loaded and stored and copies on the chip have theirs, with "load", "store" and "copy" as operator; the last row is what
 * the critical path takes between cores ("hops"). busy_ns of a device's rows are together what it is busy, path_ns of all the whole time, bytes by memory those that
 * a simulation counts, peak_bytes of all the most that is held. O(n log n) in instructions. Errors: memory. */
cm_status cm_node_table(const cm_program *program, const cm_analysis *analysis, json_t **table, cm_error *error);
