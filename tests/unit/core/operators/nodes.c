/* The operator tests of the ONNX project, judged by their stored outputs: by the evaluator, and as programs for a chip.
 * Debian's libonnx-testdata has them all; a selection of newer ones is in tests/data. CM_NODE_TESTS names another folder. */
#include "tests/unit/onnx.h"

#include <jansson.h>
#include <malloc.h>
#include <sodium.h>
#include <unistd.h>

#include "core/chip/chip.h"
#include "core/machine/compile.h"
#include "core/machine/run/run_lanes.h"
#include "core/operators/control.h"
#include "core/operators/model_check.h"
#include "core/operators/quantized.h"
#include "core/operators/recurrent_unfold.h"

static cm_run run;
static cm_memory memory;
static cm_error error;
static cm_chip *chip;
static char scratch[60];

static void set_up(void)
{
  ck_assert_int_ge(sodium_init(), 0);
  cm_memory_init(&memory, UINT64_C(2) << 30);
  cm_run_init(&run);
  run.memory = &memory;
  ck_ok(cm_chip_open("npu-mixed", &chip, &error));
  /* In memory where that is possible: two thousand files are written and synced. */
  snprintf(scratch, sizeof scratch, "%s/coremap-nodes-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
  ck_assert_ptr_nonnull(mkdtemp(scratch));
}

static void tear_down(void)
{
  cm_chip_free(chip);
  ck_ok(cm_folder_remove(scratch, &error));
  ck_assert_msg(memory.used_bytes == 0, "%llu bytes are still on the account", (unsigned long long)memory.used_bytes);
}

typedef struct tally {
  unsigned seen, computed, refused, programs, wrong;
  uint32_t every; /* programs are made of one test in so many; 0: of all */
} tally;

typedef struct node_test {
  char folder[1400], data[1440];
  const char *name;
  bool by_hand; /* its data stands in the model's metadata */
  cm_tensor *inputs[ONNX_VALUES_MAX], *outputs[ONNX_VALUES_MAX];
  size_t output_count;
} node_test;

static void wrong(tally *t, const node_test *n, const char *what, const char *why)
{
  fprintf(stderr, "%s, %s: %s\n", n->name, what, why);
  t->wrong++;
}

/* The text of how outputs deviate from the stored ones, or NULL. */
static const char *deviation(const node_test *n, cm_tensor *const *outputs)
{
  static char text[200];
  for (size_t i = 0; i < n->output_count; i++) {
    int64_t at = n->outputs[i] != NULL ? cm_tensor_deviates(outputs[i], n->outputs[i], 1e-3, 1e-7) : -1;
    if (at == -2)
      snprintf(text, sizeof text, "output %zu has another shape or type: %s of rank %u", i,
               cm_type_name(outputs[i]->type), outputs[i]->rank);
    else if (at >= 0)
      snprintf(text, sizeof text, "output %zu is %g at element %lld, not %g", i,
               cm_tensor_number(outputs[i], (uint64_t)at), (long long)at,
               cm_tensor_number(n->outputs[i], (uint64_t)at));
    if (at != -1)
      return text;
  }
  return NULL;
}

static void free_tensors(cm_tensor **tensors)
{
  for (size_t i = 0; i < ONNX_VALUES_MAX; i++) {
    cm_tensor_free(tensors[i]);
    tensors[i] = NULL;
  }
}

static cm_model *read_model(const node_test *n)
{
  char path[2 * CM_PATH_MAX];
  cm_model *model;
  snprintf(path, sizeof path, "%s/model.onnx", n->folder);
  return cm_onnx_read(path, &run, &model, &error) == CM_OK ? model : NULL;
}

/* Numbers of a metadata property "KIND NAME", as the tensor that the model declares. */
static cm_tensor *hand_tensor(const cm_model *model, const char *kind, const cm_value *v)
{
  char key[200];
  cm_tensor *made;
  snprintf(key, sizeof key, "%s %s", kind, v->name);
  for (size_t i = 0; i < model->metadata_count; i++) {
    if (strcmp(model->metadata[i].key, key) != 0)
      continue;
    ck_ok(cm_tensor_new(NULL, v->shape.type, v->shape.rank, v->shape.dims, &made, &error));
    char *at = (char *)(uintptr_t)model->metadata[i].value, *end;
    uint64_t count = 0;
    for (double number = strtod(at, &end); end != at; number = strtod(at = end, &end), count++) {
      ck_assert_uint_lt(count, made->count);
      cm_tensor_put_number(made, count, number, false);
    }
    ck_assert_msg(count == made->count && *end == '\0', "%s: \"%s\"", key, end);
    return made;
  }
  return NULL;
}

static void read_data(node_test *n, const cm_model *model)
{
  n->output_count = model->output_count;
  for (size_t i = 0; n->by_hand && i < model->input_count; i++)
    n->inputs[i] = hand_tensor(model, "input", &model->values[model->inputs[i]]);
  for (size_t i = 0; n->by_hand && i < model->output_count; i++)
    n->outputs[i] = hand_tensor(model, "output", &model->values[model->outputs[i]]);
  if (n->by_hand)
    return;
  ck_assert(model->input_count <= ONNX_VALUES_MAX && model->output_count <= ONNX_VALUES_MAX);
  for (size_t i = 0; i < model->input_count; i++)
    n->inputs[i] = onnx_read_pb(n->data, "input", i, &model->values[model->inputs[i]]);
  for (size_t i = 0; i < model->output_count; i++)
    n->outputs[i] = onnx_read_pb(n->data, "output", i, &model->values[model->outputs[i]]);
}

/* Operators that stand in no row of the table: they become others before anything is computed. */
static bool is_unrolled(const char *op)
{
  static const char *const names[] = {"If", "Loop", "Scan", "Attention", "RotaryEmbedding", "CenterCropPad"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(op, names[i]) == 0)
      return true;
  return false;
}

/* False when the model holds what is not supported: its sequences, texts and operators out of the table. */
static bool is_supported(const cm_model *model)
{
  for (size_t i = 0; i < model->node_count; i++)
    if (model->nodes[i].known == NULL && !is_unrolled(model->nodes[i].op) && model->function_count == 0)
      return false;
  for (size_t i = 0; i < model->value_count; i++)
    if (model->values[i].shape.type == CM_STRING || model->values[i].packed_type != NULL)
      return false;
  return true;
}

/* ---- as a program ---- */

/* Inputs from `first` on become constants, as exporters write them. */
static void fix_inputs(cm_model *model, const node_test *n, size_t first)
{
  for (size_t i = first; i < model->input_count; i++) {
    cm_value *v = &model->values[model->inputs[i]];
    if (n->inputs[i] == NULL)
      continue;
    v->tensor = cm_tensor_share(n->inputs[i]);
    v->initializer = v->constant = true;
    v->shape = (cm_shape){.type = n->inputs[i]->type, .rank = n->inputs[i]->rank};
    memcpy(v->shape.dims, n->inputs[i]->dims, sizeof v->shape.dims);
  }
  model->input_count = first < model->input_count ? first : model->input_count;
}

static cm_status compile(const char *model, uint64_t bytes, const char *out)
{
  cm_compile_options options;
  json_t *report = NULL;
  ck_ok(cm_compile_options_read(NULL, &options, &error));
  options.memory = bytes;
  options.order = CM_COMPILE_ORDER_FILE;
  options.make_tiles = false;
  options.scores = 1; /* what is judged is numbers, not times */
  cm_status status = cm_compile(model, &options, chip, &run, out, NULL, &report, &error);
  json_decref(report);
  return status;
}

static const char *execute(const node_test *n, const char *path)
{
  static const cm_simulation_options options = {.compute = true, .check = true};
  cm_program *p = NULL;
  cm_simulation result;
  cm_tensor *outputs[ONNX_VALUES_MAX] = {0};
  cm_status status = cm_program_read(path, &run, &p, &error);
  CM_THEN(status, cm_simulate(p, n->inputs, &options, &run, outputs, &result, &error));
  const char *why = status == CM_OK ? deviation(n, outputs) : error.detail;
  free_tensors(outputs);
  cm_program_free(p);
  return why;
}

/* True when there was a program with the inputs before `first` given when it runs. */
static bool try_program(const node_test *n, size_t first, uint64_t bytes, tally *t)
{
  char model_path[100], program_path[100];
  snprintf(model_path, sizeof model_path, "%s/fixed.onnx", scratch);
  snprintf(program_path, sizeof program_path, "%s/program", scratch);
  cm_model *model = read_model(n);
  fix_inputs(model, n, first);
  cm_status status = cm_onnx_write(model, model_path, &error);
  cm_model_free(model);
  ck_assert_int_eq(status, CM_OK);
  status = compile(model_path, bytes, program_path);
  if (status != CM_OK) {
    if (status != CM_BAD_NETWORK && status != CM_TOO_LARGE && status != CM_BAD_OPTION && status != CM_BAD_CHIP)
      wrong(t, n, "compiling", error.detail);
    return false;
  }
  const char *why = execute(n, program_path);
  if (why != NULL)
    wrong(t, n, "as a program", why);
  t->programs++;
  return true;
}

static void judge_programs(const node_test *n, size_t inputs, tally *t)
{
  enum { SMALL = 2048, TINY = 512 };
  /* As it stands, else with all inputs but the first one constant, as a real model would have them, else with all. */
  const size_t tries[] = {inputs, inputs > 1 ? 1 : 0, 0};
  for (size_t i = 0; i < sizeof tries / sizeof *tries; i++)
    if (try_program(n, tries[i], 0, t)) {
      (void)try_program(n, tries[i], SMALL, t);
      (void)try_program(n, tries[i], TINY, t);
      return;
    }
  if (getenv("CM_NODE_TESTS_VERBOSE") != NULL)
    fprintf(stderr, "%s: no program: %s\n", n->name, error.detail);
}

/* ---- all of them ---- */

/* Recurrent operators step by step compute the same; NULL when they do, or there are none. */
static const char *evaluate_unfolded(const node_test *n, cm_model *model)
{
  cm_tensor *outputs[ONNX_VALUES_MAX] = {0};
  bool any = false;
  for (uint32_t i = 0, count = (uint32_t)model->node_count; i < count; i++)
    if (cm_recurrent_unfolds(model, &model->nodes[i])) {
      any = true;
      if (cm_recurrent_unfold(model, i, &run, &error) != CM_OK)
        return error.detail;
    }
  if (!any)
    return NULL;
  cm_status status = cm_model_sweep(model, &error);
  CM_THEN(status, cm_infer(model, &run, &error));
  CM_THEN(status, cm_evaluate(model, n->inputs, &run, outputs, &error));
  const char *why = status == CM_OK ? deviation(n, outputs) : error.detail;
  free_tensors(outputs);
  return why;
}

/* Evaluates with the inputs from `first` on known beforehand; the text of what is wrong, or NULL. *refused: by a check. */
static const char *evaluate(const node_test *n, size_t first, bool *refused)
{
  static char text[sizeof error.detail];
  cm_model *model = read_model(n);
  cm_tensor *outputs[ONNX_VALUES_MAX] = {0};
  fix_inputs(model, n, first);
  cm_status status = cm_model_unroll(model, &run, &error);
  CM_THEN(status, cm_evaluate(model, n->inputs, &run, outputs, &error));
  const char *why = status == CM_OK ? deviation(n, outputs) : error.detail;
  if (why == NULL)
    why = evaluate_unfolded(n, model);
  if (why != NULL)
    snprintf(text, sizeof text, "%s", why);
  /* What is not computed has to be refused before it runs. */
  *refused = why != NULL && cm_model_check(model, &error) == CM_BAD_NETWORK;
  free_tensors(outputs);
  cm_model_free(model);
  return why != NULL ? text : NULL;
}

static void judge(node_test *n, tally *t)
{
  t->seen++;
  cm_model *model = read_model(n);
  if (model == NULL || !is_supported(model)) {
    cm_model_free(model);
    return;
  }
  read_data(n, model);
  size_t inputs = model->input_count;
  cm_model_free(model);
  bool refused;
  const char *why = evaluate(n, inputs, &refused);
  if (refused) /* loops whose numbers of iterations are inputs */
    why = evaluate(n, 0, &refused);
  if (refused && getenv("CM_NODE_TESTS_VERBOSE") != NULL)
    fprintf(stderr, "%s: refused: %s\n", n->name, why);
  t->refused += refused;
  t->computed += !refused;
  if (why != NULL && !refused)
    wrong(t, n, "evaluated", why);
  if (why == NULL && (t->every == 0 || strlen(n->name) % t->every == 0))
    judge_programs(n, inputs, t);
  free_tensors(n->inputs);
  free_tensors(n->outputs);
}

/* ONNX 1.12 cut bfloat16 short where it is rounded since, and stored it as integers: tests/data has newer ones. */
static bool is_outdated(const char *root, const char *name)
{
  return strncmp(root, "/usr/share", 10) == 0 && strstr(name, "BFLOAT16") != NULL;
}

static void judge_folder(const char *root, tally *t)
{
  DIR *listing = opendir(root);
  struct dirent *item;
  ck_assert_msg(listing != NULL, "no folder %s: scripts/setup test installs it", root);
  while ((item = readdir(listing)) != NULL) {
    static node_test n;
    if (strncmp(item->d_name, "test_", 5) != 0 || is_outdated(root, item->d_name))
      continue;
    snprintf(n.folder, sizeof n.folder, "%.1000s/%.255s", root, item->d_name);
    snprintf(n.data, sizeof n.data, "%s/test_data_set_0", n.folder);
    n.name = item->d_name;
    judge(&n, t);
  }
  closedir(listing);
}

START_TEST(operators_compute_what_onnx_says)
{
  static const char *const debian[] = {"node", "simple", "pytorch-operator", "pytorch-converted"};
  const char *one = getenv("CM_NODE_TESTS");
  char root[CM_PATH_MAX];
  tally t = {.every = one == NULL && CM_SANITIZED ? 6 : 0};
  for (size_t i = 0; one == NULL && i < sizeof debian / sizeof *debian; i++) {
    snprintf(root, sizeof root, "/usr/share/libonnx-testdata/data/%s", debian[i]);
    judge_folder(root, &t);
  }
  snprintf(root, sizeof root, "%s", one != NULL ? one : test_data("onnx/nodes"));
  judge_folder(root, &t);
  fprintf(stderr, "%u tests, %u computed, %u refused, %u programs, %u wrong\n", t.seen, t.computed, t.refused,
          t.programs, t.wrong);
  ck_assert_uint_le(t.refused, 20);
  ck_assert_uint_eq(t.wrong, 0);
  ck_assert_uint_ge(t.computed, one != NULL ? 1 : 950);
}
END_TEST

/* Models as text with hand-computed numbers in their metadata: "input x" and "output y". */
START_TEST(operators_compute_what_was_computed_by_hand)
{
  static node_test n = {.by_hand = true};
  char root[CM_PATH_MAX], command[2 * CM_PATH_MAX];
  tally t = {0};
  snprintf(root, sizeof root, "%s", test_data("onnx/hand"));
  DIR *listing = opendir(root);
  struct dirent *item;
  ck_assert_ptr_nonnull(listing);
  snprintf(n.folder, sizeof n.folder, "%s", scratch);
  while ((item = readdir(listing)) != NULL) {
    if (strstr(item->d_name, ".textproto") == NULL)
      continue;
    snprintf(command, sizeof command, "protoc --encode=onnx.ModelProto --proto_path=/usr/include onnx/onnx.proto "
             "<'%.1000s/%.255s' >'%s/model.onnx'", root, item->d_name, scratch);
    ck_assert_msg(system(command) == 0, "%s", command);
    n.name = item->d_name;
    tally before = t;
    judge(&n, &t);
    if (t.computed == before.computed || t.programs == before.programs)
      wrong(&t, &n, "not compiled", error.detail);
  }
  closedir(listing);
  fprintf(stderr, "%u by hand, %u programs, %u wrong\n", t.seen, t.programs, t.wrong);
  ck_assert_uint_eq(t.wrong, 0);
}
END_TEST

/* Every failed allocation while a model is unrolled and put in integers is reported and leaks nothing. */
START_TEST(unrolling_survives_failed_allocations)
{
  static const char *const names[] = {"loop_nested", "loop_until", "if_unknown", "qdq_conv", "qdq_pool",
                                      "attention_grouped", "rotary_pairs", "center_crop_pad"};
  char command[2 * CM_PATH_MAX], path[100];
  snprintf(path, sizeof path, "%s/model.onnx", scratch);
  snprintf(command, sizeof command, "protoc --encode=onnx.ModelProto --proto_path=/usr/include onnx/onnx.proto "
           "<'%sonnx/hand/%s.textproto' >%s", test_data(""), names[_i], path);
  ck_assert_int_eq(system(command), 0);
  uint64_t before = memory.used_bytes;
  for (uint64_t n = 1;; n++) {
    cm_model *model = NULL;
    cm_quantized done;
    cm_memory_fail_at(n);
    cm_status status = cm_onnx_read(path, &run, &model, &error);
    CM_THEN(status, cm_model_unroll(model, &run, &error));
    CM_THEN(status, cm_model_quantize(model, &run, &done, &error));
    int fired = cm_memory_fault_fired();
    cm_memory_fail_at(0);
    cm_model_free(model);
    ck_assert_uint_eq(memory.used_bytes, before);
    if (!fired) {
      ck_assert_msg(status == CM_OK, "%s", error.detail);
      break;
    }
    ck_assert_msg(status == CM_NO_MEMORY, "allocation %llu: %s", (unsigned long long)n, error.detail);
  }
}
END_TEST

int main(void)
{
  (void)mallopt(M_MMAP_THRESHOLD, 1 << 20); /* the memory of a simulated chip comes zeroed, and little of it is touched */
  Suite *suite = suite_create("nodes");
  TCase *tests = tcase_create("nodes");
  tcase_add_checked_fixture(tests, set_up, tear_down);
  tcase_add_test(tests, operators_compute_what_onnx_says);
  tcase_add_test(tests, operators_compute_what_was_computed_by_hand);
  tcase_add_loop_test(tests, unrolling_survives_failed_allocations, 0, 8);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
