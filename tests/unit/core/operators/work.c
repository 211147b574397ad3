/* Work of operators against operations counted by hand from what ONNX says that they compute: a multiplication with an addition, a
 * comparison or a function of one number is one. What is priced is within twice of that, either way. */
#include "tests/unit/graphs.h"

#include "core/operators/tiling/split.h"

enum { INPUTS = 8 };

/* Inputs apart by blanks: dims joined by x, "=" with integers for a list that is known, "." for a single number, "-" for one left
 * out. Attributes: name=integers, or name='text'. */
typedef struct counted {
  const char *op, *inputs, *attributes;
  double operations;
  int64_t opset; /* 0: 17 */
} counted;

static const counted table[] = {
  /* recurrent: steps x gates x hidden x (inputs + hidden); the second one has two directions */
  {"GRU", "50x1x256 1x768x256 1x768x256", "hidden_size=256", 50.0 * 768 * 512, 0},
  {"LSTM", "95x2x3 2x16x3 2x16x4", "hidden_size=4 direction='bidirectional'", 95.0 * 2 * 2 * 16 * 8, 0},
  {"RNN", "10x3x5 1x7x5 1x7x7", "hidden_size=7", 10.0 * 3 * 7 * 12, 0},
  /* of a step: functions, and products with states; clipping is free */
  {"LSTMCell", "2x4x16 2x16", "", 2.0 * 16 * (5 + 4), 0},
  {"GRUGates", "2x2x16 2x16", "", 2.0 * 16 * 3, 0},
  {"GRUCell", "2x16 2x16 2x16", "", 2.0 * 16 * (1 + 3), 0},
  {"RNNCell", "2x16", "", 2.0 * 16, 0},
  /* products: outputs x what each is summed over */
  {"MatMul", "2x8x16 16x32", "", 2.0 * 8 * 32 * 16, 0},
  {"Gemm", "16x8 32x16 32", "transA=1 transB=1", 8.0 * 32 * 16, 0},
  {"Conv", "1x8x10x10 16x4x3x3 16", "group=2 kernel_shape=3,3", 16.0 * 8 * 8 * 4 * 9, 0},
  {"FusedConv", "1x4x6x6 8x4x1x1", "kernel_shape=1,1", 8.0 * 36 * 4, 0},
  {"ConvTranspose", "1x4x5x5 4x6x2x2", "strides=2,2 kernel_shape=2,2", 4.0 * 25 * 6 * 4, 0},
  {"DeformConv", "1x4x8x8 6x4x3x3 1x18x6x6", "kernel_shape=3,3", 36.0 * 4 * 9 * (4 + 6), 19},
  {"Einsum", "5x6x7 5x7x8", "equation='bij,bjk->bik'", 5.0 * 6 * 7 * 8, 0},
  {"Einsum", "6x7 7x8 8", "equation='ij,jk,k->i'", 6.0 * 7 * 8 * 2, 0},
  {"ConvInteger", "1x4x6x6 8x4x3x3", "kernel_shape=3,3", 8.0 * 16 * 36, 0},
  {"QLinearConv", "1x4x6x6 . . 8x4x3x3 . . . .", "kernel_shape=3,3", 8.0 * 16 * 36, 0},
  {"MatMulInteger", "4x9 9x5", "", 4.0 * 9 * 5, 0},
  {"QLinearMatMul", "4x9 . . 9x5 . . . .", "", 4.0 * 9 * 5, 0},
  /* windows */
  {"MaxPool", "1x3x8x8", "kernel_shape=2,2 strides=2,2", 3.0 * 16 * 4, 0},
  {"AveragePool", "1x3x8x8", "kernel_shape=3,3", 3.0 * 36 * 9, 0},
  {"LpPool", "1x3x8x8", "kernel_shape=2,2", 3.0 * 49 * 4 * 2, 18},
  {"GlobalAveragePool", "1x3x8x8", "", 3.0 * 64, 0},
  {"GlobalMaxPool", "1x3x8x8", "", 3.0 * 64, 0},
  {"GlobalLpPool", "1x3x8x8", "", 3.0 * 64 * 2, 0},
  {"LRN", "1x32x4x4", "size=5", 32.0 * 16 * (5 + 2), 0},
  {"MaxUnpool", "1x2x4x4 1x2x4x4", "kernel_shape=2,2 strides=2,2", 2.0 * 16 * 4, 0},
  {"Col2Im", "1x8x9 =4,4 =2,2", "", 8.0 * 9, 18},
  /* normalizations: mean, two for the variance, two for scale and bias */
  {"BatchNormalization", "1x3x4x4 3 3 3 3", "", 3.0 * 16 * 2, 0},
  {"InstanceNormalization", "1x3x8x8 3 3", "", 3.0 * 64 * 5, 0},
  {"LayerNormalization", "4x16 16 16", "", 64.0 * 5, 0},
  {"GroupNormalization", "1x4x8x8 4 4", "num_groups=2", 4.0 * 64 * 5, 21},
  {"RMSNormalization", "4x16 16", "", 64.0 * 3, 23},
  {"MeanVarianceNormalization", "2x3x4x4", "", 96.0 * 4, 0},
  {"LpNormalization", "4x16", "", 64.0 * 2, 22},
  {"Softmax", "4x16", "", 64.0 * 5, 0},
  {"LogSoftmax", "4x16", "", 64.0 * 5, 0},
  {"Hardmax", "4x16", "", 64.0 * 2, 0},
  /* sums and orders along axes */
  {"ReduceL1", "4x16", "axes=1", 64, 0},
  {"ReduceL2", "4x16", "axes=1", 64, 0},
  {"ReduceLogSum", "4x16", "axes=1", 64, 0},
  {"ReduceLogSumExp", "4x16", "axes=1", 64.0 * 4, 0},
  {"ReduceMax", "4x16", "axes=1", 64, 0},
  {"ReduceMean", "4x16", "axes=1", 64, 0},
  {"ReduceMin", "4x16", "axes=1", 64, 0},
  {"ReduceProd", "4x16", "axes=1", 64, 0},
  {"ReduceSum", "4x16 =1", "", 64, 0},
  {"ReduceSumSquare", "4x16", "axes=1", 64, 0},
  {"ArgMax", "4x16", "axis=1", 64, 0},
  {"ArgMin", "4x16", "axis=1", 64, 0},
  {"CumSum", "4x16 =1", "", 64, 0},
  {"TopK", "4x256 =10", "", 4.0 * 256 * 8, 0},
  {"Unique", "64", "", 64.0 * 6, 0},
  {"Det", "3x12x12", "", 3.0 * 12 * 12 * 12 / 3, 0},
  /* images and regions: taps or samples an element */
  {"GridSample", "1x3x8x8 1x6x6x2", "mode='bilinear'", 3.0 * 36 * 4, 0},
  {"GridSample", "1x3x8x8 1x6x6x2", "mode='bicubic'", 3.0 * 36 * 16, 0},
  {"GridSample", "1x3x8x8 1x6x6x2", "mode='nearest'", 3.0 * 36, 0},
  {"Resize", "1x3x8x8 - - =1,3,16,16", "mode='cubic'", 3.0 * (16 * 8 + 16 * 16) * 4, 0},
  {"Resize", "1x3x8x8 - - =1,3,16,16", "mode='linear'", 3.0 * (16 * 8 + 16 * 16) * 2, 0},
  {"Resize", "1x3x8x8 - - =1,3,16,16", "mode='nearest'", 3.0 * 16 * 16, 0},
  {"Upsample", "1x3x8x8 =1,1,2,2", "mode='linear'", 3.0 * (16 * 8 + 16 * 16) * 2, 9},
  {"RoiAlign", "1x3x16x16 5x4 5", "output_height=4 output_width=4 sampling_ratio=2", 5.0 * 3 * 16 * 4 * 4, 0},
  {"RoiAlign", "1x3x16x16 5x4 5", "output_height=4 output_width=4", 5.0 * 3 * 16 * 16 * 4, 0},
  {"MaxRoiPool", "1x3x16x16 5x5", "pooled_shape=4,4", 5.0 * 3 * 16 * 16, 0},
  {"AffineGrid", "2x2x3 =2,3,8,8", "", 2.0 * 64 * 2 * 3, 20},
  /* scores of 2 classes in order, 9 boxes that stay beside those before them, 10 operations a pair */
  {"NonMaxSuppression", "1x64x4 1x2x64 =9", "", 2.0 * (64 * 6 + 9 * 60 * 10), 0},
  {"STFT", "2x64 =16 - =32", "", 2.0 * 3 * 17 * 2 * 32, 0},
  {"DFT", "3x32x1", "axis=1", 3.0 * 32 * 2 * 32, 0},
  /* functions of one number each */
  {"QuantizeLinear", "4x16 . .", "", 64.0 * 2, 0},
  {"DequantizeLinear", "4x16 . .", "", 64.0 * 2, 0},
  {"DynamicQuantizeLinear", "4x16", "", 64.0 * 4, 0},
  {"Sum", "4x16 4x16 4x16 4x16 4x16", "", 64.0 * 4, 0},
  {"Mean", "4x16 4x16 4x16 4x16 4x16", "", 64.0 * 5, 0},
  {"Max", "4x16 4x16 4x16", "", 64.0 * 2, 0},
  {"Min", "4x16 4x16 4x16", "", 64.0 * 2, 0},
  {"BlackmanWindow", "=64", "", 64.0 * 2, 0},
  {"HammingWindow", "=64", "", 64, 0},
  {"HannWindow", "=64", "", 64, 0},
  {"MelWeightMatrix", "=8 =64 =8000 =100 =3000", "", 33.0 * 8, 0},
  /* moves: an element that is put in its place */
  {"Gather", "1000x8 5", "axis=0", 5.0 * 8, 0},
  {"GatherElements", "100x8 5x8", "axis=0", 5.0 * 8, 0},
  {"GatherND", "1000x8 5x1", "", 5.0 * 8, 0},
  {"Scatter", "4x16 2x16 2x16", "axis=0", 64, 10},
  {"ScatterElements", "4x16 2x16 2x16", "axis=0", 64, 0},
  {"ScatterND", "4x16 2x1 2x16", "", 64, 0},
  {"Slice", "4x100 =0 =10 =1 =2", "", 4.0 * 5, 0},
  {"Pad", "4x16 =0,1,0,1", "", 4.0 * 18, 0},
  {"Tile", "4x16 =2,3", "", 64.0 * 6, 0},
  {"Expand", "1x16 =4,16", "", 64, 0},
  {"Transpose", "4x16", "perm=1,0", 64, 0},
  {"DepthToSpace", "1x8x4x4", "blocksize=2", 128, 0},
  {"SpaceToDepth", "1x8x4x4", "blocksize=2", 128, 0},
  {"ReverseSequence", "4x3 3", "", 12, 0},
  {"OneHot", "5 =10 =0,1", "", 50, 0},
  {"Compress", "64 64", "", 64, 0},
  {"NonZero", "64", "", 64, 0},
  {"Trilu", "8x8", "", 64, 0},
  {"CastLike", "4x16 .", "", 64, 0},
  {"Dropout", "4x16", "", 64, 0},
  {"Concat", "4x16 4x8", "axis=1", 96, 0},
  {"Split", "4x16", "axis=1", 64, 0},
  {"Reshape", "4x16 =8,8", "", 64, 0},
  {"Flatten", "4x4x4", "", 64, 0},
  {"Squeeze", "1x64", "", 64, 0},
  {"Unsqueeze", "64 =0", "", 64, 0},
  /* made of next to nothing */
  {"Constant", "", "value_ints=1,2,3", 3, 0},
  {"ConstantOfShape", "=4,16", "", 64, 0},
  {"EyeLike", "4x16", "", 64, 0},
  {"Range", "=0 =10 =1", "", 10, 0},
  {"Shape", "4x16x3", "", 3, 0},
  {"Size", "4x16x3", "", 1, 0},
};
enum { ROWS = sizeof table / sizeof *table };

