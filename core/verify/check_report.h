/* What a check finds: sentences about what is wrong, and comparisons of what is stated with what is true. */
#pragma once

#include <jansson.h>

#include "core/verify/check.h"

/* Adds a sentence to the violations (result->violations has room for CM_CHECK_LISTED_MAX). */
void cm_check_violation(cm_check_result *result, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A comparison of JSON that is stated with what is true. */
typedef struct cm_check_comparison {
  cm_check_result *result;
  const char *what;   /* is compared: "certificate" */
  const char *except; /* a member's name that is left alone wherever it stands, NULL: none */
  bool partial;       /* members of `stated` beyond those of `truth` are no violations */
} cm_check_comparison;

/* Lists every value under `where` ("": the whole) that differs, numbers by more than cm_check_differs allows, that is
 * missing or that does not belong there, by its JSON pointer. */
void cm_check_compare(const cm_check_comparison *comparison, const char *where, const json_t *stated, const json_t *truth);

/* Apart by more than 1e-6 of the larger one. */
bool cm_check_differs(double stated, double truth);
