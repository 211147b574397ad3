CHIP_PRESETS = \
  core/chip/presets/loihi64.json core/chip/presets/loihi84.json core/chip/presets/loihi1024.json \
  core/chip/presets/truenorth.json core/chip/presets/dynap-se2.json core/chip/presets/loihi1.json core/chip/presets/darwin3.json \
  core/chip/presets/tianjic.json core/chip/presets/spinnaker1.json core/chip/presets/loihi2.json core/chip/presets/spinnaker1-48boards.json core/chip/presets/spinnaker2.json \
  core/chip/presets/npu-biglittle.json core/chip/presets/npu-embedded.json core/chip/presets/npu-manycore.json core/chip/presets/npu-mixed.json core/chip/presets/host.json core/chip/presets/cortex-m7.json core/chip/presets/pulp-cluster.json core/chip/presets/esp32-s3.json core/chip/presets/catalyst-n1.json core/chip/presets/npu-host.json

libcoremap_a_SOURCES += \
  core/chip/chip.h core/chip/geometry.h core/chip/geometry.c core/chip/router_window.h core/chip/router_window.c core/chip/occupancy.h core/chip/region.h core/chip/presets.h core/chip/json.h core/chip/chip_read.h \
  core/chip/costs_fit.h core/chip/costs_fit.c core/chip/costs_fit_read.c core/chip/rates_fit.h core/chip/rates_fit.c core/chip/costs.h core/chip/costs.c core/chip/image_limits.h core/chip/image_limits.c core/chip/target.h core/chip/target.c core/chip/target_read.c core/chip/target_print.c core/chip/turns.h core/chip/turns.c core/chip/dependency.h core/chip/dependency.c core/chip/turn_trees.h core/chip/turn_trees.c \
  core/chip/reach.h core/chip/reach.c core/chip/fragments.c core/chip/region_search.h core/chip/region_search.c core/chip/region_set.h core/chip/region_set.c core/chip/prices.h core/chip/prices.c \
  core/chip/interconnect/interconnect.h core/chip/interconnect/internal.h core/chip/interconnect/build.c core/chip/interconnect/dead.c core/chip/interconnect/detours.h core/chip/interconnect/detours.c \
  core/chip/interconnect/formula.c core/chip/interconnect/way_tables.c core/chip/interconnect/path_trees.h core/chip/interconnect/path_trees.c core/chip/interconnect/interconnect_read.c core/chip/interconnect/sets.h core/chip/interconnect/sets.c \
  core/chip/chip.c core/chip/chip_open.c core/chip/chip_read.c core/chip/chip_file.c core/chip/chip_limits.c core/chip/chip_dead.c core/chip/resources.h core/chip/resources.c core/chip/classes.h core/chip/classes.c core/chip/json.c core/chip/occupancy.c core/chip/occupancy_print.c core/chip/region.c core/chip/region_box.h core/chip/region_box.c
nodist_libcoremap_a_SOURCES += core/chip/presets.c

# The presets as files, for users to copy and change.
chipsdir = $(pkgdatadir)/chips
dist_chips_DATA = $(CHIP_PRESETS)

# And the same as strings inside the library.
EXTRA_DIST += core/chip/presets.awk
CLEANFILES += core/chip/presets.c
core/chip/presets.c: $(CHIP_PRESETS) core/chip/presets.awk
	$(AM_V_GEN)$(MKDIR_P) core/chip && \
	$(AWK) -f $(srcdir)/core/chip/presets.awk $(addprefix $(srcdir)/,$(CHIP_PRESETS)) > $@.new && \
	mv $@.new $@
