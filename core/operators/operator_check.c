/* Whether a call is one that its operator computes: inputs that are there, attributes of their kinds, types of the row. Who reads an
 * attribute may count on its kind. */
#include <string.h>

#include "core/operators/operator.h"

/* In ONNX a name means one kind; `value` is a number in Pad alone. */
static const char *const integers[] = {"align_corners",
                                       "allowzero", "antialias", "axis", "batch_axis", "batch_dims", "block_size", "blocksize",
                                       "ceil_mode", "center_point_box", "count_include_pad", "detect_negative", "detect_positive",
                                       "dtype", "end", "exclude_outside", "exclusive", "fmod", "group", "hidden_size",
                                       "input_forget", "interleaved", "inverse", "is_causal", "k", "keepdims", "kv_num_heads",
                                       "largest", "layout", "linear_before_reset", "noop_with_empty_axes", "num_groups",
                                       "num_heads", "num_outputs", "num_scan_inputs", "offset_group", "onesided",
                                       "output_datatype", "output_dtype", "output_height", "output_width", "p", "periodic",
                                       "precision", "q_num_heads", "qk_matmul_output_mode", "reverse", "rotary_embedding_dim",
                                       "sampling_ratio", "saturate", "second", "seed", "select_last_index", "size", "sorted",
                                       "stash_type", "start", "storage_order", "time_axis", "to", "training_mode", "transA",
                                       "transB", "upper", "value_int",
                                       "multi_class", "n_targets", "targets", NULL};
static const char *const numbers[] = {
  "alpha", "beta",     "bias",  "clip",  "cubic_coeff_a", "epsilon",       "extrapolation_value", "max",
  "min",   "momentum", "ratio", "scale", "softcap",       "spatial_scale", "value_float",         NULL};
static const char *const texts[] = {"activation",
                                    "approximate", "auto_pad", "coordinate_transformation_mode", "direction", "equation",
                                    "keep_aspect_ratio_policy", "mode", "nearest_mode", "padding_mode", "reduction",
                                    "aggregate_function", "norm", "post_transform", NULL};
static const char *const text_lists[] = {"activations", "classlabels_strings", "nodes_modes", NULL};
static const char *const integer_lists[] = {"axes",
                                            "dilations", "ends", "kernel_shape", "output_padding", "output_shape", "pads", "perm",
                                            "pooled_shape", "scan_input_axes", "scan_input_directions", "scan_output_axes",
                                            "scan_output_directions", "shape", "split", "starts", "steps", "strides",
                                            "value_ints", CM_PLACE_ATTRIBUTE,
                                            "class_ids", "class_nodeids", "class_treeids", "classlabels_int64s", "classlabels_ints", "nodes_falsenodeids", "nodes_featureids", "nodes_missing_value_tracks_true", "nodes_nodeids", "nodes_treeids", "nodes_truenodeids", "target_ids", "target_nodeids", "target_treeids", NULL};
static const char *const number_lists[] = {"activation_alpha", "activation_beta", "activation_params",
                                           "scales",           "value_floats",    "base_values", "class_weights", "coefficients", "intercepts", "nodes_hitrates", "nodes_values", "offset", "target_weights", NULL};
static const char *const value[] = {"value", NULL};
static const char *const graphs[] = {"body", "else_branch", "then_branch", NULL};

static const struct {
  cm_attribute_kind kind;
  const char *is;
  const char *const *names;
} kinds[] = {{CM_ATTRIBUTE_INT, "an integer", integers},
             {CM_ATTRIBUTE_FLOAT, "a number", numbers},
             {CM_ATTRIBUTE_STRING, "a text", texts},
             {CM_ATTRIBUTE_STRINGS, "a list of texts", text_lists},
             {CM_ATTRIBUTE_INTS, "a list of integers", integer_lists},
             {CM_ATTRIBUTE_FLOATS, "a list of numbers", number_lists},
             {CM_ATTRIBUTE_TENSOR, "a tensor", value},
             {CM_ATTRIBUTE_PACKED, "a graph or the like", graphs}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const char *text_of(cm_attribute_kind kind)
{
  size_t i = 0;
  while (i < KINDS - 1 && kinds[i].kind != kind)
    i++;
  return kinds[i].is;
}

static bool is_listed(const char *const *names, const char *name)
{
  while (*names != NULL && strcmp(*names, name) != 0)
    names++;
  return *names != NULL;
}

/* What an attribute should be; its own kind when no operator reads it. */
static cm_attribute_kind kind_wanted(const cm_node *node, const cm_attribute *a)
{
  if (strcmp(a->name, "value") == 0 && cm_node_is(node, cm_kernel_pad))
    return CM_ATTRIBUTE_FLOAT;
  if (strcmp(a->name, "scale") == 0 && cm_node_is(node, cm_kernel_scaler))
    return CM_ATTRIBUTE_FLOATS;
  for (size_t i = 0; i < KINDS; i++)
    if (is_listed(kinds[i].names, a->name))
      return kinds[i].kind;
  return a->kind;
}

cm_status cm_node_check_kinds(const cm_node *node, cm_error *error)
{
  const cm_call call = {.node = node};
  for (size_t i = 0; i < node->attribute_count; i++) {
    const cm_attribute *a = &node->attributes[i];
    cm_attribute_kind wanted = kind_wanted(node, a);
    if (a->kind != wanted)
      return cm_call_fail(&call, error, "its attribute %.40s is %s; it should be %s", a->name, text_of(a->kind), text_of(wanted));
  }
  return CM_OK;
}

/* The type that a kernel sees of an input. */
static cm_type seen_type(const cm_call *call, uint32_t i)
{
  cm_type type = call->input[i].type;
  bool half = type == CM_FLOAT16 || type == CM_BFLOAT16;
  return half && (call->node->known->flags & CM_OPERATOR_PROMOTES) != 0 ? CM_FLOAT : type;
}

cm_status cm_operator_complete(const cm_call *call, cm_error *error)
{
  for (uint32_t i = 0; i < call->node->known->needs; i++)
    if (!cm_has(call, i))
      return cm_call_fail(call, error, "has no input %u; it needs %u", i, call->node->known->needs);
  return cm_node_check_kinds(call->node, error);
}

cm_status cm_operator_check(const cm_call *call, cm_error *error)
{
  const cm_operator *o = call->node->known;
  cm_type first = CM_TYPE_NONE;
  for (uint32_t i = 0; i < call->input_count; i++) {
    cm_type type = seen_type(call, i);
    uint32_t types = o->types[i < CM_OPERATOR_TYPED ? i : CM_OPERATOR_TYPED - 1];
    if (!cm_has(call, i) || type == CM_TYPE_NONE || type == CM_SEQUENCE)
      continue;
    if ((types >> (unsigned)type & 1) == 0)
      return cm_call_bad_type(call, call->input[i].type, error);
    first = first == CM_TYPE_NONE ? call->input[i].type : first;
    if ((o->flags & CM_OPERATOR_SAME) != 0 && call->input[i].type != first)
      return cm_call_fail(call, error, "its inputs are of types %s and %s, but should be of one", cm_type_name(first),
                          cm_type_name(call->input[i].type));
  }
  return o->check != NULL ? o->check(call, error) : CM_OK;
}
