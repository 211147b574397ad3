/* Chips with the state of their cores, as the server keeps and changes it: leases stand there as owners of cores. */
#pragma once

#include <coremap/chip.h>
#include <jansson.h>

#include "base/status.h"

enum { LIBRARY_CHIP_NAME_MAX = 64, LIBRARY_CHIP_CORES_MAX = 1 << 24 };

/* The text of a preset; NULL: there is none of this name. */
const char *library_chip_preset_text(const char *name);

/* A chip from its text. `occupancy` [size] is a state or a change of an empty chip; NULL: all cores are free but the dead ones. Errors:
 * CM_BAD_CHIP, CM_BAD_OCCUPANCY, CM_CONFLICT, CM_NO_MEMORY. */
cm_status library_chip_read(const char *text, const char *occupancy, size_t size, coremap_chip **chip, cm_error *error);

typedef struct library_chip_facts {
  const char *name, *description;
  uint32_t width, height;
  bool runs_programs, takes_images;
} library_chip_facts;
library_chip_facts library_chip_facts_of(const coremap_chip *chip);

/* The chip's text, and the state of its cores; the caller frees with free(). */
cm_status library_chip_print(const coremap_chip *chip, char **text, cm_error *error);
cm_status library_cores_print(const coremap_chip *chip, char **text, cm_error *error);

/* {"occupy", "release", "broken", "repaired", "owner"} as one step: on any error nothing changes. CM_BAD_OCCUPANCY, CM_CONFLICT. */
cm_status library_cores_change(coremap_chip *chip, const json_t *change, cm_error *error);

/* CM_BAD_OCCUPANCY for an owner that a terminal would not show as it is. */
cm_status library_cores_check_owners(const coremap_chip *chip, cm_error *error);

typedef enum library_core_state { LIBRARY_CORE_FREE, LIBRARY_CORE_TAKEN, LIBRARY_CORE_BROKEN } library_core_state;

typedef struct library_core {
  uint32_t x, y;
  library_core_state state;
  const char *owner; /* NULL: it is not taken */
} library_core;
library_core library_core_at(const coremap_chip *chip, uint32_t core);

/* The first core from `from` on in a state; width * height when there is none. */
uint32_t library_core_next(const coremap_chip *chip, uint32_t from, library_core_state state);

/* Frees all cores of the owners that `leaves` says are no more. */
void library_cores_release(coremap_chip *chip, bool (*leaves)(const char *owner, const void *user), const void *user);

/* Cores of a chip that has other cores now become taken and broken as they were, where they are there and not dead. CM_NO_MEMORY. */
cm_status library_cores_carry(const coremap_chip *before, coremap_chip *after, cm_error *error);

/* Cores for something of that size, where they lie best: the caller frees. CM_NO_ROOM, CM_NO_MEMORY. */
cm_status library_cores_choose(const coremap_chip *chip, uint32_t count, uint32_t **cores, cm_error *error);