static cm_memory memory;
static cm_error error;

/* The next word of a text, without the blank behind it; false at the end. */
static bool next_word(const char **text, char *word, size_t size)
{
  *text += strspn(*text, " ");
  size_t length = strcspn(*text, " ");
  ck_assert_uint_lt(length, size);
  memcpy(word, *text, length);
  word[length] = '\0';
  *text += length;
  return length > 0;
}

static size_t read_integers(const char *text, int64_t *numbers, const char *between)
{
  size_t count = 0;
  for (char *end; *text != '\0'; text = *end != '\0' ? end + strspn(end, between) : end)
    numbers[count++] = strtol(text, &end, 10);
  return count;
}

static void read_inputs(const counted *row, cm_shape *shape, cm_tensor **value, cm_node *node)
{
  char word[64];
  for (const char *text = row->inputs; next_word(&text, word, sizeof word);) {
    uint32_t i = node->input_count++;
    int64_t numbers[CM_RANK_MAX], count;
    node->inputs[i] = strcmp(word, "-") == 0 ? CM_NONE : i;
    shape[i] = (cm_shape){.type = CM_FLOAT, .rank = node->inputs[i] == CM_NONE ? CM_UNKNOWN_RANK : 0};
    if (word[0] == '=') {
      count = (int64_t)read_integers(word + 1, numbers, ",");
      const bool scalar = count == 1 && strcmp(row->op, "Slice") != 0 && strcmp(row->op, "Unsqueeze") != 0 && strcmp(row->op, "ReduceSum") != 0;
      ck_ok(cm_tensor_new(&memory, strcmp(row->op, "Upsample") == 0 ? CM_FLOAT : CM_INT64, scalar ? 0 : 1, &count, &value[i], &error));
      for (int64_t k = 0; k < count; k++)
        cm_tensor_put_number(value[i], (uint64_t)k, (double)numbers[k], false);
      shape[i] = cm_shape_of(value[i]);
    } else if (word[0] != '.' && word[0] != '-')
      shape[i].rank = (uint32_t)read_integers(word, shape[i].dims, "x");
  }
}

