/* Chips by name: presets, which nobody can change, and those that users put. */
#pragma once

#include "library/private/cores.h"
#include "storage/owners.h"

typedef struct cm_chip_entry {
  char name[LIBRARY_CHIP_NAME_MAX];
  bool preset;
  cm_owner owner;
} cm_chip_entry;

/* True when a name may be given to a chip: letters, digits, '.', '_' and '-', at most LIBRARY_CHIP_NAME_MAX - 1. */
bool cm_chips_name_is_sound(const char *name);

/* A chip's description as JSON text; the caller frees. CM_NOT_FOUND. */
cm_status cm_chips_text(cm_store *store, const char *name, char **text, bool *preset, cm_error *error);

/* A chip by name, with all its cores free; the caller frees with coremap_chip_free. */
cm_status cm_chips_open(cm_store *store, const char *name, coremap_chip **chip, cm_error *error);

enum { CM_CHIP_TAG_MAX = 65 };

/* The entity tag of a description, without quotes, CM_CHIP_TAG_MAX bytes. */
void cm_chips_tag(const char *text, char *tag);

typedef struct cm_chip_change {
  const char *name;
  cm_owner owner;           /* of a new chip; an old one keeps its own */
  const cm_viewer *viewer;  /* who changes an old one; NULL: may */
  const char *text;     /* a description that library_chip_read has accepted */
  const char *if_match; /* only while the chip has this entity tag ("*": any chip); NULL: no matter */
  bool only_new;        /* only where there is no chip of this name */
} cm_chip_change;

/* Stores a description. CM_CONFLICT: *mismatch (if_match or only_new does not hold), or the name is a preset's or of a chip that the viewer may
 * not change, or the chip is another one now and a queued or running job or a lease needs it, or taken cores would fall outside it (they are named). Cores
 * that are taken or broken stay so. */
cm_status cm_chips_put(cm_store *store, const cm_chip_change *change, bool *created, bool *mismatch, cm_error *error);

/* CM_NOT_FOUND, or CM_CONFLICT: as above, or while cores are taken (they are named). if_match may be NULL, and the viewer, who is told of what he
 * sees alone, too. */
cm_status cm_chips_delete(cm_store *store, const char *name, const cm_viewer *viewer, const char *if_match, bool *mismatch, cm_error *error);

/* Presets first, then the others that the viewer sees by name; the caller frees with free(). */
cm_status cm_chips_list(cm_store *store, const cm_viewer *viewer, cm_chip_entry **chips, size_t *count, cm_error *error);
