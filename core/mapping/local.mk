libcoremap_a_SOURCES += \
  core/mapping/candidate.c core/mapping/candidate.h core/mapping/combinations.c core/mapping/combinations.h \
  core/mapping/detail.c core/mapping/detail.h core/mapping/input.h \
  core/mapping/mapping.c core/mapping/mapping.h core/mapping/mapped.h core/mapping/options.c core/mapping/options.h core/mapping/options_read.c core/mapping/presets.def
