/* Status codes and the error slot that every fallible function fills.
 *
 * A fallible function returns a cm_status and takes a `cm_error *` as its last
 * parameter; on failure it fills the slot and leaves its outputs untouched.
 * The slot is never NULL. A library function never prints and never exits.
 */
#pragma once

/* What nearly all files need of the C library. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A parameter that a function has because a table wants it so. */
#define CM_UNUSED __attribute__((unused))

typedef enum cm_status {
  CM_OK = 0,
  CM_BAD_NETWORK,      /* a network file is unknown or damaged */
  CM_BAD_CHIP,         /* a chip file is damaged or has impossible numbers */
  CM_BAD_OCCUPANCY,    /* an occupancy file or change is damaged */
  CM_BAD_OPTION,       /* a job option is unknown or out of range */
  CM_BAD_MAPPING,      /* a mapping file is damaged or not of this network */
  CM_BAD_REQUEST,      /* an HTTP request or command line is malformed */
  CM_NEURON_TOO_LARGE, /* one neuron alone exceeds a core limit */
  CM_NO_ROOM,          /* more cores are needed than are free */
  CM_NO_ROUTE,         /* dead links cut a target off under the turn rule */
  CM_LIMIT_BROKEN,     /* the method found no mapping within the core limits */
  CM_TOO_LARGE,        /* an input exceeds a stated maximum */
  CM_MEMORY_LIMIT,     /* the job's memory limit is too small */
  CM_TIME_LIMIT,       /* the job's time limit ran out */
  CM_CANCELLED,        /* somebody asked to stop */
  CM_NOT_FOUND,        /* a named thing does not exist */
  CM_CONFLICT,         /* the state of a thing forbids the change */
  CM_QUOTA_USED,       /* somebody has used what he may */
  CM_DAMAGED,          /* something we stored does not match its checksum */
  CM_NO_MEMORY,        /* the machine has no memory left */
  CM_DISK_FULL,        /* the disk has no room left */
  CM_IO,               /* another input/output error */
  CM_INTERNAL,         /* a defect of this program */
} cm_status;

enum { CM_ERROR_FIGURES_MAX = 12, CM_ERROR_DETAIL_MAX = 1000 };

/* A named number that explains an error ("needed": 20, "free": 12). */
typedef struct cm_figure {
  const char *name; /* static string */
  uint64_t value;
} cm_figure;

typedef struct cm_error {
  cm_status status;
  char detail[CM_ERROR_DETAIL_MAX]; /* what, where, what would be right */
  char where[96];    /* the place: "byte 17", "line 3", "neuron 5", "/limits/neurons"; "" when none */
  const char *limit_name; /* the core limit in the way, as in chip files ("inbound_axons"); static, NULL: none */
  cm_figure figures[CM_ERROR_FIGURES_MAX];
  size_t figure_count;
  int cause;              /* the errno behind it, 0 when none is known */
} cm_error;

/* The stable code of a status, as problem replies carry it ("bad-network", "no-room"). */
const char *cm_status_code(cm_status status);

/* A short human title of a status ("The network file cannot be read"). */
const char *cm_status_title(cm_status status);

/* Fills `error` with `status` and the formatted detail, clears place and figures; returns `status`. */
cm_status cm_fail(cm_error *error, cm_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A text to be handed to a call at once, which may keep none of it: bad(cm_say("line %u is empty", line).text, error). What does not fit is cut off. */
typedef struct cm_phrase {
  char text[1024];
} cm_phrase;
cm_phrase cm_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Hands a failure on: returns what `call` returned where that is not CM_OK. For calls after which nothing is to be freed. */
#define CM_TRY(call)                   \
  do {                                 \
    CM_IS_STATUS(call);                \
    const cm_status cm_tried = (call); \
    if (cm_tried != CM_OK)             \
      return cm_tried;                 \
  } while (0)

/* The same after `undo`, which frees what was made before. */
#define CM_TRY_OR(call, undo)          \
  do {                                 \
    CM_IS_STATUS(call);                \
    const cm_status cm_tried = (call); \
    if (cm_tried != CM_OK) {           \
      undo;                            \
      return cm_tried;                 \
    }                                  \
  } while (0)

/* The same, of a call that is made where a condition holds. */
#define CM_TRY_IF(condition, call) \
  do {                             \
    if (condition)                 \
      CM_TRY(call);                \
  } while (0)

/* The next of several calls before something is freed: made where none before it failed. `status` is that of the first that did. */
#define CM_THEN(status, call) \
  do {                        \
    CM_IS_STATUS(call);       \
    if ((status) == CM_OK)    \
      (status) = (call);      \
  } while (0)

#define CM_THEN_IF(status, condition, call) \
  do {                                      \
    if ((status) == CM_OK && (condition))   \
      CM_THEN(status, call);                \
  } while (0)

/* The end of what makes something: returns `status`, a call or what calls came to, after `done` where it is CM_OK, else after `undone`. */
#define CM_END(status, done, undone)   \
  do {                                 \
    const cm_status cm_ended = (status); \
    if (cm_ended == CM_OK) {           \
      done;                            \
    } else {                           \
      undone;                          \
    }                                  \
    return cm_ended;                   \
  } while (0)

/* Does not compile for a condition, as of `a && call`, whose truth would pass for a status. */
#define CM_IS_STATUS(call) _Static_assert(_Generic((call), int: 0, default: 1), "a condition is no status")

/* Sets the place of a failure that cm_fail just described; returns error->status. */
cm_status cm_fail_at(cm_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds text to the detail of a failure that cm_fail just described; what does not fit is cut off. */
void cm_fail_more(cm_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds one named number, or changes it when it is there; silently drops it past CM_ERROR_FIGURES_MAX. `name` must be
 * a static string. */
void cm_error_figure(cm_error *error, const char *name, uint64_t value);

/* True when the same work may succeed later, because what failed is the machine just now: no memory, no room on the disk,
 * no descriptors, an I/O fault. False for faults that stay (a read-only disk, no permission) and for all that lies in the
 * work itself. */
bool cm_error_passes(const cm_error *error);

/* Fills `error` from errno, which it keeps as the cause: CM_DISK_FULL for ENOSPC/EDQUOT, CM_NO_MEMORY for ENOMEM, CM_NOT_FOUND for
 * ENOENT, else CM_IO; the detail reads "WHAT PATH: reason". */
cm_status cm_fail_errno(cm_error *error, int errnum, const char *what, const char *path);
