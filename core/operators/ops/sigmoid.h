/* The logistic function of float32 by sums and products alone: the same to the last bit wherever it runs, evaluated here or in the C that is
 * written of programs, and a loop with it becomes vectors. */
#pragma once

#include <stdint.h>
#include <string.h>

/* == sigmoid */
static inline float number_of(uint32_t bits)
{
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static inline uint32_t bits_of(float x)
{
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* e to the x within 0.98 of its last bit: 2^n e^r with n whole; 0 or infinity where |x| is above 104 (bounded as an integer, for else
 * compilers make no vectors), NaN of NaN. Polynomial of Cephes' expf. */
static inline float exponential(float x)
{
  const uint32_t size = bits_of(x) & 0x7FFFFFFFU, nan = 0U - ((0x7F800000U - size) >> 31);
  const int32_t most = 0x42D00000, near = (int32_t)size < most ? (int32_t)size : most;
  const float in = number_of((uint32_t)near | (bits_of(x) & 0x80000000U) | nan);
  const float shifted = in * 1.44269504F + 12582912.0F, n = shifted - 12582912.0F;
  const float r = in - n * 0.693359375F + n * 2.12194440e-4F;
  const float high = (1.9875691500e-4F * r + 1.3981999507e-3F) * r + 8.3334519073e-3F;
  const float sum = (((high * r + 4.1665795894e-2F) * r + 1.6666665459e-1F) * r + 5.0000001201e-1F) * (r * r) + r + 1.0F;
  const uint32_t power = bits_of(shifted) - 0x4B400000U + 254U; /* n, and the bias of either half */
  return sum * number_of(power / 2 << 23) * number_of((power - power / 2) << 23);
}

/* Within 2.4 of its last bit. */
static inline float sigmoid(float x)
{
  return 1.0F / (1.0F + exponential(-x));
}
