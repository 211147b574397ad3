/* SONATA circuits in archives: what the files that read them share. */
#pragma once

#include <jansson.h>

#include "core/network/archive/archive.h"
#include "core/network/formats/source.h"
#include "core/network/hdf5/sonata.h"

typedef struct sonata_files {
  sonata *s;
  cm_archive archive;
  json_t *networks;      /* of the configuration: nodes and edges */
  double seconds;        /* of the simulation; 0: not said; below 0: configurations say different ones */
  char config[120];      /* the member that named the networks */
  void *image;           /* of the member that is open */
  size_t image_size;
  cm_source member;
  double *rate;          /* [neurons]; NULL: no spikes */
  bool *measured;        /* [populations] */
  uint64_t *virtual_type, virtual_room, virtual_count; /* node types of the file that is open */
} sonata_files;

/* CM_BAD_NETWORK at that place of the circuit. */
cm_status sonata_circuit_bad(const char *place, const char *what, cm_error *error);

/* The one member that ends in a path of the configuration. CM_BAD_NETWORK: none, or several. */
cm_status sonata_member_find(const sonata_files *c, const char *path, uint64_t *member, cm_error *error);

/* Takes a member out of the archive, as a source: c->image and c->member, until it is closed. */
cm_status sonata_member_open(sonata_files *c, uint64_t member, cm_error *error);
void sonata_member_close(sonata_files *c); /* harmless when none is open */

/* The length of a list of the HDF5 file that is open. */
cm_status sonata_length(sonata_files *c, hid_t group, const char *list, uint64_t *length, cm_error *error);

/* Does `each` to every member of a group, which must be there. */
typedef cm_status sonata_each(sonata_files *c, hid_t group, const char *name, cm_error *error);
cm_status sonata_for_members(sonata_files *c, const char *path, sonata_each *each, cm_error *error);

/* Reads the table of types that `path` names, of edges into the sonata's types, of nodes those that are virtual; NULL or "":
 * there is none. */
cm_status sonata_types_read(sonata_files *c, const char *path, bool edges, cm_error *error);

/* Adds the spikes of the HDF5 file that is open, if it has any, to the counts of neurons. */
cm_status sonata_spikes_read(sonata_files *c, cm_error *error);

/* Once all are counted: spikes over the time of the simulation are rates, in hertz, of the populations that have some. */
cm_status sonata_spikes_set_rates(sonata_files *c, cm_error *error);
