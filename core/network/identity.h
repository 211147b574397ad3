/* Who is who in two versions of a network: by names where it has them, else by what can be seen of a neuron. */
#pragma once

#include "base/run.h"
#include "core/network/demand.h"

#define CM_NOBODY UINT32_MAX
/* Keys have so many bits: JSON readers keep integers up to 2^53. */
enum { CM_KEY_BITS = 52 };

/* Fills key [vertex_count]: a hash of each neuron's name; without names what can be seen of it whatever the numbering:
 * a hash of its size and its axons' rates, and how many targets and sources it has. O(pins). */
cm_status cm_identify(const cm_demand *demand, cm_run *run, uint64_t *key, cm_error *error);

/* The keys of two versions of a network. */
typedef struct cm_versions {
  const uint64_t *old_key, *key;
  uint32_t old_count, count;
} cm_versions;

/* Fills old_of [count] with the old neuron that each is, CM_NOBODY where it is new; no old one twice. By names: equal keys,
 * the first of several with the first. Else: where both versions have as many neurons, the same number; else the two sequences
 * of keys are laid side by side, over inserted and deleted runs of up to a few thousand neurons, unless numbers agree more
 * often. O((old_count + count) log) by names; else O(old_count + count) times the length of the runs. */
cm_status cm_match_neurons(const cm_versions *versions, bool named, cm_run *run, uint32_t *old_of, cm_error *error);
