#include "core/learning/policy/features.h"

void cm_features_count(const cm_flows *flows, const cm_multicast *multicast, double *feature)
{
  memset(feature, 0, (size_t)flows->parts * CM_FEATURES * sizeof *feature);
  for (uint32_t v = 0; v < flows->parts; v++) {
    double *from = feature + (size_t)v * CM_FEATURES;
    if (multicast != NULL)
      from[CM_FEATURE_MULTICAST] = multicast->first[v + 1] > multicast->first[v];
    for (uint64_t i = flows->first[v]; i < flows->first[v + 1]; i++) {
      double *to = feature + (size_t)flows->target[i] * CM_FEATURES;
      from[CM_FEATURE_OUTPUT_CHANNELS]++;
      from[CM_FEATURE_OUTPUT_WEIGHT] += (double)flows->weight[i];
      to[CM_FEATURE_INPUT_CHANNELS]++;
      to[CM_FEATURE_INPUT_WEIGHT] += (double)flows->weight[i];
    }
  }
  for (uint32_t v = 0; v < flows->parts; v++) {
    double *of = feature + (size_t)v * CM_FEATURES;
    of[CM_FEATURE_CHANNELS] = of[CM_FEATURE_INPUT_CHANNELS] + of[CM_FEATURE_OUTPUT_CHANNELS];
    of[CM_FEATURE_WEIGHT] = of[CM_FEATURE_INPUT_WEIGHT] + of[CM_FEATURE_OUTPUT_WEIGHT];
  }
}

void cm_features_normalise(const double *feature, uint32_t nodes, float *normal)
{
  for (uint32_t f = 0; f < CM_FEATURES && nodes > 0; f++) {
    double least = feature[f], most = feature[f];
    for (uint32_t v = 1; v < nodes; v++) {
      double value = feature[(size_t)v * CM_FEATURES + f];
      least = value < least ? value : least;
      most = value > most ? value : most;
    }
    for (uint32_t v = 0; v < nodes; v++)
      normal[(size_t)v * CM_FEATURES + f] =
        most > least ? (float)((feature[(size_t)v * CM_FEATURES + f] - least) / (most - least)) : 0;
  }
}
