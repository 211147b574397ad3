/* Constraints as an option of jobs. */
#pragma once

#include "base/option.h"

/* A list of constraints, to a field json_t * of its own: what each is and has is read here, who and where is known with network and chip. */
extern const cm_option_own cm_option_of_constraints;

/* The schema of one, as text of JSON. */
#define CM_CONSTRAINT_SCHEMA "{\"type\": \"object\", \"required\": [\"kind\", \"of\"], \"properties\": {\"kind\": {\"type\": \"string\"}}}"
