/* Between the server and the bridge to Slurm, and between the bridge and its runs on nodes: what is told on the bridge's socket
 * (SOCK_SEQPACKET: a message is whole or not there), and what stands in the shared folder.
 *
 *   TOKEN.job/            a job folder (docs/how-to/executors.md); TOKEN is the job's name for everybody, never Slurm's number
 *   TOKEN.job/run.N/      made by the run that makes attempt N, once; its `beat` is written anew every few seconds, and `end` last
 *   TOKEN.job/stop        the run is to stop
 *   probes/NODE           the SHA-256 of the program on a node, by a run whose attempt is 0
 *   lists/NAME            what a submission has: a line "TOKEN ATTEMPT" for each of its runs; NAME is its name in Slurm, of its own
 */
#pragma once

#include <stdint.h>

enum { CM_SLURM_TOKEN_MAX = 24, CM_SLURM_TEXT_MAX = 240, CM_SLURM_BEAT_S = 5 };
enum { CM_SLURM_SEEN_S = 90 }; /* by then all see what one has made: names may be old for a minute on NFS */

#define CM_SLURM_BEAT "beat"
#define CM_SLURM_END "end"
#define CM_SLURM_STOP "stop"

typedef enum cm_slurm_what {
  CM_SLURM_SUBMIT, /* a run of a job; a second one of an attempt ends at once */
  CM_SLURM_LOOK,   /* what Slurm knows of it */
  CM_SLURM_CANCEL, /* nobody waits for it any more */
} cm_slurm_what;

typedef struct cm_slurm_ask {
  int32_t what;
  uint32_t slot;                   /* comes back with the answer */
  int32_t attempt;
  uint32_t threads, mebibytes, minutes;
  char token[CM_SLURM_TOKEN_MAX];
  char user[64];                   /* for the cluster's accounts */
} cm_slurm_ask;

typedef enum cm_slurm_state {
  CM_SLURM_UNKNOWN,     /* Slurm knows nothing of it */
  CM_SLURM_TAKEN,       /* it has been submitted */
  CM_SLURM_PENDING,
  CM_SLURM_RUNNING,
  CM_SLURM_ENDED,       /* text: in which of Slurm's states */
  CM_SLURM_UNREACHABLE, /* text: why nothing can be said or submitted just now */
} cm_slurm_state;

typedef struct cm_slurm_told {
  uint32_t slot;
  int32_t state;
  char token[CM_SLURM_TOKEN_MAX];
  char text[CM_SLURM_TEXT_MAX]; /* why it waits, where it runs, how it ended */
} cm_slurm_told;

/* What the bridge says first. */
typedef struct cm_slurm_hello {
  char program[65]; /* SHA-256 */
} cm_slurm_hello;

/* The whole of `coremapd slurm-bridge` and of `coremapd --node SCRIPT LIST`, which Slurm starts on a node. */
struct cm_config;
int cm_slurm_bridge_run(const struct cm_config *config);
int cm_slurm_node_main(const char *list);
