/* What kinds of jobs there are, as a table (library/private/job_kinds.def) for all who take, keep, run and show them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* What a job is about. */
typedef enum library_job_input {
  LIBRARY_INPUT_NETWORK, /* an uploaded network of neurons */
  LIBRARY_INPUT_MODEL,   /* an uploaded ONNX model */
  LIBRARY_INPUT_NONE,    /* nothing that is kept: its options say all */
  LIBRARY_INPUT_MAPPING, /* a mapping, whose network and chip are the job's */
} library_job_input;

/* What it leaves behind beside its report. */
typedef enum library_job_result { LIBRARY_RESULT_NONE, LIBRARY_RESULT_MAPPING, LIBRARY_RESULT_PROGRAM } library_job_result;

enum { LIBRARY_LIKENESS_MAX = 4 };

typedef struct library_job_kind {
  const char *name; /* NULL: of no kind that there is */
  library_job_input input;
  library_job_result result;
  const char *upload;  /* the option that may be {"upload": ID}; NULL: none may */
  const char *mapping; /* the option that names a mapping which the job reads; NULL: none does */
  bool chip;           /* it cannot do without one that is named */
  bool leases;         /* who has the right to reserve may ask for the cores of its result */
  bool shared;         /* equal jobs have one result */
  bool outside;        /* never in the server's own process: it takes apart what may be hostile */
  struct {
    const char *option, *normal; /* and what stands for it where it is not given */
  } likeness[LIBRARY_LIKENESS_MAX + 1]; /* options that say how long a job takes */
} library_job_kind;

/* The kinds, in the order of the table; NULL: there are no more. */
const library_job_kind *library_job_kind_at(size_t number);

/* The kind of this name; one without a name and with nothing set when there is none. */
const library_job_kind *library_job_kind_of(const char *name);

/* Names of all of them for a sentence: "map", "compile" and "simulate", in quotes; cut to `size`. Returns `names`. */
const char *library_job_kind_names(char *names, size_t size);

/* Seconds that a job takes, before anything is known of its like, by the words of its likeness (kind and, first, a preset) and the neurons and
 * synapses, or a model's bytes: of mappings within a factor of four, of other kinds no more than a number to begin with. O(presets). */
double library_job_guess(const char *likeness, double size);
