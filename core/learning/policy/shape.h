/* What a policy is: its kind, its layers, its parameters. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { CM_POLICY_LAYERS_MAX = 8, CM_POLICY_WIDTH_MAX = 512 };

/* What a policy is. A letter's number is that of its axes. */
typedef enum cm_policy_kind {
  CM_KIND_LAYOUT,       /* it is shown a layout and corrects it */
  CM_KIND_LETTER,       /* the source's letter (core/learning/letter): a Gaussian over the physical nodes in order */
  CM_KIND_LETTER_PLANE, /* one over their columns and one over their rows */
  CM_KIND_PILOT,        /* it flies local search (core/learning/pilot) */
  CM_KINDS
} cm_policy_kind;

typedef struct cm_policy_shape {
  uint32_t inputs;  /* of a row (policy.h) */
  uint32_t layers;  /* graph convolutions */
  uint32_t width;   /* of each */
  uint32_t readout; /* width of the readout */
  uint32_t kind;    /* cm_policy_kind */
} cm_policy_shape;

typedef struct cm_policy {
  cm_policy_shape shape;
  float bound;      /* means lie in -bound .. bound */
  size_t count;     /* of parameters */
  float *parameter; /* [count] */
  char *card;       /* JSON: what it was trained on, and how; never NULL */
} cm_policy;
