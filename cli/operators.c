/* coremap show operators: the table of operators as docs/operators.md has it. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "core/operators/operator.h"

static const char *cut_text(cm_split_kind kind)
{
  static const char *const texts[] = {
      [CM_SPLIT_WHOLE] = "not cut",
      [CM_SPLIT_POINTWISE] = "any axis",
      [CM_SPLIT_CONVOLUTION] = "frames, filters, image",
      [CM_SPLIT_TRANSPOSED] = "frames, filters, image",
      [CM_SPLIT_POOL] = "any axis",
      [CM_SPLIT_CHANNELWISE] = "frames, channels",
      [CM_SPLIT_FRAMEWISE] = "frames",
      [CM_SPLIT_CHANNEL_NORM] = "any axis",
      [CM_SPLIT_LAYER_NORM] = "axes before `axis`",
      [CM_SPLIT_LRN] = "all but channels",
      [CM_SPLIT_SOFTMAX] = "all but `axis`",
      [CM_SPLIT_REDUCE] = "axes that stay",
      [CM_SPLIT_MATMUL] = "batches, rows, columns",
      [CM_SPLIT_GEMM] = "rows, columns",
      [CM_SPLIT_TRANSPOSE] = "any axis",
      [CM_SPLIT_GATHER] = "any axis",
      [CM_SPLIT_RESIZE] = "any axis",
      [CM_SPLIT_UNPOOL] = "any axis",
      [CM_SPLIT_DFT] = "all but the signal",
      [CM_SPLIT_STFT] = "signals, frames",
      [CM_SPLIT_DEFORM] = "frames, filters, image",
      [CM_SPLIT_AFFINE_GRID] = "frames",
      [CM_SPLIT_COLUMNS] = "frames, channels",
      [CM_SPLIT_EXPAND] = "any axis",
      [CM_SPLIT_UNTOUCHED] = "axes that keep their extent",
      [CM_SPLIT_QUANTIZE] = "any axis; blocks whole",
      [CM_SPLIT_LINES] = "all but `axis`",
      [CM_SPLIT_GATHER_ELEMENTS] = "all but `axis`",
      [CM_SPLIT_SCATTER_ELEMENTS] = "all but `axis`",
      [CM_SPLIT_GATHER_ND] = "any axis",
      [CM_SPLIT_SCATTER_ND] = "axes that come along",
      [CM_SPLIT_ONE_HOT] = "all but `axis`",
      [CM_SPLIT_REVERSE_SEQUENCE] = "all but `time_axis`",
      [CM_SPLIT_MATRICES] = "all but the matrices",
      [CM_SPLIT_STATISTICS] = "all but `axes`",
      [CM_SPLIT_EINSUM] = "any axis",
      [CM_SPLIT_GRID_SAMPLE] = "any axis",
      [CM_SPLIT_REGIONS] = "regions, channels",
      [CM_SPLIT_DEPTH_TO_SPACE] = "frames, image by blocks",
      [CM_SPLIT_SPACE_TO_DEPTH] = "frames, image",
  };
  return texts[kind];
}

/* One group of types, when all of it is in the set; it is taken out then. */
static void print_group(uint32_t *types, uint32_t group, const char *name, const char **separator)
{
  if ((*types & group) != group)
    return;
  printf("%s%s", *separator, name);
  *separator = ", ";
  *types &= ~group;
}

static void print_types(uint32_t types, unsigned flags)
{
#define BIT(type) (UINT32_C(1) << (type))
  const char *separator = "";
  uint32_t signed_ones = BIT(CM_INT8) | BIT(CM_INT16) | BIT(CM_INT32) | BIT(CM_INT64),
           unsigned_ones = BIT(CM_UINT8) | BIT(CM_UINT16) | BIT(CM_UINT32) | BIT(CM_UINT64),
           complex = BIT(CM_COMPLEX64) | BIT(CM_COMPLEX128), all = ~(BIT(CM_TYPE_NONE) | BIT(CM_STRING));
  print_group(&types, all, "any", &separator);
  print_group(&types, all & ~complex, "any but complex", &separator);
  if (separator[0] != '\0')
    return;
  if ((flags & CM_OPERATOR_PROMOTES) != 0 && (types & BIT(CM_FLOAT)) != 0)
    types |= BIT(CM_FLOAT16) | BIT(CM_BFLOAT16);
  print_group(&types, BIT(CM_FLOAT16) | BIT(CM_BFLOAT16) | BIT(CM_FLOAT) | BIT(CM_DOUBLE), "floats", &separator);
  print_group(&types, signed_ones | unsigned_ones, "integers", &separator);
  print_group(&types, signed_ones, "signed integers", &separator);
  print_group(&types, unsigned_ones, "unsigned integers", &separator);
  for (int t = 1; t < CM_TYPE_COUNT; t++)
    print_group(&types, BIT(t), cm_type_name((cm_type)t), &separator);
#undef BIT
}

static void print_row(const cm_operator *o)
{
  printf("| %s | %d", o->name, o->since);
  if (o->until < 99)
    printf(" to %d", o->until);
  else
    printf(" on");
  printf(" | ");
  print_types(o->types[0], o->flags);
  if (memcmp(&o->types[0], &o->types[1], sizeof o->types[0]) != 0) {
    printf("; second: ");
    print_types(o->types[1], o->flags);
  }
  printf(" | %s | %s |\n", cut_text(o->split), o->cross != NULL ? "yes" : "no");
}

void cli_show_operators(void)
{
  puts("| operator | opsets | types of its inputs | cut along | permutations pass |");
  puts("| --- | --- | --- | --- | --- |");
  for (const cm_operator *o = cm_operator_table(); o->name != NULL; o++)
    print_row(o);
}
