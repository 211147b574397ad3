/* What a job of kind deploy asks for (docs/reference/core-images.md). */
#pragma once

#include "core/spiking/profile_request.h"

enum { CM_DEPLOY_MAPPING_MAX = 64 };

typedef struct cm_deploy_request {
  char mapping[CM_DEPLOY_MAPPING_MAX]; /* by which the network lies on cores: of a server, its id; "": one is made */
  cm_profile_request run;
} cm_deploy_request;

/* The options, in the order of docs/explanation/running.md. */
extern const cm_options cm_deploy_option_table;

/* Reads {NAME: value, ...} of the options above. Errors as of cm_profile_options_read. */
cm_status cm_deploy_options_read(const json_t *options, cm_deploy_request *request, cm_error *error);
