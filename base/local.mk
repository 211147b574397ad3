libcoremap_a_SOURCES += \
  base/status.h base/status.c \
  base/memory.h base/memory.c base/scratch.h base/scratch.c \
  base/run.h base/run.c base/phases.def \
  base/random.h base/random.c base/number.h base/number.c base/order.h base/order.c base/option.h base/option.c \
  base/option_rename.c base/option_rules.c base/option_upload.h base/option_upload.c \
  base/varint.h base/varint.c base/annealing.h base/heap.h base/hold.h base/members.h base/wide.h base/product.h base/product.c \
  base/threads.h base/threads.c base/json.h base/json.c base/text.h base/text.c base/foreign.h base/foreign.c \
  base/file.h base/file.c base/file_copy.c base/path.c base/folder.c base/sanitized.h base/confine.h base/confine.c base/confine_internal.h base/confine_paths.c base/landlock.c
