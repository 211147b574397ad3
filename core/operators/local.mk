libcoremap_a_SOURCES += \
  core/operators/tensor.h core/operators/tensor.c core/operators/tensor_file.h core/operators/tensor_file.c core/operators/narrow.c \
  core/operators/arena.h core/operators/arena.c core/operators/graph.h core/operators/graph.c \
  core/operators/onnx.h core/operators/onnx_check.h core/operators/onnx_check.c \
  core/operators/onnx_proto.h core/operators/onnx_tensor.c core/operators/onnx_read.c core/operators/onnx_write.c \
  core/operators/operator.h core/operators/operator.c core/operators/evaluate.h core/operators/evaluate.c \
  core/operators/window.h core/operators/window.c \
  core/operators/op_elementwise.c core/operators/op_cast.c core/operators/op_dropout.c core/operators/op_convolution.c \
  core/operators/op_pool.c \
  core/operators/op_normalize.c core/operators/op_reduce.c core/operators/op_matrix.c core/operators/op_shape.c \
  core/operators/op_move.c core/operators/op_resize.c core/operators/op_quantize.c \
  core/operators/layout.h core/operators/layout.c core/operators/mincut.h core/operators/mincut.c \
  core/operators/cross.h core/operators/cross.c core/operators/cross_elementwise.c core/operators/cross_channels.c \
  core/operators/cross_axes.c core/operators/cross_matrix.c \
  core/operators/permute.h core/operators/permute_mark.c core/operators/permute_normalise.c \
  core/operators/permute_region.h core/operators/permute_region.c core/operators/permute_carry.c \
  core/operators/permute_emit.c \
  core/operators/tile.h core/operators/tile_internal.h core/operators/tile.c core/operators/tile_owners.c \
  core/operators/tile_arcs.c \
  core/operators/tile_share.h core/operators/tile_share.c \
  core/operators/split.h core/operators/split_internal.h core/operators/split.c core/operators/split_window.c \
  core/operators/permutations.h core/operators/permutations.c

# ONNX's own description of its format, turned to C at build time; generated code is not held to our warnings.
# Not in BUILT_SOURCES: that would make `make all X` run two makes at once over one library.
noinst_LIBRARIES += libonnxproto.a
nodist_libonnxproto_a_SOURCES = core/operators/onnx/onnx.pb-c.c core/operators/onnx/onnx.pb-c.h
libonnxproto_a_SOURCES =
libonnxproto_a_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_builddir)/core/operators
libonnxproto_a_CFLAGS = $(AM_CFLAGS) -w
CLEANFILES += core/operators/onnx/onnx.pb-c.c core/operators/onnx/onnx.pb-c.h
core/operators/onnx/onnx.pb-c.c: $(ONNX_PROTO_FOLDER)/onnx/onnx.proto
	$(AM_V_GEN)$(MKDIR_P) core/operators/onnx && \
	$(PROTOC_C) --proto_path=$(ONNX_PROTO_FOLDER) --c_out=core/operators onnx/onnx.proto
core/operators/onnx/onnx.pb-c.h: core/operators/onnx/onnx.pb-c.c
core/operators/onnx_read.$(OBJEXT) core/operators/onnx_tensor.$(OBJEXT) core/operators/onnx_write.$(OBJEXT): \
  core/operators/onnx/onnx.pb-c.h
