SOURCE_KERNELS = core/csource/kernels/frame.kernel core/csource/kernels/boards.kernel core/csource/kernels/lines.kernel core/csource/kernels/products.kernel core/operators/ops/sigmoid.h

libcoremap_a_SOURCES += \
  core/csource/csource.h core/csource/csource.c core/csource/targets.def core/csource/emitters.def \
  core/csource/plan/flow.h core/csource/plan/flow.c core/csource/plan/homes.h core/csource/plan/homes.c core/csource/plan/homes_pack.c \
  core/csource/text/writer.h core/csource/text/texts.c core/csource/text/arrays.c core/csource/text/calls.c \
  core/csource/pieces/piece.c core/csource/pieces/operands.c core/csource/pieces/loops.c core/csource/pieces/products.h \
  core/csource/pieces/products.c core/csource/pieces/emit_products.c core/csource/pieces/emit_pointwise.c core/csource/pieces/emit_lines.c \
  core/csource/pieces/emit_moves.c core/csource/pieces/emit_indexed.c core/csource/pieces/emit_recurrent.c \
  core/csource/files/c_files.c core/csource/files/c_test.c core/csource/files/output.c
nodist_libcoremap_a_SOURCES += core/csource/kernels.c

# The kernels as strings inside the library.
EXTRA_DIST += core/csource/kernels.awk $(SOURCE_KERNELS)
CLEANFILES += core/csource/kernels.c
core/csource/kernels.c: $(SOURCE_KERNELS) core/csource/kernels.awk
	$(AM_V_GEN)$(MKDIR_P) core/csource && \
	$(AWK) -f $(srcdir)/core/csource/kernels.awk $(addprefix $(srcdir)/,$(SOURCE_KERNELS)) > $@.new && \
	mv $@.new $@
