libcoremap_a_SOURCES += \
  core/spiking/coefficients.c core/spiking/coefficients.h core/spiking/simulator.c core/spiking/simulator.h core/spiking/evaluation_order.c \
  core/spiking/evaluation_order.h core/spiking/profile.c core/spiking/profile.h core/spiking/profile_report.c \
  core/spiking/profile_request.c core/spiking/profile_request.h core/spiking/semantics.c core/spiking/semantics.h core/spiking/stimulus.c core/spiking/stimulus.h \
  core/spiking/synapse_blocks.c core/spiking/synapse_blocks.h core/spiking/timed_synapses.c core/spiking/timed_synapses.h \
  core/spiking/update.c core/spiking/update.h
EXTRA_DIST += core/spiking/running_options.def core/spiking/semantics.def
