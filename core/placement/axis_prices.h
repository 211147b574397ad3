/* Distances of a chip as prices for a search by axons. */
#pragma once

#include "core/network/demand.h"
#include "core/partition/axon/prices.h"
#include "core/placement/axes.h"

/* Distances in units of prices: so fine that the first router counts too, so coarse that sums over what all axons carry stay within 64
 * bits. Fills *prices, whose dx and dy the caller owns, also where it fails; columns and rows are those of the axes. O(columns^2 + rows^2 +
 * nets). Errors: memory. */
cm_status cm_axes_prices(const cm_axes *axes, const cm_demand *demand, cm_memory *memory, cm_prices *prices, cm_error *error);
