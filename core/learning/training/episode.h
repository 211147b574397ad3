/* What an episode of training leaves behind; inside this room only. */
#pragma once

#include "core/learning/letter/seats.h"
#include "core/learning/training/train.h"

/* One look of a policy at an environment, the two placements that it drew (one mirrors the other around the means), and how
 * much better than their mean each of them did. */
typedef struct cm_look {
  const cm_environment *environment;
  float *input;        /* [2 nodes * CM_POLICY_INPUTS] */
  float *action[2];    /* [2 nodes] */
  float *mean, *log_deviation; /* [2 nodes] of the policy that drew them */
  float *advantage;    /* [nodes] of action[0]; action[1] has its negative */
  /* Of the letter instead: one processor, and several draws of places. */
  cm_letter_view view;
  cm_letter_places places;
  cm_letter_seats seats;
  uint32_t draws;
  uint32_t *drawn;     /* [draws * nodes * axes] */
  float *was;          /* [draws * nodes * axes] log of their probabilities then */
  float *worth;        /* [draws * nodes] */
} cm_look;

typedef struct cm_episode {
  uint32_t example;
  cm_look *look;       /* [looks] */
  uint32_t looks;
  double reward, gained;
} cm_episode;

/* What episodes are played of. */
typedef struct cm_play {
  const cm_policy *policy;
  const cm_example *example;
  uint32_t *const *start; /* at [CM_LAYOUTS] */
  double sequential;      /* loss of the sequential placement */
  const cm_train_options *options;
  cm_run *run;
} cm_play;

/* Plays episode number `number` of a training on an example: from one of its starts turned,
 * mirrored and shaken at random, `rounds` looks. */
cm_status cm_episode_play(const cm_play *play, uint64_t number, cm_episode *episode, cm_error *error);
void cm_episode_free(cm_episode *episode); /* harmless on a zeroed one */

/* The clipped objective of a look under a policy: adds to gradient [count] what descends. `pass` is scratch for its
 * environment. */
cm_status cm_look_descend(const cm_policy *policy, const cm_look *look, const cm_train_options *options,
                          cm_memory *memory, float *gradient, cm_error *error);

/* The same for a policy of the letter: options->draws placements in one time step. The loss of the
 * sequential placement is minus its reward; the episode's reward is the mean over draws of how many times smaller theirs is. */
cm_status cm_letter_play(const cm_play *play, uint64_t number, cm_episode *episode, cm_error *error);
cm_status cm_letter_descend(const cm_policy *policy, const cm_look *look, const cm_train_options *options,
                            cm_memory *memory, float *gradient, cm_error *error);

void cm_letter_look_free(cm_look *look);

/* Gaussians of a processor's nodes, borrowed: mean and deviation [nodes * axes], means in -bound .. bound. */
typedef struct cm_gaussians {
  const float *mean, *deviation;
  double bound;
} cm_gaussians;

/* Draws `count` placements of a look, its drawn and was from number `first` on. */
cm_status cm_look_draw(cm_look *look, const cm_gaussians *gaussians, uint32_t first, uint32_t count, cm_random *random,
                       cm_error *error);

/* PPO's clipped objective of a look, the sign turned, under other Gaussians than those that drew it: its derivatives by mean and
 * log(deviation), d_mean and d_deviation [nodes * axes]. O(nodes * axes * (places + draws)). */
void cm_look_slopes(const cm_look *look, const cm_gaussians *gaussians, const cm_train_options *options, float *d_mean,
                    float *d_deviation);

/* R of a placement, with the turns that XY routing forbids and the example's multicast trees. As cm_reward_compute. */
cm_status cm_letter_reward(const cm_example *example, const uint32_t *at, cm_run *run, double *reward, cm_error *error);

/* What a pilot flies in training. */
typedef struct cm_flight {
  const cm_environment *environment;
  const uint32_t *start; /* [nodes] */
  double hops, sequential; /* traffic at the start; of the sequential placement */
  double tries;            /* a node */
  uint64_t seed;
} cm_flight;

/* flight [options->batch] of a training flown by options->draws pairs of pilots, options->noise up and down from its policy. Fills
 * gradient [count], what descends, and of the point episodes (flights), reward (what the sequential placement costs over
 * what the pilot's does, geometric mean) and gained (share taken off the start). */
cm_status cm_pilot_descend(const cm_training *training, const cm_flight *flight, float *gradient, cm_curve_point *point, cm_error *error);

/* Sum over nodes of what a placement loses (cm_environment_losses), loss [nodes] by the way. */
double cm_environment_loss(const cm_environment *environment, const uint32_t *at, double *loss);
