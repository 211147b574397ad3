libcoremap_a_SOURCES += \
  core/deploy/bench_words.c core/deploy/bench_words.h core/deploy/chip_neurons.c core/deploy/chip_neurons.h core/deploy/deploy.c core/deploy/deploy.h core/deploy/deploy_report.c core/deploy/deploy_request.c core/deploy/deploy_request.h core/deploy/emit_catalyst.c \
  core/deploy/emitters.c core/deploy/emitters.h core/deploy/images.c core/deploy/images.h core/deploy/images_binary.c core/deploy/images_file.c core/deploy/images_file.h \
  core/deploy/images_run.c core/deploy/integer_network.c core/deploy/integer_network.h core/deploy/integer_run.c core/deploy/quantise.c core/deploy/quantise.h core/deploy/router_queues.c core/deploy/router_queues.h
EXTRA_DIST += core/deploy/chip_neurons.def core/deploy/emitters.def
