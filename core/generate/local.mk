libcoremap_a_SOURCES += core/generate/generate.h core/generate/reservoir.h core/generate/reservoir.c core/generate/reservoir_targets.c core/generate/microcircuit.c \
  core/generate/layered.c core/generate/connectome.c core/generate/name_populations.c
