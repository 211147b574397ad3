libcoremap_a_SOURCES += core/metrics/metrics.h core/metrics/metrics.def core/metrics/metric_table.c
