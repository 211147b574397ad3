/* A program as tiles on cores (docs/explanation/tiling.md): every piece that a unit computes is a vertex of a
 * network, what goes between two an axon, and a tile lies on the core of the unit that computes it. Program, schedule and
 * mapping are three descriptions of one execution. */
#pragma once

#include <jansson.h>

#include "core/chip/chip.h"
#include "core/machine/emit/object.h"
#include "core/mapping/mapping.h"
#include "core/network/topology.h"

/* Vertex k is the k-th instruction of the program that computes (`pieces`, by the emission that it was linked from); its
 * size the bytes of what it makes and of the constants that it reads; an axon with one synapse what it reads of what
 * another made, its weight the bytes. Vertices are called NODE[k]@DEVICE, k counting the pieces of a node. The caller's:
 * cm_topology_free. Time: the parts that pieces read; of what came back from outside, its rows. Errors: CM_TOO_LARGE for a
 * piece that holds 4 GiB or more, or more axons than a network has; memory, cancel. */
cm_status cm_tiles_topology(cm_plan *plan, const cm_program *program, const uint32_t *pieces, cm_run *run,
                            cm_topology **made, cm_error *error);

/* The mapping that the program is: each tile on the core of its unit. The caller's: cm_mapping_free. Errors:
 * CM_LIMIT_BROKEN when a core holds more than the chip's limits allow; memory, cancel. */
cm_status cm_tiles_map(const cm_demand *demand, const cm_program *program, const cm_chip *chip, cm_run *run,
                       cm_mapping **made, cm_error *error);

/* Whether a network and a mapping (part[vertices], core[parts]) are what a program does: the program is run on owners
 * instead of numbers, so that every byte that an instruction reads names the instruction that made it; nothing is shared
 * with what made the network. Errors: CM_BAD_MAPPING with the first tile or axon that differs; memory, cancel. O(elements
 * that the program reads). */
cm_status cm_tiles_agree(const cm_program *program, const cm_topology *topology, const uint32_t *part, const uint32_t *core,
                         cm_run *run, cm_error *error);

/* {"tiles", "arcs", "bytes_moved", "bytes_held", "largest_bytes", "devices": [{"name", "units", "tiles", "operations",
 * "busy_ns"}]}; a new reference, NULL when out of memory. */
json_t *cm_tiles_report(const cm_topology *topology, const cm_program *program);