static void read_attributes(const counted *row, cm_attribute *attributes, char (*texts)[64], int64_t (*numbers)[8], cm_node *node)
{
  for (const char *text = row->attributes; next_word(&text, texts[node->attribute_count], 64);) {
    cm_attribute *a = &attributes[node->attribute_count];
    char *name = texts[node->attribute_count], *given = strchr(name, '=') + 1;
    given[-1] = '\0';
    *a = (cm_attribute){.name = name};
    if (given[0] == '\'') {
      given[strlen(given) - 1] = '\0';
      a->kind = CM_ATTRIBUTE_STRING;
      a->text = given + 1;
      a->count = strlen(a->text);
    } else {
      a->count = read_integers(given, numbers[node->attribute_count], ",");
      const bool list = strchr("ksapv", name[0]) != NULL && strcmp(name, "axis") != 0 && strcmp(name, "size") != 0 && strcmp(name, "sampling_ratio") != 0;
      a->kind = list ? CM_ATTRIBUTE_INTS : CM_ATTRIBUTE_INT;
      a->integer = numbers[node->attribute_count][0];
      a->integers = numbers[node->attribute_count];
    }
    node->attribute_count++;
  }
}

static double work_of(const counted *row)
{
  uint32_t inputs[INPUTS], outputs[1] = {0};
  cm_shape shape[INPUTS], made = {.rank = CM_UNKNOWN_RANK};
  cm_tensor *value[INPUTS] = {NULL};
  cm_attribute attributes[8];
  char texts[8][64];
  int64_t numbers[8][8];
  const int64_t opset = row->opset > 0 ? row->opset : 17;
  const char *domain = strcmp(row->op, "FusedConv") == 0 ? "com.microsoft" : cm_operator_find("", row->op, opset) == NULL ? CM_OWN_DOMAIN : "";
  cm_node node = {.name = "", .op = row->op, .domain = domain, .inputs = inputs,
                  .outputs = outputs, .output_count = 1, .attributes = attributes};
  cm_box box[INPUTS], out;
  cm_split_change change;
  node.known = cm_operator_find(node.domain, row->op, opset);
  ck_assert_msg(node.known != NULL, "%s: no such operator", row->op);
  read_inputs(row, shape, value, &node);
  read_attributes(row, attributes, texts, numbers, &node);
  cm_call call = {.node = &node, .opset = opset, .input_count = node.input_count, .output_count = 1, .input = shape, .value = value,
                  .output = &made, .memory = &memory};
  ck_ok(node.known->shape(&call, &error));
  for (uint32_t i = 0; i < made.rank; i++) /* what only a run knows may be all that there is */
    made.dims[i] = made.dims[i] < 0 ? (i == 0 && strcmp(row->op, "NonMaxSuppression") != 0 ? 64 : 18) : made.dims[i];
  ck_assert_msg(cm_shape_known(&made), "%s: no shape", row->op);
  out = cm_box_whole(&made);
  ck_ok(cm_split_piece(&call, &out, box, &change, &error));
  uint64_t work = cm_split_work(&call, &out, box);
  for (uint32_t i = 0; i < node.input_count; i++)
    cm_tensor_free(value[i]);
  return (double)work;
}

