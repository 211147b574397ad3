libcoremap_a_SOURCES += \
  core/learning/communities.h core/learning/processors.h core/learning/assign.h core/learning/reward.h \
  core/learning/multicast.h core/learning/deadlock.h
