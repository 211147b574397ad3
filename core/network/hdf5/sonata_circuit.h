/* SONATA circuits in archives: what the files that read them share. */
#pragma once

#include <jansson.h>

#include "core/network/archive/archive.h"
#include "core/network/formats/source.h"
#include "core/network/hdf5/sonata.h"
#include "core/network/neuron_values.h"

enum { SONATA_POINT = 10 };

typedef enum sonata_point { SONATA_NO_POINT, SONATA_PSC_DELTA, SONATA_PSC_EXP, SONATA_INT_FIRE, SONATA_POINTS } sonata_point;

extern const char *const sonata_point_names[SONATA_POINTS + 1]; /* model templates, and what several of them are called */

/* A type of nodes, and, of a point neuron, what its file of parameters says as coremap has it. */
typedef struct sonata_node_type {
  uint64_t id;
  bool is_virtual;
  sonata_point point;
  char template[64];             /* its model, cut */
  char dynamics[CM_H5_TEXT_MAX]; /* its file of parameters; "": none */
  bool known;                    /* the rest is */
  float value[SONATA_POINT];     /* its parameters, in the order of sonata_points.c; NAN: its model has not */
} sonata_node_type;

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
  sonata_node_type *node_type; /* [node_types] of the file that is open */
  uint64_t node_types, node_type_room;
  double step_ms;        /* of the simulation; 0: not said; below 0: configurations say different ones */
  cm_neuron_values values; /* of point neurons, NAN of others */
  bool points, signs;      /* some type is a point neuron whose parameters are known, one that edge types give a sign */
  bool unknown;            /* some neuron is none of these, and not virtual */
  char unlike[200];        /* why a type is none; "": all are */
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

/* The type of nodes of that id; NULL: none. */
const sonata_node_type *sonata_node_type_find(const sonata_files *c, uint64_t id);

/* Fills what the file of parameters of a type of nodes says under the simulation's dt; one that is not there, or of which no coremap neuron would
 * do the same, leaves it unknown, and says why. */
cm_status sonata_point_read(sonata_files *c, sonata_node_type *type, cm_error *error);

/* Turns a type of edges to such neurons by the sign that its file of parameters says, if it does. */
cm_status sonata_sign_read(sonata_files *c, sonata_type *type, cm_error *error);

/* Models and parameters of all neurons, once they are numbered: opened, taken from the populations of the files of nodes, synapses made later where
 * they have to be, before these are read, and given to the network if every neuron is virtual or a point neuron whose parameters are known. */
cm_status sonata_points_open(sonata_files *c, cm_error *error);
sonata_each sonata_points_take;
void sonata_points_delay(sonata_files *c);
cm_status sonata_points_set(sonata_files *c, cm_error *error);

/* Reads the table of types that `path` names, of edges into the sonata's types, of nodes into node_type; NULL or "": there is none. */
cm_status sonata_types_read(sonata_files *c, const char *path, bool edges, cm_error *error);

/* Adds the spikes of the HDF5 file that is open, if it has any, to the counts of neurons. */
cm_status sonata_spikes_read(sonata_files *c, cm_error *error);

/* Once all are counted: spikes over the time of the simulation are rates, in hertz, of the populations that have some. */
cm_status sonata_spikes_set_rates(sonata_files *c, cm_error *error);
