SOURCE_KERNELS = core/csource/kernels/frame.kernel core/csource/kernels/boards.kernel core/csource/kernels/lines.kernel core/csource/kernels/products.kernel

libcoremap_a_SOURCES += \
  core/csource/csource.h core/csource/csource.c core/csource/targets.def core/csource/emitters.def core/csource/flow.h core/csource/flow.c \
  core/csource/homes.h core/csource/homes.c core/csource/homes_pack.c core/csource/writer.h core/csource/writer.c core/csource/operands.c core/csource/loops.c core/csource/steps.h core/csource/piece.c \
  core/csource/c_files.h core/csource/c_files.c core/csource/c_test.c core/csource/products.h core/csource/products.c core/csource/emit_products.c \
  core/csource/emit_pointwise.c core/csource/emit_lines.c core/csource/emit_moves.c
nodist_libcoremap_a_SOURCES += core/csource/kernels.c

# The kernels as strings inside the library.
EXTRA_DIST += core/csource/kernels.awk $(SOURCE_KERNELS)
CLEANFILES += core/csource/kernels.c
core/csource/kernels.c: $(SOURCE_KERNELS) core/csource/kernels.awk
	$(AM_V_GEN)$(MKDIR_P) core/csource && \
	$(AWK) -f $(srcdir)/core/csource/kernels.awk $(addprefix $(srcdir)/,$(SOURCE_KERNELS)) > $@.new && \
	mv $@.new $@
