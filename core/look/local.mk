libcoremap_a_SOURCES += core/look/choices.c core/look/choices.h core/look/fits.c core/look/fits.h core/look/look.c core/look/look.h core/look/strand.c core/look/strand.h
