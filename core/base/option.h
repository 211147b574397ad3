/* What a table of options says of one of them: command line help and other tables are made from it. */
#ifndef CM_BASE_OPTION_H
#define CM_BASE_OPTION_H

#include <stdbool.h>

enum { CM_OPTION_FORM_MAX = 96 };

typedef struct cm_option_about {
  const char *name, *about;
  char form[CM_OPTION_FORM_MAX]; /* of its value: "low|high", "N", "X", "BYTES", "ID"; "true|false" for what is or is not */
  bool partitions, places;       /* it shapes parts where these are made alone, or places where these are */
} cm_option_about;

#endif
