libcoremap_a_SOURCES += core/look/look.c core/look/look.h core/look/strand.c core/look/strand.h
