libcoremap_a_SOURCES += \
  core/simulate/arrivals.c core/simulate/arrivals.h core/simulate/events.c core/simulate/events.h core/simulate/fabric.c \
  core/simulate/fabric.h core/simulate/fabric_new.c core/simulate/fabric_ways.c core/simulate/fabric_ways.h core/simulate/frames.c \
  core/simulate/frames.h core/simulate/histogram.c core/simulate/histogram.h core/simulate/outcomes.h core/simulate/pace.c core/simulate/pace.h core/simulate/simulate.c \
  core/simulate/simulate.h core/simulate/simulate_request.c core/simulate/simulate_request.h \
  core/simulate/steps.c core/simulate/stream.c core/simulate/traffic.c core/simulate/traffic.h core/simulate/turn_order.c core/simulate/turn_order.h
