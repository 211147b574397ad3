/* HDF5 files, as far as readers of networks need them: bounded, without plug-ins, without other files. libhdf5 is a known
 * crash surface for damaged files, so whoever reads strangers' files does it in a confined process (cm_import_apart). */
#pragma once

#include <hdf5.h>

#include "base/memory.h"
#include "base/run.h"
#include "base/status.h"
#include "core/network/formats/source.h"
#include "core/network/import_limits.h"

enum { CM_H5_RANK_MAX = 8, CM_H5_TEXT_MAX = 256, CM_H5_NAMES_MAX = 1 << 20 };

typedef struct cm_h5 {
  hid_t file;
  const char *format;  /* for messages: "NIR network" */
  cm_run *run;         /* between parts of large datasets, too */
  cm_memory *memory;
  uint64_t bytes_max;  /* of one dataset once unpacked */
  void *image;         /* NULL: read where it lies */
} cm_h5;

/* Opens the HDF5 file that a source holds. CM_BAD_NETWORK: it is none, or damaged. One file at a time in a process:
 * libhdf5 knows no threads, so a second caller waits. */
cm_status cm_h5_open(cm_h5 *h5, cm_source *source, const cm_import_limits *limits, cm_run *run, const char *format,
                     cm_error *error);
void cm_h5_close(cm_h5 *h5);

/* Starts a file in memory, to be closed as one that was opened; and its bytes so far, cm_free(*image). */
cm_status cm_h5_make(cm_h5 *h5, const char *format, cm_run *run, cm_error *error);
cm_status cm_h5_image(const cm_h5 *h5, void **image, size_t *size, cm_error *error);

/* CM_BAD_NETWORK with format, what and the place of `name` (may be NULL) in `parent`. */
cm_status cm_h5_bad(const cm_h5 *h5, hid_t parent, const char *name, const char *what, cm_error *error);

/* True when `parent` has a member of that name that lies in this file. */
bool cm_h5_has(hid_t parent, const char *name);

/* A group or dataset below `parent`; H5Oclose. CM_BAD_NETWORK: there is none. */
cm_status cm_h5_object(const cm_h5 *h5, hid_t parent, const char *name, hid_t *object, cm_error *error);

/* Texts, NUL-terminated one after another; cm_h5_texts_free. */
typedef struct cm_h5_texts {
  char *text;
  uint64_t *first; /* [count] */
  uint64_t count, text_room, first_room, used;
} cm_h5_texts;
void cm_h5_texts_free(cm_h5_texts *texts);
static inline const char *cm_h5_text_at(const cm_h5_texts *texts, uint64_t i)
{
  return texts->text + texts->first[i];
}

/* The names of a group's members, in natural order: 2 before 10. */
cm_status cm_h5_names(const cm_h5 *h5, hid_t group, cm_h5_texts *names, cm_error *error);

/* The shape of a dataset, and how many it holds. */
typedef struct cm_h5_extents {
  int rank;
  uint64_t dim[CM_H5_RANK_MAX], count;
} cm_h5_extents;
cm_status cm_h5_shape(const cm_h5 *h5, hid_t parent, const char *name, cm_h5_extents *is, cm_error *error);

/* All strings of a dataset, whatever its shape. */
cm_status cm_h5_strings(const cm_h5 *h5, hid_t parent, const char *name, cm_h5_texts *texts, cm_h5_extents *is, cm_error *error);

/* One string. CM_BAD_NETWORK when it is longer than fits. */
cm_status cm_h5_string(const cm_h5 *h5, hid_t parent, const char *name, char *text, size_t size, cm_error *error);

/* All numbers of a dataset as doubles; cm_free(*values). */
cm_status cm_h5_reals(const cm_h5 *h5, hid_t parent, const char *name, double **values, cm_h5_extents *is, cm_error *error);

/* `count` numbers from `begin` on of a dataset of one dimension, as `type` (H5T_NATIVE_UINT64, H5T_NATIVE_DOUBLE) into
 * `values`. */
cm_status cm_h5_slice(const cm_h5 *h5, hid_t parent, const char *name, hid_t type, uint64_t begin, uint64_t count,
                      void *values, cm_error *error);

/* A string attribute of `object`; "" when there is none. */
void cm_h5_attribute(hid_t object, const char *name, char *text, size_t size);
