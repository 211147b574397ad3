/* The table of operators, made from the rows of operators.def. */
#include <string.h>

#include "core/operators/permute/cross.h"

/* Element types of inputs, as bits. Halves are not named where a row promotes: their kernels see float32. */
#define BIT(type) (UINT32_C(1) << (type))
#define FLOAT BIT(CM_FLOAT)
#define REAL (FLOAT | BIT(CM_DOUBLE))
#define INT8 BIT(CM_INT8)
#define UINT8 BIT(CM_UINT8)
#define INT16 BIT(CM_INT16)
#define INT32 BIT(CM_INT32)
#define INDEX (INT32 | BIT(CM_INT64))
#define SIGNED (INT8 | INT16 | INDEX)
#define UNSIGNED (UINT8 | BIT(CM_UINT16) | BIT(CM_UINT32) | BIT(CM_UINT64))
#define INTEGER (SIGNED | UNSIGNED)
#define NUMBER (INTEGER | REAL)
#define BOOLEAN BIT(CM_BOOL)
#define ANY_COMPLEX (BIT(CM_COMPLEX64) | BIT(CM_COMPLEX128))
#define ANY (UINT32_MAX & ~BIT(CM_TYPE_NONE) & ~BIT(CM_STRING)) /* whatever has elements of a fixed size */
#define ANY_REAL (ANY & ~ANY_COMPLEX)
/* Types of the first input, the second, and all others. */
#define EACH(first, second, others) {first, second, others}
#define ALL(types) {types, types, types}

/* How permutations pass: a rule with its rewrite, a rule that needs none, or not at all. */
#define REWRITTEN(rule) cm_cross_##rule, cm_rewrite_##rule
#define PLAIN(rule) cm_cross_##rule, NULL
#define WALL NULL, NULL

/* What is computed: all that the types allow, or what a check lets through. */
#define ANY_CALL NULL
#define CHECK(name) cm_check_##name

/* A row has all of its entries, or does not compile. */
#define ROW(op, since, until, needs, family, variant, crossing, split, work, runs, makes, types, flags, check) \
  {op, since, until, needs, cm_shape_##family, cm_kernel_##family, CM_VARIANT_##variant, crossing, CM_SPLIT_##split, \
   CM_WORK_##work, CM_RUNS_##runs, CM_MAKES_##makes, types, check, flags},

enum {
  PROMOTES = CM_OPERATOR_PROMOTES, RANDOM = CM_OPERATOR_RANDOM, EXPANDS = CM_OPERATOR_EXPANDS, SAME = CM_OPERATOR_SAME,
  ANY_SCALE = CM_OPERATOR_ANY_SCALE, OWN = CM_OPERATOR_OWN, LEARNED = CM_OPERATOR_LEARNED,
};

static const cm_operator table[] = {
#include "core/operators/operators.def"
    {0},
};

const cm_operator *cm_operator_table(void)
{
  return table;
}

const char *cm_operator_reason(const cm_node *node)
{
  static const struct {
    const char *prefix, *why;
  } reasons[] = {
      {"Random", "its numbers differ in every run"},
      {"Bernoulli", "its numbers differ in every run"},
      {"Multinomial", "its numbers differ in every run"},
      {"Sequence", "sequences have no size that is known before the model runs"},
      {"SplitToSequence", "sequences have no size that is known before the model runs"},
      {"ConcatFromSequence", "sequences have no size that is known before the model runs"},
      {"Optional", "optional values are not known before the model runs"},
      {"String", "text is not computed on a chip"},
      {"Regex", "text is not computed on a chip"},
      {"TfIdf", "text is not computed on a chip"},
  };
  for (size_t i = 0; node->domain[0] == '\0' && i < sizeof reasons / sizeof *reasons; i++)
    if (strncmp(node->op, reasons[i].prefix, strlen(reasons[i].prefix)) == 0)
      return reasons[i].why;
  return NULL;
}

const cm_operator *cm_operator_find(const char *domain, const char *name, int64_t opset)
{
  /* ONNX Runtime's own domain: what its optimiser writes. Gelu came to ONNX's domain later, FusedConv never did. */
  bool contributed = strcmp(domain, "com.microsoft") == 0, fused = strcmp(name, "FusedConv") == 0, own = strcmp(domain, CM_OWN_DOMAIN) == 0;
  const bool learned = strcmp(domain, CM_LEARNED_DOMAIN) == 0; /* its rows hold in every opset */
  if (own || learned ? false : contributed ? !fused && strcmp(name, "Gelu") != 0 : domain[0] != '\0' || fused)
    return NULL;
  if (contributed)
    opset = 20;
  for (const cm_operator *o = table; o->name != NULL; o++)
    if (opset >= o->since && opset <= o->until && own == ((o->flags & CM_OPERATOR_OWN) != 0) && learned == ((o->flags & CM_OPERATOR_LEARNED) != 0) && strcmp(o->name, name) == 0)
      return o;
  return NULL;
}
