/* What a table of options says of one of them: command line help and other tables are made from it. */
#ifndef CM_BASE_OPTION_H
#define CM_BASE_OPTION_H

#include <jansson.h>
#include <stdbool.h>

#include "core/base/status.h"

enum { CM_OPTION_FORM_MAX = 96 };

typedef struct cm_option_about {
  const char *name, *about;
  char form[CM_OPTION_FORM_MAX]; /* of its value: "low|high", "N", "X", "BYTES", "ID"; "true|false" for what is or is not */
  bool partitions, places;       /* it shapes parts where these are made alone, or places where these are */
} cm_option_about;

/* Refuses the value of an option, at /options/NAME: CM_BAD_OPTION. */
cm_status cm_option_refuse(cm_error *error, const char *name, const char *expected);

/* Reads true or false. */
cm_status cm_option_flag(const char *name, const json_t *value, bool *flag, cm_error *error);

#endif
