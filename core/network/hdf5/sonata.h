/* SONATA: files of edges, and whole circuits in an archive. What their readers share. */
#ifndef CM_NETWORK_HDF5_SONATA_H
#define CM_NETWORK_HDF5_SONATA_H

#include "core/network/hdf5/h5.h"
#include "core/network/formats/entries.h"
#include "core/network/formats/source.h"
#include "core/network/import_limits.h"

/* What the csv of edge types says of a type; NAN: nothing. */
typedef struct sonata_type {
  uint64_t id;
  double weight, delay_ms, synapses;
} sonata_type;

typedef struct sonata {
  cm_h5 h5;           /* the file that is open */
  const cm_import_limits *limits;
  cm_run *run;
  cm_memory *memory;
  cm_topology *made;
  uint64_t *ids;      /* [populations] of neurons: one more than the largest id */
  uint64_t *first;    /* [populations] the number of the first neuron */
  uint64_t ids_room, population_room, edges;
  uint64_t *source, *target, *group, *index, *type; /* a slice */
  sonata_type *types; /* [type_count] of the file that is open, ascending */
  uint64_t type_count, types_room;
  bool declared;      /* files of nodes say how many neurons there are */
  bool typed;         /* the edges that are read have types */
  cm_entries entries;
} sonata;

cm_status sonata_open(sonata *s, cm_source *source, const cm_import_limits *limits, cm_run *run, cm_error *error);
void sonata_close(sonata *s); /* whether it was opened or failed to; frees s->made */

/* The number of a population of neurons, a new one for a new name. */
cm_status sonata_population(sonata *s, const char *name, uint32_t *found, cm_error *error);

/* Of the file that is open: which neurons its edges need; once they are numbered, its edges. */
cm_status sonata_survey(sonata *s, cm_error *error);
cm_status sonata_read(sonata *s, cm_error *error);

/* Numbers and names the neurons of all populations. */
cm_status sonata_number(sonata *s, cm_error *error);

/* The type of edges of that id; NULL: none is known. */
const sonata_type *sonata_type_find(const sonata *s, uint64_t id);

/* Reads a circuit: a zip with its configuration, nodes, edges, types and spikes; s->made is whole afterwards. */
cm_status sonata_circuit(sonata *s, cm_source *source, cm_error *error);

#endif
