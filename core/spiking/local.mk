libcoremap_a_SOURCES += \
  core/spiking/coefficients.c core/spiking/coefficients.h core/spiking/engine.c core/spiking/engine.h core/spiking/evaluation_order.c \
  core/spiking/evaluation_order.h core/spiking/semantics.c core/spiking/semantics.h core/spiking/synapses.c core/spiking/synapses.h \
  core/spiking/update.c core/spiking/update.h
EXTRA_DIST += core/spiking/semantics.def
