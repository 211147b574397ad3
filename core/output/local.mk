libcoremap_a_SOURCES += \
  core/output/beside.c core/output/beside.h core/output/checking.c core/output/checking.h core/output/cores_cut.c core/output/cores_cut.h \
  core/output/exports/exports.c core/output/exports/exports.h core/output/exports/exports_flows.c \
  core/output/exports/exports_groups.c core/output/exports/exports_plain.c core/output/exports/exports_sanafe.c core/output/exports/sanafe_pacing.c core/output/exports/sanafe_pacing.h core/output/exports/sanafe_running.c core/output/exports/sanafe_running.h \
  core/output/exports/exports_spinnaker.c core/output/exports/exports_units.c core/output/exports/mapped.c \
  core/output/exports/writers.h \
  core/output/layouts.c core/output/layouts.h core/output/pareto_files.c core/output/pareto_files.h core/output/pareto_plot.c \
  core/output/picture/drawing.h core/output/picture/picture.c core/output/picture/picture.h core/output/picture/picture_colours.c \
  core/output/picture/picture_png.c core/output/picture/picture_svg.c \
  core/output/structure/asking.c core/output/structure/asking.h core/output/structure/structure.def core/output/structure/structure.h \
  core/output/structure/structure_ask.c core/output/structure/structure_diff.c core/output/structure/structure_file.c core/output/structure/structure_flows.c \
  core/output/structure/structure_links.c core/output/structure/structure_make.c core/output/structure/structure_matrix.c core/output/structure/structure_tree.c \
  core/output/structure/structure_neurons.c \
  core/output/renamed.c core/output/renamed.h core/output/view_writer.c core/output/view_writer.h core/output/views.c \
  core/output/views.h core/output/views_binary.c core/output/views_cores.c core/output/views_links.c
