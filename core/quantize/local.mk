libcoremap_a_SOURCES += \
  core/quantize/quantize.h core/quantize/quantize.c core/quantize/quantize_options.c core/quantize/samples.h core/quantize/samples.c \
  core/quantize/scheme.h core/quantize/scheme.c core/quantize/layers.h core/quantize/layers.c core/quantize/calibrate.h core/quantize/calibrate.c \
  core/quantize/prepare.h core/quantize/prepare.c core/quantize/raise_opset.c core/quantize/insert.h core/quantize/insert.c
