/* Floating point of 16, 8 and 4 bits. One decoder and one encoder serve all: a type is its widths and what its highest
 * codes mean. Sources: IEEE 754 (binary16); OCP 8-bit and MX specifications; the FNUZ variants of Noune et al. 2022. */
#include <math.h>

#include "core/operators/tensor.h"

typedef enum specials {
  IEEE,      /* the highest exponent is infinity and NaN */
  FINITE,    /* no infinity; all ones is NaN */
  UNSIGNED_ZERO, /* no infinity; the code of minus zero is NaN */
  NONE,      /* numbers only */
} specials;

typedef struct layout {
  int exponent_bits, mantissa_bits, bias;
  specials special;
} layout;

static layout layout_of(cm_type type)
{
  switch ((int)type) {
  case CM_FLOAT16: return (layout){5, 10, 15, IEEE};
  case CM_BFLOAT16: return (layout){8, 7, 127, IEEE};
  case CM_FLOAT8E4M3FN: return (layout){4, 3, 7, FINITE};
  case CM_FLOAT8E4M3FNUZ: return (layout){4, 3, 8, UNSIGNED_ZERO};
  case CM_FLOAT8E5M2: return (layout){5, 2, 15, IEEE};
  case CM_FLOAT8E5M2FNUZ: return (layout){5, 2, 16, UNSIGNED_ZERO};
  default: return (layout){2, 1, 1, NONE};
  }
}

static uint32_t nan_code(layout l)
{
  uint32_t sign = 1U << (l.exponent_bits + l.mantissa_bits);
  if (l.special == UNSIGNED_ZERO)
    return sign;
  return l.special == IEEE ? (sign - 1) & ~((1U << (l.mantissa_bits - 1)) - 1) : sign - 1;
}

static uint32_t infinity_code(layout l)
{
  return ((1U << l.exponent_bits) - 1) << l.mantissa_bits;
}

/* The code of the largest finite number. */
static uint32_t largest_code(layout l)
{
  uint32_t all = (1U << (l.exponent_bits + l.mantissa_bits)) - 1;
  return l.special == IEEE ? infinity_code(l) - 1 : l.special == FINITE ? all - 1 : all;
}

float cm_narrow_decode(cm_type type, uint32_t bits)
{
  if (type == CM_FLOAT8E8M0)
    return bits == 255 ? NAN : (float)ldexp(1, (int)bits - 127);
  layout l = layout_of(type);
  uint32_t sign = bits >> (l.exponent_bits + l.mantissa_bits) & 1,
           magnitude = bits & ((1U << (l.exponent_bits + l.mantissa_bits)) - 1);
  if (l.special == IEEE && magnitude >= infinity_code(l))
    return magnitude > infinity_code(l) ? NAN : sign ? -INFINITY : INFINITY;
  if ((l.special == FINITE && magnitude == nan_code(l)) || (l.special == UNSIGNED_ZERO && sign && magnitude == 0))
    return NAN;
  int exponent = (int)(magnitude >> l.mantissa_bits);
  double mantissa = magnitude & ((1U << l.mantissa_bits) - 1);
  if (exponent == 0)
    exponent = 1;
  else
    mantissa += 1U << l.mantissa_bits;
  double value = ldexp(mantissa, exponent - l.bias - l.mantissa_bits);
  return (float)(sign ? -value : value);
}

/* Powers of two: the code nearest above half way, as ONNX's default round mode "up" asks. */
static uint32_t encode_power(float value)
{
  if (isnan(value) || value < 0)
    return 255;
  if (value == 0)
    return 0;
  if (isinf(value))
    return 254;
  int exponent;
  double fraction = frexp((double)value, &exponent); /* in [0.5, 1) */
  exponent += fraction > 0.5 ? 0 : -1;
  return exponent + 127 < 0 ? 0 : exponent + 127 > 254 ? 254 : (uint32_t)(exponent + 127);
}

uint32_t cm_narrow_encode(cm_type type, float value, bool saturate)
{
  if (type == CM_FLOAT8E8M0)
    return encode_power(value);
  layout l = layout_of(type);
  uint32_t sign_bit = 1U << (l.exponent_bits + l.mantissa_bits), sign = signbit(value) ? sign_bit : 0;
  if (isnan(value))
    /* Where there is no NaN it becomes minus zero, as the reference implementation has it. */
    return l.special == NONE || l.special == UNSIGNED_ZERO ? sign_bit : sign | nan_code(l);
  uint32_t code;
  double magnitude = fabs((double)value), largest = (double)fabsf(cm_narrow_decode(type, largest_code(l)));
  if (isinf(value))
    code = largest_code(l) + 1;
  else {
    int exponent;
    (void)frexp(magnitude, &exponent);
    exponent -= 1;
    if (exponent < 1 - l.bias)
      exponent = 1 - l.bias;
    double units = nearbyint(ldexp(magnitude, l.mantissa_bits - exponent));
    double rounded = ldexp(units, exponent - l.mantissa_bits);
    if (rounded > largest)
      code = largest_code(l) + 1;
    else if (rounded < ldexp(1, 1 - l.bias))
      code = (uint32_t)units;
    else {
      (void)frexp(rounded, &exponent);
      exponent -= 1;
      code = (uint32_t)(ldexp(rounded, l.mantissa_bits - exponent)) - (1U << l.mantissa_bits) +
             ((uint32_t)(exponent + l.bias) << l.mantissa_bits);
    }
  }
  if (code > largest_code(l)) {
    if (saturate || l.special == NONE)
      code = largest_code(l);
    else if (l.special == IEEE)
      code = infinity_code(l);
    else
      return l.special == UNSIGNED_ZERO ? sign_bit : sign | nan_code(l);
  }
  return l.special == UNSIGNED_ZERO && code == 0 ? 0 : sign | code;
}
