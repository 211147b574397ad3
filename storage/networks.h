/* Uploaded networks: content-addressed, the same bytes are stored once. */
#pragma once

#include <stdatomic.h>

#include "storage/labels.h"

enum { CM_READ_AS_MAX = 400, CM_READING_MAX = 4096 };

/* A table that a network is given: `option`, one of those of reading that are files ("rates", "parameters"), says which. */
typedef struct cm_network_table {
  const char *option, *path;
} cm_network_table;

/* A file that is read as a network. */
typedef struct cm_network_source {
  const char *path;              /* of any format; taken away */
  const cm_network_table *table; /* what it is given beside; NULL: nothing */
  const char *made;              /* where what is stored of it goes; both paths on the store's file system */
  uint64_t memory_limit;         /* bytes; 0: none */
  const atomic_bool *cancel;     /* NULL: cannot be cancelled */
} cm_network_source;

typedef struct cm_network {
  int64_t sequence;           /* order of arrival; the cursor of lists */
  char id[CM_SHA_MAX];        /* what the whole lab sees goes by its sha256, else 64 random digits */
  char sha256[CM_SHA_MAX];    /* of the uploaded bytes */
  cm_owner owner;
  char name[CM_NAME_MAX];     /* "" when none was given */
  char format[32];
  char read_as[CM_READ_AS_MAX]; /* options that it was read with, a JSON object; "": none */
  char reading[CM_READING_MAX]; /* what was understood of its file, a JSON object; "": not known */
  char labels[CM_LABELS_MAX]; /* that its owner has given it */
  bool gzipped, directed, named; /* named: its neurons have names */
  uint64_t neurons, hyperedges, synapses;
  uint64_t operators;         /* of an ONNX model; 0 for topologies */
  uint64_t bytes, plain_bytes;
  uint64_t duplicates, self_loops, empty_nets, zeros;
  uint64_t inputs, inhibitory, populations; /* neurons, synapses of negative weight, populations or layers */
  bool delays;                /* synapses have delays */
  double created;
} cm_network;

/* Where a network's file lies: the topology file, or an ONNX model as it came. */
cm_status cm_networks_path(const cm_store *store, const char *id, char *path, cm_error *error);

/* CM_NOT_FOUND when unknown. */
cm_status cm_networks_get(cm_store *store, const char *id, cm_network *network, cm_error *error);

/* The network of these bytes that has the owner's visibility, and for private ones the owner: the same bytes are stored
 * once for those who see the same, and whether others have them too shows nowhere. CM_NOT_FOUND. */
cm_status cm_networks_known(cm_store *store, const char *sha256, const cm_owner *owner, cm_network *network,
                            cm_error *error);

/* An id for a network of these bytes and this visibility. */
void cm_networks_id(const char *sha256, const cm_owner *owner, char id[CM_SHA_MAX]);

/* Moves the finished topology file `scratch` (on the same file system) into place and adds the row, durably.
 * *known: it was there already (as cm_networks_known finds it), and `scratch` has been removed. */
cm_status cm_networks_publish(cm_store *store, const cm_network *network, const char *scratch, bool *known,
                              cm_error *error);

/* Who uploads bytes that are there already owns the network too, beside whoever was first; it counts in the quotas of each.
 * CM_QUOTA_USED. */
cm_status cm_networks_join(cm_store *store, const char *id, const char *user, cm_error *error);
