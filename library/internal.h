/* What the files of the shared library share: objects that several own, runs, and errors as the interface tells them. */
#ifndef LIBRARY_INTERNAL_H
#define LIBRARY_INTERNAL_H

#include <coremap/coremap.h>
#include <jansson.h>
#include <stdatomic.h>

#include "base/file.h"
#include "base/run.h"
#include "core/chip/occupancy.h"
#include "core/mapping/mapping.h"
#include "core/network/topology.h"

struct coremap_network {
  atomic_uint owners;
  cm_topology *topology;
  char id[65]; /* SHA-256 of its file; "": it came from no file */
};

struct coremap_chip {
  atomic_uint owners;
  cm_chip *chip;
  cm_occupancy *occupancy;
};

struct coremap_mapping {
  coremap_network *network;
  coremap_chip *chip;
  cm_topology topology; /* the network's, with sizes of its own: inputs may stand outside */
  cm_memory memory;      /* that the mapping stands in */
  cm_mapping *mapping;
  int32_t *place; /* [2 * parts] */
};

/* Runs of calls: progress goes to the caller, whose answer stops them. */
typedef struct library_run {
  cm_run run;
  cm_memory memory;
  atomic_bool stop;
  coremap_progress progress;
  void *user;
} library_run;

/* `r` must stay where it is while it runs; cm_run_finish ends it. */
void library_begin(library_run *r, coremap_progress progress, void *user);

/* 0 for CM_OK; else -1, and *error tells of `e` (NULL: not asked). */
int library_tell(cm_status status, const cm_error *e, coremap_error **error);

/* An object from text, NULL or "": an empty one; the caller's. CM_BAD_OPTION: it is none. */
cm_status library_options(const char *text, json_t **object, cm_error *error);

/* A string of an object that is taken out of it, in `room` (CM_PATH_MAX): "" when it is not there. CM_BAD_OPTION: it is no
 * string, or too long. */
cm_status library_take_text(json_t *object, const char *name, char room[CM_PATH_MAX], cm_error *error);

#endif
