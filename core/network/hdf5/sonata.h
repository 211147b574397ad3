/* SONATA: files of edges, and whole circuits in an archive. What their readers share. */
#pragma once

#include "core/network/hdf5/h5.h"
#include "core/network/formats/entries.h"
#include "core/network/formats/source.h"
#include "core/network/import_limits.h"

/* What the csv of edge types says of a type; NAN: nothing. */
typedef struct sonata_type {
  uint64_t id;
  double weight, delay_ms, synapses;
  double sign;                   /* of its weights, which no other field is */
  char dynamics[CM_H5_TEXT_MAX]; /* its file of parameters; "": none */
} sonata_type;

/* The ids of a population's nodes where they are not the rows of the file: ascending, and the row of each. */
typedef struct sonata_ids {
  uint64_t *id; /* [count] by row */
  uint64_t count;
  uint32_t *row; /* [count] in order of ids */
} sonata_ids;

typedef struct sonata {
  cm_h5 h5;           /* the file that is open */
  cm_source *asked;   /* whose options say which populations are read; its report, what is not known of them */
  const cm_import_limits *limits;
  cm_run *run;
  cm_memory *memory;
  cm_topology *made;
  uint64_t *ids;      /* [populations] of neurons: one more than the largest id */
  uint64_t *first;    /* [populations] the number of the first neuron */
  bool *used;         /* [populations] by the edges that are read */
  sonata_ids *numbered; /* [populations] ids that nodes files give; of no entries: ids are rows */
  uint64_t ids_room, population_room, numbered_room, used_room, edges;
  uint64_t *source, *target, *group, *index, *type; /* a slice */
  sonata_type *types; /* [type_count] of the file that is open, ascending */
  uint64_t type_count, types_room;
  bool declared;      /* files of nodes say how many neurons there are */
  bool typed;         /* the edges that are read have types */
  const uint8_t *model; /* [neurons] of which those of CM_NEURON_CUBALIF get what comes in a step later than delays say; NULL: none do */
  double step_ms;
  cm_entries entries;
} sonata;

cm_status sonata_open(sonata *s, const cm_reading_of *in, cm_error *error);
void sonata_close(sonata *s); /* whether it was opened or failed to */

/* The number of a population of neurons, a new one for a new name. */
cm_status sonata_population(sonata *s, const char *name, uint32_t *found, cm_error *error);

/* The row of a node; UINT64_MAX: the population has none of this id. O(log nodes). */
uint64_t sonata_row(const sonata *s, uint32_t population, uint64_t id);

/* Whether a population of edges or neurons is read: all are, unless option population names some. */
bool sonata_wants(const sonata *s, const char *population);

/* After the survey: leaves out the populations of neurons that no edges use where option population names some. CM_BAD_NETWORK: none of
 * edges has such a name. */
cm_status sonata_leave_out(sonata *s, cm_error *error);

/* Of the file that is open: which neurons its edges need; once they are numbered, its edges. */
cm_status sonata_survey(sonata *s, cm_error *error);
cm_status sonata_read(sonata *s, cm_error *error);

/* Numbers and names the neurons of all populations. */
cm_status sonata_number(sonata *s, cm_error *error);

/* Reads a circuit: a zip with its configuration, nodes, edges, types and spikes; s->made is whole afterwards. */
cm_status sonata_circuit(sonata *s, cm_source *source, cm_error *error);
