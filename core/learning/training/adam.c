#include "core/learning/training/adam.h"

#include <math.h>

#include "base/wide.h"

cm_status cm_adam_new(size_t count, cm_memory *memory, cm_adam *adam, cm_error *error)
{
  *adam = (cm_adam){.count = count};
  CM_TRY(CM_NEW(memory, adam->moment, count, error));
  return CM_NEW(memory, adam->square, count, error);
}

void cm_adam_free(cm_adam *adam)
{
  CM_FREE(adam->moment, adam->square);
  *adam = (cm_adam){0};
}

/* Every number by itself: wider vectors change no bit. */
CM_WIDE static void move(cm_adam *adam, float rate, float cut, float shrink, const float *restrict gradient, float *restrict parameter)
{
  const float decay = 0.9F, square_decay = 0.999F, tiny = 1e-8F;
  float *restrict moment = adam->moment, *restrict square = adam->square;
  for (size_t i = 0; i < adam->count; i++) {
    float g = gradient[i] * cut;
    moment[i] = decay * moment[i] + (1 - decay) * g;
    square[i] = square_decay * square[i] + (1 - square_decay) * g * g;
    parameter[i] -= rate * moment[i] / (sqrtf(square[i]) * shrink + tiny);
  }
}

void cm_adam_step(cm_adam *adam, double rate, const float *gradient, float *parameter)
{
  double length = 0;
  for (size_t i = 0; i < adam->count; i++)
    length += (double)gradient[i] * (double)gradient[i];
  adam->steps++;
  double unbias = 1 - pow(0.9, (double)adam->steps), unbias_square = 1 - pow(0.999, (double)adam->steps);
  move(adam, (float)(rate / unbias), length > 1 ? (float)(1 / sqrt(length)) : 1, (float)(1 / sqrt(unbias_square)), gradient, parameter);
}
