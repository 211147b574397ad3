libcoremap_a_SOURCES += \
  core/levels/cache.c core/levels/cache.h core/levels/cache_entries.c core/levels/cache_entries.h core/levels/cache_lend.c \
  core/levels/cache_manifest.c core/levels/cache_open.c core/levels/level_pairs.c core/levels/level_pairs.h core/levels/levels.c core/levels/levels.h \
  core/levels/mend.c core/levels/mend.h
