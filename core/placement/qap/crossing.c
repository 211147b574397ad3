#include "core/placement/qap/crossing.h"


void cm_qap_align(const cm_symmetries *symmetries, uint32_t count, const uint32_t *first, const uint32_t *second,
                  uint32_t *turned)
{
  uint32_t most = 0, best = 0;
  for (uint32_t k = 0; k < symmetries->count; k++) {
    const uint32_t *to = symmetries->to[k];
    uint32_t same = 0;
    for (uint32_t c = 0; c < count; c++)
      same += second[c] == first[to[c]];
    if (same > most) {
      most = same;
      best = k;
    }
  }
  for (uint32_t c = 0; c < count; c++)
    turned[symmetries->to[best][c]] = second[c];
}

void cm_qap_cross(uint32_t count, const uint32_t *first, const uint32_t *second, cm_random *random, uint32_t *order,
                  uint32_t *child)
{
  uint32_t left = 0;
  uint8_t taken[CM_QAP_CORES_MAX] = {0};
  for (uint32_t c = 0; c < count; c++) {
    child[c] = first[c] == second[c] ? first[c] : UINT32_MAX;
    if (child[c] != UINT32_MAX)
      taken[child[c]] = 1;
  }
  cm_random_permutation(random, order, count);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t c = order[i];
    if (child[c] != UINT32_MAX)
      continue;
    bool swapped = cm_random_next(random) & 1;
    uint32_t one = swapped ? second[c] : first[c], other = swapped ? first[c] : second[c];
    if (taken[one])
      one = other;
    if (!taken[one]) {
      child[c] = one;
      taken[one] = 1;
    }
  }
  cm_random_permutation(random, order, count);
  for (uint32_t c = 0; c < count; c++) {
    if (child[c] != UINT32_MAX)
      continue;
    while (taken[order[left]])
      left++;
    child[c] = order[left];
    taken[order[left]] = 1;
  }
}
