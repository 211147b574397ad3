/* The control page and the log of interpose.c. Harnesses in Python read and write both by these offsets. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

typedef enum interpose_kind {
  INTERPOSE_NOTHING,
  INTERPOSE_ALLOCATION, /* malloc, calloc, realloc, ...: ENOMEM */
  INTERPOSE_WRITE,      /* write, pwrite, ftruncate, ... on files: half of it, then `error` */
  INTERPOSE_SYNC,       /* fsync, fdatasync */
  INTERPOSE_OPEN,       /* open, openat */
  INTERPOSE_NAME,       /* rename, mkdir, link */
  INTERPOSE_MAP,        /* mmap: ENOMEM */
  INTERPOSE_THREAD,     /* pthread_create: EAGAIN */
} interpose_kind;

enum { INTERPOSE_PLACES = 16384, INTERPOSE_FRAMES = 16 };

typedef struct interpose_control {
  atomic_uint lock;    /* of the log */
  atomic_uint kind;    /* interpose_kind to fail; 0: none */
  atomic_uint error;   /* errno of a failed system call */
  atomic_uint fired;   /* calls that failed */
  atomic_ullong at;    /* the call to fail, from 1 */
  atomic_ullong every; /* and every so many after it; 0: only that one */
  atomic_ullong hits;  /* calls of the kind so far */
  atomic_llong live;   /* blocks allocated and not freed */
  atomic_ullong calls[8]; /* of each kind, whether one is to fail or not */
  atomic_uint gather;     /* interpose_kind of which is noted where its calls come from; 0: none */
  atomic_uint gathered;   /* how many places are noted in `first` */
  atomic_uint frames;     /* innermost ones that tell places apart; 0: INTERPOSE_FRAMES */
  atomic_int ahead;       /* seconds by which the wall clock is */
  atomic_ullong first[INTERPOSE_PLACES];  /* which call of its kind came from each place first, from 1 */
  atomic_ullong places[INTERPOSE_PLACES]; /* a number for each among zeros; where it is full, the rest is not noted */
} interpose_control;

enum {
  INTERPOSE_DID_CREATE = 1,
  INTERPOSE_DID_WRITE,
  INTERPOSE_DID_TRUNCATE,
  INTERPOSE_DID_SYNC_BEGIN, /* offset: 1 for fdatasync */
  INTERPOSE_DID_SYNC_END,
  INTERPOSE_DID_RENAME,
  INTERPOSE_DID_UNLINK, /* or rmdir */
  INTERPOSE_DID_FOLDER,
  INTERPOSE_DID_LINK,
};

/* One record of the log, followed by the path, the other path and the bytes written. */
typedef struct interpose_record {
  uint32_t bytes; /* of the whole record */
  uint32_t operation;
  uint64_t time;  /* CLOCK_MONOTONIC, nanoseconds, when it had been done */
  uint64_t file;  /* inode */
  uint64_t offset, size;
  uint32_t path_bytes, other_bytes;
} interpose_record;

/* What the environment does for a preloaded one: see interpose.c. */
interpose_control *interpose_start(const char *page, const char *log, const char *folder);
