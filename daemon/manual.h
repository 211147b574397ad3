/* What is made from the table of settings besides --help: the default configuration file, and pages for man(1). */
#pragma once

#include <stdio.h>

/* A configuration file that explains every setting and changes none but the data folder, which is the machine's. */
void cm_manual_config(FILE *out);

/* coremapd(8) and coremapd.conf(5), in roff. */
void cm_manual_daemon(FILE *out);
void cm_manual_settings(FILE *out);
