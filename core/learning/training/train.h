/* Training a policy (source 1, steps s600 to s800): graph after graph from the training set; rewards add up,
 * and when the total reaches a threshold the policy is updated with PPO's clipped objective (Schulman et al. 2017) by
 * Adam (Kingma and Ba 2015). docs/explanation/learned-mapper.md says how the parts fit together. */
#pragma once

#include "core/learning/training/examples.h"

typedef struct cm_train_options {
  uint64_t seed;
  uint32_t updates;     /* of the policy, in all */
  double threshold;     /* the total of rewards at which it is updated */
  uint32_t rounds;      /* looks in an episode */
  double noise;         /* nodes start up to so many positions away from where the layout puts them, in half widths */
  uint32_t epochs;      /* passes over what was collected, an update */
  uint32_t batch;       /* looks that a step of Adam sees */
  double clip;          /* of the ratio of probabilities */
  double rate;          /* of Adam, falling to a tenth of it over the updates */
  double whole;         /* share of the whole placement's reward in a node's advantage */
  double own;           /* of the letter: share of what the node itself loses; the others have it at 1 */
  uint32_t draws;       /* of the letter: placements drawn in an episode, which is one time step */
  double entropy;       /* bonus on log(deviation) */
  uint32_t held_out;    /* every so many examples one is not trained on but watched; 0: none */
  uint32_t watch;       /* the held-out ones are tried every so many updates */
} cm_train_options;

/* What seems to suit most; what suits the letter; and a pilot, of whose options noise is that of its numbers, batch the graphs
 * and draws the pairs of flights a graph that an update sees. */
cm_train_options cm_train_defaults(void);
cm_train_options cm_train_letter_defaults(void);
cm_train_options cm_train_pilot_defaults(void);

/* One row of the learning curve. */
typedef struct cm_curve_point {
  uint32_t update;
  uint32_t episodes;  /* since the last update */
  double reward;      /* mean of an episode: what the sequential placement loses over what the policy's does */
  double gained;      /* mean share of the loss that the policy took off its start, per look */
  double held_out;    /* mean over held-out examples of log(hops of the policy / hops of the sequential placement),
                         as a ratio; 0: not tried at this update */
  double start;       /* the same for where the policy starts from; the letter's, which starts from nothing: at random */
} cm_curve_point;

typedef struct cm_training cm_training;

typedef struct cm_training_task {
  const cm_policy *policy;   /* copied */
  cm_example *const *example; /* [examples] borrowed */
  uint32_t examples;
} cm_training_task;

cm_status cm_training_new(const cm_training_task *task, const cm_train_options *options, cm_run *run, cm_training **training,
                          cm_error *error);
void cm_training_free(cm_training *training); /* NULL is allowed */

/* Trains until `until` updates are done (at most options->updates). Phase "train". The same for any number of threads,
 * and whether done in one go or in several with checkpoints between. */
cm_status cm_training_run(cm_training *training, uint32_t until, cm_error *error);

/* The policy as it stands (borrowed), and the curve so far. */
cm_policy *cm_training_policy(cm_training *training);
const cm_curve_point *cm_training_curve(const cm_training *training, uint32_t *count);

/* Checkpoints: all that a training knows beside its examples and options. A resumed one goes on to the very bits that
 * an uninterrupted one ends with. CM_DAMAGED; CM_CONFLICT when it is of other options or other examples. */
cm_status cm_training_save(const cm_training *training, const char *path, cm_error *error);
cm_status cm_training_resume(cm_training *training, const char *path, cm_error *error);

/* The learning curve as CSV, and as a picture. */
cm_status cm_curve_write_csv(const cm_curve_point *curve, uint32_t count, FILE *stream, cm_error *error);
cm_status cm_curve_write_svg(const cm_curve_point *curve, uint32_t count, FILE *stream, cm_error *error);
