/* Which free cores can talk to each other: dead links may cut some off. */
#pragma once

#include "core/chip/occupancy.h"

enum { CM_NO_ROUTER = UINT32_MAX };

/* The router next to one; CM_NO_ROUTER at the edge of a mesh. O(1). */
uint32_t cm_chip_next_router(const cm_chip *chip, uint32_t router, cm_direction direction);

/* Whether the link that leaves a router in a direction is dead. O(log dead links). */
bool cm_chip_link_dead(const cm_chip *chip, uint32_t router, cm_direction direction);

/* Marks in usable [cores] the free cores of which each can send to each over living links, through whatever cores lie
 * between; where dead links make several such groups, those of the largest. *count is their number. O(cores), and O(routers) of
 * memory where a dead link has no short way round. */
cm_status cm_usable_cores(const cm_chip *chip, const cm_occupancy *occupancy, cm_memory *memory, uint8_t *usable,
                          uint32_t *count, cm_error *error);
