libcoremap_a_SOURCES += \
  core/learning/internal.h \
  core/learning/communities.h core/learning/communities.c core/learning/communities_fit.c \
  core/learning/processors.h core/learning/processors.c core/learning/assign.h core/learning/assign.c \
  core/learning/multicast.h core/learning/multicast.c core/learning/reward.h core/learning/reward.c \
  core/learning/reward_refine.c core/learning/deadlock.h core/learning/deadlock.c
