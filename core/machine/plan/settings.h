/* What the compiler may choose when it cuts a model for the units of a chip and lays it out in time: the numbers that the
 * search moves. Internal to core/machine. */
#pragma once

#include <stdint.h>

/* How operators are divided among the units that compute them. All but the first are there to compare with. */
typedef enum cm_division {
  CM_DIVISION_CAPABILITY, /* as much for each device as it is capable of */
  CM_DIVISION_EVEN,       /* as many pieces of one size for every unit, fast or slow */
  CM_DIVISION_UNSPLIT,    /* operators whole, on the fastest device; in pieces where the memory is too small for that */
  CM_DIVISION_LAYERS,     /* by capability, each operator alone: from outside to outside, after the one before is done */
  CM_DIVISIONS,
} cm_division;

typedef struct cm_settings {
  double fill;          /* share of the memory that the sequence may hold at once; the rest is for what comes next */
  double segment_share; /* share of the memory that the parameters of a segment may take */
  double pieces_a_unit; /* pieces of an operator for each unit that computes it */
  double piece_bytes;   /* inputs and output of an operator over its pieces, at most: bytes */
  double weight_bytes;  /* parameters that a piece reads, at most: bytes */
  double issues_min;    /* a piece takes at least so many times what its issue takes */
  double ahead;         /* share of the memory for parameters that ports load before their turn, where they are idle */
  double pack;          /* size of the packs that small constants lie in, 1 to CM_PACK_SIZES; 0: each alone */
  double split;         /* a part of a transfer that is split over ports takes at least so many latencies */
  double window;        /* pieces that have their memory and no lane yet, at most */
  double stretch;       /* grids whose steps differ by device: 0: none, 1: along rows, 2: along channels; 3: by unit, where devices do not */
  double lean;          /* what all but the fastest device get, over what their capability says */
} cm_settings;

/* Their names, in that order; and they as so many numbers. */
#define CM_SETTINGS_NAMES \
  {"fill", "segment_share", "pieces_a_unit", "piece_bytes", "weight_bytes", "issues_min", "ahead", "pack", "split", "window", "stretch", "lean"}
enum { CM_SETTINGS_NUMBERS = sizeof(cm_settings) / sizeof(double) };

/* What does well on most models and chips with so much memory. */
static inline cm_settings cm_settings_default(uint64_t memory_bytes)
{
  return (cm_settings){.fill = 0.75, .segment_share = 0.5, .pieces_a_unit = 4, .piece_bytes = (double)memory_bytes / 64,
                       .weight_bytes = (double)memory_bytes / 8, .issues_min = 10, .split = 8, .pack = 0, .ahead = 0.25,
                       .window = 256, .stretch = 1, .lean = 1};
}
