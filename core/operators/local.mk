libcoremap_a_SOURCES += \
  core/operators/tensor.h core/operators/tensor.c core/operators/tensor_file.h core/operators/tensor_file.c core/operators/narrow.c \
  core/operators/arena.h core/operators/arena.c core/operators/graph.h core/operators/graph.c core/operators/graph_copy.c core/operators/shapes.h core/operators/shapes.c core/operators/shapes_option.c core/operators/model_check.h core/operators/model_check.c core/operators/legacy.h core/operators/legacy.c core/operators/control.h core/operators/rewrites.c core/operators/rewriting.h core/operators/rewriting.c core/operators/quantized.h core/operators/quantized.c core/operators/onnx/onnx.h core/operators/onnx/onnx_kind.h core/operators/onnx/onnx_kind.c \
  core/operators/operator.h core/operators/operators.def core/operators/rewrites.def core/operators/splits.def core/operators/variant.h core/operators/operator.c core/operators/operator_check.c core/operators/operator_table.c core/operators/evaluate.h core/operators/evaluate.c core/operators/evaluate_model.c \
  core/operators/ops/window.h core/operators/ops/window.c \
  core/operators/ops/op_unary.c core/operators/ops/unary.def core/operators/ops/activation.def core/operators/ops/sigmoid.h core/operators/ops/op_elementwise.c core/operators/ops/op_cast.c core/operators/ops/op_dropout.c core/operators/ops/op_convolution.c \
  core/operators/ops/op_pool.c \
  core/operators/ops/op_normalize.c core/operators/ops/op_reduce.c core/operators/ops/op_matrix.c core/operators/ops/op_shape.c core/operators/ops/op_constant.c \
  core/operators/ops/op_move.c core/operators/ops/op_part.c core/operators/ops/op_resize.c core/operators/ops/op_quantize.c \
  core/operators/ops/op_index.c core/operators/ops/op_select.c core/operators/ops/op_einsum.c core/operators/ops/op_square.c \
  core/operators/ops/learned.h core/operators/ops/op_learned.c core/operators/ops/forest.h core/operators/ops/forest.c core/operators/ops/op_trees.c core/operators/ops/op_norm.c core/operators/ops/op_integer.c core/operators/recurrent.h core/operators/recurrent_unfold.h core/operators/recurrent_unfold.c core/operators/ops/op_recurrent.c core/operators/ops/op_cell.c core/operators/ops/op_image.c core/operators/ops/op_vision.c core/operators/ops/op_signal.c core/operators/ops/op_sampling.c \
  core/operators/permute/layout.h core/operators/permute/layout.c core/operators/permute/layout_reshape.c core/operators/permute/mincut.h core/operators/permute/mincut.c \
  core/operators/permute/cross.h core/operators/permute/cross.c core/operators/permute/cross_elementwise.c core/operators/permute/cross_channels.c \
  core/operators/permute/cross_axes.c core/operators/permute/cross_pieces.c core/operators/permute/cross_matrix.c \
  core/operators/permute/permute.h core/operators/permute/permute_mark.c core/operators/permute/permute_read.c core/operators/permute/permute_normalise.c \
  core/operators/permute/permute_region.h core/operators/permute/permute_region.c core/operators/permute/permute_grow.c core/operators/permute/permute_carry.c \
  core/operators/permute/permute_emit.c core/operators/permute/permute_products.c core/operators/permute/permute_absorb.c core/operators/permute/permute_pads.c core/operators/permute/permute_copies.c core/operators/permute/permute_patches.c \
  core/operators/tiling/box.h core/operators/tiling/box.c core/operators/tiling/split.h core/operators/tiling/split_rules.h core/operators/tiling/split.c core/operators/tiling/split_work.c core/operators/tiling/split_computed.c core/operators/tiling/split_window.c core/operators/tiling/split_moves.c \
  core/operators/permute/permutations.h core/operators/permute/permutations.c
if ONNX
libcoremap_a_SOURCES += \
  core/operators/unrolling.h core/operators/control.c core/operators/control_nodes.c core/operators/control_loop.c core/operators/control_compound.c \
  core/operators/onnx/onnx_splice.c core/operators/onnx/onnx_external.h core/operators/onnx/onnx_external.c core/operators/onnx/onnx_file.c core/operators/onnx/onnx_check.h \
  core/operators/onnx/onnx_check.c core/operators/onnx/onnx_proto.h core/operators/onnx/onnx_tensor.c core/operators/onnx/onnx_reader.h core/operators/onnx/onnx_values.c \
  core/operators/onnx/onnx_attribute.c core/operators/onnx/onnx_read.c core/operators/onnx/onnx_write.c
# ONNX's own description of its format, turned to C at build time; generated code is not held to our warnings.
# Not in BUILT_SOURCES: that would make `make all X` run two makes at once over one library.
noinst_LIBRARIES += libonnxproto.a
ONNX_ARCHIVE = libonnxproto.a
nodist_libonnxproto_a_SOURCES = core/operators/onnx/onnx.pb-c.c core/operators/onnx/onnx.pb-c.h
libonnxproto_a_SOURCES =
libonnxproto_a_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_builddir)/core/operators
libonnxproto_a_CFLAGS = $(AM_CFLAGS) -w
CLEANFILES += core/operators/onnx/onnx.pb-c.c core/operators/onnx/onnx.pb-c.h
core/operators/onnx/onnx.pb-c.c: $(ONNX_PROTO_FOLDER)/onnx/onnx.proto
	$(AM_V_GEN)$(MKDIR_P) core/operators/onnx && \
	$(PROTOC_C) --proto_path=$(ONNX_PROTO_FOLDER) --c_out=core/operators onnx/onnx.proto
core/operators/onnx/onnx.pb-c.h: core/operators/onnx/onnx.pb-c.c
core/operators/onnx/onnx_read.$(OBJEXT) core/operators/onnx/onnx_splice.$(OBJEXT) core/operators/onnx/onnx_external.$(OBJEXT) core/operators/onnx/onnx_file.$(OBJEXT) core/operators/onnx/onnx_tensor.$(OBJEXT) core/operators/onnx/onnx_write.$(OBJEXT): \
  core/operators/onnx/onnx.pb-c.h
else
libcoremap_a_SOURCES += core/operators/onnx/onnx_without.c
endif
