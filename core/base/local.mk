libcoremap_a_SOURCES += \
  core/base/status.h core/base/status.c \
  core/base/memory.h core/base/memory.c core/base/scratch.h core/base/scratch.c \
  core/base/run.h core/base/run.c \
  core/base/random.h core/base/random.c core/base/number.h core/base/number.c core/base/order.h core/base/order.c core/base/option.h core/base/option.c \
  core/base/varint.h core/base/varint.c core/base/wide.h core/base/blas.h core/base/blas.c \
  core/base/threads.h core/base/threads.c core/base/json.h core/base/json.c core/base/text.h core/base/text.c \
  core/base/file.h core/base/file.c core/base/sanitized.h core/base/confine.h core/base/confine.c core/base/landlock.c
