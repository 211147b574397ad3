/* Between the two sides of the fork server: what is told on its sockets (SOCK_SEQPACKET: a message is whole or not there). */
#pragma once

#include "base/file.h"

/* In the data folder: where a fork server is found by the next server. */
#define CM_FORK_SOCKET "coremapd.children"

/* What the server asks. */
typedef enum cm_fork_what {
  CM_FORK_KEEP,   /* of a data folder: be found there, and outlive the server for so many seconds while jobs run that may last */
  CM_FORK_BEGIN,  /* of a job folder: make an attempt in a child */
  CM_FORK_ADOPT,  /* of one: tell the new wire of the attempt from now on */
  CM_FORK_SETTLE, /* end what nobody has adopted */
  CM_FORK_END,    /* end, and all children with you */
} cm_fork_what;

typedef struct cm_fork_ask {
  int32_t what, attempt, lasting; /* lasting: it outlives the server */
  uint32_t seconds;
  char folder[CM_PATH_MAX]; /* sent as far as it is used */
} cm_fork_ask;

/* The descriptors that come with a job: its output to write and, for those who adopt it, to read; where it writes errors; and the
 * job's own socket, its wire, which alone comes with ADOPT. */
enum { CM_FORK_OUTPUT, CM_FORK_HEARD, CM_FORK_ERRORS, CM_FORK_WIRE, CM_FORK_PASSED };

/* What is told on a wire: first whether there is a child (ADOPT: with its output to read), then how it ended. */
typedef struct cm_fork_told {
  int32_t failed; /* errno, 0 */
  int32_t pid;    /* the child's */
  int32_t status; /* wait status */
  double cpu_seconds;
} cm_fork_told;

/* The server tells the number of a signal, or that nobody asks for the job any more: ended or not, it is to go. */
enum { CM_FORK_FORGET = 0 };

/* What a server hears first that has found a fork server. */
typedef struct cm_fork_hello {
  char program[65]; /* SHA-256 */
} cm_fork_hello;

/* A message with descriptors, CM_FORK_PASSED at most: errno, 0. */
int cm_fork_send(int to, const void *message, size_t size, const int *passed, size_t count);

/* The bytes that came, 0 at the end, -1 with errno; `passed` [count] are -1 where none came. */
ssize_t cm_fork_receive(int from, void *message, size_t size, int *passed, size_t count, int flags);

/* As much of a question as is sent. */
size_t cm_fork_ask_size(const cm_fork_ask *ask);

/* A socket's address in a folder, however long its path: by a descriptor of it, which the caller closes after use. errno, 0. */
struct sockaddr_un;
int cm_fork_place(const char *data, int *folder, struct sockaddr_un *place);
