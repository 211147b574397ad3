/* Deterministic random numbers: xoshiro256** (Blackman, Vigna 2018) seeded through splitmix64. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct cm_random {
  uint64_t state[4];
} cm_random;

/* Starts the stream that belongs to (seed, stream, substream): independent of thread and order of use. */
void cm_random_init(cm_random *random, uint64_t seed, uint64_t stream, uint64_t substream);

/* The next 64 random bits. */
uint64_t cm_random_next(cm_random *random);

/* Uniform in 0 .. bound-1 without bias (Lemire 2019); bound at least 1. */
uint64_t cm_random_below(cm_random *random, uint64_t bound);

/* Uniform in [0, 1) with 53 bits. */
double cm_random_unit(cm_random *random);

/* Fills value [count] with independent draws from the normal distribution of mean 0 and deviation 1 (Box and Muller
 * 1958). */
void cm_random_normals(cm_random *random, float *value, size_t count);

/* Number `index` of those that `key` stands for, uniform in [0, 1): for draws that must not depend on their order. */
double cm_random_unit_of(uint64_t key, uint64_t index);

/* Mixes the bits of x: what ends a step of splitmix64 (Steele, Lea, Flood 2014). A bijection. */
static inline uint64_t cm_mix(uint64_t x)
{
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

/* Fills `order` with a random permutation of 0 .. count-1 (Fisher-Yates). */
void cm_random_permutation(cm_random *random, uint32_t *order, uint32_t count);
