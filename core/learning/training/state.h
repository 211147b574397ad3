/* The state of a training; inside this room only. */
#pragma once

#include "core/learning/policy/checksummed_file.h"
#include "core/learning/training/adam.h"
#include "core/learning/training/episode.h"

enum { CM_EPISODES_MAX = 4096 };

/* What is known of an example before training. */
typedef struct cm_sight {
  uint32_t *start[CM_LAYOUTS]; /* [nodes] each */
  double sequential;           /* loss of node i on site i */
  double sequential_hops, start_hops; /* the better start's */
  double hops[CM_LAYOUTS];
} cm_sight;

struct cm_training {
  cm_policy *policy;
  cm_example *const *example;
  uint32_t count;
  cm_train_options options;
  cm_run *run;
  unsigned char fingerprint[CM_CHECKSUM_BYTES]; /* of options and examples */
  cm_sight *sight;                             /* [count] */
  uint32_t *learnt, learnt_count;           /* examples that are trained on, in their order */
  uint32_t *watched, watched_count;         /* those held out */
  cm_adam adam;
  uint64_t episodes;                        /* played so far */
  cm_curve_point *curve;                    /* [options.updates] */
  uint32_t updates;                         /* done */
  cm_episode *collected;                    /* [CM_EPISODES_MAX] since the last update */
  uint32_t collected_count;
};

static inline bool cm_training_of_letter(const cm_training *t)
{
  return t->policy->shape.kind == CM_KIND_LETTER || t->policy->shape.kind == CM_KIND_LETTER_PLANE;
}

/* Fills t->fingerprint: what a checkpoint must agree with. */
void cm_training_fingerprint(cm_training *t);

/* Fills t->sight[index]; context is the training (cm_parallel). */
cm_status cm_training_see(void *context, size_t index, cm_error *error);

/* Tries the policy on the examples that are held out: fills held_out and start of the point. */
cm_status cm_training_watch(cm_training *t, cm_curve_point *point, cm_error *error);
