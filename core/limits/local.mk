libcoremap_a_SOURCES += \
  core/limits/limits.h core/limits/limits.c core/limits/copies.h core/limits/copies.c core/limits/leaving.h core/limits/leaving.c core/limits/shared.h core/limits/shared.c core/limits/circuits.h core/limits/circuits.c \
  core/limits/populations.h core/limits/populations.c core/limits/populations_bound.c \
  core/limits/bound.h core/limits/bound.c core/limits/bound_apart.h core/limits/bound_apart.c core/limits/bound_words.c