START_TEST(work_is_what_is_computed)
{
  const counted *row = &table[_i];
  double work = work_of(row);
  ck_assert_msg(work <= 2 * row->operations && 2 * work >= row->operations, "%s %s %s: %g operations priced, %g computed", row->op,
                row->inputs, row->attributes, work, row->operations);
}
END_TEST

/* Operators that go element by element compute one function or move for each; all others are counted above, but what a host alone does
 * (tests/cli/host). */
START_TEST(every_operator_is_counted)
{
  for (const cm_operator *o = cm_operator_table(); o->name != NULL; o++) {
    bool known = o->split == CM_SPLIT_POINTWISE && (o->work == CM_WORK_TOUCHED || o->work == CM_WORK_OPERANDS);
    known = known || o->runs == CM_RUNS_HOST;
    for (size_t i = 0; i < ROWS; i++)
      known = known || strcmp(table[i].op, o->name) == 0;
    ck_assert_msg(known, "%s: nobody counted its work", o->name);
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("work");
  TCase *all = tcase_create("operators");
  cm_memory_init(&memory, UINT64_C(1) << 30);
  tcase_add_loop_test(all, work_is_what_is_computed, 0, ROWS);
  tcase_add_test(all, every_operator_is_counted);
  suite_add_tcase(suite, all);
  return test_main(suite);
}
