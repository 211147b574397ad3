/* What a policy is told of each logical node (source 1, step s100). */
#pragma once

#include "core/learning/multicast.h"
#include "core/partition/flows.h"

/* The seed's seven, in its order. */
enum cm_feature {
  CM_FEATURE_MULTICAST,       /* 1: a multicast node */
  CM_FEATURE_INPUT_CHANNELS,  /* nodes that it hears */
  CM_FEATURE_OUTPUT_CHANNELS, /* nodes that it talks to */
  CM_FEATURE_CHANNELS,        /* both together */
  CM_FEATURE_INPUT_WEIGHT,    /* what it hears, sum of absolute weights */
  CM_FEATURE_OUTPUT_WEIGHT,   /* what it says */
  CM_FEATURE_WEIGHT,          /* both together: the interaction weight, which is a node's priority too */
  CM_FEATURES
};

/* The seven as they are, feature [nodes * CM_FEATURES]. multicast NULL: nobody is a multicast node. O(flows). */
void cm_features_count(const cm_flows *flows, const cm_multicast *multicast, double *feature);

/* Min-max normalised to 0..1 feature by feature; 0 where all nodes are alike. normal [nodes * CM_FEATURES]. O(nodes). */
void cm_features_normalise(const double *feature, uint32_t nodes, float *normal);
